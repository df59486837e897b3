package evertick_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/physics"
)

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
