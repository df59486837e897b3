package physics3_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/evertick/evertick/physics3"
)

// smooth is a material without friction.
var smooth = func() physics3.ShapeDef {
	d := physics3.DefaultShapeDef()
	d.Friction = 0
	return d
}()

// earth is a world with gravity and nothing else.
func earth(t testing.TB) *physics3.World {
	return emptyWorld(t, physics3.Config{Capacity: 64, Gravity: vec{0, -9.81, 0}, DisableSleep: true})
}

// groundOf makes a static body with a terrain.
func groundOf(t testing.TB, w *physics3.World, terrain *physics3.Terrain, at vec, material physics3.ShapeDef) physics3.Shape {
	t.Helper()
	b := bodyAt(t, w, physics3.StaticBody, at[0], at[1], at[2])
	return must[physics3.Shape](t)(w.CreateTerrain(b, material, terrain, physics3.Placement{}))
}

// slider is a kind of body that slides: how to make it, and its height at rest on a floor.
type slider struct {
	name   string
	height float32
	attach func(w *physics3.World, b physics3.Body) (physics3.Shape, error)
}

func sliders(t testing.TB) []slider {
	hull := uprightPrism(t, 7, 0.4, 0.3)
	return []slider{
		{"ball", 0.3, func(w *physics3.World, b physics3.Body) (physics3.Shape, error) {
			return w.CreateSphere(b, smooth, physics3.Sphere{Radius: 0.3})
		}},
		{"lying capsule", 0.3, func(w *physics3.World, b physics3.Body) (physics3.Shape, error) {
			return w.CreateCapsule(b, smooth, physics3.Capsule{P1: vec{-0.3, 0, 0.1}, P2: vec{0.3, 0, -0.1}, Radius: 0.3})
		}},
		{"box", 0.25, func(w *physics3.World, b physics3.Body) (physics3.Shape, error) {
			return w.CreateBox(b, smooth, physics3.Box{Half: vec{0.4, 0.25, 0.3}})
		}},
		{"hull", 0.3, func(w *physics3.World, b physics3.Body) (physics3.Shape, error) {
			return w.CreateHull(b, smooth, hull, physics3.Placement{})
		}},
	}
}

// slide lets a body come to rest, pushes it, and fails if it leaves the ground, or does not go straight on.
func slide(t *testing.T, w *physics3.World, b physics3.Body, what string, velocity vec, steps int, most float64) {
	t.Helper()
	for range 60 {
		no(t, w.Step(dt))
	}
	start := positionOf(t, w, b)
	no(t, w.SetVelocity(b, velocity, vec{}))
	for k := range steps {
		no(t, w.Step(dt))
		v, _ := velocityOf(t, w, b)
		if !(math.Abs(v[1]) < most) {
			t.Fatalf("%s: step %d: vertical speed %g m/s", what, k, v[1])
		}
		if n := len(w.Events().End); n > 0 {
			t.Fatalf("%s: step %d: %d contacts have ended", what, k, n)
		}
	}
	way := minus(positionOf(t, w, b), start)
	for axis, v := range velocity {
		near(t, what+": way", way[axis], float64(v)*float64(steps)*dt, 1e-3*(1+math.Abs(way[axis])))
	}
}

// Bodies cross the seams of a flat terrain as one plane.
func TestNothingBumpsOverSeams(t *testing.T) {
	flat := newField(fieldDef(9, 9, [2]float32{0.5, 0.5}, level))
	var tiles []physics3.TerrainTile
	for i := range 16 * 6 {
		tiles = append(tiles, physics3.TerrainTile{Field: flat, X: i%16 - 2, Z: i/16 - 3})
	}
	terrain := newTerrain(t, tiles...)
	for _, s := range sliders(t) {
		for _, speed := range []float32{1, 5, 20, 50} {
			for _, heading := range []float64{0, 17, 45} {
				w := earth(t)
				groundOf(t, w, terrain, vec{0, 2, 0}, smooth)
				b := bodyAt(t, w, physics3.DynamicBody, 0.07, 2+s.height, 0.03)
				must[physics3.Shape](t)(s.attach(w, b))
				sin, cos := math.Sincos(heading * math.Pi / 180)
				steps := int(min(60, 60*12/speed))
				slide(t, w, b, fmt.Sprintf("%s, %g m/s, %g°", s.name, speed, heading), vec{speed * float32(cos), 0, speed * float32(sin)}, steps, 1e-3)
			}
		}
	}
}

