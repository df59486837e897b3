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
	soft := &step.contactSoftness
	if b.Flags&flagStaticBody != 0 {
		soft = &step.staticSoftness
	}
	for i := range b.Contacts {
		i &= Lanes - 1
		stateA, stateB := &states[b.A[i]], &states[b.B[i]]
		if b.PointsEach == 1 {
			b.solveOnePoint(i, stateA, stateB, step, soft, useBias)
		} else {
			b.solveTwoPoints(i, stateA, stateB, step, soft, useBias)
		}
	}
}

func (b *ContactBlock) solveOnePoint(i uint32, stateA, stateB *State, step *stepContext, soft *softness, useBias bool) {
	i &= Lanes - 1
	p, pair := &b.Points[0], b.pairVelocity(i, stateA, stateB)

	change := float32(p.TangentMass[i] * b.slidingVelocity(p, i, &pair))
	total := clamp(p.TangentImpulse[i]-change, float32(b.Friction[i]*p.NormalImpulse[i]))
	tangent := total - p.TangentImpulse[i]
	p.TangentImpulse[i] = total
	pair.wA += float32(b.InvIA[i] * float32(p.DotA[i]*tangent))
	pair.wB -= float32(b.InvIB[i] * float32(p.DotB[i]*tangent))
	if b.Flags&flagRolling != 0 {
		b.solveRolling(i, &pair, p.NormalImpulse[i])
	}

	row := p.row(i, b.normalMotion(i, stateA, stateB), stateA.S, stateB.S, step, soft, useBias)
	row.v += p.normalVelocity(i, &pair)
	impulse := row.solve()
	if !useBias {
		p.TotalNormalImpulse[i] += impulse
	}
	normal := b.applyNormal(i, impulse, &pair)
	b.applyImpulse(i, stateA, stateB, normal, tangent, pair.wA, pair.wB)
}

func (b *ContactBlock) solveTwoPoints(i uint32, stateA, stateB *State, step *stepContext, soft *softness, useBias bool) {
	i &= Lanes - 1
	p, q, pair := &b.Points[0], &b.Points[1], b.pairVelocity(i, stateA, stateB)
	tangent := b.solveSharedFriction(i, &pair)
	if b.Flags&flagRolling != 0 {
		b.solveRolling(i, &pair, p.NormalImpulse[i]+q.NormalImpulse[i])
	}
	motion := b.normalMotion(i, stateA, stateB)
	first := p.row(i, motion, stateA.S, stateB.S, step, soft, useBias)
	second := q.row(i, motion, stateA.S, stateB.S, step, soft, useBias)
	first.v += p.normalVelocity(i, &pair)
	second.v += q.normalVelocity(i, &pair)
	x, y := solveNormals(&first, &second, b.Coupling[i])
	if !useBias {
		p.TotalNormalImpulse[i] += x
		q.TotalNormalImpulse[i] += y
	}
	normal := b.applyNormals(i, x, y, &pair)
	b.applyImpulse(i, stateA, stateB, normal, tangent, pair.wA, pair.wB)
}

// normalMotion is how far the centre of B has moved along the normal since the step began, relative to that of A.
func (b *ContactBlock) normalMotion(i uint32, stateA, stateB *State) float32 {
	i &= Lanes - 1
	return float32((stateB.DX-stateA.DX)*b.NormalX[i]) + float32((stateB.DY-stateA.DY)*b.NormalY[i])
}

// normalRow is a point of a contact in an iteration.
type normalRow struct {
	old  float32 // the accumulated normal impulse
	kept float32 // of that, what softness leaves
	v    float32 // the normal velocity plus the bias: to be made zero
	mass float32 // the effective mass; less if it is soft
}

// row returns the point without its normal velocity. sinA and sinB are the sines of the rotations since the step began.
func (p *ContactBlockPoint) row(i uint32, motion, sinA, sinB float32, step *stepContext, soft *softness, useBias bool) (r normalRow) {
	i &= Lanes - 1
	separation := motion + float32(sinB*p.CrossB[i])
	separation = (separation - float32(sinA*p.CrossA[i])) + p.BaseSeparation[i]
	r.old, r.mass = p.NormalImpulse[i], p.NormalMass[i]
	if r.kept = r.old; useBias && !(separation > 0) {
		r.kept, r.mass = float32(soft.massScale*r.old), float32(r.mass*soft.massScale)
		r.v = maxFloat(-step.maxBiasVelocity, float32(soft.biasRate*separation))
	} else {
		r.v = maxFloat(float32(separation*step.invH), 0)
	}
	return r
}

