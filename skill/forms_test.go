package skill_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/skill"
	"github.com/google/jsonschema-go/jsonschema"
)

var planes = []physics.Plane{physics.XY, physics.XZ}

func planeYard(t *testing.T, plane physics.Plane) *yard {
	t.Helper()
	return newYard(t, yardConfig{sim: evertick.Config{Physics: physics.Config{Plane: plane}}})
}

// The short form of an input has the same effect as the long one, bit for bit.
func TestFormsAgree(t *testing.T) {
	const box = `{"position":{"x":20,"y":4,"z":0},"body":{"type":"dynamic","shape":{"type":"box","size":{"x":1,"y":1,"z":1}}}}`
	for _, c := range []struct{ name, long, short string }{
		{"scene.createEntity", box, `{"position":[20,4,0],"shape":"box","dynamic":true}`},
		{"scene.createEntity", box, `{"position":[20,4,0],"dynamic":true,"static":false}`},
		{"scene.createEntity", box, `{"position":{"x":20,"y":4,"z":0},"size":1,"collider":"box","shape":"sphere","dynamic":true}`},
		{"scene.createEntity", `{"position":{"x":20,"y":4,"z":9},"body":{"type":"static","shape":{"type":"sphere","radius":1.5}}}`,
			`{"position":[20,4,9],"shape":"sphere","size":3,"dynamic":true,"static":true}`},
		{"scene.createEntity", `{"position":{"x":20,"y":4,"z":9},"body":{"type":"dynamic","shape":{"type":"capsule","radius":0.5,"length":2},"material":{"friction":0.25,"restitution":0.75}}}`,
			`{"position":[20,4,9],"collider":"capsule","size":2,"dynamic":true,"friction":0.25,"restitution":0.75}`},
		{"scene.createEntity", `{"position":{"x":20,"y":4,"z":9}}`, `{"position":[20,4,9],"shape":"box","dynamic":false}`},
		{"scene.createEntity", `{"position":{"x":20,"y":4,"z":9},"scale":{"x":2,"y":2,"z":2}}`, `{"position":[20,4,9],"shape":"sphere","size":2}`},
		{"scene.createEntity", `{"position":{"x":20,"y":4,"z":9},"rotation":{"x":1,"y":2,"z":2,"w":4}}`, `{"position":[20,4,9],"rotation":[1,2,2,4]}`},
		{"scene.destroyEntity", `{"id":"ent_2"}`, `{"entity":"ent_2"}`},
		{"ecs.updateComponent", `{"id":"ent_1","position":{"x":1,"y":2,"z":3}}`, `{"entity":"ent_1","component":"position","value":[1,2,3]}`},
		{"ecs.updateComponent", `{"id":"ent_1","position":{"x":1,"y":2,"z":3}}`, `{"id":"ent_1","position":[1,2,3]}`},
		{"ecs.updateComponent", `{"id":"ent_1","rotation":{"x":0,"y":0,"z":1,"w":2}}`, `{"entity":"ent_1","component":"rotation","value":[0,0,1,2]}`},
		{"ecs.updateComponent", `{"id":"ent_5","scale":{"x":1,"y":2,"z":3}}`, `{"entity":"ent_5","component":"scale","value":[1,2,3]}`},
		{"ecs.addComponent", `{"id":"ent_1","component":"hot"}`, `{"entity":"ent_1","component":"hot"}`},
		{"ecs.removeComponent", `{"id":"ent_5","component":"rock"}`, `{"entity":"ent_5","component":"rock"}`},
		{"physics.applyImpulse", `{"id":"ent_1","impulse":{"x":1,"y":2,"z":0},"point":{"x":0,"y":0.5,"z":0}}`, `{"entity":"ent_1","impulse":[1,2,0],"point":[0,0.5,0]}`},
		{"physics.raycast", `{"from":{"x":-5,"y":0,"z":0},"to":{"x":15,"y":0,"z":0}}`, `{"from":[-5,0,0],"to":[15,0,0]}`},
		{"scene.queryEntities", `{"center":{"x":0,"y":0,"z":0},"radius":20,"tags":["rock"]}`, `{"near":[0,0,0],"radius":20,"tag":"rock"}`},
	} {
		agree(t, yardConfig{}, c.name, c.long, c.short)
	}
	// In space a rotation is any, and bodies have three dimensions.
	for _, c := range []struct{ name, long, short string }{
		{"scene.createEntity", `{"position":{"x":20,"y":4,"z":5},"body":{"type":"dynamic","shape":{"type":"box","size":{"x":1,"y":1,"z":1}}}}`, `{"position":[20,4,5],"shape":"box","dynamic":true}`},
		{"scene.createEntity", `{"position":{"x":20,"y":4,"z":5},"rotation":{"x":1,"y":2,"z":2,"w":4},"body":{"type":"dynamic","shape":{"type":"box","size":{"x":2,"y":2,"z":2}}}}`,
			`{"position":[20,4,5],"rotation":[1,2,2,4],"collider":"box","size":2,"dynamic":true}`},
		{"scene.createEntity", `{"position":{"x":20,"y":4,"z":5},"body":{"type":"static","shape":{"type":"sphere","radius":1.5}}}`, `{"position":[20,4,5],"shape":"sphere","size":3,"static":true}`},
		{"scene.createEntity", `{"position":{"x":20,"y":4,"z":5},"rotation":{"x":0,"y":0,"z":1,"w":1},"scale":{"x":1,"y":2,"z":3},"body":{"type":"dynamic","shape":{"type":"capsule","radius":0.25,"length":1},"material":{"friction":0.25,"restitution":0.75}}}`,
			`{"position":[20,4,5],"rotation":[0,0,1,1],"scale":[1,2,3],"body":{"type":"dynamic","shape":{"type":"capsule","radius":0.25,"length":1},"material":{"friction":0.25,"restitution":0.75}}}`},
		{"scene.createEntity", `{"position":{"x":20,"y":4,"z":5},"body":{"type":"dynamic","shape":{"type":"hull","points":[{"x":0,"y":0,"z":0},{"x":1,"y":0,"z":0},{"x":0,"y":1,"z":0},{"x":0,"y":0,"z":1}]}}}`,
			`{"position":[20,4,5],"body":{"type":"dynamic","shape":{"type":"hull","points":[[0,0,0],[1,0,0],[0,1,0],[0,0,1]]}}}`},
		{"ecs.updateComponent", `{"id":"ent_4","position":{"x":1,"y":2,"z":3}}`, `{"entity":"ent_4","component":"position","value":[1,2,3]}`},
		{"ecs.updateComponent", `{"id":"ent_4","rotation":{"x":3,"y":1,"z":1,"w":2}}`, `{"entity":"ent_4","component":"rotation","value":[3,1,1,2]}`},
		{"ecs.updateComponent", `{"id":"ent_4","scale":{"x":1,"y":2,"z":3}}`, `{"entity":"ent_4","component":"scale","value":[1,2,3]}`},
		{"physics.applyImpulse", `{"id":"ent_4","impulse":{"x":1,"y":2,"z":3},"point":{"x":9,"y":0.5,"z":0}}`, `{"entity":"ent_4","impulse":[1,2,3],"point":[9,0.5,0]}`},
		{"physics.applyImpulse", `{"id":"ent_4","spin":{"x":1,"y":2,"z":3}}`, `{"entity":"ent_4","spin":[1,2,3]}`},
		{"physics.raycast", `{"from":{"x":9,"y":5,"z":0},"to":{"x":9,"y":-5,"z":0},"all":true}`, `{"from":[9,5,0],"to":[9,-5,0],"all":true}`},
		{"physics.overlap", `{"position":{"x":9,"y":0.2,"z":0},"rotation":{"x":0,"y":0,"z":1,"w":1},"shape":{"type":"capsule","radius":0.5,"length":1}}`,
			`{"position":[9,0.2,0],"rotation":[0,0,1,1],"shape":{"type":"capsule","radius":0.5,"length":1}}`},
	} {
		agree(t, yardConfig{space: true}, c.name, c.long, c.short)
	}
}

