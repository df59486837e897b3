package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/paritytest"
)

// noisySteps returns the durations of two contestants that took turns on a machine whose other CPU
// is busy: over takes factor times as long as under, some turns take up to three times as long, and
// some steps are interrupted.
func noisySteps(rng *rand.Rand, factor float64) (over, under []int64) {
	for range 60 {
		for _, side := range []struct {
			to   *[]int64
			mean float64
		}{{&over, 100_000 * factor}, {&under, 100_000}} {
			slow := 1.
			if rng.Float64() < 0.3 {
				slow = 1 + 2*rng.Float64()
			}
			for range turn {
				ns := side.mean * slow * (1 + 0.2*rng.Float64())
				if rng.Float64() < 0.05 {
					ns += 4_000_000
				}
				*side.to = append(*side.to, int64(ns))
			}
		}
	}
	return over, under
}

func ratioOfSteps(rng *rand.Rand, name string, factor float64) profile.Ratio {
	over, under := noisySteps(rng, factor)
	return medianRatio(name, over, under)
}

// The ratio of the same code never falls, that of half the speed always does. The inputs are fixed.
func TestFell(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for trial := range 20 {
		was := &ratios{CPU: "a", All: []profile.Ratio{ratioOfSteps(rng, "x", 4)}}
		same, half := ratioOfSteps(rng, "x", 4), ratioOfSteps(rng, "x", 2)
		here, there := &ratios{CPU: "a"}, &ratios{CPU: "b"}
		if here.fell(same, was) || there.fell(same, was) {
			t.Errorf("trial %d: %+v is said to have fallen below %+v", trial, same, was.All[0])
		}
		if lost := ratioOfSteps(rng, "x", 1); !here.fell(lost, was) || !there.fell(lost, was) {
			t.Errorf("trial %d: %+v is not said to have fallen below %+v", trial, lost, was.All[0])
		}
		if there.fell(half, was) {
			t.Errorf("trial %d: %+v is said to have fallen below %+v of another CPU", trial, half, was.All[0])
		}
	}
	was := &ratios{CPU: "a", All: []profile.Ratio{{Name: "x", Median: 4, Low: 3, High: 5}, {Name: "z/2-workers", Median: 1.5, Low: 1.45, High: 1.55}}}
	now := &ratios{CPU: "a"}
	for _, c := range []struct {
		r    profile.Ratio
		fell bool
	}{
		{profile.Ratio{Name: "x", Median: 1, Low: 0.5, High: 1.79}, true},
		{profile.Ratio{Name: "x", Median: 1, Low: 0.5, High: 1.81}, false}, // the whole interval must lie below
		{profile.Ratio{Name: "y", Median: 1, Low: 0.5, High: 1.5}, false},  // nothing of this name is kept
		{profile.Ratio{Name: "z/2-workers", Median: 0.9, Low: 0.88, High: 0.92}, true},
		{profile.Ratio{Name: "z/2-workers", Median: 0.95, Low: 0.92, High: 0.98}, false},
	} {
		if got := now.fell(c.r, was); got != c.fell {
			t.Errorf("%+v: fell %t", c.r, got)
		}
	}
	if now.fell(was.All[0], nil) {
		t.Error("fallen without a baseline")
	}
}

// A ratio that seems to have fallen is measured again, and one good attempt is enough.
func TestAttempts(t *testing.T) {
	was := &ratios{CPU: profile.ThisEnvironment().CPU, All: []profile.Ratio{{Name: "x", Median: 4, Low: 4, High: 4}}}
	for _, c := range []struct {
		medians []float64 // of the attempts
		asked   int
		fell    bool
	}{{[]float64{4}, 1, false}, {[]float64{1, 4}, 2, false}, {[]float64{1, 1, 1}, 3, true}, {[]float64{2, 1, 3}, 3, false}} {
		asked := 0
		now, err := measureRatios([]ratioTest{{"x", func(func(int)) ([]profile.Ratio, error) {
			m := c.medians[asked]
			asked++
			return []profile.Ratio{{Name: "x", Median: m, Low: m, High: m}}, nil
		}}}, was, NewProgress(nil))
		if err != nil || asked != c.asked {
			t.Errorf("%v: %d attempts, %v", c.medians, asked, err)
		}
		var b strings.Builder
		if err := now.judge(was, &b); errors.Is(err, errFell) != c.fell || strings.Contains(b.String(), "FELL") != c.fell {
			t.Errorf("%v: %v\n%s", c.medians, err, b.String())
		}
	}
}

