package stage

import (
	"sync/atomic"

	"github.com/evertick/evertick/internal/pace"
	"github.com/evertick/evertick/internal/sleep"
	"github.com/evertick/evertick/internal/team"
)

// RowChunk and BlockChunk are the least numbers of rows and of blocks of a chunk: about a microsecond.
const (
	RowChunk   = 512
	BlockChunk = 16
)

// A worker gets few chunks of a stage, since to claim one takes a tenth of a microsecond: rowChunks if it consists
// of rows or blocks that cost about the same, partChunks if it consists of parts that do not.
const (
	rowChunks  = 3
	partChunks = 8
)

// rowsPerWorker is the number of rows that justifies one more worker: with fewer, the step would be over almost before that
// worker starts.
const rowsPerWorker = 1024

// Runner runs the stages of a solver S. Stages are functions of S, such as (*S).integrate: a method value would allocate. Outside
// Run one worker does a stage. Open prepares a Runner, which must not be copied afterwards.
type Runner[S any] struct {
	Team   team.Team
	Hashes Hashes
	// Trace, if not nil, gets the name of each part of a step at its end.
	Trace func(name string)

	solver *S
	rows   func(s *S, lo, hi int)     // the stage in progress, if over rows
	spans  []sleep.Span               // of the stage in progress
	onSpan func(s *S, at, lo, hi int) // if over spans with their number
	onWork func(s *S, worker, lo, hi int)
	test   func(s *S, lo, hi int) bool
	part   func(part int)
	found  atomic.Bool // by test

	// Methods of the runner as function values, bound once so that a stage allocates nothing.
	runRows, runSpans, runNumbered, runTests, runParts, runWork func(worker, lo, hi int)
}

// Open prepares r for the stages of a solver.
func (r *Runner[S]) Open(s *S) {
	r.solver = s
	r.runRows = func(_, lo, hi int) { r.rows(r.solver, lo, hi) }
	r.runSpans = func(_, lo, hi int) {
		for _, p := range r.spans[lo:hi] {
			r.rows(r.solver, p.Lo, p.Hi)
		}
	}
	r.runNumbered = func(_, lo, hi int) {
		for at := lo; at < hi; at++ {
			r.onSpan(r.solver, at, r.spans[at].Lo, r.spans[at].Hi)
		}
	}
	r.runWork = func(worker, lo, hi int) { r.onWork(r.solver, worker, lo, hi) }
	r.runTests = func(_, lo, hi int) {
		for _, p := range r.spans[lo:hi] {
			if r.test(r.solver, p.Lo, p.Hi) {
				r.found.Store(true)
			}
		}
	}
	r.runParts = func(_, lo, hi int) {
		for part := lo; part < hi; part++ {
			r.part(part)
		}
	}
}

// Run calls step, whose stages run on as many workers as that number of rows justifies, and at most that many. It fails only
// if the floating-point environment of a worker is altered.
func (r *Runner[S]) Run(workers, rows int, step func()) error {
	return r.Team.Run(min(workers, 1+rows/rowsPerWorker), step)
}

// Single reports whether one worker does the whole step.
func (r *Runner[S]) Single() bool { return r.Team.Workers() <= 1 }

// Unshared reports whether one worker does the whole step and nothing measures its stages, so that several may be one call.
func (r *Runner[S]) Unshared() bool { return r.Single() && pace.Watched == nil }

// End reports the end of a part of the step to Trace.
func (r *Runner[S]) End(name string) {
	if r.Trace != nil {
		r.Trace(name)
	}
}

// For runs a stage over rows or blocks in chunks of at least that size. A single worker runs it in one call.
func (r *Runner[S]) For(lo, hi, least int, run func(s *S, lo, hi int)) {
	pace.Name(run)
	r.rows = run
	r.Team.For(lo, hi, max(least, 1+(hi-lo-1)/(rowChunks*r.Team.Workers())), r.runRows)
}

// ForParts runs a stage over parts.
func (r *Runner[S]) ForParts(parts int, run func(s *S, lo, hi int)) {
	pace.Name(run)
	r.rows = run
	r.eachPart(parts, r.runRows)
}

// ForEach runs a stage over parts, one by one, since each takes long.
func (r *Runner[S]) ForEach(parts int, run func(s *S, lo, hi int)) {
	pace.Name(run)
	r.rows = run
	r.Team.For(0, parts, 1, r.runRows)
}

// ForAscending runs a stage over chunks that begin in ascending order.
func (r *Runner[S]) ForAscending(chunks int, run func(s *S, lo, hi int)) {
	pace.Name(run)
	r.rows = run
	r.Team.ForAscending(0, chunks, 1, r.runRows)
}

// ForWorkers runs a stage over parts, one by one in ascending order, which also gets the number of the worker, as team.Team.For has it.
func (r *Runner[S]) ForWorkers(parts int, run func(s *S, worker, lo, hi int)) {
	pace.Name(run)
	r.onWork = run
	r.Team.ForAscending(0, parts, 1, r.runWork)
}

// ForRegions runs a stage over regions, one by one: as many as there are workers, so that from stage to stage each worker most likely
// gets the same one.
func (r *Runner[S]) ForRegions(regions int, run func(s *S, lo, hi int)) {
	pace.Name(run)
	r.rows = run
	r.Team.For(0, regions, 1, r.runRows)
}

// EachPart calls run for each part. It has the form that broad.Phase asks for.
func (r *Runner[S]) EachPart(parts int, run func(part int)) {
	pace.Name(run)
	r.part = run
	r.eachPart(parts, r.runParts)
}

// ForSpans runs a stage over spans.
func (r *Runner[S]) ForSpans(spans []sleep.Span, run func(s *S, lo, hi int)) {
	pace.Name(run)
	r.rows, r.spans = run, spans
	r.eachPart(len(spans), r.runSpans)
}

// ForNumberedSpans runs a stage over spans, which also gets the number of the span.
func (r *Runner[S]) ForNumberedSpans(spans []sleep.Span, run func(s *S, at, lo, hi int)) {
	pace.Name(run)
	r.onSpan, r.spans = run, spans
	r.eachPart(len(spans), r.runNumbered)
}

// Any reports whether test does for any of the spans. It tests all of them.
func (r *Runner[S]) Any(spans []sleep.Span, test func(s *S, lo, hi int) bool) bool {
	pace.Name(test)
	r.test, r.spans = test, spans
	r.found.Store(false)
	r.eachPart(len(spans), r.runTests)
	return r.found.Load()
}

func (r *Runner[S]) eachPart(parts int, run func(worker, lo, hi int)) {
	r.Team.For(0, parts, max(1, parts/(partChunks*r.Team.Workers())), run)
}
