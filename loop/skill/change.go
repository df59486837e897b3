package skill

import (
	"slices"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/physics"
	"github.com/google/jsonschema-go/jsonschema"
)

// UpdateInput is the input of ecs.updateComponent: position, rotation and scale, or one of them by
// Component and Value.
type UpdateInput struct {
	EntityRef
	Position  *Vec      `json:"position,omitempty" jsonschema:"in metres; a body has two of the axes, and its entity all three"`
	Rotation  *Quat     `json:"rotation,omitempty" jsonschema:"a quaternion, which is normalised; that of a body must turn within the plane of the bodies"`
	Scale     *Vec      `json:"scale,omitempty" jsonschema:"factors; they do not change the shape of a body"`
	Component string    `json:"component,omitempty" jsonschema:"instead of the three: position, rotation or scale, which value is"`
	Value     []float32 `json:"value,omitempty" jsonschema:"of component: x, y and z; of a rotation x, y, z and w"`
}

// Updated is the output of ecs.updateComponent: what the entity has now.
type Updated struct {
	ID       string `json:"id"`
	Position Vec    `json:"position"`
	Rotation Quat   `json:"rotation"`
	Scale    Vec    `json:"scale"`
}

const maxTurn = 1e6 // of a component of a quaternion

func constrainUpdate(r *Registry) func(*jsonschema.Schema) {
	return func(s *jsonschema.Schema) {
		e := float64(r.config.Extent)
		needEntity(s)
		bound(property(s, "position"), -e, e)
		bound(property(s, "rotation"), -maxTurn, maxTurn)
		bound(property(s, "scale"), -maxScale, maxScale)
		together(s, "component", "value")
		oneOf(property(s, "component"), "position", "rotation", "scale")
		value, least, most, widest := property(s, "value"), 3, 4, max(e, maxTurn, maxScale)
		value.MinItems, value.MaxItems = &least, &most
		bound(value, -widest, widest)
	}
}

// spread puts what Value has where Component says.
func (in *UpdateInput) spread(extent float32) *Error {
	if in.Component == "" {
		return nil
	}
	if in.Position != nil || in.Rotation != nil || in.Scale != nil {
		return refuse(InvalidInput, "component", "is instead of position, rotation and scale, not beside them")
	}
	v, want, most := in.Value, 3, extent
	switch in.Component {
	case "rotation":
		want, most = 4, maxTurn
	case "scale":
		most = maxScale
	}
	if len(v) != want {
		return refuse(InvalidInput, "value", "%d numbers, where a %s has %d", len(v), in.Component, want)
	}
	for _, x := range v {
		if !(x >= -most && x <= most) {
			return refuse(InvalidInput, "value", "%v is beyond %v", x, most)
		}
	}
	switch in.Component {
	case "position":
		in.Position = &Vec{v[0], v[1], v[2]}
	case "rotation":
		in.Rotation = &Quat{v[0], v[1], v[2], v[3]}
	case "scale":
		in.Scale = &Vec{v[0], v[1], v[2]}
	}
	return nil
}

func updateComponent(c *Call, in UpdateInput) (Updated, error) {
	id, slot, refused := c.entity(in.EntityRef)
	if refused != nil {
		return Updated{}, refused
	}
	if refused := in.spread(c.Registry.config.Extent); refused != nil {
		return Updated{}, refused
	}
	if in.Position == nil && in.Rotation == nil && in.Scale == nil {
		return Updated{}, refuse(InvalidInput, "", "position, rotation or scale is needed, or component and value")
	}
	at, q, scale := c.position(slot), c.rotation(slot), c.scale(slot)
	if in.Position != nil {
		at = *in.Position
	}
	if in.Rotation != nil {
		if q, refused = c.turned(id, *in.Rotation); refused != nil {
			return Updated{}, refused
		}
	}
	if in.Scale != nil {
		scale = *in.Scale
	}
	if !finite(at.X, at.Y, at.Z, q.X, q.Y, q.Z, q.W, scale.X, scale.Y, scale.Z) {
		return Updated{}, &Error{Code: InvalidInput, Text: "what the entity has is not finite", Cause: ErrNotFinite}
	}
	w := c.Sim.World
	if in.Position != nil || in.Rotation != nil {
		if err := c.moveBody(id, in, at, q); err != nil {
			return Updated{}, err
		}
		place(w, slot, at, q)
	}
	if in.Scale != nil {
		w.Scale.X[slot], w.Scale.Y[slot], w.Scale.Z[slot] = scale.X, scale.Y, scale.Z
		w.Scale.Touch()
	}
	return Updated{id.String(), at, q, scale}, nil
}

