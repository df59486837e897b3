package broad

import (
	"math"
	"math/bits"
	"slices"

	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/native"
)

// Grid holds boxes sorted by layer, row and column, so that those near a place are found quickly. A position is an index
// in this order. The zero Grid is empty.
type Grid struct {
	layers []layer
	store  [maxLayers]layer

	// By position, with room for one vector after the last: the boxes, their shapes, the grid columns in
	// which they begin and end, and their intervals, if spanned. All lie in memory, one after the other.
	memory                    []uint32
	minX, minY, maxX, maxY    []float32
	shape, column, lastColumn []uint32
	spanMin, spanMax          []float32
	spanned                   bool

	// Rows that have boxes, layer by layer: row k has the number rowNumber[k] in the grid of its layer and
	// begins at position rowStart[k]. One more entry ends the last row.
	rowStart, rowNumber []uint32

	directory []uint32 // see layer
	keys, tmp []uint64
	ids       []uint32
	plan      gridPlan
	builder   *gridBuilder // of Build
}

// layer holds boxes of similar size. The rows of its grid are about as high as the largest box, and the columns about
// half as wide. Boxes outside the grid belong to its border.
type layer struct {
	MinX, MinY, InvX, InvY float32
	Columns, Rows          int32  // of the grid, 1 to maxCells
	First, Last            uint32 // positions
	FirstRow, LastRow      uint32 // in grid.rowStart
	SpanX, SpanY           uint32 // most columns, or rows, by which a box extends beyond its first

	// In grid.directory: from Rough on, for each multiple of 1 << RowShift, the first row in rowStart with at least
	// that number. From Fine on, Width entries for each row: for each multiple of 1 << ColumnShift, the first
	// position of the row with at least that column.
	Rough, Fine, Width, RowShift, ColumnShift uint32
}

const (
	maxLayers = 16
	cellBits  = 18 // of a row number, and of a column number
	maxCells  = 1 << cellBits
	maxFinite = math.MaxFloat32

	// ShapeBits is the number of bits of a shape number: native.MaxSlots.
	ShapeBits = 24

	// padding is the number of elements after the end that the vectors of a kernel may read and write.
	padding = 16
)

// A key holds, from its highest bits on: layer, row, column, shape.
var _ [64 - 2*cellBits - ShapeBits - 4]byte

// cell is the row or column of a coordinate. It is monotone, and clamped to the grid.
func cell(v, least, inv float32, n int32) uint32 {
	t := (v - least) * inv
	if !(t > 0) {
		return 0
	}
	if t >= float32(n) {
		return uint32(n - 1)
	}
	return uint32(t)
}

func (l *layer) columnOf(x float32) uint32 { return cell(x, l.MinX, l.InvX, l.Columns) }
func (l *layer) rowOf(y float32) uint32    { return cell(y, l.MinY, l.InvY, l.Rows) }
func (l *layer) len() int                  { return int(l.Last - l.First) }

// summary describes boxes before they are sorted.
type summary struct {
	N                         uint32 // boxes
	_                         uint32
	MinX, MinY, MaxX, MaxY    float32 // around all
	Width, Height             float32 // the largest
	SmallestSize, LargestSize float32 // of the larger side
}

// reserve makes room for n boxes.
func (s *Grid) reserve(n int) {
	s.keys, s.tmp = buffer.Resized(s.keys, n+padding), buffer.Resized(s.tmp, n+padding)
	s.rowStart, s.rowNumber = buffer.Resized(s.rowStart, n+padding), buffer.Resized(s.rowNumber, n+padding)
	if n+padding <= len(s.shape) {
		return
	}
	stride := staggered(n)
	s.memory = make([]uint32, 9*stride)
	s.minX, s.minY, s.maxX, s.maxY = floats(s.memory, 0, stride), floats(s.memory, 1, stride), floats(s.memory, 2, stride), floats(s.memory, 3, stride)
	s.shape, s.column, s.lastColumn = words(s.memory, 4, stride), words(s.memory, 5, stride), words(s.memory, 6, stride)
	s.spanMin, s.spanMax = floats(s.memory, 7, stride), floats(s.memory, 8, stride)
}

// noBoxes is the summary of no boxes.
var noBoxes = summary{MinX: inf, MinY: inf, MaxX: -inf, MaxY: -inf, SmallestSize: inf}

