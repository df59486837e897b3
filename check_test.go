package evertick_test

import (
	"fmt"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
)

// What a system writes and has not declared is named, whether it runs alone or side by
// side with another.
func TestCheckAccess(t *testing.T) {
	kept := new(keptNumber)
	for _, c := range []struct {
		name   string
		writes []string
		run    func(s *evertick.Sim, id ecs.ID) error
		says   string // "": it may
	}{
		{"declared column", []string{"hp"}, func(s *evertick.Sim, id ecs.ID) error { return bump(s, "hp") }, ""},
		{"column", []string{"hp"}, func(s *evertick.Sim, id ecs.ID) error { return bump(s, "mp") }, "wrote mp,"},
		{"nothing", []string{"hp"}, func(*evertick.Sim, ecs.ID) error { return nil }, ""},
		{"position", []string{"rotation", "scale"}, func(s *evertick.Sim, id ecs.ID) error { return s.World.SetPosition(id, 1, 2, 3) }, "wrote position."},
		{"declared position", []string{"position"}, func(s *evertick.Sim, id ecs.ID) error { return s.World.SetPosition(id, 1, 2, 3) }, ""},
		{"part of position", []string{"position.y"}, func(s *evertick.Sim, id ecs.ID) error { return s.World.SetPosition(id, 1, 2, 3) }, ""},
		{"scale", []string{"position"}, func(s *evertick.Sim, id ecs.ID) error { return s.World.SetScale(id, 1, 2, 3) }, "wrote scale."},
		{"tag", []string{"hp"}, func(s *evertick.Sim, id ecs.ID) error { return tagIt(s, "foe", id) }, "wrote foe,"},
		{"declared tag", []string{"foe"}, func(s *evertick.Sim, id ecs.ID) error { return tagIt(s, "foe", id) }, ""},
		{"entity", []string{"hp"}, func(s *evertick.Sim, id ecs.ID) error { _, err := s.World.Spawn(); return err }, "wrote entities,"},
		{"declared entity", []string{"entities"}, func(s *evertick.Sim, id ecs.ID) error { s.World.Despawn(id); return nil }, ""},
		{"body", []string{"hp"}, func(s *evertick.Sim, id ecs.ID) error {
			b, _ := s.Body(id)
			return s.Physics.SetVelocity(b, [2]float32{7, 7}, 0)
		}, "wrote bodies,"},
		{"declared body", []string{"bodies"}, func(s *evertick.Sim, id ecs.ID) error {
			b, _ := s.Body(id)
			return s.Physics.SetVelocity(b, [2]float32{7, 7}, 0)
		}, ""},
		{"commands", []string{"hp"}, func(s *evertick.Sim, id ecs.ID) error { s.Commands().Despawn(id); return nil }, ""},
		{"state", []string{"hp"}, func(*evertick.Sim, ecs.ID) error { kept.n++; return nil }, "wrote state.kept,"},
		{"declared state", []string{"state.kept"}, func(*evertick.Sim, ecs.ID) error { kept.n++; return nil }, ""},
		{"a column of its own", []string{"hp"}, func(s *evertick.Sim, id ecs.ID) error { _, err := ecs.AddColumn[int8](s.World, "new"); return err }, ""},
	} {
		for _, check := range []bool{false, true} {
			s := newSim(t, evertick.Config{Capacity: 64, CheckAccess: check, Workers: 2})
			column(t, s, "hp")
			column(t, s, "mp")
			spawn(t, s)
			id := spawn(t, s)
			movingBody(t, s, id, 1)
			if err := s.AddState("kept", kept); err != nil {
				t.Fatal(err)
			}
			if _, err := s.World.Tag("foe"); err != nil {
				t.Fatal(err)
			}
			sys := evertick.System{Name: "culprit", Stage: evertick.AfterIndex, Writes: c.writes, Run: func(tick *evertick.Tick) error {
				if tick.N == 1 {
					return c.run(s, id)
				}
				return nil
			}}
			bystander := evertick.System{Name: "bystander", Stage: evertick.AfterIndex, Reads: []string{"index"}, Run: nothing}
			if err := s.AddSystem(sys); err != nil {
				t.Fatal(err)
			}
			if err := s.AddSystem(bystander); err != nil {
				t.Fatal(err)
			}
			step(t, s, 1)
			err := s.Step()
			if c.says == "" || !check {
				if err != nil {
					t.Errorf("%s, check %t: %v", c.name, check, err)
				}
				continue
			}
			wantError(t, err, evertick.ErrRange, "tick 1: culprit: "+c.says)
		}
	}
}

// keptNumber is a State.
type keptNumber struct{ n byte }

func (k *keptNumber) AppendState(dst []byte) []byte { return append(dst, k.n) }
func (k *keptNumber) RestoreState(src []byte) error { k.n = src[0]; return nil }

func bump(s *evertick.Sim, name string) error {
	c, ok := ecs.FindColumn[float32](s.World, name)
	if !ok {
		return fmt.Errorf("no column %s", name)
	}
	c.Values()[1]++
	return nil
}

func tagIt(s *evertick.Sim, name string, id ecs.ID) error {
	tag, err := s.World.Tag(name)
	tag.Set(id)
	return err
}

// Who only reads may not write, and who declares nothing may write everything.
func TestCheckAccessOfReaders(t *testing.T) {
	s := newSim(t, evertick.Config{Capacity: 64, CheckAccess: true})
	column(t, s, "hp")
	spawn(t, s)
	spawn(t, s)
	add(t, s, evertick.AfterIndex, "free", func(*evertick.Tick) error { return bump(s, "hp") })
	step(t, s, 2)
	if err := s.AddSystem(evertick.System{Name: "reader", Reads: []string{"hp"}, Run: func(*evertick.Tick) error { return bump(s, "hp") }}); err != nil {
		t.Fatal(err)
	}
	wantError(t, s.Step(), evertick.ErrRange, "tick 2: reader: wrote hp,")
}

// The check changes no result.
func TestCheckAccessChangesNothing(t *testing.T) {
	run := func(check bool) (hashes []uint64) {
		w := newTownOf(t, evertick.Config{Workers: 2, CheckAccess: check}, func() {})
		for range 20 {
			step(t, w.Sim, 1)
			hashes = append(hashes, w.Hash())
		}
		return hashes
	}
	want := run(false)
	for i, h := range run(true) {
		if h != want[i] {
			t.Fatalf("tick %d: another hash with CheckAccess", i)
		}
	}
}
