package physics

import (
	"math"

	"github.com/evertick/evertick/internal/bitset"
	"github.com/evertick/evertick/internal/graph"
	"github.com/evertick/evertick/internal/rigid"
)

const (
	// SleepTime is how long all bodies of an island must be at rest, in seconds, before they
	// fall asleep.
	SleepTime = 0.5

	// DefaultSleepThreshold is the speed in m/s up to which a body whose
	// BodyDef.SleepThreshold is zero counts as being at rest.
	DefaultSleepThreshold = 0.05

	// sleepEvery is the number of steps between two searches for islands that fall asleep. The work that
	// follows is then done once for several islands.
	sleepEvery = 8
)

// sleepState holds what the solver keeps about bodies at rest. A world with Config.DisableSleep has no such state
// until EnableSleeping turns sleep on: on is false, and only threshold and spans are used, which cover all rows. Once
// made, it stays: if sleep is turned off again, all bodies are awake.
//
// A body that is awake is active. Any other body that was changed is active for one step: a floor that was moved, or
// a body that was disabled. A step works on active bodies and the bodies that touch them. The data of the others
// stays as it is: their poses, their bounds, and their contacts in resting.
type sleepState struct {
	on      bool
	enabled bool // bodies fall asleep; only if on
	asleep  int  // bodies with FlagAsleep

	// By body.
	time       []float32 // at rest, in seconds; 0 if asleep
	threshold  []float32 // BodyDef.SleepThreshold
	restPose   [poseColumns][]float32
	changes    []uint8 // why it is in changed
	invMass    []float32
	invInertia []float32 // invInertia and invMass are 0 for sleepers
	changed    []uint32  // bodies that were woken or changed since the last step, and others

	resting []rigid.Contact // contacts with points whose bodies are not active
	spare   []rigid.Contact

	dirty        bool       // the active bodies must be collected again
	all          bool       // this step updates the bounds of all bodies
	version      uint64     // passed to broad.Phase
	active       bitset.Set // by body
	activeShapes bitset.Set // shapes of active bodies
	activeOnce   []uint32   // bodies that are active in this step only
	spans        []span     // of active bodies, with some others between them
	shapes       []span     // of their shapes
	allSpans     [2][]span
	sleepyCounts []int   // by span: number of bodies that have been at rest long enough
	dt           float32 // of this step

	islands         graph.Islands
	restless        bitset.Set // bodies, and then islands, that wake or cannot sleep
	restlessIslands bitset.Set
}

// poseColumns is the number of columns of a pose: the first of Columns.floatColumns.
const poseColumns = 5

// Bits of sleepState.changes.
const (
	woken         = 1 << iota // a call woke the body
	changed                   // a call changed it
	written                   // a program wrote to its columns
	onceActive                // is in activeOnce
	newAsleep                 // fell asleep by its definition or by a call since the last step
	createdAsleep             // of those, by its definition
)

// noPush are the flags of contacts that neither join islands nor wake bodies: those of sensors,
// and of shapes that pass through a one-way platform.
const noPush = sensorA | sensorB | passThrough

// span is a range of rows.
type span struct{ lo, hi int }

func (z *sleepState) open(cfg *Config) {
	z.dirty, z.version, z.enabled = true, 1, !cfg.DisableSleep
	z.threshold = make([]float32, cfg.Capacity)
	z.setOn(z.enabled)
}

// setOn sets on. It allocates the memory that the state needs when it is first made.
func (z *sleepState) setOn(on bool) {
	if z.on != on {
		z.on, z.dirty = on, true
		z.version++
	}
	if !on || z.time != nil {
		return
	}
	n := len(z.threshold)
	for _, c := range [...]*[]float32{&z.time, &z.invMass, &z.invInertia,
		&z.restPose[0], &z.restPose[1], &z.restPose[2], &z.restPose[3], &z.restPose[4]} {
		*c = make([]float32, n)
	}
	z.changes = make([]uint8, n)
	z.active = make(bitset.Set, (n+63)/64)
}

// isAwake reports whether a body is simulated: it is not static, disabled or asleep. A row without a body
// looks like that of a static body.
func (s *solver) isAwake(i int) bool {
	return s.cols.Type[i] != StaticBody && s.cols.Flags[i]&(FlagDisabled|FlagAsleep) == 0
}

