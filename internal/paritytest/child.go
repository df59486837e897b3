package paritytest

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// Child runs one test of this test binary in a process of its own, with additional environment variables, and returns
// its output and how it ended. It is for tests that need a process to crash, or to start with another environment.
// Where the binary cannot be started, as under an emulator, it skips the calling test.
func Child(tb testing.TB, test string, env ...string) (string, error) {
	tb.Helper()
	if runtime.GOOS == "js" || runtime.GOOS == "wasip1" {
		tb.Skip("no child processes on this system")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+test+"$", "-test.v", "-test.count=1")
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		if strings.Contains(err.Error(), "exec format error") {
			tb.Skipf("cannot start a child process: %v", err)
		}
		tb.Fatal(err)
	}
	return string(out), err
}
