package skill

import (
	"slices"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/google/jsonschema-go/jsonschema"
)

// updateInput is the input of ecs.updateComponent: position, rotation and scale, or one of them by
// Component and Value.
type updateInput struct {
	entityRef
	Position  *Vec      `json:"position,omitempty" jsonschema:"in metres; a body has two of the axes, and its entity all three"`
	Rotation  *Quat     `json:"rotation,omitempty" jsonschema:"a quaternion, which is normalised; the rotation of a body must be within the plane of the bodies"`
	Scale     *Vec      `json:"scale,omitempty" jsonschema:"factors; they do not change the shape of a body"`
	Component string    `json:"component,omitempty" jsonschema:"position, rotation or scale: the meaning of value, instead of these three fields"`
	Value     []float32 `json:"value,omitempty" jsonschema:"the new component: x, y and z, or for a rotation x, y, z and w"`
}

// updated is the output of ecs.updateComponent: the new transform of the entity.
type updated struct {
	ID       string `json:"id"`
	Position Vec    `json:"position"`
	Rotation Quat   `json:"rotation"`
	Scale    Vec    `json:"scale"`
}

const maxQuat = 1e6 // of a component of a quaternion

func (r *Registry) constrainUpdate(s *jsonschema.Schema) {
	e := float64(r.config.Extent)
	needEntity(s)
	bound(s, -e, e, "position")
	bound(s, -maxQuat, maxQuat, "rotation")
	bound(s, -maxScale, maxScale, "scale")
	together(s, "component", "value")
	oneOf(property(s, "component"), "position", "rotation", "scale")
	value, least, most, widest := property(s, "value"), 3, 4, max(e, maxQuat, maxScale)
	value.MinItems, value.MaxItems = &least, &most
	bound(s, -widest, widest, "value")
}

