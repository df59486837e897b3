package physics3_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick/physics3"
)

const dt = 1. / 60

// Hulls of the tests.
var (
	tetrahedron = newHull(0, vec{0, 0, 0}, vec{1, 0, 0}, vec{0, 1, 0}, vec{0, 0, 1})
	prism       = newHull(0.05, vec{-0.5, -0.4, -0.3}, vec{0.5, -0.4, -0.3}, vec{0, 0.4, -0.3}, vec{-0.5, -0.4, 0.3}, vec{0.5, -0.4, 0.3}, vec{0, 0.4, 0.3})
	cube        = newHull(0, vec{-0.4, -0.4, -0.4}, vec{0.4, -0.4, -0.4}, vec{-0.4, 0.4, -0.4}, vec{0.4, 0.4, -0.4},
		vec{-0.4, -0.4, 0.4}, vec{0.4, -0.4, 0.4}, vec{-0.4, 0.4, 0.4}, vec{0.4, 0.4, 0.4})

	// pitch is a square of two triangles with a material of their own.
	pitch = newMesh(physics3.MeshDef{
		Vertices: []vec{{-2, 0, -2}, {2, 0, -2}, {2, 0, 2}, {-2, 0, 2}}, Triangles: [][3]uint32{{0, 2, 1}, {0, 3, 2}},
		Materials:  []physics3.SurfaceMaterial{{Friction: 0.5, UserMaterial: 7}, {Friction: 1, Restitution: 0.3}},
		MaterialOf: []uint32{1, 0}, User: []uint32{70, 71},
	})

	plain = physics3.DefaultShapeDef()
)

func newMesh(d physics3.MeshDef) *physics3.Mesh {
	m, _, err := physics3.NewMesh(d)
	if err != nil {
		panic(err)
	}
	return m
}

func newHull(radius float32, points ...vec) *physics3.Hull {
	h, err := physics3.NewHull(points, physics3.HullOptions{Radius: radius})
	if err != nil {
		panic(err)
	}
	return h
}

// must returns a function that fails the test where a call has an error.
func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func no(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// emptyWorld is a world without a floor.
func emptyWorld(t testing.TB, c physics3.Config) *physics3.World {
	t.Helper()
	return must[*physics3.World](t)(physics3.New(c))
}

func bodyOf(t testing.TB, w *physics3.World, d physics3.BodyDef) physics3.Body {
	t.Helper()
	return must[physics3.Body](t)(w.CreateBody(d))
}

func bodyAt(t testing.TB, w *physics3.World, kind physics3.BodyType, x, y, z float32) physics3.Body {
	t.Helper()
	d := dynamicAt(x, y, z)
	d.Type = kind
	return bodyOf(t, w, d)
}

func sphere(t testing.TB, w *physics3.World, b physics3.Body, d physics3.ShapeDef, radius float32) physics3.Shape {
	t.Helper()
	return must[physics3.Shape](t)(w.CreateSphere(b, d, physics3.Sphere{Radius: radius}))
}

func box(t testing.TB, w *physics3.World, b physics3.Body, d physics3.ShapeDef, x, y, z float32) physics3.Shape {
	t.Helper()
	return must[physics3.Shape](t)(w.CreateBox(b, d, physics3.Box{Half: vec{x, y, z}}))
}

func shapesOf(t testing.TB, w *physics3.World, b physics3.Body) []physics3.Shape {
	t.Helper()
	return must[[]physics3.Shape](t)(w.AppendShapes(nil, b))
}

func position(t testing.TB, w *physics3.World, b physics3.Body) vec {
	t.Helper()
	return must[vec](t)(w.Position(b))
}

func snapshot(t testing.TB, w *physics3.World) []byte {
	t.Helper()
	return must[[]byte](t)(w.Snapshot(nil))
}

// sameState fails if two worlds differ, and names the first column that does.
func sameState(t testing.TB, what string, a, b *physics3.World) {
	t.Helper()
	x, y := a.ColumnHashes(), b.ColumnHashes()
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			t.Fatalf("%s: column %s differs", what, x[i].Name)
		}
	}
	if len(x) != len(y) {
		t.Fatalf("%s: %d and %d columns", what, len(x), len(y))
	}
}

// floats returns the float32 columns, in the order in which a step checks them.
func floats(w *physics3.World) (names []string, columns [][]float32) {
	c := w.Columns()
	for _, x := range []struct {
		names   string
		columns [3][]float32
	}{
		{"X Y Z", [3][]float32{c.X, c.Y, c.Z}}, {"QX QY QZ", [3][]float32{c.QX, c.QY, c.QZ}}, {"QW VX VY", [3][]float32{c.QW, c.VX, c.VY}},
		{"VZ WX WY", [3][]float32{c.VZ, c.WX, c.WY}}, {"WZ LinearDamping AngularDamping", [3][]float32{c.WZ, c.LinearDamping, c.AngularDamping}},
		{"GravityScale ForceX ForceY", [3][]float32{c.GravityScale, c.ForceX, c.ForceY}},
		{"ForceZ TorqueX TorqueY", [3][]float32{c.ForceZ, c.TorqueX, c.TorqueY}},
		{"TorqueZ CentreX CentreY", [3][]float32{c.TorqueZ, c.CentreX, c.CentreY}},
		{"CentreZ InvMass InvInertiaX", [3][]float32{c.CentreZ, c.InvMass, c.InvInertiaX}},
		{"InvInertiaY InvInertiaZ", [3][]float32{c.InvInertiaY, c.InvInertiaZ}},
	} {
		columns = append(columns, x.columns[:]...)
		names = append(names, strings.Fields(x.names)...)
	}
	return names, columns[:len(names)]
}

