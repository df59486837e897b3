package inspector

import (
	"bytes"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/physics3"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/space"
)

// pushed is a Sim with a block of 8 kg on a floor, which a system pushes along x with 20 N and turns with 4 N·m, and a block below a joint that carries it.
// Both are in space or both in the plane. The floor is in slot 0, the block in slot 1, and the other one in slot 2.
func pushed(inSpace bool) (*evertick.Sim, error) {
	sim, err := evertick.New(evertick.Config{Capacity: 16, Physics: physics.Config{Gravity: [2]float32{0, -10}}})
	if err != nil {
		return nil, err
	}
	build := map[bool]func(*evertick.Sim) (func() error, error){true: pushedInSpace, false: pushedInPlane}[inSpace]
	push, err := build(sim)
	if err != nil {
		return nil, err
	}
	return sim, sim.Add(evertick.BeforePhysics, "push", func(*evertick.Tick) error { return push() })
}

func pushedInSpace(sim *evertick.Sim) (push func() error, err error) {
	bodies, err := space.Attach(sim, physics3.Config{Gravity: [3]float32{0, -10, 0}})
	if err != nil {
		return nil, err
	}
	w := bodies.World()
	block := func(t physics3.BodyType, x, y, half float32) (b physics3.Body) {
		id, _, err2 := sim.World.SpawnSlot()
		def, shape := physics3.DefaultBodyDef(), physics3.DefaultShapeDef()
		def.Type, def.Position, shape.Density = t, [3]float32{x, y, 0}, 1
		b, err3 := bodies.Create(id, def)
		_, err4 := w.CreateBox(b, shape, physics3.Box{Half: [3]float32{half, 1, half}})
		for _, e := range []error{err2, err3, err4} {
			if err == nil {
				err = e
			}
		}
		return b
	}
	floor, b, hanging := block(physics3.StaticBody, 0, -1, 20), block(physics3.DynamicBody, 0, 1, 1), block(physics3.DynamicBody, 8, 5, 1)
	if err != nil {
		return nil, err
	}
	if err := w.EnableSleep(hanging, false); err != nil {
		return nil, err
	}
	_, err = w.CreateJoint(&physics3.SphericalJointDef{JointDef: physics3.JointDef{BodyA: floor, BodyB: hanging,
		FrameA: physics3.JointFrame{Point: [3]float32{8, 7, 0}}, FrameB: physics3.JointFrame{Point: [3]float32{0, 1, 0}}}})
	return func() error {
		if err := w.ApplyForceToCenter(b, [3]float32{20, 0, 0}); err != nil {
			return err
		}
		return w.ApplyTorque(b, [3]float32{0, 4, 0})
	}, err
}

func pushedInPlane(sim *evertick.Sim) (push func() error, err error) {
	w := sim.Physics
	block := func(t physics.BodyType, x, y, half float32) (b physics.Body) {
		id, _, err2 := sim.World.SpawnSlot()
		def, shape := physics.DefaultBodyDef(), physics.DefaultShapeDef()
		def.Type, def.Position, shape.Density = t, [2]float32{x, y}, 2
		b, err3 := sim.CreateBody(id, def)
		_, err4 := w.CreatePolygon(b, shape, physics.Box(half, 1))
		for _, e := range []error{err2, err3, err4} {
			if err == nil {
				err = e
			}
		}
		return b
	}
	floor, b, hanging := block(physics.StaticBody, 0, -1, 20), block(physics.DynamicBody, 0, 1, 1), block(physics.DynamicBody, 8, 5, 1)
	if err != nil {
		return nil, err
	}
	if err := w.EnableSleep(hanging, false); err != nil {
		return nil, err
	}
	_, err = w.CreateRevoluteJoint(physics.RevoluteJointDef{JointDef: physics.JointDef{BodyA: floor, BodyB: hanging,
		FrameA: physics.JointFrame{Point: [2]float32{8, 7}}, FrameB: physics.JointFrame{Point: [2]float32{0, 1}}}})
	return func() error {
		if err := w.ApplyForceToCenter(b, [2]float32{20, 0}); err != nil {
			return err
		}
		return w.ApplyTorque(b, 4)
	}, err
}

// forcesIn returns what a picture says of forces: by kind the size of the sum, or NaN, and the torque; and the directions of the arrows by colour.
func forcesIn(t *testing.T, in *Inspector, query string, inSpace bool) (of map[string][2]float64, arrows map[uint32][][3]float32) {
	t.Helper()
	if inSpace {
		query += "&space=1"
	}
	a := get(t, in, "frame?"+query)
	for i := 0; a.Status == 204 && i < 20; i++ { // it is too soon after another picture
		a = get(t, in, "frame?"+query)
	}
	f := decodeFrame(t, a)
	of, arrows = map[string][2]float64{}, map[uint32][][3]float32{}
	for _, h := range f.Forces {
		of[h.Name] = [2]float64{math.NaN(), h.Nm}
		if h.N != nil {
			of[h.Name] = [2]float64{*h.N, h.Nm}
		}
	}
	name, dims := "lines", 2
	if inSpace {
		name, dims = "lines3", 3
	}
	for i := 0; i < len(f.f32[name]); i += 2 * dims {
		var d [3]float32
		for k := range dims {
			d[k] = f.f32[name][i+dims+k] - f.f32[name][i+k]
		}
		c := f.u32[map[bool]string{true: "line3_colours", false: "line_colours"}[inSpace]][i/2/dims] >> 8
		arrows[c] = append(arrows[c], d)
	}
	return of, arrows
}