// expand sets the field that Component names to Value.
func (in *updateInput) expand(extent float32) *Error {
	if in.Component == "" {
		return nil
	}
	if in.Position != nil || in.Rotation != nil || in.Scale != nil {
		return refuse(InvalidInput, "component", "cannot be combined with position, rotation or scale")
	}
	v, want, most := in.Value, 3, extent
	switch in.Component {
	case "rotation":
		want, most = 4, maxQuat
	case "scale":
		most = maxScale
	}
	if len(v) != want {
		return refuse(InvalidInput, "value", "has %d numbers, but a %s has %d", len(v), in.Component, want)
	}
	for _, x := range v {
		if !(x >= -most && x <= most) {
			return refuse(InvalidInput, "value", "%v is not within -%v and %v", x, most, most)
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

func updateComponent(c *Call, in updateInput) (updated, error) {
	id, slot, refused := c.entity(in.entityRef)
	if refused != nil {
		return updated{}, refused
	}
	if refused := in.expand(c.Registry.config.Extent); refused != nil {
		return updated{}, refused
	}
	if in.Position == nil && in.Rotation == nil && in.Scale == nil {
		return updated{}, refuse(InvalidInput, "", "needs position, rotation or scale, or component and value")
	}
	at, q, scale := c.position(slot), c.rotation(slot), c.scale(slot)
	if in.Position != nil {
		at = *in.Position
	}
	if in.Rotation != nil {
		if q, refused = c.rotationInPlane(id, *in.Rotation); refused != nil {
			return updated{}, refused
		}
	}
	if in.Scale != nil {
		scale = *in.Scale
	}
	if !finite(at.X, at.Y, at.Z, q.X, q.Y, q.Z, q.W, scale.X, scale.Y, scale.Z) {
		return updated{}, &Error{Code: InvalidInput, Text: "the transform of the entity is not finite", Cause: fault.ErrNotFinite}
	}
	w := c.Sim.World
	if in.Position != nil || in.Rotation != nil {
		if err := c.moveBody(id, in, at, q); err != nil {
			return updated{}, err
		}
		setTransform(w, slot, at, q)
	}
	if in.Scale != nil {
		w.Scale.X[slot], w.Scale.Y[slot], w.Scale.Z[slot] = scale.X, scale.Y, scale.Z
		w.Scale.Touch()
	}
	return updated{id.String(), at, q, scale}, nil
}

// rotationInPlane returns the rotation that an entity gets from q: if it has a body, that of the angle of the
// body, as Sync writes it.
func (c *Call) rotationInPlane(id ecs.ID, q Quat) (Quat, *Error) {
	q, refused := normalised("rotation", q)
	if _, has := c.Sim.Body(id); refused != nil || !has {
		return q, refused
	}
	a, refused := c.angle("rotation", q)
	return quatOf(c.plane().Rotation(a)), refused
}

// moveBody moves the body of an entity, if it has one, to where the entity will be. For a body that has been
// through a step the columns would be enough, but a body that was created in this tick ignores them.
func (c *Call) moveBody(id ecs.ID, in updateInput, at Vec, q Quat) error {
	b, ok := c.Sim.Body(id)
	if !ok {
		return c.moveInSpace(id, in, at, q)
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
		to = c.inPlane(at)
	}
	if in.Rotation != nil {
		var refused *Error
		if angle, refused = c.angle("rotation", q); refused != nil {
			return refused
		}
	}
	return ph.SetTransform(b, to, angle)
}

// tagInput is the input of ecs.addComponent and ecs.removeComponent.
type tagInput struct {
	entityRef
	Component string `json:"component" jsonschema:"name of the tag"`
}

// Tagged is the output of ecs.addComponent and ecs.removeComponent.
type Tagged struct {
	ID      string `json:"id"`
	Changed bool   `json:"changed" jsonschema:"false if nothing changed"`
}

func constrainTag(s *jsonschema.Schema) {
	needEntity(s)
	property(s, "component").Pattern = tagPattern
}

func addComponent(c *Call, in tagInput) (Tagged, error) {
	id, _, refused := c.entity(in.entityRef)
	if refused != nil {
		return Tagged{}, refused
	}
	tags, refused := c.addTags("component", []string{in.Component})
	if refused != nil {
		return Tagged{}, refused
	}
	had := tags[0].Has(id)
	tags[0].Set(id)
	return Tagged{id.String(), !had}, nil
}

func removeComponent(c *Call, in tagInput) (Tagged, error) {
	id, _, refused := c.entity(in.entityRef)
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

// tag finds a tag, and registers none.
func (r *Registry) tag(name string) (ecs.Tag, bool) {
	if t, ok := r.tags[name]; ok {
		return t, true
	}
	for _, d := range r.sim.World.Describe().Tags {
		if d.Name == name {
			return r.makeTag(name)
		}
	}
	return ecs.Tag{}, false
}

func (r *Registry) makeTag(name string) (ecs.Tag, bool) {
	t, err := r.sim.World.Tag(name)
	if err != nil {
		return t, false
	}
	r.tags[name] = t
	return t, true
}

// addTags returns tags for entities, at most Config.Tags different ones in the life of a world. Which
// tags are registered is not part of the state; so state.tags has those that skills have used.
func (c *Call) addTags(field string, names []string) ([]ecs.Tag, *Error) {
	r := c.Registry
	var fresh []string
	for _, name := range names {
		if !slices.Contains(r.state.tags, name) && !slices.Contains(fresh, name) {
			fresh = append(fresh, name)
		}
	}
	if len(r.state.tags)+len(fresh) > r.config.Tags {
		return nil, refuse(CapacityExceeded, field, "skills have used %d of %d different tags", len(r.state.tags), r.config.Tags)
	}
	tags := make([]ecs.Tag, len(names))
	for i, name := range names {
		t, ok := r.makeTag(name)
		if !ok {
			return nil, refuse(CapacityExceeded, field, "a world has at most %d tags", ecs.MaxTags)
		}
		tags[i] = t
	}
	r.state.tags = append(r.state.tags, fresh...)
	return tags, nil
}

// carriedTags returns the tags that at least one entity has, by name.
func (c *Call) carriedTags() (names []string, tags []ecs.Tag) {
	for _, t := range c.Sim.World.Describe().Tags {
		if tag, ok := c.Registry.tag(t.Name); ok && tag.Count() > 0 {
			names = append(names, t.Name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		tags = append(tags, c.Registry.tags[name])
	}
	return names, tags
}
