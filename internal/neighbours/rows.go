package neighbours

import "github.com/evertick/evertick/native"

// Live converts a bitmap by slot, in which bit s%64 of word s/64 stands for slot s, to the form of Queries.Live: bit
// i of live[b] is the bit of p.Blocks[b].Slot[i], and zero in the lanes after the last point. The bitmap has a bit
// for each slot below p.Limit, and live an element for each block. It panics if one of them is too short; it does not
// check that slots are below Limit.
func Live(level native.Level, p *Points, bitmap []uint64, live []uint16) {
	n := p.Len()
	if len(bitmap) < (p.Limit+63)/64 {
		panic("neighbours: Live: the bitmap is too short")
	}
	if len(p.Blocks) < (n+BlockLen-1)/BlockLen || len(live) < len(p.Blocks) {
		panic("neighbours: Live: Blocks or live is too short")
	}
	if level = must(level); level == native.Go || n == 0 {
		liveGo(p, n, bitmap, live)
	} else {
		liveC(level, p, bitmap, live)
	}
}

func liveGo(p *Points, n int, bitmap []uint64, live []uint16) {
	for b := range (n + BlockLen - 1) / BlockLen {
		lanes := uint16(0)
		for i, s := range p.Blocks[b].Slot[:min(BlockLen, n-b*BlockLen)] {
			lanes |= uint16(bitmap[s/64]>>(s%64)&1) << i
		}
		live[b] = lanes
	}
}

// KeepLive removes from rows.Slots, from index from on, the slots whose bit in a bitmap is zero. It closes the gaps,
// also in Dist2, and corrects ends and Fill: it filters rows after a search as Queries.Live filters points during
// one. ends are the ends of these rows, and the bitmap has a bit for each slot. It panics if ends do not fit; it does
// not check that slots are within the bitmap.
func KeepLive(level native.Level, bitmap []uint64, from int, ends []uint32, rows *Rows) {
	at := uint32(from)
	for _, end := range ends {
		if end < at || uint(end) > uint(len(rows.Slots)) {
			panic("neighbours: KeepLive: ends do not fit")
		}
		at = end
	}
	if len(ends) == 0 {
		return
	}
	if level = must(level); level == native.Go {
		keepLiveGo(bitmap, from, ends, rows.Slots, rows.Dist2)
	} else {
		keepLiveC(bitmap, from, ends, rows.Slots, rows.Dist2)
	}
	rows.Fill = int(ends[len(ends)-1])
}

func keepLiveGo(bitmap []uint64, from int, ends, slots []uint32, dist2 []float32) {
	to := from
	for i, end := range ends {
		for ; from < int(end); from++ {
			slot := slots[from]
			slots[to] = slot
			if dist2 != nil {
				dist2[to] = dist2[from]
			}
			to += int(bitmap[slot/64] >> (slot % 64) & 1)
		}
		ends[i] = uint32(to)
	}
}

// RowsTo is the target of ScatterRows: row i begins at Offsets[i]. Dist2 is nil, or as long as Slots.
type RowsTo struct {
	Offsets []uint32
	Slots   []uint32
	Dist2   []float32
}

// ScatterRows copies rows to other places. Row i of from begins where row i-1 ends, the first at begin, and ends
// before from.Ends[i]. It goes to row number[i] of to, with its squared distances unless to.Dist2 is nil. Rows of the
// target do not overlap.
//
// It panics when lengths do not fit, and on a level that Resolve refuses. It also panics if a row does not ascend or
// lies outside its slice; the rows before it have then been copied.
func ScatterRows(level native.Level, from *Rows, begin int, number []uint32, to *RowsTo) {
	if len(from.Ends) < len(number) || to.Dist2 != nil && (len(to.Dist2) != len(to.Slots) || len(from.Dist2) != len(from.Slots)) {
		panic("neighbours: ScatterRows: Rows differ in length")
	}
	if begin < 0 || begin > len(from.Slots) {
		panic("neighbours: ScatterRows: begin is out of range")
	}
	var done int
	if level = must(level); level == native.Go {
		done = scatterRowsGo(from, begin, number, to)
	} else {
		done = scatterRowsC(from, begin, number, to)
	}
	if done < len(number) {
		panic("neighbours: ScatterRows: a row does not fit")
	}
}

func scatterRowsGo(from *Rows, begin int, number []uint32, to *RowsTo) int {
	for i, row := range number {
		end := int(from.Ends[i])
		if end < begin || end > len(from.Slots) || uint(row) >= uint(len(to.Offsets)) {
			return i
		}
		at := int(to.Offsets[row])
		if end-begin > len(to.Slots)-at {
			return i
		}
		copy(to.Slots[at:], from.Slots[begin:end])
		if to.Dist2 != nil {
			copy(to.Dist2[at:], from.Dist2[begin:end])
		}
		begin = end
	}
	return len(number)
}
