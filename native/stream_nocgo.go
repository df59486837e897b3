//go:build !cgo

package native

func streamC(Level, *Sieve, *Columns, int, int, *Hits) (int, Stop) {
	panic("native: built without cgo")
}

func sweepC(Level, *Sieve, *Columns, *Position, int, *Hits) bool { panic("native: built without cgo") }
