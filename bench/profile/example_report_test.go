package profile_test

import (
	"fmt"

	"github.com/evertick/evertick/bench/profile"
)

// A report says in one sentence what the slow steps have more of. Here every twentieth step
// meets a crowd.
func ExampleAnalyze() {
	run := &profile.Run{Scene: "crowds", BudgetNs: 4_000_000}
	s := &run.Steps
	s.Phases, s.PhaseNs = []string{"perceive", "move"}, make([][]int64, 2)
	s.Counters, s.Counts = []string{"hits"}, make([][]int64, 1)
	for i := range int64(400) {
		perceive, hits := 1_000_000+1_000*(i%7), 8_000+i%5
		if i%20 == 11 {
			perceive, hits = 3_500_000, 20_000
		}
		s.PhaseNs[0] = append(s.PhaseNs[0], perceive)
		s.PhaseNs[1] = append(s.PhaseNs[1], 600_000)
		s.Ns = append(s.Ns, perceive+600_000)
		s.Counts[0] = append(s.Counts[0], hits)
	}

	rep := profile.Analyze(run)
	fmt.Println(rep.Sentence)
	fmt.Printf("%d steps over the budget; p95 %.1f ms, with 95 %% confidence %.1f to %.1f ms\n",
		rep.Over, float64(rep.Step.P95.Ns)/1e6, float64(rep.Step.P95.Low)/1e6, float64(rep.Step.P95.High)/1e6)
	// Output:
	// The slow steps spend 3.5 times as much in perceive (1.00 → 3.50 ms), 100 % of their extra time; they have 2.5 times the hits.
	// 20 steps over the budget; p95 1.6 ms, with 95 % confidence 1.6 to 4.1 ms
}
