package physics_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/evertick/evertick/physics"
)

// rounded is a box with a radius.
func rounded(hx, hy, radius float32) physics.Polygon {
	p := physics.Box(hx, hy)
	p.Radius = radius
	return p
}

// What falls on a floor comes to rest at the height of its shape, on any kind of floor.
func TestRestingHeights(t *testing.T) {
	floors := map[string]func(r fixture){
		"box": func(r fixture) { r.floor(plain) },
		"segment": func(r fixture) {
			r.segment(r.body(physics.StaticBody, 0, 0), plain, -20, 0, 20, 0)
		},
		"reversed segment": func(r fixture) {
			r.segment(r.body(physics.StaticBody, 0, 0), plain, 20, 0, -20, 0)
		},
		"capsule": func(r fixture) {
			r.capsule(r.body(physics.StaticBody, 0, -0.5), plain, -20, 0, 20, 0, 0.5)
		},
		"rounded box": func(r fixture) {
			r.polygon(r.body(physics.StaticBody, 0, -1), plain, rounded(20, 0.75, 0.25))
		},
	}
	triangle, err := physics.NewPolygon([2]float32{-0.5, -0.25}, [2]float32{0.5, -0.25}, [2]float32{0, 0.5})
	if err != nil {
		t.Fatal(err)
	}
	for floor, build := range floors {
		for _, c := range []struct {
			name   string
			add    func(r fixture, b physics.Body)
			height float64
		}{
			{"disc", func(r fixture, b physics.Body) { r.circle(b, plain, 0.4) }, 0.4},
			{"box", func(r fixture, b physics.Body) { r.box(b, plain, 0.5, 0.3) }, 0.3},
			{"rounded box", func(r fixture, b physics.Body) { r.polygon(b, plain, rounded(0.5, 0.3, 0.1)) }, 0.4},
			{"capsule", func(r fixture, b physics.Body) { r.capsule(b, plain, -0.5, 0, 0.5, 0, 0.25) }, 0.25},
			{"triangle", func(r fixture, b physics.Body) { r.polygon(b, plain, triangle) }, 0.25},
			{"two discs", func(r fixture, b physics.Body) {
				for _, x := range []float32{-0.6, 0.6} {
					_, err := r.w.CreateCircle(b, plain, physics.Circle{Center: [2]float32{x, 0}, Radius: 0.4})
					r.no(err)
				}
			}, 0.4},
		} {
			r := newFixture(t, -10)
			build(r)
			b := r.dynamic(0, 1)
			c.add(r, b)
			r.seconds(4)
			name := c.name + " on " + floor
			x, y := r.at(b)
			r.near(name+": height", y, c.height, 0.003)
			r.near(name+": x", x, 0, 0.01)
			r.near(name+": angle", r.angle(b), 0, 0.005)
		}
	}
}

// A segment collides on both sides.
func TestSegmentsHaveTwoSides(t *testing.T) {
	for _, side := range []float32{1, -1} {
		r := newFixture(t, -10*side)
		r.segment(r.body(physics.StaticBody, 0, 0), plain, -5, 0, 5, 0)
		b := r.dynamic(0, side)
		r.box(b, plain, 0.25, 0.25)
		r.seconds(3)
		_, y := r.at(b)
		r.near(fmt.Sprintf("side %v", side), y, 0.25*float64(side), 0.003)
	}
}

// A body slides over the joints of a floor of boxes.
func TestSlidingOverJoints(t *testing.T) {
	r := newFixture(t, -10)
	ground := r.body(physics.StaticBody, 0, 0)
	for i := range 40 {
		p := physics.Box(0.5, 0.5)
		for k := range p.Count {
			p.Vertices[k][0] += float32(i)
			p.Vertices[k][1] -= 0.5
		}
		r.polygon(ground, material(0, 0), p)
	}
	b := r.dynamic(1, 0.3, moving(10, 0, 0))
	r.polygon(b, material(0, 0), rounded(0.4, 0.25, 0.05))
	r.seconds(3)
	x, y := r.at(b)
	r.near("x", x, 31, 0.5)
	r.near("y", y, 0.3, 0.01)
	r.near("angle", r.angle(b), 0, 0.02)
}

// A kinematic body pushes and is not pushed.
func TestKinematicPushes(t *testing.T) {
	r := newFixture(t, -10)
	r.floor(plain)
	pusher := r.body(physics.KinematicBody, -2, 0.5, moving(1, 0, 0))
	r.box(pusher, plain, 0.5, 0.5)
	b := r.dynamic(0, 0.5)
	r.box(b, plain, 0.5, 0.5)
	r.seconds(4)
	px, py := r.at(pusher)
	r.near("pusher: x", px, 2, 1e-3)
	r.near("pusher: y", py, 0.5, 0)
	x, _ := r.at(b)
	r.near("box: x", x, 3, 0.02)
	vx, _, _ := r.velocity(b)
	r.near("box: speed", vx, 1, 0.02)
}

