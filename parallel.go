package evertick

import (
	"errors"
	"fmt"
	"runtime/pprof"
	"runtime/trace"

	"github.com/evertick/evertick/loop"
)

// group is systems that need not wait for each other. It is the native.Task of itself.
type group struct {
	sim     *Sim
	members []*phase
}

// errGone is the error of a system that has ended its goroutine, as runtime.Goexit does.
var errGone = errors.New("the system ended its goroutine")

// runGroup runs systems side by side. All of them run to their end, whoever fails, so
// that the fault told is always that of the first in their order.
func (s *Sim) runGroup(g *group) error {
	defer g.forget()
	if s.around {
		for _, p := range g.members {
			s.callBeforeSystem(p)
		}
	}
	if err := s.runMembers(g); err != nil {
		return fmt.Errorf("evertick: tick %d: %s: %w", s.at, namesOf(g.members), err)
	}
	for _, p := range g.members {
		if err := s.endMember(p); err != nil {
			return err
		}
	}
	if s.around {
		for _, p := range g.members {
			s.callAfterSystem(p)
		}
	}
	s.lap = s.now()
	return nil
}

// runMembers returns an error only if the results must not be looked at.
func (s *Sim) runMembers(g *group) error {
	s.World.HoldTouches()
	defer s.World.ReleaseTouches()
	if !s.config.CheckAccess {
		return s.aside.Run(len(g.members), g)
	}
	for _, p := range g.members { // one by one, to see who wrote
		s.watch(p)
		s.runAside(p)
		if err := s.trespass(p); p.fault == nil {
			p.fault = err
		}
	}
	return nil
}

// forget empties the lists of a group that has failed, so that nothing is left of it when
// the Sim is restored.
func (g *group) forget() {
	for _, p := range g.members {
		if p.commands.Len() > 0 {
			p.commands.Reset()
		}
	}
}

// Do runs one system of the group.
func (g *group) Do(_, i int) { g.sim.runAside(g.members[i]) }

// runAside runs a system on whatever goroutine and leaves what came of it in p.
func (s *Sim) runAside(p *phase) {
	p.fault, p.panicked = errGone, nil
	defer func() {
		if v := recover(); v != nil {
			p.panicked = loop.NewPanicError(s.at, p.name, v)
		}
	}()
	if p.labels != nil {
		pprof.SetGoroutineLabels(p.labels)
	}
	if s.tracing != nil {
		defer trace.StartRegion(s.tracing, p.name).End()
	}
	start := s.now()
	p.tick = Tick{Sim: s, N: s.at, Dt: s.dt, commands: p.commands}
	p.fault = p.run(&p.tick)
	p.ns = s.now() - start
}

// endMember takes over what a system of a group has left.
func (s *Sim) endMember(p *phase) error {
	if p.panicked != nil {
		panic(p.panicked)
	}
	if err := s.verdict(p.name, p.fault); err != nil {
		return err
	}
	p.took(p.ns)
	if p.commands.Len() > 0 {
		s.commands.Append(p.commands)
	}
	return nil
}
