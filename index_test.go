package evertick_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/spatial"
)

// A gate over a world notices spawns, moves, and a Restore that arrives at the
// version from which the index was built.
func TestGateOverAWorld(t *testing.T) {
	w, err := ecs.New(ecs.Config{Capacity: 100})
	if err != nil {
		t.Fatal(err)
	}
	src := evertick.NewWorldSource(w)
	move := func(id ecs.ID, x float32) {
		t.Helper()
		if err := w.SetPosition(id, x, 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	ids := make([]ecs.ID, 3)
	if err := w.SpawnN(ids); err != nil {
		t.Fatal(err)
	}
	for i, id := range ids {
		move(id, float32(10*i))
	}
	strictIndex, err := spatial.New(spatial.Config{})
	if err != nil {
		t.Fatal(err)
	}
	handyIndex, err := spatial.New(spatial.Config{})
	if err != nil {
		t.Fatal(err)
	}
	strict := spatial.NewGate(strictIndex, src, spatial.Refuse)
	handy := spatial.NewGate(handyIndex, src, spatial.Rebuild)
	at := func(x float32) []uint32 {
		t.Helper()
		ix, err := handy.Index()
		if err != nil {
			t.Fatal(err)
		}
		var out spatial.Result
		if err := ix.Radius(&spatial.Queries{X: []float32{x}, Y: []float32{0}, Z: []float32{0}, Radius: []float32{1}}, &out); err != nil {
			t.Fatal(err)
		}
		return out.Row(0)
	}
	changed := func(field string) {
		t.Helper()
		if _, err := strict.Index(); !errors.Is(err, spatial.ErrStale) || !strings.Contains(err.Error(), field) {
			t.Fatalf("%v, want ErrStale that names %q", err, field)
		}
		if err := strict.Build(); err != nil {
			t.Fatal(err)
		}
		if _, err := strict.Index(); err != nil {
			t.Fatal(err)
		}
	}
	changed("not built by the gate")
	if got := at(20); !slices.Equal(got, []uint32{2}) {
		t.Fatalf("at 20: %v", got)
	}
	saved, version := w.Snapshot(nil), w.Version()

	w.Despawn(ids[2])
	changed("Stamp.Structure")
	if got := at(20); len(got) != 0 {
		t.Fatalf("at 20 after the despawn: %v", got)
	}
	move(ids[1], 20)
	changed("Stamp.Position")
	if got := at(20); !slices.Equal(got, []uint32{1}) {
		t.Fatalf("at 20 after the move: %v", got)
	}
	if err := w.Restore(saved); err != nil {
		t.Fatal(err)
	}
	changed("Stamp.Generation")
	if got := at(20); !slices.Equal(got, []uint32{2}) {
		t.Fatalf("at 20 after the restore: %v", got)
	}

	// The same version and the same number of moves, but another world.
	move(ids[0], 20)
	changed("Stamp.Position")
	if err := w.Restore(saved); err != nil || w.Version() != version {
		t.Fatalf("version %d, %v; want %d", w.Version(), err, version)
	}
	changed("Stamp.Generation")
	if got := at(20); !slices.Equal(got, []uint32{2}) {
		t.Fatalf("at 20 after the second restore: %v", got)
	}
}

// The phases of a Sim touch the columns that they write, so that a gate passes the Sim's own
// index only until the next tick moves something.
func TestGateOverASim(t *testing.T) {
	s := newSim(t, small())
	gate := spatial.NewGate(s.Index, evertick.NewWorldSource(s.World), spatial.Rebuild)
	id := spawn(t, s)
	movingBody(t, s, id, 60)
	stamps := map[uint64]bool{}
	add(t, s, evertick.AfterIndex, "touch", func(tick *evertick.Tick) error {
		stamps[s.World.Position.Version()] = true
		return tick.Commands().SetPosition(id, 7, 0, 0)
	})
	step(t, s, 3)
	if len(stamps) != 3 || s.World.Position.Version() <= s.World.Rotation.Version() {
		t.Errorf("versions %v, then %d, of the rotation %d", stamps, s.World.Position.Version(), s.World.Rotation.Version())
	}
	if ix, err := gate.Index(); err != nil || ix.Len() != 1 {
		t.Error(err)
	}
	if s.World.Position.X[0] != 7 {
		t.Errorf("x = %g", s.World.Position.X[0])
	}
}

// herd is a scene whose result by id does not depend on the order of rows, unless look is set: entities that walk, and
// bodies that fall on a floor, meet each other and come and go.
type herd struct {
	*evertick.Sim
	vel  [2]*ecs.Column[float32]
	seen *ecs.Column[uint32]
	odd  ecs.Tag
}

func newHerd(t testing.TB, c evertick.Config, n int) *herd {
	t.Helper()
	c.Capacity, c.Previous, c.Spatial.CellSize = 2*n+100, true, 2
	h := &herd{Sim: newSim(t, c)}
	var r struct {
		VelX, VelY *ecs.Column[float32]
		Seen       *ecs.Column[uint32]
		Odd        ecs.Tag
	}
	h.Register(&r)
	h.vel, h.seen, h.odd = [2]*ecs.Column[float32]{r.VelX, r.VelY}, r.Seen, r.Odd
	ground, err := h.Physics.CreateBody(physics.DefaultBodyDef())
	if err != nil {
		t.Fatal(err)
	}
	h.Physics.CreateSegment(ground, physics.DefaultShapeDef(), physics.Segment{P1: [2]float32{-50, 0}, P2: [2]float32{50, 0}})
	for i := range n {
		h.add(t, i)
	}
	h.Add(evertick.BeforePhysics, "live", h.live)
	h.Add(evertick.AfterIndex, "look", h.look)
	return h
}

// add adds an entity; every third one has a body.
func (h *herd) add(t testing.TB, i int) {
	id, slot, err := h.World.SpawnSlot()
	if err != nil {
		t.Fatal(err)
	}
	x, y := float32(i*37%60)-30, 1+float32(i*53%31)
	h.World.Position.X[slot], h.World.Position.Y[slot] = x, y
	h.vel[0].Values()[slot], h.vel[1].Values()[slot] = float32(i%7)-3, float32(i%5)-2
	if i%2 == 1 {
		h.odd.Set(id)
	}
	if i%3 != 0 {
		return
	}
	d := physics.DefaultBodyDef()
	d.Type, d.Position = physics.DynamicBody, [2]float32{x, y}
	b, err := h.CreateBody(id, d)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Physics.CreateCircle(b, physics.DefaultShapeDef(), physics.Circle{Radius: 0.4}); err != nil {
		t.Fatal(err)
	}
}

func (h *herd) live(t *evertick.Tick) error {
	w := h.World
	for slot := range w.Query() {
		id, _ := w.ID(slot)
		r := t.Rand(id, 1)
		if _, has := h.Body(id); !has {
			w.Position.X[slot] += float32(h.vel[0].Values()[slot] * t.Dt)
			w.Position.Y[slot] += float32(h.vel[1].Values()[slot] * t.Dt)
		} else if r.IntN(200) == 0 {
			w.Position.X[slot], w.Position.Y[slot] = 60*r.Float32()-30, 20 // moves the body, too
			w.Jump(id)
		}
		if r.IntN(300) == 0 {
			t.Commands().Despawn(id)
		}
	}
	return nil
}

// look counts neighbours, and adds the ids that it sees in a way that has no order.
func (h *herd) look(t *evertick.Tick) error {
	var found spatial.Result
	if err := h.Index.RadiusSelf(&spatial.Self{Radius: 2}, &found); err != nil {
		return err
	}
	for i, slot := range found.Of {
		sum := uint32(0)
		for _, s := range found.Row(i) {
			id, alive := h.World.ID(s)
			if !alive {
				return fmt.Errorf("slot %d of the index has no entity", s)
			}
			sum += uint32(id)
		}
		h.seen.Values()[slot] = sum
	}
	h.seen.Touch()
	return nil
}

// states returns what each entity has, by id, and the state of all bodies without their slots.
func (h *herd) states() (list []string) {
	w, cols := h.World, h.Physics.Columns()
	for id := range w.IDs() {
		slot, _ := w.Slot(id)
		s := fmt.Sprint(id, w.Position.X[slot], w.Position.Y[slot], w.Rotation.Z[slot], w.Rotation.W[slot], w.Previous().Position.X[slot],
			h.vel[0].Values()[slot], h.seen.Values()[slot], h.odd.Has(id), w.Jumped()[slot>>6]>>(slot&63)&1)
		if b, ok := h.Body(id); ok {
			owner, _ := h.BodyEntity(b)
			s += fmt.Sprint(" body ", b, owner, cols.X[b.Index()], cols.Slot[b.Index()] == slot)
		}
		list = append(list, s)
	}
	for _, c := range h.Physics.AppendColumnHashes(nil) {
		if c.Name != "Slot" {
			list = append(list, fmt.Sprintf("%s %x", c.Name, c.Hash))
		}
	}
	return list
}

// shuffle moves all entities to rows at random.
func (h *herd) shuffle(t testing.TB, rng *rand.Rand) {
	order := h.World.LiveSlots(nil)
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	if err := h.World.Reorder(order); err != nil {
		t.Fatal(err)
	}
}

// A Sim whose rows move, between ticks, in systems or by the policy, has the same state by id as a twin whose rows do not.
func TestReorderedTwin(t *testing.T) {
	run := paritytest.Start(t, "ReorderedTwin")
	for name, c := range map[string]evertick.Config{
		"by hand":   {},
		"policy":    {Reorder: evertick.ReorderPolicy{Every: 7}},
		"threshold": {Reorder: evertick.ReorderPolicy{Every: 1, Disorder: 0.1}},
	} {
		t.Run(name, func(t *testing.T) {
			h, twin := newHerd(t, c, 150), newHerd(t, evertick.Config{}, 150)
			moving := false
			h.Add(evertick.AfterPhysics, "move", func(*evertick.Tick) error {
				if moving {
					h.shuffle(t, run.Rand)
				}
				return nil
			})
			for i := range 90 {
				between := name == "by hand" && run.IntN(3) == 0
				moving = name == "by hand" && run.IntN(3) == 0
				if between {
					h.shuffle(t, run.Rand)
				}
				if i%4 == 0 {
					h.add(t, 1000+i)
					twin.add(t, 1000+i)
				}
				step(t, h.Sim, 1)
				step(t, twin.Sim, 1)
				if a, b := h.states(), twin.states(); !slices.Equal(a, b) {
					for j := range a {
						if a[j] != b[j] {
							t.Fatalf("tick %d: %s\n%s", i, a[j], b[j])
						}
					}
				}
			}
			if n := h.World.Generation(); n < 8 || twin.World.Generation() != 0 {
				t.Errorf("%d reorders", n)
			}
		})
	}
}

// The phase keeps the rows in the order of the index, and systems after it see an index of the new slots.
func TestReorderPhase(t *testing.T) {
	h := newHerd(t, evertick.Config{Reorder: evertick.ReorderPolicy{Every: 3}}, 200)
	var ordered []bool
	h.Add(evertick.AfterIndex, "order", func(t *evertick.Tick) error {
		perm := h.Index.SortPermutation(nil)
		ordered = append(ordered, slices.IsSorted(perm) && len(perm) == h.World.HighWater())
		return nil
	})
	step(t, h.Sim, 30)
	for i, is := range ordered {
		if i%3 == 0 && !is {
			t.Fatalf("tick %d: not in order; all: %v", i, ordered)
		}
	}
	if !slices.Contains(ordered, false) {
		t.Error("the rows are in order in the other ticks, too")
	}
	names := func(s *evertick.Sim) (names []string) {
		timings, _ := s.Timings()
		for _, p := range timings {
			names = append(names, p.Phase)
		}
		return names
	}
	if at := slices.Index(names(h.Sim), "world.reorder"); at < 0 || names(h.Sim)[at-1] != "spatial.build" {
		t.Errorf("phases %v", names(h.Sim))
	}
	if slices.Contains(names(newSim(t, small())), "world.reorder") {
		t.Error("the phase exists without a policy")
	}
}

// A hook that spawns after spatial.build does not break the phase.
func TestReorderAfterAHookThatSpawns(t *testing.T) {
	h := newHerd(t, evertick.Config{Reorder: evertick.ReorderPolicy{Every: 1}}, 20)
	h.AddHooks(evertick.Hooks{AfterSystem: func(_ *evertick.Tick, system string) {
		if system == "spatial.build" {
			h.add(t, 5)
		}
	}})
	step(t, h.Sim, 10)
	if h.Index.Len() != h.World.Len() && h.World.Len() < 25 {
		t.Errorf("%d points, %d entities", h.Index.Len(), h.World.Len())
	}
}

func TestReorderConfig(t *testing.T) {
	for _, p := range []evertick.ReorderPolicy{{Every: -1}, {Every: 1<<30 + 1}, {Disorder: -0.1}, {Disorder: 1.5}, {Disorder: math.NaN()}} {
		c := small()
		c.Reorder = p
		_, err := evertick.New(c)
		wantError(t, err, evertick.ErrRange, "evertick: Config.Reorder.")
	}
	wantError(t, newSim(t, small()).Reorder(), evertick.ErrUnsupported, "Config.Reorder.Requests")
}

// Requests come as inputs: they reorder in the next tick, once, and a feed of the same inputs does the same.
func TestReorderRequests(t *testing.T) {
	c := evertick.Config{Reorder: evertick.ReorderPolicy{Requests: true}}
	h, again := newHerd(t, c, 100), newHerd(t, c, 100)
	log := map[uint64][]evertick.Input{}
	h.AddHooks(evertick.Hooks{AfterTick: func(t *evertick.Tick) error {
		for _, in := range t.Inputs() {
			in.Data = slices.Clone(in.Data)
			log[t.N] = append(log[t.N], in)
		}
		return nil
	}})
	again.SetInputs(func(tick uint64, dst []evertick.Input) ([]evertick.Input, error) {
		return append(dst, log[tick]...), nil
	})
	for i := range 40 {
		before := h.World.Generation()
		if i%8 == 3 {
			for range 2 {
				if err := h.Reorder(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if i%8 == 5 { // of another source, as from a client
			h.Push(evertick.Input{Source: 7, Seq: uint64(i), Kind: evertick.ReorderKind})
		}
		if i%10 == 0 {
			again.Reorder() // which the feed makes a no-op
		}
		step(t, h.Sim, 1)
		step(t, again.Sim, 1)
		if moved := h.World.Generation() != before; moved != (i%8 == 3) || h.Hash() != again.Hash() {
			t.Fatalf("tick %d: reordered: %t, hashes %x and %x", i, moved, h.Hash(), again.Hash())
		}
	}
}

// With the policy on, a run that goes on from a snapshot or a copy in any tick has the hashes of one that does not, on any
// number of workers, and so has one that steps back.
func TestReorderPolicyIsDeterministic(t *testing.T) {
	config := evertick.Config{Reorder: evertick.ReorderPolicy{Every: 4, Disorder: 0.02, Requests: true}}
	const ticks = 60
	var want []uint64
	h := newHerd(t, config, 150)
	for i := range ticks {
		if i%9 == 0 {
			h.Reorder()
		}
		step(t, h.Sim, 1)
		want = append(want, h.Hash())
	}
	if h.World.Generation() < 10 {
		t.Fatalf("%d reorders", h.World.Generation())
	}
	check := func(name string, s *evertick.Sim) {
		t.Helper()
		if n := s.Ticks(); s.Hash() != want[n-1] {
			t.Fatalf("%s: tick %d has hash %x, want %x", name, n-1, s.Hash(), want[n-1])
		}
	}
	for _, workers := range []int{2, 7} {
		c := config
		c.Workers, c.History = workers, evertick.HistoryConfig{Keep: 20, Every: 5}
		a, b := newHerd(t, c, 150), newHerd(t, c, 150)
		for i := range ticks {
			if i%9 == 0 {
				a.Reorder()
			}
			switch i % 3 {
			case 1:
				data, err := a.Snapshot(nil)
				if err != nil || b.Restore(data) != nil {
					t.Fatal(err)
				}
				if again, _ := b.Snapshot(nil); !bytes.Equal(data, again) {
					t.Fatal("the snapshot of a restored Sim differs")
				}
				step(t, b.Sim, 1)
				check("restored", b.Sim)
			case 2:
				if err := b.CopyFrom(a.Sim); err != nil {
					t.Fatal(err)
				}
				step(t, b.Sim, 1)
				check("copied", b.Sim)
			}
			step(t, a.Sim, 1)
			check("workers", a.Sim)
		}
		for range 3 {
			if err := a.StepBack(23); err != nil {
				t.Fatal(err)
			}
			check("back", a.Sim)
			if err := a.Forward(23); err != nil {
				t.Fatal(err)
			}
		}
		check("forward", a.Sim)
	}
}

// A view has the present and the previous position of each entity in one row, whatever rows they have had.
func TestReorderPublish(t *testing.T) {
	h := newHerd(t, evertick.Config{Reorder: evertick.ReorderPolicy{Every: 2}}, 100)
	p, err := h.Publish(evertick.PublishConfig{Columns: []string{"velX"}, Tags: []ecs.Tag{h.odd}})
	if err != nil {
		t.Fatal(err)
	}
	before := map[ecs.ID]float32{}
	note := func() {
		clear(before)
		for id := range h.World.IDs() {
			before[id] = h.World.Position.X[slotOf(t, h.Sim, id)]
		}
	}
	note()
	for range 20 {
		step(t, h.Sim, 1)
		if err := p.Publish(); err != nil {
			t.Fatal(err)
		}
		v := p.Acquire()
		vel, _ := evertick.ColumnOf[float32](v, "velX")
		n := 0
		for slot, id := range v.IDs {
			if id == 0 {
				continue
			}
			n++
			at := slotOf(t, h.Sim, id)
			x, old := h.World.Position.X[at], before[id]
			if jumped := h.World.Jumped()[at>>6]>>(at&63)&1 != 0; jumped {
				old = x
			}
			if v.Now.Position.X[slot] != x || v.Previous.Position.X[slot] != old || vel[slot] != h.vel[0].Values()[at] ||
				v.Tag(h.odd)[slot>>6]>>(slot&63)&1 != 0 != h.odd.Has(id) {
				t.Fatalf("tick %d: %v in row %d: now %v, want %v; before %v, want %v", v.Tick, id, slot, v.Now.Position.X[slot], x, v.Previous.Position.X[slot], old)
			}
		}
		if n != h.World.Len() || v.Rows != h.World.HighWater() {
			t.Fatalf("%d entities in %d rows, want %d", n, v.Rows, h.World.Len())
		}
		note()
	}
}

// A Restore of the World alone leaves no bodies, also if its rows move before the next step.
func TestReorderAfterWorldRestore(t *testing.T) {
	h := newHerd(t, evertick.Config{}, 30)
	step(t, h.Sim, 3)
	if err := h.World.Restore(h.World.Snapshot(nil)); err != nil {
		t.Fatal(err)
	}
	h.shuffle(t, rand.New(rand.NewPCG(1, 1)))
	step(t, h.Sim, 3)
	if n := h.Physics.Len(); n != 1 {
		t.Errorf("%d bodies, want the ground alone", n)
	}
}

// An entity with a body that moves beyond Config.Physics.Slots makes the next step fail, whatever other reorders there are
// before it; snapshots and copies fail, too. A Restore ends that.
func TestReorderBeyondPhysicsSlots(t *testing.T) {
	c := small()
	c.Physics.Slots = 2
	c.Reorder.Every, c.Spatial.CellSize = 1, 1
	s := newSim(t, c)
	id := spawn(t, s)
	spawn(t, s)
	spawn(t, s)
	if _, err := s.CreateBody(id, physics.DefaultBodyDef()); err != nil {
		t.Fatal(err)
	}
	before, err := s.Snapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	const message = "physics: MoveSlots to[0] = 2"
	for _, orders := range [][][]ecs.Slot{{{2, 1, 0}}, {{2, 1, 0}, {0, 2, 1}}} { // after both, the body has a slot of another entity
		for _, order := range orders {
			if err := s.World.Reorder(order); err != nil {
				t.Fatal(err)
			}
		}
		_, err := s.Snapshot(nil)
		wantError(t, err, evertick.ErrRange, message)
		wantError(t, newSim(t, c).CopyFrom(s), evertick.ErrRange, message)
		wantError(t, s.Step(), evertick.ErrRange, "physics.step", message)
		if err := s.Restore(before); err != nil {
			t.Fatal(err)
		}
	}
	copy(s.World.Position.Y, []float32{50, 25, 0}) // in the grid, the body comes last
	body, _ := s.Body(id)
	if err := s.Physics.SetTransform(body, [2]float32{0, 50}, 0); err != nil {
		t.Fatal(err)
	}
	wantError(t, s.Step(), evertick.ErrRange, "world.reorder", message)
}

func TestReorderAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	s := newSim(t, evertick.Config{Capacity: 500, Previous: true, Reorder: evertick.ReorderPolicy{Every: 1}})
	ids := make([]ecs.ID, 500)
	if err := s.World.SpawnN(ids); err != nil {
		t.Fatal(err)
	}
	s.Add(evertick.BeforePhysics, "scatter", func(t *evertick.Tick) error {
		for i := range s.World.Position.X {
			r := t.Rand(ecs.ID(i), 0)
			s.World.Position.X[i], s.World.Position.Y[i] = 90*r.Float32(), 90*r.Float32()
		}
		return nil
	})
	step(t, s, 20)
	before := s.World.Generation()
	if n := testing.AllocsPerRun(20, func() { step(t, s, 1) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
	if s.World.Generation() < before+20 {
		t.Error("nothing was reordered")
	}
}

// BenchmarkReorderedNeighbours measures what the order of the rows is worth at 100,000 entities with 30 neighbours each: the
// query of all neighbours with its build, and a loop over these that reads six columns. Drift is how far the entities have
// moved since a reorder, in radii.
func BenchmarkReorderedNeighbours(b *testing.B) {
	const n, radius = 100_000, 1
	edge := float32(math.Cbrt(n * 4 * math.Pi / 3 / 30))
	for _, drift := range []float32{-1, 0, 1, 4, 16} {
		name := fmt.Sprint("drift=", drift)
		if drift < 0 {
			name = "shuffled"
		}
		s := newSim(b, evertick.Config{Capacity: n, Spatial: spatial.Config{CellSize: radius}})
		p := &s.World.Position
		v := [3][]float32{column(b, s, "vx"), column(b, s, "vy"), column(b, s, "vz")}
		if err := s.World.SpawnN(make([]ecs.ID, n)); err != nil {
			b.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(1, 1))
		for i := range n {
			p.X[i], p.Y[i], p.Z[i] = edge*rng.Float32(), edge*rng.Float32(), edge*rng.Float32()
		}
		build := func() {
			if err := s.Index.Build(p.X, p.Y, p.Z, s.World.LiveSlots(nil)); err != nil {
				b.Fatal(err)
			}
		}
		build()
		if drift >= 0 {
			if err := s.World.Reorder(s.Index.SortPermutation(nil)); err != nil {
				b.Fatal(err)
			}
			for _, c := range [][]float32{p.X, p.Y, p.Z} {
				for i := range c {
					x := c[i] + drift*radius*float32(rng.NormFloat64())
					c[i] = x - float32(edge*float32(math.Floor(float64(x/edge))))
				}
			}
			build()
		}
		disorder := s.Index.Disorder()
		var found spatial.Result
		q := &spatial.Self{Radius: radius, Order: spatial.Grid}
		slots := s.World.LiveSlots(nil)
		b.Run(name+"/query", func(b *testing.B) {
			for b.Loop() {
				if err := s.Index.Build(p.X, p.Y, p.Z, slots); err != nil {
					b.Fatal(err)
				}
				if err := s.Index.RadiusSelf(q, &found); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/entity")
			b.ReportMetric(disorder, "disorder")
		})
		b.Run(name+"/loop", func(b *testing.B) {
			for b.Loop() {
				for i, slot := range found.Of {
					x, y, z := p.X[slot], p.Y[slot], p.Z[slot]
					var ax, ay, az float32
					for _, o := range found.Row(i) {
						ax += (p.X[o] - x) + v[0][o]
						ay += (p.Y[o] - y) + v[1][o]
						az += (p.Z[o] - z) + v[2][o]
					}
					v[0][slot] += 1e-9 * (ax + ay + az)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/entity")
			b.ReportMetric(float64(len(found.Slots))/n, "neighbours")
		})
	}
}
