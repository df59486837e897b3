package mesh

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

const (
	// Width is the number of children of a node, as many as fill the lanes of a kernel.
	Width = 8
	// leafSize is the most triangles of a leaf.
	leafSize = 4
	// bins is the number of places that a split considers.
	bins = 16
)

// Node is an inner node of the tree: the boxes of its children, and what these are. A child that is not there has a box of NaN, which meets none.
type Node struct {
	Min, Max [3][Width]float32
	First    [Width]uint32 // of a leaf: its first triangle; else the number of a node
	Count    [Width]uint32 // of triangles of a leaf; 0: a node, or nothing
}

// Box is an axis-aligned box.
type Box struct{ Min, Max [3]float32 }

// empty is the sum of no boxes. nothing meets no box, not even one without bounds.
var (
	empty   = Box{[3]float32{inf, inf, inf}, [3]float32{-inf, -inf, -inf}}
	nothing = Box{[3]float32{nan, nan, nan}, [3]float32{nan, nan, nan}}
)

var inf, nan = float32(math.Inf(1)), math.Float32frombits(0x7fc00000)

func (b *Box) join(o *Box) {
	for k := range b.Min {
		b.Min[k], b.Max[k] = min(b.Min[k], o.Min[k]), max(b.Max[k], o.Max[k])
	}
}

// Overlaps reports whether two boxes meet. A box with NaN meets none.
func (b *Box) Overlaps(o *Box) bool {
	for k := range b.Min {
		if !(b.Min[k] <= o.Max[k] && o.Min[k] <= b.Max[k]) {
			return false
		}
	}
	return true
}

// cost is half of the surface of a box that is not empty.
func (b *Box) cost() float64 {
	x, y, z := float64(b.Max[0])-float64(b.Min[0]), float64(b.Max[1])-float64(b.Min[1]), float64(b.Max[2])-float64(b.Min[2])
	return float64(x*y) + float64(y*z) + float64(z*x)
}

// part is a range of triangles in the making of a tree, with its box and that of the middles.
type part struct {
	lo, hi int
	box    Box
	middle Box
}

// treeBuilder sorts the triangles into the order of leaves.
type treeBuilder struct {
	m      *Mesh
	boxes  []Box        // by triangle, as it was before
	middle [][3]float32 // of the boxes, times two
	order  []uint32
	spare  []uint32
}

// BoxOf returns the box of a triangle.
func (m *Mesh) BoxOf(t *Triangle) Box {
	b := empty
	for _, v := range t.Vertices {
		p := m.Vertices[v]
		b.join(&Box{p, p})
	}
	return b
}

// buildTree sets Nodes, and sorts the triangles. Their order decides ties, so it must be a function of the set.
func (m *Mesh) buildTree() {
	n := len(m.Triangles)
	b := treeBuilder{m: m, boxes: make([]Box, n), middle: make([][3]float32, n), order: make([]uint32, n), spare: make([]uint32, n)}
	for i := range b.boxes {
		box := m.BoxOf(&m.Triangles[i])
		b.boxes[i], b.order[i] = box, uint32(i)
		for k := range box.Min {
			b.middle[i][k] = box.Min[k] + box.Max[k]
		}
	}
	b.addNode(b.part(0, n))
	sorted := make([]Triangle, n)
	for i, from := range b.order {
		sorted[i] = m.Triangles[from]
	}
	m.Triangles = sorted
}

func (b *treeBuilder) part(lo, hi int) part {
	p := part{lo, hi, empty, empty}
	for _, i := range b.order[lo:hi] {
		p.box.join(&b.boxes[i])
		p.middle.join(&Box{b.middle[i], b.middle[i]})
	}
	return p
}

