package sims3

import (
	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/physics3"
	"github.com/evertick/evertick/space"
)

// AttachFloor adds a space with gravity and a floor at height 0 to a Sim.
func AttachFloor(s *evertick.Sim) (*space.Bodies, error) {
	b, err := space.Attach(s, physics3.Config{Gravity: [3]float32{0, -10, 0}})
	if err != nil {
		return nil, err
	}
	def := physics3.DefaultBodyDef()
	def.Position[1] = -1
	floor, err := b.World().CreateBody(def)
	if err == nil {
		_, err = b.World().CreateBox(floor, physics3.DefaultShapeDef(), physics3.Box{Half: [3]float32{50, 1, 50}})
	}
	return b, err
}

// CubeAt is the definition of a dynamic body.
func CubeAt(x, y, z float32) physics3.BodyDef {
	def := physics3.DefaultBodyDef()
	def.Type, def.Position = physics3.DynamicBody, [3]float32{x, y, z}
	return def
}

// Give gives an entity a body with a shape of one of four kinds.
func Give(b *space.Bodies, id ecs.ID, def physics3.BodyDef, kind int) (physics3.Body, error) {
	body, err := b.Create(id, def)
	if err != nil {
		return body, err
	}
	w, shape := b.World(), physics3.DefaultShapeDef()
	switch kind {
	case 0:
		_, err = w.CreateBox(body, shape, physics3.Box{Half: [3]float32{0.5, 0.4, 0.3}})
	case 1:
		_, err = w.CreateSphere(body, shape, physics3.Sphere{Radius: 0.5})
	case 2:
		_, err = w.CreateCapsule(body, shape, physics3.Capsule{P1: [3]float32{-0.4}, P2: [3]float32{0.4}, Radius: 0.3})
	default:
		_, err = w.CreateHull(body, shape, wedge, physics3.Placement{Rotation: [4]float32{3: 1}})
	}
	return body, err
}

var wedge = func() *physics3.Hull {
	h, err := physics3.NewHull([][3]float32{{-0.5, -0.3, -0.5}, {0.5, -0.3, -0.5}, {0.5, -0.3, 0.5}, {-0.5, -0.3, 0.5}, {0, 0.5, 0}}, physics3.HullOptions{})
	if err != nil {
		panic(err)
	}
	return h
}()

// Life is a Sim for tests, in whose space everything happens to entities with bodies that can. An input of kind 1 with a byte spawns one. All that it does follows from the state, the tick and the inputs.
type Life struct {
	Sim    *evertick.Sim
	Bodies *space.Bodies
	events *ecs.Column[uint32] // touches that an entity had begun
}

const lives = 48 // entities at most

// NewLife returns a life without entities, at tick 0.
func NewLife(seed uint64, c evertick.Config) (*Life, error) {
	c.Capacity, c.Seed, c.Previous = 2*lives, seed, true
	c.PhysicsModes = 1
	c.Reorder = evertick.ReorderPolicy{Every: 16}
	s, err := evertick.New(c)
	if err != nil {
		return nil, err
	}
	l := &Life{Sim: s}
	if l.Bodies, err = AttachFloor(s); err != nil {
		return nil, err
	}
	if err := l.furnish(); err != nil {
		return nil, err
	}
	if l.events, err = ecs.AddColumn[uint32](s.World, "touches"); err != nil {
		return nil, err
	}
	if err := s.Add(evertick.BeforePhysics, "live", l.live); err != nil {
		return nil, err
	}
	if err := s.Add(evertick.AfterPhysics, "count", l.count); err != nil {
		return nil, err
	}
	return l, s.Check()
}

// furnish adds a ramp of triangles and a sensor to the floor.
func (l *Life) furnish() error {
	w, shape := l.Bodies.World(), physics3.DefaultShapeDef()
	floor, _ := w.BodyAt(0)
	ramp, _, err := physics3.NewMesh(physics3.MeshDef{
		Vertices:  [][3]float32{{-4, 3, -2}, {-4, 3, 2}, {-1, 1, -2}, {-1, 1, 2}},
		Triangles: [][3]uint32{{0, 1, 2}, {2, 1, 3}}, TwoSided: true,
	})
	if err == nil {
		_, err = w.CreateMesh(floor, shape, ramp, physics3.Placement{})
	}
	shape.Sensor = true
	if err == nil {
		_, err = w.CreateBox(floor, shape, physics3.Box{Half: [3]float32{2, 0.5, 2}, Center: [3]float32{1, 2, 1}})
	}
	return err
}

