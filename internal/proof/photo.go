package proof

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
)

// Photo is the state of a scene before and after one tick, in a form that is the same on
// every machine, with hashes before and after each system.
type Photo struct {
	Build  string
	Seed   uint64
	Tick   uint64 // counted from 1
	Before State
	After  State
	Trace  []Moment
	Error  string // with which the tick failed, if it did; After is empty then
}

// State is everything that two runs can differ in.
type State struct {
	Columns []ecs.ColumnHash // of the Sim
	Stages  []ecs.ColumnHash // of the solver in this step
	Sim     []byte           // evertick.Sim.Snapshot; empty if the Sim has failed
}

// Moment is the hashes before or after a system ran.
type Moment struct {
	System         string
	After          bool
	World, Physics uint64
	Attached       uint64 `json:",omitempty"` // of solvers that Config.Extend has attached
}

func (s *Scene) state() (State, error) {
	snapshot, err := s.Sim.Snapshot(nil)
	return State{
		Columns: append([]ecs.ColumnHash(nil), s.Sim.ColumnHashes()...),
		Stages:  append([]ecs.ColumnHash(nil), s.Sim.Physics.StageHashes()...),
		Sim:     snapshot,
	}, err
}

// PhotoAt runs the scene and photographs the given tick, counted from 1.
func PhotoAt(c Config, tick uint64) (*Photo, error) {
	p, err := photograph(c, tick, func(n, _ uint64) bool { return n == tick })
	if err == nil && p == nil {
		err = fault.Field(fault.ErrRange, "proof: PhotoAt: tick", tick)
	}
	return p, err
}

// PhotoOfDifference runs the scene and photographs the first tick after which its hash is not
// that of the recording. It returns nil if there is none.
func PhotoOfDifference(c Config, from *Recording) (*Photo, error) {
	return photograph(c, uint64(len(from.Hashes)), func(n, hash uint64) bool { return hash != from.Hashes[n-1] })
}

func photograph(c Config, ticks uint64, wanted func(tick, hash uint64) bool, extra ...evertick.Hooks) (*Photo, error) {
	c.Stages = true
	s, err := New(c)
	if err != nil {
		return nil, err
	}
	p := &Photo{Build: s.build(c), Seed: c.Seed}
	for _, h := range extra {
		s.Sim.AddHooks(h)
	}
	look := func(system string, after bool) {
		p.Trace = append(p.Trace, Moment{system, after, s.Sim.World.Hash(), s.Sim.Physics.Hash(), s.attached(c)})
	}
	s.Sim.AddHooks(evertick.Hooks{
		BeforeSystem: func(_ *evertick.Tick, system string) { look(system, false) },
		AfterSystem:  func(_ *evertick.Tick, system string) { look(system, true) },
	})
	for p.Tick < ticks {
		p.Tick++
		p.Trace = p.Trace[:0]
		if p.Before, err = s.state(); err != nil {
			return nil, err
		}
		if failed := s.Step(); failed != nil {
			p.Error = failed.Error()
			return p, nil
		}
		if wanted(p.Tick, s.Sim.Hash()) {
			p.After, err = s.state()
			return p, err
		}
	}
	return nil, nil
}

// attached returns the hash of what Config.Extend has attached.
func (s *Scene) attached(c Config) uint64 {
	if c.Extend == nil {
		return 0
	}
	s.hashes = s.Sim.AppendColumnHashes(s.hashes[:0])
	s.hashes = slices.DeleteFunc(s.hashes, func(h ecs.ColumnHash) bool { return !strings.HasPrefix(h.Name, "physics3.") })
	return ecs.Fold(s.hashes)
}

// scene returns the scene in a state.
func (p *Photo) scene(st *State, extend func(*evertick.Sim) error) (*Scene, error) {
	s, err := New(Config{Seed: p.Seed, Extend: extend})
	if err == nil {
		err = s.Sim.Restore(st.Sim)
	}
	if err != nil {
		return nil, fmt.Errorf("proof: photo of %s: %w", p.Build, err)
	}
	return s, nil
}
