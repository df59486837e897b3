//go:build cgo

package native

import "github.com/evertick/evertick/csrc"

func boundsC(l Level, x, y, z []float32, live []uint64, part *finding) {
	csrc.Bounds(cLevels[l], x, y, z, live, &part.least, &part.largest)
}

func sumC(l Level, x []float32, live []uint64) float64 { return csrc.Sum(cLevels[l], x, live) }

func firstNotFiniteC(l Level, x []float32, live []uint64) int {
	return csrc.FirstNotFinite(cLevels[l], x, live)
}

func firstBeyondC(l Level, index []uint32, limit int, live []uint64) int {
	return csrc.FirstBeyond(cLevels[l], index, limit, live)
}

// copyKernel leaves rows that lie together to Go.
func copyKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	if live == nil {
		copyRows(o, lo, hi)
	} else {
		csrc.Copy(cLevels[l], o.columns[0][lo:hi], o.columns[1][lo:hi], live)
	}
}

func fillKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	csrc.Fill(cLevels[l], o.columns[0][lo:hi], o.scalars[0], live)
}

// gatherKernel leaves a column that is too long to Go.
func gatherKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	if src := o.columns[1]; int64(len(src)) <= maxFetch {
		csrc.Gather(cLevels[l], o.columns[0][lo:hi], src, o.index[lo:hi], live)
		return
	}
	for from, to := named(live, 0, hi-lo); from < to; from, to = named(live, to, hi-lo) {
		gatherRows(o, lo+from, lo+to)
	}
}

func composeByColumnKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	composeKernel(o, l, false, live, lo, hi)
}

func composeByRowKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	composeKernel(o, l, true, live, lo, hi)
}

func composeKernel(o *Ops, l Level, byRow bool, live []uint64, lo, hi int) {
	c := [10][]float32(o.columns[:10])
	cut(c[:], lo, hi)
	csrc.Compose(cLevels[l], o.columns[10][16*lo:16*hi], byRow, &c, live)
}
