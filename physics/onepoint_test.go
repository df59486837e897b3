package physics_test

import (
	"math"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
)

// onePoint are n discs of half a metre in one point.
func onePoint(t *testing.T, c physics.Config, n int) *physics.World {
	c.Capacity = n
	r := fixture{t, newWorld(t, c)}
	for range n {
		r.circle(r.dynamic(0, 0), plain, 0.5)
	}
	return r.w
}

// With so many bodies in one point that all their contacts would fill the memory, the number of contacts stays bounded,
// OmittedContacts returns how many were left out, and the bodies separate.
func TestOnePoint(t *testing.T) {
	const n = 1500
	w := onePoint(t, physics.Config{}, n)
	all := n * (n - 1) / 2
	for step := range 300 {
		if err := w.Step(dt); err != nil {
			t.Fatal(err)
		}
		contacts, omitted := w.ContactCount(), w.OmittedContacts()
		if contacts > 16*n+65536 {
			t.Fatalf("step %d: %d contacts", step, contacts)
		}
		if step == 0 && (omitted == 0 || contacts+omitted != all) {
			t.Fatalf("%d contacts and %d left out, of %d", contacts, omitted, all)
		}
	}
	if left := w.OmittedContacts(); left > 0 {
		t.Errorf("%d contacts are left out in the end", left)
	}
	c := w.Columns()
	for a := range n {
		for b := a + 1; b < n; b++ {
			if d := math.Hypot(float64(c.X[b]-c.X[a]), float64(c.Y[b]-c.Y[a])); d < 0.98 {
				t.Fatalf("bodies %d and %d are %g m from each other", a, b, d)
			}
		}
	}
}

// The choice of omitted contacts depends on the data alone.
func TestOnePointOnAllLevels(t *testing.T) {
	const n = 2100 // enough for three workers
	worlds := []*physics.World{
		onePoint(t, physics.Config{Level: native.Go}, n),
		onePoint(t, physics.Config{Level: native.Go, Workers: 2}, n),
	}
	for _, level := range native.Levels() {
		worlds = append(worlds, onePoint(t, physics.Config{Level: level, Workers: 7}, n))
	}
	for step := range 2 {
		for i, w := range worlds {
			if err := w.Step(dt); err != nil {
				t.Fatal(err)
			}
			if w.OmittedContacts() == 0 || w.OmittedContacts() != worlds[0].OmittedContacts() || w.Hash() != worlds[0].Hash() {
				t.Fatalf("step %d: level %s, %d workers: not as on the first level", step, worlds[i].Config().Level, worlds[i].Config().Workers)
			}
		}
	}
	w := worlds[0]
	bytes, err := w.Snapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	clone, err := w.Clone()
	if err != nil || clone.OmittedContacts() != w.OmittedContacts() {
		t.Error("a clone does not say as many", err)
	}
	if err := w.Restore(bytes); err != nil || w.OmittedContacts() != 0 {
		t.Error("a world that was restored has left out contacts already", err)
	}
}

// A floor, thin or thick, holds all bodies of a crowd, whether it was created before or after them: the bound on
// contacts omits no contact with it.
func TestOnePointOnAFloor(t *testing.T) {
	paritytest.SkipSerialUnderRace(t)
	const n, radius = 1200, 0.5
	floors := map[string]func(fixture, physics.Body){
		"thin": func(r fixture, b physics.Body) { r.segment(b, plain, -1000, 0, 1000, 0) },
		"thick": func(r fixture, b physics.Body) {
			r.polygon(b, plain, physics.Polygon{Count: 4, Vertices: [physics.MaxPolygonVertices][2]float32{{-1000, -1}, {1000, -1}, {1000, 0}, {-1000, 0}}})
		},
	}
	for name, floor := range floors {
		for _, first := range []int{0, n} { // bodies made before the floor
			r := fixture{t, newWorld(t, physics.Config{Capacity: n + 1, Gravity: [2]float32{0, -10}})}
			for i := range n + 1 {
				if i == first {
					floor(r, r.body(physics.StaticBody, 0, 0))
				} else {
					r.circle(r.dynamic(0, radius), plain, radius)
				}
			}
			c := r.w.Columns()
			for step := range 60 {
				r.steps(1)
				if omitted := r.w.OmittedContacts(); step == 0 && omitted == 0 || r.w.ContactCount() > 16*(n+1)+65536+n {
					t.Fatalf("step %d: %d contacts, %d left out", step, r.w.ContactCount(), omitted)
				}
			}
			for i := range n + 1 {
				if c.Type[i] == physics.DynamicBody && !(c.Y[i] > 0) {
					t.Errorf("%s floor made after %d bodies: body %d is under it, at %g", name, first, i, c.Y[i])
				}
			}
		}
	}
}
