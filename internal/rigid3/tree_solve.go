package rigid3

import (
	"math"

	"github.com/evertick/evertick/internal/articulated"
)

const (
	// treeStiffness is by how much less rows of trees yield than the softness of joints says, since they are solved exactly. What is left keeps
	// joints that contradict each other from unbounded impulses.
	treeStiffness = 1000

	// treeDamping is the share that is taken from the rotation that a greater inertia would hold back: see StiffenTrees. With 1, a step would be
	// one of the implicit Euler method, after which a load of a hundred links that swings has lost half of its energy after four swings, instead of a
	// fifth. With 0, jerks of a load of 10,000 links add energy.
	treeDamping = 0.25
)

// StiffenTrees gives the bodies of trees [lo, hi) of Trees a greater inertia where they need it, after PrepareBodies. A force F at an arm r turns
// a body back into its direction as a spring of the stiffness |F|·|r| does. Where that is too stiff for a sub-step of h seconds, a chain
// under load would swing more and more; with an inertia of h²·|F|·|r| it does not. F is that of the last sub-step of the last step.
func (s *System) StiffenTrees(lo, hi int) {
	p := &s.plan
	for _, n := range s.Trees[lo:hi] {
		tree := &p.Trees[n]
		heavier := p.Heavier[tree.Body:tree.EndBody]
		clear(heavier)
		for _, l := range p.Links[tree.Link:tree.EndLink] {
			j := &s.Joints[l.Joint]
			rows := &j.Kept.Rows
			force := float32(Vec{rows[0], rows[1], rows[2]}.length() * s.step.h) // times h²
			if l.A != articulated.Ground {
				heavier[l.A] += s.stiffness(j.A, j.AnchorA, force)
			}
			if l.B != articulated.Ground {
				heavier[l.B] += s.stiffness(j.B, j.AnchorB, force)
			}
		}
		for i, body := range p.Forest.Bodies[tree.Body:tree.EndBody] {
			heavier[i] = maxFloat(heavier[i], 1)
			k, inv := &s.inertia[body].Sym, 1/heavier[i]
			*k = Sym{k.XX * inv, k.YY * inv, k.ZZ * inv, k.XY * inv, k.XZ * inv, k.YZ * inv}
		}
	}
}

// stiffness is that of a force at an anchor, divided by the inertia across its arm.
func (s *System) stiffness(body uint32, anchor Vec, force float32) float32 {
	r := s.Bodies.Poses[body].Q.Rotate(anchor)
	l := r.length()
	u, k := r.Times(inverse(l)), &s.inertia[body].Sym
	return float32(force*l) * ((k.XX + k.YY + k.ZZ) - u.Dot(k.Mul(u)))
}

// SolveTrees solves trees [lo, hi) of Trees: with bias after SolveJoints, without it after RelaxJoints. Workers can share a call: no two trees
// have a dynamic body in common.
func (s *System) SolveTrees(lo, hi int, useBias bool) {
	for _, n := range s.Trees[lo:hi] {
		s.solveTree(&s.plan.Trees[n], useBias)
	}
}

func (s *System) solveTree(tree *articulated.Tree, useBias bool) {
	p := &s.plan
	rows, links, lanes := p.Forest.Bodies[tree.Body:tree.EndBody], p.Links[tree.Link:tree.EndLink], p.Lane[tree.Link:tree.EndLink]
	bodies, joints := p.Solution.Bodies[tree.Body:tree.EndBody], p.Joints[tree.Link:tree.EndLink]
	for i, body := range rows {
		if f := p.Heavier[tree.Body+i]; useBias && f > 1 {
			st := &s.States[body]
			st.W = st.W.Sub(s.freeW(int(body)).Times(treeDamping * (1 - 1/f)))
		}
		s.setResponse(&bodies[i], body)
	}
	for i := range links {
		s.setLink(&joints[i], &s.Joints[links[i].Joint], lanes[i], useBias)
	}
	p.Solve(&p.Forest, tree, 6)
	for i := range links {
		s.addLink(&joints[i], lanes[i])
	}
	for i, body := range rows {
		s.applyTree(&bodies[i].Impulse, body)
	}
}

