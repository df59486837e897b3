package command

import (
	"cmp"
	"math"
	"slices"

	"github.com/evertick/evertick/bench/profile"
)

// NearestRank returns the quantile q of ascending values: the smallest of them that at least q of
// all do not exceed.
func NearestRank[T cmp.Ordered](sorted []T, q float64) T {
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}

// Quantiles of a set of durations, in nanoseconds, by the nearest rank.
type Quantiles struct {
	P50 int64 `json:"p50"`
	P95 int64 `json:"p95"`
	P99 int64 `json:"p99"`
	Max int64 `json:"max"`
}

func QuantilesOf(ns []int64) Quantiles {
	if len(ns) == 0 {
		return Quantiles{}
	}
	sorted := slices.Sorted(slices.Values(ns))
	return Quantiles{NearestRank(sorted, 0.50), NearestRank(sorted, 0.95), NearestRank(sorted, 0.99), sorted[len(sorted)-1]}
}

// spread is the median of repetitions, and the range of nine tenths of them, by the nearest rank.
type spread struct{ Median, P05, P95 float64 }

func spreadOf(values []float64) spread {
	if len(values) == 0 {
		return spread{}
	}
	sorted := slices.Sorted(slices.Values(values))
	return spread{NearestRank(sorted, 0.50), NearestRank(sorted, 0.05), NearestRank(sorted, 0.95)}
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

// turn is the number of steps that an engine or a level runs before the other one does. Most of these
// steps find their data in the caches, as they would if there were only one engine.
const turn = 4

// medianRatio compares the medians of two series that took turns; of a longer one only the beginning.
func medianRatio(name string, over, under []int64) profile.Ratio {
	n := min(len(over), len(under))
	if n == 0 {
		return profile.Ratio{Name: name, Median: 1, Low: 1, High: 1}
	}
	return profile.MedianRatio(name, over[:n], under[:n])
}
