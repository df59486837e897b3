package rigid3

import "math"

// Vec is a point or a vector in space.
type Vec struct{ X, Y, Z float32 }

// Add returns a + b.
func (a Vec) Add(b Vec) Vec { return Vec{a.X + b.X, a.Y + b.Y, a.Z + b.Z} }

// Sub returns a - b.
func (a Vec) Sub(b Vec) Vec { return Vec{a.X - b.X, a.Y - b.Y, a.Z - b.Z} }

func (a Vec) neg() Vec { return Vec{-a.X, -a.Y, -a.Z} }

// Times returns a·s.
func (a Vec) Times(s float32) Vec { return Vec{float32(a.X * s), float32(a.Y * s), float32(a.Z * s)} }

// addTimes is a + b·s.
func (a Vec) addTimes(b Vec, s float32) Vec { return a.Add(b.Times(s)) }

// Dot returns a·b.
func (a Vec) Dot(b Vec) float32 {
	return (float32(a.X*b.X) + float32(a.Y*b.Y)) + float32(a.Z*b.Z)
}

// Cross returns a×b.
func (a Vec) Cross(b Vec) Vec {
	return Vec{
		float32(a.Y*b.Z) - float32(a.Z*b.Y),
		float32(a.Z*b.X) - float32(a.X*b.Z),
		float32(a.X*b.Y) - float32(a.Y*b.X),
	}
}

func (a Vec) length() float32 { return sqrt(a.Dot(a)) }

// unit returns a with length one, or fallback if its length is zero or not a number. The square of the length must be in range.
func (a Vec) unit(fallback Vec) Vec {
	l := a.length()
	if !(l > 0) {
		return fallback
	}
	return Vec{a.X / l, a.Y / l, a.Z / l}
}

// perpendicular returns a unit vector at a right angle to a unit vector.
func (a Vec) perpendicular() Vec {
	// One of |x|, |y|, |z| is at most 0.58; the branch is by a comparison that no rounding of a diagonal disturbs.
	if abs(a.X) >= 0.75 || abs(a.Y) >= 0.75 {
		return Vec{a.Y, -a.X, 0}.unit(Vec{1, 0, 0})
	}
	return Vec{0, a.Z, -a.Y}.unit(Vec{1, 0, 0})
}

// Quat is a rotation as a unit quaternion. q and -q are the same rotation.
type Quat struct{ X, Y, Z, W float32 }

// Identity is the rotation by nothing.
var Identity = Quat{W: 1}

func (q Quat) vector() Vec { return Vec{q.X, q.Y, q.Z} }

// Mul is the rotation by r, then by q.
func (q Quat) Mul(r Quat) Quat {
	v := q.vector().Cross(r.vector()).Add(r.vector().Times(q.W)).Add(q.vector().Times(r.W))
	return Quat{v.X, v.Y, v.Z, float32(q.W*r.W) - q.vector().Dot(r.vector())}
}

// Inverse is the rotation back.
func (q Quat) Inverse() Quat { return Quat{-q.X, -q.Y, -q.Z, q.W} }

// Rotate rotates a vector: v + 2·u×(u×v + w·v), with the vector u of q.
func (q Quat) Rotate(v Vec) Vec {
	u := q.vector()
	t := u.Cross(v).Add(v.Times(q.W))
	t = u.Cross(t)
	return Vec{v.X + (t.X + t.X), v.Y + (t.Y + t.Y), v.Z + (t.Z + t.Z)}
}

// Unrotate rotates a vector back.
func (q Quat) Unrotate(v Vec) Vec { return q.Inverse().Rotate(v) }

// Normalize returns q with length one, or the identity if its length is zero, not finite, or if its square is.
func (q Quat) Normalize() Quat {
	square := (float32(q.X*q.X) + float32(q.Y*q.Y)) + (float32(q.Z*q.Z) + float32(q.W*q.W))
	if !(square > 0 && square <= math.MaxFloat32) {
		return Identity
	}
	l := sqrt(square)
	return Quat{q.X / l, q.Y / l, q.Z / l, q.W / l}
}

