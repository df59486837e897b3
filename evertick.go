package evertick

import (
	"context"
	"errors"
	"fmt"
	"runtime/pprof"
	"runtime/trace"
	"slices"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/spatial"
)

// SimVersion names the arithmetic of this release: two releases with the same
// SimVersion give the same hashes for the same scenario and inputs.
const SimVersion = 2

// Errors that this package and those below it return, wrapped: test with
// errors.Is.
var (
	ErrCapacity    = fault.ErrCapacity
	ErrNotFinite   = fault.ErrNotFinite
	ErrRange       = fault.ErrRange
	ErrStale       = fault.ErrStale
	ErrCorrupt     = fault.ErrCorrupt
	ErrUnsupported = fault.ErrUnsupported
	ErrFloatEnv    = fault.ErrFloatEnv
)

// errInterrupted stands while a step runs, and stays if a panic ends it.
var errInterrupted = errors.New("evertick: a step was entered from within a step, or broken off by a panic")

// Config of a Sim. The zero value works.
type Config struct {
	// Capacity is the number of entities that can live at once, up to 1<<24.
	// 0: ecs.DefaultCapacity.
	Capacity int
	// Seed of the random numbers that Tick.Rand draws.
	Seed uint64
	// Previous keeps the transforms of the tick before, for Sim.Interpolate.
	Previous bool
	// Loop sets the tick rate and what happens on overload; zero: 60 Hz.
	Loop loop.Config
	// Physics configures the rigid bodies. Capacity, Slots, Level and Workers, if zero, are
	// those of the Sim. A nil Engine: the solver of package physics.
	Physics physics.Config
	// Spatial configures the neighbour index. Level and Workers, if zero, are
	// those of the Sim.
	Spatial spatial.Config
	// Inputs bounds the inputs that wait for their tick.
	Inputs InputConfig
	// History keeps snapshots and inputs of past ticks, for Sim.StepBack.
	History HistoryConfig
	// Level on which kernels run. native.Auto, the zero value: the best.
	Level native.Level
	// Workers for phases that can use several, and for systems that run side by side,
	// 1 to 1024. 0: 1. Results do not depend on it.
	Workers int
	// Clock paces Run and times the phases. nil: phases are timed by the system's,
	// and Run waits as Loop.Pacing says. Its Now is called by several goroutines at
	// once where systems run side by side.
	Clock loop.Clock
	// Untimed does without what phases took: Timings, Stats and Frame.Overrun say 0, and the
	// clock is not asked. It saves 15 KiB of memory a phase and some time of short
	// ticks, which counts where there are thousands of Sims.
	Untimed bool
	// Rehearse, if it is not nil, is called by Run shortly before each tick is due, under loop.Precise
	// and within Loop.SpinBudget: a tick for which the CPU has slept takes longer, since it has forgotten
	// code and data, and what Rehearse runs and reads is fresh when the tick begins. It must change
	// nothing of the Sim; to step a twin of it, which is made alike, warms the code of all systems,
	// and Hash of World and of Physics reads their data. It is left out where there is no time for it.
	Rehearse func()
	// BudgetNs is what a tick may take, in nanoseconds, before Frame.Overrun says that
	// it took longer. 0: the length of a tick.
	BudgetNs int64
	// Recover turns a panic in a tick into an error, a *loop.PanicError that names the
	// tick and the system: that which a hook was called around, BeforeTick or AfterTick
	// for these hooks, and "inputs" for a Feed. It ends the Sim as any error does.
	Recover bool
	// CheckAccess makes a step fail with ErrRange if a system of AddSystem writes to
	// columns, tags, entities, bodies or states that its Writes do not name; the error names the
	// system and the column. For debugging: it hashes all state around each system,
	// and runs systems one by one.
	CheckAccess bool
	// Trace makes each tick a task and each phase a region of runtime/trace, while a
	// trace is being taken.
	Trace bool
	// Labels sets the pprof label "system" to the name of the phase that runs. The
	// labels that the goroutine of Step had are lost.
	Labels bool
}

// Validate reports every fault of the configuration at once.
func (c Config) Validate() error {
	_, levelErr := native.Resolve(c.Level)
	var workersErr error
	if c.Workers < 0 || c.Workers > physics.MaxWorkers {
		workersErr = fault.Field(ErrRange, "evertick: Config.Workers", c.Workers)
		c.Workers = 1 // named once, not by each part that takes it over
	}
	var budgetErr error
	if c.BudgetNs < 0 {
		budgetErr = fault.Field(ErrRange, "evertick: Config.BudgetNs", c.BudgetNs)
	}
	worldErr := ecs.Config{Capacity: c.Capacity}.Validate()
	if worldErr != nil {
		c.Capacity = 1
	}
	if levelErr != nil {
		c.Level = native.Go // named once, as above
	}
	c = c.withDefaults()
	return errors.Join(levelErr, workersErr, budgetErr, worldErr, c.Loop.Validate(), c.Physics.Validate(),
		c.Spatial.Validate(), c.Inputs.Validate(), c.History.Validate())
}

