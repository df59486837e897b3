package physics3_test

import (
	"math"
	"slices"
	"testing"

	"github.com/evertick/evertick/physics3"
)

// The files cases_*_test.go hold situations that engines are known to get wrong, with values by hand, in closed form or by exact arithmetic.
// Each has a number of its own, by which it is named.
//
//	1–5      hulls                   package hull; 4 and 5 also in cases_hull_test.go
//	11–14    mass                    cases_mass_test.go
//	18–23    narrow phase            cases_contact_test.go (22 is also in package rigid3)
//	32–36    height fields           cases_field_test.go, with 74 (rays down on grid lines)
//	41–45    stacks and friction     cases_stack_test.go
//	52–57    joints                  cases_joint_test.go
//	65–69    fast bodies             cases_continuous_test.go
//	75–78    queries                 cases_query_test.go
//	86–90    events                  cases_events_test.go, cases_sensor_test.go
//	95–98    sleep                   cases_sleep_test.go
//	103–107  characters, vehicles    cases_walk_test.go, cases_wheel_test.go, and in package rig
//	114–116  free rotation           cases_spin_test.go
//	119–121  restore                 cases_restore_test.go
//	125–126  types, damping          cases_body_test.go
//
// Those of triangles, 20, 24, 32, 35, 79 and 89 and parts of 41, 45 and 76 to 78, are in cases_mesh_test.go. Those of joints and of all kinds
// of shapes, parts of 35, 76, 87, 88, 90, 95 and 125, are in cases_kinds_test.go.

type vector = [3]float64

// near checks a number within a tolerance.
func near(t testing.TB, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %g, want %g ± %g", what, got, want, tolerance)
	}
}

func wide(v [3]float32) vector { return vector{float64(v[0]), float64(v[1]), float64(v[2])} }

func minus(a, b vector) vector { return vector{a[0] - b[0], a[1] - b[1], a[2] - b[2]} }

func dot(a, b vector) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

func length(v vector) float64 { return math.Sqrt(dot(v, v)) }

// cross returns the vector product.
func cross(a, b vector) vector {
	return vector{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}

// rotated returns v, turned by a unit quaternion.
func rotated(q [4]float32, v vector) vector {
	u, w := vector{float64(q[0]), float64(q[1]), float64(q[2])}, float64(q[3])
	uv := cross(u, v)
	uuv := cross(u, uv)
	return vector{v[0] + 2*(w*uv[0]+uuv[0]), v[1] + 2*(w*uv[1]+uuv[1]), v[2] + 2*(w*uv[2]+uuv[2])}
}

// turn returns the rotation about an axis by an angle.
func turn(axis vector, angle float64) [4]float32 {
	s := math.Sin(angle/2) / length(axis)
	return [4]float32{float32(axis[0] * s), float32(axis[1] * s), float32(axis[2] * s), float32(math.Cos(angle / 2))}
}

// angleOf returns by how much a rotation turns.
func angleOf(q [4]float32) float64 {
	return 2 * math.Atan2(length(vector{float64(q[0]), float64(q[1]), float64(q[2])}), math.Abs(float64(q[3])))
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func positionOf(t testing.TB, w *physics3.World, b physics3.Body) vector {
	t.Helper()
	return wide(must[[3]float32](t)(w.Position(b)))
}

func rotationOf(t testing.TB, w *physics3.World, b physics3.Body) [4]float32 {
	t.Helper()
	return must[[4]float32](t)(w.Rotation(b))
}

func velocityOf(t testing.TB, w *physics3.World, b physics3.Body) (linear, angular vector) {
	t.Helper()
	v, a, err := w.Velocity(b)
	check(t, err)
	return wide(v), wide(a)
}

// weightlessWorld has no gravity and no floor, and room for few bodies.
func weightlessWorld(t testing.TB, c physics3.Config) *physics3.World {
	t.Helper()
	if c.Capacity == 0 {
		c.Capacity = 64
	}
	return must[*physics3.World](t)(physics3.New(c))
}

// addBody makes a body with one shape, which make attaches.
func addBody(t testing.TB, w *physics3.World, d physics3.BodyDef, attach func(b physics3.Body) (physics3.Shape, error)) physics3.Body {
	t.Helper()
	b := must[physics3.Body](t)(w.CreateBody(d))
	must[physics3.Shape](t)(attach(b))
	return b
}

// addBoxOf makes a body of one box with a material.
func addBoxOf(t testing.TB, w *physics3.World, d physics3.BodyDef, half [3]float32, shape physics3.ShapeDef) physics3.Body {
	t.Helper()
	return addBody(t, w, d, func(b physics3.Body) (physics3.Shape, error) { return w.CreateBox(b, shape, physics3.Box{Half: half}) })
}

func addSphereOf(t testing.TB, w *physics3.World, d physics3.BodyDef, radius float32, shape physics3.ShapeDef) physics3.Body {
	t.Helper()
	return addBody(t, w, d, func(b physics3.Body) (physics3.Shape, error) {
		return w.CreateSphere(b, shape, physics3.Sphere{Radius: radius})
	})
}

// uprightPrism returns an upright hull with a regular polygon of n sides.
func uprightPrism(t testing.TB, n int, radius, half float64) *physics3.Hull {
	t.Helper()
	var points [][3]float32
	for i := range n {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(n))
		for _, y := range [2]float64{-half, half} {
			points = append(points, [3]float32{float32(radius * cos), float32(y), float32(radius * sin)})
		}
	}
	return must[*physics3.Hull](t)(physics3.NewHull(points, physics3.HullOptions{}))
}

// contactOf returns the only contact of a body.
func contactOf(t testing.TB, w *physics3.World, b physics3.Body) physics3.ContactData {
	t.Helper()
	all := must[[]physics3.ContactData](t)(w.AppendContactData(nil, b))
	if len(all) != 1 {
		t.Fatalf("%d contacts", len(all))
	}
	return all[0]
}

// checkAllFinite fails if a body was disabled, or a column is not finite.
func checkAllFinite(t testing.TB, w *physics3.World) {
	t.Helper()
	c := w.Columns()
	for _, column := range [][]float32{c.X, c.Y, c.Z, c.QX, c.QY, c.QZ, c.QW, c.VX, c.VY, c.VZ, c.WX, c.WY, c.WZ} {
		if i := slices.IndexFunc(column[:w.Rows()], func(v float32) bool { return v-v != 0 }); i >= 0 {
			t.Fatalf("body %d has the value %v", i, column[i])
		}
	}
	if d := w.Events().Disabled; len(d) > 0 {
		t.Fatalf("disabled: %v", d)
	}
}
