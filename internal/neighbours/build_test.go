package neighbours_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/evertick/evertick/internal/neighbours"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

// buildCase is a point set, and what Measure and Build must make of it.
type buildCase struct {
	name    string
	x, y, z []float32 // by slot; NaN where there is no point
	slots   []uint32
	grid    neighbours.Grid

	bad    int
	lo, hi [3]float32
	start  []uint32
	blocks []neighbours.Block
}

// answer measures, and sorts the points by cell and slot. It does not use
// counting. A bad case has no answer to Build.
func (c *buildCase) answer() {
	c.bad = -1
	for i := len(c.slots) - 1; i >= 0; i-- {
		if s := c.slots[i]; c.badSlot(i) || !isFinite(c.x[s]) || !isFinite(c.y[s]) || !isFinite(c.z[s]) {
			c.bad = i
		}
	}
	c.lo, c.hi = [3]float32{}, [3]float32{}
	if c.bad < 0 && len(c.slots) > 0 {
		for a, column := range [][]float32{c.x, c.y, c.z} {
			live := make([]float32, len(c.slots))
			for i, s := range c.slots {
				live[i] = column[s]
			}
			c.lo[a], c.hi[a] = slices.Min(live)+0, slices.Max(live)+0
		}
	}
}

func (c *buildCase) answerBuild() {
	g := &c.grid
	cells := int(g.N[0]) * int(g.N[1]) * int(g.N[2])
	cell := func(s uint32) uint32 { return g.Number(c.x[s], c.y[s], c.z[s]) }
	order := slices.Clone(c.slots)
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Or(cmp.Compare(cell(a), cell(b)), cmp.Compare(a, b)) })
	c.start = make([]uint32, cells+1)
	for i := range c.start {
		at, _ := slices.BinarySearchFunc(order, uint32(i), func(s, i uint32) int { return cmp.Compare(cell(s), i) })
		c.start[i] = uint32(at)
	}
	c.blocks = make([]neighbours.Block, (len(order)+neighbours.BlockLen-1)/neighbours.BlockLen)
	for at, s := range order {
		b, lane := &c.blocks[at/neighbours.BlockLen], at%neighbours.BlockLen
		b.X[lane], b.Y[lane], b.Z[lane], b.Slot[lane] = c.x[s], c.y[s], c.z[s], s
	}
}

func (c *buildCase) badSlot(i int) bool {
	s := c.slots[i]
	return i > 0 && s <= c.slots[i-1] || int64(s) >= int64(len(c.x)) || s >= native.MaxSlots
}

func (c *buildCase) hasBadSlot() bool {
	for i := range c.slots {
		if c.badSlot(i) {
			return true
		}
	}
	return false
}

func isFinite(v float32) bool { return !math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0) }

// slotPatterns are the ways in which n slots may lie.
var slotPatterns = []struct {
	name string
	gap  func(run *paritytest.Run, i int) bool
}{
	{"run", func(*paritytest.Run, int) bool { return false }},
	{"later run", func(_ *paritytest.Run, i int) bool { return i == 0 }},
	{"few gaps", func(run *paritytest.Run, _ int) bool { return run.IntN(40) == 0 }},
	{"many gaps", func(run *paritytest.Run, _ int) bool { return run.IntN(3) == 0 }},
	{"no neighbours", func(*paritytest.Run, int) bool { return true }},
}

// newBuildCase lays points out over slots of a pattern.
func newBuildCase(run *paritytest.Run, name string, pattern int, points [][3]float32, g neighbours.Grid) *buildCase {
	p := slotPatterns[pattern]
	c := &buildCase{name: fmt.Sprintf("%s, %d points, %s", name, len(points), p.name), grid: g}
	next := uint32(0)
	for i := range points {
		if p.gap(run, i) {
			next += 1 + run.Uint32N(20)
		}
		c.slots = append(c.slots, next)
		next++
	}
	column := func(axis int) []float32 {
		all := slices.Repeat([]float32{float32(math.NaN())}, int(next))
		for i, s := range c.slots {
			all[s] = points[i][axis]
		}
		return all
	}
	c.x, c.y, c.z = column(0), column(1), column(2)
	return c
}

const maxBuild = 320

// buildBuffers hold every array that a kernel sees against guard pages.
type buildBuffers struct {
	x, y, z                      *paritytest.Buffer[float32]
	slots, start, blocks, cellOf *paritytest.Buffer[uint32]

	t       *testing.T
	builder neighbours.Builder // serves all cases
	pools   []*native.Pool
}

