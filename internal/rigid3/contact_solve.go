package rigid3

const (
	// pointSweeps is how often an iteration goes over the points of a contact, forwards and backwards by turns; an even number. With one
	// sweep the order of the points would tilt what stands on them: a tower of 20 small cubes shifts by 2 cm in 8 s, with two by 5 mm,
	// with four by 1 mm.
	pointSweeps = 4

	// bounceSweeps is the same for restitution, which has no later iteration that would correct it.
	bounceSweeps = 8
)

// pair is the two bodies of a contact in an iteration, its frame, and the anchors of its centre.
type pair struct {
	vA, wA, vB, wB Vec
	n, t1, t2      Vec
	rA, rB         Vec
	a, b           *State
}

func (b *ContactBlock) load(i int, states []State, p *pair) {
	i &= Lanes - 1
	p.a, p.b = &states[b.A[i]], &states[b.B[i]]
	p.vA, p.wA, p.vB, p.wB = p.a.V, p.a.W, p.b.V, p.b.W
	n, t1 := b.Normal.at(i), b.Tangent.at(i)
	p.n, p.t1, p.t2 = n, t1, n.Cross(t1)
	p.rA, p.rB = b.AnchorA.at(i), b.AnchorB.at(i)
}

// store writes the velocities of the bodies that are dynamic.
func (b *ContactBlock) store(i int, p *pair) {
	if b.DynamicA>>i&1 != 0 {
		p.a.V, p.a.W = p.vA, p.wA
	}
	if b.DynamicB>>i&1 != 0 {
		p.b.V, p.b.W = p.vB, p.wB
	}
}

// velocity is the velocity of the centre on B relative to that on A.
func (p *pair) velocity() Vec {
	a := p.vA.Add(p.wA.Cross(p.rA))
	return p.vB.Add(p.wB.Cross(p.rB)).Sub(a)
}

// motion is the velocity of the centre along the normal, and the angular velocities about the tangents, of B relative to A.
func (p *pair) motion() (vn, w1, w2 float32) {
	w := p.wB.Sub(p.wA)
	return p.velocity().Dot(p.n), w.Dot(p.t1), w.Dot(p.t2)
}

// apply applies an impulse at the centre, and an angular impulse. Along locked axes nothing yields.
func (b *ContactBlock) apply(i int, p *pair, impulse, angular Vec) {
	i &= Lanes - 1
	a, o := p.a, p.b
	onA, onB := impulse, impulse
	if b.Flags&flagLocked != 0 {
		onA, onB = impulse.unlocked(a.Locks), impulse.unlocked(o.Locks)
	}
	p.vA = p.vA.addTimes(onA, -a.InvMass)
	p.vB = p.vB.addTimes(onB, o.InvMass)
	torque, m := p.rA.Cross(impulse).Add(angular), &b.InertiaA
	p.wA = Vec{p.wA.X - m.x(i, torque), p.wA.Y - m.y(i, torque), p.wA.Z - m.z(i, torque)}
	torque, m = p.rB.Cross(impulse).Add(angular), &b.InertiaB
	p.wB = Vec{p.wB.X + m.x(i, torque), p.wB.Y + m.y(i, torque), p.wB.Z + m.z(i, torque)}
}

// applyNormals applies normal impulses of the points.
func (b *ContactBlock) applyNormals(i int, p *pair, impulses *[MaxPoints]float32) {
	i &= Lanes - 1
	first := &b.Points[0]
	sum, about1, about2 := impulses[0], float32(first.A[i]*impulses[0]), float32(first.B[i]*impulses[0])
	for k := uint32(1); k < b.PointsEach; k++ {
		q, impulse := &b.Points[k&(MaxPoints-1)], impulses[k&(MaxPoints-1)]
		sum += impulse
		about1 += float32(q.A[i] * impulse)
		about2 += float32(q.B[i] * impulse)
	}
	b.apply(i, p, p.n.Times(sum), p.t1.Times(about1).addTimes(p.t2, about2))
}

// WarmStart applies the accumulated impulses of blocks [lo, hi), in the first sub-step: see IntegrateVelocities.
func (s *System) WarmStart(lo, hi int) { kernelsOf(s.Level).warmStart(s, lo, hi) }

