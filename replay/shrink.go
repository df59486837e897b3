package replay

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/worldlog"
)

// ErrNoFailure is wrapped by the error of Shrink for a log that does not fail.
var ErrNoFailure = errors.New("the run does not fail")

// ShrinkOptions of Shrink. The zero value works.
type ShrinkOptions struct {
	// Log says how the new log is written. Its FS holds both logs.
	Log worldlog.Options
	// MaxRuns ends the search after so many runs, with the best so far. 0: no limit.
	MaxRuns int
	// Progress, if not nil, is called after every run, with the number of runs so far and the
	// number of inputs that are left.
	Progress func(runs, inputs int)
	// Try, if not nil, does the runs of a round, in any order or at the same time, and returns
	// their outcomes in the order of the trials; Shrink takes the first that fails. log is the
	// same at each call. Shrink then does not call its argument fails, which may be nil. Package
	// search has a Try that uses workers.
	Try func(log Run, trials iter.Seq[Trial]) iter.Seq2[Outcome, error]
}

// Trial is a run with a part of the inputs of another.
type Trial struct {
	Keep  []uint32 // indices of the inputs, ascending
	Ticks uint64   // to run
}

// Part returns the run of a trial. It panics if the run lacks an input of the trial.
func (r Run) Part(t Trial) Run {
	part := Run{Seed: r.Seed, Ticks: t.Ticks, Inputs: make([]Applied, len(t.Keep))}
	for i, k := range t.Keep {
		part.Inputs[i] = r.Inputs[k]
	}
	return part
}

// ShrinkReport is what Shrink has found.
type ShrinkReport struct {
	Was    int    // inputs of the old log
	Inputs int    // of the new one
	Tick   uint64 // in which it fails, and the last of the new log
	// Runs that it took. Runs of a round after its first failure, which a Try on several workers
	// has begun already, do not count.
	Runs int
	// Minimal is set if none of the inputs can be left out; not set if MaxRuns ended the search.
	Minimal bool
}

// Shrink finds a part of the inputs of a log with which the run still fails, so small that no
// single input can be left out. It writes a new log with these inputs up to the tick that fails. It
// uses delta debugging: about as many runs as inputs, and fewer if few matter. The same log and
// failure give the same result, for any Try.
//
// The tick of a failure with an error is in the new log too, with hash 0, as it has no state:
// Verify reproduces the error. Errors wrap ErrNoFailure if the log does not fail to begin
// with, or are those of Verify and Record.
func Shrink(dir string, sc Scenario, newDir string, fails Failure, opt ShrinkOptions) (ShrinkReport, error) {
	s := &shrinker{sc: sc, opt: opt, try: opt.Try}
	if s.try == nil {
		s.try = func(log Run, trials iter.Seq[Trial]) iter.Seq2[Outcome, error] {
			return tryEach(sc, fails, log, trials)
		}
	}
	if err := s.read(dir); err != nil {
		return ShrinkReport{}, err
	}
	rep := ShrinkReport{Was: len(s.kept)}
	whole := s.kept
	failed, err := s.round(1, func(int) []uint32 { return whole })
	if err == nil && !failed {
		err = fmt.Errorf("replay: Shrink: %d ticks of %q: %w", s.log.Ticks, sc.Name, ErrNoFailure)
	}
	if err == nil {
		rep.Minimal, err = s.search()
	}
	if err != nil {
		return rep, err
	}
	rep.Inputs, rep.Tick, rep.Runs = len(s.kept), s.ticks-1, s.runs
	return rep, s.write(newDir)
}

// tryEach does one run after the other.
func tryEach(sc Scenario, fails Failure, log Run, trials iter.Seq[Trial]) iter.Seq2[Outcome, error] {
	return func(yield func(Outcome, error) bool) {
		for t := range trials {
			if out, err := Try(context.Background(), sc, log.Part(t), fails); !yield(out, err) || err != nil {
				return
			}
		}
	}
}

