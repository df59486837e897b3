package rigid3

import "math"

const (
	// skin is the distance in metres that characters keep from obstacles. Between half and one and a half of it nothing moves them, so that a
	// character at rest keeps its position to the bit.
	skin = LinearSlop

	// maxSlides bounds how often obstacles deflect a move.
	maxSlides = 6

	// maxWalkPlanes bounds the contacts that constrain a character at a time: the nearest ones.
	maxWalkPlanes = 12

	// minMove is the length in metres below which a move counts as none.
	minMove = 1e-7

	// minProgress is by how many metres a step must lead farther than the way without it.
	minProgress = 1e-5

	// maxWalk is the length in metres of the parts in which a longer move is made, so that it does not gather all that is in a large box.
	maxWalk = 4

	// maxWalkParts bounds their number. The parts of a longer move are longer.
	maxWalkParts = 256

	// minRise is the least speed in m/s away from the ground at which a character leaves it.
	minRise = 1e-3

	// maxWalkSpeed bounds velocities in m/s.
	maxWalkSpeed = 1e6
)

// WalkRules is how the characters of a batch move.
type WalkRules struct {
	Up            Vec     // of length one
	MinWalkCosine float64 // least cosine of the slope of ground
	StepHeight    float64
	SnapDistance  float64
	RecoverSpeed  float64
	Dt            float64
	SubSteps      int
}

// WalkScene is the world through which they move.
type WalkScene struct {
	Tree    *QueryTree
	Poses   []Pose       // by body
	Bodies  []uint32     // by shape
	V, W    [3][]float32 // velocities by body: columns of the world
	InvMass []float32    // by body
	Belts   [][3]float32 // by shape, in the axes of the body
	Passes  func(a, b uint32) bool
}

// Walk is one character: a capsule. Move changes it.
type Walk struct {
	P, V         Vec     // position, and velocity relative to the ground
	Ground       uint32  // the shape on which it stands, or NoShape
	Normal       Vec     // of the ground
	GroundV      Vec     // the velocity of the ground, which it keeps in the air
	Low, Axis    Vec     // the lower end of the segment, from the position, and the direction to the upper one
	Height       float32 // of the capsule along Axis
	TargetHeight float32 // as soon as there is room
	Radius       float32
	Filter       Ray

	Pushed               uint32 // the first dynamic shape into which it has run, or NoShape
	PushNormal, PushedAt Vec
}

// Walker moves one character at a time. It is the memory for that; each worker has one.
type Walker struct {
	around    surroundings
	s         *WalkScene
	r         *WalkRules
	c         *Walk
	up        vec64
	at        vec64 // the middle of the segment
	half      vec64 // from there to its upper end
	radius    float64
	grounded  bool // it stood on ground before
	contacts  []nearContact
	contactAt vec64 // where they were found
	known     bool
	planes    [2 * maxWalkPlanes]vec64
	count     int // of planes
	pushed    bool
	push      nearContact
}

// Move moves a character.
func (w *Walker) Move(s *WalkScene, r *WalkRules, c *Walk) {
	w.begin(s, r, c)
	w.resize()
	v, groundV := c.V.wide64(), c.GroundV.wide64()
	w.grounded = c.Ground != NoShape
	carried, normal := vec64{}, c.Normal.wide64()
	if w.grounded {
		carried = w.groundMotion(c.Ground, normal)
	}
	w.gatherFor(carried, v, groundV)
	before := w.at
	w.recover()
	carried = without(carried, w.at.Sub(before)) // ground that rises has pushed it already
	if carried.length() > minMove {
		w.slide(carried)
	}
	rises := v.Dot(w.up) > minRise
	start, wish := w.at, v.Times(r.Dt)
	switch {
	case !w.grounded:
		wish = v.Add(groundV).Times(r.Dt)
	case !rises:
		wish = w.alongGround(wish, normal)
	}
	w.slide(wish)
	if w.grounded && !rises {
		w.stepUp(start, wish)
		w.snap()
	}
	if w.grounded {
		groundV = w.groundVelocity(c.Ground, normal)
	}
	w.finish(v, groundV)
}

