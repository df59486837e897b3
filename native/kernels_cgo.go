//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

package native

import (
	"runtime"

	"github.com/evertick/evertick/csrc/face"
)

// C sees this constant as its own.
var _ [face.NotEqual]byte = [NotEqual]byte{}

var cLevels = [len(levelNames)]int32{C: face.C, AVX2: face.AVX2, AVX512: face.AVX512, NEON: face.NEON}

func compiled(l Level) bool {
	switch l {
	case AVX2, AVX512:
		return runtime.GOARCH == "amd64"
	case NEON:
		return runtime.GOARCH == "arm64"
	}
	return true
}

func compiler() string { return face.Compiler() }

func hasNaNC(l Level, x []float32) bool { return face.NaN32(cLevels[l], x) }

func hasNaN64C(l Level, x []float64) bool { return face.NaN64(cLevels[l], x) }

func boundsC(l Level, x, y, z []float32, live []uint64, part *finding) {
	face.Bounds(cLevels[l], face.Vec3{X: x, Y: y, Z: z}, live, &part.least, &part.largest)
}

func sumC(l Level, x []float32, live []uint64) float64 { return face.Sum(cLevels[l], x, live) }

func firstNotFiniteC(l Level, x []float32, live []uint64) int {
	return face.FirstNotFinite(cLevels[l], x, live)
}

func firstBeyondC(l Level, index []uint32, limit int, live []uint64) int {
	return face.FirstBeyond(cLevels[l], index, limit, live)
}

func integrateC(l Level, pos, vel []float32, dt float32, live []uint64) {
	face.Integrate(cLevels[l], pos, vel, dt, live)
}

func scaleKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	face.Scale(cLevels[l], o.columns[0][lo:hi], o.scalars[0], live)
}

func affineKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	face.Affine(cLevels[l], o.columns[0][lo:hi], o.columns[1][lo:hi], o.scalars[0], o.scalars[1], live)
}

func selectKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	face.Select(cLevels[l], o.columns[0][lo:hi], o.bitmapFrom(lo), o.columns[1][lo:hi], o.columns[2][lo:hi], live)
}

func compareC(l Level, to []uint64, x, y []float32, limit float32, is Comparison, live []uint64) {
	face.Compare(cLevels[l], to, x, uint8(is), y, limit, live)
}

func dampKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	face.Damp(cLevels[l], o.columns[0][lo:hi], o.columns[1][lo:hi], o.scalars[0], live)
}

func clampKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	face.Clamp(cLevels[l], o.columns[0][lo:hi], o.scalars[0], o.scalars[1], live)
}

func wrapKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	face.Wrap(cLevels[l], o.columns[0][lo:hi], o.scalars[0], o.scalars[1], live)
}

func lerpKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	face.Lerp(cLevels[l], o.columns[0][lo:hi], o.columns[1][lo:hi], o.columns[2][lo:hi], o.scalars[0], o.bitmapFrom(lo), live)
}

func clampLengthKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	face.ClampLength(cLevels[l], face.Vec3(o.vec3(0, lo, hi)), o.scalars[0], live)
}

func dist2Kernel(o *Ops, l Level, live []uint64, lo, hi int) {
	face.Dist2(cLevels[l], o.columns[0][lo:hi], face.Vec3(o.vec3(1, lo, hi)), o.scalars[0], o.scalars[1], o.scalars[2], live)
}

func nlerpKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	out, prev, cur := face.Quat(o.quat(0, lo, hi)), face.Quat(o.quat(4, lo, hi)), face.Quat(o.quat(8, lo, hi))
	face.Nlerp(cLevels[l], &out, &prev, &cur, o.scalars[0], o.bitmapFrom(lo), live)
}

func normalizeQuatKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	face.NormalizeQuat(cLevels[l], face.Quat(o.quat(0, lo, hi)), live)
}

func integrateQuatKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	face.IntegrateQuat(cLevels[l], face.Quat(o.quat(0, lo, hi)), face.Vec3(o.vec3(4, lo, hi)), o.scalars[0], live)
}

func moveKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	face.Move(cLevels[l], &face.Motion{
		Pos: face.Vec3(o.vec3(0, lo, hi)), Vel: face.Vec3(o.vec3(3, lo, hi)), Acc: face.Vec3(o.vec3(6, lo, hi)),
		Rot: face.Quat(o.quat(9, lo, hi)), Ang: face.Vec3(o.vec3(13, lo, hi)),
	}, o.scalars[0], live)
}

// bitmapFrom returns the bitmap from row lo on.
func (o *Ops) bitmapFrom(lo int) []uint64 {
	if o.bitmap == nil {
		return nil
	}
	return o.bitmap[lo/64:]
}

// copyKernel copies contiguous rows in Go.
func copyKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	if live == nil {
		copyRows(o, lo, hi)
	} else {
		face.Copy(cLevels[l], o.columns[0][lo:hi], o.columns[1][lo:hi], live)
	}
}

func fillKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	face.Fill(cLevels[l], o.columns[0][lo:hi], o.scalars[0], live)
}

// gatherKernel runs in Go if the column is too long for C.
func gatherKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	if src := o.columns[1]; int64(len(src)) <= maxFetch {
		face.Gather(cLevels[l], o.columns[0][lo:hi], src, o.index[lo:hi], live)
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
	face.Compose(cLevels[l], o.columns[10][16*lo:16*hi], byRow, face.Vec3(o.vec3(0, lo, hi)), face.Quat(o.quat(3, lo, hi)),
		face.Vec3(o.vec3(7, lo, hi)), live)
}
