package rigid_test

import (
	"math"
	"slices"

	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/native"
)

// heap is a System of boxes and discs, one shape a body, whose contacts are found by the
// plainest means: every pair, in double precision.
type heap struct {
	rigid.System
	half   []rigid.Vec // of boxes; of discs X is the radius and Y is 0
	margin float64
	pairs  [][2]uint32 // if not nil, the only ones that may touch
}

const dt = 1. / 60

// newHeap has no bodies, and gravity.
func newHeap() *heap {
	s := &heap{margin: rigid.SpeculativeDistance}
	s.Gravity = rigid.Vec{Y: -10}
	return s
}

// columns lists what has an element per body.
func (s *heap) columns() []*[]float32 {
	b, p := &s.Bodies, &s.Poses
	return []*[]float32{&b.VX, &b.VY, &b.W, &b.InvMass, &b.InvInertia, &b.ForceX, &b.ForceY, &b.Torque, &b.GravityScale,
		&b.LinearDamping, &b.AngularDamping, &b.FreeX, &b.FreeY, &b.FreeW, &p.X, &p.Y, &p.Cos, &p.Sin, &s.Angle}
}

// add adds a body of that density, 0 for one that does not move.
func (s *heap) add(half rigid.Vec, x, y, density float32) int {
	for _, c := range s.columns() {
		*c = append(*c, 0)
	}
	m := &s.Materials
	for _, c := range []*[]float32{&m.Friction, &m.Restitution, &m.RollingResistance, &m.TangentSpeed} {
		*c = append(*c, 0)
	}
	i := len(s.half)
	s.half, s.BodyOf, s.States = append(s.half, half), append(s.BodyOf, uint32(i)), append(s.States, rigid.State{})
	s.Poses.X[i], s.Poses.Y[i], s.Poses.Cos[i] = x, y, 1
	m.Friction[i], s.Bodies.GravityScale[i] = 0.6, 1
	if density > 0 {
		mass, square := 4*half.X*half.Y*density, (half.X*half.X+half.Y*half.Y)/3
		if half.Y == 0 {
			mass, square = math.Pi*half.X*half.X*density, half.X*half.X/2
		}
		s.Bodies.InvMass[i], s.Bodies.InvInertia[i] = 1/mass, 1/(mass*square)
	}
	return i
}

func (s *heap) box(hx, hy, x, y, density float32) int {
	return s.add(rigid.Vec{X: hx, Y: hy}, x, y, density)
}
func (s *heap) disc(r, x, y, density float32) int { return s.add(rigid.Vec{X: r}, x, y, density) }

// turn sets the angle of a body.
func (s *heap) turn(i int, angle float32) {
	s.Poses.Sin[i], s.Poses.Cos[i] = rigid.SinCos(angle)
	s.Angle[i] = angle
}

// advance does one step.
func (s *heap) advance(level native.Level) {
	s.collide()
	s.Step(level, dt)
}

// collide finds the contacts and takes over the impulses of those that persist.
func (s *heap) collide() {
	old := s.Contacts
	s.Contacts, s.Manifolds = nil, s.Manifolds[:0]
	s.eachPair(func(a, b uint32) {
		m := s.manifold(a, b)
		if m.Count == 0 {
			return
		}
		c := rigid.Contact{A: a, B: b, Count: m.Count}
		at, found := slices.BinarySearchFunc(old, c, func(o, c rigid.Contact) int {
			return 2*cmp32(o.A, c.A) + cmp32(o.B, c.B)
		})
		for k := range m.Count {
			c.Points[k].ID = m.Points[k].ID
			for j := range 2 {
				if found && uint32(j) < old[at].Count && old[at].Points[j].ID == m.Points[k].ID {
					c.Points[k], c.RollingImpulse = old[at].Points[j], old[at].RollingImpulse
				}
			}
		}
		s.Contacts, s.Manifolds = append(s.Contacts, c), append(s.Manifolds, m)
	})
	s.Hits = make([]rigid.Hit, len(s.Contacts))
}

func cmp32(a, b uint32) int {
	if a < b {
		return -1
	}
	if a > b {
		return 1
	}
	return 0
}

