package rigid3

// PrepareContacts fills blocks [lo, hi) from the manifolds, the impulses and the states before the step. Friction is mixed by the
// geometric mean, restitution by the maximum; rolling and twist resistance are the larger ones, and tangent velocities are added.
func (s *System) PrepareContacts(lo, hi int) { kernelsOf(s.Level).prepareContacts(s, lo, hi) }

func (s *System) prepareContactsGo(lo, hi int) {
	for i := lo; i < hi; i++ {
		s.prepareBlock(&s.Blocks[i], (*[Lanes]uint32)(s.Colours.Edge[i*Lanes:]))
	}
}

// prepareBlock fills a block. What no stage reads stays as it is: points beyond those of the contacts, and the lanes without a contact,
// but for their bodies.
func (s *System) prepareBlock(b *ContactBlock, contacts *[Lanes]uint32) {
	b.Contacts, b.PointsEach, b.Flags, b.DynamicA, b.DynamicB = 0, s.Manifolds[contacts[0]].Count, 0, 0, 0
	for i, n := range contacts {
		if n == NoContact {
			b.A[i], b.B[i] = b.A[0], b.B[0]
			continue
		}
		b.Contacts++
		s.prepareContact(b, i, int(n), &s.Contacts[n], &s.Manifolds[n])
	}
	if b.Flags&flagRolling != 0 {
		for i, n := range contacts[:b.Contacts] {
			s.prepareRolling(b, i, &s.Contacts[n])
		}
	}
}

func (s *System) prepareContact(b *ContactBlock, i, number int, c *Contact, m *Manifold) {
	i &= Lanes - 1
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
	t2 := n.Cross(t1)
	b.Normal.set(i, n)
	b.Tangent.set(i, t1)
	inertiaA, inertiaB := &s.inertia[b.A[i]].Sym, &s.inertia[b.B[i]].Sym
	b.InertiaA.set(i, inertiaA)
	b.InertiaB.set(i, inertiaB)

	// The centre is that of the points. Weights by their impulses would make it follow these, and a box that spins would begin to
	// rock.
	centreA, centreB, weight := Vec{}, Vec{}, 1/float32(b.PointsEach)
	points := min(b.PointsEach, MaxPoints)
	for k := range points {
		centreA, centreB = centreA.addTimes(m.Points[k].AnchorA, weight), centreB.addTimes(m.Points[k].AnchorB, weight)
	}
	b.AnchorA.set(i, centreA)
	b.AnchorB.set(i, centreB)

	// What an impulse along the normal, or along a tangent, does to the velocities along the normal and the tangents. Locks make an
	// impulse along one change the velocity along another too; the iterations take care of that.
	invMass := stateA.InvMass + stateB.InvMass
	along1, along2, across := invMass, invMass, float32(0)
	if stateA.Locks|stateB.Locks != 0 {
		b.Flags |= flagLocked
		invMass = stateA.along(n, n) + stateB.along(n, n)
		along1, along2 = stateA.along(t1, t1)+stateB.along(t1, t1), stateA.along(t2, t2)+stateB.along(t2, t2)
		across = stateA.along(t1, t2) + stateB.along(t1, t2)
	}
	jA, jB := centreA.Cross(n), centreB.Cross(n)
	w := stateB.W.Sub(stateA.W)
	vn, w1, w2 := stateB.V.Sub(stateA.V).Dot(n)+(stateB.W.Dot(jB)-stateA.W.Dot(jA)), w.Dot(t1), w.Dot(t2)
	var ka, kb [MaxPoints]Vec
	for k := range points {
		p, from := &b.Points[k], &m.Points[k]
		s := from.AnchorA.Sub(centreA)
		p.A[i], p.B[i] = s.Dot(t2), -s.Dot(t1)
		p.LeverArm[i] = s.length()
		p.BaseSeparation[i], p.Separation[i] = from.Separation, from.Separation
		p.Impulse[i], p.TotalImpulse[i], b.Approach[k][i] = c.Normal[k].Impulse, 0, 0
		b.RelativeVelocity[k][i] = vn + (float32(p.A[i]*w1) + float32(p.B[i]*w2))
		turn := t1.Times(p.A[i]).addTimes(t2, p.B[i])
		ja, jb := jA.Add(turn), jB.Add(turn)
		onA, onB := inertiaA.Mul(ja), inertiaB.Mul(jb)
		ka[k], kb[k] = onA, onB
		p.Mass[i] = inverse(invMass + (ja.Dot(onA) + jb.Dot(onB)))
		for o := range k {
			b.Couplings[couplings[k][o]][i] = invMass + (ja.Dot(ka[o]) + jb.Dot(kb[o]))
		}
	}

	j1a, j1b, j2a, j2b := centreA.Cross(t1), centreB.Cross(t1), centreA.Cross(t2), centreB.Cross(t2)
	k1a, k1b, k2a, k2b := inertiaA.Mul(j1a), inertiaB.Mul(j1b), inertiaA.Mul(j2a), inertiaB.Mul(j2b)
	b.FrictionMass.setInverse(i, along1+(j1a.Dot(k1a)+j1b.Dot(k1b)), along2+(j2a.Dot(k2a)+j2b.Dot(k2b)), across+(j1a.Dot(k2a)+j1b.Dot(k2b)))
	b.Twist1[i], b.Twist2[i] = n.Dot(k1a)+n.Dot(k1b), n.Dot(k2a)+n.Dot(k2b)
	b.TwistMass[i] = inverse(n.Dot(inertiaA.Mul(n)) + n.Dot(inertiaB.Mul(n)))
	b.X[i], b.Y[i], b.Twist[i] = c.Tangent.Dot(t1), c.Tangent.Dot(t2), c.Twist
	s.prepareMaterial(b, i, number, c, t1, t2)
}

