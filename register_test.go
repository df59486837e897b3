package evertick_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
)

// faultyCalls are calls of a set-up that are errors.
var faultyCalls = []struct {
	call func(*evertick.Sim) error
	kind error
	says string
}{
	{func(s *evertick.Sim) error { return s.Add(99, "late", nothing) }, evertick.ErrRange, "evertick: Add: stage = 99: out of range"},
	{func(s *evertick.Sim) error { return s.Add(evertick.AfterIndex, "", nothing) }, evertick.ErrRange, "evertick: Add: name = : out of range"},
	{func(s *evertick.Sim) error { return s.Add(evertick.AfterIndex, "commands", nothing) }, evertick.ErrRange, "evertick: Add: name = commands: out of range"},
	{func(s *evertick.Sim) error { return s.AddSystem(system("")) }, evertick.ErrRange, "evertick: AddSystem: name = : out of range"},
	{func(s *evertick.Sim) error { return s.AddState("", new(parkState)) }, evertick.ErrRange, "evertick: AddState: name = : out of range"},
	{func(s *evertick.Sim) error { _, err := s.AddTimer("", 0); return err }, evertick.ErrRange, "evertick: AddTimer: name = : out of range"},
	{func(s *evertick.Sim) error { return s.Resource("") }, evertick.ErrRange, `evertick: Resource: name = "": out of range`},
	{
		func(s *evertick.Sim) error { return s.Register(new(struct{ Map map[int]int })) }, evertick.ErrUnsupported,
		"ecs: Register: field Map type = map[int]int: unsupported",
	},
}

// A set-up may ignore every error: Check, Plan and Step report it, and nothing runs.
func TestSetUpFaults(t *testing.T) {
	for _, c := range faultyCalls {
		s := newSim(t, small())
		ran := 0
		add(t, s, evertick.BeforePhysics, "good", func(*evertick.Tick) error { ran++; return nil })
		before := snapshot(t, s)
		if err := c.call(s); !errors.Is(err, c.kind) || err.Error() != c.says {
			t.Errorf("the call returns %v, want %s", err, c.says)
		}
		_, planErr := s.Plan()
		for name, err := range map[string]error{"Check": s.Check(), "Plan": planErr, "Step": s.Step(), "StepN": s.StepN(3)} {
			if !errors.Is(err, c.kind) || err.Error() != c.says {
				t.Errorf("%s returns %v, want %s", name, err, c.says)
			}
		}
		if ran != 0 || s.Ticks() != 0 || string(snapshot(t, s)) != string(before) {
			t.Errorf("%s: the Sim has run", c.says)
		}
	}
}

// Check reports all faults: first those of the calls, in their order, then those of declarations.
func TestSetUpFaultsInOrder(t *testing.T) {
	s := newSim(t, small())
	want := []string{}
	for _, c := range slices.Backward(faultyCalls) {
		_ = c.call(s)
		want = append(want, c.says)
	}
	_ = s.AddSystem(system("lost", after("nobody")))
	err := s.Step()
	text := strings.Join(want, "\n") + "\nevertick: system lost: After = \"nobody\""
	if err == nil || !strings.HasPrefix(err.Error(), text) {
		t.Errorf("got\n%v\nwant\n%s", err, text)
	}
	add(t, s, evertick.BeforePhysics, "nobody", nothing) // mends the declaration only
	if err := s.Step(); err == nil || err.Error() != strings.Join(want, "\n") {
		t.Errorf("got\n%v\nwant\n%s", err, strings.Join(want, "\n"))
	}
}

// A later call that succeeds, or a Restore, does not remove the errors of a set-up.
func TestSetUpFaultsStay(t *testing.T) {
	other := newSim(t, evertick.Config{Capacity: 64, History: evertick.HistoryConfig{Keep: 2}})
	step(t, other, 3)
	s := newSim(t, evertick.Config{Capacity: 64, History: evertick.HistoryConfig{Keep: 2}})
	if s.Add(evertick.BeforePhysics, "commands", nothing) == nil {
		t.Fatal("a name that is taken")
	}
	add(t, s, evertick.BeforePhysics, "other name", nothing)
	for name, f := range map[string]func() error{
		"Restore":  func() error { return s.Restore(snapshot(t, other)) },
		"CopyFrom": func() error { return s.CopyFrom(other) },
		"StepBack": func() error { return s.StepBack(0) },
		"Check":    s.Check,
	} {
		if err := f(); err != nil && name != "Check" {
			t.Errorf("%s: %v", name, err)
		}
		wantError(t, s.Step(), evertick.ErrRange, "evertick: Add: name = commands")
	}
	if s.Ticks() != 3 {
		t.Errorf("at tick %d, want 3, that of the copy", s.Ticks())
	}
}

// Once a tick has begun, only the call itself returns an error: the run goes on without the thing that
// it could not add.
func TestFaultsAfterTheSetUp(t *testing.T) {
	s := newSim(t, evertick.Config{Capacity: 64, History: evertick.HistoryConfig{Keep: 4, Every: 1}})
	begin := snapshot(t, s)
	refused := 0
	add(t, s, evertick.BeforePhysics, "adds", func(tick *evertick.Tick) error {
		for _, c := range faultyCalls {
			if c.call(tick.Sim) != nil {
				refused++
			}
		}
		return nil
	})
	step(t, s, 3)
	if err := s.StepBack(2); err != nil {
		t.Fatal(err)
	}
	step(t, s, 1)
	if err := s.Restore(begin); err != nil { // at tick 0, but no longer a set-up
		t.Fatal(err)
	}
	for _, c := range faultyCalls {
		wantError(t, c.call(s), c.kind)
	}
	step(t, s, 1)
	if s.Ticks() != 1 || refused < 5*len(faultyCalls) {
		t.Errorf("at tick %d, %d calls refused", s.Ticks(), refused)
	}
}

// Register makes columns and tags known to systems, and part of the state.
func TestRegister(t *testing.T) {
	var c struct {
		Fuel *ecs.Column[float32]
		Lit  ecs.Tag
	}
	s := newSim(t, small())
	s.Register(&c)
	s.AddSystem(evertick.System{
		Name: "burn", Reads: []string{"entities"}, Writes: []string{"fuel", "lit"}, Run: func(tick *evertick.Tick) error {
			for slot := range tick.Sim.World.Query(ecs.With(c.Lit)) {
				c.Fuel.Values()[slot] -= tick.Dt
			}
			return nil
		},
	})
	id, slot, err := s.World.SpawnSlot()
	if err != nil {
		t.Fatal(err)
	}
	c.Fuel.Values()[slot] = 1
	c.Lit.Set(id)
	byHand := newSim(t, small())
	fuel := column(t, byHand, "fuel")
	lit, err := byHand.World.Tag("lit")
	if err != nil {
		t.Fatal(err)
	}
	lit.Set(spawn(t, byHand))
	fuel[0] = 1
	add(t, byHand, evertick.BeforePhysics, "burn", func(tick *evertick.Tick) error { fuel[0] -= tick.Dt; return nil })
	step(t, s, 10)
	step(t, byHand, 10)
	if s.Hash() != byHand.Hash() || string(snapshot(t, s)) != string(snapshot(t, byHand)) {
		t.Error("not the Sim of columns that were added by hand")
	}
}
