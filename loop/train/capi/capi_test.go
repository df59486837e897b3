//go:build cgo

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/loop/replay"
	"github.com/evertick/evertick/loop/train/worlds"
)

// A handle names one batch only: its slot is used again with another handle.
func TestHandles(t *testing.T) {
	a, b := new(batch), new(batch)
	first := add(a)
	if find(first) != a {
		t.Fatal("a handle does not find its batch")
	}
	if drop(first) != a || find(first) != nil || drop(first) != nil {
		t.Error("a handle that was dropped finds something")
	}
	second := add(b)
	if uint32(second) != uint32(first) || second == first || find(second) != b || find(first) != nil {
		t.Errorf("handles %#x and then %#x", first, second)
	}
	for _, h := range []uint64{0, 1, second + 1, second | 1<<63, 1 << 32, ^uint64(0)} {
		if find(h) != nil {
			t.Errorf("%#x finds a batch", h)
		}
	}
	handles.slots[uint32(second)-1].generation = ^uint32(0)
	last := uint64(^uint32(0))<<32 | uint64(uint32(second))
	if drop(last) != b {
		t.Fatal("the last handle of a slot finds nothing")
	}
	if third := add(a); uint32(third) == uint32(second) {
		t.Error("a slot is used again whose handles are used up")
	} else {
		drop(third)
	}
}

// The header declares the exported functions, and only those. That the signatures agree is checked by
// the C compiler in every build: exports.c includes the header.
func TestHeader(t *testing.T) {
	header, err := os.ReadFile("evertick_train.h")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	exports, err := os.ReadFile("exports.c")
	if err != nil {
		t.Fatal(err)
	}
	names := func(pattern string, text []byte) (found []string) {
		for _, m := range regexp.MustCompile(pattern).FindAllSubmatch(text, -1) {
			found = append(found, string(m[1]))
		}
		slices.Sort(found)
		return found
	}
	declared, exported := names(`(?m)^int32_t evertick_train_(\w+)\(`, header), names(`(?m)^//export evertick_train_go_(\w+)$`, source)
	guarded := append(names(`(?m)^FORWARD\((\w+),`, exports), names(`(?m)^EXPORT int32_t evertick_train_(\w+)\(`, exports)...)
	slices.Sort(guarded)
	if len(declared) == 0 || !slices.Equal(declared, exported) || !slices.Equal(declared, guarded) {
		t.Errorf("declared %q, exported %q, guarded %q", declared, exported, guarded)
	}
	for i, line := range bytes.Split(header, []byte("\n")) {
		if k := bytes.IndexFunc(line, func(r rune) bool { return r != '\t' && (r < ' ' || r > '~') }); k >= 0 {
			t.Errorf("evertick_train.h:%d: byte %#x", i+1, line[k])
		}
	}
}

// built builds the library into a folder of its own. It takes a minute with an empty build cache.
func built(t *testing.T) string {
	t.Helper()
	if os.Getenv("EVERTICK_CAPI") == "" {
		t.Skip("needs EVERTICK_CAPI=1, as make python sets it")
	}
	path := filepath.Join(t.TempDir(), "libevertick_train.so")
	command(t, ".", nil, "go", "build", "-buildmode=c-shared", "-o", path, ".")
	return path
}

func command(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return string(out)
}

// A C program uses every function, correctly and wrongly; and its exported episode verifies.
func TestC(t *testing.T) {
	library := built(t)
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("not run: a C program with the library: gcc is not installed")
	}
	folder := filepath.Dir(library)
	program, log := filepath.Join(folder, "program"), filepath.Join(folder, "log")
	command(t, ".", nil, gcc, "-std=c11", "-Wall", "-Wextra", "-Werror", "-o", program, "testdata/test.c",
		"-L"+folder, "-levertick_train", "-Wl,-rpath,"+folder, "-lm")
	t.Log(command(t, folder, nil, program, log))
	for _, sc := range worlds.Scenarios(evertick.Config{}) {
		if sc.Name != "train/pushbox" {
			continue
		}
		if rep, err := replay.Verify(log, sc, replay.VerifyOptions{}); err != nil || rep.Ticks != 21 {
			t.Errorf("the exported log: %+v, %v", rep, err)
		}
	}
	if gxx, err := exec.LookPath("g++"); err == nil {
		command(t, ".", nil, gxx, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++", "evertick_train.h")
	}
}

// The Python package, with a Python that has NumPy, and also without Gymnasium.
func TestPython(t *testing.T) {
	library := built(t)
	python := ""
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(name, "-c", "import numpy").Run() == nil {
			python = name
			break
		}
	}
	if python == "" {
		t.Skip("not run: the Python package: there is no python3 with numpy")
	}
	env := []string{"EVERTICK_TRAIN_LIBRARY=" + library, "PYTHONDONTWRITEBYTECODE=1"}
	t.Log(command(t, "../python", env, python, "-m", "unittest", "-v"))
	const without = "import sys, unittest; sys.modules['gymnasium'] = None; unittest.main(module='test_evertick')"
	t.Log(command(t, "../python", env, python, "-c", without, "-v"))
}