func (c Config) withDefaults() Config {
	if c.Capacity == 0 {
		c.Capacity = ecs.DefaultCapacity
	}
	if c.Workers == 0 {
		c.Workers = 1
	}
	if c.Physics.Capacity == 0 {
		c.Physics.Capacity = c.Capacity
	}
	if c.Physics.Slots == 0 {
		c.Physics.Slots = c.Capacity
	}
	if c.Physics.Level == native.Auto {
		c.Physics.Level = c.Level
	}
	if c.Physics.Workers == 0 {
		c.Physics.Workers = c.Workers
	}
	if c.Spatial.Level == native.Auto {
		c.Spatial.Level = c.Level
	}
	if c.Spatial.Workers == 0 {
		c.Spatial.Workers = c.Workers
	}
	if c.Clock == nil {
		c.Clock = new(loop.SystemClock)
	}
	return c
}

// Sim is a simulation: a world, its bodies and its index, advanced tick by tick.
// It is not safe for concurrent use.
type Sim struct {
	World   *ecs.World
	Physics *physics.World
	Index   *spatial.Index

	config Config
	level  native.Level
	ops    native.Ops
	clock  loop.Clock
	pace   loop.Clock // nil: by the Pacing of the loop
	loop   *loop.Loop
	frame  loop.Frame
	step   func(uint64) error // Step, for the loop
	n      uint64             // ticks completed
	dt     float32
	seed   uint64
	failed error

	// The running tick.
	at      uint64 // its number
	tick    Tick   // what the running phase sees
	running string // name of the phase that runs, or of the hooks
	stop    error  // of who wants to stop behind it
	calling []Hooks
	around  bool            // somebody is called around systems, which takes two readings of the clock more
	whole   bool            // while AfterTick is called: the tick is done, and failed still stands
	tracing context.Context // nil: nobody traces

	// What runs in a tick, and in which order: see arrange.
	stages      [stages][]*phase
	core        [5]*phase // what runs between the stages and behind them
	hooks       []Hooks
	resources   []string
	plan        []*group
	phases      []*phase // those of the plan
	byInsertion []Pair
	named       *access      // what systems can name
	arranged    bool         // the plan is that of all systems, and sound
	aside       *native.Pool // for groups
	watched     []ecs.ColumnHash

	// What the steps have taken, in ns.
	lap    int64           // when the last phase ended, by the clock
	total  int64           // of the last step
	totals *loop.Histogram // nil: Config.Untimed
	spent  int64           // in the running frame
	steps  uint64          // in the running frame
	times  []Timing
	stats  []PhaseStats

	commands   *ecs.Commands
	source     *WorldSource
	bodies     *ecs.Binding[physics.Body]
	generation uint64 // of the world that the bodies belong to

	inputs   inputs
	states   []namedState // by name
	incoming image        // what Restore works on
	stepping bool         // within Step
	history  history

	stateBytes, copied []byte // scratch
	slots              []ecs.Slot

	hashes    []ecs.ColumnHash
	bodyNames []string // of the physics columns, as they appear in hashes
	hash      uint64
}

// New returns a simulation at tick 0, with no entity, body or system. Errors
// are those of Config.Validate.
func New(cfg Config) (*Sim, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	pace := cfg.Clock
	cfg = cfg.withDefaults()
	if cfg.History.Keep > 0 && cfg.Physics.Engine != nil {
		return nil, fault.Field(ErrUnsupported, "evertick: Config.History.Keep with another Config.Physics.Engine", cfg.History.Keep)
	}
	s := &Sim{config: cfg, clock: cfg.Clock, pace: pace, seed: cfg.Seed, aside: native.NewPool(cfg.Workers)}
	s.step = func(uint64) error { return s.Step() }
	var errs [6]error
	s.level, errs[0] = native.Resolve(cfg.Level)
	s.ops = native.Ops{Level: s.level, Pool: native.NewPool(cfg.Workers)}
	s.World, errs[1] = ecs.New(ecs.Config{Capacity: cfg.Capacity, Previous: cfg.Previous})
	s.Physics, errs[2] = physics.New(cfg.Physics)
	s.Index, errs[3] = spatial.New(cfg.Spatial)
	s.loop, errs[4] = loop.New(cfg.Loop)
	s.inputs, errs[5] = newInputs(cfg.Inputs)
	s.history.HistoryConfig = cfg.History.withDefaults()
	s.inputs.recording = s.history.on()
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	s.dt = s.loop.Dt()
	if s.config.BudgetNs == 0 {
		s.config.BudgetNs = int64(s.loop.TimeAt(1).Ns())
	}
	s.commands = s.World.NewCommands()
	s.source = NewWorldSource(s.World)
	s.bodies = ecs.NewBinding(s.World, s.destroyBody)
	s.core = [...]*phase{
		{name: "physics.step", run: s.stepPhysics, rank: rankMiddle},
		{name: "physics.sync", run: s.syncBodies, rank: rankMiddle},
		{name: "spatial.build", run: s.buildIndex, rank: rankMiddle},
		{name: "commands", run: s.applyCommands, rank: rankEnd},
		{name: "state.hash", run: s.stateHash, rank: rankEnd},
	}
	s.totals = s.histogram()
	for _, p := range s.core {
		p.all = s.histogram()
	}
	s.hashState(0)
	return s, nil
}

