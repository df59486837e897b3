package rigid

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func randomBodies(rng *rand.Rand, n int) *System {
	column := func() []float32 {
		c := make([]float32, n)
		for i := range c {
			c[i] = rng.Float32()
		}
		return c
	}
	s := &System{States: make([]State, n), Poses: Poses{column(), column(), column(), column()}, Bases: make([]BaseManifold, 1)}
	s.Bodies = Bodies{column(), column(), column(), column(), column(), column(), column(), column(), column(), column(), column(), column(), column(), column()}
	s.BodyOf = make([]uint32, 2*n)
	for i := range s.BodyOf {
		s.BodyOf[i] = uint32(rng.IntN(n))
	}
	return s
}

// TestPlaced: each body has a place of its own among those of its region, which begin with a pair of cache lines; Load and Store move all that the
// stages between them read and write; shapes have the places of their bodies.
func TestPlaced(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 4))
		n, regions := 1+rng.IntN(500), 1+rng.IntN(6)
		s := randomBodies(rng, n)
		var p Placed
		for range 2 {
			p.Of = make([]uint8, n)
			for i := range p.Of {
				p.Of[i] = uint8(rng.IntN(regions))
			}
			p.Place(regions)
			p.Begin(s)
			p.PlaceShapes(s, 0, len(s.BodyOf))
			seen := make([]bool, n)
			for region := range regions {
				rows := p.Rows[region]
				p.Load(s, rows.Lo, rows.Hi)
				if rows.Lo%regionPlaces != 0 {
					t.Fatalf("seed %d: region %d begins at place %d", seed, region, rows.Lo)
				}
				for k := rows.Lo; k < rows.Hi; k++ {
					i := p.row[k]
					if seen[i] || int(p.place[i]) != k || int(p.Of[i]) != region {
						t.Fatalf("seed %d: body %d of region %d is at place %d of region %d", seed, i, p.Of[i], k, region)
					}
					seen[i] = true
					b, q := &s.Bodies, &p.Bodies
					want := State{VX: b.VX[i], VY: b.VY[i], W: b.W[i], InvMass: b.InvMass[i], C: 1}
					if p.States[k] != want || q.InvInertia[k] != b.InvInertia[i] || q.ForceX[k] != b.ForceX[i] || q.ForceY[k] != b.ForceY[i] ||
						q.Torque[k] != b.Torque[i] || q.GravityScale[k] != b.GravityScale[i] || q.LinearDamping[k] != b.LinearDamping[i] ||
						q.AngularDamping[k] != b.AngularDamping[i] || p.Poses.Cos[k] != s.Poses.Cos[i] || p.Poses.Sin[k] != s.Poses.Sin[i] {
						t.Fatalf("seed %d: place %d differs from body %d", seed, k, i)
					}
					p.States[k].DX = float32(i)
				}
			}
			if slices.Contains(seen, false) {
				t.Fatalf("seed %d: a body has no place", seed)
			}
			for i, body := range s.BodyOf {
				if p.BodyOf[i] != p.place[body] {
					t.Fatalf("seed %d: shape %d has place %d, its body %d", seed, i, p.BodyOf[i], p.place[body])
				}
			}
			for _, rows := range p.Rows[:regions] {
				p.Store(s, rows.Lo, rows.Hi)
			}
			for i := range s.States {
				if s.States[i].DX != float32(i) {
					t.Fatalf("seed %d: the state of body %d was not stored", seed, i)
				}
			}
		}
	}
}

func BenchmarkPlacedLoad(b *testing.B) {
	const n = 16384
	rng := rand.New(rand.NewPCG(1, 4))
	s := randomBodies(rng, n)
	var p Placed
	p.Of = make([]uint8, n)
	for i := range p.Of {
		p.Of[i] = uint8(rng.IntN(2))
	}
	p.Place(2)
	p.Begin(s)
	for b.Loop() {
		p.Load(s, p.Rows[0].Lo, p.Rows[0].Hi)
		p.Store(s, p.Rows[0].Lo, p.Rows[0].Hi)
	}
}
