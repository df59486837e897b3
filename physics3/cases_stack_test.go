package physics3_test

import (
	"math"
	"testing"

	"github.com/evertick/evertick/physics3"
)

func material(friction, restitution float32) physics3.ShapeDef {
	s := physics3.DefaultShapeDef()
	s.Friction, s.Restitution = friction, restitution
	return s
}

// worldOf has gravity, and a floor of a material whose top is at 0.
func worldOf(t testing.TB, floor physics3.ShapeDef) *physics3.World {
	t.Helper()
	w := must[*physics3.World](t)(physics3.New(physics3.Config{Gravity: [3]float32{0, -9.81, 0}, DisableSleep: true}))
	d := physics3.DefaultBodyDef()
	d.Position = [3]float32{0, -1, 0}
	addBoxOf(t, w, d, [3]float32{100, 1, 100}, floor)
	return w
}

// Case 41: friction is the same in every direction. After 1 s the speed is 20 − √(0.9·0.8)·9.81, and the way is between that of one step a
// frame, and that of continuous time.
func TestCase41Isotropy(t *testing.T) {
	least, most := math.Inf(1), 0.
	for heading := 0; heading < 360; heading += 30 {
		w := worldOf(t, material(0.8, 0))
		x, z := math.Cos(float64(heading)*math.Pi/180), math.Sin(float64(heading)*math.Pi/180)
		d := dynamicAt(0, 1, 0)
		d.LinearVelocity = [3]float32{float32(20 * x), 0, float32(20 * z)}
		b := addBoxOf(t, w, d, [3]float32{1, 1, 1}, material(0.9, 0))
		steps(t, w, 60)
		at, q := positionOf(t, w, b), rotationOf(t, w, b)
		v, _ := velocityOf(t, w, b)
		speed, way := length(v), at[0]*x+at[2]*z
		near(t, "the speed", speed, 11.6759, 0.05)
		if way < 15.77 || way > 15.84 {
			t.Errorf("heading %d°: the way is %g", heading, way)
		}
		near(t, "the way to the side", at[2]*x-at[0]*z, 0, 0.01)
		near(t, "the turn", angleOf(q), 0, 0.5*math.Pi/180)
		least, most = min(least, speed), max(most, speed)
	}
	if most > least*1.005 {
		t.Errorf("speeds from %g to %g", least, most)
	}
}

// Case 42: a heavy box on a light one presses it into the floor by no more than the sag of soft contacts, and that ends. The contact between
// the two has a spring of the light mass m and the frequency f: with f = 30 Hz it gives way by (M/m)·g/(2πf)², 2.8 cm. That with the floor is
// twice as stiff: it gives way by a quarter.
func TestCase42HeavyOnLight(t *testing.T) {
	w := worldOf(t, material(0.6, 0))
	light := addBoxOf(t, w, dynamicAt(0, 0.5, 0), [3]float32{0.5, 0.5, 0.5}, density(1))
	heavy := addBoxOf(t, w, dynamicAt(0, 1.7, 0), [3]float32{0.5, 0.5, 0.5}, density(100))
	steps(t, w, 300)
	near(t, "the light box", positionOf(t, w, light)[1], 0.5, 0.02)
	near(t, "the heavy box", positionOf(t, w, heavy)[1], 1.5, 0.05)
	for _, b := range []physics3.Body{light, heavy} {
		if v, _ := velocityOf(t, w, b); length(v) > 1e-3 {
			t.Errorf("%v still moves at %g m/s", b, length(v))
		}
	}
}

// sagOf returns by how much the contact between the first body of a tower of n equal ones and the next one gives way, at most: 2·(n − 1) times
// g/(2πf)², because the mass that the spring of a contact has is half of that of each of two equal bodies.
func sagOf(n int) float64 {
	const omega = 2 * math.Pi * 30
	return 2 * float64(n-1) * 9.81 / (omega * omega)
}

// Case 43: towers stand for a minute, and do not sink.
func TestCase43Towers(t *testing.T) {
	octagon := uprightPrism(t, 8, 0.5, 0.25)
	for name, c := range map[string]struct {
		n      int
		pitch  float32
		attach func(w *physics3.World, b physics3.Body) (physics3.Shape, error)
	}{
		"small cubes with gaps": {20, 0.101, boxOf(0.05)},
		"five cubes":            {5, 1, boxOf(0.5)},
		"ten cubes":             {10, 1, boxOf(0.5)},
		"twenty cubes":          {20, 1, boxOf(0.5)},
		"prisms": {20, 0.5, func(w *physics3.World, b physics3.Body) (physics3.Shape, error) {
			return w.CreateHull(b, physics3.DefaultShapeDef(), octagon, physics3.Placement{})
		}},
	} {
		w := worldOf(t, material(0.6, 0))
		var all []physics3.Body
		lowest := make([]float64, c.n)
		for i := range c.n {
			lowest[i] = float64(c.pitch)*(float64(i)+0.5) - 0.001*float64(i+1) // the gaps
			for k := range i + 1 {
				lowest[i] -= 1.1 * sagOf(c.n-k)
			}
			all = append(all, addBody(t, w, dynamicAt(0, c.pitch*(float32(i)+0.5), 0), func(b physics3.Body) (physics3.Shape, error) { return c.attach(w, b) }))
		}
		seconds := 60
		if testing.Short() {
			seconds = 10
		}
		for second := range seconds {
			steps(t, w, 60)
			for i, b := range all {
				v, _ := velocityOf(t, w, b)
				at := positionOf(t, w, b)
				if second >= 2 && length(v) > 0.01 || math.Hypot(at[0], at[2]) > 0.005 || at[1] < lowest[i] {
					t.Fatalf("%s: after %d s body %d is at %v with %g m/s", name, second+1, i, at, length(v))
				}
			}
		}
	}
}

