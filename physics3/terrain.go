package physics3

import (
	"fmt"
	"slices"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/frame"
	"github.com/evertick/evertick/internal/mesh"
	"github.com/evertick/evertick/internal/rigid3"
	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/internal/wire"
)

// Terrain is height fields side by side as one surface, for static and kinematic bodies. Nothing bumps over the seams: their triangles know each
// other as those within a field do. Two shapes side by side do not: there, a shape can touch the border of each.
//
// All tiles have the same numbers and sizes of cells. That at the place X, Z begins at sample X·(Width-1), Z·(Depth-1) of the terrain, and sample i, k of
// the terrain is at (i·Cell[0], its height, k·Cell[1]). Where two tiles share samples these have the same heights. Places may be empty; one field
// may be at several.
//
// A terrain is immutable. It keeps the fields of its tiles, and what it has itself is small, so that a program can replace a tile by a new terrain with the
// other tiles of the one before.
type Terrain struct {
	surface *mesh.Terrain
	fields  []*HeightField // each content once
	fieldOf []int          // by tile of surface: its field
	digest  uint64
}

// TerrainTile is a tile of a Terrain.
type TerrainTile struct {
	Field *HeightField
	// X and Z are the place, in tiles.
	X, Z int
}

// TerrainDef describes a Terrain.
type TerrainDef struct {
	// Tiles in any order.
	Tiles []TerrainTile
}

// NewTerrain makes a terrain. It compares heights only where tiles meet.
//
// Errors wrap ErrRange and name the tile: a nil Field, one of another size, two tiles at one place, samples beyond 2^20 m or 2^22 from the origin, and a
// height that differs from that of another tile, of which they name the index; more than 2^30 triangles; and tiles so far apart that the rectangle around
// them has more than 2^20 places.
func NewTerrain(d TerrainDef) (*Terrain, error) {
	tiles := make([]mesh.Tile, len(d.Tiles))
	for i, tile := range d.Tiles {
		if tiles[i].X, tiles[i].Z = tile.X, tile.Z; tile.Field != nil {
			tiles[i].Field = tile.Field.field
		}
	}
	surface, err := mesh.NewTerrain(tiles)
	if err != nil {
		return nil, fmt.Errorf("physics3: %w", err)
	}
	t := &Terrain{surface: surface, fieldOf: make([]int, len(tiles))}
	fields := make([]*HeightField, len(tiles)) // by tile of surface
	for _, tile := range d.Tiles {
		fields[surface.TileAt(tile.X, tile.Z)] = tile.Field
	}
	var places []byte
	for i, f := range fields {
		t.fieldOf[i] = t.find(f)
		at := surface.Tile(i)
		places = wire.AppendU64s(places, f.digest, uint64(at.X), uint64(at.Z))
	}
	t.digest = statehash.Rows(places)
	return t, nil
}

// find returns the number of a field in fields, and adds it if it is not there.
func (t *Terrain) find(f *HeightField) int {
	for i, o := range t.fields {
		if o.equals(f) {
			return i
		}
	}
	t.fields = append(t.fields, f)
	return len(t.fields) - 1
}

// Bounds returns the box around all triangles.
func (t *Terrain) Bounds() (low, high [3]float32) {
	b := t.surface.Bounds()
	return b.Min, b.Max
}

// Locate returns the place of the tile to which a triangle belongs, and the number of the triangle in the height field that is there. It panics if
// there is no such triangle.
func (t *Terrain) Locate(triangle uint32) (x, z int, inTile uint32) {
	tile, number := t.split(triangle)
	at := t.surface.Tile(tile)
	return at.X, at.Z, number
}

// split returns the tile of a triangle and the number of the triangle in it.
func (t *Terrain) split(triangle uint32) (tile int, number uint32) {
	cells := t.surface.Cells()
	each := uint32(2 * cells[0] * cells[1])
	return int(triangle / each), triangle % each
}

func (t *Terrain) triangles() rigid3.Surface { return rigid3.Surface{Surface: t.surface} }

func (t *Terrain) hash() uint64 { return t.digest }

func (t *Terrain) kind() uint8 { return surfaceTerrain }

func (t *Terrain) same(o surface) bool {
	u, ok := o.(*Terrain)
	if !ok || t == u {
		return ok
	}
	if t.digest != u.digest || !slices.Equal(t.fieldOf, u.fieldOf) || len(t.fields) != len(u.fields) {
		return false
	}
	for i := range t.fieldOf {
		a, b := t.surface.Tile(i), u.surface.Tile(i)
		if a.X != b.X || a.Z != b.Z {
			return false
		}
	}
	return slices.EqualFunc(t.fields, u.fields, (*HeightField).equals)
}

func (t *Terrain) material(face uint32) *SurfaceMaterial {
	tile, number := t.split(face)
	return t.fields[t.fieldOf[tile]].material(number)
}

func (t *Terrain) number(face uint32) (number, user uint32) { return face, 0 }

// A terrain is encoded as
//
//	uint32 numbers of fields and tiles; the fields, in the order in which tiles need them: uint32 length, and as in height_field.go
//	the tiles, ascending by z, then x: int32 x, int32 z, uint32 number of the field
func (t *Terrain) encodedBytes() int {
	n := 8 + 12*len(t.fieldOf)
	for _, f := range t.fields {
		n += 4 + f.encodedBytes()
	}
	return n
}

func (t *Terrain) encode(e *frame.Encoder) {
	e.U32(len(t.fields))
	e.U32(len(t.fieldOf))
	for _, f := range t.fields {
		e.U32(f.encodedBytes())
		f.encode(e)
	}
	for i, field := range t.fieldOf {
		at := t.surface.Tile(i)
		e.U32(at.X)
		e.U32(at.Z)
		e.U32(field)
	}
}

// readTerrain reads what encode has written.
func readTerrain(b []byte) (*Terrain, error) {
	r := wire.NewReader(b)
	fields, tiles := uint64(r.U32()), uint64(r.U32())
	if fields > uint64(r.Len()) || 12*tiles > uint64(r.Len()) {
		return nil, fault.Field(ErrRange, "fields and tiles of the terrain", [2]uint64{fields, tiles})
	}
	made := make([]*HeightField, fields)
	for i := range made {
		n := r.U32()
		if uint64(n) > uint64(r.Len()) {
			return nil, fault.Element(ErrRange, "length of field", i, n)
		}
		f, err := readField(r.Bytes(int(n)))
		if err != nil {
			return nil, fmt.Errorf("field %d of the terrain: %w", i, err)
		}
		made[i] = f
	}
	if uint64(r.Len()) != 12*tiles {
		return nil, fault.Field(ErrRange, "length of the terrain", len(b))
	}
	d := TerrainDef{Tiles: make([]TerrainTile, tiles)}
	for i := range d.Tiles {
		tile := &d.Tiles[i]
		tile.X, tile.Z = int(int32(r.U32())), int(int32(r.U32()))
		field := r.U32()
		if uint64(field) >= fields {
			return nil, fault.Element(ErrRange, "field of tile", i, field)
		}
		tile.Field = made[field]
	}
	t, err := NewTerrain(d)
	if err != nil {
		return nil, err
	}
	return t, encodesTo(t, b)
}
