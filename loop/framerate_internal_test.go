package loop

import (
	"math"
	"testing"
)

func TestFrameRateSaturates(t *testing.T) {
	r := frameRate{frames: math.MaxUint64 - 5, ns: (frameRateMemory + frameRateLongest) << frameRateBits}
	for range 10 {
		r.add(0)
	}
	if r.frames != math.MaxUint64-5 {
		t.Errorf("%d", r.frames)
	}
	for range 10 {
		r.add(math.MaxInt64)
	}
	if most := uint64(frameRateMemory+frameRateLongest) << frameRateBits; r.ns > most || r.ns < most-most/1000 || !(r.perSecond() > 0) {
		t.Errorf("%d, at most %d", r.ns, most)
	}
}
