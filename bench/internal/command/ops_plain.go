package command

import "math"

// The loops below are what a user would write instead of an operation: one loop over the rows, without hints for the
// compiler. On the numbers of this scene they compute the bits of the operation. They promise less: an operation also has
// results where squares overflow or a quaternion has no length.

func plainCopy(a *rowArgs) { copy(a.c[0], a.c[1]) }

func plainIntegrate(a *rowArgs) {
	pos, vel := a.c[0], a.c[1]
	for i := range pos {
		pos[i] += float32(vel[i] * step)
	}
}

func plainIntegrate3(a *rowArgs) {
	x, y, z, vx, vy, vz := a.c[0], a.c[1], a.c[2], a.c[3], a.c[4], a.c[5]
	for i := range x {
		x[i] += float32(vx[i] * step)
		y[i] += float32(vy[i] * step)
		z[i] += float32(vz[i] * step)
	}
}

func plainScale(a *rowArgs) {
	x, factor := a.c[0], plainFactor
	for i := range x {
		x[i] *= factor
	}
}

// They are variables, so that the compiler does not remove the products and differences.
var plainFactor, plainZero = float32(1), float32(0)

func plainAdd(a *rowArgs) {
	x, by := a.c[0], plainZero
	for i := range x {
		x[i] += by
	}
}

func plainAffine(a *rowArgs) {
	out, x := a.c[0], a.c[1]
	for i := range out {
		out[i] = float32(x[i]*0.5) + 0.25
	}
}

func plainCompare(a *rowArgs) {
	x := a.c[0]
	clear(a.bitmap)
	for i, v := range x {
		if v >= 0.9 {
			a.bitmap[i/64] |= 1 << (i % 64)
		}
	}
}

func plainCompareColumns(a *rowArgs) {
	x, y := a.c[0], a.c[1]
	clear(a.bitmap)
	for i, v := range x {
		if v < y[i] {
			a.bitmap[i/64] |= 1 << (i % 64)
		}
	}
}

func plainSelect(a *rowArgs) {
	out, x, y := a.c[0], a.c[1], a.c[2]
	for i := range out {
		if a.bitmap[i/64]>>(i%64)&1 != 0 {
			out[i] = x[i]
		} else {
			out[i] = y[i]
		}
	}
}

func plainDamp(a *rowArgs) {
	v, c := a.c[0], a.c[1]
	for i := range v {
		v[i] /= 1 + float32(c[i]*step)
	}
}

func plainClamp(a *rowArgs) {
	x := a.c[0]
	for i := range x {
		if x[i] < -0.5 {
			x[i] = -0.5
		} else if x[i] > 0.5 {
			x[i] = 0.5
		}
	}
}

func plainWrap(a *rowArgs) {
	x := a.c[0]
	for i := range x {
		for x[i] < -0.5 {
			x[i]++
		}
		for x[i] >= 0.5 {
			x[i]--
		}
	}
}

func plainSqrt(v float32) float32 { return float32(math.Sqrt(float64(v))) }

func plainClampLength(a *rowArgs) {
	x, y, z := a.c[0], a.c[1], a.c[2]
	for i := range x {
		length := plainSqrt(float32(x[i]*x[i]) + float32(y[i]*y[i]) + float32(z[i]*z[i]))
		if length > 0.5 {
			over := 1 / length
			x[i] *= over
			y[i] *= over
			z[i] *= over
			x[i] *= 0.5
			y[i] *= 0.5
			z[i] *= 0.5
		}
	}
}

func plainLerp(a *rowArgs) {
	out, prev, cur := a.c[0], a.c[1], a.c[2]
	for i := range out {
		out[i] = prev[i] + float32((cur[i]-prev[i])*0.25)
	}
}

func plainNlerp(a *rowArgs) {
	out, prev, cur := a.quat(0), a.quat(4), a.quat(8)
	for i := range out.X {
		px, py, pz, pw := prev.X[i], prev.Y[i], prev.Z[i], prev.W[i]
		cx, cy, cz, cw := cur.X[i], cur.Y[i], cur.Z[i], cur.W[i]
		if float32(px*cx)+float32(py*cy)+float32(pz*cz)+float32(pw*cw) < 0 {
			px, py, pz, pw = -px, -py, -pz, -pw
		}
		px += float32((cx - px) * 0.25)
		py += float32((cy - py) * 0.25)
		pz += float32((cz - pz) * 0.25)
		pw += float32((cw - pw) * 0.25)
		over := 1 / plainSqrt(float32(px*px)+float32(py*py)+float32(pz*pz)+float32(pw*pw))
		out.X[i], out.Y[i], out.Z[i], out.W[i] = px*over, py*over, pz*over, pw*over
	}
}

func plainDist2(a *rowArgs) {
	out, x, y, z, zero := a.c[0], a.c[1], a.c[2], a.c[3], plainZero
	for i := range out {
		dx, dy, dz := x[i]-zero, y[i]-zero, z[i]-zero
		out[i] = float32(dx*dx) + float32(dy*dy) + float32(dz*dz)
	}
}

