package skill

import (
	"errors"
	"math"
	"slices"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/native/rigid"
	"github.com/evertick/evertick/physics"
	"github.com/google/jsonschema-go/jsonschema"
)

// Standard registers the skills that work in every world:
//
//	scene.createEntity    scene.write    an entity, with a body and a shape if asked for
//	scene.destroyEntity   scene.write
//	scene.queryEntities   scene.read     by tags, within a radius, nearest
//	ecs.updateComponent   ecs.write      position, rotation, scale; moves the body, too
//	ecs.addComponent      ecs.write      a tag
//	ecs.removeComponent   ecs.write      a tag
//	physics.applyImpulse  physics.write
//	physics.raycast       physics.read
//	world.snapshot        world.snapshot keeps the state behind the tick: see Registry.Snapshot
//	world.stats           world.read
//
// Entities go by their ids, "ent_12". One that is gone, or never was, is StaleEntity.
func Standard(r *Registry) error {
	return errors.Join(
		Register(r, Def{
			Name: "scene.createEntity", Permission: "scene.write",
			Description: "Creates an entity at a position, with tags, and with a body of one shape if asked for. Returns its id.",
			Constrain:   constrainCreate(r),
		}, createEntity),
		Register(r, Def{
			Name: "scene.destroyEntity", Permission: "scene.write",
			Description: "Ends an entity, its body and its tags.", Constrain: onlyID,
		}, destroyEntity),
		Register(r, Def{
			Name: "scene.queryEntities", Permission: "scene.read", ReadOnly: true,
			Description: "Finds entities by tags, within a radius of a point, or nearest to it, in order of distance; without a point in order of age.",
			Constrain:   constrainQuery(r),
		}, queryEntities),
		Register(r, Def{
			Name: "ecs.updateComponent", Permission: "ecs.write",
			Description: "Moves, turns or scales an entity, and puts its body there. What is left out stays.",
			Constrain:   constrainUpdate(r),
		}, updateComponent),
		Register(r, Def{
			Name: "ecs.addComponent", Permission: "ecs.write",
			Description: "Gives an entity a tag.", Constrain: constrainTag,
		}, addComponent),
		Register(r, Def{
			Name: "ecs.removeComponent", Permission: "ecs.write",
			Description: "Takes a tag from an entity.", Constrain: constrainTag,
		}, removeComponent),
		Register(r, Def{
			Name: "physics.applyImpulse", Permission: "physics.write",
			Description: "Changes the velocity of the dynamic body of an entity at once, by an impulse in N·s along the axes of the plane of the bodies.",
			Constrain:   constrainImpulse(r),
		}, applyImpulse),
		Register(r, Def{
			Name: "physics.raycast", Permission: "physics.read", ReadOnly: true,
			Description: "Tells which body a ray meets first, where, and at what distance; with all, every body that it meets.",
			Constrain:   constrainRay(r),
		}, raycast),
		Register(r, Def{
			Name: "world.snapshot", Permission: "world.snapshot", Rate: Rate{Calls: 1, Ticks: 60, Burst: 2},
			Description: "Keeps the state of the world as it will be at the end of this tick. Returns a handle for the host.",
		}, snapshot),
		Register(r, Def{
			Name: "world.stats", Permission: "world.read", ReadOnly: true,
			Description: "Tells the tick, and how many entities, bodies and tags there are.",
		}, stats),
	)
}

// Vec is a point or a direction, in metres or what the field says.
type Vec struct {
	X float32 `json:"x"`
	Y float32 `json:"y"`
	Z float32 `json:"z"`
}

// Quat is a rotation as a quaternion. It is normalised.
type Quat struct {
	X float32 `json:"x"`
	Y float32 `json:"y"`
	Z float32 `json:"z"`
	W float32 `json:"w"`
}

// Bounds of what has a unit of its own.
const (
	maxTag   = 64    // bytes
	maxTags  = 32    // in one call
	maxScale = 1e6   // of a factor
	maxSpeed = 1e5   // m/s and rad/s
	maxSize  = 1e5   // m, of a shape
	maxForce = 1e12  // N·s
	maxAngle = 65536 // rad, which is what physics.BodyDef takes
)

const (
	idPattern  = `^ent_[0-9]{1,19}$`
	tagPattern = `^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,63}$`
)

// property finds a property by its way from the root.
func property(s *jsonschema.Schema, way ...string) *jsonschema.Schema {
	for _, name := range way {
		s = s.Properties[name]
		if s == nil {
			panic("skill: no such property in a schema: " + name)
		}
	}
	return s
}

// bound gives a number, or all the numbers of a struct, a range.
func bound(s *jsonschema.Schema, low, high float64) {
	if len(s.Properties) == 0 {
		s.Minimum, s.Maximum = &low, &high
	}
	for _, p := range s.Properties {
		bound(p, low, high)
	}
}

