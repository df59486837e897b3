package profile

// Run is what was measured of one run: plain data, which report and files are made of.
// A part that was not measured is empty, and its section is left out.
type Run struct {
	Scene   string      // what ran: capstone, or a name that the user gave
	Params  []Param     // of the scene and of the run, in the order in which they are told
	Env     Environment // what the figures depend on besides
	Level   string      // of the kernels
	Workers int
	Seed    uint64
	Started string // wall time at which the run began, RFC 3339 in UTC
	Command string // that repeats it; empty if unknown

	BudgetNs int64   // that a step may take
	RateHz   float64 // of the schedule that Steps.DueNs follows; 0: as fast as it goes
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
	Ways      []Way     // of coming to the steps, by turns, the first of which the others are compared with
	Rivals    []Ratio   // other engines in the same run, as a ratio to ours
	Baseline  *Baseline // an earlier run, and what has changed
	Dropped   uint64    // steps of the schedule that were given up
	Warnings  []string  // on what the figures should be doubted for, with advice
	Unwatched []string  // what could not be measured here, with the reason
}

// Param is a parameter as it is told.
type Param struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Steps are the steps measured, in columns of equal length.
type Steps struct {
	Tick    []uint64
	StartNs []int64 // since the first of them was due or, without a schedule, began
	DueNs   []int64 // on the same clock; without a schedule the same as StartNs
	Ns      []int64 // that the step took, by the wall clock

	Phases   []string  // in the order in which they run
	PhaseNs  [][]int64 // by phase, then step
	Counters []string  // what was counted: hits, contacts, live …
	Counts   [][]int64 // by counter, then step

	GCs        []int64 // garbage collections that ended in the step
	GCPauseNs  []int64 // for which the world stood still
	GCAssistNs []int64 // CPU time in which the program had to help the collector
}

// Len returns the number of steps.
func (s *Steps) Len() int { return len(s.Ns) }

// Parity is the verdict on the kernels, got before anything was timed.
type Parity struct {
	OK     bool     `json:"ok"`
	Cases  int      `json:"cases"`
	Levels []string `json:"levels"` // that were compared with the oracle
	Seed   uint64   `json:"seed,string"`
	Err    string   `json:"err,omitempty"` // what differed, if OK is false
}

// Noise is what else the machine did between the first step and the last, and how it is set
// up: what figures should be doubted for. What the system does not tell is negative, or empty.
type Noise struct {
	Switches int64   `json:"switches"` // times that a thread of the program was taken off its CPU against its will
	Yields   int64   `json:"yields"`   // times that one gave its CPU away, to wait
	Faults   int64   `json:"faults"`   // pages that had to be read from disk for the program
	StealNs  int64   `json:"steal_ns"` // that a hypervisor gave the CPUs to others, all CPUs together
	Load     float64 `json:"load"`     // processes that ran or wanted to, the mean of the last minute
	Governor string  `json:"governor"` // that sets the frequency of the CPU: performance, powersave …
	Pinned   int     `json:"pinned"`   // CPU that the thread which asked for the Run is bound to, -1: to none in particular
}

// Hardware counts what the CPU did. A count is per step; -1 where the system does not tell.
type Hardware struct {
	Total  Count   `json:"total"`
	Phases []Count `json:"phases"` // by phase
}

// Count is what the CPU counted in a step or a phase, the mean over the steps.
type Count struct {
	Instructions float64 `json:"instructions"`
	Cycles       float64 `json:"cycles"`
	CacheMisses  float64 `json:"cache_misses"`
	BranchMisses float64 `json:"branch_misses"`
}

// Ratio is how many times as long something took as what it is compared with, in the same
// run, by turns.
type Ratio struct {
	Name   string  `json:"name"`
	Median float64 `json:"median"`
	Low    float64 `json:"low"` // between Low and High it lies with 95 % confidence
	High   float64 `json:"high"`
}

// Rung is a level of the ladder.
type Rung struct {
	Level  string `json:"level"`
	StepNs int64  `json:"step_ns"` // the median step
	// Speedup is how many times as fast as the first rung it is: 1 for that one.
	Speedup Ratio  `json:"speedup"`
	Hash    string `json:"hash"` // of the state after the last step: that of all rungs
}

// Baseline is an earlier run of the same scene.
type Baseline struct {
	Name     string      `json:"name"` // where it was kept
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
