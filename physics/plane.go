package physics

import (
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/enum"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/rigid"
)

// Plane is a plane of the 3D world. Its methods implement the rule of the section "The plane" in the
// package comment: Split for positions; Direction, Angle and Tilts for values that must lie in the plane.
type Plane uint8

const (
	// XY: the axes of a body are x and y; its angle turns about +Z.
	XY Plane = iota
	// XZ: the axes of a body are x and z; its angle turns x to z, which is
	// about -Y in a right-handed world.
	XZ
)

// String returns "XY" or "XZ".
func (p Plane) String() string { return enum.Name([]string{"XY", "XZ"}, p, "Plane") }

// planeSlack is the part of its length by which a direction or a quaternion may leave the plane because of
// rounding. For a rotation that is a tilt of 0.01 degrees.
const planeSlack = 1e-4

// Split returns the components of v along the axes of the plane, and that along the third
// axis.
func (p Plane) Split(v [3]float32) (in [2]float32, third float32) {
	if p == XZ {
		return [2]float32{v[0], v[2]}, v[1]
	}
	return [2]float32{v[0], v[1]}, v[2]
}

// Join is the reverse of Split.
func (p Plane) Join(in [2]float32, third float32) [3]float32 {
	if p == XZ {
		return [3]float32{in[0], third, in[1]}
	}
	return [3]float32{in[0], in[1], third}
}

// Direction returns the components of a velocity, an impulse or the translation of a ray along the axes of the plane. A
// vector that leads out of the plane is ErrRange, one that is not finite ErrNotFinite.
func (p Plane) Direction(v [3]float32) ([2]float32, error) {
	for _, c := range v {
		if !fault.Finite(c) {
			return [2]float32{}, fault.Field(ErrNotFinite, "physics: direction", v)
		}
	}
	in, third := p.Split(v)
	if beyondSlack([2]float32{third}, in) {
		return [2]float32{}, check.Because(fault.Field(ErrRange, "physics: direction", v), "leads out of the plane "+p.String())
	}
	return in, nil
}

// Angle returns the turn of a quaternion (x, y, z, w) about the normal of the plane, in
// [-π, π]: twice the angle of (w, z) in XY, and of (w, -y) in XZ. Its length does not matter. A
// rotation out of the plane, and the zero quaternion, are ErrRange; one that is not finite is
// ErrNotFinite.
func (p Plane) Angle(q [4]float32) (float32, error) {
	for _, c := range q {
		if !fault.Finite(c) {
			return 0, fault.Field(ErrNotFinite, "physics: rotation", q)
		}
	}
	_, z := p.turn(q)
	sin, cos, ok := doubleAngle(z, q[3])
	switch {
	case p.Tilts(q):
		return 0, check.Because(fault.Field(ErrRange, "physics: rotation", q), "turns out of the plane "+p.String())
	case !ok:
		return 0, check.Because(fault.Field(ErrRange, "physics: rotation", q), "is no rotation")
	}
	return rigid.Atan2(sin, cos), nil
}

// Tilts reports whether a quaternion (x, y, z, w) rotates out of the plane. Its length does not matter.
func (p Plane) Tilts(q [4]float32) bool {
	tilt, z := p.turn(q)
	return beyondSlack(tilt, [2]float32{z, q[3]})
}

// Rotation returns the unit quaternion (x, y, z, w) with w >= 0 of a rotation about the normal of the plane by an angle
// of at most 65536 radians either way.
func (p Plane) Rotation(angle float32) [4]float32 {
	sin, cos := rigid.SinCos(angle / 2)
	if cos < 0 {
		sin, cos = -sin, -cos
	}
	if p == XZ {
		return [4]float32{0, -sin, 0, cos}
	}
	return [4]float32{0, 0, sin, cos}
}

// turn returns the two components of a quaternion that lead out of the plane, and the one that
// rotates within it, with the sign of the angle.
func (p Plane) turn(q [4]float32) (tilt [2]float32, z float32) {
	if p == XZ {
		return [2]float32{q[0], q[2]}, -q[1]
	}
	return [2]float32{q[0], q[1]}, q[2]
}

// beyondSlack reports whether the length of out is more than planeSlack of that of out and in together.
// It scales both first, so that squares neither overflow nor underflow.
func beyondSlack(out, in [2]float32) bool {
	size := max(out[0], -out[0], out[1], -out[1], in[0], -in[0], in[1], -in[1])
	if size == 0 {
		return false
	}
	square := func(v [2]float32) float32 {
		a, b := v[0]/size, v[1]/size
		return float32(a*a) + float32(b*b)
	}
	o := square(out)
	return o > planeSlack*planeSlack*(o+square(in))
}

// doubleAngle returns sine and cosine of twice the angle of (w, z): 2zw and w² - z² over w² + z²; false if
// both are zero. It scales them first, like beyondSlack.
func doubleAngle(z, w float32) (sin, cos float32, ok bool) {
	size := max(z, -z, w, -w)
	if size == 0 {
		return 0, 0, false
	}
	z, w = z/size, w/size
	zz, ww := float32(z*z), float32(w*w)
	length := ww + zz
	return 2 * float32(z*w) / length, (ww - zz) / length, true
}
