package skill_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/skill"
)

func TestCreateEntity(t *testing.T) {
	for _, plane := range []physics.Plane{physics.XY, physics.XZ} {
		y := newYard(t, yardConfig{sim: evertick.Config{Physics: physics.Config{Plane: plane}}})
		w := y.sim.World
		at := func(id string) (ecs.Slot, physics.Body, bool) {
			e, err := ecs.ParseID(id)
			if err != nil {
				t.Fatal(err)
			}
			slot, ok := w.Slot(e)
			if !ok {
				t.Fatalf("%s is not there", id)
			}
			b, has := y.sim.Body(e)
			return slot, b, has
		}

		plain := must[skill.Created](t, y, builder, "scene.createEntity",
			`{"position":{"x":1,"y":2,"z":3},"rotation":{"x":0,"y":0,"z":3,"w":4},"scale":{"x":2,"y":3,"z":4},"tags":["lamp","red"]}`)
		slot, _, has := at(plain.ID)
		if has || w.Position.X[slot] != 1 || w.Position.Y[slot] != 2 || w.Position.Z[slot] != 3 ||
			w.Rotation.Z[slot] != 0.6 || w.Rotation.W[slot] != 0.8 || w.Scale.Z[slot] != 4 {
			t.Errorf("%v: plain entity is not as asked for", plane)
		}
		red, _ := w.Tag("red")
		if red.Count() != 1 {
			t.Errorf("%v: %d entities are red, not 1", plane, red.Count())
		}

		for _, shape := range []string{
			`{"type":"box","size":{"x":2,"y":1,"z":1}}`, `{"type":"sphere","radius":0.5}`,
			`{"type":"circle","radius":0.5}`, `{"type":"capsule","radius":0.25,"length":1}`,
		} {
			for _, kind := range []string{"static", "kinematic", "dynamic"} {
				out := must[skill.Created](t, y, builder, "scene.createEntity", fmt.Sprintf(
					`{"position":{"x":20,"y":40,"z":60},"body":{"type":%q,"angle":0.5,"shape":%s,"material":{"density":2,"friction":0.1,"restitution":0.3}}}`, kind, shape))
				slot, b, has := at(out.ID)
				if !has {
					t.Fatalf("%v: %s %s: no body", plane, kind, shape)
				}
				if got := y.sim.Physics.Columns().Type[b.Index()].String(); got != kind {
					t.Errorf("%v: a body is %s, not %s", plane, got, kind)
				}
				p, err := y.sim.Physics.Position(b)
				want := [2]float32{20, 40}
				if plane == physics.XZ {
					want[1] = 60
				}
				if err != nil || kind == "static" && p != want {
					t.Errorf("%v: body at %v, not %v: %v", plane, p, want, err)
				}
				if w.Position.X[slot] != p[0] {
					t.Errorf("%v: entity at x = %v, its body at %v", plane, w.Position.X[slot], p[0])
				}
				must[skill.Destroyed](t, y, builder, "scene.destroyEntity", fmt.Sprintf(`{"id":%q}`, out.ID))
				if y.sim.Physics.Valid(b) {
					t.Errorf("%v: a body has outlived its entity", plane)
				}
			}
		}
	}
}

// The material of the input becomes that of the shape.
func TestCreateMaterial(t *testing.T) {
	y := newYard(t, yardConfig{})
	must[skill.Created](t, y, builder, "scene.createEntity",
		`{"position":{"x":50,"y":0,"z":0},"body":{"type":"dynamic","shape":{"type":"box","size":{"x":2,"y":3,"z":1}},"material":{"density":4}}}`)
	b, ok := y.sim.Body(7)
	if !ok {
		t.Fatal("no body")
	}
	m, err := y.sim.Physics.MassData(b)
	if err != nil || math.Abs(float64(m.Mass)-24) > 1e-3 {
		t.Errorf("mass %v, not 2*3*4 kg: %v", m.Mass, err)
	}
}

