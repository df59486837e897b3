// Package host runs many Sims, its worlds, in one process with a fixed number of goroutines: one for each CPU, not one for
// each world.
//
// # Model
//
//	Add ── trial, admission ──▶ timers, by due time ──▶ ready, by start tag ──▶ worker: Sim.Advance ──┐
//	Push ── inputs ──▶ Sim           ▲                                                               │
//	Remove, Drain ◀── Saved ─────────┴───────────────── due again ◀──────────────────────────────────┘
//
// Each world keeps its own rate: its loop.Loop says when its next tick is due, how many ticks a frame runs, and which are
// dropped. A turn is one frame, so at most loop.Config.MaxSteps ticks. A world is never in two turns at once. What a world
// computes depends on its own state and inputs alone, as under Sim.Run: hashes are the same for any number of workers and
// any neighbours.
//
// # Turns
//
// Among the worlds that are due, the one with the least start tag has its turn; of equal tags the one that was due first,
// and then the one that was admitted first. This is start-time fair queueing (Goyal, Vin and Cheng, 1996):
//
//	start  of a turn   the greater of the finish tag of the world, and the host's virtual time when the turn fell due
//	finish of a turn   start + time that it took / weight
//	virtual time       the greatest start tag of the turns that have begun
//
// As long as the workers can do everything, each world has the turns that are due, and the tags decide only which is a
// little later. When there is too much to do, worlds have time in proportion to their weights. A world that takes more than
// its share has a later tag than the others, so that it alone is late, and its loop drops its ticks. On one worker the
// times that two worlds of weights v and w have while both are due differ by no more than one turn of each:
//
//	| time1 / v - time2 / w | <= longest turn1 / v + longest turn2 / w
//
// A world that was within its share waits for the turns that have begun, and for at most one turn of each other world.
// A turn is not interrupted: a tick that never ends keeps its worker. With loop.Config{MaxSteps: 1, Policy: loop.Keep} a turn
// is one tick, and a world that is late catches up in turns between the turns of others.
//
// # Admission
//
// Add measures before it admits. What a world takes is p95 of its ticks × its rate (at time scale 1) × workers of its Sim, in
// cores. Add refuses a world with ErrCapacity if the sum would be more than Config.Budget. The p95 of a new world is
// that of a trial on a twin, or that of running worlds of the same scenario, whichever is greater; the p95 of a world that
// runs is of its last 256 ticks, as this machine ran them beside the others. A world that becomes slower later stays, and
// keeps others out. A trial has the caches of the CPU to itself, and takes less time than ticks beside many worlds: p95 of 54 µs instead of
// 174 where 245 worlds were admitted at once. So add many worlds in steps of some seconds, in which those that run are measured.
//
// # Failure
//
// An error or a panic of a tick ends that world alone. World.Ended gets the error, which names the world, and so do Stats and
// Remove. A system that returns loop.ErrStop ends its world without an error.
//
// # Moving
//
// Remove takes one world out between two ticks, and Drain all of them one after another. A Saved has the snapshot, in which
// are the inputs that wait. Host.Push takes no input after that moment, so each input is either in the snapshot or refused
// with ErrClosed or ErrStale; inputs that come from elsewhere, such as those of replica, are repeated by their clients.
//
//	another process:   sim from World.Scenario, Seed and Snapshot
//	with its log:      replay.Resume(dir, scenario, …), then World.Sim, Recorder and Snapshot
//
// The log has every tick but no input that waits, and the snapshot has both. Add compares tick and hash of the two.
package host
