package mesh

import "math"

// Ray is the points O + t·D, 0 <= t <= MaxT, in the coordinates of a Surface. D is not zero.
type Ray struct {
	O, D     [3]float64
	MaxT     float64
	TwoSided bool // it hits the back of a triangle, too
}

// RayHit is where a Ray first hits a Surface. Of triangles hit at the same T it has the lowest number.
type RayHit struct {
	T      float64
	Number uint32 // None: no hit
}

// caster is a Ray with what its tests against triangles and boxes have in common, and the first hit so far.
type caster struct {
	Ray
	hit        RayHit
	kx, ky, kz int // axes: D is largest along kz, and kx, ky, kz are right-handed if that is positive
	shearX     float64
	shearY     float64
	inverse    [3]float64 // of D; unused where that is 0
	slack      float64    // covers the rounding of coordinates
	limit      float64    // the least T at which it may still end
}

// slackOfCoordinates is about 2^8 times the rounding error of a coordinate, so it covers a few of them.
const slackOfCoordinates = 0x1p-44

// newCaster prepares a ray for a surface within a box.
func newCaster(r *Ray, b *Box) caster {
	c := caster{Ray: *r, hit: RayHit{r.MaxT, None}, limit: r.MaxT}
	far := 0.
	for k, d := range r.D {
		if math.Abs(d) > math.Abs(r.D[c.kz]) {
			c.kz = k
		}
		if c.inverse[k] = 1 / d; math.IsInf(c.inverse[k], 0) {
			c.D[k] = 0
		}
		far = max(far, math.Abs(r.O[k]), math.Abs(float64(b.Min[k])), math.Abs(float64(b.Max[k])))
	}
	c.slack = far * slackOfCoordinates
	c.kx, c.ky = (c.kz+1)%3, (c.kz+2)%3
	if r.D[c.kz] < 0 {
		c.kx, c.ky = c.ky, c.kx
	}
	c.shearX, c.shearY = c.D[c.kx]/c.D[c.kz], c.D[c.ky]/c.D[c.kz]
	return c
}

// at returns where the ray is along an axis.
func (c *caster) at(axis int, t float64) float64 { return c.O[axis] + float64(t*c.D[axis]) }

// clip returns the part from t0 to t1 between two coordinates along an axis, which is empty if t0 > t1. It errs on the side of more.
func (c *caster) clip(axis int, lo, hi, t0, t1 float64) (float64, float64) {
	lo, hi = lo-c.slack-c.O[axis], hi+c.slack-c.O[axis]
	switch d := c.D[axis]; {
	case d == 0:
		if !(lo <= 0 && 0 <= hi) {
			return 1, 0
		}
		return t0, t1
	case d < 0:
		lo, hi = hi, lo
	}
	return max(t0, lo*c.inverse[axis]), min(t1, hi*c.inverse[axis])
}

// clipBox returns the part of the ray in a box.
func (c *caster) clipBox(b *Box) (t0, t1 float64) {
	t0, t1 = 0, c.limit
	for k := range b.Min {
		if t0, t1 = c.clip(k, float64(b.Min[k]), float64(b.Max[k]), t0, t1); !(t0 <= t1) {
			return 1, 0
		}
	}
	return t0, t1
}

// project returns a vertex in a frame in which the ray is the axis z.
func (c *caster) project(v *[3]float32) (x, y, z float64) {
	z = float64(v[c.kz]) - c.O[c.kz]
	x = float64(v[c.kx]) - c.O[c.kx] - float64(c.shearX*z)
	y = float64(v[c.ky]) - c.O[c.ky] - float64(c.shearY*z)
	return x, y, float64(z * c.inverse[c.kz])
}

