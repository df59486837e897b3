package replica

import (
	"math/bits"

	"github.com/evertick/evertick/native"
)

// sample is the differences of one entity, from which widths are chosen.
type sample struct {
	need [mostLanes]uint8 // bits of each lane
	wide int              // bits in the wide part
}

// bitsOf returns the least number of bits in two's complement that hold v, 0 for 0.
func bitsOf(v int32) uint8 {
	if v == 0 {
		return 0
	}
	return uint8(bits.Len32(uint32(v^v>>31)) + 1)
}

// wideBits returns the bits that differences take in the wide part of a group, if it has one.
func wideBits(d []int32) int {
	n := 16 // place and lanes
	for _, v := range d {
		if b := int(bitsOf(v)); b > 0 {
			n += (b + 6) / 7 * 8
		}
	}
	return n
}

// addSample adds an entity that has changed.
func (w *scratch) addSample(d []int32) {
	var one sample
	changed := false
	for lane, v := range d {
		one.need[lane] = bitsOf(v)
		changed = changed || v != 0
	}
	if changed {
		one.wide = wideBits(d)
		w.samples = append(w.samples, one)
	}
}

// chooseWidths sets the widths of a shape so that the samples take few bits, and returns these. It
// starts from widths with which all fit, if 32 bits are enough, and then finds for one lane after
// another the best width beside those of the others, twice.
func (w *scratch) chooseWidths(shape *native.DeltaLanes) int {
	sum := 0
	for lane := range shape.Lanes {
		shape.Width[lane] = 0
		for i := range w.samples {
			shape.Width[lane] = max(shape.Width[lane], w.samples[i].need[lane])
		}
		sum += int(shape.Width[lane])
	}
	for ; sum > 32; sum-- {
		widest := 0
		for lane := range shape.Lanes {
			if shape.Width[lane] > shape.Width[widest] {
				widest = lane
			}
		}
		shape.Width[widest]--
	}
	best := 0
	for range 2 {
		for lane := range shape.Lanes {
			sum -= int(shape.Width[lane])
			shape.Width[lane], best = w.bestWidth(shape, lane, sum)
			sum += int(shape.Width[lane])
		}
	}
	return best
}

// bestWidth returns the width of a lane with which the samples take the fewest bits, and these. others
// is the sum of the other widths.
func (w *scratch) bestWidth(shape *native.DeltaLanes, lane, others int) (uint8, int) {
	var count, wide [33]int // samples that fit in the other lanes, by the bits they need in this one
	never := 0              // bits of samples that do not
	for i := range w.samples {
		one := &w.samples[i]
		fits := true
		for l := range shape.Lanes {
			fits = fits && (l == lane || one.need[l] <= shape.Width[l])
		}
		if fits {
			count[one.need[lane]]++
			wide[one.need[lane]] += one.wide
		} else {
			never += one.wide
		}
	}
	left := 0 // wide bits of those that need more
	for _, n := range wide {
		left += n
	}
	width, best, fitting := 0, 0, 0
	for b := range min(int(shape.Bits[lane]), 32-others) + 1 {
		fitting += count[b]
		left -= wide[b]
		if bits := never + left + fitting*(others+b); b == 0 || bits < best {
			width, best = b, bits
		}
	}
	return uint8(width), best
}
