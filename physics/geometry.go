package physics

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/evertick/evertick/internal/enum"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/zeebo/xxh3"
)

// ShapeKind is the kind of a shape: see World.ShapeKind.
type ShapeKind uint8

const (
	// CircleShape is a Circle.
	CircleShape ShapeKind = 1 + iota
	// PolygonShape is a Polygon.
	PolygonShape
	// SegmentShape is a Segment, alone or of a chain: see World.ShapeChain.
	SegmentShape
	// CapsuleShape is a Capsule.
	CapsuleShape
)

// String returns "circle", "polygon", "segment" or "capsule".
func (k ShapeKind) String() string {
	return enum.Name([]string{"", "circle", "polygon", "segment", "capsule"}, k, "ShapeKind")
}

// geometry is a Circle, Polygon, Segment or Capsule: see kind. All of them store their points as
// Vertices of polygon.
type geometry struct {
	kind    ShapeKind
	polygon Polygon
}

func (c Circle) geometry() geometry {
	return geometry{CircleShape, Polygon{Vertices: [MaxPolygonVertices][2]float32{c.Center}, Count: 1, Radius: c.Radius}}
}

func (p Polygon) geometry() geometry { return geometry{PolygonShape, p} }

func (s Segment) geometry() geometry {
	return geometry{SegmentShape, Polygon{Vertices: [MaxPolygonVertices][2]float32{s.P1, s.P2}, Count: 2}}
}

func (c Capsule) geometry() geometry {
	return geometry{CapsuleShape, Polygon{Vertices: [MaxPolygonVertices][2]float32{c.P1, c.P2}, Count: 2, Radius: c.Radius}}
}

func (g *geometry) circle() Circle { return Circle{g.polygon.Vertices[0], g.polygon.Radius} }

func (g *geometry) segment() Segment { return Segment{g.polygon.Vertices[0], g.polygon.Vertices[1]} }

func (g *geometry) capsule() Capsule {
	return Capsule{g.polygon.Vertices[0], g.polygon.Vertices[1], g.polygon.Radius}
}

// validate reports the faults of g, and puts the vertices of a polygon in counter-clockwise order.
func (g *geometry) validate() (err error) {
	switch g.kind {
	case CircleShape:
		c := g.circle()
		return c.validate()
	case SegmentShape:
		s := g.segment()
		return s.validate()
	case CapsuleShape:
		c := g.capsule()
		return c.validate()
	}
	given := g.polygon
	if g.polygon, err = given.hull(); err != nil {
		return err
	}
	return given.checkSpacing(&g.polygon)
}

// shape makes the shape of a valid geometry.
func (g *geometry) shape() (r rigid.Shape, err error) {
	var points [MaxPolygonVertices]rigid.Vec
	for i, v := range g.polygon.Vertices[:g.polygon.Count] {
		points[i] = vecOf(v)
	}
	switch g.kind {
	case CircleShape:
		r, err = rigid.MakeCircle(points[0], g.polygon.Radius)
	case SegmentShape:
		r, err = rigid.MakeSegment(points[0], points[1])
	case CapsuleShape:
		r, err = rigid.MakeCapsule(points[0], points[1], g.polygon.Radius)
	default:
		r, err = rigid.MakePolygon(points[:g.polygon.Count], g.polygon.Radius)
	}
	if err != nil {
		err = fmt.Errorf("physics: %w", err)
	}
	return r, err
}

// geometryOf is the reverse of geometry.shape.
func geometryOf(r *rigid.Shape) geometry {
	g := geometry{SegmentShape, Polygon{Count: int(r.Count), Radius: r.Radius}}
	for i, v := range r.Vertices[:r.Count] {
		g.polygon.Vertices[i] = [2]float32{v.X, v.Y}
	}
	switch {
	case r.Count == 1:
		g.kind = CircleShape
	case r.Count > 2:
		g.kind = PolygonShape
	case r.Radius > 0:
		g.kind = CapsuleShape
	}
	return g
}

// digest folds the definition and the geometry of a shape into 64 bits.
func (g *geometry) digest(d *ShapeDef) uint64 {
	le := binary.LittleEndian
	buf := make([]byte, 0, 144) // 42 bytes, 9 for each optional part, and 8 for each of at most 8 points
	buf = append(buf, byte(g.kind), byte(bit(d.Sensor)))
	for _, v := range [...]float32{d.Density, d.Friction, d.Restitution, d.RollingResistance, d.TangentSpeed} {
		buf = le.AppendUint32(buf, math.Float32bits(v))
	}
	buf = le.AppendUint64(buf, d.Filter.Category)
	buf = le.AppendUint64(buf, d.Filter.Mask)
	buf = le.AppendUint32(buf, uint32(d.Filter.Group))
	point := func(p [2]float32) {
		buf = le.AppendUint32(buf, math.Float32bits(p[0]))
		buf = le.AppendUint32(buf, math.Float32bits(p[1]))
	}
	for _, v := range g.polygon.Vertices[:g.polygon.Count] {
		point(v)
	}
	if g.kind != SegmentShape {
		point([2]float32{g.polygon.Radius})
	}
	if d.OneWay != [2]float32{} {
		buf = append(buf, 1) // optional parts have an odd number of bytes, and different first ones
		point(d.OneWay)
	}
	if d.Span != (Span{}) {
		buf = append(buf, 2)
		point([2]float32{d.Span.Min, d.Span.Max})
	}
	if d.UserMaterial != 0 {
		buf = le.AppendUint64(append(buf, 3), d.UserMaterial)
	}
	return xxh3.Hash(buf)
}

// Form is a shape without a body, for queries. CircleForm, CapsuleForm and PolygonForm make one; the zero
// value is none.
type Form struct{ shape rigid.Shape }

// CircleForm is a disc. Errors are those of World.CreateCircle.
func CircleForm(c Circle) (Form, error) { return formOf(c.geometry()) }

// CapsuleForm is a segment with a radius. Errors are those of World.CreateCapsule.
func CapsuleForm(c Capsule) (Form, error) { return formOf(c.geometry()) }

// PolygonForm is a convex polygon, such as a Box. Errors are those of World.CreatePolygon.
func PolygonForm(p Polygon) (Form, error) { return formOf(p.geometry()) }

func formOf(g geometry) (Form, error) {
	if err := g.validate(); err != nil {
		return Form{}, err
	}
	r, err := g.shape()
	if err != nil {
		return Form{}, err
	}
	return Form{r}, nil
}
