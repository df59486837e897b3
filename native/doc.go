// Package native runs the hot loops of evertick: it chooses the level, checks
// the arguments, and holds the pure-Go kernels that are the specification of
// the C ones.
//
// # Levels
//
// A Level is a way to compute the same bits: go, c, avx2, avx512, neon. Levels
// lists what this host and build can run, Info says which one runs and why,
// and Auto stands for the best. The environment variable EVERTICK_LEVEL
// overrides Auto; a name that is unknown or cannot run here is an error that
// lists the levels. Without cgo (no C compiler, or CGO_ENABLED=0) only go is
// left, with the same results.
//
// Before a C level is offered it must pass a self-check: its kernel is run over
// values that betray fused multiply-add and flushed denormals.
//
// Each function asks for its level and calls the kernel in Go or in C by name. A
// table of functions for each level would be shorter, but arguments of an indirect call
// escape: every query that a caller keeps on its stack would cost an allocation.
//
// # Contract of a kernel
//
// The doc comment of a kernel is the loop that it computes. A kernel reads and
// writes nothing outside its slices, allocates nothing and keeps nothing. It
// panics with a constant message on misuse, such as slices of unequal length.
// Kernels may run concurrently on slices that do not overlap.
//
// # Operations on columns
//
// Ops runs one operation over the rows of columns that a bitmap names, such as those
// in use, with as many workers as its Pool has:
//
//	o := native.Ops{Pool: pool, Live: used}
//	err := o.Move(&native.Motion{Pos: pos, Vel: vel, Acc: acc, Rot: rot, Ang: ang}, 1./60)
//
// # Lanes
//
// State goes to clients as whole numbers. A lane of b bits, 1 <= b <= 32, is a column of numbers of b bits in two's
// complement, each sign-extended to an int32. Quantise, QuantiseAngle, QuantisePlanar and QuantiseQuat turn columns into
// lanes; Delta computes how lanes differ from those that a client has, as records of few bits; Merge compares the slots
// that a client knows with those that it is to see; Gather makes a bit stream of the records of the slots that stay.
//
// # Parity
//
// Every kernel on every level is tested against its Go twin, bit by bit; run
//
//	go test -run Parity -v ./native/... ./spatial/... ./physics/...
//
// on the machine that matters to you.
package native
