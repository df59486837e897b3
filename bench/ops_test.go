package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/native"
)

// The quick scene as JSON and as CSV, by both of its names.
func TestOpsReports(t *testing.T) {
	path := filepath.Join(t.TempDir(), "figures.csv")
	out := mustRun(t, "-ops", "-quick", "-seed", "5", "-json", "-csv", path)
	var rep opsReport
	if err := json.Unmarshal([]byte(out), &rep); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	best, err := native.Resolve(native.Auto)
	if err != nil {
		t.Fatal(err)
	}
	if rep.Scene != "ops" || rep.Seed != 5 || !rep.Quick || rep.Level != best.String() || rep.Environment.Go == "" {
		t.Errorf("%+v", rep)
	}
	for i := range rep.Figures {
		checkLapFigure(t, &rep.Figures[i])
	}
	checkOperations(t, &rep)
	checkComparisons(t, &rep)
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	checkOpsCSV(t, file, &rep)
	checkOpsText(t, &rep)
}

func checkLapFigure(t *testing.T, f *lapFigure) {
	t.Helper()
	what := fmt.Sprintf("%s: %s, %d rows, level %s, %d worker(s), %s", f.Experiment, f.Operation, f.Rows, f.Level, f.Workers, f.Layout)
	if f.Rows > 1<<16 {
		t.Errorf("%s: too many rows for -quick", what)
	}
	if f.Rounds < quickRaces.least || f.Rounds > quickRaces.most {
		t.Errorf("%s: %d rounds", what, f.Rounds)
	}
	for name, s := range f.Quantities {
		if !(0 < s.P05 && s.P05 <= s.Median && s.Median <= s.P95) {
			t.Errorf("%s: %s is %+v", what, name, s)
		}
	}
	_, perColumn := f.Quantities[nsPerRowColumn]
	_, bandwidth := f.Quantities[gbPerS]
	if ofColumns := f.Columns > 0; ofColumns != perColumn || ofColumns != bandwidth || ofColumns != (f.Layout != byWorld) {
		t.Errorf("%s: per column %t, bandwidth %t", what, perColumn, bandwidth)
	}
}

// checkOperations finds every operation in both ways, and all that is done to a world.
func checkOperations(t *testing.T, rep *opsReport) {
	t.Helper()
	for _, c := range rowCases {
		for _, rows := range opRows[:2] {
			name := raceName(c.name, rows)
			plain := rep.find(name, func(f *lapFigure) bool { return !kernel(f) })
			fast := rep.find(name, kernel)
			if plain == nil || fast == nil || plain.Level != "go" || fast.Level != rep.Level || fast.Rows != rows || fast.Columns != c.moved {
				t.Errorf("%s: %+v and %+v", name, plain, fast)
				continue
			}
			if wants := c.goal != nil && rows == 16384; wants != (fast.Goal != nil) || plain.Goal != nil {
				t.Errorf("%s: goal %v", name, fast.Goal)
			}
		}
	}
	for _, c := range worldCases {
		f := rep.find(raceWorld, func(f *lapFigure) bool { return f.Operation == c.name })
		if f == nil || (f.Goal != nil) != (c.goal != nil) || f.Rows != max(1, c.parts) {
			t.Errorf("%s: %+v", c.name, f)
		}
	}
}

func checkComparisons(t *testing.T, rep *opsReport) {
	t.Helper()
	for _, c := range []struct {
		experiment, operation, quantity string
		is                              func(f *lapFigure) bool
	}{
		{"bandwidth_16384", opIntegrate, "gb_per_s_ratio_to_copy", nil},
		{"columns_16384", opMove, "gb_per_s_ratio_to_three_columns", func(f *lapFigure) bool { return f.Layout == byStagger }},
		{"columns_16384", opMove, "ns_per_row_ratio_to_staggered", func(f *lapFigure) bool { return f.Layout == byPage }},
		{"columns_1024", opLerp, "ns_per_row_ratio_to_staggered", func(f *lapFigure) bool { return f.Layout == byPage }},
		{"workers_Move_65536", opMove, "ns_per_row_ratio_to_one_worker", func(f *lapFigure) bool { return f.Workers == 2 }},
	} {
		f := rep.find(c.experiment, func(f *lapFigure) bool { return f.Operation == c.operation && (c.is == nil || c.is(f)) })
		if f == nil {
			t.Errorf("no %s in %s", c.operation, c.experiment)
		} else if _, ok := f.Quantities[c.quantity]; !ok {
			t.Errorf("%s in %s has no %s: %v", c.operation, c.experiment, c.quantity, f.Quantities)
		}
	}
}

func checkOpsCSV(t *testing.T, r io.Reader, rep *opsReport) {
	t.Helper()
	lines, err := csv.NewReader(r).ReadAll() // all lines of one length
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(lines[0], opsCSVHead) {
		t.Errorf("columns %q", lines[0])
	}
	at := 1
	for i := range rep.Figures {
		f := &rep.Figures[i]
		for range f.Quantities {
			if at == len(lines) {
				t.Fatalf("%d lines are too few", at)
			}
			cell := func(name string) string { return lines[at][slices.Index(opsCSVHead, name)] }
			median, err := strconv.ParseFloat(cell("median"), 64)
			want, ok := f.Quantities[cell("quantity")]
			if err != nil || !ok || math.Abs(median-want.Median) > want.Median*1e-5 || cell("experiment") != f.Experiment || cell("operation") != f.Operation {
				t.Errorf("line %d: %q, %v; the JSON has %+v", at, lines[at], err, want)
			}
			if hasGoal := cell("quantity") == nsPerRow && f.Goal != nil; hasGoal != (cell("goal") != "") || (cell("peer") != "") != (hasGoal && f.Goal.Peer != "") {
				t.Errorf("line %d: goal %q, peer %q", at, cell("goal"), cell("peer"))
			}
			at++
		}
	}
	if at != len(lines) {
		t.Errorf("%d lines of the CSV, %d of the JSON", len(lines), at)
	}
}