func TestUpdateMovesBody(t *testing.T) {
	for _, plane := range []physics.Plane{physics.XY, physics.XZ} {
		for _, fresh := range []bool{false, true} { // made in this tick, or long ago
			y := newYard(t, yardConfig{sim: evertick.Config{Physics: physics.Config{Plane: plane}}})
			if !fresh {
				y.step(t, 3)
			}
			// A quarter turn about the normal of the plane, not normalised.
			q, want := `{"x":0,"y":0,"z":2,"w":2}`, [2]float32{-4, 5}
			if plane == physics.XZ {
				q, want = `{"x":0,"y":-2,"z":0,"w":2}`, [2]float32{-4, 6}
			}
			out := must[skill.Updated](t, y, builder, "ecs.updateComponent",
				`{"id":"ent_1","position":{"x":-4,"y":5,"z":6},"rotation":`+q+`}`)
			if l := out.Rotation; math.Abs(float64(l.X*l.X+l.Y*l.Y+l.Z*l.Z+l.W*l.W)-1) > 1e-6 {
				t.Errorf("%v: rotation %v is not normalised", plane, l)
			}
			b, _ := y.sim.Body(1)
			y.step(t, 2)
			p, _ := y.sim.Physics.Position(b)
			a, _ := y.sim.Physics.Angle(b)
			if p != want || math.Abs(float64(a)-math.Pi/2) > 1e-5 {
				t.Errorf("%v, fresh %v: body at %v, %v, not %v, π/2", plane, fresh, p, a, want)
			}
			slot, _ := y.sim.World.Slot(1)
			if y.sim.World.Position.X[slot] != -4 {
				t.Errorf("%v: entity at x = %v", plane, y.sim.World.Position.X[slot])
			}
		}
	}
}

// entities runs a query and returns the ids.
func entities(t *testing.T, y *yard, input string) (ids []string, out skill.QueryOutput) {
	t.Helper()
	out = must[skill.QueryOutput](t, y, reader, "scene.queryEntities", input)
	for _, e := range out.Entities {
		ids = append(ids, e.ID)
	}
	return ids, out
}

func TestQueryEntities(t *testing.T) {
	y := newYard(t, yardConfig{skills: skill.Config{Rows: 4}})
	for _, c := range []struct {
		input, want string
		total       int
	}{
		{`{}`, "ent_1 ent_2 ent_3 ent_4", 6},
		{`{"limit":2}`, "ent_1 ent_2", 6},
		{`{"tags":["rock"]}`, "ent_5 ent_6", 2},
		{`{"tags":["nobody"]}`, "", 0},
		{`{"without":["rock"],"exclude":"ent_2"}`, "ent_1 ent_3 ent_4", 3},
		{`{"center":{"x":7,"y":0,"z":0},"radius":4}`, "ent_3 ent_4 ent_2", 3},
		{`{"center":{"x":7,"y":0,"z":0},"radius":4,"exclude":"ent_3"}`, "ent_4 ent_2", 2},
		{`{"center":{"x":0,"y":0,"z":0},"nearest":2,"tags":["rock"]}`, "ent_5 ent_6", 2},
		{`{"center":{"x":0,"y":0,"z":0},"nearest":3,"radius":3.5}`, "ent_1 ent_2", 2},
	} {
		ids, out := entities(t, y, c.input)
		if got := strings.Join(ids, " "); got != c.want || out.Total != c.total {
			t.Errorf("%s: %q of %d, want %q of %d", c.input, got, out.Total, c.want, c.total)
		}
	}
	_, out := entities(t, y, `{"center":{"x":7,"y":0,"z":0},"nearest":1,"detail":true}`)
	if e := out.Entities[0]; *e.Distance != 1 || e.Body == nil || e.Body.Type != "static" || e.Rotation.W != 1 {
		t.Errorf("detail: %+v", e)
	}
}