func (s *System) warmStartGo(lo, hi int) {
	for i := range s.Blocks[lo:hi] {
		s.Blocks[lo+i].warmStart(s.States)
	}
}

func (b *ContactBlock) warmStart(states []State) {
	var p pair
	for i := range int(b.Contacts) {
		i &= Lanes - 1
		b.load(i, states, &p)
		angular := p.n.Times(b.Twist[i])
		if b.rolls(i) {
			angular = angular.addTimes(p.t1, b.RollingX[i]).addTimes(p.t2, b.RollingY[i])
		}
		b.apply(i, &p, p.t1.Times(b.X[i]).addTimes(p.t2, b.Y[i]), angular)
		var impulses [MaxPoints]float32
		for k := range b.PointsEach {
			impulses[k&(MaxPoints-1)] = b.Points[k&(MaxPoints-1)].Impulse[i]
		}
		b.applyNormals(i, &p, &impulses)
		b.store(i, &p)
	}
}

// SolveContacts runs one iteration with bias of each contact of blocks [lo, hi). Impulses are accumulated, and clamped as sums.
//
// A point with separation s > 0 may close s in the sub-step: its normal impulse makes v + s/h zero. At a point that overlaps, an
// iteration with bias removes the overlap, softly and not faster than PushSpeed.
func (s *System) SolveContacts(lo, hi int) { kernelsOf(s.Level).solveContacts(s, lo, hi) }

// RelaxContacts runs one iteration without bias, which follows after the positions were integrated: it computes the separations anew,
// solves friction, and then makes the velocities v of SolveContacts zero. The normal impulses come last, so that they hold exactly when
// the iteration ends.
func (s *System) RelaxContacts(lo, hi int) { kernelsOf(s.Level).relaxContacts(s, lo, hi) }

func (s *System) solveContactsGo(lo, hi int) {
	for i := range s.Blocks[lo:hi] {
		s.Blocks[lo+i].solve(s.States, &s.step, true)
	}
}

func (s *System) relaxContactsGo(lo, hi int) {
	for i := range s.Blocks[lo:hi] {
		s.Blocks[lo+i].solve(s.States, &s.step, false)
	}
}

func (b *ContactBlock) solve(states []State, step *stepContext, useBias bool) {
	slowest, invH := -step.maxBiasVelocity, step.invH
	var p pair
	var rows [MaxPoints]pointRow
	for i := range int(b.Contacts) {
		i &= Lanes - 1
		b.load(i, states, &p)
		soft := &step.staticSoftness
		if b.Flags&flagStaticBody == 0 {
			soft = step.softnessOf(p.a.InvMass, p.b.InvMass)
		}
		biasRate, massScale := soft.biasRate, soft.massScale
		if !useBias {
			b.solveFriction(i, &p)
			b.updateSeparations(i, &p)
		}
		vn, w1, w2 := p.motion()
		for k := range b.PointsEach {
			q := &b.Points[k&(MaxPoints-1)]
			velocity, separation, impulse, scale := vn+(float32(q.A[i]*w1)+float32(q.B[i]*w2)), q.Separation[i], q.Impulse[i], float32(1)
			if useBias && b.Flags&flagRestitution != 0 && impulse == 0 {
				b.Approach[k&(MaxPoints-1)][i] = velocity
			}
			if useBias && !(separation > 0) {
				velocity += maxFloat(float32(biasRate*separation), slowest)
				scale = massScale
			} else {
				velocity += maxFloat(float32(separation*invH), 0)
			}
			rows[k&(MaxPoints-1)] = makeRow(impulse, q.Mass[i], velocity, scale)
		}
		b.solvePoints(i, &p, &rows, pointSweeps)
		if !useBias {
			for k := range b.PointsEach {
				q := &b.Points[k&(MaxPoints-1)]
				q.TotalImpulse[i] += q.Impulse[i]
			}
		}
		b.store(i, &p)
	}
}

// updateSeparations computes the separations from how the bodies have moved and turned since the step began, to first order of the
// rotations.
func (b *ContactBlock) updateSeparations(i int, p *pair) {
	i &= Lanes - 1
	turnA, turnB := p.a.turn(), p.b.turn()
	atA := p.a.D.Add(turnA.Cross(p.rA))
	moved := p.b.D.Add(turnB.Cross(p.rB)).Sub(atA).Dot(p.n)
	turn := turnB.Sub(turnA)
	about1, about2 := turn.Dot(p.t1), turn.Dot(p.t2)
	for k := range b.PointsEach {
		q := &b.Points[k&(MaxPoints-1)]
		q.Separation[i] = q.BaseSeparation[i] + (moved + (float32(q.A[i]*about1) + float32(q.B[i]*about2)))
	}
}

