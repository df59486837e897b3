package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/native"
)

// Quantities of a figure. Those of ratios are made by ratioName.
const (
	buildUs         = "build_us"
	queryUs         = "query_us"
	totalUs         = "total_us"
	hitsPerQuery    = "neighbours_per_query"
	nsPerQuery      = "ns_per_query"     // of query_us; of total_us where no index is kept
	nsPerNeighbour  = "ns_per_neighbour" // of the same
	buildNsPerPoint = "build_ns_per_point"
)

// ratioName is how many times as long the base took for the same quantity.
func ratioName(of, base string) string { return strings.TrimSuffix(of, "_us") + "_ratio_to_" + base }

// queriesReport is what -json prints.
type queriesReport struct {
	Scene       string              `json:"scene"`
	Seed        uint64              `json:"seed"`
	Quick       bool                `json:"quick"`
	Environment profile.Environment `json:"environment"`
	Level       string              `json:"level"` // of figures that do not compare levels
	Figures     []figure            `json:"figures"`
}

// figure is a trial with what its rounds came to.
type figure struct {
	Experiment string            `json:"experiment"`
	Method     method            `json:"method"`
	Points     int               `json:"points"`
	Queries    int               `json:"queries"`
	K          int               `json:"k"` // points in the sphere, where no face cuts it
	Level      string            `json:"level"`
	Workers    int               `json:"workers"`
	Order      string            `json:"order"`
	Distances  bool              `json:"distances"`
	Rounds     int               `json:"rounds"`
	Quantities map[string]spread `json:"quantities"`
	Goal       *figureGoal       `json:"goal,omitempty"`
}

type figureGoal struct {
	TotalUs    float64 `json:"total_us"`
	Peer       string  `json:"peer"`
	PeerLowUs  float64 `json:"peer_low_us"`
	PeerHighUs float64 `json:"peer_high_us"`
}

func newFigure(experiment string, t *trial) figure {
	f := figure{
		Experiment: experiment, Method: t.method, Points: t.points, Queries: t.queries, K: t.k, Level: t.level.String(),
		Workers: t.workers, Order: orderName(t.order), Distances: t.distances, Rounds: len(t.total),
		Quantities: map[string]spread{totalUs: spreadOf(t.total), hitsPerQuery: spreadOf(t.neighbours)},
	}
	if t.method == byOracle {
		f.Level = native.Go.String()
	}
	if t.goal != nil {
		f.Goal = &figureGoal{t.goal.us, t.goal.peer, t.goal.peerLow, t.goal.peerHigh}
	}
	answering := t.total
	if t.method != byOnce {
		answering = t.query
		f.Quantities[buildUs], f.Quantities[queryUs] = spreadOf(t.build), spreadOf(t.query)
		f.Quantities[buildNsPerPoint] = spreadOf(scaled(t.build, 1e3/float64(t.points)))
	}
	perQuery := scaled(answering, 1e3/float64(t.queries))
	f.Quantities[nsPerQuery], f.Quantities[nsPerNeighbour] = spreadOf(perQuery), ratioOf(perQuery, t.neighbours)
	for _, b := range t.bases {
		f.Quantities[ratioName(totalUs, b.name)] = ratioOf(b.of.total, t.total)
		if len(t.query) > 0 && len(b.of.query) > 0 {
			f.Quantities[ratioName(queryUs, b.name)] = ratioOf(b.of.query, t.query)
		}
	}
	return f
}

func scaled(values []float64, by float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = v * by
	}
	return out
}

var csvHead = []string{
	"experiment", "method", "points", "queries", "k", "level", "workers", "order", "distances", "rounds",
	"quantity", "median", "p05", "p95", "goal", "peer", "peer_low", "peer_high",
}

// writeCSV writes a line for each quantity of each figure. The goal and the peer
// stand behind total_us.
func (r *queriesReport) writeCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.Write(csvHead) // Error tells of any write that failed
	for i := range r.Figures {
		f := &r.Figures[i]
		for _, name := range slices.Sorted(maps.Keys(f.Quantities)) {
			s := f.Quantities[name]
			line := []string{
				f.Experiment, string(f.Method), fmt.Sprint(f.Points), fmt.Sprint(f.Queries), fmt.Sprint(f.K), f.Level,
				fmt.Sprint(f.Workers), f.Order, fmt.Sprint(f.Distances), fmt.Sprint(f.Rounds),
				name, number(s.Median), number(s.P05), number(s.P95), "", "", "", "",
			}
			if g := f.Goal; g != nil && name == totalUs {
				copy(line[14:], []string{number(g.TotalUs), g.Peer, number(g.PeerLowUs), number(g.PeerHighUs)})
			}
			out.Write(line)
		}
	}
	out.Flush()
	return out.Error()
}

