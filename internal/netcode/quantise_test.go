package netcode_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/evertick/evertick/internal/netcode"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/trig"
	"github.com/evertick/evertick/native"
)

// laneCase is a function that turns columns into lanes, row by row.
type laneCase struct {
	name    string
	in, out int // columns and lanes
	maxBits int
	run     func(level native.Level, dst [][]int32, src [][]float32, scale float32, bits int)
	// brute computes a row with other means than the Go loop.
	brute func(v []float32, scale float32, bits int) []int32
}

var laneCases = []laneCase{
	{"Quantise", 1, 1, netcode.MaxQuantiseBits, func(level native.Level, dst [][]int32, src [][]float32, scale float32, bits int) {
		netcode.Quantise(level, dst[0], src[0], scale, bits)
	}, func(v []float32, scale float32, bits int) []int32 { return []int32{bruteCode(v[0], scale, bits)} }},
	{"QuantiseAngle", 1, 1, netcode.MaxAngleBits, func(level native.Level, dst [][]int32, src [][]float32, _ float32, bits int) {
		netcode.QuantiseAngle(level, dst[0], src[0], bits)
	}, func(v []float32, _ float32, bits int) []int32 { return []int32{bruteAngle(v[0], bits)} }},
	{"QuantisePlanar", 2, 1, netcode.MaxAngleBits, func(level native.Level, dst [][]int32, src [][]float32, _ float32, bits int) {
		netcode.QuantisePlanar(level, dst[0], src[0], src[1], bits)
	}, func(v []float32, _ float32, bits int) []int32 {
		return []int32{bruteAngle(2*trig.Atan2(v[0], v[1]), bits)}
	}},
	{"QuantiseQuat", 4, 4, netcode.MaxQuatBits, func(level native.Level, dst [][]int32, src [][]float32, _ float32, bits int) {
		netcode.QuantiseQuat(level, netcode.QuatLanes{Index: dst[0], A: dst[1], B: dst[2], C: dst[3]}, quat(src), bits)
	}, func(v []float32, _ float32, bits int) []int32 { return bruteQuat(v, bits) }},
}

// bruteRound returns the nearest whole number, ties to even.
func bruteRound(v float64) float64 {
	low := math.Floor(v)
	if part := v - low; part > 0.5 || part == 0.5 && math.Mod(low, 2) != 0 {
		return low + 1
	}
	return low
}

func bruteCode(v, scale float32, bits int) int32 {
	limit := math.Ldexp(1, bits-1) - 1
	p := float64(float32(float64(v) * float64(scale))) // the product is exact in float64, but for overflow and underflow beyond float32
	if math.IsNaN(p) {
		return int32(-limit - 1)
	}
	return int32(bruteRound(math.Max(-limit, math.Min(limit, p))))
}

func bruteAngle(angle float32, bits int) int32 {
	const perRadian = float32(0.15915494309189535)
	t := float64(float32(float64(angle) * float64(perRadian)))
	if math.IsNaN(t) || math.IsInf(t, 0) {
		return 0
	}
	steps := math.Ldexp(1, bits)
	code := bruteRound(math.Remainder(t, 1) * steps)
	if code == steps/2 {
		code = -code
	}
	return int32(code)
}

func bruteQuat(v []float32, bits int) []int32 {
	identity, index := []int32{-1, 0, 0, 0}, 0
	for k := range v {
		if v[k] != v[k] {
			return identity
		}
		if math.Abs(float64(v[k])) > math.Abs(float64(v[index])) {
			index = k
		}
	}
	if v[index] == 0 {
		return identity
	}
	scale := float32((math.Ldexp(1, bits-1) - 1) * math.Sqrt2)
	codes := []int32{[]int32{0, 1, -2, -1}[index]}
	for k := range v {
		if k != index {
			codes = append(codes, bruteCode(float32(math.Copysign(1, float64(v[index]))*float64(v[k])), scale, bits))
		}
	}
	return codes
}