// isSleeper reports whether a body is dynamic and asleep.
func (s *solver) isSleeper(i uint32) bool {
	return s.cols.Type[i] == DynamicBody && s.cols.Flags[i]&FlagAsleep != 0
}

// wake wakes a body at once, and its island when the next step begins. It has no effect on a
// static or disabled body.
func (s *solver) wake(i int) {
	z := &s.sleep
	if !z.on {
		return
	}
	z.time[i] = 0
	if s.cols.Flags[i]&FlagAsleep != 0 {
		s.cols.Flags[i] &^= FlagAsleep
		z.asleep--
		z.changes[i] &^= newAsleep | createdAsleep
		s.markChanged(i, woken)
	}
}

// wakeDynamic wakes a body to which a force or an impulse is applied, if it is dynamic.
func (s *solver) wakeDynamic(i int) {
	if s.cols.Type[i] == DynamicBody {
		s.wake(i)
	}
}

// wakeWithNeighbours wakes a body that a call changes and the bodies that touch it. The body may be static.
func (s *solver) wakeWithNeighbours(i int) {
	if s.sleep.on {
		s.wake(i)
		s.markChanged(i, changed)
	}
}

// wakeUnlessNew is wakeWithNeighbours for a body that gets a shape, a mass or an ignored pair, unless it was created
// asleep since the last step: then this is part of its construction.
func (s *solver) wakeUnlessNew(i int) {
	if s.sleep.on && s.sleep.changes[i]&createdAsleep == 0 {
		s.wakeWithNeighbours(i)
	}
}

func (s *solver) wakeBothUnlessNew(a, b Body) {
	s.wakeUnlessNew(int(a.index))
	s.wakeUnlessNew(int(b.index))
}

func (s *solver) markChanged(i int, why uint8) {
	z := &s.sleep
	if z.changes[i]&^(onceActive|newAsleep|createdAsleep) == 0 {
		z.changed = append(z.changed, uint32(i))
	}
	z.changes[i] |= why
	z.dirty = true
}

// wakeAll wakes all dynamic bodies.
func (s *solver) wakeAll() {
	if s.sleep.asleep == 0 {
		return
	}
	for i := range s.rows {
		if s.isSleeper(uint32(i)) {
			s.wake(i)
		}
	}
}

// removeSleep clears the row of a destroyed body.
func (s *solver) removeSleep(i int) {
	z := &s.sleep
	if z.threshold[i] = 0; !z.on {
		return
	}
	if s.cols.Flags[i]&FlagAsleep != 0 {
		z.asleep--
	}
	z.time[i], z.changes[i] = 0, 0
	for _, k := range z.restPose {
		k[i] = 0
	}
	z.dirty = true
}

// eachJoint calls f with the bodies of each joint that joins islands.
func (s *solver) eachJoint(f func(a, b uint32)) {
	for i := range s.joints.rows {
		if r := &s.joints.rows[i]; r.kind != 0 && JointKind(r.kind) != FilterJoint {
			f(s.jointTable.Owner[2*i], s.jointTable.Owner[2*i+1])
		}
	}
}

// wakeJoint wakes the bodies of a joint that is destroyed or changed.
func (s *solver) wakeJoint(i int) {
	s.wake(int(s.jointTable.Owner[2*i]))
	s.wake(int(s.jointTable.Owner[2*i+1]))
}

// wakeJointUnlessNew wakes the bodies of a new joint, except those that were created asleep since the last step.
func (s *solver) wakeJointUnlessNew(i int) {
	for _, body := range s.jointTable.Owner[2*i : 2*i+2] {
		if !s.sleep.on || s.sleep.changes[body]&createdAsleep == 0 {
			s.wake(int(body))
		}
	}
}

// jointAsleep reports whether no body of a joint is awake.
func (s *solver) jointAsleep(i int) bool {
	return s.sleep.on && !s.isAwake(int(s.jointTable.Owner[2*i])) && !s.isAwake(int(s.jointTable.Owner[2*i+1]))
}

