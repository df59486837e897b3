package inspector

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/sims3"
	"github.com/evertick/evertick/physics"
	"pgregory.net/rapid"
)

// scene is a random world: entities in slots with gaps, columns, a tag, and bodies.
type scene struct {
	sim    *evertick.Sim
	hp     *ecs.Column[int32]
	vel    *ecs.Column[[2]float64]
	red    ecs.Tag
	bodies int
}

func drawScene(t *rapid.T) *scene {
	c := evertick.Config{Capacity: rapid.IntRange(1, 300).Draw(t, "capacity")}
	c.Physics.Plane = rapid.SampledFrom([]physics.Plane{physics.XY, physics.XZ}).Draw(t, "plane")
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	sim, err := evertick.New(c)
	must(err)
	s := &scene{sim: sim}
	s.hp, err = ecs.AddColumn[int32](sim.World, "hp")
	must(err)
	s.vel, err = ecs.AddArrayColumn[[2]float64](sim.World, "vel")
	must(err)
	s.red, err = sim.World.Tag("red")
	must(err)
	ids := make([]ecs.ID, rapid.IntRange(0, c.Capacity).Draw(t, "entities"))
	must(sim.World.SpawnN(ids))
	share := rapid.SampledFrom([]int{1, 2, 10, 1000}).Draw(t, "one in so many is gone")
	for _, id := range ids {
		if rapid.IntRange(1, share).Draw(t, "gone") == 1 && share > 1 {
			sim.World.Despawn(id)
		}
	}
	number := rapid.Float32Range(-100, 100)
	for id := range sim.World.IDs() {
		must(sim.World.SetPosition(id, number.Draw(t, "x"), number.Draw(t, "y"), number.Draw(t, "z")))
		slot, _ := sim.World.Slot(id)
		s.hp.Values()[slot] = rapid.Int32Range(-1<<20, 1<<20).Draw(t, "hp")
		s.vel.Values()[slot] = [2]float64{rapid.Float64().Draw(t, "vx"), 1}
		if rapid.Bool().Draw(t, "red") {
			s.red.Set(id)
		}
		if rapid.IntRange(0, 3).Draw(t, "body") == 0 {
			s.addBody(t, id, slot)
		}
	}
	return s
}

func (s *scene) addBody(t *rapid.T, id ecs.ID, slot ecs.Slot) {
	p := &s.sim.World.Position
	def := physics.DefaultBodyDef()
	def.Type = rapid.SampledFrom([]physics.BodyType{physics.StaticBody, physics.DynamicBody}).Draw(t, "type")
	def.Position, _ = s.sim.Physics.Config().Plane.Split([3]float32{p.X[slot], p.Y[slot], p.Z[slot]})
	body, err := s.sim.CreateBody(id, def)
	if err != nil {
		t.Fatal(err)
	}
	if rapid.Bool().Draw(t, "circle") {
		_, err = s.sim.Physics.CreateCircle(body, physics.DefaultShapeDef(), physics.Circle{Radius: 2})
	} else {
		_, err = s.sim.Physics.CreatePolygon(body, physics.DefaultShapeDef(), physics.Box(1, 2))
	}
	if err != nil {
		t.Fatal(err)
	}
	s.bodies++
}

// A frame that is read back is the world, whatever is alive and whatever is asked for.
func TestAFrameIsTheWorld(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawScene(rt)
		in := newInspector(t, s.sim, Config{})
		for range rapid.IntRange(0, 2).Draw(rt, "ticks") {
			if err := s.sim.Step(); err != nil {
				rt.Fatal(err)
			}
		}
		by := rapid.SampledFrom([]string{"", "hp", "vel[0]", "vel[1]", "position.y", "tag:red"}).Draw(rt, "by")
		o := physics.DrawOptions{Contacts: rapid.Bool().Draw(rt, "contacts"), Joints: rapid.Bool().Draw(rt, "joints"),
			Velocities: rapid.Bool().Draw(rt, "velocities"), Boxes: rapid.Bool().Draw(rt, "boxes")}
		query := url.Values{"by": {by}}
		if name, ok := strings.CutPrefix(by, "tag:"); ok {
			query = url.Values{"tag": {name}}
		}
		for name, on := range map[string]bool{"contacts": o.Contacts, "joints": o.Joints, "velocities": o.Velocities, "boxes": o.Boxes} {
			if on {
				query.Set(name, "1")
			}
		}
		f := decodeFrame(rt, get(rt, in, "frame?"+query.Encode()))
		if f.Tick != s.sim.Ticks() || f.Hash != HashText(s.sim.Hash()) || f.Entities != s.sim.World.Len() || f.Run != in.run {
			rt.Fatalf("head is %+v", f.pictureHead)
		}
		s.checkEntities(rt, f, by)
		s.checkDrawing(rt, f, o)
	})
}