// Integrate rotates q by the angular velocity w for h seconds: q + h/2·w⊗q, normalized. This is a rotation about w by
// 2·atan(|w|·h/2), which is too small by (|w|·h)³/12.
func (q Quat) Integrate(w Vec, h float32) Quat {
	half := w.Times(float32(0.5 * h))
	d := Quat{half.X, half.Y, half.Z, 0}.Mul(q)
	return Quat{q.X + d.X, q.Y + d.Y, q.Z + d.Z, q.W + d.W}.Normalize()
}

// Mat is a matrix by rows.
type Mat struct{ X, Y, Z Vec }

// Matrix returns the rotation as a matrix: its columns are the rotated axes.
func (q Quat) Matrix() Mat {
	x2, y2, z2 := q.X+q.X, q.Y+q.Y, q.Z+q.Z
	xx, yy, zz := float32(q.X*x2), float32(q.Y*y2), float32(q.Z*z2)
	xy, xz, yz := float32(q.X*y2), float32(q.X*z2), float32(q.Y*z2)
	wx, wy, wz := float32(q.W*x2), float32(q.W*y2), float32(q.W*z2)
	return Mat{
		Vec{1 - (yy + zz), xy - wz, xz + wy},
		Vec{xy + wz, 1 - (xx + zz), yz - wx},
		Vec{xz - wy, yz + wx, 1 - (xx + yy)},
	}
}

// Mul returns m·v.
func (m *Mat) Mul(v Vec) Vec { return Vec{m.X.Dot(v), m.Y.Dot(v), m.Z.Dot(v)} }

// MulTransposed returns v·m.
func (m *Mat) MulTransposed(v Vec) Vec {
	return Vec{
		(float32(m.X.X*v.X) + float32(m.Y.X*v.Y)) + float32(m.Z.X*v.Z),
		(float32(m.X.Y*v.X) + float32(m.Y.Y*v.Y)) + float32(m.Z.Y*v.Z),
		(float32(m.X.Z*v.X) + float32(m.Y.Z*v.Y)) + float32(m.Z.Z*v.Z),
	}
}

// Sym is a symmetric matrix.
type Sym struct{ XX, YY, ZZ, XY, XZ, YZ float32 }

// Mul returns s·v.
func (s *Sym) Mul(v Vec) Vec {
	return Vec{
		(float32(s.XX*v.X) + float32(s.XY*v.Y)) + float32(s.XZ*v.Z),
		(float32(s.XY*v.X) + float32(s.YY*v.Y)) + float32(s.YZ*v.Z),
		(float32(s.XZ*v.X) + float32(s.YZ*v.Y)) + float32(s.ZZ*v.Z),
	}
}

// RotateDiagonal returns R·diag(d)·Rᵀ, of which all six numbers are computed, so that it is symmetric. An inverse inertia in this form
// has no cancellation for needles, whose moments differ by orders of magnitude.
func (m *Mat) RotateDiagonal(d Vec) Sym {
	x, y, z := m.X, m.Y, m.Z
	dx, dy, dz := Vec{float32(x.X * d.X), float32(x.Y * d.Y), float32(x.Z * d.Z)}, Vec{float32(y.X * d.X), float32(y.Y * d.Y), float32(y.Z * d.Z)},
		Vec{float32(z.X * d.X), float32(z.Y * d.Y), float32(z.Z * d.Z)}
	return Sym{XX: dx.Dot(x), YY: dy.Dot(y), ZZ: dz.Dot(z), XY: dx.Dot(y), XZ: dx.Dot(z), YZ: dy.Dot(z)}
}

func sqrt(v float32) float32 { return float32(math.Sqrt(float64(v))) }

func abs(v float32) float32 { return math.Float32frombits(math.Float32bits(v) &^ (1 << 31)) }

// minFloat returns b unless a < b.
func minFloat(a, b float32) float32 {
	if a < b {
		return a
	}
	return b
}

// maxFloat returns b unless a > b.
func maxFloat(a, b float32) float32 {
	if a > b {
		return a
	}
	return b
}
