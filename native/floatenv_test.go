package native_test

import (
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

func TestFloatEnvIsSound(t *testing.T) {
	if err := native.CheckFloatEnv(); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { _ = native.CheckFloatEnv() }); n != 0 && !paritytest.Instrumented {
		t.Errorf("CheckFloatEnv: %g allocations", n)
	}
}
