package evertick

import (
	"slices"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop"
)

// Stage is a place in the tick where systems run.
type Stage uint8

const (
	// BeforePhysics is where inputs and queued actions become velocities and
	// impulses. Index is still that of the last tick.
	BeforePhysics Stage = iota
	// AfterIndex is where agents perceive, decide, and queue their actions.
	AfterIndex
	stages
)

// Tick is what a system gets to see of the tick that runs.
type Tick struct {
	Sim *Sim
	N   uint64  // ticks completed before this one
	Dt  float32 // length of the tick in seconds
}

// Commands returns the list in which systems record what shall be done to the world
// behind the last of them, in the phase "commands". What observers record while it is
// applied follows in the same tick; if that goes on for more than 64 rounds it is
// ErrRange, and ends the Sim, as does ErrCapacity. The index of a tick is that of the
// entities alive when it was built: who changes them by Commands alone finds none in
// it that is not there.
//
// The list is for one goroutine. A system that works with several gives each a list
// of its own and calls World.Apply when they are done.
func (t *Tick) Commands() *ecs.Commands { return t.Sim.commands }

// Rand returns random numbers that depend on the seed, the tick, the entity and
// the stream only: not on who drew before, nor on the order of entities.
func (t *Tick) Rand(entity ecs.ID, stream uint32) loop.Rand {
	return loop.NewRand(t.Sim.seed, t.Sim.n, uint64(entity), stream)
}

// Timing is the duration of a phase in the last step, in nanoseconds.
type Timing struct {
	Phase string
	Ns    int64
}

type phase struct {
	name string
	run  func(*Tick) error
	ns   int64 // duration in the last step
}

// Add appends a system to a stage. The name appears in Timings and in errors; a
// name that is empty or taken is ErrRange, as is an unknown stage. An error that
// run returns ends the Sim. It panics if run is nil.
func (s *Sim) Add(stage Stage, name string, run func(*Tick) error) error {
	if run == nil {
		panic("evertick: Add: nil system")
	}
	if stage >= stages {
		return fault.Field(ErrRange, "evertick: Add: stage", stage)
	}
	if name == "" || s.hasPhase(name) {
		return fault.Field(ErrRange, "evertick: Add: name", name)
	}
	s.stages[stage] = append(s.stages[stage], &phase{name: name, run: run})
	s.order()
	return nil
}

func (s *Sim) hasPhase(name string) bool {
	for _, p := range s.phases {
		if p.name == name {
			return true
		}
	}
	return false
}

// order lists the phases as they run, in a new slice: a system added by a system
// comes in with the next step, since Step walks over the list that it began with.
func (s *Sim) order() {
	s.phases = slices.Concat(s.stages[BeforePhysics], s.core[:3], s.stages[AfterIndex], s.core[3:])
	s.times = make([]Timing, len(s.phases))
}

// Timings returns the duration of each phase of the last step, in the order in
// which they ran, and of the whole step. What the phases do not account for is
// spent between them. A system added since then is listed with 0 ns. The slice
// is the Sim's own and valid until the next step or Add.
func (s *Sim) Timings() (phases []Timing, stepNs int64) {
	for i, p := range s.phases {
		s.times[i] = Timing{p.name, p.ns}
	}
	return s.times, s.total
}