type shrinker struct {
	sc    Scenario
	opt   ShrinkOptions
	try   func(Run, iter.Seq[Trial]) iter.Seq2[Outcome, error]
	id    worldlog.Identity
	log   Run      // the old one
	kept  []uint32 // its inputs in the best run so far
	ticks uint64   // of that, up to and including the one that fails
	runs  int
}

func (s *shrinker) read(dir string) error {
	p, err := Play(dir, s.sc, s.opt.Log.FS) // which checks that the log is of the scenario
	if err != nil {
		return err
	}
	s.id = p.Identity()
	if p.floor > 0 {
		err = fmt.Errorf("replay: Shrink: the log can be run from tick %d only, as the ticks before were archived or dropped: %w", p.floor, fault.ErrUnsupported)
	}
	if err := errors.Join(err, p.Close()); err != nil {
		return err
	}
	s.log.Seed, s.log.Inputs = s.id.Seed, []Applied{}
	err = export(dir, s.opt.Log.FS, func(t *worldlog.Tick) error {
		s.log.Ticks = t.Tick + 1
		for in, err := range inputsOf(t) {
			if err != nil {
				return err
			}
			in.Data = slices.Clone(in.Data)
			s.kept = append(s.kept, uint32(len(s.log.Inputs)))
			s.log.Inputs = append(s.log.Inputs, Applied{t.Tick, in})
		}
		return nil
	})
	s.ticks = s.log.Ticks
	if errors.Is(err, worldlog.ErrTorn) { // as after a crash
		return nil
	}
	return err
}

// round does n runs with different inputs. The first that fails becomes the best so far.
func (s *shrinker) round(n int, keep func(i int) []uint32) (bool, error) {
	if s.opt.MaxRuns > 0 {
		n = min(n, s.opt.MaxRuns-s.runs)
	}
	i, ticks := 0, s.ticks
	trials := func(yield func(Trial) bool) {
		for i := 0; i < n && yield(Trial{keep(i), ticks}); i++ {
		}
	}
	for out, err := range s.try(s.log, trials) {
		if err != nil {
			return false, err
		}
		s.runs++
		if out.Failed {
			s.ticks, s.kept = out.Tick+1, keep(i)
			if n := slices.IndexFunc(s.kept, func(k uint32) bool { return s.log.Inputs[k].At > out.Tick }); n >= 0 {
				s.kept = s.kept[:n]
			}
		}
		if s.opt.Progress != nil {
			s.opt.Progress(s.runs, len(s.kept))
		}
		if i++; out.Failed {
			return true, nil
		}
	}
	if i != n {
		return false, fault.Field(fault.ErrRange, fmt.Sprintf("replay: ShrinkOptions.Try: outcomes of %d trials", n), i)
	}
	return false, nil
}

// search leaves out parts, halves first and then smaller ones, until no single input can be
// left out. It reports false if MaxRuns ended it before.
func (s *shrinker) search() (bool, error) {
	parts := 2
	for len(s.kept) > 0 {
		parts = min(parts, len(s.kept))
		all := s.kept
		smaller, err := s.round(parts, func(i int) []uint32 {
			return slices.Concat(all[:i*len(all)/parts], all[(i+1)*len(all)/parts:])
		})
		switch {
		case err != nil:
			return false, err
		case smaller:
			parts = max(parts-1, 2)
		case s.opt.MaxRuns > 0 && s.runs >= s.opt.MaxRuns:
			return false, nil
		case parts == len(s.kept):
			return true, nil
		default:
			parts *= 2
		}
	}
	return true, nil
}

// write writes the log of the best run.
func (s *shrinker) write(dir string) error {
	sim, err := s.sc.build(s.id.Seed)
	if err != nil {
		return err
	}
	sim.SetInputs(feedOf(s.log.Part(Trial{Keep: s.kept}).Inputs))
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
