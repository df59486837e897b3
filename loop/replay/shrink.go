package replay

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/loop/worldlog"
)

// ErrNoFailure is wrapped by the error of Shrink for a log that does not fail.
var ErrNoFailure = errors.New("the run does not fail")

// Failure reports whether a run has failed. It is called after every tick; err is nil, or
// the error of the tick that ended the run. It must depend on its arguments alone.
type Failure func(sim *evertick.Sim, err error) bool

// ShrinkOptions of Shrink. The zero value works.
type ShrinkOptions struct {
	// Log says how the new log is written. Its FS holds both logs.
	Log worldlog.Options
	// MaxRuns ends the search after so many runs, with the best so far. 0: no limit.
	MaxRuns int
	// Progress, if not nil, is called after every run, with the number of runs so far and the
	// number of inputs that are left.
	Progress func(runs, inputs int)
}

// ShrinkReport is what Shrink has found.
type ShrinkReport struct {
	Was    int    // inputs of the old log
	Inputs int    // of the new one
	Tick   uint64 // in which it fails, and the last of the new log
	Runs   int    // that it took
	// Minimal is set if none of the inputs can be left out; not set if MaxRuns ended the search.
	Minimal bool
}

// Shrink finds a part of the inputs of a log with which the run still fails, so small that no
// single input can be left out. It writes a new log with these inputs up to the tick that fails. It
// uses delta debugging: about as many runs as inputs, and fewer if few matter. The same log and
// failure give the same result.
//
// The tick of a failure with an error is in the new log too, with hash 0, as it has no state:
// Verify reproduces the error. Errors wrap ErrNoFailure if the log does not fail to begin
// with, or are those of Verify and Record.
func Shrink(dir string, sc Scenario, newDir string, fails Failure, opt ShrinkOptions) (ShrinkReport, error) {
	s := &shrinker{sc: sc, fails: fails, opt: opt}
	if err := s.read(dir); err != nil {
		return ShrinkReport{}, err
	}
	rep := ShrinkReport{Was: len(s.inputs)}
	failed, err := s.run(s.inputs)
	if err == nil && !failed {
		err = fmt.Errorf("replay: Shrink: %d ticks of %q: %w", s.ticks, sc.Name, ErrNoFailure)
	}
	if err == nil {
		rep.Minimal, err = s.search()
	}
	if err != nil {
		return rep, err
	}
	rep.Inputs, rep.Tick, rep.Runs = len(s.inputs), s.ticks-1, s.runs
	return rep, s.write(newDir)
}

type shrinker struct {
	sc     Scenario
	fails  Failure
	opt    ShrinkOptions
	id     worldlog.Identity
	inputs []Applied // the best so far
	ticks  uint64    // up to and including the one that fails
	runs   int
}

func (s *shrinker) read(dir string) error {
	p, err := Play(dir, s.sc, s.opt.Log.FS) // which checks that the log is of the scenario
	if err != nil {
		return err
	}
	s.id = p.Identity()
	if err := p.Close(); err != nil {
		return err
	}
	err = export(dir, s.opt.Log.FS, func(t *worldlog.Tick) error {
		s.ticks = t.Tick + 1
		for in, err := range inputsOf(t) {
			if err != nil {
				return err
			}
			in.Data = slices.Clone(in.Data)
			s.inputs = append(s.inputs, Applied{t.Tick, in})
		}
		return nil
	})
	if errors.Is(err, worldlog.ErrTorn) { // as after a crash
		return nil
	}
	return err
}

// feedOf returns a Feed of a list, which is sorted by ticks.
func feedOf(list []Applied) evertick.Feed {
	return func(tick uint64, dst []evertick.Input) ([]evertick.Input, error) {
		i, _ := slices.BinarySearchFunc(list, tick, func(a Applied, tick uint64) int { return cmp.Compare(a.At, tick) })
		for ; i < len(list) && list[i].At == tick; i++ {
			dst = append(dst, list[i].Input)
		}
		return dst, nil
	}
}

// run runs the Sim with the inputs of list. If that fails they are the best so far.
func (s *shrinker) run(list []Applied) (bool, error) {
	sim, err := s.sc.build(s.id.Seed)
	if err != nil {
		return false, err
	}
	sim.SetInputs(feedOf(list))
	failed := false
	for tick := uint64(0); tick < s.ticks && !failed; tick++ {
		err := step(sim)
		if failed = s.fails(sim, err); failed {
			s.ticks = tick + 1
			n := slices.IndexFunc(list, func(a Applied) bool { return a.At > tick })
			if n < 0 {
				n = len(list)
			}
			s.inputs = list[:n]
		}
		if err != nil {
			break
		}
	}
	s.runs++
	if s.opt.Progress != nil {
		s.opt.Progress(s.runs, len(s.inputs))
	}
	return failed, nil
}

// search leaves out parts, halves first and then smaller ones, until no single input can be
// left out. It reports false if MaxRuns ended it before.
func (s *shrinker) search() (bool, error) {
	parts := 2
	for len(s.inputs) > 0 {
		parts = min(parts, len(s.inputs))
		smaller, err := s.tryWithout(parts)
		switch {
		case err != nil:
			return false, err
		case smaller:
			parts = max(parts-1, 2)
		case s.opt.MaxRuns > 0 && s.runs >= s.opt.MaxRuns:
			return false, nil
		case parts == len(s.inputs):
			return true, nil
		default:
			parts *= 2
		}
	}
	return true, nil
}

// tryWithout tries to leave out one of so many parts.
func (s *shrinker) tryWithout(parts int) (bool, error) {
	all := s.inputs
	for i := range parts {
		if s.opt.MaxRuns > 0 && s.runs >= s.opt.MaxRuns {
			return false, nil
		}
		from, to := i*len(all)/parts, (i+1)*len(all)/parts
		if failed, err := s.run(slices.Concat(all[:from], all[to:])); failed || err != nil {
			return failed, err
		}
	}
	return false, nil
}

// write writes the log of the best run.
func (s *shrinker) write(dir string) error {
	sim, err := s.sc.build(s.id.Seed)
	if err != nil {
		return err
	}
	sim.SetInputs(feedOf(s.inputs))
	rec, err := Record(dir, s.sc.Name, sim, Options{Log: s.opt.Log})
	if err != nil {
		return err
	}
	return errors.Join(s.runInto(rec), rec.Close())
}

func (s *shrinker) runInto(rec *Recorder) error {
	for rec.sim.Ticks() < s.ticks {
		tick := rec.sim.Ticks()
		err := rec.sim.Step()
		if err == nil || errors.Is(err, loop.ErrStop) {
			continue
		}
		if tick != s.ticks-1 || rec.log.Err() != nil {
			return fmt.Errorf("replay: Shrink: %w", err)
		}
		return rec.CommitFailed()
	}
	return nil
}
