package physics

import (
	"errors"

	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
)

// Drawing is a picture of a world as data: lines, circles and polygons with colours, in
// metres along the axes of the plane, which a program draws by its own means. Package
// physics/svg writes one as SVG, and physics/raster draws it in pixels. The zero value is empty. A reused Drawing
// keeps its memory.
type Drawing struct {
	Circles  []DrawnCircle
	Polygons []DrawnPolygon
	Lines    []DrawnLine
	Labels   []DrawnLabel

	// Points are the vertices of all Polygons, and Text the bytes of all Labels.
	Points [][2]float32
	Text   []byte

	// Extent is the box around all shapes, and Focus that around the shapes of bodies that are
	// not static. If there are none, Min is greater than Max.
	Extent, Focus DrawnBox
}

// DrawnCircle is a disc.
type DrawnCircle struct {
	Center [2]float32
	Radius float32
	// Axis is the first axis of the body as a unit vector, and zero for
	// a disc that is not a shape.
	Axis  [2]float32
	Color Color
}

// DrawnPolygon is all points within Radius of the convex polygon whose vertices are
// Drawing.Points[First:First+Count], counter-clockwise. With two vertices it is a capsule,
// or a segment if the radius is zero.
type DrawnPolygon struct {
	First, Count int
	Radius       float32
	Color        Color
}

// DrawnLine is a line.
type DrawnLine struct {
	P1, P2 [2]float32
	Color  Color
}

// DrawnLabel is the text Drawing.Text[First:First+Count] at a point.
type DrawnLabel struct {
	At           [2]float32
	First, Count int
	Color        Color
}

// DrawnBox is a box along the axes.
type DrawnBox struct{ Min, Max [2]float32 }

// Empty reports whether b contains no point.
func (b DrawnBox) Empty() bool { return !(b.Min[0] <= b.Max[0] && b.Min[1] <= b.Max[1]) }

// Validate returns an error unless b is finite, with a width and a height above 0, as that of a view must be. The error
// names the field, and wraps ErrNotFinite or ErrRange.
func (b DrawnBox) Validate(field string) error {
	for i, v := range [...]float32{b.Min[0], b.Min[1], b.Max[0], b.Max[1]} {
		if !fault.Finite(v) {
			return fault.Element(ErrNotFinite, field, i, v)
		}
	}
	if w, h := b.Max[0]-b.Min[0], b.Max[1]-b.Min[1]; !(w > 0 && h > 0 && fault.Finite(w) && fault.Finite(h)) {
		return fault.Field(ErrRange, field, b)
	}
	return nil
}

// DrawOptions selects what AppendDraw draws in addition to the shapes. Lengths are in metres.
type DrawOptions struct {
	// Boxes draws the box along the axes around each shape.
	Boxes bool
	// Contacts draws the points at which solid shapes touch, as circles, and the
	// normals there, from the shape of the lower index to the other.
	Contacts bool
	// Impulses draws the impulses at these points in the last sub-step, along normal and
	// tangent, as they acted on the other shape.
	Impulses bool
	// Centers draws a cross at the centre of mass of each body that is not static.
	Centers bool
	// Velocities draws the velocities of the centres of mass.
	Velocities bool
	// Indices labels bodies with Body.Index.
	Indices bool
	// Joints draws a line between the points of each joint, and lines from the centres of
	// mass of the bodies to these points. A mouse joint begins at its target.
	Joints bool

	// Size is the size of marks: normals, crosses and points. 0: 0.1.
	Size float32
	// ImpulseScale is the length of an impulse of 1 N·s. 0: 0.1.
	ImpulseScale float32
	// VelocityScale is the length of a velocity of 1 m/s. 0: 0.1.
	VelocityScale float32
}

// Validate reports every fault of o at once. Errors wrap ErrNotFinite or ErrRange.
func (o *DrawOptions) Validate() error {
	return errors.Join(
		check.Coefficient("physics: DrawOptions.Size", o.Size),
		check.Coefficient("physics: DrawOptions.ImpulseScale", o.ImpulseScale),
		check.Coefficient("physics: DrawOptions.VelocityScale", o.VelocityScale),
	)
}

func (o *DrawOptions) fill() {
	for _, f := range [...]*float32{&o.Size, &o.ImpulseScale, &o.VelocityScale} {
		if *f == 0 {
			*f = 0.1
		}
	}
}

// Reset empties d and keeps its memory.
func (d *Drawing) Reset() {
	d.Circles, d.Polygons, d.Lines, d.Labels = d.Circles[:0], d.Polygons[:0], d.Lines[:0], d.Labels[:0]
	d.Points, d.Text = d.Points[:0], d.Text[:0]
	d.Extent, d.Focus = DrawnBox{}, DrawnBox{}
}

// View returns the Focus, or the Extent if that is empty, with a margin of a twentieth on each side, and a square of
// two metres around the origin if neither is a view.
func (d *Drawing) View() DrawnBox {
	v := d.Focus
	if v.Empty() || v == (DrawnBox{}) {
		v = d.Extent
	}
	margin := max(v.Max[0]-v.Min[0], v.Max[1]-v.Min[1]) / 20
	for k := range 2 {
		v.Min[k] -= margin
		v.Max[k] += margin
	}
	if v.Validate("") != nil {
		return DrawnBox{Min: [2]float32{-1, -1}, Max: [2]float32{1, 1}}
	}
	return v
}

