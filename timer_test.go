package evertick_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/frame/frametest"
	"github.com/evertick/evertick/loop"
	"pgregory.net/rapid"
)

func addTimer(t testing.TB, s *evertick.Sim, name string, modes uint64) *evertick.Timer {
	t.Helper()
	timer, err := s.AddTimer(name, modes)
	if err != nil {
		t.Fatal(err)
	}
	return timer
}

// timerText is what a timer reports: E if it has expired.
func timerText(timer *evertick.Timer) string {
	text := fmt.Sprint(timer.Left())
	if timer.Overtime() > 0 {
		text += fmt.Sprint("+", timer.Overtime())
	}
	if timer.Expired() {
		text += "E"
	}
	return text
}

// Each case uses the timer before the first tick and in the stage AfterIndex of some ticks. All systems
// of a tick see the same, up to that use.
func TestTimer(t *testing.T) {
	for _, c := range []struct {
		name  string
		modes uint64
		start func(timer *evertick.Timer)
		at    map[uint64]func(s *evertick.Sim, timer *evertick.Timer) // in a tick, after it was seen
		want  []string
	}{
		{"never used", 0, func(*evertick.Timer) {}, nil, []string{"0", "0", "0"}},
		{"drains, expires once, overtime", 0, func(timer *evertick.Timer) { timer.Set(3); timer.Start() }, nil,
			[]string{"2", "1", "0E", "0+1", "0+2"}},
		{"stopped", 0, func(timer *evertick.Timer) { timer.Set(3) }, nil, []string{"3", "3", "3"}},
		{"set to 0", 0, func(timer *evertick.Timer) { timer.Set(0); timer.Start() }, nil, []string{"0E", "0+1"}},
		{"stopwatch", 0, func(timer *evertick.Timer) { timer.Start() }, nil, []string{"0+1", "0+2", "0+3"}},
		{"stop and start", 0, func(timer *evertick.Timer) { timer.Set(4); timer.Start() },
			map[uint64]func(*evertick.Sim, *evertick.Timer){
				1: func(_ *evertick.Sim, timer *evertick.Timer) { timer.Stop() },
				3: func(_ *evertick.Sim, timer *evertick.Timer) { timer.Start() }},
			[]string{"3", "2", "2", "2", "1", "0E", "0+1"}},
		{"stopped in overtime", 0, func(timer *evertick.Timer) { timer.Set(1); timer.Start() },
			map[uint64]func(*evertick.Sim, *evertick.Timer){1: func(_ *evertick.Sim, timer *evertick.Timer) { timer.Stop() }},
			[]string{"0E", "0+1", "0+1"}},
		{"set in tick n expires in n+3", 0, func(timer *evertick.Timer) { timer.Start() },
			map[uint64]func(*evertick.Sim, *evertick.Timer){1: func(_ *evertick.Sim, timer *evertick.Timer) { timer.Set(3) }},
			[]string{"0+1", "0+2", "2", "1", "0E", "0+1"}},
		{"more time", 0, func(timer *evertick.Timer) { timer.Set(2); timer.Start() },
			map[uint64]func(*evertick.Sim, *evertick.Timer){0: func(_ *evertick.Sim, timer *evertick.Timer) { timer.Add(2) }},
			[]string{"1", "2", "1", "0E"}},
		{"more time in overtime", 0, func(timer *evertick.Timer) { timer.Set(1); timer.Start() },
			map[uint64]func(*evertick.Sim, *evertick.Timer){1: func(_ *evertick.Sim, timer *evertick.Timer) { timer.Add(2) }},
			[]string{"0E", "0+1", "1+1", "0+1E", "0+2"}},
		{"more time when it expires", 0, func(timer *evertick.Timer) { timer.Set(1); timer.Start() },
			map[uint64]func(*evertick.Sim, *evertick.Timer){0: func(_ *evertick.Sim, timer *evertick.Timer) { timer.Add(1) }},
			[]string{"0E", "0E", "0+1"}},
		{"all time taken away", 0, func(timer *evertick.Timer) { timer.Set(9); timer.Start() },
			map[uint64]func(*evertick.Sim, *evertick.Timer){1: func(_ *evertick.Sim, timer *evertick.Timer) { timer.Add(-20) }},
			[]string{"8", "7", "0E", "0+1"}},
		{"time taken from none", 0, func(timer *evertick.Timer) { timer.Set(1); timer.Start() },
			map[uint64]func(*evertick.Sim, *evertick.Timer){1: func(_ *evertick.Sim, timer *evertick.Timer) { timer.Add(-1); timer.Add(0) }},
			[]string{"0E", "0+1", "0+2"}},
		{"set again", 0, func(timer *evertick.Timer) { timer.Set(1); timer.Start() },
			map[uint64]func(*evertick.Sim, *evertick.Timer){2: func(_ *evertick.Sim, timer *evertick.Timer) { timer.Set(2) }},
			[]string{"0E", "0+1", "0+2", "1", "0E", "0+1"}},
		{"drains in its modes only", 1<<playing | 1<<birth, func(timer *evertick.Timer) { timer.Set(3); timer.Start() },
			map[uint64]func(*evertick.Sim, *evertick.Timer){
				1: func(s *evertick.Sim, _ *evertick.Timer) { s.SetMode(playing) },
				3: func(s *evertick.Sim, _ *evertick.Timer) { s.SetMode(menu) },
				4: func(s *evertick.Sim, _ *evertick.Timer) { s.SetMode(birth) },
				5: func(s *evertick.Sim, _ *evertick.Timer) { s.SetMode(menu) },
				7: func(s *evertick.Sim, _ *evertick.Timer) { s.SetMode(playing) }},
			[]string{"3", "3", "2", "1", "1", "0E", "0", "0", "0+1"}},
	} {
		s := newSim(t, small())
		timer := addTimer(t, s, "mission", c.modes)
		c.start(timer)
		var seen []string
		for _, stage := range stages {
			add(t, s, stage, fmt.Sprint("see ", stage), func(tick *evertick.Tick) error {
				if stage == evertick.BeforePhysics {
					seen = append(seen, timerText(timer))
				} else if f := c.at[tick.N]; f == nil && timerText(timer) != seen[tick.N] {
					t.Errorf("%s, tick %d: %s in stage %d, was %s", c.name, tick.N, timerText(timer), stage, seen[tick.N])
				}
				if f := c.at[tick.N]; f != nil && stage == evertick.AfterIndex {
					f(s, timer)
				}
				return nil
			})
		}
		step(t, s, len(c.want))
		if !slices.Equal(seen, c.want) {
			t.Errorf("%s: %q, want %q", c.name, seen, c.want)
		}
	}
}

