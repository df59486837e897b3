package evertick_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
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
