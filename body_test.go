package evertick_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/spatial"
)

// movingBody gives an entity a body that moves along x at vx m/s.
func movingBody(t testing.TB, s *evertick.Sim, id ecs.ID, vx float32) physics.Body {
	t.Helper()
	def := physics.DefaultBodyDef()
	def.Type = physics.KinematicBody
	def.LinearVelocity = [2]float32{vx, 0}
	b, err := s.CreateBody(id, def)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestBodyMovesItsEntity(t *testing.T) {
	for _, plane := range []physics.Plane{physics.XY, physics.XZ} {
		c := small()
		c.Physics.Plane = plane
		s := newSim(t, c)
		still, moved := spawn(t, s), spawn(t, s)
		def := physics.DefaultBodyDef()
		def.Type = physics.KinematicBody
		def.Position = [2]float32{3, 4}
		def.LinearVelocity = [2]float32{6, 12}
		b, err := s.CreateBody(moved, def)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := s.Body(moved); !ok || got != b {
			t.Errorf("%s: Body gives %s, %t, want %s", plane, got, ok, b)
		}
		step(t, s, 30)
		at, err := s.Physics.Position(b)
		if err != nil || at[0] < 5.9 || at[0] > 6.1 {
			t.Errorf("%s: body at %v after half a second, %v", plane, at, err)
		}
		p, i, j := s.World.Position, slotOf(t, s, moved), slotOf(t, s, still)
		second, third := p.Y, p.Z
		if plane == physics.XZ {
			second, third = third, second
		}
		if p.X[i] != at[0] || second[i] != at[1] || third[i] != 0 {
			t.Errorf("%s: entity at (%g, %g, %g), body at %v", plane, p.X[i], p.Y[i], p.Z[i], at)
		}
		if p.X[j] != 0 || p.Y[j] != 0 || p.Z[j] != 0 {
			t.Errorf("%s: the entity without a body has moved", plane)
		}
	}
}

func TestCreateBodyErrors(t *testing.T) {
	c := small()
	c.Physics.Capacity = 1
	s := newSim(t, c)
	id, gone, other := spawn(t, s), spawn(t, s), spawn(t, s)
	s.World.Despawn(gone)
	create := func(id ecs.ID, def physics.BodyDef) error {
		_, err := s.CreateBody(id, def)
		return err
	}
	wantError(t, create(gone, physics.DefaultBodyDef()), evertick.ErrStale, "CreateBody", "ent_2")
	wantError(t, create(0, physics.DefaultBodyDef()), evertick.ErrStale, "CreateBody", "ent_0")
	bad := physics.DefaultBodyDef()
	bad.Angle = nan
	wantError(t, create(id, bad), evertick.ErrNotFinite, "BodyDef.Angle")
	if _, has := s.Body(id); has || s.Physics.Len() != 0 {
		t.Errorf("a refused body is there: %t, %d in all", has, s.Physics.Len())
	}
	if err := create(id, physics.DefaultBodyDef()); err != nil {
		t.Fatal(err)
	}
	wantError(t, create(id, physics.DefaultBodyDef()), evertick.ErrRange, "CreateBody", "ent_1")
	wantError(t, create(other, physics.DefaultBodyDef()), evertick.ErrCapacity, "Capacity", "1")
	if _, has := s.Body(other); has || s.Physics.Len() != 1 {
		t.Errorf("a refused body is there: %t, %d in all", has, s.Physics.Len())
	}
}

func TestDespawnDestroysTheBody(t *testing.T) {
	s := newSim(t, small())
	id, stays := spawn(t, s), spawn(t, s)
	b, kept := movingBody(t, s, id, 1), movingBody(t, s, stays, 1)
	step(t, s, 2)
	s.World.Despawn(id)
	if _, has := s.Body(id); has {
		t.Error("an entity that is gone has a body")
	}
	if s.Physics.Valid(b) || !s.Physics.Valid(kept) || s.Physics.Len() != 1 {
		t.Errorf("bodies valid: %t and %t, %d in all; want false, true, 1", s.Physics.Valid(b), s.Physics.Valid(kept), s.Physics.Len())
	}
	step(t, s, 1)
	s.World.DespawnWhere()
	if s.Physics.Len() != 0 {
		t.Errorf("%d bodies in an empty world", s.Physics.Len())
	}
}

// A body destroyed through Physics frees its entity for another one.
func TestDestroyedBodyCanBeReplaced(t *testing.T) {
	s := newSim(t, small())
	id := spawn(t, s)
	if err := s.Physics.DestroyBody(movingBody(t, s, id, 1)); err != nil {
		t.Fatal(err)
	}
	if _, has := s.Body(id); has {
		t.Error("the destroyed body is still bound")
	}
	b := movingBody(t, s, id, 60)
	step(t, s, 2)
	if got, has := s.Body(id); !has || got != b || s.Physics.Len() != 1 {
		t.Errorf("Body gives %s, %t, %d in all; want %s", got, has, s.Physics.Len(), b)
	}
}

// The body of the last entity in a slot does not move the next one, at whatever
// point of the tick the slot is reused.
func TestReusedSlotIsNotMoved(t *testing.T) {
	for _, stage := range stages {
		s := newSim(t, small())
		first := spawn(t, s)
		slot := slotOf(t, s, first)
		old := movingBody(t, s, first, 60)
		var next ecs.ID
		add(t, s, stage, "replace", func(tick *evertick.Tick) error {
			if tick.N != 2 {
				return nil
			}
			s.World.Despawn(first)
			next = spawn(t, s)
			return s.World.SetPosition(next, 100, 200, 300)
		})
		step(t, s, 5)
		p := s.World.Position
		if slotOf(t, s, next) != slot || p.X[slot] != 100 || p.Y[slot] != 200 || p.Z[slot] != 300 {
			t.Errorf("stage %d: the new entity is at (%g, %g, %g)", stage, p.X[slot], p.Y[slot], p.Z[slot])
		}
		if _, has := s.Body(next); has || s.Physics.Valid(old) {
			t.Errorf("stage %d: the new entity has a body: %t; the old body is valid: %t", stage, has, s.Physics.Valid(old))
		}
	}
}

// The next entity in a slot can get a body of its own at once.
func TestReusedSlotTakesABodyAtOnce(t *testing.T) {
	s := newSim(t, small())
	first := spawn(t, s)
	old := movingBody(t, s, first, 600)
	step(t, s, 1)
	s.World.Despawn(first)
	next := spawn(t, s)
	b := movingBody(t, s, next, 60)
	step(t, s, 1)
	if s.Physics.Valid(old) || !s.Physics.Valid(b) {
		t.Errorf("old body valid: %t, new one: %t", s.Physics.Valid(old), s.Physics.Valid(b))
	}
	at, err := s.Physics.Position(b)
	if x := s.World.Position.X[slotOf(t, s, next)]; err != nil || x != at[0] {
		t.Errorf("entity at %g, its body at %v, %v", x, at, err)
	}
}

// A snapshot of the world holds no bodies: a Restore ends them all. An id issued
// again after it must not inherit the body that it had before.
func TestRestoreReleasesBodies(t *testing.T) {
	s := newSim(t, small())
	old := spawn(t, s)
	first := movingBody(t, s, old, 1)
	step(t, s, 1)
	saved := s.World.Snapshot(nil)
	young := spawn(t, s)
	second := movingBody(t, s, young, 60)
	step(t, s, 1)
	if err := s.World.Restore(saved); err != nil {
		t.Fatal(err)
	}
	again := spawn(t, s)
	if again != young {
		t.Fatalf("%s is spawned, not %s: not the case to test", again, young)
	}
	for _, id := range []ecs.ID{old, again} {
		if b, has := s.Body(id); has {
			t.Errorf("%s has body %s", id, b)
		}
	}
	step(t, s, 2)
	if s.Physics.Valid(first) || s.Physics.Valid(second) || s.Physics.Len() != 0 {
		t.Errorf("bodies valid: %t and %t, %d in all", s.Physics.Valid(first), s.Physics.Valid(second), s.Physics.Len())
	}
	if x := s.World.Position.X[slotOf(t, s, again)]; x != 0 {
		t.Errorf("the new entity stands at %g", x)
	}
	if b := movingBody(t, s, again, 60); !s.Physics.Valid(b) {
		t.Error("no body after a Restore")
	}
}

// A restored world can get new bodies before the next step.
func TestBodiesCreatedAfterARestoreStay(t *testing.T) {
	s := newSim(t, small())
	ids := []ecs.ID{spawn(t, s), spawn(t, s), spawn(t, s)}
	for _, id := range ids {
		movingBody(t, s, id, 1)
	}
	if err := s.World.Restore(s.World.Snapshot(nil)); err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		b := movingBody(t, s, id, 2)
		if got, has := s.Body(id); !has || got != b {
			t.Errorf("%s has body %s, %t, want %s", id, got, has, b)
		}
		if _, err := s.CreateBody(id, physics.DefaultBodyDef()); !errors.Is(err, evertick.ErrRange) {
			t.Errorf("a second body for %s: %v", id, err)
		}
	}
	step(t, s, 2)
	if s.Physics.Len() != len(ids) {
		t.Errorf("%d bodies after the step, want %d", s.Physics.Len(), len(ids))
	}
}

