package neighbours_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/evertick/evertick/internal/neighbours"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

// selfCase is a point set in which every point is a centre, and the rows that
// the plain loop gives.
type selfCase struct {
	name   string
	grid   neighbours.Grid
	points neighbours.Points
	query  neighbours.SelfQuery
	dist2  bool
	want   neighbours.Rows
}

// answer fills in want: every pair is tested, and no cell is looked at.
func (c *selfCase) answer() {
	p, w := &c.points, &c.want
	*w = neighbours.Rows{Ends: []uint32{}, Slots: []uint32{}, Dist2: []float32{}}
	at := func(i int) (*neighbours.Block, int) { return &p.Blocks[i/neighbours.BlockLen], i % neighbours.BlockLen }
	for i := range p.Len() {
		a, al := at(i)
		for j := range p.Len() {
			b, bl := at(j)
			dx, dy, dz := b.X[bl]-a.X[al], b.Y[bl]-a.Y[al], b.Z[bl]-a.Z[al]
			d2 := float32(float32(dx*dx)+float32(dy*dy)) + float32(dz*dz)
			in := d2 <= float32(c.query.Radius*c.query.Radius)
			id, own := b.Slot[bl], a.Slot[al]
			if c.query.Places {
				id, own = uint32(j), uint32(i)
			}
			switch c.query.Keep {
			case neighbours.KeepOthers:
				in = in && i != j
			case neighbours.KeepAbove:
				in = in && id > own
			}
			if in {
				w.Slots, w.Dist2 = append(w.Slots, id), append(w.Dist2, d2)
			}
		}
		w.Ends = append(w.Ends, uint32(len(w.Slots)))
	}
	if !c.dist2 {
		w.Dist2 = nil
	}
}

// selfRoom does for the blocks of so many points, and for the rows of a case.
func selfRoom(points, results int) int {
	return 2*results + 4*points + 4*neighbours.Pad + neighbours.PackedLen
}

// compare runs the case on one level, in chunks of any length, beginning with
// some room and giving more whenever the kernel asks for it.
func (c *selfCase) compare(run *paritytest.Run, g *guard, level native.Level, side paritytest.Side) {
	run.Case(level)
	g.side, g.gap = side, run.IntN(paritytest.MaxGap+1)
	n := c.points.Len()
	p := &neighbours.Points{Start: g.copyWords("start", c.points.Start), Blocks: g.blocks(c.points.Blocks), Limit: c.points.Limit}
	scratch := neighbours.PackedIn(g.float("packed").Place(neighbours.PackedLen, side, g.gap))
	rows, enough := &neighbours.Rows{}, n+neighbours.Pad
	g.place(rows, []int{len(c.want.Slots) + enough, 0, run.IntN(enough), run.IntN(2 * enough)}[run.IntN(4)], c.dist2)
	ends := g.word("ends").Place(n, side, g.gap)
	for at := 0; at < n; {
		last := n
		if run.IntN(2) == 0 {
			last = at + run.IntN(n-at+1)
		}
		rows.Ends = ends[at:last:last]
		before, room := rows.Fill, len(rows.Slots)
		done := neighbours.Self(level, &c.grid, p, &c.query, at, last, rows, scratch)
		run.Check(c.progress(done, at, last, before, room, rows), g.check())
		if at += done; at < last {
			g.place(rows, min(max(room, rows.Fill)+1+run.IntN(1+max(enough, rows.Fill)), rows.Fill+len(c.want.Slots)+enough), c.dist2)
		}
	}
	run.Check(paritytest.Bits(c.name+": start", p.Start, c.points.Start),
		paritytest.Bits(c.name+": ends", ends, c.want.Ends), paritytest.Bits(c.name+": slots", rows.Slots[:rows.Fill], c.want.Slots))
	if c.dist2 {
		run.Check(paritytest.Bits(c.name+": dist2", rows.Dist2[:rows.Fill], c.want.Dist2))
	}
	for i := range p.Blocks {
		if p.Blocks[i] != c.points.Blocks[i] {
			run.Check(fmt.Errorf("%s: block %d was written to", c.name, i))
		}
	}
}

