package rigid3

const (
	// pointSweeps is how often an iteration goes over the points of a contact, forwards and backwards by turns; an even number. With one
	// sweep the order of the points would tilt what stands on them: a tower of 20 small cubes shifts by 2 cm in 8 s, with two by 5 mm,
	// with four by 1 mm.
	pointSweeps = 4

	// bounceSweeps is the same for restitution, which has no later iteration that would correct it.
	bounceSweeps = 8
)

// pair is the two bodies of a contact in an iteration, and its frame.
type pair struct {
	vA, wA, vB, wB Vec
	n, t1, t2      Vec
	a, b           *State
}

func (b *ContactBlock) load(i int, states []State) (p pair) {
	p.a, p.b = &states[b.A[i]], &states[b.B[i]]
	p.vA, p.wA, p.vB, p.wB = p.a.V, p.a.W, p.b.V, p.b.W
	p.n, p.t1 = b.Normal.at(i), b.Tangent.at(i)
	p.t2 = p.n.cross(p.t1)
	return p
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
func (b *ContactBlock) velocity(i int, p *pair) Vec {
	return p.vB.add(p.wB.cross(b.AnchorB.at(i))).sub(p.vA.add(p.wA.cross(b.AnchorA.at(i))))
}

// apply applies an impulse at the centre, and an angular impulse. Along locked axes nothing yields.
func (b *ContactBlock) apply(i int, p *pair, impulse, angular Vec) {
	onA, onB := impulse, impulse
	if b.Flags&flagLocked != 0 {
		onA, onB = impulse.unlocked(p.a.Locks), impulse.unlocked(p.b.Locks)
	}
	p.vA = p.vA.addTimes(onA, -p.a.InvMass)
	p.vB = p.vB.addTimes(onB, p.b.InvMass)
	p.wA = p.wA.sub(b.InertiaA.mul(i, b.AnchorA.at(i).cross(impulse).add(angular)))
	p.wB = p.wB.add(b.InertiaB.mul(i, b.AnchorB.at(i).cross(impulse).add(angular)))
}

// applyNormals applies normal impulses of the points.
func (b *ContactBlock) applyNormals(i int, p *pair, impulses *[MaxPoints]float32) {
	first := &b.Points[0]
	sum, about1, about2 := impulses[0], float32(first.A[i]*impulses[0]), float32(first.B[i]*impulses[0])
	for k := 1; k < int(b.PointsEach); k++ {
		sum += impulses[k]
		about1 += float32(b.Points[k].A[i] * impulses[k])
		about2 += float32(b.Points[k].B[i] * impulses[k])
	}
	b.apply(i, p, p.n.times(sum), p.t1.times(about1).addTimes(p.t2, about2))
}

// WarmStart applies the accumulated impulses of blocks [lo, hi), in the first sub-step: see IntegrateVelocities.
func (s *System) WarmStart(lo, hi int) { kernelsOf(s.Level).warmStart(s, lo, hi) }

func (s *System) warmStartGo(lo, hi int) {
	for i := range s.Blocks[lo:hi] {
		s.Blocks[lo+i].warmStart(s.States)
	}
}

func (b *ContactBlock) warmStart(states []State) {
	for i := range int(b.Contacts) {
		p := b.load(i, states)
		angular := p.n.times(b.Twist[i])
		if b.Flags&flagRolling != 0 {
			angular = angular.addTimes(p.t1, b.RollingX[i]).addTimes(p.t2, b.RollingY[i])
		}
		b.apply(i, &p, p.t1.times(b.X[i]).addTimes(p.t2, b.Y[i]), angular)
		var impulses [MaxPoints]float32
		for k := range b.PointsEach {
			impulses[k] = b.Points[k].Impulse[i]
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
	for i := range int(b.Contacts) {
		p := b.load(i, states)
		soft := &step.staticSoftness
		if b.Flags&flagStaticBody == 0 {
			soft = step.softnessOf(p.a.InvMass, p.b.InvMass)
		}
		if !useBias {
			b.solveFriction(i, &p)
			b.updateSeparations(i, &p)
		}
		vn, w := b.velocity(i, &p).dot(p.n), p.wB.sub(p.wA)
		w1, w2 := w.dot(p.t1), w.dot(p.t2)
		var rows [MaxPoints]pointRow
		for k := range b.PointsEach {
			q := &b.Points[k]
			velocity, separation, massScale := vn+(float32(q.A[i]*w1)+float32(q.B[i]*w2)), q.Separation[i], float32(1)
			if useBias && b.Flags&flagRestitution != 0 && q.Impulse[i] == 0 {
				b.Approach[k][i] = velocity
			}
			if useBias && !(separation > 0) {
				velocity += maxFloat(float32(soft.biasRate*separation), -step.maxBiasVelocity)
				massScale = soft.massScale
			} else {
				velocity += maxFloat(float32(separation*step.invH), 0)
			}
			rows[k] = b.makeRow(int(k), i, velocity, massScale)
		}
		b.solvePoints(i, &p, &rows, pointSweeps)
		if !useBias {
			for k := range b.PointsEach {
				b.Points[k].TotalImpulse[i] += b.Points[k].Impulse[i]
			}
		}
		b.store(i, &p)
	}
}

// updateSeparations computes the separations from how the bodies have moved and turned since the step began, to first order of the
// rotations.
func (b *ContactBlock) updateSeparations(i int, p *pair) {
	turnA, turnB := p.a.turn(), p.b.turn()
	moved := p.b.D.add(turnB.cross(b.AnchorB.at(i))).sub(p.a.D.add(turnA.cross(b.AnchorA.at(i)))).dot(p.n)
	turn := turnB.sub(turnA)
	about1, about2 := turn.dot(p.t1), turn.dot(p.t2)
	for k := range b.PointsEach {
		q := &b.Points[k]
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
func (b *ContactBlock) makeRow(k, i int, velocity, massScale float32) pointRow {
	q := &b.Points[k]
	mass := float32(massScale * q.Mass[i])
	return pointRow{q.Impulse[i], float32(massScale*q.Impulse[i]) - float32(mass*velocity), mass}
}

// solvePoints finds the impulses of the points of a contact together, and applies them: projected Gauss-Seidel iterations on the impulses,
// with the couplings of the points: how an impulse at one changes the velocity at another. The first point of a sweep is the last of the
// one before, and stays as it is, but for the very first. A row with mass 0 keeps its impulse.
func (b *ContactBlock) solvePoints(i int, p *pair, rows *[MaxPoints]pointRow, sweeps int) {
	var impulse, change [MaxPoints]float32    // and by how much it differs from the old one
	var effects [MaxPoints][MaxPoints]float32 // of the change of one point on another
	n := int(b.PointsEach)
	for k := range n {
		for o := range n {
			if o != k {
				effects[k][o] = float32(rows[k].mass * b.Couplings[couplings[k][o]][i])
			}
		}
	}
	for k := range n { // the later points have not changed
		x := rows[k].next
		for o := range k {
			x -= float32(effects[k][o] * change[o])
		}
		impulse[k] = maxFloat(x, 0)
		change[k] = impulse[k] - rows[k].old
	}
	for sweep := 1; sweep < sweeps; sweep++ {
		if sweep%2 == 1 {
			for k := n - 2; k >= 0; k-- {
				x := rows[k].next
				for o := range k {
					x -= float32(effects[k][o] * change[o])
				}
				for o := n - 1; o > k; o-- { // the last one to change comes last
					x -= float32(effects[k][o] * change[o])
				}
				impulse[k] = maxFloat(x, 0)
				change[k] = impulse[k] - rows[k].old
			}
			continue
		}
		for k := 1; k < n; k++ {
			x := rows[k].next
			for o := n - 1; o > k; o-- {
				x -= float32(effects[k][o] * change[o])
			}
			for o := range k {
				x -= float32(effects[k][o] * change[o])
			}
			impulse[k] = maxFloat(x, 0)
			change[k] = impulse[k] - rows[k].old
		}
	}
	for k := range n {
		b.Points[k].Impulse[i] = impulse[k]
	}
	b.applyNormals(i, p, &change)
}

// couplings are the numbers of the couplings of two points.
var couplings = [MaxPoints][MaxPoints]int{{0, 0, 1, 2}, {0, 0, 3, 4}, {1, 3, 0, 5}, {2, 4, 5, 0}}

// solveFriction solves rolling resistance, then friction at the centre of the points: along both tangents together, within a circle of the
// coefficient times the sum of the normal impulses; and about the normal, at most the coefficient times the sum of these with their
// lever arms, plus the resistance to twist.
func (b *ContactBlock) solveFriction(i int, p *pair) {
	first := &b.Points[0]
	sum, levers := first.Impulse[i], float32(first.LeverArm[i]*first.Impulse[i])
	for k := 1; k < int(b.PointsEach); k++ {
		q := &b.Points[k]
		sum += q.Impulse[i]
		levers += float32(q.LeverArm[i] * q.Impulse[i])
	}
	if b.Flags&flagRolling != 0 {
		b.solveRolling(i, p, sum)
	}
	v, w := b.velocity(i, p), p.wB.sub(p.wA)
	v1, v2 := v.dot(p.t1), v.dot(p.t2)
	if b.Flags&flagSurface != 0 {
		v1, v2 = v1-b.SurfaceX[i], v2-b.SurfaceY[i]
	}
	x, y := b.FrictionMass.mul(i, v1, v2)
	x, y = clampCircle(b.X[i]-x, b.Y[i]-y, float32(b.Friction[i]*sum))
	changeX, changeY := x-b.X[i], y-b.Y[i]
	b.X[i], b.Y[i] = x, y

	spin := w.dot(p.n) + (float32(b.Twist1[i]*changeX) + float32(b.Twist2[i]*changeY))
	limit := float32(b.Friction[i] * levers)
	if b.Flags&flagRolling != 0 {
		limit += float32(b.TwistResistance[i] * sum)
	}
	twist := clamp(b.Twist[i]-float32(b.TwistMass[i]*spin), limit)
	changeTwist := twist - b.Twist[i]
	b.Twist[i] = twist
	b.apply(i, p, p.t1.times(changeX).addTimes(p.t2, changeY), p.n.times(changeTwist))
}

// solveRolling makes the relative angular velocity about the tangents zero, with an impulse of at most the resistance times the sum of
// the normal impulses.
func (b *ContactBlock) solveRolling(i int, p *pair, sum float32) {
	w := p.wB.sub(p.wA)
	x, y := b.RollingMass.mul(i, w.dot(p.t1), w.dot(p.t2))
	x, y = clampCircle(b.RollingX[i]-x, b.RollingY[i]-y, float32(b.RollingResistance[i]*sum))
	angular := p.t1.times(x-b.RollingX[i]).addTimes(p.t2, y-b.RollingY[i])
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
	for i := range int(b.Contacts) {
		p := b.load(i, states)
		vn, w := b.velocity(i, &p).dot(p.n), p.wB.sub(p.wA)
		w1, w2 := w.dot(p.t1), w.dot(p.t2)
		var rows [MaxPoints]pointRow
		for k := range b.PointsEach {
			q, approach := &b.Points[k], b.Approach[k][i]
			rows[k] = pointRow{old: q.Impulse[i], next: q.Impulse[i]}
			if q.Impulse[i] > 0 && approach < -threshold && b.Restitution[i] > 0 {
				v := vn + (float32(q.A[i]*w1) + float32(q.B[i]*w2))
				rows[k] = b.makeRow(int(k), i, v+float32(b.Restitution[i]*approach), 1)
			}
			b.Approach[k][i] = 0
		}
		b.solvePoints(i, &p, &rows, bounceSweeps)
		for k := range b.PointsEach {
			q := &b.Points[k]
			q.TotalImpulse[i] += q.Impulse[i] - rows[k].old
		}
		b.store(i, &p)
	}
}
