package loop_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/evertick/evertick/loop"
)

// panicAt returns a step function that panics with value at tick n, as often as
// it is asked to run it.
func panicAt(n uint64, value any) func(uint64) error {
	return func(tick uint64) error {
		if tick == n {
			panic(value)
		}
		return nil
	}
}

// asPanic demands a *PanicError itself, not one that is wrapped.
func asPanic(t *testing.T, err error) *loop.PanicError {
	t.Helper()
	p, ok := err.(*loop.PanicError)
	if !ok {
		t.Fatalf("err = %v (%T), want a *PanicError", err, err)
	}
	return p
}

func TestHaltReturnsThePanicUntilResumed(t *testing.T) {
	l := mustNew(t, loop.Config{OnFault: loop.Halt, Policy: loop.Keep})
	f, err := l.Drive(50_000_000, panicAt(1, "boom"))
	p := asPanic(t, err)
	if p.Tick != 1 || p.System != "" || p.Value != "boom" || p.Error() != "loop: tick 1: panic: boom" {
		t.Errorf("%+v", *p)
	}
	if !strings.Contains(string(p.Stack), "panicAt") {
		t.Errorf("the stack does not show where it happened:\n%s", p.Stack)
	}
	if f.Steps != 3 || l.Tick() != 1 || l.Fault() != p {
		t.Errorf("%+v, tick %d, fault %v", f, l.Tick(), l.Fault())
	}

	// Halted: no time is counted, no step runs, everything returns the same.
	never := func(uint64) error { t.Error("a step runs while halted"); return nil }
	if f, again := l.Drive(1e9, never); again != p || !f.Halted || f.Steps != 0 || f.UINs != 50_000_000 || f.WallNs != 1_050_000_000 {
		t.Errorf("Drive: %v, %+v", again, f)
	}
	if f := l.Advance(1e9); !f.Halted || f.Steps != 0 || f.Backlog != 2 || f.Dropped != 0 {
		t.Errorf("Advance: %+v", f)
	}
	clock := &loop.ManualClock{Jump: true}
	if again := l.Run(t.Context(), clock, never, nil); again != p || clock.Now() != 0 {
		t.Errorf("Run: %v after %d ns", again, clock.Now())
	}
	if l.UntilNext() != math.MaxInt64 {
		t.Errorf("UntilNext = %d", l.UntilNext())
	}

	l.Resume()
	var ran []uint64
	f, err = l.Drive(0, func(tick uint64) error { ran = append(ran, tick); return nil })
	if err != nil || f.Halted || fmt.Sprint(ran) != "[1 2]" || l.Tick() != 3 || f.DroppedTotal != 0 {
		t.Errorf("resumed: %v, %+v, ran %v", err, f, ran)
	}
}

func TestStartNewEndsAHalt(t *testing.T) {
	l := mustNew(t, loop.Config{OnFault: loop.Halt})
	if _, err := l.Drive(20e6, panicAt(0, 1)); err == nil || l.Fault() == nil {
		t.Fatal("not halted")
	}
	l.StartNew()
	if *l != *mustNew(t, loop.Config{OnFault: loop.Halt}) {
		t.Error("StartNew leaves something of the halt")
	}
}

// Under Resume the step is tried again, and the third panic in a row halts.
func TestResumeTriesAgain(t *testing.T) {
	for _, c := range []struct {
		panics int // in a row, of each step
		halts  bool
	}{{0, false}, {1, false}, {2, false}, {3, true}} {
		l := mustNew(t, loop.Config{OnFault: loop.Resume})
		tries := map[uint64]int{}
		var heard []uint64
		ctx, cancel := context.WithCancel(t.Context())
		err := l.RunWith(ctx, loop.Runner{
			Clock: &loop.ManualClock{Jump: true},
			Step: func(tick uint64) error {
				if tries[tick]++; tries[tick] <= c.panics {
					panic(tick)
				}
				if tick == 4 {
					cancel()
				}
				return nil
			},
			Panicked: func(p *loop.PanicError) error {
				if p.Value != p.Tick || p.Tick != l.Tick() {
					t.Errorf("%v at tick %d", p, l.Tick())
				}
				heard = append(heard, p.Tick)
				return nil
			},
		})
		if !c.halts {
			if err != context.Canceled || l.Tick() != 5 || len(heard) != 5*c.panics {
				t.Errorf("%d panics: %v, tick %d, heard %v", c.panics, err, l.Tick(), heard)
			}
			continue
		}
		p := asPanic(t, err)
		if p.Tick != 0 || l.Fault() != p || l.Tick() != 0 || len(heard) != 2 || tries[0] != 3 {
			t.Errorf("%d panics: %v, tick %d, heard %v", c.panics, err, l.Tick(), heard)
		}
	}
}

