package evertick_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native/paritytest"
)

func push(t testing.TB, s *evertick.Sim, in evertick.Input) {
	t.Helper()
	if err := s.Push(in); err != nil {
		t.Fatal(err)
	}
}

// listInputs adds a system that lists its inputs, and another that checks that it sees the
// same.
func listInputs(t testing.TB, s *evertick.Sim, list *[]string) {
	t.Helper()
	var first []evertick.Input
	add(t, s, evertick.BeforePhysics, "list", func(tick *evertick.Tick) error {
		first = tick.Inputs()
		for _, in := range first {
			*list = append(*list, fmt.Sprintf("%d: %d %d %d %d %s", tick.N, in.Tick, in.Source, in.Seq, in.Kind, in.Data))
		}
		return nil
	})
	add(t, s, evertick.AfterIndex, "list again", func(tick *evertick.Tick) error {
		if len(first) != len(tick.Inputs()) || len(first) > 0 && &first[0] != &tick.Inputs()[0] {
			t.Error("other inputs in another system")
		}
		return nil
	})
}

func TestInputsComeInOrder(t *testing.T) {
	s := newSim(t, small())
	var got []string
	listInputs(t, s, &got)
	step(t, s, 2)
	data := []byte("data")
	push(t, s, evertick.Input{Tick: 3, Source: 1, Seq: 9, Kind: 7, Data: data})
	copy(data, "DATA") // was copied
	push(t, s, evertick.Input{Tick: 3, Source: 1, Seq: 8, Data: []byte{}})
	push(t, s, evertick.Input{Tick: 3, Source: 0, Seq: 20})
	push(t, s, evertick.Input{Tick: 1, Source: 5, Seq: 1}) // late
	push(t, s, evertick.Input{Tick: 2, Source: 4, Seq: 1})
	wantError(t, s.Push(evertick.Input{Tick: 4, Source: 1, Seq: 9}), loop.ErrDuplicate, "source 1")
	step(t, s, 3)
	want := []string{"2: 1 5 1 0 ", "2: 2 4 1 0 ", "3: 3 0 20 0 ", "3: 3 1 8 0 ", "3: 3 1 9 7 data"}
	if !slices.Equal(got, want) {
		t.Errorf("inputs %q, want %q", got, want)
	}
	st := s.InputStats()
	if st.Pushed != 5 || st.Late != 1 || st.Duplicate != 1 || st.Waiting != 0 || st.HighWater != 5 || st.HighWaterBytes != 4 {
		t.Errorf("stats %+v", st)
	}
}

func TestInputsAreBounded(t *testing.T) {
	c := small()
	c.Inputs = evertick.InputConfig{Capacity: 2, Bytes: 10}
	s := newSim(t, c)
	push(t, s, evertick.Input{Seq: 1, Data: make([]byte, 6)})
	wantError(t, s.Push(evertick.Input{Seq: 2, Data: make([]byte, 5)}), loop.ErrFull, "evertick: Config.Inputs.Bytes = 10: queue full")
	wantError(t, s.Push(evertick.Input{Seq: 2, Data: make([]byte, 11)}), loop.ErrFull, "evertick: Config.Inputs.Bytes = 10, an input of 11 bytes never fits: queue full")
	push(t, s, evertick.Input{Source: 1, Seq: 2, Data: make([]byte, 4)})
	err := s.Push(evertick.Input{Seq: 3})
	wantError(t, err, evertick.ErrCapacity, "evertick: Config.Inputs.Capacity = 2: queue full")
	if !errors.Is(err, loop.ErrFull) || s.InputStats().Full != 3 || s.InputStats().WaitingBytes != 10 {
		t.Errorf("%v, stats %+v", err, s.InputStats())
	}
	saved, err := s.Snapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, less := range []struct {
		in   evertick.InputConfig
		want string
	}{
		{evertick.InputConfig{Capacity: 1}, "evertick: Config.Inputs.Capacity = 1: queue full"},
		{evertick.InputConfig{Bytes: 9}, "evertick: Config.Inputs.Bytes = 9: queue full"},
		{evertick.InputConfig{Bytes: 3}, "evertick: Config.Inputs.Bytes = 3: queue full"},
	} {
		c.Inputs = less.in
		wantError(t, newSim(t, c).Restore(saved), evertick.ErrCapacity, less.want)
	}
	step(t, s, 1)
	push(t, s, evertick.Input{Seq: 3})

	c.Inputs = evertick.InputConfig{Capacity: -1, Bytes: -2}
	_, err = evertick.New(c)
	wantError(t, err, evertick.ErrRange, "Inputs.Capacity = -1", "Inputs.Bytes = -2")
}

