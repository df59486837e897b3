package replica

import "os"

// casesOf returns the size of a test: all if EVERTICK_LONG is set, and otherwise quick, which takes at most two seconds.
func casesOf(quick, all int) int {
	if full() {
		return all
	}
	return quick
}

// full reports whether tests have all of their cases, and not a sample.
func full() bool { return os.Getenv("EVERTICK_LONG") != "" }
