package command

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native"
)

func init() {
	Register(Scene{
		Name: "pacing", Family: withoutTicks, Flags: []string{"quick", "csv"},
		Help: "how late frames begin at 60 and 1,000 Hz, and the CPU time of waiting, by each pacing of package loop and by hand",
		Run: func(o *Options, _ native.Level, stdout, stderr io.Writer) error {
			plan := longPacing
			if o.quick {
				plan = quickPacing
			}
			return o.runPacing(&plan, stdout, stderr)
		},
	})
}

// pacingPlan is how long each way to wait is measured.
type pacingPlan struct {
	rates  []int64       // Hz
	rounds int           // in which the ways take turns
	turn   time.Duration // of each way in each round
	warmup time.Duration // of each way, before its first turn
	free   int           // frames of the way that does not wait
}

var (
	longPacing  = pacingPlan{rates: []int64{60, 1000}, rounds: 5, turn: time.Second, warmup: 600 * time.Millisecond, free: 2_000_000}
	quickPacing = pacingPlan{rates: []int64{60, 1000}, rounds: 1, turn: time.Second, warmup: 600 * time.Millisecond, free: 200_000}
)

// pacingInfo names the method that paces precise frames here.
func pacingInfo() string {
	says := fmt.Sprintf("pacing %v by %s", loop.Precise, new(loop.PreciseClock).Method())
	if p := loop.Precise.Effective(); p != loop.Precise {
		says += fmt.Sprintf(": it is %v here", p)
	}
	return says
}

// wayToWait is a way to pace frames, with the lateness of its frames.
type wayToWait struct {
	name   string
	hz     int64
	method func() string
	run    func(d time.Duration, late func(ns int64)) error // paces frames, and calls late with the lateness of each

	precise *loop.PreciseClock  // nil: another
	learnt  []loop.WakeLateness // at the end of each turn

	lates     []int64
	wall, cpu time.Duration
	cpuKnown  bool
}

// waysToWait returns the ways that are compared at a rate: what Go programs do by hand, and the
// pacings that wait.
func waysToWait(hz int64) []*wayToWait {
	by := func(method string) func() string { return func() string { return method } }
	ways := []*wayToWait{
		{name: "time.Sleep", hz: hz, method: by("by hand"), run: sleepByHand(hz)},
		{name: "time.Ticker", hz: hz, method: by("by hand"), run: tickByHand(hz)},
	}
	for _, p := range []loop.Pacing{loop.Sleep, loop.Precise, loop.Spin} {
		clock, err := loop.NewClock(p)
		if err != nil {
			panic("bench: a pacing without a clock")
		}
		precise, _ := clock.(*loop.PreciseClock)
		ways = append(ways, &wayToWait{name: p.String(), hz: hz, method: clock.Method, run: pacedRun(hz, clock), precise: precise})
	}
	return ways
}

// stopwatch measures by a clock of its own how late steps are, on the schedule that begins with the
// first wait. The clock that paces the steps provides only the time of that beginning.
type stopwatch struct {
	hz    int64
	begin time.Duration
	byGo  bool // the system has no such clock: by package time
	start time.Time
}

// newStopwatch reads its own clock and then calls begin, which reads the clock that paces. An
// interruption between the two readings would make all steps look late, so it then reads both
// again. No step looks early because of it.
func newStopwatch(hz int64, begin func()) *stopwatch {
	w := &stopwatch{hz: hz}
	for range 20 {
		w.start, w.begin = time.Now(), SystemTime()
		begin()
		if w.byGo = w.begin < 0; time.Since(w.start) < 20*time.Microsecond {
			break
		}
	}
	return w
}

// late returns by how much step i, from 0, begins too late now, in nanoseconds.
func (w *stopwatch) late(i uint64) int64 {
	passed := time.Duration(0)
	if w.byGo {
		passed = time.Since(w.start)
	} else {
		passed = SystemTime() - w.begin
	}
	return int64(passed) - int64(i+1)*int64(time.Second)/w.hz
}

