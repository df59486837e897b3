package pace

import (
	"testing"
	"time"
)

// machine is a fake machine: a run takes alone or, with helpers, what shared returns.
type machine struct {
	p            Pace
	alone        func(run int) time.Duration
	shared       func(run int) time.Duration
	run, helped  int
	took, wanted time.Duration
}

func (m *machine) runs(n int) {
	for range n {
		took := m.alone(m.run)
		m.wanted += took
		helpers := m.p.Allows()
		if helpers {
			took = m.shared(m.run)
			m.helped++
		}
		m.p.Ran(helpers, took, 0)
		m.run++
		m.took += took
	}
}

const ms = time.Millisecond

func always(d time.Duration) func(int) time.Duration { return func(int) time.Duration { return d } }

// Helpers that save time take part in nearly all runs, also if one of them is interrupted now and then.
func TestPaceAllowsHelpers(t *testing.T) {
	m := machine{alone: always(ms), shared: always(600 * time.Microsecond)}
	m.runs((cycle + probe) * 10)
	if want := cycle * 10; m.helped != want {
		t.Errorf("%d runs with helpers, want %d", m.helped, want)
	}
	m = machine{alone: always(ms), shared: func(run int) time.Duration {
		if run%50 == 20 {
			return 4 * ms
		}
		return 600 * time.Microsecond
	}}
	m.runs((cycle + probe) * 10)
	if want := cycle * 10; m.helped != want {
		t.Errorf("%d runs with helpers although one in 50 is slow, want %d", m.helped, want)
	}
}

// However much time helpers cost, all runs together take at most 5 % longer than alone.
func TestPaceBoundsLosses(t *testing.T) {
	for _, c := range []struct{ alone, shared time.Duration }{
		{ms, 1010 * time.Microsecond}, {ms, 1100 * time.Microsecond}, {ms, 2 * ms}, {ms, 8 * ms}, {20 * time.Microsecond, 3 * ms}, {16 * ms, 20 * ms},
	} {
		m := machine{alone: always(c.alone), shared: always(c.shared)}
		for m.wanted < 10*time.Second {
			m.runs(1)
		}
		if limit := m.wanted + m.wanted/20; m.took > limit {
			t.Errorf("runs of %v, with helpers %v: %v, at most %v", c.alone, c.shared, m.took, limit)
		}
		if m.helped == 0 {
			t.Errorf("runs of %v: helpers were never tried", c.alone)
		}
	}
}

// A pause doubles while helpers go on to lose time, and is short again after they have saved time for a while.
func TestPaceDoublesPauses(t *testing.T) {
	m := machine{alone: always(ms), shared: always(2 * ms)}
	pause := func() (runs int) {
		for m.p.Allows() {
			m.runs(1)
		}
		for m.runs(1); !m.p.Allows(); m.runs(1) {
			runs++
		}
		return runs
	}
	m.runs(probe)
	for _, want := range []int{8, 16, 32, 64, 128, 256, 512, 1000, 1000} {
		if got := pause(); got < want || got > want+probe {
			t.Errorf("a pause of %d runs, want %d", got, want)
		}
	}
	m.shared = always(500 * time.Microsecond)
	m.runs(40)
	m.shared = always(10 * ms)
	if got := pause(); got < 6 || got > 10 { // of two runs, 18 ms more than alone, 16 were saved
		t.Errorf("a pause of %d runs after helpers have saved time, want 8", got)
	}
}

// Where a machine becomes free, helpers take part again after a second of work.
func TestPaceRecovers(t *testing.T) {
	m := machine{alone: always(ms), shared: always(100 * ms)}
	m.runs(3000)
	m.shared = always(600 * time.Microsecond)
	m.runs(1200)
	m.helped = 0
	if m.runs(cycle + probe); m.helped != cycle {
		t.Errorf("%d runs with helpers, want %d", m.helped, cycle)
	}
}

// Where work grows from run to run, helpers that save time take part in nearly all runs, from the first on.
func TestPaceFollowsWork(t *testing.T) {
	for _, c := range []struct {
		name  string
		alone func(run int) time.Duration
	}{
		{"a jump", func(run int) time.Duration { return map[bool]time.Duration{true: ms, false: 10 * ms}[run < 5] }},
		{"a slow start", func(run int) time.Duration { return ms * time.Duration(10+min(run, 60)) / 10 }},
		{"growth", func(run int) time.Duration { return ms + time.Duration(run)*50*time.Microsecond }},
	} {
		m := machine{alone: c.alone, shared: func(run int) time.Duration { return c.alone(run) * 6 / 10 }}
		m.runs(150)
		if m.helped < 120 {
			t.Errorf("%s: %d of 150 runs have helpers", c.name, m.helped)
		}
	}
}

// Where the work of runs varies, helpers that save time take part in most, and those that lose time in few.
func TestPaceOfVaryingWork(t *testing.T) {
	alone := func(run int) time.Duration { return ms * time.Duration(1+run*7%5) }
	m := machine{alone: alone, shared: func(run int) time.Duration { return alone(run) * 6 / 10 }}
	m.runs(1000)
	if m.helped < 850 {
		t.Errorf("%d of 1000 runs have helpers", m.helped)
	}
	m = machine{alone: alone, shared: func(run int) time.Duration { return alone(run) * 13 / 10 }}
	m.runs(4000)
	if m.took > m.wanted+m.wanted/20 {
		t.Errorf("%v in place of %v", m.took, m.wanted)
	}
}

// An interruption of one of the first runs does not keep helpers out.
func TestPaceInterruptedAtFirst(t *testing.T) {
	for at := probe; at < probe+20; at++ {
		m := machine{alone: always(ms), shared: func(run int) time.Duration {
			if run == at {
				return 4 * ms
			}
			return 600 * time.Microsecond
		}}
		m.runs(150)
		if m.helped < 125 {
			t.Errorf("an interruption of run %d: %d of 150 runs have helpers", at, m.helped)
		}
	}
}

// Where runs differ, each is compared with what it would have taken without helpers.
func TestPaceOfDifferentRuns(t *testing.T) {
	var p Pace
	helped := 0
	for i := range 1000 {
		alone := time.Duration(1+i%2*100) * ms
		if helpers := p.Allows(); helpers {
			p.Ran(true, alone*6/10, alone)
			helped++
		} else {
			p.Ran(false, alone, 0)
		}
	}
	if want := 1000 - probe; helped != want {
		t.Errorf("%d runs with helpers, want %d", helped, want)
	}
}

func TestAlways(t *testing.T) {
	Always = true
	defer func() { Always = false }()
	m := machine{alone: always(ms), shared: always(10 * ms)}
	if m.runs(100); m.helped != 100 {
		t.Errorf("%d of 100 runs have helpers", m.helped)
	}
}
