package profile

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/fault"
)

// runOf makes a run of steps that take about a millisecond and vary by a tenth; neighbours
// correlate with the coefficient phi.
func runOf(r *rand.Rand, steps int, phi float64) *Run {
	run := &Run{Scene: "scene", Env: syntheticEnvironment()}
	for _, v := range series(r, steps, phi) {
		run.Steps.Ns = append(run.Steps.Ns, 1_000_000+v/10)
	}
	return run
}

// Two runs of the same seldom differ significantly, whether steps resemble their neighbours or
// not; and a twentieth more time is found. All draws are fixed.
func TestCompareSeldomCriesWolf(t *testing.T) {
	skipStatistics(t)
	const pairs = 60
	for _, c := range []struct {
		phi  float64
		most int // false alarms; 3 are to be expected at each quantile
	}{{0, 8}, {0.5, 8}, {0.9, 12}} {
		r := rand.New(rand.NewPCG(99, uint64(10*c.phi)))
		var atP50, atP95, found int
		for range pairs {
			is, was := runOf(r, 800, c.phi).Steps.Ns, runOf(r, 800, c.phi).Steps.Ns
			p50, p95 := changes(is, was, "before", leastDraws)
			if p50.Significant {
				atP50++
			}
			if p95.Significant {
				atP95++
			}
			for i := range is {
				is[i] += is[i] / 20
			}
			if p50, _ := changes(is, was, "before", leastDraws); p50.Significant && p50.Ratio.Low > 1 {
				found++
			}
		}
		t.Logf("phi %v: %d false alarms at p50, %d at p95, of %d; 5 %% more found in %d", c.phi, atP50, atP95, pairs, found)
		if atP50 > c.most || atP95 > c.most {
			t.Errorf("phi %v: %d false alarms at p50, %d at p95, of %d", c.phi, atP50, atP95, pairs)
		}
		if c.phi == 0 && found != pairs || found < pairs/2 {
			t.Errorf("phi %v: 5 %% more found in %d of %d", c.phi, found, pairs)
		}
	}
}

func TestCompareIsTheSameEachTime(t *testing.T) {
	is, was := synthetic(planted{seed: 1, steps: 900}), synthetic(planted{seed: 2, steps: 700})
	steps := slices.Clone(was.Steps.Ns)
	var first *Baseline
	for range 3 {
		if err := Compare(is, was, "before"); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = is.Baseline
		}
		if !reflect.DeepEqual(first, is.Baseline) {
			t.Fatalf("%+v, then %+v", first, is.Baseline)
		}
	}
	if first.Name != "before" || !first.SameHost || !slices.IsSorted(first.StepNs) || len(first.StepNs) != 700 || !slices.Equal(steps, was.Steps.Ns) {
		t.Errorf("%+v", first)
	}
	if c := first.P95; c.Was != nearestRank(first.StepNs, 0.95) || c.Is != nearestRank(sortedCopy(is.Steps.Ns), 0.95) || c.Ratio.Median != float64(c.Is)/float64(c.Was) {
		t.Errorf("%+v", c)
	}
}

// A run compared with itself has not changed, and one that takes twice the time has.
func TestCompareKnowsARunAgain(t *testing.T) {
	is, was := synthetic(planted{seed: 1, steps: 900, cause: byPhase, phase: 2}), synthetic(planted{seed: 1, steps: 900, cause: byPhase, phase: 2})
	if err := Compare(is, was, "itself"); err != nil {
		t.Fatal(err)
	}
	if b := is.Baseline; b.P50.Significant || b.P95.Significant || b.P50.Ratio.Median != 1 {
		t.Errorf("%+v", b)
	}
	for i := range is.Steps.Ns {
		is.Steps.Ns[i] *= 2
	}
	if err := Compare(is, was, "half"); err != nil {
		t.Fatal(err)
	}
	if b := is.Baseline; !b.P50.Significant || !b.P95.Significant || b.P50.Ratio.Median != 2 || b.P50.Ratio.Low < 1.9 || b.P50.Ratio.High > 2.1 {
		t.Errorf("%+v", b)
	}
}

