package schedule

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawnSystem is a random System; edges go only from lower to higher rank, so that there
// is no cycle.
func drawnSystem(t *rapid.T, i, n int, rank []int) System {
	names := []string{"position", "hp", "mp", "scale", "weather", "bodies", "entities", "foe"}
	pick := rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 3, rapid.ID[string])
	sys := System{Name: fmt.Sprint("s", i)}
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
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "systems")
		rank := rand.New(rand.NewPCG(uint64(rapid.IntRange(0, 1<<20).Draw(t, "ranks")), 0)).Perm(n)
		var systems []System
		for i := range n {
			systems = append(systems, drawnSystem(t, i, n, rank))
		}
		names := NewNames()
		for _, name := range []string{"hp", "mp", "weather"} {
			names.Add(name)
		}
		names.AddTag("foe")
		var all []*System
		for i := range systems {
			all = append(all, &systems[i])
		}
		plan, errs := Make([][]*System{all}, names)
		if err := errors.Join(errs...); err != nil {
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

func undeclared(s System) bool { return len(s.Reads)+len(s.Writes) == 0 }

// conflicts reports whether two systems need an order: those that declare nothing always do, others
// if they can run in the same tick.
func conflicts(a, b System) bool {
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
func leads(systems []System, a, b string) bool {
	reached := []string{a}
	for i := 0; i < len(reached); i++ {
		for _, sys := range systems {
			edge := slices.Contains(sys.After, reached[i]) ||
				slices.ContainsFunc(systems, func(p System) bool { return p.Name == reached[i] && slices.Contains(p.Before, sys.Name) })
			if edge && !slices.Contains(reached, sys.Name) {
				reached = append(reached, sys.Name)
			}
		}
	}
	return a != b && slices.Contains(reached, b)
}

// checkBothWrite checks that the pair named in the first line does write the same, and that
// no declared order leads from one to the other.
func checkBothWrite(t *rapid.T, systems []System, err error) {
	var a, b, column string
	line, _, _ := strings.Cut(err.Error(), "\n")
	fmt.Sscanf(strings.ReplaceAll(line, ",", " "), "evertick: systems %s and %s both write %s", &a, &b, &column)
	find := func(name string) System {
		return systems[slices.IndexFunc(systems, func(s System) bool { return s.Name == name })]
	}
	if x, y := find(a).Modes, find(b).Modes; x != 0 && y != 0 && x&y == 0 {
		t.Errorf("%v, but they share no mode", err)
	}
	if !slices.Contains(find(a).Writes, column) || !slices.Contains(find(b).Writes, column) || leads(systems, a, b) || leads(systems, b, a) {
		t.Errorf("%v of %+v", err, systems)
	}
}

func checkPlan(t *rapid.T, systems []System, plan Plan) {
	group := map[string]int{}
	place := map[string]int{}
	for i, g := range plan.Groups {
		for _, system := range g {
			name := systems[system].Name
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

func noEdges(systems []System) bool {
	return !slices.ContainsFunc(systems, func(s System) bool { return len(s.Before)+len(s.After) > 0 })
}