// join joins a body to that of another entity, or breaks a joint if there are several.
func (l *Life) join(body physics3.Body, slots []ecs.Slot, r *loop.Rand) error {
	w := l.Bodies.World()
	if w.JointCount() > 6 {
		if joint, ok := w.JointAt(r.IntN(8)); ok {
			return w.DestroyJoint(joint)
		}
		return nil
	}
	id, _ := l.Sim.World.ID(slots[r.IntN(len(slots))])
	other, has := l.Bodies.Body(id)
	if !has || other == body {
		return nil
	}
	joint := physics3.JointDef{BodyA: body, BodyB: other, BreakForce: 4000}
	joint.FrameA.Point, joint.FrameB.Point = [3]float32{0.6}, [3]float32{-0.6}
	var err error
	if r.IntN(2) == 0 {
		_, err = w.CreateJoint(&physics3.SphericalJointDef{JointDef: joint})
	} else {
		_, err = w.CreateJoint(&physics3.RevoluteJointDef{JointDef: joint, EnableMotor: true, MotorSpeed: 2, MaxMotorTorque: 5})
	}
	return err
}

// live does something to a few entities.
func (l *Life) live(t *evertick.Tick) error {
	r := t.Rand(0, 1)
	for range 3 {
		if err := l.act(t, &r); err != nil {
			return err
		}
	}
	for _, in := range t.Inputs() {
		if in.Kind == 1 {
			if err := l.spawn(&r, float32(in.Data[0])/8); err != nil {
				return err
			}
		}
	}
	mode := uint8(0)
	if t.N%40 >= 36 { // bodies rest
		mode = 1
	}
	return l.Sim.SetMode(mode)
}

func (l *Life) act(t *evertick.Tick, r *loop.Rand) error {
	w := l.Sim.World
	slots := w.LiveSlots(nil)
	if len(slots) < 8 {
		return l.spawn(r, 3)
	}
	slot := slots[r.IntN(len(slots))]
	id, _ := w.ID(slot)
	body, has := l.Bodies.Body(id)
	x, z := r.Range(-4, 4), r.Range(-4, 4)
	switch r.IntN(18) {
	case 0, 1, 2:
		if len(slots) < lives {
			return l.spawn(r, 3)
		}
	case 3:
		w.Despawn(id)
	case 4: // recorded
		t.Commands().Despawn(id)
	case 5:
		if err := w.SetPosition(id, x, 4, z); err != nil {
			return err
		}
	case 6:
		if _, inPlane := l.Sim.Body(id); inPlane { // which must not tilt
			return nil
		}
		return w.SetRotation(id, x, 1, z, 0.5)
	case 7:
		if has { // the entity stays, without a body
			return l.Bodies.World().DestroyBody(body)
		}
		if _, inPlane := l.Sim.Body(id); inPlane {
			return nil
		}
		_, err := Give(l.Bodies, id, CubeAt(x, 5, z), r.IntN(4))
		return err
	case 8:
		if has {
			return l.Bodies.World().SetTransform(body, [3]float32{x, 2, z}, [4]float32{x, z, 1, 1})
		}
	case 9:
		if t.N%3 == 0 {
			return l.Bodies.ShiftOrigin([3]float32{1024, -1024, 0})
		}
		if o := l.Bodies.World().Origin(); o != [3]float64{} {
			return l.Bodies.ShiftOrigin([3]float32{float32(-o[0]), float32(-o[1]), float32(-o[2])})
		}
	case 10, 11:
		if has {
			return l.join(body, slots, r)
		}
	case 12:
		if has {
			return l.Bodies.World().SetAwake(body, t.N%2 == 0)
		}
	default:
		if has {
			_ = l.Bodies.World().SetAwake(body, true)
			return l.Bodies.World().ApplyLinearImpulseToCenter(body, [3]float32{x, r.Range(0, 4), z})
		}
	}
	return nil
}

func (l *Life) spawn(r *loop.Rand, height float32) error {
	w := l.Sim.World
	if w.Len() == lives {
		return nil
	}
	id, err := w.Spawn()
	if err != nil {
		return err
	}
	x, z := r.Range(-3, 3), r.Range(-3, 3)
	if r.IntN(8) == 0 { // in the plane
		def := physics.DefaultBodyDef()
		def.Type, def.Position = physics.DynamicBody, [2]float32{x, z}
		body, err := l.Sim.CreateBody(id, def)
		if err == nil {
			_, err = l.Sim.Physics.CreateCircle(body, physics.DefaultShapeDef(), physics.Circle{Radius: 0.4})
		}
		return err
	}
	o := l.Bodies.World().Origin()
	_, err = Give(l.Bodies, id, CubeAt(x-float32(o[0]), height-float32(o[1]), z), r.IntN(4))
	return err
}

// count counts events by entity.
func (l *Life) count(*evertick.Tick) error {
	touches := l.events.Values()
	for _, e := range l.Bodies.World().Events().Begin {
		for _, s := range [...]physics3.Shape{e.A, e.B} {
			if id, ok := l.Bodies.ShapeEntity(s); ok {
				slot, _ := l.Sim.World.Slot(id)
				touches[slot]++
			}
		}
	}
	return nil
}
