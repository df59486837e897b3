package command

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/internal/scenes"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/physics/box2d"
)

// Engines that ours is compared with.
const (
	engineBox2D    = "box2d"    // of -compare
	engineDiscrete = "discrete" // of -continuous: ours without continuous collision
)

func init() {
	for _, d := range scenes.Bodies() {
		s := Scene{
			Name: d.Name, Family: bodiesAlone, Help: fmt.Sprintf("%s (n %d)", d.Help, d.N),
			Flags: append([]string{"n", "sleep", "continuous", "compare"}, profileFlags...), Check: (*Options).checkBodies, Run: (*Options).runBodies,
			sim: (*Options).newSimOfBodies, open: (*Options).openBodies,
		}
		if d.Scale != "" {
			s.size = &sizeRange{unit: d.Scale, first: 8, most: d.MaxN(), open: func(o *Options, n int, level native.Level) (stepper, error) {
				return stepperOf(scenes.New(o.Scene, n, o.Seed, physics.Config{Level: level, Workers: o.Workers}))
			}}
		}
		Register(s)
	}
}

func stepperOf(s *scenes.Scene, err error) (stepper, error) {
	if err != nil {
		return stepper{}, err
	}
	return stepper{step: s.Step, hash: s.World.Hash}, nil
}

// checkSize fills in -n of a scene of bodies.
func (o *Options) checkSize(usual, most int) (err error) {
	if o.N, err = Single("n", o.Ns, usual); err == nil && (o.N < 1 || o.N > most) {
		err = fmt.Errorf("%w: -n %d: 1 to %d", ErrUsage, o.N, most)
	}
	return err
}

// checkBodies fills in the flags that were not given. With the default sizes and ticks the other
// engine takes a minute or two.
func (o *Options) checkBodies(given map[string]bool) error {
	d, _ := scenes.Find(o.Scene)
	if err := o.checkSize(d.N, d.MaxN()); err != nil {
		return err
	}
	ticks, warmup := d.Ticks, d.Warmup
	switch {
	case ticks > 0:
	case o.N > 4096:
		ticks, warmup = 160, 40
	default:
		ticks, warmup = 600, 120
	}
	if err := o.CheckSteps(given, ticks, warmup); err != nil {
		return err
	}
	if o.continuous && o.compare == "" {
		o.compare = engineDiscrete
	}
	o.sleep, o.continuous = o.sleep || d.Sleeps, o.continuous || d.Continuous
	return nil
}

func (o *Options) runBodies(level native.Level, stdout, stderr io.Writer) error {
	d, _ := scenes.Find(o.Scene)
	few := min(o.N, 24)
	if d.Scale == "bodies" || d.Scale == "boxes" {
		few = min(o.N, 256)
	}
	var columns []scenes.Column
	open := func(n int) opener {
		sized := *o
		sized.N = n
		return sized.openBodies
	}
	err := o.profile(subject{
		small: open(few), full: open(o.N),
		measure: func(p *Progress) (*profile.Run, int64, *comparison, error) {
			start := time.Now()
			ours, err := o.newContender(o.bodyConfig(level))
			if err != nil {
				return nil, 0, nil, err
			}
			buildNs := int64(time.Since(start))
			run, c, err := o.profileBodies(ours, level, p)
			columns = ours.columns()
			return run, buildNs, c, err
		},
	}, stdout, stderr)
	if o.json {
		return err
	}
	for _, c := range columns {
		fmt.Fprintf(stdout, "column   %v\n", c)
	}
	return err
}

func (o *Options) openBodies(level native.Level) (stepper, error) {
	return stepperOf(scenes.NewAs(o.Scene, o.N, o.Seed, o.bodyConfig(level)))
}

// profileBodies measures the steps of a contender, by turns with the steps of its opponent.
func (o *Options) profileBodies(ours *contender, level native.Level, progress *Progress) (run *profile.Run, c *comparison, err error) {
	if err := ours.record(o); err != nil {
		return nil, nil, err
	}
	theirs, err := o.opponent(level)
	if err != nil {
		return nil, nil, err
	}
	if err := o.takeTurns(ours, theirs, progress); err != nil {
		return nil, nil, err
	}
	if theirs != nil {
		c = o.compared(ours.steps, theirs.steps)
	}
	return ours.run(o, level), c, nil
}

func (o *Options) bodyConfig(level native.Level) physics.Config {
	return physics.Config{Level: level, Workers: o.Workers, DisableSleep: !o.sleep, DisableContinuous: !o.continuous}
}

// opponent returns the contender that takes turns with ours, or nil.
func (o *Options) opponent(level native.Level) (*contender, error) {
	switch o.compare {
	case engineDiscrete:
		c := o.bodyConfig(level)
		c.DisableContinuous = true
		return o.newContender(c)
	case engineBox2D:
		engine := box2d.NewEngine(box2d.Options{NoContinuous: o.Scene == "tumbler" && !o.continuous})
		return o.newContender(physics.Config{Engine: engine, DisableSleep: !o.sleep})
	}
	return nil, nil
}

// bodyScene is a scene of bodies, in the plane or in space.
type bodyScene struct {
	world interface {
		Trace(f func(stage string))
		Hash() uint64
		ContactCount() int
		ShapeCount() int
	}
	push     func() error // before a step, and not timed
	step     func() error
	standing func() int // columns
	counts   func() (bodies, joints int)
}