// turned returns the rotation that an entity has when it is given q: of one with a body that
// of its angle, as Sync writes it.
func (c *Call) turned(id ecs.ID, q Quat) (Quat, *Error) {
	q, refused := normalised("rotation", q)
	if _, has := c.Sim.Body(id); refused != nil || !has {
		return q, refused
	}
	a, refused := c.angle("rotation", q)
	return quatOf(c.plane().Rotation(a)), refused
}

// moveBody puts the body of an entity, if it has one, where the entity is going to be. The
// columns alone would do for one that has been through a step; one that was made in this tick
// does not look at them.
func (c *Call) moveBody(id ecs.ID, in UpdateInput, at Vec, q Quat) error {
	b, ok := c.Sim.Body(id)
	if !ok {
		return nil
	}
	ph := c.Sim.Physics
	to, err := ph.Position(b)
	if err != nil {
		return err
	}
	angle, err := ph.Angle(b)
	if err != nil {
		return err
	}
	if in.Position != nil {
		to = c.flat(at)
	}
	if in.Rotation != nil {
		var refused *Error
		if angle, refused = c.angle("rotation", q); refused != nil {
			return refused
		}
	}
	return ph.SetTransform(b, to, angle)
}

// TagInput is the input of ecs.addComponent and ecs.removeComponent.
type TagInput struct {
	EntityRef
	Component string `json:"component" jsonschema:"name of the tag"`
}

// Tagged is the output of ecs.addComponent and ecs.removeComponent.
type Tagged struct {
	ID      string `json:"id"`
	Changed bool   `json:"changed" jsonschema:"false: it was so before"`
}

func constrainTag(s *jsonschema.Schema) {
	needEntity(s)
	property(s, "component").Pattern = tagPattern
}

func addComponent(c *Call, in TagInput) (Tagged, error) {
	id, _, refused := c.entity(in.EntityRef)
	if refused != nil {
		return Tagged{}, refused
	}
	tags, refused := c.give("component", []string{in.Component})
	if refused != nil {
		return Tagged{}, refused
	}
	had := tags[0].Has(id)
	tags[0].Set(id)
	return Tagged{id.String(), !had}, nil
}

func removeComponent(c *Call, in TagInput) (Tagged, error) {
	id, _, refused := c.entity(in.EntityRef)
	if refused != nil {
		return Tagged{}, refused
	}
	t, ok := c.Registry.tag(in.Component)
	if !ok || !t.Has(id) {
		return Tagged{id.String(), false}, nil
	}
	t.Unset(id)
	return Tagged{id.String(), true}, nil
}

// ImpulseInput is the input of physics.applyImpulse.
type ImpulseInput struct {
	EntityRef
	Impulse *Vec     `json:"impulse,omitempty" jsonschema:"in N·s, in the plane of the bodies"`
	Point   *Vec     `json:"point,omitempty" jsonschema:"where it acts, in metres, at any height; left out: at the centre of mass"`
	Angular *float32 `json:"angular,omitempty" jsonschema:"in N·m·s, in the plane of the bodies"`
}

// Pushed is the output of physics.applyImpulse.
type Pushed struct {
	ID string `json:"id"`
	BodyState
}

func constrainImpulse(r *Registry) func(*jsonschema.Schema) {
	return func(s *jsonschema.Schema) {
		e := float64(r.config.Extent)
		needEntity(s)
		bound(property(s, "impulse"), -maxForce, maxForce)
		bound(property(s, "point"), -e, e)
		bound(property(s, "angular"), -maxForce, maxForce)
	}
}

func applyImpulse(c *Call, in ImpulseInput) (Pushed, error) {
	id, _, refused := c.entity(in.EntityRef)
	if refused != nil {
		return Pushed{}, refused
	}
	if in.Impulse == nil && (in.Angular == nil || in.Point != nil) {
		return Pushed{}, refuse(InvalidInput, "impulse", "is needed, or angular without a point")
	}
	b, ok := c.Sim.Body(id)
	if !ok {
		return Pushed{}, refuse(InvalidInput, in.field(), "%s has no body", id)
	}
	if t := c.Sim.Physics.Columns().Type[b.Index()]; t != physics.DynamicBody {
		return Pushed{}, refuse(InvalidInput, in.field(), "the body of %s is %s: impulses are for dynamic ones", id, t)
	}
	if err := c.push(b, in); err != nil {
		return Pushed{}, err
	}
	return Pushed{id.String(), c.bodyState(b)}, nil
}

