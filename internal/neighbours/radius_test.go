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

const (
	maxPoints  = 300
	maxQueries = 20
	maxCells   = 9 * 9 * 9
)

// radiusCase is one batch: the points of a scene sorted by the cells of some
// grid, its queries, and the answers that the plain loop gives.
type radiusCase struct {
	name    string
	grid    neighbours.Grid
	points  neighbours.Points
	queries neighbours.Queries

	dist2 bool
	want  neighbours.Rows
}

// newRadiusCase sorts a scene into a grid that need not suit it: too small,
// elsewhere, with cells of any size.
func newRadiusCase(run *paritytest.Run, s *paritytest.Scene) *radiusCase {
	return inGrid(s, anyGrid(run, s))
}

func inGrid(s *paritytest.Scene, grid neighbours.Grid) *radiusCase {
	c := &radiusCase{name: s.Name, grid: grid}
	g := &c.grid
	cell := func(i int) int {
		return int((g.Cell(2, s.Z[i])*g.N[1]+g.Cell(1, s.Y[i]))*g.N[0] + g.Cell(0, s.X[i]))
	}
	places := make([]int, len(s.X))
	start := make([]uint32, g.N[0]*g.N[1]*g.N[2]+1)
	for i := range places {
		places[i] = i
		start[cell(i)+1]++
	}
	for c := range start[1:] {
		start[c+1] += start[c]
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(cell(a), cell(b)) })
	p := &c.points
	p.Start, p.Limit = start, s.Limit()
	p.Blocks = make([]neighbours.Block, (len(places)+neighbours.BlockLen-1)/neighbours.BlockLen)
	for at, i := range places {
		b, lane := &p.Blocks[at/neighbours.BlockLen], at%neighbours.BlockLen
		b.X[lane], b.Y[lane], b.Z[lane], b.Slot[lane] = s.X[i], s.Y[i], s.Z[i], s.Slots[i]
	}
	c.queries = neighbours.Queries{X: s.QueryX, Y: s.QueryY, Z: s.QueryZ, Radius: s.Radius}
	return c
}

func anyGrid(run *paritytest.Run, s *paritytest.Scene) neighbours.Grid {
	g := neighbours.Grid{}
	for a, column := range [][]float32{s.X, s.Y, s.Z} {
		g.N[a] = 1 + run.Int32N(9)
		if len(column) > 0 && run.IntN(4) > 0 {
			g.Min[a] = slices.Min(column)
		}
		if run.IntN(8) == 0 {
			g.Min[a] += float32(s.Scale * 1000)
		}
	}
	cell := s.Scale * []float32{1, 1, 0.25, 7, 1e-3, 1e4}[run.IntN(6)]
	for a := range g.Inv {
		g.Inv[a] = max(min([]float32{1, 1, 4}[run.IntN(3)]/cell, math.MaxFloat32), math.SmallestNonzeroFloat32)
	}
	if run.IntN(2) == 0 {
		withTails(run, &g)
	}
	return g
}

// answer fills in want: every point is tested, and no cell is looked at.
func (c *radiusCase) answer() {
	q, p, w := &c.queries, &c.points, &c.want
	*w = neighbours.Rows{Ends: []uint32{}, Slots: []uint32{}, Dist2: []float32{}}
	for i := range q.X {
		for at := range p.Len() {
			b, lane := &p.Blocks[at/neighbours.BlockLen], at%neighbours.BlockLen
			slot := b.Slot[lane]
			dx, dy, dz := b.X[lane]-q.X[i], b.Y[lane]-q.Y[i], b.Z[lane]-q.Z[i]
			d2 := float32(float32(dx*dx)+float32(dy*dy)) + float32(dz*dz)
			if d2 <= float32(q.Radius[i]*q.Radius[i]) && (q.Exclude == nil || q.Exclude[i] != slot) && c.passes(i, at) {
				w.Slots, w.Dist2 = append(w.Slots, slot), append(w.Dist2, d2)
			}
		}
		w.Ends = append(w.Ends, uint32(len(w.Slots)))
	}
	if !c.dist2 {
		w.Dist2 = nil
	}
}

// passes reports whether place at passes the filters of query i other than Exclude.
func (c *radiusCase) passes(i, at int) bool {
	q, p := &c.queries, &c.points
	if q.Live != nil && q.Live[at/neighbours.BlockLen]>>(at%neighbours.BlockLen)&1 == 0 {
		return false
	}
	category := uint32(math.MaxUint32)
	if p.Category != nil {
		category = p.Category[at]
	}
	return q.Mask == nil || q.Mask[i]&category != 0
}

