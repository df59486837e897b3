package physics3_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/physics3"
)

// A lift at any speed keeps its rider.
func TestMoverOnLifts(t *testing.T) {
	for _, snap := range []float32{0, 0.3} {
		for _, v := range []float32{0.001, 0.1, 1, 3, 8, 30, -0.001, -0.1, -1, -3, -8, -30} {
			w := emptyWorld(t, physics3.Config{Capacity: 10})
			lift := bodyAt(t, w, physics3.KinematicBody, 0, -1, 0)
			if v > 2 || v < -2 {
				_, err := w.CreateMesh(lift, plain, newMesh(gridMesh(20, 20, flat)), physics3.Placement{Position: vec{0, 1, 0}})
				no(t, err)
			} else {
				block(t, w, lift, vec{}, vec{3, 1, 3})
			}
			h := newHero(t, w, 0.5, tall, 0)
			h.def.SnapDistance = snap
			h.walk(0, 0, 30)
			no(t, w.SetVelocity(lift, vec{0.3, v, 0.2}, vec{}))
			for range 120 {
				no(t, w.Step(dt))
				h.walk(0, 0, 1)
				if !h.stands() {
					t.Fatalf("lift at %g, snap %g: in the air", v, snap)
				}
			}
			at := position(t, w, lift)
			h.expect(fmt.Sprintf("lift at %g, snap %g", v, snap), vec{at[0] + 0.5, at[1] + 1 + tall, at[2]}, 0.005)
		}
	}
}

// Ground that moves in any way carries a character without losing it: after whole periods it is where it was.
func TestMoverKeepsItsPlaceOnMovingGround(t *testing.T) {
	run := paritytest.Start(t, "movers on moving ground in space")
	between := func(lo, hi float64) float64 { return lo + (hi-lo)*run.Float64() }
	one := func(place, ax, ay, tilt, yaw float64, period int, snap float32) {
		t.Helper()
		w := emptyWorld(t, physics3.Config{Capacity: 10})
		plank := bodyAt(t, w, physics3.KinematicBody, 0, 0, 0)
		block(t, w, plank, vec{}, vec{12, 0.1, 12})
		h := newHero(t, w, float32(place), 0.1+tall, 1)
		h.def.SnapDistance = snap
		h.walk(0, 0, 30)
		from := h.at()
		what := fmt.Sprintf("at %g, swing %g and %g m, tilt %g, yaw %g, period %d, snap %g", place, ax, ay, tilt, yaw, period, snap)
		for i := range 2 * period {
			phase := 2 * math.Pi * float64(i+1) / float64(period)
			sin := math.Sin(phase)
			a, b := 0.5*tilt*sin, 0.5*yaw*math.Sin(2*phase)
			q := [4]float32{float32(math.Sin(a) * math.Sin(b)), float32(math.Cos(a) * math.Sin(b)), float32(math.Sin(a) * math.Cos(b)), float32(math.Cos(a) * math.Cos(b))}
			no(t, w.SetTargetTransform(plank, vec{float32(ax * sin), float32(ay * math.Sin(2*phase)), float32(ax * sin)}, q, dt))
			no(t, w.Step(dt))
			if h.walk(0, 0, 1); !h.stands() {
				t.Fatalf("%s: in the air in step %d", what, i)
			}
		}
		h.expect(what, from, 0.04)
	}
	for _, snap := range []float32{0, 0.3} {
		one(6, 0, 0, 0.5, 0, 120, snap)
		one(3, 0, 0, 0.5, 1, 360, snap)
		one(0, 0, 2, 0, 0, 120, snap)
		one(0, 4, 1, 0, 1, 120, snap)
		for range paritytest.Rounds(20) {
			one(between(-6, 6), between(0, 3), between(0, 0.5), between(0, 0.5), between(0, 2), 100+run.IntN(200), snap)
		}
	}
}

