package team

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/evertick/evertick/internal/pace"
)

const ms = time.Millisecond

// A run is due as long after the last one as that was after the one before, if these times are about equal.
func TestRhythm(t *testing.T) {
	var r rhythm
	for i, c := range []struct{ began, due time.Duration }{
		{5 * ms, 0}, {15 * ms, 0}, {25 * ms, 35 * ms}, {35 * ms, 45 * ms}, {44 * ms, 53 * ms}, {45 * ms, 0}, {60 * ms, 0}, {76 * ms, 91 * ms},
		{300 * ms, 0}, {524 * ms, 0}, // a second has few of them
	} {
		if got := r.begin(c.began); got != c.due {
			t.Errorf("run %d at %v: the next is due at %v, want %v", i, c.began, got, c.due)
		}
	}
}

// A helper without chunks polls for a while, longer in a run at a steady rate, sleeps between such runs and waits for one that is late.
func TestGivesUp(t *testing.T) {
	const due = 50 * ms
	for i, c := range []struct {
		due, now, polled time.Duration
		idle, want       bool
	}{
		{0, 10 * ms, pollTime, true, false},
		{0, 10 * ms, pollTime + 1, true, true},
		{0, 10 * ms, pollTime + 1, false, true},
		{due, 51 * ms, pollTime + 1, false, false},
		{due, 51 * ms, overdue + 1, false, true},
		{due, 40 * ms, 1, true, true},
		{due, due - lead, 1, true, false},
		{due, due + overdue, lead + overdue, true, false},
		{due, due + overdue + 1, lead + overdue, true, true},
	} {
		var team Team
		team.due.Store(int64(c.due))
		team.idle.Store(c.idle)
		if got := team.givesUp(c.now, c.polled); got != c.want {
			t.Errorf("case %d: %v", i, got)
		}
	}
}

// TestDoze: between runs at a steady rate the helper sleeps, and the next run finds it awake. It ends when there are no more runs.
func TestDoze(t *testing.T) {
	needHelpers(t)
	var team Team
	var sum atomic.Int64
	const chunks = 20
	runs, awake, slept := 0, 0, 0
	next := pace.Now()
	for began := pace.Now(); awake < 5 && pace.Now()-began < 1900*ms; runs++ {
		next += 4 * ms
		time.Sleep(next - pace.Now() - ms)
		slept += int(team.dozing.Load())
		for pace.Now() < next {
		}
		here := team.helpers.Load() == 1 && team.due.Load() != 0
		if err := team.Run(2, func() { team.For(0, chunks, 1, func(_, lo, hi int) { sum.Add(int64(hi - lo)) }) }); err != nil {
			t.Fatal(err)
		}
		if here && slept > 0 {
			awake++
		}
		next = max(next, pace.Now()-ms)
	}
	if got := sum.Load(); got != int64(runs*chunks) {
		t.Errorf("%d of %d chunks", got, runs*chunks)
	}
	if awake < 5 {
		t.Errorf("of %d runs, %d found a helper awake that had slept", runs, awake)
	}
	for began := time.Now(); team.helpers.Load()+team.dozing.Load() != 0; time.Sleep(ms) {
		if time.Since(began) > 5*time.Second {
			t.Fatal("a helper goes on without runs")
		}
	}
}

// A run that comes while its helper sleeps gets another one, and the first ends.
func TestDozeEarly(t *testing.T) {
	needHelpers(t)
	var team Team
	team.workers, team.help, team.wakeup = 2, team.serve, make(chan struct{}, 1)
	team.numbers[0].Store(1)
	team.most.Store(1)
	team.idle.Store(true)
	team.due.Store(int64(pace.Now() + 60*ms))
	team.prepare(pace.Now() + 60*ms)
	for began := time.Now(); team.dozing.Load() != 1 || team.helpers.Load() != 0; time.Sleep(ms / 4) {
		if time.Since(began) > 5*time.Second {
			t.Fatal("no helper sleeps")
		}
	}
	var helped atomic.Bool
	for began := time.Now(); !helped.Load() && time.Since(began) < 5*time.Second; {
		team.Run(2, func() {
			for range 20 {
				team.For(0, 2, 1, func(worker, _, _ int) {
					if worker > 1 {
						t.Errorf("worker %d of 2", worker)
					}
					if worker == 1 {
						helped.Store(true)
					}
					for began := pace.Now(); !helped.Load() && pace.Now()-began < ms/4; {
					}
				})
			}
		})
	}
	if !helped.Load() {
		t.Error("no helper took part")
	}
	for began := time.Now(); team.helpers.Load()+team.dozing.Load() != 0; time.Sleep(ms) {
		if time.Since(began) > 5*time.Second {
			t.Fatal("a helper goes on without runs")
		}
	}
}
