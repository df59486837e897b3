package proof

import (
	"errors"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/physics"
)

const (
	bulletTicks = 90
	stirEvery   = 16 // ticks between two impulses on a body of rubble
	walkers     = 6
	lookers     = 12 // agents that query the bodies in a tick, in turns
)

// runMachines moves the driven bodies, applies wind, and pushes the rubble from time to time, so
// that it falls asleep and wakes again.
func (s *Scene) runMachines(t *evertick.Tick) error {
	w, p := s.Sim.Physics, &s.props
	way := float32(1)
	if t.N/180%2 == 1 {
		way = -1
	}
	if err := errors.Join(w.SetVelocity(p.lift, [2]float32{0, float32(2 * way)}, 0), w.SetVelocity(p.rotor, [2]float32{}, 0.8)); err != nil {
		return err
	}
	if t.N%180 == 0 {
		if err := errors.Join(w.SetMotorSpeed(p.piston, 3*way), w.SetMotorSpeed(p.cart[0], 8*way)); err != nil {
			return err
		}
	}
	if t.N%512 < 64 {
		err := w.ApplyWind(physics.WindDef{Wind: [2]float32{float32(6 * way), 1}, Drag: 0.6, Lift: 0.3, MaxSpeed: 20, Mask: categoryDoll | categorySolid, Wake: t.N%512 == 0})
		if err != nil {
			return err
		}
	}
	if t.N%512 < 160 {
		return s.stirRubble(t)
	}
	return nil
}

func (s *Scene) stirRubble(t *evertick.Tick) error {
	for slot := range s.Sim.World.Query(ecs.With(s.tags.body), ecs.Without(s.tags.doll)) {
		if uint64(slot)%stirEvery != t.N%stirEvery || slot%3 == 0 {
			continue
		}
		id, _ := s.Sim.World.ID(slot)
		if b, ok := s.Sim.Body(id); ok {
			r := t.Rand(id, streamStir)
			push := [2]float32{r.Range(-0.6, 0.6), r.Range(0, 1)}
			if err := s.Sim.Physics.ApplyLinearImpulseToCenter(b, push); err != nil {
				return err
			}
		}
	}
	return nil
}

// ageBullets removes old bullets.
func (s *Scene) ageBullets(t *evertick.Tick) error {
	for slot := range s.Sim.World.Query(ecs.With(s.tags.body)) {
		if kind(s.cols.kind[slot]) == bullet && s.cols.age[slot] > bulletTicks {
			id, _ := s.Sim.World.ID(slot)
			t.Commands().Despawn(id)
		}
	}
	return nil
}

// entityOf returns the slot of the entity that the body of a shape moves.
func (s *Scene) entityOf(shape physics.Shape) (ecs.Slot, bool) {
	id, _ := s.Sim.ShapeEntity(shape)
	return s.Sim.World.Slot(id) // false for 0, no entity
}

// recordContacts writes the events of the step into columns.
func (s *Scene) recordContacts(*evertick.Tick) error {
	c, e := &s.cols, s.Sim.Physics.Events()
	touch := func(shape physics.Shape, by uint32) {
		if slot, ok := s.entityOf(shape); ok {
			c.touched[slot] += by
		}
	}
	for _, t := range e.Begin {
		touch(t.A, 1)
		touch(t.B, 1)
	}
	for _, t := range e.End {
		touch(t.A, 1<<10)
		touch(t.B, 1<<10)
	}
	for _, t := range e.SensorBegin {
		touch(t.Visitor, 1<<20)
	}
	for _, h := range e.Hit {
		for _, shape := range []physics.Shape{h.A, h.B} {
			if slot, ok := s.entityOf(shape); ok {
				c.heat[slot] += float32(h.Speed * 0.1)
			}
		}
	}
	for i := range c.heat {
		c.heat[i] *= 0.97
	}
	slot, _ := s.Sim.World.Slot(s.totals)
	c.debt[slot] += int64(len(e.Moved)) + int64(len(e.Slept))<<16 - int64(len(e.Woke))<<24
	for _, b := range e.Broken {
		c.heat[slot] += b.Force[0]
	}
	return nil
}

// looking are the queries of agents to the bodies.
type looking struct {
	rays     physics.Rays
	hits     physics.RayHits
	casts    physics.Casts
	cast     physics.RayHits
	probes   physics.Probes
	overlaps physics.Overlapping
	within   []float32
	nearest  physics.Distances
	slots    []ecs.Slot
}

