package evertick_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
)

var errSystem = errors.New("the system gave up")

func TestErrorEndsTheSim(t *testing.T) {
	for _, stage := range []evertick.Stage{evertick.BeforePhysics, evertick.AfterIndex} {
		s := newSim(t, small())
		later := 0
		add(t, s, stage, "failing", func(tick *evertick.Tick) error {
			if tick.N == 2 {
				return errSystem
			}
			return nil
		})
		add(t, s, evertick.AfterIndex, "later", func(*evertick.Tick) error { later++; return nil })
		step(t, s, 2)
		hash := s.Hash()
		err := s.Step()
		wantError(t, err, errSystem, "tick 2", "failing")
		if again := s.Step(); again != err {
			t.Errorf("the next step says %v, not %v", again, err)
		}
		if s.Ticks() != 2 || later != 2 || s.Hash() != hash {
			t.Errorf("%d ticks, %d runs of the system behind, hash changed: %t; want 2, 2, false", s.Ticks(), later, s.Hash() != hash)
		}
	}
}

// stepPanicking steps and swallows the panic.
func stepPanicking(s *evertick.Sim) (value any) {
	defer func() { value = recover() }()
	return s.Step()
}

func TestPanicEndsTheSim(t *testing.T) {
	s := newSim(t, small())
	add(t, s, evertick.BeforePhysics, "panics", func(*evertick.Tick) error { panic("gone") })
	if got := stepPanicking(s); got != "gone" {
		t.Fatalf("recovered %v", got)
	}
	for range 2 {
		if err := s.Step(); err == nil || !strings.Contains(err.Error(), "broken off by a panic") {
			t.Errorf("the next step says %v", err)
		}
	}
	if s.Ticks() != 0 {
		t.Errorf("%d ticks completed", s.Ticks())
	}
}

// A step inside a step is refused; the outer one goes on if the system does.
func TestStepWithinAStep(t *testing.T) {
	s := newSim(t, small())
	var inner error
	add(t, s, evertick.AfterIndex, "nested", func(*evertick.Tick) error {
		inner = s.Step()
		return nil
	})
	step(t, s, 2)
	if inner == nil || !strings.Contains(inner.Error(), "within a step") {
		t.Errorf("the inner step says %v", inner)
	}
	if s.Ticks() != 2 {
		t.Errorf("%d ticks, want 2", s.Ticks())
	}
}

func TestNaNIsNamed(t *testing.T) {
	for _, c := range []struct {
		name  string
		write func(s *evertick.Sim, heat []float32, slot ecs.Slot)
		phase string
		names string
	}{
		{"position.x", func(s *evertick.Sim, _ []float32, i ecs.Slot) { s.World.Position.X[i] = nan }, "spatial.build", "position.x of ent_2"},
		{"position.y", func(s *evertick.Sim, _ []float32, i ecs.Slot) { s.World.Position.Y[i] = nan }, "spatial.build", "position.y of ent_2"},
		{"position.z", func(s *evertick.Sim, _ []float32, i ecs.Slot) { s.World.Position.Z[i] = nan }, "spatial.build", "position.z of ent_2"},
		{"infinite", func(s *evertick.Sim, _ []float32, i ecs.Slot) { s.World.Position.Z[i] = float32(math.Inf(-1)) }, "spatial.build", "position.z of ent_2 = -Inf"},
		{"rotation", func(s *evertick.Sim, _ []float32, i ecs.Slot) { s.World.Rotation.W[i] = nan }, "state.hash", "rotation.w of ent_2"},
		{"scale", func(s *evertick.Sim, _ []float32, i ecs.Slot) { s.World.Scale.Y[i] = nan }, "state.hash", "scale.y of ent_2"},
		{"user column", func(_ *evertick.Sim, heat []float32, i ecs.Slot) { heat[i] = nan }, "state.hash", "heat of ent_2"},
	} {
		t.Run(c.name+"/by hand", func(t *testing.T) {
			s, heat, slot := threeEntities(t)
			step(t, s, 3)
			c.write(s, heat, slot)
			wantError(t, s.Step(), evertick.ErrNotFinite, "tick 3", c.phase, "column "+c.names)
		})
		t.Run(c.name+"/by a system", func(t *testing.T) {
			s, heat, slot := threeEntities(t)
			add(t, s, evertick.BeforePhysics, "poison", func(tick *evertick.Tick) error {
				if tick.N == 5 {
					c.write(s, heat, slot)
				}
				return nil
			})
			step(t, s, 5)
			wantError(t, s.Step(), evertick.ErrNotFinite, "tick 5", c.phase, "column "+c.names)
		})
	}
}

// threeEntities is a Sim with a user column; slot is that of ent_2.
func threeEntities(t *testing.T) (s *evertick.Sim, heat []float32, slot ecs.Slot) {
	s = newSim(t, small())
	heat = column(t, s, "heat")
	spawn(t, s)
	slot = slotOf(t, s, spawn(t, s))
	spawn(t, s)
	return s, heat, slot
}

// A position that becomes NaN behind the index is found in the same tick.
func TestNaNBehindTheIndex(t *testing.T) {
	s, _, slot := threeEntities(t)
	add(t, s, evertick.AfterIndex, "poison", func(*evertick.Tick) error {
		s.World.Position.X[slot] = nan
		return nil
	})
	wantError(t, s.Step(), evertick.ErrNotFinite, "tick 0", "state.hash", "column position.x of ent_2")
}

// What a kernel over whole columns writes into free rows is nobody's fault.
func TestNaNInAFreeRowPasses(t *testing.T) {
	s, heat, slot := threeEntities(t)
	s.World.Despawn(2)
	s.World.Position.X[slot], heat[slot] = nan, nan
	step(t, s, 2)
}
