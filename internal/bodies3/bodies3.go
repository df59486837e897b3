// Package bodies3 is what skills need of bodies in space. Package space implements it, so that package skill neither builds nor links the engine.
package bodies3

import "github.com/evertick/evertick/ecs"

// Bodies are bodies in space.
type Bodies interface {
	// Plan checks a body with one shape, and returns a function that makes it for an entity. An error is one of the description, and says why.
	Plan(s *Spec) (create func(id ecs.ID) error, err error)
	// Body returns the present state of the body of an entity, false if it has none in space.
	Body(id ecs.ID) (State, bool)
	// Move puts the body of an entity elsewhere; nil leaves what it has.
	Move(id ecs.ID, position *[3]float32, rotation *[4]float32) error
	// Push applies impulses to the dynamic body of an entity, all or none: linear at a point, nil for its centre of mass, and angular.
	Push(id ecs.ID, linear, point, angular *[3]float32) error
	// Ray returns the first hit of a ray, or all by distance.
	Ray(from, to [3]float32, exclude ecs.ID, all bool) ([]Hit, error)
	// Overlaps returns the entities whose bodies overlap a shape at a place, ascending; 0 stands for a body without an entity.
	Overlaps(s *Spec) ([]ecs.ID, error)
	// Stats returns what there is.
	Stats() Stats
	// Snapshot appends the state, to measure it.
	Snapshot(dst []byte) ([]byte, error)
}

// Spec describes a body with one shape around its origin, or a shape at a place. Shape is box, sphere, capsule or hull, Type static, kinematic or dynamic.
type Spec struct {
	Type, Shape                    string
	Size                           [3]float32 // edges of a box
	Radius, Length                 float32    // a capsule is along Y
	Points                         [][3]float32
	Density, Friction, Restitution *float32
	Position                       [3]float32
	Rotation                       [4]float32
	Velocity, Spin                 [3]float32
}

// State is that of a body.
type State struct {
	Type           string
	Velocity, Spin [3]float32
}

// Hit is where a ray hits a body. ID is 0 for a body without an entity.
type Hit struct {
	ID            ecs.ID
	Point, Normal [3]float32
	Distance      float32
}

// Stats counts.
type Stats struct {
	Bodies, Capacity, Shapes, Awake int
	Gravity                         [3]float32
}
