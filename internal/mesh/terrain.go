package mesh

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
)

// maxPlaces bounds the rectangle of places around all tiles of a terrain.
const maxPlaces = 1 << 20

// Tile is a height field at a place of a grid: its first sample is that with the numbers X and Z times the cells of a tile.
type Tile struct {
	Field *HeightField
	X, Z  int
}

// Terrain is a Surface of height fields side by side, or of a single one. All have the same numbers and sizes of cells. Where two of them are next
// to each other, their heights are the same, so that their triangles meet as those of one field. A coordinate is the number of a sample times the
// size of a cell, rounded once.
//
// The triangles of a tile follow those of the one before. Within a tile, cell i, counted row by row, has the numbers 2i for a, c, b and 2i+1 for
// c, d, b: see HeightField. Those of a hole have no triangle.
type Terrain struct {
	tiles  []placedTile // ascending by z, then x
	places []int32      // a rectangle of places, row by row: the number of the tile, or -1
	corner [2]int       // the place of places[0]
	extent [2]int       // of the rectangle
	cells  [2]int       // of a tile
	cell   [2]float32
	bounds Box
}

// placedTile is a tile of a terrain.
type placedTile struct {
	*HeightField
	place  [2]int
	origin [2]int // of its first sample, in samples of the terrain
	box    Box
}

// Surface returns the terrain of this field alone.
func (f *HeightField) Surface() *Terrain {
	t, err := NewTerrain([]Tile{{Field: f}})
	if err != nil {
		panic("mesh: a field that does not fit its own size")
	}
	return t
}

// NewTerrain makes a terrain. It keeps the height fields, and checks their borders only. Errors wrap fault.ErrRange. They name the tile, and where
// two tiles do not fit, the height of the later one.
func NewTerrain(tiles []Tile) (*Terrain, error) {
	if len(tiles) == 0 {
		return nil, fault.Field(fault.ErrRange, "len(TerrainDef.Tiles)", 0)
	}
	for i, tile := range tiles {
		if err := tile.validate(i, tiles[0].Field); err != nil {
			return nil, err
		}
	}
	t := &Terrain{cell: tiles[0].Field.cell}
	t.cells[0], t.cells[1] = tiles[0].Field.Size()
	if n := len(tiles); n > MaxFieldTriangles/t.perTile() {
		return nil, check.Because(fault.Field(fault.ErrRange, "len(TerrainDef.Tiles)", n), "more than 2^30 triangles")
	}
	numbers := make([]int, len(tiles)) // of the arguments, in the order of places
	for i := range numbers {
		numbers[i] = i
	}
	slices.SortStableFunc(numbers, func(i, j int) int {
		return cmp.Or(cmp.Compare(tiles[i].Z, tiles[j].Z), cmp.Compare(tiles[i].X, tiles[j].X))
	})
	t.bounds = empty
	for _, i := range numbers {
		t.add(&tiles[i])
	}
	if err := t.setPlaces(numbers); err != nil {
		return nil, err
	}
	return t, t.checkBorders(numbers)
}

func (tile *Tile) validate(i int, first *HeightField) error {
	f := tile.Field
	switch {
	case f == nil:
		return fault.Element(fault.ErrRange, "TerrainDef.Tiles", i, "nil")
	case f.width != first.width || f.depth != first.depth:
		return check.Because(fault.Element(fault.ErrRange, "TerrainDef.Tiles", i, [2]int{f.width, f.depth}), "its samples are not as many as those of the first")
	case f.cell != first.cell:
		return check.Because(fault.Element(fault.ErrRange, "TerrainDef.Tiles", i, f.cell), "its cells are not as large as those of the first")
	}
	cells := [2]int{f.width - 1, f.depth - 1}
	for k, place := range [2]int{tile.X, tile.Z} {
		far := max(place+1, -place) // from the origin, in tiles
		if place < -MaxCoordinate || place > MaxCoordinate || float64(far)*float64(cells[k])*float64(f.cell[k]) > MaxCoordinate {
			return check.Because(fault.Element(fault.ErrRange, "TerrainDef.Tiles", i, [2]int{tile.X, tile.Z}), "beyond 2^20 m")
		}
		if int64(far)*int64(cells[k]) > maxSample {
			return check.Because(fault.Element(fault.ErrRange, "TerrainDef.Tiles", i, [2]int{tile.X, tile.Z}), "beyond 2^22 samples")
		}
	}
	return nil
}

// maxSample bounds the numbers of samples, so that neighbours have different coordinates.
const maxSample = 1 << 22

