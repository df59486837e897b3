package mesh

import (
	"slices"

	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
)

const (
	// MaxSamples bounds the samples of a height field along an axis.
	MaxSamples = 1 << 16
	// MaxFieldTriangles bounds the triangles of a terrain.
	MaxFieldTriangles = 1 << 30
)

// HeightFieldDef describes a HeightField.
type HeightFieldDef struct {
	Width, Depth int        // samples along x and z
	Cell         [2]float32 // the distance between samples along x and z
	Heights      []float32  // row by row: that of x, z is at z*Width + x; copied
	Holes        []bool     // by cell, row by row; or empty
}

// HeightField is heights y above a grid in x and z. It stores no triangles: a Terrain computes them. It does not change once it is made.
//
// A cell between the samples a at its lowest x and z, b at the next x, c at the next z and d has the triangles a, c, b and c, d, b. Their front is
// above. A cell that is a hole has none.
type HeightField struct {
	width, depth int
	cell         [2]float32
	heights      []float32
	holes        []uint64 // a bit for each cell; nil: none
	levels       []level  // from cells to one block
	first, last  [2]int   // cells that are not holes are within these columns and rows
}

// level is the least and the greatest height of blocks of cells, row by row. A block without triangles has +Inf and -Inf.
type level struct {
	blocks [][2]float32
	wide   int // blocks in a row
	shift  int // a block has 1<<shift cells along each axis
}

// blockShift is the logarithm of the number of blocks along an axis that one of the next level has. With 3, all levels take an eighth of a byte
// a sample.
const blockShift = 3

// NewHeightField makes a height field. Errors wrap fault.ErrNotFinite or fault.ErrRange, and name the field, the index and the value.
func NewHeightField(d HeightFieldDef) (*HeightField, error) {
	if err := d.validate(); err != nil {
		return nil, err
	}
	f := &HeightField{width: d.Width, depth: d.Depth, cell: d.Cell, heights: make([]float32, len(d.Heights))}
	for i, h := range d.Heights {
		f.heights[i] = h + 0 // without negative zeros
	}
	f.setHoles(d.Holes)
	f.addLevels()
	if top := f.levels[len(f.levels)-1].blocks[0]; !(top[0] <= top[1]) {
		return nil, check.Because(fault.Field(fault.ErrRange, "HeightFieldDef.Holes", len(d.Holes)), "all cells are holes")
	}
	f.trim()
	return f, nil
}

func (d *HeightFieldDef) validate() error {
	for _, side := range [2]struct {
		field   string
		samples int
	}{{"HeightFieldDef.Width", d.Width}, {"HeightFieldDef.Depth", d.Depth}} {
		if side.samples < 2 || side.samples > MaxSamples {
			return check.Because(fault.Field(fault.ErrRange, side.field, side.samples), "must be 2 to 65536")
		}
	}
	for k, cell := range d.Cell {
		switch {
		case !fault.Finite(cell):
			return fault.Element(fault.ErrNotFinite, "HeightFieldDef.Cell", k, cell)
		case !(cell >= minCell && cell <= MaxCoordinate):
			return check.Because(fault.Element(fault.ErrRange, "HeightFieldDef.Cell", k, cell), "must be 2^-20 m to 2^20 m")
		}
		if samples := [2]int{d.Width, d.Depth}[k]; float64(cell)*float64(samples-1) > MaxCoordinate {
			return check.Because(fault.Element(fault.ErrRange, "HeightFieldDef.Cell", k, cell), "the field ends beyond 2^20 m")
		}
	}
	cells := int64(d.Width-1) * int64(d.Depth-1)
	switch {
	case 2*cells > MaxFieldTriangles:
		return check.Because(fault.Field(fault.ErrRange, "HeightFieldDef.Width", d.Width), "more than 2^30 triangles")
	case int64(len(d.Heights)) != int64(d.Width)*int64(d.Depth):
		return check.Because(fault.Field(fault.ErrRange, "len(HeightFieldDef.Heights)", len(d.Heights)), "must be Width*Depth")
	case len(d.Holes) != 0 && int64(len(d.Holes)) != cells:
		return check.Because(fault.Field(fault.ErrRange, "len(HeightFieldDef.Holes)", len(d.Holes)), "must be 0 or (Width-1)*(Depth-1)")
	}
	for i, h := range d.Heights {
		switch {
		case !fault.Finite(h):
			return fault.Element(fault.ErrNotFinite, "HeightFieldDef.Heights", i, h)
		case max(h, -h) > MaxCoordinate:
			return check.Because(fault.Element(fault.ErrRange, "HeightFieldDef.Heights", i, h), "beyond 2^20 m")
		}
	}
	return nil
}

