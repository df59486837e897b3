package native

// RowsTo is where ScatterRows puts rows: row i at Offsets[i]. Dist2 is nil, or as
// long as Slots.
type RowsTo struct {
	Offsets []uint32
	Slots   []uint32
	Dist2   []float32
}

// ScatterRows copies rows to other places: row i of from, which begins where row
// i-1 ends, the first at begin, and ends before from.Ends[i], goes to row number[i]
// of to, and its squared distances too unless to.Dist2 is nil. Rows of the target
// do not overlap.
//
// It panics when lengths do not fit, if a row does not ascend or lies outside its
// slice, with rows below it copied, and on a level that Resolve refuses.
func ScatterRows(level Level, from *Rows, begin int, number []uint32, to *RowsTo) {
	if len(from.Ends) < len(number) || to.Dist2 != nil && (len(to.Dist2) != len(to.Slots) || len(from.Dist2) != len(from.Slots)) {
		panic("native: ScatterRows: Rows differ in length")
	}
	if begin < 0 || begin > len(from.Slots) {
		panic("native: ScatterRows: begin is out of range")
	}
	var done int
	if level = must(level); level == Go {
		done = scatterRowsGo(from, begin, number, to)
	} else {
		done = scatterRowsC(from, begin, number, to)
	}
	if done < len(number) {
		panic("native: ScatterRows: a row does not fit")
	}
}

func scatterRowsGo(from *Rows, begin int, number []uint32, to *RowsTo) int {
	for i, row := range number {
		end := int(from.Ends[i])
		if end < begin || end > len(from.Slots) || int(row) >= len(to.Offsets) {
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