// Commands returns the list of what is to be done to the world at the end of the
// running tick, or of the next if none runs: see Tick.Commands. Observers record
// here, too.
func (s *Sim) Commands() *ecs.Commands { return s.commands }

// Level returns the level on which kernels run.
func (s *Sim) Level() native.Level { return s.level }

// Config returns the configuration that s was made with, with the defaults of its own fields,
// of Physics and of Spatial filled in.
func (s *Sim) Config() Config { return s.config }

// Ticks returns the number of ticks that were completed.
func (s *Sim) Ticks() uint64 { return s.n }

// Seed returns the seed of the random numbers that Tick.Rand draws.
func (s *Sim) Seed() uint64 { return s.seed }

// Dt returns the length of a tick in seconds.
func (s *Sim) Dt() float32 { return s.dt }

// Step runs one tick. An error names the tick and the phase; the tick does not
// count, and since it was broken off half-way the Sim cannot go on: every later
// Step returns the same error, until a Restore. Only ErrFloatEnv, an error of SetInputs and
// those of Check, before anything has run, leave the Sim as it was; and what wraps
// loop.ErrStop, and is no panic with it (see Config.Recover), says that a system wants to stop
// behind this tick, which counts.
func (s *Sim) Step() (err error) {
	if s.failed != nil {
		return s.failed
	}
	if err := native.CheckFloatEnv(); err != nil {
		return fmt.Errorf("evertick: tick %d: %w", s.n, err)
	}
	if err := s.Check(); err != nil {
		return err
	}
	if err := s.beginTick(); err != nil {
		return fmt.Errorf("evertick: tick %d: history: %w", s.n, err)
	}
	tick := s.n
	defer func() { // also if a hook behind the tick panics: the tick has happened
		if s.n == tick {
			return
		}
		if e := s.endTick(); e != nil {
			err = fmt.Errorf("evertick: tick %d: history: %w", tick, e)
		}
	}()
	return s.stepOnce()
}

// stepOnce is a step of which the history knows nothing.
func (s *Sim) stepOnce() (err error) {
	s.failed, s.stop, s.stepping = errInterrupted, nil, true
	defer s.stepped() // also if there is a panic
	if s.config.Recover {
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("evertick: %w", loop.NewPanicError(s.at, s.running, v))
				s.failed = err
			}
		}()
	}
	s.at, s.running = s.n, "inputs"
	if err := s.inputs.take(s.n); err != nil {
		s.failed = nil
		return fmt.Errorf("evertick: tick %d: inputs: %w", s.n, err)
	}
	s.failed = s.tracedTick()
	if s.failed != nil {
		return s.failed
	}
	return s.stop
}

// tracedTick is runTick with the labels and the trace that Config asks for around it.
func (s *Sim) tracedTick() error {
	if s.config.Labels {
		defer pprof.SetGoroutineLabels(context.Background())
	}
	s.tracing = nil
	if s.config.Trace && trace.IsEnabled() {
		ctx, task := trace.NewTask(context.Background(), "tick")
		s.tracing = ctx
		defer task.End()
	}
	return s.runTick()
}

func (s *Sim) stepped() { s.stepping = false }

// runTick is a step without what guards it.
func (s *Sim) runTick() error {
	s.calling = s.hooks // whoever is added meanwhile is called from the next tick on
	s.around = slices.ContainsFunc(s.calling, Hooks.aroundSystems)
	start := s.now()
	s.lap = start
	s.World.KeepPrevious()
	if err := s.callBeforeTick(); err != nil {
		return err
	}
	if len(s.calling) > 0 { // what hooks have taken is not the first phase's
		s.lap = s.now()
	}
	for _, g := range s.plan {
		run := g.members
		if len(run) > 1 {
			if err := s.runGroup(g); err != nil {
				return err
			}
		} else if err := s.runPhase(run[0]); err != nil {
			return err
		}
	}
	s.tookTick(s.lap - start)
	s.n++
	return s.callAfterTick()
}

