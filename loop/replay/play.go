package replay

import (
	"github.com/evertick/evertick"
	"github.com/evertick/evertick/loop/worldlog"
)

// Player runs a Sim by a log, tick by tick, forwards and to any tick: for looking at
// what was. Every tick is checked against the log.
type Player struct{ p *player }

// Play opens a log. Errors are those of Verify.
func Play(dir string, sc Scenario, fsys worldlog.FS) (*Player, error) {
	p, err := open(dir, fsys, sc)
	if err != nil {
		return nil, err
	}
	return &Player{p}, nil
}

// Sim returns the Sim, to look at. It is stepped by the Player only, and may be another one
// behind a Seek.
func (p *Player) Sim() *evertick.Sim { return p.p.sim }

// Identity returns what the log was created with.
func (p *Player) Identity() worldlog.Identity { return p.p.reader.Identity() }

// Step runs the next tick. The error is io.EOF at the end of the log, and otherwise one of
// Verify, behind which the Player does not go on.
func (p *Player) Step() error { return p.p.step() }

// Seek goes to the state behind a tick, before or after the present one, as the function
// Seek does, with its errors.
func (p *Player) Seek(tick uint64) error {
	if tick+1 < p.p.sim.Ticks() {
		if err := p.p.rewind(); err != nil {
			return err
		}
	}
	return p.p.seek(tick)
}

// Live lets go of the log and returns the Sim where it stands, for inputs from Push from
// now on. To record what comes, use Fork instead.
func (p *Player) Live() (*evertick.Sim, error) {
	sim := p.p.release()
	return sim, p.p.close()
}

// Close lets go of the log.
func (p *Player) Close() error { return p.p.close() }
