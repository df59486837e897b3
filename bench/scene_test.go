package main

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/physics"
)

func newTestScene(t testing.TB, name string, seed uint64) *scene {
	t.Helper()
	return configuredScene(t, name, evertick.Config{Seed: seed})
}

func configuredScene(t testing.TB, name string, cfg evertick.Config) *scene {
	t.Helper()
	p, err := sceneParams(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newScene(p, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func advance(t testing.TB, s *scene, ticks int) {
	t.Helper()
	for range ticks {
		if err := s.sim.Step(); err != nil {
			t.Fatal(err)
		}
	}
}

// columnText is a hash as the reports print it.
func columnText(hash uint64) string { return fmt.Sprintf("%016x", hash) }

func TestPopulation(t *testing.T) {
	for _, name := range sceneNames {
		s := newTestScene(t, name, 1)
		if got := s.sim.World.Len(); got != 2000 {
			t.Errorf("%s: %d entities", name, got)
		}
		if got := s.sim.Physics.Len(); got != 256+1 { // and the walls
			t.Errorf("%s: %d bodies with the walls", name, got)
		}
		for tag, want := range map[string]int{"agent": 200, "body": 256, "scenery": 1544} {
			if got, err := s.sim.World.Tag(tag); err != nil || got.Count() != want {
				t.Errorf("%s: %d of %s, want %d, %v", name, got.Count(), tag, want, err)
			}
		}
	}
}

// The capstone is what it says: everybody perceives in every tick, and finds
// somebody.
func TestEveryAgentPerceives(t *testing.T) {
	s := newTestScene(t, "capstone", 1)
	for n := range 40 {
		advance(t, s, 1)
		if got := s.perceived.Len(); got != 200 {
			t.Fatalf("tick %d: %d queries", n, got)
		}
		for row := range 200 {
			if s.perceiver[row] != (row+int(uint64(n)*200%200))%200 || s.queries.Exclude[row] != s.agentAt[s.perceiver[row]] {
				t.Fatalf("tick %d: row %d is the query of agent %d", n, row, s.perceiver[row])
			}
		}
		if mean := float64(len(s.perceived.Slots)) / 200; mean < 20 || mean > 60 {
			t.Errorf("tick %d: %.1f neighbours each", n, mean)
		}
	}
}

// Bodies keep moving, and nothing leaves the walls.
func TestCapstoneStaysAlive(t *testing.T) {
	s := newTestScene(t, "capstone", 1)
	checkAlive(t, s, parityTicks)
	if testing.Short() || parityTicks < 600 {
		t.Log("not run: 3000 ticks: -short, or an instrumented build")
		return
	}
	checkAlive(t, s, 3000-parityTicks)
}

func checkAlive(t *testing.T, s *scene, ticks int) {
	t.Helper()
	advance(t, s, ticks)
	var mean float64
	moving := 0
	for _, id := range s.bodyIDs {
		b, ok := s.sim.Body(id)
		v, _, err := s.sim.Physics.Velocity(b)
		if !ok || err != nil {
			t.Fatalf("%s has body %t, %v", id, ok, err)
		}
		speed := math.Hypot(float64(v[0]), float64(v[1]))
		mean += speed / float64(len(s.bodyIDs))
		if speed > 0.1 {
			moving++
		}
	}
	t.Logf("after %d ticks bodies move at %.2f m/s, %d of %d faster than 0.1", s.sim.Ticks(), mean, moving, len(s.bodyIDs))
	if mean < 1 || moving < len(s.bodyIDs)*9/10 {
		t.Errorf("after %d ticks bodies move at %g m/s on average, %d of %d at all", s.sim.Ticks(), mean, moving, len(s.bodyIDs))
	}
	x, z := s.sim.World.Position.X, s.sim.World.Position.Z
	for slot, kind := range s.kinds[:s.sim.World.HighWater()] {
		if max(math.Abs(float64(x[slot])), math.Abs(float64(z[slot]))) > float64(s.area/2) {
			t.Errorf("after %d ticks slot %d, kind %d, is at (%g, %g), outside the walls", s.sim.Ticks(), slot, kind, x[slot], z[slot])
		}
	}
}

// Under limina 26 agents perceive in a tick, by turns, and no body moves.
func TestLiminaRests(t *testing.T) {
	s := newTestScene(t, "limina", 1)
	asked := map[int]int{}
	count := func(ticks int) {
		for range ticks {
			advance(t, s, 1)
			if got := s.perceived.Len(); got != 26 {
				t.Fatalf("tick %d: %d queries, want 26", s.sim.Ticks(), got)
			}
			for _, a := range s.perceiver {
				asked[a]++
			}
		}
	}
	count(60)
	rest := bodyState(s)
	count(140)
	if now := bodyState(s); !slices.Equal(now, rest) {
		t.Error("bodies have moved between tick 60 and tick 200")
	}
	for a := range s.agents {
		if asked[a] != 26 {
			t.Errorf("in 200 ticks agent %d perceived %d times, want 26", a, asked[a])
		}
	}
}

// bodyState is what the body columns hold of motion, as one list.
func bodyState(s *scene) []float32 {
	c, n := s.sim.Physics.Columns(), s.sim.Physics.Rows()
	return slices.Concat(c.X[:n], c.Y[:n], c.Angle[:n], c.VX[:n], c.VY[:n], c.W[:n])
}

// Agents do not notice bodies: with an engine that knows no contacts they do the
// same.
func TestAgentsIgnoreBodies(t *testing.T) {
	solid := newTestScene(t, "capstone", 1)
	fake := configuredScene(t, "capstone", evertick.Config{Seed: 1, Physics: physics.Config{Engine: &fakeEngine{}}})
	for n := range 60 {
		advance(t, solid, 1)
		advance(t, fake, 1)
		if solid.bodilessHash() != fake.bodilessHash() {
			t.Fatalf("tick %d: the rows without bodies depend on the physics engine", n)
		}
	}
	if solid.sim.Hash() == fake.sim.Hash() {
		t.Error("the fake engine moves bodies as the real one does")
	}
}
