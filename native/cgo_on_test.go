//go:build cgo

package native_test

const builtWithCgo = true
