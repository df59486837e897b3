package inspect_test

import (
	"context"
	"errors"
	"os"
	"runtime"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/inspect"
)

// long runs every case of the tests that otherwise take a sample.
var long = os.Getenv("EVERTICK_LONG") != ""

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// serve starts a server for a Sim.
func serve(t testing.TB, sim *evertick.Sim, c inspect.Config) *inspect.Server {
	t.Helper()
	c.Logf = func(string, ...any) {}
	srv, err := inspect.Serve(t.Context(), sim, "127.0.0.1:0", c)
	check(t, err)
	t.Cleanup(func() { check(t, srv.Close()) })
	return srv
}

// run runs a Sim in real time until the test ends.
func run(t *testing.T, sim *evertick.Sim) {
	stop := runUntil(sim)
	t.Cleanup(func() {
		if err := stop(); !errors.Is(err, context.Canceled) {
			t.Errorf("the Sim ends: %v", err)
		}
	})
}

// runUntil runs a Sim in real time until the function that it returns is called, which returns the error of Run.
func runUntil(sim *evertick.Sim) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- sim.Run(ctx) }()
	return func() error {
		cancel()
		return <-ended
	}
}

func heapBytes() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