// agree checks that both forms of a call have the same answer and effect.
func agree(t *testing.T, config yardConfig, name, longForm, shortForm string) {
	t.Helper()
	long, short := newYard(t, config), newYard(t, config)
	a, b := long.do(t, builder, name, longForm), short.do(t, builder, name, shortForm)
	if a.Err != nil || b.Err != nil || string(a.Output) != string(b.Output) {
		t.Errorf("%s %s: %s, %v; %s: %s, %v", name, longForm, a.Output, a.Err, shortForm, b.Output, b.Err)
		return
	}
	long.step(t, 3)
	short.step(t, 3)
	if diff := apart(long, short); diff != "" {
		t.Errorf("%s %s: %s differs", name, shortForm, diff)
	}
	if calm := newYard(t, config); name[:4] == "ecs." {
		calm.step(t, 4)
		if apart(calm, short) == "" {
			t.Errorf("%s %s has changed nothing", name, shortForm)
		}
	}
}

// Inputs that contradict themselves are refused, and the error names the field.
func TestFormsRefused(t *testing.T) {
	calm, y := newYard(t, yardConfig{}), newYard(t, yardConfig{})
	const body = `"body":{"type":"static","shape":{"type":"circle","radius":1}}`
	for _, c := range []struct{ name, input, says string }{
		{"scene.createEntity", `{"position":[0,0,0],"shape":"box",` + body + `}`, "shape"},
		{"scene.createEntity", `{"position":[0,0,0],"dynamic":true,` + body + `}`, "dynamic"},
		{"scene.createEntity", `{"position":[0,0,0],"size":2,` + body + `}`, "size"},
		{"scene.createEntity", `{"position":[0,0,0],"friction":0.5}`, "friction"},
		{"scene.createEntity", `{"position":[0,0,0],"collider":"box"}`, "collider"},
		{"scene.createEntity", `{"position":[0,0,0],"size":2,"scale":[1,1,1]}`, "size"},
		{"scene.createEntity", `{"position":[0,0,0],"dynamic":true,"size":0}`, "body"},
		{"scene.createEntity", `{"position":[0,0,0],"shape":"cone","dynamic":true}`, "shape"},
		{"scene.createEntity", `{"position":[0,0]}`, "position"},
		{"scene.createEntity", `{"position":[0,0,0,0]}`, "position"},
		{"scene.createEntity", `{"position":[0,0,"1"]}`, "position"},
		{"scene.createEntity", `{"position":[0,0,null]}`, "position"},
		{"scene.createEntity", `{"position":[0,0,2e6]}`, "position"},
		{"scene.createEntity", `{"position":{"x":0,"y":0,"z":0,"w":0}}`, "position"},
		{"scene.createEntity", `{"position":null}`, "position"},
		{"scene.createEntity", `{"position":[0,0,0],"rotation":[0,0,0,0]}`, "rotation"},
		{"scene.createEntity", `{"position":[0,0,0],"rotation":[0,0,1,1],"body":{"type":"static","angle":1,"shape":{"type":"circle","radius":1}}}`, "rotation"},
		{"ecs.updateComponent", `{"entity":"ent_1","id":"ent_1","position":[0,0,0]}`, ""},
		{"ecs.updateComponent", `{"position":[0,0,0]}`, ""},
		{"ecs.updateComponent", `{"entity":"ent_1","component":"position"}`, ""},
		{"ecs.updateComponent", `{"entity":"ent_1","value":[0,0,0]}`, ""},
		{"ecs.updateComponent", `{"entity":"ent_1","component":"position","value":null}`, "value"},
		{"ecs.updateComponent", `{"entity":"ent_1","component":"position","value":[0,0,0,0]}`, "value"},
		{"ecs.updateComponent", `{"entity":"ent_1","component":"rotation","value":[0,0,1]}`, "value"},
		{"ecs.updateComponent", `{"entity":"ent_1","component":"scale","value":[0,0,1e30]}`, ""},
		{"ecs.updateComponent", `{"entity":"ent_1","component":"mass","value":[0,0,1]}`, ""},
		{"ecs.updateComponent", `{"entity":"ent_1","component":"position","value":[0,0,1],"scale":[1,1,1]}`, "component"},
		{"scene.queryEntities", `{"near":[0,0,0],"center":[0,0,0],"radius":1}`, "near"},
		{"scene.queryEntities", `{"near":[0,0,0]}`, "needs"},
	} {
		err := y.do(t, builder, c.name, c.input).Err
		calm.step(t, 1)
		if codeOf(err) != skill.InvalidInput || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s %s: %v", c.name, c.input, err)
		}
		if diff := apart(calm, y); diff != "" {
			t.Fatalf("%s %s has changed %s", c.name, c.input, diff)
		}
	}
	for input, want := range map[string]skill.Code{
		`{"entity":"ent_1","component":"position","value":[1,1,1]}`: skill.OK,
		`{"entity":"ent_2","component":"position","value":[1,1,1]}`: skill.Forbidden,
	} {
		if got := codeOf(y.do(t, player, "ecs.updateComponent", input).Err); got != want {
			t.Errorf("a player: %s: %q", input, got)
		}
	}
}

