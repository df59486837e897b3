package command

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/klauspost/cpuid/v2"
)

// parityTicks is the length of the runs that are compared with each other. Ticks
// take ten times longer in instrumented builds.
var parityTicks = func() int {
	if paritytest.Instrumented {
		return 60
	}
	return 600
}()

// history returns the hashes of each tick of a run.
func history(level native.Level, workers, ticks int) ([]tickHashes, error) {
	s, err := newSimulation("capstone", paramsOf("capstone"), evertick.Config{Seed: 1, Level: level, Workers: workers})
	if err != nil {
		return nil, err
	}
	all := make([]tickHashes, 0, ticks)
	for range ticks {
		if err := s.Step(); err != nil {
			return nil, err
		}
		all = append(all, s.tickHashes())
	}
	return all, nil
}

// reference is what all other runs are compared with: pure Go, one worker.
var reference = sync.OnceValues(func() ([]tickHashes, error) { return history(native.Go, 1, parityTicks) })

// configured builds a simulation with its usual parameters.
func configured(t testing.TB, name string, cfg evertick.Config) *simulation {
	t.Helper()
	s, err := newSimulation(name, paramsOf(name), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newTestScene(t testing.TB, name string, seed uint64) *simulation {
	t.Helper()
	return configured(t, name, evertick.Config{Seed: seed})
}

func advance(t testing.TB, s *simulation, ticks int) {
	t.Helper()
	for range ticks {
		if err := s.Step(); err != nil {
			t.Fatal(err)
		}
	}
}

// hashText is a hash as the reports print it.
func hashText(hash uint64) string { return fmt.Sprintf("%016x", hash) }

func mustReference(t *testing.T) []tickHashes {
	t.Helper()
	ref, err := reference()
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// differences returns each column that differs between two runs with the first tick at which it
// does, in the order of ticks and then of columns.
func differences(a, b []tickHashes) []difference {
	var all []difference
	seen := map[string]bool{}
	for i := range min(len(a), len(b)) {
		for _, d := range differingColumns(a[i], b[i]) {
			if !seen[d.column] {
				seen[d.column] = true
				all = append(all, d)
			}
		}
	}
	if len(a) != len(b) {
		all = append(all, difference{tick: uint64(min(len(a), len(b)) + 1), column: "number of ticks"})
	}
	return all
}

type difference struct {
	tick   uint64
	column string
	a, b   uint64
}

func (d difference) String() string {
	return fmt.Sprintf("after tick %d: %s: %016x and %016x", d.tick, d.column, d.a, d.b)
}

func differingColumns(a, b tickHashes) []difference {
	name := func(c ecs.ColumnHash) string { return c.Name }
	if !slices.EqualFunc(a.parts, b.parts, func(x, y ecs.ColumnHash) bool { return name(x) == name(y) }) || a.tick != b.tick {
		return []difference{{tick: a.tick, column: "list of columns"}}
	}
	var all []difference
	for i, c := range a.parts {
		if c != b.parts[i] {
			all = append(all, difference{a.tick, c.Name, c.Hash, b.parts[i].Hash})
		}
	}
	return all
}

func TestEveryLevelSaysTheSameBits(t *testing.T) {
	ref := mustReference(t)
	for _, level := range native.Levels() {
		for _, workers := range []int{1, 2} {
			if level == native.Go && workers == 1 {
				continue // the reference
			}
			got, err := history(level, workers, parityTicks)
			if err != nil {
				t.Fatal(err)
			}
			if d := differences(ref, got); len(d) > 0 {
				t.Errorf("level go, 1 worker, and level %s, %d worker(s), differ %v; in %d columns until tick %d\n%s",
					level, workers, d[0], len(d), parityTicks,
					repeat(fmt.Sprintf("-level %s -workers %d", level, workers)))
			}
		}
	}
	t.Logf("levels %v with 1 and 2 workers agree after each of %d ticks", native.Levels(), parityTicks)
}

// repeat returns the command that repeats a run outside the test.
func repeat(flags string) string {
	return fmt.Sprintf("repeat: go run ./bench -scene capstone -seed 1 -ticks %d -hashes FILE %s", parityTicks, flags)
}

// The comparison itself must notice a flipped bit, a missing tick and a missing
// column.
func TestDifferencesAreNoticed(t *testing.T) {
	run := func() []tickHashes {
		var all []tickHashes
		for tick := range uint64(4) {
			all = append(all, tickHashes{tick, []ecs.ColumnHash{{Name: "a", Hash: tick}, {Name: "b", Hash: 9}}})
		}
		return all
	}
	if d := differences(run(), run()); len(d) > 0 {
		t.Errorf("equal runs: %v", d)
	}
	flipped := run()
	flipped[2].parts[1].Hash ^= 1
	flipped[3].parts[0].Hash ^= 1
	if d := differences(run(), flipped); len(d) != 2 || d[0].tick != 2 || d[0].column != "b" || d[1].tick != 3 || d[1].column != "a" {
		t.Errorf("two flipped bits: %v", d)
	}
	if d := differences(run(), run()[:3]); len(d) != 1 {
		t.Errorf("a missing tick: %v", d)
	}
	short := run()
	short[1].parts = short[1].parts[:1]
	if d := differences(run(), short); len(d) != 1 || d[0].tick != 1 {
		t.Errorf("a missing column: %v", d)
	}
}

// amd64Level is the GOAMD64 of this binary, or empty on other architectures.
func amd64Level() string {
	if runtime.GOARCH != "amd64" {
		return ""
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "GOAMD64" {
				return s.Value
			}
		}
	}
	return "v1"
}

// fuses reports whether the compiler may fuse a product and a sum at a level of GOAMD64.
func fuses(level string) bool { return level == "v3" || level == "v4" }

func TestOtherBuildsSayTheSameBits(t *testing.T) {
	if os.Getenv("EVERTICK_GATE") == "" {
		t.Skip("needs EVERTICK_GATE=1, as make determinism sets it")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("not run: other builds of the bench command: the go command is not installed")
	}
	own := amd64Level()
	t.Run("cgo off", func(t *testing.T) {
		got := otherBuild(t, "CGO_ENABLED=0", "GOAMD64="+own)
		if d := differences(mustReference(t), got); len(d) > 0 {
			t.Errorf("this build and one with CGO_ENABLED=0 differ %v; in %d columns\n%s", d[0], len(d), repeat(""))
		}
	})
	other := "v3"
	if fuses(own) {
		other = "v1"
	}
	t.Run("GOAMD64="+other, func(t *testing.T) {
		if own == "" {
			t.Skipf("not run: the bench command with GOAMD64=%s: the architecture is %s", other, runtime.GOARCH)
		}
		if fuses(other) && cpuid.CPU.X64Level() < 3 {
			t.Skipf("not run: the bench command with GOAMD64=%s: this CPU is of level v%d", other, cpuid.CPU.X64Level())
		}
		got := otherBuild(t, "GOAMD64="+other)
		if d := differences(mustReference(t), got); len(d) > 0 {
			t.Errorf("GOAMD64=%s and %s differ %v; in %d columns\n%s", own, other, d[0], len(d), repeat(""))
		}
	})
}

// otherBuild builds the command under another environment, runs the capstone
// and returns its hashes.
func otherBuild(t *testing.T, env ...string) []tickHashes {
	t.Helper()
	dir := t.TempDir()
	exe, hashes := filepath.Join(dir, "bench.exe"), filepath.Join(dir, "hashes")
	env = append(os.Environ(), append(env, "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)...)
	for _, args := range [][]string{
		{"go", "build", "-buildvcs=false", "-o", exe, "../.."},
		{exe, "-scene", "capstone", "-seed", "1", "-ticks", fmt.Sprint(parityTicks), "-hashes", hashes, "-json"},
	} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env = env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	file, err := os.Open(hashes)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	all, err := readHashes(file)
	if err != nil {
		t.Fatal(err)
	}
	return all
}
