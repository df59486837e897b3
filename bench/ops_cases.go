package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/evertick/evertick/internal/stagger"
	"github.com/evertick/evertick/native"
)

// rowCase is an operation on columns.
type rowCase struct {
	name    string
	columns int // that it takes
	moved   int // times that a column is read or written from one end to the other
	// rows of 16 elements that it writes besides, and an index that it takes; they
	// count in moved
	matrices, index bool
	goal            *lapGoal
	run             func(o *native.Ops, a *rowArgs) error
}

// rowArgs are what an operation works on. Numbers stay between -1 and 1 however often
// it is repeated.
type rowArgs struct {
	c        [][]float32
	matrices []float32
	index    []uint32
}

func (a *rowArgs) vec3(k int) native.Vec3 { return native.Vec3{X: a.c[k], Y: a.c[k+1], Z: a.c[k+2]} }
func (a *rowArgs) quat(k int) native.Quat {
	return native.Quat{X: a.c[k], Y: a.c[k+1], Z: a.c[k+2], W: a.c[k+3]}
}

// step is so short that nothing overflows in any number of repetitions.
const step = 1e-7

// The operations that other tables take up by name.
const (
	opCopy      = "Copy"
	opIntegrate = "Integrate"
	opLerp      = "Lerp"
	opMove      = "Move"
	opSum       = "Sum"
	opCompose   = "Compose"
)

var rowCases = []rowCase{
	{name: opCopy, columns: 2, moved: 2, run: func(o *native.Ops, a *rowArgs) error { return o.Copy(a.c[0], a.c[1]) }},
	{name: opIntegrate, columns: 2, moved: 3, run: func(o *native.Ops, a *rowArgs) error { return o.Integrate(a.c[0], a.c[1], step) }},
	{name: "Integrate x, y, z", columns: 6, moved: 9, goal: &lapGoal{0.25, "flecs", 0.26}, run: func(o *native.Ops, a *rowArgs) error {
		for axis := range 3 {
			if err := o.Integrate(a.c[axis], a.c[3+axis], step); err != nil {
				return err
			}
		}
		return nil
	}},
	{name: "Scale", columns: 1, moved: 2, run: func(o *native.Ops, a *rowArgs) error { return o.Scale(a.c[0], 1) }},
	{name: "Damp", columns: 2, moved: 3, run: func(o *native.Ops, a *rowArgs) error { return o.Damp(a.c[0], a.c[1], step) }},
	{name: "Clamp", columns: 1, moved: 2, run: func(o *native.Ops, a *rowArgs) error { return o.Clamp(a.c[0], -0.5, 0.5) }},
	{name: "Wrap", columns: 1, moved: 2, run: func(o *native.Ops, a *rowArgs) error { return o.Wrap(a.c[0], -0.5, 0.5) }},
	{name: "ClampLength", columns: 3, moved: 6, run: func(o *native.Ops, a *rowArgs) error { return o.ClampLength(a.vec3(0), 0.5) }},
	{name: opLerp, columns: 3, moved: 3, run: func(o *native.Ops, a *rowArgs) error {
		return o.Lerp(a.c[0], a.c[1], a.c[2], 0.25, nil)
	}},
	{name: "Nlerp", columns: 12, moved: 12, run: func(o *native.Ops, a *rowArgs) error {
		return o.Nlerp(a.quat(0), a.quat(4), a.quat(8), 0.25, nil)
	}},
	{name: "Dist2", columns: 4, moved: 4, run: func(o *native.Ops, a *rowArgs) error { return o.Dist2(a.c[0], a.vec3(1), 0, 0, 0) }},
	{name: "NormalizeQuat", columns: 4, moved: 8, run: func(o *native.Ops, a *rowArgs) error { return o.NormalizeQuat(a.quat(0)) }},
	{name: "IntegrateQuat", columns: 7, moved: 11, run: func(o *native.Ops, a *rowArgs) error {
		return o.IntegrateQuat(a.quat(0), a.vec3(4), step)
	}},
	{name: opMove, columns: 16, moved: 26, run: func(o *native.Ops, a *rowArgs) error {
		m := native.Motion{Pos: a.vec3(0), Vel: a.vec3(3), Acc: a.vec3(6), Rot: a.quat(9), Ang: a.vec3(13)}
		return o.Move(&m, step)
	}},
	{name: opCompose, columns: 10, moved: 26, matrices: true, run: func(o *native.Ops, a *rowArgs) error {
		return o.Compose(a.matrices, native.ColumnMajor, a.vec3(0), a.quat(3), a.vec3(7))
	}},
	{name: "Bounds", columns: 3, moved: 3, run: func(o *native.Ops, a *rowArgs) error {
		_, _, err := o.Bounds(a.c[0], a.c[1], a.c[2])
		return err
	}},
	{name: opSum, columns: 1, moved: 1, run: func(o *native.Ops, a *rowArgs) error {
		_, err := o.Sum(a.c[0])
		return err
	}},
	{name: "FirstNotFinite", columns: 1, moved: 1, run: func(o *native.Ops, a *rowArgs) error {
		_, err := o.FirstNotFinite(a.c[0])
		return err
	}},
	{name: "Fill", columns: 1, moved: 1, run: func(o *native.Ops, a *rowArgs) error { return o.Fill(a.c[0], 0.5) }},
	{name: "Gather", columns: 2, moved: 3, index: true, run: func(o *native.Ops, a *rowArgs) error {
		return o.Gather(a.c[0], a.c[1], a.index)
	}},
	{name: "Scatter", columns: 2, moved: 3, index: true, run: func(o *native.Ops, a *rowArgs) error {
		return o.Scatter(a.c[0], a.c[1], a.index)
	}},
}