// minCell keeps the squares of areas normal.
const minCell = 0x1p-20

// Size returns the number of cells along x and z.
func (f *HeightField) Size() (x, z int) { return f.width - 1, f.depth - 1 }

// Cell returns the distance between samples along x and z.
func (f *HeightField) Cell() [2]float32 { return f.cell }

// Heights returns the heights, which must not be changed.
func (f *HeightField) Heights() []float32 { return f.heights }

// HoleWords returns a bit for each cell that is set for a hole, or nil.
func (f *HeightField) HoleWords() []uint64 { return f.holes }

// Equal reports whether two height fields have the same content.
func (f *HeightField) Equal(o *HeightField) bool {
	return f.width == o.width && f.depth == o.depth && f.cell == o.cell && slices.Equal(f.heights, o.heights) && slices.Equal(f.holes, o.holes)
}

func (f *HeightField) setHoles(holes []bool) {
	for i, hole := range holes {
		if hole {
			if f.holes == nil {
				f.holes = make([]uint64, (len(holes)+63)/64)
			}
			f.holes[i/64] |= 1 << (i % 64)
		}
	}
}

// Hole reports whether a cell, which must be there, is a hole.
func (f *HeightField) Hole(x, z int) bool {
	i := z*(f.width-1) + x
	return f.holes != nil && f.holes[i/64]>>(i%64)&1 != 0
}

// corners returns the heights at a, b, c and d of a cell.
func (f *HeightField) corners(x, z int) (a, b, c, d float32) {
	row := f.heights[z*f.width+x:]
	next := row[f.width:]
	return row[0], row[1], next[0], next[1]
}

var noHeights = [2]float32{inf, -inf}

// span returns the least and the greatest height of a cell.
func (f *HeightField) span(x, z int) [2]float32 {
	if f.Hole(x, z) {
		return noHeights
	}
	a, b, c, d := f.corners(x, z)
	return [2]float32{min(a, b, c, d), max(a, b, c, d)}
}

// addLevels adds levels up to one block.
func (f *HeightField) addLevels() {
	wide, deep := f.Size()
	span := f.span
	for shift := blockShift; ; shift += blockShift {
		l := level{wide: (wide-1)>>blockShift + 1, shift: shift}
		rows := (deep-1)>>blockShift + 1
		l.blocks = make([][2]float32, l.wide*rows)
		for i := range l.blocks {
			l.blocks[i] = noHeights
		}
		for z := range deep {
			for x := range wide {
				s, b := span(x, z), &l.blocks[z>>blockShift*l.wide+x>>blockShift]
				b[0], b[1] = min(b[0], s[0]), max(b[1], s[1])
			}
		}
		f.levels = append(f.levels, l)
		if len(l.blocks) == 1 {
			return
		}
		wide, deep = l.wide, rows
		span = func(x, z int) [2]float32 { return l.blocks[z*l.wide+x] }
	}
}

// trim sets the columns and rows that have a triangle.
func (f *HeightField) trim() {
	wide, deep := f.Size()
	f.first, f.last = [2]int{wide, deep}, [2]int{-1, -1}
	for z := range deep {
		for x := range wide {
			if !f.Hole(x, z) {
				f.first = [2]int{min(f.first[0], x), min(f.first[1], z)}
				f.last = [2]int{max(f.last[0], x), max(f.last[1], z)}
			}
		}
	}
}

// heightSpan returns the least and the greatest height of all triangles.
func (f *HeightField) heightSpan() [2]float32 { return f.levels[len(f.levels)-1].blocks[0] }

// meets reports whether a block of a level may meet heights from lo to hi.
func (l *level) meets(x, z int, lo, hi float32) bool {
	b := &l.blocks[z>>l.shift*l.wide+x>>l.shift]
	return b[0] <= hi && lo <= b[1]
}
