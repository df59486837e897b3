package main

import (
	"fmt"
	"io"

	"github.com/evertick/evertick/loop"
)

type pacingReport struct {
	*report
	plan        *pacingPlan
	figures     []pacingFigure
	freeFrameNs float64 // of Uncapped
}

// pacingFigure is a way to wait with how late its frames were.
type pacingFigure struct {
	pacing, method string
	hz             int64
	frames         int
	late           quantiles // ns
	cpu            any       // share of one CPU, all threads of the process; nil where the system does not count it
	goal           *pacingGoal
	wakes          *loop.WakeLateness // learnt; nil: another clock
}

// pacingGoal is what the p95 and the CPU should not exceed.
type pacingGoal struct {
	p95Ns int64
	cpu   float64
}

// meanLateness returns the mean of what a clock learnt of the machine in each turn.
func meanLateness(learnt []loop.WakeLateness) *loop.WakeLateness {
	n := float64(len(learnt))
	var p50, p95, margin float64
	mean := new(loop.WakeLateness)
	for _, l := range learnt {
		p50 += float64(l.P50Ns) / n
		p95 += float64(l.P95Ns) / n
		margin += float64(l.MarginNs) / n
		mean.NeededCPU += l.NeededCPU / n
	}
	mean.P50Ns, mean.P95Ns, mean.MarginNs = int64(p50), int64(p95), int64(margin)
	return mean
}

const (
	spinBudget = 0.04   // of a CPU: the default of loop.Config.SpinBudget
	lateGoalNs = 20_000 // what p95 should not exceed, if that budget is enough for it
)

func newPacingFigure(w *wayToWait) pacingFigure {
	f := pacingFigure{pacing: w.name, method: w.method(), hz: w.hz, frames: len(w.lates), late: quantilesOf(w.lates)}
	if w.cpuKnown {
		f.cpu = w.cpu.Seconds() / w.wall.Seconds()
	}
	if w.name == "Precise" && w.hz == 60 {
		f.goal = &pacingGoal{p95Ns: lateGoalNs, cpu: spinBudget + 0.01} // sleeping and waking take some CPU, too
	}
	if len(w.learnt) > 0 {
		f.wakes = meanLateness(w.learnt)
	}
	return f
}

// describe reports how late the machine wakes sleepers, and what it cannot do.
func (f *pacingFigure) describe() string {
	w := f.wakes
	text := fmt.Sprintf("%s at %d Hz: the machine wakes sleepers %s µs late at p50 and %s at p95; the clock learnt to wake %s µs early.",
		f.pacing, f.hz, micros(w.P50Ns), micros(w.P95Ns), micros(w.MarginNs))
	switch {
	case w.NeededCPU > spinBudget:
		text += fmt.Sprintf(" For a p95 of %s µs it would have to spin for %.1f %% of a CPU, and may for %.0f %%: see loop.Config.SpinBudget.", micros(lateGoalNs), 100*w.NeededCPU, 100*spinBudget)
	case f.late.P95 > lateGoalNs:
		text += fmt.Sprintf(" Spinning for %.1f %% of a CPU is enough for that: frames that are more than %s µs late at p95 were interrupted while it spun.", 100*w.NeededCPU, micros(lateGoalNs))
	}
	return text
}

func (r *pacingReport) fill() {
	r.Facts = map[string]any{"rounds": r.plan.rounds, "turn_s": r.plan.turn.Seconds(), "free_frame_ns": r.freeFrameNs}
	inMicros := func(ns any) string { return micros(ns.(int64)) }
	inPercent := func(share any) string { return fmt.Sprintf("%.1f %%", 100*share.(float64)) }
	r.Figures = table{columns: []column{
		{name: "pacing", head: "pacing"}, {name: "method", head: "by"}, {name: "rate_hz", head: "Hz"}, {name: "frames", head: "frames"},
		{name: "late_ns_p50", head: "p50", format: inMicros}, {name: "late_ns_p95", head: "p95", format: inMicros},
		{name: "late_ns_p99", head: "p99", format: inMicros}, {name: "late_ns_max", head: "max", format: inMicros},
		{name: "cpu", head: "CPU", format: inPercent},
		{name: "goal_late_ns_p95", head: "p95 goal", format: inMicros}, {name: "goal_cpu", head: "CPU goal", format: inPercent},
		{name: "wake_ns_p50"}, {name: "wake_ns_p95"}, {name: "wake_margin_ns"}, {name: "needed_cpu"}, {name: "budget_cpu"},
	}}
	for i := range r.figures {
		f := &r.figures[i]
		row := make([]any, len(r.Figures.columns))
		copy(row, []any{f.pacing, f.method, f.hz, f.frames, f.late.P50, f.late.P95, f.late.P99, f.late.Max, f.cpu})
		if g := f.goal; g != nil {
			row[9], row[10] = g.p95Ns, g.cpu
		}
		if w := f.wakes; w != nil {
			copy(row[11:], []any{w.P50Ns, w.P95Ns, w.MarginNs, w.NeededCPU, spinBudget})
		}
		r.Figures.add(row...)
	}
}

func (r *pacingReport) write(w io.Writer) {
	fmt.Fprintf(w, `How late empty steps begin, in µs, by a clock of the system that their pacing does not read: %d round(s) of %g s in which the ways take turns.
CPU is that of all threads of the process, in per cent of one CPU. The tail depends most on what other programs want the CPU.

`, r.plan.rounds, r.plan.turn.Seconds())
	r.Figures.writeText(w)
	for i := range r.figures {
		if f := &r.figures[i]; f.wakes != nil {
			fmt.Fprintln(w, f.describe())
		}
	}
	fmt.Fprintf(w, "Uncapped, which does not wait: %s ns a frame\n", whole(r.freeFrameNs))
}
