// Package csrc is the C side of evertick behind a thin Go face: one Go function
// per kernel, nothing else. It checks nothing; package native checks the
// arguments, chooses the level and holds the pure-Go kernels that say the same
// bits. Users call native, or the packages above it.
//
// The C files stand beside the Go files because the build cache hashes, and go mod
// vendor copies, only the files of a package's own folder. Package csrc/rigid has the
// kernels of package internal/rigid; csrc.go says how it shares headers with this one.
// Instruction sets are chosen per function, by attribute: a -march flag would reach
// the wrapper that cgo generates and break older CPUs before any choice is made.
//
// # The ladder
//
// Each kernel is written once, in a file named x_tmpl.h, in the vocabulary of
// lanes.h. One C file per level includes all of them: level_c.c (one lane, any CPU),
// level_avx2.c (8 lanes), level_avx512.c (16 lanes) and level_neon.c (4 lanes). A
// kernel x is thus compiled as et_x_c, et_x_avx2 and so on, and level_c.c also has
// et_x, which calls one of them by the level that Go asks for. A lane does the same
// IEEE 754 operations in the same order at every width, and no operation crosses
// lanes, so width cannot change a bit.
//
// Without cgo this package is empty.
package csrc
