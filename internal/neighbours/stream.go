package neighbours

import (
	"math"
	"math/bits"

	"github.com/evertick/evertick/native"
)

// Columns are points by slot: the point of slot s is (X[s], Y[s], Z[s]). Slots lists the slots in use, ascending.
type Columns struct {
	X, Y, Z []float32
	Slots   []uint32
	// Category has a set of 32 categories for each slot. Nil: every point is in
	// all of them.
	Category []uint32
	// Live has a bit for each slot, 64 per word. Points whose bit is 0 are left out, but checked. Nil: all are live.
	Live []uint64
}

func (c *Columns) limit() int { return min(len(c.X), native.MaxSlots) }

func (c *Columns) check() {
	if len(c.Y) != len(c.X) || len(c.Z) != len(c.X) {
		panic("neighbours: Columns: X, Y and Z differ in length")
	}
	if c.Category != nil && len(c.Category) < c.limit() || c.Live != nil && 64*len(c.Live) < c.limit() {
		panic("neighbours: Columns: Category or Live is too short")
	}
	if len(c.Slots) > math.MaxInt32 {
		panic("neighbours: Columns: too many slots")
	}
}

// Hits collects points that passed the membership test: the query, the slot and the squared distance of each. The
// first Fill elements are in use. The three slices have the same length.
type Hits struct {
	Query, Slot []uint32
	Dist2       []float32
	Fill        int
}

func (h *Hits) check() {
	if len(h.Query) != len(h.Slot) || len(h.Dist2) != len(h.Slot) || h.Fill < 0 || h.Fill > len(h.Slot) {
		panic("neighbours: Hits differ in length, or Fill is out of range")
	}
}

// progress mirrors et_progress.
type progress struct{ at, wide, fill int64 }

// Stop is why Stream returned.
type Stop uint8

const (
	Done Stop = iota // all points have been tested
	Full             // the room in Hits may not suffice for the next point
	Bad              // the next point must be refused
)

// Stream tests the points of the places [from, to) in c.Slots with the queries that the sieve holds in cells, and
// appends the hits in the order of the points; the hits of one point ascend by query. A point is within by the test of
// Queries. Its slot must also be live, must not be the query's Exclude, and must share a category with the query's
// Mask, if there are masks.
//
// It checks every point: slots must ascend, also from place from-1 to from, and be below the length of the columns
// and MaxSlots, and coordinates must be finite. It returns the place at which it stopped. When Done, this is to. When
// Bad, it is the first invalid place; some hits before it may be missing. When Full, it is the place to continue
// from, with Room more elements in the hits.
//
// It does not check places before from, but never reads outside the columns: slots are tested before they are used.
// The level must be one that Resolve accepts.
func Stream(level native.Level, s *Sieve, c *Columns, from, to int, h *Hits) (int, Stop) {
	c.check()
	h.check()
	if from < 0 || from > to || to > len(c.Slots) {
		panic("neighbours: Stream: from or to is out of range")
	}
	asked := s.asked(c)
	if level = must(level); level == native.Go {
		return streamGo(s, &asked, from, to, h)
	}
	return streamC(level, s, &asked, from, to, h)
}

// Position is the position of Sweep: a place of Columns.Slots, and a wide query.
type Position struct{ At, Wide int }

// Sweep tests the points of the places [p.At, to), which Stream has accepted, with the wide queries of the sieve. The
// hits of each query are appended in the order of the points. It returns true when all is done; otherwise call it
// again, with Room more elements in the hits. It panics if a slot is beyond the columns.
func Sweep(level native.Level, s *Sieve, c *Columns, p *Position, to int, h *Hits) bool {
	c.check()
	h.check()
	if p.At < 0 || p.At > to || to > len(c.Slots) || p.Wide < 0 || p.Wide > len(s.wide) {
		panic("neighbours: Sweep: the position is out of range")
	}
	if len(s.wide) == 0 {
		p.At = to
		return true
	}
	asked := s.asked(c)
	if level = must(level); level == native.Go {
		return sweepGo(s, &asked, p, to, h)
	}
	return sweepC(level, s, &asked, p, to, h)
}

// asked returns the columns, without categories if no query has a mask.
func (s *Sieve) asked(c *Columns) Columns {
	asked := *c
	if !s.masked {
		asked.Category = nil
	}
	return asked
}

// cell returns the number of the cell of a point. The float32 conversions prevent the fusion of product and sum.
func (t *torus) cell(x, y, z float32) uint32 {
	return t.residue(0, x) | t.residue(1, y)<<t.shift[1] | t.residue(2, z)<<t.shift[2]
}

// residue returns the cell of v along an axis.
func (t *torus) residue(axis int, v float32) uint32 {
	return math.Float32bits(float32((v-t.origin[axis])*t.inv[axis])+rounding) & t.mask[axis]
}

var noBits [1]uint32

