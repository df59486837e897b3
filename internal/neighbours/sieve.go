package neighbours

import (
	"math"
	"math/bits"
	"slices"

	"github.com/evertick/evertick/native"
)

// rounding is 1.5 * 2^23. Floats of that size are whole numbers. So adding it rounds a number of up to 2^22 to the
// nearest integer, which is then in the low bits of the sum, in two's complement.
const rounding = 0x1.8p23

// widest bounds |t|, a coordinate in cells, of a query that is kept in cells.
const widest = 1 << 21

const (
	// longList is the number of queries from which the list of a cell is stored as vectors of queries.
	longList = 8
	// sweepRun is the number of points that Sweep gathers at a time.
	sweepRun = 512
	// mostCells bounds the cells of one query: a wider query is tested with every point. mostEntries bounds the cells
	// of all queries.
	mostCells   = 4096
	mostEntries = 1 << 22
)

// torus mirrors et_torus. The cell of v along an axis is
// round((v - origin) * inv) modulo mask+1; shift[0] is 0.
type torus struct {
	origin, inv [3]float32
	mask, shift [3]uint32
}

// centre mirrors et_centre.
type centre struct {
	x, y, z, r2          float32
	exclude, mask, id, _ uint32
}

// centres mirrors et_centres.
type centres struct {
	x, y, z, r2       [BlockLen]float32
	exclude, mask, id [BlockLen]uint32
}

// list mirrors et_list.
type list struct{ first, count uint32 }

// A Sieve holds a batch of queries, past which points are streamed. A bitmap with a bit per cell screens the points.
// The few points that may be within a query pass the screen, and are tested with the queries of their cell. The cells
// form a torus, space wrapped around in every direction. Its size depends only on the number of queries, however far
// apart they are. Where two cells coincide, that costs a few more tests, and never a hit. Queries that reach too many
// cells are kept apart, as wide ones.
//
// Which queries are wide does not change which points are within. The zero Sieve holds no queries; reuse it.
type Sieve struct {
	torus   torus
	bits    []uint32 // a bit for each cell that a query reaches
	rank    []uint32 // bits set in the words before
	lists   []list   // one for each set bit
	ids     []uint32 // short lists: indices into centres
	blocks  []centres
	centres []centre
	wide    []uint32 // indices into centres
	masked  bool     // queries have masks

	cells []uint32 // of each query in turn; scratch from here on
	axes  [3]interval
	ends  []int    // end of each query in cells
	taken []uint32 // queries entered in each list so far
}

// Wide returns the indices of the queries that are not in cells, ascending. A query with an empty mask is neither
// wide nor in cells.
func (s *Sieve) Wide() []uint32 { return s.wide }

// Cells returns the number of cells of all queries.
func (s *Sieve) Cells() int { return len(s.cells) }

// Sample looks at a few points. It estimates passes, the share of all points that will pass the screen, and tests,
// the average number of queries in cells with which a point will be tested. It skips slots beyond the columns.
func (s *Sieve) Sample(c *Columns) (passes, tests float64) {
	n := min(len(c.Slots), samples)
	if len(s.lists) == 0 || n == 0 {
		return 0, 0
	}
	for i := range n {
		slot := c.Slots[i*len(c.Slots)/n]
		if uint(slot) >= uint(c.limit()) {
			continue
		}
		cell := s.torus.cell(c.X[slot], c.Y[slot], c.Z[slot])
		if word := s.bits[cell>>5]; word>>(cell&31)&1 != 0 {
			passes++
			tests += float64(s.lists[s.rank[cell>>5]+uint32(bits.OnesCount32(word&(1<<(cell&31)-1)))].count)
		}
	}
	return passes / float64(n), tests / float64(n)
}

// Room is the number of elements that must be free in Hits before Stream or Sweep continues.
func (s *Sieve) Room() int { return max(len(s.centres), sweepRun) + Pad }