func TestLift(t *testing.T) {
	r := newFixture(t, -10)
	lift := r.body(physics.KinematicBody, 0, -0.5, moving(0, 2, 0))
	r.box(lift, plain, 2, 0.5)
	b := r.dynamic(0, 0.5)
	r.box(b, plain, 0.5, 0.5)
	r.seconds(3)
	x, y := r.at(b)
	r.near("x", x, 0, 1e-3)
	r.near("y", y, 6.5, 0.01)
	r.no(r.w.SetVelocity(lift, [2]float32{1, 0}, 0))
	r.seconds(2) // a box on a tray is carried along
	vx, _, _ := r.velocity(b)
	r.near("vx", vx, 1, 0.01)
}

func TestPaddle(t *testing.T) {
	r := newFixture(t, 0)
	paddle := r.body(physics.KinematicBody, 0, 0, moving(0, 0, 1))
	r.box(paddle, plain, 3, 0.2)
	ball := r.dynamic(2, 0.8)
	r.circle(ball, material(0, 0), 0.5)
	r.seconds(1)
	vx, vy, _ := r.velocity(ball)
	if x, y := r.at(ball); math.Atan2(y, x) < 1 || math.Hypot(vx, vy) < 1.8 {
		t.Errorf("the ball is at (%v, %v) with (%v, %v) m/s", x, y, vx, vy)
	}
	r.near("paddle", r.angle(paddle), 1, 1e-3)
}

// The mass of a body is that of its shapes, and it turns about their centre.
func TestCompound(t *testing.T) {
	r := newFixture(t, 0)
	b := r.dynamic(0, 0, moving(1, 0, 2))
	for _, x := range []float32{-1, 2} { // discs of π/4 kg
		_, err := r.w.CreateCircle(b, plain, physics.Circle{Center: [2]float32{x, 0}, Radius: 0.5})
		r.no(err)
	}
	c, i := r.w.Columns(), b.Index()
	mass := 2 * math.Pi / 4
	r.near("mass", 1/float64(c.InvMass[i]), mass, 1e-5)
	r.near("inertia", 1/float64(c.InvInertia[i]), mass*(0.125+1.5*1.5), 1e-4)
	r.near("centre", float64(c.CentreX[i]), 0.5, 1e-6)
	// The origin had 1 m/s: the centre goes 2·0.5 m/s up as well.
	before := r.total()
	r.seconds(2)
	x, y := r.at(b)
	angle := r.angle(b)
	cx, cy := x+0.5*math.Cos(angle), y+0.5*math.Sin(angle)
	r.near("centre: x", cx, 0.5+2*before.px/mass, 1e-3)
	r.near("centre: y", cy, 2*before.py/mass, 1e-3)
	r.near("centre: speed up", before.py/mass, 1, 1e-5)
	r.near("angle", math.Remainder(angle-4, 2*math.Pi), 0, 1e-2)
}

// The shapes of a body stay together and carry it as feet do.
func TestTable(t *testing.T) {
	r := newFixture(t, -10)
	r.floor(plain)
	table := r.dynamic(0, 1.2)
	r.box(table, plain, 1, 0.1)
	for _, x := range []float32{-0.9, 0.9} {
		leg := physics.Box(0.1, 0.5)
		for k := range leg.Count {
			leg.Vertices[k][0] += x
			leg.Vertices[k][1] -= 0.6
		}
		r.polygon(table, plain, leg)
	}
	ball := r.dynamic(0, 2)
	r.circle(ball, plain, 0.3)
	under := r.dynamic(0, 0.2)
	r.circle(under, plain, 0.2)
	r.seconds(5)
	_, y := r.at(table)
	r.near("table", y, 1.1, 0.005)
	_, y = r.at(ball)
	r.near("ball on it", y, 1.5, 0.01)
	x, y := r.at(under)
	r.near("ball under it: x", x, 0, 0.01)
	r.near("ball under it: y", y, 0.2, 0.003)
}

func TestFixedRotation(t *testing.T) {
	r := newFixture(t, -10)
	r.floor(plain)
	b := r.dynamic(0, 2, turned(0.5), func(d *physics.BodyDef) { d.FixedRotation = true })
	r.box(b, plain, 0.5, 0.5)
	r.seconds(2)
	r.near("angle", r.angle(b), 0.5, 1e-6)
	_, y := r.at(b)
	r.near("height on a corner", y, 0.5*(math.Sin(0.5)+math.Cos(0.5)), 0.005)
}

