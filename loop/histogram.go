package loop

import (
	"math"
	"math/bits"
)

const (
	// subBits is the number of bits below the leading one that select the bucket:
	// 32 buckets from each power of two to the next.
	subBits = 5
	sub     = 1 << subBits
	// buckets: one for each value below 2·sub, then sub of them for each of the
	// powers of two up to 2^62.
	buckets = (63 - subBits + 1) * sub
)

// Histogram counts durations in buckets whose width grows with them, in about 15 KiB
// and without allocating. The zero value is empty and ready. It is a plain value: a copy
// is independent. It is not safe for concurrent use.
//
// Durations below 64 ns are kept exactly. A longer one is known to the middle of
// its bucket, which is off by at most 1/64 of it, 1.6 %. Count, Sum, Min, Max and
// Mean are exact.
type Histogram struct {
	counts [buckets]uint64
	count  uint64
	sumHi  uint64 // of the 128 bits of the sum
	sumLo  uint64
	min    int64
	max    int64
}

// Add counts a duration in nanoseconds. A negative one counts as 0.
func (h *Histogram) Add(ns int64) {
	ns = max(ns, 0)
	if h.count == 0 || ns < h.min {
		h.min = ns
	}
	h.max = max(h.max, ns)
	h.count++
	h.addSum(0, uint64(ns))
	h.counts[bucketOf(uint64(ns))]++
}

func (h *Histogram) addSum(hi, lo uint64) {
	var carry uint64
	h.sumLo, carry = bits.Add64(h.sumLo, lo, 0)
	h.sumHi += hi + carry
}

// bucketOf returns the bucket of v < 2^63. v is shifted so that subBits bits stay below
// the leading one; it then lies in [sub, 2·sub). The buckets of each shift begin sub
// buckets after those of the shift before.
func bucketOf(v uint64) int {
	shift := max(bits.Len64(v)-subBits-1, 0)
	return shift<<subBits + int(v>>shift)
}

// startOf returns the least value in a bucket.
func startOf(bucket int) int64 {
	if bucket < 2*sub {
		return int64(bucket)
	}
	return int64(bucket&(sub-1)|sub) << (bucket>>subBits - 1)
}

// middleOf returns the value that represents a bucket: its middle.
func middleOf(bucket int) int64 {
	return startOf(bucket) + int64(1)<<max(bucket>>subBits-1, 0)>>1
}

// Quantile returns the shortest counted duration that at least the part q of all do not
// exceed: 0.5 for the median. It is off by at most 1/64 of the true one, and never
// outside [Min, Max]. A q of 0 or less, or NaN, means Min; 1 or more means Max. An empty
// Histogram returns 0.
func (h *Histogram) Quantile(q float64) int64 {
	if !(q > 0) {
		return h.min
	}
	if q >= 1 {
		return h.max
	}
	rank := uint64(math.Ceil(q * float64(h.count)))
	var seen uint64
	for i, n := range h.counts {
		if seen += n; seen >= rank && n > 0 {
			return min(max(middleOf(i), h.min), h.max)
		}
	}
	return h.max
}

// Count returns the number of durations.
func (h *Histogram) Count() uint64 { return h.count }

// Min returns the shortest duration in nanoseconds, 0 if there is none.
func (h *Histogram) Min() int64 { return h.min }

// Max returns the longest duration in nanoseconds, 0 if there is none.
func (h *Histogram) Max() int64 { return h.max }

// Sum returns the sum of the durations in nanoseconds, math.MaxInt64 if it is more.
func (h *Histogram) Sum() int64 {
	if h.sumHi > 0 || h.sumLo > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(h.sumLo)
}

// Mean returns the mean duration in nanoseconds, rounded down; 0 if there is none.
func (h *Histogram) Mean() int64 {
	if h.count == 0 {
		return 0
	}
	// The mean is at most Max, so the quotient fits.
	mean, _ := bits.Div64(h.sumHi, h.sumLo, h.count)
	return int64(mean)
}

// Merge adds what other has counted, as if each duration had been added to h.
func (h *Histogram) Merge(other *Histogram) {
	if other.count == 0 {
		return
	}
	if h.count == 0 || other.min < h.min {
		h.min = other.min
	}
	h.max = max(h.max, other.max)
	h.count += other.count
	h.addSum(other.sumHi, other.sumLo)
	for i, n := range other.counts {
		h.counts[i] += n
	}
}

// Reset empties h.
func (h *Histogram) Reset() { *h = Histogram{} }
