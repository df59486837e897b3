//go:build !cgo

package rigid

import "github.com/evertick/evertick/native"

const withoutCgo = "rigid: built without cgo"

func boundsC(native.Level, []Shape, []uint32, *Poses, float32, *Boxes) int { panic(withoutCgo) }

func measureC(native.Level, *Boxes, []uint64, int, int, []uint32, *summary) { panic(withoutCgo) }

func keysC(*plan, []uint32, []layer, []uint64) { panic(withoutCgo) }

func sortKeysC(_, _ []uint64, _ uint) ([]uint64, []uint64) { panic(withoutCgo) }

func placeC(_ *Boxes, _ *plan, _ *sorted, _, _, _ int, _ []layer) int { panic(withoutCgo) }

func sweepC(_ native.Level, _ *sorted, _, _ *layer, _ uint32, _ *found) uint32 { panic(withoutCgo) }

func spanC(_ native.Level, _, _ *sorted, _, _ *layer, _ uint32, _ *found) uint32 { panic(withoutCgo) }

func crossC(_ native.Level, _, _ *sorted, _, _ *layer, _ uint32, _ *found) uint32 { panic(withoutCgo) }

func scatterC(*found, uint32, []uint32, *Pairs) uint32 { panic(withoutCgo) }

func crowdRowC(native.Level, *crowd, int, *rule, bounds, []uint32) int { panic(withoutCgo) }

func countKeysC([]uint64, uint, *[maxParts]uint32) { panic(withoutCgo) }

func spreadC([]uint64, uint, *[maxParts]uint32, []uint64) { panic(withoutCgo) }

func countRowsC([]uint64, uint) int { panic(withoutCgo) }

func countPairsC(*found, uint) { panic(withoutCgo) }

func divideC(*found, uint, *found) { panic(withoutCgo) }
