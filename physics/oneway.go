package physics

import (
	"math"
	"slices"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/frame"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/internal/wire"
)

// passThrough is a flag of rigid.Contact: one of the shapes is a one-way platform through which the other passes,
// until they no longer touch.
const passThrough = 1 << 29

// faceTurned is a flag of a rigid.Contact with points: OneWay of one of the shapes has changed since the last step.
const faceTurned = 1 << 28

const (
	// minFacing is the cosine of the largest angle, 75°, between the front of a platform and the normal
	// of a contact that it stops.
	minFacing = 0.25

	// maxSeatedOverlap is the overlap in metres up to which a shape may begin to rest on a platform, beyond the
	// distance that the two have closed in a step.
	maxSeatedOverlap = 2 * rigid.LinearSlop

	maxDirection, minDirection = 1e6, 1e-6
)

func checkOneWay(v [2]float32) error {
	if v == [2]float32{} {
		return nil
	}
	return checkDirection("physics: ShapeDef.OneWay", v)
}

// checkDirection requires a vector whose direction can be computed without overflow.
func checkDirection(field string, v [2]float32) error {
	if err := check.Vector(field, v[:]); err != nil {
		return err
	}
	if longer := max(v[0], -v[0], v[1], -v[1]); longer < minDirection || longer > maxDirection {
		return fault.Field(ErrRange, field, v)
	}
	return nil
}

// oneWay is ShapeDef.OneWay and its direction.
type oneWay struct {
	def  [2]float32
	unit rigid.Vec
}

// setOneWay makes a shape a one-way platform, or an ordinary shape if def is zero.
func (t *shapeColumns) setOneWay(shape int, def [2]float32) {
	none := def == [2]float32{}
	if shape >= len(t.oneWay) {
		if none {
			return
		}
		t.oneWay = append(t.oneWay, make([]oneWay, shape+1-len(t.oneWay))...)
	}
	o := &t.oneWay[shape]
	if o.def != [2]float32{} {
		t.oneWays--
	}
	if *o = (oneWay{}); none {
		return
	}
	t.oneWays++
	x, y := float64(def[0]), float64(def[1])
	length := math.Sqrt(float64(x*x) + float64(y*y))
	*o = oneWay{def, rigid.Vec{X: float32(x / length), Y: float32(y / length)}}
}

func (t *shapeColumns) oneWayDef(shape int) [2]float32 {
	if shape >= len(t.oneWay) {
		return [2]float32{}
	}
	return t.oneWay[shape].def
}

// turnFace makes the next step judge the contacts of a shape, which becomes a platform with another front.
func (s *solver) turnFace(shape uint32) {
	for _, contacts := range [...][]rigid.Contact{s.contacts, s.sleepers.resting} {
		for i := range contacts {
			if c := &contacts[i]; (c.A == shape || c.B == shape) && c.Count > 0 && c.Flags&noPush == 0 {
				c.Flags = c.Flags&^rigid.FlagBase | faceTurned
			}
		}
	}
}

// blocks reports whether a shape stops another one at a contact with the given normal, which points away
// from it: true unless it is a one-way platform that faces elsewhere.
func (s *solver) blocks(shape uint32, nx, ny float32) bool {
	t := &s.shapes
	if t.oneWayDef(int(shape)) == [2]float32{} {
		return true
	}
	x, y := s.rotate(int(t.filters.Body[shape]), t.oneWay[shape].unit.X, t.oneWay[shape].unit.Y)
	return float32(x*nx)+float32(y*ny) > minFacing
}

// disablePassing finds the contacts of pairs [lo, hi) that pass through a one-way platform, and removes their
// points. The contacts that began become those that began to be stopped; those that pass because a platform has turned
// have ended.
func (s *solver) disablePassing(lo, hi int, sh *contactChunk) {
	sh.passing = 0
	if s.shapes.oneWays == 0 && s.passingContacts == 0 {
		return
	}
	began, stopped, next := &sh.began, &sh.stopped, 0
	stopped.A, stopped.B = stopped.A[:0], stopped.B[:0]
	for i := lo; i < hi; i++ {
		c := &s.next[i]
		if c.Count == 0 {
			continue
		}
		is := next < len(began.A) && began.A[next] == c.A && began.B[next] == c.B
		if is {
			next++
		}
		was, turned := c.Flags&passThrough != 0, c.Flags&faceTurned != 0
		c.Flags &^= faceTurned
		if (is || was || turned) && s.passesThrough(c, &s.manifolds[i], was) {
			sh.passing++
			s.manifolds[i].Count = 0
			c.Flags |= passThrough
			clearImpulses(c)
			if turned {
				insertPair(&sh.ended, c.A, c.B)
			}
			continue
		}
		c.Flags &^= passThrough
		if is || was {
			stopped.A, stopped.B = append(stopped.A, c.A), append(stopped.B, c.B)
		}
	}
	sh.began, sh.stopped = sh.stopped, sh.began
}

// insertPair adds a pair to a list that ascends.
func insertPair(p *broad.Pairs, a, b uint32) {
	i := len(p.A)
	for i > 0 && (p.A[i-1] > a || p.A[i-1] == a && p.B[i-1] > b) {
		i--
	}
	p.A, p.B = slices.Insert(p.A, i, a), slices.Insert(p.B, i, b)
}

