package skill_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/skill"
	"github.com/evertick/evertick/worldlog"
)

func asJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// An entity is created with a mesh and other resources, which skills and other programs read.
func TestCreateWithResources(t *testing.T) {
	y := newYard(t, yardConfig{})
	out := must[skill.Created](t, y, builder, "scene.createEntity", `{"position":[0,9,0],"dynamic":true,
		"mesh":{"name":"rock","address":"models/rock.glb","position":[0,-0.5,0],"rotation":[0,2,0,0],"scale":[2,2,2]},
		"resources":[{"kind":"sound","address":"roll.ogg"},{"kind":"collapse","name":"dust"}]}`)
	const want = `[{"kind":"collapse","name":"dust"},` +
		`{"kind":"mesh","name":"rock","address":"models/rock.glb","position":{"x":0,"y":-0.5,"z":0},"rotation":{"x":0,"y":1,"z":0,"w":0},"scale":{"x":2,"y":2,"z":2}},` +
		`{"kind":"sound","address":"roll.ogg"}]`
	got := must[skill.ResourcesOutput](t, y, reader, "scene.getResources", `{"entity":"`+out.ID+`"}`)
	if asJSON(t, got.Resources) != want || got.ID != out.ID {
		t.Errorf("%s has %s", got.ID, asJSON(t, got.Resources))
	}
	blobs, err := y.sim.World.Blobs(skill.ResourceBlobs)
	if err != nil {
		t.Fatal(err)
	}
	id, err := ecs.ParseID(out.ID)
	if err != nil {
		t.Fatal(err)
	}
	if data, has := blobs.Get(id); !has || string(data) != want {
		t.Errorf("the blob is %s", data)
	}
	found := must[skill.QueryOutput](t, y, reader, "scene.queryEntities", `{"near":[0,9,0],"nearest":1,"detail":true}`)
	if len(found.Entities) != 1 || asJSON(t, found.Entities[0].Resources) != want {
		t.Errorf("found %s", asJSON(t, found))
	}
	must[skill.Destroyed](t, y, builder, "scene.destroyEntity", `{"id":"`+out.ID+`"}`)
	if blobs.Len() != 0 {
		t.Error("resources of an entity that is destroyed are left")
	}
}

// An entity has at most sixteen, and one that is replaced does not count.
func TestManyResources(t *testing.T) {
	y := newYard(t, yardConfig{})
	for i := range 16 {
		must[skill.ResourceSet](t, y, builder, "scene.setResource", fmt.Sprintf(`{"id":"ent_1","kind":"k%d"}`, i))
	}
	if err := y.do(t, builder, "scene.setResource", `{"id":"ent_1","kind":"mesh"}`).Err; codeOf(err) != skill.CapacityExceeded {
		t.Error(err)
	}
	must[skill.ResourceSet](t, y, builder, "scene.setResource", `{"id":"ent_1","kind":"k3","name":"other"}`)
	if got := must[skill.ResourcesOutput](t, y, builder, "scene.getResources", `{"id":"ent_1"}`); len(got.Resources) != 16 {
		t.Error(got)
	}
}

// Drawn calls do what they do to a map. Their log replays to the same state, and so does a snapshot.
func TestResourcesModel(t *testing.T) {
	seed := paritytest.Seed()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 9))
	y := newYard(t, yardConfig{skills: skill.Config{Rate: skill.Unlimited}})
	dir := t.TempDir()
	rec, err := replay.Record(dir, "skills", y.sim, replay.Options{SnapshotTicks: 10, Log: worldlog.Options{Durability: worldlog.None}})
	if err != nil {
		t.Fatal(err)
	}
	model := map[string]map[string]skill.Resource{}
	for range 150 {
		id, kind := fmt.Sprintf("ent_%d", 1+r.IntN(3)), []string{"mesh", "sound", "light"}[r.IntN(3)]
		has, was := model[id][kind], len(model[id])
		_, had := model[id][kind]
		changed := false
		switch r.IntN(3) {
		case 0:
			res := skill.Resource{Kind: kind, Model: skill.Model{Name: strings.Repeat("né<&\"", r.IntN(3)), Address: "a.glb"}}
			if r.IntN(2) == 0 {
				res.Position = &skill.Vec{X: r.Float32(), Y: 1, Z: -1e-20}
			}
			if model[id] == nil {
				model[id] = map[string]skill.Resource{}
			}
			model[id][kind] = res
			input := strings.Replace(asJSON(t, res), "{", `{"id":"`+id+`",`, 1)
			changed = must[skill.ResourceSet](t, y, builder, "scene.setResource", input).Changed
			if changed != (!had || !reflect.DeepEqual(has, res)) {
				t.Fatalf("%s: changed %t", input, changed)
			}
		case 1:
			delete(model[id], kind)
			if changed = must[skill.ResourceSet](t, y, builder, "scene.removeResource", `{"id":"`+id+`","kind":"`+kind+`"}`).Changed; changed != had {
				t.Fatalf("removed %s of %s, of %d: changed %t", kind, id, was, changed)
			}
		}
		want := []skill.Resource{}
		for _, res := range model[id] {
			want = append(want, res)
		}
		slices.SortFunc(want, func(a, b skill.Resource) int { return strings.Compare(a.Kind, b.Kind) })
		if got := must[skill.ResourcesOutput](t, y, reader, "scene.getResources", `{"id":"`+id+`"}`); !reflect.DeepEqual(got.Resources, want) {
			t.Fatalf("%s has %s, want %s", id, asJSON(t, got.Resources), asJSON(t, want))
		}
	}
	snapshot, err := y.sim.Snapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	other := newYard(t, yardConfig{skills: skill.Config{Rate: skill.Unlimited}})
	if err := other.sim.Restore(snapshot); err != nil || other.sim.Hash() != y.sim.Hash() {
		t.Fatal(err)
	}
	if a, b := y.do(t, reader, "scene.getResources", `{"id":"ent_1"}`), other.do(t, reader, "scene.getResources", `{"id":"ent_1"}`); string(a.Output) != string(b.Output) {
		t.Errorf("%s, and after a restore %s", a.Output, b.Output)
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	rep, err := replay.Verify(dir, yardScenario(yardConfig{skills: skill.Config{Rate: skill.Unlimited}}), replay.VerifyOptions{})
	if err != nil || rep.Hash != y.sim.Hash() {
		t.Errorf("%+v, %v", rep, err)
	}
}
