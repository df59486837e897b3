package inspector

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/draw3"
	"github.com/evertick/evertick/internal/sims3"
	"github.com/evertick/evertick/physics3"
)

// A picture in space has the shapes where their bodies are, in batches, with the rows of their entities; looking changes no state.
func TestPictureInSpace(t *testing.T) {
	l := must(sims3.NewLife(3, evertick.Config{}))
	in := newInspector(t, l.Sim, Config{})
	sp, w := l.Bodies.World(), l.Sim.World
	if st := decode[status](t, get(t, in, "status")); !st.Space {
		t.Error("the status says that there is no space")
	}
	seq := uint64(0)
	for range 6 {
		if err := l.Sim.StepN(20); err != nil {
			t.Fatal(err)
		}
		before := l.Sim.Hash()
		f := decodeFrame(t, get(t, in, fmt.Sprintf("frame?space=1&contacts=1&joints=1&velocities=1&boxes=1&selected=1&after=%d", seq)))
		seq = f.Seq // else the last picture would do, if it is new enough
		if got := ecs.Fold(l.Sim.AppendColumnHashes(nil)); got != before {
			t.Fatal("the state has changed")
		}
		if f.Space == nil || f.Space.Up != [3]float32{0, 1, 0} || f.f32["circles"] != nil {
			t.Fatalf("head %+v", f.pictureHead)
		}
		checkInstances(t, f, l)
		for i, slot := range f.u32["slots"] {
			if f.f32["x"][i] != w.Position.X[slot] || f.f32["y"][i] != w.Position.Y[slot] || f.f32["z"][i] != w.Position.Z[slot] {
				t.Fatalf("entity %d is at %g %g %g", i, f.f32["x"][i], f.f32["y"][i], f.f32["z"][i])
			}
		}
		if n := len(f.f32["lines3"]); n == 0 || n != 6*len(f.u32["line3_colours"]) {
			t.Errorf("%d numbers of lines, %d colours", n, len(f.u32["line3_colours"]))
		}
		for k := range 3 {
			if e := f.f32["extent3"]; !(e[k] <= e[3+k]) {
				t.Errorf("extent %v", e)
			}
		}
	}
	if sp.ShapeCount() == 0 {
		t.Error("there are no shapes")
	}
	// Pictures of the plane are as they were.
	if f := decodeFrame(t, get(t, in, "frame")); f.Space != nil || f.f32["instances"] != nil {
		t.Errorf("head %+v", f.pictureHead)
	}
}

// checkInstances compares the instances of a picture with the bodies.
func checkInstances(t *testing.T, f *decoded, l *sims3.Life) {
	t.Helper()
	sp := l.Bodies.World()
	shapes := 0
	for i := range sp.Rows() {
		if body, ok := sp.BodyAt(i); ok {
			of, _ := sp.AppendShapes(nil, body)
			if at, _ := sp.Position(body); at[0]-at[0] == 0 && at[1]-at[1] == 0 && at[2]-at[2] == 0 { // others are nowhere
				shapes += len(of)
			}
		}
	}
	if n := len(f.f32["instances"]); n != 10*shapes || n != 10*len(f.u32["instance_rows"]) || n != 10*len(f.u32["instance_colours"]) {
		t.Fatalf("%d numbers of instances of %d shapes", n, shapes)
	}
	next := 0
	for i, b := range f.Space.Batches {
		if b.First != next || b.Count == 0 || b.Form == "" || (b.Geometry != "") != (b.Form == "hull" || b.Form == "surface") {
			t.Fatalf("batch %d is %+v, after %d", i, b, next)
		}
		next += b.Count
	}
	if next*10 != len(f.f32["instances"]) {
		t.Fatalf("the batches have %d instances", next)
	}
	bodies := 0 // with an entity and one shape at their middle
	for i, row := range f.u32["instance_rows"] {
		if row == draw3.NoSlot {
			continue
		}
		id, _ := l.Sim.World.ID(f.u32["slots"][row])
		body, ok := l.Bodies.Body(id)
		if !ok {
			t.Fatalf("instance %d belongs to %v, which has no body", i, id)
		}
		shapes, _ := sp.AppendShapes(nil, body)
		if len(shapes) != 1 {
			continue
		}
		low, high, err := sp.ShapeBounds(shapes[0])
		if err != nil {
			t.Fatal(err)
		}
		at := f.f32["instances"][10*i : 10*i+3]
		for k := range at {
			if at[k] < low[k]-1e-4 || at[k] > high[k]+1e-4 {
				t.Fatalf("instance %d of %v is at %v, its shape from %v to %v", i, id, at, low, high)
			}
		}
		bodies++
	}
	if bodies < 5 {
		t.Errorf("%d bodies", bodies)
	}
}