func (t *Terrain) add(tile *Tile) {
	p := placedTile{HeightField: tile.Field, place: [2]int{tile.X, tile.Z}}
	p.origin = [2]int{p.place[0] * t.cells[0], p.place[1] * t.cells[1]}
	heights := p.heightSpan()
	for k, axis := range [2]int{0, 2} {
		p.box.Min[axis] = t.coordinate(k, p.origin[k]+p.first[k])
		p.box.Max[axis] = t.coordinate(k, p.origin[k]+p.last[k]+1)
	}
	p.box.Min[1], p.box.Max[1] = heights[0], heights[1]
	t.bounds.join(&p.box)
	t.tiles = append(t.tiles, p)
}

// setPlaces sets the rectangle of places.
func (t *Terrain) setPlaces(numbers []int) error {
	low, high := t.tiles[0].place, t.tiles[0].place
	for i := range t.tiles {
		for k, at := range t.tiles[i].place {
			low[k], high[k] = min(low[k], at), max(high[k], at)
		}
	}
	t.corner, t.extent = low, [2]int{high[0] - low[0] + 1, high[1] - low[1] + 1}
	if n := int64(t.extent[0]) * int64(t.extent[1]); n > maxPlaces {
		return check.Because(fault.Field(fault.ErrRange, "places around TerrainDef.Tiles", n), "more than 2^20")
	}
	t.places = make([]int32, t.extent[0]*t.extent[1])
	for i := range t.places {
		t.places[i] = -1
	}
	for i := range t.tiles {
		p := &t.tiles[i]
		at := &t.places[(p.place[1]-low[1])*t.extent[0]+p.place[0]-low[0]]
		if *at >= 0 {
			return check.Because(fault.Element(fault.ErrRange, "TerrainDef.Tiles", numbers[i], p.place), fmt.Sprintf("tile %d is there", numbers[*at]))
		}
		*at = int32(i)
	}
	return nil
}

// TileAt returns the number of the tile at a place, or -1.
func (t *Terrain) TileAt(x, z int) int {
	x, z = x-t.corner[0], z-t.corner[1]
	if uint(x) >= uint(t.extent[0]) || uint(z) >= uint(t.extent[1]) {
		return -1
	}
	return int(t.places[z*t.extent[0]+x])
}

// checkBorders compares each tile with the ones before it in x, in z, and in both.
func (t *Terrain) checkBorders(numbers []int) error {
	w, d := t.cells[0]+1, t.cells[1]+1
	for i := range t.tiles {
		p := &t.tiles[i]
		for _, side := range [4]struct{ dx, dz, step, count, own, other int }{
			{-1, 0, w, d, 0, w - 1},
			{0, -1, 1, w, 0, w * (d - 1)},
			{-1, -1, 1, 1, 0, w*d - 1},
			{1, -1, 1, 1, w - 1, w * (d - 1)},
		} {
			j := t.TileAt(p.place[0]+side.dx, p.place[1]+side.dz)
			if j < 0 {
				continue
			}
			for k := range side.count {
				own, other := side.own+k*side.step, side.other+k*side.step
				if h, before := p.heights[own], t.tiles[j].heights[other]; h != before {
					at := fmt.Sprintf("TerrainDef.Tiles[%d].Heights", numbers[i])
					return check.Because(fault.Element(fault.ErrRange, at, own, h), fmt.Sprintf("tile %d has %v there", numbers[j], before))
				}
			}
		}
	}
	return nil
}

// perTile returns the numbers of triangles that a tile takes.
func (t *Terrain) perTile() int { return 2 * t.cells[0] * t.cells[1] }

// Len returns the number of triangles, with those that holes lack.
func (t *Terrain) Len() int { return len(t.tiles) * t.perTile() }

// Bounds returns the box around all triangles.
func (t *Terrain) Bounds() Box { return t.bounds }

// Cells returns the numbers of cells of a tile.
func (t *Terrain) Cells() [2]int { return t.cells }

// At returns what has a number: the tile, the cell within it, and whether it is the second triangle of the cell.
func (t *Terrain) At(number uint32) (tile, x, z int, second bool) {
	tile, rest := int(number)/t.perTile(), int(number)%t.perTile()
	return tile, rest / 2 % t.cells[0], rest / 2 / t.cells[0], rest&1 != 0
}

// Tile returns a tile by the number that At returns.
func (t *Terrain) Tile(i int) Tile {
	p := &t.tiles[i]
	return Tile{p.HeightField, p.place[0], p.place[1]}
}

// Tiles returns the number of tiles.
func (t *Terrain) Tiles() int { return len(t.tiles) }

// coordinate returns where a sample is along x or z.
func (t *Terrain) coordinate(axis, sample int) float32 {
	return float32(float32(sample) * t.cell[axis])
}