// laneGuard holds columns and lanes against guard pages.
type laneGuard struct {
	in  []*paritytest.Input[float32]
	out []*paritytest.Buffer[int32]
}

func newLaneGuard(t *testing.T, c *laneCase, most int) *laneGuard {
	g := &laneGuard{}
	for range c.in {
		g.in = append(g.in, paritytest.NewInput[float32](t, most))
	}
	for range c.out {
		g.out = append(g.out, paritytest.NewBuffer[int32](t, most))
	}
	return g
}

// TestParityQuantise compares every level with brute force, for every length up to three vectors and one more, every
// misalignment and both sides of guard pages.
func TestParityQuantise(t *testing.T) {
	for _, c := range laneCases {
		t.Run(c.name, func(t *testing.T) {
			run := paritytest.Start(t, c.name)
			g := newLaneGuard(t, &c, 1025)
			for range paritytest.Rounds(4) {
				for _, n := range lengths() {
					c.compare(run, g, n)
				}
			}
		})
	}
}

// draw returns columns of n rows: ordinary numbers, whole numbers and halves of them, or of any kind.
func (c *laneCase) draw(run *paritytest.Run, n int) [][]float32 {
	classes := [][]paritytest.Class{{paritytest.Uniform}, paritytest.Finite, paritytest.AllClasses}[run.IntN(3)]
	halves := run.IntN(3) == 0
	src := make([][]float32, c.in)
	for k := range src {
		src[k] = make([]float32, n)
		run.Fill(src[k], classes...)
		for i := range src[k] {
			if halves {
				src[k][i] = float32(run.IntN(1<<10)-1<<9) / 2
			}
		}
	}
	return src
}

func (c *laneCase) compare(run *paritytest.Run, g *laneGuard, n int) {
	src, bits := c.draw(run, n), netcode.MinLaneBits+run.IntN(c.maxBits-netcode.MinLaneBits+1)
	scale := []float32{1, -1, 0.5, 256, run.Float32(), run.Float(paritytest.AllClasses[run.IntN(len(paritytest.AllClasses))])}[run.IntN(6)]
	want, row := make([][]int32, c.out), make([]float32, c.in)
	for i := range n {
		for k := range row {
			row[k] = src[k][i]
		}
		for l, v := range c.brute(row, scale, bits) {
			want[l] = append(want[l], v)
		}
	}
	for _, level := range native.Levels() {
		for _, side := range paritytest.Sides {
			run.Case(level)
			in, out := make([][]float32, c.in), make([][]int32, c.out)
			for k := range in {
				in[k] = g.in[k].Put(src[k], side, run.IntN(paritytest.MaxGap+1))
			}
			for l := range out {
				out[l] = g.out[l].Place(n, side, run.IntN(paritytest.MaxGap+1))
			}
			c.run(level, out, in, scale, bits)
			for l := range out {
				run.Check(paritytest.Bits(fmt.Sprintf("n=%d bits=%d scale=%g: lane %d", n, bits, scale, l), out[l], want[l]), g.out[l].Check())
			}
			for k := range in {
				run.Check(g.in[k].Unchanged("column"))
			}
		}
	}
}

var (
	nan32, inf32 = float32(math.NaN()), float32(math.Inf(1))
	negZero      = float32(math.Copysign(0, -1))
)

// Each value stands in every place of a vector and in the rest after it.
func eachPlace(t *testing.T, c *laneCase, v []float32, scale float32, bits int, want ...int32) {
	t.Helper()
	const n = 19
	src, dst := make([][]float32, c.in), make([][]int32, c.out)
	for k := range src {
		src[k] = make([]float32, n)
		for i := range src[k] {
			src[k][i] = v[k]
		}
	}
	for _, level := range native.Levels() {
		for l := range dst {
			dst[l] = make([]int32, n)
		}
		c.run(level, dst, src, scale, bits)
		for l := range dst {
			for i, got := range dst[l] {
				if got != want[l] {
					t.Errorf("%s, level %s: %g by %g, %d bits: lane %d, row %d is %d, want %d", c.name, level, v, scale, bits, l, i, got, want[l])
					return
				}
			}
		}
	}
}

