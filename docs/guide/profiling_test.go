package guide_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

// guide:begin attach

// watch runs a simulation for a minute of its time, and reports where that went.
func watch(sim *evertick.Sim, out io.Writer) error {
	rec, err := profile.Attach(sim, profile.Config{Name: "my game"})
	if err != nil {
		return err
	}
	if err := sim.StepN(3600); err != nil {
		return err
	}
	return profile.Analyze(rec.Run()).WriteText(out, profile.TextFor(out))
}

// guide:end

// guide:begin counters

// watchMore also counts: the report shows what slow steps have more of.
func watchMore(sim *evertick.Sim, seen *spatial.Result, dir string) (*profile.Run, error) {
	rec, err := profile.Attach(sim, profile.Config{
		Name:     "my game",
		Warmup:   60,
		BudgetNs: 4_000_000, // 4 ms of the 16.7 of a tick
		Counters: []profile.Counter{{Name: "seen", Read: func() int64 { return int64(len(seen.Slots)) }}},
	})
	if err != nil {
		return nil, err
	}
	if err := sim.StepN(660); err != nil {
		return nil, err
	}
	run := rec.Run()
	_, err = profile.Analyze(run).WriteDir(dir)
	return run, err
}

// guide:end

// guide:begin compare

// since reports what has changed since the run whose files are in a folder.
func since(run *profile.Run, dir string, out io.Writer) error {
	was, err := profile.ReadDir(dir)
	if err != nil {
		return err
	}
	if err := profile.Compare(run, was, dir); err != nil { // such as another scene
		return err
	}
	return profile.Analyze(run).WriteText(out, profile.TextFor(out))
}

// guide:end

// guide:begin metrics

// metrics returns a page for a monitoring system: the figures of a Sim that goes on running.
func metrics(sim *evertick.Sim) http.Handler {
	monitor := sim.Monitor() // before the Sim runs
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		var m evertick.Metrics
		monitor.Read(&m)
		fmt.Fprintf(w, "ticks %d\nentities %d\nbodies %d\ninputs_waiting %d\n", m.Ticks, m.Entities, m.Bodies, m.Inputs.Waiting)
		fmt.Fprintf(w, "step_ns{q=\"0.5\"} %d\nstep_ns{q=\"0.99\"} %d\n", m.Step.P50, m.Step.P99)
		for _, p := range m.Phases {
			fmt.Fprintf(w, "phase_ns{phase=%q,q=\"0.99\"} %d\n", p.Phase, p.P99)
		}
	})
}

// guide:end

// guide:begin foreign

// watchForeign does the same for a loop of 60 Hz that is no Sim, which marks the start of each phase.
func watchForeign(steps int, think, move func()) (*profile.Report, error) {
	rec, err := profile.New(profile.Config{Name: "another engine", RateHz: 60}, []string{"think", "move"})
	if err != nil {
		return nil, err
	}
	for range steps {
		rec.Begin(-1) // due a 60th of a second after the one before
		rec.Phase(0)
		think()
		rec.Phase(1)
		move()
		rec.End()
	}
	return profile.Analyze(rec.Run()), nil
}

// guide:end

// drifters is a Sim to watch: points that move and query their neighbours.
func drifters(t *testing.T) (*evertick.Sim, *spatial.Result) {
	t.Helper()
	sim, err := evertick.New(evertick.Config{Capacity: 500})
	if err != nil {
		t.Fatal(err)
	}
	speed, err := ecs.AddColumn[float32](sim.World, "speed")
	if err != nil {
		t.Fatal(err)
	}
	if err := sim.World.SpawnN(make([]ecs.ID, 500)); err != nil {
		t.Fatal(err)
	}
	x, seen := sim.World.Position.X, &spatial.Result{}
	for i := range x {
		x[i], speed.Values()[i] = float32(i), float32(i%9)-4
	}
	err = sim.Add(evertick.BeforePhysics, "drift", func(t *evertick.Tick) error {
		native.Integrate(sim.Level(), x, speed.Values(), t.Dt)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = sim.Add(evertick.AfterIndex, "look", func(t *evertick.Tick) error {
		return sim.Index.RadiusSelf(&spatial.Self{Radius: 3}, seen)
	})
	if err != nil {
		t.Fatal(err)
	}
	return sim, seen
}

func TestWatch(t *testing.T) {
	sim, seen := drifters(t)
	var text bytes.Buffer
	if err := watch(sim, &text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"my game", "p50", "p95", "p99", "drift", "look", "physics.step"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the report does not say %q:\n%s", want, text.String())
		}
	}
	dir := t.TempDir()
	run, err := watchMore(sim, seen, dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"summary.json", "steps.csv", "bench.txt", "trace.json", "report.html"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if i := slices.Index(run.Steps.Counters, "seen"); run.Steps.Len() != 600 || i < 0 || slices.Max(run.Steps.Counts[i]) == 0 {
		t.Errorf("%d steps, counted %v", run.Steps.Len(), run.Steps.Counters)
	}
	var compared bytes.Buffer
	if err := since(run, dir, &compared); err != nil || run.Baseline == nil {
		t.Errorf("compared with itself: %v, %v", run.Baseline, err)
	}
	calls := [2]int{}
	report, err := watchForeign(10, func() { calls[0]++ }, func() { calls[1]++ })
	if err != nil || calls != [2]int{10, 10} || report.Run.Steps.Len() != 10 || !slices.Equal(report.Run.Steps.Phases, []string{"think", "move"}) {
		t.Errorf("%v, %v, %d steps of %v", err, calls, report.Run.Steps.Len(), report.Run.Steps.Phases)
	}
	t.Log("\n" + text.String())
}

// The page shows the figures of the Sim, while that runs on another goroutine.
func TestMetricsPage(t *testing.T) {
	sim, err := evertick.New(evertick.Config{Capacity: 64})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sim.World.Spawn(); err != nil {
		t.Fatal(err)
	}
	page := metrics(sim)
	read := func() string {
		w := httptest.NewRecorder()
		page.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		return w.Body.String()
	}
	done := make(chan error)
	go func() { done <- sim.StepN(200) }()
	for range 20 {
		if text := read(); !strings.HasPrefix(text, "ticks ") {
			t.Fatal(text)
		}
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	text := read()
	for _, want := range []string{"ticks 200\nentities 1\nbodies 0\n", "\nphase_ns{phase=\"physics.step\",q=\"0.99\"} "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
