package physics

import (
	"slices"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/pace"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/internal/sleep"
)

// Step runs the stages of package rigid in order. It fails only if the floating-point environment of a worker
// is altered.
func (s *solver) Step(dt float32) error {
	s.dt = dt
	return s.team.Run(s.workersForStep(), s.wholeStep)
}

// step is the part of Step that the leader of the team runs.
func (s *solver) step() {
	s.stageHashes = s.stageHashes[:0]
	s.events.clear()
	s.sleep.UpdateActive()
	s.disableInvalid(len(s.cols.floatColumns()))
	s.updateBounds()
	s.updateMouseTargets()
	s.endStage("bounds")
	s.removeStaleContacts()
	s.updateContacts()
	s.solve()
	s.endStage("solve")
	s.solveContinuous(s.dt)
	s.finalizeBodies()
	s.reportPassedSensors()
	s.disableInvalid(motionColumns)
	s.checkLoads()
	s.trySleep(s.dt)
	s.events.sort()
	s.endStage("finalize")
	s.steps++
}

// rowChunk and blockChunk are the least numbers of rows and of blocks of a chunk: about a microsecond.
const (
	rowChunk   = 512
	blockChunk = 16
)

// A worker gets few chunks of a stage, since to claim one takes a tenth of a microsecond: rowChunks if it consists
// of rows or blocks that cost about the same, partChunks if it consists of parts that do not. No result depends on
// where such a chunk begins; what is merged in order is merged by spans or parts.
const (
	rowChunks  = 3
	partChunks = 8
)

// rowsPerWorker is the number of bodies, or shapes, that justifies one more worker: with fewer, the step would be
// over almost before that worker starts.
const rowsPerWorker = 1024

// workersForStep returns the number of workers for a step, given what was active in the previous step.
func (s *solver) workersForStep() int {
	return min(s.pool.Workers(), 1+max(sleep.RowsOf(s.sleep.Spans), sleep.RowsOf(s.sleep.Shapes))/rowsPerWorker)
}

// singleWorker reports whether one worker does the whole step.
func (s *solver) singleWorker() bool { return s.team.Workers() <= 1 }

// parallelFor runs a stage over rows or blocks on all workers, in chunks of at least that size. A single worker runs it
// in one call.
func (s *solver) parallelFor(lo, hi, least int, run func(s *solver, lo, hi int)) {
	pace.Name(run)
	s.stage = run
	s.team.For(lo, hi, max(least, 1+(hi-lo-1)/(rowChunks*s.team.Workers())), s.stageJob)
}

// parallelForParts runs a stage over parts on all workers.
func (s *solver) parallelForParts(parts int, run func(s *solver, lo, hi int)) {
	pace.Name(run)
	s.stage = run
	s.team.For(0, parts, max(1, parts/(partChunks*s.team.Workers())), s.stageJob)
}

// parallelForAscending runs a stage over chunks that begin in ascending order.
func (s *solver) parallelForAscending(chunks int, run func(s *solver, lo, hi int)) {
	pace.Name(run)
	s.stage = run
	s.team.ForAscending(0, chunks, 1, s.stageJob)
}

// runStage runs the stage in progress.
func (s *solver) runStage(_, lo, hi int) { s.stage(s, lo, hi) }

// spanTask is a stage over spans.
type spanTask struct {
	run   func(s *solver, at, lo, hi int)
	spans []sleep.Span
}

// parallelForSpans runs a stage over spans on all workers. The stage also gets the number of the span.
func (s *solver) parallelForSpans(spans []sleep.Span, run func(s *solver, at, lo, hi int)) {
	pace.Name(run)
	s.spanStage = spanTask{run, spans}
	s.parallelForParts(len(spans), (*solver).runSpans)
}

func (s *solver) runSpans(lo, hi int) {
	t := &s.spanStage
	for at := lo; at < hi; at++ {
		t.run(s, at, t.spans[at].Lo, t.spans[at].Hi)
	}
}