// guarded returns the case's arguments in guarded memory.
func (c *radiusCase) guarded(g *guard) (*neighbours.Points, *neighbours.Queries) {
	p, q := &c.points, &c.queries
	return &neighbours.Points{Start: g.copyWords("start", p.Start), Limit: p.Limit, Blocks: g.blocks(p.Blocks),
			Category: g.copyWords("category", p.Category)},
		&neighbours.Queries{X: g.copyFloats("qx", q.X), Y: g.copyFloats("qy", q.Y), Z: g.copyFloats("qz", q.Z),
			Radius: g.copyFloats("radius", q.Radius), Exclude: g.copyWords("exclude", q.Exclude),
			Mask: g.copyWords("mask", q.Mask), Live: g.live(q.Live)}
}

// unchanged compares the arguments with what they were.
func (c *radiusCase) unchanged(p *neighbours.Points, q *neighbours.Queries) error {
	for i := range p.Blocks {
		if p.Blocks[i] != c.points.Blocks[i] && !hasNaN(&c.points.Blocks[i]) {
			return fmt.Errorf("input block %d: got %v, want %v", i, p.Blocks[i], c.points.Blocks[i])
		}
	}
	for _, s := range []struct {
		name      string
		got, want []float32
	}{{"qx", q.X, c.queries.X}, {"qy", q.Y, c.queries.Y}, {"qz", q.Z, c.queries.Z}, {"radius", q.Radius, c.queries.Radius}} {
		if err := paritytest.Bits("input "+s.name, s.got, s.want); err != nil {
			return err
		}
	}
	return cmp.Or(paritytest.Bits("input start", p.Start, c.points.Start),
		paritytest.Bits("input exclude", q.Exclude, c.queries.Exclude))
}

// compare runs the case on one level, beginning with some room and giving more
// whenever the kernel asks for it, and compares the rows with want.
func (c *radiusCase) compare(run *paritytest.Run, g *guard, level native.Level, side paritytest.Side) {
	run.Case(level)
	g.side, g.gap = side, run.IntN(paritytest.MaxGap+1)
	p, q := c.guarded(g)
	rows := &neighbours.Rows{}
	enough := c.points.Len() + neighbours.Pad
	room := []int{enough, 0, run.IntN(enough), run.IntN(2 * enough)}[run.IntN(4)]
	g.place(rows, room, c.dist2)
	ends := g.word("ends").Place(len(q.X), g.side, g.gap)
	for done := 0; done < len(q.X); {
		rest := *q
		rest.X, rest.Y, rest.Z, rest.Radius = q.X[done:], q.Y[done:], q.Z[done:], q.Radius[done:]
		if q.Exclude != nil {
			rest.Exclude = q.Exclude[done:]
		}
		if q.Mask != nil {
			rest.Mask = q.Mask[done:]
		}
		rows.Ends = ends[done:]
		before, room := rows.Fill, len(rows.Slots)
		n := neighbours.Radius(level, &c.grid, p, &rest, rows)
		run.Check(c.progress(n, done, before, room, rows), g.check(), c.unchanged(p, q))
		if done += n; done < len(q.X) {
			g.place(rows, max(room, rows.Fill)+1+run.IntN(enough), c.dist2)
		}
	}
	run.Check(paritytest.Bits(c.name+": ends", ends, c.want.Ends), paritytest.Bits(c.name+": slots", rows.Slots[:rows.Fill], c.want.Slots))
	if c.dist2 {
		run.Check(paritytest.Bits(c.name+": dist2", rows.Dist2[:rows.Fill], c.want.Dist2))
	}
}

// progress checks how a call of Radius that answered n queries ended.
func (c *radiusCase) progress(n, done, before, room int, rows *neighbours.Rows) error {
	switch {
	case n < 0 || n > len(c.queries.X)-done:
		return fmt.Errorf("%s: %d of %d queries answered", c.name, n, len(c.queries.X)-done)
	case n == 0 && rows.Fill != before:
		return fmt.Errorf("%s: Fill moved from %d to %d without an answer", c.name, before, rows.Fill)
	case n == 0 && room-before >= c.points.Len()+neighbours.Pad:
		return fmt.Errorf("%s: no answer despite room for all points", c.name)
	case n > 0 && rows.Fill != int(c.want.Ends[done+n-1]):
		return fmt.Errorf("%s: Fill is %d after %d queries, want %d", c.name, rows.Fill, done+n, c.want.Ends[done+n-1])
	}
	return nil
}

