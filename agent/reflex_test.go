package agent_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/agent"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

// herd is a world whose entities are tagged sheep, wolf or tree, by turns.
type herd struct {
	sim *evertick.Sim
	ids []ecs.ID
}

var herdTags = [3]string{"sheep", "wolf", "tree"}

func newHerd(t testing.TB, n int, cfg evertick.Config) *herd {
	t.Helper()
	sim, err := evertick.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	h := &herd{sim, make([]ecs.ID, n)}
	if err := sim.World.SpawnN(h.ids); err != nil {
		t.Fatal(err)
	}
	for i, id := range h.ids {
		r := loop.NewRand(cfg.Seed, 0, uint64(id), 1)
		tag, err := sim.World.Tag(herdTags[i%3])
		if err := errors.Join(err, sim.World.SetPosition(id, r.Range(-9, 9), r.Range(-9, 9), r.Range(-9, 9))); err != nil {
			t.Fatal(err)
		}
		tag.Set(id)
	}
	return h
}

func (h *herd) reflex(t testing.TB, cfg agent.ReflexConfig) {
	t.Helper()
	cfg.Tag = "sheep"
	if err := agent.NewReflex(h.sim, cfg); err != nil {
		t.Fatal(err)
	}
}

func (h *herd) step(t testing.TB, n int) {
	t.Helper()
	if err := h.sim.StepN(uint64(n)); err != nil {
		t.Fatal(err)
	}
}

// Rows are those of the agents, and the neighbours are those with the tags.
func TestSense(t *testing.T) {
	h := newHerd(t, 150, evertick.Config{Seed: 3})
	pos := &h.sim.World.Position
	for _, tags := range [][]string{nil, {"wolf"}, {"sheep"}, {"sheep", "tree"}} {
		sense := &agent.Sense{Tags: tags, Radius: 5, FindNearest: true, Terms: []spatial.Term{
			{Of: pos.X, Own: pos.X, Reduce: spatial.Mean}, {Of: pos.Y, Weight: spatial.InverseSquare},
		}, Softening: 0.5}
		rows, alone := 0, 0
		h.reflex(t, agent.ReflexConfig{Name: "look at " + strings.Join(tags, " and "), Senses: []*agent.Sense{sense}, React: func(tick *evertick.Tick, agents []ecs.Slot) error {
			for row, slot := range agents {
				rows++
				if sense.Counts[row] == 0 {
					alone++
				}
				h.checkRow(t, sense, row, slot)
			}
			return nil
		}})
		h.step(t, 1)
		if rows != 50 || alone == rows {
			t.Errorf("%v: %d rows, %d without neighbours", tags, rows, alone)
		}
	}
}

// checkRow compares a row with a loop over all entities.
func (h *herd) checkRow(t testing.TB, s *agent.Sense, row int, self ecs.Slot) {
	t.Helper()
	pos := &h.sim.World.Position
	count, nearest, least := uint32(0), spatial.NoSlot, float32(math.Inf(1))
	var mean, height float64
	for i, id := range h.ids {
		slot, alive := h.sim.World.Slot(id)
		if !alive || slot == self || len(s.Tags) > 0 && !slices.Contains(s.Tags, herdTags[i%3]) {
			continue
		}
		dx, dy, dz := pos.X[slot]-pos.X[self], pos.Y[slot]-pos.Y[self], pos.Z[slot]-pos.Z[self]
		d2 := float32(float32(dx*dx)+float32(dy*dy)) + float32(dz*dz)
		if d2 > s.Radius*s.Radius {
			continue
		}
		count++
		mean += float64(dx)
		height += float64(pos.Y[slot]) / (float64(d2) + float64(s.Softening))
		if d2 < least {
			nearest, least = slot, d2
		}
	}
	mean /= max(float64(count), 1)
	if s.Counts[row] != count || s.Nearest[row] != nearest || s.NearestDist2[row] != least ||
		math.Abs(float64(s.Terms[0].To[row])-mean) > 1e-4 || math.Abs(float64(s.Terms[1].To[row])-height) > 1e-3 {
		t.Errorf("%v: slot %d perceives %d, nearest %d at %g, %g, %g; want %d, %d at %g, %g, %g", s.Tags, self, s.Counts[row], s.Nearest[row],
			s.NearestDist2[row], s.Terms[0].To[row], s.Terms[1].To[row], count, nearest, least, mean, height)
	}
}

