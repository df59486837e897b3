// Package bodyview is what tools of this module read of the bodies of a solver, in however many dimensions they are. evertick.Solver.View holds a View.
package bodyview

import (
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/columns"
	"github.com/evertick/evertick/internal/forces"
	"github.com/evertick/evertick/internal/handle"
)

// View reads the bodies of one solver between ticks. It changes nothing. Its slices are the solver's own, valid until the next tick: only read them.
type View interface {
	// Columns returns the columns of bodies, in the order and under the names of their hashes without the prefix of the solver.
	Columns() []columns.View
	// Alive is 1 for each row that holds a body, and Slots the slot of its entity, NoSlot if it has none.
	Alive() []uint8
	Slots() []uint32
	// Body describes a body that lives, by its number as evertick.Solver.Body returns it.
	Body(bits uint64) Body
	// Watch keeps the forces of the next steps for Forces, which adds those on a body in the last step to dst. It replaces no others.
	Watch()
	Forces(bits uint64, dst *forces.Forces)
	// EventCount returns the number of events of the last step, and Event event i of them. Their order is that of Kinds.
	EventCount() int
	Event(i int) Event
}

// Kinds are the kinds of events, in their order within a step.
var Kinds = [...]string{"begin", "end", "sensor_begin", "sensor_end", "hit", "disabled", "broken", "joint_load", "slept", "woke"}

// Indices of Kinds.
const (
	Begin = iota
	End
	SensorBegin
	SensorEnd
	Hit
	Disabled
	Broken
	JointLoad
	Slept
	Woke
)

// Body is the state of a body. A vector has as many numbers as the solver has dimensions. In a plane, Rotation is one angle and Spin one number; in
// space they are a quaternion x, y, z, w and a vector.
type Body struct {
	Row                                int
	Type                               string
	Awake                              bool
	Mass                               *float32 // nil where another engine keeps it
	Position, Rotation, Velocity, Spin []float32
	Shapes                             []Shape
	Contacts                           []Contact
}

// Shape is a shape of a body.
type Shape struct {
	Bits   uint64
	Sensor bool
}

// Contact is a shape of a body, by its bits, and a shape of another body that it touches.
type Contact struct {
	Shape uint64
	Other Part
}

// Part is a shape or a body that takes part in an event, by its bits, as it was at the end of the tick. 0 is none.
type Part struct {
	Shape, Body uint64
	Entity      ecs.ID
}

// Event is an event of a step. Vectors have Dims numbers; the torque of a plane is the last one of Torque.
type Event struct {
	Kind                         uint8 // index of Kinds
	Dims                         uint8
	A, B                         Part
	Point, Normal, Force, Torque [3]float32 // the first two of a hit, the others of a joint
	Speed                        float32    // of a hit
	Column                       string     // of a body that was disabled
	Value                        float32
	Joint                        uint64 // that broke or has a load
}

// Name returns the name of a handle with these bits, as its String does. Kind is "body", "shape" or "joint".
func Name(kind string, bits uint64) string { return handle.Name(kind, uint32(bits), uint32(bits>>32)) }

// Index returns in which of some lists number i of all their elements is, and its place there. There are so many elements.
func Index(i int, lists ...int) (list, at int) {
	for list, n := range lists {
		if i < n {
			return list, i
		}
		i -= n
	}
	panic("bodyview: Index beyond the lists")
}