func hasNaN(b *neighbours.Block) bool { return *b != *b }

func TestParityRadius(t *testing.T) {
	run := paritytest.Start(t, "Radius")
	g := newGuard(t, guardRoom)
	for range paritytest.Rounds(40) {
		for i := range paritytest.Families {
			s := paritytest.Families[i].Draw(run, maxPoints, 1+run.IntN(maxQueries))
			c := newRadiusCase(run, s)
			for form := range 16 {
				c.filter(run, s.Exclude, form)
				c.answer()
				for _, level := range native.Levels() {
					for _, side := range paritytest.Sides {
						c.compare(run, g, level, side)
					}
				}
			}
		}
	}
}

// edge returns the least coordinate that belongs to cell j > 0 along an axis.
func edge(g *neighbours.Grid, axis, j int) float32 {
	low, high := ordered(g.Min[axis]), ordered(g.Min[axis]+float32(j+1)/g.Inv[axis])
	for low+1 < high {
		if mid := low + (high-low)/2; int(g.Cell(axis, unordered(mid))) < j {
			low = mid
		} else {
			high = mid
		}
	}
	return unordered(high)
}

// Points at the very edges of cells, on either side, and spheres in the next cell whose surface goes
// through them: rounding may put a point on the other side of where the edge is computed to be.
func TestParityRadiusAtCellEdges(t *testing.T) {
	run := paritytest.Start(t, "RadiusAtCellEdges")
	g := newGuard(t, guardRoom)
	const cells, fill = 4, 60 // fill: points of a row, so that it is worth while to leave it out
	astray := 0
	for round := range paritytest.Rounds(100) {
		grid := neighbours.Grid{N: [3]int32{cells, cells, cells}}
		for a := range grid.Min {
			grid.Min[a], grid.Inv[a] = (run.Float32()-0.5)*100, 0.1+run.Float32()*5
			if round == 0 { // of this one, edges 2 and 3 have points below where they are computed to be
				grid.Min[a], grid.Inv[a] = -12.468946, 0.23020992
			}
		}
		axis := 1 + run.IntN(2)
		s := &paritytest.Scene{Name: "edges", Scale: 1}
		at := func(v float32) (p [3]float32) {
			for a := range p {
				p[a] = grid.Min[a] + 0.5/grid.Inv[a]
			}
			p[axis] = v
			return p
		}
		add := func(p [3]float32) {
			s.X, s.Y, s.Z, s.Slots = append(s.X, p[0]), append(s.Y, p[1]), append(s.Z, p[2]), append(s.Slots, uint32(len(s.X)))
		}
		for j := range cells * fill { // far along the row
			p := at(grid.Min[axis] + (float32(j/fill)+0.5)/grid.Inv[axis])
			p[0] = grid.Min[0] + (2+run.Float32())/grid.Inv[0]
			add(p)
		}
		for j := 1; j < cells; j++ {
			first := edge(&grid, axis, j)
			if first < grid.Min[axis]+float32(j)*(1/grid.Inv[axis]) {
				astray++
			}
			last := math.Nextafter32(first, -1e9)
			for _, to := range []struct{ point, centre float32 }{{first, first - 0.3/grid.Inv[axis]}, {last, last + 0.3/grid.Inv[axis]}} {
				add(at(to.point))
				c := at(to.centre)
				s.QueryX, s.QueryY, s.QueryZ = append(s.QueryX, c[0]), append(s.QueryY, c[1]), append(s.QueryZ, c[2])
				s.Radius = append(s.Radius, float32(math.Abs(float64(to.point-to.centre))))
			}
		}
		c := inGrid(s, grid)
		c.answer()
		if len(c.want.Slots) < len(s.QueryX) {
			t.Fatalf("%d hits of %d spheres that go through points", len(c.want.Slots), len(s.QueryX))
		}
		for _, level := range native.Levels() {
			c.compare(run, g, level, paritytest.After)
		}
	}
	if astray == 0 {
		t.Error("no point is on the other side of an edge as it is computed")
	}
}

