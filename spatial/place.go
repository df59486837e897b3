package spatial

import (
	"math"
	"math/bits"

	"github.com/evertick/evertick/native"
)

// finer is the number of cells, along each axis, to an edge of a cell. A row of
// cells along x is one run of points, so that short cells cost nothing there and
// let a query leave out more of what lies outside its sphere.
var finer = [3]float64{4, 1, 1}

// A layout is a core, which has cells of one length, in a box; most bounds the number
// of cells below and above it, along each axis. All arithmetic here is in float64,
// where no extent of float32 points overflows.
type layout struct {
	core, box [2][3]float64 // lower and upper corner
	most      [2][3]int
}

// uniform returns the layout without cells outside the core.
func uniform(box Bounds) *layout {
	l := &layout{}
	for a := range 3 {
		l.box[0][a], l.box[1][a] = float64(box.Min[a]), float64(box.Max[a])
	}
	l.core = l.box
	return l
}

// grid returns the grid with a cell of that edge, the number of cells of its core and
// that of all.
func (l *layout) grid(cell float64) (g native.Grid, core, all float64) {
	core, all = 1, 1
	for a := range 3 {
		length := cell / finer[a]
		n := math.Floor((l.core[1][a]-l.core[0][a])/length) + 1
		below := native.Steps(float32((l.core[0][a] - l.box[0][a]) / length))
		above := native.Steps(float32((l.box[1][a] - l.core[1][a]) / length))
		tail := max(l.tail(0, a, below), l.tail(1, a, above))
		g.Min[a], g.Inv[a], g.Tail[a] = float32(l.core[0][a]), float32(finer[a]/cell), tail
		g.Low[a], g.High[a] = l.outside(0, a, below, tail), l.outside(1, a, above, tail)
		core *= n
		n += float64(g.Low[a] + g.High[a])
		all *= n
		if n > 1<<24 {
			return g, math.Inf(1), all
		}
		g.N[a] = int32(n)
	}
	return g, core, all
}

// tail returns how many cells there are for each step on one side of the core: one
// for each time that the distance doubles, or fewer if these were too many.
func (l *layout) tail(side, axis int, steps float32) float32 {
	if steps == 0 {
		return 0
	}
	return min(0x1p-23, float32(l.most[side][axis])/steps)
}

func (l *layout) outside(side, axis int, steps, tail float32) int32 {
	if steps == 0 || l.most[side][axis] == 0 {
		return 0
	}
	return min(int32(steps*tail)+1, int32(l.most[side][axis]))
}

// place lays the grid over a layout. The number of cells is bounded by the
// number of points, whatever the extent: a cell is doubled until it is. It returns the
// grid and the edge of a cell.
func (ix *Index) place(n int, l *layout) (native.Grid, float64) {
	cell, most := float64(ix.cfg.CellSize), float64(2*n+1)
	if cell == 0 {
		// Fine enough for any set, then doubled to two points a cell or more,
		// which keeps rows long and cells few when the radius is unknown.
		widest := 0.0
		for a := range 3 {
			widest = max(widest, l.core[1][a]-l.core[0][a])
		}
		cell, most = widest*0x1p-20, max(1, float64(n/2))
	}
	for cell = max(cell, 0x1p-125); ; cell *= 2 { // keeps the reciprocals finite in float32
		if g, core, all := l.grid(cell); core <= most && all <= float64(2*n+1) {
			return g, cell
		}
	}
}

// Placement of a grid for points of which a few lie far from the rest.
const (
	sampleMost = 256 // points looked at, about; twice as many are too many
	sampleFrom = 64  // fewer say too little, and all of them are tested soon enough
	placesFrom = 8   // when they are all there are
	zoomBins   = 32
)

// sides are the parts of the points that may lie outside the core on either side of an
// axis, tried one after another.
var sides = [...]float64{1.0 / 32, 1.0 / 8, 1.0 / 4}

// sampling is scratch of Build. It holds places: coincident points count once, however
// many they are, as no cells separate them and the others should have cells as if those
// were not there.
type sampling struct {
	slots  [2*sampleMost + native.BlockLen]uint32
	values [3][2 * sampleMost]float32
	n      int
	seen   [1 << seenBits]uint16 // hash table: 1 + where a place is in values, or 0
}

