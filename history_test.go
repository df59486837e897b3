package evertick_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/native/paritytest"
)

// historyPark is a park to which all comes as inputs, some of them from a system, and which
// remembers.
func historyPark(t testing.TB, h evertick.HistoryConfig) *park {
	t.Helper()
	c := parkConfig()
	c.History = h
	p := newPark(t, c)
	p.quiet = true
	add(t, p.sim, evertick.AfterIndex, "tell", func(tick *evertick.Tick) error {
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

// What was pushed but not applied when the Sim went back is there again when it has
// come forward, and not before; a Step goes another way and forgets it.
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

// A change that no input tells of is found, and the Sim stays where it is.
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

// Systems and hooks can tell that a tick runs again.
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

// A Sim that has failed goes back to the beginning of that tick, or further.
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

// A feed is not asked for ticks that run again.
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

func TestRunUntil(t *testing.T) {
	s := newSim(t, small())
	if err := s.StepN(3); err != nil || s.Ticks() != 3 {
		t.Errorf("StepN: %v, tick %d", err, s.Ticks())
	}
	at := func(n uint64) func(*evertick.Sim) bool { return func(s *evertick.Sim) bool { return s.Ticks() == n } }
	for _, c := range []struct {
		tick, limit, end uint64
		found            bool
	}{{3, 0, 3, true}, {5, 2, 5, true}, {9, 3, 8, false}, {100, 0, 8, false}} {
		found, err := s.RunUntil(at(c.tick), c.limit)
		if found != c.found || err != nil || s.Ticks() != c.end {
			t.Errorf("until %d, at most %d: %t, %v, at %d", c.tick, c.limit, found, err, s.Ticks())
		}
	}
	add(t, s, evertick.AfterIndex, "fail", func(*evertick.Tick) error { return errState })
	if found, err := s.RunUntil(at(20), 20); found || !errors.Is(err, errState) {
		t.Errorf("%t, %v", found, err)
	}
	wantError(t, s.StepN(2), errState)
}

func ExampleSim_StepBack() {
	sim, err := evertick.New(evertick.Config{Capacity: 16, History: evertick.HistoryConfig{Keep: 4, Every: 30}})
	if err != nil {
		panic(err)
	}
	id, _ := sim.World.Spawn()
	err = sim.Add(evertick.BeforePhysics, "obey", func(t *evertick.Tick) error {
		slot, _ := sim.World.Slot(id)
		for _, in := range t.Inputs() {
			sim.World.Position.X[slot] += float32(in.Data[0])
		}
		return nil
	})
	if err != nil {
		panic(err)
	}
	x := func() float32 { return sim.World.Position.X[0] }
	_ = sim.Push(evertick.Input{Tick: 50, Source: 1, Seq: 1, Data: []byte{7}})
	_ = sim.StepN(60)
	fmt.Println("tick", sim.Ticks(), "x", x())
	_ = sim.StepBack(20)
	fmt.Println("tick", sim.Ticks(), "x", x())
	_ = sim.Forward(20)
	fmt.Println("tick", sim.Ticks(), "x", x())
	// Output:
	// tick 60 x 7
	// tick 40 x 0
	// tick 60 x 7
}
