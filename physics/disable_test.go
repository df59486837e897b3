package physics_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/physics/box2d"
)

// floatColumns returns the columns by name, in the order in which a step checks them.
func floatColumns(c physics.Columns) (names []string, columns [][]float32) {
	for _, x := range []struct {
		name   string
		column []float32
	}{
		{"X", c.X}, {"Y", c.Y}, {"Angle", c.Angle}, {"Cos", c.Cos}, {"Sin", c.Sin}, {"VX", c.VX}, {"VY", c.VY}, {"W", c.W},
		{"LinearDamping", c.LinearDamping}, {"AngularDamping", c.AngularDamping}, {"GravityScale", c.GravityScale},
		{"ForceX", c.ForceX}, {"ForceY", c.ForceY}, {"Torque", c.Torque}, {"CentreX", c.CentreX}, {"CentreY", c.CentreY},
		{"InvMass", c.InvMass}, {"InvInertia", c.InvInertia},
	} {
		names, columns = append(names, x.name), append(columns, x.column)
	}
	return names, columns
}

// heap returns boxes and discs on top of each other, on the ground, with a kinematic body
// in their middle.
func heap(t testing.TB) *physics.World {
	w := newWorld(t, physics.Config{Capacity: 100, Gravity: [2]float32{0, -10}})
	box(t, w, body(t, w, physics.StaticBody, 0, -1), 20, 1)
	for i := range 20 {
		kind := physics.DynamicBody
		if i == 9 {
			kind = physics.KinematicBody
		}
		b := body(t, w, kind, float32(i%5), 0.5+float32(i/5))
		if i%2 == 0 {
			box(t, w, b, 0.5, 0.5)
		} else {
			must[physics.Shape](t)(w.CreateCircle(b, physics.DefaultShapeDef(), physics.Circle{Radius: 0.5}))
		}
	}
	steps(t, w, 30)
	return w
}

func steps(t testing.TB, w *physics.World, n int) {
	t.Helper()
	for range n {
		if err := w.Step(1. / 60); err != nil {
			t.Fatal(err)
		}
	}
}