func (s *scene) checkEntities(t *rapid.T, f *decoded, by string) {
	w := s.sim.World
	var slots []uint32
	var x, y, values []float32
	for slot := range uint32(w.HighWater()) {
		id, alive := w.ID(slot)
		if !alive {
			continue
		}
		at, _ := s.sim.Physics.Config().Plane.Split([3]float32{w.Position.X[slot], w.Position.Y[slot], w.Position.Z[slot]})
		slots, x, y = append(slots, slot), append(x, at[0]), append(y, at[1])
		switch by {
		case "hp":
			values = append(values, float32(s.hp.Values()[slot]))
		case "vel[0]":
			values = append(values, float32(s.vel.Values()[slot][0]))
		case "vel[1]":
			values = append(values, 1)
		case "position.y":
			values = append(values, w.Position.Y[slot])
		case "tag:red":
			v := float32(0)
			if s.red.Has(id) {
				v = 1
			}
			values = append(values, v)
		}
	}
	if !slices.Equal(f.u32["slots"], slots) || !slices.Equal(f.f32["x"], x) || !slices.Equal(f.f32["y"], y) {
		t.Fatalf("slots %v at %v, %v; want %v at %v, %v", f.u32["slots"], f.f32["x"], f.f32["y"], slots, x, y)
	}
	if !slices.Equal(f.f32["by"], values) {
		t.Fatalf("by %s: %v, want %v", by, f.f32["by"], values)
	}
}

func (s *scene) checkDrawing(t *rapid.T, f *decoded, o physics.DrawOptions) {
	var d physics.Drawing
	if err := s.sim.Physics.AppendDraw(&d, o); err != nil {
		t.Fatal(err)
	}
	f32, u32 := map[string][]float32{}, map[string][]uint32{}
	for _, c := range d.Circles {
		f32["circles"] = append(f32["circles"], c.Center[0], c.Center[1], c.Radius, c.Axis[0], c.Axis[1])
		u32["circle_colours"] = append(u32["circle_colours"], uint32(c.Color)<<8+255)
	}
	for _, p := range d.Polygons {
		u32["polygons"] = append(u32["polygons"], uint32(p.First), uint32(p.Count))
		f32["polygon_radius"] = append(f32["polygon_radius"], p.Radius)
		u32["polygon_colours"] = append(u32["polygon_colours"], uint32(p.Color)<<8+255)
	}
	for _, p := range d.Points {
		f32["points"] = append(f32["points"], p[:]...)
	}
	for _, l := range d.Lines {
		f32["lines"] = append(f32["lines"], l.P1[0], l.P1[1], l.P2[0], l.P2[1])
		u32["line_colours"] = append(u32["line_colours"], uint32(l.Color)<<8+255)
	}
	for _, name := range []string{"circles", "polygon_radius", "points", "lines"} {
		if !slices.Equal(f.f32[name], f32[name]) {
			t.Fatalf("%s: %v, want %v", name, f.f32[name], f32[name])
		}
	}
	for _, name := range []string{"circle_colours", "polygons", "polygon_colours", "line_colours"} {
		if !slices.Equal(f.u32[name], u32[name]) {
			t.Fatalf("%s: %v, want %v", name, f.u32[name], u32[name])
		}
	}
	if len(d.Circles)+len(d.Polygons) != s.bodies && !o.Contacts {
		t.Fatalf("%d shapes of %d bodies", len(d.Circles)+len(d.Polygons), s.bodies)
	}
	var want []float32
	reach := func(x, y float32) {
		if want == nil {
			want = []float32{x, y, x, y}
		}
		want = []float32{min(want[0], x), min(want[1], y), max(want[2], x), max(want[3], y)}
	}
	for i, x := range f.f32["x"] {
		reach(x, f.f32["y"][i])
	}
	if s.bodies > 0 {
		reach(d.Extent.Min[0], d.Extent.Min[1])
		reach(d.Extent.Max[0], d.Extent.Max[1])
	}
	if !slices.Equal(f.f32["extent"], want) {
		t.Fatalf("extent %v, want %v", f.f32["extent"], want)
	}
}

