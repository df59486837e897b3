package physics3_test

import (
	"math"
	"testing"

	"github.com/evertick/evertick/physics3"
)

// touching makes two bodies, the second at an offset, and returns their contact after a short step. The first is static.
func touching(t *testing.T, at vector, attachA, attachB func(w *physics3.World, b physics3.Body) (physics3.Shape, error), swapped bool) physics3.ContactData {
	t.Helper()
	w := weightlessWorld(t, physics3.Config{DisableSleep: true})
	var bodies [2]physics3.Body
	for k := range 2 {
		if swapped {
			k = 1 - k
		}
		d, attach := physics3.DefaultBodyDef(), attachA
		if k == 1 {
			d, attach = dynamicAt(float32(at[0]), float32(at[1]), float32(at[2])), attachB
		}
		bodies[k] = addBody(t, w, d, func(b physics3.Body) (physics3.Shape, error) { return attach(w, b) })
	}
	check(t, w.Step(physics3.MinStep))
	return contactOf(t, w, bodies[1])
}

func boxOf(half ...float32) func(w *physics3.World, b physics3.Body) (physics3.Shape, error) {
	if len(half) == 1 {
		half = []float32{half[0], half[0], half[0]}
	}
	return func(w *physics3.World, b physics3.Body) (physics3.Shape, error) {
		return w.CreateBox(b, physics3.DefaultShapeDef(), physics3.Box{Half: [3]float32(half)})
	}
}

// deepest returns the least separation.
func deepest(c *physics3.ContactData) float64 {
	s := math.Inf(1)
	for _, p := range c.Points[:c.Count] {
		s = min(s, float64(p.Separation))
	}
	return s
}

// Case 18: boxes that lie on each other have four points, at the corners of what they share.
func TestCase18FourPoints(t *testing.T) {
	for _, c := range []struct {
		at         vector
		a, b       []float32
		axis       int
		separation float64
		tolerance  float64
		corners    [2][2]float64 // least and greatest place along the other two axes
	}{
		{vector{1.9999, 0, 0}, []float32{1}, []float32{1}, 0, -1e-4, 2e-6, [2][2]float64{{-1, 1}, {-1, 1}}},
		{vector{9.5, 1.9, 9.5}, []float32{10, 1, 10}, []float32{1}, 1, -0.1, 1e-5, [2][2]float64{{8.5, 10}, {8.5, 10}}},
	} {
		for _, swapped := range []bool{false, true} {
			d := touching(t, c.at, boxOf(c.a...), boxOf(c.b...), swapped)
			if d.Count != 4 || math.Abs(float64(d.Normal[c.axis])) != 1 {
				t.Fatalf("%d points, normal %v", d.Count, d.Normal)
			}
			seen := map[[2]int]bool{}
			for _, p := range d.Points[:d.Count] {
				near(t, "the separation", float64(p.Separation), c.separation, c.tolerance)
				var corner [2]int
				for k, axis := range [2]int{(c.axis + 1) % 3, (c.axis + 2) % 3} {
					at := float64(p.Point[axis])
					if at > (c.corners[k][0]+c.corners[k][1])/2 {
						corner[k] = 1
					}
					near(t, "a corner", at, c.corners[k][corner[k]], 1e-4)
				}
				seen[corner] = true
			}
			if len(seen) != 4 {
				t.Errorf("the points are at %d corners", len(seen))
			}
		}
	}
}

// Case 19: where several axes are equal, the normal is along one of them and never between them, the same in every run.
func TestCase19Ties(t *testing.T) {
	for _, c := range []struct {
		a, b  float32
		at    vector
		depth float64
	}{
		{10, 5, vector{14, 14, 14}, 1},
		{0.5, 0.05, vector{0.4, 0.4, 0.4}, 0.15},
	} {
		for _, swapped := range []bool{false, true} {
			first := touching(t, c.at, boxOf(c.a), boxOf(c.b), swapped)
			along := 0
			for _, v := range first.Normal {
				if v == 1 || v == -1 {
					along++
				}
			}
			if along != 1 {
				t.Errorf("the normal is %v", first.Normal)
			}
			near(t, "the depth", -deepest(&first), c.depth, 1e-5)
			for _, p := range first.Points[:first.Count] {
				for axis, v := range wide(p.Point) {
					if lo, hi := c.at[axis]-float64(c.b)-c.depth, float64(c.a)+c.depth; v < lo-1e-4 || v > hi+1e-4 {
						t.Errorf("a point at %v", p.Point)
					}
				}
			}
			for range 20 {
				if again := touching(t, c.at, boxOf(c.a), boxOf(c.b), swapped); again != first {
					t.Fatalf("%v, then %v", first, again)
				}
			}
		}
	}
}

