package pace

import (
	"testing"
	"time"
)

// machine is a fake machine: a run takes alone or, with helpers, what shared returns.
type machine struct {
	p            Pace
	alone        time.Duration
	shared       func(run int) time.Duration
	run, helped  int
	took, wanted time.Duration
}

func (m *machine) runs(n int) {
	for range n {
		took := m.alone
		helpers := m.p.Allows()
		if helpers {
			took = m.shared(m.run)
			m.helped++
		}
		m.p.Ran(helpers, took, 0)
		m.run++
		m.took += took
		m.wanted += m.alone
	}
}

const ms = time.Millisecond

func always(d time.Duration) func(int) time.Duration { return func(int) time.Duration { return d } }

// Helpers that save time take part in nearly all runs, also if one of them is interrupted now and then.
func TestPaceAllowsHelpers(t *testing.T) {
	m := machine{alone: ms, shared: always(600 * time.Microsecond)}
	m.runs(cycle * 10)
	if want := (cycle - probes) * 10; m.helped != want {
		t.Errorf("%d runs with helpers, want %d", m.helped, want)
	}
	m = machine{alone: ms, shared: func(run int) time.Duration {
		if run%50 == 0 {
			return 4 * ms
		}
		return 600 * time.Microsecond
	}}
	m.runs(cycle * 10)
	if want := (cycle - probes) * 10; m.helped != want {
		t.Errorf("%d runs with helpers although one in 50 is slow, want %d", m.helped, want)
	}
}

// However much time helpers cost, all runs together take at most 5 % longer than alone.
func TestPaceBoundsLosses(t *testing.T) {
	for _, c := range []struct{ alone, shared time.Duration }{
		{ms, 1100 * time.Microsecond}, {ms, 2 * ms}, {ms, 8 * ms}, {20 * time.Microsecond, 3 * ms}, {16 * ms, 20 * ms},
	} {
		m := machine{alone: c.alone, shared: always(c.shared)}
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
	m := machine{alone: ms, shared: always(2 * ms)}
	pause := func() (runs int) {
		for m.runs(1); !m.p.Allows(); m.runs(1) {
			runs++
		}
		return runs
	}
	m.runs(probes)
	for _, want := range []int{32, 64, 128, 256, 512, 1000, 1000} {
		if m.p.run >= cycle-2 {
			m.p.run = probes
		}
		if got := pause(); got < want-2 || got > want {
			t.Errorf("a pause of %d runs, want %d", got, want)
		}
	}
	m.shared = always(500 * time.Microsecond)
	m.runs(40)
	m.shared = always(18 * ms)
	if got := pause(); got < 30 || got > 34 {
		t.Errorf("a pause of %d runs after helpers have saved time, want 32", got)
	}
}

// Where a machine becomes free, helpers take part again after a second of work.
func TestPaceRecovers(t *testing.T) {
	m := machine{alone: ms, shared: always(100 * ms)}
	m.runs(3000)
	m.shared = always(600 * time.Microsecond)
	m.runs(1200)
	m.helped = 0
	if m.runs(cycle); m.helped != cycle-probes {
		t.Errorf("%d runs with helpers, want %d", m.helped, cycle-probes)
	}
}

// Where work grows, probes measure how long it takes without helpers now.
func TestPaceFollowsWork(t *testing.T) {
	m := machine{alone: ms, shared: always(600 * time.Microsecond)}
	m.runs(300)
	m.alone, m.shared = 10*ms, always(6*ms)
	m.runs(500)
	m.helped = 0
	if m.runs(cycle); m.helped != cycle-probes {
		t.Errorf("%d runs with helpers, want %d", m.helped, cycle-probes)
	}
}

// Where runs differ, each is compared with what it would have taken without helpers.
func TestPaceOfDifferentRuns(t *testing.T) {
	var p Pace
	helped := 0
	for i := range cycle * 10 {
		alone := time.Duration(1+i%2*100) * ms
		if helpers := p.Allows(); helpers {
			p.Ran(true, alone*6/10, alone)
			helped++
		} else {
			p.Ran(false, alone, 0)
		}
	}
	if want := (cycle - probes) * 10; helped != want {
		t.Errorf("%d runs with helpers, want %d", helped, want)
	}
}

func TestAlways(t *testing.T) {
	Always = true
	defer func() { Always = false }()
	m := machine{alone: ms, shared: always(10 * ms)}
	if m.runs(100); m.helped != 100 {
		t.Errorf("%d of 100 runs have helpers", m.helped)
	}
}
