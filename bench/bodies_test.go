package main

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/internal/scenes"
	"github.com/evertick/evertick/physics"
)

// What a program reads of each scene, beside the other engine and alone.
func TestBodiesJSON(t *testing.T) {
	for name, n := range map[string]string{
		"arena": "40", "tumbler": "40", "pyramid": "6", "pyramids": "2", "smash": "24", "jointgrid": "5", "bridge": "6", "ragdolls": "2",
		"hinges": "1",
	} {
		args := []string{"-scene", name, "-n", n, "-ticks", "21", "-warmup", "3", "-seed", "7", "-level", "go", "-json"}
		var alone, rep bodiesReport
		decode(t, mustRun(t, args...), &alone)
		decode(t, mustRun(t, append(args, "-compare", "box2d")...), &rep)
		if rep.Hash != alone.Hash || alone.Compare != nil || rep.Compare == nil {
			t.Fatalf("%s: hashes %s and %s, comparisons %v and %v", name, alone.Hash, rep.Hash, alone.Compare, rep.Compare)
		}
		if rep.Scene != name || rep.Seed != 7 || rep.Level != "go" || rep.Ticks != 21 || rep.Warmup != 3 || rep.StepNs.P50 <= 0 {
			t.Errorf("%s: %+v", name, rep)
		}
		c := rep.Compare
		if c.Name != "box2d" || c.OursNs != rep.StepNs.P50 || c.TheirsNs <= 0 || c.Goal != 0 || c.PeerRatio != 0 ||
			math.Abs(c.Ratio-float64(c.TheirsNs)/float64(c.OursNs)) > 1e-9 || c.RatioLow > c.RatioHigh {
			t.Errorf("%s: %+v", name, c)
		}
		checkStages(t, &rep)
	}
}

// Sleep and continuous collision are what the scene has, and what is asked for.
func TestBodiesFlags(t *testing.T) {
	run := func(args ...string) (rep bodiesReport) {
		decode(t, mustRun(t, append(args, "-n", "6", "-ticks", "8", "-json")...), &rep)
		return rep
	}
	still, both, smash := run("-scene", "pyramid"), run("-scene", "pyramid", "-sleep", "-continuous"), run("-scene", "smash")
	if still.Sleep || still.Continuous || !both.Sleep || !both.Continuous || !smash.Sleep || !smash.Continuous {
		t.Errorf("%+v, %+v, %+v", still, both, smash)
	}
	if grid := run("-scene", "jointgrid"); grid.Joints != 2*6*5 {
		t.Errorf("%d joints", grid.Joints)
	}
	out := mustRun(t, "-scene", "jointgrid", "-n", "6", "-ticks", "8", "-sleep")
	if want := "pairs of them touch · 60 joints · sleep\n"; !strings.Contains(out, want) {
		t.Errorf("no %q in\n%s", want, out)
	}
}

func decode(t *testing.T, text string, to any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), to); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
}

func checkStages(t *testing.T, r *bodiesReport) {
	t.Helper()
	share := 0.0
	for _, s := range r.Stages {
		share += s.Share
	}
	if len(r.Stages) < 3 || math.Abs(share-1) > 1e-9 {
		t.Errorf("%s: stages %+v", r.Scene, r.Stages)
	}
}

// The pairs that touch are counted from the events.
func TestTouching(t *testing.T) {
	o := &options{scene: "pyramid", n: 6, ticks: 10, seed: 1}
	c, err := newContender(o, physics.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := o.contest(c, nil, nil); err != nil {
		t.Fatal(err)
	}
	// Each box above touches two, each of the lowest row the ground, neighbours each other.
	if want := 2*15 + 6 + 15; c.touching != want {
		t.Errorf("%d pairs touch, want %d", c.touching, want)
	}
}

func TestBodiesText(t *testing.T) {
	defer func(old []published) { publishedScenes = old }(publishedScenes)
	publishedScenes = []published{{"arena", 30, 7.5, 23}}
	out := mustRun(t, "-scene", "arena", "-n", "30", "-ticks", "12", "-compare", "box2d")
	for _, part := range []string{
		"scene arena", "n 30", profile.ThisEnvironment().String(), "12 ticks, 6 of them warm-up", "30 bodies, 34 shapes",
		"stage", "solve", "memory", "hash", "compare  box2d takes", "Box2D v3, AVX2, measured apart, is 7.5", "goal is 23",
	} {
		if !strings.Contains(out, part) {
			t.Errorf("the text lacks %q:\n%s", part, out)
		}
	}
}

// Every published figure belongs to a scene that exists, at its usual size or as an arena.
func TestPublished(t *testing.T) {
	for _, p := range publishedScenes {
		kind, ok := scenes.KindOf(p.scene)
		if !ok || p.scene != "arena" && p.n != kind.N || publishedFor(p.scene, p.n).goal != p.goal {
			t.Errorf("%+v", p)
		}
	}
	if publishedFor("arena", 257) != nil {
		t.Error("an arena of 257 bodies is not published")
	}
}

func TestMedianRatio(t *testing.T) {
	var over, under []int64
	for i := range 100 {
		over, under = append(over, int64(1000+i%10)), append(under, int64(100+i%7))
	}
	ratio, low, high := medianRatio(over, under, 1)
	if want := 1004. / 103; math.Abs(ratio-want) > 1e-9 || low > ratio || high < ratio || low < 9 || high > 10.1 {
		t.Errorf("%g in [%g, %g], want %g", ratio, low, high, want)
	}
	if _, l, h := medianRatio(over, under, 1); l != low || h != high {
		t.Error("the same series gave other limits")
	}
}

// TestRival: the capstone beside box2d says what both take, and computes what it does alone.
func TestRival(t *testing.T) {
	var alone, beside report
	decode(t, mustRun(t, "-ticks", "24", "-warmup", "8", "-json"), &alone)
	decode(t, mustRun(t, "-ticks", "24", "-warmup", "8", "-json", "-compare", "box2d"), &beside)
	c := beside.Compare
	if c == nil || c.Name != "box2d" || c.OursNs != beside.StepNs.P50 || c.OursP95Ns != beside.StepNs.P95 || c.TheirsNs <= 0 ||
		c.RatioLow > c.Ratio || c.RatioHigh < c.Ratio {
		t.Errorf("compare %+v", c)
	}
	if alone.Compare != nil || alone.Hash != beside.Hash {
		t.Errorf("hash %s alone, %s beside a rival", alone.Hash, beside.Hash)
	}
}

// With -continuous the scene runs without it as well, by turns.
func TestContinuous(t *testing.T) {
	out := mustRun(t, "-scene", "arena", "-n", "30", "-ticks", "12", "-continuous")
	if !strings.Contains(out, "compare  discrete takes") {
		t.Errorf("%s", out)
	}
	if err := run([]string{"-continuous"}, io.Discard, io.Discard); !errors.Is(err, errUsage) {
		t.Errorf("the capstone: %v", err)
	}
}
