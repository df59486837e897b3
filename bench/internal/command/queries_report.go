package command

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/evertick/evertick/native"
)

// runQueries runs the experiments on the level and reports. A level that was chosen by hand is
// compared only with Go.
func (o *Options) runQueries(level native.Level, stdout, stderr io.Writer) error {
	plan := queriesPlan{seed: o.Seed, main: level, levels: native.Levels(), quick: o.quick}
	if o.level != native.Auto.String() {
		plan.levels = slices.Compact([]native.Level{native.Go, level})
	}
	r := &queriesReport{report: o.NewReport(level.String())}
	r.WriteText = r.write
	return o.Publish(stdout, r.report, func() error { return r.measure(&plan, stderr) })
}

var (
	longQueries  = patience{warmup: 2, least: 5, most: 1000, time: 8 * time.Second}
	quickQueries = patience{warmup: 1, least: 3, most: 10, time: 50 * time.Millisecond}
)

type queriesReport struct {
	*report
	queries []*query
}

func (r *queriesReport) measure(plan *queriesPlan, stderr io.Writer) (err error) {
	p := longQueries
	if plan.quick {
		p = quickQueries
	}
	progress := NewProgress(stderr)
	defer progress.Clear()
	r.queries, err = runAll(plan.experiments(), p, progress)
	r.Figures = tableOf(r.queries, queryLabels, totalUs)
	return err
}

func (r *queriesReport) write(w io.Writer) {
	fmt.Fprintf(w, `Points uniform in a cube, one per cubic metre; radius %.2f m: %d points in a sphere, fewer where a face
cuts it. Every repetition moves the points and draws new queries. Figures are medians of rounds in which
the ways to answer take turns; brackets hold the range of nine tenths of the rounds. × is how many times
as fast. Unless a table says otherwise: level %s, one worker, rows in grid order without distances, cells
of %g radii; of one radius where every point is a query.

`, radiusFor(meanNeighbours), meanNeighbours, r.Level, fewCells)
	r.writeCases(w)
	for number := range queryCases {
		r.writeComparison(w, number)
	}
	r.writeOrders(w)
	r.writePlots(w)
}

func (r *queriesReport) writeCases(w io.Writer) {
	t := TextTable("µs", "build", "query", "total", "goal", "best peer", "neighbours", "ns/query", "ns/neighbour")
	for _, q := range r.queries {
		if q.goal != nil && q.level.String() == r.Level && q.workers == 1 {
			t.Add(q.title(), q.median(buildUs), q.median(queryUs), q.median(totalUs), q.goal.cell(), q.goal,
				q.median(hitsPerQuery), q.median(nsPerQuery), q.median(nsPerNeighbour))
		}
	}
	t.WriteText(w)
	fmt.Fprint(w, "Peers were measured separately, with the same load on a machine of the same kind (AMD Zen 4): they are\n"+
		"not run here. TreeNSearch among a million points: sorted input, tuned settings.\n\n")
}

func (t *query) title() string {
	points := Count(t.points) + " points"
	switch t.method {
	case bySelf:
		return points + ", every one a query"
	case byOnce:
		return fmt.Sprintf("%s, %d queries, one-shot", points, t.queries)
	}
	return fmt.Sprintf("%s, %d queries", points, t.queries)
}

// comparedWith returns the baselines of a case, and the heads of the ratios to them.
func comparedWith(number int) (heads, ratios []string) {
	switch {
	case comparesWorkers(number):
		return []string{"total, × one worker", "query, × one worker"}, []string{ratioName(totalUs, "one_worker"), ratioName(queryUs, "one_worker")}
	case queryCases[number].method == byRadius:
		return []string{"total, × go", "query, × go", "query, × oracle"}, []string{ratioName(totalUs, "go"), ratioName(queryUs, "go"), ratioName(queryUs, "oracle")}
	case queryCases[number].method == byOnce:
		return []string{"total, × go", "total, × Build and Radius"}, []string{ratioName(totalUs, "go"), ratioName(totalUs, "radius")}
	}
	return []string{"total, × go", "query, × go"}, []string{ratioName(totalUs, "go"), ratioName(queryUs, "go")}
}

func (r *queriesReport) writeComparison(w io.Writer, number int) {
	queries := of(r.queries, caseName(number))
	if len(queries) == 0 {
		return
	}
	heads, ratios := comparedWith(number)
	t := TextTable(slices.Concat([]string{queries[len(queries)-1].title() + ", µs", "build", "query", "total"}, heads)...)
	for _, q := range queries {
		name := q.level.String()
		switch {
		case comparesWorkers(number):
			name = fmt.Sprintf("%d worker(s)", q.workers)
		case q.method == byOracle:
			name = "RadiusOracle"
		case q.goal == nil:
			name = "Build and Radius, " + name
		}
		row := []any{name, q.median(buildUs), q.median(queryUs), q.median(totalUs)}
		for _, quantity := range ratios {
			row = append(row, q.ratio(quantity))
		}
		t.Add(row...)
	}
	t.WriteText(w)
}

func (r *queriesReport) writeOrders(w io.Writer) {
	for _, points := range orderedPoints {
		t := TextTable("", "query, µs", "ns/query", "ns/neighbour", "query, × grid")
		for _, q := range of(r.queries, ordersName(points)) {
			t.Columns[0].head = q.title()
			name := "by " + q.orderName()
			if q.distances {
				name += ", with distances"
			}
			t.Add(name, q.median(queryUs), q.median(nsPerQuery), q.median(nsPerNeighbour), q.ratio(ratioName(queryUs, "grid")))
		}
		t.WriteText(w)
	}
}

func (r *queriesReport) writePlots(w io.Writer) {
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
	if pure := native.Go.String(); r.Level != pure {
		byNeighbours.curves = append(byNeighbours.curves, r.curve('g', "a query, level go", expNeighbours, pure, nsPerQuery))
	}
	fmt.Fprintf(w, "%v\n%v", &byPoints, &byNeighbours)
}

func (r *queriesReport) curve(mark rune, name, experiment, level, quantity string) curve {
	c := curve{mark: mark, name: name}
	for _, q := range of(r.queries, experiment) {
		if q.level.String() == level {
			x := q.points
			if experiment == expNeighbours {
				x = q.k
			}
			c.x, c.y = append(c.x, float64(x)), append(c.y, q.quantities[quantity].Median)
		}
	}
	return c
}

// powerOfTwo formats whole numbers, 1,024 as 1k.
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
