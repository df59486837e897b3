package sims3

import (
	"fmt"
	"math"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/scenes"
	"github.com/evertick/evertick/internal/simtest"
	"github.com/evertick/evertick/native"
)

func newCapstone(t testing.TB, c evertick.Config) *scenes.Sim {
	t.Helper()
	d, ok := scenes.FindSim("capstone3")
	if !ok {
		t.Fatal("there is no scene capstone3")
	}
	s, err := d.New(d.Params, c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Every level and number of workers has the hashes of pure Go.
func TestSameHashes(t *testing.T) {
	const ticks = 60
	want := newCapstone(t, evertick.Config{Seed: 7, Level: native.Go})
	simtest.Step(t, want.Sim, ticks)
	for _, level := range native.Levels() {
		for workers := 1; workers <= 2; workers++ {
			s := newCapstone(t, evertick.Config{Seed: 7, Level: level, Workers: workers})
			simtest.Step(t, s.Sim, ticks)
			if s.Hash() != want.Hash() {
				d, _ := evertick.Diff(want.Sim, s.Sim)
				t.Errorf("level %v, %d workers: %v", level, workers, d)
			}
		}
	}
}

// Bodies keep moving, roll and tumble, none leaves the walls or falls through the floor, and a tick allocates nothing.
func TestCapstoneStaysAlive(t *testing.T) {
	s := newCapstone(t, evertick.Config{Seed: 3})
	simtest.Step(t, s.Sim, 200)
	w := s.World
	before := append([]float32(nil), w.Rotation.W...)
	was := append([]float32(nil), w.Position.X...)
	if n := testing.AllocsPerRun(60, func() { simtest.Step(t, s.Sim, 1) }); n != 0 {
		t.Errorf("%g allocations in a tick", n)
	}
	moved, turned := 0, 0
	for slot := range ecs.Slot(s.Params.Agents + s.Params.Bodies) {
		x, y, z := w.Position.X[slot], w.Position.Y[slot], w.Position.Z[slot]
		if half := s.Params.Area / 2; max(x, -x, z, -z) > half || y < 0 || y > 20 {
			t.Errorf("slot %d is at (%g, %g, %g)", slot, x, y, z)
		}
		if int(slot) < s.Params.Agents {
			continue
		}
		if math.Abs(float64(x-was[slot])) > 0.05 {
			moved++
		}
		if w.Rotation.W[slot] != before[slot] {
			turned++
		}
	}
	if text := fmt.Sprintf("%d bodies have moved and %d turned, of %d", moved, turned, s.Params.Bodies); moved < 200 || turned < 200 {
		t.Error(text)
	} else {
		t.Log(text)
	}
}
