package native_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/native/paritytest"
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
	grid    native.Grid
	points  native.Points
	queries native.Queries

	bySlot, dist2 bool
	want          native.Rows
}

// newRadiusCase sorts a scene into a grid that need not suit it: too small,
// elsewhere, with cells of any size.
func newRadiusCase(run *paritytest.Run, s *paritytest.Scene) *radiusCase {
	c := &radiusCase{name: s.Name, grid: anyGrid(run, s)}
	g := &c.grid
	cell := func(i int) int {
		return int((g.Cell(2, s.Z[i])*g.N[1]+g.Cell(1, s.Y[i]))*g.N[0] + g.Cell(0, s.X[i]))
	}
	places := make([]int, len(s.X))
	start := make([]uint32, g.N[0]*g.N[1]*g.N[2]+1)
	for i := range places {
		places[i] = i
		for c := cell(i) + 1; c < len(start); c++ {
			start[c]++
		}
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(cell(a), cell(b)) })
	p := &c.points
	p.Start, p.Limit = start, s.Limit()
	p.Blocks = make([]native.Block, (len(places)+native.BlockLen-1)/native.BlockLen)
	for at, i := range places {
		b, lane := &p.Blocks[at/native.BlockLen], at%native.BlockLen
		b.X[lane], b.Y[lane], b.Z[lane], b.Slot[lane] = s.X[i], s.Y[i], s.Z[i], s.Slots[i]
	}
	c.queries = native.Queries{X: s.QueryX, Y: s.QueryY, Z: s.QueryZ, Radius: s.Radius}
	return c
}

func anyGrid(run *paritytest.Run, s *paritytest.Scene) native.Grid {
	g := native.Grid{}
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
	return g
}

// answer fills in want: every point is tested, and no cell is looked at.
func (c *radiusCase) answer() {
	q, p, w := &c.queries, &c.points, &c.want
	*w = native.Rows{Ends: []uint32{}, Slots: []uint32{}, Dist2: []float32{}}
	for i := range q.X {
		from := len(w.Slots)
		for at := range p.Len() {
			b, lane := &p.Blocks[at/native.BlockLen], at%native.BlockLen
			slot := b.Slot[lane]
			dx, dy, dz := b.X[lane]-q.X[i], b.Y[lane]-q.Y[i], b.Z[lane]-q.Z[i]
			d2 := float32(float32(dx*dx)+float32(dy*dy)) + float32(dz*dz)
			if d2 <= float32(q.Radius[i]*q.Radius[i]) && (q.Exclude == nil || q.Exclude[i] != slot) {
				w.Slots, w.Dist2 = append(w.Slots, slot), append(w.Dist2, d2)
			}
		}
		if c.bySlot {
			sortRow(w.Slots[from:], w.Dist2[from:])
		}
		w.Ends = append(w.Ends, uint32(len(w.Slots)))
	}
	if !c.dist2 {
		w.Dist2 = nil
	}
}

// sortRow is an insertion sort by slot.
func sortRow(slots []uint32, dist2 []float32) {
	for i := range slots {
		for j := i; j > 0 && slots[j-1] > slots[j]; j-- {
			slots[j-1], slots[j] = slots[j], slots[j-1]
			dist2[j-1], dist2[j] = dist2[j], dist2[j-1]
		}
	}
}

// radiusBuffers hold every array that a kernel sees against guard pages.
type radiusBuffers struct {
	floats map[string]*paritytest.Buffer[float32]
	words  map[string]*paritytest.Buffer[uint32]
	marks  *paritytest.Buffer[uint64]
}

