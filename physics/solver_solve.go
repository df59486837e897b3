package physics

import (
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/internal/stage"
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
	if s.splitRegions() {
		s.solveRegions()
		return
	}
	sys.LayOutBlocks()
	s.stages.ForParts((len(s.contacts)+pairChunk-1)/pairChunk, (*solver).fillBlocks)
	if !s.stages.Hashes.On && s.stages.Unshared() && s.lockedBodies == 0 && len(s.materialPairs) == 0 && s.sleep.AllActive() {
		sys.Solve(s.level)
		return
	}
	s.contactRanges = stage.PlanRanges(s.contactRanges[:0], &sys.Colours.Start)
	s.jointRanges = stage.PlanRanges(s.jointRanges[:0], &sys.JointColours.Start)
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

// runSolveStages runs the stages of the solver.
func (s *solver) runSolveStages() {
	blocks, joints := len(s.sys.Blocks), len(s.sys.JointBlocks)
	s.stages.ForSpans(s.sleep.Spans, (*solver).loadStates)
	s.stages.For(0, joints, stage.BlockChunk, (*solver).prepareJoints)
	s.bounces.Store(false)
	s.stages.For(0, blocks, stage.BlockChunk, (*solver).prepareContacts)
	for s.sub = range s.subSteps() {
		s.stages.ForSpans(s.sleep.Spans, (*solver).integrateVelocities)
		if s.sub == 0 {
			s.stages.ForRanges(s.jointRanges, (*solver).warmStartJoints)
			s.stages.ForRanges(s.contactRanges, (*solver).warmStartContacts)
		}
		s.stages.ForRanges(s.jointRanges, (*solver).solveJoints)
		s.stages.ForParts(len(s.sys.Trees), (*solver).solveTrees)
		s.stages.ForRanges(s.contactRanges, (*solver).solveContacts)
		s.stages.ForSpans(s.sleep.Spans, (*solver).integratePositions)
		s.stages.ForRanges(s.jointRanges, (*solver).relaxJoints)
		s.stages.ForParts(len(s.sys.Trees), (*solver).relaxTrees)
		s.stages.ForRanges(s.contactRanges, (*solver).relaxContacts)
		s.hashStates(s.sub)
	}
	if s.bounces.Load() { // else a barrier for each colour would cost more than the stage
		s.stages.ForRanges(s.contactRanges, (*solver).applyRestitution)
	}
	s.stages.For(0, joints, stage.BlockChunk, (*solver).storeJointImpulses)
	s.stages.For(0, blocks, stage.BlockChunk, (*solver).storeContactImpulses)
	s.stages.ForSpans(s.sleep.Spans, (*solver).storeStates)
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
func (s *solver) solveTrees(lo, hi int)         { s.sys.SolveTrees(true, lo, hi) }
func (s *solver) relaxTrees(lo, hi int)         { s.sys.SolveTrees(false, lo, hi) }
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
