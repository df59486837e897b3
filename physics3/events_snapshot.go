package physics3

import (
	"fmt"
	"math"

	"github.com/evertick/evertick/internal/state"
	"github.com/evertick/evertick/internal/wire"
)

// eventLists are the lists of Events in the order of their fields. In their encoding, handles are their Bits, and the name of a column is its
// number in a snapshot. A new list is another entry.
var eventLists = state.Lists[Events]{
	touches(func(e *Events) *[]Touch { return &e.Begin }),
	touches(func(e *Events) *[]Touch { return &e.End }),
	overlaps(func(e *Events) *[]Sensed { return &e.SensorBegin }),
	overlaps(func(e *Events) *[]Sensed { return &e.SensorEnd }),
	state.ListOf(2*8+8*4, func(e *Events) *[]Hit { return &e.Hit },
		func(dst []byte, h *Hit) []byte {
			dst = wire.AppendU64s(dst, h.A.Bits(), h.B.Bits())
			dst = wire.AppendF32s(wire.AppendF32s(dst, h.Point[:]...), h.Normal[:]...)
			return wire.AppendF32s(dst, h.Speed, h.Impulse)
		},
		func(r *wire.Reader) (h Hit) {
			h.A, h.B = ShapeOfBits(r.U64()), ShapeOfBits(r.U64())
			r.F32s(h.Point[:])
			r.F32s(h.Normal[:])
			h.Speed, h.Impulse = r.F32(), r.F32()
			return h
		}),
	state.Rows(func(e *Events) *[]uint32 { return &e.Moved }),
	state.ListOf(2*8+1+4, func(e *Events) *[]Disabled { return &e.Disabled },
		func(dst []byte, d *Disabled) []byte {
			dst = append(wire.AppendU64s(dst, d.Body.Bits(), d.Tick), columnNumber(d.Column))
			return wire.AppendF32s(dst, d.Value)
		},
		func(r *wire.Reader) Disabled {
			return Disabled{BodyOfBits(r.U64()), r.U64(), readColumn(r), r.F32()}
		}),
	state.ListOf(3*8+6*4+8, func(e *Events) *[]Broken { return &e.Broken },
		func(dst []byte, b *Broken) []byte {
			dst = wire.AppendU64s(dst, b.Joint.Bits(), b.A.Bits(), b.B.Bits())
			return wire.AppendU64s(wire.AppendF32s(wire.AppendF32s(dst, b.Force[:]...), b.Torque[:]...), b.Tick)
		},
		func(r *wire.Reader) (b Broken) {
			b.Joint, b.A, b.B = JointOfBits(r.U64()), BodyOfBits(r.U64()), BodyOfBits(r.U64())
			r.F32s(b.Force[:])
			r.F32s(b.Torque[:])
			b.Tick = r.U64()
			return b
		}),
	state.ListOf(8+6*4, func(e *Events) *[]JointLoad { return &e.JointLoads },
		func(dst []byte, l *JointLoad) []byte {
			return wire.AppendF32s(wire.AppendF32s(wire.AppendU64s(dst, l.Joint.Bits()), l.Force[:]...), l.Torque[:]...)
		},
		func(r *wire.Reader) (l JointLoad) {
			l.Joint = JointOfBits(r.U64())
			r.F32s(l.Force[:])
			r.F32s(l.Torque[:])
			return l
		}),
	state.Rows(func(e *Events) *[]uint32 { return &e.Slept }),
	state.Rows(func(e *Events) *[]uint32 { return &e.Woke }),
}

func touches(field func(e *Events) *[]Touch) state.List[Events] {
	return state.ListOf(2*8, field,
		func(dst []byte, t *Touch) []byte { return wire.AppendU64s(dst, t.A.Bits(), t.B.Bits()) },
		func(r *wire.Reader) Touch { return Touch{ShapeOfBits(r.U64()), ShapeOfBits(r.U64())} })
}

func overlaps(field func(e *Events) *[]Sensed) state.List[Events] {
	return state.ListOf(2*8, field,
		func(dst []byte, t *Sensed) []byte { return wire.AppendU64s(dst, t.Sensor.Bits(), t.Visitor.Bits()) },
		func(r *wire.Reader) Sensed { return Sensed{ShapeOfBits(r.U64()), ShapeOfBits(r.U64())} })
}

// columnNames are those of Columns.floatColumns.
var columnNames = func() (names [floatColumns]string) {
	for i, c := range new(Columns).floatColumns() {
		names[i] = c.name
	}
	return names
}()

func columnNumber(name string) byte {
	for i, n := range columnNames {
		if n == name {
			return byte(i)
		}
	}
	return math.MaxUint8
}

func readColumn(r *wire.Reader) string {
	number := int(r.U8())
	if number >= len(columnNames) {
		r.Fail("column", number)
		return ""
	}
	return columnNames[number]
}

// AppendEvents appends the events of the last step to dst, to be stored together with a Snapshot: see PrepareEvents.
func (w *World) AppendEvents(dst []byte) []byte { return eventLists.Append(w.Events(), dst) }

// PrepareEvents adds the events of AppendEvents to the result of Prepare: World.Events returns them after Commit. Without it there are none until
// the next step. Data that is truncated or inconsistent is ErrCorrupt, and adds nothing; it has no checksum of its own.
func (w *World) PrepareEvents(data []byte) error {
	im := w.prepared
	if im == nil || !im.prepared {
		panic("physics3: PrepareEvents without Prepare")
	}
	im.eventReader = wire.NewReader(data)
	if err := eventLists.Read(&im.events, &im.eventReader); err != nil {
		return fmt.Errorf("physics3: events: %w", err)
	}
	im.hasEvents = true
	return nil
}
