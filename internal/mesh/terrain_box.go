package mesh

// AppendFaces appends the triangles whose boxes meet a box, ascending by number.
func (t *Terrain) AppendFaces(dst []Face, box *Box) []Face {
	if !t.bounds.Overlaps(box) {
		return dst
	}
	first, last := [2]int{}, [2]int{}
	for k, axis := range [2]int{0, 2} {
		first[k], last[k] = t.cellsBetween(k, box.Min[axis], box.Max[axis])
	}
	placeX, endX := t.placeOf(0, first[0]), t.placeOf(0, last[0])
	placeZ, endZ := t.placeOf(1, first[1]), t.placeOf(1, last[1])
	for z := placeZ; z <= endZ; z++ {
		for x := placeX; x <= endX; x++ {
			if tile := t.TileAt(x, z); tile >= 0 && t.tiles[tile].box.Overlaps(box) {
				dst = t.appendOfTile(dst, tile, first, last, box.Min[1], box.Max[1])
			}
		}
	}
	return dst
}

// placeOf returns the place of a cell along an axis.
func (t *Terrain) placeOf(axis, cell int) int {
	return (cell-t.corner[axis]*t.cells[axis])/t.cells[axis] + t.corner[axis]
}

// cellsBetween returns the first and the last cell along an axis that touch the coordinates from lo to hi, which meet the terrain.
func (t *Terrain) cellsBetween(axis int, lo, hi float32) (first, last int) {
	least := t.corner[axis] * t.cells[axis]
	most := least + t.extent[axis]*t.cells[axis] - 1
	for first = t.guess(axis, lo, least, most); first > least && t.coordinate(axis, first) >= lo; {
		first--
	}
	for first < most && t.coordinate(axis, first+1) < lo {
		first++
	}
	for last = t.guess(axis, hi, least, most); last < most && t.coordinate(axis, last+1) <= hi; {
		last++
	}
	for last > least && t.coordinate(axis, last) > hi {
		last--
	}
	return first, last
}

// guess returns about the cell of a coordinate.
func (t *Terrain) guess(axis int, at float32, least, most int) int {
	cell := at / t.cell[axis]
	switch {
	case !(cell > float32(least)):
		return least
	case cell >= float32(most):
		return most
	}
	return int(cell)
}

// appendOfTile appends the triangles of a tile in cells from first to last, in cells of the terrain, that meet heights from lo to hi.
func (t *Terrain) appendOfTile(dst []Face, tile int, first, last [2]int, lo, hi float32) []Face {
	p := &t.tiles[tile]
	for k := range first {
		first[k] = max(first[k]-p.origin[k], p.first[k])
		last[k] = min(last[k]-p.origin[k], p.last[k])
	}
	for z := first[1]; z <= last[1]; z++ {
		for x := first[0]; x <= last[0]; {
			end, meets := p.skip(x, z, lo, hi)
			end = min(end, last[0]+1)
			if meets {
				for ; x < end; x++ {
					dst = t.appendOfCell(dst, tile, x, z, lo, hi)
				}
			}
			x = end
		}
	}
	return dst
}

// skip returns the end of the row of cells from x on that are in one block, of the highest level that does not meet heights from lo to hi, or of the
// lowest level.
func (f *HeightField) skip(x, z int, lo, hi float32) (end int, meets bool) {
	for i := len(f.levels) - 1; i >= 0; i-- {
		if l := &f.levels[i]; !l.meets(x, z, lo, hi) {
			return (x>>l.shift + 1) << l.shift, false
		}
	}
	return (x>>blockShift + 1) << blockShift, true
}

func (t *Terrain) appendOfCell(dst []Face, tile, x, z int, lo, hi float32) []Face {
	p := &t.tiles[tile]
	if p.Hole(x, z) {
		return dst
	}
	a, b, c, d := p.corners(x, z)
	first, second := min(a, c, b) <= hi && lo <= max(a, c, b), min(c, d, b) <= hi && lo <= max(c, d, b)
	if !first && !second {
		return dst
	}
	return t.appendCell(dst, tile, x, z, first, second)
}
