package profile

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/evertick/evertick/internal/fault"
)

// Compare fills run.Baseline with an earlier run of the same scene, and the changes since. It
// returns evertick.ErrRange, and changes nothing, if scene or parameters differ, or a run has no steps. For
// a run on another machine SameHost is false, and times are not compared: compare Ratios.
//
// The intervals are those of a moving-block bootstrap: both runs are resampled a thousand times
// from blocks of steps that follow each other (Künsch, Annals of Statistics 17, 1989), and 95 % of
// the ratios of their quantiles lie between the limits. The length of a block is Carlstein's for an
// autoregressive process of the measured correlation (Annals of Statistics 14, 1986), times the
// cube root of 3/2 because the blocks overlap. The samples, and so the result, are the same each
// time.
//
// The bootstrap measures how steps differ within a run. It does not measure how runs of the same
// program differ, for instance by the addresses of their memory: a few percent. If a change is
// significant, run both again, by turns.
func Compare(run, was *Run, name string) error {
	if err := checkComparable(run, was); err != nil {
		return err
	}
	b := &Baseline{
		Name: name, Env: was.Env, Started: was.Started,
		StepNs: sortedCopy(was.Steps.Ns), SameHost: sameHost(&run.Env, &was.Env),
	}
	if b.SameHost {
		b.P50, b.P95 = changes(run.Steps.Ns, was.Steps.Ns, name, draws(run.Steps.Len()+was.Steps.Len()))
	}
	run.Baseline = b
	return nil
}

// checkComparable returns an error for every difference that makes the runs incomparable.
func checkComparable(run, was *Run) error {
	var errs []error
	if run.Scene != was.Scene {
		errs = append(errs, fault.Field(fault.ErrRange, "profile: Compare: scene", fmt.Sprintf("%q, of the earlier run %q", run.Scene, was.Scene)))
	}
	if !slices.Equal(run.Params, was.Params) {
		errs = append(errs, fault.Field(fault.ErrRange, "profile: Compare: parameters", fmt.Sprintf("%v, of the earlier run %v", run.Params, was.Params)))
	}
	if run.Steps.Len() == 0 || was.Steps.Len() == 0 {
		errs = append(errs, fault.Field(fault.ErrRange, "profile: Compare: steps", fmt.Sprintf("%d, of the earlier run %d", run.Steps.Len(), was.Steps.Len())))
	}
	return errors.Join(errs...)
}

func sameHost(a, b *Environment) bool {
	return a.CPU == b.CPU && a.CPUs == b.CPUs && a.OS == b.OS && a.Arch == b.Arch && slices.Equal(a.Levels, b.Levels)
}

const (
	mostDraws  = 1_000
	leastDraws = 200
	drawnSteps = 200_000_000 // of all draws together, unless leastDraws need more
)

// draws returns how often so many steps are resampled.
func draws(steps int) int { return max(leastDraws, min(mostDraws, drawnSteps/steps)) }

// changes compares medians and p95, by n draws.
func changes(is, was []int64, name string, n int) (p50, p95 Change) {
	now, then := newBootstrap(is), newBootstrap(was)
	quantiles := [2]float64{0.50, 0.95}
	var ratios [2][]float64
	for range n {
		now.draw()
		then.draw()
		for i, q := range quantiles {
			ratios[i] = append(ratios[i], quotient(now.quantile(q), then.quantile(q)))
		}
	}
	var out [2]Change
	for i, q := range quantiles {
		c := Change{Was: nearestRank(then.sorted, q), Is: nearestRank(now.sorted, q)}
		c.Ratio = ratioBetween(name, quotient(c.Is, c.Was), ratios[i])
		c.Significant = c.Ratio.Low > 1 || c.Ratio.High < 1
		out[i] = c
	}
	return out[0], out[1]
}

// quotient counts 0 ns as 1: no clock measures less.
func quotient(over, under int64) float64 { return float64(max(1, over)) / float64(max(1, under)) }

// ratioBetween takes the limits from the drawn ratios, which it sorts.
func ratioBetween(name string, seen float64, drawn []float64) Ratio {
	slices.Sort(drawn)
	const tail = (1 - confidence) / 2
	return Ratio{Name: name, Median: seen, Low: min(seen, nearestRank(drawn, tail)), High: max(seen, nearestRank(drawn, 1-tail))}
}

// bootstrap resamples a series in blocks.
type bootstrap struct {
	rng    *rand.Rand
	sorted []int64
	rank   []int32 // of each value, from 0
	times  []int32 // that each rank was drawn
	block  int
}