// A belt carries a character along its surface, also up and down slopes, and beside its own walk.
func TestMoverOnBelts(t *testing.T) {
	for _, angle := range []float64{0, 0.5, -0.5} {
		for _, speed := range []float32{0.01, 2, -1} {
			for _, walk := range []float32{0, -0.5} {
				w := emptyWorld(t, physics3.Config{Capacity: 10})
				d := physics3.DefaultBodyDef()
				d.Rotation = [4]float32{2: float32(math.Sin(angle / 2)), 3: float32(math.Cos(angle / 2))}
				belt := plain
				belt.TangentVelocity = vec{speed, 3, 0}
				_, err := w.CreateBox(bodyOf(t, w, d), belt, physics3.Box{Half: vec{30, 0.5, 30}})
				no(t, err)
				h := newHero(t, w, 0, float32(0.8/math.Cos(angle)+0.61), 0)
				h.walk(0, 0, 60)
				at := h.at()
				h.walk(walk, 0, 60)
				along := float64(speed)*math.Cos(angle) + float64(walk)
				h.expect("on the belt", vec{at[0] + float32(along), at[1] + float32(along*math.Tan(angle)), 0}, 0.02)
				if !h.stands() {
					t.Errorf("belt at %g, angle %g: in the air", speed, angle)
				}
			}
		}
	}
}

// A character that jumps off a platform, or walks off it, keeps its velocity; one that lands on a platform takes its velocity over.
func TestMoverInheritsVelocity(t *testing.T) {
	for _, v := range []vec{{6, 0, 0}, {3, 2, 0}, {4, -3, 1}} {
		for _, jump := range []float32{5, 0} {
			w := emptyWorld(t, physics3.Config{Capacity: 10})
			platform := bodyAt(t, w, physics3.KinematicBody, 0, -0.5, 0)
			block(t, w, platform, vec{}, vec{3, 0.5, 1})
			h := newHero(t, w, 0, tall, 0)
			h.walk(0, 0, 10)
			no(t, w.SetVelocity(platform, v, vec{}))
			for range 30 {
				no(t, w.Step(dt))
				h.walk(0, 0, 1)
			}
			walk := float32(0)
			if jump > 0 {
				h.m.VX[0], h.m.VY[0], h.m.VZ[0] = 0, jump, 0
			} else { // walk off the side
				walk = 4
				for h.stands() {
					no(t, w.Step(dt))
					h.walk(0, walk, 1)
				}
			}
			for h.stands() {
				no(t, w.Step(dt))
				no(t, w.Move(&h.def, &h.m, dt))
			}
			if g := (vec{h.m.GroundVX[0], h.m.GroundVY[0], h.m.GroundVZ[0]}); g != v {
				t.Errorf("platform at %v: inherits %v", v, g)
			}
			from, vy := h.at(), float64(h.m.VY[0]+v[1])
			const n = 12
			for range n {
				no(t, w.Step(dt))
				h.walk(0, walk, 1)
			}
			seconds := n * float64(h.dt)
			want := vec{from[0] + v[0]*n*dt, from[1] + float32(vy*seconds-5*seconds*seconds*(n+1)/n), from[2] + (v[2]+walk)*n*dt}
			if !h.stands() || jump == 0 {
				h.expect(fmt.Sprintf("platform at %v, jump %g", v, jump), want, 0.01)
			}
		}
	}
	// It lands on a platform that moves, and moves with it.
	w := emptyWorld(t, physics3.Config{Capacity: 10})
	platform := bodyAt(t, w, physics3.KinematicBody, 0, -0.5, 0)
	block(t, w, platform, vec{}, vec{20, 0.5, 1})
	no(t, w.SetVelocity(platform, vec{5, 1, 0}, vec{}))
	h := newHero(t, w, 0, 2.5, 0)
	for range 30 {
		no(t, w.Step(dt))
		h.walk(0, 0, 1)
	}
	at := h.at()
	if !h.stands() || h.m.GroundVX[0] != 5 {
		t.Fatalf("does not stand on it: %+v", h.m)
	}
	for range 30 {
		no(t, w.Step(dt))
		h.walk(0, 0, 1)
	}
	h.expect("rides", vec{at[0] + 2.5, at[1] + 0.5, 0}, 0.005)
	no(t, w.DestroyBody(platform))
	h.walk(0, 0, 1)
	if h.stands() || h.m.GroundVX[0] != 5 {
		t.Errorf("the platform is gone: %+v", h.m)
	}
}

