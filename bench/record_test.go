package main

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/loop"
)

// rankOf is the specification of a quantile, in integers: the smallest value
// that at least percent of all do not exceed.
func rankOf(ns []int64, percent int) int64 {
	best, found := int64(0), false
	for _, v := range ns {
		notAbove := 0
		for _, w := range ns {
			if w <= v {
				notAbove++
			}
		}
		if notAbove*100 >= percent*len(ns) && (!found || v < best) {
			best, found = v, true
		}
	}
	return best
}

func TestQuantiles(t *testing.T) {
	if got := quantilesOf(nil); got != (quantiles{}) {
		t.Errorf("of nothing: %+v", got)
	}
	if got := quantilesOf([]int64{7}); got != (quantiles{7, 7, 7, 7}) {
		t.Errorf("of one value: %+v", got)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for n := 1; n <= 210; n++ {
		ns := make([]int64, n)
		for i := range ns {
			ns[i] = r.Int64N(100) // with ties
		}
		before := slices.Clone(ns)
		want := quantiles{rankOf(ns, 50), rankOf(ns, 95), rankOf(ns, 99), slices.Max(ns)}
		if got := quantilesOf(ns); got != want {
			t.Errorf("of %v: %+v, want %+v", ns, got, want)
		}
		if !slices.Equal(ns, before) {
			t.Fatal("the durations were sorted in place")
		}
	}
}

// The rank of a quantile is exact for any number of steps.
func TestQuantileRanks(t *testing.T) {
	for n := 1; n <= 5000; n++ {
		ns := make([]int64, n)
		for i := range ns {
			ns[i] = int64(i + 1)
		}
		at := func(percent int) int64 { return int64((n*percent + 99) / 100) }
		if got, want := quantilesOf(ns), (quantiles{at(50), at(95), at(99), int64(n)}); got != want {
			t.Fatalf("of 1 to %d: %+v, want %+v", n, got, want)
		}
	}
}

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
