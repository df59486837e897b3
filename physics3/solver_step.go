package physics3

import (
	"slices"

	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/rigid3"
	"github.com/evertick/evertick/internal/sleep"
)

// run does a step. It fails only if the floating-point environment of a worker is altered.
func (s *solver) run(dt float32) error {
	s.dt = dt
	return s.stages.Run(s.pool.Workers(), s.work(), s.wholeStep)
}

// surfaceRows is the number of rows that take as long as a pair with a surface.
const surfaceRows = 4

// work returns how much there was to do in the last step, as a number of rows: those that were active, and as many more as their joints and their
// pairs with surfaces take.
func (s *solver) work() int {
	rows := max(sleep.RowsOf(s.sleep.Spans), sleep.RowsOf(s.sleep.Shapes))
	joints := min(len(s.joints.order), 4*rows) // of all bodies, of which others may be asleep
	return rows + joints + surfaceRows*len(s.surfaces.pairs.A)
}

// step is the part of run that the leader of the team runs.
func (s *solver) step() {
	s.stages.Hashes.Clear()
	s.events.clear()
	s.sleep.UpdateActive()
	s.normalizeRotations()
	s.disableInvalid(floatColumns)
	s.updateBounds()
	s.updateMouseTargets()
	s.stages.End("bounds")
	s.removeStaleContacts()
	s.updateContacts()
	s.solve()
	s.stages.End("solve")
	s.solveContinuous()
	s.keepForces()
	s.finalizeBodies()
	s.disableInvalid(motionColumns)
	s.checkLoads()
	s.trySleep(s.dt)
	s.reportPassedSensors()
	s.events.sort()
	s.stages.End("finalize")
	s.steps++
}

// unitTolerance is by how much the square of the length of a rotation may differ from one before a step normalizes it.
const unitTolerance = 0x1p-20

func rotationInRange(q rigid3.Quat) bool {
	return check.InRange(q.X) && check.InRange(q.Y) && check.InRange(q.Z) && check.InRange(q.W)
}

// normalizeRotations gives rotations that a program wrote the length one.
func (s *solver) normalizeRotations() { s.stages.ForSpans(s.sleep.Spans, (*solver).normalizeRows) }

func (s *solver) normalizeRows(lo, hi int) {
	c := s.cols
	x, y, z, w := c.QX[lo:hi], c.QY[lo:hi], c.QZ[lo:hi], c.QW[lo:hi]
	for i := range x {
		square := (float32(x[i]*x[i]) + float32(y[i]*y[i])) + (float32(z[i]*z[i]) + float32(w[i]*w[i]))
		if d := square - 1; d > -unitTolerance && d < unitTolerance || square == 0 && c.Alive[lo+i] == 0 {
			continue
		}
		if q := s.rotation(lo + i); rotationInRange(q) {
			s.setRotation(lo+i, normalized(q))
		}
	}
}

// normalized returns a rotation that is in range with length one, and the unit rotation for none.
func normalized(q rigid3.Quat) rigid3.Quat {
	if q == (rigid3.Quat{}) {
		return rigid3.Identity
	}
	return unitRotation([4]float32{q.X, q.Y, q.Z, q.W})
}

// updateBounds computes the centres of mass and the bounding boxes of the shapes.
func (s *solver) updateBounds() {
	rows, shapes := s.sleep.BoundsSpans(len(s.shapes.shape))
	s.stages.ForSpans(rows, (*solver).updatePoses)
	s.boxes.Resize(len(s.shapes.shape))
	s.stages.ForSpans(shapes, (*solver).updateShapeBounds)
}

func (s *solver) updatePoses(lo, hi int) {
	for i := lo; i < hi; i++ {
		s.poses[i] = s.pose(i)
	}
}

func (s *solver) updateShapeBounds(lo, hi int) {
	const margin = rigid3.SpeculativeDistance / 2 // each of two shapes adds its half
	boxes := s.boxes.Range(lo, hi)
	rigid3.Bounds(s.level, s.shapes.shape[lo:hi], &s.contents.Hulls, s.shapes.filters.Body[lo:hi], s.poses, margin, &boxes)
}

// finalizeBodies writes positions back, reports which bodies moved and which contacts were hit, and clears the forces.
func (s *solver) finalizeBodies() {
	n := s.rows()
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
			s.reportHit(int(i))
		}
	}
	s.reportSurfaceHits()
}

// collectHits lists the contacts of chunks [lo, hi) that were hit.
func (s *solver) collectHits(lo, hi int) {
	for chunk := lo; chunk < hi; chunk++ {
		from := chunk * pairChunk
		list := s.contactChunks[chunk].hits[:0]
		n := min(s.convex, len(s.sys.Hits))
		for i := range s.sys.Hits[min(from, n):min(from+pairChunk, n)] {
			if h := &s.sys.Hits[from+i]; h.Speed >= s.tuning.HitSpeed && h.Impulse > 0 {
				list = append(list, uint32(from+i))
			}
		}
		s.contactChunks[chunk].hits = list
	}
}

// finalizeRows writes the poses of bodies [lo, hi) back. What has not moved keeps its bits.
func (s *solver) finalizeRows(at, lo, hi int) {
	c, moved := s.cols, s.events.Moved[lo:lo]
	for i := lo; i < hi; i++ {
		st := &s.sys.States[i]
		translated, rotated := st.D != (rigid3.Vec{}), st.Q != rigid3.Identity
		if !translated && !rotated {
			continue
		}
		p := &s.poses[i]
		if rotated {
			s.setRotation(i, p.Q)
		}
		before := s.position(i)
		now := p.P.Sub(p.Q.Rotate(s.centre(i)))
		s.setPosition(i, now)
		if rotated || now != before {
			moved = append(moved, uint32(i))
		}
	}
	s.movedCounts[at] = len(moved)
	for _, column := range [...][]float32{c.ForceX, c.ForceY, c.ForceZ, c.TorqueX, c.TorqueY, c.TorqueZ} {
		clear(column[lo:hi])
	}
}
