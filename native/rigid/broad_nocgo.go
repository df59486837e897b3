//go:build !cgo

package rigid

import "github.com/evertick/evertick/native"

const withoutCgo = "rigid: built without cgo"

func boundsC(native.Level, []Shape, []uint32, *Poses, float32, *Boxes) int { panic(withoutCgo) }

func measureC(native.Level, *Boxes, []uint64, []uint32, *summary) { panic(withoutCgo) }

func keysC(*plan, []layer, []uint64) { panic(withoutCgo) }

func sortKeysC(_, _ []uint64, _ uint) ([]uint64, []uint64) { panic(withoutCgo) }

func placeC(*Boxes, *plan, *sorted) { panic(withoutCgo) }

func sweepC(native.Level, *sorted, *layer, uint32, *found) uint32 { panic(withoutCgo) }

func spanC(_ native.Level, _, _ *sorted, _, _ *layer, _ uint32, _ *found) uint32 { panic(withoutCgo) }

func crossC(_ native.Level, _, _ *sorted, _, _ *layer, _ uint32, _ *found) uint32 { panic(withoutCgo) }

func scatterC(*found, []uint32, *Pairs) uint32 { panic(withoutCgo) }

func crowdRowC(native.Level, *crowd, int, *rule, []uint32) int { panic(withoutCgo) }
