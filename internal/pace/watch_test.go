package pace

import (
	"testing"
	"time"
)

type worker struct{}

func (w *worker) sweep(int) {}

func sweepAll() {}

func TestNamesOfStages(t *testing.T) {
	var w worker
	for _, c := range []struct {
		work any
		want string
	}{
		{(*worker).sweep, "pace.sweep"}, {w.sweep, "pace.sweep"}, {sweepAll, "pace.sweepAll"}, {&w, "pace.worker"}, {w, "pace.worker"},
	} {
		if got := nameOf(c.work); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// watching watches what f does, and returns its stages and the time of all, and checks that they add up.
func watching(t *testing.T, f func()) []Stage {
	t.Helper()
	Watched = new(Watch)
	defer func() { Watched = nil }()
	before := Now()
	Watched.Start()
	inner := Now()
	f()
	innerEnd := Now()
	Watched.Stop()
	most := Now() - before
	stages, sum := Watched.Take()
	for _, s := range stages {
		sum += s.Before + s.Took()
	}
	if sum < innerEnd-inner || sum > most {
		t.Errorf("the stages take %v together, want %v to %v", sum, innerEnd-inner, most)
	}
	if again, after := Watched.Take(); again != nil || after != 0 {
		t.Errorf("taken twice: %v, %v", again, after)
	}
	return stages
}

func spend(d time.Duration) {
	for from := Now(); Now()-from < d; {
	}
}

func TestWatch(t *testing.T) {
	const short, long = 100 * time.Microsecond, 300 * time.Microsecond
	stages := watching(t, func() {
		for range 2 {
			spend(short)
			Name((*worker).sweep)
			Name(sweepAll) // the first name counts
			s := Begin(sweepAll, false)
			spend(long)
			Name(sweepAll)
			Begin(sweepAll, false).End(9, 9, 9) // within another stage
			s.Found()
			spend(short)
			s.End(7, 3, 5*time.Millisecond)
			Name((*worker).sweep)
			Skip()
			Begin(sweepAll, true).End(1, 0, 0)
			Begin(sweepAll, false).End(2, 0, 0)
		}
		spend(short)
	})
	if len(stages) != 3 {
		t.Fatalf("%d stages: %+v", len(stages), stages)
	}
	for i, want := range []Stage{
		{Name: "pace.sweep", Calls: 2, Chunks: 14, Theirs: 6, Before: 2 * short, Worked: 2 * long, Waited: 2 * short, Helped: 10 * time.Millisecond},
		{Name: "pace.sweepAll", Alone: true, Calls: 2, Chunks: 2},
		{Name: "pace.sweepAll", Calls: 2, Chunks: 4},
	} {
		got := stages[i]
		if got.Before < want.Before || got.Worked < want.Worked || got.Waited < want.Waited {
			t.Errorf("stage %d: %+v, want at least %+v", i, got, want)
		}
		if got.Before, got.Worked, got.Waited = want.Before, want.Worked, want.Waited; got != want {
			t.Errorf("stage %d: %+v, want %+v", i, got, want)
		}
	}
}

// Stages that nobody watches cost no memory.
func TestNotWatched(t *testing.T) {
	var w worker
	sweep := w.sweep
	if n := testing.AllocsPerRun(100, func() {
		Name(sweep)
		Skip()
		s := Begin(sweep, false)
		s.Found()
		s.End(1, 0, 0)
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
