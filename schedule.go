package evertick

import (
	"context"
	"errors"
	"fmt"
	"runtime/pprof"
	"slices"
	"strings"

	"github.com/evertick/evertick/internal/fault"
)

// System describes a system for AddSystem: what runs, where in the tick, and what it
// needs to know of others. All but Name and Run may be left out.
type System struct {
	// Name appears in Timings and in errors. It is not empty, and nobody else's.
	Name  string
	Stage Stage
	// Before and After name systems, or other phases, that this one runs before and
	// after. They may be added later.
	Before, After []string
	// Reads and Writes name what the system reads and writes: columns and tags of the
	// World; "position", "rotation" and "scale"; "entities" (who lives: to spawn and
	// despawn directly); "bodies" (Sim.Physics); "index" (Sim.Index); "rand" (which nobody
	// needs to declare: numbers of Tick.Rand are nobody's); "state.<name>", what AddState
	// has added; and what Sim.Resource has declared. What is written may be read, too. What is recorded in Tick.Commands
	// is not written by the system.
	Reads, Writes []string
	// Run is called in each tick. An error ends the Sim.
	Run func(*Tick) error
}

// AddSystem adds a system to a stage. The errors of the call itself are those of Add;
// whether the names in Before, After, Reads and Writes exist, and what order follows,
// is for Check to say, at the next step at the latest. A system that is added within a
// step comes in with the next.
//
// # Order
//
// Within a stage, systems run as they were added, except where Before and After say
// otherwise: of those that may come next, the one that was added first is next. A
// system that declares neither Reads nor Writes, as those of Add, may touch
// everything: it comes after all that were added before it and before all
// that were added later, unless Before and After lead elsewhere.
//
// Two systems that write the same, with no path of Before and After between them, are
// an error: the result would depend on who was added last. One that writes what another
// reads comes before it or after it as they were added, and sees the values of this
// tick or of the last accordingly; Plan lists these pairs, for those who want none.
//
// # Side by side
//
// Neighbours in that order form a group if none has to wait for another, and run on
// Config.Workers goroutines. Never in a group, but by itself, is a system that declares
// neither Reads nor Writes, and one that writes "entities", "bodies" or a tag: in a
// group, entities come and go and tags are set by Tick.Commands, of which each system has
// a list of its own; they follow each other as their systems do. Two systems that
// name "bodies" are not in one group either, since queries to Physics use memory of its
// own. In a group, Touch and SetPosition may be called for columns that the system
// writes; they give a column its new version when the group is done. What else changes
// the Sim or the World, such as Add, Resource, World.Jump or Sim.Commands, is for systems
// that run by themselves. The groups, and so the results, do not depend on the number of
// workers.
//
// What is declared is believed. Config.CheckAccess finds who writes to something else.
func (s *Sim) AddSystem(sys System) error {
	if sys.Run == nil {
		panic("evertick: AddSystem: nil system")
	}
	return s.addSystem("evertick: AddSystem", sys)
}

func (s *Sim) addSystem(who string, sys System) error {
	if sys.Stage >= stages {
		return fault.Field(ErrRange, who+": stage", sys.Stage)
	}
	if sys.Name == "" || s.hasPhase(sys.Name) {
		return fault.Field(ErrRange, who+": name", sys.Name)
	}
	p := &phase{
		all:  s.histogram(),
		name: sys.Name, rank: stageRanks[sys.Stage], run: sys.Run,
		before: slices.Clone(sys.Before), after: slices.Clone(sys.After),
		reads: slices.Clone(sys.Reads), writes: slices.Clone(sys.Writes),
	}
	s.stages[sys.Stage] = append(s.stages[sys.Stage], p)
	s.arranged = false
	return nil
}

// Resource declares the name of something that systems share and that is not of this
// module, so that they can name it in Reads and Writes. To declare it again changes
// nothing. The empty name is ErrRange.
func (s *Sim) Resource(name string) error {
	if name == "" {
		return fault.Field(ErrRange, "evertick: Resource: name", `""`)
	}
	if !slices.Contains(s.resources, name) {
		s.resources = append(s.resources, name)
	}
	return nil
}

// Check reports every fault in what systems declare at once: names that do not exist,
// orders that go in a circle, systems that write the same in no order. They are
// ErrRange. Step returns the same before it begins, and leaves the Sim as it is: what
// is missing can still be added.
func (s *Sim) Check() error {
	if s.arranged {
		return nil
	}
	return s.arrange()
}

// Plan is the order in which the phases of a tick run.
type Plan struct {
	// Groups are the phases in their order. Those of one group run side by side.
	Groups [][]string
	// ByInsertion are the pairs of systems of which one writes what the other reads and
	// whose order is that in which they were added, since nothing else decides it.
	ByInsertion []Pair
}

