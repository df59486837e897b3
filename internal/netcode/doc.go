// Package netcode has the kernels of replication: Quantise and the functions named after it turn columns into lanes of whole numbers, Delta makes a record
// of the difference of two states for each row, Merge compares what a client knows with what it is to see, and Gather packs the
// records that it gets. Levels are those of package native, and all compute the same bits.
package netcode

import "github.com/evertick/evertick/native"

// must returns the level that runs here. It panics on one that native.Resolve refuses, since kernels return no error.
func must(l native.Level) native.Level {
	l, err := native.Resolve(l)
	if err != nil {
		panic("netcode: the level cannot run here; see native.Resolve")
	}
	return l
}