func TestQuantiseSpecialValues(t *testing.T) {
	const denormal = math.SmallestNonzeroFloat32
	for _, c := range []struct {
		v, scale float32
		bits     int
		want     int32
	}{
		{0, 1, 8, 0}, {negZero, 1, 8, 0}, {denormal, 1, 8, 0}, {-denormal, 1, 8, 0}, {denormal, math.MaxFloat32, 8, 0},
		{0.5, 1, 8, 0}, {1.5, 1, 8, 2}, {2.5, 1, 8, 2}, {-0.5, 1, 8, 0}, {-1.5, 1, 8, -2}, {-2.5, 1, 8, -2},
		{math.Nextafter32(0.5, 1), 1, 8, 1}, {math.Nextafter32(0.5, 0), 1, 8, 0}, {math.Nextafter32(2.5, 0), 1, 8, 2},
		{126.5, 1, 8, 126}, {127, 1, 8, 127}, {127.5, 1, 8, 127}, {128, 1, 8, 127}, {-127.5, 1, 8, -127}, {-1e30, 1, 8, -127},
		{inf32, 1, 8, 127}, {-inf32, 1, 8, -127}, {nan32, 1, 8, -128}, {inf32, 0, 8, -128}, {1, nan32, 8, -128},
		{1e30, 1e30, 8, 127}, {1e30, -1e30, 8, -127}, {0.25, 256, 8, 64}, {1, 1, 2, 1}, {9, 1, 2, 1}, {-9, 1, 2, -1}, {nan32, 1, 2, -2},
		{1 << 22, 1, 25, 1 << 22}, {1<<22 + 0.5, 1, 25, 1 << 22}, {1<<22 + 1.5, 1, 25, 1<<22 + 2}, {-(1<<22 + 1.5), 1, 25, -(1<<22 + 2)},
		{1<<23 - 0.5, 1, 25, 1 << 23}, {1<<23 + 1, 1, 25, 1<<23 + 1}, {1<<24 - 1, 1, 25, 1<<24 - 1}, {1 << 24, 1, 25, 1<<24 - 1},
		{-(1<<24 - 1), 1, 25, -(1<<24 - 1)}, {-inf32, 1, 25, -(1<<24 - 1)}, {nan32, 1, 25, -1 << 24},
	} {
		eachPlace(t, &laneCases[0], []float32{c.v}, c.scale, c.bits, c.want)
	}
}

func TestQuantiseAngleSpecialValues(t *testing.T) {
	const pi = math.Pi
	for _, c := range []struct {
		v    float32
		bits int
		want int32
	}{
		{0, 8, 0}, {negZero, 8, 0}, {math.SmallestNonzeroFloat32, 16, 0}, {pi / 2, 8, 64}, {-pi / 2, 8, -64}, {pi, 8, -128}, {-pi, 8, -128},
		{3 * pi / 2, 8, -64}, {2 * pi, 8, 0}, {5 * pi / 2, 16, 1 << 14}, {pi * 0.999, 8, -128}, {-pi * 0.999, 8, -128}, {pi * 0.99, 8, 127},
		{pi, 2, -2}, {pi / 2, 2, 1}, {2 * pi * 0.126, 2, 1}, {2 * pi * 0.124, 2, 0},
		{1e30, 16, 0}, {math.MaxFloat32, 16, 0}, {2 * pi * (1 << 24), 16, 0}, {inf32, 16, 0}, {-inf32, 16, 0}, {nan32, 16, 0},
	} {
		eachPlace(t, &laneCases[1], []float32{c.v}, 1, c.bits, c.want)
	}
}

