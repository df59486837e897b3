package evertick_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/loop"
	"pgregory.net/rapid"
)

// The kinds of inputs to which the system of a historyModel answers.
const (
	kindPush = iota // pushes another input, for two ticks later
	kindDrop        // drops what waits
	kindPlain
	kinds
)

// historyModel says in lists what waits and what a tick gets, whichever way a Sim goes.
type historyModel struct {
	now      int
	base     [][]evertick.Input // what waited when the tick before ended
	arrivals []arrival          // since
	aside    map[int][]arrival  // before later ticks
	failed   bool
	begun    bool
}

type arrival struct {
	in   evertick.Input
	drop bool
}

func (m *historyModel) waiting() []evertick.Input {
	w := slices.Clone(m.base[m.now])
	for _, a := range m.arrivals {
		switch {
		case a.drop:
			w = nil
		case !holds(w, a.in): // a failed tick took it, and it came again
			w = append(w, a.in)
		}
	}
	return w
}

func holds(list []evertick.Input, in evertick.Input) bool {
	return slices.ContainsFunc(list, func(w evertick.Input) bool { return w.Source == in.Source && w.Seq == in.Seq })
}

// begin is called before each Step. What waits at the first one belongs to the oldest snapshot.
func (m *historyModel) begin() {
	if !m.begun {
		m.base[0], m.arrivals, m.begun = m.waiting(), nil, true
	}
}

// step returns the inputs of a tick.
func (m *historyModel) step() (due []evertick.Input) {
	var left []evertick.Input
	for _, in := range m.waiting() {
		if in.Tick <= uint64(m.now) {
			due = append(due, in)
		} else {
			left = append(left, in)
		}
	}
	slices.SortFunc(due, func(a, b evertick.Input) int {
		return slices.Compare([]uint64{a.Tick, uint64(a.Source), a.Seq}, []uint64{b.Tick, uint64(b.Source), b.Seq})
	})
	for _, in := range due {
		switch in.Kind {
		case kindPush:
			left = append(left, answer(m.now, in))
		case kindDrop:
			left = nil
		}
	}
	m.now++
	m.base = append(m.base[:m.now], left)
	m.moved(nil)
	for tick := range m.aside {
		if tick > m.now {
			delete(m.aside, tick)
		}
	}
	delete(m.aside, m.now)
	return due
}

// answer is what the system pushes in a tick.
func answer(tick int, in evertick.Input) evertick.Input {
	return evertick.Input{Tick: uint64(tick) + 2, Source: 100 + in.Source, Seq: in.Seq<<32 | uint64(tick), Kind: kindPlain}
}

func (m *historyModel) moved(arrivals []arrival) { m.arrivals, m.failed = arrivals, false }

func (m *historyModel) stepBack(n int) {
	if len(m.arrivals) > 0 {
		m.aside[m.now] = m.arrivals
	}
	m.now -= n
	m.moved(m.aside[m.now])
	delete(m.aside, m.now)
}

// forward reports false if an input stands in the way.
func (m *historyModel) forward(n int) bool {
	if n == 0 {
		return true
	}
	if len(m.arrivals) > 0 {
		return false
	}
	for tick := range m.aside {
		if tick < m.now+n {
			return false
		}
	}
	m.now += n
	m.moved(m.aside[m.now])
	delete(m.aside, m.now)
	return true
}

func (m *historyModel) push(s *evertick.Sim, in evertick.Input) error {
	err := s.Push(in)
	if waits := holds(m.waiting(), in); !m.failed && waits != (err != nil) {
		return fmt.Errorf("Push %+v: %w; waits already: %v", in, err, waits)
	}
	if err == nil {
		m.arrivals = append(m.arrivals, arrival{in: in})
	}
	return nil
}