func (w *Walker) begin(s *WalkScene, r *WalkRules, c *Walk) {
	w.s, w.r, w.c, w.up = s, r, c, r.Up.wide64()
	w.radius, w.pushed, w.known = float64(c.Radius), false, false
	w.around.tree, w.around.filter, w.around.passes = s.Tree, c.Filter, s.Passes
	if c.Filter.Exclude == NoShape {
		w.around.passes = nil
	}
	w.around.lo, w.around.hi = vec64{x: 1}, vec64{}
	w.setHeight(float64(c.Height))
}

// setHeight sets the segment of a capsule of that height, whose lower end stays.
func (w *Walker) setHeight(height float64) {
	w.half = w.c.Axis.wide64().Times(max(float64(0.5*height)-w.radius, 0))
	w.at = w.c.P.wide64().Add(w.c.Low.wide64()).Add(w.half)
	w.known = false
}

// resize makes the capsule shorter, or longer if there is room.
func (w *Walker) resize() {
	c := w.c
	switch {
	case c.TargetHeight < c.Height:
		c.Height = c.TargetHeight
	case c.TargetHeight > c.Height:
		// A capsule that is moved along its axis sweeps the longer one.
		grow := c.Axis.wide64().Times(float64(c.TargetHeight) - float64(c.Height) + skin)
		if _, hit := w.hit(grow, 1); hit {
			return
		}
		c.Height = c.TargetHeight
	default:
		return
	}
	w.setHeight(float64(c.Height))
}

// core is the core of the character.
func (w *Walker) core() walkCore { return walkCore{w.at.Sub(w.half), w.at.Add(w.half), w.radius} }

// foot returns the centre of the round end at the foot.
func (w *Walker) foot() vec64 {
	if w.half.Dot(w.up) < 0 {
		return w.at.Add(w.half)
	}
	return w.at.Sub(w.half)
}

// footHeight is the height of the lowest point, along up.
func (w *Walker) footHeight() float64 { return w.foot().Dot(w.up) - w.radius }

// gatherFor gathers what a move usually needs.
func (w *Walker) gatherFor(carried, v, groundV vec64) {
	c := w.core()
	lo, hi := c.box(4 * skin)
	reach := func(d vec64) {
		if d.sum() <= 2*maxWalk {
			lo, hi = lo.Add(d.least(vec64{})), hi.Add(d.most(vec64{}))
		}
	}
	reach(carried)
	if !w.grounded {
		v = v.Add(groundV)
	}
	d := v.Times(w.r.Dt)
	reach(d)
	if w.grounded {
		across := d.Sub(w.up.Times(d.Dot(w.up))).length()
		reach(w.up.Times(w.r.StepHeight + min(across, 1)))
		reach(w.up.Times(-max(w.r.SnapDistance, w.r.StepHeight) - min(across, 1)))
	}
	w.around.gather(lo, hi)
}

// groundMotion returns how far ground with that normal carries the character in the time of the move: by the motion of its body, at the centre
// of the round end at the foot, which keeps its place on ground that turns; and by its belt.
func (w *Walker) groundMotion(shape uint32, normal vec64) vec64 {
	body, dt := w.s.Bodies[shape], w.r.Dt
	linear, turn := w.s.velocity(body)
	d := linear.Times(dt)
	if turn != (vec64{}) {
		// Each sub-step turns the body by 2·atan(|w|·h/2).
		one := quat64{turn.Times(0.5 * dt / float64(w.r.SubSteps)), 1}
		l := 1 / math.Sqrt(one.v.Dot(one.v)+1)
		one = quat64{one.v.Times(l), l}
		all := one
		for range w.r.SubSteps - 1 {
			all = one.Times(all)
		}
		r := w.foot().Sub(w.s.Poses[body].P.wide64().Sub(d)) // before the step
		d = d.Add(all.rotate(r).Sub(r))
	}
	return finiteWalk(d.addTimes(w.s.belt(shape, normal), dt))
}

// groundVelocity returns the velocity of ground with that normal at the foot.
func (w *Walker) groundVelocity(shape uint32, normal vec64) vec64 {
	body := w.s.Bodies[shape]
	linear, turn := w.s.velocity(body)
	r := w.foot().Sub(w.s.Poses[body].P.wide64())
	return finiteWalk(linear.Add(turn.Cross(r)).Add(w.s.belt(shape, normal)))
}

