package rigid

import "github.com/evertick/evertick/native"

// Materials are the surfaces of shapes, one element per shape.
type Materials struct {
	Friction    []float32 // ≥ 0
	Restitution []float32 // 0: does not bounce, 1: bounces back as fast

	// RollingResistance is a lever arm in metres: a coefficient times the radius of the shape. The torque that
	// resists rolling is at most this arm times the normal force.
	RollingResistance []float32

	// TangentSpeed in m/s is that of a belt around the shape that runs clockwise: on top of a floor, towards +X
	// if positive.
	TangentSpeed []float32
}

// PrepareContacts fills blocks [lo, hi) from the manifolds, the impulses and the states before the step.
// Friction and restitution are mixed by the rules of Params, rolling resistance is the larger one, and tangent
// speeds are added.
//
// Later in the step the separation of a point exceeds that of the manifold by n·(dB - dA) + sin(B)·(rB×n) -
// sin(A)·(rA×n), with its anchors r, its normal n, and the translations d and rotations of the states. The term
// r·n·(cos - 1) is omitted: it is zero for round shapes, whose lowest point does not turn with them. For others it is
// small, and the next manifold corrects it. The effective mass along n is 1 / (1/mA + 1/mB + (rA×n)²/IA +
// (rB×n)²/IB), and likewise along the tangent (n.Y, -n.X); 0 if that divides by zero.
func (s *System) PrepareContacts(level native.Level, lo, hi int) {
	kernelsOf(level).prepareContacts(s, lo, hi)
}

func (s *System) prepareContactsGo(lo, hi int) {
	for i := lo; i < hi; i++ {
		s.prepareBlock(&s.Blocks[i], (*[Lanes]uint32)(s.Colours.Edge[i*Lanes:]))
	}
}

func (s *System) prepareBlock(b *ContactBlock, contact *[Lanes]uint32) {
	if s.SameBlocks && s.allRecycled(contact[:b.Contacts]) {
		s.updateBlock(b, contact)
		return
	}
	b.Contacts, b.Flags, b.DynamicA, b.DynamicB = 0, 0, 0, 0
	b.PointsEach = s.Manifolds[contact[0]].Count
	for i, c := range contact {
		if c == NoContact {
			b.clearLane(i)
			continue
		}
		b.Contacts++
		m, c := &s.Manifolds[c], &s.Contacts[c]
		b.A[i], b.B[i] = s.BodyOf[c.A], s.BodyOf[c.B]
		b.NormalX[i], b.NormalY[i] = m.Normal.X, m.Normal.Y
		b.InvIA[i], b.InvIB[i] = s.Bodies.InvInertia[b.A[i]], s.Bodies.InvInertia[b.B[i]]
		s.prepareMaterial(b, i, c)
		s.prepareBodies(b, i, c.RollingImpulse)
		for k := range b.PointsEach {
			s.preparePoint(b, i, &b.Points[k&1], &m.Points[k&1], c.Points[k&1])
		}
		if b.PointsEach == 2 {
			s.prepareCoupling(b, i)
			if len(s.Bases) > 0 {
				s.keepBase(b, i, contact[i])
			}
		}
	}
}

func (s *System) allRecycled(contacts []uint32) bool {
	for _, c := range contacts {
		if s.Manifolds[c].Source != Recycled {
			return false
		}
	}
	return true
}

// updateBlock prepares a block that was prepared for the same manifolds, but for their separations. The impulses are in
// the block since the last step. Masses and velocities may have changed.
func (s *System) updateBlock(b *ContactBlock, contact *[Lanes]uint32) {
	for i, c := range contact[:b.Contacts] {
		b.InvIA[i], b.InvIB[i] = s.Bodies.InvInertia[b.A[i]], s.Bodies.InvInertia[b.B[i]]
		b.RollingMass[i] = inverse(b.InvIA[i] + b.InvIB[i])
		for k := range b.PointsEach {
			p := &b.Points[k&1]
			p.BaseSeparation[i], p.TotalNormalImpulse[i] = s.Manifolds[c].Points[k&1].Separation, 0
			s.prepareMasses(b, i, p)
		}
		s.prepareCoupling(b, i)
	}
}

// clearLane empties a lane.
func (b *ContactBlock) clearLane(i int) {
	b.A[i], b.B[i] = b.A[0], b.B[0]
	b.NormalX[i], b.NormalY[i], b.InvIA[i], b.InvIB[i] = 0, 0, 0, 0
	b.Friction[i], b.Restitution[i], b.TangentSpeed[i] = 0, 0, 0
	b.RollingResistance[i], b.RollingMass[i], b.RollingImpulse[i] = 0, 0, 0
	if b.PointsEach == 2 {
		b.Coupling[i] = 0
	}
	for k := range b.PointsEach {
		p := &b.Points[k&1]
		p.CrossA[i], p.DotA[i], p.CrossB[i], p.DotB[i] = 0, 0, 0, 0
		p.BaseSeparation[i], p.NormalMass[i], p.TangentMass[i] = 0, 0, 0
		p.NormalImpulse[i], p.TangentImpulse[i], p.TotalNormalImpulse[i], p.RelativeVelocity[i] = 0, 0, 0, 0
	}
}

