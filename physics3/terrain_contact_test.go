package physics3_test

import (
	"math"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics3"
)

// mound is a field of nine samples, of which that in the middle is highest.
var mound = newField(fieldDef(3, 3, [2]float32{0.8, 0.6}, func(i, k int) float32 { return 0.3 * float32(i%2*(k%2)) }))

// dunes is a terrain of 2 by 2 tiles, of 16 m by 24 m, with or without a hole of a cell.
func dunes(t testing.TB, hole bool) *physics3.Terrain {
	t.Helper()
	const cells = 8
	var tiles []physics3.TerrainTile
	for i := range 4 {
		x, z := i%2, i/2
		d := fieldDef(cells+1, cells+1, [2]float32{1, 1.5}, func(i, k int) float32 {
			return float32(0.4 * math.Sin(float64(x*cells+i)) * math.Cos(0.7*float64(z*cells+k)))
		})
		if hole && i == 3 {
			d.Holes = make([]bool, cells*cells)
			d.Holes[0] = true
		}
		tiles = append(tiles, physics3.TerrainTile{Field: newField(d), X: x, Z: z})
	}
	return newTerrain(t, tiles...)
}

// A heap on the seams of a terrain is the same on all levels, with any number of workers, restored in its midst, and allocates nothing.
func TestHeapOnTerrain(t *testing.T) {
	terrain := dunes(t, true)
	run := func(level native.Level, workers int, restored bool) (*physics3.World, []uint64) {
		w := emptyWorld(t, physics3.Config{Capacity: 100, Gravity: vec{0, -9.81, 0}, Level: level, Workers: workers})
		groundOf(t, w, terrain, vec{-8, 0, -12}, plain)
		for i := range 6 {
			for k, b := range bodiesOfAllKinds(t, w, plain, 0, 0) {
				no(t, w.SetTransform(b, vec{float32(k%2) - 0.5 + 0.1*float32(i), 1.3 + float32(2*i), float32(k/2) - 0.5}, quat{0.1, 0, 0.2, 1}))
			}
		}
		return hashesOfSteps(t, w, 100, restored)
	}
	w, want := run(native.Go, 1, false)
	for i, level := range native.Levels() {
		workers := 1 + i%3
		_, got := run(level, workers, workers == 2)
		for tick := range want {
			if got[tick] != want[tick] {
				t.Fatalf("%v, %d workers: another state after tick %d", level, workers, tick)
			}
		}
	}
	sound(t, "heap", w)
	if paritytest.Instrumented {
		return
	}
	no(t, w.EnableSleeping(false))
	steps(t, w, 60)
	if n := testing.AllocsPerRun(20, func() { no(t, w.Step(dt)) }); n != 0 {
		t.Errorf("a step has %g allocations", n)
	}
}

// What slides over cells of ice goes on, and stops on cells of sand; each tile has materials of its own.
func TestMaterialsOfCells(t *testing.T) {
	d := fieldDef(9, 5, [2]float32{1, 1}, level)
	d.Materials = []physics3.SurfaceMaterial{{}, {Friction: 0.8}}
	ice := newField(d)
	d.MaterialOf = make([]uint8, 32)
	for i := range d.MaterialOf {
		d.MaterialOf[i] = 1
	}
	sand := newField(d)
	for i := range d.MaterialOf {
		d.MaterialOf[i] = uint8(min(1, i%8/4)) // the far half
	}
	w := earth(t)
	groundOf(t, w, newTerrain(t, physics3.TerrainTile{Field: ice}, physics3.TerrainTile{Field: newField(d), X: 1}, physics3.TerrainTile{Field: sand, X: 2}), vec{0, 0, -2}, plain)
	rough := plain
	rough.Friction = 0.8
	b := bodyAt(t, w, physics3.DynamicBody, 1, 0.25, 0.1)
	box(t, w, b, rough, 0.25, 0.25, 0.25)
	steps(t, w, 10)
	no(t, w.SetVelocity(b, vec{6, 0, 0}, vec{}))
	for range 240 {
		steps(t, w, 1)
		v := speedOf(t, w, b)
		if x := position(t, w, b)[0]; x < 11.5 {
			near(t, "speed on ice", float64(v[0]), 6, 1e-3)
		}
	}
	// Friction is 0.8 there, so the box goes 6²/(2·0.8·9.81) m after x = 12.
	near(t, "place at rest", positionOf(t, w, b)[0], 12+36/(2*0.8*9.81), 0.3)
	near(t, "speed at rest", float64(speedOf(t, w, b)[0]), 0, 1e-3)
}

