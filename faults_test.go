package evertick_test

import (
	"errors"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/loop"
)

// A hook that fails behind a tick leaves a tick that counts, to which StepBack leads.
func TestStepBackFromAHookThatFails(t *testing.T) {
	for _, how := range []string{"error", "panic", "recovered"} {
		c := small()
		c.History = evertick.HistoryConfig{Keep: 3, Every: 8}
		c.Recover = how == "recovered"
		s := newSim(t, c)
		bad := true
		s.AddHooks(evertick.Hooks{AfterTick: func(tick *evertick.Tick) error {
			if tick.N != 10 || !bad {
				return nil
			}
			if how != "error" {
				panic("hook")
			}
			return errState
		}})
		step(t, s, 10)
		func() {
			defer func() { _ = recover() }()
			_ = s.Step()
		}()
		if s.Ticks() != 11 {
			t.Fatalf("%s: %d", how, s.Ticks())
		}
		hash := s.Hash()
		bad = false
		if err := s.StepBack(0); err != nil || s.Hash() != hash || s.Ticks() != 11 {
			t.Errorf("%s: %v, tick %d", how, err, s.Ticks())
		}
		if err := s.StepBack(1); err != nil || s.Ticks() != 10 {
			t.Errorf("%s: %v, tick %d", how, err, s.Ticks())
		}
		step(t, s, 5)
	}
}

// Time does not move from within a step, and the frame that runs comes out as if nobody
// had asked.
func TestAdvanceWithinAStep(t *testing.T) {
	s := newSim(t, small())
	calls := 0
	add(t, s, evertick.AfterIndex, "again", func(*evertick.Tick) error {
		_, err := s.Advance(100e6)
		if runErr := s.Run(t.Context()); err == nil || runErr == nil {
			t.Errorf("Advance %v, Run %v", err, runErr)
		}
		calls++
		return nil
	})
	for i := 1; i <= 2; i++ {
		f, err := s.Advance(50e6)
		if err != nil || f.Steps != 3 || s.Ticks() != uint64(3*i) || f.WallNs != uint64(50e6*i) || calls != 3*i {
			t.Errorf("%v, %d ticks, %d calls, %+v", err, s.Ticks(), calls, f)
		}
	}
}

// Where ticks are skipped the Sim has no hole, and is behind the loop by what was dropped.
func TestRealtimeOfASim(t *testing.T) {
	c := small()
	c.Loop = loop.Config{Policy: loop.Realtime, MaxSteps: 2, MaxDeltaNs: 1e9}
	s := newSim(t, c)
	next := uint64(0)
	add(t, s, evertick.AfterIndex, "count", func(tick *evertick.Tick) error {
		if tick.N != next {
			t.Errorf("tick %d, want %d", tick.N, next)
		}
		next++
		return nil
	})
	for range 5 {
		f, err := s.Advance(100e6)
		if err != nil || f.DroppedTotal == 0 || s.Ticks() != f.Tick-f.DroppedTotal {
			t.Errorf("%v, at %d, %+v", err, s.Ticks(), f)
		}
	}
}

// A State that panics leaves a Sim that says so, until a Restore.
func TestRestoreWithAStateThatPanics(t *testing.T) {
	s := newSim(t, small())
	st := new(panickyState)
	if err := s.AddState("st", st); err != nil {
		t.Fatal(err)
	}
	data := snapshot(t, s)
	st.broken = true
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		_ = s.Restore(data)
	}()
	if s.Step() == nil {
		t.Error("the Sim goes on")
	}
	st.broken = false
	restore(t, s, data)
	step(t, s, 1)
}

type panickyState struct{ broken bool }

func (*panickyState) AppendState(dst []byte) []byte { return dst }
func (p *panickyState) RestoreState([]byte) error {
	if p.broken {
		panic("state")
	}
	return nil
}

// Recover holds for feeds and hooks, too, and names where they were called.
func TestPanicsAreNamed(t *testing.T) {
	where := ""
	boom := func(at string) {
		if where == at {
			panic("boom")
		}
	}
	for _, c := range [][2]string{{"feed", "inputs"}, {"BeforeTick", "BeforeTick"}, {"before b", "b"}, {"after b", "b"}, {"AfterTick", "AfterTick"}} {
		cfg := small()
		cfg.Recover = true
		cfg.Workers = 2
		s := newSim(t, cfg)
		if err := errors.Join(s.Resource("r"), s.Resource("q")); err != nil {
			t.Fatal(err)
		}
		for i, name := range []string{"a", "b", "c"} {
			sys := evertick.System{Name: name, Run: nothing, Reads: []string{[]string{"r", "q"}[i&1]}}
			if err := s.AddSystem(sys); err != nil {
				t.Fatal(err)
			}
		}
		s.SetInputs(func(_ uint64, dst []evertick.Input) ([]evertick.Input, error) { boom("feed"); return dst, nil })
		s.AddHooks(evertick.Hooks{
			BeforeTick:   func(*evertick.Tick) error { boom("BeforeTick"); return nil },
			AfterTick:    func(*evertick.Tick) error { boom("AfterTick"); return nil },
			BeforeSystem: func(_ *evertick.Tick, name string) { boom("before " + name) },
			AfterSystem:  func(_ *evertick.Tick, name string) { boom("after " + name) },
		})
		where = ""
		step(t, s, 1)
		where = c[0]
		func() {
			defer func() {
				if v := recover(); v != nil {
					t.Errorf("%v: panics", c)
				}
			}()
			err := s.Step()
			var p *loop.PanicError
			if !errors.As(err, &p) || p.System != c[1] || p.Tick != 1 {
				t.Errorf("%v: %v", c, err)
			}
		}()
	}
}
