package command

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evertick/evertick/internal/pace"
	"github.com/evertick/evertick/internal/scenes"
)

// fakeCosts returns the costs of a scene that takes 100 ns times its size to a power, with p95
// above it.
func fakeCosts(exponent float64, asked *[]int) func(int) (cost, error) {
	return func(n int) (cost, error) {
		*asked = append(*asked, n)
		ns := 100 * math.Pow(float64(n), exponent)
		return cost{N: n, Steps: 1, P50: int64(ns), P95: int64(1.25 * ns)}, nil
	}
}

// The search finds the largest size within its resolution, whatever the exponent, and measures
// no size twice.
func TestScaleSearch(t *testing.T) {
	const budget = 1e7
	for _, exponent := range []float64{0.5, 1, 1.3, 2} {
		var asked []int
		s := scaleSearch{budgetNs: budget, first: 16, most: math.MaxInt, measure: fakeCosts(exponent, &asked)}
		costs, fits, err := s.run()
		if err != nil {
			t.Fatal(err)
		}
		want := math.Pow(budget/125, 1/exponent)
		if got := float64(fits) / want; got > 1 || got < math.Pow(2, -1./8)*0.99 {
			t.Errorf("exponent %g: %d fit, of %g", exponent, fits, want)
		}
		if len(costs) != len(asked) {
			t.Errorf("%d costs of %d measurements", len(costs), len(asked))
		}
		for i := 1; i < len(costs); i++ {
			if costs[i].N <= costs[i-1].N {
				t.Errorf("sizes %d and %d", costs[i-1].N, costs[i].N)
			}
		}
		if p, ok := fitPower(costs); !ok || math.Abs(p.Exponent-exponent) > 0.001 || p.Low > exponent+0.001 || p.High < exponent-0.001 || p.From*fitted < p.To {
			t.Errorf("exponent %g: fit %+v", exponent, p)
		}
	}
}

func TestScaleSearchEnds(t *testing.T) {
	var asked []int
	s := scaleSearch{budgetNs: 10, first: 16, most: 100, measure: fakeCosts(1, &asked)}
	if costs, fits, err := s.run(); err != nil || fits != 0 || costs[len(costs)-1].N != 16 {
		t.Errorf("nothing fits: %d, %v, %v", fits, costs, err)
	}
	s.budgetNs = math.MaxInt64
	if costs, fits, err := s.run(); err != nil || fits != 100 || len(costs) != 4 {
		t.Errorf("all fit: %d, %v, %v", fits, costs, err)
	}
	broken := errors.New("broken")
	s.measure = func(n int) (cost, error) {
		if n > 32 {
			return cost{}, broken
		}
		return cost{N: n}, nil
	}
	if _, _, err := s.run(); !errors.Is(err, broken) {
		t.Error(err)
	}
}

// A fit through points that are off the line: figures computed by hand with exact logarithms of
// powers of two.
func TestFitPower(t *testing.T) {
	// log2 of n: 0 1 2 3, of the cost: 1 2 4 4. Slope 1.1, rest 0.7, t(2) 4.303.
	costs := []cost{{N: 1, P50: 2}, {N: 2, P50: 4}, {N: 4, P50: 16}, {N: 8, P50: 16}}
	p, ok := fitPower(costs)
	off := 4.303 * math.Sqrt(0.7/2/5)
	if !ok || math.Abs(p.Exponent-1.1) > 1e-9 || math.Abs(p.Low-(1.1-off)) > 1e-9 || math.Abs(p.High-(1.1+off)) > 1e-9 {
		t.Errorf("%+v, want 1.1 ± %g", p, off)
	}
	if p, ok := fitPower(costs[:2]); !ok || p.Low != 0 || p.High != 0 || math.Abs(p.Exponent-1) > 1e-9 {
		t.Errorf("two points: %+v", p)
	}
	if _, ok := fitPower(costs[:1]); ok {
		t.Error("a line through one point")
	}
	if _, ok := fitPower(nil); ok {
		t.Error("a line through no point")
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 65536: "65,536", 1234567: "1,234,567"} {
		if got := Count(n); got != want {
			t.Errorf("%d is %s", n, got)
		}
	}
	for n, want := range map[int]int{7: 7, 99: 99, 100: 100, 119: 110, 65536: 65000} {
		if got := twoDigits(n); got != want {
			t.Errorf("%d is %d", n, got)
		}
	}
	if rateName(budgetNs) != "60 Hz" || rateName(4_000_000) != "the budget" {
		t.Error(rateName(budgetNs), rateName(4_000_000))
	}
}