// finiteWalk returns zero for a vector that is out of range: a column may hold any value.
func finiteWalk(d vec64) vec64 {
	if !(d.length() <= maxWalkSpeed) {
		return vec64{}
	}
	return d
}

func (s *WalkScene) velocity(body uint32) (linear, turn vec64) {
	return vec64{float64(s.V[0][body]), float64(s.V[1][body]), float64(s.V[2][body])},
		vec64{float64(s.W[0][body]), float64(s.W[1][body]), float64(s.W[2][body])}
}

// belt returns the velocity of a belt along its surface.
func (s *WalkScene) belt(shape uint32, normal vec64) vec64 {
	b := s.Belts[shape]
	if b == ([3]float32{}) {
		return vec64{}
	}
	v := s.Poses[s.Bodies[shape]].Q.Rotate(Vec{b[0], b[1], b[2]}).wide64()
	return v.addTimes(normal, -v.Dot(normal))
}

// without returns a move less the part of it that another one has made already.
func without(d, made vec64) vec64 {
	size := made.length()
	if size < minMove {
		return d
	}
	made = made.Times(1 / size)
	return d.addTimes(made, -max(min(d.Dot(made), size), 0))
}

// alongGround turns an intended move so that it follows the ground and keeps its horizontal length.
func (w *Walker) alongGround(wish, normal vec64) vec64 {
	rise := normal.Dot(w.up)
	if rise < 0.1 {
		return wish
	}
	across := wish.addTimes(w.up, -wish.Dot(w.up))
	return across.addTimes(w.up, -across.Dot(normal)/rise)
}

// near returns the contacts within a distance of up to 2·skin, the nearest first.
func (w *Walker) near(within float64) []nearContact {
	if !w.known || w.contactAt != w.at {
		c := w.core()
		w.contacts = w.around.appendNear(w.contacts[:0], &c, 2*skin)
		w.known, w.contactAt = true, w.at
	}
	n := 0
	for n < len(w.contacts) && w.contacts[n].t <= within {
		n++
	}
	return w.contacts[:n]
}

// hit finds the first obstacle on the way d, up to most times d.
func (w *Walker) hit(d vec64, most float64) (f nearContact, ok bool) {
	c := w.core()
	return w.hitBy(&c, d, most)
}

func (w *Walker) hitBy(c *walkCore, d vec64, most float64) (f nearContact, ok bool) {
	size := d.length()
	parts := min(max(math.Ceil(float64(most*size)/maxWalk), 1), maxWalkParts)
	for k := 0.; k < parts; k++ {
		// Parts overlap a little, so that rounding leaves no gap between them.
		from, to := most*k/parts, most*(k+1)/parts
		if k > 0 {
			from = max(from-2*skin/size, 0)
		}
		part := c.moved(d.Times(from))
		lo, hi := part.box(2 * skin)
		end := d.Times(to - from)
		w.around.require(lo.Add(end.least(vec64{})), hi.Add(end.most(vec64{})))
		if f, ok = w.around.castClosest(&part, d, to-from); ok {
			f.t += from
			return f, true
		}
	}
	return f, false
}

// recover moves the character out of obstacles that overlap it, or are too near. Other obstacles stop it, so that nothing pushes it through a wall.
func (w *Walker) recover() {
	left := float64(w.r.RecoverSpeed * w.r.Dt)
	for range maxSlides {
		near := w.near(0.5 * skin)
		if len(near) == 0 || left <= minMove {
			return
		}
		f := near[0] // the deepest
		d := f.normal.Times(min(skin-f.t, left))
		before := w.at
		w.cast(d)
		moved := w.at.Sub(before).length()
		if left -= moved; moved < minMove {
			return
		}
	}
}

