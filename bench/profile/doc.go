// Package profile measures where the time of a simulation's step goes, and why the slow steps are
// slow.
//
// # Recording
//
// A [Recorder] records an evertick.Sim, with three lines:
//
//	rec, err := profile.Attach(sim, profile.Config{Name: "my game"})
//	// … run the Sim, by Step, Advance or Run …
//	run := rec.Run()
//
// [New] makes one for a loop without a Sim, which calls Begin, Phase and End. A [Run] is plain data
// that can be written to files and read back; [Run.Validate] checks one from elsewhere.
//
// # What a step is
//
//	            due        start                                        end
//	─────────────┼───────────┼──────────┬──────┬────┬─────────┬───────────┼──▶ time
//	             │  lateness │ phase    │      │    │         │ unaccount.│
//	             │           │◀────────────────── Ns ───────────────────▶│
//	             │◀──────────────── response: lateness + Ns ────────────▶│
//
// The Sim itself times steps and phases: see Sim.Timings. A phase does not include the hooks around
// it; the step includes everything from its BeforeTick to its last phase, but not taking inputs,
// keeping history, and AfterTick. The unaccounted time is spent between phases. Phases that run in
// parallel overlap, so that their sum may exceed the step.
//
// # Lateness
//
// The duration of a step does not show how long a player had to wait for it: after a slow step the
// next ones are late, however quick they are. So each step is recorded with the time at which it
// was due, on a schedule that no step can postpone:
//
//   - Under Sim.Run and Sim.Advance a step is due when the time of the loop passes its tick
//     (loop.Loop.Due). Of three steps that one frame catches up on, the first was due two periods
//     before the last. Run.Dropped counts the steps that the loop gives up.
//   - Under Sim.Step the schedule is Config.RateHz, a grid from the first recorded step on. A host
//     that does not wait is treated as if it had waited.
//   - Without either, no step is late.
//
// A step may begin before it is due, as with loop.Config.JitterFix: then DueNs is greater than
// StartNs.
//
// # What it costs
//
// New and Attach allocate the memory, [Config.Bytes]: a ring of Config.Steps rows of 8 bytes for
// each of seven columns, each phase and each counter; about 600 kB for 3,600 steps of the usual ten
// phases. When it is full, new steps replace the oldest. Recording a step does not allocate and
// takes less than a microsecond: hooks around the tick and none around phases, a reading of the
// clock for each, and two of the collector's counters. The Recorder times its own work in one of
// sixteen steps, and Run.Overhead is the result. Config.Hardware adds a system call for each phase,
// some tenths of a microsecond.
//
// # What the collector did
//
// From runtime/metrics, at both ends of each step: cycles that ended in it, and how long they
// stopped the world. The runtime reports the CPU time in which goroutines had to assist a cycle
// only when that cycle ends, so it counts for that step.
//
// # What the CPU did
//
// On Linux, with Config.Hardware: instructions, cycles, cache misses and branch misses of each
// phase, by perf_event_open(2), in user mode, for the thread that attached. Virtual machines often
// lack such counters, and systems may forbid them: Run.Unwatched reports it.
//
// # Measuring well
//
// [Pin] keeps the steps on one CPU; Config.Warmup leaves out steps that find caches cold and
// buffers small; [Noise] describes what else the machine did.
package profile