// measureGo lists the shapes of [lo, hi) that are members and whose box can overlap others; lo is a multiple of
// 64.
func measureGo(boxes *Boxes, members []uint64, lo, hi int, ids []uint32, sum *summary) {
	minX, minY, maxX, maxY := boxes.MinX[:hi], boxes.MinY[:hi], boxes.MaxX[:hi], boxes.MaxY[:hi]
	n, all := 0, noBoxes
	aroundX0, aroundY0, aroundX1, aroundY1 := all.MinX, all.MinY, all.MaxX, all.MaxY // in registers
	width, height, smallest, largest := all.Width, all.Height, all.SmallestSize, all.LargestSize
	for i := lo; i < hi; i++ {
		x0, y0, x1, y1 := minX[i], minY[i], maxX[i], maxY[i]
		if members[i/64]>>(i%64)&1 == 0 || !isValid(x0, y0, x1, y1) {
			continue
		}
		ids[n] = uint32(i)
		n++
		w, h := x1-x0, y1-y0
		size := max(w, h)
		aroundX0, aroundY0 = min(x0, aroundX0), min(y0, aroundY0)
		aroundX1, aroundY1 = max(x1, aroundX1), max(y1, aroundY1)
		width, height = max(w, width), max(h, height)
		smallest, largest = min(size, smallest), max(size, largest)
	}
	*sum = summary{
		N: uint32(n), MinX: aroundX0, MinY: aroundY0, MaxX: aroundX1, MaxY: aroundY1,
		Width: width, Height: height, SmallestSize: smallest, LargestSize: largest,
	}
}

// isValid reports whether a box is finite and not inverted.
func isValid(x0, y0, x1, y1 float32) bool {
	return -maxFinite <= x0 && x0 <= x1 && x1 <= maxFinite && -maxFinite <= y0 && y0 <= y1 && y1 <= maxFinite
}

// gridPlan divides boxes into layers, chooses their grids, and splits the work into parts.
type gridPlan struct {
	sum    summary
	boxes  *Boxes
	spans  *Filters // that have the intervals; nil: none
	chunks []shapeChunk
	parts  []keyPart

	width, height             [maxLayers]float32 // the largest of each layer
	bits, rowBits, columnBits uint
	layerOf                   [256]uint8 // by exponent of the size
	partShift                 uint       // position of the part number in a key
}

// exponent returns the exponent bits of a number.
func exponent(v float32) int { return int(math.Float32bits(v) >> 23 & 255) }

// oneLayer reports whether one layer is enough.
func (p *gridPlan) oneLayer() bool {
	return exponent(p.sum.LargestSize)-exponent(p.sum.SmallestSize) <= 1
}

// makeLayers returns the layers, largest boxes first. Sizes in a layer differ by less than a factor of four, except
// in the last one. Unless one layer is enough, the sizes of the chunks must be known.
func (p *gridPlan) makeLayers(store []layer) []layer {
	s := &p.sum
	if p.oneLayer() {
		store = store[:1]
		p.width[0], p.height[0] = s.Width, s.Height
	} else {
		store = store[:p.assignLayers()]
	}
	p.grids(store, s.MinX, s.MinY, s.MaxX, s.MaxY)
	if p.bits > roughBits && s.N >= trimFrom {
		p.trimOutliers(store)
	}
	return store
}

// sizes counts boxes by the exponent of their larger side.
type sizes struct {
	count         [256]uint32
	width, height [256]float32 // the largest
}

func (s *sizes) add(boxes *Boxes, ids []uint32) {
	for _, i := range ids {
		w, h := boxes.MaxX[i]-boxes.MinX[i], boxes.MaxY[i]-boxes.MinY[i]
		e := exponent(max(w, h))
		s.count[e]++
		s.width[e], s.height[e] = max(w, s.width[e]), max(h, s.height[e])
	}
}

// assignLayers assigns a layer to each size and returns the number of layers.
func (p *gridPlan) assignLayers() int {
	n, room := 0, 0
	clear(p.width[:])
	clear(p.height[:])
	for e := 255; e >= 0; e-- {
		for k := range p.chunks {
			s := &p.chunks[k].sizes
			if s.count[e] == 0 {
				continue
			}
			if room == 0 && n < maxLayers {
				n, room = n+1, 2
			}
			p.width[n-1], p.height[n-1] = max(s.width[e], p.width[n-1]), max(s.height[e], p.height[n-1])
			p.layerOf[e] = uint8(n - 1)
		}
		room = max(room-1, 0)
	}
	return n
}

