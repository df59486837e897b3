package evertick_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"pgregory.net/rapid"
)

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

// drawnSystem is a random System; edges go only from lower to higher rank, so that there
// is no cycle.
func drawnSystem(t *rapid.T, i, n int, rank []int) evertick.System {
	names := []string{"position", "hp", "mp", "scale", "weather", "bodies", "entities", "foe"}
	pick := rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 3, rapid.ID[string])
	sys := system(fmt.Sprint("s", i))
	if rapid.IntRange(0, 3).Draw(t, "declares") > 0 {
		sys.Reads, sys.Writes = pick.Draw(t, "reads"), pick.Draw(t, "writes")
	}
	if rapid.IntRange(0, 2).Draw(t, "has modes") == 0 {
		sys.Modes = rapid.Uint64Range(1, 7).Draw(t, "modes")
	}
	for range rapid.IntRange(0, 2).Draw(t, "edges") {
		j := rapid.IntRange(0, n-1).Draw(t, "other")
		switch {
		case rank[j] > rank[i]:
			sys.Before = append(sys.Before, fmt.Sprint("s", j))
		case rank[j] < rank[i]:
			sys.After = append(sys.After, fmt.Sprint("s", j))
		}
	}
	return sys
}

// Every plan respects all declarations.
func TestAnyPlan(t *testing.T) {
	outer := t
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "systems")
		rank := rand.New(rand.NewPCG(uint64(rapid.IntRange(0, 1<<20).Draw(t, "ranks")), 0)).Perm(n)
		var systems []evertick.System
		for i := range n {
			systems = append(systems, drawnSystem(t, i, n, rank))
		}
		s := planned(outer, systems...)
		plan, err := s.Plan()
		if err != nil {
			if !strings.Contains(err.Error(), "both write") {
				t.Fatal(err)
			}
			checkBothWrite(t, systems, err)
			return
		}
		checkPlan(t, systems, plan)
	})
}

func shares(a, b []string) bool {
	return slices.ContainsFunc(a, func(name string) bool { return slices.Contains(b, name) })
}

func undeclared(s evertick.System) bool { return len(s.Reads)+len(s.Writes) == 0 }

// conflicts reports whether two systems need an order: those that declare nothing always do, others
// if they can run in the same tick.
func conflicts(a, b evertick.System) bool {
	if undeclared(a) || undeclared(b) {
		return true
	}
	if a.Modes != 0 && b.Modes != 0 && a.Modes&b.Modes == 0 {
		return false
	}
	return shares(a.Writes, b.Writes) || shares(a.Writes, b.Reads) || shares(a.Reads, b.Writes) ||
		slices.Contains(a.Writes, "entities") || slices.Contains(b.Writes, "entities")
}

// leads reports whether declared edges lead from a to b.
func leads(systems []evertick.System, a, b string) bool {
	reached := []string{a}
	for i := 0; i < len(reached); i++ {
		for _, sys := range systems {
			edge := slices.Contains(sys.After, reached[i]) ||
				slices.ContainsFunc(systems, func(p evertick.System) bool { return p.Name == reached[i] && slices.Contains(p.Before, sys.Name) })
			if edge && !slices.Contains(reached, sys.Name) {
				reached = append(reached, sys.Name)
			}
		}
	}
	return a != b && slices.Contains(reached, b)
}

// checkBothWrite checks that the pair named in the first line does write the same, and that
// no declared order leads from one to the other.
func checkBothWrite(t *rapid.T, systems []evertick.System, err error) {
	var a, b, column string
	line, _, _ := strings.Cut(err.Error(), "\n")
	fmt.Sscanf(strings.ReplaceAll(line, ",", " "), "evertick: systems %s and %s both write %s", &a, &b, &column)
	find := func(name string) evertick.System {
		return systems[slices.IndexFunc(systems, func(s evertick.System) bool { return s.Name == name })]
	}
	if x, y := find(a).Modes, find(b).Modes; x != 0 && y != 0 && x&y == 0 {
		t.Errorf("%v, but they share no mode", err)
	}
	if !slices.Contains(find(a).Writes, column) || !slices.Contains(find(b).Writes, column) || leads(systems, a, b) || leads(systems, b, a) {
		t.Errorf("%v of %+v", err, systems)
	}
}

