package profile

import (
	"fmt"
	"math/rand/v2"
)

// planted describes a synthetic run: above all the cause of its slow steps. The same description
// gives the same Run on every machine: it uses integers only.
type planted struct {
	seed   uint64
	steps  int
	cause  cause
	phase  int // that a cause of a phase slows
	every  int // one step of so many is slow; 0: 20
	times  int // how many times as long the slow thing takes then; 0: 4
	noisy  int // percent by which any duration varies, either way; 0: 5
	budget int64
}

// cause is what makes steps slow.
type cause int

const (
	byNothing     cause = iota // no step is slower than noise makes it
	byPhase                    // one phase takes longer, and hits rise with it
	byCollections              // garbage collections end in them, and the program assists
	byMachine                  // the whole step is stretched, every phase alike
	byUnaccounted              // time passes between the phases
)

func (c cause) String() string {
	return [...]string{"nothing", "phase", "collections", "machine", "unaccounted"}[c]
}

// syntheticPhases and what a step spends in each as a rule, in nanoseconds.
var (
	syntheticPhases = []string{"inputs", "spatial.build", "perceive", "steer", "physics.step", "state.hash"}
	syntheticNs     = []int64{4_000, 38_000, 420_000, 160_000, 310_000, 42_000}
)

const syntheticGap = 26_000 // ns of a step that no phase accounts for

// synthetic makes the run that was planned: complete but for the parts that only some runs
// have, which furnish adds.
func synthetic(p planted) *Run {
	if p.every == 0 {
		p.every = 20
	}
	if p.times == 0 {
		p.times = 4
	}
	if p.noisy == 0 {
		p.noisy = 5
	}
	if p.budget == 0 {
		p.budget = 1_000_000_000 / 60
	}
	run := &Run{
		Scene: "capstone", Params: []Param{{"entities", "2000"}, {"agents", "200"}, {"bodies", "256"}},
		Env:   syntheticEnvironment(),
		Level: "avx512", Workers: 1, Seed: 1, Started: "2026-11-22T13:00:00Z", Command: "go run ./bench -scene capstone",
		BudgetNs: p.budget, RateHz: 60, Warmup: 300,
		Hash: "2c45341cdbdf3e12", Overhead: 0.0031,
		Steps: Steps{Phases: syntheticPhases, Counters: []string{"hits", "contacts", "live"}},
	}
	run.Steps.fill(&p)
	return run
}

func syntheticEnvironment() Environment {
	return Environment{
		CPU: "AMD EPYC 9V74 80-Core Processor", CPUs: 2, OS: "linux", Arch: "amd64 v1", Go: "go1.26.8", Cgo: true, Compiler: "gcc 12.2.0",
		Levels: []string{"go", "c", "avx2", "avx512"}, Kernels: "level avx512 of go, c, avx2, avx512 · cgo, gcc 12.2.0",
	}
}

