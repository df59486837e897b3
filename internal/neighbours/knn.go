package neighbours

import (
	"math"
	"slices"

	"github.com/evertick/evertick/native"
)

// MostNeighbours is the largest K of a NearestQueries.
const MostNeighbours = 64

// NearestQueries ask for the K points that come first by (d2, slot) where
//
//	d2 = (dx*dx + dy*dy) + dz*dz
//
// with d = point - centre, each operation rounded to float32: the number that
// Queries compare with a squared radius. It is +Inf where it overflows, and such
// points come last, by slot. It is never NaN, because all values are finite.
type NearestQueries struct {
	X, Y, Z []float32
	K       int // 1 to MostNeighbours
	// Radius is nil, or bounds each query to points with d2 <= r*r. Radii are
	// finite and not negative; a square that overflows bounds nothing.
	Radius []float32
	// Exclude is nil, or names for each query a slot to leave out.
	Exclude []uint32
	// Mask is nil, or holds for each query a set of categories: points that have none of its bits in Points.Category
	// are left out.
	Mask []uint32
	// Live is nil, or has for each block a bit per lane; points whose bit is 0 are left out.
	Live []uint16
	// Box is nil, or the lower and the upper corner of a box that contains all points: a query outside it then visits
	// fewer cells.
	Box *[2][3]float32
}

func (q *NearestQueries) check(blocks int) {
	n := len(q.X)
	if len(q.Y) != n || len(q.Z) != n || q.Radius != nil && len(q.Radius) != n ||
		q.Exclude != nil && len(q.Exclude) != n || q.Mask != nil && len(q.Mask) != n {
		panic("neighbours: KNN: NearestQueries differ in length")
	}
	if q.K < 1 || q.K > MostNeighbours {
		panic("neighbours: KNN: NearestQueries.K is out of range")
	}
	if q.Live != nil && len(q.Live) < blocks {
		panic("neighbours: KNN: NearestQueries.Live is too short")
	}
}

// KNN writes the rows of a batch one after the other, each sorted by (d2, slot). A row has fewer than K points only
// if no more pass. Row i ends before ends[i]; the first begins at 0. slots, and dist2 unless it is nil, hold at least
// len(q.X)*q.K elements. It returns the length of all rows, and writes nothing after them. Slots are below
// Points.Limit and distinct, and ascend within a cell, as Build leaves them.
//
// It panics when lengths do not fit or Points contradicts itself, and on a level that Resolve refuses.
func KNN(level native.Level, g *Grid, p *Points, q *NearestQueries, ends, slots []uint32, dist2 []float32) int {
	if len(q.X) == 0 {
		return 0
	}
	p.check(g)
	q.check((p.Len() + BlockLen - 1) / BlockLen)
	if room := len(q.X) * q.K; len(ends) < len(q.X) || len(slots) < room || dist2 != nil && len(dist2) < room {
		panic("neighbours: KNN: ends, slots or dist2 is too short")
	}
	var n int
	if level = must(level); level == native.Go {
		n = knnGo(g, p, q, ends, slots, dist2)
	} else {
		n = knnC(level, g, p, q, ends, slots, dist2)
	}
	if n < 0 {
		panic("neighbours: KNN: Points.Start does not ascend")
	}
	return n
}

// The number of candidates that are kept before the farther ones are dropped, and of points that are tested between
// two checks of that number.
const (
	candidateRoom  = 1024
	candidatePiece = 256
)

// nearestSearch answers one query after the other.
type nearestSearch struct {
	g        *Grid
	p        *Points
	live     []uint16
	category []uint32
	k, total int
	window   window
	box      [2][3]float32 // of the points, or of all floats

	centre        [3]float32
	radius        float32
	exclude, mask uint32
	work          int // rows and blocks visited for this query
	tested        int // points, of all queries

	// The points found so far as keys, d2 before slot. Squared distances are not negative, so their bits sort as they
	// do. The k nearest are among these and the untested points whose keys are at most most.
	keys [candidateRoom]uint64
	n    int
	most uint64
}

func (s *nearestSearch) begin(g *Grid, p *Points, q *NearestQueries) {
	const most = math.MaxFloat32
	s.g, s.p, s.live, s.k, s.total, s.window = g, p, q.Live, q.K, p.Len(), windowOf(g, q.K, 0)
	s.box = [2][3]float32{{-most, -most, -most}, {most, most, most}}
	if q.Box != nil {
		s.box = *q.Box
		s.window.min, s.window.max = q.Box[0], q.Box[1]
	}
}

