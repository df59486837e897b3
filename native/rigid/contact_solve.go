package rigid

import "github.com/evertick/evertick/native"

// WarmStartContacts applies the accumulated impulses of blocks [lo, hi) to the velocities of their bodies. Like
// all stages of blocks it reads the states of bodies that are not dynamic and does not write them.
func (s *System) WarmStartContacts(level native.Level, lo, hi int) {
	kernelsOf(level).warmStartContacts(s, lo, hi)
}

func (s *System) warmStartContactsGo(lo, hi int) {
	for i := lo; i < hi; i++ {
		s.Blocks[i].warmStart(s.States)
	}
}

func (b *ContactBlock) warmStart(states []State) {
	for i := range b.Contacts {
		i &= Lanes - 1
		normal, tangent := float32(0), float32(0)
		angularA, angularB := b.RollingImpulse[i], b.RollingImpulse[i]
		for k := range b.PointsEach {
			p := &b.Points[k&1]
			normal += p.NormalImpulse[i]
			tangent += p.TangentImpulse[i]
			angularA += float32(p.CrossA[i]*p.NormalImpulse[i]) - float32(p.DotA[i]*p.TangentImpulse[i])
			angularB += float32(p.CrossB[i]*p.NormalImpulse[i]) - float32(p.DotB[i]*p.TangentImpulse[i])
		}
		stateA, stateB := &states[b.A[i]], &states[b.B[i]]
		b.applyImpulse(i, stateA, stateB, normal, tangent, stateA.W-float32(b.InvIA[i]*angularA), stateB.W+float32(b.InvIB[i]*angularB))
	}
}

// applyImpulse adds the impulses of a contact to the velocities of its bodies, and sets their angular
// velocities.
func (b *ContactBlock) applyImpulse(i uint32, stateA, stateB *State, normal, tangent, wA, wB float32) {
	nx, ny := b.NormalX[i&(Lanes-1)], b.NormalY[i&(Lanes-1)]
	px := float32(normal*nx) + float32(tangent*ny)
	py := float32(normal*ny) - float32(tangent*nx)
	if b.DynamicA>>i&1 != 0 {
		stateA.VX -= float32(stateA.InvMass * px)
		stateA.VY -= float32(stateA.InvMass * py)
		stateA.W = wA
	}
	if b.DynamicB>>i&1 != 0 {
		stateB.VX += float32(stateB.InvMass * px)
		stateB.VY += float32(stateB.InvMass * py)
		stateB.W = wB
	}
}

// SolveContacts runs one iteration of each contact of blocks [lo, hi): friction, rolling resistance, then the normal
// impulses. These come last, so that they hold exactly when the iteration ends: with friction last, a pyramid of 100
// rows sinks. Impulses are accumulated, and clamped as sums. Two points of a contact are solved together, so
// that the result does not depend on their order: a mirrored contact gets mirrored impulses.
//
// A point with separation s > 0 may close s in the sub-step: its normal impulse makes v + s/h zero, where v is
// the velocity at which the bodies part. At a point that overlaps, an iteration with bias removes the overlap,
// softly and not faster than PushSpeed. The iteration without bias follows after the positions were integrated
// and relaxes: it makes v zero.
//
// Friction brings the sliding velocity, less the tangent speed, to zero with an impulse of at most the friction
// coefficient times the normal impulses so far. Two points share it in proportion to these. Rolling resistance does the same
// with the relative angular velocity, and is at most its lever arm times the sum of the normal impulses.
//
// Clamping turns NaN into a bound, so that a body that is not finite pushes no other.
func (s *System) SolveContacts(level native.Level, useBias bool, lo, hi int) {
	kernelsOf(level).solveContacts(s, useBias, lo, hi)
}

func (s *System) solveContactsGo(useBias bool, lo, hi int) {
	for i := lo; i < hi; i++ {
		s.Blocks[i].solve(s.States, &s.step, useBias)
	}
}

// pairVelocity is the velocity of two bodies in the frame of a contact, whose axes are the normal and the tangent: vn
// and vt are the velocity of the centre of B relative to that of A.
type pairVelocity struct{ vn, vt, wA, wB float32 }

func (b *ContactBlock) pairVelocity(i uint32, stateA, stateB *State) pairVelocity {
	nx, ny := b.NormalX[i&(Lanes-1)], b.NormalY[i&(Lanes-1)]
	vx, vy := stateB.VX-stateA.VX, stateB.VY-stateA.VY
	return pairVelocity{float32(vx*nx) + float32(vy*ny), float32(vx*ny) - float32(vy*nx), stateA.W, stateB.W}
}

