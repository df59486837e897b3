package neighbours

import (
	"math"
	"math/bits"

	"github.com/evertick/evertick/native"
)

// RowOrder is the order of the slots within a row. Each order is total, so the result does not depend on the
// algorithm.
type RowOrder uint8

const (
	BySlot     RowOrder = iota // ascending slots
	ByDistance                 // ascending squared distances, then slots
	GridOrder                  // as the search found them: ascending places
)

// mergedRow is the longest row that is sorted by merging; longer ones are radix sorted, in linear time.
const mergedRow = 1024

// pieceLen is the length up to which a piece of a row is sorted at once.
const pieceLen = 4

// Sorter is the scratch of SortRows. The zero value is ready. If it is reused, it allocates nothing after the longest
// row.
type Sorter struct {
	scratch []uint64

	// For the Go kernel's sort by slot: a bit per slot and two summaries with a bit per word of the level below, all
	// zero between rows; and a copy of the squared distances.
	marks, mid, top []uint64
	dist2OfSlot     []float32
}

// SortRows sorts rows that a search has found. Row i is slots[ends[i-1]:ends[i]], and the first begins at from. dist2
// has the squared distances at the same places, which move with the slots; it may be nil unless the order is
// ByDistance. Slots are below limit, and no row contains one twice.
//
// ByDistance compares the bits of a squared distance as an int32: this is
// the numerical order of all numbers that are not negative, +Inf after them and a
// NaN after that (before them all if its sign bit is set).
//
// It panics if lengths, ends or limit do not fit, and on a level that Resolve refuses. It also panics if a slot is
// not below limit, and then leaves all rows unchanged. With GridOrder it does nothing and does not check slots.
func SortRows(level native.Level, by RowOrder, limit, from int, ends, slots []uint32, dist2 []float32, s *Sorter) {
	longest := checkOrder(by, limit, from, ends, slots, dist2)
	level = must(level)
	if by == GridOrder || len(ends) == 0 {
		return
	}
	ok := false
	if level == native.Go {
		s.reserve(longest + pieceLen)
		s.reserveMarks(by, limit, dist2 != nil)
		ok = s.sortRowsGo(by, limit, from, ends, slots, dist2)
	} else {
		if longest > mergedRow {
			s.reserve(longest)
		}
		ok = sortRowsC(level, by, limit, from, ends, slots, dist2, s.scratch)
	}
	if !ok {
		panic("neighbours: SortRows: a slot is not below limit")
	}
}

// checkOrder checks the arguments of SortRows, and returns the length of the longest row.
func checkOrder(by RowOrder, limit, from int, ends, slots []uint32, dist2 []float32) int {
	if by > GridOrder {
		panic("neighbours: SortRows: unknown order")
	}
	if limit < 0 || limit > native.MaxSlots {
		panic("neighbours: SortRows: limit is out of range")
	}
	if dist2 == nil && by == ByDistance {
		panic("neighbours: SortRows: ByDistance needs dist2")
	}
	if dist2 != nil && len(dist2) != len(slots) {
		panic("neighbours: SortRows: slots and dist2 differ in length")
	}
	if from < 0 || uint64(from) > math.MaxUint32 {
		panic("neighbours: SortRows: from is out of range")
	}
	longest, at := uint32(0), uint32(from)
	for _, end := range ends {
		if end < at {
			panic("neighbours: SortRows: ends do not ascend")
		}
		longest = max(longest, end-at)
		at = end
	}
	if uint64(at) > uint64(len(slots)) {
		panic("neighbours: SortRows: a row ends after the slots")
	}
	return int(longest)
}

// reserve makes room for two copies of a row's keys.
func (s *Sorter) reserve(n int) {
	if len(s.scratch) < 2*n {
		s.scratch = make([]uint64, 4*n) // spare room: a row grows a little now and then
	}
}

// markedLimit bounds the slots that the Go kernel sorts by marking them: beyond it, marks and distances do not fit
// into the near caches.
const markedLimit = 1 << 17

