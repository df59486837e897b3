package physics3_test

import (
	"testing"

	"github.com/evertick/evertick/physics3"
)

// Case 95: what sleeps on a kinematic platform wakes in the step in which the platform begins to move, and goes with it.
func TestCase95Platform(t *testing.T) {
	w := newWorld(t, physics3.Config{})
	d := physics3.DefaultBodyDef()
	d.Type, d.Position = physics3.KinematicBody, [3]float32{0, 2, 0}
	platform := addBox(t, w, d, [3]float32{2, 0.1, 2})
	b := addBox(t, w, dynamicAt(0, 2.6, 0), [3]float32{0.5, 0.5, 0.5})
	steps(t, w, 120)
	if w.AwakeCount() != 0 {
		t.Fatalf("%d bodies are awake", w.AwakeCount())
	}
	check(t, w.SetVelocity(platform, [3]float32{1, 0, 0}, [3]float32{}))
	steps(t, w, 1)
	if !w.Awake(b) {
		t.Error("the box sleeps while the platform moves")
	}
	steps(t, w, 59)
	const acceleration = 0.6 * 9.81 // by friction, until the box is as fast as the platform
	near(t, "the way of the box", positionOf(t, w, b)[0], 1-1/(2*acceleration), 0.01)
}

// Case 96: a force in every step keeps a body awake and moves it, however small; so does a torque.
func TestCase96SmallForces(t *testing.T) {
	w := weightlessWorld(t, physics3.Config{})
	pushed := addBoxOf(t, w, dynamicAt(0, 0, 0), [3]float32{0.5, 0.5, 0.5}, density(1))
	turned := addBoxOf(t, w, dynamicAt(5, 0, 0), [3]float32{0.5, 0.5, 0.5}, density(1))
	for range 600 {
		check(t, w.ApplyForceToCenter(pushed, [3]float32{1e-3, 0, 0}))
		check(t, w.ApplyTorque(turned, [3]float32{0, 1e-3, 0}))
		steps(t, w, 1)
	}
	v, _ := velocityOf(t, w, pushed)
	_, spin := velocityOf(t, w, turned)
	near(t, "the speed", v[0], 1e-2, 1e-4)
	near(t, "the spin", spin[1], 6e-2, 6e-4) // the moment is m/6
}

// Case 97: a ball and a lying capsule come to sleep, on a box and on triangles, with a little rolling resistance. Without it nothing would stop them.
func TestCase97RoundThingsSleep(t *testing.T) {
	for _, triangles := range []bool{false, true} {
		w := newWorld(t, physics3.Config{})
		shape := density(1)
		shape.RollingResistance = 0.01
		height := float32(0)
		if triangles {
			height = 10 // above the floor
			b := bodyAt(t, w, physics3.StaticBody, 0, height, 0)
			must[physics3.Shape](t)(w.CreateMesh(b, physics3.DefaultShapeDef(), newMesh(gridMesh(31, 40, flat)), physics3.Placement{}))
		}
		ball := addSphereOf(t, w, dynamicAt(0, height+0.5, 0), 0.5, shape)
		capsule := addBody(t, w, dynamicAt(5, height+0.5, 0), func(b physics3.Body) (physics3.Shape, error) {
			return w.CreateCapsule(b, shape, physics3.Capsule{P1: [3]float32{0, 0, -0.5}, P2: [3]float32{0, 0, 0.5}, Radius: 0.5})
		})
		steps(t, w, 2)
		check(t, w.ApplyLinearImpulseToCenter(ball, [3]float32{0.03, 0, 0}))
		check(t, w.ApplyLinearImpulseToCenter(capsule, [3]float32{0.012, 0, 0}))
		n := 0
		for ; n < 2000 && w.AwakeCount() > 0; n++ {
			steps(t, w, 1)
		}
		if w.AwakeCount() > 0 {
			t.Errorf("triangles %v: %d bodies are awake after 2,000 steps", triangles, w.AwakeCount())
		}
		for _, b := range []physics3.Body{ball, capsule} {
			near(t, "height", float64(position(t, w, b)[1]), float64(height)+0.5, 0.005)
		}
	}
}

// Case 98: bodies that touch fall asleep and wake in the same step, and two piles on one floor do so on their own.
func TestCase98WholeIslands(t *testing.T) {
	w := newWorld(t, physics3.Config{})
	var row []physics3.Body
	for i := range 10 {
		row = append(row, addBox(t, w, dynamicAt(float32(i), 0.5, 0), [3]float32{0.5, 0.5, 0.5}))
	}
	other := addBox(t, w, dynamicAt(0, 0.5, 10), [3]float32{0.5, 0.5, 0.5})
	for range 240 { // a motor
		check(t, w.SetVelocity(row[3], [3]float32{}, [3]float32{0, 0.3, 0}))
		steps(t, w, 1)
		for _, b := range row {
			if !w.Awake(b) {
				t.Fatal("a body sleeps while another of its island moves")
			}
		}
	}
	if w.Awake(other) {
		t.Error("the other pile is awake")
	}
	awake := func() (n int) {
		for _, b := range row {
			if w.Awake(b) {
				n++
			}
		}
		return n
	}
	before := awake()
	for range 600 {
		steps(t, w, 1)
		now := awake()
		if now != before && now != 0 {
			// The turned box has pushed the row apart: its parts are islands now, and each of them sleeps as a whole.
			for i, b := range row[:9] {
				touching := false
				for _, c := range must[[]physics3.Touch](t)(w.AppendContacts(nil, b)) {
					for _, s := range [...]physics3.Shape{c.A, c.B} {
						touching = touching || must[physics3.Body](t)(w.ShapeBody(s)) == row[i+1]
					}
				}
				if touching && w.Awake(b) != w.Awake(row[i+1]) {
					t.Fatalf("of bodies %d and %d, which touch, one sleeps", i, i+1)
				}
			}
		}
		before = now
	}
	if before != 0 {
		t.Fatalf("%d bodies are awake", before)
	}
	island := map[physics3.Body]bool{row[9]: true} // those that touch the last one, directly or through others
	for i := 8; i >= 0; i-- {
		for _, c := range must[[]physics3.Touch](t)(w.AppendContacts(nil, row[i])) {
			for _, s := range [...]physics3.Shape{c.A, c.B} {
				if island[must[physics3.Body](t)(w.ShapeBody(s))] {
					island[row[i]] = true
				}
			}
		}
	}
	check(t, w.ApplyLinearImpulseToCenter(row[9], [3]float32{0, 0, 0.1}))
	steps(t, w, 1)
	for i, b := range row {
		if w.Awake(b) != island[b] {
			t.Errorf("body %d: awake %v", i, w.Awake(b))
		}
	}
	if w.Awake(other) {
		t.Error("the other pile is awake")
	}
}
