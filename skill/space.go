package skill

import (
	"math"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/bodies3"
	"github.com/google/jsonschema-go/jsonschema"
)

// maxHullPoints bounds the points of a hull in an input.
const maxHullPoints = 256

// constrainSpace makes the schema of scene.createEntity that of bodies in the plane or in space.
func (r *Registry) constrainSpace(s *jsonschema.Schema) {
	body, shape := property(s, "body"), property(s, "body.shape")
	if r.config.Space == nil {
		delete(body.Properties, "spin")
		delete(shape.Properties, "points")
		return
	}
	for _, name := range []string{"angle", "angularVelocity"} {
		delete(body.Properties, name)
	}
	bound(s, -maxSpeed, maxSpeed, "body.spin")
	property(s, "body.velocity").Description = "in m/s"
	property(s, "rotation").Description = "a quaternion, which is normalised"
	property(s, "position").Description = "where it is, in metres"
	r.constrainShape(shape)
}

// constrainShape makes the schema of a shape that of shapes in space.
func (r *Registry) constrainShape(s *jsonschema.Schema) {
	bound(s, 0, maxSize, "size", "radius", "length")
	bound(s, -maxSize, maxSize, "points")
	most := maxHullPoints
	property(s, "points").MaxItems = &most
	oneOf(property(s, "type"), "box", "sphere", "capsule", "hull")
	property(s, "type").Description = "box, sphere, capsule or hull"
	property(s, "size").Description = "edges of a box, in metres"
	property(s, "radius").Description = "of a sphere or capsule, in metres"
	property(s, "length").Description = "between the centres of the ends of a capsule, in metres; along Y"
}

// inSpace returns the shape as package bodies3 has it. It refuses fields of another shape.
func (s *shapeSpec) inSpace(field string) (*bodies3.Spec, *Error) {
	d := &bodies3.Spec{Shape: s.Type, Radius: s.Radius, Length: s.Length, Rotation: [4]float32{3: 1}}
	if d.Shape == "circle" { // of the short form
		d.Shape = "sphere"
	}
	box, hull := d.Shape == "box", d.Shape == "hull"
	switch {
	case !box && s.Size != nil:
		return nil, refuse(InvalidInput, field+".size", "only a box has a size")
	case box && s.Size == nil:
		return nil, refuse(InvalidInput, field+".size", "is missing: a box needs it")
	case (box || hull) && s.Radius != 0:
		return nil, refuse(InvalidInput, field+".radius", "a %s has no radius", d.Shape)
	case d.Shape != "capsule" && s.Length != 0:
		return nil, refuse(InvalidInput, field+".length", "only a capsule has a length")
	case !hull && s.Points != nil:
		return nil, refuse(InvalidInput, field+".points", "only a hull has points")
	case hull && len(s.Points) < 4:
		return nil, refuse(InvalidInput, field+".points", "has %d points: a hull needs four", len(s.Points))
	}
	if box {
		d.Size = s.Size.array()
	}
	for _, p := range s.Points {
		d.Points = append(d.Points, p.array())
	}
	return d, nil
}

// planInSpace makes a plan of a description, and tries it.
func (c *Call) planInSpace(at Vec, q Quat, in *bodySpec) (*bodyPlan, error) {
	d, refused := in.Shape.inSpace("body.shape")
	if refused != nil {
		return nil, refused
	}
	if in.Angle != 0 || in.AngularVelocity != 0 {
		return nil, refuse(InvalidInput, "body", "angle and angularVelocity are for bodies in the plane: use rotation and spin")
	}
	d.Type, d.Position, d.Rotation = in.Type, at.array(), [4]float32{q.X, q.Y, q.Z, q.W}
	if in.Velocity != nil {
		d.Velocity = in.Velocity.array()
	}
	if in.Spin != nil {
		d.Spin = in.Spin.array()
	}
	if m := in.Material; m != nil {
		d.Density, d.Friction, d.Restitution = m.Density, m.Friction, m.Restitution
	}
	create, err := c.Registry.config.Space.Plan(d)
	if err != nil {
		return nil, invalid("body", err)
	}
	if s := c.Registry.config.Space.Stats(); s.Bodies >= s.Capacity {
		return nil, refuse(CapacityExceeded, "body", "the world is full: %d bodies", s.Capacity)
	}
	return &bodyPlan{inSpace: create}, nil
}

// spaceState returns the state of the body in space of an entity.
func (c *Call) spaceState(id ecs.ID) (bodyState, bool) {
	sp := c.Registry.config.Space
	if sp == nil {
		return bodyState{}, false
	}
	s, ok := sp.Body(id)
	if !ok {
		return bodyState{}, false
	}
	spin := vecOf(s.Spin)
	x, y, z := float64(spin.X), float64(spin.Y), float64(spin.Z)
	speed := math.Sqrt(float64(x*x) + float64(y*y) + float64(z*z))
	return bodyState{Type: s.Type, Velocity: vecOf(s.Velocity), AngularVelocity: float32(speed), Spin: &spin}, true
}

