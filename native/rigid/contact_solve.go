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

// SolveContacts runs one iteration of each contact of blocks [lo, hi): friction of its points, rolling resistance,
// then the normal impulses. These come last, so that they hold exactly when the iteration ends. Impulses are
// accumulated, and clamped as sums.
//
// Friction brings the sliding velocity, less the tangent speed, to zero with an impulse of at most the friction
// coefficient times the normal impulse so far. Rolling resistance does the same with the relative angular
// velocity, and is at most its lever arm times the sum of the normal impulses.
//
// A point with separation s > 0 may close s in the sub-step: its normal impulse makes v + s/h zero, where v is
// the velocity at which the bodies part. At a point that overlaps, an iteration with bias removes the overlap,
// softly and not faster than PushSpeed. The iteration without bias follows after the positions were integrated
// and relaxes: it makes v zero.
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

// solve works in the frame of the contact, whose axes are the normal and the tangent: vn and vt are the
// velocity of the centre of B relative to that of A.
func (b *ContactBlock) solve(states []State, step *stepContext, useBias bool) {
	soft, invH, maxBiasVelocity := rigidSoftness, step.invH, step.maxBiasVelocity
	if useBias && b.Flags&flagStaticBody != 0 {
		soft = step.staticSoftness
	} else if useBias {
		soft = step.contactSoftness
	}
	for i := range b.Contacts {
		i &= Lanes - 1
		stateA, stateB := &states[b.A[i]], &states[b.B[i]]
		wA, invIA, wB, invIB := stateA.W, b.InvIA[i], stateB.W, b.InvIB[i]
		nx, ny := b.NormalX[i], b.NormalY[i]
		vx, vy, invMass := stateB.VX-stateA.VX, stateB.VY-stateA.VY, stateA.InvMass+stateB.InvMass
		vn, vt := float32(vx*nx)+float32(vy*ny), float32(vx*ny)-float32(vy*nx)
		normal, tangent, totalNormal := float32(0), float32(0), float32(0) // impulses to add, and the normal impulses so far
		for k := range b.PointsEach {
			p := &b.Points[k&1]
			dotA, dotB := p.DotA[i], p.DotB[i]
			v := (vt - (float32(wB*dotB) - float32(wA*dotA))) - b.TangentSpeed[i]
			limit := float32(b.Friction[i] * p.NormalImpulse[i])
			totalNormal += p.NormalImpulse[i]
			old := p.TangentImpulse[i]
			newImpulse := maxFloat(minFloat(old-float32(p.TangentMass[i]*v), limit), -limit)
			p.TangentImpulse[i] = newImpulse
			impulse := newImpulse - old
			tangent += impulse
			vt += float32(invMass * impulse)
			wA += float32(float32(invIA*dotA) * impulse)
			wB -= float32(float32(invIB*dotB) * impulse)
		}
		if b.Flags&flagRolling != 0 {
			limit := float32(b.RollingResistance[i] * totalNormal)
			old := b.RollingImpulse[i]
			newImpulse := maxFloat(minFloat(old-float32(b.RollingMass[i]*(wB-wA)), limit), -limit)
			b.RollingImpulse[i] = newImpulse
			wA -= float32(invIA * (newImpulse - old))
			wB += float32(invIB * (newImpulse - old))
		}
		normalMotion := float32((stateB.DX-stateA.DX)*nx) + float32((stateB.DY-stateA.DY)*ny)
		for k := range b.PointsEach {
			p := &b.Points[k&1]
			crossA, crossB := p.CrossA[i], p.CrossB[i]
			separation := normalMotion + float32(stateB.S*crossB)
			separation = (separation - float32(stateA.S*crossA)) + p.BaseSeparation[i]
			bias, massScale, impulseScale := maxFloat(float32(soft.biasRate*minFloat(separation, 0)), -maxBiasVelocity), soft.massScale, soft.impulseScale
			if separation > 0 {
				bias, massScale, impulseScale = float32(separation*invH), 1, 0
			}
			v := vn + (float32(wB*crossB) - float32(wA*crossA))
			old := p.NormalImpulse[i]
			newImpulse := maxFloat((old-float32(float32(p.NormalMass[i]*massScale)*(v+bias)))-float32(impulseScale*old), 0)
			p.NormalImpulse[i] = newImpulse
			if !useBias {
				p.TotalNormalImpulse[i] += newImpulse
			}
			impulse := newImpulse - old
			normal += impulse
			vn += float32(invMass * impulse)
			wA -= float32(float32(invIA*crossA) * impulse)
			wB += float32(float32(invIB*crossB) * impulse)
		}
		b.applyImpulse(i, stateA, stateB, normal, tangent, wA, wB)
	}
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
		wA, wB, invMass, normal := stateA.W, stateB.W, stateA.InvMass+stateB.InvMass, float32(0)
		vn := float32((stateB.VX-stateA.VX)*b.NormalX[i]) + float32((stateB.VY-stateA.VY)*b.NormalY[i])
		for k := range b.PointsEach {
			p := &b.Points[k&1]
			v := vn + (float32(wB*p.CrossB[i]) - float32(wA*p.CrossA[i]))
			old := p.NormalImpulse[i]
			newImpulse := maxFloat(old-float32(p.NormalMass[i]*(v+float32(b.Restitution[i]*p.RelativeVelocity[i]))), 0)
			if !(b.Restitution[i] > 0 && -threshold > p.RelativeVelocity[i] && p.TotalNormalImpulse[i] > 0) {
				newImpulse = old
			}
			impulse := newImpulse - old
			p.NormalImpulse[i] = newImpulse
			p.TotalNormalImpulse[i] += impulse
			normal += impulse
			vn += float32(invMass * impulse)
			wA -= float32(float32(b.InvIA[i]*p.CrossA[i]) * impulse)
			wB += float32(float32(b.InvIB[i]*p.CrossB[i]) * impulse)
		}
		b.applyImpulse(i, stateA, stateB, normal, 0, wA, wB)
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
