package articulated

import (
	"cmp"
	"math"
	"slices"

	"github.com/evertick/evertick/internal/buffer"
)

// HeavyRatio is how many times as heavy as a body others must be for it to be light. A body is between heavy ones if it has joints to two sides,
// through which it reaches a heavy body at least on one, and on the other one as well or a body that is not dynamic. Ragdolls and cars have no
// such bodies: their light ones are at the ends.
const HeavyRatio = 10

// Edge is a joint with rows that hold two bodies. At least one of them is dynamic.
type Edge struct{ A, B, Joint uint32 }

// Ground is the place of a body that is not dynamic.
const Ground = -1

// Link is a joint of a tree: its number, and the places of its bodies in Forest.Bodies, or Ground.
type Link struct {
	Joint  uint32
	A, B   int32
	childB bool // B is solved before A, or is Ground
}

// Tree is ranges of Forest.Links and of Forest.Bodies.
type Tree struct{ Link, EndLink, Body, EndBody int }

// Forest has the trees. No two of them share a dynamic body. The zero Forest is empty. It keeps its buffers.
type Forest struct {
	Trees  []Tree
	Links  []Link   // each after the links that its child has to others
	Bodies []uint32 // rows of the dynamic bodies

	edges         []Edge
	place         []int32 // by row of a body: its node, or -1
	nodes         []node
	moving, fixed adjacency // edges of two dynamic bodies, and of one
	queue         []int32
}

// node is a dynamic body.
type node struct {
	row    uint32
	mass   float64
	up     int32 // the edge to the parent, or none
	parent int32
	seen   bool
	within bool  // its joints are solved
	at     int32 // place in its tree

	below        side  // its subtree with itself
	most, second side  // the heaviest of its sides
	mostChild    int32 // the child of the heaviest side, or none
	grounds      int   // sides with a body that is not dynamic
}

// side is what a joint leads to.
type side struct {
	mass   float64 // the greatest of its dynamic bodies
	ground bool
}

const none = -1

// adjacency lists edges by node.
type adjacency struct{ start, edge []int32 }

// Build finds the trees among some edges, which it may sort. invMass is by row of a body, 0: not dynamic. An edge that closes a loop is in
// no tree.
func (f *Forest) Build(edges []Edge, invMass []float32) {
	f.Trees, f.Links, f.Bodies = f.Trees[:0], f.Links[:0], f.Bodies[:0]
	if !differ(edges, invMass) {
		return
	}
	slices.SortStableFunc(edges, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(min(a.A, a.B), min(b.A, b.B)), cmp.Compare(max(a.A, a.B), max(b.A, b.B)))
	})
	f.edges = edges
	f.placeBodies(invMass)
	f.list(func(*node) bool { return true })
	f.walk(func(int32) {})
	f.measure()
	if !f.choose() {
		return
	}
	f.list(func(n *node) bool { return n.within })
	f.walk(f.addTree)
}

// differ reports whether masses of dynamic bodies differ by HeavyRatio at all.
func differ(edges []Edge, invMass []float32) bool {
	least, most := float32(math.Inf(1)), float32(0)
	for _, e := range edges {
		for _, body := range [...]uint32{e.A, e.B} {
			if m := invMass[body]; m > 0 {
				least, most = min(least, m), max(most, m)
			}
		}
	}
	return most >= HeavyRatio*least
}

func (f *Forest) placeBodies(invMass []float32) {
	f.place, f.nodes = buffer.Resized(f.place, len(invMass)), f.nodes[:0]
	for i := range f.place {
		f.place[i] = none
	}
	for _, e := range f.edges {
		for _, body := range [...]uint32{e.A, e.B} {
			if m := invMass[body]; m > 0 && f.place[body] == none {
				f.place[body] = int32(len(f.nodes))
				f.nodes = append(f.nodes, node{row: body, mass: 1 / float64(m)})
			}
		}
	}
}

// ends are the nodes of an edge, or none.
func (f *Forest) ends(e int32) (a, b int32) { return f.place[f.edges[e].A], f.place[f.edges[e].B] }

// list lists the edges whose nodes all count.
func (f *Forest) list(counts func(*node) bool) {
	f.moving.fill(f, func(a, b int32) bool {
		return a != none && b != none && counts(&f.nodes[a]) && counts(&f.nodes[b])
	})
	f.fixed.fill(f, func(a, b int32) bool { return min(a, b) == none && counts(&f.nodes[max(a, b)]) })
}

func (l *adjacency) fill(f *Forest, counts func(a, b int32) bool) {
	n := len(f.nodes)
	l.start = buffer.Resized(l.start, n+2)
	clear(l.start)
	each := func(do func(node, edge int32)) {
		for i := range f.edges {
			a, b := f.ends(int32(i))
			if !counts(a, b) {
				continue
			}
			if a != none {
				do(a, int32(i))
			}
			if b != none {
				do(b, int32(i))
			}
		}
	}
	each(func(node, _ int32) { l.start[node+2]++ })
	for i := range n {
		l.start[i+2] += l.start[i+1]
	}
	l.edge = buffer.Resized(l.edge, int(l.start[n+1]))
	each(func(node, edge int32) {
		l.edge[l.start[node+1]] = edge
		l.start[node+1]++
	})
}