// contender is an engine with a scene of its own.
type contender struct {
	scene   bodyScene
	columns func() []scenes.Column // that stand or have fallen; nil: not in space
	steps   []int64                // ns, of the measured steps
	stages  []string
	stageNs [][]int64 // by stage, then step
	memory  Memory    // that the measured steps allocated

	recorder *profile.Recorder // nil: of the other engine
	now      func() time.Duration
	stageEnd time.Time // of the stage before, by the wall clock
	current  []int64   // ns of the step in progress, by stage
}

func (o *Options) newContender(c physics.Config) (*contender, error) {
	s, err := scenes.NewAs(o.Scene, o.N, o.Seed, c)
	if err != nil {
		return nil, err
	}
	scene := bodyScene{
		world: s.World, push: s.Push, step: func() error { return s.World.Step(scenes.Dt) },
		standing: s.Standing, counts: func() (int, int) { return len(s.Bodies), s.Joints },
	}
	return &contender{scene: scene, columns: s.Columns, steps: make([]int64, 0, o.Ticks)}, nil
}

// record creates the recorder of the steps. The contender times the stages itself, because the
// solver names a stage only when it ends.
func (c *contender) record(o *Options) (err error) {
	counters := []profile.Counter{{Name: "contacts", Read: func() int64 { return int64(c.scene.world.ContactCount()) }}}
	if c.scene.standing() > 0 {
		counters = append(counters, profile.Counter{Name: "standing", Read: func() int64 { return int64(c.scene.standing()) }})
	}
	c.recorder, err = profile.New(profile.Config{
		Name: o.Scene, Command: o.command, Steps: o.Ticks - o.Warmup, Warmup: o.Warmup, BudgetNs: o.budgetNs(), Hardware: o.hardware,
		Counters: counters,
	}, nil)
	return err
}

func (c *contender) run(o *Options, level native.Level) *profile.Run {
	run := c.recorder.Run()
	run.Steps.Phases, run.Steps.PhaseNs = c.stages, c.stageNs
	if h := run.Hardware; h != nil { // a stage is known only after its end
		h.Phases = slices.Repeat([]profile.Count{{Instructions: -1, Cycles: -1, CacheMisses: -1, BranchMisses: -1}}, len(c.stages))
	}
	run.Level, run.Workers, run.Seed = level.String(), o.Workers, o.Seed
	run.Hash = fmt.Sprintf("%016x", c.scene.world.Hash())
	run.Allocs, run.Bytes = float64(c.memory.Allocs)/float64(len(c.steps)), float64(c.memory.bytes)/float64(len(c.steps))
	add := func(name string, value any) {
		run.Params = append(run.Params, profile.Param{Name: name, Value: fmt.Sprint(value)})
	}
	add("ticks", o.Ticks)
	add("n", o.N)
	bodies, joints := c.scene.counts()
	add("bodies", bodies)
	add("shapes", c.scene.world.ShapeCount())
	if joints > 0 {
		add("joints", joints)
	}
	if o.sleep {
		add("sleep", "on")
	}
	if o.continuous {
		add("continuous", "on")
	}
	return run
}

// chooseClock returns the clock of the steps and its name. The steps of one thread are measured by
// its CPU time where the system reports it: on a machine that others use as well, the wall clock
// would measure which engine is interrupted more often.
func (o *Options) chooseClock() (name string, now func() time.Duration) {
	if _, ok := ThreadTime(); ok && o.Workers == 1 {
		return "thread CPU time", func() time.Duration { t, _ := ThreadTime(); return t }
	}
	start := time.Now()
	return "wall clock", func() time.Duration { return time.Since(start) }
}

// takeTurns runs both engines by turns. It collects their garbage between turns, so that it counts
// for neither engine.
func (o *Options) takeTurns(ours, theirs *contender, progress *Progress) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	contenders := []*contender{ours}
	if theirs != nil {
		defer debug.SetGCPercent(debug.SetGCPercent(-1))
		contenders = append(contenders, theirs)
	}
	ours.scene.world.Trace(ours.stage)
	runtime.GC()
	collected := Allocated()
	for tick := 0; tick < o.Ticks; tick += turn {
		progress.Show("tick %d of %d", tick, o.Ticks)
		for _, c := range contenders {
			if c.now == nil {
				_, c.now = o.chooseClock()
			}
			if err := c.advance(tick, min(tick+turn, o.Ticks), o.Warmup); err != nil {
				return err
			}
		}
		if theirs != nil {
			collected.collectIfMuch()
		}
	}
	return nil
}

// advance runs the ticks [from, to) and keeps the times of those after the warm-up.
func (c *contender) advance(from, to, warmup int) error {
	before := Allocated() // allocated stops the world: do not call it between steps
	for tick := from; tick < to; tick++ {
		if tick == warmup {
			before = Allocated()
		}
		if err := c.scene.push(); err != nil {
			return err
		}
		if c.recorder != nil {
			c.recorder.Begin(-1)
		}
		clear(c.current)
		c.stageEnd = time.Now()
		start := c.now()
		if err := c.scene.step(); err != nil {
			return fmt.Errorf("after tick %d: %w", tick, err)
		}
		ns := int64(c.now() - start)
		if c.recorder != nil {
			c.recorder.End()
		}
		if tick >= warmup {
			c.keep(ns)
		}
	}
	if to > warmup {
		c.memory.add(Allocated().Since(before))
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
	c.current[i] += int64(now.Sub(c.stageEnd))
	c.stageEnd = now
}

func (c *contender) keep(ns int64) {
	c.steps = append(c.steps, ns)
	for i, stage := range c.current {
		c.stageNs[i] = append(c.stageNs[i], stage)
	}
}
