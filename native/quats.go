package native

import (
	"math"

	"github.com/evertick/evertick/internal/fault"
)

// Quat is a quaternion in four columns; W is the real part.
type Quat struct{ X, Y, Z, W []float32 }

var (
	nlerp         = rowOp{nlerpRows, nlerpKernel, 12}
	normalizeQuat = rowOp{normalizeQuatRows, normalizeQuatKernel, 8}
	integrateQuat = rowOp{integrateQuatRows, integrateQuatKernel, 8}
)

// smallestNormal is the smallest normal number: a squared length below it has lost bits.
const smallestNormal = 0x1p-126

// Nlerp interpolates between the rotations prev and cur along the shorter arc, for a renderer that draws between two
// steps. It negates prev where its dot product with cur, ((x+y)+z)+w, is negative, interpolates as Lerp does, and
// divides the result by its length. It stays on the arc, and is a little slower at its ends than in the middle:
// between rotations a quarter turn apart the error is at most one degree.
//
// out is cur unchanged in the rows that teleported names, a bitmap like Live, or nil for none. It is also cur where
// the squared length, ((x*x+y*y)+z*z)+w*w, is below 2^-126 or not finite, which does not happen between quaternions
// of length 1. out may be prev or cur. An alpha that is not finite is ErrNotFinite.
func (o *Ops) Nlerp(out, prev, cur Quat, alpha float32, teleported []uint64) error {
	checkRows("native: Ops.Nlerp: columns differ in length", len(out.X), out.Y, out.Z, out.W,
		prev.X, prev.Y, prev.Z, prev.W, cur.X, cur.Y, cur.Z, cur.W)
	if !finite(alpha) {
		return fault.Field(ErrNotFinite, "native: Nlerp.alpha", alpha)
	}
	o.set(out.X, out.Y, out.Z, out.W, prev.X, prev.Y, prev.Z, prev.W, cur.X, cur.Y, cur.Z, cur.W)
	o.scalars[0], o.bitmap = alpha, teleported
	return o.do(len(out.X), &nlerp)
}

func nlerpRows(o *Ops, lo, hi int) { o.split(lo, hi, nlerpBetween, nlerpJump) }

func nlerpJump(o *Ops, lo, hi int) {
	out, cur := o.quat(0, lo, hi), o.quat(8, lo, hi)
	for i := range out.X { // row by row, because out may be cur with its columns in another order
		x, y, z, w := cur.X[i], cur.Y[i], cur.Z[i], cur.W[i]
		out.X[i], out.Y[i], out.Z[i], out.W[i] = x, y, z, w
	}
}

func nlerpBetween(o *Ops, lo, hi int) {
	out, prev, cur, alpha := o.quat(0, lo, hi), o.quat(4, lo, hi), o.quat(8, lo, hi), o.scalars[0]
	ox, oy, oz, ow := out.rows()
	px, py, pz, pw := prev.rows()
	cx, cy, cz, cw := cur.rows()
	py, pz, pw = py[:len(px)], pz[:len(px)], pw[:len(px)]
	cx, cy, cz, cw = cx[:len(px)], cy[:len(px)], cz[:len(px)], cw[:len(px)]
	ox, oy, oz, ow = ox[:len(px)], oy[:len(px)], oz[:len(px)], ow[:len(px)]
	for i := range px {
		x0, y0, z0, w0 := px[i], py[i], pz[i], pw[i]
		x1, y1, z1, w1 := cx[i], cy[i], cz[i], cw[i]
		if float32(x0*x1)+float32(y0*y1)+float32(z0*z1)+float32(w0*w1) < 0 {
			x0, y0, z0, w0 = -x0, -y0, -z0, -w0
		}
		x, y := x0+float32((x1-x0)*alpha), y0+float32((y1-y0)*alpha)
		z, w := z0+float32((z1-z0)*alpha), w0+float32((w1-w0)*alpha)
		if over := overLength(x, y, z, w); over > 0 {
			x1, y1, z1, w1 = x*over, y*over, z*over, w*over
		}
		ox[i], oy[i], oz[i], ow[i] = x1, y1, z1, w1
	}
}

// rows returns the columns. A loop over them that first cuts them to one length has no bounds checks.
func (q *Quat) rows() (x, y, z, w []float32) { return q.X, q.Y, q.Z, q.W }