// lookAtBodies makes queries of every kind to the bodies.
func (s *Scene) lookAtBodies(t *evertick.Tick) error {
	l, c, p := &s.senses.look, &s.cols, &s.Sim.World.Position
	n := min(lookers, len(s.senses.slots))
	if n == 0 {
		return nil
	}
	if len(l.probes.Forms) == 0 {
		form, err := physics.CapsuleForm(physics.Capsule{P1: [2]float32{-0.3, 0}, P2: [2]float32{0.3, 0.2}, Radius: 0.4})
		if err != nil {
			return err
		}
		l.probes.Forms = []physics.Form{form}
	}
	l.slots = l.slots[:0]
	for i := range n {
		l.slots = append(l.slots, s.senses.slots[(int(t.N)*n+i)%len(s.senses.slots)])
	}
	for _, column := range []*[]float32{
		&l.rays.X, &l.rays.Y, &l.rays.DX, &l.rays.DY, &l.casts.DX, &l.casts.DY, &l.probes.Angle, &l.within,
	} {
		*column = resize(*column, n)
	}
	for i, slot := range l.slots {
		id, _ := s.Sim.World.ID(slot)
		r := t.Rand(id, streamLook)
		l.rays.X[i], l.rays.Y[i] = p.X[slot], p.Y[slot]
		l.rays.DX[i], l.rays.DY[i] = r.Range(-15, 15), r.Range(-15, 5)
		l.casts.DX[i], l.casts.DY[i], l.probes.Angle[i], l.within[i] = c.velX[slot], c.velY[slot]+8, r.Range(-3, 3), 5 // never zero
	}
	l.probes.X, l.probes.Y = l.rays.X, l.rays.Y
	l.casts.Probes = l.probes
	w := s.Sim.Physics
	if err := errors.Join(w.RayClosest(&l.rays, &l.hits), w.CastClosest(&l.casts, &l.cast),
		w.Overlaps(&l.probes, &l.overlaps), w.Nearest(&l.probes, l.within, &l.nearest)); err != nil {
		return err
	}
	for i, slot := range l.slots {
		c.sight[slot] = l.hits.Fractions[i] + float32(l.nearest.Distance[i]*0.1)
		c.velX[slot] += float32(l.cast.NormalX[i] * 0.3)
		c.velY[slot] += float32(l.cast.NormalY[i] * 0.3)
		c.seen[slot] += uint32(len(l.overlaps.Row(i))) << 8
	}
	return nil
}

// walking are the characters.
type walking struct {
	def    physics.MoverDef
	movers physics.Movers
	slots  []ecs.Slot
}

func (s *Scene) placeWalkers() error {
	s.walk.def = physics.DefaultMoverDef()
	s.walk.def.PushForce = 30
	for i := range walkers {
		if _, err := s.spawn(walker, float32(8*i-20), 8, 0); err != nil {
			return err
		}
	}
	return nil
}

// moveWalkers moves the characters, which turn around from time to time, and jump.
func (s *Scene) moveWalkers(t *evertick.Tick) error {
	m, c, p := &s.walk.movers, &s.cols, &s.Sim.World.Position
	s.walk.slots = s.walk.slots[:0]
	for slot := range s.Sim.World.Query(ecs.Without(s.tags.body, s.tags.agent)) {
		if kind(c.kind[slot]) == walker {
			s.walk.slots = append(s.walk.slots, slot)
		}
	}
	n := len(s.walk.slots)
	for _, column := range []*[]float32{&m.X, &m.Y, &m.VX, &m.VY, &m.GroundX, &m.GroundY} {
		*column = resize(*column, n)
	}
	m.Ground = resize(m.Ground, n)
	for i, slot := range s.walk.slots {
		m.X[i], m.Y[i], m.VY[i] = p.X[slot], p.Y[slot], c.velY[slot]-float32(10*t.Dt)
		m.VX[i] = 2.5
		if (t.N/240+uint64(i))%2 == 0 {
			m.VX[i] = -2.5
		}
		if t.N%200 == uint64(i)*30 {
			m.VY[i] = 6
		}
		// The ground of a character is not kept from tick to tick: the state is in columns only.
		m.Ground[i], m.GroundX[i], m.GroundY[i] = physics.Shape{}, 0, 0
	}
	if err := s.Sim.Physics.Move(&s.walk.def, m, t.Dt); err != nil {
		return err
	}
	for i, slot := range s.walk.slots {
		p.X[slot], p.Y[slot] = m.X[i], m.Y[i]
		c.velX[slot], c.velY[slot] = m.VX[i], m.VY[i]
	}
	p.Touch()
	return nil
}
