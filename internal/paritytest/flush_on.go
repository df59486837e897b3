//go:build cgo && !purego && (amd64 || arm64)

package paritytest

import "github.com/evertick/evertick/csrc/face"

// FlushDenormals turns flushing of denormals to zero on or off in the calling thread. It reports false where it cannot.
func FlushDenormals(on bool) bool {
	face.FlushDenormals(on)
	return true
}
