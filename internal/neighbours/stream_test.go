package neighbours_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/neighbours"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

// hit is an element of neighbours.Hits.
type hit struct {
	query, slot uint32
	dist2       float32
}

// streamCase is a batch of queries and the columns that are streamed past it.
type streamCase struct {
	name    string
	columns neighbours.Columns
	queries neighbours.Queries
	sieve   neighbours.Sieve
	want    []hit // in the order of points, then queries
}

func newStreamCase(run *paritytest.Run, s *paritytest.Scene) *streamCase {
	c := &streamCase{name: s.Name}
	c.columns.X, c.columns.Y, c.columns.Z = s.Columns()
	c.columns.Slots = s.Slots
	c.queries = neighbours.Queries{X: s.QueryX, Y: s.QueryY, Z: s.QueryZ, Radius: s.Radius}
	if run.IntN(2) == 0 {
		c.queries.Exclude = s.Exclude
	}
	if run.IntN(3) == 0 {
		c.queries.Mask = anyBits(run, len(s.Radius))
	}
	if run.IntN(3) == 0 {
		c.columns.Category = anyBits(run, s.Limit())
	}
	if run.IntN(3) == 0 {
		c.columns.Live = make([]uint64, (s.Limit()+63)/64)
		for i := range c.columns.Live {
			c.columns.Live[i] = run.Uint64() | run.Uint64()
		}
	}
	return c
}

// anyBits draws sets of a few members each, some of them empty.
func anyBits(run *paritytest.Run, n int) []uint32 {
	s := make([]uint32, n)
	for i := range s {
		s[i] = run.Uint32() & run.Uint32() & run.Uint32()
		if run.IntN(16) == 0 {
			s[i] = 0
		}
	}
	return s
}

// lay fills the sieve as if for that many points, and finds the answer plainly.
func (c *streamCase) lay(points int) {
	c.sieve.Lay(&c.queries, points)
	c.want = nil
	p, q := &c.columns, &c.queries
	for _, slot := range p.Slots {
		if p.Live != nil && p.Live[slot/64]>>(slot%64)&1 == 0 {
			continue
		}
		category := uint32(math.MaxUint32)
		if p.Category != nil {
			category = p.Category[slot]
		}
		for i := range q.X {
			dx, dy, dz := p.X[slot]-q.X[i], p.Y[slot]-q.Y[i], p.Z[slot]-q.Z[i]
			d2 := float32(float32(dx*dx)+float32(dy*dy)) + float32(dz*dz)
			if d2 <= float32(q.Radius[i]*q.Radius[i]) && (q.Exclude == nil || q.Exclude[i] != slot) &&
				(c.queries.Mask == nil || c.queries.Mask[i]&category != 0) {
				c.want = append(c.want, hit{uint32(i), slot, d2})
			}
		}
	}
}

// streamBuffers hold every array that a kernel sees against guard pages.
type streamBuffers struct {
	*guard
	live *paritytest.Buffer[uint64]
}

func newStreamBuffers(t *testing.T) *streamBuffers {
	return &streamBuffers{newGuard(t, max(mostStreamHits, neighbours.MostSieveWords, 1<<19)), paritytest.NewBuffer[uint64](t, maxPoints)}
}

const mostStreamHits = 8*maxPoints/3*82 + 8192

// guarded returns the case's arguments in guarded memory.
func (b *streamBuffers) guarded(c *streamCase) (*neighbours.Sieve, *neighbours.Columns) {
	of := &c.columns
	floats := func(name string, s []float32) []float32 { return b.float(name).PlaceCopy(s, b.side, b.gap) }
	words := func(name string, s []uint32) []uint32 { return b.word(name).PlaceCopy(s, b.side, b.gap) }
	p := &neighbours.Columns{X: floats("x", of.X), Y: floats("y", of.Y), Z: floats("z", of.Z),
		Slots: words("slots", of.Slots), Category: b.copyWords("category", of.Category)}
	if of.Live != nil {
		p.Live = b.live.PlaceCopy(of.Live, b.side, b.gap)
	}
	return c.sieve.Replaced(words), p
}

// room puts the hits into guarded memory with exactly the given room beyond
// those taken, and keeps these.
func (b *streamBuffers) room(h *neighbours.Hits, more int) {
	n := h.Fill + more
	query, slot, dist2 := slices.Clone(h.Query[:h.Fill]), slices.Clone(h.Slot[:h.Fill]), slices.Clone(h.Dist2[:h.Fill])
	h.Query, h.Slot = b.word("query").Place(n, b.side, b.gap), b.word("slot").Place(n, b.side, b.gap)
	h.Dist2 = b.float("dist2").Place(n, b.side, b.gap)
	copy(h.Query, query)
	copy(h.Slot, slot)
	copy(h.Dist2, dist2)
}

