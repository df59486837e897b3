package evertick

// Hooks are functions that a Sim calls at fixed places of each tick: for logs, checks and
// measurements. Any of them may be nil. All run on the goroutine of Step.
//
// What a hook changes is part of the run, as if a system had done it, but is in no
// phase: whoever wants equal hashes only looks.
type Hooks struct {
	// BeforeTick is called when nothing of the tick has happened but that its inputs
	// are known: the state is what the tick before left behind. An error ends the Sim
	// as one of a system does.
	BeforeTick func(*Tick) error
	// AfterTick is called when the tick is complete: Sim.Hash is that of the state it left
	// behind, Sim.Ticks counts it, and Tick.N is still its number. An error of it ends
	// the Sim too, but the tick has happened, and counts.
	AfterTick func(*Tick) error
	// BeforeSystem and AfterSystem are called around each phase, those that are no systems
	// included, with its name as Timings lists it. AfterSystem is not called for one that
	// has failed. Of systems that run side by side all are announced, in their order,
	// before the first begins, and told done, in the same order, after the last.
	BeforeSystem, AfterSystem func(t *Tick, system string)
}

// AddHooks adds hooks, which are called behind those added before: within a step, from
// the next one on. There is no way to take them away.
func (s *Sim) AddHooks(h Hooks) {
	s.hooks = append(s.hooks, h)
}

// aroundSystems reports whether h has to be called around each system.
func (h Hooks) aroundSystems() bool { return h.BeforeSystem != nil || h.AfterSystem != nil }

func (s *Sim) callBeforeTick() error {
	s.running = "BeforeTick"
	for i := range s.calling {
		if f := s.calling[i].BeforeTick; f != nil {
			if err := s.verdict(s.running, f(s.fresh())); err != nil {
				return err
			}
		}
	}
	return nil
}

// callAfterTick is called when the tick is counted.
func (s *Sim) callAfterTick() error {
	s.running = "AfterTick"
	s.whole = true
	defer func() { s.whole = false }()
	for i := range s.calling {
		if f := s.calling[i].AfterTick; f != nil {
			if err := s.verdict(s.running, f(s.fresh())); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Sim) callBeforeSystem(p *phase) {
	s.running = p.name
	for i := range s.calling {
		if f := s.calling[i].BeforeSystem; f != nil {
			f(s.fresh(), p.name)
		}
	}
}

func (s *Sim) callAfterSystem(p *phase) {
	s.running = p.name
	for i := range s.calling {
		if f := s.calling[i].AfterSystem; f != nil {
			f(s.fresh(), p.name)
		}
	}
}
