package profile

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Finding is something that sets the slow steps apart from the others.
type Finding struct {
	Kind FindingKind `json:"kind"`
	Name string      `json:"name,omitempty"` // of the phase or counter
	// Slow and Rest are means, in nanoseconds or counts; of collections the share of the
	// steps in which one ended.
	Slow float64 `json:"slow"`
	Rest float64 `json:"rest"`
}

// FindingKind says what a finding is about.
type FindingKind string

const (
	// FoundFew: there are too few steps for any finding.
	FoundFew FindingKind = "few"
	// FoundEven: the slow steps hardly take longer than the others.
	FoundEven FindingKind = "even"
	// FoundPhase: a phase takes longer.
	FoundPhase FindingKind = "phase"
	// FoundAlike: all phases take longer, by about the same factor.
	FoundAlike FindingKind = "alike"
	// FoundMixed: the slow steps take longer, but no phase does in most of them.
	FoundMixed FindingKind = "mixed"
	// FoundCounter: more, or less, is counted.
	FoundCounter FindingKind = "counter"
	// FoundCollections: garbage collections end in more of them.
	FoundCollections FindingKind = "collections"
)

const (
	fewSlow     = 5    // slow steps are needed for a finding
	evenGrowth  = 1.1  // slow steps that take less than this times the others are like them
	alikeLeast  = 0.05 // share of a step of the phases that have to grow alike
	alikeFactor = 2.0  // by which their growths may differ from that of the step
	namedShare  = 0.15 // of what slow steps take longer makes a phase worth naming
	namedPhases = 3    // at most
	counterRise = 1.2  // by which a counter has to differ
	telling     = 3.0  // standard deviations that chance alone hardly reaches
)

// explain looks for what the slow steps have more of, and says it.
func (rep *Report) explain() {
	s := &rep.Run.Steps
	switch {
	case s.Len() == 0:
		return
	case len(rep.Slow) < fewSlow:
		rep.Findings = []Finding{{Kind: FoundFew, Slow: rep.SlowMeanNs, Rest: rep.RestMeanNs}}
	case rep.SlowMeanNs < evenGrowth*rep.RestMeanNs || rep.SlowMeanNs == 0:
		rep.Findings = []Finding{{Kind: FoundEven, Slow: rep.SlowMeanNs, Rest: rep.RestMeanNs}}
	default:
		rep.Findings = slices.Concat(rep.findPhases(), rep.findCounters(), rep.findCollections())
	}
	rep.Sentence = rep.say()
}

