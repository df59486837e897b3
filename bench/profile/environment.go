package profile

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/evertick/evertick/native"
)

// Environment names everything except the scene that figures depend on.
type Environment struct {
	CPU      string   `json:"cpu"`
	CPUs     int      `json:"cpus"`
	OS       string   `json:"os"`
	Arch     string   `json:"arch"` // with its level: amd64 v1
	Go       string   `json:"go"`
	Cgo      bool     `json:"cgo"`
	Compiler string   `json:"compiler"` // empty without cgo
	Levels   []string `json:"levels"`   // that can run here, slowest first
	Kernels  string   `json:"kernels"`  // which path runs, and why
}

// ThisEnvironment returns that of this process.
func ThisEnvironment() Environment {
	info := native.Info()
	e := Environment{
		CPU: info.CPU, CPUs: runtime.GOMAXPROCS(0), OS: runtime.GOOS, Arch: runtime.GOARCH, Go: runtime.Version(),
		Cgo: info.Compiler != "", Compiler: info.Compiler, Kernels: info.String(),
	}
	for _, l := range info.Levels {
		e.Levels = append(e.Levels, l.String())
	}
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, s := range build.Settings {
			if s.Key == "GOAMD64" || s.Key == "GOARM64" {
				e.Arch += " " + s.Value
			}
		}
	}
	return e
}

// String returns two lines: how the kernels run, and on which machine.
func (e Environment) String() string {
	return fmt.Sprintf("%s\n%s · %d CPUs in use · %s/%s · %s", e.Kernels, e.CPU, e.CPUs, e.OS, e.Arch, e.Go)
}