// A value that is not finite, in any column of any body, disables that body in the next
// step, and the others move as if it were absent.
func TestQuarantine(t *testing.T) {
	start := heap(t)
	names, _ := floatColumns(start.Columns())
	for index := range start.Rows() {
		if !paritytest.Long() && index%4 != int(paritytest.Seed()%4) {
			continue
		}
		without := must[*physics.World](t)(start.Clone())
		b, _ := without.BodyAt(index)
		if err := without.Disable(b); err != nil {
			t.Fatal(err)
		}
		steps(t, without, 3)
		for k, name := range names {
			for _, v := range []float32{nan, inf, -inf, 1 << 63, -math.MaxFloat32, math.Float32frombits(0xffc12345)} {
				w := must[*physics.World](t)(start.Clone())
				_, columns := floatColumns(w.Columns())
				columns[k][index] = v
				steps(t, w, 1)
				what := fmt.Sprintf("%s[%d] = %v", name, index, v)
				e, value := w.Events().Disabled, v
				if v != v {
					value = nan // every NaN is stored as the same NaN
				}
				if len(e) != 1 || e[0].Body != b || e[0].Tick != 30 || e[0].Column != name ||
					math.Float32bits(e[0].Value) != math.Float32bits(value) {
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
func sameBut(t *testing.T, what string, a, b *physics.World, row int) {
	t.Helper()
	names, x := floatColumns(a.Columns())
	_, y := floatColumns(b.Columns())
	for k := range x {
		for i := range a.Rows() {
			if i != row && math.Float32bits(x[k][i]) != math.Float32bits(y[k][i]) {
				t.Fatalf("%s: %s[%d] is %v, without the body %v", what, names[k], i, x[k][i], y[k][i])
			}
		}
	}
}

// Several bodies at once, in the same step, and the bodies after them.
func TestQuarantineOfMany(t *testing.T) {
	w := heap(t)
	c := w.Columns()
	c.X[15], c.VY[3], c.W[7] = nan, inf, nan
	steps(t, w, 1)
	var got []int
	for _, e := range w.Events().Disabled {
		got = append(got, e.Body.Index())
	}
	if !slices.Equal(got, []int{3, 7, 15}) {
		t.Errorf("disabled are %v", got)
	}
	ends := 0
	for _, e := range w.Events().End {
		for _, s := range []physics.Shape{e.A, e.B} {
			if b, err := w.ShapeBody(s); err == nil && slices.Contains(got, b.Index()) {
				ends++
			}
		}
	}
	if ends == 0 {
		t.Error("no contact of a disabled body has ended")
	}
}

func TestEnableBringsABodyBack(t *testing.T) {
	w := heap(t)
	b, _ := w.BodyAt(20) // on top
	before := must[physics.MassData](t)(w.MassData(b))
	w.Columns().VX[20] = nan
	steps(t, w, 30)
	if p := must[[2]float32](t)(w.Position(b)); p[1] < 3 {
		t.Errorf("a disabled body has fallen to %v", p)
	}
	hash := w.Hash()
	for name, err := range map[string]error{
		"ApplyLinearImpulse": w.ApplyLinearImpulse(b, [2]float32{1, 1}, [2]float32{}),
		"ApplyForce":         w.ApplyForce(b, [2]float32{1, 1}, [2]float32{}),
		"ApplyTorque":        w.ApplyTorque(b, 1),
		"SetVelocity to 0":   w.SetVelocity(b, [2]float32{}, 0),
		"Disable":            w.Disable(b),
	} {
		if err != nil || w.Hash() != hash {
			t.Errorf("%s: %v, or it has changed the world", name, err)
		}
	}
	if err := w.SetVelocity(b, [2]float32{1, 0}, 0); !errors.Is(err, physics.ErrRange) {
		t.Errorf("SetVelocity: %v", err)
	}
	w.Columns().VX[20] = 5 // by writing to the column
	steps(t, w, 1)
	if v, _, _ := w.Velocity(b); v != [2]float32{} {
		t.Errorf("a disabled body moves at %v", v)
	}
	if err := w.SetTransform(b, [2]float32{2, 9}, 0.5); err != nil {
		t.Fatal(err)
	}
	if err := w.Enable(b); err != nil {
		t.Fatal(err)
	}
	if got := must[physics.MassData](t)(w.MassData(b)); got != before || w.Disabled(b) || w.Columns().InvMass[20] == 0 {
		t.Errorf("mass %v, was %v", got, before)
	}
	if err := w.Enable(b); err != nil {
		t.Error(err)
	}
	steps(t, w, 300)
	if p := must[[2]float32](t)(w.Position(b)); p[1] < 0.4 || p[1] > 8 {
		t.Errorf("the body did not fall on the others: %v", p)
	}
}

// A shape of a disabled body can be created and destroyed; it takes part once the body is
// enabled.
func TestShapesOfDisabledBodies(t *testing.T) {
	w := newWorld(t, physics.Config{Gravity: [2]float32{0, -10}})
	box(t, w, body(t, w, physics.StaticBody, 0, -1), 20, 1)
	b := body(t, w, physics.DynamicBody, 0, 0.5)
	if err := w.Disable(b); err != nil {
		t.Fatal(err)
	}
	s := box(t, w, b, 0.5, 0.5)
	second := box(t, w, b, 0.25, 0.5)
	steps(t, w, 2)
	if len(w.Events().Begin) != 0 || len(w.Events().Moved) != 0 {
		t.Error("a disabled body touches")
	}
	if err := w.DestroyShape(s); err != nil {
		t.Fatal(err)
	}
	if err := w.Enable(b); err != nil {
		t.Fatal(err)
	}
	steps(t, w, 1)
	if e := w.Events().Begin; len(e) != 1 || e[0].B != second {
		t.Errorf("begun: %v", e)
	}
	if m := must[physics.MassData](t)(w.MassData(b)); m.Mass != 0.5 {
		t.Errorf("mass %v", m)
	}
	if err := w.Disable(b); err != nil {
		t.Fatal(err)
	}
	if err := w.DestroyBody(b); err != nil {
		t.Fatal(err)
	}
	if n := body(t, w, physics.DynamicBody, 0, 3); n.Index() != b.Index() || w.Disabled(n) {
		t.Error("a new body is disabled")
	}
}

// With any values in the columns, a step ends with finite values, without an
// error, and with the same result on every level.
func TestHostileColumns(t *testing.T) {
	start := heap(t)
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var last *physics.World
		write := make(map[[2]int]float32)
		for range 1 + rng.IntN(6) {
			v := math.Float32frombits(rng.Uint32())
			if rng.IntN(2) == 0 { // the largest valid values
				v = float32(math.Copysign(0x1.fffffep62, float64(v)))
			}
			write[[2]int{rng.IntN(18), rng.IntN(start.Rows())}] = v
		}
		for _, level := range native.Levels() {
			w := newWorld(t, physics.Config{Capacity: 100, Level: level})
			if err := w.CopyFrom(start); err != nil {
				t.Fatal(err)
			}
			_, columns := floatColumns(w.Columns())
			for at, v := range write {
				columns[at[0]][at[1]] = v
			}
			for range 5 {
				if err := w.Step(1. / 60); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				names, columns := floatColumns(w.Columns())
				for k, column := range columns {
					for i, v := range column[:w.Rows()] {
						if !(v > -1<<63 && v < 1<<63) {
							t.Fatalf("seed %d: %s[%d] = %v after a step", seed, names[k], i, v)
						}
					}
				}
			}
			if last != nil {
				sameState(t, fmt.Sprintf("seed %d, level %v", seed, level), last, w)
			}
			last = w
		}
	}
}

func TestOtherEnginesDisableNothing(t *testing.T) {
	w := must[*physics.World](t)(box2d.New(physics.Config{}))
	b := body(t, w, physics.DynamicBody, 0, 0)
	s := must[physics.Shape](t)(w.CreateCircle(b, physics.DefaultShapeDef(), physics.Circle{Radius: 1}))
	_, massErr := w.MassData(b)
	_, centreErr := w.WorldCenter(b)
	_, defErr := w.ShapeDef(s)
	for name, err := range map[string]error{
		"Disable": w.Disable(b), "Enable": w.Enable(b), "SetType": w.SetType(b, physics.StaticBody), "MassData": massErr,
		"WorldCenter": centreErr, "ShapeDef": defErr, "SetShapeDef": w.SetShapeDef(s, physics.DefaultShapeDef()),
		"SetTargetTransform": w.SetTargetTransform(b, [2]float32{}, 0, 1),
	} {
		if !errors.Is(err, physics.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.Columns().VX[0] = nan
	if err := w.Step(1); err != nil {
		t.Error("box2d writes its columns anew")
	}
	if len(w.Events().Disabled) != 0 {
		t.Error("box2d has events")
	}
}
