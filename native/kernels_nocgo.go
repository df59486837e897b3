//go:build !cgo

package native

func compiled(l Level) bool { return l == Go }

func compiler() string { return "" }

func radiusC(Level, *Grid, *Points, *Queries, *Rows) int { panic("native: built without cgo") }

func liveC(Level, *Points, []uint64, []uint16) { panic("native: built without cgo") }

func keepLiveC([]uint64, int, []uint32, []uint32, []float32) { panic("native: built without cgo") }
