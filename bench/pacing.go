package main

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
	register(scene{
		name: "pacing", family: withoutTicks, flags: []string{"quick", "csv"},
		help: "how late frames begin at 60 and 1,000 Hz, and the CPU time of waiting, by each pacing of package loop and by hand",
		run: func(o *options, _ native.Level, stdout, stderr io.Writer) error {
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
	return fmt.Sprintf("pacing %v by %s", loop.Precise, new(loop.PreciseClock).Method())
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

// stopwatch measures how late steps are by a clock of its own, on the schedule that begins with the
// first wait. The clock that paces the steps provides only that moment.
type stopwatch struct {
	hz    int64
	begin time.Duration
	byGo  bool // the system has no such clock: by package time
	start time.Time
}

// newStopwatch reads its own clock and then calls begin, which reads the clock that paces. It does
// so again if the machine interrupted it between the two, which would make all steps look late. No
// step looks early because of it.
func newStopwatch(hz int64, begin func()) *stopwatch {
	w := &stopwatch{hz: hz}
	for range 20 {
		w.start, w.begin = time.Now(), systemTime()
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
		passed = systemTime() - w.begin
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
// targets that have already passed. open is called when the schedule begins, perhaps again, and wait
// waits until a time after that.
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

// tickByHand waits for a time.Ticker, whose grid is absolute as well. What counts is when the
// program receives the tick, not the time that the tick contains.
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
	before, known := processTime()
	err := w.run(d, func(ns int64) { w.lates = append(w.lates, ns) })
	after, _ := processTime()
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

func (o *options) runPacing(plan *pacingPlan, stdout, stderr io.Writer) error {
	r := &pacingReport{report: o.newReport(""), plan: plan}
	r.Workers = 0
	r.writeText = r.write
	return o.publish(stdout, r.report, func() error { return r.measure(stderr) })
}

func (r *pacingReport) measure(stderr io.Writer) (err error) {
	progress := newProgress(stderr)
	defer progress.clear()
	for _, hz := range r.plan.rates {
		ways := waysToWait(hz)
		for round := -1; round < r.plan.rounds; round++ { // the first is the warm-up
			for _, w := range ways {
				progress.show("%d Hz, round %d: %s", hz, round, w.name)
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
