package evertick

import (
	"context"

	"github.com/evertick/evertick/ecs"
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

	commands *ecs.Commands // nil: those of the Sim
}

// Commands returns the list in which systems record what shall be done to the world
// behind the last of them, in the phase "commands". What observers record while it is
// applied follows in the same tick; if that goes on for more than 64 rounds it is
// ErrRange, and ends the Sim, as does ErrCapacity. The index of a tick is that of the
// entities alive when it was built: who changes them by Commands alone finds none in
// it that is not there.
//
// The list is for one goroutine. A system that works with several gives each a list
// of its own and calls World.Apply when they are done. A system that runs side by side
// with others has a list to itself, which is appended to Sim.Commands behind those of
// the systems before it.
func (t *Tick) Commands() *ecs.Commands {
	if t.commands != nil {
		return t.commands
	}
	return t.Sim.commands
}

// Time returns the simulated time at which the tick begins, exactly.
func (t *Tick) Time() loop.SimTime { return t.Sim.loop.TimeAt(t.N) }

// Rand returns random numbers that depend on the seed, the tick, the entity and
// the stream only: not on who drew before, nor on the order of entities.
func (t *Tick) Rand(entity ecs.ID, stream uint32) loop.Rand {
	return loop.NewRand(t.Sim.seed, t.N, uint64(entity), stream)
}

// phase is a system, or what the module itself does in a tick.
type phase struct {
	name string
	rank int // where in the tick: see stageRanks
	run  func(*Tick) error

	before, after, reads, writes []string // as declared
	readSet, writeSet            bitset
	solo                         bool // runs in no group

	ns     int64           // duration in the last step
	frame  int64           // duration in the running frame
	all    *loop.Histogram // nil: Config.Untimed
	labels context.Context // for pprof; nil: not asked for

	// What a system has to itself in a group, and what it leaves there.
	tick     Tick
	commands *ecs.Commands
	fault    error
	panicked *loop.PanicError
}

// Add appends a system to a stage. The name appears in Timings and in errors; a
// name that is empty or taken is ErrRange, as is an unknown stage. An error that
// run returns ends the Sim; loop.ErrStop, or what wraps it, lets the tick end as if nothing
// had been returned, and is what Step returns then. It panics if run is nil.
//
// The system may read and write everything, and runs after all that were added to the
// stage before it and before all that are added later. AddSystem can say more.
func (s *Sim) Add(stage Stage, name string, run func(*Tick) error) error {
	if run == nil {
		panic("evertick: Add: nil system")
	}
	return s.addSystem("evertick: Add", System{Name: name, Stage: stage, Run: run})
}
