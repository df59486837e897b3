package profile

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// finding is a difference between the slow steps and the others.
type finding struct {
	Kind findingKind `json:"kind"`
	Name string      `json:"name,omitempty"` // of the phase or counter
	// Slow and Rest are medians, in nanoseconds or counts, which no single step can move. For
	// collections they are the share of the steps in which one ended.
	Slow float64 `json:"slow"`
	Rest float64 `json:"rest"`
}

// findingKind is the subject of a finding.
type findingKind string

const (
	// FoundFew: there are too few steps for any finding.
	foundFew findingKind = "few"
	// FoundEven: the slow steps hardly take longer than the others.
	foundEven findingKind = "even"
	// FoundPhase: a phase takes longer.
	foundPhase findingKind = "phase"
	// FoundAlike: all phases take longer, by about the same factor.
	foundAlike findingKind = "alike"
	// FoundMixed: the slow steps take longer, but no phase does in most of them.
	foundMixed findingKind = "mixed"
	// FoundCounter: more, or less, is counted.
	foundCounter findingKind = "counter"
	// FoundCollections: garbage collections end in more of them.
	foundCollections findingKind = "collections"
)

const (
	fewSlow      = 5    // slow steps are needed for a finding
	evenGrowth   = 1.1  // slow steps that take less than this times the others are like them
	alikeLeast   = 0.05 // share of a step from which a phase has to grow alike
	alikeFactor  = 2.0  // factor by which their growth may differ from that of the step
	namedShare   = 0.15 // of the extra time of slow steps, from which a phase is named
	namedPhases  = 3    // at most
	addsUp       = 1.05 // largest sum of shares that the sentence prints: medians do not quite add up
	counterRise  = 1.2  // factor by which a counter has to differ
	significance = 3.0  // standard deviations that chance alone rarely reaches
)

// explain finds what distinguishes the slow steps, and describes it.
func (rep *Report) explain() {
	s := &rep.Run.Steps
	switch {
	case s.Len() == 0:
		return
	case len(rep.Slow) < fewSlow:
		rep.Findings = []finding{rep.found(foundFew)}
	case float64(rep.SlowP50Ns) < evenGrowth*float64(rep.RestP50Ns) || rep.SlowP50Ns == 0:
		rep.Findings = []finding{rep.found(foundEven)}
	default:
		rep.Findings = slices.Concat(rep.findPhases(), rep.findCounters(), rep.findCollections())
	}
	rep.Sentence = rep.describe()
}

func (rep *Report) found(kind findingKind) finding {
	return finding{Kind: kind, Slow: float64(rep.SlowP50Ns), Rest: float64(rep.RestP50Ns)}
}

