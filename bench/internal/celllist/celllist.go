// Package celllist is a plain cell list, with which bench compares package spatial: points are sorted into cubic cells by
// counting, and each query tests the points of all cells that its box touches, without a branch. It is what a programmer
// writes in an afternoon, once in Go and once in C. Its box is given, and it checks nothing: neither its arguments nor
// its points.
package celllist

import (
	"slices"

	"github.com/evertick/evertick/native"
)

// Point is a position in metres, and the row that it had in the columns of Build.
type Point struct {
	X, Y, Z float32
	Slot    uint32
}

// List is a cell list. The zero List runs in Go.
type List struct {
	// Level is native.Go, or the level of the C code, which must be able to run here: see native.Resolve.
	Level native.Level

	grid   grid
	start  []uint32 // index in points of the first point of each cell, and their number
	points []Point  // by cell z, y, x, then slot
	cellOf []uint32 // by slot
}

// grid is also a struct in C.
type grid struct {
	Min [3]float32
	Inv float32 // 1 / edge of a cell
	N   [3]int32
}

// Rows are the slots that each query has found: the slots of query i begin where those of query i-1 end.
type Rows struct{ Ends, Slots []uint32 }

// Build sorts the points, which lie in a box, into cells of the given edge.
func (l *List) Build(lo, hi [3]float32, cell float32, x, y, z []float32) {
	l.grid = grid{Min: lo, Inv: 1 / cell}
	cells := 1
	for a := range 3 {
		l.grid.N[a] = int32((hi[a]-lo[a])*l.grid.Inv) + 1
		cells *= int(l.grid.N[a])
	}
	l.start, l.points, l.cellOf = resize(l.start, cells+1), resize(l.points, len(x)), resize(l.cellOf, len(x))
	if l.Level != native.Go && hasC {
		l.sortC(x, y, z)
	} else {
		l.sort(x, y, z)
	}
}

// Points returns the points by cell z, y, x, then slot.
func (l *List) Points() []Point { return l.points }

// Find finds the points within the radius of each centre.
func (l *List) Find(centres []Point, radius float32, out *Rows) {
	find := l.find
	if l.Level != native.Go && hasC {
		find = l.findC
	}
	out.Ends, out.Slots = resize(out.Ends, len(centres)), out.Slots[:cap(out.Slots)]
	n := find(centres, radius, out)
	for ; n < 0; n = find(centres, radius, out) {
		out.Slots = make([]uint32, 2*len(out.Slots)+1024)
	}
	out.Slots = out.Slots[:n]
}

func resize[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

func (g *grid) cell(axis int, v float32) int32 {
	return min(max(int32((v-g.Min[axis])*g.Inv), 0), g.N[axis]-1)
}

func (l *List) sort(x, y, z []float32) {
	g := &l.grid
	clear(l.start)
	for i := range x {
		c := uint32((g.cell(2, z[i])*g.N[1]+g.cell(1, y[i]))*g.N[0] + g.cell(0, x[i]))
		l.cellOf[i] = c
		l.start[c]++
	}
	sum := uint32(0)
	for c := range l.start {
		sum += l.start[c]
		l.start[c] = sum
	}
	for i := len(x) - 1; i >= 0; i-- {
		c := l.cellOf[i]
		l.start[c]--
		l.points[l.start[c]] = Point{x[i], y[i], z[i], uint32(i)}
	}
}

// find returns the number of slots, or -1 if they might not fit.
func (l *List) find(centres []Point, radius float32, out *Rows) int {
	g, n := &l.grid, 0
	square, reach := radius*radius, radius*1.0001 // the box is a little larger, as rounding demands
	for i, q := range centres {
		x0, x1 := g.cell(0, q.X-reach), g.cell(0, q.X+reach)
		y0, y1 := g.cell(1, q.Y-reach), g.cell(1, q.Y+reach)
		for z, z1 := g.cell(2, q.Z-reach), g.cell(2, q.Z+reach); z <= z1; z++ {
			for y := y0; y <= y1; y++ {
				row := (z*g.N[1] + y) * g.N[0]
				run := l.points[l.start[row+x0]:l.start[row+x1+1]]
				if n+len(run) > len(out.Slots) {
					return -1
				}
				for j := range run {
					p := &run[j]
					dx, dy, dz := p.X-q.X, p.Y-q.Y, p.Z-q.Z
					out.Slots[n] = p.Slot
					within := 0
					if float32(dx*dx)+float32(dy*dy)+float32(dz*dz) <= square { // no branch: the compiler sets a register
						within = 1
					}
					n += within
				}
			}
		}
		out.Ends[i] = uint32(n)
	}
	return n
}
