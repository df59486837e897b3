package rigid_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/native"
)

// limited returns a System of bodies with these velocities, which has begun a step with a speed limit.
func limited(limit float32, velocities [][3]float32, invMass float32) *heap {
	s := &heap{}
	for _, v := range velocities {
		s.disc(1, 0, 0, 0)
		i := len(s.Bodies.VX) - 1
		s.Bodies.VX[i], s.Bodies.VY[i], s.Bodies.W[i], s.Bodies.InvMass[i] = v[0], v[1], v[2], invMass
	}
	s.MaxSpeed = limit
	s.BuildConstraints(dt)
	return s
}

// What contacts and joints make of a velocity is held to the limits before it moves a body, and before the step
// ends, on every level: shortened in its direction whatever its square is, made NaN if it is infinite, and left
// alone if its body is not dynamic.
func TestSpeedLimits(t *testing.T) {
	inf, nan, huge := float32(math.Inf(1)), float32(math.NaN()), float32(math.MaxFloat32)
	rng := rand.New(rand.NewPCG(7, 7))
	velocities := [][3]float32{
		{}, {3, 4, 5}, {300, 400, 0}, {-300, 400, 1e4}, {5e9, 0, -1e9}, {1e19, -1e19, inf}, {huge, huge, huge}, {-huge, 1, -huge},
		{inf, 0, 1}, {0, -inf, nan}, {nan, 1, -inf}, {1e30, nan, 0}, {0, 1e-40, 1e-40},
	}
	for range 100 {
		f := func(most float64) float32 {
			return float32(math.Copysign(math.Pow(10, most*rng.Float64()), rng.Float64()-0.5))
		}
		velocities = append(velocities, [3]float32{f(38), f(38), f(38)}, [3]float32{f(5), f(5), f(4)})
	}
	for _, level := range native.Levels() {
		for _, limit := range []float32{400, 1e-3, 1e6} {
			s := limited(limit, velocities, 0.5)
			h, n := dt/4, len(velocities)
			s.LoadStates(level, 0, n)
			s.IntegratePositions(level, 0, n)
			s.StoreStates(level, 0, n)
			for i, v := range velocities {
				st := s.States[i]
				checkLimited(t, fmt.Sprintf("%s, limit %g, the state of %v", level, limit, v), v, [3]float32{st.VX, st.VY, st.W}, limit, float32(h))
				checkLimited(t, fmt.Sprintf("%s, limit %g, %v", level, limit, v), v, [3]float32{s.Bodies.VX[i], s.Bodies.VY[i], s.Bodies.W[i]}, limit, float32(h))
				if way := math.Hypot(float64(st.DX), float64(st.DY)); way > float64(limit)*h*1.000001 && !math.IsInf(way, 0) {
					t.Errorf("%s, limit %g, %v: has come %g m", level, limit, v, way)
				}
			}
			s = limited(limit, velocities, 0)
			s.LoadStates(level, 0, n)
			s.IntegratePositions(level, 0, n)
			s.StoreStates(level, 0, n)
			for i, v := range velocities {
				if got := [3]float32{s.Bodies.VX[i], s.Bodies.VY[i], s.Bodies.W[i]}; fmt.Sprint(got) != fmt.Sprint(v) {
					t.Errorf("%s: kinematic, with %v, has now %v", level, v, got)
				}
			}
		}
	}
}

func checkLimited(t *testing.T, what string, was, is [3]float32, limit, h float32) {
	t.Helper()
	finite := func(v float32) bool { return v-v == 0 }
	speed, now := math.Hypot(float64(was[0]), float64(was[1])), math.Hypot(float64(is[0]), float64(is[1]))
	switch {
	case !finite(was[0]) || !finite(was[1]):
		if finite(is[0]) && finite(is[1]) {
			t.Errorf("%s: became %v", what, is)
		}
	case speed <= float64(limit):
		if fmt.Sprint(was[:2]) != fmt.Sprint(is[:2]) {
			t.Errorf("%s: became %v", what, is)
		}
	case math.Abs(now/float64(limit)-1) > 1e-6 || math.Abs(float64(was[0])/speed-float64(is[0])/now) > 1e-6 ||
		math.Abs(float64(was[1])/speed-float64(is[1])/now) > 1e-6:
		t.Errorf("%s: became %v, of %g m/s", what, is, now)
	}
	most := float32(rigid.MaxRotation / h)
	switch {
	case !finite(was[2]):
		if is[2] == is[2] {
			t.Errorf("%s: turns with %v", what, is[2])
		}
	case was[2] <= most && was[2] >= -most:
		if fmt.Sprint(was[2]) != fmt.Sprint(is[2]) {
			t.Errorf("%s: turns with %v", what, is[2])
		}
	case math.Abs(float64(is[2])/math.Copysign(float64(most), float64(was[2]))-1) > 1e-6:
		t.Errorf("%s: turns with %v, at most %v", what, is[2], most)
	}
}
