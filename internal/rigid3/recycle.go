package rigid3

import (
	"bytes"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/native"
)

const (
	// recycleDistance is by how much, in metres, the points of a contact may each have parted since CollidePairs made the base manifold.
	// recycleShare bounds it as a share of the extent of the points.
	recycleDistance = SpeculativeDistance
	recycleShare    = 0.1

	// recycleTurn is the angle in radians by which each body may have turned.
	recycleTurn = 0.02

	// recycleSteps is the number of steps for which a base should serve. Where bodies move too fast for that, it would cost as much as
	// it saves, and the contact gets none.
	recycleSteps = 16
)

// FlagBase is the flag of a Contact with a BaseManifold. The other flags are those of the program.
const FlagBase = 1

// BaseManifold is the manifold with two points or more that CollidePairs made of a contact, and the rotations of the bodies then. Recycle
// makes later manifolds from it. The number of points and their IDs are those of the contact.
type BaseManifold struct {
	Normal               Vec
	Limit                float32 // by how much the points may part, metres
	Points               [MaxPoints]BasePoint
	RotationA, RotationB Quat
}

// BasePoint is a point of a BaseManifold, as in ManifoldPoint.
type BasePoint struct {
	AnchorA, AnchorB Vec
	Separation       float32
}

// Recycling makes manifolds of contacts whose bodies have hardly moved since CollidePairs made their last manifold, the base: the
// normal and the anchors stay those of the base, in the axes of the world, and only the separations are computed anew. That saves time, and
// it is what lets a tower stand: if the anchors of each step followed the slight tilt of the boxes, the weight above would tilt them
// further. (Catto, "contact recycling", Box2D 3.2.)
//
// Let p and q be a point of the base as it is now on body A and on body B, to first order of the rotations, and n the normal. A contact
// is recycled if each body has turned by less than recycleTurn; for all points q - p is shorter than recycleDistance, along n and across,
// and than recycleShare of the extent of the points; and all separations are at most SpeculativeDistance. NaN makes each of these false.
type Recycling struct {
	Old    []Contact
	Bases  []BaseManifold // of those in Old with FlagBase
	Marks  []uint8        // 1 for each of those in Old with FlagBase, 0 or 1 for others
	Same   bool           // the pairs are those of Old
	BodyOf []uint32       // by shape
	Poses  []Pose

	pairs, contacts [recyclePart]uint32 // of a part: numbers of pairs whose contacts have a base, and of these in Old
}

// recyclePart is the number of contacts that a kernel gets at once.
const recyclePart = 512

// NotRecycled marks a pair that Recycle has left to CollidePairs.
const NotRecycled = -1

// Recycle makes the manifolds of the pairs whose contacts can be recycled. It sets from[i] to the number in Old of the contact that was
// recycled for pair i, or to NotRecycled. It returns how many were recycled; if none, from is undefined. Pairs and Old ascend by A, then
// B, each pair once. It panics if slices that belong together differ in length.
func (r *Recycling) Recycle(level native.Level, pairs *broad.Pairs, from []int32, out []Manifold) (recycled int) {
	if len(pairs.A) != len(out) || len(pairs.B) != len(out) || len(from) != len(out) || len(r.Bases) != len(r.Old) || len(r.Marks) != len(r.Old) ||
		r.Same && len(r.Old) != len(out) {
		panic("rigid3: Recycle: slices that belong together differ in length")
	}
	if bytes.IndexByte(r.Marks, 1) < 0 {
		return 0
	}
	for i := range from {
		from[i] = NotRecycled
	}
	k, found, pair := kernelsOf(level), 0, 0
	for i := 0; i < len(r.Old); i++ {
		if r.Marks[i] == 0 {
			unmarked := bytes.IndexByte(r.Marks[i:], 1)
			if unmarked < 0 {
				break
			}
			i += unmarked
		}
		c := &r.Old[i]
		if c.Flags&FlagBase == 0 {
			continue
		}
		if r.Same {
			pair = i
		} else if pair = pairs.Find(pair, c.key()); pair == len(from) {
			break
		} else if c.A != pairs.A[pair] || c.B != pairs.B[pair] {
			continue
		}
		r.pairs[found], r.contacts[found] = uint32(pair), uint32(i)
		if found++; found == recyclePart {
			recycled += k.recycle(r, found, from, out)
			found = 0
		}
	}
	if found > 0 {
		recycled += k.recycle(r, found, from, out)
	}
	return recycled
}

func (r *Recycling) recycleGo(found int, from []int32, out []Manifold) (recycled int) {
	for k, i := range r.pairs[:found] {
		n := r.contacts[k]
		c := &r.Old[n]
		if c.recycle(&r.Bases[n], &r.Poses[r.BodyOf[c.A]], &r.Poses[r.BodyOf[c.B]], &out[i]) {
			from[i] = int32(n)
			recycled++
		}
	}
	return recycled
}

