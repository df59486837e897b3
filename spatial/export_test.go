package spatial

import "github.com/evertick/evertick/native"

// GridOf returns the geometry of the last Build.
func GridOf(ix *Index) native.Grid { return ix.grid }

// AlwaysParallel makes the index use its workers for batches of any size, so that
// tests need no large ones.
func AlwaysParallel(ix *Index) { ix.parallelFrom = 2 }

// BytesOf returns the memory that the arrays of an index take.
func BytesOf(ix *Index) int {
	return 4*cap(ix.points.Start) + 256*cap(ix.points.Blocks) + 4*cap(ix.cellOf) + 4*cap(ix.category)
}

// CountSooner makes answers into out and hits count their results before more than
// n are kept.
func CountSooner(out *Result, hits *RayHits, n int) {
	scratchOf(&out.scratch).rows.sooner = countFrom - n
	scratchOf(&hits.scratch).rows.sooner = countFrom - n
}