func checkOpsText(t *testing.T, rep *opsReport) {
	t.Helper()
	var b bytes.Buffer
	if err := rep.writeText(&b); err != nil {
		t.Fatal(err)
	}
	parts := []string{"× go", "GB/s", "flecs 0.26", "one offset", "× staggered", "× Lerp", "one worker", "16,384 entities", "Ark 41.0", "8,388,608"}
	for _, c := range rowCases {
		parts = append(parts, "  "+c.name+"  ")
	}
	for _, c := range worldCases {
		parts = append(parts, "  "+c.name+"  ")
	}
	for _, part := range parts {
		if !strings.Contains(b.String(), part) && !(part == "× go" && rep.Level == "go") {
			t.Errorf("the text lacks %q", part)
		}
	}
	if t.Failed() {
		t.Log("\n" + b.String())
	}
}

// The head and the level come from the command.
func TestOpsOfOneLevel(t *testing.T) {
	out := mustRun(t, "-scene", "ops", "-quick", "-level", "go")
	for _, part := range []string{"scene ops · level go", profile.ThisEnvironment().String(), "level go"} {
		if !strings.Contains(out, part) {
			t.Errorf("the text lacks %q:\n%s", part, out)
		}
	}
	if strings.Contains(out, "× go") {
		t.Errorf("go is compared with itself:\n%s", out)
	}
}

// The full plan has all numbers of rows, but no arguments that fill the memory.
func TestOpsPlan(t *testing.T) {
	plan := opsPlan{level: native.Go}
	var names []string
	for _, r := range plan.races() {
		names = append(names, r.name)
	}
	for _, name := range []string{"Move_1000", "Move_1048576", "Integrate_8388608", "bandwidth_8388608", "columns_1024", "workers_Sum_1048576"} {
		if !slices.Contains(names, name) {
			t.Errorf("no race %s", name)
		}
	}
	for _, name := range []string{"Move_8388608", "Compose_8388608"} {
		if slices.Contains(names, name) {
			t.Errorf("%s takes too much memory", name)
		}
	}
	if n := len(slices.Compact(slices.Sorted(slices.Values(names)))); n != len(names) {
		t.Errorf("%d races have %d names", len(names), n)
	}
}

// A lap that leaves something else is not timed.
func TestLapsAreChecked(t *testing.T) {
	c := rowCaseOf(opIntegrate)
	a := c.args(1, 1000, byStagger)
	plan := opsPlan{level: native.Go}
	one, other := plan.lap(c, 1000, native.Go, byStagger), plan.lap(c, 1000, native.Go, byStagger)
	one.work(c, a)
	other.work(c, a)
	if err := sameBits(a, one, other); err != nil {
		t.Error(err)
	}
	other.run = func() error { return new(native.Ops).Integrate(a.c[0], a.c[1], 2*step) }
	if err := sameBits(a, one, other); err == nil {
		t.Error("twice the step passes")
	}
	other.run = func() error { return io.ErrUnexpectedEOF }
	if err := sameBits(a, one, other); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the lap's error becomes %v", err)
	}
}

// Columns begin where their layout says.
func TestLayouts(t *testing.T) {
	for in, step := range map[layout]int{byStagger: 64, byPage: 0} {
		for k, c := range rowCaseOf(opMove).args(1, 1000, in).c {
			if got := int(uintptr(unsafe.Pointer(&c[0])) % 4096); got != k*step%4096 {
				t.Errorf("%s: column %d begins at %d of a page", in, k, got)
			}
		}
	}
}

// Durations by hand, and what they come to.
func TestLapFigure(t *testing.T) {
	copying := &lap{columns: 2, ns: []float64{2, 2, 4}}
	f := newLapFigure("by hand", &lap{
		name: "Double", level: native.Go, workers: 1, layout: byStagger, rows: 1000, columns: 4,
		ns: []float64{1, 2, 4}, goal: &lapGoal{3, "peer", 5}, bases: []lapBase{{"copy", copying}},
	})
	for name, want := range map[string]spread{
		nsPerRow: {2, 1, 4}, nsPerRowColumn: {0.5, 0.25, 1}, gbPerS: {8, 4, 16},
		"ns_per_row_ratio_to_copy": {1, 1, 2}, "gb_per_s_ratio_to_copy": {2, 2, 4},
	} {
		if got := f.Quantities[name]; got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	if len(f.Quantities) != 5 || f.Rounds != 3 || *f.Goal != (lapFigureGoal{3, "peer", 5}) {
		t.Errorf("%+v", f)
	}
	whole := newLapFigure("by hand", &lap{rows: 1, ns: []float64{20}})
	if len(whole.Quantities) != 1 || whole.text(nsPerRow) != "20.0" || whole.Goal.String() != "–\t–" {
		t.Errorf("%+v", whole)
	}
}

// What is done to a world leaves it as the next run needs it.
func TestWorldCases(t *testing.T) {
	for i := range worldCases {
		c := &worldCases[i]
		s, err := newWorldScene(1)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if c.ready != nil {
				if err := c.ready(s); err != nil {
					t.Fatalf("%s: %v", c.name, err)
				}
			}
			before := s.world.Len()
			if err := c.run(s); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			want := before
			switch {
			case strings.HasPrefix(c.name, "create"):
				before, want = worldRows-before, worldRows
			case strings.HasPrefix(c.name, "destroy"):
				want = 0
			}
			if before != worldRows || s.world.Len() != want {
				t.Errorf("%s: %d entities before, %d after", c.name, before, s.world.Len())
			}
		}
	}
}
