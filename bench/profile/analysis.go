package profile

import (
	"cmp"
	"math"
	"slices"
)

// Report holds everything that the files and the terminal show of a run, computed once.
type Report struct {
	Run *Run

	Step Quantiles
	Over int // steps that took longer than the budget

	// Scheduled reports whether the run followed a schedule. Lateness is how long after its due time
	// a step began, and Late the number of steps that began more than a period late.
	Scheduled bool
	Lateness  Quantiles
	Late      int

	// Slow holds the indices of the slowest 5 % of the steps, at least one, the slowest first; equal
	// steps are in the order of time. SlowMeanNs and RestMeanNs are the means of these and of the
	// other steps, SlowP50Ns and RestP50Ns the medians.
	Slow                   []int
	SlowMeanNs, RestMeanNs float64
	SlowP50Ns, RestP50Ns   int64
	// Far counts the outliers at the front of Slow. They are at least twice as long as the median
	// slow step, and three times as far above the other steps. It is 0 if they hardly affect the mean
	// of the slow steps. The report compares medians of slow steps, on which outliers have no effect,
	// and names outliers separately.
	Far int

	Phases   []phaseRow   // in the order of the run; the last is Unaccounted
	Counters []counterRow // in the order of the run

	Collections collections
	Findings    []finding // what distinguishes the slow steps, the most significant first
	Sentence    string    // the findings in words
	Worst       []worst   // the twenty slowest steps, the slowest first
	Stability   stability

	Files []string // the files that hold the run, as the text report names them
	Next  string   // the command at the end of the report; empty: none

	order []int // of all steps, the slowest first
}

// unaccounted is the name of the row of the time outside all phases. It is negative where phases
// ran in parallel and add up to more than the step.
const unaccounted = "(unaccounted)"

// phaseRow is a phase, in nanoseconds. The shares of all rows add up to 1.
type phaseRow struct {
	Name       string  `json:"name"`
	P50        int64   `json:"p50_ns"`
	P95        int64   `json:"p95_ns"`
	MeanNs     float64 `json:"mean_ns"`      // over all steps
	SlowMeanNs float64 `json:"slow_mean_ns"` // over the slowest 5 %
	RestMeanNs float64 `json:"rest_mean_ns"` // over the others
	SlowP50    int64   `json:"slow_p50_ns"`  // the median over the slowest 5 %
	RestP50    int64   `json:"rest_p50_ns"`  // and over the others
	Share      float64 `json:"share"`        // of all steps
	SlowShare  float64 `json:"slow_share"`   // of the slowest 5 %
}

// counterRow is a counter over the steps.
type counterRow struct {
	Name     string  `json:"name"`
	Min      int64   `json:"min"`
	P50      int64   `json:"p50"`
	Max      int64   `json:"max"`
	Mean     float64 `json:"mean"`
	SlowMean float64 `json:"slow_mean"`
	RestMean float64 `json:"rest_mean"`
	SlowP50  int64   `json:"slow_p50"` // the median over the slowest 5 %
	RestP50  int64   `json:"rest_p50"` // and over the others
	// Correlation is Spearman's, of the ranks, with the duration of the steps: -1 to 1, and 0 for a
	// counter that never changes.
	Correlation float64 `json:"correlation"`
}

// collections describes the garbage collector: the steps in which a collection ended, and the mean
// time of its pauses and of assists, among the slow and the other steps.
type collections struct {
	SlowSteps    int     `json:"slow_steps"`
	RestSteps    int     `json:"rest_steps"`
	SlowPauseNs  float64 `json:"slow_pause_ns"`
	RestPauseNs  float64 `json:"rest_pause_ns"`
	SlowAssistNs float64 `json:"slow_assist_ns"`
	RestAssistNs float64 `json:"rest_assist_ns"`
}

// worst is one of the slowest steps.
type worst struct {
	Step   int    `json:"step"` // its index
	Tick   uint64 `json:"tick"`
	Ns     int64  `json:"ns"`
	LateNs int64  `json:"late_ns"`
	// Phase exceeded its own median the most, by BeyondNs. It may be Unaccounted.
	Phase      string `json:"phase"`
	BeyondNs   int64  `json:"beyond_ns"`
	GCs        int64  `json:"gcs"`
	GCPauseNs  int64  `json:"gc_pause_ns"`
	GCAssistNs int64  `json:"gc_assist_ns"`
}

const (
	slowShare  = 0.05 // of the steps are the slow ones
	worstSteps = 20
)