// collectPlanes collects the planes of obstacles that touch the character: it cannot move against them. A slope that is too steep also adds a
// vertical plane, which keeps the character from climbing it. walls leaves out ground.
func (w *Walker) collectPlanes(walls bool) {
	w.count = 0
	near := w.near(1.5 * skin)
	for i := range near[:min(len(near), maxWalkPlanes)] {
		f := &near[i]
		if walls && w.walkable(f) {
			continue
		}
		w.planes[w.count] = f.normal
		w.count++
		if rise := f.normal.Dot(w.up); rise > 0.01 && rise < w.r.MinWalkCosine && !w.isLedge(f) {
			wall := f.normal.addTimes(w.up, -rise)
			w.planes[w.count] = wall.Times(1 / wall.length())
			w.count++
		}
	}
}

// isLedge reports whether a steep contact is at the edge of walkable ground that is no higher than a step. It tests the ground one centimetre farther
// in than the point of contact.
func (w *Walker) isLedge(f *nearContact) bool {
	if !f.feature || f.point.Dot(w.up)-w.footHeight() > w.r.StepHeight {
		return false
	}
	back := w.up.Times(f.normal.Dot(w.up)).Sub(f.normal)
	size := back.length()
	if size < 1e-3 {
		return false
	}
	from := f.point.addTimes(back, 2*skin/size).addTimes(w.up, 4*skin)
	c := walkCore{a: from, b: from}
	hit, ok := w.hitBy(&c, w.up.Times(-8*skin), 1)
	return ok && hit.normal.Dot(w.up) >= w.r.MinWalkCosine
}

// clipToPlanes returns the move nearest to the given one that goes against no plane: the move itself, its part along a plane, or along the line of
// two, or zero in a corner.
func (w *Walker) clipToPlanes(d vec64) vec64 {
	if w.allows(d) {
		return d
	}
	best, most := vec64{}, float64(1e-12*d.Dot(d)) // less is rounding
	least := most
	consider := func(along vec64) {
		if size := along.Dot(along); size > most && w.allows(along) {
			best, most = along, size
		}
	}
	for i := range w.count {
		n := w.planes[i]
		consider(d.addTimes(n, -d.Dot(n)))
	}
	if most > least {
		return best
	}
	for i := range w.count {
		for k := range i {
			line := w.planes[i].Cross(w.planes[k])
			if square := line.Dot(line); square > 1e-12 {
				consider(line.Times(d.Dot(line) / square))
			}
		}
	}
	return best
}

// allows reports whether a move goes against no plane, up to rounding.
func (w *Walker) allows(d vec64) bool {
	slack := float64(1e-7 * d.length())
	for i := range w.count {
		if d.Dot(w.planes[i]) < -slack {
			return false
		}
	}
	return true
}

// cast moves the character as far as possible, and returns the fraction of the move that is left, and the hit.
func (w *Walker) cast(d vec64) (left float64, f nearContact, hit bool) {
	far := d.length()
	if far < minMove {
		return 0, f, false
	}
	// A move that would end nearer than the skin hits, too.
	f, hit = w.hit(d, 1+2*skin/far)
	if !hit {
		w.at = w.at.Add(d)
		return 0, f, false
	}
	// Stop so far before the hit that the skin remains, unless the move is almost along the surface.
	against := max(-f.normal.Dot(d)/far, 0.2)
	part := max(f.t-skin/float64(against*far), 0)
	if part >= 1 {
		w.at = w.at.Add(d)
		return 0, f, false
	}
	w.at = w.at.addTimes(d, part)
	return 1 - part, f, true
}

// slide moves the character; obstacles deflect it.
func (w *Walker) slide(d vec64) {
	for range maxSlides {
		w.collectPlanes(false)
		near := w.near(1.5 * skin)
		for i := range near {
			w.pushAgainst(&near[i], d)
		}
		d = w.clipToPlanes(d)
		if d.length() < minMove {
			return
		}
		left, f, hit := w.cast(d)
		if !hit {
			return
		}
		w.pushAgainst(&f, d)
		d = d.Times(left)
	}
}

// pushAgainst records the first dynamic body that is in the way of a move. What it can stand on is not.
func (w *Walker) pushAgainst(f *nearContact, d vec64) {
	if !w.pushed && w.s.InvMass[f.g.body] > 0 && f.normal.Dot(w.up) < w.r.MinWalkCosine && f.normal.Dot(d) < -minMove {
		w.push, w.pushed = *f, true
	}
}

