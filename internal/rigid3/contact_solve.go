package rigid3

const (
	// pointSweeps is how often an iteration goes over the points of a contact, forwards and backwards by turns. With one sweep the order
	// of the points would tilt what stands on them: a tower of 20 small cubes shifts by 2 cm in 8 s, with two by 5 mm, with four by
	// 1 mm.
	pointSweeps = 4

	// bounceSweeps is the same for restitution, which has no later iteration that would correct it.
	bounceSweeps = 8
)

// velocities are those of the two bodies of a contact.
type velocities struct{ vA, wA, vB, wB Vec }

func (b *ContactBlock) load(i int, states []State) velocities {
	a, o := &states[b.A[i]], &states[b.B[i]]
	return velocities{a.V, a.W, o.V, o.W}
}

// store writes the velocities of the bodies that are dynamic.
func (b *ContactBlock) store(i int, states []State, v *velocities) {
	if b.DynamicA>>i&1 != 0 {
		states[b.A[i]].V, states[b.A[i]].W = v.vA, v.wA
	}
	if b.DynamicB>>i&1 != 0 {
		states[b.B[i]].V, states[b.B[i]].W = v.vB, v.wB
	}
}

// along is the velocity at which the bodies part along a direction, at an anchor with the rows ja and jb.
func (v *velocities) along(n, ja, jb Vec) float32 {
	return v.vB.sub(v.vA).dot(n) + (v.wB.dot(jb) - v.wA.dot(ja))
}

// apply applies an impulse along a direction.
func (v *velocities) apply(b *ContactBlock, i int, impulse float32, n, ka, kb Vec) {
	v.vA = v.vA.addTimes(n, -float32(b.InvMassA[i]*impulse))
	v.wA = v.wA.addTimes(ka, -impulse)
	v.vB = v.vB.addTimes(n, float32(b.InvMassB[i]*impulse))
	v.wB = v.wB.addTimes(kb, impulse)
}

// warmStart applies the accumulated impulses.
func (b *ContactBlock) warmStart(states []State) {
	for i := range int(b.Contacts) {
		v, n, t1 := b.load(i, states), b.Normal.at(i), b.Tangent.at(i)
		f := &b.Friction
		v.apply(b, i, f.X[i], t1, f.K1A.at(i), f.K1B.at(i))
		v.apply(b, i, f.Y[i], t1.cross(n), f.K2A.at(i), f.K2B.at(i))
		v.wA = v.wA.addTimes(f.TwistA.at(i), -f.Twist[i])
		v.wB = v.wB.addTimes(f.TwistB.at(i), f.Twist[i])
		if b.Flags&flagRolling != 0 {
			v.wA = v.wA.addTimes(b.R1A.at(i), -b.RollingX[i]).addTimes(b.R2A.at(i), -b.RollingY[i])
			v.wB = v.wB.addTimes(b.R1B.at(i), b.RollingX[i]).addTimes(b.R2B.at(i), b.RollingY[i])
		}
		for k := range b.PointsEach {
			p := &b.Points[k]
			v.apply(b, i, p.Impulse[i], n, p.KA.at(i), p.KB.at(i))
		}
		b.store(i, states, &v)
	}
}

