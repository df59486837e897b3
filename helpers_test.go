package evertick_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/physics"
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

func newSim(t testing.TB, c evertick.Config) *evertick.Sim {
	t.Helper()
	s, err := evertick.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// small is enough for most tests, and quick to make.
func small() evertick.Config { return evertick.Config{Capacity: 64} }

func spawn(t testing.TB, s *evertick.Sim) ecs.ID {
	t.Helper()
	id, err := s.World.Spawn()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func slotOf(t testing.TB, s *evertick.Sim, id ecs.ID) ecs.Slot {
	t.Helper()
	slot, ok := s.World.Slot(id)
	if !ok {
		t.Fatalf("%s has no slot", id)
	}
	return slot
}

func step(t testing.TB, s *evertick.Sim, n int) {
	t.Helper()
	for range n {
		if err := s.Step(); err != nil {
			t.Fatal(err)
		}
	}
}

func add(t testing.TB, s *evertick.Sim, stage evertick.Stage, name string, run func(*evertick.Tick) error) {
	t.Helper()
	if err := s.Add(stage, name, run); err != nil {
		t.Fatal(err)
	}
}

// column adds a user column and returns its values.
func column(t testing.TB, s *evertick.Sim, name string) []float32 {
	t.Helper()
	c, err := ecs.AddColumn[float32](s.World, name)
	if err != nil {
		t.Fatal(err)
	}
	return c.Values()
}

// wantError checks what an error wraps and what its text contains.
func wantError(t testing.TB, err, kind error, parts ...string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("error %v, want %v", err, kind)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not contain %q", err, part)
		}
	}
}

// manualClock is a clock that moves only by Add, and by Sleep, which jumps.
func manualClock() *loop.ManualClock { return &loop.ManualClock{Jump: true} }
