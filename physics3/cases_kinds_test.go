package physics3_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/evertick/evertick/physics3"
)

// visitors has a shape of each kind that can be in a sensor, made on a body.
func visitors(t testing.TB) map[string]func(w *physics3.World, b physics3.Body, d physics3.ShapeDef) (physics3.Shape, error) {
	field := newField(fieldDef(3, 3, [2]float32{0.5, 0.5}, level))
	terrain := newTerrain(t, physics3.TerrainTile{Field: field})
	return map[string]func(w *physics3.World, b physics3.Body, d physics3.ShapeDef) (physics3.Shape, error){
		"sphere": func(w *physics3.World, b physics3.Body, d physics3.ShapeDef) (physics3.Shape, error) {
			return w.CreateSphere(b, d, physics3.Sphere{Radius: 0.5})
		},
		"capsule": func(w *physics3.World, b physics3.Body, d physics3.ShapeDef) (physics3.Shape, error) {
			return w.CreateCapsule(b, d, physics3.Capsule{P1: vec{-0.2, 0, 0}, P2: vec{0.2, 0, 0}, Radius: 0.3})
		},
		"box": func(w *physics3.World, b physics3.Body, d physics3.ShapeDef) (physics3.Shape, error) {
			return w.CreateBox(b, d, physics3.Box{Half: vec{0.5, 0.5, 0.5}})
		},
		"hull": func(w *physics3.World, b physics3.Body, d physics3.ShapeDef) (physics3.Shape, error) {
			return w.CreateHull(b, d, prism, physics3.Placement{})
		},
		"mesh": func(w *physics3.World, b physics3.Body, d physics3.ShapeDef) (physics3.Shape, error) {
			return w.CreateMesh(b, d, triangleFloor(0.5), physics3.Placement{})
		},
		"height field": func(w *physics3.World, b physics3.Body, d physics3.ShapeDef) (physics3.Shape, error) {
			return w.CreateHeightField(b, d, field, physics3.Placement{Position: vec{-0.5, 0, -0.5}})
		},
		"terrain": func(w *physics3.World, b physics3.Body, d physics3.ShapeDef) (physics3.Shape, error) {
			return w.CreateTerrain(b, d, terrain, physics3.Placement{Position: vec{-0.5, 0, -0.5}})
		},
	}
}

// Case 88 for shapes of all kinds, as sensors and as visitors: two surfaces do not meet, and all else does.
func TestCase88WhoSeesWhomOfAllShapes(t *testing.T) {
	surface := map[string]bool{"mesh": true, "height field": true, "terrain": true}
	all := visitors(t)
	for own, makeOwn := range all {
		for name, makeVisitor := range all {
			for _, sensorFirst := range []bool{false, true} {
				w := weightlessWorld(t, physics3.Config{Capacity: 4})
				var bodies [2]physics3.Body
				for k := range 2 {
					if !sensorFirst {
						k = 1 - k
					}
					if k == 0 {
						bodies[0] = bodyAt(t, w, physics3.StaticBody, 0, 0, 0)
						must[physics3.Shape](t)(makeOwn(w, bodies[0], sensor()))
					} else {
						bodies[1] = bodyAt(t, w, physics3.KinematicBody, 3, 0.1, 0.05)
						must[physics3.Shape](t)(makeVisitor(w, bodies[1], plain))
					}
				}
				steps(t, w, 2)
				begins, ends := 0, 0
				count := func(n int) {
					for range n {
						steps(t, w, 1)
						begins, ends = begins+len(w.Events().SensorBegin), ends+len(w.Events().SensorEnd)
					}
				}
				at := vec{0.1, 0.2, 0.05}
				if surface[name] { // what it meets is in front of it
					at[1] = -0.2
				}
				no(t, w.SetTransform(bodies[1], at, unit))
				count(3)
				want := 1
				if surface[own] && surface[name] {
					want = 0
				}
				if begins != want || ends != 0 {
					t.Errorf("a %s senses a %s, sensor first %v: %d begins, %d ends, want %d", own, name, sensorFirst, begins, ends, want)
				}
				no(t, w.SetVelocity(bodies[1], vec{6, 0, 0}, vec{}))
				count(60)
				if begins != want || ends != want {
					t.Errorf("a %s senses a %s that leaves, sensor first %v: %d begins, %d ends", own, name, sensorFirst, begins, ends)
				}
			}
		}
	}
}

