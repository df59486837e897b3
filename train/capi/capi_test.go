//go:build cgo

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/train/worlds"
)

// build builds the library of a package. With -short it has no kernels in C, for which gcc takes a minute: it compiles them
// once more for libraries.
func build(t *testing.T, path, of string) {
	t.Helper()
	args := []string{"build", "-buildmode=c-shared", "-o", path}
	if testing.Short() {
		args = append(args, "-tags=purego")
	}
	command(t, ".", nil, "go", append(args, of)...)
}

// built builds the library of a package into a folder of its own.
func built(t *testing.T, of string) string {
	t.Helper()
	if os.Getenv("EVERTICK_CAPI") == "" {
		t.Skip("needs EVERTICK_CAPI=1, as make python sets it")
	}
	path := filepath.Join(t.TempDir(), "libevertick_train.so")
	build(t, path, of)
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
	library := built(t, ".")
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("not run: a C program with the library: gcc is not installed")
	}
	folder := filepath.Dir(library)
	program, log := filepath.Join(folder, "program"), filepath.Join(folder, "log")
	command(t, ".", nil, gcc, "-std=c11", "-Wall", "-Wextra", "-Werror", "-o", program, "../clib/testdata/test.c",
		"-L"+folder, "-levertick_train", "-Wl,-rpath,"+folder, "-lm")
	t.Log(command(t, folder, nil, program, log))
	for _, left := range []string{"400", "700"} { // MB
		// Each arena of glibc takes 64 MB of address space, and threads get theirs at times that nobody chooses.
		t.Log(command(t, folder, []string{"MALLOC_ARENA_MAX=1"}, program, "memory", left))
	}
	for _, sc := range worlds.Scenarios(evertick.Config{}) {
		if sc.Name != "train/pushbox" {
			continue
		}
		if rep, err := replay.Verify(log, sc, replay.VerifyOptions{}); err != nil || rep.Ticks != 21 {
			t.Errorf("the exported log: %+v, %v", rep, err)
		}
	}
	if gxx, err := exec.LookPath("g++"); err == nil {
		command(t, ".", nil, gxx, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++", "../clib/evertick_train.h")
	}
}

// The Python package and the example that learns, with a Python that has NumPy; the package also without Gymnasium.
func TestPython(t *testing.T) {
	library := built(t, ".")
	python := pythonWith(t, "numpy, mpi4py", "numpy")
	own := filepath.Join(filepath.Dir(library), "libown.so")
	build(t, own, "../python/testdata/worlds")
	env := []string{"EVERTICK_TRAIN_LIBRARY=" + library, "EVERTICK_OWN_LIBRARY=" + own, "PYTHONDONTWRITEBYTECODE=1"}
	t.Log(command(t, "../python", env, python, "-m", "unittest", "-v"))
	const without = "import sys, unittest; sys.modules['gymnasium'] = None; unittest.main(module=None)"
	t.Log(command(t, "../python", env, python, "-c", without, "-v", "test_evertick", "test_own"))
	path := "PYTHONPATH=../../train/python" + string(filepath.ListSeparator) + os.Getenv("PYTHONPATH")
	t.Log(command(t, "../../examples/learn", append(env, path), python, "-m", "unittest", "-v", "test_learn"))
}
