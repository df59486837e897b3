// Package pace decides from measured times whether helpers save time. It chooses only how many workers share some work,
// which changes no result.
package pace

import "time"

// Always has every Pace allow helpers, whatever they cost: for tests of what workers compute.
var Always bool

const (
	// A probe is so many runs without helpers. The first of them finds its data in the caches of the helpers, or may be
	// interrupted, so the faster one counts. A probe follows after cycle runs with helpers; this is a prime, so that where
	// several kinds of runs take turns, the probes include all kinds.
	probe = 2
	cycle = 61

	// After helpers have lost time, runs go without them for recovery times as long. The pause doubles each time that they
	// lose time again, up to mostDoubled times and maxPause. So one interruption costs few runs with helpers, and on a busy
	// machine helpers cost about 3 % of the time.
	recovery    = 4
	mostDoubled = 8
	maxPause    = time.Second

	// maxCredit is about four times the time for which the system takes a helper off its CPU for another program. So after
	// a few interruptions the next runs still have helpers. It is also the most that is lost when a machine becomes busy.
	maxCredit = 16 * time.Millisecond
)

// Pace adds up the time that helpers save in runs of similar work. The zero Pace begins with a probe.
//
// A run with helpers is slow if it takes longer than the last probe. Then something has interrupted it, or helpers lose time, or
// there is more work by now. After two slow runs, one after the other, a probe shows which: both are compared with it.
type Pace struct {
	alone, last time.Duration // the faster of the last two runs without helpers, and the last one
	probed      int           // runs of the probe in progress
	runs        int           // with helpers, since the last probe
	credit      time.Duration // that helpers have saved
	pause       time.Duration // without helpers that is left
	losses      int           // pauses one after the other

	slow     int           // slow runs that no probe has followed yet
	slowTook time.Duration // what they took
	wait     int           // runs with helpers until slow ones count again
	patience int           // what wait becomes when there is more work again
}

// Allows reports whether the next run may have helpers.
func (p *Pace) Allows() bool { return Always || p.probed >= probe && p.pause <= 0 }

// Ran records the time that a run took. alone is how long a run with helpers would have taken without them; 0: as long
// as those without helpers before it or, if it is slow, after it.
func (p *Pace) Ran(helpers bool, took, alone time.Duration) {
	switch {
	case !helpers:
		p.ranAlone(took)
	case alone != 0:
		p.save(alone - took)
	default:
		p.ranShared(took)
	}
}

func (p *Pace) ranAlone(took time.Duration) {
	p.alone = took
	if p.last > 0 {
		p.alone = min(took, p.last)
	}
	p.last = took
	if p.probed == probe {
		p.pause -= took
		return
	}
	if p.probed++; p.probed == probe {
		p.judgeSlow()
	}
}

func (p *Pace) ranShared(took time.Duration) {
	p.wait--
	switch {
	case took <= p.alone:
		p.judgeSlow()
		p.save(p.alone - took)
	case p.wait < 0:
		p.slow++
		p.slowTook += took
	}
	if p.runs++; p.slow >= 2 || p.runs >= cycle {
		p.probed, p.runs, p.last = 0, 0, 0
	}
}

// judgeSlow compares the slow runs with alone. If they were faster, there is more work than before: where the work varies, this
// would lead to probes all the time, so the next slow runs do not count for a while.
func (p *Pace) judgeSlow() {
	if p.slow == 0 {
		return
	}
	saved := time.Duration(p.slow)*p.alone - p.slowTook
	p.slow, p.slowTook = 0, 0
	if saved >= 0 {
		p.wait = p.patience
		p.patience = min(2*p.patience+2, cycle)
	}
	p.save(saved)
}

// save adds to the credit, or begins a pause if there is none left.
func (p *Pace) save(saved time.Duration) {
	p.credit = min(p.credit+saved, maxCredit)
	switch {
	case p.credit < 0:
		p.pause = min(-p.credit*recovery<<p.losses, maxPause)
		p.credit, p.patience = 0, 0
		p.losses = min(p.losses+1, mostDoubled)
	case p.credit == maxCredit:
		p.losses = 0
	}
}

var start = time.Now()

// Now returns the time since the program started.
func Now() time.Duration { return time.Since(start) }

// Sleep leaves the CPU of a worker to others for about so long.
func Sleep(d time.Duration) { time.Sleep(d) }