// Case 21: a capsule beside an edge of a box, and one whose end is above a face.
func TestCase21CapsuleAndBox(t *testing.T) {
	capsule := func(p1, p2 [3]float32, radius float32) func(w *physics3.World, b physics3.Body) (physics3.Shape, error) {
		return func(w *physics3.World, b physics3.Body) (physics3.Shape, error) {
			return w.CreateCapsule(b, physics3.DefaultShapeDef(), physics3.Capsule{P1: p1, P2: p2, Radius: radius})
		}
	}
	// Both are as far from the origin as where they were first found to fail.
	far := func(w *physics3.World, b physics3.Body) (physics3.Shape, error) {
		return w.CreateBox(b, physics3.DefaultShapeDef(), physics3.Box{Half: [3]float32{0.05, 0.75, 0.5}, Center: [3]float32{11.5, 0.75, 60.5}})
	}
	for _, swapped := range []bool{false, true} {
		d := touching(t, vector{10.97, 0.925, 61.02}, far, capsule([3]float32{0, -0.425, 0}, [3]float32{0, 0.425, 0}, 0.5), swapped)
		sign := -1. // from the box to the capsule
		if swapped {
			sign = 1
		}
		near(t, "the depth", -deepest(&d), 0.019584, 2e-5)
		for axis, v := range [...]float64{0.999133, 0, -0.041631} {
			near(t, "the normal", float64(d.Normal[axis]), sign*v, 1e-3)
		}
		if d.Count != 2 {
			t.Fatalf("%d points", d.Count)
		}
		near(t, "the lower point", min(float64(d.Points[0].Point[1]), float64(d.Points[1].Point[1])), 0.5, 1e-3)
		near(t, "the upper point", max(float64(d.Points[0].Point[1]), float64(d.Points[1].Point[1])), 1.35, 1e-3)
	}
	big := func(w *physics3.World, b physics3.Body) (physics3.Shape, error) {
		return w.CreateBox(b, physics3.DefaultShapeDef(), physics3.Box{Half: [3]float32{36, 13, 20}, Center: [3]float32{62, 76, 79}})
	}
	d := touching(t, vector{}, big, capsule([3]float32{30, 82, 29}, [3]float32{67, 68, 11}, 36), false)
	near(t, "the depth", -deepest(&d), 6, 1e-3)
	near(t, "the normal", math.Abs(float64(d.Normal[2])), 1, 1e-5)
}

// Case 22: a shape that sinks into a box has a contact at every depth.
func TestCase22NoHoles(t *testing.T) {
	floor := func(w *physics3.World, b physics3.Body) (physics3.Shape, error) {
		return w.CreateBox(b, physics3.DefaultShapeDef(), physics3.Box{Half: [3]float32{50, 50, 50}, Center: [3]float32{0, -50, 0}})
	}
	every := 1
	if testing.Short() {
		every = 7
	}
	for k := 0; k < 200; k += every {
		y := -0.5 + float64(k)/200
		capsule := touching(t, vector{0, y, 0}, floor, func(w *physics3.World, b physics3.Body) (physics3.Shape, error) {
			return w.CreateCapsule(b, physics3.DefaultShapeDef(), physics3.Capsule{P1: [3]float32{0, -0.5, 0}, P2: [3]float32{0, 0.5, 0}, Radius: 0.5})
		}, false)
		near(t, "the depth of a capsule", -deepest(&capsule), 1-y, 1e-5*50)
		ball := touching(t, vector{0, y, 0}, floor, func(w *physics3.World, b physics3.Body) (physics3.Shape, error) {
			return w.CreateSphere(b, physics3.DefaultShapeDef(), physics3.Sphere{Radius: 0.5})
		}, false)
		near(t, "the depth of a ball", -deepest(&ball), 0.5-y, 1e-5*50)
	}
}

// Case 23: how a cube rests does not depend on the size of the box below it.
func TestCase23SizeOfTheFloor(t *testing.T) {
	var first [2]float64
	for i, size := range []float32{1, 10, 25, 50, 100, 1000} {
		for k, part := range []float32{0, 0.9} {
			w := must[*physics3.World](t)(physics3.New(physics3.Config{Gravity: [3]float32{0, -9.81, 0}, DisableSleep: true}))
			addBox(t, w, physics3.DefaultBodyDef(), [3]float32{size, 0.25, size})
			b := addBoxOf(t, w, dynamicAt(part*size, 0.36, part*size), [3]float32{0.1, 0.1, 0.1}, density(10/0.008))
			steps(t, w, 180)
			d := contactOf(t, w, b)
			if d.Count != 4 {
				t.Errorf("size %g: %d points", size, d.Count)
			}
			y := positionOf(t, w, b)[1]
			near(t, "the height", y, 0.35, 0.005)
			if i == 0 {
				first[k] = y
			}
			near(t, "the height", y, first[k], []float64{1e-4, 1e-3}[k])
		}
	}
}
