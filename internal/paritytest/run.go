package paritytest

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// EnvSeed is the environment variable that fixes the seed.
const EnvSeed = "EVERTICK_SEED"

// Seed returns the seed of this process: EVERTICK_SEED, or else drawn anew. It
// panics if EVERTICK_SEED is not a number.
func Seed() uint64 { return seed() }

var seed = sync.OnceValue(func() uint64 {
	if text := os.Getenv(EnvSeed); text != "" {
		s, err := strconv.ParseUint(text, 0, 64)
		if err != nil {
			panic("paritytest: " + EnvSeed + " is not a number: " + text)
		}
		return s
	}
	s := uint64(rand.Uint32()) // short enough to be copied by hand
	fmt.Fprintf(os.Stderr, "parity: %s=%d\n", EnvSeed, s)
	return s
})

// A Run is one parity test of one kernel over all levels: a generator of inputs
// and a count of cases per level. Its methods are for one goroutine.
type Run struct {
	*rand.Rand
	tb     testing.TB
	kernel string
	levels []string
	cases  map[string]int
	last   string // the level of the latest case
}

// Start begins a run. The inputs depend on the seed and the kernel's name only,
// not on the tests that ran before. When the test ends, a line for each level
// reports the number of cases and the seed; after a failure another one has the
// command that repeats it.
func Start(tb testing.TB, kernel string) *Run {
	tb.Helper()
	stream := fnv.New64a()
	stream.Write([]byte(kernel))
	r := &Run{
		Rand: rand.New(rand.NewPCG(Seed(), stream.Sum64())),
		tb:   tb, kernel: kernel, cases: map[string]int{},
	}
	repeat := command(tb.Name(), callerPackage())
	tb.Cleanup(func() {
		for _, level := range r.levels {
			tb.Logf("parity: %s level=%s: %d cases, seed %d", kernel, level, r.cases[level], Seed())
		}
		if tb.Failed() {
			tb.Logf("parity: repeat with\n\t%s", repeat)
		}
	})
	return r
}

// Case counts one case on a level; what Check reports from now on belongs to it.
func (r *Run) Case(level fmt.Stringer) {
	r.last = level.String()
	if _, known := r.cases[r.last]; !known {
		r.levels = append(r.levels, r.last)
	}
	r.cases[r.last]++
}

// Check ends the test if any of the errors is not nil, and names kernel, level and number of the case.
func (r *Run) Check(errs ...error) {
	r.tb.Helper()
	for _, err := range errs {
		if err != nil {
			r.tb.Fatalf("%s, level %s, case %d: %v", r.kernel, r.last, r.cases[r.last], err)
		}
	}
}

// Rounds scales a number of repetitions: a tenth, but at least one, in
// instrumented builds and with -short.
func Rounds(full int) int {
	if Instrumented || testing.Short() {
		return max(1, full/10)
	}
	return full
}

// Long reports whether EVERTICK_LONG asks for the full sizes of tests.
func Long() bool { return os.Getenv("EVERTICK_LONG") != "" }

// Sample is Rounds of a number of which a fifth suffices, but at least one, unless Long.
func Sample(full int) int {
	if Long() {
		return Rounds(full)
	}
	return min(Rounds(full), max(1, full/5))
}

// SkipSerialUnderRace skips a long test of one goroutine, where the race detector has nothing to
// find, if the detector is on and -short is set.
func SkipSerialUnderRace(tb testing.TB) {
	tb.Helper()
	if testing.Short() && raceDetector() {
		tb.Skip("one goroutine: -race -short")
	}
}

// raceDetector reports whether the test was built with -race.
var raceDetector = sync.OnceValue(func() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
})

// Some returns all choices, or one at random in instrumented builds and with -short.
func Some[T any](r *Run, choices ...T) []T {
	if Instrumented || testing.Short() {
		i := r.IntN(len(choices))
		return choices[i : i+1]
	}
	return choices
}

// callerPackage returns the import path of the package whose code called Start.
func callerPackage() string {
	pc, _, _, ok := runtime.Caller(2)
	if !ok {
		return "./..."
	}
	name := runtime.FuncForPC(pc).Name() // example.org/pkg_test.TestX.func1
	slash := strings.LastIndexByte(name, '/') + 1
	pkg, _, _ := strings.Cut(name[slash:], ".")
	return name[:slash] + strings.TrimSuffix(pkg, "_test")
}

func command(test, pkg string) string {
	parts := strings.Split(test, "/")
	return fmt.Sprintf("%s=%d go test -count=1 -run '^%s$' %s", EnvSeed, Seed(), strings.Join(parts, "$/^"), pkg)
}
