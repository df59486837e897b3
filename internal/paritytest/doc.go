// Package paritytest is the harness behind the parity tests of evertick: it
// compares a kernel with its plain-Go twin bit by bit, over inputs and buffers
// chosen to make a kernel fail if it can.
//
// # Model
//
// A Run draws inputs from a seed and counts cases per level. A Buffer places a
// slice so that it ends, or begins, at a page that may not be touched, with
// poison around it where there is no page. Bits and Floats compare, and name
// the first difference in hex. Scenes are point sets that are hard on a
// neighbour search.
//
//	run := paritytest.Start(t, "Scale")
//	buf := paritytest.NewBuffer[float32](t, 64)
//	for n := range 49 {
//		for _, level := range native.Levels() {
//			run.Case(level)
//			got := buf.Place(n, paritytest.After, 0)
//			run.Fill(got, paritytest.AllClasses...)
//			want := slices.Clone(got)
//			…
//			run.Check(paritytest.Floats("pos", got, want), buf.Check())
//		}
//	}
//
// # The seed
//
// Each process draws a fresh seed, unless the environment variable EVERTICK_SEED sets one. The seed is printed when
// it is drawn, because a kernel that reaches a guard page kills the process before any other output. It is printed
// again with every failure, together with the command that repeats it.
package paritytest
