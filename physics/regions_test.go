package physics_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
)

// medley is a heap of thousands of bodies of all kinds in random order: with and without rolling resistance, restitution and a belt side by side,
// bodies that cannot move along an axis, pairs that are hinged, and a paddle that turns.
func medley(t testing.TB, mixed, hinges, locks bool) *physics.World {
	r := newFixture(t, -10)
	r.w = newWorld(t, physics.Config{Capacity: 3000, Gravity: [2]float32{0, -10}})
	rng := rand.New(rand.NewPCG(7, 2))
	r.box(r.body(physics.StaticBody, 0, -1), physics.DefaultShapeDef(), 100, 1)
	for _, x := range []float32{-28, 28} {
		r.box(r.body(physics.StaticBody, x, 30), physics.DefaultShapeDef(), 1, 60)
	}
	r.box(r.body(physics.KinematicBody, 0, 8, moving(0, 0, 2)), physics.DefaultShapeDef(), 6, 0.3)
	const columns = 50
	cells := rng.Perm(2600)
	var last physics.Body
	for i, cell := range cells {
		d := physics.DefaultShapeDef()
		d.Friction = float32(rng.IntN(10)) / 10
		if mixed && rng.IntN(3) == 0 {
			d.RollingResistance = 0.1
		}
		if !mixed || rng.IntN(3) == 0 {
			d.Restitution = 0.5
		}
		if rng.IntN(40) == 0 {
			d.TangentSpeed = 1
		}
		b := r.dynamic(float32(cell%columns)-float32(columns)/2+0.5, 0.5+float32(cell/columns), func(d *physics.BodyDef) {
			d.LockX = locks && rng.IntN(50) == 0
		})
		if rng.IntN(2) == 0 {
			r.circle(b, d, 0.49)
		} else {
			r.box(b, d, 0.48, 0.45)
		}
		if hinges && i%40 == 1 {
			_, err := r.w.CreateDistanceJoint(physics.DistanceJointDef{JointDef: physics.JointDef{BodyA: last, BodyB: b}, Length: 10, EnableSpring: true, Hertz: 1})
			r.no(err)
		}
		last = b
	}
	return r.w
}

// Any number of workers gives the same bits where each has a region, also if the number changes from step to step.
func TestWorkersAgreeInRegions(t *testing.T) {
	ticks := 8
	if paritytest.Instrumented {
		ticks = 3
	}
	for _, c := range []struct{ mixed, hinges, locks bool }{{}, {mixed: true}, {hinges: true}, {hinges: true, locks: true}} {
		t.Run(fmt.Sprintf("mixed=%v,hinges=%v,locks=%v", c.mixed, c.hinges, c.locks), func(t *testing.T) {
			start := medley(t, c.mixed, c.hinges, c.locks)
			run := func(level native.Level, workers ...int) (all []uint64) {
				w := newWorld(t, physics.Config{Capacity: start.Cap(), Level: level})
				if err := w.CopyFrom(start); err != nil {
					t.Fatal(err)
				}
				for tick := range ticks {
					if err := w.SetWorkers(workers[tick%len(workers)]); err != nil {
						t.Fatal(err)
					}
					steps(t, w, 1)
					all = append(all, w.Hash(), eventHash(w).Hash)
				}
				return all
			}
			want := run(native.Auto, 1)
			for _, level := range []native.Level{native.Go, native.Auto} {
				for _, workers := range [][]int{{2}, {3}, {7}, {2, 2, 1, 1, 1, 4}} {
					if level == native.Go && len(workers) > 1 || paritytest.Instrumented && testing.Short() && workers[0] != 7 {
						continue
					}
					for i, hash := range run(level, workers...) {
						if hash != want[i] {
							t.Fatalf("level %v, %v workers: tick %d differs from one worker", level, workers, i/2)
						}
					}
				}
			}
		})
	}
}

// Random changes between steps lead from regions of one kind to another, and to none and back: one worker and others agree after each step.
func TestWorkersAgreeInRegionsOfAChangingWorld(t *testing.T) {
	ticks := 60
	if paritytest.Instrumented {
		ticks = 6
	} else if !testing.Short() {
		ticks = 600
	}
	run := paritytest.Start(t, "regions")
	one := medley(t, false, false, false)
	many := newWorld(t, physics.Config{Capacity: one.Cap()})
	if err := many.CopyFrom(one); err != nil {
		t.Fatal(err)
	}
	var joints []physics.Joint
	var belts []physics.Shape
	for tick := range ticks {
		pick, x, change := run.IntN(2600), float32(run.IntN(40)-20), run.IntN(12)
		fewJoints, fewBelts := len(joints) < 2, len(belts) < 3
		for _, w := range []*physics.World{one, many} {
			b, ok := w.BodyAt(5 + pick)
			if !ok {
				continue
			}
			var err error
			switch change {
			case 0:
				err = w.DestroyBody(b)
			case 1:
				err = w.SetTransform(b, [2]float32{x, 60}, 1)
			case 2:
				err = w.SetMotionLocks(b, physics.MotionLocks{X: pick%2 == 0})
			case 3:
				err = w.SetType(b, physics.BodyType(pick%3))
			case 4:
				if other, ok := w.BodyAt(4 + pick); ok && fewJoints {
					var j physics.Joint
					j, err = w.CreateDistanceJoint(physics.DistanceJointDef{JointDef: physics.JointDef{BodyA: b, BodyB: other}, Length: 9, EnableSpring: true, Hertz: 1})
					if joints = append(joints, j); w == many {
						joints = joints[:len(joints)-1] // both worlds give it the same number
					}
				}
			case 5:
				if len(joints) > 0 {
					if j := joints[len(joints)-1]; w.ValidJoint(j) { // a body takes its joints with it
						err = w.DestroyJoint(j)
					}
					if w == many {
						joints = joints[:len(joints)-1]
					}
				}
			case 6, 7:
				if fewBelts {
					d := physics.DefaultShapeDef()
					d.RollingResistance, d.Restitution = 0.1*float32(pick%2), 0.5*float32(pick%3%2)
					var s physics.Shape
					if s, err = w.CreateCircle(b, d, physics.Circle{Radius: 0.3}); w == one {
						belts = append(belts, s)
					}
				}
			case 8:
				if len(belts) > 0 {
					if s := belts[len(belts)-1]; w.ValidShape(s) {
						err = w.DestroyShape(s)
					}
					if w == many {
						belts = belts[:len(belts)-1]
					}
				}
			case 9:
				err = w.SetAwake(b, false)
			case 10:
				w.Columns().GravityScale[5+pick] = x / 20
			}
			if err != nil {
				t.Fatalf("tick %d, change %d: %v", tick, change, err)
			}
		}
		if err := many.SetWorkers(1 + run.IntN(4)); err != nil {
			t.Fatal(err)
		}
		for range 1 + run.IntN(3) { // some steps with the same pairs
			steps(t, one, 1)
			steps(t, many, 1)
			sameState(t, fmt.Sprintf("tick %d, change %d, %d workers", tick, change, many.Config().Workers), one, many)
		}
	}
}