// solve returns the accumulated normal impulse of the only point of a contact.
func (r *normalRow) solve() float32 { return maxFloat(r.kept-float32(r.mass*r.v), 0) }

// solveNormals returns the accumulated normal impulses x and y of the two points of a contact.
//
// They solve a linear complementarity problem: x and y are not negative, neither are
//
//	v + (x - kept)/mass + coupling·(y - old of the other point)
//
// and its counterpart, and where an impulse is positive, its velocity is zero. There is one solution, because
// twoPointScale keeps the determinant 1 - shareX·shareY positive. If both impulses of the solution without bounds are
// positive, it is that one. If only one of them is, that point is solved alone and the other impulse is zero. If none
// is, each is solved alone, and at most one of these is positive. Every operation is symmetric in the points.
//
// A point with a velocity that is NaN gets the impulse zero, and the other point is solved alone.
func solveNormals(p, q *normalRow, coupling float32) (x, y float32) {
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

// applyNormal stores the new normal impulse of the only point of a contact, adds its angular part to the velocities,
// and returns the impulse along the normal to add.
func (b *ContactBlock) applyNormal(i uint32, impulse float32, pair *pairVelocity) (normal float32) {
	i &= Lanes - 1
	p := &b.Points[0]
	normal = impulse - p.NormalImpulse[i]
	p.NormalImpulse[i] = impulse
	pair.wA -= float32(b.InvIA[i] * float32(p.CrossA[i]*normal))
	pair.wB += float32(b.InvIB[i] * float32(p.CrossB[i]*normal))
	return normal
}

// applyNormals is applyNormal for two points.
func (b *ContactBlock) applyNormals(i uint32, x, y float32, pair *pairVelocity) (normal float32) {
	i &= Lanes - 1
	p, q := &b.Points[0], &b.Points[1]
	changeX, changeY := x-p.NormalImpulse[i], y-q.NormalImpulse[i]
	p.NormalImpulse[i], q.NormalImpulse[i] = x, y
	pair.wA -= float32(b.InvIA[i] * (float32(p.CrossA[i]*changeX) + float32(q.CrossA[i]*changeY)))
	pair.wB += float32(b.InvIB[i] * (float32(p.CrossB[i]*changeX) + float32(q.CrossB[i]*changeY)))
	return changeX + changeY
}

// normalVelocity is the velocity at which the bodies part at a point.
func (p *ContactBlockPoint) normalVelocity(i uint32, pair *pairVelocity) float32 {
	i &= Lanes - 1
	return pair.vn + (float32(pair.wB*p.CrossB[i]) - float32(pair.wA*p.CrossA[i]))
}

// slidingVelocity is the velocity along the tangent at a point that friction makes zero.
func (b *ContactBlock) slidingVelocity(p *ContactBlockPoint, i uint32, pair *pairVelocity) float32 {
	i &= Lanes - 1
	return (pair.vt - (float32(pair.wB*p.DotB[i]) - float32(pair.wA*p.DotA[i]))) - b.TangentSpeed[i]
}

// solveSharedFriction adds the friction of a contact of two points to the angular velocities, and returns the impulse
// along the tangent to add. The points are one constraint: it acts at their mean, weighted by the normal impulses, and
// they share its impulse in that proportion. Without normal impulses, or with ones whose sum is at most minDivisor,
// there is no friction.
func (b *ContactBlock) solveSharedFriction(i uint32, pair *pairVelocity) (tangent float32) {
	i &= Lanes - 1
	p, q := &b.Points[0], &b.Points[1]
	normal := p.NormalImpulse[i] + q.NormalImpulse[i]
	inverseNormal := inverse(normal)
	shareP, shareQ := float32(p.NormalImpulse[i]*inverseNormal), float32(q.NormalImpulse[i]*inverseNormal)
	change := float32(float32(p.TangentMass[i]*shareP)*b.slidingVelocity(p, i, pair)) +
		float32(float32(q.TangentMass[i]*shareQ)*b.slidingVelocity(q, i, pair))
	total := clamp((p.TangentImpulse[i]+q.TangentImpulse[i])-change, float32(b.Friction[i]*normal))
	newP, newQ := float32(total*shareP), float32(total*shareQ)
	changeP, changeQ := newP-p.TangentImpulse[i], newQ-q.TangentImpulse[i]
	p.TangentImpulse[i], q.TangentImpulse[i] = newP, newQ
	pair.wA += float32(b.InvIA[i] * (float32(p.DotA[i]*changeP) + float32(q.DotA[i]*changeQ)))
	pair.wB -= float32(b.InvIB[i] * (float32(p.DotB[i]*changeP) + float32(q.DotB[i]*changeQ)))
	return changeP + changeQ
}

// solveRolling adds the impulse of rolling resistance. normal is the sum of the normal impulses.
func (b *ContactBlock) solveRolling(i uint32, pair *pairVelocity, normal float32) {
	i &= Lanes - 1
	old := b.RollingImpulse[i]
	newImpulse := clamp(old-float32(b.RollingMass[i]*(pair.wB-pair.wA)), float32(b.RollingResistance[i]*normal))
	b.RollingImpulse[i] = newImpulse
	pair.wA -= float32(b.InvIA[i] * (newImpulse - old))
	pair.wB += float32(b.InvIB[i] * (newImpulse - old))
}

// ApplyRestitution makes contacts of blocks [lo, hi) bounce that have restitution, were approached faster than
// RestitutionThreshold and were touched: their bodies part at the approach velocity times the restitution.
func (s *System) ApplyRestitution(level native.Level, lo, hi int) {
	kernelsOf(level).applyRestitution(s, lo, hi)
}

// HasRestitution reports whether a contact of blocks [lo, hi) has restitution. Without any, ApplyRestitution does nothing.
func (s *System) HasRestitution(lo, hi int) bool {
	for i := range s.Blocks[lo:hi] {
		if s.Blocks[lo+i].Flags&flagRestitution != 0 {
			return true
		}
	}
	return false
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
		first, bounces := b.bounceRow(&b.Points[0], i, &pair, threshold)
		normal := float32(0)
		if b.PointsEach == 1 {
			normal = b.applyNormal(i, b.Points[0].bounced(i, &first, bounces, first.solve()), &pair)
		} else {
			second, alsoBounces := b.bounceRow(&b.Points[1], i, &pair, threshold)
			coupling := b.Coupling[i]
			if !(bounces && alsoBounces) {
				coupling = 0
			}
			x, y := solveNormals(&first, &second, coupling)
			x, y = b.Points[0].bounced(i, &first, bounces, x), b.Points[1].bounced(i, &second, alsoBounces, y)
			normal = b.applyNormals(i, x, y, &pair)
		}
		b.applyImpulse(i, stateA, stateB, normal, 0, pair.wA, pair.wB)
	}
}

