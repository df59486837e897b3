package loop_test

import (
	"context"
	"errors"
	"math/big"
	"testing"

	"github.com/evertick/evertick/loop"
)

// waited returns how long ago step tick fell due, if wall ns have passed and none was lost:
// wall − (tick + 1) × den/num seconds, rounded towards zero.
func waited(wall, tick uint64, num, den int64) int64 {
	due := new(big.Int).Mul(new(big.Int).SetUint64(tick+1), big.NewInt(1e9*den))
	due.Sub(new(big.Int).Mul(new(big.Int).SetUint64(wall), big.NewInt(num)), due)
	return due.Quo(due, big.NewInt(num)).Int64()
}

// Whatever the frames, a step says when its time came by the clock that the frames make up.
func TestDue(t *testing.T) {
	for _, c := range []loop.Config{
		{Policy: loop.CatchUp},
		{Policy: loop.CatchUp, RateNum: 60_000, RateDen: 1001},
		{Policy: loop.CatchUp, RateNum: 144, MaxSteps: 2},
		{Policy: loop.CatchUp, RateNum: 1_000_000, MaxSteps: 1000},
		{JitterFix: 50},
	} {
		l, err := loop.New(c)
		if err != nil {
			t.Fatal(err)
		}
		num, den := l.Rate()
		r := loop.NewRand(9, 0, 0, 0)
		early, behind, total := 0, 0, 0
		last := int64(0)
		for i := range int64(500) {
			// Moments that scatter about those of a display, or frames of any length.
			now := (i+1)*1_000_000_000/60 + int64(r.IntN(100_001)) - 50_000
			if i < 20 { // steady, so that a step may come early
				now = (i+1)*1_000_000_000/60 + 10_000
			}
			elapsed := now - last
			if c.JitterFix == 0 {
				elapsed = int64(r.IntN(150_000_000))
			}
			last = now
			first := true
			f, err := l.Drive(elapsed, func(tick uint64) error {
				d, ok := l.Due()
				if want := waited(d.WallNs, tick, num, den); !ok || d.AgoNs != want {
					t.Fatalf("%+v: step %d at %d: due %d ns ago, want %d", c, tick, d.WallNs, d.AgoNs, want)
				}
				if d.AgoNs < 0 {
					early++
				}
				if !first {
					behind++
				}
				first = false
				total++
				return nil
			})
			if err != nil || first != (f.Steps == 0) {
				t.Fatal(f, err)
			}
		}
		if (c.JitterFix > 0) != (early > 0) || c.JitterFix == 0 && behind == 0 || total == 0 {
			t.Errorf("%+v: of %d steps %d early, %d behind another in their frame", c, total, early, behind)
		}
	}
}

// At half the speed a step has waited for twice the time.
func TestDueOfScaledTime(t *testing.T) {
	for _, c := range []struct {
		scale float64
		wants []int64 // of the steps of a frame of 100 ms at 100 Hz
	}{
		{1, []int64{95e6, 85e6, 75e6, 65e6, 55e6, 45e6, 35e6, 25e6, 15e6, 5e6}},
		{0.5, []int64{90e6, 70e6, 50e6, 30e6, 10e6}},
		{0.1, []int64{50e6}},
		{2, []int64{97.5e6, 92.5e6, 87.5e6, 82.5e6, 77.5e6, 72.5e6, 67.5e6, 62.5e6, 57.5e6, 52.5e6, 47.5e6, 42.5e6, 37.5e6, 32.5e6, 27.5e6, 22.5e6, 17.5e6, 12.5e6, 7.5e6, 2.5e6}},
	} {
		l, err := loop.New(loop.Config{RateNum: 100, MaxSteps: 30})
		if err != nil {
			t.Fatal(err)
		}
		l.Advance(5_000_000) // half a step
		if err := l.SetScale(loop.Speed, "test", c.scale, loop.Forever); err != nil {
			t.Fatal(err)
		}
		i := 0
		if _, err := l.Drive(100_000_000, func(uint64) error {
			if d, ok := l.Due(); !ok || i >= len(c.wants) || d.AgoNs != c.wants[i] {
				t.Errorf("at %g step %d: %+v", c.scale, i, d)
			}
			i++
			return nil
		}); err != nil || i != len(c.wants) {
			t.Errorf("at %g: %d steps, %v", c.scale, i, err)
		}
	}
}

// A step that is tried again was due when it was due.
func TestDueOfAStepThatFailed(t *testing.T) {
	l, err := loop.New(loop.Config{RateNum: 100})
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	var ago []int64
	step := func(tick uint64) error {
		d, _ := l.Due()
		ago = append(ago, d.AgoNs)
		if len(ago) == 2 {
			return broken
		}
		return nil
	}
	if _, err := l.Drive(32_000_000, step); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if _, err := l.Drive(4_000_000, step); err != nil {
		t.Fatal(err)
	}
	want := []int64{22e6, 12e6, 16e6, 6e6}
	for i := range want {
		if i >= len(ago) || ago[i] != want[i] {
			t.Fatalf("due %d ns ago, want %d", ago, want)
		}
	}
}

func TestDueIsOfStepsOnly(t *testing.T) {
	none := func(what string, l *loop.Loop) {
		t.Helper()
		if d, ok := l.Due(); ok || d != (loop.Due{}) {
			t.Errorf("%s: %+v", what, d)
		}
	}
	l, err := loop.New(loop.Config{RateNum: 100})
	if err != nil {
		t.Fatal(err)
	}
	none("before", l)
	l.Advance(25_000_000)
	none("granted, not driven", l)
	if _, err := l.Drive(10_000_000, func(uint64) error {
		fork := l.Fork()
		none("a copy", &fork)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	none("behind", l)

	batch, err := loop.New(loop.Training())
	if err != nil {
		t.Fatal(err)
	}
	steps := 0
	if _, err := batch.Drive(0, func(uint64) error { steps++; none("in a batch", batch); return nil }); err != nil || steps == 0 {
		t.Fatal(steps, err)
	}
}

// Under Run a step finds by it how late it is: as late as the clock woke, and as long as
// steps before it took beyond their time.
func TestDueUnderRun(t *testing.T) {
	l, err := loop.New(loop.Config{RateNum: 100})
	if err != nil {
		t.Fatal(err)
	}
	clock := &loop.ManualClock{Jump: true}
	clock.Set(123)
	frame, wall := int64(0), uint64(0)
	took := []int64{1e6, 1e6, 27e6, 4e6, 1e6, 1e6}
	// Due at 10, 20, … ms. The third takes until 57: the fourth and the fifth, of one
	// frame, are due since 40 and 50.
	want := []int64{0, 0, 0, 17e6, 11e6, 2e6}
	var late []int64
	err = l.Run(context.Background(), clock, func(tick uint64) error {
		d, ok := l.Due()
		if !ok {
			t.Fatal("no step")
		}
		now := clock.Now()
		if d.WallNs != wall {
			frame, wall = now, d.WallNs
		}
		late = append(late, now-frame+d.AgoNs)
		clock.Add(took[tick])
		if int(tick) == len(took)-1 {
			return loop.ErrStop
		}
		return nil
	}, nil)
	if err != nil || len(late) != len(want) {
		t.Fatal(late, err)
	}
	for i := range want {
		if late[i] != want[i] {
			t.Fatalf("late by %d, want %d", late, want)
		}
	}
}
