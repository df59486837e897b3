package broad

import "github.com/evertick/evertick/internal/buffer"

// directoryBreakEven is the largest number of boxes of a layer that are each compared with all rows of another layer
// that they reach. With more boxes, the boxes of the other layer search for them in a directory.
const directoryBreakEven = 128

// search finds the pairs of boxes that overlap and may collide. It returns false if there are so many that
// bruteForce has to search.
func (b *Phase) search(n int) bool {
	b.jobs, b.groups = b.jobs[:0], append(b.groups[:0], 0)
	m, s := &b.moving, &b.stationary
	for i := range m.layers {
		l := &m.layers[i]
		b.addJobs(b.kernels.searchLayer, m, m, l, l)
		for k := range i { // layer k is coarser
			b.searchBetween(m, l, m, &m.layers[k])
		}
		for k := range s.layers {
			b.searchBetween(m, l, s, &s.layers[k])
		}
	}
	if len(b.groups) == 1 {
		b.groups = append(b.groups, len(b.jobs))
	}
	groups := len(b.groups) - 1
	b.buffers = buffer.Extended(b.buffers, groups)
	b.total.Store(0)
	b.each(groups, b.tasks.search)
	return b.total.Load() <= maxBuffered(n)
}

// maxBuffered is how many pairs of n shapes a search keeps: more than maxTotalPairs, as the filters may refuse
// many of them.
func maxBuffered(n int) int64 { return 4 * int64(maxTotalPairs(n, MinPairs)) }

// searchBetween searches two layers. The second may have a directory.
func (b *Phase) searchBetween(s *Grid, l *layer, t *Grid, k *layer) {
	if k.len() <= directoryBreakEven {
		b.addJobs(b.kernels.searchRows, t, s, k, l)
		return
	}
	if len(t.directory) == 0 {
		t.buildDirectory()
	}
	b.addJobs(b.kernels.searchDirectory, s, t, l, k)
}

// searchKernel compares the boxes of a layer l, from position from on, with those of a layer k. It returns the
// position after the last box for which there was room.
type searchKernel func(s, t *Grid, l, k *layer, from uint32, to *pairBuffer) uint32

// job is a kernel with its arguments. It searches a part of the positions of layer l.
type job struct {
	kernel searchKernel
	s, t   *Grid
	l      layer
	k      *layer
}

// addJobs adds the jobs of a kernel for all boxes of layer l.
func (b *Phase) addJobs(kernel searchKernel, s, t *Grid, l, k *layer) {
	n := b.cache.n
	size := uint32(b.partSize(n))
	for from := l.First; from < l.Last; from += size {
		part := *l
		part.First, part.Last = from, min(from+size, l.Last)
		b.jobs = append(b.jobs, job{kernel, s, t, part, k})
		if b.inParts(n) {
			b.groups = append(b.groups, len(b.jobs))
		}
	}
}

// searchPart runs a group of jobs.
func (b *Phase) searchPart(group int) {
	to := &b.buffers[group]
	to.n = 0
	for i := b.groups[group]; i < b.groups[group+1]; i++ {
		if !b.runJob(&b.jobs[i], to) {
			return
		}
	}
	if r := &b.cache.filter; !r.acceptsAll {
		r.apply(to)
	}
	if shift, split := b.shapeParts(b.cache.n); split {
		to.partStart = [maxParts]uint32{}
		b.kernels.countPairs(to, shift)
	}
}

// runJob runs a job. It returns false if there are too many pairs.
func (b *Phase) runJob(j *job, to *pairBuffer) bool {
	for at := j.l.First; ; {
		to.reserve(j.k.len())
		before := to.n
		at = j.kernel(j.s, j.t, &j.l, j.k, at, to)
		total := b.total.Add(int64(to.n - before))
		if at == j.l.Last {
			return true
		}
		if total > maxBuffered(b.cache.n) {
			return false
		}
	}
}

// reserve makes room for the pairs of at least one box with n others.
func (f *pairBuffer) reserve(n int) {
	if f.room(n) >= f.n {
		return
	}
	size := 2*f.n + 2*n + 2*padding
	f.a = append(make([]uint32, 0, size), f.a[:f.n]...)[:size]
	f.b = append(make([]uint32, 0, size), f.b[:f.n]...)[:size]
}

// room returns the highest fill at which there is room for n more pairs.
func (f *pairBuffer) room(n int) int { return len(f.a) - n - padding }

