package physics

import (
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/rigid"
)

const (
	// skin is the distance in metres that characters keep from obstacles. Between half and
	// one and a half of it nothing moves them, so that a character at rest keeps its position to the bit.
	skin = rigid.LinearSlop

	// maxSlides bounds how often obstacles deflect a move.
	maxSlides = 5

	// maxPlanes bounds the planes that constrain a character at a time: the nearest ones.
	maxPlanes = 8

	// minMove is the length in metres below which a move counts as none.
	minMove = 1e-5
)

// walker moves one character at a time.
type walker struct {
	t          *moverTask
	probe      rigid.ShapeQuery
	at         rigid.Vec
	grounded   bool // it stood on ground before
	nearby     []rigid.ShapeHit
	hits       []rigid.ShapeHit
	planes     [2 * maxPlanes]rigid.Vec
	planeCount int // number of planes
	push       moverPush
}

// move moves character i.
func (w *walker) move(t *moverTask, i int) {
	m := t.m
	w.t, w.at, w.push.shape = t, rigid.Vec{X: m.X[i], Y: m.Y[i]}, rigid.NoShape
	p := &w.probe
	*p = rigid.ShapeQuery{Shape: &t.form.shape, Cos: 1}
	p.Category, p.Mask, p.Exclude = m.forQuery(i)
	p.Flags = m.flags(true)
	m.setSpan(&p.Ray, i)
	v := rigid.Vec{X: m.VX[i], Y: m.VY[i]}
	w.grounded = m.Ground[i] != (Shape{})
	carried := w.groundMotion(m.Ground[i], rigid.Vec{X: m.GroundX[i], Y: m.GroundY[i]})
	before := w.at
	w.recover()
	carried = without(carried, sub(w.at, before)) // ground that rises has pushed it already
	if length(carried) > minMove {
		w.slide(carried)
	}
	start, wish := w.at, scale(v, t.dt)
	rises := dot(v, t.up) > 1e-3
	if w.grounded && !rises {
		wish = w.alongGround(wish, rigid.Vec{X: m.GroundX[i], Y: m.GroundY[i]})
	}
	w.slide(wish)
	if w.grounded && !rises {
		w.stepUp(start, wish)
		w.snap()
	}
	v = w.clipVelocity(v)
	found, normal := w.findGround()
	if rises && dot(v, t.up) > 1e-3 {
		found = rigid.NoShape
	}
	m.Ground[i], m.GroundX[i], m.GroundY[i] = Shape{}, 0, 0
	if found != rigid.NoShape {
		m.Ground[i], m.GroundX[i], m.GroundY[i] = t.s.handle(found), normal.X, normal.Y
	}
	m.X[i], m.Y[i], m.VX[i], m.VY[i] = w.at.X, w.at.Y, v.X, v.Y
	t.pushes[i] = w.push
}

// groundMotion returns how far ground with that normal carries the character in the time of the move: by the motion of its
// body, at the centre of the round end at the foot, which keeps its place on ground that turns; and by its belt.
func (w *walker) groundMotion(ground Shape, normal rigid.Vec) rigid.Vec {
	s := w.t.s
	if ground == (Shape{}) || !s.shapeTable.IDs.Holds(ground.index, ground.generation) {
		return rigid.Vec{}
	}
	body, c, p := s.shapeTable.Owner[ground.index], s.cols, &s.queries.poses
	centre := add(w.at, scale(w.t.up, w.t.foot+w.t.form.shape.Radius))
	way := scale(rigid.Vec{X: c.VX[body], Y: c.VY[body]}, w.t.dt)
	r := rigid.Vec{X: centre.X - (p.X[body] - way.X), Y: centre.Y - (p.Y[body] - way.Y)}
	sin, cos := rigid.SinCos(float32(c.W[body] * w.t.dt))
	turned := rigid.Vec{X: float32(cos*r.X) - float32(sin*r.Y), Y: float32(sin*r.X) + float32(cos*r.Y)}
	belt := float32(s.shapes.TangentSpeed[ground.index] * w.t.dt)
	d := add(add(way, sub(turned, r)), rigid.Vec{X: float32(normal.Y * belt), Y: float32(-normal.X * belt)})
	if !(length(d) <= check.MaxCoefficient) { // a column may hold any value
		return rigid.Vec{}
	}
	return d
}

// without returns a move less the part of it that another one has made already.
func without(d, made rigid.Vec) rigid.Vec {
	size := length(made)
	if size < minMove {
		return d
	}
	made = scale(made, 1/size)
	return sub(d, scale(made, max(min(dot(d, made), size), 0)))
}

// alongGround turns an intended move so that it follows the ground and keeps its horizontal length.
func (w *walker) alongGround(wish, normal rigid.Vec) rigid.Vec {
	rise := dot(normal, w.t.up)
	if rise < 0.1 {
		return wish
	}
	across := sub(wish, scale(w.t.up, dot(wish, w.t.up)))
	return add(across, scale(w.t.up, -dot(across, normal)/rise))
}