// grids chooses the grids of layers whose boxes lie mostly within the given bounds.
func (p *gridPlan) grids(layers []layer, minX, minY, maxX, maxY float32) {
	p.columnBits, p.rowBits = 0, 0
	for i := range layers {
		l := &layers[i]
		*l = layer{}
		l.MinY, l.Rows = minY, 1
		if p.oneRow(minX, maxX, i) {
			l.MinX, l.InvX, l.Columns = gridAxis(minX, maxX, p.width[i]*0.125)
		} else {
			l.MinX, l.InvX, l.Columns = gridAxis(minX, maxX, p.width[i]*0.5)
			l.MinY, l.InvY, l.Rows = gridAxis(minY, maxY, p.height[i]*1.0001)
		}
		p.columnBits = max(p.columnBits, uint(bits.Len32(uint32(l.Columns-1))))
		p.rowBits = max(p.rowBits, uint(bits.Len32(uint32(l.Rows-1))))
	}
	p.bits = p.columnBits + p.rowBits + uint(bits.Len(uint(len(layers)-1)))
}

// oneRow reports whether the boxes are so sparse along the grid that most have fewer neighbours than a vector has
// lanes. Rows would then cost more than they save.
func (p *gridPlan) oneRow(minX, maxX float32, layer int) bool {
	return float32(p.sum.N)*p.width[layer] <= sparse*(maxX-minX)
}

// gridAxis divides the range from a to b into at most maxCells cells, if possible not smaller than size.
func gridAxis(a, b, size float32) (least, inv float32, n int32) {
	length := min(b-a, maxFinite)
	size = max(min(size, maxFinite), length*(1./maxCells))
	if size < 1e-30 { // keeps 1/size finite
		return a, 0, 1
	}
	inv = 1 / size
	cells := length * inv
	if cells >= maxCells-1 {
		return a, inv, maxCells
	}
	return a, inv, int32(cells) + 1
}

const (
	// sparse is the greatest average number of boxes that overlap along the row for a layer to have one row only.
	sparse = 20

	// roughBits is the number of key bits that two passes sort.
	roughBits = 22
	trimFrom  = 64
	samples   = 128
)

// trimOutliers chooses the grids again for the region where most boxes are: a few boxes far away would make the
// keys long.
func (p *gridPlan) trimOutliers(layers []layer) {
	var x, y [samples]float32
	for k := range samples {
		i := p.id(uint32(k) * 0x9e3779b9 % p.sum.N) // multiplicative hashing avoids a period that the boxes could share
		x[k], y[k] = p.boxes.MinX[i], p.boxes.MinY[i]
	}
	minX, maxX := centralRange(x[:], p.sum.MinX, p.sum.MaxX)
	minY, maxY := centralRange(y[:], p.sum.MinY, p.sum.MaxY)
	p.grids(layers, minX, minY, maxX, maxY)
}

// centralRange returns an interval around all numbers but the outermost few, widened on both sides by a quarter
// of its length, within [least, most].
func centralRange(v []float32, least, most float32) (float32, float32) {
	slices.Sort(v)
	a, b := v[len(v)/16], v[len(v)-1-len(v)/16]
	more := float32(min(b-a, maxFinite) * 0.25)
	return max(a-more, least), min(b+more, most)
}

// id returns the shape of box n of all that were measured.
func (p *gridPlan) id(n uint32) uint32 {
	for k := range p.chunks {
		c := &p.chunks[k]
		if n < c.sum.N {
			return c.ids[n]
		}
		n -= c.sum.N
	}
	panic("broad: plan.id: out of range")
}

// makeKeysGo makes the keys of boxes.
func makeKeysGo(p *gridPlan, ids []uint32, layers []layer, to []uint64) {
	b := p.boxes
	for k, i := range ids {
		x, y := b.MinX[i], b.MinY[i]
		n := uint64(0)
		if len(layers) > 1 {
			n = uint64(p.layerOf[exponent(max(b.MaxX[i]-x, b.MaxY[i]-y))])
		}
		l := &layers[n]
		to[k] = (n<<p.rowBits|uint64(l.rowOf(y)))<<(p.columnBits+ShapeBits) | uint64(l.columnOf(x))<<ShapeBits | uint64(i)
	}
}

