// Package replay records what decides the run of an evertick.Sim into a log of
// package worldlog, and runs it again: to check it, to look at it, to go on from it.
//
// # Model
//
//	Scenario ── New(seed) ──▶ Sim at tick 0
//	                           │  inputs of each tick, hash behind each tick
//	Record ────────────────────┴───────────────▶ log on disk, snapshots beside it
//	                                              │
//	     Verify  every tick again, every hash ◀───┤
//	     Play    tick by tick, to look at it   ◀──┤
//	     Seek    the state behind one tick     ◀──┤  nearest snapshot, then ticks again
//	     Resume  the last tick, and on         ◀──┤  after a crash
//	     Fork    one tick, and on in a log anew ◀─┤
//	     Diff    where two logs part           ◀──┤
//	     Shrink  the inputs that a failure needs ◀┘
//
// A scenario is code: a function that builds the Sim with its systems. A log holds
// the name of the scenario, the seed, what Config and columns looked like, the
// inputs that each tick applied (see evertick.Sim.Push), and the state hash that it left
// behind. Whatever else reaches a run, such as a clock, a file or a call from
// outside between two ticks, is not in the log, and the first tick that it changes
// does not verify. That is the use of it.
//
// # Modes
//
// Live is Record. Replay is Play, or Verify where nobody looks. Hybrid, a replay up to a tick
// and then something else, is Fork, or Player.Live without a log. SyncTest runs
// each tick again from a save and looks for state that snapshots forget; it needs no log,
// and a scenario that passes it can be sought in, forked and rolled back. Rollback is for
// games over a network, whose inputs come late. A QueryProbe makes what queries answered
// part of the hash.
//
// # Guarantees
//
// A log that verifies is a proof: the same inputs gave the same hash at every tick
// on both machines. Seek gives the same state from any snapshot. Recording does not
// change the run, costs no allocation per tick after warm-up, and never waits for
// the disk unless its buffer is full and worldlog.Block says so.
//
// A log that was closed and lacks a tick since is damaged, and Verify, Resume and the
// others say where: see package worldlog. Nothing that they find beside or in a log makes
// them take memory without bound: see Scenario.MaxSnapshot.
//
// Inputs that were pushed but whose tick has not come are in no log: Seek, Resume
// and Fork begin with none waiting.
package replay
