package raster

import (
	"math"

	"github.com/evertick/evertick/physics"
)

// point is in samples, from the upper left corner of the picture to the right and down.
type point struct{ x, y float64 }

// camera converts metres to samples. Computed with float64 from finite float32, coordinates are
// finite, but for extreme views.
type camera struct {
	centre, middle point
	scale          float64 // samples to a metre
}

// look returns the camera that shows a view, in the middle of a picture.
func look(view physics.DrawnBox, width, height int) camera {
	minX, minY := float64(view.Min[0]), float64(view.Min[1])
	maxX, maxY := float64(view.Max[0]), float64(view.Max[1])
	w, h := float64(samples*width), float64(samples*height)
	return camera{point{(minX + maxX) / 2, (minY + maxY) / 2}, point{w / 2, h / 2}, min(w/(maxX-minX), h/(maxY-minY))}
}

func (c *camera) at(v [2]float32) point {
	return point{
		c.middle.x + float64((float64(v[0])-c.centre.x)*c.scale),
		c.middle.y - float64((float64(v[1])-c.centre.y)*c.scale),
	}
}

// region is all points within a distance of a convex polygon. If the distance is negative, it
// is the points of the polygon that are so far from all edges.
type region struct {
	corners []point
	radius  float64
	outline []point // of the polygon with its edges moved outwards by radius
	empty   bool
}

func (r *region) clear() { r.empty = true }

// set makes the region a polygon, counter-clockwise with y up.
func (r *region) set(corners []point, radius float64) {
	r.corners, r.radius, r.empty = corners, radius, radius < 0 && len(corners) < 3
	r.outline = r.outline[:0]
	if radius < 0 {
		return
	}
	for i, p := range corners {
		q := corners[(i+1)%len(corners)]
		n := normal(p, q)
		x, y := float64(radius*n.x), float64(radius*n.y)
		r.outline = append(r.outline, point{p.x + x, p.y + y}, point{q.x + x, q.y + y})
	}
}

// normal returns the outward unit normal of an edge, and zero if it has no length.
func normal(p, q point) point {
	dx, dy := q.x-p.x, q.y-p.y
	length := math.Sqrt(float64(dx*dx) + float64(dy*dy))
	if length == 0 {
		return point{}
	}
	return point{-dy / length, dx / length}
}

// bounds returns the least and the greatest y.
func (r *region) bounds() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, p := range r.corners {
		low, high = min(low, p.y), max(high, p.y)
	}
	return low - r.radius, high + r.radius
}

// span returns the range of x in the region on a line. It is empty unless lo < hi.
func (r *region) span(y float64) (lo, hi float64) {
	switch {
	case r.empty:
		return 0, 0
	case r.radius < 0:
		return r.inset(y)
	}
	lo, hi = math.Inf(1), math.Inf(-1)
	for i, p := range r.outline {
		q := r.outline[(i+1)%len(r.outline)]
		if (p.y <= y) == (q.y <= y) {
			continue
		}
		x := p.x + float64((y-p.y)*((q.x-p.x)/(q.y-p.y)))
		lo, hi = min(lo, x), max(hi, x)
	}
	for _, p := range r.corners {
		dy := y - p.y
		if half2 := float64(r.radius*r.radius) - float64(dy*dy); half2 > 0 {
			half := math.Sqrt(half2)
			lo, hi = min(lo, p.x-half), max(hi, p.x+half)
		}
	}
	return lo, hi
}

// inset is span of a negative radius: where the line is on the inner side of all edges, moved inwards.
func (r *region) inset(y float64) (lo, hi float64) {
	lo, hi = math.Inf(-1), math.Inf(1)
	for i, p := range r.corners {
		n := normal(p, r.corners[(i+1)%len(r.corners)])
		rest := r.radius - float64(n.y*(y-p.y)) // n.x (x - p.x) <= rest
		switch {
		case n.x > 0:
			hi = min(hi, p.x+rest/n.x)
		case n.x < 0:
			lo = max(lo, p.x+rest/n.x)
		case !(rest >= 0): // NaN, too
			return 0, 0
		}
	}
	return lo, hi
}
