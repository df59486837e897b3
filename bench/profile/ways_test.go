package profile

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// The text, in 80 columns, and the summary have the ways with the times of each phase.
func TestWays(t *testing.T) {
	run := synthetic(planted{seed: 2, steps: 400})
	back, paced := run.Steps.Only(func(i int) bool { return i%2 == 0 }), run.Steps.Only(func(i int) bool { return i%2 == 1 })
	for i := range paced.Ns {
		paced.Ns[i] += paced.PhaseNs[4][i]
		paced.PhaseNs[4][i] *= 2
	}
	run.Ways = []Way{NewWay("back to back", &back), NewWay("paced", &paced)}
	for i := range 7 {
		more := run.Ways[1]
		more.Name = "paced, " + strings.Repeat("m", i+3)
		run.Ways = append(run.Ways, more)
	}
	run.Ways[1].Times = Ratio{Name: "paced", Median: 1.31, Low: 1.29, High: 1.33}
	var text bytes.Buffer
	if err := Analyze(run).WriteText(&text, Text{}); err != nil {
		t.Fatal(err)
	}
	flat := strings.Join(strings.Fields(text.String()), " ")
	for _, want := range []string{"by turns steps p50 p95 times 95 % interval back to back 200", "1.31 1.29 … 1.33", "times, by phase back paced", "physics.step 311 µs 2.00"} {
		if !strings.Contains(flat, want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	for _, line := range strings.Split(text.String(), "\n") {
		if cells(line) > 80 {
			t.Errorf("%d columns: %s", cells(line), line)
		}
	}
	var file bytes.Buffer
	if err := Analyze(run).WriteSummary(&file); err != nil {
		t.Fatal(err)
	}
	s, err := ReadSummary(&file)
	if err != nil || len(s.Ways) != len(run.Ways) || !slices.Equal(s.Ways[1].PhaseNs, run.Ways[1].PhaseNs) || s.Ways[1].Times != run.Ways[1].Times {
		t.Errorf("%v: %+v", err, s)
	}
	run.Ways[1].Times.Low = 2
	file.Reset()
	if err := Analyze(run).WriteSummary(&file); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSummary(&file); err == nil || !strings.Contains(err.Error(), "Ways[1].Times") {
		t.Errorf("an interval that leaves its median out: %v", err)
	}
}