// findNear finds the obstacles within a distance.
func (w *walker) findNear(distance float32) []rigid.ShapeHit {
	p := &w.probe
	p.X, p.Y, p.DX, p.DY, p.MaxT = w.at.X, w.at.Y, 1, 0, distance
	p.Prepare()
	w.nearby = w.t.s.queries.tree.Within(p, w.nearby[:0])
	return w.blocking(w.nearby)
}

// blocking removes the shapes that let the character pass: one-way platforms and segments of chains that
// it does not face, and platforms that it overlaps on its way up.
func (w *walker) blocking(found []rigid.ShapeHit) []rigid.ShapeHit {
	s := w.t.s
	if s.shapes.oneWays == 0 && s.shapes.chained == 0 {
		return found
	}
	kept := 0
	for i := range found {
		f := &found[i]
		if w.blocks(f) {
			found[kept] = *f
			kept++
		}
	}
	return found[:kept]
}

func (w *walker) blocks(f *rigid.ShapeHit) bool {
	s, t := w.t.s, &w.t.s.shapes
	if _, chained := t.chainOf(int(f.Shape)); chained {
		front := t.shape[f.Shape].Normals[0]
		x, y := s.rotate(int(t.filters.Body[f.Shape]), front.X, front.Y)
		return dot(rigid.Vec{X: x, Y: y}, f.Normal) > 1e-3
	}
	return s.blocks(f.Shape, f.Normal.X, f.Normal.Y) && (f.T >= -skin || t.oneWayDef(int(f.Shape)) == [2]float32{})
}

// castClosest finds the first obstacle that the character hits.
func (w *walker) castClosest() rigid.ShapeHit {
	s := w.t.s
	if s.shapes.oneWays == 0 && s.shapes.chained == 0 {
		return s.queries.tree.CastShapeClosest(&w.probe)
	}
	w.hits = s.queries.tree.CastShapeAll(&w.probe, w.hits[:0])
	if met := w.blocking(w.hits); len(met) > 0 {
		return met[0]
	}
	return rigid.ShapeHit{Shape: rigid.NoShape}
}

// recover moves the character out of obstacles that overlap it, or are too near.
func (w *walker) recover() {
	left := float32(w.t.def.RecoverSpeed * w.t.dt)
	for range maxSlides {
		near := w.findNear(0.5 * skin)
		if len(near) == 0 || left <= 0 {
			return
		}
		f := &near[0] // the deepest
		far := min(skin-f.T, left)
		w.at = add(w.at, scale(f.Normal, far))
		left -= far
	}
}

// collectPlanes collects the planes of obstacles that touch the character: it cannot move against them. A slope that
// is too steep also adds a vertical plane, which keeps the character from climbing it.
func (w *walker) collectPlanes() {
	w.planeCount = 0
	near := w.findNear(1.5 * skin)
	for i := range near[:min(len(near), maxPlanes)] {
		f := &near[i]
		w.planes[w.planeCount] = f.Normal
		w.planeCount++
		if rise := dot(f.Normal, w.t.up); rise > 0.01 && rise < w.t.minWalkCosine && !w.isLedge(f) {
			wall := sub(f.Normal, scale(w.t.up, rise))
			w.planes[w.planeCount] = scale(wall, 1/length(wall))
			w.planeCount++
		}
	}
}

// isLedge reports whether a steep contact point belongs to the edge of walkable
// ground, not higher than a step. It tests the face a centimetre behind the point.
func (w *walker) isLedge(f *rigid.ShapeHit) bool {
	up := w.t.up
	foot := dot(add(w.at, scale(up, w.t.foot)), up)
	if dot(f.Point, up)-foot > w.t.def.StepHeight {
		return false
	}
	back := sub(scale(up, dot(f.Normal, up)), f.Normal)
	size := length(back)
	if size < 1e-3 {
		return false
	}
	from := add(add(f.Point, scale(back, 2*skin/size)), scale(up, 4*skin))
	r := w.probe.Ray
	r.OX, r.OY, r.DX, r.DY, r.MaxT = from.X, from.Y, -up.X, -up.Y, 8*skin
	rays := [1]rigid.Ray{r}
	rigid.PrepareRays(rays[:])
	hit := w.t.s.queries.tree.CastRayClosest(&rays[0])
	return hit.Shape != rigid.NoShape && dot(hit.Normal, up) >= w.t.minWalkCosine
}

// clipToPlanes returns the move nearest to the given one that goes against no plane: the move itself, its
// part along a plane, or zero in a corner.
func (w *walker) clipToPlanes(d rigid.Vec) rigid.Vec {
	if w.allows(d) {
		return d
	}
	best, most := rigid.Vec{}, float32(0)
	for i := range w.planeCount {
		n := w.planes[i]
		along := sub(d, scale(n, dot(d, n)))
		if size := dot(along, along); size > most && w.allows(along) {
			best, most = along, size
		}
	}
	return best
}

