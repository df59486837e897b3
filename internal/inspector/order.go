package inspector

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/columns"
)

// keyed is a slot and the value by which it is sorted, as a number of the same order.
type keyed struct {
	key  uint64
	slot ecs.Slot
}

// compareKeyed is a total order. Of equal values the lower slot comes first, also in descending order.
func compareKeyed(a, b keyed) int {
	return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.slot, b.slot))
}

// keys returns the slots in mask with the keys of a component. NaN comes last in both directions; -0 equals 0.
func (e *entitiesQuery) keys(by component, mask []uint64, total int) []keyed {
	k, n, mem := by.view.Kind(), by.view.Components(), columns.Memory(&by.view)
	rows := make([]keyed, 0, total)
	for at, word := range mask {
		for ; word != 0; word &= word - 1 {
			slot := at<<6 + bits.TrailingZeros64(word)
			key, isNaN := orderedBits(k, k.Bits(mem, slot*n+by.i))
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

// orderedBits maps the bits of a number of kind k to a number of the same order.
func orderedBits(k columns.Kind, v uint64) (key uint64, isNaN bool) {
	const top = 1 << 63
	switch {
	case k.IsSigned():
		return uint64(signed(k, v)) ^ top, false
	case !k.IsFloat():
		return v, false
	}
	f := math.Float64frombits(v)
	if k == ecs.KindFloat32 {
		f = float64(math.Float32frombits(uint32(v)))
	}
	if f != f {
		return 0, true
	}
	if v = math.Float64bits(f + 0); v&top != 0 { // -0 + 0 is 0
		return ^v, false
	}
	return v | top, false
}

// selectRange sorts rows as far as needed for rows[first:end]: their elements are what a full sort would put there.
// Its time is proportional to the number of rows, and that of the sort of the range: a Sim waits for it.
func selectRange(rows []keyed, first, end int) {
	if first >= end {
		return
	}
	partition(rows, first)
	partition(rows[first:], end-first)
	slices.SortFunc(rows[first:end], compareKeyed)
}

// partition makes rows[:n] the n least rows, in any order.
func partition(rows []keyed, n int) {
	state := uint64(len(rows)) // of a sequence of pivots that no order of the values can fit
	for n > 0 && n < len(rows) {
		state = state*6364136223846793005 + 1442695040888963407
		pivot := rows[int((state>>33)%uint64(len(rows)))]
		less, rest := 0, len(rows) // rows[:less] are less than the pivot, rows[rest:] are not
		for less < rest {
			if compareKeyed(rows[less], pivot) < 0 {
				less++
			} else {
				rest--
				rows[less], rows[rest] = rows[rest], rows[less]
			}
		}
		switch {
		case n <= less:
			rows = rows[:less]
		case less > 0:
			rows, n = rows[less:], n-less
		default: // the pivot is the least
			i := slices.Index(rows, pivot)
			rows[0], rows[i] = rows[i], rows[0]
			rows, n = rows[1:], n-1
		}
	}
}
