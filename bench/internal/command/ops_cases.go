package command

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/evertick/evertick/internal/stagger"
	"github.com/evertick/evertick/native"
)

// rowCase is an operation on columns.
type rowCase struct {
	name            string
	columns         int  // that it takes
	moved           int  // times that it reads or writes a column, matrices and index included
	matrices, index bool // it also writes rows of 16 elements, or takes an index
	bitmap          bool // it also reads or writes a bitmap
	goal            *goal
	run             func(o *native.Ops, a *rowArgs) error
	plain           func(a *rowArgs) // the loop that a user would write
}

// rowArgs are the arguments of an operation. Numbers stay between -1 and 1 however often it runs.
type rowArgs struct {
	c        [][]float32
	matrices []float32
	index    []uint32
	bitmap   []uint64 // half of the rows, at random; or a result
	kept     float64  // the result of a loop in Go, so that the compiler keeps the loop
}

func (a *rowArgs) vec3(k int) native.Vec3 { return native.Vec3{X: a.c[k], Y: a.c[k+1], Z: a.c[k+2]} }
func (a *rowArgs) quat(k int) native.Quat {
	return native.Quat{X: a.c[k], Y: a.c[k+1], Z: a.c[k+2], W: a.c[k+3]}
}

// step is so short that no number of repetitions makes anything overflow.
const step = 1e-7

// The operations that other tables name.
const (
	opCopy      = "Copy"
	opIntegrate = "Integrate"
	opLerp      = "Lerp"
	opMove      = "Move"
	opSum       = "Sum"
	opCompose   = "Compose"
)

var rowCases = []rowCase{
	{name: opCopy, plain: plainCopy, columns: 2, moved: 2, run: func(o *native.Ops, a *rowArgs) error { return o.Copy(a.c[0], a.c[1]) }},
	{name: opIntegrate, plain: plainIntegrate, columns: 2, moved: 3, run: func(o *native.Ops, a *rowArgs) error { return o.Integrate(a.c[0], a.c[1], step) }},
	{name: "Integrate x, y, z", plain: plainIntegrate3, columns: 6, moved: 9, goal: &goal{0.25, "flecs", 0.26, 0.26}, run: func(o *native.Ops, a *rowArgs) error {
		for axis := range 3 {
			if err := o.Integrate(a.c[axis], a.c[3+axis], step); err != nil {
				return err
			}
		}
		return nil
	}},
	{name: "Scale", plain: plainScale, columns: 1, moved: 2, run: func(o *native.Ops, a *rowArgs) error { return o.Scale(a.c[0], 1) }},
	{name: "Add", plain: plainAdd, columns: 1, moved: 2, run: func(o *native.Ops, a *rowArgs) error { return o.Add(a.c[0], plainZero) }},
	{name: "Affine", plain: plainAffine, columns: 2, moved: 2, run: func(o *native.Ops, a *rowArgs) error {
		return o.Affine(a.c[0], a.c[1], 0.5, 0.25)
	}},
	{name: "Compare", plain: plainCompare, columns: 1, moved: 1, bitmap: true, run: func(o *native.Ops, a *rowArgs) error {
		return o.Compare(a.bitmap, a.c[0], native.GreaterEqual, 0.9)
	}},
	{name: "CompareColumns", plain: plainCompareColumns, columns: 2, moved: 2, bitmap: true, run: func(o *native.Ops, a *rowArgs) error {
		return o.CompareColumns(a.bitmap, a.c[0], native.Less, a.c[1])
	}},
	{name: "Select", plain: plainSelect, columns: 3, moved: 3, bitmap: true, run: func(o *native.Ops, a *rowArgs) error {
		return o.Select(a.c[0], a.bitmap, a.c[1], a.c[2])
	}},
	{name: "Damp", plain: plainDamp, columns: 2, moved: 3, run: func(o *native.Ops, a *rowArgs) error { return o.Damp(a.c[0], a.c[1], step) }},
	{name: "Clamp", plain: plainClamp, columns: 1, moved: 2, run: func(o *native.Ops, a *rowArgs) error { return o.Clamp(a.c[0], -0.5, 0.5) }},
	{name: "Wrap", plain: plainWrap, columns: 1, moved: 2, run: func(o *native.Ops, a *rowArgs) error { return o.Wrap(a.c[0], -0.5, 0.5) }},
	{name: "ClampLength", plain: plainClampLength, columns: 3, moved: 6, run: func(o *native.Ops, a *rowArgs) error { return o.ClampLength(a.vec3(0), 0.5) }},
	{name: opLerp, plain: plainLerp, columns: 3, moved: 3, run: func(o *native.Ops, a *rowArgs) error {
		return o.Lerp(a.c[0], a.c[1], a.c[2], 0.25, nil)
	}},
	{name: "Nlerp", plain: plainNlerp, columns: 12, moved: 12, run: func(o *native.Ops, a *rowArgs) error {
		return o.Nlerp(a.quat(0), a.quat(4), a.quat(8), 0.25, nil)
	}},
	{name: "Dist2", plain: plainDist2, columns: 4, moved: 4, run: func(o *native.Ops, a *rowArgs) error { return o.Dist2(a.c[0], a.vec3(1), 0, 0, 0) }},
	{name: "NormalizeQuat", plain: plainNormalizeQuat, columns: 4, moved: 8, run: func(o *native.Ops, a *rowArgs) error { return o.NormalizeQuat(a.quat(0)) }},
	{name: "IntegrateQuat", plain: plainIntegrateQuat, columns: 7, moved: 11, run: func(o *native.Ops, a *rowArgs) error {
		return o.IntegrateQuat(a.quat(0), a.vec3(4), step)
	}},
	{name: opMove, plain: plainMove, columns: 16, moved: 26, run: func(o *native.Ops, a *rowArgs) error {
		m := native.Motion{Pos: a.vec3(0), Vel: a.vec3(3), Acc: a.vec3(6), Rot: a.quat(9), Ang: a.vec3(13)}
		return o.Move(&m, step)
	}},
	{name: opCompose, plain: plainCompose, columns: 10, moved: 26, matrices: true, run: func(o *native.Ops, a *rowArgs) error {
		return o.Compose(a.matrices, native.ColumnMajor, a.vec3(0), a.quat(3), a.vec3(7))
	}},
	{name: "Bounds", plain: plainBounds, columns: 3, moved: 3, run: func(o *native.Ops, a *rowArgs) error {
		_, _, err := o.Bounds(a.c[0], a.c[1], a.c[2])
		return err
	}},
	{name: opSum, plain: plainSum, columns: 1, moved: 1, run: func(o *native.Ops, a *rowArgs) error {
		_, err := o.Sum(a.c[0])
		return err
	}},
	{name: "FirstNotFinite", plain: plainFirstNotFinite, columns: 1, moved: 1, run: func(o *native.Ops, a *rowArgs) error {
		_, err := o.FirstNotFinite(a.c[0])
		return err
	}},
	{name: "Fill", plain: plainFill, columns: 1, moved: 1, run: func(o *native.Ops, a *rowArgs) error { return o.Fill(a.c[0], 0.5) }},
	{name: "Gather", plain: plainGather, columns: 2, moved: 3, index: true, run: func(o *native.Ops, a *rowArgs) error {
		return o.Gather(a.c[0], a.c[1], a.index)
	}},
	{name: "Scatter", plain: plainScatter, columns: 2, moved: 3, index: true, run: func(o *native.Ops, a *rowArgs) error {
		return o.Scatter(a.c[0], a.c[1], a.index)
	}},
}

