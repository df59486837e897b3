package command

import (
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/scenes"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
)

// ratiosFile is the name of a file of ratios, in a folder for each machine and commit.
const ratiosFile = "ratios.csv"

// A ratio has fallen if its whole interval lies below this share of the baseline's interval. On one
// machine ratios vary by a tenth from run to run, and by a fifth when its other CPUs are busy; a
// lost kernel costs more than half. Between two CPUs levels differ as much as their vector units
// do.
const (
	sameCPU  = 0.6
	otherCPU = 0.4
)

// attempts is how often a ratio that has fallen is measured: it must have fallen each time.
const attempts = 3

// ratios were measured in one run of the command.
type ratios struct {
	Date, CPU, Arch, Go, Compiler string
	All                           []profile.Ratio // times as fast; more is better

	skipped []skipped
}

// skipped is a test that this machine cannot run now.
type skipped struct {
	name string
	why  error
}

// ratioTest measures some ratios.
type ratioTest struct {
	name    string
	measure func(report func(turn int)) ([]profile.Ratio, error)
}

// errFell is the verdict that ratios have fallen.
var errFell = errors.New("slower than the baseline, compared with the same opponent in the same run")

// runCompare measures ratios, and compares them with the baseline or, with -keep, makes them the
// baseline.
func runCompare(args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("bench compare", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	results := f.String("results", filepath.Join("bench", "results"), "`folder` with a folder of ratios for each machine and commit")
	keep := f.String("keep", "", "write ratios.csv into this `folder`, and compare with nothing")
	quick := f.Bool("quick", false, "fewer turns: for trying the command out")
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		f.SetOutput(stderr)
		f.Usage()
		return err
	} else if err != nil {
		return fmt.Errorf("%w: compare: %w", ErrUsage, err)
	}
	if f.NArg() > 0 {
		return fmt.Errorf("%w: compare: argument %q: flags only", ErrUsage, f.Arg(0))
	}
	var was *ratios
	if *keep == "" {
		var err error
		if was, err = newestRatios(*results, profile.ThisEnvironment()); err != nil {
			return err
		}
	}
	progress := NewProgress(stderr)
	defer progress.Clear()
	now, err := measureRatios(ratioTests(*quick), was, progress)
	if err != nil {
		return err
	}
	progress.Clear()
	if *keep != "" {
		if err := now.keep(*keep); err != nil {
			return err
		}
	}
	return now.judge(was, stdout)
}

