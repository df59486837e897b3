package spatial

import (
	"math"
	"math/bits"
	"slices"

	"github.com/evertick/evertick/internal/neighbours"
)

// This file lays grids over points that lie in several clusters, each of which may be far from the others. Along each axis
// the clusters cast shadows. A grid whose axes have a piece for each shadow has small cells in all clusters, and hardly
// any cells between them, except where shadows of different clusters cross.

const (
	// mostTogether is the number of points, in a group of cells as long along x as along y, from which another grid
	// may be worth the search.
	mostTogether = 32
	wideSample   = 1024 // as maxSample
	perSample    = 32   // points for each position of the wide sample
	maxShadows   = 56   // of an axis; more pieces divide what is between them
	maxBetween   = 4    // pieces between two shadows
)

// spreads are the distances between neighbours in the shadow with most positions.
var spreads = [...]float64{4, 32, 256}

// clustered reports whether along the first axis of some length the sample is in less than four fifths as many fine bins
// as an even set. Of n positions that are evenly spread over b bins, about n/(1 + n/2b) have different bins.
func (s *sampling) clustered(l *layout) bool {
	var some [8]uint64
	for a := range 3 {
		lo, hi := l.box[0][a], l.box[1][a]
		inv := float64(64*len(some)) / (hi - lo)
		if !(inv <= math.MaxFloat32) {
			continue
		}
		for _, v := range s.values[a][:s.n] {
			bin := min(uint((float64(v)-lo)*inv), uint(64*len(some)-1))
			some[bin/64%8] |= 1 << (bin % 64)
		}
		break
	}
	bins := 0
	for _, b := range some {
		bins += bits.OnesCount64(b)
	}
	return 5*bins*(128*len(some)+s.n) < 4*128*len(some)*s.n
}

// cellCount counts the positions of a sample in a group of cells.
type cellCount struct {
	key uint32 // 1 + the number of the group, or 0
	n   int32
}

// together estimates the probability that two points with different positions share a group of cells. From the first
// cell of an axis on, each four along x are a group, about as long as along y. Times the number of points it is how
// many others a point has in its group, and nearly proportional to those that a query looks at.
func (s *sampling) together(g *neighbours.Grid) float64 {
	table := s.counts[:len(s.seen)]
	clear(table)
	pairs := int64(0)
	for i := range s.n {
		x, y, z := g.Cell(0, s.values[0][i])/4, g.Cell(1, s.values[1][i]), g.Cell(2, s.values[2][i])
		key := uint32((z*g.N[1]+y)*g.N[0]+x) + 1
		at := key * 0x9e3779b1 >> s.shift
		for table[at].key != key && table[at].key != 0 {
			at = (at + 1) % uint32(len(table))
		}
		pairs += int64(table[at].n)
		table[at] = cellCount{key, table[at].n + 1}
	}
	return float64(2*pairs) / (float64(s.n) * float64(s.n-1))
}

// cost estimates what a query of n points costs: some cells, and the points in them.
func (s *sampling) cost(g *neighbours.Grid, n int) float64 {
	return 4 + float64(s.together(g)*float64(n))
}

// part is a part of an axis, with as many cells as fit, or with a given number of cells.
type part struct {
	lo, hi float64
	cells  int32 // 0: it is a shadow
}

// divider is scratch.
type divider struct {
	sampling
	sorted [3][]float32
	steps  []float32  // of one axis: how far the position some ranks on is
	rank   int        // how many
	step   [3]float64 // the median of them
	parts  [3][]part
	blocks [][3]uint8 // in which shadows there are positions, along each axis
	best   neighbours.Grid
}

// divide tries grids with pieces, which it leaves in the index if queries need half as much work or less. It returns the
// edge of a cell of the grid in the index.
func (ix *Index) divide(x, y, z []float32, slots []uint32, l *layout, cell float64) float64 {
	d, n := &ix.wide, len(slots)
	want := min(max(maxSample, 1<<bits.Len(uint(n/perSample/2))), wideSample)
	if !d.draw(ix.level, x, y, z, slots, want) {
		return cell
	}
	d.sort(l)
	least := d.cost(&ix.grid, n) / 2
	found := false
	for _, spread := range spreads {
		if !d.shadows(l, spread) {
			continue
		}
		c, ok := d.fitParts(float64(ix.cfg.CellSize), n)
		if !ok {
			continue
		}
		if cost := d.cost(&d.grid, n); cost < least {
			d.best, least, cell, found = d.grid, cost, c, true
		}
		if found && least < mostTogether {
			break
		}
	}
	if found {
		ix.grid = d.best
	}
	return cell
}