func number(v float64) string { return fmt.Sprintf("%.6g", v) }

func (r *queriesReport) writeText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, `Points uniform in a cube, one a cubic metre; radius %.2f m: %d points in a sphere, fewer where a
face cuts it. Points move and queries are drawn anew for every repetition. Medians of rounds in which
the ways to answer take turns; in brackets the range of nine tenths of the rounds. × is how many times
as fast. Level %s, one worker, rows in grid order without distances, where nothing else is said.
Cells of %g radii; of one where every point asks.

`, radiusFor(meanNeighbours), meanNeighbours, r.Level, fewCells)
	r.writeCases(&b)
	for number := range queryCases {
		r.writeCompared(&b, number)
	}
	r.writeOrders(&b)
	r.writePlots(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// table writes lines of cells, which end in a tab.
func table(b *strings.Builder, head string, lines []string) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, head)
	for _, line := range lines {
		fmt.Fprintln(t, line)
	}
	t.Flush() // a Builder takes everything
	b.WriteByte('\n')
}

func (r *queriesReport) writeCases(b *strings.Builder) {
	var lines []string
	for _, f := range r.Figures {
		if f.Goal == nil || f.Level != r.Level || f.Workers != 1 {
			continue
		}
		peer := fmt.Sprintf("%s %s", f.Goal.Peer, whole(f.Goal.PeerLowUs))
		if f.Goal.PeerHighUs != f.Goal.PeerLowUs {
			peer += "–" + whole(f.Goal.PeerHighUs)
		}
		lines = append(lines, fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t", f.title(),
			f.median(buildUs), f.median(queryUs), f.median(totalUs), whole(f.Goal.TotalUs), peer,
			f.median(hitsPerQuery), f.median(nsPerQuery), f.median(nsPerNeighbour)))
	}
	table(b, "µs\tbuild\tquery\ttotal\tgoal\tbest peer\tneighbours\tns/query\tns/neighbour\t", lines)
	b.WriteString("Peers were measured apart, with the same load on a machine of the same kind (AMD Zen 4): they are not\n" +
		"run here. TreeNSearch among a million points: sorted input, tuned settings.\n\n")
}

// title names the case of a figure.
func (f *figure) title() string {
	points := whole(float64(f.Points)) + " points"
	switch f.Method {
	case bySelf:
		return points + ", every one asks"
	case byOnce:
		return fmt.Sprintf("%s, %d queries, one-shot", points, f.Queries)
	}
	return fmt.Sprintf("%s, %d queries", points, f.Queries)
}

// column is a ratio in a table.
type column struct{ head, quantity string }

// levelColumns are the comparisons of the levels that a method allows.
var levelColumns = map[method][]column{
	byRadius: {{"total, × go", ratioName(totalUs, "go")}, {"query, × go", ratioName(queryUs, "go")}, {"query, × oracle", ratioName(queryUs, "oracle")}},
	byOnce:   {{"total, × go", ratioName(totalUs, "go")}, {"total, × Build and Radius", ratioName(totalUs, "radius")}},
	bySelf:   {{"total, × go", ratioName(totalUs, "go")}, {"query, × go", ratioName(queryUs, "go")}},
}

var workerColumns = []column{{"total, × one worker", ratioName(totalUs, "one_worker")}, {"query, × one worker", ratioName(queryUs, "one_worker")}}

// writeCompared writes the figures of one case below each other.
func (r *queriesReport) writeCompared(b *strings.Builder, number int) {
	figures := r.of(caseName(number))
	if len(figures) == 0 {
		return
	}
	columns, byWorkers := levelColumns[queryCases[number].method], comparesWorkers(number)
	if byWorkers {
		columns = workerColumns
	}
	head := figures[len(figures)-1].title() + ", µs\tbuild\tquery\ttotal\t"
	for _, c := range columns {
		head += c.head + "\t"
	}
	var lines []string
	for _, f := range figures {
		name := f.Level
		switch {
		case byWorkers:
			name = fmt.Sprintf("%d worker(s)", f.Workers)
		case f.Method == byOracle:
			name = "RadiusOracle"
		case f.Goal == nil:
			name = "Build and Radius, " + f.Level
		}
		line := fmt.Sprintf("%s\t%s\t%s\t%s\t", name, f.median(buildUs), f.median(queryUs), f.median(totalUs))
		for _, c := range columns {
			line += f.interval(c.quantity) + "\t"
		}
		lines = append(lines, line)
	}
	table(b, head, lines)
}

