package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"

	"github.com/evertick/evertick/bench/profile"
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
	Pacing string      `json:"pacing"`
	Method string      `json:"method"`
	RateHz int64       `json:"rate_hz"`
	Frames int         `json:"frames"`
	LateNs quantiles   `json:"late_ns"`
	CPU    *float64    `json:"cpu,omitempty"` // of one, with all threads of the process; absent where the system does not tell
	Goal   *pacingGoal `json:"goal,omitempty"`
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
		f.Goal = &pacingGoal{P95Ns: 5_000, CPU: 0.03}
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
	fmt.Fprintf(&b, `By how much frames with an empty step begin too late, in µs: %d round(s) of %g s in which the ways take turns.
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
	fmt.Fprintf(&b, "Uncapped, which waits for nothing: %s ns a frame\n", whole(r.FreeFrameNs))
	_, err := io.WriteString(w, b.String())
	return err
}
