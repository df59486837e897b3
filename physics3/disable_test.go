package physics3_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics3"
)

// heap returns boxes, balls and hulls on top of each other, on the ground, with a kinematic body in their middle.
func heap(t testing.TB) *physics3.World {
	w := newWorld(t, physics3.Config{Capacity: 100})
	for i := range 20 {
		kind := physics3.DynamicBody
		if i == 9 {
			kind = physics3.KinematicBody
		}
		b := bodyAt(t, w, kind, float32(i%3), 0.5+float32(i/6), float32(i/3%2))
		switch i % 3 {
		case 0:
			box(t, w, b, plain, 0.5, 0.5, 0.5)
		case 1:
			sphere(t, w, b, plain, 0.5)
		default:
			must[physics3.Shape](t)(w.CreateHull(b, plain, cube, physics3.Placement{}))
		}
	}
	steps(t, w, 30)
	return w
}

// A value that is not finite, in any column of any body, disables that body in the next step, and the others move as if it were absent.
func TestQuarantine(t *testing.T) {
	start := heap(t)
	names, _ := floats(start)
	w := must[*physics3.World](t)(start.Clone())
	for index := range start.Rows() {
		if !paritytest.Long() && index%7 != int(paritytest.Seed()%7) {
			continue
		}
		without := must[*physics3.World](t)(start.Clone())
		b, _ := without.BodyAt(index)
		no(t, without.Disable(b))
		steps(t, without, 3)
		for k, name := range names {
			for _, v := range []float32{nan, -inf, 1 << 63, math.Float32frombits(0xffc12345)} {
				no(t, w.CopyFrom(start))
				_, columns := floats(w)
				columns[k][index] = v
				steps(t, w, 1)
				what := fmt.Sprintf("%s[%d] = %v", name, index, v)
				e, value := w.Events().Disabled, v
				if v != v {
					value = nan // every NaN is stored as the same NaN
				}
				if len(e) != 1 || e[0].Body != b || e[0].Tick != 30 || e[0].Column != name || math.Float32bits(e[0].Value) != math.Float32bits(value) {
					t.Fatalf("%s: disabled are %v", what, e)
				}
				steps(t, w, 2)
				if !w.Disabled(b) || len(w.Events().Disabled) != 0 {
					t.Fatalf("%s: disabled %t, and %v again", what, w.Disabled(b), w.Events().Disabled)
				}
				sameBut(t, what, w, without, index)
			}
		}
	}
}

// sameBut compares all rows but one.
func sameBut(t *testing.T, what string, a, b *physics3.World, row int) {
	t.Helper()
	names, x := floats(a)
	_, y := floats(b)
	for k := range x {
		for i := range a.Rows() {
			if i != row && math.Float32bits(x[k][i]) != math.Float32bits(y[k][i]) {
				t.Fatalf("%s: %s[%d] is %v, without the body %v", what, names[k], i, x[k][i], y[k][i])
			}
		}
	}
}

// Several bodies at once: all are disabled, and their contacts end.
func TestQuarantineOfMany(t *testing.T) {
	w := heap(t)
	c := w.Columns()
	c.X[15], c.VY[3], c.QW[7] = nan, inf, nan
	steps(t, w, 1)
	var got []int
	for _, e := range w.Events().Disabled {
		got = append(got, e.Body.Index())
	}
	ends := 0
	for _, e := range w.Events().End {
		for _, s := range []physics3.Shape{e.A, e.B} {
			if b, err := w.ShapeBody(s); err == nil && slices.Contains(got, b.Index()) {
				ends++
			}
		}
	}
	if !slices.Equal(got, []int{3, 7, 15}) || ends == 0 {
		t.Errorf("disabled are %v, %d contacts have ended", got, ends)
	}
}

