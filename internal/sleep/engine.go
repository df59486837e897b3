package sleep

import "github.com/evertick/evertick/internal/frame"

// Types of bodies.
const (
	Static uint8 = iota
	Kinematic
	Dynamic
)

// Flags of bodies. An engine may use the other bits.
const (
	Never    = 1 << 1 // the body does not fall asleep, nor do those that it touches
	Disabled = 1 << 2 // it is taken out of the world
	Asleep   = 1 << 4
)

// Edge is two bodies that touch, or that a joint connects.
type Edge struct{ A, B uint32 }

// Gone is in place of a body in an Edge whose shape was destroyed.
const Gone = ^uint32(0)

// Engine is what State asks of an engine.
type Engine interface {
	Rows
	Graph

	// Allocate is called before sleep is on for the first time: it makes the memory for poses at rest.
	Allocate()
	// ActiveChanged is called after other bodies have become active. It calls SetShapes.
	ActiveChanged()
}

// ComparedRows is the most rows of a call of Rows.Unwritten.
const ComparedRows = 1024

// Rows are the columns of bodies. Each body has a pose at rest besides, which the engine stores.
type Rows interface {
	// Store stores the pose of a body as that at rest. Forget makes it zero.
	Store(row int)
	Forget(row int)
	// PoseWritten reports whether the pose of a body differs from that at rest by any bit.
	PoseWritten(row int) bool
	// Written reports that, or whether the body has a velocity or a force. Unwritten reports whether that is so for no row of
	// [lo, hi), of which there are at most ComparedRows.
	Written(row int) bool
	Unwritten(lo, hi int) bool
	// InRange reports whether all values of a row are finite, and not too large to compute with.
	InRange(row int) bool
	// Moving reports whether a dynamic body is faster than its threshold, or any other body moves at all.
	Moving(row int) bool
	// Stop makes the velocity of a body zero, and ClearMotion its forces as well.
	Stop(row int)
	ClearMotion(row int)
	// Clear makes a row without a body look as if it had never held one.
	Clear(row int)
	// EncodePose appends the pose at rest, which DecodePose reads.
	EncodePose(e *frame.Encoder, row int)
	DecodePose(b []byte, row int)
}

// Graph has what joins bodies. Each method appends to dst.
type Graph interface {
	// AppendContacts appends the bodies of contacts that have points and push: of those of the last step, or of
	// those at rest that the engine keeps apart. A body is Gone if its shape is; contacts without any are left out.
	AppendContacts(dst []Edge, resting bool) []Edge
	// AppendJoints appends the bodies of joints that hold them together.
	AppendJoints(dst []Edge) []Edge
	// AppendTouched appends the bodies of pairs of this step that touch and push, if one of them is a Sleeper.
	AppendTouched(dst []Edge) []Edge
	// AppendCarried appends the bodies that contacts of the last step keep moving, such as those on conveyor belts.
	AppendCarried(dst []uint32) []uint32
}
