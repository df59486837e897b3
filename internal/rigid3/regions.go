package rigid3

import (
	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/graph"
)

// A step can be solved by regions, as package graph describes them, in place of LayOutBlocks and FillBlocks: CutRegions now and then, RegionsFit,
// MarkRegions and CountRegions of all contacts, LayOutRegions, and FillRegions of all contacts. Regions and JointRegions then have the blocks of each region. What is
// in groups is in no region. The result is that of the other layout: what happens in a lane depends on no other lane, and neither order nor size
// of the blocks of a colour matter.

// Work of a contact and of a joint, where that of a body is 1, as measured with AVX-512.
const (
	contactWork = 6
	jointWork   = 4
)

// ForgetRegions must precede RegionsFit where CutRegions follows: then the joints get runs anew.
func (s *System) ForgetRegions() { s.jointCut = 0 }

// CutRegions cuts the rows into so many regions, given those of the bodies that regions move. Contacts have their colours.
func (s *System) CutRegions(regions int, rows []graph.Span) {
	s.cuts++
	s.Regions.Count = regions
	s.Regions.CutRows(len(s.States), rows, s.weighted()...)
	s.JointRegions.Count, s.JointRegions.Of = regions, s.Regions.Of
}

// Crossing estimates the share of contacts and joints between bodies of different regions.
func (s *System) Crossing() float32 { return s.Regions.Crossing(s.weighted()...) }

func (s *System) weighted() []graph.Weighted {
	list := append(s.weights[:0], graph.Weighted{Colours: &s.Colours, Weight: contactWork})
	if len(s.Joints) > 0 {
		list = append(list, graph.Weighted{Colours: &s.JointColours.Colours, Weight: jointWork})
	}
	s.weights = list
	return list
}

// RestBytes returns the memory of the blocks of the contacts and joints that are in no group.
func (s *System) RestBytes() int {
	joints := len(s.JointOrder)
	if s.jointsSplit {
		joints = s.JointColours.Coloured()
	}
	return GroupBytes(s.Colours.Coloured(), joints)
}

// RegionsFit gives runs to the joints if they have none, and reports whether all contacts and joints can be in regions: none has the
// colour Overflow, and no tree of joints is solved directly.
func (s *System) RegionsFit() bool {
	s.findTrees()
	if s.Colours.HasOverflow() || len(s.plan.Trees) > 0 {
		return false
	}
	c := &s.JointColours
	if len(s.Joints) == 0 && c.joints == 0 || !s.jointsSplit && s.jointsKept() {
		return true
	}
	if !s.jointsSplit {
		c.assignRuns(s.Joints, s.JointOrder, s.Bodies.InvMass)
		s.jointsSplit = true
	}
	s.jointCut = 0
	return !c.HasOverflow()
}

// jointsKept reports whether the joints have the blocks of the last step by the regions of now.
func (s *System) jointsKept() bool {
	c := &s.JointColours
	return s.jointCut == s.cuts && s.JointsVersion != 0 && s.JointsVersion == s.jointCutVersion && len(s.Joints) == c.joints && len(s.States) == c.bodies
}

// CountRegions counts contacts [lo, hi), with bounds as those of Colours.AssignRange, after MarkRegions of all contacts.
func (s *System) CountRegions(lo, hi int) { s.Colours.CountRegions(&s.Regions, lo, hi) }

// MarkRegions finds the regions of contacts [lo, hi), with bounds as those of Colours.AssignRange.
func (s *System) MarkRegions(lo, hi int) { s.Colours.MarkRegions(&s.Regions, lo, hi) }

// LayOutRegions makes room for the blocks of all regions, and assigns the joints to theirs.
func (s *System) LayOutRegions() {
	s.Colours.LayOutRegions(&s.Regions)
	s.Blocks = buffer.Resized(s.Blocks, s.Colours.Blocks())
	s.dealJointRegions()
}

// partsGap is the number of unused JointParts between two regions, as graph leaves blocks between them.
const partsGap = 2

func (s *System) dealJointRegions() {
	c, r := &s.JointColours, &s.JointRegions
	if len(s.Joints) == 0 && c.joints == 0 {
		s.JointBlocks, s.jointParts = s.JointBlocks[:0], s.jointParts[:0]
		r.Clear()
		return
	}
	if !s.jointsSplit {
		return // they have those of the last step
	}
	n := len(c.Edges.Class)
	c.ReserveRegions(r)
	c.MarkRegions(r, 0, n)
	c.CountRegions(r, 0, n)
	c.LayOutRegions(r)
	c.FillRegions(r, 0, n)
	for region := range r.Count {
		lo, hi := r.Blocks(region)
		inOrder(c.Edge[lo*Lanes:hi*Lanes], s.JointOrder)
	}
	c.version, c.joints, c.bodies = 0, len(s.Joints), len(s.States)
	if s.groups.Len() == 0 {
		s.jointCut, s.jointCutVersion = s.cuts, s.JointsVersion
	}
	s.JointBlocks = buffer.Resized(s.JointBlocks, c.Blocks())
	parts := 0
	for region := range r.Count {
		lo, hi := r.Blocks(region)
		parts = s.classifyJointsOf(lo, hi, parts) + partsGap
	}
	s.jointParts = buffer.Resized(s.jointParts, parts)
}

// FillRegions is FillBlocks for blocks by region.
func (s *System) FillRegions(lo, hi int) {
	s.Colours.FillRegions(&s.Regions, lo, hi)
	clear(s.Hits[lo:hi])
}
