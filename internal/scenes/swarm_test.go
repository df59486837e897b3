package scenes

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/spatial"
)

// newTestSwarm builds a swarm with some bodies, and returns what it keeps for itself as well.
func newTestSwarm(t *testing.T, p Params, cfg evertick.Config) (*Sim, *swarm) {
	t.Helper()
	d, _ := FindSim("swarm")
	p.Radius = d.Params.Radius
	s, err := d.New(p, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s, s.swarm
}

// The accelerations of boids are the bits of a plain loop over the rows of their neighbours, in every spread, with bodies
// and without, on every level.
func TestSwarmIsAPlainLoopOverRows(t *testing.T) {
	for _, spread := range Spreads {
		for _, bodies := range []int{0, 300} {
			for _, level := range native.Levels() {
				s, w := newTestSwarm(t, Params{Entities: 2500, Bodies: bodies, Spread: spread}, evertick.Config{Seed: 5, Level: level, Workers: 2})
				met := false
				for range 3 {
					advance(t, s, 2)
					want, near := plainAccelerations(t, w)
					met = met || near > 5*w.n
					for axis, got := range [3][]float32{w.acc.X, w.acc.Y, w.acc.Z} {
						for slot := range w.n {
							if math.Float32bits(got[slot]) != math.Float32bits(want[axis][slot]) {
								t.Fatalf("%s, %d bodies, level %v, tick %d: boid %d accelerates by %g along axis %d, the loop says %g",
									spread, bodies, level, s.Ticks(), slot, got[slot], axis, want[axis][slot])
							}
						}
					}
					if got := s.Counters[0].Read(); got != int64(near) {
						t.Errorf("%s: %d neighbours, %d in rows", spread, got, near)
					}
				}
				if !met && spread != "tail" {
					t.Errorf("%s, %d bodies: fewer than five neighbours a boid", spread, bodies)
				}
			}
		}
	}
}

// plainAccelerations returns what boids decide after a tick, and the number of their neighbours, from rows alone.
func plainAccelerations(t *testing.T, w *swarm) (want [3][]float32, near int) {
	t.Helper()
	var rows spatial.Result
	if err := w.sim.Index.RadiusSelf(&spatial.Self{Radius: w.ask.Radius, Order: spatial.Grid}, &rows); err != nil {
		t.Fatal(err)
	}
	p := w.positions()
	pos, vel := [3][]float32{p.X, p.Y, p.Z}, [3][]float32{w.vel.X, w.vel.Y, w.vel.Z}
	home := [3][]float32{w.home.X, w.home.Y, w.home.Z}
	for axis := range want {
		want[axis] = make([]float32, w.n)
	}
	for row := range rows.Len() {
		self, others := rows.Of[row], rows.Row(row)
		if int(self) >= w.n {
			continue
		}
		near += len(others)
		var away, mid, course [3]float32
		for _, other := range others {
			var d [3]float32
			for axis := range d {
				d[axis] = pos[axis][other] - pos[axis][self]
			}
			push := 1 / (float32(float32(d[0]*d[0])+float32(d[1]*d[1])) + float32(d[2]*d[2]) + swarmSoft)
			for axis := range d {
				away[axis] += float32(d[axis] * push)
				mid[axis] += d[axis]
				course[axis] += vel[axis][other] - vel[axis][self]
			}
		}
		for axis := range want {
			a := float32(0)
			if n := float32(len(others)); n > 0 {
				a = course[axis] / n
				mid[axis] /= n
			}
			a += float32(mid[axis] * swarmClose)
			a += float32(away[axis] * -swarmApart)
			if !w.wraps {
				a += float32(home[axis][self] * swarmHome)
				a += float32(pos[axis][self] * -swarmHome)
			}
			want[axis][self] = a
		}
	}
	return want, near
}

// The bodies of a swarm move as those of an arena alone, and their entities have their velocities.
func TestBodiesOfASwarm(t *testing.T) {
	const n, bodies, ticks = 500, 200, 40
	alone, err := New("arena", bodies, 9, physics.Config{})
	if err != nil {
		t.Fatal(err)
	}
	s, w := newTestSwarm(t, Params{Entities: n, Bodies: bodies, Spread: "uniform"}, evertick.Config{Seed: 9})
	for range ticks {
		if err := alone.Step(); err != nil {
			t.Fatal(err)
		}
	}
	advance(t, s, ticks)
	got, want, pos := s.Physics.Columns(), alone.World.Columns(), &s.World.Position
	perceived := 0
	for k, b := range w.arena.Bodies {
		i, slot := b.Index(), n+fixtures/2+k // the walls have an entity, too
		if got.X[i] != want.X[i] || got.Y[i] != want.Y[i] || got.VX[i] != want.VX[i] {
			t.Fatalf("body %d differs from that of the arena", k)
		}
		if pos.X[slot] != got.X[i] || pos.Y[slot] != 0 || pos.Z[slot] != got.Y[i] || w.vel.X[slot] != got.VX[i] || w.vel.Y[slot] != 0 || w.vel.Z[slot] != got.VY[i] {
			t.Fatalf("the entity in slot %d does not move as body %d does", slot, k)
		}
		perceived += int(w.sums.Counts[slot])
	}
	if perceived < 2*bodies {
		t.Errorf("bodies have %d neighbours", perceived)
	}
}

// Boids keep their spread: the quantiles of their distances from the middle.
func TestSpreadsOfASwarm(t *testing.T) {
	const n = 8192
	for _, c := range []struct {
		spread      string
		median, far [2]float64 // of the distances, and that of the farthest hundredth, in edges of the box
		near        [2]float64 // neighbours of a boid
	}{
		{"uniform", [2]float64{0.4, 0.6}, [2]float64{0.6, 0.87}, [2]float64{8, 20}},
		{"clusters", [2]float64{0.4, 1.2}, [2]float64{0.7, 1.8}, [2]float64{8, 32}},
		{"tail", [2]float64{0.4, 0.9}, [2]float64{15, 70}, [2]float64{1, 10}},
	} {
		s, w := newTestSwarm(t, Params{Entities: n, Spread: c.spread}, evertick.Config{Seed: 2})
		for range 2 {
			advance(t, s, 40)
			var away []float64
			for slot := range n {
				x, y, z := float64(s.World.Position.X[slot]), float64(s.World.Position.Y[slot]), float64(s.World.Position.Z[slot])
				away = append(away, math.Sqrt(x*x+y*y+z*z)/float64(w.box[0]))
			}
			slices.Sort(away)
			median, far, near := away[n/2], away[n-n/100], float64(s.Counters[0].Read())/n
			if median < c.median[0] || median > c.median[1] || far < c.far[0] || far > c.far[1] || near < c.near[0] || near > c.near[1] {
				t.Errorf("%s, tick %d: median %.2f, a hundredth beyond %.2f, %.1f neighbours", c.spread, s.Ticks(), median, far, near)
			}
		}
	}
}

func TestSwarmRefusesOtherSpreads(t *testing.T) {
	d, _ := FindSim("swarm")
	p := d.Params
	p.Spread = "even"
	if _, err := d.New(p, evertick.Config{}); !errors.Is(err, fault.ErrRange) {
		t.Error(err)
	}
}
