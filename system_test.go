package evertick_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/spatial"
)

// phaseNames are the phases as Timings lists them.
func phaseNames(s *evertick.Sim) []string {
	var names []string
	timings, _ := s.Timings()
	for _, t := range timings {
		names = append(names, t.Phase)
	}
	return names
}

func nothing(*evertick.Tick) error { return nil }

func TestOrderOfPhases(t *testing.T) {
	s := newSim(t, small())
	var ran []string
	for _, sys := range []struct {
		stage evertick.Stage
		name  string
	}{
		{evertick.AfterCommands, "follow"},
		{evertick.AfterIndex, "decide"},
		{evertick.BeforePhysics, "input"},
		{evertick.AfterPhysics, "damage"},
		{evertick.AfterIndex, "act"},
		{evertick.BeforePhysics, "force"},
		{evertick.AfterCommands, "warp"},
		{evertick.AfterPhysics, "score"},
	} {
		add(t, s, sys.stage, sys.name, func(tick *evertick.Tick) error {
			if tick.Sim != s || tick.N != s.Ticks() || tick.Dt != s.Dt() {
				t.Errorf("tick %+v of a Sim at tick %d with Dt %g", tick, s.Ticks(), s.Dt())
			}
			ran = append(ran, sys.name)
			return nil
		})
	}
	step(t, s, 2)
	once := []string{"input", "force", "damage", "score", "decide", "act", "follow", "warp"}
	if want := slices.Concat(once, once); !slices.Equal(ran, want) {
		t.Errorf("ran %v, want %v", ran, want)
	}
	want := []string{"input", "force", "physics.step", "physics.sync", "damage", "score", "spatial.build", "decide", "act", "commands",
		"follow", "warp", "state.hash"}
	if got := phaseNames(s); !slices.Equal(got, want) {
		t.Errorf("phases %v, want %v", got, want)
	}
}

// A system sees what the phases before it have done: the body's move after the
// physics, the entity's move in the index.
func TestStagesSeeWhatCameBefore(t *testing.T) {
	c := small()
	c.Physics.Engine = &fakeEngine{}
	s := newSim(t, c)
	id := spawn(t, s)
	body := movingBody(t, s, id, 60)
	add(t, s, evertick.BeforePhysics, "before", func(tick *evertick.Tick) error {
		if x := s.World.Position.X[0]; x != float32(tick.N) {
			t.Errorf("tick %d: x = %g before the physics", tick.N, x)
		}
		return nil
	})
	add(t, s, evertick.AfterIndex, "after", func(tick *evertick.Tick) error {
		at, err := s.Physics.Position(body)
		if x := s.World.Position.X[0]; x != float32(tick.N+1) || at[0] != x {
			t.Errorf("tick %d: x = %g after the physics, body at %v", tick.N, x, at)
		}
		if s.Index.Len() != 1 {
			t.Errorf("%d points in the index", s.Index.Len())
		}
		return err
	})
	step(t, s, 3)
}

func TestAddErrors(t *testing.T) {
	s := newSim(t, small())
	add(t, s, evertick.AfterIndex, "taken", nothing)
	before := phaseNames(s)
	for _, c := range []struct {
		stage evertick.Stage
		name  string
		says  string
	}{
		{evertick.BeforePhysics, "", "name"},
		{evertick.BeforePhysics, "taken", "taken"},
		{evertick.AfterIndex, "taken", "taken"},
		{evertick.BeforePhysics, "physics.step", "physics.step"},
		{evertick.BeforePhysics, "physics.sync", "physics.sync"},
		{evertick.AfterIndex, "spatial.build", "spatial.build"},
		{evertick.AfterIndex, "state.hash", "state.hash"},
		{4, "new", "stage = 4"},
		{255, "new", "stage = 255"},
	} {
		wantError(t, s.Add(c.stage, c.name, nothing), evertick.ErrRange, "evertick: Add", c.says)
	}
	if got := phaseNames(s); !slices.Equal(got, before) {
		t.Errorf("refused systems changed the phases to %v", got)
	}
	defer func() {
		if got := recover(); got != "evertick: Add: nil system" {
			t.Errorf("Add of a nil system panics with %v", got)
		}
	}()
	s.Add(evertick.AfterIndex, "nil", nil)
}

// A step runs the list of phases that it began with, each once, whatever a
// system adds before or after itself.
func TestAddWithinAStep(t *testing.T) {
	for _, from := range stages {
		for _, to := range stages {
			s := newSim(t, small())
			plain := newSim(t, small())
			adds, added := 0, 0
			add(t, s, from, "adds", func(tick *evertick.Tick) error {
				adds++
				if tick.N != 0 {
					return nil
				}
				return s.Add(to, "added", func(*evertick.Tick) error { added++; return nil })
			})
			step(t, s, 1)
			step(t, plain, 1)
			if adds != 1 || added != 0 || s.Hash() != plain.Hash() {
				t.Errorf("from %d to %d: ran %d times, the new one %d times in the step that added it; hash %x, want %x",
					from, to, adds, added, s.Hash(), plain.Hash())
			}
			step(t, s, 2)
			if adds != 3 || added != 2 {
				t.Errorf("from %d to %d: ran %d times and %d times, want 3 and 2", from, to, adds, added)
			}
		}
	}
}

