//go:build !cgo || purego || 386 || arm || mips || mipsle

package native_test

const builtWithCgo = false