// stepUp repeats a move from the height of a step if the character has not come far enough horizontally. It keeps the result if that leads
// farther, and onto ground.
func (w *Walker) stepUp(start, wish vec64) {
	across := wish.addTimes(w.up, -wish.Dot(w.up))
	want := across.length()
	if w.r.StepHeight == 0 || want < minMove {
		return
	}
	ahead := across.Times(1 / want)
	came := w.at.Sub(start).Dot(ahead)
	if came > float64(0.95*want) {
		return
	}
	first, push, pushed := w.at, w.push, w.pushed
	w.at = start
	foot := w.footHeight()
	w.cast(w.up.Times(w.r.StepHeight))
	rose := w.at.Sub(start).Dot(w.up)
	w.slide(across)
	_, f, hit := w.cast(w.up.Times(-(rose + skin)))
	if !hit || !w.walkable(&f) || w.at.Sub(start).Dot(ahead) < came+minProgress || f.point.Dot(w.up)-foot > w.r.StepHeight {
		w.at, w.push, w.pushed = first, push, pushed
		return
	}
	w.pushed = false
}

// walkable reports whether a character can stand on what was hit.
func (w *Walker) walkable(f *nearContact) bool {
	rise := f.normal.Dot(w.up)
	return rise >= w.r.MinWalkCosine || rise > 0.01 && w.isLedge(f)
}

// snap moves the character down to ground.
func (w *Walker) snap() {
	if w.r.SnapDistance == 0 {
		return
	}
	near := w.near(1.5 * skin)
	for i := range near {
		if w.walkable(&near[i]) {
			return
		}
	}
	before := w.at
	if _, f, hit := w.cast(w.up.Times(-w.r.SnapDistance)); !hit || !w.walkable(&f) {
		w.at = before
	}
}

// findGround returns the flattest walkable shape that touches the character; of equals the nearest.
func (w *Walker) findGround() (f nearContact, ok bool) {
	near := w.near(2 * skin)
	for i := range near {
		if n := &near[i]; w.walkable(n) && (!ok || n.normal.Dot(w.up) > f.normal.Dot(w.up)) {
			f, ok = *n, true
		}
	}
	return f, ok
}

// finish writes where the character is, and what obstacles leave of its velocity v relative to ground that moves with groundV.
func (w *Walker) finish(v, groundV vec64) {
	c, wish := w.c, v
	if !w.grounded {
		wish = v.Add(groundV)
	}
	w.collectPlanes(false)
	met := w.clipToPlanes(wish)
	ground, ok := w.findGround()
	if ok {
		// It does not land on ground that moves away from it.
		below, against, away := w.groundVelocity(ground.g.shape, ground.normal), vec64{}, w.up
		if !w.grounded {
			against, away = below, ground.normal
		}
		if ok = !(wish.Sub(against).Dot(away) > minRise && met.Sub(against).Dot(away) > minRise); ok {
			v, groundV = w.standing(wish.Sub(against)), below
		}
	}
	switch {
	case ok:
	case w.grounded:
		v = met
	default:
		groundV = w.clipToPlanes(groundV)
		v = met.Sub(groundV)
	}
	c.Ground, c.Normal = NoShape, Vec{}
	if ok {
		c.Ground, c.Normal = ground.g.shape, ground.normal.narrow()
	}
	c.P = w.at.Sub(w.half).Sub(c.Low.wide64()).narrow()
	c.V, c.GroundV = bounded(v), bounded(groundV)
	c.Pushed = NoShape
	if w.pushed {
		c.Pushed, c.PushNormal, c.PushedAt = w.push.g.shape, w.push.normal.narrow(), w.push.point.narrow()
	}
}

// standing returns what walls leave of the level part of a velocity. Ground takes the rest.
func (w *Walker) standing(v vec64) vec64 {
	w.collectPlanes(true)
	v = w.clipToPlanes(v.addTimes(w.up, -v.Dot(w.up)))
	return v.addTimes(w.up, -v.Dot(w.up))
}

// bounded is a velocity whose numbers are at most maxWalkSpeed.
func bounded(v vec64) Vec {
	limit := func(x float64) float64 { return min(max(x, -maxWalkSpeed), maxWalkSpeed) }
	return vec64{limit(v.x), limit(v.y), limit(v.z)}.narrow()
}
