package command

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

// The quick scene as JSON and as CSV; and its trials.
func TestQueriesReports(t *testing.T) {
	paritytest.SkipSerialUnderRace(t)
	path := filepath.Join(t.TempDir(), "figures.csv")
	var read struct {
		Scene, Level string
		Seed         uint64
		Quick        bool
		Environment  profile.Environment
		Figures      []map[string]any
	}
	decode(t, mustRun(t, "-scene", "queries", "-quick", "-seed", "5", "-json", "-csv", path), &read)
	best, err := native.Resolve(native.Auto)
	if err != nil {
		t.Fatal(err)
	}
	if read.Scene != "queries" || read.Seed != 5 || !read.Quick || read.Level != best.String() || read.Environment.Go == "" {
		t.Errorf("%+v", read)
	}
	checkTable(t, path, read.Figures, totalUs)
	o := &Options{Scene: "queries", quick: true, Seed: 5, Workers: 1}
	rep := &queriesReport{report: o.NewReport(best.String())}
	if err := rep.measure(&queriesPlan{seed: 5, main: best, levels: native.Levels(), quick: true}, io.Discard); err != nil {
		t.Fatal(err)
	}
	if len(rep.Figures.rows) != len(read.Figures) {
		t.Errorf("%d figures, %d of the command", len(rep.Figures.rows), len(read.Figures))
	}
	for _, q := range rep.queries {
		checkQuery(t, q)
	}
	checkCases(t, rep)
	checkQueriesText(t, rep)
}

func checkQuery(t *testing.T, q *query) {
	t.Helper()
	what := fmt.Sprintf("%s: %v", q.experiment, q)
	if q.points > 1<<16 {
		t.Errorf("%s: too many points for -quick", what)
	}
	checkQuantities(t, what, &q.trial, quickQueries)
	for _, name := range []string{buildUs, queryUs, totalUs, hitsPerQuery, nsPerQuery, nsPerNeighbour, buildNsPerPoint} {
		if _, ok := q.quantities[name]; !ok {
			t.Errorf("%s: no %s", what, name)
		}
	}
	// The faces of the cube cut off some of each sphere, but not most. A single
	// neighbour is expected where k is 1, so that chance has a wide range.
	if mean := q.quantities[hitsPerQuery].Median; mean < float64(q.k)*0.5 || mean > float64(q.k)*1.1+2 {
		t.Errorf("%s: %g neighbours a query, k is %d", what, mean, q.k)
	}
}

// checkCases expects each case on each level, with its baselines.
func checkCases(t *testing.T, rep *queriesReport) {
	t.Helper()
	for number, c := range queryCases {
		queries := of(rep.queries, caseName(number))
		if c.points >= large {
			if len(queries) > 0 {
				t.Errorf("%s ran, with -quick", caseName(number))
			}
			continue
		}
		for _, level := range native.Levels() {
			i := slices.IndexFunc(queries, func(q *query) bool { return q.level == level && q.method == c.method })
			if i < 0 {
				t.Errorf("%s lacks level %s", caseName(number), level)
				continue
			}
			q := queries[i]
			if q.queries != c.queries || q.goal == nil || q.goal.time != c.goal.time || q.k != 32 {
				t.Errorf("%s: %+v", caseName(number), q)
			}
			_, vsGo := q.quantities["query_ratio_to_go"]
			_, vsOracle := q.quantities["query_ratio_to_oracle"]
			if vsGo != (level != native.Go) || vsOracle != (c.method == byRadius) {
				t.Errorf("%s, level %s: compared with go %t, with the oracle %t", caseName(number), level, vsGo, vsOracle)
			}
		}
	}
	for _, points := range orderedPoints {
		var rows []string
		for _, q := range of(rep.queries, ordersName(points)) {
			rows = append(rows, fmt.Sprint(q.orderName(), " ", q.distances))
		}
		want := []string{"grid false", "slot false", "distance false", "grid true", "slot true", "distance true"}
		if !slices.Equal(rows, want) {
			t.Errorf("orders of %d points: %q", points, rows)
		}
	}
}

func checkQueriesText(t *testing.T, rep *queriesReport) {
	t.Helper()
	var b bytes.Buffer
	rep.write(&b)
	text := b.String()
	for _, part := range []string{
		"2,256 points, 200 queries", "16,384 points, 200 queries", "16,384 points, every one a query",
		"not run here", "TreeNSearch 98–243", "unibn octree 640–722", "TreeNSearch 3,790–5,576",
		"goal", "best peer", "ns/query", "ns/neighbour", "query, × go", "query, × oracle", "RadiusOracle",
		"by grid", "by slot", "by distance", "by slot, with distances", "Cost against the number of points", "Cost against k",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the text lacks %q", part)
		}
	}
	for _, level := range native.Levels() {
		line := regexp.MustCompile(`(?m)^ +` + level.String() + `  +\d`)
		if got := len(line.FindAllString(text, -1)); got != 3 {
			t.Errorf("the text has %d lines of level %s, want one for each of 3 cases", got, level)
		}
	}
	for _, goal := range []string{"  20  ", "  52  ", "  830  "} {
		if !strings.Contains(text, goal) {
			t.Errorf("the text lacks the goal %q", goal)
		}
	}
	if t.Failed() {
		t.Log("\n" + text)
	}
}

