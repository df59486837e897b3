package evertick_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/loop"
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

// Systems see At and Fraction as they were pushed, also after a Restore and when ticks run again.
func TestInputsKeepTheirStamps(t *testing.T) {
	c := small()
	c.History = evertick.HistoryConfig{Keep: 4, Every: 2}
	run := func() (*evertick.Sim, *[]evertick.Input) {
		s := newSim(t, c)
		seen := new([]evertick.Input)
		add(t, s, evertick.BeforePhysics, "see", func(tick *evertick.Tick) error {
			for _, in := range tick.Inputs() {
				in.Data = nil
				*seen = append(*seen, in)
			}
			return nil
		})
		return s, seen
	}
	s, seen := run()
	want := []evertick.Input{
		{Tick: 1, Source: 1, Seq: 1, At: 1<<63 + 5, Fraction: 1<<32 - 1},
		{Tick: 2, Source: 1, Seq: 2, Fraction: 9},
		{Tick: 3, Source: 1, Seq: 3},
		{Tick: 3, Source: 1, Seq: 4, At: 3},
	}
	check := func(what string, got, want []evertick.Input) {
		t.Helper()
		if !slices.EqualFunc(got, want, func(a, b evertick.Input) bool { return fmt.Sprint(a) == fmt.Sprint(b) }) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	for _, in := range want {
		push(t, s, in)
	}
	saved := snapshot(t, s)
	step(t, s, 4)
	check("pushed", *seen, want)
	*seen = nil
	if err := errors.Join(s.StepBack(3), s.Forward(3)); err != nil {
		t.Fatal(err)
	}
	check("run again", (*seen)[len(*seen)-len(want):], want)
	other, seen := run()
	restore(t, other, saved)
	step(t, other, 4)
	check("restored", *seen, want)
	other, seen = run()
	other.SetInputs(func(tick uint64, dst []evertick.Input) ([]evertick.Input, error) {
		for _, in := range want {
			if in.Tick == tick {
				dst = append(dst, in)
			}
		}
		return dst, nil
	})
	step(t, other, 4)
	check("fed", *seen, want)
	if err := other.StepBack(3); err != nil {
		t.Fatal(err)
	}
	*seen = nil
	if err := other.Forward(3); err != nil {
		t.Fatal(err)
	}
	check("fed and run again", *seen, want)
}

// Timeline counts the ticks of the Sim, which are not those of the Loop, in any frame and tick.
func TestTimelineOfSim(t *testing.T) {
	const period = 1_000_000_000 / 60
	s := newSim(t, small())
	add(t, s, evertick.BeforePhysics, "check", func(tick *evertick.Tick) error {
		if s.Frame().WallNs > 0 || tick.N == 3 {
			line := s.Timeline()
			if due := line.DueAt(tick.N); due > line.WallNs() || due+5*period < line.WallNs() {
				t.Errorf("tick %d is due at %d, in the frame of %d", tick.N, due, line.WallNs())
			}
		}
		return nil
	})
	if due := s.Timeline().DueAt(0); due != period+1 {
		t.Errorf("tick 0 is due at %d", due)
	}
	step(t, s, 3) // without a frame
	for i := range uint64(20) {
		f, err := s.Advance(25_000_000*int64(i%2) + 1_000_000) // frames without a tick too
		if err != nil {
			t.Fatal(err)
		}
		line := s.Timeline()
		if tick, fraction := line.TickAt(f.WallNs); tick != s.Ticks() || fraction != uint32(float64(f.Alpha)*(1<<32)) {
			t.Errorf("frame %d: tick %d and %d at %d, want tick %d and %v", i, tick, fraction, f.WallNs, s.Ticks(), f.Alpha)
		}
		if due := line.DueAt(s.Ticks()); due <= f.WallNs || due > f.WallNs+period+1 {
			t.Errorf("frame %d: the next tick is due at %d, the frame was at %d", i, due, f.WallNs)
		}
	}
}

// Push measures by the clock of the Sim when inputs arrive, between frames and within them.
func TestPushMeasuresArrivals(t *testing.T) {
	const ms = 1_000_000
	arrivals, err := loop.NewArrivals(loop.ArrivalsConfig{})
	if err != nil {
		t.Fatal(err)
	}
	clock := new(loop.ManualClock)
	clock.Set(777 * ms)
	c := small()
	c.Clock, c.Untimed = clock, true
	c.Loop.RateNum = 100
	c.Inputs = evertick.InputConfig{Arrivals: arrivals, Capacity: 4}
	s := newSim(t, c)
	is := func(source uint32, lateMs, leadMs int64) {
		t.Helper()
		st, ok := arrivals.Source(source)
		if d := st.P50 - lateMs*ms; !ok || st.Count != 1 || d < 0 || d > 2*ms {
			t.Errorf("%+v, want %d ms late", st, lateMs)
		}
		if d := st.LeadNs - leadMs*ms; d < 0 || d > 2*ms {
			t.Errorf("%+v, want a lead of %d ms", st, leadMs)
		}
	}
	clock.Add(4 * ms)
	push(t, s, evertick.Input{Tick: 3, Source: 1, At: 1 * ms}) // due at 40 ms, comes at 4
	is(1, -36, 3)
	clock.Add(31 * ms)
	if _, err := s.Advance(35 * ms); err != nil { // ticks 0 to 2
		t.Fatal(err)
	}
	clock.Add(60 * ms)                             // a frame that takes long
	push(t, s, evertick.Input{Tick: 3, Source: 2}) // due at 40 ms, comes at 95
	is(2, 55, 0)
	push(t, s, evertick.Input{Source: 3, At: 5 * ms}) // for no certain tick
	if st, _ := arrivals.Source(3); st.Count != 0 || st.Pushed != 1 || st.LeadCount != 1 {
		t.Errorf("%+v", st)
	}
	wantError(t, s.Push(evertick.Input{Source: 3}), loop.ErrDuplicate)
	push(t, s, evertick.Input{Tick: 9, Source: 4, Seq: 1})
	wantError(t, s.Push(evertick.Input{Source: 4, Seq: 2}), loop.ErrFull)
	if st, _ := arrivals.Source(3); st.Duplicate != 1 {
		t.Errorf("%+v", st)
	}
	if st, _ := arrivals.Source(4); st.Full != 1 || st.Share != 0 || st.Pushed != 1 {
		t.Errorf("%+v", st)
	}
	// Inputs that a feed replaces are not measured.
	s.SetInputs(func(_ uint64, dst []evertick.Input) ([]evertick.Input, error) { return dst, nil })
	push(t, s, evertick.Input{Source: 5})
	if _, ok := arrivals.Source(5); ok {
		t.Error("an input that was dropped is measured")
	}
}

// An input for a tick before the time at which the Loop began is late, too.
func TestArrivalForATickBeforeTheLoop(t *testing.T) {
	arrivals, err := loop.NewArrivals(loop.ArrivalsConfig{})
	if err != nil {
		t.Fatal(err)
	}
	old := newSim(t, small())
	step(t, old, 100)
	clock := new(loop.ManualClock)
	c := small()
	c.Clock, c.Inputs.Arrivals = clock, arrivals
	s := newSim(t, c)
	restore(t, s, snapshot(t, old))
	clock.Add(50_000_000)
	if _, err := s.Advance(50_000_000); err != nil {
		t.Fatal(err)
	}
	push(t, s, evertick.Input{Tick: 7, Source: 1})
	if st, _ := arrivals.Source(1); st.Late != 1 || st.Count != 1 || st.P50 < 49_000_000 {
		t.Errorf("%+v, want 50 ms late", st)
	}
}

// Connections ask for the tick, the lead and the counts while the Sim runs.
func TestArrivalsWhileTheSimRuns(t *testing.T) {
	arrivals, err := loop.NewArrivals(loop.ArrivalsConfig{Sources: 4})
	if err != nil {
		t.Fatal(err)
	}
	c := small()
	c.Loop.RateNum = 2000
	c.Inputs.Arrivals = arrivals
	s := newSim(t, c)
	applied := 0
	ctx, cancel := context.WithCancel(context.Background())
	add(t, s, evertick.BeforePhysics, "count", func(tick *evertick.Tick) error {
		if applied += len(tick.Inputs()); applied == 4*200 {
			return loop.ErrStop
		}
		return nil
	})
	var senders sync.WaitGroup
	for source := range uint32(4) {
		senders.Go(func() {
			for seq := range uint64(200) {
				line := s.Timeline()
				st, _ := arrivals.Source(source)
				at := line.WallNs()
				tick, fraction := line.TickAt(at + uint64(st.LeadNs))
				if err := s.Push(evertick.Input{Tick: tick, Fraction: fraction, At: at, Source: source, Seq: seq}); err != nil {
					t.Error(err)
					cancel()
				}
			}
		})
	}
	if err := s.Run(ctx); err != nil {
		t.Error(err)
	}
	cancel()
	senders.Wait()
	for _, st := range arrivals.AppendSources(nil) {
		if st.Pushed != 200 {
			t.Errorf("%+v", st)
		}
	}
}

// A flood of one source fills its share, and costs nobody else an input.
func TestFloodOfInputs(t *testing.T) {
	c := small()
	c.Inputs = evertick.InputConfig{Capacity: 400, Bytes: 4000, PerSource: 200, PerSourceBytes: 1900}
	s := newSim(t, c)
	applied := map[uint32]int{}
	add(t, s, evertick.BeforePhysics, "count", func(tick *evertick.Tick) error {
		for _, in := range tick.Inputs() {
			applied[in.Source]++
		}
		return nil
	})
	errs := map[string]int{}
	seq := uint64(0)
	for tick := range uint64(200) {
		for source := range uint32(65) {
			for range 10 {
				in := evertick.Input{Tick: tick + 50, Source: 99, Seq: seq, Data: make([]byte, 4*(tick/20%4))}
				if err := s.Push(in); err != nil {
					errs[err.Error()]++
				}
				seq++
			}
			if source < 64 {
				push(t, s, evertick.Input{Tick: tick + 1, Source: source, Seq: tick, Data: []byte("go")})
			}
		}
		step(t, s, 1)
	}
	for source := range uint32(64) {
		if applied[source] != 199 {
			t.Errorf("source %d: %d inputs", source, applied[source])
		}
	}
	const full = ", source 99: share of the source used up: queue full: capacity exceeded"
	for _, want := range []string{"evertick: Config.Inputs.PerSource = 200", "evertick: Config.Inputs.PerSourceBytes = 1900"} {
		if errs[want+full] == 0 {
			t.Errorf("no refusal by %s: %v", want, errs)
		}
		delete(errs, want+full)
	}
	if st := s.InputStats(); len(errs) > 0 || st.Share != st.Full || st.Share == 0 {
		t.Errorf("other refusals: %v; %+v", errs, st)
	}
}

// Restore does not check the share of a source: accepted inputs stay accepted.
func TestSharesDoNotLimitRestore(t *testing.T) {
	c := small()
	c.Inputs.Capacity = 40
	s := newSim(t, c)
	for i := range uint64(30) {
		push(t, s, evertick.Input{Seq: i})
	}
	err := s.Push(evertick.Input{Seq: 30})
	wantError(t, err, loop.ErrShare, "evertick: Config.Inputs.Capacity = 40, source 0: share of the source used up: queue full: capacity exceeded")
	saved := snapshot(t, s)
	c.Inputs = evertick.InputConfig{Capacity: 30, PerSource: 3, PerSourceBytes: 1}
	other := newSim(t, c)
	restore(t, other, saved)
	if n := other.InputStats().Waiting; n != 30 {
		t.Errorf("%d inputs wait", n)
	}
	wantError(t, other.Push(evertick.Input{Source: 1}), loop.ErrFull, "Capacity = 30: queue full")
	c.Inputs = evertick.InputConfig{PerSource: -1, PerSourceBytes: -2}
	_, err = evertick.New(c)
	wantError(t, err, evertick.ErrRange, "Inputs.PerSource = -1", "Inputs.PerSourceBytes = -2")
}

func TestMeasuredInputsAllocateNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	c := small()
	arrivals, err := loop.NewArrivals(loop.ArrivalsConfig{Sources: 8})
	if err != nil {
		t.Fatal(err)
	}
	c.Inputs = evertick.InputConfig{Arrivals: arrivals, PerSource: 4}
	s := newSim(t, c)
	data := make([]byte, 20)
	seq := uint64(0)
	frame := func() {
		for i := range uint32(60) {
			seq++
			in := evertick.Input{Tick: s.Ticks() + uint64(i%3), Source: i % 9, Seq: seq, At: seq, Fraction: 5, Data: data}
			if err := s.Push(in); err != nil && !errors.Is(err, loop.ErrShare) {
				t.Fatal(err)
			}
		}
		if _, err := s.Advance(16_666_667); err != nil {
			t.Fatal(err)
		}
	}
	for range 20 {
		frame()
	}
	if n := testing.AllocsPerRun(50, frame); n != 0 || s.InputStats().Share == 0 {
		t.Errorf("%g allocations a frame, %+v", n, s.InputStats())
	}
}

// Pushes and applies an input, in ticks of 64 inputs of some sources. The time of an empty tick is
// part of it.
func BenchmarkPush(b *testing.B) {
	for _, sources := range []uint32{1, 64} {
		b.Run(fmt.Sprintf("sources=%d", sources), func(b *testing.B) {
			c := small()
			c.Untimed = true
			s := newSim(b, c)
			data := make([]byte, 16)
			i := uint64(0)
			for b.Loop() {
				push(b, s, evertick.Input{Tick: i / 64, Source: uint32(i) % sources, Seq: i, Data: data})
				if i++; i%64 == 0 {
					step(b, s, 1)
				}
			}
		})
	}
}
