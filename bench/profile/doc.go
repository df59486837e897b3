// Package profile tells where the time of a simulation's step goes, and why the slow steps
// are slow.
//
// # Recording
//
// A [Recorder] watches an evertick.Sim, from three lines:
//
//	rec, err := profile.Attach(sim, profile.Config{Name: "my game"})
//	// … run the Sim, by Step, Advance or Run …
//	run := rec.Run()
//
// [New] makes one for a loop that is no Sim; it tells Begin, Phase and End itself.
//
// A [Run] is plain data, as are its files: what is written here is read there. A Run that
// comes from elsewhere is checked by [Run.Validate].
//
// # What a step is
//
//	            due        start                                        end
//	─────────────┼───────────┼──────────┬──────┬────┬─────────┬───────────┼──▶ time
//	             │  lateness │ phase    │      │    │         │ unaccount.│
//	             │           │◀────────────────── Ns ───────────────────▶│
//	             │◀──────────────── response: lateness + Ns ────────────▶│
//
// Steps and phases are timed by the Sim itself, as Sim.Timings tells: phases without the
// hooks around them, the step with all that happens from its BeforeTick to its last phase.
// Taking inputs, keeping history, and AfterTick are outside of it. What no phase accounts
// for is spent between phases. Phases that run side by side overlap, so that their sum may
// exceed the step.
//
// # Lateness
//
// How long a step took says nothing of how long somebody had to wait for it: behind a slow
// step those that follow are late, however quick they are. So each step is recorded with the
// moment at which it was due, on a schedule that no step can put off:
//
//   - Under Sim.Run and Sim.Advance a step is due when the time of the loop passes its tick
//     (loop.Loop.Due). Of three steps that one frame catches up on, the first was due two
//     steps' time before the last. Steps that the loop gives up are in Run.Dropped.
//   - Under Sim.Step the schedule is Config.RateHz, a grid from the first step recorded on; a
//     host that does not wait is taken to have waited, and is as late as it would have been.
//   - Without either, steps are as late as they begin: not at all.
//
// A step may begin before it is due, where loop.Config.JitterFix has it do so: DueNs is
// greater than StartNs then.
//
// # What it costs
//
// Memory is set aside when the Recorder is made and does not grow with the steps: a ring of
// Config.Steps rows of 8 bytes for each of seven columns, each phase and each counter, which is
// [Config.Bytes]; some 600 kB for 3,600 steps of the usual ten phases. When it is full the
// oldest steps are forgotten. A recorded step does not allocate. Recording one takes less than
// a microsecond: hooks around the tick and none around phases, a reading of the clock for
// each, and two of the collector's counters. The Recorder times its own work in one of sixteen
// steps, and Run.Overhead is what came of it.
//
// Config.Hardware adds a system call for each phase, some tenths of a microsecond.
//
// # What the collector did
//
// By runtime/metrics, at both ends of each step: cycles that ended in it and for how long
// they stopped the world. The runtime tells of the CPU time in which goroutines had to
// assist a cycle only when that cycle ends, so it counts for the step that finds it out.
//
// # What the CPU did
//
// On Linux, with Config.Hardware, instructions, cycles, cache misses and branch misses of
// each phase, by perf_event_open(2), in user mode, for the thread that attached. Virtual
// machines often have no such counters, and systems may forbid them: Run.Unwatched says so.
//
// # Measuring well
//
// [Pin] keeps the steps on one CPU; Config.Warmup leaves out steps that find caches cold and
// buffers small; [Noise] says what the machine did besides.
package profile
