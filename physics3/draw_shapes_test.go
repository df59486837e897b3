package physics3_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/draw3"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/physics3"
)

// rotatedBy rotates a vector.
func rotatedBy(q quat, v vec) vec {
	u := vec{q[0], q[1], q[2]}
	cross := func(a, b vec) vec {
		return vec{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
	}
	t := cross(u, v)
	for k := range t {
		t[k] += q[3] * v[k]
	}
	t = cross(u, t)
	for k := range v {
		v[k] += 2 * t[k]
	}
	return v
}

// boundsOf is the box around an instance, by its form.
func boundsOf(in *draw3.Instance, key draw3.Key, contents []draw3.Content) (low, high vec) {
	low, high = vec{inf, inf, inf}, vec{-inf, -inf, -inf}
	reach := func(local vec, r float32) {
		p := rotatedBy(in.Rotation, local)
		for k := range p {
			low[k], high[k] = min(low[k], in.Position[k]+p[k]-r), max(high[k], in.Position[k]+p[k]+r)
		}
	}
	switch s := in.Size; key.Form {
	case draw3.FormRound:
		reach(vec{1: s[1]}, s[0])
		reach(vec{1: -s[1]}, s[0])
	case draw3.FormBox:
		for i := range 8 {
			reach(vec{s[0] * float32(i&1*2-1), s[1] * float32(i>>1&1*2-1), s[2] * float32(i>>2*2-1)}, 0)
		}
	default:
		triangles, _ := contents[key.Content].Triangles(1 << 20)
		for _, t := range triangles {
			for _, c := range t.Corners {
				reach(c, 0)
			}
		}
	}
	return low, high
}

// Each shape is an instance where it is, whatever its place in its body and that of the body: the box around it is that of the shape.
func TestDrawnInstances(t *testing.T) {
	rng := rand.New(rand.NewPCG(paritytest.Seed(), 3))
	defer func() {
		if t.Failed() {
			t.Logf("%s=%d", paritytest.EnvSeed, paritytest.Seed())
		}
	}()
	number := func(from, to float32) float32 { return from + (to-from)*rng.Float32() }
	point := func(size float32) vec { return vec{number(-size, size), number(-size, size), number(-size, size)} }
	rotation := func() quat { return quat{number(-1, 1), number(-1, 1), number(-1, 1), number(0.1, 1)} }
	field := must[*physics3.HeightField](t)(physics3.NewHeightField(physics3.HeightFieldDef{Width: 3, Depth: 4, Cell: [2]float32{0.5, 0.7}, Heights: []float32{0, 1, 2, 3, 1, 0, 2, 2, 1, 0, 0, 1}}))
	w := emptyWorld(t, physics3.Config{Gravity: vec{0, 0, 9}})
	var all []physics3.Shape
	for i := range 60 {
		kind := physics3.DynamicBody
		if i%6 >= 4 {
			kind = physics3.StaticBody
		}
		d := dynamicAt(number(-30, 30), number(-30, 30), number(-30, 30))
		d.Type, d.Rotation, d.HasSlot, d.Slot = kind, rotation(), true, uint32(i)
		b := bodyOf(t, w, d)
		def := plain
		def.Sensor = i%7 == 0
		at := physics3.Placement{Position: point(2), Rotation: rotation()}
		switch i % 6 {
		case 0:
			all = append(all, must[physics3.Shape](t)(w.CreateSphere(b, def, physics3.Sphere{Center: point(2), Radius: number(0.1, 2)})))
		case 1:
			p1, p2 := point(2), point(2)
			if i%12 == 1 {
				p1, p2 = vec{0, 1, 0}, vec{0, -1, 0} // straight down
			}
			all = append(all, must[physics3.Shape](t)(w.CreateCapsule(b, def, physics3.Capsule{P1: p1, P2: p2, Radius: number(0.1, 1)})))
		case 2:
			all = append(all, must[physics3.Shape](t)(w.CreateBox(b, def, physics3.Box{Half: vec{number(0.1, 1), number(0.1, 1), number(0.1, 1)}, Center: point(2), Rotation: rotation()})))
		case 3:
			all = append(all, must[physics3.Shape](t)(w.CreateHull(b, def, tetrahedron, at)))
		case 4:
			all = append(all, must[physics3.Shape](t)(w.CreateMesh(b, plain, pitch, at)))
		default:
			all = append(all, must[physics3.Shape](t)(w.CreateHeightField(b, plain, field, at)))
		}
	}
	before := w.Hash()
	var d draw3.Drawing
	draw3.World(w, &d, draw3.Options{})
	if len(d.Instances) != len(all) || len(d.Colors) != len(all) || len(d.Slots) != len(all) || len(d.Keys) != len(all) || len(d.Contents) != 3 || len(d.Lines) != 0 || d.Up != (vec{2: -1}) {
		t.Fatalf("%d instances of %d shapes, %d contents, %d lines, up %v", len(d.Instances), len(all), len(d.Contents), len(d.Lines), d.Up)
	}
	for i, s := range all {
		low, high := boundsOf(&d.Instances[i], d.Keys[i], d.Contents)
		wantLow, wantHigh, err := w.ShapeBounds(s)
		no(t, err)
		def := must[physics3.ShapeDef](t)(w.ShapeDef(s))
		for k := range low {
			loose := d.Keys[i].Form == draw3.FormSurface // whose box is that around a turned box
			if low[k] < wantLow[k]-1e-4 || high[k] > wantHigh[k]+1e-4 || !loose && (low[k] > wantLow[k]+1e-4 || high[k] < wantHigh[k]-1e-4) {
				t.Fatalf("shape %d of form %d is from %v to %v, drawn from %v to %v", i, d.Keys[i].Form, wantLow, wantHigh, low, high)
			}
		}
		if d.Slots[i] != uint32(i) || d.Keys[i].Sensor != def.Sensor || (d.Colors[i]&draw3.FlagSensor != 0) != def.Sensor || (d.Colors[i]&draw3.FlagStatic != 0) != (i%6 >= 4) {
			t.Errorf("shape %d: slot %d, key %+v, colour %08x", i, d.Slots[i], d.Keys[i], d.Colors[i])
		}
	}
	if w.Hash() != before {
		t.Error("drawing has changed the state")
	}
	if !paritytest.Instrumented {
		if n := testing.AllocsPerRun(10, func() { d.Reset(); draw3.World(w, &d, draw3.Options{}) }); n > 10 {
			t.Errorf("%v allocations: more than those of the contents", n)
		}
	}
}

// A body whose pose is not finite is left out.
func TestDrawnInstancesAreFinite(t *testing.T) {
	w := emptyWorld(t, physics3.Config{})
	for i, bad := range []float32{0, float32(math.NaN()), inf, -inf} {
		b := bodyAt(t, w, physics3.DynamicBody, float32(i), 0, 0)
		sphere(t, w, b, plain, 1)
		w.Columns().QY[b.Index()] = bad
	}
	var d draw3.Drawing
	draw3.World(w, &d, draw3.Options{Boxes: true, Contacts: true, Joints: true, Velocities: true})
	if len(d.Instances) != 1 || d.Instances[0].Position != (vec{}) {
		t.Errorf("%d instances", len(d.Instances))
	}
}

// Lines are drawn for what is selected, and arrows of contacts grow with the impulse.
func TestDrawnOverlays(t *testing.T) {
	w := emptyWorld(t, physics3.Config{Gravity: vec{0, -10, 0}})
	floor := bodyAt(t, w, physics3.StaticBody, 0, -1, 0)
	box(t, w, floor, plain, 20, 1, 20)
	heavy := plain
	heavy.Density = 8
	for i, def := range []physics3.ShapeDef{plain, heavy} {
		d := dynamicAt(4*float32(i), 0.5, 0)
		d.HasSlot, d.Slot = true, uint32(10+i)
		box(t, w, bodyOf(t, w, d), def, 0.5, 0.5, 0.5)
	}
	for range 30 {
		no(t, w.Step(dt))
	}
	draw := func(o draw3.Options) (lines []draw3.Line) {
		var d draw3.Drawing
		draw3.World(w, &d, o)
		if o.NoShapes != (len(d.Instances) == 0) {
			t.Errorf("%d instances", len(d.Instances))
		}
		return d.Lines
	}
	const contact, velocity = 0xd23f7f, 0x1d93a8
	longest := func(lines []draw3.Line, from, to float32) (length float32) {
		for _, l := range lines {
			if l.Color == contact && l.P1[0] > from && l.P1[0] < to {
				length = max(length, max(l.P2[1]-l.P1[1], l.P1[1]-l.P2[1]))
			}
		}
		return length
	}
	all := draw(draw3.Options{Contacts: true, NoShapes: true})
	if light, heavy := longest(all, -1, 1), longest(all, 3, 5); !(light > 0.03 && heavy > 7*light && heavy < 9*light) {
		t.Errorf("arrows of %g and %g m", light, heavy)
	}
	one := draw(draw3.Options{Selected: 11, HasSelected: true})
	if cross := longest(one, 3, 5); longest(one, -1, 1) != 0 || !(cross > 0.05 && cross < 0.07) || !slices.ContainsFunc(one, func(l draw3.Line) bool { return l.Color == velocity }) {
		t.Errorf("of the selected body there are %d lines", len(one))
	}
	if lines := draw(draw3.Options{Selected: 99, HasSelected: true}); len(lines) != 0 {
		t.Errorf("%d lines of a slot without a body", len(lines))
	}
	if lines := draw(draw3.Options{Boxes: true}); len(lines) != 3*12 {
		t.Errorf("%d lines of three boxes", len(lines))
	}
}

// volume is what triangles enclose that face outwards.
func volume(list []draw3.Triangle) (v float64) {
	for _, t := range list {
		a, b, c := t.Corners[0], t.Corners[1], t.Corners[2]
		for k := range a {
			i, j := (k+1)%3, (k+2)%3
			v += float64(a[k]) * (float64(b[i])*float64(c[j]) - float64(b[j])*float64(c[i])) / 6
		}
	}
	return v
}

// The triangles of a hull enclose its volume, those of surfaces are theirs, and too many are made fewer with the same outline.
func TestDrawnTriangles(t *testing.T) {
	w := emptyWorld(t, physics3.Config{})
	b := bodyAt(t, w, physics3.StaticBody, 0, 0, 0)
	const n = 65
	heights := make([]float32, n*n)
	for i := range heights {
		heights[i] = float32(i%n) / 8
	}
	hole := make([]bool, (n-1)*(n-1))
	hole[70] = true
	field := must[*physics3.HeightField](t)(physics3.NewHeightField(physics3.HeightFieldDef{Width: n, Depth: n, Cell: [2]float32{1, 1}, Heights: heights, Holes: hole}))
	var contents []draw3.Content
	for _, create := range []func() (physics3.Shape, error){
		func() (physics3.Shape, error) { return w.CreateHull(b, plain, cube, physics3.Placement{}) },
		func() (physics3.Shape, error) { return w.CreateMesh(b, plain, pitch, physics3.Placement{}) },
		func() (physics3.Shape, error) { return w.CreateHeightField(b, plain, field, physics3.Placement{}) },
	} {
		must[physics3.Shape](t)(create())
	}
	var d draw3.Drawing
	draw3.World(w, &d, draw3.Options{})
	contents = d.Contents
	edges := func(list []draw3.Triangle) (n int) {
		for _, t := range list {
			n += int(t.Edges&1 + t.Edges>>1&1 + t.Edges>>2&1)
		}
		return n
	}
	hull, all := contents[0].Triangles(100)
	if len(hull) != 12 || all != 12 || edges(hull) != 24 || math.Abs(volume(hull)-float64(cube.Volume())) > 1e-5 {
		t.Errorf("the cube has %d of %d triangles, %d edges, volume %g", len(hull), all, edges(hull), volume(hull))
	}
	if mesh, all := contents[1].Triangles(2); len(mesh) != 2 || all != 2 {
		t.Errorf("the mesh has %d of %d triangles", len(mesh), all)
	}
	if mesh, all := contents[1].Triangles(1); len(mesh) != 12 || all != 2 {
		t.Errorf("the mesh with too many triangles has %d of %d", len(mesh), all)
	}
	for limit, want := range map[int]int{1 << 14: 2*64*64 - 2, 8191: 2 * 32 * 32, 600: 2 * 16 * 16, 2: 2} {
		list, all := contents[2].Triangles(limit)
		low, high := vec{inf, inf, inf}, vec{-inf, -inf, -inf}
		for _, t := range list {
			for _, c := range t.Corners {
				for k, v := range c {
					low[k], high[k] = min(low[k], v), max(high[k], v)
				}
			}
		}
		if len(list) != want || all != 2*64*64 || low != (vec{}) || high != (vec{64, 8, 64}) {
			t.Errorf("of %d there are %d of %d triangles, from %v to %v", limit, len(list), all, low, high)
		}
		for _, tri := range list {
			a, b, c := tri.Corners[0], tri.Corners[1], tri.Corners[2]
			if up := (b[2]-a[2])*(c[0]-a[0]) - (b[0]-a[0])*(c[2]-a[2]); up <= 0 {
				t.Fatalf("%v is turned over", tri)
			}
		}
	}
	if contents[0].ID() == contents[1].ID() || contents[1].ID() == contents[2].ID() {
		t.Error("two contents have one id")
	}
}