// pointRow is a point of a contact in an iteration: its impulse before, what the impulse would become if those of the other points stayed
// as they are, and the softened mass.
type pointRow struct{ old, next, mass float32 }

// makeRow makes a row that removes a velocity: with the softness s, the accumulated impulse x and the effective mass m the new impulse is
//
//	x - impulseScale·x - massScale·m·v = massScale·(x - m·v)
//
// as massScale + impulseScale = 1.
func makeRow(impulse, mass, velocity, massScale float32) pointRow {
	mass = float32(massScale * mass)
	return pointRow{impulse, float32(massScale*impulse) - float32(mass*velocity), mass}
}

// solvePoints finds the impulses of the points of a contact together, and applies them: projected Gauss-Seidel iterations on the impulses,
// with the couplings of the points: how an impulse at one changes the velocity at another. The first point of a sweep is the last of the
// one before, and stays as it is, but for the very first. Of the changes of the other points, the last one is subtracted last. A row with
// mass 0 keeps its impulse.
func (b *ContactBlock) solvePoints(i int, p *pair, rows *[MaxPoints]pointRow, sweeps int) {
	var impulse, change [MaxPoints]float32 // and by how much it differs from the old one
	switch b.PointsEach {
	case 1:
		impulse[0] = maxFloat(rows[0].next, 0)
	case 2:
		b.solveTwo(i, rows, &impulse, sweeps)
	case 4:
		b.solveFour(i, rows, &impulse, sweeps)
	default:
		b.solveThree(i, rows, &impulse, sweeps)
	}
	i &= Lanes - 1
	for k := range b.PointsEach {
		k &= MaxPoints - 1
		b.Points[k].Impulse[i], change[k] = impulse[k], impulse[k]-rows[k].old
	}
	b.applyNormals(i, p, &change)
}

func (b *ContactBlock) solveTwo(i int, rows *[MaxPoints]pointRow, impulse *[MaxPoints]float32, sweeps int) {
	i &= Lanes - 1
	r0, r1 := rows[0], rows[1]
	c01 := b.Couplings[0][i]
	e01, e10 := float32(r0.mass*c01), float32(r1.mass*c01)
	x0 := maxFloat(r0.next, 0)
	x1 := maxFloat(r1.next-float32(e10*(x0-r0.old)), 0)
	for sweep := 1; sweep < sweeps; sweep++ {
		if sweep%2 == 1 {
			x0 = maxFloat(r0.next-float32(e01*(x1-r1.old)), 0)
		} else {
			x1 = maxFloat(r1.next-float32(e10*(x0-r0.old)), 0)
		}
	}
	impulse[0], impulse[1] = x0, x1
}

func (b *ContactBlock) solveThree(i int, rows *[MaxPoints]pointRow, impulse *[MaxPoints]float32, sweeps int) {
	i &= Lanes - 1
	r0, r1, r2 := rows[0], rows[1], rows[2]
	c01, c02, c12 := b.Couplings[0][i], b.Couplings[1][i], b.Couplings[3][i]
	e01, e02, e10 := float32(r0.mass*c01), float32(r0.mass*c02), float32(r1.mass*c01)
	e12, e20, e21 := float32(r1.mass*c12), float32(r2.mass*c02), float32(r2.mass*c12)
	x0 := maxFloat(r0.next, 0)
	d0 := x0 - r0.old
	x1 := maxFloat(r1.next-float32(e10*d0), 0)
	d1 := x1 - r1.old
	x2 := maxFloat(r2.next-float32(e20*d0)-float32(e21*d1), 0)
	d2 := x2 - r2.old
	for sweep := 1; ; sweep += 2 {
		x1 = maxFloat(r1.next-float32(e10*d0)-float32(e12*d2), 0)
		d1 = x1 - r1.old
		x0 = maxFloat(r0.next-float32(e02*d2)-float32(e01*d1), 0)
		d0 = x0 - r0.old
		if sweep+1 >= sweeps {
			break
		}
		x1 = maxFloat(r1.next-float32(e12*d2)-float32(e10*d0), 0)
		d1 = x1 - r1.old
		x2 = maxFloat(r2.next-float32(e20*d0)-float32(e21*d1), 0)
		d2 = x2 - r2.old
	}
	impulse[0], impulse[1], impulse[2] = x0, x1, x2
}

