package profile

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

// sortedCopy leaves the values as they are.
func sortedCopy[T cmp.Ordered](values []T) []T {
	return slices.Sorted(slices.Values(values))
}