// Shapes whose filters do not agree pass each other.
func TestFiltersOfSolver(t *testing.T) {
	const all = ^uint64(0)
	for _, c := range []struct {
		name string
		a, b physics.Filter
		want bool
	}{
		{"masks match", physics.Filter{Category: 1 << 40, Mask: 2}, physics.Filter{Category: 2, Mask: 1 << 40}, true},
		{"one mask does not", physics.Filter{Category: 1, Mask: 2}, physics.Filter{Category: 2, Mask: 2}, false},
		{"positive group", physics.Filter{Group: 1 << 20}, physics.Filter{Group: 1 << 20}, true},
		{"negative group", physics.Filter{Category: 1, Mask: all, Group: -9}, physics.Filter{Category: 1, Mask: all, Group: -9}, false},
		{"different groups", physics.Filter{Category: 1, Mask: all, Group: -1}, physics.Filter{Category: 1, Mask: all, Group: -2}, true},
	} {
		r := newFixture(t, 0)
		a, b := plain, plain
		a.Filter, b.Filter = c.a, c.b
		left, right := r.dynamic(-1, 0, moving(3, 0, 0)), r.dynamic(1, 0, moving(-3, 0, 0))
		r.circle(left, a, 0.5)
		r.circle(right, b, 0.5)
		r.seconds(1)
		if x, _ := r.at(left); (x < 0) != c.want {
			t.Errorf("%s: the left one is at %v", c.name, x)
		}
	}
}

var bodyTypes = []physics.BodyType{physics.StaticBody, physics.KinematicBody, physics.DynamicBody}

// A sensor tells who comes and who goes, whatever the types of the two bodies as long as one
// can move, and pushes nobody.
func TestSensors(t *testing.T) {
	for _, of := range bodyTypes {
		for _, visitor := range bodyTypes {
			for _, first := range []bool{true, false} {
				if of == physics.StaticBody && visitor == physics.StaticBody {
					continue
				}
				name := fmt.Sprintf("%v sensor, %v visitor, sensor first: %v", of, visitor, first)
				testSensor(newFixture(t, 0), name, of, visitor, first)
			}
		}
	}
}

func testSensor(r fixture, name string, of, visitor physics.BodyType, first bool) {
	r.Helper()
	d := plain
	d.Sensor = true
	var sensor, shape physics.Shape
	makeSensor := func() {
		var v func(d *physics.BodyDef) = moving(0, 0, 0)
		if visitor == physics.StaticBody {
			v = moving(-2, 0, 0)
		}
		sensor = r.box(r.body(of, 0, 0, v), d, 0.5, 0.5)
	}
	if first {
		makeSensor()
	}
	v := moving(2, 0, 0)
	if visitor == physics.StaticBody {
		v = moving(0, 0, 0)
	}
	b := r.body(visitor, -3, 0, v)
	shape = r.circle(b, plain, 0.5)
	if !first {
		makeSensor()
	}
	var begin, end []int
	for step := range 180 {
		r.steps(1)
		e := r.w.Events()
		want := []physics.Sensed{{Sensor: sensor, Visitor: shape}}
		if len(e.SensorBegin) > 0 {
			begin = append(begin, step)
			if !slices.Equal(e.SensorBegin, want) {
				r.Errorf("%s: begin %v", name, e.SensorBegin)
			}
		}
		if len(e.SensorEnd) > 0 {
			end = append(end, step)
			if !slices.Equal(e.SensorEnd, want) {
				r.Errorf("%s: end %v", name, e.SensorEnd)
			}
		}
		if len(e.Begin)+len(e.End)+len(e.Hit) > 0 {
			r.Errorf("%s: step %d: %+v", name, step, *e)
		}
	}
	// They meet after 2 m, and part after 4 m, at 2 m/s.
	if len(begin) != 1 || len(end) != 1 || math.Abs(float64(begin[0]-60)) > 2 || math.Abs(float64(end[0]-120)) > 2 {
		r.Errorf("%s: begins at steps %v, ends at %v", name, begin, end)
	}
	if vx, vy, w := r.velocity(b); vy != 0 || w != 0 || (vx != 2 && vx != 0) {
		r.Errorf("%s: the visitor left with %v, %v, %v", name, vx, vy, w)
	}
}