// NormalizeQuat divides quaternions by their length, even if their squares overflow or underflow. A component of the
// result is off by at most four units in its last place, or 2^-140. A quaternion whose length is zero or not finite
// becomes (0, 0, 0, 1).
func (o *Ops) NormalizeQuat(q Quat) error {
	checkRows("native: Ops.NormalizeQuat: columns differ in length", len(q.X), q.Y, q.Z, q.W)
	o.set(q.X, q.Y, q.Z, q.W)
	return o.do(len(q.X), &normalizeQuat)
}

func normalizeQuatRows(o *Ops, lo, hi int) {
	q := o.quat(0, lo, hi)
	qx, qy, qz, qw := q.rows()
	qy, qz, qw = qy[:len(qx)], qz[:len(qx)], qw[:len(qx)]
	for i := range qx {
		x, y, z, w := qx[i], qy[i], qz[i], qw[i]
		if n2 := float32(x*x) + float32(y*y) + float32(z*z) + float32(w*w); ordinary(n2) {
			over := 1 / sqrt(n2)
			x, y, z, w = x*over, y*over, z*over, w*over
		} else {
			fit := fitOf(larger(larger(abs(x), abs(y)), larger(abs(z), abs(w))))
			x, y, z, w = unit(x*fit, y*fit, z*fit, w*fit)
		}
		qx[i], qy[i], qz[i], qw[i] = x, y, z, w
	}
}

// IntegrateQuat rotates by angular velocities, in radians per second about the axes of the world, for dt seconds. It
// adds to q half of dt times the quaternion product of (omega, 0) and q,
//
//	a, b, c := omega.X[i]*(dt/2), omega.Y[i]*(dt/2), omega.Z[i]*(dt/2)
//	x += (a*w + b*z) - c*y
//	y += (b*w + c*x) - a*z
//	z += (c*w + a*y) - b*x
//	w -= (a*x + b*y) + c*z
//
// with the old x, y, z, w on the right, and each operation rounded; then it divides the sum by its length. Where the
// squared length, ((x*x+y*y)+z*z)+w*w, is below 2^-126 or not finite, q becomes (0, 0, 0, 1).
//
// The formula is that of D. Baraff, An Introduction to Physically Based Modeling: Rigid Body Simulation I, SIGGRAPH
// course notes, 1997. It is of first order: for an angle of t radians it turns by 2*atan(t/2), which is too little by
// a fraction of t*t/12.
func (o *Ops) IntegrateQuat(q Quat, omega Vec3, dt float32) error {
	checkRows("native: Ops.IntegrateQuat: columns differ in length", len(q.X), q.Y, q.Z, q.W, omega.X, omega.Y, omega.Z)
	o.set(q.X, q.Y, q.Z, q.W, omega.X, omega.Y, omega.Z)
	o.scalars[0] = dt
	return o.do(len(q.X), &integrateQuat)
}

func integrateQuatRows(o *Ops, lo, hi int) {
	integrateQuatGo(o.quat(0, lo, hi), o.vec3(4, lo, hi), o.scalars[0])
}

func integrateQuatGo(q Quat, omega Vec3, dt float32) {
	half := dt * 0.5
	qx, qy, qz, qw := q.rows()
	qy, qz, qw = qy[:len(qx)], qz[:len(qx)], qw[:len(qx)]
	ox, oy, oz := omega.X[:len(qx)], omega.Y[:len(qx)], omega.Z[:len(qx)]
	for i := range qx {
		x, y, z, w := qx[i], qy[i], qz[i], qw[i]
		a, b, c := ox[i]*half, oy[i]*half, oz[i]*half
		qx[i], qy[i], qz[i], qw[i] = unit(
			x+(float32(a*w)+float32(b*z)-float32(c*y)),
			y+(float32(b*w)+float32(c*x)-float32(a*z)),
			z+(float32(c*w)+float32(a*y)-float32(b*x)),
			w-(float32(a*x)+float32(b*y)+float32(c*z)))
	}
}

// unit returns (x, y, z, w) divided by its length, or (0, 0, 0, 1).
func unit(x, y, z, w float32) (float32, float32, float32, float32) {
	over := overLength(x, y, z, w)
	if over == 0 {
		return 0, 0, 0, 1
	}
	return x * over, y * over, z * over, w * over
}

// overLength returns 1 over the length of (x, y, z, w), or 0 if its squared length is
// not a finite number with all its bits.
func overLength(x, y, z, w float32) float32 {
	n2 := float32(x*x) + float32(y*y) + float32(z*z) + float32(w*w)
	if n2 >= smallestNormal && n2 <= math.MaxFloat32 {
		return 1 / sqrt(n2)
	}
	return 0
}
