// Package broad is not for import: it holds the C code of package internal/broad, as package csrc/rigid does that of
// internal/rigid, and csrc/broad/face gives it to Go. It is a package of its own so that users of bodies in the plane, and of
// those in space, compile and link it without the kernels of the others.
//
// Without cgo this package is empty.
package broad
