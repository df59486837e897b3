package evertick_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/simtest"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/spatial"
)

var nan = float32(math.NaN())

func TestZeroConfig(t *testing.T) {
	s := newSim(t, evertick.Config{})
	if got := s.World.Cap(); got != ecs.DefaultCapacity {
		t.Errorf("room for %d entities, want %d", got, ecs.DefaultCapacity)
	}
	if got := s.Physics.Cap(); got != ecs.DefaultCapacity {
		t.Errorf("room for %d bodies, want %d", got, ecs.DefaultCapacity)
	}
	if got, want := s.Dt(), float32(1)/60; got != want {
		t.Errorf("Dt %g, want %g", got, want)
	}
	best, err := native.Resolve(native.Auto)
	if err != nil || s.Level() != best || s.Index.Level() != best {
		t.Errorf("levels %s and %s, want %s, %v", s.Level(), s.Index.Level(), best, err)
	}
	step(t, s, 3)
	if s.Ticks() != 3 {
		t.Errorf("%d ticks after 3 steps", s.Ticks())
	}
}

func TestPartsTakeOverFromConfig(t *testing.T) {
	s := newSim(t, evertick.Config{
		Capacity: 10, Workers: 3, Level: native.Go,
		Physics: physics.Config{Capacity: 4},
		Loop:    loop.Config{RateNum: 30},
	})
	if s.World.Cap() != 10 || s.Physics.Cap() != 4 {
		t.Errorf("room for %d entities and %d bodies, want 10 and 4", s.World.Cap(), s.Physics.Cap())
	}
	if s.Level() != native.Go || s.Index.Level() != native.Go {
		t.Errorf("levels %s and %s, want go", s.Level(), s.Index.Level())
	}
	if got := s.Physics.Config().Workers; got != 3 {
		t.Errorf("%d physics workers, want 3", got)
	}
	if got, want := s.Dt(), float32(1)/30; got != want {
		t.Errorf("Dt %g, want %g", got, want)
	}
}

// elsewhere is a level that this host cannot run.
func unsupportedLevel(t *testing.T) native.Level {
	for _, l := range []native.Level{native.NEON, native.AVX512} {
		if !slices.Contains(native.Levels(), l) {
			return l
		}
	}
	t.Fatal("this host runs both NEON and AVX-512")
	return 0
}

func TestBadConfig(t *testing.T) {
	foreign := unsupportedLevel(t)
	for _, c := range []struct {
		name   string
		config evertick.Config
		kind   error
		says   []string
	}{
		{"negative capacity", evertick.Config{Capacity: -1}, evertick.ErrRange, []string{"Capacity", "-1"}},
		{"capacity above the limit", evertick.Config{Capacity: 1<<24 + 1}, evertick.ErrRange, []string{"Capacity", "16777217"}},
		{"negative workers", evertick.Config{Workers: -2}, evertick.ErrRange, []string{"Config.Workers", "-2"}},
		{"too many workers", evertick.Config{Workers: 1025}, evertick.ErrRange, []string{"Config.Workers", "1025"}},
		{"foreign level", evertick.Config{Level: foreign}, evertick.ErrUnsupported, []string{"level", foreign.String()}},
		{"no level", evertick.Config{Level: 99}, evertick.ErrUnsupported, []string{"level", "99"}},
		{"foreign level of the index", evertick.Config{Spatial: spatial.Config{Level: foreign}}, evertick.ErrUnsupported, []string{"level", foreign.String()}},
		{"bodies", evertick.Config{Physics: physics.Config{Capacity: -3}}, evertick.ErrRange, []string{"physics: Config.Capacity", "-3"}},
		{"gravity", evertick.Config{Physics: physics.Config{Gravity: [2]float32{0, nan}}}, evertick.ErrNotFinite, []string{"Gravity", "NaN"}},
		{"plane", evertick.Config{Physics: physics.Config{Plane: 7}}, evertick.ErrRange, []string{"Plane", "7"}},
		{"rate", evertick.Config{Loop: loop.Config{RateNum: -60}}, evertick.ErrRange, []string{"loop: Config.RateNum", "-60"}},
		{"NaN cell", evertick.Config{Spatial: spatial.Config{CellSize: nan}}, evertick.ErrNotFinite, []string{"CellSize", "NaN"}},
		{"negative cell", evertick.Config{Spatial: spatial.Config{CellSize: -4}}, evertick.ErrRange, []string{"CellSize", "-4"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := evertick.New(c.config)
			if s != nil {
				t.Error("a Sim comes with the error")
			}
			wantError(t, err, c.kind, c.says...)
			wantError(t, c.config.Validate(), c.kind, c.says...)
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("one fault is reported as several: %v", err)
			}
		})
	}
}

