package evertick_test

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/loop"
)

// If an AfterTick hook fails the tick counts, and StepBack can return to it.
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

// historyPark is a park with a history, changed from outside by inputs only, some of which a system
// pushes.
func historyPark(t testing.TB, h evertick.HistoryConfig) *park {
	t.Helper()
	c := parkConfig()
	c.History = h
	p := newPark(t, c)
	p.quiet = true
	add(t, p.sim, evertick.AfterIndex, "post", func(tick *evertick.Tick) error {
		if tick.N%6 == 1 {
			return p.sim.Push(evertick.Input{Tick: tick.N + 4, Source: 9, Seq: tick.N, Kind: 3, Data: []byte{1, 2, 3}})
		}
		return nil
	})
	return p
}

// at checks that a park is where it was at tick k.
func (r *recorded) at(t testing.TB, p *park, k int) {
	t.Helper()
	if got := snapshot(t, p.sim); p.sim.Ticks() != uint64(k) || !bytes.Equal(got, r.snaps[k]) {
		t.Fatalf("at tick %d, hash %x: not the state of tick %d, hash %x", p.sim.Ticks(), p.sim.Hash(), k, r.hashes[k])
	}
}

func TestStepBack(t *testing.T) {
	const last = 80
	for _, h := range []evertick.HistoryConfig{{Keep: 100, Every: 1}, {Keep: 4, Every: 16}, {Keep: 2, Every: 1000}} {
		p := historyPark(t, h)
		r := record(t, p, last)
		oldest := int(p.sim.OldestTick())
		for back := 0; last-back >= oldest; back += 7 {
			k := last - back
			if err := p.sim.StepBack(uint64(back)); err != nil {
				t.Fatalf("%+v: %v", h, err)
			}
			r.at(t, p, k)
			if err := p.sim.Forward(uint64(back)); err != nil { // the same again
				t.Fatalf("%+v: %v", h, err)
			}
			r.at(t, p, last)
			if err := errors.Join(p.sim.StepBack(uint64(back)/2), p.sim.StepBack(uint64(back)-uint64(back)/2)); err != nil {
				t.Fatalf("%+v: %v", h, err)
			}
			r.at(t, p, k)
			r.follow(t, p, k) // as the first time, by pushing the same inputs
			if p.sim.OldestTick() < uint64(oldest) {
				t.Errorf("%+v: reaches back to %d", h, p.sim.OldestTick())
			}
			oldest = max(oldest, int(p.sim.OldestTick()))
		}
		wantError(t, p.sim.StepBack(uint64(last-oldest+1)), evertick.ErrRange, "the oldest is")
		r.at(t, p, last)
		wantError(t, p.sim.Forward(1), evertick.ErrRange, "ticks = 1")
	}
}

// Inputs that were pushed but not applied before a StepBack are there again after a Forward to the end, and
// not before; a Step drops them.
func TestStepBackForgetsInputs(t *testing.T) {
	p := historyPark(t, evertick.HistoryConfig{Keep: 3, Every: 8})
	r := record(t, p, 20)
	push(t, p.sim, evertick.Input{Tick: 30, Source: 7, Seq: 1, Data: []byte("later")})
	far := snapshot(t, p.sim)
	if err := p.sim.StepBack(10); err != nil {
		t.Fatal(err)
	}
	r.at(t, p, 10)
	if err := p.sim.Forward(10); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(snapshot(t, p.sim), far) {
		t.Error("Forward has not brought back what was pushed")
	}
	if err := p.sim.StepBack(6); err != nil {
		t.Fatal(err)
	}
	push(t, p.sim, evertick.Input{Tick: 15, Source: 7, Seq: 2})
	wantError(t, p.sim.Forward(1), evertick.ErrStale, "pushed since")
	hash := p.next(t)
	wantError(t, p.sim.Forward(1), evertick.ErrRange)
	if err := p.sim.StepBack(1); err != nil {
		t.Fatal(err)
	}
	r.at(t, p, 14)
	if err := p.sim.Forward(1); err != nil || p.sim.Hash() != hash {
		t.Errorf("the other way is not remembered: %v", err)
	}
}

// A change that is not by an input is found, and the Sim stays where it is.
func TestStepBackNoticesOtherChanges(t *testing.T) {
	p := historyPark(t, evertick.HistoryConfig{Keep: 2, Every: 64})
	for range 20 {
		p.next(t)
	}
	p.sim.World.Position.X[3] += 0.5
	for range 10 {
		p.next(t)
	}
	before := snapshot(t, p.sim)
	wantError(t, p.sim.StepBack(2), evertick.ErrStale, "tick 20 run again")
	if !bytes.Equal(before, snapshot(t, p.sim)) {
		t.Error("the Sim was changed")
	}
	if err := p.sim.StepBack(15); err != nil {
		t.Error(err)
	}
}

