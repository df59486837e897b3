// Package scenes builds the worlds that tests, golden hashes and measurements share. Each scene
// registers itself in its own file, and depends only on its name, its size and its seed.
//
// The scenes of [Bodies] are worlds of rigid bodies alone, the same for every engine. Bodies sleep,
// and fast ones do not pass through thin ones, only in scenes for which that matters, and if NewAs
// asks for it.
//
// The scenes of [Sims] are simulations: entities that perceive, flock, come and go.
package scenes

import (
	"maps"
	"slices"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
)

var (
	bodies = map[string]Definition{}
	sims   = map[string]SimDefinition{}
)

// register adds a scene, which must have a name of its own.
func register[D any](scenes map[string]D, name string, d D) {
	if _, taken := scenes[name]; taken {
		panic("scenes: two scenes of one name")
	}
	scenes[name] = d
}

func registerBodies(all ...Definition) {
	for _, d := range all {
		register(bodies, d.Name, d)
	}
}

func byName[D any](scenes map[string]D) (all []D) {
	for _, name := range slices.Sorted(maps.Keys(scenes)) {
		all = append(all, scenes[name])
	}
	return all
}

// Bodies returns the scenes of bodies alone, by name.
func Bodies() []Definition { return byName(bodies) }

// Sims returns the scenes that are simulations, by name.
func Sims() []SimDefinition { return byName(sims) }

// Find returns the scene of bodies with the given name.
func Find(name string) (Definition, bool) {
	d, ok := bodies[name]
	return d, ok
}

// FindSim returns the simulation with the given name.
func FindSim(name string) (SimDefinition, bool) {
	d, ok := sims[name]
	return d, ok
}

// Streams of random numbers, one for each use, so that no two uses share one.
const (
	streamPlace uint32 = iota
	streamStir
	streamWander
	streamBlob
	streamChurn
	streamBirth

	streamPush     = streamStir // of bodies alone
	streamCommands = 100
)

// addColumns adds columns to the world and stores their values.
func addColumns(w *ecs.World, columns ...namedColumn) error {
	for _, c := range columns {
		column, err := ecs.AddColumn[float32](w, c.name)
		if err != nil {
			return err
		}
		*c.values = column.Values()
	}
	return nil
}

type namedColumn struct {
	name   string
	values *[]float32
}

// SimDefinition describes a scene that is a simulation.
type SimDefinition struct {
	Name, Help string
	Params     Params // the usual ones
	InSpace    bool   // bodies are in space, which no other engine moves

	build func(Params, evertick.Config) (*Sim, error)
}

// Params of a simulation. Lengths are metres. A scene without a parameter has 0 there.
type Params struct {
	Entities   int // alive, of which:
	Agents     int
	Bodies     int
	Perceivers int     // that perceive in a tick, in turns
	Restless   bool    // bodies are pushed about; else they stay at rest
	Area       float32 // edge of the walled square
	Radius     float32 // of perception
	Spread     string  // how the entities are distributed: one of Spreads

	Ticks       int // of a measurement, warm-up included
	Warmup      int // of these
	MaxEntities int // 0: the size of the scene is fixed
	MaxBodies   int // 0: so is the number of bodies
}

// Sim is a scene that is a simulation.
type Sim struct {
	*evertick.Sim
	Params   Params
	Counters []Counter

	agents *agents // nil: a scene without
	swarm  *swarm  // nil: another scene
}

// Counter is something that a scene counts in each step.
type Counter struct {
	Name string
	Read func() int64
}

// New builds the scene. cfg provides seed, level, workers and, in tests, another physics engine;
// capacity and cells are the scene's.
func (d *SimDefinition) New(p Params, cfg evertick.Config) (*Sim, error) { return d.build(p, cfg) }

type system struct {
	stage evertick.Stage
	name  string
	run   func(*evertick.Tick) error
}

func addSystems(sim *evertick.Sim, systems ...system) error {
	for _, s := range systems {
		if err := sim.Add(s.stage, s.name, s.run); err != nil {
			return err
		}
	}
	return nil
}
