//go:build !cgo || purego || !(amd64 || arm64)

package paritytest

// FlushDenormals reports false: it cannot change what the thread does with denormals.
func FlushDenormals(bool) bool { return false }
