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
	t2 := n.cross(t1)
	b.Normal.set(i, n)
	b.Tangent.set(i, t1)
	inertiaA, inertiaB := &s.inertia[b.A[i]], &s.inertia[b.B[i]]
	b.InertiaA.set(i, inertiaA)
	b.InertiaB.set(i, inertiaB)

	// The centre is that of the points. Weights by their impulses would make it follow these, and a box that spins would begin to
	// rock.
	centreA, centreB, weight := Vec{}, Vec{}, 1/float32(b.PointsEach)
	for k := range b.PointsEach {
		centreA, centreB = centreA.addTimes(m.Points[k].AnchorA, weight), centreB.addTimes(m.Points[k].AnchorB, weight)
	}
	b.AnchorA.set(i, centreA)
	b.AnchorB.set(i, centreB)

	invMass := stateA.InvMass + stateB.InvMass
	jA, jB := centreA.cross(n), centreB.cross(n)
	var ka, kb [MaxPoints]Vec
	for k := range b.PointsEach {
		p, from := &b.Points[k], &m.Points[k]
		s := from.AnchorA.sub(centreA)
		p.A[i], p.B[i] = s.dot(t2), -s.dot(t1)
		p.LeverArm[i] = s.length()
		p.BaseSeparation[i], p.Separation[i] = from.Separation, from.Separation
		p.Impulse[i] = c.Normal[k].Impulse
		turn := t1.times(p.A[i]).addTimes(t2, p.B[i])
		ja, jb := jA.add(turn), jB.add(turn)
		ka[k], kb[k] = inertiaA.Mul(ja), inertiaB.Mul(jb)
		p.Mass[i] = inverse(invMass + (ja.dot(ka[k]) + jb.dot(kb[k])))
		for o := range k {
			b.Couplings[couplings[k][o]][i] = invMass + (ja.dot(ka[o]) + jb.dot(kb[o]))
		}
	}

	j1a, j1b, j2a, j2b := centreA.cross(t1), centreB.cross(t1), centreA.cross(t2), centreB.cross(t2)
	k1a, k1b, k2a, k2b := inertiaA.Mul(j1a), inertiaB.Mul(j1b), inertiaA.Mul(j2a), inertiaB.Mul(j2b)
	b.FrictionMass.setInverse(i, invMass+(j1a.dot(k1a)+j1b.dot(k1b)), invMass+(j2a.dot(k2a)+j2b.dot(k2b)), j1a.dot(k2a)+j1b.dot(k2b))
	b.Twist1[i], b.Twist2[i] = n.dot(k1a)+n.dot(k1b), n.dot(k2a)+n.dot(k2b)
	b.TwistMass[i] = inverse(n.dot(inertiaA.Mul(n)) + n.dot(inertiaB.Mul(n)))
	b.X[i], b.Y[i], b.Twist[i] = c.Tangent.dot(t1), c.Tangent.dot(t2), c.Twist
	s.prepareMaterial(b, i, c, t1, t2)
}

func (s *System) prepareMaterial(b *ContactBlock, i int, c *Contact, t1, t2 Vec) {
	x, y := &s.Materials[c.A], &s.Materials[c.B]
	b.Friction[i] = sqrt(float32(x.Friction * y.Friction))
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
		inertiaA, inertiaB := &s.inertia[b.A[i]], &s.inertia[b.B[i]]
		r1, r2 := inertiaA.Mul(t1).add(inertiaB.Mul(t1)), inertiaA.Mul(t2).add(inertiaB.Mul(t2))
		b.RollingMass.setInverse(i, t1.dot(r1), t2.dot(r2), t1.dot(r2))
		b.RollingX[i], b.RollingY[i] = c.Rolling.dot(t1), c.Rolling.dot(t2)
	}
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
			to, t1 := &s.Contacts[c], b.Tangent.at(i)
			t2 := b.Normal.at(i).cross(t1)
			for k := range b.PointsEach {
				to.Normal[k].Impulse = b.Points[k].Impulse[i]
			}
			to.Tangent = t1.times(b.X[i]).addTimes(t2, b.Y[i])
			to.Twist = b.Twist[i]
			to.Rolling = t1.times(b.RollingX[i]).addTimes(t2, b.RollingY[i])
		}
	}
}
