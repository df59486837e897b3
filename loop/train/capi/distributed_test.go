package main

import (
	"os/exec"
	"testing"
)

// Worlds on several processes: by mpirun with a Python that has NumPy and mpi4py, otherwise by contexts and communicators of the tests.
func TestPythonDistributed(t *testing.T) {
	library := built(t)
	python := ""
	for _, needs := range []string{"import numpy, mpi4py", "import numpy"} {
		for _, name := range []string{"python3", "/usr/bin/python3"} {
			if python == "" && exec.Command(name, "-c", needs).Run() == nil {
				python = name
			}
		}
	}
	if python == "" {
		t.Skip("not run: worlds on several processes, in Python: there is no python3 with numpy")
	}
	env := []string{"EVERTICK_TRAIN_LIBRARY=" + library, "PYTHONDONTWRITEBYTECODE=1"}
	t.Log(command(t, "../python", env, python, "-m", "unittest", "-v", "test_distributed"))
}
