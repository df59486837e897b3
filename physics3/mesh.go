package physics3

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/frame"
	"github.com/evertick/evertick/internal/mesh"
	"github.com/evertick/evertick/internal/rigid3"
	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/internal/wire"
)

// MaxMeshTriangles is the greatest number of triangles of a Mesh.
const MaxMeshTriangles = mesh.MaxTriangles

// Mesh is a set of triangles for static and kinematic bodies. It is immutable, so any number of shapes, worlds and goroutines can share it. A world
// knows it by its content.
type Mesh struct {
	cooked    *mesh.Mesh
	materials []SurfaceMaterial
	// By triangle of cooked; nil: 0 for all.
	materialOf, user []uint32
	twoSided         bool
	digest           uint64
}

// MeshDef describes a Mesh.
type MeshDef struct {
	// Vertices in metres, each number up to 2^20. Those in one place are one.
	Vertices [][3]float32
	// Triangles hold the numbers of three vertices, counter-clockwise seen from the front.
	Triangles [][3]uint32
	// Materials are what surfaces the triangles have. None: all have that of the shape.
	Materials []SurfaceMaterial
	// MaterialOf holds the number of its material for each triangle. Nil: 0.
	MaterialOf []uint32
	// User holds a number for each triangle that the program chooses; queries return it. Nil: 0.
	User []uint32
	// TwoSided makes both sides of each triangle solid. Otherwise only the front is: contacts, rays and casts pass through from the back.
	TwoSided bool
}

// SurfaceMaterial is the material of some triangles of a surface. Its fields are as in ShapeDef, and replace those of the shape.
type SurfaceMaterial struct {
	Friction, Restitution, RollingResistance, TwistResistance float32
	UserMaterial                                              uint64
}

// MeshReport says what NewMesh has found among the triangles.
type MeshReport struct {
	// Degenerate are the numbers of triangles without an area, which are left out.
	Degenerate []uint32
	// Doubled are the numbers of triangles that are there again with the same front, which are left out.
	Doubled []uint32
	// Open is the number of edges of one triangle.
	Open int
	// Shared is the number of edges of more than two triangles, or of two whose fronts are on different sides. At these, and at open ones, a
	// shape can touch the border of a triangle.
	Shared int
}

// NewMesh makes a mesh. It depends on the set of triangles; their order only gives them numbers.
//
// Errors name the field, the index and the value: ErrNotFinite and ErrRange for a coordinate that is not finite or beyond 2^20 m; ErrRange for a number
// of a vertex or a material that is not there, for slices of another length than Triangles, for more than MaxMeshTriangles, and if no triangle has an
// area; and those of a material.
func NewMesh(d MeshDef) (*Mesh, MeshReport, error) {
	if err := d.validate(); err != nil {
		return nil, MeshReport{}, err
	}
	cooked, found, err := mesh.Cook(d.Vertices, d.Triangles)
	report := MeshReport{}
	if found != nil {
		report = MeshReport(*found)
	}
	if err != nil {
		return nil, report, fmt.Errorf("physics3: NewMesh: %w", err)
	}
	m := &Mesh{cooked: cooked, materials: slices.Clone(d.Materials), twoSided: d.TwoSided}
	m.materialOf, m.user = m.byTriangle(d.MaterialOf), m.byTriangle(d.User)
	m.setDigest()
	return m, report, nil
}

func (d *MeshDef) validate() error {
	err := errors.Join(
		checkCount("physics3: MeshDef.MaterialOf", d.MaterialOf, len(d.Triangles)),
		checkCount("physics3: MeshDef.User", d.User, len(d.Triangles)),
	)
	if err = errors.Join(err, checkMaterials("physics3: MeshDef.Materials", d.Materials)); err != nil {
		return err
	}
	for i, m := range d.MaterialOf {
		if uint64(m) >= uint64(len(d.Materials)) {
			return check.Because(fault.Element(ErrRange, "physics3: MeshDef.MaterialOf", i, m), "there is no such material")
		}
	}
	return nil
}

// checkCount requires a slice that is nil or has n elements.
func checkCount(field string, s []uint32, n int) error {
	if s != nil && len(s) != n {
		return check.Because(fault.Field(ErrRange, "len("+field+")", len(s)), fmt.Sprintf("there are %d triangles", n))
	}
	return nil
}