// push gives both impulses or none. Another engine has no commands, so it gets one at a time.
func (c *Call) push(b physics.Body, in ImpulseInput) error {
	w := c.Sim.Physics
	var impulse, point [2]float32
	if in.Impulse != nil {
		var refused *Error
		if impulse, refused = c.direction("impulse", *in.Impulse); refused != nil {
			return refused
		}
	}
	if in.Point != nil {
		point = c.flat(*in.Point)
	}
	other := w.Config().Engine != nil
	switch {
	case other && in.Impulse != nil && in.Angular != nil:
		return refuse(InvalidInput, "angular", "this engine takes impulse or angular, not both")
	case other && in.Angular != nil:
		return w.ApplyAngularImpulse(b, *in.Angular)
	case other && in.Point != nil:
		return w.ApplyLinearImpulse(b, impulse, point)
	case other:
		return w.ApplyLinearImpulseToCenter(b, impulse)
	}
	commands := w.NewCommands()
	if in.Impulse != nil && in.Point != nil {
		commands.ApplyLinearImpulse(b, impulse, point)
	} else if in.Impulse != nil {
		commands.ApplyLinearImpulseToCenter(b, impulse)
	}
	if in.Angular != nil {
		commands.ApplyAngularImpulse(b, *in.Angular)
	}
	return w.Apply(commands)
}

// RayInput is the input of physics.raycast.
type RayInput struct {
	From    Vec    `json:"from" jsonschema:"in metres, at any height"`
	To      Vec    `json:"to" jsonschema:"where the ray ends, at the same height: it meets bodies at all heights"`
	Exclude string `json:"exclude,omitempty" jsonschema:"id of an entity whose body is not met"`
	All     bool   `json:"all,omitempty" jsonschema:"every body that is met, not the first only"`
}

// RayHit is a body that a ray meets.
type RayHit struct {
	ID       string  `json:"id" jsonschema:"empty for a body that moves no entity"`
	Point    Vec     `json:"point"`
	Normal   Vec     `json:"normal" jsonschema:"zero where the ray begins within the body"`
	Distance float32 `json:"distance" jsonschema:"in metres"`
}

// RayOutput is the output of physics.raycast.
type RayOutput struct {
	Hits  []RayHit `json:"hits" jsonschema:"by distance"`
	Total int      `json:"total"`
}

func constrainRay(r *Registry) func(*jsonschema.Schema) {
	return func(s *jsonschema.Schema) {
		e := float64(r.config.Extent)
		bound(property(s, "from"), -e, e)
		bound(property(s, "to"), -e, e)
		property(s, "exclude").Pattern = idPattern
	}
}

func raycast(c *Call, in RayInput) (RayOutput, error) {
	p := c.plane()
	from, height := p.Split(in.From.array())
	way, refused := c.direction("to", Vec{in.To.X - in.From.X, in.To.Y - in.From.Y, in.To.Z - in.From.Z})
	if refused != nil {
		return RayOutput{}, refused
	}
	rays := physics.Rays{X: from[:1], Y: from[1:], DX: way[:1], DY: way[1:]}
	if in.Exclude != "" {
		id, _, refused := c.live("exclude", in.Exclude)
		if refused != nil {
			return RayOutput{}, refused
		}
		if b, ok := c.Sim.Body(id); ok {
			rays.Exclude = []physics.Body{b}
		}
	}
	var hits physics.RayHits
	cast := c.Sim.Physics.RayClosest
	if in.All {
		cast = c.Sim.Physics.RayAll
	}
	if err := cast(&rays, &hits); err != nil {
		return RayOutput{}, err
	}
	none := physics.Shape{}
	out := RayOutput{Hits: []RayHit{}}
	for i, shape := range hits.Shapes {
		if shape == none {
			continue
		}
		if out.Total++; out.Total > c.Registry.config.Rows {
			continue
		}
		out.Hits = append(out.Hits, RayHit{
			ID: c.owner(shape), Point: vecOf(p.Join([2]float32{hits.X[i], hits.Y[i]}, height)),
			Normal:   vecOf(p.Join([2]float32{hits.NormalX[i], hits.NormalY[i]}, 0)),
			Distance: hits.Fractions[i] * length(way[0], way[1]),
		})
	}
	return out, nil
}

// owner returns the id of the entity that the body of a shape moves.
func (c *Call) owner(s physics.Shape) string {
	b, err := c.Sim.Physics.ShapeBody(s)
	if err != nil {
		return ""
	}
	slot := c.Sim.Physics.Columns().Slot[b.Index()]
	if slot == physics.NoSlot {
		return ""
	}
	id, ok := c.Sim.World.ID(slot)
	if own, has := c.Sim.Body(id); !ok || !has || own != b {
		return ""
	}
	return id.String()
}

// tagNames lists the tags that somebody carries, by name.
func (c *Call) tagNames() []string {
	var names []string
	for _, t := range c.Sim.World.Describe().Tags {
		if tag, ok := c.Registry.tag(t.Name); ok && tag.Count() > 0 {
			names = append(names, t.Name)
		}
	}
	slices.Sort(names)
	return names
}
