package evertick

import (
	"cmp"
	"context"
	"errors"
	"math"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/history"
	"github.com/evertick/evertick/internal/schedule"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/spatial"
)

// SimVersion names the arithmetic of this release: two releases with the same SimVersion give the
// same hashes for the same scenario and inputs.
const SimVersion = 4

// Errors that this package and those below it return, wrapped: test with errors.Is.
var (
	ErrCapacity    = fault.ErrCapacity
	ErrNotFinite   = fault.ErrNotFinite
	ErrRange       = fault.ErrRange
	ErrStale       = fault.ErrStale
	ErrCorrupt     = fault.ErrCorrupt
	ErrUnsupported = fault.ErrUnsupported
	ErrFloatEnv    = fault.ErrFloatEnv
)

// Config of a Sim. The zero value works.
type Config struct {
	// Capacity is the number of entities that can live at once, up to 1<<24. 0:
	// ecs.DefaultCapacity.
	Capacity int
	// Seed of the random numbers that Tick.Rand draws.
	Seed uint64
	// Previous keeps the transforms of the tick before, for Sim.Interpolate.
	Previous bool
	// Loop sets the tick rate and what happens on overload; zero: 60 Hz.
	Loop loop.Config
	// Physics configures the rigid bodies. Capacity, Slots, Level and Workers, if zero, are those
	// of the Sim. A nil Engine: the solver of package physics.
	Physics physics.Config
	// PhysicsModes has bit m set if the phases physics.step and physics.sync, and those of solvers that Attach adds, run in
	// mode m: see Sim.SetMode. 0: in all modes. In a tick of another mode bodies and their entities rest, and
	// Physics.Events is empty from the place of physics.step on. Forces add up until the next
	// physics.step. Values that are written to the transforms of entities take effect in it, and so
	// do bodies that are created or teleported.
	PhysicsModes uint64
	// Spatial configures the neighbour index. Level and Workers, if zero, are taken from the Sim.
	Spatial spatial.Config
	// Reorder keeps the rows of the entities in the order of the index, which makes neighbour work on many
	// entities faster. The zero value: a row never moves.
	Reorder ReorderPolicy
	// Inputs bounds the inputs that wait for their tick.
	Inputs InputConfig
	// History keeps snapshots and inputs of past ticks, for Sim.StepBack.
	History HistoryConfig
	// Level on which kernels run. native.Auto, the zero value: the best.
	Level native.Level
	// Workers for phases that can use several, and for systems that run side by side, 1 to 1024. 0:
	// 1. Results do not depend on it.
	Workers int
	// Clock paces Run and times the phases. nil: the system's clock times the phases, and Run waits
	// as Loop.Pacing says. Where systems run side by side, several goroutines call Now at once.
	Clock loop.Clock
	// Untimed turns the timing of phases off: Timings, Stats and Frame.Overrun report 0, and the
	// clock is read only for Publishers and Inputs.Arrivals. It saves 15 KiB of memory a phase, and
	// some time in short ticks, which matters where there are thousands of Sims.
	Untimed bool
	// HashOnDemand leaves the hash of a tick to the first call of Hash or ColumnHashes after it, which then takes
	// longer: for Sims whose hashes are rarely read. Each tick still looks for NaN. The hash is of the state at that
	// call, so call it before changing the state. Within a tick, but for AfterTick hooks, these calls
	// panic.
	HashOnDemand bool
	// Rehearse, if not nil, is called by Run shortly before each tick is due, under loop.Precise
	// and within Loop.SpinBudget. A tick takes longer after the CPU has slept, because code and
	// data have left the caches. What Rehearse runs and reads is in the caches when the tick
	// begins. It must not change the Sim. To warm the code of all systems, step a twin that is
	// built alike; to read the data, call Hash of World and of Physics. Run skips Rehearse when
	// there is no time for it.
	Rehearse func()
	// BudgetNs is the time that a tick may take, in nanoseconds, before Frame.Overrun reports that
	// it took longer. 0: the length of a tick.
	BudgetNs int64
	// Recover turns a panic in a tick into an error, a *loop.PanicError. It names the tick and the
	// place: the system (also for a hook that was called around the system), BeforeTick or
	// AfterTick for these hooks, or "inputs" for a Feed. Like any error it ends the Sim.
	Recover bool
	// CheckAccess makes a step fail with ErrRange if a system of AddSystem writes to columns, tags, blobs,
	// entities, bodies or states that its Writes do not name; the error names the system and the
	// column. For debugging: it hashes all state around each system, and runs systems one by one.
	CheckAccess bool
	// CheckRender makes a step or Run fail with ErrRange if a callback that may only read has changed
	// the state or recorded commands. The error names the callback and the column. CheckRender checks
	// the hooks of AddHooks. In Run and RunFrames it also checks the function that draws a frame,
	// Rehearse, and whether other code, such as another goroutine, has written between the steps of
	// two frames. Between calls of Step and Advance a host may change the Sim, and observers of the
	// World may write, so these are not checked. It cannot find changes that no hash covers: of versions
	// of columns, events of the physics, the index, and inputs that wait. For debugging: it hashes all
	// state around each call.
	CheckRender bool
	// Trace makes each tick a task and each phase a region of runtime/trace, while a trace is being
	// taken.
	Trace bool
	// Labels sets the pprof label "system" to the name of the phase that runs. The labels that the
	// goroutine of Step had are lost.
	Labels bool
}

