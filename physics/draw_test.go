package physics_test

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/physics/box2d"
)

// everything selects all marks.
var everything = physics.DrawOptions{
	Boxes: true, Contacts: true, Impulses: true, Centers: true, Velocities: true, Indices: true, Joints: true,
}

// picture returns the drawing of a world.
func (r fixture) picture(o physics.DrawOptions) (d physics.Drawing) {
	r.Helper()
	r.no(r.w.AppendDraw(&d, o))
	return d
}

func TestDrawnShapes(t *testing.T) {
	r := newFixture(t, 0)
	b := r.dynamic(10, 20, turned(math.Pi/2))
	r.circle(b, plain, 0.5)
	r.capsule(b, plain, -1, 0, 1, 0, 0.25)
	r.box(b, plain, 3, 1)
	r.segment(b, plain, 0, 0, 2, 0)
	d := r.picture(physics.DrawOptions{})
	if len(d.Circles) != 1 || len(d.Polygons) != 3 || len(d.Lines) != 0 || len(d.Labels) != 0 {
		t.Fatalf("drawn: %+v", d)
	}
	c := d.Circles[0]
	if c.Center != [2]float32{10, 20} || c.Radius != 0.5 || c.Color != physics.ColorDynamic {
		t.Errorf("the circle: %+v", c)
	}
	r.near("axis", float64(c.Axis[1]), 1, 1e-6)
	want := [][][2]float32{
		{{10, 19}, {10, 21}}, {{11, 17}, {11, 23}, {9, 23}, {9, 17}}, {{10, 20}, {10, 22}},
	}
	for i, radius := range []float32{0.25, 0, 0} {
		p := d.Polygons[i]
		if p.Radius != radius || p.Count != len(want[i]) {
			t.Fatalf("polygon %d: %+v", i, p)
		}
		for k, v := range d.Points[p.First : p.First+p.Count] {
			r.near("x", float64(v[0]), float64(want[i][k][0]), 1e-4)
			r.near("y", float64(v[1]), float64(want[i][k][1]), 1e-4)
		}
	}
	r.near("least x", float64(d.Focus.Min[0]), 9, 1e-4)
	r.near("greatest y", float64(d.Focus.Max[1]), 23, 1e-4)
}

func TestDrawnColors(t *testing.T) {
	r := newFixture(t, 0)
	still, moved := r.body(physics.StaticBody, 0, 0), r.body(physics.KinematicBody, 5, 0)
	free, out := r.dynamic(10, 0), r.dynamic(15, 0)
	fast := r.dynamic(20, 0, func(d *physics.BodyDef) { d.Bullet = true })
	for _, b := range []physics.Body{still, moved, free, out, fast} {
		r.circle(b, plain, 1)
	}
	sensor := plain
	sensor.Sensor = true
	r.circle(free, sensor, 2)
	r.no(r.w.Disable(out))
	d := r.picture(physics.DrawOptions{})
	for i, want := range []physics.Color{
		physics.ColorStatic, physics.ColorKinematic, physics.ColorDynamic, physics.ColorDisabled, physics.ColorBullet, physics.ColorSensor,
	} {
		if got := d.Circles[i].Color; got != want {
			t.Errorf("circle %d has the colour %06x, want %06x", i, got, want)
		}
	}
	if d.Extent.Min[0] != -1 || d.Focus.Min[0] != 4 {
		t.Errorf("all is in %v, what is not static in %v", d.Extent, d.Focus)
	}
}

// luminance returns the relative luminance of the Web Content Accessibility Guidelines.
func luminance(c physics.Color) (sum float64) {
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v := float64(c>>(16-8*i)&255) / 255
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		sum += weight * v
	}
	return sum
}

// The guidelines require a contrast of 3 for graphics.
func TestColorsAreSeenOnLightAndDark(t *testing.T) {
	const dark = 0x0d1117
	for _, c := range []physics.Color{
		physics.ColorStatic, physics.ColorKinematic, physics.ColorDynamic, physics.ColorBullet, physics.ColorAsleep,
		physics.ColorSensor, physics.ColorDisabled, physics.ColorBox, physics.ColorContact, physics.ColorImpulse,
		physics.ColorFriction, physics.ColorCenter, physics.ColorVelocity, physics.ColorLabel, physics.ColorJoint,
	} {
		onWhite, onDark := 1.05/(luminance(c)+0.05), (luminance(c)+0.05)/(luminance(dark)+0.05)
		if onWhite < 3 || onDark < 3 {
			t.Errorf("%06x has a contrast of %.2f on white, %.2f on dark", c, onWhite, onDark)
		}
	}
}

