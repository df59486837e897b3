package physics

import (
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/rigid"
)

// hashedColumns is the number of columns that the state hash covers in a world that uses no other feature than sleep.
const hashedColumns = 33

func TestHashSeesEveryColumn(t *testing.T) {
	w := must[*World](t)(New(Config{Capacity: 64}))
	bodies := populate(t, w, 40)
	w.solver.contacts = make([]rigid.Contact, 3)
	w.solver.sleep.Times[20] = 1
	base := w.AppendColumnHashes(nil)
	if len(base) != hashedColumns {
		t.Fatalf("%d columns are hashed, hashedColumns = %d", len(base), hashedColumns)
	}
	seen := map[string]bool{}
	for _, c := range base {
		if seen[c.Name] {
			t.Errorf("%s is hashed twice", c.Name)
		}
		seen[c.Name] = true
	}
	for range 4 {
		must[Joint](t)(w.CreateWeldJoint(WeldJointDef{JointDef: JointDef{BodyA: bodies[2], BodyB: bodies[3]}}))
	}
	if joined := w.AppendColumnHashes(nil); len(joined) != hashedColumns+4 {
		t.Fatalf("%d columns are hashed with joints", len(joined))
	}
	for name, word := range map[string]*float32{
		"hertz": &w.solver.joints.rows[2].hertz, "damping": &w.solver.joints.rows[2].damping,
		"force": &w.solver.joints.rows[2].forceThreshold, "torque": &w.solver.joints.rows[2].torqueThreshold,
		"a late number": &w.solver.joints.rows[2].numbers[jointNumbers-1], "the one before": &w.solver.joints.rows[2].numbers[jointNumbers-2],
	} {
		plain := w.AppendColumnHashes(nil)
		*word++
		changed := w.AppendColumnHashes(nil)
		if len(changed) != len(plain)+1 || changed[len(plain)].Name != "JointDefMore" || !slices.Equal(changed[:len(plain)], plain) {
			t.Errorf("%s: %v, before %v", name, changed, plain)
		}
		*word--
	}
	hash := w.Hash()
	for i, change := range []func(){
		func() { w.cols.X[3]++ }, func() { w.cols.Y[3]++ },
		func() { w.cols.Angle[3]++ }, func() { w.cols.Cos[3]++ }, func() { w.cols.Sin[3]++ },
		func() { w.cols.VX[3]++ }, func() { w.cols.VY[3]++ }, func() { w.cols.W[3]++ },
		func() { w.cols.LinearDamping[3]++ }, func() { w.cols.AngularDamping[3]++ },
		func() { w.cols.GravityScale[3]++ },
		func() { w.cols.ForceX[3]++ }, func() { w.cols.ForceY[3]++ }, func() { w.cols.Torque[3]++ },
		func() { w.cols.CentreX[3]++ }, func() { w.cols.CentreY[3]++ },
		func() { w.cols.InvMass[3]++ }, func() { w.cols.InvInertia[3]++ },
		func() { w.cols.Slot[3]++ }, func() { w.cols.Type[3]++ }, func() { w.cols.Flags[3]++ },
		func() { w.cols.Alive[3]++ }, func() { w.bodies.Generation[3]++ },
		func() { w.shapes.Owner[3]++ }, func() { w.shapes.Digest[3]++ },
		func() { w.shapes.IDs.Generation[3]++ },
		func() { w.solver.contacts[2].Points[1].Tangent++ },
		func() { w.solver.lastGenerations = append(w.solver.lastGenerations, 3) },
		func() { w.config.Gravity[1]++ },
		func() { w.solver.steps++ },
		func() { w.solver.sleep.Times[3]++ }, func() { w.solver.sleep.Threshold[3]++ },
		func() { w.solver.sleepers.resting = make([]rigid.Contact, 1) },
		func() { w.joints.Owner[3]++ },
		func() { w.joints.IDs.Generation[3]++ },
		func() { w.solver.joints.rows[3].numbers[1]++ },
		func() { w.solver.joints.solved[3].AngularImpulse.Upper++ },
	} {
		before := w.AppendColumnHashes(nil)
		change()
		after := w.AppendColumnHashes(nil)
		for k := range after {
			if (before[k] != after[k]) != (k == i) {
				t.Errorf("change %d: column %s", i, after[k].Name)
			}
		}
		if w.Hash() == hash {
			t.Errorf("change %d is not in the hash", i)
		}
		hash = w.Hash()
	}
}

func TestHashIsOfTheCallsAlone(t *testing.T) {
	build := func(capacity int) *World {
		w, _ := newFakeWorld(t, Config{Capacity: capacity})
		populate(t, w, 50)
		if err := w.Step(0.1); err != nil {
			t.Fatal(err)
		}
		return w
	}
	a, b := build(50), build(900)
	if a.Hash() != b.Hash() {
		t.Error("equal calls, different hashes")
	}
	if err := b.Step(0.1); err != nil {
		t.Fatal(err)
	}
	if a.Hash() == b.Hash() {
		t.Error("a step left the hash as it was")
	}
}

func TestHashSeesShapes(t *testing.T) {
	hash := func(add func(*World, Body)) uint64 {
		w, _ := newFakeWorld(t, Config{Capacity: 4})
		add(w, must[Body](t)(w.CreateBody(DefaultBodyDef())))
		return w.Hash()
	}
	material := DefaultShapeDef()
	heavy := material
	heavy.Density = 2
	seen := map[uint64]int{}
	for i, add := range []func(*World, Body){
		func(w *World, b Body) {},
		func(w *World, b Body) { w.CreateCircle(b, material, Circle{Radius: 1}) },
		func(w *World, b Body) { w.CreateCircle(b, material, Circle{Radius: 2}) },
		func(w *World, b Body) { w.CreateCircle(b, heavy, Circle{Radius: 1}) },
		func(w *World, b Body) { w.CreatePolygon(b, material, Box(1, 1)) },
		func(w *World, b Body) { w.CreateSegment(b, material, Segment{P2: [2]float32{1, 0}}) },
		func(w *World, b Body) { w.CreateCapsule(b, material, Capsule{P2: [2]float32{1, 0}, Radius: 1}) },
	} {
		h := hash(add)
		if j, ok := seen[h]; ok {
			t.Errorf("worlds %d and %d have one hash", i, j)
		}
		seen[h] = i
	}
}
