package loop_test

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/evertick/evertick/loop"
)

// exactLine is a Timeline in big.Rat: ticks = at + (wall - from) × perNs.
type exactLine struct{ at, from, perNs *big.Rat }

// lineOf reads the line off a frame.
func lineOf(l *loop.Loop, f loop.Frame) exactLine {
	num, den := l.Rate()
	scale := f.ScaleMillionths
	if scale == 0 {
		scale = 1_000_000
	}
	perNs := big.NewRat(num, 1_000_000_000)
	perNs.Mul(perNs, big.NewRat(1, den)).Mul(perNs, new(big.Rat).SetFrac(ofUint(scale), ofUint(1_000_000)))
	part := new(big.Rat).SetFrac(ofUint(f.AlphaRest), ofUint(1_000_000))
	part.Add(part, new(big.Rat).SetInt(ofUint(f.AlphaNum)))
	part.Quo(part, new(big.Rat).SetInt(ofUint(f.AlphaDen)))
	part.Add(part, new(big.Rat).SetInt(new(big.Int).Add(ofUint(f.Tick), ofUint(f.Backlog))))
	return exactLine{part, new(big.Rat).SetInt(ofUint(f.WallNs)), perNs}
}

func ofUint(n uint64) *big.Int { return new(big.Int).SetUint64(n) }

// tickAt is Timeline.TickAt within 292 years of the frame.
func (e exactLine) tickAt(wall uint64) (uint64, uint32) {
	p := new(big.Rat).SetInt(ofUint(wall))
	p.Sub(p, e.from).Mul(p, e.perNs).Add(p, e.at)
	if p.Sign() < 0 {
		return 0, 0
	}
	fixed := new(big.Int).Lsh(p.Num(), 32)
	fixed.Quo(fixed, p.Denom())
	if fixed.BitLen() > 96 {
		return math.MaxUint64, math.MaxUint32
	}
	return new(big.Int).Rsh(fixed, 32).Uint64(), uint32(fixed.Uint64())
}

// dueAt is Timeline.DueAt.
func (e exactLine) dueAt(tick uint64) uint64 {
	p := new(big.Rat).SetInt(new(big.Int).Add(ofUint(tick), big.NewInt(1)))
	p.Sub(p, e.at).Quo(p, e.perNs).Add(p, e.from)
	up := new(big.Int).Add(p.Num(), p.Denom())
	up.Sub(up, big.NewInt(1)).Div(up, p.Denom()) // Div rounds down: the denominator is positive
	switch {
	case up.Sign() < 0:
		return 0
	case !up.IsUint64():
		return math.MaxUint64
	}
	return up.Uint64()
}

func TestTimelineAgainstRat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := loop.Config{
			RateNum: rapid.Int64Range(1, 100_000_000).Draw(t, "num"), Policy: loop.Keep, MaxSteps: 1 << 20,
			Channels: [loop.MaxChannels]loop.ChannelConfig{{Max: 100}},
		}
		c.RateDen = max(1, rapid.Int64Range(1, 100_000_000).Draw(t, "den"), (c.RateNum+999_999)/1_000_000)
		l, err := loop.New(c)
		if err != nil {
			t.Fatal(err)
		}
		f := l.Advance(0)
		for range rapid.IntRange(0, 5).Draw(t, "frames") {
			if rapid.Bool().Draw(t, "scaled") {
				if err := l.SetScale(0, "test", rapid.Float64Range(0, 100).Draw(t, "scale"), loop.Forever); err != nil {
					t.Fatal(err)
				}
			}
			f = l.Advance(rapid.Int64Range(0, 10_000_000_000).Draw(t, "elapsed"))
		}
		line, exact := l.Timeline(), lineOf(l, f)
		if line.WallNs() != f.WallNs {
			t.Fatalf("wall %d, want %d", line.WallNs(), f.WallNs)
		}
		wall := rapid.OneOf(
			rapid.Uint64Range(0, 2*f.WallNs+1), rapid.Uint64Range(0, f.WallNs+math.MaxInt64),
		).Draw(t, "wall")
		checkTickAt(t, line, exact, wall)
		tick := rapid.OneOf(rapid.Uint64Range(0, 2*f.Tick+10), rapid.Uint64()).Draw(t, "tick")
		due := line.DueAt(tick)
		if tick < math.MaxUint64 && due != exact.dueAt(tick) {
			t.Fatalf("%+v: tick %d is due at %d, want %d", line, tick, due, exact.dueAt(tick))
		}
		// The two are inverse to each other.
		if due > 0 && due < f.WallNs+math.MaxInt64 {
			if at, _ := line.TickAt(due); at <= tick {
				t.Fatalf("%+v: tick %d is in progress at %d, when %d is due", line, at, due, tick)
			}
			if before, _ := line.TickAt(due - 1); before > tick {
				t.Fatalf("%+v: tick %d is in progress before %d, when %d is due", line, before, due, tick)
			}
		}
		// A lead in ticks is never shorter than in nanoseconds.
		ns := rapid.Int64Range(0, 1<<40).Draw(t, "ns")
		if at, f := line.Add(1000).TickAt(f.WallNs); f == 0 {
			if n := line.Ticks(ns); line.Add(1000).DueAt(at+n-1) < line.WallNs()+uint64(ns) && n > 0 {
				t.Fatalf("%+v: %d ticks are less than %d ns", line, n, ns)
			}
		}
	})
}

