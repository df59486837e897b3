package team

import (
	"sync/atomic"
	"testing"
	"time"
)

// Two teams that a leader uses by turns do all their chunks, and whatever becomes of their helpers, nobody counts as running or waiting in the end.
func TestTeamsByTurns(t *testing.T) {
	var teams [2]Team
	var sum atomic.Int64
	for turn := range 200 {
		team := &teams[turn%2]
		if err := team.Run(2, func() {
			for range 3 {
				team.For(0, 100, 10, func(_, lo, hi int) { sum.Add(int64(hi - lo)) })
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	if got := sum.Load(); got != 200*3*100 {
		t.Errorf("%d of %d done", got, 200*3*100)
	}
	for began := time.Now(); running.Load() != 0 || waiting.Load() != 0; time.Sleep(time.Millisecond) {
		if time.Since(began) > 5*time.Second {
			t.Fatalf("%d helpers run and %d wait", running.Load(), waiting.Load())
		}
	}
}

// A helper gives way only between runs of its team, to one that waits, where no CPU is free.
func TestGivesWay(t *testing.T) {
	for began := time.Now(); running.Load()+waiting.Load() != 0 && time.Since(began) < 5*time.Second; { // helpers of other tests
		time.Sleep(time.Millisecond)
	}
	cpusBefore := cpus.Load()
	defer cpus.Store(cpusBefore)
	for _, c := range []struct {
		idle                   bool
		waiting, running, cpus int64
		want                   bool
	}{
		{true, 1, 1, 2, true},
		{false, 1, 1, 2, false},
		{true, 0, 1, 2, false},
		{true, 1, 1, 4, false},
		{true, 2, 3, 4, true},
	} {
		var team Team
		team.idle.Store(c.idle)
		waiting.Add(c.waiting)
		running.Add(c.running)
		cpus.Store(c.cpus)
		if got := team.givesWay(); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
		waiting.Add(-c.waiting)
		running.Add(-c.running)
	}
}
