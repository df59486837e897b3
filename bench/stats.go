package main

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// nearestRank returns the quantile q of ascending values: the smallest of them that at least q of
// all do not exceed.
func nearestRank[T cmp.Ordered](sorted []T, q float64) T {
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}

// quantiles of a set of durations, in nanoseconds, by the nearest rank.
type quantiles struct {
	P50 int64 `json:"p50"`
	P95 int64 `json:"p95"`
	P99 int64 `json:"p99"`
	Max int64 `json:"max"`
}

func quantilesOf(ns []int64) quantiles {
	if len(ns) == 0 {
		return quantiles{}
	}
	sorted := slices.Sorted(slices.Values(ns))
	return quantiles{nearestRank(sorted, 0.50), nearestRank(sorted, 0.95), nearestRank(sorted, 0.99), sorted[len(sorted)-1]}
}

// spread is the median of repetitions, and the range of nine tenths of them, by the nearest rank.
type spread struct{ Median, P05, P95 float64 }

func spreadOf(values []float64) spread {
	if len(values) == 0 {
		return spread{}
	}
	sorted := slices.Sorted(slices.Values(values))
	return spread{nearestRank(sorted, 0.50), nearestRank(sorted, 0.05), nearestRank(sorted, 0.95)}
}

// ratioOf divides round by round: a disturbance of the machine that lasts longer than a round
// affects both sides.
func ratioOf(over, under []float64) spread {
	ratios := make([]float64, len(over))
	for i := range ratios {
		ratios[i] = over[i] / under[i]
	}
	return spreadOf(ratios)
}

// turn is the number of steps that an engine or a level runs before the other one does. Most of
// them find their data in the caches, as where there is one engine.
const turn = 4

// resamples is the number of samples of a bootstrap.
const resamples = 1000

// medianRatio returns the ratio of the medians of two series that took turns, and the limits
// between which it lies with 95 % confidence: those of a bootstrap of the turns, since steps that
// follow each other are similar.
func medianRatio(over, under []int64, seed uint64) (ratio, low, high float64) {
	rng := rand.New(rand.NewPCG(seed, resamples))
	turns := (len(over) + turn - 1) / turn
	a, b := newResample(over), newResample(under)
	drawn := make([]int, turns) // how often each turn was drawn
	ratios := make([]float64, resamples)
	for i := range ratios {
		clear(drawn)
		steps := 0
		for range turns {
			t := rng.IntN(turns)
			drawn[t]++
			steps += min(turn, len(over)-turn*t)
		}
		ratios[i] = max(1, a.median(drawn, steps)) / max(1, b.median(drawn, steps)) // no clock measures less than 1 ns
	}
	slices.Sort(ratios)
	ratio = max(1, median(over)) / max(1, median(under))
	return ratio, min(ratio, nearestRank(ratios, 0.025)), max(ratio, nearestRank(ratios, 0.975))
}

// resample is a series, sorted once, from which turns are drawn again and again.
type resample struct {
	ns   []int64 // ascending
	turn []int   // of each
}

func newResample(ns []int64) *resample {
	r := &resample{ns: make([]int64, len(ns)), turn: make([]int, len(ns))}
	order := make([]int, len(ns))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(ns[a], ns[b]), cmp.Compare(a, b)) })
	for i, step := range order {
		r.ns[i], r.turn[i] = ns[step], step/turn
	}
	return r
}

// median returns that of the steps of the drawn turns, by the nearest rank.
func (r *resample) median(drawn []int, steps int) float64 {
	left := (steps + 1) / 2
	for i, t := range r.turn {
		if left -= drawn[t]; left <= 0 {
			return float64(r.ns[i])
		}
	}
	return 0
}

func median(ns []int64) float64 { return float64(quantilesOf(ns).P50) }