// Case 87 for joints: a joint between bodies that touch ends their contact, once, and destroying it begins another.
func TestCase87JointEndsContact(t *testing.T) {
	for _, asleep := range []bool{false, true} {
		w := must[*physics3.World](t)(physics3.New(physics3.Config{Gravity: vec{0, -9.81, 0}, Capacity: 4, DisableSleep: !asleep}))
		floor := addBox(t, w, physics3.DefaultBodyDef(), vec{5, 0.5, 5})
		b := addBox(t, w, dynamicAt(0, 1, 0), vec{0.5, 0.5, 0.5})
		steps(t, w, 120)
		begins, ends := 0, 0
		count := func(n int) {
			for range n {
				steps(t, w, 1)
				begins, ends = begins+len(w.Events().Begin), ends+len(w.Events().End)
			}
		}
		j := joined(t, w, &physics3.WeldJointDef{JointDef: commonDef(floor, b, vec{0, 1, 0}, vec{})})
		if count(1); begins != 0 || ends != 1 {
			t.Errorf("asleep %v: in the step after the joint %d begins, %d ends", asleep, begins, ends)
		}
		count(60)
		no(t, w.DestroyJoint(j))
		if count(60); begins != 1 || ends != 1 {
			t.Errorf("asleep %v: without the joint %d begins, %d ends", asleep, begins, ends)
		}
	}
}

// Case 95 for joints: what hangs asleep from a kinematic body wakes in the step in which that begins to move, and its joint holds.
func TestCase95Anchor(t *testing.T) {
	for name, joint := range map[string]func(d physics3.JointDef) physics3.AnyJointDef{
		"spherical": func(d physics3.JointDef) physics3.AnyJointDef { return &physics3.SphericalJointDef{JointDef: d} },
		"revolute":  func(d physics3.JointDef) physics3.AnyJointDef { return &physics3.RevoluteJointDef{JointDef: d} },
		"distance": func(d physics3.JointDef) physics3.AnyJointDef {
			return &physics3.DistanceJointDef{JointDef: d, Length: 1}
		},
	} {
		w := newWorld(t, physics3.Config{Capacity: 8})
		anchor := bodyAt(t, w, physics3.KinematicBody, 0, 8, 0)
		b := addBox(t, w, dynamicAt(0, 6, 0), vec{0.2, 0.5, 0.2})
		onB := vec{0, 2, 0}
		if name == "distance" {
			onB = vec{0, 1, 0}
		}
		j := joined(t, w, joint(commonDef(anchor, b, vec{}, onB)))
		steps(t, w, 120)
		if w.AwakeCount() != 0 {
			t.Fatalf("%s: %d bodies are awake", name, w.AwakeCount())
		}
		no(t, w.SetVelocity(anchor, vec{1, 0, 0}, vec{}))
		for step := range 120 {
			steps(t, w, 1)
			if s := stateOf(t, w, j); !w.Awake(b) || s.Separation > 0.01 {
				t.Fatalf("%s, step %d: awake %v, the joint is off by %g", name, step, w.Awake(b), s.Separation)
			}
		}
	}
}

// Case 125 for joints: a change of type keeps them.
func TestCase125TypeChangesKeepJoints(t *testing.T) {
	for _, asleep := range []bool{false, true} {
		w := newWorld(t, physics3.Config{DisableSleep: !asleep, Capacity: 16})
		hook := bodyAt(t, w, physics3.StaticBody, 0, 9, 0)
		upper, lower := addBox(t, w, dynamicAt(0, 8, 0), vec{0.2, 0.5, 0.2}), addBox(t, w, dynamicAt(0, 6, 0), vec{0.2, 0.5, 0.2})
		j := joined(t, w, &physics3.SphericalJointDef{JointDef: commonDef(hook, upper, vec{}, vec{0, 1, 0})})
		k := joined(t, w, &physics3.SphericalJointDef{JointDef: commonDef(upper, lower, vec{0, -1, 0}, vec{0, 1, 0})})
		steps(t, w, 120)
		for _, kind := range []physics3.BodyType{physics3.StaticBody, physics3.DynamicBody, physics3.KinematicBody, physics3.DynamicBody, physics3.StaticBody, physics3.DynamicBody} {
			no(t, w.SetType(upper, kind))
			for range 20 {
				steps(t, w, 1)
				for _, joint := range []physics3.Joint{j, k} {
					near(t, fmt.Sprintf("asleep %v, %v: a joint", asleep, kind), float64(stateOf(t, w, joint).Separation), 0, 1e-3)
				}
			}
		}
		near(t, "the height", positionOf(t, w, lower)[1], 6, 2e-3)
	}
}