// streamGo is the pure-Go kernel. Only a few points in a hundred pass the screen, so its one branch is seldom
// mispredicted.
func streamGo(s *Sieve, c *Columns, from, to int, h *Hits) (int, Stop) {
	t, marks := s.torus, s.bits // copies, which stores to the hits cannot change
	if len(marks) == 0 {
		marks = noBits[:]
	}
	x := c.X[:c.limit()]
	y, z := c.Y[:len(x)], c.Z[:len(x)] // one bounds check for the three
	next := uint32(0)                  // the least valid next slot
	if from > 0 {
		next = min(c.Slots[from-1], native.MaxSlots) + 1
	}
	for i, slot := range c.Slots[from:to] {
		if slot < next || uint(slot) >= uint(len(x)) {
			return from + i, Bad
		}
		next = slot + 1
		px, py, pz := x[slot], y[slot], z[slot]
		if !((px-px)+(py-py)+(pz-pz) <= 0) {
			return from + i, Bad
		}
		cell := t.cell(px, py, pz)
		word := marks[cell>>5&uint32(len(marks)-1)]
		if word>>(cell&31)&1 == 0 {
			continue
		}
		l := s.lists[s.rank[cell>>5]+uint32(bits.OnesCount32(word&(1<<(cell&31)-1)))]
		if len(h.Slot)-h.Fill < int(l.count)+1 {
			return from + i, Full
		}
		s.meet(c, l, slot, h)
	}
	return to, Done
}

// meet tests one point with its list and appends the hits.
func (s *Sieve) meet(c *Columns, l list, slot uint32, h *Hits) {
	if !c.isLive(slot) {
		return
	}
	x, y, z, category := c.X[slot], c.Y[slot], c.Z[slot], c.category(slot)
	if l.count >= longList {
		for i := uint32(0); i < l.count; i += BlockLen {
			s.blocks[l.first+i/BlockLen].meet(min(l.count-i, BlockLen), x, y, z, slot, category, h)
		}
		return
	}
	room := int(l.count) + 1
	queries, slots, dist2 := h.Query[h.Fill:][:room], h.Slot[h.Fill:][:room], h.Dist2[h.Fill:][:room]
	n := 0
	for _, id := range s.ids[l.first : l.first+l.count] {
		q := &s.centres[id]
		dx, dy, dz := x-q.x, y-q.y, z-q.z
		d2 := float32(float32(dx*dx)+float32(dy*dy)) + float32(dz*dz)
		queries[n], slots[n], dist2[n] = q.id, slot, d2
		n += within(d2, q.r2, slot, q.exclude) & shares(category, q.mask)
	}
	h.Fill += n
}

// meet tests one point with the first count queries of a block and appends the hits.
func (b *centres) meet(count uint32, x, y, z float32, slot, category uint32, h *Hits) {
	room := int(count) + 1
	queries, slots, dist2 := h.Query[h.Fill:][:room], h.Slot[h.Fill:][:room], h.Dist2[h.Fill:][:room]
	n := 0
	for lane := range count {
		i := lane % BlockLen
		dx, dy, dz := x-b.x[i], y-b.y[i], z-b.z[i]
		d2 := float32(float32(dx*dx)+float32(dy*dy)) + float32(dz*dz)
		queries[n], slots[n], dist2[n] = b.id[i], slot, d2
		n += within(d2, b.r2[i], slot, b.exclude[i]) & shares(category, b.mask[i])
	}
	h.Fill += n
}

// shares is 1 if two sets of categories have one in common.
func shares(a, b uint32) int {
	if a&b != 0 {
		return 1
	}
	return 0
}

func (c *Columns) isLive(slot uint32) bool {
	return c.Live == nil || c.Live[slot>>6]>>(slot&63)&1 != 0
}

func (c *Columns) category(slot uint32) uint32 {
	if c.Category == nil {
		return math.MaxUint32
	}
	return c.Category[slot]
}

func sweepGo(s *Sieve, c *Columns, p *Position, to int, h *Hits) bool {
	for ; p.At < to; p.At, p.Wide = min(p.At+sweepRun, to), 0 {
		run := c.Slots[p.At:min(p.At+sweepRun, to)]
		for ; p.Wide < len(s.wide); p.Wide++ {
			if len(h.Slot)-h.Fill < len(run)+1 {
				return false
			}
			sweepOne(c, run, s.centres[s.wide[p.Wide]], h)
		}
	}
	return true
}

func sweepOne(c *Columns, run []uint32, q centre, h *Hits) {
	queries, slots := h.Query[h.Fill:][:len(run)+1], h.Slot[h.Fill:][:len(run)+1]
	dist2 := h.Dist2[h.Fill:][:len(run)+1]
	x := c.X
	y, z := c.Y[:len(x)], c.Z[:len(x)]
	n := 0
	for _, slot := range run {
		dx, dy, dz := x[slot]-q.x, y[slot]-q.y, z[slot]-q.z
		d2 := float32(float32(dx*dx)+float32(dy*dy)) + float32(dz*dz)
		queries[n], slots[n], dist2[n] = q.id, slot, d2
		hit := within(d2, q.r2, slot, q.exclude)
		if c.Category != nil {
			hit &= shares(c.Category[slot], q.mask)
		}
		if !c.isLive(slot) {
			hit = 0
		}
		n += hit
	}
	h.Fill += n
}