// A box of 4 kg rests on a floor, whose impulse in a sub-step cancels that of gravity.
func TestDrawnContacts(t *testing.T) {
	r := newFixture(t, -10)
	r.floor(plain)
	r.box(r.dynamic(0, 1), plain, 1, 1)
	r.seconds(2)
	d := r.picture(physics.DrawOptions{Contacts: true, Size: 0.4})
	if len(d.Circles) != 2 || len(d.Lines) != 2 {
		t.Fatalf("%d points, %d normals", len(d.Circles), len(d.Lines))
	}
	for i, c := range d.Circles {
		r.near("x of a point", math.Abs(float64(c.Center[0])), 1, 0.01)
		r.near("y of a point", float64(c.Center[1]), 0, 0.01)
		r.near("length of a normal", float64(d.Lines[i].P2[1]-d.Lines[i].P1[1]), 0.4, 1e-3)
	}
	d = r.picture(physics.DrawOptions{Impulses: true, ImpulseScale: 1})
	sum := 0.
	for _, l := range d.Lines {
		if l.Color == physics.ColorImpulse {
			sum += float64(l.P2[1] - l.P1[1])
		}
	}
	r.near("impulses", sum, 4*10*float64(dt)/4, 0.01)
}

// Sleeping bodies have another colour, and their contacts have impulses.
func TestDrawnSleep(t *testing.T) {
	r := fixture{t, newWorld(t, physics.Config{Gravity: [2]float32{0, -10}})}
	r.floor(plain)
	b := r.body(physics.DynamicBody, 0, 0.5, func(d *physics.BodyDef) { d.DisableSleep = false })
	r.box(b, plain, 0.5, 0.5)
	r.seconds(2)
	if r.w.Awake(b) {
		t.Fatal("the box is awake")
	}
	d := r.picture(physics.DrawOptions{Contacts: true, Impulses: true})
	if got := d.Polygons[len(d.Polygons)-1].Color; got != physics.ColorAsleep || len(d.Circles) != 2 || len(d.Lines) < 4 {
		t.Errorf("colour %06x, %d points, %d lines", got, len(d.Circles), len(d.Lines))
	}
}

func TestDrawnMarks(t *testing.T) {
	r := newFixture(t, 0)
	r.circle(r.body(physics.StaticBody, 0, 9), plain, 1)
	b := r.dynamic(3, 0, moving(2, 0, 0))
	r.circle(b, plain, 1)
	d := r.picture(physics.DrawOptions{Centers: true, Velocities: true, Indices: true, Boxes: true, VelocityScale: 2})
	count := map[physics.Color]int{}
	for _, l := range d.Lines {
		count[l.Color]++
		if l.Color == physics.ColorVelocity && (l.P1 != [2]float32{3, 0} || l.P2 != [2]float32{7, 0}) {
			t.Errorf("the velocity is drawn from %v to %v", l.P1, l.P2)
		}
	}
	want := map[physics.Color]int{physics.ColorBox: 8, physics.ColorCenter: 2, physics.ColorVelocity: 1}
	if !reflect.DeepEqual(count, want) {
		t.Errorf("lines by colour: %v, want %v", count, want)
	}
	if string(d.Text) != "01" || len(d.Labels) != 2 || d.Labels[1].First != 1 || d.Labels[1].Count != 1 {
		t.Errorf("labels %+v of %q", d.Labels, d.Text)
	}
}

func TestDrawnJoints(t *testing.T) {
	r := newFixture(t, 0)
	post, ball := r.body(physics.StaticBody, 1, 1), r.dynamic(5, 1)
	r.circle(ball, plain, 0.5)
	d := physics.DistanceJointDef{Length: 2}
	d.BodyA, d.BodyB = post, ball
	d.FrameA.Point, d.FrameB.Point = [2]float32{1, 0}, [2]float32{-0.5, 0}
	_, err := r.w.CreateDistanceJoint(d)
	r.no(err)
	m := physics.MouseJointDef{Target: [2]float32{5, 9}, Hertz: 1, MaxForce: 1}
	m.BodyA, m.BodyB = post, ball
	_, err = r.w.CreateMouseJoint(m)
	r.no(err)
	const c = physics.ColorJoint
	want := []physics.DrawnLine{
		{[2]float32{2, 1}, [2]float32{4.5, 1}, c}, {[2]float32{5, 1}, [2]float32{4.5, 1}, c},
		{[2]float32{5, 9}, [2]float32{5, 1}, c}, {[2]float32{5, 1}, [2]float32{5, 1}, c},
	}
	if got := r.picture(physics.DrawOptions{Joints: true}).Lines; !slices.Equal(got, want) {
		t.Errorf("lines %v, want %v", got, want)
	}
}

// mixture is a moving world with all kinds of shapes.
func mixture(t testing.TB) fixture {
	r := newFixture(t, -10)
	r.floor(plain)
	for i := range 40 {
		b := r.dynamic(float32(i%7), 0.5+float32(i/7), turned(float64(i)))
		switch i % 3 {
		case 0:
			r.circle(b, plain, 0.4)
		case 1:
			r.box(b, plain, 0.4, 0.3)
		case 2:
			r.capsule(b, plain, -0.2, 0, 0.2, 0, 0.2)
		}
	}
	r.seconds(0.5)
	return r
}

// public returns the exported fields of a drawing.
func public(d physics.Drawing) []any {
	return []any{d.Circles, d.Polygons, d.Lines, d.Labels, d.Points, d.Text, d.Extent, d.Focus}
}