// sort sorts the coordinates of the sample along each axis that has a length.
func (d *divider) sort(l *layout) {
	d.rank = min(max(3, d.n/100), d.n-1)
	for a := range d.sorted {
		v := append(d.sorted[a][:0], d.values[a][:d.n]...)
		if d.sorted[a] = v; !(l.box[1][a] > l.box[0][a]) {
			continue
		}
		slices.Sort(v)
		d.steps = d.steps[:0]
		for i := range len(v) - d.rank {
			d.steps = append(d.steps, v[i+d.rank]-v[i])
		}
		slices.Sort(d.steps)
		d.step[a] = float64(d.steps[len(d.steps)/2])
	}
}

// shadows divides the axes. A shadow is where positions of the sample are at most spread times as far from each other as
// half of all are from their neighbours. It returns false if there are no shadows.
func (d *divider) shadows(l *layout, spread float64) bool {
	for a, v := range d.sorted {
		lo, hi := l.box[0][a], l.box[1][a]
		parts := d.parts[a][:0]
		if !(hi > lo) {
			d.parts[a] = append(parts, part{lo: lo, hi: hi})
			continue
		}
		most := max(spread*d.step[a], (hi-lo)*0x1p-20)
		for i := range len(v) - d.rank {
			first, last := float64(v[i]), float64(v[i+d.rank])
			if last-first > most {
				continue
			}
			if n := len(parts); n > 0 && first-parts[n-1].hi <= most {
				parts[n-1].hi = last
			} else {
				parts = append(parts, part{lo: first, hi: last})
			}
		}
		if d.parts[a] = mergeClosest(parts); len(parts) == 0 {
			return false
		}
		d.widen(a, lo, hi)
	}
	d.findBlocks()
	for a := range d.parts {
		if l.box[1][a] > l.box[0][a] {
			d.divideRest(a, l.box[0][a], l.box[1][a])
		}
	}
	return true
}

// mergeClosest merges parts with little between them until there are maxShadows at most.
func mergeClosest(parts []part) []part {
	for len(parts) > maxShadows {
		at := 1
		for i := range parts[1:] {
			if parts[i+1].lo-parts[i].hi < parts[at].lo-parts[at-1].hi {
				at = i + 1
			}
		}
		parts[at-1].hi = parts[at].hi
		parts = slices.Delete(parts, at, at+1)
	}
	return parts
}

// widen widens the shadows of an axis by a sixteenth on either side, as far as there is room.
func (d *divider) widen(axis int, lo, hi float64) {
	parts := d.parts[axis]
	for i := range parts {
		p, end := &parts[i], hi
		if i+1 < len(parts) {
			end = float64(p.hi/2) + float64(parts[i+1].lo/2)
		}
		margin := float64((p.hi - p.lo) / 16)
		p.lo, p.hi = max(p.lo-margin, lo), min(p.hi+margin, end)
		lo = p.hi
	}
}

// findBlocks finds the crossings of shadows in which there are positions.
func (d *divider) findBlocks() {
	d.blocks = d.blocks[:0]
	for i := range d.n {
		var block [3]uint8
		inside := true
		for a, parts := range d.parts {
			v := float64(d.values[a][i])
			at := 0
			for at < len(parts) && v > parts[at].hi {
				at++
			}
			inside = inside && at < len(parts) && v >= parts[at].lo
			block[a] = uint8(at)
		}
		if inside && !slices.Contains(d.blocks, block) {
			d.blocks = append(d.blocks, block)
		}
	}
}

// used returns the number of cells of that edge in the crossings in which there are positions, before divideRest.
func (d *divider) used(shadows *[3][maxShadows]float64) float64 {
	sum := 0.0
	for _, b := range d.blocks {
		sum += float64(shadows[0][b[0]] * shadows[1][b[1]] * shadows[2][b[2]])
	}
	return sum
}