// reserveMarks prepares marks for slots below limit, if they are to be used.
func (s *Sorter) reserveMarks(by RowOrder, limit int, dist2 bool) {
	if by != BySlot || limit > markedLimit {
		return
	}
	if words := (limit + 63) / 64; len(s.marks) < words {
		s.marks = make([]uint64, words)
		s.mid = make([]uint64, (words+63)/64)
		s.top = make([]uint64, (words+4095)/4096)
	}
	if dist2 && len(s.dist2OfSlot) < limit {
		s.dist2OfSlot = make([]float32, limit)
	}
}

// sortRowsGo is the pure-Go kernel. A key is a pair of words, and the high one decides first: slot and squared
// distance, or the reverse. The sign bit of a distance is flipped, so that keys sort as unsigned integers.
func (s *Sorter) sortRowsGo(by RowOrder, limit, from int, ends, slots []uint32, dist2 []float32) bool {
	for _, slot := range slots[from:ends[len(ends)-1]] {
		if uint(slot) >= uint(limit) {
			return false
		}
	}
	half := len(s.scratch) / 2
	a, b := s.scratch[:half], s.scratch[half:]
	at := from
	for _, end := range ends {
		n := int(end) - at
		if n > 1 {
			row := slots[at:end]
			var d2 []float32
			if dist2 != nil {
				d2 = dist2[at:end]
			}
			if by == BySlot && n > markedFrom && n <= mergedRow && limit <= markedLimit {
				s.sortMarked(row, d2)
			} else {
				sortRow(by, limit, row, d2, a, b)
			}
		}
		at = int(end)
	}
	return true
}

// markedFrom is the length of a row from which marking is faster than merging.
const markedFrom = 8

// sortMarked sorts by slot: it sets the mark of each slot, and then reads the marks in order. The summaries lead from
// one used word to the next.
func (s *Sorter) sortMarked(slots []uint32, dist2 []float32) {
	for i, slot := range slots {
		s.marks[slot>>6] |= 1 << (slot & 63)
		s.mid[slot>>12] |= 1 << (slot >> 6 & 63)
		s.top[slot>>18] |= 1 << (slot >> 12 & 63)
		if dist2 != nil {
			s.dist2OfSlot[slot] = dist2[i]
		}
	}
	n := 0
	for t := range s.top {
		for ; s.top[t] != 0; s.top[t] &= s.top[t] - 1 {
			m := t<<6 | bits.TrailingZeros64(s.top[t])
			for ; s.mid[m] != 0; s.mid[m] &= s.mid[m] - 1 {
				w := m<<6 | bits.TrailingZeros64(s.mid[m])
				for word := s.marks[w]; word != 0; word &= word - 1 {
					slots[n] = uint32(w<<6 | bits.TrailingZeros64(word))
					n++
				}
				s.marks[w] = 0
			}
		}
	}
	if dist2 != nil {
		for i, slot := range slots {
			dist2[i] = s.dist2OfSlot[slot]
		}
	}
}

func sortRow(by RowOrder, limit int, slots []uint32, dist2 []float32, a, b []uint64) {
	n := len(slots)
	slotBits := uint(bits.Len(uint(limit - 1)))
	switch {
	case by == ByDistance:
		for i, slot := range slots {
			a[i] = uint64(math.Float32bits(dist2[i])^signBit)<<32 | uint64(slot)
		}
		if n <= mergedRow {
			a = mergeSort(a, b, n)
		} else {
			a, b = radixSort(a, b, n, 0, slotBits)
			a, _ = radixSort(a, b, n, 32, 64)
		}
		for i, key := range a[:n] {
			slots[i], dist2[i] = uint32(key), math.Float32frombits(uint32(key>>32)^signBit)
		}
		return
	case dist2 != nil:
		for i, slot := range slots {
			a[i] = uint64(slot)<<32 | uint64(math.Float32bits(dist2[i]))
		}
	default:
		for i, slot := range slots {
			a[i] = uint64(slot) << 32
		}
	}
	if n <= mergedRow {
		a = mergeSort(a, b, n)
	} else {
		a, _ = radixSort(a, b, n, 32, 32+slotBits)
	}
	for i, key := range a[:n] {
		slots[i] = uint32(key >> 32)
	}
	if dist2 != nil {
		for i, key := range a[:n] {
			dist2[i] = math.Float32frombits(uint32(key))
		}
	}
}