// checkMaterials reports the faults of all materials.
func checkMaterials(field string, materials []SurfaceMaterial) (err error) {
	for i := range materials {
		err = errors.Join(err, materials[i].validate(fmt.Sprintf("%s[%d].", field, i)))
	}
	return err
}

func (m *SurfaceMaterial) validate(prefix string) error {
	return errors.Join(
		check.Coefficient(prefix+"Friction", m.Friction),
		check.Coefficient(prefix+"Restitution", m.Restitution),
		check.Coefficient(prefix+"RollingResistance", m.RollingResistance),
		check.Coefficient(prefix+"TwistResistance", m.TwistResistance),
	)
}

// byTriangle sorts what belongs to the triangles of the input into the order of those of the mesh. Nil is all zeros.
func (m *Mesh) byTriangle(values []uint32) []uint32 {
	if !slices.ContainsFunc(values, func(v uint32) bool { return v != 0 }) {
		return nil
	}
	out := make([]uint32, len(m.cooked.Triangles))
	for i := range out {
		out[i] = values[m.cooked.Triangles[i].Number]
	}
	return out
}

// setDigest makes the number that represents the mesh in the state hash, which is the same on all machines, from the encoding that it returns.
func (m *Mesh) setDigest() []byte {
	e := frame.Encoder{Buf: make([]byte, 0, m.encodedBytes())}
	m.encode(&e)
	m.digest = statehash.Rows(e.Buf)
	return e.Buf
}

// NumTriangles returns the number of triangles, without those that NewMesh has left out.
func (m *Mesh) NumTriangles() int { return len(m.cooked.Triangles) }

// NumVertices returns the number of vertices, each counted once.
func (m *Mesh) NumVertices() int { return len(m.cooked.Vertices) }

// TwoSided returns MeshDef.TwoSided.
func (m *Mesh) TwoSided() bool { return m.twoSided }

// Bounds returns the box around all triangles.
func (m *Mesh) Bounds() (low, high [3]float32) {
	b := m.cooked.Bounds()
	return b.Min, b.Max
}

// surface is what the triangles of a shape are made of: a mesh, a height field or a terrain. Faces have the numbers of mesh.Surface.
type surface interface {
	same(o surface) bool
	triangles() rigid3.Surface
	hash() uint64
	kind() uint8 // in snapshots
	encode(e *frame.Encoder)
	encodedBytes() int
	// materialOf returns the material of a face, or nil for that of the shape.
	material(face uint32) *SurfaceMaterial
	// number returns the number of a face in the input, and the number that the program has given it.
	number(face uint32) (number, user uint32)
}

// The kinds of surfaces in snapshots.
const (
	surfaceFree = iota // a number without a surface
	surfaceMesh
	surfaceField
	surfaceTerrain
)

func (m *Mesh) triangles() rigid3.Surface {
	return rigid3.Surface{Surface: m.cooked, TwoSided: m.twoSided}
}

func (m *Mesh) hash() uint64 { return m.digest }

func (m *Mesh) kind() uint8 { return surfaceMesh }

func (m *Mesh) same(o surface) bool {
	n, ok := o.(*Mesh)
	return ok && (m == n || m.digest == n.digest && m.twoSided == n.twoSided && slices.Equal(m.cooked.Vertices, n.cooked.Vertices) &&
		slices.Equal(m.cooked.Triangles, n.cooked.Triangles) && slices.Equal(m.materials, n.materials) &&
		slices.Equal(m.materialOf, n.materialOf) && slices.Equal(m.user, n.user))
}

func (m *Mesh) material(face uint32) *SurfaceMaterial {
	switch {
	case len(m.materials) == 0:
		return nil
	case m.materialOf == nil:
		return &m.materials[0]
	}
	return &m.materials[m.materialOf[face]]
}

func (m *Mesh) number(face uint32) (number, user uint32) {
	if m.user != nil {
		user = m.user[face]
	}
	return m.cooked.Triangles[face].Number, user
}

