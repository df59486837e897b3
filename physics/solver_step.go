package physics

import (
	"slices"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/internal/sleep"
)

// Step runs the stages of package rigid in order. It fails only if the floating-point environment of a worker
// is altered.
func (s *solver) Step(dt float32) error {
	s.dt = dt
	if s.isEmpty() {
		s.stepEmpty()
		return nil
	}
	rows := max(sleep.RowsOf(s.sleep.Spans), sleep.RowsOf(s.sleep.Shapes)) // that were active in the last step
	return s.stages.Run(s.pool.Workers(), rows, s.wholeStep)
}

// isEmpty reports whether the world has never had a body, and nothing observes stages. Every Sim has such a world besides its bodies in space.
func (s *solver) isEmpty() bool { return s.rows == 0 && !s.stages.Hashes.On && s.stages.Trace == nil }

// stepEmpty does what a step does to the state of an empty world. The stages would do nothing else, but in a game that waits for its tick their code is
// not in the caches, and reading it takes ten times as long as running it.
func (s *solver) stepEmpty() {
	s.events.clear()
	s.rescaleImpulses()
	s.steps++
}

// step is the part of Step that the leader of the team runs.
func (s *solver) step() {
	s.stages.Hashes.Clear()
	s.events.clear()
	s.sleep.UpdateActive()
	s.disableInvalid(len(s.cols.floatColumns()))
	s.updateBounds()
	s.updateMouseTargets()
	s.stages.End("bounds")
	s.removeStaleContacts()
	s.updateContacts()
	s.solve()
	s.stages.End("solve")
	s.solveContinuous(s.dt)
	s.keepForces()
	s.finalizeBodies()
	s.reportPassedSensors()
	s.disableInvalid(motionColumns)
	s.checkLoads()
	s.trySleep(s.dt)
	s.events.sort()
	s.stages.End("finalize")
	s.steps++
}

// updateBounds computes the centres of mass and the bounding boxes of the shapes.
func (s *solver) updateBounds() {
	s.centre.Cos, s.centre.Sin = s.cols.Cos, s.cols.Sin
	rows, shapes := s.sleep.BoundsSpans(len(s.shapes.shape))
	s.stages.ForSpans(rows, (*solver).updateCentres)
	n := len(s.shapes.shape)
	for _, b := range [...]*[]float32{&s.boxes.MinX, &s.boxes.MinY, &s.boxes.MaxX, &s.boxes.MaxY} {
		*b = slices.Grow((*b)[:0], n)[:n]
	}
	s.stages.ForSpans(shapes, (*solver).updateShapeBounds)
}

func (s *solver) updateCentres(lo, hi int) {
	o := s.origins(len(s.centre.X))
	o.UpdateCentresOfMass(s.level, &s.centre, lo, hi)
}

// origins returns the origins of the first n rows.
func (s *solver) origins(n int) rigid.Origins {
	c := s.cols
	return rigid.Origins{X: c.X[:n], Y: c.Y[:n], CentreX: c.CentreX[:n], CentreY: c.CentreY[:n]}
}

func (s *solver) updateShapeBounds(lo, hi int) { s.computeBounds(&s.boxes, lo, hi) }

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
	s.stages.ForNumberedSpans(s.sleep.Spans, (*solver).finalizeRows)
	moved := 0
	for at, rows := range s.sleep.Spans {
		moved += copy(s.events.Moved[moved:], s.events.Moved[rows.Lo:][:s.movedCounts[at]])
	}
	s.events.Moved = s.events.Moved[:moved]
	s.stages.ForParts(len(s.contactChunks), (*solver).collectHits)
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