func newBuildBuffers(t *testing.T) *buildBuffers {
	floats := func() *paritytest.Buffer[float32] { return paritytest.NewBuffer[float32](t, 22*maxBuild) }
	words := func(n int) *paritytest.Buffer[uint32] { return paritytest.NewBuffer[uint32](t, n) }
	return &buildBuffers{
		t: t, x: floats(), y: floats(), z: floats(),
		slots: words(maxBuild), start: words(maxCells + 1), blocks: words(64 * (maxBuild/16 + 1)), cellOf: words(maxBuild),
		pools: []*native.Pool{native.NewPool(1), native.NewPool(2), native.NewPool(3), native.NewPool(7)},
	}
}

func (b *buildBuffers) check() error {
	return cmp.Or(b.x.Check(), b.y.Check(), b.z.Check(), b.slots.Check(), b.start.Check(), b.blocks.Check(), b.cellOf.Check())
}

// placed are a case's arguments in guarded memory.
type placed struct {
	x, y, z       []float32
	slots, cellOf []uint32
	points        neighbours.Points
}

func (b *buildBuffers) place(c *buildCase, side paritytest.Side, gap int) *placed {
	words := int(unsafe.Sizeof(neighbours.Block{}) / 4)
	blocks := (len(c.slots) + neighbours.BlockLen - 1) / neighbours.BlockLen
	mem := b.blocks.Place(blocks*words, side, gap)
	return &placed{
		b.x.PlaceCopy(c.x, side, gap), b.y.PlaceCopy(c.y, side, gap), b.z.PlaceCopy(c.z, side, gap),
		b.slots.PlaceCopy(c.slots, side, gap), b.cellOf.Place(len(c.slots), side, gap),
		neighbours.Points{
			Start:  b.start.Place(int(c.grid.N[0]*c.grid.N[1]*c.grid.N[2])+1, side, gap),
			Blocks: unsafe.Slice((*neighbours.Block)(unsafe.Pointer(unsafe.SliceData(mem))), blocks),
		},
	}
}

// unchanged returns an error if an input was written to.
func (p *placed) unchanged(c *buildCase) error {
	return cmp.Or(paritytest.Bits(c.name+": input x", p.x, c.x), paritytest.Bits(c.name+": input y", p.y, c.y),
		paritytest.Bits(c.name+": input z", p.z, c.z), paritytest.Bits(c.name+": input slots", p.slots, c.slots))
}

// compare runs Measure and Build, and the kernels beneath them, on every level.
func (b *buildBuffers) compare(run *paritytest.Run, c *buildCase) {
	c.answer()
	c.answerBuild()
	for _, level := range native.Levels() {
		for _, side := range paritytest.Sides {
			run.Case(level)
			p := b.place(c, side, run.IntN(paritytest.MaxGap+1))
			lo, hi, bad := neighbours.Measure(level, p.x, p.y, p.z, p.slots)
			run.Check(c.sameBox(lo, hi, bad), p.unchanged(c), b.check())
			if len(c.slots) > 0 {
				lo, hi, ok := neighbours.MeasureKernel(level, p.x, p.y, p.z, p.slots)
				if ok != (c.bad < 0) {
					run.Check(fmt.Errorf("%s: the kernel of Measure returns %t, want %t", c.name, ok, !ok))
				} else if ok {
					run.Check(c.sameBox(lo, hi, -1))
				}
				run.Check(p.unchanged(c), b.check())
			}
			neighbours.Build(level, &c.grid, p.x, p.y, p.z, p.slots, &p.points, p.cellOf)
			run.Check(c.samePoints(&p.points), p.unchanged(c), b.check())
			p = b.place(c, side, run.IntN(paritytest.MaxGap+1))
			if !neighbours.BuildKernel(level, &c.grid, p.x, p.y, p.z, p.slots, &p.points, p.cellOf) {
				run.Check(fmt.Errorf("%s: the kernel of Build refuses the slots", c.name))
			}
			run.Check(c.samePoints(&p.points), p.unchanged(c), b.check())
			p = b.place(c, side, run.IntN(paritytest.MaxGap+1))
			pool := b.pools[run.IntN(len(b.pools))]
			run.Check(b.builder.Build(pool, level, &c.grid, p.x, p.y, p.z, p.slots, &p.points, p.cellOf),
				c.samePoints(&p.points), p.unchanged(c), b.check())
		}
	}
}