// Rows are those of a search, and come beside sums.
func TestSenseRows(t *testing.T) {
	h := newHerd(t, 90, evertick.Config{Seed: 4})
	rows := &agent.Sense{Tags: []string{"wolf", "tree"}, Radius: 6, FindRows: true}
	both := &agent.Sense{Tags: []string{"wolf", "tree"}, Radius: 6, FindRows: true, FindNearest: true}
	hits := 0
	h.reflex(t, agent.ReflexConfig{Senses: []*agent.Sense{rows, both}, React: func(_ *evertick.Tick, agents []ecs.Slot) error {
		for i := range agents {
			nearest, least := spatial.NoSlot, float32(math.Inf(1))
			for j, slot := range rows.Rows.Row(i) {
				hits++
				if slot%3 == 0 { // a sheep
					t.Errorf("agent %d perceives slot %d", i, slot)
				}
				if d2 := rows.Rows.Dist2Row(i)[j]; d2 < least {
					nearest, least = slot, d2
				}
			}
			if int(rows.Counts[i]) != len(rows.Rows.Row(i)) || both.Counts[i] != rows.Counts[i] || both.Nearest[i] != nearest ||
				!slices.Equal(both.Rows.Row(i), rows.Rows.Row(i)) {
				t.Errorf("agent %d: %d neighbours and %d, nearest %d, want %d, %d", i, rows.Counts[i], both.Counts[i], both.Nearest[i], len(rows.Rows.Row(i)), nearest)
			}
		}
		return nil
	}})
	h.step(t, 1)
	if hits == 0 {
		t.Error("no neighbours")
	}
}

// By turns all agents react equally often, and those that come and go join and leave.
func TestReflexTurns(t *testing.T) {
	h := newHerd(t, 30, evertick.Config{})
	turns := map[ecs.Slot]int{}
	last := 0
	h.reflex(t, agent.ReflexConfig{PerTick: 3, React: func(_ *evertick.Tick, agents []ecs.Slot) error {
		last = len(agents)
		for _, slot := range agents {
			turns[slot]++
		}
		return nil
	}})
	for range 10 {
		h.step(t, 1)
		if last != 3 {
			t.Fatalf("%d agents react, want 3", last)
		}
	}
	for _, id := range h.ids {
		slot, _ := h.sim.World.Slot(id)
		sheep, _ := h.sim.World.Tag("sheep")
		if want := 3; sheep.Has(id) && turns[slot] != want || !sheep.Has(id) && turns[slot] != 0 {
			t.Errorf("slot %d, sheep %t: %d turns", slot, sheep.Has(id), turns[slot])
		}
	}
	if err := h.sim.World.DespawnN(h.ids[:24]); err != nil { // two sheep are left
		t.Fatal(err)
	}
	clear(turns)
	h.step(t, 5)
	if last != 2 || len(turns) != 2 {
		t.Errorf("%d of %d agents react, want both that are left", last, len(turns))
	}
	if err := h.sim.World.DespawnN(h.ids[24:]); err != nil {
		t.Fatal(err)
	}
	h.step(t, 1)
	if last != 0 {
		t.Errorf("%d agents react, and none is left", last)
	}
}

// wander lets the sheep keep away from wolves: the state is where they are.
func (h *herd) wander(t testing.TB) {
	pos := &h.sim.World.Position
	wolves := &agent.Sense{Tags: []string{"wolf"}, Radius: 6, Terms: []spatial.Term{{Of: pos.X, Own: pos.X, Weight: spatial.Linear}}}
	h.reflex(t, agent.ReflexConfig{PerTick: 7, Senses: []*agent.Sense{wolves}, React: func(tick *evertick.Tick, agents []ecs.Slot) error {
		r := tick.Rand(0, 1)
		for row, slot := range agents {
			pos.X[slot] += r.Range(-0.1, 0.1) - float32(0.01*wolves.Terms[0].To[row])
		}
		return nil
	}})
}

// A reflex needs no state: a restored run, and one on any level with any workers, repeats it.
func TestReflexRepeats(t *testing.T) {
	h := newHerd(t, 200, evertick.Config{Seed: 5})
	h.wander(t)
	h.step(t, 10)
	snap, err := h.sim.Snapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	before := h.sim.Hash()
	h.step(t, 20)
	for _, level := range native.Levels() {
		for _, workers := range []int{1, 2} {
			other := newHerd(t, 200, evertick.Config{Seed: 5, Level: level, Workers: workers})
			other.wander(t)
			if err := other.sim.Restore(snap); err != nil {
				t.Fatal(err)
			}
			other.step(t, 20)
			if other.sim.Hash() != h.sim.Hash() || h.sim.Hash() == before {
				t.Errorf("level %s, %d workers: hash %016x, want %016x", level, workers, other.sim.Hash(), h.sim.Hash())
			}
		}
	}
}