// endStage reports the end of a stage to World.Trace.
func (s *solver) endStage(stage string) {
	if s.onStage != nil {
		s.onStage(stage)
	}
}

// updateBounds computes the centres of mass and the bounding boxes of the shapes.
func (s *solver) updateBounds() {
	s.centre.Cos, s.centre.Sin = s.cols.Cos, s.cols.Sin
	rows, shapes := s.sleep.BoundsSpans(len(s.shapes.shape))
	s.parallelForSpans(rows, (*solver).updateCentres)
	n := len(s.shapes.shape)
	for _, b := range [...]*[]float32{&s.boxes.MinX, &s.boxes.MinY, &s.boxes.MaxX, &s.boxes.MaxY} {
		*b = slices.Grow((*b)[:0], n)[:n]
	}
	s.parallelForSpans(shapes, (*solver).updateShapeBounds)
}

func (s *solver) updateCentres(_, lo, hi int) {
	o := s.origins(len(s.centre.X))
	o.UpdateCentresOfMass(s.level, &s.centre, lo, hi)
}

// origins returns the origins of the first n rows.
func (s *solver) origins(n int) rigid.Origins {
	c := s.cols
	return rigid.Origins{X: c.X[:n], Y: c.Y[:n], CentreX: c.CentreX[:n], CentreY: c.CentreY[:n]}
}

func (s *solver) updateShapeBounds(_, lo, hi int) { s.computeBounds(&s.boxes, lo, hi) }

func (s *solver) computeBounds(b *broad.Boxes, lo, hi int) {
	const margin = rigid.SpeculativeDistance / 2 // each of two shapes adds its half
	rows := broad.Boxes{MinX: b.MinX[lo:hi], MinY: b.MinY[lo:hi], MaxX: b.MaxX[lo:hi], MaxY: b.MaxY[lo:hi]}
	rigid.Bounds(s.level, s.shapes.shape[lo:hi], s.shapes.filters.Body[lo:hi], &s.centre, margin, &rows)
}

// finalizeBodies writes positions back, reports which bodies moved and which contacts were hit, and clears the
// forces.
func (s *solver) finalizeBodies() {
	n := s.rows
	s.events.Moved = slices.Grow(s.events.Moved[:0], n)[:n]
	s.movedCounts = buffer.Resized(s.movedCounts, len(s.sleep.Spans))
	s.parallelForSpans(s.sleep.Spans, (*solver).finalizeRows)
	moved := 0
	for at, rows := range s.sleep.Spans {
		moved += copy(s.events.Moved[moved:], s.events.Moved[rows.Lo:][:s.movedCounts[at]])
	}
	s.events.Moved = s.events.Moved[:moved]
	s.parallelForParts(len(s.contactChunks), (*solver).collectHits)
	for k := range s.contactChunks {
		for _, i := range s.contactChunks[k].hits {
			s.events.hit(s, int(i))
		}
	}
}

// collectHits lists the contacts of chunks [lo, hi) that were hit.
func (s *solver) collectHits(lo, hi int) {
	for chunk := lo; chunk < hi; chunk++ {
		from := chunk * pairChunk
		list := s.contactChunks[chunk].hits[:0]
		for i := range s.sys.Hits[from:min(from+pairChunk, len(s.sys.Hits))] {
			if h := &s.sys.Hits[from+i]; h.Speed >= s.tuning.HitSpeed && h.Impulse > 0 {
				list = append(list, uint32(from+i))
			}
		}
		s.contactChunks[chunk].hits = list
	}
}

func (s *solver) finalizeRows(at, lo, hi int) {
	c, o := s.cols, s.origins(s.rows)
	s.movedCounts[at] = o.UpdateOrigins(s.level, s.sys.States, &s.sys.Poses, lo, hi, s.events.Moved[lo:hi])
	clear(c.ForceX[lo:hi])
	clear(c.ForceY[lo:hi])
	clear(c.Torque[lo:hi])
}