// Systems and hooks can see that a tick runs again.
func TestStepBackRunsAgain(t *testing.T) {
	p := historyPark(t, evertick.HistoryConfig{Keep: 2, Every: 10})
	var first, again []uint64
	add(t, p.sim, evertick.AfterIndex, "sound", func(tick *evertick.Tick) error {
		if tick.Again() {
			again = append(again, tick.N)
		} else {
			first = append(first, tick.N)
		}
		if err := p.sim.Push(evertick.Input{Source: 100, Seq: 1e6 + uint64(len(again))}); tick.Again() != errors.Is(err, evertick.ErrReplaying) {
			t.Errorf("Push: %v", err)
		}
		return nil
	})
	record(t, p, 15)
	if err := p.sim.StepBack(2); err != nil {
		t.Fatal(err)
	}
	if len(first) != 15 || !slices.Equal(again, []uint64{10, 11, 12}) {
		t.Errorf("ran %d and again %d", first, again)
	}
}

// A Sim that has failed can go back to the beginning of that tick, or further.
func TestStepBackFromAFailure(t *testing.T) {
	for _, n := range []uint64{0, 5} {
		p := historyPark(t, evertick.HistoryConfig{Keep: 3, Every: 8})
		r := record(t, p, 20)
		p.broken, p.breakAfter = errState, 20
		p.drive(t)
		wantError(t, p.sim.Step(), errState)
		if err := p.sim.StepBack(n); err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			step(t, p.sim, 1) // with the inputs of the tick that failed
		} else if err := p.sim.Forward(n); err != nil {
			t.Fatal(err)
		} else {
			step(t, p.sim, 1)
		}
		q := historyPark(t, evertick.HistoryConfig{})
		restore(t, q.sim, r.snaps[20])
		if want := q.next(t); p.sim.Hash() != want {
			t.Errorf("%d back: the tick that had failed came out as %x, want %x", n, p.sim.Hash(), want)
		}
	}
}

// A feed is not called for ticks that run again.
func TestStepBackWithAFeed(t *testing.T) {
	p := historyPark(t, evertick.HistoryConfig{Keep: 3, Every: 8})
	asked := 0
	p.sim.SetInputs(func(tick uint64, dst []evertick.Input) ([]evertick.Input, error) {
		asked++
		return append(dst, evertick.Input{Tick: tick, Source: 1, Seq: tick, Kind: uint32(asked), Data: []byte{byte(asked)}}), nil
	})
	step(t, p.sim, 20)
	hash := p.sim.Hash()
	if err := errors.Join(p.sim.StepBack(9), p.sim.Forward(9)); err != nil || p.sim.Hash() != hash || asked != 20 {
		t.Errorf("%v, hash %x, want %x, asked %d times", err, p.sim.Hash(), hash, asked)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	p := historyPark(t, evertick.HistoryConfig{Keep: 1000, Every: 2, Bytes: 400_000})
	most := int64(0)
	for range 100 {
		p.next(t)
		most = max(most, p.sim.HistoryBytes())
	}
	if most > 450_000 || p.sim.OldestTick() < 50 || p.sim.OldestTick() > 98 {
		t.Errorf("%d bytes, oldest tick %d", most, p.sim.OldestTick())
	}
	if err := p.sim.StepBack(p.sim.Ticks() - p.sim.OldestTick()); err != nil {
		t.Error(err)
	}
	restore(t, p.sim, snapshot(t, p.sim))
	if p.sim.OldestTick() != p.sim.Ticks() {
		t.Error("a Restore has left the history")
	}
	p.next(t)
	other := newPark(t, parkConfig())
	copyFrom(t, p.sim, other.sim)
	if p.sim.OldestTick() != 0 || p.sim.Ticks() != 0 {
		t.Error("a copy has left the history")
	}

	s := newSim(t, small())
	step(t, s, 3)
	wantError(t, s.StepBack(1), evertick.ErrUnsupported, "Config.History.Keep")
	c := small()
	c.History = evertick.HistoryConfig{Keep: -1, Every: -1, Bytes: -1}
	_, err := evertick.New(c)
	wantError(t, err, evertick.ErrRange, "History.Keep = -1", "History.Every = -1", "History.Bytes = -1")
	c.History, c.Physics.Engine = evertick.HistoryConfig{Keep: 1}, new(fakeEngine)
	_, err = evertick.New(c)
	wantError(t, err, evertick.ErrUnsupported, "Engine")
}

func TestHistoryAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	c := small()
	c.History = evertick.HistoryConfig{Keep: 3, Every: 4}
	s := newSim(t, c)
	id := spawn(t, s)
	movingBody(t, s, id, 2)
	seq, data := uint64(0), []byte("some data")
	round := func() {
		for range 8 {
			seq++
			push(t, s, evertick.Input{Tick: s.Ticks() + seq%3, Seq: seq, Data: data})
			step(t, s, 1)
		}
	}
	for range 6 {
		round()
	}
	if n := testing.AllocsPerRun(20, round); n != 0 {
		t.Errorf("%g allocations in 8 ticks", n)
	}
}

