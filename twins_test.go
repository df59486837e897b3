package evertick_test

import (
	"errors"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native/paritytest"
)

// Sims with 1, 2 and 7 workers that are restored from one snapshot stay equal to the one that
// it is of.
func TestRestoredSimsStayEqual(t *testing.T) {
	ticks := 500
	if testing.Short() {
		ticks = 100
	}
	for i, scene := range [...]func(workers int) *evertick.Sim{
		func(workers int) *evertick.Sim {
			c := parkConfig()
			c.Workers = workers
			return newPark(t, c).sim
		},
		func(workers int) *evertick.Sim { return newTown(t, workers, func() {}).Sim },
	} {
		first := scene(1)
		step(t, first, 50)
		data := snapshot(t, first)
		var others []*evertick.Sim
		for _, workers := range []int{1, 2, 7} {
			s := scene(workers)
			step(t, s, 13) // which must leave nothing behind
			restore(t, s, data)
			others = append(others, s)
		}
		start := first.Hash()
		for range ticks {
			step(t, first, 1)
			for k, s := range others {
				if step(t, s, 1); s.Hash() != first.Hash() {
					t.Fatalf("scene %d: Sim %d differs at tick %d", i, k, first.Ticks())
				}
			}
		}
		if first.Hash() == start {
			t.Errorf("scene %d: nothing happens", i)
		}
	}
}

// What wants to stop in a group lets the tick count, in the history too.
func TestStepBackPastAStop(t *testing.T) {
	c := evertick.Config{Workers: 2, History: evertick.HistoryConfig{Keep: 3, Every: 4}}
	s := three(t, c, nothing, func(tick *evertick.Tick) error {
		if tick.N == 6 {
			return loop.ErrStop
		}
		return nil
	}, nothing)
	step(t, s, 6)
	wantError(t, s.Step(), loop.ErrStop, "b")
	step(t, s, 3)
	hash := s.Hash()
	if err := s.StepBack(5); err != nil || s.Ticks() != 5 {
		t.Fatalf("%v, at %d", err, s.Ticks())
	}
	if err := s.Forward(5); err != nil || s.Hash() != hash {
		t.Errorf("%v, hash %x, want %x", err, s.Hash(), hash)
	}
}

// A panic in a group, side by side with one that records commands, leaves nothing behind a
// StepBack.
func TestStepBackFromAPanicOfAGroup(t *testing.T) {
	c := evertick.Config{Workers: 2, Recover: true, History: evertick.HistoryConfig{Keep: 3, Every: 4}}
	broken := false
	var s *evertick.Sim
	spawning := func(tick *evertick.Tick) error {
		tick.Commands().Spawn()
		return nil
	}
	s = three(t, c, spawning, func(tick *evertick.Tick) error {
		if broken {
			panicky()
		}
		return nil
	}, spawning)
	step(t, s, 7)
	before := snapshot(t, s)
	broken = true
	if s.Step() == nil {
		t.Fatal("no error")
	}
	broken = false
	if err := s.StepBack(0); err != nil || string(snapshot(t, s)) != string(before) {
		t.Fatalf("%v, at %d", err, s.Ticks())
	}
	step(t, s, 1)
	if s.World.Len() != 16 {
		t.Errorf("%d entities, want 16", s.World.Len())
	}
}

// Under loop.Resume the tick that panicked is due again, and runs when the Sim is healed;
// the third panic in a row halts the loop.
func TestResumeOfASim(t *testing.T) {
	const tick = 16_666_667
	c := small()
	c.Recover, c.History = true, evertick.HistoryConfig{Keep: 2}
	c.Loop.OnFault = loop.Resume
	s := newSim(t, c)
	broken := false
	add(t, s, evertick.AfterIndex, "b", func(*evertick.Tick) error {
		if broken {
			panicky()
		}
		return nil
	})
	advance := func(ticks uint64, fails bool) {
		t.Helper()
		broken = fails
		if _, err := s.Advance(tick); fails != (err != nil) || s.Ticks() != ticks {
			t.Fatalf("%v, %d ticks, want %d", err, s.Ticks(), ticks)
		}
	}
	back := func() {
		t.Helper()
		broken = false
		if err := s.StepBack(0); err != nil {
			t.Fatal(err)
		}
	}
	advance(1, false)
	advance(1, true)
	back()
	advance(3, false) // this one and that which had failed
	for range 3 {
		advance(3, true)
		back()
	}
	if s.Loop().Fault() == nil {
		t.Error("the loop has not halted")
	}
	s.Loop().Resume()
	advance(7, false)
}

// A whole frame, with inputs, a history, groups, hooks and interpolation, allocates nothing.
func TestFrameAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	c := evertick.Config{Workers: 2, Previous: true, Recover: true, History: evertick.HistoryConfig{Keep: 3, Every: 4}}
	s := three(t, c, nothing, nothing, nothing)
	movingBody(t, s, spawn(t, s), 2)
	out := ecs.NewTransforms(s.World.Cap())
	var image []byte
	s.AddHooks(evertick.Hooks{AfterTick: func(tick *evertick.Tick) (err error) {
		image, err = s.Snapshot(image[:0])
		return err
	}})
	seq := uint64(0)
	frame := func() {
		for range 8 {
			seq++
			push(t, s, evertick.Input{Seq: seq, Data: image[:min(len(image), 9)]})
			if _, err := s.Advance(25e6); err != nil {
				t.Fatal(err)
			}
			if err := s.Interpolate(out); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 6 {
		frame()
	}
	if n := testing.AllocsPerRun(20, frame); n != 0 {
		t.Errorf("%g allocations in 8 frames", n)
	}
}

// As alpha stays below 1, nothing is drawn where it will be.
func TestInterpolateStaysBelowOne(t *testing.T) {
	c := small()
	c.Previous = true
	s := newSim(t, c)
	id := spawn(t, s)
	add(t, s, evertick.BeforePhysics, "leap", func(*evertick.Tick) error {
		return s.World.SetPosition(id, 1<<24, 0, 0)
	})
	if f, err := s.Advance(33_333_333); err != nil || f.Steps != 1 || float32(f.Alpha) != 1 {
		t.Fatalf("%v, %+v: no alpha that float32 rounds to 1", err, f)
	}
	out := ecs.NewTransforms(s.World.Cap())
	if err := s.Interpolate(out); err != nil || out.Position.X[0] >= 1<<24 || out.Position.X[0] < 1<<24-2 {
		t.Errorf("%v, drawn at %g", err, out.Position.X[0])
	}
}

// A panic with ErrStop is a panic, also in a tick that is run again.
func TestPanicWithStop(t *testing.T) {
	c := small()
	c.Recover, c.History = true, evertick.HistoryConfig{Keep: 3, Every: 8}
	s := newSim(t, c)
	broken := false
	add(t, s, evertick.AfterIndex, "b", func(*evertick.Tick) error {
		if broken {
			panic(loop.ErrStop)
		}
		return nil
	})
	step(t, s, 4)
	broken = true
	var p *loop.PanicError
	if err := s.StepBack(2); !errors.As(err, &p) || s.Ticks() != 4 {
		t.Errorf("StepBack: %v, at %d", err, s.Ticks())
	}
	if f, err := s.Advance(17e6); !errors.As(err, &p) || s.Ticks() != 4 || s.Loop().Tick() != 0 {
		t.Errorf("%v, at %d, %+v", err, s.Ticks(), f)
	}
}