func (b *ContactBlock) solveFour(i int, rows *[MaxPoints]pointRow, impulse *[MaxPoints]float32, sweeps int) {
	i &= Lanes - 1
	r0, r1, r2, r3 := rows[0], rows[1], rows[2], rows[3]
	c01, c02, c03 := b.Couplings[0][i], b.Couplings[1][i], b.Couplings[2][i]
	c12, c13, c23 := b.Couplings[3][i], b.Couplings[4][i], b.Couplings[5][i]
	e01, e02, e03 := float32(r0.mass*c01), float32(r0.mass*c02), float32(r0.mass*c03)
	e10, e12, e13 := float32(r1.mass*c01), float32(r1.mass*c12), float32(r1.mass*c13)
	e20, e21, e23 := float32(r2.mass*c02), float32(r2.mass*c12), float32(r2.mass*c23)
	e30, e31, e32 := float32(r3.mass*c03), float32(r3.mass*c13), float32(r3.mass*c23)
	x0 := maxFloat(r0.next, 0)
	d0 := x0 - r0.old
	x1 := maxFloat(r1.next-float32(e10*d0), 0)
	d1 := x1 - r1.old
	x2 := maxFloat(r2.next-float32(e20*d0)-float32(e21*d1), 0)
	d2 := x2 - r2.old
	x3 := maxFloat(r3.next-float32(e30*d0)-float32(e31*d1)-float32(e32*d2), 0)
	d3 := x3 - r3.old
	for sweep := 1; ; sweep += 2 {
		x2 = maxFloat(r2.next-float32(e20*d0)-float32(e21*d1)-float32(e23*d3), 0)
		d2 = x2 - r2.old
		x1 = maxFloat(r1.next-float32(e10*d0)-float32(e13*d3)-float32(e12*d2), 0)
		d1 = x1 - r1.old
		x0 = maxFloat(r0.next-float32(e03*d3)-float32(e02*d2)-float32(e01*d1), 0)
		d0 = x0 - r0.old
		if sweep+1 >= sweeps {
			break
		}
		x1 = maxFloat(r1.next-float32(e13*d3)-float32(e12*d2)-float32(e10*d0), 0)
		d1 = x1 - r1.old
		x2 = maxFloat(r2.next-float32(e23*d3)-float32(e20*d0)-float32(e21*d1), 0)
		d2 = x2 - r2.old
		x3 = maxFloat(r3.next-float32(e30*d0)-float32(e31*d1)-float32(e32*d2), 0)
		d3 = x3 - r3.old
	}
	impulse[0], impulse[1], impulse[2], impulse[3] = x0, x1, x2, x3
}

// couplings are the numbers of the couplings of two points.
var couplings = [MaxPoints][MaxPoints]int{{0, 0, 1, 2}, {0, 0, 3, 4}, {1, 3, 0, 5}, {2, 4, 5, 0}}

// solveFriction solves rolling resistance, then friction at the centre of the points: along both tangents together, within a circle of the
// coefficient times the sum of the normal impulses; and about the normal, at most the coefficient times the sum of these with their
// lever arms, plus the resistance to twist.
func (b *ContactBlock) solveFriction(i int, p *pair) {
	i &= Lanes - 1
	first := &b.Points[0]
	sum, levers := first.Impulse[i], float32(first.LeverArm[i]*first.Impulse[i])
	for k := uint32(1); k < b.PointsEach; k++ {
		q := &b.Points[k&(MaxPoints-1)]
		sum += q.Impulse[i]
		levers += float32(q.LeverArm[i] * q.Impulse[i])
	}
	rolls := b.rolls(i)
	if rolls {
		b.solveRolling(i, p, sum)
	}
	v, w := p.velocity(), p.wB.Sub(p.wA)
	v1, v2 := v.Dot(p.t1), v.Dot(p.t2)
	if b.Flags&flagSurface != 0 {
		v1, v2 = v1-b.SurfaceX[i], v2-b.SurfaceY[i]
	}
	x, y := b.FrictionMass.mul(i, v1, v2)
	x, y = clampCircle(b.X[i]-x, b.Y[i]-y, float32(b.Friction[i]*sum))
	changeX, changeY := x-b.X[i], y-b.Y[i]
	b.X[i], b.Y[i] = x, y

	spin := w.Dot(p.n) + (float32(b.Twist1[i]*changeX) + float32(b.Twist2[i]*changeY))
	limit := float32(b.Friction[i] * levers)
	if rolls {
		limit += float32(b.TwistResistance[i] * sum)
	}
	twist := clamp(b.Twist[i]-float32(b.TwistMass[i]*spin), limit)
	changeTwist := twist - b.Twist[i]
	b.Twist[i] = twist
	b.apply(i, p, p.t1.Times(changeX).addTimes(p.t2, changeY), p.n.Times(changeTwist))
}

