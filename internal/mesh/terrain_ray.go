package mesh

import "math"

// units is a grid along x and z through which a ray goes: the tiles of a terrain, the blocks of a level of a tile, or its cells.
type units struct {
	tile        *placedTile // nil: the units are tiles
	number      int         // of tile
	level       int         // of blocks; -1: the units are cells
	size        [2]int      // cells of a unit
	origin      [2]int      // of unit 0, in cells of the terrain
	first, last [2]int      // units to look at
}

// terrainCaster is a ray through a terrain.
type terrainCaster struct {
	caster
	t     *Terrain
	guard float64 // slack, and the rounding of the coordinates of samples to float32
	major int     // 0: the ray passes more cells along x than along z; else 1
}

// CastRay returns the first triangle that a ray hits.
func (t *Terrain) CastRay(r Ray) RayHit {
	c := terrainCaster{caster: newCaster(&r, &t.bounds), t: t}
	c.guard = c.slack
	for _, axis := range [2]int{0, 2} {
		c.guard = max(c.guard, float64(t.bounds.Max[axis])*0x1p-23, float64(-t.bounds.Min[axis])*0x1p-23)
	}
	if math.Abs(r.D[2])*float64(t.cell[0]) > math.Abs(r.D[0])*float64(t.cell[1]) {
		c.major = 1
	}
	if t0, t1 := c.clipBox(&t.bounds); t0 <= t1 {
		last := [2]int{t.extent[0] - 1, t.extent[1] - 1}
		origin := [2]int{t.corner[0] * t.cells[0], t.corner[1] * t.cells[1]}
		c.walk(&units{size: t.cells, origin: origin, last: last}, t0, t1)
	}
	return c.hit
}

// between returns the units, from first to last, that may touch the ray from t0 to t1 along x, which is axis 0, or z.
func (c *terrainCaster) between(g *units, axis int, t0, t1 float64) (first, last int) {
	lo, hi := c.at(2*axis, t0), c.at(2*axis, t1)
	if lo > hi {
		lo, hi = hi, lo
	}
	unit := float64(g.size[axis]) * float64(c.t.cell[axis])
	start := float64(float64(g.origin[axis]) * float64(c.t.cell[axis]))
	index := func(at float64) int {
		return int(max(min(math.Floor((at-start)/unit), float64(g.last[axis]+1)), float64(g.first[axis]-1)))
	}
	return max(index(lo-c.guard), g.first[axis]), min(index(hi+c.guard), g.last[axis])
}

// walk visits the units that touch the ray from t0 to t1, column after column along the major axis.
func (c *terrainCaster) walk(g *units, t0, t1 float64) {
	m, n := c.major, 1-c.major
	first, last := c.between(g, m, t0, t1)
	from, to, step := first, last+1, 1
	if c.D[2*m] < 0 {
		from, to, step = last, first-1, -1
	}
	for i := from; i != to; i += step {
		a, b := c.clipUnit(g, m, i, t0, min(t1, c.limit))
		if !(a <= b) {
			continue
		}
		low, high := c.between(g, n, a, b)
		at := [2]int{}
		for j := low; j <= high; j++ {
			at[m], at[n] = i, j
			c.visit(g, at, a, b)
		}
	}
}

// clipUnit returns the part from t0 to t1 within a unit along x or z.
func (c *terrainCaster) clipUnit(g *units, axis, i int, t0, t1 float64) (float64, float64) {
	lo := g.origin[axis] + i*g.size[axis]
	return c.clip(2*axis, float64(c.t.coordinate(axis, lo)), float64(c.t.coordinate(axis, lo+g.size[axis])), t0, t1)
}

// visit looks through a unit.
func (c *terrainCaster) visit(g *units, at [2]int, t0, t1 float64) {
	p, number, level := g.tile, g.number, g.level
	var heights [2]float32
	switch {
	case p == nil:
		if number = c.t.TileAt(c.t.corner[0]+at[0], c.t.corner[1]+at[1]); number < 0 {
			return
		}
		p = &c.t.tiles[number]
		level = len(p.levels)
		heights = p.heightSpan()
	case level < 0:
		heights = p.span(at[0], at[1])
	default:
		l := &p.levels[level]
		heights = l.blocks[at[1]*l.wide+at[0]]
	}
	if !(heights[0] <= heights[1]) {
		return
	}
	if t0, t1 = c.clip(1, float64(heights[0]), float64(heights[1]), t0, min(t1, c.limit)); !(t0 <= t1) {
		return
	}
	if g.tile != nil && level < 0 {
		c.cell(number, p, at[0], at[1])
		return
	}
	if t0, t1 = c.clipUnit(g, 1-c.major, at[1-c.major], t0, t1); !(t0 <= t1) {
		return
	}
	next := units{tile: p, number: number, level: level - 1, size: [2]int{1, 1}, origin: p.origin}
	cells := [2]int{}
	cells[0], cells[1] = p.Size()
	shift := 0
	if next.level >= 0 {
		shift = p.levels[next.level].shift
	}
	for k := range cells {
		next.size[k] = 1 << shift
		next.last[k] = (cells[k] - 1) >> shift
		if g.tile != nil {
			next.first[k] = at[k] << blockShift
			next.last[k] = min(next.last[k], next.first[k]+1<<blockShift-1)
		}
	}
	c.walk(&next, t0, t1)
}

// cell tests the triangles of a cell that is no hole.
func (c *terrainCaster) cell(tile int, p *placedTile, x, z int) {
	number := uint32(tile*c.t.perTile() + 2*(z*c.t.cells[0]+x))
	v := [4][3]float32{c.t.sample(p, x, z), c.t.sample(p, x, z+1), c.t.sample(p, x+1, z), c.t.sample(p, x+1, z+1)}
	first := lowestFirst(v[0], v[1], v[2])
	c.triangle(&first, number)
	c.triangle(&[3][3]float32{v[1], v[3], v[2]}, number+1)
}
