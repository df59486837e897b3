package rigid

import (
	"math"

	"github.com/evertick/evertick/internal/articulated"
	"github.com/evertick/evertick/native"
)

const (
	// treeStiffness is by how much less rows of trees yield than the softness of joints says, since they are solved exactly. What is left keeps
	// joints that contradict each other from unbounded impulses.
	treeStiffness = 1000

	// treeDamping is the share that is taken from the rotation that a greater inertia would hold back: see stiffenTrees.
	treeDamping = 0.25
)

// findTrees finds the joints of light bodies between heavy ones, which are solved directly, in plain Go on all levels. They have lanes in
// blocks as all joints do, where their springs, motors and limits are solved. Then their rows are solved once more, exactly.
func (s *System) findTrees() {
	if edges, same := s.plan.Edges(s.JointsVersion, len(s.Joints), s.Bodies.InvMass); !same {
		for i := range s.Joints {
			j := &s.Joints[i]
			if j.hasHardRows() && s.Bodies.InvMass[j.A]+s.Bodies.InvMass[j.B] > 0 {
				edges = append(edges, articulated.Edge{A: j.A, B: j.B, Joint: uint32(i)})
			}
		}
		s.plan.Update(edges)
	}
	if s.Trees = s.plan.Locate(s.Trees[:0], s.JointColours.Edge, NoContact); len(s.Trees) > 0 {
		s.stiffenTrees()
	}
}

// hasHardRows reports whether a joint has rows, and none of them is soft or has a bound.
func (j *Joint) hasHardRows() bool {
	switch j.Kind {
	case JointPoint:
		return j.usedParts()&(softParts|PartVelocity) == 0
	case JointWeld, JointPrismatic, JointWheel:
		return true
	}
	return false
}

// stiffenTrees gives the bodies of trees a greater inertia where they need it, for this step, in a copy of their column. A force F at an arm r
// turns a body back into its direction as a spring of the stiffness |F|·|r| does. Where that is too stiff for a sub-step of h seconds, a chain
// under load would swing more and more; with an inertia of h²·|F|·|r| it does not. F is that of the last sub-step of the last step.
func (s *System) stiffenTrees() {
	p, b := &s.plan, &s.Bodies
	s.stiffened = append(s.stiffened[:0], b.InvInertia...)
	b.InvInertia = s.stiffened
	for _, n := range s.Trees {
		tree := &p.Trees[n]
		heavier := p.Heavier[tree.Body:tree.EndBody]
		clear(heavier)
		for _, l := range p.Links[tree.Link:tree.EndLink] {
			j := &s.Joints[l.Joint]
			force := float32(s.step.h * j.rowForce()) // times h²
			if l.A != articulated.Ground {
				heavier[l.A] += float32(float32(force*length(j.AnchorA)) * b.InvInertia[j.A])
			}
			if l.B != articulated.Ground {
				heavier[l.B] += float32(float32(force*length(j.AnchorB)) * b.InvInertia[j.B])
			}
		}
		for i, body := range p.Forest.Bodies[tree.Body:tree.EndBody] {
			heavier[i] = maxFloat(heavier[i], 1)
			b.InvInertia[body] = b.InvInertia[body] / heavier[i]
		}
	}
}

func length(v Vec) float32 { return sqrt(float32(v.X*v.X) + float32(v.Y*v.Y)) }

// rowForce is the size of the impulse that linear rows keep.
func (j *Joint) rowForce() float32 {
	if j.Kind.hasPerpendicular() {
		return abs(j.PointImpulse.X)
	}
	return length(j.PointImpulse)
}

// SolveTrees solves trees [lo, hi) of Trees after SolveJoints. Workers can share a call: no two trees have a dynamic body in common.
func (s *System) SolveTrees(useBias bool, lo, hi int) {
	for _, n := range s.Trees[lo:hi] {
		s.solveTree(&s.plan.Trees[n], useBias)
	}
}

func (s *System) solveTree(tree *articulated.Tree, useBias bool) {
	p := &s.plan
	rows, links, lanes := p.Forest.Bodies[tree.Body:tree.EndBody], p.Links[tree.Link:tree.EndLink], p.Lane[tree.Link:tree.EndLink]
	bodies, joints := p.Solution.Bodies[tree.Body:tree.EndBody], p.Joints[tree.Link:tree.EndLink]
	for i, body := range rows {
		st, inertia := &s.States[body], float64(s.Bodies.InvInertia[body])
		if f := p.Heavier[tree.Body+i]; useBias && f > 1 {
			st.W -= float32(s.Bodies.FreeW[body] * float32(treeDamping*(1-1/f)))
		}
		bodies[i].Response = articulated.Matrix{{float64(st.InvMass)}, {0, float64(st.InvMass)}, {0, 0, inertia}}
	}
	for i := range links {
		s.setLink(&joints[i], lanes[i], useBias)
	}
	p.Solve(&p.Forest, tree, 3)
	for i := range links {
		s.addLink(&joints[i], lanes[i])
	}
	for i, body := range rows {
		st, impulse := &s.States[body], &bodies[i].Impulse
		addChange(&st.VX, float64(float64(st.InvMass)*impulse[0]))
		addChange(&st.VY, float64(float64(st.InvMass)*impulse[1]))
		addChange(&st.W, float64(float64(s.Bodies.InvInertia[body])*impulse[2]))
	}
}

// addChange adds to a velocity what is neither tiny nor infinite.
func addChange(v *float32, change float64) {
	if x := math.Abs(change); x > tinyChange && x <= math.MaxFloat32 {
		*v = float32(float64(*v) + change)
	}
}

const tinyChange = 0x1p-60

