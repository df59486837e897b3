package graph_test

import (
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/graph"
	"github.com/evertick/evertick/internal/paritytest"
)

// split is what Groups and Colours make of a dealing, whose edges are those of one or two sets.
type split struct {
	*dealing
	sets    int
	g       graph.Groups
	c       [graph.EdgeSets]graph.Colours
	moves   []bool
	rows    []graph.Span
	limits  graph.Limits
	islands graph.Islands
}

// moving reports whether the state of a body changes while contacts are solved.
func (s *split) moving(body uint32) bool { return s.invMass[body] > 0 || s.moves[body] }

// assign gives runs to the edges of a set. The others have no class.
func (s *split) assign(set int, c *graph.Colours) {
	e, n := &s.edges, len(s.edges.A)
	c.Reset(n, classes, s.invMass)
	copy(c.Edges.A, e.A)
	copy(c.Edges.B, e.B)
	copy(c.Edges.Class, e.Class)
	for i := range n {
		if i%s.sets != set {
			c.Edges.Class[i] = 0
		}
	}
	c.AssignRange(0, n)
}

func (s *split) run() {
	var all [graph.EdgeSets]*graph.Colours
	for k := range s.sets {
		all[k] = &s.c[k]
		s.assign(k, all[k])
	}
	s.g.Begin(len(s.invMass))
	for i, m := range s.moves {
		if m {
			s.g.Move(i)
		}
	}
	s.g.Split(all, s.rows, &s.limits)
	for _, c := range all[:s.sets] {
		c.LayOut()
		c.Fill(0, len(s.edges.A))
	}
}

// place is where an edge is: its group, or -1, and its lane there.
type place struct{ group, lane int }

// check compares the groups with what they were made of, and the order of the edges of each body with that without groups.
func (s *split) check(t *testing.T) {
	t.Helper()
	s.islands.Reset(len(s.invMass))
	for i, a := range s.edges.A {
		if b := s.edges.B[i]; s.edges.Class[i] > 0 && s.invMass[a]+s.invMass[b] > 0 && s.moving(a) && s.moving(b) {
			s.islands.Union(a, b)
		}
	}
	places := map[uint32]place{}
	put := func(group int, lanes []uint32) {
		for lane, edge := range lanes {
			if edge == graph.NoEdge {
				continue
			}
			if p, twice := places[edge]; twice {
				t.Fatalf("edge %d is at %v and in group %d", edge, p, group)
			}
			places[edge] = place{group, lane}
		}
	}
	for k := range s.sets {
		put(-1, s.c[k].Edge)
	}
	of := make([]int, len(s.invMass))
	for i := range of {
		of[i] = -2
	}
	cover := func(group int, spans []graph.Span) {
		for _, p := range spans {
			for i := p.Lo; i < p.Hi; i++ {
				if of[i] != -2 {
					t.Fatalf("row %d is in groups %d and %d", i, of[i], group)
				}
				of[i] = group
				if group >= 0 && !s.moving(uint32(i)) {
					t.Fatalf("body %d does not move, and is in group %d", i, group)
				}
			}
		}
	}
	cover(-1, s.g.Rest)
	for k := range s.g.Len() {
		for set := range s.sets {
			lanes := s.g.Fill(set, k)
			if len(lanes) > s.g.MaxBlocks(set)*graph.Lanes {
				t.Fatalf("group %d has %d lanes, and MaxBlocks is %d", k, len(lanes), s.g.MaxBlocks(set))
			}
			s.checkBlocks(t, lanes)
			put(k, lanes)
		}
		cover(k, s.g.Spans(k))
	}
	bytes, island := make([]int, s.g.Len()), map[uint32]int{}
	for _, p := range s.rows {
		for i := p.Lo; i < p.Hi; i++ {
			if of[i] == -2 {
				t.Fatalf("row %d is nowhere", i)
			}
			if !s.moving(uint32(i)) {
				continue
			}
			up := s.islands.Find(uint32(i))
			if k, known := island[up]; known && k != of[i] {
				t.Fatalf("the island of body %d is in groups %d and %d", i, k, of[i])
			}
			if island[up] = of[i]; of[i] >= 0 {
				bytes[of[i]] += s.limits.BodyBytes
			}
		}
	}
	want := map[uint32]int{}
	for set := range s.sets {
		var whole graph.Colours
		s.assign(set, &whole)
		whole.LayOut()
		whole.Fill(0, len(s.edges.A))
		for lane, edge := range whole.Edge {
			if edge != graph.NoEdge {
				want[edge] = lane
			}
		}
	}
	if len(places) != len(want) {
		t.Fatalf("%d edges have lanes, want %d", len(places), len(want))
	}
	for edge, p := range places {
		a, b := s.edges.A[edge], s.edges.B[edge]
		if s.invMass[a] == 0 {
			a = b
		}
		if of[a] != p.group {
			t.Fatalf("edge %d is in group %d, and body %d in %d", edge, p.group, a, of[a])
		}
		if p.group >= 0 {
			bytes[p.group] += s.limits.EdgeBytes[int(edge)%s.sets]
		}
		for other, q := range places {
			if q.group == p.group && int(other)%s.sets == int(edge)%s.sets && q.lane < p.lane && want[other] > want[edge] && s.share(edge, other) {
				t.Fatalf("edges %d and %d share a body and have changed their order", other, edge)
			}
		}
	}
	for k, n := range bytes {
		if n > s.limits.Bytes {
			t.Fatalf("group %d has %d bytes, want at most %d", k, n, s.limits.Bytes)
		}
	}
}