// bounceRow returns a point that bounces, and whether it does.
func (b *ContactBlock) bounceRow(p *ContactBlockPoint, i uint32, pair *pairVelocity, threshold float32) (r normalRow, bounces bool) {
	i &= Lanes - 1
	v := p.normalVelocity(i, pair) + float32(b.Restitution[i]*p.RelativeVelocity[i])
	r = normalRow{p.NormalImpulse[i], p.NormalImpulse[i], v, p.NormalMass[i]}
	return r, b.Restitution[i] > 0 && -threshold > p.RelativeVelocity[i] && p.TotalNormalImpulse[i] > 0
}

// bounced returns the new normal impulse of a point, which changes only if the point bounces.
func (p *ContactBlockPoint) bounced(i uint32, r *normalRow, bounces bool, impulse float32) float32 {
	if !bounces {
		impulse = r.old
	}
	p.TotalNormalImpulse[i&(Lanes-1)] += impulse - r.old
	return impulse
}

// StoreContactImpulses writes the impulses of blocks [lo, hi) to their contacts and to Hits.
func (s *System) StoreContactImpulses(level native.Level, lo, hi int) {
	kernelsOf(level).storeContactImpulses(s, lo, hi)
}

func (s *System) storeContactImpulsesGo(lo, hi int) {
	for n := lo; n < hi; n++ {
		b := &s.Blocks[n]
		for i, c := range s.Colours.Edge[n*Lanes:][:b.Contacts] {
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
