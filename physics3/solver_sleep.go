package physics3

import (
	"bytes"
	"math"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/frame"
	"github.com/evertick/evertick/internal/rigid3"
	"github.com/evertick/evertick/internal/sleep"
	"github.com/evertick/evertick/internal/wire"
)

const (
	// SleepTime is how long all bodies of an island must be at rest, in seconds, before they fall asleep.
	SleepTime = 0.5

	// DefaultSleepThreshold is the speed in m/s up to which a body whose BodyDef.SleepThreshold is zero counts as being at rest.
	DefaultSleepThreshold = 0.05
)

// Package sleep has the same constants.
var _ = [1]struct{}{}[SleepTime-sleep.Time]
var _ = [1]struct{}{}[DefaultSleepThreshold-sleep.DefaultThreshold]
var _ = [1]struct{}{}[FlagDisableSleep^sleep.Never|FlagDisabled^sleep.Disabled|FlagAsleep^sleep.Asleep]
var _ = [1]struct{}{}[uint8(StaticBody)^sleep.Static|uint8(KinematicBody)^sleep.Kinematic|uint8(DynamicBody)^sleep.Dynamic]
var _ = [1]struct{}{}[LockX^rigid3.LockX|LockZ^rigid3.LockZ|LockRotationX^rigid3.LockRotationX|LockRotationZ^rigid3.LockRotationZ]

// sleepers is the solver as package sleep sees it: poses at rest, what moves, and what joins bodies.
type sleepers struct {
	*solver
	restPose   [poseColumns][]float32
	invMass    []float32 // 0 for bodies that are asleep, as invInertia
	invInertia [3][]float32

	resting        []rigid3.Contact // contacts with points whose bodies are not active, in the order of the others
	restingConvex  int              // number of those without a surface
	restingTouches []rigid3.SurfaceTouch
	spare          []rigid3.Contact
	spareTouches   [2][]rigid3.SurfaceTouch
}

func (s *solver) openSleep(c *Config) {
	s.sleepers.solver = s
	s.sleep.Open(sleep.Config{
		Engine: &s.sleepers, Bodies: s.bodies, Types: buffer.Bytes(s.cols.Type), Flags: s.cols.Flags,
		Slept: &s.events.Slept, Woke: &s.events.Woke, Enabled: !c.DisableSleep,
	})
}

func (r *sleepers) Allocate() {
	n := len(r.cols.Flags)
	r.invMass = make([]float32, n)
	for k := range r.invInertia {
		r.invInertia[k] = make([]float32, n)
	}
	for k := range r.restPose {
		r.restPose[k] = make([]float32, n)
	}
}

// poseColumns returns the columns of the pose.
func (c *Columns) poses() [poseColumns][]float32 {
	return [...][]float32{c.X, c.Y, c.Z, c.QX, c.QY, c.QZ, c.QW}
}

// motions returns the columns of velocity, force and torque.
func (c *Columns) motions() [12][]float32 {
	return [...][]float32{c.VX, c.VY, c.VZ, c.WX, c.WY, c.WZ, c.ForceX, c.ForceY, c.ForceZ, c.TorqueX, c.TorqueY, c.TorqueZ}
}

func (r *sleepers) Store(i int) {
	for k, column := range r.cols.poses() {
		r.restPose[k][i] = column[i]
	}
}

func (r *sleepers) Forget(i int) {
	for _, k := range r.restPose {
		k[i] = 0
	}
}

func (r *sleepers) PoseWritten(i int) bool {
	for k, column := range r.cols.poses() {
		if bitsDiffer(column[i], r.restPose[k][i]) {
			return true
		}
	}
	return false
}

func bitsDiffer(a, b float32) bool { return math.Float32bits(a) != math.Float32bits(b) }

func (r *sleepers) Written(i int) bool {
	sum := uint32(0)
	for _, column := range r.cols.motions() {
		sum |= math.Float32bits(column[i])
	}
	return sum != 0 || r.PoseWritten(i)
}

// zeroRows is compared with columns that should be zero.
var zeroRows [sleep.ComparedRows]float32

