package skill

import (
	"slices"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/native/rigid"
	"github.com/evertick/evertick/physics"
	"github.com/google/jsonschema-go/jsonschema"
)

// rigidSinCos is that of the solver: equal on every machine.
func rigidSinCos(angle float32) (sin, cos float32) { return rigid.SinCos(angle) }

// UpdateInput is the input of ecs.updateComponent.
type UpdateInput struct {
	ID       string `json:"id" jsonschema:"as in ent_12"`
	Position *Vec   `json:"position,omitempty" jsonschema:"in metres"`
	Rotation *Quat  `json:"rotation,omitempty" jsonschema:"a quaternion, which is normalised"`
	Scale    *Vec   `json:"scale,omitempty" jsonschema:"factors; they do not change the shape of a body"`
}

// Target implements Targeter.
func (in UpdateInput) Target() string { return in.ID }

// Updated is the output of ecs.updateComponent: what the entity has now.
type Updated struct {
	ID       string `json:"id"`
	Position Vec    `json:"position"`
	Rotation Quat   `json:"rotation"`
	Scale    Vec    `json:"scale"`
}

func constrainUpdate(r *Registry) func(*jsonschema.Schema) {
	return func(s *jsonschema.Schema) {
		e := float64(r.config.Extent)
		onlyID(s)
		bound(property(s, "position"), -e, e)
		bound(property(s, "rotation"), -1e6, 1e6)
		bound(property(s, "scale"), -maxScale, maxScale)
	}
}

