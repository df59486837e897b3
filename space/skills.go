package space

import (
	"fmt"
	"math"
	"slices"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/bodies3"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/physics3"
)

// Skills returns what skill.Config.Space takes, so that the standard skills of package skill make, move, push and find bodies in space:
//
//	registry, err := skill.New(sim, skill.Config{Space: space.Skills(bodies)})
func Skills(b *Bodies) bodies3.Bodies { return &skills{Bodies: b} }

// skills implements bodies3.Bodies.
type skills struct {
	*Bodies
	trial *physics3.World // of one body, in which a body is made to see whether that fails
}

// Body returns the state of the body of an entity.
func (s *skills) Body(id ecs.ID) (bodies3.State, bool) {
	b, ok := s.Bodies.Body(id)
	if !ok {
		return bodies3.State{}, false
	}
	linear, angular, _ := s.world.Velocity(b) // the body lives
	return bodies3.State{Type: s.typeOf(b).String(), Velocity: linear, Spin: angular}, true
}

func (s *skills) typeOf(b physics3.Body) physics3.BodyType { return s.world.Columns().Type[b.Index()] }

// maker makes a shape of a body.
type maker func(w *physics3.World, b physics3.Body, def physics3.ShapeDef) (physics3.Shape, error)

// shapeOf returns what makes the shape of a description, and the same as a form.
func shapeOf(d *bodies3.Spec) (maker, physics3.Form, error) {
	switch d.Shape {
	case "box":
		box := physics3.Box{Half: [3]float32{d.Size[0] / 2, d.Size[1] / 2, d.Size[2] / 2}}
		form, err := physics3.BoxForm(box)
		return func(w *physics3.World, b physics3.Body, def physics3.ShapeDef) (physics3.Shape, error) {
			return w.CreateBox(b, def, box)
		}, form, err
	case "sphere":
		ball := physics3.Sphere{Radius: d.Radius}
		form, err := physics3.SphereForm(ball)
		return func(w *physics3.World, b physics3.Body, def physics3.ShapeDef) (physics3.Shape, error) {
			return w.CreateSphere(b, def, ball)
		}, form, err
	case "capsule":
		capsule := physics3.Capsule{P1: [3]float32{1: -d.Length / 2}, P2: [3]float32{1: d.Length / 2}, Radius: d.Radius}
		form, err := physics3.CapsuleForm(capsule)
		return func(w *physics3.World, b physics3.Body, def physics3.ShapeDef) (physics3.Shape, error) {
			return w.CreateCapsule(b, def, capsule)
		}, form, err
	}
	hull, err := physics3.NewHull(d.Points, physics3.HullOptions{})
	if err != nil {
		return nil, physics3.Form{}, err
	}
	form, err := physics3.HullForm(hull, physics3.Placement{})
	return func(w *physics3.World, b physics3.Body, def physics3.ShapeDef) (physics3.Shape, error) {
		return w.CreateHull(b, def, hull, physics3.Placement{})
	}, form, err
}

func (s *skills) Plan(d *bodies3.Spec) (func(id ecs.ID) error, error) {
	def, material := physics3.DefaultBodyDef(), physics3.DefaultShapeDef()
	switch d.Type {
	case "kinematic":
		def.Type = physics3.KinematicBody
	case "dynamic":
		def.Type = physics3.DynamicBody
	}
	def.Position, def.Rotation, def.LinearVelocity, def.AngularVelocity = d.Position, d.Rotation, d.Velocity, d.Spin
	for _, v := range [...]struct{ to, from *float32 }{
		{&material.Density, d.Density}, {&material.Friction, d.Friction}, {&material.Restitution, d.Restitution},
	} {
		if v.from != nil {
			*v.to = *v.from
		}
	}
	create, _, err := shapeOf(d)
	if err != nil {
		return nil, err
	}
	if err := s.try(&def, &material, create); err != nil {
		return nil, err
	}
	return func(id ecs.ID) error {
		b, err := s.Create(id, def)
		if err == nil {
			_, err = create(s.world, b, material)
		}
		return err
	}, nil
}

