//go:build !cgo || purego || 386 || arm || mips || mipsle

package celllist

const hasC = false

func (l *List) sortC(_, _, _ []float32)           { panic("celllist: built without cgo") }
func (l *List) findC([]Point, float32, *Rows) int { panic("celllist: built without cgo") }