// Case 44: what bounces keeps the height that the restitution says, and no more. A program that computes the bounce once a step from the speed
// at its start keeps 77 % of the height after ten bounces.
func TestCase44Bounce(t *testing.T) {
	for _, cube := range []bool{false, true} {
		for _, e := range []float32{1, 0.5, 0} {
			w := worldOf(t, material(0.6, 0))
			d := dynamicAt(0, 2.5, 0)
			var b physics3.Body
			if cube {
				b = addBoxOf(t, w, d, [3]float32{0.5, 0.5, 0.5}, material(0.6, e))
			} else {
				b = addSphereOf(t, w, d, 0.5, material(0.6, e))
			}
			heights := bounces(t, w, b, 10)
			name := map[bool]string{false: "ball", true: "cube"}[cube]
			switch e {
			case 1:
				if len(heights) < 10 {
					t.Fatalf("%s: %d bounces", name, len(heights))
				}
				if heights[0] < 0.97*2 || heights[9] < 0.9*2 {
					t.Errorf("%s: the first bounce reaches %g m, the tenth %g m of 2 m", name, heights[0], heights[9])
				}
				for _, h := range heights {
					if h > 1.01*2 {
						t.Errorf("%s: a bounce reaches %g m of 2 m", name, h)
					}
				}
			case 0.5:
				if len(heights) == 0 {
					t.Fatalf("%s: no bounce", name)
				}
				near(t, name+": the second height", heights[0]/2, 0.25, 0.02)
			default:
				if len(heights) > 0 && heights[0] > 1e-3 {
					t.Errorf("%s: bounces by %g m without restitution", name, heights[0])
				}
			}
			if cube {
				near(t, "the turn", angleOf(rotationOf(t, w, b)), 0, 0.5*math.Pi/180)
			}
		}
	}
}

// bounces returns the heights of the tops of the way of a body above its rest at 0.5, at most so many, in the next 30 s.
func bounces(t *testing.T, w *physics3.World, b physics3.Body, most int) (heights []float64) {
	t.Helper()
	was, top, fell := -1., 0., false
	for range 1800 {
		steps(t, w, 1)
		v, _ := velocityOf(t, w, b)
		h := positionOf(t, w, b)[1] - 0.5
		fell = fell || v[1] < 0
		if fell && was > 0 && v[1] <= 0 {
			heights = append(heights, top)
			if len(heights) == most {
				break
			}
		}
		if v[1] > 0 && was <= 0 {
			top = 0
		}
		if v[1] > 0 {
			top = h + v[1]*v[1]/(2*9.81) // between two steps
		}
		was = v[1]
	}
	return heights
}

// Case 45: a box on a slope of 30° slides with g(sin 30° − μ cos 30°), or rests, in every direction of the slope.
func TestCase45Slopes(t *testing.T) {
	for _, heading := range []float64{0, 17, 45, 90} {
		for _, mu := range []float32{0, 0.2, 0.4, 0.6, 1} {
			w := must[*physics3.World](t)(physics3.New(physics3.Config{Gravity: [3]float32{0, -9.81, 0}, DisableSleep: true}))
			sin, cos := math.Sincos(heading * math.Pi / 180)
			q := turn(vector{sin, 0, cos}, -math.Pi/6) // it falls towards (cos, −sin)
			d := physics3.DefaultBodyDef()
			d.Rotation = q
			normal, down := rotated(q, vector{0, 1, 0}), rotated(q, vector{cos, 0, -sin})
			at := func(k float64) (p [3]float32) {
				for axis := range p {
					p[axis] = float32(normal[axis] * k)
				}
				return p
			}
			d.Position = at(-1)
			addBoxOf(t, w, d, [3]float32{200, 1, 50}, material(mu, 0))
			d = dynamicAt(0, 0, 0)
			d.Position, d.Rotation = at(0.5), q
			b := addBoxOf(t, w, d, [3]float32{0.5, 0.5, 0.5}, material(mu, 0))
			steps(t, w, 60)
			before, _ := velocityOf(t, w, b)
			from := positionOf(t, w, b)
			want := 9.81 * max(0, 0.5-float64(mu)*math.Cos(math.Pi/6))
			if want == 0 {
				steps(t, w, 540)
				near(t, "the creep in 9 s", length(minus(positionOf(t, w, b), from)), 0, 1e-3)
				continue
			}
			steps(t, w, 60)
			after, _ := velocityOf(t, w, b)
			near(t, "the acceleration", dot(minus(after, before), down), want, 0.01*want)
			near(t, "the acceleration off the plane", dot(minus(after, before), normal), 0, 0.01)
		}
	}
}

// Boxes of a pyramid hardly overlap.
func TestPyramidIsShallow(t *testing.T) {
	const rows = 30
	w := worldOf(t, material(0.6, 0))
	var all []physics3.Body
	for row := range rows {
		for i := range rows - row {
			all = append(all, addBoxOf(t, w, dynamicAt(float32(i)-float32(rows-row-1)/2, float32(row)+0.5, 0), [3]float32{0.5, 0.5, 0.5}, density(1)))
		}
	}
	steps(t, w, 200)
	sum, points := 0., 0
	var contacts []physics3.ContactData
	for _, b := range all {
		contacts = must[[]physics3.ContactData](t)(w.AppendContactData(contacts[:0], b))
		for _, c := range contacts {
			for _, p := range c.Points[:c.Count] {
				sum -= min(0, float64(p.Separation))
				points++
			}
		}
	}
	if mean := sum / float64(points); mean > 0.002 {
		t.Errorf("the mean penetration is %.2f mm", 1e3*mean)
	}
}
