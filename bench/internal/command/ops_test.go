package command

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

// The quick scene as JSON and as CSV, by -ops; and its trials.
func TestOpsReports(t *testing.T) {
	paritytest.SkipSerialUnderRace(t)
	path := filepath.Join(t.TempDir(), "figures.csv")
	var read struct {
		Scene, Level string
		Seed         uint64
		Quick        bool
		Environment  profile.Environment
		Figures      []map[string]any
	}
	best, err := native.Resolve(native.Auto)
	if err != nil {
		t.Fatal(err)
	}
	// As runOps does, which TestOpsOfOneLevel runs; this one keeps the report.
	o := &Options{Scene: "ops", quick: true, Seed: 5, Workers: 1, json: true, csv: path}
	rep := &opsReport{report: o.NewReport(best.String())}
	var out bytes.Buffer
	if err := o.Publish(&out, rep.report, func() error {
		return rep.measure(&opsPlan{level: best, seed: 5, quick: true}, io.Discard)
	}); err != nil {
		t.Fatal(err)
	}
	decode(t, out.String(), &read)
	if read.Scene != "ops" || read.Seed != 5 || !read.Quick || read.Level != best.String() || read.Environment.Go == "" {
		t.Errorf("%+v", read)
	}
	checkTable(t, path, read.Figures, nsPerRow)
	if len(rep.Figures.rows) != len(read.Figures) {
		t.Errorf("%d figures, %d of the command", len(rep.Figures.rows), len(read.Figures))
	}
	for _, l := range rep.operations {
		checkOperation(t, l)
	}
	checkOperations(t, rep)
	checkComparisons(t, rep)
	checkOpsText(t, rep)
}

// checkTable compares the CSV with the JSON: all columns, and goals on the rows of one quantity
// alone.
func checkTable(t *testing.T, path string, figures []map[string]any, goalOf string) {
	t.Helper()
	lines, err := csv.NewReader(strings.NewReader(readFile(t, path))).ReadAll() // all lines of one length
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) != len(figures)+1 || len(figures) == 0 {
		t.Fatalf("%d lines of the CSV, %d figures of the JSON", len(lines), len(figures))
	}
	for i, f := range figures {
		for k, name := range lines[0] {
			cell, value := lines[i+1][k], f[name]
			if v, isNumber := value.(float64); isNumber {
				if got, err := strconv.ParseFloat(cell, 64); err != nil || math.Abs(got-v) > math.Abs(v)*1e-5 {
					t.Errorf("line %d, %s: %q, the JSON has %v", i+2, name, cell, v)
				}
			} else if value == nil && cell != "" || value != nil && fmt.Sprint(value) != cell {
				t.Errorf("line %d, %s: %q, the JSON has %v", i+2, name, cell, value)
			}
		}
		if f["goal"] != nil && f["quantity"] != goalOf || f["goal"] == nil && f["peer"] != nil {
			t.Errorf("line %d: %v", i+2, f)
		}
	}
}

// checkQuantities expects ordered spreads, and as many rounds as the patience allows.
func checkQuantities(t *testing.T, what string, own *trial, p patience) {
	t.Helper()
	if n := own.rounds(); n < p.least || n > p.most {
		t.Errorf("%s: %d rounds", what, n)
	}
	for name, s := range own.quantities {
		if !(0 < s.P05 && s.P05 <= s.Median && s.Median <= s.P95) {
			t.Errorf("%s: %s is %+v", what, name, s)
		}
	}
}

func checkOperation(t *testing.T, l *operation) {
	t.Helper()
	what := fmt.Sprintf("%s: %v, %s", l.experiment, l, l.layout)
	if l.rows > 1<<16 {
		t.Errorf("%s: too many rows for -quick", what)
	}
	checkQuantities(t, what, &l.trial, quickOps)
	_, perColumn := l.quantities[nsPerRowColumn]
	_, bandwidth := l.quantities[gbPerS]
	if ofColumns := l.columns > 0; ofColumns != perColumn || ofColumns != bandwidth || ofColumns != (l.layout != ofWorld) {
		t.Errorf("%s: per column %t, bandwidth %t", what, perColumn, bandwidth)
	}
}