// progress checks how a call of Self that wrote done rows ended.
func (c *selfCase) progress(done, first, last, before, room int, rows *neighbours.Rows) error {
	switch {
	case done < 0 || done > last-first:
		return fmt.Errorf("%s: %d of %d rows", c.name, done, last-first)
	case done == 0 && rows.Fill != before:
		return fmt.Errorf("%s: Fill moved from %d to %d without a row", c.name, before, rows.Fill)
	case done == 0 && last > first && room-before >= c.points.Len()+neighbours.Pad:
		return fmt.Errorf("%s: no row despite room for all points", c.name)
	case done > 0 && rows.Fill != int(c.want.Ends[first+done-1]):
		return fmt.Errorf("%s: Fill is %d after place %d, want %d", c.name, rows.Fill, first+done, c.want.Ends[first+done-1])
	}
	return nil
}

// everyForm compares a point set in every form of the answer on every level.
func everyForm(run *paritytest.Run, g *guard, c *selfCase) {
	for _, c.query.Keep = range []neighbours.Keep{neighbours.KeepAll, neighbours.KeepOthers, neighbours.KeepAbove} {
		for _, c.dist2 = range []bool{false, true} {
			c.query.Places = run.IntN(2) == 0
			c.answer()
			for _, level := range native.Levels() {
				for _, side := range paritytest.Sides {
					c.compare(run, g, level, side)
				}
			}
		}
	}
}

func TestParitySelf(t *testing.T) {
	run := paritytest.Start(t, "Self")
	const points = 150
	g := newGuard(t, selfRoom(points, points*points))
	for range paritytest.Rounds(20) {
		for i := range paritytest.Families {
			s := paritytest.Families[i].Draw(run, points, 1)
			r := newRadiusCase(run, s)
			radius := s.Scale
			if run.IntN(2) == 0 {
				radius = s.Radius[0] // also next to ties, and odd ones
			}
			everyForm(run, g, &selfCase{name: fmt.Sprintf("%s, radius %g", s.Name, radius), grid: r.grid, points: r.points,
				query: neighbours.SelfQuery{Radius: radius}})
		}
	}
}

// Neighbourhoods around what the scratch holds.
func TestParitySelfDense(t *testing.T) {
	paritytest.SkipSerialUnderRace(t)
	run := paritytest.Start(t, "Self, dense")
	const most = neighbours.PackLen + 600
	g := newGuard(t, selfRoom(most, most*200))
	for range paritytest.Rounds(2) {
		for _, name := range paritytest.Some(run, "uniform", "flat", "clusters") {
			s := &paritytest.Scene{}
			for n := neighbours.PackLen - 20 + run.IntN(600); len(s.X) < n; {
				s = familyNamed(t, name).Draw(run, most, 0)
			}
			r := newRadiusCase(run, s)
			c := &selfCase{name: name, grid: r.grid, points: r.points, query: neighbours.SelfQuery{Radius: float32(s.Scale * 0.5)}}
			c.query.Keep, c.dist2, c.query.Places = neighbours.Keep(run.IntN(3)), run.IntN(2) == 0, run.IntN(2) == 0
			c.answer()
			if len(c.want.Slots) > most*200 {
				t.Fatalf("%s: %d results", name, len(c.want.Slots))
			}
			for _, level := range native.Levels() {
				c.compare(run, g, level, paritytest.Sides[run.IntN(2)])
			}
		}
	}
}

// The row of a point is the row of a query at it.
func TestSelfIsRadius(t *testing.T) {
	run := paritytest.Start(t, "Self, Radius")
	for i := range paritytest.Families {
		s := paritytest.Families[i].Draw(run, maxPoints, 0)
		c := newRadiusCase(run, s)
		n := c.points.Len()
		q := &neighbours.Queries{Radius: make([]float32, n)}
		for i := range n {
			b, lane := &c.points.Blocks[i/neighbours.BlockLen], i%neighbours.BlockLen
			q.X, q.Y, q.Z = append(q.X, b.X[lane]), append(q.Y, b.Y[lane]), append(q.Z, b.Z[lane])
			q.Exclude, q.Radius[i] = append(q.Exclude, b.Slot[lane]), s.Scale
		}
		room := n*n + 2*n + neighbours.Pad
		for _, level := range native.Levels() {
			run.Case(level)
			want := &neighbours.Rows{Ends: make([]uint32, n), Slots: make([]uint32, room), Dist2: make([]float32, room)}
			got := &neighbours.Rows{Ends: make([]uint32, n), Slots: make([]uint32, room), Dist2: make([]float32, room)}
			neighbours.Radius(level, &c.grid, &c.points, q, want)
			neighbours.Self(level, &c.grid, &c.points, &neighbours.SelfQuery{Radius: s.Scale, Keep: neighbours.KeepOthers}, 0, n, got, &neighbours.Packed{})
			run.Check(paritytest.Bits("ends", got.Ends, want.Ends), paritytest.Bits("slots", got.Slots[:got.Fill], want.Slots[:want.Fill]),
				paritytest.Bits("dist2", got.Dist2[:got.Fill], want.Dist2[:want.Fill]))
		}
	}
}

