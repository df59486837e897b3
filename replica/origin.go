package replica

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/physics"
)

// Coordinates on the wire are relative to the origin of the Sim, which evertick.Sim.ShiftOrigin moves. A message that leads to a state of another origin
// than its base says which one. Then both sides move the coordinates that they keep: what stands still does not change.

// mostOrigin bounds an origin, in units of physics.OriginUnit: a float64 holds the metres.
const mostOrigin = 1 << 52

// axisOf returns the axis along which a column has positions.
func axisOf(name string) (axis int, ok bool) {
	axis = slices.Index([]string{"position.x", "position.y", "position.z"}, name)
	return axis, axis >= 0
}

// shiftedLane is a lane that a shift of the origin changes: one of a Quantised position.
type shiftedLane struct {
	lane, axis int
	bits       uint8
	step       float64
}

// shiftedLanes appends those of a group whose first lane is number first.
func shiftedLanes(dst []shiftedLane, g *Group, first int) []shiftedLane {
	for _, f := range g.Fields {
		if axis, ok := axisOf(f.Name); ok && f.Codec == KindQuantised && f.Components == 1 {
			dst = append(dst, shiftedLane{first, axis, f.Bits, float64(f.Step)})
		}
		first += f.laneCount()
	}
	return dst
}

// by returns what a shift from one origin to another subtracts from the codes, modulo 2^32. A sum of shifts subtracts the same as each of them.
func (l *shiftedLane) by(from, to *[3]float64) int32 {
	return stepsTo(to[l.axis], l.step) - stepsTo(from[l.axis], l.step)
}

// stepsTo returns the number of steps from 0 to an origin, floor(origin/step + 1/2) in float64, modulo 2^32; and 0 if it is not finite.
func stepsTo(origin, step float64) int32 {
	n := math.Mod(math.Floor(origin/step+0.5), 1<<32)
	if n != n {
		return 0
	}
	return int32(uint32(int64(n)))
}

// readOrigin reads an origin, in metres.
func readOrigin(r *wire.Reader) (origin [3]float64) {
	for k := range origin {
		n := readSigned(r, 2*mostOrigin)
		if n < -mostOrigin {
			r.Fail("origin", n)
		}
		origin[k] = float64(n) * physics.OriginUnit
	}
	return origin
}

func appendOrigin(dst []byte, origin *[3]float64) []byte {
	for _, v := range origin {
		dst = binary.AppendVarint(dst, int64(v/physics.OriginUnit))
	}
	return dst
}

// Origin returns the origin of the coordinates in the state, in metres: the sum of the offsets by which evertick.Sim.ShiftOrigin has moved it. Origin and a
// position have the same sum in all states for an entity that stands still.
func (s *State) Origin() [3]float64 { return s.origin }

// shift moves what the captures have to another origin. The next messages are differences to that, as clients will compute it.
func (s *source) shift(to [3]float64) {
	p := &s.present
	for i, g := range s.groups {
		for _, l := range s.shifted[i] {
			by := l.by(&p.origin, &to)
			for buffer := range s.ring {
				lane := g.arena[(buffer*g.lanes+l.lane)*p.stride:][:p.rows]
				for row, v := range lane {
					lane[row] = sx(l.bits, v-by)
				}
			}
		}
	}
	if s.exactPosition { // a client keeps the bits of entities that a message leaves out
		s.oldest = s.captures
	}
	p.origin = to
}

// findShifted finds the lanes that a shift changes.
func (s *source) findShifted() {
	for _, g := range s.groups {
		s.shifted = append(s.shifted, shiftedLanes(nil, &g.Group, 0))
		for _, f := range g.fields {
			_, position := axisOf(f.Name)
			s.exactPosition = s.exactPosition || position && !g.Owner && f.Codec == KindExact
		}
	}
}

// moved returns a point in the coordinates of another origin.
func moved(x, y, z float32, from, to *[3]float64) (float32, float32, float32) {
	return float32(float64(x) + (from[0] - to[0])), float32(float64(y) + (from[1] - to[1])), float32(float64(z) + (from[2] - to[2]))
}

// shiftSim moves the origin of a Sim by metres, which are multiples of physics.OriginUnit.
func shiftSim(sim *evertick.Sim, by [3]float64) error {
	const most = 1 << 37 // of one call
	for by != [3]float64{} {
		var offset [3]float32
		for k, v := range by {
			offset[k] = float32(max(-most, min(v, most)))
			by[k] -= float64(offset[k])
		}
		inPlane, third := sim.Config().Physics.Plane.Split(offset)
		if err := sim.ShiftOrigin(inPlane, third); err != nil {
			return err
		}
	}
	return nil
}