func newBootstrap(ns []int64) *bootstrap {
	order := make([]int32, len(ns))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(ns[a], ns[b]) })
	b := &bootstrap{
		rng:    rand.New(rand.NewPCG(uint64(len(ns)), mostDraws)),
		sorted: make([]int64, len(ns)), rank: make([]int32, len(ns)), times: make([]int32, len(ns)),
	}
	for rank, i := range order {
		b.sorted[rank], b.rank[i] = ns[i], int32(rank)
	}
	b.block = blockLength(ns, b.sorted)
	return b
}

// blockLength is 1 for independent steps.
func blockLength(ns, sorted []int64) int {
	time := max(correlationTime(ns, nearestRank(sorted, 0.50)), correlationTime(ns, nearestRank(sorted, 0.95)))
	// of an autoregressive process, whose correlation time is (1 + phi) / (1 - phi)
	phi := (time - 1) / (time + 1)
	length := math.Cbrt(1.5 * 6 * square(phi/(1-square(phi))) * float64(len(ns)))
	return max(1, min(len(ns)/4, int(math.Ceil(length))))
}

func square(v float64) float64 { return v * v }

// draw draws as many steps as there are, block after block.
func (b *bootstrap) draw() {
	clear(b.times)
	for left := len(b.rank); left > 0; left -= b.block {
		from := b.rng.IntN(len(b.rank) - b.block + 1)
		for _, rank := range b.rank[from : from+min(left, b.block)] {
			b.times[rank]++
		}
	}
}

// quantile returns the quantile of the last draw, by the nearest rank.
func (b *bootstrap) quantile(q float64) int64 {
	at := max(1, int32(math.Ceil(q*float64(len(b.times)))))
	for rank, times := range b.times {
		if at -= times; at <= 0 {
			return b.sorted[rank]
		}
	}
	return b.sorted[len(b.sorted)-1]
}

// MedianRatio returns how many times as long the median of one series is as that of another that
// took turns with it: a disturbance of the machine that lasts longer than a turn affects both. The
// interval is that of the bootstrap of Compare, with the same blocks of both. It panics unless both
// have the same length, above 0.
func MedianRatio(name string, over, under []int64) Ratio {
	if len(over) != len(under) || len(over) == 0 {
		panic("profile: MedianRatio: series of unequal length, or empty")
	}
	a, b := newBootstrap(over), newBootstrap(under)
	a.block = max(a.block, b.block)
	b.block, b.rng = a.block, rand.New(rand.NewPCG(uint64(len(over)), mostDraws))
	var drawn []float64
	for range draws(2 * len(over)) {
		a.draw()
		b.draw()
		drawn = append(drawn, quotient(a.quantile(0.5), b.quantile(0.5)))
	}
	return ratioBetween(name, quotient(nearestRank(a.sorted, 0.5), nearestRank(b.sorted, 0.5)), drawn)
}

// Verdict is how a ratio has changed.
type Verdict string

const (
	ratioSame Verdict = "same" // or the change is within the tolerance
	RatioFell Verdict = "fell" // we have become slower
	ratioRose Verdict = "rose" // faster
	ratioNew  Verdict = "new"  // there was none of that name
	ratioGone Verdict = "gone" // there is none any more
)

// RatioChange is how a ratio compares with an earlier one of its name.
type RatioChange struct {
	Name    string  `json:"name"`
	Was     Ratio   `json:"was"`
	Is      Ratio   `json:"is"`
	Verdict Verdict `json:"verdict"`
}

// CompareRatios compares ratios, of which more is better, by their names: in the order of is, and
// then the names that are gone, in the order of was. A ratio fell if its whole interval lies below
// the earlier one lowered by the tolerance. It rose in the opposite case. The tolerance is a share
// from 0 to below 1; CompareRatios panics on others. So an unchanged ratio appears to have fallen
// no more often than one of two intervals is wrong by more than the tolerance.
func CompareRatios(is, was []Ratio, tolerance float64) []RatioChange {
	if !(tolerance >= 0 && tolerance < 1) {
		panic("profile: CompareRatios: tolerance is not in [0, 1)")
	}
	named := func(list []Ratio, name string) int {
		return slices.IndexFunc(list, func(r Ratio) bool { return r.Name == name })
	}
	var changes []RatioChange
	for _, r := range is {
		c := RatioChange{Name: r.Name, Is: r, Verdict: ratioNew}
		if i := named(was, r.Name); i >= 0 {
			c.Was, c.Verdict = was[i], verdict(r, was[i], 1-tolerance)
		}
		changes = append(changes, c)
	}
	for _, r := range was {
		if named(is, r.Name) < 0 {
			changes = append(changes, RatioChange{Name: r.Name, Was: r, Verdict: ratioGone})
		}
	}
	return changes
}

func verdict(is, was Ratio, kept float64) Verdict {
	switch {
	case is.High < was.Low*kept:
		return RatioFell
	case is.Low*kept > was.High:
		return ratioRose
	}
	return ratioSame
}
