package physics_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
)

// overflowing is a world of finite numbers, many of them so large that a step overflows, with joints and contacts
// that may spread values that are not finite.
func overflowing(t testing.TB, c physics.Config, seed uint64) *physics.World {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 9))
	number := func(power float64) float32 {
		return float32(math.Copysign(math.Pow(10, power*rng.Float64()), rng.Float64()-0.5))
	}
	vector := func(power float64) [2]float32 { return [2]float32{number(power), number(power)} }
	power := []float64{2, 9, 18.9}[seed%3]
	c.Capacity, c.Gravity = 32, vector(2)
	w := newWorld(t, c)
	var all []physics.Body
	for i := range 16 {
		d := physics.DefaultBodyDef()
		d.Type, d.Position, d.LinearVelocity, d.AngularVelocity = physics.DynamicBody, vector(power), vector(power), number(power)
		d.FixedRotation = rng.IntN(4) == 0
		b := must[physics.Body](t)(w.CreateBody(d))
		s := material(0.5, 0.5)
		s.Density = float32(math.Abs(float64(number(6))))
		must[physics.Shape](t)(w.CreateCircle(b, s, physics.Circle{Radius: float32(1 + rng.IntN(300))}))
		if all = append(all, b); i == 0 {
			continue
		}
		j := common(all[rng.IntN(i)], b)
		j.FrameA, j.FrameB = at(number(6), number(6), number(1)), at(number(6), number(6), number(1))
		j.CollideConnected = true
		if rng.IntN(2) == 0 {
			j.BreakForce, j.BreakTorque = 1, 1
		}
		// The soft ones, and the stiff ones.
		must[physics.Joint](t)(jointMakers[rng.IntN(len(jointMakers))].create(w, j))
		must[physics.Joint](t)(pulls[rng.IntN(len(pulls))].create(w, j))
	}
	columns := w.Columns()
	for i := range 16 {
		columns.ForceX[i], columns.Torque[i] = number(18.9), number(18.9)
	}
	return w
}

// Where finite numbers overflow, events have the same bytes on every level with any number of
// workers, although the bits of NaN differ, and no body is faster than MaxSpeed.
func TestEventsAgreeWhereNumbersOverflow(t *testing.T) {
	nans, disabled, fast := 0, 0, 0
	for seed := range uint64(24) {
		var worlds []*physics.World
		for i, level := range native.Levels() {
			worlds = append(worlds, overflowing(t, physics.Config{Level: level, Workers: 1 + i}, seed))
		}
		base := worlds[0]
		for step := range 12 {
			for _, w := range worlds {
				steps(t, w, 1)
			}
			what := fmt.Sprintf("seed %d, step %d", seed, step)
			nans += oneNaN(t, what, base.Events())
			disabled += len(base.Events().Disabled)
			speedLimits(t, what, base)
			for _, v := range base.Columns().VX[:base.Rows()] {
				if math.Abs(float64(v)) > 390 {
					fast++
				}
			}
			want, state := base.AppendEvents(nil), snapshot(t, base)
			restore(t, newWorld(t, base.Config()), state)
			for i, w := range worlds[1:] {
				sameState(t, fmt.Sprint(what, ", level ", native.Levels()[i+1]), base, w)
				if !bytes.Equal(w.AppendEvents(nil), want) || !bytes.Equal(snapshot(t, w), state) {
					t.Fatalf("%s: level %v has other bytes of events or state", what, native.Levels()[i+1])
				}
			}
		}
	}
	t.Logf("%d NaNs in events, %d bodies disabled, %d at full speed", nans, disabled, fast)
	if nans < 10 || disabled <= nans/2 || fast < 10 {
		t.Errorf("%d NaNs in events, %d bodies disabled, %d at full speed: too few for the test", nans, disabled, fast)
	}
}

// Commands that overflow leave the same NaN, too, until the next step finds it.
func TestCommandsLeaveOneNaN(t *testing.T) {
	w := newWorld(t, physics.Config{Capacity: 4})
	b := body(t, w, physics.DynamicBody, 0, 0)
	circle(t, w, b, plain, 0.1)
	c, most := w.NewCommands(), float32(math.MaxFloat32)
	for _, sign := range []float32{1, -1} {
		c.ApplyLinearImpulse(b, [2]float32{sign * most, 0}, [2]float32{most, most})
		c.ApplyForce(b, [2]float32{sign * most, sign * most}, [2]float32{most, most})
	}
	if err := w.Apply(c); err != nil {
		t.Fatal(err)
	}
	columns, nans := w.Columns(), 0
	for _, v := range []float32{columns.VX[0], columns.W[0], columns.ForceX[0], columns.Torque[0]} {
		if v != v {
			if nans++; math.Float32bits(v) != 0x7fc00000 {
				t.Errorf("a NaN with the bits %#x", math.Float32bits(v))
			}
		}
	}
	if nans == 0 {
		t.Error("no NaN: not the case to test")
	}
}
