package inspector

import (
	"context"
	"fmt"
	"net/url"
	"strconv"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/bodyview"
	"github.com/evertick/evertick/internal/columns"
	"github.com/evertick/evertick/internal/fault"
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
	Solver          string          `json:"solver,omitempty"` // none: Sim.Physics
	Row             int             `json:"row"`
	Type            string          `json:"type"`
	Awake           bool            `json:"awake"`
	Mass            value           `json:"mass"` // null where another engine keeps it
	Position        []value         `json:"position"`
	Angle           value           `json:"angle,omitempty"`    // in a plane
	Rotation        []value         `json:"rotation,omitempty"` // in space: the quaternion x, y, z, w
	Velocity        []value         `json:"velocity"`
	AngularVelocity any             `json:"angular_velocity"` // a value in a plane, three in space
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
	for _, of := range bodiesOf(sim) {
		if bits, ok := of.body(v.ID); ok {
			b := of.view.Body(bits)
			v.Body = viewBody(of.name, &b)
		}
	}
	return v, nil
}

func viewBody(solver string, b *bodyview.Body) *entityBody {
	v := &entityBody{
		Solver: solver, Row: b.Row, Type: b.Type, Awake: b.Awake, Position: singles(b.Position), Velocity: singles(b.Velocity),
		Shapes: []entityShape{}, Contacts: []entityContact{},
	}
	if len(b.Rotation) == 1 {
		v.Angle, v.AngularVelocity = single(b.Rotation[0]), single(b.Spin[0])
	} else {
		v.Rotation, v.AngularVelocity = singles(b.Rotation), singles(b.Spin)
	}
	if b.Mass != nil {
		v.Mass = single(*b.Mass)
	}
	for _, s := range b.Shapes {
		v.Shapes = append(v.Shapes, entityShape{bodyview.Name("shape", s.Bits), s.Sensor})
	}
	for _, c := range b.Contacts {
		v.Contacts = append(v.Contacts, entityContact{bodyview.Name("shape", c.Shape), viewPart(&c.Other)})
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