// Every accepted input matches the schema that clients get, and other inputs are refused. The root of a schema has
// no combination (oneOf and the like), which some clients refuse.
func TestSchemasAreTrue(t *testing.T) {
	y := newYard(t, yardConfig{})
	schemas := map[string]*jsonschema.Resolved{}
	for _, s := range y.r.Skills() {
		data, err := json.Marshal(s.Input)
		if err != nil {
			t.Fatal(err)
		}
		var seen jsonschema.Schema // as it comes over a wire
		if err := json.Unmarshal(data, &seen); err != nil {
			t.Fatal(err)
		}
		if seen.Type != "object" || seen.OneOf != nil || seen.AnyOf != nil || seen.AllOf != nil {
			t.Errorf("%s: root of the schema: %s", s.Name, data)
		}
		if schemas[s.Name], err = seen.Resolve(nil); err != nil {
			t.Fatal(err)
		}
	}
	vec := []string{`{"x":1,"y":2,"z":0}`, `[1,2,0]`, `[1,2]`, `[1,2,0,0]`, `{"x":1,"y":2}`, `{"x":1,"y":2,"z":0,"w":1}`, `"1 2 0"`, `null`, `[1,9e9,0]`, `[]`, `{}`}
	quat := []string{`{"x":0,"y":0,"z":0,"w":2}`, `[0,0,0,2]`, `[0,0,0]`, `[0,0,0,1,0]`, `{"x":0,"y":0,"z":0}`, `[0,0,0,1e9]`}
	refs := []string{`"id":"ent_1"`, `"entity":"ent_1"`, `"id":"ent_1","entity":"ent_1"`, `"id":"","entity":"ent_1"`, `"id":"one"`, ``}
	fits := map[string]int{}
	check := func(name, input string) {
		t.Helper()
		var v any
		if err := json.Unmarshal([]byte(input), &v); err != nil {
			t.Fatalf("%s: %v", input, err)
		}
		valid := schemas[name].Validate(v) == nil
		err := y.do(t, builder, name, input).Err
		if !valid && codeOf(err) != skill.InvalidInput || valid && err != nil {
			t.Errorf("%s %s: the schema says %t, the call %v", name, input, valid, err)
		}
		fits[fmt.Sprint(name, " ", valid)]++
	}
	for _, v := range vec {
		check("scene.createEntity", `{"position":`+v+`}`)
		check("scene.createEntity", `{"position":`+v+`,"dynamic":true}`)
		if v == "null" {
			continue // of an optional field: as if it were left out
		}
		check("ecs.updateComponent", `{"id":"ent_1","position":`+v+`}`)
		check("scene.queryEntities", `{"near":`+v+`,"radius":1}`)
		check("physics.applyImpulse", `{"id":"ent_1","impulse":`+v+`}`)
		check("physics.raycast", `{"from":`+v+`,"to":[30,2,0]}`)
	}
	for _, q := range quat {
		check("ecs.updateComponent", `{"id":"ent_1","rotation":`+q+`}`)
		check("scene.createEntity", `{"position":[0,0,0],"rotation":`+q+`}`)
	}
	for _, w := range refs {
		sep := w
		if w != "" {
			sep += ","
		}
		check("ecs.updateComponent", `{`+sep+`"scale":[1,1,1]}`)
		check("ecs.addComponent", `{`+sep+`"component":"x"}`)
		check("physics.applyImpulse", `{`+sep+`"angular":1}`)
		check("scene.setResource", `{`+sep+`"kind":"mesh","name":"rock"}`)
		check("scene.getResources", `{`+w+`}`)
		check("scene.removeResource", `{`+sep+`"kind":"mesh"}`)
	}
	for _, m := range []string{`{}`, `{"name":"rock"}`, `{"name":3}`, `{"address":"a.glb","scale":[1,1,1]}`, `{"uri":"a.glb"}`, `[]`} {
		check("scene.createEntity", `{"position":[0,0,0],"mesh":`+m+`}`)
	}
	check("scene.destroyEntity", `{}`)
	check("scene.destroyEntity", `{"entity":"ent_6"}`)
	for name := range schemas {
		if strings.HasPrefix(name, "world.") || name == "ecs.removeComponent" {
			continue
		}
		if fits[name+" true"] == 0 || fits[name+" false"] == 0 {
			t.Errorf("%s: %v", name, fits)
		}
	}
}

