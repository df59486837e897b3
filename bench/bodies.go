package main

import (
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/internal/scenes"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/physics/box2d"
)

// compareBox2D is the engine that -compare takes.
const compareBox2D = "box2d"

// compareDiscrete is what -continuous compares with: the same without.
const compareDiscrete = "discrete"

// turn is the number of steps that an engine does before it is the other one's turn. Most
// of them find their data in the caches, as where there is one engine.
const turn = 4

// manyGarbage is how many bytes may wait to be collected between two turns.
const manyGarbage = 256 << 20

// bodyNames are the scenes of bodies alone.
func bodyNames() (names []string) {
	for _, k := range scenes.Kinds {
		names = append(names, k.Name)
	}
	return names
}

// bodySizes tells their usual sizes.
func bodySizes() string {
	var all []string
	for _, k := range scenes.Kinds {
		all = append(all, fmt.Sprintf("%s %d", k.Name, k.N))
	}
	return strings.Join(all, ", ")
}

func (o *options) isBodies() bool { return slices.Contains(bodyNames(), o.scene) }

// bodyDefaults fills in the flags that were not given. The scenes are such that theirs
// takes a minute or two at the usual sizes.
func (o *options) bodyDefaults(given map[string]bool) error {
	kind, _ := scenes.KindOf(o.scene)
	var err error
	if o.n, err = single("n", o.ns, kind.N); err != nil {
		return err
	}
	if o.n < 1 || o.n > kind.MaxN() {
		return fmt.Errorf("%w: -n %d: 1 to %d", errUsage, o.n, kind.MaxN())
	}
	if err := o.checkCompare(); err != nil {
		return err
	}
	if o.continuous && o.compare == "" {
		o.compare = compareDiscrete
	}
	ticks, warmup := 600, 120
	switch {
	case o.scene == "pyramids":
		ticks, warmup = 40, 8
	case o.scene == "smash":
		ticks, warmup = 300, 60 // the block is hit at 66
	case o.scene == "jointgrid":
		ticks, warmup = 160, 40
	case o.scene == "pyramid":
		ticks, warmup = 200, 40
	case o.n > 4096:
		ticks, warmup = 160, 40
	}
	if !given["ticks"] {
		o.ticks = ticks
	}
	if !given["warmup"] {
		o.warmup = min(warmup, o.ticks/2)
	}
	return o.check()
}

func (o *options) checkCompare() error {
	if o.compare != "" && o.compare != compareBox2D {
		return fmt.Errorf("%w: -compare %q: only %s", errUsage, o.compare, compareBox2D)
	}
	return nil
}

// runBodies measures a scene of bodies, beside another engine if that was asked for.
func (o *options) runBodies(level native.Level, stdout, stderr io.Writer) error {
	kind, _ := scenes.KindOf(o.scene)
	o.sleep, o.continuous = o.sleep || kind.Sleeps, o.continuous || kind.Continuous
	j, err := o.newJob(level, stderr)
	if err != nil {
		return err
	}
	defer j.close()
	few := min(o.n, 24)
	if o.scene == "arena" || o.scene == "tumbler" {
		few = min(o.n, 256)
	}
	if err := j.preflight(o.preflightTicks(), func(level native.Level) (stepper, error) { return o.openBodies(few, level) }); err != nil {
		return err
	}
	built := time.Now()
	ours, err := newContender(o, o.bodyConfig(level))
	if err != nil {
		return err
	}
	buildNs := int64(time.Since(built))
	if err := ours.record(o); err != nil {
		return err
	}
	theirs, err := o.otherEngine(level)
	if err != nil {
		return err
	}
	if err := o.contest(ours, theirs, j.progress); err != nil {
		return err
	}
	run := ours.told(o, level)
	if theirs != nil {
		j.comparison = newComparison(o, ours.steps, theirs.steps)
	}
	if err := j.ladder(run, buildNs, func(level native.Level) (stepper, error) { return o.openBodies(o.n, level) }); err != nil {
		return err
	}
	return j.tell(run, stdout)
}

func (o *options) bodyConfig(level native.Level) physics.Config {
	return physics.Config{Level: level, Workers: o.workers, DisableSleep: !o.sleep, DisableContinuous: !o.continuous}
}

func (o *options) openBodies(n int, level native.Level) (stepper, error) {
	s, err := scenes.NewAs(o.scene, n, o.seed, o.bodyConfig(level))
	if err != nil {
		return stepper{}, err
	}
	return stepper{step: s.Step, hash: s.World.Hash}, nil
}