func TestSensorsEndWithTheirShapes(t *testing.T) {
	sensing := plain
	sensing.Sensor = true
	for _, gone := range []string{"sensor", "visitor", "body"} {
		r := newFixture(t, 0)
		still := r.body(physics.StaticBody, 0, 0)
		sensor := r.box(still, sensing, 1, 1)
		r.box(r.dynamic(0.5, 0), sensing, 1, 1) // sensors do not see each other
		b := r.dynamic(0.2, 0)
		visitor := r.circle(b, plain, 0.2)
		r.steps(1)
		if e := r.w.Events(); len(e.SensorBegin) != 2 || len(e.SensorEnd) != 0 {
			t.Fatalf("begin %v, end %v", e.SensorBegin, e.SensorEnd)
		}
		switch gone {
		case "sensor":
			r.no(r.w.DestroyShape(sensor))
		case "visitor":
			r.no(r.w.DestroyShape(visitor))
		case "body":
			r.no(r.w.DestroyBody(b))
		}
		r.steps(1)
		e := r.w.Events()
		want := 2
		if gone == "sensor" {
			want = 1
		}
		if len(e.SensorEnd) != want || e.SensorEnd[0] != (physics.Sensed{Sensor: sensor, Visitor: visitor}) {
			t.Errorf("%s gone: end %v", gone, e.SensorEnd)
		}
		r.steps(1)
		if e := r.w.Events(); len(e.SensorEnd) != 0 {
			t.Errorf("%s gone: later end %v", gone, e.SensorEnd)
		}
	}
}

// Contacts begin, hit and end once.
func TestTouches(t *testing.T) {
	r := newFixture(t, 0)
	wall := r.box(r.body(physics.StaticBody, 3, 0), material(0, 1), 0.5, 0.5)
	b := r.dynamic(0, 0, moving(4, 0, 0))
	ball := r.circle(b, material(0, 1), 0.5)
	var begin, end, hit int
	for range 120 {
		r.steps(1)
		e := r.w.Events()
		begin += len(e.Begin)
		end += len(e.End)
		hit += len(e.Hit)
		for _, touch := range slices.Concat(e.Begin, e.End) {
			if touch != (physics.Touch{A: wall, B: ball}) {
				t.Errorf("%v", touch)
			}
		}
		for _, h := range e.Hit {
			r.near("speed", float64(h.Speed), 4, 0.01)
			r.near("point: x", float64(h.Point[0]), 2.5, 0.05)
			r.near("normal: x", float64(h.Normal[0]), -1, 1e-5)
		}
		if len(e.Moved) != 1 || e.Moved[0] != uint32(b.Index()) {
			t.Errorf("moved %v", e.Moved)
		}
	}
	if begin != 1 || end != 1 || hit != 1 {
		t.Errorf("%d contacts began, %d ended, %d hits", begin, end, hit)
	}
}

// Contacts are counted while they are there: pairs far apart are none, and discs in a row
// are one fewer than there are discs, or more where they only come near.
func TestContactCount(t *testing.T) {
	r := newFixture(t, 0)
	count := func(least, most int) {
		t.Helper()
		r.steps(1)
		if n := r.w.ContactCount(); n < least || n > most {
			t.Errorf("%d contacts, want %d to %d", n, least, most)
		}
	}
	if n := r.w.ContactCount(); n != 0 {
		t.Errorf("%d contacts before the first step", n)
	}
	var bodies []physics.Body
	for i := range 8 {
		bodies = append(bodies, r.dynamic(float32(i)*0.99, 0))
		r.circle(bodies[i], plain, 0.5)
	}
	r.circle(r.dynamic(100, 100), plain, 0.5)
	count(7, 7)
	for _, b := range bodies[1:] {
		r.no(r.w.DestroyBody(b))
	}
	count(0, 0)
}

// A fast ball has no continuous collision yet, a slow one needs none.
func TestWallsHold(t *testing.T) {
	r := newFixture(t, 0)
	walls := r.body(physics.StaticBody, 0, 0)
	for _, s := range [][4]float32{{-5, -5, 5, -5}, {5, -5, 5, 5}, {5, 5, -5, 5}, {-5, 5, -5, -5}} {
		r.segment(walls, material(0, 1), s[0], s[1], s[2], s[3])
	}
	var all []physics.Body
	for i := range 20 {
		b := r.dynamic(float32(i%5)*1.5-3, float32(i/5)*1.5-2, moving(float32(i)-8, 7-float32(i%7), 1))
		r.circle(b, material(0, 1), 0.4)
		all = append(all, b)
	}
	r.seconds(20)
	for i, b := range all {
		if x, y := r.at(b); math.Abs(x) > 5 || math.Abs(y) > 5 {
			t.Errorf("ball %d is at (%v, %v)", i, x, y)
		}
	}
}