// A dynamic platform carries a hero down as it falls.
func TestMoverOnFallingPlatforms(t *testing.T) {
	w := emptyWorld(t, physics3.Config{Capacity: 10, Gravity: vec{0, -10, 0}})
	block(t, w, static(t, w), vec{0, -11, 0}, vec{50, 1, 50})
	platform := bodyAt(t, w, physics3.DynamicBody, 0, -0.5, 0)
	block(t, w, platform, vec{}, vec{2, 0.5, 2})
	w.Columns().GravityScale[platform.Index()] = 0
	h := newHero(t, w, 0, tall, 0)
	h.walk(0, 0, 10)
	w.Columns().GravityScale[platform.Index()] = 1
	for i := range 60 {
		no(t, w.Step(dt))
		if h.walk(0, 0, 1); !h.stands() {
			t.Fatalf("step %d: in the air at %v", i, h.at())
		}
		h.expect("on it", vec{0, position(t, w, platform)[1] + 0.5 + tall, 0}, 0.02)
	}
}

func TestMoverPushes(t *testing.T) {
	for _, force := range []float32{0, 300} {
		w := emptyWorld(t, physics3.Config{Capacity: 10, Gravity: vec{0, -10, 0}})
		block(t, w, static(t, w), vec{0, -1, 0}, vec{50, 1, 50})
		def := physics3.DefaultBodyDef()
		def.Type, def.Position = physics3.DynamicBody, vec{2, 0.5, 0}
		crate := bodyOf(t, w, def)
		light := plain
		light.Density = 30
		_, err := w.CreateBox(crate, light, physics3.Box{Half: vec{0.5, 0.5, 0.5}})
		no(t, err)
		h := newHero(t, w, 0, tall, 0)
		h.def.PushForce, h.def.StepHeight = force, 0.3
		for range 180 {
			no(t, w.Step(dt))
			h.walk(1, 0, 1)
		}
		if x := position(t, w, crate)[0]; (x > 2.3) != (force > 0) {
			t.Errorf("force %v: the crate is at %v", force, x)
		}
		// A crate that is thrown at the hero moves it out of its way.
		if force == 0 {
			continue
		}
		from := h.m.X[0]
		no(t, w.SetVelocity(crate, vec{-6, 0, 0}, vec{}))
		for range 30 {
			no(t, w.Step(dt))
			h.walk(0, 0, 1)
		}
		if !(h.m.X[0] < from-0.3) {
			t.Errorf("pushed from %g to %g", from, h.m.X[0])
		}
	}
}

func TestMoverCrouches(t *testing.T) {
	w, b := floored(t)
	block(t, w, b, vec{5, 2.2, 0}, vec{1, 1, 10}) // a ceiling at 1.2 m
	h := newHero(t, w, 3, tall, 0)
	h.m.Height, h.m.TargetHeight = []float32{1.8}, []float32{1.8}
	h.walk(3, 0, 60)
	if h.m.X[0] > 4 {
		t.Fatalf("walks under it upright, to %v", h.at())
	}
	h.m.TargetHeight[0] = 1.1
	h.walk(3, 0, 30)
	h.expect("under it", vec{h.m.X[0], tall, 0}, 0.003)
	if !(h.m.X[0] > 4.5) || h.m.Height[0] != 1.1 {
		t.Fatalf("at %v, %g m tall", h.at(), h.m.Height[0])
	}
	h.m.TargetHeight[0] = 1.8
	for h.m.X[0] < 7 {
		h.walk(3, 0, 1)
		if free := h.m.X[0] > 6.36; h.m.X[0] < 6 && h.m.Height[0] != 1.1 || free && h.m.Height[0] != 1.8 {
			t.Fatalf("at %v, %g m tall", h.at(), h.m.Height[0])
		}
	}
	h.expect("stands up", vec{h.m.X[0], tall, 0}, 0.003)
	h.m.TargetHeight[0] = 0.6 // a ball
	h.walk(-3, 0, 60)
	h.expect("as a ball", vec{h.m.X[0], tall, 0}, 0.003)
}

