package physics3

import (
	"github.com/evertick/evertick/internal/rigid3"
	"github.com/evertick/evertick/internal/sleep"
	"github.com/evertick/evertick/internal/stage"
)

// solve moves the bodies. The contacts and the joints have colours by now.
func (s *solver) solve() {
	if s.isIdle() {
		s.sys.Hits = s.sys.Hits[:0]
		s.hashSolved()
		return
	}
	s.splitIslands()
	if s.splitRegions() {
		s.solveRegions()
	} else {
		s.solveBlocks()
	}
	s.stages.ForWorkers(s.sys.Groups(), (*solver).solveGroups)
	s.hashSolved()
}

// solveBlocks solves what is in no group, colour by colour.
func (s *solver) solveBlocks() {
	s.sys.LayOutBlocks()
	s.stages.ForParts((len(s.contacts)+pairChunk-1)/pairChunk, (*solver).fillBlocks)
	if !s.stages.Hashes.On && s.stages.Unshared() {
		s.sys.Solve(s.sys.RestRows()) // in one call
		return
	}
	s.ranges = stage.PlanRanges(s.ranges[:0], &s.sys.Colours.Start)
	s.jointRanges = stage.PlanRanges(s.jointRanges[:0], &s.sys.JointColours.Start)
	s.runSolveStages(s.sys.RestRows())
}

// leastGroupBytes bounds from below how small groups are made so that each worker has several.
const leastGroupBytes = 64 << 10

// splitIslands makes groups of islands, each of which one worker solves while it is in its cache, unless hashes of the sub-steps need all
// bodies at the same time. After a step without groups, some steps do not try: most likely one island is as large as ever.
func (s *solver) splitIslands() {
	most, least, workers := s.groupBytes, 1, s.stages.Team.Workers()
	if most == 0 {
		least = rigid3.GroupRows
		bytes := rigid3.GroupBytes(len(s.contacts), len(s.joints.order))
		if most = rigid3.MaxGroupBytes; workers > 1 {
			most = min(most, max(bytes/(4*workers), leastGroupBytes))
		}
		if bytes <= most {
			most = 0
		}
	}
	if s.untilGroups--; s.stages.Hashes.On || most == 0 || s.untilGroups > 0 {
		s.sys.NoGroups(s.sleep.Spans)
		return
	}
	s.sys.SplitIslands(s.sleep.Spans, most, least)
	if s.sys.Groups() == 0 && s.groupBytes == 0 {
		s.untilGroups = groupPause
	}
	s.sys.ReserveGroups(s.pool.Workers())
}

// groupPause is the number of steps after one in which no groups were found.
const groupPause = 16

func (s *solver) solveGroups(worker, lo, hi int) {
	for i := lo; i < hi; i++ {
		s.sys.SolveGroup(worker, i)
	}
}

// maxRescale bounds how much greater impulses become, since a much longer step has other contacts and loads.
const maxRescale = 64

// rescaleImpulses prepares the impulses of the last step for sub-steps of the length of this one, since a force makes an impulse in
// proportion to that length.
func (s *solver) rescaleImpulses() {
	was, rate := s.subStepRate, float32(s.sys.SubSteps)/s.dt
	s.subStepRate = rate
	if was == rate || was == 0 {
		return
	}
	ratio := min(was/rate, maxRescale)
	for i := range s.contacts {
		s.contacts[i].Rescale(ratio)
	}
	for i := range s.joints.solved {
		s.joints.solved[i].Kept.Rescale(ratio)
	}
}

// fillBlocks puts the contacts of chunks [lo, hi) into blocks.
func (s *solver) fillBlocks(lo, hi int) {
	s.sys.FillBlocks(lo*pairChunk, min(hi*pairChunk, len(s.contacts)))
}