// A BeforeTick hook sees the timer as the last tick has left it.
func TestTimerBeforeTick(t *testing.T) {
	s := newSim(t, small())
	timer := addTimer(t, s, "mission", 0)
	timer.Set(2)
	timer.Start()
	var seen []string
	s.AddHooks(evertick.Hooks{BeforeTick: func(*evertick.Tick) error { seen = append(seen, timerText(timer)); return nil }})
	step(t, s, 3)
	if want := []string{"2", "1", "0E"}; !slices.Equal(seen, want) {
		t.Errorf("%q, want %q", seen, want)
	}
	if !timer.Running() {
		t.Error("stopped by itself")
	}
}

func TestTimerLimits(t *testing.T) {
	s := newSim(t, small())
	timer := addTimer(t, s, "mission", 0)
	timer.Set(math.MaxUint64 - 1)
	timer.Add(math.MaxInt64)
	if timer.Left() != math.MaxUint64 {
		t.Errorf("%d left", timer.Left())
	}
	timer.Add(math.MinInt64)
	if timer.Left() != 1<<63-1 {
		t.Errorf("%d left", timer.Left())
	}
	timer.Add(math.MinInt64)
	if timer.Left() != 0 {
		t.Errorf("%d left", timer.Left())
	}

	// Overtime ends at the greatest number. No run is so long, so a forged snapshot says it.
	timer.Start()
	step(t, s, 1)
	state := func(left, overtime uint64, flags byte) []byte {
		b := binary.LittleEndian.AppendUint64([]byte("\x07mission"), left)
		return append(binary.LittleEndian.AppendUint64(b, overtime), flags)
	}
	frames := frametest.Split(snapshot(t, s))
	forge := func(last []byte) []byte {
		return frametest.Forge(simMagic, simVersion, append(slices.Clone(frames[:len(frames)-1]), last))
	}
	if want := state(0, 0, 1|4); !bytes.Equal(frames[len(frames)-1], want) {
		t.Fatalf("state %x, want %x", frames[len(frames)-1], want)
	}
	restore(t, s, forge(state(0, math.MaxUint64-1, 1)))
	step(t, s, 3)
	if timer.Overtime() != math.MaxUint64 {
		t.Errorf("overtime %d", timer.Overtime())
	}
	before := snapshot(t, s)
	for _, bad := range [][]byte{
		state(0, 0, 8), state(0, 0, 255), state(1, 0, 1), // unknown flags; time left that never ends
		state(0, 0, 1)[:24], append(state(0, 0, 1), 0), []byte("\x07mission"),
	} {
		wantError(t, s.Restore(forge(bad)), evertick.ErrCorrupt, `state "mission"`, "timer")
	}
	if !bytes.Equal(snapshot(t, s), before) {
		t.Error("a Restore that failed has changed the Sim")
	}
}

