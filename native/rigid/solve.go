package rigid

import "github.com/evertick/evertick/native"

// WarmStart applies the accumulated impulses of blocks [lo, hi) to the velocities of their
// bodies. Like all that works on blocks it reads rows of bodies that are not dynamic and
// does not write them.
func (s *System) WarmStart(level native.Level, lo, hi int) {
	blocks := s.Blocks[lo:hi]
	if level = must(level); level != native.Go && len(blocks) > 0 {
		s.warmStartC(level, blocks)
		return
	}
	for i := range blocks {
		warmStartGo(&blocks[i], s.States)
	}
}

func warmStartGo(b *Block, states []State) {
	for i := range b.Contacts {
		i &= Lanes - 1
		stateA, stateB := &states[b.A[i]], &states[b.B[i]]
		ax, ay, aw, massA, invIA := stateA.VX, stateA.VY, stateA.W, stateA.InvMass, b.InvIA[i]
		bx, by, bw, massB, invIB := stateB.VX, stateB.VY, stateB.W, stateB.InvMass, b.InvIB[i]
		nx, ny := b.NormalX[i], b.NormalY[i]
		for k := range b.PointsEach {
			p := &b.Points[k&1]
			px := float32(p.Normal[i]*nx) + float32(p.Tangent[i]*ny)
			py := float32(p.Normal[i]*ny) - float32(p.Tangent[i]*nx)
			ax -= float32(massA * px)
			ay -= float32(massA * py)
			aw -= float32(invIA * (float32(p.AX[i]*py) - float32(p.AY[i]*px)))
			bx += float32(massB * px)
			by += float32(massB * py)
			bw += float32(invIB * (float32(p.BX[i]*py) - float32(p.BY[i]*px)))
		}
		aw -= float32(invIA * b.RollingImpulse[i])
		bw += float32(invIB * b.RollingImpulse[i])
		if b.DynamicA>>i&1 != 0 {
			stateA.VX, stateA.VY, stateA.W = ax, ay, aw
		}
		if b.DynamicB>>i&1 != 0 {
			stateB.VX, stateB.VY, stateB.W = bx, by, bw
		}
	}
}

// Solve does one iteration of each contact of blocks [lo, hi): friction of its points,
// rolling resistance, then the normal impulses, so that it is these that hold when the
// iteration ends. Impulses are accumulated and clamped as sums.
//
// Friction makes the sliding velocity, less the tangent speed, zero with an impulse
// up to the friction coefficient times the normal impulse so far. Rolling resistance does so
// with the relative angular velocity, up to its lever arm times the sum of the normal
// impulses.
//
// A point that is x > 0 apart may close x in the sub-step: its normal impulse makes v + x/h
// zero, where v is the velocity at which the bodies part. Of a point that overlaps, a
// biased iteration removes the overlap, softly and not faster than PushSpeed; the
// other, which follows after the positions were integrated, relaxes: it makes v zero.
//
// Clamping turns NaN into a bound, so that a body that is not finite pushes no other.
func (s *System) Solve(level native.Level, useBias bool, lo, hi int) {
	blocks := s.Blocks[lo:hi]
	if level = must(level); level != native.Go && len(blocks) > 0 {
		s.solveC(level, useBias, blocks)
		return
	}
	for i := range blocks {
		soft := rigidly
		if useBias {
			soft = s.pace.softness(&blocks[i])
		}
		solveGo(&blocks[i], s.States, soft, s.pace.invH, s.pace.push, useBias)
	}
}

// softness of the contacts of a block.
func (k *pace) softness(b *Block) softness {
	if b.Flags&blockFixed != 0 {
		return k.fixed
	}
	return k.moving
}

func solveGo(b *Block, states []State, soft softness, invH, push float32, useBias bool) {
	for i := range b.Contacts {
		i &= Lanes - 1
		stateA, stateB := &states[b.A[i]], &states[b.B[i]]
		ax, ay, aw, massA, invIA := stateA.VX, stateA.VY, stateA.W, stateA.InvMass, b.InvIA[i]
		bx, by, bw, massB, invIB := stateB.VX, stateB.VY, stateB.W, stateB.InvMass, b.InvIB[i]
		nx, ny := b.NormalX[i], b.NormalY[i]
		sum := float32(0) // of the normal impulses
		for k := range b.PointsEach {
			p := &b.Points[k&1]
			rax, ray, rbx, rby := p.AX[i], p.AY[i], p.BX[i], p.BY[i]
			vx := (bx - float32(bw*rby)) - (ax - float32(aw*ray))
			vy := (by + float32(bw*rbx)) - (ay + float32(aw*rax))
			v := (float32(vx*ny) - float32(vy*nx)) - b.TangentSpeed[i]
			limit := float32(b.Friction[i] * p.Normal[i])
			sum += p.Normal[i]
			old := p.Tangent[i]
			total := most(least(old-float32(p.TangentMass[i]*v), limit), -limit)
			p.Tangent[i] = total
			px, py := float32((total-old)*ny), -float32((total-old)*nx)
			ax -= float32(massA * px)
			ay -= float32(massA * py)
			aw -= float32(invIA * (float32(rax*py) - float32(ray*px)))
			bx += float32(massB * px)
			by += float32(massB * py)
			bw += float32(invIB * (float32(rbx*py) - float32(rby*px)))
		}
		if b.Flags&blockRolls != 0 {
			limit := float32(b.RollingResistance[i] * sum)
			old := b.RollingImpulse[i]
			total := most(least(old-float32(b.RollingMass[i]*(bw-aw)), limit), -limit)
			b.RollingImpulse[i] = total
			aw -= float32(invIA * (total - old))
			bw += float32(invIB * (total - old))
		}
		for k := range b.PointsEach {
			p := &b.Points[k&1]
			rax, ray, rbx, rby := p.AX[i], p.AY[i], p.BX[i], p.BY[i]
			dx := (stateB.DX + (float32(stateB.C*rbx) - float32(stateB.S*rby))) - (stateA.DX + (float32(stateA.C*rax) - float32(stateA.S*ray)))
			dy := (stateB.DY + (float32(stateB.S*rbx) + float32(stateB.C*rby))) - (stateA.DY + (float32(stateA.S*rax) + float32(stateA.C*ray)))
			x := (float32(dx*nx) + float32(dy*ny)) + p.Separation[i]
			bias, mass, leak := most(float32(soft.rate*least(x, 0)), -push), soft.mass, soft.impulse
			if x > 0 {
				bias, mass, leak = float32(x*invH), 1, 0
			}
			vx := (bx - float32(bw*rby)) - (ax - float32(aw*ray))
			vy := (by + float32(bw*rbx)) - (ay + float32(aw*rax))
			v := float32(vx*nx) + float32(vy*ny)
			old := p.Normal[i]
			total := most((old-float32(float32(p.NormalMass[i]*mass)*(v+bias)))-float32(leak*old), 0)
			p.Normal[i] = total
			if !useBias {
				p.Total[i] += total
			}
			px, py := float32((total-old)*nx), float32((total-old)*ny)
			ax -= float32(massA * px)
			ay -= float32(massA * py)
			aw -= float32(invIA * (float32(rax*py) - float32(ray*px)))
			bx += float32(massB * px)
			by += float32(massB * py)
			bw += float32(invIB * (float32(rbx*py) - float32(rby*px)))
		}
		if b.DynamicA>>i&1 != 0 {
			stateA.VX, stateA.VY, stateA.W = ax, ay, aw
		}
		if b.DynamicB>>i&1 != 0 {
			stateB.VX, stateB.VY, stateB.W = bx, by, bw
		}
	}
}