func rowCaseOf(name string) *rowCase {
	return &rowCases[slices.IndexFunc(rowCases, func(c rowCase) bool { return c.name == name })]
}

// args returns columns of random numbers, and an index in random order if one is taken.
func (c *rowCase) args(seed uint64, rows int, in layout) *rowArgs {
	const pageBytes = 4096
	rng := rand.New(rand.NewPCG(seed, uint64(rows)))
	stride := stagger.Stride(4 * rows)
	if in == byPage {
		stride = (4*rows + pageBytes - 1) / pageBytes * pageBytes
	}
	a, mem := &rowArgs{}, stagger.Bytes(c.columns*stride, 0)
	for k := range c.columns {
		column := stagger.View[float32](mem[k*stride : k*stride+4*rows])
		for i := range column {
			column[i] = float32(2*float32(rng.Float32())) - 1
		}
		a.c = append(a.c, column)
	}
	if c.matrices {
		a.matrices = stagger.View[float32](stagger.Bytes(64*rows, 0))
	}
	if c.index {
		a.index = make([]uint32, rows)
		for i := range a.index {
			a.index[i] = uint32(i)
		}
		rng.Shuffle(rows, func(i, j int) { a.index[i], a.index[j] = a.index[j], a.index[i] })
	}
	return a
}

// bytes is what the arguments take.
func (c *rowCase) bytes(rows int) int {
	elements := c.columns
	if c.matrices {
		elements += 16
	}
	if c.index {
		elements++
	}
	return 4 * elements * rows
}

// opsPlan lists all races of the scene.
type opsPlan struct {
	level native.Level
	seed  uint64
	quick bool
}

// opRows are the numbers of rows of the main table. Those that need more memory than
// mostBytes are left out.
var opRows = []int{1000, 16384, 100000, 1 << 20, 8 << 20}

const mostBytes = 256 << 20

// What races are named after, beside operations.
const (
	raceBandwidth = "bandwidth"
	raceColumns   = "columns"
	raceWorkers   = "workers"
	raceWorld     = "world"
)

func raceName(of string, rows int) string { return fmt.Sprintf("%s_%d", of, rows) }

func (p *opsPlan) races() []*race {
	var all []*race
	for _, rows := range p.rows() {
		for i := range rowCases {
			if rowCases[i].bytes(rows) <= mostBytes {
				all = append(all, p.opRace(&rowCases[i], rows))
			}
		}
		all = append(all, p.bandwidthRace(rows))
	}
	for _, rows := range []int{1024, 16384} {
		all = append(all, p.columnsRace(rows))
	}
	for _, name := range []string{opIntegrate, opMove, opCompose, opSum} {
		all = append(all, p.workersRace(rowCaseOf(name)))
	}
	return all
}

