package replay

import (
	"context"
	"errors"
	"io"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/worldlog"
)

// VerifyOptions of Verify. The zero value works.
type VerifyOptions struct {
	// FS is where the log is. nil: worldlog.OS.
	FS worldlog.FS
	// Progress, if not nil, is called after every tick.
	Progress func(tick uint64)
}

// Report is what Verify found.
type Report struct {
	Identity worldlog.Identity
	Ticks    uint64 // that agree with the log
	Inputs   uint64 // applied in them
	Hash     uint64 // after the last of them
	Chain    [32]byte
	// Torn is set if the log ends within a tick, as after a crash; the ticks before it have been
	// verified.
	Torn bool
}

// Verify runs the whole log again, from tick 0 or, if ticks were archived or dropped, as Play does, and compares the state hash after each
// tick. The error is a *DivergedError at the first tick that differs; ErrUnsupported, naming
// both values, for the log of another scenario, SimVersion, rate, capacity or set of columns;
// or that of a damaged log. The report covers the ticks before it.
func Verify(dir string, sc Scenario, opt VerifyOptions) (Report, error) {
	p, err := Play(dir, sc, opt.FS)
	if err != nil {
		return Report{}, err
	}
	rep := Report{Identity: p.reader.Identity()}
	for err == nil {
		if err = p.Step(); err == nil {
			rep.Ticks++
			rep.Hash = p.tick.Hash
			rep.Chain = p.reader.Chain()
			for range inputsOf(p.tick) {
				rep.Inputs++
			}
			if opt.Progress != nil {
				opt.Progress(p.tick.Tick)
			}
		}
	}
	if rep.Torn = errors.Is(err, worldlog.ErrTorn); rep.Torn || err == io.EOF {
		err = nil
	}
	return rep, errors.Join(err, p.Close())
}

// Seek returns a Sim in the state after a tick: restored from the nearest snapshot that
// is whole, and run from there, with every hash checked. It takes live inputs from then on.
// A tick that the log does not have is ErrRange; other errors are those of Verify.
func Seek(dir string, sc Scenario, tick uint64, fsys worldlog.FS) (*evertick.Sim, error) {
	return seek(dir, sc, tick, fsys, (*Player).Seek)
}

// SeekPlain is Seek without snapshots: it runs all ticks up to that one.
func SeekPlain(dir string, sc Scenario, tick uint64, fsys worldlog.FS) (*evertick.Sim, error) {
	return seek(dir, sc, tick, fsys, func(p *Player, tick uint64) error {
		return p.run(context.Background(), tick, nil)
	})
}

func seek(dir string, sc Scenario, tick uint64, fsys worldlog.FS, how func(*Player, uint64) error) (*evertick.Sim, error) {
	p, err := Play(dir, sc, fsys)
	if err != nil {
		return nil, err
	}
	err = how(p, tick)
	sim, closeErr := p.Live()
	if err := errors.Join(err, closeErr); err != nil {
		return nil, err
	}
	return sim, nil
}

// Resume continues where a log ends: it recovers the log as worldlog.Recover does, brings a Sim to
// the state after the last whole tick, and records from there. The report says what a crash has
// cost. Errors are those of worldlog.Recover and of Verify.
func Resume(dir string, sc Scenario, opt Options) (*Recorder, *evertick.Sim, *worldlog.Report, error) {
	log, rep, err := worldlog.Recover(dir, opt.Log)
	if err != nil {
		return nil, nil, nil, err
	}
	sim, err := resume(dir, sc, log, rep, opt.Log.FS)
	if err != nil {
		return nil, nil, rep, errors.Join(err, log.Close())
	}
	return attach(sim, log, opt), sim, rep, nil
}

// resume returns a Sim in the state after the last tick of a log that was recovered.
func resume(dir string, sc Scenario, log *worldlog.Log, rep *worldlog.Report, fsys worldlog.FS) (*evertick.Sim, error) {
	if rep.Ticks > 0 {
		return Seek(dir, sc, rep.Tick, fsys)
	}
	sim, err := newSim(sc, rep.Identity)
	if err == nil {
		err = appendFirst(log, sim) // no tick was whole, so the first records are gone
	}
	return sim, err
}

// newSim returns a Sim before the first tick of a log.
func newSim(sc Scenario, id worldlog.Identity) (*evertick.Sim, error) {
	if err := checkIdentity(sc, id); err != nil {
		return nil, err
	}
	return sc.build(id.Seed)
}