// The index of the Sim is one tick old: queries still find the changes of this tick.
func TestQuerySeesThisTick(t *testing.T) {
	y := newYard(t, yardConfig{})
	y.step(t, 1)
	y.submit(t, builder, "scene.createEntity", `{"position":{"x":100,"y":100,"z":0}}`)
	y.submit(t, builder, "scene.destroyEntity", `{"id":"ent_4"}`)
	y.submit(t, builder, "ecs.updateComponent", `{"id":"ent_5","position":{"x":101,"y":100,"z":0}}`)
	p := y.submit(t, builder, "scene.queryEntities", `{"center":{"x":100,"y":100,"z":0},"radius":10}`)
	q := y.submit(t, builder, "scene.queryEntities", `{"center":{"x":9,"y":0,"z":0},"radius":1}`)
	y.step(t, 1)
	if got := string(p.Result().Output); !strings.Contains(got, `"ent_7"`) || !strings.Contains(got, `"ent_5"`) {
		t.Errorf("new and moved entities are not found: %s", got)
	}
	if got := string(q.Result().Output); !strings.Contains(got, `"total":0`) {
		t.Errorf("an entity that is gone is found: %s", got)
	}
}

func TestImpulse(t *testing.T) {
	y := newYard(t, yardConfig{})
	out := must[skill.Pushed](t, y, builder, "physics.applyImpulse", `{"id":"ent_1","impulse":{"x":1,"y":0,"z":0},"angular":0.1}`)
	b, _ := y.sim.Body(1)
	m, _ := y.sim.Physics.MassData(b)
	if want := 1 / m.Mass; math.Abs(float64(out.Velocity.X-want)) > 1e-5 || out.AngularVelocity <= 0 {
		t.Errorf("velocity %v, want %v along x, and a turn", out, want)
	}
	for input, want := range map[string]skill.Code{
		`{"id":"ent_3","impulse":{"x":1,"y":0,"z":0}}`:  skill.InvalidInput, // static
		`{"id":"ent_4","impulse":{"x":1,"y":0,"z":0}}`:  skill.InvalidInput, // no body
		`{"id":"ent_1","impulse":{"x":1,"y":0,"z":1}}`:  skill.InvalidInput, // out of the plane
		`{"id":"ent_99","impulse":{"x":1,"y":0,"z":0}}`: skill.StaleEntity,
	} {
		if got := codeOf(y.do(t, builder, "physics.applyImpulse", input).Err); got != want {
			t.Errorf("%s: %q, want %q", input, got, want)
		}
	}
}

func TestRaycast(t *testing.T) {
	y := newYard(t, yardConfig{})
	out := must[skill.RayOutput](t, y, reader, "physics.raycast", `{"from":{"x":-5,"y":0,"z":0},"to":{"x":15,"y":0,"z":0}}`)
	if len(out.Hits) != 1 || out.Hits[0].ID != "ent_1" || math.Abs(float64(out.Hits[0].Distance)-4.5) > 1e-4 || out.Hits[0].Normal.X > -0.99 {
		t.Errorf("closest: %+v", out)
	}
	out = must[skill.RayOutput](t, y, reader, "physics.raycast", `{"from":{"x":-5,"y":0,"z":0},"to":{"x":15,"y":0,"z":0},"all":true,"exclude":"ent_2"}`)
	if len(out.Hits) != 2 || out.Hits[0].ID != "ent_1" || out.Hits[1].ID != "ent_3" {
		t.Errorf("all: %+v", out)
	}
	out = must[skill.RayOutput](t, y, reader, "physics.raycast", `{"from":{"x":-5,"y":9,"z":0},"to":{"x":15,"y":9,"z":0}}`)
	if len(out.Hits) != 0 || out.Total != 0 {
		t.Errorf("a miss: %+v", out)
	}
}

