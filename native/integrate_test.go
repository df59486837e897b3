package native_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

// lengths are those around every multiple of every vector width, and around
// powers of two that a kernel might unroll to.
func lengths() []int {
	var all []int
	for n := range 3*16 + 2 {
		all = append(all, n)
	}
	return append(all, 255, 256, 257, 1023, 1024, 1025)
}

// integrateBuffers hold the arguments against guard pages.
type integrateBuffers struct {
	pos, vel *paritytest.Buffer[float32]
}

// Both the kernel itself and Integrate, which leaves short slices to Go, are
// compared with the plain loop. Results that are NaN are compared as NaN: of
// two NaN operands the x86 instructions return the first and the compiler may
// swap the operands of a sum, while other machines return a default NaN.
func TestParityIntegrate(t *testing.T) {
	run := paritytest.Start(t, "Integrate")
	b := integrateBuffers{paritytest.NewBuffer[float32](t, 1025), paritytest.NewBuffer[float32](t, 1025)}
	classes := [][]paritytest.Class{{paritytest.Uniform}, paritytest.Finite, paritytest.AllClasses}
	for range paritytest.Rounds(4) {
		for _, n := range lengths() {
			for gap := range paritytest.MaxGap + 1 {
				b.compare(run, n, gap, classes[run.IntN(len(classes))])
			}
		}
	}
}

func (b *integrateBuffers) compare(run *paritytest.Run, n, gap int, classes []paritytest.Class) {
	pos, vel := make([]float32, n), make([]float32, n)
	run.Fill(pos, classes...)
	run.Fill(vel, classes...)
	dt := []float32{1. / 60, 0, -1, run.Float(classes[run.IntN(len(classes))])}[run.IntN(4)]
	want := slices.Clone(pos)
	for i := range want {
		want[i] += float32(vel[i] * dt)
	}
	velGap := run.IntN(paritytest.MaxGap + 1)
	for _, level := range native.Levels() {
		for _, integrate := range []func(native.Level, []float32, []float32, float32){native.IntegrateKernel, native.Integrate} {
			for _, side := range paritytest.Sides {
				run.Case(level)
				p, v := b.pos.PlaceCopy(pos, side, gap), b.vel.PlaceCopy(vel, side, velGap)
				integrate(level, p, v, dt)
				run.Check(paritytest.Floats(fmt.Sprintf("n=%d gap=%d,%d dt=%g: pos", n, gap, velGap, dt), p, want),
					paritytest.Bits("vel was written to: vel", v, vel), b.pos.Check(), b.vel.Check())
			}
		}
	}
}

// Whatever Integrate promises for special values, in numbers.
func TestIntegrateSpecialValues(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	negZero := float32(math.Copysign(0, -1))
	const smallest = math.SmallestNonzeroFloat32
	for _, c := range []struct{ pos, vel, dt, want float32 }{
		{1, 2, 0.5, 2},
		{negZero, 0, 1, 0},
		{negZero, negZero, 1, negZero},
		{negZero, 1, negZero, negZero},
		{smallest, smallest, 1, 2 * smallest},
		{0, smallest, 0.5, 0},
		{math.MaxFloat32, math.MaxFloat32, 1, inf},
		{-inf, inf, 1, nan},
		{1, inf, 0, nan},
		{-(1 + 0x1p-11), 1 + 0x1p-12, 1 + 0x1p-12, 0}, // 2^-24 if fused
		{1, nan, 1, nan},
	} {
		for _, level := range native.Levels() {
			pos, vel := slices.Repeat([]float32{c.pos}, 67), slices.Repeat([]float32{c.vel}, 67)
			native.Integrate(level, pos, vel, c.dt)
			want := slices.Repeat([]float32{c.want}, 67)
			if err := paritytest.Floats("pos", pos, want); err != nil {
				t.Errorf("%g + %g*%g, level %s: %v", c.pos, c.vel, c.dt, level, err)
			}
		}
	}
}

func TestIntegrateMisuse(t *testing.T) {
	expectPanic(t, "native: Integrate: pos and vel differ in length", func() {
		native.Integrate(native.Auto, make([]float32, 3), make([]float32, 4), 1)
	})
	expectPanic(t, "native: the level cannot run here; see Resolve", func() {
		native.Integrate(native.Level(99), make([]float32, 3), make([]float32, 3), 1)
	})
}

func TestIntegrateAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	pos, vel := make([]float32, 1000), make([]float32, 1000)
	for _, level := range native.Levels() {
		if n := testing.AllocsPerRun(100, func() { native.Integrate(level, pos, vel, 1) }); n != 0 {
			t.Errorf("level %s: %g allocations", level, n)
		}
	}
}

func expectPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := recover(); got != want {
			t.Errorf("panic %v, want %q", got, want)
		}
	}()
	f()
}
