package physics

import (
	"encoding/binary"
	"math"

	"github.com/evertick/evertick/internal/fault"
)

// The encoded events of a step are, all little-endian, a uint32 length of each list of Events, in
// the order of its fields, and then the elements of all lists: handles as their Bits,
// numbers, and the name of a column as its number in a snapshot.
const eventLists = 10

// eventBytes is the size of an element of each list.
var eventBytes = [eventLists]int{16, 16, 16, 16, 16 + 5*4, 4, 8 + 8 + 1 + 4, 3*8 + 3*4 + 8, 4, 4}

func (e *Events) lengths() [eventLists]int {
	return [...]int{len(e.Begin), len(e.End), len(e.SensorBegin), len(e.SensorEnd), len(e.Hit), len(e.Moved),
		len(e.Disabled), len(e.Broken), len(e.Slept), len(e.Woke)}
}

// AppendEvents appends the events of the last step to dst, to be stored together with
// a Snapshot: see PrepareEvents. Another engine has none.
func (w *World) AppendEvents(dst []byte) []byte {
	e, le := w.Events(), binary.LittleEndian
	for _, n := range e.lengths() {
		dst = le.AppendUint32(dst, uint32(n))
	}
	float := func(v float32) { dst = le.AppendUint32(dst, math.Float32bits(v)) }
	u64 := func(v uint64) { dst = le.AppendUint64(dst, v) }
	rows := func(list []uint32) {
		for _, v := range list {
			dst = le.AppendUint32(dst, v)
		}
	}
	for _, list := range [...][]Touch{e.Begin, e.End} {
		for _, t := range list {
			u64(t.A.Bits())
			u64(t.B.Bits())
		}
	}
	for _, list := range [...][]Sensed{e.SensorBegin, e.SensorEnd} {
		for _, t := range list {
			u64(t.Sensor.Bits())
			u64(t.Visitor.Bits())
		}
	}
	for i := range e.Hit {
		h := &e.Hit[i]
		u64(h.A.Bits())
		u64(h.B.Bits())
		for _, v := range [...]float32{h.Point[0], h.Point[1], h.Normal[0], h.Normal[1], h.Speed} {
			float(v)
		}
	}
	rows(e.Moved)
	for i := range e.Disabled {
		d := &e.Disabled[i]
		u64(d.Body.Bits())
		u64(d.Tick)
		dst = append(dst, w.columnNumber(d.Column))
		float(d.Value)
	}
	for i := range e.Broken {
		b := &e.Broken[i]
		u64(b.Joint.Bits())
		u64(b.A.Bits())
		u64(b.B.Bits())
		float(b.Force[0])
		float(b.Force[1])
		float(b.Torque)
		u64(b.Tick)
	}
	rows(e.Slept)
	rows(e.Woke)
	return dst
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
	r := eventReader{w: w, b: data}
	if !r.begin() {
		return fault.Field(ErrCorrupt, "physics: events: length", len(data))
	}
	e := &w.prepared.events
	e.clear()
	for _, list := range [...]*[]Touch{&e.Begin, &e.End} {
		for range r.next() {
			*list = append(*list, Touch{ShapeOfBits(r.u64()), ShapeOfBits(r.u64())})
		}
	}
	for _, list := range [...]*[]Sensed{&e.SensorBegin, &e.SensorEnd} {
		for range r.next() {
			*list = append(*list, Sensed{ShapeOfBits(r.u64()), ShapeOfBits(r.u64())})
		}
	}
	for range r.next() {
		e.Hit = append(e.Hit, Hit{ShapeOfBits(r.u64()), ShapeOfBits(r.u64()), [2]float32{r.float(), r.float()},
			[2]float32{r.float(), r.float()}, r.float()})
	}
	r.rows(&e.Moved)
	names := w.cols.floatColumns()
	for range r.next() {
		d := Disabled{Body: BodyOfBits(r.u64()), Tick: r.u64()}
		number := r.b[0]
		r.b = r.b[1:]
		if int(number) >= len(names) {
			return fault.Field(ErrCorrupt, "physics: events: column", number)
		}
		d.Column, d.Value = names[number].name, r.float()
		e.Disabled = append(e.Disabled, d)
	}
	for range r.next() {
		e.Broken = append(e.Broken, Broken{JointOfBits(r.u64()), BodyOfBits(r.u64()), BodyOfBits(r.u64()),
			[2]float32{r.float(), r.float()}, r.float(), r.u64()})
	}
	r.rows(&e.Slept)
	r.rows(&e.Woke)
	w.prepared.hasEvents = true
	return nil
}

// eventReader reads what AppendEvents wrote.
type eventReader struct {
	w       *World
	b       []byte
	lengths [eventLists]int
	list    int
}

// begin reads the lengths, and reports whether they match the data.
func (r *eventReader) begin() bool {
	if len(r.b) < 4*eventLists {
		return false
	}
	total := uint64(0)
	for i := range r.lengths {
		n := binary.LittleEndian.Uint32(r.b[4*i:])
		total += uint64(n) * uint64(eventBytes[i])
		r.lengths[i] = int(min(n, math.MaxInt32))
	}
	r.b = r.b[4*eventLists:]
	return total == uint64(len(r.b))
}

// next returns the length of the next list.
func (r *eventReader) next() int {
	r.list++
	return r.lengths[r.list-1]
}

func (r *eventReader) u64() uint64 {
	v := binary.LittleEndian.Uint64(r.b)
	r.b = r.b[8:]
	return v
}

func (r *eventReader) u32() uint32 {
	v := binary.LittleEndian.Uint32(r.b)
	r.b = r.b[4:]
	return v
}

func (r *eventReader) float() float32 { return math.Float32frombits(r.u32()) }

func (r *eventReader) rows(list *[]uint32) {
	for range r.next() {
		*list = append(*list, r.u32())
	}
}
