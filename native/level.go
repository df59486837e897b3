package native

import (
	"errors"
	"fmt"
	"math/bits"
	"os"
	"runtime"
	"strings"
	"sync"

	"github.com/evertick/evertick/internal/enum"
	"github.com/evertick/evertick/internal/fault"
	"github.com/klauspost/cpuid/v2"
)

// Errors that this package returns, wrapped.
var (
	ErrUnsupported = fault.ErrUnsupported
	ErrFloatEnv    = fault.ErrFloatEnv
	ErrRange       = fault.ErrRange
	ErrNotFinite   = fault.ErrNotFinite
)

// Level is a way to run the kernels. All levels compute the same bits.
type Level uint8

const (
	Auto   Level = iota // the best level of this host, or what EVERTICK_LEVEL names
	Go                  // the pure-Go kernels
	C                   // portable C
	AVX2                // x86-64 with AVX2, 8 lanes
	AVX512              // x86-64 with AVX-512F, 16 lanes
	NEON                // arm64, 4 lanes
)

// EnvLevel is the environment variable that overrides Auto.
const EnvLevel = "EVERTICK_LEVEL"

var levelNames = [...]string{Auto: "auto", Go: "go", C: "c", AVX2: "avx2", AVX512: "avx512", NEON: "neon"}

// String returns the name of the level for ParseLevel and EVERTICK_LEVEL.
func (l Level) String() string { return enum.Name(levelNames[:], l, "Level") }

// ParseLevel returns the level of that name. An unknown name is ErrUnsupported,
// and the message lists the names.
func ParseLevel(name string) (Level, error) {
	for l, n := range levelNames {
		if n == name {
			return Level(l), nil
		}
	}
	return Auto, fmt.Errorf("native: level %q: %w; levels are %s", name, ErrUnsupported, strings.Join(levelNames[:], ", "))
}

// host is what this process can run, found once.
type host struct {
	usable  [len(levelNames)]bool
	levels  []Level // usable, slowest first
	refused []string
	auto    Level
	autoErr error
}

var thisHost = sync.OnceValue(func() *host {
	h := &host{}
	for l := Go; int(l) < len(levelNames); l++ {
		if !compiled(l) || !cpuHas(l) {
			continue
		}
		// An altered environment may be temporary, and every step reports it; this choice is final.
		if err := selfCheck(l); err != nil && !errors.Is(err, ErrFloatEnv) {
			h.refused = append(h.refused, err.Error())
			continue
		}
		h.usable[l] = true
		h.levels = append(h.levels, l)
	}
	h.auto = h.levels[len(h.levels)-1]
	if name, ok := os.LookupEnv(EnvLevel); ok && name != "" {
		h.auto, h.autoErr = h.override(name)
	}
	return h
})

func (h *host) override(name string) (Level, error) {
	l, err := ParseLevel(name)
	if err == nil && l == Auto {
		return h.levels[len(h.levels)-1], nil
	}
	if err == nil {
		err = h.check(l)
	}
	if err != nil {
		return Go, fmt.Errorf("%s: %w", EnvLevel, err)
	}
	return l, nil
}

func (h *host) check(l Level) error {
	if int(l) < len(h.usable) && h.usable[l] {
		return nil
	}
	return fmt.Errorf("native: level %s: %w here; this host and build run %s", l, ErrUnsupported, names(h.levels))
}

func names(levels []Level) string {
	s := make([]string, len(levels))
	for i, l := range levels {
		s[i] = l.String()
	}
	return strings.Join(s, ", ")
}

func cpuHas(l Level) bool {
	switch l {
	case AVX2:
		return cpuid.CPU.Supports(cpuid.AVX2, cpuid.POPCNT)
	case AVX512:
		return cpuid.CPU.Supports(cpuid.AVX512F, cpuid.POPCNT)
	}
	return true // NEON is part of every arm64 CPU that Go runs on
}

// Levels returns the levels that this host and build can run, slowest first.
// Go is always among them.
func Levels() []Level { return append([]Level(nil), thisHost().levels...) }

// Resolve turns Auto into the level that it stands for and checks that any
// other can run here. A level that cannot, and a name in EVERTICK_LEVEL that is
// unknown or cannot, is ErrUnsupported; the message lists the levels.
func Resolve(l Level) (Level, error) {
	h := thisHost()
	if l == Auto {
		return h.auto, h.autoErr
	}
	return l, h.check(l)
}

// must is Resolve for kernel calls, which have no error to return.
func must(l Level) Level {
	if l == Go { // which runs everywhere
		return l
	}
	h := thisHost()
	if l == Auto && h.autoErr == nil {
		return h.auto
	}
	if int(l) < len(h.usable) && h.usable[l] {
		return l
	}
	panic("native: the level cannot run here; see Resolve")
}

// Information describes which level runs and why.
type Information struct {
	Level    Level    // what Auto stands for
	Levels   []Level  // what can run here, slowest first
	Compiler string   // C compiler and version; empty if built without kernels in C
	CPU      string   // brand name, or the architecture where the CPU has none
	Refused  []string // levels that failed their self-check, with the reason
	Err      error    // what Resolve(Auto) returns, if EVERTICK_LEVEL is at fault
}

// Info describes the kernels of this process.
func Info() Information {
	h := thisHost()
	cpu := strings.TrimSpace(cpuid.CPU.BrandName)
	if cpu == "" {
		cpu = runtime.GOARCH
	}
	return Information{
		Level: h.auto, Levels: Levels(), Compiler: compiler(), CPU: cpu,
		Refused: append([]string(nil), h.refused...), Err: h.autoErr,
	}
}

// String is one line: "level avx2 of go, c, avx2; kernels built by gcc 12.2".
func (i Information) String() string {
	built := "pure Go: built without kernels in C (no C compiler, CGO_ENABLED=0 or -tags purego)"
	switch {
	case i.Compiler != "":
		built = "kernels built by " + i.Compiler
	case bits.UintSize == 32:
		built = "pure Go: the kernels are for machines of 64 bits"
	}
	s := fmt.Sprintf("level %s of %s; %s", i.Level, names(i.Levels), built)
	for _, r := range i.Refused {
		s += "; refused: " + r
	}
	if i.Err != nil {
		s += "; " + i.Err.Error()
	}
	return s
}
