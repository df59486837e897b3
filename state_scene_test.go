package evertick_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/spatial"
)

// park is a scene that keeps everything busy that a snapshot has to hold: a chain as ground,
// boxes that fall asleep on it and are woken, joints, some of which
// break, bodies that come and go with their entities, commands and observers that answer with
// commands, an index that is queried before it is rebuilt, after its points have moved,
// inputs that wait, and systems with state of their own.
type park struct {
	sim        *evertick.Sim
	near       ecs.Tag
	young      ecs.Tag
	heat       []float32
	seen       spatial.Result
	queries    spatial.Queries
	hub        physics.Body
	bequests   int
	parkState       // what is kept outside the world
	quiet      bool // drive leaves commands alone
	unstamped  bool // drive pushes inputs without At and Fraction
	forged     bool // what the systems keep may be anything
	breakAfter uint64
	broken     error
	sawInputs  int
}

// parkState is what the systems of a park keep.
type parkState struct {
	count  uint64
	queued []ecs.ID // to get a body in the next tick
	sum    uint64   // sum over all inputs
	last   ecs.ID   // provisional id of the last spawn recorded
}

func (p *parkState) AppendState(dst []byte) []byte {
	le := binary.LittleEndian
	dst = le.AppendUint64(dst, p.count)
	dst = le.AppendUint64(dst, p.sum)
	dst = le.AppendUint64(dst, uint64(p.last))
	for _, id := range p.queued {
		dst = le.AppendUint64(dst, uint64(id))
	}
	return dst
}

var errState = errors.New("not a state")

func (p *parkState) RestoreState(src []byte) error {
	if len(src) < 24 || len(src)%8 != 0 {
		return errState
	}
	le := binary.LittleEndian
	p.count, p.sum, p.last = le.Uint64(src), le.Uint64(src[8:]), ecs.ID(le.Uint64(src[16:]))
	p.queued = p.queued[:0]
	for src = src[24:]; len(src) > 0; src = src[8:] {
		p.queued = append(p.queued, ecs.ID(le.Uint64(src)))
	}
	return nil
}

func parkConfig() evertick.Config {
	return evertick.Config{
		Capacity: 256, Seed: 11, Previous: true,
		Physics: physics.Config{Gravity: [2]float32{0, -10}},
		Spatial: spatial.Config{CellSize: 2},
	}
}

func newPark(t testing.TB, c evertick.Config) *park {
	t.Helper()
	p := &park{sim: newSim(t, c)}
	s := p.sim
	p.heat = column(t, s, "heat")
	var errs [3]error
	p.near, errs[0] = s.World.Tag("near")
	p.young, errs[1] = s.World.Tag("young")
	errs[2] = s.AddState("park", &p.parkState)
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	s.World.OnDespawn(func(id ecs.ID, slot ecs.Slot) {
		if p.young.Has(id) { // a young entity leaves something at its despawn, in the same tick
			heir := s.Commands().Spawn()
			_ = s.Commands().SetPosition(heir, s.World.Position.X[slot], 9, 0)
			p.bequests++
		}
	})
	for _, sys := range []struct {
		stage evertick.Stage
		name  string
		run   func(*evertick.Tick) error
	}{
		{evertick.BeforePhysics, "embody", p.embody},
		{evertick.BeforePhysics, "feel", p.feel},
		{evertick.BeforePhysics, "obey", p.obey},
		{evertick.AfterIndex, "drift", p.drift},
		{evertick.AfterIndex, "breed", p.breed},
		{evertick.AfterIndex, "break", p.breakOff},
	} {
		add(t, s, sys.stage, sys.name, sys.run)
	}
	p.build(t)
	return p
}

