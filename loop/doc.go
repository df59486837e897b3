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
// What Advance does with the time that it is told, in this order:
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
//	policy  Policy              what becomes of the steps beyond
//	        ▼
//	    Frame                   Tick, Steps, Alpha, Backlog, Dropped, …
//
// Time is counted piece by piece: a freeze of 80 ms takes exactly 80 ms of wall
// time from the simulation, and a scale that expires in the middle of a frame
// counts until then, so the sum does not depend on how time is cut into frames.
// Of a clamped frame the last raw nanoseconds count. While time is held back at
// the end of a frame, its backlog waits, too.
//
// Pause, phase and freeze stop simulated time and keep the accumulator. UI time
// goes on in them, for what must move on a screen that stands still, and stops
// in a menu and in a stall. Timers run by either.
//
// # Scale
//
// Each of the channels has an owner while it is not at rest, and may expire, so
// what slowed the world down cannot be forgotten and cannot be undone by
// somebody else. Values are whole millionths; the product is rounded once, half
// to even, to millionths as well, and published in every Frame, so simulated
// time is a sum of exact products.
//
// # What a frame gives up
//
// A frame may owe more steps than it can afford. [Policy] names what becomes of
// them:
//
//	              beyond the cap        fraction   later frames
//	DropToCap     dropped               kept       go on
//	Keep          kept, with a bound    kept       run the backlog
//	DropAll       dropped               dropped    start from zero
//	SlowMotion    dropped               kept       are slowed down, then recover
//	CatchUp       kept                  kept       run the backlog, however long
//	Realtime      skipped: Tick jumps   kept       are at the time of the clock
//
// Where only whole steps are dropped, Alpha continues where exact time puts it,
// and interpolated motion does not jump by a part of a step.
//
// # Presets
//
//	          Hz   cap             clamp            else
//	Classic   60   5               0.25 s           the zero Config
//	Arcade    60   max(4, ⌈4·s⌉)   33 ms, clipped   stall 0.2 s, bound 0.25 s, DropAll
//	Modules   60   5               0.25 s           for package loop/modules
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
// the whole steps of the left side are those of the right side plus Frame.Lead.)
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
// Nothing overflows for any int64 that Advance is told; counters are uint64 and
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
// A display of 60 Hz and steps of 60 Hz keep the same time, but the moments at
// which a program reads its clock scatter. Wherever they lie near the moment of
// a step, half of the frames run 0 or 2 steps instead of 1. Two switches, both
// off by default and both of integers alone, help hosts whose frames wait for a
// display:
//
//   - Config.JitterFix gives a frame the usual number of steps if the twelve
//     before it were steady and that leaves the accumulator within the slack of
//     [0, 1) steps. No time is lost or gained by it: a step changes frames with
//     its neighbour, and Frame.Lead says which way. A display that is a little
//     faster or slower than the steps has one step fall out or in wherever it
//     passes one, and no more. Ratios that are not nearly whole, such as 144 Hz
//     frames, are left as they are.
//   - Config.SmoothDelta finds the period of the display in the last 64 elapsed
//     times and counts whole periods. What that leaves is kept exactly, never
//     more than a quarter of a period, and given back by a 64th a frame. Missed
//     frames count two periods; stalls, and displays without a steady period,
//     are left as they are. [Loop.Refresh] tells the rate.
//
// # Recording
//
// A [Tape] takes down what a Loop is told, in some three bytes a frame, and
// replays its frames: [Loop.Record] before the first of them. Steps that failed,
// pauses from within a step and panics are on it, too.
//
// # Keeping time
//
// A host with frames of its own, as of a display, tells [Loop.Drive] how long they
// were. Without one [Loop.Run] waits for each step, as [Config].Pacing says:
//
//	          waits by                    late by (Linux)   CPU of one at 60 Hz
//	Sleep     a timer                     up to 1 ms        next to none
//	Precise   clock_nanosleep and spin    some µs           Config.SpinBudget: 4 %
//	Spin      reading the clock           below 1 µs        all
//	Uncapped  not at all: time jumps      –                 all
//	External  is not there to wait
//
// Lateness never adds up, since targets are computed from the exact accumulator;
// Frame.LateNs tells of it. The figures are those of a machine with a CPU to spare:
// on one without, every clock is late while its thread waits. Virtual machines may
// wake sleepers late by themselves: Precise learns by how much, and spins for so long
// as its budget affords.
//
// # Steps that fail
//
// Run and Drive count a step when it has returned. One that returns an error or
// panics has not happened: it and the rest of its frame stay due, and [FaultPolicy]
// says whether a panic passes, halts the loop or has the step tried again. A step
// that returns [ErrStop] has happened, and ends Run.
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
// on what had arrived, and not on who was first.
//
// [SimTime] is the time of a tick, exactly, at any rate.
package loop
