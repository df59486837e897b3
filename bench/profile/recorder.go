package profile

import (
	"errors"
	"fmt"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop"
)

const (
	// defaultSteps is Config.Steps if that is zero: a minute at 60 Hz.
	defaultSteps = 3600
	maxSteps     = 1 << 24
)

// Config of a Recorder. The zero value works.
type Config struct {
	Name    string  // of the scene or program, for the report: Run.Scene
	Params  []Param // of it, as the report shows them
	Command string  // that repeats the run; may be empty
	// Steps is how many steps are kept, up to 1<<24: more replace the oldest. 0: DefaultSteps.
	Steps int
	// Warmup is the number of steps at the beginning that are not recorded.
	Warmup int
	// BudgetNs is the time for a step, in nanoseconds. 0: that of the Config of the Sim; no budget
	// without a Sim.
	BudgetNs int64
	// RateHz is the rate, in steps per second, at which steps are due without a loop: under Step
	// and StepN, or without a Sim. The first recorded step is on time, and each later step is
	// due one period after the due time of the step before. So a host that falls behind stays
	// late until it has caught up. A host that runs ahead is treated as if it had waited: steps
	// back to back are as late as they would have been at this rate. 0: no schedule, no lateness.
	// Steps of Sim.Advance and Sim.Run follow the schedule of their loop instead: each was due when
	// the loop's time passed its tick, not when its frame ran it.
	RateHz float64
	// Hardware counts instructions, cycles and misses by phase, where the system allows.
	// The counters are those of the thread that attached: see Attach.
	Hardware bool
	// Counters are read after each step.
	Counters []Counter
	// Clock returns nanoseconds that never decrease. nil: the clock of the Sim or, without one, that
	// of the system. The Sim always times its steps and phases by its own clock; this one determines
	// when they began.
	Clock func() int64
}

// Counter is a number that is recorded with each step, such as the hits of its queries.
type Counter struct {
	Name string
	// Read is called after each step, on its goroutine, and returns the value for that step; of a
	// sum that only grows it returns the increase.
	Read func() int64
}

// Validate reports every fault of the configuration at once.
func (c Config) Validate() error {
	var errs []error
	wrong := func(field string, value any) {
		errs = append(errs, fault.Field(fault.ErrRange, "profile: Config."+field, value))
	}
	if c.Steps < 0 || c.Steps > maxSteps {
		wrong("Steps", c.Steps)
	}
	if c.Warmup < 0 {
		wrong("Warmup", c.Warmup)
	}
	if c.BudgetNs < 0 {
		wrong("BudgetNs", c.BudgetNs)
	}
	if !(c.RateHz >= 0 && c.RateHz <= 1e9) { // NaN as well
		wrong("RateHz", c.RateHz)
	}
	names := map[string]bool{}
	for i, counter := range c.Counters {
		if counter.Name == "" || names[counter.Name] {
			wrong(fmt.Sprintf("Counters[%d].Name", i), fmt.Sprintf("%q", counter.Name))
		}
		names[counter.Name] = true
		if counter.Read == nil {
			wrong(fmt.Sprintf("Counters[%d].Read", i), "nil")
		}
	}
	return errors.Join(errs...)
}

// Bytes returns the memory of the steps of c, in bytes: 8 for each of the seven times and counts
// of every step, and for each phase and counter, including the counters that Attach adds.
func (c Config) Bytes(phases, counters int) int64 {
	steps := c.Steps
	if steps == 0 {
		steps = defaultSteps
	}
	return 8 * int64(fixedColumns+phases+counters) * int64(steps)
}

// The columns that every step has, in a row of the ring; phases and counters follow.
const (
	colTick = iota
	colStart
	colDue
	colNs
	colGCs
	colPause
	colAssist
	fixedColumns
)

// Recorder keeps the last steps of a run, in memory that New or Attach allocated. Only the
// goroutine of the steps may use it.
type Recorder struct {
	config   Config
	clock    func() int64
	sim      *evertick.Sim // nil: by hand
	phases   []string      // in the order in which they run; their columns are in columns
	columns  []int
	counters []Counter

	ring   []int64 // rows of stride, by step; the oldest at next once it is full
	stride int
	steps  int // that the ring holds
	next   int // row of the next step
	kept   int // rows with a step
	total  int // steps recorded, with those that were replaced

	waiting int       // steps of the warm-up that are still to come
	first   time.Time // when the first step recorded began

	// The step in progress.
	running bool
	start   int64
	due     int64
	times   []int64 // of its phases, by column
	phase   int     // by hand: column of the phase that runs, -1 if none does
	lap     int64   // by hand: when it began

	schedule  schedule
	gc        collector
	cost      cost
	hardware  *hardware // nil: not counted
	noise     Noise     // at the beginning
	unwatched []string
	tick      uint64 // of the next step, by hand
	layout    *evertick.Timing
	done      int    // phases of the step in progress that have ended, with hardware counters
	dropped   uint64 // by the loop, before the first step
}

