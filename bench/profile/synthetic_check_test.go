package profile

import (
	"reflect"
	"testing"
)

// What is planted is there: slow steps owe their time to the cause, and the columns agree.
func TestSyntheticRunIsWhatWasPlanned(t *testing.T) {
	for c := byNothing; c <= byUnaccounted; c++ {
		run := withBaseline(furnish(synthetic(planted{seed: 1, steps: 1_000, cause: c, phase: 4})), 90)
		s := &run.Steps
		columns := append([][]int64{s.StartNs, s.DueNs, s.GCs, s.GCPauseNs, s.GCAssistNs}, s.PhaseNs...)
		for _, column := range append(columns, s.Counts...) {
			if len(column) != s.Len() || s.Len() != 1_000 || len(s.Tick) != s.Len() {
				t.Fatalf("by %v: columns of unequal length", c)
			}
		}
		for i := range s.Len() {
			rest := s.Ns[i]
			for _, ns := range s.PhaseNs {
				rest -= ns[i]
			}
			if rest <= 0 || s.StartNs[i] < s.DueNs[i] {
				t.Fatalf("by %v: step %d: %d ns beside its phases, start %d, due %d", c, i, rest, s.StartNs[i], s.DueNs[i])
			}
		}
		if max := nearestRank(sortedCopy(s.Ns), 1); (max > 1_350_000) != (c != byNothing) {
			t.Errorf("by %v: the slowest step took %d ns", c, max)
		}
		if again := withBaseline(furnish(synthetic(planted{seed: 1, steps: 1_000, cause: c, phase: 4})), 90); !reflect.DeepEqual(run, again) {
			t.Errorf("by %v: drawn again it differs", c)
		}
	}
}
