package native

// Every level computes these in Go.

func quantiseC(_ Level, dst []int32, src []float32, scale float32, limit int32) {
	quantiseGo(dst, src, scale, limit)
}

func quantiseAngleC(_ Level, dst []int32, src []float32, bits int) { quantiseAngleGo(dst, src, bits) }

func quantisePlanarC(_ Level, dst []int32, sin, cos []float32, bits int) {
	quantisePlanarGo(dst, sin, cos, bits)
}

func quantiseQuatC(_ Level, dst QuatLanes, src Quat, scale float32, limit int32) {
	quantiseQuatGo(dst, src, scale, limit)
}

func deltaC(_ Level, arena []int32, stride, now, base, previous int, shape *DeltaLanes, records []uint32, changed, wide []uint64) {
	deltaGo(arena, stride, now, base, previous, shape, records, changed, wide)
}

func mergeC(_ Level, known, view []uint32, gone []uint64, m *Merged) { mergeGo(known, view, gone, m) }

func gatherRecordsC(_ Level, stays []uint32, plain, predicted Source, width uint, out *Gathered) {
	gatherRecordsGo(stays, plain, predicted, width, out)
}