// A tile that was dug out replaces another one; bodies on the other tiles notice nothing.
func TestTilesAreReplaced(t *testing.T) {
	ground := newField(fieldDef(5, 5, [2]float32{1, 1}, level))
	pit := newField(fieldDef(5, 5, [2]float32{1, 1}, func(i, k int) float32 {
		if i%4 == 0 || k%4 == 0 {
			return 0
		}
		return -1
	}))
	tiles := []physics3.TerrainTile{{Field: ground}, {Field: ground, X: 1}, {Field: ground, Z: 1}, {Field: ground, X: 1, Z: 1}}
	w := earth(t)
	s := groundOf(t, w, newTerrain(t, tiles...), vec{}, plain)
	there, here := bodyAt(t, w, physics3.DynamicBody, 2, 0.5, 2), bodyAt(t, w, physics3.DynamicBody, 6, 0.5, 2)
	sphere(t, w, there, plain, 0.3)
	sphere(t, w, here, plain, 0.3)
	steps(t, w, 60)
	before := positionOf(t, w, here)
	tiles[0].Field = pit
	body := must[physics3.Body](t)(w.ShapeBody(s))
	no(t, w.DestroyShape(s))
	must[physics3.Shape](t)(w.CreateTerrain(body, plain, newTerrain(t, tiles...), physics3.Placement{}))
	steps(t, w, 120)
	near(t, "height in the pit", positionOf(t, w, there)[1], -0.7, 0.01)
	near(t, "height on the ground", positionOf(t, w, here)[1], before[1], 1e-3)
}

// Rays find tile, cell and material. What starts below the ground passes through it: case 77.
func TestRaysAndTerrain(t *testing.T) {
	d := fieldDef(5, 4, [2]float32{1, 2}, level)
	d.Materials, d.MaterialOf = []physics3.SurfaceMaterial{{UserMaterial: 5}, {UserMaterial: 6}}, make([]uint8, 12)
	d.MaterialOf[6], d.Holes = 1, make([]bool, 12)
	d.Holes[11] = true
	f := newField(d)
	terrain := newTerrain(t, physics3.TerrainTile{Field: f, X: -1, Z: 2}, physics3.TerrainTile{Field: f, X: 3, Z: -1})
	w := emptyWorld(t, physics3.Config{Capacity: 2})
	s := groundOf(t, w, terrain, vec{100, 7, 0}, plain)
	q := physics3.Rays{}
	type hit struct {
		x, z     int
		triangle uint32
		material uint64
	}
	var want []*hit
	ray := func(x, z, from, to float32, h *hit) {
		q.X, q.Y, q.Z = append(q.X, 100+x), append(q.Y, 7+from), append(q.Z, z)
		q.DX, q.DY, q.DZ = append(q.DX, 0), append(q.DY, to-from), append(q.DZ, 0)
		want = append(want, h)
	}
	for _, at := range [][2]int{{-1, 2}, {3, -1}} {
		x, z := float32(4*at[0]), float32(6*at[1])
		ray(x+0.2, z+0.2, 1, -1, &hit{at[0], at[1], 0, 5})
		ray(x+0.9, z+1.9, 1, -1, &hit{at[0], at[1], 1, 5})
		ray(x+2.2, z+2.2, 1, -1, &hit{at[0], at[1], 12, 6})
		ray(x+2.2, z+2.2, -1, 1, nil)
		ray(x+3.5, z+5, 1, -1, nil) // the hole
		ray(x-0.1, z+1, 1, -1, nil)
	}
	var hits physics3.RayHits
	no(t, w.RayClosest(&q, &hits))
	for i, h := range want {
		if hits.Shapes[i] != s {
			if h != nil {
				t.Errorf("ray %d misses", i)
			}
			continue
		}
		if h == nil {
			t.Errorf("ray %d hits triangle %d", i, hits.Triangles[i])
			continue
		}
		x, z, n := terrain.Locate(hits.Triangles[i])
		if got := (hit{x, z, n, hits.UserMaterials[i]}); got != *h {
			t.Errorf("ray %d hits %+v, want %+v", i, got, *h)
		}
	}
	ball := must[physics3.Form](t)(physics3.SphereForm(physics3.Sphere{Radius: 0.1}))
	c := &physics3.Casts{DX: []float32{0, 0}, DY: []float32{-4, 4}, DZ: []float32{0, 0}}
	c.Forms, c.X, c.Y, c.Z = []physics3.Form{ball, ball}, []float32{98.5, 98.5}, []float32{9, 5}, []float32{13, 13}
	no(t, w.CastClosest(c, &hits))
	if hits.Shapes[0] != s || hits.Shapes[1] == s {
		t.Errorf("casts from above and from below hit %v", hits.Shapes)
	}
	near(t, "fraction", float64(hits.Fractions[0]), 1.9/4, 1e-5)
}
