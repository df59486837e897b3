package rig

import (
	"math"

	"github.com/evertick/evertick/internal/vec"
)

// quat is a unit quaternion x, y, z, w.
type quat [4]float64

func quaternion(q [4]float32) quat {
	w := quat{float64(q[0]), float64(q[1]), float64(q[2]), float64(q[3])}
	length := math.Sqrt((float64(w[0]*w[0]) + float64(w[1]*w[1])) + (float64(w[2]*w[2]) + float64(w[3]*w[3])))
	for i := range w {
		w[i] /= length
	}
	return w
}

func (q quat) array() [4]float32 {
	return [4]float32{float32(q[0]), float32(q[1]), float32(q[2]), float32(q[3])}
}

func (q quat) inverse() quat { return quat{-q[0], -q[1], -q[2], q[3]} }

// turn returns v turned by q.
func (q quat) turn(v [3]float64) [3]float64 {
	axis := [3]float64{q[0], q[1], q[2]}
	t := vec.Scale(vec.Cross(axis, v), 2)
	return vec.Add(vec.Add(v, vec.Scale(t, q[3])), vec.Cross(axis, t))
}

// times returns the turn by r and then by q.
func (q quat) times(r quat) quat {
	a, b := [3]float64{q[0], q[1], q[2]}, [3]float64{r[0], r[1], r[2]}
	v := vec.Add(vec.Add(vec.Scale(b, q[3]), vec.Scale(a, r[3])), vec.Cross(a, b))
	return quat{v[0], v[1], v[2], float64(q[3]*r[3]) - vec.Dot(a, b)}
}

// ofAxes returns the turn that carries the axes of the world to x, y and z, which are unit vectors at right angles. It divides by the largest of the
// four numbers, which is at least a half.
func ofAxes(x, y, z [3]float64) (q quat) {
	trace := (x[0] + y[1]) + z[2]
	switch {
	case trace >= max(x[0], y[1], z[2]):
		s := math.Sqrt(1+trace) * 2
		q = quat{(y[2] - z[1]) / s, (z[0] - x[2]) / s, (x[1] - y[0]) / s, s / 4}
	case x[0] >= max(y[1], z[2]):
		s := math.Sqrt(((1+x[0])-y[1])-z[2]) * 2
		q = quat{s / 4, (y[0] + x[1]) / s, (z[0] + x[2]) / s, (y[2] - z[1]) / s}
	case y[1] >= z[2]:
		s := math.Sqrt(((1+y[1])-x[0])-z[2]) * 2
		q = quat{(y[0] + x[1]) / s, s / 4, (z[1] + y[2]) / s, (z[0] - x[2]) / s}
	default:
		s := math.Sqrt(((1+z[2])-x[0])-y[1]) * 2
		q = quat{(z[0] + x[2]) / s, (z[1] + y[2]) / s, s / 4, (x[1] - y[0]) / s}
	}
	return q
}

// pose is the place of a body.
type pose struct {
	p [3]float64
	q quat
}

// local returns a point of the world in body coordinates.
func (t *pose) local(point [3]float64) [3]float64 { return t.q.inverse().turn(vec.Sub(point, t.p)) }

// unit returns v at length 1, and otherwise if v is zero.
func unit(v [3]float32, otherwise [3]float64) [3]float64 {
	if v == ([3]float32{}) {
		return otherwise
	}
	return normalized(vec.Wide(v))
}

func normalized(v [3]float64) [3]float64 { return vec.Scale(v, 1/vec.Length(v)) }

func narrow(v [3]float64) [3]float32 { return [3]float32{float32(v[0]), float32(v[1]), float32(v[2])} }
