package spatial

import "github.com/evertick/evertick/native"

// GridOf returns the geometry of the last Build.
func GridOf(ix *Index) native.Grid { return ix.grid }