// The body of a despawned entity makes room for another, and so do those of a
// world that was restored.
func TestDeadBodiesMakeRoom(t *testing.T) {
	c := small()
	c.Physics.Capacity = 1
	s := newSim(t, c)
	id := spawn(t, s)
	old := movingBody(t, s, id, 1)
	other := spawn(t, s)
	if _, err := s.CreateBody(other, physics.DefaultBodyDef()); !errors.Is(err, evertick.ErrCapacity) {
		t.Errorf("a body too many: %v", err)
	}
	s.World.Despawn(id)
	b := movingBody(t, s, other, 1)
	if s.Physics.Valid(old) || !s.Physics.Valid(b) {
		t.Errorf("old body valid: %t, new one: %t", s.Physics.Valid(old), s.Physics.Valid(b))
	}
	third := spawn(t, s)
	if err := s.World.Restore(s.World.Snapshot(nil)); err != nil {
		t.Fatal(err)
	}
	movingBody(t, s, third, 1)
	if _, has := s.Body(other); has || s.Physics.Valid(b) || s.Physics.Len() != 1 {
		t.Errorf("%d bodies after a Restore, one of them of the time before: %t", s.Physics.Len(), has)
	}
}

// The owner of a body decides when it is destroyed, so it is part of the hash.
func TestOwnersAreHashed(t *testing.T) {
	hash := func(bind bool) uint64 {
		s := newSim(t, small())
		id := spawn(t, s)
		def := physics.DefaultBodyDef()
		def.HasSlot, def.Slot = true, slotOf(t, s, id)
		var err error
		if bind {
			_, err = s.CreateBody(id, def)
		} else {
			_, err = s.Physics.CreateBody(def)
		}
		if err != nil {
			t.Fatal(err)
		}
		step(t, s, 1)
		return s.Hash()
	}
	if hash(true) == hash(false) {
		t.Error("a bound body and a free one have one hash")
	}
}

// After a Restore an id may come back in another row. The body that it had before
// must not move the entity that has the old row now.
func TestRestoredIDInAnotherSlot(t *testing.T) {
	s := newSim(t, small())
	first := spawn(t, s)
	saved := s.World.Snapshot(nil)
	second := spawn(t, s)
	old := movingBody(t, s, second, 60)
	step(t, s, 1)
	if err := s.World.Restore(saved); err != nil {
		t.Fatal(err)
	}
	s.World.Despawn(first)
	again, third := spawn(t, s), spawn(t, s)
	if again != second || slotOf(t, s, again) == 1 || slotOf(t, s, third) != 1 {
		t.Fatalf("%s in slot %d, %s in slot %d: not the case to test", again, slotOf(t, s, again), third, slotOf(t, s, third))
	}
	step(t, s, 2)
	if x := s.World.Position.X[1]; x != 0 || s.Physics.Valid(old) {
		t.Errorf("the entity in the old row is at %g, the old body is valid: %t", x, s.Physics.Valid(old))
	}
}

