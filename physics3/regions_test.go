package physics3_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/pace"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics3"
)

// bodiesOfMedley is the number of bodies of a medley that move, enough for several workers.
const bodiesOfMedley = 2100

// medley is a heap of bodies of all kinds: with and without rolling resistance, restitution and locks, chained by joints of all classes if joints
// is set, with a paddle that turns. Their rows follow their places along x, or are in random order. With trees, light bodies hang between heavy ones,
// whose joints are solved directly.
func medley(t testing.TB, joints, shuffled, trees bool) *physics3.World {
	const edge = 8
	w := newWorld(t, physics3.Config{Capacity: bodiesOfMedley + 5})
	box(t, w, bodyAt(t, w, physics3.StaticBody, 0, -1, 0), plain, 100, 1, 100)
	for _, z := range []float32{-6, 6} {
		box(t, w, bodyAt(t, w, physics3.StaticBody, 0, 5, z), plain, 100, 6, 1)
	}
	paddle := bodyAt(t, w, physics3.KinematicBody, 0, 3, 0)
	box(t, w, paddle, plain, 6, 0.3, 3)
	no(t, w.SetVelocity(paddle, vec{}, vec{0, 0, 1}))
	rng := rand.New(rand.NewPCG(7, 2))
	cells := make([]int, bodiesOfMedley)
	for i := range cells {
		cells[i] = i
	}
	if shuffled {
		cells = rng.Perm(bodiesOfMedley)
	}
	all := make([]physics3.Body, bodiesOfMedley) // by cell
	for i, cell := range cells {
		layer := cell % (edge * edge)
		d := dynamicAt(float32(cell/(edge*edge))-bodiesOfMedley/(2*edge*edge)+0.1*rng.Float32(), 0.5+float32(layer%edge), float32(layer/edge)-edge/2+0.5)
		d.LinearVelocity = vec{rng.Float32() - 0.5, -rng.Float32(), rng.Float32() - 0.5}
		d.LockX, d.LockRotationY = i%97 == 0, i%61 == 0
		s := plain
		s.Friction = float32(rng.IntN(10)) / 10
		if rng.IntN(3) == 0 {
			s.Restitution = 0.4
		}
		if rng.IntN(3) == 0 {
			s.RollingResistance = 0.05
		}
		b := bodyOf(t, w, d)
		all[cell] = b
		if rng.IntN(2) == 0 {
			sphere(t, w, b, s, 0.49)
		} else {
			box(t, w, b, s, 0.49, 0.47, 0.45)
		}
	}
	for cell := 100; trees && cell < len(all); cell += 400 {
		for _, b := range []physics3.Body{all[cell], all[cell+2]} {
			no(t, w.SetMassData(b, physics3.MassData{Mass: 500, Inertia: [6]float32{80, 80, 80}}))
		}
		for k := range 2 {
			joined(t, w, &physics3.WeldJointDef{JointDef: commonDef(all[cell+k], all[cell+k+1], vec{0, 0.5, 0}, vec{0, -0.5, 0})})
		}
	}
	for cell := 1; joints && cell < len(all); cell += 3 {
		a, b := all[cell-1], all[cell]
		if cell%12 == 1 {
			a = paddle // not dynamic: the colours of these are others
		}
		defs := allKinds(a, b)
		k := defs[cell%len(defs)]
		*k.common = physics3.JointDef{BodyA: a, BodyB: b, FrameA: physics3.JointFrame{Point: vec{0.5, 0, 0}}, ConstraintHertz: 20, ConstraintDamping: 2}
		joined(t, w, k.def)
	}
	return w
}

