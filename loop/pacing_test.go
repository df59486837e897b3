package loop_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evertick/evertick/loop"
)

var allPacings = []loop.Pacing{loop.Sleep, loop.Precise, loop.Spin, loop.External, loop.Uncapped}

func TestPacingNames(t *testing.T) {
	for i, name := range []string{"Sleep", "Precise", "Spin", "External", "Uncapped"} {
		p := allPacings[i]
		if p.String() != name || int(p) != i {
			t.Errorf("%d is %q, want %q", p, p, name)
		}
		for _, spelling := range []string{name, strings.ToLower(name), strings.ToUpper(name)} {
			if got, err := loop.ParsePacing(spelling); err != nil || got != p {
				t.Errorf("%q: %v, %v", spelling, got, err)
			}
		}
	}
	for _, name := range []string{"", "Slee", "Sleeps", "ſleep", "Pacing(1)", "@recise", "5"} {
		if _, err := loop.ParsePacing(name); !errors.Is(err, loop.ErrRange) || !strings.Contains(err.Error(), `"`+name+`"`) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if got := loop.Pacing(5).String(); got != "Pacing(5)" {
		t.Error(got)
	}
	if err := (loop.Config{Pacing: 5}).Validate(); !errors.Is(err, loop.ErrRange) || !strings.Contains(err.Error(), "Config.Pacing = Pacing(5)") {
		t.Errorf("err = %v", err)
	}
}

func TestNewClock(t *testing.T) {
	methods := map[loop.Pacing][]string{
		loop.Sleep:    {"timer"},
		loop.Precise:  {"clock_nanosleep and spin", "timer and spin"},
		loop.Spin:     {"spin"},
		loop.Uncapped: {"jump"},
	}
	if runtime.GOARCH == "wasm" { // one thread: nothing may spin
		methods[loop.Precise], methods[loop.Spin] = methods[loop.Sleep], methods[loop.Sleep]
	}
	for _, p := range append(allPacings, 5) {
		clock, err := loop.NewClock(p)
		if p == loop.External || p == 5 {
			want := map[bool]error{true: loop.ErrUnsupported, false: loop.ErrRange}[p == loop.External]
			if clock != nil || !errors.Is(err, want) {
				t.Errorf("%v: %v, %v", p, clock, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%v: %v", p, err)
		}
		if m := clock.Method(); !contains(methods[p], m) {
			t.Errorf("%v: method %q", p, m)
		}
	}
}

// Where one thread runs everything no clock spins, and each says so.
func TestEffectivePacing(t *testing.T) {
	for _, p := range append(allPacings, 5) {
		want := p
		if runtime.GOARCH == "wasm" && (p == loop.Precise || p == loop.Spin) {
			want = loop.Sleep
		}
		if got := p.Effective(); got != want {
			t.Errorf("%v is %v here, want %v", p, got, want)
		}
	}
	if runtime.GOARCH != "wasm" {
		return
	}
	for _, c := range []loop.PacingClock{new(loop.PreciseClock), new(loop.SpinClock)} {
		ran := make(chan struct{})
		go close(ran)
		if err := c.Sleep(t.Context(), c.Now()+50_000_000); err != nil || c.Method() != "timer" {
			t.Errorf("%T: %v, method %q", c, err, c.Method())
		}
		select {
		case <-ran:
		default:
			t.Errorf("%T: no other goroutine ran during a sleep", c)
		}
	}
}

func contains(all []string, s string) bool {
	for _, a := range all {
		if a == s {
			return true
		}
	}
	return false
}

func TestRunExternal(t *testing.T) {
	l := mustNew(t, loop.Config{Pacing: loop.External})
	err := l.Run(t.Context(), nil, failAt(0), nil)
	if !errors.Is(err, loop.ErrUnsupported) || !strings.Contains(err.Error(), "External") {
		t.Errorf("err = %v", err)
	}
	if err := l.Run(t.Context(), &loop.ManualClock{Jump: true}, failAt(3), nil); !errors.Is(err, errStep) || l.Tick() != 3 {
		t.Errorf("with a clock: %v, tick %d", err, l.Tick())
	}
}

// Uncapped runs a simulated hour of one step a frame in next to no time, and a
// slower or a paused one in frames of which some have none.
func TestRunUncapped(t *testing.T) {
	l := mustNew(t, loop.Config{Pacing: loop.Uncapped})
	frames := uint64(0)
	err := l.Run(t.Context(), nil, func(tick uint64) error {
		if tick == 3600*60-1 {
			return loop.ErrStop
		}
		return nil
	}, func(f loop.Frame) {
		if frames++; f.Steps != 1 || f.Tick != frames || f.LateNs != 0 || f.Dropped != 0 {
			t.Fatalf("%+v", f)
		}
	})
	if err != nil || l.Tick() != 3600*60 || frames != 3600*60-1 {
		t.Errorf("%v: tick %d, %d frames", err, l.Tick(), frames)
	}
	if f := l.Advance(0); f.WallNs != 3600e9 {
		t.Errorf("an hour took %d ns", f.WallNs)
	}
}

func TestRunUncappedSlowAndPaused(t *testing.T) {
	l := mustNew(t, loop.Config{Pacing: loop.Uncapped})
	if err := l.SetScale(loop.Speed, "test", 0.25, loop.Forever); err != nil {
		t.Fatal(err)
	}
	frames, paused := 0, 0
	err := l.Run(t.Context(), nil, func(tick uint64) error {
		if tick == 9 {
			return loop.ErrStop
		}
		return nil
	}, func(f loop.Frame) {
		frames++
		if f.Tick == 5 && f.Steps == 1 {
			l.SetPaused(true)
		}
		if f.Paused {
			if paused++; paused == 7 {
				l.SetPaused(false)
			}
		}
	})
	// Four frames a step, of which the last one stopped, and seven in the pause.
	if err != nil || frames != 10*4-1+7 || paused != 7 {
		t.Errorf("%v: %d frames, %d of them paused", err, frames, paused)
	}
}

// In a bubble, time does not pass for a goroutine that spins: every clock must notice.
func TestPacingsInABubble(t *testing.T) {
	for _, p := range []loop.Pacing{loop.Sleep, loop.Precise, loop.Spin} {
		synctest.Test(t, func(t *testing.T) {
			l := mustNew(t, loop.Config{Pacing: p})
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute+time.Nanosecond)
			defer cancel()
			start := time.Now()
			err := l.Run(ctx, nil, failAt(math.MaxUint64), func(f loop.Frame) {
				if f.Steps != 1 || f.LateNs != 0 {
					t.Fatalf("%v: %+v", p, f)
				}
			})
			if took := time.Since(start); err != context.DeadlineExceeded || l.Tick() != 3600 || took != time.Minute+time.Nanosecond {
				t.Errorf("%v: %v, %d steps, after %v", p, err, l.Tick(), took)
			}
			clock, _ := loop.NewClock(p)
			if clock.Method() != "timer" {
				t.Errorf("%v: method %q", p, clock.Method())
			}
		})
	}
}

// Whatever the machine does, no clock wakes early, and a run keeps to its rate.
func TestPacingsNeverWakeEarly(t *testing.T) {
	for _, p := range []loop.Pacing{loop.Sleep, loop.Precise, loop.Spin} {
		clock, err := loop.NewClock(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, ns := range []int64{-5, 0, 1, 50_000, 400_000, 3_000_000, 12_000_000} {
			until := clock.Now() + ns
			if err := clock.Sleep(t.Context(), until); err != nil {
				t.Fatal(err)
			}
			if now := clock.Now(); now < until {
				t.Errorf("%v: %d ns early", p, until-now)
			}
		}
	}
}

// A context that is done ends the sleep of every clock long before its target.
func TestPacingsCancel(t *testing.T) {
	for _, p := range []loop.Pacing{loop.Sleep, loop.Precise, loop.Spin} {
		clock, err := loop.NewClock(p)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		timer := time.AfterFunc(30*time.Millisecond, cancel)
		defer timer.Stop()
		start := time.Now()
		if err := clock.Sleep(ctx, math.MaxInt64); err != context.Canceled {
			t.Errorf("%v: %v", p, err)
		}
		// 10 ms are promised; the rest is for a machine that is busy.
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%v: after %v", p, took)
		}
		if err := clock.Sleep(ctx, 0); err != context.Canceled {
			t.Errorf("%v: a context that is done: %v", p, err)
		}
	}
}

func TestPacingsDoNotAllocate(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("not run: on js the runtime allocates whenever all goroutines wait")
	}
	for _, p := range []loop.Pacing{loop.Sleep, loop.Precise, loop.Spin, loop.Uncapped} {
		clock, err := loop.NewClock(p)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context()) // one that can be done
		defer cancel()
		if n := testing.AllocsPerRun(20, func() { _ = clock.Sleep(ctx, clock.Now()+500_000) }); n != 0 {
			t.Errorf("%v: %v allocations a sleep", p, n)
		}
	}
}

