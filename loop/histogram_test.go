package loop_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick/loop"
	"pgregory.net/rapid"
)

// exactQuantile is the definition: the least of the values that at least the part q
// does not exceed.
func exactQuantile(sorted []int64, q float64) int64 {
	rank := int(math.Ceil(q * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// near reports whether got is off by at most 1/64 of want, and exact below 64.
func near(got, want int64) bool {
	off := max(got, want) - min(got, want)
	return off <= want/64
}

func filled(values []int64) *loop.Histogram {
	h := new(loop.Histogram)
	for _, v := range values {
		h.Add(v)
	}
	return h
}

// checkAgainst compares h with what it shall have counted.
func checkAgainst(t interface{ Errorf(string, ...any) }, h *loop.Histogram, values []int64) {
	sorted := slices.Clone(values)
	sum := new(big.Int)
	for i, v := range sorted {
		sorted[i] = max(v, 0)
		sum.Add(sum, big.NewInt(sorted[i]))
	}
	slices.Sort(sorted)
	n := len(sorted)
	total := int64(math.MaxInt64)
	if sum.IsInt64() {
		total = sum.Int64()
	}
	mean := sum.Div(sum, big.NewInt(int64(n))).Int64()
	if h.Sum() != total {
		t.Errorf("sum %d, want %d", h.Sum(), total)
	}
	if h.Count() != uint64(n) || h.Min() != sorted[0] || h.Max() != sorted[n-1] || h.Mean() != mean {
		t.Errorf("count %d, min %d, max %d, mean %d; want %d, %d, %d, %d",
			h.Count(), h.Min(), h.Max(), h.Mean(), n, sorted[0], sorted[n-1], mean)
	}
	for _, q := range []float64{math.NaN(), math.Inf(-1), 0, 1e-9, 0.01, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1, 2, math.Inf(1)} {
		at := q
		if math.IsNaN(q) {
			at = 0
		}
		want := exactQuantile(sorted, min(max(at, 0), 1))
		got := h.Quantile(q)
		if !near(got, want) || got < h.Min() || got > h.Max() {
			t.Errorf("quantile %g of %d values is %d, want %d or 1/64 beside it", q, n, got, want)
		}
	}
}

func TestHistogramAgainstExactQuantiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Shifted right by a random width: as many short ones as long ones.
		value := rapid.Custom(func(t *rapid.T) int64 {
			return rapid.Int64().Draw(t, "value") >> rapid.IntRange(0, 63).Draw(t, "shift")
		})
		values := rapid.SliceOfN(value, 1, 200).Draw(t, "values")
		checkAgainst(t, filled(values), values)
	})
}

// Durations as a loop has them: most near a mode, some far away.
func TestHistogramOfATypicalLoad(t *testing.T) {
	const seed = 11
	r := rand.New(rand.NewPCG(seed, 0))
	values := make([]int64, 100_000)
	for i := range values {
		values[i] = 200_000 + int64(20_000*r.NormFloat64())
		if i%100 == 0 {
			values[i] *= 1 + r.Int64N(50)
		}
	}
	checkAgainst(t, filled(values), values)
}

// Every value is within the bound of the middle of its bucket, on both sides of every
// boundary.
func TestHistogramBuckets(t *testing.T) {
	check := func(v int64) {
		t.Helper()
		var h loop.Histogram
		// With 0 and the greatest around it nothing is clamped to the value itself.
		h.Add(0)
		h.Add(v)
		h.Add(math.MaxInt64)
		if got := h.Quantile(0.5); !near(got, v) {
			t.Errorf("%d is kept as %d, more than 1/64 away", v, got)
		}
	}
	for v := range int64(5000) {
		check(v)
	}
	for exp := range 63 {
		for part := range int64(33) {
			at := int64(1) << exp
			at += at / 32 * part
			for _, v := range []int64{at - 1, at, at + 1} {
				if v >= 0 {
					check(v)
				}
			}
		}
	}
	check(math.MaxInt64)
}

func TestHistogramMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.Int64Range(-5, 1<<40)
		a := rapid.SliceOfN(value, 0, 50).Draw(t, "a")
		b := rapid.SliceOfN(value, 0, 50).Draw(t, "b")
		merged := filled(a)
		merged.Merge(filled(b))
		if both := filled(slices.Concat(a, b)); *merged != *both {
			t.Errorf("%d and %d values merged differ from the same in one", len(a), len(b))
		}
	})
}

// The sum of years of the longest durations does not overflow.
func TestHistogramSum(t *testing.T) {
	var h, all loop.Histogram
	for range 1000 {
		h.Add(math.MaxInt64)
	}
	for range 1000 {
		all.Merge(&h)
	}
	if all.Count() != 1_000_000 || all.Mean() != math.MaxInt64 || all.Quantile(0.5) != math.MaxInt64 {
		t.Errorf("%d values, mean %d, median %d", all.Count(), all.Mean(), all.Quantile(0.5))
	}
}

func TestEmptyHistogram(t *testing.T) {
	var h loop.Histogram
	check := func() {
		t.Helper()
		if h.Count() != 0 || h.Min() != 0 || h.Max() != 0 || h.Mean() != 0 || h.Sum() != 0 || h.Quantile(0.5) != 0 || h.Quantile(0) != 0 || h.Quantile(1) != 0 {
			t.Errorf("an empty histogram: %d values, %d to %d, mean %d, median %d", h.Count(), h.Min(), h.Max(), h.Mean(), h.Quantile(0.5))
		}
	}
	check()
	h.Add(7)
	h.Merge(new(loop.Histogram))
	if h.Min() != 7 || h.Count() != 1 {
		t.Errorf("merged with nothing: %d values from %d", h.Count(), h.Min())
	}
	h.Reset()
	check()
}

func TestHistogramAllocatesNothing(t *testing.T) {
	var h, other loop.Histogram
	other.Add(5)
	if n := testing.AllocsPerRun(100, func() {
		h.Add(12345)
		h.Quantile(0.99)
		h.Merge(&other)
		h.Mean()
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