func TestResumeWithoutListenerReturns(t *testing.T) {
	l, clock := mustNew(t, loop.Config{OnFault: loop.Resume}), &loop.ManualClock{Jump: true}
	for range 2 {
		if p := asPanic(t, l.Run(t.Context(), clock, panicAt(2, "x"), nil)); p.Tick != 2 || l.Fault() != nil || l.Tick() != 2 {
			t.Fatalf("%v, fault %v, tick %d", p, l.Fault(), l.Tick())
		}
	}
	if p := asPanic(t, l.Run(t.Context(), clock, panicAt(2, "x"), nil)); l.Fault() != p {
		t.Errorf("the third in a row does not halt")
	}
}

func TestListenerEndsRun(t *testing.T) {
	l := mustNew(t, loop.Config{OnFault: loop.Resume})
	err := l.RunWith(t.Context(), loop.Runner{
		Clock: &loop.ManualClock{Jump: true}, Step: panicAt(1, "x"),
		Panicked: func(*loop.PanicError) error { return errStep },
	})
	if err != errStep || l.Fault() != nil || l.Tick() != 1 {
		t.Errorf("%v, fault %v, tick %d", err, l.Fault(), l.Tick())
	}
}

// A step that recovers for itself, as Sim does, reports the panic by its error.
func TestPanicErrorOfAStep(t *testing.T) {
	own := &loop.PanicError{Tick: 0, System: "steer", Value: io.ErrUnexpectedEOF}
	for _, wrapped := range []bool{false, true} {
		for policy, step := range map[loop.FaultPolicy]func(uint64) error{
			loop.Propagate: func(uint64) error { return own },
			loop.Halt:      func(uint64) error { return fmt.Errorf("around: %w", own) },
			loop.Resume:    func(uint64) error { panic(own) },
		} {
			if policy == loop.Resume && wrapped {
				step = func(uint64) error { return errors.Join(errStep, own) }
			}
			l := mustNew(t, loop.Config{OnFault: policy})
			_, err := l.Drive(20e6, step)
			if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "tick 0: system steer: panic: unexpected EOF") {
				t.Errorf("%v: %v", policy, err)
			}
			if policy != loop.Propagate && err != error(own) {
				t.Errorf("%v: %v is not the one of the step", policy, err)
			}
			if halted := l.Fault() != nil; halted != (policy == loop.Halt) || l.Tick() != 0 {
				t.Errorf("%v: halted %v, tick %d", policy, halted, l.Tick())
			}
		}
	}
}

// A panic with ErrStop is a panic: the step did not finish.
func TestPanicWithErrStop(t *testing.T) {
	l := mustNew(t, loop.Config{OnFault: loop.Halt})
	_, err := l.Drive(20e6, panicAt(0, loop.ErrStop))
	if asPanic(t, err); l.Tick() != 0 || l.Fault() == nil {
		t.Errorf("tick %d, fault %v", l.Tick(), l.Fault())
	}
}

// A panic with nil is one, and the end of a goroutine is none.
func TestOddPanics(t *testing.T) {
	l := mustNew(t, loop.Config{OnFault: loop.Halt})
	_, err := l.Drive(20e6, panicAt(0, nil))
	if _, ok := asPanic(t, err).Value.(*runtime.PanicNilError); !ok {
		t.Errorf("%v", err)
	}
	l = mustNew(t, loop.Config{OnFault: loop.Halt})
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = l.Drive(50e6, func(tick uint64) error {
			if tick == 1 {
				runtime.Goexit()
			}
			return nil
		})
	}()
	<-done
	if f := l.Advance(0); l.Fault() != nil || f.FirstTick() != 1 || f.Tick != 3 {
		t.Errorf("fault %v, %+v", l.Fault(), f)
	}
}

func TestErrorsDoNotHalt(t *testing.T) {
	for _, policy := range []loop.FaultPolicy{loop.Propagate, loop.Halt, loop.Resume} {
		l := mustNew(t, loop.Config{OnFault: policy})
		for range 5 {
			if _, err := l.Drive(20e6, failAt(0)); !errors.Is(err, errStep) || err.Error() != "loop: tick 0: step failed" {
				t.Errorf("%v: %v", policy, err)
			}
		}
		if l.Fault() != nil || l.Tick() != 0 {
			t.Errorf("%v: fault %v, tick %d", policy, l.Fault(), l.Tick())
		}
	}
}

func TestFaultPolicyString(t *testing.T) {
	for want, p := range map[string]loop.FaultPolicy{"Propagate": loop.Propagate, "Halt": loop.Halt, "Resume": loop.Resume, "FaultPolicy(3)": 3} {
		if p.String() != want {
			t.Errorf("%d is %q, want %q", p, p, want)
		}
	}
	if err := (loop.Config{OnFault: 3}).Validate(); !errors.Is(err, loop.ErrRange) || !strings.Contains(err.Error(), "Config.OnFault = FaultPolicy(3)") {
		t.Errorf("err = %v", err)
	}
}
