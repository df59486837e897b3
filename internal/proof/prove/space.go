package main

import (
	"math"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/physics3"
	"github.com/evertick/evertick/space"
)

// hall is what the command adds to the scene: bodies in space, on ground of all kinds, that come, go, are joined, pushed and put elsewhere. Package proof
// has none, since the first report of bench, which has its scene, links no engine in space. All that the hall does follows from the state and the tick.
type hall struct {
	sim    *evertick.Sim
	bodies *space.Bodies
	tag    ecs.Tag
	hull   *physics3.Hull
	slots  []ecs.Slot
}

const (
	hallBodies = 40 // at most
	streamHall = 1000
)

// addHall is proof.Config.Extend.
func addHall(sim *evertick.Sim) error {
	_, err := newHall(sim)
	return err
}

func newHall(sim *evertick.Sim) (*hall, error) {
	b, err := space.Attach(sim, physics3.Config{Gravity: [3]float32{0, -10, 0}})
	if err != nil {
		return nil, err
	}
	h := &hall{sim: sim, bodies: b}
	if h.tag, err = sim.World.Tag("hall"); err != nil {
		return nil, err
	}
	if h.hull, err = physics3.NewHull([][3]float32{{-0.5, -0.4, -0.5}, {0.6, -0.4, -0.5}, {0.5, -0.4, 0.5}, {-0.5, -0.3, 0.5}, {0, 0.6, 0}, {0.2, 0.5, 0.3}}, physics3.HullOptions{}); err != nil {
		return nil, err
	}
	if err := h.build(); err != nil {
		return nil, err
	}
	return h, sim.Add(evertick.BeforePhysics, "hall", h.run)
}

// build makes hills, a ramp of triangles, a belt, a chain of joints and a sensor.
func (h *hall) build() error {
	w, shape := h.bodies.World(), physics3.DefaultShapeDef()
	ground, err := w.CreateBody(physics3.DefaultBodyDef())
	if err != nil {
		return err
	}
	const side = 17
	heights := make([]float32, side*side)
	for i := range heights {
		x, z := float32(i%side-side/2), float32(i/side-side/2)
		heights[i] = (float32(x*x) + float32(z*z)) / 24 // a bowl, which keeps all in it
	}
	bowl, err := physics3.NewHeightField(physics3.HeightFieldDef{Width: side, Depth: side, Cell: [2]float32{1, 1}, Heights: heights})
	if err != nil {
		return err
	}
	ramp, _, err := physics3.NewMesh(physics3.MeshDef{
		Vertices:  [][3]float32{{-6, 4, -2}, {-6, 4, 2}, {-1, 1, -2}, {-1, 1, 2}},
		Triangles: [][3]uint32{{0, 1, 2}, {2, 1, 3}}, TwoSided: true,
	})
	if err != nil {
		return err
	}
	if _, err := w.CreateHeightField(ground, shape, bowl, physics3.Placement{Position: [3]float32{-side / 2, 0, -side / 2}}); err != nil {
		return err
	}
	if _, err := w.CreateMesh(ground, shape, ramp, physics3.Placement{}); err != nil {
		return err
	}
	sensor := shape
	sensor.Sensor = true
	if _, err := w.CreateBox(ground, sensor, physics3.Box{Half: [3]float32{2, 1, 2}, Center: [3]float32{0, 1, 0}}); err != nil {
		return err
	}
	def := physics3.DefaultBodyDef()
	def.Type, def.Position, def.AngularVelocity = physics3.KinematicBody, [3]float32{0, 0.5, 0}, [3]float32{0, 1, 0}
	rotor, err := w.CreateBody(def)
	if err == nil {
		_, err = w.CreateBox(rotor, shape, physics3.Box{Half: [3]float32{3, 0.2, 0.2}})
	}
	last := ground
	for i := range 6 {
		if err != nil {
			return err
		}
		var link physics3.Body
		def := physics3.DefaultBodyDef()
		def.Type, def.Position = physics3.DynamicBody, [3]float32{float32(i) + 0.5, 6, 3}
		if link, err = w.CreateBody(def); err != nil {
			return err
		}
		if _, err = w.CreateCapsule(link, shape, physics3.Capsule{P1: [3]float32{-0.4}, P2: [3]float32{0.4}, Radius: 0.1}); err != nil {
			return err
		}
		joint := physics3.JointDef{BodyA: last, BodyB: link}
		joint.FrameA.Point, joint.FrameB.Point = [3]float32{0.5}, [3]float32{-0.5}
		if i == 0 {
			joint.FrameA.Point = [3]float32{0, 6, 3}
		}
		if i%2 == 0 {
			_, err = w.CreateJoint(&physics3.SphericalJointDef{JointDef: joint})
		} else {
			_, err = w.CreateJoint(&physics3.RevoluteJointDef{JointDef: joint})
		}
		last = link
	}
	return err
}

