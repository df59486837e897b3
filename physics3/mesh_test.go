package physics3_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/physics3"
)

// gridMesh is a square of n by n cells with two triangles each, from -size/2 to size/2, of the heights of a function.
func gridMesh(n int, size float32, height func(x, z float32) float32) physics3.MeshDef {
	var d physics3.MeshDef
	for i := range n + 1 {
		for k := range n + 1 {
			x, z := size*(float32(i)/float32(n)-0.5), size*(float32(k)/float32(n)-0.5)
			d.Vertices = append(d.Vertices, vec{x, height(x, z), z})
		}
	}
	for i := range n {
		for k := range n {
			a := uint32(i*(n+1) + k)
			b, c, e := a+1, a+uint32(n)+1, a+uint32(n)+2
			if (i+k)%2 == 0 {
				d.Triangles = append(d.Triangles, [3]uint32{a, b, e}, [3]uint32{a, e, c})
			} else {
				d.Triangles = append(d.Triangles, [3]uint32{a, b, c}, [3]uint32{b, e, c})
			}
		}
	}
	return d
}

func flat(float32, float32) float32 { return 0 }

func TestNewMesh(t *testing.T) {
	d := gridMesh(4, 4, flat)
	d.Triangles = append(d.Triangles, [3]uint32{0, 0, 1}, d.Triangles[3])
	m, report, err := physics3.NewMesh(d)
	no(t, err)
	if m.NumTriangles() != 32 || m.NumVertices() != 25 || m.TwoSided() {
		t.Errorf("%d triangles, %d vertices", m.NumTriangles(), m.NumVertices())
	}
	if low, high := m.Bounds(); low != (vec{-2, 0, -2}) || high != (vec{2, 0, 2}) {
		t.Errorf("bounds %v, %v", low, high)
	}
	if !slices.Equal(report.Degenerate, []uint32{32}) || !slices.Equal(report.Doubled, []uint32{33}) || report.Open != 16 || report.Shared != 0 {
		t.Errorf("report %+v", report)
	}
}

func TestNewMeshRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(d *physics3.MeshDef)
		is    error
		words string
	}{
		"vertex":         {func(d *physics3.MeshDef) { d.Vertices[3][1] = nan }, physics3.ErrNotFinite, "vertices[3]"},
		"far vertex":     {func(d *physics3.MeshDef) { d.Vertices[2][0] = 2e6 }, physics3.ErrRange, "vertices[2]"},
		"index":          {func(d *physics3.MeshDef) { d.Triangles[5][1] = 25 }, physics3.ErrRange, "triangles[5]"},
		"no triangle":    {func(d *physics3.MeshDef) { d.Triangles = nil }, physics3.ErrRange, "triangles"},
		"material":       {func(d *physics3.MeshDef) { d.MaterialOf = make([]uint32, 32) }, physics3.ErrRange, "MaterialOf[0]"},
		"materials":      {func(d *physics3.MeshDef) { d.MaterialOf = make([]uint32, 31) }, physics3.ErrRange, "MaterialOf"},
		"numbers":        {func(d *physics3.MeshDef) { d.User = make([]uint32, 33) }, physics3.ErrRange, "User"},
		"bad friction":   {func(d *physics3.MeshDef) { d.Materials = []physics3.SurfaceMaterial{{}, {Friction: -1}} }, physics3.ErrRange, "Materials[1].Friction"},
		"bad resistance": {func(d *physics3.MeshDef) { d.Materials = []physics3.SurfaceMaterial{{RollingResistance: inf}} }, physics3.ErrNotFinite, "Materials[0].RollingResistance"},
	} {
		d := gridMesh(4, 4, flat)
		c.spoil(&d)
		if m, _, err := physics3.NewMesh(d); m != nil || !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A mesh belongs to bodies that no force moves.
func TestMeshAndTypesOfBodies(t *testing.T) {
	w := emptyWorld(t, physics3.Config{Capacity: 10})
	still, moved, dynamic := bodyAt(t, w, physics3.StaticBody, 0, 0, 0), bodyAt(t, w, physics3.KinematicBody, 0, 0, 0), bodyAt(t, w, physics3.DynamicBody, 0, 0, 0)
	for _, b := range []physics3.Body{still, moved} {
		must[physics3.Shape](t)(w.CreateMesh(b, plain, pitch, physics3.Placement{Rotation: quat{0, 1, 0, 1}}))
		if err := w.SetType(b, physics3.DynamicBody); !errors.Is(err, physics3.ErrUnsupported) {
			t.Errorf("SetType: %v", err)
		}
	}
	no(t, w.SetType(still, physics3.KinematicBody))
	before := w.Hash()
	if _, err := w.CreateMesh(dynamic, plain, pitch, physics3.Placement{}); !errors.Is(err, physics3.ErrUnsupported) {
		t.Errorf("on a dynamic body: %v", err)
	}
	if _, err := w.CreateMesh(still, plain, nil, physics3.Placement{}); !errors.Is(err, physics3.ErrRange) {
		t.Errorf("no mesh: %v", err)
	}
	if _, err := w.CreateMesh(still, plain, pitch, physics3.Placement{Position: vec{nan}}); !errors.Is(err, physics3.ErrNotFinite) {
		t.Errorf("nowhere: %v", err)
	}
	c := w.NewCommands()
	c.CreateMesh(c.CreateBody(dynamicAt(0, 0, 0)), plain, pitch, physics3.Placement{})
	if err := w.Apply(c); !errors.Is(err, physics3.ErrUnsupported) {
		t.Errorf("by commands: %v", err)
	}
	c.Reset()
	c.CreateMesh(dynamic, plain, pitch, physics3.Placement{})
	if err := w.Apply(c); !errors.Is(err, physics3.ErrUnsupported) {
		t.Errorf("by commands: %v", err)
	}
	if w.Hash() != before {
		t.Error("a refused call has changed the world")
	}
	c.Reset()
	made := c.CreateMesh(c.CreateBody(physics3.DefaultBodyDef()), plain, pitch, physics3.Placement{})
	no(t, w.Apply(c))
	no(t, w.DestroyShape(c.Shape(made)))
}

// Worlds know meshes by their content: also after a restore, which keeps those that it finds again.
func TestMeshesInSnapshots(t *testing.T) {
	r := rand.New(rand.NewPCG(paritytest.Seed(), 3))
	w := emptyWorld(t, physics3.Config{Capacity: 30})
	d := gridMesh(3, 4, func(x, z float32) float32 { return float32(math.Sin(float64(x + 2*z))) })
	var shapes []physics3.Shape
	for i := range 12 {
		d := d
		d.TwoSided = i%3 == 1
		d.Triangles = slices.Clone(d.Triangles)
		if i%2 == 1 { // other numbers are another content
			d.Triangles[0], d.Triangles[1] = d.Triangles[1], d.Triangles[0]
		}
		if i%4 > 1 {
			d.User = make([]uint32, len(d.Triangles))
			d.User[3] = uint32(i / 6)
		}
		b := bodyAt(t, w, physics3.StaticBody, float32(i), 0, 0)
		shapes = append(shapes, must[physics3.Shape](t)(w.CreateMesh(b, plain, newMesh(d), physics3.Placement{Position: vec{r.Float32(), 0, 0}})))
	}
	other := emptyWorld(t, physics3.Config{Capacity: 30})
	for range 12 {
		i := r.IntN(len(shapes))
		no(t, w.DestroyShape(shapes[i]))
		shapes = slices.Delete(shapes, i, i+1)
		sameWhenSaved(t, w, other)
	}
}

// A mesh is drawn by its edges, each once, or as a box if it is large.
func TestDrawMeshes(t *testing.T) {
	w := emptyWorld(t, physics3.Config{Capacity: 2})
	b := bodyAt(t, w, physics3.StaticBody, 1, 2, 3)
	must[physics3.Shape](t)(w.CreateMesh(b, plain, pitch, physics3.Placement{}))
	lines := must[[]physics3.DrawnLine](t)(w.AppendDraw(nil, physics3.DrawOptions{}))
	if len(lines) != 5 || slices.ContainsFunc(lines, func(l physics3.DrawnLine) bool { return l.P1[1] != 2 || l.P2[1] != 2 }) {
		t.Errorf("lines %v", lines)
	}
	if testing.Short() {
		return
	}
	must[physics3.Shape](t)(w.CreateMesh(b, plain, newMesh(gridMesh(200, 10, flat)), physics3.Placement{}))
	if more := must[[]physics3.DrawnLine](t)(w.AppendDraw(nil, physics3.DrawOptions{})); len(more) != len(lines)+12 {
		t.Errorf("%d lines", len(more))
	}
}