// New returns a Recorder for a loop without a Sim, whose steps have these phases. The loop calls
// Begin, Phase and End.
func New(cfg Config, phases []string) (*Recorder, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for i, name := range phases {
		if name == "" || seen[name] {
			return nil, fault.Element(fault.ErrRange, "profile: New: phases", i, fmt.Sprintf("%q", name))
		}
		seen[name] = true
	}
	if cfg.Clock == nil {
		origin := time.Now()
		cfg.Clock = func() int64 { return int64(time.Since(origin)) }
	}
	r := newRecorder(cfg)
	r.addPhases(phases)
	r.watchHardware()
	return r, nil
}

func newRecorder(cfg Config) *Recorder {
	if cfg.Steps == 0 {
		cfg.Steps = defaultSteps
	}
	r := &Recorder{config: cfg, clock: cfg.Clock, counters: cfg.Counters, steps: cfg.Steps, waiting: cfg.Warmup}
	r.gc.init()
	r.noise = thisNoise()
	r.schedule.rate = cfg.RateHz
	return r
}

// addPhases appends columns for phases and widens the ring. Earlier steps have spent no time in
// them.
func (r *Recorder) addPhases(names []string) {
	was, old := r.stride, r.ring
	had := len(r.times)
	for _, name := range names {
		r.phases = append(r.phases, name)
		r.columns = append(r.columns, len(r.times))
		r.times = append(r.times, 0)
	}
	r.stride = fixedColumns + len(r.counters) + len(r.times)
	r.ring = make([]int64, r.steps*r.stride)
	if r.hardware != nil {
		r.hardware.widen(len(r.times))
	}
	for i := range r.kept {
		copy(r.ring[i*r.stride:], old[i*was:][:fixedColumns+len(r.counters)+had])
	}
}

// Begin begins a step that was due at dueNs by the clock of Now; with a negative dueNs it was due
// by the schedule of Config.RateHz. A step that has not ended is discarded. It panics unless the
// Recorder is one of New.
func (r *Recorder) Begin(dueNs int64) {
	r.byHand()
	now := r.clock()
	r.begin(now, dueNs)
	if r.cost.sampled {
		r.cost.add(r.clock() - now)
	}
	r.start = r.clock()
	if dueNs < 0 {
		r.due = r.schedule.onGrid(r.start, r.waiting == 0)
	}
	r.lap = r.start
}

// Phase ends the current phase and begins phase i of New; none if i is negative. A phase may run
// several times in a step. Outside a step it does nothing.
func (r *Recorder) Phase(i int) {
	r.byHand()
	if i >= len(r.phases) {
		panic("profile: Phase: no such phase")
	}
	if !r.running {
		return
	}
	now := r.clock()
	if r.phase >= 0 {
		r.times[r.phase] += now - r.lap
	}
	if r.counting() {
		r.hardware.mark(r.phase)
		if r.cost.sampled {
			r.cost.add(r.clock() - now)
		}
	}
	r.phase, r.lap = max(i, -1), now
}

// End ends the step and its last phase. Outside a step it does nothing.
func (r *Recorder) End() {
	r.byHand()
	if !r.running {
		return
	}
	r.Phase(-1)
	r.end(r.tick, r.lap-r.start, r.lap)
	r.tick++
}

func (r *Recorder) byHand() {
	if r.sim != nil {
		panic("profile: Begin, Phase and End are for a Recorder of New")
	}
}

// Now returns the time of the clock that times the steps, in nanoseconds.
func (r *Recorder) Now() int64 { return r.clock() }

func (r *Recorder) begin(now, dueNs int64) {
	r.running, r.phase, r.due = true, -1, dueNs
	clear(r.times)
	r.cost.begin()
	if r.waiting == 0 {
		r.gc.begin()
		if r.hardware != nil {
			r.hardware.begin()
		}
		if r.total == 0 {
			r.markFirst()
		}
	}
}

// end records a step that took ns and ended at now.
func (r *Recorder) end(tick uint64, ns, now int64) {
	r.running = false
	if r.waiting > 0 {
		if r.waiting--; r.waiting == 0 {
			r.noise = thisNoise()
		}
		return
	}
	if r.hardware != nil {
		r.hardware.end()
	}
	row := r.ring[r.next*r.stride:][:r.stride]
	row[colTick], row[colStart], row[colDue], row[colNs] = int64(tick), r.start, r.due, ns
	row[colGCs], row[colPause], row[colAssist] = r.gc.end()
	for i := range r.counters {
		row[fixedColumns+i] = r.counters[i].Read()
	}
	copy(row[fixedColumns+len(r.counters):], r.times)
	if r.next++; r.next == r.steps {
		r.next = 0
	}
	r.kept = min(r.kept+1, r.steps)
	r.total++
	if r.cost.sampled {
		r.cost.took(r.clock()-now, ns)
	}
}

