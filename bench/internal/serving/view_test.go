package serving

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evertick/evertick/bench/internal/command"
	"github.com/evertick/evertick/bench/internal/pages"
	"github.com/evertick/evertick/native"
)

// printed collects what a command prints, which another goroutine reads.
type printed struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func (p *printed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(b)
}

var pageAddress = regexp.MustCompile(`http://\S+/`)

// address waits until the command has printed the address of its page.
func (p *printed) address(t *testing.T, ended <-chan error) string {
	t.Helper()
	for start := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		p.mu.Lock()
		url := pageAddress.FindString(p.out.String())
		p.mu.Unlock()
		if url != "" {
			return url
		}
		select {
		case err := <-ended:
			t.Fatalf("no page: %v", err)
		default:
		}
		if time.Since(start) > time.Minute {
			t.Fatal("no address is printed")
		}
	}
}

// viewStatus is the part of the status of a page that tests read.
type viewStatus struct {
	Name, Level, State string
	Tick               uint64
	Workers            int
	Subjects           []string
	Control            bool
}

// viewed starts a command, waits until its page reports a tick at least as late as tick, and ends it.
func viewed(t *testing.T, tick uint64, command func(ctx context.Context, stdout io.Writer) error) (s viewStatus) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var out printed
	ended := make(chan error, 1)
	go func() { ended <- command(ctx, &out) }()
	url := out.address(t, ended)
	for start := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		r, err := http.Get(url + "status")
		if err != nil {
			t.Fatal(err)
		}
		err = json.NewDecoder(r.Body).Decode(&s)
		r.Body.Close()
		if err != nil || r.StatusCode != http.StatusOK {
			t.Fatalf("status %d: %v", r.StatusCode, err)
		}
		if s.Tick >= tick {
			break
		}
		if time.Since(start) > time.Minute {
			t.Fatalf("after a minute: %+v", s)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("it ends with %v", err)
	}
	if _, err := http.Get(url + "status"); err == nil {
		t.Error("the page is there after the end")
	}
	return s
}

// A simulation runs, and its page reports it, until the command is interrupted.
func TestView(t *testing.T) {
	for _, args := range []string{"-scene swarm -n 300", "-scene capstone -workers 2", "-scene arena -n 30 -seed 7", "-scene everything", "-scene ragdolls -n 1 -budget 4ms"} {
		o := &command.Options{}
		s, err := o.Parse(strings.Fields("-view -level go "+args), io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		got := viewed(t, 5, func(ctx context.Context, stdout io.Writer) error { return o.View(ctx, s, native.Go, stdout) })
		if got.Name != o.Scene || got.Level != "go" || !got.Control || got.Workers != o.Workers || !slices.Equal(got.Subjects, []string{"live"}) {
			t.Errorf("bench -view %s: %+v", args, got)
		}
	}
}

func TestViewUsage(t *testing.T) {
	for args, says := range map[string]string{
		"-view -json":                   "-json: not with -view",
		"-view -ticks 100":              "-ticks: not with -view",
		"-view -scene swarm -scale":     "-scale: not with -view",
		"-view -ops":                    "-view: not for the scene ops; for arena, ",
		"-view -scene clients":          "-view: not for the scene clients",
		"-view -scene swarm -sleep":     "-sleep: not for the scene swarm",
		"-addr 127.0.0.1:0":             "-addr: only with -view",
		"-view -scene arena -n 0":       "-n 0",
		"-view -scene arena -workers 0": "-workers 0",
	} {
		if err := command.Run(strings.Fields(args), io.Discard, io.Discard); !errors.Is(err, command.ErrUsage) || !strings.Contains(err.Error(), says) {
			t.Errorf("bench %s: %v, not %q", args, err, says)
		}
	}
	for _, addr := range []string{"0.0.0.0:0", "nowhere"} {
		if err := command.Run([]string{"-view", "-scene", "arena", "-n", "4", "-addr", addr}, io.Discard, io.Discard); err == nil {
			t.Errorf("a page at %s", addr)
		}
	}
}

// A command without pages says which has them.
func TestNoPages(t *testing.T) {
	command.SimPage, LogPage = nil, nil
	defer func() { command.SimPage, LogPage = pages.Sim, pages.Log }()
	for args, says := range map[string]string{"-view -scene arena -n 4": "go run ./bench/serve -view -scene arena -n 4", "replay view DIR": "go run ./bench/serve"} {
		if err := command.Run(strings.Fields(args), io.Discard, io.Discard); !errors.Is(err, command.ErrUsage) || !strings.Contains(err.Error(), says) {
			t.Errorf("bench %s: %v, not %q", args, err, says)
		}
	}
}

// viewOf is the command that opens logs.
func viewOf(dirs ...string) func(ctx context.Context, stdout io.Writer) error {
	return func(ctx context.Context, stdout io.Writer) error {
		o := logOptions{stdout: stdout}
		if err := o.parse("view", dirs, io.Discard); err != nil {
			return err
		}
		return o.view(ctx)
	}
}

// A log is opened, alone or beside another.
func TestReplayView(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	for _, scene := range loggedScenes {
		if _, err := logs(t, "record", "-scene", scene, "-ticks", "30", "-commands", "60", filepath.Join(dir, scene)); err != nil {
			t.Fatal(err)
		}
	}
	capstone, limina := filepath.Join(dir, "capstone"), filepath.Join(dir, "limina")
	for _, c := range []struct {
		dirs, subjects []string
	}{{[]string{capstone}, []string{"log"}}, {[]string{limina}, []string{"log"}}, {[]string{capstone, capstone}, []string{"log", "other"}}} {
		if got := viewed(t, 0, viewOf(c.dirs...)); !slices.Equal(got.Subjects, c.subjects) {
			t.Errorf("%q: %+v", c.dirs, got)
		}
	}
	for _, args := range [][]string{{}, {dir, dir, dir}} {
		if _, err := logs(t, append([]string{"replay", "view"}, args...)...); !errors.Is(err, command.ErrUsage) {
			t.Errorf("replay view %q: %v", args, err)
		}
	}
	if _, err := logs(t, "replay", "view", dir+"x"); !errors.Is(err, command.ErrNoVerdict) {
		t.Errorf("of no log: %v", err)
	}
}