const seenBits = 11 // at most a quarter of the table is taken

// choose places the grid. Where the cells of a uniform one would have to be larger than
// wanted, or have no wanted size, it looks for a core that most of the points are in:
// one point far away would otherwise make all cells so large that every query tests
// every point. The core depends on the coordinates of the points alone, not on their order
// or slots.
func (ix *Index) choose(x, y, z []float32, slots []uint32, box Bounds) {
	n := len(slots)
	l := uniform(box)
	grid, cell := ix.place(n, l)
	if ix.cfg.Bounds == (Bounds{}) && n >= sampleFrom && cell != float64(ix.cfg.CellSize) {
		if s := &ix.sampling; s.take(ix.level, x, y, z, slots) && s.crowded(l) {
			grid, cell = ix.best(n, l, grid, cell)
		}
	}
	ix.grid, ix.cell = grid, float32(cell)
}

// take draws the sample, and returns false if it says too little.
func (s *sampling) take(level native.Level, x, y, z []float32, slots []uint32) bool {
	share := bits.Len(uint(len(slots)-1) / sampleMost)
	found := native.Sample(level, x, y, z, slots, share, 2*sampleMost, s.slots[:])
	s.clear()
	for _, slot := range found {
		s.add([3]float32{x[slot], y[slot], z[slot]})
	}
	if s.n < sampleFrom/2 { // most points are coincident
		s.takePlaces(x, y, z, slots)
	}
	return s.n >= placesFrom
}

// takePlaces draws from the places instead of the points: of all places those whose hash
// ends in so many zeros that they fit.
func (s *sampling) takePlaces(x, y, z []float32, slots []uint32) {
	s.clear()
	mask, last := uint32(0), slots[0]
	for i, slot := range slots {
		if i > 0 && x[slot] == x[last] && y[slot] == y[last] && z[slot] == z[last] {
			continue
		}
		last = slot
		p := [3]float32{x[slot], y[slot], z[slot]}
		for h := hashOf(p); h&mask == 0 && !s.add(p) && mask != math.MaxUint32; {
			mask = mask<<1 | 1
			s.thin(mask)
		}
	}
}

func (s *sampling) clear() { s.n, s.seen = 0, [len(s.seen)]uint16{} }

// add adds a place unless it is there, and returns false if there is no room for it.
func (s *sampling) add(p [3]float32) bool {
	i := hashOf(p) >> (32 - seenBits)
	for ; s.seen[i] != 0; i = (i + 1) % uint32(len(s.seen)) {
		if s.at(int(s.seen[i]-1)) == p {
			return true
		}
	}
	if s.n == len(s.values[0]) {
		return false
	}
	for a, v := range p {
		s.values[a][s.n] = v
	}
	s.n++
	s.seen[i] = uint16(s.n)
	return true
}

func (s *sampling) at(i int) [3]float32 {
	return [3]float32{s.values[0][i], s.values[1][i], s.values[2][i]}
}

// thin keeps the places whose hash has none of the bits of mask.
func (s *sampling) thin(mask uint32) {
	n := s.n
	s.clear()
	for i := range n { // values are read before they are overwritten
		if p := s.at(i); hashOf(p)&mask == 0 {
			s.add(p)
		}
	}
}

// hashOf mixes the coordinates of a place, so that all bits depend on all of them. Zero
// of either sign is one place.
func hashOf(p [3]float32) uint32 {
	h := uint32(0)
	for _, v := range p {
		h = (h ^ math.Float32bits(v+0)) * 0x9e3779b1
		h ^= h >> 15
	}
	h *= 0x85ebca6b
	return h ^ h>>13
}

// crowded reports whether along some axis most of the sample is in half of the box.
func (s *sampling) crowded(l *layout) bool {
	for a := range 3 {
		lo, hi := l.box[0][a], l.box[1][a]
		if first, last := s.zoomOnce(a, lo, hi, s.rank(sides[0])); 2*(last-first) < hi-lo {
			return true
		}
	}
	return false
}

