package command

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/proof"
	"github.com/evertick/evertick/internal/scenes"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics/box2d"
	"github.com/zeebo/xxh3"
)

func init() {
	flags := append([]string{"hashes", "paced", "causes"}, profileFlags...)
	for _, d := range scenes.Sims() {
		s := Scene{Name: d.Name, Family: Simulations, Help: d.Help, Flags: flags, Check: (*Options).checkSim, Run: (*Options).runSim, sim: (*Options).newSim, open: openSimAs}
		p := d.Params
		if p.MaxEntities == 0 {
			if !d.InSpace {
				s.Flags = append([]string{"compare"}, flags...)
			}
			Register(s)
			continue
		}
		sized := []string{"n"}
		if p.Perceivers > 0 {
			sized = append(sized, "q")
		}
		if p.Radius > 0 {
			sized = append(sized, "r")
		}
		if p.MaxBodies > 0 {
			sized = append(sized, "bodies")
		}
		if p.Spread != "" {
			sized = append(sized, "spread")
		}
		s.Flags = append(sized, flags...)
		s.size = &sizeRange{unit: "entities", first: 64, most: p.MaxEntities, open: func(o *Options, n int, level native.Level) (stepper, error) {
			p := o.params
			p.Entities = n
			return o.openSim(p, level)
		}}
		Register(s)
	}
	Register(Scene{
		Name: proof.SceneName, Family: Simulations, Help: "everything that this module can do, at once: make determinism compares its hashes",
		Flags: flags, Check: (*Options).checkSim, Run: (*Options).runSim, sim: (*Options).newSim, open: openSimAs,
	})
}

// paramsOf returns the usual parameters of a simulation.
func paramsOf(name string) scenes.Params {
	if name == proof.SceneName {
		return scenes.Params{Ticks: 3600, Warmup: 300}
	}
	d, _ := scenes.FindSim(name)
	return d.Params
}

// longestRadius of -r in metres: beyond it, results outgrow any memory.
const longestRadius = 1000

// checkSim puts -n, -q and -r into the parameters of a simulation.
func (o *Options) checkSim(given map[string]bool) error {
	o.params = paramsOf(o.Scene)
	p := &o.params
	var errs [3]error
	var r float64
	p.Entities, errs[0] = Single("n", o.Ns, p.Entities)
	p.Perceivers, errs[1] = Single("q", o.qs, p.Perceivers)
	r, errs[2] = Single("r", o.rs, float64(p.Radius))
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	p.Radius, o.N = float32(r), p.Entities
	if given["bodies"] {
		p.Bodies = o.bodies
	}
	if given["spread"] {
		p.Spread = o.spread
	}
	switch {
	case given["n"] && (p.Entities < 1 || p.Entities > p.MaxEntities):
		return fmt.Errorf("%w: -n %d: 1 to %d", ErrUsage, p.Entities, p.MaxEntities)
	case given["q"] && (p.Perceivers < 1 || p.Perceivers > p.MaxEntities):
		return fmt.Errorf("%w: -q %d: 1 to %d", ErrUsage, p.Perceivers, p.MaxEntities)
	case given["r"] && !(r > 0 && r <= longestRadius):
		return fmt.Errorf("%w: -r %g: above 0 to %d", ErrUsage, r, longestRadius)
	case given["bodies"] && (p.Bodies < 0 || p.Bodies > p.MaxBodies):
		return fmt.Errorf("%w: -bodies %d: 0 to %d", ErrUsage, p.Bodies, p.MaxBodies)
	case given["spread"] && !slices.Contains(scenes.Spreads, p.Spread):
		return fmt.Errorf("%w: -spread %q: %s", ErrUsage, p.Spread, strings.Join(scenes.Spreads, ", "))
	}
	return o.CheckSteps(given, p.Ticks, p.Warmup)
}

// simulation is a scene whose steps are those of a Sim.
type simulation struct {
	*evertick.Sim
	params            scenes.Params
	push              func() error // what step does before each tick; nil: nothing
	step              func() error
	counters          []scenes.Counter
	hashWithoutBodies func() uint64
}

