package native_test

import (
	"math"
	"slices"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

// opCases are all operations in which each row is for itself.
var opCases = slices.Concat(columnCases, vectorCases, quatCases)

var columnCases = []opCase{
	{name: "Integrate", out: 1, in: 1, run: func(o *native.Ops, a *opArgs) error {
		return o.Integrate(a.out[0], a.in[0], a.numbers[0])
	}},
	{name: "Axpy", out: 1, in: 1, run: func(o *native.Ops, a *opArgs) error {
		return o.Axpy(a.out[0], a.numbers[0], a.in[0])
	}},
	{name: "Scale", out: 1, run: func(o *native.Ops, a *opArgs) error {
		return o.Scale(a.out[0], a.numbers[0])
	}},
	{name: "Add", out: 1, run: func(o *native.Ops, a *opArgs) error {
		return o.Add(a.out[0], a.numbers[0])
	}},
	{name: "Affine", out: 1, in: 1, run: func(o *native.Ops, a *opArgs) error {
		return o.Affine(a.out[0], a.in[0], a.numbers[0], a.numbers[1])
	}},
	{name: "Affine in place", out: 1, run: func(o *native.Ops, a *opArgs) error {
		return o.Affine(a.out[0], a.out[0], a.numbers[0], a.numbers[1])
	}},
	{name: "Select", out: 1, in: 2, run: func(o *native.Ops, a *opArgs) error {
		return o.Select(a.out[0], which(a), a.in[0], a.in[1])
	}},
	{name: "Select from out", out: 1, in: 1, run: func(o *native.Ops, a *opArgs) error {
		return o.Select(a.out[0], which(a), a.out[0], a.in[0])
	}},
	{name: "Select to out", out: 1, in: 1, run: func(o *native.Ops, a *opArgs) error {
		return o.Select(a.out[0], which(a), a.in[0], a.out[0])
	}},
	{name: "Damp", out: 1, in: 1, run: func(o *native.Ops, a *opArgs) error {
		return o.Damp(a.out[0], a.in[0], a.numbers[0])
	}},
	{name: "Clamp", out: 1, numbers: drawBounds, run: func(o *native.Ops, a *opArgs) error {
		return o.Clamp(a.out[0], a.numbers[0], a.numbers[1])
	}},
	{name: "Wrap", out: 1, numbers: drawBounds, run: func(o *native.Ops, a *opArgs) error {
		return o.Wrap(a.out[0], a.numbers[0], a.numbers[1])
	}},
	{name: "Lerp", out: 1, in: 2, numbers: drawAlpha, run: func(o *native.Ops, a *opArgs) error {
		return o.Lerp(a.out[0], a.in[0], a.in[1], a.numbers[0], a.named)
	}},
	{name: "Lerp from out", out: 1, in: 1, numbers: drawAlpha, run: func(o *native.Ops, a *opArgs) error {
		return o.Lerp(a.out[0], a.out[0], a.in[0], a.numbers[0], a.named)
	}},
	{name: "Lerp to out", out: 1, in: 1, numbers: drawAlpha, run: func(o *native.Ops, a *opArgs) error {
		return o.Lerp(a.out[0], a.in[0], a.out[0], a.numbers[0], a.named)
	}},
}

var vectorCases = []opCase{
	{name: "ClampLength", out: 3, numbers: drawLength, run: func(o *native.Ops, a *opArgs) error {
		return o.ClampLength(vec3(a.out), a.numbers[0])
	}},
	{name: "Dist2", out: 1, in: 3, run: func(o *native.Ops, a *opArgs) error {
		return o.Dist2(a.out[0], vec3(a.in), a.numbers[0], a.numbers[1], a.numbers[2])
	}},
	{name: "Dist2 into z", out: 1, in: 2, run: func(o *native.Ops, a *opArgs) error {
		return o.Dist2(a.out[0], native.Vec3{X: a.in[0], Y: a.in[1], Z: a.out[0]}, a.numbers[0], a.numbers[1], a.numbers[2])
	}},
}

var quatCases = []opCase{
	{name: "Nlerp", out: 4, in: 8, numbers: drawAlpha, run: func(o *native.Ops, a *opArgs) error {
		return o.Nlerp(quat(a.out), quat(a.in), quat(a.in[4:]), a.numbers[0], a.named)
	}},
	{name: "Nlerp from out", out: 4, in: 4, numbers: drawAlpha, run: func(o *native.Ops, a *opArgs) error {
		return o.Nlerp(quat(a.out), quat(a.out), quat(a.in), a.numbers[0], a.named)
	}},
	{name: "NormalizeQuat", out: 4, run: func(o *native.Ops, a *opArgs) error {
		return o.NormalizeQuat(quat(a.out))
	}},
	{name: "IntegrateQuat", out: 4, in: 3, numbers: drawStep, run: func(o *native.Ops, a *opArgs) error {
		return o.IntegrateQuat(quat(a.out), vec3(a.in), a.numbers[0])
	}},
	{name: "Move", out: 10, in: 6, numbers: drawStep, run: func(o *native.Ops, a *opArgs) error {
		return o.Move(&native.Motion{Pos: vec3(a.out), Vel: vec3(a.out[3:]), Acc: vec3(a.in),
			Rot: quat(a.out[6:]), Ang: vec3(a.in[3:])}, a.numbers[0])
	}},
}

// which returns the bitmap of an operation that needs one.
func which(a *opArgs) []uint64 {
	if a.named == nil {
		return everyRow
	}
	return a.named
}

var everyRow = slices.Repeat([]uint64{math.MaxUint64}, 4*native.OpChunk/64)

// drawBounds draws lo below hi, hi-lo finite.
func drawBounds(run *paritytest.Run) [4]float32 {
	for {
		lo := run.Float(paritytest.Finite[run.IntN(len(paritytest.Finite))])
		hi := run.Float(paritytest.Finite[run.IntN(len(paritytest.Finite))])
		if lo > hi {
			lo, hi = hi, lo
		}
		if hi-lo > 0 && hi-lo-(hi-lo) == 0 {
			return [4]float32{lo, hi}
		}
	}
}

func drawAlpha(run *paritytest.Run) [4]float32 {
	alpha := []float32{0, 1, run.Float32(), run.Float(paritytest.Finite[run.IntN(len(paritytest.Finite))])}
	return [4]float32{alpha[run.IntN(len(alpha))]}
}

func drawLength(run *paritytest.Run) [4]float32 {
	v := run.Float([]paritytest.Class{paritytest.Uniform, paritytest.Zero, paritytest.Denormal, paritytest.Huge, paritytest.Tiny, paritytest.Infinite}[run.IntN(6)])
	return [4]float32{max(v, -v)}
}

func drawStep(run *paritytest.Run) [4]float32 {
	dt := []float32{1. / 60, 0, -1, run.Float(paritytest.AllClasses[run.IntN(len(paritytest.AllClasses))])}
	return [4]float32{dt[run.IntN(len(dt))]}
}
