// Package simtest makes Sims and drives them, for tests; what fails ends the test.
package simtest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/pace"
	"github.com/evertick/evertick/loop"
)

// Helpers take part in all that tests compute.
func init() { pace.Always = true }

// New makes a Sim.
func New(t testing.TB, c evertick.Config) *evertick.Sim {
	t.Helper()
	s, err := evertick.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Small is enough for most tests, and quick to make.
func Small() evertick.Config { return evertick.Config{Capacity: 64} }

// Spawn spawns an entity.
func Spawn(t testing.TB, s *evertick.Sim) ecs.ID {
	t.Helper()
	id, err := s.World.Spawn()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// SlotOf returns the slot of an entity that lives.
func SlotOf(t testing.TB, s *evertick.Sim, id ecs.ID) ecs.Slot {
	t.Helper()
	slot, ok := s.World.Slot(id)
	if !ok {
		t.Fatalf("%s has no slot", id)
	}
	return slot
}

// Step runs n ticks.
func Step(t testing.TB, s *evertick.Sim, n int) {
	t.Helper()
	for range n {
		if err := s.Step(); err != nil {
			t.Fatal(err)
		}
	}
}

// Add adds a system.
func Add(t testing.TB, s *evertick.Sim, stage evertick.Stage, name string, run func(*evertick.Tick) error) {
	t.Helper()
	if err := s.Add(stage, name, run); err != nil {
		t.Fatal(err)
	}
}

// Column adds a user column and returns its values.
func Column(t testing.TB, s *evertick.Sim, name string) []float32 {
	t.Helper()
	c, err := ecs.AddColumn[float32](s.World, name)
	if err != nil {
		t.Fatal(err)
	}
	return c.Values()
}

// WantError checks what an error wraps and what its text contains.
func WantError(t testing.TB, err, kind error, parts ...string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("error %v, want %v", err, kind)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not contain %q", err, part)
		}
	}
}

// ManualClock is a clock that moves only by Add, and by Sleep, which jumps.
func ManualClock() *loop.ManualClock { return &loop.ManualClock{Jump: true} }

// Snapshot returns a snapshot.
func Snapshot(t testing.TB, s *evertick.Sim) []byte {
	t.Helper()
	b, err := s.Snapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Restore restores a snapshot.
func Restore(t testing.TB, s *evertick.Sim, data []byte) {
	t.Helper()
	if err := s.Restore(data); err != nil {
		t.Fatal(err)
	}
}

// Timer is a timer written plainly, in unlimited numbers.
type Timer struct {
	Modes                   uint64
	Left, Overtime          int
	Running, Armed, Expired bool
}

// Tick begins a tick in a mode.
func (m *Timer) Tick(mode uint8) {
	m.Expired = false
	if !m.Running || m.Modes != 0 && m.Modes&(1<<mode) == 0 {
		return
	}
	if m.Left > 0 {
		m.Left--
	}
	if m.Left == 0 && m.Armed {
		m.Armed, m.Expired = false, true
	} else if m.Left == 0 {
		m.Overtime++
	}
}

// TimerText is what a timer reports: E if it has expired.
func TimerText(timer *evertick.Timer) string {
	text := fmt.Sprint(timer.Left())
	if timer.Overtime() > 0 {
		text += fmt.Sprint("+", timer.Overtime())
	}
	if timer.Expired() {
		text += "E"
	}
	return text
}