func (st *State) inverseMasses() Vec {
	m := Vec{st.InvMass, st.InvMass, st.InvMass}
	if st.Locks != 0 {
		return m.unlocked(st.Locks)
	}
	return m
}

func (s *System) setResponse(b *articulated.Body, body uint32) {
	m, k := s.States[body].inverseMasses(), &s.inertia[body].Sym
	xx, yy, zz, xy, xz, yz := float64(k.XX), float64(k.YY), float64(k.ZZ), float64(k.XY), float64(k.XZ), float64(k.YZ)
	b.Response = articulated.Matrix{
		{float64(m.X)}, {0, float64(m.Y)}, {0, 0, float64(m.Z)},
		{0, 0, 0, xx, xy, xz}, {0, 0, 0, xy, yy, yz}, {0, 0, 0, xz, yz, zz},
	}
}

// applyTree changes the velocities of a body by the impulses of its joints.
func (s *System) applyTree(impulse *articulated.Vector, body uint32) {
	st, k := &s.States[body], &s.inertia[body].Sym
	m := st.inverseMasses()
	x, y, z := impulse[3], impulse[4], impulse[5]
	row := func(a, b, c float32) float64 {
		return float64(float64(a)*x) + (float64(float64(b)*y) + float64(float64(c)*z))
	}
	wx, wy, wz := row(k.XX, k.XY, k.XZ), row(k.XY, k.YY, k.YZ), row(k.XZ, k.YZ, k.ZZ)
	addChange(&st.V.X, float64(float64(m.X)*impulse[0]))
	addChange(&st.V.Y, float64(float64(m.Y)*impulse[1]))
	addChange(&st.V.Z, float64(float64(m.Z)*impulse[2]))
	addChange(&st.W.X, wx)
	addChange(&st.W.Y, wy)
	addChange(&st.W.Z, wz)
}

// addChange adds to a velocity what is neither tiny nor infinite.
func addChange(v *float32, change float64) {
	if x := math.Abs(change); x > tinyImpulse && x <= math.MaxFloat32 {
		*v = float32(float64(*v) + change)
	}
}

// hardRows makes the first rows of r those of the joint of a lane that are hard.
func (s *System) hardRows(b *JointBlock, i int, m *jointBodies, r *jointRows) {
	b.load(i, s.States, m)
	if b.Class == classPoint {
		r.n, r.at = 3, [NumRows]int{LinearX, LinearY, LinearZ}
		r.rows[0], r.rows[1], r.rows[2] = m.linear(Vec{X: 1}), m.linear(Vec{Y: 1}), m.linear(Vec{Z: 1})
		return
	}
	p := &s.jointParts[b.Parts]
	b.makeRows(i, m, p, r)
	hard, n := hardOf(p.Locked[i&(Lanes-1)], p.Soft[i&(Lanes-1)]), 0
	for k := range r.n {
		if hard>>r.at[k]&1 != 0 {
			r.at[n], r.rows[n] = r.at[k], r.rows[k]
			n++
		}
	}
	r.n = n
}

