package evertick_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/physics"
)

// disc gives a body a shape.
func disc(t testing.TB, s *evertick.Sim, b physics.Body, def physics.ShapeDef) physics.Shape {
	t.Helper()
	shape, err := s.Physics.CreateCircle(b, def, physics.Circle{Radius: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	return shape
}

// wantEntity checks the entity of a shape; 0 is none.
func wantEntity(t testing.TB, s *evertick.Sim, shape physics.Shape, want ecs.ID) {
	t.Helper()
	if got, ok := s.ShapeEntity(shape); got != want || ok != (want != 0) {
		t.Errorf("%v belongs to %v, %t; want %v", shape, got, ok, want)
	}
}

// Events of every kind lead to their entities, and those of an entity that is gone to none, even
// when its row, its body and its shape belong to another one.
func TestEntitiesOfEvents(t *testing.T) {
	s := newSim(t, small())
	def := physics.DefaultShapeDef()
	ground, err := s.Physics.CreateBody(physics.DefaultBodyDef())
	if err != nil {
		t.Fatal(err)
	}
	floor := disc(t, s, ground, def)
	id := spawn(t, s)
	body := physics.DefaultBodyDef()
	body.Type, body.Position, body.LinearVelocity = physics.DynamicBody, [2]float32{0, 1.1}, [2]float32{0, -9}
	b, err := s.CreateBody(id, body)
	if err != nil {
		t.Fatal(err)
	}
	shape := disc(t, s, b, def)
	e := s.Physics.Events()
	for len(e.Begin) == 0 {
		step(t, s, 1)
	}
	if len(e.Hit) != 1 || len(e.Moved) == 0 {
		t.Fatalf("hits %v, moved %v", e.Hit, e.Moved)
	}
	wantEntity(t, s, e.Begin[0].A, 0)
	wantEntity(t, s, e.Begin[0].B, id)
	wantEntity(t, s, e.Hit[0].B, id)
	moved, _ := s.Physics.BodyAt(int(e.Moved[0]))
	if got, ok := s.BodyEntity(moved); !ok || got != id {
		t.Errorf("moved %v, %t", got, ok)
	}

	s.World.Despawn(id)
	next := spawn(t, s) // in the same row, with the body and the shape in the same places
	nextBody, err := s.CreateBody(next, body)
	if err != nil {
		t.Fatal(err)
	}
	nextShape := disc(t, s, nextBody, def)
	if nextBody.Index() != b.Index() || nextShape.Index() != shape.Index() || slotOf(t, s, next) != 0 {
		t.Fatal("not in the same places")
	}
	step(t, s, 1)
	if len(e.End) != 1 || !slices.Contains([]physics.Shape{e.End[0].A, e.End[0].B}, shape) {
		t.Fatalf("ended %v, want %v", e.End, shape)
	}
	wantEntity(t, s, e.End[0].A, 0)
	wantEntity(t, s, e.End[0].B, 0)
	wantEntity(t, s, shape, 0)
	wantEntity(t, s, floor, 0)
	wantEntity(t, s, nextShape, next)
	wantEntity(t, s, physics.Shape{}, 0)
	if _, ok := s.BodyEntity(b); ok {
		t.Error("a stale body has an entity")
	}

	// A destroyed shape leads to no entity, although its entity still lives.
	if err := s.Physics.DestroyShape(nextShape); err != nil {
		t.Fatal(err)
	}
	wantEntity(t, s, nextShape, 0)
	if got, ok := s.BodyEntity(nextBody); !ok || got != next {
		t.Errorf("the body of %v belongs to %v", next, got)
	}
	if err := s.World.Restore(s.World.Snapshot(nil)); err != nil { // parts entities and bodies
		t.Fatal(err)
	}
	if _, ok := s.BodyEntity(nextBody); ok {
		t.Error("a body of the world before World.Restore has an entity")
	}
}

// A sensor names what it senses.
func TestEntityOfASensor(t *testing.T) {
	s := newSim(t, small())
	def := physics.DefaultShapeDef()
	zone, visitor := spawn(t, s), spawn(t, s)
	disc(t, s, movingBody(t, s, visitor, 1), def)
	def.Sensor = true
	b, err := s.CreateBody(zone, physics.DefaultBodyDef())
	if err != nil {
		t.Fatal(err)
	}
	disc(t, s, b, def)
	step(t, s, 1)
	e := s.Physics.Events()
	if len(e.SensorBegin) != 1 {
		t.Fatal(e.SensorBegin)
	}
	wantEntity(t, s, e.SensorBegin[0].Sensor, zone)
	wantEntity(t, s, e.SensorBegin[0].Visitor, visitor)
}

func TestEntityLookupAllocatesNothing(t *testing.T) {
	s := newSim(t, small())
	id, gone := spawn(t, s), spawn(t, s)
	shape := disc(t, s, movingBody(t, s, id, 1), physics.DefaultShapeDef())
	stale := disc(t, s, movingBody(t, s, gone, 1), physics.DefaultShapeDef())
	s.World.Despawn(gone)
	if n := testing.AllocsPerRun(100, func() {
		if got, _ := s.ShapeEntity(shape); got != id {
			t.Fatal(got)
		}
		if _, ok := s.ShapeEntity(stale); ok {
			t.Fatal("stale")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkShapeEntity(b *testing.B) {
	s := newSim(b, small())
	shape := disc(b, s, movingBody(b, s, spawn(b, s), 1), physics.DefaultShapeDef())
	for b.Loop() {
		if _, ok := s.ShapeEntity(shape); !ok {
			b.Fatal("no entity")
		}
	}
}

// bodyModel is what a program knows about the bodies and shapes that it has made.
type bodyModel struct {
	sim    *evertick.Sim
	alive  []ecs.ID
	bodies []modelBody // also those that are gone
	shapes []modelShape
}

type modelBody struct {
	handle physics.Body
	owner  ecs.ID // 0: none
	parted bool   // from its owner, by World.Restore
	gone   bool
}

type modelShape struct {
	handle physics.Shape
	body   int // in bodies
	gone   bool
}

// destroy is the end of a body and its shapes.
func (m *bodyModel) destroy(i int) {
	m.bodies[i].gone = true
	for j := range m.shapes {
		if m.shapes[j].body == i {
			m.shapes[j].gone = true
		}
	}
}

// destroyParted destroys the bodies that World.Restore has left.
func (m *bodyModel) destroyParted() {
	for i := range m.bodies {
		if m.bodies[i].parted {
			m.destroy(i)
		}
	}
}

func (m *bodyModel) bodyOf(id ecs.ID) int {
	return slices.IndexFunc(m.bodies, func(b modelBody) bool { return b.owner == id && !b.gone })
}

func (m *bodyModel) entityOf(b modelBody) ecs.ID {
	if b.gone || b.parted {
		return 0
	}
	return b.owner
}

func (m *bodyModel) check(t *rapid.T) {
	for _, b := range m.bodies {
		want := m.entityOf(b)
		if got, ok := m.sim.BodyEntity(b.handle); got != want || ok != (want != 0) {
			t.Fatalf("%v belongs to %v, %t; want %v", b.handle, got, ok, want)
		}
	}
	for _, s := range m.shapes {
		want := m.entityOf(m.bodies[s.body])
		if s.gone {
			want = 0
		}
		if got, ok := m.sim.ShapeEntity(s.handle); got != want || ok != (want != 0) {
			t.Fatalf("%v belongs to %v, %t; want %v", s.handle, got, ok, want)
		}
	}
}

// After any spawns, despawns, creations and destructions, also in very few slots, each handle that was
// ever made leads to the entity of a model, or to none.
func TestEntitiesOfBodiesModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sim, err := evertick.New(evertick.Config{Capacity: 6, Physics: physics.Config{Capacity: 6}})
		if err != nil {
			t.Fatal(err)
		}
		m := &bodyModel{sim: sim}
		body := physics.DefaultBodyDef()
		body.Type = physics.DynamicBody
		pick := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "which") }
		t.Repeat(map[string]func(*rapid.T){
			"": m.check,
			"spawn": func(t *rapid.T) {
				if id, slot, err := sim.World.SpawnSlot(); err == nil {
					sim.World.Position.X[slot] = float32(id) * 0.3
					m.alive = append(m.alive, id)
				}
			},
			"despawn": func(t *rapid.T) {
				if len(m.alive) == 0 {
					t.Skip("none")
				}
				i := pick(len(m.alive))
				sim.World.Despawn(m.alive[i])
				if b := m.bodyOf(m.alive[i]); b >= 0 {
					m.destroy(b)
				}
				m.alive = slices.Delete(m.alive, i, i+1)
			},
			"body": func(t *rapid.T) {
				if len(m.alive) == 0 {
					t.Skip("none")
				}
				id := m.alive[pick(len(m.alive))]
				b, err := sim.CreateBody(id, body)
				m.destroyParted()
				if err == nil {
					m.bodies = append(m.bodies, modelBody{handle: b, owner: id})
				} else if m.bodyOf(id) < 0 && sim.Physics.Len() < sim.Physics.Cap() {
					t.Fatal(err)
				}
			},
			"without an entity": func(t *rapid.T) {
				def := body
				if def.HasSlot = rapid.Bool().Draw(t, "slot"); def.HasSlot {
					def.Slot = uint32(pick(6)) // drives a row, but belongs to nobody
				}
				if b, err := sim.Physics.CreateBody(def); err == nil {
					m.bodies = append(m.bodies, modelBody{handle: b})
				}
			},
			"shape": func(t *rapid.T) {
				if len(m.bodies) == 0 {
					t.Skip("none")
				}
				i := pick(len(m.bodies))
				s, err := sim.Physics.CreateCircle(m.bodies[i].handle, physics.DefaultShapeDef(), physics.Circle{Radius: 0.5})
				if (err == nil) == m.bodies[i].gone {
					t.Fatal(err)
				}
				if err == nil {
					m.shapes = append(m.shapes, modelShape{handle: s, body: i})
				}
			},
			"destroy": func(t *rapid.T) {
				if len(m.bodies) == 0 {
					t.Skip("none")
				}
				i := pick(len(m.bodies))
				if err := sim.Physics.DestroyBody(m.bodies[i].handle); (err == nil) == m.bodies[i].gone {
					t.Fatal(err)
				}
				m.destroy(i)
			},
			"destroy a shape": func(t *rapid.T) {
				if len(m.shapes) == 0 {
					t.Skip("none")
				}
				s := &m.shapes[pick(len(m.shapes))]
				_ = sim.Physics.DestroyShape(s.handle)
				s.gone = true
			},
			"step": func(t *rapid.T) {
				if err := sim.Step(); err != nil {
					t.Fatal(err)
				}
				m.destroyParted()
			},
			"restore": func(t *rapid.T) {
				data, err := sim.Snapshot(nil)
				if err != nil {
					t.Fatal(err)
				}
				if err := sim.Restore(data); err != nil {
					t.Fatal(err)
				}
				m.destroyParted()
			},
			"restore the world alone": func(t *rapid.T) {
				if err := sim.World.Restore(sim.World.Snapshot(nil)); err != nil {
					t.Fatal(err)
				}
				for i := range m.bodies {
					m.bodies[i].parted = m.bodies[i].owner != 0
				}
			},
		})
	})
}