func TestCase33FlushFields(t *testing.T) {
	f := newField(fieldDef(17, 17, [2]float32{1, 1}, level))
	capsule := physics3.Capsule{P1: vec{0, -0.3, 0}, P2: vec{0, 0.3, 0}, Radius: 0.3}
	walker := func(w *physics3.World) physics3.Body {
		b := bodyAt(t, w, physics3.DynamicBody, 0, 0.7, 0)
		no(t, w.SetMotionLocks(b, physics3.MotionLocks{Rotation: true}))
		must[physics3.Shape](t)(w.CreateCapsule(b, smooth, capsule))
		for range 120 {
			no(t, w.Step(dt))
		}
		near(t, "height at rest", positionOf(t, w, b)[1], 0.6, 5e-3)
		return b
	}
	w := earth(t)
	groundOf(t, w, newTerrain(t, physics3.TerrainTile{Field: f}, physics3.TerrainTile{Field: f, X: 1}), vec{-8, 0, -8}, smooth)
	b := walker(w)
	slide(t, w, b, "one terrain", vec{2, 0, 0}, 420, 1e-3)
	for _, speed := range []float32{1, 5, 20} {
		for _, heading := range []float64{0, 30} {
			w := earth(t)
			groundOf(t, w, newTerrain(t, physics3.TerrainTile{Field: f}, physics3.TerrainTile{Field: f, X: 1}), vec{-8, 0, -8}, smooth)
			sin, cos := math.Sincos(heading * math.Pi / 180)
			v := vec{speed * float32(cos), 0, speed * float32(sin)}
			b := bodyAt(t, w, physics3.DynamicBody, 8-0.25*v[0], 0.3, -0.25*v[2])
			sphere(t, w, b, smooth, 0.3)
			slide(t, w, b, fmt.Sprintf("ball, %g m/s, %g°", speed, heading), v, 30, 1e-3)
		}
	}

	// As two bodies, a shape may touch the border of each.
	w = earth(t)
	for _, x := range []float32{-8, 8} {
		groundOf(t, w, newTerrain(t, physics3.TerrainTile{Field: f}), vec{x, 0, -8}, smooth)
	}
	b = walker(w)
	rest := positionOf(t, w, b)[1]
	no(t, w.SetVelocity(b, vec{2, 0, 0}, vec{}))
	for range 480 {
		no(t, w.Step(dt))
		if y := positionOf(t, w, b)[1]; math.Abs(y-rest) > 0.01 {
			t.Fatalf("height %g over two bodies, at rest %g", y, rest)
		}
	}
	if x := positionOf(t, w, b)[0]; x < 12 {
		t.Errorf("two bodies stop it at %g", x)
	}
}

func TestCase34BordersOfFields(t *testing.T) {
	const radius = 0.2
	sized := func(width, depth int, height func(x, z float64) float64) *physics3.HeightField {
		return newField(fieldDef(width, depth, [2]float32{0.5, 0.25}, func(i, k int) float32 { return float32(height(0.5*float64(i), 0.25*float64(k))) }))
	}
	for _, c := range []struct {
		what         string
		width, depth int
		slope        vector
	}{{"flat", 21, 13, vector{}}, {"sloped", 21, 13, vector{0.1, 0, 0.2}}, {"smallest", 2, 2, vector{}}} {
		height := func(x, z float64) float64 {
			if c.slope == (vector{}) {
				return 5
			}
			return c.slope[0]*x + c.slope[2]*z
		}
		f := sized(c.width, c.depth, height)
		wide, deep := 0.5*float64(c.width-1), 0.25*float64(c.depth-1)
		material := physics3.DefaultShapeDef()
		material.Friction = 1
		for _, inside := range []float64{0.01, 0.1, 0.25, -0.21} {
			if inside >= deep || inside >= wide {
				continue
			}
			for _, at := range [][2]float64{{inside, deep / 2}, {wide - inside, deep / 2}, {wide / 2, inside}, {wide / 2, deep - inside},
				{inside, inside}, {wide - inside, inside}, {inside, deep - inside}, {wide - inside, deep - inside}} {
				w := earth(t)
				must[physics3.Shape](t)(w.CreateHeightField(bodyAt(t, w, physics3.StaticBody, 0, 0, 0), material, f, physics3.Placement{}))
				want := height(at[0], at[1]) + radius*math.Sqrt(1+dot(c.slope, c.slope))
				b := bodyAt(t, w, physics3.DynamicBody, float32(at[0]), float32(want)+0.01, float32(at[1]))
				no(t, w.SetMotionLocks(b, physics3.MotionLocks{Rotation: true}))
				sphere(t, w, b, material, radius)
				for range 90 {
					no(t, w.Step(dt))
				}
				y := positionOf(t, w, b)[1]
				switch {
				case inside < 0 && y > want-2:
					t.Errorf("%s: beside the field at %v a ball is at %g after 1.5 s", c.what, at, y)
				case inside > 0 && !(math.Abs(y-want) < 6e-3):
					t.Errorf("%s: at %v a ball rests at %g, want %g", c.what, at, y, want)
				}
			}
		}
	}
}