func TestCompareOfOtherRuns(t *testing.T) {
	is, was := synthetic(planted{seed: 1, steps: 100}), synthetic(planted{seed: 1, steps: 100})
	was.Env.CPU = "another"
	if err := Compare(is, was, "elsewhere"); err != nil {
		t.Fatal(err)
	}
	if b := is.Baseline; b.SameHost || b.P50 != (Change{}) || b.P95 != (Change{}) {
		t.Errorf("%+v", b)
	}
	kept := is.Baseline
	was.Scene, was.Params, was.Steps = "arena", nil, Steps{}
	err := Compare(is, was, "other")
	if !errors.Is(err, fault.ErrRange) || is.Baseline != kept {
		t.Errorf("%v", err)
	}
	for _, want := range []string{`scene = "capstone", of the earlier run "arena"`, "parameters = ", "steps = 100, of the earlier run 0"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
	zero := &Run{Steps: Steps{Ns: []int64{0, 0}}}
	if err := Compare(zero, &Run{Steps: Steps{Ns: []int64{0}}}, "zero"); err != nil || zero.Baseline.P50.Ratio.Median != 1 {
		t.Errorf("%v, %+v", err, zero.Baseline)
	}
}

// The longer steps resemble each other the longer are the blocks; those of independent steps
// are single steps, or hardly longer.
func TestBlocksAreAsLongAsStepsAreAlike(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	last := 0
	for _, phi := range []float64{0, 0.5, 0.9, 0.97} {
		ns := series(r, 3_600, phi)
		length := blockLength(ns, sortedCopy(ns))
		t.Logf("phi %v: blocks of %d", phi, length)
		if length <= last || phi == 0 && length > 12 {
			t.Errorf("phi %v: blocks of %d", phi, length)
		}
		last = length
	}
}

// Disturbances that last longer than a turn cancel.
func TestMedianRatioOfTurns(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	var over, under []int64
	for i := range 400 {
		load := int64(1_000)
		if i/50%2 == 1 {
			load = 3_000 // another program runs
		}
		under = append(under, load*(95+r.Int64N(11))/100)
		over = append(over, 4*load*(95+r.Int64N(11))/100)
	}
	got := MedianRatio("rival", over, under)
	if got.Name != "rival" || got.Low > 4 || got.High < 4 || got.Median < 3.8 || got.Median > 4.2 {
		t.Errorf("%+v", got)
	}
	if again := MedianRatio("rival", over, under); again != got {
		t.Errorf("%+v, then %+v", got, again)
	}
	defer func() {
		if recover() == nil {
			t.Error("unequal lengths pass")
		}
	}()
	MedianRatio("", over, under[1:])
}

func TestCompareRatios(t *testing.T) {
	was := []Ratio{{"a", 2, 1.9, 2.1}, {"b", 2, 1.9, 2.1}, {"c", 2, 1.9, 2.1}, {"gone", 1, 1, 1}}
	is := []Ratio{{"c", 3, 2.9, 3.1}, {"a", 1.6, 1.5, 1.7}, {"b", 1.8, 1.7, 1.88}, {"new", 1, 1, 1}}
	verdicts := func(tolerance float64) (list []string) {
		for _, c := range CompareRatios(is, was, tolerance) {
			list = append(list, c.Name+" "+string(c.Verdict))
		}
		return list
	}
	for tolerance, want := range map[float64][]string{
		0:   {"c rose", "a fell", "b fell", "new new", "gone gone"},
		0.1: {"c rose", "a fell", "b same", "new new", "gone gone"}, // a: 1.7 < 1.71
		0.3: {"c same", "a same", "b same", "new new", "gone gone"},
	} {
		if got := verdicts(tolerance); !slices.Equal(got, want) {
			t.Errorf("tolerance %v: %q, want %q", tolerance, got, want)
		}
	}
	for _, tolerance := range []float64{-0.1, 1, math.NaN()} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("tolerance %v passes", tolerance)
				}
			}()
			CompareRatios(is, was, tolerance)
		}()
	}
}

// Ratios of one program, measured twice on a machine that is disturbed for long stretches,
// never fall below a tolerance of a tenth, and a fall to three quarters is seen in most pairs.
func TestCompareRatiosSeldomCriesWolf(t *testing.T) {
	skipStatistics(t)
	r := rand.New(rand.NewPCG(21, 21))
	measure := func(truth float64) Ratio {
		var over, under []int64
		load, phi := 0.0, 0.98
		for range 300 {
			load = float64(phi*load) + 0.05*r.NormFloat64()
			base := 1e6 * (1 + math.Abs(load))
			under = append(under, int64(base*(1+0.05*r.Float64())))
			over = append(over, int64(truth*base*(1+0.05*r.Float64())))
		}
		return MedianRatio("ratio", over, under)
	}
	const pairs = 60
	alarms, tight, seen := 0, 0, 0
	for range pairs {
		was, is, slower := measure(5), measure(5), measure(3.75)
		if CompareRatios([]Ratio{is}, []Ratio{was}, 0.1)[0].Verdict != ratioSame {
			alarms++
		}
		if CompareRatios([]Ratio{is}, []Ratio{was}, 0)[0].Verdict != ratioSame {
			tight++
		}
		if CompareRatios([]Ratio{slower}, []Ratio{was}, 0.1)[0].Verdict == RatioFell {
			seen++
		}
	}
	t.Logf("of %d pairs: %d false alarms, %d without a tolerance; a fall to three quarters seen in %d", pairs, alarms, tight, seen)
	if alarms > 0 || tight > pairs/20 || seen < pairs/2 {
		t.Errorf("of %d pairs: %d false alarms, %d without a tolerance; a fall to three quarters seen in %d", pairs, alarms, tight, seen)
	}
}
