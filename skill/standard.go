package skill

import (
	"errors"
	"math"
	"slices"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/physics"
)

// Standard registers the skills that work in every world:
//
//	scene.createEntity    scene.write    an entity, with a body, a shape, a mesh and other resources if asked for
//	scene.destroyEntity   scene.write
//	scene.queryEntities   scene.read     by tags, within a radius, nearest
//	scene.setResource     scene.write    a mesh, a sound: name, address and transform of the model, kept in ResourceBlobs
//	scene.removeResource  scene.write
//	scene.getResources    scene.read
//	ecs.updateComponent   ecs.write      position, rotation, scale; moves the body, too
//	ecs.addComponent      ecs.write      a tag
//	ecs.removeComponent   ecs.write      a tag
//	physics.applyImpulse  physics.write
//	physics.raycast       physics.read
//	physics.overlap       physics.read   with Config.Space only: the bodies that a shape at a place overlaps
//	world.snapshot        world.snapshot keeps the state after the tick: see Registry.Snapshot
//	world.stats           world.read
//
// Inputs name entities by their ids, "ent_12", in "id" or in "entity". The id of an entity that does not live is
// StaleEntity. Vectors are objects or arrays, {"x":1,"y":2,"z":3} or [1,2,3]. For the third axis of an entity with
// a body the section "The plane" of package physics has the rule: bodies ignore heights, which entities keep; a
// rotation, velocity, impulse or ray out of the plane is InvalidInput.
//
// With Config.Space, bodies that scene.createEntity makes are in space: shapes are boxes, spheres, capsules along Y and hulls of points;
// "rotation" is any quaternion, and "spin" turns about any axis. Rays go in any direction, and find bodies in space only.
//
// Two skills accept their input in two forms, the second of which has plain values:
//
//	scene.createEntity   {"position":{…},"body":{"type":"dynamic","shape":{"type":"box","size":{…}}}}
//	                     {"position":[0,1,0],"shape":"box","size":1,"dynamic":true}
//	ecs.updateComponent  {"id":"ent_12","position":{…},"rotation":{…},"scale":{…}}
//	                     {"entity":"ent_12","component":"position","value":[0,1,0]}
func Standard(r *Registry) error {
	return errors.Join(
		Register(r, Def{
			Name: "scene.createEntity", Permission: "scene.write",
			Description: "Creates an entity at a position, with tags, and optionally with a mesh, other resources, and a body of one shape: by body, or in the short form by shape, size and dynamic or static. Returns its id and the type of its body.",
			Constrain:   r.constrainCreate,
		}, createEntity),
		Register(r, Def{
			Name: "scene.destroyEntity", Permission: "scene.write",
			Description: "Destroys an entity, its body and its tags.", Constrain: needEntity,
		}, destroyEntity),
		Register(r, Def{
			Name: "scene.queryEntities", Permission: "scene.read", ReadOnly: true,
			Description: "Finds entities by tags, within a radius of a point, or nearest to it, in order of distance; without a point in order of age.",
			Constrain:   r.constrainQuery,
		}, queryEntities),
		Register(r, Def{
			Name: "scene.setResource", Permission: "scene.write",
			Description: "Sets the resource of an entity of one kind, such as its mesh: by name, address and the transform of the model. It replaces the one that the entity has.",
			Constrain:   r.constrainResource,
		}, setResource),
		Register(r, Def{
			Name: "scene.removeResource", Permission: "scene.write",
			Description: "Removes the resource of one kind from an entity.", Constrain: constrainKind,
		}, removeResource),
		Register(r, Def{
			Name: "scene.getResources", Permission: "scene.read", ReadOnly: true,
			Description: "Returns the resources of an entity.", Constrain: needEntity,
		}, getResources),
		Register(r, Def{
			Name: "ecs.updateComponent", Permission: "ecs.write",
			Description: "Moves, turns or scales an entity, and moves its body: by position, rotation and scale, or by one component and its value. What is left out does not change. Returns the new values. A body turns within its plane only.",
			Constrain:   r.constrainUpdate,
		}, updateComponent),
		Register(r, Def{
			Name: "ecs.addComponent", Permission: "ecs.write",
			Description: "Adds a tag to an entity.", Constrain: constrainTag,
		}, addComponent),
		Register(r, Def{
			Name: "ecs.removeComponent", Permission: "ecs.write",
			Description: "Removes a tag from an entity.", Constrain: constrainTag,
		}, removeComponent),
		Register(r, Def{
			Name: "physics.applyImpulse", Permission: "physics.write",
			Description: "Changes the velocity of the dynamic body of an entity at once, by an impulse in N·s along the axes of the plane of the bodies.",
			Constrain:   r.constrainImpulse,
		}, applyImpulse),
		Register(r, Def{
			Name: "physics.raycast", Permission: "physics.read", ReadOnly: true,
			Description: "Returns the first body that a ray in the plane of the bodies hits, where, and at what distance, ignoring heights; with all, every body that it hits.",
			Constrain:   r.constrainRay,
		}, raycast),
		r.registerOverlaps(),
		Register(r, Def{
			Name: "world.snapshot", Permission: "world.snapshot", Rate: Rate{Calls: 1, Ticks: 60, Burst: 2},
			Description: "Keeps a snapshot of the state of the world at the end of this tick. Returns its handle for the host.",
		}, snapshot),
		Register(r, Def{
			Name: "world.stats", Permission: "world.read", ReadOnly: true,
			Description: "Returns the tick, and how many entities, bodies and tags there are.",
		}, stats),
	)
}

