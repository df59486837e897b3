// Package loop turns elapsed time into a whole number of fixed simulation
// steps, exactly, and supplies the random numbers that belong to a tick.
//
// # Model
//
// A [Loop] receives the nanoseconds that passed since the previous frame and
// answers with a [Frame]: how many steps to run now, and how far the present
// lies between the last step and the next one.
//
//	time  ────┬──────────────┬──────────────┬──────────────┬─────────▶
//	due      n-1             n             n+1            n+2
//	               ▲                                 ▲
//	         previous frame                     this frame
//	               ├─────────── elapsedNs ───────────┤
//	                                        ├ alpha ─┤
//
//	Steps = 2     step n and step n+1 became due: run them, then Tick is n+2
//	Alpha = 9/15  of step n+2 has passed already
//
// A step is due when its whole time has passed, so step 0 is due one step after
// the start.
//
// Time is kept in integers. With a rate of num/den steps per second, one
// nanosecond adds num units to an accumulator and one step takes 1e9·den of
// them, so 60 Hz and 60000/1001 Hz are both exact and stay exact for years.
//
// # What a frame gives up
//
// A frame may owe more steps than it can afford. In this order:
//
//  1. Stall: of the time in excess of Config.MaxDeltaNs, the whole steps,
//     floor(excess × rate), are dropped, whatever the policy.
//  2. Cap: at most Config.MaxSteps of what is left, and of the backlog, run in
//     this frame.
//  3. Policy: the rest is dropped (DropToCap), or kept as the backlog of later
//     frames (Keep) up to floor(MaxDeltaNs × rate) steps and dropped beyond it.
//
// Only whole steps are ever dropped. The fraction of a step stays in the
// accumulator, so Alpha continues where exact time puts it and interpolated
// motion does not jump by a part of a step.
//
// # Guarantees
//
// After every Advance, with t the sum of all elapsed times that were not
// negative:
//
//	steps granted + DroppedTotal + Backlog == floor(t × rate)
//	AlphaNum / AlphaDen                    == t × rate − floor(t × rate)
//	0 <= Alpha < 1,  0 <= Steps <= MaxSteps
//
// Advance is a pure function of the Loop's state and its argument: the same
// elapsed times give the same frames on every machine, so pacing can be
// recorded and replayed. A Loop is a plain value; a copy is a fork. Counters
// are uint64 and wrap.
//
// Wall time enters only through a [Clock], and only in [Loop.Run].
//
// # Random numbers
//
// [Rand] is counter-based: its numbers are a function of seed, tick, entity and
// stream, so they depend neither on the order in which entities are visited nor
// on the number of workers, and need no state in a snapshot.
package loop