// randomTurn returns a quaternion about the normal of a plane, of any length and sign.
func randomTurn(rng *rand.Rand, plane physics.Plane) [4]float32 {
	q := plane.Rotation(float32((2*rng.Float64() - 1) * math.Pi))
	size := float32(math.Exp2(float64(rng.IntN(20) - 10)))
	if rng.IntN(2) == 0 {
		size = -size
	}
	for i := range q {
		q[i] *= size
	}
	return q
}

func text(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// ecs.updateComponent answers with the values that the entity has after the tick.
func TestUpdateAnswersWhatIs(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, plane := range planes {
		y := planeYard(t, plane)
		w := y.sim.World
		for n := range 200 {
			id := y.ids[n%len(y.ids)] // dynamic, static, and without a body
			q := randomTurn(rng, plane)
			at := [3]float32{float32(100 * n), float32(rng.IntN(100)), float32(rng.IntN(100))}
			out := must[skill.Updated](t, y, builder, "ecs.updateComponent",
				fmt.Sprintf(`{"id":%q,"position":%s,"rotation":%s}`, id, text(at), text(q)))
			slot, _ := w.Slot(id)
			got := [7]float32{w.Position.X[slot], w.Position.Y[slot], w.Position.Z[slot],
				w.Rotation.X[slot], w.Rotation.Y[slot], w.Rotation.Z[slot], w.Rotation.W[slot]}
			said := [7]float32{out.Position.X, out.Position.Y, out.Position.Z, out.Rotation.X, out.Rotation.Y, out.Rotation.Z, out.Rotation.W}
			for i := range got {
				if d := got[i] - said[i]; !(d <= 1e-6 && d >= -1e-6) {
					t.Fatalf("%v: %v asked for, %v said, %v is", plane, q, said, got)
				}
			}
			if said[0] != at[0] || said[1] != at[1] || said[2] != at[2] {
				t.Fatalf("%v: position %v, not %v", plane, said[:3], at)
			}
		}
	}
}

// There is one rule for the third axis: entities keep heights, which bodies ignore, and all else must lie in the
// plane. Every skill with bodies applies it.
func TestSkillsKeepTheRuleOfThePlane(t *testing.T) {
	for _, plane := range planes {
		join := func(x, y, third float32) string { return text(plane.Join([2]float32{x, y}, third)) }
		tilted, turned := `[0.7,0,0,0.7]`, text(plane.Rotation(0.5))
		body := `"body":{"type":"dynamic","shape":{"type":"circle","radius":0.5}`
		calm, y := planeYard(t, plane), planeYard(t, plane)
		for _, c := range []struct{ name, input, field string }{
			{"scene.createEntity", `{"position":[50,50,50],"rotation":` + tilted + `,"dynamic":true}`, "rotation"},
			{"scene.createEntity", `{"position":[50,50,50],"rotation":` + tilted + `,` + body + `}}`, "rotation"},
			{"scene.createEntity", `{"position":[50,50,50],` + body + `,"velocity":` + join(1, 0, 1) + `}}`, "body.velocity"},
			{"ecs.updateComponent", `{"id":"ent_1","rotation":` + tilted + `}`, "rotation"},
			{"ecs.updateComponent", `{"id":"ent_3","component":"rotation","value":` + tilted + `}`, "rotation"},
			{"physics.applyImpulse", `{"id":"ent_1","impulse":` + join(1, 0, 1) + `}`, "impulse"},
			{"physics.applyImpulse", `{"id":"ent_1","impulse":` + join(0, 0, 1) + `,"point":` + join(0, 0, 0) + `}`, "impulse"},
			{"physics.raycast", `{"from":` + join(-5, 0, 0) + `,"to":` + join(5, 0, 100) + `}`, "to"},
			{"physics.raycast", `{"from":` + join(-5, 0, 0) + `,"to":` + join(-5, 0, 100) + `,"all":true}`, "to"},
		} {
			err := y.do(t, builder, c.name, c.input).Err
			calm.step(t, 1)
			if codeOf(err) != skill.InvalidInput || !strings.Contains(err.Error(), c.field+": ") || !strings.Contains(err.Error(), "plane "+plane.String()) {
				t.Errorf("%v: %s %s: %v", plane, c.name, c.input, err)
			}
			if diff := apart(calm, y); diff != "" {
				t.Fatalf("%v: %s %s has changed %s", plane, c.name, c.input, diff)
			}
		}
		// Heights.
		out := must[skill.Created](t, y, builder, "scene.createEntity", `{"position":`+join(30, 0, 40)+`,"rotation":`+turned+`,"dynamic":true}`)
		id, err := ecs.ParseID(out.ID)
		if err != nil || out.Body != "dynamic" {
			t.Fatalf("%+v, %v", out, err)
		}
		must[skill.Pushed](t, y, builder, "physics.applyImpulse", `{"id":"`+out.ID+`","impulse":`+join(0.1, 0, 0)+`,"point":`+join(30, 0, 77)+`}`)
		b, _ := y.sim.Body(id)
		if a, err := y.sim.Physics.Angle(b); err != nil || a < 0.49 || a > 0.51 {
			t.Errorf("%v: turned by %v, %v", plane, a, err)
		}
		hits := must[skill.RayOutput](t, y, reader, "physics.raycast", `{"from":`+join(20, 0, -3)+`,"to":`+join(40, 0, -3)+`}`).Hits
		if len(hits) != 1 || hits[0].ID != out.ID {
			t.Fatalf("%v: a ray below: %+v", plane, hits)
		}
		if _, height := plane.Split([3]float32{hits[0].Point.X, hits[0].Point.Y, hits[0].Point.Z}); height != -3 {
			t.Errorf("%v: a ray at height -3 meets at %v", plane, hits[0].Point)
		}
		near := must[skill.QueryOutput](t, y, reader, "scene.queryEntities", `{"near":`+join(30, 0, 40)+`,"radius":1}`)
		far := must[skill.QueryOutput](t, y, reader, "scene.queryEntities", `{"near":`+join(30, 0, 0)+`,"radius":1}`)
		if near.Total != 1 || far.Total != 0 {
			t.Errorf("%v: queries see no heights: %+v, %+v", plane, near, far)
		}
		// A body at another height is pushed away.
		must[skill.Created](t, y, builder, "scene.createEntity", `{"position":`+join(30.3, 0, -40)+`,"dynamic":true}`)
		x := y.sim.Physics.Columns().X[b.Index()]
		y.step(t, 30)
		if now := y.sim.Physics.Columns().X[b.Index()]; now > x-0.1 {
			t.Errorf("%v: a body at another height has not pushed: %v, %v", plane, x, now)
		}
		slot, _ := y.sim.World.Slot(id)
		p := &y.sim.World.Position
		if _, height := plane.Split([3]float32{p.X[slot], p.Y[slot], p.Z[slot]}); height != 40 {
			t.Errorf("%v: height %v, not 40", plane, height)
		}
		// Entities without a body move freely.
		free := must[skill.Updated](t, y, builder, "ecs.updateComponent", `{"id":"ent_4","rotation":`+tilted+`}`)
		if free.Rotation.X < 0.707 || free.Rotation.X > 0.708 {
			t.Errorf("%v: %+v", plane, free)
		}
	}
}

// A dynamic body of a scene falls, unless the host configures another gravity.
func TestSceneHasGravity(t *testing.T) {
	for _, c := range []struct {
		config physics.Config
		want   [2]float32
	}{
		{physics.Config{}, [2]float32{0, -9.81}}, {physics.Config{Gravity: [2]float32{0, 1}}, [2]float32{0, 1}},
		{physics.Config{Gravity: [2]float32{3, 0}}, [2]float32{3, 0}}, {physics.Config{Plane: physics.XZ}, [2]float32{}},
	} {
		y := newYard(t, yardConfig{sim: skill.Scene(evertick.Config{Physics: c.config})})
		out := must[skill.Created](t, y, builder, "scene.createEntity", `{"position":[50,50,50],"shape":"box","dynamic":true}`)
		id, err := ecs.ParseID(out.ID)
		if err != nil {
			t.Fatal(err)
		}
		y.step(t, 59)
		b, _ := y.sim.Body(id)
		v, _, err := y.sim.Physics.Velocity(b)
		for i := range v {
			if d := v[i] - c.want[i]; err != nil || d > 0.01 || d < -0.01 {
				t.Errorf("%+v: velocity %v after a second, want %v", c.config, v, c.want)
				break
			}
		}
		stats := must[skill.StatsOutput](t, y, reader, "world.stats", ``)
		if g := (skill.Vec{X: c.want[0], Y: c.want[1]}); stats.Gravity != g {
			t.Errorf("world.stats says %v, not %v", stats.Gravity, g)
		}
	}
}
