// Package pace decides from measured times whether helpers save time. It chooses only how many workers share some work,
// which changes no result.
package pace

import (
	"slices"
	"time"
)

// Always has every Pace allow helpers, whatever they cost: for tests of what workers compute.
var Always bool

const (
	// The first runs of each cycle, the probes, are without helpers, to measure how long they take. The cycle is a prime,
	// so that where several kinds of runs take turns, the probes include all kinds.
	cycle  = 131
	probes = 4

	// After helpers have lost time, runs go without them for recovery times as long, so that on a busy machine helpers
	// cost about 3 % of the time. The pause doubles each time that they lose time again, up to maxPause, because the
	// run after them is slower as well: its data is in their caches.
	recovery = 32
	maxPause = time.Second

	// maxCredit is about four times the time for which the system takes a helper off its CPU for another program. So after
	// a few interruptions the next runs still have helpers. It is also the most that is lost when a machine becomes busy.
	maxCredit = 16 * time.Millisecond
)

// Pace adds up the time that helpers save in runs of similar work. The zero Pace begins with runs without helpers.
type Pace struct {
	alone  [probes]time.Duration // the last runs without helpers
	n      int                   // of alone, the next to replace
	run    int                   // in the cycle
	credit time.Duration         // that helpers have saved
	pause  time.Duration         // without helpers that is left
	losses int                   // one after the other
}

// Allows reports whether the next run may have helpers.
func (p *Pace) Allows() bool { return Always || p.run >= probes && p.pause <= 0 }

// Ran records the time that a run took. It compares a run with helpers with alone or, if that is 0, with the fastest of
// the last runs without helpers: a slow one was interrupted, or its data was in the caches of the helpers.
func (p *Pace) Ran(helpers bool, took, alone time.Duration) {
	if alone == 0 {
		alone = slices.Min(p.alone[:])
	}
	if !helpers {
		p.alone[p.n] = took
		p.n = (p.n + 1) % probes
		if p.pause -= took; p.pause > 0 {
			return
		}
	} else if p.credit = min(p.credit+alone-took, maxCredit); p.credit < 0 {
		p.pause = min(-p.credit*recovery<<p.losses, maxPause)
		p.credit = 0
		p.losses = min(p.losses+1, 5)
	} else if p.credit == maxCredit {
		p.losses = 0
	}
	p.run = (p.run + 1) % cycle
}

var start = time.Now()

// Now returns the time since the program started.
func Now() time.Duration { return time.Since(start) }