// AddCircle adds a circle, and extends Extent, and Focus if it moves.
func (d *Drawing) AddCircle(c DrawnCircle, moves bool) {
	box := d.grow()
	box.reach(c.Center, c.Radius)
	d.Circles = append(d.Circles, c)
	d.include(box, moves)
}

// AddPolygon adds a polygon of these vertices, which it copies, and extends Extent, and Focus if it
// moves.
func (d *Drawing) AddPolygon(vertices [][2]float32, radius float32, color Color, moves bool) {
	box := d.grow()
	for _, v := range vertices {
		box.reach(v, radius)
	}
	d.Polygons = append(d.Polygons, DrawnPolygon{len(d.Points), len(vertices), radius, color})
	d.Points = append(d.Points, vertices...)
	d.include(box, moves)
}

// grow makes the boxes of a drawing without shapes empty, and returns an empty box for a shape.
func (d *Drawing) grow() DrawnBox {
	if len(d.Circles)+len(d.Polygons) == 0 {
		d.Extent, d.Focus = emptyBox, emptyBox
	}
	return emptyBox
}

func (d *Drawing) include(box DrawnBox, moves bool) {
	d.Extent.join(box)
	if moves {
		d.Focus.join(box)
	}
}

// AppendDraw adds a picture of the present state of the world to dst: shapes, in ascending order, and then
// what o selects. It does not change the world and allocates nothing once dst has enough capacity.
// It leaves out bodies whose pose is not finite. Errors are those of DrawOptions.Validate,
// and ErrUnsupported with another engine; dst is then unchanged.
func (w *World) AppendDraw(dst *Drawing, o DrawOptions) error {
	if err := o.Validate(); err != nil {
		return err
	}
	if err := w.engine.require(); err != nil {
		return err
	}
	o.fill()
	p := pen{s: w.solver, d: dst, o: o}
	dst.grow()
	for i := range p.s.shapes.local {
		p.shape(i)
	}
	if o.Joints {
		p.joints()
	}
	if o.Contacts || o.Impulses {
		p.contacts()
	}
	for i := range w.Rows() {
		if w.cols.Alive[i] != 0 && p.placed(i) {
			p.body(i)
		}
	}
	return nil
}

// pen draws a world into a Drawing.
type pen struct {
	s *solver
	d *Drawing
	o DrawOptions
}

// placed reports whether the pose of a body is finite.
func (p *pen) placed(i int) bool {
	c := p.s.cols
	return fault.Finite(c.X[i]) && fault.Finite(c.Y[i]) && fault.Finite(c.Cos[i]) && fault.Finite(c.Sin[i])
}

func (p *pen) line(p1, p2 [2]float32, color Color) {
	p.d.Lines = append(p.d.Lines, DrawnLine{p1, p2, color})
}

// vector draws a line from a point along a vector.
func (p *pen) vector(from [2]float32, x, y float32, color Color) {
	p.line(from, [2]float32{from[0] + x, from[1] + y}, color)
}

// Color is a colour as 0xRRGGBB.
type Color uint32

// The colours of AppendDraw. They are neither light nor dark: each is visible on
// white and on black.
const (
	ColorStatic    Color = 0x4f8f5f
	ColorKinematic Color = 0x9a6ad8
	ColorDynamic   Color = 0x2f80e0
	ColorBullet    Color = 0xd9641c
	ColorAsleep    Color = 0x7d8590
	ColorSensor    Color = 0xa8800f
	ColorDisabled  Color = 0xc0504d

	ColorBox      Color = 0x8f7f6f
	ColorContact  Color = 0xd23f7f
	ColorImpulse  Color = 0xe0482f
	ColorFriction Color = 0xb07a00
	ColorCenter   Color = 0x00958c
	ColorVelocity Color = 0x1d93a8
	ColorLabel    Color = 0x7a7a7a
	ColorJoint    Color = 0xc05ad0
)

// joints draws the joints in ascending order: a line from the point on one body to that on the
// other, and from each point to the centre of mass of its body, unless that is static.
func (p *pen) joints() {
	s := p.s
	for i := range s.joints.rows {
		r := &s.joints.rows[i]
		if r.kind == 0 {
			continue
		}
		a, b := int(s.jointTable.Owner[2*i]), int(s.jointTable.Owner[2*i+1])
		if !p.placed(a) || !p.placed(b) {
			continue
		}
		onA, onB := s.jointAnchors(i)
		if JointKind(r.kind) != MouseJoint {
			p.jointArm(a, onA)
		}
		p.line(onA, onB, ColorJoint)
		p.jointArm(b, onB)
	}
}

// jointArm draws a line from the centre of mass of a body to a point of a joint.
func (p *pen) jointArm(body int, at [2]float32) {
	if p.s.cols.Type[body] != StaticBody {
		p.line(p.s.centreOfMass(body), at, ColorJoint)
	}
}
