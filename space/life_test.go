package space_test

import (
	"fmt"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/sims3"
	"github.com/evertick/evertick/internal/simtest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics3"
	"github.com/evertick/evertick/space"
)

// attach adds a space with gravity and a floor at height 0 to a Sim.
func attach(t testing.TB, s *evertick.Sim) *space.Bodies {
	t.Helper()
	b, err := sims3.AttachFloor(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func mustGive(t testing.TB, b *space.Bodies, id ecs.ID, def physics3.BodyDef) physics3.Body {
	t.Helper()
	body, err := sims3.Give(b, id, def, 0)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func newLifeFor(t testing.TB, seed uint64, c evertick.Config) *sims3.Life {
	t.Helper()
	l, err := sims3.NewLife(seed, c)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// check compares what Body and Entity say with each other and with the columns.
func check(t testing.TB, l *sims3.Life) {
	t.Helper()
	w, sp := l.Sim.World, l.Bodies.World()
	owned := 0
	for slot := range ecs.Slot(w.HighWater()) {
		id, alive := w.ID(slot)
		if !alive {
			continue
		}
		body, has := l.Bodies.Body(id)
		if !has {
			continue
		}
		owned++
		if back, ok := l.Bodies.Entity(body); !ok || back != id || sp.Columns().Slot[body.Index()] != slot {
			t.Fatalf("tick %d: %s in slot %d has %s, which has %s and slot %d", l.Sim.Ticks(), id, slot, body, back, sp.Columns().Slot[body.Index()])
		}
		if _, both := l.Sim.Body(id); both {
			t.Fatalf("%s has bodies of both kinds", id)
		}
	}
	if owned+1 != sp.Len() { // and the floor
		t.Fatalf("tick %d: %d entities with bodies, %d bodies", l.Sim.Ticks(), owned, sp.Len())
	}
}

// The whole life of many entities is the same for each number of workers, on each level, after a snapshot, a copy and a step back.
func TestLife(t *testing.T) {
	const seed = 11
	ticks := 400
	if testing.Short() {
		ticks = 160
	}
	c := evertick.Config{History: evertick.HistoryConfig{Keep: 4, Every: 8}, Level: native.Go}
	l := newLifeFor(t, seed, c)
	others := map[string]*sims3.Life{}
	for _, level := range native.Levels() {
		c.Level, c.Workers = level, 1+int(level)%2
		others[fmt.Sprintf("level %v, %d workers", level, c.Workers)] = newLifeFor(t, seed, c)
	}
	copied, restored := newLifeFor(t, seed+1, evertick.Config{}), newLifeFor(t, seed+2, evertick.Config{Workers: 2})
	most, inPlane, joints, sensed := 0, 0, 0, 0
	for tick := range ticks {
		simtest.Step(t, l.Sim, 1)
		check(t, l)
		for what, other := range others {
			simtest.Step(t, other.Sim, 1)
			equal(t, fmt.Sprintf("tick %d, %s", tick, what), l.Sim, other.Sim)
		}
		most, inPlane = max(most, l.Bodies.World().Len()), max(inPlane, l.Sim.Physics.Len())
		joints, sensed = max(joints, l.Bodies.World().JointCount()), sensed+len(l.Bodies.World().Events().SensorBegin)
		if tick%20 != 19 {
			continue
		}
		simtest.Restore(t, restored.Sim, simtest.Snapshot(t, l.Sim))
		if err := copied.Sim.CopyFrom(l.Sim); err != nil {
			t.Fatal(err)
		}
		check(t, restored)
		check(t, copied)
		for range 5 {
			simtest.Step(t, l.Sim, 1)
			simtest.Step(t, restored.Sim, 1)
			simtest.Step(t, copied.Sim, 1)
			equal(t, fmt.Sprintf("tick %d, restored", tick), l.Sim, restored.Sim)
			equal(t, fmt.Sprintf("tick %d, copied", tick), l.Sim, copied.Sim)
		}
		if err := l.Sim.StepBack(5); err != nil {
			t.Fatal(err)
		}
		check(t, l)
	}
	if most < 12 || inPlane == 0 || joints < 3 || sensed == 0 {
		t.Errorf("at most %d bodies in space, %d in the plane, %d joints; sensed %d", most, inPlane, joints, sensed)
	}
}

// equal compares two Sims.
func equal(t testing.TB, what string, a, b *evertick.Sim) {
	t.Helper()
	if d, found := evertick.Diff(a, b); found || a.Hash() != b.Hash() {
		t.Fatalf("%s: %v", what, d)
	}
}