// share reports whether two edges share a dynamic body.
func (s *split) share(x, y uint32) bool {
	for _, a := range [2]uint32{s.edges.A[x], s.edges.B[x]} {
		if s.invMass[a] > 0 && (a == s.edges.A[y] || a == s.edges.B[y]) {
			return true
		}
	}
	return false
}

// checkBlocks fails if a block has a gap, edges of two classes or that share a body, or fixed ones beside others.
func (s *split) checkBlocks(t *testing.T, lanes []uint32) {
	t.Helper()
	for block := range slices.Chunk(lanes, graph.Lanes) {
		if first := slices.Index(block, graph.NoEdge); first >= 0 {
			if first == 0 || slices.ContainsFunc(block[first:], func(edge uint32) bool { return edge != graph.NoEdge }) {
				t.Fatalf("a block %v", block)
			}
			block = block[:first]
		}
		fixed := func(edge uint32) bool { return s.invMass[s.edges.A[edge]]*s.invMass[s.edges.B[edge]] == 0 }
		for i, edge := range block {
			if s.edges.Class[edge] != s.edges.Class[block[0]] || fixed(edge) != fixed(block[0]) {
				t.Fatalf("edges %d and %d are in one block", block[0], edge)
			}
			for _, other := range block[:i] {
				if s.share(edge, other) {
					t.Fatalf("edges %d and %d share a body in one block", other, edge)
				}
			}
		}
	}
}

func TestGroupsOfRandomEdges(t *testing.T) {
	run := paritytest.Start(t, "Groups")
	groups, without := 0, 0
	s := split{}
	for round := range paritytest.Rounds(300) {
		bodies := 2 + run.IntN(150)
		s.sets = 1 + round%2
		s.dealing, s.moves, s.rows = newDealing(bodies), make([]bool, bodies), s.rows[:0]
		for i := range s.invMass {
			s.invMass[i] = float32(min(1, run.IntN(6)))
			s.moves[i] = s.invMass[i] == 0 && run.IntN(4) == 0
		}
		reach, most := 1+run.IntN(8), 1+run.IntN(6)
		for a := range bodies {
			for b := a + 1; b < min(a+reach, bodies); b++ {
				if run.IntN(8) < most {
					s.join(a, b, run.IntN(3))
				}
			}
		}
		if run.IntN(3) == 0 { // a body with more contacts than there are colours
			for b := 1; b < min(60, bodies); b++ {
				s.join(0, b, 1)
			}
		}
		for lo := 0; lo < bodies; {
			hi := min(bodies, lo+1+run.IntN(bodies))
			s.rows = append(s.rows, graph.Span{Lo: lo, Hi: hi})
			lo = hi
		}
		s.limits = graph.Limits{Bytes: 10 + run.IntN(400), EdgeBytes: [2]int{10, 1 + run.IntN(30)}, BodyBytes: 1 + run.IntN(9), MeanRows: run.IntN(4)}
		s.run()
		s.check(t)
		if groups += s.g.Len(); s.g.Len() == 0 {
			without++
		}
	}
	if groups == 0 || without == 0 {
		t.Errorf("%d groups, and none in %d cases", groups, without)
	}
}

func TestGroupsAllocateNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	s := split{sets: 2, dealing: newDealing(100), moves: make([]bool, 100), rows: []graph.Span{{Lo: 0, Hi: 100}}}
	for i := range 99 {
		if i%10 > 0 {
			s.join(i, i+1, 1)
		}
	}
	s.limits = graph.Limits{Bytes: 300, EdgeBytes: [2]int{10, 10}, BodyBytes: 10}
	if n := testing.AllocsPerRun(10, func() {
		s.run()
		for k := range s.g.Len() {
			s.g.Fill(0, k)
			s.g.Fill(1, k)
		}
	}); n != 0 || s.g.Len() < 2 {
		t.Errorf("%g allocations, %d groups", n, s.g.Len())
	}
}
