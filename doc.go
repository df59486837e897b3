// Package evertick is a deterministic simulation core: an entity world in
// structure-of-arrays columns, rigid bodies, a neighbour index and a
// fixed-timestep loop, assembled into a Sim.
//
// # Model
//
// A Sim advances in ticks of equal length. Each tick runs the same phases in
// the same order, on one goroutine:
//
//	systems of BeforePhysics, in the order in which they were added
//	physics.step    rigid bodies take over what was written to their entities' columns, and move
//	physics.sync    their transforms are written into the world's columns
//	spatial.build   the index is rebuilt over the live entities
//	systems of AfterIndex, in the order in which they were added
//	commands        what systems have recorded is done to the world
//	state.hash      one hash per column, folded into one for the tick
//
// Systems read and write the columns of World directly, create and push bodies,
// and ask Index for neighbours. Everything heavy below them runs in C kernels on
// the same slices, or in pure Go where cgo is off.
//
// # Guarantees
//
// Same module version, same scenario, same inputs: the same state hash at every
// tick, on every supported GOARCH and GOAMD64 level, every SIMD level, gcc or
// clang, any GOMAXPROCS, any batch size, cgo on or off. Not promised: equality
// across module versions that bump SimVersion; user systems that break the
// rules of the README (comparing hashes finds them, nothing prevents them); a
// foreign library that changes the floating-point environment in the middle of a tick (it is
// detected at the next step).
//
// The one exception is opt-in: bodies that package physics/box2d moves, whose float64
// arithmetic the compiler may fuse. Its bits are the same on every level and with cgo on
// or off, but may differ between GOAMD64=v1, GOAMD64=v3 and other architectures.
//
// After warm-up a step allocates nothing.
//
// # Using parts
//
// Packages ecs, spatial, physics and loop do not depend on each other or on this
// package, and work on plain slices: link one alone over arrays of your own.
package evertick