func (p *opsPlan) rows() []int {
	if p.quick {
		return opRows[:2]
	}
	return opRows
}

// lap returns a lap of an operation, of arguments that open makes.
func (p *opsPlan) lap(c *rowCase, rows int, level native.Level, in layout) *lap {
	return &lap{name: c.name, level: level, workers: 1, layout: in, rows: rows, columns: c.moved, runs: runsOf(rows)}
}

// work gives a lap arguments to work on.
func (l *lap) work(c *rowCase, a *rowArgs) {
	o := &native.Ops{Level: l.level, Pool: native.NewPool(l.workers)}
	l.run = func() error { return c.run(o, a) }
}

// opRace is an operation by the plain loop of level Go and on the level, over the same
// columns.
func (p *opsPlan) opRace(c *rowCase, rows int) *race {
	plain, kernel := p.lap(c, rows, native.Go, byStagger), p.lap(c, rows, p.level, byStagger)
	kernel.bases = []lapBase{{"go", plain}}
	if rows == 16384 {
		kernel.goal = c.goal
	}
	r := &race{name: raceName(c.name, rows), laps: []*lap{plain, kernel}}
	r.open = func() error {
		a := c.args(p.seed, rows, byStagger)
		plain.work(c, a)
		kernel.work(c, a)
		return sameBits(a, plain, kernel)
	}
	return r
}

// sameBits returns an error unless two laps leave the same in their arguments.
func sameBits(a *rowArgs, one, other *lap) error {
	columns := append(slices.Clone(a.c), a.matrices)
	before := slices.Concat(columns...)
	if err := one.run(); err != nil {
		return err
	}
	want := slices.Concat(columns...)
	for _, column := range columns {
		before = before[copy(column, before):]
	}
	if err := other.run(); err != nil {
		return err
	}
	for i, v := range slices.Concat(columns...) {
		if math.Float32bits(v) != math.Float32bits(want[i]) {
			return fmt.Errorf("%v does not leave the bits of %v", other, one)
		}
	}
	return nil
}

// bandwidthRace sets integrating against copying.
func (p *opsPlan) bandwidthRace(rows int) *race {
	r := &race{name: raceName(raceBandwidth, rows)}
	for _, name := range []string{opCopy, opIntegrate} {
		r.laps = append(r.laps, p.lap(rowCaseOf(name), rows, p.level, byStagger))
	}
	r.laps[1].bases = []lapBase{{"copy", r.laps[0]}}
	r.open = func() error {
		a := rowCaseOf(opIntegrate).args(p.seed, rows, byStagger)
		for _, l := range r.laps {
			l.work(rowCaseOf(l.name), a)
		}
		return nil
	}
	return r
}

// columnsRace sets sixteen columns against three, staggered and not.
func (p *opsPlan) columnsRace(rows int) *race {
	r := &race{name: raceName(raceColumns, rows)}
	for _, in := range []layout{byStagger, byPage} {
		for _, name := range []string{opLerp, opMove} {
			r.laps = append(r.laps, p.lap(rowCaseOf(name), rows, p.level, in))
		}
	}
	few, many := r.laps[0], r.laps[1]
	many.bases = []lapBase{{"three_columns", few}}
	r.laps[2].bases, r.laps[3].bases = []lapBase{{"staggered", few}}, []lapBase{{"staggered", many}}
	r.open = func() error {
		for _, l := range r.laps {
			c := rowCaseOf(l.name)
			l.work(c, c.args(p.seed, rows, l.layout))
		}
		return nil
	}
	return r
}

// workersRace sets two workers against one.
func (p *opsPlan) workersRace(c *rowCase) *race {
	rows := 1 << 20
	if p.quick {
		rows = large
	}
	one, two := p.lap(c, rows, p.level, byStagger), p.lap(c, rows, p.level, byStagger)
	two.workers, two.bases = 2, []lapBase{{"one_worker", one}}
	r := &race{name: raceName(raceWorkers+"_"+c.name, rows), laps: []*lap{one, two}}
	r.open = func() error {
		a := c.args(p.seed, rows, byStagger)
		one.work(c, a)
		two.work(c, a)
		return sameBits(a, one, two)
	}
	return r
}
