// Package search spreads deterministic work over workers, so that the result is the same for any
// number of them.
//
// # Model
//
//	FindSeeds, Shrink, Evaluate ── Task, jobs 0, 1, 2, … ──▶ Pool ──▶ workers, each with a Registry
//	                            ◀── results 0, 1, 2, … ─────
//
// A [Task] names a function and has the data that all of its jobs need, say the inputs of a log. These data
// travel to each worker once. A job is a few bytes, and its result depends on the task and those
// bytes alone. A [Pool] does the jobs in any order and returns the results in the order of the jobs.
//
// [Local] is a pool of goroutines. Package natswork, a module of its own, has a pool of processes on any
// machines, which are connected over NATS. [Twice] does each job twice and compares the results.
//
// # Searches
//
// [FindSeeds] runs a scenario with many seeds and returns those that fail, with tick and hash. [FirstSeed]
// returns the lowest of them, not the one that was found first. [Shrink] is replay.Shrink with the runs of a
// round on workers. [Evaluate] plays matches of sets of parameters, of policies for example, and sums
// their scores.
//
// # Guarantees
//
// The result of each of these is the same, bit for bit, for any number of workers, on any machines, whichever of
// them fail. What a pool finds out about a job depends on nothing but the job: an error of a job is a
// result as well, and the result of the lowest job is returned.
//
// A worker finds scenarios, failures and functions by their names in its [Registry]. It refuses a name that it
// lacks, and a task of another SimVersion, with an error that contains it, before it does a job.
// Code has no checksum here: what has the same name must do the same everywhere. Twice finds out if it
// does not.
package search
