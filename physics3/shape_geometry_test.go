package physics3_test

import (
	"errors"
	"testing"

	"github.com/evertick/evertick/physics3"
)

// The geometry of a shape of each kind can be read, also after a restore and while its body is disabled, and as no other kind.
func TestGeometryIsReadAsGiven(t *testing.T) {
	w := emptyWorld(t, physics3.Config{})
	half := [4]float32{0.5, -0.5, 0.5, 0.5}
	at := physics3.Placement{Position: vec{1, 2, 3}, Rotation: [4]float32{1, -1, 1, 1}}
	unit := physics3.Placement{Position: at.Position, Rotation: half}
	ball := physics3.Sphere{Center: vec{1, -2, 3}, Radius: 0.5}
	capsule := physics3.Capsule{P1: vec{-1, 0, 2}, P2: vec{3, 4, 0}, Radius: 0.25}
	cuboid := physics3.Box{Half: vec{1, 2, 3}, Center: vec{3, 2, 1}, Rotation: half, Radius: 0.125}
	hull := newHull(0.25, vec{0, 0, 0}, vec{1, 0, 0}, vec{0, 1, 0}, vec{0, 0, 1})
	grid := newMesh(gridMesh(3, 3, flat))
	field := newField(fieldDef(4, 4, [2]float32{1, 1}, level))
	land := newTerrain(t, physics3.TerrainTile{Field: field})

	dynamic, static := bodyAt(t, w, physics3.DynamicBody, 0, 5, 0), bodyAt(t, w, physics3.StaticBody, 7, 8, 9)
	shape := must[physics3.Shape](t)
	shapes := map[physics3.ShapeKind]physics3.Shape{
		physics3.SphereShape:      shape(w.CreateSphere(dynamic, plain, ball)),
		physics3.CapsuleShape:     shape(w.CreateCapsule(dynamic, plain, capsule)),
		physics3.BoxShape:         shape(w.CreateBox(dynamic, plain, cuboid)),
		physics3.HullShape:        shape(w.CreateHull(dynamic, plain, hull, at)),
		physics3.MeshShape:        shape(w.CreateMesh(static, plain, grid, at)),
		physics3.HeightFieldShape: shape(w.CreateHeightField(static, plain, field, at)),
		physics3.TerrainShape:     shape(w.CreateTerrain(static, plain, land, at)),
	}
	read := func(w *physics3.World, kind physics3.ShapeKind, s physics3.Shape) (ok bool, err error) {
		var place physics3.Placement
		switch kind {
		case physics3.SphereShape:
			var g physics3.Sphere
			g, err = w.Sphere(s)
			return g == ball, err
		case physics3.CapsuleShape:
			var g physics3.Capsule
			g, err = w.Capsule(s)
			return g == capsule, err
		case physics3.BoxShape:
			var g physics3.Box
			g, err = w.Box(s)
			return g == cuboid, err
		case physics3.HullShape:
			var h *physics3.Hull
			h, place, err = w.Hull(s)
			ok = err == nil && h.NumVertices() == hull.NumVertices() && h.Volume() == hull.Volume()
		case physics3.MeshShape:
			var m *physics3.Mesh
			m, place, err = w.Mesh(s)
			ok = m != nil
		case physics3.HeightFieldShape:
			var f *physics3.HeightField
			f, place, err = w.HeightField(s)
			ok = f != nil
		default:
			var l *physics3.Terrain
			l, place, err = w.Terrain(s)
			ok = l != nil
		}
		return ok && place == unit, err
	}
	check := func(what string, w *physics3.World) {
		t.Helper()
		for kind, s := range shapes {
			if got, err := w.ShapeKind(s); err != nil || got != kind {
				t.Errorf("%s: %v, %v; want %v", what, got, err, kind)
			}
			for other := range shapes {
				switch ok, err := read(w, other, s); {
				case other != kind && !errors.Is(err, physics3.ErrUnsupported):
					t.Errorf("%s: a %v read as a %v: %v", what, kind, other, err)
				case other == kind && (!ok || err != nil):
					t.Errorf("%s: another %v, or %v", what, kind, err)
				}
			}
		}
	}
	check("created", w)
	steps(t, w, 1)
	copied := emptyWorld(t, physics3.Config{})
	no(t, copied.Restore(snapshot(t, w)))
	check("restored", copied)
	no(t, w.Disable(dynamic))
	check("disabled", w)
	if m, _, err := w.Mesh(shapes[physics3.MeshShape]); err != nil || m != grid {
		t.Error("another mesh", err)
	}

	no(t, w.DestroyBody(dynamic))
	no(t, w.DestroyBody(static))
	for kind, s := range shapes {
		if _, err := w.ShapeKind(s); !errors.Is(err, physics3.ErrStale) {
			t.Errorf("%v: %v", kind, err)
		}
		if _, err := read(w, kind, s); !errors.Is(err, physics3.ErrStale) {
			t.Errorf("%v: %v", kind, err)
		}
	}
	if got := physics3.HeightFieldShape.String() + physics3.ShapeKind(9).String(); got != "height fieldShapeKind(9)" {
		t.Error(got)
	}
}