// run does something to the entities of the hall in each tick.
func (h *hall) run(t *evertick.Tick) error {
	r := t.Rand(0, streamHall)
	w := h.sim.World
	h.slots = h.slots[:0]
	for slot := range w.Query(ecs.With(h.tag)) {
		h.slots = append(h.slots, slot)
	}
	if len(h.slots) < hallBodies && t.N%5 == 0 && w.Len() < w.Cap() {
		return h.spawn(t.N, &r)
	}
	if len(h.slots) == 0 {
		return nil
	}
	slot := h.slots[r.IntN(len(h.slots))]
	id, _ := w.ID(slot)
	body, has := h.bodies.Body(id)
	sp := h.bodies.World()
	x, y, z := r.Range(-3, 3), r.Range(1, 6), r.Range(-3, 3)
	switch r.IntN(40) {
	case 0:
		t.Commands().Despawn(id)
	case 1:
		return w.SetPosition(id, x, y, z)
	case 2:
		return w.SetRotation(id, x, y, z, 1)
	case 3:
		if has {
			return sp.SetTransform(body, [3]float32{x, y, z}, [4]float32{z, x, y, 1})
		}
	case 4:
		if has {
			return sp.SetVelocity(body, [3]float32{float32(20 * x), y, float32(20 * z)}, [3]float32{x, y, z})
		}
	case 5:
		if has {
			return sp.DestroyBody(body)
		}
		return h.embody(id, t.N, [3]float32{x, y, z})
	default:
		if has {
			return sp.ApplyLinearImpulse(body, [3]float32{x, y, z}, [3]float32{w.Position.X[slot], w.Position.Y[slot] + 0.2, w.Position.Z[slot]})
		}
	}
	return nil
}

func (h *hall) spawn(n uint64, r *loop.Rand) error {
	id, err := h.sim.World.Spawn()
	if err != nil {
		return err
	}
	h.tag.Set(id)
	return h.embody(id, n, [3]float32{r.Range(-4, 4), r.Range(4, 8), r.Range(-4, 4)})
}

// embody gives an entity a body, of a kind that follows from a number.
func (h *hall) embody(id ecs.ID, n uint64, at [3]float32) error {
	def := physics3.DefaultBodyDef()
	def.Type, def.Position, def.Bullet = physics3.DynamicBody, at, n%3 == 0
	b, err := h.bodies.Create(id, def)
	if err != nil {
		return err
	}
	w, shape := h.bodies.World(), physics3.DefaultShapeDef()
	shape.Restitution, shape.RollingResistance = float32(n%4)/8, float32(n%2)/16
	switch n / 5 % 5 {
	case 0:
		_, err = w.CreateBox(b, shape, physics3.Box{Half: [3]float32{0.3, 0.5, 0.4}})
	case 1:
		_, err = w.CreateSphere(b, shape, physics3.Sphere{Radius: 0.4})
	case 2:
		_, err = w.CreateCapsule(b, shape, physics3.Capsule{P1: [3]float32{0, -0.3, 0}, P2: [3]float32{0, 0.3, 0.1}, Radius: 0.3})
	case 3:
		_, err = w.CreateHull(b, shape, h.hull, physics3.Placement{Rotation: [4]float32{0, 0, float32(math.Sqrt2), 1}})
	default: // a compound
		if _, err = w.CreateBox(b, shape, physics3.Box{Half: [3]float32{0.6, 0.1, 0.1}}); err == nil {
			_, err = w.CreateSphere(b, shape, physics3.Sphere{Center: [3]float32{0.6, 0.1, 0}, Radius: 0.3})
		}
	}
	return err
}
