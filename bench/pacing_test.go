package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evertick/evertick/loop"
)

var shortPacing = pacingPlan{rates: []int64{250, 1000}, rounds: 2, turn: 100 * time.Millisecond, warmup: 5 * time.Millisecond, free: 1000}

// A short run as JSON, as CSV and as text.
func TestPacingReports(t *testing.T) {
	o := options{scene: pacingScene, quick: true, json: true, csv: filepath.Join(t.TempDir(), "figures.csv")}
	var out bytes.Buffer
	if err := o.runPacing(&shortPacing, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	var rep pacingReport
	if err := json.Unmarshal(out.Bytes(), &rep); err != nil {
		t.Fatalf("%v\n%s", err, out.Bytes())
	}
	if rep.Scene != "pacing" || !rep.Quick || rep.Rounds != 2 || rep.TurnS != 0.1 || rep.FreeFrameNs <= 0 || rep.Environment.Go == "" {
		t.Errorf("%+v", rep)
	}
	names := []string{"time.Sleep", "time.Ticker", "Sleep", "Precise", "Spin"}
	if len(rep.Figures) != 2*len(names) {
		t.Fatalf("%d figures", len(rep.Figures))
	}
	_, tells := processTime()
	for i := range rep.Figures {
		f := &rep.Figures[i]
		if (f.Wakes != nil) != (f.Pacing == "Precise") {
			t.Errorf("figure %d: %+v", i, f)
		}
		if f.Pacing != names[i%5] || f.RateHz != shortPacing.rates[i/5] || f.Method == "" || (f.CPU != nil) != tells {
			t.Errorf("figure %d: %+v", i, f)
		}
		// How many depends on the machine, but not beyond what the rate gives.
		if most := int(200 * f.RateHz / 1000); f.Frames < 1 || f.Frames > most {
			t.Errorf("%s at %d Hz: %d frames, at most %d can be", f.Pacing, f.RateHz, f.Frames, most)
		}
		if q := f.LateNs; q.P50 < 0 || !slices.IsSorted([]int64{q.P50, q.P95, q.P99, q.Max}) {
			t.Errorf("%s at %d Hz: %+v", f.Pacing, f.RateHz, q)
		}
	}
	checkPacingCSV(t, o.csv, &rep)
}

// A clock that wakes late by as much each time, and says that it is on time, is found out: lateness is measured by
// another.
func TestPacingIsWitnessed(t *testing.T) {
	const behind = 3_000_000
	clock := &lateClock{}
	var lates []int64
	if err := pacedRun(100, clock)(200*time.Millisecond, func(ns int64) { lates = append(lates, ns) }); err != nil {
		t.Fatal(err)
	}
	if len(lates) < 3 {
		t.Fatalf("%d steps", len(lates))
	}
	for i, ns := range lates {
		if ns < behind {
			t.Errorf("step %d is %d ns late, not %d at least", i, ns, behind)
		}
	}
}

// lateClock returns from each sleep 3 ms late, when it says that it is the target.
type lateClock struct {
	loop.SystemClock
	says int64 // since a sleep ended
}

func (c *lateClock) Now() int64 {
	if c.says > 0 {
		return c.says
	}
	return c.SystemClock.Now()
}

func (c *lateClock) Sleep(ctx context.Context, until int64) error {
	c.says = until
	return c.SystemClock.Sleep(ctx, until+3_000_000)
}

func checkPacingCSV(t *testing.T, path string, rep *pacingReport) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil || len(lines) != len(rep.Figures)+1 || !slices.Equal(lines[0], pacingCSVHead) {
		t.Fatalf("%v: %q", err, lines)
	}
	for i, f := range rep.Figures {
		want := fmt.Sprintf("%s,%s,%d,%d,%d,%d,%d,%d,", f.Pacing, f.Method, f.RateHz, f.Frames, f.LateNs.P50, f.LateNs.P95, f.LateNs.P99, f.LateNs.Max)
		if got := strings.Join(lines[i+1], ","); !strings.HasPrefix(got, want) {
			t.Errorf("line %q, want %q", got, want)
		}
	}
}

func TestPacingText(t *testing.T) {
	cpu := 0.0123
	goal := &pacingGoal{P95Ns: 20_000, CPU: 0.05}
	wakes := &pacingWakes{P50Ns: 2100, P95Ns: 2_000_000, MarginNs: 9000, NeededCPU: 0.102, Budget: 0.04}
	enough := &pacingWakes{P50Ns: 2100, P95Ns: 562_000, MarginNs: 600_000, NeededCPU: 0.03, Budget: 0.04}
	rep := pacingReport{Rounds: 3, TurnS: 0.5, FreeFrameNs: 81.4, Figures: []pacingFigure{
		{Pacing: "Precise", Method: "magic", RateHz: 60, Frames: 90, LateNs: quantiles{1000, 2500, 4200, 9999}, CPU: &cpu, Goal: goal, Wakes: wakes},
		{Pacing: "Precise", Method: "magic", RateHz: 30, Frames: 90, LateNs: quantiles{1000, 90_000, 94_200, 99_999}, Wakes: enough},
		{Pacing: "Spin", Method: "spin", RateHz: 1000, Frames: 1500, LateNs: quantiles{100, 200, 300, 400_000}},
	}}
	var out strings.Builder
	if err := rep.writeText(&out); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	for _, part := range []string{
		"3 round(s) of 0.5 s", "60 Hz by p50 p95 p99 max CPU frames goal Precise magic 1.0 2.5 4.2 10.0 1.2 % 90 p95 20.0, CPU 5 %",
		"1000 Hz by p50 p95 p99 max CPU frames goal Spin spin 0.1 0.2 0.3 400.0 – 1500 –", "Uncapped, which waits for nothing: 81 ns a frame",
		"Precise at 60 Hz: the machine wakes sleepers 2.1 µs late at p50 and 2000.0 at p95; it learnt to wake 9.0 µs early. For a p95 of 20.0 µs it would have to spin for 10.2 % of a CPU, and may for 4 %",
		"Precise at 30 Hz: the machine wakes sleepers 2.1 µs late at p50 and 562.0 at p95; it learnt to wake 600.0 µs early. Spinning for 3.0 % of a CPU covers that: what is late",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the text lacks %q:\n%s", part, out.String())
		}
	}
}

// The goal is asked of one figure, and the plans watch what they promise.
func TestPacingPlans(t *testing.T) {
	goals := 0
	for _, hz := range longPacing.rates {
		for _, w := range waysToWait(hz) {
			if f := newPacingFigure(w); f.Goal != nil {
				if goals++; w.name != loop.Precise.String() || hz != 60 || f.Goal.P95Ns != 20_000 || f.Goal.CPU != 0.05 {
					t.Errorf("%s at %d Hz: %+v", w.name, hz, f.Goal)
				}
			}
		}
	}
	if goals != 1 {
		t.Errorf("%d goals", goals)
	}
	watched := func(p *pacingPlan) time.Duration { return time.Duration(p.rounds) * p.turn }
	if long, quick := (&options{}).pacingPlan(), (&options{quick: true}).pacingPlan(); watched(long) != 5*time.Second || watched(quick) != time.Second {
		t.Errorf("%v, -quick %v", watched(long), watched(quick))
	}
}