// Case 90 for Sync: twice the same, without a change, and Pull after it moves nothing.
func TestCase90SyncTwice(t *testing.T) {
	w := newWorld(t, physics3.Config{Capacity: 32, Slots: 32})
	for i := range 20 {
		d := dynamicAt(float32(i%4), 1+1.1*float32(i/4), 0.1*float32(i%3))
		d.HasSlot, d.Slot = true, uint32(i)
		addBox(t, w, d, vec{0.5, 0.5, 0.5})
	}
	column := func() []float32 { return make([]float32, 32) }
	tr := physics3.Transforms{X: column(), Y: column(), Z: column(), QX: column(), QY: column(), QZ: column(), QW: column()}
	twin := must[*physics3.World](t)(w.Clone())
	for range 60 {
		steps(t, w, 1)
		steps(t, twin, 1)
		no(t, w.Sync(tr))
		no(t, twin.Sync(tr))
		hash := w.Hash()
		no(t, w.Sync(tr))
		no(t, w.Pull(tr))
		if w.Hash() != hash || len(w.AppendWritten(nil, tr)) != 0 {
			t.Fatal("a second Sync, or a Pull after it, changes the world")
		}
	}
	sameState(t, "after Sync twice", w, twin)
}

// Case 76 for surfaces and compounds: nothing is found beyond the greatest distance, and all that is before it.
func TestCase76GreatestDistanceOfSurfaces(t *testing.T) {
	point := must[physics3.Form](t)(physics3.SphereForm(physics3.Sphere{Radius: 1e-3}))
	for name, attach := range visitors(t) {
		if name == "mesh" || name == "hull" {
			continue // in tests of their own
		}
		w := weightlessWorld(t, physics3.Config{Capacity: 4})
		b := bodyAt(t, w, physics3.StaticBody, 0, 0, 0)
		s := must[physics3.Shape](t)(attach(w, b, plain))
		must[physics3.Shape](t)(w.CreateSphere(b, plain, physics3.Sphere{Center: vec{0, -40, 0}, Radius: 1})) // another child
		top := must[vec](t)(func() (vec, error) { _, high, err := w.ShapeBounds(s); return high, err }())[1]
		for _, c := range []struct {
			far  float32
			hits bool
		}{{5, false}, {9.998, false}, {10.002, true}, {1e17, true}} {
			for _, scale := range []float32{1, 0.25, 4} {
				q := castsAt(point, vec{0.01, top + 10, 0.02}, vec{0, -scale, 0})
				q.MaxFraction = []float32{c.far / scale}
				ray := &physics3.Rays{X: q.X, Y: q.Y, Z: q.Z, DX: q.DX, DY: q.DY, DZ: q.DZ, MaxFraction: q.MaxFraction}
				var rays, casts physics3.RayHits
				var d physics3.Distances
				no(t, w.RayClosest(ray, &rays))
				no(t, w.CastClosest(q, &casts))
				no(t, w.Nearest(&q.Probes, []float32{c.far}, &d))
				any := make([]bool, 1)
				no(t, w.RayAny(ray, any))
				if got := [4]bool{rays.Shapes[0] == s, any[0], casts.Shapes[0] == s, d.Shapes[0] == s}; got != [4]bool{c.hits, c.hits, c.hits, c.hits} {
					t.Errorf("%s within %g, length %g: ray, any, cast and nearest: %v", name, c.far, scale, got)
				}
				if f := float64(rays.Fractions[0] * scale); c.hits && math.Abs(f-10) > 0.002 {
					t.Errorf("%s within %g: the ray hits after %g m", name, c.far, f)
				}
			}
		}
	}
}

// Case 35 for sensors: a mesh that senses, and one that visits, does so from the side from which contacts do.
func TestCase35WindingOfSensors(t *testing.T) {
	turned := turn(vector{1, 0, 0}, math.Pi)
	for name, attach := range visitors(t) {
		if name == "mesh" || name == "height field" || name == "terrain" {
			continue
		}
		for _, y := range []float32{-0.25, -0.05, 0.05, 0.25} {
			for _, down := range []bool{false, true} {
				at := func(material, own physics3.ShapeDef) (touches, senses bool) {
					w := weightlessWorld(t, physics3.Config{Capacity: 4})
					d := physics3.DefaultBodyDef()
					if down {
						d.Rotation = turned
					}
					must[physics3.Shape](t)(w.CreateMesh(bodyOf(t, w, d), material, triangleFloor(2), physics3.Placement{}))
					must[physics3.Shape](t)(attach(w, bodyAt(t, w, physics3.DynamicBody, 0.1, y, 0.05), own))
					steps(t, w, 1)
					return len(w.Events().Begin) == 1, len(w.Events().SensorBegin) == 1
				}
				touches, _ := at(plain, plain)
				_, senses := at(sensor(), plain)
				_, sensed := at(plain, sensor())
				if touches != senses || touches != sensed {
					t.Errorf("a %s at %g, mesh turned %v: touches %v, is sensed %v, senses %v", name, y, down, touches, senses, sensed)
				}
			}
		}
	}
}
