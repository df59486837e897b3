package neighbours

import (
	"math"
	"math/bits"

	"github.com/evertick/evertick/native"
)

// Below these numbers of points the Go loop is faster than a call of C.
const (
	measureBreakEven = 32
	buildBreakEven   = 16
)

// Measure returns the bounding box of the points (x[s], y[s], z[s]) of the slots s: the lowest and the highest
// coordinate along each axis, where a zero is always +0. Without slots both are zero. bad is -1, or the index of the
// first slot that does not ascend, is not below len(x) and MaxSlots, or has a coordinate that is NaN or infinite; lo
// and hi are then zero. Rows between the slots may hold any values. It panics if x, y and z differ in length, and on
// a level that Resolve refuses.
func Measure(level native.Level, x, y, z []float32, slots []uint32) (lo, hi [3]float32, bad int) {
	if len(y) != len(x) || len(z) != len(x) {
		panic("neighbours: Measure: x, y and z differ in length")
	}
	level = must(level)
	if len(slots) == 0 {
		return lo, hi, -1
	}
	var ok bool
	if level == native.Go || len(slots) < measureBreakEven {
		lo, hi, ok = measureGo(x, y, z, slots)
	} else {
		lo, hi, ok = measureC(level, x, y, z, slots)
	}
	if !ok {
		return [3]float32{}, [3]float32{}, firstBad(x, y, z, slots)
	}
	return lo, hi, -1
}

// limitOf returns the bound of the slots of columns like x.
func limitOf(x []float32) int { return min(len(x), native.MaxSlots) }

func firstBad(x, y, z []float32, slots []uint32) int {
	next, limit := uint32(0), uint32(limitOf(x))
	for i, s := range slots {
		if s < next || s >= limit || !finite(x[s]) || !finite(y[s]) || !finite(z[s]) {
			return i
		}
		next = s + 1
	}
	return -1
}

func finite(v float32) bool { return v-v == 0 }

func measureGo(x, y, z []float32, slots []uint32) (lo, hi [3]float32, ok bool) {
	x = x[:limitOf(x)]
	y, z = y[:len(x)], z[:len(x)]                                 // one bounds check for the three
	lx, hx := float32(math.MaxFloat32), -float32(math.MaxFloat32) // arrays would not stay in registers
	ly, hy, lz, hz := lx, hx, lx, hx
	next := uint32(0) // the least valid next slot
	for _, s := range slots {
		if s < next || uint(s) >= uint(len(x)) {
			return lo, hi, false
		}
		next = s + 1
		px, py, pz := x[s], y[s], z[s]
		// NaN fails the comparison, so it is among the few points that are checked again.
		if !(px >= lx) {
			if px != px {
				return lo, hi, false
			}
			lx = px
		}
		if px > hx {
			hx = px
		}
		if !(py >= ly) {
			if py != py {
				return lo, hi, false
			}
			ly = py
		}
		if py > hy {
			hy = py
		}
		if !(pz >= lz) {
			if pz != pz {
				return lo, hi, false
			}
			lz = pz
		}
		if pz > hz {
			hz = pz
		}
	}
	lo, hi = [3]float32{lx + 0, ly + 0, lz + 0}, [3]float32{hx + 0, hy + 0, hz + 0} // turns -0 into +0
	return lo, hi, finite(lx) && finite(ly) && finite(lz) && finite(hx) && finite(hy) && finite(hz)
}

// Build sorts the points (x[s], y[s], z[s]) of the slots s by cell of the grid, and by slot within a cell, into
// p.Start and p.Blocks. It writes every entry of the two, and zeros into the lanes after the last point. p.Start has
// one entry per cell of the grid and one more, p.Blocks has a block for each sixteen slots or part of them, and
// cellOf is scratch with an entry per slot. The slots ascend and are below len(x) and MaxSlots; coordinates may be
// any numbers, including NaN. It panics if lengths do not fit, if the slots are invalid, and on a level that Resolve
// refuses.
func Build(level native.Level, g *Grid, x, y, z []float32, slots []uint32, p *Points, cellOf []uint32) {
	checkBuild(g, x, y, z, slots, p, cellOf)
	var ok bool
	if level = must(level); level == native.Go || len(slots) < buildBreakEven {
		ok = buildGo(g, x, y, z, slots, p, cellOf)
	} else {
		ok = buildC(level, g, x, y, z, slots, p, cellOf)
	}
	if !ok {
		panic(badSlots)
	}
}

const badSlots = "neighbours: Build: the slots do not ascend, or one has no point"

func checkBuild(g *Grid, x, y, z []float32, slots []uint32, p *Points, cellOf []uint32) {
	if len(y) != len(x) || len(z) != len(x) {
		panic("neighbours: Build: x, y and z differ in length")
	}
	if !g.holds(len(p.Start) - 1) {
		panic("neighbours: Build: Points.Start does not fit the grid")
	}
	if len(p.Blocks) != (len(slots)+BlockLen-1)/BlockLen {
		panic("neighbours: Build: Points.Blocks does not fit the slots")
	}
	if len(cellOf) < len(slots) {
		panic("neighbours: Build: cellOf is too short")
	}
}

