package command

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/pace"
	"github.com/evertick/evertick/native"
)

// stagesTurn is the number of steps of a turn, half of them watched. The first step of a turn finds its data in no cache.
const stagesTurn = 2 * turn

func (o *Options) checkStages() error {
	switch {
	case o.Workers < 2:
		return fmt.Errorf("%w: -workers %d: at least 2 with -stages: %w", ErrUsage, o.Workers, fault.ErrRange)
	case o.Ticks-o.Warmup < stagesTurn:
		return fmt.Errorf("%w: -ticks %d: at least %d more than -warmup %d with -stages: %w", ErrUsage, o.Ticks, stagesTurn, o.Warmup, fault.ErrRange)
	}
	return o.checkTurns()
}

// stagesRound has the times of one round, in which each world makes the same steps.
type stagesRound struct {
	plain   [2]time.Duration // of turn steps that nobody watches: one worker, several
	watched [2]watchedTurn
	both    time.Duration // of stagesTurn steps of each of several worlds at the same time
	all     time.Duration
}

// watchedTurn has the stages of turn steps.
type watchedTurn struct {
	stages []pace.Stage
	after  time.Duration // the last stage
	took   time.Duration
}

// stagesWorlds are equal worlds: one with one worker, one with several, and some with one worker each, which are stepped at the
// same time.
type stagesWorlds struct {
	worlds [2]stepper
	both   []stepper
	watch  [2]pace.Watch
}

func (o *Options) openStages(s *Scene, level native.Level) (*stagesWorlds, error) {
	one := *o
	one.Workers = 1
	w := &stagesWorlds{both: make([]stepper, max(2, min(o.Workers, runtime.GOMAXPROCS(0))))}
	var err error
	if w.worlds[1], err = s.open(o, level); err != nil {
		return nil, err
	}
	for _, world := range append([]*stepper{&w.worlds[0]}, pointers(w.both)...) {
		if *world, err = s.open(&one, level); err != nil {
			return nil, err
		}
	}
	return w, nil
}

func pointers[T any](all []T) (to []*T) {
	for i := range all {
		to = append(to, &all[i])
	}
	return to
}

func steps(s *stepper, n int) error {
	for range n {
		if err := s.step(); err != nil {
			return err
		}
	}
	return nil
}

