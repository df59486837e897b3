package command

import (
	"slices"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/internal/scenes"
	"github.com/evertick/evertick/loop"
)

// The recorder has the phases of the steps after the warm-up and of no others, with the counters of
// the scene.
func TestMeasure(t *testing.T) {
	clock := new(loop.ManualClock)
	s := configured(t, "limina", evertick.Config{Clock: clock})
	if err := s.Add(evertick.AfterIndex, "late", func(tick *evertick.Tick) error {
		clock.Add(int64(tick.N))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	o := Options{Scene: "limina", Ticks: 8, Warmup: 3}
	rec, err := profile.Attach(s.Sim, o.profileConfig(s))
	if err != nil {
		t.Fatal(err)
	}
	var before []int
	each := 0
	if _, err := measure(s, o.Ticks, o.Warmup, func(tick int) error { before = append(before, tick); return nil }, func() error { each++; return nil }); err != nil {
		t.Fatal(err)
	}
	steps := &rec.Run().Steps
	if each != 8 || !slices.Equal(before, []int{0, 1, 2, 3, 4, 5, 6, 7}) || steps.Len() != 5 {
		t.Errorf("%d calls after a step, %v before; %d steps", each, before, steps.Len())
	}
	i := slices.Index(steps.Phases, "late")
	if i < 0 || !slices.Equal(steps.PhaseNs[i], []int64{3, 4, 5, 6, 7}) {
		t.Errorf("phases %v: %v", steps.Phases, steps.PhaseNs)
	}
	for _, name := range []string{"hits", "contacts", "live"} {
		if !slices.Contains(steps.Counters, name) {
			t.Errorf("counters %v lack %s", steps.Counters, name)
		}
	}
	if hits := steps.Counts[slices.Index(steps.Counters, "hits")]; slices.Min(hits) == 0 {
		t.Errorf("hits %v", hits)
	}
}

// -bodies and -spread reach the scene and the report.
func TestFlagsOfASwarm(t *testing.T) {
	plain := profiled(t, "-scene", "swarm", "-n", "300", "-ticks", "6")
	if bodies, spread := param(plain, "bodies"), param(plain, "spread"); bodies != "" || spread != "uniform" {
		t.Errorf("%q bodies, spread %q", bodies, spread)
	}
	hashes := map[string]bool{plain.Hash: true}
	for _, spread := range scenes.Spreads {
		run := profiled(t, "-scene", "swarm", "-n", "300", "-ticks", "6", "-bodies", "40", "-spread", spread)
		if param(run, "bodies") != "40" || param(run, "spread") != spread || hashes[run.Hash] {
			t.Errorf("%s bodies, spread %s instead of %s, hash %s", param(run, "bodies"), param(run, "spread"), spread, run.Hash)
		}
		hashes[run.Hash] = true
	}
}