func TestAddTimerErrors(t *testing.T) {
	s := newSim(t, small())
	addTimer(t, s, "wave", 0)
	if err := s.AddState("kept", new(keptNumber)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "wave", "kept", "\xff"} {
		timer, err := s.AddTimer(name, 0)
		wantError(t, err, evertick.ErrRange, "evertick: AddTimer: name")
		if timer != nil {
			t.Errorf("%q: a timer in spite of the error", name)
		}
	}
	wantError(t, s.AddState("wave", new(keptNumber)), evertick.ErrRange, "evertick: AddState: name")
	other := newSim(t, small())
	addTimer(t, other, "waves", 0)
	if err := other.AddState("kept", new(keptNumber)); err != nil {
		t.Fatal(err)
	}
	wantError(t, other.Restore(snapshot(t, s)), evertick.ErrUnsupported, "wave")
	wantError(t, newSim(t, small()).Restore(snapshot(t, s)), evertick.ErrUnsupported, "states = 2")
}

// Timers are columns of the hash by their names, which Reads and Writes use; Diff names them.
func TestTimersAreState(t *testing.T) {
	build := func() (*evertick.Sim, *evertick.Timer) {
		s := newSim(t, evertick.Config{Capacity: 64, CheckAccess: true})
		timer := addTimer(t, s, "mission", 0)
		addTimer(t, s, "wave", 0)
		addSystem(t, s, system("late", reads("state.mission"), writes("state.wave")))
		return s, timer
	}
	a, timer := build()
	b, _ := build()
	timer.Set(10)
	timer.Start()
	step(t, a, 1)
	step(t, b, 1)
	if d, found := evertick.Diff(a, b); !found || d.Column != "state.mission" {
		t.Errorf("Diff says %v, %t", d, found)
	}
	plain := newSim(t, small())
	step(t, plain, 1)
	if !hasColumn(a, "state.mission") || !hasColumn(a, "state.wave") || len(a.ColumnHashes()) != len(plain.ColumnHashes())+2 {
		t.Error("not a column for each timer")
	}
	thief := system("thief", writes("state.wave"), after("late"))
	thief.Run = func(*evertick.Tick) error { timer.Add(1); return nil }
	addSystem(t, a, thief)
	wantError(t, a.Step(), evertick.ErrRange, "thief: wrote state.mission,")
}