func newRadiusBuffers(t *testing.T, limit int) *radiusBuffers {
	b := &radiusBuffers{
		floats: map[string]*paritytest.Buffer[float32]{},
		words:  map[string]*paritytest.Buffer[uint32]{},
		marks:  paritytest.NewBuffer[uint64](t, native.MarksLen(limit)),
	}
	const room = maxQueries*maxPoints + maxPoints + native.Pad
	for name, n := range map[string]int{"blocks": 4 * (maxPoints + native.BlockLen),
		"qx": maxQueries, "qy": maxQueries, "qz": maxQueries, "radius": maxQueries, "dist2": 2 * room, "dist2OfSlot": limit} {
		b.floats[name] = paritytest.NewBuffer[float32](t, n)
	}
	for name, n := range map[string]int{"start": maxCells + 1,
		"exclude": maxQueries, "ends": maxQueries, "out": 2 * room} {
		b.words[name] = paritytest.NewBuffer[uint32](t, n)
	}
	return b
}

func (b *radiusBuffers) check() error {
	for name, buf := range b.floats {
		if err := buf.Check(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for name, buf := range b.words {
		if err := buf.Check(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := b.marks.Check(); err != nil {
		return fmt.Errorf("marks: %w", err)
	}
	return nil
}

// blocks returns a guarded copy of blocks, at any multiple of four bytes.
func (b *radiusBuffers) blocks(of []native.Block, side paritytest.Side, gap int) []native.Block {
	const floats = int(unsafe.Sizeof(native.Block{}) / 4)
	mem := b.floats["blocks"].Place(len(of)*floats, side, gap)
	placed := unsafe.Slice((*native.Block)(unsafe.Pointer(unsafe.SliceData(mem))), len(of))
	copy(placed, of)
	return placed
}

// guarded returns the case's arguments in guarded memory.
func (b *radiusBuffers) guarded(c *radiusCase, side paritytest.Side, gap int) (*native.Points, *native.Queries) {
	p := &native.Points{
		Start: b.words["start"].PlaceCopy(c.points.Start, side, gap),
		Limit: c.points.Limit, Blocks: b.blocks(c.points.Blocks, side, gap),
	}
	q := &native.Queries{
		X: b.floats["qx"].PlaceCopy(c.queries.X, side, gap), Y: b.floats["qy"].PlaceCopy(c.queries.Y, side, gap),
		Z: b.floats["qz"].PlaceCopy(c.queries.Z, side, gap), Radius: b.floats["radius"].PlaceCopy(c.queries.Radius, side, gap),
	}
	if c.queries.Exclude != nil {
		q.Exclude = b.words["exclude"].PlaceCopy(c.queries.Exclude, side, gap)
	}
	return p, q
}

// unchanged compares the arguments with what they were.
func (c *radiusCase) unchanged(p *native.Points, q *native.Queries) error {
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

// place puts the outputs into guarded memory, with exactly the given room, and
// keeps what they hold up to Fill.
func (b *radiusBuffers) place(c *radiusCase, rows *native.Rows, room int, side paritytest.Side, gap int) {
	slots, dist2 := slices.Clone(rows.Slots[:rows.Fill]), slices.Clone(rows.Dist2[:min(rows.Fill, len(rows.Dist2))])
	rows.Slots = b.words["out"].Place(room, side, gap)
	copy(rows.Slots, slots)
	if c.dist2 {
		rows.Dist2 = b.floats["dist2"].Place(room, side, gap)
		copy(rows.Dist2, dist2)
	}
}

// scratch gives the rows guarded scratch for exactly the slots of the case.
func (b *radiusBuffers) scratch(c *radiusCase, rows *native.Rows, side paritytest.Side) {
	limit := c.points.Limit
	marks := b.marks.Place(native.MarksLen(limit), side, 0)
	clear(marks)
	rows.SetScratch(limit, marks, b.floats["dist2OfSlot"].Place(limit, side, 0))
}

// compare runs the case on one level, beginning with some room and giving more
// whenever the kernel asks for it, and compares the rows with want.
func (c *radiusCase) compare(run *paritytest.Run, b *radiusBuffers, level native.Level, side paritytest.Side) {
	run.Case(level)
	gap := run.IntN(paritytest.MaxGap + 1)
	p, q := b.guarded(c, side, gap)
	rows := &native.Rows{BySlot: c.bySlot}
	b.scratch(c, rows, side)
	enough := c.points.Len() + native.Pad
	room := []int{enough, 0, run.IntN(enough), run.IntN(2 * enough)}[run.IntN(4)]
	b.place(c, rows, room, side, gap)
	ends := b.words["ends"].Place(len(q.X), side, gap)
	for done := 0; done < len(q.X); {
		rest := *q
		rest.X, rest.Y, rest.Z, rest.Radius = q.X[done:], q.Y[done:], q.Z[done:], q.Radius[done:]
		if q.Exclude != nil {
			rest.Exclude = q.Exclude[done:]
		}
		rows.Ends = ends[done:]
		before, room := rows.Fill, len(rows.Slots)
		n := native.Radius(level, &c.grid, p, &rest, rows)
		run.Check(c.progress(n, done, before, room, rows), b.check(), c.unchanged(p, q), allZero(rows.Marks()))
		if done += n; done < len(q.X) {
			b.place(c, rows, max(room, rows.Fill)+1+run.IntN(enough), side, gap)
		}
	}
	run.Check(paritytest.Bits(c.name+": ends", ends, c.want.Ends), paritytest.Bits(c.name+": slots", rows.Slots[:rows.Fill], c.want.Slots))
	if c.dist2 {
		run.Check(paritytest.Bits(c.name+": dist2", rows.Dist2[:rows.Fill], c.want.Dist2))
	}
}

// progress checks how a call of Radius that answered n queries ended.
func (c *radiusCase) progress(n, done, before, room int, rows *native.Rows) error {
	switch {
	case n < 0 || n > len(c.queries.X)-done:
		return fmt.Errorf("%s: %d of %d queries answered", c.name, n, len(c.queries.X)-done)
	case n == 0 && rows.Fill != before:
		return fmt.Errorf("%s: Fill moved from %d to %d without an answer", c.name, before, rows.Fill)
	case n == 0 && room-before >= c.points.Len()+native.Pad:
		return fmt.Errorf("%s: no answer despite room for all points", c.name)
	case n > 0 && rows.Fill != int(c.want.Ends[done+n-1]):
		return fmt.Errorf("%s: Fill is %d after %d queries, want %d", c.name, rows.Fill, done+n, c.want.Ends[done+n-1])
	}
	return nil
}

func hasNaN(b *native.Block) bool { return *b != *b }

func allZero(marks []uint64) error {
	for i, m := range marks {
		if m != 0 {
			return fmt.Errorf("marks[%d] = %x after the call", i, m)
		}
	}
	return nil
}

func TestParityRadius(t *testing.T) {
	run := paritytest.Start(t, "Radius")
	b := newRadiusBuffers(t, 4*maxPoints)
	for range paritytest.Rounds(40) {
		for i := range paritytest.Families {
			s := paritytest.Families[i].Draw(run, maxPoints, 1+run.IntN(maxQueries))
			compareRadius(run, b, newRadiusCase(run, s), s.Exclude)
		}
	}
}

// compareRadius runs a case in every form of the answer on every level.
func compareRadius(run *paritytest.Run, b *radiusBuffers, c *radiusCase, exclude []uint32) {
	for form := range 8 {
		c.bySlot, c.dist2, c.queries.Exclude = form&1 != 0, form&2 != 0, nil
		if form&4 != 0 {
			c.queries.Exclude = exclude
		}
		c.answer()
		for _, level := range native.Levels() {
			for _, side := range paritytest.Sides {
				c.compare(run, b, level, side)
			}
		}
	}
}

// Slots up to the last possible one, which need all of the bitmap.
func TestParityRadiusSparseSlots(t *testing.T) {
	run := paritytest.Start(t, "Radius, sparse slots")
	names := []string{"uniform", "lattice", "duplicates", "clusters"}
	rows := map[native.Level]*native.Rows{}
	for range paritytest.Rounds(10) {
		for _, last := range []uint32{63, 64, 4095, 4096, 1<<18 - 1, 1 << 18, native.MaxSlots - 1} {
			f := familyNamed(t, names[run.IntN(len(names))])
			s := f.Draw(run, min(maxPoints, int(last)/2), maxQueries)
			s.Spread(run, last)
			c := newRadiusCase(run, s)
			c.bySlot, c.dist2, c.queries.Exclude = true, run.IntN(4) > 0, s.Exclude
			c.answer()
			for _, level := range native.Levels() {
				if rows[level] == nil {
					rows[level] = &native.Rows{BySlot: true}
				}
				c.compareReused(run, level, rows[level])
			}
		}
	}
}

// compareReused runs the case with rows, and thereby scratch, that served other
// cases before.
func (c *radiusCase) compareReused(run *paritytest.Run, level native.Level, rows *native.Rows) {
	run.Case(level)
	p := c.points
	rows.Fill, rows.Dist2 = 0, nil
	rows.Ends = make([]uint32, len(c.queries.X))
	rows.Slots = make([]uint32, (len(c.queries.X)+1)*(p.Len()+native.Pad))
	if c.dist2 {
		rows.Dist2 = make([]float32, len(rows.Slots))
	}
	if n := native.Radius(level, &c.grid, &p, &c.queries, rows); n != len(c.queries.X) {
		run.Check(fmt.Errorf("%s: %d of %d queries answered", c.name, n, len(c.queries.X)))
	}
	run.Check(allZero(rows.Marks()), paritytest.Bits(c.name+": ends", rows.Ends, c.want.Ends),
		paritytest.Bits(c.name+": slots", rows.Slots[:rows.Fill], c.want.Slots))
	if c.dist2 {
		run.Check(paritytest.Bits(c.name+": dist2", rows.Dist2[:rows.Fill], c.want.Dist2))
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
	c.bySlot, c.dist2 = true, true
	c.answer()
	p := c.points
	for _, level := range native.Levels() {
		run.Case(level)
		rows := &native.Rows{BySlot: true, Ends: make([]uint32, 5), Slots: make([]uint32, 2000), Dist2: make([]float32, 2000), Fill: 7}
		copy(rows.Slots, []uint32{1, 2, 3, 4, 5, 6, 7})
		copy(rows.Dist2, []float32{1, 2, 3, 4, 5, 6, 7})
		if n := native.Radius(level, &c.grid, &p, &c.queries, rows); n != 5 {
			t.Fatalf("level %s: %d of 5 queries answered", level, n)
		}
		run.Check(paritytest.Bits("slots", rows.Slots[:rows.Fill], append([]uint32{1, 2, 3, 4, 5, 6, 7}, c.want.Slots...)),
			paritytest.Bits("dist2", rows.Dist2[:rows.Fill], append([]float32{1, 2, 3, 4, 5, 6, 7}, c.want.Dist2...)))
	}
}

func TestRadiusMisuse(t *testing.T) {
	type args struct {
		g native.Grid
		p native.Points
		q native.Queries
		r native.Rows
	}
	for _, c := range []struct {
		want string
		do   func(a *args)
	}{
		{"native: Points.Start does not fit the grid", func(a *args) { a.g.N[1] = 2 }},
		{"native: Points.Blocks is too short", func(a *args) { a.p.Blocks = nil }},
		{"native: Points.Start does not fit the grid", func(a *args) { a.g.N = [3]int32{1<<24 + 1, 1, 1}; a.p.Start = make([]uint32, 1<<24+2) }},
		{"native: Points.Start does not fit the grid", func(a *args) { a.g.N = [3]int32{-1, -1, 1} }},
		{"native: Points.Start does not fit the grid", func(a *args) { a.g.N = [3]int32{1 << 22, 1 << 21, 1 << 21} }},
		{"native: Points holds more than MaxSlots points", func(a *args) { a.p.Start[1] = native.MaxSlots + 1 }},
		{"native: Points.Limit is out of range", func(a *args) { a.p.Limit = native.MaxSlots + 1 }},
		{"native: Points.Limit is out of range", func(a *args) { a.p.Limit = 0 }},
		{"native: Points.Limit is out of range", func(a *args) { a.p.Limit = -1000 }},
		{"native: Radius: Queries differ in length", func(a *args) { a.q.Radius = nil }},
		{"native: Radius: Queries differ in length", func(a *args) { a.q.Exclude = []uint32{} }},
		{"native: Radius: Rows differ in length", func(a *args) { a.r.Ends = nil }},
		{"native: Radius: Rows differ in length", func(a *args) { a.r.Dist2 = make([]float32, 3) }},
		{"native: Radius: Rows.Fill or the length of Rows.Slots is out of range", func(a *args) { a.r.Fill = 100 }},
		{"native: Radius: Rows.Fill or the length of Rows.Slots is out of range", func(a *args) { a.r.Fill = -50 }},
	} {
		a := &args{
			g: native.Grid{Inv: [3]float32{1, 1, 1}, N: [3]int32{1, 1, 1}},
			p: native.Points{Start: []uint32{0, 1}, Blocks: make([]native.Block, 1), Limit: 1},
			q: native.Queries{X: []float32{0}, Y: []float32{0}, Z: []float32{0}, Radius: []float32{1}},
			r: native.Rows{Ends: make([]uint32, 1), Slots: make([]uint32, 40)},
		}
		c.do(a)
		for _, level := range native.Levels() {
			expectPanic(t, c.want, func() { native.Radius(level, &a.g, &a.p, &a.q, &a.r) })
		}
	}
}

// A point set that contradicts itself is found by the kernel as it goes; the Go
// kernel runs into a bound instead. Nothing outside the slices is touched.
func TestRadiusContradictions(t *testing.T) {
	for name, spoil := range map[string]func(*native.Points){
		"start beyond the points": func(p *native.Points) { p.Start[1] = 1 << 30 },
		"start descends":          func(p *native.Points) { p.Start[1], p.Start[2] = 4, 3 },
		"slot without a mark":     func(p *native.Points) { p.Blocks[0].Slot[3] = 5000 },
		"huge slot":               func(p *native.Points) { p.Blocks[0].Slot[3] = 1 << 30 },
	} {
		for _, level := range native.Levels() {
			g := native.Grid{Inv: [3]float32{1, 1, 1}, N: [3]int32{3, 1, 1}}
			p := native.Points{Start: []uint32{0, 2, 4, 8}, Blocks: make([]native.Block, 1), Limit: 8}
			for i := range 8 {
				p.Blocks[0].X[i], p.Blocks[0].Slot[i] = 1.5, uint32(7-i)
			}
			spoil(&p)
			q := native.Queries{X: []float32{1.5}, Y: []float32{0}, Z: []float32{0}, Radius: []float32{0.4}}
			r := native.Rows{BySlot: true, Ends: make([]uint32, 1), Slots: make([]uint32, 64), Dist2: make([]float32, 64)}
			expectPanic(t, "native: Points.Start does not ascend, or a slot is not below Points.Limit", func() {
				native.Radius(level, &g, &p, &q, &r)
			})
			// Nothing of it may come back when the caller recovers.
			good := native.Points{Start: []uint32{0, 0, 2, 2}, Blocks: slices.Clone(p.Blocks), Limit: 8}
			good.Blocks[0].Slot[0], good.Blocks[0].Slot[1] = 6, 3
			r.Fill = 0
			r.Slots, r.Dist2 = r.Slots[:20:20], r.Dist2[:20:20]
			if n := native.Radius(level, &g, &good, &q, &r); n != 1 || !slices.Equal(r.Slots[:r.Fill], []uint32{3, 6}) {
				t.Errorf("level %s, after %s: %d answered, row %v", level, name, n, r.Slots[:r.Fill])
			}
		}
	}
}