// try makes a body in a world of its own.
func (s *skills) try(def *physics3.BodyDef, material *physics3.ShapeDef, create maker) error {
	if s.trial == nil {
		w, err := physics3.New(physics3.Config{Capacity: 1, Slots: 1, Level: s.sim.Level()})
		if err != nil {
			return err
		}
		s.trial = w
	}
	b, err := s.trial.CreateBody(*def)
	if err != nil {
		return err
	}
	_, err = create(s.trial, b, *material)
	if e := s.trial.DestroyBody(b); e != nil {
		s.trial = nil
	}
	return err
}

func (s *skills) Move(id ecs.ID, position *[3]float32, rotation *[4]float32) error {
	b, ok := s.Bodies.Body(id)
	if !ok {
		return fault.Field(evertick.ErrStale, "space: Move: id", id)
	}
	p, err := s.world.Position(b)
	if err != nil {
		return err
	}
	q, err := s.world.Rotation(b)
	if err != nil {
		return err
	}
	if position != nil {
		p = *position
	}
	if rotation != nil {
		q = *rotation
	}
	return s.world.SetTransform(b, p, q)
}

func (s *skills) Push(id ecs.ID, linear, point, angular *[3]float32) error {
	b, ok := s.Bodies.Body(id)
	if !ok {
		return fault.Field(evertick.ErrStale, "space: Push: id", id)
	}
	if t := s.typeOf(b); t != physics3.DynamicBody {
		return fmt.Errorf("the body of %s is %s: impulses need a dynamic body: %w", id, t, evertick.ErrRange)
	}
	c := s.world.NewCommands()
	switch {
	case linear != nil && point != nil:
		c.ApplyLinearImpulse(b, *linear, *point)
	case linear != nil:
		c.ApplyLinearImpulseToCenter(b, *linear)
	}
	if angular != nil {
		c.ApplyAngularImpulse(b, *angular)
	}
	return s.world.Apply(c)
}

func (s *skills) Ray(from, to [3]float32, exclude ecs.ID, all bool) ([]bodies3.Hit, error) {
	way := [3]float32{to[0] - from[0], to[1] - from[1], to[2] - from[2]}
	rays := physics3.Rays{X: from[:1], Y: from[1:2], Z: from[2:], DX: way[:1], DY: way[1:2], DZ: way[2:]}
	if b, ok := s.Bodies.Body(exclude); ok {
		rays.Exclude = []physics3.Body{b}
	}
	cast := s.world.RayClosest
	if all {
		cast = s.world.RayAll
	}
	var hits physics3.RayHits
	if err := cast(&rays, &hits); err != nil {
		return nil, err
	}
	x, y, z := float64(way[0]), float64(way[1]), float64(way[2])
	length := math.Sqrt(float64(x*x) + float64(y*y) + float64(z*z))
	var found []bodies3.Hit
	for i, shape := range hits.Shapes {
		if shape == (physics3.Shape{}) {
			continue
		}
		id, _ := s.ShapeEntity(shape)
		found = append(found, bodies3.Hit{
			ID: id, Point: [3]float32{hits.X[i], hits.Y[i], hits.Z[i]}, Normal: [3]float32{hits.NormalX[i], hits.NormalY[i], hits.NormalZ[i]},
			Distance: float32(float64(hits.Fractions[i]) * length),
		})
	}
	return found, nil
}

func (s *skills) Overlaps(d *bodies3.Spec) ([]ecs.ID, error) {
	_, form, err := shapeOf(d)
	if err != nil {
		return nil, err
	}
	at := d.Position
	probes := physics3.Probes{Forms: []physics3.Form{form}, X: at[:1], Y: at[1:2], Z: at[2:], Rotations: [][4]float32{d.Rotation}}
	var out physics3.Overlapping
	if err := s.world.Overlaps(&probes, &out); err != nil {
		return nil, err
	}
	var ids []ecs.ID
	for _, shape := range out.Row(0) {
		id, _ := s.ShapeEntity(shape)
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

func (s *skills) Stats() bodies3.Stats {
	w := s.world
	return bodies3.Stats{Bodies: w.Len(), Capacity: w.Cap(), Shapes: w.ShapeCount(), Awake: w.AwakeCount(), Gravity: w.Config().Gravity}
}

func (s *skills) Snapshot(dst []byte) ([]byte, error) { return s.snapshot(dst) }
