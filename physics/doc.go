// Package physics moves 2D rigid bodies in a plane of the 3D world: handles,
// validation, Structure-of-Arrays float32 columns, and the state hash.
//
// # Model
//
// A body is static, kinematic or dynamic and carries any number of shapes:
// circles, convex polygons, segments, capsules. The vocabulary is Box2D v3's.
// Units are metres, kilograms, seconds and radians. Bodies live in the XY or
// in the XZ plane (Config.Plane); an angle is counter-clockwise from the first
// axis of the plane to the second.
//
// What is solved, and how well, is the business of an Engine. This package
// checks every value that goes in and owns every value that comes out: the
// columns (World.Columns), indexed by Body.Index, hold the state of the bodies
// after each call, so reading ten thousand positions is reading a slice. This
// release has no solver of its own: take one from physics/box2d, which wraps
// ByteArena/box2d. Importing physics alone does not link that library.
//
//	w, err := box2d.New(physics.Config{Gravity: [2]float32{0, -9.81}})
//	def := physics.DefaultBodyDef()
//	def.Type = physics.DynamicBody
//	ball, err := w.CreateBody(def)
//	_, err = w.CreateCircle(ball, physics.DefaultShapeDef(), physics.Circle{Radius: 0.5})
//	err = w.Step(1.0 / 60)
//	err = w.Sync(transforms) // into the columns of the entities
//
// # Guarantees
//
// Commands take effect at once and in call order, not inside Step. A call that
// returns an error has changed nothing; NaN, infinities and values outside the
// documented ranges are refused with an error that names field and value. A
// handle whose object was destroyed gives ErrStale for ever, however often its
// place was reused. Indices are handed out lowest first, so they depend on the
// calls alone. Sync and Hash do not allocate.
//
// The one failure that cannot be undone is an engine that produces a state
// that is not finite, or stops: Step reports it, and from then on Sync and every
// call that would step or change the world return the same error.
//
// Whether two machines compute the same bits depends on the engine; its
// package says so. Everything in this package is computed from exactly rounded
// operations that no compiler may fuse.
//
// # Limitations
//
// There is no snapshot and restore: the contact cache of the only engine
// cannot be restored exactly. There are no joints, no contact events and no
// ray or overlap queries. The hash covers bodies and shapes as this package
// sees them, not forces that wait for the next step nor what an engine caches.
// A World is not safe for concurrent use.
package physics