func TestEnableBringsABodyBack(t *testing.T) {
	w := heap(t)
	b, _ := w.BodyAt(20) // on top
	before := must[physics3.MassData](t)(w.MassData(b))
	w.Columns().VX[20] = nan
	steps(t, w, 30)
	if p := position(t, w, b); p[1] < 3 {
		t.Errorf("a disabled body has fallen to %v", p)
	}
	hash := w.Hash()
	for name, err := range map[string]error{
		"ApplyLinearImpulse":  w.ApplyLinearImpulse(b, vec{1, 1}, vec{}),
		"ApplyAngularImpulse": w.ApplyAngularImpulse(b, vec{1, 1}),
		"ApplyForce":          w.ApplyForce(b, vec{1, 1}, vec{}),
		"ApplyTorque":         w.ApplyTorque(b, vec{1}),
		"SetVelocity to 0":    w.SetVelocity(b, vec{}, vec{}),
		"Disable":             w.Disable(b),
	} {
		if err != nil || w.Hash() != hash {
			t.Errorf("%s: %v, or it has changed the world", name, err)
		}
	}
	if err := w.SetVelocity(b, vec{1}, vec{}); !errors.Is(err, physics3.ErrRange) {
		t.Errorf("SetVelocity: %v", err)
	}
	w.Columns().VX[20] = 5 // by writing to the column
	steps(t, w, 1)
	if v, _, _ := w.Velocity(b); v != (vec{}) {
		t.Errorf("a disabled body moves at %v", v)
	}
	no(t, w.SetTransform(b, vec{1, 9, 0.5}, quat{0, 0.5, 0, 1}))
	no(t, w.Enable(b))
	if got := must[physics3.MassData](t)(w.MassData(b)); got != before || w.Disabled(b) || w.Columns().InvMass[20] == 0 {
		t.Errorf("mass %v, was %v", got, before)
	}
	no(t, w.Enable(b))
	steps(t, w, 300)
	if p := position(t, w, b); p[1] < 0.3 || p[1] > 8 {
		t.Errorf("the body did not fall on the others: %v", p)
	}
}

// A shape of a disabled body can be created and destroyed; it takes part once the body is enabled.
func TestShapesOfDisabledBodies(t *testing.T) {
	w := newWorld(t, physics3.Config{})
	b := bodyAt(t, w, physics3.DynamicBody, 0, 0.5, 0)
	no(t, w.Disable(b))
	s, second := box(t, w, b, plain, 0.5, 0.5, 0.5), box(t, w, b, plain, 0.25, 0.5, 0.5)
	steps(t, w, 2)
	if len(w.Events().Begin) != 0 || len(w.Events().Moved) != 0 {
		t.Error("a disabled body touches")
	}
	no(t, w.DestroyShape(s))
	no(t, w.Enable(b))
	steps(t, w, 1)
	if e := w.Events().Begin; len(e) != 1 || e[0].B != second {
		t.Errorf("begun: %v", e)
	}
	if m := must[physics3.MassData](t)(w.MassData(b)); m.Mass != 0.5 {
		t.Errorf("mass %v", m)
	}
	no(t, w.Disable(b))
	no(t, w.DestroyBody(b))
	if n := bodyAt(t, w, physics3.DynamicBody, 0, 3, 0); n.Index() != b.Index() || w.Disabled(n) {
		t.Error("a new body is disabled")
	}
}

// With any values in the columns, a step ends with finite values, without an error, and with the same result on every level.
func TestHostileColumns(t *testing.T) {
	start := heap(t)
	var worlds []*physics3.World
	for i, level := range native.Levels() {
		worlds = append(worlds, emptyWorld(t, physics3.Config{Capacity: 100, Level: level, Workers: 1 + i%2}))
	}
	seeds := uint64(50)
	if paritytest.Long() {
		seeds = 2000
	}
	for first, seed := paritytest.Seed(), uint64(0); seed < seeds; seed++ {
		rng := rand.New(rand.NewPCG(first, seed))
		type write struct {
			column, row int
			v           float32
		}
		var writes []write
		for range 1 + rng.IntN(6) {
			v := math.Float32frombits(rng.Uint32())
			if rng.IntN(2) == 0 { // the largest valid values
				v = float32(math.Copysign(0x1.fffffep62, float64(v)))
			}
			writes = append(writes, write{rng.IntN(29), rng.IntN(start.Rows()), v})
		}
		for _, w := range worlds {
			no(t, w.CopyFrom(start))
			_, columns := floats(w)
			for _, x := range writes {
				columns[x.column][x.row] = x.v
			}
			for range 5 {
				steps(t, w, 1)
				sound(t, fmt.Sprintf("seed %d, %d", first, seed), w)
			}
			sameState(t, fmt.Sprintf("seed %d, %d, level %v", first, seed, w.Config().Level), worlds[0], w)
		}
	}
}

