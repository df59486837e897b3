package profile

import (
	"fmt"
	"math"
)

// stability is how steady the machine was while the run was measured.
type stability struct {
	// Medians are those of tenths of the run, in nanoseconds; empty for fewer than 200 steps.
	Medians []int64 `json:"medians_ns,omitempty"`
	// Drift is by how much the greatest of them exceeds the least, as a share of the least.
	Drift float64 `json:"drift"`
	// Follows is the counter that rose and fell with them, which means that the scene itself has
	// changed. It is empty if there is no such counter.
	Follows string `json:"follows,omitempty"`
	// FarOut counts the steps above Tukey's outer fence: further above the third quartile than three
	// times the distance of the quartiles (Exploratory Data Analysis, 1977).
	FarOut int `json:"far_out"`
	// Noisy means that figures of this run should not be compared with those of another.
	Noisy bool `json:"noisy"`
	// Advice gives the reason, and what helps.
	Advice []string `json:"advice,omitempty"`
}

const (
	tenths       = 10
	tenthSteps   = 20   // at least, in each
	noisyDrift   = 0.10 // of medians: more than a quiet machine shows
	followsAbove = 0.8  // correlation, of tenths
	noisyFarOut  = 0.02 // of the steps, unless something explains them
)

func (rep *Report) stability() {
	s, st := &rep.Run.Steps, &rep.Stability
	if s.Len() < tenths*tenthSteps {
		rep.adviseOnMachine()
		return
	}
	st.Medians = tenthsOf(s.Ns)
	least, most := st.Medians[0], st.Medians[0]
	for _, m := range st.Medians {
		least, most = min(least, m), max(most, m)
	}
	if least > 0 {
		st.Drift = float64(most)/float64(least) - 1
	}
	sorted := sortedCopy(s.Ns)
	q1, q3 := nearestRank(sorted, 0.25), nearestRank(sorted, 0.75)
	for _, ns := range s.Ns {
		if float64(ns) > float64(q3)+3*float64(q3-q1) {
			st.FarOut++
		}
	}
	st.follow(s)
	rep.advise()
	rep.adviseOnMachine()
}

func tenthsOf(column []int64) []int64 {
	medians := make([]int64, tenths)
	for i := range medians {
		from, to := i*len(column)/tenths, (i+1)*len(column)/tenths
		medians[i] = nearestRank(sortedCopy(column[from:to]), 0.5)
	}
	return medians
}

// follow finds the counter that explains the drift best.
func (st *stability) follow(s *Steps) {
	best := followsAbove
	times := ranks(st.Medians)
	for j, name := range s.Counters {
		if r := math.Abs(correlation(ranks(tenthsOf(s.Counts[j])), times)); r > best {
			best, st.Follows = r, name
		}
	}
}

func (rep *Report) advise() {
	st := &rep.Stability
	if st.Drift > noisyDrift && st.Follows == "" {
		st.Noisy = true
		st.Advice = append(st.Advice, fmt.Sprintf("the median of tenths of the run varies by %.0f %%, and no counter does so: another program, "+
			"or the clock of the CPU; run on a quiet machine, pin the thread, compare by turns", 100*st.Drift))
	}
	if n := rep.Run.Steps.Len(); float64(st.FarOut) > noisyFarOut*float64(n) && rep.interrupted() {
		st.Noisy = true
		st.Advice = append(st.Advice, fmt.Sprintf("%d of %d steps are outliers without a cause in the run: they look interrupted; "+
			"close other programs, or pin the thread to a CPU of its own", st.FarOut, n))
	}
}

const (
	noisySwitches = 0.01 // of the steps
	noisySteal    = 0.01 // of the time of the CPUs
)

// adviseOnMachine judges what the system reported for the time of the run. A load above the number
// of CPUs alone does not make a run noisy: it is a mean over a minute.
func (rep *Report) adviseOnMachine() {
	n, st, s := rep.Run.Noise, &rep.Stability, &rep.Run.Steps
	if n == nil {
		return
	}
	advise := func(format string, values ...any) {
		st.Noisy = true
		st.Advice = append(st.Advice, fmt.Sprintf(format, values...))
	}
	if n.Switches > 0 && float64(n.Switches) > noisySwitches*float64(s.Len()) {
		advise("the program was taken off its CPU %s times: close other programs, or pin the thread to a CPU of its own", grouped(n.Switches))
	}
	if span := rep.spanNs() * float64(max(1, rep.Run.Env.CPUs)); n.StealNs > 0 && float64(n.StealNs) > noisySteal*span {
		advise("the hypervisor gave %s of the CPUs' time to others: compare by turns, or measure on a machine of your own", duration(float64(n.StealNs)))
	}
	if n.Faults > 0 {
		advise("%s pages had to be read from disk: memory is short", grouped(n.Faults))
	}
	if n.Load > float64(rep.Run.Env.CPUs) && rep.Run.Env.CPUs > 0 && st.Noisy {
		st.Advice = append(st.Advice, fmt.Sprintf("in the last minute %s processes competed for %d CPUs", figure(n.Load), rep.Run.Env.CPUs))
	}
	if n.Governor != "" && n.Governor != "performance" && st.Noisy {
		st.Advice = append(st.Advice, "the clock of the CPU is governed by "+n.Governor+": performance keeps it steady")
	}
}

// spanNs is the time from the first step to the end of the last.
func (rep *Report) spanNs() float64 {
	s := &rep.Run.Steps
	last := s.Len() - 1
	if last < 0 {
		return 0
	}
	if s.StartNs != nil {
		return float64(s.StartNs[last] - s.StartNs[0] + s.Ns[last])
	}
	all, _, _ := rep.means(s.Ns)
	return all * float64(s.Len())
}

func (rep *Report) interrupted() bool {
	return len(rep.Findings) == 1 && (rep.Findings[0].Kind == foundAlike || rep.Findings[0].Kind == foundMixed)
}