// modelTimer is a timer written plainly, in unlimited numbers.
type modelTimer struct {
	modes                   uint64
	left, overtime          int
	running, armed, expired bool
}

func (m *modelTimer) tick(mode uint8) {
	m.expired = false
	if !m.running || m.modes != 0 && m.modes&(1<<mode) == 0 {
		return
	}
	if m.left > 0 {
		m.left--
	}
	if m.left == 0 && m.armed {
		m.armed, m.expired = false, true
	} else if m.left == 0 {
		m.overtime++
	}
}

// Timers that are used at random do what the model does, through snapshots, StepBack and a run of the
// same operations on another Sim.
func TestTimersAgainstModel(t *testing.T) {
	outer := t
	rapid.Check(t, func(t *rapid.T) {
		names := []string{"a", "b", "c"}
		build := func() (*evertick.Sim, []*evertick.Timer) {
			s := newSim(outer, evertick.Config{Capacity: 1, History: evertick.HistoryConfig{Keep: 9, Every: 3}})
			obeyInputs(outer, s)
			var timers []*evertick.Timer
			for i, name := range names {
				timers = append(timers, addTimer(outer, s, name, []uint64{0, 1 << playing, 1<<menu | 1<<birth}[i]))
			}
			add(outer, s, evertick.AfterPhysics, "use", func(tick *evertick.Tick) error {
				for _, in := range tick.Inputs() {
					if len(in.Data) == 3 {
						timer, n := timers[in.Data[0]], int64(int8(in.Data[2]))
						[...]func(){timer.Start, timer.Stop, func() { timer.Set(uint64(max(n, -n))) }, func() { timer.Add(n) }}[in.Data[1]]()
					}
				}
				return nil
			})
			return s, timers
		}
		s, timers := build()
		model := []modelTimer{{}, {modes: 1 << playing}, {modes: 1<<menu | 1<<birth}}
		history := [][]modelTimer{slices.Clone(model)}
		mode := uint8(0)
		check := func(want []modelTimer) {
			for i, m := range want {
				if got := timers[i]; got.Left() != uint64(m.left) || got.Overtime() != uint64(m.overtime) || got.Expired() != m.expired || got.Running() != m.running {
					t.Fatalf("tick %d, timer %s: %s, running %t; want %+v", s.Ticks(), names[i], timerText(got), got.Running(), m)
				}
			}
		}
		for range 40 {
			in := evertick.Input{Tick: s.Ticks(), Seq: s.Ticks(), Kind: uint32(rapid.IntRange(0, 2).Draw(t, "mode"))}
			for i := range model {
				model[i].tick(mode)
			}
			mode = uint8(in.Kind)
			if rapid.Bool().Draw(t, "use") {
				i, op, n := rapid.IntRange(0, 2).Draw(t, "timer"), rapid.IntRange(0, 3).Draw(t, "operation"), rapid.IntRange(-6, 6).Draw(t, "ticks")
				in.Data = []byte{byte(i), byte(op), byte(int8(n))}
				m := &model[i]
				switch op {
				case 0:
					m.running = true
				case 1:
					m.running = false
				case 2:
					m.left, m.overtime, m.armed = max(n, -n), 0, true
				default:
					m.left = max(m.left+n, 0)
					m.armed = m.armed || n > 0
				}
			}
			if err := s.Push(in); err != nil {
				t.Fatal(err)
			}
			step(outer, s, 1)
			check(model)
			history = append(history, slices.Clone(model))
		}
		back := uint64(rapid.IntRange(0, 20).Draw(t, "back"))
		hash := s.Hash()
		if err := s.StepBack(back); err != nil {
			t.Fatal(err)
		}
		check(history[s.Ticks()])
		other, otherTimers := build()
		restore(outer, other, snapshot(outer, s))
		for i := range timers {
			if timerText(otherTimers[i]) != timerText(timers[i]) {
				t.Fatalf("restored timer %s is %s, want %s", names[i], timerText(otherTimers[i]), timerText(timers[i]))
			}
		}
		if err := s.Forward(back); err != nil || s.Hash() != hash {
			t.Fatalf("forward again: %v", err)
		}
		check(model)
	})
}