func TestComponents(t *testing.T) {
	y := newYard(t, yardConfig{})
	for _, c := range []struct {
		skill   string
		changed bool
	}{{"ecs.addComponent", true}, {"ecs.addComponent", false}, {"ecs.removeComponent", true}, {"ecs.removeComponent", false}} {
		out := must[skill.Tagged](t, y, builder, c.skill, `{"id":"ent_1","component":"hot"}`)
		if out.Changed != c.changed {
			t.Errorf("%s: changed %v", c.skill, out.Changed)
		}
	}
	if out := must[skill.Tagged](t, y, builder, "ecs.removeComponent", `{"id":"ent_1","component":"unheard"}`); out.Changed {
		t.Error("a tag was taken that nobody has")
	}
}

func TestSnapshotSkill(t *testing.T) {
	y := newYard(t, yardConfig{skills: skill.Config{Snapshots: 1}})
	out := must[skill.SnapshotOutput](t, y, admin, "world.snapshot", `{}`)
	hash := y.sim.Hash()
	data, err := y.r.Snapshot(out.Handle)
	if err != nil || out.Entities != 6 || out.Bodies != 3 || out.Bytes <= 0 || out.Bytes > len(data) {
		t.Fatalf("%+v: %d bytes, %v", out, len(data), err)
	}
	y.step(t, 5)
	if err := y.sim.Restore(data); err != nil || y.sim.Hash() != hash {
		t.Errorf("restored to %#x, want %#x: %v", y.sim.Hash(), hash, err)
	}
	must[skill.SnapshotOutput](t, y, admin, "world.snapshot", `{}`)
	for _, handle := range []string{out.Handle + "x", ""} {
		if _, err := y.r.Snapshot(handle); !errors.Is(err, fault.ErrStale) {
			t.Errorf("handle %q: %v", handle, err)
		}
	}
	small := newYard(t, yardConfig{skills: skill.Config{SnapshotBytes: 100}})
	if got := codeOf(small.do(t, admin, "world.snapshot", `{}`).Err); got != skill.CapacityExceeded {
		t.Errorf("too large a snapshot: %q", got)
	}
}

func TestStats(t *testing.T) {
	y := newYard(t, yardConfig{})
	out := must[skill.StatsOutput](t, y, reader, "world.stats", ``)
	if out.Entities != 6 || out.Bodies != 3 || out.Calls != 1 || out.Capacity != 64 ||
		!slices.Equal(out.Tags, []skill.TagCount{{Name: "rock", Count: 2}}) {
		t.Errorf("%+v", out)
	}
}

