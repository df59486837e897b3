package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"maps"
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
		main()
		os.Exit(0)
	}
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
	cmd.Env = append(os.Environ(), append(env, asCommand+"=1")...)
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
	if err := run(args, &out, io.Discard); err != nil {
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
		{"-scene arena -workers 0", []string{"-workers 0"}},
		{"-scene queries -level avx3", []string{"-level", `"avx3"`}},
	} {
		var out bytes.Buffer
		err := run(strings.Fields(c.args), &out, io.Discard)
		if !errors.Is(err, errUsage) {
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
	if err := run([]string{"-h"}, io.Discard, &usage); !errors.Is(err, flag.ErrHelp) || errors.Is(err, errUsage) {
		t.Errorf("-h: %v", err)
	}
	for _, name := range []string{"-scene", "-ticks", "-warmup", "-seed", "-level", "-workers", "-json", "-hashes", "-info", "-quick", "-csv", "-n", "-compare", "-ops"} {
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
		{nil, []string{"-ticks", "2", "-hashes", missing}, 1, missing},
		{nil, []string{"-scene", "queries", "-quick", "-csv", missing}, 1, missing},
	} {
		_, stderr, status := command(t, c.env, c.args...)
		if status != c.status || !strings.Contains(stderr, c.says) {
			t.Errorf("%v bench %v: status %d, stderr %q; want %d and %q", c.env, c.args, status, stderr, c.status, c.says)
		}
	}
}

func TestEnvironmentChoosesTheLevel(t *testing.T) {
	for _, level := range native.Levels() {
		env := []string{native.EnvLevel + "=" + level.String()}
		stdout, stderr, status := command(t, env, "-ticks", "2", "-json")
		var rep report
		if err := json.Unmarshal([]byte(stdout), &rep); err != nil || status != 0 || rep.Level != level.String() {
			t.Errorf("%v: level %q, status %d, %v\n%s", env, rep.Level, status, err, stderr)
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

// A program that reads the JSON finds these fields, and numbers in them.
func TestJSON(t *testing.T) {
	const ticks, warmup = 30, 10
	var got map[string]any
	out := mustRun(t, "-ticks", "30", "-warmup", "10", "-seed", "9", "-json", "-level", "go")
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for field, want := range map[string]any{
		"scene": "capstone", "seed": 9.0, "level": "go", "workers": 1.0, "ticks": float64(ticks), "warmup": float64(warmup),
		"entities": 2000.0, "agents": 200.0, "bodies": 256.0, "queries_per_step": 200.0,
	} {
		if got[field] != want {
			t.Errorf("%s is %v, want %v", field, got[field], want)
		}
	}
	s := newTestScene(t, "capstone", 9)
	advance(t, s, ticks)
	if want := columnText(s.sim.Hash()); got["hash"] != want {
		t.Errorf("hash is %v, want %s", got["hash"], want)
	}
	if want := columnText(s.bodilessHash()); got["hash_without_bodies"] != want {
		t.Errorf("hash_without_bodies is %v, want %s", got["hash_without_bodies"], want)
	}
	if _, ok := got["allocs_per_step"].(float64); !ok {
		t.Errorf("allocs_per_step is %v", got["allocs_per_step"])
	}
	checkJSONTimes(t, got)
}

func checkJSONTimes(t *testing.T, got map[string]any) {
	t.Helper()
	step, _ := got["step_ns"].(map[string]any)
	if names := slices.Sorted(maps.Keys(step)); !slices.Equal(names, []string{"max", "p50", "p95", "p99"}) {
		t.Errorf("step_ns has %v", names)
	}
	last := 0.0
	for _, name := range []string{"p50", "p95", "p99", "max"} {
		v, ok := step[name].(float64)
		if !ok || v < last || v <= 0 {
			t.Errorf("step_ns.%s is %v, behind %g", name, step[name], last)
		}
		last = v
	}
	var names []string
	phases, _ := got["phases"].([]any)
	for _, p := range phases {
		row, _ := p.(map[string]any)
		name, _ := row["name"].(string)
		names = append(names, name)
		for _, field := range []string{"p50", "p95", "p99", "max", "share"} {
			if _, ok := row[field].(float64); !ok {
				t.Errorf("phase %s: %s is %v", name, field, row[field])
			}
		}
	}
	want := []string{"act", "move", "stir", "physics.step", "physics.sync", "spatial.build", "perceive", "steer", "commands", "state.hash", "(unaccounted)"}
	if !slices.Equal(names, want) {
		t.Errorf("phases %v, want %v", names, want)
	}
}

func TestText(t *testing.T) {
	out := mustRun(t, "-scene", "limina", "-ticks", "20")
	s := newTestScene(t, "limina", 1)
	advance(t, s, 20)
	for _, part := range []string{
		"scene limina", "level " + s.sim.Level().String(), profile.ThisEnvironment().String(), "20 ticks, 10 of them warm-up",
		"physics.step", "(unaccounted)", "queries  26 a step", columnText(s.sim.Hash()), columnText(s.bodilessHash()),
	} {
		if !strings.Contains(out, part) {
			t.Errorf("the text lacks %q:\n%s", part, out)
		}
	}
}
