package profile

import "slices"

// events is a reading of the counters of the CPU for one thread, each since it was opened.
type events struct {
	counts sums
	// enabled is the nanoseconds in which they should have counted, and running those in which they
	// did. running is less if the CPU has fewer counters than there are events, which then take
	// turns.
	enabled, running uint64
}

// eventSource provides events: the kernel, or a test.
type eventSource interface {
	read(*events) error
	// has reports which of the four are counted.
	has() [4]bool
	thread() int // that is counted
	close() error
}

// openEvents opens the counters of the calling thread. Tests replace it.
var openEvents = openPerf

// thread returns the number of the calling thread, or 0. Tests replace it.
var thread = threadID

// hardware sums up what the CPU counted, by phase. The nil one counts nothing.
type hardware struct {
	source   eventSource
	now      events // just read
	last     events
	start    events // of the step in progress
	ran      bool   // the step in progress is counted
	pending  int    // phases that have begun before any has ended, or inGroup
	step     []sums // of the step in progress, by column
	phases   []sums // of all steps, by column
	parallel []bool // columns of phases that ran in parallel, on any threads
	total    sums
	enabled  uint64
	running  uint64
	steps    int
	fault    string
	closed   bool
}

// sums are instructions, cycles, cache misses and branch misses.
type sums [4]uint64

func (s *sums) add(o sums) {
	for i := range s {
		s[i] += o[i]
	}
}

// since returns the counts between two readings.
func (e *events) since(start *events) (d sums) {
	for i := range d {
		d[i] = e.counts[i] - start.counts[i]
	}
	return d
}

// widen adds columns up to the given number.
func (h *hardware) widen(columns int) {
	for len(h.phases) < columns {
		h.phases, h.step, h.parallel = append(h.phases, sums{}), append(h.step, sums{}), append(h.parallel, false)
	}
}

func (h *hardware) reset() {
	clear(h.phases)
	clear(h.parallel)
	h.total, h.enabled, h.running, h.steps, h.fault = sums{}, 0, 0, 0, ""
}

// begin is called when a step begins that is to be counted.
func (h *hardware) begin() {
	h.ran, h.pending = false, 0
	clear(h.step)
	if h.closed {
		return
	}
	if thread() != h.source.thread() {
		h.fault = "some steps ran on a thread other than the one that attached, and were not counted"
		return
	}
	if err := h.source.read(&h.start); err != nil {
		h.fault = "reading them failed: " + err.Error()
		return
	}
	h.last, h.ran = h.start, true
}

// phaseBegins is called before a phase, or before each member of a group.
func (h *hardware) phaseBegins() { h.pending = max(h.pending, 0) + 1 }

// inGroup is the value of hardware.pending while members of a group end.
const inGroup = -1

// done is called after the phase of a column, or after a group for each of its members, which the
// counters of one thread do not cover.
func (h *hardware) done(column int) {
	if h.pending > 1 {
		h.pending = inGroup
	}
	if h.pending == inGroup {
		h.parallel[column] = true
		h.mark(-1)
		return
	}
	h.pending = 0
	h.mark(column)
}

// mark adds the events since the last mark to the phase of a column; to none if it is negative.
func (h *hardware) mark(column int) {
	if !h.ran {
		return
	}
	if err := h.source.read(&h.now); err != nil {
		h.ran, h.fault = false, "reading them failed: "+err.Error()
		return
	}
	if column >= 0 {
		h.step[column].add(h.now.since(&h.last))
	}
	h.last = h.now
}

// end adds the step to the sums.
func (h *hardware) end() {
	h.mark(-1)
	if !h.ran {
		return
	}
	h.ran = false
	h.steps++
	h.total.add(h.last.since(&h.start))
	h.enabled += h.last.enabled - h.start.enabled
	h.running += h.last.running - h.start.running
	for i := range h.step {
		h.phases[i].add(h.step[i])
	}
}

// means returns the means of the steps, with the phases of these columns, or nil if no step was
// counted.
func (h *hardware) means(columns []int) *Hardware {
	if h.steps == 0 || h.running == 0 {
		return nil
	}
	t := &Hardware{Total: h.count(h.total)}
	for _, c := range columns {
		if h.parallel[c] {
			t.Phases = append(t.Phases, Count{-1, -1, -1, -1})
		} else {
			t.Phases = append(t.Phases, h.count(h.phases[c]))
		}
	}
	return t
}

func (h *hardware) count(s sums) Count {
	// Counters that took turns missed a part, which is assumed to be like the rest.
	scale := float64(h.enabled) / float64(h.running) / float64(h.steps)
	var mean [4]float64
	for i, has := range h.source.has() {
		mean[i] = -1
		if has {
			mean[i] = float64(s[i]) * scale
		}
	}
	return Count{Instructions: mean[0], Cycles: mean[1], CacheMisses: mean[2], BranchMisses: mean[3]}
}

// watchHardware opens the counters of Config.Hardware, or stores why there are none.
func (r *Recorder) watchHardware() {
	if !r.config.Hardware {
		return
	}
	source, err := openEvents()
	if err != nil {
		r.unwatched = append(r.unwatched, "hardware counters: "+err.Error())
		return
	}
	r.hardware = &hardware{source: source}
	for i, has := range source.has() {
		if !has {
			r.unwatched = append(r.unwatched, "hardware counters: this CPU does not count "+eventNames[i])
		}
	}
	r.hardware.widen(len(r.times))
}

var eventNames = [4]string{"instructions", "cycles", "cache misses", "branch misses"}

// addHardware adds the counters to run, and the reasons for those that are missing.
func (r *Recorder) addHardware(run *Run) {
	run.Unwatched = slices.Clone(r.unwatched)
	if h := r.hardware; h != nil {
		run.Hardware = h.means(r.columns)
		if h.fault != "" {
			run.Unwatched = append(run.Unwatched, "hardware counters: "+h.fault)
		}
	}
}

// hardwareRow is a row of the table of counters, in text and page.
type hardwareRow struct {
	Name                                                      string
	Total                                                     bool
	Instructions, Cycles, PerCycle, CacheMisses, BranchMisses string
}

func (run *Run) hardwareRows() (rows []hardwareRow) {
	h := run.Hardware
	if h == nil {
		return nil
	}
	for i, c := range append([]Count{h.Total}, h.Phases...) {
		row := hardwareRow{"whole step", i == 0, counter(c.Instructions), counter(c.Cycles), "–", counter(c.CacheMisses), counter(c.BranchMisses)}
		if i > 0 {
			row.Name = at(run.Steps.Phases, i-1)
		}
		if c.Cycles > 0 && c.Instructions >= 0 {
			row.PerCycle = figure(c.Instructions / c.Cycles)
		}
		rows = append(rows, row)
	}
	return rows
}

// counter formats a count of the CPU, which is below zero if there is none.
func counter(v float64) string {
	switch {
	case !(v >= 0):
		return "–"
	case v >= 1e9:
		return figure(v/1e9) + "G"
	case v >= 1e6:
		return figure(v/1e6) + "M"
	case v >= 1e4:
		return figure(v/1e3) + "k"
	}
	return figure(v)
}
