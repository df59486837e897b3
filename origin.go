package evertick

import (
	"math/bits"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/physics"
)

// ShiftOrigin moves the origin of the plane to the point offset: physics.World.ShiftOrigin for the bodies, and the same
// subtraction for the Position of every entity along the two axes of the plane, with a body or without, also in
// World.Previous, so that Interpolate draws no jump. Physics.Origin is where the origin is. A NaN stays as it is.
//
// A program shifts the coordinates that it keeps elsewhere: in columns, State, resources, Commands that wait, and the
// camera. Index has the old coordinates until a tick updates it. Call ShiftOrigin from a system that decides by the
// state, so that a replay does the same; or between ticks, as any other change. Errors are those of
// physics.World.ShiftOrigin, and nothing has changed then.
func (s *Sim) ShiftOrigin(offset [2]float32) error {
	if err := s.Physics.ShiftOrigin(offset); err != nil {
		return err
	}
	s.shiftColumns(&s.World.Position, offset)
	if p := s.World.Previous(); p != nil {
		s.shiftColumns(&p.Position, offset)
	}
	s.World.Position.Touch()
	s.shifts++
	return nil
}

func (s *Sim) shiftColumns(v *ecs.Vec3, offset [2]float32) {
	second := v.Y
	if s.Physics.Config().Plane == physics.XZ {
		second = v.Z
	}
	s.shiftColumn(v.X, offset[0])
	s.shiftColumn(second, offset[1])
}

// shiftColumn subtracts offset from the rows of entities.
func (s *Sim) shiftColumn(column []float32, offset float32) {
	offset += 0 // -0 would turn a position of -0 into 0
	for i, word := range s.World.LiveMask() {
		for ; word != 0; word &= word - 1 {
			if v := &column[i<<6|bits.TrailingZeros64(word)]; *v == *v {
				*v -= offset
			}
		}
	}
}
