package command

import (
	"math/rand/v2"
	"slices"
	"testing"
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
	if got := QuantilesOf(nil); got != (Quantiles{}) {
		t.Errorf("of nothing: %+v", got)
	}
	if got := QuantilesOf([]int64{7}); got != (Quantiles{7, 7, 7, 7}) {
		t.Errorf("of one value: %+v", got)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for n := 1; n <= 210; n++ {
		ns := make([]int64, n)
		for i := range ns {
			ns[i] = r.Int64N(100) // with ties
		}
		before := slices.Clone(ns)
		want := Quantiles{rankOf(ns, 50), rankOf(ns, 95), rankOf(ns, 99), slices.Max(ns)}
		if got := QuantilesOf(ns); got != want {
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
		if testing.Short() && n > 400 && n%13 > 0 { // 13 meets all remainders of 100
			continue
		}
		ns := make([]int64, n)
		for i := range ns {
			ns[i] = int64(i + 1)
		}
		at := func(percent int) int64 { return int64((n*percent + 99) / 100) }
		if got, want := QuantilesOf(ns), (Quantiles{at(50), at(95), at(99), int64(n)}); got != want {
			t.Fatalf("of 1 to %d: %+v, want %+v", n, got, want)
		}
		values := make([]float64, n)
		for i := range values {
			values[i] = float64(i + 1)
		}
		if got, want := spreadOf(values), (spread{float64(at(50)), float64(at(5)), float64(at(95))}); got != want {
			t.Fatalf("of 1 to %d: %+v, want %+v", n, got, want)
		}
	}
}

func TestSpread(t *testing.T) {
	if got := spreadOf(nil); got != (spread{}) {
		t.Errorf("of nothing: %+v", got)
	}
	if got := spreadOf([]float64{7}); got != (spread{7, 7, 7}) {
		t.Errorf("of one value: %+v", got)
	}
	r := rand.New(rand.NewPCG(3, 4))
	for n := 1; n <= 210; n++ {
		ns, values := make([]int64, n), make([]float64, n)
		for i := range ns {
			ns[i] = r.Int64N(100)
			values[i] = float64(ns[i])
		}
		before := slices.Clone(values)
		want := spread{float64(rankOf(ns, 50)), float64(rankOf(ns, 5)), float64(rankOf(ns, 95))}
		if got := spreadOf(values); got != want {
			t.Errorf("of %v: %+v, want %+v", values, got, want)
		}
		if !slices.Equal(values, before) {
			t.Fatal("the values were sorted in place")
		}
	}
}

// A ratio is taken within each round, not of the medians: here the machine slows
// down by ten from round to round.
func TestRatioIsTakenByRounds(t *testing.T) {
	over, under := []float64{20, 300, 4000, 50000, 600000}, []float64{10, 100, 1000, 10000, 100000}
	if got, want := ratioOf(over, under), (spread{4, 2, 6}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A series that is longer is compared by its beginning; of nothing the ratio is 1.
func TestMedianRatio(t *testing.T) {
	over, under := []int64{10, 10, 10, 10, 99, 99, 99}, []int64{5, 5, 5, 5}
	if r := medianRatio("x", over, under); r.Name != "x" || r.Median != 2 || r.Low > 2 || r.High < 2 {
		t.Errorf("%+v", r)
	}
	if r := medianRatio("x", nil, under); r.Median != 1 {
		t.Errorf("%+v", r)
	}
}
