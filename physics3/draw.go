package physics3

import (
	"errors"
	"math"

	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/mesh"
	"github.com/evertick/evertick/internal/rigid3"
	"github.com/evertick/evertick/internal/trig"
)

// DrawnLine is a line of AppendDraw between two points in metres.
type DrawnLine struct {
	P1, P2 [3]float32
	// Color is 0xRRGGBB. It is neither light nor dark.
	Color uint32
}

// DrawOptions selects what AppendDraw draws in addition to the shapes.
type DrawOptions struct {
	// Boxes draws the box along the axes around each shape.
	Boxes bool
	// Contacts draws the normals at the points where solid shapes touch, from the shape of the lower index to the other.
	Contacts bool
	// Joints draws a line between the points of each joint, and lines from the centres of mass of the bodies to these points. A mouse joint begins
	// at its target.
	Joints bool
	// Centers draws the principal axes at the centre of mass of each body that is not static.
	Centers bool
	// Velocities draws the velocities of the centres of mass.
	Velocities bool

	// Size is the length of normals and axes, in metres. 0: 0.1.
	Size float32
	// VelocityScale is the length of a velocity of 1 m/s, in metres. 0: 0.1.
	VelocityScale float32
}

// Validate reports every fault of o at once. Errors wrap ErrNotFinite or ErrRange.
func (o *DrawOptions) Validate() error {
	return errors.Join(
		check.Coefficient("physics3: DrawOptions.Size", o.Size),
		check.Coefficient("physics3: DrawOptions.VelocityScale", o.VelocityScale),
	)
}

// The colours of AppendDraw, which are those of package physics.
const (
	colorStatic    = 0x4f8f5f
	colorKinematic = 0x9a6ad8
	colorDynamic   = 0x2f80e0
	colorBullet    = 0xd9641c
	colorAsleep    = 0x7d8590
	colorSensor    = 0xa8800f
	colorDisabled  = 0xc0504d

	colorBox      = 0x8f7f6f
	colorContact  = 0xd23f7f
	colorCenter   = 0x00958c
	colorVelocity = 0x1d93a8
	colorJoint    = 0xc05ad0
)

// AppendDraw appends a picture of the present state of the world as lines to dst: the edges of boxes, hulls and triangles, and rings around balls and
// capsules, in the order of the shapes; a mesh, a height field or a terrain of more than 65536 triangles is drawn as the box around it; and then what o selects. Rounded boxes and hulls have the edges of their cores. It changes no state and
// allocates nothing once dst has enough capacity. It leaves out bodies whose pose is not finite. Errors are those of DrawOptions.Validate; dst is
// then unchanged.
func (w *World) AppendDraw(dst []DrawnLine, o DrawOptions) ([]DrawnLine, error) {
	if err := o.Validate(); err != nil {
		return dst, err
	}
	for _, f := range [...]*float32{&o.Size, &o.VelocityScale} {
		if *f == 0 {
			*f = 0.1
		}
	}
	p := pen{s: w.solver, lines: dst, o: o}
	for i := range p.s.shapes.local {
		p.shape(i)
	}
	if o.Contacts {
		p.contacts()
	}
	if o.Joints {
		p.joints()
	}
	for i := range w.Rows() {
		if c := w.cols.Type[i]; c != StaticBody && p.placed(i) {
			p.body(i)
		}
	}
	return p.lines, nil
}

// pen draws a world.
type pen struct {
	s     *solver
	lines []DrawnLine
	o     DrawOptions
	pose  rigid3.Pose // of what is drawn
	color uint32
}

// placed reports whether the pose of a body is finite.
func (p *pen) placed(i int) bool {
	for _, column := range p.s.cols.poses() {
		if !fault.Finite(column[i]) {
			return false
		}
	}
	return true
}

// line draws a line between two points relative to the pose.
func (p *pen) line(a, b rigid3.Vec) {
	at := func(v rigid3.Vec) [3]float32 { return arrayOf(p.pose.P.Add(p.pose.Q.Rotate(v))) }
	p.lines = append(p.lines, DrawnLine{at(a), at(b), p.color})
}

