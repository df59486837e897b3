package train

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/evertick/evertick/internal/fault"
)

// registry has the definitions of Register.
var registry struct {
	sync.Mutex
	m map[string]Definition
}

// Register lets ByName return a definition by its name, which the shared libraries of package clib do. Call it from an init function. It panics if the definition is not valid, or if there is another one
// of that name.
func Register(def Definition) {
	if err := def.Validate(); err != nil {
		panic(err.Error())
	}
	registry.Lock()
	defer registry.Unlock()
	if _, twice := registry.m[def.Name]; twice {
		panic("train: Register: there is already a definition named " + def.Name)
	}
	if registry.m == nil {
		registry.m = map[string]Definition{}
	}
	registry.m[def.Name] = def
}

// Names returns the names of all definitions of Register, sorted.
func Names() []string {
	registry.Lock()
	defer registry.Unlock()
	return slices.Sorted(maps.Keys(registry.m)) // order-free: sorted
}

// ByName returns the definition of Register with that name. Another is ErrRange.
func ByName(name string) (Definition, error) {
	registry.Lock()
	def, ok := registry.m[name]
	registry.Unlock()
	if !ok {
		return def, fmt.Errorf("%w: one of %v", fault.Field(fault.ErrRange, "train: name", fmt.Sprintf("%.80q", name)), Names())
	}
	return def, nil
}
