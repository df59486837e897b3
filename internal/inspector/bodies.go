package inspector

import (
	"slices"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/bodyview"
	"github.com/evertick/evertick/internal/columns"
	"github.com/evertick/evertick/physics"
)

// bodyPrefix precedes the names of the columns of bodies of Sim.Physics, as in hashes.
const bodyPrefix = "body."

// bodies are those of one solver.
type bodies struct {
	prefix string // of the names of columns
	name   string // of the solver; "" for Sim.Physics
	view   bodyview.View
	body   func(id ecs.ID) (bits uint64, ok bool) // of an entity
}

// bodiesOf returns those of Sim.Physics, and then those of the solvers that were attached, as far as they have a view.
func bodiesOf(sim *evertick.Sim) []bodies {
	all := []bodies{{bodyPrefix, "", plane{sim}, func(id ecs.ID) (uint64, bool) {
		b, ok := sim.Body(id)
		return b.Bits(), ok
	}}}
	for _, v := range sim.Solvers {
		if v.View != nil {
			all = append(all, bodies{v.Name + ".", v.Name, v.View, v.Body})
		}
	}
	return all
}

// bodyCounts returns the numbers of all bodies and contacts. It allocates nothing.
func bodyCounts(sim *evertick.Sim) (n, contacts int) {
	n, contacts = sim.Physics.Len(), sim.Physics.ContactCount()
	for _, v := range sim.Solvers {
		if v.Counts != nil {
			more, touching := v.Counts()
			n, contacts = n+more, contacts+touching
		}
	}
	return n, contacts
}

// comparable reports whether both are those of one solver, with the same columns.
func (b *bodies) comparable(o bodies) bool {
	return b.name == o.name && len(b.view.Columns()) == len(o.view.Columns())
}

// live returns the rows with bodies as a bitmap.
func (b *bodies) live() []uint64 {
	alive := b.view.Alive()
	mask := make([]uint64, (len(alive)+63)/64)
	for i, bit := range alive {
		mask[i>>6] |= uint64(bit) << (i & 63)
	}
	return mask
}

// owned reports whether one of the entities in the slots has a body: after a Restore of the World alone none has, until the bodies
// that were left are destroyed.
func (b *bodies) owned(w *ecs.World, slots []uint32) bool {
	return slices.ContainsFunc(slots, func(slot uint32) bool {
		if slot == physics.NoSlot {
			return false
		}
		id, _ := w.ID(slot)
		_, has := b.body(id)
		return has
	})
}

// plane is the bodyview.View of Sim.Physics.
type plane struct{ sim *evertick.Sim }

func (v plane) Columns() []columns.View { return v.sim.Physics.BodyColumns() }

func (v plane) Alive() []uint8 { return v.sim.Physics.Columns().Alive[:v.sim.Physics.Rows()] }

func (v plane) Slots() []uint32 { return v.sim.Physics.Columns().Slot[:v.sim.Physics.Rows()] }

// Body reads a body that lives, so that no call has an error but those that another engine does not support.
func (v plane) Body(bits uint64) bodyview.Body {
	p, b := v.sim.Physics, physics.BodyOfBits(bits)
	c, row := p.Columns(), b.Index()
	out := bodyview.Body{
		Row: row, Type: c.Type[row].String(), Awake: p.Awake(b),
		Position: []float32{c.X[row], c.Y[row]}, Rotation: []float32{c.Angle[row]}, Velocity: []float32{c.VX[row], c.VY[row]}, Spin: []float32{c.W[row]},
	}
	if m, err := p.MassData(b); err == nil {
		out.Mass = &m.Mass
	}
	shapes, _ := p.AppendShapes(nil, b)
	for _, s := range shapes {
		def, _ := p.ShapeDef(s)
		out.Shapes = append(out.Shapes, bodyview.Shape{Bits: s.Bits(), Sensor: def.Sensor})
	}
	touches, _ := p.AppendContacts(nil, b)
	for _, t := range touches {
		own, other := t.A, t.B
		if of, err := p.ShapeBody(own); err != nil || of != b {
			own, other = other, own
		}
		out.Contacts = append(out.Contacts, bodyview.Contact{Shape: own.Bits(), Other: v.shape(other)})
	}
	return out
}

func (v plane) shape(s physics.Shape) bodyview.Part {
	b, _ := v.sim.Physics.ShapeBody(s)
	id, _ := v.sim.BodyEntity(b)
	return bodyview.Part{Shape: s.Bits(), Body: b.Bits(), Entity: id}
}

func (v plane) part(b physics.Body) bodyview.Part {
	id, _ := v.sim.BodyEntity(b)
	return bodyview.Part{Body: b.Bits(), Entity: id}
}

func (v plane) row(i uint32) bodyview.Part {
	b, _ := v.sim.Physics.BodyAt(int(i))
	return v.part(b)
}

// lists returns the lengths of the lists of events, in the order of bodyview.Kinds.
func (v plane) lists() [len(bodyview.Kinds)]int {
	e := v.sim.Physics.Events()
	return [...]int{len(e.Begin), len(e.End), len(e.SensorBegin), len(e.SensorEnd), len(e.Hit), len(e.Disabled), len(e.Broken), len(e.JointLoads), len(e.Slept), len(e.Woke)}
}

func (v plane) EventCount() (n int) {
	for _, k := range v.lists() {
		n += k
	}
	return n
}

func (v plane) Event(i int) bodyview.Event {
	e, lists := v.sim.Physics.Events(), v.lists()
	kind, i := bodyview.Index(i, lists[:]...)
	out := bodyview.Event{Kind: uint8(kind), Dims: 2}
	three := func(p [2]float32) [3]float32 { return [3]float32{p[0], p[1]} }
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
		out.A, out.B, out.Point, out.Normal, out.Speed = v.shape(h.A), v.shape(h.B), three(h.Point), three(h.Normal), h.Speed
	case bodyview.Disabled:
		d := &e.Disabled[i]
		out.A, out.Column, out.Value = v.part(d.Body), d.Column, d.Value
	case bodyview.Broken:
		b := &e.Broken[i]
		out.A, out.B, out.Joint, out.Force, out.Torque = v.part(b.A), v.part(b.B), b.Joint.Bits(), three(b.Force), [3]float32{2: b.Torque}
	case bodyview.JointLoad:
		l := &e.JointLoads[i]
		a, b, _ := v.sim.Physics.JointBodies(l.Joint)
		out.A, out.B, out.Joint, out.Force, out.Torque = v.part(a), v.part(b), l.Joint.Bits(), three(l.Force), [3]float32{2: l.Torque}
	case bodyview.Slept:
		out.A = v.row(e.Slept[i])
	case bodyview.Woke:
		out.A = v.row(e.Woke[i])
	}
	return out
}
