package native

import (
	"math"
	"math/bits"
)

// SampleRoom is the number of slots that found of Sample needs for most slots.
func SampleRoom(most int) int { return most + BlockLen }

// Sample chooses about one of 1<<share points, by a hash of the bits of their
// coordinates: neither the order of the points nor their slots decide, so that
// reordered columns give the same sample. Of points with the same coordinates it
// chooses all or none. found gets the slots of those chosen, in the order of slots;
// there are none if there are more than most of them. The slots are such as
// Measure accepts. It panics when found is shorter than SampleRoom(most), and on a
// level that Resolve refuses.
func Sample(level Level, x, y, z []float32, slots []uint32, share, most int, found []uint32) []uint32 {
	found = found[:SampleRoom(most)]
	mask := bits.Reverse32(1<<share - 1) // the highest bits of a product depend on all of the factor
	n := 0
	if level = must(level); level == Go || len(slots) < measureBreakEven {
		n = sampleGo(x, y, z, slots, mask, found[:most+1])
	} else {
		n = sampleC(level, x, y, z, slots, mask, found, most)
	}
	if n > most {
		return found[:0]
	}
	return found[:n]
}

// sampleGo stops when found is full.
func sampleGo(x, y, z []float32, slots []uint32, mask uint32, found []uint32) int {
	y, z = y[:len(x)], z[:len(x)] // one bounds check for the three
	n := 0
	for _, s := range slots {
		found[n] = s
		hash := (math.Float32bits(x[s]) + math.Float32bits(y[s])<<3 + math.Float32bits(z[s])<<6) * 0x9e3779b1
		if hash&mask == 0 {
			if n++; n == len(found) {
				break
			}
		}
	}
	return n
}