// moveInSpace moves the body of an entity, if it has one in space, to where the entity will be.
func (c *Call) moveInSpace(id ecs.ID, in updateInput, at Vec, q Quat) error {
	if _, has := c.spaceState(id); !has {
		return nil
	}
	var position *[3]float32
	var rotation *[4]float32
	if in.Position != nil {
		position = &[3]float32{at.X, at.Y, at.Z}
	}
	if in.Rotation != nil {
		rotation = &[4]float32{q.X, q.Y, q.Z, q.W}
	}
	return c.Registry.config.Space.Move(id, position, rotation)
}

// pushInSpace applies impulses to a body in space, all or none.
func (c *Call) pushInSpace(id ecs.ID, in impulseInput) (Pushed, error) {
	switch {
	case in.Angular != nil:
		return Pushed{}, refuse(InvalidInput, "angular", "is for bodies in the plane: use spin")
	case in.Impulse == nil && (in.Spin == nil || in.Point != nil):
		return Pushed{}, refuse(InvalidInput, "impulse", "is missing; spin alone needs no point")
	}
	vector := func(v *Vec) *[3]float32 {
		if v == nil {
			return nil
		}
		a := v.array()
		return &a
	}
	if state, _ := c.spaceState(id); state.Type != "dynamic" {
		return Pushed{}, refuse(InvalidInput, in.field(), "the body of %s is %s: impulses need a dynamic body", id, state.Type)
	}
	if err := c.Registry.config.Space.Push(id, vector(in.Impulse), vector(in.Point), vector(in.Spin)); err != nil {
		return Pushed{}, err
	}
	state, _ := c.spaceState(id)
	return Pushed{id.String(), state}, nil
}

// castInSpace is physics.raycast in space.
func (c *Call) castInSpace(in rayInput) (RayOutput, error) {
	var exclude ecs.ID
	if in.Exclude != "" {
		id, _, refused := c.liveEntity("exclude", in.Exclude)
		if refused != nil {
			return RayOutput{}, refused
		}
		exclude = id
	}
	hits, err := c.Registry.config.Space.Ray(in.From.array(), in.To.array(), exclude, in.All)
	if err != nil {
		return RayOutput{}, invalid("to", err)
	}
	out := RayOutput{Hits: []RayHit{}, Total: len(hits)}
	for _, h := range hits[:min(len(hits), c.Registry.config.Rows)] {
		out.Hits = append(out.Hits, RayHit{idText(h.ID), vecOf(h.Point), vecOf(h.Normal), h.Distance})
	}
	return out, nil
}

// idText is empty for 0, which stands for no entity.
func idText(id ecs.ID) string {
	if id == 0 {
		return ""
	}
	return id.String()
}

// overlapInput is the input of physics.overlap.
type overlapInput struct {
	Position Vec       `json:"position" jsonschema:"of the middle of the shape, in metres"`
	Rotation *Quat     `json:"rotation,omitempty" jsonschema:"a quaternion, which is normalised"`
	Shape    shapeSpec `json:"shape"`
	Exclude  string    `json:"exclude,omitempty" jsonschema:"id of an entity to leave out"`
}

// overlapOutput is the output of physics.overlap.
type overlapOutput struct {
	IDs   []string `json:"ids" jsonschema:"of entities, by age; empty for a body without an entity"`
	Total int      `json:"total"`
}

// registerOverlaps registers physics.overlap, if there are bodies in space.
func (r *Registry) registerOverlaps() error {
	if r.config.Space == nil {
		return nil
	}
	return Register(r, Def{
		Name: "physics.overlap", Permission: "physics.read", ReadOnly: true,
		Description: "Returns the entities whose bodies in space overlap a box, sphere, capsule or hull at a place.",
		Constrain: func(s *jsonschema.Schema) {
			e := float64(r.config.Extent)
			bound(s, -e, e, "position")
			bound(s, -maxQuat, maxQuat, "rotation")
			property(s, "exclude").Pattern = idPattern
			r.constrainShape(property(s, "shape"))
		},
	}, overlap)
}

func overlap(c *Call, in overlapInput) (overlapOutput, error) {
	d, refused := in.Shape.inSpace("shape")
	if refused != nil {
		return overlapOutput{}, refused
	}
	d.Position = in.Position.array()
	if in.Rotation != nil {
		q, refused := normalised("rotation", *in.Rotation)
		if refused != nil {
			return overlapOutput{}, refused
		}
		d.Rotation = [4]float32{q.X, q.Y, q.Z, q.W}
	}
	var exclude ecs.ID
	if in.Exclude != "" {
		if exclude, _, refused = c.liveEntity("exclude", in.Exclude); refused != nil {
			return overlapOutput{}, refused
		}
	}
	ids, err := c.Registry.config.Space.Overlaps(d)
	if err != nil {
		return overlapOutput{}, invalid("shape", err)
	}
	out := overlapOutput{IDs: []string{}}
	for _, id := range ids {
		if id != 0 && id == exclude {
			continue
		}
		if out.Total++; out.Total <= c.Registry.config.Rows {
			out.IDs = append(out.IDs, idText(id))
		}
	}
	return out, nil
}