func (r *sleepers) Unwritten(lo, hi int) bool {
	for k, column := range r.cols.poses() {
		if !bytes.Equal(buffer.Bytes(column[lo:hi]), buffer.Bytes(r.restPose[k][lo:hi])) {
			return false
		}
	}
	zero := buffer.Bytes(zeroRows[:hi-lo])
	for _, column := range r.cols.motions() {
		if !bytes.Equal(buffer.Bytes(column[lo:hi]), zero) {
			return false
		}
	}
	return true
}

func (r *sleepers) InRange(i int) bool { return r.allInRange(floatColumns, i, i+1) }

// Moving takes the velocity of the centre of mass of a dynamic body, and that of the farthest point of it by its rotation.
func (r *sleepers) Moving(i int) bool { return r.isMoving(i) }

func (s *solver) isMoving(i int) bool {
	v, w := s.linearVelocity(i), s.angularVelocity(i)
	if s.cols.Type[i] != DynamicBody {
		return v != (rigid3.Vec{}) || w != (rigid3.Vec{})
	}
	limit := s.sleep.Threshold[i]
	most, extent := float32(limit*limit), s.extent[i]
	return v.Dot(v) > most || float32(w.Dot(w)*float32(extent*extent)) > most
}

func (r *sleepers) Stop(i int) { r.putVelocity(i, rigid3.Vec{}, rigid3.Vec{}) }

func (r *sleepers) ClearMotion(i int) {
	r.Stop(i)
	r.putForce(i, rigid3.Vec{}, rigid3.Vec{})
}

func (r *sleepers) Clear(i int) { r.cols.clear(i) }

func (r *sleepers) EncodePose(e *frame.Encoder, i int) {
	for _, k := range r.restPose {
		e.F32(k[i])
	}
}

func (r *sleepers) DecodePose(b []byte, i int) {
	for at, k := range r.restPose {
		k[i] = wire.F32At(b, at)
	}
}

func (r *sleepers) AppendContacts(dst []sleep.Edge, resting bool) []sleep.Edge {
	contacts, of := r.contacts, r.shapes.filters.Body
	if resting {
		contacts = r.resting
	}
	for i := range contacts {
		c := &contacts[i]
		if c.Count == 0 || c.Flags&sensing != 0 {
			continue
		}
		e := sleep.Edge{A: of[c.A], B: of[c.B]}
		if !r.shapesLive(c) {
			if !r.shapeLives(c.A) {
				e.A = sleep.Gone
			}
			if !r.shapeLives(c.B) {
				e.B = sleep.Gone
			}
			if e.A == e.B {
				continue
			}
		}
		dst = append(dst, e)
	}
	return dst
}

func (r *sleepers) AppendJoints(dst []sleep.Edge) []sleep.Edge {
	for i := range r.joints.rows {
		if k := JointKind(r.joints.rows[i].kind); k != 0 && k != FilterJoint {
			a, b := r.jointTable.Bodies(i)
			dst = append(dst, sleep.Edge{A: a, B: b})
		}
	}
	return dst
}

func (r *sleepers) AppendTouched(dst []sleep.Edge) []sleep.Edge {
	of := r.shapes.filters.Body
	for i, a := range r.pairs.A {
		b := r.pairs.B[i]
		if r.manifolds[i].Count == 0 || r.sensorFlags(a, b) != 0 {
			continue
		}
		if e := (sleep.Edge{A: of[a], B: of[b]}); r.sleep.Sleeper(e.A) || r.sleep.Sleeper(e.B) {
			dst = append(dst, e)
		}
	}
	for k := range r.surfaces.chunks {
		c := &r.surfaces.chunks[k]
		for i, a := range c.Pairs.A {
			b := c.Pairs.B[i]
			if e := (sleep.Edge{A: of[a], B: of[b]}); c.Touches(i) && r.sensorFlags(a, b) == 0 && (r.sleep.Sleeper(e.A) || r.sleep.Sleeper(e.B)) {
				dst = append(dst, e)
			}
		}
	}
	return dst
}

