package spatial

import (
	"math"
	"math/bits"

	"github.com/evertick/evertick/internal/neighbours"
	"github.com/evertick/evertick/native"
)

// cellsPerEdge is the number of cells, along each axis, in one Config.CellSize. A row of cells
// along x is one run of points. So short cells cost nothing along x, and let a query skip more
// points outside its sphere.
var cellsPerEdge = [3]float64{4, 1, 1}

// A layout is a box and a core in it, whose cells have one length. maxOutside bounds the number of
// cells below and above the core, along each axis. All arithmetic here is in float64, where no
// extent of float32 points overflows.
type layout struct {
	core, box  [2][3]float64 // lower and upper corner
	maxOutside [2][3]int
}

// uniform returns the layout whose core is the box.
func uniform(box Bounds) *layout {
	l := &layout{}
	for a := range 3 {
		l.box[0][a], l.box[1][a] = float64(box.Min[a]), float64(box.Max[a])
	}
	l.core = l.box
	return l
}

// grid lays the grid with cells of that edge, and returns the number of cells in its core and
// the number of all cells.
func (l *layout) grid(cell float64, g *neighbours.Grid) (core, all float64) {
	core, all = 1, 1
	g.Pieces = [3]int32{}
	for a := range 3 {
		length := cell / cellsPerEdge[a]
		n := math.Floor((l.core[1][a]-l.core[0][a])/length) + 1
		below := neighbours.Steps(float32((l.core[0][a] - l.box[0][a]) / length))
		above := neighbours.Steps(float32((l.box[1][a] - l.core[1][a]) / length))
		tail := max(l.tail(0, a, below), l.tail(1, a, above))
		g.Min[a], g.Inv[a], g.Tail[a] = float32(l.core[0][a]), float32(cellsPerEdge[a]/cell), tail
		g.Low[a], g.High[a] = l.outside(0, a, below, tail), l.outside(1, a, above, tail)
		core *= n
		n += float64(g.Low[a] + g.High[a])
		all *= n
		if n > 1<<24 {
			return math.Inf(1), all
		}
		g.N[a] = int32(n)
	}
	return core, all
}

// tail returns the number of cells per step on one side of the core: one cell
// each time that the distance doubles, or fewer if these were too many.
func (l *layout) tail(side, axis int, steps float32) float32 {
	if steps == 0 {
		return 0
	}
	return min(0x1p-23, float32(l.maxOutside[side][axis])/steps)
}

func (l *layout) outside(side, axis int, steps, tail float32) int32 {
	if steps == 0 || l.maxOutside[side][axis] == 0 {
		return 0
	}
	return min(int32(steps*tail)+1, int32(l.maxOutside[side][axis]))
}

// smallestCell keeps the reciprocals finite in float32.
const smallestCell = 0x1p-125

// fitGrid lays a grid over a layout. It doubles the cells until their number is within
// the bound that the number of points sets, whatever the extent. It returns the edge of a cell.
func (ix *Index) fitGrid(n int, l *layout, g *neighbours.Grid) float64 {
	cell, most := float64(ix.cfg.CellSize), float64(2*n+1)
	if cell == 0 {
		// Fine enough for any set, then doubled to two points a cell or more,
		// which keeps rows long and cells few when the radius is unknown.
		widest := 0.0
		for a := range 3 {
			widest = max(widest, l.core[1][a]-l.core[0][a])
		}
		few := max(1, n/2)
		cell, most = widest*0x1p-20, float64(few)
		// Cells of which the widest side alone has more than that need no try.
		if cell >= smallestCell {
			cell = widest / float64(uint(1)<<min(20, bits.Len(uint(few))))
		}
	}
	for cell = max(cell, smallestCell); ; cell *= 2 {
		if core, all := l.grid(cell, g); core <= most && all <= float64(2*n+1) {
			return cell
		}
	}
}

// Sampling, for a grid over points of which a few lie far from the rest.
const (
	maxSample   = 256 // points sampled, about; at most twice as many
	minSampled  = 64  // of fewer points a sample means little, and testing all is cheap
	minDistinct = 8   // distinct positions, where that is all there are
	trimBins    = 32
)

