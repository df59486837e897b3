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
//	                timers drain
//	systems of BeforePhysics
//	physics.step    rigid bodies read what was written to their entities' columns, and move
//	physics.sync    their transforms are written into the world's columns
//	                the same two phases of each Solver that Attach has added, such as that of package space
//	systems of AfterPhysics
//	spatial.build   the index is rebuilt over the live entities
//	systems of AfterIndex
//	commands        the commands that systems recorded are applied to the world
//	systems of AfterCommands
//	state.hash      one hash per column, folded into one for the tick
//	AfterTick       hooks
//
// The systems of a stage run one after the other, in the order of the calls of Add. Systems of
// AddSystem declare what they read and write, and which systems they run before and after. Systems
// that are neighbours in the order form a group if none of them writes what another one reads or
// writes. A group runs side by side on Config.Workers goroutines. Each system has its own list of
// commands, and the lists are appended in the order of the systems. Sim.Check reports what cannot
// be ordered, and all other errors of a set-up, which may ignore them; Sim.Plan returns the order.
//
//	BeforeSystem a, b   hooks, for a group together
//	┌ a ─────┐
//	└ b ───┘              side by side, each with its Tick and its Commands
//	AfterSystem a, b
//	BeforeSystem c
//	  c                   on the goroutine of Step
//	AfterSystem c
//
// Each tick runs in a mode, which SetMode sets for the ticks that follow. Systems, timers and the
// physics may be limited to some modes, so that menus and pauses stop some systems while others go
// on. AddTimer adds timers that count ticks. Mode and timers are part of the state.
//
// Hooks see every tick and every phase, for logs and measurements; Config.CheckRender finds hooks
// that write. Timings and Stats report how long phases take, Frame.Overrun names the phase that made
// a frame late, and a Monitor gives the same figures to other goroutines.
//
// Systems read and write the columns of World directly, create and push bodies,
// and ask Index for neighbours. The heavy work below them runs in C kernels on
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
// # Drawing
//
// A frame is usually drawn between two ticks. Interpolate computes where the entities are then, for
// a host that draws after Advance or in the function of RunFrames. A renderer on another goroutine
// reads the views of a Publisher, which Publish returns: at its own rate, while ticks run.
//
// # Saving, going back
//
// Snapshot turns the state of a Sim into bytes, and Restore reads them back, all or nothing.
// AddState includes what systems keep outside the world. Data from outside enters through Push; all
// systems of a tick see the same inputs in the same order. So the first state and the inputs
// determine a run. With Config.History a Sim keeps both for a while, and StepBack returns to any
// tick of that time, bit for bit.
//
// # Using parts
//
// Packages ecs, spatial, physics and loop do not depend on each other or on this
// package, and work on plain slices: link one alone over arrays of your own.
package evertick
