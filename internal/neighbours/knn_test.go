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

// knnCase is one batch and the answers that sorting all points gives.
type knnCase struct {
	name    string
	grid    neighbours.Grid
	points  neighbours.Points
	queries neighbours.NearestQueries
	dist2   bool

	ends, slots []uint32
	d2          []float32
}

func newKNNCase(run *paritytest.Run, s *paritytest.Scene) *knnCase {
	r := newRadiusCase(run, s)
	c := &knnCase{name: s.Name, grid: r.grid, points: r.points}
	c.queries = neighbours.NearestQueries{X: s.QueryX, Y: s.QueryY, Z: s.QueryZ}
	if len(s.X) > 0 && run.IntN(3) > 0 {
		c.queries.Box = &[2][3]float32{
			{slices.Min(s.X), slices.Min(s.Y), slices.Min(s.Z)}, {slices.Max(s.X), slices.Max(s.Y), slices.Max(s.Z)},
		}
	}
	return c
}

// form draws what a batch may leave out: bits of form turn the parts on.
func (c *knnCase) form(run *paritytest.Run, s *paritytest.Scene, form, k int) {
	c.dist2 = form&1 == 0
	q := &c.queries
	q.K, q.Radius, q.Exclude, q.Mask, q.Live, c.points.Category = k, nil, nil, nil, nil, nil
	if form&2 != 0 {
		q.Radius = s.Radius
	}
	if form&4 != 0 {
		q.Exclude = s.Exclude
	}
	if form&8 != 0 {
		q.Mask = make([]uint32, len(q.X))
		for i := range q.Mask {
			q.Mask[i] = []uint32{1, 1 << 31, 0x30, math.MaxUint32, 0}[run.IntN(5)]
		}
	}
	if run.IntN(8) > 0 { // with or without a mask
		c.points.Category = make([]uint32, neighbours.BlockLen*len(c.points.Blocks))
		for i := range c.points.Category {
			c.points.Category[i] = run.Uint32() & run.Uint32() & run.Uint32() & run.Uint32()
		}
	}
	if form&16 != 0 {
		q.Live = make([]uint16, len(c.points.Blocks))
		for i := range q.Live {
			q.Live[i] = uint16(run.Uint32() & run.Uint32())
		}
	}
}

// passes is the filters' part of the specification.
func (c *knnCase) passes(i, at int, d2 float32) bool {
	q, p := &c.queries, &c.points
	slot := p.Blocks[at/neighbours.BlockLen].Slot[at%neighbours.BlockLen]
	switch {
	case q.Radius != nil && !(d2 <= float32(q.Radius[i]*q.Radius[i])):
		return false
	case q.Exclude != nil && q.Exclude[i] == slot:
		return false
	case q.Mask != nil && p.Category != nil && q.Mask[i]&p.Category[at] == 0:
		return false
	case q.Mask != nil && q.Mask[i] == 0:
		return false
	case q.Live != nil && q.Live[at/neighbours.BlockLen]>>(at%neighbours.BlockLen)&1 == 0:
		return false
	}
	return true
}

// answer fills in the rows: every point is looked at, and no cell.
func (c *knnCase) answer() {
	type near struct {
		d2   float32
		slot uint32
	}
	q := &c.queries
	c.ends, c.slots, c.d2 = []uint32{}, []uint32{}, []float32{}
	for i := range q.X {
		var all []near
		for at := range c.points.Len() {
			b, lane := &c.points.Blocks[at/neighbours.BlockLen], at%neighbours.BlockLen
			dx, dy, dz := b.X[lane]-q.X[i], b.Y[lane]-q.Y[i], b.Z[lane]-q.Z[i]
			d2 := float32(float32(dx*dx)+float32(dy*dy)) + float32(dz*dz)
			if c.passes(i, at, d2) {
				all = append(all, near{d2, b.Slot[lane]})
			}
		}
		slices.SortFunc(all, func(a, b near) int { return cmp.Or(cmp.Compare(a.d2, b.d2), cmp.Compare(a.slot, b.slot)) })
		for _, n := range all[:min(q.K, len(all))] {
			c.slots, c.d2 = append(c.slots, n.slot), append(c.d2, n.d2)
		}
		c.ends = append(c.ends, uint32(len(c.slots)))
	}
}

