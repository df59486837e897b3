package main

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
	"github.com/evertick/evertick/spatial"
	"github.com/zeebo/xxh3"
)

// ratiosFile is the name under which ratios are kept, in a folder for each machine and commit.
const ratiosFile = "ratios.csv"

// A ratio has become worse if its whole interval lies below so many times the interval that is
// kept. Ratios of one machine vary by a tenth from run to run, and by a fifth when
// its other CPUs are busy; what a lost kernel costs is more than half. Between two CPUs levels differ by
// as much as their vectors do.
const (
	sameCPU  = 0.6
	otherCPU = 0.4
)

// attempts is how often a ratio that has become worse is measured: it must be worse each time.
const attempts = 3

// ratios are what was measured at once.
type ratios struct {
	Date, CPU, Arch, Go, Compiler string
	All                           []profile.Ratio // times as fast; more is better
}

// contest of a ratio: it measures the ratios that it names.
type contestOf struct {
	name    string
	measure func(report func(int)) ([]profile.Ratio, error)
}

// errWorse is the verdict that ratios have become worse.
var errWorse = errors.New("slower than it was, against what it is compared with in the same run")

// runCompare measures ratios, compares them with those that are kept, and keeps them if it is told to.
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
		return fmt.Errorf("%w: compare: %w", errUsage, err)
	}
	if f.NArg() > 0 {
		return fmt.Errorf("%w: compare: argument %q: flags only", errUsage, f.Arg(0))
	}
	var was *ratios
	if *keep == "" {
		var err error
		if was, err = newestRatios(*results, profile.ThisEnvironment()); err != nil {
			return err
		}
	}
	progress := newProgress(stderr)
	defer progress.clear()
	now, err := measureRatios(ratioContests(*quick), was, progress)
	if err != nil {
		return err
	}
	progress.clear()
	if *keep != "" {
		if err := now.keep(*keep); err != nil {
			return err
		}
	}
	return now.judge(was, stdout)
}

// measureRatios runs the contests, and again those with a ratio that has become worse: what is told
// of such a one is the best attempt.
func measureRatios(contests []contestOf, was *ratios, progress *progress) (*ratios, error) {
	e := profile.ThisEnvironment()
	now := &ratios{Date: time.Now().UTC().Format(time.RFC3339), CPU: e.CPU, Arch: e.Arch, Go: e.Go, Compiler: e.Compiler}
	for _, c := range contests {
		var best []profile.Ratio
		for attempt := range attempts {
			got, err := c.measure(func(turn int) { progress.show("%s: attempt %d, turn %d", c.name, attempt+1, turn) })
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
			best = better(best, got)
			if !slices.ContainsFunc(best, func(r profile.Ratio) bool { return now.worse(r, was) }) {
				break
			}
		}
		now.All = append(now.All, best...)
	}
	return now, nil
}

// better keeps of each ratio the attempt with the larger median.
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

// worse tells whether a ratio has become worse than the one of its name that is kept, if one is.
func (now *ratios) worse(r profile.Ratio, was *ratios) bool {
	if was == nil {
		return false
	}
	changes := profile.CompareRatios([]profile.Ratio{r}, was.All, 1-now.tolerance(was))
	return changes[0].Verdict == profile.RatioFell
}