func knnGo(g *Grid, p *Points, q *NearestQueries, ends, slots []uint32, dist2 []float32) int {
	var s nearestSearch
	return s.answer(g, p, q, ends, slots, dist2)
}

func (s *nearestSearch) answer(g *Grid, p *Points, q *NearestQueries, ends, slots []uint32, dist2 []float32) int {
	s.begin(g, p, q)
	fill := 0
	for i := range q.X {
		s.centre, s.radius = [3]float32{q.X[i], q.Y[i], q.Z[i]}, math.MaxFloat32
		s.exclude, s.mask = native.NoSlot, math.MaxUint32
		if q.Radius != nil {
			s.radius = q.Radius[i]
		}
		if q.Exclude != nil {
			s.exclude = q.Exclude[i]
		}
		if q.Mask != nil {
			s.mask, s.category = q.Mask[i], p.Category
		}
		s.n = 0
		if s.mask != 0 && !s.find() {
			return -1
		}
		s.sort()
		for _, key := range s.keys[:s.n] {
			slots[fill] = uint32(key)
			if dist2 != nil {
				dist2[fill] = math.Float32frombits(uint32(key >> 32))
			}
			fill++
		}
		ends[i] = uint32(fill)
	}
	return fill
}

// find collects candidates that include the k nearest. A ball that holds k points holds the k nearest, whatever its
// radius: all points outside have a d2 greater than its square, and those inside do not, so not even a tie is lost. A
// ball with fewer points is searched again with a larger radius. Once another try as costly as the last would bring
// the work to half of testing all points, the last search uses the radius of the query, or no bound.
func (s *nearestSearch) find() bool {
	s.work = 0
	gap, beyond := s.start()
	last := 0
	for {
		before := s.work
		r := gap + beyond
		whole := !(r < s.radius)
		lo, hi := s.around(r)
		rows := rowsOf(&lo, &hi)
		if gap > 0 {
			rows = int(hi[2] - lo[2] + 1) // see testBall
		}
		if !whole && s.work+max(last, rows) > s.total/BlockLen/2+8 {
			whole = true
		}
		if whole {
			r = s.radius
			lo, hi = s.around(r)
		}
		s.n, s.most = 0, uint64(math.Float32bits(r*r))<<32|math.MaxUint32
		ok := false
		if gap > 0 && !whole {
			ok = s.testBall(&lo, &hi, r)
		} else {
			ok = s.testBox(&lo, &hi)
		}
		if !ok {
			return false
		}
		if whole || s.n >= s.k {
			return true
		}
		if beyond *= 2; 2*s.n >= s.k {
			beyond *= 0.75
		}
		last = s.work - before
	}
}

// around returns the box of cells that a radius reaches.
func (s *nearestSearch) around(r float32) (lo, hi [3]int32) {
	reach := Reach(r)
	for a, c := range s.centre {
		lo[a], hi[a] = s.g.Cell(a, c-reach), s.g.Cell(a, c+reach)
	}
	return lo, hi
}

func rowsOf(lo, hi *[3]int32) int { return int(hi[1]-lo[1]+1) * int(hi[2]-lo[2]+1) }

// row returns the places of the cells lo to hi along x.
func (s *nearestSearch) row(lo, hi *[3]int32, y, z int32) (first, last int) {
	cells := (z*s.g.N[1] + y) * s.g.N[0]
	return int(s.p.Start[cells+lo[0]]), int(s.p.Start[cells+hi[0]+1])
}

// testBox tests the points in a box of cells row by row, or all points from the first row to the last if that is no
// more work. It returns false if Start does not ascend.
func (s *nearestSearch) testBox(lo, hi *[3]int32) bool {
	first, _ := s.row(lo, hi, lo[1], lo[2])
	_, last := s.row(lo, hi, hi[1], hi[2])
	if first > last || last > s.total {
		return false
	}
	if rowsOf(lo, hi)*BlockLen >= last-first {
		s.test(first, last)
		return true
	}
	for z := lo[2]; z <= hi[2]; z++ {
		for y := lo[1]; y <= hi[1]; y++ {
			first, last := s.row(lo, hi, y, z)
			if first > last || last > s.total {
				return false
			}
			s.test(first, last)
		}
	}
	return true
}

