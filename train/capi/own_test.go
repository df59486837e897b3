//go:build cgo

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A library with worlds of its own: used by a program in C11 and in C++17, by ctypes alone, and by cffi.
func TestOwn(t *testing.T) {
	library := built(t, "./testdata/own")
	folder := filepath.Dir(library)
	for _, c := range []struct {
		compiler string
		flags    []string
	}{{"gcc", []string{"-std=c11", "-x", "c"}}, {"g++", []string{"-std=c++17", "-x", "c++"}}} {
		t.Run(c.compiler, func(t *testing.T) {
			compiler, err := exec.LookPath(c.compiler)
			if err != nil {
				t.Skipf("not run: a program with the library: %s is not installed", c.compiler)
			}
			program := filepath.Join(t.TempDir(), "program")
			command(t, ".", nil, compiler, append(c.flags, "-Wall", "-Wextra", "-pedantic", "-Werror", "-pthread", "-o", program, "testdata/own.c",
				"-x", "none", "-L"+folder, "-levertick_train", "-Wl,-rpath,"+folder)...)
			t.Log(command(t, folder, nil, program))
		})
	}
	t.Run("ctypes", func(t *testing.T) {
		python := pythonWith(t, "ctypes")
		t.Log(command(t, ".", nil, python, "-B", "testdata/own.py", library))
	})
	t.Run("cffi", func(t *testing.T) {
		python := pythonWith(t, "cffi, pycparser")
		gcc, err := exec.LookPath("gcc")
		if err != nil {
			t.Skip("not run: the header in cffi: gcc, the preprocessor, is not installed")
		}
		// cffi knows the types of stdint.h, and not what the file of a C library says.
		empty := t.TempDir()
		if err := os.WriteFile(filepath.Join(empty, "stdint.h"), nil, 0o666); err != nil {
			t.Fatal(err)
		}
		plain := filepath.Join(empty, "plain.h")
		command(t, ".", nil, gcc, "-E", "-P", "-nostdinc", "-I"+empty, "-o", plain, "../clib/evertick_train.h")
		command(t, ".", nil, python, "-B", "testdata/own_cffi.py", library, plain)
	})
}

// pythonWith returns a Python that has the first of these lists of modules of which there is one.
func pythonWith(t *testing.T, lists ...string) string {
	t.Helper()
	for _, modules := range lists {
		for _, name := range []string{"python3", "/usr/bin/python3"} {
			if exec.Command(name, "-c", "import "+modules).Run() == nil {
				return name
			}
		}
	}
	t.Skipf("not run: there is no python3 with %s", lists[len(lists)-1])
	return ""
}