// recycle makes the manifold of a contact, or leaves it to CollidePairs and returns false.
func (c *Contact) recycle(base *BaseManifold, a, b *Pose, out *Manifold) bool {
	turnA, turnB := turnSince(base.RotationA, a.Q), turnSince(base.RotationB, b.Q)
	const most = recycleTurn * recycleTurn
	if !(turnA.Dot(turnA) < most && turnB.Dot(turnB) < most) {
		return false
	}
	n, moved, limit := base.Normal, b.P.Sub(a.P), float32(base.Limit*base.Limit)
	m := Manifold{Normal: n, Count: c.Count, Source: Recycled}
	for i := range m.Points[:m.Count] {
		p, to := &base.Points[i], &m.Points[i]
		d := moved.Add(p.AnchorB.Sub(p.AnchorA)).Add(turnB.Cross(p.AnchorB).Sub(turnA.Cross(p.AnchorA)))
		along := d.Dot(n)
		across := d.addTimes(n, -along)
		*to = ManifoldPoint{p.AnchorA, p.AnchorB, p.Separation + along, c.Normal[i].ID}
		if !(float32(along*along) < limit && across.Dot(across) < limit && to.Separation <= SpeculativeDistance) {
			return false
		}
	}
	*out = m
	return true
}

// turnSince returns the rotation from one orientation to another as a vector: its angle times its axis, to second order.
func turnSince(from, to Quat) Vec {
	s := State{Q: to.Mul(from.Inverse())}
	return s.turn()
}

// KeepBases gives a base to each contact whose manifold CollidePairs has just made with two points or more: marks[i] becomes 1, and the
// contact gets FlagBase. It gives none if the base would last for fewer than recycleSteps steps of dt seconds, because a body turns fast
// or the two move fast relative to each other. Contacts that were recycled, and those without a base, stay as they are. The columns v and w are the velocities of the bodies.
func KeepBases(contacts []Contact, manifolds []Manifold, bodyOf []uint32, poses []Pose, v, w *[3][]float32, dt float32, bases []BaseManifold, marks []uint8) {
	if len(manifolds) != len(contacts) || len(bases) != len(contacts) || len(marks) != len(contacts) {
		panic("rigid3: KeepBases: contacts, manifolds, bases and marks differ in length")
	}
	time := float32(dt * recycleSteps)
	for i := range contacts {
		m, c := &manifolds[i], &contacts[i]
		if m.Source != Collided || m.Count < 2 {
			continue
		}
		a, b := bodyOf[c.A], bodyOf[c.B]
		motion := motionOf(v, w, a, b, time)
		if !motion.within(recycleDistance) { // no limit is higher
			continue
		}
		limit := m.limit()
		if !motion.within(limit) {
			continue
		}
		m.base(limit, poses[a].Q, poses[b].Q, &bases[i])
		marks[i] = 1
		c.Flags |= FlagBase
	}
}

// pairMotion is how far two bodies move and turn in some time.
type pairMotion struct{ turnA, turnB, apart Vec }

func motionOf(v, w *[3][]float32, a, b uint32, time float32) pairMotion {
	return pairMotion{vecAt(w, int(a)).Times(time), vecAt(w, int(b)).Times(time), vecAt(v, int(b)).Sub(vecAt(v, int(a))).Times(time)}
}

// within reports whether a base would last for that time.
func (p *pairMotion) within(limit float32) bool {
	const most = recycleTurn * recycleTurn
	return p.turnA.Dot(p.turnA) < most && p.turnB.Dot(p.turnB) < most && p.apart.Dot(p.apart) < float32(limit*limit)
}

// base sets a base to the manifold.
func (m *Manifold) base(limit float32, a, b Quat, to *BaseManifold) {
	to.Normal, to.Limit, to.RotationA, to.RotationB = m.Normal, limit, a, b
	n := min(m.Count, MaxPoints)
	for k := range m.Points[:n] {
		p, q := &m.Points[k], &to.Points[k]
		q.AnchorA, q.AnchorB, q.Separation = p.AnchorA, p.AnchorB, p.Separation
	}
	clear(to.Points[n:])
}

// limit is by how much the points may part until Recycle refuses them.
func (m *Manifold) limit() float32 {
	var farthest [MaxPoints]float32 // the squares of distances
	n := min(m.Count, MaxPoints)
	for i := range n {
		for k := range i {
			d := m.Points[i].AnchorA.Sub(m.Points[k].AnchorA)
			square := d.Dot(d)
			farthest[i], farthest[k] = maxFloat(square, farthest[i]), maxFloat(square, farthest[k])
		}
	}
	least := float32(maxFinite)
	for _, f := range farthest[:n] {
		least = minFloat(f, least)
	}
	return minFloat(float32(recycleShare*sqrt(least)), recycleDistance)
}