// findPhases names the phases that make the slow steps slow. Means are additive: what each
// phase takes longer adds up, with what no phase accounts for, to what the step does.
func (rep *Report) findPhases() []Finding {
	if len(rep.Phases) == 0 {
		return nil
	}
	if rep.alike() {
		return []Finding{{Kind: FoundAlike, Slow: rep.SlowMeanNs, Rest: rep.RestMeanNs}}
	}
	longer := rep.SlowMeanNs - rep.RestMeanNs
	var rows []PhaseRow
	for j, row := range rep.Phases {
		more := row.SlowMeanNs - row.RestMeanNs
		grows := row.SlowMeanNs*rep.RestMeanNs > rep.SlowMeanNs*row.RestMeanNs // more than the step does
		if more >= namedShare*longer && grows && rep.sets(func(i int) int64 { return rep.phaseNs(j, i) }) > telling {
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		return []Finding{{Kind: FoundMixed, Slow: rep.SlowMeanNs, Rest: rep.RestMeanNs}}
	}
	slices.SortStableFunc(rows, func(a, b PhaseRow) int {
		return cmp.Compare(b.SlowMeanNs-b.RestMeanNs, a.SlowMeanNs-a.RestMeanNs)
	})
	var found []Finding
	for _, row := range rows[:min(namedPhases, len(rows))] {
		found = append(found, Finding{Kind: FoundPhase, Name: row.Name, Slow: row.SlowMeanNs, Rest: row.RestMeanNs})
	}
	return found
}

// phaseNs is what step i spent in row j of Phases.
func (rep *Report) phaseNs(j, i int) int64 {
	s := &rep.Run.Steps
	if j < len(s.PhaseNs) {
		return s.PhaseNs[j][i]
	}
	return s.unaccounted(i)
}

// alike tells whether all phases that matter grow about as the whole step does, as they do
// when the machine was taken away or slowed down for a while. One phase alone is not like
// any other.
func (rep *Report) alike() bool {
	if rep.RestMeanNs <= 0 {
		return false // growth from nothing has no factor
	}
	growth := rep.SlowMeanNs/rep.RestMeanNs - 1
	matter := 0
	for _, row := range rep.Phases {
		if row.Share < alikeLeast {
			continue
		}
		matter++
		own := row.SlowMeanNs/row.RestMeanNs - 1
		if !(own >= growth/alikeFactor && own <= growth*alikeFactor) {
			return false
		}
	}
	return matter > 1
}

// sets tells by how many standard deviations a quantity is higher in the slow steps than it
// would be by chance: the statistic of Mann and Whitney (Annals of Mathematical Statistics 18,
// 1947), which no single step can sway. It is computed as if no two values were equal, which
// makes it smaller.
func (rep *Report) sets(quantity func(i int) int64) float64 {
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

// findCounters names at most two counters, those that differ by the greatest factor.
func (rep *Report) findCounters() []Finding {
	var found []Finding
	for j, row := range rep.Counters {
		if row.Min < 0 {
			continue // factors mean nothing
		}
		more, less := row.SlowMean >= counterRise*row.RestMean, row.RestMean >= counterRise*row.SlowMean
		if (more || less) && math.Abs(rep.sets(func(i int) int64 { return rep.Run.Steps.Counts[j][i] })) > telling {
			found = append(found, Finding{Kind: FoundCounter, Name: row.Name, Slow: row.SlowMean, Rest: row.RestMean})
		}
	}
	factor := func(f Finding) float64 { return max(f.Slow, f.Rest) / min(f.Slow, f.Rest) }
	slices.SortStableFunc(found, func(a, b Finding) int { return cmp.Compare(factor(b), factor(a)) })
	return found[:min(2, len(found))]
}

// findCollections tells whether collections end in more of the slow steps than chance would
// have it: by the difference of two proportions.
func (rep *Report) findCollections() []Finding {
	c := &rep.Collections
	slow, rest := float64(len(rep.Slow)), float64(rep.Run.Steps.Len()-len(rep.Slow))
	in, out := float64(c.SlowSteps)/slow, float64(c.RestSteps)/rest
	p := float64(c.SlowSteps+c.RestSteps) / (slow + rest)
	if c.SlowSteps < 2 || in-out <= telling*math.Sqrt(p*(1-p)*(1/slow+1/rest)) {
		return nil
	}
	return []Finding{{Kind: FoundCollections, Slow: in, Rest: out}}
}

// say puts the findings into one sentence.
func (rep *Report) say() string {
	of := func(kind FindingKind) (found []Finding) {
		for _, f := range rep.Findings {
			if f.Kind == kind {
				found = append(found, f)
			}
		}
		return found
	}
	has := func(kind FindingKind) bool { return len(of(kind)) > 0 }
	from, to := durations(rep.RestMeanNs, rep.SlowMeanNs)
	whole := fmt.Sprintf("%s (%s → %s)", longer(rep.SlowMeanNs, rep.RestMeanNs), from, to)
	var parts []string
	switch {
	case has(FoundFew):
		return fmt.Sprintf("Too few steps to say what the slow ones have more of: %d, and the slowest 5 %% of them are %d.", rep.Run.Steps.Len(), len(rep.Slow))
	case has(FoundEven):
		return fmt.Sprintf("The slow steps are hardly slower than the others (%s → %s): there is little to explain.", from, to)
	case has(FoundAlike):
		parts = append(parts, "The slow steps take "+whole+", and nothing stands out: all phases grow alike")
	case has(FoundMixed):
		parts = append(parts, "The slow steps take "+whole+", and no phase stands out in most of them")
	case has(FoundPhase):
		parts = append(parts, rep.sayPhases(of(FoundPhase)))
	default: // no phases were told apart
		parts = append(parts, "The slow steps take "+whole)
	}
	for _, f := range of(FoundCounter) {
		parts = append(parts, "they have "+counted(f))
	}
	for range of(FoundCollections) {
		parts = append(parts, rep.sayCollections())
	}
	if len(parts) == 1 && (has(FoundAlike) || has(FoundMixed)) {
		parts[0] += ", which looks like interruptions by the machine"
	}
	return strings.Join(parts, "; ") + "."
}

func (rep *Report) sayPhases(found []Finding) string {
	var each []string
	explained := 0.0
	for _, f := range found {
		from, to := durations(f.Rest, f.Slow)
		where := "in " + f.Name
		if f.Name == Unaccounted {
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
	if part := explained / (rep.SlowMeanNs - rep.RestMeanNs); part <= 1.005 {
		text += fmt.Sprintf(", %.0f %% of what they take longer", 100*part)
	}
	return text
}

func (rep *Report) sayCollections() string {
	c := &rep.Collections
	n := rep.Run.Steps.Len()
	text := fmt.Sprintf("in %d of %d a garbage collection ended, of the others in %d of %d", c.SlowSteps, len(rep.Slow), c.RestSteps, n-len(rep.Slow))
	longer := rep.SlowMeanNs - rep.RestMeanNs
	if more := c.SlowAssistNs - c.RestAssistNs; more > namedShare*longer {
		text += fmt.Sprintf(", and assists took %s more of a slow step", duration(more))
	}
	return text
}

// listed joins clauses: a, b and c.
func listed(parts []string) string {
	last := len(parts) - 1
	if last <= 0 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}

// moreOf is "61 % more", from almost twice as much on "2.3 times as much".
func moreOf(slow, rest float64) string {
	if slow < 1.95*rest {
		return fmt.Sprintf("%.0f %% more", 100*(slow/rest-1))
	}
	return times(slow/rest) + " times as much"
}

// longer is the same of a duration.
func longer(slow, rest float64) string {
	if rest <= 0 { // by a coarse clock
		return "longer"
	}
	if slow < 1.95*rest {
		return fmt.Sprintf("%.0f %% longer", 100*(slow/rest-1))
	}
	return times(slow/rest) + " times as long"
}

// times is a factor with two digits at least.
func times(factor float64) string {
	if factor < 10 {
		return fmt.Sprintf("%.1f", factor)
	}
	return figure(factor)
}

func counted(f Finding) string {
	switch {
	case f.Rest == 0:
		return fmt.Sprintf("%s %s, the others none", figure(f.Slow), f.Name)
	case f.Slow > f.Rest:
		return times(f.Slow/f.Rest) + " times the " + f.Name
	default:
		return fmt.Sprintf("%.0f %% fewer %s", 100*(1-f.Slow/f.Rest), f.Name)
	}
}
