package main

import (
	"cmp"
	"math"
	"slices"
)

// nearestRank is the quantile q of values that ascend: the smallest of them that
// at least q of all do not exceed.
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

func sum(ns []int64) (total int64) {
	for _, n := range ns {
		total += n
	}
	return total
}

// spread is what repetitions gave: the median, and between which values nine
// tenths of them lie, by the nearest rank.
type spread struct {
	Median float64 `json:"median"`
	P05    float64 `json:"p05"`
	P95    float64 `json:"p95"`
}

func spreadOf(values []float64) spread {
	if len(values) == 0 {
		return spread{}
	}
	sorted := slices.Sorted(slices.Values(values))
	return spread{nearestRank(sorted, 0.50), nearestRank(sorted, 0.05), nearestRank(sorted, 0.95)}
}

// ratioOf divides round by round: what disturbs the machine for longer than a
// round falls on both sides.
func ratioOf(over, under []float64) spread {
	ratios := make([]float64, len(over))
	for i := range ratios {
		ratios[i] = over[i] / under[i]
	}
	return spreadOf(ratios)
}