// A level that was chosen is compared with Go alone. The text comes from the command.
func TestQueriesOfOneLevel(t *testing.T) {
	paritytest.SkipSerialUnderRace(t)
	level := native.Levels()[len(native.Levels())-1]
	out := mustRun(t, "-scene", "queries", "-quick", "-level", level.String())
	if !strings.Contains(out, "scene queries · level "+level.String()) || !strings.Contains(out, profile.ThisEnvironment().String()) {
		t.Errorf("the head lacks scene, level or environment:\n%s", out)
	}
	tables, _, _ := strings.Cut(out[strings.Index(out, "best peer"):], "Cost against")
	for _, other := range native.Levels() {
		shown := strings.Contains(tables, " "+other.String()+" ")
		if shown != (other == level || other == native.Go) {
			t.Errorf("level %s shown: %t\n%s", other, shown, tables)
		}
	}
}

// The full plan has what is left out when the scene is quick.
func TestQueriesPlan(t *testing.T) {
	full := queriesPlan{main: native.Go, levels: []native.Level{native.Go}}
	var names []string
	for _, e := range full.experiments() {
		names = append(names, e.name)
		var points, k, workers []int
		for _, q := range e.trials {
			points, k, workers = append(points, q.points), append(k, q.k), append(workers, q.workers)
		}
		switch e.name {
		case "self_1048576":
			if !slices.Equal(workers, []int{1, 2}) {
				t.Errorf("%s has workers %v", e.name, workers)
			}
		case expPoints:
			if !slices.Equal(points, []int{1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20}) {
				t.Errorf("%s: %v", e.name, points)
			}
		case expNeighbours:
			if !slices.Equal(k, []int{1, 2, 4, 8, 16, 32, 64, 128, 256}) {
				t.Errorf("%s: %v", e.name, k)
			}
		}
	}
	want := []string{"radius_2256", "radius_16384", "once_1048576", "self_16384", "self_1048576", "orders_2256", "orders_16384", "points", "neighbours"}
	if !slices.Equal(names, want) {
		t.Errorf("experiments %q, want %q", names, want)
	}
}

// All methods pass their check, and every round has its samples.
func TestQueriesAreChecked(t *testing.T) {
	for _, m := range []method{byRadius, byOracle, byOnce, bySelf} {
		q := newQuery(m, 5000, native.Auto)
		q.k, q.workers, q.order, q.distances = 8, 2, spatial.BySlot, true
		if m == bySelf {
			q.queries = q.points
		}
		e := experiment[*query]{"check", []*query{q}, func(p *Progress) error { return openQueries([]*query{q}, 1, p) }}
		if err := e.run(patience{least: 2, most: 2}, NewProgress(io.Discard)); err != nil {
			t.Errorf("%s: %v", m, err)
		}
		if q.rounds() != 2 || q.samples[hitsPerQuery][0] < 5 || (len(q.samples[buildUs]) == 2) != (m != byOnce) || q.ix != nil {
			t.Errorf("%s: %v", m, q.samples)
		}
	}
}

// The check detects an answer for a smaller radius.
func TestVerifyDetectsWrongAnswers(t *testing.T) {
	for _, m := range []method{byRadius, byOracle, byOnce, bySelf, byCells, bySelfCells} {
		q := newQuery(m, 5000, native.Auto)
		q.cloud, q.order, q.distances = newCloud(1, 5000), spatial.BySlot, true
		if q.asksAll() {
			q.queries = q.points
		}
		if err := q.open(); err != nil {
			t.Fatal(err)
		}
		q.renew()
		d, err := q.answer()
		if err != nil {
			t.Fatal(err)
		}
		if err := q.verify(d); err != nil {
			t.Errorf("%s: %v", m, err)
		}
		if d, err = q.answer(); err != nil {
			t.Fatal(err)
		}
		q.q.Radius[0], q.q.Radius[7] = q.q.Radius[0]*1.5, q.q.Radius[7]*1.5 // cell lists take the first for all
		if err := q.verify(d); err == nil {
			t.Errorf("%s: a larger radius passes", m)
		}
	}
}

