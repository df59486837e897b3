package scenes_test

import (
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/scenes"
	"github.com/evertick/evertick/physics"
)

// In a Sim, bodies move as they do alone, and each has its entity.
func TestSimOfBodies(t *testing.T) {
	for _, d := range scenes.Bodies() {
		alone, err := scenes.New(d.Name, 4, 3, physics.Config{})
		if err != nil {
			t.Fatal(err)
		}
		sim, err := scenes.NewSim(d.Name, 4, evertick.Config{Seed: 3, Physics: physics.Config{DisableSleep: !d.Sleeps, DisableContinuous: !d.Continuous}})
		if err != nil {
			t.Fatal(err)
		}
		for range 40 {
			if err := alone.Step(); err != nil {
				t.Fatal(err)
			}
			if err := sim.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if sim.World.Len() != sim.Physics.Len() || sim.Physics.Len() < 4 {
			t.Errorf("%s: %d entities of %d bodies", d.Name, sim.World.Len(), sim.Physics.Len())
		}
		want := alone.World.AppendColumnHashes(nil)
		for i, got := range sim.Physics.AppendColumnHashes(nil) {
			if got != want[i] && got.Name != "Slot" { // alone, bodies have no entity
				t.Errorf("%s: column %s differs", d.Name, got.Name)
			}
		}
	}
	if _, err := scenes.NewSim("arena", 0, evertick.Config{}); err == nil {
		t.Error("a scene of nothing is built")
	}
}