// A mesh is encoded as
//
//	uint8 switches: two-sided, has materials by triangle, has user numbers; uint32 numbers of vertices, triangles and materials
//	the vertices: three float32; the triangles: uint32 vertices, then their numbers, their materials and their user numbers, if any
//	the materials: four float32, uint64 user material
const (
	meshHeaderBytes   = 1 + 3*4
	meshMaterialBytes = 4*4 + 8
)

func (m *Mesh) encodedBytes() int {
	return meshHeaderBytes + 12*len(m.cooked.Vertices) + 16*len(m.cooked.Triangles) + 4*(len(m.materialOf)+len(m.user)) + meshMaterialBytes*len(m.materials)
}

func (m *Mesh) encode(e *frame.Encoder) {
	c := m.cooked
	e.U8(bits(m.twoSided, m.materialOf != nil, m.user != nil))
	e.U32(len(c.Vertices))
	e.U32(len(c.Triangles))
	e.U32(len(m.materials))
	e.Rows(buffer.Bytes(c.Vertices), 4)
	for i := range c.Triangles {
		t := &c.Triangles[i]
		e.Buf = wire.AppendU32s(e.Buf, t.Vertices[:]...)
	}
	for i := range c.Triangles {
		e.U32(int(c.Triangles[i].Number))
	}
	e.Rows(buffer.Bytes(m.materialOf), 4)
	e.Rows(buffer.Bytes(m.user), 4)
	encodeMaterials(e, m.materials)
}

func encodeMaterials(e *frame.Encoder, materials []SurfaceMaterial) {
	for i := range materials {
		s := &materials[i]
		e.Buf = wire.AppendF32s(e.Buf, s.Friction, s.Restitution, s.RollingResistance, s.TwistResistance)
		e.U64(s.UserMaterial)
	}
}

// readMaterials reads what encodeMaterials has written.
func readMaterials(r *wire.Reader, n int) []SurfaceMaterial {
	materials := make([]SurfaceMaterial, n)
	for i := range materials {
		s := &materials[i]
		s.Friction, s.Restitution, s.RollingResistance, s.TwistResistance, s.UserMaterial = r.F32(), r.F32(), r.F32(), r.F32(), r.U64()
	}
	return materials
}

// readMesh reads what encode has written.
func readMesh(b []byte) (*Mesh, error) {
	r := wire.NewReader(b)
	switches, vertices, triangles, materials := r.U8(), uint64(r.U32()), uint64(r.U32()), uint64(r.U32())
	byTriangle := uint64(switches>>1&1) + uint64(switches>>2&1)
	if switches > 7 || r.Err() != nil || uint64(r.Len()) != 12*vertices+(16+4*byTriangle)*triangles+meshMaterialBytes*materials {
		return nil, fault.Field(ErrRange, "length of the mesh", len(b))
	}
	d := MeshDef{
		Vertices: make([][3]float32, vertices), Triangles: make([][3]uint32, triangles), TwoSided: switches&1 != 0,
	}
	frame.ReadRows(d.Vertices, r.Bytes(12*int(vertices)), 4)
	frame.ReadRows(d.Triangles, r.Bytes(12*int(triangles)), 4)
	numbers := frame.ReadRows(make([]uint32, triangles), r.Bytes(4*int(triangles)), 4)
	for i, list := range [...]*[]uint32{&d.MaterialOf, &d.User} {
		if switches>>(1+i)&1 != 0 {
			*list = frame.ReadRows(make([]uint32, triangles), r.Bytes(4*int(triangles)), 4)
		}
	}
	d.Materials = readMaterials(&r, int(materials))
	m, _, err := NewMesh(d)
	if err != nil {
		return nil, err
	}
	if len(m.cooked.Vertices) != int(vertices) || len(m.cooked.Triangles) != int(triangles) {
		return nil, fault.Field(ErrRange, "number of triangles", triangles)
	}
	for i := range m.cooked.Triangles {
		t := &m.cooked.Triangles[i]
		if int(t.Number) != i || numbers[i] >= MaxMeshTriangles {
			return nil, fault.Element(ErrRange, "number of triangle", i, numbers[i])
		}
		t.Number = numbers[i]
	}
	if !bytes.Equal(m.setDigest(), b) { // other vertices or triangles, or in another order
		return nil, fault.Field(ErrRange, "order of the mesh", len(b))
	}
	return m, nil
}
