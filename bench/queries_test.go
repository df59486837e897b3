package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

// The quick scene as JSON and as CSV: what a program reads.
func TestQueriesReports(t *testing.T) {
	path := filepath.Join(t.TempDir(), "figures.csv")
	out := mustRun(t, "-scene", "queries", "-quick", "-seed", "5", "-json", "-csv", path)
	var rep queriesReport
	if err := json.Unmarshal([]byte(out), &rep); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	best, err := native.Resolve(native.Auto)
	if err != nil {
		t.Fatal(err)
	}
	if rep.Scene != "queries" || rep.Seed != 5 || !rep.Quick || rep.Level != best.String() || rep.Environment.Go == "" {
		t.Errorf("%+v", rep)
	}
	for i := range rep.Figures {
		checkFigure(t, &rep.Figures[i])
	}
	checkCases(t, &rep)
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	checkCSV(t, file, &rep)
	checkQueriesText(t, &rep)
}

func checkFigure(t *testing.T, f *figure) {
	t.Helper()
	what := fmt.Sprintf("%s, %s, level %s, %d workers, by %s", f.Experiment, f.title(), f.Level, f.Workers, f.Order)
	if f.Points > 1<<16 {
		t.Errorf("%s: too many points for -quick", what)
	}
	if f.Rounds < quickRuns.least || f.Rounds > quickRuns.most {
		t.Errorf("%s: %d rounds", what, f.Rounds)
	}
	for name, s := range f.Quantities {
		if !(0 < s.P05 && s.P05 <= s.Median && s.Median <= s.P95) {
			t.Errorf("%s: %s is %+v", what, name, s)
		}
	}
	for _, name := range []string{buildUs, queryUs, totalUs, hitsPerQuery, nsPerQuery, nsPerNeighbour, buildNsPerPoint} {
		if _, ok := f.Quantities[name]; !ok {
			t.Errorf("%s: no %s", what, name)
		}
	}
	// The faces of the cube cut off some of each sphere, but not most. A single
	// neighbour is expected where k is 1, so that chance has a wide range.
	if mean := f.Quantities[hitsPerQuery].Median; mean < float64(f.K)*0.5 || mean > float64(f.K)*1.1+2 {
		t.Errorf("%s: %g neighbours a query, k is %d", what, mean, f.K)
	}
}

// checkCases finds each case on each level, and what it is compared with.
func checkCases(t *testing.T, rep *queriesReport) {
	t.Helper()
	for number, c := range queryCases {
		figures := rep.of(caseName(number))
		if c.points >= large {
			if len(figures) > 0 {
				t.Errorf("%s ran, with -quick", caseName(number))
			}
			continue
		}
		for _, level := range native.Levels() {
			i := slices.IndexFunc(figures, func(f figure) bool { return f.Level == level.String() && f.Method == c.method })
			if i < 0 {
				t.Errorf("%s lacks level %s", caseName(number), level)
				continue
			}
			if f := figures[i]; f.Queries != c.queries || f.Goal == nil || f.Goal.TotalUs != c.goal.us || f.K != 32 {
				t.Errorf("%s: %+v", caseName(number), f)
			}
			_, vsGo := figures[i].Quantities["query_ratio_to_go"]
			_, vsOracle := figures[i].Quantities["query_ratio_to_oracle"]
			if vsGo != (level != native.Go) || vsOracle != (c.method == byRadius) {
				t.Errorf("%s, level %s: compared with go %t, with the oracle %t", caseName(number), level, vsGo, vsOracle)
			}
		}
	}
	for _, points := range orderedPoints {
		var rows []string
		for _, f := range rep.of(ordersName(points)) {
			rows = append(rows, fmt.Sprint(f.Order, " ", f.Distances))
		}
		want := []string{"grid false", "slot false", "distance false", "grid true", "slot true", "distance true"}
		if !slices.Equal(rows, want) {
			t.Errorf("orders of %d points: %q", points, rows)
		}
	}
}

func checkCSV(t *testing.T, r io.Reader, rep *queriesReport) {
	t.Helper()
	lines, err := csv.NewReader(r).ReadAll() // all lines of one length
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(lines[0], csvHead) {
		t.Errorf("columns %q", lines[0])
	}
	at := 1
	for i := range rep.Figures {
		f := &rep.Figures[i]
		for range f.Quantities {
			if at == len(lines) {
				t.Fatalf("%d lines are too few", at)
			}
			cell := func(name string) string { return lines[at][slices.Index(csvHead, name)] }
			median, err := strconv.ParseFloat(cell("median"), 64)
			want, ok := f.Quantities[cell("quantity")]
			if err != nil || !ok || math.Abs(median-want.Median) > want.Median*1e-5 || cell("experiment") != f.Experiment || cell("level") != f.Level {
				t.Errorf("line %d: %q, %v; the JSON has %+v", at, lines[at], err, want)
			}
			if hasGoal := cell("quantity") == totalUs && f.Goal != nil; hasGoal != (cell("goal") != "") || hasGoal != (cell("peer") != "") {
				t.Errorf("line %d: goal %q, peer %q", at, cell("goal"), cell("peer"))
			}
			at++
		}
	}
	if at != len(lines) {
		t.Errorf("%d lines of the CSV, %d of the JSON", len(lines), at)
	}
}