// A tick with a refused call leaves the same world as a tick without it.
func TestRefusedChangesNothing(t *testing.T) {
	body := func(s string) string { return `{"position":{"x":0,"y":0,"z":0},"body":` + s + `}` }
	long := strings.Repeat("x", 20000)
	cases := []struct {
		actor       skill.Actor
		name, input string
		want        skill.Code
	}{
		{builder, "scene.createEntitee", `{}`, skill.NotFound},
		{builder, "scene.createEntity@9", `{}`, skill.NotFound},
		{builder, long, `{}`, skill.NotFound},
		{builder, "\xff\xfe", `{}`, skill.NotFound},
		{builder, "", ``, skill.NotFound},
		{builder, "scene.createEntity", ``, skill.InvalidInput},
		{builder, "scene.createEntity", `null`, skill.InvalidInput},
		{builder, "scene.createEntity", `[]`, skill.InvalidInput},
		{builder, "scene.createEntity", `{"position":{"x":1,"y":2}}`, skill.InvalidInput},
		{builder, "scene.createEntity", `{"position":{"x":1,"y":2,"z":3}} {}`, skill.InvalidInput},
		{builder, "scene.createEntity", `{"position":{"x":1,"y":2,"z":3},"slot":4}`, skill.InvalidInput},
		{builder, "scene.createEntity", `{"Position":{"x":1,"y":2,"z":3}}`, skill.InvalidInput},
		{builder, "scene.createEntity", `{"position":{"x":1,"y":2,"z":3},"position":{"x":1,"y":2,"z":3}}`, skill.InvalidInput},
		{builder, "scene.createEntity", `{"position":{"x":NaN,"y":2,"z":3}}`, skill.InvalidInput},
		{builder, "scene.createEntity", `{"position":{"x":1e39,"y":2,"z":3}}`, skill.InvalidInput},
		{builder, "scene.createEntity", `{"position":{"x":1e999,"y":2,"z":3}}`, skill.InvalidInput},
		{builder, "scene.createEntity", `{"position":{"x":2e6,"y":2,"z":3}}`, skill.InvalidInput},
		{builder, "scene.createEntity", `{"position":{"x":"1","y":2,"z":3}}`, skill.InvalidInput},
		{builder, "scene.createEntity", `{"position":{"x":1,"y":2,"z":3},"tags":["no spaces"]}`, skill.InvalidInput},
		{builder, "scene.createEntity", `{"position":{"x":1,"y":2,"z":3},"rotation":{"x":0,"y":0,"z":0,"w":0}}`, skill.InvalidInput},
		{builder, "scene.createEntity", `{"position":{"x":1,"y":2,"z":3},"tags":["` + long + `"]}`, skill.InvalidInput},
		{builder, "scene.createEntity", "{\"position\":{\"x\":1,\"y\":2,\"z\":3},\"tags\":[\"\xff\"]}", skill.InvalidInput},
		{builder, "scene.createEntity", strings.Repeat(`{"position":`, 100) + strings.Repeat(`}`, 100), skill.InvalidInput},
		{builder, "scene.createEntity", body(`{"type":"gas","shape":{"type":"circle","radius":1}}`), skill.InvalidInput},
		{builder, "scene.createEntity", body(`{"type":"static","shape":{"type":"cone","radius":1}}`), skill.InvalidInput},
		{builder, "scene.createEntity", body(`{"type":"dynamic","shape":{"type":"circle"}}`), skill.InvalidInput},
		{builder, "scene.createEntity", body(`{"type":"dynamic","shape":{"type":"circle","radius":-1}}`), skill.InvalidInput},
		{builder, "scene.createEntity", body(`{"type":"dynamic","shape":{"type":"circle","radius":1,"length":1}}`), skill.InvalidInput},
		{builder, "scene.createEntity", body(`{"type":"dynamic","shape":{"type":"box"}}`), skill.InvalidInput},
		{builder, "scene.createEntity", body(`{"type":"dynamic","shape":{"type":"box","size":{"x":0,"y":1,"z":1}}}`), skill.InvalidInput},
		{builder, "scene.createEntity", body(`{"type":"dynamic","shape":{"type":"capsule","radius":1}}`), skill.InvalidInput},
		{builder, "scene.createEntity", body(`{"type":"static","velocity":{"x":1,"y":0,"z":0},"shape":{"type":"circle","radius":1}}`), skill.InvalidInput},
		{builder, "scene.createEntity", body(`{"type":"dynamic","velocity":{"x":1,"y":0,"z":1},"shape":{"type":"circle","radius":1}}`), skill.InvalidInput},
		{builder, "scene.createEntity", `{"position":[0,0,0],"mesh":"rock.glb"}`, skill.InvalidInput},
		{builder, "scene.createEntity", `{"position":[0,0,0],"mesh":{"kind":"mesh"}}`, skill.InvalidInput},
		{builder, "scene.createEntity", `{"position":[0,0,0],"mesh":{"rotation":[0,0,0,0]}}`, skill.InvalidInput},
		{builder, "scene.createEntity", `{"position":[0,0,0],"mesh":{"position":[0,2e6,0]}}`, skill.InvalidInput},
		{builder, "scene.createEntity", `{"position":[0,0,0],"resources":[{"name":"a"}]}`, skill.InvalidInput},
		{builder, "scene.createEntity", `{"position":[0,0,0],"mesh":{},"resources":[{"kind":"mesh"}]}`, skill.InvalidInput},
		{builder, "scene.createEntity", `{"position":[0,0,0],"resources":[{"kind":"a"},{"kind":"b"},{"kind":"a"}]}`, skill.InvalidInput},
		{builder, "scene.setResource", `{"id":"ent_1","kind":"no spaces"}`, skill.InvalidInput},
		{builder, "scene.setResource", `{"id":"ent_1"}`, skill.InvalidInput},
		{builder, "scene.setResource", `{"id":"ent_1","kind":"mesh","address":"` + long[:2049] + `"}`, skill.InvalidInput},
		{builder, "scene.setResource", `{"id":"ent_44","kind":"mesh"}`, skill.StaleEntity},
		{builder, "scene.removeResource", `{"id":"ent_44","kind":"mesh"}`, skill.StaleEntity},
		{builder, "scene.getResources", `{"id":"ent_44"}`, skill.StaleEntity},
		{reader, "scene.setResource", `{"id":"ent_1","kind":"mesh"}`, skill.Forbidden},
		{builder, "scene.destroyEntity", `{"id":"ent_77"}`, skill.StaleEntity},
		{builder, "scene.destroyEntity", `{"id":"ent_0"}`, skill.StaleEntity},
		{builder, "scene.destroyEntity", `{"id":"3"}`, skill.InvalidInput},
		{builder, "scene.destroyEntity", `{"id":"ent_03"}`, skill.InvalidInput},
		{builder, "scene.destroyEntity", `{"id":"ent_9999999999999999999"}`, skill.InvalidInput},
		{builder, "scene.destroyEntity", `{"id":"` + long[:9000] + `"}`, skill.InvalidInput},
		{builder, "scene.queryEntities", `{"radius":3}`, skill.InvalidInput},
		{builder, "scene.queryEntities", `{"center":{"x":0,"y":0,"z":0}}`, skill.InvalidInput},
		{builder, "scene.queryEntities", `{"center":{"x":0,"y":0,"z":0},"nearest":100000}`, skill.InvalidInput},
		{builder, "scene.queryEntities", `{"exclude":"ent_50"}`, skill.StaleEntity},
		{builder, "ecs.updateComponent", `{"id":"ent_1"}`, skill.InvalidInput},
		{builder, "ecs.updateComponent", `{"id":"ent_44","scale":{"x":1,"y":1,"z":1}}`, skill.StaleEntity},
		{builder, "ecs.updateComponent", `{"id":"ent_1","position":{"x":1,"y":1,"z":1},"rotation":{"x":0,"y":0,"z":0,"w":0}}`, skill.InvalidInput},
		{builder, "ecs.addComponent", `{"id":"ent_44","component":"x"}`, skill.StaleEntity},
		{builder, "ecs.removeComponent", `{"id":"ent_44","component":"x"}`, skill.StaleEntity},
		{builder, "physics.applyImpulse", `{"id":"ent_1"}`, skill.InvalidInput},
		{builder, "physics.applyImpulse", `{"id":"ent_1","impulse":{"x":1,"y":0,"z":0},"angular":1e300}`, skill.InvalidInput},
		{builder, "physics.raycast", `{"from":{"x":0,"y":0,"z":0},"to":{"x":0,"y":0,"z":5}}`, skill.InvalidInput},
		{builder, "world.snapshot", `{}`, skill.Forbidden},
		{reader, "scene.createEntity", `{"position":{"x":1,"y":2,"z":3}}`, skill.Forbidden},
		{player, "scene.createEntity", `{"position":{"x":1,"y":2,"z":3}}`, skill.Forbidden},
		{player, "ecs.updateComponent", `{"id":"ent_2","position":{"x":1,"y":2,"z":3}}`, skill.Forbidden},
		{skill.Actor{Name: "x", Profile: "nobody"}, "world.stats", `{}`, skill.Forbidden},
		{skill.Actor{Name: "x", Profile: skill.Player}, "ecs.updateComponent", `{"id":"ent_0","position":{"x":1,"y":2,"z":3}}`, skill.Forbidden},
	}
	calm := newYard(t, yardConfig{})
	y := newYard(t, yardConfig{})
	for _, c := range cases {
		res := y.do(t, c.actor, c.name, c.input)
		calm.step(t, 1)
		if got := codeOf(res.Err); got != c.want {
			t.Errorf("%.60s %.200s: %q, want %q: %v", c.name, c.input, got, c.want, res.Err)
		}
		if diff := apart(calm, y); diff != "" {
			t.Fatalf("%.60s %.200s has changed %s", c.name, c.input, diff)
		}
		if len(res.Err.Error()) > 1000 {
			t.Errorf("an error of %d bytes", len(res.Err.Error()))
		}
	}
}

