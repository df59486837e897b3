package physics3_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/pace"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/physics3"
)

// SetJointDefs does what SetJointDef does one by one, on any number of workers, and nothing if a definition is bad or a joint is gone.
func TestSetJointDefs(t *testing.T) {
	defer func() { pace.Always = false }()
	pace.Always = true
	build := func(workers int) (w *physics3.World, joints []physics3.Joint) {
		w = newWorld(t, physics3.Config{Capacity: 400, Workers: workers})
		var last physics3.Body
		for i := range 300 {
			b := bodyAt(t, w, physics3.DynamicBody, 3*float32(i%30), float32(i/30), 0)
			box(t, w, b, plain, 0.5, 0.5, 0.5)
			if i > 0 {
				defs := allKinds(last, b)
				joints = append(joints, joined(t, w, defs[i%len(defs)].def))
			}
			last = b
		}
		return w, joints
	}
	run := paritytest.Start(t, "joint batch")
	seed := run.Uint64()
	changed := func(w *physics3.World, joints []physics3.Joint, rng *rand.Rand) (list []physics3.Joint, defs []physics3.AnyJointDef) {
		for _, i := range rng.Perm(len(joints))[:200] {
			j := joints[i]
			if !w.ValidJoint(j) { // it broke
				continue
			}
			def := emptyDef(must[physics3.JointKind](t)(w.JointKind(j)))
			no(t, w.JointDef(j, def))
			if rng.IntN(3) == 0 {
				def = &physics3.JointDef{}
				no(t, w.JointDef(j, def))
			}
			switch d := def.(type) {
			case *physics3.JointDef:
				d.BreakForce, d.CollideConnected = 1e9*(1+rng.Float32()), rng.IntN(2) == 0
			case *physics3.GenericJointDef:
				d.Axes[rng.IntN(3)].Motion = physics3.AxisMotion(rng.IntN(3))
			case *physics3.MotorJointDef:
				d.MaxSpringForce = 100 * rng.Float32()
			case *physics3.DistanceJointDef:
				d.FrameA.Point[0] = rng.Float32()
			}
			list, defs = append(list, j), append(defs, def)
		}
		return list, defs
	}
	play := func(workers int, batch bool) (hashes []uint64) {
		w, joints := build(workers)
		rng := rand.New(rand.NewPCG(seed, 1))
		for range 4 {
			list, defs := changed(w, joints, rng)
			if batch {
				no(t, w.SetJointDefs(list, defs))
			} else {
				for i, j := range list {
					no(t, w.SetJointDef(j, defs[i]))
				}
			}
			hashes = append(hashes, w.Hash())
			steps(t, w, 2)
			hashes = append(hashes, w.Hash())
		}
		return hashes
	}
	want := play(1, false)
	for _, workers := range []int{1, 2, 7} {
		for i, hash := range play(workers, true) {
			if hash != want[i] {
				t.Fatalf("%d workers: hash %d differs from one by one", workers, i)
			}
		}
	}

	w, joints := build(2)
	list, defs := changed(w, joints, rand.New(rand.NewPCG(seed, 2)))
	before := w.Hash()
	defs[150] = &physics3.JointDef{BreakForce: float32(math.NaN())}
	if err := w.SetJointDefs(list, defs); !errors.Is(err, physics3.ErrNotFinite) || w.Hash() != before {
		t.Errorf("a bad definition: %v", err)
	}
	defs[150] = &physics3.JointDef{}
	no(t, w.DestroyJoint(list[97]))
	before = w.Hash()
	if err := w.SetJointDefs(list, defs); !errors.Is(err, physics3.ErrStale) || w.Hash() != before {
		t.Errorf("a joint that is gone: %v", err)
	}

	// A joint that is listed twice has its last definition.
	j := list[5]
	first, last := &physics3.JointDef{BreakForce: 7}, &physics3.JointDef{BreakForce: 8}
	no(t, w.SetJointDefs([]physics3.Joint{j, j}, []physics3.AnyJointDef{first, last}))
	var got physics3.JointDef
	if no(t, w.JointDef(j, &got)); got.BreakForce != 8 {
		t.Errorf("listed twice: %v", got.BreakForce)
	}
}

// Joints whose frames change keep the order that sorting them anew gives, which decides their colours.
func TestOrderOfJointsWhoseFramesChange(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	w := newWorld(t, physics3.Config{Capacity: 100})
	ground := bodyAt(t, w, physics3.StaticBody, 0, -1, 0)
	var joints []physics3.Joint
	add := func(b physics3.Body) {
		joints = append(joints, joined(t, w, &physics3.GenericJointDef{JointDef: physics3.JointDef{BodyA: ground, BodyB: b}}))
	}
	for i := range 30 {
		b := bodyAt(t, w, physics3.DynamicBody, 3*float32(i), 0, 0)
		box(t, w, b, plain, 0.5, 0.5, 0.5)
		for range 4 {
			add(b)
		}
	}
	for tick := range 60 {
		for k := range joints {
			if rng.IntN(1+tick%4) > 0 {
				continue
			}
			var d physics3.GenericJointDef
			no(t, w.JointDef(joints[k], &d))
			d.FrameB.Point = vec{rng.Float32(), 0, 0}
			d.Axes[1].Motion = physics3.AxisLocked
			if tick%10 == 9 {
				d.Axes[1].Motion = physics3.AxisMotion(rng.IntN(3)) // some take no part
			}
			no(t, w.SetJointDef(joints[k], &d))
		}
		if tick%7 == 6 {
			no(t, w.DestroyJoint(joints[11]))
			joints = append(joints[:11], joints[12:]...)
		}
		other := newWorld(t, physics3.Config{Capacity: 100}) // has no order yet, so it sorts all
		no(t, other.CopyFrom(w))
		steps(t, w, 1)
		steps(t, other, 1)
		if w.Hash() != other.Hash() {
			t.Fatalf("tick %d: another order", tick)
		}
	}
}
