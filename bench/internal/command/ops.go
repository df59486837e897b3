package command

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/evertick/evertick/native"
)

func init() {
	Register(Scene{
		Name: "ops", Family: withoutTicks,
		Help:  "operations on columns against plain loops and the bandwidth of a copy; and operations on entities",
		Flags: []string{"seed", "level", "quick", "csv"},
		Run:   (*Options).runOps,
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
	rows    int  // rows, or entities, that a run processes
	columns int  // that it reads or writes; a column that it reads and writes counts twice
	runs    int  // of a turn; if there are several, one run before them fills the caches
	isLoop  bool // the loop that a user would write, instead of the operation

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

// turnRows is the number of rows that a turn processes, if necessary in several runs. A turn is
// then longer than the resolution of the clock.
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

// sample makes a sample of the nanoseconds of a row.
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

// Turns are short, so that a short time has room for many rounds.
var (
	longOps  = patience{warmup: 2, least: 7, most: 1000, time: 400 * time.Millisecond}
	quickOps = patience{warmup: 1, least: 3, most: 10, time: 5 * time.Millisecond}
)

func (o *Options) runOps(level native.Level, stdout, stderr io.Writer) error {
	r := &opsReport{report: o.NewReport(level.String())}
	r.WriteText = r.write
	return o.Publish(stdout, r.report, func() error {
		return r.measure(&opsPlan{level: level, seed: o.Seed, quick: o.quick}, stderr)
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
	progress := NewProgress(stderr)
	defer progress.Clear()
	r.operations, err = runAll(slices.Concat(plan.columnExperiments(), plan.iterateExperiments(), plan.worldExperiments()), p, progress)
	r.Figures = tableOf(r.operations, opLabels, nsPerRow)
	return err
}

func (r *opsReport) write(w io.Writer) {
	fmt.Fprintf(w, `Medians of rounds in which the operations take turns over the same columns; brackets hold the range of nine
tenths of the rounds. × is how many times as fast. Unless a table says otherwise: level %s, one worker, staggered
columns, all rows. go is the level go; loop is a loop in Go that a user would write instead.

`, r.Level)
	r.writeOperations(w, "ns a row, level "+r.Level, nsPerRow)
	if r.Level != native.Go.String() {
		r.writeOperations(w, "× go", ratioName(nsPerRow, "go"))
	}
	r.writeOperations(w, "level go, × loop", ratioName(nsPerRow, "loop"))
	r.writeGoals(w)
	r.writeBandwidth(w)
	r.writeColumns(w)
	r.writeWorkers(w)
	r.writeIterate(w)
	r.writeWorld(w)
}

// isKernel reports whether the operation is the one of its experiment that is compared with level
// go.
func (l *operation) isKernel() bool {
	_, compared := l.quantities[ratioName(nsPerRow, "go")]
	return compared
}

func (l *operation) title() string { return l.name + ", " + Count(l.rows) + " rows" }

// writeOperations writes a quantity: a row for each operation and a column for each number of rows.
func (r *opsReport) writeOperations(w io.Writer, title, quantity string) {
	t := TextTable(title)
	for _, rows := range opRows {
		t.Columns = append(t.Columns, Column{head: Count(rows)})
	}
	for _, c := range rowCases {
		row := []any{c.name}
		for _, rows := range opRows {
			var cell any
			for _, l := range of(r.operations, opName(c.name, rows)) {
				if _, has := l.quantities[quantity]; has && (l.isKernel() || quantity != nsPerRow) {
					cell = l.median(quantity)
				}
			}
			row = append(row, cell)
		}
		t.Add(row...)
	}
	t.WriteText(w)
}

func (r *opsReport) writeGoals(w io.Writer) {
	t := TextTable("ns a row", "level "+r.Level, "goal", "best peer")
	for _, l := range r.operations {
		if l.goal != nil && l.columns > 0 {
			t.Add(l.title(), l.median(nsPerRow), l.goal.cell(), l.goal)
		}
	}
	t.WriteText(w)
}

func (r *opsReport) writeBandwidth(w io.Writer) {
	t := TextTable("GB/s", "Copy", "Integrate", "Integrate, × Copy")
	for _, rows := range opRows {
		if pair := of(r.operations, opName(expBandwidth, rows)); len(pair) == 2 {
			t.Add(Count(rows), pair[0].median(gbPerS), pair[1].median(gbPerS), pair[1].ratio(ratioName(gbPerS, "copy")))
		}
	}
	t.WriteText(w)
	fmt.Fprint(w, "This counts what the loop reads and writes: 8 bytes a row, and 12. A column that is only written is read as well\n"+
		"where it is not in the cache, and so Copy moves 12 too.\n\n")
}

func (r *opsReport) writeColumns(w io.Writer) {
	t := TextTable("ns a row and column", "level "+r.Level, "× Lerp", "× staggered")
	for _, l := range r.operations {
		if strings.HasPrefix(l.experiment, expColumns) {
			t.Add(fmt.Sprintf("%s, %s", l.title(), l.layout), l.median(nsPerRowColumn),
				l.ratio(ratioName(gbPerS, "three_columns")), l.ratio(ratioName(nsPerRow, "staggered")))
		}
	}
	t.WriteText(w)
	fmt.Fprint(w, "Lerp has 3 columns and Move 16, of which it reads and writes 10. One offset: every column begins at the start of\na page.\n\n")
}

func (r *opsReport) writeWorkers(w io.Writer) {
	t := TextTable("ns a row", "one worker", "two", "× one")
	for _, l := range r.operations {
		if strings.HasPrefix(l.experiment, expWorkers) && l.workers > 1 {
			one := of(r.operations, l.experiment)[0]
			t.Add(l.title(), one.median(nsPerRow), l.median(nsPerRow), l.ratio(ratioName(nsPerRow, "one_worker")))
		}
	}
	t.WriteText(w)
}

func (r *opsReport) writeWorld(w io.Writer) {
	t := TextTable("16,384 entities, 14 columns, ns", "each", "goal", "best peer")
	for _, l := range of(r.operations, expWorld) {
		t.Add(l.name, l.median(nsPerRow), l.goal.cell(), l.goal)
	}
	t.WriteText(w)
	fmt.Fprint(w, "Each: an entity, a tag set or unset, a match; of hash, snapshot and copy the whole world. Entities are visited\n"+
		"in random order, except by batches. Peers were measured separately, on a machine of the same kind (AMD Zen 4):\n"+
		"they are not run here.\n")
}