// Lay replaces the queries. Values must be valid as in Queries, and IDs in hits are indices into q; q.Live is not
// read. points is the number of points that will be streamed; if it is small, Lay builds no cells. It panics on
// unequal lengths.
func (s *Sieve) Lay(q *Queries, points int) {
	q.check()
	if len(q.X) > math.MaxInt32 {
		panic("neighbours: Sieve: too many Queries")
	}
	s.collect(q)
	p := s.plan(q, points)
	s.torus = p.torus
	s.bits = zeroed(s.bits, 1<<p.bits/32)
	s.wide, s.cells, s.ends = s.wide[:0], s.cells[:0], s.ends[:0]
	for i := range s.centres {
		c := &s.centres[i]
		if c.mask != 0 && !(p.bits >= fewestBits && s.register(c, Reach(q.Radius[i]), p.mostCells)) {
			s.wide = append(s.wide, uint32(i))
		}
		s.ends = append(s.ends, len(s.cells))
	}
	s.number()
	s.arrange()
	s.fill()
}

func (s *Sieve) collect(q *Queries) {
	s.masked = q.Mask != nil
	s.centres = sized(s.centres, len(q.X))
	for i := range s.centres {
		c := centre{x: q.X[i], y: q.Y[i], z: q.Z[i], r2: q.Radius[i] * q.Radius[i],
			exclude: native.NoSlot, mask: math.MaxUint32, id: uint32(i)}
		if q.Exclude != nil {
			c.exclude = q.Exclude[i]
		}
		if q.Mask != nil {
			c.mask = q.Mask[i]
		}
		s.centres[i] = c
	}
}

// interval holds the cells that a query can reach along one axis: their residues, shifted into place, and for each
// the square of a lower bound, in square metres, on the distance between the centre and its points.
type interval struct {
	cells []uint32
	gap2  []float64
}

// along finds the interval of a query. It returns false if the interval has too many cells, or is too far out for
// float32.
//
// A point that passes the membership test lies in [fl(c-reach), fl(c+reach)], as Reach proves. The cell is a monotone
// function of the coordinate, because each of its operations is. That gives the first and the last cell. The gap:
// with T the exact coordinate in cells and t the computed one, two roundings give |t-T| <= |T| * 2^-22, and rounding
// to the cell adds half a cell at most.
func (v *interval) along(t *torus, a int, c, reach float32, most float64) bool {
	v.cells, v.gap2 = v.cells[:0], v.gap2[:0]
	lo := float32((c - reach - t.origin[a]) * t.inv[a])
	hi := float32((c + reach - t.origin[a]) * t.inv[a])
	if !(lo > -widest && hi < widest) {
		return false
	}
	first := int32(math.Float32bits(lo+rounding) - math.Float32bits(rounding))
	last := int32(math.Float32bits(hi+rounding) - math.Float32bits(rounding))
	n := min(uint32(last-first), t.mask[a]) // the interval has one cell more
	if float64(n) >= most {
		return false
	}
	all := uint32(last-first) >= t.mask[a] // cells coincide: no gap is valid
	inv := float64(t.inv[a])
	at := float64((float64(c) - float64(t.origin[a])) * inv)
	half := 0.5 + float64((float64(max(-lo, hi))+1)*0x1p-21)
	for i := range int32(n) + 1 {
		gap := max(0, math.Abs(float64(first+i)-at)-half) / inv
		if all {
			gap = 0
		}
		v.cells = append(v.cells, uint32(first+i)&t.mask[a]<<t.shift[a])
		v.gap2 = append(v.gap2, float64(gap*gap))
	}
	return true
}

// register enters a query in the cells that its sphere can reach. It returns false, and changes nothing, if there are
// too many.
//
// Reach also bounds the whole distance, not only its components. With u = 2^-24 the computed square of an accepted
// point is at least the exact one times (1-u)^5, except for underflow, and at most r*r*(1+u). So cells whose gaps
// together exceed that bound hold no hits.
func (s *Sieve) register(c *centre, reach float32, most float64) bool {
	box := 1.0
	for a, at := range [3]float32{c.x, c.y, c.z} {
		if !s.axes[a].along(&s.torus, a, at, reach, most) {
			return false
		}
		box *= float64(len(s.axes[a].cells))
	}
	if box > most || len(s.cells)+int(box) > mostEntries {
		return false
	}
	n := len(s.cells)
	s.cells = slices.Grow(s.cells, int(box))[:n+int(box)]
	r2 := float64(float64(float64(reach)*float64(reach)) * (1 + 0x1p-40))
	x, y, z := &s.axes[0], &s.axes[1], &s.axes[2]
	gap2 := x.gap2[:len(x.cells)]
	for k, layer := range z.cells {
		for j, row := range y.cells {
			left := r2 - z.gap2[k] - y.gap2[j]
			row |= layer
			out := s.cells[n : n+len(gap2)]
			in := 0
			for i, column := range x.cells {
				out[in] = row | column
				in += reached(gap2[i], left) // no branch: it would be mispredicted, as spheres have few cells and ragged outlines
			}
			n += in
		}
	}
	s.cells = s.cells[:n]
	return true
}

