package skill_test

import (
	"errors"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/skill"
)

// FuzzCall calls skills with any bytes: a call that is refused changes nothing, and no call
// ends the Sim.
func FuzzCall(f *testing.F) {
	names := []string{
		"scene.createEntity", "scene.destroyEntity", "scene.queryEntities", "ecs.updateComponent", "ecs.addComponent",
		"ecs.removeComponent", "physics.applyImpulse", "physics.raycast", "world.snapshot", "world.stats",
		"scene.setResource", "scene.removeResource", "scene.getResources", "physics.overlap",
	}
	for i, input := range []string{
		`{"position":{"x":1,"y":2,"z":3},"scale":{"x":1,"y":1,"z":-1},"tags":["a"],"body":{"type":"dynamic","angle":1,"velocity":{"x":1,"y":1,"z":0},"shape":{"type":"box","size":{"x":1,"y":2,"z":3}},"material":{"density":1,"friction":1,"restitution":1}}}`,
		`{"id":"ent_1"}`, `{"tags":["rock"],"center":{"x":0,"y":0,"z":0},"radius":9,"nearest":3,"limit":2,"detail":true,"exclude":"ent_2"}`,
		`{"id":"ent_1","position":{"x":1,"y":2,"z":3},"rotation":{"x":0,"y":0,"z":1,"w":1},"scale":{"x":1,"y":1,"z":1}}`,
		`{"id":"ent_1","component":"a"}`, `{"id":"ent_5","component":"rock"}`,
		`{"id":"ent_1","impulse":{"x":1,"y":2,"z":0},"point":{"x":1,"y":2,"z":0},"angular":3}`,
		`{"from":{"x":-5,"y":0,"z":0},"to":{"x":5,"y":0,"z":0},"all":true,"exclude":"ent_1"}`, `{}`, ``,
	} {
		f.Add(uint8(i), false, []byte(input))
		f.Add(uint8(i), true, []byte(input))
	}
	for _, input := range []string{
		`{"position":[0,5,0],"rotation":[0,0,1,1],"body":{"type":"dynamic","shape":{"type":"box","size":[1,2,3]},"velocity":[1,2,3],"spin":[0,4,0],"material":{"density":2}}}`,
		`{"position":[5,5,0],"scale":[2,1,2],"body":{"type":"kinematic","shape":{"type":"sphere","radius":0.5}}}`,
		`{"position":[10,5,0],"body":{"type":"dynamic","shape":{"type":"capsule","radius":0.5,"length":1}}}`,
		`{"position":[15,5,0],"body":{"type":"static","shape":{"type":"hull","points":[[0,0,0],[1,0,0],[0,1,0],[0,0,1],[1e-7,0,0]]}}}`,
		`{"position":[0,1e6,0],"shape":"capsule","dynamic":true,"size":1e5,"friction":0.5,"restitution":0}`,
	} {
		f.Add(uint8(0), true, []byte(input))
	}
	f.Add(uint8(3), true, []byte(`{"id":"ent_4","position":[1,400,3],"rotation":[1,3,0,3],"scale":[2,3,4]}`))
	f.Add(uint8(3), true, []byte(`{"entity":"ent_4","component":"rotation","value":[1e-20,0,0,1e-20]}`))
	f.Add(uint8(6), true, []byte(`{"id":"ent_4","impulse":[3,0,4],"point":[9,0.5,0],"spin":[0,1e5,0]}`))
	f.Add(uint8(7), true, []byte(`{"from":[9,9,0],"to":[9,-9,0],"all":true,"exclude":"ent_4"}`))
	f.Add(uint8(13), true, []byte(`{"position":[9,1.2,0],"rotation":[0,1,0,1],"shape":{"type":"box","size":[3,0.2,0.2]},"exclude":"ent_2"}`))
	f.Add(uint8(13), true, []byte(`{"position":[9,0,0],"shape":{"type":"hull","points":[[0,0,0],[1,0,0],[0,1,0],[0,0,1]]}}`))
	for _, c := range []struct {
		which uint8
		input string
	}{
		{0, `{"position":{"x":1e6,"y":-1e6,"z":3},"body":{"type":"static","shape":{"type":"capsule","radius":1e-30,"length":1e5}}}`},
		{3, `{"id":"ent_2","rotation":{"x":1e-6,"y":0,"z":0,"w":0}}`},
		{0, `{"position":[0,1,0],"shape":"box","dynamic":true,"size":2,"friction":0.5,"restitution":0}`},
		{0, `{"position":[0,1,0],"rotation":[0,0,1,1],"collider":"capsule","static":true,"tags":["a"]}`},
		{10, `{"id":"ent_1","kind":"mesh","name":"rock","address":"a.glb","position":[1,2,3],"rotation":[0,1,0,1],"scale":[1,1,1]}`},
		{0, `{"position":[0,1,0],"mesh":{"name":"rock"},"resources":[{"kind":"sound","address":"a.ogg"}]}`},
		{2, `{"near":[0,0,0],"radius":9,"tag":"rock"}`},
		{3, `{"entity":"ent_1","component":"rotation","value":[0,0,1,-1]}`},
	} {
		f.Add(c.which, false, []byte(c.input))
		f.Add(c.which, true, []byte(c.input))
	}
	f.Fuzz(func(t *testing.T, which uint8, inSpace bool, input []byte) {
		y, calm := newYard(t, yardConfig{space: inSpace}), newYard(t, yardConfig{space: inSpace})
		res := y.do(t, admin, names[int(which)%len(names)], string(input))
		calm.step(t, 1)
		if diff := apart(calm, y); res.Err != nil && diff != "" {
			t.Fatalf("%v, but %s has changed", res.Err, diff)
		}
		y.step(t, 2) // what was let in does no harm
		if len(res.Output) > 0 && res.Err != nil {
			t.Fatal("an output and an error")
		}
	})
}

// FuzzInput runs any bytes in a tick as a call.
func FuzzInput(f *testing.F) {
	f.Add([]byte("\x01\x00\x05\x01\x06player\x03pam\x13ecs.updateComponent{}"))
	f.Add([]byte("\x01\x01\x05\x01\x05admin\x03pam\x13ecs.updateComponent\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\x03"))
	f.Fuzz(func(t *testing.T, data []byte) {
		y := newYard(t, yardConfig{})
		if err := y.sim.Push(evertick.Input{Source: skill.LogKind, Seq: 1, Kind: skill.LogKind, Data: data}); err != nil {
			return
		}
		y.step(t, 1)
		if trace, _ := y.r.Trace(nil, ""); len(trace) != 1 {
			t.Fatalf("%d events", len(trace))
		}
	})
}

// FuzzParseEvent reads any bytes as an event.
func FuzzParseEvent(f *testing.F) {
	f.Add([]byte("\x01\x03\x01\x01\x02\x00\x0012345678abcdefgh\x03bob\x07builder\x0bworld.stats"))
	f.Add([]byte("\x02\x03\x05\x01\x02\x00\x0012345678abcdefgh\x03bob\x07builder\x0bworld.stats\x04"))
	f.Add([]byte("\x03\x03\x05\x01\x02\x00\x09\x04\x63\x0912345678abcdefgh\x03bob\x07builder\x0bworld.stats"))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := skill.ParseEvent(data)
		if err != nil && !errors.Is(err, fault.ErrCorrupt) {
			t.Fatal(err)
		}
		if e.Decision.Source != 0 && e.Decision.Number == 0 {
			t.Fatalf("the source of no decision: %+v", e)
		}
	})
}