// Wherever a Sim goes back and forth, and whatever is pushed and dropped on the way, each input waits where it was
// pushed, and each tick gets what a list says.
func TestModelOfHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fail, seen := false, []evertick.Input(nil)
		s, err := evertick.New(evertick.Config{Capacity: 1, Untimed: true,
			History: evertick.HistoryConfig{Keep: 50, Every: rapid.IntRange(1, 7).Draw(t, "every")}})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Add(evertick.BeforePhysics, "answer", func(tick *evertick.Tick) error {
			seen = slices.Clone(tick.Inputs())
			for _, in := range seen {
				if in.Kind == kindDrop {
					s.DropInputs()
				}
			}
			if fail {
				return errState
			}
			for i, in := range seen {
				later := seen[i+1:]
				if in.Kind == kindPush && !slices.ContainsFunc(later, func(in evertick.Input) bool { return in.Kind == kindDrop }) {
					if err := s.Push(answer(int(tick.N), in)); err != nil {
						return err
					}
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		m := &historyModel{base: [][]evertick.Input{nil}, aside: map[int][]arrival{}}
		for range rapid.IntRange(1, 40).Draw(t, "ops") {
			end := len(m.base) - 1
			switch op := rapid.IntRange(0, 9).Draw(t, "op"); {
			case op < 3:
				in := evertick.Input{Source: rapid.Uint32Range(1, 2).Draw(t, "source"), Seq: rapid.Uint64Range(0, 9).Draw(t, "seq"),
					Tick: uint64(max(0, m.now+rapid.IntRange(-2, 3).Draw(t, "tick"))), Kind: rapid.Uint32Range(0, kinds-1).Draw(t, "kind")}
				if err := m.push(s, in); err != nil {
					t.Fatal(err)
				}
			case op == 3:
				s.DropInputs()
				m.arrivals = append(m.arrivals, arrival{drop: true})
			case op < 6 && m.failed:
			case op == 4:
				fail = true
				m.begin()
				if err := s.Step(); !errors.Is(err, errState) {
					t.Fatal(err)
				}
				fail, m.failed = false, true
				for tick := range m.aside { // the undone ticks are gone already
					delete(m.aside, tick)
				}
				m.base = m.base[:m.now+1]
			case op == 5 || op == 6 && !m.failed:
				m.begin()
				if err := s.Step(); err != nil {
					t.Fatal(err)
				}
				if due := m.step(); !slices.EqualFunc(due, seen, sameInput) {
					t.Fatalf("tick %d got %v, want %v", m.now-1, seen, due)
				}
			case op < 9:
				n := rapid.IntRange(0, min(6, m.now)).Draw(t, "back")
				if err := s.StepBack(uint64(n)); err != nil {
					t.Fatal(err)
				}
				m.stepBack(n)
			case !m.failed:
				n := rapid.IntRange(0, min(6, end-m.now)).Draw(t, "forward")
				err := s.Forward(uint64(n))
				if free := m.forward(n); free != (err == nil) || err != nil && !errors.Is(err, evertick.ErrStale) {
					t.Fatalf("Forward(%d): %v; nothing stands in the way: %v", n, err, free)
				}
			}
			if got := int(s.Ticks()); got != m.now {
				t.Fatalf("at tick %d, want %d", got, m.now)
			}
			if got, want := s.InputStats().Waiting, len(m.waiting()); got != want && !m.failed {
				t.Fatalf("%d inputs wait before tick %d, want %d: %v", got, m.now, want, m.waiting())
			}
		}
	})
}

func sameInput(a, b evertick.Input) bool {
	return a.Tick == b.Tick && a.Source == b.Source && a.Seq == b.Seq && a.Kind == b.Kind
}

// An input that waits before a later tick comes back with that tick, and a failed tick whose inputs have no room beside
// those that came since is left only when there is room.
func TestStepBackKeepsInputs(t *testing.T) {
	c := evertick.Config{Capacity: 1, Untimed: true, Inputs: evertick.InputConfig{Capacity: 1}, History: evertick.HistoryConfig{Keep: 5, Every: 4}}
	s := newSim(t, c)
	fail := false
	var got []uint32
	if err := s.Add(evertick.BeforePhysics, "take", func(tick *evertick.Tick) error {
		got = got[:0]
		for _, in := range tick.Inputs() {
			got = append(got, in.Kind)
		}
		if fail {
			return errState
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	step(t, s, 10)
	push := func(kind uint32) {
		t.Helper()
		if err := s.Push(evertick.Input{Source: 1, Seq: uint64(kind), Kind: kind}); err != nil {
			t.Fatal(err)
		}
	}
	move := func(err error, tick uint64, waiting int) {
		t.Helper()
		if err != nil || s.Ticks() != tick || s.InputStats().Waiting != waiting {
			t.Fatalf("%v; tick %d, %d inputs wait; want %d, %d", err, s.Ticks(), s.InputStats().Waiting, tick, waiting)
		}
	}
	move(s.StepBack(3), 7, 0)
	push(1)
	move(s.StepBack(0), 7, 1)
	move(s.StepBack(2), 5, 0)
	push(2)
	move(s.StepBack(5), 0, 0)
	if err := s.Forward(6); !errors.Is(err, evertick.ErrStale) {
		t.Fatalf("Forward past an input: %v", err)
	}
	move(s.Forward(5), 5, 1)
	s.DropInputs()
	if err := s.Forward(1); !errors.Is(err, evertick.ErrStale) {
		t.Fatalf("Forward past a drop: %v", err)
	}
	step(t, s, 1)
	if len(got) != 0 {
		t.Fatalf("tick 5 gets %v", got)
	}
	move(s.StepBack(1), 5, 0)
	move(s.Forward(1), 6, 0) // with the drop

	push(3)
	fail = true
	if err := s.Step(); !errors.Is(err, errState) {
		t.Fatal(err)
	}
	fail = false
	push(4)
	if err := s.StepBack(0); !errors.Is(err, loop.ErrFull) || s.Ticks() != 6 {
		t.Fatalf("no room for the inputs of the failed tick: %v, tick %d", err, s.Ticks())
	}
	if err := s.Step(); !errors.Is(err, errState) {
		t.Fatalf("the Sim has left the tick that failed: %v", err)
	}
	s.DropInputs()
	move(s.StepBack(0), 6, 0)
	push(5)
	step(t, s, 1)
	if !slices.Equal(got, []uint32{5}) || s.InputStats().Late != 0 {
		t.Fatalf("tick 6 gets %v; %d late", got, s.InputStats().Late)
	}
}
