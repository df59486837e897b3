package rigid

import "github.com/evertick/evertick/native"

// BoxGrid is boxes in an order in which those near a place are found quickly. The zero
// BoxGrid has none.
type BoxGrid struct {
	grid    grid
	builder gridBuilder
}

// Build replaces the boxes by those of the shapes whose bit is set in which, bit i%64 of
// element i/64 for shape i. Boxes that overlap nothing are left out. It panics if columns differ
// in length or which is too short, if there are more than native.MaxSlots boxes, and on a
// level that native.Resolve refuses.
func (l *BoxGrid) Build(level native.Level, boxes *Boxes, which []uint64) {
	n := boxes.check()
	if len(which) < (n+63)/64 {
		panic("rigid: BoxGrid.Build: a bit for each box is needed")
	}
	if n > native.MaxSlots {
		panic("rigid: BoxGrid.Build: more than native.MaxSlots shapes")
	}
	l.builder.begin(must(level), boxes, nil)
	l.builder.build(&l.grid, which, true)
}

// lookup writes the shapes whose box overlaps the given one to out, until that is full, and
// returns how many they are. Their order is that of the layout: a function of its boxes.
func (s *grid) query(b *box, out []uint32) int {
	n := 0
	if !isValid(b[0], b[1], b[2], b[3]) {
		return 0
	}
	for i := range s.layers {
		n += s.queryLayer(&s.layers[i], b, out[n:])
	}
	return n
}

func (s *grid) queryLayer(k *layer, b *box, out []uint32) (n int) {
	firstRow, lastRow := k.rowsOf(b[1], b[3])
	first, last := k.columnOf(b[0]), k.columnOf(b[2])
	first -= min(first, k.SpanX)
	row := s.directory[k.Rough+firstRow>>k.RowShift]
	for ; row < k.LastRow && s.rowNumber[row] <= lastRow; row++ {
		if s.rowNumber[row] < firstRow {
			continue
		}
		end := s.rowStart[row+1]
		for j := s.directory[k.Fine+(row-k.FirstRow)*k.Width+first>>k.ColumnShift]; j < end && s.column[j] <= last; j++ {
			if s.minX[j] <= b[2] && b[0] <= s.maxX[j] && s.minY[j] <= b[3] && b[1] <= s.maxY[j] {
				if n == len(out) {
					return n
				}
				out[n] = s.shape[j]
				n++
			}
		}
	}
	return n
}
