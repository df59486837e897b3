package replay

import (
	"cmp"
	"context"
	"slices"

	"github.com/evertick/evertick"
)

// Failure reports whether a run has failed. It is called after every tick; err is nil, or
// the error of the tick that ended the run. It must depend on its arguments alone.
type Failure func(sim *evertick.Sim, err error) bool

// Run is what decides a run of a scenario.
type Run struct {
	Seed   uint64
	Inputs []Applied // in the order of At; nil: those that systems of the scenario push
	Ticks  uint64    // to run
}

// Outcome is how a run has ended.
type Outcome struct {
	Failed bool   // the Failure has found what it looks for, and the run has ended there
	Tick   uint64 // the last one that was run
	Hash   uint64 // of the state after it; 0 if it ended in an error
	Err    string // that error
}

// Try runs a new Sim of the scenario until the run fails, a tick returns an error, or the ticks are
// over. The error is that of the scenario or of ctx.
func Try(ctx context.Context, sc Scenario, run Run, fails Failure) (Outcome, error) {
	sim, err := sc.build(run.Seed)
	if err != nil {
		return Outcome{}, err
	}
	if run.Inputs != nil {
		sim.SetInputs(feedOf(run.Inputs))
	}
	var out Outcome
	for tick := uint64(0); tick < run.Ticks && !out.Failed && out.Err == ""; tick++ {
		if err := ctx.Err(); err != nil {
			return Outcome{}, err
		}
		err := step(sim)
		out.Tick, out.Failed = tick, fails(sim, err)
		if err != nil {
			out.Err = err.Error()
		}
	}
	if out.Err == "" {
		out.Hash = sim.Hash()
	}
	return out, nil
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
