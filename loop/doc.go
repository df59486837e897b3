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
// # A frame
//
// What Advance does with the elapsed time, in this order:
//
//	    elapsedNs               a negative one counts as 0 and as one of Backwards
//	        │
//	        ├────────────────▶ WallNs and the timers of Wall
//	        │
//	menu    ├─ open ─────────▶ nothing else: UI time, freezes and scales wait
//	batch   ├─ Config.Batch ─▶ exactly MaxSteps steps, whatever the time
//	stall   ├─ > StallNs ────▶ the frame and the accumulator are dropped
//	        ▼
//	smooth  SmoothDelta         elapsed times snap to the period of the display
//	clamp   MaxDeltaNs          beyond: whole steps are dropped; with ClipTime
//	        │                   the time is not counted
//	        ├────────────────▶ RawNs, UINs and the timers of UI
//	        ▼
//	gates   × 0                 while paused, in a phase without steps, or frozen
//	scale   × Dilation × …      the product of the channels, each in its bounds
//	        ▼
//	    accumulator += simulated time
//	        ▼
//	bound   MaxAccumNs          beyond: dropped
//	jitter  JitterFix           a step may change frames with its neighbour
//	cap     MaxSteps            with CapScales ceil(MaxSteps × scale) if that is more
//	policy  Policy              drops, keeps or skips the steps beyond
//	        ▼
//	    Frame                   Tick, Steps, Alpha, Backlog, Dropped, …
//
// A frame is counted in pieces: a freeze of 80 ms takes exactly 80 ms of wall time from the simulation, and a scale
// that expires in the middle of a frame counts until then. So the sum does not depend on how time is cut into frames.
// Of a clamped frame the last RawNs nanoseconds count. If simulated time is stopped at the end of a frame, the backlog
// waits too.
//
// Pause, phase and freeze stop simulated time and keep the accumulator. UI time continues in them, for what must move
// on a screen that stands still; it stops in a menu and in a stall. A timer runs on wall time or on UI time.
//
// # Scale
//
// A channel that is not at rest has an owner and may have an expiry. So a slow-down cannot be left on by mistake, and
// only its owner can undo it. Values are whole millionths. The product is rounded once, half to even, to millionths as
// well, and published in every Frame. So simulated time is a sum of exact products.
//
// # What a frame gives up
//
// A frame may have more steps due than its cap. [Policy] decides about them:
//
//	              beyond the cap        fraction   later frames
//	DropToCap     dropped               kept       go on
//	Keep          kept, with a bound    kept       run the backlog
//	DropAll       dropped               dropped    start from zero
//	SlowMotion    dropped               kept       are slowed down, then recover
//	CatchUp       kept                  kept       run the backlog, however long
//	Realtime      skipped: Tick jumps   kept       keep the time of the clock
//	KeepAll       kept                  kept       run the backlog, of which the clamp leaves something out
//
// Where only whole steps are dropped, Alpha stays exact: interpolated motion does not jump by a fraction of a step.
//
// # Presets
//
//	          Hz   cap             clamp            else
//	Classic   60   5               0.25 s           the zero Config
//	Arcade    60   max(4, ⌈4·s⌉)   33 ms, clipped   stall 0.2 s, bound 0.25 s, DropAll
//	Modules   60   5               0.25 s           for a program of modules, as examples/modules
//	Show      120  30              0.25 s           what Training trained, in real time
//	Training  120  1               none             Batch: no clock
//
// # Guarantees
//
// After every Advance, with the sum over all pieces of time that were counted,
// exactly, fractions included:
//
//	steps granted + Backlog + alpha + dropped == Σ time × scale × rate
//	0 <= alpha < 1
//
// where alpha is (AlphaNum + AlphaRest/1e6) / AlphaDen and dropped is
// DroppedTotal + (DroppedNum + DroppedRest/1e6) / AlphaDen. (With a JitterFix
// the left side has as many whole steps as the right side, plus Frame.Lead.)
// If all scales are 1 and only whole steps are dropped, as by Classic, Modules
// and Show, with t the sum of all elapsed times, this is
//
//	steps granted + Backlog + DroppedTotal == floor(t × rate)
//	AlphaNum / AlphaDen                    == t × rate − floor(t × rate)
//
// and under Realtime, until ResetTiming,
//
//	Tick + Backlog == floor(Σ time × scale × rate)
//
// Nothing overflows for any int64 passed to Advance; counters are uint64 and
// wrap. Frames and setters do not allocate.
//
// Advance is a pure function of the Loop's state and its argument: the same
// elapsed times and calls give the same frames on every machine, so pacing can
// be recorded and replayed. A copy of a Loop is a fork.
//
// Wall time enters only through a [Clock], and only in [Loop.Run].
//
// # Displays
//
// A display of 60 Hz and steps of 60 Hz keep the same time, but the moments at which a program reads its clock scatter.
// When they lie near the moment of a step, half of the frames run 0 or 2 steps instead of 1. Two switches help hosts
// whose frames wait for a display; both are off by default and compute with integers only:
//
//   - Config.JitterFix gives a frame the usual number of steps if the twelve
//     before it were steady and that leaves the accumulator within the slack of
//     [0, 1) steps. No time is lost or gained by it: a step moves to the
//     neighbouring frame, and Frame.Lead says which way. If the display is a little
//     faster or slower than the steps, one frame runs 0 or 2 steps each time they
//     drift apart by a whole step, and no other. Ratios that are not nearly whole,
//     such as 144 Hz frames, are not changed.
//   - Config.SmoothDelta finds the period of the display in the last 64 elapsed
//     times and counts whole periods. The remainder is kept exactly, is never
//     more than a quarter of a period, and is returned by a 64th a frame. Missed
//     frames count two periods; stalls, and displays without a steady period,
//     are not changed. [Loop.Refresh] returns the rate.
//
// # Recording
//
// A [Tape] records the inputs of a Loop, in about three bytes a frame, and
// replays its frames. Call [Loop.Record] before the first of them. The tape also
// holds steps that failed, pauses from within a step, and panics.
//
// # Keeping time
//
// A host that has frames of its own, such as a display's, passes their
// lengths to [Loop.Drive]. Otherwise [Loop.Run] waits for each step, as
// [Config].Pacing says:
//
//	          waits by                    late by (Linux)   CPU of one at 60 Hz
//	Sleep     a timer                     up to 1 ms        next to none
//	Precise   clock_nanosleep and spin    some µs           Config.SpinBudget: 4 %
//	Spin      reading the clock           below 1 µs        all
//	Uncapped  not at all: time jumps      –                 all
//	External  not at all: the host calls Advance or Drive
//
// On js and wasip1 Precise and Spin wait as Sleep does, since one thread runs everything:
// [Pacing.Effective] and the Method of a clock report it. A run that is late, or Uncapped, pauses
// there for a millisecond after each 10 ms, so that contexts, other goroutines and the page can run.
//
// Lateness never adds up, since targets are computed from the exact accumulator; Frame.LateNs reports it. The figures
// are from a machine with a CPU to spare: without one, every clock is late while its thread waits. Virtual machines
// may wake sleepers late by themselves: Precise measures how late, and spins for as long as its budget affords.
//
// # Steps that fail
//
// Run and Drive count a step when it has returned. A step that returns an error or
// panics does not count: it and the rest of its frame stay due, and [FaultPolicy]
// says whether a panic propagates, halts the loop or makes the next frame try the
// step again. A step that returns [ErrStop] counts, and ends Run.
//
// # Random numbers
//
// [Rand] is counter-based: its numbers are a function of seed, tick, entity and
// stream, so they depend neither on the order in which entities are visited nor
// on the number of workers, and need no state in a snapshot. Its normal and
// exponential numbers are computed so that they have the same bits everywhere.
//
// # Inputs and simulated time
//
// A [Queue] holds inputs until their tick. Any goroutine pushes; what is due
// comes out in the order of tick, source and sequence number, so a tick depends
// on which inputs had arrived, and not on the order of their arrival. No source can use up the room
// of the others.
//
// A [Timeline] returns the tick that is in progress at a time, and the time at which a tick falls
// due. [Arrivals] measures, for each source, whether inputs come in time, and advises the lead with
// which they would.
//
// [SimTime] is the time of a tick, exactly, at any rate.
package loop
