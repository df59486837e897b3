package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/evertick/evertick/loop"
)

// A clock that jumps to the next tick takes no time, and prints the same on every machine.
func Example() {
	if err := run(os.Stdout, &loop.ManualClock{Jump: true}); err != nil {
		panic(err)
	}
	// Output:
	//  16 ms: 1 steps, tick  1, the mill is at 0.000
	//  33 ms: 1 steps, tick  2, the mill is at 0.024
	//  50 ms: 1 steps, tick  3, the mill is at 0.057
	//  66 ms: 1 steps, tick  4, the mill is at 0.085
	//  83 ms: 0 steps, tick  4, the mill is at 0.085
	// 100 ms: 1 steps, tick  5, the mill is at 0.114
	// 116 ms: 0 steps, tick  5, the mill is at 0.114
	// 133 ms: 1 steps, tick  6, the mill is at 0.141
	// 150 ms: 0 steps, tick  6, the mill is at 0.141
	// 166 ms: 1 steps, tick  7, the mill is at 0.163
	// 183 ms: 0 steps, tick  7, the mill is at 0.163
	// 200 ms: 1 steps, tick  8, the mill is at 0.197
	// 216 ms: 0 steps, tick  8, the mill is at 0.197
	// 233 ms: 1 steps, tick  9, the mill is at 0.227
	// 250 ms: 1 steps, tick 10, the mill is at 0.254
	// 266 ms: 1 steps, tick 11, the mill is at 0.285
}

// The state after some ticks depends neither on frames nor on what runs the ticks.
func TestTicksDoNotDependOnFrames(t *testing.T) {
	mill := func(drive func(*Engine, *Lockstep) error) float32 {
		t.Helper()
		wind, hold := new(Wind), &Lockstep{from: 1 << 60, to: 1 << 60}
		m := &Mill{wind: wind, out: io.Discard}
		e, err := NewEngine(7, wind, m, hold)
		if err != nil {
			t.Fatal(err)
		}
		hold.engine = e
		if err := drive(e, hold); err != nil {
			t.Fatal(err)
		}
		if e.tick != 30 {
			t.Fatalf("%d ticks", e.tick)
		}
		return m.angle
	}
	frames := func(n int, ns int64) func(*Engine, *Lockstep) error {
		return func(e *Engine, _ *Lockstep) (err error) {
			for range n {
				err = errors.Join(err, e.Advance(ns))
			}
			return err
		}
	}
	want := mill(frames(10, 50_000_000))
	token := func(e *Engine, l *Lockstep) error {
		_, err := e.TakeStep(l)
		return errors.Join(err, frames(60, 1)(e, l)) // no time passes, but Lockstep runs every second frame
	}
	for name, got := range map[string]float32{"long frames": mill(frames(6, 83_333_334)), "short frames": mill(frames(100, 5_000_000)), "token": mill(token)} {
		if got != want || got == 0 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestOneModuleHoldsTheToken(t *testing.T) {
	a, b := &Lockstep{from: 1 << 60, to: 1 << 60}, &Lockstep{from: 1 << 60, to: 1 << 60}
	e, err := NewEngine(1, a, b)
	if err != nil {
		t.Fatal(err)
	}
	a.engine, b.engine = e, e
	token, err := e.TakeStep(a)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.TakeStep(b); !errors.Is(err, ErrStepTaken) {
		t.Errorf("the second: %v", err)
	}
	if err := e.Advance(100_000_000); err != nil || e.tick != 0 {
		t.Errorf("%v; the loop ran %d ticks while the token was held", err, e.tick)
	}
	token.Release()
	if err := e.Advance(50_000_000); err != nil || e.tick != 3 {
		t.Errorf("%v; tick %d after Release", err, e.tick)
	}
	if _, err := e.TakeStep(b); err != nil {
		t.Error(err)
	}
}

// An error of a module ends the run.
func TestErrorsEndTheRun(t *testing.T) {
	broken := errors.New("broken")
	for _, in := range []string{"update", "render"} {
		e, err := NewEngine(1, failing{in, broken})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Run(t.Context(), &loop.ManualClock{Jump: true}); !errors.Is(err, broken) {
			t.Errorf("%s: %v", in, err)
		}
	}
}

type failing struct {
	in  string
	err error
}

func (f failing) Update(Tick) error {
	if f.in == "update" {
		return fmt.Errorf("update: %w", f.err)
	}
	return nil
}

func (f failing) Render(loop.Frame) error {
	if f.in == "render" {
		return fmt.Errorf("render: %w", f.err)
	}
	return nil
}
