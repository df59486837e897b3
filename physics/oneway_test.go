package physics_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/evertick/evertick/physics"
)

// upward is the material of a platform whose front is above.
func upward() physics.ShapeDef {
	d := plain
	d.OneWay = [2]float32{0, 3}
	return d
}

// touched counts the events of steps.
func (r fixture) touched(steps int) (begin, end int) {
	r.Helper()
	for range steps {
		r.steps(1)
		begin, end = begin+len(r.w.Events().Begin), end+len(r.w.Events().End)
	}
	return begin, end
}

// A platform holds falling bodies, at any speed that does not carry them past its middle, and lets bodies that jump
// from below pass; these come to rest on it.
func TestOneWayPlatform(t *testing.T) {
	for shape := range sliders {
		for _, half := range []float32{0.3, 4} { // narrower than the body, and wider
			r := newFixture(t, -10)
			r.floor(plain)
			r.box(r.body(physics.StaticBody, 0, 3), upward(), half, 0.1)
			b := r.dynamic(0, 0.5, func(d *physics.BodyDef) { d.FixedRotation = true })
			sliders[shape](r, b, plain)
			r.steps(5)
			r.no(r.w.SetVelocity(b, [2]float32{0, 10}, 0)) // 5 m high
			highest := 0.0
			for range 60 {
				r.steps(1)
				_, y := r.at(b)
				highest = max(highest, y)
			}
			r.near(shape+": top of the jump", highest, 5.5, 0.15)
			r.seconds(2)
			_, y := r.at(b)
			r.near(shape+": after the jump", y, 3.6, 0.02)

			r.no(r.w.SetVelocity(b, [2]float32{0, 3}, 0))
			r.seconds(1.5)
			_, y = r.at(b)
			r.near(shape+": after a hop", y, 3.6, 0.02)
		}
	}
}

// A body that does not jump high enough falls back through.
func TestOneWayFallsBack(t *testing.T) {
	r := newFixture(t, -10)
	r.floor(plain)
	r.box(r.body(physics.StaticBody, 0, 2), upward(), 4, 0.1)
	b := r.dynamic(0, 0.5)
	r.box(b, plain, 0.5, 0.5)
	r.steps(5)
	r.no(r.w.SetVelocity(b, [2]float32{0, 6}, 0)) // 1.8 m high: its bottom is within the platform
	if begin, end := r.touched(120); begin != 1 || end != 1 {
		t.Errorf("%d touches began, %d ended: want those with the floor", begin, end)
	}
	_, y := r.at(b)
	r.near("height", y, 0.5, 0.01)
}

// A body that enters from the side, or is inside from the beginning, passes and falls out below; one at the level of the
// top stays on the platform.
func TestOneWayFromTheSide(t *testing.T) {
	for _, c := range []struct{ height, rests float64 }{{2.2, 0.5}, {2.602, 2.6}, {1.9, 0.5}} {
		for _, shape := range []string{"box", "circle", "capsule"} {
			r := newFixture(t, -10)
			r.floor(plain)
			r.box(r.body(physics.StaticBody, 0, 2), upward(), 4, 0.1)
			b := r.dynamic(-5.5, float32(c.height), moving(8, 0, 0), func(d *physics.BodyDef) { d.GravityScale = 0 })
			sliders[shape](r, b, plain)
			r.steps(30)
			if x, _ := r.at(b); x < -2.8 {
				t.Errorf("%s at %v: stopped at %v", shape, c.height, x)
			}
			r.no(r.w.SetVelocity(b, [2]float32{}, 0))
			r.w.Columns().GravityScale[b.Index()] = 1
			r.seconds(2)
			_, y := r.at(b)
			r.near(shape, y, c.rests, 0.02)
		}
	}
	r := newFixture(t, -10)
	r.floor(plain)
	r.box(r.body(physics.StaticBody, 0, 2), upward(), 4, 0.1)
	inside := r.dynamic(0, 2.3)
	r.box(inside, plain, 0.5, 0.5)
	r.seconds(2)
	_, y := r.at(inside)
	r.near("from inside", y, 0.5, 0.01)
}

// The front turns with the platform, and moves with it.
func TestOneWayMoves(t *testing.T) {
	r := newFixture(t, 0)
	d := plain
	d.OneWay = [2]float32{0, -1} // turned by a quarter: its front is to the right
	r.box(r.body(physics.StaticBody, 0, 0, turned(math.Pi/2)), d, 3, 0.1)
	stopped, passes := r.dynamic(3, -1, moving(-5, 0, 0)), r.dynamic(-3, 1, moving(5, 0, 0))
	r.box(stopped, plain, 0.5, 0.5)
	r.box(passes, plain, 0.5, 0.5)
	r.seconds(2)
	if x, _ := r.at(stopped); x < 0.5 {
		t.Errorf("what came from the front is at %v", x)
	}
	if x, _ := r.at(passes); x < 5 {
		t.Errorf("what came from behind is at %v", x)
	}

	r = newFixture(t, -10)
	lift := r.body(physics.KinematicBody, 0, 0, moving(1, 2, 0))
	r.box(lift, upward(), 2, 0.1)
	rider := r.dynamic(0, 0.62, moving(1, 2, 0))
	r.box(rider, plain, 0.5, 0.5)
	above := r.dynamic(3, 9) // the lift comes up under it
	r.box(above, plain, 0.3, 0.3)
	r.seconds(1.5)
	x0, y0 := r.at(lift)
	x, y := r.at(rider)
	r.near("x of the rider", x-x0, 0, 0.05)
	r.near("y of the rider", y-y0, 0.6, 0.02)
	_, y = r.at(above)
	r.near("y of what the lift has caught", y-y0, 0.4, 0.05)
}

