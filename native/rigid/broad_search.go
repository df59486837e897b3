package rigid

import "github.com/evertick/evertick/native"

// few is the number of boxes of a layer up to which each of them is compared with
// all the rows of another layer that it reaches, rather than the other way round by a
// directory.
const few = 128

// search finds the pairs of boxes that overlap, whatever their bodies and filters. It returns false if they are so many that crowd is to search.
func (b *Broad) search(level native.Level, n int) bool {
	if len(b.raw) == 0 {
		b.raw = make([]found, 1)
	}
	to := &b.raw[0]
	to.fill = 0
	m, s := &b.moving, &b.still
	for i := range m.layers {
		if !b.all(job{level, sweep, m, m, &m.layers[i], &m.layers[i], n}, to) {
			return false
		}
		for k := range i { // layer k is coarser
			if !b.between(level, m, &m.layers[i], m, &m.layers[k], n, to) {
				return false
			}
		}
		for k := range s.layers {
			if !b.between(level, m, &m.layers[i], s, &s.layers[k], n, to) {
				return false
			}
		}
	}
	return true
}

// between searches two layers of which the second may have a directory.
func (b *Broad) between(level native.Level, s *sorted, l *layer, t *sorted, k *layer, n int, to *found) bool {
	if k.len() <= few {
		return b.all(job{level, span, t, s, k, l, n}, to)
	}
	if len(t.directory) == 0 {
		t.direct()
	}
	return b.all(job{level, cross, s, t, l, k, n}, to)
}

// kernel compares boxes of a layer l from a place on with those of a layer k, and
// returns the place behind the last for which there was room.
type kernel func(level native.Level, s, t *sorted, l, k *layer, from uint32, to *found) uint32

// job is a kernel with its arguments; n is the number of shapes.
type job struct {
	level  native.Level
	kernel kernel
	s, t   *sorted
	l, k   *layer
	n      int
}

// all runs a kernel over all boxes of its first layer.
func (b *Broad) all(j job, to *found) bool {
	for at := j.l.First; ; {
		to.reserve(j.k.len())
		if at = j.kernel(j.level, j.s, j.t, j.l, j.k, at, to); at == j.l.Last {
			return true
		}
		if to.fill > MaxPairs*j.n {
			return false
		}
	}
}

// reserve makes room for the pairs of at least one box with n others.
func (f *found) reserve(n int) {
	if f.room(n) >= f.fill {
		return
	}
	size := 2*f.fill + 2*n + 2*padding
	f.a = append(make([]uint32, 0, size), f.a[:f.fill]...)[:size]
	f.b = append(make([]uint32, 0, size), f.b[:f.fill]...)[:size]
}

// room returns the highest fill at which there is room for n more pairs.
func (f *found) room(n int) int { return len(f.a) - n - padding }

// sweepGo compares the boxes of a layer with those behind them in the same row, and
// in the rows above into which they reach. So it meets each pair once.
func sweepGo(s *sorted, l *layer, from uint32, to *found) uint32 {
	row := l.RowFirst
	for s.rowStart[row+1] <= from {
		row++
	}
	room, after := to.room(l.len()), s.rowStart[row+1]
	for i := from; i < l.Last; i++ {
		if to.fill > room {
			return i
		}
		for s.rowStart[row+1] <= i {
			row++
			after = s.rowStart[row+1]
		}
		end := s.rowStart[row+1]
		first, last, above := s.column[i], s.until[i], l.rowOf(s.maxY[i])
		s.compare(s, i, i+1, end, last, to)
		for k := row + 1; k < l.RowLast && s.rowNumber[k] <= above; k++ {
			if k > row+1 {
				s.compare(s, i, s.rowStart[k], s.rowStart[k+1], last, to)
				continue
			}
			for end = s.rowStart[k+1]; after < end && s.column[after]+l.SpanX < first; {
				after++
			}
			s.compare(s, i, after, end, last, to)
		}
	}
	return l.Last
}