// compare runs the case on one level in guarded memory, with exactly the room
// that it may ask for.
func (c *knnCase) compare(run *paritytest.Run, g *guard, level native.Level, side paritytest.Side) {
	run.Case(level)
	g.side, g.gap = side, run.IntN(paritytest.MaxGap+1)
	of := &c.queries
	p := neighbours.Points{Start: g.copyWords("start", c.points.Start), Limit: c.points.Limit,
		Blocks: g.blocks(c.points.Blocks), Category: g.copyWords("category", c.points.Category)}
	q := neighbours.NearestQueries{K: of.K, Live: g.live(of.Live), X: g.copyFloats("qx", of.X), Y: g.copyFloats("qy", of.Y),
		Z: g.copyFloats("qz", of.Z), Radius: g.copyFloats("radius", of.Radius), Exclude: g.copyWords("exclude", of.Exclude),
		Mask: g.copyWords("mask", of.Mask)}
	room := len(q.X) * q.K
	ends, slots := g.word("ends").Place(len(q.X), side, g.gap), g.word("slots").Place(room, side, g.gap)
	var dist2 []float32
	if c.dist2 {
		dist2 = g.float("dist2").Place(room, side, g.gap)
	}
	untouched := slices.Clone(slots)
	n := neighbours.KNN(level, &c.grid, &p, &q, ends, slots, dist2)
	name := fmt.Sprintf("%s, k %d, %d points", c.name, q.K, p.Len())
	run.Check(g.check(), paritytest.Bits(name+": ends", ends, c.ends), paritytest.Bits(name+": slots", slots[:n], c.slots),
		paritytest.Bits(name+": behind the rows", slots[n:], untouched[n:]))
	if c.dist2 {
		run.Check(paritytest.Bits(name+": dist2", dist2[:n], c.d2))
	}
	run.Check(c.unchanged(&p, &q))
}

func (c *knnCase) unchanged(p *neighbours.Points, q *neighbours.NearestQueries) error {
	for i := range p.Blocks {
		if p.Blocks[i] != c.points.Blocks[i] && !hasNaN(&c.points.Blocks[i]) {
			return fmt.Errorf("input block %d: got %v, want %v", i, p.Blocks[i], c.points.Blocks[i])
		}
	}
	if !slices.Equal(q.Live, c.queries.Live) {
		return fmt.Errorf("input live: got %x, want %x", q.Live, c.queries.Live)
	}
	w := &c.queries
	return cmp.Or(paritytest.Bits("input start", p.Start, c.points.Start), paritytest.Bits("input category", p.Category, c.points.Category),
		paritytest.Bits("input qx", q.X, w.X), paritytest.Bits("input qy", q.Y, w.Y), paritytest.Bits("input qz", q.Z, w.Z),
		paritytest.Bits("input radius", q.Radius, w.Radius), paritytest.Bits("input exclude", q.Exclude, w.Exclude),
		paritytest.Bits("input mask", q.Mask, w.Mask))
}

var ks = []int{1, 2, 7, 8, 16, 63, 64}

func TestParityKNN(t *testing.T) {
	run := paritytest.Start(t, "KNN")
	g := newGuard(t, 4*(3000+neighbours.BlockLen))
	for round := range paritytest.Rounds(40) {
		most := []int{40, 300, 3000}[round%3]
		for i := range paritytest.Families {
			s := paritytest.Families[i].Draw(run, most, 1+run.IntN(maxQueries))
			c := newKNNCase(run, s)
			for _, k := range ks {
				c.form(run, s, run.IntN(32), k)
				c.answer()
				for _, level := range native.Levels() {
					c.compare(run, g, level, paritytest.Sides[run.IntN(2)])
				}
			}
		}
	}
}

// Points that come nearer and nearer as they stand in memory, or all at the same
// distance, fill the candidates again and again.
func TestParityKNNManyCandidates(t *testing.T) {
	paritytest.SkipSerialUnderRace(t)
	run := paritytest.Start(t, "KNN, many candidates")
	each := 1
	if paritytest.Instrumented || testing.Short() {
		each = 9 // a fifth of the forms
	}
	g := newGuard(t, 4*(5000+neighbours.BlockLen))
	for _, at := range []func(i int) float32{
		func(i int) float32 { return float32(5000 - i) },
		func(int) float32 { return 7 },
		func(i int) float32 { return float32(i % 3) },
		func(i int) float32 { return float32(1e30) * float32(i%7) },
		func(i int) float32 { return float32(uint64(i)*2654435761>>16&0xffff) / 16 },
	} {
		s := &paritytest.Scene{Name: "many", Scale: 1}
		for i := range uint32(5000) {
			s.X, s.Y, s.Z = append(s.X, at(int(i))), append(s.Y, 0), append(s.Z, 0)
			s.Slots = append(s.Slots, i)
		}
		run.Shuffle(len(s.X), func(i, j int) { // not the slots, which ascend within a cell
			if i%2 == 0 {
				s.X[i], s.X[j] = s.X[j], s.X[i]
			}
		})
		s.QueryX, s.QueryY, s.QueryZ = []float32{-10, 0, 3, 1e30, -1e20}, make([]float32, 5), make([]float32, 5)
		s.Radius, s.Exclude = []float32{1e4, 1e4, 2, 1e38, 3e20}, []uint32{1, 2, 3, native.NoSlot, 0}
		c := newKNNCase(run, s)
		c.points.Limit = 5000
		for _, k := range ks {
			for form := 0; form < 32; form += 1 + run.IntN(each) {
				c.form(run, s, form, k)
				c.answer()
				for _, level := range native.Levels() {
					c.compare(run, g, level, paritytest.Sides[form/4%2])
				}
			}
		}
	}
}