// anchored is a clock that starts the stopwatch at the time from which a run counts.
type anchored struct {
	loop.Clock
	hz int64
	w  *stopwatch
}

func (a *anchored) Now() (now int64) {
	if a.w != nil {
		return a.Clock.Now()
	}
	a.w = newStopwatch(a.hz, func() { now = a.Clock.Now() })
	return now
}

// pacedRun paces frames by Loop.Run; a stopwatch measures how late their steps begin.
func pacedRun(hz int64, clock loop.Clock) func(time.Duration, func(int64)) error {
	return func(d time.Duration, late func(int64)) error {
		l, err := loop.New(loop.Config{RateNum: hz})
		if err != nil {
			return err
		}
		end := clock.Now() + int64(d)
		watched := &anchored{Clock: clock, hz: hz}
		dropped := uint64(0) // steps of the schedule that the loop did not run
		step := func(tick uint64) error {
			late(watched.w.late(tick + dropped))
			if clock.Now() >= end {
				return loop.ErrStop
			}
			return nil
		}
		return l.Run(context.Background(), watched, step, func(f loop.Frame) { dropped = f.DroppedTotal })
	}
}

// byHand waits for targets on an absolute grid, so that it does not drift. Like a Loop it drops
// targets that have already passed. It calls open when the schedule begins, possibly several times;
// wait waits until a time after that.
func byHand(hz int64, open func(period time.Duration), wait func(start time.Time, at time.Duration)) func(time.Duration, func(int64)) error {
	period := time.Second / time.Duration(hz)
	return func(d time.Duration, late func(int64)) error {
		var start time.Time
		w := newStopwatch(hz, func() {
			start = time.Now()
			open(period)
		})
		for at := period; at < d; at += period {
			wait(start, at)
			late(w.late(uint64(at/period) - 1))
			at += (time.Since(start) - at).Truncate(period)
		}
		return nil
	}
}

func sleepByHand(hz int64) func(time.Duration, func(int64)) error {
	return byHand(hz, func(time.Duration) {}, func(start time.Time, at time.Duration) { time.Sleep(at - time.Since(start)) })
}

// tickByHand waits for a time.Ticker, whose grid is absolute as well. It measures when the program
// receives the tick, not the time that the tick contains.
func tickByHand(hz int64) func(time.Duration, func(int64)) error {
	ticker := time.NewTicker(time.Hour)
	run := byHand(hz, ticker.Reset, func(time.Time, time.Duration) { <-ticker.C })
	return func(d time.Duration, late func(int64)) error {
		defer ticker.Stop()
		return run(d, late)
	}
}

// measure runs w for d and keeps the results, unless it is the warm-up.
func (w *wayToWait) measure(d time.Duration, warmup bool) error {
	if warmup {
		return w.run(d, func(int64) {})
	}
	w.lates = slices.Grow(w.lates, int(int64(d)*w.hz/int64(time.Second))+1)
	runtime.GC()
	start := time.Now()
	before, known := ProcessTime()
	err := w.run(d, func(ns int64) { w.lates = append(w.lates, ns) })
	after, _ := ProcessTime()
	w.wall += time.Since(start)
	w.cpu += after - before
	w.cpuKnown = known
	if w.precise != nil {
		w.learnt = append(w.learnt, w.precise.Lateness())
	}
	return err
}

// freeFrame returns the time of a frame that does not wait and has one empty step.
func (p *pacingPlan) freeFrame() (ns float64, err error) {
	l, err := loop.New(loop.Config{Pacing: loop.Uncapped})
	if err != nil {
		return 0, err
	}
	last := uint64(p.free) - 1
	step := func(tick uint64) error {
		if tick == last {
			return loop.ErrStop
		}
		return nil
	}
	start := time.Now()
	if err := l.Run(context.Background(), nil, step, nil); err != nil {
		return 0, err
	}
	return float64(time.Since(start)) / float64(p.free), nil
}