// allows reports whether a move goes against no plane, up to rounding.
func (w *walker) allows(d rigid.Vec) bool {
	slack := float32(1e-5 * length(d))
	for i := range w.planeCount {
		if dot(d, w.planes[i]) < -slack {
			return false
		}
	}
	return true
}

// cast moves the character as far as possible, and returns the fraction of the move that is left, and the hit.
func (w *walker) cast(d rigid.Vec) (left float32, hit rigid.ShapeHit) {
	p := &w.probe
	p.X, p.Y, p.DX, p.DY, p.MaxT = w.at.X, w.at.Y, d.X, d.Y, 1
	far := length(d)
	if far < minMove {
		return 0, rigid.ShapeHit{Shape: rigid.NoShape}
	}
	// A move that would end nearer than the skin hits, too.
	reach := 1 + float32(2*skin)/far
	p.MaxT = reach
	p.Prepare()
	hit = w.castClosest()
	if hit.Shape == rigid.NoShape {
		w.at = add(w.at, d)
		return 0, hit
	}
	// Stop so far before the hit that the skin remains, unless the move is almost along the surface.
	against := max(-dot(hit.Normal, d)/far, 0.2)
	part := max(hit.T-skin/float32(against*far), 0)
	if part >= 1 {
		w.at = add(w.at, d)
		return 0, rigid.ShapeHit{Shape: rigid.NoShape}
	}
	w.at = add(w.at, scale(d, part))
	return 1 - part, hit
}

// slide moves the character; obstacles deflect it.
func (w *walker) slide(d rigid.Vec) {
	for range maxSlides {
		w.collectPlanes()
		d = w.clipToPlanes(d)
		if length(d) < minMove {
			return
		}
		left, hit := w.cast(d)
		if left == 0 {
			return
		}
		if w.push.shape == rigid.NoShape && dot(hit.Normal, w.t.up) < w.t.minWalkCosine &&
			w.t.s.cols.Type[w.t.s.shapeTable.Owner[hit.Shape]] == DynamicBody {
			w.push = moverPush{hit.Shape, hit.Normal, hit.Point}
		}
		d = scale(d, left)
	}
}

// stepUp repeats a move from the height of a step if the character has not come far enough horizontally. It
// keeps the result if that leads farther, and onto ground.
func (w *walker) stepUp(start, wish rigid.Vec) {
	up := w.t.up
	across := sub(wish, scale(up, dot(wish, up)))
	want := length(across)
	if w.t.def.StepHeight == 0 || want < minMove {
		return
	}
	ahead := scale(across, 1/want)
	came := dot(sub(w.at, start), ahead)
	if came > float32(0.95*want) {
		return
	}
	first, push := w.at, w.push
	w.at = start
	w.cast(scale(up, w.t.def.StepHeight))
	rose := dot(sub(w.at, start), up)
	w.slide(across)
	left, hit := w.cast(scale(up, -(rose + skin)))
	if left == 0 || !w.walkable(&hit) || dot(sub(w.at, start), ahead) < came+minMove ||
		dot(sub(hit.Point, start), up)-w.t.foot > w.t.def.StepHeight {
		w.at, w.push = first, push
		return
	}
	w.push.shape = rigid.NoShape
}

// walkable reports whether a character can stand on what was hit.
func (w *walker) walkable(f *rigid.ShapeHit) bool {
	rise := dot(f.Normal, w.t.up)
	return rise >= w.t.minWalkCosine || rise > 0.01 && w.isLedge(f)
}

// snap moves the character down to ground.
func (w *walker) snap() {
	if w.t.def.SnapDistance == 0 {
		return
	}
	for _, f := range w.findNear(1.5 * skin) {
		if w.walkable(&f) {
			return
		}
	}
	before := w.at
	if left, hit := w.cast(scale(w.t.up, -w.t.def.SnapDistance)); left == 0 || !w.walkable(&hit) {
		w.at = before
	}
}

// clipVelocity removes from a velocity the part that goes against the planes.
func (w *walker) clipVelocity(v rigid.Vec) rigid.Vec {
	w.collectPlanes()
	return w.clipToPlanes(v)
}

// findGround returns the flattest walkable shape that touches the character; of
// equals the nearest.
func (w *walker) findGround() (shape uint32, normal rigid.Vec) {
	shape = rigid.NoShape
	for _, f := range w.findNear(2 * skin) {
		if w.walkable(&f) && (shape == rigid.NoShape || dot(f.Normal, w.t.up) > dot(normal, w.t.up)) {
			shape, normal = f.Shape, f.Normal
		}
	}
	return shape, normal
}
