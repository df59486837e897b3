//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly || windows)

package profile

import "os"

// terminal finds no terminals on this system.
func terminal(*os.File) (columns int, color bool) { return 0, false }
