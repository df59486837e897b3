package neighbours_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/neighbours"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

// shapeCase is a point set in some grid and the filters of a batch of queries.
type shapeCase struct {
	scene  *paritytest.Scene
	grid   neighbours.Grid
	points neighbours.Points
	filter neighbours.Filter
}

func newShapeCase(run *paritytest.Run, f *paritytest.Family) *shapeCase {
	s := f.Draw(run, maxPoints, 1+run.IntN(maxQueries))
	r := newRadiusCase(run, s)
	c := &shapeCase{scene: s, grid: r.grid, points: r.points}
	if n := c.points.Len(); n%neighbours.BlockLen != 0 { // the lanes after the last point may hold anything
		b := &c.points.Blocks[n/neighbours.BlockLen]
		for lane := n % neighbours.BlockLen; lane < neighbours.BlockLen; lane++ {
			at := run.IntN(n)
			*b = withLane(*b, lane, c.points.Blocks[at/neighbours.BlockLen], at%neighbours.BlockLen)
		}
	}
	if run.IntN(2) == 0 {
		c.points.Category = make([]uint32, neighbours.BlockLen*len(c.points.Blocks))
		for i := range c.points.Category {
			c.points.Category[i] = someCategories(run)
		}
	}
	if run.IntN(2) == 0 {
		c.filter.Exclude = s.Exclude
	}
	if run.IntN(2) == 0 {
		for range s.Radius {
			c.filter.Mask = append(c.filter.Mask, someCategories(run))
		}
	}
	if run.IntN(2) == 0 {
		c.filter.Live = make([]uint16, len(c.points.Blocks))
		for i := range c.filter.Live {
			c.filter.Live[i] = uint16(run.Uint32() | run.Uint32())
		}
	}
	return c
}

// withLane copies a point into a lane of another block.
func withLane(to neighbours.Block, lane int, from neighbours.Block, at int) neighbours.Block {
	to.X[lane], to.Y[lane], to.Z[lane], to.Slot[lane] = from.X[at], from.Y[at], from.Z[at], from.Slot[at]
	return to
}

// someCategories is none, one, a few or all of the 32.
func someCategories(run *paritytest.Run) uint32 {
	return []uint32{0, 1 << run.IntN(32), 1 << 31, run.Uint32() & run.Uint32(), run.Uint32(), ^uint32(0)}[run.IntN(6)]
}

// each calls do with every point that query i may report, in grid order.
func (c *shapeCase) each(i int, do func(place int, x, y, z float32, slot uint32)) {
	for at := range c.points.Len() {
		b, lane := &c.points.Blocks[at/neighbours.BlockLen], at%neighbours.BlockLen
		category := ^uint32(0)
		if c.points.Category != nil {
			category = c.points.Category[at]
		}
		f := &c.filter
		switch {
		case f.Exclude != nil && f.Exclude[i] == b.Slot[lane]:
		case f.Mask != nil && f.Mask[i]&category == 0:
		case f.Live != nil && f.Live[at/neighbours.BlockLen]>>lane&1 == 0:
		default:
			do(at, b.X[lane], b.Y[lane], b.Z[lane], b.Slot[lane])
		}
	}
}

// Large enough for the blocks of any case and for all its rows twice over.
const guardRoom = 2 * (maxQueries + 2) * (maxPoints + neighbours.Pad)

// points returns guarded copies of a case's points and filter.
func (g *guard) points(c *shapeCase) (*neighbours.Points, *neighbours.Filter) {
	p := &neighbours.Points{Start: g.copyWords("start", c.points.Start), Blocks: g.blocks(c.points.Blocks), Limit: c.points.Limit,
		Category: g.copyWords("category", c.points.Category)}
	f := &neighbours.Filter{Exclude: g.copyWords("exclude", c.filter.Exclude), Mask: g.copyWords("mask", c.filter.Mask),
		Live: g.live(c.filter.Live)}
	return p, f
}