// checkOperations expects every operation on both levels, and all operations on a world.
func checkOperations(t *testing.T, rep *opsReport) {
	t.Helper()
	for _, c := range rowCases {
		for _, rows := range opRows[:3] {
			name := opName(c.name, rows)
			all := of(rep.operations, name)
			if len(all) != 3 || all[0].isKernel() || !all[1].isKernel() || !all[2].isLoop || all[2].name != c.name+loopSuffix {
				t.Errorf("%s: %v", name, all)
				continue
			}
			plain, fast := all[0], all[1]
			if _, compared := plain.quantities[ratioName(nsPerRow, "loop")]; !compared {
				t.Errorf("%s: level go is not compared with the loop", name)
			}
			if plain.level != native.Go || fast.level.String() != rep.Level || fast.rows != rows || fast.columns != c.moved {
				t.Errorf("%s: %+v and %+v", name, plain, fast)
			}
			if wants := c.goal != nil && rows == 16384; wants != (fast.goal != nil) || plain.goal != nil {
				t.Errorf("%s: goal %v", name, fast.goal)
			}
		}
	}
	world := of(rep.operations, expWorld)
	for i, c := range worldCases {
		if l := world[i]; l.name != c.name || l.goal != c.goal || l.rows != max(1, c.parts) {
			t.Errorf("%s: %+v", c.name, l)
		}
	}
}

func checkComparisons(t *testing.T, rep *opsReport) {
	t.Helper()
	for _, c := range []struct {
		experiment, operation, quantity string
		is                              func(l *operation) bool
	}{
		{"bandwidth_16384", opIntegrate, "gb_per_s_ratio_to_copy", func(*operation) bool { return true }},
		{"columns_16384", opMove, "gb_per_s_ratio_to_three_columns", func(l *operation) bool { return l.layout == staggered }},
		{"columns_16384", opMove, "ns_per_row_ratio_to_staggered", func(l *operation) bool { return l.layout == oneOffset }},
		{"columns_1024", opLerp, "ns_per_row_ratio_to_staggered", func(l *operation) bool { return l.layout == oneOffset }},
		{"iterate_16384", "native.Ops", "ns_per_row_ratio_to_query", func(*operation) bool { return true }},
		{"iterate_1638", "Query.Slots", "ns_per_row_ratio_to_query", func(*operation) bool { return true }},
		{"workers_Move_65536", opMove, "ns_per_row_ratio_to_one_worker", func(l *operation) bool { return l.workers == 2 }},
	} {
		found := false
		for _, l := range of(rep.operations, c.experiment) {
			if l.name == c.operation && c.is(l) {
				_, found = l.quantities[c.quantity]
			}
		}
		if !found {
			t.Errorf("%s in %s has no %s", c.operation, c.experiment, c.quantity)
		}
	}
}

