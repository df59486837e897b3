package native

import "unsafe"

// PackedLen is the number of float32 that a Packed takes up.
const PackedLen = int(unsafe.Sizeof(Packed{}) / 4)

// PackLen is the number of points that a Packed holds.
const PackLen = packLen

// PackedIn returns the Packed that lies in mem, PackedLen elements.
func PackedIn(mem []float32) *Packed { return (*Packed)(unsafe.Pointer(&mem[:PackedLen][0])) }