// A Restore can lead to the same counts of spawns, despawns and live entities with other
// rows alive: what was derived from the old rows must still be dropped.
func TestRestoreToAnEqualVersion(t *testing.T) {
	s := newSim(t, small())
	first := spawn(t, s)
	saved := s.World.Snapshot(nil)
	b := movingBody(t, s, spawn(t, s), 60)
	s.World.Despawn(first)
	step(t, s, 1)
	version := s.World.Version()
	wantIndexed(t, s, 1)
	if err := s.World.Restore(saved); err != nil {
		t.Fatal(err)
	}
	s.World.Despawn(spawn(t, s))
	if s.World.Version() != version {
		t.Fatalf("version %d, want %d as before", s.World.Version(), version)
	}
	step(t, s, 1)
	if s.Physics.Valid(b) {
		t.Error("the body of an entity that is gone is valid")
	}
	wantIndexed(t, s, 0)
}

// The index follows the live rows when they change but their number does not.
func TestIndexFollowsTheLiveRows(t *testing.T) {
	s := newSim(t, small())
	ids := []ecs.ID{spawn(t, s), spawn(t, s), spawn(t, s)}
	s.World.Despawn(ids[0])
	step(t, s, 1)
	wantIndexed(t, s, 1, 2)
	s.World.Despawn(ids[2])
	spawn(t, s)
	step(t, s, 1)
	wantIndexed(t, s, 0, 1)
}

// wantIndexed checks which slots the index finds.
func wantIndexed(t *testing.T, s *evertick.Sim, want ...ecs.Slot) {
	t.Helper()
	var found spatial.Result
	all := spatial.Queries{X: []float32{0}, Y: []float32{0}, Z: []float32{0}, Radius: []float32{1e6}}
	if err := s.Index.Radius(&all, &found); err != nil || !slices.Equal(found.Row(0), want) {
		t.Errorf("the index has slots %v, want %v, %v", found.Slots, want, err)
	}
}

// A body follows what a system writes to the columns of its entity, and hits what stands
// there.
func TestTeleportThroughTheColumns(t *testing.T) {
	for _, plane := range []physics.Plane{physics.XY, physics.XZ} {
		c := small()
		c.Physics.Plane = plane
		s := newSim(t, c)
		id := spawn(t, s)
		b := movingBody(t, s, id, 6)
		jump := false
		add(t, s, evertick.BeforePhysics, "jump", func(*evertick.Tick) error {
			if jump {
				jump = false
				return s.World.SetPosition(id, 100, 7, 8)
			}
			return nil
		})
		step(t, s, 10)
		i := slotOf(t, s, id)
		if x := s.World.Position.X[i]; x < 0.99 || x > 1.01 {
			t.Fatalf("%s: at %g before the jump", plane, x)
		}
		jump = true
		step(t, s, 1)
		at, err := s.Physics.Position(b)
		if err != nil || at[0] < 100.09 || at[0] > 100.11 {
			t.Errorf("%s: the body is at %v, %v", plane, at, err)
		}
		want := [3]float32{at[0], at[1], 8}
		if plane == physics.XZ {
			want = [3]float32{at[0], 7, at[1]}
		}
		p := &s.World.Position
		if got := [3]float32{p.X[i], p.Y[i], p.Z[i]}; got != want {
			t.Errorf("%s: the entity is at %v, want %v", plane, got, want)
		}
		step(t, s, 10)
		if x := p.X[i]; x < 101.09 || x > 101.11 {
			t.Errorf("%s: at %g ten steps later", plane, x)
		}
	}
}

func TestNaNInTheColumnsIsNamed(t *testing.T) {
	s := newSim(t, small())
	id := spawn(t, s)
	movingBody(t, s, id, 6)
	step(t, s, 2)
	s.World.Position.Y[slotOf(t, s, id)] = nan
	wantError(t, s.Step(), evertick.ErrNotFinite, "tick 2: physics.step", "body_0.1", "Transforms.Y[0] = NaN")
}

// tilted is a rotation out of either plane.
var tilted = [4]float32{0.70710677, 0, 0, 0.70710677}

// A rotation out of the plane of the bodies is refused by name however it was written, and the third coordinate is kept.
func TestRuleOfThePlane(t *testing.T) {
	for _, plane := range []physics.Plane{physics.XY, physics.XZ} {
		c := small()
		c.Physics.Plane = plane
		s := newSim(t, c)
		id, other := spawn(t, s), spawn(t, s)
		at := plane.Join([2]float32{1, 2}, 50)
		if err := s.World.SetPosition(id, at[0], at[1], at[2]); err != nil {
			t.Fatal(err)
		}
		if err := s.World.SetRotation(id, tilted[0], tilted[1], tilted[2], tilted[3]); err != nil {
			t.Fatal(err)
		}
		_, err := s.CreateBody(id, physics.DefaultBodyDef())
		wantError(t, err, evertick.ErrRange, "CreateBody", "Rotation of ent_1", "plane "+plane.String())
		if _, has := s.Body(id); has || s.Physics.Len() != 0 {
			t.Errorf("%v: the refused body is there", plane)
		}
		q := plane.Rotation(0.5)
		if err := s.World.SetRotation(id, q[0], q[1], q[2], q[3]); err != nil {
			t.Fatal(err)
		}
		def := physics.DefaultBodyDef()
		def.Type, def.Position, def.Angle = physics.DynamicBody, [2]float32{1, 2}, 0.5
		b, err := s.CreateBody(id, def)
		if err != nil {
			t.Fatal(err)
		}
		step(t, s, 2)
		i := slotOf(t, s, id)
		p := &s.World.Position
		if _, third := plane.Split([3]float32{p.X[i], p.Y[i], p.Z[i]}); third != 50 {
			t.Errorf("%v: height %v, not 50", plane, third)
		}
		// An entity without a body may have any rotation.
		if err := s.World.SetRotation(other, tilted[0], tilted[1], tilted[2], tilted[3]); err != nil {
			t.Fatal(err)
		}
		step(t, s, 1)
		if a, err := s.Physics.Angle(b); err != nil || a < 0.499 || a > 0.501 {
			t.Errorf("%v: angle %v, %v", plane, a, err)
		}
	}
}

