package rigid3

import "github.com/evertick/evertick/internal/articulated"

// findTrees finds the joints of light bodies between heavy ones, which are solved directly, in plain Go on all levels. They have lanes in
// blocks as all joints do, where their springs, motors, limits and soft rows are solved. Then their other rows are solved once more, exactly.
func (s *System) findTrees() {
	edges, same := s.plan.Edges(s.JointsVersion, len(s.Joints), s.Bodies.InvMass)
	if same {
		return
	}
	for _, i := range s.JointOrder {
		edges = s.appendEdge(edges, i)
	}
	if s.JointOrder == nil {
		for i := range s.Joints {
			edges = s.appendEdge(edges, uint32(i))
		}
	}
	s.plan.Update(edges)
}

func (s *System) appendEdge(edges []articulated.Edge, i uint32) []articulated.Edge {
	j := &s.Joints[i]
	if hardOf(j.Locked, j.Soft) != 0 && s.Bodies.InvMass[j.A]+s.Bodies.InvMass[j.B] > 0 {
		return append(edges, articulated.Edge{A: j.A, B: j.B, Joint: i})
	}
	return edges
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

// listTrees lists the trees whose joints are in the blocks.
func (s *System) listTrees() { s.Trees = s.plan.Locate(s.Trees[:0], s.JointColours.Edge, NoContact) }