// Positions that are not finite are sent as they are, and do not reach the extent.
func TestTheExtentIsFinite(t *testing.T) {
	sim := newSim(t, evertick.Config{Capacity: 8}, 4)
	in := newInspector(t, sim, Config{})
	p := &sim.World.Position
	p.X[1], p.Y[3] = float32(math.Inf(1)), float32(math.NaN())
	f := decodeFrame(t, get(t, in, "frame"))
	if !slices.Equal(f.f32["extent"], []float32{0, 0, 2, 4}) || !math.IsInf(float64(f.f32["x"][1]), 1) || f.f32["y"][3] == f.f32["y"][3] {
		t.Errorf("extent %v, x %v, y %v", f.f32["extent"], f.f32["x"], f.f32["y"])
	}
}

// The section of slots is left out if the page has it, until an entity comes or goes, a Restore, or a Reorder.
func TestSlotsAreSentWhenTheyChange(t *testing.T) {
	sim := newSim(t, evertick.Config{Capacity: 8}, 4)
	in := newInspector(t, sim, Config{})
	have, seq := uint64(0), uint64(0)
	expect := func(what string, sent bool) {
		t.Helper()
		if err := sim.Step(); err != nil {
			t.Fatal(err)
		}
		f := decodeFrame(t, get(t, in, fmt.Sprintf("frame?have=%d&after=%d", have, seq)))
		if got := len(f.u32["slots"]) > 0; got != sent || len(f.f32["x"]) != sim.World.Len() {
			t.Errorf("%s: slots sent %v", what, got)
		}
		have, seq = f.SlotsVersion, f.Seq
	}
	expect("first", true)
	expect("unchanged", false)
	sim.World.Despawn(2)
	expect("despawn", true)
	snapshot, err := sim.Snapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	expect("unchanged", false)
	if err := sim.Restore(snapshot); err != nil {
		t.Fatal(err)
	}
	expect("restore", true)
	order := sim.World.LiveSlots(nil)
	slices.Reverse(order)
	if err := sim.World.Reorder(order); err != nil {
		t.Fatal(err)
	}
	expect("reorder", true)
	expect("unchanged", false)
}

func TestRefusedRequestsNameWhatIsWrong(t *testing.T) {
	sim := newSim(t, evertick.Config{Capacity: 8}, 4)
	if _, err := ecs.AddArrayColumn[[3]float32](sim.World, "vel"); err != nil {
		t.Fatal(err)
	}
	in := newInspector(t, sim, Config{})
	for _, c := range []struct {
		method, path string
		status       int
		says         string
	}{
		{"GET", "frame?by=speed", 400, `by: column = \"speed\": out of range: no such column`},
		{"GET", "frame?by=vel", 400, "its rows have 3 numbers"},
		{"GET", "frame?by=vel[3]", 400, `\"vel[3]\"`},
		{"GET", "frame?by=vel[-1]", 400, `\"vel[-1]\"`},
		{"GET", "frame?by=position.x[0]x", 400, "no such column"},
		{"GET", "frame?tag=red", 400, `tag = \"red\": out of range: no such tag`},
		{"GET", "frame?contacts=yes", 400, `contacts = \"yes\"`},
		{"GET", "frame?after=-1", 400, `after = \"-1\"`},
		{"GET", "frame?have=x", 400, `have = \"x\"`},
		{"GET", "hashes?after=x", 400, `after = \"x\"`},
		{"GET", "steps?after=x", 400, `after = \"x\"`},
		{"GET", "status?of=log", 400, `of = \"log\"`},
		{"GET", "statuses", 404, `there is no request \"statuses\"`},
		{"GET", "", 404, `there is no request \"\"`},
		{"PUT", "status", 405, "method of status = PUT"},
	} {
		r := request(t, c.path)
		r.Method = c.method
		a := answer(t, in, r)
		if a.Status != c.status || !strings.Contains(string(a.Body), c.says) || !strings.HasPrefix(string(a.Body), `{"error":"inspector: `) {
			t.Errorf("%s %s: %d %s, want %d %s", c.method, c.path, a.Status, a.Body, c.status, c.says)
		}
	}
	if tags := sim.World.Describe().Tags; len(tags) != 0 {
		t.Errorf("looking has added the tags %v", tags)
	}
}