func TestReflexRefuses(t *testing.T) {
	react := func(*evertick.Tick, []ecs.Slot) error { return nil }
	nan := float32(math.NaN())
	for _, c := range []struct {
		field string
		want  error
		cfg   agent.ReflexConfig
	}{
		{"PerTick = -1", evertick.ErrRange, agent.ReflexConfig{PerTick: -1, React: react}},
		{"React", evertick.ErrRange, agent.ReflexConfig{}},
		{"Senses[1]", evertick.ErrRange, agent.ReflexConfig{React: react, Senses: []*agent.Sense{{}, nil}}},
		{"Senses[0].Radius = -1", evertick.ErrRange, agent.ReflexConfig{React: react, Senses: []*agent.Sense{{Radius: -1}}}},
		{"Senses[0].Radius", evertick.ErrNotFinite, agent.ReflexConfig{React: react, Senses: []*agent.Sense{{Radius: nan}}}},
		{"Softening", evertick.ErrNotFinite, agent.ReflexConfig{React: react, Senses: []*agent.Sense{{Softening: nan}}}},
		{"Terms[0].Weight", evertick.ErrRange, agent.ReflexConfig{React: react, Senses: []*agent.Sense{{Terms: []spatial.Term{{Weight: 200}}}}}},
		{"Tags", evertick.ErrRange, agent.ReflexConfig{React: react, Senses: []*agent.Sense{{Tags: []string{""}}}}},
		{"ReflexConfig.Tag", evertick.ErrRange, agent.ReflexConfig{React: react, Tag: "\xff"}},
	} {
		h := newHerd(t, 3, evertick.Config{})
		if c.cfg.Tag == "" {
			c.cfg.Tag = "sheep"
		}
		if err := agent.NewReflex(h.sim, c.cfg); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.field) {
			t.Errorf("%s: %v", c.field, err)
		}
		if systems, err := h.sim.Systems(); err != nil || len(systems) != 0 {
			t.Errorf("%s: %d systems were added, %v", c.field, len(systems), err)
		}
	}
}

// A reflex without agents is called without any, from the first tick on.
func TestReflexWithoutAgents(t *testing.T) {
	h, calls := newHerd(t, 0, evertick.Config{}), 0
	sense := &agent.Sense{Radius: 1, FindNearest: true, FindRows: true, Terms: []spatial.Term{{}, {Of: h.sim.World.Position.X, Own: h.sim.World.Position.X}}}
	h.reflex(t, agent.ReflexConfig{Senses: []*agent.Sense{sense}, React: func(_ *evertick.Tick, agents []ecs.Slot) error {
		if calls++; len(agents) != 0 || len(sense.Counts) != 0 {
			t.Errorf("%d agents", len(agents))
		}
		return nil
	}})
	if h.step(t, 2); calls != 2 {
		t.Errorf("%d calls", calls)
	}
}

// A Sense that two reflexes of one Sim share works for both; one of another Sim is refused, as its results are in use.
func TestSharedSense(t *testing.T) {
	h, other := newHerd(t, 60, evertick.Config{Seed: 5}), newHerd(t, 6, evertick.Config{})
	sense, rows := &agent.Sense{Tags: []string{"wolf", "tree"}, Radius: 6, FindNearest: true, Terms: []spatial.Term{{}, {}}}, 0
	bad := agent.ReflexConfig{Tag: "sheep", Senses: []*agent.Sense{sense, {Tags: []string{""}}}, React: func(*evertick.Tick, []ecs.Slot) error { return nil }}
	if err := agent.NewReflex(other.sim, bad); !errors.Is(err, evertick.ErrRange) {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "two"} {
		h.reflex(t, agent.ReflexConfig{Name: name, Senses: []*agent.Sense{sense}, React: func(_ *evertick.Tick, agents []ecs.Slot) error {
			for row := range agents {
				rows++
				if n := float32(sense.Counts[row]); sense.Terms[0].To[row] != n || sense.Terms[1].To[row] != n {
					t.Errorf("%g neighbours, %v", n, sense.Terms)
				}
			}
			return nil
		}})
	}
	if h.step(t, 2); rows != 80 {
		t.Errorf("%d rows", rows)
	}
	err := agent.NewReflex(other.sim, agent.ReflexConfig{Tag: "sheep", Senses: []*agent.Sense{{}, sense}, React: bad.React})
	if !errors.Is(err, evertick.ErrRange) || !strings.Contains(err.Error(), "Senses[1]") {
		t.Error(err)
	}
}

// The error of React is that of the step.
func TestReflexFails(t *testing.T) {
	h, broken := newHerd(t, 3, evertick.Config{}), errors.New("broken")
	h.reflex(t, agent.ReflexConfig{Name: "bite", React: func(*evertick.Tick, []ecs.Slot) error { return broken }})
	if err := h.sim.Step(); !errors.Is(err, broken) || !strings.Contains(err.Error(), "bite") {
		t.Error(err)
	}
}

func TestReflexAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	h := newHerd(t, 600, evertick.Config{Seed: 2})
	around := &agent.Sense{Tags: []string{"wolf", "tree"}, Radius: 6, FindRows: true}
	h.reflex(t, agent.ReflexConfig{PerTick: 50, Senses: []*agent.Sense{around}, React: func(*evertick.Tick, []ecs.Slot) error { return nil }})
	h.step(t, 100)
	if n := testing.AllocsPerRun(50, func() { h.step(t, 1) }); n != 0 {
		t.Errorf("%g allocations a tick", n)
	}
}
