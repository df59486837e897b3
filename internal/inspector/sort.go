package inspector

import (
	"math"
	"math/bits"
	"slices"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/columns"
	"github.com/evertick/evertick/internal/stagger"
)

// keyed is a slot and the value by which it is sorted, as a number of the same order.
type keyed struct {
	key  uint64
	slot ecs.Slot
}

// less is a total order. Of equal values the lower slot comes first, also in descending order.
func (a keyed) less(b keyed) bool { return a.key < b.key || a.key == b.key && a.slot < b.slot }

// keys returns the slots in mask with the keys of a component. NaN comes last in both directions; -0 equals 0.
func (e *entitiesQuery) keys(by component, mask []uint64, total int) []keyed {
	k, mem := by.kind, by.mem
	floats := float32s(k, mem)
	rows := make([]keyed, 0, total)
	for at, word := range mask {
		for ; word != 0; word &= word - 1 {
			slot := at<<6 + bits.TrailingZeros64(word)
			var key uint64
			isNaN := false
			if i := by.at(slot); floats != nil {
				key, isNaN = orderedFloat(float64(floats[i]))
			} else {
				key, isNaN = orderedBits(k, k.Bits(mem, i))
			}
			switch {
			case isNaN:
				key = math.MaxUint64
			case e.descending:
				key = ^key
			}
			rows = append(rows, keyed{key, ecs.Slot(slot)})
		}
	}
	return rows
}

// float32s returns the numbers of a column of this kind, which is the most common one, and nil for other kinds.
func float32s(k columns.Kind, mem []byte) []float32 {
	if k != ecs.KindFloat32 {
		return nil
	}
	return stagger.View[float32](mem)
}

const topBit = 1 << 63

// orderedBits maps the bits of a number of kind k to a number of the same order.
func orderedBits(k columns.Kind, v uint64) (key uint64, isNaN bool) {
	switch {
	case k == ecs.KindFloat32:
		return orderedFloat(float64(math.Float32frombits(uint32(v))))
	case k == ecs.KindFloat64:
		return orderedFloat(math.Float64frombits(v))
	case k.IsSigned():
		return uint64(signed(k, v)) ^ topBit, false
	}
	return v, false
}

func orderedFloat(f float64) (key uint64, isNaN bool) {
	v := math.Float64bits(f + 0) // -0 + 0 is 0
	if v&topBit != 0 {
		return ^v, f != f
	}
	return v | topBit, f != f
}

// selectRange sorts rows as far as needed for rows[first:end]: their elements are what a full sort would put there.
// The selection takes time in proportion to the number of rows, the sort in proportion to the range.
func selectRange(rows []keyed, first, end int) {
	if first >= end {
		return
	}
	partition(rows, first)
	partition(rows[first:], end-first)
	slices.SortFunc(rows[first:end], func(a, b keyed) int {
		if a.less(b) {
			return -1
		}
		return 1 // slots differ
	})
}

// partition makes rows[:n] the n least rows, in any order: Hoare's selection. Its pivots come from a fixed sequence of
// pseudo-random numbers, so that its time does not depend on the order of the rows.
func partition(rows []keyed, n int) {
	state := uint64(len(rows))
	for n > 0 && n < len(rows) {
		state = state*6364136223846793005 + 1442695040888963407
		pivot := rows[int((state>>33)%uint64(len(rows)))]
		i, j := 0, len(rows)-1
		for i <= j { // rows before i are not greater than the pivot, rows after j are not less
			for rows[i].less(pivot) {
				i++
			}
			for pivot.less(rows[j]) {
				j--
			}
			if i <= j {
				rows[i], rows[j] = rows[j], rows[i]
				i++
				j--
			}
		}
		switch { // rows[j+1:i] is the pivot, or empty
		case n <= j+1:
			rows = rows[:j+1]
		case n >= i:
			rows, n = rows[i:], n-i
		default:
			return
		}
	}
}
