package evertick

import (
	"context"
	"errors"
	"fmt"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/spatial"
)

// SimVersion names the arithmetic of this release: two releases with the same
// SimVersion give the same hashes for the same scenario and inputs.
const SimVersion = 1

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
	// Physics configures the rigid bodies. Capacity, Level and Workers, if zero, are those
	// of the Sim. A nil Engine: the solver of package physics.
	Physics physics.Config
	// Spatial configures the neighbour index. Level and Workers, if zero, are
	// those of the Sim.
	Spatial spatial.Config
	// Level on which kernels run. native.Auto, the zero value: the best.
	Level native.Level
	// Workers for phases that can use several, 1 to 1024. 0: 1. Results do not
	// depend on it.
	Workers int
	// Clock paces Run and times the phases. nil: the system's.
	Clock loop.Clock
}

// Validate reports every fault of the configuration at once.
func (c Config) Validate() error {
	_, levelErr := native.Resolve(c.Level)
	var workersErr error
	if c.Workers < 0 || c.Workers > physics.MaxWorkers {
		workersErr = fault.Field(ErrRange, "evertick: Config.Workers", c.Workers)
		c.Workers = 1 // named once, not by each part that takes it over
	}
	worldErr := ecs.Config{Capacity: c.Capacity}.Validate()
	if worldErr != nil {
		c.Capacity = 1
	}
	if levelErr != nil {
		c.Level = native.Go // named once, as above
	}
	c = c.withDefaults()
	return errors.Join(levelErr, workersErr, worldErr, c.Loop.Validate(), c.Physics.Validate(),
		c.Spatial.Validate())
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

	level  native.Level
	ops    native.Ops
	clock  loop.Clock
	loop   *loop.Loop
	frame  loop.Frame
	step   func(uint64) error // Step, for the loop
	n      uint64             // ticks completed
	dt     float32
	seed   uint64
	tick   Tick // what the running phase sees
	stages [stages][]*phase
	core   [5]*phase // what runs between the stages and behind them
	phases []*phase  // all, in the order in which they run
	times  []Timing  // what Timings returns
	total  int64     // duration of the last step, ns
	failed error

	commands   *ecs.Commands
	source     *WorldSource
	bodies     *ecs.Binding[physics.Body]
	generation uint64 // of the world that the bodies belong to

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
	cfg = cfg.withDefaults()
	s := &Sim{clock: cfg.Clock, seed: cfg.Seed}
	s.step = func(uint64) error { return s.Step() }
	var errs [5]error
	s.level, errs[0] = native.Resolve(cfg.Level)
	s.ops = native.Ops{Level: s.level, Pool: native.NewPool(cfg.Workers)}
	s.World, errs[1] = ecs.New(ecs.Config{Capacity: cfg.Capacity, Previous: cfg.Previous})
	s.Physics, errs[2] = physics.New(cfg.Physics)
	s.Index, errs[3] = spatial.New(cfg.Spatial)
	s.loop, errs[4] = loop.New(cfg.Loop)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	s.dt = s.loop.Dt()
	s.commands = s.World.NewCommands()
	s.source = NewWorldSource(s.World)
	s.bodies = ecs.NewBinding(s.World, s.destroyBody)
	s.core = [...]*phase{
		{name: "physics.step", run: s.stepPhysics},
		{name: "physics.sync", run: s.syncBodies},
		{name: "spatial.build", run: s.buildIndex},
		{name: "commands", run: s.applyCommands},
		{name: "state.hash", run: s.stateHash},
	}
	s.order()
	s.hashState(0)
	return s, nil
}

// Commands returns the list of what is to be done to the world at the end of the
// running tick, or of the next if none runs: see Tick.Commands. Observers record
// here, too.
func (s *Sim) Commands() *ecs.Commands { return s.commands }

// Level returns the level on which kernels run.
func (s *Sim) Level() native.Level { return s.level }

// Ticks returns the number of ticks that were completed.
func (s *Sim) Ticks() uint64 { return s.n }

// Dt returns the length of a tick in seconds.
func (s *Sim) Dt() float32 { return s.dt }

// Step runs one tick. An error names the tick and the phase; the tick does not
// count, and since it was broken off half-way the Sim cannot go on: every later
// Step returns the same error. Only ErrFloatEnv before anything has run leaves
// the Sim as it was.
func (s *Sim) Step() error {
	if s.failed != nil {
		return s.failed
	}
	if err := native.CheckFloatEnv(); err != nil {
		return fmt.Errorf("evertick: tick %d: %w", s.n, err)
	}
	s.failed = errInterrupted
	s.World.KeepPrevious()
	start := s.clock.Now()
	before := start
	for _, p := range s.phases {
		s.tick = Tick{Sim: s, N: s.n, Dt: s.dt} // again for each: a system may write to its own
		if err := p.run(&s.tick); err != nil {
			s.failed = fmt.Errorf("evertick: tick %d: %s: %w", s.n, p.name, err)
			return s.failed
		}
		now := s.clock.Now()
		p.ns = now - before
		before = now
	}
	s.total = before - start
	s.n++
	s.failed = nil
	return nil
}

// Advance runs the ticks that have become due after elapsedNs nanoseconds of
// the host's time, by the rules of Config.Loop, and returns the frame: how many
// ticks were due, how many were dropped, and how far to interpolate. An error is
// that of Step; the ticks that did not run stay due. Frames count the ticks of
// Advance and Run, not those of Step.
func (s *Sim) Advance(elapsedNs int64) (loop.Frame, error) {
	var err error
	s.frame, err = s.loop.Drive(elapsedNs, s.step)
	return s.frame, err
}

// Run paces the simulation by the clock until ctx is done or a step fails.
func (s *Sim) Run(ctx context.Context) error {
	return s.loop.Run(ctx, s.clock, s.step, func(f loop.Frame) { s.frame = f })
}

// Interpolate computes where to draw the entities in the last frame: as far between the
// tick before and the last one as Frame says, by ecs.World.Interpolate, into the rows
// of out. It is ErrUnsupported unless Config.Previous is set.
func (s *Sim) Interpolate(out *ecs.Transforms) error {
	return s.World.Interpolate(&s.ops, float32(s.frame.Alpha), out)
}

// Frame returns the last frame of Advance or Run, with all that was dropped so
// far. A system that asks during Run gets the frame before.
func (s *Sim) Frame() loop.Frame { return s.frame }
