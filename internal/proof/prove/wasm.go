package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/evertick/evertick/internal/proof"
)

// webAssembly returns the builds for WebAssembly: of browsers, run in node, and of WASI, run in wazero.
func webAssembly() []build {
	env := []string{"CGO_ENABLED=0", "GOARCH=wasm"}
	levels := []string{"go"}
	return []build{
		{name: "js/wasm in node", env: append(env, "GOOS=js"), tools: []string{"node"}, levels: levels, wasm: true, prepare: useNode},
		{name: "wasip1/wasm in wazero", env: append(env, "GOOS=wasip1"), levels: levels, wasm: true, prepare: useWazero},
	}
}

// useNode makes node the emulator of a build, with the script that Go has for it.
func useNode(b *build, _ *prover) (string, error) {
	root, err := execute(environ(), "go", "env", "GOROOT")
	script := filepath.Join(strings.TrimSpace(root), "lib", "wasm", "wasm_exec_node.js")
	if err == nil {
		_, err = os.Stat(script)
	}
	if err != nil {
		return "this Go lacks lib/wasm", nil
	}
	// The stack is the one of Go's own go_js_wasm_exec.
	b.emulator = []string{"node", "--stack-size=8192", script}
	return "", nil
}

// useWazero builds the command wazero and makes it the emulator of a build. A module of its own pins
// its version, so that importers of this module do not get wazero.
func useWazero(b *build, p *prover) (string, error) {
	if runtime.GOOS == "windows" {
		return "the folders of windows cannot be mounted by their names", nil
	}
	here, err := execute(environ(), "go", "list", "-f", "{{.Dir}}", self)
	if err != nil {
		return "", err
	}
	module := filepath.Join(strings.TrimSpace(here), "..", "wasi")
	if _, err := execute(environ(), "go", "-C", module, "mod", "download"); err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		return "wazero cannot be downloaded: " + first, nil
	}
	program := filepath.Join(p.dir, "wazero")
	if _, err := execute(environ("CGO_ENABLED=0"), "go", "-C", module, "build", "-buildvcs=false", "-o", program, "github.com/tetratelabs/wazero/cmd/wazero"); err != nil {
		return "", err
	}
	b.emulator = []string{program, "run", "-env-inherit", "-cachedir", program + "_cache", "-mount=" + p.dir + ":" + p.dir}
	return "", nil
}

// shortEnviron keeps only the variables of an environment that programs of Go need: js/wasm has room
// for 8 kB of arguments and environment.
func shortEnviron(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		switch name {
		case "PATH", "HOME", "TMPDIR", "SystemRoot", "EVERTICK_LEVEL", "GOMAXPROCS":
			return false
		}
		return true
	})
}

// cross takes a snapshot on this machine and continues from it in WebAssembly, and then does the
// reverse. It compares both with the reference, which ran without a snapshot.
func (p *prover) cross(t, reference *task, from *proof.Recording) {
	at := min(2*restoreEvery, t.ticks/2)
	ticks := min(at, len(from.Hashes)-at)
	if ticks == 0 {
		p.say("not run: snapshots of %s: %d ticks are too few", t.name, t.ticks)
		return
	}
	for _, way := range [...]struct{ save, run *task }{{reference, t}, {t, reference}} {
		name := fmt.Sprintf("%s, from a snapshot of %s after %d ticks", way.run, way.save.name, at)
		r, err := p.continued(way.save, way.run, at, ticks)
		switch {
		case err != nil:
			p.fail("%s: %v", name, err)
			return
		case !slices.Equal(r.Hashes, from.Hashes[at:at+ticks]):
			tick, _ := proof.FirstDifference(&proof.Recording{Hashes: from.Hashes[at:]}, r)
			p.fail("%s: %d ticks, of which one differs from the reference: %d", name, len(r.Hashes), at+int(tick))
			return
		}
		p.say("%6d ticks          %s", ticks, name)
	}
}

// continued runs ticks from a snapshot that another build has saved.
func (p *prover) continued(save, run *task, at, ticks int) (*proof.Recording, error) {
	out := p.path(run.build, "from "+save.name) // several builds may continue from one at a time
	snapshot, hashes := out+"_snapshot", out+"_record"
	if err := p.runTo(snapshot, save, "snapshot", "-tick", fmt.Sprint(at)); err != nil {
		return nil, err
	}
	if err := p.runTo(hashes, run, "record", "-from", snapshot, "-ticks", fmt.Sprint(ticks)); err != nil {
		return nil, err
	}
	return readRecording(hashes)
}