// The forces on the selected body are known from the second picture on, which changes neither the hash nor the snapshot.
func TestForcesOnTheSelectedBody(t *testing.T) {
	for _, inSpace := range []bool{true, false} {
		t.Run(fmt.Sprintf("space=%v", inSpace), func(t *testing.T) {
			sim, alone := must(pushed(inSpace)), must(pushed(inSpace))
			in := newInspector(t, sim, Config{})
			step := func(n uint64) {
				t.Helper()
				if err := sim.StepN(n); err != nil {
					t.Fatal(err)
				}
			}
			step(30)
			if of, arrows := forcesIn(t, in, "", inSpace); len(of) != 0 || len(arrows) != 0 {
				t.Errorf("without a selection there is %v", of)
			}
			sim2 := must(pushed(inSpace))
			in2 := newInspector(t, sim2, Config{})
			if err := sim2.StepN(30); err != nil {
				t.Fatal(err)
			}
			if of, arrows := forcesIn(t, in2, "selected=1", inSpace); !math.IsNaN(of["applied"][0]) || arrows[0xe06c00] != nil || math.Abs(of["weight"][0]-80) > 0.1 {
				t.Errorf("before the first look the forces are %v", of)
			}
			step(1)
			of, arrows := forcesIn(t, in, "selected=1", inSpace)
			if of["applied"] != [2]float64{20, 4} || math.Abs(of["weight"][0]-80) > 0.1 || math.Abs(of["contacts"][0]-82) > 8 || len(of) != 3 {
				t.Errorf("the forces are %v", of)
			}
			if a := arrows[0xe06c00]; len(a) < 5 || !(a[0][0] > 0.5 && a[0][1] == 0 && a[0][2] == 0) {
				t.Errorf("the force is drawn as %v", a)
			}
			if a := arrows[0x8a63d2]; len(a) < 3 || !(a[0][1] < -1.5 && a[0][0] == 0) {
				t.Errorf("the weight is drawn as %v", a)
			}
			if a := arrows[0xd23f7f]; len(a) < 3 {
				t.Errorf("contacts are drawn as %v", a)
			}
			step(30)
			if of, _ := forcesIn(t, in, "selected=2", inSpace); math.Abs(of["joints"][0]-80) > 1 || of["applied"] != [2]float64{} {
				t.Errorf("the forces on the other block are %v", of)
			}
			if of, _ := forcesIn(t, in, "selected=9", inSpace); of["weight"] != [2]float64{} {
				t.Errorf("a slot without an entity has %v", of)
			}
			if err := alone.StepN(61); err != nil {
				t.Fatal(err)
			}
			a, err := sim.Snapshot(nil)
			b, err2 := alone.Snapshot(nil)
			if err != nil || err2 != nil || !bytes.Equal(a, b) || sim.Hash() != alone.Hash() {
				t.Errorf("looking has changed the state: %v, %v", err, err2)
			}
			// Another state has forces from its next step on.
			if err := sim.Restore(b); err != nil {
				t.Fatal(err)
			}
			if of, _ := forcesIn(t, in, "selected=1&boxes=1", inSpace); !math.IsNaN(of["applied"][0]) {
				t.Errorf("after a Restore the forces are %v", of)
			}
			step(1)
			if of, _ := forcesIn(t, in, "selected=1&contacts=1", inSpace); of["applied"][0] != 20 {
				t.Errorf("a step later they are %v", of)
			}
		})
	}
}

// In a log the forces of a tick are known once it has run, whatever was selected before.
func TestForcesInALog(t *testing.T) {
	for _, inSpace := range []bool{true, false} {
		sc := replay.Scenario{Name: "pushed", New: func(uint64) (*evertick.Sim, error) { return pushed(inSpace) }}
		w := newWriter(t, sc, replay.Options{SnapshotTicks: 50})
		w.write(120)
		w.close()
		in := viewer(t, w.dir, sc)
		until(t, in, "all is read", func(l *logTimeline) bool { return l.Complete })
		for i, tick := range []uint64{77, 13, 118} { // with options of its own each, for which there is no picture yet
			at(t, in, tick)
			time.Sleep(2 * time.Duration(picturePeriod))
			if of, _ := forcesIn(t, in, "of=log&selected=1"+[]string{"", "&joints=1", "&contacts=1"}[i], inSpace); of["applied"][0] != 20 {
				t.Errorf("space=%v: at tick %d the forces are %v", inSpace, tick, of)
			}
		}
		at(t, in, 0)
		time.Sleep(2 * time.Duration(picturePeriod))
		if of, _ := forcesIn(t, in, "of=log&selected=1&boxes=1", inSpace); !math.IsNaN(of["applied"][0]) {
			t.Errorf("space=%v: before the first tick the forces are %v", inSpace, of)
		}
	}
}