func oneOf(s *jsonschema.Schema, values ...any) { s.Enum = values }

func onlyID(s *jsonschema.Schema) { property(s, "id").Pattern = idPattern }

func tagList(s *jsonschema.Schema) {
	most := maxTags
	s.Items.Pattern, s.MaxItems = tagPattern, &most
}

// live returns the slot of an entity by what a caller calls it.
func (c *Call) live(field, name string) (ecs.ID, ecs.Slot, *Error) {
	id, err := ecs.ParseID(name)
	if err != nil {
		return 0, 0, &Error{Code: InvalidInput, Field: field, Text: short(err), Cause: err}
	}
	slot, ok := c.Sim.World.Slot(id)
	if !ok {
		return 0, 0, refuse(StaleEntity, field, "no entity %s", id)
	}
	return id, slot, nil
}

// plane is the plane of the bodies: which two axes it has, and which one is left.
type plane physics.Plane

func (c *Call) plane() plane { return plane(c.Sim.Physics.Config().Plane) }

func (p plane) flat(v Vec) [2]float32 {
	if physics.Plane(p) == physics.XZ {
		return [2]float32{v.X, v.Z}
	}
	return [2]float32{v.X, v.Y}
}

// rest is the coordinate along the axis that the plane does not have.
func (p plane) rest(v Vec) float32 {
	if physics.Plane(p) == physics.XZ {
		return v.Y
	}
	return v.Z
}

func (p plane) vec(flat [2]float32, rest float32) Vec {
	if physics.Plane(p) == physics.XZ {
		return Vec{flat[0], rest, flat[1]}
	}
	return Vec{flat[0], flat[1], rest}
}

// inPlane refuses a vector that would lose something.
func (p plane) inPlane(field string, v Vec) *Error {
	if p.rest(v) != 0 {
		return refuse(InvalidInput, field, "bodies move in the plane %s: the third component must be 0", physics.Plane(p))
	}
	return nil
}

// angle returns the turn of a quaternion about the normal of the plane, as physics.World.Pull
// takes it, and false if it has none.
func (p plane) angle(q Quat) (float32, bool) {
	turn := q.Z
	if physics.Plane(p) == physics.XZ {
		turn = -q.Y
	}
	if turn == 0 && q.W == 0 {
		return 0, false
	}
	return rigid.Atan2(2*float32(turn*q.W), float32(q.W*q.W)-float32(turn*turn)), true
}

// normalised returns a quaternion of length one.
func normalised(field string, q Quat) (Quat, *Error) {
	x, y, z, w := float64(q.X), float64(q.Y), float64(q.Z), float64(q.W)
	length := math.Sqrt(float64(float64(x*x)+float64(y*y)) + float64(float64(z*z)+float64(w*w)))
	if !(length >= 1e-6 && length <= 1e6) {
		return Quat{}, &Error{Code: InvalidInput, Field: field, Text: "length of a quaternion", Cause: ErrRange}
	}
	return Quat{float32(x / length), float32(y / length), float32(z / length), float32(w / length)}, nil
}

func finite(v ...float32) bool {
	return !slices.ContainsFunc(v, func(x float32) bool { return !fault.Finite(x) })
}

// position and rotation of a row.
func (c *Call) position(slot ecs.Slot) Vec {
	p := &c.Sim.World.Position
	return Vec{p.X[slot], p.Y[slot], p.Z[slot]}
}

func (c *Call) rotation(slot ecs.Slot) Quat {
	q := &c.Sim.World.Rotation
	return Quat{q.X[slot], q.Y[slot], q.Z[slot], q.W[slot]}
}

func (c *Call) scale(slot ecs.Slot) Vec {
	p := &c.Sim.World.Scale
	return Vec{p.X[slot], p.Y[slot], p.Z[slot]}
}

// tag finds a tag that may be there, and makes none.
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

// give returns tags to be given, as many as Config.Tags allows in the life of a world. Which
// tags are registered is no state, so that those that skills have given are counted apart.
func (c *Call) give(field string, names []string) ([]ecs.Tag, *Error) {
	r := c.Registry
	var fresh []string
	for _, name := range names {
		if !slices.Contains(r.state.tags, name) && !slices.Contains(fresh, name) {
			fresh = append(fresh, name)
		}
	}
	if len(r.state.tags)+len(fresh) > r.config.Tags {
		return nil, refuse(CapacityExceeded, field, "%d tags were given by skills already, of %d", len(r.state.tags), r.config.Tags)
	}
	tags := make([]ecs.Tag, len(names))
	for i, name := range names {
		t, ok := r.makeTag(name)
		if !ok {
			return nil, refuse(CapacityExceeded, field, "a world has %d tags at most", ecs.MaxTags)
		}
		tags[i] = t
	}
	r.state.tags = append(r.state.tags, fresh...)
	return tags, nil
}
