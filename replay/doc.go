// Package replay records all that decides the run of an evertick.Sim into a log of
// package worldlog, and runs it again: to check it, to examine it, or to continue it.
//
// # Model
//
//	Scenario ── New(seed) ──▶ Sim at tick 0
//	                           │  inputs of each tick, hash after each tick
//	Record ────────────────────┴───────────────▶ log on disk, snapshots beside it
//	                                              │
//	     Verify  every tick again, every hash ◀───┤
//	     Play    tick by tick, to look at it   ◀──┤
//	     Seek    the state after one tick      ◀──┤  nearest snapshot, then ticks again
//	     Resume  the last tick, and on         ◀──┤  after a crash
//	     Fork    one tick, and on in a new log ◀──┤
//	     Diff    where two logs diverge        ◀──┤
//	     Shrink  the inputs that a failure needs ◀┘
//
// A scenario is code: a function that builds the Sim with its systems. A log holds
// the name of the scenario, the seed, the configuration and the columns, the inputs
// that each tick applied (see evertick.Sim.Push), and the state hash after it.
// Anything else that affects a run, such as a clock, a file or a call from outside
// between two ticks, is not in the log, and the first tick that it changes does not
// verify. That is how a replay finds it.
//
// # Modes
//
// A Player seeks to any tick, before or after the present one: SeekContext reports progress and can be
// cancelled, CacheSnapshots makes steps back quick, and Refresh follows a log that is still being written.
//
// Live is Record. Replay is Play, or Verify, which only checks. Hybrid, a replay up to a tick
// and then something else, is Fork, or Player.Live without a log. SyncTest runs
// each tick again from a snapshot and finds state that snapshots lack; it needs no log,
// and a scenario that passes it supports Seek, Fork and Rollback. Rollback is for
// games over a network, whose inputs come late. A QueryProbe makes the results of queries
// part of the hash.
//
// # Guarantees
//
// A log that verifies is a proof: the same inputs gave the same hash at every tick
// on both machines. Seek gives the same state from any snapshot. Recording does not
// change the run, costs no allocation per tick after warm-up, and never waits for
// the disk unless its buffer is full and worldlog.Block says so.
//
// A log that lacks a tick that it had when it was closed is damaged, and Verify, Resume and
// the others say where: see package worldlog. No content of a log or snapshot makes them
// allocate without bound: see Scenario.MaxSnapshot.
//
// Resume reads the log from its newest snapshot on; Verify and Play read all of it. If ticks were archived or dropped, see
// worldlog.Options.Retention, they begin after the oldest snapshot; Fork and Shrink need every tick.
//
// Inputs that were pushed but whose tick has not come are in no log: Seek, Resume
// and Fork begin with none waiting.
package replay