// unchanged compares the points and the filter with what they were.
func (c *shapeCase) unchanged(p *neighbours.Points, f *neighbours.Filter) error {
	if !slices.Equal(p.Blocks, c.points.Blocks) {
		return fmt.Errorf("%s: blocks changed", c.scene.Name)
	}
	if !slices.Equal(f.Live, c.filter.Live) {
		return fmt.Errorf("%s: live changed", c.scene.Name)
	}
	for _, s := range []struct {
		name      string
		got, want []uint32
	}{{"start", p.Start, c.points.Start}, {"category", p.Category, c.points.Category},
		{"exclude", f.Exclude, c.filter.Exclude}, {"mask", f.Mask, c.filter.Mask}} {
		if err := paritytest.Bits("input "+s.name, s.got, s.want); err != nil {
			return err
		}
	}
	return nil
}

// shapes runs do for cases of every family on every level and side.
func shapes(run *paritytest.Run, g *guard, rounds int, do func(c *shapeCase) func(native.Level)) {
	for range paritytest.Rounds(rounds) {
		for i := range paritytest.Families {
			c := newShapeCase(run, &paritytest.Families[i])
			onLevel := do(c)
			for _, level := range native.Levels() {
				for _, g.side = range paritytest.Sides {
					g.gap = run.IntN(paritytest.MaxGap + 1)
					run.Case(level)
					onLevel(level)
				}
			}
		}
	}
}

func TestParityCount(t *testing.T) {
	run := paritytest.Start(t, "Count")
	g := newGuard(t, guardRoom)
	shapes(run, g, 150, func(c *shapeCase) func(native.Level) {
		s := c.scene
		want := make([]uint32, len(s.Radius))
		for i := range want {
			c.each(i, func(_ int, x, y, z float32, _ uint32) {
				dx, dy, dz := x-s.QueryX[i], y-s.QueryY[i], z-s.QueryZ[i]
				if float32(float32(dx*dx)+float32(dy*dy))+float32(dz*dz) <= float32(s.Radius[i]*s.Radius[i]) {
					want[i]++
				}
			})
		}
		return func(level native.Level) {
			p, f := g.points(c)
			q := &neighbours.Queries{X: g.copyFloats("x", s.QueryX), Y: g.copyFloats("y", s.QueryY), Z: g.copyFloats("z", s.QueryZ),
				Radius: g.copyFloats("radius", s.Radius), Exclude: f.Exclude, Mask: f.Mask, Live: f.Live}
			counts := g.word("counts").Place(len(want), g.side, g.gap)
			neighbours.Count(level, &c.grid, p, q, counts)
			run.Check(paritytest.Bits(s.Name+": counts", counts, want), g.check(), c.unchanged(p, f))
		}
	})
}

// boxesFor draws boxes about the queries of a scene, often with a side exactly
// at a point, and now and then flat, huge or with nothing inside.
func boxesFor(run *paritytest.Run, s *paritytest.Scene) *neighbours.Boxes {
	b := &neighbours.Boxes{}
	for i, r := range s.Radius {
		for a, column := range [][]float32{s.X, s.Y, s.Z} {
			c := [][]float32{s.QueryX, s.QueryY, s.QueryZ}[a][i]
			side := func(v float32) float32 {
				switch k := run.IntN(16); {
				case k < 4 && len(column) > 0:
					return clampFinite(run.Near(column[run.IntN(len(column))]))
				case k == 4:
					return run.Float(paritytest.Finite[run.IntN(len(paritytest.Finite))])
				}
				return clampFinite(v)
			}
			lo, hi := side(c-r), side(c+r)
			b.Lo[a], b.Hi[a] = append(b.Lo[a], min(lo, hi)), append(b.Hi[a], max(lo, hi))
		}
	}
	return b
}