// walk visits each component breadth first, sets parents, and calls a function with the place in the queue at which each begins.
func (f *Forest) walk(after func(from int32)) {
	f.queue = f.queue[:0]
	for i := range f.nodes {
		f.nodes[i].seen, f.nodes[i].up, f.nodes[i].parent = false, none, none
	}
	for root := range f.nodes {
		if f.nodes[root].seen {
			continue
		}
		from := len(f.queue)
		f.nodes[root].seen = true
		f.queue = append(f.queue, int32(root))
		for at := from; at < len(f.queue); at++ {
			i := f.queue[at]
			for _, e := range f.moving.edge[f.moving.start[i]:f.moving.start[i+1]] {
				a, b := f.ends(e)
				to := a + b - i
				if n := &f.nodes[to]; !n.seen {
					n.seen, n.up, n.parent = true, e, i
					f.queue = append(f.queue, to)
				}
			}
		}
		after(int32(from))
	}
}

// measure finds the sides of each node. An edge that closes a loop is a side as heavy as the heaviest body of all.
func (f *Forest) measure() {
	heaviest := side{}
	for i := range f.nodes {
		n := &f.nodes[i]
		n.below, n.mostChild = side{mass: n.mass}, none
		heaviest.mass = max(heaviest.mass, n.mass)
	}
	for i := range f.edges {
		a, b := f.ends(int32(i))
		switch {
		case a == none || b == none:
			n := &f.nodes[max(a, b)]
			n.below.ground = true
			n.addSide(none, side{ground: true})
		case f.nodes[a].up != int32(i) && f.nodes[b].up != int32(i):
			f.nodes[a].addSide(none, heaviest)
			f.nodes[b].addSide(none, heaviest)
		}
	}
	for _, i := range slices.Backward(f.queue) { // children first
		if n := &f.nodes[i]; n.parent != none {
			p := &f.nodes[n.parent]
			p.addSide(i, n.below)
			p.below = side{max(p.below.mass, n.below.mass), p.below.ground || n.below.ground}
		}
	}
	for _, i := range f.queue { // parents first
		n := &f.nodes[i]
		if n.parent == none {
			continue
		}
		p := &f.nodes[n.parent]
		others, grounds := p.most.mass, p.grounds
		if p.mostChild == i {
			others = p.second.mass
		}
		if n.below.ground {
			grounds--
		}
		n.addSide(none, side{max(p.mass, others), grounds > 0})
	}
}

func (n *node) addSide(child int32, s side) {
	if s.ground {
		n.grounds++
	}
	switch {
	case s.mass > n.most.mass:
		n.most, n.second, n.mostChild = s, n.most, child
	case s.mass > n.second.mass:
		n.second = s
	}
}

// isBetween reports whether a body is between heavy ones.
func (n *node) isBetween() bool {
	heavy, grounds := HeavyRatio*n.mass, n.grounds
	if n.most.ground {
		grounds--
	}
	return n.most.mass >= heavy && (n.second.mass >= heavy || grounds > 0)
}

// choose marks the bodies between heavy ones and their neighbours, and reports whether there are any.
func (f *Forest) choose() (some bool) {
	for i := range f.edges {
		a, b := f.ends(int32(i))
		if a != none && f.nodes[a].isBetween() || b != none && f.nodes[b].isBetween() {
			some = true
			for _, k := range [...]int32{a, b} {
				if k != none {
					f.nodes[k].within = true
				}
			}
		}
	}
	return some
}

// addTree adds the tree of the nodes in the queue from a place on.
func (f *Forest) addTree(from int32) {
	nodes := f.queue[from:]
	if len(nodes) == 1 && !f.nodes[nodes[0]].within {
		return
	}
	t := Tree{Link: len(f.Links), Body: len(f.Bodies)}
	for _, i := range nodes {
		f.nodes[i].at = int32(len(f.Bodies) - t.Body)
		f.Bodies = append(f.Bodies, f.nodes[i].row)
	}
	t.EndBody = len(f.Bodies)
	for _, i := range slices.Backward(nodes) {
		for _, e := range f.fixed.edge[f.fixed.start[i]:f.fixed.start[i+1]] {
			f.addLink(e, i)
		}
		if n := &f.nodes[i]; n.up != none {
			f.addLink(n.up, i)
		}
	}
	t.EndLink = len(f.Links)
	f.Trees = append(f.Trees, t)
}

// addLink adds an edge, which leads from a child to its parent, or from a node to a body that is not dynamic.
func (f *Forest) addLink(e, child int32) {
	l := Link{Joint: f.edges[e].Joint, A: Ground, B: Ground}
	a, b := f.ends(e)
	if a != none {
		l.A = f.nodes[a].at
	}
	if b != none {
		l.B = f.nodes[b].at
	}
	l.childB = b == none || a != none && b == child
	f.Links = append(f.Links, l)
}