func checkPlan(t *rapid.T, systems []evertick.System, plan evertick.Plan) {
	group := map[string]int{}
	place := map[string]int{}
	for i, g := range plan.Groups {
		for _, name := range g {
			if _, twice := group[name]; twice {
				t.Errorf("%s runs twice", name)
			}
			group[name], place[name] = i, len(place)
		}
	}
	for i, a := range systems {
		if _, runs := group[a.Name]; !runs {
			t.Errorf("%s does not run", a.Name)
		}
		for j, b := range systems {
			if leads(systems, a.Name, b.Name) && group[a.Name] >= group[b.Name] {
				t.Errorf("%s does not run before %s", a.Name, b.Name)
			}
			if i >= j {
				continue
			}
			same := group[a.Name] == group[b.Name]
			if same && (conflicts(a, b) || slices.Contains(slices.Concat(a.Writes, b.Writes), "foe") ||
				slices.Contains(slices.Concat(a.Writes, b.Writes), "bodies") ||
				shares([]string{"bodies"}, slices.Concat(a.Reads, a.Writes)) && shares([]string{"bodies"}, slices.Concat(b.Reads, b.Writes))) {
				t.Errorf("%s and %s run side by side", a.Name, b.Name)
			}
			if same && place[a.Name] > place[b.Name] && noEdges(systems) {
				t.Errorf("%s comes after %s, which was added later", a.Name, b.Name)
			}
			if conflicts(a, b) && noEdges(systems) && place[a.Name] > place[b.Name] {
				t.Errorf("%s, which was added first, runs after %s", a.Name, b.Name)
			}
		}
	}
}

