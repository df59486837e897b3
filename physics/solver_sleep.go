package physics

import (
	"bytes"
	"math"
	"slices"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/frame"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/internal/sleep"
	"github.com/evertick/evertick/internal/wire"
)

const (
	// SleepTime is how long all bodies of an island must be at rest, in seconds, before they
	// fall asleep.
	SleepTime = 0.5

	// DefaultSleepThreshold is the speed in m/s up to which a body whose
	// BodyDef.SleepThreshold is zero counts as being at rest.
	DefaultSleepThreshold = 0.05
)

// Package sleep has the same constants.
var _ = [1]struct{}{}[SleepTime-sleep.Time]
var _ = [1]struct{}{}[DefaultSleepThreshold-sleep.DefaultThreshold]
var _ = [1]struct{}{}[FlagDisableSleep^sleep.Never|FlagDisabled^sleep.Disabled|FlagAsleep^sleep.Asleep]
var _ = [1]struct{}{}[uint8(StaticBody)^sleep.Static|uint8(KinematicBody)^sleep.Kinematic|uint8(DynamicBody)^sleep.Dynamic]

// sleepers is the solver as package sleep sees it: poses at rest, what moves, and what joins bodies.
type sleepers struct {
	*solver
	restPose   [poseColumns][]float32
	invMass    []float32
	invInertia []float32 // invInertia and invMass are 0 for bodies that are asleep

	resting []rigid.Contact // contacts with points whose bodies are not active
	spare   []rigid.Contact
}

// poseColumns is the number of columns of a pose: the first of Columns.floatColumns.
const poseColumns = 5

// noPush are the flags of contacts that neither join islands nor wake bodies: those of sensors,
// and of shapes that pass through a one-way platform.
const noPush = sensorA | sensorB | passThrough

func (s *solver) openSleep(cfg *Config) {
	s.sleepers.solver = s
	s.sleep.Open(sleep.Config{
		Engine: &s.sleepers, Bodies: s.bodies, Types: buffer.Bytes(s.cols.Type), Flags: s.cols.Flags,
		Slept: &s.events.Slept, Woke: &s.events.Woke, Enabled: !cfg.DisableSleep,
	})
}

func (r *sleepers) Allocate() {
	n := len(r.cols.Flags)
	for _, c := range [...]*[]float32{&r.invMass, &r.invInertia, &r.restPose[0], &r.restPose[1], &r.restPose[2], &r.restPose[3], &r.restPose[4]} {
		*c = make([]float32, n)
	}
}

func (r *sleepers) Store(i int) {
	c, k := r.cols, &r.restPose
	k[0][i], k[1][i], k[2][i], k[3][i], k[4][i] = c.X[i], c.Y[i], c.Angle[i], c.Cos[i], c.Sin[i]
}

func (r *sleepers) Forget(i int) {
	for _, k := range r.restPose {
		k[i] = 0
	}
}

func (r *sleepers) PoseWritten(i int) bool {
	c, k := r.cols, &r.restPose
	return bitsDiffer(c.X[i], k[0][i]) || bitsDiffer(c.Y[i], k[1][i]) || bitsDiffer(c.Angle[i], k[2][i]) ||
		bitsDiffer(c.Cos[i], k[3][i]) || bitsDiffer(c.Sin[i], k[4][i])
}

func (r *sleepers) Written(i int) bool {
	if r.PoseWritten(i) {
		return true
	}
	c := r.cols
	sum := uint32(0)
	for _, v := range [...]float32{c.VX[i], c.VY[i], c.W[i], c.ForceX[i], c.ForceY[i], c.Torque[i]} {
		sum |= math.Float32bits(v)
	}
	return sum != 0
}

// zeroRows is compared with columns that should be zero.
var zeroRows [sleep.ComparedRows]float32

func (r *sleepers) Unwritten(lo, hi int) bool {
	c := r.cols
	for k, column := range [...][]float32{c.X, c.Y, c.Angle, c.Cos, c.Sin} {
		if !bytes.Equal(buffer.Bytes(column[lo:hi]), buffer.Bytes(r.restPose[k][lo:hi])) {
			return false
		}
	}
	zero := buffer.Bytes(zeroRows[:hi-lo])
	for _, column := range [...][]float32{c.VX, c.VY, c.W, c.ForceX, c.ForceY, c.Torque} {
		if !bytes.Equal(buffer.Bytes(column[lo:hi]), zero) {
			return false
		}
	}
	return true
}

