package physics

import (
	"math"

	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/frame"
	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/internal/wire"
)

// OriginUnit is the distance in metres of which every offset of ShiftOrigin is a multiple. Positions within 2^34 m are
// multiples of it or of smaller powers of two. So subtracting an offset is exact where the result is closer to the
// origin.
const OriginUnit = 1024

const (
	maxShift  = 1 << 37 // of one call: a value below 2^63 then stays below it
	maxOrigin = 1 << 62 // a float64 represents all multiples of OriginUnit up to there
)

// Origin returns the sum of the offsets of all calls of ShiftOrigin, in metres along the axes of the plane. Origin plus
// the position of a body is where the body would be without these calls. The sum is exact.
func (w *World) Origin() [2]float64 { return w.origin }

// ShiftOrigin moves the origin of the world to the point offset, in metres along the axes of the plane, so that
// coordinates near there become small and precise: see the section "Large worlds" of the package comment. It
// subtracts offset from the positions of all bodies and the targets of mouse joints. It also does so for what Sync
// has written last, so that Pull sees no move of entities that the program shifts likewise; other programs call Sync
// first. Velocities, contacts, impulses, joints and sleep stay as they are, and nothing wakes. So the next step
// does the same as without the call, with less rounding, or more if offset leads away from the bodies.
//
// Each coordinate becomes float32(x - offset). Where its magnitude does not grow, and x is within 2^34 m, this is
// exact, and a later call with -offset restores the same bits. A coordinate whose magnitude grows is rounded to
// the precision at its new distance.
//
// ShiftOrigin does not change what a program keeps: events of the last step, queries, Movers, lists of Commands, and
// entities. TakeTeleported does not list the shifted bodies, so a program that draws between two steps also shifts the
// positions before the last step. evertick.Sim.ShiftOrigin does this, and shifts entities. Errors: ErrNotFinite;
// ErrRange if offset is no multiple of OriginUnit or beyond 2^37 m, or if Origin would be beyond 2^62 m; and
// ErrUnsupported from another engine.
func (w *World) ShiftOrigin(offset [2]float32) error {
	if err := w.requireRunning(); err != nil {
		return err
	}
	origin, err := shiftedOrigin(w.origin, offset)
	if err != nil {
		return err
	}
	offset[0], offset[1] = offset[0]+0, offset[1]+0 // -0 would turn a position of -0 into 0
	w.shiftOrigin(origin, offset)
	return nil
}

// ShiftOrigin records a shift of the origin, as World.ShiftOrigin. Later commands of the list use the new coordinates.
func (c *Commands) ShiftOrigin(offset [2]float32) {
	c.add(command{kind: shiftOrigin, numbers: [4]float32{offset[0], offset[1]}})
}

// shiftedOrigin returns the origin after a shift.
func shiftedOrigin(origin [2]float64, offset [2]float32) ([2]float64, error) {
	const field = "physics: ShiftOrigin: offset"
	if err := check.Vector(field, offset[:]); err != nil {
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
			return origin, check.Because(fault.Element(ErrRange, "physics: ShiftOrigin: Origin", k, origin[k]), "beyond 2^62 m")
		}
	}
	return origin, nil
}

// isOriginMultiple says whether v is a multiple of OriginUnit. NaN is none.
func isOriginMultiple(v float64) bool { return math.Trunc(v/OriginUnit)*OriginUnit == v }

// shiftOrigin shifts by a checked offset.
func (w *World) shiftOrigin(origin [2]float64, offset [2]float32) {
	w.origin = origin
	s, c := w.solver, &w.cols
	columns := [...][2][]float32{{c.X, c.Y}, {w.lastSync.X, w.lastSync.Y}, {}}
	n := 2
	if s.sleep.On {
		s.sleep.PosesShifted() // rounding could hide what was written
		columns[n] = [2][]float32{s.sleepers.restPose[0], s.sleepers.restPose[1]}
		n++
	}
	for i := range s.rows {
		if !w.bodies.Occupied(i) {
			continue
		}
		for _, column := range columns[:n] {
			shift(&column[0][i], &column[1][i], offset)
		}
	}
	for i := range s.joints.rows {
		if r := &s.joints.rows[i]; JointKind(r.kind) == MouseJoint {
			shift(&r.numbers[0], &r.numbers[1], offset)
		}
	}
}

// shift moves a point. Every NaN becomes the same one.
func shift(x, y *float32, offset [2]float32) {
	*x, *y = check.CanonicalNaN(*x-offset[0]), check.CanonicalNaN(*y-offset[1])
}

// shiftOrigin checks a command.
func (r *dryRun) shiftOrigin(o *command) (err error) {
	r.origin, err = shiftedOrigin(r.origin, [2]float32(o.numbers[:2]))
	return err
}

// The frame "origin": two float64.

const originBytes = 2 * 8

func (w *World) encodeOrigin(e *frame.Encoder) {
	for _, v := range w.origin {
		e.U64(math.Float64bits(v))
	}
}

func (im *snapshotImage) readOrigin(b []byte) error {
	if len(b) != originBytes {
		return im.Corrupt("length of the origin", len(b))
	}
	for k := range im.origin {
		v := math.Float64frombits(wire.U64At(b, k))
		if math.Abs(v) > maxOrigin || !isOriginMultiple(v) || v == 0 && math.Signbit(v) {
			return im.CorruptElement("origin", k, v)
		}
		im.origin[k] = v
	}
	return nil
}

func (w *World) restoreOrigin(im *snapshotImage) { w.origin = im.origin }

func (w *World) copyOrigin(src *World) { w.origin = src.origin }

func (w *World) hashOrigin(dst []ColumnHash) []ColumnHash {
	if w.origin == [2]float64{} {
		return dst
	}
	return append(dst, ColumnHash{Name: "Origin", Hash: statehash.Rows(w.origin[:])})
}
