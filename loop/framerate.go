package loop

import "math/bits"

const (
	// frameRateMemory is the time constant of Frame.FPS, in ns: the figure changes slowly enough to be
	// read, and still shows a change within a second.
	frameRateMemory = nsPerSecond / 2
	// frameRateLongest is the most that a frame counts for, so that a stall does not show for long.
	frameRateLongest = nsPerSecond
	// frameRateBits are the fraction bits of the sums. A sum of times is at most the two constants
	// above, below 2^31 ns.
	frameRateBits = 32
)

// frameRate holds the sums of Frame.FPS: frames and their nanoseconds, both in units of
// 2^-frameRateBits. Both use the same weights, so frames of equal length give their exact rate from
// the first one on.
type frameRate struct{ frames, ns uint64 }

// add counts a frame of ns >= 0 nanoseconds.
func (r *frameRate) add(ns int64) {
	d := uint64(min(ns, frameRateLongest))
	weight := frameRateMemory << frameRateBits / (frameRateMemory + d)
	r.frames = scaleBits(r.frames, weight)
	r.ns = scaleBits(r.ns, weight) + d<<frameRateBits
	if r.frames < 1<<63 { // frames without time never fade
		r.frames += 1 << frameRateBits
	}
}

// scaleBits returns x × weight / 2^frameRateBits, rounded down, for a weight of at most 1.
func scaleBits(x, weight uint64) uint64 {
	hi, lo := bits.Mul64(x, weight)
	return hi<<(64-frameRateBits) | lo>>frameRateBits
}

// perSecond returns the rate, 0 as long as no time has passed.
func (r *frameRate) perSecond() float64 {
	if r.ns == 0 {
		return 0
	}
	return float64(r.frames) / float64(r.ns) * nsPerSecond
}