// When a platform becomes an ordinary shape, it stops passing bodies, with events; destroying it ends these contacts.
// Passing bodies have no events.
func TestOneWayChanges(t *testing.T) {
	r := newFixture(t, 0)
	wall := r.body(physics.StaticBody, 0, 0)
	platform := r.box(wall, upward(), 4, 0.5)
	b := r.dynamic(0, -0.9)
	shape := r.box(b, plain, 0.5, 0.5)
	if begin, end := r.touched(5); begin+end != 0 {
		t.Errorf("%d touches began, %d ended", begin, end)
	}
	r.no(r.w.SetShapeDef(platform, plain))
	r.steps(1)
	if e := r.w.Events().Begin; !slices.Equal(e, []physics.Touch{{A: platform, B: shape}}) {
		t.Errorf("began: %v", e)
	}
	r.seconds(1)
	if _, y := r.at(b); y > -0.98 {
		t.Errorf("not pushed out: at %v", y)
	}
	if d, err := r.w.ShapeDef(platform); d != plain || err != nil {
		t.Errorf("definition %v, %v", d, err)
	}

	r = newFixture(t, 0)
	platform = r.box(r.body(physics.StaticBody, 0, 0), upward(), 4, 0.5)
	r.box(r.dynamic(0, -0.9), plain, 0.5, 0.5)
	r.steps(2)
	r.no(r.w.DestroyShape(platform))
	if begin, end := r.touched(2); begin+end != 0 {
		t.Errorf("%d touches began, %d ended", begin, end)
	}
}

// When the shape under a body becomes a platform, the body stays if it is in front, and else falls through it and ends to
// touch it; also if it sleeps, and if the world is restored in between.
func TestOneWayTurnsUnderABody(t *testing.T) {
	for _, asleep := range []bool{false, true} {
		for _, restored := range []bool{false, true} {
			for _, front := range [][2]float32{{0, 1}, {0.1, 2}, {0, -1}, {1, 0}} {
				r := newFixture(t, -10)
				floor := r.box(r.body(physics.StaticBody, 0, -1), plain, 5, 1)
				b := r.dynamic(0, 0.5, func(d *physics.BodyDef) { d.DisableSleep = !asleep })
				shape := r.box(b, plain, 0.5, 0.5)
				r.seconds(2)
				if r.w.Awake(b) == asleep {
					t.Fatalf("awake: %v", !asleep)
				}
				d := plain
				d.OneWay = front
				r.no(r.w.SetShapeDef(floor, d))
				if restored {
					r.no(r.w.Restore(must[[]byte](t)(r.w.Snapshot(nil))))
				}
				r.steps(1)
				falls, ended := front[1] <= 0, r.w.Events().End
				if want := []physics.Touch{{A: floor, B: shape}}; falls && !slices.Equal(ended, want) || !falls && len(ended) > 0 {
					t.Errorf("front %v, asleep %v, restored %v: ended %v", front, asleep, restored, ended)
				}
				if begin, end := r.touched(60); begin+end != 0 {
					t.Errorf("front %v: %d touches began, %d ended", front, begin, end)
				}
				if _, y := r.at(b); (y < -1) != falls {
					t.Errorf("front %v, asleep %v, restored %v: at %v", front, asleep, restored, y)
				}
			}
		}
	}
}

func TestOneWayErrors(t *testing.T) {
	r := newFixture(t, 0)
	b := r.body(physics.StaticBody, 0, 0)
	for _, c := range []struct {
		front [2]float32
		is    error
	}{
		{[2]float32{float32(math.NaN()), 0}, physics.ErrNotFinite}, {[2]float32{0, float32(math.Inf(-1))}, physics.ErrNotFinite},
		{[2]float32{1e-7, 0}, physics.ErrRange}, {[2]float32{0, 2e6}, physics.ErrRange},
	} {
		d := plain
		d.OneWay = c.front
		if _, err := r.w.CreateCircle(b, d, physics.Circle{Radius: 1}); !errors.Is(err, c.is) {
			t.Errorf("%v: %v", c.front, err)
		}
	}
}

// Only the front of platforms and chains stops fast bodies.
func TestSweepsKnowWhatPasses(t *testing.T) {
	for name, lay := range map[string]func(r fixture, b physics.Body){
		"platform": func(r fixture, b physics.Body) { r.box(b, upward(), 5, 0.05) },
		"chain":    func(r fixture, b physics.Body) { r.chain(b, ground(8, 1, 0, plain)) },
	} {
		for shape := range sliders {
			r := newFixture(t, 0)
			b := r.body(physics.StaticBody, 0, 0)
			lay(r, b)
			down, up, side := r.dynamic(-2, 3, moving(0, -150, 0)), r.dynamic(2, -3, moving(0, 150, 0)), r.dynamic(-20, -0.3, moving(150, 1, 0))
			for _, body := range []physics.Body{down, up, side} {
				sliders[shape](r, body, plain)
			}
			r.steps(20)
			if _, y := r.at(down); y < 0.3 {
				t.Errorf("%s, %s: what came from the front is at %v", name, shape, y)
			}
			if _, y := r.at(up); y < 40 {
				t.Errorf("%s, %s: what came from behind is at %v", name, shape, y)
			}
			if x, _ := r.at(side); x < 10 { // it may graze what came from the front
				t.Errorf("%s, %s: what came from the side is at %v", name, shape, x)
			}
			ignores := r.dynamic(0, 3, moving(0, -150, 0))
			sliders[shape](r, ignores, plain)
			r.no(r.w.IgnorePair(ignores, b))
			r.steps(20)
			if _, y := r.at(ignores); y > -40 {
				t.Errorf("%s, %s: what ignores it is at %v", name, shape, y)
			}
		}
	}
}