// AppendCarried appends the bodies that move at half the speed of a belt or faster. A belt may be slower than bodies at rest; one that
// something holds back can sleep.
func (r *sleepers) AppendCarried(dst []uint32) []uint32 {
	t := &r.shapes
	if t.belts == 0 {
		return dst
	}
	for i := range r.contacts {
		c := &r.contacts[i]
		if c.Count == 0 || c.Flags&sensing != 0 || !r.shapesLive(c) {
			continue
		}
		belt := vecOf(t.belt[c.A]).Add(vecOf(t.belt[c.B]))
		if belt == (rigid3.Vec{}) {
			continue
		}
		for _, body := range [...]uint32{t.filters.Body[c.A], t.filters.Body[c.B]} {
			if v := r.linearVelocity(int(body)); v.Dot(v) > float32(0.25*belt.Dot(belt)) {
				dst = append(dst, body)
			}
		}
	}
	return dst
}

// ActiveChanged updates what follows from which bodies are active: the masses of a step, the shapes that move, and which contacts take part.
func (r *sleepers) ActiveChanged() {
	c, z := r.cols, &r.sleep
	inertia := [3][]float32{c.InvInertiaX, c.InvInertiaY, c.InvInertiaZ}
	for i := range r.rows() {
		awake := c.Flags[i]&FlagAsleep == 0
		r.invMass[i] = 0
		if awake {
			r.invMass[i] = c.InvMass[i]
		}
		for k := range inertia {
			r.invInertia[k][i] = 0
			if awake {
				r.invInertia[k][i] = inertia[k][i]
			}
		}
	}
	f := &r.shapes.filters
	for k, body := range f.Body {
		f.Moves[k] = r.shapes.local[k].Kind != 0 && z.Active.Has(int(body))
	}
	z.SetShapes(f.Moves)
	r.splitContacts()
	r.sys.Rest(r.rows()) // the step prepares active bodies again
}

// splitContacts moves the contacts of active bodies from resting to contacts, and those without an active body to resting, if one of their
// bodies is asleep. The latter lose their bases.
func (r *sleepers) splitContacts() {
	k := contactSplit{
		next: r.next[:0], bases: r.nextBases[:0], rest: r.spare[:0], touches: r.spareTouches[0][:0], restTouches: r.spareTouches[1][:0],
	}
	r.splitSegment(&k, r.contacts[:r.convex], r.bases[:r.convex], nil, r.resting[:r.restingConvex], nil)
	convex, restingConvex := len(k.next), len(k.rest)
	r.splitSegment(&k, r.contacts[r.convex:], r.bases[r.convex:], r.touches, r.resting[r.restingConvex:], r.restingTouches)
	r.contacts, r.next, r.pairsKnown = k.next, r.contacts, false
	r.bases, r.nextBases = k.bases, r.bases
	r.resting, r.spare = k.rest, r.resting
	r.touches, r.restingTouches, r.spareTouches = k.touches, k.restTouches, [2][]rigid3.SurfaceTouch{r.touches, r.restingTouches}
	r.convex, r.restingConvex = convex, restingConvex
}

// contactSplit is what splitContacts makes.
type contactSplit struct {
	next, rest           []rigid3.Contact
	bases                []rigid3.BaseManifold
	touches, restTouches []rigid3.SurfaceTouch
}

// splitSegment splits contacts without surfaces, or those with surfaces and their touches.
func (r *sleepers) splitSegment(to *contactSplit, contacts []rigid3.Contact, bases []rigid3.BaseManifold, touches []rigid3.SurfaceTouch, resting []rigid3.Contact, restingTouches []rigid3.SurfaceTouch) {
	i, k := 0, 0
	for i < len(contacts) || k < len(resting) {
		var c *rigid3.Contact
		var base rigid3.BaseManifold
		var touch []rigid3.SurfaceTouch
		if k == len(resting) || i < len(contacts) && contactLess(&contacts[i], &resting[k]) {
			c, base = &contacts[i], bases[i]
			if touches != nil {
				touch = touches[i : i+1]
			}
			i++
		} else {
			c = &resting[k]
			if restingTouches != nil {
				touch = restingTouches[k : k+1]
			}
			k++
		}
		if r.contactActive(c) {
			to.next, to.bases, to.touches = append(to.next, *c), append(to.bases, base), append(to.touches, touch...)
		} else if c.Count > 0 {
			c.Flags &^= rigid3.FlagBase
			to.rest, to.restTouches = append(to.rest, *c), append(to.restTouches, touch...)
		}
	}
}