// markFirst stores the state before the first recorded step.
func (r *Recorder) markFirst() {
	r.first = time.Now()
	r.gc.markFirst()
	if r.sim != nil {
		r.dropped = r.sim.Frame().DroppedTotal
	}
}

// Reset discards all steps. The schedule of Config.RateHz restarts with the next step. A warm-up
// that has ended does not run again.
func (r *Recorder) Reset() {
	r.next, r.kept, r.total, r.running = 0, 0, 0, false
	r.schedule.reset()
	r.cost.reset()
	if r.hardware != nil {
		r.hardware.reset()
	}
	r.noise = thisNoise()
}

// Close releases the counters of Config.Hardware and unlocks the goroutine that attached from its
// thread; that goroutine has to call it. Recorded steps stay, and steps are still recorded, but
// without these counters. Without Config.Hardware it does nothing.
func (r *Recorder) Close() error {
	if r.hardware == nil || r.hardware.closed {
		return nil
	}
	r.hardware.closed, r.hardware.ran = true, false
	return r.hardware.source.close()
}

// counting reports whether the step in progress is one whose hardware events are counted.
func (r *Recorder) counting() bool { return r.hardware != nil && r.hardware.ran }

// Len returns the number of steps in the ring.
func (r *Recorder) Len() int { return r.kept }

// Run returns a copy of the recording: the steps in the ring that have ended, and the data of the
// whole run. A call between steps affects only the next step, because it displaces data from the
// caches.
func (r *Recorder) Run() *Run {
	run := &Run{
		Scene: r.config.Name, Params: r.config.Params, Command: r.config.Command, Env: ThisEnvironment(),
		BudgetNs: r.config.BudgetNs, RateHz: r.schedule.rateHz(), Warmup: r.config.Warmup - r.waiting,
		Steps: r.columnsOf(), Overhead: r.cost.share(),
	}
	r.addHardware(run)
	run.Noise = thisNoise().since(r.noise)
	if r.kept > 0 {
		run.Started = r.first.UTC().Format(time.RFC3339)
		run.Allocs, run.Bytes = r.gc.allocated(r.total)
	}
	if r.sim != nil {
		r.addSim(run)
	}
	return run
}

func (r *Recorder) columnsOf() Steps {
	s := Steps{Phases: append([]string(nil), r.phases...)}
	oldest := 0
	if r.kept == r.steps {
		oldest = r.next
	}
	column := func(c int) []int64 {
		values := make([]int64, r.kept)
		for i := range values {
			values[i] = r.ring[(oldest+i)%r.steps*r.stride+c]
		}
		return values
	}
	s.Tick = make([]uint64, r.kept)
	for i, v := range column(colTick) {
		s.Tick[i] = uint64(v)
	}
	s.StartNs, s.DueNs, s.Ns = column(colStart), column(colDue), column(colNs)
	s.GCs, s.GCPauseNs, s.GCAssistNs = column(colGCs), column(colPause), column(colAssist)
	for i, c := range r.counters {
		s.Counters = append(s.Counters, c.Name)
		s.Counts = append(s.Counts, column(fixedColumns+i))
	}
	for _, c := range r.columns {
		s.PhaseNs = append(s.PhaseNs, column(fixedColumns+len(r.counters)+c))
	}
	if r.kept > 0 {
		origin := s.DueNs[0]
		for i := range s.StartNs {
			s.StartNs[i] -= origin
			s.DueNs[i] -= origin
		}
	}
	return s
}

// costEvery is the number of steps between two whose recording is timed.
const costEvery = 16

type cost struct {
	n       uint64
	sampled bool           // the step in progress is timed
	step    int64          // time of recording in this step
	spent   loop.Histogram // on recording, in timed steps
	steps   loop.Histogram // durations of timed steps
}

func (c *cost) begin() {
	c.sampled = c.n%costEvery == 0
	c.n++
	c.step = 0
}

func (c *cost) add(ns int64) { c.step += ns }

func (c *cost) took(ns, step int64) {
	c.spent.Add(c.step + ns)
	c.steps.Add(step)
}

func (c *cost) reset() {
	c.n = 0
	c.spent.Reset()
	c.steps.Reset()
}

// share returns the median time of recording as a share of the median step. In a mean, a single
// interruption would outweigh all other steps.
func (c *cost) share() float64 {
	step := c.steps.Quantile(0.5)
	if step == 0 {
		return 0
	}
	return float64(c.spent.Quantile(0.5)) / float64(step)
}
