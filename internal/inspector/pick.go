package inspector

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"net/url"
	"strconv"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/physics"
)

// pickQuery is a point of the plane, in metres, and the distance within which an entity counts as near it.
type pickQuery struct{ x, y, r float32 }

// picked is the entity at a point, or null.
type picked struct {
	ID   *ecs.ID   `json:"id"`
	Slot *ecs.Slot `json:"slot,omitempty"`
}

func parsePickQuery(q url.Values) (p pickQuery, err error) {
	for _, f := range [...]struct {
		name string
		to   *float32
	}{{"x", &p.x}, {"y", &p.y}, {"r", &p.r}} {
		text := q.Get(f.name)
		if text == "" && f.name == "r" {
			continue
		}
		v, err := strconv.ParseFloat(text, 32)
		if errors.Is(err, strconv.ErrSyntax) {
			return p, fault.Field(fault.ErrRange, "inspector: "+f.name, fmt.Sprintf("%.40q", text))
		}
		if *f.to = float32(v); !fault.Finite(*f.to) {
			return p, fault.Field(fault.ErrNotFinite, "inspector: "+f.name, fmt.Sprintf("%.40q", text))
		}
	}
	if p.r < 0 {
		return p, fault.Field(fault.ErrRange, "inspector: r", p.r)
	}
	return p, nil
}

// copy finds the entity at a point: the one whose shape, sensors included, contains the point; if several do, the one
// of the shape with the smallest box along the axes, and of equal ones, of the shape with the lowest index. If no
// shape does, it is the entity whose position is nearest within r; of equally near ones, the one in the lowest slot.
func (q pickQuery) copy(p *point) (func() ([]byte, error), error) {
	if id, ok := pickShape(p.sim, q); ok {
		slot, _ := p.sim.World.Slot(id)
		return func() ([]byte, error) { return encode(picked{&id, &slot}), nil }, nil
	}
	c := p.copy()
	c.copyRows()
	names := planeNames(p.sim)
	x, errX := c.number(numberName{names[0], 0, true})
	y, errY := c.number(numberName{names[1], 0, true})
	if err := errors.Join(errX, errY); err != nil {
		return nil, err
	}
	return func() ([]byte, error) {
		return encode(c.nearest(q, float32s(x.kind, x.mem), float32s(y.kind, y.mem))), nil
	}, nil
}

// pickShape returns the entity of the shape that contains the point.
func pickShape(sim *evertick.Sim, q pickQuery) (found ecs.ID, ok bool) {
	one := []float32{1}
	// A ray of no length: it hits the shapes in which it begins.
	ray := physics.Rays{X: []float32{q.x}, Y: []float32{q.y}, DX: one, DY: []float32{0}, MaxFraction: []float32{0}}
	ray.Sensors = true
	var hits physics.RayHits
	if err := sim.Physics.RayAll(&ray, &hits); err != nil {
		return 0, false // another engine, or a point beyond the world of bodies
	}
	least := 0.0
	for _, s := range hits.Shapes {
		id, has := sim.ShapeEntity(s)
		box, err := sim.Physics.ShapeBounds(s)
		if !has || err != nil {
			continue
		}
		size := (float64(box.Max[0]) - float64(box.Min[0])) * (float64(box.Max[1]) - float64(box.Min[1]))
		if !ok || size < least {
			found, least, ok = id, size, true
		}
	}
	return found, ok
}

// nearest returns the entity whose position is nearest.
func (c *stateCopy) nearest(q pickQuery, x, y []float32) (p picked) {
	// In float64 the squares of float32 differences neither overflow nor vanish.
	px, py, least := float64(q.x), float64(q.y), float64(q.r)*float64(q.r)
	for at, word := range c.live {
		for ; word != 0; word &= word - 1 {
			slot := ecs.Slot(at<<6 + bits.TrailingZeros64(word))
			dx, dy := float64(x[slot])-px, float64(y[slot])-py
			if d := float64(dx*dx) + float64(dy*dy); d < least || d == least && p.ID == nil {
				least, p = d, picked{&c.ids[slot], &slot}
			}
		}
	}
	return p
}

// pick answers GET pick.
func (in *Inspector) pick(ctx context.Context, r *Request, s subject) Answer {
	q, err := parsePickQuery(r.Query)
	if err != nil {
		return errorAnswer(err)
	}
	return askCopy(ctx, s, r.key(), q.copy)
}
