// Package csrc is not for import: it holds the C code of evertick, whose kernels package csrc/face gives to Go, one
// function per kernel, and nothing else. Those check nothing; package native checks the arguments, chooses the level
// and holds the pure-Go kernels that say the same bits. Users call native, or the packages above it.
//
// The C files stand in a folder with a Go file because the build cache hashes, and go mod vendor copies, only the files
// of packages' own folders. Packages csrc/neighbours, csrc/broad, csrc/rigid and csrc/space have the
// kernels of internal/neighbours, internal/broad, internal/rigid and internal/rigid3; csrc.go says how they and the faces
// share headers with this one. Instruction sets are chosen per function, by attribute: a -march flag would reach the
// wrapper that cgo generates and break older CPUs before any choice is made.
//
// # Two packages for one face
//
// Debug information takes gcc as long as the code itself. Only -g0 turns all of it off, but cgo reads there what type a
// C function has. So the packages with the C code use no C type from Go and have -g0, and the faces, which have no C
// code, do not. The C functions that a face calls are undefined in its own package: cgo tries to link that alone, only to
// learn what an internal link would need, and permits the failure. The program has both packages, as the face imports
// the other. With -asan the C code keeps its line numbers, which reports print.
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
