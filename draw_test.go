package evertick_test

import (
	"math"
	"reflect"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/physics"
)

// drawn returns the drawing of a Sim, and checks that the state has not changed.
func drawn(t testing.TB, s *evertick.Sim, o evertick.DrawOptions) (d physics.Drawing) {
	t.Helper()
	before := s.Hash()
	if err := s.AppendDraw(&d, o); err != nil {
		t.Fatal(err)
	}
	if s.Hash() != before {
		t.Error("drawing has changed the state")
	}
	return d
}

// Bodies are drawn as bodies, other entities as discs: where they are, as large as their scale says, in the colour of
// their first tag.
func TestAppendDraw(t *testing.T) {
	for _, plane := range []physics.Plane{physics.XY, physics.XZ} {
		c := small()
		c.Physics.Plane = plane
		s := newSim(t, c)
		red, errRed := s.World.Tag("red")
		blue, errBlue := s.World.Tag("blue")
		errs := []error{errRed, errBlue}
		for i := range 5 {
			id := spawn(t, s)
			at := plane.Join([2]float32{float32(i), 2}, 9)
			q := plane.Rotation(float32(i) * 0.5)
			errs = append(errs, s.World.SetPosition(id, at[0], at[1], at[2]), s.World.SetRotation(id, q[0], q[1], q[2], q[3]))
			switch i {
			case 1:
				red.Set(id)
				blue.Set(id)
				errs = append(errs, s.World.SetScale(id, -3, 1, 1))
			case 2:
				blue.Set(id)
			case 3:
				b, err := s.CreateBody(id, physics.DefaultBodyDef())
				_, errShape := s.Physics.CreateCircle(b, physics.DefaultShapeDef(), physics.Circle{Radius: 1})
				errs = append(errs, err, errShape)
			case 4:
				slot, _ := s.World.Slot(id)
				s.World.Position.X[slot] = float32(math.Inf(1))
			}
		}
		for _, err := range errs {
			if err != nil {
				t.Fatal(err)
			}
		}
		d := drawn(t, s, evertick.DrawOptions{Radius: 0.5, Tags: []evertick.TagColor{{Tag: red, Color: 0xff0000}, {Tag: blue, Color: 0xff}}})
		if len(d.Circles) != 4 {
			t.Fatalf("%v: %d circles: %+v", plane, len(d.Circles), d.Circles)
		}
		if c := d.Circles[0]; c.Radius != 1 || c.Color != physics.ColorStatic {
			t.Errorf("%v: the body is %+v", plane, c)
		}
		for i, want := range []physics.DrawnCircle{
			{Center: [2]float32{0, 2}, Radius: 0.5, Color: evertick.ColorEntity},
			{Center: [2]float32{1, 2}, Radius: 1.5, Color: 0xff0000},
			{Center: [2]float32{2, 2}, Radius: 0.5, Color: 0xff},
		} {
			got := d.Circles[i+1]
			sin, cos := math.Sincos(float64(i) * 0.5)
			axis := [2]float32{float32(cos), float32(sin)}
			if i == 0 {
				axis = [2]float32{} // not turned
			}
			if math.Abs(float64(got.Axis[0]-axis[0])) > 1e-5 || math.Abs(float64(got.Axis[1]-axis[1])) > 1e-5 {
				t.Errorf("%v: the axis of entity %d is %v, want %v", plane, i, got.Axis, axis)
			}
			if got.Axis = (want.Axis); got != want {
				t.Errorf("%v: entity %d is %+v, want %+v", plane, i, got, want)
			}
		}
		if want := (physics.DrawnBox{Min: [2]float32{-0.5, 0.5}, Max: [2]float32{2.5, 3.5}}); d.Focus != want {
			t.Errorf("%v: the focus is %v, want %v", plane, d.Focus, want)
		}
		if usual := drawn(t, s, evertick.DrawOptions{}); usual.Circles[1].Radius != 0.25 {
			t.Errorf("the usual radius is %v", usual.Circles[1].Radius)
		}
		if n := testing.AllocsPerRun(5, func() {
			d.Reset()
			if err := s.AppendDraw(&d, evertick.DrawOptions{}); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	}
}

func TestAppendDrawRefuses(t *testing.T) {
	s := newSim(t, small())
	spawn(t, s)
	var d physics.Drawing
	wantError(t, s.AppendDraw(&d, evertick.DrawOptions{Radius: -1}), evertick.ErrRange, "DrawOptions.Radius = -1")
	wantError(t, s.AppendDraw(&d, evertick.DrawOptions{Radius: float32(math.NaN())}), evertick.ErrNotFinite, "DrawOptions.Radius = NaN")
	wantError(t, s.AppendDraw(&d, evertick.DrawOptions{Bodies: physics.DrawOptions{Size: -1}}), evertick.ErrRange, "DrawOptions.Size")
	if !reflect.DeepEqual(d, physics.Drawing{}) {
		t.Errorf("after errors: %+v", d)
	}
}