func (c *buildCase) sameBox(lo, hi [3]float32, bad int) error {
	if bad != c.bad {
		return fmt.Errorf("%s: bad is %d, want %d", c.name, bad, c.bad)
	}
	return cmp.Or(paritytest.Bits(c.name+": lo", lo[:], c.lo[:]), paritytest.Bits(c.name+": hi", hi[:], c.hi[:]))
}

func (c *buildCase) samePoints(p *neighbours.Points) error {
	return cmp.Or(paritytest.Bits(c.name+": Start", p.Start, c.start), paritytest.Bits(c.name+": Blocks", blockWords(p.Blocks), blockWords(c.blocks)))
}

func blockWords(blocks []neighbours.Block) []uint32 {
	if len(blocks) == 0 {
		return nil
	}
	return unsafe.Slice((*uint32)(unsafe.Pointer(&blocks[0])), len(blocks)*int(unsafe.Sizeof(blocks[0])/4))
}

func TestParityBuild(t *testing.T) {
	run := paritytest.Start(t, "Build")
	b := newBuildBuffers(t)
	for range paritytest.Rounds(30) {
		for i := range paritytest.Families {
			s := paritytest.Families[i].Draw(run, maxBuild, 0)
			points := make([][3]float32, len(s.X))
			for i := range points {
				points[i] = [3]float32{s.X[i], s.Y[i], s.Z[i]}
			}
			b.compare(run, newBuildCase(run, s.Name, run.IntN(len(slotPatterns)), points, anyGrid(run, s)))
		}
	}
}

// Every length up to three of the widest vectors and one, of slots of every
// pattern, with coordinates of every kind: Measure must find what is not finite,
// and Build take it.
func TestParityBuildLengths(t *testing.T) {
	run := paritytest.Start(t, "Build, lengths")
	b := newBuildBuffers(t)
	classes := [][]paritytest.Class{{paritytest.Uniform}, {paritytest.Zero}, paritytest.Finite, paritytest.AllClasses}
	for range paritytest.Rounds(10) {
		for n := range 50 {
			for pattern := range slotPatterns {
				class := classes[run.IntN(len(classes))]
				points := make([][3]float32, n)
				for i := range points {
					for a := range 3 {
						points[i][a] = run.Float(class[run.IntN(len(class))])
					}
				}
				b.compare(run, newBuildCase(run, "numbers", pattern, points, oddGrid(run)))
			}
		}
	}
}

// oddGrid lies anywhere, with cells of any size.
func oddGrid(run *paritytest.Run) neighbours.Grid {
	g := neighbours.Grid{}
	for a := range 3 {
		g.N[a] = 1 + run.Int32N(9)
		g.Min[a] = run.Float(paritytest.Finite[run.IntN(len(paritytest.Finite))])
		g.Inv[a] = max(math.SmallestNonzeroFloat32, float32(math.Abs(float64(run.Float(paritytest.Finite[run.IntN(len(paritytest.Finite))])))))
	}
	if run.IntN(2) == 0 {
		withTails(run, &g)
	}
	return g
}

// A cell is as Grid.Cell says next to each border, along an axis of any length.
// From 1<<17 cells on the kernels look ahead in cellOf.
func TestParityBuildBorders(t *testing.T) {
	run := paritytest.Start(t, "Build, borders")
	cellOf := paritytest.NewBuffer[uint32](t, 100)
	for _, n := range []int32{1, 2, 3, 1 << 17, 1<<24 - 1, 1 << 24} {
		if n > 1<<17 && (testing.Short() || paritytest.Instrumented) {
			continue
		}
		g := neighbours.Grid{Min: [3]float32{-3, -3, -3}, Inv: [3]float32{0.7, 0.7, 0.7}, N: [3]int32{1, 1, 1}}
		axis := run.IntN(3)
		g.N[axis] = n
		c := &buildCase{name: fmt.Sprintf("%d cells along axis %d", n, axis), grid: g}
		columns := [3][]float32{}
		for range 100 {
			cell := run.Int32N(n + 1)
			at := unordered(ordered(float32(float64(cell)/float64(g.Inv[axis])-3)) + int64(run.IntN(7)-3))
			c.slots = append(c.slots, uint32(len(c.slots)))
			for a := range columns {
				columns[a] = append(columns[a], at)
			}
		}
		c.x, c.y, c.z = columns[0], columns[1], columns[2]
		c.answerBuild()
		for _, level := range native.Levels() {
			run.Case(level)
			p := neighbours.Points{Start: make([]uint32, len(c.start)), Blocks: make([]neighbours.Block, len(c.blocks))}
			neighbours.Build(level, &c.grid, c.x, c.y, c.z, c.slots, &p, cellOf.Place(len(c.slots), paritytest.After, 0))
			run.Check(c.samePoints(&p), cellOf.Check())
		}
	}
}

