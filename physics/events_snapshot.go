package physics

import (
	"math"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/wire"
)

// The encoded events of a step are, all little-endian, a uint32 length of each list of Events, in
// the order of its fields, and then the elements of all lists: handles as their Bits,
// numbers, and the name of a column as its number in a snapshot.
const eventLists = 11

// eventBytes is the size of an element of each list.
var eventBytes = [eventLists]int{16, 16, 16, 16, 16 + 5*4, 4, 8 + 8 + 1 + 4, 3*8 + 3*4 + 8, 8 + 3*4, 4, 4}

func (e *Events) lengths() [eventLists]int {
	return [...]int{len(e.Begin), len(e.End), len(e.SensorBegin), len(e.SensorEnd), len(e.Hit), len(e.Moved),
		len(e.Disabled), len(e.Broken), len(e.JointLoads), len(e.Slept), len(e.Woke)}
}

// AppendEvents appends the events of the last step to dst, to be stored together with
// a Snapshot: see PrepareEvents. Another engine has none.
func (w *World) AppendEvents(dst []byte) []byte {
	e := w.Events()
	for _, n := range e.lengths() {
		dst = wire.AppendU32s(dst, uint32(n))
	}
	for _, list := range [...][]Touch{e.Begin, e.End} {
		for _, t := range list {
			dst = wire.AppendU64s(dst, t.A.Bits(), t.B.Bits())
		}
	}
	for _, list := range [...][]Sensed{e.SensorBegin, e.SensorEnd} {
		for _, t := range list {
			dst = wire.AppendU64s(dst, t.Sensor.Bits(), t.Visitor.Bits())
		}
	}
	for i := range e.Hit {
		h := &e.Hit[i]
		dst = wire.AppendU64s(dst, h.A.Bits(), h.B.Bits())
		dst = wire.AppendF32s(dst, h.Point[0], h.Point[1], h.Normal[0], h.Normal[1], h.Speed)
	}
	dst = wire.AppendU32s(dst, e.Moved...)
	for i := range e.Disabled {
		d := &e.Disabled[i]
		dst = wire.AppendU64s(dst, d.Body.Bits(), d.Tick)
		dst = append(dst, w.columnNumber(d.Column))
		dst = wire.AppendF32s(dst, d.Value)
	}
	for i := range e.Broken {
		b := &e.Broken[i]
		dst = wire.AppendU64s(dst, b.Joint.Bits(), b.A.Bits(), b.B.Bits())
		dst = wire.AppendF32s(dst, b.Force[0], b.Force[1], b.Torque)
		dst = wire.AppendU64s(dst, b.Tick)
	}
	for i := range e.JointLoads {
		l := &e.JointLoads[i]
		dst = wire.AppendU64s(dst, l.Joint.Bits())
		dst = wire.AppendF32s(dst, l.Force[0], l.Force[1], l.Torque)
	}
	dst = wire.AppendU32s(dst, e.Slept...)
	return wire.AppendU32s(dst, e.Woke...)
}

func (w *World) columnNumber(name string) byte {
	for i, nc := range w.cols.floatColumns() {
		if nc.name == name {
			return byte(i)
		}
	}
	return math.MaxUint8
}

// PrepareEvents adds the events of AppendEvents to the result of Prepare: World.Events returns them
// after Commit. Without it there are none until the next step. Data that is truncated or
// inconsistent is ErrCorrupt, and adds nothing; it has no checksum of its own.
func (w *World) PrepareEvents(data []byte) error {
	if w.prepared == nil || !w.prepared.prepared {
		panic("physics: PrepareEvents without Prepare")
	}
	r := wire.NewReader(data)
	var lengths [eventLists]int
	total := uint64(0)
	for i, size := range eventBytes {
		n := r.U32()
		lengths[i] = int(min(n, math.MaxInt32))
		total += uint64(n) * uint64(size)
	}
	if total != uint64(r.Len()) || r.Err() != nil {
		return fault.Field(ErrCorrupt, "physics: events: length", len(data))
	}
	rest := lengths[:]
	next := func() int {
		n := rest[0]
		rest = rest[1:]
		return n
	}
	rows := func(list *[]uint32) {
		for range next() {
			*list = append(*list, r.U32())
		}
	}
	e := &w.prepared.events
	e.clear()
	for _, list := range [...]*[]Touch{&e.Begin, &e.End} {
		for range next() {
			*list = append(*list, Touch{ShapeOfBits(r.U64()), ShapeOfBits(r.U64())})
		}
	}
	for _, list := range [...]*[]Sensed{&e.SensorBegin, &e.SensorEnd} {
		for range next() {
			*list = append(*list, Sensed{ShapeOfBits(r.U64()), ShapeOfBits(r.U64())})
		}
	}
	for range next() {
		e.Hit = append(e.Hit, Hit{ShapeOfBits(r.U64()), ShapeOfBits(r.U64()), [2]float32{r.F32(), r.F32()},
			[2]float32{r.F32(), r.F32()}, r.F32()})
	}
	rows(&e.Moved)
	names := w.cols.floatColumns()
	for range next() {
		d := Disabled{Body: BodyOfBits(r.U64()), Tick: r.U64()}
		number := r.U8()
		if int(number) >= len(names) {
			return fault.Field(ErrCorrupt, "physics: events: column", number)
		}
		d.Column, d.Value = names[number].name, r.F32()
		e.Disabled = append(e.Disabled, d)
	}
	for range next() {
		e.Broken = append(e.Broken, Broken{JointOfBits(r.U64()), BodyOfBits(r.U64()), BodyOfBits(r.U64()),
			[2]float32{r.F32(), r.F32()}, r.F32(), r.U64()})
	}
	for range next() {
		e.JointLoads = append(e.JointLoads, JointLoad{JointOfBits(r.U64()), [2]float32{r.F32(), r.F32()}, r.F32()})
	}
	rows(&e.Slept)
	rows(&e.Woke)
	w.prepared.hasEvents = true
	return nil
}
