package physics3_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/evertick/evertick/physics3"
)

// Case 65: with steps of a quarter of a second a ball flies as far as it can, and stays at the wall.
func TestCase65LongSteps(t *testing.T) {
	w := weightlessWorld(t, physics3.Config{})
	d := physics3.DefaultBodyDef()
	d.Position = [3]float32{12.7, 0, 0}
	addBoxOf(t, w, d, [3]float32{0.5, 5, 5}, physics3.DefaultShapeDef())
	d = dynamicAt(0, 0, 0)
	d.LinearVelocity = [3]float32{20, 0, 0}
	ball := addSphereOf(t, w, d, 0.5, physics3.DefaultShapeDef())
	for step, want := range []float64{5, 10, 11.7, 11.7, 11.7, 11.7} {
		check(t, w.Step(0.25))
		if x := positionOf(t, w, ball)[0]; x > want+0.01 || x < want-0.35 {
			t.Errorf("step %d: the ball is at %g, want %g", step, x, want)
		}
	}
}

// Case 66: a thin slab that lands nearly flat on two triangles does not enter them, and comes to rest.
func TestCase66ThinSlabLandsFlat(t *testing.T) {
	ground := newMesh(physics3.MeshDef{
		Vertices: []vec{{-20, 0, -20}, {20, 0, -20}, {20, 0, 20}, {-20, 0, 20}}, Triangles: [][3]uint32{{0, 2, 1}, {0, 3, 2}},
	})
	for _, tilt := range []vector{{0.1, 0, 0}, {0, 0, 0.12}, {0.15, 0, 0.1}, {-0.12, 0, 0.08}} {
		w := must[*physics3.World](t)(physics3.New(physics3.Config{Gravity: vec{0, -9.81, 0}, Capacity: 4}))
		must[physics3.Shape](t)(w.CreateMesh(bodyAt(t, w, physics3.StaticBody, 0, 0, 0), plain, ground, physics3.Placement{}))
		d := dynamicAt(0, 5, 0)
		d.Rotation = turn(tilt, length(tilt))
		b := addBoxOf(t, w, d, vec{1, 0.03, 1}, plain)
		for step := range 400 {
			steps(t, w, 1)
			p, q := positionOf(t, w, b), rotationOf(t, w, b)
			for k := range 8 {
				corner := vector{float64(k&1)*2 - 1, 0.03 * (float64(k>>1&1)*2 - 1), float64(k>>2)*2 - 1}
				if y := p[1] + rotated(q, corner)[1]; y < -0.1 {
					t.Fatalf("tilt %v, step %d: a corner is at %g", tilt, step, y)
				}
			}
		}
		near(t, "height at rest", positionOf(t, w, b)[1], 0.03, 0.005)
	}
}

// Case 67: no cube of hail falls through a thin disc.
func TestCase67HailOnADisc(t *testing.T) {
	w := must[*physics3.World](t)(physics3.New(physics3.Config{Gravity: [3]float32{0, -9.81, 0}, Capacity: 32}))
	disc := uprightPrism(t, 32, 10, 0.05)
	d := physics3.DefaultBodyDef()
	d.Position = [3]float32{0, -2, 0}
	addBody(t, w, d, func(b physics3.Body) (physics3.Shape, error) {
		return w.CreateHull(b, physics3.DefaultShapeDef(), disc, physics3.Placement{})
	})
	var hail []physics3.Body
	for k := 1; k <= 20; k++ {
		sin, cos := math.Sincos(2.399963 * float64(k))
		r := 0.45 * float64(k)
		hail = append(hail, addBoxOf(t, w, dynamicAt(float32(r*cos), 20, float32(r*sin)), [3]float32{0.05, 0.05, 0.05}, physics3.DefaultShapeDef()))
	}
	for range 600 {
		steps(t, w, 1)
		for k, b := range hail {
			p := positionOf(t, w, b)
			if math.Hypot(p[0], p[2]) < 9.9 && p[1] < -2.1 {
				t.Fatalf("cube %d has fallen through: %v", k, p)
			}
		}
	}
	rest := 0
	for _, b := range hail {
		if p := positionOf(t, w, b); math.Abs(p[1]+1.9) < 0.02 {
			rest++
		}
	}
	if rest < 15 {
		t.Errorf("%d of %d rest on the disc", rest, len(hail))
	}
}

