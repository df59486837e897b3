package profile

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/evertick/evertick/native"
)

// Run holds the measurements of one run: plain data, from which report and files are made. A part
// that was not measured is empty, and reports leave out its section.
type Run struct {
	Scene   string      // name of the scene, or of the user's program
	Params  []Param     // of the scene and of the run, in the order of the report
	Env     Environment // what else the figures depend on
	Level   string      // of the kernels
	Workers int
	Seed    uint64
	Started string // wall time at which the run began, RFC 3339 in UTC
	Command string // that repeats it; empty if unknown

	BudgetNs int64   // that a step may take
	RateHz   float64 // of the schedule that Steps.DueNs follows; 0: no schedule
	Warmup   int     // steps that ran before those measured
	Steps    Steps

	Parity    *Parity   // of the kernels that ran
	Hash      string    // of the state after the last step, 16 hex digits
	Allocs    float64   // heap objects allocated in a step, the mean
	Bytes     float64   // heap bytes allocated in a step, the mean
	Overhead  float64   // share of the steps' time that recording them took, as measured
	Hardware  *Hardware // counters of the CPU
	Noise     *Noise    // what else the machine did meanwhile
	Ladder    []Rung    // levels, slowest first
	Ways      []Way     // ways to start the steps, by turns; the first is the baseline of the others
	Rivals    []Ratio   // other engines in the same run, as a ratio to ours
	Baseline  *Baseline // an earlier run, and what has changed
	Dropped   uint64    // steps of the schedule that were given up
	Warnings  []string  // reasons to doubt the figures, with advice
	Unwatched []string  // what could not be measured here, with the reason
}

// Param is a parameter as reports show it.
type Param struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Steps are the steps measured, in columns of equal length.
type Steps struct {
	Tick    []uint64
	StartNs []int64 // since the first of them was due or, without a schedule, began
	DueNs   []int64 // on the same clock; without a schedule the same as StartNs
	Ns      []int64 // duration of the step, by the wall clock

	Phases   []string  // in the order in which they run
	PhaseNs  [][]int64 // by phase, then step
	Counters []string  // names of what was counted: hits, contacts, live …
	Counts   [][]int64 // by counter, then step

	GCs        []int64 // garbage collections that ended in the step
	GCPauseNs  []int64 // for which the world was stopped
	GCAssistNs []int64 // CPU time in which the program had to help the collector
}

// Len returns the number of steps.
func (s *Steps) Len() int { return len(s.Ns) }

// Parity is the verdict on the kernels, before anything was timed.
type Parity struct {
	OK     bool     `json:"ok"`
	Cases  int      `json:"cases"`
	Levels []string `json:"levels"` // that were compared with the oracle
	Seed   uint64   `json:"seed,string"`
	Err    string   `json:"err,omitempty"` // what differed, if OK is false
}

// Noise is what else the machine did between the first step and the last, and how it is set up:
// reasons to doubt figures. What the system does not report is negative, or empty.
type Noise struct {
	Switches int64   `json:"switches"` // involuntary context switches of the threads of the program
	Yields   int64   `json:"yields"`   // voluntary context switches of these threads, to wait
	Faults   int64   `json:"faults"`   // pages that had to be read from disk for the program
	StealNs  int64   `json:"steal_ns"` // for which a hypervisor gave the CPUs to others, sum of all CPUs
	Load     float64 `json:"load"`     // processes that ran or were ready to, the mean of the last minute
	Governor string  `json:"governor"` // that sets the frequency of the CPU: performance, powersave …
	Pinned   int     `json:"pinned"`   // CPU to which the thread that calls Recorder.Run is bound; -1: none
}

// Hardware holds the counters of the CPU, per step; -1 where the system does not report one.
type Hardware struct {
	Total  Count   `json:"total"`
	Phases []Count `json:"phases"` // by phase
}

// Count holds the counters of a step or a phase, the mean over the steps.
type Count struct {
	Instructions float64 `json:"instructions"`
	Cycles       float64 `json:"cycles"`
	CacheMisses  float64 `json:"cache_misses"`
	BranchMisses float64 `json:"branch_misses"`
}

