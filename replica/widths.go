package replica

import (
	"math/bits"

	"github.com/evertick/evertick/internal/netcode"
)

// mostSamples is the number of entities from whose differences widths are chosen.
const mostSamples = 256

// sample is the differences of one entity, from which widths are chosen.
type sample struct {
	need    [mostLanes]uint8 // bits of each lane
	misfits uint8            // lanes that need more than their width
	wide    int              // bits in the wide part
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

// shape sets the widths of a shape by a sample of rows of differences.
func (w *scratch) shape(shape *netcode.DeltaLanes, diffs []int32) {
	n := len(diffs) / shape.Lanes
	w.samples = w.samples[:0]
	for i, most := 0, min(n, mostSamples); i < most; i++ {
		w.addSample(diffs[i*n/most*shape.Lanes:][:shape.Lanes])
	}
	w.chooseWidths(shape)
}

// chooseWidths sets the widths of a shape so that the samples take few bits. It starts from widths with which all
// fit, if 32 bits are enough, and then finds for one lane after another the best width beside the widths of the others, twice.
func (w *scratch) chooseWidths(shape *netcode.DeltaLanes) {
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
	for i := range w.samples {
		one := &w.samples[i]
		for lane := range shape.Lanes {
			if one.need[lane] > shape.Width[lane] {
				one.misfits++
			}
		}
	}
	for range 2 {
		for lane := range shape.Lanes {
			sum -= int(shape.Width[lane])
			w.widen(shape, lane, sum)
			sum += int(shape.Width[lane])
		}
	}
}

// widen gives a lane the width with which the samples take the fewest bits. others is the sum of the other widths.
func (w *scratch) widen(shape *netcode.DeltaLanes, lane, others int) {
	var count, wide [33]int // samples that fit in the other lanes, by the bits they need in this one
	was, left := shape.Width[lane], 0
	for i := range w.samples {
		one := &w.samples[i]
		need := one.need[lane]
		if need > was && one.misfits == 1 || one.misfits == 0 {
			count[need]++
			wide[need] += one.wide
			left += one.wide // of those that need more
		}
	}
	width, best, fitting := 0, 0, 0
	for b := range min(int(shape.Bits[lane]), 32-others) + 1 {
		fitting += count[b]
		left -= wide[b]
		if bits := left + fitting*(others+b); b == 0 || bits < best {
			width, best = b, bits
		}
	}
	if shape.Width[lane] = uint8(width); shape.Width[lane] == was {
		return
	}
	for i := range w.samples {
		switch one := &w.samples[i]; {
		case one.need[lane] > was && one.need[lane] <= shape.Width[lane]:
			one.misfits--
		case one.need[lane] <= was && one.need[lane] > shape.Width[lane]:
			one.misfits++
		}
	}
}
