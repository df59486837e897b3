package command

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/loop"
)

var shortPacing = pacingPlan{rates: []int64{250, 1000}, rounds: 2, turn: 72 * time.Millisecond, warmup: 5 * time.Millisecond, free: 1000}

// A short run as JSON, as CSV and as text.
func TestPacingReports(t *testing.T) {
	o := Options{Scene: "pacing", quick: true, json: true, csv: filepath.Join(t.TempDir(), "figures.csv")}
	var out bytes.Buffer
	if err := o.runPacing(&shortPacing, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	var rep struct {
		Scene       string
		Quick       bool
		Environment profile.Environment
		Facts       map[string]float64
		Figures     []pacingRow
	}
	decode(t, out.String(), &rep)
	if rep.Scene != "pacing" || !rep.Quick || rep.Facts["rounds"] != 2 || rep.Facts["turn_s"] != 0.072 || rep.Facts["free_frame_ns"] <= 0 || rep.Environment.Go == "" {
		t.Errorf("%+v", rep)
	}
	names := []string{"time.Sleep", "time.Ticker", "Sleep", "Precise", "Spin"}
	if len(rep.Figures) != 2*len(names) {
		t.Fatalf("%d figures", len(rep.Figures))
	}
	_, hasCPU := ProcessTime()
	for i := range rep.Figures {
		f := &rep.Figures[i]
		if (f.WakeP50 != nil) != (f.Pacing == "Precise") {
			t.Errorf("figure %d: %+v", i, f)
		}
		if f.Pacing != names[i%5] || f.RateHz != shortPacing.rates[i/5] || f.Method == "" || (f.CPU != nil) != hasCPU {
			t.Errorf("figure %d: %+v", i, f)
		}
		// The number depends on the machine, but it is at most that of the rate.
		if most := int(2 * shortPacing.turn.Milliseconds() * f.RateHz / 1000); f.Frames < 1 || f.Frames > most {
			t.Errorf("%s at %d Hz: %d frames, at most %d can be", f.Pacing, f.RateHz, f.Frames, most)
		}
		early := f.P50 < 0 && f.Pacing != "time.Ticker" // which goes on in step after a pause of the machine
		if early || !slices.IsSorted([]int64{f.P50, f.P95, f.P99, f.Max}) {
			t.Errorf("%s at %d Hz: %+v", f.Pacing, f.RateHz, f)
		}
	}
	checkPacingCSV(t, o.csv, rep.Figures)
}

// pacingRow is a figure as a program reads it.
type pacingRow struct {
	Pacing, Method string
	RateHz         int64 `json:"rate_hz"`
	Frames         int
	P50            int64 `json:"late_ns_p50"`
	P95            int64 `json:"late_ns_p95"`
	P99            int64 `json:"late_ns_p99"`
	Max            int64 `json:"late_ns_max"`
	CPU            *float64
	WakeP50        *int64 `json:"wake_ns_p50"`
}

// A clock that always wakes 3 ms late and reports that it is on time does not hide that: another
// clock measures lateness.
func TestLatenessHasItsOwnClock(t *testing.T) {
	const delay = 3_000_000
	clock := &lateClock{}
	var lates []int64
	if err := pacedRun(100, clock)(200*time.Millisecond, func(ns int64) { lates = append(lates, ns) }); err != nil {
		t.Fatal(err)
	}
	if len(lates) < 3 {
		t.Fatalf("%d steps", len(lates))
	}
	for i, ns := range lates {
		if ns < delay {
			t.Errorf("step %d is %d ns late, not %d at least", i, ns, delay)
		}
	}
}

// lateClock returns from each sleep 3 ms late, and reports the target as the time.
type lateClock struct {
	loop.SystemClock
	reported int64 // after a sleep
}

func (c *lateClock) Now() int64 {
	if c.reported > 0 {
		return c.reported
	}
	return c.SystemClock.Now()
}

func (c *lateClock) Sleep(ctx context.Context, until int64) error {
	c.reported = until
	return c.SystemClock.Sleep(ctx, until+3_000_000)
}

func checkPacingCSV(t *testing.T, path string, figures []pacingRow) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	head := []string{"pacing", "method", "rate_hz", "frames", "late_ns_p50", "late_ns_p95", "late_ns_p99", "late_ns_max", "cpu"}
	if err != nil || len(lines) != len(figures)+1 || !slices.Equal(lines[0][:len(head)], head) {
		t.Fatalf("%v: %q", err, lines)
	}
	for i, f := range figures {
		want := fmt.Sprintf("%s,%s,%d,%d,%d,%d,%d,%d,", f.Pacing, f.Method, f.RateHz, f.Frames, f.P50, f.P95, f.P99, f.Max)
		if got := strings.Join(lines[i+1], ","); !strings.HasPrefix(got, want) {
			t.Errorf("line %q, want %q", got, want)
		}
	}
}

