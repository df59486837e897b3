package profile

import (
	"fmt"
	"slices"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
)

// Attach records every later step of sim; hooks cannot be removed. It returns the errors of
// Config.Validate and of Sim.Check, and evertick.ErrUnsupported for a Sim with Config.Untimed.
//
// A step is that of Sim.Timings. Phases that run in parallel add up to more than their elapsed
// time. A system that is added later gets a column, with 0 ns before, at the end of its first step,
// which is the only step that allocates. Steps that a Sim repeats after StepBack are recorded
// again, with the same ticks.
//
// Config.Hardware locks the calling goroutine to its thread until Recorder.Close, and steps have to
// run on it. The work of other threads, which are workers and parallel systems, is not counted.
// Where there are no counters, Run.Unwatched gives the reason, and everything else is recorded.
//
// Attach adds counters of the Sim, unless Config.Counters has some of the same names: live, the
// number of entities, and contacts, the number of pairs of shapes that the physics and attached solvers
// had to examine closely: physics.World.ContactCount and evertick.Solver.Counts.
func Attach(sim *evertick.Sim, cfg Config) (*Recorder, error) {
	if sim == nil {
		panic("profile: Attach: nil Sim")
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if err := sim.Check(); err != nil {
		return nil, err
	}
	if sim.Config().Untimed {
		return nil, fault.Field(fault.ErrUnsupported, "profile: Attach: evertick.Config.Untimed of the Sim", true)
	}
	if cfg.BudgetNs == 0 {
		cfg.BudgetNs = sim.Config().BudgetNs
	}
	if cfg.Clock == nil {
		cfg.Clock = sim.Config().Clock.Now
	}
	cfg.Counters = withCounters(cfg.Counters, sim)
	r := newRecorder(cfg)
	r.sim = sim
	r.follow(sim.Timings())
	r.watchHardware()
	hooks := evertick.Hooks{BeforeTick: r.beforeTick, AfterTick: r.afterTick}
	if r.hardware != nil {
		hooks.BeforeSystem, hooks.AfterSystem = r.beforeSystem, r.afterSystem
	}
	sim.AddHooks(hooks)
	return r, nil
}

// withCounters returns own and the counters that every Sim has, unless own has some of the same names.
func withCounters(own []Counter, sim *evertick.Sim) []Counter {
	all := slices.Clone(own)
	for _, c := range []Counter{
		{"live", func() int64 { return int64(sim.World.Len()) }},
		{"contacts", func() int64 { return contactsOf(sim) }},
	} {
		if !slices.ContainsFunc(own, func(o Counter) bool { return o.Name == c.Name }) {
			all = append(all, c)
		}
	}
	return all
}

func contactsOf(sim *evertick.Sim) int64 {
	n := sim.Physics.ContactCount()
	for _, v := range sim.Solvers {
		if v.Counts != nil {
			_, contacts := v.Counts()
			n += contacts
		}
	}
	return int64(n)
}

func (r *Recorder) beforeTick(*evertick.Tick) error {
	now := r.clock()
	if phases, ns := r.sim.Timings(); r.layout != &phases[0] {
		r.follow(phases, ns)
	}
	r.done = 0
	r.begin(now, -1)
	if r.cost.sampled {
		r.cost.add(r.clock() - now)
	}
	r.start = now
	r.due = r.schedule.due(r.sim.Loop(), now, r.waiting == 0)
	return nil
}

// afterTick is called when Timings are those of the step that ends.
func (r *Recorder) afterTick(t *evertick.Tick) error {
	now := r.clock()
	phases, ns := r.sim.Timings()
	if r.layout != &phases[0] {
		r.follow(phases, ns)
	}
	for i := range phases {
		r.times[r.columns[i]] = phases[i].Ns
	}
	r.end(t.N, ns, now)
	return nil
}

// beforeSystem is called with hardware counters only.
func (r *Recorder) beforeSystem(*evertick.Tick, string) { r.hardware.phaseBegins() }

func (r *Recorder) afterSystem(_ *evertick.Tick, system string) {
	if !r.counting() {
		return
	}
	var now int64
	if r.cost.sampled {
		now = r.clock()
	}
	// Phases run in the order of Timings.
	if r.done < len(r.phases) && r.phases[r.done] == system {
		r.hardware.done(r.columns[r.done])
		r.done++
	}
	if r.cost.sampled {
		r.cost.add(r.clock() - now)
	}
}

// follow adopts the order of the phases, which changes when systems are added. The Sim keeps its
// list of Timings until then, so that another list means another order.
func (r *Recorder) follow(phases []evertick.Timing, _ int64) {
	r.layout = &phases[0]
	column := map[string]int{}
	for i, name := range r.phases {
		column[name] = r.columns[i]
	}
	var added []string
	for _, p := range phases {
		if _, ok := column[p.Phase]; !ok {
			column[p.Phase] = len(r.times) + len(added)
			added = append(added, p.Phase)
		}
	}
	r.addPhases(added)
	r.phases, r.columns = make([]string, len(phases)), make([]int, len(phases))
	for i, p := range phases {
		r.phases[i], r.columns[i] = p.Phase, column[p.Phase]
	}
}

// addSim adds the data of the Sim to run.
func (r *Recorder) addSim(run *Run) {
	run.Level = r.sim.Level().String()
	run.Workers = r.sim.Config().Workers
	run.Seed = r.sim.Seed()
	run.Hash = fmt.Sprintf("%016x", r.sim.Hash())
	if r.kept > 0 {
		run.Dropped = r.sim.Frame().DroppedTotal - r.dropped
	}
}
