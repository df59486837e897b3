package profile

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/evertick/evertick/internal/fault"
)

// Validate reports every fault of a Run, for instance of one that was read from a file: columns of
// unequal length, times that are negative or too long to add up, names that are missing or occur
// twice, shares and ratios that are not numbers. The errors wrap evertick.ErrRange and name the field; for a
// column they name the first wrong value.
func (r *Run) Validate() error {
	v := validation{steps: r.Steps.Len()}
	v.whole("BudgetNs", r.BudgetNs)
	v.whole("Warmup", int64(r.Warmup))
	v.whole("Workers", int64(r.Workers))
	r.numbers(func(field string, value float64) {
		unknown := value == -1 && strings.HasPrefix(field, "Hardware") || value < 0 && field == "Noise.Load"
		if !(value >= 0 || unknown) || math.IsInf(value, 0) {
			v.wrong(field, value)
		}
	})
	v.checkSteps(&r.Steps)
	if h := r.Hardware; h != nil && len(h.Phases) != len(r.Steps.Phases) {
		v.wrong("Hardware.Phases", fmt.Sprintf("%d of %d", len(h.Phases), len(r.Steps.Phases)))
	}
	for i, rung := range r.Ladder {
		v.whole(fmt.Sprintf("Ladder[%d].StepNs", i), rung.StepNs)
	}
	if b := r.Baseline; b != nil {
		v.within("Baseline.StepNs", b.StepNs, 0, maxTimeNs)
	}
	return errors.Join(v.errs...)
}

// numbers calls visit for each number of the run, and its field, that is not an integer.
func (r *Run) numbers(visit func(field string, value float64)) {
	visit("RateHz", r.RateHz)
	visit("Allocs", r.Allocs)
	visit("Bytes", r.Bytes)
	visit("Overhead", r.Overhead)
	if h := r.Hardware; h != nil {
		for i, c := range append([]Count{h.Total}, h.Phases...) {
			field := "Hardware.Total"
			if i > 0 {
				field = fmt.Sprintf("Hardware.Phases[%d]", i-1)
			}
			visit(field+".Instructions", c.Instructions)
			visit(field+".Cycles", c.Cycles)
			visit(field+".CacheMisses", c.CacheMisses)
			visit(field+".BranchMisses", c.BranchMisses)
		}
	}
	if r.Noise != nil {
		visit("Noise.Load", r.Noise.Load)
	}
	r.ratios(func(field string, ratio Ratio) {
		visit(field+".Median", ratio.Median)
		visit(field+".Low", ratio.Low)
		visit(field+".High", ratio.High)
	})
}

// ratios calls visit for each ratio of the run, and its field.
func (r *Run) ratios(visit func(field string, ratio Ratio)) {
	for i := range r.Ladder {
		visit(fmt.Sprintf("Ladder[%d].Speedup", i), r.Ladder[i].Speedup)
	}
	for i, rival := range r.Rivals {
		visit(fmt.Sprintf("Rivals[%d]", i), rival)
	}
	for i := range r.Ways {
		visit(fmt.Sprintf("Ways[%d].Times", i), r.Ways[i].Times)
	}
	if b := r.Baseline; b != nil {
		visit("Baseline.P50.Ratio", b.P50.Ratio)
		visit("Baseline.P95.Ratio", b.P95.Ratio)
	}
}

// maxTimeNs bounds times so that differences of two, and sums of many, do not overflow:
// 52 days.
const maxTimeNs = 1 << 52

type validation struct {
	steps int
	errs  []error
}

func (v *validation) wrong(field string, value any) {
	v.errs = append(v.errs, fault.Field(fault.ErrRange, "profile: Run."+field, value))
}

func (v *validation) whole(field string, value int64) {
	if value < 0 {
		v.wrong(field, value)
	}
}

func (v *validation) checkSteps(s *Steps) {
	if s.Len() > maxSteps {
		v.wrong("Steps: number of steps", s.Len())
	}
	v.column("Steps.Tick", len(s.Tick))
	for _, c := range s.columns() {
		v.column("Steps."+c.field, len(*c.to))
		least, most := limits(c.name)
		v.within("Steps."+c.field, *c.to, least, most)
	}
	v.names("Steps.Phases", s.Phases, len(s.PhaseNs))
	v.names("Steps.Counters", s.Counters, len(s.Counts))
}

// column checks that a column has as many values as there are steps.
func (v *validation) column(field string, length int) {
	if length != v.steps {
		v.wrong(field+": length", fmt.Sprintf("%d of %d", length, v.steps))
	}
}

func (v *validation) within(field string, values []int64, least, most int64) {
	for i, value := range values {
		if value < least || value > most {
			v.errs = append(v.errs, fault.Element(fault.ErrRange, "profile: Run."+field, i, value))
			return
		}
	}
}

func (v *validation) names(field string, names []string, columns int) {
	if len(names) != columns {
		v.wrong(field+": number of columns", fmt.Sprintf("%d of %d", columns, len(names)))
	}
	seen := map[string]bool{}
	for i, name := range names {
		if name == "" || seen[name] || strings.ContainsAny(name, "\n\r\x00") {
			v.errs = append(v.errs, fault.Element(fault.ErrRange, "profile: Run."+field, i, fmt.Sprintf("%q", name)))
		}
		seen[name] = true
	}
}
