package inspector

import (
	"context"
	"fmt"
	"net/url"
	"strconv"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/columns"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/physics"
)

// entityView is everything about an entity.
type entityView struct {
	Tick    uint64         `json:"tick"`
	ID      ecs.ID         `json:"id"`
	Slot    ecs.Slot       `json:"slot"`
	Tags    []string       `json:"tags"`
	Columns []entityColumn `json:"columns"`
	Blobs   []entityBlob   `json:"blobs"`
	Body    *entityBody    `json:"body"`
}

type entityColumn struct {
	Name    string  `json:"name"`
	Kind    string  `json:"kind"`
	Values  []value `json:"values"`
	Version uint64  `json:"version"`
}

type entityBlob struct {
	Name  string `json:"name"`
	Bytes int    `json:"bytes"`
}

// entityBody is the body that moves an entity. Handles are strings such as "shape_3.1".
type entityBody struct {
	Row             int             `json:"row"`
	Type            string          `json:"type"`
	Awake           bool            `json:"awake"`
	Mass            value           `json:"mass"` // null where another engine keeps it
	Position        [2]value        `json:"position"`
	Angle           value           `json:"angle"`
	Velocity        [2]value        `json:"velocity"`
	AngularVelocity value           `json:"angular_velocity"`
	Shapes          []entityShape   `json:"shapes"`
	Contacts        []entityContact `json:"contacts"`
}

type entityShape struct {
	Shape  string `json:"shape"`
	Sensor bool   `json:"sensor"`
}

// entityContact is a shape of the entity, and one of another body that it touches.
type entityContact struct {
	Shape string    `json:"shape"`
	Other *partView `json:"other"`
}

// entityQuery names an entity, by its id or by its slot.
type entityQuery struct {
	id     ecs.ID
	slot   ecs.Slot
	bySlot bool
}

func parseEntityQuery(q url.Values) (e entityQuery, err error) {
	if text := q.Get("id"); text != "" {
		if e.id, err = ecs.ParseID(text); err != nil {
			err = fmt.Errorf("%w: an id is ent_<n>", fault.Field(fault.ErrRange, "inspector: id", fmt.Sprintf("%.40q", text)))
		}
		return e, err
	}
	slot, err := strconv.ParseUint(q.Get("slot"), 10, 32)
	if err != nil {
		return e, fmt.Errorf("%w: name an entity by id or slot", fault.Field(fault.ErrRange, "inspector: slot", fmt.Sprintf("%.40q", q.Get("slot"))))
	}
	return entityQuery{slot: ecs.Slot(slot), bySlot: true}, nil
}

// find returns the entity. ErrStale.
func (e entityQuery) find(w *ecs.World) (ecs.ID, ecs.Slot, error) {
	if !e.bySlot {
		slot, ok := w.Slot(e.id)
		if !ok {
			return 0, 0, fault.Field(fault.ErrStale, "inspector: id", e.id)
		}
		return e.id, slot, nil
	}
	if id, ok := w.ID(e.slot); ok {
		return id, e.slot, nil
	}
	return 0, 0, fault.Field(fault.ErrStale, "inspector: slot", e.slot)
}

// viewEntity reads an entity at a safe point. ErrStale.
func viewEntity(sim *evertick.Sim, q entityQuery) (v entityView, err error) {
	w := sim.World
	if v.ID, v.Slot, err = q.find(w); err != nil {
		return v, err
	}
	v.Tick, v.Tags, v.Columns, v.Blobs = sim.Ticks(), []string{}, []entityColumn{}, []entityBlob{}
	d := w.Describe()
	for _, t := range d.Tags {
		if tag, err := w.Tag(t.Name); err == nil && tag.Has(v.ID) {
			v.Tags = append(v.Tags, t.Name)
		}
	}
	for _, c := range w.Columns() {
		if c.Len() <= int(v.Slot) { // a Restore has dropped it
			continue
		}
		k, n, mem := c.Kind(), c.Components(), columns.Memory(&c)
		of := entityColumn{Name: c.Name(), Kind: k.String(), Version: c.Version()}
		for i := range n {
			of.Values = append(of.Values, numberAt(k, mem, int(v.Slot)*n+i))
		}
		v.Columns = append(v.Columns, of)
	}
	for _, b := range d.Blobs {
		if blobs, err := w.Blobs(b.Name); err == nil {
			if data, ok := blobs.At(v.Slot); ok {
				v.Blobs = append(v.Blobs, entityBlob{b.Name, len(data)})
			}
		}
	}
	if b, ok := sim.Body(v.ID); ok {
		v.Body = viewBody(sim, b)
	}
	return v, nil
}

// viewBody reads a body that lives, so that no call has an error but those that another engine does not support.
func viewBody(sim *evertick.Sim, b physics.Body) *entityBody {
	p, row := sim.Physics, b.Index()
	c := p.Columns()
	v := &entityBody{
		Row: row, Type: c.Type[row].String(), Awake: p.Awake(b),
		Position: [2]value{single(c.X[row]), single(c.Y[row])}, Angle: single(c.Angle[row]),
		Velocity: [2]value{single(c.VX[row]), single(c.VY[row])}, AngularVelocity: single(c.W[row]),
		Shapes: []entityShape{}, Contacts: []entityContact{},
	}
	if m, err := p.MassData(b); err == nil {
		v.Mass = single(m.Mass)
	}
	shapes, _ := p.AppendShapes(nil, b)
	for _, s := range shapes {
		def, _ := p.ShapeDef(s)
		v.Shapes = append(v.Shapes, entityShape{s.String(), def.Sensor})
	}
	touches, _ := p.AppendContacts(nil, b)
	for _, t := range touches {
		own, other := t.A, t.B
		if of, err := p.ShapeBody(own); err != nil || of != b {
			own, other = other, own
		}
		with := shapePart(sim, other)
		v.Contacts = append(v.Contacts, entityContact{own.String(), with.view()})
	}
	return v
}

// entity answers GET entity.
func (in *Inspector) entity(ctx context.Context, r *Request, s subject) Answer {
	q, err := parseEntityQuery(r.Query)
	if err != nil {
		return errorAnswer(err)
	}
	return askJSON(ctx, s, r.key(), func(sim *evertick.Sim) (entityView, error) { return viewEntity(sim, q) })
}
