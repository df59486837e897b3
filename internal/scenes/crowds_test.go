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
)

// sized builds a scene of a size.
func sized(t testing.TB, name string, n int, cfg evertick.Config) *Sim {
	t.Helper()
	d, _ := FindSim(name)
	d.Params.Entities = n
	s, err := d.New(d.Params, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The scenes compute the same on every level and with any number of workers. The swarm
// has more than one chunk.
func TestCrowdsSayTheSameBits(t *testing.T) {
	ticks, workerCounts := 12, []int{1, 2, 7}
	if paritytest.Instrumented {
		ticks, workerCounts = 4, []int{1, 7}
	}
	for name, n := range map[string]int{"swarm": blockRows + 100, "clusters": 3000, "churn": 1000} {
		var want [][]ecs.ColumnHash
		for _, level := range native.Levels() {
			for _, workers := range workerCounts {
				s := sized(t, name, n, evertick.Config{Seed: 3, Level: level, Workers: workers})
				var got [][]ecs.ColumnHash
				for range ticks {
					advance(t, s, 1)
					got = append(got, slices.Clone(s.ColumnHashes()))
				}
				if want == nil {
					want = got
				}
				for tick := range want {
					if !slices.Equal(want[tick], got[tick]) {
						t.Fatalf("%s: level %s with %d workers: after tick %d %v, want %v", name, level, workers, tick+1, got[tick], want[tick])
					}
				}
			}
		}
	}
}

// Boids stay in their cube and find about as many neighbours as the scene says, at first and
// after they have flown.
func TestSwarm(t *testing.T) {
	s := sized(t, "swarm", 2000, evertick.Config{Seed: 1})
	edge := float32(math.Cbrt(2000))
	for range 2 {
		advance(t, s, 60)
		pos := &s.World.Position
		for slot := range 2000 {
			for axis, v := range [3]float32{pos.X[slot], pos.Y[slot], pos.Z[slot]} {
				if v < -edge/2 || v > edge/2 {
					t.Fatalf("boid %d is at %g along axis %d of a cube of %g", slot, v, axis, edge)
				}
			}
		}
		// Boids near a face lack neighbours: the index does not wrap around.
		if mean := float64(s.Counters[0].Read()) / 2000; mean < 0.3*swarmNear || mean > 3*swarmNear {
			t.Errorf("after %d ticks %.1f neighbours each", s.Ticks(), mean)
		}
	}
}

// The blobs keep their width, and every entity queries in turn.
func TestClusters(t *testing.T) {
	const n = 4096
	s := sized(t, "clusters", n, evertick.Config{Seed: 1})
	home := columnOf(t, s, "home.x")
	crowd := columnOf(t, s, "crowd")
	for range 2 {
		advance(t, s, 100)
		var square float64
		for slot := range n {
			d := float64(s.World.Position.X[slot] - home[slot])
			square += d * d / n
		}
		if spread := math.Sqrt(square); spread < 0.9*clusterSpread || spread > 1.1*clusterSpread {
			t.Errorf("after %d ticks the blobs spread by %.2f m", s.Ticks(), spread)
		}
	}
	crowded := 0
	for _, c := range crowd[:n] {
		if c > 0 {
			crowded++
		}
	}
	if crowded < n*3/4 {
		t.Errorf("%d of %d have found a neighbour", crowded, n)
	}
}

func columnOf(t *testing.T, s *Sim, name string) []float32 {
	t.Helper()
	c, ok := ecs.FindColumn[float32](s.World, name)
	if !ok {
		t.Fatalf("no column %s", name)
	}
	return c.Values()
}

// After each tick as many are alive as before, about a tenth of them new, and some are hot and not
// cold.
func TestChurn(t *testing.T) {
	const n = 1000
	s := sized(t, "churn", n, evertick.Config{Seed: 1})
	last := s.World.Version()
	for range 50 {
		advance(t, s, 1)
		if live := s.World.Len(); live != n {
			t.Fatalf("tick %d: %d alive", s.Ticks(), live)
		}
		changed := float64(s.World.Version() - last)
		last = s.World.Version()
		if changed < 0.5*2*churnDeaths*n || changed > 2*2*churnDeaths*n {
			t.Errorf("tick %d: %g were born or died", s.Ticks(), changed)
		}
	}
	hot, _ := s.World.Tag("hot")
	cold, _ := s.World.Tag("cold")
	if hot.Count() < n/10 || hot.Count() > n*9/10 || cold.Count() < n/10 || cold.Count() > n*9/10 {
		t.Errorf("%d hot, %d cold of %d", hot.Count(), cold.Count(), n)
	}
}

// Steps of the swarm and the clusters allocate nothing; the births of churn take a page of ids now
// and then.
func TestCrowdsAllocateNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	for _, name := range []string{"swarm", "clusters"} {
		for _, workers := range []int{1, 2} {
			t.Run(fmt.Sprintf("%s/workers=%d", name, workers), func(t *testing.T) {
				s := sized(t, name, 5000, evertick.Config{Seed: 1, Workers: workers})
				advance(t, s, 1)
				// Buffers have their size when results no longer grow.
				n := testing.AllocsPerRun(200, func() { advance(t, s, 1) })
				if n >= 1 {
					t.Errorf("%g allocations a step", n)
				}
			})
		}
	}
}

// The smallest size works.
func TestCrowdsOfOne(t *testing.T) {
	for _, name := range []string{"swarm", "clusters", "churn"} {
		s := sized(t, name, 1, evertick.Config{Seed: 1})
		advance(t, s, 20)
		if s.World.Len() != 1 {
			t.Errorf("%s: %d alive", name, s.World.Len())
		}
	}
}