// Analyze computes the report of a run, which it does not change. It panics if the columns of the
// steps are not of equal length.
func Analyze(run *Run) *Report {
	s := &run.Steps
	s.check()
	rep := &Report{Run: run, Step: quantilesOf(s.Ns), Scheduled: run.RateHz > 0}
	for _, ns := range s.Ns {
		if run.BudgetNs > 0 && ns > run.BudgetNs {
			rep.Over++
		}
	}
	if rep.Scheduled {
		rep.lateness()
	}
	rep.split()
	rep.phases()
	rep.counters()
	rep.collections()
	rep.worst()
	rep.explain()
	rep.stability()
	rep.Next = run.Command
	return rep
}

// check panics unless each column is as long as Ns. Ticks, schedule and collector may be missing.
func (s *Steps) check() {
	n := s.Len()
	ok := len(s.Phases) == len(s.PhaseNs) && len(s.Counters) == len(s.Counts) && (len(s.Tick) == n || s.Tick == nil)
	for _, c := range s.columns() {
		ok = ok && (len(*c.to) == n || *c.to == nil && c.optional())
	}
	if !ok {
		panic("profile: columns of Steps of unequal length")
	}
}

// late returns how long after its due time step i began.
func (s *Steps) late(i int) int64 { return at(s.StartNs, i) - at(s.DueNs, i) }

func (s *Steps) latenessNs() []int64 {
	late := make([]int64, s.Len())
	for i := range late {
		late[i] = s.late(i)
	}
	return late
}

// unaccounted returns the time of step i outside its phases.
func (s *Steps) unaccounted(i int) int64 {
	rest := s.Ns[i]
	for _, ns := range s.PhaseNs {
		rest -= ns[i]
	}
	return rest
}

func (rep *Report) lateness() {
	s := &rep.Run.Steps
	period := 1e9 / rep.Run.RateHz
	late := s.latenessNs()
	for _, ns := range late {
		if float64(ns) > period {
			rep.Late++
		}
	}
	rep.Lateness = quantilesOf(late)
}

func (rep *Report) split() {
	s := &rep.Run.Steps
	if s.Len() == 0 {
		return
	}
	all := make([]int, s.Len())
	for i := range all {
		all[i] = i
	}
	slices.SortFunc(all, func(a, b int) int { return cmp.Or(cmp.Compare(s.Ns[b], s.Ns[a]), cmp.Compare(a, b)) })
	rep.order = all
	rep.Slow = all[:max(1, int(math.Ceil(slowShare*float64(len(all)))))]
	_, rep.SlowMeanNs, rep.RestMeanNs = rep.means(s.Ns)
	rep.SlowP50Ns, rep.RestP50Ns = rep.medians(s.Ns)
	rep.Far = rep.far()
}

const (
	farTimes = 2    // the median slow step
	farMore  = 3    // times the distance between that and the others
	farMoves = 1.25 // factor by which outliers increase that distance in the mean
)

func (rep *Report) far() (n int) {
	longer := rep.SlowP50Ns - rep.RestP50Ns
	if rep.SlowMeanNs-rep.RestMeanNs < farMoves*float64(longer) {
		return 0
	}
	for n < len(rep.Slow) {
		ns := rep.Run.Steps.Ns[rep.Slow[n]]
		if ns < farTimes*rep.SlowP50Ns || ns-rep.SlowP50Ns < farMore*longer {
			break
		}
		n++
	}
	return n
}

// medians returns the median of a column over the slow steps and over the others; 0 without steps.
func (rep *Report) medians(column []int64) (slow, rest int64) {
	var values []int64
	for _, i := range rep.Slow {
		values = append(values, column[i])
	}
	slow = medianOf(values)
	values = values[:0]
	for _, i := range rep.order[len(rep.Slow):] {
		values = append(values, column[i])
	}
	return slow, medianOf(values)
}

// medianOf sorts the values.
func medianOf(values []int64) int64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return nearestRank(values, 0.50)
}

// means returns the mean of a column over all steps, the slow and the others; 0 without steps.
func (rep *Report) means(column []int64) (all, slow, rest float64) {
	for _, v := range column {
		all += float64(v)
	}
	for _, i := range rep.Slow {
		slow += float64(at(column, i))
	}
	rest = (all - slow) / float64(max(1, len(column)-len(rep.Slow)))
	return all / float64(max(1, len(column))), slow / float64(max(1, len(rep.Slow))), rest
}

func (rep *Report) phases() {
	s := &rep.Run.Steps
	if s.Len() == 0 || len(s.Phases) == 0 {
		return
	}
	for j, name := range append(slices.Clone(s.Phases), unaccounted) {
		rep.Phases = append(rep.Phases, rep.phaseRow(name, s.column(j)))
	}
}

