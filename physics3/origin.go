package physics3

import (
	"math"

	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
)

// OriginUnit is the distance in metres of which every offset of ShiftOrigin is a multiple. Positions within 2^34 m are multiples of it or of smaller powers of
// two. So subtracting an offset is exact where the result is closer to the origin.
const OriginUnit = 1024

const (
	maxShift  = 1 << 37 // of one call: a value below 2^63 then stays below it
	maxOrigin = 1 << 62 // a float64 represents all multiples of OriginUnit up to there
)

// Origin returns the sum of the offsets of all calls of ShiftOrigin, in metres. Origin plus the position of a body is where the body would be without these
// calls. The sum is exact.
func (w *World) Origin() [3]float64 { return w.origin }

// ShiftOrigin moves the origin of the world to the point offset, in metres, so that coordinates near there become small and precise. It subtracts offset from
// the positions of all bodies and the targets of mouse joints. It also does so for what Sync has written last, so that Pull sees no move of entities that the program shifts likewise; other
// programs call Sync first. Velocities, contacts, impulses, joints and sleep stay as they are, and nothing wakes. So the next step does the same as without the call,
// with less rounding, or more if offset leads away from the bodies.
//
// Each coordinate becomes float32(x - offset). Where its magnitude does not grow, and x is within 2^34 m, this is exact, and a later call with -offset restores
// the same bits. A coordinate whose magnitude grows is rounded to the precision at its new distance.
//
// ShiftOrigin does not change what a program keeps: events of the last step, lists of Commands, and entities. TakeTeleported does not list the shifted bodies.
// Errors: ErrNotFinite; ErrRange if offset is no multiple of OriginUnit or beyond 2^37 m, or if Origin would be beyond 2^62 m.
func (w *World) ShiftOrigin(offset [3]float32) error {
	origin, err := shiftedOrigin(w.origin, offset)
	if err == nil {
		w.shiftOrigin(origin, offset)
	}
	return err
}

// shiftedOrigin returns the origin after a shift.
func shiftedOrigin(origin [3]float64, offset [3]float32) ([3]float64, error) {
	const field = "physics3: ShiftOrigin: offset"
	if err := checkVector(field, offset); err != nil {
		return origin, err
	}
	for k, v := range offset {
		o := float64(v)
		switch origin[k] += o; {
		case !isOriginMultiple(o):
			return origin, check.Because(fault.Element(ErrRange, field, k, v), "no multiple of OriginUnit")
		case math.Abs(o) > maxShift:
			return origin, check.Because(fault.Element(ErrRange, field, k, v), "beyond 2^37 m")
		case math.Abs(origin[k]) > maxOrigin:
			return origin, check.Because(fault.Element(ErrRange, "physics3: ShiftOrigin: Origin", k, origin[k]), "beyond 2^62 m")
		}
	}
	return origin, nil
}

// isOriginMultiple reports whether v is a multiple of OriginUnit. NaN is none.
func isOriginMultiple(v float64) bool { return math.Trunc(v/OriginUnit)*OriginUnit == v }

// shiftOrigin shifts by a checked offset.
func (w *World) shiftOrigin(origin [3]float64, offset [3]float32) {
	w.origin = origin
	s, poses := w.solver, w.cols.poses()
	if s.sleep.On {
		s.sleep.PosesShifted() // rounding could hide what was written
	}
	for i := range w.Rows() {
		if !w.bodies.Occupied(i) {
			continue
		}
		synced := !w.lastSync.unwritten(i)
		for k := range offset {
			by := offset[k] + 0 // -0 would turn a position of -0 into 0
			shift(&poses[k][i], by)
			if synced {
				shift(&w.lastSync.columns[k][i], by)
			}
			if s.sleep.On {
				shift(&s.sleepers.restPose[k][i], by)
			}
		}
	}
	for i := range s.joints.rows {
		if r := s.joints.rows[i]; JointKind(r.kind) == MouseJoint {
			for k := range offset {
				shift(&r.numbers[k], offset[k]+0)
			}
			s.joints.replace(i, &r, r.digest())
		}
	}
}

// shift moves a coordinate. Every NaN becomes the same one.
func shift(v *float32, by float32) { *v = check.CanonicalNaN(*v - by) }
