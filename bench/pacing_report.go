package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"

	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/loop"
)

// pacingReport is what -json prints.
type pacingReport struct {
	Scene       string              `json:"scene"`
	Quick       bool                `json:"quick"`
	Environment profile.Environment `json:"environment"`
	Rounds      int                 `json:"rounds"`
	TurnS       float64             `json:"turn_s"` // of each way in each round
	Figures     []pacingFigure      `json:"figures"`
	FreeFrameNs float64             `json:"free_frame_ns"` // of Uncapped
}

// pacingFigure is a way to wait with how late its frames were.
type pacingFigure struct {
	Pacing string       `json:"pacing"`
	Method string       `json:"method"`
	RateHz int64        `json:"rate_hz"`
	Frames int          `json:"frames"`
	LateNs quantiles    `json:"late_ns"`
	CPU    *float64     `json:"cpu,omitempty"` // of one, with all threads of the process; absent where the system does not count it
	Goal   *pacingGoal  `json:"goal,omitempty"`
	Wakes  *pacingWakes `json:"wakes,omitempty"`
}

// pacingWakes is what a clock that learns has learnt of the machine, the mean of the turns.
type pacingWakes struct {
	P50Ns     int64   `json:"p50_ns"` // by which sleepers wake late
	P95Ns     int64   `json:"p95_ns"`
	MarginNs  int64   `json:"margin_ns"`  // of a sleep before its target
	NeededCPU float64 `json:"needed_cpu"` // that spinning has to take for a p95 of 20 µs
	Budget    float64 `json:"budget_cpu"` // that it may take
}

func newPacingWakes(learnt []loop.WakeLateness) *pacingWakes {
	w := &pacingWakes{Budget: spinBudget}
	n := float64(len(learnt))
	var p50, p95, margin float64
	for _, l := range learnt {
		p50 += float64(l.P50Ns) / n
		p95 += float64(l.P95Ns) / n
		margin += float64(l.MarginNs) / n
		w.NeededCPU += l.NeededCPU / n
	}
	w.P50Ns, w.P95Ns, w.MarginNs = int64(p50), int64(p95), int64(margin)
	return w
}

const (
	spinBudget = 0.04   // of a CPU: the default of loop.Config.SpinBudget
	lateGoalNs = 20_000 // what p95 should not exceed, if that budget affords it
)

// say states how late the machine wakes sleepers, and what it cannot do.
func (f *pacingFigure) say() string {
	w := f.Wakes
	text := fmt.Sprintf("%s at %d Hz: the machine wakes sleepers %s µs late at p50 and %s at p95; it learnt to wake %s µs early.",
		f.Pacing, f.RateHz, micros(w.P50Ns), micros(w.P95Ns), micros(w.MarginNs))
	switch {
	case w.NeededCPU > w.Budget:
		text += fmt.Sprintf(" For a p95 of %s µs it would have to spin for %.1f %% of a CPU, and may for %.0f %%: see loop.Config.SpinBudget.", micros(lateGoalNs), 100*w.NeededCPU, 100*w.Budget)
	case f.LateNs.P95 > lateGoalNs:
		text += fmt.Sprintf(" Spinning for %.1f %% of a CPU covers that: what is late beyond %s µs at p95 was interrupted while it spun.", 100*w.NeededCPU, micros(lateGoalNs))
	}
	return text
}

// pacingGoal is what the p95 and the CPU should not exceed.
type pacingGoal struct {
	P95Ns int64   `json:"p95_ns"`
	CPU   float64 `json:"cpu"`
}

func newPacingFigure(w *wayToWait) pacingFigure {
	f := pacingFigure{Pacing: w.name, Method: w.method(), RateHz: w.hz, Frames: len(w.lates), LateNs: quantilesOf(w.lates)}
	if w.cpuKnown {
		cpu := w.cpu.Seconds() / w.wall.Seconds()
		f.CPU = &cpu
	}
	if w.name == "Precise" && w.hz == 60 {
		f.Goal = &pacingGoal{P95Ns: lateGoalNs, CPU: spinBudget + 0.01} // sleeping and waking take some CPU, too
	}
	if len(w.learnt) > 0 {
		f.Wakes = newPacingWakes(w.learnt)
	}
	return f
}

// cpuText prints the share of a CPU in per cent.
func (f *pacingFigure) cpuText() string {
	if f.CPU == nil {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100**f.CPU)
}

var pacingCSVHead = []string{"pacing", "method", "rate_hz", "frames", "late_ns_p50", "late_ns_p95", "late_ns_p99", "late_ns_max", "cpu"}

// writeCSV writes a line for each figure. The cpu is empty where the system does
// not tell.
func (r *pacingReport) writeCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.Write(pacingCSVHead) // Error tells of any write that failed
	for i := range r.Figures {
		f := &r.Figures[i]
		cpu := ""
		if f.CPU != nil {
			cpu = number(*f.CPU)
		}
		line := []string{f.Pacing, f.Method}
		for _, n := range []int64{f.RateHz, int64(f.Frames), f.LateNs.P50, f.LateNs.P95, f.LateNs.P99, f.LateNs.Max} {
			line = append(line, fmt.Sprint(n))
		}
		out.Write(append(line, cpu))
	}
	out.Flush()
	return out.Error()
}

func (r *pacingReport) writeText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, `By how much empty steps begin too late, in µs, by a clock of the system that their pacing does not read: %d round(s) of %g s in which the ways take turns.
CPU is that of all threads of the process, in per cent of one CPU. What the tail shows depends most on who else wants the CPU.

`, r.Rounds, r.TurnS)
	rate := int64(0)
	var lines []string
	flush := func() {
		if len(lines) > 0 {
			table(&b, fmt.Sprintf("%d Hz\tby\tp50\tp95\tp99\tmax\tCPU\tframes\tgoal\t", rate), lines)
		}
		lines = nil
	}
	for i := range r.Figures {
		f := &r.Figures[i]
		if f.RateHz != rate {
			flush()
			rate = f.RateHz
		}
		goal := "–"
		if f.Goal != nil {
			goal = fmt.Sprintf("p95 %s, CPU %.0f %%", micros(f.Goal.P95Ns), 100*f.Goal.CPU)
		}
		lines = append(lines, fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s\t", f.Pacing, f.Method, micros(f.LateNs.P50),
			micros(f.LateNs.P95), micros(f.LateNs.P99), micros(f.LateNs.Max), f.cpuText(), f.Frames, goal))
	}
	flush()
	for i := range r.Figures {
		if f := &r.Figures[i]; f.Wakes != nil {
			fmt.Fprintln(&b, f.say())
		}
	}
	fmt.Fprintf(&b, "Uncapped, which waits for nothing: %s ns a frame\n", whole(r.FreeFrameNs))
	_, err := io.WriteString(w, b.String())
	return err
}
