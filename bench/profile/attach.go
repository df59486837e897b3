package profile

import (
	"fmt"

	"github.com/evertick/evertick"
)

// Attach records every step of sim from now on, until the end of its days: hooks cannot be
// taken away. Errors are those of Config.Validate and of Sim.Check.
//
// A step is what Sim.Timings calls one. Phases that run side by side add up to more than
// they took together. A system that is added later gets a column at the end of its first
// step, which is the only one that allocates; it has taken 0 ns before.
//
// To Config.Counters come those of the Sim, unless the user has counters of these names:
// live, the number of entities.
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
	if cfg.BudgetNs == 0 {
		cfg.BudgetNs = sim.Config().BudgetNs
	}
	if cfg.Clock == nil {
		cfg.Clock = sim.Config().Clock.Now
	}
	cfg.Counters = withCounters(cfg.Counters, countersOf(sim))
	r := newRecorder(cfg)
	r.sim = sim
	r.follow(sim.Timings())
	sim.AddHooks(evertick.Hooks{BeforeTick: r.beforeTick, AfterTick: r.afterTick})
	return r, nil
}

// countersOf returns what a Sim can tell by itself.
func countersOf(sim *evertick.Sim) []Counter {
	return []Counter{
		{"live", func() int64 { return int64(sim.World.Len()) }},
	}
}

// withCounters adds to those of the user those of more that he has not named.
func withCounters(own, more []Counter) []Counter {
	all := append([]Counter(nil), own...)
	taken := map[string]bool{}
	for _, c := range own {
		taken[c.Name] = true
	}
	for _, c := range more {
		if !taken[c.Name] {
			all = append(all, c)
		}
	}
	return all
}

func (r *Recorder) beforeTick(*evertick.Tick) error {
	now := r.clock()
	r.begin(now, -1)
	if r.cost.sampled {
		r.cost.add(r.clock() - now)
	}
	r.start = now
	r.due = r.schedule.onGrid(now, r.waiting == 0)
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

// follow takes over the order of the phases, which is a new one when systems were added.
// The Sim keeps the list of Timings until then, so that the list tells whether it is.
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

// tellSim adds to run what the Sim knows.
func (r *Recorder) tellSim(run *Run) {
	run.Level = r.sim.Level().String()
	run.Workers = r.sim.Config().Workers
	run.Seed = r.sim.Seed()
	run.Hash = fmt.Sprintf("%016x", r.sim.Hash())
	if r.kept > 0 {
		run.Dropped = r.sim.Frame().DroppedTotal - r.dropped
	}
}
