// Package face is what Go sees of csrc/broad, as csrc/face is of csrc: one function per C function, which checks
// nothing. It is not for import by programs: package internal/broad uses it.
//
// Without cgo this package is empty.
package face
