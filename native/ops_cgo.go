//go:build cgo

package native

import "github.com/evertick/evertick/csrc"

func integrateC(l Level, pos, vel []float32, dt float32, live []uint64) {
	csrc.Integrate(cLevels[l], pos, vel, dt, live)
}

func scaleKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	csrc.Scale(cLevels[l], o.columns[0][lo:hi], o.scalars[0], live)
}

func dampKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	csrc.Damp(cLevels[l], o.columns[0][lo:hi], o.columns[1][lo:hi], o.scalars[0], live)
}

func clampKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	csrc.Clamp(cLevels[l], o.columns[0][lo:hi], o.scalars[0], o.scalars[1], live)
}

func wrapKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	csrc.Wrap(cLevels[l], o.columns[0][lo:hi], o.scalars[0], o.scalars[1], live)
}

func lerpKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	csrc.Lerp(cLevels[l], o.columns[0][lo:hi], o.columns[1][lo:hi], o.columns[2][lo:hi], o.scalars[0], o.teleports(lo), live)
}

func clampLengthKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	v := o.vec3(0, lo, hi)
	csrc.ClampLength(cLevels[l], v.X, v.Y, v.Z, o.scalars[0], live)
}

func dist2Kernel(o *Ops, l Level, live []uint64, lo, hi int) {
	p := o.vec3(1, lo, hi)
	csrc.Dist2(cLevels[l], o.columns[0][lo:hi], p.X, p.Y, p.Z, o.scalars[0], o.scalars[1], o.scalars[2], live)
}

func nlerpKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	c := [12][]float32(o.columns[:12])
	cut(c[:], lo, hi)
	csrc.Nlerp(cLevels[l], &c, o.scalars[0], o.teleports(lo), live)
}

func normalizeQuatKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	q := o.quat(0, lo, hi)
	csrc.NormalizeQuat(cLevels[l], q.X, q.Y, q.Z, q.W, live)
}

func integrateQuatKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	c := [7][]float32(o.columns[:7])
	cut(c[:], lo, hi)
	csrc.IntegrateQuat(cLevels[l], &c, o.scalars[0], live)
}

func moveKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	c := o.columns
	cut(c[:], lo, hi)
	csrc.Move(cLevels[l], &c, o.scalars[0], live)
}

func cut(columns [][]float32, lo, hi int) {
	for i, c := range columns {
		columns[i] = c[lo:hi]
	}
}

// teleports is the bitmap of teleported rows from row lo on.
func (o *Ops) teleports(lo int) []uint64 {
	if o.teleported == nil {
		return nil
	}
	return o.teleported[lo/64:]
}
