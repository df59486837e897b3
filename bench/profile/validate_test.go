package profile_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/bench/profile"
)

// sound returns a Run with everything in it and no fault.
func sound() *profile.Run {
	count := profile.Count{Instructions: 5, Cycles: 4, CacheMisses: -1, BranchMisses: 0}
	ratio := profile.Ratio{Name: "x", Median: 1, Low: 0.9, High: 1.1}
	return &profile.Run{
		Scene: "yard", BudgetNs: 100, RateHz: 60, Warmup: 3, Workers: 1, Overhead: 0.001,
		Steps: profile.Steps{
			Tick: []uint64{4, 5}, StartNs: []int64{0, 20}, DueNs: []int64{0, -3}, Ns: []int64{9, 11},
			Phases: []string{"a", "b"}, PhaseNs: [][]int64{{1, 2}, {3, 4}},
			Counters: []string{"live"}, Counts: [][]int64{{-7, 7}},
			GCs: []int64{0, 1}, GCPauseNs: []int64{0, 1}, GCAssistNs: []int64{0, 0},
		},
		Hardware: &profile.Hardware{Total: count, Phases: []profile.Count{count, count}},
		Noise:    &profile.Noise{Switches: -1, Load: -1, Pinned: -1},
		Ladder:   []profile.Rung{{Level: "go", StepNs: 9, Speedup: ratio}},
		Rivals:   []profile.Ratio{ratio},
		Baseline: &profile.Baseline{StepNs: []int64{1, 2}, P50: profile.Change{Ratio: ratio}, P95: profile.Change{Ratio: ratio}},
	}
}

// Each fault is found and named, without any other.
func TestValidate(t *testing.T) {
	if err := sound().Validate(); err != nil {
		t.Fatal(err)
	}
	if err := new(profile.Run).Validate(); err != nil {
		t.Errorf("nothing recorded: %v", err)
	}
	for _, c := range []struct {
		names string
		spoil func(*profile.Run)
	}{
		{"BudgetNs = -1", func(r *profile.Run) { r.BudgetNs = -1 }},
		{"RateHz = NaN", func(r *profile.Run) { r.RateHz = math.NaN() }},
		{"RateHz = +Inf", func(r *profile.Run) { r.RateHz = math.Inf(1) }},
		{"Warmup = -1", func(r *profile.Run) { r.Warmup = -1 }},
		{"Workers = -1", func(r *profile.Run) { r.Workers = -1 }},
		{"Allocs = -1", func(r *profile.Run) { r.Allocs = -1 }},
		{"Bytes = NaN", func(r *profile.Run) { r.Bytes = math.NaN() }},
		{"Overhead = -0.5", func(r *profile.Run) { r.Overhead = -0.5 }},
		{"Steps.Tick: length = 1 of 2", func(r *profile.Run) { r.Steps.Tick = r.Steps.Tick[1:] }},
		{"Steps.StartNs: length = 3 of 2", func(r *profile.Run) { r.Steps.StartNs = append(r.Steps.StartNs, 1) }},
		{"Steps.DueNs: length = 0 of 2", func(r *profile.Run) { r.Steps.DueNs = nil }},
		{"Steps.GCs: length = 1 of 2", func(r *profile.Run) { r.Steps.GCs = r.Steps.GCs[1:] }},
		{"Steps.GCPauseNs: length = 1 of 2", func(r *profile.Run) { r.Steps.GCPauseNs = r.Steps.GCPauseNs[1:] }},
		{"Steps.GCAssistNs: length = 1 of 2", func(r *profile.Run) { r.Steps.GCAssistNs = r.Steps.GCAssistNs[1:] }},
		{"Steps.PhaseNs[1]: length = 1 of 2", func(r *profile.Run) { r.Steps.PhaseNs[1] = r.Steps.PhaseNs[1][1:] }},
		{"Steps.Counts[0]: length = 1 of 2", func(r *profile.Run) { r.Steps.Counts[0] = r.Steps.Counts[0][1:] }},
		{"Steps.Ns[1] = -11", func(r *profile.Run) { r.Steps.Ns[1] = -11 }},
		{"Steps.Ns[0] = 9223372036854775807", func(r *profile.Run) { r.Steps.Ns[0] = math.MaxInt64 }},
		{"Steps.StartNs[0] = -9223372036854775808", func(r *profile.Run) { r.Steps.StartNs[0] = math.MinInt64 }},
		{"Steps.PhaseNs[0][1] = -2", func(r *profile.Run) { r.Steps.PhaseNs[0][1] = -2 }},
		{"Steps.GCs[1] = -1", func(r *profile.Run) { r.Steps.GCs[1] = -1 }},
		{"Steps.Phases: number of columns = 2 of 1", func(r *profile.Run) { r.Hardware, r.Steps.Phases = nil, r.Steps.Phases[1:] }},
		{"Steps.Counters: number of columns = 1 of 0", func(r *profile.Run) { r.Steps.Counters = nil }},
		{`Steps.Phases[1] = "a"`, func(r *profile.Run) { r.Steps.Phases[1] = "a" }},
		{`Steps.Phases[0] = ""`, func(r *profile.Run) { r.Steps.Phases[0] = "" }},
		{`Steps.Counters[0] = "li\nve"`, func(r *profile.Run) { r.Steps.Counters[0] = "li\nve" }},
		{"Hardware.Phases = 1 of 2", func(r *profile.Run) { r.Hardware.Phases = r.Hardware.Phases[1:] }},
		{"Hardware.Total.Cycles = -2", func(r *profile.Run) { r.Hardware.Total.Cycles = -2 }},
		{"Hardware.Phases[1].CacheMisses = NaN", func(r *profile.Run) { r.Hardware.Phases[1].CacheMisses = math.NaN() }},
		{"Ladder[0].StepNs = -9", func(r *profile.Run) { r.Ladder[0].StepNs = -9 }},
		{"Ladder[0].Speedup.Low = NaN", func(r *profile.Run) { r.Ladder[0].Speedup.Low = math.NaN() }},
		{"Rivals[0].High = +Inf", func(r *profile.Run) { r.Rivals[0].High = math.Inf(1) }},
		{"Baseline.StepNs[0] = -1", func(r *profile.Run) { r.Baseline.StepNs[0] = -1 }},
		{"Baseline.P95.Ratio.Median = NaN", func(r *profile.Run) { r.Baseline.P95.Ratio.Median = math.NaN() }},
		{"Noise.Load = NaN", func(r *profile.Run) { r.Noise.Load = math.NaN() }},
	} {
		r := sound()
		c.spoil(r)
		err := r.Validate()
		if !errors.Is(err, evertick.ErrRange) || !contains(err, "profile: Run."+c.names) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", c.names, err)
		}
	}
	r := sound()
	r.BudgetNs, r.Warmup = -1, -1
	if err := r.Validate(); !contains(err, "BudgetNs") || !contains(err, "Warmup") {
		t.Errorf("not every fault: %v", err)
	}
}
