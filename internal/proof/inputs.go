package proof

import (
	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/physics"
)

// Kinds of inputs.
const (
	explode uint32 = iota
	fire
	drag
	teleport
	rebuild
	weather
	tune
	ignore
	disable
	repair
	feed
	kinds
)

// sources is the number of players; each sends something every few ticks.
const (
	sources    = 3
	inputEvery = 16
)

// Push pushes random inputs of players before the next tick, as a network would deliver them: for
// that tick or one of the next few, in any order.
func (s *Scene) Push() error {
	now := s.Sim.Ticks()
	for source := range uint32(sources) {
		r := s.random(uint64(source), streamInput)
		if r.Uint32n(inputEvery) != 0 {
			continue
		}
		in := evertick.Input{Tick: now + uint64(r.Uint32n(4)), Source: sources - source, Seq: now, Kind: r.Uint32n(kinds)}
		in.Data = wire.AppendF32s(nil, r.Range(-1, 1), r.Range(-1, 1), r.Range(-1, 1))
		if err := s.Sim.Push(in); err != nil {
			return err
		}
	}
	return nil
}

// numberOf returns the i-th number of an input.
func numberOf(in *evertick.Input, i int) float32 { return wire.F32At(in.Data, i) }

// applyInputs applies the inputs of the tick.
func (s *Scene) applyInputs(t *evertick.Tick) error {
	all := t.Inputs()
	for i := range all {
		in := &all[i]
		x, y := float32(numberOf(in, 0)*(roomX-4)), float32(numberOf(in, 1)*8)+12
		if err := s.applyInput(t, in.Kind, x, y, numberOf(in, 2)); err != nil {
			return err
		}
	}
	return nil
}

// applyInput applies one input: at a position, with a number from -1 to 1.
func (s *Scene) applyInput(t *evertick.Tick, what uint32, x, y, v float32) error {
	w, p := s.Sim.Physics, &s.props
	switch what {
	case explode:
		return w.Explode(physics.ExplosionDef{Position: [2]float32{x, y - 8}, Radius: 2, Falloff: 3, ImpulsePerLength: float32(6*v) + 2, Mask: ^uint64(0)})
	case fire:
		return s.fire(x, y, v)
	case drag:
		return w.SetMouseTarget(p.crane, [2]float32{x / 4, y})
	case teleport:
		return s.teleport(v, x)
	case rebuild:
		return s.buildDoll(int(float32((v+1)*0.499*dolls)), x, y)
	case weather: // wakes all bodies, so it is rare
		if v < 0.6 {
			return nil
		}
		return w.SetGravity([2]float32{float32(2 * v), -8})
	case tune:
		if v < 0.6 {
			return nil
		}
		return w.SetTuning(physics.Tuning{ContactHertz: float32(10*v) + 25, PushSpeed: v + 3, HitSpeed: 1.5})
	case ignore:
		if ignored, err := w.PairIgnored(p.dragged, p.pair[0]); err != nil || ignored {
			return w.UnignorePair(p.dragged, p.pair[0])
		}
		return w.IgnorePair(p.dragged, p.pair[0])
	case disable:
		if w.Disabled(p.pair[1]) {
			return w.Enable(p.pair[1])
		}
		return w.Disable(p.pair[1])
	case repair:
		return s.repair(x, y)
	case feed:
		id, err := s.spawn(food, x, y, float32((v+1)*roomZ/2))
		if err != nil || s.Sim.World.Len() < capacity*3/4 {
			return err
		}
		t.Commands().Despawn(id)
	}
	return nil
}

// fire shoots a bullet, which must not tunnel through walls.
func (s *Scene) fire(x, y, v float32) error {
	def := physics.DefaultBodyDef()
	def.Position, def.LinearVelocity, def.Bullet = [2]float32{x, y}, [2]float32{float32(150 * v), -60}, true
	_, b := s.body(bullet, def)
	shape := physics.DefaultShapeDef()
	shape.Density = 8
	s.shape(s.Sim.Physics.CreateCircle(b, shape, physics.Circle{Radius: 0.1}))
	return s.built()
}

// teleport moves one box of the stack, in the columns of its entity, or all of them
// back to their first positions.
func (s *Scene) teleport(v, x float32) error {
	w := s.Sim.World
	if v < 0.5 {
		slot, _ := w.Slot(s.props.stack[len(s.props.stack)-1])
		w.Position.X[slot], w.Position.Y[slot] = x, 18
		return nil
	}
	i := 0
	for row := range stackRows {
		for k := range stackRows - row {
			slot, _ := w.Slot(s.props.stack[i])
			w.Position.X[slot] = float32(k) - float32(float32(stackRows-row-1)/2)
			w.Position.Y[slot] = float32(row) + 0.5
			w.Rotation.X[slot], w.Rotation.Y[slot], w.Rotation.Z[slot], w.Rotation.W[slot] = 0, 0, 0, 1
			i++
		}
	}
	return nil
}

// repair welds the pair together again, if it is broken.
func (s *Scene) repair(x, y float32) error {
	w, p := s.Sim.Physics, &s.props
	joints, err := w.AppendJoints(nil, p.pair[0])
	if err != nil || len(joints) > 0 {
		return err
	}
	for i, b := range p.pair {
		if err := w.SetTransform(b, [2]float32{x + float32(i), y}, 0); err != nil {
			return err
		}
	}
	return s.weld()
}