// shape draws shape i, if it exists, in the colour of its body.
func (p *pen) shape(i int) {
	t := &p.s.shapes
	g, body := &t.local[i], int(t.filters.Body[i])
	if g.Kind == rigid3.KindNone || !p.placed(body) {
		return
	}
	if p.color = p.s.color(body); t.sensor[i] {
		p.color = colorSensor
	}
	q := p.s.rotation(body)
	p.pose = rigid3.Pose{P: p.s.position(body).Add(q.Rotate(g.Pose.P)), Q: q.Mul(g.Pose.Q)}
	switch g.Kind {
	case rigid3.KindSphere:
		p.capsule(rigid3.Vec{}, rigid3.Vec{X: 1}, rigid3.Vec{Y: 1}, rigid3.Vec{Z: 1}, g.Radius)
	case rigid3.KindCapsule:
		axis, u, v := frameOf(g.Half)
		p.capsule(g.Half, axis, u, v, g.Radius)
	case rigid3.KindBox:
		p.box(g.Half)
	case rigid3.KindHull:
		core := t.hull[i].core
		for _, e := range core.Edges {
			p.line(core.Vertices[e.From], core.Vertices[e.To])
		}
	case rigid3.KindSurface:
		p.surface(t.surface[i].triangles().Surface)
	}
	if p.o.Boxes && p.s.cols.Flags[body]&FlagDisabled == 0 {
		p.bounds(i, body)
	}
}

// maxDrawnTriangles bounds the triangles of a surface whose edges are drawn.
const maxDrawnTriangles = 1 << 16

// surface draws each edge of triangles once.
func (p *pen) surface(s mesh.Surface) {
	if s.Len() > maxDrawnTriangles {
		b := s.Bounds()
		low, high := vecOf(b.Min), vecOf(b.Max)
		p.pose.P = p.pose.Transform(low.Add(high).Times(0.5))
		p.box(high.Sub(low).Times(0.5))
		return
	}
	everything := mesh.Box{Min: [3]float32{-maxDrawn, -maxDrawn, -maxDrawn}, Max: [3]float32{maxDrawn, maxDrawn, maxDrawn}}
	p.s.present.faces = s.AppendFaces(p.s.present.faces[:0], &everything)
	for i := range p.s.present.faces {
		f := &p.s.present.faces[i]
		for k, v := range f.Vertices {
			if n := f.Neighbours[k]; n == mesh.None || f.Number < n {
				p.line(vecOf(v), vecOf(f.Vertices[(k+1)%3]))
			}
		}
	}
}

// maxDrawn is beyond the coordinates of all surfaces.
const maxDrawn = 1 << 60

// color returns the colour of the shapes of a body.
func (s *solver) color(body int) uint32 {
	flags := s.cols.Flags[body]
	switch {
	case flags&FlagDisabled != 0:
		return colorDisabled
	case s.cols.Type[body] == StaticBody:
		return colorStatic
	case flags&FlagAsleep != 0:
		return colorAsleep
	case s.cols.Type[body] == KinematicBody:
		return colorKinematic
	case flags&FlagBullet != 0:
		return colorBullet
	}
	return colorDynamic
}

// ring has the points of a circle.
var ring = func() (points [16][2]float32) {
	for i := range points {
		points[i][1], points[i][0] = trig.SinCos(float32(i) * (2 * math.Pi / 16))
	}
	return points
}()

// frameOf returns three axes, of which the first is along a vector that is not zero.
func frameOf(along rigid3.Vec) (axis, u, v rigid3.Vec) {
	axis = along.Times(1 / float32(math.Sqrt(float64(along.Dot(along)))))
	u = rigid3.Vec{X: 1}.Cross(axis)
	if max(axis.X, -axis.X) > 0.7 {
		u = rigid3.Vec{Y: 1}.Cross(axis)
	}
	u = u.Times(1 / float32(math.Sqrt(float64(u.Dot(u)))))
	return axis, u, axis.Cross(u)
}

