//go:build !cgo || purego || 386 || arm || mips || mipsle

package rigid

// cKernels is never read: native.Resolve refuses the levels of C.
var cKernels [1]kernels