func TestEveryFaultIsReported(t *testing.T) {
	_, err := evertick.New(evertick.Config{
		Capacity: -1, Workers: -2, Level: 99,
		Loop:    loop.Config{RateNum: -60},
		Physics: physics.Config{Capacity: -3, Workers: -4, Gravity: [2]float32{nan, 0}},
		Spatial: spatial.Config{Workers: -5, CellSize: -6, Level: 98},
	})
	for _, kind := range []error{evertick.ErrRange, evertick.ErrNotFinite, evertick.ErrUnsupported} {
		wantError(t, err, kind,
			"ecs: Config.Capacity = -1", "evertick: Config.Workers = -2", "Level(99)", "loop: Config.RateNum = -60",
			"physics: Config.Capacity = -3", "physics: Config.Workers = -4", "physics: Config.Gravity",
			"spatial: Config.Workers = -5", "spatial: Config.CellSize = -6", "Level(98)")
	}
	if got := strings.Count(err.Error(), "\n") + 1; got != 10 {
		t.Errorf("%d faults reported, want 10:\n%v", got, err)
	}
}

func TestConfigIsThatOfNewWithDefaults(t *testing.T) {
	clock := new(loop.ManualClock)
	s, err := evertick.New(evertick.Config{Seed: 7, Workers: 3, Clock: clock, Loop: loop.Config{RateNum: 50}})
	if err != nil {
		t.Fatal(err)
	}
	c := s.Config()
	if c.Seed != 7 || c.Workers != 3 || c.Clock != clock || c.Capacity != ecs.DefaultCapacity || c.BudgetNs != 20_000_000 {
		t.Errorf("%+v", c)
	}
	if c.Physics.Workers != 3 || c.Spatial.Workers != 3 {
		t.Errorf("workers of physics %d, of spatial %d", c.Physics.Workers, c.Spatial.Workers)
	}
}

var (
	newSim      = simtest.New
	small       = simtest.Small
	spawn       = simtest.Spawn
	slotOf      = simtest.SlotOf
	step        = simtest.Step
	add         = simtest.Add
	column      = simtest.Column
	wantError   = simtest.WantError
	manualClock = simtest.ManualClock
	snapshot    = simtest.Snapshot
	restore     = simtest.Restore
)

// fakeEngine moves bodies by their velocity and allocates nothing. It embeds
// the interface for the methods that no test here calls.
type fakeEngine struct {
	physics.Engine
	cols *physics.Columns
	rows int
}

func (f *fakeEngine) Open(_ physics.Config, cols *physics.Columns) error {
	f.cols = cols
	return nil
}

func (f *fakeEngine) CreateBody(i int, d *physics.BodyDef) error {
	f.rows = max(f.rows, i+1)
	c := f.cols
	c.X[i], c.Y[i], c.Cos[i] = d.Position[0], d.Position[1], 1
	c.VX[i], c.VY[i] = d.LinearVelocity[0], d.LinearVelocity[1]
	return nil
}

func (f *fakeEngine) DestroyBody(int) {}

func (f *fakeEngine) Step(dt float32) error {
	for i := range f.rows {
		f.cols.X[i] += float32(f.cols.VX[i] * dt)
		f.cols.Y[i] += float32(f.cols.VY[i] * dt)
	}
	return nil
}

// stages are all stages, in the order in which they run.
var stages = []evertick.Stage{evertick.BeforePhysics, evertick.AfterPhysics, evertick.AfterIndex, evertick.AfterCommands}

// faultyCalls are calls of a set-up that are errors.
var faultyCalls = []struct {
	call func(*evertick.Sim) error
	kind error
	says string
}{
	{func(s *evertick.Sim) error { return s.Add(99, "late", nothing) }, evertick.ErrRange, "evertick: Add: stage = 99: out of range"},
	{func(s *evertick.Sim) error { return s.Add(evertick.AfterIndex, "", nothing) }, evertick.ErrRange, "evertick: Add: name = : out of range"},
	{func(s *evertick.Sim) error { return s.Add(evertick.AfterIndex, "commands", nothing) }, evertick.ErrRange, "evertick: Add: name = commands: out of range"},
	{func(s *evertick.Sim) error { return s.AddSystem(system("")) }, evertick.ErrRange, "evertick: AddSystem: name = : out of range"},
	{func(s *evertick.Sim) error { return s.AddState("", new(parkState)) }, evertick.ErrRange, "evertick: AddState: name = : out of range"},
	{func(s *evertick.Sim) error { _, err := s.AddTimer("", 0); return err }, evertick.ErrRange, "evertick: AddTimer: name = : out of range"},
	{func(s *evertick.Sim) error { return s.Resource("") }, evertick.ErrRange, `evertick: Resource: name = "": out of range`},
	{
		func(s *evertick.Sim) error { return s.Register(new(struct{ Map map[int]int })) }, evertick.ErrUnsupported,
		"ecs: Register: field Map type = map[int]int: unsupported",
	},
}

