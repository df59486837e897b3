package space

import (
	"github.com/evertick/evertick/internal/bodyview"
	"github.com/evertick/evertick/internal/columns"
	"github.com/evertick/evertick/physics3"
)

// view implements bodyview.View.
type view struct{ *Bodies }

func (v view) Columns() []columns.View { return v.world.BodyColumns() }

func (v view) Alive() []uint8 { return v.world.Columns().Alive[:v.world.Rows()] }

func (v view) Slots() []uint32 { return v.slotOf[:v.world.Rows()] }

func (v view) Body(bits uint64) bodyview.Body {
	w, b := v.world, physics3.BodyOfBits(bits)
	out := bodyview.Body{Row: b.Index(), Type: w.Columns().Type[b.Index()].String(), Awake: w.Awake(b)}
	position, _ := w.Position(b) // no call has an error: the body lives
	rotation, _ := w.Rotation(b)
	linear, angular, _ := w.Velocity(b)
	mass, _ := w.MassData(b)
	out.Mass, out.Position, out.Rotation, out.Velocity, out.Spin = &mass.Mass, position[:], rotation[:], linear[:], angular[:]
	shapes, _ := w.AppendShapes(nil, b)
	for _, s := range shapes {
		def, _ := w.ShapeDef(s)
		out.Shapes = append(out.Shapes, bodyview.Shape{Bits: s.Bits(), Sensor: def.Sensor})
	}
	touches, _ := w.AppendContacts(nil, b)
	for _, t := range touches {
		own, other := t.A, t.B
		if of, err := w.ShapeBody(own); err != nil || of != b {
			own, other = other, own
		}
		out.Contacts = append(out.Contacts, bodyview.Contact{Shape: own.Bits(), Other: v.shape(other)})
	}
	return out
}

// shape returns a shape, its body and its entity; those of a shape that is destroyed are unknown.
func (v view) shape(s physics3.Shape) bodyview.Part {
	b, _ := v.world.ShapeBody(s)
	id, _ := v.Entity(b)
	return bodyview.Part{Shape: s.Bits(), Body: b.Bits(), Entity: id}
}

func (v view) body(b physics3.Body) bodyview.Part {
	id, _ := v.Entity(b)
	return bodyview.Part{Body: b.Bits(), Entity: id}
}

func (v view) row(i uint32) bodyview.Part {
	b, _ := v.world.BodyAt(int(i))
	return v.body(b)
}

// counts returns the lengths of the lists of events, in the order of bodyview.Kinds.
func counts(e *physics3.Events) [len(bodyview.Kinds)]int {
	return [...]int{len(e.Begin), len(e.End), len(e.SensorBegin), len(e.SensorEnd), len(e.Hit), len(e.Disabled), len(e.Broken), len(e.JointLoads), len(e.Slept), len(e.Woke)}
}

func (v view) EventCount() (n int) {
	for _, k := range counts(v.world.Events()) {
		n += k
	}
	return n
}

func (v view) Event(i int) bodyview.Event {
	w, e := v.world, v.world.Events()
	lists := counts(e)
	kind, i := bodyview.Index(i, lists[:]...)
	out := bodyview.Event{Kind: uint8(kind), Dims: 3}
	switch kind {
	case bodyview.Begin:
		out.A, out.B = v.shape(e.Begin[i].A), v.shape(e.Begin[i].B)
	case bodyview.End:
		out.A, out.B = v.shape(e.End[i].A), v.shape(e.End[i].B)
	case bodyview.SensorBegin:
		out.A, out.B = v.shape(e.SensorBegin[i].Sensor), v.shape(e.SensorBegin[i].Visitor)
	case bodyview.SensorEnd:
		out.A, out.B = v.shape(e.SensorEnd[i].Sensor), v.shape(e.SensorEnd[i].Visitor)
	case bodyview.Hit:
		h := &e.Hit[i]
		out.A, out.B, out.Point, out.Normal, out.Speed = v.shape(h.A), v.shape(h.B), h.Point, h.Normal, h.Speed
	case bodyview.Disabled:
		d := &e.Disabled[i]
		out.A, out.Column, out.Value = v.body(d.Body), d.Column, d.Value
	case bodyview.Broken:
		b := &e.Broken[i]
		out.A, out.B, out.Joint, out.Force, out.Torque = v.body(b.A), v.body(b.B), b.Joint.Bits(), b.Force, b.Torque
	case bodyview.JointLoad:
		l := &e.JointLoads[i]
		a, b, _ := w.JointBodies(l.Joint)
		out.A, out.B, out.Joint, out.Force, out.Torque = v.body(a), v.body(b), l.Joint.Bits(), l.Force, l.Torque
	case bodyview.Slept:
		out.A = v.row(e.Slept[i])
	case bodyview.Woke:
		out.A = v.row(e.Woke[i])
	}
	return out
}