// findPhases finds the phases that make the slow steps slow. It compares medians, although they do
// not quite add up to the median of the step, as means would: a single step can dominate a mean of the
// slow steps.
func (rep *Report) findPhases() []finding {
	if len(rep.Phases) == 0 {
		return nil
	}
	if rep.alike() {
		return []finding{rep.found(foundAlike)}
	}
	var rows []phaseRow
	for j, row := range rep.Phases {
		if float64(row.longer()) >= namedShare*float64(rep.longerNs()) && rep.mannWhitney(func(i int) int64 { return rep.phaseNs(j, i) }) > significance {
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		return []finding{rep.found(foundMixed)}
	}
	slices.SortStableFunc(rows, func(a, b phaseRow) int {
		return cmp.Compare(b.longer(), a.longer())
	})
	var found []finding
	for _, row := range rows[:min(namedPhases, len(rows))] {
		found = append(found, finding{Kind: foundPhase, Name: row.Name, Slow: float64(row.SlowP50), Rest: float64(row.RestP50)})
	}
	return found
}

// longerNs is the difference of the median slow step and the median of the others, and longer that
// of a phase.
func (rep *Report) longerNs() int64 { return rep.SlowP50Ns - rep.RestP50Ns }
func (row *phaseRow) longer() int64 { return row.SlowP50 - row.RestP50 }

// phaseNs returns the time of step i in row j of Phases.
func (rep *Report) phaseNs(j, i int) int64 {
	s := &rep.Run.Steps
	if j < len(s.PhaseNs) {
		return s.PhaseNs[j][i]
	}
	return s.unaccounted(i)
}

// alike reports whether all larger phases grow about as the whole step does, which happens when the
// machine interrupts or slows down the program. It is false for a single phase.
func (rep *Report) alike() bool {
	if rep.RestP50Ns <= 0 {
		return false // growth from nothing has no factor
	}
	growth := float64(rep.SlowP50Ns)/float64(rep.RestP50Ns) - 1
	matter := 0
	for _, row := range rep.Phases {
		if row.Share < alikeLeast {
			continue
		}
		matter++
		own := float64(row.SlowP50)/float64(row.RestP50) - 1
		if !(own >= growth/alikeFactor && own <= growth*alikeFactor) {
			return false
		}
	}
	return matter > 1
}

// mannWhitney returns by how many standard deviations a quantity is higher in the slow steps than
// expected by chance: the statistic of Mann and Whitney (Annals of Mathematical Statistics 18,
// 1947), which no single step can dominate. The computation assumes that no two values are equal,
// which makes the result smaller.
func (rep *Report) mannWhitney(quantity func(i int) int64) float64 {
	values := make([]int64, rep.Run.Steps.Len())
	for i := range values {
		values[i] = quantity(i)
	}
	rank := ranks(values)
	sum := 0.0
	for _, i := range rep.Slow {
		sum += rank[i]
	}
	n, slow := float64(len(values)), float64(len(rep.Slow))
	mean := slow * (n + 1) / 2
	return (sum - mean) / math.Sqrt(slow*(n-slow)*(n+1)/12)
}

// findCounters finds at most two counters, those that differ by the greatest factor.
func (rep *Report) findCounters() []finding {
	var found []finding
	for j, row := range rep.Counters {
		if row.Min < 0 {
			continue // factors mean nothing
		}
		slow, rest := float64(row.SlowP50), float64(row.RestP50)
		more, less := slow >= counterRise*rest, rest >= counterRise*slow
		if slow != rest && (more || less) && math.Abs(rep.mannWhitney(func(i int) int64 { return rep.Run.Steps.Counts[j][i] })) > significance {
			found = append(found, finding{Kind: foundCounter, Name: row.Name, Slow: slow, Rest: rest})
		}
	}
	factor := func(f finding) float64 { return max(f.Slow, f.Rest) / min(f.Slow, f.Rest) }
	slices.SortStableFunc(found, func(a, b finding) int { return cmp.Compare(factor(b), factor(a)) })
	return found[:min(2, len(found))]
}

// findCollections checks whether collections end in more of the slow steps than expected by chance,
// by the difference of two proportions.
func (rep *Report) findCollections() []finding {
	c := &rep.Collections
	slow, rest := float64(len(rep.Slow)), float64(rep.Run.Steps.Len()-len(rep.Slow))
	in, out := float64(c.SlowSteps)/slow, float64(c.RestSteps)/rest
	p := float64(c.SlowSteps+c.RestSteps) / (slow + rest)
	if c.SlowSteps < 2 || in-out <= significance*math.Sqrt(p*(1-p)*(1/slow+1/rest)) {
		return nil
	}
	return []finding{{Kind: foundCollections, Slow: in, Rest: out}}
}

func (rep *Report) describe() string {
	of := func(kind findingKind) (found []finding) {
		for _, f := range rep.Findings {
			if f.Kind == kind {
				found = append(found, f)
			}
		}
		return found
	}
	has := func(kind findingKind) bool { return len(of(kind)) > 0 }
	from, to := durations(float64(rep.RestP50Ns), float64(rep.SlowP50Ns))
	whole := fmt.Sprintf("%s (%s → %s)", longer(float64(rep.SlowP50Ns), float64(rep.RestP50Ns)), from, to)
	var parts []string
	switch {
	case has(foundFew):
		return fmt.Sprintf("Too few steps to explain the slow ones: %d, of which the slowest 5 %% are %d.", rep.Run.Steps.Len(), len(rep.Slow))
	case has(foundEven):
		return fmt.Sprintf("The slow steps are hardly slower than the others (%s → %s): there is little to explain.", from, to) + rep.describeFar()
	case has(foundAlike):
		parts = append(parts, "The slow steps take "+whole+", and nothing stands out: all phases grow alike")
	case has(foundMixed):
		parts = append(parts, "The slow steps take "+whole+", and no phase stands out in most of them")
	case has(foundPhase):
		parts = append(parts, rep.describePhases(of(foundPhase)))
	default: // a run without phases
		parts = append(parts, "The slow steps take "+whole)
	}
	for _, f := range of(foundCounter) {
		parts = append(parts, "they have "+describeCounter(f))
	}
	for range of(foundCollections) {
		parts = append(parts, rep.describeCollections())
	}
	if len(parts) == 1 && (has(foundAlike) || has(foundMixed)) {
		parts[0] += ", which looks like interruptions by the machine"
	}
	return strings.Join(parts, "; ") + "." + rep.describeFar()
}

// describeFar names the outliers, which the sentence before it ignores; empty without any.
func (rep *Report) describeFar() string {
	if rep.Far == 0 {
		return ""
	}
	if rep.Far > 1 {
		return fmt.Sprintf(" %s steps are outliers, the slowest of them step %s.", count(rep.Far), rep.describeWorst())
	}
	return " An outlier is step " + rep.describeWorst() + "."
}

// describeWorst names the slowest step, its duration, and the phase that exceeded its median the
// most.
func (rep *Report) describeWorst() string {
	w := &rep.Worst[0]
	text := fmt.Sprintf("%s (tick %s) with %s", count(w.Step), grouped(int64(w.Tick)), duration(float64(w.Ns)))
	if w.Phase != "" && w.BeyondNs > 0 {
		where := "in " + w.Phase
		if w.Phase == unaccounted {
			where = "between its phases"
		}
		text += fmt.Sprintf(": %s beyond the median %s", duration(float64(w.BeyondNs)), where)
	}
	if w.GCs > 0 {
		text += "; a garbage collection ended in it"
	}
	return text
}

func (rep *Report) describePhases(found []finding) string {
	var each []string
	explained := 0.0
	for _, f := range found {
		from, to := durations(f.Rest, f.Slow)
		where := "in " + f.Name
		if f.Name == unaccounted {
			where = "between the phases"
		}
		more := "more"
		if f.Rest > 0 {
			more = moreOf(f.Slow, f.Rest)
		}
		each = append(each, fmt.Sprintf("%s %s (%s → %s)", more, where, from, to))
		explained += f.Slow - f.Rest
	}
	text := "The slow steps spend " + listed(each)
	if part := explained / float64(rep.longerNs()); part <= addsUp {
		text += fmt.Sprintf(", %.0f %% of their extra time", min(100, 100*part))
	}
	return text
}

func (rep *Report) describeCollections() string {
	c := &rep.Collections
	n := rep.Run.Steps.Len()
	text := fmt.Sprintf("a garbage collection ended in %d of %d, and in %d of %d others", c.SlowSteps, len(rep.Slow), c.RestSteps, n-len(rep.Slow))
	var assists []int64
	for _, i := range rep.Slow {
		if s := &rep.Run.Steps; at(s.GCs, i) > 0 {
			assists = append(assists, at(s.GCAssistNs, i))
		}
	}
	if most := medianOf(assists); float64(most) > namedShare*float64(rep.longerNs()) {
		text += fmt.Sprintf(", and assists took %s of such a slow step", duration(float64(most)))
	}
	return text
}

// listed joins clauses as in "a, b and c".
func listed(parts []string) string {
	last := len(parts) - 1
	if last <= 0 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}

// moreOf returns "61 % more" or, from almost twice as much, "2.3 times as much".
func moreOf(slow, rest float64) string {
	if slow < 1.95*rest {
		return fmt.Sprintf("%.0f %% more", 100*(slow/rest-1))
	}
	return times(slow/rest) + " times as much"
}

// longer is moreOf for a duration.
func longer(slow, rest float64) string {
	if rest <= 0 { // with a coarse clock
		return "longer"
	}
	if slow < 1.95*rest {
		return fmt.Sprintf("%.0f %% longer", 100*(slow/rest-1))
	}
	return times(slow/rest) + " times as long"
}

// times formats a factor with two digits at least.
func times(factor float64) string {
	if factor < 10 {
		return fmt.Sprintf("%.1f", factor)
	}
	return figure(factor)
}

func describeCounter(f finding) string {
	switch {
	case f.Rest == 0:
		return fmt.Sprintf("%s %s, most of the others none", figure(f.Slow), f.Name)
	case f.Slow > f.Rest:
		return times(f.Slow/f.Rest) + " times the " + f.Name
	default:
		return fmt.Sprintf("%.0f %% fewer %s", 100*(1-f.Slow/f.Rest), f.Name)
	}
}
