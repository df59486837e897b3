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
	Clients     any                 `json:"clients,omitempty"`
	Relays      any                 `json:"relays,omitempty"`
	Figures     Table               `json:"figures"`

	WriteText func(w io.Writer) `json:"-"`
}

func (o *Options) NewReport(level string) *report {
	return &report{
		Scene: o.Scene, Seed: o.Seed, Quick: o.quick, Environment: profile.ThisEnvironment(), Level: level, Workers: o.Workers,
		Facts: map[string]any{},
	}
}

// Publish measures and writes the report. It creates the file of -csv first, so that an error in
// its name does not cost minutes.
func (o *Options) Publish(stdout io.Writer, r *report, measure func() error) error {
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
	r.WriteText(stdout)
	return nil
}

func (r *report) writeHead(w io.Writer) {
	fmt.Fprintf(w, "evertick bench · scene %s", r.Scene)
	if r.Level != "" {
		fmt.Fprintf(w, " · level %s · %d worker(s) · seed %d", r.Level, r.Workers, r.Seed)
	}
	fmt.Fprintf(w, "\n%s\n\n", r.Environment)
}

// Progress is a line that shows the state of a long run. It appears only on a terminal, and only
// after the first second.
type Progress struct {
	w     io.Writer // nil: not a terminal
	start time.Time
	last  time.Time
	shown bool
}

func NewProgress(w io.Writer) *Progress {
	p := &Progress{start: time.Now()}
	if file, ok := w.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			p.w = w
		}
	}
	return p
}

// Due reports whether show would write. Callers ask first, because the arguments of show take
// memory, which should not count for a step.
func (p *Progress) Due() bool {
	return p.w != nil && time.Since(p.start) >= time.Second && time.Since(p.last) >= 200*time.Millisecond
}

// Show replaces the line, a few times a second at most.
func (p *Progress) Show(format string, args ...any) {
	if !p.Due() {
		return
	}
	p.last, p.shown = time.Now(), true
	line := []rune(fmt.Sprintf(format, args...))
	fmt.Fprintf(p.w, "\r\x1b[K%s", string(line[:min(len(line), 79)]))
}

// Clear removes the line.
func (p *Progress) Clear() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}