func TestSelfMisuse(t *testing.T) {
	type args struct {
		g           neighbours.Grid
		p           neighbours.Points
		q           neighbours.SelfQuery
		r           neighbours.Rows
		first, last int
	}
	for _, c := range []struct {
		want string
		do   func(a *args)
	}{
		{"neighbours: Points.Start does not fit the grid", func(a *args) { a.g.N[1] = 3 }},
		{"neighbours: Points.Blocks is too short", func(a *args) { a.p.Blocks = nil }},
		{"neighbours: Self: places are out of range", func(a *args) { a.first = -1 }},
		{"neighbours: Self: places are out of range", func(a *args) { a.first = 2; a.last = 1 }},
		{"neighbours: Self: places are out of range", func(a *args) { a.last = 4 }},
		{"neighbours: Self: no such Keep", func(a *args) { a.q.Keep = 3 }},
		{"neighbours: Rows differ in length", func(a *args) { a.r.Ends = a.r.Ends[:2] }},
		{"neighbours: Rows differ in length", func(a *args) { a.r.Dist2 = make([]float32, 3) }},
		{"neighbours: Rows.Fill or the length of Rows.Slots is out of range", func(a *args) { a.r.Fill = 100 }},
		{"neighbours: Self: Points.Start does not ascend, or a point is not in its cell", func(a *args) { a.p.Start[2] = 9 }},
		{"neighbours: Self: Points.Start does not ascend, or a point is not in its cell", func(a *args) { a.p.Blocks[0].X[0] = 5; a.p.Blocks[0].Y[0] = 5 }},
		{"neighbours: Self: Points.Start does not ascend, or a point is not in its cell", func(a *args) { a.p.Start[2] = math.MaxUint32 }},
		{"neighbours: the level cannot run here; see native.Resolve", nil},
	} {
		for _, level := range native.Levels() {
			a := &args{
				g: neighbours.Grid{Inv: [3]float32{1, 1, 1}, N: [3]int32{2, 2, 1}},
				p: neighbours.Points{Start: []uint32{0, 1, 2, 2, 3}, Blocks: make([]neighbours.Block, 1), Limit: 3},
				q: neighbours.SelfQuery{Radius: 1},
				r: neighbours.Rows{Ends: make([]uint32, 3), Slots: make([]uint32, 60)}, last: 3,
			}
			b := &a.p.Blocks[0]
			b.X, b.Y, b.Slot = [16]float32{0.5, 1.5, 1.5}, [16]float32{0.5, 0.5, 1.5}, [16]uint32{0, 1, 2}
			if c.do == nil {
				level = native.Level(99)
			} else {
				c.do(a)
			}
			func() {
				defer func() {
					if got := recover(); got != c.want {
						t.Errorf("level %s: got panic %v, want %q", level, got, c.want)
					}
				}()
				neighbours.Self(level, &a.g, &a.p, &a.q, a.first, a.last, &a.r, &neighbours.Packed{})
			}()
		}
	}
}

// A Start that contradicts the points is found where a row of cells is looked at.
func TestSelfStartDoesNotAscend(t *testing.T) {
	const each = 30
	for _, at := range []float32{0.5, 1.5} {
		for _, level := range native.Levels() {
			g := neighbours.Grid{Inv: [3]float32{1, 1, 1}, N: [3]int32{2, 2, 1}}
			p := neighbours.Points{Start: []uint32{0, each, 2 * each, 3 * each, 4 * each}, Blocks: make([]neighbours.Block, 8), Limit: 4 * each}
			for i := range 4 * each {
				b, lane := &p.Blocks[i/neighbours.BlockLen], i%neighbours.BlockLen
				b.X[lane], b.Y[lane], b.Slot[lane] = at, float32(i/(2*each)), uint32(i)
			}
			p.Start[1] = 5 * each
			func() {
				defer func() {
					if got := recover(); got != "neighbours: Self: Points.Start does not ascend, or a point is not in its cell" {
						t.Errorf("level %s, x %g: panic %v", level, at, got)
					}
				}()
				rows := neighbours.Rows{Ends: make([]uint32, 4*each), Slots: make([]uint32, 20000)}
				neighbours.Self(level, &g, &p, &neighbours.SelfQuery{Radius: 0.1}, 0, 4*each, &rows, &neighbours.Packed{})
			}()
		}
	}
}
