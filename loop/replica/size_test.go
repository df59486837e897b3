package replica

import (
	"os"
	"testing"
)

// casesOf returns one of three sizes of a test: short with -short, all if EVERTICK_LONG is set, and normal otherwise, which takes
// at most two seconds.
func casesOf(short, normal, all int) int {
	switch {
	case testing.Short():
		return short
	case full():
		return all
	}
	return normal
}

func full() bool { return os.Getenv("EVERTICK_LONG") != "" }
