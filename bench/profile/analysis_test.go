package profile

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawnRun is any run whose columns agree, however odd: phases that add up to more than
// the step, times of zero, names that nobody should use.
func drawnRun(t *rapid.T) *Run {
	n := rapid.IntRange(0, 250).Draw(t, "steps")
	ns := func(label string) []int64 {
		return rapid.SliceOfN(rapid.OneOf(rapid.Int64Range(0, 1_000), rapid.Int64Range(0, maxTimeNs)), n, n).Draw(t, label)
	}
	clock := func(label string) []int64 {
		return rapid.SliceOfN(rapid.Int64Range(-maxTimeNs, maxTimeNs), n, n).Draw(t, label)
	}
	run := &Run{
		Scene: rapid.String().Draw(t, "scene"), Level: "go", Workers: 1,
		BudgetNs: rapid.SampledFrom([]int64{0, 500, 16_666_666, 1 << 60}).Draw(t, "budget"),
		RateHz:   rapid.SampledFrom([]float64{0, 60, 1e9}).Draw(t, "rate"),
		Steps:    Steps{StartNs: clock("start"), DueNs: clock("due"), Ns: ns("ns")},
	}
	s := &run.Steps
	for i := range n {
		s.Tick = append(s.Tick, uint64(i))
	}
	for j := range rapid.IntRange(0, 3).Draw(t, "phases") {
		s.Phases = append(s.Phases, rapid.StringN(1, 40, -1).Draw(t, "phase"))
		s.PhaseNs = append(s.PhaseNs, ns(fmt.Sprint("phase ", j)))
	}
	for j := range rapid.IntRange(0, 2).Draw(t, "counters") {
		s.Counters = append(s.Counters, rapid.StringN(1, 40, -1).Draw(t, "counter"))
		s.Counts = append(s.Counts, rapid.SliceOfN(rapid.Int64(), n, n).Draw(t, fmt.Sprint("count ", j)))
	}
	if rapid.Bool().Draw(t, "collector") {
		s.GCs, s.GCPauseNs, s.GCAssistNs = ns("gcs"), ns("pauses"), ns("assists")
	}
	return run
}

// Whatever the run: shares add up to one, the slow steps are the slowest, and means of the
// slow and the others make those of all.
func TestReportIsConsistent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		run := drawnRun(t)
		rep := Analyze(run)
		s := &run.Steps
		if s.Len() == 0 {
			if rep.Sentence != "" || rep.Slow != nil || rep.Phases != nil {
				t.Fatalf("of no steps: %+v", rep)
			}
			return
		}
		if want := (s.Len() + 19) / 20; len(rep.Slow) != want {
			t.Fatalf("%d slow steps of %d", len(rep.Slow), s.Len())
		}
		for i, ns := range s.Ns {
			if !slices.Contains(rep.Slow, i) && ns > s.Ns[rep.Slow[len(rep.Slow)-1]] {
				t.Fatalf("step %d took %d and is not slow", i, ns)
			}
		}
		var share, slow, mean, size float64
		for _, row := range rep.Phases {
			share, slow, mean = share+row.Share, slow+row.SlowShare, mean+row.MeanNs
			size += math.Abs(row.Share) + math.Abs(row.SlowShare)
		}
		if len(s.Phases) > 0 {
			want := 1.0
			if rep.Step.Max == 0 {
				want = 0 // of no time there are no shares
			}
			if tolerance := 1e-9 * (1 + size); math.Abs(share-want) > tolerance || rep.SlowMeanNs > 0 && math.Abs(slow-want) > tolerance {
				t.Fatalf("shares add up to %v and %v", share, slow)
			}
			if rep.Phases[len(s.Phases)].Name != unaccounted {
				t.Fatal("no row for what no phase accounts for")
			}
		} else if rep.Phases != nil {
			t.Fatal("rows without phases")
		}
		if len(rep.Worst) != min(20, s.Len()) || rep.Worst[0].Ns != rep.Step.Max {
			t.Fatalf("%d worst, %+v", len(rep.Worst), rep.Worst[0])
		}
		if rep.Sentence == "" || strings.Contains(rep.Sentence, "NaN") || strings.Contains(rep.Sentence, "Inf") {
			t.Fatal(rep.Sentence)
		}
		columns := rapid.IntRange(1, 100).Draw(t, "columns")
		bars := rep.bars(columns)
		at, most, over := 0, int64(0), 0
		for _, b := range bars {
			if b.From != at || b.To <= b.From {
				t.Fatalf("%+v at %d", b, at)
			}
			at, most, over = b.To, max(most, b.MaxNs), over+b.Over
		}
		if at != s.Len() || most != rep.Step.Max || over != rep.Over || len(bars) != min(columns, s.Len()) {
			t.Fatalf("%d bars to %d, max %d, over %d", len(bars), at, most, over)
		}
	})
}

