package proof

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
)

func newScene(t testing.TB, c Config) *Scene {
	t.Helper()
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func step(t testing.TB, s *Scene, ticks int) {
	t.Helper()
	for range ticks {
		if err := s.Step(); err != nil {
			t.Fatal(err)
		}
	}
}

// Hashes do not depend on levels and workers; the command prove shows it for many ticks and
// for other builds.
func TestLevelsAndWorkers(t *testing.T) {
	const ticks = 120
	want, err := Record(Config{Seed: 3, Level: native.Go}, ticks, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, level := range native.Levels() {
		for _, workers := range []int{1, 2, 7} {
			got, err := Record(Config{Seed: 3, Level: level, Workers: workers}, ticks, 0)
			if err != nil {
				t.Fatal(err)
			}
			if tick, differ := FirstDifference(want, got); differ {
				t.Errorf("after tick %d %s and %s differ", tick, want.Build, got.Build)
			}
		}
	}
	other, err := Record(Config{Seed: 4}, 1, 0)
	if err != nil || other.Hashes[0] == want.Hashes[0] {
		t.Errorf("another seed gives the same hash, %v", err)
	}
}

// happening counts the events of a run: a proof about a scene in which nothing
// happens proves nothing.
type happening map[string]int

func (h happening) watch(s *Scene) {
	e, w := s.Sim.Physics.Events(), s.Sim.Physics
	h["contacts that began"] += len(e.Begin)
	h["contacts that ended"] += len(e.End)
	h["visits of the sensor"] += len(e.SensorBegin)
	h["hits"] += len(e.Hit)
	h["joints that broke"] += len(e.Broken)
	h["bodies that fell asleep"] += len(e.Slept)
	h["bodies that woke"] += len(e.Woke)
	for i := range w.JointCount() {
		if j, ok := w.JointAt(i); ok {
			kind, _ := w.JointKind(j)
			h[fmt.Sprintf("joints of kind %v", kind)]++
		}
	}
	for slot := range s.Sim.World.Query() {
		h[fmt.Sprintf("entities of kind %d", s.cols.kind[slot])]++
		if f := s.cols.fading[slot]; f > 0 && f < 0x1p-126 {
			h["denormal numbers"]++
		}
		if s.cols.target[slot] != 0 {
			h["pushes"]++
		}
	}
	h["alarmed agents"] += s.tags.alarmed.Count()
	h["rays that meet something"] += len(s.senses.look.hits.Shapes)
	h["neighbours"] += len(s.senses.near.Slots)
	h["pairs"] += len(s.senses.pairs.Slots)
	h["chains"] = w.ChainCount()
}

func TestEverythingHappens(t *testing.T) {
	if testing.Short() || paritytest.Instrumented {
		t.Skip("not run: a scene of 1500 ticks: -short, or an instrumented build")
	}
	s := newScene(t, Config{Seed: 1})
	h := happening{}
	s.Sim.AddHooks(evertick.Hooks{BeforeTick: func(t *evertick.Tick) error {
		for _, in := range t.Inputs() {
			h[fmt.Sprintf("inputs of kind %d", in.Kind)]++
		}
		return nil
	}})
	last := 0
	for range 1500 {
		step(t, s, 1)
		h.watch(s)
		last = max(last, s.Sim.World.Len())
	}
	want := []string{
		"contacts that began", "contacts that ended", "visits of the sensor", "hits", "joints that broke",
		"bodies that fell asleep", "bodies that woke", "denormal numbers", "pushes", "alarmed agents",
		"rays that meet something", "neighbours", "pairs", "chains",
	}
	for kind := range kinds {
		want = append(want, fmt.Sprintf("inputs of kind %d", kind))
	}
	for k := totalsEntity; k <= walker; k++ {
		want = append(want, fmt.Sprintf("entities of kind %d", k))
	}
	for k := physics.DistanceJoint; k <= physics.FilterJoint; k++ {
		want = append(want, fmt.Sprintf("joints of kind %v", k))
	}
	for _, what := range want {
		if h[what] == 0 {
			t.Errorf("no %s in 1500 ticks", what)
		}
	}
	t.Logf("%d entities at most; %v", last, h)
}

// Diff names every column that can differ, with entity or body and both values.
func TestDiffNamesWhatDiffers(t *testing.T) {
	const tick = 30
	ulp := func(v *float32) { *v = math.Float32frombits(math.Float32bits(*v) ^ 1) }
	for name, c := range map[string]struct {
		do   func(s *evertick.Sim)
		want []string
	}{
		"energy": {func(s *evertick.Sim) {
			energy, _ := ecs.FindColumn[float32](s.World, "energy")
			ulp(&energy.Values()[20])
		}, []string{
			"after the tick: column energy: hash", "made by think: entities", "value of energy, slot 20 (ent_21)", "0x",
		}},
		"body": {func(s *evertick.Sim) {
			c := s.Physics.Columns()
			ulp(&c.VX[30])
		}, []string{"made by think: bodies", "after the tick: column body.VX: hash", "value of body.VX, body 30 of slot", "0x"}},
		"tag": {func(s *evertick.Sim) {
			id, _ := s.World.ID(5)
			doll, _ := s.World.Tag("doll")
			doll.Set(id)
		}, []string{"column identity", "tag of doll, slot 5", "false and true"}},
		"spawn": {func(s *evertick.Sim) {
			if _, err := s.World.Spawn(); err != nil {
				t.Fatal(err)
			}
		}, []string{"column identity", "next id"}},
	} {
		t.Run(name, func(t *testing.T) {
			plain, err := PhotoAt(Config{Seed: 1}, tick)
			if err != nil {
				t.Fatal(err)
			}
			if lines, err := Diff(plain, plain, nil); len(lines) > 0 || err != nil {
				t.Errorf("a photo differs from itself: %q, %v", lines, err)
			}
			other, err := disturbed(tick, c.do)
			if err != nil {
				t.Fatal(err)
			}
			lines, err := Diff(plain, other, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range c.want {
				if !strings.Contains(strings.Join(lines, "\n"), want) {
					t.Errorf("no %q in\n%s", want, strings.Join(lines, "\n"))
				}
			}
		})
	}
}

// disturbed returns a photo of a run with a change at the end of system think.
func disturbed(tick uint64, do func(*evertick.Sim)) (*Photo, error) {
	hook := func(t *evertick.Tick, system string) {
		if t.N+1 == tick && system == "think" {
			do(t.Sim)
		}
	}
	return photograph(Config{Seed: 1}, tick, func(n, _ uint64) bool { return n == tick }, evertick.Hooks{AfterSystem: hook})
}

// PhotoOfDifference photographs the first tick that differs, or returns nil.
func TestPhotoOfDifference(t *testing.T) {
	c := Config{Seed: 2}
	r, err := Record(c, 40, 0)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := PhotoOfDifference(c, r); p != nil || err != nil {
		t.Fatalf("%v, %v", p, err)
	}
	r.Hashes[24]++
	r.Hashes[30]++
	p, err := PhotoOfDifference(c, r)
	if err != nil || p.Tick != 25 || len(p.Trace) == 0 || len(p.After.Stages) == 0 {
		t.Fatalf("%v, %v", p, err)
	}
	if p, err := PhotoAt(c, 0); err == nil {
		t.Errorf("a photo of tick 0: %v", p)
	}
}

// The scene itself follows the rules of determinism.
func TestAccess(t *testing.T) {
	s := newScene(t, Config{Seed: 1, CheckAccess: true})
	step(t, s, 40)
	plan, err := s.Sim.Plan()
	if err != nil {
		t.Fatal(err)
	}
	if groups := fmt.Sprint(plan.Groups); !strings.Contains(groups, "[perceive contacts]") || !strings.Contains(groups, "[distance fade debts]") {
		t.Errorf("groups %s", groups)
	}
}

// A run that goes on in other Sims, from snapshots, has the same hashes.
func TestRestored(t *testing.T) {
	const ticks = 150
	want, err := Record(Config{Seed: 6}, ticks, 0)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Record(Config{Seed: 6, Workers: 2}, ticks, 17)
	if err != nil {
		t.Fatal(err)
	}
	if tick, differ := FirstDifference(want, got); differ {
		t.Errorf("after tick %d a run that is restored every 17 ticks differs", tick)
	}
}

// Photographing changes nothing.
func TestPhotoIsOfTheSameRun(t *testing.T) {
	c := Config{Seed: 5}
	r, err := Record(c, 20, 0)
	if err != nil {
		t.Fatal(err)
	}
	p, err := PhotoAt(c, 20)
	if err != nil || ecs.Fold(p.After.Columns) != r.Hashes[19] || ecs.Fold(p.Before.Columns) != r.Hashes[18] {
		t.Errorf("%v: the photo has %x and %x, the recording %x", err, ecs.Fold(p.Before.Columns), ecs.Fold(p.After.Columns), r.Hashes[18:])
	}
}
