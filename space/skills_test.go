package space_test

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/sims3"
	"github.com/evertick/evertick/internal/simtest"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/skill"
	"github.com/evertick/evertick/space"
)

// studio is a Sim with a space and the standard skills.
type studio struct {
	sim    *evertick.Sim
	bodies *space.Bodies
	r      *skill.Registry
}

func newStudio(seed uint64) (*studio, error) {
	sim, err := evertick.New(evertick.Config{Capacity: 32, Seed: seed})
	if err != nil {
		return nil, err
	}
	s := &studio{sim: sim}
	if s.bodies, err = sims3.AttachFloor(sim); err != nil {
		return nil, err
	}
	if s.r, err = skill.New(sim, skill.Config{Space: space.Skills(s.bodies)}); err != nil {
		return nil, err
	}
	return s, skill.Standard(s.r)
}

func mustStudio(t testing.TB) *studio {
	t.Helper()
	s, err := newStudio(1)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// call makes a call in a tick of its own.
func (s *studio) call(t testing.TB, name, input string) (json.RawMessage, error) {
	t.Helper()
	c, err := s.r.Caller(skill.Actor{Name: "bob", Profile: skill.Admin})
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Submit(name, []byte(input), 0)
	if err != nil {
		t.Fatal(err)
	}
	simtest.Step(t, s.sim, 1)
	if r := p.Result(); r.Err != nil {
		return nil, r.Err
	}
	return p.Result().Output, nil
}

func (s *studio) must(t testing.TB, name, input string) string {
	t.Helper()
	out, err := s.call(t, name, input)
	if err != nil {
		t.Fatalf("%s %s: %v", name, input, err)
	}
	return string(out)
}

// as reads an output.
func as[T any](t testing.TB, output string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(output), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// nthID returns the id of the entity that was made after i others.
func nthID(t testing.TB, s *studio, i int) ecs.ID {
	t.Helper()
	id, ok := s.sim.World.ID(ecs.Slot(i))
	if !ok {
		t.Fatalf("no entity in slot %d", i)
	}
	return id
}

// Each shape and type of body is made, in both forms, and is what it says.
func TestSkillsCreateBodiesInSpace(t *testing.T) {
	s := mustStudio(t)
	for i, c := range []struct {
		input, kind string
		mass        float64 // of a dynamic body
	}{
		{`{"position":[0,5,0],"body":{"type":"dynamic","shape":{"type":"box","size":[1,2,3]}}}`, "dynamic", 6},
		{`{"position":[5,5,0],"body":{"type":"dynamic","shape":{"type":"sphere","radius":0.5},"material":{"density":2}}}`, "dynamic", 2 * math.Pi / 6},
		{`{"position":[10,5,0],"rotation":[0,0,1,1],"body":{"type":"dynamic","shape":{"type":"capsule","radius":0.5,"length":1},"velocity":[1,2,3],"spin":[0,4,0]}}`, "dynamic", math.Pi / 4 * (1 + 2./3)},
		{`{"position":[15,5,0],"body":{"type":"dynamic","shape":{"type":"hull","points":[[0,0,0],[1,0,0],[0,1,0],[0,0,1]]}}}`, "dynamic", 1. / 6},
		{`{"position":[20,5,0],"body":{"type":"kinematic","shape":{"type":"box","size":[1,1,1]},"velocity":[0,1,0]}}`, "kinematic", 0},
		{`{"position":[25,5,0],"body":{"type":"static","shape":{"type":"box","size":[1,1,1]}}}`, "static", 0},
		{`{"position":[30,5,0],"shape":"box","size":1,"dynamic":true}`, "dynamic", 1},
		{`{"position":[35,5,0],"shape":"circle","size":1,"static":true}`, "static", 0},
		{`{"position":[40,5,0],"shape":"capsule","size":1,"dynamic":true,"scale":[2,2,2]}`, "dynamic", math.Pi / 16 * (1 + 1./3)},
	} {
		made := as[skill.Created](t, s.must(t, "scene.createEntity", c.input))
		id := simtest.SlotOf(t, s.sim, nthID(t, s, i))
		if made.Body != c.kind {
			t.Errorf("%s: made %+v", c.input, made)
		}
		b, ok := s.bodies.Body(nthID(t, s, i))
		if !ok {
			t.Fatalf("%s: no body in space", c.input)
		}
		m, err := s.bodies.World().MassData(b)
		if err != nil || c.mass > 0 && math.Abs(float64(m.Mass)-c.mass) > 1e-3*c.mass {
			t.Errorf("%s: mass %g, want %g, %v", c.input, m.Mass, c.mass, err)
		}
		if x := s.sim.World.Position.X[id]; math.Abs(float64(x)-5*float64(i)) > 0.1 {
			t.Errorf("%s: at x = %g", c.input, x)
		}
	}
	if s.sim.Physics.Len() != 0 {
		t.Errorf("%d bodies in the plane", s.sim.Physics.Len())
	}
	for input, part := range map[string]string{
		`{"position":[0,9,0],"body":{"type":"dynamic","shape":{"type":"hull","points":[[0,0,0],[1,0,0],[0,1,0]]}}}`:                        "a hull needs four",
		`{"position":[0,9,0],"body":{"type":"dynamic","shape":{"type":"hull","points":[[0,0,0],[1,0,0],[0,1,0],[1,1,0]]}}}`:                "one plane",
		`{"position":[0,9,0],"body":{"type":"dynamic","shape":{"type":"box"}}}`:                                                            "a box needs it",
		`{"position":[0,9,0],"body":{"type":"dynamic","shape":{"type":"sphere"}}}`:                                                         "Radius",
		`{"position":[0,9,0],"body":{"type":"dynamic","shape":{"type":"sphere","radius":1,"length":1}}}`:                                   "only a capsule",
		`{"position":[0,9,0],"body":{"type":"dynamic","shape":{"type":"sphere","radius":1,"points":[]}}}`:                                  "only a hull",
		`{"position":[0,9,0],"body":{"type":"static","shape":{"type":"sphere","radius":1},"velocity":[1,0,0]}}`:                            "LinearVelocity",
		`{"position":[0,9,0],"rotation":[0,0,0,0],"body":{"type":"static","shape":{"type":"sphere","radius":1}}}`:                          "quaternion",
		`{"position":[0,9,0],"body":{"type":"static","shape":{"type":"circle","radius":1}}}`:                                               "circle",
		`{"position":[0,9,0],"body":{"type":"dynamic","shape":{"type":"sphere","radius":1},"angularVelocity":3}}`:                          "angularVelocity",
		`{"position":[0,9,0],"body":{"type":"dynamic","shape":{"type":"box","size":[1,1,1]},"material":{"density":1e6},"spin":[1e9,0,0]}}`: "spin",
	} {
		before := s.sim.World.Len()
		if _, err := s.call(t, "scene.createEntity", input); err == nil || !strings.Contains(err.Error(), part) || s.sim.World.Len() != before {
			t.Errorf("%s: %v, want %q; %d entities of %d", input, err, part, s.sim.World.Len(), before)
		}
	}
}

// Position, rotation and scale that a skill writes are those of entity and body, in the same tick and later.
func TestSkillsUpdateBothKinds(t *testing.T) {
	s := mustStudio(t)
	s.must(t, "scene.createEntity", `{"position":[0,500,0],"body":{"type":"dynamic","shape":{"type":"box","size":[1,1,1]}}}`)
	flat := simtest.Spawn(t, s.sim)
	if _, err := s.sim.CreateBody(flat, physics.DefaultBodyDef()); err != nil {
		t.Fatal(err)
	}
	type updated struct {
		Position skill.Vec
		Rotation skill.Quat
		Scale    skill.Vec
	}
	out := as[updated](t, s.must(t, "ecs.updateComponent", `{"id":"ent_1","position":[1,400,3],"rotation":[0,3,0,3],"scale":[2,3,4]}`))
	half := float32(math.Sqrt(0.5))
	if out.Position != (skill.Vec{X: 1, Y: 400, Z: 3}) || out.Scale != (skill.Vec{X: 2, Y: 3, Z: 4}) || out.Rotation != (skill.Quat{Y: half, W: half}) {
		t.Errorf("%+v", out)
	}
	simtest.Step(t, s.sim, 1)
	id := nthID(t, s, 0)
	b, _ := s.bodies.Body(id)
	p, err := s.bodies.World().Position(b)
	if err != nil || p[0] != 1 || p[2] != 3 || p[1] > 400 || p[1] < 399 {
		t.Errorf("body at %v, %v", p, err)
	}
	at, q := place(t, s.sim, id)
	if at != p || math.Abs(float64(q[1]-half)) > 1e-6 {
		t.Errorf("entity at %v, turned by %v", at, q)
	}
	s.must(t, "ecs.updateComponent", `{"entity":"ent_1","component":"rotation","value":[1,0,0,1]}`)
	if _, q := place(t, s.sim, id); math.Abs(float64(q[0]-half)) > 1e-6 {
		t.Errorf("turned by %v", q)
	}
	out = as[updated](t, s.must(t, "ecs.updateComponent", `{"id":"ent_2","position":[7,8,9],"rotation":[0,0,1,1]}`))
	fb, _ := s.sim.Body(flat)
	if p, err := s.sim.Physics.Position(fb); err != nil || p != [2]float32{7, 8} || out.Position.Z != 9 {
		t.Errorf("body in the plane at %v, %v, entity %+v", p, err, out)
	}
	if _, err := s.call(t, "ecs.updateComponent", `{"id":"ent_2","rotation":[1,0,0,1]}`); err == nil || !strings.Contains(err.Error(), "rotation") {
		t.Errorf("a body in the plane has tilted: %v", err)
	}

	type found struct {
		Entities []struct {
			ID   string
			Body *struct {
				Type            string
				Velocity        skill.Vec
				AngularVelocity float32
				Spin            *skill.Vec
			}
		}
	}
	s.must(t, "physics.applyImpulse", `{"id":"ent_1","impulse":[3,0,4],"spin":[0,0.5,0]}`)
	q2 := as[found](t, s.must(t, "scene.queryEntities", `{"detail":true}`))
	if e := q2.Entities[0].Body; e == nil || e.Type != "dynamic" || e.Velocity.X != 3 || e.Velocity.Z != 4 || e.Velocity.Y >= 0 || e.Spin == nil || math.Abs(float64(e.Spin.Y-3)) > 1e-3 || math.Abs(float64(e.AngularVelocity-3)) > 1e-3 {
		t.Errorf("%+v", e)
	}
	if e := q2.Entities[1].Body; e == nil || e.Spin != nil || e.Type != "static" {
		t.Errorf("%+v", e)
	}
	for input, part := range map[string]string{
		`{"id":"ent_1","impulse":[1,0,0],"angular":1}`:  "use spin",
		`{"id":"ent_1","point":[1,0,0],"spin":[1,0,0]}`: "impulse",
		`{"id":"ent_2","spin":[1,0,0]}`:                 "needs a body in space",
	} {
		if _, err := s.call(t, "physics.applyImpulse", input); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v, want %q", input, err, part)
		}
	}
	stats := as[skill.StatsOutput](t, s.must(t, "world.stats", `{}`))
	if stats.Bodies != 3 || stats.Shapes != 2 || stats.Gravity != (skill.Vec{Y: -10}) {
		t.Errorf("%+v", stats)
	}
	snap := as[skill.SnapshotOutput](t, s.must(t, "world.snapshot", `{}`))
	if snap.Bodies != 3 {
		t.Errorf("%+v", snap)
	}
	if data, err := s.r.Snapshot(snap.Handle); err != nil || s.sim.Restore(data) != nil {
		t.Errorf("%v", err)
	}
}

func TestSkillsFindBodiesInSpace(t *testing.T) {
	s := mustStudio(t)
	for _, x := range []int{0, 3, 6} {
		s.must(t, "scene.createEntity", fmt.Sprintf(`{"position":[%d,1,0],"body":{"type":"static","shape":{"type":"box","size":[1,1,1]}}}`, x))
	}
	hits := func(input string) string {
		out := as[skill.RayOutput](t, s.must(t, "physics.raycast", input))
		text := fmt.Sprint(out.Total)
		for _, h := range out.Hits {
			text += fmt.Sprintf(" %s %.1f", h.ID, h.Distance)
		}
		return text
	}
	ids := func(input string) string {
		out := as[struct {
			IDs   []string
			Total int
		}](t, s.must(t, "physics.overlap", input))
		return fmt.Sprint(out.Total, out.IDs)
	}
	for _, c := range []struct{ got, want string }{
		{hits(`{"from":[-5,1,0],"to":[20,1,0]}`), "1 ent_1 4.5"},
		{hits(`{"from":[-5,1,0],"to":[20,1,0],"exclude":"ent_1"}`), "1 ent_2 7.5"},
		{hits(`{"from":[-5,1,0],"to":[20,1,0],"all":true}`), "3 ent_1 4.5 ent_2 7.5 ent_3 10.5"},
		{hits(`{"from":[3,9,0],"to":[3,-5,0],"all":true}`), "2 ent_2 7.5  9.0"}, // and the floor
		{hits(`{"from":[-5,5,0],"to":[20,5,0]}`), "0"},
		{ids(`{"position":[1.5,1,0],"shape":{"type":"sphere","radius":1.1}}`), "3 [ ent_1 ent_2]"},
		{ids(`{"position":[1.5,1.2,0],"shape":{"type":"box","size":[3,0.2,0.2]}}`), "2 [ent_1 ent_2]"},
		{ids(`{"position":[1.5,1.2,0],"rotation":[0,1,0,1],"shape":{"type":"box","size":[3,0.2,0.2]}}`), "0 []"},
		{ids(`{"position":[4.5,1.2,0],"rotation":[0,0,1,1],"shape":{"type":"capsule","radius":0.1,"length":3},"exclude":"ent_2"}`), "1 [ent_3]"},
		{ids(`{"position":[6,1,0],"shape":{"type":"hull","points":[[0,0,0],[0.1,0,0],[0,0.1,0],[0,0,0.1]]}}`), "1 [ent_3]"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
	if _, err := s.call(t, "physics.raycast", `{"from":[1,1,1],"to":[1,1,1]}`); err == nil {
		t.Error("a ray of no length")
	}
	if _, err := s.call(t, "physics.overlap", `{"position":[1,1,1],"shape":{"type":"sphere"}}`); err == nil {
		t.Error("a sphere without a radius")
	}
	bare, err := skill.New(simtest.New(t, simtest.Small()), skill.Config{})
	if err == nil {
		err = skill.Standard(bare)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, sk := range bare.Skills() {
		if schema, err := json.Marshal(sk.Input); err != nil || sk.Name == "physics.overlap" || strings.Contains(string(schema), `"spin"`) || strings.Contains(string(schema), "hull") {
			t.Errorf("%s of a Sim without a space: %s, %v", sk.Name, schema, err)
		}
	}
}

// Calls are recorded, and a replay makes them again.
func TestSkillsInSpaceAreReplayed(t *testing.T) {
	sc := replay.Scenario{Name: "studio", New: func(seed uint64) (*evertick.Sim, error) {
		s, err := newStudio(seed)
		if err != nil {
			return nil, err
		}
		return s.sim, nil
	}}
	s := mustStudio(t)
	dir := filepath.Join(t.TempDir(), "log")
	rec, err := replay.Record(dir, sc.Name, s.sim, replay.Options{SnapshotTicks: 20})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		s.must(t, "scene.createEntity", fmt.Sprintf(`{"position":[%d,3,0],"body":{"type":"dynamic","shape":{"type":"hull","points":[[0,0,0],[1,0,0],[0,1,0],[0,0,%d]]},"spin":[1,%d,0]}}`, i%2, i+1, i))
		simtest.Step(t, s.sim, 5)
		s.must(t, "physics.applyImpulse", fmt.Sprintf(`{"id":"ent_%d","impulse":[0,1,0.5]}`, i/2+1))
		s.must(t, "ecs.updateComponent", fmt.Sprintf(`{"id":"ent_%d","rotation":[1,2,3,4]}`, i/2+1))
	}
	s.must(t, "scene.destroyEntity", `{"id":"ent_2"}`)
	simtest.Step(t, s.sim, 20)
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	rep, err := replay.Verify(dir, sc, replay.VerifyOptions{})
	if err != nil || rep.Hash != s.sim.Hash() || s.bodies.World().Len() != 6 {
		t.Errorf("%+v, %v, %d bodies", rep, err, s.bodies.World().Len())
	}
}