func (p *park) build(t testing.TB) {
	t.Helper()
	w := p.sim.Physics
	ground, err := w.CreateBody(physics.DefaultBodyDef())
	if err != nil {
		t.Fatal(err)
	}
	p.hub = ground
	chain := physics.ChainDef{Shape: physics.DefaultShapeDef(), Points: [][2]float32{{40, 30}, {30, 0}, {10, -1}, {-10, -1}, {-30, 0}, {-40, 30}}}
	if _, err := w.CreateChain(ground, chain); err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		if _, err := p.body(spawn(t, p.sim), float32(float32(i%4)*1.1)-8, float32(i/4)-0.5, false); err != nil {
			t.Fatal(err)
		}
	}
	last := ground
	for i := range 5 { // a rope, which carries more and more
		b, err := p.disc(spawn(t, p.sim), 8+float32(i)*1.5, 12)
		if err != nil {
			t.Fatal(err)
		}
		def := physics.DefaultRevoluteJointDef()
		def.BodyA, def.BodyB = last, b
		def.FrameA.Point, def.FrameB.Point = [2]float32{0.75, 0}, [2]float32{-0.75, 0}
		if last == ground {
			def.FrameA.Point = [2]float32{7.25, 12}
		}
		def.BreakForce = 40
		if _, err := w.CreateRevoluteJoint(def); err != nil {
			t.Fatal(err)
		}
		last = b
	}
}

func (p *park) disc(id ecs.ID, x, y float32) (physics.Body, error) { return p.body(id, x, y, true) }

// body gives an entity a body, a disc or a box.
func (p *park) body(id ecs.ID, x, y float32, disc bool) (physics.Body, error) {
	def := physics.DefaultBodyDef()
	def.Type, def.Position = physics.DynamicBody, [2]float32{x, y}
	b, err := p.sim.CreateBody(id, def)
	if err != nil {
		return b, err
	}
	if disc {
		_, err = p.sim.Physics.CreateCircle(b, physics.DefaultShapeDef(), physics.Circle{Radius: 0.5})
	} else {
		_, err = p.sim.Physics.CreatePolygon(b, physics.DefaultShapeDef(), physics.Box(0.5, 0.5))
	}
	return b, err
}

// embody gives bodies to the entities that were spawned in the tick before, of which one is known only by
// its provisional id.
func (p *park) embody(t *evertick.Tick) error {
	for _, id := range p.queued {
		slot, ok := p.sim.World.Slot(id)
		if _, has := p.sim.Body(id); !ok || has {
			continue
		}
		if _, err := p.disc(id, p.sim.World.Position.X[slot], 6); err != nil && !errors.Is(err, evertick.ErrCapacity) {
			return err
		}
	}
	p.queued = p.queued[:0]
	if p.last != 0 && !p.forged {
		id := t.Commands().Resolve(p.last)
		if slot, ok := p.sim.World.Slot(id); ok {
			p.heat[slot] += 1
		}
		p.last = 0
	}
	return nil
}

// feel queries the index, and the physics, of the tick before.
func (p *park) feel(t *evertick.Tick) error {
	for i, touch := range p.sim.Physics.Events().Begin {
		p.heat[i%8] += float32(touch.A.Index()+touch.B.Index()) / 256
	}
	q, pos := &p.queries, &p.sim.World.Position
	q.X, q.Y, q.Z, q.Radius = q.X[:0], q.Y[:0], q.Z[:0], q.Radius[:0]
	for slot := range ecs.Slot(8) {
		q.X, q.Y, q.Z = append(q.X, pos.X[slot]), append(q.Y, pos.Y[slot]), append(q.Z, pos.Z[slot])
		q.Radius = append(q.Radius, 2)
	}
	if err := p.sim.Index.Radius(q, &p.seen); err != nil {
		return err
	}
	for slot := range ecs.Slot(8) {
		p.heat[slot] += float32(len(p.seen.Row(int(slot)))) / 64
		for _, d := range p.seen.Dist2Row(int(slot)) {
			p.heat[slot] += d / 1024
		}
	}
	return nil
}