// SortKeys sorts keys by the count bits above the shape, which is in the lowest ShapeBits. Equal keys stay in order of their
// shapes if they are so before. It returns keys and tmp, which is as long, the one that holds the result first.
func SortKeys(level native.Level, keys, tmp []uint64, count uint) (sorted, rest []uint64) {
	return kernelsFor(level, len(keys)).sortKeys(keys, tmp, count)
}

// sortKeysGo sorts keys by the count bits above the shape. Equal keys stay in order of their shapes. It returns
// keys and tmp, the one that holds the result first.
func sortKeysGo(keys, tmp []uint64, count uint) ([]uint64, []uint64) {
	passes := sortPasses(count)
	for p := range passes {
		from, to := ShapeBits+p*count/passes, ShapeBits+(p+1)*count/passes
		mask := uint64(1)<<(to-from) - 1
		var first [1 << 11]uint32
		for _, key := range keys {
			first[key>>from&mask]++
		}
		sum := uint32(0)
		for d := range mask + 1 {
			first[d], sum = sum, sum+first[d]
		}
		for _, key := range keys {
			d := key >> from & mask
			tmp[first[d]] = key
			first[d]++
		}
		keys, tmp = tmp, keys
	}
	return keys, tmp
}

// sortPasses is how many passes sort count bits; each moves all keys once.
func sortPasses(count uint) uint { return (count + 10) / 11 }

// fillRowsGo fills the columns and rows of positions [lo, hi) from the sorted keys, and sets the positions and spans
// that the layers have in this range. rows is the number of rows before. It returns rows plus the number of rows in
// the range.
func fillRowsGo(b *Boxes, p *gridPlan, s *Grid, lo, hi, rows int, layers []layer) int {
	before := ^uint64(0)
	if lo > 0 {
		before = s.keys[lo-1] >> (ShapeBits + p.columnBits)
	}
	rowShift, columnMask, numberMask := ShapeBits+p.columnBits, uint64(1)<<p.columnBits-1, uint64(1)<<p.rowBits-1
	keys, shape, columns, lastColumn := s.keys[:hi], s.shape[:hi], s.column[:hi], s.lastColumn[:hi]
	minX, minY, maxX, maxY := s.minX[:hi], s.minY[:hi], s.maxX[:hi], s.maxY[:hi]
	fromX, fromY, toX, toY := b.MinX, b.MinY[:len(b.MinX)], b.MaxX[:len(b.MinX)], b.MaxY[:len(b.MinX)]
	last := ^uint64(0) // layer
	var l *layer
	for i := lo; i < hi; i++ {
		key := keys[i]
		id := int(key & (1<<ShapeBits - 1))
		x0, y0, x1, y1 := fromX[id], fromY[id], toX[id], toY[id]
		minX[i], minY[i], maxX[i], maxY[i] = x0, y0, x1, y1
		row := key >> rowShift
		number := uint32(row & numberMask)
		if row != before {
			if n := row >> p.rowBits; n != last {
				l = &layers[n]
				l.First, l.FirstRow = uint32(i), uint32(rows)
				last = n
			}
			s.rowStart[rows], s.rowNumber[rows] = uint32(i), number
			rows++
			before = row
		} else if l == nil { // the row began before lo
			last = row >> p.rowBits
			l = &layers[last]
			l.First, l.FirstRow = uint32(i), uint32(rows)
		}
		column, until := uint32(key>>ShapeBits&columnMask), l.columnOf(x1)
		l.Last, l.LastRow = uint32(i+1), uint32(rows)
		shape[i], columns[i], lastColumn[i] = uint32(id), column, until
		if p.spans != nil {
			s.spanMin[i], s.spanMax[i] = p.spans.SpanMin[id], p.spans.SpanMax[id]
		}
		l.SpanX = max(l.SpanX, until-column)
		l.SpanY = max(l.SpanY, l.rowOf(y1)-number)
	}
	return rows
}

// buildDirectory makes the directories of all layers. They have about as many entries as there are boxes.
func (s *Grid) buildDirectory() {
	for i := range s.layers {
		s.buildLayerDirectory(&s.layers[i])
	}
}

