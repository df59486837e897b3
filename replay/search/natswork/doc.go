// Package natswork does the jobs of package search in processes on any machines, which are connected over NATS.
//
//	worker:    Serve(ctx, nc, registry, ServeOptions{})
//	searcher:  pool, err := NewPool(nc, PoolOptions{})
//	           search.FirstSeed(ctx, pool, search.Seeds{…})
//
// # Model
//
// A job is a request to the subject SUBJECT.SIMVERSION, which the workers subscribe to as one queue group. A
// worker subscribes once for each job that it can do at a time, for one message. So it never has more jobs than
// that, a worker of another SimVersion gets none, and a request that finds every worker busy comes back at once
// and is sent again when a job has ended.
//
// A worker sends a sign of life when it has taken a job, and then every Heartbeat. A pool that has heard nothing of a job
// for the time Silence sends it again. So the jobs of a worker that was killed, has hung or was cut off are done by others.
// If two workers do the same job in the end, and their results differ, that is ErrDiverged with its number.
// A worker that finds its pool gone cancels the job.
//
// The data that all jobs of a task share may be large, say the inputs of a log. A worker fetches them in chunks, once,
// before the first job of the task, and checks their SHA-256. A job and a result must fit into a message of NATS.
//
// # Trust
//
// Messages have a checksum, and each reply contains the task and the number of its job. A reply that is malformed or
// of another task is refused with an error, which names the worker. This is against mistakes, not against enemies: every
// client that may publish on these subjects can send jobs and results. Restrict them by the permissions of NATS. A job can do no more
// than what the Registry has: it is a name and data, never code.
package natswork