// divideRest adds parts between the shadows of an axis, where there are a few positions: the more, the more cells.
func (d *divider) divideRest(axis int, lo, hi float64) {
	shadows, v := len(d.parts[axis]), d.sorted[axis]
	room := neighbours.MaxPieces - shadows
	for i := 0; i <= shadows; i++ {
		from, to := lo, hi
		if i > 0 {
			from = d.parts[axis][i-1].hi
		}
		if i < shadows {
			to = d.parts[axis][i].lo
		}
		first, _ := slices.BinarySearch(v, float32(from))
		last, _ := slices.BinarySearch(v, float32(to))
		pieces := min(1+(last-first)/16, maxBetween, room)
		if last-first < 3 || pieces == 0 {
			continue
		}
		for k := range pieces {
			begin, end := first+k*(last-first)/pieces, first+(k+1)*(last-first)/pieces
			p := part{lo: from, hi: to, cells: int32(max(1, (end-begin)/3))}
			if k > 0 {
				p.lo = float64(v[begin])
			}
			if k+1 < pieces {
				p.hi = float64(v[end])
			}
			d.parts[axis] = append(d.parts[axis], p)
			room--
		}
	}
}

// fitParts lays the grid with the smallest cells whose number is within the bound that the number of points sets, but with
// cells of the wanted size or larger. It returns the edge of a cell, and false if there is no such grid.
func (d *divider) fitParts(want float64, n int) (float64, bool) {
	cell, auto := want, want == 0
	if auto {
		for _, parts := range d.parts {
			for _, p := range parts {
				if p.cells == 0 {
					cell = max(cell, p.hi-p.lo)
				}
			}
		}
		cell /= float64(uint(1) << min(20, bits.Len(uint(n))))
	}
	for cell = max(cell, smallestCell); cell <= math.MaxFloat32; cell *= 1.25 {
		// Fewer cells along x cost less than longer ones along all axes.
		for _, perEdge := range [...]float64{cellsPerEdge[0], 2, 1} {
			lengths := [3]float64{cell / perEdge, cell, cell}
			var counts [3][maxShadows]float64
			all := 1.0
			for a, parts := range d.parts {
				sum := 0.0
				for i, p := range parts {
					if p.cells > 0 {
						sum += float64(p.cells)
						continue
					}
					counts[a][i] = math.Floor((p.hi-p.lo)/lengths[a]) + 1
					sum += counts[a][i]
				}
				if all *= sum; sum > 1<<24 {
					all = math.Inf(1)
				}
			}
			if all <= float64(2*n+1) && (!auto || d.used(&counts) <= float64(max(1, n/2))) {
				return cell, d.layParts(lengths)
			}
			if auto && all <= float64(2*n+1) {
				break
			}
		}
	}
	return 0, false
}

// layParts lays the grid with cells of these lengths in the shadows. It returns false if a length is so small, or so
// large, that its reciprocal is none of the normal numbers.
func (d *divider) layParts(lengths [3]float64) bool {
	g := &d.grid
	*g = neighbours.Grid{}
	for a, parts := range d.parts {
		slices.SortFunc(parts, func(p, q part) int {
			if p.lo < q.lo {
				return -1
			}
			return 1
		})
		p, k, cells := &g.Piece[a], int32(0), int32(0)
		for _, part := range parts {
			n, inv := part.cells, float64(part.cells)/(part.hi-part.lo)
			if n == 0 {
				n, inv = int32(math.Floor((part.hi-part.lo)/lengths[a]))+1, 1/lengths[a]
			}
			if k > 0 && float32(part.lo) <= p.Min[k-1] {
				continue // nothing is between them
			}
			p.Min[k], p.Inv[k], p.First[k] = float32(part.lo), float32(min(inv, math.MaxFloat32)), cells
			if p.Inv[k] < 0x1p-126 {
				p.Inv[k] = 0x1p-126
			}
			k, cells = k+1, cells+n
		}
		p.First[k] = cells
		g.Min[a], g.Inv[a], g.N[a], g.Tail[a], g.Pieces[a] = p.Min[0], float32(1/lengths[a]), cells, -1, k
		if !(g.Inv[a] >= 0x1p-126 && g.Inv[a] <= math.MaxFloat32) {
			return false
		}
	}
	return true
}
