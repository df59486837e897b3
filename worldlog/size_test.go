package worldlog

import (
	"flag"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// sample is rapid.Check with a quarter of the checks that are asked for, unless EVERTICK_LONG is set. It is not for
// parallel tests.
func sample(t *testing.T, check func(*rapid.T)) {
	t.Helper()
	checks := flag.Lookup("rapid.checks").Value
	before := checks.String()
	defer func() { _ = checks.Set(before) }()
	if n, err := strconv.Atoi(before); err == nil && !long {
		_ = checks.Set(strconv.Itoa((n + 3) / 4))
	}
	rapid.Check(t, check)
}