// Inputs that other goroutines push while ticks are run again are refused.
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

// They are refused between those ticks, too.
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

// Inputs that wait while a feed is set are still there after it, also for ticks that are
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

// A failed Sim whose StepBack fails stays at the tick that failed, and can still go further back.
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

// A tick in which a system of a group asks to stop counts, in the history too.
func TestStepBackPastAStop(t *testing.T) {
	c := evertick.Config{Workers: 2, History: evertick.HistoryConfig{Keep: 3, Every: 4}}
	s := threeSystems(t, c, nothing, func(tick *evertick.Tick) error {
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

// A panic in a group, beside a system that records commands, leaves nothing after a
// StepBack.
func TestStepBackFromAPanicOfAGroup(t *testing.T) {
	c := evertick.Config{Workers: 2, Recover: true, History: evertick.HistoryConfig{Keep: 3, Every: 4}}
	broken := false
	var s *evertick.Sim
	spawning := func(tick *evertick.Tick) error {
		tick.Commands().Spawn()
		return nil
	}
	s = threeSystems(t, c, spawning, func(tick *evertick.Tick) error {
		if broken {
			panicGone()
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

// Inputs that were accepted once are accepted again, although those that a failed tick had taken and those that
// came in it wait together after a StepBack, and are more than the share of their source.
func TestStepBackToAFailedTickKeepsInputs(t *testing.T) {
	s := newSim(t, evertick.Config{Capacity: 8, Inputs: evertick.InputConfig{Capacity: 8}, History: evertick.HistoryConfig{Keep: 10, Every: 1}})
	fail, got := true, 0
	add(t, s, evertick.BeforePhysics, "push", func(tick *evertick.Tick) error {
		got += len(tick.Inputs())
		if fail && tick.N == 2 {
			for seq := range uint64(2) {
				push(t, s, evertick.Input{Tick: 3, Source: 1, Seq: 100 + seq, Data: []byte{byte(seq)}})
			}
			return errSystem
		}
		return nil
	})
	step(t, s, 2)
	for seq := range uint64(6) { // its whole share
		push(t, s, evertick.Input{Tick: 2, Source: 1, Seq: seq, Data: []byte{byte(seq)}})
	}
	wantError(t, s.Step(), errSystem)
	if err := s.StepBack(0); err != nil || s.InputStats().Waiting != 8 {
		t.Fatalf("%v, %+v", err, s.InputStats())
	}
	fail, got = false, 0
	step(t, s, 1)
	if got != 6 {
		t.Errorf("the tick got %d inputs, want 6", got)
	}
	step(t, s, 1)
	if got != 8 {
		t.Errorf("both ticks got %d inputs, want 8", got)
	}
}

// A feed that fails leaves the Sim as it was, and the history, too: it has the inputs that had arrived.
func TestStepBackAfterAFeedHasFailed(t *testing.T) {
	s := newSim(t, evertick.Config{Capacity: 8, History: evertick.HistoryConfig{Keep: 10, Every: 100}})
	got := column(t, s, "got")
	spawn(t, s)
	add(t, s, evertick.BeforePhysics, "count", func(tick *evertick.Tick) error {
		got[0] += float32(len(tick.Inputs()))
		return nil
	})
	step(t, s, 1)
	push(t, s, evertick.Input{Tick: 1, Source: 1, Seq: 1})
	s.SetInputs(func(uint64, []evertick.Input) ([]evertick.Input, error) {
		push(t, s, evertick.Input{Tick: 2, Source: 1, Seq: 2}) // dropped, since there is a feed
		return nil, errSystem
	})
	wantError(t, s.Step(), errSystem)
	s.SetInputs(nil)
	push(t, s, evertick.Input{Tick: 1, Source: 1, Seq: 3})
	step(t, s, 3)
	if err := s.StepBack(2); err != nil || got[0] != 2 {
		t.Errorf("%v, %v inputs", err, got[0])
	}
}

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
