package evertick

import (
	"context"
	"errors"
	"runtime/pprof"
	"slices"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/schedule"
	"github.com/evertick/evertick/loop"
)

// Stage is a place in the tick where systems run. The constants are in the order in which the stages
// run.
type Stage uint8

const (
	// BeforePhysics is where inputs and queued actions become velocities and impulses. Index is
	// still of the last tick.
	BeforePhysics Stage = iota
	// AfterPhysics is where the events of the physics become damage, pick-ups and scores. It follows
	// physics.sync, so the columns hold the new transforms. Index is still of the last tick; the
	// index of this tick will have the entities that systems spawn and move here, and lack those that
	// they despawn. An entity that gets a body here keeps the Position that was written to it until
	// the next physics.sync. In this stage and the later ones, a value that is written to the
	// transform of an entity with a body teleports the body at the next physics.step.
	AfterPhysics
	// AfterIndex is where agents perceive, decide, and queue their actions, with the index of this
	// tick.
	AfterIndex
	// AfterCommands is for work that needs the outcome of the tick, such as a camera. It follows the
	// phase "commands". Index is of this tick: it still holds entities that commands have
	// despawned, and lacks those that they have spawned. Commands that are recorded here are applied
	// in the next tick; a snapshot contains them, a hash does not. Direct changes are in the hash of
	// this tick.
	AfterCommands
	stages
)

// Tick gives a system access to the running tick.
type Tick struct {
	Sim *Sim
	N   uint64  // ticks completed before this one
	Dt  float32 // length of the tick in seconds

	commands *ecs.Commands // nil: the Sim's
}

// Commands returns the list in which systems record changes of the world. The phase "commands"
// applies them after the last system of AfterIndex. Commands that observers record while it does
// follow in the same tick; more than 64 such rounds are ErrRange, and end the Sim, as does
// ErrCapacity. The index of a tick holds the entities that were alive when it was built: if systems
// spawn and despawn only by Commands, every entity in it is alive until that phase. What systems of
// AfterCommands record waits for the next tick.
//
// The list is for one goroutine. A system that uses several goroutines gives each a list of its own
// and calls World.Apply when they are done. A system that runs side by side with others has a list
// of its own; it is appended to Sim.Commands after the lists of the systems before it.
func (t *Tick) Commands() *ecs.Commands {
	if t.commands != nil {
		return t.commands
	}
	return t.Sim.commands
}

// Time returns the simulated time at which the tick begins, exactly.
func (t *Tick) Time() loop.SimTime { return t.Sim.loop.TimeAt(t.N) }

// Rand returns random numbers that depend on the seed, the tick, the entity and the stream only:
// not on earlier draws, nor on the order of entities.
func (t *Tick) Rand(entity ecs.ID, stream uint32) loop.Rand {
	return loop.NewRand(t.Sim.seed, t.N, uint64(entity), stream)
}

// phase is a system, or one of the module's own phases.
type phase struct {
	schedule.System // as declared

	rank   int // place in the tick: index in Sim.ranks
	run    func(*Tick) error
	onSkip func() // is called in ticks in which the phase does not run; may be nil

	ns      int64           // duration in the last step
	frameNs int64           // duration in the running frame
	times   *loop.Histogram // nil: Config.Untimed
	labels  context.Context // for pprof; nil: Config.Labels is off

	// Used only by a system in a group: its own Tick and commands, and its outcome.
	tick     Tick
	commands *ecs.Commands
	err      error
	panicked *loop.PanicError
}

// Add appends a system to a stage. The name appears in Timings and in errors. A name that is empty
// or taken, and an unknown stage, are ErrRange. An error that run returns ends the Sim, except one
// that wraps loop.ErrStop: the tick then ends as if run had returned nil, and Step returns the
// error. Add panics if run is nil. Check also reports its errors.
//
// The system may read and write everything. It runs after all systems that were added to the stage
// before it, and before all that are added later. AddSystem can declare more.
func (s *Sim) Add(stage Stage, name string, run func(*Tick) error) error {
	if run == nil {
		panic("evertick: Add: nil system")
	}
	return s.keepFault(s.addSystem("evertick: Add", System{Name: name, Stage: stage, Run: run}))
}