// setLink sets the rows of a joint. With bias they also remove a part of the error, as an iteration does.
func (s *System) setLink(to *articulated.Joint, j *Joint, lane uint32, useBias bool) {
	b, i := &s.JointBlocks[lane/Lanes], int(lane%Lanes)
	var m jointBodies
	var r jointRows
	s.hardRows(b, i, &m, &r)
	to.Rows, to.Row = r.n, r.at
	yield := b.ImpulseScale[i] / maxFloat(b.MassScale[i], minMassScale)
	if tuned := j.Hertz > 0 || j.Damping > 0; !tuned || !useBias {
		yield = float32(yield * (1. / treeStiffness))
	}
	linearRate := float32(b.BiasRate[i] * slowing(m.gap))
	for k := range r.n {
		row, rate := &r.rows[k], b.BiasRate[i]
		if r.at[k] < Twist {
			rate = linearRate
		}
		e := b.effect(i, &m, row)
		to.A[k] = vectorOf(row.lin.neg(), row.a.neg())
		to.B[k] = vectorOf(row.lin, row.b)
		to.Yield[k] = float64(float64(yield) * float64(e.on(row)))
		to.Excess[k] = float64(row.speed(&m))
		if useBias {
			to.Excess[k] += float64(float64(rate)*float64(row.at)) + float64(to.Yield[k]*float64(s.rowImpulse(b, i, r.at[k])))
		}
	}
}

func vectorOf(lin, ang Vec) articulated.Vector {
	return articulated.Vector{float64(lin.X), float64(lin.Y), float64(lin.Z), float64(ang.X), float64(ang.Y), float64(ang.Z)}
}

func vecFrom(v []float64) Vec { return Vec{float32(v[0]), float32(v[1]), float32(v[2])} }

// rowImpulse is the accumulated impulse of a row.
func (s *System) rowImpulse(b *JointBlock, i, c int) float32 {
	if b.Class != classPoint {
		return s.jointParts[b.Parts].Rows[c][i]
	}
	at := b.Impulse.at(i)
	return [3]float32{at.X, at.Y, at.Z}[c]
}

// addLink adds the impulses of a joint to those that its lane has applied.
func (s *System) addLink(j *articulated.Joint, lane uint32) {
	b, i := &s.JointBlocks[lane/Lanes], int(lane%Lanes)
	var impulse, onA, onB Vec
	for k := range j.Rows {
		more := notTiny(float32(j.Impulse[k]))
		onRowA, onRowB := &j.A[k], &j.B[k]
		row := jointRow{lin: vecFrom(onRowB[:3]), a: vecFrom(onRowA[3:]).neg(), b: vecFrom(onRowB[3:])}
		row.add(more, &impulse, &onA, &onB)
		if b.Class != classPoint {
			s.jointParts[b.Parts].Rows[j.Row[k]][i] += more
		}
	}
	b.Impulse.set(i, b.Impulse.at(i).Add(impulse))
	b.TorqueA.set(i, b.TorqueA.at(i).Add(onA))
	b.TorqueB.set(i, b.TorqueB.at(i).Add(onB))
}

// solveWithTrees is Solve with a call for each stage.
func (s *System) solveWithTrees() {
	k, blocks, joints, trees := kernelsOf(s.Level), len(s.Blocks), len(s.JointBlocks), len(s.Trees)
	for _, p := range s.spans {
		k.prepareBodies(s, p.Lo, p.Hi)
	}
	s.StiffenTrees(0, trees)
	k.prepareJoints(s, 0, joints)
	k.prepareContacts(s, 0, blocks)
	bounces := s.HasRestitution(0, blocks)
	for sub := range s.step.subSteps {
		for _, p := range s.spans {
			k.integrateVelocities(s, sub, p.Lo, p.Hi)
		}
		if sub == 0 {
			k.warmStartJoints(s, 0, joints)
			k.warmStart(s, 0, blocks)
		}
		k.solveJoints(s, 0, joints)
		s.SolveTrees(0, trees, true)
		k.solveContacts(s, 0, blocks)
		for _, p := range s.spans {
			k.integratePositions(s, p.Lo, p.Hi)
		}
		k.relaxJoints(s, 0, joints)
		s.SolveTrees(0, trees, false)
		k.relaxContacts(s, 0, blocks)
		if bounces {
			k.applyRestitution(s, 0, blocks)
		}
	}
	k.storeJointImpulses(s, 0, joints)
	k.storeImpulses(s, 0, blocks)
	for _, p := range s.spans {
		k.finalizeBodies(s, p.Lo, p.Hi)
	}
}
