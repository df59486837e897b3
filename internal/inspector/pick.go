package inspector

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"net/url"
	"slices"
	"strconv"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/physics"
)

// pickQuery is a point of the plane, in metres, and the distance within which an entity counts as near it.
type pickQuery struct{ x, y, r float32 }

// rayQuery is a ray from a point, in metres, along a direction, and the radius of the cone about it at each metre, in which an entity counts as near it.
type rayQuery struct {
	origin, direction [3]float32
	cone              float32
}

// picked is the entity at a point, or null.
type picked struct {
	ID    *ecs.ID     `json:"id"`
	Slot  *ecs.Slot   `json:"slot,omitempty"`
	Point *[3]float32 `json:"point,omitempty"` // in space: where the ray hits the body
}

func parsePickQuery(q url.Values) (p pickQuery, err error) {
	err = readNumbers(q, map[string]*float32{"x": &p.x, "y": &p.y, "r": &p.r})
	return p, err
}

func parseRayQuery(q url.Values) (p rayQuery, err error) {
	o, d := &p.origin, &p.direction
	err = readNumbers(q, map[string]*float32{"x": &o[0], "y": &o[1], "z": &o[2], "dx": &d[0], "dy": &d[1], "dz": &d[2], "r": &p.cone})
	if square := float64(d[0])*float64(d[0]) + float64(d[1])*float64(d[1]) + float64(d[2])*float64(d[2]); err == nil && !(square > 0.99 && square < 1.01) {
		err = fmt.Errorf("%w: it has not length 1", fault.Field(fault.ErrRange, "inspector: dx, dy, dz", *d))
	}
	return p, err
}

// readNumbers reads finite numbers. r may be missing, and is not negative.
func readNumbers(q url.Values, to map[string]*float32) error {
	for _, name := range slices.Sorted(maps.Keys(to)) {
		text := q.Get(name)
		if text == "" && name == "r" {
			continue
		}
		v, err := strconv.ParseFloat(text, 32)
		if errors.Is(err, strconv.ErrSyntax) {
			return fault.Field(fault.ErrRange, "inspector: "+name, fmt.Sprintf("%.40q", text))
		}
		if *to[name] = float32(v); !fault.Finite(float32(v)) {
			return fault.Field(fault.ErrNotFinite, "inspector: "+name, fmt.Sprintf("%.40q", text))
		}
	}
	if r := *to["r"]; r < 0 {
		return fault.Field(fault.ErrRange, "inspector: r", r)
	}
	return nil
}

// copy finds the entity that a ray meets first: the one whose shape it hits, sensors included, or without a body there the one whose position is in the
// cone about the ray and nearer; of equally far ones, the one in the lowest slot.
func (q rayQuery) copy(p *point) (func() ([]byte, error), error) {
	drawer := drawerOf(p.sim)
	if drawer == nil {
		return nil, noSpace()
	}
	hit := picked{}
	slot, distance, ok := drawer.Pick(q.origin, q.direction)
	if !ok {
		distance = float32(math.Inf(1))
	}
	if id, has := p.sim.World.ID(slot); ok && has {
		hit.ID, hit.Slot = &id, &slot
	}
	if ok {
		at := q.origin
		for k := range at {
			at[k] += float32(distance * q.direction[k])
		}
		hit.Point = &at
	}
	c := p.copy()
	c.copyRows()
	var xyz [3][]float32
	for k, name := range [...]string{"position.x", "position.y", "position.z"} {
		column, err := c.number(numberName{name, 0, true})
		if err != nil {
			return nil, err
		}
		xyz[k] = float32s(column.kind, column.mem)
	}
	return func() ([]byte, error) { return encode(c.nearestInCone(q, xyz, hit, float64(distance))), nil }, nil
}

// nearestInCone returns the entity in the cone that is nearer than a distance along the ray, or what is there.
func (c *stateCopy) nearestInCone(q rayQuery, xyz [3][]float32, there picked, distance float64) picked {
	for at, word := range c.live {
		for ; word != 0; word &= word - 1 {
			slot := ecs.Slot(at<<6 + bits.TrailingZeros64(word))
			along, square := 0.0, 0.0
			for k := range xyz {
				d := float64(xyz[k][slot]) - float64(q.origin[k])
				along += float64(d * float64(q.direction[k]))
				square += float64(d * d)
			}
			reach := float64(q.cone) * along
			if along > 0 && along < distance && square-float64(along*along) <= float64(reach*reach) {
				distance, there = along, picked{ID: &c.ids[slot], Slot: &slot}
			}
		}
	}
	return there
}

// copy finds the entity at a point: the one whose shape, sensors included, contains the point; if several do, the one
// of the shape with the smallest box along the axes, and of equal ones, of the shape with the lowest index. If no
// shape does, it is the entity whose position is nearest within r; of equally near ones, the one in the lowest slot.
func (q pickQuery) copy(p *point) (func() ([]byte, error), error) {
	if id, ok := pickShape(p.sim, q); ok {
		slot, _ := p.sim.World.Slot(id)
		return func() ([]byte, error) { return encode(picked{ID: &id, Slot: &slot}), nil }, nil
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
				least, p = d, picked{ID: &c.ids[slot], Slot: &slot}
			}
		}
	}
	return p
}

// pick answers GET pick.
func (in *Inspector) pick(ctx context.Context, r *Request, s subject) Answer {
	inSpace, err := flag(r.Query, "space", false)
	if err != nil {
		return errorAnswer(err)
	}
	if inSpace {
		q, err := parseRayQuery(r.Query)
		if err != nil {
			return errorAnswer(err)
		}
		return askCopy(ctx, s, r.key(), q.copy)
	}
	q, err := parsePickQuery(r.Query)
	if err != nil {
		return errorAnswer(err)
	}
	return askCopy(ctx, s, r.key(), q.copy)
}
