package command

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/internal/scenes"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
)

// A program reads the results of each scene, beside the other engine and alone.
func TestBodiesJSON(t *testing.T) {
	for name, n := range map[string]string{
		"arena": "40", "tumbler": "40", "pyramid": "6", "pyramids": "2", "smash": "24", "jointgrid": "5", "bridge": "6", "ragdolls": "2",
		"hinges": "1", "rain": "4", "spinner": "30", "washer": "30", "pile": "30", "compounds": "20", "junkyard": "20", "columns": "1",
	} {
		args := []string{"-scene", name, "-n", n, "-ticks", "21", "-warmup", "3", "-seed", "7", "-level", "go"}
		alone := profiled(t, args...)
		run := profiled(t, append(args, "-compare", "box2d")...)
		if run.Hash != alone.Hash || len(alone.Rivals) != 0 || len(run.Rivals) != 1 {
			t.Fatalf("%s: hashes %s and %s, rivals %v and %v", name, alone.Hash, run.Hash, alone.Rivals, run.Rivals)
		}
		if run.Scene != name || run.Seed != 7 || run.Level != "go" || run.Warmup != 3 || param(run, "n") != n || param(run, "ticks") != "21" {
			t.Errorf("%s: %+v", name, run)
		}
		if r := run.Rivals[0]; r.Name != "box2d" || !(r.Median > 0) || r.Low > r.High {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// recorded returns a contender that has run a scene.
func recorded(t *testing.T, o *Options) *contender {
	t.Helper()
	c, err := o.newContender(physics.Config{})
	if err == nil {
		err = c.record(o)
	}
	if err == nil {
		err = o.takeTurns(c, nil, NewProgress(nil))
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The stages of recorded steps are those of the solver. Each has as many times as there are steps,
// also one that first occurs late.
func TestStages(t *testing.T) {
	o := &Options{Scene: "arena", N: 40, Ticks: 12, Warmup: 2, Seed: 1, Workers: 1}
	c := recorded(t, o)
	s := &c.run(o, native.Go).Steps
	if s.Len() != 10 || len(s.Phases) < 3 || !slices.Contains(s.Phases, "solve") || len(s.Counts) != 1 || s.Counters[0] != "contacts" {
		t.Errorf("%d steps, phases %v, counters %v", s.Len(), s.Phases, s.Counters)
	}
	for i, ns := range s.PhaseNs {
		if len(ns) != s.Len() {
			t.Errorf("%s: %d of %d steps", s.Phases[i], len(ns), s.Len())
		}
	}
	c.stage("late")
	c.keep(5)
	if late := c.stageNs[len(c.stageNs)-1]; len(late) != 11 || slices.Max(late[:10]) != 0 {
		t.Errorf("a stage that comes late: %v", late)
	}
}

// Sleep and continuous collision are on where the scene has them, and where the flags ask for them.
func TestBodiesFlags(t *testing.T) {
	run := func(args ...string) *profile.Run {
		return profiled(t, append(args, "-n", "6", "-ticks", "8")...)
	}
	both := func(r *profile.Run) string { return param(r, "sleep") + param(r, "continuous") }
	still, all, smash := run("-scene", "pyramid"), run("-scene", "pyramid", "-sleep", "-continuous"), run("-scene", "smash")
	if both(still) != "" || both(all) != "onon" || both(smash) != "onon" {
		t.Errorf("%+v, %+v, %+v", still, all, smash)
	}
	if grid := run("-scene", "jointgrid"); param(grid, "joints") != "60" {
		t.Errorf("%+v", grid.Params)
	}
}

// The scene columns reports what has become of each column, as text and as a counter.
func TestColumns(t *testing.T) {
	out := mustRun(t, "-scene", "columns", "-n", "2", "-ticks", "40", "-warmup", "10", "-ladder", "off", "-out", outNone)
	for _, part := range []string{"column   10 boxes stands after 0.7 s, tilt 0.", "column   15 boxes stands after 0.7 s", "standing"} {
		if !strings.Contains(out, part) {
			t.Errorf("the text lacks %q:\n%s", part, out)
		}
	}
	o := &Options{Scene: "columns", N: 2, Ticks: 8, Warmup: 2, Seed: 1, Workers: 1}
	s := &recorded(t, o).run(o, native.Go).Steps
	if i := slices.Index(s.Counters, "standing"); i < 0 || slices.Min(s.Counts[i]) != 2 || slices.Max(s.Counts[i]) != 2 {
		t.Errorf("counters %v: %v", s.Counters, s.Counts)
	}
}

func decode(t *testing.T, text string, to any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), to); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
}

// The events of a scene count the pairs that touch.
func TestTouching(t *testing.T) {
	s, err := scenes.New("pyramid", 6, 1, physics.Config{})
	if err != nil {
		t.Fatal(err)
	}
	touching := 0
	for range 10 {
		if err := s.Step(); err != nil {
			t.Fatal(err)
		}
		e := s.World.Events()
		touching += len(e.Begin) - len(e.End)
	}
	// Each box above touches two, each of the lowest row the ground, neighbours each other.
	if want := 2*15 + 6 + 15; touching != want {
		t.Errorf("%d pairs touch, want %d", touching, want)
	}
}

func TestBodiesText(t *testing.T) {
	defer func(old []published) { publishedScenes = old }(publishedScenes)
	publishedScenes = []published{{"arena", 30, 7.5, 23}}
	out := mustRun(t, "-scene", "arena", "-n", "30", "-ticks", "12", "-compare", "box2d", "-ladder", "off", "-out", outNone)
	for _, part := range []string{"scene arena", "n 30", "bodies 30", "shapes 34", "solve", "compare  box2d takes", "Box2D v3, AVX2, measured separately, is 7.5", "goal is 23"} {
		if !strings.Contains(out, part) {
			t.Errorf("the text lacks %q:\n%s", part, out)
		}
	}
}

// Every published figure belongs to a scene that exists, at its usual size or as an arena.
func TestPublished(t *testing.T) {
	for _, p := range publishedScenes {
		d, ok := scenes.Find(p.scene)
		if !ok || p.scene != "arena" && p.n != d.N || publishedFor(p.scene, p.n).goal != p.goal {
			t.Errorf("%+v", p)
		}
	}
	if publishedFor("arena", 257) != nil {
		t.Error("an arena of 257 bodies is not published")
	}
}

// The capstone beside box2d reports how much longer that takes, and computes what it does alone.
func TestOtherEngine(t *testing.T) {
	for _, args := range [][]string{{"-ticks", "24", "-warmup", "8"}, {"-ticks", "25", "-warmup", "8"}, {"-ticks", "3"}} { // whole turns, and not
		checkOtherEngine(t, args)
	}
}

func checkOtherEngine(t *testing.T, args []string) {
	t.Helper()
	alone, beside := profiled(t, args...), profiled(t, append(args, "-compare", "box2d")...)
	if len(beside.Rivals) != 1 || beside.Rivals[0].Name != "box2d" || beside.Rivals[0].Low > beside.Rivals[0].High || !(beside.Rivals[0].Median > 0) {
		t.Errorf("rivals %+v", beside.Rivals)
	}
	if len(alone.Rivals) != 0 || alone.Hash != beside.Hash {
		t.Errorf("hash %s alone, %s beside box2d", alone.Hash, beside.Hash)
	}
}

// With -continuous the scene also runs without it, by turns.
func TestContinuous(t *testing.T) {
	out := mustRun(t, "-scene", "arena", "-n", "30", "-ticks", "12", "-continuous", "-ladder", "off", "-out", outNone)
	if !strings.Contains(out, "compare  discrete takes") {
		t.Errorf("%s", out)
	}
	if err := Run([]string{"-continuous"}, io.Discard, io.Discard); !errors.Is(err, ErrUsage) {
		t.Errorf("the capstone: %v", err)
	}
}