func TestParityOverlap(t *testing.T) {
	run := paritytest.Start(t, "Overlap")
	g := newGuard(t, guardRoom)
	shapes(run, g, 150, func(c *shapeCase) func(native.Level) {
		b := boxesFor(run, c.scene)
		want := &neighbours.Rows{Slots: []uint32{}, Ends: []uint32{}}
		for i := range b.Lo[0] {
			c.each(i, func(_ int, x, y, z float32, slot uint32) {
				if b.Lo[0][i] <= x && x <= b.Hi[0][i] && b.Lo[1][i] <= y && y <= b.Hi[1][i] && b.Lo[2][i] <= z && z <= b.Hi[2][i] {
					want.Slots = append(want.Slots, slot)
				}
			})
			want.Ends = append(want.Ends, uint32(len(want.Slots)))
		}
		return func(level native.Level) {
			p, f := g.points(c)
			placed := &neighbours.Boxes{}
			for a := range 3 {
				placed.Lo[a] = g.copyFloats(fmt.Sprint("lo", a), b.Lo[a])
				placed.Hi[a] = g.copyFloats(fmt.Sprint("hi", a), b.Hi[a])
			}
			run.Check(g.rows(run, c, want, false, func(from int, ends []uint32, hits *neighbours.Rows) int {
				rest, part := *placed, *f
				for a := range 3 {
					rest.Lo[a], rest.Hi[a] = rest.Lo[a][from:], rest.Hi[a][from:]
				}
				part.Exclude, part.Mask = tail(f.Exclude, from), tail(f.Mask, from)
				return neighbours.Overlap(level, &c.grid, p, &rest, &part, hits)
			}), c.unchanged(p, f))
		}
	})
}

func tail(s []uint32, from int) []uint32 {
	if s == nil {
		return nil
	}
	return s[from:]
}

// rows collects the rows of a case, beginning with some room and giving more
// whenever the kernel asks for it, and compares them with want.
func (g *guard) rows(run *paritytest.Run, c *shapeCase, want *neighbours.Rows, t bool, answer func(from int, ends []uint32, h *neighbours.Rows) int) error {
	enough := c.points.Len() + neighbours.Pad
	room := []int{enough, 0, run.IntN(enough), run.IntN(2 * enough)}[run.IntN(4)]
	n := len(want.Ends)
	ends := g.word("ends").Place(n, g.side, g.gap)
	var kept neighbours.Rows
	for done := 0; done < n; {
		h := &neighbours.Rows{Fill: kept.Fill, Ends: ends[done:], Slots: g.word("out").Place(room, g.side, g.gap)}
		copy(h.Slots, kept.Slots)
		if t {
			h.Dist2 = g.float("t").Place(room, g.side, g.gap)
			copy(h.Dist2, kept.Dist2)
		}
		answered := answer(done, ends[done:], h)
		if err := g.check(); err != nil {
			return err
		}
		if answered == 0 && (h.Fill != kept.Fill || room-h.Fill >= enough) {
			return fmt.Errorf("%s: no answer with room for %d and Fill from %d to %d", c.scene.Name, room-h.Fill, kept.Fill, h.Fill)
		}
		done += answered
		if done > 0 && h.Fill != int(ends[done-1]) {
			return fmt.Errorf("%s: Fill is %d, the last row ends at %d", c.scene.Name, h.Fill, ends[done-1])
		}
		kept.Fill, kept.Slots = h.Fill, slices.Clone(h.Slots[:h.Fill])
		if t {
			kept.Dist2 = slices.Clone(h.Dist2[:h.Fill])
		}
		room = max(room, h.Fill) + 1 + run.IntN(enough)
	}
	if err := paritytest.Bits(c.scene.Name+": ends", ends, want.Ends); err != nil {
		return err
	}
	if err := paritytest.Bits(c.scene.Name+": slots", kept.Slots, want.Slots); err != nil || !t {
		return err
	}
	return paritytest.Bits(c.scene.Name+": t", kept.Dist2, want.Dist2)
}

// A huge query walks over points, not over empty cells; one of the size of cells
// leaves out what lies between its rows.
func TestEmptyRowsAreNotWalkedOver(t *testing.T) {
	g := &neighbours.Grid{Inv: [3]float32{1, 1, 1}, N: [3]int32{1, 1000, 1000}}
	start := make([]uint32, 1000*1000+1)
	for i := range start {
		start[i] = uint32(i / 500)
	}
	if n := neighbours.WalkedRows(g, start, [3]int32{}, [3]int32{0, 999, 999}); n != 1 {
		t.Errorf("%d rows for 2000 points in a million cells", n)
	}
	if n := neighbours.WalkedRows(g, start, [3]int32{0, 400, 1}, [3]int32{0, 402, 998}); n != 1 {
		t.Errorf("%d rows for 1994 points in 2994 rows", n)
	}
	if n := neighbours.WalkedRows(g, start, [3]int32{0, 400, 1}, [3]int32{0, 402, 2}); n != 1 {
		t.Errorf("%d rows for 2 points", n)
	}
	for i := range start {
		start[i] = uint32(16 * i)
	}
	if n := neighbours.WalkedRows(g, start, [3]int32{0, 400, 1}, [3]int32{0, 402, 998}); n != 3*998 {
		t.Errorf("%d rows, want %d", n, 3*998)
	}
}

