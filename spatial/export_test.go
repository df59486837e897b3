package spatial

import "github.com/evertick/evertick/native"

// GridOf returns the geometry of the last Build.
func GridOf(ix *Index) native.Grid { return ix.grid }

// AlwaysParallel makes the index use its workers for batches of any size, so that
// tests need no large ones.
func AlwaysParallel(ix *Index) { ix.parallelFrom = 2 }