func buildGo(g *Grid, x, y, z []float32, slots []uint32, p *Points, cellOf []uint32) bool {
	clear(p.Start)
	if !number(g, x, y, z, slots, p.Start[1:], cellOf) {
		return false
	}
	sum := uint32(0)
	for c, n := range p.Start[1:] {
		p.Start[1+c] = sum
		sum += n
	}
	scatter(x, y, z, slots, p.Start[1:], cellOf, p.Blocks)
	p.clearRest(len(slots))
	return true
}

// clearRest puts zeros after the last of n points.
func (p *Points) clearRest(n int) {
	if n %= BlockLen; n > 0 {
		b := &p.Blocks[len(p.Blocks)-1]
		clear(b.X[n:])
		clear(b.Y[n:])
		clear(b.Z[n:])
		clear(b.Slot[n:])
	}
}

// axis is one axis of a Grid, with its fields in registers: Grid.Cell takes twice as long.
type axis struct {
	min, inv, end float32
	n             int32
}

func (g *Grid) axis(a int) axis { return axis{g.Min[a], g.Inv[a], float32(g.N[a]), g.N[a]} }

// cell is Grid.Cell of a uniform grid.
func (a axis) cell(v float32) int32 {
	t := (v - a.min) * a.inv
	if !(t > 0) {
		return 0
	}
	if t >= a.end {
		return a.n - 1
	}
	return int32(t)
}

// number finds the cell of each point and counts the points of each cell.
func number(g *Grid, x, y, z []float32, slots []uint32, counts, cellOf []uint32) bool {
	x = x[:limitOf(x)]
	y, z, cellOf = y[:len(x)], z[:len(x)], cellOf[:len(slots)]
	ax, ay, az := g.axis(0), g.axis(1), g.axis(2)
	uneven := g.uneven()
	next := uint32(0)
	for i, s := range slots {
		if s < next || uint(s) >= uint(len(x)) {
			return false
		}
		next = s + 1
		var c uint32
		if uneven {
			c = g.Number(x[s], y[s], z[s])
		} else {
			c = uint32((az.cell(z[s])*ay.n+ay.cell(y[s]))*ax.n + ax.cell(x[s]))
		}
		cellOf[i] = c
		counts[c]++
	}
	return true
}

// scatter copies each point to its cell. A cursor is the place of the next point of a cell, and in the end the end of
// the cell.
func scatter(x, y, z []float32, slots []uint32, cursors, cellOf []uint32, blocks []Block) {
	y, z, cellOf = y[:len(x)], z[:len(x)], cellOf[:len(slots)]
	for i, s := range slots {
		at := cursors[cellOf[i]]
		cursors[cellOf[i]] = at + 1
		b, lane := &blocks[at/BlockLen], at%BlockLen
		b.X[lane], b.Y[lane], b.Z[lane], b.Slot[lane] = x[s], y[s], z[s], s
	}
}

// SampleRoom returns the length that found of Sample needs for a given most.
func SampleRoom(most int) int { return most + BlockLen }

// Sample chooses about one of 1<<share points, by a hash of the bits of their coordinates. Neither the order of the
// points nor their slots matter, so reordered columns give the same sample. Of points with equal coordinates it
// chooses all or none. found gets the chosen slots, in the order of slots; if there are more than most, it returns
// none. The slots must be valid as in Measure. It panics if found is shorter than SampleRoom(most), and on a level
// that Resolve refuses.
func Sample(level native.Level, x, y, z []float32, slots []uint32, share, most int, found []uint32) []uint32 {
	found = found[:SampleRoom(most)]
	mask := bits.Reverse32(1<<share - 1) // the highest bits of a product depend on all bits of the factor
	n := 0
	if level = must(level); level == native.Go || len(slots) < measureBreakEven {
		n = sampleGo(x, y, z, slots, mask, found[:most+1])
	} else {
		n = sampleC(level, x, y, z, slots, mask, found, most)
	}
	if n > most {
		return found[:0]
	}
	return found[:n]
}

// sampleGo stops when found is full.
func sampleGo(x, y, z []float32, slots []uint32, mask uint32, found []uint32) int {
	y, z = y[:len(x)], z[:len(x)] // one bounds check for the three
	n := 0
	for _, s := range slots {
		found[n] = s
		hash := (math.Float32bits(x[s]) + math.Float32bits(y[s])<<3 + math.Float32bits(z[s])<<6) * 0x9e3779b1
		if hash&mask == 0 {
			if n++; n == len(found) {
				break
			}
		}
	}
	return n
}