func contactLess(a, b *rigid3.Contact) bool { return a.A < b.A || a.A == b.A && a.B < b.B }

// contactActive reports whether a contact takes part in a step, even if it only ends there.
func (r *sleepers) contactActive(c *rigid3.Contact) bool {
	if !r.shapesLive(c) {
		return true
	}
	a, b, active := r.shapes.filters.Body[c.A], r.shapes.filters.Body[c.B], r.sleep.Active
	return active.Has(int(a)) || active.Has(int(b)) || (r.cols.Flags[a]|r.cols.Flags[b])&FlagAsleep == 0
}

// trySleep updates how long bodies have been at rest, at the end of a step of dt seconds, and puts islands to sleep.
func (s *solver) trySleep(dt float32) {
	if s.sleep.EndStep(dt) {
		s.stages.ForNumberedSpans(s.sleep.Spans, (*solver).updateSleepTimes)
		s.sleep.SleepIslands(s.steps)
	}
}

func (s *solver) updateSleepTimes(at, lo, hi int) {
	z, ready := &s.sleep, 0
	for i := lo; i < hi; i++ {
		if z.Awake(i) && z.Rest(i, s.isMoving(i) || s.cols.Type[i] == DynamicBody && s.displacedBeyondThreshold(i)) {
			ready++
		}
	}
	z.SetReady(at, ready)
}

// displacedBeyondThreshold reports whether any point of a body has moved faster than its threshold in this step. That differs from its
// velocity while a contact pushes bodies apart, because relaxing removes this part from the velocity again. The farthest point of a body
// that has moved by D and turned by an angle, of whose half S is the sine, has moved by at most |D| + 2S·extent. Of D only the part counts
// that the precision of positions can represent.
func (s *solver) displacedBeyondThreshold(i int) bool {
	st, p := &s.sys.States[i], s.poses[i].P
	d := p.Sub(p.Sub(st.D))
	half := rigid3.Vec{X: st.Q.X, Y: st.Q.Y, Z: st.Q.Z}
	sine := float32(math.Sqrt(float64(half.Dot(half))))
	left := float32(s.sleep.Threshold[i]*s.dt) - float32(2*float32(sine*s.extent[i]))
	return left < 0 || d.Dot(d) > float32(left*left)
}

// wakeSeparated makes the next step wake the sleepers of contacts that ended.
func (s *solver) wakeSeparated(ended *broad.Pairs) {
	if s.sleep.Count == 0 {
		return
	}
	for i, a := range ended.A {
		if b := ended.B[i]; s.sensorFlags(a, b) == 0 {
			s.sleep.Separated(s.shapes.filters.Body[a])
			s.sleep.Separated(s.shapes.filters.Body[b])
		}
	}
}

func sleepThreshold(v float32) float32 {
	if v == 0 {
		return DefaultSleepThreshold
	}
	return v
}

// storeInverseMass stores the inverse mass of a body for the steps to come.
func (s *solver) storeInverseMass(i int) {
	c := s.cols
	if s.sleep.On && c.Flags[i]&FlagAsleep == 0 {
		r := &s.sleepers
		r.invMass[i], r.invInertia[0][i], r.invInertia[1][i], r.invInertia[2][i] = c.InvMass[i], c.InvInertiaX[i], c.InvInertiaY[i], c.InvInertiaZ[i]
	}
	s.sleep.MassChanged()
}

// inverseMasses returns the inverse masses of the first n rows for a step.
func (s *solver) inverseMasses(n int) (mass []float32, inertia [3][]float32) {
	c, r := s.cols, &s.sleepers
	if s.sleep.On {
		return r.invMass[:n], [3][]float32{r.invInertia[0][:n], r.invInertia[1][:n], r.invInertia[2][:n]}
	}
	return c.InvMass[:n], [3][]float32{c.InvInertiaX[:n], c.InvInertiaY[:n], c.InvInertiaZ[:n]}
}

// isIdle reports whether there is nothing to do in a step.
func (s *solver) isIdle() bool {
	return s.sleep.On && len(s.sleep.Spans) == 0 && len(s.contacts) == 0
}