func plainNormalizeQuat(a *rowArgs) {
	q := a.quat(0)
	for i := range q.X {
		x, y, z, w := q.X[i], q.Y[i], q.Z[i], q.W[i]
		over := 1 / plainSqrt(float32(x*x)+float32(y*y)+float32(z*z)+float32(w*w))
		q.X[i], q.Y[i], q.Z[i], q.W[i] = x*over, y*over, z*over, w*over
	}
}

func plainIntegrateQuat(a *rowArgs) { plainTurn(a, 0, 4) }

// plainTurn rotates the quaternions in column q and the next ones by the angular velocities from column omega on.
func plainTurn(args *rowArgs, q, omega int) {
	rot, ang := args.quat(q), args.vec3(omega)
	for i := range rot.X {
		x, y, z, w := rot.X[i], rot.Y[i], rot.Z[i], rot.W[i]
		rot.X[i], rot.Y[i], rot.Z[i], rot.W[i] = turned(x, y, z, w, ang.X[i], ang.Y[i], ang.Z[i])
	}
}

func turned(x, y, z, w, a, b, c float32) (float32, float32, float32, float32) {
	const half = float32(step) * 0.5
	a, b, c = a*half, b*half, c*half
	x, y, z, w = x+(float32(a*w)+float32(b*z)-float32(c*y)),
		y+(float32(b*w)+float32(c*x)-float32(a*z)),
		z+(float32(c*w)+float32(a*y)-float32(b*x)),
		w-(float32(a*x)+float32(b*y)+float32(c*z))
	over := 1 / plainSqrt(float32(x*x)+float32(y*y)+float32(z*z)+float32(w*w))
	return x * over, y * over, z * over, w * over
}

func plainMove(a *rowArgs) {
	pos, vel, acc, rot, ang := a.vec3(0), a.vec3(3), a.vec3(6), a.quat(9), a.vec3(13)
	for i := range pos.X {
		vel.X[i] += float32(acc.X[i] * step)
		vel.Y[i] += float32(acc.Y[i] * step)
		vel.Z[i] += float32(acc.Z[i] * step)
		pos.X[i] += float32(vel.X[i] * step)
		pos.Y[i] += float32(vel.Y[i] * step)
		pos.Z[i] += float32(vel.Z[i] * step)
		x, y, z, w := rot.X[i], rot.Y[i], rot.Z[i], rot.W[i]
		rot.X[i], rot.Y[i], rot.Z[i], rot.W[i] = turned(x, y, z, w, ang.X[i], ang.Y[i], ang.Z[i])
	}
}

func plainCompose(a *rowArgs) {
	pos, rot, scale := a.vec3(0), a.quat(3), a.vec3(7)
	for i := range pos.X {
		x, y, z, w := rot.X[i], rot.Y[i], rot.Z[i], rot.W[i]
		x2, y2, z2 := x+x, y+y, z+z
		xx, yy, zz := float32(x*x2), float32(y*y2), float32(z*z2)
		xy, xz, yz := float32(x*y2), float32(x*z2), float32(y*z2)
		wx, wy, wz := float32(w*x2), float32(w*y2), float32(w*z2)
		sx, sy, sz := scale.X[i], scale.Y[i], scale.Z[i]
		m := a.matrices[16*i : 16*i+16]
		m[0], m[1], m[2], m[3] = (1-(yy+zz))*sx, (xy+wz)*sx, (xz-wy)*sx, 0
		m[4], m[5], m[6], m[7] = (xy-wz)*sy, (1-(xx+zz))*sy, (yz+wx)*sy, 0
		m[8], m[9], m[10], m[11] = (xz+wy)*sz, (yz-wx)*sz, (1-(xx+yy))*sz, 0
		m[12], m[13], m[14], m[15] = pos.X[i], pos.Y[i], pos.Z[i], 1
	}
}

func plainBounds(a *rowArgs) {
	x, y, z := a.c[0], a.c[1], a.c[2]
	lo, hi := [3]float32{2, 2, 2}, [3]float32{-2, -2, -2}
	for i := range x {
		if x[i] < lo[0] {
			lo[0] = x[i]
		}
		if x[i] > hi[0] {
			hi[0] = x[i]
		}
		if y[i] < lo[1] {
			lo[1] = y[i]
		}
		if y[i] > hi[1] {
			hi[1] = y[i]
		}
		if z[i] < lo[2] {
			lo[2] = z[i]
		}
		if z[i] > hi[2] {
			hi[2] = z[i]
		}
	}
	a.kept = float64(lo[0] + lo[1] + lo[2] + hi[0] + hi[1] + hi[2])
}

func plainSum(a *rowArgs) {
	sum := 0.0
	for _, v := range a.c[0] {
		sum += float64(v)
	}
	a.kept = sum
}

func plainFirstNotFinite(a *rowArgs) {
	for i, v := range a.c[0] {
		if v-v != 0 {
			a.kept = float64(i)
			return
		}
	}
}

func plainFill(a *rowArgs) {
	x := a.c[0]
	for i := range x {
		x[i] = 0.5
	}
}

func plainGather(a *rowArgs) {
	dst, src := a.c[0], a.c[1]
	for i, at := range a.index {
		dst[i] = src[at]
	}
}

func plainScatter(a *rowArgs) {
	dst, src := a.c[0], a.c[1]
	for i, at := range a.index {
		dst[at] = src[i]
	}
}