func (b *ContactBlock) solve(states []State, step *stepContext, useBias bool) {
	soft := step.contactSoftness
	if b.Flags&flagStaticBody != 0 {
		soft = step.staticSoftness
	}
	for i := range b.Contacts {
		i &= Lanes - 1
		stateA, stateB := &states[b.A[i]], &states[b.B[i]]
		pair := b.pairVelocity(i, stateA, stateB)
		tangent := b.solveFriction(i, &pair)
		if b.Flags&flagRolling != 0 {
			b.solveRolling(i, &pair)
		}
		normalMotion := float32((stateB.DX-stateA.DX)*b.NormalX[i]) + float32((stateB.DY-stateA.DY)*b.NormalY[i])
		var rows [2]normalRow
		for k := range b.PointsEach {
			p, row := &b.Points[k&1], &rows[k&1]
			separation := normalMotion + float32(stateB.S*p.CrossB[i])
			separation = (separation - float32(stateA.S*p.CrossA[i])) + p.BaseSeparation[i]
			bias, massScale := maxFloat(float32(separation*step.invH), 0), float32(1)
			if useBias && !(separation > 0) {
				bias, massScale = maxFloat(-step.maxBiasVelocity, float32(soft.biasRate*separation)), soft.massScale
			}
			row.old, row.mass = p.NormalImpulse[i], float32(p.NormalMass[i]*massScale)
			row.kept, row.v = float32(massScale*row.old), p.normalVelocity(i, &pair)+bias
		}
		rows[0].new, rows[1].new = solveNormals(&rows, b.PointsEach, b.Coupling[i])
		if !useBias {
			for k := range b.PointsEach {
				b.Points[k&1].TotalNormalImpulse[i] += rows[k&1].new
			}
		}
		normal := b.applyNormals(i, &rows, &pair)
		b.applyImpulse(i, stateA, stateB, normal, tangent, pair.wA, pair.wB)
	}
}

// normalRow is a point of a contact as solveNormals takes it.
type normalRow struct {
	old, new float32 // accumulated normal impulses
	kept     float32 // the old one times massScale
	v        float32 // the normal velocity plus the bias: to be made zero
	mass     float32 // effective mass times massScale
}

// solveNormals returns the accumulated normal impulses x and y of a contact with one or two points.
//
// For two points they solve a linear complementarity problem: x and y are not negative, neither are
//
//	v + (x - kept)/mass + coupling·(y - old of the other point)
//
// and its counterpart, and where an impulse is positive, its velocity is zero. There is one solution, because
// twoPointScale keeps the determinant 1 - shareX·shareY positive. If both impulses of the solution without bounds are
// positive, it is that one. If only one of them is, that point is solved alone and the other impulse is zero. If none
// is, each is solved alone, and at most one of these is positive. Every operation is symmetric in the points.
//
// A point with a velocity that is NaN gets the impulse zero, and the other point is solved alone.
func solveNormals(rows *[2]normalRow, points uint32, coupling float32) (x, y float32) {
	p, q := &rows[0], &rows[1]
	if points == 1 {
		return maxFloat(p.kept-float32(p.mass*p.v), 0), 0
	}
	x = p.kept - float32(p.mass*(p.v-float32(coupling*q.old)))
	y = q.kept - float32(q.mass*(q.v-float32(coupling*p.old)))
	shareX, shareY := float32(coupling*p.mass), float32(coupling*q.mass)
	bothX, bothY := x-float32(shareX*y), y-float32(shareY*x)
	inverse := 1 / (1 - float32(shareX*shareY))
	if bothY > 0 {
		x = float32(bothX * inverse)
	}
	if bothX > 0 {
		y = float32(bothY * inverse)
	}
	return maxFloat(x, 0), maxFloat(y, 0)
}

// applyNormals stores the new normal impulses of a contact, adds their angular part to the velocities, and returns
// the impulse along the normal to add.
func (b *ContactBlock) applyNormals(i uint32, rows *[2]normalRow, pair *pairVelocity) (normal float32) {
	i &= Lanes - 1
	angularA, angularB := float32(0), float32(0)
	for k := range b.PointsEach {
		p, impulse := &b.Points[k&1], rows[k&1].new-rows[k&1].old
		p.NormalImpulse[i] = rows[k&1].new
		normal += impulse
		angularA += float32(p.CrossA[i] * impulse)
		angularB += float32(p.CrossB[i] * impulse)
	}
	pair.wA -= float32(b.InvIA[i] * angularA)
	pair.wB += float32(b.InvIB[i] * angularB)
	return normal
}

// normalVelocity is the velocity at which the bodies part at a point.
func (p *ContactBlockPoint) normalVelocity(i uint32, pair *pairVelocity) float32 {
	i &= Lanes - 1
	return pair.vn + (float32(pair.wB*p.CrossB[i]) - float32(pair.wA*p.CrossA[i]))
}

