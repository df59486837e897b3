package evertick_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native/paritytest"
)

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
