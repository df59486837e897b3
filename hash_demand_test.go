package evertick_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
)

// demanded returns a Sim of a few entities whose speed grows, and their column.
func demanded(t *testing.T, onDemand bool, system func(*evertick.Tick) error) (*evertick.Sim, *ecs.Column[float32]) {
	t.Helper()
	s, err := evertick.New(evertick.Config{Capacity: 8, HashOnDemand: onDemand})
	if err != nil {
		t.Fatal(err)
	}
	speed, err := ecs.AddColumn[float32](s.World, "speed")
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := s.World.Spawn(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Add(evertick.BeforePhysics, "grow", func(tick *evertick.Tick) error {
		for i := range 3 {
			speed.Values()[i] += float32(i + 1)
		}
		if system != nil {
			return system(tick)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return s, speed
}

// Config.HashOnDemand gives the hashes of a Sim without it, whenever they are read: each tick, rarely, in AfterTick hooks,
// from a snapshot and from a copy.
func TestHashOnDemand(t *testing.T) {
	always, _ := demanded(t, false, nil)
	demand, _ := demanded(t, true, nil)
	rare, _ := demanded(t, true, nil)
	var hooked uint64
	demand.AddHooks(evertick.Hooks{AfterTick: func(tick *evertick.Tick) error {
		if tick.N%3 == 0 {
			hooked = tick.Sim.Hash()
		}
		return nil
	}})
	for n := range 10 {
		for _, s := range []*evertick.Sim{always, demand, rare} {
			if err := s.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if n%3 == 0 && hooked != always.Hash() {
			t.Fatalf("tick %d: the hook got %x, want %x", n, hooked, always.Hash())
		}
		if demand.Hash() != always.Hash() || !slices.Equal(demand.ColumnHashes(), always.ColumnHashes()) {
			t.Fatalf("tick %d: hash %x, want %x", n, demand.Hash(), always.Hash())
		}
	}
	data, err := rare.Snapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := always.Snapshot(nil)
	if !slices.Equal(data, want) {
		t.Error("the snapshots differ")
	}
	if err := rare.Step(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(demand.CopyFrom(rare), always.Step()); err != nil || demand.Hash() != always.Hash() {
		t.Errorf("a copy has hash %x, want %x; %v", demand.Hash(), always.Hash(), err)
	}
	if err := errors.Join(demand.Step(), demand.Restore(data)); err != nil || demand.Hash() == rare.Hash() || demand.Ticks() != 10 {
		t.Errorf("after Restore: tick %d, hash %x, %v", demand.Ticks(), demand.Hash(), err)
	}
	if _, found := evertick.Diff(always, rare); found {
		t.Error("equal Sims differ")
	}
}

// A NaN still ends the tick that has written it.
func TestHashOnDemandNaN(t *testing.T) {
	s, speed := demanded(t, true, nil)
	if err := s.Step(); err != nil {
		t.Fatal(err)
	}
	speed.Values()[1] = float32(math.NaN())
	if err := s.Step(); !errors.Is(err, evertick.ErrNotFinite) {
		t.Errorf("error %v", err)
	}
}

// Within a tick there is no hash of the last one.
func TestHashOnDemandWithinTick(t *testing.T) {
	s, _ := demanded(t, true, func(tick *evertick.Tick) error {
		if tick.N == 2 {
			tick.Sim.Hash()
		}
		return nil
	})
	for range 2 {
		if err := s.Step(); err != nil {
			t.Fatal(err)
		}
	}
	defer func() {
		if v := recover(); v != "evertick: Hash or ColumnHashes within a tick of a Sim with Config.HashOnDemand" {
			t.Errorf("panic %v", v)
		}
	}()
	_ = s.Step()
}