// passesThrough reports whether one of two shapes lets the other pass. They begin to
// touch, or it has let the other pass so far (was).
func (s *solver) passesThrough(c *rigid.Contact, m *rigid.Manifold, was bool) bool {
	t := &s.shapes
	onA, onB := t.oneWayDef(int(c.A)) != [2]float32{}, t.oneWayDef(int(c.B)) != [2]float32{}
	if !onA && !onB || s.sensorFlags(c.A, c.B) != 0 {
		return false
	}
	x, y := m.Normal.X, m.Normal.Y
	if onA && !s.blocks(c.A, x, y) || onB && !s.blocks(c.B, -x, -y) {
		return true
	}
	separation, allowed := m.Points[0].Separation, float32(0)
	if c.Count > 1 {
		separation = min(separation, m.Points[1].Separation)
	}
	if !was {
		allowed = maxSeatedOverlap + float32(s.closingSpeed(c, m)*s.dt)
	}
	return separation < -allowed
}

// ignoredInSweep reports whether continuous collision ignores two shapes although their filters collide:
// their bodies ignore each other, or a joint prevents their collision, or one is a one-way platform that the other
// passes through, or does not approach from the front.
func (s *solver) ignoredInSweep(shape, other uint32) bool {
	t := &s.shapes
	body, of := t.filters.Body[shape], t.filters.Body[other]
	if s.pairIgnored(shape, other) || s.joints.noCollide > 0 && s.jointPreventsCollision(body, of) {
		return true
	}
	if t.oneWayDef(int(shape)) == [2]float32{} && t.oneWayDef(int(other)) == [2]float32{} {
		return false
	}
	if s.movesAway(other, body, of) || s.movesAway(shape, of, body) {
		return true
	}
	c := s.contactOf(shape, other)
	return c != nil && c.Flags&passThrough != 0
}

// movesAway reports whether a shape is a one-way platform and a body does not move against its front, relative
// to the body of the shape.
func (s *solver) movesAway(platform, body, of uint32) bool {
	if s.shapes.oneWayDef(int(platform)) == [2]float32{} {
		return false
	}
	front := s.shapes.oneWay[platform].unit
	x, y := s.rotate(int(of), front.X, front.Y)
	a, b := s.displacement(body), s.displacement(of)
	return float32((a.X-b.X)*x)+float32((a.Y-b.Y)*y) >= 0
}

// displacement returns how far a body has moved in this step.
func (s *solver) displacement(body uint32) rigid.Vec {
	if !s.sleep.Awake(int(body)) {
		return rigid.Vec{}
	}
	st := &s.sys.States[body]
	return rigid.Vec{X: st.DX, Y: st.DY}
}

// contactOf returns the contact of two shapes in this step, or nil.
func (s *solver) contactOf(a, b uint32) *rigid.Contact {
	a, b = min(a, b), max(a, b)
	i := rigid.LowerBound(s.contacts, a, b)
	if i == len(s.contacts) || s.contacts[i].A != a || s.contacts[i].B != b {
		return nil
	}
	return &s.contacts[i]
}

// mayTouch reports whether two shapes have a contact with points in this step, or may have lost it to
// the bound on contacts: an omitted pair must count as touching.
func (s *solver) mayTouch(a, b uint32) bool {
	c := s.contactOf(a, b)
	return c != nil && c.Count > 0 || c == nil && s.omittedPairs > 0
}

// closingSpeed returns the speed in m/s at which the first point of a contact closes, or 0.
func (s *solver) closingSpeed(c *rigid.Contact, m *rigid.Manifold) float32 {
	ax, ay := s.velocityAt(s.shapes.filters.Body[c.A], m.Points[0].AnchorA)
	bx, by := s.velocityAt(s.shapes.filters.Body[c.B], m.Points[0].AnchorB)
	v := float32((bx-ax)*m.Normal.X) + float32((by-ay)*m.Normal.Y)
	if v < 0 {
		return -v
	}
	return 0
}

// velocityAt returns the velocity of a point of a body; at is relative to its centre of mass.
func (s *solver) velocityAt(body uint32, at rigid.Vec) (x, y float32) {
	c := s.cols
	return c.VX[body] - float32(c.W[body]*at.Y), c.VY[body] + float32(c.W[body]*at.X)
}

// passFlag returns passThrough if the contact of the last step had it. s.contacts still holds that step.
func (s *solver) passFlag(a, b uint32) uint32 {
	if s.passingContacts == 0 {
		return 0
	}
	return s.contacts[rigid.LowerBound(s.contacts, a, b)].Flags & passThrough
}

// countPassing counts after the contacts were replaced.
func (s *solver) countPassing() {
	s.passingContacts = 0
	for i := range s.contacts {
		if s.contacts[i].Flags&passThrough != 0 {
			s.passingContacts++
		}
	}
}

// The frame "one-way": a uint32 number of a shape and two float32 for each platform, ascending.

func (w *World) encodeOneWays(e *frame.Encoder) {
	t := &w.solver.shapes
	for i := range t.oneWay {
		if def := t.oneWay[i].def; def != [2]float32{} {
			e.U32(i)
			e.F32(def[0])
			e.F32(def[1])
		}
	}
}

const oneWayBytes = 3 * 4

func (im *snapshotImage) readOneWays(b []byte) error {
	if len(b)%oneWayBytes != 0 {
		return im.Corrupt("length of the one-way platforms", len(b))
	}
	next, r := uint32(0), wire.NewReader(b)
	for i := range len(b) / oneWayBytes {
		shape, def := r.U32(), [2]float32{r.F32(), r.F32()}
		if shape < next || uint64(shape) >= uint64(len(im.made)) || im.made[shape].Count == 0 ||
			checkOneWay(def) != nil || def == [2]float32{} {
			return im.CorruptElement("one-way platform", i, shape)
		}
		im.made[shape].def.OneWay = def
		next = shape + 1
	}
	return nil
}