// System describes a system for AddSystem: what runs, where in the tick, and how it relates to
// others. All but Name and Run may be left out.
type System struct {
	// Name appears in Timings and in errors. It is unique and not empty.
	Name  string
	Stage Stage
	// Before and After name systems, or other phases, that this one runs before and after. They may
	// be added later.
	Before, After []string
	// Reads and Writes name what the system reads and writes: columns and tags of the World;
	// "position", "rotation" and "scale"; "entities" (the set of live entities, for systems that
	// spawn, despawn or reorder directly); "bodies" (Sim.Physics); "index" (Sim.Index); "rand" (which need
	// not be declared, since systems do not share the numbers of Tick.Rand); "blob.<name>" for the
	// ecs.Blobs of that name; "state.<name>" for a state of AddState; and names declared by
	// Sim.Resource. A system may read what it writes.
	// Recording in Tick.Commands does not count as writing.
	Reads, Writes []string
	// Modes has bit m set if the system runs in mode m: see Sim.SetMode. 0: in all modes. In a tick
	// of another mode its hooks are not called, and its Timing is 0. Two systems that share no mode
	// need no order, whatever they write.
	Modes uint64
	// Run is called in each tick. An error ends the Sim.
	Run func(*Tick) error
}

// AddSystem adds a system to a stage. The errors of the call itself are those of Add. Check reports
// names in Before, After, Reads and Writes that do not exist, and systems that cannot be ordered;
// the next step does so at the latest. A system that is added within a step runs from the next step
// on.
//
// # Order
//
// Within a stage, systems run in the order in which they were added, except where Before and After
// say otherwise: of the systems that may run next, the one that was added first is next. A system
// that declares neither Reads nor Writes, such as one of Add, may touch everything. It runs after
// all that were added before it and before all that were added later, unless Before and After order
// it otherwise.
//
// Two systems that write the same data, with no path of Before and After between them, are an
// error: the result would depend on which was added last. If one system writes what another reads,
// they run in the order in which they were added. So the reader sees the values of this tick or
// those of the last one. Plan lists these pairs, so that you can order them explicitly.
//
// # Side by side
//
// Systems that are neighbours in that order form a group if none has to wait for another, and run
// on Config.Workers goroutines. A system runs by itself, never in a group, if it declares neither
// Reads nor Writes, or writes "entities", "bodies" or a tag. Systems in a group spawn, despawn and
// set tags by Tick.Commands; each has a list of its own, and the lists follow each other in the
// order of the systems. Two systems that name "bodies" are never in one group, since queries to
// Physics use its scratch memory. In a group, a system may call Touch and SetPosition for columns
// and change the Blobs that it writes; they get a new version when the group is done. Calls that
// change the Sim or the World in another way, such as Add, Resource, World.Jump or Sim.Commands,
// are for systems that run by themselves. The groups, and so the results, do not depend on the
// number of workers.
//
// AddSystem trusts the declaration. Config.CheckAccess finds systems that write to something else.
func (s *Sim) AddSystem(sys System) error {
	if sys.Run == nil {
		panic("evertick: AddSystem: nil system")
	}
	return s.keepFault(s.addSystem("evertick: AddSystem", sys))
}

func (s *Sim) addSystem(caller string, sys System) error {
	if sys.Stage >= stages {
		return fault.Field(ErrRange, caller+": stage", sys.Stage)
	}
	if sys.Name == "" || s.phaseNamed(sys.Name) != nil {
		return fault.Field(ErrRange, caller+": name", sys.Name)
	}
	s.addPhase(&phase{rank: 2 * int(sys.Stage), run: sys.Run, System: schedule.System{
		Name: sys.Name, Before: slices.Clone(sys.Before), After: slices.Clone(sys.After),
		Reads: slices.Clone(sys.Reads), Writes: slices.Clone(sys.Writes), Modes: sys.Modes,
	}})
	return nil
}

func (s *Sim) addPhase(p *phase) {
	p.times = s.newHistogram()
	s.ranks[p.rank] = append(s.ranks[p.rank], p)
	s.planned = false
}

// Resource declares the name of something outside this module that systems share, so that they can
// name it in Reads and Writes. Declaring a name again changes nothing. The empty name is ErrRange,
// which Check reports, too.
func (s *Sim) Resource(name string) error {
	if name == "" {
		return s.keepFault(fault.Field(ErrRange, "evertick: Resource: name", `""`))
	}
	if !slices.Contains(s.resources, name) {
		s.resources = append(s.resources, name)
	}
	return nil
}

