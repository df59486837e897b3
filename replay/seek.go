package replay

import (
	"context"
	"fmt"
	"io"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/worldlog"
)

// Seek goes to the state after a tick, before or after the present one, as the function
// Seek does, with its errors. It finds ticks that were written after the log was opened. After an error the
// Player can seek again.
func (p *Player) Seek(tick uint64) error { return p.SeekContext(context.Background(), tick, nil) }

// SeekContext is Seek that ends early, with the error of ctx, once ctx is done. The Player is then after
// a whole tick, or at tick 0, and goes on from there. It calls progress, if that is not nil, after every tick
// that it runs, with the number of that tick.
func (p *Player) SeekContext(ctx context.Context, tick uint64, progress func(at uint64)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if tick > maxTick {
		return fault.Field(fault.ErrRange, "replay: tick", tick)
	}
	if err := p.below(tick); err != nil {
		return err
	}
	if err := p.approach(tick); err != nil {
		return err
	}
	return p.run(ctx, tick, progress)
}

// maxTick is the last tick that a log can have.
const maxTick = 1<<63 - 1

// approach brings the Sim near the state after a tick, and not beyond it: if it must go back or far, to the
// nearest snapshot that can be restored and has the hash of the log.
func (p *Player) approach(tick uint64) error {
	near := p.cache.before(tick)
	if p.failed || p.sim.Ticks() > tick+1 || near != nil && near.ticks > p.sim.Ticks() {
		if err := p.back(tick); err != nil {
			return err
		}
	}
	if p.cache.limit > 0 && tick+1-p.sim.Ticks() <= cacheEvery {
		return nil // listing the snapshots may take longer
	}
	snapshots, err := worldlog.Snapshots(p.dir, p.fsys)
	if err != nil {
		return err
	}
	for i := len(snapshots) - 1; i >= 0; i-- {
		at := snapshots[i].Tick
		if at < p.sim.Ticks() { // the Sim is there, or beyond
			break
		}
		if at > tick {
			continue
		}
		if p.jump(at) {
			break
		}
		if err := p.back(tick); err != nil {
			return err
		}
	}
	return nil
}

// jump restores the snapshot of a tick, and reports whether it could. If not, the Player
// is in no known state.
func (p *Player) jump(tick uint64) bool {
	p.failed = true
	s, err := worldlog.LoadSnapshotUpTo(p.dir, p.fsys, tick, p.limit)
	if err != nil || p.reader.SeekAfter(s) != nil {
		return false
	}
	p.failed = p.sim.Restore(s.Data) != nil || p.sim.Hash() != s.Hash || p.sim.Ticks() != tick+1
	return !p.failed
}

// back goes to the latest cached snapshot from which the state after a tick can be reached, or to tick 0.
func (p *Player) back(tick uint64) error {
	p.failed = true
	near := p.cache.before(tick)
	if near == nil || p.sim.Restore(near.data) != nil {
		return p.Rewind()
	}
	if err := p.reader.Seek(near.ticks); err != nil {
		return err
	}
	p.failed = false
	return nil
}

// Rewind goes back to the state before the first tick, or to the first state that the log gives, in a Sim that the scenario
// builds anew.
func (p *Player) Rewind() error {
	p.failed = true
	sim, err := p.sc.build(p.reader.Identity().Seed)
	if err != nil {
		return err
	}
	p.use(sim)
	if p.floor > 0 {
		if !p.jump(p.floor - 1) {
			return fmt.Errorf("replay: the snapshot of tick %d, from which the log was run, cannot be restored any more: %w", p.floor-1, fault.ErrCorrupt)
		}
		return nil
	}
	if err := p.reader.Seek(0); err != nil {
		return err
	}
	p.failed = false
	return nil
}

// again steps at the end of a log, which may have grown.
func (p *Player) again() error {
	if err := p.Refresh(); err != nil {
		return err
	}
	return p.Step()
}

// run steps until the given tick has run.
func (p *Player) run(ctx context.Context, tick uint64, progress func(at uint64)) error {
	if err := p.below(tick); err != nil {
		return err
	}
	for p.sim.Ticks() <= tick {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := p.Step()
		if ended(err) {
			err = p.again()
		}
		if err == io.EOF {
			return fmt.Errorf("%w, the log has %d ticks", fault.Field(fault.ErrRange, "replay: tick", tick), p.sim.Ticks())
		}
		if err != nil {
			return err
		}
		if tick-p.tick.Tick < cacheEvery {
			p.cacheState(cacheNear)
		}
		if progress != nil {
			progress(p.tick.Tick)
		}
	}
	return nil
}