// runPhase runs a phase between its hooks, and takes its time without theirs.
func (s *Sim) runPhase(p *phase) error {
	if s.around {
		s.callBeforeSystem(p)
		s.lap = s.now()
	}
	err := s.runAlone(p)
	now := s.now()
	if err := s.verdict(p.name, err); err != nil {
		return err
	}
	p.took(now - s.lap)
	s.lap = now
	if s.around {
		s.callAfterSystem(p)
		s.lap = s.now()
	}
	return nil
}

// runAlone calls what runs by itself.
func (s *Sim) runAlone(p *phase) error {
	s.running = p.name
	if p.labels != nil {
		pprof.SetGoroutineLabels(p.labels)
	}
	if s.tracing != nil {
		defer trace.StartRegion(s.tracing, p.name).End()
	}
	if !s.config.CheckAccess {
		return p.run(s.fresh())
	}
	s.watch(p)
	if err := p.run(s.fresh()); err != nil {
		return err
	}
	return s.trespass(p)
}

// verdict returns the error that ends the Sim, naming who returned it. A wish to stop
// is kept for the end of the tick, that of the first who has one.
func (s *Sim) verdict(name string, err error) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("evertick: tick %d: %s: %w", s.at, name, err)
	if !errors.Is(err, loop.ErrStop) {
		return err
	}
	if s.stop == nil {
		s.stop = err
	}
	return nil
}

// fresh returns the Tick for whoever is called next. It is written again for each: a
// system may write to its own.
func (s *Sim) fresh() *Tick {
	s.tick = Tick{Sim: s, N: s.at, Dt: s.dt}
	return &s.tick
}

// Advance runs the ticks that have become due after elapsedNs nanoseconds of
// the host's time, by the rules of Config.Loop, and returns the frame: how many
// ticks were due, how many were dropped, and how far to interpolate. An error is
// that of Step; the ticks that did not run stay due. Frames count the ticks of
// Advance and Run, not those of Step.
//
// If the ticks of the frame took longer than Config.BudgetNs each, Frame.Overrun says by how
// much, and which phase exceeded its own median the most.
//
// Ticks is not Frame.Tick: Step, Restore and StepBack change the first only. Under
// loop.Realtime Frame.Tick counts the ticks that were skipped, too, while those that run are
// the next of the Sim all the same, with no hole in Ticks, Tick.N and Tick.Time: a Sim that
// Advance alone has driven stands at Frame.Tick - Frame.DroppedTotal.
//
// From within a step it is an error, and time does not move.
func (s *Sim) Advance(elapsedNs int64) (loop.Frame, error) {
	if s.stepping {
		return s.frame, errInterrupted
	}
	s.beginFrame()
	f, err := s.loop.Drive(elapsedNs, s.step)
	s.frame = s.endFrame(f)
	return s.frame, err
}

// Run paces the simulation until ctx is done or a step fails, as loop.Loop.Run
// does, by Config.Clock or else by the Pacing of Config.Loop. A panic ends it also under
// loop.Resume: what is due then is so for the next Run or Advance, behind a Restore or
// StepBack. From within a step it is an error.
func (s *Sim) Run(ctx context.Context) error {
	if s.stepping {
		return errInterrupted
	}
	s.beginFrame()
	return s.loop.RunWith(ctx, loop.Runner{Clock: s.pace, Step: s.step, Rehearse: s.config.Rehearse, Frame: func(f loop.Frame) {
		s.frame = s.endFrame(f)
		s.beginFrame()
	}})
}

// Loop returns what decides how many ticks a frame runs: for scales of time, freezes,
// pauses, timers, and Resume after a fault. To advance it is for Advance and Run.
func (s *Sim) Loop() *loop.Loop { return s.loop }

// Interpolate computes where to draw the entities in the last frame: as far between the
// tick before and the last one as Frame says, by ecs.World.Interpolate, into the rows
// of out. Who was put elsewhere is drawn there, not on the way: who was spawned in the last
// tick or given a body, of whom World.Jump says so, and whose body Physics.SetTransform has
// moved; after a Restore all. It changes nothing of the state. It is ErrUnsupported unless Config.Previous
// is set.
func (s *Sim) Interpolate(out *ecs.Transforms) error {
	return s.World.Interpolate(&s.ops, s.frame.Alpha32(), out)
}

// Frame returns the last frame of Advance or Run, with all that was dropped so
// far. A system that asks during Run gets the frame before.
func (s *Sim) Frame() loop.Frame { return s.frame }