// spanGo compares the boxes of a layer with all in the rows of another one that they
// reach; of a layer with one row, with those of the columns that they reach.
func spanGo(s, t *sorted, l, k *layer, from uint32, to *found) uint32 {
	room := to.room(k.len())
	for i := from; i < l.Last; i++ {
		if to.fill > room {
			return i
		}
		if k.Rows == 1 {
			first := k.columnOf(s.minX[i])
			s.compare(t, i, t.columnFrom(k, first-min(first, k.SpanX)), k.Last, k.columnOf(s.maxX[i]), to)
			continue
		}
		first, last := k.rowsOf(s.minY[i], s.maxY[i])
		j := t.rowStart[t.rowFrom(k, first)]
		s.compare(t, i, j, t.rowStart[t.rowFrom(k, last+1)], maxCells, to)
	}
	return l.Last
}

// rowsOf returns the rows in which boxes may begin that reach between two heights.
func (l *layer) rowsOf(minY, maxY float32) (first, last uint32) {
	first = l.rowOf(minY)
	return first - min(first, l.SpanY), l.rowOf(maxY)
}

// rowFrom returns the first row of a layer in rowStart whose number is not lower.
func (s *sorted) rowFrom(l *layer, number uint32) uint32 {
	a, b := l.RowFirst, l.RowLast
	for a < b {
		if m := (a + b) / 2; s.rowNumber[m] < number {
			a = m + 1
		} else {
			b = m
		}
	}
	return a
}

// columnFrom returns the first place of a layer with one row whose column is not lower.
func (s *sorted) columnFrom(l *layer, number uint32) uint32 {
	a, b := l.First, l.Last
	for a < b {
		if m := (a + b) / 2; s.column[m] < number {
			a = m + 1
		} else {
			b = m
		}
	}
	return a
}

// crossGo compares the boxes of a layer with those that they can reach of another
// one, which has a directory.
func crossGo(s, t *sorted, l, k *layer, from uint32, to *found) uint32 {
	room := to.room(k.len())
	for i := from; i < l.Last; i++ {
		if to.fill > room {
			return i
		}
		firstRow, lastRow := k.rowsOf(s.minY[i], s.maxY[i])
		first, last := k.columnOf(s.minX[i]), k.columnOf(s.maxX[i])
		first -= min(first, k.SpanX)
		row := t.directory[k.Rough+firstRow>>k.RowShift]
		for ; row < k.RowLast && t.rowNumber[row] <= lastRow; row++ {
			if t.rowNumber[row] < firstRow {
				continue
			}
			j := t.directory[k.Fine+(row-k.RowFirst)*k.Width+first>>k.ColumnShift]
			s.compare(t, i, j, t.rowStart[row+1], last, to)
		}
	}
	return l.Last
}

// compare appends the pairs of the box at place i with those of t from place j on, up
// to end and as far as columns are not above last. It stores each candidate and
// advances past the pairs only, so that no branch depends on the boxes.
func (s *sorted) compare(t *sorted, i, j, end, last uint32, to *found) {
	if j >= end {
		return
	}
	x0, y0, x1, y1 := s.minX[i], s.minY[i], s.maxX[i], s.maxY[i]
	shape := s.shape[i]
	columns := t.column[j:end]
	minX, minY, maxX, maxY := t.minX[j:end], t.minY[j:end], t.maxX[j:end], t.maxY[j:end]
	shapes := t.shape[j:end]
	n, a, b := to.fill, to.a, to.b
	for c, column := range columns {
		if column > last {
			break
		}
		other := shapes[c]
		a[n], b[n] = min(shape, other), max(shape, other)
		left, right, below, above := 0, 0, 0, 0
		if minX[c] <= x1 {
			left = 1
		}
		if x0 <= maxX[c] {
			right = 1
		}
		if minY[c] <= y1 {
			below = 1
		}
		if y0 <= maxY[c] {
			above = 1
		}
		n += left & right & below & above
	}
	to.fill = n
}
