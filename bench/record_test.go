package main

import (
	"slices"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/loop"
)

func TestUnaccountedIsWhatPhasesLeave(t *testing.T) {
	r := recorder{steps: []int64{100, 200, 300}, phases: [][]int64{{10, 20, 30}, {1, 2, 3}}}
	if got, want := r.unaccounted(), []int64{89, 178, 267}; !slices.Equal(got, want) {
		t.Errorf("unaccounted %v, want %v", got, want)
	}
	if want := []int64{100, 200, 300}; !slices.Equal(r.steps, want) {
		t.Errorf("steps became %v", r.steps)
	}
}

// The recorder keeps what the Sim says of its phases, for the steps behind the
// warm-up and no others.
func TestMeasure(t *testing.T) {
	clock := new(loop.ManualClock)
	s := configuredScene(t, "limina", evertick.Config{Clock: clock})
	if err := s.sim.Add(evertick.AfterIndex, "late", func(tick *evertick.Tick) error {
		clock.Add(int64(tick.N))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	each := 0
	r, err := measure(s, 8, 3, func() error { each++; return nil })
	if err != nil {
		t.Fatal(err)
	}
	if each != 8 || len(r.steps) != 5 || slices.Min(r.steps) <= 0 {
		t.Errorf("%d calls after a step, steps %v; want 8 and 5 durations", each, r.steps)
	}
	if s.asks != 5*26 || s.hits == 0 {
		t.Errorf("%d queries with %d hits were counted, want %d", s.asks, s.hits, 5*26)
	}
	for i, name := range r.names {
		want := make([]int64, 5)
		if name == "late" {
			want = []int64{3, 4, 5, 6, 7}
		}
		if !slices.Equal(r.phases[i], want) {
			t.Errorf("phase %s took %v ns, want %v", name, r.phases[i], want)
		}
	}
	if !slices.Contains(r.names, "late") {
		t.Errorf("phases %v", r.names)
	}
}
