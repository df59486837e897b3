package physics

import (
	"github.com/evertick/evertick/internal/graph"
	"github.com/evertick/evertick/internal/pace"
	"github.com/evertick/evertick/internal/rigid"
)

// solve moves the bodies. The contacts have colours by now. The order of the stages is that of rigid.System.Step; all
// workers take part if there is enough to do.
func (s *solver) solve() {
	if s.isIdle() {
		s.sys.Hits = s.sys.Hits[:0]
		s.hashSolved()
		return
	}
	sys := &s.sys
	sys.LayOutBlocks()
	s.parallelForParts((len(s.contacts)+pairChunk-1)/pairChunk, (*solver).fillBlocks)
	if !s.hashStages && pace.Watched == nil && s.singleWorker() && s.lockedBodies == 0 && len(s.materialPairs) == 0 && s.sleep.AllActive() {
		sys.Solve(s.level)
		return
	}
	s.contactRanges = planRanges(s.contactRanges[:0], &sys.Colours.Start)
	s.jointRanges = planRanges(s.jointRanges[:0], &sys.JointColours.Start)
	s.runSolveStages()
	s.hashSolved()
}

// maxRescale bounds how much greater impulses become, since a much longer step has other contacts and loads.
const maxRescale = 64

// rescaleImpulses prepares the impulses of the last step, of all contacts and joints, for sub-steps of the length of this one,
// and reports whether they have changed. A force makes an impulse in proportion to that length.
func (s *solver) rescaleImpulses() bool {
	was, rate := s.subStepRate, s.sys.Params.SubStepRate(s.dt)
	s.subStepRate = rate
	if was == rate || was == 0 {
		return false
	}
	ratio := min(was/rate, maxRescale)
	for i := range s.contacts {
		c := &s.contacts[i]
		c.RollingImpulse *= ratio
		for k := range c.Points {
			c.Points[k].Normal *= ratio
			c.Points[k].Tangent *= ratio
		}
	}
	for i := range s.joints.solved {
		j := &s.joints.solved[i]
		j.PointImpulse.X *= ratio
		j.PointImpulse.Y *= ratio
		for _, a := range [...]*rigid.AxisImpulse{&j.LinearImpulse, &j.AngularImpulse} {
			*a = rigid.AxisImpulse{Spring: a.Spring * ratio, Motor: a.Motor * ratio, Lower: a.Lower * ratio, Upper: a.Upper * ratio}
		}
	}
	return true
}

// fillBlocks puts the contacts of chunks [lo, hi) into blocks.
func (s *solver) fillBlocks(lo, hi int) {
	s.sys.FillBlocks(lo*pairChunk, min(hi*pairChunk, len(s.contacts)))
}

// blockRange is a range of blocks, which workers share or not. All blocks of a range are done before the next
// range begins.
type blockRange struct {
	lo, hi int
	shared bool
}

// planRanges appends a range for each colour whose blocks suffice for several workers, and one range for each
// run of smaller colours.
func planRanges(passes []blockRange, start *[graph.NumColours + 1]int) []blockRange {
	for c := range graph.NumColours {
		lo, hi := start[c], start[c+1]
		shared := c != graph.Overflow && hi-lo >= 2*blockChunk
		last := len(passes) - 1
		switch {
		case lo == hi:
		case !shared && last >= 0 && !passes[last].shared:
			passes[last].hi = hi
		default:
			passes = append(passes, blockRange{lo, hi, shared})
		}
	}
	return passes
}

// runSolveStages runs the stages of the solver.
func (s *solver) runSolveStages() {
	blocks, joints := len(s.sys.Blocks), len(s.sys.JointBlocks)
	s.eachSpan((*solver).loadStates)
	s.parallelFor(0, joints, blockChunk, (*solver).prepareJoints)
	s.bounces.Store(false)
	s.parallelFor(0, blocks, blockChunk, (*solver).prepareContacts)
	for s.sub = range s.subSteps() {
		s.eachSpan((*solver).integrateVelocities)
		if s.sub == 0 {
			s.eachRange(s.jointRanges, (*solver).warmStartJoints)
			s.eachRange(s.contactRanges, (*solver).warmStartContacts)
		}
		s.eachRange(s.jointRanges, (*solver).solveJoints)
		s.eachRange(s.contactRanges, (*solver).solveContacts)
		s.eachSpan((*solver).integratePositions)
		s.eachRange(s.jointRanges, (*solver).relaxJoints)
		s.eachRange(s.contactRanges, (*solver).relaxContacts)
		if s.hashStages {
			s.hashStates(s.sub)
		}
	}
	if s.bounces.Load() { // else a barrier for each colour would cost more than the stage
		s.eachRange(s.contactRanges, (*solver).applyRestitution)
	}
	s.parallelFor(0, joints, blockChunk, (*solver).storeJointImpulses)
	s.parallelFor(0, blocks, blockChunk, (*solver).storeContactImpulses)
	s.eachSpan((*solver).storeStates)
}