// otherEngine returns who takes turns with ours, or nil.
func (o *options) otherEngine(level native.Level) (*contender, error) {
	switch o.compare {
	case compareDiscrete:
		c := o.bodyConfig(level)
		c.DisableContinuous = true
		return newContender(o, c)
	case compareBox2D:
		engine := box2d.NewEngine(box2d.Options{NoContinuous: o.scene == "tumbler" && !o.continuous})
		return newContender(o, physics.Config{Engine: engine, DisableSleep: !o.sleep})
	}
	return nil, nil
}

// contender is an engine with a scene of its own.
type contender struct {
	scene    *scenes.Scene
	steps    []int64 // ns, of the measured steps
	stages   []string
	stageNs  [][]int64 // by stage, then step
	touching int       // pairs of shapes
	memory   memory    // that the measured steps allocated

	recorder *profile.Recorder // nil: of another engine
	now      func() time.Duration
	last     time.Time // the end of the stage before, by the wall clock
	current  []int64   // of the step that runs, by stage
}

func newContender(o *options, c physics.Config) (*contender, error) {
	s, err := scenes.NewAs(o.scene, o.n, o.seed, c)
	return &contender{scene: s, steps: make([]int64, 0, o.ticks)}, err
}

// record has the steps recorded. Their stages are the contender's: the solver names them when they
// end.
func (c *contender) record(o *options) (err error) {
	c.recorder, err = profile.New(profile.Config{
		Name: o.scene, Command: o.command, Steps: o.ticks - o.warmup, Warmup: o.warmup, BudgetNs: o.budgetNs(), Hardware: o.hardware,
		Counters: []profile.Counter{{Name: "contacts", Read: func() int64 { return int64(c.scene.World.ContactCount()) }}},
	}, nil)
	return err
}

// told is what the report is made of.
func (c *contender) told(o *options, level native.Level) *profile.Run {
	run := c.recorder.Run()
	run.Steps.Phases, run.Steps.PhaseNs = c.stages, c.stageNs
	if h := run.Hardware; h != nil { // which stage a step is in is told behind it
		h.Phases = slices.Repeat([]profile.Count{{Instructions: -1, Cycles: -1, CacheMisses: -1, BranchMisses: -1}}, len(c.stages))
	}
	run.Level, run.Workers, run.Seed = level.String(), o.workers, o.seed
	run.Hash = fmt.Sprintf("%016x", c.scene.World.Hash())
	run.Allocs, run.Bytes = float64(c.memory.allocs)/float64(len(c.steps)), float64(c.memory.bytes)/float64(len(c.steps))
	add := func(name string, value any) {
		run.Params = append(run.Params, profile.Param{Name: name, Value: fmt.Sprint(value)})
	}
	add("ticks", o.ticks)
	add("n", o.n)
	add("bodies", len(c.scene.Bodies))
	add("shapes", c.scene.World.ShapeCount())
	if c.scene.Joints > 0 {
		add("joints", c.scene.Joints)
	}
	if o.sleep {
		add("sleep", "on")
	}
	if o.continuous {
		add("continuous", "on")
	}
	return run
}

// Clocks of steps. Of a machine that others use as well, the wall clock would tell who is
// interrupted more often, which are long steps.
const (
	threadClockName = "thread CPU time"
	wallClockName   = "wall clock"
)

// chooseClock returns the clock of the steps and its name. Only steps of one thread can be
// measured by what a thread does.
func (o *options) chooseClock() (name string, now func() time.Duration) {
	if _, ok := threadTime(); ok && o.workers == 1 {
		return threadClockName, func() time.Duration { t, _ := threadTime(); return t }
	}
	start := time.Now()
	return wallClockName, func() time.Duration { return time.Since(start) }
}

// contest runs both engines, taking turns. The garbage of theirs is collected between
// turns and counts for neither.
func (o *options) contest(ours, theirs *contender, progress *progress) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if theirs != nil {
		defer debug.SetGCPercent(debug.SetGCPercent(-1))
	}
	ours.scene.World.Trace(ours.stage)
	runtime.GC()
	collected := allocated()
	for tick := 0; tick < o.ticks; tick += turn {
		progress.show("tick %d of %d", tick, o.ticks)
		for _, c := range []*contender{ours, theirs} {
			if c == nil {
				continue
			}
			if c.now == nil {
				_, c.now = o.chooseClock()
			}
			if err := c.run(tick, min(tick+turn, o.ticks), o.warmup); err != nil {
				return err
			}
		}
		if now := allocated(); theirs != nil && now.bytes-collected.bytes > manyGarbage {
			runtime.GC()
			collected = now
		}
	}
	return nil
}

