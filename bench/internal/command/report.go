package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/evertick/evertick/bench/profile"
)

// budgetNs is the time that a step may take at 60 Hz.
const budgetNs = 1_000_000_000 / 60

// report is what scenes print whose steps are not profiled. With -json it is one object; with -csv
// only the table is written.
type report struct {
	Scene       string              `json:"scene"`
	Seed        uint64              `json:"seed"`
	Quick       bool                `json:"quick"`
	Environment profile.Environment `json:"environment"`
	Level       string              `json:"level,omitempty"` // of figures that do not compare levels
	Workers     int                 `json:"workers,omitempty"`
	Facts       map[string]any      `json:"facts,omitempty"` // single figures
	Clients     *clientsReport      `json:"clients,omitempty"`
	Relays      *relaysReport       `json:"relays,omitempty"`
	Figures     table               `json:"figures"`

	writeText func(w io.Writer)
}

func (o *options) newReport(level string) *report {
	return &report{
		Scene: o.scene, Seed: o.seed, Quick: o.quick, Environment: profile.ThisEnvironment(), Level: level, Workers: o.workers,
		Facts: map[string]any{},
	}
}

// publish measures and writes the report. It creates the file of -csv first, so that an error in
// its name does not cost minutes.
func (o *options) publish(stdout io.Writer, r *report, measure func() error) error {
	var file *os.File
	if o.csv != "" {
		var err error
		if file, err = os.Create(o.csv); err != nil {
			return err
		}
		defer file.Close()
	}
	if !o.json {
		r.writeHead(stdout)
	}
	if err := measure(); err != nil {
		return err
	}
	if file != nil {
		if err := errors.Join(r.Figures.writeCSV(file), file.Close()); err != nil {
			return err
		}
	}
	if o.json {
		enc := json.NewEncoder(stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(r)
	}
	r.writeText(stdout)
	return nil
}

func (r *report) writeHead(w io.Writer) {
	fmt.Fprintf(w, "evertick bench · scene %s", r.Scene)
	if r.Level != "" {
		fmt.Fprintf(w, " · level %s · %d worker(s) · seed %d", r.Level, r.Workers, r.Seed)
	}
	fmt.Fprintf(w, "\n%s\n\n", r.Environment)
}

// progress is a line that shows the state of a long run. It appears only on a terminal, and only
// after the first second.
type progress struct {
	w     io.Writer // nil: not a terminal
	start time.Time
	last  time.Time
	shown bool
}

func newProgress(w io.Writer) *progress {
	p := &progress{start: time.Now()}
	if file, ok := w.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			p.w = w
		}
	}
	return p
}

// due reports whether show would write. Callers ask first, because the arguments of show take
// memory, which should not count for a step.
func (p *progress) due() bool {
	return p.w != nil && time.Since(p.start) >= time.Second && time.Since(p.last) >= 200*time.Millisecond
}

// show replaces the line, a few times a second at most.
func (p *progress) show(format string, args ...any) {
	if !p.due() {
		return
	}
	p.last, p.shown = time.Now(), true
	line := []rune(fmt.Sprintf(format, args...))
	fmt.Fprintf(p.w, "\r\x1b[K%s", string(line[:min(len(line), 79)]))
}

// clear removes the line.
func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}