// Validate reports every fault of the configuration at once.
func (c Config) Validate() error {
	_, levelErr := native.Resolve(c.Level)
	workersErr := fault.Between("evertick: Config.Workers", c.Workers, 0, physics.MaxWorkers)
	budgetErr := fault.Between("evertick: Config.BudgetNs", c.BudgetNs, 0, math.MaxInt64)
	worldErr := ecs.Config{Capacity: c.Capacity}.Validate()
	// A faulty value is named once, not again by each part that inherits it.
	if workersErr != nil {
		c.Workers = 1
	}
	if worldErr != nil {
		c.Capacity = 1
	}
	if levelErr != nil {
		c.Level = native.Go
	}
	c = c.withDefaults()
	return errors.Join(levelErr, workersErr, budgetErr, worldErr, c.Loop.Validate(), c.Physics.Validate(),
		c.Spatial.Validate(), c.Reorder.validate(), c.Inputs.validate(), c.History.validate())
}

func (c Config) withDefaults() Config {
	c.Capacity = cmp.Or(c.Capacity, ecs.DefaultCapacity)
	c.Workers = cmp.Or(c.Workers, 1)
	c.Physics.Capacity = cmp.Or(c.Physics.Capacity, c.Capacity)
	c.Physics.Slots = cmp.Or(c.Physics.Slots, c.Capacity)
	c.Physics.Level = cmp.Or(c.Physics.Level, c.Level)
	c.Physics.Workers = cmp.Or(c.Physics.Workers, c.Workers)
	c.Spatial.Level = cmp.Or(c.Spatial.Level, c.Level)
	c.Spatial.Workers = cmp.Or(c.Spatial.Workers, c.Workers)
	if c.Clock == nil {
		c.Clock = new(loop.SystemClock)
	}
	return c
}