// solve runs one iteration of each contact: friction, then the normal impulses, which come last, so that they hold exactly when the
// iteration ends. Impulses are accumulated, and clamped as sums.
//
// A point with separation s > 0 may close s in the sub-step: its normal impulse makes v + s/h zero. At a point that overlaps, an
// iteration with bias removes the overlap, softly and not faster than PushSpeed. The iteration without bias makes v zero, and has
// friction.
func (b *ContactBlock) solve(states []State, step *stepContext, useBias bool) {
	soft := &step.contactSoftness
	if b.Flags&flagStaticBody != 0 {
		soft = &step.staticSoftness
	}
	for i := range int(b.Contacts) {
		v, n := b.load(i, states), b.Normal.at(i)
		if useBias {
			b.noteApproach(i, &v, n)
		} else {
			b.solveFriction(i, &v, n)
		}
		stateA, stateB := &states[b.A[i]], &states[b.B[i]]
		moved, turnA, turnB := stateB.D.sub(stateA.D).dot(n), stateA.turn(), stateB.turn()
		var rows [MaxPoints]pointRow
		for k := range b.PointsEach {
			p, r := &b.Points[k], &rows[k]
			ja, jb := p.JA.at(i), p.JB.at(i)
			separation := p.BaseSeparation[i] + (moved + (turnB.dot(jb) - turnA.dot(ja)))
			*r = pointRow{velocity: v.along(n, ja, jb), massScale: 1}
			if separation > 0 {
				r.velocity += float32(separation * step.invH)
			} else if useBias {
				r.velocity += maxFloat(float32(soft.biasRate*separation), -step.maxBiasVelocity)
				r.massScale, r.impulseScale = soft.massScale, soft.impulseScale
			}
		}
		b.solvePoints(i, &v, n, &rows, pointSweeps)
		for k := range b.PointsEach {
			b.Points[k].TotalImpulse[i] += b.Points[k].Impulse[i]
		}
		b.store(i, states, &v)
	}
}

// pointRow is a point of a contact in an iteration: the velocity to be made zero, which the iteration found, and the softness.
type pointRow struct{ velocity, massScale, impulseScale float32 }

// solvePoints finds the impulses of the points of a contact together, and applies them: projected Gauss-Seidel iterations on the impulses,
// with the couplings of the points: how an impulse at one changes the velocity at another. A row with massScale 0 keeps its
// impulse.
func (b *ContactBlock) solvePoints(i int, v *velocities, n Vec, rows *[MaxPoints]pointRow, sweeps int) {
	var old, change [MaxPoints]float32 // the impulses before, and by how much they differ from these
	for k := range b.PointsEach {
		old[k] = b.Points[k].Impulse[i]
	}
	for sweep := range sweeps {
		for m := range b.PointsEach {
			k := m
			if sweep%2 == 1 {
				k = b.PointsEach - 1 - m
			}
			p, r := &b.Points[k], &rows[k]
			coupled := float32(0)
			for o := range b.PointsEach {
				if o != k {
					coupled += float32(b.coupling(i, k, o) * change[o])
				}
			}
			error := float32(p.Mass[i]*(r.velocity+coupled)) + change[k]
			impulse := old[k] + change[k]
			impulse = maxFloat((impulse-float32(r.impulseScale*impulse))-float32(r.massScale*error), 0)
			change[k] = impulse - old[k]
		}
	}
	for k := range b.PointsEach {
		p := &b.Points[k]
		p.Impulse[i] = old[k] + change[k]
		v.apply(b, i, change[k], n, p.KA.at(i), p.KB.at(i))
	}
}

// couplings are the numbers of the couplings of two points.
var couplings = [MaxPoints][MaxPoints]int{{0, 0, 1, 2}, {0, 0, 3, 4}, {1, 3, 0, 5}, {2, 4, 5, 0}}

// coupling is the change of the normal velocity at one point by an impulse at another one.
func (b *ContactBlock) coupling(i int, k, o uint32) float32 { return b.Couplings[couplings[k][o]][i] }

// noteApproach keeps the normal velocities of points that were not touched before, for restitution.
func (b *ContactBlock) noteApproach(i int, v *velocities, n Vec) {
	if b.Flags&flagRestitution == 0 {
		return
	}
	for k := range b.PointsEach {
		if p := &b.Points[k]; p.Impulse[i] == 0 {
			p.ApproachVelocity[i] = v.along(n, p.JA.at(i), p.JB.at(i))
		}
	}
}