// runSolveStages runs the stages of the solver for the bodies of some rows, in the order of rigid3.System.Step.
func (s *solver) runSolveStages(rows []sleep.Span) {
	blocks, joints := len(s.sys.Blocks), len(s.sys.JointBlocks)
	s.stages.ForSpans(rows, (*solver).prepareBodies)
	trees := len(s.sys.Trees)
	s.stages.ForParts(trees, (*solver).stiffenTrees)
	s.stages.For(0, joints, stage.BlockChunk, (*solver).prepareJoints)
	s.stages.For(0, blocks, stage.BlockChunk, (*solver).prepareContacts)
	bounces := s.sys.HasRestitution(0, blocks)
	for s.sub = range s.sys.SubSteps {
		s.stages.ForSpans(rows, (*solver).integrateVelocities)
		if s.sub == 0 {
			s.stages.ForRanges(s.jointRanges, (*solver).warmStartJoints)
			s.stages.ForRanges(s.ranges, (*solver).warmStart)
		}
		s.stages.ForRanges(s.jointRanges, (*solver).solveJoints)
		s.stages.ForParts(trees, (*solver).solveTrees)
		s.stages.ForRanges(s.ranges, (*solver).solveContacts)
		s.stages.ForSpans(rows, (*solver).integratePositions)
		s.stages.ForRanges(s.jointRanges, (*solver).relaxJoints)
		s.stages.ForParts(trees, (*solver).relaxTrees)
		s.stages.ForRanges(s.ranges, (*solver).relaxContacts)
		if bounces {
			s.stages.ForRanges(s.ranges, (*solver).applyRestitution)
		}
		s.hashStates()
	}
	s.stages.For(0, joints, stage.BlockChunk, (*solver).storeJointImpulses)
	s.stages.For(0, blocks, stage.BlockChunk, (*solver).storeImpulses)
	s.stages.ForSpans(rows, (*solver).finalizeStates)
}

func (s *solver) prepareBodies(lo, hi int)       { s.sys.PrepareBodies(lo, hi) }
func (s *solver) prepareContacts(lo, hi int)     { s.sys.PrepareContacts(lo, hi) }
func (s *solver) integrateVelocities(lo, hi int) { s.sys.IntegrateVelocities(s.sub, lo, hi) }
func (s *solver) warmStart(lo, hi int)           { s.sys.WarmStart(lo, hi) }
func (s *solver) solveContacts(lo, hi int)       { s.sys.SolveContacts(lo, hi) }
func (s *solver) integratePositions(lo, hi int)  { s.sys.IntegratePositions(lo, hi) }
func (s *solver) relaxContacts(lo, hi int)       { s.sys.RelaxContacts(lo, hi) }
func (s *solver) applyRestitution(lo, hi int)    { s.sys.ApplyRestitution(lo, hi) }
func (s *solver) storeImpulses(lo, hi int)       { s.sys.StoreImpulses(lo, hi) }

func (s *solver) prepareJoints(lo, hi int)   { s.sys.PrepareJoints(lo, hi) }
func (s *solver) warmStartJoints(lo, hi int) { s.sys.WarmStartJoints(lo, hi) }
func (s *solver) solveJoints(lo, hi int)     { s.sys.SolveJoints(lo, hi) }
func (s *solver) relaxJoints(lo, hi int)     { s.sys.RelaxJoints(lo, hi) }
func (s *solver) stiffenTrees(lo, hi int)    { s.sys.StiffenTrees(lo, hi) }
func (s *solver) solveTrees(lo, hi int)      { s.sys.SolveTrees(lo, hi, true) }
func (s *solver) relaxTrees(lo, hi int)      { s.sys.SolveTrees(lo, hi, false) }

func (s *solver) storeJointImpulses(lo, hi int) { s.sys.StoreJointImpulses(lo, hi) }

func (s *solver) finalizeStates(lo, hi int) { s.sys.FinalizeBodies(lo, hi) }

// prepareSystem points the system to the columns, shapes, joints and contacts of this step.
func (s *solver) prepareSystem(contacts []rigid3.Contact) *rigid3.System {
	c, n, sys := s.cols, s.rows(), &s.sys
	b := &sys.Bodies
	b.Poses, b.Principal, b.Locks = s.poses[:n], s.principal[:n], c.Locks[:n]
	b.V, b.W = [3][]float32{c.VX[:n], c.VY[:n], c.VZ[:n]}, [3][]float32{c.WX[:n], c.WY[:n], c.WZ[:n]}
	b.InvMass, b.InvInertia = s.inverseMasses(n)
	b.Force, b.Torque = [3][]float32{c.ForceX[:n], c.ForceY[:n], c.ForceZ[:n]}, [3][]float32{c.TorqueX[:n], c.TorqueY[:n], c.TorqueZ[:n]}
	b.GravityScale, b.LinearDamping, b.AngularDamping = c.GravityScale[:n], c.LinearDamping[:n], c.AngularDamping[:n]
	sys.States = sys.States[:n]
	sys.BodyOf = s.shapes.filters.Body
	sys.Materials, sys.Mixed = s.mixMaterials()
	s.joints.updateOrder()
	sys.Joints, sys.JointOrder, sys.JointsVersion = s.joints.solved, s.joints.order, s.joints.version+s.sleep.Version
	sys.Contacts, sys.Manifolds = contacts, s.manifolds
	sys.Hits = growContacts(sys.Hits, len(contacts), s.minContactCapacity())
	return sys
}