func (s *System) prepareMaterial(b *ContactBlock, i, number int, c *Contact, t1, t2 Vec) {
	i &= Lanes - 1
	x, y := &s.Materials[c.A], &s.Materials[c.B]
	if first := len(s.Contacts) - s.Mixed; number >= first {
		x = &s.Materials[len(s.BodyOf)+number-first] // of two equal ones, the mean and the greater one are the same
		y = x
	}
	b.Friction[i] = sqrt(float32(x.Friction * y.Friction))
	b.Restitution[i] = maxFloat(x.Restitution, y.Restitution)
	b.RollingResistance[i] = maxFloat(x.RollingResistance, y.RollingResistance)
	b.TwistResistance[i] = maxFloat(x.TwistResistance, y.TwistResistance)
	belt := x.TangentVelocity.Add(y.TangentVelocity)
	b.SurfaceX[i], b.SurfaceY[i] = belt.Dot(t1)+0, belt.Dot(t2)+0 // not -0, so that to subtract none changes nothing
	if b.SurfaceX[i] != 0 || b.SurfaceY[i] != 0 {
		b.Flags |= flagSurface
	}
	if b.Restitution[i] > 0 {
		b.Flags |= flagRestitution
	}
	if b.RollingResistance[i] > 0 || b.TwistResistance[i] > 0 {
		b.Flags |= flagRolling
	}
}

// prepareRolling prepares the resistance to rolling of a contact, in a block that has it.
func (s *System) prepareRolling(b *ContactBlock, i int, c *Contact) {
	inertiaA, inertiaB := &s.inertia[b.A[i]].Sym, &s.inertia[b.B[i]].Sym
	t1 := b.Tangent.at(i)
	t2 := b.Normal.at(i).Cross(t1)
	r1, r2 := inertiaA.Mul(t1).Add(inertiaB.Mul(t1)), inertiaA.Mul(t2).Add(inertiaB.Mul(t2))
	b.RollingMass.setInverse(i, t1.Dot(r1), t2.Dot(r2), t1.Dot(r2))
	b.RollingX[i], b.RollingY[i] = c.Rolling.Dot(t1), c.Rolling.Dot(t2)
}

// inverse is 1/a, or 0 unless a > minDivisor.
func inverse(a float32) float32 {
	if a > minDivisor {
		return 1 / a
	}
	return 0
}

// StoreImpulses writes the impulses of blocks [lo, hi) to their contacts, and how hard these were hit: the greatest approach speed of a
// point that was touched, and the sum of the normal impulses.
func (s *System) StoreImpulses(lo, hi int) { kernelsOf(s.Level).storeImpulses(s, lo, hi) }

func (s *System) storeImpulsesGo(lo, hi int) {
	for n := lo; n < hi; n++ {
		b := &s.Blocks[n]
		for i, c := range s.Colours.Edge[n*Lanes:][:b.Contacts] {
			to, hit, t1 := &s.Contacts[c], &s.Hits[c], b.Tangent.at(i)
			t2 := b.Normal.at(i).Cross(t1)
			speed, impulse := float32(0), float32(0)
			for k := range b.PointsEach {
				p := &b.Points[k]
				to.Normal[k].Impulse = p.Impulse[i]
				if p.TotalImpulse[i] > 0 {
					speed = maxFloat(-b.RelativeVelocity[k][i], speed)
				}
				impulse += p.TotalImpulse[i]
			}
			*hit = Hit{speed, impulse}
			to.Tangent, to.Twist, to.Rolling = t1.Times(b.X[i]).addTimes(t2, b.Y[i]), b.Twist[i], Vec{}
			if b.rolls(i) {
				to.Rolling = t1.Times(b.RollingX[i]).addTimes(t2, b.RollingY[i])
			}
		}
	}
}