// addNode adds the node of a part and those below it, and returns its number. It splits the child with the greatest surface until there are Width
// children, or all are leaves.
func (b *treeBuilder) addNode(p part) uint32 {
	number := len(b.m.Nodes)
	b.m.Nodes = append(b.m.Nodes, Node{})
	children := append(make([]part, 0, Width), p)
	for len(children) < Width {
		widest := -1
		for i := range children {
			if c := &children[i]; c.hi-c.lo > leafSize && (widest < 0 || c.box.cost() > children[widest].box.cost()) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		left, right := b.split(&children[widest])
		children[widest] = left
		children = slices.Insert(children, widest+1, right) // so that leaves ascend
	}
	var node Node
	for i := range Width {
		box := nothing
		if i < len(children) {
			c := &children[i]
			box = c.box
			if c.hi-c.lo <= leafSize {
				node.First[i], node.Count[i] = uint32(c.lo), uint32(c.hi-c.lo)
			} else {
				node.First[i] = b.addNode(*c)
			}
		}
		for k := range box.Min {
			node.Min[k][i], node.Max[k][i] = box.Min[k], box.Max[k]
		}
	}
	b.m.Nodes[number] = node
	return uint32(number)
}

// split divides a part in two along the axis on which the middles spread most, where the surfaces times the numbers of triangles are least. Where
// all middles fall into one bin, or where one side would be much smaller, it divides by number, so that the depth is bounded.
func (b *treeBuilder) split(p *part) (left, right part) {
	axis := 0
	for k := 1; k < 3; k++ {
		if p.middle.Max[k]-p.middle.Min[k] > p.middle.Max[axis]-p.middle.Min[axis] {
			axis = k
		}
	}
	first, extent := p.middle.Min[axis], p.middle.Max[axis]-p.middle.Min[axis]
	at := p.lo
	if extent > 0 {
		bin := func(i uint32) int {
			return min(int(float32((b.middle[i][axis]-first)/extent)*bins), bins-1)
		}
		if cut := b.cheapest(p, bin); cut > 0 {
			at = b.partition(p, func(i uint32) bool { return bin(i) < cut })
		}
	}
	if n := p.hi - p.lo; at-p.lo < n/16 || p.hi-at < n/16 || at == p.lo || at == p.hi {
		at = p.lo + n/2
		slices.SortFunc(b.order[p.lo:p.hi], func(i, j uint32) int {
			return cmp.Or(cmp.Compare(b.middle[i][axis], b.middle[j][axis]), cmp.Compare(i, j))
		})
	}
	return b.part(p.lo, at), b.part(at, p.hi)
}

// cheapest returns the bin before which to cut, or 0.
func (b *treeBuilder) cheapest(p *part, bin func(i uint32) int) (cut int) {
	var boxes [bins]Box
	var counts [bins]int
	for i := range boxes {
		boxes[i] = empty
	}
	for _, i := range b.order[p.lo:p.hi] {
		k := bin(i)
		boxes[k].join(&b.boxes[i])
		counts[k]++
	}
	var after [bins]float64 // the cost of the bins from here on
	box, n := empty, 0
	for i := bins - 1; i > 0; i-- {
		box.join(&boxes[i])
		if n += counts[i]; n > 0 {
			after[i] = float64(box.cost() * float64(n))
		}
	}
	least := 0.
	box, n = empty, 0
	for i := 1; i < bins; i++ {
		box.join(&boxes[i-1])
		if n += counts[i-1]; n == 0 || n == p.hi-p.lo {
			continue
		}
		if cost := float64(box.cost()*float64(n)) + after[i]; cut == 0 || cost < least {
			cut, least = i, cost
		}
	}
	return cut
}

// partition moves the triangles that come first to the front, and keeps the order on both sides.
func (b *treeBuilder) partition(p *part, first func(i uint32) bool) int {
	at, rest := p.lo, b.spare[:0]
	for _, i := range b.order[p.lo:p.hi] {
		if first(i) {
			b.order[at] = i
			at++
		} else {
			rest = append(rest, i)
		}
	}
	copy(b.order[at:p.hi], rest)
	return at
}

// AppendFaces appends the triangles whose boxes meet a box, ascending by number.
func (m *Mesh) AppendFaces(dst []Face, box *Box) []Face { return m.appendBelow(dst, 0, box) }

// appendBelow looks through a node. The leaves below it ascend, and so do the triangles.
func (m *Mesh) appendBelow(dst []Face, number uint32, box *Box) []Face {
	n := &m.Nodes[number]
	for met := n.meeting(box); met != 0; met &= met - 1 {
		i := bits.TrailingZeros32(met) % Width
		if n.Count[i] == 0 {
			dst = m.appendBelow(dst, n.First[i], box)
			continue
		}
		for k := n.First[i]; k < n.First[i]+n.Count[i]; k++ {
			v := &m.Triangles[k].Vertices
			if !beside(&m.Vertices[v[0]], &m.Vertices[v[1]], &m.Vertices[v[2]], box) {
				dst = append(dst, Face{})
				dst[len(dst)-1].set(m, k)
			}
		}
	}
	return dst
}

// meeting returns a bit for each child whose box meets a box. Which children do is hard to predict, so there is no branch.
func (n *Node) meeting(box *Box) (met uint32) {
	x0, y0, z0, x1, y1, z1 := box.Min[0], box.Min[1], box.Min[2], box.Max[0], box.Max[1], box.Max[2]
	for i := range Width {
		x := bit(n.Min[0][i] <= x1) & bit(x0 <= n.Max[0][i])
		y := bit(n.Min[1][i] <= y1) & bit(y0 <= n.Max[1][i])
		z := bit(n.Min[2][i] <= z1) & bit(z0 <= n.Max[2][i])
		met |= (x & y & z) << i
	}
	return met
}

func bit(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// beside reports whether the box of a triangle does not meet a box without NaN.
func beside(a, b, c *[3]float32, box *Box) bool {
	for k := range a {
		if lo, hi := box.Min[k], box.Max[k]; a[k] > hi && b[k] > hi && c[k] > hi || a[k] < lo && b[k] < lo && c[k] < lo {
			return true
		}
	}
	return false
}