// obey applies inputs: each pushes a body and leaves a command.
func (p *park) obey(t *evertick.Tick) error {
	for _, in := range t.Inputs() {
		p.sawInputs++
		p.sum += in.Seq + uint64(in.Kind) + uint64(len(in.Data)) + in.At + uint64(in.Fraction)
		for _, c := range in.Data {
			p.sum = p.sum*31 + uint64(c)
		}
		id, ok := p.sim.World.ID(ecs.Slot(12 + in.Kind%5))
		if !ok {
			continue
		}
		if b, has := p.sim.Body(id); has {
			if err := p.sim.Physics.ApplyLinearImpulseToCenter(b, [2]float32{float32(in.Seq%5) - 2, 3}); err != nil {
				return err
			}
		}
		t.Commands().Set(p.near, id)
	}
	return nil
}

// drift moves the entities without a body, after the index was built.
func (p *park) drift(t *evertick.Tick) error {
	p.count++
	for slot := range p.sim.World.Query(ecs.Without(p.near)) {
		id, _ := p.sim.World.ID(slot)
		if _, has := p.sim.Body(id); !has {
			r := t.Rand(id, 1)
			p.sim.World.Position.X[slot] += r.Range(-0.1, 0.1)
		}
	}
	return nil
}

// breed spawns and despawns entities.
func (p *park) breed(t *evertick.Tick) error {
	c := t.Commands()
	if p.count%3 == 0 {
		id := c.Spawn()
		if p.count%5 != 0 { // else observers may answer, and the list is applied again
			p.last = id
		}
		c.Set(p.young, id)
		if err := c.SetPosition(id, float32(p.count%7), 5, 0); err != nil {
			return err
		}
	}
	if p.count%5 == 0 {
		for slot := range p.sim.World.Query(ecs.With(p.young)) {
			if id, _ := p.sim.World.ID(slot); uint64(slot)%3 == p.count%3 {
				p.queued = append(p.queued, id)
			} else if uint64(id)%4 == 0 {
				c.Despawn(id)
			}
		}
	}
	if p.count%45 == 0 {
		if id, ok := p.sim.World.ID(ecs.Slot(p.count / 45)); ok { // one of the boxes at rest goes
			c.Despawn(id)
		}
	}
	return nil
}

// breakOff fails once, half-way through a tick.
func (p *park) breakOff(t *evertick.Tick) error {
	if p.broken != nil && t.N == p.breakAfter {
		err := p.broken
		p.broken = nil
		p.sim.World.Despawn(1)
		return err
	}
	return nil
}

// drive does what the world outside does between ticks, the same in each run.
func (p *park) drive(t testing.TB) {
	t.Helper()
	n := p.sim.Ticks()
	if n%2 == 0 {
		for source := range uint32(2) {
			in := evertick.Input{Tick: n + 1 + uint64(source)*4, Source: source, Seq: n, Kind: uint32(n) + source, Data: []byte(fmt.Sprint("in", n))}
			if source == 1 && !p.unstamped {
				in.At, in.Fraction = n*1_000_000, uint32(n)<<20 // both 0 in tick 0
			}
			if err := p.sim.Push(in); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n%9 == 0 && !p.quiet { // a command that waits for the next tick
		c := p.sim.Commands()
		id := c.Spawn()
		c.Set(p.near, id)
		ecs.Write(c, mustColumn(t, p.sim, "heat"), id, float32(n))
		if err := c.SetRotation(id, 0, 0, 0.6, 0.8); err != nil {
			t.Fatal(err)
		}
		c.Unset(p.near, 2)
	}
}

func mustColumn(t testing.TB, s *evertick.Sim, name string) *ecs.Column[float32] {
	t.Helper()
	c, ok := ecs.FindColumn[float32](s.World, name)
	if !ok {
		t.Fatalf("no column %s", name)
	}
	return c
}

// next drives a park on by one tick and returns its hash.
func (p *park) next(t testing.TB) uint64 {
	t.Helper()
	p.drive(t)
	step(t, p.sim, 1)
	return p.sim.Hash()
}
