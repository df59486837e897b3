package gate

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A change is a file of the repository, from its root, and a text in it that another
// replaces; an empty old text stands for a new file.
type change struct{ file, old, new string }

// Mutants of the module under which the runs of the proof must not agree, or must not
// come to an end. Each is a change that a build takes for the source.
var proofMutants = []struct {
	name    string
	changes []change
	only    string // which runs it takes to notice
	ticks   string
	want    []string // in what the proof says; nil: that all agree
}{
	{"none", nil, "pure Go|gcc, level (avx2|neon)", "60", nil},
	{"unwrapped-product", []change{
		{"internal/rigid/integrate.go", "sin := float32(oldSin[i]*st.C) + float32(oldCos[i]*st.S)", "sin := oldSin[i]*st.C + float32(oldCos[i]*st.S)"},
	}, "pure Go, GOAMD64=v3", "60", []string{
		"differs from the reference", "made by physics.step: .*bodies", "column body.Sin: hash",
		"entities: value of rotation", `bodies: value of body.Sin, body \d+ of slot \d+ \(ent_\d+\): \S+ \(0x\w+\) and \S+ \(0x\w+\)`,
	}},
	{"unwrapped-in-a-system", []change{
		{"internal/proof/agents.go", "ax+float32(dx*pull), ay", "ax+dx*pull, ay"},
	}, "pure Go, GOAMD64=v3", "60", []string{"differs from the reference", "made by think: entities", "value of acceleration.x, slot"}},
	// The self-check of package native looks at one kernel; this is another.
	{"fused-kernel", []change{
		{"csrc/rigid/level_avx2.c", "#include \"kernels.h\"\n", "#include \"../base.h\"\n#pragma GCC optimize(\"fp-contract=fast\")\n#undef TARGET_avx2\n" +
			"#define TARGET_avx2 __attribute__((target(\"avx2,fma,popcnt\")))\n#include \"kernels.h\"\n"},
	}, "gcc, level avx2", "60", []string{"differs from the reference", "made by physics.step: .*bodies", "stage of the solver", "bodies: value of body"}},
	{"gnu11", []change{
		{"csrc/csrc.go", "-std=c11", "-std=gnu11"},
		{"csrc/base.h", "#pragma GCC optimize(\"fp-contract=off\")\n", ""},
		{"csrc/base.h", `target("avx2,popcnt")`, `target("avx2,fma,popcnt")`},
		{"csrc/base.h", `target("avx512f,popcnt")`, `target("avx512f,fma,popcnt")`},
	}, "gcc, level avx2", "60", []string{"refused: level avx2"}},
	{"map-range", []change{
		{"internal/proof/agents.go", "\tfor i := range chunks {\n\t\tm.merge", "\tanyOrder := map[int]bool{}\n\tfor i := range chunks {\n\t\tanyOrder[i] = true\n\t}\n\tfor i := range anyOrder {\n\t\tm.merge"},
	}, "pure Go", "60", []string{"differs from the reference", "made by think: entities|column mood: hash", "differ from each other|value of mood"}},
	{"completion-order", []change{
		{"internal/proof/agents.go", "\tfor i := range chunks {\n\t\tm.merge = append(m.merge, i)\n\t}\n", ""},
		{"internal/proof/agents.go", "\tm.moods[chunk] = mood\n", "\tm.moods[chunk] = mood\n\ttime.Sleep(50_000)\n\tm.lock.Lock()\n\tm.merge = append(m.merge, chunk)\n\tm.lock.Unlock()\n"}, // helpers gain time even on a busy machine
		{"internal/proof/agents.go", "type mind struct {\n", "type mind struct {\n\tlock sync.Mutex\n"},
		{"internal/proof/agents.go", "\t\"math\"\n", "\t\"math\"\n\t\"sync\"\n\t\"time\"\n"},
	}, "pure Go", "600", []string{"differs from the reference", "made by think: entities|differ from each other"}},
	{"flushed-denormals", []change{
		{"internal/proof/prove/flush_cgo.go", "", `//go:build cgo

package main

import (
	"runtime"

	"github.com/evertick/evertick/csrc/face"
)

func init() {
	runtime.LockOSThread()
	face.FlushDenormals(true)
}
`},
	}, "gcc, level go", "60", []string{"tick 0: ", "denormals"}},
	{"flushed-in-a-system", []change{
		{"internal/proof/flush_cgo.go", "", `//go:build cgo

package proof

import (
	"runtime"

	"github.com/evertick/evertick/csrc/face"
)

func init() {
	flush = func(on bool) {
		if on {
			runtime.LockOSThread()
		}
		face.FlushDenormals(on)
		if !on {
			runtime.UnlockOSThread()
		}
	}
}
`},
		{"internal/proof/agents.go", "\tfor slot := range s.Sim.World.Query() {\n\t\tif c.fading", "\tflush(true)\n\tdefer flush(false)\n\tfor slot := range s.Sim.World.Query() {\n\t\tif c.fading"},
		{"internal/proof/agents.go", "// resize returns", "var flush = func(bool) {}\n\n// resize returns"},
	}, "gcc, level go", "160", []string{"differs from the reference", "made by distance or fade or debts: entities", "column fading: hash", "value of fading", "0x"}},
}

func TestProofTeeth(t *testing.T) {
	needGate(t)
	if runtime.GOARCH != "amd64" {
		t.Skip("not run: mutants of the proof: they are written for amd64")
	}
	needTool(t, true, "gcc")
	if testing.Short() {
		t.Skip("each builds the proof again: -short")
	}
	prove := filepath.Join(t.TempDir(), "prove")
	if _, err := run(repo(t), nil, "go", "build", "-buildvcs=false", "-o", prove, "./internal/proof/prove"); err != nil {
		t.Fatal(err)
	}
	for _, m := range proofMutants {
		t.Run(m.name, func(t *testing.T) {
			args := []string{"-ticks", m.ticks, "-emulated", "0", "-only", m.only, "-overlay", overlay(t, m.changes)}
			out, err := run(repo(t), nil, prove, args...)
			if m.want == nil {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil {
				t.Errorf("the proof let a mutant through:\n%s", tail(out))
			}
			for _, want := range m.want {
				if !re(want).MatchString(out) {
					t.Errorf("no %q in what the proof says:\n%s", want, tail(out))
				}
			}
		})
	}
}

// overlay writes a file for go build -overlay that makes the changes.
func overlay(t *testing.T, changes []change) string {
	t.Helper()
	dir := t.TempDir()
	replace := map[string]string{}
	for i, c := range changes {
		path := filepath.Join(repo(t), c.file)
		text := []byte(c.new)
		if c.old != "" {
			from := path
			if replace[path] != "" {
				from = replace[path]
			}
			old, err := os.ReadFile(from)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(old), c.old) {
				t.Fatalf("%s does not contain %q: bring the mutant up to date", c.file, c.old)
			}
			text = []byte(strings.ReplaceAll(string(old), c.old, c.new))
		}
		replace[path] = filepath.Join(dir, strings.Repeat("x", i+1)+filepath.Base(c.file))
		if err := os.WriteFile(replace[path], text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}