// sample returns where a sample of a tile is.
func (t *Terrain) sample(p *placedTile, x, z int) [3]float32 {
	return [3]float32{t.coordinate(0, p.origin[0]+x), p.heights[z*p.width+x], t.coordinate(1, p.origin[1]+z)}
}

// cellBy returns the cell at dx, dz from one of a tile, if it is there and no hole.
func (t *Terrain) cellBy(tile, x, z, dx, dz int) (other, ox, oz int, ok bool) {
	ox, oz = x+dx, z+dz
	if uint(ox) >= uint(t.cells[0]) || uint(oz) >= uint(t.cells[1]) {
		p := &t.tiles[tile]
		if tile = t.TileAt(p.place[0]+dx, p.place[1]+dz); tile < 0 {
			return 0, 0, 0, false
		}
		ox, oz = ox-dx*t.cells[0], oz-dz*t.cells[1]
	}
	return tile, ox, oz, !t.tiles[tile].Hole(ox, oz)
}

// Face returns the triangle with a number. That of a hole has the number None.
func (t *Terrain) Face(number uint32) Face {
	tile, x, z, second := t.At(number)
	if t.tiles[tile].Hole(x, z) {
		return Face{Number: None}
	}
	var memory [1]Face
	return t.appendCell(memory[:0], tile, x, z, !second, second)[0]
}

// appendCell appends the first triangle, the second one, or both, of a cell that is no hole.
func (t *Terrain) appendCell(dst []Face, tile, x, z int, first, second bool) []Face {
	p := &t.tiles[tile]
	ha, hb, hc, hd := p.corners(x, z)
	x0, x1 := t.coordinate(0, p.origin[0]+x), t.coordinate(0, p.origin[0]+x+1)
	z0, z1 := t.coordinate(1, p.origin[1]+z), t.coordinate(1, p.origin[1]+z+1)
	a, b, c, d := [3]float32{x0, ha, z0}, [3]float32{x1, hb, z0}, [3]float32{x0, hc, z1}, [3]float32{x1, hd, z1}
	number := uint32(tile*t.perTile() + 2*(z*t.cells[0]+x))
	diagonal := meet(&c, &b, &a, &d) // c has the lower x
	if first {
		dst = append(dst, Face{Vertices: [3][3]float32{a, c, b}, Number: number})
		f := &dst[len(dst)-1]
		t.connect(f, 0, tile, x, z, -1, 0)
		f.Neighbours[1], f.Edges[1] = number+1, diagonal
		t.connect(f, 2, tile, x, z, 0, -1)
		if f.Vertices = lowestFirst(a, c, b); f.Vertices[0] == c {
			f.Neighbours = [3]uint32{f.Neighbours[1], f.Neighbours[2], f.Neighbours[0]}
			f.Edges = [3]Edge{f.Edges[1], f.Edges[2], f.Edges[0]}
		}
	}
	if second {
		dst = append(dst, Face{Vertices: [3][3]float32{c, d, b}, Number: number + 1})
		f := &dst[len(dst)-1]
		t.connect(f, 0, tile, x, z, 0, 1)
		t.connect(f, 1, tile, x, z, 1, 0)
		f.Neighbours[2], f.Edges[2] = number, diagonal
	}
	return dst
}

// lowestFirst returns a, c and b from the lower of a and c on, as a Mesh has them.
func lowestFirst(a, c, b [3]float32) [3][3]float32 {
	if c[1] < a[1] {
		return [3][3]float32{c, b, a}
	}
	return [3][3]float32{a, c, b}
}

// connect sets the neighbour at edge k, which is in the cell at dx, dz.
func (t *Terrain) connect(f *Face, k, tile, x, z, dx, dz int) {
	other, ox, oz, ok := t.cellBy(tile, x, z, dx, dz)
	if !ok {
		f.Neighbours[k] = None
		return
	}
	number, p := uint32(other*t.perTile()+2*(oz*t.cells[0]+ox)), &t.tiles[other]
	// The corner that the edge lacks is b of a first triangle, whose edge is c, a or of a second one, whose edge is d, c; else c.
	apexX, apexZ := ox, oz+1
	if dx > 0 || dz < 0 {
		apexX, apexZ = ox+1, oz
	}
	if dx < 0 || dz < 0 {
		number++ // the second triangle is on the far side
	}
	f.Neighbours[k] = number
	from, to, own, apex := &f.Vertices[k], &f.Vertices[(k+1)%3], &f.Vertices[(k+2)%3], t.sample(p, apexX, apexZ)
	if to[0] < from[0] || to[0] == from[0] && (to[1] < from[1] || to[1] == from[1] && to[2] < from[2]) {
		f.Edges[k] = meet(to, from, &apex, own)
	} else {
		f.Edges[k] = meet(from, to, own, &apex)
	}
}