// trims are the shares of the points that may lie outside the core on either side of an
// axis, tried one after another.
var trims = [...]float64{1.0 / 32, 1.0 / 8, 1.0 / 4}

// sampling is scratch of Build. It holds distinct positions: many coincident points count as one.
// Cells cannot separate them, and the other points should have the same cells as without them.
type sampling struct {
	most   int // positions for which there is room
	slots  []uint32
	values [3][]float32
	n      int
	seen   []uint16 // hash table: 1 + the index of a position in values, or 0
	shift  int      // of hashes, for the table
	full   int      // bins of trimOnce with more than half as many positions as the average
	counts []cellCount
	grid   neighbours.Grid // one that is tried
}

// fit makes room for that many positions.
func (s *sampling) fit(most int) {
	if s.most = most; len(s.slots) >= neighbours.SampleRoom(most) {
		return
	}
	s.slots = make([]uint32, neighbours.SampleRoom(most))
	for a := range s.values {
		s.values[a] = make([]float32, most)
	}
	entries := bits.Len(uint(4*most - 1)) // at most a quarter of the table is taken
	s.seen, s.shift = make([]uint16, 1<<entries), 32-entries
	s.counts = make([]cellCount, 1<<entries)
}

// chooseGrid chooses the grid. Where the cells of a uniform grid would have to be larger
// than CellSize, or CellSize is 0, it looks for a core that contains most of the points:
// otherwise one point far away would make all cells so large that every query tests
// every point. The core depends on the coordinates of the points alone, not on their order
// or slots.
func (ix *Index) chooseGrid(x, y, z []float32, slots []uint32, box Bounds) {
	n := len(slots)
	l := uniform(box)
	cell := ix.fitGrid(n, l, &ix.grid)
	if ix.cfg.Bounds == (Bounds{}) && n >= minSampled && cell != float64(ix.cfg.CellSize) {
		if s := &ix.sampling; s.draw(ix.level, x, y, z, slots, maxSample) {
			crowded, scattered := s.crowded(l)
			if crowded {
				cell = ix.bestGrid(n, l, cell)
			}
			if (crowded || scattered || s.clustered(l)) && s.together(&ix.grid)*float64(n) > mostTogether {
				cell = ix.divide(x, y, z, slots, l, cell)
			}
		}
	}
	ix.cell = float32(cell)
}

// draw draws the sample, and returns false if it is too small. It has about as many positions as wanted, and up to
// twice as many.
func (s *sampling) draw(level native.Level, x, y, z []float32, slots []uint32, want int) bool {
	share := bits.Len(uint(len(slots)-1) / uint(want))
	s.fit(2 * want)
	found := neighbours.Sample(level, x, y, z, slots, share, s.most, s.slots)
	s.clear()
	for _, slot := range found {
		s.add([3]float32{x[slot], y[slot], z[slot]})
	}
	if s.n < minSampled/2 { // most points are coincident
		s.drawDistinct(x, y, z, slots)
	}
	return s.n >= minDistinct
}