// solveFriction solves the friction at the centre of the points: along both tangents together, within a circle of the coefficient times
// the sum of the normal impulses; and about the normal, at most the coefficient times the sum of these with their lever arms. Rolling
// resistance does the same with the relative angular velocity about the tangents, at most its lever arm times the sum.
func (b *ContactBlock) solveFriction(i int, v *velocities, n Vec) {
	sum, levers := float32(0), float32(0)
	for k := range b.PointsEach {
		p := &b.Points[k]
		sum += p.Impulse[i]
		levers += float32(p.LeverArm[i] * p.Impulse[i])
	}
	f := &b.Friction
	t1 := b.Tangent.at(i)
	t2 := t1.cross(n)

	twist := v.wB.sub(v.wA).dot(n)
	limit := float32(f.Coefficient[i]*levers) + float32(b.TwistResistance[i]*sum)
	old := f.Twist[i]
	f.Twist[i] = clamp(old-float32(f.TwistMass[i]*twist), limit)
	change := f.Twist[i] - old
	v.wA = v.wA.addTimes(f.TwistA.at(i), -change)
	v.wB = v.wB.addTimes(f.TwistB.at(i), change)

	if b.Flags&flagRolling != 0 {
		b.solveRolling(i, v, t1, t2, sum)
	}

	x := v.along(t1, f.J1A.at(i), f.J1B.at(i)) - b.SurfaceX[i]
	y := v.along(t2, f.J2A.at(i), f.J2B.at(i)) - b.SurfaceY[i]
	newX := f.X[i] - (float32(f.Mass.XX[i]*x) + float32(f.Mass.XY[i]*y))
	newY := f.Y[i] - (float32(f.Mass.XY[i]*x) + float32(f.Mass.YY[i]*y))
	newX, newY = clampCircle(newX, newY, float32(f.Coefficient[i]*sum))
	changeX, changeY := newX-f.X[i], newY-f.Y[i]
	f.X[i], f.Y[i] = newX, newY
	v.apply(b, i, changeX, t1, f.K1A.at(i), f.K1B.at(i))
	v.apply(b, i, changeY, t2, f.K2A.at(i), f.K2B.at(i))
}

// solveRolling solves rolling resistance.
func (b *ContactBlock) solveRolling(i int, v *velocities, t1, t2 Vec, sum float32) {
	w := v.wB.sub(v.wA)
	x, y := w.dot(t1), w.dot(t2)
	newX := b.RollingX[i] - (float32(b.RollingMass.XX[i]*x) + float32(b.RollingMass.XY[i]*y))
	newY := b.RollingY[i] - (float32(b.RollingMass.XY[i]*x) + float32(b.RollingMass.YY[i]*y))
	newX, newY = clampCircle(newX, newY, float32(b.RollingResistance[i]*sum))
	changeX, changeY := newX-b.RollingX[i], newY-b.RollingY[i]
	b.RollingX[i], b.RollingY[i] = newX, newY
	v.wA = v.wA.addTimes(b.R1A.at(i), -changeX).addTimes(b.R2A.at(i), -changeY)
	v.wB = v.wB.addTimes(b.R1B.at(i), changeX).addTimes(b.R2B.at(i), changeY)
}

// clamp returns v within ±limit, and a bound for NaN.
func clamp(v, limit float32) float32 { return maxFloat(minFloat(v, limit), -limit) }

// clampCircle shortens (x, y) to the limit.
func clampCircle(x, y, limit float32) (float32, float32) {
	square := float32(x*x) + float32(y*y)
	if !(square > float32(limit*limit)) {
		return x, y
	}
	scale := limit / sqrt(square)
	return float32(x * scale), float32(y * scale)
}

// applyRestitution makes points bounce that have restitution, were touched in this sub-step for the first time, and were approached
// faster than the threshold: their bodies part at the approach velocity times the restitution. It follows in each sub-step, so that a
// bounce loses at most the way of one sub-step.
func (b *ContactBlock) applyRestitution(states []State, threshold float32) {
	if b.Flags&flagRestitution == 0 {
		return
	}
	for i := range int(b.Contacts) {
		v, n := b.load(i, states), b.Normal.at(i)
		var rows [MaxPoints]pointRow
		for k := range b.PointsEach {
			p := &b.Points[k]
			if p.Impulse[i] > 0 && p.ApproachVelocity[i] < -threshold && b.Restitution[i] > 0 {
				rows[k] = pointRow{velocity: v.along(n, p.JA.at(i), p.JB.at(i)) + float32(b.Restitution[i]*p.ApproachVelocity[i]), massScale: 1}
			}
			p.ApproachVelocity[i] = 0
		}
		b.solvePoints(i, &v, n, &rows, bounceSweeps)
		b.store(i, states, &v)
	}
}