// run advances the scene through the ticks [from, to) and keeps what follows the
// warm-up.
func (c *contender) run(from, to, warmup int) error {
	before := allocated() // stops the world: not between steps
	for tick := from; tick < to; tick++ {
		if tick == warmup {
			before = allocated()
		}
		if err := c.scene.Push(); err != nil {
			return err
		}
		if c.recorder != nil {
			c.recorder.Begin(-1)
		}
		clear(c.current)
		c.last = time.Now()
		start := c.now()
		if err := c.scene.World.Step(scenes.Dt); err != nil {
			return fmt.Errorf("after tick %d: %w", tick, err)
		}
		ns := int64(c.now() - start)
		e := c.scene.World.Events()
		c.touching += len(e.Begin) - len(e.End)
		if c.recorder != nil {
			c.recorder.End()
		}
		if tick >= warmup {
			c.keep(ns)
		}
	}
	if to > warmup {
		after := allocated()
		c.memory.allocs += after.allocs - before.allocs
		c.memory.bytes += after.bytes - before.bytes
	}
	return nil
}

// stage is called at the end of each stage of a step. Not every step has all of them.
func (c *contender) stage(name string) {
	now := time.Now()
	i := slices.Index(c.stages, name)
	if i < 0 {
		i = len(c.stages)
		c.stages = append(c.stages, name)
		c.stageNs = append(c.stageNs, make([]int64, len(c.steps), cap(c.steps)))
		c.current = append(c.current, 0)
	}
	c.current[i] += int64(now.Sub(c.last))
	c.last = now
}

func (c *contender) keep(ns int64) {
	c.steps = append(c.steps, ns)
	for i, stage := range c.current {
		c.stageNs[i] = append(c.stageNs[i], stage)
	}
}

// resamples of the measured turns tell how far a ratio can be trusted.
const resamples = 1000

// medianRatio returns the ratio of the medians of two series that took turns, and the
// limits between which it lies with 95 % confidence: those of a bootstrap of the
// turns, since steps that follow each other are alike.
func medianRatio(over, under []int64, seed uint64) (ratio, low, high float64) {
	rng := rand.New(rand.NewPCG(seed, resamples))
	turns := (len(over) + turn - 1) / turn
	a, b := newResample(over), newResample(under)
	drawn := make([]int, turns) // how often each turn was drawn
	ratios := make([]float64, resamples)
	for i := range ratios {
		clear(drawn)
		steps := 0
		for range turns {
			t := rng.IntN(turns)
			drawn[t]++
			steps += min(turn, len(over)-turn*t)
		}
		ratios[i] = max(1, a.median(drawn, steps)) / max(1, b.median(drawn, steps)) // no clock sees less than 1 ns
	}
	slices.Sort(ratios)
	ratio = max(1, median(over)) / max(1, median(under))
	return ratio, min(ratio, nearestRank(ratios, 0.025)), max(ratio, nearestRank(ratios, 0.975))
}

// resample is a series, sorted once, of which turns are drawn again and again.
type resample struct {
	ns   []int64 // ascending
	turn []int   // of each
}

func newResample(ns []int64) *resample {
	r := &resample{ns: make([]int64, len(ns)), turn: make([]int, len(ns))}
	order := make([]int, len(ns))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(ns[a], ns[b]), cmp.Compare(a, b)) })
	for i, step := range order {
		r.ns[i], r.turn[i] = ns[step], step/turn
	}
	return r
}

// median is that of the steps of the turns drawn, by the nearest rank.
func (r *resample) median(drawn []int, steps int) float64 {
	left := (steps + 1) / 2
	for i, t := range r.turn {
		if left -= drawn[t]; left <= 0 {
			return float64(r.ns[i])
		}
	}
	return 0
}

func median(ns []int64) float64 { return float64(quantilesOf(ns).P50) }

// published is what is known of a scene of a size.
type published struct {
	scene string
	n     int
	v3    float64 // how many times as fast as box2d Box2D v3 was, on one core with AVX2
	goal  float64 // for ours
}

var publishedScenes = []published{
	{"arena", 256, 8.0, 24},
	{"arena", 1024, 7.9, 24},
	{"arena", 4096, 11.6, 35},
	{"arena", 16384, 16.9, 68},
	{"tumbler", 2000, 14.7, 18},
	{"pyramid", 100, 32.7, 33},
	{"pyramids", 400, 212, 212},
	{"jointgrid", 100, 5.2, 7},
	{"smash", 9600, 20, 30},
}

func publishedFor(scene string, n int) *published {
	i := slices.IndexFunc(publishedScenes, func(p published) bool { return p.scene == scene && p.n == n })
	if i < 0 {
		return nil
	}
	return &publishedScenes[i]
}
