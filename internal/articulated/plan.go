package articulated

import (
	"slices"

	"github.com/evertick/evertick/internal/buffer"
)

// Plan keeps the trees of the joints of a solver from step to step, and where they are in its blocks of joints.
type Plan struct {
	Forest
	Solution

	Lane    []uint32  // by link: the lane of its joint in the blocks of its group, or of the rest
	Heavier []float32 // by body: the factor of its inertia in this step

	linkOf  []uint32 // by joint: its link, counted from 1; 0: none. Empty if there are no trees
	treeOf  []uint32 // by link
	edges   []Edge
	version uint64
	joints  int
	masses  []float32
}

// Edges returns an empty list for Update, or reports that the trees are still those of the last Update: if nothing has changed since then that
// decides about the joints, which a version other than 0 says, and if all masses are the same.
func (p *Plan) Edges(version uint64, joints int, invMass []float32) (edges []Edge, same bool) {
	if version != 0 && version == p.version && joints == p.joints && (len(p.edges) == 0 || slices.Equal(invMass, p.masses)) {
		return nil, true
	}
	p.version, p.joints, p.masses = version, joints, append(p.masses[:0], invMass...)
	return p.edges[:0], false
}

// Update finds the trees of some edges, which it keeps.
func (p *Plan) Update(edges []Edge) {
	p.edges = edges
	p.Build(edges, p.masses)
	links, bodies := len(p.Links), len(p.Forest.Bodies)
	if p.linkOf = p.linkOf[:0]; links == 0 {
		return
	}
	p.linkOf, p.treeOf, p.Lane = buffer.Resized(p.linkOf, p.joints), buffer.Resized(p.treeOf, links), buffer.Resized(p.Lane, links)
	clear(p.linkOf)
	for i, tree := range p.Trees {
		for k := tree.Link; k < tree.EndLink; k++ {
			p.treeOf[k], p.linkOf[p.Links[k].Joint] = uint32(i), uint32(k)+1
		}
	}
	p.Heavier = buffer.Resized(p.Heavier, bodies)
	p.Solution.Bodies, p.Joints = buffer.Resized(p.Solution.Bodies, bodies), buffer.Resized(p.Joints, links)
}

// Locate finds the joints of trees among the joints of some lanes, where empty marks a lane without one, and appends the trees that they belong
// to. A tree has all of its joints among them, or none.
func (p *Plan) Locate(trees, lanes []uint32, empty uint32) []uint32 {
	if len(p.linkOf) == 0 {
		return trees
	}
	for lane, n := range lanes {
		if n == empty || p.linkOf[n] == 0 {
			continue
		}
		link := p.linkOf[n] - 1
		p.Lane[link] = uint32(lane)
		if tree := p.treeOf[link]; int(link) == p.Trees[tree].Link {
			trees = append(trees, tree)
		}
	}
	return trees
}