func (rep *Report) phaseRow(name string, ns []int64) phaseRow {
	sorted := sortedCopy(ns)
	row := phaseRow{Name: name, P50: nearestRank(sorted, 0.50), P95: nearestRank(sorted, 0.95)}
	row.MeanNs, row.SlowMeanNs, row.RestMeanNs = rep.means(ns)
	row.SlowP50, row.RestP50 = rep.medians(ns)
	all, _, _ := rep.means(rep.Run.Steps.Ns)
	row.Share = share(row.MeanNs, all)
	row.SlowShare = share(row.SlowMeanNs, rep.SlowMeanNs)
	return row
}

// share returns 0 if the whole is 0.
func share(part, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return part / whole
}

func (rep *Report) counters() {
	s := &rep.Run.Steps
	if s.Len() == 0 {
		return
	}
	var times []float64
	for j, name := range s.Counters {
		sorted := sortedCopy(s.Counts[j])
		row := counterRow{Name: name, Min: sorted[0], P50: nearestRank(sorted, 0.50), Max: sorted[len(sorted)-1]}
		row.Mean, row.SlowMean, row.RestMean = rep.means(s.Counts[j])
		row.SlowP50, row.RestP50 = rep.medians(s.Counts[j])
		if times == nil {
			times = ranks(s.Ns)
		}
		row.Correlation = correlation(ranks(s.Counts[j]), times)
		rep.Counters = append(rep.Counters, row)
	}
}

func (rep *Report) collections() {
	s, c := &rep.Run.Steps, &rep.Collections
	for i := range s.GCs {
		if s.GCs[i] > 0 {
			c.RestSteps++
		}
	}
	for _, i := range rep.Slow {
		if at(s.GCs, i) > 0 {
			c.SlowSteps++
			c.RestSteps--
		}
	}
	_, c.SlowPauseNs, c.RestPauseNs = rep.means(s.GCPauseNs)
	_, c.SlowAssistNs, c.RestAssistNs = rep.means(s.GCAssistNs)
}

func (rep *Report) worst() {
	s := &rep.Run.Steps
	for _, i := range rep.order[:min(worstSteps, len(rep.order))] {
		w := worst{
			Step: i, Tick: at(s.Tick, i), Ns: s.Ns[i], LateNs: s.late(i),
			GCs: at(s.GCs, i), GCPauseNs: at(s.GCPauseNs, i), GCAssistNs: at(s.GCAssistNs, i),
		}
		for j, row := range rep.Phases {
			if beyond := rep.phaseNs(j, i) - row.P50; w.Phase == "" || beyond > w.BeyondNs {
				w.Phase, w.BeyondNs = row.Name, beyond
			}
		}
		rep.Worst = append(rep.Worst, w)
	}
}

// ranks returns the rank of each value, from 1; equal ones share the mean of their ranks.
func ranks[T cmp.Ordered](values []T) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(values[a], values[b]), cmp.Compare(a, b)) })
	rank := make([]float64, len(values))
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && values[order[to]] == values[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			rank[i] = float64(from+to+1) / 2
		}
		from = to
	}
	return rank
}

// correlation returns Pearson's; 0 if either side never changes.
func correlation(a, b []float64) float64 {
	n := float64(len(a))
	meanA, meanB := 0.0, 0.0
	for i := range a {
		meanA += a[i] / n
		meanB += b[i] / n
	}
	var ab, aa, bb float64
	for i := range a {
		da, db := a[i]-meanA, b[i]-meanB
		ab += float64(da * db)
		aa += float64(da * da)
		bb += float64(db * db)
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return max(-1, min(1, ab/math.Sqrt(aa*bb)))
}

// bar is a column of the bar chart: some steps that follow each other.
type bar struct {
	From, To int   // indices of the steps, To excluded
	MaxNs    int64 // of the slowest
	Over     int   // steps that took longer than the budget
}

// bars divides the steps into columns, one for each step if there are fewer. It panics if columns
// is below 1.
func (rep *Report) bars(columns int) []bar {
	if columns < 1 {
		panic("profile: Bars: columns below 1")
	}
	s := &rep.Run.Steps
	columns = min(columns, s.Len())
	bars := make([]bar, columns)
	for c := range bars {
		b := &bars[c]
		b.From, b.To = c*s.Len()/columns, (c+1)*s.Len()/columns
		for _, ns := range s.Ns[b.From:b.To] {
			b.MaxNs = max(b.MaxNs, ns)
			if rep.Run.BudgetNs > 0 && ns > rep.Run.BudgetNs {
				b.Over++
			}
		}
	}
	return bars
}