// Case 68: after the step in which a body is stopped, all that is asked has the same pose of it.
func TestCase68OnePose(t *testing.T) {
	w := weightlessWorld(t, physics3.Config{Slots: 4})
	d := physics3.DefaultBodyDef()
	d.Position = [3]float32{3.1, 0, 0}
	addBoxOf(t, w, d, [3]float32{0.1, 5, 5}, physics3.DefaultShapeDef())
	d = dynamicAt(0, 0, 0)
	d.LinearVelocity, d.AngularVelocity, d.HasSlot, d.Slot = [3]float32{200, 20, 0}, [3]float32{3, 20, 5}, true, 2
	b := addBoxOf(t, w, d, [3]float32{0.2, 0.1, 0.3}, physics3.DefaultShapeDef())
	steps(t, w, 1)
	p, q := must[[3]float32](t)(w.Position(b)), must[[4]float32](t)(w.Rotation(b))
	if !(p[0] > 2 && p[0] < 3) {
		t.Fatalf("the body is at %v", p)
	}
	c, i := w.Columns(), b.Index()
	if p != [3]float32{c.X[i], c.Y[i], c.Z[i]} || q != [4]float32{c.QX[i], c.QY[i], c.QZ[i], c.QW[i]} {
		t.Error("the columns have another pose")
	}
	if moved := w.Events().Moved; len(moved) != 1 || moved[0] != uint32(i) {
		t.Errorf("moved: %v", moved)
	}
	column := func() []float32 { return make([]float32, 4) }
	s := physics3.Transforms{X: column(), Y: column(), Z: column(), QX: column(), QY: column(), QZ: column(), QW: column()}
	check(t, w.Sync(s))
	if p != [3]float32{s.X[2], s.Y[2], s.Z[2]} || q != [4]float32{s.QX[2], s.QY[2], s.QZ[2], s.QW[2]} {
		t.Error("Sync writes another pose")
	}
	other := weightlessWorld(t, physics3.Config{Slots: 4})
	data := must[[]byte](t)(w.Snapshot(nil))
	check(t, other.Restore(data))
	if p != must[[3]float32](t)(other.Position(b)) || q != must[[4]float32](t)(other.Rotation(b)) {
		t.Error("a snapshot has another pose")
	}
	if again := must[[]byte](t)(other.Snapshot(nil)); !bytes.Equal(data, again) {
		t.Error("a restored world is another one")
	}

	// A box that is put there by hand is at the same place for queries.
	twin := weightlessWorld(t, physics3.Config{})
	d = dynamicAt(p[0], p[1], p[2])
	d.Rotation = q
	addBoxOf(t, twin, d, [3]float32{0.2, 0.1, 0.3}, physics3.DefaultShapeDef())
	rays := &physics3.Rays{X: []float32{-5}, Y: []float32{p[1]}, Z: []float32{p[2]}, DX: []float32{20}, DY: []float32{0}, DZ: []float32{0}}
	var hits, twinHits physics3.RayHits
	check(t, w.RayClosest(rays, &hits))
	check(t, twin.RayClosest(rays, &twinHits))
	if hits.Fractions[0] != twinHits.Fractions[0] || hits.NormalX[0] != twinHits.NormalX[0] || hits.Fractions[0] == 1 {
		t.Errorf("a ray hits at %v, where a body at that pose is hit at %v", hits.Fractions, twinHits.Fractions)
	}
}

// Case 69: neither of two cubes on one body passes a wall, whichever hits first.
func TestCase69CompoundAgainstAWall(t *testing.T) {
	for k := range 48 {
		w := weightlessWorld(t, physics3.Config{})
		wall := bodyAt(t, w, physics3.StaticBody, 3, 0, 0)
		if k < 24 {
			box(t, w, wall, plain, 1e-4, 20, 20)
		} else {
			must[physics3.Shape](t)(w.CreateMesh(wall, plain, wallMesh(1, 20, 20), physics3.Placement{}))
		}
		d := dynamicAt(0, 0, 0)
		d.LinearVelocity, d.Rotation = [3]float32{200, 0, 0}, turn(vector{0, 0, 1}, float64(k)*math.Pi/12)
		b := must[physics3.Body](t)(w.CreateBody(d))
		for _, y := range [2]float32{-0.4, 0.4} {
			must[physics3.Shape](t)(w.CreateBox(b, physics3.DefaultShapeDef(), physics3.Box{Half: [3]float32{0.1, 0.1, 0.1}, Center: [3]float32{0, y, 0}}))
		}
		for step := range 60 {
			steps(t, w, 1)
			p, q := positionOf(t, w, b), rotationOf(t, w, b)
			for _, y := range [2]float64{-0.4, 0.4} {
				at := rotated(q, vector{0, y, 0})
				if x := p[0] + at[0]; x > 3.1 {
					t.Fatalf("turn %d, step %d: a cube is at %g", k, step, x)
				}
			}
		}
	}
}