func TestTicksIn(t *testing.T) {
	for _, c := range []struct {
		num, den int64
		d        time.Duration
		want     uint64
	}{
		{60, 1, 0, 0},
		{60, 1, -time.Hour, 0},
		{60, 1, time.Second, 60},
		{60, 1, 90 * time.Second, 5400},
		{60, 1, time.Second / 60, 1}, // 16.666666 ms
		{60, 1, 16_666_667, 1},
		{60, 1, 8_333_333, 0}, // just under half a tick
		{60, 1, 8_333_334, 1},
		{50, 1, 10 * time.Millisecond, 1}, // exactly half a tick
		{50, 1, 30 * time.Millisecond, 2},
		{60000, 1001, 1001 * time.Second, 60000},
		{60000, 1001, time.Second, 60}, // 59.94
		{1, 100_000_000, math.MaxInt64, 92},
		{1_000_000, 1, math.MaxInt64, 9223372036854776},
	} {
		s := newSim(t, evertick.Config{Capacity: 1, Loop: loop.Config{RateNum: c.num, RateDen: c.den}})
		if got := s.TicksIn(c.d); got != c.want {
			t.Errorf("%v at %d/%d: %d ticks, want %d", c.d, c.num, c.den, got, c.want)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		num, den := rapid.Int64Range(1, 1_000_000).Draw(rt, "num"), rapid.Int64Range(1, 100_000_000).Draw(rt, "den")
		d := time.Duration(rapid.Int64Range(0, math.MaxInt64).Draw(rt, "d"))
		s := newSim(t, evertick.Config{Capacity: 1, Loop: loop.Config{RateNum: num, RateDen: den}})
		// floor(d × num/(den × 1e9) + 1/2)
		x := new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(int64(d)), big.NewInt(num)), new(big.Int).Mul(big.NewInt(den), big.NewInt(1e9)))
		x.Add(x, big.NewRat(1, 2))
		want := new(big.Int).Div(x.Num(), x.Denom()).Uint64()
		if got := s.TicksIn(d); got != want {
			rt.Fatalf("%v at %d/%d: %d ticks, want %d", d, num, den, got, want)
		}
		if at := s.Loop().TimeAt(want).Duration(); at != math.MaxInt64 && s.TicksIn(at) != want {
			rt.Fatalf("%d ticks last %v, which are %d ticks", want, at, s.TicksIn(at))
		}
	})
}

// For any bytes as the header and as the state of a timer, Restore refuses them and leaves the Sim as it
// was, or makes it a state that it saves with the same bytes and that can be stepped.
func FuzzRestoreModes(f *testing.F) {
	s, _, _ := modal(f, evertick.Config{})
	timer := addTimer(f, s, "mission", 1<<playing)
	timer.Set(2)
	timer.Start()
	pushMode(f, s, 1, playing)
	var frames [][]byte
	for range 8 { // in which the mode changes, and the timer expires
		step(f, s, 1)
		frames = frametest.Split(snapshot(f, s))
		f.Add(frames[0], frames[len(frames)-1])
	}
	f.Fuzz(func(t *testing.T, header, state []byte) {
		base := snapshot(t, s)
		list := slices.Clone(frames)
		list[0], list[len(list)-1] = header, state
		forged := frametest.Forge(simMagic, simVersion, list)
		if err := s.Restore(forged); err != nil {
			wantDocumented(t, err)
			if !bytes.Equal(snapshot(t, s), base) {
				t.Fatalf("a Restore that failed has changed the Sim: %v", err)
			}
			return
		}
		if again := snapshot(t, s); !bytes.Equal(again, forged) {
			t.Fatalf("saved %x, restored from %x", again, forged)
		}
		step(t, s, 1)
		restore(t, s, base)
	})
}
