package command

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/internal/pace"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native"
)

// openPair opens equal worlds, the first with one worker and all others with several.
func (o *Options) openPair(s *Scene, level native.Level, worlds int) (all []stepper, err error) {
	one := *o
	one.Workers = 1
	for i := range worlds {
		from := o
		if i == 0 {
			from = &one
		}
		w, err := s.open(from, level)
		if err != nil {
			return nil, err
		}
		all = append(all, w)
	}
	return all, nil
}

// In a turn of -stages -paced the first steps do not count: they follow a pause, and helpers have not found the rate again.
const (
	stagesPacedSkip = 4
	stagesPacedTurn = 60 + stagesPacedSkip
)

// pacedReport compares steps of one worker and of several that wait until they are due, as those of a game do: meanwhile helpers fall asleep, and the
// caches grow cold.
type pacedReport struct {
	*report
	workers int
	ns      [2][]int64
	gain    profile.Ratio
	busy    bool
	ping    float64 // ns, the mean of before and after
}

func (o *Options) runStagesPaced(s *Scene, level native.Level, stdout, stderr io.Writer) error {
	r := &pacedReport{report: o.NewReport(level.String()), workers: o.Workers, busy: o.busy}
	r.WriteText = r.write
	return o.Publish(stdout, r.report, func() error {
		p := NewProgress(stderr)
		defer p.Clear()
		ping := linePing()
		if err := r.measure(o, s, level, p); err != nil {
			return err
		}
		r.ping = (ping + linePing()) / 2
		r.fill()
		return nil
	})
}

func (r *pacedReport) measure(o *Options, s *Scene, level native.Level, p *Progress) error {
	worlds, err := o.openPair(s, level, 2)
	if err != nil {
		return err
	}
	defer func(was bool) { pace.Always = was }(pace.Always)
	pace.Always = false
	for i := range worlds {
		p.Show("%s: warm-up", o.Scene)
		if err := steps(&worlds[i], o.Warmup); err != nil {
			return err
		}
	}
	runtime.GC()
	if o.busy {
		defer startBusyLoop()()
	}
	clock := new(loop.PreciseClock)
	for tick, round := o.Warmup, 0; tick < o.Ticks; tick, round = tick+stagesPacedTurn, round+1 {
		p.Show("%s: tick %d of %d", o.Scene, tick, o.Ticks)
		for k := range worlds {
			i := (k + round) % len(worlds)
			due := clock.Now()
			for step := range min(stagesPacedTurn, o.Ticks-tick) {
				due += int64(time.Second) / pacedHz
				if err := clock.Sleep(context.Background(), due); err != nil {
					return err
				}
				ns, err := worlds[i].once()
				if err != nil {
					return fmt.Errorf("after tick %d: %w", tick+step, err)
				}
				if step >= stagesPacedSkip {
					r.ns[i] = append(r.ns[i], ns)
				}
			}
		}
	}
	return sameHashes(worlds)
}

func sameHashes(worlds []stepper) error {
	want := worlds[0].hash()
	for _, s := range worlds[1:] {
		if got := s.hash(); got != want {
			return fmt.Errorf("the results of workers differ: %016x and %016x", want, got)
		}
	}
	return nil
}

func (r *pacedReport) fill() {
	r.gain = medianRatio("gain", r.ns[0], r.ns[1])
	r.Facts = map[string]any{"paced_hz": pacedHz, "steps": len(r.ns[0]), "gain": r.gain.Median, "gain_low": r.gain.Low, "gain_high": r.gain.High, "ping_ns": r.ping}
	if r.busy {
		r.Facts["busy"] = true
	}
	inMicros := func(ns any) string { return micros(ns.(int64)) }
	r.Figures = Table{Columns: []Column{
		{Name: "workers", head: "workers"}, {Name: "step_ns_p50", head: "p50, µs", format: inMicros}, {Name: "step_ns_p95", head: "p95, µs", format: inMicros},
	}}
	for i, workers := range [...]int{1, r.workers} {
		q := QuantilesOf(r.ns[i])
		r.Figures.Add(workers, q.P50, q.P95)
	}
}

func (r *pacedReport) write(w io.Writer) {
	r.Figures.WriteText(w)
	fmt.Fprintf(w, "%d steps of each, at %d Hz, by turns: a step is %s times as fast with %d workers.\n",
		len(r.ns[0]), pacedHz, interval(r.gain.Median, r.gain.Low, r.gain.High), r.workers)
	fmt.Fprint(w, pingText(r.ping))
	if r.busy {
		fmt.Fprintln(w, "A busy loop had one CPU meanwhile.")
	}
}

// firstSteps is the number of steps of -first.
const firstSteps = 40

// firstOpenings is how often -first opens worlds, and firstPatience how long it goes on with that.
var (
	firstOpenings = [2]int{5, 60}
	firstPatience = 10 * time.Second
)

// The worlds of -first.
const (
	withOne     = iota
	withSeveral // as any program has them
	withAlways  // several workers whatever they cost
	firstWorlds
)

