package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/native"
)

// opsScene is the scene of operations on columns and of the entity table: it has no
// ticks either.
const opsScene = "ops"

// lap is one way to do a piece of work, and what its rounds took.
type lap struct {
	name    string // what is done
	level   native.Level
	workers int
	layout  layout
	rows    int // rows, or entities, that a run goes through
	columns int // that it reads or writes; one that it does both to counts twice
	runs    int // of a turn; if there are several, one before them fills the caches
	goal    *lapGoal
	bases   []lapBase

	ready func() error // before each turn, of one run, and not timed; nil: nothing
	run   func() error

	ns []float64 // for each row, by round
}

// layout is how columns lie in memory.
type layout string

const (
	byStagger layout = "staggered" // each begins a cache line further into its page
	byPage    layout = "one offset"
	byWorld   layout = "" // as package ecs has them
)

// lapGoal is what a row should not take longer than, and the best of other programs.
type lapGoal struct {
	ns     float64
	peer   string
	peerNs float64
}

// lapBase is a lap with which another is compared.
type lapBase struct {
	name string
	of   *lap
}

// race is a set of laps whose rounds are interleaved.
type race struct {
	name string
	laps []*lap
	// open makes what the laps work on. It is called when the race begins; what it made
	// goes when the race does.
	open func() error
}

// Laps are short, so that many rounds fit into little time.
var (
	longRaces  = patience{warmup: 2, least: 7, most: 1000, time: 400 * time.Millisecond}
	quickRaces = patience{warmup: 1, least: 3, most: 10, time: 5 * time.Millisecond}
)

// turnRows is the number of rows that a turn goes through, if need be by several
// runs: a turn is then longer than the clock is coarse.
const turnRows = 1 << 18

func runsOf(rows int) int { return max(1, turnRows/rows) }

// turn times its runs.
func (l *lap) turn() (ns float64, err error) {
	if l.runs > 1 {
		if err := l.run(); err != nil {
			return 0, err
		}
	}
	if l.ready != nil {
		if err := l.ready(); err != nil {
			return 0, err
		}
	}
	start := time.Now()
	for range l.runs {
		if err := l.run(); err != nil {
			return 0, err
		}
	}
	return float64(time.Since(start)) / float64(l.runs*l.rows), nil
}

func (l *lap) String() string {
	return fmt.Sprintf("%s, %d rows, level %s, %d worker(s)", l.name, l.rows, l.level, l.workers)
}

// run times the laps in rounds, in each of which every lap has a turn.
func (r *race) run(p patience, progress *progress) error {
	progress.show("%s", r.name)
	if err := r.open(); err != nil {
		return err
	}
	runtime.GC()
	err := p.turns(len(r.laps), func(i, round int) error {
		progress.show("%s: round %d", r.name, round)
		l := r.laps[i]
		ns, err := l.turn()
		if err != nil {
			return fmt.Errorf("%v: %w", l, err)
		}
		if round >= 0 {
			l.ns = append(l.ns, ns)
		}
		return nil
	})
	r.open = nil
	for _, l := range r.laps {
		l.ready, l.run = nil, nil
	}
	return err
}

// runOps runs the races on the level and reports.
func (o *options) runOps(level native.Level, stdout, stderr io.Writer) error {
	head := fmt.Sprintf("evertick bench · scene %s · level %s\n%s\n\n", o.scene, level, profile.ThisEnvironment())
	return o.table(stdout, head, func() (tabled, error) {
		return o.measureOps(&opsPlan{level: level, seed: o.seed, quick: o.quick}, stderr)
	})
}

func (o *options) measureOps(plan *opsPlan, stderr io.Writer) (*opsReport, error) {
	p := longRaces
	if o.quick {
		p = quickRaces
	}
	rep := &opsReport{Scene: o.scene, Seed: o.seed, Quick: o.quick, Environment: profile.ThisEnvironment(), Level: plan.level.String()}
	progress := newProgress(stderr)
	defer progress.clear()
	for _, r := range slices.Concat(plan.races(), plan.worldRaces()) {
		if err := r.run(p, progress); err != nil {
			return nil, fmt.Errorf("%s: %w", r.name, err)
		}
		for _, l := range r.laps {
			rep.Figures = append(rep.Figures, newLapFigure(r.name, l))
		}
	}
	return rep, nil
}