func checkOpsText(t *testing.T, rep *opsReport) {
	t.Helper()
	var b bytes.Buffer
	rep.write(&b)
	parts := []string{"× go", "× loop", "GB/s", "flecs 0.26", "one offset", "× staggered", "× Lerp", "one worker", "16,384 entities", "Ark 41", "8,388,608"}
	for _, c := range rowCases {
		parts = append(parts, "  "+c.name+"  ")
	}
	for _, c := range worldCases {
		parts = append(parts, "  "+c.name+"  ")
	}
	for _, c := range iterateCases {
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

// Every way to visit entities changes the same rows, to the same bits.
func TestIterateCases(t *testing.T) {
	w, err := newFullWorld(3)
	if err != nil {
		t.Fatal(err)
	}
	pos := w.world.Position.X
	before := slices.Clone(pos)
	for _, terms := range [][]ecs.Term{nil, {ecs.With(w.marked)}} {
		var want []float32
		for i, c := range iterateCases {
			copy(pos, before)
			s := &iteration{world: w.world, terms: terms, query: w.world.NewQuery(terms...), pos: pos, vel: w.world.Position.Y}
			for range 100 { // one step may change no bit
				if err := c.run(s); err != nil {
					t.Fatal(err)
				}
			}
			if i == 0 {
				want = slices.Clone(pos)
			}
			if !slices.Equal(pos, want) || slices.Equal(pos, before) {
				t.Errorf("%s with %d terms leaves other positions", c.name, len(terms))
			}
		}
	}
}

// The head and the level come from the command.
func TestOpsOfOneLevel(t *testing.T) {
	paritytest.SkipSerialUnderRace(t)
	out := mustRun(t, "-ops", "-quick", "-level", "go")
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
	for _, e := range plan.columnExperiments() {
		names = append(names, e.name)
	}
	for _, name := range []string{"Move_1000", "Move_1048576", "Integrate_8388608", "bandwidth_8388608", "columns_1024", "workers_Sum_1048576"} {
		if !slices.Contains(names, name) {
			t.Errorf("no experiment %s", name)
		}
	}
	for _, name := range []string{"Move_8388608", "Compose_8388608"} {
		if slices.Contains(names, name) {
			t.Errorf("%s takes too much memory", name)
		}
	}
	if n := len(slices.Compact(slices.Sorted(slices.Values(names)))); n != len(names) {
		t.Errorf("%d experiments have %d names", len(names), n)
	}
}

// An operation that leaves other results is not timed.
func TestOperationsAreChecked(t *testing.T) {
	c := rowCaseOf(opIntegrate)
	a := c.args(1, 1000, staggered)
	plan := opsPlan{level: native.Go}
	one, other := plan.operation(c, 1000, native.Go, staggered), plan.operation(c, 1000, native.Go, staggered)
	one.bind(a)
	other.bind(a)
	if err := sameBits(a, one, other); err != nil {
		t.Error(err)
	}
	other.run = func() error { return new(native.Ops).Integrate(a.c[0], a.c[1], 2*step) }
	if err := sameBits(a, one, other); err == nil {
		t.Error("twice the step passes")
	}
	other.run = func() error { return io.ErrUnexpectedEOF }
	if err := sameBits(a, one, other); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the operation's error becomes %v", err)
	}
}

// Columns begin where their layout says.
func TestLayouts(t *testing.T) {
	for in, step := range map[layout]int{staggered: 64, oneOffset: 0} {
		for k, c := range rowCaseOf(opMove).args(1, 1000, in).c {
			if got := int(uintptr(unsafe.Pointer(&c[0])) % 4096); got != k*step%4096 {
				t.Errorf("%s: column %d begins at %d of a page", in, k, got)
			}
		}
	}
}

// The quantities of samples that were written by hand.
func TestOperationQuantities(t *testing.T) {
	copying, double := &operation{columns: 2}, &operation{columns: 4}
	double.comparedWith("copy", copying)
	for _, ns := range []float64{1, 2, 4} {
		copying.add(copying.sample(max(2, ns)))
		double.add(double.sample(ns))
	}
	double.evaluate()
	for name, want := range map[string]spread{
		nsPerRow: {2, 1, 4}, nsPerRowColumn: {0.5, 0.25, 1}, gbPerS: {8, 4, 16},
		"ns_per_row_ratio_to_copy": {1, 1, 2}, "gb_per_s_ratio_to_copy": {2, 2, 4},
	} {
		if got := double.quantities[name]; got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	if len(double.quantities) != 5 || double.rounds() != 3 {
		t.Errorf("%+v", double)
	}
	whole := &operation{rows: 1}
	whole.add(whole.sample(20))
	whole.evaluate()
	if len(whole.quantities) != 1 || cellText(whole.median(nsPerRow)) != "20.0" || whole.goal.cell() != nil || whole.goal.String() != "–" {
		t.Errorf("%+v", whole)
	}
}

// Each operation on a world leaves it as the next run needs it.
func TestWorldCases(t *testing.T) {
	for i := range worldCases {
		c := &worldCases[i]
		s, err := newFullWorld(1)
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