func (s *heap) eachPair(f func(a, b uint32)) {
	for _, p := range s.pairs {
		f(p[0], p[1])
	}
	if s.pairs != nil {
		return
	}
	for a := range s.half {
		for b := a + 1; b < len(s.half); b++ {
			if s.Bodies.InvMass[a] > 0 || s.Bodies.InvMass[b] > 0 {
				f(uint32(a), uint32(b))
			}
		}
	}
}

// near limits the pairs to those that are near each other now.
func (s *heap) near(distance float64) {
	s.pairs = [][2]uint32{}
	for a := range s.half {
		for b := a + 1; b < len(s.half); b++ {
			fixed := s.Bodies.InvMass[a] == 0 && s.Bodies.InvMass[b] == 0
			dx, dy := math.Abs(float64(s.Poses.X[a]-s.Poses.X[b])), math.Abs(float64(s.Poses.Y[a]-s.Poses.Y[b]))
			ha, hb := s.half[a], s.half[b]
			if !fixed && dx < float64(ha.X+hb.X)+distance && dy < float64(most(ha)+most(hb))+distance {
				s.pairs = append(s.pairs, [2]uint32{uint32(a), uint32(b)})
			}
		}
	}
}

// most is half the height of a shape that is not turned.
func most(half rigid.Vec) float32 {
	if half.Y == 0 {
		return half.X
	}
	return half.Y
}

// vec is a spot in double precision.
type vec struct{ x, y float64 }

func (a vec) plus(b vec) vec          { return vec{a.x + b.x, a.y + b.y} }
func (a vec) minus(b vec) vec         { return vec{a.x - b.x, a.y - b.y} }
func (a vec) times(f float64) vec     { return vec{a.x * f, a.y * f} }
func (a vec) dot(b vec) float64       { return a.x*b.x + a.y*b.y }
func (a vec) turned(c, s float64) vec { return vec{c*a.x - s*a.y, s*a.x + c*a.y} }
func (a vec) length() float64         { return math.Hypot(a.x, a.y) }
func (a vec) vec32() rigid.Vec        { return rigid.Vec{X: float32(a.x), Y: float32(a.y)} }
func (s *heap) centre(i uint32) vec   { return vec{float64(s.Poses.X[i]), float64(s.Poses.Y[i])} }
func (s *heap) isDisc(i uint32) bool  { return s.half[i].Y == 0 }
func (s *heap) axes(i uint32) [2]vec {
	c, n := float64(s.Poses.Cos[i]), float64(s.Poses.Sin[i])
	return [2]vec{{c, n}, {-n, c}}
}
func (s *heap) halves(i uint32) [2]float64 {
	return [2]float64{float64(s.half[i].X), float64(s.half[i].Y)}
}

// manifold is how two bodies touch.
func (s *heap) manifold(a, b uint32) rigid.Manifold {
	switch {
	case s.isDisc(a) && s.isDisc(b):
		d := s.centre(b).minus(s.centre(a))
		l := d.length()
		n := vec{0, 1}
		if l > 0 {
			n = d.times(1 / l)
		}
		ra, rb := float64(s.half[a].X), float64(s.half[b].X)
		return s.points(a, b, n, spot{s.centre(a).plus(n.times(ra + (l-ra-rb)/2)), l - ra - rb, 0})
	case s.isDisc(b):
		n, at, sep := s.discOnBox(a, b)
		return s.points(a, b, n, spot{at, sep, 0})
	case s.isDisc(a):
		n, at, sep := s.discOnBox(b, a)
		return s.points(a, b, n.times(-1), spot{at, sep, 0})
	}
	return s.boxes(a, b)
}

type spot struct {
	at  vec
	sep float64
	id  uint32
}

// points makes a manifold of those points that are close enough.
func (s *heap) points(a, b uint32, n vec, points ...spot) rigid.Manifold {
	m := rigid.Manifold{Normal: n.vec32()}
	for _, p := range points {
		if p.sep <= s.margin {
			m.Points[m.Count] = rigid.ManifoldPoint{AnchorA: p.at.minus(s.centre(a)).vec32(), AnchorB: p.at.minus(s.centre(b)).vec32(),
				Separation: float32(p.sep), ID: p.id}
			m.Count++
		}
	}
	return m
}