// The geometries that a picture names are there, the others are refused, and those of shapes with too many triangles have fewer.
func TestGeometry(t *testing.T) {
	sim := must(evertick.New(evertick.Config{Capacity: 10}))
	b := must(sims3.AttachFloor(sim))
	w := b.World()
	ground := must(w.CreateBody(physics3.DefaultBodyDef()))
	shape := physics3.DefaultShapeDef()
	const n = 400
	field := must(physics3.NewHeightField(physics3.HeightFieldDef{Width: n, Depth: n, Cell: [2]float32{1, 1}, Heights: make([]float32, n*n)}))
	must(w.CreateHeightField(ground, shape, field, physics3.Placement{}))
	hull := must(physics3.NewHull([][3]float32{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, physics3.HullOptions{}))
	must(w.CreateHull(ground, shape, hull, physics3.Placement{}))
	in := newInspector(t, sim, Config{})
	if err := sim.Step(); err != nil {
		t.Fatal(err)
	}
	const unknown = "geometry?id=00000000000000ab"
	if a := get(t, in, unknown); a.Status != 404 {
		t.Errorf("status %d before a picture", a.Status)
	}
	f := decodeFrame(t, get(t, in, "frame?space=1"))
	got := map[string][2]uint32{}
	for _, b := range f.Space.Batches {
		if b.Geometry == "" {
			continue
		}
		for range 2 { // made, and kept
			a := get(t, in, "geometry?id="+b.Geometry)
			count, all := binary.LittleEndian.Uint32(a.Body), binary.LittleEndian.Uint32(a.Body[4:])
			if a.Type != typeBinary || len(a.Body) != 8+40*int(count) || count > mostTriangles {
				t.Fatalf("%d bytes of type %q for %d triangles", len(a.Body), a.Type, count)
			}
			got[b.Form] = [2]uint32{count, all}
			for i := range 9 * count {
				if v := math.Float32frombits(binary.LittleEndian.Uint32(a.Body[8+4*i:])); v-v != 0 {
					t.Fatalf("corner %d is %g", i, v)
				}
			}
		}
	}
	if want := (map[string][2]uint32{"hull": {4, 4}, "surface": {2 * 200 * 200, 2 * 399 * 399}}); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("triangles %v, want %v", got, want)
	}
	for path, status := range map[string]int{unknown: 404, "geometry": 400, "geometry?id=1": 400, "geometry?id=00000000000000xy": 400} {
		if a := get(t, in, path); a.Status != status {
			t.Errorf("%s: status %d, want %d: %s", path, a.Status, status, a.Body)
		}
	}
}

