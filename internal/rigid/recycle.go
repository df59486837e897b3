package rigid

import (
	"bytes"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/native"
)

const (
	// recycleDistance is by how much, in metres, the two points of a contact may each have parted since Collide made
	// the base manifold. recycleShare bounds it as a share of the distance between the two.
	recycleDistance = SpeculativeDistance
	recycleShare    = 0.1

	// recycleSine is the sine of the angle by which each body may have turned.
	recycleSine = 0.02

	// recycleSteps is the number of steps for which a base should serve. Where bodies move too fast for that, it would
	// cost as much as it saves, and the contact gets none.
	recycleSteps = 16
)

// Recycling makes manifolds of contacts whose bodies have hardly moved since Collide made their last manifold, the
// base: the normal and the anchors stay those of the base, in the axes of the world, and only the separations are
// computed anew. That saves time, and it is what lets a tall column stand: if the anchors of each step followed the
// slight tilt of the boxes, the weight above would tilt them further. (Catto, "contact recycling", Box2D 3.2.)
//
// Let p and q be a point of the base manifold as it is now on body A and on body B, to first order of the rotations,
// n the normal and t the tangent. A contact is recycled if
//
//   - each body has turned by less than recycleSine,
//   - for both points |(q-p)·n| and |(q-p)·t| are less than recycleDistance, and than recycleShare of the distance
//     between the two points of the base along t,
//   - both separations, those of the base plus (q-p)·n, are at most SpeculativeDistance.
//
// NaN makes each of these false.
type Recycling struct {
	Old    []Contact
	Bases  []BaseManifold // of those in Old with FlagBase
	Marks  []uint8        // 1 for each of those in Old with FlagBase, 0 or 1 for others
	Same   bool           // the pairs are those of Old
	BodyOf []uint32       // by shape
	Poses  Poses

	pairs, contacts [recyclePart]uint32 // of a part: numbers of pairs whose contacts have a base, and of these in Old
}

// recyclePart is the number of contacts that a kernel gets at once.
const recyclePart = 512

// NotRecycled marks a pair that Recycle has left to CollideOthers.
const NotRecycled = -1

// Recycle makes the manifolds of the pairs whose contacts can be recycled. It sets from[i] to the number in Old of the
// contact that was recycled for pair i, or to NotRecycled. It returns how many were recycled; if none, from is undefined.
// Pairs and Old ascend by A, then B, each pair once.
func (r *Recycling) Recycle(level native.Level, pairs *broad.Pairs, from []int32, out []Manifold) (recycled int) {
	if len(pairs.A) != len(out) || len(pairs.B) != len(out) || len(from) != len(out) || len(r.Bases) != len(r.Old) || len(r.Marks) != len(r.Old) ||
		r.Same && len(r.Old) != len(out) {
		panic("rigid: Recycle: slices that belong together differ in length")
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
		if c.recycle(&r.Bases[n], r.BodyOf[c.A], r.BodyOf[c.B], &r.Poses, &out[i]) {
			from[i] = int32(n)
			recycled++
		}
	}
	return recycled
}

// recycle makes the manifold of a contact, or leaves it to Collide and returns false.
func (c *Contact) recycle(base *BaseManifold, bodyA, bodyB uint32, p *Poses, out *Manifold) bool {
	ca, sa, cb, sb := p.Cos[bodyA], p.Sin[bodyA], p.Cos[bodyB], p.Sin[bodyB]
	turnA, turnB := base.RotationA.cross(ca, sa), base.RotationB.cross(cb, sb)
	if !(abs(turnA) < recycleSine && abs(turnB) < recycleSine && base.RotationA.dot(ca, sa) > 0 && base.RotationB.dot(cb, sb) > 0) {
		return false
	}
	n, limit := base.Normal, base.limit()
	dx, dy := p.X[bodyB]-p.X[bodyA], p.Y[bodyB]-p.Y[bodyA]
	m := Manifold{Normal: n, Count: 2, Source: Recycled}
	for k := range m.Points {
		b := &base.Points[k]
		x := (dx + (b.AnchorB.X - b.AnchorA.X)) + (float32(turnA*b.AnchorA.Y) - float32(turnB*b.AnchorB.Y))
		y := (dy + (b.AnchorB.Y - b.AnchorA.Y)) + (float32(turnB*b.AnchorB.X) - float32(turnA*b.AnchorA.X))
		along, across := n.dot(x, y), n.cross(x, y)
		m.Points[k] = ManifoldPoint{b.AnchorA, b.AnchorB, b.Separation + along, c.Points[k].ID}
		if !(abs(along) < limit && abs(across) < limit && m.Points[k].Separation <= SpeculativeDistance) {
			return false
		}
	}
	*out = m
	return true
}

// limit is by how much the two points may part.
func (b *BaseManifold) limit() float32 {
	p, q := b.Points[0].AnchorA, b.Points[1].AnchorA
	return minFloat(float32(recycleShare*abs(b.Normal.cross(p.X-q.X, p.Y-q.Y))), recycleDistance)
}

// keepBase gives a base to contact c in lane i if Collide has made its manifold. It gives none if the base would last
// for fewer than recycleSteps steps, because a body turns fast or the two move fast relative to each other, and none if
// an anchor is not finite.
func (s *System) keepBase(b *ContactBlock, i int, c uint32) {
	m := &s.Manifolds[c]
	bodyA, bodyB, time := b.A[i], b.B[i], s.step.recycleTime
	stateA, stateB := &s.States[bodyA], &s.States[bodyB]
	limit := minFloat(float32(recycleShare*abs(b.Points[0].CrossA[i]-b.Points[1].CrossA[i])), recycleDistance)
	if m.Source != Collided || !(abs(float32(stateA.W*time)) < recycleSine && abs(float32(stateB.W*time)) < recycleSine) ||
		!(abs(float32((stateB.VX-stateA.VX)*time)) < limit && abs(float32((stateB.VY-stateA.VY)*time)) < limit) {
		return
	}
	p := &s.Poses
	base := BaseManifold{m.Normal, [2]BasePoint{m.Points[0].base(), m.Points[1].base()},
		Vec{p.Cos[bodyA], p.Sin[bodyA]}, Vec{p.Cos[bodyB], p.Sin[bodyB]}}
	if base.finite() {
		s.Bases[c], s.BaseMarks[c] = base, 1
		s.Contacts[c].Flags |= FlagBase
	}
}

// finite reports whether the anchors are finite; then the rest is too.
func (b *BaseManifold) finite() bool {
	p, q := &b.Points[0], &b.Points[1]
	sum := ((p.AnchorA.X + p.AnchorA.Y) + (p.AnchorB.X + p.AnchorB.Y)) + ((q.AnchorA.X + q.AnchorA.Y) + (q.AnchorB.X + q.AnchorB.Y))
	return sum-sum == 0
}

func (p *ManifoldPoint) base() BasePoint { return BasePoint{p.AnchorA, p.AnchorB, p.Separation} }
