package profile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// phased is a run of so many phases, some of them short, some with long names.
func phased(n int, budgetNs int64) *Run {
	run := withBaseline(furnish(synthetic(planted{seed: 11, steps: 1_200, cause: byPhase, phase: 2, budget: budgetNs})), 90)
	s := &run.Steps
	s.Phases = append([]string(nil), s.Phases...)
	for j := len(s.Phases); j < n; j++ {
		name := fmt.Sprintf("system.%d", j)
		if j%4 == 0 {
			name = fmt.Sprintf("a_system_with_a_long_name_%d", j)
		}
		column := make([]int64, s.Len())
		for i := range column {
			column[i] = int64(1+j%5) * (20_000 + int64(i*j%977)*9)
			s.Ns[i] += column[i]
		}
		s.Phases, s.PhaseNs = append(s.Phases, name), append(s.PhaseNs, column)
		run.Hardware.Phases = append(run.Hardware.Phases, run.Hardware.Phases[j%6])
	}
	return run
}

// TestPages writes reports for the tests in internal/browser/report, if EVERTICK_PAGES names a folder for them.
func TestPages(t *testing.T) {
	dir := os.Getenv("EVERTICK_PAGES")
	if dir == "" {
		t.Skip("EVERTICK_PAGES names no folder")
	}
	write := func(name string, run *Run) {
		if err := os.WriteFile(filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+".html"), []byte(pageOf(t, run)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run := withBaseline(furnish(synthetic(planted{seed: 3, steps: 3_600, cause: byPhase, phase: 2, budget: 2_000_000})), 90)
	run.Steps.GCs[700], run.Steps.GCPauseNs[700], run.Steps.GCAssistNs[700] = 1, 150_000, 80_000
	write("report", run)
	for name, run := range oddRuns() {
		write("odd "+name, run)
	}
	for _, c := range []struct {
		phases int
		budget int64 // within the chart; far above it; as much as p95
	}{{8, 2_000_000}, {8, 1_000_000_000 / 60}, {12, 1_482_000}, {20, 2_900_000}} {
		run := phased(c.phases, c.budget)
		if c.budget > 10_000_000 { // so long that the axis of percentiles is logarithmic
			run.Steps.PhaseNs[2][600] += 90_000_000
			run.Steps.Ns[600] += 90_000_000
		}
		write(fmt.Sprintf("phases %d %d", c.phases, c.budget), run)
	}
}