// Pair is two systems, in the order in which they run, and what both name.
type Pair struct {
	First, Then string
	Name        string
}

// Plan returns how the next step will run, or the error of Check.
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

func namesOf(phases []*phase) []string {
	names := make([]string, len(phases))
	for i, p := range phases {
		names[i] = p.name
	}
	return names
}

// A phase's rank says where it runs: the stages, and what runs between and behind them.
var stageRanks = [stages]int{BeforePhysics: 0, AfterIndex: 2}

const (
	rankMiddle = 1
	rankEnd    = 3
)

// arrange makes the plan of the next step, in new slices, since Step walks over the
// plan that it began with. After an error the plan is the order of insertion, for
// those who list phases, and stays to be made.
func (s *Sim) arrange() error {
	var errs []error
	access := s.accessNames()
	s.named, s.plan, s.byInsertion = access, nil, nil
	for stage := range s.stages {
		if stage == int(AfterIndex) {
			s.plan = append(s.plan, alone(s.core[:3])...)
		}
		o := newOrdering(s.stages[stage])
		errs = append(errs, o.resolve(access)...)
		errs = append(errs, s.declaredEdges(o)...)
		errs = append(errs, o.complete()...)
		s.byInsertion = append(s.byInsertion, o.byInsertion...)
		s.plan = append(s.plan, o.groups(s)...)
	}
	s.plan = append(s.plan, alone(s.core[3:])...)
	err := errors.Join(errs...)
	if err != nil {
		s.plan = alone(slices.Concat(s.stages[BeforePhysics], s.core[:3], s.stages[AfterIndex], s.core[3:]))
	}
	s.arranged = err == nil
	s.phases = s.phases[:0:0]
	for _, g := range s.plan {
		s.phases = append(s.phases, g.members...)
	}
	s.times = make([]Timing, len(s.phases))
	s.stats = make([]PhaseStats, len(s.phases))
	for _, p := range s.phases {
		s.label(p)
	}
	return err
}

// label makes the labels of a phase so that a tick need not.
func (s *Sim) label(p *phase) {
	if s.config.Labels && p.labels == nil {
		p.labels = pprof.WithLabels(context.Background(), pprof.Labels("system", p.name))
	}
}

// list brings the list of phases up to date; what is wrong with it, Check says.
func (s *Sim) list() {
	if !s.arranged {
		_ = s.arrange()
	}
}

// alone makes a group of each phase.
func alone(phases []*phase) []*group {
	groups := make([]*group, len(phases))
	for i, p := range phases {
		groups[i] = &group{members: []*phase{p}}
	}
	return groups
}

// declaredEdges adds what Before and After say.
func (s *Sim) declaredEdges(o *ordering) (errs []error) {
	for i, p := range o.systems {
		for _, name := range p.before {
			errs = append(errs, s.declaredEdge(o, i, "Before", name)...)
		}
		for _, name := range p.after {
			errs = append(errs, s.declaredEdge(o, i, "After", name)...)
		}
	}
	return errs
}

func (s *Sim) declaredEdge(o *ordering, i int, field, name string) []error {
	p := o.systems[i]
	other := s.phaseNamed(name)
	if other == nil {
		return []error{fmt.Errorf("evertick: system %s: %s = %q, which no system is called%s: %w",
			p.name, field, name, near(name, s.systemNames()), ErrRange)}
	}
	if other.rank != p.rank {
		if (other.rank > p.rank) == (field == "Before") {
			return nil // the stages see to it
		}
		return []error{fmt.Errorf("evertick: system %s: %s = %s, which runs in another stage: %w", p.name, field, name, ErrRange)}
	}
	j := slices.Index(o.systems, other)
	if field == "After" {
		i, j = j, i
	}
	if circle := o.declare(i, j); circle != nil {
		return []error{fmt.Errorf("evertick: systems in a circle: %s: %w", strings.Join(circle, " → "), ErrRange)}
	}
	return nil
}

func (s *Sim) phaseNamed(name string) *phase {
	for _, list := range [...][]*phase{s.stages[BeforePhysics], s.stages[AfterIndex], s.core[:]} {
		for _, p := range list {
			if p.name == name {
				return p
			}
		}
	}
	return nil
}

func (s *Sim) hasPhase(name string) bool { return s.phaseNamed(name) != nil }

func (s *Sim) systemNames() []string {
	return namesOf(slices.Concat(s.stages[BeforePhysics], s.core[:3], s.stages[AfterIndex], s.core[3:]))
}