// faults are what can be wrong at an index of slots; the first notFinite of them
// are the coordinates.
const notFinite = 6

var faults = []struct {
	name string
	do   func(c *buildCase, i int)
}{
	{"NaN in x", func(c *buildCase, i int) { c.x[c.slots[i]] = float32(math.NaN()) }},
	{"+Inf in x", func(c *buildCase, i int) { c.x[c.slots[i]] = float32(math.Inf(1)) }},
	{"-Inf in y", func(c *buildCase, i int) { c.y[c.slots[i]] = float32(math.Inf(-1)) }},
	{"NaN in y", func(c *buildCase, i int) { c.y[c.slots[i]] = float32(math.NaN()) }},
	{"NaN in z", func(c *buildCase, i int) { c.z[c.slots[i]] = float32(math.NaN()) }},
	{"+Inf in z", func(c *buildCase, i int) { c.z[c.slots[i]] = float32(math.Inf(1)) }},
	{"a slot beyond the columns", func(c *buildCase, i int) { c.slots[i] = uint32(len(c.x)) }},
	{"a slot far beyond", func(c *buildCase, i int) { c.slots[i] = 1<<32 - 1 - uint32(i%16) }},
	{"slots that wrap", func(c *buildCase, i int) {
		for j := range c.slots[i:] {
			c.slots[i+j] = uint32(j) - 4
		}
	}},
	{"a slot twice", func(c *buildCase, i int) { c.slots[max(i, 1)] = c.slots[max(i, 1)-1] }},
	{"a slot below", func(c *buildCase, i int) { c.slots[i] = c.slots[max(i-2, 0)] - 1 }},
	{"a run from the start", func(c *buildCase, i int) {
		for j := range c.slots[i:] {
			c.slots[i+j] = uint32(j)
		}
		if i == 0 {
			c.slots[0] = 1 << 31
		}
	}},
}

func TestParityBuildFaults(t *testing.T) {
	run := paritytest.Start(t, "Build, faults")
	b := newBuildBuffers(t)
	for range paritytest.Rounds(10) {
		for _, n := range []int{2, 3, 15, 16, 17, 31, 32, 33, 48, 49, 100} {
			points := make([][3]float32, n)
			for pattern := range slotPatterns {
				for _, fault := range faults {
					c := newBuildCase(run, fault.name, pattern, points, oddGrid(run))
					fault.do(c, run.IntN(n))
					if at := run.IntN(2 * n); at < n && int64(c.slots[at]) < int64(len(c.x)) {
						faults[run.IntN(notFinite)].do(c, at) // the first of the two counts
					}
					b.refuse(run, c)
				}
			}
		}
	}
}

// refuse runs a case with a fault.
func (b *buildBuffers) refuse(run *paritytest.Run, c *buildCase) {
	refused := c.hasBadSlot()
	if c.answer(); c.bad < 0 {
		run.Check(fmt.Errorf("%s: not a fault", c.name))
	}
	for _, level := range native.Levels() {
		for _, side := range paritytest.Sides {
			run.Case(level)
			p := b.place(c, side, run.IntN(paritytest.MaxGap+1))
			lo, hi, bad := neighbours.Measure(level, p.x, p.y, p.z, p.slots)
			run.Check(c.sameBox(lo, hi, bad))
			if _, _, ok := neighbours.MeasureKernel(level, p.x, p.y, p.z, p.slots); ok {
				run.Check(fmt.Errorf("%s: the kernel of Measure is content", c.name))
			}
			if neighbours.BuildKernel(level, &c.grid, p.x, p.y, p.z, p.slots, &p.points, p.cellOf) == refused {
				run.Check(fmt.Errorf("%s: the kernel of Build returns %t", c.name, refused))
			}
			run.Check(p.unchanged(c), b.check())
			if refused {
				expectPanic(b.t, "neighbours: Build: the slots do not ascend, or one has no point", func() {
					pool := b.pools[run.IntN(len(b.pools))]
					_ = b.builder.Build(pool, level, &c.grid, p.x, p.y, p.z, p.slots, &p.points, p.cellOf)
				})
				run.Check(p.unchanged(c), b.check())
			}
		}
	}
}

