package physics

import (
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/native/rigid"
)

// advance moves the bodies, once contacts have colours: the order of rigid.System.Step, by
// all workers if there is enough to do.
func (s *solver) advance() {
	s.rate = s.sys.Params.SubStepRate(s.dt)
	if s.idle() {
		s.sys.Hits = s.sys.Hits[:0]
		s.traceEnd()
		return
	}
	sys := &s.sys
	sys.LayOutBlocks()
	s.over(0, len(s.contacts), pairChunk, (*solver).fillRows)
	if !s.traced && s.alone() && s.locked == 0 && s.allActive() {
		sys.Solve(s.level)
		return
	}
	s.passes = planPasses(s.passes[:0], &sys.Colours.Start)
	s.jointPasses = planPasses(s.jointPasses[:0], &sys.JointColours.Start)
	n := len(s.passes) + len(s.jointPasses)
	s.team.Parallel(8+2*n+s.subSteps()*(3+2*n), s.stepJob)
	s.traceEnd()
}

func (s *solver) fillRows(lo, hi int) { s.sys.FillBlocks(lo, hi) }

// pass is a range of blocks that is done before the next one begins.
type pass struct{ lo, hi, size int }

// planPasses appends the colours: those with blocks for several workers in chunks, and
// the others, as far as they follow each other, in one.
func planPasses(passes []pass, start *[rigid.NumColours + 1]int) []pass {
	joined := false
	for c := range rigid.NumColours {
		lo, hi := start[c], start[c+1]
		shared := c != rigid.Overflow && hi-lo >= 2*blockChunk
		switch {
		case lo == hi:
		case shared:
			passes = append(passes, pass{lo, hi, blockChunk})
			joined = false
		case joined:
			p := &passes[len(passes)-1]
			p.hi, p.size = hi, hi-p.lo
		default:
			passes = append(passes, pass{lo, hi, hi - lo})
			joined = true
		}
	}
	return passes
}

// stepPart is what each worker does of a step.
func (s *solver) stepPart(w *native.Worker) {
	sys, level := &s.sys, s.level
	blocks, joints := len(sys.Blocks), len(sys.JointBlocks)
	s.eachSpan(w, func(lo, hi int) { sys.LoadStates(level, lo, hi) })
	w.For(0, joints, blockChunk, func(lo, hi int) { sys.PrepareJoints(level, lo, hi) })
	w.For(0, blocks, blockChunk, func(lo, hi int) { sys.PrepareContacts(level, lo, hi) })
	for sub := range s.subSteps() {
		s.eachSpan(w, func(lo, hi int) {
			sys.IntegrateVelocities(level, sub, lo, hi)
			s.holdLocked(lo, hi)
		})
		if sub == 0 {
			eachPass(w, s.jointPasses, func(lo, hi int) { sys.WarmStartJoints(level, lo, hi) })
			eachPass(w, s.passes, func(lo, hi int) { sys.WarmStartContacts(level, lo, hi) })
		}
		eachPass(w, s.jointPasses, func(lo, hi int) { sys.SolveJoints(level, true, lo, hi) })
		eachPass(w, s.passes, func(lo, hi int) { sys.SolveContacts(level, true, lo, hi) })
		s.eachSpan(w, func(lo, hi int) {
			s.holdLocked(lo, hi)
			sys.IntegratePositions(level, lo, hi)
		})
		eachPass(w, s.jointPasses, func(lo, hi int) { sys.SolveJoints(level, false, lo, hi) })
		eachPass(w, s.passes, func(lo, hi int) { sys.SolveContacts(level, false, lo, hi) })
		if s.traced {
			w.For(0, 1, 1, func(_, _ int) { s.traceStates(sub) })
		}
	}
	eachPass(w, s.passes, func(lo, hi int) { sys.ApplyRestitution(level, lo, hi) })
	w.For(0, joints, blockChunk, func(lo, hi int) { sys.StoreJointImpulses(level, lo, hi) })
	w.For(0, blocks, blockChunk, func(lo, hi int) { sys.StoreContactImpulses(level, lo, hi) })
	s.eachSpan(w, func(lo, hi int) {
		s.holdLocked(lo, hi)
		sys.StoreStates(level, lo, hi)
	})
}

// eachSpan does a stage of bodies, over the spans of active ones.
func (s *solver) eachSpan(w *native.Worker, f func(lo, hi int)) {
	spans := s.sleep.spans
	w.For(0, len(spans), 1, func(lo, hi int) {
		for _, rows := range spans[lo:hi] {
			f(rows.lo, rows.hi)
		}
	})
}

func eachPass(w *native.Worker, passes []pass, f func(lo, hi int)) {
	for _, p := range passes {
		w.For(p.lo, p.hi, p.size, f)
	}
}

func (s *solver) subSteps() int { return s.sys.Params.SubSteps }

// assemble gives the system what it works on, with room for the contacts.
func (s *solver) assemble(contacts []rigid.Contact) *rigid.System {
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
	sys.Joints, sys.JointsVersion = s.joints.solved, s.joints.version+s.sleep.version
	sys.Contacts, sys.Manifolds = contacts, s.manifolds
	sys.Hits = forContacts(sys.Hits, len(contacts), s.usualContacts())
	return sys
}