// A target may lie in the past by any amount.
func TestPacingsTargetLongPast(t *testing.T) {
	for _, p := range []loop.Pacing{loop.Sleep, loop.Precise, loop.Spin, loop.Uncapped} {
		clock, err := loop.NewClock(p)
		if err != nil {
			t.Fatal(err)
		}
		clock.Now()
		for _, until := range []int64{math.MinInt64, math.MinInt64 + 1, -1, 0} {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			if err := clock.Sleep(ctx, until); err != nil {
				t.Errorf("%v until %d: %v", p, until, err)
			}
			cancel()
		}
	}
}

// Any goroutine may ask a clock what it has learnt while another one sleeps by it.
func TestLatenessWhileASleepGoesOn(t *testing.T) {
	if loop.Precise.Effective() != loop.Precise {
		t.Skip("not run: nothing spins where one thread runs everything")
	}
	clock := new(loop.PreciseClock)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 40 {
			_ = clock.Sleep(t.Context(), clock.Now()+1_000_000)
		}
	}()
	for asking := true; asking; {
		select {
		case <-done:
			asking = false
		case <-time.After(100 * time.Microsecond):
		}
		if w := clock.Lateness(); w.P50Ns > w.P95Ns || w.P50Ns < 0 || w.MarginNs < 0 {
			t.Fatalf("%+v", w)
		}
	}
	if w := clock.Lateness(); w == (loop.WakeLateness{}) {
		t.Error("nothing was learnt of 40 sleeps")
	}
}

// A run whose steps take longer than their time ends when its context does, also where one thread runs
// everything.
func TestOverloadedRunEnds(t *testing.T) {
	for _, p := range []loop.Pacing{loop.Sleep, loop.Precise, loop.Spin, loop.Uncapped} {
		l, err := loop.New(loop.Config{RateNum: 1000, Pacing: p})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		start := time.Now()
		err = l.Run(ctx, nil, func(uint64) error {
			for began := time.Now(); time.Since(began) < 2*time.Millisecond; {
			}
			if time.Since(start) > 20*time.Second {
				return errors.New("20 s have passed")
			}
			return nil
		}, nil)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v: %v", p, err)
		}
	}
}
