package rigid3

import (
	"github.com/evertick/evertick/internal/articulated"
	"github.com/evertick/evertick/internal/buffer"
)

// jointTrees are the joints of light bodies between heavy ones, which are solved directly, in plain Go on all levels. They have lanes in blocks
// as all joints do, where their springs, motors, limits and soft rows are solved. Then their other rows are solved once more, exactly.
type jointTrees struct {
	forest   articulated.Forest
	solution articulated.Solution
	edges    []articulated.Edge
	linkOf   []uint32  // by joint: its link, counted from 1; 0: none. Empty if there are no trees
	treeOf   []uint32  // by link
	lane     []uint32  // by link, in the blocks of its group, or of the rest
	heavier  []float32 // by body of a tree: the factor of its inertia in this step, ≥ 1

	version        uint64
	joints, bodies int
}

// updateTrees finds the trees, unless nothing has changed that decides about them: see JointsVersion.
func (s *System) updateTrees() {
	t := &s.trees
	if s.JointsVersion != 0 && s.JointsVersion == t.version && t.joints == len(s.Joints) && t.bodies == len(s.States) {
		return
	}
	t.version, t.joints, t.bodies = s.JointsVersion, len(s.Joints), len(s.States)
	t.edges = t.edges[:0]
	add := func(i uint32) {
		j := &s.Joints[i]
		if hardOf(j.Locked, j.Soft) != 0 && s.Bodies.InvMass[j.A]+s.Bodies.InvMass[j.B] > 0 {
			t.edges = append(t.edges, articulated.Edge{A: j.A, B: j.B, Joint: i})
		}
	}
	for _, i := range s.JointOrder {
		add(i)
	}
	if s.JointOrder == nil {
		for i := range s.Joints {
			add(uint32(i))
		}
	}
	t.forest.Build(t.edges, s.Bodies.InvMass)
	links := t.forest.Links
	t.linkOf = t.linkOf[:0]
	if len(links) == 0 {
		return
	}
	t.linkOf, t.treeOf, t.lane = buffer.Resized(t.linkOf, len(s.Joints)), buffer.Resized(t.treeOf, len(links)), buffer.Resized(t.lane, len(links))
	clear(t.linkOf)
	for i, tree := range t.forest.Trees {
		for k := tree.Link; k < tree.EndLink; k++ {
			t.treeOf[k], t.linkOf[links[k].Joint] = uint32(i), uint32(k)+1
		}
	}
	t.heavier = buffer.Resized(t.heavier, len(t.forest.Bodies))
	t.solution.Bodies, t.solution.Joints = buffer.Resized(t.solution.Bodies, len(t.forest.Bodies)), buffer.Resized(t.solution.Joints, len(links))
}

// hardOf returns the locked coordinates that are not soft.
func hardOf(locked, soft uint32) uint32 {
	if soft&SoftLinear != 0 {
		locked &^= lockedPoint
	}
	if soft&SoftAngular != 0 {
		locked &^= lockedAngles
	}
	return locked
}

// listTrees finds the lanes of the joints of trees in the blocks, and lists the trees that have some.
func (s *System) listTrees() {
	t := &s.trees
	s.Trees = s.Trees[:0]
	if len(t.linkOf) == 0 {
		return
	}
	for lane, n := range s.JointColours.Edge {
		if n == NoContact || t.linkOf[n] == 0 {
			continue
		}
		link := t.linkOf[n] - 1
		t.lane[link] = uint32(lane)
		if tree := t.treeOf[link]; int(link) == t.forest.Trees[tree].Link {
			s.Trees = append(s.Trees, tree)
		}
	}
}