// searchLayerGo compares the boxes of a layer with those after them in the same row, and in the higher rows
// into which they reach. So it visits each pair once. k is the whole layer.
func searchLayerGo(s, _ *Grid, l, k *layer, from uint32, to *pairBuffer) uint32 {
	row := l.FirstRow
	for s.rowStart[row+1] <= from {
		row++
	}
	room, after := to.room(k.len()), s.rowStart[row+1]
	for i := from; i < l.Last; i++ {
		if to.n > room {
			return i
		}
		for s.rowStart[row+1] <= i {
			row++
			after = s.rowStart[row+1]
		}
		end := s.rowStart[row+1]
		first, last, above := s.column[i], s.lastColumn[i], l.rowOf(s.maxY[i])
		s.compare(s, i, i+1, end, last, to)
		for k := row + 1; k < l.LastRow && s.rowNumber[k] <= above; k++ {
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

// searchRowsGo compares the boxes of a layer with all boxes in the rows of another layer that they reach. If
// that layer has one row, it compares them with those in the columns that they reach.
func searchRowsGo(s, t *Grid, l, k *layer, from uint32, to *pairBuffer) uint32 {
	room := to.room(k.len())
	for i := from; i < l.Last; i++ {
		if to.n > room {
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

// rowsOf returns the rows in which boxes can begin that reach into a range of heights.
func (l *layer) rowsOf(minY, maxY float32) (first, last uint32) {
	first = l.rowOf(minY)
	return first - min(first, l.SpanY), l.rowOf(maxY)
}

// rowFrom returns the first row of a layer in rowStart whose number is at least the given one.
func (s *Grid) rowFrom(l *layer, number uint32) uint32 {
	a, b := l.FirstRow, l.LastRow
	for a < b {
		if m := (a + b) / 2; s.rowNumber[m] < number {
			a = m + 1
		} else {
			b = m
		}
	}
	return a
}

// columnFrom returns the first position of a layer of one row whose column is at least the given one.
func (s *Grid) columnFrom(l *layer, number uint32) uint32 {
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

// searchDirectoryGo compares the boxes of a layer with those that they reach of another layer, which has a
// directory.
func searchDirectoryGo(s, t *Grid, l, k *layer, from uint32, to *pairBuffer) uint32 {
	room := to.room(k.len())
	for i := from; i < l.Last; i++ {
		if to.n > room {
			return i
		}
		firstRow, lastRow := k.rowsOf(s.minY[i], s.maxY[i])
		first, last := k.columnOf(s.minX[i]), k.columnOf(s.maxX[i])
		first -= min(first, k.SpanX)
		row := t.directory[k.Rough+firstRow>>k.RowShift]
		for ; row < k.LastRow && t.rowNumber[row] <= lastRow; row++ {
			if t.rowNumber[row] < firstRow {
				continue
			}
			j := t.directory[k.Fine+(row-k.FirstRow)*k.Width+first>>k.ColumnShift]
			s.compare(t, i, j, t.rowStart[row+1], last, to)
		}
	}
	return l.Last
}

// compare appends the pairs of the box at position i with the boxes of t from position j to end whose columns
// are at most last. It stores each candidate and advances only after a pair, so that no branch depends on the
// boxes.
func (s *Grid) compare(t *Grid, i, j, end, last uint32, to *pairBuffer) {
	if j >= end || t.column[j] > last {
		return
	}
	if s.spanned {
		s.compareSpanned(t, i, j, end, last, to)
		return
	}
	x0, y0, x1, y1 := s.minX[i], s.minY[i], s.maxX[i], s.maxY[i]
	shape := s.shape[i]
	columns := t.column[:end] // slices from 0, because the compiler needs a dozen instructions for another start
	n, a, b := to.n, to.a, to.b
	minX, minY, maxX, maxY := t.minX[:len(columns)], t.minY[:len(columns)], t.maxX[:len(columns)], t.maxY[:len(columns)]
	shapes := t.shape[:len(columns)]
	for c := int(j); c < len(columns) && columns[c] <= last; c++ {
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
	to.n = n
}

// compareSpanned is compare for boxes with intervals, which must overlap as well.
func (s *Grid) compareSpanned(t *Grid, i, j, end, last uint32, to *pairBuffer) {
	x0, y0, x1, y1 := s.minX[i], s.minY[i], s.maxX[i], s.maxY[i]
	least, most := s.spanMin[i], s.spanMax[i]
	shape := s.shape[i]
	columns := t.column[:end]
	n, a, b := to.n, to.a, to.b
	minX, minY, maxX, maxY := t.minX[:len(columns)], t.minY[:len(columns)], t.maxX[:len(columns)], t.maxY[:len(columns)]
	shapes, spanMin, spanMax := t.shape[:len(columns)], t.spanMin[:len(columns)], t.spanMax[:len(columns)]
	for c := int(j); c < len(columns) && columns[c] <= last; c++ {
		other := shapes[c]
		a[n], b[n] = min(shape, other), max(shape, other)
		left, right, below, above, under, over := 0, 0, 0, 0, 0, 0
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
		if spanMin[c] <= most {
			under = 1
		}
		if least <= spanMax[c] {
			over = 1
		}
		n += left & right & below & above & under & over
	}
	to.n = n
}
