package profile

import "math"

// Way is a way to come to the steps of a run, such as back to back or paced, that took turns with
// others in the same run.
type Way struct {
	Name  string `json:"name"`
	Steps int    `json:"steps"`
	P50Ns int64  `json:"p50_ns"` // of the step
	P95Ns int64  `json:"p95_ns"`
	// PhaseNs are the medians of the phases, in the order of Run.Steps.Phases; the last is what none
	// accounts for.
	PhaseNs []int64 `json:"phase_ns"`
	// Times is how many times as long the median step takes as that of the first way: 1 for that one.
	Times Ratio `json:"times"`
}

// NewWay returns what steps took that were come to in one way. The Ratio is for the caller.
func NewWay(name string, s *Steps) Way {
	q := quantilesOf(s.Ns)
	w := Way{Name: name, Steps: s.Len(), P50Ns: q.P50.Ns, P95Ns: q.P95.Ns, Times: Ratio{Name: name, Median: 1, Low: 1, High: 1}}
	for j := range len(s.Phases) + 1 {
		if s.Len() > 0 {
			w.PhaseNs = append(w.PhaseNs, nearestRank(sortedCopy(s.column(j)), 0.50))
		}
	}
	return w
}

// Only returns the steps for which keep says so, in columns of their own.
func (s *Steps) Only(keep func(i int) bool) Steps {
	only := Steps{
		Tick: filtered(s.Tick, keep), StartNs: filtered(s.StartNs, keep), DueNs: filtered(s.DueNs, keep), Ns: filtered(s.Ns, keep),
		Phases: s.Phases, Counters: s.Counters,
		GCs: filtered(s.GCs, keep), GCPauseNs: filtered(s.GCPauseNs, keep), GCAssistNs: filtered(s.GCAssistNs, keep),
	}
	for _, column := range s.PhaseNs {
		only.PhaseNs = append(only.PhaseNs, filtered(column, keep))
	}
	for _, column := range s.Counts {
		only.Counts = append(only.Counts, filtered(column, keep))
	}
	return only
}

// filtered is nil of a column that is missing, and only of one.
func filtered[T any](column []T, keep func(i int) bool) []T {
	if column == nil {
		return nil
	}
	kept := []T{}
	for i, v := range column {
		if keep(i) {
			kept = append(kept, v)
		}
	}
	return kept
}

// writeWays writes a line for each way, and how many times as long each phase takes in it as in the first.
func (rep *Report) writeWays(p *page) {
	ways := rep.Run.Ways
	if len(ways) < 2 {
		return
	}
	p.line()
	p.line(as(dim, left("by turns", 20)+right("steps", 7)+right("p50", 11)+right("p95", 11)+right("times", 7)+"   "+left("95 % interval", 18)))
	for i, w := range ways {
		within := interval(w.Times)
		if i == 0 {
			within = ""
		}
		p.line(say(left(clean(w.Name), 20)+right(count(w.Steps), 7)+right(duration(float64(w.P50Ns)), 11)+right(duration(float64(w.P95Ns)), 11)),
			as(bold, right(figure(w.Times.Median), 7)), say("   "+left(within, 18)))
	}
	p.line()
	const name, column = 17, 7
	shown := min(len(ways), (p.width-name)/column)
	head := left("times, by phase", name)
	for _, w := range ways[:shown] {
		head += right(cut(clean(short(w.Name)), column-1), column)
	}
	p.line(as(dim, head))
	for j, phase := range append(append([]string(nil), rep.Run.Steps.Phases...), Unaccounted) {
		line := left(clean(phase), name)
		for i, w := range ways[:shown] {
			text := "-"
			switch first := float64(nth(ways[0].PhaseNs, j)); {
			case i == 0:
				text = duration(first)
			case first > 0:
				text = figure(float64(nth(w.PhaseNs, j)) / first)
			}
			line += right(text, column)
		}
		p.line(say(line))
	}
}

// short is the last word of a name: of "paced, state read" it is "read".
func short(name string) string {
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == ' ' {
			return name[i+1:]
		}
	}
	return name
}

// nth is an element that may be missing.
func nth(ns []int64, i int) int64 {
	if i < len(ns) {
		return ns[i]
	}
	return math.MaxInt64
}
