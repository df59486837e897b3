package rigid3

import "math"

// vec64 is a point or a vector in float64. Queries compute with it: a ray may be a million times as long as what it hits. Package vec does the
// same with arrays, which Go does not keep in registers.
type vec64 struct{ x, y, z float64 }

func (a Vec) wide64() vec64 { return vec64{float64(a.X), float64(a.Y), float64(a.Z)} }

// narrow returns the nearest float32, with +0 for -0.
func (a vec64) narrow() Vec { return Vec{float32(a.x) + 0, float32(a.y) + 0, float32(a.z) + 0} }

func (a vec64) Add(b vec64) vec64 { return vec64{a.x + b.x, a.y + b.y, a.z + b.z} }

func (a vec64) Sub(b vec64) vec64 { return vec64{a.x - b.x, a.y - b.y, a.z - b.z} }

func (a vec64) neg() vec64 { return vec64{-a.x, -a.y, -a.z} }

func (a vec64) Times(s float64) vec64 {
	return vec64{float64(a.x * s), float64(a.y * s), float64(a.z * s)}
}

// addTimes is a + b·s.
func (a vec64) addTimes(b vec64, s float64) vec64 {
	return vec64{a.x + float64(b.x*s), a.y + float64(b.y*s), a.z + float64(b.z*s)}
}

func (a vec64) Dot(b vec64) float64 {
	return (float64(a.x*b.x) + float64(a.y*b.y)) + float64(a.z*b.z)
}

func (a vec64) Cross(b vec64) vec64 {
	return vec64{
		float64(a.y*b.z) - float64(a.z*b.y),
		float64(a.z*b.x) - float64(a.x*b.z),
		float64(a.x*b.y) - float64(a.y*b.x),
	}
}

// sum is the sum of the magnitudes, which is at least the length.
func (a vec64) sum() float64 { return math.Abs(a.x) + math.Abs(a.y) + math.Abs(a.z) }

func (a vec64) length() float64 { return math.Sqrt(a.Dot(a)) }

// unit returns a with length one, or fallback if it has no length.
func (a vec64) unit(fallback vec64) vec64 {
	if l := a.length(); l > 0 {
		return vec64{a.x / l, a.y / l, a.z / l}
	}
	return fallback
}

// perpendicular returns a unit vector at a right angle to a unit vector.
func (a vec64) perpendicular() vec64 {
	if max(a.x, -a.x) < 0.6 {
		return vec64{0, a.z, -a.y}.unit(vec64{y: 1})
	}
	return vec64{a.y, -a.x, 0}.unit(vec64{y: 1})
}

// pose64 is a pose with its rotation as a matrix by rows.
type pose64 struct {
	p       vec64
	x, y, z vec64
}

// set makes the pose of something that has the pose o in a body with the pose t. It gives the rotations the length one.
func (f *pose64) set(t, o *Pose) { f.setWide(t.P.wide64(), wideQuat(t.Q), o) }

// setWide is set for a body with its centre of mass at p and the rotation q, of length one.
func (f *pose64) setWide(p vec64, q quat64, o *Pose) {
	f.p = q.rotate(o.P.wide64()).Add(p)
	f.setRotation(q.Times(wideQuat(o.Q)))
}

// apply returns a point in the axes of the world.
func (f *pose64) apply(v vec64) vec64 { return f.rotate(v).Add(f.p) }

// rotate and unrotate turn a vector into the axes of the world, and back.

func (f *pose64) rotate(v vec64) vec64 { return vec64{f.x.Dot(v), f.y.Dot(v), f.z.Dot(v)} }

func (f *pose64) unrotate(v vec64) vec64 {
	return vec64{
		(float64(f.x.x*v.x) + float64(f.y.x*v.y)) + float64(f.z.x*v.z),
		(float64(f.x.y*v.x) + float64(f.y.y*v.y)) + float64(f.z.y*v.z),
		(float64(f.x.z*v.x) + float64(f.y.z*v.y)) + float64(f.z.z*v.z),
	}
}

// relative returns the pose o as seen from f.
func (f *pose64) relative(o *pose64) pose64 {
	// The columns of o, turned, are the columns of the result.
	a, b, c := f.unrotate(vec64{o.x.x, o.y.x, o.z.x}), f.unrotate(vec64{o.x.y, o.y.y, o.z.y}), f.unrotate(vec64{o.x.z, o.y.z, o.z.z})
	return pose64{f.unrotate(o.p.Sub(f.p)), vec64{a.x, b.x, c.x}, vec64{a.y, b.y, c.y}, vec64{a.z, b.z, c.z}}
}

// quat64 is a quaternion in float64.
type quat64 struct {
	v vec64
	w float64
}

// wideQuat returns q with length one.
func wideQuat(q Quat) quat64 {
	v, w := q.vector().wide64(), float64(q.W)
	l := math.Sqrt(v.Dot(v) + float64(w*w))
	if l == 1 {
		return quat64{v, w} // without divisions
	}
	return quat64{vec64{v.x / l, v.y / l, v.z / l}, w / l}
}

func (q quat64) Times(r quat64) quat64 {
	return quat64{q.v.Cross(r.v).Add(r.v.Times(q.w)).Add(q.v.Times(r.w)), float64(q.w*r.w) - q.v.Dot(r.v)}
}

func (q quat64) rotate(v vec64) vec64 {
	t := q.v.Cross(q.v.Cross(v).Add(v.Times(q.w)))
	return vec64{v.x + (t.x + t.x), v.y + (t.y + t.y), v.z + (t.z + t.z)}
}

// narrow returns the nearest rotation in float32.
func (q quat64) narrow() Quat {
	return Quat{float32(q.v.x), float32(q.v.y), float32(q.v.z), float32(q.w)}
}

// inverse is the rotation back.
func (q quat64) inverse() quat64 { return quat64{q.v.neg(), q.w} }

func (f *pose64) setRotation(q quat64) {
	x2, y2, z2 := q.v.x+q.v.x, q.v.y+q.v.y, q.v.z+q.v.z
	xx, yy, zz := float64(q.v.x*x2), float64(q.v.y*y2), float64(q.v.z*z2)
	xy, xz, yz := float64(q.v.x*y2), float64(q.v.x*z2), float64(q.v.y*z2)
	wx, wy, wz := float64(q.w*x2), float64(q.w*y2), float64(q.w*z2)
	f.x = vec64{1 - (yy + zz), xy - wz, xz + wy}
	f.y = vec64{xy + wz, 1 - (xx + zz), yz - wx}
	f.z = vec64{xz - wy, yz + wx, 1 - (xx + yy)}
}