// Neither the order of arrival matters, nor the number of goroutines that push.
func TestInputsFromManyGoroutines(t *testing.T) {
	run := func(goroutines int) []string {
		s := newSim(t, small())
		var got []string
		listInputs(t, s, &got)
		var wg sync.WaitGroup
		for g := range goroutines {
			wg.Go(func() {
				for i := g; i < 300; i += goroutines {
					push(t, s, evertick.Input{Tick: uint64(i % 7), Source: uint32(i % 3), Seq: uint64(i), Data: []byte(fmt.Sprint(i))})
				}
			})
		}
		wg.Wait()
		step(t, s, 7)
		return got
	}
	want := run(1)
	if got := run(8); len(want) != 300 || !slices.Equal(got, want) {
		t.Errorf("8 goroutines: %d inputs, not the %d of one in their order", len(got), len(want))
	}
}

// A feed returns the inputs of each tick; what is pushed meanwhile is ignored.
func TestSetInputs(t *testing.T) {
	s := newSim(t, small())
	var live []string
	listInputs(t, s, &live)
	add(t, s, evertick.AfterIndex, "fed", func(tick *evertick.Tick) error {
		if tick.Fed() != (tick.N < 3) {
			t.Errorf("tick %d: fed: %t", tick.N, tick.Fed())
		}
		return nil
	})
	push(t, s, evertick.Input{Tick: 9, Seq: 1, Data: []byte("waits")})
	boom := errors.New("no more")
	s.SetInputs(func(tick uint64, dst []evertick.Input) ([]evertick.Input, error) {
		if tick == 3 {
			return dst, boom
		}
		return append(dst, evertick.Input{Tick: tick, Source: 2}, evertick.Input{Tick: tick, Source: 1, Data: []byte("fed")}), nil
	})
	push(t, s, evertick.Input{Seq: 2})
	step(t, s, 3)
	hash := s.Hash()
	wantError(t, s.Step(), boom, "tick 3: inputs")
	if s.Ticks() != 3 || s.Hash() != hash {
		t.Error("the step did something")
	}
	s.SetInputs(nil)
	step(t, s, 7)
	want := []string{"0: 0 2 0 0 ", "0: 0 1 0 0 fed", "1: 1 2 0 0 ", "1: 1 1 0 0 fed", "2: 2 2 0 0 ", "2: 2 1 0 0 fed", "9: 9 0 1 0 waits"}
	if !slices.Equal(live, want) {
		t.Errorf("inputs %q, want %q", live, want)
	}
	if st := s.InputStats(); st.Ignored != 1 {
		t.Errorf("stats %+v", st)
	}
}

func TestInputsAllocateNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	s := newSim(t, small())
	seen := 0
	add(t, s, evertick.BeforePhysics, "count", func(tick *evertick.Tick) error {
		seen += len(tick.Inputs())
		return nil
	})
	data := make([]byte, 100)
	seq := uint64(0)
	tick := func() {
		for i := range 20 {
			seq++
			push(t, s, evertick.Input{Tick: s.Ticks() + uint64(i%3), Seq: seq, Data: data[:i*5]})
		}
		step(t, s, 1)
	}
	for range 20 {
		tick()
	}
	if n := testing.AllocsPerRun(50, tick); n != 0 || seen == 0 {
		t.Errorf("%g allocations a tick", n)
	}
}

// A flood of inputs that never fit costs one small allocation each, whatever their size.
func TestOversizeInputsAreCheap(t *testing.T) {
	s, err := evertick.New(evertick.Config{Inputs: evertick.InputConfig{Bytes: 10}})
	if err != nil {
		t.Fatal(err)
	}
	in := evertick.Input{Data: make([]byte, 1<<16)}
	if n := testing.AllocsPerRun(100, func() { err = s.Push(in) }); n > 1 || !errors.Is(err, loop.ErrFull) {
		t.Errorf("%v allocations, %v", n, err)
	}
}