// A set-up may ignore every error: Check, Plan and Step report it, and nothing runs.
func TestSetUpFaults(t *testing.T) {
	for _, c := range faultyCalls {
		s := newSim(t, small())
		ran := 0
		add(t, s, evertick.BeforePhysics, "good", func(*evertick.Tick) error { ran++; return nil })
		before := snapshot(t, s)
		if err := c.call(s); !errors.Is(err, c.kind) || err.Error() != c.says {
			t.Errorf("the call returns %v, want %s", err, c.says)
		}
		_, planErr := s.Plan()
		for name, err := range map[string]error{"Check": s.Check(), "Plan": planErr, "Step": s.Step(), "StepN": s.StepN(3)} {
			if !errors.Is(err, c.kind) || err.Error() != c.says {
				t.Errorf("%s returns %v, want %s", name, err, c.says)
			}
		}
		if ran != 0 || s.Ticks() != 0 || string(snapshot(t, s)) != string(before) {
			t.Errorf("%s: the Sim has run", c.says)
		}
	}
}

// Check reports all faults: first those of the calls, in their order, then those of declarations.
func TestSetUpFaultsInOrder(t *testing.T) {
	s := newSim(t, small())
	want := []string{}
	for _, c := range slices.Backward(faultyCalls) {
		_ = c.call(s)
		want = append(want, c.says)
	}
	_ = s.AddSystem(system("lost", after("nobody")))
	err := s.Step()
	text := strings.Join(want, "\n") + "\nevertick: system lost: After = \"nobody\""
	if err == nil || !strings.HasPrefix(err.Error(), text) {
		t.Errorf("got\n%v\nwant\n%s", err, text)
	}
	add(t, s, evertick.BeforePhysics, "nobody", nothing) // mends the declaration only
	if err := s.Step(); err == nil || err.Error() != strings.Join(want, "\n") {
		t.Errorf("got\n%v\nwant\n%s", err, strings.Join(want, "\n"))
	}
}

// A later call that succeeds, or a Restore, does not remove the errors of a set-up.
func TestSetUpFaultsStay(t *testing.T) {
	other := newSim(t, evertick.Config{Capacity: 64, History: evertick.HistoryConfig{Keep: 2}})
	step(t, other, 3)
	s := newSim(t, evertick.Config{Capacity: 64, History: evertick.HistoryConfig{Keep: 2}})
	if s.Add(evertick.BeforePhysics, "commands", nothing) == nil {
		t.Fatal("a name that is taken")
	}
	add(t, s, evertick.BeforePhysics, "other name", nothing)
	for name, f := range map[string]func() error{
		"Restore":  func() error { return s.Restore(snapshot(t, other)) },
		"CopyFrom": func() error { return s.CopyFrom(other) },
		"StepBack": func() error { return s.StepBack(0) },
		"Check":    s.Check,
	} {
		if err := f(); err != nil && name != "Check" {
			t.Errorf("%s: %v", name, err)
		}
		wantError(t, s.Step(), evertick.ErrRange, "evertick: Add: name = commands")
	}
	if s.Ticks() != 3 {
		t.Errorf("at tick %d, want 3, that of the copy", s.Ticks())
	}
}

// Once a tick has begun, only the call itself returns an error: the run goes on without the thing that
// it could not add.
func TestFaultsAfterTheSetUp(t *testing.T) {
	s := newSim(t, evertick.Config{Capacity: 64, History: evertick.HistoryConfig{Keep: 4, Every: 1}})
	begin := snapshot(t, s)
	refused := 0
	add(t, s, evertick.BeforePhysics, "adds", func(tick *evertick.Tick) error {
		for _, c := range faultyCalls {
			if c.call(tick.Sim) != nil {
				refused++
			}
		}
		return nil
	})
	step(t, s, 3)
	if err := s.StepBack(2); err != nil {
		t.Fatal(err)
	}
	step(t, s, 1)
	if err := s.Restore(begin); err != nil { // at tick 0, but no longer a set-up
		t.Fatal(err)
	}
	for _, c := range faultyCalls {
		wantError(t, c.call(s), c.kind)
	}
	step(t, s, 1)
	if s.Ticks() != 1 || refused < 5*len(faultyCalls) {
		t.Errorf("at tick %d, %d calls refused", s.Ticks(), refused)
	}
}