func checkQueriesText(t *testing.T, rep *queriesReport) {
	t.Helper()
	var b bytes.Buffer
	if err := rep.writeText(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, part := range []string{
		"2,256 points, 200 queries", "16,384 points, 200 queries", "16,384 points, every one asks",
		"not\nrun here", "TreeNSearch 98–243", "unibn octree 640–722", "TreeNSearch 3,790–5,576",
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

// One level by hand: it and Go. The text comes from the command.
func TestQueriesOfOneLevel(t *testing.T) {
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
		for _, tr := range e.trials {
			points, k, workers = append(points, tr.points), append(k, tr.k), append(workers, tr.workers)
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

// All methods pass their check, and every round is kept.
func TestTrialsAreChecked(t *testing.T) {
	for _, m := range []method{byRadius, byOracle, byOnce, bySelf} {
		tr := &trial{method: m, points: 5000, queries: fewQueries, k: 8, level: native.Auto, workers: 2, order: spatial.BySlot, distances: true}
		if m == bySelf {
			tr.queries = tr.points
		}
		e := experiment{name: "check", trials: []*trial{tr}}
		if err := e.run(1, patience{least: 2, most: 2}, newProgress(io.Discard)); err != nil {
			t.Errorf("%s: %v", m, err)
		}
		if len(tr.total) != 2 || tr.neighbours[0] < 5 || (len(tr.build) == 2) != (m != byOnce) || tr.ix != nil {
			t.Errorf("%s: totals %v, builds %v, neighbours %v", m, tr.total, tr.build, tr.neighbours)
		}
	}
}

// The check sees that an answer was for a smaller radius.
func TestCheckSeesAWrongAnswer(t *testing.T) {
	for _, m := range []method{byRadius, byOracle, byOnce, bySelf} {
		tr := &trial{method: m, points: 5000, queries: fewQueries, k: 32, workers: 1, cloud: newCloud(1, 5000)}
		if m == bySelf {
			tr.queries = tr.points
		}
		if err := tr.open(); err != nil {
			t.Fatal(err)
		}
		tr.renew()
		d, err := tr.answer()
		if err != nil {
			t.Fatal(err)
		}
		if err := tr.verify(d); err != nil {
			t.Errorf("%s: %v", m, err)
		}
		if d, err = tr.answer(); err != nil {
			t.Fatal(err)
		}
		tr.q.Radius[7] *= 1.5
		if err := tr.verify(d); err == nil {
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

// Durations by hand, and what they come to.
func TestFigure(t *testing.T) {
	slow := &trial{build: []float64{10, 10, 10}, query: []float64{100, 220, 300}, total: []float64{110, 230, 310}}
	f := newFigure("by hand", &trial{
		method: byRadius, points: 1000, queries: 200, k: 32, level: native.Go, workers: 1, order: spatial.Grid,
		build: []float64{5, 6, 7}, query: []float64{20, 22, 30}, total: []float64{25, 28, 37}, neighbours: []float64{25, 22, 20},
		bases: []base{{"slow", slow}}, goal: &goal{20, "peer", 1, 2},
	})
	for name, want := range map[string]spread{
		buildUs: {6, 5, 7}, queryUs: {22, 20, 30}, totalUs: {28, 25, 37}, hitsPerQuery: {22, 20, 25},
		nsPerQuery: {110, 100, 150}, nsPerNeighbour: {5, 4, 7.5}, buildNsPerPoint: {6, 5, 7},
		"query_ratio_to_slow": {10, 5, 10}, "total_ratio_to_slow": {230.0 / 28, 4.4, 310.0 / 37},
	} {
		got := f.Quantities[name]
		for _, d := range []float64{got.Median - want.Median, got.P05 - want.P05, got.P95 - want.P95} {
			if math.Abs(d) > 1e-9 {
				t.Errorf("%s: %+v, want %+v", name, got, want)
			}
		}
	}
	if len(f.Quantities) != 9 || f.Rounds != 3 || *f.Goal != (figureGoal{20, "peer", 1, 2}) {
		t.Errorf("%+v", f)
	}
	once := newFigure("by hand", &trial{method: byOnce, points: 10, queries: 200, total: []float64{20}, neighbours: []float64{10}})
	if once.Quantities[nsPerQuery].Median != 100 || once.Quantities[nsPerNeighbour].Median != 10 || once.median(buildUs) != "–" {
		t.Errorf("%+v", once)
	}
}

func TestNumbersInTables(t *testing.T) {
	for v, want := range map[float64]string{0.126: "0.13", 9.5: "9.50", 52.04: "52.0", 128.4: "128", 1500: "1,500", 16384: "16,384", 1048576: "1,048,576"} {
		if got := grouped(v); got != want {
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
	p := newProgress(&b)
	p.start = time.Now().Add(-time.Hour)
	p.show("not a terminal")
	p.clear()
	if b.Len() > 0 {
		t.Errorf("printed %q to something that is no terminal", b.String())
	}
	p.w, p.start = &b, time.Now()
	p.show("too early")
	if b.Len() > 0 {
		t.Errorf("printed %q at once", b.String())
	}
	p.start = time.Now().Add(-2 * time.Second)
	p.show("%s", strings.Repeat("µ", 200))
	p.show("too soon after the first")
	if want := "\r\x1b[K" + strings.Repeat("µ", 79); b.String() != want {
		t.Errorf("printed %q", b.String())
	}
	b.Reset()
	p.clear()
	p.clear()
	if b.String() != "\r\x1b[K" {
		t.Errorf("cleared by %q", b.String())
	}
}
