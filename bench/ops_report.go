package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/evertick/evertick/native"
)

func (r *opsReport) write(w io.Writer) {
	fmt.Fprintf(w, `Medians of rounds in which the operations take turns over the same columns; brackets hold the range of nine
tenths of the rounds. × is how many times as fast. Unless a table says otherwise: level %s, one worker, staggered
columns, all rows. go is the level go: plain loops, without bounds checks except for quaternions and indices.

`, r.Level)
	r.writeOperations(w, "ns a row, level "+r.Level, nsPerRow)
	if r.Level != native.Go.String() {
		r.writeOperations(w, "× go", ratioName(nsPerRow, "go"))
	}
	r.writeGoals(w)
	r.writeBandwidth(w)
	r.writeColumns(w)
	r.writeWorkers(w)
	r.writeWorld(w)
}

// isKernel reports whether the operation is the one of its experiment that is compared with level
// go.
func (l *operation) isKernel() bool {
	_, compared := l.quantities[ratioName(nsPerRow, "go")]
	return compared
}

func (l *operation) title() string { return l.name + ", " + count(l.rows) + " rows" }

// writeOperations writes a quantity: a row for each operation and a column for each number of rows.
func (r *opsReport) writeOperations(w io.Writer, title, quantity string) {
	t := textTable(title)
	for _, rows := range opRows {
		t.columns = append(t.columns, column{head: count(rows)})
	}
	for _, c := range rowCases {
		row := []any{c.name}
		for _, rows := range opRows {
			var cell any
			for _, l := range of(r.operations, opName(c.name, rows)) {
				if l.isKernel() {
					cell = l.median(quantity)
				}
			}
			row = append(row, cell)
		}
		t.add(row...)
	}
	t.writeText(w)
}

func (r *opsReport) writeGoals(w io.Writer) {
	t := textTable("ns a row", "level "+r.Level, "goal", "best peer")
	for _, l := range r.operations {
		if l.goal != nil && l.columns > 0 {
			t.add(l.title(), l.median(nsPerRow), l.goal.cell(), l.goal)
		}
	}
	t.writeText(w)
}

func (r *opsReport) writeBandwidth(w io.Writer) {
	t := textTable("GB/s", "Copy", "Integrate", "Integrate, × Copy")
	for _, rows := range opRows {
		if pair := of(r.operations, opName(expBandwidth, rows)); len(pair) == 2 {
			t.add(count(rows), pair[0].median(gbPerS), pair[1].median(gbPerS), pair[1].ratio(ratioName(gbPerS, "copy")))
		}
	}
	t.writeText(w)
	fmt.Fprint(w, "This counts what the loop reads and writes: 8 bytes a row, and 12. A column that is only written is read as well\n"+
		"where it is not in the cache, and so Copy moves 12 too.\n\n")
}

func (r *opsReport) writeColumns(w io.Writer) {
	t := textTable("ns a row and column", "level "+r.Level, "× Lerp", "× staggered")
	for _, l := range r.operations {
		if strings.HasPrefix(l.experiment, expColumns) {
			t.add(fmt.Sprintf("%s, %s", l.title(), l.layout), l.median(nsPerRowColumn),
				l.ratio(ratioName(gbPerS, "three_columns")), l.ratio(ratioName(nsPerRow, "staggered")))
		}
	}
	t.writeText(w)
	fmt.Fprint(w, "Lerp has 3 columns and Move 16, of which it reads and writes 10. One offset: every column begins at the start of\na page.\n\n")
}

func (r *opsReport) writeWorkers(w io.Writer) {
	t := textTable("ns a row", "one worker", "two", "× one")
	for _, l := range r.operations {
		if strings.HasPrefix(l.experiment, expWorkers) && l.workers > 1 {
			one := of(r.operations, l.experiment)[0]
			t.add(l.title(), one.median(nsPerRow), l.median(nsPerRow), l.ratio(ratioName(nsPerRow, "one_worker")))
		}
	}
	t.writeText(w)
}

func (r *opsReport) writeWorld(w io.Writer) {
	t := textTable("16,384 entities, 14 columns, ns", "each", "goal", "best peer")
	for _, l := range of(r.operations, expWorld) {
		t.add(l.name, l.median(nsPerRow), l.goal.cell(), l.goal)
	}
	t.writeText(w)
	fmt.Fprint(w, "Each: an entity, a tag set or unset, a match; of hash, snapshot and copy the whole world. Entities are visited\n"+
		"in random order, except by batches. Peers were measured separately, on a machine of the same kind (AMD Zen 4):\n"+
		"they are not run here.\n")
}
