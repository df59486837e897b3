// Package csrc is the C side of evertick behind a thin Go face: one Go function
// per kernel, nothing else. It checks nothing; package native checks the
// arguments, chooses the level and holds the pure-Go kernels that say the same
// bits. Users call native, or the packages above it.
//
// The C files stand flat beside the Go file because only the files of a
// package's own folder are hashed by the build cache and copied by
// go mod vendor. Instruction sets are chosen per function, by attribute: a
// -march flag would reach the wrapper that cgo generates and break older CPUs
// before any choice is made.
//
// # The ladder
//
// Each kernel is written once, in a file named x_tmpl.h, in the vocabulary of
// lanes.h, and instantiated once per level by levels.h: c (one lane, any CPU), avx2
// (8 lanes), avx512 (16 lanes), neon (4 lanes). A lane does the same IEEE 754
// operations in the same order at every width, and no operation crosses lanes,
// so width cannot change a bit.
//
// Without cgo this package is empty.
package csrc
