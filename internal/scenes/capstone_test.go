package scenes

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
)

// configured builds a simulation with its usual parameters.
func configured(t testing.TB, name string, cfg evertick.Config) *Sim {
	t.Helper()
	d, ok := FindSim(name)
	if !ok {
		t.Fatalf("no scene %s", name)
	}
	s, err := d.New(d.Params, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newTestScene(t testing.TB, name string, seed uint64) *Sim {
	t.Helper()
	return configured(t, name, evertick.Config{Seed: seed})
}

func advance(t testing.TB, s *Sim, ticks int) {
	t.Helper()
	for range ticks {
		if err := s.Step(); err != nil {
			t.Fatal(err)
		}
	}
}

// longRun is the number of ticks of long runs: ticks take ten times longer in instrumented builds.
func longRun() int {
	if paritytest.Instrumented {
		return 60
	}
	return 600
}

func TestPopulation(t *testing.T) {
	for _, name := range []string{"capstone", "limina"} {
		s := newTestScene(t, name, 1)
		if got := s.World.Len(); got != 2000 {
			t.Errorf("%s: %d entities", name, got)
		}
		if got := s.Physics.Len(); got != 256+1 { // and the walls
			t.Errorf("%s: %d bodies with the walls", name, got)
		}
		for tag, want := range map[string]int{"agent": 200, "body": 256, "scenery": 1544} {
			if got, err := s.World.Tag(tag); err != nil || got.Count() != want {
				t.Errorf("%s: %d of %s, want %d, %v", name, got.Count(), tag, want, err)
			}
		}
	}
}

// All agents of the capstone perceive in every tick, and what they perceive is everything within the radius.
func TestEveryAgentPerceives(t *testing.T) {
	s := newTestScene(t, "capstone", 1)
	x, y, z := s.World.Position.X, s.World.Position.Y, s.World.Position.Z
	for n := range 40 {
		advance(t, s, 1)
		if got := s.agents.around.Len(); got != 200 {
			t.Fatalf("tick %d: %d agents perceive", n, got)
		}
		for row, slot := range s.agents.agentAt {
			var want []uint32
			for other := range ecs.Slot(s.World.HighWater()) {
				dx, dy, dz := x[other]-x[slot], y[other]-y[slot], z[other]-z[slot]
				if other != slot && float32(float32(dx*dx)+float32(dy*dy))+float32(dz*dz) <= s.Params.Radius*s.Params.Radius {
					want = append(want, other)
				}
			}
			if got := slices.Sorted(slices.Values(s.agents.around.Row(row))); !slices.Equal(got, want) {
				t.Fatalf("tick %d: agent %d perceives %d, want %d", n, row, got, want)
			}
		}
		if mean := float64(len(s.agents.around.Slots)) / 200; mean < 20 || mean > 60 {
			t.Errorf("tick %d: %.1f neighbours each", n, mean)
		}
	}
}

// Bodies keep moving, and nothing leaves the walls.
func TestCapstoneStaysAlive(t *testing.T) {
	s := newTestScene(t, "capstone", 1)
	checkAlive(t, s, longRun())
	if testing.Short() || longRun() < 600 {
		t.Log("not run: 3000 ticks: -short, or an instrumented build")
		return
	}
	checkAlive(t, s, 3000-longRun())
}

func checkAlive(t *testing.T, s *Sim, ticks int) {
	t.Helper()
	advance(t, s, ticks)
	var mean float64
	moving := 0
	for _, id := range s.agents.bodyIDs {
		b, ok := s.Body(id)
		v, _, err := s.Physics.Velocity(b)
		if !ok || err != nil {
			t.Fatalf("%s has body %t, %v", id, ok, err)
		}
		speed := math.Hypot(float64(v[0]), float64(v[1]))
		mean += speed / float64(len(s.agents.bodyIDs))
		if speed > 0.1 {
			moving++
		}
	}
	t.Logf("after %d ticks bodies move at %.2f m/s, %d of %d faster than 0.1", s.Ticks(), mean, moving, len(s.agents.bodyIDs))
	if mean < 1 || moving < len(s.agents.bodyIDs)*9/10 {
		t.Errorf("after %d ticks bodies move at %g m/s on average, %d of %d at all", s.Ticks(), mean, moving, len(s.agents.bodyIDs))
	}
	x, z := s.World.Position.X, s.World.Position.Z
	for slot, kind := range s.agents.kinds[:s.World.HighWater()] {
		if max(math.Abs(float64(x[slot])), math.Abs(float64(z[slot]))) > float64(s.Params.Area/2) {
			t.Errorf("after %d ticks slot %d, kind %d, is at (%g, %g), outside the walls", s.Ticks(), slot, kind, x[slot], z[slot])
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
			if got := s.agents.around.Len(); got != 26 {
				t.Fatalf("tick %d: %d agents perceive, want 26", s.Ticks(), got)
			}
			for row := range 26 {
				asked[(26*int(s.Ticks()-1)+row)%200]++
			}
		}
	}
	count(60)
	rest := bodyState(s)
	count(140)
	if now := bodyState(s); !slices.Equal(now, rest) {
		t.Error("bodies have moved between tick 60 and tick 200")
	}
	for a := range s.Params.Agents {
		if asked[a] != 26 {
			t.Errorf("in 200 ticks agent %d perceived %d times, want 26", a, asked[a])
		}
	}
}

// bodyState is what the body columns hold of motion, as one list.
func bodyState(s *Sim) []float32 {
	c, n := s.Physics.Columns(), s.Physics.Rows()
	return slices.Concat(c.X[:n], c.Y[:n], c.Angle[:n], c.VX[:n], c.VY[:n], c.W[:n])
}

// Agents do not react to bodies: with an engine without contacts they do the same.
func TestAgentsIgnoreBodies(t *testing.T) {
	solid := newTestScene(t, "capstone", 1)
	fake := configured(t, "capstone", evertick.Config{Seed: 1, Physics: physics.Config{Engine: &fakeEngine{}}})
	for n := range 60 {
		advance(t, solid, 1)
		advance(t, fake, 1)
		if solid.HashWithoutBodies() != fake.HashWithoutBodies() {
			t.Fatalf("tick %d: the rows without bodies depend on the physics engine", n)
		}
	}
	if solid.Hash() == fake.Hash() {
		t.Error("the fake engine moves bodies as the real one does")
	}
}

// A bit in the row of an agent changes the hash, one in the row of a body does not.
func TestHashWithoutBodies(t *testing.T) {
	s := newTestScene(t, "capstone", 1)
	w := s.World
	before := s.HashWithoutBodies()
	bodySlot, _ := w.Slot(s.agents.bodyIDs[3])
	for name, column := range map[string][]float32{
		"position.x": w.Position.X, "position.y": w.Position.Y, "position.z": w.Position.Z,
		"rotation.x": w.Rotation.X, "rotation.y": w.Rotation.Y, "rotation.z": w.Rotation.Z, "rotation.w": w.Rotation.W,
		"scale.x": w.Scale.X, "scale.y": w.Scale.Y, "scale.z": w.Scale.Z,
		"velocity.x": s.agents.velX, "velocity.z": s.agents.velZ,
	} {
		for slot, changes := range map[ecs.Slot]bool{s.agents.agentAt[5]: true, bodySlot: false} {
			old := column[slot]
			column[slot]++
			if got := s.HashWithoutBodies() != before; got != changes {
				t.Errorf("%s[%d]: the hash changes: %t, want %t", name, slot, got, changes)
			}
			column[slot] = old
		}
	}
}

// fakeEngine moves bodies by their velocity, without contacts and without allocating. It embeds the
// interface for the methods that no scene calls.
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
	f.cols.X[i], f.cols.Y[i], f.cols.Cos[i] = d.Position[0], d.Position[1], 1
	return nil
}

func (f *fakeEngine) CreateCircle(_, _ int, _ *physics.ShapeDef, _ physics.Circle) error { return nil }

func (f *fakeEngine) CreatePolygon(_, _ int, _ *physics.ShapeDef, _ physics.Polygon) error {
	return nil
}

func (f *fakeEngine) CreateSegment(_, _ int, _ *physics.ShapeDef, _ physics.Segment) error {
	return nil
}

func (f *fakeEngine) ApplyLinearImpulseToCenter(i int, impulse [2]float32) error {
	f.cols.VX[i] += impulse[0]
	f.cols.VY[i] += impulse[1]
	return nil
}

func (f *fakeEngine) Step(dt float32) error {
	for i := range f.rows {
		f.cols.X[i] += float32(f.cols.VX[i] * dt)
		f.cols.Y[i] += float32(f.cols.VY[i] * dt)
	}
	return nil
}

// A step of the capstone allocates nothing.
func TestStepAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	for _, level := range native.Levels() {
		for _, workers := range []int{1, 2} {
			t.Run(fmt.Sprintf("level=%s/workers=%d", level, workers), func(t *testing.T) {
				s := configured(t, "capstone", evertick.Config{Seed: 1, Level: level, Workers: workers})
				advance(t, s, 300) // until the buffers have their size
				if n := testing.AllocsPerRun(100, func() { advance(t, s, 1) }); n != 0 {
					t.Errorf("%g allocations a step", n)
				}
			})
		}
	}
}