// triangle takes a triangle as the hit if the ray meets it before what it has hit so far.
//
// Each vertex is projected once, and on which side of an edge the ray passes is decided exactly, so that both triangles at an edge agree. A ray on
// an edge hits both. So no ray passes between triangles that share their vertices. (The idea of the frame is that of Woop, Benthin and Wald,
// Watertight Ray/Triangle Intersection, 2013.)
func (c *caster) triangle(v *[3][3]float32, number uint32) {
	ax, ay, az := c.project(&v[0])
	bx, by, bz := c.project(&v[1])
	cx, cy, cz := c.project(&v[2])
	u, w, s := side2(cx, cy, bx, by), side2(ax, ay, cx, cy), side2(bx, by, ax, ay)
	if u < 0 || w < 0 || s < 0 {
		if !c.TwoSided || u > 0 || w > 0 || s > 0 {
			return
		}
	}
	area := u + w + s
	if area == 0 {
		return // seen edge-on: its neighbours are hit
	}
	t := (float64(u*az) + float64(w*bz) + float64(s*cz)) / area
	t = max(min(t, max(az, bz, cz)), min(az, bz, cz))
	if !(t >= 0 && t <= c.MaxT) || t > c.hit.T || t == c.hit.T && number >= c.hit.Number {
		return
	}
	c.hit = RayHit{t, number}
	c.limit = t
}

// side2 returns ax·by - ay·bx with the right sign, and zero only if it is. Exchanging a and b only changes the sign.
func side2(ax, ay, bx, by float64) float64 {
	p, q := float64(ax*by), float64(ay*bx)
	if p != q {
		return p - q
	}
	return productError(ax, by, p) - productError(ay, bx, q)
}

// productError returns a·b - p, which is exact if p is the rounded product: T. J. Dekker, A Floating-Point Technique for Extending the Available
// Precision, 1971.
func productError(a, b, p float64) float64 {
	ah, al := halves(a)
	bh, bl := halves(b)
	return float64(al*bl) - (((p - float64(ah*bh)) - float64(al*bh)) - float64(ah*bl))
}

// halves returns a number as the sum of two of 26 bits.
func halves(a float64) (high, low float64) {
	c := float64(a * (1<<27 + 1))
	high = c - (c - a)
	return high, a - high
}

// CastRay returns the first triangle that a ray hits.
func (m *Mesh) CastRay(r Ray) RayHit {
	b := m.Bounds()
	c := meshCaster{caster: newCaster(&r, &b), m: m}
	for k, d := range c.D {
		c.enter[k], c.leave[k] = c.O[k]+c.slack, c.O[k]-c.slack
		if d == 0 {
			c.inverse[k] = math.MaxFloat64
		} else if d < 0 {
			c.enter[k], c.leave[k] = c.leave[k], c.enter[k]
		}
	}
	if t0, t1 := c.clipBox(&b); t0 <= t1 {
		c.node(0)
	}
	return c.hit
}

// meshCaster is a ray through the tree of a mesh. It is where the ray enters and leaves boxes, moved by slack: a coordinate less enter, times inverse, is
// the T at which the ray has it.
type meshCaster struct {
	caster
	m            *Mesh
	enter, leave [3]float64
}

// node looks through a node of a tree, the children that the ray enters first before the others.
func (c *meshCaster) node(number uint32) {
	m, n := c.m, &c.m.Nodes[number]
	near, far := [3]*[Width]float32{&n.Min[0], &n.Min[1], &n.Min[2]}, [3]*[Width]float32{&n.Max[0], &n.Max[1], &n.Max[2]}
	for k, inverse := range c.inverse {
		if inverse < 0 {
			near[k], far[k] = far[k], near[k]
		}
	}
	var order [Width]int
	var entries [Width]float64
	found := 0
	for i := range Width {
		if near[0][i] != near[0][i] {
			break // there are no more children
		}
		t0, t1 := 0., c.limit
		for k, inverse := range c.inverse {
			if t := (float64(near[k][i]) - c.enter[k]) * inverse; t > t0 {
				t0 = t
			}
			if t := (float64(far[k][i]) - c.leave[k]) * inverse; t < t1 {
				t1 = t
			}
		}
		if t0 > t1 {
			continue
		}
		k := found
		for ; k > 0 && entries[k-1] > t0; k-- {
			entries[k], order[k] = entries[k-1], order[k-1]
		}
		entries[k], order[k] = t0, i
		found++
	}
	for k := range found {
		i := order[k]
		if entries[k] > c.limit {
			return
		}
		if n.Count[i] == 0 {
			c.node(n.First[i])
			continue
		}
		for number := n.First[i]; number < n.First[i]+n.Count[i]; number++ {
			t := &m.Triangles[number]
			v := [3][3]float32{m.Vertices[t.Vertices[0]], m.Vertices[t.Vertices[1]], m.Vertices[t.Vertices[2]]}
			c.triangle(&v, number)
		}
	}
}
