package scenes

import (
	"github.com/evertick/evertick"
)

// SimDefinition describes a scene that is a simulation.
type SimDefinition struct {
	Name, Help string
	Params     Params // the usual ones

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

	Ticks       int // of a measurement, warm-up included
	Warmup      int // of these
	MaxEntities int // 0: the size of the scene is fixed
}

// Sim is a scene that is a simulation.
type Sim struct {
	*evertick.Sim
	Params   Params
	Counters []Counter

	agents *agents // nil: a scene without
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