// solveRolling makes the relative angular velocity about the tangents zero, with an impulse of at most the resistance times the sum of
// the normal impulses.
func (b *ContactBlock) solveRolling(i int, p *pair, sum float32) {
	w := p.wB.Sub(p.wA)
	x, y := b.RollingMass.mul(i, w.Dot(p.t1), w.Dot(p.t2))
	x, y = clampCircle(b.RollingX[i]-x, b.RollingY[i]-y, float32(b.RollingResistance[i]*sum))
	angular := p.t1.Times(x-b.RollingX[i]).addTimes(p.t2, y-b.RollingY[i])
	b.RollingX[i], b.RollingY[i] = x, y
	b.apply(i, p, Vec{}, angular)
}

// clamp returns v within ±limit, and a bound for NaN.
func clamp(v, limit float32) float32 { return maxFloat(minFloat(v, limit), -limit) }

// clampCircle shortens (x, y) to the limit. A NaN becomes a bound.
func clampCircle(x, y, limit float32) (float32, float32) {
	square := float32(x*x) + float32(y*y)
	if square <= float32(limit*limit) {
		return x, y
	}
	scale := limit / sqrt(square)
	return clamp(float32(x*scale), limit), clamp(float32(y*scale), limit)
}

// ApplyRestitution makes points of blocks [lo, hi) bounce that have restitution, were touched in this sub-step for the first time, and were approached
// faster than the threshold: their bodies part at the approach velocity times the restitution. It follows in each sub-step, so that a
// bounce loses at most the way of one sub-step.
func (s *System) ApplyRestitution(lo, hi int) { kernelsOf(s.Level).applyRestitution(s, lo, hi) }

// HasRestitution reports whether ApplyRestitution does anything to blocks [lo, hi).
func (s *System) HasRestitution(lo, hi int) bool {
	for i := range s.Blocks[lo:hi] {
		if s.Blocks[lo+i].Flags&flagRestitution != 0 {
			return true
		}
	}
	return false
}

func (s *System) applyRestitutionGo(lo, hi int) {
	for i := range s.Blocks[lo:hi] {
		s.Blocks[lo+i].applyRestitution(s.States, s.step.threshold)
	}
}

func (b *ContactBlock) applyRestitution(states []State, threshold float32) {
	if b.Flags&flagRestitution == 0 {
		return
	}
	var p pair
	var rows [MaxPoints]pointRow
	for i := range int(b.Contacts) {
		i &= Lanes - 1
		if !(b.Restitution[i] > 0) {
			continue
		}
		b.load(i, states, &p)
		vn, w1, w2 := p.motion()
		for k := range b.PointsEach {
			q, approach := &b.Points[k], &b.Approach[k][i]
			impulse := q.Impulse[i]
			rows[k] = pointRow{old: impulse, next: impulse}
			if impulse > 0 && *approach < -threshold {
				v := vn + (float32(q.A[i]*w1) + float32(q.B[i]*w2))
				rows[k] = makeRow(impulse, q.Mass[i], v+float32(b.Restitution[i]**approach), 1)
			}
			*approach = 0
		}
		b.solvePoints(i, &p, &rows, bounceSweeps)
		for k := range b.PointsEach {
			q := &b.Points[k]
			q.TotalImpulse[i] += q.Impulse[i] - rows[k].old
		}
		b.store(i, &p)
	}
}