// newSimulation builds a scene. cfg provides seed, level, workers and, in tests, another physics
// engine.
func newSimulation(name string, p scenes.Params, cfg evertick.Config) (*simulation, error) {
	if d, ok := scenes.FindSim(name); ok {
		s, err := d.New(p, cfg)
		if err != nil {
			return nil, err
		}
		return &simulation{s.Sim, p, nil, s.Step, s.Counters, s.HashWithoutBodies}, nil
	}
	e, err := proof.New(proof.Config{Seed: cfg.Seed, Level: cfg.Level, Workers: cfg.Workers})
	if err != nil {
		return nil, err
	}
	p.Entities, p.Bodies = e.Sim.World.Len(), e.Sim.Physics.Len()
	return &simulation{e.Sim, p, e.Push, e.Step, nil, func() uint64 { var h xxh3.Hasher; return h.Sum64() }}, nil // of no rows
}

func (o *Options) simConfig(level native.Level) evertick.Config {
	return evertick.Config{Seed: o.Seed, Level: level, Workers: o.Workers, BudgetNs: o.budgetNs()}
}

func openSimAs(o *Options, level native.Level) (stepper, error) { return o.openSim(o.params, level) }

func (o *Options) openSim(p scenes.Params, level native.Level) (stepper, error) {
	s, err := newSimulation(o.Scene, p, o.simConfig(level))
	if err != nil {
		return stepper{}, err
	}
	phases := func() []evertick.Timing { all, _ := s.Timings(); return all }
	watch := func(before func(), after func(phase string)) (stop func()) {
		return s.AddHooks(evertick.Hooks{
			BeforeSystem: func(*evertick.Tick, string) { before() },
			AfterSystem:  func(_ *evertick.Tick, name string) { after(name) },
		})
	}
	return stepper{step: s.step, hash: s.Hash, phases: phases, watch: watch}, nil
}

func (o *Options) runSim(level native.Level, stdout, stderr io.Writer) error {
	small := o.params // a size at which levels are compared quickly
	if small.MaxEntities > 0 {
		small.Entities, small.Bodies = min(small.Entities, 4096), min(small.Bodies, 1024)
	}
	return o.profile(subject{
		small:   func(level native.Level) (stepper, error) { return o.openSim(small, level) },
		full:    func(level native.Level) (stepper, error) { return o.openSim(o.params, level) },
		measure: func(p *Progress) (*profile.Run, int64, *comparison, error) { return o.profileSim(level, p) },
	}, stdout, stderr)
}

func (o *Options) profileSim(level native.Level, progress *Progress) (run *profile.Run, buildNs int64, c *comparison, err error) {
	start := time.Now()
	s, err := newSimulation(o.Scene, o.params, o.simConfig(level))
	if err != nil {
		return nil, 0, nil, err
	}
	buildNs = int64(time.Since(start))
	rec, err := profile.Attach(s.Sim, o.profileConfig(s))
	if err != nil {
		return nil, 0, nil, err
	}
	var other *otherEngine
	if o.compare != "" {
		if other, err = newOtherEngine(o, level); err != nil {
			return nil, 0, nil, err
		}
	}
	var turns *pacedTurns
	if o.paced {
		var twin *simulation
		if o.causes {
			if twin, err = newSimulation(o.Scene, o.params, o.simConfig(level)); err != nil {
				return nil, 0, nil, err
			}
		}
		turns = newPacedTurns(o.Warmup, s, twin)
	}
	spent, err := o.runSteps(s, other, turns, progress)
	if err != nil {
		return nil, 0, nil, err
	}
	run = rec.Run()
	steps := float64(o.Ticks - o.Warmup)
	run.Allocs, run.Bytes = float64(spent.Allocs)/steps, float64(spent.bytes)/steps
	if turns != nil {
		turns.report(run)
	}
	if other != nil {
		c = o.compared(run.Steps.Ns, other.steps)
	}
	return run, buildNs, c, nil
}

func (o *Options) profileConfig(s *simulation) profile.Config {
	c := profile.Config{
		Name: o.Scene, Params: s.reported(o), Command: o.command, Steps: o.Ticks - o.Warmup, Warmup: o.Warmup,
		BudgetNs: o.budgetNs(), Hardware: o.hardware,
	}
	if o.paced {
		c.RateHz = pacedHz
	}
	for _, counter := range s.counters {
		c.Counters = append(c.Counters, profile.Counter{Name: counter.Name, Read: counter.Read})
	}
	return c
}