// Sim is a simulation: a world, its bodies and its index, advanced tick by tick. It is not safe for
// concurrent use, except that any goroutine may call Push, InputStats, Timeline, Level and Config,
// and Read of its Monitor. The reader of a Publisher runs on a goroutine of its own.
type Sim struct {
	World   *ecs.World
	Physics *physics.World
	Index   *spatial.Index
	// Solvers are those that Attach has added, in their order, for tools. Only read them: the Sim has a list of its own.
	Solvers []*Solver

	config   Config
	level    native.Level
	ops      native.Ops
	clock    loop.Clock
	runClock loop.Clock // of Run; nil: Run waits as the Pacing of the loop says
	loop     *loop.Loop
	frame    loop.Frame
	step     func(uint64) error // Step, for the loop
	ticks    uint64             // completed
	dt       float32
	seed     uint64
	failed   error
	begun    bool    // the first tick has begun: the set-up is over
	faults   []error // of the set-up, for Check

	// The running tick.
	stepping    bool // within Step
	inFrame     bool // within the function of RunFrames
	inAfterTick bool // the tick is complete, although failed is still errInterrupted
	tickN       uint64
	tickMode    uint8
	tick        Tick   // passed to the running phase
	running     string // name of the phase that runs, or of the hooks
	stopErr     error  // the first error that asks to stop after this tick
	tickHooks   []*Hooks
	systemHooks bool            // some of tickHooks are called around systems, which takes two more readings of the clock
	traceCtx    context.Context // nil: no trace is being taken

	// The phases of a tick and their order: see makePlan.
	ranks       [2 * stages][]*phase // systems by stage at even ranks, the module's own phases after each stage at odd ones
	hooks       []*Hooks
	resources   []string
	plan        []*group
	planned     bool     // the plan covers all systems and has no fault
	planMode    int      // the mode for which the groups list their active members; noMode: they do not yet
	phases      []*phase // in the order of the plan
	byInsertion []Pair
	access      *schedule.Names
	groupPool   *native.Pool
	watched     []ecs.ColumnHash // of the state before a system or hook, for CheckAccess and CheckRender

	// Durations of steps, in ns.
	lap        int64           // when the last phase ended, on the clock
	stepNs     int64           // of the last step
	stepTimes  *loop.Histogram // nil: Config.Untimed
	frameNs    int64           // in the running frame
	frameSteps uint64          // in the running frame
	frameTicks uint64          // ticks at the end of the last frame
	frameAt    int64           // when the first step of the frame began, on the clock, if there are publishers
	timings    []Timing
	monitor    *Monitor // nil before the first call of Monitor
	stats      []PhaseStats

	commands   *ecs.Commands
	source     *worldSource
	solvers    []*Solver // the one of Physics first, then those of Attach
	bodySlots  []uint32  // Slot of Physics.Columns, which is too large to copy for each lookup
	shifts     uint64    // calls of ShiftOrigin
	third      float64   // of Origin, along the axis that Physics lacks, unless an attached solver has an Origin
	generation uint64    // of the world that the bodies belong to

	publishers []*Publisher

	mode      uint8 // of the next tick
	timers    []*Timer
	inputs    inputs
	states    []namedState // by name
	restoring restoring
	history   history.Store

	stateBytes, copyBuffer []byte     // scratch
	slots                  []ecs.Slot // scratch
	order                  []ecs.Slot // of a reorder
	moveErr                error      // the first one of moveBodySlots since the last Restore; the next step returns it

	hashes     []ecs.ColumnHash
	nextHashes []ecs.ColumnHash // scratch memory of hashTick
	hash       uint64
	hashDue    bool // hashes and hash are of an earlier tick: see Config.HashOnDemand
}

// New returns a simulation at tick 0, with no entity, body or system. Errors are those of
// Config.Validate.
func New(cfg Config) (*Sim, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	runClock := cfg.Clock
	cfg = cfg.withDefaults()
	if cfg.History.Keep > 0 && cfg.Physics.Engine != nil {
		return nil, fault.Field(ErrUnsupported, "evertick: Config.History.Keep with another Config.Physics.Engine", cfg.History.Keep)
	}
	s := &Sim{config: cfg, clock: cfg.Clock, runClock: runClock, seed: cfg.Seed, groupPool: native.NewPool(cfg.Workers)}
	s.step = func(uint64) error {
		s.updateTimeline()
		return s.Step()
	}
	var errs [6]error
	s.level, errs[0] = native.Resolve(cfg.Level)
	s.ops = native.Ops{Level: s.level, Pool: native.NewPool(cfg.Workers)}
	s.World, errs[1] = ecs.New(ecs.Config{Capacity: cfg.Capacity, Previous: cfg.Previous})
	s.Physics, errs[2] = physics.New(cfg.Physics)
	s.Index, errs[3] = spatial.New(cfg.Spatial)
	s.loop, errs[4] = loop.New(cfg.Loop)
	s.inputs, errs[5] = newInputs(cfg.Inputs)
	s.history.Config = history.Config(cfg.History.withDefaults())
	s.inputs.recording = s.history.On()
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	s.dt = s.loop.Dt()
	s.config.BudgetNs = cmp.Or(cfg.BudgetNs, int64(s.loop.TimeAt(1).Ns()))
	s.commands = s.World.NewCommands()
	s.source = newWorldSource(s.World)
	s.attach(s.newPlane(), bodyPrefix)
	s.bodySlots = s.Physics.Columns().Slot
	s.World.OnReorder(s.moveBodySlots)
	s.addOwnPhases()
	s.stepTimes = s.newHistogram()
	if cfg.Inputs.Arrivals != nil {
		s.inputs.clock = s.clock
		s.inputs.clockAt = s.clock.Now()
	}
	s.updateTimeline()
	s.hashState(0)
	return s, nil
}

