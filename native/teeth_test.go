package native_test

import (
	"os"
	"strings"
	"testing"
	"unsafe"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

// envLevelTooFar names the level on which a child reads one element too many.
const envLevelTooFar = "EVERTICK_TEST_TOO_FAR"

// A kernel that is given one element more than there is must die at the guard page,
// in C as in Go: otherwise the parity tests prove nothing about over-reads.
func TestGuardPagesCatchKernels(t *testing.T) {
	if !paritytest.GuardPages {
		t.Skip("no guard pages on this system")
	}
	if name := os.Getenv(envLevelTooFar); name != "" {
		level, err := native.ParseLevel(name)
		if err != nil {
			t.Fatal(err)
		}
		const n = 40
		vel := paritytest.NewBuffer[float32](t, n).Place(n, paritytest.After, 0)
		tooLong := unsafe.Slice(&vel[0], n+1)
		native.IntegrateKernel(level, make([]float32, n+1), tooLong, 1)
		return
	}
	for _, level := range native.Levels() {
		out, err := paritytest.Child(t, "TestGuardPagesCatchKernels", envLevelTooFar+"="+level.String())
		if err == nil || !strings.Contains(out, "fault") && !strings.Contains(out, "SEGV") {
			t.Errorf("level %s survives a read past the end: %v\n%s", level, err, out)
		}
	}
}
