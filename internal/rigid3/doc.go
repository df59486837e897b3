// Package rigid3 has the stages of a step of rigid bodies in space, and queries of them, as functions over plain slices. Its words are
// those of package rigid, which does the same in the plane. A step computes in float32, masses and queries in float64. Each product that feeds a
// sum is rounded by itself, so that results are the same on every machine. The stages have kernels in csrc/space; queries are plain Go.
package rigid3