// Bounds of inputs.
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

// entity returns the slot of the entity that an input names.
func (c *Call) entity(r entityRef) (ecs.ID, ecs.Slot, *Error) {
	return c.liveEntity(r.field(), r.Target())
}

// liveEntity returns the slot of an entity by its id as a text.
func (c *Call) liveEntity(field, name string) (ecs.ID, ecs.Slot, *Error) {
	id, err := ecs.ParseID(name)
	if err != nil {
		return 0, 0, &Error{Code: InvalidInput, Field: field, Text: shorten(err), Cause: err}
	}
	slot, ok := c.Sim.World.Slot(id)
	if !ok {
		return 0, 0, refuse(StaleEntity, field, "there is no entity %s", id)
	}
	return id, slot, nil
}

// plane returns the plane of the bodies. See the section "The plane" of package physics.
func (c *Call) plane() physics.Plane { return c.Sim.Physics.Config().Plane }

// inPlane returns a position in the plane, without its height.
func (c *Call) inPlane(v Vec) [2]float32 {
	in, _ := c.plane().Split(v.array())
	return in
}

// direction refuses a vector that leads out of the plane.
func (c *Call) direction(field string, v Vec) ([2]float32, *Error) {
	in, err := c.plane().Direction(v.array())
	return in, invalid(field, err)
}

// angle refuses a rotation that turns out of the plane.
func (c *Call) angle(field string, q Quat) (float32, *Error) {
	a, err := c.plane().Angle([4]float32{q.X, q.Y, q.Z, q.W})
	return a, invalid(field, err)
}

// invalid returns the error of a field of the input, nil if err is nil.
func invalid(field string, err error) *Error {
	if err == nil {
		return nil
	}
	return &Error{Code: InvalidInput, Field: field, Text: shorten(err), Cause: err}
}

// normalised returns a quaternion of length one.
func normalised(field string, q Quat) (Quat, *Error) {
	x, y, z, w := float64(q.X), float64(q.Y), float64(q.Z), float64(q.W)
	length := math.Sqrt(float64(float64(x*x)+float64(y*y)) + float64(float64(z*z)+float64(w*w)))
	if !(length >= 1e-6 && length <= 1e6) {
		return Quat{}, &Error{Code: InvalidInput, Field: field, Text: "the length of the quaternion is not within 1e-6 and 1e6", Cause: fault.ErrRange}
	}
	return Quat{float32(x / length), float32(y / length), float32(z / length), float32(w / length)}, nil
}

func finite(v ...float32) bool {
	return !slices.ContainsFunc(v, func(x float32) bool { return !fault.Finite(x) })
}

// position, rotation and scale return an entity's.
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
