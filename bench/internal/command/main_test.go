package command

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native"
)

// asCommand makes the test binary behave as the command, for tests of its exit
// status and of what it reads from the environment at its start.
const asCommand = "EVERTICK_BENCH_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		Main()
		os.Exit(0)
	}
	os.Setenv(asCommand, "1") // for child processes
	os.Exit(m.Run())
}

// command runs the test binary as the command.
func command(t *testing.T, env []string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Env = append(os.Environ(), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	if errors.Is(err, syscall.ENOEXEC) {
		t.Skip("not run: the command as a child process: this binary runs in an emulator only")
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// mustRun runs the command in this process.
func mustRun(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := Run(args, &out, io.Discard); err != nil {
		t.Fatalf("bench %s: %v", strings.Join(args, " "), err)
	}
	return out.String()
}

func TestBadFlags(t *testing.T) {
	foreign := native.NEON
	if slices.Contains(native.Levels(), foreign) {
		foreign = native.AVX2
	}
	for _, c := range []struct {
		args string
		says []string
	}{
		{"-scene opera", []string{"-scene", `"opera"`, "capstone", "limina", "swarm", "churn", "arena", "pyramids", "queries", "ops", "pacing"}},
		{"-level avx3", []string{"-level", `"avx3"`, "avx2"}},
		{"-level " + foreign.String(), []string{"-level", foreign.String(), "go"}},
		{"-ticks 0", []string{"-ticks 0"}},
		{"-ticks -5", []string{"-ticks -5"}},
		{"-ticks many", []string{"-ticks", `"many"`}},
		{"-warmup -1", []string{"-warmup -1"}},
		{"-ticks 50 -warmup 50", []string{"-warmup 50", "-ticks 50"}},
		{"-ticks 50 -warmup 51", []string{"-warmup 51", "-ticks 50"}},
		{"-workers 0", []string{"-workers 0"}},
		{"-workers 1025", []string{"-workers 1025"}},
		{"-seed -1", []string{"-seed", `"-1"`}},
		{"-ticks 10 extra", []string{`"extra"`}},
		{"-speed 3", []string{"-speed"}},
		{"-quick", []string{"-quick", "capstone"}},
		{"-scene limina -csv file", []string{"-csv", "limina"}},
		{"-scene queries -ticks 5", []string{"-ticks", "queries"}},
		{"-scene queries -warmup 5", []string{"-warmup", "queries"}},
		{"-scene queries -workers 2", []string{"-workers", "queries"}},
		{"-scene queries -hashes file", []string{"-hashes", "queries"}},
		{"-ops -ticks 5", []string{"-ticks", "ops"}},
		{"-ops -workers 2", []string{"-workers", "ops"}},
		{"-ops -scene queries", []string{"-ops", "queries"}},
		{"-scene ops -level avx3", []string{"-level", `"avx3"`}},
		{"-scene pacing -ticks 5", []string{"-ticks", "pacing"}},
		{"-scene pacing -level go", []string{"-level", "pacing"}},
		{"-scene pacing -seed 2", []string{"-seed", "pacing"}},
		{"-n 5", []string{"-n", "capstone"}},
		{"-q 5", []string{"-q", "capstone"}},
		{"-r 5", []string{"-r", "capstone"}},
		{"-scene churn -r 5", []string{"-r", "churn"}},
		{"-scene swarm -q 5", []string{"-q", "swarm"}},
		{"-scene swarm -n 0", []string{"-n 0"}},
		{"-scene swarm -n 1000001", []string{"-n 1000001", "1000000"}},
		{"-scene swarm -n 5,6", []string{"-n", "queries"}},
		{"-scene swarm -n 5,", []string{"-n", `""`}},
		{"-scene swarm -n many", []string{"-n", `"many"`}},
		{"-scene swarm -r 0", []string{"-r 0"}},
		{"-scene swarm -r nan", []string{"-r NaN"}},
		{"-scene swarm -r wide", []string{"-r", `"wide"`}},
		{"-scene swarm -bodies -1", []string{"-bodies -1"}},
		{"-scene swarm -bodies 2000000", []string{"-bodies 2000000"}},
		{"-scene swarm -bodies few", []string{"-bodies", `"few"`}},
		{"-scene churn -bodies 5", []string{"-bodies", "churn"}},
		{"-scene arena -bodies 5", []string{"-bodies", "arena"}},
		{"-scene swarm -spread even", []string{"-spread", `"even"`, "uniform, clusters, tail"}},
		{"-scene clusters -spread tail", []string{"-spread", "clusters"}},
		{"-scene clusters -scale -bodies 5", []string{"-bodies", "clusters"}},
		{"-scene clusters -q 0", []string{"-q 0"}},
		{"-scene churn -compare box2d", []string{"-compare", "churn"}},
		{"-scene arena -n 4,5", []string{"-n", "queries"}},
		{"-scene arena -q 4", []string{"-q", "arena"}},
		{"-scene rays -r 4", []string{"-r", "rays"}},
		{"-scale", []string{"-scale", "capstone", "swarm"}},
		{"-scale -scene ops", []string{"-scale", "ops"}},
		{"-scale -scene smash", []string{"-scale", "smash"}},
		{"-scale -scene swarm -n 5", []string{"-n", "-scale"}},
		{"-scale -scene arena -ticks 5", []string{"-ticks", "-scale"}},
		{"-ladder maybe", []string{"-ladder", `"maybe"`, "auto"}},
		{"-pin -2", []string{"-pin -2"}},
		{"-scene arena -paced", []string{"-paced", "arena"}},
		{"-causes", []string{"-causes", "-paced"}},
		{"-scene queries -out x", []string{"-out", "queries"}},
		{"-scene rays -hardware", []string{"-hardware", "rays"}},
		{"-ops -budget 4ms", []string{"-budget", "ops"}},
		{"-budget -4ms", []string{"-budget -4ms"}},
		{"-budget 0", []string{"-budget 0"}},
		{"-budget soon", []string{"-budget", `"soon"`}},
		{"-compare box3d", []string{"-compare", `"box3d"`, "box2d"}},
		{"-scene queries -compare box2d", []string{"-compare", "queries"}},
		{"-scene everything -compare box2d", []string{"-compare", "everything"}},
		{"-scene arena -quick", []string{"-quick", "arena"}},
		{"-scene arena -hashes file", []string{"-hashes", "arena"}},
		{"-scene arena -n 0", []string{"-n 0"}},
		{"-scene pyramid -n 1000000", []string{"-n 1000000"}},
		{"-scene pyramids -compare box3d", []string{"-compare", `"box3d"`, "box2d"}},
		{"-scene arena -ticks 0", []string{"-ticks 0"}},
		{"-scene arena -clients 4", []string{"-clients"}},
		{"-n 300 -scene clients -clients 4", []string{"go run ./bench/serve -n 300 -scene clients -clients 4"}},
		{"-scene=host", []string{"go run ./bench/serve -scene=host"}},
		{"replay verify DIR", []string{"go run ./bench/serve replay verify DIR"}},
		{"-scene arena -workers 0", []string{"-workers 0"}},
		{"-scene queries -level avx3", []string{"-level", `"avx3"`}},
	} {
		var out bytes.Buffer
		err := Run(strings.Fields(c.args), &out, io.Discard)
		if !errors.Is(err, ErrUsage) {
			t.Errorf("bench %s: %v, want bad usage", c.args, err)
			continue
		}
		for _, part := range c.says {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("bench %s: %q does not say %q", c.args, err, part)
			}
		}
		if out.Len() > 0 {
			t.Errorf("bench %s: printed %q before the error", c.args, out.String())
		}
	}
}

func TestHelpIsNoFault(t *testing.T) {
	var usage bytes.Buffer
	if err := Run([]string{"-h"}, io.Discard, &usage); !errors.Is(err, flag.ErrHelp) || errors.Is(err, ErrUsage) {
		t.Errorf("-h: %v", err)
	}
	for _, name := range []string{"-scene", "-ticks", "-warmup", "-seed", "-level", "-workers", "-json", "-hashes", "-info", "-quick", "-csv", "-n", "-compare", "-ops", "-q", "-r", "-scale", "-budget", "-ladder", "-out", "-baseline", "-pin", "-hardware", "-paced", "-causes", "-list"} {
		if !strings.Contains(usage.String(), name) {
			t.Errorf("the usage lacks %s", name)
		}
	}
}

func TestExitStatus(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing", "hashes")
	for _, c := range []struct {
		env    []string
		args   []string
		status int
		says   string
	}{
		{nil, []string{"-info"}, 0, ""},
		{nil, []string{"-h"}, 0, "-scene"},
		{nil, []string{"-ticks", "0"}, 2, "-ticks 0"},
		{nil, []string{"-tick", "10"}, 2, "-tick"},
		{[]string{native.EnvLevel + "=avx3"}, []string{"-ticks", "2"}, 2, native.EnvLevel + `: native: level "avx3"`},
		{nil, []string{"-ticks", "2", "-ladder", "off", "-hashes", missing}, 1, missing},
		{nil, []string{"-ticks", "4", "-ladder", "off", "-out", "none"}, 0, ""},
		{nil, []string{"-ticks", "4", "-ladder", "off", "-out", "none", "-budget", "1ns"}, 1, "over the budget"},
		{nil, []string{"-ticks", "4", "-budget", "-1s"}, 2, "-budget"},
		{nil, []string{"compare", "-results", missing}, 2, missing},
		{nil, []string{"-scene", "queries", "-quick", "-csv", missing}, 1, missing},
	} {
		_, stderr, status := command(t, c.env, c.args...)
		if status != c.status || !strings.Contains(stderr, c.says) {
			t.Errorf("%v bench %v: status %d, stderr %q; want %d and %q", c.env, c.args, status, stderr, c.status, c.says)
		}
	}
}

// profiled runs the command in this process and returns the summary that -json prints, without a
// ladder unless the arguments ask for it.
func profiled(t *testing.T, args ...string) *profile.Run {
	t.Helper()
	if !slices.Contains(args, "-ladder") {
		args = append(args, "-ladder", "off")
	}
	return summaryOf(t, mustRun(t, append(args, "-json")...))
}

func summaryOf(t *testing.T, text string) *profile.Run {
	t.Helper()
	summary, err := profile.ReadSummary(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return summary.Run()
}

// param returns the value of a parameter of a run.
func param(run *profile.Run, name string) string {
	for _, p := range run.Params {
		if p.Name == name {
			return p.Value
		}
	}
	return ""
}

func TestEnvironmentChoosesTheLevel(t *testing.T) {
	for _, level := range native.Levels() {
		env := []string{native.EnvLevel + "=" + level.String()}
		stdout, stderr, status := command(t, env, "-ticks", "2", "-json", "-ladder", "off")
		if status != 0 {
			t.Fatalf("%v: status %d\n%s", env, status, stderr)
		}
		if run := summaryOf(t, stdout); run.Level != level.String() {
			t.Errorf("%v: level %q", env, run.Level)
		}
	}
}

func TestInfo(t *testing.T) {
	out := mustRun(t, "-info")
	for _, part := range []string{native.Info().String(), profile.ThisEnvironment().CPU, profile.ThisEnvironment().Go, "pacing Precise by " + new(loop.PreciseClock).Method()} {
		if !strings.Contains(out, part) {
			t.Errorf("-info lacks %q:\n%s", part, out)
		}
	}
}

// The JSON contains parameters and results of the run.
func TestJSON(t *testing.T) {
	const ticks = 30
	run := profiled(t, "-ticks", "30", "-warmup", "10", "-seed", "9", "-level", "go")
	if run.Scene != "capstone" || run.Seed != 9 || run.Level != "go" || run.Workers != 1 || run.Warmup != 10 || run.BudgetNs != budgetNs {
		t.Errorf("%+v", run)
	}
	for name, want := range map[string]string{"ticks": "30", "entities": "2000", "agents": "200", "bodies": "256"} {
		if got := param(run, name); got != want {
			t.Errorf("%s is %q, want %s", name, got, want)
		}
	}
	s := newTestScene(t, "capstone", 9)
	advance(t, s, ticks)
	if want := hashText(s.Hash()); run.Hash != want {
		t.Errorf("hash is %v, want %s", run.Hash, want)
	}
	if p := run.Parity; p == nil || !p.OK || p.Cases != ticks*(len(native.Levels())-1) {
		t.Errorf("parity %+v", p)
	}
	if len(run.Ladder) > 0 || len(run.Rivals) > 0 || run.Baseline != nil {
		t.Errorf("not asked for: %+v, %+v, %+v", run.Ladder, run.Rivals, run.Baseline)
	}
}

// The ladder has all levels, and their hash is that of the run that they repeat.
func TestLadderOfScenes(t *testing.T) {
	for _, args := range [][]string{{"-scene", "capstone"}, {"-scene", "swarm", "-n", "500"}, {"-scene", "arena", "-n", "30"}} {
		run := profiled(t, append(args, "-ticks", "12", "-ladder", "on")...)
		rungs := len(native.Levels())
		if rungs == 1 {
			rungs = 0 // pure Go alone is no ladder
		}
		if len(run.Ladder) != rungs {
			t.Fatalf("%v: %+v", args, run.Ladder)
		}
		for i, r := range run.Ladder {
			if r.Level != native.Levels()[i].String() || r.Hash != run.Ladder[0].Hash || r.StepNs <= 0 {
				t.Errorf("%v: %+v", args, r)
			}
		}
	}
}

// The files of a run are a baseline for the next; p95 over the budget is a verdict of its own.
func TestFilesAndBaseline(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	out := mustRun(t, "-ticks", "30", "-ladder", "off", "-out", dir)
	for _, name := range []string{"summary.json", "steps.csv", "bench.txt", "trace.json", "report.html"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !strings.Contains(out, "-baseline") {
		t.Errorf("no next command with a baseline in\n%s", out)
	}
	run := profiled(t, "-ticks", "30", "-baseline", dir)
	if run.Baseline == nil || !run.Baseline.SameHost || run.Baseline.P50.Was <= 0 {
		t.Errorf("baseline %+v", run.Baseline)
	}
	if again := profiled(t, "-ticks", "30", "-baseline", filepath.Join(dir, "summary.json")); again.Baseline == nil {
		t.Error("no baseline by the name of a file")
	}
	if err := run1(t, "-ticks", "30", "-baseline", filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a baseline that is not there: %v", err)
	}
	if err := run1(t, "-scene", "limina", "-baseline", dir); !errors.Is(err, ErrUsage) {
		t.Errorf("a baseline of another scene: %v", err)
	}
}

// run1 runs the command in this process for its error.
func run1(t *testing.T, args ...string) error {
	t.Helper()
	return Run(append(args, "-out", outNone, "-ladder", "off"), io.Discard, io.Discard)
}

func TestBudget(t *testing.T) {
	var over errBudget
	if err := run1(t, "-ticks", "20", "-budget", "1ns"); !errors.As(err, &over) || over.budget != 1 || over.p95 <= 1 {
		t.Errorf("a budget of 1 ns: %v", err)
	}
	if err := run1(t, "-ticks", "20", "-budget", "1h"); err != nil {
		t.Errorf("a budget of an hour: %v", err)
	}
	if err := run1(t, "-scene", "arena", "-n", "20", "-ticks", "20", "-budget", "1ns"); !errors.As(err, &over) {
		t.Errorf("an arena within 1 ns: %v", err)
	}
}

// Paced steps follow a schedule.
func TestPaced(t *testing.T) {
	run := profiled(t, "-ticks", "8", "-warmup", "2", "-paced")
	if run.RateHz != pacedHz {
		t.Errorf("%g Hz", run.RateHz)
	}
}

// A run with enough steps reports them back to back and paced, by turns; the profile is that of the
// paced steps.
func TestPacedByTurns(t *testing.T) {
	const rounds, warmup = 1, 5
	for ways, flags := range map[int][]string{2: nil, 9: {"-causes"}} {
		if ways == 9 && testing.Short() {
			continue
		}
		ticks := warmup + rounds*ways*pacedTurn
		run := profiled(t, append([]string{"-ticks", fmt.Sprint(ticks), "-warmup", fmt.Sprint(warmup), "-paced"}, flags...)...)
		if len(run.Ways) != ways {
			t.Fatalf("%d ways: %+v", len(run.Ways), run.Ways)
		}
		counted := rounds * (pacedTurn - pacedSkip)
		for i, w := range run.Ways {
			if w.Steps != counted || w.P50Ns <= 0 || w.P95Ns < w.P50Ns || len(w.PhaseNs) != len(run.Ways[0].PhaseNs) || len(w.PhaseNs) < 2 || w.Times.Low > w.Times.Median || w.Times.High < w.Times.Median {
				t.Errorf("way %d: %+v", i, w)
			}
		}
		if run.Ways[0].Name != "back to back" || run.Ways[0].Times.Median != 1 || run.Ways[1].Name != "paced" {
			t.Errorf("%+v", run.Ways)
		}
	}
}

// The figures of a way come from its own steps, without the first ones of each turn. The run keeps
// the paced steps.
func TestPacedReport(t *testing.T) {
	p := pacedTurns{ways: []pacedWay{{name: "back to back"}, {name: "paced"}, {name: "other"}}}
	run := &profile.Run{Steps: profile.Steps{Phases: []string{"a"}, PhaseNs: [][]int64{nil}}}
	s := &run.Steps
	for i := range 30 * pacedTurn {
		k, counts := p.way(i)
		ns := int64(100 * (k + 1))
		if !counts {
			ns = 1_000_000
		}
		s.Tick, s.Ns, s.PhaseNs[0] = append(s.Tick, uint64(i)), append(s.Ns, ns), append(s.PhaseNs[0], ns/4)
		s.StartNs, s.DueNs = append(s.StartNs, int64(i)), append(s.DueNs, int64(i))
	}
	p.report(run)
	const counted = 10 * (pacedTurn - pacedSkip)
	if len(run.Ways) != 3 || run.Steps.Len() != counted || run.Steps.Ns[0] != 200 || slices.Max(run.Steps.Ns) != 200 || len(run.Steps.PhaseNs[0]) != counted || run.Steps.GCs != nil {
		t.Fatalf("%d ways, %d steps: %+v", len(run.Ways), run.Steps.Len(), run.Ways)
	}
	for k, w := range run.Ways {
		ns := int64(100 * (k + 1))
		if w.Steps != counted || w.P50Ns != ns || w.P95Ns != ns || !slices.Equal(w.PhaseNs, []int64{ns / 4, ns - ns/4}) || w.Times.Median != float64(k+1) || w.Times.Low != float64(k+1) {
			t.Errorf("%+v", w)
		}
	}
}

// All ways have the same number of turns, whichever begins.
func TestPacedTurnsAreFair(t *testing.T) {
	for _, ways := range []int{1, 2, 9} {
		p := pacedTurns{ways: make([]pacedWay, ways)}
		steps, begins := make([]int, ways), make([]int, ways)
		for i := range ways * ways * pacedTurn {
			k, counts := p.way(i)
			if counts {
				steps[k]++
			}
			if i%(ways*pacedTurn) == 0 {
				begins[k]++
			}
		}
		for k := range ways {
			if steps[k] != ways*(pacedTurn-pacedSkip) || begins[k] != 1 {
				t.Errorf("way %d of %d has %d steps and begins %d times", k, ways, steps[k], begins[k])
			}
		}
	}
}

// The list has every scene with its flags, and no scene takes a flag that does not exist.
func TestList(t *testing.T) {
	list := mustRun(t, "-list")
	var usage bytes.Buffer
	_ = Run([]string{"-h"}, io.Discard, &usage)
	for name, s := range registered {
		if !strings.Contains(list, "  "+name+" ") || !strings.Contains(list, s.Help) {
			t.Errorf("the list lacks %s:\n%s", name, list)
		}
		for _, f := range s.Flags {
			if !strings.Contains(usage.String(), "  -"+f) {
				t.Errorf("%s takes -%s, which does not exist", name, f)
			}
		}
	}
}

func TestText(t *testing.T) {
	out := mustRun(t, "-scene", "limina", "-ticks", "20", "-out", outNone, "-ladder", "off")
	s := newTestScene(t, "limina", 1)
	advance(t, s, 20)
	for _, part := range []string{"scene limina", "physics.step", "(unaccounted)", hashText(s.Hash())} {
		if !strings.Contains(out, part) {
			t.Errorf("the text lacks %q:\n%s", part, out)
		}
	}
	for _, line := range strings.Split(out, "\n") {
		if n := len([]rune(line)); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}