func TestPacingText(t *testing.T) {
	goal := &pacingGoal{p95Ns: 20_000, cpu: 0.05}
	wakes := &loop.WakeLateness{P50Ns: 2100, P95Ns: 2_000_000, MarginNs: 9000, NeededCPU: 0.102}
	enough := &loop.WakeLateness{P50Ns: 2100, P95Ns: 562_000, MarginNs: 600_000, NeededCPU: 0.03}
	rep := pacingReport{report: &report{}, plan: &pacingPlan{rounds: 3, turn: time.Second / 2}, freeFrameNs: 81.4, figures: []pacingFigure{
		{pacing: "Precise", method: "magic", hz: 60, frames: 90, late: Quantiles{1000, 2500, 4200, 9999}, cpu: 0.0123, goal: goal, wakes: wakes},
		{pacing: "Precise", method: "magic", hz: 30, frames: 90, late: Quantiles{1000, 90_000, 94_200, 99_999}, wakes: enough},
		{pacing: "Spin", method: "spin", hz: 1000, frames: 1500, late: Quantiles{100, 200, 300, 400_000}},
	}}
	var out strings.Builder
	rep.fill()
	rep.write(&out)
	text := strings.Join(strings.Fields(out.String()), " ")
	for _, part := range []string{
		"3 round(s) of 0.5 s", "pacing by Hz frames p50 p95 p99 max CPU p95 goal CPU goal Precise magic 60 90 1.0 2.5 4.2 10.0 1.2 % 20.0 5.0 %",
		"Spin spin 1000 1,500 0.1 0.2 0.3 400.0 – – –", "Uncapped, which does not wait: 81 ns a frame",
		"Precise at 60 Hz: the machine wakes sleepers 2.1 µs late at p50 and 2000.0 at p95; the clock learnt to wake 9.0 µs early. For a p95 of 20.0 µs it would have to spin for 10.2 % of a CPU, and may for 4 %",
		"Precise at 30 Hz: the machine wakes sleepers 2.1 µs late at p50 and 562.0 at p95; the clock learnt to wake 600.0 µs early. Spinning for 3.0 % of a CPU is enough",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the text lacks %q:\n%s", part, out.String())
		}
	}
}

// One figure has a goal, and the plans measure as long as documented.
func TestPacingPlans(t *testing.T) {
	goals := 0
	for _, hz := range longPacing.rates {
		for _, w := range waysToWait(hz) {
			if f := newPacingFigure(w); f.goal != nil {
				if goals++; w.name != loop.Precise.String() || hz != 60 || f.goal.p95Ns != 20_000 || f.goal.cpu != 0.05 {
					t.Errorf("%s at %d Hz: %+v", w.name, hz, f.goal)
				}
			}
		}
	}
	if goals != 1 {
		t.Errorf("%d goals", goals)
	}
	measured := func(p *pacingPlan) time.Duration { return time.Duration(p.rounds) * p.turn }
	if measured(&longPacing) != 5*time.Second || measured(&quickPacing) != time.Second {
		t.Errorf("%v, -quick %v", measured(&longPacing), measured(&quickPacing))
	}
}