// Batches of more than one round of the kernel, rows longer than its list of tasks,
// and a radius of its own for every query.
func TestParityRadiusLarge(t *testing.T) {
	run := paritytest.Start(t, "Radius, large")
	for range paritytest.Rounds(6) {
		for i := range paritytest.Families {
			s := paritytest.Families[i].Draw(run, 6000, 1+run.IntN(200))
			c := newRadiusCase(run, s)
			c.filter(run, s.Exclude, run.IntN(16))
			if run.IntN(2) == 0 {
				for i := range c.queries.Radius {
					c.queries.Radius[i] = s.Scale * float32(math.Exp2(12*run.Float64()-8))
				}
			}
			c.answer()
			for _, level := range native.Levels() {
				c.compareGrowing(run, level)
			}
		}
	}
}

// compareGrowing runs the case on one level with buffers that grow.
func (c *radiusCase) compareGrowing(run *paritytest.Run, level native.Level) {
	run.Case(level)
	rows := &neighbours.Rows{Slots: make([]uint32, run.IntN(100000))}
	if c.dist2 {
		rows.Dist2 = make([]float32, len(rows.Slots))
	}
	ends := make([]uint32, len(c.queries.X))
	for done := 0; done < len(ends); {
		rest := c.queries
		rest.X, rest.Y, rest.Z, rest.Radius = rest.X[done:], rest.Y[done:], rest.Z[done:], rest.Radius[done:]
		if rest.Exclude != nil {
			rest.Exclude = rest.Exclude[done:]
		}
		if rest.Mask != nil {
			rest.Mask = rest.Mask[done:]
		}
		rows.Ends = ends[done:]
		if done += neighbours.Radius(level, &c.grid, &c.points, &rest, rows); done < len(ends) {
			more := c.points.Len() + neighbours.Pad + run.IntN(100000)
			rows.Slots = append(rows.Slots, make([]uint32, more)...)
			if c.dist2 {
				rows.Dist2 = append(rows.Dist2, make([]float32, more)...)
			}
		}
	}
	run.Check(paritytest.Bits(c.name+": ends", ends, c.want.Ends), paritytest.Bits(c.name+": slots", rows.Slots[:rows.Fill], c.want.Slots))
	if c.dist2 {
		run.Check(paritytest.Bits(c.name+": dist2", rows.Dist2[:rows.Fill], c.want.Dist2))
	}
}

// filter draws the filters, and distances, that the bits of form name.
func (c *radiusCase) filter(run *paritytest.Run, exclude []uint32, form int) {
	q, p := &c.queries, &c.points
	c.dist2, q.Exclude, q.Mask, q.Live, p.Category = form&1 != 0, nil, nil, nil, nil
	if form&2 != 0 {
		q.Exclude = exclude
	}
	if form&4 != 0 {
		q.Mask = run.Categories(len(q.X))
		if run.IntN(4) > 0 {
			p.Category = run.Categories(neighbours.BlockLen * len(p.Blocks))
		}
	}
	if form&8 != 0 {
		q.Live = make([]uint16, len(p.Blocks))
		for i := range q.Live {
			q.Live[i] = uint16(run.Uint32() | run.Uint32()*uint32(run.IntN(2)))
		}
	}
}

func familyNamed(t *testing.T, name string) *paritytest.Family {
	for i := range paritytest.Families {
		if paritytest.Families[i].Name == name {
			return &paritytest.Families[i]
		}
	}
	t.Fatalf("no family %q", name)
	return nil
}

// What lies before Fill belongs to the caller.
func TestRadiusAppends(t *testing.T) {
	run := paritytest.Start(t, "Radius, appending")
	s := familyNamed(t, "uniform").Draw(run, 100, 5)
	c := newRadiusCase(run, s)
	c.dist2 = true
	c.answer()
	p := c.points
	for _, level := range native.Levels() {
		run.Case(level)
		rows := &neighbours.Rows{Ends: make([]uint32, 5), Slots: make([]uint32, 2000), Dist2: make([]float32, 2000), Fill: 7}
		copy(rows.Slots, []uint32{1, 2, 3, 4, 5, 6, 7})
		copy(rows.Dist2, []float32{1, 2, 3, 4, 5, 6, 7})
		if n := neighbours.Radius(level, &c.grid, &p, &c.queries, rows); n != 5 {
			t.Fatalf("level %s: %d of 5 queries answered", level, n)
		}
		run.Check(paritytest.Bits("slots", rows.Slots[:rows.Fill], append([]uint32{1, 2, 3, 4, 5, 6, 7}, c.want.Slots...)),
			paritytest.Bits("dist2", rows.Dist2[:rows.Fill], append([]float32{1, 2, 3, 4, 5, 6, 7}, c.want.Dist2...)))
	}
}