func reached(a, b float64) int {
	if a <= b {
		return 1
	}
	return 0
}

// number sets a bit for each cell, counts the bits, and replaces each cell by the number of its list.
func (s *Sieve) number() {
	for _, cell := range s.cells {
		s.bits[cell>>5] |= 1 << (cell & 31)
	}
	s.rank = sized(s.rank, len(s.bits))
	n := uint32(0)
	for w, word := range s.bits {
		s.rank[w] = n
		n += uint32(bits.OnesCount32(word))
	}
	s.lists = zeroed(s.lists, int(n))
	for i, cell := range s.cells {
		w := cell >> 5
		at := s.rank[w] + uint32(bits.OnesCount32(s.bits[w]&(1<<(cell&31)-1)))
		s.cells[i] = at
		s.lists[at].count++
	}
}

// arrange assigns a position to each list.
func (s *Sieve) arrange() {
	ids, blocks := uint32(0), uint32(0)
	for i := range s.lists {
		l := &s.lists[i]
		if l.count < longList {
			l.first, ids = ids, ids+l.count
		} else {
			l.first, blocks = blocks, blocks+(l.count+BlockLen-1)/BlockLen
		}
	}
	s.ids = sized(s.ids, int(ids))
	s.blocks = sized(s.blocks, int(blocks))
	s.taken = zeroed(s.taken, len(s.lists))
}

// fill enters the queries in their lists, ascending. It fills up the last block of each long list with queries that
// accept no point.
func (s *Sieve) fill() {
	from := 0
	for id, end := range s.ends {
		for _, at := range s.cells[from:end] {
			l := s.lists[at]
			if l.count < longList {
				s.ids[l.first+s.taken[at]] = uint32(id)
			} else {
				s.blocks[l.first+s.taken[at]/BlockLen].set(s.taken[at]%BlockLen, s.centres[id])
			}
			s.taken[at]++
		}
		from = end
	}
	if len(s.blocks) == 0 {
		return
	}
	for _, l := range s.lists {
		if l.count >= longList {
			for lane := l.count % BlockLen; lane%BlockLen != 0; lane++ {
				s.blocks[l.first+l.count/BlockLen].set(lane, centre{r2: -1})
			}
		}
	}
}

func (b *centres) set(lane uint32, c centre) {
	i := lane % BlockLen
	b.x[i], b.y[i], b.z[i], b.r2[i], b.exclude[i], b.mask[i], b.id[i] = c.x, c.y, c.z, c.r2, c.exclude, c.mask, c.id
}

// plan is a geometry of the torus, and the most cells that a query may have in it.
type plan struct {
	torus     torus
	bits      int // the torus has 1<<bits cells
	mostCells float64
	cost      float64
}

const (
	fewestBits = 10
	// mostBits keeps the bitmap, 32 KB, near the L1 cache.
	mostBits = 18
	// cellsPerEntry is the number of cells of the torus per cell of a query, as far as mostBits allows: one point in
	// that many passes by chance.
	cellsPerEntry = 32
	samples       = 64
)

// The cost of work in the plan, in nanoseconds: only ratios matter. Measured on a Zen 4 core with AVX-512.
const (
	costEntry = 12.0 // to enter a query in a cell
	costPass  = 8.0  // of a point that passes the screen
	costWide  = 0.15 // of a point and a wide query
	costPlan  = 5000 // to make a plan
)

