package native

import (
	"math"

	"github.com/evertick/evertick/internal/fault"
)

// Vec3 is three columns.
type Vec3 struct{ X, Y, Z []float32 }

var (
	clampLength = rowOp{clampLengthRows, clampLengthKernel, 24}
	dist2       = rowOp{dist2Rows, dist2Kernel, 40}
)

// ClampLength shortens vectors that are longer than most to that length; the others keep their bits. The length of a
// result is off by at most four units in the last place, and no component is larger than most. Squares may overflow
// or underflow: a vector is multiplied by a power of two before it is measured. A vector with a NaN or an infinity
// has no direction, and keeps its bits. most 0 gives zeros with the signs of the components; +Inf changes nothing. A
// negative or NaN most is ErrRange.
func (o *Ops) ClampLength(v Vec3, most float32) error {
	checkRows("native: Ops.ClampLength: columns differ in length", len(v.X), v.Y, v.Z)
	if !(most >= 0) {
		return fault.Field(ErrRange, "native: ClampLength.most", most)
	}
	o.set(v.X, v.Y, v.Z)
	o.scalars[0] = most
	return o.do(len(v.X), &clampLength)
}

func clampLengthRows(o *Ops, lo, hi int) {
	v, most := o.vec3(0, lo, hi), o.scalars[0]
	vx, vy, vz := v.X, v.Y[:len(v.X)], v.Z[:len(v.X)]
	// For such a bound fitOf is 1 in every vector that is longer, unless a square is large, and no vector whose squares
	// underflow is longer.
	ordinary := most >= 0x1p-40 && most <= 0x1p59
	for i := range vx {
		x, y, z := vx[i], vy[i], vz[i]
		n2 := float32(x*x) + float32(y*y) + float32(z*z)
		length := sqrt(n2)
		switch {
		case ordinary && !(length > most):
		case ordinary && n2 < 0x1p119:
			over := 1 / length
			vx[i], vy[i], vz[i] = x*over*most, y*over*most, z*over*most
		default:
			vx[i], vy[i], vz[i] = clampVector(x, y, z, most)
		}
	}
}

// clampVector is ClampLength of one vector.
func clampVector(x, y, z, most float32) (float32, float32, float32) {
	fit := fitOf(larger(larger(abs(x), abs(y)), abs(z)))
	fx, fy, fz := x*fit, y*fit, z*fit
	length := sqrt(float32(fx*fx) + float32(fy*fy) + float32(fz*fz))
	if !(length > most*fit && length <= math.MaxFloat32) {
		return x, y, z
	}
	over := 1 / length
	return fx * over * most, fy * over * most, fz * over * most
}

// Dist2 computes the squared distances of points from (x, y, z):
//
//	for i := range out {
//		dx, dy, dz := p.X[i]-x, p.Y[i]-y, p.Z[i]-z
//		out[i] = (dx*dx + dy*dy) + dz*dz
//	}
//
// with each operation rounded. out may be one of the columns of p.
func (o *Ops) Dist2(out []float32, p Vec3, x, y, z float32) error {
	checkRows("native: Ops.Dist2: columns differ in length", len(out), p.X, p.Y, p.Z)
	o.set(out, p.X, p.Y, p.Z)
	o.scalars[0], o.scalars[1], o.scalars[2] = x, y, z
	return o.do(len(out), &dist2)
}

func dist2Rows(o *Ops, lo, hi int) {
	out, p := o.columns[0][lo:hi], o.vec3(1, lo, hi)
	x, y, z := o.scalars[0], o.scalars[1], o.scalars[2]
	px, py, pz := p.X[:len(out)], p.Y[:len(out)], p.Z[:len(out)]
	for i := range out {
		dx, dy, dz := px[i]-x, py[i]-y, pz[i]-z
		out[i] = float32(dx*dx) + float32(dy*dy) + float32(dz*dz)
	}
}

// fitOf returns a power of two. A vector whose largest component has the magnitude most can be multiplied by it without
// loss, and then has a squared length that is a normal number. Only components too small to count beside the largest
// are lost.
func fitOf(most float32) float32 {
	if most >= 0x1p60 {
		return 0x1p-66
	}
	if most <= 0x1p-50 {
		return 0x1p100
	}
	return 1
}

// ordinary reports whether a squared length is such that fitOf is 1, for three components or four: none is 2^60 or
// larger, and the largest is above 2^-50. It is false for some others of these as well.
func ordinary(n2 float32) bool { return n2 > 0x1p-97 && n2 < 0x1p119 }

func larger(a, b float32) float32 {
	if a > b {
		return a
	}
	return b
}

func sqrt(v float32) float32 { return float32(math.Sqrt(float64(v))) }

func abs(v float32) float32 { return math.Float32frombits(math.Float32bits(v) &^ (1 << 31)) }

func finite(v float32) bool { return v-v == 0 }