// apart names the first column that differs, without that of the calls themselves.
func apart(a, b *yard) string {
	x, z := a.sim.ColumnHashes(), b.sim.ColumnHashes()
	if len(x) != len(z) {
		return "the number of columns"
	}
	for i := range x {
		if x[i] != z[i] && x[i].Name != "state.skills" {
			return x[i].Name
		}
	}
	return ""
}

func TestFullWorld(t *testing.T) {
	y := newYard(t, yardConfig{sim: evertick.Config{Capacity: 8, Physics: physics.Config{Capacity: 4}}})
	ball := `{"position":{"x":9,"y":9,"z":0},"body":{"type":"dynamic","shape":{"type":"circle","radius":0.5}}}`
	plain := `{"position":{"x":9,"y":9,"z":0}}`
	for i, c := range []struct {
		input string
		want  skill.Code
	}{{ball, skill.OK}, {ball, skill.CapacityExceeded}, {plain, skill.OK}, {plain, skill.CapacityExceeded}} {
		err := y.do(t, builder, "scene.createEntity", c.input).Err
		if got := codeOf(err); got != c.want || got != skill.OK && !errors.Is(err, fault.ErrCapacity) {
			t.Errorf("%d: %v, want %q", i, err, c.want)
		}
	}
	if n := y.sim.World.Len(); n != 8 {
		t.Errorf("%d entities, not 8", n)
	}
	tags := newYard(t, yardConfig{skills: skill.Config{Tags: 2}})
	for i, want := range []skill.Code{skill.OK, skill.OK, skill.CapacityExceeded} {
		if got := codeOf(tags.do(t, builder, "ecs.addComponent", fmt.Sprintf(`{"id":"ent_1","component":"t%d"}`, i)).Err); got != want {
			t.Errorf("tag %d: %q, want %q", i, got, want)
		}
	}
}

// The schemas that clients get have the documented limits.
func TestSchemas(t *testing.T) {
	y := newYard(t, yardConfig{})
	var names []string
	for _, s := range y.r.Skills() {
		names = append(names, s.FullName())
		for _, schema := range []any{s.Input, s.Output} {
			data, err := json.Marshal(schema)
			if err != nil || !strings.Contains(string(data), `"type":"object"`) {
				t.Errorf("%s: %s %v", s.Name, data, err)
			}
		}
		if s.Description == "" {
			t.Errorf("%s: no description", s.Name)
		}
	}
	want := "ecs.addComponent@1 ecs.removeComponent@1 ecs.updateComponent@1 physics.applyImpulse@1 physics.raycast@1 " +
		"scene.createEntity@1 scene.destroyEntity@1 scene.getResources@1 scene.queryEntities@1 scene.removeResource@1 scene.setResource@1 world.snapshot@1 world.stats@1"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("skills are %s", got)
	}
}
