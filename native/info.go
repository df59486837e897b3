package native

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/klauspost/cpuid/v2"
)

// Information says which path runs and why.
type Information struct {
	Level    Level    // what Auto stands for
	Levels   []Level  // what can run here, slowest first
	Compiler string   // C compiler and version; empty if built without cgo
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
	built := "pure Go: built without cgo (no C compiler, or CGO_ENABLED=0)"
	if i.Compiler != "" {
		built = "kernels built by " + i.Compiler
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