// testBall tests the points in those cells of a box that a ball reaches. If the ball comes from far away, most of its
// box is outside it. The rows, and parts of rows, that it leaves out cannot pass: gap and touched_cells of
// csrc/radius_tmpl.h give the proof.
func (s *nearestSearch) testBall(lo, hi *[3]int32, r float32) bool {
	r2, reach, c := float32(r*r), Reach(r), &s.centre
	gapX := max(s.box[0][0]-c[0], c[0]-s.box[1][0], 0)
	gapX = float32(gapX * gapX)
	for z := lo[2]; z <= hi[2]; z++ {
		s.work++
		gapZ := s.gap(2, z)
		gapZ = float32(gapZ * gapZ)
		if !(gapX+gapZ <= r2) {
			continue
		}
		half := halfOf(r2, gapX+gapZ, reach)
		last := s.g.Cell(1, c[1]+half)
		for y := s.g.Cell(1, c[1]-half); y <= last; y++ {
			gapY := s.gap(1, y)
			gapY = float32(gapY * gapY)
			if !((gapX+gapY)+gapZ <= r2) {
				continue
			}
			half := halfOf(r2, gapY+gapZ, reach)
			from, to := [3]int32{s.g.Cell(0, c[0]-half)}, [3]int32{s.g.Cell(0, c[0]+half)}
			first, last := s.row(&from, &to, y, z)
			if first > last || last > s.total {
				return false
			}
			s.test(first, last)
		}
	}
	return true
}

// halfOf bounds the distance along an axis of points within a radius. r2 is the square of the radius, and gap2 the
// part of it that the other axes already use.
func halfOf(r2, gap2, reach float32) float32 {
	near := (r2 - gap2) + float32(r2*0x1p-20)
	half := float32(float32(math.Sqrt(float64(near)))*(1+0x1p-20)) + 0x1p-70
	if half < reach {
		return half
	}
	return reach
}

// gap returns a lower bound of the rounded distance, along an axis, between the centre and any point in cell j: 0
// inside.
func (s *nearestSearch) gap(axis int, j int32) float32 {
	g, v := s.g, s.centre[axis]
	if g.Pieces[axis] != 0 {
		return max(s.box[0][axis]-v, v-s.box[1][axis], g.piecedGap(axis, j, v))
	}
	lower, size := g.Min[axis], 1/g.Inv[axis]
	core, i := g.N[axis]-g.Low[axis]-g.High[axis], j-g.Low[axis]
	slack := float32((float32(math.Abs(float64(lower))) + float32(float32(g.N[axis])*size)) * 0x1p-20)
	gap := max(s.box[0][axis]-v, v-s.box[1][axis], 0)
	if under := lower + float32(float32(min(i, core))*size) - slack - v; i > 0 && under > gap {
		gap = under
	}
	if over := v - (lower + float32(float32(max(i+1, 0))*size) + slack); i < core && j < g.N[axis]-1 && over > gap {
		gap = over
	}
	return gap
}

// piecedGap is gap for an axis with pieces, without the box of the points. Where a piece begins nothing is rounded.
func (g *Grid) piecedGap(axis int, j int32, v float32) float32 {
	p, i := &g.Piece[axis], g.pieceOf(axis, j)
	lower, size, n := p.Min[i], 1/p.Inv[i], p.First[i+1]-p.First[i]
	slack := float32((float32(math.Abs(float64(lower))) + float32(float32(n)*size)) * 0x1p-20)
	at, gap := j-p.First[i], float32(0)
	begin, end := lower, lower+float32(float32(at+1)*size)+slack
	if at > 0 {
		begin = lower + float32(float32(at)*size) - slack
	}
	if at == n-1 && i+1 < g.Pieces[axis] {
		end = p.Min[i+1]
	}
	if under := begin - v; j > 0 && under > gap {
		gap = under
	}
	if over := v - end; j < g.N[axis]-1 && over > gap {
		gap = over
	}
	return gap
}

