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

// pick returns the entity at a point: that of the shape, sensors included, which contains the point; if several do, that
// of the shape with the smallest box along the axes, and of equal ones that of the shape with the lowest index. If no
// shape does, pick returns the entity whose position is nearest within r; of equally near ones that of the lowest slot.
func pick(sim *evertick.Sim, q pickQuery) (p picked) {
	id, ok := pickShape(sim, q)
	if !ok {
		id, ok = pickNearest(sim, q)
	}
	if !ok {
		return p
	}
	slot, _ := sim.World.Slot(id)
	return picked{&id, &slot}
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

// pickNearest returns the entity whose position is nearest.
func pickNearest(sim *evertick.Sim, q pickQuery) (ecs.ID, bool) {
	w := sim.World
	x, y := planeColumns(sim)
	// In float64 the squares of float32 differences neither overflow nor vanish.
	px, py, least := float64(q.x), float64(q.y), float64(q.r)*float64(q.r)
	nearest, ok := ecs.Slot(0), false
	for at, word := range liveSlots(w) {
		for ; word != 0; word &= word - 1 {
			slot := at<<6 + bits.TrailingZeros64(word)
			dx, dy := float64(x[slot])-px, float64(y[slot])-py
			if d := float64(dx*dx) + float64(dy*dy); d < least || d == least && !ok {
				nearest, least, ok = ecs.Slot(slot), d, true
			}
		}
	}
	if !ok {
		return 0, false
	}
	return w.ID(nearest)
}

// pick answers GET pick.
func (in *Inspector) pick(ctx context.Context, r *Request, s subject) Answer {
	q, err := parsePickQuery(r.Query)
	if err != nil {
		return errorAnswer(err)
	}
	return askJSON(ctx, s, r.key(), func(sim *evertick.Sim) (picked, error) { return pick(sim, q), nil })
}