func TestQuantisePlanarSpecialValues(t *testing.T) {
	for _, c := range []struct {
		sin, cos float32
		want     int32
	}{
		{0, 1, 0}, {negZero, 1, 0}, {0, -1, 0}, {1, 0, -128}, {-1, 0, -128}, {1, 1, 64}, {-1, 1, -64}, {1, -1, -64}, {-1, -1, 64},
		{0, 0, 0}, {nan32, 1, 0}, {1, nan32, 0}, {inf32, inf32, 0}, {inf32, 1, -128}, {1, inf32, 0},
	} {
		eachPlace(t, &laneCases[2], []float32{c.sin, c.cos}, 1, 8, c.want)
	}
}

func TestQuantiseQuatSpecialValues(t *testing.T) {
	const h = math.Sqrt2 / 2
	for _, c := range []struct {
		v    [4]float32
		bits int
		want [4]int32
	}{
		{[4]float32{0, 0, 0, 1}, 8, [4]int32{-1, 0, 0, 0}}, {[4]float32{0, 0, 0, -1}, 8, [4]int32{-1, 0, 0, 0}},
		{[4]float32{1, 0, 0, 0}, 8, [4]int32{0, 0, 0, 0}}, {[4]float32{0, 1, 0, 0}, 8, [4]int32{1, 0, 0, 0}}, {[4]float32{0, 0, -1, 0}, 8, [4]int32{-2, 0, 0, 0}},
		{[4]float32{h, 0, 0, h}, 8, [4]int32{0, 0, 0, 127}}, {[4]float32{-h, 0, 0, h}, 8, [4]int32{0, 0, 0, -127}}, // the first of equals
		{[4]float32{0, h, -h, 0}, 8, [4]int32{1, 0, -127, 0}}, {[4]float32{0, 0, h, h}, 8, [4]int32{-2, 0, 0, 127}},
		{[4]float32{0.5, 0.5, 0.5, 0.5}, 8, [4]int32{0, 90, 90, 90}}, {[4]float32{0.5, -0.5, 0.5, -0.5000001}, 8, [4]int32{-1, -90, 90, -90}},
		{[4]float32{0.1, 0.2, 0.3, -0.9}, 16, [4]int32{-1, -4634, -9268, -13902}}, {[4]float32{0.3, 0.1, 0.9, 0.2}, 2, [4]int32{-2, 0, 0, 0}},
		{[4]float32{3, -2, 1, 0}, 8, [4]int32{0, -127, 127, 0}}, // of any length: saturated
		{[4]float32{}, 8, [4]int32{-1, 0, 0, 0}}, {[4]float32{negZero, 0, negZero, 0}, 8, [4]int32{-1, 0, 0, 0}},
		{[4]float32{nan32, 1, 0, 0}, 8, [4]int32{-1, 0, 0, 0}}, {[4]float32{1, nan32, 0, 0}, 8, [4]int32{-1, 0, 0, 0}},
		{[4]float32{1, 0, nan32, 0}, 8, [4]int32{-1, 0, 0, 0}}, {[4]float32{inf32, 0, 0, nan32}, 8, [4]int32{-1, 0, 0, 0}},
		{[4]float32{1, -inf32, 0, inf32}, 8, [4]int32{1, -127, 0, -127}}, {[4]float32{0, 1e-45, 0, -3e-45}, 8, [4]int32{-1, 0, 0, 0}},
	} {
		eachPlace(t, &laneCases[3], c.v[:], 1, c.bits, c.want[:]...)
	}
}