// test appends the points [first, last) that pass the filters and have keys up to most. It stores every key and
// advances after a hit only, so that no branch depends on the data.
func (s *nearestSearch) test(first, last int) {
	s.work += 1 + (last-first)/BlockLen
	for first < last {
		if s.n > candidateRoom-candidatePiece {
			s.narrow(2 * s.k)
		}
		if last-first > candidatePiece {
			if next := s.afterEquals(first); next != first {
				first = next
				continue
			}
		}
		end := min(last, (first+candidatePiece)&^(BlockLen-1))
		s.tested += end - first
		if s.live != nil || s.category != nil {
			s.testFiltered(first, end)
		} else {
			s.testPlain(first, end)
		}
		first = end
	}
}

// afterEquals returns the place after the points that cannot be among the k nearest, from a place on: the rest of its cell
// if k candidates are as near as any point can be, and have lower slots. Slots ascend within a cell. Without this, queries
// at many coincident points would each test all of them.
func (s *nearestSearch) afterEquals(at int) int {
	d := s.centre
	for a, c := range s.centre {
		d[a] = min(max(c, s.box[0][a]), s.box[1][a]) - c
	}
	// No point has a smaller d2 than the nearest point of the box around all points. Rounding is monotone.
	least := uint64(math.Float32bits(float32(float32(d[0]*d[0])+float32(d[1]*d[1])) + float32(d[2]*d[2])))
	if s.most>>32 != least {
		if s.n < candidatePiece/2 || s.most>>32 < least || s.count(least<<32|math.MaxUint32) < s.k {
			return at
		}
		equal, kept := 0, uint(0)
		s.most = 0
		for i := 0; equal < s.k && i < s.n; i++ {
			if key := s.keys[i%candidateRoom]; key>>32 == least {
				s.most = max(s.most, key)
				equal++
			}
		}
		for _, key := range s.keys[:s.n] {
			s.keys[kept%candidateRoom] = key
			kept += notAbove(key, s.most)
		}
		s.n = int(kept)
	}
	x, y, z, slot := s.p.at(at)
	if least<<32|uint64(slot) <= s.most {
		return at
	}
	if end := int(s.p.Start[s.g.Number(x, y, z)+1]); end > at && end <= s.total {
		return end
	}
	return at
}

func (s *nearestSearch) testPlain(first, last int) {
	n, most, exclude, keys := uint(s.n), s.most, s.exclude, &s.keys
	cx, cy, cz := s.centre[0], s.centre[1], s.centre[2]
	for at := first; at < last; at = at&^(BlockLen-1) + BlockLen {
		b := &s.p.Blocks[at/BlockLen]
		end := uint(min(last-at&^(BlockLen-1), BlockLen))
		for i := uint(at) % BlockLen; i < end; i++ {
			dx, dy, dz := b.X[i%BlockLen]-cx, b.Y[i%BlockLen]-cy, b.Z[i%BlockLen]-cz
			d2 := float32(float32(dx*dx)+float32(dy*dy)) + float32(dz*dz)
			slot := b.Slot[i%BlockLen]
			key := uint64(math.Float32bits(d2))<<32 | uint64(slot)
			keys[n%candidateRoom] = key
			n += upTo(key, most, slot, exclude)
		}
	}
	s.n = int(n)
}

func (s *nearestSearch) testFiltered(first, last int) {
	for at := first; at < last; at++ {
		live := s.live == nil || s.live[at/BlockLen]>>(at%BlockLen)&1 != 0
		if live && (s.category == nil || s.category[at]&s.mask != 0) {
			s.testPlain(at, at+1)
		}
	}
}

// upTo is 1 for a hit and 0 for a miss; the compiler turns both tests into
// set instructions.
func upTo(key, most uint64, slot, exclude uint32) uint {
	other := uint(0)
	if slot != exclude {
		other = 1
	}
	return notAbove(key, most) & other
}

func notAbove(a, b uint64) uint {
	n := uint(0)
	if a <= b {
		n = 1
	}
	return n
}

// count returns the number of keys up to most.
func (s *nearestSearch) count(most uint64) int {
	n := uint(0)
	for _, key := range s.keys[:s.n] {
		n += notAbove(key, most)
	}
	return int(n)
}

