package rigid3

// prepareBlock fills a block from the manifolds, the impulses and the states before the step. Friction is mixed by the geometric mean,
// restitution by the maximum; rolling and twist resistance are the larger ones, and tangent velocities are added.
func (s *System) prepareBlock(b *ContactBlock, contacts *[Lanes]uint32) {
	*b = ContactBlock{PointsEach: s.Manifolds[contacts[0]].Count}
	for i, n := range contacts {
		if n == NoContact {
			b.A[i], b.B[i] = b.A[0], b.B[0]
			continue
		}
		b.Contacts++
		s.prepareContact(b, i, &s.Contacts[n], &s.Manifolds[n])
	}
}

func (s *System) prepareContact(b *ContactBlock, i int, c *Contact, m *Manifold) {
	b.A[i], b.B[i] = s.BodyOf[c.A], s.BodyOf[c.B]
	stateA, stateB := &s.States[b.A[i]], &s.States[b.B[i]]
	b.InvMassA[i], b.InvMassB[i] = stateA.InvMass, stateB.InvMass
	if stateA.InvMass > 0 {
		b.DynamicA |= 1 << i
	} else {
		b.Flags |= flagStaticBody
	}
	if stateB.InvMass > 0 {
		b.DynamicB |= 1 << i
	} else {
		b.Flags |= flagStaticBody
	}
	n := m.Normal
	t1 := n.perpendicular()
	t2 := t1.cross(n)
	b.Normal.set(i, n)
	b.Tangent.set(i, t1)
	inertiaA, inertiaB := &s.inertia[b.A[i]], &s.inertia[b.B[i]]
	invMass := stateA.InvMass + stateB.InvMass

	// The centre of friction is that of the points. Weights by their impulses would make it follow these, and a box that spins would
	// begin to rock.
	centreA, centreB, weight := Vec{}, Vec{}, 1/float32(b.PointsEach)
	for k := range b.PointsEach {
		centreA, centreB = centreA.addTimes(m.Points[k].AnchorA, weight), centreB.addTimes(m.Points[k].AnchorB, weight)
	}
	for k := range b.PointsEach {
		p, from := &b.Points[k], &m.Points[k]
		ja, jb := from.AnchorA.cross(n), from.AnchorB.cross(n)
		ka, kb := inertiaA.Mul(ja), inertiaB.Mul(jb)
		p.JA.set(i, ja)
		p.JB.set(i, jb)
		p.KA.set(i, ka)
		p.KB.set(i, kb)
		p.BaseSeparation[i] = from.Separation
		p.Mass[i] = inverse(invMass + (ja.dot(ka) + jb.dot(kb)))
		p.Impulse[i] = c.Normal[k].Impulse
		p.LeverArm[i] = from.AnchorA.sub(centreA).length()
	}

	for k := range b.PointsEach {
		ja, jb := b.Points[k].JA.at(i), b.Points[k].JB.at(i)
		for o := range k {
			q := &b.Points[o]
			b.Couplings[couplings[k][o]][i] = invMass + (ja.dot(q.KA.at(i)) + jb.dot(q.KB.at(i)))
		}
	}

	f := &b.Friction
	j1a, j1b, j2a, j2b := centreA.cross(t1), centreB.cross(t1), centreA.cross(t2), centreB.cross(t2)
	k1a, k1b, k2a, k2b := inertiaA.Mul(j1a), inertiaB.Mul(j1b), inertiaA.Mul(j2a), inertiaB.Mul(j2b)
	f.J1A.set(i, j1a)
	f.J1B.set(i, j1b)
	f.J2A.set(i, j2a)
	f.J2B.set(i, j2b)
	f.K1A.set(i, k1a)
	f.K1B.set(i, k1b)
	f.K2A.set(i, k2a)
	f.K2B.set(i, k2b)
	f.Mass.setInverse(i, invMass+(j1a.dot(k1a)+j1b.dot(k1b)), invMass+(j2a.dot(k2a)+j2b.dot(k2b)), j1a.dot(k2a)+j1b.dot(k2b))
	twistA, twistB := inertiaA.Mul(n), inertiaB.Mul(n)
	f.TwistA.set(i, twistA)
	f.TwistB.set(i, twistB)
	f.TwistMass[i] = inverse(n.dot(twistA) + n.dot(twistB))
	f.X[i], f.Y[i], f.Twist[i] = c.Tangent.dot(t1), c.Tangent.dot(t2), c.Twist

	x, y := &s.Materials[c.A], &s.Materials[c.B]
	f.Coefficient[i] = sqrt(float32(x.Friction * y.Friction))
	b.Restitution[i] = maxFloat(x.Restitution, y.Restitution)
	b.RollingResistance[i] = maxFloat(x.RollingResistance, y.RollingResistance)
	b.TwistResistance[i] = maxFloat(x.TwistResistance, y.TwistResistance)
	belt := x.TangentVelocity.add(y.TangentVelocity)
	b.SurfaceX[i], b.SurfaceY[i] = belt.dot(t1), belt.dot(t2)
	if b.Restitution[i] > 0 {
		b.Flags |= flagRestitution
	}
	if b.RollingResistance[i] > 0 || b.TwistResistance[i] > 0 {
		b.Flags |= flagRolling
		r1a, r1b, r2a, r2b := inertiaA.Mul(t1), inertiaB.Mul(t1), inertiaA.Mul(t2), inertiaB.Mul(t2)
		b.RollingMass.setInverse(i, t1.dot(r1a)+t1.dot(r1b), t2.dot(r2a)+t2.dot(r2b), t1.dot(r2a)+t1.dot(r2b))
		b.R1A.set(i, r1a)
		b.R1B.set(i, r1b)
		b.R2A.set(i, r2a)
		b.R2B.set(i, r2b)
		b.RollingX[i], b.RollingY[i] = c.Rolling.dot(t1), c.Rolling.dot(t2)
	}
}

// setInverse sets the inverse of a symmetric matrix, or zeros where it has none.
func (m *SymLanes) setInverse(i int, xx, yy, xy float32) {
	determinant := float32(xx*yy) - float32(xy*xy)
	d := inverse(determinant)
	m.XX[i], m.YY[i], m.XY[i] = float32(yy*d), float32(xx*d), -float32(xy*d)
}

// inverse is 1/a, or 0 unless a > minDivisor.
func inverse(a float32) float32 {
	if a > minDivisor {
		return 1 / a
	}
	return 0
}

// storeImpulses writes the impulses of all blocks to their contacts.
func (s *System) storeImpulses() {
	for n := range s.Blocks {
		b := &s.Blocks[n]
		for i, c := range s.Colours.Edge[n*Lanes:][:b.Contacts] {
			to, f := &s.Contacts[c], &b.Friction
			normal, t1 := b.Normal.at(i), b.Tangent.at(i)
			t2 := t1.cross(normal)
			for k := range b.PointsEach {
				to.Normal[k].Impulse = b.Points[k].Impulse[i]
			}
			to.Tangent = t1.times(f.X[i]).addTimes(t2, f.Y[i])
			to.Twist = f.Twist[i]
			to.Rolling = t1.times(b.RollingX[i]).addTimes(t2, b.RollingY[i])
		}
	}
}