// tolerance is how far ratios may fall.
func (now *ratios) tolerance(was *ratios) float64 {
	if now.CPU == was.CPU {
		return sameCPU
	}
	return otherCPU
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

// judge prints the ratios beside those that are kept. Its error is errWorse if one has become worse.
func (now *ratios) judge(was *ratios, w io.Writer) (verdict error) {
	var b strings.Builder
	fmt.Fprintf(&b, "evertick bench · ratios in one run, by turns · %s · %s\n", now.CPU, now.Go)
	if was == nil {
		b.WriteString("nothing is kept to compare with\n\n")
	} else {
		fmt.Fprintf(&b, "against those of %s on %s: worse is below %g of them\n\n", was.Date, was.CPU, now.tolerance(was))
	}
	fmt.Fprintf(&b, "%-28s %8s  %-16s %8s  %-16s\n", "times as fast", "now", "[95 %]", "kept", "[95 %]")
	for _, r := range now.All {
		fmt.Fprintf(&b, "%-28s %8.2f  %-16s", r.Name, r.Median, intervalOf(r))
		if old, ok := was.named(r.Name); ok {
			fmt.Fprintf(&b, " %8.2f  %-16s", old.Median, intervalOf(old))
		}
		if now.worse(r, was) {
			b.WriteString(" WORSE")
			verdict = errWorse
		}
		b.WriteString("\n")
	}
	if was != nil {
		for _, old := range was.All {
			if _, ok := now.named(old.Name); !ok {
				fmt.Fprintf(&b, "not run: %s: not on this machine\n", old.Name)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return errors.Join(err, verdict)
}

func intervalOf(r profile.Ratio) string { return fmt.Sprintf("[%.2f–%.2f]", r.Low, r.High) }

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
	c := csv.NewWriter(w)
	_ = c.Write(ratiosHead) // errors stay until c.Error
	for _, k := range r.All {
		line := []string{r.Date, r.CPU, r.Arch, r.Go, r.Compiler, k.Name}
		for _, v := range [...]float64{k.Median, k.Low, k.High} {
			line = append(line, strconv.FormatFloat(v, 'g', 5, 64))
		}
		_ = c.Write(line)
	}
	c.Flush()
	return c.Error()
}

// readRatios reads what write wrote. Anything else is fault.ErrCorrupt.
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

// newestRatios returns those of this CPU that were kept last or, if there are none, those of this
// architecture; nil if none are kept.
func newestRatios(results string, e profile.Environment) (newest *ratios, err error) {
	files, err := filepath.Glob(filepath.Join(results, "*", ratiosFile))
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(results); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: compare: -results: %w", errUsage, err)
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

// ratioContests are the ratios that are kept: the levels against pure Go, and bodies against the other
// engine.
func ratioContests(quick bool) []contestOf {
	plan := ladderPlan{warmup: 60, least: 20, most: 400, time: 3 * time.Second}
	ticks, warmup := 240, 60
	if quick {
		plan, ticks, warmup = shortLadder, 12, 4
	}
	var all []contestOf
	for name, open := range ratioScenes() {
		all = append(all, contestOf{name, func(report func(int)) ([]profile.Ratio, error) {
			return levelRatios(name, plan, open, report)
		}})
	}
	slices.SortFunc(all, func(a, b contestOf) int { return strings.Compare(a.name, b.name) })
	for _, n := range []int{256, 1024} {
		name := fmt.Sprintf("arena-%d/%s", n, compareBox2D)
		all = append(all, contestOf{name, func(func(int)) ([]profile.Ratio, error) {
			r, err := engineRatio(n, ticks, warmup)
			r.Name = name
			return []profile.Ratio{r}, err
		}})
	}
	return all
}

func ratioScenes() map[string]opener {
	const seed = 1
	return map[string]opener{
		"capstone": func(level native.Level) (stepper, error) {
			o := options{seed: seed, workers: 1}
			p, err := sceneParams("capstone")
			if err != nil {
				return stepper{}, err
			}
			return o.openScene(p, level)
		},
		"arena-1024": func(level native.Level) (stepper, error) {
			s, err := scenes.New("arena", 1024, seed, physics.Config{Level: level, Workers: 1})
			if err != nil {
				return stepper{}, err
			}
			return stepper{step: s.Step, hash: s.World.Hash}, nil
		},
		"queries-16384": func(level native.Level) (stepper, error) { return openQueries(16384, seed, level) },
	}
}

// openQueries builds and asks the index of so many points in each step; that points move is not timed.
func openQueries(points int, seed uint64, level native.Level) (stepper, error) {
	t := &trial{method: byRadius, points: points, queries: fewQueries, k: meanNeighbours, level: level, workers: 1, order: spatial.Grid}
	t.cloud = newCloud(seed, points)
	if err := t.open(); err != nil {
		return stepper{}, err
	}
	return stepper{
		ready: func() error { t.renew(); return nil },
		step:  func() error { _, err := t.answer(); return err },
		hash: func() uint64 {
			var h xxh3.Hasher
			for _, slot := range t.out.Slots {
				_, _ = h.Write([]byte{byte(slot), byte(slot >> 8), byte(slot >> 16), byte(slot >> 24)})
			}
			return h.Sum64()
		},
	}, nil
}

// levelRatios tells how many times as fast as pure Go each level is.
func levelRatios(name string, plan ladderPlan, open opener, report func(int)) ([]profile.Ratio, error) {
	rungs, err := ladder(native.Levels(), plan, 1, open, report)
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

// engineRatio tells how many times as fast as the other engine ours is in an arena.
func engineRatio(n, ticks, warmup int) (profile.Ratio, error) {
	o := &options{scene: "arena", n: n, ticks: ticks, warmup: warmup, seed: 1, workers: 1, compare: compareBox2D}
	ours, err := newContender(o, o.bodyConfig(native.Auto))
	if err != nil {
		return profile.Ratio{}, err
	}
	theirs, err := o.otherEngine(native.Auto)
	if err != nil {
		return profile.Ratio{}, err
	}
	if err := o.contest(ours, theirs, newProgress(nil)); err != nil {
		return profile.Ratio{}, err
	}
	return newComparison(o, ours.steps, theirs.steps).told(), nil
}