// loopSuffix follows the name of an operation in that of its loop.
const loopSuffix = ", loop"

func rowCaseOf(name string) *rowCase {
	return &rowCases[slices.IndexFunc(rowCases, func(c rowCase) bool { return c.name == name })]
}

// args returns columns of random numbers, and an index in random order if the operation takes one.
func (c *rowCase) args(seed uint64, rows int, in layout) *rowArgs {
	const pageBytes = 4096
	rng := rand.New(rand.NewPCG(seed, uint64(rows)))
	stride := stagger.Stride(4 * rows)
	if in == oneOffset {
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
	if c.bitmap {
		a.bitmap = make([]uint64, (rows+63)/64)
		for i := range rows {
			a.bitmap[i/64] |= rng.Uint64() & 1 << (i % 64)
		}
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

type opsPlan struct {
	level native.Level
	seed  uint64
	quick bool
}

// opRows are the numbers of rows of the main table. Operations that need more memory than maxBytes
// are left out.
var opRows = []int{256, 1000, 16384, 100000, 1 << 20, 8 << 20}

const maxBytes = 256 << 20

// Names of experiments, beside those of operations.
const (
	expBandwidth = "bandwidth"
	expColumns   = "columns"
	expWorkers   = "workers"
	expWorld     = "world"
)

func opName(of string, rows int) string { return fmt.Sprintf("%s_%d", of, rows) }

func (p *opsPlan) columnExperiments() (all []*experiment[*operation]) {
	for _, rows := range p.rows() {
		for i := range rowCases {
			if rowCases[i].bytes(rows) <= maxBytes {
				all = append(all, p.compareLevels(&rowCases[i], rows))
			}
		}
		all = append(all, p.compareBandwidth(rows))
	}
	for _, rows := range []int{1024, 16384} {
		all = append(all, p.compareColumns(rows))
	}
	for _, name := range []string{opIntegrate, opMove, opCompose, opSum} {
		all = append(all, p.compareWorkers(rowCaseOf(name)))
	}
	return all
}

func (p *opsPlan) rows() []int {
	if p.quick {
		return opRows[:3]
	}
	return opRows
}

// operation returns a case as a trial whose arguments the experiment creates when it opens.
func (p *opsPlan) operation(c *rowCase, rows int, level native.Level, in layout) *operation {
	return &operation{trial: trial{level: level, workers: 1}, name: c.name, layout: in, rows: rows, columns: c.moved, runs: runsOf(rows)}
}

// bind sets the arguments of an operation.
func (l *operation) bind(a *rowArgs) {
	c, o := rowCaseOf(strings.TrimSuffix(l.name, loopSuffix)), &native.Ops{Level: l.level, Pool: native.NewPool(l.workers)}
	l.run = func() error { return c.run(o, a) }
	if l.isLoop {
		l.run = func() error {
			c.plain(a)
			return nil
		}
	}
}

// experiment returns an experiment in which all operations share columns as c takes them. If same
// is true, its operations must leave the same bits.
func (p *opsPlan) experiment(name string, c *rowCase, same bool, operations ...*operation) *experiment[*operation] {
	return &experiment[*operation]{name, operations, func(*Progress) error {
		a := c.args(p.seed, operations[0].rows, staggered)
		for _, l := range operations {
			l.bind(a)
		}
		if !same {
			return nil
		}
		for _, other := range operations[1:] {
			if err := sameBits(a, operations[0], other); err != nil {
				return err
			}
		}
		return nil
	}}
}

// compareLevels compares level Go with the level, and with the loop that a user would write, over the same columns.
func (p *opsPlan) compareLevels(c *rowCase, rows int) *experiment[*operation] {
	plain, kernel := p.operation(c, rows, native.Go, staggered), p.operation(c, rows, p.level, staggered)
	kernel.comparedWith("go", plain)
	if rows == 16384 {
		kernel.goal = c.goal
	}
	loop := p.operation(c, rows, native.Go, staggered)
	loop.isLoop, loop.name = true, c.name+loopSuffix
	plain.comparedWith("loop", loop)
	return p.experiment(opName(c.name, rows), c, true, plain, kernel, loop)
}

// sameBits returns an error unless two operations leave the same in their arguments.
func sameBits(a *rowArgs, one, other *operation) error {
	columns, bitmap := append(slices.Clone(a.c), a.matrices), slices.Clone(a.bitmap)
	before := slices.Concat(columns...)
	if err := one.run(); err != nil {
		return err
	}
	want, wantBitmap := slices.Concat(columns...), slices.Clone(a.bitmap)
	copy(a.bitmap, bitmap)
	for _, column := range columns {
		before = before[copy(column, before):]
	}
	if err := other.run(); err != nil {
		return err
	}
	if !slices.Equal(a.bitmap, wantBitmap) {
		return fmt.Errorf("%v does not leave the bitmap of %v", other, one)
	}
	for i, v := range slices.Concat(columns...) {
		if math.Float32bits(v) != math.Float32bits(want[i]) {
			return fmt.Errorf("%v does not leave the bits of %v", other, one)
		}
	}
	return nil
}

func (p *opsPlan) compareBandwidth(rows int) *experiment[*operation] {
	c := rowCaseOf(opIntegrate)
	copying, integrating := p.operation(rowCaseOf(opCopy), rows, p.level, staggered), p.operation(c, rows, p.level, staggered)
	integrating.comparedWith("copy", copying)
	return p.experiment(opName(expBandwidth, rows), c, false, copying, integrating)
}

// compareColumns compares sixteen columns with three, staggered and not.
func (p *opsPlan) compareColumns(rows int) *experiment[*operation] {
	var all []*operation
	for _, in := range []layout{staggered, oneOffset} {
		for _, name := range []string{opLerp, opMove} {
			all = append(all, p.operation(rowCaseOf(name), rows, p.level, in))
		}
	}
	all[1].comparedWith("three_columns", all[0])
	all[2].comparedWith("staggered", all[0])
	all[3].comparedWith("staggered", all[1])
	return &experiment[*operation]{opName(expColumns, rows), all, func(*Progress) error {
		for _, l := range all {
			l.bind(rowCaseOf(l.name).args(p.seed, rows, l.layout))
		}
		return nil
	}}
}

func (p *opsPlan) compareWorkers(c *rowCase) *experiment[*operation] {
	rows := 1 << 20
	if p.quick {
		rows = large
	}
	one, two := p.operation(c, rows, p.level, staggered), p.operation(c, rows, p.level, staggered)
	two.workers = 2
	two.comparedWith("one_worker", one)
	return p.experiment(opName(expWorkers+"_"+c.name, rows), c, true, one, two)
}