// Check reports every fault of the set-up at once. Step returns the same error before it begins,
// and leaves the Sim as it is.
//
// The first errors are those that Register, Add, AddSystem, AddState, AddTimer and Resource have
// returned before the first tick began, in the order of the calls. So a set-up may ignore them, and
// call Check at its end. A later call or a Restore does not remove them: a Sim without the thing that
// the call should have added must not run. To try another name after an error, build a new Sim, or
// look up the names in Plan first. After the first tick has begun these calls only return their
// errors.
//
// After them come the faults in the declarations of systems: names that do not exist, cycles, and
// systems that write the same data in no order. They are ErrRange. You can mend them: add what is
// missing, and Check no longer reports them.
func (s *Sim) Check() error {
	if s.planned {
		return nil
	}
	return s.makePlan()
}

// Plan is the order in which the phases of a tick run.
type Plan struct {
	// Groups are the phases in their order. The phases of one group run side by side.
	Groups [][]string
	// ByInsertion are the pairs of systems of which one writes what the other reads, and which run
	// in the order in which they were added because nothing else orders them.
	ByInsertion []Pair
}

// Pair is two systems, in the order in which they run, and what both name.
type Pair struct {
	First, Then string
	Name        string
}

// Plan returns the order of the next step, or the error of Check.
func (s *Sim) Plan() (Plan, error) {
	if err := s.Check(); err != nil {
		return Plan{}, err
	}
	plan := Plan{ByInsertion: slices.Clone(s.byInsertion)}
	for _, g := range s.plan {
		plan.Groups = append(plan.Groups, namesOf(g.members))
	}
	return plan, nil
}

// Systems returns the systems as they were added, in the order of Plan, or the error of Check. Phases
// of the module itself, which Plan lists too, are missing.
func (s *Sim) Systems() ([]System, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	var systems []System
	for _, g := range s.plan {
		for _, p := range g.members {
			if p.rank%2 == 0 {
				systems = append(systems, System{
					Name: p.Name, Stage: Stage(p.rank / 2), Before: slices.Clone(p.Before), After: slices.Clone(p.After),
					Reads: slices.Clone(p.Reads), Writes: slices.Clone(p.Writes), Modes: p.Modes, Run: p.run,
				})
			}
		}
	}
	return systems, nil
}

// makePlan makes the plan of the next step, in new slices, since a running Step iterates over the
// old ones. After an error the plan is the order of insertion, so that phases can be listed, and
// the next Check tries again.
func (s *Sim) makePlan() error {
	all := slices.Concat(s.ranks[:]...)
	stages := make([][]*schedule.System, len(s.ranks))
	for rank, phases := range s.ranks {
		for _, p := range phases {
			stages[rank] = append(stages[rank], &p.System)
		}
	}
	s.access = s.accessNames()
	plan, errs := schedule.Make(stages, s.access)
	s.byInsertion = nil
	for _, pair := range plan.ByInsertion {
		s.byInsertion = append(s.byInsertion, Pair(pair))
	}
	err := errors.Join(slices.Concat(s.faults, errs)...)
	if s.planned = err == nil; !s.planned {
		plan = schedule.Alone(len(all))
	}
	s.plan, s.phases, s.planMode = nil, nil, noMode
	for _, indices := range plan.Groups {
		g := &group{sim: s, active: make([]*phase, 0, len(indices))}
		for _, i := range indices {
			p := all[i]
			if len(indices) > 1 && p.commands == nil {
				p.commands = s.World.NewCommands()
			}
			if s.config.Labels && p.labels == nil { // here, so that a tick need not allocate them
				p.labels = pprof.WithLabels(context.Background(), pprof.Labels("system", p.Name))
			}
			g.members = append(g.members, p)
		}
		s.plan = append(s.plan, g)
		s.phases = append(s.phases, g.members...)
	}
	s.timings = make([]Timing, len(s.phases))
	s.stats = make([]PhaseStats, len(s.phases))
	return err
}

// accessNames lists the names that Reads and Writes may have now.
func (s *Sim) accessNames() *schedule.Names {
	names := schedule.NewNames()
	d := s.World.Describe()
	for _, c := range d.Columns {
		names.Add(c.Name)
	}
	for _, t := range d.Tags {
		names.AddTag(t.Name)
	}
	for _, b := range d.Blobs {
		names.Add(b.Column)
	}
	for i := range s.states {
		names.Add(s.states[i].column)
	}
	for _, name := range s.resources {
		names.Add(name)
	}
	return names
}

func (s *Sim) phaseNamed(name string) *phase {
	for _, phases := range s.ranks {
		for _, p := range phases {
			if p.Name == name {
				return p
			}
		}
	}
	return nil
}

func namesOf(phases []*phase) []string {
	names := make([]string, len(phases))
	for i, p := range phases {
		names[i] = p.Name
	}
	return names
}