// firstReport compares the first steps of fresh worlds.
type firstReport struct {
	*report
	workers  int
	openings int
	ns       [firstWorlds][firstSteps][]int64
	ping     float64
	decided  int // the step from which on helpers are in use; -1: none
}

func (o *Options) runStagesFirst(s *Scene, level native.Level, stdout, stderr io.Writer) error {
	r := &firstReport{report: o.NewReport(level.String()), workers: o.Workers}
	r.WriteText = r.write
	return o.Publish(stdout, r.report, func() error {
		p := NewProgress(stderr)
		defer p.Clear()
		defer func(was bool) { pace.Always = was }(pace.Always)
		for from := time.Now(); r.openings < firstOpenings[0] || r.openings < firstOpenings[1] && time.Since(from) < firstPatience; r.openings++ {
			p.Show("%s: opening %d", o.Scene, r.openings+1)
			if err := r.open(o, s, level); err != nil {
				return err
			}
		}
		r.ping = linePing()
		r.fill()
		return nil
	})
}

// open lets fresh worlds make their first steps, one after the other.
func (r *firstReport) open(o *Options, s *Scene, level native.Level) error {
	worlds, err := o.openPair(s, level, firstWorlds)
	if err != nil {
		return err
	}
	runtime.GC()
	for k := range worlds {
		i := (k + r.openings) % len(worlds)
		pace.Always = i == withAlways
		for step := range firstSteps {
			ns, err := worlds[i].once()
			if err != nil {
				return err
			}
			r.ns[i][step] = append(r.ns[i][step], ns)
		}
	}
	return sameHashes(worlds)
}

// firstWindow is the number of steps whose times are added before they are compared: one step varies too much.
const firstWindow = 5

// asGood is the part of the gain of steps that always have helpers from which on helpers count as in use.
const asGood = 0.8

func (r *firstReport) fill() {
	var median [firstWorlds][firstSteps]float64
	for i := range r.ns {
		for step := range r.ns[i] {
			median[i][step] = float64(QuantilesOf(r.ns[i][step]).P50) / 1e3
		}
	}
	r.decided = decidedAt(&median)
	r.Facts = map[string]any{"openings": r.openings, "decided": r.decided, "ping_ns": r.ping}
	tenth := func(v any) string { return fmt.Sprintf("%.1f", v) }
	r.Figures = Table{Columns: []Column{
		{Name: "steps", head: "steps"}, {Name: "one_us", head: "one worker, µs", format: tenth},
		{Name: "several_us", head: fmt.Sprint(r.workers, ", as they decide"), format: tenth}, {Name: "always_us", head: fmt.Sprint(r.workers, ", always"), format: tenth},
		{Name: "gain", head: "gain"}, {Name: "gain_always", head: "always"},
	}}
	for step := 0; step < firstSteps; step += firstWindow {
		var sum [firstWorlds]float64
		for i := range sum {
			for _, v := range median[i][step:][:firstWindow] {
				sum[i] += v / firstWindow
			}
		}
		r.Figures.Add(fmt.Sprintf("%d–%d", step+1, step+firstWindow), sum[withOne], sum[withSeveral], sum[withAlways], sum[withOne]/sum[withSeveral], sum[withOne]/sum[withAlways])
	}
}

// decidedAt returns the first step from which on steps that may have helpers are about as fast as the better of those with one worker and those that always
// have helpers; -1: none. The window that it begins counts, and all that follow.
func decidedAt(median *[firstWorlds][firstSteps]float64) (step int) {
	step = -1
	for from := firstSteps - firstWindow; from >= 0; from-- {
		var sum [firstWorlds]float64
		for i := range sum {
			for _, v := range median[i][from:][:firstWindow] {
				sum[i] += v
			}
		}
		best := min(sum[withAlways], sum[withOne])
		if sum[withSeveral] > best+float64((1-asGood)*max(sum[withOne]-best, sum[withAlways]-best)) && sum[withSeveral] > 1.05*best {
			break
		}
		step = from + 1
	}
	return step
}

func (r *firstReport) write(w io.Writer) {
	r.Figures.WriteText(w)
	fmt.Fprint(w, pingText(r.ping))
	fmt.Fprintf(w, "Medians of %d fresh worlds of each kind, means of %d steps.\n", r.openings, firstWindow)
	if r.decided < 0 {
		fmt.Fprintf(w, "In %d steps helpers are not in use as they should be.\n", firstSteps)
		return
	}
	fmt.Fprintf(w, "From step %d on a step is as fast as the better of one worker and always %d, or nearly so.\n", r.decided, r.workers)
}

// checkTurns returns an error if flags of -stages exclude each other.
func (o *Options) checkTurns() error {
	switch {
	case o.paced && o.first:
		return fmt.Errorf("%w: -first: not with -paced", ErrUsage)
	case o.first && o.busy:
		return fmt.Errorf("%w: -busy: not with -first", ErrUsage)
	case o.paced && o.Ticks-o.Warmup < 2*stagesPacedSkip:
		return fmt.Errorf("%w: -ticks %d: at least %d more than -warmup %d with -stages -paced", ErrUsage, o.Ticks, 2*stagesPacedSkip, o.Warmup)
	}
	return nil
}