// Every scene with a size can be scaled. The budget is one that some size breaks on any
// machine.
func TestScale(t *testing.T) {
	for _, scene := range []string{"swarm", "clusters", "churn", "arena", "tumbler", "pyramid", "queries"} {
		file := filepath.Join(t.TempDir(), "scale.csv")
		var rep struct {
			Scene string
			Facts struct {
				Budget int64 `json:"budget_ns"`
				Fits   int
				All    bool
			}
			Figures []struct {
				N   int
				P95 int64 `json:"p95_ns"`
			}
		}
		decode(t, mustRun(t, "-scene", scene, "-scale", "-quick", "-budget", "50us", "-json", "-csv", file), &rep)
		if rep.Scene != scene || rep.Facts.Budget != 50_000 || len(rep.Figures) == 0 || rep.Facts.All {
			t.Errorf("%+v", rep)
		}
		for _, c := range rep.Figures {
			if c.P95 <= rep.Facts.Budget && c.N > rep.Facts.Fits {
				t.Errorf("%s: %d fit, but %+v does too", scene, rep.Facts.Fits, c)
			}
		}
		if lines := strings.Split(strings.TrimSpace(readFile(t, file)), "\n"); len(lines) != 1+len(rep.Figures) || !strings.HasPrefix(lines[1], scene+",") {
			t.Errorf("%s: %q", scene, lines)
		}
	}
}

// A swarm with bodies, in each spread: the report has its phases, with and without workers.
func TestScaleOfASwarmWithBodies(t *testing.T) {
	for i, spread := range scenes.Spreads {
		workers := 1 + i%2
		var rep struct {
			Facts struct {
				Fits    int
				Phases  []scaledPhase
				Workers *workerTurns
			}
			Figures []struct{ N int }
		}
		decode(t, mustRun(t, "-scene", "swarm", "-scale", "-quick", "-budget", "2ms", "-bodies", "100", "-spread", spread, "-workers", strconv.Itoa(workers), "-json"), &rep)
		share := 0.
		var names []string
		for _, p := range rep.Facts.Phases {
			share += p.Share
			names = append(names, p.Name)
			if p.N != max(rep.Facts.Fits, rep.Figures[0].N) {
				t.Errorf("%s: phase %s of %d, %d fit", spread, p.Name, p.N, rep.Facts.Fits)
			}
		}
		want := []string{"push", "move", "physics.step", "physics.sync", "velocities", "spatial.build", "perceive", "steer", "commands", "state.hash"}
		if !slices.Equal(names, want) || math.Abs(share-1) > 1e-9 {
			t.Errorf("%s: phases %v, together %g", spread, names, share)
		}
		if w := rep.Facts.Workers; (w != nil) != (workers > 1) || w != nil && (w.Workers != 2 || len(w.One) != len(want) || len(w.Several) != len(want)) {
			t.Errorf("%s: workers %+v", spread, w)
		}
	}
}

func TestCompareWorkers(t *testing.T) {
	one := cost{N: 5, P50: 1000, Phases: []phaseCost{{"shared", 600}, {"hardly", 105}, {"idle", 0}, {"serial", 95}}}
	two := cost{N: 5, P50: 625, Phases: []phaseCost{{"shared", 300}, {"hardly", 100}, {"idle", 0}, {"serial", 110}}}
	for _, shared := range []map[string]bool{nil, {"shared": true}} {
		got := compareWorkers(2, one, two, shared)
		if !slices.Equal(got.Serial, []string{"hardly", "idle", "serial"}) || got.Gain != 1.6 || got.Share != 0.25 || math.Abs(got.Amdahl-1.6) > 1e-9 {
			t.Errorf("%v: %+v", shared, got)
		}
	}
}