// plan chooses the geometry from a sample of the queries. A few queries far out do not change it: extents are those
// of the middle part. The edge of a cell is a fraction of some radius: the one with the least work if points are
// distributed like queries.
func (s *Sieve) plan(q *Queries, points int) plan {
	best := plan{bits: 5, cost: float64(len(q.X)) * float64(points) * costWide}
	n := min(len(q.X), samples)
	if n == 0 || best.cost < costPlan {
		return best
	}
	var column [4][samples]float32
	for i := range n {
		at := i * len(q.X) / n
		column[0][i], column[1][i], column[2][i], column[3][i] = q.X[at], q.Y[at], q.Z[at], Reach(q.Radius[at])
	}
	for a := range column {
		slices.Sort(column[a][:n])
	}
	last := float32(-1)
	for _, quantile := range [4]int{n / 2, n * 3 / 4, n * 15 / 16, n - 1} {
		reach := column[3][quantile]
		if reach == last || reach > math.MaxFloat32 {
			continue
		}
		last = reach
		for _, part := range [2]float64{0.9, 1.8} {
			if p := planFor(&column, n, len(q.X), float64(reach)*part, points); p.cost < best.cost {
				best = p
			}
		}
	}
	return best
}

// planFor makes a torus of cells with the given edge, and estimates its cost.
func planFor(column *[4][samples]float32, n, queries int, edge float64, points int) plan {
	scale := float64(queries) / float64(n)
	var extent [3]float64
	for a := range extent {
		extent[a] = 1.25 * (float64(column[a][n-1-n/10]) - float64(column[a][n/10]))
	}
	// At most 4,096 cells across the middle part, so that queries farther out are within float32 too.
	edge = max(edge, max(extent[0], extent[1], extent[2])*0x1p-12, 0x1p-100)
	p := plan{mostCells: min(mostCells, float64(points)*costWide/costEntry)}
	entries, wide := 0.0, 0.0
	for _, reach := range column[3][:n] {
		// The number of cells that a ball meets: Steiner's formula for a cube and a ball.
		r := float64(reach) / edge
		cells := float64(float64(float64(4./3*math.Pi*r)+3*math.Pi)*r) + 6
		cells = float64(cells*r) + 1
		if cells <= p.mostCells {
			entries += float64(cells * scale)
		} else {
			wide += scale
		}
	}
	p.bits = min(max(bits.Len(uint(entries*cellsPerEntry)), fewestBits), mostBits)
	world := p.lay(column, n, extent, edge)
	share := min(1, entries/min(world, float64(int(1)<<p.bits)))
	p.cost = float64(entries*costEntry) + float64(float64(points)*(float64(share*costPass)+float64(wide*costWide)))
	return p
}

// lay places the torus and distributes its bits over the axes. It returns the number of cells in the middle part of
// the queries.
func (p *plan) lay(column *[4][samples]float32, n int, extent [3]float64, edge float64) (world float64) {
	var across [3]float64 // cells
	world = 1
	for a := range extent {
		origin := column[a][n/2]
		// If all queries are far out, a cell is at least a few units in the last place wide.
		far := max(math.Abs(float64(column[a][0])), math.Abs(float64(column[a][n-1])))
		if n > 2 {
			far = max(math.Abs(float64(column[a][n/10])), math.Abs(float64(column[a][n-1-n/10])))
		}
		cell := min(max(edge, far*0x1p-21), 0x1p125)
		p.torus.origin[a], p.torus.inv[a] = origin, float32(1/cell)
		across[a] = float64(extent[a]/cell) + 1
		world *= across[a]
		across[a] += 2
	}
	var log [3]int
	for range p.bits {
		a := 0
		for b := 1; b < 3; b++ {
			if across[b] > across[a] {
				a = b
			}
		}
		across[a] /= 2
		log[a]++
	}
	shift := 0
	for a := range log {
		p.torus.mask[a], p.torus.shift[a] = 1<<log[a]-1, uint32(shift)
		shift += log[a]
	}
	return world
}

// sized returns a slice of length n in the memory of s if that is large enough. Contents are unspecified.
func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		s = make([]T, n+n/4)
	}
	return s[:n]
}

func zeroed[T any](s []T, n int) []T {
	s = sized(s, n)
	clear(s)
	return s
}