// The last possible slot, in a run and alone; the one behind it is refused.
func TestParityBuildLastSlot(t *testing.T) {
	run := paritytest.Start(t, "Build, last slot")
	column := make([]float32, native.MaxSlots+16)
	for i := range column[native.MaxSlots-40:] {
		column[native.MaxSlots-40+i] = float32(i)
	}
	const last = native.MaxSlots - 1
	for _, first := range []uint32{last, last - 15, last - 16, last - 33} {
		c := &buildCase{name: "last slots", x: column, y: column, z: column, grid: neighbours.Grid{Inv: [3]float32{0.1, 1, 1}, N: [3]int32{4, 1, 2}}}
		for s := first; s <= last; s++ {
			c.slots = append(c.slots, s)
		}
		for range 17 {
			c.answer()
			for _, level := range native.Levels() {
				run.Case(level)
				lo, hi, bad := neighbours.Measure(level, column, column, column, c.slots)
				run.Check(c.sameBox(lo, hi, bad))
				p := neighbours.Points{Start: make([]uint32, 9), Blocks: make([]neighbours.Block, (len(c.slots)+15)/16)}
				if ok := neighbours.BuildKernel(level, &c.grid, column, column, column, c.slots, &p, make([]uint32, len(c.slots))); ok != (c.bad < 0) {
					run.Check(fmt.Errorf("%d slots to %d: the kernel of Build returns %t", len(c.slots), c.slots[len(c.slots)-1], ok))
				} else if ok {
					c.answerBuild()
					run.Check(c.samePoints(&p))
				}
			}
			c.slots = append(c.slots, c.slots[len(c.slots)-1]+1)
		}
	}
}

func TestBuildMisuse(t *testing.T) {
	two, three, slots := make([]float32, 2), make([]float32, 3), []uint32{0, 1}
	g := &neighbours.Grid{Inv: [3]float32{1, 1, 1}, N: [3]int32{1, 1, 1}}
	points := func(start, blocks int) *neighbours.Points {
		return &neighbours.Points{Start: make([]uint32, start), Blocks: make([]neighbours.Block, blocks)}
	}
	for _, level := range native.Levels() {
		for _, c := range []struct {
			want string
			do   func()
		}{
			{"neighbours: Measure: x, y and z differ in length", func() { neighbours.Measure(level, two, three, two, slots) }},
			{"neighbours: Measure: x, y and z differ in length", func() { neighbours.Measure(level, two, two, three, nil) }},
			{"neighbours: Build: x, y and z differ in length", func() { neighbours.Build(level, g, two, three, two, slots, points(2, 1), slots) }},
			{"neighbours: Build: Points.Start does not fit the grid", func() { neighbours.Build(level, g, two, two, two, slots, points(3, 1), slots) }},
			{"neighbours: Build: Points.Start does not fit the grid", func() { neighbours.Build(level, g, two, two, two, slots, points(0, 1), slots) }},
			{"neighbours: Build: Points.Blocks does not fit the slots", func() { neighbours.Build(level, g, two, two, two, slots, points(2, 2), slots) }},
			{"neighbours: Build: Points.Blocks does not fit the slots", func() { neighbours.Build(level, g, two, two, two, slots, points(2, 0), slots) }},
			{"neighbours: Build: cellOf is too short", func() { neighbours.Build(level, g, two, two, two, slots, points(2, 1), slots[:1]) }},
			{"neighbours: Build: the slots do not ascend, or one has no point", func() {
				neighbours.Build(level, g, two, two, two, []uint32{1, 2}, points(2, 1), make([]uint32, 2))
			}},
			{"neighbours: Build: the slots do not ascend, or one has no point", func() {
				neighbours.Build(level, g, make([]float32, 99), make([]float32, 99), make([]float32, 99), make([]uint32, 99), points(2, 7), make([]uint32, 99))
			}},
		} {
			expectPanic(t, c.want, c.do)
		}
	}
	const refused = "neighbours: the level cannot run here; see native.Resolve"
	expectPanic(t, refused, func() { neighbours.Measure(native.Level(99), nil, nil, nil, nil) })
	expectPanic(t, refused, func() { neighbours.Build(native.Level(99), g, two, two, two, slots, points(2, 1), slots) })
}
