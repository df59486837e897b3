//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package worldlog

import "os"

// Nothing waits when it is opened here.
const openNonblock = 0

// Names cannot be synced here; the file system keeps them in order by itself,
// or does not.
func syncDir(string) error { return nil }

// There is no lock that ends with the process in the standard library.
func lockFile(*os.File) error { return nil }