func (s *Grid) buildLayerDirectory(l *layer) {
	room := uint32(2*l.len()) + 16
	rows := l.LastRow - l.FirstRow
	l.RowShift, l.ColumnShift = 0, 0
	for (uint32(l.Rows)-1)>>l.RowShift >= room {
		l.RowShift++
	}
	for ((uint32(l.Columns)-1)>>l.ColumnShift+1)*rows > room && l.ColumnShift < cellBits {
		l.ColumnShift++
	}
	l.Width = (uint32(l.Columns)-1)>>l.ColumnShift + 1
	l.Rough = uint32(len(s.directory))
	k := l.FirstRow
	for r := range (uint32(l.Rows)-1)>>l.RowShift + 1 {
		for k < l.LastRow && s.rowNumber[k] < r<<l.RowShift {
			k++
		}
		s.directory = append(s.directory, k)
	}
	l.Fine = uint32(len(s.directory))
	for k := l.FirstRow; k < l.LastRow; k++ {
		i := s.rowStart[k]
		for c := range l.Width {
			for i < s.rowStart[k+1] && s.column[i] < c<<l.ColumnShift {
				i++
			}
			s.directory = append(s.directory, i)
		}
	}
}

// Build replaces the boxes by those of the shapes whose bit is set in members: bit i%64 of element i/64 for
// shape i. Boxes that overlap nothing are left out. It panics if columns differ in length, if members is too
// short, if there are more than native.MaxSlots boxes, and on a level that native.Resolve refuses.
func (s *Grid) Build(level native.Level, boxes *Boxes, members []uint64) {
	n := boxes.Len()
	if len(members) < (n+63)/64 {
		panic("broad: Grid.Build: a bit for each box is needed")
	}
	if n > native.MaxSlots {
		panic("broad: Grid.Build: more than native.MaxSlots shapes")
	}
	if s.builder == nil {
		s.builder = new(gridBuilder)
	}
	s.builder.begin(level, boxes, nil, nil)
	s.builder.build(s, members, true)
}

// IsEmpty reports whether there are no boxes.
func (s *Grid) IsEmpty() bool { return len(s.layers) == 0 }

// Bounds returns a box around all boxes, and an interval around the intervals of their shapes in f, which has them; false if there are none, or more
// than most.
func (s *Grid) Bounds(most int, f *Filters) (box [4]float32, least, greatest float32, ok bool) {
	n := 0
	for i := range s.layers {
		n = max(n, int(s.layers[i].Last))
	}
	if n == 0 || n > most {
		return box, 0, 0, false
	}
	for i := range n {
		id := s.shape[i]
		x0, y0, x1, y1, from, to := s.minX[i], s.minY[i], s.maxX[i], s.maxY[i], f.SpanMin[id], f.SpanMax[id]
		if i == 0 {
			box, least, greatest = [4]float32{x0, y0, x1, y1}, from, to
		}
		box = [4]float32{min(box[0], x0), min(box[1], y0), max(box[2], x1), max(box[3], y1)}
		least, greatest = min(least, from), max(greatest, to)
	}
	return box, least, greatest, true
}

// Query writes the shapes whose boxes overlap b, from the lower to the upper corner, to out, until out is full, and
// returns their number. Their order is that of the grid: a function of its boxes.
func (s *Grid) Query(b *[4]float32, out []uint32) int { return s.query(&query{box: *b}, out) }

// QueryBetween is Query for the shapes whose intervals in f, which has them, overlap the one from least to most.
func (s *Grid) QueryBetween(b *[4]float32, least, most float32, f *Filters, out []uint32) int {
	return s.query(&query{*b, least, most, f}, out)
}

// query is what a box has to overlap: the interval only if filters are given.
type query struct {
	box         [4]float32
	least, most float32
	filters     *Filters
}

func (q *query) meetsInterval(shape uint32) bool {
	f := q.filters
	return f == nil || f.SpanMin[shape] <= q.most && q.least <= f.SpanMax[shape]
}

func (s *Grid) query(q *query, out []uint32) int {
	n, b := 0, &q.box
	if !isValid(b[0], b[1], b[2], b[3]) {
		return 0
	}
	for i := range s.layers {
		n += s.queryLayer(&s.layers[i], q, out[n:])
	}
	return n
}

func (s *Grid) queryLayer(k *layer, q *query, out []uint32) (n int) {
	b := &q.box
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
			if s.minX[j] <= b[2] && b[0] <= s.maxX[j] && s.minY[j] <= b[3] && b[1] <= s.maxY[j] && q.meetsInterval(s.shape[j]) {
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