// addOwnPhases adds the phases of the module itself besides those of solvers. They follow the systems of a stage.
func (s *Sim) addOwnPhases() {
	s.addOwnPhase(AfterPhysics, "spatial.build", 0, s.buildIndex, nil)
	if s.config.Reorder != (ReorderPolicy{}) {
		s.addOwnPhase(AfterPhysics, "world.reorder", 0, s.reorder, nil)
	}
	s.addOwnPhase(AfterIndex, "commands", 0, s.applyCommands, nil)
	s.addOwnPhase(AfterCommands, "state.hash", 0, s.hashTick, nil)
}

func (s *Sim) addOwnPhase(stage Stage, name string, modes uint64, run func(*Tick) error, onSkip func()) {
	s.addPhase(&phase{System: schedule.System{Name: name, Modes: modes}, rank: 2*int(stage) + 1, run: run, onSkip: onSkip})
}

// Commands returns the list of commands that the phase "commands" of the running tick applies to the
// world, or of the next tick if no tick runs or the phase is over: see Tick.Commands. Observers
// record here, too.
func (s *Sim) Commands() *ecs.Commands { return s.commands }

// Level returns the level on which kernels run.
func (s *Sim) Level() native.Level { return s.level }

// Config returns the configuration that s was made with, with the defaults of its own fields, of
// Physics and of Spatial filled in.
func (s *Sim) Config() Config { return s.config }

// Ticks returns the number of completed ticks.
func (s *Sim) Ticks() uint64 { return s.ticks }

// Seed returns the seed of the random numbers that Tick.Rand draws.
func (s *Sim) Seed() uint64 { return s.seed }

// Dt returns the length of a tick in seconds.
func (s *Sim) Dt() float32 { return s.dt }

// SetWorkers replaces Config.Workers, and the workers of Physics and Index, from the next tick on. The number never
// changes a result and is not part of the state. It is 1 to 1024: others are ErrRange, and nothing changes. An engine of
// Config.Physics keeps its own number. SetWorkers panics within a step.
func (s *Sim) SetWorkers(workers int) error {
	if s.stepping {
		panic("evertick: SetWorkers within a step")
	}
	if err := fault.Between("evertick: SetWorkers: workers", workers, 1, physics.MaxWorkers); err != nil {
		return err
	}
	for _, v := range s.solvers {
		if v.SetWorkers == nil {
			continue
		}
		if err := v.SetWorkers(workers); err != nil {
			return err
		}
	}
	c := &s.config
	if err := s.Index.SetWorkers(workers); err != nil {
		return err
	}
	c.Workers, c.Spatial.Workers = workers, workers
	s.groupPool, s.ops.Pool = native.NewPool(workers), native.NewPool(workers)
	return nil
}

// Register adds the columns, tags and blobs that a struct declares to the World, and sets its fields
// to their handles: see ecs.World.Register. Check also reports its errors. After an error no field is
// set, so a set-up looks at the error, or calls Check, before it uses the columns.
func (s *Sim) Register(columns any) error { return s.keepFault(s.World.Register(columns)) }

// keepFault keeps an error of the set-up for Check, and returns it.
func (s *Sim) keepFault(err error) error {
	if err != nil && !s.begun {
		s.faults = append(s.faults, err)
		s.planned = false
	}
	return err
}