// trySleep updates how long bodies have been at rest, at the end of a step of dt
// seconds, and puts islands to sleep.
func (s *solver) trySleep(dt float32) {
	z := &s.sleep
	if !z.on {
		return
	}
	s.endActiveOnce()
	if !z.enabled {
		return
	}
	z.sleepyCounts = resized(z.sleepyCounts, len(z.spans))
	z.dt = dt
	s.parallelForSpans(z.spans, (*solver).updateSleepTimes)
	ready := 0
	for _, n := range z.sleepyCounts {
		ready += n
	}
	if ready > 0 && s.steps%sleepEvery == 0 {
		s.sleepIslands()
	}
}

// endActiveOnce deactivates the bodies that were active for one step.
func (s *solver) endActiveOnce() {
	z := &s.sleep
	for _, i := range z.activeOnce {
		z.changes[i] &^= onceActive | newAsleep | createdAsleep
		z.active[i/64] &^= 1 << (i % 64)
		s.storeRestPose(int(i))
		z.dirty = true
	}
	z.activeOnce = z.activeOnce[:0]
}

// storeRestPose stores the pose of a body at rest.
func (s *solver) storeRestPose(i int) {
	c, k := s.cols, &s.sleep.restPose
	k[0][i], k[1][i], k[2][i], k[3][i], k[4][i] = c.X[i], c.Y[i], c.Angle[i], c.Cos[i], c.Sin[i]
}

func (s *solver) updateSleepTimes(at, lo, hi int) {
	z, ready := &s.sleep, 0
	flags, times := s.cols.Flags[:hi], z.time[:hi]
	for i := lo; i < hi; i++ {
		switch {
		case !s.isAwake(i):
		case flags[i]&FlagDisableSleep != 0 || s.isMoving(i) || s.cols.Type[i] == DynamicBody && s.displacedBeyondThreshold(i):
			times[i] = 0
		default:
			times[i] += z.dt
			if times[i] >= SleepTime {
				ready++
			}
		}
	}
	z.sleepyCounts[at] = ready
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
	limit := float32(s.sleep.threshold[i] * s.sleep.dt)
	left := limit - float32((sine+(1-st.C))*s.continuous.extents.Max[i])
	return left < 0 || float32(dx*dx)+float32(dy*dy) > float32(left*left)
}

// isMoving reports whether a body is not at rest. A dynamic body moves if its centre of mass, or a
// point of it by its rotation, is faster than its threshold; any other body if its velocity is not zero.
func (s *solver) isMoving(i int) bool {
	c, z := s.cols, &s.sleep
	vx, vy, w := c.VX[i], c.VY[i], c.W[i]
	if c.Type[i] != DynamicBody {
		return vx != 0 || vy != 0 || w != 0
	}
	limit := z.threshold[i]
	return float32(vx*vx)+float32(vy*vy) > float32(limit*limit) ||
		float32(float32(math.Abs(float64(w)))*s.continuous.extents.Max[i]) > limit
}

// sleepIslands puts islands to sleep in which every body has been at rest long enough, and
// kinematic bodies that have been at rest long enough.
func (s *solver) sleepIslands() {
	s.buildIslands()
	z := &s.sleep
	for i := range s.rows {
		if s.isAwake(i) && s.cols.Type[i] == DynamicBody && (z.time[i] < SleepTime || z.restless.Has(i)) {
			z.restlessIslands.Add(int(z.islands.Find(uint32(i))))
		}
	}
	for i := range s.rows {
		if !s.isAwake(i) {
			continue
		}
		dynamic := s.cols.Type[i] == DynamicBody
		if dynamic && !z.restlessIslands.Has(int(z.islands.Find(uint32(i)))) || !dynamic && z.time[i] >= SleepTime {
			s.putToSleep(i)
		}
	}
}