// narrow drops the farthest candidates until at most room are left; room is at least k. The first two values that it
// tries are those below which to expect room of n: d2 grows with the power 2/3 of the count where points are evenly
// spread.
func (s *nearestSearch) narrow(room int) {
	found, below := s.n, int64(-1) // fewer than k candidates have keys up to below
	for look := 0; found > room && int64(s.most)-below > 1; look++ {
		mid := uint64(below + (int64(s.most)-below)/2)
		if look < 2 {
			y := root(0.5*float32(s.k+room)/float32(found), 3)
			d2 := math.Float32frombits(uint32(s.most>>32)) * float32(y*y)
			if key := uint64(math.Float32bits(d2)) << 32; int64(key) > below && key < s.most {
				mid = key
			}
		}
		if n := s.count(mid); n >= s.k {
			s.most, found = mid, n
		} else {
			below = int64(mid)
		}
	}
	kept := uint(0)
	for _, key := range s.keys[:s.n] {
		s.keys[kept%candidateRoom] = key
		kept += notAbove(key, s.most)
	}
	s.n = min(int(kept), room) // more only if a slot occurs twice
}

// rankRoom is the number of keys up to which counting is faster than sorting: counting has no branch that depends on
// the data.
const rankRoom = 48

// sort sorts the keys and keeps the first k.
func (s *nearestSearch) sort() {
	if room := max(24, s.k+s.k/4); s.n > room {
		s.narrow(room)
	}
	if s.n <= rankRoom {
		s.rank()
	} else {
		slices.Sort(s.keys[:s.n])
	}
	s.n = min(s.n, s.k)
}

// rank moves each key to the place that equals the number of smaller keys; keys are distinct.
func (s *nearestSearch) rank() {
	var unsorted [rankRoom + 3]uint64
	keys := unsorted[:copy(unsorted[:rankRoom], s.keys[:s.n])]
	for i := 0; i < len(keys); i += 4 {
		a, b, c, d := unsorted[i], unsorted[i+1], unsorted[i+2], unsorted[i+3]
		var na, nb, nc, nd uint
		for _, key := range keys {
			na += notAbove(key, a)
			nb += notAbove(key, b)
			nc += notAbove(key, c)
			nd += notAbove(key, d)
		}
		for j, n := range [4]uint{na, nb, nc, nd} {
			if i+j < len(keys) {
				s.keys[(n-1)%candidateRoom] = unsorted[i+j] // a key is not above itself
			}
		}
	}
}

// A window is a box of cells in which points are counted to guess a radius.
type window struct {
	half     [3]int64 // cells on either side of the centre's own
	dims     int      // axes along which the grid has more than one cell
	edge     float32  // the longest cell of the core, metres
	want     float32  // points to be found / volume of a ball of radius 1
	factor   float32  // in a uniform grid: radius = edge * root(factor / count)
	min, max [3]float32
}

// ballVolume is the volume of a ball of radius 1, by the number of dimensions.
var ballVolume = [4]float32{1, 2, 3.1415927, 4.1887902}

// windowOf scales the smallest window up by a power of two. With this factor a ball of the radius has 1.6 k + 4
// points at the density of the window. A larger ball has more candidates; with a smaller one more queries must search
// again.
func windowOf(g *Grid, k, scale int) window {
	w := window{}
	for a, n := range g.N {
		w.min[a], w.max[a] = g.edge(a, 0), g.edge(a, n)
		if n > 1 {
			w.dims++
			w.edge = max(w.edge, 1/g.Inv[a])
		}
	}
	w.want = (float32(1.6*float32(k)) + 4) / ballVolume[w.dims]
	w.factor = w.want
	for a, n := range g.N {
		if n == 1 {
			continue
		}
		cells, half := float32(w.edge*g.Inv[a]), int64(n)
		if cells < float32(n) {
			half = int64(cells + 0.5)
		}
		w.half[a] = half << scale
		w.factor *= float32(2*w.half[a]+1) / cells
	}
	return w
}

