package space_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/sims3"
	"github.com/evertick/evertick/internal/simtest"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/physics3"
	"github.com/evertick/evertick/space"
)

// place returns position and rotation of an entity.
func place(t testing.TB, s *evertick.Sim, id ecs.ID) (p [3]float32, q [4]float32) {
	t.Helper()
	slot := simtest.SlotOf(t, s, id)
	w := s.World
	return [3]float32{w.Position.X[slot], w.Position.Y[slot], w.Position.Z[slot]},
		[4]float32{w.Rotation.X[slot], w.Rotation.Y[slot], w.Rotation.Z[slot], w.Rotation.W[slot]}
}

func TestBodyMovesItsEntity(t *testing.T) {
	s := simtest.New(t, simtest.Small())
	b := attach(t, s)
	still, id := simtest.Spawn(t, s), simtest.Spawn(t, s)
	body := mustGive(t, b, id, sims3.CubeAt(1, 6, 2))
	if got, ok := b.Body(id); !ok || got != body {
		t.Errorf("Body gives %s, %t, want %s", got, ok, body)
	}
	if got, ok := b.Entity(body); !ok || got != id {
		t.Errorf("Entity gives %s, %t, want %s", got, ok, id)
	}
	var begun []ecs.ID
	simtest.Add(t, s, evertick.AfterPhysics, "events", func(*evertick.Tick) error {
		for _, e := range b.World().Events().Begin {
			for _, shape := range [...]physics3.Shape{e.A, e.B} {
				if id, ok := b.ShapeEntity(shape); ok {
					begun = append(begun, id)
				}
			}
		}
		return nil
	})
	if err := b.World().SetVelocity(body, [3]float32{}, [3]float32{1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	simtest.Step(t, s, 120)
	at, turned := place(t, s, id)
	p, err := b.World().Position(body)
	if err != nil || at != p || at[1] > 1.2 || at[1] < 0.2 {
		t.Errorf("entity at %v, body at %v, %v", at, p, err)
	}
	if q, err := b.World().Rotation(body); err != nil || turned != q || turned == [4]float32{3: 1} {
		t.Errorf("entity turned by %v, body by %v, %v", turned, q, err)
	}
	if !slices.Contains(begun, id) || len(begun) != 1 {
		t.Errorf("entities that began to touch: %v, want %s once", begun, id)
	}
	if p, q := place(t, s, still); p != [3]float32{} || q != [4]float32{3: 1} {
		t.Errorf("the entity without a body is at %v, turned by %v", p, q)
	}
	plan, err := s.Plan()
	want := [][]string{{"physics.step"}, {"physics.sync"}, {"physics3.step"}, {"physics3.sync"}, {"events"}}
	if err != nil || fmt.Sprint(plan.Groups[:5]) != fmt.Sprint(want) {
		t.Errorf("phases %v, %v", plan.Groups, err)
	}
	var m evertick.Metrics
	if s.Monitor().Read(&m); m.Bodies != 2 || m.Contacts != b.World().ContactCount() {
		t.Errorf("metrics: %d bodies, %d contacts", m.Bodies, m.Contacts)
	}
}

func TestCreateErrors(t *testing.T) {
	s := simtest.New(t, simtest.Small())
	b := attach(t, s)
	id, flat := simtest.Spawn(t, s), simtest.Spawn(t, s)
	body := mustGive(t, b, id, sims3.CubeAt(0, 5, 0))
	if _, err := s.CreateBody(flat, physics.DefaultBodyDef()); err != nil {
		t.Fatal(err)
	}
	before := b.World().Hash()
	for what, c := range map[string]struct {
		id   ecs.ID
		def  physics3.BodyDef
		kind error
		text string
	}{
		"no entity":             {99, sims3.CubeAt(0, 0, 0), evertick.ErrStale, "physics3: Create: id = ent_99"},
		"a second body":         {id, sims3.CubeAt(0, 0, 0), evertick.ErrRange, "entity with a body = " + id.String()},
		"a body of both kinds":  {flat, sims3.CubeAt(0, 0, 0), evertick.ErrRange, "entity with a body = " + flat.String()},
		"a bad definition":      {simtest.Spawn(t, s), physics3.BodyDef{}, evertick.ErrRange, "BodyDef.Rotation"},
		"a place not in range":  {simtest.Spawn(t, s), sims3.CubeAt(float32(math.Inf(1)), 0, 0), evertick.ErrNotFinite, "BodyDef.Position"},
		"a type that is unkown": {simtest.Spawn(t, s), physics3.BodyDef{Type: 9, Rotation: [4]float32{3: 1}}, evertick.ErrRange, "BodyDef.Type"},
	} {
		_, err := b.Create(c.id, c.def)
		if simtest.WantError(t, err, c.kind, c.text); t.Failed() {
			t.Fatal(what)
		}
	}
	if _, err := s.CreateBody(id, physics.DefaultBodyDef()); err == nil || s.Physics.Len() != 1 {
		t.Errorf("a body in the plane for an entity in space: %v", err)
	}
	if b.World().Hash() != before {
		t.Error("a call that was refused has changed the space")
	}
	if err := b.World().DestroyBody(body); err != nil {
		t.Fatal(err)
	}
	if _, ok := b.Body(id); ok {
		t.Error("a body that is destroyed is still the body of its entity")
	}
	if _, ok := b.Entity(body); ok {
		t.Error("a body that is destroyed still has an entity")
	}
	mustGive(t, b, id, sims3.CubeAt(0, 5, 0))
	ground, _ := b.World().BodyAt(0)
	if _, ok := b.Entity(ground); ok {
		t.Error("the ground has an entity")
	}
	_, err := space.Attach(s, physics3.Config{})
	simtest.WantError(t, err, evertick.ErrRange, "Solver.Name")
	_, err = space.Attach(simtest.New(t, simtest.Small()), physics3.Config{SubSteps: -1})
	simtest.WantError(t, err, evertick.ErrRange, "physics3: Config.SubSteps")
	late := simtest.New(t, simtest.Small())
	simtest.Step(t, late, 1)
	_, err = space.Attach(late, physics3.Config{})
	simtest.WantError(t, err, evertick.ErrRange, "after the first tick")
}

func TestConfigIsThatOfTheSim(t *testing.T) {
	c := evertick.Config{Capacity: 50, Workers: 3}
	s := simtest.New(t, c)
	b := attach(t, s)
	if got := b.World().Config(); got.Capacity != 50 || got.Slots != 50 || got.Workers != 3 || got.Level != s.Config().Level {
		t.Errorf("config %+v", got)
	}
	if err := s.SetWorkers(2); err != nil || b.World().Config().Workers != 2 {
		t.Errorf("%d workers, %v", b.World().Config().Workers, err)
	}
	own, err := space.Attach(simtest.New(t, c), physics3.Config{Capacity: 7, Workers: 1})
	if err != nil || own.World().Cap() != 7 || own.World().Config().Workers != 1 {
		t.Errorf("%v", err)
	}
}

// What a system of BeforePhysics writes to the columns of an entity moves its body in the same tick, and what later ones write in the next tick.
func TestTeleportThroughTheColumns(t *testing.T) {
	for _, stage := range []evertick.Stage{evertick.BeforePhysics, evertick.AfterPhysics, evertick.AfterIndex, evertick.AfterCommands} {
		s := simtest.New(t, simtest.Small())
		b := attach(t, s)
		id := simtest.Spawn(t, s)
		body := mustGive(t, b, id, sims3.CubeAt(0, 1000, 0))
		simtest.Add(t, s, stage, "write", func(tick *evertick.Tick) error {
			if tick.N != 2 {
				return nil
			}
			if err := s.World.SetRotation(id, 0, 3, 0, 3); err != nil {
				return err
			}
			return s.World.SetPosition(id, 7, 500, -7)
		})
		simtest.Step(t, s, 2)
		for range 2 {
			simtest.Step(t, s, 1)
			if stage == evertick.BeforePhysics {
				break
			}
		}
		at, q := place(t, s, id)
		if at[0] != 7 || at[2] != -7 || at[1] > 500 || at[1] < 499.9 || math.Abs(float64(q[1])-math.Sqrt(0.5)) > 1e-3 {
			t.Errorf("stage %d: at %v, turned by %v", stage, at, q)
		}
		if v, _, err := b.World().Velocity(body); err != nil || v[1] >= -0.3 {
			t.Errorf("stage %d: the velocity is %v, %v: a teleport keeps it", stage, v, err)
		}
	}
	s := simtest.New(t, simtest.Small())
	b := attach(t, s)
	id := simtest.Spawn(t, s)
	mustGive(t, b, id, sims3.CubeAt(0, 5, 0))
	simtest.Step(t, s, 2)
	s.World.Position.Z[simtest.SlotOf(t, s, id)] = float32(math.NaN())
	simtest.WantError(t, s.Step(), evertick.ErrNotFinite, "physics3.step", "Transforms.Z")
}

func TestDespawnDestroysTheBody(t *testing.T) {
	s := simtest.New(t, simtest.Small())
	b := attach(t, s)
	ids := make([]ecs.ID, 4)
	var bodies [4]physics3.Body
	for i := range ids {
		ids[i] = simtest.Spawn(t, s)
		bodies[i] = mustGive(t, b, ids[i], sims3.CubeAt(float32(2*i), 5, 0))
	}
	simtest.Step(t, s, 1)
	slot := simtest.SlotOf(t, s, ids[1])
	s.World.Despawn(ids[1])
	if b.World().Valid(bodies[1]) || b.World().Len() != 4 {
		t.Error("the body has outlived its entity")
	}
	next := simtest.Spawn(t, s) // in the same slot
	if simtest.SlotOf(t, s, next) != slot {
		t.Fatal("the slot was not used again")
	}
	if _, ok := b.Body(next); ok {
		t.Error("the next entity in the slot has the body")
	}
	simtest.Step(t, s, 5)
	if p, _ := place(t, s, next); p != [3]float32{} {
		t.Errorf("the next entity in the slot was moved to %v", p)
	}
	s.Commands().Despawn(ids[2])
	simtest.Step(t, s, 1)
	if b.World().Valid(bodies[2]) {
		t.Error("a despawn by a command has left the body")
	}
	data := s.World.Snapshot(nil)
	if err := s.World.Restore(data); err != nil { // the world alone has no bodies
		t.Fatal(err)
	}
	if _, ok := b.Body(ids[0]); ok {
		t.Error("a World.Restore has restored a body")
	}
	if _, ok := b.Entity(bodies[0]); ok {
		t.Error("a body of before a World.Restore has an entity")
	}
	simtest.Step(t, s, 1)
	if b.World().Len() != 1 {
		t.Errorf("%d bodies are left of those before a World.Restore", b.World().Len()-1)
	}
}

// A Reorder changes rows, and nothing that happens.
func TestReorderMovesNoBody(t *testing.T) {
	var sims [2]*evertick.Sim
	var spaces [2]*space.Bodies
	ids := make([]ecs.ID, 20)
	for k := range sims {
		sims[k] = simtest.New(t, simtest.Small())
		spaces[k] = attach(t, sims[k])
		for i := range ids {
			ids[i] = simtest.Spawn(t, sims[k])
			if _, err := sims3.Give(spaces[k], ids[i], sims3.CubeAt(float32(i%3), 1+float32(i), float32(i%2)), i%4); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 20 {
		slots := sims[1].World.LiveSlots(nil)
		slices.Reverse(slots)
		slots = append(slots[5:], slots[:5]...)
		if err := sims[1].World.Reorder(slots); err != nil {
			t.Fatal(err)
		}
		simtest.Step(t, sims[0], 3)
		simtest.Step(t, sims[1], 3)
		for _, id := range ids {
			p, q := place(t, sims[0], id)
			p1, q1 := place(t, sims[1], id)
			if p != p1 || q != q1 {
				t.Fatalf("%s at %v %v, and after Reorders at %v %v", id, p, q, p1, q1)
			}
		}
	}
}

func TestModes(t *testing.T) {
	c := simtest.Small()
	c.PhysicsModes = 1 << 0
	s := simtest.New(t, c)
	b := attach(t, s)
	id := simtest.Spawn(t, s)
	body := mustGive(t, b, id, sims3.CubeAt(0, 0.4, 0))
	simtest.Step(t, s, 1)
	if len(b.World().Events().Begin) != 1 {
		t.Fatal("the cube does not touch the floor")
	}
	if err := s.SetMode(1); err != nil {
		t.Fatal(err)
	}
	if err := b.World().ApplyForceToCenter(body, [3]float32{0, 6000, 0}); err != nil {
		t.Fatal(err)
	}
	before, _ := place(t, s, id)
	simtest.Step(t, s, 3)
	if after, _ := place(t, s, id); after != before || len(b.World().Events().Begin) != 0 {
		t.Errorf("moved from %v to %v in a mode without physics, %d events", before, after, len(b.World().Events().Begin))
	}
	if err := s.SetMode(0); err != nil {
		t.Fatal(err)
	}
	simtest.Step(t, s, 1)
	if v, _, err := b.World().Velocity(body); err != nil || v[1] < 10 {
		t.Errorf("velocity %v, %v: the force has waited for the step", v, err)
	}
}

// angleBetween returns the angle between two rotations in radians.
func angleBetween(a, b [4]float32) float64 {
	var dot, la, lb float64
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
		la += float64(a[i]) * float64(a[i])
		lb += float64(b[i]) * float64(b[i])
	}
	return 2 * math.Acos(min(1, math.Abs(dot)/math.Sqrt(la*lb)))
}

// slerp turns from a to b on the shorter arc, by the formula, in float64.
func slerp(a, b [4]float32, alpha float64) (q [4]float32) {
	var dot float64
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
	}
	sign := 1.
	if dot < 0 {
		dot, sign = -dot, -1
	}
	angle := math.Acos(min(1, dot))
	u, v := 1-alpha, alpha
	if angle > 1e-9 {
		u, v = math.Sin((1-alpha)*angle)/math.Sin(angle), math.Sin(alpha*angle)/math.Sin(angle)
	}
	for i := range q {
		q[i] = float32(sign*u*float64(a[i]) + v*float64(b[i]))
	}
	return q
}

// Between two ticks bodies are drawn on the shorter arc, evenly enough: within 0.05° of slerp up to 20 rad/s, and 1.1° up to a quarter turn in a tick.
func TestInterpolateTurnsEvenly(t *testing.T) {
	for _, c := range []struct{ speed, worst float64 }{{1, 0.01}, {20, 0.05}, {94, 1.1}} {
		s := simtest.New(t, evertick.Config{Capacity: 8, Previous: true})
		b, err := space.Attach(s, physics3.Config{})
		if err != nil {
			t.Fatal(err)
		}
		id := simtest.Spawn(t, s)
		def := sims3.CubeAt(0, 0, 0)
		n := float32(c.speed / math.Sqrt(14))
		def.AngularVelocity, def.LinearVelocity = [3]float32{n, -2 * n, 3 * n}, [3]float32{3, 0, 0}
		if _, err := sims3.Give(b, id, def, 1); err != nil {
			t.Fatal(err)
		}
		out := ecs.NewTransforms(s.World.Cap())
		simtest.Step(t, s, 2)
		slot := simtest.SlotOf(t, s, id)
		_, before := place(t, s, id)
		worst, flips := 0., 0
		for range 500 {
			f, err := s.Advance(4_100_000)
			if err == nil {
				err = s.Interpolate(out)
			}
			if err != nil {
				t.Fatal(err)
			}
			p, r := s.World.Previous(), &out.Rotation
			_, now := place(t, s, id)
			from := [4]float32{p.Rotation.X[slot], p.Rotation.Y[slot], p.Rotation.Z[slot], p.Rotation.W[slot]}
			drawn := [4]float32{r.X[slot], r.Y[slot], r.Z[slot], r.W[slot]}
			worst = max(worst, angleBetween(drawn, slerp(from, now, float64(f.Alpha32())))*180/math.Pi)
			if angleBetween(from, drawn) > angleBetween(from, now)+1e-3 {
				flips++
			}
		}
		if _, after := place(t, s, id); worst > c.worst || flips > 0 || after == before {
			t.Errorf("%g rad/s: %.3g° off slerp at worst, %d times beyond the arc", c.speed, worst, flips)
		}
	}
}

// What is put elsewhere is drawn there at once: by the world, by columns, by creation.
func TestTeleportsAreJumps(t *testing.T) {
	c := simtest.Small()
	c.Previous = true
	s := simtest.New(t, c)
	b := attach(t, s)
	id, other := simtest.Spawn(t, s), simtest.Spawn(t, s)
	body := mustGive(t, b, id, sims3.CubeAt(0, 900, 0))
	mustGive(t, b, other, sims3.CubeAt(5, 900, 0))
	jumped := func(id ecs.ID) bool {
		slot := simtest.SlotOf(t, s, id)
		return s.World.Jumped()[slot>>6]>>(slot&63)&1 != 0
	}
	simtest.Step(t, s, 1)
	if !jumped(id) {
		t.Error("a new body is drawn on its way from the origin")
	}
	simtest.Step(t, s, 1)
	if jumped(id) {
		t.Error("a falling body jumps")
	}
	if err := b.World().SetTransform(body, [3]float32{0, 500, 0}, [4]float32{1, 0, 0, 0}); err != nil {
		t.Fatal(err)
	}
	simtest.Step(t, s, 1)
	if !jumped(id) || jumped(other) {
		t.Errorf("SetTransform: jumps %t and %t", jumped(id), jumped(other))
	}
	simtest.Step(t, s, 1)
	if err := s.World.SetPosition(other, 9, 9, 9); err != nil {
		t.Fatal(err)
	}
	out := ecs.NewTransforms(s.World.Cap())
	if err := s.Interpolate(out); err != nil {
		t.Fatal(err)
	}
	if slot := simtest.SlotOf(t, s, other); out.Position.X[slot] != 9 || jumped(id) || !jumped(other) {
		t.Errorf("written: drawn at %g, jumps %t and %t", out.Position.X[slot], jumped(id), jumped(other))
	}
}

// A Sim that shifts its origin near to its bodies goes on as one in which all began there, bit for bit; nothing jumps, wakes or teleports.
func TestShiftOrigin(t *testing.T) {
	const far = 4096
	offset := [3]float32{far, -far, 2 * far}
	build := func(at [3]float32) (*evertick.Sim, *space.Bodies) {
		s := simtest.New(t, evertick.Config{Capacity: 64, Previous: true})
		b, err := space.Attach(s, physics3.Config{Gravity: [3]float32{0, -10, 0}})
		if err != nil {
			t.Fatal(err)
		}
		def := physics3.DefaultBodyDef()
		def.Position = [3]float32{at[0], at[1] - 1, at[2]}
		floor, err := b.World().CreateBody(def)
		if err == nil {
			_, err = b.World().CreateBox(floor, physics3.DefaultShapeDef(), physics3.Box{Half: [3]float32{50, 1, 50}})
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range 8 {
			if _, err := sims3.Give(b, simtest.Spawn(t, s), sims3.CubeAt(at[0]+float32(i%2), at[1]+0.5+float32(i), at[2]), i%4); err != nil {
				t.Fatal(err)
			}
		}
		free := simtest.Spawn(t, s)
		if err := s.World.SetPosition(free, at[0], at[1]+3, at[2]); err != nil {
			t.Fatal(err)
		}
		return s, b
	}
	s, b := build(offset)
	near, _ := build([3]float32{})
	if err := b.ShiftOrigin(offset); err != nil {
		t.Fatal(err)
	}
	if o := b.World().Origin(); o != [3]float64{far, -far, 2 * far} {
		t.Errorf("origin %v", o)
	}
	for tick := range 90 {
		simtest.Step(t, s, 1)
		simtest.Step(t, near, 1)
		for slot := range ecs.Slot(9) {
			id, _ := s.World.ID(slot)
			p, q := place(t, s, id)
			p1, q1 := place(t, near, id)
			if p != p1 || q != q1 {
				t.Fatalf("tick %d: %s at %v %v, near the origin at %v %v", tick, id, p, q, p1, q1)
			}
		}
	}
	before := s.World.Previous().Position.X[0]
	if err := b.ShiftOrigin([3]float32{1024, 0, -1024}); err != nil {
		t.Fatal(err)
	}
	if x := s.World.Previous().Position.X[0]; x != before-1024 || s.World.Jumped()[0] != 0 {
		t.Errorf("before the tick at %g, then at %g, jumps %b", before, x, s.World.Jumped()[0])
	}
	simtest.WantError(t, b.ShiftOrigin([3]float32{0, 0, 1}), evertick.ErrRange, "ShiftOrigin")
	simtest.Step(t, s, 1)
	if s.World.Jumped()[0] != 0 {
		t.Errorf("a shift was taken for a teleport: %b", s.World.Jumped()[0])
	}
}

// A Sim without a space has nothing of it.
func TestSimWithoutSpace(t *testing.T) {
	s := simtest.New(t, simtest.Small())
	simtest.Step(t, s, 1)
	plan, err := s.Plan()
	if err != nil || strings.Contains(fmt.Sprint(plan.Groups), "physics3") {
		t.Errorf("phases %v, %v", plan.Groups, err)
	}
	for _, c := range s.ColumnHashes() {
		if strings.HasPrefix(c.Name, "physics3") {
			t.Errorf("a hash of %s", c.Name)
		}
	}
	with := simtest.New(t, simtest.Small())
	attach(t, with)
	simtest.Step(t, with, 1)
	simtest.WantError(t, s.Restore(simtest.Snapshot(t, with)), evertick.ErrUnsupported, `solver = "physics3"`)
	simtest.WantError(t, with.Restore(simtest.Snapshot(t, s)), evertick.ErrUnsupported, "solver = none")
	simtest.WantError(t, s.CopyFrom(with), evertick.ErrUnsupported, `solver = "physics3"`)
	simtest.WantError(t, with.CopyFrom(s), evertick.ErrUnsupported, "solver = none")
}

func TestSteadyStepAllocatesNothing(t *testing.T) {
	s := simtest.New(t, evertick.Config{Capacity: 64, Previous: true})
	b := attach(t, s)
	other := simtest.New(t, evertick.Config{Capacity: 64, Previous: true})
	attach(t, other)
	var first ecs.ID
	for i := range 30 {
		id := simtest.Spawn(t, s)
		if i == 0 {
			first = id
		}
		def := sims3.CubeAt(float32(i%5), 1+float32(i/5), 0)
		def.DisableSleep = true
		if _, err := sims3.Give(b, id, def, i%4); err != nil {
			t.Fatal(err)
		}
	}
	body, _ := b.Body(first)
	var data []byte
	run := func() {
		simtest.Step(t, s, 1)
		var err error
		if data, err = s.Snapshot(data[:0]); err != nil {
			t.Fatal(err)
		}
		if err := other.Restore(data); err != nil {
			t.Fatal(err)
		}
		if err := other.CopyFrom(s); err != nil {
			t.Fatal(err)
		}
		_, _ = b.Body(first)
		_, _ = b.Entity(body)
	}
	for range 200 {
		run()
	}
	if n := testing.AllocsPerRun(20, run); n != 0 {
		t.Errorf("%g allocations in a step, a snapshot, a restore and a copy", n)
	}
}

// Diff names the column, the body and the entity.
func TestDiffNamesBodyAndEntity(t *testing.T) {
	var sims [2]*evertick.Sim
	var ids [2]ecs.ID
	for k := range sims {
		sims[k] = simtest.New(t, simtest.Small())
		b := attach(t, sims[k])
		ids[k] = simtest.Spawn(t, sims[k])
		body := mustGive(t, b, ids[k], sims3.CubeAt(0, 5, 0))
		if k == 1 {
			if err := b.World().SetVelocity(body, [3]float32{0, 0, 2}, [3]float32{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	d, found := evertick.Diff(sims[0], sims[1])
	if !found || d.Column != "physics3.VZ" || d.ID != ids[0] || d.Row != 1 || !strings.HasPrefix(d.B, "2") {
		t.Errorf("%+v: %v", d, d)
	}
}
