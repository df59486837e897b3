package rigid3

import (
	"unsafe"

	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/graph"
)

const (
	// MaxGroupBytes is the most memory of the blocks and bodies of a group: half of the cache of its own that a CPU has, or less.
	MaxGroupBytes = 512 << 10

	// GroupRows is the least mean number of rows of a span. With fewer, the bodies that are left after those of whole vectors cost more
	// than groups save.
	GroupRows = 16

	edgeBytes  = int(unsafe.Sizeof(ContactBlock{})) / Lanes
	jointBytes = int(unsafe.Sizeof(JointBlock{})+unsafe.Sizeof(JointParts{})) / Lanes
	bodyBytes  = int(unsafe.Sizeof(State{})+unsafe.Sizeof(inertiaRow{})) + 4*(6+6+4) // with the columns that sub-steps read
)

// groupWork is what a worker needs for a group: the System whose blocks and spans are those of the group, and the memory of its
// blocks. That stays in the cache of the worker.
type groupWork struct {
	System
	memory []ContactBlock
	joints []JointBlock
	parts  []JointParts
	listed []uint32 // trees
}

// The sets of edges of groups.
const (
	contactEdges = iota
	jointEdges
)

// SplitIslands makes groups of islands, as package graph describes them, of at most so many bytes each. Their contacts and joints have no
// blocks among those of LayOutBlocks, which follows. rows are those of the bodies that the step moves. There are no groups if a span of one
// has fewer rows on average than least, most usefully GroupRows.
func (s *System) SplitIslands(rows []graph.Span, bytes, least int) {
	g, b := &s.groups, &s.Bodies
	g.Begin(len(s.States))
	for _, p := range rows {
		for i, m := range b.InvMass[p.Lo:p.Hi] {
			if i += p.Lo; !(m > 0) && (vecAt(&b.V, i) != Vec{} || vecAt(&b.W, i) != Vec{}) {
				g.Move(i)
			}
		}
	}
	all := [graph.EdgeSets]*graph.Colours{contactEdges: &s.Colours}
	if len(s.Joints) > 0 {
		s.JointColours.assignRuns(s.Joints, s.JointOrder, b.InvMass)
		s.jointsSplit, all[jointEdges] = true, &s.JointColours.Colours
	}
	sizes := [graph.EdgeSets]int{contactEdges: edgeBytes, jointEdges: jointBytes}
	g.Split(all, rows, &graph.Limits{Bytes: bytes, EdgeBytes: sizes, BodyBytes: bodyBytes, MeanRows: least})
}

// NoGroups has no groups in this step: all rows are RestRows.
func (s *System) NoGroups(rows []graph.Span) {
	s.groups.Begin(len(s.States))
	s.groups.Rest = append(s.groups.Rest, rows...)
}

// Groups returns the number of groups.
func (s *System) Groups() int { return s.groups.Len() }

// RestRows returns the rows of the bodies that are in no group. They must be prepared before SolveGroup: groups may touch those that do not
// move.
func (s *System) RestRows() []graph.Span { return s.groups.Rest }

// ReserveGroups makes room for the groups that so many workers solve at the same time.
func (s *System) ReserveGroups(workers int) {
	for len(s.work) < workers {
		s.work = append(s.work, groupWork{})
	}
	blocks, joints := s.groups.MaxBlocks(contactEdges), s.groups.MaxBlocks(jointEdges)
	for i := range s.work[:workers] {
		w := &s.work[i]
		w.memory = buffer.Resized(w.memory, blocks)
		w.joints, w.parts = buffer.Resized(w.joints, joints), buffer.Resized(w.parts, joints)
	}
}

// SolveGroup is Solve for the bodies, contacts and joints of a group. Workers, each with its own number, may solve different groups at the same
// time.
func (s *System) SolveGroup(worker, group int) {
	w := &s.work[worker]
	w.System = *s
	w.Colours.Edge = s.groups.Fill(contactEdges, group)
	w.Blocks = w.memory[:len(w.Colours.Edge)/Lanes]
	w.JointColours.Edge = s.groups.Fill(jointEdges, group)
	inOrder(w.JointColours.Edge, s.JointOrder)
	w.JointBlocks = w.joints[:len(w.JointColours.Edge)/Lanes]
	w.jointParts = w.parts[:w.classifyJointBlocks()]
	w.Trees = w.listed
	w.listTrees()
	w.listed = w.Trees
	w.Solve(s.groups.Spans(group))
}

// GroupBytes returns the memory of the blocks of so many contacts and joints.
func GroupBytes(contacts, joints int) int { return contacts*edgeBytes + joints*jointBytes }
