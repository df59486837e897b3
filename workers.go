package evertick

import (
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
)

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
	c := &s.config
	if c.Physics.Engine == nil {
		if err := s.Physics.SetWorkers(workers); err != nil {
			return err
		}
		c.Physics.Workers = workers
	}
	if err := s.Index.SetWorkers(workers); err != nil {
		return err
	}
	c.Workers, c.Spatial.Workers = workers, workers
	s.groupPool, s.ops.Pool = native.NewPool(workers), native.NewPool(workers)
	return nil
}