// Random numbers depend on seed, tick, entity and stream alone: not on earlier
// draws.
func TestTickRand(t *testing.T) {
	const seed = 7
	c := small()
	c.Seed = seed
	s := newSim(t, c)
	ids := []ecs.ID{spawn(t, s), spawn(t, s), 1 << 40}
	seen := map[uint64]bool{}
	add(t, s, evertick.AfterIndex, "draw", func(tick *evertick.Tick) error {
		if tick.N%2 == 1 {
			slices.Reverse(ids)
		}
		for _, id := range ids {
			for stream := range uint32(3) {
				r, again := tick.Rand(id, stream), tick.Rand(id, stream)
				want := loop.NewRand(seed, tick.N, uint64(id), stream)
				first := r.Uint64()
				if w := want.Uint64(); first != w || again.Uint64() != w {
					t.Errorf("tick %d, %s, stream %d: drew %x, want %x", tick.N, id, stream, first, w)
				}
				if seen[first] {
					t.Errorf("tick %d, %s, stream %d: drew %x, as another did", tick.N, id, stream, first)
				}
				seen[first] = true
			}
		}
		return nil
	})
	step(t, s, 4)
}

// What a system writes into its Tick affects no other.
func TestTickIsACopy(t *testing.T) {
	s := newSim(t, small())
	add(t, s, evertick.BeforePhysics, "vandal", func(tick *evertick.Tick) error {
		tick.N, tick.Dt = 99, -1
		return nil
	})
	add(t, s, evertick.AfterIndex, "witness", func(tick *evertick.Tick) error {
		if tick.N != s.Ticks() || tick.Dt != s.Dt() {
			t.Errorf("tick %d of %g s", tick.N, tick.Dt)
		}
		return nil
	})
	step(t, s, 3)
	if s.Ticks() != 3 || s.Dt() != float32(1)/60 {
		t.Errorf("%d ticks of %g s", s.Ticks(), s.Dt())
	}
}

// Commands are applied after the last system and before the hash.
func TestCommandsOfATick(t *testing.T) {
	s := newSim(t, small())
	first := spawn(t, s)
	movingBody(t, s, first, 1)
	var born ecs.ID
	add(t, s, evertick.BeforePhysics, "early", func(tick *evertick.Tick) error {
		if tick.N == 1 {
			tick.Commands().Despawn(first)
			born = tick.Commands().Spawn()
		}
		return nil
	})
	add(t, s, evertick.AfterIndex, "late", func(tick *evertick.Tick) error {
		if tick.N != 1 {
			return nil
		}
		if s.World.Len() != 1 || s.Index.Len() != 1 || s.Physics.Len() != 1 || s.Commands().Len() != 2 {
			t.Error("what was recorded has happened within the tick")
		}
		return tick.Commands().SetPosition(born, 5, 0, 0)
	})
	step(t, s, 2)
	second := s.Commands().Resolve(born)
	slot := slotOf(t, s, second)
	if s.World.Len() != 1 || s.World.Position.X[slot] != 5 || s.Physics.Len() != 0 {
		t.Errorf("%d entities, the new one at %g, %d bodies", s.World.Len(), s.World.Position.X[slot], s.Physics.Len())
	}
	for _, c := range s.ColumnHashes() {
		if now := s.World.ColumnHashes()[0]; c.Name == now.Name && c.Hash != now.Hash {
			t.Error("the hash of the tick is older than its commands")
		}
	}
	wantIndexed(t, s, 0) // as it was built, before the spawns
	step(t, s, 1)
	wantIndexed(t, s, slot)
}

// Commands of observers are applied in the same tick, and those recorded between
// ticks in the next.
func TestCommandsOfObservers(t *testing.T) {
	s := newSim(t, small())
	left := 5
	s.World.OnDespawn(func(ecs.ID, ecs.Slot) { s.Commands().Spawn() })
	s.World.OnSpawn(func(id ecs.ID, _ ecs.Slot) {
		if left--; left > 0 {
			s.Commands().Despawn(id)
		}
	})
	spawn(t, s)
	if s.World.Len() != 1 || s.Commands().Len() != 1 {
		t.Error("recorded between the ticks, and done at once")
	}
	step(t, s, 1)
	if s.World.Len() != 1 || s.Commands().Len() != 0 || left != 0 {
		t.Errorf("%d alive, %d recorded, %d left", s.World.Len(), s.Commands().Len(), left)
	}
}

func TestCommandsEndTheSim(t *testing.T) {
	s := newSim(t, evertick.Config{Capacity: 2})
	add(t, s, evertick.AfterIndex, "breed", func(tick *evertick.Tick) error {
		tick.Commands().Spawn()
		return nil
	})
	step(t, s, 2)
	wantError(t, s.Step(), evertick.ErrCapacity, "tick 2: commands", "lists[0]: command[0] = Spawn")

	s = newSim(t, small())
	s.World.OnDespawn(func(ecs.ID, ecs.Slot) { s.Commands().Spawn() })
	s.World.OnSpawn(func(id ecs.ID, _ ecs.Slot) { s.Commands().Despawn(id) })
	spawn(t, s)
	wantError(t, s.Step(), evertick.ErrRange, "tick 0: commands", "rounds", "64")
}