func (b *streamBuffers) check() error { return cmp.Or(b.guard.check(), b.live.Check()) }

// compare runs the case on one level in chunks of any size, with any room, and
// compares the hits with want.
func (c *streamCase) compare(run *paritytest.Run, b *streamBuffers, level native.Level, side paritytest.Side) {
	run.Case(level)
	b.side, b.gap = side, run.IntN(paritytest.MaxGap+1)
	s, p := b.guarded(c)
	var inCells, wide neighbours.Hits
	chunk := 1 + run.IntN(len(p.Slots)+100)
	b.room(&inCells, 0)
	for at := 0; at < len(p.Slots); {
		end := min(len(p.Slots), (at/chunk+1)*chunk)
		next, stop := neighbours.Stream(level, s, p, at, end, &inCells)
		if stop == neighbours.Bad || next < at || stop == neighbours.Done && next != end {
			run.Check(fmt.Errorf("%s: stopped at %d of %d, how: %d", c.name, next, end, stop))
		}
		run.Check(b.check())
		if at = next; stop == neighbours.Full {
			b.room(&inCells, []int{s.Room(), s.Room() + run.IntN(1000)}[run.IntN(2)])
			if again, _ := neighbours.Stream(level, s, p, at, end, &inCells); again == at {
				run.Check(fmt.Errorf("%s: no point tested at %d, with room for %d", c.name, at, s.Room()))
			} else {
				at = again
			}
		}
	}
	c.sameHits(run, "in cells", &inCells, func(i uint32) bool { return !slices.Contains(c.sieve.Wide(), i) }, true)
	b.room(&wide, 0)
	pos := neighbours.Position{}
	for end := 0; pos.At < len(p.Slots); {
		end = min(len(p.Slots), max(end, pos.At+1+run.IntN(chunk)))
		for !neighbours.Sweep(level, s, p, &pos, end, &wide) {
			b.room(&wide, s.Room()+run.IntN(1000))
		}
		run.Check(b.check())
	}
	c.sameHits(run, "wide", &wide, func(i uint32) bool { return slices.Contains(c.sieve.Wide(), i) }, false)
}

// sameHits compares with those hits of want whose query qualifies: in the order
// in which they stand, or query by query.
func (c *streamCase) sameHits(run *paritytest.Run, what string, got *neighbours.Hits, qualifies func(uint32) bool, asTheyStand bool) {
	var want, have []hit
	for _, h := range c.want {
		if qualifies(h.query) {
			want = append(want, h)
		}
	}
	for i := range got.Fill {
		have = append(have, hit{got.Query[i], got.Slot[i], got.Dist2[i]})
	}
	if !asTheyStand {
		byQuery := func(a, b hit) int { return int(a.query) - int(b.query) }
		slices.SortStableFunc(want, byQuery)
		slices.SortStableFunc(have, byQuery)
	}
	for i := range min(len(want), len(have)) {
		if want[i].query != have[i].query || want[i].slot != have[i].slot || math.Float32bits(want[i].dist2) != math.Float32bits(have[i].dist2) {
			run.Check(fmt.Errorf("%s, %s: hit %d is %v, want %v", c.name, what, i, have[i], want[i]))
		}
	}
	if len(want) != len(have) {
		run.Check(fmt.Errorf("%s, %s: %d hits, want %d", c.name, what, len(have), len(want)))
	}
}

func TestParityStream(t *testing.T) {
	run := paritytest.Start(t, "Stream")
	b := newStreamBuffers(t)
	inCells := 0
	for range paritytest.Rounds(60) {
		for i := range paritytest.Families {
			s := paritytest.Families[i].Draw(run, maxPoints, 1+run.IntN(maxQueries))
			c := newStreamCase(run, s)
			c.lay([]int{len(s.X), 1 << 20}[run.IntN(2)])
			inCells += len(c.queries.X) - len(c.sieve.Wide())
			for _, level := range native.Levels() {
				for _, side := range paritytest.Sides {
					c.compare(run, b, level, side)
				}
			}
		}
	}
	if inCells == 0 {
		t.Error("all queries were wide")
	}
}

// Many queries in one spot make long lists, of every length around the width of
// a vector; the points pass in runs longer than a screen.
func TestParityStreamLongLists(t *testing.T) {
	run := paritytest.Start(t, "Stream, long lists")
	b := newStreamBuffers(t)
	for range paritytest.Rounds(40) {
		s := familyNamed(t, []string{"point", "duplicates", "lattice", "uniform"}[run.IntN(4)]).Draw(run, 8*maxPoints/3, 2+run.IntN(80))
		c := newStreamCase(run, s)
		c.lay(1 << 20)
		for _, level := range native.Levels() {
			c.compare(run, b, level, paritytest.Sides[run.IntN(2)])
		}
	}
}