func TestRadiusMisuse(t *testing.T) {
	type args struct {
		g neighbours.Grid
		p neighbours.Points
		q neighbours.Queries
		r neighbours.Rows
	}
	for _, c := range []struct {
		want string
		do   func(a *args)
	}{
		{"neighbours: Points.Start does not fit the grid", func(a *args) { a.g.N[1] = 2 }},
		{"neighbours: Points.Blocks is too short", func(a *args) { a.p.Blocks = nil }},
		{"neighbours: Points.Start does not fit the grid", func(a *args) { a.g.N = [3]int32{1<<24 + 1, 1, 1}; a.p.Start = make([]uint32, 1<<24+2) }},
		{"neighbours: Points.Start does not fit the grid", func(a *args) { a.g.N = [3]int32{-1, -1, 1} }},
		{"neighbours: Points.Start does not fit the grid", func(a *args) { a.g.N = [3]int32{1 << 22, 1 << 21, 1 << 21} }},
		{"neighbours: Points holds more than native.MaxSlots points", func(a *args) { a.p.Start[1] = native.MaxSlots + 1 }},
		{"neighbours: Points.Limit is out of range", func(a *args) { a.p.Limit = native.MaxSlots + 1 }},
		{"neighbours: Points.Limit is out of range", func(a *args) { a.p.Limit = 0 }},
		{"neighbours: Points.Limit is out of range", func(a *args) { a.p.Limit = -1000 }},
		{"neighbours: Queries differ in length", func(a *args) { a.q.Radius = nil }},
		{"neighbours: Queries differ in length", func(a *args) { a.q.Exclude = []uint32{} }},
		{"neighbours: Queries differ in length", func(a *args) { a.q.Mask = []uint32{} }},
		{"neighbours: Queries.Live is too short", func(a *args) { a.q.Live = []uint16{} }},
		{"neighbours: Points.Category is too short", func(a *args) { a.p.Category = make([]uint32, 15) }},
		{"neighbours: Rows differ in length", func(a *args) { a.r.Ends = nil }},
		{"neighbours: Rows differ in length", func(a *args) { a.r.Dist2 = make([]float32, 3) }},
		{"neighbours: Rows.Fill or the length of Rows.Slots is out of range", func(a *args) { a.r.Fill = 100 }},
		{"neighbours: Rows.Fill or the length of Rows.Slots is out of range", func(a *args) { a.r.Fill = -50 }},
	} {
		a := &args{
			g: neighbours.Grid{Inv: [3]float32{1, 1, 1}, N: [3]int32{1, 1, 1}},
			p: neighbours.Points{Start: []uint32{0, 1}, Blocks: make([]neighbours.Block, 1), Limit: 1},
			q: neighbours.Queries{X: []float32{0}, Y: []float32{0}, Z: []float32{0}, Radius: []float32{1}},
			r: neighbours.Rows{Ends: make([]uint32, 1), Slots: make([]uint32, 40)},
		}
		c.do(a)
		for _, level := range native.Levels() {
			expectPanic(t, c.want, func() { neighbours.Radius(level, &a.g, &a.p, &a.q, &a.r) })
		}
	}
}

// A point set that contradicts itself is found by the kernel as it goes, and
// nothing outside the slices is touched.
func TestRadiusContradictions(t *testing.T) {
	for name, spoil := range map[string]func(*neighbours.Points){
		"start beyond the points": func(p *neighbours.Points) { p.Start[2] = 1 << 30 },
		"start descends":          func(p *neighbours.Points) { p.Start[1], p.Start[2] = 4, 3 },
	} {
		for _, level := range native.Levels() {
			g := neighbours.Grid{Inv: [3]float32{1, 1, 1}, N: [3]int32{3, 1, 1}}
			p := neighbours.Points{Start: []uint32{0, 2, 4, 8}, Blocks: make([]neighbours.Block, 1), Limit: 8}
			spoil(&p)
			q := neighbours.Queries{X: []float32{1.5}, Y: []float32{0}, Z: []float32{0}, Radius: []float32{0.4}}
			r := neighbours.Rows{Ends: make([]uint32, 1), Slots: make([]uint32, 64), Dist2: make([]float32, 64)}
			expectPanic(t, "neighbours: Points.Start does not ascend", func() {
				neighbours.Radius(level, &g, &p, &q, &r)
			})
			if t.Failed() {
				t.Fatalf("level %s, %s", level, name)
			}
		}
	}
}
