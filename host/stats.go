package host

import (
	"slices"

	"github.com/evertick/evertick/loop"
)

// Stats are figures of a Host since New or ResetStats.
type Stats struct {
	Workers int
	Budget  float64 // Config.Budget
	Used    float64 // cores: the sum of WorldStats.Cores of the worlds that have not ended
	Refused uint64  // worlds that Add refused with ErrCapacity, since New
	Failed  uint64  // worlds that ended with an error, since New
	Counts
	Worlds []WorldStats // in the order of admission

	worlds []*world // scratch
}

// WorldStats are figures of one world since Add or ResetStats.
type WorldStats struct {
	Name, Scenario string
	// Cores is p95 × rate × workers of the Sim: what Add counts. p95 is that of the last 256 ticks, and until there are as many
	// the estimate.
	Cores float64
	Ended bool  // by itself; it stays in the list until Remove
	Err   error // of a world that has ended, and of its log
	Counts
}

// Counts are of one world, or of all together.
type Counts struct {
	Ticks uint64
	// LateTicks began when the next tick was due already, or were dropped.
	LateTicks uint64
	// Dropped were given up by the loop of the Sim: see loop.Policy.
	Dropped uint64
	BusyNs  int64 // time in turns
	Step    Times // of one tick: the time of its turn by the ticks of the turn
	Late    Times // by which turns with ticks began after they were due
}

// Times are quantiles of durations, in nanoseconds, off by at most 1/64 of themselves.
type Times struct{ P50, P95, P99, Max int64 }

// counts are Counts in the making.
type counts struct {
	Counts     // but for the Times
	step, late loop.Histogram
}

func (c *counts) add(t *turn, late int64) {
	steps := uint64(t.frame.Steps)
	c.Dropped += t.frame.Dropped
	c.LateTicks += t.frame.Dropped
	c.BusyNs += t.end - t.begin
	if steps == 0 {
		return
	}
	c.Ticks += steps
	c.LateTicks += steps - 1
	for range steps {
		c.step.Add((t.end - t.begin) / int64(steps))
	}
	c.late.Add(late)
}

// count accounts for a turn without an error. h.mu is held.
func (h *Host) count(w *world, t *turn) {
	late := t.begin - w.due
	w.counts.add(t, late)
	h.total.add(t, late)
	for range t.frame.Steps {
		w.window.Add((t.end - t.begin) / int64(t.frame.Steps))
	}
	if w.window.Count() >= windowTicks {
		w.p95Ns, w.measured = max(1, w.window.Quantile(0.95)), true
		w.window.Reset()
	}
}

// Stats fills in dst. It allocates nothing if dst has room for all worlds, and never makes workers wait for more than the
// copy of one histogram.
func (h *Host) Stats(dst *Stats) {
	*dst = Stats{Workers: h.config.Workers, Budget: h.config.Budget, Worlds: dst.Worlds[:0], worlds: dst.worlds[:0]}
	h.mu.Lock()
	dst.Refused, dst.Failed = h.refused, h.failed
	dst.worlds = append(dst.worlds, h.worlds...)
	h.mu.Unlock()
	dst.Counts = h.read(&h.total)
	for _, w := range dst.worlds {
		s := WorldStats{Name: w.Name, Scenario: w.Scenario.Name, Counts: h.read(&w.counts)}
		h.mu.Lock()
		s.Cores, s.Ended, s.Err = w.cores(), w.ended, w.err
		h.mu.Unlock()
		if !s.Ended {
			dst.Used += s.Cores
		}
		dst.Worlds = append(dst.Worlds, s)
	}
	clear(dst.worlds)
}

// read computes the quantiles from copies.
func (h *Host) read(c *counts) Counts {
	h.mu.Lock()
	now := *c
	h.mu.Unlock()
	now.Step, now.Late = timesOf(&now.step), timesOf(&now.late)
	return now.Counts
}

func timesOf(h *loop.Histogram) Times {
	return Times{h.Quantile(0.5), h.Quantile(0.95), h.Quantile(0.99), h.Max()}
}

// ResetStats makes Stats start anew. Admission keeps what it knows.
func (h *Host) ResetStats() {
	h.mu.Lock()
	worlds := slices.Clone(h.worlds)
	h.total = counts{}
	h.mu.Unlock()
	for _, w := range worlds {
		h.mu.Lock()
		w.counts = counts{}
		h.mu.Unlock()
	}
}