func TestParityStreamSparseSlots(t *testing.T) {
	paritytest.SkipSerialUnderRace(t)
	run := paritytest.Start(t, "Stream, sparse slots")
	for range paritytest.Rounds(5) {
		for _, last := range []uint32{63, 4095, 1 << 18, native.MaxSlots - 1} {
			s := familyNamed(t, []string{"uniform", "clusters"}[run.IntN(2)]).Draw(run, min(maxPoints, int(last)/2), maxQueries)
			s.Spread(run, last)
			c := newStreamCase(run, s)
			c.lay(1 << 20)
			for _, level := range native.Levels() {
				run.Case(level)
				h := neighbours.Hits{Query: make([]uint32, mostStreamHits), Slot: make([]uint32, mostStreamHits), Dist2: make([]float32, mostStreamHits)}
				if at, stop := neighbours.Stream(level, &c.sieve, &c.columns, 0, len(s.Slots), &h); at != len(s.Slots) || stop != neighbours.Done {
					run.Check(fmt.Errorf("stopped at %d of %d: %d", at, len(s.Slots), stop))
				}
				c.sameHits(run, "in cells", &h, func(i uint32) bool { return !slices.Contains(c.sieve.Wide(), i) }, true)
			}
		}
	}
}

// The first fault is found, whatever it is and wherever chunks begin.
func TestStreamFindsTheFirstFault(t *testing.T) {
	run := paritytest.Start(t, "Stream, faults")
	b := newStreamBuffers(t)
	for range paritytest.Rounds(400) {
		s := familyNamed(t, "uniform").Draw(run, 5*maxPoints, maxQueries)
		c := newStreamCase(run, s)
		c.lay(1 << 20)
		if run.IntN(4) == 0 {
			c.sieve = neighbours.Sieve{}
		}
		c.columns.Slots = slices.Clone(c.columns.Slots)
		for range 1 + run.IntN(3) {
			spoil(run, &c.columns)
		}
		want := firstFault(&c.columns)
		for _, level := range native.Levels() {
			for _, side := range paritytest.Sides {
				run.Case(level)
				b.side, b.gap = side, run.IntN(paritytest.MaxGap+1)
				sieve, p := b.guarded(c)
				h := neighbours.Hits{Query: make([]uint32, mostStreamHits), Slot: make([]uint32, mostStreamHits), Dist2: make([]float32, mostStreamHits)}
				from := run.IntN(want + 1)
				if at, stop := neighbours.Stream(level, sieve, p, from, len(p.Slots), &h); at != want || stop != neighbours.Bad {
					run.Check(fmt.Errorf("from %d of %d: stopped at %d, how: %d; want %d", from, len(p.Slots), at, stop, want))
				}
				run.Check(b.check())
			}
		}
	}
}

// spoil makes one point bad.
func spoil(run *paritytest.Run, c *neighbours.Columns) {
	i := run.IntN(len(c.Slots))
	switch run.IntN(5) {
	case 0:
		c.Slots[i] = []uint32{uint32(len(c.X)), native.MaxSlots, 1 << 31, math.MaxUint32}[run.IntN(4)]
	case 1:
		if i > 0 {
			c.Slots[i] = c.Slots[i-1] // twice
			return
		}
		c.Slots[i] = math.MaxUint32
	default:
		column := [][]float32{c.X, c.Y, c.Z}[run.IntN(3)]
		if s := c.Slots[i]; int(s) < len(column) {
			column[s] = run.Float([]paritytest.Class{paritytest.NaN, paritytest.Infinite}[run.IntN(2)])
		} else {
			c.Slots[0] = math.MaxUint32
		}
	}
}

func firstFault(c *neighbours.Columns) int {
	for i, s := range c.Slots {
		if int(s) >= len(c.X) || i > 0 && s <= c.Slots[i-1] {
			return i
		}
		for _, v := range []float32{c.X[s], c.Y[s], c.Z[s]} {
			if v-v != 0 {
				return i
			}
		}
	}
	return -1
}

// However large, small, many or far apart the queries, a sieve stays small.
func TestSieveIsBounded(t *testing.T) {
	run := paritytest.Start(t, "Sieve, size")
	for range paritytest.Rounds(100) {
		for i := range paritytest.Families {
			s := paritytest.Families[i].Draw(run, 50, 1+run.IntN(400))
			q := &neighbours.Queries{X: s.QueryX, Y: s.QueryY, Z: s.QueryZ, Radius: s.Radius}
			var sieve neighbours.Sieve
			sieve.Lay(q, 1<<24)
			if words, ids, blocks := sieve.Counts(); words > neighbours.MostSieveWords || sieve.Cells() > 4096*len(q.X) ||
				ids > sieve.Cells() || blocks > sieve.Cells()/8 {
				t.Fatalf("scene %s, %d queries: %d words, %d cells, %d ids, %d blocks", s.Name, len(q.X), words, sieve.Cells(), ids, blocks)
			}
		}
	}
}