// Any number of workers gives the same bits where each has a region, also if the number changes from step to step.
func TestWorkersAgreeInRegions(t *testing.T) {
	defer func() { pace.Always = false }()
	ticks := 3
	if paritytest.Instrumented {
		ticks = 2
	} else if !testing.Short() {
		ticks = 20
	}
	for _, c := range []struct{ joints, shuffled, trees bool }{{}, {joints: true}, {joints: true, shuffled: true}, {joints: true, trees: true}} {
		t.Run(fmt.Sprintf("joints=%v,shuffled=%v,trees=%v", c.joints, c.shuffled, c.trees), func(t *testing.T) {
			start, regions := medley(t, c.joints, c.shuffled, c.trees), 0
			run := func(level native.Level, workers ...int) (all []uint64) {
				w := newWorld(t, physics3.Config{Capacity: start.Cap(), Level: level})
				no(t, w.CopyFrom(start))
				for tick := range ticks {
					no(t, w.SetWorkers(workers[tick%len(workers)]))
					steps(t, w, 1)
					all = append(all, w.Hash())
					regions = max(regions, w.Regions())
				}
				return all
			}
			pace.Always = false
			want := run(native.Auto, 1)
			pace.Always = true
			for _, level := range []native.Level{native.Go, native.Auto} {
				for _, workers := range [][]int{{2}, {7}, {2, 1, 4}} {
					if (level == native.Go || paritytest.Instrumented && testing.Short()) && workers[0] != 7 {
						continue
					}
					for i, hash := range run(level, workers...) {
						if hash != want[i] {
							t.Fatalf("level %v, %v workers: tick %d differs from one worker", level, workers, i)
						}
					}
				}
			}
			if regions < 3 && !c.trees {
				t.Errorf("at most %d regions", regions)
			}
		})
	}
}

// Random changes between steps lead to other regions, to none and back: one worker and others agree after each step.
func TestWorkersAgreeInRegionsOfAChangingWorld(t *testing.T) {
	defer func() { pace.Always = false }()
	pace.Always = true
	ticks := 12
	if paritytest.Instrumented {
		ticks = 4
	} else if !testing.Short() {
		ticks = 300
	}
	run := paritytest.Start(t, "regions")
	one := medley(t, true, run.IntN(2) == 0, run.IntN(2) == 0)
	many := newWorld(t, physics3.Config{Capacity: one.Cap()})
	no(t, many.CopyFrom(one))
	for tick := range ticks {
		pick, x, change := run.IntN(bodiesOfMedley-2), float32(run.IntN(10)-5), run.IntN(9)
		for _, w := range []*physics3.World{one, many} {
			b, ok := w.BodyAt(4 + pick)
			if !ok {
				continue
			}
			var err error
			switch change {
			case 0:
				err = w.DestroyBody(b)
			case 1:
				err = w.SetTransform(b, vec{x, 12, 0}, quat{0, 0, 0, 1})
			case 2:
				err = w.SetMotionLocks(b, physics3.MotionLocks{X: pick%2 == 0})
			case 3:
				err = w.SetType(b, physics3.BodyType(pick%3))
			case 4:
				if other, ok := w.BodyAt(5 + pick); ok {
					_, err = w.CreateJoint(&physics3.DistanceJointDef{JointDef: physics3.JointDef{BodyA: b, BodyB: other}, Length: 9, EnableSpring: true, Hertz: 1})
				}
			case 5:
				if j, ok := w.JointAt(pick % 300); ok {
					err = w.DestroyJoint(j)
				}
			case 6:
				if j, ok := w.JointAt(pick % 300); ok {
					err = w.SetJointDef(j, &physics3.JointDef{ConstraintHertz: 10, FrameA: physics3.JointFrame{Point: vec{x / 10, 0, 0}}})
				}
			case 7:
				err = w.SetAwake(b, false)
			}
			no(t, err)
		}
		no(t, many.SetWorkers(1+run.IntN(4)))
		steps(t, one, 1)
		steps(t, many, 1)
		if one.Hash() != many.Hash() {
			t.Fatalf("tick %d, change %d, %d workers: they differ", tick, change, many.Config().Workers)
		}
	}
}
