//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package paritytest

import "testing"

// GuardPages reports whether buffers lie between pages that cannot be touched.
const GuardPages = false

// reserve returns at least size bytes.
func reserve(_ testing.TB, size int) ([]byte, error) {
	return asBytes(make([]uint64, (size+7)/8)), nil
}