// found are the names of the findings of a kind.
func found(rep *Report, kind findingKind) (names []string) {
	for _, f := range rep.Findings {
		if f.Kind == kind {
			names = append(names, f.Name)
		}
	}
	return names
}

// The findings are exactly the planted ones.
func TestSentenceNamesThePlantedCause(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := planted{
			seed: rapid.Uint64().Draw(t, "seed"), steps: 20 * rapid.IntRange(5, 40).Draw(t, "steps / 20"),
			cause: rapid.SampledFrom([]cause{byNothing, byPhase, byCollections, byMachine, byUnaccounted}).Draw(t, "cause"),
			phase: rapid.IntRange(2, 4).Draw(t, "phase"), times: rapid.IntRange(3, 8).Draw(t, "times"),
		}
		rep := Analyze(synthetic(p))
		kinds := map[findingKind]bool{}
		for _, f := range rep.Findings {
			kinds[f.Kind] = true
		}
		want := map[cause][]findingKind{
			byNothing: {foundEven}, byPhase: {foundPhase, foundCounter}, byCollections: {foundPhase, foundCollections},
			byMachine: {foundAlike}, byUnaccounted: {foundPhase},
		}[p.cause]
		for _, kind := range want {
			if !kinds[kind] {
				t.Fatalf("no finding of the kind %s: %+v", kind, rep.Findings)
			}
			delete(kinds, kind)
		}
		if len(kinds) > 0 {
			t.Fatalf("findings that were not planted: %+v", rep.Findings)
		}
		phases := found(rep, foundPhase)
		switch p.cause {
		case byPhase:
			if !slices.Equal(phases, []string{syntheticPhases[p.phase]}) || !slices.Equal(found(rep, foundCounter), []string{"hits"}) {
				t.Fatal(rep.Sentence)
			}
			if want := fmt.Sprintf("%.1f times as much in %s", float64(rep.Findings[0].Slow/rep.Findings[0].Rest), phases[0]); !strings.Contains(rep.Sentence, want) {
				t.Fatalf("%q lacks %q", rep.Sentence, want)
			}
		case byCollections:
			if !slices.Equal(phases, []string{"perceive", unaccounted}) || !strings.Contains(rep.Sentence, fmt.Sprintf("a garbage collection ended in %d of %d", len(rep.Slow), len(rep.Slow))) {
				t.Fatal(rep.Sentence)
			}
		case byUnaccounted:
			if !slices.Equal(phases, []string{unaccounted}) || !strings.Contains(rep.Sentence, "between the phases") {
				t.Fatal(rep.Sentence)
			}
		}
	})
}

// The sentences in full.
func TestSentences(t *testing.T) {
	for _, c := range []struct {
		planted
		want string
	}{
		{planted{cause: byNothing}, "The slow steps are hardly slower than the others (0.99 → 1.03 ms): there is little to explain."},
		{planted{cause: byPhase, phase: 3}, "The slow steps spend 4.0 times as much in steer (160 → 638 µs), 100 % of their extra time; they have 2.0 times the hits."},
		{planted{cause: byCollections}, "The slow steps spend 57 % more in perceive (420 → 661 µs) and 7.9 times as much between the phases (26.0 → 205 µs), " +
			"100 % of their extra time; a garbage collection ended in 180 of 180, and in 0 of 3420 others, and assists took 240 µs of such a slow step."},
		{planted{cause: byMachine}, "The slow steps take 4.0 times as long (0.99 → 3.95 ms), and nothing stands out: all phases grow alike, which looks like interruptions by the machine."},
		{planted{cause: byUnaccounted}, "The slow steps spend 47.2 times as much between the phases (0.026 → 1.23 ms), 100 % of their extra time."},
		{planted{cause: byPhase, steps: 80}, "Too few steps to explain the slow ones: 80, of which the slowest 5 % are 4."},
	} {
		c.seed = 7
		if c.steps == 0 {
			c.steps = 3_600
		}
		if got := Analyze(synthetic(c.planted)).Sentence; got != c.want {
			t.Errorf("by %v\ngot  %s\nwant %s", c.cause, got, c.want)
		}
	}
}

// Each phase in turn has one slow step: no phase causes most of the slow steps.
func TestSentenceOfMixedCauses(t *testing.T) {
	run := &Run{Steps: Steps{Phases: []string{"a", "b", "c", "d", "e", "f", "g"}}}
	s := &run.Steps
	s.PhaseNs = make([][]int64, len(s.Phases))
	for i := range 140 {
		total := int64(0)
		for j := range s.Phases {
			ns := int64(1_000 + (i*31+j*17)%13)
			if i%20 == 0 && i/20 == j {
				ns += 20_000
			}
			s.PhaseNs[j] = append(s.PhaseNs[j], ns)
			total += ns
		}
		s.Ns = append(s.Ns, total)
	}
	rep := Analyze(run)
	if got := rep.Sentence; strings.Contains(got, " in a ") || !strings.Contains(got, "looks like interruptions") {
		t.Error(got)
	}
}