// The columns, SetRotation and the commands of a tick are all refused alike, by the next step.
func TestTiltIsRefusedByTheStep(t *testing.T) {
	for name, tilt := range map[string]func(s *evertick.Sim) error{
		"columns": func(s *evertick.Sim) error {
			r := &s.World.Rotation
			r.X[0], r.Y[0], r.Z[0], r.W[0] = tilted[0], tilted[1], tilted[2], tilted[3]
			r.Touch()
			return nil
		},
		"SetRotation": func(s *evertick.Sim) error {
			return s.World.SetRotation(1, tilted[0], tilted[1], tilted[2], tilted[3])
		},
		"commands": func(s *evertick.Sim) error {
			once := false
			return s.Add(evertick.BeforePhysics, "tilt", func(t *evertick.Tick) error {
				if once {
					return nil
				}
				once = true
				return t.Commands().SetRotation(1, tilted[0], tilted[1], tilted[2], tilted[3])
			})
		},
	} {
		s := newSim(t, small())
		id := spawn(t, s)
		b := movingBody(t, s, id, 1)
		if name == "commands" {
			if err := tilt(s); err != nil {
				t.Fatal(err)
			}
		}
		step(t, s, 1)
		if name != "commands" {
			if err := tilt(s); err != nil {
				t.Fatal(err)
			}
		}
		before, err := s.Physics.Position(b)
		if err != nil {
			t.Fatal(err)
		}
		wantError(t, s.Step(), evertick.ErrRange, "Pull", "Transforms.QX[0]", "plane XY")
		if at, err := s.Physics.Position(b); err != nil || at != before {
			t.Errorf("%s: the body moved to %v: %v", name, at, err)
		}
	}
}

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

// A system keeps the spans of bodies at the heights of their entities: a bird flies over a wall that stops a cart.
func TestSpansFollowEntities(t *testing.T) {
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	sim, err := evertick.New(evertick.Config{Capacity: 10, Physics: physics.Config{Plane: physics.XZ}})
	check(err)
	w, p := sim.World, sim.Physics
	wall, err := p.CreateBody(physics.BodyDef{Position: [2]float32{5, 0}})
	check(err)
	def := physics.DefaultShapeDef()
	def.Span = physics.Span{Max: 3} // 3 m high
	_, err = p.CreatePolygon(wall, def, physics.Box(0.5, 5))
	check(err)
	var slots []uint32
	for range 2 {
		id, err := w.Spawn()
		check(err)
		body := physics.DefaultBodyDef()
		body.Type, body.LinearVelocity = physics.DynamicBody, [2]float32{4, 0}
		b, err := sim.CreateBody(id, body)
		check(err)
		_, err = p.CreateCircle(b, physics.DefaultShapeDef(), physics.Circle{Radius: 0.3})
		check(err)
		slot, _ := w.Slot(id)
		slots = append(slots, slot)
	}
	bird := slots[1]
	sim.Add(evertick.BeforePhysics, "climb", func(t *evertick.Tick) error {
		w.Position.Y[bird] += 4 * t.Dt
		return nil
	})
	sim.Add(evertick.BeforePhysics, "spans", func(*evertick.Tick) error {
		for slot := range w.Query() {
			id, _ := w.ID(slot)
			if b, ok := sim.Body(id); ok {
				height := w.Position.Y[slot]
				if err := p.SetSpan(b, physics.Span{Min: height, Max: height + 1}); err != nil {
					return err
				}
			}
		}
		return nil
	})
	check(sim.StepN(60))
	snap := snapshot(t, sim)
	check(sim.StepN(120))
	if x := w.Position.X[slots[0]]; x > 5 {
		t.Errorf("the cart is at %v, after the wall", x)
	}
	if x, y := w.Position.X[bird], w.Position.Y[bird]; x < 11 || y < 11 {
		t.Errorf("the bird is at %v and %v m high", x, y)
	}
	hash := sim.Hash()
	restore(t, sim, snap)
	check(sim.StepN(120))
	if sim.Hash() != hash {
		t.Error("another hash after a restore")
	}
}

