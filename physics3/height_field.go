package physics3

import (
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

// HeightField is the surface of heights above a grid, for static and kinematic bodies. It is immutable, so any number of shapes, terrains, worlds and
// goroutines can share it. A world knows it by its content.
//
// Sample i, k is at (i·Cell[0], its height, k·Cell[1]). The cell between the samples i, k and i+1, k+1 has two triangles: number 2·c holds sample i, k
// and number 2·c + 1 sample i+1, k+1, where c = k·(Width-1) + i. Both hold the samples i+1, k and i, k+1. They are solid from above: what is below them,
// or comes from there, passes.
//
// A height field stores no triangles. It takes 4.3 bytes a sample, and one more for each cell if MaterialOf is given.
type HeightField struct {
	field      *mesh.HeightField
	surface    *mesh.Terrain // of field alone
	materials  []SurfaceMaterial
	materialOf []uint8 // by cell; nil: 0 for all
	digest     uint64
}

// HeightFieldDef describes a HeightField.
type HeightFieldDef struct {
	// Width and Depth are the numbers of samples along x and z, 2 to 65,536 each.
	Width, Depth int
	// Cell holds the distances between samples along x and z, in metres, from 2^-20.
	Cell [2]float32
	// Heights holds the heights of the samples in metres, each up to 2^20: that of sample i, k is at k·Width + i.
	Heights []float32
	// Holes holds true for each cell without triangles: that of cell i, k is at k·(Width-1) + i. Nil: there are none.
	Holes []bool
	// Materials are what surfaces the cells have. None: all have that of the shape.
	Materials []SurfaceMaterial
	// MaterialOf holds the number of its material for each cell, in the order of Holes. Nil: 0.
	MaterialOf []uint8
}

// NewHeightField makes a height field. It copies what it needs.
//
// Errors name the field, the index and the value: ErrNotFinite and ErrRange for a number that is not finite or out of range, a field that ends beyond
// 2^20 m or has more than 2^30 triangles, for slices of another length than the samples or cells, and if all cells are holes; ErrRange for a number of a
// material that is not there; and those of a material.
func NewHeightField(d HeightFieldDef) (*HeightField, error) {
	field, err := mesh.NewHeightField(mesh.HeightFieldDef{Width: d.Width, Depth: d.Depth, Cell: d.Cell, Heights: d.Heights, Holes: d.Holes})
	if err != nil {
		return nil, fmt.Errorf("physics3: %w", err)
	}
	if err := d.checkMaterials(); err != nil {
		return nil, err
	}
	f := &HeightField{field: field, surface: field.Surface(), materials: slices.Clone(d.Materials)}
	if slices.ContainsFunc(d.MaterialOf, func(m uint8) bool { return m != 0 }) {
		f.materialOf = slices.Clone(d.MaterialOf)
	}
	e := frame.Encoder{Buf: make([]byte, 0, f.encodedBytes())}
	f.encode(&e)
	f.digest = statehash.Rows(e.Buf)
	return f, nil
}

// checkMaterials comes after the sizes have been checked.
func (d *HeightFieldDef) checkMaterials() error {
	err := checkMaterials("physics3: HeightFieldDef.Materials", d.Materials)
	if cells := (d.Width - 1) * (d.Depth - 1); d.MaterialOf != nil && len(d.MaterialOf) != cells {
		e := fault.Field(ErrRange, "physics3: len(HeightFieldDef.MaterialOf)", len(d.MaterialOf))
		err = errors.Join(err, check.Because(e, fmt.Sprintf("there are %d cells", cells)))
	}
	if err != nil {
		return err
	}
	for i, m := range d.MaterialOf {
		if int(m) >= len(d.Materials) {
			return check.Because(fault.Element(ErrRange, "physics3: HeightFieldDef.MaterialOf", i, m), "there is no such material")
		}
	}
	return nil
}

// Size returns the numbers of samples along x and z.
func (f *HeightField) Size() (width, depth int) {
	x, z := f.field.Size()
	return x + 1, z + 1
}

// Bounds returns the box around all triangles.
func (f *HeightField) Bounds() (low, high [3]float32) {
	b := f.surface.Bounds()
	return b.Min, b.Max
}

func (f *HeightField) triangles() rigid3.Surface { return rigid3.Surface{Surface: f.surface} }

func (f *HeightField) hash() uint64 { return f.digest }

func (f *HeightField) kind() uint8 { return surfaceField }

func (f *HeightField) same(o surface) bool {
	g, ok := o.(*HeightField)
	return ok && f.equals(g)
}

func (f *HeightField) equals(g *HeightField) bool {
	return f == g || f.digest == g.digest && f.field.Equal(g.field) && slices.Equal(f.materials, g.materials) && slices.Equal(f.materialOf, g.materialOf)
}

func (f *HeightField) material(face uint32) *SurfaceMaterial {
	if len(f.materials) == 0 {
		return nil
	}
	if f.materialOf == nil {
		return &f.materials[0]
	}
	return &f.materials[f.materialOf[face/2]]
}

func (f *HeightField) number(face uint32) (number, user uint32) { return face, 0 }

// A height field is encoded as
//
//	uint8 switches: has holes, has materials by cell; uint32 numbers of samples along x and z, and of materials; float32 sizes of a cell
//	the heights; a bit for each cell in bytes, set for a hole, if any is; uint8 materials by cell, if any; the materials as in a mesh
const fieldHeaderBytes = 1 + 3*4 + 2*4

func (f *HeightField) encodedBytes() int {
	return fieldHeaderBytes + 4*len(f.field.Heights()) + 8*len(f.field.HoleWords()) + len(f.materialOf) + meshMaterialBytes*len(f.materials)
}

func (f *HeightField) encode(e *frame.Encoder) {
	width, depth := f.Size()
	e.U8(bits(f.field.HoleWords() != nil, f.materialOf != nil))
	for _, n := range [...]int{width, depth, len(f.materials)} {
		e.U32(n)
	}
	cell := f.field.Cell()
	e.Buf = wire.AppendF32s(e.Buf, cell[:]...)
	e.Rows(buffer.Bytes(f.field.Heights()), 4)
	e.Rows(buffer.Bytes(f.field.HoleWords()), 8)
	e.Buf = append(e.Buf, f.materialOf...)
	encodeMaterials(e, f.materials)
}

// readField reads what encode has written.
func readField(b []byte) (*HeightField, error) {
	r := wire.NewReader(b)
	switches := r.U8()
	width, depth, materials := uint64(r.U32()), uint64(r.U32()), uint64(r.U32())
	d := HeightFieldDef{Width: int(width), Depth: int(depth)}
	r.F32s(d.Cell[:])
	if switches > 3 || r.Err() != nil || width < 2 || width > mesh.MaxSamples || depth < 2 || depth > mesh.MaxSamples {
		return nil, fault.Field(ErrRange, "samples of the height field", [2]uint64{width, depth})
	}
	cells := (width - 1) * (depth - 1)
	words, bytesOf := uint64(0), uint64(0)
	if switches&1 != 0 {
		words = (cells + 63) / 64
	}
	if switches&2 != 0 {
		bytesOf = cells
	}
	if uint64(r.Len()) != 4*width*depth+8*words+bytesOf+meshMaterialBytes*materials {
		return nil, fault.Field(ErrRange, "length of the height field", len(b))
	}
	d.Heights = frame.ReadRows(make([]float32, width*depth), r.Bytes(int(4*width*depth)), 4)
	if switches&1 != 0 {
		holes := frame.ReadRows(make([]uint64, words), r.Bytes(int(8*words)), 8)
		d.Holes = make([]bool, cells)
		for i := range d.Holes {
			d.Holes[i] = holes[i/64]>>(i%64)&1 != 0
		}
	}
	if switches&2 != 0 {
		d.MaterialOf = r.Bytes(int(cells))
	}
	d.Materials = readMaterials(&r, int(materials))
	f, err := NewHeightField(d)
	if err != nil {
		return nil, err
	}
	return f, encodesTo(f, b)
}

// encodesTo returns an error unless b is the encoding of a surface, of which each has one.
func encodesTo(s surface, b []byte) error {
	e := frame.Encoder{Buf: make([]byte, 0, s.encodedBytes())}
	if s.encode(&e); !slices.Equal(e.Buf, b) {
		return fault.Field(ErrRange, "encoding of a surface, bytes", len(b))
	}
	return nil
}

// readSurface reads what a surface of a kind has encoded.
func readSurface(kind uint8, b []byte) (s surface, err error) {
	switch kind {
	case surfaceMesh:
		s, err = readMesh(b)
	case surfaceField:
		s, err = readField(b)
	case surfaceTerrain:
		s, err = readTerrain(b)
	default:
		err = fault.Field(ErrRange, "kind", kind)
	}
	if err != nil {
		return nil, err // not a nil pointer
	}
	return s, nil
}
