// Package scenes builds the worlds that tests, golden hashes and measurements share. Each scene
// registers itself in its own file, and depends on nothing but its name, its size and its seed.
//
// The scenes of [Bodies] are worlds of rigid bodies alone, the same for every engine. Bodies sleep,
// and fast ones do not pass through thin ones, only in scenes that are about that, and where NewAs
// asks for it.
//
// The scenes of [Sims] are simulations: entities that perceive, flock, come and go.
package scenes

import (
	"slices"
	"strings"

	"github.com/evertick/evertick/ecs"
)

var (
	bodies []Definition
	sims   []SimDefinition
)

// Bodies returns the scenes of bodies alone, by name.
func Bodies() []Definition {
	return slices.SortedFunc(slices.Values(bodies), func(a, b Definition) int { return strings.Compare(a.Name, b.Name) })
}

// Sims returns the scenes that are simulations, by name.
func Sims() []SimDefinition {
	return slices.SortedFunc(slices.Values(sims), func(a, b SimDefinition) int { return strings.Compare(a.Name, b.Name) })
}

// Find returns the scene of bodies with the given name.
func Find(name string) (Definition, bool) {
	i := slices.IndexFunc(bodies, func(d Definition) bool { return d.Name == name })
	if i < 0 {
		return Definition{}, false
	}
	return bodies[i], true
}

// FindSim returns the simulation with the given name.
func FindSim(name string) (SimDefinition, bool) {
	i := slices.IndexFunc(sims, func(d SimDefinition) bool { return d.Name == name })
	if i < 0 {
		return SimDefinition{}, false
	}
	return sims[i], true
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