func (r *queriesReport) writeOrders(b *strings.Builder) {
	for _, points := range orderedPoints {
		var lines []string
		title := ""
		for _, f := range r.of(ordersName(points)) {
			title = f.title()
			name := "by " + f.Order
			if f.Distances {
				name += ", with distances"
			}
			lines = append(lines, fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t", name, f.median(queryUs), f.median(nsPerQuery), f.median(nsPerNeighbour),
				f.interval(ratioName(queryUs, "grid"))))
		}
		table(b, title+"\tquery, µs\tns/query\tns/neighbour\tquery, × grid\t", lines)
	}
}

// of returns the figures of an experiment.
func (r *queriesReport) of(experiment string) []figure {
	var all []figure
	for _, f := range r.Figures {
		if f.Experiment == experiment {
			all = append(all, f)
		}
	}
	return all
}

func (r *queriesReport) writePlots(b *strings.Builder) {
	byPoints := plot{
		title: fmt.Sprintf("Cost against the number of points: %d queries, k = %d, level %s; ns", fewQueries, meanNeighbours, r.Level),
		label: powerOfTwo,
		curves: []curve{
			r.curve('q', "a query", expPoints, r.Level, nsPerQuery),
			r.curve('b', "Build, a point", expPoints, r.Level, buildNsPerPoint),
		},
	}
	byNeighbours := plot{
		title: fmt.Sprintf("Cost against k, the points in a sphere: %d queries, 16,384 points; ns", fewQueries),
		label: powerOfTwo,
		curves: []curve{
			r.curve('q', "a query, level "+r.Level, expNeighbours, r.Level, nsPerQuery),
			r.curve('n', "a neighbour found, level "+r.Level, expNeighbours, r.Level, nsPerNeighbour),
		},
	}
	if base := native.Go.String(); r.Level != base {
		byNeighbours.curves = append(byNeighbours.curves, r.curve('g', "a query, level go", expNeighbours, base, nsPerQuery))
	}
	fmt.Fprintf(b, "%v\n%v", &byPoints, &byNeighbours)
}

// curve takes a quantity from the figures of an experiment.
func (r *queriesReport) curve(mark rune, name, experiment, level, quantity string) curve {
	c := curve{mark: mark, name: name}
	for _, f := range r.of(experiment) {
		if f.Level == level {
			x := f.Points
			if experiment == expNeighbours {
				x = f.K
			}
			c.x, c.y = append(c.x, float64(x)), append(c.y, f.Quantities[quantity].Median)
		}
	}
	return c
}

// powerOfTwo prints whole numbers, 1,024 as 1k.
func powerOfTwo(v float64) string {
	switch n := int(v); {
	case n >= 1<<20:
		return fmt.Sprintf("%dM", n>>20)
	case n >= 1<<10:
		return fmt.Sprintf("%dk", n>>10)
	default:
		return fmt.Sprint(n)
	}
}

// median prints a quantity, or nothing where the figure lacks it.
func (f *figure) median(quantity string) string {
	s, ok := f.Quantities[quantity]
	if !ok {
		return "–"
	}
	return grouped(s.Median)
}

// interval prints a ratio with its spread.
func (f *figure) interval(quantity string) string {
	s, ok := f.Quantities[quantity]
	if !ok {
		return "–"
	}
	return fmt.Sprintf("%.2f [%.2f–%.2f]", s.Median, s.P05, s.P95)
}

// grouped prints about three digits, or all before the point.
func grouped(v float64) string {
	switch {
	case v < 10:
		return fmt.Sprintf("%.2f", v)
	case v < 100:
		return fmt.Sprintf("%.1f", v)
	}
	return whole(v)
}

// whole prints the digits before the point in groups of three.
func whole(v float64) string {
	digits := fmt.Sprintf("%.0f", v)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}