func (s *sampling) rank(part float64) int { return max(1, int(float64(s.n)*part)) }

// zoomOnce returns the part of [lo, hi], cut into equal bins, that the sample is in
// along an axis, but for up to rank values on either side.
func (s *sampling) zoomOnce(axis int, lo, hi float64, rank int) (first, last float64) {
	var counts [zoomBins]int
	inv, below, above := zoomBins/(hi-lo), 0, 0
	if !(inv <= math.MaxFloat64) {
		return lo, hi
	}
	for _, v := range s.values[axis][:s.n] {
		switch f := float64(v); {
		case f < lo:
			below++
		case f > hi:
			above++
		default:
			counts[min(int((f-lo)*inv), zoomBins-1)]++
		}
	}
	i, j := 0, zoomBins-1
	for ; i < j && below+counts[i] <= rank; i++ {
		below += counts[i]
	}
	for ; i < j && above+counts[j] <= rank; j-- {
		above += counts[j]
	}
	width := (hi - lo) / zoomBins
	return lo + float64(float64(i)*width), hi - float64(float64(zoomBins-1-j)*width)
}

// zoom repeats zoomOnce as long as it leaves half or less.
func (s *sampling) zoom(axis int, lo, hi float64, rank int) (float64, float64) {
	for {
		first, last := s.zoomOnce(axis, lo, hi, rank)
		if 2*(last-first) > hi-lo || last-first < 0x1p-120 {
			return first, last
		}
		lo, hi = first, last
	}
}

// best tries cores with more and more of the points outside. Of two grids that one is
// better whose cells are smaller, unless too many points lie outside its core: it is
// judged by the part inside, twice, over the volume of a cell. The first with cells of
// the wanted size will do. A core with far fewer inside than its sides leave is none:
// where roads cross, half the points share an x and half a y, but hardly any share both.
func (ix *Index) best(n int, l *layout, grid native.Grid, cell float64) (native.Grid, float64) {
	score, core := 1/volume(l, cell), l.core
	for _, side := range sides {
		try := layout{core: core, box: l.box}
		for a := range 3 {
			core[0][a], core[1][a] = ix.sampling.zoom(a, core[0][a], core[1][a], ix.sampling.rank(side))
			ix.sampling.widen(&try, a, core[0][a], core[1][a])
		}
		inside := 1 - 2*side
		inside = inside * inside * inside // along three axes
		if 2*ix.sampling.within(&try) < inside {
			continue
		}
		g, c := ix.place(n, &try)
		if at := inside * inside / volume(l, c); at > score {
			grid, cell, score = g, c, at
		}
		if cell == float64(ix.cfg.CellSize) {
			break
		}
	}
	return grid, cell
}

// within returns the part of the sample that the core of a layout holds.
func (s *sampling) within(l *layout) float64 {
	count := 0
	for i := range s.n {
		in := true
		for a, v := range s.at(i) {
			in = in && l.core[0][a] <= float64(v) && float64(v) <= l.core[1][a]
		}
		if in {
			count++
		}
	}
	return float64(count) / float64(s.n)
}

// volume of a cell along the axes that the box has.
func volume(l *layout, cell float64) float64 {
	v := 1.0
	for a := range 3 {
		if l.box[1][a] > l.box[0][a] {
			v *= cell
		}
	}
	return v
}

// widen sets the core of a layout along an axis to [lo, hi] and a sixteenth more on
// either side, and bounds the number of cells outside: where there are few points, far
// from each other, more cells are of no use.
func (s *sampling) widen(l *layout, axis int, lo, hi float64) {
	margin := float64((hi - lo) / 16)
	lo, hi = max(lo-margin, l.box[0][axis]), min(hi+margin, l.box[1][axis])
	l.core[0][axis], l.core[1][axis] = lo, hi
	var out [2]uint
	for _, v := range s.values[axis][:s.n] {
		if float64(v) < lo {
			out[0]++
		}
		if float64(v) > hi {
			out[1]++
		}
	}
	l.most[0][axis], l.most[1][axis] = 1+bits.Len(out[0]), 1+bits.Len(out[1])
}
