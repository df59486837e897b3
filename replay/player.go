package replay

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/worldlog"
)

// DivergedError says where a replay differs from the log. It wraps ErrDiverged.
type DivergedError struct {
	Tick      uint64
	Want, Got uint64 // state hashes after it: in the log, and in the replay
	// Columns names those whose hashes differ, if the log has them for this tick.
	Columns []string
	// Where is the first difference of the two states, the log's state first, if the log has a
	// snapshot of this tick; nil otherwise.
	Where *evertick.Difference
}

// Error implements error.
func (e *DivergedError) Error() string {
	text := fmt.Sprintf("replay: tick %d: hash %016x, the log has %016x", e.Tick, e.Got, e.Want)
	if len(e.Columns) > 0 {
		text += "; columns " + strings.Join(e.Columns, ", ")
	} else if e.Where == nil {
		text += "; to learn which column, record with Options.ColumnTicks = 1"
	}
	if e.Where != nil {
		text += "; " + e.Where.String()
	}
	return text + ": " + ErrDiverged.Error()
}

// Unwrap returns ErrDiverged.
func (e *DivergedError) Unwrap() error { return ErrDiverged }

// Player runs a Sim from a log, tick by tick, forwards and to any tick, for inspecting the past. It
// checks every tick against the log.
type Player struct {
	rerun
	dir    string
	fsys   worldlog.FS
	sc     Scenario
	reader *worldlog.Reader
	limit  int    // bytes of a snapshot
	failed bool   // the last tick has failed or diverged: go on from a snapshot or from the first state
	floor  uint64 // ticks of the first state that the log gives; 0, unless ticks were archived or dropped
	cache  snapshotCache
}

// Play opens a log at its first tick, or, if ticks were archived or dropped (see worldlog.Options.Retention), after its oldest
// snapshot from which it can be run. Errors are those of Verify.
func Play(dir string, sc Scenario, fsys worldlog.FS) (*Player, error) {
	reader, err := worldlog.OpenReader(dir, fsys)
	if err != nil {
		return nil, err
	}
	p := &Player{dir: dir, fsys: fsys, sc: sc, reader: reader}
	if err := p.begin(); err != nil {
		return nil, errors.Join(err, reader.Close())
	}
	return p, nil
}

func (p *Player) begin() error {
	sim, err := newSim(p.sc, p.reader.Identity())
	if err != nil {
		return err
	}
	p.use(sim)
	p.limit = p.sc.maxSnapshot(p.sim)
	first, err := p.reader.Next()
	if err == io.EOF {
		return p.reader.Seek(0)
	}
	if err == nil && first.Tick > 0 {
		return p.beginLater(first.Tick)
	}
	if err == nil {
		err = checkFirst(p.sim, first)
	}
	if err != nil {
		return err
	}
	return p.reader.Seek(0)
}

// beginLater goes to the oldest snapshot from which a log can be run whose first tick is the given one.
func (p *Player) beginLater(tick uint64) error {
	snapshots, err := worldlog.Snapshots(p.dir, p.fsys)
	if err != nil {
		return err
	}
	for _, s := range snapshots {
		if s.Tick+1 < tick {
			continue
		}
		if p.jump(s.Tick) {
			p.floor = s.Tick + 1
			return nil
		}
		sim, err := newSim(p.sc, p.reader.Identity())
		if err != nil {
			return err
		}
		p.use(sim)
	}
	return fmt.Errorf("replay: the log begins with tick %d, and has no snapshot from which it can be run: %w", tick, fault.ErrCorrupt)
}

// below returns the error for a tick before the first state.
func (p *Player) below(tick uint64) error {
	if tick+1 >= p.floor {
		return nil
	}
	return fmt.Errorf("%w, the log can be run after tick %d", fault.Field(fault.ErrRange, "replay: tick", tick), p.floor-1)
}

// Sim returns the Sim, for inspection. Only the Player may step it, and a Seek may replace it.
func (p *Player) Sim() *evertick.Sim { return p.sim }

// Identity returns the Identity that the log was created with.
func (p *Player) Identity() worldlog.Identity { return p.reader.Identity() }

// Close closes the log.
func (p *Player) Close() error { return p.reader.Close() }

// Live closes the log and returns the Sim in its present state, which takes inputs from Push
// from now on. To record them, use Fork instead.
func (p *Player) Live() (*evertick.Sim, error) {
	return p.live(), p.Close()
}

// next reads the next tick, io.EOF at the end of the log.
func (p *Player) next() error {
	t, err := p.reader.Next()
	if err != nil {
		return err
	}
	return p.take(t)
}

// Refresh makes Step go on after the end of a log that is still being written: see worldlog.Reader.Refresh.
func (p *Player) Refresh() error { return p.reader.Refresh() }

// Step runs the next tick. The error is io.EOF at the end of the log, and otherwise one of
// Verify, after which the Player goes on only after a Seek.
func (p *Player) Step() error {
	if err := p.next(); err != nil {
		return err
	}
	p.failed = true
	if err := p.rerun.run(); err != nil {
		return p.located(err)
	}
	p.failed = false
	p.cacheState(cacheEvery)
	return nil
}

// located adds to a *DivergedError where the states differ, if the log has a snapshot of the tick.
func (p *Player) located(err error) error {
	var e *DivergedError
	if !errors.As(err, &e) {
		return err
	}
	if theirs, err := p.loaded(e.Tick); err == nil {
		if d, found := evertick.Diff(theirs, p.sim); found {
			e.Where = &d
		}
	}
	return e
}

// loaded builds a Sim from the snapshot of a tick.
func (p *Player) loaded(tick uint64) (*evertick.Sim, error) {
	s, err := worldlog.LoadSnapshotUpTo(p.dir, p.fsys, tick, p.limit)
	if err != nil {
		return nil, err
	}
	sim, err := p.sc.build(s.Identity.Seed)
	if err != nil {
		return nil, err
	}
	return sim, sim.Restore(s.Data)
}

// differing names the columns whose hashes are not equal, or that only one has.
func differing(a, b []ecs.ColumnHash) []string {
	var names []string
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i].Name == b[j].Name:
			if a[i].Hash != b[j].Hash {
				names = append(names, a[i].Name)
			}
			i++
			j++
		case slices.ContainsFunc(b[j:], func(c ecs.ColumnHash) bool { return c.Name == a[i].Name }):
			names = append(names, b[j].Name)
			j++
		default:
			names = append(names, a[i].Name)
			i++
		}
	}
	for ; i < len(a); i++ {
		names = append(names, a[i].Name)
	}
	for ; j < len(b); j++ {
		names = append(names, b[j].Name)
	}
	return names
}
