// Package box2d is the physics.Engine over github.com/ByteArena/box2d, the Go
// port of Box2D as of 2017.
//
//	w, err := box2d.New(physics.Config{Gravity: [2]float32{0, -9.81}})
//
// # Model
//
// Circles, convex polygons and segments; units are metres, kilograms, seconds
// and radians. A Step runs 8 velocity and 3 position iterations (see Options),
// with continuous collision of moving bodies against those that are not
// dynamic. The library computes in float64; values become float32 where they
// enter the columns of the world and nowhere else. Its tuning constants are
// absolute and suit bodies of 0.1 m to 10 m: contacts sink in by 5 mm, bodies
// closer than that to rest fall asleep, impacts below 1 m/s do not bounce, and
// no body moves more than 2 m or turns more than a quarter turn per step
// (per sub-step, if Config.SubSteps is set): its velocity is limited accordingly.
//
// # Guarantees
//
// Same binary, same calls: same columns and same hash, at every step, in every
// process. The library panics on bad input and leaves its world locked; this package refuses
// such input first, with an error. If a step
// panics nevertheless, for example on values near the limits of float64, the world
// reports an error and stays stopped.
//
// Different goroutines may use different worlds concurrently.
// The library keeps statistics in package variables that every step writes, so
// the steps of all worlds of this package run one after the other, under one
// lock. A program that also steps worlds of the library directly, in parallel
// to ours, has a data race in those variables.
//
// # Limitations
//
// The bits depend on the machine: the library leaves its products open to
// fusing, so the columns differ between GOAMD64=v1, GOAMD64=v3 and arm64 from
// the first contact on, and the module's promise of equal hashes does not cover
// the columns of this engine across them.
//
// A step allocates, thousands of objects at 256 bodies (4,500 to 10,000) and
// millions at 16,384. Config.Workers is accepted and not used.
//
// Capsules and BodyDef.Disabled are not supported, and the only joints are hinges (CreateHinge). Filter categories
// have 16 bits and groups the range of int16; more is physics.ErrUnsupported. A mask may have any bits,
// because no category here has the upper ones. Polygon vertices closer to each other than 2.5 mm,
// segments shorter than 5 mm, and shapes that are tiny against their distance from the origin of their
// body (some 20,000 radii for a circle of a dynamic body, a million sides for any box) are
// physics.ErrRange. Overlaps of a teleported body are detected one step late.
package box2d
