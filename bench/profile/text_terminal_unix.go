//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package profile

import (
	"os"

	"golang.org/x/sys/unix"
)

// terminal returns the width of a terminal, 0 if it does not report one, and whether it has
// colours. A file that is not a terminal has neither.
func terminal(file *os.File) (columns int, color bool) {
	size, err := unix.IoctlGetWinsize(int(file.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, false
	}
	return int(size.Col), true
}