// farSim has a body on a slope of its plane, another one asleep and two entities without one, all around a point.
func farSim(t testing.TB, c evertick.Config, at [2]float32) *evertick.Sim {
	t.Helper()
	c.Capacity, c.Physics.Gravity = 64, [2]float32{8, -10}
	s := newSim(t, c)
	for i := range 4 {
		id := spawn(t, s)
		slot := slotOf(t, s, id)
		second, third := s.World.Position.Y, s.World.Position.Z
		if c.Physics.Plane == physics.XZ {
			second, third = third, second
		}
		s.World.Position.X[slot], second[slot], third[slot] = at[0]+float32(i), at[1]+0.5, 7
		if i > 1 {
			continue
		}
		d := physics.DefaultBodyDef()
		d.Type, d.Position, d.Asleep = physics.DynamicBody, [2]float32{at[0] + 8*float32(i), at[1] + 0.5}, i == 1
		b, err := s.CreateBody(id, d)
		if err == nil {
			_, err = s.Physics.CreatePolygon(b, physics.DefaultShapeDef(), physics.Box(0.5, 0.5))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	d := physics.DefaultBodyDef()
	d.Position = [2]float32{at[0], at[1] - 1}
	ground, err := s.Physics.CreateBody(d)
	if err == nil {
		_, err = s.Physics.CreatePolygon(ground, physics.DefaultShapeDef(), physics.Box(100, 1))
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// After a shift a Sim is the one that was made there: entities, bodies, and what they do then.
func TestShiftOrigin(t *testing.T) {
	at := [2]float32{65536, -100 * 1024}
	for _, plane := range []physics.Plane{physics.XY, physics.XZ} {
		c := evertick.Config{Previous: true, Physics: physics.Config{Plane: plane}}
		far, near := farSim(t, c, at), farSim(t, c, [2]float32{})
		if err := far.ShiftOrigin(at); err != nil {
			t.Fatal(err)
		}
		for tick := range 100 {
			hashes := map[string]uint64{}
			for _, h := range near.World.ColumnHashes() {
				hashes[h.Name] = h.Hash
			}
			for _, h := range far.World.ColumnHashes() {
				if h.Hash != hashes[h.Name] {
					t.Fatalf("%v, tick %d: %s differs", plane, tick, h.Name)
				}
			}
			step(t, far, 1)
			step(t, near, 1)
		}
		if far.Physics.AwakeCount() != 1 || near.Physics.Origin() != [2]float64{} || far.Physics.Origin() == near.Physics.Origin() {
			t.Errorf("%d bodies are awake, the origin is at %v", far.Physics.AwakeCount(), far.Physics.Origin())
		}
		if far.Hash() == near.Hash() {
			t.Error("the hash does not know the origin")
		}
		before := far.Hash()
		if err := far.ShiftOrigin([2]float32{1, 0}); !errors.Is(err, evertick.ErrRange) {
			t.Errorf("a shift by 1 m: %v", err)
		}
		step(t, near, 1)
		if far.Hash() != before || far.World.Position.X[3] != 3 {
			t.Error("a refused shift has moved something")
		}
	}
}

// A shift in a tick is no motion: neither Interpolate nor a Publisher draws entities between the old and the new origin.
func TestShiftOriginDrawsNoJump(t *testing.T) {
	at := [2]float32{65536, 1024}
	clock := manualClock()
	s := farSim(t, evertick.Config{Previous: true, Clock: clock}, at)
	shift := func(tick *evertick.Tick) error {
		if tick.N == 10 {
			return s.ShiftOrigin(at)
		}
		return nil
	}
	if err := s.Add(evertick.BeforePhysics, "shift", shift); err != nil {
		t.Fatal(err)
	}
	p, err := s.Publish(evertick.PublishConfig{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	drawn, frames := ecs.NewTransforms(64), 0
	check := func(what string, now, to []float32) {
		for slot, x := range now {
			if math.Abs(float64(x-to[slot])) > 1 {
				t.Fatalf("tick %d: slot %d is at %v and %s at %v", s.Ticks(), slot, x, what, to[slot])
			}
		}
	}
	err = s.RunFrames(ctx, func(loop.Frame) {
		if s.Ticks() < 2 {
			return
		}
		frames++
		if err := s.Interpolate(drawn); err != nil {
			t.Fatal(err)
		}
		rows := s.World.HighWater()
		check("drawn", s.World.Position.X[:rows], drawn.Position.X)
		v := p.Acquire()
		check("published", v.Now.Position.X, v.Previous.Position.X)
		check("published", v.Now.Position.Y, v.Previous.Position.Y)
		if s.Ticks() > 20 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || frames < 15 || s.Physics.Origin() == [2]float64{} {
		t.Errorf("%d frames, origin %v, %v", frames, s.Physics.Origin(), err)
	}
}

func TestShiftOriginKeepsNaN(t *testing.T) {
	s := farSim(t, evertick.Config{}, [2]float32{})
	bits := uint32(0x7fc12345)
	s.World.Position.X[3] = math.Float32frombits(bits)
	if err := s.ShiftOrigin([2]float32{1024, 0}); err != nil {
		t.Fatal(err)
	}
	if got := math.Float32bits(s.World.Position.X[3]); got != bits || s.World.Position.X[2] != 2-1024 {
		t.Errorf("%#x, %v", got, s.World.Position.X[2])
	}
}

// slider is a solver whose bodies move one metre along x in each tick.
type slider struct {
	evertick.Solver
	w            *ecs.World
	slots        []ecs.Slot // by body; NoSlot: none
	at           []float32  // by body, as Sync has written it
	next         slider2
	skipped      int
	shifted      [3]float32
	refuse       error // of Prepare, ShiftOrigin and MoveSlots
	workers      int
	teleported   int
	commitsAfter uint64 // generation of the world at the last Commit
}

type slider2 struct {
	slots []ecs.Slot
	at    []float32
}

func newSlider(s *evertick.Sim, name string) *slider {
	v := &slider{w: s.World}
	v.Solver = evertick.Solver{
		Name: name, Data: v,
		Step: func(*evertick.Tick) error {
			for i, slot := range v.slots {
				if slot == physics.NoSlot {
					continue
				}
				if v.w.Position.X[slot] != v.at[i] {
					v.at[i] = v.w.Position.X[slot]
					v.teleported++
				}
				v.at[i]++
			}
			return nil
		},
		Sync: func(*evertick.Tick) error {
			for i, slot := range v.slots {
				if slot != physics.NoSlot {
					v.w.Position.X[slot] = v.at[i]
				}
			}
			v.w.Position.Touch()
			return nil
		},
		Skip: func() { v.skipped++ },
		AppendWritten: func(dst []ecs.Slot) []ecs.Slot {
			for i, slot := range v.slots {
				if slot != physics.NoSlot && v.w.Position.X[slot] != v.at[i] {
					dst = append(dst, slot)
				}
			}
			return dst
		},
		Destroy: func(_ ecs.ID, body uint64) { v.slots[body] = physics.NoSlot },
		Valid:   func(body uint64) bool { return v.slots[body] != physics.NoSlot },
		MoveSlots: func(to []ecs.Slot) error {
			if v.refuse != nil {
				return v.refuse
			}
			for i, slot := range v.slots {
				if slot != physics.NoSlot {
					v.slots[i] = to[slot]
				}
			}
			return nil
		},
		ShiftOrigin: func(offset [3]float32) error {
			if v.refuse != nil {
				return v.refuse
			}
			v.shifted = offset
			for i := range v.at {
				v.at[i] -= offset[0]
			}
			return nil
		},
		SetWorkers: func(n int) error { v.workers = n; return nil },
		Snapshot: func(dst []byte) ([]byte, error) {
			for i, slot := range v.slots {
				dst = binary.LittleEndian.AppendUint32(dst, slot)
				dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v.at[i]))
			}
			return dst, nil
		},
		Prepare: func(data []byte) error {
			if v.refuse != nil {
				return v.refuse
			}
			v.next = slider2{}
			for ; len(data) > 0; data = data[8:] {
				v.next.slots = append(v.next.slots, binary.LittleEndian.Uint32(data))
				v.next.at = append(v.next.at, math.Float32frombits(binary.LittleEndian.Uint32(data[4:])))
			}
			return nil
		},
		Commit: func() { v.slots, v.at, v.commitsAfter = v.next.slots, v.next.at, v.w.Generation() },
		AppendColumnHashes: func(dst []ecs.ColumnHash) []ecs.ColumnHash {
			h := uint64(len(v.slots))
			for i, slot := range v.slots {
				h = h*31 + uint64(slot)
				h = h*31 + uint64(math.Float32bits(v.at[i]))
			}
			return append(dst, ecs.ColumnHash{Name: "X", Hash: h})
		},
		Counts: func() (bodies, contacts int) { return len(v.slots), 1 },
	}
	return v
}

func (v *slider) slide(id ecs.ID) error {
	return v.Create(id, func(slot ecs.Slot) (uint64, error) {
		v.slots, v.at = append(v.slots, slot), append(v.at, v.w.Position.X[slot])
		return uint64(len(v.slots) - 1), nil
	})
}

// sliding returns a Sim with a slider, and an entity that it moves, which is not in the first row.
func sliding(t *testing.T, c evertick.Config) (*evertick.Sim, *slider, ecs.ID) {
	t.Helper()
	s := newSim(t, c)
	v := newSlider(s, "slide")
	if err := s.Attach(&v.Solver); err != nil {
		t.Fatal(err)
	}
	_, id := spawn(t, s), spawn(t, s)
	if err := v.slide(id); err != nil {
		t.Fatal(err)
	}
	return s, v, id
}

func TestAttachErrors(t *testing.T) {
	s := newSim(t, small())
	for _, name := range []string{"", "physics", "body", "state", strings.Repeat("x", 201), "\xff"} {
		wantError(t, s.Attach(&newSlider(s, name).Solver), evertick.ErrRange, "Solver.Name")
	}
	v := newSlider(s, "slide")
	if err := s.Attach(&v.Solver); err != nil {
		t.Fatal(err)
	}
	wantError(t, s.Attach(&v.Solver), evertick.ErrRange, "attached already")
	wantError(t, s.Attach(&newSlider(s, "slide").Solver), evertick.ErrRange, "Solver.Name")
	wantError(t, s.Check(), evertick.ErrRange, "Solver.Name")
	s = newSim(t, small())
	step(t, s, 1)
	wantError(t, s.Attach(&newSlider(s, "slide").Solver), evertick.ErrRange, "after the first tick")
	step(t, s, 1) // that was no fault of the set-up
	v = newSlider(s, "slide")
	v.Step = nil
	for what, f := range map[string]func(){"Attach": func() { _ = s.Attach(&v.Solver) }, "Create": func() { _ = v.slide(1) }} {
		func() {
			defer func() {
				if r := fmt.Sprint(recover()); !strings.Contains(r, what) {
					t.Errorf("%s panics with %s", what, r)
				}
			}()
			f()
		}()
	}
	if _, has := v.Body(1); has {
		t.Error("a Solver that is not attached has a body")
	}
}

func TestSolverMovesItsEntities(t *testing.T) {
	c := small()
	c.Previous = true
	s, v, id := sliding(t, c)
	plan, err := s.Plan()
	if err != nil || !slices.Equal(plan.Groups[2], []string{"slide.step"}) || !slices.Equal(plan.Groups[3], []string{"slide.sync"}) {
		t.Errorf("plan %v, %v", plan.Groups, err)
	}
	step(t, s, 3)
	slot := slotOf(t, s, id)
	if x := s.World.Position.X[slot]; x != 3 {
		t.Errorf("at %g after 3 ticks", x)
	}
	s.World.Position.X[slot] = 10
	out := ecs.NewTransforms(s.World.Cap())
	if err := s.Interpolate(out); err != nil || out.Position.X[slot] != 10 {
		t.Errorf("drawn at %g, %v", out.Position.X[slot], err)
	}
	step(t, s, 1)
	if err := s.Interpolate(out); err != nil || s.World.Position.X[slot] != 11 || v.teleported != 1 {
		t.Errorf("at %g, %d teleports, %v", s.World.Position.X[slot], v.teleported, err)
	}
	if before := s.World.Previous().Position.X[slot]; before != 10 || s.World.Jumped()[slot>>6]>>(slot&63)&1 != 0 {
		t.Errorf("from %g, jumps %b: it has moved on from where it was put and drawn", before, s.World.Jumped())
	}
	if err := s.SetWorkers(3); err != nil || v.workers != 3 {
		t.Errorf("%d workers, %v", v.workers, err)
	}
	var m evertick.Metrics
	if s.Monitor().Read(&m); m.Bodies != 1 || m.Contacts != 1 {
		t.Errorf("%d bodies, %d contacts", m.Bodies, m.Contacts)
	}
}

func TestModesOfSolvers(t *testing.T) {
	c := small()
	c.PhysicsModes = 1
	s, v, id := sliding(t, c)
	step(t, s, 1)
	if err := s.SetMode(1); err != nil {
		t.Fatal(err)
	}
	step(t, s, 2)
	if x := s.World.Position.X[slotOf(t, s, id)]; x != 1 || v.skipped != 2 {
		t.Errorf("at %g, skipped %d times", x, v.skipped)
	}
	s = newSim(t, c)
	v = newSlider(s, "slide")
	v.Modes = 2
	if err := s.Attach(&v.Solver); err != nil {
		t.Fatal(err)
	}
	step(t, s, 1)
	if err := s.SetMode(1); err != nil {
		t.Fatal(err)
	}
	step(t, s, 1)
	if v.skipped != 1 {
		t.Errorf("skipped %d times in modes of its own", v.skipped)
	}
}

func TestOneBodyOfAllSolvers(t *testing.T) {
	s, v, id := sliding(t, small())
	other := newSlider(s, "other")
	if err := s.Attach(&other.Solver); err != nil {
		t.Fatal(err)
	}
	wantError(t, v.slide(id), evertick.ErrRange, "slide: Create: entity with a body", id.String())
	wantError(t, other.slide(id), evertick.ErrRange, "other: Create: entity with a body")
	if _, err := s.CreateBody(id, physics.DefaultBodyDef()); err == nil || s.Physics.Len() != 0 {
		t.Errorf("a second body, of the plane: %v", err)
	}
	plane := spawn(t, s)
	b := movingBody(t, s, plane, 0)
	wantError(t, v.slide(plane), evertick.ErrRange, "entity with a body")
	if err := s.Physics.DestroyBody(b); err != nil {
		t.Fatal(err)
	}
	if err := v.slide(plane); err != nil {
		t.Errorf("the body in the plane is gone, and still: %v", err)
	}
	s.World.Despawn(id)
	wantError(t, v.slide(id), evertick.ErrStale, "slide: Create: id")
	failed := errors.New("no room")
	if err := v.Create(spawn(t, s), func(ecs.Slot) (uint64, error) { return 0, failed }); err != failed {
		t.Errorf("error of make: %v", err)
	}
	if v.slots[0] != physics.NoSlot || v.slots[1] == physics.NoSlot {
		t.Errorf("bodies after a despawn: %v", v.slots)
	}
}

func TestSolverInSnapshots(t *testing.T) {
	c := small()
	c.History = evertick.HistoryConfig{Keep: 4, Every: 2}
	s, v, id := sliding(t, c)
	step(t, s, 5)
	data, hash := snapshot(t, s), s.Hash()
	columns := slices.Clone(s.ColumnHashes())
	for _, name := range []string{"slide.X", "slide.Owner"} {
		if !slices.ContainsFunc(columns, func(h ecs.ColumnHash) bool { return h.Name == name }) {
			t.Errorf("no hash of %s", name)
		}
	}
	step(t, s, 2)
	later := s.Hash()
	if err := s.StepBack(3); err != nil {
		t.Fatal(err)
	}
	if err := s.Forward(1); err != nil || s.Hash() != hash {
		t.Errorf("hash %x after StepBack and Forward, want %x: %v", s.Hash(), hash, err)
	}
	v.refuse = errors.New("not this one")
	before := snapshot(t, s)
	if err := s.Restore(data); !errors.Is(err, v.refuse) {
		t.Errorf("restore of a state that the solver refuses: %v", err)
	}
	v.refuse = nil
	if !bytes.Equal(before, snapshot(t, s)) {
		t.Error("a refused snapshot has changed the state")
	}

	twin, u, _ := sliding(t, c)
	spawn(t, twin)
	for name, replace := range map[string]func() error{
		"Restore":  func() error { return twin.Restore(data) },
		"CopyFrom": func() error { restore(t, s, data); return twin.CopyFrom(s) },
	} {
		generation := twin.World.Generation()
		if err := replace(); err != nil || twin.Hash() != hash {
			t.Fatalf("%s: hash %x, want %x: %v", name, twin.Hash(), hash, err)
		}
		if u.commitsAfter != generation {
			t.Errorf("%s: Commit came after the world was replaced", name)
		}
		step(t, twin, 2)
		if body, ok := u.Body(id); twin.Hash() != later || !ok || body != 0 {
			t.Errorf("%s: body %d, %t, hash %x, want %x", name, body, ok, twin.Hash(), later)
		}
		twin.World.Despawn(id)
		if u.slots[0] != physics.NoSlot {
			t.Errorf("%s: the body has outlived its entity", name)
		}
	}

	bare, two := newSim(t, c), newSim(t, c)
	for _, name := range []string{"slide", "other"} {
		if err := two.Attach(&newSlider(two, name).Solver); err != nil {
			t.Fatal(err)
		}
	}
	other := newSim(t, c)
	if err := other.Attach(&newSlider(other, "other").Solver); err != nil {
		t.Fatal(err)
	}
	wantError(t, bare.Restore(data), evertick.ErrUnsupported, `solver = "slide"`, "this Sim has none")
	wantError(t, bare.CopyFrom(s), evertick.ErrUnsupported, `solver = "slide"`, "this Sim has none")
	wantError(t, s.Restore(snapshot(t, bare)), evertick.ErrUnsupported, "solver = none", `this Sim has "slide"`)
	wantError(t, s.CopyFrom(bare), evertick.ErrUnsupported, "solver = none", `this Sim has "slide"`)
	wantError(t, other.Restore(data), evertick.ErrUnsupported, `solver = "slide"`, `this Sim has "other"`)
	wantError(t, other.CopyFrom(s), evertick.ErrUnsupported, `solver = "slide"`, `this Sim has "other"`)
	wantError(t, two.Restore(data), evertick.ErrUnsupported, "solver = none", `this Sim has "other"`)
	wantError(t, bare.Restore(append(snapshot(t, bare), 0)), evertick.ErrCorrupt)
	for i := range data { // each byte is under a checksum
		data[i] ^= 1
		if err := s.Restore(data); err == nil {
			t.Fatalf("byte %d altered, and restored", i)
		}
		data[i] ^= 1
	}
	restore(t, s, data)
}

func TestSolverFollowsRows(t *testing.T) {
	s, v, id := sliding(t, small())
	step(t, s, 1)
	if err := s.World.Reorder([]ecs.Slot{1, 0}); err != nil {
		t.Fatal(err)
	}
	step(t, s, 1)
	if slot := slotOf(t, s, id); slot != 0 || s.World.Position.X[0] != 2 || v.teleported != 0 {
		t.Errorf("in row %d, at %v", slot, s.World.Position.X[:2])
	}
	data := s.World.Snapshot(nil)
	if err := s.World.Restore(data); err != nil {
		t.Fatal(err)
	}
	if _, has := v.Body(id); has {
		t.Error("a World.Restore has restored a body")
	}
	step(t, s, 1)
	if v.slots[0] != physics.NoSlot {
		t.Error("the body of before a World.Restore still lives")
	}
	if err := v.slide(id); err != nil {
		t.Fatal(err)
	}
	v.refuse = errors.New("too far")
	if err := s.World.Reorder([]ecs.Slot{1, 0}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Snapshot(nil); err != v.refuse {
		t.Errorf("snapshot after a Reorder that the solver refuses: %v", err)
	}
	if err := s.Step(); !errors.Is(err, v.refuse) {
		t.Errorf("step after a Reorder that the solver refuses: %v", err)
	}
}

func TestShiftOriginOfSolvers(t *testing.T) {
	s, v, id := sliding(t, small())
	slot := slotOf(t, s, id)
	if err := s.ShiftOrigin([2]float32{1024, -2048}, 4096); err != nil {
		t.Fatal(err)
	}
	p := &s.World.Position
	if at := [3]float32{p.X[slot], p.Y[slot], p.Z[slot]}; at != [3]float32{-1024, 2048, -4096} || v.shifted != [3]float32{1024, -2048, 4096} {
		t.Errorf("at %v, shifted by %v", at, v.shifted)
	}
	if o := s.Physics.Origin(); o != [2]float64{1024, -2048} {
		t.Errorf("origin of the plane %v", o)
	}
	step(t, s, 1)
	if v.teleported != 0 {
		t.Error("a shift has teleported a body")
	}
	if err := s.ShiftOrigin([2]float32{1024, 0}); err != nil || v.shifted != [3]float32{1024, 0, 0} {
		t.Errorf("shifted by %v, %v", v.shifted, err)
	}
	v.shifted = [3]float32{}
	wantError(t, s.ShiftOrigin([2]float32{1, 0}), evertick.ErrRange, "ShiftOrigin: offset")
	wantError(t, s.ShiftOrigin([2]float32{1024, 0}, 1), evertick.ErrRange, "ShiftOrigin: third = 1")
	wantError(t, s.ShiftOrigin([2]float32{1024, 0}, 1<<38), evertick.ErrRange, "ShiftOrigin: third")
	wantError(t, s.ShiftOrigin([2]float32{1024, 0}, float32(math.NaN())), evertick.ErrNotFinite, "ShiftOrigin: third")
	wantError(t, s.ShiftOrigin([2]float32{1024, 0}, 0, 0), evertick.ErrRange, "third axis = 2")
	if v.shifted != [3]float32{} {
		t.Error("a bad offset has reached the solver")
	}
	step(t, s, 1)
	v.refuse = errors.New("not there")
	if err := s.ShiftOrigin([2]float32{1024, 0}); err != v.refuse {
		t.Errorf("shift that a solver refuses: %v", err)
	}
	if err := s.Step(); !errors.Is(err, v.refuse) {
		t.Errorf("step after half a shift: %v", err)
	}
}

// Without a solver in space the Sim keeps the origin along the third axis: in Origin, snapshots, copies and the hash.
func TestOriginAlongTheThirdAxis(t *testing.T) {
	for plane, want := range map[physics.Plane][3]float64{physics.XY: {1024, 2048, -4096}, physics.XZ: {1024, -4096, 2048}} {
		c := small()
		c.Physics.Plane = plane
		s, other, third := newSim(t, c), newSim(t, c), newSim(t, c)
		step(t, s, 1)
		plain, err := s.Snapshot(nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.ShiftOrigin([2]float32{1024, 2048}, -4096); err != nil {
			t.Fatal(err)
		}
		if s.Origin() != want {
			t.Errorf("%v: origin %v, want %v", plane, s.Origin(), want)
		}
		step(t, s, 1)
		data, err := s.Snapshot(nil)
		if err != nil || other.Restore(data) != nil || third.CopyFrom(s) != nil {
			t.Fatal(err)
		}
		step(t, s, 1)
		for _, o := range []*evertick.Sim{other, third} {
			if step(t, o, 1); o.Origin() != want || o.Hash() != s.Hash() {
				t.Errorf("%v: restored: origin %v, hash %x, want %x", plane, o.Origin(), o.Hash(), s.Hash())
			}
		}
		hashes := s.ColumnHashes()
		if last := hashes[len(hashes)-1]; last.Name != "origin.third" {
			t.Errorf("%v: the last column of the hash is %s", plane, last.Name)
		}
		bad := slices.Clone(data)
		if i := bytes.Index(bad, binary.LittleEndian.AppendUint64(nil, math.Float64bits(-4096))); i < 0 {
			t.Error("the snapshot lacks the origin")
		} else if bad[i+6]++; other.Restore(bad) == nil {
			t.Error("a damaged snapshot is restored")
		}
		wantError(t, s.ShiftOrigin([2]float32{}, -(1<<38)), evertick.ErrRange, "third")
		if err := other.Restore(plain); err != nil || other.Origin() != [3]float64{} {
			t.Errorf("%v: restored from before the shift: %v, %v", plane, other.Origin(), err)
		}
	}
}

func TestCheckAccessOfSolvers(t *testing.T) {
	for _, writes := range [][]string{{"position"}, {"position", "bodies"}} {
		c := small()
		c.CheckAccess = true
		s, v, _ := sliding(t, c)
		if err := s.AddSystem(evertick.System{Name: "push", Writes: writes, Run: func(*evertick.Tick) error {
			v.at[0] += 5
			return nil
		}}); err != nil {
			t.Fatal(err)
		}
		err := s.Step()
		if len(writes) == 2 {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		wantError(t, err, evertick.ErrRange, "push", "wrote slide.X")
	}
}

func TestDiffOfSolvers(t *testing.T) {
	a, _, _ := sliding(t, small())
	b, v, _ := sliding(t, small())
	step(t, a, 1)
	step(t, b, 1)
	if d, found := evertick.Diff(a, b); found {
		t.Errorf("equal Sims differ: %v", d)
	}
	v.Diff = func(other *evertick.Solver) (evertick.Difference, bool) {
		return evertick.Difference{Column: "slide.X", Row: 7, A: "1", B: other.Name}, true
	}
	if d, found := evertick.Diff(b, a); !found || d.Row != 7 || d.B != "slide" {
		t.Errorf("difference %v", d)
	}
	v.Diff = nil
	v.slots, v.at = append(v.slots, physics.NoSlot), append(v.at, 0)
	step(t, a, 1)
	step(t, b, 1)
	if d, found := evertick.Diff(b, a); !found || d.Column != "slide.X" {
		t.Errorf("difference %v", d)
	}
}