// Restitution gives contacts of blocks [lo, hi) that bounce, approached faster than
// Threshold and were touched the velocity at which they part: the one of approach
// times the restitution.
func (s *System) Restitution(level native.Level, lo, hi int) {
	blocks := s.Blocks[lo:hi]
	if level = must(level); level != native.Go && len(blocks) > 0 {
		s.restitutionC(level, blocks)
		return
	}
	for i := range blocks {
		if blocks[i].Flags&blockBounces != 0 {
			restitutionGo(&blocks[i], s.States, s.pace.threshold)
		}
	}
}

func restitutionGo(b *Block, states []State, threshold float32) {
	for i := range b.Contacts {
		i &= Lanes - 1
		stateA, stateB := &states[b.A[i]], &states[b.B[i]]
		ax, ay, aw, massA, invIA := stateA.VX, stateA.VY, stateA.W, stateA.InvMass, b.InvIA[i]
		bx, by, bw, massB, invIB := stateB.VX, stateB.VY, stateB.W, stateB.InvMass, b.InvIB[i]
		nx, ny := b.NormalX[i], b.NormalY[i]
		for k := range b.PointsEach {
			p := &b.Points[k&1]
			rax, ray, rbx, rby := p.AX[i], p.AY[i], p.BX[i], p.BY[i]
			vx := (bx - float32(bw*rby)) - (ax - float32(aw*ray))
			vy := (by + float32(bw*rbx)) - (ay + float32(aw*rax))
			v := float32(vx*nx) + float32(vy*ny)
			old := p.Normal[i]
			total := most(old-float32(p.NormalMass[i]*(v+float32(b.Restitution[i]*p.ApproachSpeed[i]))), 0)
			if !(b.Restitution[i] > 0 && -threshold > p.ApproachSpeed[i] && p.Total[i] > 0) {
				total = old
			}
			p.Normal[i] = total
			p.Total[i] += total - old
			px, py := float32((total-old)*nx), float32((total-old)*ny)
			ax -= float32(massA * px)
			ay -= float32(massA * py)
			aw -= float32(invIA * (float32(rax*py) - float32(ray*px)))
			bx += float32(massB * px)
			by += float32(massB * py)
			bw += float32(invIB * (float32(rbx*py) - float32(rby*px)))
		}
		if b.DynamicA>>i&1 != 0 {
			stateA.VX, stateA.VY, stateA.W = ax, ay, aw
		}
		if b.DynamicB>>i&1 != 0 {
			stateB.VX, stateB.VY, stateB.W = bx, by, bw
		}
	}
}

// Store writes the impulses of blocks [lo, hi) to their contacts, and Hits.
func (s *System) Store(level native.Level, lo, hi int) {
	blocks := s.Blocks[lo:hi]
	contact := s.Colours.Contact[lo*Lanes : hi*Lanes]
	if level = must(level); level != native.Go && len(blocks) > 0 {
		s.storeC(blocks, contact)
		return
	}
	s.storeGo(blocks, contact)
}

func (s *System) storeGo(blocks []Block, contact []uint32) {
	for n := range blocks {
		b := &blocks[n]
		for i, c := range contact[n*Lanes:][:b.Contacts] {
			i &= Lanes - 1
			to, hit := &s.Contacts[c], &s.Hits[c]
			to.Rolling = b.RollingImpulse[i]
			for k := range b.PointsEach {
				p := &b.Points[k&1]
				to.Points[k&1].Normal, to.Points[k&1].Tangent = p.Normal[i], p.Tangent[i]
				if p.Total[i] > 0 {
					hit.Speed = most(-p.ApproachSpeed[i], hit.Speed)
				}
				hit.Impulse += p.Total[i]
			}
		}
	}
}
