package evertick_test

import (
	"errors"
	"runtime"
	"sync"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/loop"
)

// What other goroutines push while ticks are run again does not get in among them.
func TestPushDuringStepBack(t *testing.T) {
	p := historyPark(t, evertick.HistoryConfig{Keep: 3, Every: 8})
	record(t, p, 40)
	done := make(chan bool)
	var wg sync.WaitGroup
	for source := range uint32(3) {
		wg.Go(func() {
			for seq := uint64(1); ; seq++ {
				select {
				case <-done:
					return
				default:
				}
				if p.sim.InputStats().Waiting > 1000 {
					runtime.Gosched()
					continue
				}
				err := p.sim.Push(evertick.Input{Source: 70 + source, Seq: seq})
				if err != nil && !errors.Is(err, evertick.ErrReplaying) && !errors.Is(err, loop.ErrFull) {
					t.Error(err)
				}
			}
		})
	}
	for range 20 {
		if err := p.sim.StepBack(12); err != nil {
			t.Error(err)
		}
		step(t, p.sim, 12)
	}
	close(done)
	wg.Wait()
}

// Also between the ticks that are run again nothing gets in.
func TestPushWithinStepBack(t *testing.T) {
	c := small()
	c.History = evertick.HistoryConfig{Keep: 3, Every: 8}
	s := newSim(t, c)
	pushing := &pushingState{sim: s}
	if err := s.AddState("pushing", pushing); err != nil {
		t.Fatal(err)
	}
	step(t, s, 20)
	waiting := s.InputStats().Waiting
	if err := s.StepBack(3); err != nil {
		t.Fatal(err)
	}
	if pushing.calls != 1 || !errors.Is(pushing.err, evertick.ErrReplaying) || s.InputStats().Waiting != waiting {
		t.Errorf("%d calls, %v, %d inputs wait", pushing.calls, pushing.err, s.InputStats().Waiting)
	}
	push(t, s, evertick.Input{Seq: 2})
}

// pushingState pushes an input when it is restored.
type pushingState struct {
	sim   *evertick.Sim
	calls int
	err   error
}

func (*pushingState) AppendState(dst []byte) []byte { return dst }
func (p *pushingState) RestoreState([]byte) error {
	p.calls++
	p.err = p.sim.Push(evertick.Input{Seq: 1})
	return nil
}

// What waits while a feed is set is there again behind the feed, also for ticks that are
// run again.
func TestWaitingUnderAFeed(t *testing.T) {
	p := historyPark(t, evertick.HistoryConfig{Keep: 30, Every: 4})
	s := p.sim
	step(t, s, 5)
	push(t, s, evertick.Input{Tick: 14, Source: 77, Seq: 1, Data: []byte("later")})
	s.SetInputs(func(tick uint64, dst []evertick.Input) ([]evertick.Input, error) { return dst, nil })
	step(t, s, 5)
	s.SetInputs(nil)
	step(t, s, 10)
	hash := s.Hash()
	if err := s.StepBack(18); err != nil {
		t.Error(err)
	}
	if err := s.Forward(18); err != nil || s.Hash() != hash {
		t.Error(err)
	}
}

// Inputs between snapshots that are far apart are bounded as well.
func TestHistoryBytesBetween(t *testing.T) {
	c := small()
	c.History = evertick.HistoryConfig{Keep: 4, Every: 1 << 20, Bytes: 200_000}
	s := newSim(t, c)
	data := make([]byte, 1000)
	most := int64(0)
	for i := range 2000 {
		push(t, s, evertick.Input{Seq: uint64(i), Data: data})
		step(t, s, 1)
		most = max(most, s.HistoryBytes())
	}
	if most > 250_000 {
		t.Errorf("%d bytes", most)
	}
	if err := s.StepBack(s.Ticks() - s.OldestTick()); err != nil {
		t.Error(err)
	}
}

// A failed Sim that cannot go back stays at the tick that failed, and may go further back.
func TestStepBackFailsFromAFailure(t *testing.T) {
	p := historyPark(t, evertick.HistoryConfig{Keep: 3, Every: 64})
	s := p.sim
	for range 10 {
		p.next(t)
	}
	s.World.Position.X[3] += 0.5
	for range 10 {
		p.next(t)
	}
	p.broken, p.breakAfter = errState, 20
	wantError(t, s.Step(), errState)
	wantError(t, s.StepBack(1), evertick.ErrStale, "tick 10 run again")
	if s.Ticks() != 20 {
		t.Errorf("at %d", s.Ticks())
	}
	wantError(t, s.Step(), errState)
	if err := s.StepBack(12); err != nil || s.Ticks() != 8 {
		t.Errorf("%v, at %d", err, s.Ticks())
	}
}