func TestCase36SmallBallOnRaisedField(t *testing.T) {
	const radius = 0.02
	for _, h := range []float32{0, 5} {
		w := earth(t)
		f := newField(fieldDef(10, 10, [2]float32{2. / 9, 2. / 9}, func(int, int) float32 { return h }))
		must[physics3.Shape](t)(w.CreateHeightField(bodyAt(t, w, physics3.StaticBody, -1, 0, -1), plain, f, physics3.Placement{}))
		d := plain
		d.Density = 0.01 / (4. / 3 * math.Pi * radius * radius * radius)
		var balls []physics3.Body
		for i := range 8 { // in the middle of cells, on edges and on samples
			b := bodyAt(t, w, physics3.DynamicBody, float32(i)/18-0.3, h+radius+0.5, float32(i%3)/18-0.05)
			sphere(t, w, b, d, radius)
			balls = append(balls, b)
		}
		for range 180 {
			no(t, w.Step(dt))
		}
		for i, b := range balls {
			near(t, fmt.Sprintf("height of ball %d", i), positionOf(t, w, b)[1], float64(h)+radius, 1e-3)
			if c := contactOf(t, w, b); c.Count != 1 {
				t.Errorf("ball %d has %d points", i, c.Count)
			}
		}
	}
}

// A ball goes down a ramp of a field as down a plane: case 32.
func TestCase32RampOfField(t *testing.T) {
	const angle = 20 * math.Pi / 180
	f := newField(fieldDef(49, 17, [2]float32{0.5, 1}, level))
	material := physics3.DefaultShapeDef()
	material.Friction = 1
	w := earth(t)
	d := physics3.DefaultBodyDef()
	d.Rotation = turn(vector{0, 0, 1}, -angle)
	must[physics3.Shape](t)(w.CreateHeightField(bodyOf(t, w, d), material, f, physics3.Placement{Position: vec{0, 0, -8}}))
	sin, cos := math.Sincos(angle)
	start := vector{0.4*cos + 0.5*sin, -0.4*sin + 0.5*cos, 0.7}
	b := bodyAt(t, w, physics3.DynamicBody, float32(start[0]), float32(start[1]), float32(start[2]))
	sphere(t, w, b, material, 0.5)
	along, up := vector{cos, -sin, 0}, vector{sin, cos, 0}
	for range 240 {
		no(t, w.Step(dt))
		v, _ := velocityOf(t, w, b)
		moved := minus(positionOf(t, w, b), start)
		if s := dot(moved, along); s > 1 && s < 20 {
			near(t, "v²", dot(v, along)*dot(v, along), 2*s*5./7*9.81*sin, 0.01*2*s*5./7*9.81*sin)
			near(t, "speed off the ramp", dot(v, up), 0, 1e-3)
			near(t, "drift", moved[2], 0, 1e-3)
			if n := len(w.Events().End); n > 0 {
				t.Fatalf("%d contacts have ended", n)
			}
		}
	}
}
func TestCase74RaysDownOnGridLines(t *testing.T) {
	const n = 101
	w := weightlessWorld(t, physics3.Config{})
	height := func(i, k int) float32 { return float32(math.Sin(float64(i)) * math.Cos(float64(k))) }
	f := newField(fieldDef(n, n, [2]float32{1, 1}, height))
	s := must[physics3.Shape](t)(w.CreateHeightField(bodyAt(t, w, physics3.StaticBody, 0, 0, 0), plain, f, physics3.Placement{}))
	q := physics3.Rays{}
	var want []float64
	ray := func(x, z float32, h float64) {
		q.X, q.Y, q.Z = append(q.X, x), append(q.Y, 10), append(q.Z, z)
		q.DX, q.DY, q.DZ = append(q.DX, 0), append(q.DY, -20), append(q.DZ, 0)
		want = append(want, h)
	}
	for i, at := range [][2]float32{{5, 2.63113}, {9.50162, 5}, {10, 5.26226}, {19.00324, 10}, {30, 15.78678}, {35, 18.41791}, {40, 21.04904}} {
		ray(at[0], at[1], []float64{.746348, -.019147, -.250839, -.127832, .904492, -.341499, -.424645}[i])
	}
	for i := range n * n {
		x, z := i%n, i/n
		h := float64(height(x, z))
		ray(float32(x), float32(z), h)
		if x+1 < n {
			ray(float32(x)+0.5, float32(z), (h+float64(height(x+1, z)))/2)
		}
		if z+1 < n {
			ray(float32(x), float32(z)+0.5, (h+float64(height(x, z+1)))/2)
		}
		if x+1 < n && z+1 < n {
			ray(float32(x)+0.5, float32(z)+0.5, (float64(height(x+1, z))+float64(height(x, z+1)))/2)
		}
	}
	var hits physics3.RayHits
	no(t, w.RayClosest(&q, &hits))
	for i := range want {
		if y := 10 - 20*float64(hits.Fractions[i]); hits.Shapes[i] != s || math.Abs(y-want[i]) > 2e-5 {
			t.Fatalf("ray %d at %g, %g: shape %v, height %g, want %g", i, q.X[i], q.Z[i], hits.Shapes[i], y, want[i])
		}
	}
}
