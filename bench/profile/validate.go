package profile

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/evertick/evertick/internal/fault"
)

// Validate reports every fault of a Run that makes it none, such as one read from a file may
// have: columns of unequal length, times that go below zero or beyond what can be added up,
// names that are missing or given twice, shares and ratios that are no numbers. The errors
// wrap ErrRange and name the field; of a column they name the first value that is wrong.
func (r *Run) Validate() error {
	v := validation{steps: r.Steps.Len()}
	v.whole("BudgetNs", r.BudgetNs)
	v.positive("RateHz", r.RateHz)
	v.whole("Warmup", int64(r.Warmup))
	v.whole("Workers", int64(r.Workers))
	v.positive("Allocs", r.Allocs)
	v.positive("Bytes", r.Bytes)
	v.positive("Overhead", r.Overhead)
	v.checkSteps(&r.Steps)
	if h := r.Hardware; h != nil {
		if len(h.Phases) != len(r.Steps.Phases) {
			v.wrong("Hardware.Phases", fmt.Sprintf("%d of %d", len(h.Phases), len(r.Steps.Phases)))
		}
		v.checkCount("Hardware.Total", h.Total)
		for i, c := range h.Phases {
			v.checkCount(fmt.Sprintf("Hardware.Phases[%d]", i), c)
		}
	}
	for i, rung := range r.Ladder {
		v.whole(fmt.Sprintf("Ladder[%d].StepNs", i), rung.StepNs)
		v.checkRatio(fmt.Sprintf("Ladder[%d].Speedup", i), rung.Speedup)
	}
	for i, rival := range r.Rivals {
		v.checkRatio(fmt.Sprintf("Rivals[%d]", i), rival)
	}
	if b := r.Baseline; b != nil {
		v.times("Baseline.StepNs", b.StepNs)
		v.checkRatio("Baseline.P50.Ratio", b.P50.Ratio)
		v.checkRatio("Baseline.P95.Ratio", b.P95.Ratio)
	}
	if n := r.Noise; n != nil && !fault.Finite(n.Load) {
		v.wrong("Noise.Load", n.Load)
	}
	return errors.Join(v.errs...)
}

// maxTimeNs bounds times so that differences of two, and sums of many, do not overflow:
// 52 days.
const maxTimeNs = 1 << 52

// validation collects what is wrong.
type validation struct {
	steps int
	errs  []error
}

func (v *validation) wrong(field string, value any) {
	v.errs = append(v.errs, fault.Field(ErrRange, "profile: Run."+field, value))
}

func (v *validation) whole(field string, value int64) {
	if value < 0 {
		v.wrong(field, value)
	}
}

func (v *validation) positive(field string, value float64) {
	if !(value >= 0) || math.IsInf(value, 1) {
		v.wrong(field, value)
	}
}

func (v *validation) checkSteps(s *Steps) {
	if s.Len() > maxSteps {
		v.wrong("Steps: number of steps", s.Len())
	}
	v.column("Steps.Tick", len(s.Tick))
	for _, c := range []struct {
		name   string
		values []int64
		signed bool
	}{
		{"StartNs", s.StartNs, true}, {"DueNs", s.DueNs, true}, {"Ns", s.Ns, false},
		{"GCs", s.GCs, false}, {"GCPauseNs", s.GCPauseNs, false}, {"GCAssistNs", s.GCAssistNs, false},
	} {
		v.column("Steps."+c.name, len(c.values))
		least := int64(0)
		if c.signed { // a clock may be set back, and a step may run before it is due
			least = -maxTimeNs
		}
		v.within("Steps."+c.name, c.values, least)
	}
	v.names("Steps.Phases", s.Phases, len(s.PhaseNs))
	v.names("Steps.Counters", s.Counters, len(s.Counts))
	for i, ns := range s.PhaseNs {
		v.column(fmt.Sprintf("Steps.PhaseNs[%d]", i), len(ns))
		v.times(fmt.Sprintf("Steps.PhaseNs[%d]", i), ns)
	}
	for i, counts := range s.Counts {
		v.column(fmt.Sprintf("Steps.Counts[%d]", i), len(counts))
	}
}

// column checks that a column has as many values as there are steps.
func (v *validation) column(field string, length int) {
	if length != v.steps {
		v.wrong(field+": length", fmt.Sprintf("%d of %d", length, v.steps))
	}
}

func (v *validation) times(field string, ns []int64) { v.within(field, ns, 0) }

func (v *validation) within(field string, ns []int64, least int64) {
	for i, t := range ns {
		if t < least || t > maxTimeNs {
			v.errs = append(v.errs, fault.Element(ErrRange, "profile: Run."+field, i, t))
			return
		}
	}
}

// names checks the names of columns. Files put them between commas and on lines.
func (v *validation) names(field string, names []string, columns int) {
	if len(names) != columns {
		v.wrong(field+": number of columns", fmt.Sprintf("%d of %d", columns, len(names)))
	}
	seen := map[string]bool{}
	for i, name := range names {
		if name == "" || seen[name] || strings.ContainsAny(name, "\n\r\x00") {
			v.errs = append(v.errs, fault.Element(ErrRange, "profile: Run."+field, i, fmt.Sprintf("%q", name)))
		}
		seen[name] = true
	}
}

// checkCount allows -1: not told.
func (v *validation) checkCount(field string, c Count) {
	for _, f := range []struct {
		name  string
		value float64
	}{{"Instructions", c.Instructions}, {"Cycles", c.Cycles}, {"CacheMisses", c.CacheMisses}, {"BranchMisses", c.BranchMisses}} {
		if f.value != -1 {
			v.positive(field+"."+f.name, f.value)
		}
	}
}

func (v *validation) checkRatio(field string, r Ratio) {
	v.positive(field+".Median", r.Median)
	v.positive(field+".Low", r.Low)
	v.positive(field+".High", r.High)
}
