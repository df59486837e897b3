package physics3_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/physics3"
)

// hills is a ground of 32 by 32 cells of one metre, some of which are holes, as a field, as a terrain of four tiles, or as a mesh.
type hills struct {
	height [33][33]float32
	hole   [32][32]bool
}

func newHills(rng *rand.Rand) *hills {
	h := &hills{}
	a, b := between(rng, 0.3, 0.7), between(rng, 0, 6)
	for i := range h.height {
		for k := range h.height[i] {
			h.height[i][k] = float32(math.Sin(float64(a)*float64(i)+float64(b)))*float32(math.Cos(0.5*float64(k))) + between(rng, -0.2, 0.2)
		}
	}
	for range 40 {
		h.hole[rng.IntN(32)][rng.IntN(32)] = true
	}
	return h
}

// field makes a field of n by n cells from a sample on.
func (h *hills) field(i0, k0, n int) *physics3.HeightField {
	d := fieldDef(n+1, n+1, [2]float32{1, 1}, func(i, k int) float32 { return h.height[i0+i][k0+k] })
	d.Holes = make([]bool, n*n)
	for i := range d.Holes {
		d.Holes[i] = h.hole[i0+i%n][k0+i/n]
	}
	return newField(d)
}

func (h *hills) mesh() *physics3.Mesh {
	var d physics3.MeshDef
	for k := range 33 {
		for i := range 33 {
			d.Vertices = append(d.Vertices, vec{float32(i), h.height[i][k], float32(k)})
			if a := uint32(33*k + i); i < 32 && k < 32 && !h.hole[i][k] {
				d.Triangles = append(d.Triangles, [3]uint32{a, a + 33, a + 1}, [3]uint32{a + 1, a + 33, a + 34})
			}
		}
	}
	return newMesh(d)
}

// add makes the ground, of one of three kinds.
func (h *hills) add(t testing.TB, w *physics3.World, kind int) {
	t.Helper()
	b := bodyAt(t, w, physics3.BodyType(kind/3), 0, 0, 0)
	switch kind % 3 {
	case 0:
		must[physics3.Shape](t)(w.CreateHeightField(b, plain, h.field(0, 0, 32), physics3.Placement{}))
	case 1:
		var tiles []physics3.TerrainTile
		for n := range 4 {
			tiles = append(tiles, physics3.TerrainTile{Field: h.field(n%2*16, n/2*16, 16), X: n % 2, Z: n / 2})
		}
		must[physics3.Shape](t)(w.CreateTerrain(b, plain, newTerrain(t, tiles...), physics3.Placement{}))
	case 2:
		must[physics3.Shape](t)(w.CreateMesh(b, plain, h.mesh(), physics3.Placement{}))
	}
}

// depth returns how far a place is below the ground, and whether there is ground.
func (h *hills) depth(p vec) (depth float32, on bool) {
	if !(p[0] > 0 && p[0] < 32 && p[2] > 0 && p[2] < 32) {
		return 0, false
	}
	i, k := int(p[0]), int(p[2])
	u, v := p[0]-float32(i), p[2]-float32(k)
	a, b, c, d := h.height[i][k], h.height[i+1][k], h.height[i][k+1], h.height[i+1][k+1]
	at := a + u*(b-a) + v*(c-a)
	if u+v > 1 {
		at = d + (1-u)*(c-d) + (1-v)*(b-d)
	}
	// A centre that is at the border of a hole may pass there.
	const near = 0.02
	for _, x := range [...]float32{p[0] - near, p[0] + near} {
		for _, z := range [...]float32{p[2] - near, p[2] + near} {
			if n, m := int(max(x, 0)), int(max(z, 0)); n < 32 && m < 32 && h.hole[n][m] {
				return at - p[1], false
			}
		}
	}
	return at - p[1], true
}

// passes reports whether a centre passes the ground on its way, where there is ground, and whether it is out of the ground's way then: beside or below it.
// A centre that is below the ground's level in a hole, by however little, comes at the next triangles from their backs, which stop nothing.
func (h *hills) passes(from, to vec) (bad, gone bool) {
	const parts = 400
	for n := range parts + 1 {
		f := float32(n) / parts
		p := vec{from[0] + f*(to[0]-from[0]), from[1] + f*(to[1]-from[1]), from[2] + f*(to[2]-from[2])}
		if depth, on := h.depth(p); !(p[0] > 0 && p[0] < 32 && p[2] > 0 && p[2] < 32) || depth > 0.02 || !on && depth > 0 {
			return on, true
		}
	}
	return false, false
}

// Nothing fast falls through the ground but through its holes: balls, capsules, boxes, hulls and bars that turn, at 10 to 200 m/s, on fields, terrains and
// meshes that are static, or kinematic.
func TestNothingFastFallsThroughTerrain(t *testing.T) {
	for kind := range 6 {
		rng := rand.New(rand.NewPCG(paritytest.Seed(), uint64(50+kind)))
		n := paritytest.Rounds(9000) / 10
		h := newHills(rng)
		w := emptyWorld(t, physics3.Config{Capacity: n + 1, Gravity: vec{0, -10, 0}, DisableSleep: true})
		h.add(t, w, kind)
		var bodies []physics3.Body
		var last []vec
		for i := range n {
			at := vec{between(rng, 2, 30), between(rng, 2.5, 6), between(rng, 2, 30)}
			d := dynamicAt(at[0], at[1], at[2])
			speed := between(rng, 10, 200)
			v := vec{between(rng, -1, 1), between(rng, -1, 0.1), between(rng, -1, 1)}
			if i%4 == 0 { // grazing
				v[1] /= 10
			}
			d.LinearVelocity = times(v, speed/float32(norm(v[:]...)))
			if i%3 > 0 {
				d.AngularVelocity = vec{between(rng, -60, 60), between(rng, -60, 60), between(rng, -60, 60)}
			}
			var b physics3.Body
			if i%5 == 4 {
				d.AngularVelocity = vec{between(rng, -90, 90), 0, between(rng, -90, 90)}
				b = bodyOf(t, w, d)
				box(t, w, b, plain, between(rng, 0.3, 0.8), 0.03, 0.03)
			} else {
				b = addProjectile(t, w, rng, i%5, d)
			}
			bodies, last = append(bodies, b), append(last, must[vec](t)(w.WorldCenter(b)))
		}
		gone := make([]bool, n)
		holes := 0
		for step := range 60 {
			no(t, w.Step(dt))
			for i, b := range bodies {
				if gone[i] {
					continue
				}
				c := must[vec](t)(w.WorldCenter(b))
				bad, left := h.passes(last[i], c)
				if bad {
					t.Fatalf("ground %d, step %d: body %d passes the ground between %v and %v (seed %d)", kind, step, i, last[i], c, paritytest.Seed())
				}
				if gone[i] = left; left && c[1] < 0 {
					holes++
				}
				last[i] = c
			}
		}
		if left := n - holes; left < n/3 {
			t.Errorf("ground %d: %d of %d went through holes", kind, holes, n)
		}
	}
}