// prepareMaterial mixes the materials of two shapes.
func (s *System) prepareMaterial(b *ContactBlock, i int, c *Contact) {
	m := &s.Materials
	b.Friction[i] = s.step.frictionMix.Apply(m.Friction[c.A], m.Friction[c.B])
	b.Restitution[i] = s.step.restitutionMix.Apply(m.Restitution[c.A], m.Restitution[c.B])
	b.RollingResistance[i] = maxFloat(m.RollingResistance[c.A], m.RollingResistance[c.B])
	b.TangentSpeed[i] = m.TangentSpeed[c.A] + m.TangentSpeed[c.B]
	if b.Restitution[i] > 0 {
		b.Flags |= flagRestitution
	}
	if b.RollingResistance[i] > 0 {
		b.Flags |= flagRolling
	}
	if b.TangentSpeed[i] != 0 {
		b.Flags |= flagTangentSpeed
	}
}

// prepareBodies sets which bodies are dynamic, and the effective mass of rolling.
func (s *System) prepareBodies(b *ContactBlock, i int, rolling float32) {
	if s.States[b.A[i]].InvMass > 0 {
		b.DynamicA |= 1 << i
	} else {
		b.Flags |= flagStaticBody
	}
	if s.States[b.B[i]].InvMass > 0 {
		b.DynamicB |= 1 << i
	} else {
		b.Flags |= flagStaticBody
	}
	b.RollingMass[i] = inverse(b.InvIA[i] + b.InvIB[i])
	b.RollingImpulse[i] = rolling
}

func (s *System) preparePoint(b *ContactBlock, i int, p *ContactBlockPoint, m *ManifoldPoint, j Impulse) {
	nx, ny, ra, rb := b.NormalX[i], b.NormalY[i], m.AnchorA, m.AnchorB
	p.CrossA[i], p.DotA[i] = float32(ra.X*ny)-float32(ra.Y*nx), float32(ra.X*nx)+float32(ra.Y*ny)
	p.CrossB[i], p.DotB[i] = float32(rb.X*ny)-float32(rb.Y*nx), float32(rb.X*nx)+float32(rb.Y*ny)
	p.BaseSeparation[i] = m.Separation
	p.NormalImpulse[i], p.TangentImpulse[i], p.TotalNormalImpulse[i] = j.Normal, j.Tangent, 0
	s.prepareMasses(b, i, p)
}

// prepareMasses sets the effective masses of a point, and its velocity along the normal.
func (s *System) prepareMasses(b *ContactBlock, i int, p *ContactBlockPoint) {
	stateA, stateB := &s.States[b.A[i]], &s.States[b.B[i]]
	crossA, crossB, dotA, dotB := p.CrossA[i], p.CrossB[i], p.DotA[i], p.DotB[i]
	invMass := stateA.InvMass + stateB.InvMass
	p.NormalMass[i] = inverse(invMass + (float32(float32(b.InvIA[i]*crossA)*crossA) + float32(float32(b.InvIB[i]*crossB)*crossB)))
	p.TangentMass[i] = inverse(invMass + (float32(float32(b.InvIA[i]*dotA)*dotA) + float32(float32(b.InvIB[i]*dotB)*dotB)))

	v := float32((stateB.VX-stateA.VX)*b.NormalX[i]) + float32((stateB.VY-stateA.VY)*b.NormalY[i])
	p.RelativeVelocity[i] = v + (float32(stateB.W*crossB) - float32(stateA.W*crossA))
}

// twoPointScale reduces the effective masses of two points. It bounds the determinant of their matrix from below, far
// above its rounding error, where the matrix is singular: at points that coincide, or bodies that do not turn.
const twoPointScale = 1 - 0x1p-12

// prepareCoupling lets two points be solved together.
func (s *System) prepareCoupling(b *ContactBlock, i int) {
	p, q := &b.Points[0], &b.Points[1]
	invMass := s.States[b.A[i]].InvMass + s.States[b.B[i]].InvMass
	angular := float32(b.InvIA[i]*float32(p.CrossA[i]*q.CrossA[i])) + float32(b.InvIB[i]*float32(p.CrossB[i]*q.CrossB[i]))
	b.Coupling[i] = invMass + angular
	p.NormalMass[i], q.NormalMass[i] = float32(p.NormalMass[i]*twoPointScale), float32(q.NormalMass[i]*twoPointScale)
}

// minDivisor is half the smallest normal number. The reciprocal of a number that is not much smaller is infinite, and
// the product of that with zero is NaN.
const minDivisor = 0x1p-127

// inverse is 1/a, or 0 unless a > minDivisor.
func inverse(a float32) float32 {
	if a > minDivisor {
		return 1 / a
	}
	return 0
}
