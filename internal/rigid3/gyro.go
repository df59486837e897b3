package rigid3

// Gyroscopic returns the angular velocity w of a free body after h seconds. moments are those about the principal axes, in which w is
// given.
//
// Euler's equation I·dw/dt = -w×(I·w) by the implicit midpoint rule, which keeps energy and angular momentum:
//
//	I·(w' - w) + h·m×(I·m) = 0,  m = (w + w')/2
//
// with one Newton step from w' = w: its matrix is I + h/2·([w]×·I - [I·w]×). For equal moments the result is w, and so it is where
// the matrix cannot be inverted.
func Gyroscopic(w, moments Vec, h float32) Vec {
	if moments.X == moments.Y && moments.Y == moments.Z {
		return w // without rounding
	}
	l := Vec{float32(moments.X * w.X), float32(moments.Y * w.Y), float32(moments.Z * w.Z)}
	torque := w.Cross(l)
	k := float32(0.5 * h)
	// The rows of the matrix: of [w]× times the diagonal, less [l]×.
	a := Vec{moments.X, float32(k * (l.Z - float32(w.Z*moments.Y))), float32(k * (float32(w.Y*moments.Z) - l.Y))}
	b := Vec{float32(k * (float32(w.Z*moments.X) - l.Z)), moments.Y, float32(k * (l.X - float32(w.X*moments.Z)))}
	c := Vec{float32(k * (l.Y - float32(w.Y*moments.X))), float32(k * (float32(w.X*moments.Y) - l.X)), moments.Z}
	change, ok := solve3(a, b, c, torque.Times(h))
	if !ok {
		return w
	}
	return w.Sub(change)
}

// solve3 returns x with a·x = r.X, b·x = r.Y, c·x = r.Z by Cramer's rule. It fails where the determinant is too small to divide by, or
// not a number.
func solve3(a, b, c, r Vec) (x Vec, ok bool) {
	bc, ca, ab := b.Cross(c), c.Cross(a), a.Cross(b)
	determinant := a.Dot(bc)
	if !(abs(determinant) > minDivisor) {
		return Vec{}, false
	}
	x = bc.Times(r.X).Add(ca.Times(r.Y)).Add(ab.Times(r.Z))
	return Vec{x.X / determinant, x.Y / determinant, x.Z / determinant}, true
}

// minDivisor is half the smallest normal number: the reciprocal of a number that is not much smaller is infinite.
const minDivisor = 0x1p-127