// fill draws the steps.
func (s *Steps) fill(p *planted) {
	r := rand.New(rand.NewPCG(p.seed, 0x5eed))
	noise := func(ns int64) int64 { // triangular about ns
		span := ns * int64(p.noisy) / 100
		return ns + r.Int64N(span+1) + r.Int64N(span+1) - span
	}
	s.PhaseNs = make([][]int64, len(s.Phases))
	s.Counts = make([][]int64, len(s.Counters))
	period := int64(1_000_000_000 / 60)
	free := int64(0)         // when the step before ended
	crowding := int64(1_000) // of the scene, in thousandths: it wanders, so that steps resemble their neighbours
	next := 0                // step of its p.every that is slow
	for i := range p.steps {
		crowding = min(1_100, max(900, crowding+r.Int64N(21)-10-(crowding-1_000)/50))
		if i%p.every == 0 {
			next = i + r.IntN(min(p.every, p.steps-i))
		}
		slow := p.cause != byNothing && i == next
		total := int64(0)
		for j, ns := range syntheticNs {
			ns = noise(ns)
			if s.Phases[j] == "perceive" {
				ns = ns * crowding / 1_000
			}
			if slow && (p.cause == byMachine || p.cause == byPhase && j == p.phase) {
				ns *= int64(p.times)
			}
			s.PhaseNs[j] = append(s.PhaseNs[j], ns)
			total += ns
		}
		gap := noise(syntheticGap)
		hits := 8_200 * crowding / 1_000
		gcs, pause, assist := int64(0), int64(0), int64(0)
		switch {
		case slow && p.cause == byMachine:
			gap *= int64(p.times)
		case slow && p.cause == byUnaccounted:
			gap += int64(p.times-1) * 400_000
		case slow && p.cause == byCollections:
			gcs, pause, assist = 1, noise(180_000), noise(240_000)
			s.PhaseNs[2][i] += assist
			total += assist
			gap += pause
		case slow && p.cause == byPhase:
			hits = hits * int64(p.times) / 2
		}
		total += gap
		due := int64(i) * period
		start := max(due+500+r.Int64N(2_000), free)
		free = start + total
		s.Tick = append(s.Tick, uint64(300+i))
		s.DueNs, s.StartNs, s.Ns = append(s.DueNs, due), append(s.StartNs, start), append(s.Ns, total)
		s.Counts[0] = append(s.Counts[0], noise(hits))
		s.Counts[1] = append(s.Counts[1], noise(410))
		s.Counts[2] = append(s.Counts[2], 2_256)
		s.GCs, s.GCPauseNs, s.GCAssistNs = append(s.GCs, gcs), append(s.GCPauseNs, pause), append(s.GCAssistNs, assist)
	}
}

// furnish adds all that a run can have besides its steps.
func furnish(run *Run) *Run {
	run.Parity = &Parity{OK: true, Cases: 412, Levels: []string{"c", "avx2", "avx512"}, Seed: 0x7f3a19}
	run.Allocs, run.Bytes = 0.02, 41
	run.Hardware = &Hardware{Total: Count{Instructions: 8.1e6, Cycles: 3.2e6, CacheMisses: 2_410, BranchMisses: -1}}
	for i := range run.Steps.Phases {
		n := float64(syntheticNs[i])
		run.Hardware.Phases = append(run.Hardware.Phases, Count{Instructions: 8.1 * n, Cycles: 3.2 * n, CacheMisses: n / 400, BranchMisses: -1})
	}
	for i, l := range run.Env.Levels {
		speed := []float64{1, 1.18, 2.07, 2.23}[i]
		run.Ladder = append(run.Ladder, Rung{
			Level: l, StepNs: int64(2_230_000 / speed), Hash: run.Hash,
			Speedup: Ratio{Name: l, Median: speed, Low: speed * 0.98, High: speed * 1.03},
		})
	}
	run.Ladder[0].Speedup.Low, run.Ladder[0].Speedup.High = 1, 1
	run.Noise = &Noise{Switches: 12, Yields: 3_600, Faults: 0, StealNs: 4_000_000, Load: 0.42, Governor: "schedutil", Pinned: 1}
	run.Rivals = []Ratio{{Name: "box2d", Median: 4.91, Low: 4.83, High: 5.02}}
	run.Dropped = 3
	run.Warnings = []string{"the governor of the CPU is powersave: set it to performance"}
	run.Unwatched = []string{"branch misses: the CPU does not count them"}
	return run
}

// withBaseline adds an earlier run, which took so many percent of the time of this one.
func withBaseline(run *Run, percent int64) *Run {
	b := &Baseline{Name: fmt.Sprintf("earlier-%d", percent), Env: run.Env, Started: "2026-11-20T09:00:00Z", SameHost: true}
	for _, ns := range sortedCopy(run.Steps.Ns) {
		b.StepNs = append(b.StepNs, ns*percent/100)
	}
	ratio := 100 / float64(percent)
	change := func(q float64) Change {
		i := int(q * float64(len(b.StepNs)-1))
		return Change{
			Was: b.StepNs[i], Is: b.StepNs[i] * 100 / percent, Significant: percent != 100,
			Ratio: Ratio{Name: b.Name, Median: ratio, Low: ratio * 0.98, High: ratio * 1.02},
		}
	}
	b.P50, b.P95 = change(0.5), change(0.95)
	run.Baseline = b
	return run
}