// ballRadius returns the radius of a ball in which to expect the wanted points if a box of cells around the centre
// has n. Outside the core cells differ in length: there all cells of the box count as long as the cell of the centre.
func (s *nearestSearch) ballRadius(w *window, lo, hi *[3]int32, n int) float32 {
	g := s.g
	var own [3]int32
	inCore := true
	for a := 0; a < 3 && g.uneven(); a++ {
		own[a] = g.Cell(a, s.centre[a])
		if g.Pieces[a] != 0 {
			inCore = inCore && g.Piece[a].Inv[g.pieceOf(a, own[a])] == g.Inv[a]
		} else {
			inCore = inCore && own[a] >= g.Low[a] && own[a] < g.N[a]-g.High[a]
		}
	}
	if inCore {
		return w.edge * root(w.factor/float32(n), w.dims)
	}
	r := root(w.want/float32(n), w.dims)
	for a := range 3 {
		if g.N[a] > 1 { // a root per axis, because volumes overflow
			r *= root(float32(hi[a]-lo[a]+1)*(g.edge(a, own[a]+1)-g.edge(a, own[a])), w.dims)
		}
	}
	if !(r > 0 && r <= math.MaxFloat32) {
		return math.MaxFloat32
	}
	return r
}

// start returns the distance of the centre from the points, so that a query far away does not grow towards them step
// by step, and how far beyond that distance to begin.
func (s *nearestSearch) start() (gap, beyond float32) {
	sum, widest, w := float32(0), float32(0), &s.window
	axis := 0 // the axis along which the grid is farthest
	for a, c := range s.centre {
		d := max(w.min[a]-c, c-w.max[a], 0)
		sum += float32(d * d)
		if d > widest {
			widest, axis = d, a
		}
	}
	beyond = s.guess()
	if sum == 0 {
		return 0, beyond
	}
	if gap = sum; sum <= math.MaxFloat32 {
		gap = float32(math.Sqrt(float64(sum)))
	}
	return gap, max(s.cap(axis, gap, beyond), gap*0x1p-18)
}

// cap returns how far a ball around a centre outside the grid, at distance gap along an axis, must reach into the
// grid to hold as much as a ball of radius r around a centre inside. The ball covers a cap of the grid. The cap is as
// high as the ball reaches, and no wider than the grid at its far side. It is flat: its radius is about the root of
// 2*gap*height.
func (s *nearestSearch) cap(axis int, gap, r float32) float32 {
	if !(r < gap) {
		return r
	}
	w := &s.window
	volume, slab := ballVolume[w.dims], r
	for a, n := range s.g.N {
		if a != axis && n > 1 {
			slab *= r / (w.max[a] - w.min[a])
		}
	}
	height := float32(r / 2)
	switch w.dims {
	case 2:
		height = r * root(float32(2.8*r)/gap, 3)
	case 3:
		height = r * root(float32(1.33*r)/gap, 2)
	}
	if slab *= volume; slab > height {
		height = slab
	}
	return min(height, r)
}

// guess returns a radius in which to expect a few points more than k, judged by a window that holds k/2 or more. It
// is the largest number if the search for a window costs as much as testing all points.
func (s *nearestSearch) guess() float32 {
	w := s.window
	for scale := 0; ; {
		var lo, hi [3]int32
		for a, c := range s.centre {
			cell := int64(s.g.Cell(a, c))
			lo[a], hi[a] = int32(max(cell-w.half[a], 0)), int32(min(cell+w.half[a], int64(s.g.N[a])-1))
		}
		rows := rowsOf(&lo, &hi)
		if w.dims == 0 || scale > 24 || s.total < 2*s.k+8 || s.work+rows > s.total/BlockLen/2+8 {
			return math.MaxFloat32
		}
		s.work += rows
		n := 0
		for z := lo[2]; z <= hi[2]; z++ {
			for y := lo[1]; y <= hi[1]; y++ {
				first, last := s.row(&lo, &hi, y, z)
				n += last - first
			}
		}
		if n >= s.k/2+4 {
			return s.ballRadius(&w, &lo, &hi, n)
		}
		scale++
		w = windowOf(s.g, s.k, scale)
	}
}

// root returns the root of degree dims, 1 to 3, within half a percent: one step of Newton's method for the reciprocal
// root. The first guess divides the exponent.
func root(x float32, dims int) float32 {
	switch dims {
	case 3:
		y := math.Float32frombits(0x54a2fa8c - math.Float32bits(x)/3)
		y *= 1.3333334 - float32(0.33333334*x*y*y*y)
		return x * y * y
	case 2:
		y := math.Float32frombits(0x5f3759df - math.Float32bits(x)/2)
		y *= 1.5 - float32(0.5*x*y*y)
		return x * y
	}
	return x
}