func (r *sleepers) InRange(i int) bool {
	c := r.cols
	return rigid.AllInRange(r.level, c.memory[i:], c.stride, len(c.floatColumns()), 1)
}

// Moving takes the velocity of the centre of mass of a dynamic body, and that of the farthest point of it by its rotation.
func (r *sleepers) Moving(i int) bool { return r.isMoving(i) }

func (s *solver) isMoving(i int) bool {
	c := s.cols
	vx, vy, w := c.VX[i], c.VY[i], c.W[i]
	if c.Type[i] != DynamicBody {
		return vx != 0 || vy != 0 || w != 0
	}
	limit := s.sleep.Threshold[i]
	return float32(vx*vx)+float32(vy*vy) > float32(limit*limit) ||
		float32(float32(math.Abs(float64(w)))*s.continuous.extents.Max[i]) > limit
}

func (r *sleepers) Stop(i int) { r.cols.VX[i], r.cols.VY[i], r.cols.W[i] = 0, 0, 0 }

func (r *sleepers) ClearMotion(i int) {
	r.Stop(i)
	r.cols.ForceX[i], r.cols.ForceY[i], r.cols.Torque[i] = 0, 0, 0
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
		if c.Count == 0 || c.Flags&noPush != 0 {
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
		if j := &r.joints.rows[i]; j.kind != 0 && JointKind(j.kind) != FilterJoint {
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
	return dst
}

// AppendCarried appends the bodies that move at half the speed of a belt or faster. A belt may be slower than bodies at rest;
// one that something holds back can sleep.
func (r *sleepers) AppendCarried(dst []uint32) []uint32 {
	t := &r.shapes
	if !slices.ContainsFunc(t.TangentSpeed, func(v float32) bool { return v != 0 }) {
		return dst
	}
	for i := range r.contacts {
		c := &r.contacts[i]
		if c.Count == 0 || c.Flags&noPush != 0 || !r.shapesLive(c) {
			continue
		}
		belt := t.TangentSpeed[c.A] + t.TangentSpeed[c.B]
		if belt == 0 {
			continue
		}
		for _, body := range [...]uint32{t.filters.Body[c.A], t.filters.Body[c.B]} {
			vx, vy := r.cols.VX[body], r.cols.VY[body]
			if float32(vx*vx)+float32(vy*vy) > float32(0.25*float32(belt*belt)) {
				dst = append(dst, body)
			}
		}
	}
	return dst
}

// ActiveChanged updates what follows from which bodies are active: the masses of a step, the shapes that move, and which
// contacts take part.
func (r *sleepers) ActiveChanged() {
	c, z := r.cols, &r.sleep
	for i := range r.rows {
		r.invMass[i], r.invInertia[i] = c.InvMass[i], c.InvInertia[i]
		if c.Flags[i]&FlagAsleep != 0 {
			r.invMass[i], r.invInertia[i] = 0, 0
		}
	}
	f := &r.shapes.filters
	for k, body := range f.Body {
		f.Moves[k] = r.shapes.local[k].Count > 0 && z.Active.Has(int(body))
	}
	z.SetShapes(f.Moves)
	r.splitContacts()
	states := r.sys.States[:r.rows]
	for i := range states {
		states[i] = rigid.State{C: 1} // the step sets those of active bodies again
	}
}

// splitContacts moves the contacts of active bodies from resting to contacts, and those
// without an active body to resting, if one of their bodies is asleep. The latter lose their bases.
func (r *sleepers) splitContacts() {
	next, bases, rest := r.next[:0], r.nextBases[:0], r.spare[:0]
	i, k := 0, 0
	for i < len(r.contacts) || k < len(r.resting) {
		var c *rigid.Contact
		var base rigid.BaseManifold
		if k == len(r.resting) || i < len(r.contacts) && contactLess(&r.contacts[i], &r.resting[k]) {
			c, base = &r.contacts[i], r.bases[i]
			i++
		} else {
			c = &r.resting[k]
			k++
			if c.Flags&passThrough != 0 {
				r.passingContacts++ // disablePassing ends those that no longer touch
			}
		}
		if r.contactActive(c) {
			next, bases = append(next, *c), append(bases, base)
		} else if c.Count > 0 {
			c.Flags &^= rigid.FlagBase
			rest = append(rest, *c)
		}
	}
	r.contacts, r.next, r.pairsKnown = next, r.contacts, false
	r.bases, r.nextBases = bases, r.bases
	r.resting, r.spare = rest, r.resting
}

func contactLess(a, b *rigid.Contact) bool { return a.A < b.A || a.A == b.A && a.B < b.B }

// contactActive reports whether a contact takes part in a step, even if it only ends there.
func (r *sleepers) contactActive(c *rigid.Contact) bool {
	if !r.shapesLive(c) {
		return true
	}
	a, b, active := r.shapes.filters.Body[c.A], r.shapes.filters.Body[c.B], r.sleep.Active
	return active.Has(int(a)) || active.Has(int(b)) || (r.cols.Flags[a]|r.cols.Flags[b])&FlagAsleep == 0
}

// trySleep updates how long bodies have been at rest, at the end of a step of dt
// seconds, and puts islands to sleep.
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

// displacedBeyondThreshold reports whether any point of a body has moved faster than its threshold in this step.
// That differs from its velocity while a joint pulls bodies together or a contact pushes them apart, because relaxing
// removes this part from the velocity again. The farthest point of a body that has moved
// by D and turned by an angle with the sine S and the cosine C has moved by at most
// |D| + (|S| + (1 - C))·Max. Of D only the part counts that the precision of positions can represent.
func (s *solver) displacedBeyondThreshold(i int) bool {
	st, p := &s.sys.States[i], &s.sys.Poses
	dx, dy := p.X[i]-(p.X[i]-st.DX), p.Y[i]-(p.Y[i]-st.DY)
	sine := st.S
	if sine < 0 {
		sine = -sine
	}
	limit := float32(s.sleep.Threshold[i] * s.dt)
	left := limit - float32((sine+(1-st.C))*s.continuous.extents.Max[i])
	return left < 0 || float32(dx*dx)+float32(dy*dy) > float32(left*left)
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

func (s *solver) wakeBothUnlessNew(a, b Body) {
	s.sleep.WakeUnlessNew(int(a.index))
	s.sleep.WakeUnlessNew(int(b.index))
}

// wakeJoint wakes the bodies of a joint that is destroyed or changed.
func (s *solver) wakeJoint(i int) {
	a, b := s.jointTable.Bodies(i)
	s.sleep.Wake(int(a))
	s.sleep.Wake(int(b))
}

// wakeJointUnlessNew wakes the bodies of a new joint, except those that were created asleep since the last step.
func (s *solver) wakeJointUnlessNew(i int) {
	a, b := s.jointTable.Bodies(i)
	for _, body := range [...]int{int(a), int(b)} {
		if !s.sleep.CreatedAsleep(body) {
			s.sleep.Wake(body)
		}
	}
}

// jointAsleep reports whether no body of a joint is awake.
func (s *solver) jointAsleep(i int) bool {
	a, b := s.jointTable.Bodies(i)
	return s.sleep.On && !s.sleep.Awake(int(a)) && !s.sleep.Awake(int(b))
}

func sleepThreshold(v float32) float32 {
	if v == 0 {
		return DefaultSleepThreshold
	}
	return v
}

// storeInverseMass stores the inverse mass of a body.
func (s *solver) storeInverseMass(i int) {
	c := s.cols
	if s.sleep.On && c.Flags[i]&FlagAsleep == 0 {
		s.sleepers.invMass[i], s.sleepers.invInertia[i] = c.InvMass[i], c.InvInertia[i]
	}
	s.sleep.MassChanged()
}

// inverseMasses returns the inverse masses of the first n rows for a step.
func (s *solver) inverseMasses(n int) (mass, turn []float32) {
	if s.sleep.On {
		return s.sleepers.invMass[:n], s.sleepers.invInertia[:n]
	}
	return s.cols.InvMass[:n], s.cols.InvInertia[:n]
}

// isIdle reports whether there is nothing to do in a step.
func (s *solver) isIdle() bool {
	return s.sleep.On && len(s.sleep.Spans) == 0 && len(s.contacts) == 0
}
