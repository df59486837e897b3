package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/native"
)

// Quantities of an operation. Those of ratios are made by ratioName.
const (
	nsPerRow       = "ns_per_row"        // of columns; of a world: per entity, or for all of it
	nsPerRowColumn = "ns_per_row_column" // divided by the times that a column is read or written
	gbPerS         = "gb_per_s"          // what is read and written by the loop, 4 bytes an element
)

// opsReport is what -json prints.
type opsReport struct {
	Scene       string              `json:"scene"`
	Seed        uint64              `json:"seed"`
	Quick       bool                `json:"quick"`
	Environment profile.Environment `json:"environment"`
	Level       string              `json:"level"` // of figures that do not compare levels
	Figures     []lapFigure         `json:"figures"`
}

// lapFigure is a lap with what its rounds came to.
type lapFigure struct {
	Experiment string            `json:"experiment"`
	Operation  string            `json:"operation"`
	Rows       int               `json:"rows"`
	Level      string            `json:"level"`
	Workers    int               `json:"workers"`
	Layout     layout            `json:"layout,omitempty"`
	Columns    int               `json:"columns,omitempty"` // read or written
	Rounds     int               `json:"rounds"`
	Quantities map[string]spread `json:"quantities"`
	Goal       *lapFigureGoal    `json:"goal,omitempty"`
}

type lapFigureGoal struct {
	NsPerRow float64 `json:"ns_per_row"`
	Peer     string  `json:"peer,omitempty"`
	PeerNs   float64 `json:"peer_ns,omitempty"`
}

func newLapFigure(experiment string, l *lap) lapFigure {
	f := lapFigure{
		Experiment: experiment, Operation: l.name, Rows: l.rows, Level: l.level.String(), Workers: l.workers,
		Layout: l.layout, Columns: l.columns, Rounds: len(l.ns),
		Quantities: map[string]spread{nsPerRow: spreadOf(l.ns)},
	}
	if l.goal != nil {
		f.Goal = &lapFigureGoal{l.goal.ns, l.goal.peer, l.goal.peerNs}
	}
	if l.columns > 0 {
		f.Quantities[nsPerRowColumn] = spreadOf(scaled(l.ns, 1/float64(l.columns)))
		f.Quantities[gbPerS] = spreadOf(l.bandwidth())
	}
	for _, b := range l.bases {
		f.Quantities[ratioName(nsPerRow, b.name)] = ratioOf(b.of.ns, l.ns)
		if b.name != "go" && b.of.columns != l.columns {
			f.Quantities[ratioName(gbPerS, b.name)] = ratioOf(l.bandwidth(), b.of.bandwidth())
		}
	}
	return f
}

// bandwidth in GB/s, by round.
func (l *lap) bandwidth() []float64 {
	all := make([]float64, len(l.ns))
	for i, ns := range l.ns {
		all[i] = float64(4*l.columns) / ns
	}
	return all
}

var opsCSVHead = []string{
	"experiment", "operation", "rows", "level", "workers", "layout", "columns", "rounds",
	"quantity", "median", "p05", "p95", "goal", "peer", "peer_ns",
}

// writeCSV writes a line for each quantity of each figure. The goal and the peer
// stand behind ns_per_row.
func (r *opsReport) writeCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.Write(opsCSVHead) // Error tells of any write that failed
	for i := range r.Figures {
		f := &r.Figures[i]
		for _, name := range slices.Sorted(maps.Keys(f.Quantities)) {
			s := f.Quantities[name]
			line := []string{
				f.Experiment, f.Operation, fmt.Sprint(f.Rows), f.Level, fmt.Sprint(f.Workers), string(f.Layout), fmt.Sprint(f.Columns),
				fmt.Sprint(f.Rounds), name, number(s.Median), number(s.P05), number(s.P95), "", "", "",
			}
			if g := f.Goal; g != nil && name == nsPerRow {
				line[12] = number(g.NsPerRow)
				if g.Peer != "" {
					line[13], line[14] = g.Peer, number(g.PeerNs)
				}
			}
			out.Write(line)
		}
	}
	out.Flush()
	return out.Error()
}