// drawDistinct samples the distinct positions instead of the points: it keeps positions whose hash
// ends in zeros, and requires more zeros until they fit.
func (s *sampling) drawDistinct(x, y, z []float32, slots []uint32) {
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

func (s *sampling) clear() {
	s.n = 0
	clear(s.seen)
}

// add adds a position unless it is known, and returns false if there is no room for it.
func (s *sampling) add(p [3]float32) bool {
	i := hashOf(p) >> s.shift
	for ; s.seen[i] != 0; i = (i + 1) % uint32(len(s.seen)) {
		if s.at(int(s.seen[i]-1)) == p {
			return true
		}
	}
	if s.n == s.most {
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

// thin keeps the positions whose hash has none of the bits of mask.
func (s *sampling) thin(mask uint32) {
	n := s.n
	s.clear()
	for i := range n { // values are read before they are overwritten
		if p := s.at(i); hashOf(p)&mask == 0 {
			s.add(p)
		}
	}
}

// hashOf mixes the coordinates of a position, so that all bits depend on all of them. Zeros
// of either sign have one hash.
func hashOf(p [3]float32) uint32 {
	h := uint32(0)
	for _, v := range p {
		h = (h ^ math.Float32bits(v+0)) * 0x9e3779b1
		h ^= h >> 15
	}
	h *= 0x85ebca6b
	return h ^ h>>13
}

// crowded reports whether along some axis most of the sample is in half of the box, and whether it
// is scattered: half of the bins of the box have few of the sample.
func (s *sampling) crowded(l *layout) (crowded, scattered bool) {
	for a := range 3 {
		lo, hi := l.box[0][a], l.box[1][a]
		s.full = trimBins
		first, last := s.trimOnce(a, lo, hi, s.rank(trims[0]))
		crowded = crowded || 2*(last-first) < hi-lo
		scattered = scattered || s.full <= trimBins/2
	}
	return crowded, scattered
}

func (s *sampling) rank(part float64) int { return max(1, int(float64(s.n)*part)) }

// trimOnce divides [lo, hi] into equal bins and returns the part that contains the sample
// along an axis, except for up to rank values on either side.
func (s *sampling) trimOnce(axis int, lo, hi float64, rank int) (first, last float64) {
	var counts [trimBins]int
	inv, below, above := trimBins/(hi-lo), 0, 0
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
			counts[min(int((f-lo)*inv), trimBins-1)]++
		}
	}
	s.full = 0
	for _, c := range counts {
		if 2*trimBins*c > s.n {
			s.full++
		}
	}
	i, j := 0, trimBins-1
	for ; i < j && below+counts[i] <= rank; i++ {
		below += counts[i]
	}
	for ; i < j && above+counts[j] <= rank; j-- {
		above += counts[j]
	}
	width := (hi - lo) / trimBins
	return lo + float64(float64(i)*width), hi - float64(float64(trimBins-1-j)*width)
}

// trim repeats trimOnce as long as it leaves half or less.
func (s *sampling) trim(axis int, lo, hi float64, rank int) (float64, float64) {
	for {
		first, last := s.trimOnce(axis, lo, hi, rank)
		if 2*(last-first) > hi-lo || last-first < 0x1p-120 {
			return first, last
		}
		lo, hi = first, last
	}
}

// bestGrid tries cores with more and more of the points outside. Of two grids the one with smaller
// cells is better, unless too many points lie outside its core: its score is the square of the
// share inside over the volume of a cell. The first grid with cells of CellSize is taken. A core
// that contains far fewer points than its trims leave is rejected: at a crossing of two roads, half
// the points share an x and half a y, but hardly any share both.
//
// It begins with the grid of the index and its cell, and leaves the best in the index.
func (ix *Index) bestGrid(n int, l *layout, cell float64) float64 {
	score, core := 1/volume(l, cell), l.core
	for _, side := range trims {
		try := layout{core: core, box: l.box}
		for a := range 3 {
			core[0][a], core[1][a] = ix.sampling.trim(a, core[0][a], core[1][a], ix.sampling.rank(side))
			ix.sampling.setCore(&try, a, core[0][a], core[1][a])
		}
		inside := 1 - 2*side
		inside = inside * inside * inside // along three axes
		if 2*ix.sampling.shareInside(&try) < inside {
			continue
		}
		c := ix.fitGrid(n, &try, &ix.sampling.grid)
		if at := inside * inside / volume(l, c); at > score {
			ix.grid, cell, score = ix.sampling.grid, c, at
		}
		if cell == float64(ix.cfg.CellSize) {
			break
		}
	}
	return cell
}

// shareInside returns the share of the sample that the core of a layout holds.
func (s *sampling) shareInside(l *layout) float64 {
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

// setCore sets the core of a layout along an axis to [lo, hi] and a sixteenth more on
// either side, and bounds the number of cells outside: where there are few points, far
// from each other, more cells are of no use.
func (s *sampling) setCore(l *layout, axis int, lo, hi float64) {
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
	l.maxOutside[0][axis], l.maxOutside[1][axis] = 1+bits.Len(out[0]), 1+bits.Len(out[1])
}
