// Package evertick is a deterministic simulation core: an entity world in
// structure-of-arrays columns, rigid bodies, a neighbour index and a
// fixed-timestep loop, assembled into a Sim.
//
// # Model
//
// A Sim advances in ticks of equal length. Each tick runs the same phases in
// the same order:
//
//	                inputs that are due become those of the tick
//	BeforeTick      hooks
//	systems of BeforePhysics
//	physics.step    rigid bodies take over what was written to their entities' columns, and move
//	physics.sync    their transforms are written into the world's columns
//	spatial.build   the index is rebuilt over the live entities
//	systems of AfterIndex
//	commands        what systems have recorded is done to the world
//	state.hash      one hash per column, folded into one for the tick
//	AfterTick       hooks
//
// The systems of a stage run one after the other, as they were added with Add. Those of
// AddSystem say what they read and write, and what they run before and after: neighbours
// that do not share what one of them writes form a group, and run side by side on
// Config.Workers goroutines, with lists of commands of their own that are appended in
// their order. Sim.Check reports what cannot be ordered, and Sim.Plan tells the order.
//
//	BeforeSystem a, b   hooks, for a group together
//	┌ a ─────┐
//	└ b ───┘              side by side, each with its Tick and its Commands
//	AfterSystem a, b
//	BeforeSystem c
//	  c                   on the goroutine of Step
//	AfterSystem c
//
// Hooks see every tick and every phase, for logs and measurements. Timings and Stats tell
// what phases take, and Frame.Overrun who is to blame for a frame that took too long.
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
// rules in docs/determinism.md (comparing hashes finds them, nothing prevents them); a
// foreign library that changes the floating-point environment in the middle of a tick (it is
// detected at the next step).
//
// The one exception is opt-in: bodies that package physics/box2d moves, whose float64
// arithmetic the compiler may fuse. Its bits are the same on every level and with cgo on
// or off, but may differ between GOAMD64=v1, GOAMD64=v3 and other architectures.
//
// After warm-up a step allocates nothing.
//
// # Saving, going back
//
// A Sim is a value that Snapshot turns into bytes and Restore takes back, all or nothing;
// what systems keep outside the world is part of it by AddState. What comes from outside
// comes by Push and is the same for all systems of a tick, in one order: a run is its first
// state and its inputs. With Config.History a Sim keeps both for a while, and StepBack goes
// back to any of these ticks, bit for bit.
//
// # Using parts
//
// Packages ecs, spatial, physics and loop do not depend on each other or on this
// package, and work on plain slices: link one alone over arrays of your own.
package evertick