// system is a System of AfterIndex in a few words.
func system(name string, declare ...func(*evertick.System)) evertick.System {
	sys := evertick.System{Name: name, Stage: evertick.AfterIndex, Run: nothing}
	for _, d := range declare {
		d(&sys)
	}
	return sys
}

func before(names ...string) func(*evertick.System) {
	return func(s *evertick.System) { s.Before = names }
}

func after(names ...string) func(*evertick.System) {
	return func(s *evertick.System) { s.After = names }
}

func reads(names ...string) func(*evertick.System) {
	return func(s *evertick.System) { s.Reads = names }
}

func writes(names ...string) func(*evertick.System) {
	return func(s *evertick.System) { s.Writes = names }
}

// in makes a system run in these modes only.
func in(modes ...int) func(*evertick.System) {
	return func(s *evertick.System) {
		for _, m := range modes {
			s.Modes |= 1 << m
		}
	}
}

// planned is a Sim with these systems, the columns hp and mp, the tag foe and the
// resource weather.
func planned(t testing.TB, systems ...evertick.System) *evertick.Sim {
	t.Helper()
	s := newSim(t, small())
	column(t, s, "hp")
	column(t, s, "mp")
	if _, err := s.World.Tag("foe"); err != nil {
		t.Fatal(err)
	}
	if err := s.Resource("weather"); err != nil {
		t.Fatal(err)
	}
	for _, sys := range systems {
		if err := s.AddSystem(sys); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// planText is the part of the plan for the systems of AfterIndex, in the form "a b|c".
func planText(t testing.TB, s *evertick.Sim) string {
	t.Helper()
	plan, err := s.Plan()
	if err != nil {
		t.Fatal(err)
	}
	from := slices.IndexFunc(plan.Groups, func(g []string) bool { return g[0] == "spatial.build" })
	to := slices.IndexFunc(plan.Groups, func(g []string) bool { return g[0] == "commands" })
	var groups []string
	for _, g := range plan.Groups[from+1 : to] {
		groups = append(groups, strings.Join(g, "|"))
	}
	return strings.Join(groups, " ")
}

func TestPlan(t *testing.T) {
	for _, c := range []struct {
		name    string
		systems []evertick.System
		want    string
	}{
		{"none", nil, ""},
		{"undeclared: as added", []evertick.System{system("c"), system("a"), system("b")}, "c a b"},
		{"After", []evertick.System{system("a", after("c")), system("b"), system("c")}, "c a b"},
		{"Before", []evertick.System{system("a"), system("b"), system("c", before("a"))}, "c a b"},
		{"Before the first, and nothing else", []evertick.System{system("a", reads("hp")), system("b", reads("hp")), system("c", before("a"), reads("hp"))}, "b|c a"},
		{"side by side", []evertick.System{system("a", writes("hp")), system("b", writes("mp")), system("c", reads("position"))}, "a|b|c"},
		{"readers", []evertick.System{system("a", reads("hp")), system("b", reads("hp")), system("c", reads("hp"))}, "a|b|c"},
		{"reader after the writer", []evertick.System{system("a", writes("hp")), system("b", reads("hp"))}, "a b"},
		{"reader before the writer", []evertick.System{system("b", reads("hp")), system("a", writes("hp"))}, "b a"},
		{"reader that is After", []evertick.System{system("b", reads("hp"), after("a")), system("a", writes("hp"))}, "a b"},
		{"After a system that shares nothing", []evertick.System{system("a", reads("hp"), after("b")), system("b", reads("mp"))}, "b a"},
		{"a group ends where one waits for it", []evertick.System{
			system("a", writes("hp")), system("b", writes("mp")), system("c", reads("hp")), system("d", reads("mp")), system("e", writes("scale"))}, "a|b c|d|e"},
		{"neighbours only", []evertick.System{system("a", writes("hp")), system("b", reads("hp")), system("c", writes("mp")), system("d", reads("mp"))}, "a b|c d"},
		{"undeclared between", []evertick.System{system("a", writes("hp")), system("x"), system("b", writes("mp"))}, "a x b"},
		{"an undeclared system orders two writers", []evertick.System{system("a", writes("hp")), system("x"), system("b", writes("hp"))}, "a x b"},
		{"before the undeclared, after all", []evertick.System{system("a", writes("hp")), system("x"), system("b", writes("mp"), before("x"))}, "a|b x"},
		{"before one before the undeclared", []evertick.System{system("a", writes("hp")), system("x"), system("b", writes("mp"), before("a"))}, "b a x"},
		{"order alone is undeclared", []evertick.System{system("a", writes("hp")), system("x", before("b")), system("b", writes("mp"))}, "a x b"},
		{"entities", []evertick.System{system("a", writes("hp")), system("b", writes("entities")), system("c", writes("mp"))}, "a b c"},
		{"entities are every column", []evertick.System{
			system("a", reads("hp"), after("z")), system("b", writes("entities")), system("z", reads("mp"))}, "z a b"},
		{"bodies", []evertick.System{system("a", writes("hp")), system("b", writes("bodies")), system("c", writes("mp"))}, "a b c"},
		{"queries to bodies", []evertick.System{system("a", writes("hp"), reads("bodies")), system("b", writes("mp")), system("c", reads("bodies"))}, "a|b c"},
		{"tags", []evertick.System{system("a", writes("hp")), system("b", writes("foe")), system("c", writes("mp"), reads("foe"))}, "a b c"},
		{"parts of a transform are one", []evertick.System{system("a", writes("position.x")), system("b", reads("position.z")), system("c", writes("rotation"))}, "a b|c"},
		{"resources", []evertick.System{system("a", writes("weather")), system("b", reads("weather")), system("c", reads("weather", "index", "rand"))}, "a b|c"},
		{"writers that share no mode", []evertick.System{system("a", writes("hp"), in(1, 2)), system("b", writes("hp"), in(0)), system("c", writes("mp"))}, "a|b|c"},
		{"readers and a writer that share no mode", []evertick.System{system("a", writes("hp"), in(1)), system("b", reads("hp"), in(0, 3)), system("c", reads("hp"))}, "a|b c"},
		{"reads what it writes", []evertick.System{system("a", reads("hp"), writes("hp")), system("b", reads("mp"), writes("mp"))}, "a|b"},
		{"phases of the module", []evertick.System{system("a", reads("hp"), after("spatial.build", "physics.step"), before("commands", "state.hash")), system("b", reads("hp"))}, "a|b"},
	} {
		s := planned(t, c.systems...)
		if got := planText(t, s); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		step(t, s, 2)
	}
}

func TestByInsertion(t *testing.T) {
	s := planned(t, system("a", writes("hp", "mp")), system("b", reads("hp")), system("c", reads("mp"), after("a")),
		system("x"), system("d", writes("entities")))
	plan, err := s.Plan()
	if want := []evertick.Pair{{First: "a", Then: "b", Name: "hp"}}; err != nil || !slices.Equal(plan.ByInsertion, want) {
		t.Errorf("%v, %v, want %v", plan.ByInsertion, err, want)
	}
}

// Before and After may name a system of the other stage if the stages agree.
func TestOrderAcrossStages(t *testing.T) {
	s := planned(t, system("late", after("early"), reads("hp")))
	early := system("early", before("late", "physics.step"), reads("hp"))
	early.Stage = evertick.BeforePhysics
	if err := s.AddSystem(early); err != nil {
		t.Fatal(err)
	}
	step(t, s, 1)
	for name, bad := range map[string]evertick.System{
		"Before = early":      system("bad", before("early")),
		"After = commands":    system("bad", after("commands")),
		"Before = physics.st": system("bad", before("physics.step")),
	} {
		s := planned(t, bad)
		if err := s.AddSystem(evertick.System{Name: "early", Stage: evertick.BeforePhysics, Run: nothing}); err != nil {
			t.Fatal(err)
		}
		wantError(t, s.Check(), evertick.ErrRange, "system bad", name, "another stage")
	}
}

func TestCheckErrors(t *testing.T) {
	for _, c := range []struct {
		name    string
		systems []evertick.System
		says    []string
	}{
		{"unknown system", []evertick.System{system("perceive"), system("steer", after("percieve"))},
			[]string{"system steer", `After = "percieve"`, "near: perceive)"}},
		{"unknown, and nothing like it", []evertick.System{system("steer", before("xyzzy"))}, []string{"system steer", `Before = "xyzzy", but no system has that name:`}},
		{"unknown column", []evertick.System{system("heal", writes("h"))}, []string{"system heal", `Writes = "h"`, "near: hp)"}},
		{"unknown resource", []evertick.System{system("rain", reads("wether"))}, []string{"system rain", `Reads = "wether"`, "near: weather"}},
		{"part of what has none", []evertick.System{system("heal", reads("entities.x"))}, []string{`Reads = "entities.x"`, "entities"}},
		{"itself", []evertick.System{system("a", before("a"))}, []string{"cycle: a → a:"}},
		{"two", []evertick.System{system("a", before("b")), system("b", before("a"))}, []string{"cycle: b → a → b:"}},
		{"three", []evertick.System{system("a", after("c")), system("b", after("a")), system("c", after("b"))}, []string{"cycle: b → c → a → b:"}},
		{"the short way round", []evertick.System{
			system("a", before("b", "c")), system("b", before("c")), system("c", before("d")), system("d", before("a"))}, []string{"cycle: d → a → c → d:"}},
		{"two writers", []evertick.System{system("a", writes("mp", "hp")), system("b", reads("mp")), system("c", writes("hp"))}, []string{"systems a and c both write hp"}},
		{"two writers, a reader between", []evertick.System{system("a", writes("hp")), system("b", reads("hp")), system("c", writes("hp"))}, []string{"systems a and c both write hp"}},
		{"two that spawn", []evertick.System{system("a", writes("entities")), system("b", writes("entities"))}, []string{"systems a and b both write entities"}},
		{"parts of a transform", []evertick.System{system("a", writes("position.x")), system("b", writes("position.y"))}, []string{"systems a and b both write position,"}},
		{"resources", []evertick.System{system("a", writes("weather")), system("b", writes("weather"))}, []string{"systems a and b both write weather"}},
		{"all at once", []evertick.System{system("a", writes("hp"), after("zz")), system("b", writes("hp", "qq"))}, []string{`"zz"`, `"qq"`, "both write hp"}},
	} {
		s := planned(t, c.systems...)
		hash := s.Hash()
		wantError(t, s.Check(), evertick.ErrRange, c.says...)
		wantError(t, s.Step(), evertick.ErrRange, c.says...)
		if _, err := s.Plan(); err == nil {
			t.Errorf("%s: there is a plan", c.name)
		}
		if s.Ticks() != 0 || s.Hash() != hash {
			t.Errorf("%s: the step went on", c.name)
		}
		if got := len(phaseNames(s)); got != len(c.systems)+5 {
			t.Errorf("%s: %d phases are listed", c.name, got)
		}
	}
}

// What was missing can be added, and the run is then as if it had been there at the start.
func TestCheckAgain(t *testing.T) {
	s := planned(t, system("a", reads("fog"), after("b")))
	wantError(t, s.Step(), evertick.ErrRange, "fog", `"b"`)
	column(t, s, "fog")
	wantError(t, s.Step(), evertick.ErrRange, `"b"`)
	if err := s.AddSystem(system("b", writes("fog"))); err != nil {
		t.Fatal(err)
	}
	step(t, s, 2)
	if got := planText(t, s); got != "b a" {
		t.Error(got)
	}
	// A system that is added later is checked then, and the Sim can go on unchanged.
	if err := s.AddSystem(system("c", writes("fog"))); err != nil {
		t.Fatal(err)
	}
	hash := s.Hash()
	wantError(t, s.Step(), evertick.ErrRange, "b and c both write fog")
	if s.Ticks() != 2 || s.Hash() != hash {
		t.Errorf("%d ticks", s.Ticks())
	}
	if err := s.AddSystem(system("d", before("c"), after("b"))); err != nil {
		t.Fatal(err)
	}
	step(t, s, 1)
	if got := planText(t, s); got != "b a d c" {
		t.Error(got)
	}
}

func TestAddSystemErrors(t *testing.T) {
	s := planned(t, system("taken"))
	bad := system("late")
	bad.Stage = 4
	wantError(t, s.AddSystem(bad), evertick.ErrRange, "evertick: AddSystem: stage = 4")
	wantError(t, s.AddSystem(system("")), evertick.ErrRange, "evertick: AddSystem: name")
	wantError(t, s.AddSystem(system("taken")), evertick.ErrRange, "taken")
	wantError(t, s.AddSystem(system("commands")), evertick.ErrRange, "commands")
	wantError(t, s.Resource(""), evertick.ErrRange, "Resource")
	if err := s.Resource("weather"); err != nil {
		t.Errorf("a resource declared again: %v", err)
	}
	defer func() {
		if got := recover(); got != "evertick: AddSystem: nil system" {
			t.Errorf("panics with %v", got)
		}
	}()
	s.AddSystem(evertick.System{Name: "nil"})
}

// AddSystem copies the lists of a System.
func TestAddSystemCopies(t *testing.T) {
	names := []string{"hp"}
	s := planned(t, system("a", reads(names...)))
	names[0] = "nothing of that name"
	if err := s.Check(); err != nil {
		t.Error(err)
	}
}

// Planning many systems is fast.
func TestManySystems(t *testing.T) {
	s := planned(t)
	for i := range 400 {
		sys := system(fmt.Sprint("s", i))
		if i%3 == 0 {
			sys.Reads = []string{"hp"}
		}
		if i > 10 && i%7 == 0 {
			sys.After = []string{fmt.Sprint("s", i-9)}
		}
		if err := s.AddSystem(sys); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	step(t, s, 1)
}

// Systems are listed in the order in which they run, with what they declared, and without the phases of
// the module.
func TestSystemsListsDeclarationsInTheOrderOfThePlan(t *testing.T) {
	sim, err := evertick.New(evertick.Config{})
	if err != nil {
		t.Fatal(err)
	}
	run := func(*evertick.Tick) error { return nil }
	for _, s := range []evertick.System{
		{Name: "late", Stage: evertick.AfterIndex, Reads: []string{"index"}, Run: run},
		{Name: "b", Writes: []string{"rand"}, After: []string{"a"}, Run: run},
		{Name: "a", Writes: []string{"position"}, Modes: 3, Run: run},
	} {
		if err := sim.AddSystem(s); err != nil {
			t.Fatal(err)
		}
	}
	systems, err := sim.Systems()
	if err != nil || len(systems) != 3 {
		t.Fatalf("%d systems, %v", len(systems), err)
	}
	for i, name := range []string{"a", "b", "late"} {
		if systems[i].Name != name {
			t.Errorf("system %d is %s, want %s", i, systems[i].Name, name)
		}
	}
	if s := systems[0]; s.Stage != evertick.BeforePhysics || s.Modes != 3 || !slices.Equal(s.Writes, []string{"position"}) {
		t.Errorf("system a is %+v", s)
	}
	if s := systems[2]; s.Stage != evertick.AfterIndex || !slices.Equal(s.Reads, []string{"index"}) {
		t.Errorf("system late is %+v", s)
	}
	if err := sim.AddSystem(evertick.System{Name: "c", After: []string{"nobody"}, Run: run}); err != nil {
		t.Fatal(err)
	}
	if _, err := sim.Systems(); !errors.Is(err, evertick.ErrRange) {
		t.Errorf("with a fault in a declaration: %v", err)
	}
}

// town is a Sim whose systems run in groups: some write their own columns, some perceive, and
// all of them record spawns, despawns and tags.
type town struct {
	*evertick.Sim
	hp, mp *ecs.Column[float32]
	foe    ecs.Tag
	near   [2]spatial.Result
	query  [2]spatial.Queries
	linger func() // called by each system, somewhere in its middle
	side   atomic.Int32
	most   atomic.Int32 // systems that ran at once
}

func newTown(t testing.TB, workers int, linger func()) *town {
	return newTownOf(t, evertick.Config{Workers: workers}, linger)
}

func newTownOf(t testing.TB, c evertick.Config, linger func()) *town {
	c.Capacity, c.Seed, c.Spatial.CellSize = 256, 9, 4
	w := &town{Sim: newSim(t, c), linger: linger}
	w.hp, _ = ecs.AddColumn[float32](w.World, "hp")
	w.mp, _ = ecs.AddColumn[float32](w.World, "mp")
	w.foe, _ = w.World.Tag("foe")
	for i := range 120 {
		id := spawn(t, w.Sim)
		if err := w.World.SetPosition(id, float32(i%12), 0, float32(i/12)); err != nil {
			t.Fatal(err)
		}
		if i%3 == 0 {
			w.foe.Set(id)
		}
	}
	for _, sys := range []evertick.System{
		{Name: "walk", Stage: evertick.BeforePhysics, Writes: []string{"position"}, Run: w.walk},
		{Name: "heal", Stage: evertick.BeforePhysics, Reads: []string{"foe"}, Writes: []string{"hp"}, Run: w.heal},
		{Name: "think", Stage: evertick.BeforePhysics, Writes: []string{"mp"}, Run: w.think},
		{Name: "count", Stage: evertick.BeforePhysics, Run: nothing},
		{Name: "breed", Stage: evertick.AfterIndex, Reads: []string{"index", "position", "hp"}, Run: w.breed},
		{Name: "hunt", Stage: evertick.AfterIndex, Reads: []string{"index", "position", "foe"}, Writes: []string{"mp"}, Run: w.hunt},
		{Name: "age", Stage: evertick.AfterIndex, Writes: []string{"hp"}, Run: w.age},
	} {
		if err := w.AddSystem(sys); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// enter is called at the start of each system.
func (w *town) enter() {
	n := w.side.Add(1)
	for {
		most := w.most.Load()
		if n <= most || w.most.CompareAndSwap(most, n) {
			break
		}
	}
	w.linger()
}

func (w *town) walk(t *evertick.Tick) error {
	w.enter()
	defer w.side.Add(-1)
	x := w.World.Position.X
	for slot := range w.World.Query() {
		r := t.Rand(ecs.ID(slot), 1)
		x[slot] += float32(r.Range(-1, 1) * t.Dt)
	}
	w.World.Position.Touch()
	return nil
}

func (w *town) heal(t *evertick.Tick) error {
	w.enter()
	defer w.side.Add(-1)
	hp := w.hp.Values()
	for slot := range w.World.Query(ecs.Without(w.foe)) {
		hp[slot] += 2
		if id, _ := w.World.ID(slot); hp[slot] > 60 {
			t.Commands().Set(w.foe, id)
		}
	}
	w.hp.Touch()
	return nil
}

func (w *town) think(t *evertick.Tick) error {
	w.enter()
	defer w.side.Add(-1)
	mp := w.mp.Values()
	for slot := range w.World.Query() {
		r := t.Rand(ecs.ID(slot), 2)
		mp[slot] += r.Range(0, 1)
	}
	w.mp.Touch()
	return nil
}

func (w *town) look(i int) error {
	q, p := &w.query[i], &w.World.Position
	q.X, q.Y, q.Z, q.Radius = q.X[:0], q.Y[:0], q.Z[:0], q.Radius[:0]
	for slot := range w.World.Query() {
		q.X, q.Y, q.Z, q.Radius = append(q.X, p.X[slot]), append(q.Y, p.Y[slot]), append(q.Z, p.Z[slot]), append(q.Radius, 2)
	}
	return w.Index.Radius(q, &w.near[i])
}

func (w *town) breed(t *evertick.Tick) error {
	w.enter()
	defer w.side.Add(-1)
	if err := w.look(0); err != nil {
		return err
	}
	if w.World.Len() < 200 && w.near[0].Len() > 0 {
		for i := range 3 {
			id := t.Commands().Spawn()
			if err := t.Commands().SetPosition(id, float32(i), 0, float32(w.near[0].Len()%13)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *town) hunt(t *evertick.Tick) error {
	w.enter()
	defer w.side.Add(-1)
	if err := w.look(1); err != nil {
		return err
	}
	row := 0
	for slot := range w.World.Query() {
		w.mp.Values()[slot] += float32(len(w.near[1].Row(row)))
		if id, _ := w.World.ID(slot); (uint64(slot)+t.N)%97 == 0 {
			t.Commands().Despawn(id)
			t.Commands().Set(w.foe, t.Commands().Spawn())
		}
		row++
	}
	return nil
}

func (w *town) age(t *evertick.Tick) error {
	w.enter()
	defer w.side.Add(-1)
	for slot := range w.World.Query() {
		w.hp.Values()[slot]--
	}
	w.hp.Touch()
	return nil
}

// randomSleep returns a function that sleeps for a random while, now and then.
func randomSleep(seed uint64) func() {
	var calls atomic.Uint64
	return func() {
		r := rand.New(rand.NewPCG(seed, calls.Add(1)))
		if r.IntN(3) > 0 {
			time.Sleep(time.Duration(r.IntN(200)) * time.Microsecond)
		}
	}
}

// Hashes, snapshots (and so versions), ids and the outcome of commands are the same
// for any number of workers, and however long each system takes.
func TestWorkersChangeNothing(t *testing.T) {
	run := func(workers int, seed uint64) (hashes []uint64, image []byte, most int32) {
		w := newTown(t, workers, randomSleep(seed))
		for range 60 {
			step(t, w.Sim, 1)
			hashes = append(hashes, w.Hash())
		}
		return hashes, w.World.Snapshot(nil), w.most.Load()
	}
	want, image, most := run(1, 1)
	if most != 1 {
		t.Errorf("%d systems at once with one worker", most)
	}
	if slices.Equal(want[10:20], want[20:30]) {
		t.Error("nothing happens")
	}
	for seed, workers := range []int{1, 2, 7, 7} {
		got, snapshot, most := run(workers, uint64(seed)+2)
		if !slices.Equal(got, want) || !slices.Equal(snapshot, image) {
			t.Errorf("%d workers, seed %d: other hashes, or another snapshot", workers, seed+2)
		}
		if workers > 1 && most < 2 && runtime.GOARCH != "wasm" { // which has one thread
			t.Errorf("%d workers: no two systems ran at once", workers)
		}
	}
	// They are also the same if Add orders all systems.
	plain := newTown(t, 1, func() {})
	serial := newSim(t, evertick.Config{Capacity: 256, Workers: 2, Seed: 9, Spatial: spatial.Config{CellSize: 4}})
	w := &town{Sim: serial, linger: func() {}}
	w.hp, _ = ecs.AddColumn[float32](w.World, "hp")
	w.mp, _ = ecs.AddColumn[float32](w.World, "mp")
	w.foe, _ = w.World.Tag("foe")
	if err := w.World.CopyFrom(plain.World); err != nil {
		t.Fatal(err)
	}
	for _, sys := range []struct {
		stage evertick.Stage
		name  string
		run   func(*evertick.Tick) error
	}{
		{evertick.BeforePhysics, "walk", w.walk}, {evertick.BeforePhysics, "heal", w.heal}, {evertick.BeforePhysics, "think", w.think},
		{evertick.AfterIndex, "breed", w.breed}, {evertick.AfterIndex, "hunt", w.hunt}, {evertick.AfterIndex, "age", w.age},
	} {
		add(t, serial, sys.stage, sys.name, sys.run)
	}
	for i := range want {
		step(t, serial, 1)
		if serial.Hash() != want[i] {
			t.Fatalf("tick %d: systems in order have another hash than systems side by side", i)
		}
	}
}

func TestGroupsAllocateNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	for _, workers := range []int{1, 2} {
		w := newTown(t, workers, func() {})
		w.AddHooks(evertick.Hooks{BeforeSystem: func(*evertick.Tick, string) {}})
		step(t, w.Sim, 300)
		if n := testing.AllocsPerRun(100, func() { step(t, w.Sim, 1) }); n != 0 {
			t.Errorf("%d workers: %g allocations a step", workers, n)
		}
	}
}

// threeSystems is a Sim with three systems side by side.
func threeSystems(t testing.TB, c evertick.Config, run ...func(*evertick.Tick) error) *evertick.Sim {
	t.Helper()
	c.Capacity = 64
	s := newSim(t, c)
	for i, f := range run {
		name := fmt.Sprint("abc"[i : i+1])
		if err := s.Resource(name); err != nil {
			t.Fatal(err)
		}
		if err := s.AddSystem(evertick.System{Name: name, Stage: evertick.AfterIndex, Writes: []string{name}, Run: f}); err != nil {
			t.Fatal(err)
		}
	}
	if plan, err := s.Plan(); err != nil || !slices.ContainsFunc(plan.Groups, func(g []string) bool { return len(g) == len(run) }) {
		t.Fatalf("%v, %v", plan, err)
	}
	return s
}

// failLate is a system that fails after the others.
func failLate(f func() error) func(*evertick.Tick) error {
	return func(*evertick.Tick) error { time.Sleep(2 * time.Millisecond); return f() }
}

// Of several errors, that of the first system in order is returned, even if another system failed earlier.
func TestErrorsOfAGroup(t *testing.T) {
	errOther := errors.New("another gave up")
	for _, workers := range []int{1, 3} {
		ran := 0
		s := threeSystems(t, evertick.Config{Workers: workers}, nothing,
			failLate(func() error { return errSystem }), func(*evertick.Tick) error { return errOther })
		add(t, s, evertick.AfterIndex, "later", func(*evertick.Tick) error { ran++; return nil })
		err := s.Step()
		wantError(t, err, errSystem, "tick 0: b: the system gave up")
		if again := s.Step(); again != err || s.Ticks() != 0 || ran != 0 {
			t.Errorf("%d workers: then %v, %d ticks, %d later systems", workers, again, s.Ticks(), ran)
		}
	}
}

// A panic reaches the goroutine of Step, with the name of the system and the
// stack at its origin.
func TestPanicOfAGroup(t *testing.T) {
	for _, workers := range []int{1, 3} {
		s := threeSystems(t, evertick.Config{Workers: workers}, nothing, failLate(panicGone), func(*evertick.Tick) error { panic("too") })
		got, ok := stepPanicking(s).(*loop.PanicError)
		if !ok || got.Tick != 0 || got.System != "b" || got.Value != "gone" || !strings.Contains(string(got.Stack), "panicGone") {
			t.Errorf("%d workers: recovered %v", workers, got)
		}
		if err := s.Step(); err == nil || !strings.Contains(err.Error(), "broken off by a panic") {
			t.Errorf("%d workers: the next step says %v", workers, err)
		}
	}
}

func panicGone() error { panic("gone") }

func TestGoexitInAGroup(t *testing.T) {
	var steps atomic.Int32
	s := threeSystems(t, evertick.Config{Workers: 3}, nothing, func(*evertick.Tick) error {
		if steps.Add(1) == 1 {
			runtime.Goexit()
		}
		return nil
	}, nothing)
	done := make(chan error, 1)
	go func() {
		err := errors.New("Step has not returned, since the goroutine was that of the system")
		defer func() { done <- err }()
		err = s.Step()
	}()
	if err := <-done; err == nil {
		t.Error("a system that ended its goroutine has not failed")
	}
}

// Hooks are called around groups on the goroutine of Step.
func TestHooksOfAGroup(t *testing.T) {
	s := threeSystems(t, evertick.Config{Workers: 3}, nothing, nothing, nothing)
	var l hookLog
	s.AddHooks(evertick.Hooks{BeforeSystem: l.hooks("x").BeforeSystem, AfterSystem: l.hooks("x").AfterSystem})
	step(t, s, 1)
	i := slices.Index(l.log, "x a")
	if want := []string{"x a", "x b", "x c", "x a done", "x b done", "x c done"}; i < 0 || !slices.Equal(l.log[i:i+6], want) {
		t.Errorf("called %q", l.log)
	}
}

// The commands of a group follow in the order of its systems, between those recorded before
// and after the group; and each system can resolve what it has spawned.
func TestCommandsOfAGroup(t *testing.T) {
	for _, workers := range []int{1, 3} {
		var born [5]ecs.ID
		var lists [5]*ecs.Commands
		spawner := func(i int) func(*evertick.Tick) error {
			return func(tick *evertick.Tick) error {
				if tick.N > 0 {
					return nil
				}
				time.Sleep(time.Duration(3-i) * time.Millisecond)
				lists[i] = tick.Commands()
				born[i] = lists[i].Spawn()
				return lists[i].SetPosition(born[i], float32(i), 0, 0)
			}
		}
		s := newSim(t, evertick.Config{Capacity: 64, Workers: workers})
		add(t, s, evertick.AfterIndex, "first", spawner(0))
		for i, name := range []string{"a", "b", "c"} {
			if err := errors.Join(s.Resource(name), s.AddSystem(evertick.System{Name: name, Stage: evertick.AfterIndex, Writes: []string{name}, Run: spawner(i + 1)})); err != nil {
				t.Fatal(err)
			}
		}
		add(t, s, evertick.AfterIndex, "last", spawner(4))
		step(t, s, 2)
		for i, id := range born {
			got := lists[i].Resolve(id)
			if slot, ok := s.World.Slot(got); got != ecs.ID(i+1) || !ok || s.World.Position.X[slot] != float32(i) {
				t.Errorf("%d workers: spawn %d is %s", workers, i, got)
			}
		}
	}
}

// A Sim that a panic in a group has ended continues after a Restore as if it had not happened.
func TestRestoreAfterAPanicOfAGroup(t *testing.T) {
	want := newTownOf(t, evertick.Config{Workers: 2}, func() {})
	step(t, want.Sim, 20)

	for _, recovers := range []bool{false, true} {
		w := newTownOf(t, evertick.Config{Workers: 2, Recover: recovers}, func() {})
		step(t, w.Sim, 9)
		saved, err := w.Snapshot(nil)
		if err != nil {
			t.Fatal(err)
		}
		for round := range int32(3) { // in which another system of the group fails
			var entered atomic.Int32
			w.linger = func() {
				if entered.Add(1) == 3+round {
					panicGone()
				}
			}
			if stepPanicking(w.Sim); w.Step() == nil {
				t.Fatal("the step did not fail")
			}
			w.linger = func() {}
			if err := w.Restore(saved); err != nil {
				t.Fatal(err)
			}
		}
		step(t, w.Sim, 11)
		if w.Hash() != want.Hash() || !slices.Equal(w.World.Snapshot(nil), want.World.Snapshot(nil)) {
			t.Errorf("Recover %t: the run differs from one without a panic", recovers)
		}
	}
}