// Angles, and rotations in a plane, come back within half a step and what float32 rounds off.
func TestQuantiseAngleWithinHalfAStep(t *testing.T) {
	run := paritytest.Start(t, "angles within half a step")
	const n = 1000
	angle, sin, cos := make([]float32, n), make([]float32, n), make([]float32, n)
	codes, planar := make([]int32, n), make([]int32, n)
	for range paritytest.Rounds(50) {
		bits := netcode.MinLaneBits + run.IntN(netcode.MaxAngleBits-1)
		for i := range angle {
			angle[i] = (run.Float32() - 0.5) * 20
			s, c := math.Sincos(float64(angle[i]) / 2)
			sin[i], cos[i] = float32(s), float32(c)
		}
		netcode.QuantiseAngle(native.Auto, codes, angle, bits)
		netcode.QuantisePlanar(native.Auto, planar, sin, cos, bits)
		step := 2 * math.Pi / math.Ldexp(1, bits)
		for i, a := range angle {
			for _, code := range []int32{codes[i], planar[i]} {
				if off := math.Abs(math.Remainder(float64(code)*step-float64(a), 2*math.Pi)); off > step/2+4e-6 {
					t.Fatalf("angle %g, %d bits: code %d is off by %g of %g", a, bits, code, off, step)
				}
			}
		}
	}
}

// Rotations come back within the error of rounding three components.
func TestQuantiseQuatComesBack(t *testing.T) {
	run := paritytest.Start(t, "rotations come back")
	const n = 100
	src := native.Quat{X: make([]float32, n), Y: make([]float32, n), Z: make([]float32, n), W: make([]float32, n)}
	dst := netcode.QuatLanes{Index: make([]int32, n), A: make([]int32, n), B: make([]int32, n), C: make([]int32, n)}
	for range paritytest.Rounds(100) {
		bits := 6 + run.IntN(netcode.MaxQuatBits-5)
		for _, c := range [][]float32{src.X, src.Y, src.Z, src.W} {
			run.Fill(c, paritytest.Uniform)
		}
		if err := (&native.Ops{}).NormalizeQuat(src); err != nil {
			t.Fatal(err)
		}
		netcode.QuantiseQuat(native.Auto, dst, src, bits)
		unit := math.Sqrt2 * (math.Ldexp(1, bits-1) - 1)
		for i := range n {
			rest := []float64{float64(dst.A[i]) / unit, float64(dst.B[i]) / unit, float64(dst.C[i]) / unit}
			largest := math.Sqrt(max(0, 1-rest[0]*rest[0]-rest[1]*rest[1]-rest[2]*rest[2]))
			back := append(append(append([]float64{}, rest[:dst.Index[i]&3]...), largest), rest[dst.Index[i]&3:]...)
			dot := math.Abs(back[0]*float64(src.X[i]) + back[1]*float64(src.Y[i]) + back[2]*float64(src.Z[i]) + back[3]*float64(src.W[i]))
			if turn := 2 * math.Acos(min(1, dot)); turn > 6/unit+2e-3 {
				t.Fatalf("%d bits: row %d is turned by %g", bits, i, turn)
			}
		}
	}
}

func TestQuantiseMisuse(t *testing.T) {
	for _, c := range laneCases {
		dst, src := make([][]int32, c.out), c.draw(paritytest.Start(t, c.name+" misused"), 5)
		for l := range dst {
			dst[l] = make([]int32, 5)
		}
		for _, bits := range []int{1, c.maxBits + 1} {
			expectPanic(t, "netcode: "+c.name+": bits is out of range", func() { c.run(native.Auto, dst, src, 1, bits) })
		}
		expectPanic(t, "netcode: the level cannot run here; see native.Resolve", func() { c.run(99, dst, src, 1, 8) })
		for k := range src {
			short := append([][]float32{}, src...)
			short[k] = short[k][:4]
			if panicOf(func() { c.run(native.Auto, dst, short, 1, 8) }) == nil {
				t.Errorf("%s: column %d is too short, and there is no panic", c.name, k)
			}
		}
		for l := range dst {
			short := append([][]int32{}, dst...)
			short[l] = short[l][:4]
			if panicOf(func() { c.run(native.Auto, short, src, 1, 8) }) == nil {
				t.Errorf("%s: lane %d is too short, and there is no panic", c.name, l)
			}
		}
	}
}