// A phase that is most of the step grows hardly more than the step does; it is named anyway,
// since the others do not grow.
func TestSentenceNamesAPhaseThatIsMostOfTheStep(t *testing.T) {
	run := &Run{Steps: Steps{Phases: []string{"all", "rest"}, PhaseNs: make([][]int64, 2)}}
	s := &run.Steps
	for i := range 200 {
		ns := int64(900_000 + i%7)
		if i%20 == 3 {
			ns *= 2
		}
		s.PhaseNs[0] = append(s.PhaseNs[0], ns)
		s.PhaseNs[1] = append(s.PhaseNs[1], 100_000)
		s.Ns = append(s.Ns, ns+100_000)
	}
	if got, want := Analyze(run).Sentence, "The slow steps spend 2.0 times as much in all (0.90 → 1.80 ms), 100 % of their extra time."; got != want {
		t.Errorf("got %q", got)
	}
}

func TestStabilityOfARun(t *testing.T) {
	still := Analyze(synthetic(planted{seed: 3, steps: 2_000}))
	if st := still.Stability; st.Noisy || len(st.Medians) != 10 || st.FarOut != 0 {
		t.Errorf("a still run: %+v", st)
	}
	interrupted := Analyze(synthetic(planted{seed: 3, steps: 2_000, cause: byMachine}))
	if st := interrupted.Stability; !st.Noisy || st.FarOut < 90 || len(st.Advice) != 1 {
		t.Errorf("an interrupted run: %+v", st)
	}
	explained := Analyze(synthetic(planted{seed: 3, steps: 2_000, cause: byPhase, phase: 4}))
	if st := explained.Stability; st.Noisy || st.FarOut < 90 {
		t.Errorf("a run whose slow steps are explained: %+v", st)
	}
	run := synthetic(planted{seed: 3, steps: 2_000})
	for i := range run.Steps.Ns {
		run.Steps.Ns[i] += int64(i) * 300
	}
	if st := Analyze(run).Stability; !st.Noisy || st.Drift < 0.4 || st.Follows != "" || !strings.Contains(st.Advice[0], "varies by") {
		t.Errorf("a run that drifts: %+v", st)
	}
	for i := range run.Steps.Ns {
		run.Steps.Counts[2][i] += int64(i)
	}
	if st := Analyze(run).Stability; st.Noisy || st.Follows != "live" {
		t.Errorf("a run whose scene grows: %+v", st)
	}
}

func TestAnalyzeRefusesUnequalColumns(t *testing.T) {
	for name, harm := range map[string]func(*Steps){
		"phase":   func(s *Steps) { s.PhaseNs[1] = s.PhaseNs[1][:9] },
		"counter": func(s *Steps) { s.Counters = s.Counters[1:] },
		"due":     func(s *Steps) { s.DueNs = s.DueNs[:1] },
	} {
		run := synthetic(planted{seed: 1, steps: 10})
		harm(&run.Steps)
		func() {
			defer func() {
				if got := recover(); got != "profile: columns of Steps of unequal length" {
					t.Errorf("%s: %v", name, got)
				}
			}()
			Analyze(run)
		}()
	}
}

// With a coarse clock most steps take 0 ns, and there is no factor.
func TestSentenceOfStepsThatTookNothing(t *testing.T) {
	run := &Run{Steps: Steps{Ns: make([]int64, 200)}}
	for i := range 10 {
		run.Steps.Ns[i*20] = 1_000
	}
	rep := Analyze(run)
	if strings.Contains(rep.Sentence, "Inf") || strings.Contains(rep.Sentence, "NaN") || !strings.Contains(rep.Sentence, "longer") {
		t.Errorf("%q", rep.Sentence)
	}
}

