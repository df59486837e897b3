package rigid

import "math"

func sqrt(v float32) float32 { return float32(math.Sqrt(float64(v))) }

// polygon is a polygon as seen from shape A.
type polygon struct {
	x, y, nx, ny [MaxVertices]float32
	n            int
	radius       float32
}

// setA takes the vertices of A.
func (h *polygon) setA(a *Shape, origin Vec) {
	h.n, h.radius = int(a.Count), a.Radius
	for i := range a.Vertices[:h.n] {
		h.x[i], h.y[i] = a.Vertices[i].X-origin.X, a.Vertices[i].Y-origin.Y
		h.nx[i], h.ny[i] = a.Normals[i].X, a.Normals[i].Y
	}
}

// setB takes the vertices of B.
func (h *polygon) setB(b *Shape, f *frame) {
	h.n, h.radius = int(b.Count), b.Radius
	for i := range b.Vertices[:h.n] {
		h.x[i], h.y[i] = f.toA(b.Vertices[i])
		normal := b.Normals[i]
		h.nx[i] = float32(f.c*normal.X) - float32(f.s*normal.Y)
		h.ny[i] = float32(f.s*normal.X) + float32(f.c*normal.Y)
	}
}

// maxSeparation returns the edge of h that separates it best from o, and how far.
func (h *polygon) maxSeparation(o *polygon) (k int, most float32) {
	x, ox := h.x[:h.n], o.x[:o.n]
	y, nx, ny, oy := h.y[:len(x)], h.nx[:len(x)], h.ny[:len(x)], o.y[:len(ox)]
	for i := range x {
		least := float32(0)
		for j := range ox {
			if d := float32(nx[i]*ox[j]) + float32(ny[i]*oy[j]); j == 0 || d < least {
				least = d
			}
		}
		if s := least - (float32(nx[i]*x[i]) + float32(ny[i]*y[i])); i == 0 || s > most {
			k, most = i, s
		}
	}
	return k, most
}

// incidentEdge returns the edge whose normal is most opposed to the given one.
func (h *polygon) incidentEdge(x, y float32) (k int) {
	nx := h.nx[:h.n]
	ny, least := h.ny[:len(nx)], float32(0)
	for i := range nx {
		if d := float32(nx[i]*x) + float32(ny[i]*y); i == 0 || d < least {
			k, least = i, d
		}
	}
	return k
}

// edge is an edge of a polygon with its normal; from and to number its vertices.
type edge struct {
	x1, y1, x2, y2 float32
	nx, ny         float32
	from, to       uint32
}

func (h *polygon) edge(i int) edge {
	j := i + 1
	if j >= h.n {
		j = 0
	}
	p, q := i&(MaxVertices-1), j&(MaxVertices-1)
	return edge{h.x[p], h.y[p], h.x[q], h.y[q], h.nx[p], h.ny[p], uint32(i), uint32(j)}
}

// coordinates returns the position of a point along the edge, from its first vertex, and its distance outside.
func (e *edge) coordinates(x, y float32) (t, s float32) {
	dx, dy := x-e.x1, y-e.y1
	return float32(e.nx*dy) - float32(e.ny*dx), float32(e.nx*dx) + float32(e.ny*dy)
}

// edgePair is a reference edge, which belongs to B if flipped, and an incident edge. End i of the incident edge
// is at t[i] along the reference edge and s[i] outside of it. The reference edge runs from 0 to side, the
// incident edge the other way.
type edgePair struct {
	ref, inc         edge
	flipped          bool
	side             float32
	t1, s1, t2, s2   float32
	dt, ds           float32 // from end 2 to end 1
	radius           float32 // sum of the two
	radiusDifference float32 // reference less incident
}

func collidePolygons(a, b *Shape, f *frame, m *Manifold) {
	var ha, hb polygon
	ha.setA(a, f.origin)
	hb.setB(b, f)
	radius := a.Radius + b.Radius
	ka, sa := ha.maxSeparation(&hb)
	if !(sa-radius <= SpeculativeDistance) {
		return
	}
	kb, sb := hb.maxSeparation(&ha)
	if !(sb-radius <= SpeculativeDistance) {
		return
	}
	g := edgePair{radius: radius, flipped: sb > sa+referenceTolerance}
	if g.flipped {
		g.set(&hb, &ha, kb)
	} else {
		g.set(&ha, &hb, ka)
	}
	g.makeManifold(f, sa > 0 || sb > 0 || ha.n == 2 && hb.n == 2, m)
}

