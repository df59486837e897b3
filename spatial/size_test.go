package spatial_test

import (
	"os"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
)

// long reports whether tests have their full sizes. Otherwise a test takes at most two seconds of CPU.
var long = os.Getenv("EVERTICK_LONG") != ""

// rounds returns the rounds of a test, as paritytest.Rounds, or a few of them.
func rounds(few, full int) int {
	if long {
		return paritytest.Rounds(full)
	}
	return min(few, paritytest.Rounds(full))
}

// some returns all choices in long tests, and otherwise one at random.
func some[T any](run *paritytest.Run, choices ...T) []T {
	if long && !testing.Short() && !paritytest.Instrumented {
		return choices
	}
	i := run.IntN(len(choices))
	return choices[i : i+1]
}