func noEdges(systems []evertick.System) bool {
	return !slices.ContainsFunc(systems, func(s evertick.System) bool { return len(s.Before)+len(s.After) > 0 })
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

// A write that a system has not declared is named, whether it runs alone or in a
// group.
func TestCheckAccess(t *testing.T) {
	kept := new(keptNumber)
	for _, c := range []struct {
		name   string
		writes []string
		run    func(s *evertick.Sim, id ecs.ID) error
		says   string // "": it may
	}{
		{"declared column", []string{"hp"}, func(s *evertick.Sim, id ecs.ID) error { return bump(s, "hp") }, ""},
		{"column", []string{"hp"}, func(s *evertick.Sim, id ecs.ID) error { return bump(s, "mp") }, "wrote mp,"},
		{"nothing", []string{"hp"}, func(*evertick.Sim, ecs.ID) error { return nil }, ""},
		{"position", []string{"rotation", "scale"}, func(s *evertick.Sim, id ecs.ID) error { return s.World.SetPosition(id, 1, 2, 3) }, "wrote position."},
		{"declared position", []string{"position"}, func(s *evertick.Sim, id ecs.ID) error { return s.World.SetPosition(id, 1, 2, 3) }, ""},
		{"part of position", []string{"position.y"}, func(s *evertick.Sim, id ecs.ID) error { return s.World.SetPosition(id, 1, 2, 3) }, ""},
		{"scale", []string{"position"}, func(s *evertick.Sim, id ecs.ID) error { return s.World.SetScale(id, 1, 2, 3) }, "wrote scale."},
		{"tag", []string{"hp"}, func(s *evertick.Sim, id ecs.ID) error { return tagIt(s, "foe", id) }, "wrote foe,"},
		{"declared tag", []string{"foe"}, func(s *evertick.Sim, id ecs.ID) error { return tagIt(s, "foe", id) }, ""},
		{"entity", []string{"hp"}, func(s *evertick.Sim, id ecs.ID) error { _, err := s.World.Spawn(); return err }, "wrote entities,"},
		{"declared entity", []string{"entities"}, func(s *evertick.Sim, id ecs.ID) error { s.World.Despawn(id); return nil }, ""},
		{"body", []string{"hp"}, func(s *evertick.Sim, id ecs.ID) error {
			b, _ := s.Body(id)
			return s.Physics.SetVelocity(b, [2]float32{7, 7}, 0)
		}, "wrote body.VX,"},
		{"declared body", []string{"bodies"}, func(s *evertick.Sim, id ecs.ID) error {
			b, _ := s.Body(id)
			return s.Physics.SetVelocity(b, [2]float32{7, 7}, 0)
		}, ""},
		{"commands", []string{"hp"}, func(s *evertick.Sim, id ecs.ID) error { s.Commands().Despawn(id); return nil }, ""},
		{"state", []string{"hp"}, func(*evertick.Sim, ecs.ID) error { kept.n++; return nil }, "wrote state.kept,"},
		{"declared state", []string{"state.kept"}, func(*evertick.Sim, ecs.ID) error { kept.n++; return nil }, ""},
		{"a column of its own", []string{"hp"}, func(s *evertick.Sim, id ecs.ID) error { _, err := ecs.AddColumn[int8](s.World, "new"); return err }, ""},
	} {
		for _, check := range []bool{false, true} {
			s := newSim(t, evertick.Config{Capacity: 64, CheckAccess: check, Workers: 2})
			column(t, s, "hp")
			column(t, s, "mp")
			spawn(t, s)
			id := spawn(t, s)
			movingBody(t, s, id, 1)
			if err := s.AddState("kept", kept); err != nil {
				t.Fatal(err)
			}
			if _, err := s.World.Tag("foe"); err != nil {
				t.Fatal(err)
			}
			sys := evertick.System{Name: "culprit", Stage: evertick.AfterIndex, Writes: c.writes, Run: func(tick *evertick.Tick) error {
				if tick.N == 1 {
					return c.run(s, id)
				}
				return nil
			}}
			bystander := evertick.System{Name: "bystander", Stage: evertick.AfterIndex, Reads: []string{"index"}, Run: nothing}
			if err := s.AddSystem(sys); err != nil {
				t.Fatal(err)
			}
			if err := s.AddSystem(bystander); err != nil {
				t.Fatal(err)
			}
			step(t, s, 1)
			err := s.Step()
			if c.says == "" || !check {
				if err != nil {
					t.Errorf("%s, check %t: %v", c.name, check, err)
				}
				continue
			}
			wantError(t, err, evertick.ErrRange, "tick 1: culprit: "+c.says)
		}
	}
}

// keptNumber is a State.
type keptNumber struct{ n byte }

func (k *keptNumber) AppendState(dst []byte) []byte { return append(dst, k.n) }

func (k *keptNumber) RestoreState(src []byte) error { k.n = src[0]; return nil }

func bump(s *evertick.Sim, name string) error {
	c, ok := ecs.FindColumn[float32](s.World, name)
	if !ok {
		return fmt.Errorf("no column %s", name)
	}
	c.Values()[1]++
	return nil
}

func tagIt(s *evertick.Sim, name string, id ecs.ID) error {
	tag, err := s.World.Tag(name)
	tag.Set(id)
	return err
}

// A system that declares only Reads may not write; one that declares nothing may write everything.
func TestCheckAccessOfReaders(t *testing.T) {
	s := newSim(t, evertick.Config{Capacity: 64, CheckAccess: true})
	column(t, s, "hp")
	spawn(t, s)
	spawn(t, s)
	add(t, s, evertick.AfterIndex, "free", func(*evertick.Tick) error { return bump(s, "hp") })
	step(t, s, 2)
	if err := s.AddSystem(evertick.System{Name: "reader", Reads: []string{"hp"}, Run: func(*evertick.Tick) error { return bump(s, "hp") }}); err != nil {
		t.Fatal(err)
	}
	wantError(t, s.Step(), evertick.ErrRange, "tick 2: reader: wrote hp,")
}

// The check changes no result.
func TestCheckAccessChangesNothing(t *testing.T) {
	run := func(check bool) (hashes []uint64) {
		w := newTownOf(t, evertick.Config{Workers: 2, CheckAccess: check}, func() {})
		for range 20 {
			step(t, w.Sim, 1)
			hashes = append(hashes, w.Hash())
		}
		return hashes
	}
	want := run(false)
	for i, h := range run(true) {
		if h != want[i] {
			t.Fatalf("tick %d: another hash with CheckAccess", i)
		}
	}
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