func TestKNNMisuse(t *testing.T) {
	type args struct {
		g           neighbours.Grid
		p           neighbours.Points
		q           neighbours.NearestQueries
		ends, slots []uint32
		d2          []float32
	}
	const unequal, short = "neighbours: KNN: NearestQueries differ in length", "neighbours: KNN: ends, slots or dist2 is too short"
	for _, c := range []struct {
		want string
		do   func(a *args)
	}{
		{"neighbours: Points.Start does not fit the grid", func(a *args) { a.g.N[1] = 2 }},
		{"neighbours: Points.Blocks is too short", func(a *args) { a.p.Blocks = nil }},
		{"neighbours: Points.Category is too short", func(a *args) { a.p.Category = make([]uint32, 15) }},
		{unequal, func(a *args) { a.q.Y = nil }},
		{unequal, func(a *args) { a.q.Z = make([]float32, 2) }},
		{unequal, func(a *args) { a.q.Radius = []float32{} }},
		{unequal, func(a *args) { a.q.Exclude = []uint32{} }},
		{unequal, func(a *args) { a.q.Mask = []uint32{} }},
		{"neighbours: KNN: NearestQueries.Live is too short", func(a *args) { a.q.Live = []uint16{} }},
		{"neighbours: KNN: NearestQueries.K is out of range", func(a *args) { a.q.K = 0 }},
		{"neighbours: KNN: NearestQueries.K is out of range", func(a *args) { a.q.K = 65 }},
		{short, func(a *args) { a.ends = nil }},
		{short, func(a *args) { a.slots = a.slots[:2] }},
		{short, func(a *args) { a.d2 = a.d2[:2] }},
		{"neighbours: KNN: Points.Start does not ascend", func(a *args) {
			a.g.N, a.p.Start = [3]int32{1, 3, 1}, []uint32{0, 5, 0, 1}
		}},
	} {
		for _, level := range native.Levels() {
			a := &args{
				g:    neighbours.Grid{Inv: [3]float32{1, 1, 1}, N: [3]int32{1, 1, 1}},
				p:    neighbours.Points{Start: []uint32{0, 1}, Blocks: make([]neighbours.Block, 1), Limit: 1},
				q:    neighbours.NearestQueries{X: []float32{0}, Y: []float32{1.5}, Z: []float32{0}, K: 3, Radius: []float32{0.1}},
				ends: make([]uint32, 1), slots: make([]uint32, 3), d2: make([]float32, 3),
			}
			c.do(a)
			expectPanic(t, c.want, func() { neighbours.KNN(level, &a.g, &a.p, &a.q, a.ends, a.slots, a.d2) })
		}
	}
}

// A query from outside the points looks at the rows near it, not at all of them.
func TestKNNFromOutsideLooksAtFew(t *testing.T) {
	const n, edge, cell = 1 << 17, 50, 1.25
	run := paritytest.Start(t, "KNN from outside")
	column := func() []float32 {
		c := make([]float32, n)
		for i := range c {
			c[i] = float32(run.Float32() * edge)
		}
		return c
	}
	x, y, z, slots := column(), column(), column(), make([]uint32, n)
	for i := range slots {
		slots[i] = uint32(i)
	}
	g := neighbours.Grid{Inv: [3]float32{4 / cell, 1 / cell, 1 / cell}, N: [3]int32{160, 40, 40}}
	p := &neighbours.Points{Start: make([]uint32, 160*40*40+1), Blocks: make([]neighbours.Block, n/neighbours.BlockLen), Limit: n}
	neighbours.Build(native.Levels()[0], &g, x, y, z, slots, p, make([]uint32, n))
	q := &neighbours.NearestQueries{K: 8, Box: &[2][3]float32{{}, {edge, edge, edge}}}
	for _, far := range []float32{0.02, 0.3, 1, 10, 100} { // from the box, in edges
		for _, d := range [][3]float32{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}, {1, 1, 1}, {-1, 0.2, 0.1}, {-1, -2, -0.5}, {0, -0.7, 1}} {
			at := func(a int) float32 { return edge * (0.5 + float32(d[a]*(far+0.5))) }
			q.X, q.Y, q.Z = append(q.X, at(0)), append(q.Y, at(1)), append(q.Z, at(2))
		}
	}
	for i, work := range neighbours.KNNWork(&g, p, q) {
		if all := n / neighbours.BlockLen; work > all/4 {
			t.Errorf("from (%g, %g, %g): %d rows and blocks, and all are %d", q.X[i], q.Y[i], q.Z[i], work, all)
		}
	}
}
