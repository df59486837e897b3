package profile_test

import (
	"context"
	"errors"
	"math/big"
	"slices"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/loop"
)

// dueAt returns when tick is due at num/den steps per second, if time began at 0, in
// nanoseconds rounded up.
func dueAt(tick uint64, num, den int64) int64 {
	ns := new(big.Int).Mul(new(big.Int).SetUint64(tick+1), big.NewInt(1e9*den))
	ns.Add(ns, big.NewInt(num-1))
	return ns.Quo(ns, big.NewInt(num)).Int64()
}

// A host measures its frames and passes their times to the Sim. Each step was due when the clock
// passed its tick, however long steps and pauses take.
func TestDueTimesOfAdvance(t *testing.T) {
	for _, c := range []loop.Config{
		{Policy: loop.CatchUp},
		{Policy: loop.CatchUp, RateNum: 60_000, RateDen: 1001},
		{Policy: loop.CatchUp, RateNum: 250, MaxSteps: 3},
	} {
		y := newYard(t, evertick.Config{Loop: c})
		random := loop.NewRand(4, 0, 0, 0)
		y.system(t, "work", func(uint64) int64 { return int64(random.IntN(6_000_000)) })
		r := attach(t, y.Sim, profile.Config{})
		num, den := y.Loop().Rate()
		origin := y.clock.Now()
		last := origin
		for range 400 {
			y.clock.Add(int64(random.IntN(30_000_000)))
			if random.IntN(40) == 0 {
				y.clock.Add(200_000_000) // a hitch
			}
			now := y.clock.Now()
			if _, err := y.Advance(now - last); err != nil {
				t.Fatal(err)
			}
			last = now
		}
		run := r.Run()
		s := &run.Steps
		if rate := float64(num) / float64(den); run.RateHz != rate {
			t.Errorf("rate %g, want %g", run.RateHz, rate)
		}
		if s.Len() < 300 {
			t.Fatalf("%d steps", s.Len())
		}
		behind := 0
		for i, tick := range s.Tick {
			if got, want := s.DueNs[i], dueAt(tick, num, den)-dueAt(0, num, den); got != want {
				t.Fatalf("%+v: tick %d was due at %d, want %d", c, tick, got, want)
			}
			if late := s.StartNs[i] - s.DueNs[i]; late < 0 {
				t.Fatalf("tick %d began %d ns early", tick, -late)
			} else if late > 1e9*den/num {
				behind++
			}
		}
		if behind == 0 {
			t.Error("no step was late by more than a step's time: the hitches are missing")
		}
	}
}

// Run waits for each step. A slow one delays the next ones, and steps that are given up make none
// late.
func TestDueTimesOfRun(t *testing.T) {
	y := newYard(t, evertick.Config{Loop: loop.Config{RateNum: 100, MaxSteps: 2}})
	y.clock.Jump = true
	took := []int64{1e6, 1e6, 27e6, 4e6, 1e6, 1e6, 65e6, 1e6, 1e6, 1e6}
	y.system(t, "work", func(tick uint64) int64 {
		return took[tick]
	})
	if err := y.Add(evertick.AfterIndex, "end", func(tick *evertick.Tick) error {
		if int(tick.N) == len(took)-1 {
			return loop.ErrStop
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	r := attach(t, y.Sim, profile.Config{})
	if err := y.Run(context.Background()); err != nil && !errors.Is(err, loop.ErrStop) {
		t.Fatal(err)
	}
	run := r.Run()
	s := &run.Steps
	var late []int64
	for i := range s.Tick {
		late = append(late, s.StartNs[i]-s.DueNs[i])
	}
	// Due at 10, 20, … ms. The third runs from 30 to 57, so the fourth, due at 40, and the
	// fifth run then. The seventh runs from 70 to 135: of the six due since, two run, those
	// of the last 20 ms, and four are given up.
	if want := []int64{0, 0, 0, 17e6, 11e6, 2e6, 0, 15e6, 6e6, 0}; !slices.Equal(late, want) {
		t.Errorf("late by %d, want %d", late, want)
	}
	if run.Dropped != 4 || run.RateHz != 100 {
		t.Errorf("%d dropped, %g Hz", run.Dropped, run.RateHz)
	}
}

// A batch has no schedule, and neither have steps that the host asks for one by one, also
// of a Sim that a loop drives besides.
func TestNoSchedule(t *testing.T) {
	y := newYard(t, evertick.Config{Loop: loop.Training()})
	y.system(t, "work", func(uint64) int64 { return 1e6 })
	r := attach(t, y.Sim, profile.Config{})
	if _, err := y.Advance(0); err != nil {
		t.Fatal(err)
	}
	if run := r.Run(); run.Steps.Len() == 0 || !slices.Equal(run.Steps.StartNs, run.Steps.DueNs) || run.RateHz != 0 {
		t.Errorf("%d steps began at %d, due at %d, %g Hz", run.Steps.Len(), run.Steps.StartNs, run.Steps.DueNs, run.RateHz)
	}

	y = newYard(t, evertick.Config{Loop: loop.Config{RateNum: 100}})
	y.system(t, "work", func(uint64) int64 { return 1e6 })
	r = attach(t, y.Sim, profile.Config{})
	if _, err := y.Advance(15e6); err != nil {
		t.Fatal(err)
	}
	y.step(t, 1)
	if s := r.Run().Steps; !slices.Equal(s.DueNs, []int64{0, 6e6}) || !slices.Equal(s.StartNs, []int64{5e6, 6e6}) {
		t.Errorf("began at %d, due at %d", s.StartNs, s.DueNs)
	}
}
