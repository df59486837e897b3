package rigid3

import (
	"testing"

	"github.com/evertick/evertick/internal/graph"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

// stepInGroups is Step with groups of islands of at most so many bytes, which workers solve in some order.
func (s *System) stepInGroups(run *paritytest.Run, bytes int) (groups int) {
	n, contacts := len(s.States), len(s.Contacts)
	rows := []graph.Span{{Lo: 0, Hi: n / 3}, {Lo: n / 3, Hi: n}}
	s.BeginStep(dt)
	s.ResetColours()
	s.ListEdges(0, contacts)
	s.Colours.AssignRange(0, contacts)
	s.SplitIslands(rows, bytes, 1)
	s.ReserveGroups(3)
	s.LayOutBlocks()
	s.FillBlocks(0, contacts)
	s.Solve(s.RestRows())
	for _, i := range run.Perm(s.Groups()) {
		s.SolveGroup(run.IntN(3), i)
	}
	return s.Groups()
}

// A step in groups of islands has the bits of one without groups, on every level.
func TestParityGroups(t *testing.T) {
	run := paritytest.Start(t, "SolveGroup")
	classes := [][]paritytest.Class{{paritytest.Uniform}, paritytest.Finite, paritytest.AllClasses}
	groups := 0
	for round := range paritytest.Rounds(150) {
		begin := randomSystem(run, classes[round%3])
		begin.loosen(run)
		want := begin.cloned()
		want.Level = native.Go
		want.Step(dt)
		bytes := 1000 + run.IntN(30000)
		for _, level := range native.Levels() {
			run.Case(level)
			got := begin.cloned()
			got.Level = level
			groups += got.stepInGroups(run, bytes)
			got.Blocks, want.Blocks = nil, nil
			run.Check(compare("groups", got, want))
		}
	}
	if groups == 0 {
		t.Error("no groups")
	}
}

// loosen removes most contacts, so that there are several islands. No material is mixed then.
func (s *System) loosen(run *paritytest.Run) {
	s.Materials, s.Mixed = s.Materials[:len(s.BodyOf)], 0
	kept, far := 0, run.IntN(12)
	for i, c := range s.Contacts {
		if int(c.B-c.A) <= far {
			s.Contacts[kept], s.Manifolds[kept] = c, s.Manifolds[i]
			kept++
		}
	}
	s.Contacts, s.Manifolds, s.Hits = s.Contacts[:kept], s.Manifolds[:kept], s.Hits[:kept]
}