// Ratio is how many times as long something took as its baseline, measured by turns in the same run.
type Ratio struct {
	Name   string  `json:"name"`
	Median float64 `json:"median"`
	Low    float64 `json:"low"` // it lies between Low and High with 95 % confidence
	High   float64 `json:"high"`
}

// Rung is a level of the ladder.
type Rung struct {
	Level  string `json:"level"`
	StepNs int64  `json:"step_ns"` // the median step
	// Speedup is how many times as fast as the first rung it is: 1 for that one.
	Speedup Ratio  `json:"speedup"`
	Hash    string `json:"hash"` // of the state after the last step: the same for all rungs
}

// Baseline is an earlier run of the same scene.
type Baseline struct {
	Name     string      `json:"name"` // where its files are
	Env      Environment `json:"environment"`
	Started  string      `json:"started"`
	StepNs   []int64     `json:"-"`         // sorted
	SameHost bool        `json:"same_host"` // whether absolute times may be compared
	P50      Change      `json:"p50"`
	P95      Change      `json:"p95"`
}

// Change is how a quantile differs from that of an earlier run.
type Change struct {
	Was         int64 `json:"was_ns"`
	Is          int64 `json:"is_ns"`
	Ratio       Ratio `json:"ratio"`       // Is over Was
	Significant bool  `json:"significant"` // whether the interval of Ratio leaves 1 out
}

// Way is a way to start the steps of a run, such as back to back or paced, that took turns with
// others in the same run.
type Way struct {
	Name  string `json:"name"`
	Steps int    `json:"steps"`
	P50Ns int64  `json:"p50_ns"` // of the step
	P95Ns int64  `json:"p95_ns"`
	// PhaseNs are the medians of the phases, in the order of Run.Steps.Phases; the last is the time
	// that no phase accounts for.
	PhaseNs []int64 `json:"phase_ns"`
	// Times is how many times as long the median step takes as with the first way: 1 for that one.
	Times Ratio `json:"times"`
}

// NewWay returns the times of steps that were started in one way. The caller sets Times.
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

// Only returns the steps for which keep returns true, in columns of their own.
func (s *Steps) Only(keep func(i int) bool) Steps {
	only := Steps{
		Tick: filtered(s.Tick, keep), Phases: s.Phases, Counters: s.Counters,
		PhaseNs: make([][]int64, len(s.PhaseNs)), Counts: make([][]int64, len(s.Counts)),
	}
	from := s.columns()
	for i, c := range only.columns() {
		*c.to = filtered(*from[i].to, keep)
	}
	return only
}

// filtered returns nil if the column is missing.
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

// Environment names everything except the scene that figures depend on.
type Environment struct {
	CPU      string   `json:"cpu"`
	CPUs     int      `json:"cpus"`
	OS       string   `json:"os"`
	Arch     string   `json:"arch"` // with its level: amd64 v1
	Go       string   `json:"go"`
	Cgo      bool     `json:"cgo"`
	Compiler string   `json:"compiler"` // empty without cgo
	Levels   []string `json:"levels"`   // that can run here, slowest first
	Kernels  string   `json:"kernels"`  // which path runs, and why
}

// ThisEnvironment returns the environment of this process.
func ThisEnvironment() Environment {
	info := native.Info()
	e := Environment{
		CPU: info.CPU, CPUs: runtime.GOMAXPROCS(0), OS: runtime.GOOS, Arch: runtime.GOARCH, Go: runtime.Version(),
		Cgo: info.Compiler != "", Compiler: info.Compiler, Kernels: info.String(),
	}
	for _, l := range info.Levels {
		e.Levels = append(e.Levels, l.String())
	}
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, s := range build.Settings {
			if s.Key == "GOAMD64" || s.Key == "GOARM64" {
				e.Arch += " " + s.Value
			}
		}
	}
	return e
}

// String returns two lines: how the kernels run, and on which machine.
func (e Environment) String() string {
	return fmt.Sprintf("%s\n%s · %d CPUs in use · %s/%s · %s", e.Kernels, e.CPU, e.CPUs, e.OS, e.Arch, e.Go)
}
