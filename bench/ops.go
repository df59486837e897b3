package main

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/evertick/evertick/native"
)

func init() {
	register(scene{
		name: "ops", family: withoutTicks,
		help:  "operations on columns against plain loops and the bandwidth of a copy; and operations on entities",
		flags: []string{"seed", "level", "quick", "csv"},
		run:   (*options).runOps,
	})
}

// Quantities of an operation, beside ratios.
const (
	nsPerRow       = "ns_per_row"        // of columns; of a world: per entity, or for all of it
	nsPerRowColumn = "ns_per_row_column" // divided by the times that a column is read or written
	gbPerS         = "gb_per_s"          // what the loop reads and writes, 4 bytes an element
)

type operation struct {
	trial
	name    string
	layout  layout
	rows    int // rows, or entities, that a run processes
	columns int // that it reads or writes; a column that it reads and writes counts twice
	runs    int // of a turn; if there are several, one before them fills the caches

	ready func() error // before each turn of one run, not timed; nil: nothing
	run   func() error
}

// layout is how columns lie in memory.
type layout string

const (
	staggered layout = "staggered"  // each begins a cache line further into its page
	oneOffset layout = "one offset" // each begins at the start of a page
	ofWorld   layout = ""           // as in package ecs
)

// turnRows is the number of rows that a turn processes, if necessary in several runs: a turn is
// then longer than the clock is coarse.
const turnRows = 1 << 18

func runsOf(rows int) int { return max(1, turnRows/rows) }

var opLabels = []string{"operation", "rows", "level", "workers", "layout", "columns"}

func (l *operation) labels() []any {
	return []any{l.name, l.rows, l.level.String(), l.workers, string(l.layout), l.columns}
}

func (l *operation) String() string {
	return fmt.Sprintf("%s, %d rows, level %s, %d worker(s)", l.name, l.rows, l.level, l.workers)
}

func (l *operation) close() { l.ready, l.run = nil, nil }

func (l *operation) turn() (sample, error) {
	if l.runs > 1 {
		if err := l.run(); err != nil {
			return nil, err
		}
	}
	if l.ready != nil {
		if err := l.ready(); err != nil {
			return nil, err
		}
	}
	start := time.Now()
	for range l.runs {
		if err := l.run(); err != nil {
			return nil, err
		}
	}
	return l.sample(float64(time.Since(start)) / float64(l.runs*l.rows)), nil
}

// sample takes the nanoseconds of a row.
func (l *operation) sample(ns float64) sample {
	if l.columns == 0 {
		return sample{nsPerRow: ns}
	}
	return sample{nsPerRow: ns, nsPerRowColumn: ns / float64(l.columns), gbPerS: float64(4*l.columns) / ns}
}

// comparedWith adds a baseline, in time and, where the two move different amounts of memory, in
// bandwidth.
func (l *operation) comparedWith(name string, o *operation) {
	b := baseline{name, &o.trial, []string{nsPerRow}}
	if o.columns != l.columns {
		b.quantities = append(b.quantities, gbPerS)
	}
	l.baselines = append(l.baselines, b)
}

// Turns are short, so that many rounds fit into little time.
var (
	longOps  = patience{warmup: 2, least: 7, most: 1000, time: 400 * time.Millisecond}
	quickOps = patience{warmup: 1, least: 3, most: 10, time: 5 * time.Millisecond}
)

func (o *options) runOps(level native.Level, stdout, stderr io.Writer) error {
	r := &opsReport{report: o.newReport(level.String())}
	r.writeText = r.write
	return o.publish(stdout, r.report, func() error {
		return r.measure(&opsPlan{level: level, seed: o.seed, quick: o.quick}, stderr)
	})
}

type opsReport struct {
	*report
	operations []*operation
}

func (r *opsReport) measure(plan *opsPlan, stderr io.Writer) (err error) {
	p := longOps
	if plan.quick {
		p = quickOps
	}
	progress := newProgress(stderr)
	defer progress.clear()
	r.operations, err = runAll(slices.Concat(plan.columnExperiments(), plan.worldExperiments()), p, progress)
	r.Figures = tableOf(r.operations, opLabels, nsPerRow)
	return err
}