func checkTickAt(t *rapid.T, line loop.Timeline, exact exactLine, wall uint64) {
	tick, fraction := line.TickAt(wall)
	if wantTick, wantFraction := exact.tickAt(wall); tick != wantTick || fraction != wantFraction {
		t.Fatalf("%+v at %d: tick %d and %d, want %d and %d", line, wall, tick, fraction, wantTick, wantFraction)
	}
}

// At scale 1 every frame gives the same line, whatever the frames, and early and late steps.
func TestTimelineIsTheSameInEveryFrame(t *testing.T) {
	led := map[int8]bool{}
	for _, c := range []loop.Config{
		{Policy: loop.CatchUp}, {Policy: loop.CatchUp, RateNum: 60_000, RateDen: 1001}, {JitterFix: 200},
		{Policy: loop.CatchUp, RateNum: 1_000_000, MaxSteps: 1000}, {Policy: loop.Keep, MaxSteps: 1}, {JitterFix: 50},
	} {
		l, err := loop.New(c)
		if err != nil {
			t.Fatal(err)
		}
		first := l.Timeline()
		r := loop.NewRand(7, 0, 0, 0)
		last := int64(0)
		for i := range uint64(1500) {
			// Moments that scatter about those of a display, which drift against those of the steps.
			now := int64(i+1)*1_000_010_000/60 + int64(r.IntN(100_001)) - 50_000
			if c.JitterFix == 50 { // steady at first, so that a step may come early
				now = int64(i+1)*1_000_000_000/60 + 10_000
				if i >= 20 {
					now += int64(r.IntN(100_001)) - 60_000
				}
			}
			elapsed := now - last
			last = now
			f, err := l.Drive(elapsed, func(tick uint64) error {
				checkSame(t, first, l.Timeline(), i, l.Timeline().WallNs())
				// As Loop.Due says, which rounds towards zero.
				due, _ := l.Due()
				ago := int64(due.WallNs - l.Timeline().DueAt(tick))
				if ago != due.AgoNs && ago != due.AgoNs-1 {
					t.Fatalf("%+v: step %d was due %d ns ago, Due says %d", c, tick, ago, due.AgoNs)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			led[f.Lead] = true
			checkSame(t, first, l.Timeline(), i, f.WallNs)
			if f.Lead == 0 && f.Backlog == 0 {
				if tick, _ := l.Timeline().TickAt(f.WallNs); tick != f.Tick {
					t.Fatalf("%+v: tick %d is in progress, want %d", c, tick, f.Tick)
				}
			}
		}
	}
	if !led[1] || !led[-1] {
		t.Errorf("no step ran early, or none was held back: %v", led)
	}
}

func checkSame(t *testing.T, a, b loop.Timeline, i, wall uint64) {
	t.Helper()
	for _, at := range []uint64{0, 1, wall / 2, wall - 1, wall, wall + 12345, 1 << 50} {
		tick, fraction := a.TickAt(at)
		if n, f := b.TickAt(at); n != tick || f != fraction {
			t.Fatalf("frame %d: at %d tick %d and %d, in the first frame %d and %d", i, at, n, f, tick, fraction)
		}
	}
	for _, tick := range []uint64{0, i, 2 * i, 1 << 40} {
		if got, want := b.DueAt(tick), a.DueAt(tick); got != want {
			t.Fatalf("frame %d: tick %d is due at %d, in the first frame %d", i, tick, got, want)
		}
	}
}

// A program can go back in its ticks while a step has run early: time is before its tick 0 then.
func TestTimelineBeforeTick0(t *testing.T) {
	l, err := loop.New(loop.Config{RateNum: 100, JitterFix: 200})
	if err != nil {
		t.Fatal(err)
	}
	f := loop.Frame{}
	for i := 0; f.Lead != 1; i++ {
		if f = l.Advance(10_000_000 - int64(i/40)*500_000); i > 100 {
			t.Fatal("no step ran early")
		}
	}
	left := uint64(-f.LagNs) // until the step is due that has run
	line := l.Timeline().Add(-f.Tick)
	for _, c := range []struct {
		after    uint64
		tick     uint64
		fraction uint32
	}{{0, 0, 0}, {left, 0, 0}, {left + 5_000_000, 0, 1 << 31}, {left + 9_999_999, 0, math.MaxUint32 - 429}, {left + 35_000_000, 3, 1 << 31}} {
		if tick, fraction := line.TickAt(f.WallNs + c.after); tick != c.tick || fraction != c.fraction {
			t.Errorf("%d ns later, where tick 0 begins after %d: tick %d and %d, want %d and %d", c.after, left, tick, fraction, c.tick, c.fraction)
		}
	}
	if tick, fraction := line.TickAt(f.WallNs - 1); tick != 0 || fraction != 0 {
		t.Errorf("before the frame: tick %d and %d", tick, fraction)
	}
	for tick := range uint64(3) {
		if due, want := line.DueAt(tick), f.WallNs+left+(tick+1)*10_000_000; due != want {
			t.Errorf("tick %d is due at %d, want %d", tick, due, want)
		}
	}
	if due := line.DueAt(math.MaxUint64 - 1); due != math.MaxUint64 {
		t.Errorf("a tick in the far future is due at %d", due)
	}
}

func TestTimelineLimits(t *testing.T) {
	l, err := loop.New(loop.Config{RateNum: 1_000_000, Channels: [loop.MaxChannels]loop.ChannelConfig{{Max: 100}}})
	if err != nil {
		t.Fatal(err)
	}
	l.Advance(1500)
	line := l.Timeline()
	for _, c := range []struct {
		wall, tick uint64
		fraction   uint32
	}{
		{0, 0, 0}, {500, 0, 1 << 31}, {999, 0, 4290672328}, {1000, 1, 0}, {2250, 2, 1 << 30},
		{1500 + math.MaxInt64, 9223372036854777, 1318554959}, {math.MaxUint64, 9223372036854777, 1318554959},
	} {
		if tick, fraction := line.TickAt(c.wall); tick != c.tick || fraction != c.fraction {
			t.Errorf("at %d: %d and %d, want %+v", c.wall, tick, fraction, c)
		}
	}
	for tick, want := range map[uint64]uint64{ // order-free: independent cases
		0: 1000, 1: 2000, 1 << 54: 18014398509482984 * 1000, 1 << 56: math.MaxUint64, math.MaxUint64 - 1: math.MaxUint64, math.MaxUint64: math.MaxUint64,
	} {
		if tick == 1<<54 {
			want = (1<<54 + 1) * 1000
		}
		if got := line.DueAt(tick); got != want {
			t.Errorf("tick %d is due at %d, want %d", tick, got, want)
		}
	}
	// With other numbers of ticks: earlier ones than any.
	if tick, fraction := line.Add(math.MaxUint64).TickAt(900); tick != 0 || fraction != 0 {
		t.Errorf("before tick 0: %d and %d", tick, fraction)
	}
	if got := line.Add(100).DueAt(3); got != 0 {
		t.Errorf("a tick before the axis is due at %d", got)
	}
	if tick, fraction := line.Add(math.MaxUint64 - 5).TickAt(1 << 40); tick != math.MaxUint64 || fraction != math.MaxUint32 {
		t.Errorf("past the last tick: %d and %d", tick, fraction)
	}
	for ns, want := range map[int64]uint64{-5: 0, 0: 0, 1: 1, 1000: 1, 1001: 2} { // order-free: independent cases
		if got := line.Ticks(ns); got != want {
			t.Errorf("%d ns are %d ticks, want %d", ns, got, want)
		}
	}
	// A pause changes nothing but the frame; twice the speed halves what is left.
	l.SetPaused(true)
	if got := l.Timeline(); got != line {
		t.Errorf("paused: %+v, want %+v", got, line)
	}
	if err := l.SetScale(0, "test", 2, loop.Forever); err != nil {
		t.Fatal(err)
	}
	if got := l.Timeline().DueAt(1); got != 1750 {
		t.Errorf("at twice the speed tick 1 is due at %d, want 1750", got)
	}
	if err := l.SetScale(0, "test", 0, loop.Forever); err != nil {
		t.Fatal(err)
	}
	if got := l.Timeline(); got != line {
		t.Errorf("at speed 0: %+v, want %+v", got, line)
	}
	if n := testing.AllocsPerRun(100, func() { line.TickAt(77); line.DueAt(88); _ = l.Timeline() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	for want, f := range map[string]func(){ // order-free: independent cases
		"loop: Timeline not made by Loop.Timeline": func() { loop.Timeline{}.DueAt(1) },
		"loop: Loop not made by New":               func() { new(loop.Loop).Timeline() },
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("panic %v, want %q", got, want)
				}
			}()
			f()
		}()
	}
}
