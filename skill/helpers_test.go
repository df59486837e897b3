package skill_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/physics3"
	"github.com/evertick/evertick/skill"
	"github.com/evertick/evertick/space"
)

// yard is a small world with the standard skills: entities ent_1 to ent_6, the first
// three with bodies: dynamic, dynamic and static.
type yard struct {
	sim    *evertick.Sim
	r      *skill.Registry
	ids    []ecs.ID
	bodies *space.Bodies // nil: without a space
}

type yardConfig struct {
	sim    evertick.Config
	skills skill.Config
	more   func(*skill.Registry) error
	space  bool // with bodies in space: ent_4 is a ball, and there is a floor 1 m below
}

func buildYard(seed uint64, c yardConfig) (*yard, error) {
	c.sim.Seed = seed
	if c.sim.Capacity == 0 {
		c.sim.Capacity = 64
	}
	sim, err := evertick.New(c.sim)
	if err != nil {
		return nil, err
	}
	y := &yard{sim: sim}
	if c.space {
		if y.bodies, err = space.Attach(sim, physics3.Config{}); err != nil {
			return nil, err
		}
		c.skills.Space = space.Skills(y.bodies)
	}
	if y.r, err = skill.New(sim, c.skills); err != nil {
		return nil, err
	}
	if err := skill.Standard(y.r); err != nil {
		return nil, err
	}
	if c.more != nil {
		if err := c.more(y.r); err != nil {
			return nil, err
		}
	}
	tag, err := sim.World.Tag("rock")
	if err != nil {
		return nil, err
	}
	for i := range 6 {
		id, err := sim.World.Spawn()
		if err != nil {
			return nil, err
		}
		y.ids = append(y.ids, id)
		if err := sim.World.SetPosition(id, float32(i)*3, 0, 0); err != nil {
			return nil, err
		}
		if i >= 4 {
			tag.Set(id)
		}
		if i == 3 && c.space {
			if err := y.addBall(id, float32(i)*3); err != nil {
				return nil, err
			}
		}
		if i >= 3 {
			continue
		}
		def := physics.DefaultBodyDef()
		def.Position = [2]float32{float32(i) * 3, 0}
		if i < 2 {
			def.Type = physics.DynamicBody
		}
		b, err := sim.CreateBody(id, def)
		if err != nil {
			return nil, err
		}
		if _, err := sim.Physics.CreateCircle(b, physics.DefaultShapeDef(), physics.Circle{Radius: 0.5}); err != nil {
			return nil, err
		}
	}
	return y, nil
}

// addBall gives an entity a ball in space, above a floor.
func (y *yard) addBall(id ecs.ID, x float32) error {
	w, shape := y.bodies.World(), physics3.DefaultShapeDef()
	def := physics3.DefaultBodyDef()
	def.Position[1] = -2
	floor, err := w.CreateBody(def)
	if err == nil {
		_, err = w.CreateBox(floor, shape, physics3.Box{Half: [3]float32{50, 1, 50}})
	}
	if err != nil {
		return err
	}
	def = physics3.DefaultBodyDef()
	def.Type, def.Position[0] = physics3.DynamicBody, x
	ball, err := y.bodies.Create(id, def)
	if err == nil {
		_, err = w.CreateSphere(ball, shape, physics3.Sphere{Radius: 0.5})
	}
	return err
}

func newYard(t testing.TB, c yardConfig) *yard {
	t.Helper()
	y, err := buildYard(7, c)
	if err != nil {
		t.Fatal(err)
	}
	return y
}

var (
	admin   = skill.Actor{Name: "root", Profile: skill.Admin}
	builder = skill.Actor{Name: "bob", Profile: skill.Builder}
	reader  = skill.Actor{Name: "ray", Profile: skill.Reader}
	player  = skill.Actor{Name: "pam", Profile: skill.Player, Entity: 1}
)

// submit submits a call, which must be queued.
func (y *yard) submit(t testing.TB, a skill.Actor, name, input string) *skill.Pending {
	t.Helper()
	c, err := y.r.Caller(a)
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Submit(name, []byte(input), 0)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (y *yard) step(t testing.TB, n int) {
	t.Helper()
	for range n {
		if err := y.sim.Step(); err != nil {
			t.Fatal(err)
		}
	}
}

// do makes a call in a tick of its own.
func (y *yard) do(t testing.TB, a skill.Actor, name, input string) skill.Result {
	t.Helper()
	p := y.submit(t, a, name, input)
	y.step(t, 1)
	select {
	case <-p.Done():
	default:
		t.Fatalf("%s has no result after its tick", name)
	}
	return p.Result()
}

// must makes a call that succeeds, and returns its output.
func must[Out any](t testing.TB, y *yard, a skill.Actor, name, input string) (out Out) {
	t.Helper()
	res := y.do(t, a, name, input)
	if res.Err != nil {
		t.Fatalf("%s %s: %v", name, input, res.Err)
	}
	if err := json.Unmarshal(res.Output, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func codeOf(err error) skill.Code {
	var e *skill.Error
	switch {
	case err == nil:
		return skill.OK
	case errors.As(err, &e):
		return e.Code
	}
	return skill.Code(fmt.Sprintf("no code: %v", err))
}