// reported returns the parameters as reports show them.
func (s *simulation) reported(o *Options) (all []profile.Param) {
	add := func(name string, n int) { all = append(all, profile.Param{Name: name, Value: strconv.Itoa(n)}) }
	add("ticks", o.Ticks)
	if s.params.MaxEntities == 0 {
		add("entities", s.params.Entities)
		add("agents", s.params.Agents)
		add("bodies", s.params.Bodies)
		return all
	}
	add("n", s.params.Entities)
	if s.params.Perceivers > 0 {
		add("q", s.params.Perceivers)
	}
	if s.params.Radius > 0 {
		all = append(all, profile.Param{Name: "r", Value: fmt.Sprintf("%.4g", s.params.Radius)})
	}
	if s.params.Bodies > 0 {
		add("bodies", s.params.Bodies)
	}
	if s.params.Spread != "" {
		all = append(all, profile.Param{Name: "spread", Value: s.params.Spread})
	}
	return all
}

// runSteps runs the scene, beside another engine if there is one, and writes the hashes of -hashes.
// It returns what the measured steps allocated.
func (o *Options) runSteps(s *simulation, other *otherEngine, turns *pacedTurns, p *Progress) (spent Memory, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var each []func() error
	if other != nil {
		defer debug.SetGCPercent(debug.SetGCPercent(-1))
		each = append(each, other.follow)
	}
	before := func(tick int) error {
		if p.Due() {
			p.Show("%s: tick %d of %d", o.Scene, tick, o.Ticks)
		}
		if turns == nil {
			return nil
		}
		return turns.before(tick)
	}
	if o.hashes == "" {
		return measure(s, o.Ticks, o.Warmup, before, each...)
	}
	file, err := os.Create(o.hashes)
	if err != nil {
		return spent, err
	}
	w := bufio.NewWriter(file)
	each = append(each, func() error { return s.tickHashes().write(w) })
	spent, err = measure(s, o.Ticks, o.Warmup, before, each...)
	return spent, errors.Join(err, w.Flush(), file.Close())
}

// measure runs so many steps and returns what those after the warm-up allocated. It calls before
// ahead of each step, and each of the other functions after it. What these functions allocate does
// not count.
func measure(s *simulation, ticks, warmup int, before func(tick int) error, each ...func() error) (spent Memory, err error) {
	var start Memory
	for i := range ticks {
		if i == warmup {
			Collect() // garbage of the warm-up would slow down the measured steps
			start = Allocated()
		}
		if err := before(i); err != nil {
			return spent, err
		}
		if err := s.step(); err != nil {
			return spent, err
		}
		for _, f := range each {
			if err := start.except(f); err != nil {
				return spent, fmt.Errorf("after tick %d: %w", i, err)
			}
		}
	}
	return Allocated().Since(start), nil
}

// otherEngine runs the same scene with the bodies of another engine, by turns with ours.
type otherEngine struct {
	*Options
	sim       *simulation
	steps     []int64
	tick      int // of ours
	collected Memory
}

func newOtherEngine(o *Options, level native.Level) (*otherEngine, error) {
	cfg := o.simConfig(level)
	cfg.Physics.Engine = box2d.NewEngine(box2d.Options{})
	s, err := newSimulation(o.Scene, o.params, cfg)
	return &otherEngine{Options: o, sim: s, collected: Allocated()}, err
}

// follow is called after each step of our engine. It collects garbage only between turns, so that
// the garbage of one engine does not count for the other.
func (r *otherEngine) follow() error {
	first := r.tick / turn * turn
	r.tick++
	if r.tick%turn != 0 && r.tick != r.Ticks {
		return nil
	}
	for tick := first; tick < r.tick; tick++ {
		start := time.Now()
		if err := r.sim.step(); err != nil {
			return fmt.Errorf("%s: %w", engineBox2D, err)
		}
		if tick >= r.Warmup {
			r.steps = append(r.steps, int64(time.Since(start)))
		}
	}
	r.collected.collectIfMuch()
	return nil
}

// withoutBodies names the hash of all rows except those of bodies.
const withoutBodies = "without-bodies"

// tickHashes are the column hashes after one tick.
type tickHashes struct {
	tick  uint64
	parts []ecs.ColumnHash
}

// tickHashes returns the column hashes after the last step, and the one without bodies.
func (s *simulation) tickHashes() tickHashes {
	parts := slices.Clone(s.ColumnHashes())
	return tickHashes{s.Ticks(), append(parts, ecs.ColumnHash{Name: withoutBodies, Hash: s.hashWithoutBodies()})}
}

func (t tickHashes) write(w io.Writer) error {
	for _, p := range t.parts {
		if _, err := fmt.Fprintf(w, "%d %016x %s\n", t.tick, p.Hash, p.Name); err != nil {
			return err
		}
	}
	return nil
}