// capsule draws the rings of a capsule between -half and half, or of a ball, and the lines between them.
func (p *pen) capsule(half, axis, u, v rigid3.Vec, radius float32) {
	at := func(i int, a, b rigid3.Vec) rigid3.Vec {
		c := ring[i%len(ring)]
		return a.Times(c[0] * radius).Add(b.Times(c[1] * radius))
	}
	arc := func(centre, a, b rigid3.Vec, first, n int) {
		for i := first; i < first+n; i++ {
			p.line(centre.Add(at(i, a, b)), centre.Add(at(i+1, a, b)))
		}
	}
	const quarter, turn = len(ring) / 4, len(ring)
	for _, b := range [...]rigid3.Vec{u, v} {
		arc(half, axis, b, 3*quarter, 2*quarter)
		arc(half.Times(-1), axis, b, quarter, 2*quarter)
	}
	arc(half, u, v, 0, turn)
	if half == (rigid3.Vec{}) {
		return
	}
	arc(half.Times(-1), u, v, 0, turn)
	for i := 0; i < turn; i += quarter {
		p.line(half.Add(at(i, u, v)), half.Times(-1).Add(at(i, u, v)))
	}
}

// box draws the edges of a box.
func (p *pen) box(half rigid3.Vec) {
	corner := func(i int) rigid3.Vec {
		v := half
		if i&1 == 0 {
			v.X = -v.X
		}
		if i&2 == 0 {
			v.Y = -v.Y
		}
		if i&4 == 0 {
			v.Z = -v.Z
		}
		return v
	}
	for i := range 8 {
		for bit := 1; bit < 8; bit *= 2 {
			if i&bit == 0 {
				p.line(corner(i), corner(i|bit))
			}
		}
	}
}

// bounds draws the box around a shape.
func (p *pen) bounds(i, body int) {
	low, high := p.s.boundsOf(i, body)
	if low.X > high.X {
		return
	}
	half := high.Sub(low).Times(0.5)
	p.pose, p.color = rigid3.Pose{P: low.Add(half), Q: rigid3.Identity}, colorBox
	p.box(half)
}

// joints draws the joints in ascending order: a line from the point on one body to that on the other, and lines from the centres of mass to these
// points. A mouse joint begins at its target.
func (p *pen) joints() {
	s := p.s
	p.color = colorJoint
	for i := range s.joints.rows {
		r := &s.joints.rows[i]
		if r.kind == 0 {
			continue
		}
		rowA, rowB := s.jointTable.Bodies(i)
		if !p.placed(int(rowA)) || !p.placed(int(rowB)) {
			continue
		}
		a, b := s.pose(int(rowA)), s.pose(int(rowB))
		onA := a.Transform(vecOf(r.frameA.Point).Sub(s.centre(int(rowA))))
		onB := b.Transform(vecOf(r.frameB.Point).Sub(s.centre(int(rowB))))
		p.pose = rigid3.Pose{Q: rigid3.Identity}
		if JointKind(r.kind) == MouseJoint {
			onA = vecOf([3]float32(r.numbers[:3]))
		} else if s.cols.Type[rowA] != StaticBody {
			p.line(a.P, onA)
		}
		p.line(onA, onB)
		if s.cols.Type[rowB] != StaticBody {
			p.line(b.P, onB)
		}
	}
}

// contacts draws the contact points of solid shapes that touched in the last step.
func (p *pen) contacts() {
	all := p.s.allContacts()
	for c := all.next(); c.Contact != nil; c = all.next() {
		if !p.s.touched(c.Contact) {
			continue
		}
		m, a := p.s.presentManifold(c), p.s.shapes.filters.Body[c.A]
		p.pose, p.color = rigid3.Pose{P: p.s.poses[a].P, Q: rigid3.Identity}, colorContact
		for k := range m.Points[:m.Count] {
			at := m.Points[k].AnchorA
			p.line(at, at.Add(m.Normal.Times(p.o.Size)))
		}
	}
}

// body draws what o selects for a body.
func (p *pen) body(i int) {
	s := p.s
	p.pose = s.pose(i)
	if p.o.Centers {
		p.pose.Q, p.color = p.pose.Q.Mul(s.principal[i]), colorCenter
		half := p.o.Size / 2
		for _, v := range [...]rigid3.Vec{{X: half}, {Y: half}, {Z: half}} {
			p.line(v.Times(-1), v)
		}
	}
	if p.o.Velocities {
		p.pose.Q, p.color = rigid3.Identity, colorVelocity
		p.line(rigid3.Vec{}, s.linearVelocity(i).Times(p.o.VelocityScale))
	}
}