func TestCloudMovesInsideItsCube(t *testing.T) {
	c := newCloud(1, 4096)
	if c.edge != 16 {
		t.Errorf("edge %g, want 16", c.edge)
	}
	for range 50 {
		before := slices.Clone(c.x)
		c.move()
		for _, column := range [][]float32{c.x, c.y, c.z} {
			if slices.Min(column) < 0 || slices.Max(column) > c.edge {
				t.Fatalf("coordinates from %g to %g", slices.Min(column), slices.Max(column))
			}
		}
		still := 0
		for i, v := range c.x {
			step := math.Abs(float64(v - before[i]))
			if step == 0 {
				still++
			}
			if step > 0.5001 && step < float64(c.edge)-0.5001 {
				t.Fatalf("a point moved by %g", step)
			}
		}
		if still > 10 {
			t.Fatalf("%d points stand still", still)
		}
	}
	quarter := 0
	for _, v := range c.x {
		if v < c.edge/4 {
			quarter++
		}
	}
	if quarter < 900 || quarter > 1150 {
		t.Errorf("%d of 4,096 points in a quarter of the cube: they drift", quarter)
	}
	if r := radiusFor(32); math.Abs(4*math.Pi/3*math.Pow(float64(r), 3)-32) > 1e-4 {
		t.Errorf("a sphere of %g m has not 32 m³", r)
	}
}

// The quantities of samples that were written by hand.
func TestQueryQuantities(t *testing.T) {
	q, slow := newQuery(byRadius, 1000, native.Go), newQuery(byRadius, 1000, native.Go)
	q.baselines = []baseline{slow.baseline("slow")}
	for i, a := range []answer{{5000, 25_000, 5000}, {6000, 28_000, 4400}, {7000, 37_000, 4000}} {
		q.add(q.sample(a))
		slow.add(slow.sample([]answer{{10_000, 110_000, 1}, {10_000, 230_000, 1}, {10_000, 310_000, 1}}[i]))
	}
	q.evaluate()
	for name, want := range map[string]spread{
		buildUs: {6, 5, 7}, queryUs: {22, 20, 30}, totalUs: {28, 25, 37}, hitsPerQuery: {22, 20, 25},
		nsPerQuery: {110, 100, 150}, nsPerNeighbour: {5, 4, 7.5}, buildNsPerPoint: {6, 5, 7},
		"query_ratio_to_slow": {10, 5, 10}, "total_ratio_to_slow": {230.0 / 28, 4.4, 310.0 / 37},
	} {
		got := q.quantities[name]
		for _, d := range []float64{got.Median - want.Median, got.P05 - want.P05, got.P95 - want.P95} {
			if math.Abs(d) > 1e-9 {
				t.Errorf("%s: %+v, want %+v", name, got, want)
			}
		}
	}
	if len(q.quantities) != 9 || q.rounds() != 3 {
		t.Errorf("%+v", q)
	}
	once := newQuery(byOnce, 10, native.Go)
	once.add(once.sample(answer{total: 20_000, neighbours: 2000}))
	once.evaluate()
	if once.quantities[nsPerQuery].Median != 100 || once.quantities[nsPerNeighbour].Median != 10 || once.median(buildUs) != nil {
		t.Errorf("%+v", once)
	}
}

func TestNumbersInTables(t *testing.T) {
	for v, want := range map[float64]string{0.126: "0.126", 9.5: "9.50", 52.04: "52.0", 128.4: "128", 1500: "1,500", 16384: "16,384", 1048576: "1,048,576"} {
		if got := figure(v); got != want {
			t.Errorf("%g is printed as %s, want %s", v, got, want)
		}
	}
	for v, want := range map[float64]string{1: "1", 256: "256", 1024: "1k", 16384: "16k", 1 << 20: "1M"} {
		if got := powerOfTwo(v); got != want {
			t.Errorf("%g is printed as %s, want %s", v, got, want)
		}
	}
}

func TestProgress(t *testing.T) {
	var b bytes.Buffer
	p := NewProgress(&b)
	p.start = time.Now().Add(-time.Hour)
	p.Show("not a terminal")
	p.Clear()
	if b.Len() > 0 {
		t.Errorf("printed %q to something that is no terminal", b.String())
	}
	p.w, p.start = &b, time.Now()
	p.Show("too early")
	if b.Len() > 0 {
		t.Errorf("printed %q at once", b.String())
	}
	p.start = time.Now().Add(-2 * time.Second)
	p.Show("%s", strings.Repeat("µ", 200))
	p.Show("too soon after the first")
	if want := "\r\x1b[K" + strings.Repeat("µ", 79); b.String() != want {
		t.Errorf("printed %q", b.String())
	}
	b.Reset()
	p.Clear()
	p.Clear()
	if b.String() != "\r\x1b[K" {
		t.Errorf("cleared by %q", b.String())
	}
}