// Register makes columns and tags known to systems, and part of the state.
func TestRegister(t *testing.T) {
	var c struct {
		Fuel *ecs.Column[float32]
		Lit  ecs.Tag
	}
	s := newSim(t, small())
	s.Register(&c)
	s.AddSystem(evertick.System{
		Name: "burn", Reads: []string{"entities"}, Writes: []string{"fuel", "lit"}, Run: func(tick *evertick.Tick) error {
			for slot := range tick.Sim.World.Query(ecs.With(c.Lit)) {
				c.Fuel.Values()[slot] -= tick.Dt
			}
			return nil
		},
	})
	id, slot, err := s.World.SpawnSlot()
	if err != nil {
		t.Fatal(err)
	}
	c.Fuel.Values()[slot] = 1
	c.Lit.Set(id)
	byHand := newSim(t, small())
	fuel := column(t, byHand, "fuel")
	lit, err := byHand.World.Tag("lit")
	if err != nil {
		t.Fatal(err)
	}
	lit.Set(spawn(t, byHand))
	fuel[0] = 1
	add(t, byHand, evertick.BeforePhysics, "burn", func(tick *evertick.Tick) error { fuel[0] -= tick.Dt; return nil })
	step(t, s, 10)
	step(t, byHand, 10)
	if s.Hash() != byHand.Hash() || string(snapshot(t, s)) != string(snapshot(t, byHand)) {
		t.Error("not the Sim of columns that were added by hand")
	}
}

// The number of workers changes between ticks, and no result with it.
func TestSetWorkers(t *testing.T) {
	build := func(workers int) *evertick.Sim {
		s := newSim(t, evertick.Config{Capacity: 512, Workers: workers, Physics: physics.Config{Gravity: [2]float32{0, -9}}})
		for i := range 300 {
			def := physics.DefaultBodyDef()
			def.Type, def.Position = physics.DynamicBody, [2]float32{float32(i % 20), float32(i / 20)}
			b, err := s.CreateBody(spawn(t, s), def)
			if err == nil {
				_, err = s.Physics.CreateCircle(b, physics.DefaultShapeDef(), physics.Circle{Radius: 0.6})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		return s
	}
	a, b := build(1), build(3)
	for _, n := range []int{2, 1, 7} {
		if err := b.SetWorkers(n); err != nil {
			t.Fatal(err)
		}
		if c := b.Config(); c.Workers != n || c.Physics.Workers != n || c.Spatial.Workers != n || b.Physics.Config().Workers != n {
			t.Errorf("%d workers: %d, %d, %d, %d", n, c.Workers, c.Physics.Workers, c.Spatial.Workers, b.Physics.Config().Workers)
		}
		for range 4 {
			if err := errors.Join(a.Step(), b.Step()); err != nil {
				t.Fatal(err)
			}
			if a.Hash() != b.Hash() {
				t.Fatal("other results")
			}
		}
	}
	for _, n := range []int{0, 1025} {
		if err := b.SetWorkers(n); !errors.Is(err, evertick.ErrRange) || !strings.Contains(err.Error(), "SetWorkers: workers") || b.Config().Workers != 7 {
			t.Errorf("%d workers: %v", n, err)
		}
	}
	other := newSim(t, evertick.Config{Capacity: 64, Physics: physics.Config{Engine: &fakeEngine{}}})
	if err := other.SetWorkers(4); err != nil || other.Config().Workers != 4 || other.Config().Physics.Workers != 1 {
		t.Errorf("with an engine: %v", err)
	}
}

func TestSetWorkersWithinAStep(t *testing.T) {
	s := newSim(t, small())
	panicked := ""
	err := s.AddSystem(evertick.System{Name: "greedy", Run: func(*evertick.Tick) error {
		defer func() { panicked, _ = recover().(string) }()
		return s.SetWorkers(2)
	}})
	if err := errors.Join(err, s.Step()); err != nil {
		t.Fatal(err)
	}
	if panicked != "evertick: SetWorkers within a step" {
		t.Errorf("panic: %q", panicked)
	}
}
