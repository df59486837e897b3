package evertick

import "github.com/evertick/evertick/internal/fault"

const (
	// modes is the number of modes: the bits of System.Modes.
	modes = 64
	// noMode is the value of Sim.planMode before a mode is known.
	noMode = -1
)

// SetMode sets the mode in which the following ticks run, 0 to 63. The program gives the numbers a
// meaning, such as menu, playing, paused. Systems run only in the modes of System.Modes, the physics
// in those of Config.PhysicsModes, and timers in those of AddTimer; everything else runs in all
// modes. A Sim begins in mode 0. A mode from 64 on is ErrRange, and nothing changes.
//
// The running tick keeps its mode to its end, so all its systems see the same one. The last call in
// a tick decides. The mode is part of the state: Snapshot, Hash, Diff and StepBack include it. If a
// system calls SetMode because of an input, a replay sets the mode as well; a call between ticks is
// in no log. Among systems that run side by side, at most one may call SetMode.
//
// To stop whole ticks use Loop: its SetPaused, SetMenu and SetPhase belong to the host and are not
// part of the state. Then no system runs, no input is taken, and Ticks does not change.
func (s *Sim) SetMode(mode uint8) error {
	if mode >= modes {
		return fault.Field(ErrRange, "evertick: SetMode: mode", mode)
	}
	s.mode = mode
	return nil
}

// Mode returns the mode of the running tick, or of the next one if none runs.
func (s *Sim) Mode() uint8 {
	if s.stepping {
		return s.tickMode
	}
	return s.mode
}

// runsIn reports whether a mode is in a set of modes; the set 0 has all.
func runsIn(set uint64, mode uint8) bool { return set == 0 || set>>mode&1 != 0 }

// sharesMode reports whether two systems can run in the same tick.
func (p *phase) sharesMode(q *phase) bool {
	return p.modes == 0 || q.modes == 0 || p.modes&q.modes != 0
}

// selectActive lists the phases that run in the mode of the tick.
func (s *Sim) selectActive() {
	for _, g := range s.plan {
		g.active = g.active[:0]
		for _, p := range g.members {
			if runsIn(p.modes, s.tickMode) {
				g.active = append(g.active, p)
			} else {
				p.ns = 0
			}
		}
	}
	s.planMode = int(s.tickMode)
}

// skip is called in place of a group in a tick in which no member runs.
func (g *group) skip() {
	if onSkip := g.members[0].onSkip; onSkip != nil { // only the module's own phases have one, and they are alone
		onSkip()
	}
}