// A character with a body leaves that out, and what its body ignores.
func TestMoverFilters(t *testing.T) {
	w, b := floored(t)
	own := bodyAt(t, w, physics3.KinematicBody, 0, tall, 0)
	block(t, w, own, vec{}, vec{0.3, 0.9, 0.3})
	gate := bodyAt(t, w, physics3.StaticBody, 2, 2, 0)
	block(t, w, gate, vec{}, vec{0.2, 2, 5})
	_ = b
	for _, c := range []struct {
		name string
		set  func(h *hero)
		x    float32
	}{
		{"wall", func(*hero) {}, 1.8 - 0.305},
		{"category", func(h *hero) { h.m.Mask = 2 }, 3},
		{"ignored", func(*hero) { no(t, w.IgnorePair(own, gate)) }, 3},
	} {
		h := newHero(t, w, 0, tall, 0)
		h.m.Exclude = []physics3.Body{own}
		c.set(h)
		for range 60 {
			h.m.VX[0] = 3
			no(t, w.Move(&h.def, &h.m, dt))
		}
		h.expect(c.name, vec{c.x, tall, 0}, 0.005)
	}
}

// Characters with kinematic bodies that follow them are in each other's way, and stand on each other.
func TestMoversWithBodies(t *testing.T) {
	w, _ := floored(t)
	const n = 3
	m := newMovers(n)
	m.X[0], m.X[1], m.X[2] = -3, 3, 0
	m.Z[2] = 5
	m.Exclude = make([]physics3.Body, n)
	def := physics3.DefaultMoverDef()
	for i := range n {
		m.Y[i] = tall
		m.Exclude[i] = bodyAt(t, w, physics3.KinematicBody, m.X[i], m.Y[i], m.Z[i])
		_, err := w.CreateCapsule(m.Exclude[i], plain, def.Capsule)
		no(t, err)
	}
	tick := func(vx [n]float32) {
		no(t, w.Step(dt))
		for i := range n {
			m.VX[i], m.VZ[i] = vx[i], 0
			if m.Ground[i] != (physics3.Shape{}) {
				m.VY[i] = 0
			} else {
				m.VY[i] -= 10 * dt
			}
		}
		no(t, w.Move(&def, &m, dt))
		for i := range n {
			no(t, w.SetTargetTransform(m.Exclude[i], vec{m.X[i], m.Y[i], m.Z[i]}, [4]float32{3: 1}, dt))
		}
	}
	for range 120 {
		tick([n]float32{2, -1, 0})
		if gap := m.X[1] - m.X[0]; gap < 0.6-0.04 { // the body of the other one is where that was a step ago
			t.Fatalf("%g m apart", gap)
		}
	}
	if gap := m.X[1] - m.X[0]; gap > 0.7 {
		t.Errorf("they stay %g m apart", gap)
	}
	// One more jumps on the head of the first, and rides.
	m.X[2], m.Y[2], m.Z[2] = m.X[0], 1.8+tall+0.05, m.Z[0]
	m.X[1] = 10
	no(t, w.SetTransform(m.Exclude[1], vec{10, tall, 0}, [4]float32{3: 1}))
	no(t, w.SetTransform(m.Exclude[2], vec{m.X[2], m.Y[2], m.Z[2]}, [4]float32{3: 1}))
	for range 30 {
		tick([n]float32{})
	}
	for range 60 {
		tick([n]float32{1, 0, 0})
	}
	if m.Ground[2] == (physics3.Shape{}) || math.Abs(float64(m.X[2]-m.X[0])) > 0.05 || math.Abs(float64(m.Y[2]-1.8-tall)) > 0.02 {
		t.Errorf("rides at %g, %g on the one at %g", m.X[2], m.Y[2], m.X[0])
	}
}