// Stages over rows of bodies.

func (s *solver) loadStates(lo, hi int) { s.sys.LoadStates(s.level, lo, hi) }

func (s *solver) integrateVelocities(lo, hi int) {
	s.sys.IntegrateVelocities(s.level, s.sub, lo, hi)
	s.applyMotionLocks(lo, hi)
}

func (s *solver) integratePositions(lo, hi int) {
	s.applyMotionLocks(lo, hi)
	s.sys.IntegratePositions(s.level, lo, hi)
}

func (s *solver) storeStates(lo, hi int) {
	s.applyMotionLocks(lo, hi)
	s.sys.StoreStates(s.level, lo, hi)
}

// Stages over blocks of joints.

func (s *solver) prepareJoints(lo, hi int)      { s.sys.PrepareJoints(s.level, lo, hi) }
func (s *solver) warmStartJoints(lo, hi int)    { s.sys.WarmStartJoints(s.level, lo, hi) }
func (s *solver) solveJoints(lo, hi int)        { s.sys.SolveJoints(s.level, true, lo, hi) }
func (s *solver) relaxJoints(lo, hi int)        { s.sys.SolveJoints(s.level, false, lo, hi) }
func (s *solver) storeJointImpulses(lo, hi int) { s.sys.StoreJointImpulses(s.level, lo, hi) }

// Stages over blocks of contacts.

func (s *solver) prepareContacts(lo, hi int) {
	s.sys.PrepareContacts(s.level, lo, hi)
	s.applyMaterialPairs(lo, hi)
	if s.sys.HasRestitution(lo, hi) {
		s.bounces.Store(true)
	}
}

func (s *solver) warmStartContacts(lo, hi int)    { s.sys.WarmStartContacts(s.level, lo, hi) }
func (s *solver) solveContacts(lo, hi int)        { s.sys.SolveContacts(s.level, true, lo, hi) }
func (s *solver) relaxContacts(lo, hi int)        { s.sys.SolveContacts(s.level, false, lo, hi) }
func (s *solver) applyRestitution(lo, hi int)     { s.sys.ApplyRestitution(s.level, lo, hi) }
func (s *solver) storeContactImpulses(lo, hi int) { s.sys.StoreContactImpulses(s.level, lo, hi) }

// eachSpan runs a stage over the spans of active bodies.
func (s *solver) eachSpan(run func(s *solver, lo, hi int)) {
	pace.Name(run)
	s.spanRun = run
	s.parallelForSpans(s.sleep.Spans, func(s *solver, _, lo, hi int) { s.spanRun(s, lo, hi) })
}

func (s *solver) eachRange(passes []blockRange, run func(s *solver, lo, hi int)) {
	for _, p := range passes {
		least := blockChunk
		if !p.shared {
			least = p.hi - p.lo
		}
		s.parallelFor(p.lo, p.hi, least, run)
	}
}

func (s *solver) subSteps() int { return s.sys.Params.SubSteps }

// prepareSystem points the system to the columns, shapes, joints and contacts of this step.
func (s *solver) prepareSystem(contacts []rigid.Contact, bases []rigid.BaseManifold, marks []uint8) *rigid.System {
	c, n, sys := s.cols, s.rows, &s.sys
	b := &sys.Bodies
	b.VX, b.VY, b.W = c.VX[:n], c.VY[:n], c.W[:n]
	b.InvMass, b.InvInertia = s.inverseMasses(n)
	b.ForceX, b.ForceY, b.Torque = c.ForceX[:n], c.ForceY[:n], c.Torque[:n]
	b.GravityScale, b.LinearDamping, b.AngularDamping = c.GravityScale[:n], c.LinearDamping[:n], c.AngularDamping[:n]
	b.FreeX, b.FreeY, b.FreeW = b.FreeX[:n], b.FreeY[:n], b.FreeW[:n]
	sys.States = sys.States[:n]
	sys.Poses = rigid.Poses{X: s.centre.X[:n], Y: s.centre.Y[:n], Cos: c.Cos[:n], Sin: c.Sin[:n]}
	sys.Angle = c.Angle[:n]
	sys.BodyOf, sys.Materials = s.shapes.filters.Body, s.shapes.Materials
	sys.Joints, sys.JointsVersion = s.joints.solved, s.joints.version+s.sleep.Version
	sys.Contacts, sys.Manifolds, sys.Bases, sys.BaseMarks = contacts, s.manifolds, bases, marks
	sys.Hits = growContacts(sys.Hits, len(contacts), s.minContactCapacity())
	return sys
}