// linkRow is a row of a joint of a tree: its axis, with the cross products of the anchors, or the relative angle; and its error.
type linkRow struct {
	axis    constraintAxis
	isAngle bool
	error   float32
}

// linkRows returns the rows of the joint of a lane.
func (s *System) linkRows(b *JointBlock, i uint32, m *jointBodies) (rows [3]linkRow, n int) {
	if b.Kind.hasPoint() {
		rows[0] = linkRow{axis: constraintAxis{x: 1, crossA: -m.ay, crossB: -m.by}, error: m.dx}
		rows[1] = linkRow{axis: constraintAxis{y: 1, crossA: m.ax, crossB: m.bx}, error: m.dy}
		n = 2
	} else {
		rows[0] = linkRow{axis: m.perpendicular, error: m.perpendicular.translation}
		n = 1
	}
	if b.Kind.locksAngle() {
		rows[n] = linkRow{axis: constraintAxis{crossA: 1, crossB: 1}, isAngle: true, error: b.currentAngle(i, s.States)}
		n++
	}
	return rows, n
}

// setLink sets the rows of a joint. With bias they also remove a part of the error, as an iteration does.
func (s *System) setLink(to *articulated.Joint, lane uint32, useBias bool) {
	b, i := &s.JointBlocks[lane/Lanes], lane%Lanes
	var m jointBodies
	m.load(b, i, s.States)
	rows, n := s.linkRows(b, i, &m)
	to.Rows = n
	soft, size := b.softness(i, s.step.jointSoftness), float32(0)
	yield := soft.impulseScale / maxFloat(soft.massScale, minMassScale)
	if tuned := soft != s.step.jointSoftness; !tuned || !useBias {
		yield = float32(yield * (1. / treeStiffness))
	}
	for k := range n {
		size = maxFloat(size, abs(rows[k].error))
	}
	rate := float64(soft.slowed(size).biasRate)
	masses := [2][3]float64{{float64(m.ma), float64(m.ma), float64(m.ia)}, {float64(m.mb), float64(m.mb), float64(m.ib)}}
	v := [2][3]float64{{float64(m.vax), float64(m.vay), float64(m.wa)}, {float64(m.vbx), float64(m.vby), float64(m.wb)}}
	for k := range n {
		u := &rows[k].axis
		to.A[k] = articulated.Vector{-float64(u.x), -float64(u.y), -float64(u.crossA)}
		to.B[k] = articulated.Vector{float64(u.x), float64(u.y), float64(u.crossB)}
		speed, response := 0., 0.
		for c := range 3 {
			a, b := to.A[k][c], to.B[k][c]
			speed += float64(a*v[0][c]) + float64(b*v[1][c])
			response += float64(float64(a*a)*masses[0][c]) + float64(float64(b*b)*masses[1][c])
		}
		to.Excess[k], to.Yield[k] = speed, float64(float64(yield)*response)
		if useBias {
			to.Excess[k] += float64(rate*float64(rows[k].error)) + float64(to.Yield[k]*float64(*b.rowImpulse(i, k)))
		}
	}
}

// rowImpulse is the accumulated impulse of a row.
func (b *JointBlock) rowImpulse(i uint32, k int) *float32 {
	switch {
	case b.Kind.hasPoint() && k == 0:
		return &b.ImpulseX[i]
	case b.Kind.hasPoint() && k == 1:
		return &b.ImpulseY[i]
	case b.Kind.hasPerpendicular() && k == 0:
		return &b.PerpendicularImpulse[i]
	}
	return &b.Angular.SpringImpulse[i]
}

// addLink adds the impulses of a joint to those that its lane has applied.
func (s *System) addLink(j *articulated.Joint, lane uint32) {
	b, i := &s.JointBlocks[lane/Lanes], lane%Lanes
	var m jointBodies
	m.load(b, i, s.States)
	rows, _ := s.linkRows(b, i, &m)
	for k := range j.Rows {
		more := float32(0)
		if math.Abs(j.Impulse[k]) > tinyChange {
			more = float32(j.Impulse[k])
		}
		if isPoint := b.Kind.hasPoint() && k < 2; !isPoint {
			*b.rowImpulse(i, k) += more
		}
		if !rows[k].isAngle {
			m.applied.add(rows[k].axis.impulse(more))
		}
	}
	b.ImpulseX[i], b.ImpulseY[i], b.AngularImpulseA[i], b.AngularImpulseB[i] = m.applied.x, m.applied.y, m.applied.angularA, m.applied.angularB
}

// solveWithTrees is Solve with a call for each stage.
func (s *System) solveWithTrees(level native.Level) {
	k, bodies, blocks, joints, trees := kernelsOf(level), len(s.States), len(s.Blocks), len(s.JointBlocks), len(s.Trees)
	k.loadStates(s, 0, bodies)
	k.prepareJoints(s, 0, joints)
	k.prepareContacts(s, 0, blocks)
	for sub := range int(s.step.subSteps) {
		k.integrateVelocities(s, sub, 0, bodies)
		if sub == 0 {
			k.warmStartJoints(s, 0, joints)
			k.warmStartContacts(s, 0, blocks)
		}
		k.solveJoints(s, true, 0, joints)
		s.SolveTrees(true, 0, trees)
		k.solveContacts(s, true, 0, blocks)
		k.integratePositions(s, 0, bodies)
		k.solveJoints(s, false, 0, joints)
		s.SolveTrees(false, 0, trees)
		k.solveContacts(s, false, 0, blocks)
	}
	k.applyRestitution(s, 0, blocks)
	k.storeJointImpulses(s, 0, joints)
	k.storeContactImpulses(s, 0, blocks)
	k.storeStates(s, 0, bodies)
}