// Frames with more different options than are kept replace each other.
func TestViewsAreBounded(t *testing.T) {
	sim := newSim(t, evertick.Config{Capacity: 8}, 4)
	in := newInspector(t, sim, Config{})
	for i := range 3 * maxViews {
		by := []string{"position.x", "position.y", "position.z", "scale.x", "scale.y", "scale.z"}[i%6]
		query := fmt.Sprintf("frame?by=%s&contacts=%d&joints=%d&boxes=%d", by, i>>3&1, i>>4&1, i>>5&1)
		decodeFrame(t, get(t, in, query))
	}
	if n := len(in.live.pictures.views); n > maxViews {
		t.Errorf("%d views", n)
	}
}

func TestNewRefusesNothingToLookAt(t *testing.T) {
	if _, err := New(nil, Config{}); err == nil {
		t.Error("no Sim and no log")
	}
	if _, err := New(newSim(t, evertick.Config{Capacity: 8}, 1), Config{Other: "b"}); err == nil {
		t.Error("Other without Log")
	}
}

// No request panics, changes the state or has a status that HTTP lacks.
func FuzzAnswer(f *testing.F) {
	for key := range routes { // order-free: seeds
		method, path, _ := strings.Cut(key, " ")
		f.Add(method, path, "of=live&after=1", []byte("{}"))
	}
	f.Add("GET", "frame", "by=vel[0]&have=1&shapes=0&contacts=1", []byte(nil))
	f.Add("GET", "entities", "where=hp>3&sort=hp&columns=vel&count=9&without=red", []byte(nil))
	f.Add("POST", "timeline", "", []byte(`{"of":"live","step":-1}`))
	f.Add("GET", "entity", "slot=3", []byte(nil))
	f.Add("GET", "frame", "by=position.z&joints=1&velocities=1&boxes=1", []byte(nil))
	f.Add("GET", "entities", "where=position.y>0.5&sort=position.x&columns=rotation.w&descending=1", []byte(nil))
	l := must(sims3.NewLife(9, evertick.Config{})) // with bodies in the plane and in space
	sim := l.Sim
	if _, err := ecs.AddArrayColumn[[3]float32](sim.World, "vel"); err != nil {
		f.Fatal(err)
	}
	if err := sim.StepN(120); err != nil {
		f.Fatal(err)
	}
	f.Add("GET", "frame", "space=1&selected=2&contacts=1&joints=1&velocities=1&boxes=1", []byte(nil))
	f.Add("GET", "pick", "space=1&x=0&y=9&z=0&dx=0&dy=-1&dz=0&r=0.1", []byte(nil))
	f.Add("GET", "geometry", "id=0123456789abcdef", []byte(nil))
	in := newInspector(f, sim, Config{})
	want := ecs.Fold(sim.AppendColumnHashes(nil))
	f.Fuzz(func(t *testing.T, method, path, query string, body []byte) {
		values, _ := url.ParseQuery(query) // what could be read of it
		a := answer(t, in, &Request{Method: method, Path: path, Query: values, Body: body})
		if a.Status < 200 || a.Status > 599 || len(a.Body) > 0 != (a.Type != "") {
			t.Fatalf("%d %s %.80q", a.Status, a.Type, a.Body)
		}
		if ecs.Fold(sim.AppendColumnHashes(nil)) != want {
			t.Fatal("the state has changed")
		}
	})
}