// makeManifold makes the manifold of two polygons.
func (g *edgePair) makeManifold(f *frame, apart bool, m *Manifold) {
	lo := g.t1 < 0 || g.t2 < 0 && float32(g.t2*g.dt)+float32(g.s2*g.ds) >= 0
	hi := g.t2 > g.side || g.t1 > g.side && float32((g.side-g.t1)*g.dt)-float32(g.s1*g.ds) >= 0
	if apart && (lo || hi) {
		g.collideCorner(f, lo, m)
	} else {
		g.clip(f, apart, m)
	}
}

func (g *edgePair) set(ref, inc *polygon, k int) {
	g.ref = ref.edge(k)
	g.inc = inc.edge(inc.incidentEdge(g.ref.nx, g.ref.ny))
	g.radiusDifference = ref.radius - inc.radius
	g.side, _ = g.ref.coordinates(g.ref.x2, g.ref.y2)
	g.t1, g.s1 = g.ref.coordinates(g.inc.x1, g.inc.y1)
	g.t2, g.s2 = g.ref.coordinates(g.inc.x2, g.inc.y2)
	g.dt, g.ds = g.t1-g.t2, g.s1-g.s2
}

// collideCorner makes the manifold of polygons that are closest to each other at the first (lo) or the second end of
// the reference edge.
func (g *edgePair) collideCorner(f *frame, lo bool, m *Manifold) {
	e := &g.ref
	x, y, from, vertex := e.x1, e.y1, float32(0), e.from
	if !lo {
		x, y, from, vertex = e.x2, e.y2, g.side, e.to
	}
	u := (float32((from-g.t2)*g.dt) - float32(g.s2*g.ds)) / (float32(g.dt*g.dt) + float32(g.ds*g.ds))
	if !(u > 0) {
		u = 0
	}
	if !(u < 1) {
		u = 1
	}
	t, s := (g.t2+float32(u*g.dt))-from, g.s2+float32(u*g.ds)
	nx, ny, length := normalizeOr(float32(e.nx*s)-float32(e.ny*t), float32(e.ny*s)+float32(e.nx*t), e.nx, e.ny)
	separation := length - g.radius
	if !(separation <= SpeculativeDistance) {
		return
	}
	opposite := g.inc.to
	if u > 0.5 {
		opposite = g.inc.from
	}
	height := float32(0.5 * (g.radiusDifference + length))
	g.setNormal(f, nx, ny, m)
	m.addPoint(f, x+float32(nx*height), y+float32(ny*height), separation, g.featureID(vertex, opposite))
}

// clip makes the manifold of polygons that lie on each other, or overlap.
func (g *edgePair) clip(f *frame, apart bool, m *Manifold) {
	tlo, slo, thi, shi := g.t2, g.s2, g.t1, g.s1
	if g.t2 < 0 {
		tlo, slo = 0, g.s2-float32(g.t2/g.dt*g.ds)
	}
	if g.t1 > g.side {
		thi, shi = g.side, g.s1-float32((g.t1-g.side)/g.dt*g.ds)
	}
	beside := g.t1 < 0 || g.t2 > g.side
	lo := !beside && slo-g.radius <= SpeculativeDistance
	hi := !beside && shi-g.radius <= SpeculativeDistance
	if !lo && !hi {
		if apart {
			return
		}
		lo, hi = !(g.s1 < g.s2), g.s1 < g.s2
		tlo, slo, thi, shi = g.t2, g.s2, g.t1, g.s1
	}
	g.setNormal(f, g.ref.nx, g.ref.ny, m)
	if lo {
		g.addPoint(f, tlo, slo, g.featureID(g.ref.from, g.inc.to), m)
	}
	if hi {
		g.addPoint(f, thi, shi, g.featureID(g.ref.to, g.inc.from), m)
	}
}

// setNormal sets the normal of a manifold from a normal that points away from the reference edge.
func (g *edgePair) setNormal(f *frame, nx, ny float32, m *Manifold) {
	if g.flipped {
		nx, ny = -nx, -ny
	}
	m.Normal = f.toWorld(nx, ny)
}

// addPoint adds the point at t along the reference edge, where the other polygon is s outside.
func (g *edgePair) addPoint(f *frame, t, s float32, id uint32, m *Manifold) {
	e, height := &g.ref, float32(0.5*(g.radiusDifference+s))
	x, y := e.x1-float32(e.ny*t), e.y1+float32(e.nx*t)
	m.addPoint(f, x+float32(e.nx*height), y+float32(e.ny*height), s-g.radius, id)
}

func (g *edgePair) featureID(ref, inc uint32) uint32 {
	if g.flipped {
		return inc | ref<<8
	}
	return ref | inc<<8
}