// sound fails where a value is out of range, a rotation is not normal, a body moves in its sleep, or is too fast.
func sound(t testing.TB, what string, w *physics3.World) {
	t.Helper()
	names, columns := floats(w)
	for k, column := range columns {
		for i, v := range column[:w.Rows()] {
			if !(v < 0x1p63 && v > -0x1p63) {
				t.Fatalf("%s: %s of body %d is %v", what, names[k], i, v)
			}
		}
	}
	c, limit := w.Columns(), float64(w.Tuning().MaxSpeed)
	live, awake := 0, 0
	for i := range w.Rows() {
		b, ok := w.BodyAt(i)
		if ok != (c.Alive[i] == 1) || ok != w.Valid(b) {
			t.Fatalf("%s: body %d: %v", what, i, ok)
		}
		if !ok {
			continue
		}
		live++
		if w.Awake(b) {
			awake++
		}
		if q := norm(c.QX[i], c.QY[i], c.QZ[i], c.QW[i]); math.Abs(q-1) > 1e-5 {
			t.Errorf("%s: the rotation of body %d has length %v", what, i, q)
		}
		v := norm(c.VX[i], c.VY[i], c.VZ[i])
		if c.Type[i] == physics3.DynamicBody && !(c.InvMass[i] < 0) && v > limit*(1+1e-6)+1e-18 { // a program may write any inverse mass
			t.Errorf("%s: body %d has %g m/s, at most %g", what, i, v, limit)
		}
		if c.Flags[i]&physics3.FlagAsleep != 0 && (v != 0 || c.WX[i] != 0 || c.WY[i] != 0 || c.WZ[i] != 0) {
			t.Errorf("%s: body %d moves in its sleep", what, i)
		}
	}
	if live != w.Len() || awake != w.AwakeCount() {
		t.Errorf("%s: %d live, %d awake; Len %d, AwakeCount %d", what, live, awake, w.Len(), w.AwakeCount())
	}
	soundEvents(t, what, w)
}

func norm(v ...float32) float64 {
	sum := 0.
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}

// soundEvents checks what must hold for the events of any step.
func soundEvents(t testing.TB, what string, w *physics3.World) {
	t.Helper()
	e := w.Events()
	bad := func(list string, v any) {
		t.Helper()
		t.Errorf("%s: %s: %v", what, list, v)
	}
	for _, touch := range e.Begin {
		if !w.ValidShape(touch.A) || !w.ValidShape(touch.B) {
			bad("Begin", touch)
		}
	}
	for _, h := range e.Hit {
		if !w.ValidShape(h.A) || !w.ValidShape(h.B) || h.Speed < 0 || !oneNaN(append(append(h.Point[:], h.Normal[:]...), h.Speed, h.Impulse)...) {
			bad("Hit", h)
		}
	}
	for _, list := range [][]uint32{e.Moved, e.Slept, e.Woke} {
		for i, k := range list {
			if _, ok := w.BodyAt(int(k)); !ok || i > 0 && k <= list[i-1] {
				bad("Moved, Slept or Woke", list)
			}
		}
	}
	for i, b := range e.Broken {
		if w.ValidJoint(b.Joint) || !oneNaN(append(b.Force[:], b.Torque[:]...)...) || i > 0 && b.Joint.Index() <= e.Broken[i-1].Joint.Index() {
			bad("Broken", e.Broken)
		}
	}
	for i, l := range e.JointLoads {
		if !w.ValidJoint(l.Joint) || !oneNaN(append(l.Force[:], l.Torque[:]...)...) || i > 0 && l.Joint.Index() <= e.JointLoads[i-1].Joint.Index() {
			bad("JointLoads", e.JointLoads)
		}
	}
	for i, d := range e.Disabled {
		if !w.Disabled(d.Body) || !oneNaN(d.Value) || i > 0 && d.Body.Index() <= e.Disabled[i-1].Body.Index() {
			bad("Disabled", e.Disabled)
		}
	}
}

// oneNaN reports whether every NaN has the bits of the one that is stored.
func oneNaN(values ...float32) bool {
	return !slices.ContainsFunc(values, func(v float32) bool { return v != v && math.Float32bits(v) != 0x7fc00000 })
}

// hashesOfSteps returns the hashes of some steps, and the world after them. If restored, a new world takes over now and then.
func hashesOfSteps(t testing.TB, w *physics3.World, n int, restored bool) (*physics3.World, []uint64) {
	t.Helper()
	var hashes []uint64
	for tick := range n {
		if restored && tick%17 == 9 {
			other := emptyWorld(t, w.Config())
			no(t, other.Restore(snapshot(t, w)))
			w = other
		}
		steps(t, w, 1)
		hashes = append(hashes, w.Hash())
	}
	return w, hashes
}

// sameWhenSaved fails if a world differs from one that restores it, be it new, another or itself, or from a copy.
func sameWhenSaved(t testing.TB, w, other *physics3.World) {
	t.Helper()
	data, fresh := snapshot(t, w), emptyWorld(t, physics3.Config{Capacity: w.Cap()})
	for _, into := range []*physics3.World{fresh, other, w} {
		no(t, into.Restore(data))
		sameState(t, "restored", w, into)
		if !slices.Equal(snapshot(t, into), data) {
			t.Fatal("another snapshot")
		}
	}
	no(t, fresh.CopyFrom(w))
	sameState(t, "copied", w, fresh)
}
