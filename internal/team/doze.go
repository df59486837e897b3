package team

import (
	"sync/atomic"
	"time"

	"github.com/evertick/evertick/internal/pace"
)

// rhythm is when runs begin. A program that paces its steps sleeps between them, longer than helpers poll, and to start a helper can take as long as a
// step: the system may put the new thread on the CPU of the leader, which keeps it, until the system balances its CPUs some milliseconds later. Where runs follow
// each other at a steady rate, a helper therefore sleeps by a timer of its own until shortly before the next run is due, and polls until that begins.
type rhythm struct {
	began, gap time.Duration // of the last run, and from the one before to it
	due        atomic.Int64  // when the next run is due, in nanoseconds as pace.Now; 0: unknown, or it has no helpers
	dozing     atomic.Int64  // helpers that sleep
	cpu        atomic.Int64  // of the leader
}

const (
	// A rate is steady if a gap differs from the one before by less than one in so many.
	steadiness = 8

	// Less than leastSleep between the end of a run and the next one is no sleep, and runs farther apart than mostGap are not worth a helper that sleeps.
	leastSleep, mostGap = 4 * pollTime, 100 * time.Millisecond

	// lead is how long before a run is due helpers wake. It covers the lateness of timers, and the way of a CPU out of its idle state.
	lead = 150 * time.Microsecond

	// overdue is how long a helper waits for a run that is late.
	overdue = 3 * pollTime
)

// begin notes that a run begins, and returns when the next one is due; 0: unknown.
func (r *rhythm) begin(now time.Duration) (next time.Duration) {
	gap, before := now-r.began, r.gap
	r.began, r.gap = now, gap
	if gap > mostGap || max(gap, before)-min(gap, before) > gap/steadiness {
		return 0
	}
	return now + min(gap, before)
}

// prepare says at the end of a run when the next one is due, if it may have helpers. Those that are missing start now, and sleep until then.
func (t *Team) prepare(next time.Duration) {
	if next < pace.Now()+leastSleep || !t.pace.Allows() {
		next = 0
	}
	t.due.Store(int64(next))
	if next != 0 && t.dozing.Load() < t.most.Load() {
		t.startHelpers()
	}
}

// givesUp reports whether a helper that has found no chunk for so long should sleep or end.
func (t *Team) givesUp(now, polled time.Duration) bool {
	due := time.Duration(t.due.Load())
	switch {
	case due == 0:
		return polled > pollTime
	case !t.idle.Load():
		return polled > overdue
	}
	return now < due-lead || now > due+overdue
}

// doze sleeps until shortly before the next run is due. It returns false at once if that is unknown, or if enough helpers sleep. The caller does not
// count as a helper meanwhile.
func (t *Team) doze() bool {
	due := time.Duration(t.due.Load())
	if due-lead <= pace.Now() || !t.idle.Load() {
		return false
	}
	defer t.dozing.Add(-1)
	if t.dozing.Add(1) > t.most.Load() {
		return false
	}
	pace.SleepUntil(due - lead)
	pace.LeaveCPU(int(t.cpu.Load()))
	return true
}
