package evertick

import (
	"slices"
	"sync"

	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native"
)

// Timing is the duration of a phase in the last step, in nanoseconds.
type Timing struct {
	Phase string
	Ns    int64
}

// PhaseStats summarises the durations of a phase, in nanoseconds, over Count steps. The quantiles
// are off by at most 1/64 of themselves: see loop.Histogram.
type PhaseStats struct {
	Phase              string
	Count              uint64
	Sum                int64
	P50, P95, P99, Max int64
}

// newHistogram returns nil under Config.Untimed.
func (s *Sim) newHistogram() *loop.Histogram {
	if s.config.Untimed {
		return nil
	}
	return new(loop.Histogram)
}

// now reads the clock, or returns 0 under Config.Untimed.
func (s *Sim) now() int64 {
	if s.config.Untimed {
		return 0
	}
	return s.clock.Now()
}

// recordTime records the duration of a phase in this step.
func (s *Sim) recordTime(p *phase, ns int64) {
	p.ns = ns
	p.frameNs += ns
	s.addTime(p.times, ns)
}

// addTime adds a duration to a histogram, which a Monitor may be reading.
func (s *Sim) addTime(h *loop.Histogram, ns int64) {
	if h == nil {
		return
	}
	if m := s.monitor; m != nil {
		m.mu.Lock()
		defer m.mu.Unlock()
	}
	h.Add(ns)
}

// recordStep records the duration of a step.
func (s *Sim) recordStep(ns int64) {
	s.stepNs = ns
	s.addTime(s.stepTimes, ns)
	s.frameNs += ns
	s.frameSteps++
}

// Timings returns the duration of each phase of the last step, in the order in which they ran, and
// of the whole step. The time between phases, for instance in hooks, counts only for the whole.
// A phase that did not run in the mode of the tick took 0 ns. Phases that ran side by side add up to more
// than the time that passed. A system added since then is listed with 0 ns. The slice is the Sim's
// own and valid until the next step or Add. Other goroutines read these times by a Monitor.
func (s *Sim) Timings() (phases []Timing, stepNs int64) {
	_ = s.Check() // for the list of phases: Step reports the error
	for i, p := range s.phases {
		s.timings[i] = Timing{p.Name, p.ns}
	}
	return s.timings, s.stepNs
}

// Stats returns the durations of each phase in the steps since New or ResetStats, in the order in
// which they run, and the figures of the whole step, whose Phase is empty. A step that failed counts for
// the phases that it completed, and a phase has no count of steps whose mode left it out. The slice
// is the Sim's own and valid until the next call of Stats, or the next Add. Other goroutines read
// them by a Monitor.
func (s *Sim) Stats() (phases []PhaseStats, step PhaseStats) {
	_ = s.Check()
	for i, p := range s.phases {
		s.stats[i] = statsOf(p.Name, p.times)
	}
	return s.stats, statsOf("", s.stepTimes)
}

func statsOf(name string, h *loop.Histogram) PhaseStats {
	if h == nil {
		return PhaseStats{Phase: name}
	}
	return PhaseStats{
		Phase: name, Count: h.Count(), Sum: h.Sum(),
		P50: h.Quantile(0.5), P95: h.Quantile(0.95), P99: h.Quantile(0.99), Max: h.Max(),
	}
}

// ResetStats makes Stats start anew.
func (s *Sim) ResetStats() {
	if s.config.Untimed {
		return
	}
	_ = s.Check()
	if m := s.monitor; m != nil {
		m.mu.Lock()
		defer m.mu.Unlock()
	}
	for _, p := range s.phases {
		p.times.Reset()
	}
	s.stepTimes.Reset()
}

// Metrics are figures of a running Sim, for an endpoint that monitors it. The zero value is ready for
// Monitor.Read.
type Metrics struct {
	Ticks uint64       // Sim.Ticks
	Frame loop.Frame   // Sim.Frame
	Level native.Level // Sim.Level
	Err   error        // that every later step returns; nil: the Sim can go on

	Entities, Bodies int // that are alive
	Contacts         int // physics.World.ContactCount
	Awake            int // physics.World.AwakeCount; Bodies, Contacts and Awake count those of attached solvers, too

	Inputs InputStats // Sim.InputStats, at the moment of the call

	Timings []Timing // Sim.Timings of the last step
	StepNs  int64    // of the whole step

	Phases []PhaseStats // Sim.Stats, with what the running step has already counted
	Step   PhaseStats   // of whole steps
}

// Monitor reads the Metrics of a Sim while it runs. Get it with Sim.Monitor.
type Monitor struct {
	sim *Sim

	mu     sync.Mutex // held only as long as it takes to add to one histogram, or to copy one
	now    Metrics    // without what Read adds
	phases []*phase   // never changed, only replaced
}

// Monitor returns the Monitor of the Sim, always the same one. The first call must be made where Step
// may be called. From then on the Sim locks a mutex for each phase that it times, and publishes some
// numbers at the end of each step and frame. That allocates nothing and takes about 10 ns a phase: 0.1
// µs in an empty Sim, 1 µs with a hundred systems (on an AMD EPYC, without readers; compare by
// BenchmarkMonitor). Without a call the Sim does none of this.
func (s *Sim) Monitor() *Monitor {
	if s.monitor == nil {
		_ = s.Check() // for the list of phases: Step reports the error
		s.monitor = &Monitor{sim: s}
		s.publishMetrics()
	}
	return s.monitor
}

// Read fills dst with the figures after the last step or frame. Any number of goroutines may call it,
// each with its own dst, while the Sim runs; it does not wait for a step to end. It computes the
// quantiles on the caller's goroutine. It allocates nothing if dst is used again.
//
// InputStats, Level and Config of the Sim, and native.Info, may be called from any goroutine, too.
func (m *Monitor) Read(dst *Metrics) {
	timings, stats := dst.Timings[:0], dst.Phases[:0]
	m.mu.Lock()
	*dst = m.now
	dst.Timings = append(timings, m.now.Timings...)
	phases := m.phases
	m.mu.Unlock()
	dst.Level, dst.Inputs = m.sim.level, m.sim.InputStats()
	for _, p := range phases {
		stats = append(stats, m.stats(p.Name, p.times))
	}
	dst.Phases, dst.Step = stats, m.stats("", m.sim.stepTimes)
}

// stats computes statsOf from a copy of the histogram, so that the Sim waits only for the copy.
func (m *Monitor) stats(name string, h *loop.Histogram) PhaseStats {
	if h == nil {
		return statsOf(name, nil)
	}
	m.mu.Lock()
	c := *h
	m.mu.Unlock()
	return statsOf(name, &c)
}

// publishMetrics updates what the Monitor reads, if there is one.
func (s *Sim) publishMetrics() {
	m := s.monitor
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !slices.Equal(m.phases, s.phases) {
		m.phases = slices.Clone(s.phases)
	}
	n := &m.now
	n.Ticks, n.Frame, n.Err, n.StepNs = s.ticks, s.frame, s.failed, s.stepNs
	n.Entities, n.Bodies, n.Contacts, n.Awake = s.World.Len(), 0, 0, 0
	for _, v := range s.solvers {
		if v.Counts != nil {
			bodies, contacts := v.Counts()
			n.Bodies, n.Contacts = n.Bodies+bodies, n.Contacts+contacts
		}
		if v.Awake != nil {
			n.Awake += v.Awake()
		}
	}
	n.Timings = n.Timings[:0]
	for _, p := range s.phases {
		n.Timings = append(n.Timings, Timing{p.Name, p.ns})
	}
}