// measureRatios runs the tests, and again those with a ratio that has fallen. It returns the best
// attempt of each.
func measureRatios(tests []ratioTest, was *ratios, progress *Progress) (*ratios, error) {
	e := profile.ThisEnvironment()
	now := &ratios{Date: time.Now().UTC().Format(time.RFC3339), CPU: e.CPU, Arch: e.Arch, Go: e.Go, Compiler: e.Compiler}
	for _, c := range tests {
		var best []profile.Ratio
		for attempt := range attempts {
			got, err := c.measure(func(turn int) { progress.Show("%s: attempt %d, turn %d", c.name, attempt+1, turn) })
			if errors.Is(err, errNotRun) {
				now.skipped, best = append(now.skipped, skipped{c.name, err}), nil
				break
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
			best = better(best, got)
			if !slices.ContainsFunc(best, func(r profile.Ratio) bool { return now.fell(r, was) }) {
				break
			}
		}
		now.All = append(now.All, best...)
	}
	return now, nil
}

// better returns, for each ratio, the attempt with the larger median.
func better(a, b []profile.Ratio) []profile.Ratio {
	if a == nil {
		return b
	}
	for i := range a {
		if b[i].Median > a[i].Median {
			a[i] = b[i]
		}
	}
	return a
}

// fell reports whether a ratio has fallen below the baseline of its name, if there is one.
func (now *ratios) fell(r profile.Ratio, was *ratios) bool {
	if was == nil {
		return false
	}
	changes := profile.CompareRatios([]profile.Ratio{r}, was.All, 1-now.tolerance(r.Name, was))
	return changes[0].Verdict == profile.RatioFell
}

// tolerance is the share of the baseline below which the ratio of a name has fallen.
func (now *ratios) tolerance(name string, was *ratios) float64 {
	same, other := sameCPU, otherCPU
	if ofWorkers(name) {
		same, other = sameCPUWorkers, otherCPUWorkers
	}
	if now.CPU == was.CPU {
		return same
	}
	return other
}

func (r *ratios) named(name string) (profile.Ratio, bool) {
	if r == nil {
		return profile.Ratio{}, false
	}
	i := slices.IndexFunc(r.All, func(o profile.Ratio) bool { return o.Name == name })
	if i < 0 {
		return profile.Ratio{}, false
	}
	return r.All[i], true
}

// judge prints the ratios beside the baseline. It returns errFell if one has fallen.
func (now *ratios) judge(was *ratios, w io.Writer) (verdict error) {
	var b strings.Builder
	fmt.Fprintf(&b, "evertick bench · ratios in one run, by turns · %s · %s\n", now.CPU, now.Go)
	if was == nil {
		b.WriteString("no baseline to compare with\n\n")
	} else {
		fmt.Fprintf(&b, "baseline of %s on %s; a ratio below %g of it has fallen, one of workers below %g\n\n", was.Date, was.CPU, now.tolerance("", was), now.tolerance(workersSuffix, was))
	}
	t := TextTable("times as fast", "now [95 %]", "baseline [95 %]", "verdict")
	text := func(r profile.Ratio) string { return interval(r.Median, r.Low, r.High) }
	for _, r := range now.All {
		row := []any{r.Name, text(r), nil, "new"}
		if old, ok := was.named(r.Name); ok {
			row[2], row[3] = text(old), "ok"
		}
		if now.fell(r, was) {
			row[3], verdict = "FELL", errFell
		}
		t.Add(row...)
	}
	t.WriteText(&b)
	for _, s := range now.skipped {
		fmt.Fprintf(&b, "not run: %s: %v\n", s.name, s.why)
	}
	if was != nil {
		for _, old := range was.All {
			if _, ok := now.named(old.Name); !ok && !slices.ContainsFunc(now.skipped, func(s skipped) bool { return s.name == old.Name }) {
				fmt.Fprintf(&b, "not run: %s: not on this machine\n", old.Name)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return errors.Join(err, verdict)
}

var ratiosHead = []string{"date", "cpu", "arch", "go", "compiler", "name", "median", "low", "high"}

// keep writes the ratios into a folder, which it makes.
func (r *ratios) keep(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(dir, ratiosFile))
	if err != nil {
		return err
	}
	return errors.Join(r.write(file), file.Close())
}

func (r *ratios) write(w io.Writer) error {
	var t Table
	for _, name := range ratiosHead {
		t.Columns = append(t.Columns, Column{Name: name})
	}
	for _, k := range r.All {
		row := []any{r.Date, r.CPU, r.Arch, r.Go, r.Compiler, k.Name}
		for _, v := range [...]float64{k.Median, k.Low, k.High} {
			row = append(row, strconv.FormatFloat(v, 'g', 5, 64))
		}
		t.Add(row...)
	}
	return t.writeCSV(w)
}

// readRatios reads the table that write wrote. Anything else is fault.ErrCorrupt.
func readRatios(r io.Reader) (*ratios, error) {
	lines, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", ratiosFile, fault.ErrCorrupt, err)
	}
	if len(lines) < 2 || !slices.Equal(lines[0], ratiosHead) {
		return nil, fmt.Errorf("%s: not a table of ratios: %w", ratiosFile, fault.ErrCorrupt)
	}
	all := &ratios{}
	for i, line := range lines[1:] {
		k := profile.Ratio{Name: line[5]}
		for j, to := range []*float64{&k.Median, &k.Low, &k.High} {
			if *to, err = strconv.ParseFloat(line[6+j], 64); err != nil || !(*to > 0 && *to < 1e9) {
				return nil, fmt.Errorf("%s: line %d: %s %q: %w", ratiosFile, i+2, ratiosHead[6+j], line[6+j], fault.ErrCorrupt)
			}
		}
		if k.Low > k.High {
			return nil, fmt.Errorf("%s: line %d: the interval of %s: %w", ratiosFile, i+2, k.Name, fault.ErrCorrupt)
		}
		all.Date, all.CPU, all.Arch, all.Go, all.Compiler = line[0], line[1], line[2], line[3], line[4]
		all.All = append(all.All, k)
	}
	return all, nil
}

// newestRatios returns the newest ratios of this CPU or, if there are none, of this architecture;
// nil if there are none either.
func newestRatios(results string, e profile.Environment) (newest *ratios, err error) {
	files, err := filepath.Glob(filepath.Join(results, "*", ratiosFile))
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(results); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: compare: -results: %w", ErrUsage, err)
	}
	rank := func(r *ratios) string { // dates are RFC 3339 in UTC: they sort as text
		return map[bool]string{true: "1", false: "0"}[r.CPU == e.CPU] + r.Date
	}
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		r, err := readRatios(file)
		if err := errors.Join(err, file.Close()); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if r.Arch == e.Arch && (newest == nil || rank(r) > rank(newest)) {
			newest = r
		}
	}
	return newest, nil
}