// buildIslands builds the islands of awake bodies, and marks as restless the bodies
// that a moving kinematic body touches, or that a belt moves.
func (s *solver) buildIslands() {
	z, t := &s.sleep, &s.shapes
	z.islands.Reset(s.rows)
	z.restless.Reset(s.rows)
	z.restlessIslands.Reset(s.rows)
	join := func(a, b uint32) {
		dynamicA, dynamicB := s.cols.Type[a] == DynamicBody, s.cols.Type[b] == DynamicBody
		switch {
		case dynamicA && dynamicB:
			z.islands.Union(a, b)
		case dynamicA && s.isMoving(int(b)):
			z.restless.Add(int(a))
		case dynamicB && s.isMoving(int(a)):
			z.restless.Add(int(b))
		}
	}
	for i := range s.contacts {
		if c := &s.contacts[i]; c.Count > 0 && c.Flags&noPush == 0 && s.shapesLive(c) {
			a, b := t.filters.Body[c.A], t.filters.Body[c.B]
			join(a, b)
			if belt := t.TangentSpeed[c.A] + t.TangentSpeed[c.B]; belt != 0 {
				s.keepOnBelt(a, belt)
				s.keepOnBelt(b, belt)
			}
		}
	}
	s.eachJoint(join)
}

// keepOnBelt marks a body as restless if it moves at half the speed of a belt or faster. A belt may be slower than bodies at
// rest; one that something holds back can sleep.
func (s *solver) keepOnBelt(i uint32, belt float32) {
	c := s.cols
	if float32(c.VX[i]*c.VX[i])+float32(c.VY[i]*c.VY[i]) > float32(0.25*float32(belt*belt)) {
		s.sleep.restless.Add(int(i))
	}
}

// putToSleep puts an awake body to sleep.
func (s *solver) putToSleep(i int) {
	c, z := s.cols, &s.sleep
	c.Flags[i] |= FlagAsleep
	c.VX[i], c.VY[i], c.W[i] = 0, 0, 0
	c.ForceX[i], c.ForceY[i], c.Torque[i] = 0, 0, 0
	z.time[i] = 0
	z.asleep++
	z.active[i/64] &^= 1 << (i % 64)
	z.dirty = true
	s.storeRestPose(i)
	s.events.Slept = append(s.events.Slept, uint32(i))
}

// initSleep fills the row of a new body.
func (s *solver) initSleep(i int, d *BodyDef) {
	z := &s.sleep
	s.removeSleep(i)
	z.threshold[i] = sleepThreshold(d.SleepThreshold)
	switch {
	case !z.on:
	case d.Asleep && z.enabled && d.Type != StaticBody && !d.Disabled:
		s.cols.Flags[i] |= FlagAsleep
		z.asleep++
		s.storeRestPose(i)
		s.markChanged(i, newAsleep|createdAsleep)
	case d.Type != DynamicBody:
		s.markChanged(i, changed)
	}
}

func sleepThreshold(v float32) float32 {
	if v == 0 {
		return DefaultSleepThreshold
	}
	return v
}

// storeInverseMass stores the inverse mass of a body.
func (s *solver) storeInverseMass(i int) {
	c, z := s.cols, &s.sleep
	if !z.on {
		return
	}
	if c.Flags[i]&FlagAsleep == 0 {
		z.invMass[i], z.invInertia[i] = c.InvMass[i], c.InvInertia[i]
	}
	z.dirty = true
}

// teleported wakes a body that a call has teleported, and the bodies that touch it if it is kinematic. The next step
// detects that a static body was moved.
func (s *solver) teleported(i int) {
	s.wake(i)
	if s.sleep.on && s.cols.Type[i] == KinematicBody {
		s.markChanged(i, changed)
	}
}

// inverseMasses returns the inverse masses of the first n rows for a step.
func (s *solver) inverseMasses(n int) (mass, turn []float32) {
	if s.sleep.on {
		return s.sleep.invMass[:n], s.sleep.invInertia[:n]
	}
	return s.cols.InvMass[:n], s.cols.InvInertia[:n]
}

// allActive reports whether the stages work on all rows.
func (s *solver) allActive() bool {
	return spanRows(s.sleep.spans) == s.rows
}

// broadVersion returns the version for broad.Phase.
func (z *sleepState) broadVersion() uint64 {
	if z.on {
		return z.version
	}
	return 0
}

func (s *solver) anyRest() bool {
	for _, t := range s.sleep.time[:s.rows] {
		if t != 0 {
			return true
		}
	}
	return s.anyThreshold()
}