// What a machine cannot show now neither falls nor passes: the report says why.
func TestRatioNotRun(t *testing.T) {
	was := &ratios{All: []profile.Ratio{{Name: "x", Median: 4, Low: 4, High: 4}}}
	now, err := measureRatios([]ratioTest{{"x", func(func(int)) ([]profile.Ratio, error) {
		return nil, fmt.Errorf("%w: one CPU", errNotRun)
	}}}, was, NewProgress(nil))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := now.judge(was, &b); err != nil || strings.Count(b.String(), "not run: x") != 1 || !strings.Contains(b.String(), "one CPU") {
		t.Errorf("%v\n%s", err, b.String())
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if _, err := workerRatios[0].measure(shortLadder, func(int) {}); !errors.Is(err, errNotRun) {
		t.Error(err)
	}
	if runtime.NumCPU() > 1 {
		runtime.GOMAXPROCS(2)
		c := workerRatio{"pyramid", 4, 1e6} // no CPU is worth so much
		if _, err := c.measure(shortLadder, func(int) {}); !errors.Is(err, errNotRun) {
			t.Error(err)
		}
	}
}

func someRatios() *ratios {
	return &ratios{Date: "2026-01-02T03:04:05Z", CPU: "a CPU, with a comma", Arch: "amd64 v1", Go: "go1", Compiler: "gcc", All: []profile.Ratio{
		{Name: "capstone/avx2", Median: 2, Low: 1.5, High: 2.5}, {Name: "arena-256/box2d", Median: 20, Low: 19, High: 21},
	}}
}

func TestRatiosFile(t *testing.T) {
	var b bytes.Buffer
	want := someRatios()
	if err := want.write(&b); err != nil {
		t.Fatal(err)
	}
	got, err := readRatios(bytes.NewReader(b.Bytes()))
	if err != nil || got.Date != want.Date || got.CPU != want.CPU || got.Arch != want.Arch || got.Go != want.Go || got.Compiler != want.Compiler ||
		!slices.Equal(got.All, want.All) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{
		"", "a,b\n", strings.Join(ratiosHead, ",") + "\n", strings.Replace(b.String(), ",1.5,", ",many,", 1), strings.Replace(b.String(), ",1.5,", ",NaN,", 1),
		strings.Replace(b.String(), ",1.5,", ",-1,", 1), strings.Replace(b.String(), ",1.5,", ",3,", 1), b.String() + "x\n",
	} {
		if _, err := readRatios(strings.NewReader(bad)); !errors.Is(err, fault.ErrCorrupt) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func FuzzReadRatios(f *testing.F) {
	var b bytes.Buffer
	if err := someRatios().write(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := readRatios(bytes.NewReader(data))
		if err != nil {
			if !errors.Is(err, fault.ErrCorrupt) {
				t.Error(err)
			}
			return
		}
		var again bytes.Buffer
		if err := r.write(&again); err != nil {
			t.Error(err)
		}
	})
}

// The newest of this CPU counts, else the newest of this architecture.
func TestNewestRatios(t *testing.T) {
	dir := t.TempDir()
	e := profile.Environment{CPU: "a", Arch: "amd64 v1"}
	if r, err := newestRatios(dir, e); r != nil || err != nil {
		t.Errorf("%+v, %v", r, err)
	}
	for i, k := range []struct{ date, cpu, arch string }{
		{"2026-01-01T00:00:00Z", "a", "amd64 v1"}, {"2026-02-01T00:00:00Z", "a", "amd64 v1"}, {"2026-03-01T00:00:00Z", "b", "amd64 v1"}, {"2026-04-01T00:00:00Z", "a", "arm64"},
	} {
		r := someRatios()
		r.Date, r.CPU, r.Arch = k.date, k.cpu, k.arch
		if err := r.keep(filepath.Join(dir, string(rune('a'+i)))); err != nil {
			t.Fatal(err)
		}
	}
	for cpu, want := range map[string]string{"a": "2026-02-01T00:00:00Z", "c": "2026-03-01T00:00:00Z"} {
		e.CPU = cpu
		if r, err := newestRatios(dir, e); err != nil || r.Date != want {
			t.Errorf("CPU %s: %+v, %v", cpu, r, err)
		}
	}
	if _, err := newestRatios(filepath.Join(dir, "missing"), e); !errors.Is(err, ErrUsage) {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a", ratiosFile), []byte("no"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := newestRatios(dir, e); !errors.Is(err, fault.ErrCorrupt) {
		t.Error(err)
	}
}

// The command passes against a baseline so low that no machine is below it, and fails against one
// that no machine reaches.
func TestCompareCommand(t *testing.T) {
	paritytest.SkipSerialUnderRace(t)
	dir := t.TempDir()
	var out bytes.Buffer
	if err := Run([]string{"compare", "-quick", "-results", dir, "-keep", filepath.Join(dir, "x-1")}, &out, io.Discard); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	kept, err := newestRatios(dir, profile.ThisEnvironment())
	if err != nil || kept == nil {
		t.Fatal(err)
	}
	levels, ofWorkers := len(profile.ThisEnvironment().Levels), 0
	if runtime.GOMAXPROCS(0) > 1 {
		ofWorkers = len(workerRatios)
	}
	if _, ok := kept.named("arena-256/box2d"); !ok || len(kept.All) != 2+ofWorkers+3*(levels-1)+3*min(levels, 2) {
		t.Errorf("%+v", kept)
	}
	for _, name := range []string{"radius-2256/cells-go", "radius-16384/cells-go", "self-16384/cells-go"} {
		if _, ok := kept.named(name); !ok {
			t.Errorf("no ratio %s", name)
		}
	}
	for i := range kept.All {
		kept.All[i].Median, kept.All[i].Low, kept.All[i].High = 1e-6, 1e-6, 1e-6
	}
	kept.All = append(kept.All, profile.Ratio{Name: "capstone/vliw", Median: 1, Low: 1, High: 1})
	if err := kept.keep(filepath.Join(dir, "x-1")); err != nil {
		t.Fatal(err)
	}
	if !testing.Short() {
		out.Reset()
		if err := Run([]string{"compare", "-quick", "-results", dir}, &out, io.Discard); err != nil || !strings.Contains(out.String(), "not run: capstone/vliw") {
			t.Errorf("%v\n%s", err, out.String())
		}
	}
	unreached := kept.All
	if testing.Short() {
		unreached = unreached[:1] // each test of such a ratio is repeated
	}
	for i := range unreached { // no machine reaches it
		unreached[i].Median, unreached[i].Low, unreached[i].High = 1e6, 1e6, 1e6
	}
	if err := kept.keep(filepath.Join(dir, "x-1")); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if err := Run([]string{"compare", "-quick", "-results", dir}, &out, io.Discard); !errors.Is(err, errFell) || errors.Is(err, ErrUsage) ||
		!strings.Contains(out.String(), "not run: capstone/vliw") {
		t.Errorf("a baseline a million times as good: %v\n%s", err, out.String())
	}
	for _, args := range [][]string{{"compare", "x"}, {"compare", "-fast"}, {"compare", "-results", filepath.Join(dir, "none")}} {
		if err := Run(args, io.Discard, io.Discard); !errors.Is(err, ErrUsage) {
			t.Errorf("%v: %v", args, err)
		}
	}
}