// overflowing is a world of finite numbers, many of them so large that a step overflows, with contacts that may spread values that are not
// finite.
func overflowing(t testing.TB, c physics3.Config, seed uint64) *physics3.World {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 9))
	number := func(power float64) float32 {
		return float32(math.Copysign(math.Pow(10, power*rng.Float64()), rng.Float64()-0.5))
	}
	vector := func(power float64) vec { return vec{number(power), number(power), number(power)} }
	power := []float64{2, 9, 18.9}[seed%3]
	c.Capacity, c.Gravity = 32, vector(2)
	w := emptyWorld(t, c)
	for range 16 {
		d := dynamicAt(0, 0, 0)
		d.Position, d.LinearVelocity, d.AngularVelocity, d.FixedRotation = vector(power), vector(power), vector(power), rng.IntN(4) == 0
		d.Rotation = quat{number(1), number(1), number(1), number(1)}
		b, s := bodyOf(t, w, d), plain
		s.Density, s.Restitution = float32(math.Abs(float64(number(6)))), 0.5
		switch size := float32(1 + rng.IntN(30)); rng.IntN(3) {
		case 0:
			sphere(t, w, b, s, size)
		case 1:
			box(t, w, b, s, size, size/2, size)
		default:
			must[physics3.Shape](t)(w.CreateCapsule(b, s, physics3.Capsule{P1: vec{-size, size}, P2: vec{size, -size}, Radius: size}))
		}
	}
	columns := w.Columns()
	for i := range 16 {
		columns.ForceX[i], columns.TorqueY[i] = number(18.9), number(18.9)
	}
	return w
}

// Where finite numbers overflow, state and events have the same bytes on every level with any number of workers, although the bits of NaN
// differ, and no body is faster than MaxSpeed.
func TestEventsAgreeWhereNumbersOverflow(t *testing.T) {
	disabled, fast := 0, 0
	for seed := range uint64(15) {
		var worlds []*physics3.World
		for i, level := range native.Levels() {
			worlds = append(worlds, overflowing(t, physics3.Config{Level: level, Workers: 1 + i}, seed))
		}
		base := worlds[0]
		for step := range 8 {
			for _, w := range worlds {
				steps(t, w, 1)
			}
			what := fmt.Sprintf("seed %d, step %d", seed, step)
			sound(t, what, base)
			disabled += len(base.Events().Disabled)
			for _, v := range base.Columns().VX[:base.Rows()] {
				if math.Abs(float64(v)) > 200 {
					fast++
				}
			}
			want, state := base.AppendEvents(nil), snapshot(t, base)
			no(t, emptyWorld(t, base.Config()).Restore(state))
			for _, w := range worlds[1:] {
				sameState(t, fmt.Sprint(what, ", level ", w.Config().Level), base, w)
				if !bytes.Equal(w.AppendEvents(nil), want) || !bytes.Equal(snapshot(t, w), state) {
					t.Fatalf("%s: level %v has other bytes of events or state", what, w.Config().Level)
				}
			}
		}
	}
	t.Logf("%d bodies disabled, %d at full speed", disabled, fast)
	if disabled < 10 || fast < 10 {
		t.Errorf("%d bodies disabled, %d at full speed: too few for the test", disabled, fast)
	}
}

// Commands that overflow leave the same NaN, too, until the next step finds it.
func TestCommandsLeaveOneNaN(t *testing.T) {
	w := emptyWorld(t, physics3.Config{Capacity: 4})
	b := bodyAt(t, w, physics3.DynamicBody, 0, 0, 0)
	sphere(t, w, b, plain, 0.1)
	c, most := w.NewCommands(), float32(math.MaxFloat32)
	for _, sign := range []float32{1, -1} {
		c.ApplyLinearImpulse(b, vec{sign * most, 0, 0}, vec{most, most, most})
		c.ApplyForce(b, vec{sign * most, sign * most, sign * most}, vec{most, most, most})
	}
	no(t, w.Apply(c))
	_, columns := floats(w)
	nans := 0
	for _, column := range columns {
		if v := column[0]; v != v {
			nans++
			if !oneNaN(v) {
				t.Errorf("a NaN with the bits %#x", math.Float32bits(v))
			}
		}
	}
	if nans == 0 {
		t.Error("no NaN: not the case to test")
	}
}

// Rotations of any length that a program writes are normal after a step, and keep their direction.
func TestWrittenRotationsBecomeNormal(t *testing.T) {
	w := emptyWorld(t, physics3.Config{})
	b := bodyAt(t, w, physics3.DynamicBody, 0, 0, 0)
	c := w.Columns()
	for _, size := range []float32{1, 1.001, 3, 1e10, 9e18, 1e-3, 1e-15, 1e-22, 1e-37, 1e-40} {
		c.QX[0], c.QY[0], c.QZ[0], c.QW[0] = size, -size, size, size
		steps(t, w, 1)
		q := must[quat](t)(w.Rotation(b))
		for k, want := range [...]float32{0.5, -0.5, 0.5, 0.5} {
			if math.Abs(float64(q[k]-want)) > 1e-6 {
				t.Errorf("size %g became %v", size, q)
				break
			}
		}
	}
	c.QX[0], c.QY[0], c.QZ[0], c.QW[0] = 0, 0, 0, 0
	steps(t, w, 1)
	if q := must[quat](t)(w.Rotation(b)); q != unit {
		t.Errorf("no rotation became %v", q)
	}
}