func updateComponent(c *Call, in UpdateInput) (Updated, error) {
	id, slot, refused := c.live("id", in.ID)
	if refused != nil {
		return Updated{}, refused
	}
	if in.Position == nil && in.Rotation == nil && in.Scale == nil {
		return Updated{}, refuse(InvalidInput, "", "position, rotation or scale is needed")
	}
	at, q, scale := c.position(slot), c.rotation(slot), c.scale(slot)
	if in.Position != nil {
		at = *in.Position
	}
	if in.Rotation != nil {
		if q, refused = normalised("rotation", *in.Rotation); refused != nil {
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
	return Updated{in.ID, at, q, scale}, nil
}

// moveBody puts the body of an entity, if it has one, where the entity is going to be. The
// columns alone would do for one that has been through a step; one that was made in this tick
// does not look at them.
func (c *Call) moveBody(id ecs.ID, in UpdateInput, at Vec, q Quat) error {
	b, ok := c.Sim.Body(id)
	if !ok {
		return nil
	}
	ph, p := c.Sim.Physics, c.plane()
	to, err := ph.Position(b)
	if err != nil {
		return err
	}
	angle, err := ph.Angle(b)
	if err != nil {
		return err
	}
	if in.Position != nil {
		to = p.flat(at)
	}
	if in.Rotation != nil {
		if a, ok := p.angle(q); ok {
			angle = a
		}
	}
	return ph.SetTransform(b, to, angle)
}

// TagInput is the input of ecs.addComponent and ecs.removeComponent.
type TagInput struct {
	ID        string `json:"id" jsonschema:"as in ent_12"`
	Component string `json:"component" jsonschema:"name of the tag"`
}

// Target implements Targeter.
func (in TagInput) Target() string { return in.ID }

// Tagged is the output of ecs.addComponent and ecs.removeComponent.
type Tagged struct {
	ID      string `json:"id"`
	Changed bool   `json:"changed" jsonschema:"false: it was so before"`
}

func constrainTag(s *jsonschema.Schema) {
	onlyID(s)
	property(s, "component").Pattern = tagPattern
}

func addComponent(c *Call, in TagInput) (Tagged, error) {
	id, _, refused := c.live("id", in.ID)
	if refused != nil {
		return Tagged{}, refused
	}
	tags, refused := c.give("component", []string{in.Component})
	if refused != nil {
		return Tagged{}, refused
	}
	had := tags[0].Has(id)
	tags[0].Set(id)
	return Tagged{in.ID, !had}, nil
}

func removeComponent(c *Call, in TagInput) (Tagged, error) {
	id, _, refused := c.live("id", in.ID)
	if refused != nil {
		return Tagged{}, refused
	}
	t, ok := c.Registry.tag(in.Component)
	if !ok || !t.Has(id) {
		return Tagged{in.ID, false}, nil
	}
	t.Unset(id)
	return Tagged{in.ID, true}, nil
}

// ImpulseInput is the input of physics.applyImpulse.
type ImpulseInput struct {
	ID      string   `json:"id" jsonschema:"as in ent_12"`
	Impulse *Vec     `json:"impulse,omitempty" jsonschema:"in N·s"`
	Point   *Vec     `json:"point,omitempty" jsonschema:"where it acts, in metres; left out: at the centre of mass"`
	Angular *float32 `json:"angular,omitempty" jsonschema:"in N·m·s, in the plane of the bodies"`
}

// Target implements Targeter.
func (in ImpulseInput) Target() string { return in.ID }

// Pushed is the output of physics.applyImpulse.
type Pushed struct {
	ID string `json:"id"`
	BodyState
}

func constrainImpulse(r *Registry) func(*jsonschema.Schema) {
	return func(s *jsonschema.Schema) {
		e := float64(r.config.Extent)
		onlyID(s)
		bound(property(s, "impulse"), -maxForce, maxForce)
		bound(property(s, "point"), -e, e)
		bound(property(s, "angular"), -maxForce, maxForce)
	}
}

func applyImpulse(c *Call, in ImpulseInput) (Pushed, error) {
	id, _, refused := c.live("id", in.ID)
	if refused != nil {
		return Pushed{}, refused
	}
	if in.Impulse == nil && (in.Angular == nil || in.Point != nil) {
		return Pushed{}, refuse(InvalidInput, "impulse", "is needed, or angular without a point")
	}
	b, ok := c.Sim.Body(id)
	if !ok {
		return Pushed{}, refuse(InvalidInput, "id", "%s has no body", id)
	}
	if t := c.Sim.Physics.Columns().Type[b.Index()]; t != physics.DynamicBody {
		return Pushed{}, refuse(InvalidInput, "id", "the body of %s is %s: impulses are for dynamic ones", id, t)
	}
	if in.Impulse != nil {
		if refused := c.plane().inPlane("impulse", *in.Impulse); refused != nil {
			return Pushed{}, refused
		}
	}
	if err := c.push(b, in); err != nil {
		return Pushed{}, err
	}
	return Pushed{in.ID, c.bodyState(b)}, nil
}

// push gives both impulses or none. Another engine has no commands, so it gets one at a time.
func (c *Call) push(b physics.Body, in ImpulseInput) error {
	w, p := c.Sim.Physics, c.plane()
	other := w.Config().Engine != nil
	switch {
	case other && in.Impulse != nil && in.Angular != nil:
		return refuse(InvalidInput, "angular", "this engine takes impulse or angular, not both")
	case other && in.Angular != nil:
		return w.ApplyAngularImpulse(b, *in.Angular)
	case other && in.Point != nil:
		return w.ApplyLinearImpulse(b, p.flat(*in.Impulse), p.flat(*in.Point))
	case other:
		return w.ApplyLinearImpulseToCenter(b, p.flat(*in.Impulse))
	}
	commands := w.NewCommands()
	if in.Impulse != nil && in.Point != nil {
		commands.ApplyLinearImpulse(b, p.flat(*in.Impulse), p.flat(*in.Point))
	} else if in.Impulse != nil {
		commands.ApplyLinearImpulseToCenter(b, p.flat(*in.Impulse))
	}
	if in.Angular != nil {
		commands.ApplyAngularImpulse(b, *in.Angular)
	}
	return w.Apply(commands)
}

// RayInput is the input of physics.raycast.
type RayInput struct {
	From    Vec    `json:"from" jsonschema:"in metres, in the plane of the bodies: its third component counts for nothing"`
	To      Vec    `json:"to" jsonschema:"where the ray ends"`
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
	from, to := p.flat(in.From), p.flat(in.To)
	rays := physics.Rays{X: from[:1], Y: from[1:], DX: []float32{to[0] - from[0]}, DY: []float32{to[1] - from[1]}}
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
			ID: c.owner(shape), Point: p.vec([2]float32{hits.X[i], hits.Y[i]}, p.rest(in.From)),
			Normal:   p.vec([2]float32{hits.NormalX[i], hits.NormalY[i]}, 0),
			Distance: hits.Fractions[i] * length(rays.DX[0], rays.DY[0]),
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