// ratioTests returns the tests: the levels against pure Go, bodies against the other engine, the index against a
// cell list, and two workers against one.
func ratioTests(quick bool) []ratioTest {
	plan := patience{warmup: 60, least: 20, most: 400, time: 3 * time.Second}
	ticks, warmup := 240, 60
	if quick {
		plan, ticks, warmup = shortLadder, 12, 4
	}
	var all []ratioTest
	for name, open := range ratioScenes() {
		all = append(all, ratioTest{name, func(report func(int)) ([]profile.Ratio, error) {
			return levelRatios(name, plan, open, report)
		}})
	}
	slices.SortFunc(all, func(a, b ratioTest) int { return strings.Compare(a.name, b.name) })
	for _, n := range []int{256, 1024} {
		name := fmt.Sprintf("arena-%d/%s", n, engineBox2D)
		all = append(all, ratioTest{name, func(func(int)) ([]profile.Ratio, error) {
			r, err := engineRatio(n, ticks, warmup)
			r.Name = name
			return []profile.Ratio{r}, err
		}})
	}
	for _, c := range workerRatios {
		if quick {
			c.n, c.limit = c.n/32+2, 0
		}
		all = append(all, ratioTest{c.name(), func(report func(int)) ([]profile.Ratio, error) { return c.measure(plan, report) }})
	}
	for _, c := range cellCases {
		all = append(all, ratioTest{c.name, func(report func(int)) ([]profile.Ratio, error) { return c.ratios(plan, report) }})
	}
	return all
}

// cellCase is a batch for which the index is compared with a plain cell list.
type cellCase struct {
	name         string
	index, cells method
	points       int
}

var cellCases = []cellCase{
	{"radius-2256", byRadius, byCells, 2256},
	{"radius-16384", byRadius, byCells, 16384},
	{"self-16384", bySelf, bySelfCells, 16384},
}

// ratios returns how many times as fast as the cell list the index is: as the list in Go on level Go, and as the list
// in C on the best level. Each takes a turn in every round, with the same points.
func (c *cellCase) ratios(p patience, report func(turn int)) (all []profile.Ratio, err error) {
	const seed = 1
	var queries []*query
	levels := native.Levels()
	for _, level := range slices.Compact([]native.Level{native.Go, levels[len(levels)-1]}) {
		for _, m := range [...]method{c.index, c.cells} {
			q := newQuery(m, c.points, level)
			if q.asksAll() {
				q.queries = c.points
			}
			queries = append(queries, q)
		}
	}
	if err := openQueries(queries, seed, NewProgress(nil)); err != nil {
		return nil, err
	}
	ns := make([][]int64, len(queries))
	err = p.rounds(len(queries), func(i, round int) error {
		report(round)
		s, err := queries[i].turn()
		if round >= 0 && err == nil {
			ns[i] = append(ns[i], int64(s[totalUs]*1e3))
		}
		return err
	})
	for i, language := range []string{"go", "c"}[:len(queries)/2] {
		all = append(all, medianRatio(c.name+"/cells-"+language, ns[2*i+1], ns[2*i]))
	}
	return all, err
}

func ratioScenes() map[string]opener {
	const seed = 1
	return map[string]opener{
		"capstone": func(level native.Level) (stepper, error) {
			o := Options{Scene: "capstone", Seed: seed, Workers: 1}
			return o.openSim(paramsOf("capstone"), level)
		},
		"arena-1024": func(level native.Level) (stepper, error) {
			return stepperOf(scenes.New("arena", 1024, seed, physics.Config{Level: level, Workers: 1}))
		},
		"queries-16384": func(level native.Level) (stepper, error) { return newQuery(byRadius, 16384, level).stepper(seed) },
	}
}

func levelRatios(name string, plan patience, open opener, report func(int)) ([]profile.Ratio, error) {
	rungs, err := ladder(native.Levels(), plan, open, report)
	if err != nil {
		return nil, err
	}
	var all []profile.Ratio
	for _, r := range rungs[1:] {
		up := r.Speedup
		up.Name = name + "/" + r.Level
		all = append(all, up)
	}
	return all, nil
}

// engineRatio returns how many times as fast as the other engine ours is in an arena.
func engineRatio(n, ticks, warmup int) (profile.Ratio, error) {
	o := &Options{Scene: "arena", N: n, Ticks: ticks, Warmup: warmup, Seed: 1, Workers: 1, compare: engineBox2D}
	ours, err := o.newContender(o.bodyConfig(native.Auto))
	if err != nil {
		return profile.Ratio{}, err
	}
	theirs, err := o.opponent(native.Auto)
	if err == nil {
		err = o.takeTurns(ours, theirs, NewProgress(nil))
	}
	if err != nil {
		return profile.Ratio{}, err
	}
	return o.compared(ours.steps, theirs.steps).Ratio, nil
}