// stepBoth steps worlds at the same time.
func (w *stagesWorlds) stepBoth(n int) error {
	var done sync.WaitGroup
	errs := make([]error, len(w.both))
	for i := range w.both {
		done.Go(func() { errs[i] = steps(&w.both[i], n) })
	}
	done.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// round lets each contestant have its turn. In odd rounds the other half of the steps is watched, and another contestant begins.
func (w *stagesWorlds) round(number int) (r stagesRound, err error) {
	began := time.Now()
	for k := range 3 {
		i := (k + number) % 3
		if i == 2 {
			from := time.Now()
			err = w.stepBoth(stagesTurn)
			r.both = time.Since(from)
		} else {
			err = w.turn(i, number%2 == 0, &r)
		}
		if err != nil {
			return r, err
		}
	}
	r.all = time.Since(began)
	return r, nil
}

func (w *stagesWorlds) turn(i int, watchedFirst bool, r *stagesRound) (err error) {
	for _, watched := range []bool{watchedFirst, !watchedFirst} {
		if watched {
			r.watched[i], err = w.watched(i)
		} else {
			from := time.Now()
			err = steps(&w.worlds[i], turn)
			r.plain[i] = time.Since(from)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *stagesWorlds) watched(i int) (t watchedTurn, err error) {
	pace.Watched = &w.watch[i]
	defer func() { pace.Watched = nil }()
	from := pace.Now()
	pace.Watched.Start()
	err = steps(&w.worlds[i], turn)
	pace.Watched.Stop()
	t.took = pace.Now() - from
	t.stages, t.after = pace.Watched.Take()
	return t, err
}

// sameResults returns an error if the worlds differ.
func (w *stagesWorlds) sameResults() error {
	want := w.worlds[0].hash()
	for _, s := range append(w.both, w.worlds[1]) {
		if got := s.hash(); got != want {
			return fmt.Errorf("the results of workers differ: %016x and %016x", want, got)
		}
	}
	return nil
}

func (w *stagesWorlds) measure(o *Options, p *Progress) (rounds []stagesRound, err error) {
	defer func(was bool) { pace.Always = was }(pace.Always)
	pace.Always = !o.busy // in the world that has helpers
	for _, world := range append(pointers(w.both), &w.worlds[0], &w.worlds[1]) {
		p.Show("%s: warm-up", o.Scene)
		if err := steps(world, o.Warmup); err != nil {
			return nil, err
		}
	}
	runtime.GC()
	if o.busy {
		defer startBusyLoop()()
	}
	for tick := o.Warmup; tick+stagesTurn <= o.Ticks; tick += stagesTurn {
		p.Show("%s: tick %d of %d", o.Scene, tick, o.Ticks)
		r, err := w.round(len(rounds))
		if err != nil {
			return nil, fmt.Errorf("after tick %d: %w", tick, err)
		}
		rounds = append(rounds, r)
	}
	return rounds, w.sameResults()
}

// startBusyLoop runs a loop on a thread of its own, which the system shares the CPUs with, until the returned function has been called.
func startBusyLoop() (stop func()) {
	procs := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(procs + 1) // else Go would share its threads with it, not the system
	var stopped atomic.Bool
	var done sync.WaitGroup
	done.Go(func() {
		runtime.LockOSThread()
		for !stopped.Load() {
		}
	})
	return func() {
		stopped.Store(true)
		done.Wait()
		runtime.GOMAXPROCS(procs)
	}
}

// stageFigures are the means of a step in microseconds, and numbers of a step, of a stage or of what the leader does before it.
type stageFigures struct {
	name         string
	alone        bool // one chunk
	before       bool
	one, several float64 // how long it takes

	calls, chunks, theirs   float64 // of several workers, as below
	leader, helpers, waited float64
}

// stagesReport has the means of the faster half of the rounds: in the others something has interrupted a world.
type stagesReport struct {
	*report
	workers       int
	rounds, kept  int
	stages        []stageFigures // in their order
	plain         [2]float64     // a step that nobody watches
	watched       [2]float64
	serial        [2]float64 // between the stages
	barriers      float64
	gain, atOnce  float64
	tooFewCPUs    bool
	busy          bool
	leastReported float64
	ping          float64 // ns, the mean of before and after
}

func (o *Options) runStages(s *Scene, level native.Level, stdout, stderr io.Writer) error {
	r := &stagesReport{report: o.NewReport(level.String()), workers: o.Workers, busy: o.busy, tooFewCPUs: o.Workers > runtime.GOMAXPROCS(0)}
	r.WriteText = r.write
	return o.Publish(stdout, r.report, func() error {
		p := NewProgress(stderr)
		defer p.Clear()
		w, err := o.openStages(s, level)
		if err != nil {
			return err
		}
		ping := linePing()
		rounds, err := w.measure(o, p)
		if err != nil {
			return err
		}
		r.ping = (ping + linePing()) / 2
		r.evaluate(rounds, len(w.both))
		r.fill()
		return nil
	})
}

func (r *stagesReport) evaluate(rounds []stagesRound, worlds int) {
	r.rounds = len(rounds)
	slices.SortStableFunc(rounds, func(a, b stagesRound) int { return int(a.all - b.all) })
	rounds = rounds[:(len(rounds)+1)/2]
	r.kept = len(rounds)
	perStep := 1e-3 / float64(turn*len(rounds))
	var both float64
	var after [2]float64
	for _, round := range rounds {
		for i := range 2 {
			r.plain[i] += float64(float64(round.plain[i]) * perStep)
			r.watched[i] += float64(float64(round.watched[i].took) * perStep)
			after[i] += float64(float64(round.watched[i].after) * perStep)
		}
		both += float64(float64(round.both) * perStep / 2)
	}
	r.gain, r.atOnce = r.plain[0]/r.plain[1], float64(worlds)*r.plain[0]/both
	for _, name := range stageNames(rounds) {
		before := stageFigures{name: "before " + name.name, alone: name.alone, before: true}
		s := stageFigures{name: name.name, alone: name.alone}
		for _, round := range rounds {
			if p := find(round.watched[0].stages, name); p != nil {
				before.one += float64(float64(p.Before) * perStep)
				s.one += float64(float64(p.Took()) * perStep)
			}
			if p := find(round.watched[1].stages, name); p != nil {
				before.several += float64(float64(p.Before) * perStep)
				s.add(p, perStep)
			}
		}
		r.serial[0], r.serial[1] = r.serial[0]+before.one, r.serial[1]+before.several
		if r.stages = append(r.stages, before, s); !s.alone {
			r.barriers += s.calls
		}
	}
	last := stageFigures{name: "after the last stage", before: true, one: after[0], several: after[1]}
	r.serial[0], r.serial[1] = r.serial[0]+last.one, r.serial[1]+last.several
	r.stages = append(r.stages, last)
	r.leastReported = 0.002 * r.watched[0]
}

func (s *stageFigures) add(p *pace.Stage, perStep float64) {
	s.several += float64(float64(p.Took()) * perStep)
	s.leader += float64(float64(p.Worked) * perStep)
	s.helpers += float64(float64(p.Helped) * perStep)
	s.waited += float64(float64(p.Waited) * perStep)
	s.calls += float64(float64(p.Calls) * perStep * 1e3)
	s.chunks += float64(float64(p.Chunks) * perStep * 1e3)
	s.theirs += float64(float64(p.Theirs) * perStep * 1e3)
}

type stageName struct {
	name  string
	alone bool
}

func find(stages []pace.Stage, name stageName) *pace.Stage {
	i := slices.IndexFunc(stages, func(s pace.Stage) bool { return stageName{s.Name, s.Alone} == name })
	if i < 0 {
		return nil
	}
	return &stages[i]
}

// stageNames returns the names of all stages. One that few turns have follows the stage that it followed there.
func stageNames(rounds []stagesRound) (names []stageName) {
	for _, r := range rounds {
		for _, t := range r.watched {
			at := 0
			for _, s := range t.stages {
				name := stageName{s.Name, s.Alone}
				if i := slices.Index(names, name); i >= 0 {
					at = i + 1
				} else {
					names = slices.Insert(names, at, name)
					at++
				}
			}
		}
	}
	return names
}

func (r *stagesReport) fill() {
	r.Facts = map[string]any{
		"rounds": r.rounds, "rounds_counted": r.kept, "one_us": r.plain[0], "several_us": r.plain[1], "gain": r.gain,
		"watched_one_us": r.watched[0], "watched_several_us": r.watched[1], "serial_one_us": r.serial[0], "serial_several_us": r.serial[1],
		"barriers": r.barriers, "at_once": r.atOnce, "ping_ns": r.ping,
	}
	if r.busy {
		r.Facts["busy"] = true
	}
	r.Figures = stagesTable(r.workers)
	for i := range r.stages {
		r.Figures.Add(r.stages[i].cells()...)
	}
}

func stagesTable(workers int) Table {
	tenth := func(v any) string { return fmt.Sprintf("%.1f", v) }
	hundredth := func(v any) string { return fmt.Sprintf("%.2f", v) }
	return Table{Columns: []Column{
		{Name: "stage", head: "µs a step"}, {Name: "alone"},
		{Name: "one_us", head: "one", format: tenth}, {Name: "several_us", head: fmt.Sprint(workers, " workers"), format: tenth},
		{Name: "gain", head: "gain", format: hundredth}, {Name: "calls", head: "calls", format: tenth}, {Name: "chunks", head: "chunks", format: tenth},
		{Name: "leader_us", head: "leader", format: tenth}, {Name: "helpers_us", head: "helpers", format: tenth}, {Name: "waited_us", head: "waits", format: tenth},
		{Name: "inflation", head: "inflation", format: hundredth}, {Name: "theirs", head: "theirs", format: hundredth},
	}}
}

// cells returns the row of a stage. What makes no sense has no value.
func (s *stageFigures) cells() []any {
	name := s.name
	if s.alone {
		name += ", 1 chunk"
	}
	cells := []any{name, s.alone, s.one, s.several, quotient(s.one, s.several)}
	if s.before {
		return append(cells, nil, nil, nil, nil, nil, nil, nil)
	}
	return append(cells, s.calls, s.chunks, s.leader, s.helpers, s.waited, quotient(s.leader+s.helpers, s.one), quotient(s.theirs, s.chunks))
}

// quotient returns nil where there is nothing to divide, or by which.
func quotient(over, under float64) any {
	if over == 0 || under == 0 {
		return nil
	}
	return over / under
}

func (r *stagesReport) write(w io.Writer) {
	t := stagesTable(r.workers)
	rest := stageFigures{name: "shorter ones", before: true}
	shorter := 0
	var sum stageFigures
	for i := range r.stages {
		s := &r.stages[i]
		sum.one, sum.several = sum.one+s.one, sum.several+s.several
		sum.leader, sum.helpers, sum.waited = sum.leader+s.leader, sum.helpers+s.helpers, sum.waited+s.waited
		if max(s.one, s.several) < r.leastReported {
			rest.one, rest.several = rest.one+s.one, rest.several+s.several
			shorter++
			continue
		}
		t.Add(s.cells()...)
	}
	if shorter > 0 {
		rest.name = fmt.Sprintf("%d shorter rows", shorter)
		t.Add(rest.cells()...)
	}
	total := func(name string, one, several float64) []any {
		return (&stageFigures{name: name, one: one, several: several, before: true}).cells()
	}
	row := total("all stages", sum.one-r.serial[0], sum.several-r.serial[1])
	copy(row[7:], []any{sum.leader, sum.helpers, sum.waited, quotient(sum.leader+sum.helpers, sum.one-r.serial[0])})
	t.Add(row...)
	t.Add(total("before and after", r.serial[0], r.serial[1])...)
	t.Add(total("sum", sum.one, sum.several)...)
	t.WriteText(w)
	fmt.Fprintf(w, "Means of the faster %d of %d rounds of %d watched steps. %.0f barriers a step.\n", r.kept, r.rounds, turn, r.barriers)
	fmt.Fprintf(w, "Not watched, a step takes %.0f µs with one worker and %.0f µs with %d: it is %.2f times as fast.\n", r.plain[0], r.plain[1], r.workers, r.gain)
	fmt.Fprintf(w, "Worlds with one worker each, one for each CPU in use, are %.2f times as fast at the same time\nas one after the other. Workers of one world can hardly gain more.\n", r.atOnce)
	fmt.Fprint(w, pingText(r.ping))
	if r.busy {
		fmt.Fprintln(w, "A busy loop had one CPU meanwhile. Helpers took part only while they saved time.")
	}
	if r.tooFewCPUs {
		fmt.Fprintf(w, "This process has %d CPUs. Outside this measurement a step has no more workers than that.\n", runtime.GOMAXPROCS(0))
	}
}