const signBit = 1 << 31

// mergeSort sorts keys[:n] and returns keys or tmp, whichever holds the result; both have room for pieceLen more. It
// cuts the row into pieces whose lengths differ by at most one, sorts them, and merges neighbours. No branch depends
// on the keys.
func mergeSort(keys, tmp []uint64, n int) []uint64 {
	shift := 0
	for n > pieceLen<<shift {
		shift++
	}
	at := 0
	for p := 1; p <= 1<<shift; p++ {
		end := p * n >> shift
		sortPiece(keys[at:], (*[pieceLen]uint64)(tmp[at:]), end-at)
		at = end
	}
	for ; shift > 0; shift-- {
		keys, tmp = tmp, keys
		at := 0
		for p := 1; p < 1<<shift; p += 2 {
			middle, end := p*n>>shift, (p+1)*n>>shift
			mergeHalves(keys[at:end], tmp[at:end], middle-at)
			at = end
		}
	}
	return tmp
}

// sortPiece sorts up to four keys into out. It may write more elements than it sorts; the next piece overwrites the
// rest.
func sortPiece(in []uint64, out *[pieceLen]uint64, n int) {
	a, b, c, d := uint64(math.MaxUint64), uint64(math.MaxUint64), uint64(math.MaxUint64), in[0]
	if n > 1 {
		c = in[1]
	}
	if n > 2 {
		b = in[2]
	}
	if n > 3 {
		a = in[3]
	}
	a, b = min(a, b), max(a, b)
	c, d = min(c, d), max(c, d)
	a, c = min(a, c), max(a, c)
	b, d = min(b, d), max(b, d)
	b, c = min(b, c), max(b, c)
	out[0], out[1], out[2], out[3] = a, b, c, d
}

// mergeHalves merges the sorted runs in[:middle] and in[middle:], whose lengths differ by at most one, from both ends
// at once. Neither run can be exhausted before the ends meet.
func mergeHalves(in, out []uint64, middle int) {
	left, right := 0, middle
	leftEnd, rightEnd := middle-1, len(in)-1
	lo, hi := 0, len(in)-1
	for lo < hi {
		x, y := in[left], in[right]
		out[lo] = min(x, y)
		r := 0
		if y < x {
			r = 1
		}
		right += r
		left += 1 - r
		x, y = in[leftEnd], in[rightEnd]
		out[hi] = max(x, y)
		l := 0
		if y < x {
			l = 1
		}
		leftEnd -= l
		rightEnd -= 1 - l
		lo++
		hi--
	}
	if lo == hi {
		out[lo] = in[min(left, right)]
		if left > leftEnd {
			out[lo] = in[right]
		}
	}
}

// radixSort sorts keys[:n] by the bytes from bit first up to bit last, least significant first, and skips bytes that
// are the same in all keys. It returns keys and tmp, the one that holds the result first.
func radixSort(keys, tmp []uint64, n int, first, last uint) ([]uint64, []uint64) {
	for ; first < last; first += 8 {
		var count [256]uint32
		for _, key := range keys[:n] {
			count[byte(key>>first)]++
		}
		if count[byte(keys[0]>>first)] == uint32(n) {
			continue
		}
		sum := uint32(0)
		for d, c := range count {
			count[d] = sum
			sum += c
		}
		for _, key := range keys[:n] {
			d := byte(key >> first)
			tmp[count[d]] = key
			count[d]++
		}
		keys, tmp = tmp, keys
	}
	return keys, tmp
}