func TestSieveIsBoundedForManyQueries(t *testing.T) {
	const n = 100_000
	q := &neighbours.Queries{X: make([]float32, n), Y: make([]float32, n), Z: make([]float32, n), Radius: make([]float32, n)}
	for i := range n {
		q.X[i], q.Radius[i] = float32(i%1000), 0.5
		if i%3 == 0 {
			q.Radius[i] = 6 // about 4,000 cells of the others' size
		}
	}
	var sieve neighbours.Sieve
	sieve.Lay(q, 1<<24)
	if sieve.Cells() > neighbours.MostSieveEntries {
		t.Errorf("%d cells", sieve.Cells())
	}
}

func TestStreamMisuse(t *testing.T) {
	for _, c := range []struct {
		want string
		do   func(s *neighbours.Sieve, c *neighbours.Columns, h *neighbours.Hits, level native.Level)
	}{
		{"neighbours: Columns: X, Y and Z differ in length", func(s *neighbours.Sieve, c *neighbours.Columns, h *neighbours.Hits, l native.Level) {
			c.Y = nil
			neighbours.Stream(l, s, c, 0, 1, h)
		}},
		{"neighbours: Columns: Category or Live is too short", func(s *neighbours.Sieve, c *neighbours.Columns, h *neighbours.Hits, l native.Level) {
			c.Category = []uint32{}
			neighbours.Sweep(l, s, c, &neighbours.Position{}, 1, h)
		}},
		{"neighbours: Columns: Category or Live is too short", func(s *neighbours.Sieve, c *neighbours.Columns, h *neighbours.Hits, l native.Level) {
			c.Live = []uint64{}
			neighbours.Stream(l, s, c, 0, 1, h)
		}},
		{"neighbours: Hits differ in length, or Fill is out of range", func(s *neighbours.Sieve, c *neighbours.Columns, h *neighbours.Hits, l native.Level) {
			h.Fill = 1
			neighbours.Stream(l, s, c, 0, 1, h)
		}},
		{"neighbours: Hits differ in length, or Fill is out of range", func(s *neighbours.Sieve, c *neighbours.Columns, h *neighbours.Hits, l native.Level) {
			h.Dist2 = make([]float32, 1)
			neighbours.Sweep(l, s, c, &neighbours.Position{}, 1, h)
		}},
		{"neighbours: Stream: from or to is out of range", func(s *neighbours.Sieve, c *neighbours.Columns, h *neighbours.Hits, l native.Level) {
			neighbours.Stream(l, s, c, 0, 2, h)
		}},
		{"neighbours: Sweep: the position is out of range", func(s *neighbours.Sieve, c *neighbours.Columns, h *neighbours.Hits, l native.Level) {
			neighbours.Sweep(l, s, c, &neighbours.Position{Wide: 1}, 1, h)
		}},
		{"neighbours: Queries differ in length", func(s *neighbours.Sieve, c *neighbours.Columns, h *neighbours.Hits, l native.Level) {
			s.Lay(&neighbours.Queries{Mask: []uint32{1}}, 1)
		}},
	} {
		for _, level := range native.Levels() {
			columns := &neighbours.Columns{X: make([]float32, 2), Y: make([]float32, 2), Z: make([]float32, 2), Slots: []uint32{0}}
			expectPanic(t, c.want, func() { c.do(&neighbours.Sieve{}, columns, &neighbours.Hits{}, level) })
		}
	}
}

// A query far from all others, too far to be counted in their cells, still finds
// the points where it is.
func TestParityStreamFarQueries(t *testing.T) {
	run := paritytest.Start(t, "Stream, far queries")
	b := newStreamBuffers(t)
	for range paritytest.Rounds(20) {
		s := familyNamed(t, "uniform").Draw(run, maxPoints, 60)
		for axis := range 3 {
			for _, far := range []float32{1e7, 1e8, -1e8, 1e30, -1e30} {
				at := [3]float32{s.X[0], s.Y[0], s.Z[0]}
				at[axis] = far
				s.X, s.Y, s.Z = append(s.X, at[0]), append(s.Y, at[1]), append(s.Z, at[2])
				s.Slots = append(s.Slots, s.Slots[len(s.Slots)-1]+1+run.Uint32N(2))
				s.QueryX, s.QueryY, s.QueryZ = append(s.QueryX, at[0]), append(s.QueryY, at[1]), append(s.QueryZ, at[2])
				s.Radius, s.Exclude = append(s.Radius, 15), append(s.Exclude, native.NoSlot)
			}
		}
		c := newStreamCase(run, s)
		c.lay(1 << 20)
		for _, level := range native.Levels() {
			c.compare(run, b, level, paritytest.Sides[run.IntN(2)])
		}
	}
}