// One step that takes a thousand times as long, or any other time, moves no finding: the
// sentence about the other steps stays the same, and names that step.
func TestNoSingleStepMovesTheSentence(t *testing.T) {
	for _, c := range []planted{
		{cause: byPhase, phase: 2, times: 2}, {cause: byPhase, phase: 4}, {cause: byCollections}, {cause: byMachine}, {cause: byUnaccounted}, {cause: byNothing},
	} {
		for _, steps := range []int{200, 3600} {
			if testing.Short() && steps == 3600 && c.cause != byPhase {
				continue
			}
			for phase := range syntheticPhases {
				c.seed, c.steps = uint64(steps+phase), steps
				was, rep := Analyze(synthetic(c)), synthetic(c)
				at := was.Slow[len(was.Slow)/2]
				rep.Steps.PhaseNs[phase][at] += 1_000_000_000
				rep.Steps.Ns[at] += 1_000_000_000
				is := Analyze(rep)
				sameFindings(t, fmt.Sprintf("%v of %d steps, %s", c.cause, steps, syntheticPhases[phase]), was, is)
				named := fmt.Sprintf("An outlier is step %s (tick ", count(at))
				if is.Far != 1 || !strings.Contains(is.Sentence, named) || !strings.Contains(is.Sentence, "in "+syntheticPhases[phase]) {
					t.Errorf("%v of %d steps: %q does not name step %d", c.cause, steps, is.Sentence, at)
				}
				if was.Far != 0 || strings.Contains(was.Sentence, "outlier") {
					t.Errorf("%v: without that step it says %q", c.cause, was.Sentence)
				}
			}
		}
	}
}

// sameFindings: of the same kinds and names, and by about the same factors.
func sameFindings(t *testing.T, what string, was, is *Report) {
	t.Helper()
	if len(was.Findings) != len(is.Findings) {
		t.Errorf("%s: %q and %q", what, was.Sentence, is.Sentence)
		return
	}
	for i, a := range was.Findings {
		b := is.Findings[i]
		if a.Kind == foundCollections {
			continue // shares of steps, of which one more or less is slow
		}
		if a.Kind != b.Kind || a.Name != b.Name || math.Abs(a.Slow/a.Rest/(b.Slow/b.Rest)-1) > 0.05 {
			t.Errorf("%s: %q and %q", what, was.Sentence, is.Sentence)
		}
	}
}

// Several outliers are counted, also in a run without other findings.
func TestFarSteps(t *testing.T) {
	run := synthetic(planted{seed: 9, steps: 400})
	for i, at := range []int{50, 120, 333} {
		run.Steps.PhaseNs[2][at] += 20_000_000 + 100_000*int64(i)
		run.Steps.Ns[at] += 20_000_000 + 100_000*int64(i)
	}
	rep := Analyze(run)
	const want = " 3 steps are outliers, the slowest of them step 333 (tick 633) with 21.2 ms: 20.2 ms beyond the median in perceive."
	if rep.Far != 3 || !strings.HasPrefix(rep.Sentence, "The slow steps are hardly slower") || !strings.HasSuffix(rep.Sentence, want) {
		t.Errorf("%d: %q", rep.Far, rep.Sentence)
	}
}

// No phase is named before one with more of the extra time, whatever their shares of a step and their growth: phases that are
// most of a step grow less than small ones do, and have more of the extra time all the same.
func TestNamedPhasesHaveMostOfTheExtraTime(t *testing.T) {
	check := func(t interface{ Fatalf(string, ...any) }, base, extra []int64) {
		run := &Run{}
		s := &run.Steps
		for j := range base {
			s.Phases = append(s.Phases, fmt.Sprint("phase ", j))
		}
		s.PhaseNs = make([][]int64, len(base))
		for i := range 400 {
			total := int64(0)
			for j, ns := range base {
				ns += int64((i*31 + j*17) % 13) // noise
				if i%20 == 7 {
					ns += extra[j]
				}
				s.PhaseNs[j] = append(s.PhaseNs[j], ns)
				total += ns
			}
			s.Ns = append(s.Ns, total)
		}
		rep := Analyze(run)
		named := found(rep, foundPhase)
		for j := range named {
			for k := range extra {
				if of := slices.Index(s.Phases, named[j]); !slices.Contains(named[:j], s.Phases[k]) && extra[k] > extra[of]+50 {
					t.Fatalf("base %v, extra %v: %q names %s before phase %d", base, extra, rep.Sentence, named[j], k)
				}
			}
		}
		if len(named) == 0 && !slices.ContainsFunc(rep.Findings, func(f finding) bool { return f.Kind != foundMixed }) {
			for k := range extra { // the largest one has at least a fifth
				if sum := rep.longerNs(); 5*extra[k] > sum {
					t.Fatalf("base %v, extra %v: %q does not name phase %d", base, extra, rep.Sentence, k)
				}
			}
		}
	}
	check(t, []int64{500_000, 100_000, 100_000}, []int64{39_500, 31_000, 29_500})
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(t, "phases")
		base := rapid.SliceOfN(rapid.Int64Range(1_000, 500_000), n, n).Draw(t, "base")
		extra := rapid.SliceOfN(rapid.Int64Range(0, 300_000), n, n).Draw(t, "extra")
		check(t, base, extra)
	})
}