// A phase in which two threads work is shared, and one in which the caller works alone is not.
func TestSharedPhases(t *testing.T) {
	if _, ok := ThreadTime(); !ok {
		t.Skip("not run: the system does not report the CPU time of a thread")
	}
	if runtime.GOMAXPROCS(0) < 2 {
		t.Skip("not run: one CPU")
	}
	pace.Always = false
	defer func() { pace.Always = true }()
	var before func()
	var after func(string)
	work := func() {
		for start, _ := ThreadTime(); ; {
			if now, _ := ThreadTime(); now-start > 200*time.Microsecond {
				return
			}
		}
	}
	s := stepper{
		watch: func(b func(), a func(string)) func() {
			before, after = b, a
			return func() { before = nil }
		},
		step: func() error {
			before()
			var done sync.WaitGroup
			done.Go(func() {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				work()
			})
			work()
			done.Wait()
			after("both")
			before()
			work()
			after("alone")
			return nil
		},
	}
	got, err := sharedPhases(&s)
	if err != nil || !got["both"] || got["alone"] || len(got) != 2 || before != nil || pace.Always {
		t.Errorf("%v, %v", got, err)
	}
}

func TestScaleText(t *testing.T) {
	phases := func(ns int64) []phaseCost { return []phaseCost{{"physics.step", ns / 4}, {"perceive", ns - ns/4}} }
	r := scaleReport{
		report: &report{Scene: "swarm", Level: "go", Workers: 1}, unit: "entities", budgetNs: budgetNs, fits: 16384,
		costs: []cost{{N: 16384, Steps: 60, P50: 1e6, P95: 2e6, Phases: phases(1e6)}, {N: 32768, Steps: 60, P50: 3e7, P95: 4e7, Phases: phases(3e7)}},
		power: &power{Exponent: 1.234, Low: 1.1, High: 1.3, From: 16384, To: 32768},
	}
	r.phases = scaledPhases(r.costs, r.shown())
	r.turns = compareWorkers(2, r.costs[0], cost{N: 16384, P50: 6e5, Phases: []phaseCost{{"physics.step", 25e4}, {"perceive", 35e4}}}, nil)
	r.fits = 23456
	var b strings.Builder
	r.fill()
	r.writeHead(&b)
	r.write(&b)
	for _, part := range []string{
		"32,768     60  30000.0  40000.0      916  exceeded", "budget", "p95",
		"From 16,384 to 32,768 entities the median step grows with\ntheir number to the power 1.23 [1.10–1.30].",
		"About 23,000 entities fit 60 Hz on this machine: p95 within 16666.7 µs.",
		"phases of 16,384 entities  p50, µs   share  ns each  grows with the power",
		"perceive    750.0  75.0 %     45.8                  4.91",
		"physics.step           250.0          250.0           1.00",
		"A step is 1.67 times as fast with 2 workers.\nPhases that stay serial take 25.0 % of a step with one worker:\nphysics.step.\n" +
			"If the workers shared all other phases evenly, it would be 1.60 times as fast.",
	} {
		if !strings.Contains(b.String(), part) {
			t.Errorf("no %q in\n%s", part, b.String())
		}
	}
	for _, line := range strings.Split(b.String(), "\n") {
		if n := len([]rune(line)); n > 80 && !strings.Contains(line, "kernels") {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	r.fits = 0
	if got := r.verdict(); !strings.Contains(got, "Not even 16,384 entities fit") {
		t.Error(got)
	}
	r.fits, r.all = 32768, true
	if got := r.verdict(); !strings.Contains(got, "32,768 entities, the most that the scene takes, fit") {
		t.Error(got)
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