func (o *Options) runPacing(plan *pacingPlan, stdout, stderr io.Writer) error {
	r := &pacingReport{report: o.NewReport(""), plan: plan}
	r.Workers = 0
	r.WriteText = r.write
	return o.Publish(stdout, r.report, func() error { return r.measure(stderr) })
}

func (r *pacingReport) measure(stderr io.Writer) (err error) {
	progress := NewProgress(stderr)
	defer progress.Clear()
	for _, hz := range r.plan.rates {
		ways := waysToWait(hz)
		for round := -1; round < r.plan.rounds; round++ { // the first is the warm-up
			for _, w := range ways {
				progress.Show("%d Hz, round %d: %s", hz, round, w.name)
				d := r.plan.turn
				if round < 0 {
					d = r.plan.warmup
				}
				if err := w.measure(d, round < 0); err != nil {
					return fmt.Errorf("%s at %d Hz: %w", w.name, hz, err)
				}
			}
		}
		for _, w := range ways {
			r.figures = append(r.figures, newPacingFigure(w))
		}
	}
	r.freeFrameNs, err = r.plan.freeFrame()
	r.fill()
	return err
}

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
	late           Quantiles // ns
	cpu            any       // share of one CPU, all threads of the process; nil where the system does not count it
	goal           *pacingGoal
	wakes          *loop.WakeLateness // learnt; nil: another clock
}

// pacingGoal is what the p95 and the CPU should not exceed.
type pacingGoal struct {
	p95Ns int64
	cpu   float64
}

// meanLateness returns the mean of what a clock has learnt about the machine in each turn.
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
	f := pacingFigure{pacing: w.name, method: w.method(), hz: w.hz, frames: len(w.lates), late: QuantilesOf(w.lates)}
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
	r.Figures = Table{Columns: []Column{
		{Name: "pacing", head: "pacing"}, {Name: "method", head: "by"}, {Name: "rate_hz", head: "Hz"}, {Name: "frames", head: "frames"},
		{Name: "late_ns_p50", head: "p50", format: inMicros}, {Name: "late_ns_p95", head: "p95", format: inMicros},
		{Name: "late_ns_p99", head: "p99", format: inMicros}, {Name: "late_ns_max", head: "max", format: inMicros},
		{Name: "cpu", head: "CPU", format: inPercent},
		{Name: "goal_late_ns_p95", head: "p95 goal", format: inMicros}, {Name: "goal_cpu", head: "CPU goal", format: inPercent},
		{Name: "wake_ns_p50"}, {Name: "wake_ns_p95"}, {Name: "wake_margin_ns"}, {Name: "needed_cpu"}, {Name: "budget_cpu"},
	}}
	for i := range r.figures {
		f := &r.figures[i]
		row := make([]any, len(r.Figures.Columns))
		copy(row, []any{f.pacing, f.method, f.hz, f.frames, f.late.P50, f.late.P95, f.late.P99, f.late.Max, f.cpu})
		if g := f.goal; g != nil {
			row[9], row[10] = g.p95Ns, g.cpu
		}
		if w := f.wakes; w != nil {
			copy(row[11:], []any{w.P50Ns, w.P95Ns, w.MarginNs, w.NeededCPU, spinBudget})
		}
		r.Figures.Add(row...)
	}
}

func (r *pacingReport) write(w io.Writer) {
	fmt.Fprintf(w, `How late empty steps begin, in µs, by a clock of the system that their pacing does not read: %d round(s) of %g s in which the ways take turns.
CPU is that of all threads of the process, in per cent of one CPU. The tail depends most on what other programs want the CPU.

`, r.plan.rounds, r.plan.turn.Seconds())
	r.Figures.WriteText(w)
	for i := range r.figures {
		if f := &r.figures[i]; f.wakes != nil {
			fmt.Fprintln(w, f.describe())
		}
	}
	fmt.Fprintf(w, "Uncapped, which does not wait: %s ns a frame\n", Whole(r.freeFrameNs))
}
