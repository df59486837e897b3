package search

import (
	"context"
	"fmt"
	"iter"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/replay"
)

// Seeds says what FindSeeds looks for.
type Seeds struct {
	Scenario, Failure string // names in the Registry of the workers
	From, To          uint64 // the seeds from From to To-1
	Ticks             uint64 // of each run
}

// Found is a seed whose run fails.
type Found struct {
	Seed uint64
	replay.Outcome
}

// FindSeeds runs a scenario with each of some seeds, and yields those whose runs fail, in their order. The first
// is the lowest: a loop that ends there cancels the runs of the others. Errors are evertick.ErrRange for no seed or tick, and those
// of Pool.Do.
func FindSeeds(ctx context.Context, p Pool, s Seeds) iter.Seq2[Found, error] {
	return func(yield func(Found, error) bool) {
		if s.From >= s.To {
			yield(Found{}, fault.Field(fault.ErrRange, fmt.Sprintf("search: Seeds.From = %d, Seeds.To", s.From), s.To))
			return
		}
		if s.Ticks == 0 {
			yield(Found{}, fault.Field(fault.ErrRange, "search: Seeds.Ticks", s.Ticks))
			return
		}
		jobs := func(yield func([]byte) bool) {
			for seed := s.From; seed < s.To && yield(appendTrial(nil, seed, replay.Trial{Ticks: s.Ticks})); seed++ {
			}
		}
		seed := s.From
		for out, err := range outcomes(p.Do(ctx, Task{Function: tryName, Shared: appendShared(nil, s.Scenario, s.Failure, nil)}, jobs)) {
			if (err != nil || out.Failed) && (!yield(Found{seed, out}, err) || err != nil) {
				return
			}
			seed++
		}
	}
}

// FirstSeed returns the lowest seed that FindSeeds finds. The error wraps replay.ErrNoFailure if there is
// none, and is otherwise that of FindSeeds.
func FirstSeed(ctx context.Context, p Pool, s Seeds) (Found, error) {
	for found, err := range FindSeeds(ctx, p, s) {
		return found, err
	}
	return Found{}, fmt.Errorf("search: %d ticks of %q with seeds %d to %d: %w", s.Ticks, s.Scenario, s.From, s.To-1, replay.ErrNoFailure)
}

// Shrink is replay.Shrink with the runs of each round on the workers of a pool, and with the same result. The inputs
// travel to each worker once, and the part of them that a run keeps as numbers. Runs of a round that come after
// its first failure are wasted: it is quick where few parts can be left out, and where the scenario takes long.
//
// sc and the failure of this name must be in the Registry of each worker.
func Shrink(ctx context.Context, p Pool, dir string, sc replay.Scenario, newDir, failure string, opt replay.ShrinkOptions) (replay.ShrinkReport, error) {
	var task Task
	opt.Try = func(log replay.Run, trials iter.Seq[replay.Trial]) iter.Seq2[replay.Outcome, error] {
		if task.Function == "" { // log is the same at each call
			task = Task{Function: tryName, Shared: appendShared(nil, sc.Name, failure, log.Inputs)}
		}
		return outcomes(p.Do(ctx, task, func(yield func([]byte) bool) {
			for t := range trials {
				if !yield(appendTrial(nil, log.Seed, t)) {
					return
				}
			}
		}))
	}
	return replay.Shrink(dir, sc, newDir, nil, opt)
}

// outcomes decodes results.
func outcomes(results iter.Seq2[[]byte, error]) iter.Seq2[replay.Outcome, error] {
	return func(yield func(replay.Outcome, error) bool) {
		for result, err := range results {
			var out replay.Outcome
			if err == nil {
				out, err = parseOutcome(result)
			}
			if !yield(out, err) || err != nil {
				return
			}
		}
	}
}

// openTry is the Function of FindSeeds and Shrink.
func (r *Registry) openTry(shared []byte) (Work, error) {
	s, err := parseShared(shared)
	if err != nil {
		return nil, err
	}
	sc, fails, err := r.find(s.scenario, s.failure)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, job []byte) ([]byte, error) {
		seed, t, err := parseTrial(job, len(s.inputs))
		if err != nil {
			return nil, err
		}
		run := replay.Run{Seed: seed, Ticks: t.Ticks}
		if s.inputs != nil {
			run = replay.Run{Seed: seed, Inputs: s.inputs}.Part(t)
		}
		out, err := replay.Try(ctx, sc, run, fails)
		return appendOutcome(nil, out), err
	}, nil
}
