// Package profile tells where the time of a simulation's step goes, and why the slow steps
// are slow.
//
// A [Recorder] watches a Sim. It takes three lines:
//
//	rec, err := profile.Attach(sim, profile.Config{Name: "my game"})
//	// … run the Sim, by Step, Advance or Run …
//	run := rec.Run()
//
// [Run] is plain data: the last steps with their phases, when they were due and when they
// began, what the garbage collector did meanwhile, and what was counted.
package profile
