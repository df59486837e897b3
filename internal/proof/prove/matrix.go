package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"github.com/klauspost/cpuid/v2"
)

// A build is a way to compile and run the scene.
type build struct {
	name     string
	env      []string
	tools    []string                                      // that are needed to build and to run it
	emulator []string                                      // in front of the program
	levels   []string                                      // to be run
	restores bool                                          // one more run, which goes on in other Sims from snapshots
	wasm     bool                                          // for WebAssembly, which any system can emulate
	prepare  func(*build, *prover) (why string, err error) // sets emulator, or returns why there is none
}

// emulated reports whether the build is for another machine than this.
func (b *build) emulated() bool { return len(b.emulator) > 0 || b.wasm }

// why returns the reason why the build cannot be made or run here; empty if it can.
func (b *build) why() string {
	for _, tool := range b.tools {
		if _, err := exec.LookPath(tool); err != nil {
			return tool + " is not installed"
		}
	}
	if b.emulated() && !b.wasm && runtime.GOOS != "linux" {
		return "qemu-user is for linux, this is " + runtime.GOOS
	}
	for _, e := range b.env {
		if e == "GOAMD64=v3" && cpuid.CPU.X64Level() < 3 {
			return fmt.Sprintf("this CPU is of level v%d", cpuid.CPU.X64Level())
		}
	}
	return ""
}

// levelsOf returns the levels of an architecture with kernels in C.
func levelsOf(arch string) []string {
	if arch == "arm64" {
		return []string{"neon", "c"}
	}
	return []string{"avx2", "avx512", "c"}
}

// builds returns the builds for this machine, the first of which is the reference, and those for
// other machines.
func builds() []build {
	arch := runtime.GOARCH
	all := []build{{name: "pure Go", env: []string{"CGO_ENABLED=0", "GOARCH=" + arch}, levels: []string{"go"}}}
	cc := "gcc"
	if runtime.GOOS == "darwin" {
		cc = "clang"
	}
	if arch == "amd64" {
		all[0].name, all[0].env = "pure Go, GOAMD64=v1", append(all[0].env, "GOAMD64=v1")
		all = append(all, build{name: "pure Go, GOAMD64=v3", env: []string{"CGO_ENABLED=0", "GOAMD64=v3"}, levels: []string{"go"}})
	}
	v1, levels := []string{"CGO_ENABLED=1"}, append(levelsOf(arch), "go")
	if arch == "amd64" {
		v1 = append(v1, "GOAMD64=v1")
	}
	all = append(all, build{name: cc, env: append(v1, "CC="+cc), tools: []string{cc}, levels: levels, restores: true})
	if arch == "amd64" {
		all = append(all, build{name: cc + ", GOAMD64=v3", env: []string{"CGO_ENABLED=1", "CC=" + cc, "GOAMD64=v3"}, tools: []string{cc}, levels: []string{"avx512", "c"}})
	}
	if cc != "clang" {
		all = append(all, build{name: "clang", env: append(v1, "CC=clang"), tools: []string{"clang"}, levels: levelsOf(arch)})
	}
	return append(append(all, foreign()...), webAssembly()...)
}

// foreign returns the builds for other machines.
func foreign() []build {
	var all []build
	for _, m := range []struct{ arch, qemu string }{{"arm64", "aarch64"}, {"s390x", "s390x"}, {"riscv64", "riscv64"}} {
		if m.arch == runtime.GOARCH {
			continue
		}
		qemu := "qemu-" + m.qemu + "-static"
		env := []string{"GOOS=linux", "GOARCH=" + m.arch}
		all = append(all, build{
			name: m.arch + ", pure Go", env: append(env, "CGO_ENABLED=0"), tools: []string{qemu}, emulator: []string{qemu}, levels: []string{"go"},
		})
		if m.arch != "arm64" {
			continue
		}
		const gcc = "aarch64-linux-gnu-gcc"
		all = append(all, build{
			name: "arm64, " + gcc, env: append(env, "CGO_ENABLED=1", "CC="+gcc), tools: []string{gcc, qemu},
			emulator: []string{qemu, "-L", "/usr/aarch64-linux-gnu"}, levels: []string{"neon"},
		})
	}
	return all
}

// A task is one run of a build.
type task struct {
	*build
	level          string
	workers, procs int
	restore        int // ticks after which the run goes on in another Sim
	ticks          int
}

func (t *task) String() string {
	s := fmt.Sprintf("%s, level %s, %d worker(s), GOMAXPROCS=%d", t.name, t.level, t.workers, t.procs)
	if t.restore > 0 {
		s += fmt.Sprintf(", restored every %d ticks", t.restore)
	}
	return s
}

// restoreEvery has no common divisor with the periods of the scene.
const restoreEvery = 97

// tasks returns the runs of a build, with different numbers of workers and threads. Emulated
// runs have one of each: an emulator translates code and does not reorder it.
func (b *build) tasks(ticks int, levels []string) (all []*task) {
	runs := []struct{ workers, procs int }{{2, 2}, {7, 7}, {1, 1}}
	for i, level := range levels {
		run := runs[i%len(runs)]
		if b.emulated() {
			run = runs[2]
		}
		all = append(all, &task{build: b, level: level, workers: run.workers, procs: run.procs, ticks: ticks})
	}
	if b.restores && len(levels) > 0 {
		all = append(all, &task{build: b, level: levels[0], workers: 1, procs: 2, restore: restoreEvery, ticks: ticks})
	}
	return all
}

// environ returns the environment of this process and additions, without the variables that choose levels and
// compilers.
func environ(add ...string) []string {
	var env []string
	for _, e := range os.Environ() {
		name, _, _ := strings.Cut(e, "=")
		switch name {
		case "EVERTICK_LEVEL", "GOAMD64", "GOMAXPROCS", "CC", "CGO_ENABLED", "GOARCH", "GOOS", "CGO_CFLAGS":
		default:
			env = append(env, e)
		}
	}
	return append(env, add...)
}
