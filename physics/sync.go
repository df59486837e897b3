package physics

import (
	"fmt"
	"math"
)

// Transforms is where Sync writes: position and rotation of the entities, one
// slice per component, all of one length, indexed by BodyDef.Slot. The columns
// of package ecs fit, as does any other set of slices.
type Transforms struct {
	X, Y, Z        []float32
	QX, QY, QZ, QW []float32
}

// Sync writes the position and the rotation of every body that has a Slot.
// Position: the two axes of the plane; the third is left alone. Rotation: the
// unit quaternion with QW >= 0 that turns about +Z by the angle (XY), or about
// +Y by minus the angle (XZ). If two bodies drive one slot, the one with the
// higher index wins. A slot outside the slices is ErrRange, naming the body's
// index and the slot, and nothing is written. Sync allocates nothing; it panics
// if the slices differ in length.
func (w *World) Sync(t Transforms) error {
	n, ok := t.rows()
	if !ok {
		panic("physics: Sync: slices of unequal length")
	}
	if w.failed != nil {
		return w.failed
	}
	slots := w.cols.Slot[:w.Rows()]
	if err := checkSlots("physics: Sync", slots, n); err != nil {
		return err
	}
	if w.config.Plane == XZ {
		w.syncXZ(slots, &t)
	} else {
		w.syncXY(slots, &t)
	}
	w.yieldShared(slots, &t)
	return nil
}

// yieldShared takes note that bodies were overwritten by others with the same slot, so
// that Pull does not put them where those are.
func (w *World) yieldShared(slots []uint32, t *Transforms) {
	if !w.slots.shared {
		return
	}
	p := newPulling(w, t)
	for i, slot := range slots {
		if slot != NoSlot && p.differs(i, slot) {
			w.synced.clear(i)
		}
	}
}

// rows returns the length of the slices, and false if they differ in it.
func (t *Transforms) rows() (int, bool) {
	n := len(t.X)
	return n, len(t.Y) == n && len(t.Z) == n &&
		len(t.QX) == n && len(t.QY) == n && len(t.QZ) == n && len(t.QW) == n
}

func checkSlots(who string, slots []uint32, n int) error {
	for i, slot := range slots {
		if slot != NoSlot && uint64(slot) >= uint64(n) {
			return fmt.Errorf("%s: body %d drives slot %d, the slices have %d: %w", who, i, slot, n, ErrRange)
		}
	}
	return nil
}

func (w *World) syncXY(slots []uint32, t *Transforms) {
	c := &w.cols
	for i, slot := range slots {
		if slot == NoSlot {
			continue
		}
		sin, cos := halfAngle(c.Sin[i], c.Cos[i])
		w.synced.put(i, c.X[i], c.Y[i], sin, cos)
		t.X[slot], t.Y[slot] = c.X[i], c.Y[i]
		t.QX[slot], t.QY[slot], t.QZ[slot], t.QW[slot] = 0, 0, sin, cos
	}
}

func (w *World) syncXZ(slots []uint32, t *Transforms) {
	c := &w.cols
	for i, slot := range slots {
		if slot == NoSlot {
			continue
		}
		sin, cos := halfAngle(c.Sin[i], c.Cos[i])
		sin = 0 - sin // not -sin: no rotation is +0 here as everywhere
		w.synced.put(i, c.X[i], c.Y[i], sin, cos)
		t.X[slot], t.Z[slot] = c.X[i], c.Y[i]
		t.QX[slot], t.QY[slot], t.QZ[slot], t.QW[slot] = 0, sin, 0, cos
	}
}

// halfAngle returns sine and cosine of half the angle in [-π, π] whose sine
// and cosine are s and c. Of cos²(θ/2) = (1+c)/2 and sin²(θ/2) = (1-c)/2 it
// takes the root of the larger, where nothing cancels, and gets the other from
// 2 sin(θ/2) cos(θ/2) = s.
func halfAngle(s, c float32) (sin, cos float32) {
	if c >= 0 {
		cos = sqrt32(0.5 * (1 + c))
		return s / (2 * cos), cos
	}
	sin = sqrt32(0.5 * (1 - c))
	if math.Signbit(float64(s)) {
		sin = -sin
	}
	return sin, s / (2 * sin)
}

// sqrt32 is the correctly rounded float32 root: float64 has more than twice
// the digits plus two, so rounding twice does no harm.
func sqrt32(v float32) float32 { return float32(math.Sqrt(float64(v))) }