func TestDrawingIsOfTheStateAlone(t *testing.T) {
	r := mixture(t)
	hash, d := r.w.Hash(), r.picture(everything)
	if r.w.Hash() != hash {
		t.Error("drawing has changed the world")
	}
	snapshot, err := r.w.Snapshot(nil)
	r.no(err)
	other := newFixture(t, 0)
	r.no(other.w.Restore(snapshot))
	if !reflect.DeepEqual(public(d), public(other.picture(everything))) {
		t.Error("a restored world is drawn in another way")
	}
	if len(d.Lines) < 100 {
		t.Errorf("only %d lines", len(d.Lines))
	}
	d.Reset()
	r.no(r.w.AppendDraw(&d, everything))
	if !reflect.DeepEqual(public(d), public(r.picture(everything))) {
		t.Error("a drawing that is used again differs")
	}
}

func TestDrawingAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("not run: an instrumented build allocates")
	}
	r := mixture(t)
	d := r.picture(everything)
	if n := testing.AllocsPerRun(20, func() {
		d.Reset()
		r.no(r.w.AppendDraw(&d, everything))
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestDrawingLeavesOutWhatIsNowhere(t *testing.T) {
	r := newFixture(t, -10)
	r.floor(plain)
	for i := range 3 {
		r.box(r.dynamic(float32(i), 0.5), plain, 0.5, 0.5)
	}
	r.seconds(1)
	whole := r.picture(everything)
	r.w.Columns().X[2] = float32(math.NaN())
	d := r.picture(everything)
	if len(d.Polygons) != len(whole.Polygons)-1 || len(d.Labels) != len(whole.Labels)-1 {
		t.Errorf("%d polygons and %d labels of %d and %d", len(d.Polygons), len(d.Labels), len(whole.Polygons), len(whole.Labels))
	}
	for _, l := range d.Lines {
		for _, v := range [...]float32{l.P1[0], l.P1[1], l.P2[0], l.P2[1]} {
			if math.IsNaN(float64(v)) {
				t.Fatalf("a line from %v to %v", l.P1, l.P2)
			}
		}
	}
}

func TestDrawingAfterDestruction(t *testing.T) {
	r := mixture(t)
	for i := range 20 {
		b, _ := r.w.BodyAt(1 + 2*i)
		r.no(r.w.DestroyBody(b))
	}
	r.circle(r.dynamic(0, 30), plain, 1)
	if d := r.picture(everything); len(d.Labels) != 22 {
		t.Errorf("%d labels of 22 bodies", len(d.Labels))
	}
}

func TestDrawingRefuses(t *testing.T) {
	r := mixture(t)
	d := r.picture(everything)
	before := public(d)
	for _, c := range []struct {
		o    physics.DrawOptions
		want error
	}{
		{physics.DrawOptions{Size: -1}, physics.ErrRange},
		{physics.DrawOptions{ImpulseScale: float32(math.NaN())}, physics.ErrNotFinite},
		{physics.DrawOptions{VelocityScale: 1e9}, physics.ErrRange},
	} {
		if err := r.w.AppendDraw(&d, c.o); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
	other := newFixture(t, 0, box2d.NewEngine(box2d.Options{}))
	if err := other.w.AppendDraw(&d, everything); !errors.Is(err, physics.ErrUnsupported) {
		t.Errorf("another engine: %v", err)
	}
	if !reflect.DeepEqual(public(d), before) {
		t.Error("an error has changed the drawing")
	}
}

// Shapes that a program adds extend the boxes as those of a world do.
func TestAddedShapes(t *testing.T) {
	var d physics.Drawing
	d.AddPolygon([][2]float32{{-9.5, -1}, {9.5, -1}}, 0.5, physics.ColorStatic, false)
	if !d.Focus.Empty() || d.View() != (physics.DrawnBox{Min: [2]float32{-11, -2.5}, Max: [2]float32{11, 0.5}}) {
		t.Errorf("of a wall: focus %v, view %v", d.Focus, d.View())
	}
	d.AddCircle(physics.DrawnCircle{Center: [2]float32{1, 2}, Radius: 1}, true)
	d.AddPolygon([][2]float32{{0, 0}, {2, 0}, {0, 1}}, 0, physics.ColorDynamic, true)
	if d.Focus != (physics.DrawnBox{Max: [2]float32{2, 3}}) || d.Extent != (physics.DrawnBox{Min: [2]float32{-10, -1.5}, Max: [2]float32{10, 3}}) {
		t.Errorf("focus %v, extent %v", d.Focus, d.Extent)
	}
	if len(d.Points) != 5 || d.Polygons[1].First != 2 || d.Polygons[1].Count != 3 {
		t.Errorf("%+v", d)
	}
	d.Reset()
	if d.View() != (physics.DrawnBox{Min: [2]float32{-1, -1}, Max: [2]float32{1, 1}}) {
		t.Errorf("the view of nothing is %v", d.View())
	}
}
