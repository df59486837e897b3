// Package face is what Go sees of csrc: one function per C function, which checks nothing. It is not for import by
// programs: package native checks the arguments, chooses the level and holds the same kernels in Go.
//
// Its C functions are in package csrc and are found when a program is linked.
//
// Without cgo this package is empty.
package face
