package evertick_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
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