func TestShapesMisuse(t *testing.T) {
	type args struct {
		g      neighbours.Grid
		p      neighbours.Points
		q      neighbours.Queries
		b      neighbours.Boxes
		f      neighbours.Filter
		h      neighbours.Rows
		counts []uint32
	}
	count := func(level native.Level, a *args) { neighbours.Count(level, &a.g, &a.p, &a.q, a.counts) }
	overlap := func(level native.Level, a *args) { neighbours.Overlap(level, &a.g, &a.p, &a.b, &a.f, &a.h) }
	for _, c := range []struct {
		want string
		run  func(native.Level, *args)
		do   func(a *args)
	}{
		{"neighbours: Points.Start does not fit the grid", count, func(a *args) { a.g.N[1] = 2 }},
		{"neighbours: Points.Start does not fit the grid", overlap, func(a *args) { a.g.N[1] = 2 }},
		{"neighbours: Points.Start does not ascend", count, func(a *args) { a.p.Start[1] = 2 }},
		{"neighbours: Points.Start does not ascend", overlap, func(a *args) { a.p.Start[1] = 2 }},
		{"neighbours: Queries differ in length", count, func(a *args) { a.q.Radius = nil }},
		{"neighbours: Count: Queries and counts differ in length", count, func(a *args) { a.counts = nil }},
		{"neighbours: Overlap: Boxes differ in length", overlap, func(a *args) { a.b.Lo[1] = nil }},
		{"neighbours: Overlap: Boxes differ in length", overlap, func(a *args) { a.b.Hi[2] = make([]float32, 2) }},
		{"neighbours: Rows differ in length", overlap, func(a *args) { a.h.Ends = nil }},
		{"neighbours: Rows differ in length", overlap, func(a *args) { a.h.Dist2 = make([]float32, 1) }},
		{"neighbours: Rows.Fill or the length of Rows.Slots is out of range", overlap, func(a *args) { a.h.Fill = 41 }},
		{"neighbours: Rows.Fill or the length of Rows.Slots is out of range", overlap, func(a *args) { a.h.Fill = -1 }},
		{"neighbours: Queries differ in length", count, func(a *args) { a.q.Exclude = []uint32{} }},
		{"neighbours: Filter.Exclude or Mask differ in length from the queries", overlap, func(a *args) { a.f.Mask = []uint32{} }},
		{"neighbours: Filter.Live is too short", overlap, func(a *args) { a.f.Live = []uint16{} }},
	} {
		one := func(v float32) []float32 { return []float32{v} }
		for _, level := range native.Levels() {
			a := &args{
				g:      neighbours.Grid{Inv: [3]float32{1, 1, 1}, N: [3]int32{2, 1, 1}},
				p:      neighbours.Points{Start: []uint32{0, 1, 1}, Blocks: make([]neighbours.Block, 1), Limit: 1},
				q:      neighbours.Queries{X: one(0), Y: one(0), Z: one(0), Radius: one(0.5)},
				b:      neighbours.Boxes{Lo: [3][]float32{one(0), one(0), one(0)}, Hi: [3][]float32{one(0.5), one(0.5), one(0.5)}},
				h:      neighbours.Rows{Ends: make([]uint32, 1), Slots: make([]uint32, 40)},
				counts: make([]uint32, 1),
			}
			c.do(a)
			expectPanic(t, c.want, func() { c.run(level, a) })
		}
	}
}

// clampFinite replaces an infinity by the largest number of its sign.
func clampFinite(v float32) float32 { return max(-math.MaxFloat32, min(v, math.MaxFloat32)) }