// solveFriction adds the friction of a contact to the angular velocities, and returns the impulse along the tangent to
// add. Two points are one constraint: it acts at their mean, weighted by the normal impulses, and they share its impulse
// in that proportion. Without normal impulses there is no friction.
func (b *ContactBlock) solveFriction(i uint32, pair *pairVelocity) (tangent float32) {
	i &= Lanes - 1
	share, normal, old, change := [2]float32{1}, b.Points[0].NormalImpulse[i], float32(0), float32(0)
	if b.PointsEach == 2 {
		normal += b.Points[1].NormalImpulse[i]
		inverseNormal := inverse(normal)
		share[0] = float32(b.Points[0].NormalImpulse[i] * inverseNormal)
		share[1] = float32(b.Points[1].NormalImpulse[i] * inverseNormal)
	}
	for k := range b.PointsEach {
		p := &b.Points[k&1]
		v := (pair.vt - (float32(pair.wB*p.DotB[i]) - float32(pair.wA*p.DotA[i]))) - b.TangentSpeed[i]
		old += p.TangentImpulse[i]
		change += float32(float32(p.TangentMass[i]*share[k&1]) * v)
	}
	limit := float32(b.Friction[i] * normal)
	total := maxFloat(minFloat(old-change, limit), -limit)
	angularA, angularB := float32(0), float32(0)
	for k := range b.PointsEach {
		p := &b.Points[k&1]
		newImpulse := float32(total * share[k&1])
		impulse := newImpulse - p.TangentImpulse[i]
		p.TangentImpulse[i] = newImpulse
		tangent += impulse
		angularA += float32(p.DotA[i] * impulse)
		angularB += float32(p.DotB[i] * impulse)
	}
	pair.wA += float32(b.InvIA[i] * angularA)
	pair.wB -= float32(b.InvIB[i] * angularB)
	return tangent
}

// solveRolling adds the impulse of rolling resistance.
func (b *ContactBlock) solveRolling(i uint32, pair *pairVelocity) {
	i &= Lanes - 1
	normal := b.Points[0].NormalImpulse[i]
	if b.PointsEach == 2 {
		normal += b.Points[1].NormalImpulse[i]
	}
	limit := float32(b.RollingResistance[i] * normal)
	old := b.RollingImpulse[i]
	newImpulse := maxFloat(minFloat(old-float32(b.RollingMass[i]*(pair.wB-pair.wA)), limit), -limit)
	b.RollingImpulse[i] = newImpulse
	pair.wA -= float32(b.InvIA[i] * (newImpulse - old))
	pair.wB += float32(b.InvIB[i] * (newImpulse - old))
}

// ApplyRestitution makes contacts of blocks [lo, hi) bounce that have restitution, were approached faster than
// RestitutionThreshold and were touched: their bodies part at the approach velocity times the restitution.
func (s *System) ApplyRestitution(level native.Level, lo, hi int) {
	kernelsOf(level).applyRestitution(s, lo, hi)
}

func (s *System) applyRestitutionGo(lo, hi int) {
	for i := lo; i < hi; i++ {
		if b := &s.Blocks[i]; b.Flags&flagRestitution != 0 {
			b.applyRestitution(s.States, s.step.restitutionThreshold)
		}
	}
}

func (b *ContactBlock) applyRestitution(states []State, threshold float32) {
	for i := range b.Contacts {
		i &= Lanes - 1
		stateA, stateB := &states[b.A[i]], &states[b.B[i]]
		pair := b.pairVelocity(i, stateA, stateB)
		var rows [2]normalRow
		var bounces [2]bool
		for k := range b.PointsEach {
			p, row := &b.Points[k&1], &rows[k&1]
			row.v, row.mass = p.normalVelocity(i, &pair)+float32(b.Restitution[i]*p.RelativeVelocity[i]), p.NormalMass[i]
			row.old, row.kept = p.NormalImpulse[i], p.NormalImpulse[i]
			bounces[k&1] = b.Restitution[i] > 0 && -threshold > p.RelativeVelocity[i] && p.TotalNormalImpulse[i] > 0
		}
		coupling := b.Coupling[i]
		if !(bounces[0] && bounces[1]) {
			coupling = 0
		}
		rows[0].new, rows[1].new = solveNormals(&rows, b.PointsEach, coupling)
		for k := range b.PointsEach {
			row := &rows[k&1]
			if !bounces[k&1] {
				row.new = row.old
			}
			b.Points[k&1].TotalNormalImpulse[i] += row.new - row.old
		}
		normal := b.applyNormals(i, &rows, &pair)
		b.applyImpulse(i, stateA, stateB, normal, 0, pair.wA, pair.wB)
	}
}

// StoreContactImpulses writes the impulses of blocks [lo, hi) to their contacts and to Hits.
func (s *System) StoreContactImpulses(level native.Level, lo, hi int) {
	kernelsOf(level).storeContactImpulses(s, lo, hi)
}

func (s *System) storeContactImpulsesGo(lo, hi int) {
	for n := lo; n < hi; n++ {
		b := &s.Blocks[n]
		for i, c := range s.Colours.Contact[n*Lanes:][:b.Contacts] {
			i &= Lanes - 1
			to, hit := &s.Contacts[c], &s.Hits[c]
			to.RollingImpulse = b.RollingImpulse[i]
			for k := range b.PointsEach {
				p := &b.Points[k&1]
				to.Points[k&1].Normal, to.Points[k&1].Tangent = p.NormalImpulse[i], p.TangentImpulse[i]
				if p.TotalNormalImpulse[i] > 0 {
					hit.Speed = maxFloat(-p.RelativeVelocity[i], hit.Speed)
				}
				hit.Impulse += p.TotalNormalImpulse[i]
			}
		}
	}
}