func (r *opsReport) writeText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, `Medians of rounds in which the ways to do a thing take turns over the same columns; in brackets the range of
nine tenths of the rounds. × is how many times as fast. Level %s, one worker, staggered columns, all rows, where nothing
else is said. go is the level go: plain loops, which check bounds outside unless they take quaternions or an index.

`, r.Level)
	r.writeOperations(&b, "ns a row, level "+r.Level, func(f *lapFigure) string { return f.text(nsPerRow) })
	if r.Level != native.Go.String() {
		r.writeOperations(&b, "× go", func(f *lapFigure) string { return f.text(ratioName(nsPerRow, "go")) })
	}
	r.writeGoals(&b)
	r.writeBandwidth(&b)
	r.writeColumns(&b)
	r.writeWorkers(&b)
	r.writeWorld(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// find returns a figure of an experiment, or nil.
func (r *opsReport) find(experiment string, is func(f *lapFigure) bool) *lapFigure {
	for i := range r.Figures {
		if f := &r.Figures[i]; f.Experiment == experiment && is(f) {
			return f
		}
	}
	return nil
}

// kernel tells figures of the level from those that it is compared with.
func kernel(f *lapFigure) bool {
	_, compared := f.Quantities[ratioName(nsPerRow, "go")]
	return compared
}

// text prints the median of a quantity, or that there is none.
func (f *lapFigure) text(quantity string) string {
	if f == nil {
		return "–"
	}
	v := f.Quantities[quantity].Median
	if v < 1 {
		return fmt.Sprintf("%.3f", v)
	}
	return grouped(v)
}

// interval prints a ratio with its spread.
func (f *lapFigure) interval(quantity string) string {
	s := f.Quantities[quantity]
	return fmt.Sprintf("%.2f [%.2f–%.2f]", s.Median, s.P05, s.P95)
}

// writeOperations writes a line for each operation and a column for each number of rows.
func (r *opsReport) writeOperations(b *strings.Builder, title string, cell func(f *lapFigure) string) {
	head := title + "\t"
	for _, rows := range opRows {
		head += whole(float64(rows)) + "\t"
	}
	var lines []string
	for _, c := range rowCases {
		line := c.name + "\t"
		for _, rows := range opRows {
			line += cell(r.find(raceName(c.name, rows), kernel)) + "\t"
		}
		lines = append(lines, line)
	}
	table(b, head, lines)
}

// writeGoals writes the operations that are to reach a goal.
func (r *opsReport) writeGoals(b *strings.Builder) {
	var lines []string
	for i := range r.Figures {
		if f := &r.Figures[i]; f.Goal != nil && f.Columns > 0 {
			lines = append(lines, fmt.Sprintf("%s, %s rows\t%s\t%s\t", f.Operation, whole(float64(f.Rows)), f.text(nsPerRow), f.Goal))
		}
	}
	table(b, "ns a row\tlevel "+r.Level+"\tgoal\tbest peer\t", lines)
}

// String prints the goal and the peer as two cells.
func (g *lapFigureGoal) String() string {
	switch {
	case g == nil:
		return "–\t–"
	case g.Peer == "":
		return grouped(g.NsPerRow) + "\t–"
	}
	return fmt.Sprintf("%s\t%s %s", grouped(g.NsPerRow), g.Peer, grouped(g.PeerNs))
}

func (r *opsReport) writeBandwidth(b *strings.Builder) {
	var lines []string
	for _, rows := range opRows {
		at := func(op string) *lapFigure {
			return r.find(raceName(raceBandwidth, rows), func(f *lapFigure) bool { return f.Operation == op })
		}
		if integrate := at(opIntegrate); integrate != nil {
			lines = append(lines, fmt.Sprintf("%s\t%s\t%s\t%s\t", whole(float64(rows)), at(opCopy).text(gbPerS), integrate.text(gbPerS),
				integrate.interval(ratioName(gbPerS, "copy"))))
		}
	}
	table(b, "GB/s\tCopy\tIntegrate\tIntegrate, × Copy\t", lines)
	b.WriteString("Counted is what the loop reads and writes: 8 bytes a row, and 12. A column that is only written is read as well\n" +
		"where it is not in the cache, and so Copy moves 12 too.\n\n")
}

func (r *opsReport) writeColumns(b *strings.Builder) {
	var lines []string
	for i := range r.Figures {
		f := &r.Figures[i]
		if !strings.HasPrefix(f.Experiment, raceColumns) {
			continue
		}
		line := fmt.Sprintf("%s, %s rows, %s\t%s\t", f.Operation, whole(float64(f.Rows)), f.Layout, f.text(nsPerRowColumn))
		for _, base := range []string{ratioName(gbPerS, "three_columns"), ratioName(nsPerRow, "staggered")} {
			if _, ok := f.Quantities[base]; ok {
				line += f.interval(base) + "\t"
			} else {
				line += "–\t"
			}
		}
		lines = append(lines, line)
	}
	table(b, "ns a row and column\tlevel "+r.Level+"\t× Lerp\t× staggered\t", lines)
	b.WriteString("Lerp has 3 columns and Move 16, of which it reads and writes 10. One offset: every column begins at the start of\na page.\n\n")
}

func (r *opsReport) writeWorkers(b *strings.Builder) {
	var lines []string
	for i := range r.Figures {
		if f := &r.Figures[i]; strings.HasPrefix(f.Experiment, raceWorkers) && f.Workers > 1 {
			one := r.find(f.Experiment, func(f *lapFigure) bool { return f.Workers == 1 })
			lines = append(lines, fmt.Sprintf("%s, %s rows\t%s\t%s\t%s\t", f.Operation, whole(float64(f.Rows)),
				one.text(nsPerRow), f.text(nsPerRow), f.interval(ratioName(nsPerRow, "one_worker"))))
		}
	}
	table(b, "ns a row\tone worker\ttwo\t× one\t", lines)
}

func (r *opsReport) writeWorld(b *strings.Builder) {
	var lines []string
	for i := range r.Figures {
		if f := &r.Figures[i]; f.Experiment == raceWorld {
			lines = append(lines, fmt.Sprintf("%s\t%s\t%s\t", f.Operation, f.text(nsPerRow), f.Goal))
		}
	}
	table(b, "16,384 entities, 14 columns, ns\teach\tgoal\tbest peer\t", lines)
	b.WriteString("Each: an entity, a tag set or unset, a match; of hash, snapshot and copy the whole world. Entities are gone\n" +
		"through in random order, but by batches. Peers were measured apart, on a machine of the same kind (AMD Zen 4):\n" +
		"they are not run here.\n")
}