// discOnBox returns the normal from box to disc, the place and the distance.
func (s *heap) discOnBox(box, disc uint32) (n, at vec, sep float64) {
	axes, half, r := s.axes(box), s.halves(box), float64(s.half[disc].X)
	d := s.centre(disc).minus(s.centre(box))
	local := [2]float64{d.dot(axes[0]), d.dot(axes[1])}
	on := s.centre(box)
	for k := range 2 {
		on = on.plus(axes[k].times(max(-half[k], min(half[k], local[k]))))
	}
	if out := s.centre(disc).minus(on); out.length() > 1e-9 {
		n, sep = out.times(1/out.length()), out.length()-r
	} else {
		k := 0
		if math.Abs(local[1])-half[1] > math.Abs(local[0])-half[0] {
			k = 1
		}
		n, sep = axes[k].times(math.Copysign(1, local[k])), math.Abs(local[k])-half[k]-r
	}
	return n, s.centre(disc).minus(n.times(r + sep/2)), sep
}

// boxes finds the axis of least overlap and clips the other box's edge by the face.
func (s *heap) boxes(a, b uint32) rigid.Manifold {
	best, face, flip := math.Inf(-1), vec{}, false
	for side, pair := range [][2]uint32{{a, b}, {b, a}} {
		d := s.centre(pair[1]).minus(s.centre(pair[0]))
		axes, half := s.axes(pair[0]), s.halves(pair[0])
		other, otherHalf := s.axes(pair[1]), s.halves(pair[1])
		for k := range 2 {
			n := axes[k].times(math.Copysign(1, d.dot(axes[k])))
			sep := d.dot(n) - half[k] - math.Abs(other[0].dot(n))*otherHalf[0] - math.Abs(other[1].dot(n))*otherHalf[1]
			if sep > best+1e-4 {
				best, face, flip = sep, n, side == 1
			}
		}
	}
	if flip {
		return s.clip(b, a, face, true)
	}
	return s.clip(a, b, face, false)
}

// clip cuts the edge of box inc that faces n to the width of box ref.
func (s *heap) clip(ref, inc uint32, n vec, flip bool) rigid.Manifold {
	axes, half := s.axes(inc), s.halves(inc)
	k := 0
	if math.Abs(axes[1].dot(n)) > math.Abs(axes[0].dot(n)) {
		k = 1
	}
	middle := s.centre(inc).minus(axes[k].times(math.Copysign(half[k], axes[k].dot(n))))
	tangent := vec{-n.y, n.x}
	along := axes[1-k].times(math.Copysign(half[1-k], axes[1-k].dot(tangent)))
	refAxes, refHalf := s.axes(ref), s.halves(ref)
	width := math.Abs(refAxes[0].dot(tangent))*refHalf[0] + math.Abs(refAxes[1].dot(tangent))*refHalf[1]
	depth := math.Abs(refAxes[0].dot(n))*refHalf[0] + math.Abs(refAxes[1].dot(n))*refHalf[1]
	var points []spot
	for end := range 2 {
		p := middle.plus(along.times(float64(2*end - 1)))
		t, id := p.minus(s.centre(ref)).dot(tangent), uint32(end)
		if limit := width; math.Abs(t) > limit {
			rate := along.dot(tangent)
			if rate < 1e-9 {
				continue
			}
			back := (math.Abs(t) - limit) / rate * math.Copysign(1, t)
			if math.Abs(back) > 2 {
				continue
			}
			p = p.minus(along.times(back))
		}
		sep := p.minus(s.centre(ref)).dot(n) - depth
		if flip {
			id += 4
		}
		points = append(points, spot{p.minus(n.times(sep / 2)), sep, id})
	}
	if flip {
		return s.points(inc, ref, n.times(-1), points...)
	}
	return s.points(ref, inc, n, points...)
}

// pyramid is a pyramid of boxes of one metre, on a plane.
func heapPyramid(rows int) *heap {
	s := newHeap()
	s.box(float32(rows)+10, 1, 0, -1, 0)
	for row := range rows {
		for i := range rows - row {
			s.box(0.5, 0.5, float32(i)*1.02-float32(rows-row)*0.51, float32(row)+0.5, 1)
		}
	}
	s.near(0.1)
	return s
}
