package evertick_test

import (
	"fmt"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/native/paritytest"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/spatial"
)

func TestStepAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	for _, level := range native.Levels() {
		for _, workers := range []int{1, 2} {
			t.Run(fmt.Sprintf("level=%s/workers=%d", level, workers), func(t *testing.T) {
				s := busySim(t, level, workers)
				step(t, s, 200) // until the buffers have their size
				hash := s.Hash()
				n := testing.AllocsPerRun(100, func() { step(t, s, 1) })
				if n != 0 {
					t.Errorf("%g allocations a step", n)
				}
				if s.Hash() == hash {
					t.Error("the steps changed nothing")
				}
			})
		}
	}
}

// busySim has agents with tags and a user column, which move towards
// their neighbours, are spawned and despawned, among bodies that push each other.
func busySim(t *testing.T, level native.Level, workers int) *evertick.Sim {
	s := newSim(t, evertick.Config{
		Capacity: 512, Level: level, Workers: workers, Seed: 3,
		Physics: physics.Config{Plane: physics.XZ},
		Spatial: spatial.Config{CellSize: 4},
	})
	f := &flock{sim: s, speed: column(t, s, "speed")}
	var err error
	if f.agents, err = s.World.Tag("agent"); err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		f.last = spawn(t, s)
		if i%10 == 0 {
			pushedBody(t, s, f.last, float32(i%20), float32(i/20))
			continue
		}
		if err := s.World.SetPosition(f.last, float32(i%20), 0, float32(i/20)); err != nil {
			t.Fatal(err)
		}
		f.agents.Set(f.last)
	}
	add(t, s, evertick.BeforePhysics, "move", f.move)
	add(t, s, evertick.AfterIndex, "perceive", f.perceive)
	add(t, s, evertick.AfterIndex, "steer", f.steer)
	add(t, s, evertick.AfterIndex, "replace", f.replace)
	add(t, s, evertick.AfterIndex, "succeed", f.succeed)
	return s
}

// pushedBody gives an entity a dynamic body, a disc that rolls towards the middle.
func pushedBody(t *testing.T, s *evertick.Sim, id ecs.ID, x, z float32) {
	t.Helper()
	def := physics.DefaultBodyDef()
	def.Type, def.Position = physics.DynamicBody, [2]float32{x, z}
	def.LinearVelocity = [2]float32{(10 - x) / 4, (7 - z) / 4}
	b, err := s.CreateBody(id, def)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Physics.CreateCircle(b, physics.DefaultShapeDef(), physics.Circle{Radius: 0.7}); err != nil {
		t.Fatal(err)
	}
}

// flock holds what the systems of busySim share.
type flock struct {
	sim    *evertick.Sim
	agents ecs.Tag
	speed  []float32
	q      spatial.Queries
	near   spatial.Result
	last   ecs.ID
}

func (f *flock) move(t *evertick.Tick) error {
	native.Integrate(f.sim.Level(), f.sim.World.Position.X, f.speed, t.Dt)
	return nil
}

func (f *flock) perceive(*evertick.Tick) error {
	q, pos := &f.q, &f.sim.World.Position
	q.X, q.Y, q.Z, q.Radius, q.Exclude = q.X[:0], q.Y[:0], q.Z[:0], q.Radius[:0], q.Exclude[:0]
	for slot := range f.sim.World.Query(ecs.With(f.agents)) {
		q.X, q.Y, q.Z = append(q.X, pos.X[slot]), append(q.Y, 0), append(q.Z, pos.Z[slot])
		q.Radius, q.Exclude = append(q.Radius, 3), append(q.Exclude, slot)
	}
	return f.sim.Index.Radius(q, &f.near)
}

// steer makes each agent follow the mean of its neighbours.
func (f *flock) steer(t *evertick.Tick) error {
	x := f.sim.World.Position.X
	for row, self := range f.q.Exclude {
		r := t.Rand(ecs.ID(self), 0)
		pull := r.Range(-0.1, 0.1)
		for _, other := range f.near.Row(row) {
			pull += float32((x[other] - x[self]) * 0.01)
		}
		f.speed[self] = pull
	}
	return nil
}

// replace despawns the youngest agent and spawns another, so that a slot is
// reused and the list of live ones is made anew.
func (f *flock) replace(*evertick.Tick) error {
	f.sim.World.Despawn(f.last)
	id, err := f.sim.World.Spawn()
	f.agents.Set(id)
	f.last = id
	return err
}

// succeed replaces one agent a tick, while it iterates over them.
func (f *flock) succeed(t *evertick.Tick) error {
	c := t.Commands()
	for slot := range f.sim.World.Query(ecs.With(f.agents)) {
		if uint64(slot) != t.N%300 {
			continue
		}
		id, _ := f.sim.World.ID(slot)
		c.Despawn(id)
		next := c.Spawn()
		c.Set(f.agents, next)
		if err := c.SetPosition(next, float32(slot%20), 0, float32(slot/20)); err != nil {
			return err
		}
	}
	return nil
}
