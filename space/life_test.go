package space_test

import (
	"fmt"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/simtest"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/physics3"
	"github.com/evertick/evertick/space"
)

// attach adds a space with gravity and a floor at height 0 to a Sim.
func attach(t testing.TB, s *evertick.Sim) *space.Bodies {
	t.Helper()
	b, err := attachTo(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func attachTo(s *evertick.Sim) (*space.Bodies, error) {
	b, err := space.Attach(s, physics3.Config{Gravity: [3]float32{0, -10, 0}})
	if err != nil {
		return nil, err
	}
	def := physics3.DefaultBodyDef()
	def.Position[1] = -1
	floor, err := b.World().CreateBody(def)
	if err == nil {
		_, err = b.World().CreateBox(floor, physics3.DefaultShapeDef(), physics3.Box{Half: [3]float32{50, 1, 50}})
	}
	return b, err
}

// cubeAt is the definition of a dynamic body.
func cubeAt(x, y, z float32) physics3.BodyDef {
	def := physics3.DefaultBodyDef()
	def.Type, def.Position = physics3.DynamicBody, [3]float32{x, y, z}
	return def
}

// give gives an entity a body with a shape of one of four kinds.
func give(b *space.Bodies, id ecs.ID, def physics3.BodyDef, kind int) (physics3.Body, error) {
	body, err := b.Create(id, def)
	if err != nil {
		return body, err
	}
	w, shape := b.World(), physics3.DefaultShapeDef()
	switch kind {
	case 0:
		_, err = w.CreateBox(body, shape, physics3.Box{Half: [3]float32{0.5, 0.4, 0.3}})
	case 1:
		_, err = w.CreateSphere(body, shape, physics3.Sphere{Radius: 0.5})
	case 2:
		_, err = w.CreateCapsule(body, shape, physics3.Capsule{P1: [3]float32{-0.4}, P2: [3]float32{0.4}, Radius: 0.3})
	default:
		_, err = w.CreateHull(body, shape, wedge, physics3.Placement{Rotation: [4]float32{3: 1}})
	}
	return body, err
}

var wedge = func() *physics3.Hull {
	h, err := physics3.NewHull([][3]float32{{-0.5, -0.3, -0.5}, {0.5, -0.3, -0.5}, {0.5, -0.3, 0.5}, {-0.5, -0.3, 0.5}, {0, 0.5, 0}}, physics3.HullOptions{})
	if err != nil {
		panic(err)
	}
	return h
}()

func mustGive(t testing.TB, b *space.Bodies, id ecs.ID, def physics3.BodyDef) physics3.Body {
	t.Helper()
	body, err := give(b, id, def, 0)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// life is a Sim in whose space everything happens to entities with bodies that can. All that it does follows from the state, the tick and the inputs.
type life struct {
	sim    *evertick.Sim
	bodies *space.Bodies
	events *ecs.Column[uint32] // touches that an entity had begun
}

const lives = 48 // entities at most

func newLife(seed uint64, c evertick.Config) (*life, error) {
	c.Capacity, c.Seed, c.Previous = 2*lives, seed, true
	c.PhysicsModes = 1
	c.Reorder = evertick.ReorderPolicy{Every: 16}
	s, err := evertick.New(c)
	if err != nil {
		return nil, err
	}
	l := &life{sim: s}
	if l.bodies, err = attachTo(s); err != nil {
		return nil, err
	}
	if l.events, err = ecs.AddColumn[uint32](s.World, "touches"); err != nil {
		return nil, err
	}
	if err := s.Add(evertick.BeforePhysics, "live", l.live); err != nil {
		return nil, err
	}
	if err := s.Add(evertick.AfterPhysics, "count", l.count); err != nil {
		return nil, err
	}
	return l, s.Check()
}

// live does something to a few entities.
func (l *life) live(t *evertick.Tick) error {
	r := t.Rand(0, 1)
	for range 3 {
		if err := l.act(t, &r); err != nil {
			return err
		}
	}
	for _, in := range t.Inputs() {
		if in.Kind == 1 {
			if err := l.spawn(&r, float32(in.Data[0])/8); err != nil {
				return err
			}
		}
	}
	mode := uint8(0)
	if t.N%40 >= 36 { // bodies rest
		mode = 1
	}
	return l.sim.SetMode(mode)
}

func (l *life) act(t *evertick.Tick, r *loop.Rand) error {
	w := l.sim.World
	slots := w.LiveSlots(nil)
	if len(slots) < 8 {
		return l.spawn(r, 3)
	}
	slot := slots[r.IntN(len(slots))]
	id, _ := w.ID(slot)
	body, has := l.bodies.Body(id)
	x, z := r.Range(-4, 4), r.Range(-4, 4)
	switch r.IntN(16) {
	case 0, 1, 2:
		if len(slots) < lives {
			return l.spawn(r, 3)
		}
	case 3:
		w.Despawn(id)
	case 4: // recorded
		t.Commands().Despawn(id)
	case 5:
		if err := w.SetPosition(id, x, 4, z); err != nil {
			return err
		}
	case 6:
		if _, inPlane := l.sim.Body(id); inPlane { // which must not tilt
			return nil
		}
		return w.SetRotation(id, x, 1, z, 0.5)
	case 7:
		if has { // the entity stays, without a body
			return l.bodies.World().DestroyBody(body)
		}
		if _, inPlane := l.sim.Body(id); inPlane {
			return nil
		}
		_, err := give(l.bodies, id, cubeAt(x, 5, z), r.IntN(4))
		return err
	case 8:
		if has {
			return l.bodies.World().SetTransform(body, [3]float32{x, 2, z}, [4]float32{x, z, 1, 1})
		}
	case 9:
		if t.N%3 == 0 {
			return l.bodies.ShiftOrigin([3]float32{1024, -1024, 0})
		}
		if o := l.bodies.World().Origin(); o != [3]float64{} {
			return l.bodies.ShiftOrigin([3]float32{float32(-o[0]), float32(-o[1]), float32(-o[2])})
		}
	default:
		if has {
			_ = l.bodies.World().SetAwake(body, true)
			return l.bodies.World().ApplyLinearImpulseToCenter(body, [3]float32{x, r.Range(0, 4), z})
		}
	}
	return nil
}

func (l *life) spawn(r *loop.Rand, height float32) error {
	w := l.sim.World
	if w.Len() == lives {
		return nil
	}
	id, err := w.Spawn()
	if err != nil {
		return err
	}
	x, z := r.Range(-3, 3), r.Range(-3, 3)
	if r.IntN(8) == 0 { // in the plane
		def := physics.DefaultBodyDef()
		def.Type, def.Position = physics.DynamicBody, [2]float32{x, z}
		body, err := l.sim.CreateBody(id, def)
		if err == nil {
			_, err = l.sim.Physics.CreateCircle(body, physics.DefaultShapeDef(), physics.Circle{Radius: 0.4})
		}
		return err
	}
	o := l.bodies.World().Origin()
	_, err = give(l.bodies, id, cubeAt(x-float32(o[0]), height-float32(o[1]), z), r.IntN(4))
	return err
}

// count counts events by entity.
func (l *life) count(*evertick.Tick) error {
	touches := l.events.Values()
	for _, e := range l.bodies.World().Events().Begin {
		for _, s := range [...]physics3.Shape{e.A, e.B} {
			if id, ok := l.bodies.ShapeEntity(s); ok {
				slot, _ := l.sim.World.Slot(id)
				touches[slot]++
			}
		}
	}
	return nil
}

func newLifeFor(t testing.TB, seed uint64, c evertick.Config) *life {
	t.Helper()
	l, err := newLife(seed, c)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// check compares what Body and Entity say with each other and with the columns.
func (l *life) check(t testing.TB) {
	t.Helper()
	w, sp := l.sim.World, l.bodies.World()
	owned := 0
	for slot := range ecs.Slot(w.HighWater()) {
		id, alive := w.ID(slot)
		if !alive {
			continue
		}
		body, has := l.bodies.Body(id)
		if !has {
			continue
		}
		owned++
		if back, ok := l.bodies.Entity(body); !ok || back != id || sp.Columns().Slot[body.Index()] != slot {
			t.Fatalf("tick %d: %s in slot %d has %s, which has %s and slot %d", l.sim.Ticks(), id, slot, body, back, sp.Columns().Slot[body.Index()])
		}
		if _, both := l.sim.Body(id); both {
			t.Fatalf("%s has bodies of both kinds", id)
		}
	}
	if owned+1 != sp.Len() { // and the floor
		t.Fatalf("tick %d: %d entities with bodies, %d bodies", l.sim.Ticks(), owned, sp.Len())
	}
}

// The whole life of many entities is the same for each number of workers, on each level, after a snapshot, a copy and a step back.
func TestLife(t *testing.T) {
	const seed = 11
	ticks := 400
	if testing.Short() {
		ticks = 160
	}
	c := evertick.Config{History: evertick.HistoryConfig{Keep: 4, Every: 8}, Level: native.Go}
	l := newLifeFor(t, seed, c)
	others := map[string]*life{}
	for _, level := range native.Levels() {
		c.Level, c.Workers = level, 1+int(level)%2
		others[fmt.Sprintf("level %v, %d workers", level, c.Workers)] = newLifeFor(t, seed, c)
	}
	copied, restored := newLifeFor(t, seed+1, evertick.Config{}), newLifeFor(t, seed+2, evertick.Config{Workers: 2})
	most, inPlane := 0, 0
	for tick := range ticks {
		simtest.Step(t, l.sim, 1)
		l.check(t)
		for what, other := range others {
			simtest.Step(t, other.sim, 1)
			equal(t, fmt.Sprintf("tick %d, %s", tick, what), l.sim, other.sim)
		}
		most, inPlane = max(most, l.bodies.World().Len()), max(inPlane, l.sim.Physics.Len())
		if tick%20 != 19 {
			continue
		}
		simtest.Restore(t, restored.sim, simtest.Snapshot(t, l.sim))
		if err := copied.sim.CopyFrom(l.sim); err != nil {
			t.Fatal(err)
		}
		restored.check(t)
		copied.check(t)
		for range 5 {
			simtest.Step(t, l.sim, 1)
			simtest.Step(t, restored.sim, 1)
			simtest.Step(t, copied.sim, 1)
			equal(t, fmt.Sprintf("tick %d, restored", tick), l.sim, restored.sim)
			equal(t, fmt.Sprintf("tick %d, copied", tick), l.sim, copied.sim)
		}
		if err := l.sim.StepBack(5); err != nil {
			t.Fatal(err)
		}
		l.check(t)
	}
	if most < 12 || inPlane == 0 {
		t.Errorf("at most %d bodies in space and %d in the plane", most, inPlane)
	}
}

// equal compares two Sims.
func equal(t testing.TB, what string, a, b *evertick.Sim) {
	t.Helper()
	if d, found := evertick.Diff(a, b); found || a.Hash() != b.Hash() {
		t.Fatalf("%s: %v", what, d)
	}
}