// A ray picks the first body, or an entity near it that is nearer.
func TestPickInSpace(t *testing.T) {
	sim := must(evertick.New(evertick.Config{Capacity: 10}))
	b := must(sims3.AttachFloor(sim))
	var ids [4]ecs.ID
	if err := sim.World.SpawnN(ids[:]); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		must(sims3.Give(b, ids[i], sims3.CubeAt(0, 2, 5*float32(i)), 1))
	}
	for i, at := range [][3]float32{{0, 2, -3}, {3, 2, 5}} {
		if err := sim.World.SetPosition(ids[2+i], at[0], at[1], at[2]); err != nil {
			t.Fatal(err)
		}
	}
	in := newInspector(t, sim, Config{})
	if err := sim.Step(); err != nil {
		t.Fatal(err)
	}
	before := sim.Hash()
	for _, c := range []struct {
		query string
		want  string
		z     float32
	}{
		{"x=0.01&y=2&z=-10&dx=0&dy=0&dz=1", ids[0].String(), -0.5},
		{"x=0&y=2&z=-10&dx=0&dy=0&dz=1&r=0.01", ids[2].String(), 0},
		{"x=0.1&y=2&z=-10&dx=0&dy=0&dz=1&r=0.01", ids[0].String(), -0.5},
		{"x=0&y=2&z=20&dx=0&dy=0&dz=-1&r=0.01", ids[1].String(), 5.5},
		{"x=3&y=2&z=20&dx=0&dy=0&dz=-1&r=0.01", ids[3].String(), 0},
		{"x=20&y=2&z=20&dx=0&dy=-1&dz=0", "", 20}, // the floor, which is no entity
		{"x=20&y=2&z=20&dx=0&dy=1&dz=0&r=0.1", "", 0},
	} {
		p := decode[picked](t, get(t, in, "pick?space=1&"+c.query))
		got := ""
		if p.ID != nil {
			got = p.ID.String()
		}
		if got != c.want || (p.Point != nil) != (c.z != 0) || p.Point != nil && math.Abs(float64(p.Point[2]-c.z)) > 0.02 {
			t.Errorf("%s: %q at %v, want %q", c.query, got, p.Point, c.want)
		}
	}
	if sim.Hash() != before || ecs.Fold(sim.AppendColumnHashes(nil)) != before {
		t.Error("a pick has changed the state")
	}
	for query, text := range map[string]string{
		"x=0&y=0&z=0&dx=0&dy=0&dz=2":      "it has not length 1",
		"x=0&y=0&z=0&dx=0&dy=0":           `dz = \"\"`,
		"x=NaN&y=0&z=0&dx=1&dy=0&dz=0":    `x = \"NaN\"`,
		"x=0&y=0&z=0&dx=1&dy=0&dz=0&r=-1": "r = -1",
	} {
		wantAnswer(t, in, "pick?space=1&"+query, 400, text)
	}
	flat := newInspector(t, newSim(t, evertick.Config{Capacity: 8}, 1), Config{})
	wantAnswer(t, flat, "pick?space=1&x=0&y=0&z=0&dx=1&dy=0&dz=0", 400, "no bodies in space")
	wantAnswer(t, flat, "frame?space=1", 400, "no bodies in space")
	wantAnswer(t, in, "frame?space=1&selected=x", 400, `selected = \"x\"`)
	wantAnswer(t, in, "frame?space=1&selected=4294967295", 400, "selected = 4294967295")
	if st := decode[status](t, get(t, flat, "status")); st.Space {
		t.Error("the status says that there is space")
	}
}

// Batches hold each instance once, sorted by key, and keep the order of the shapes within a key.
func TestBatches(t *testing.T) {
	d := &draw3.Drawing{Contents: make([]draw3.Content, 0)}
	for i := range 300 {
		d.Keys = append(d.Keys, draw3.Key{Form: uint8(i * 7 % 2), Sensor: i%5 == 0})
	}
	of, order := batches(d)
	if len(of) != 4 || len(order) != 300 {
		t.Fatalf("%d batches, %d instances", len(of), len(order))
	}
	seen := slices.Sorted(slices.Values(order))
	for i, v := range seen {
		if v != uint32(i) {
			t.Fatalf("instance %d is missing", i)
		}
	}
	for _, b := range of {
		for i, v := range order[b.First : b.First+b.Count] {
			if k := d.Keys[v]; formNames[k.Form] != b.Form || k.Sensor != b.Sensor || i > 0 && v < order[b.First+i-1] {
				t.Fatalf("batch %+v has %+v", b, k)
			}
		}
	}
	if of[0].Sensor || !of[3].Sensor {
		t.Error("sensors do not come last")
	}
}

// wantAnswer requires a status, and words in the answer.
func wantAnswer(t *testing.T, in *Inspector, path string, status int, words string) {
	t.Helper()
	if a := get(t, in, path); a.Status != status || !strings.Contains(string(a.Body), words) {
		t.Errorf("%s: %d %s, want %d %s", path, a.Status, a.Body, status, words)
	}
}
