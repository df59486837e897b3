package articulated_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/articulated"
	"github.com/evertick/evertick/internal/paritytest"
)

// network is edges between bodies, of which some are not dynamic.
type network struct {
	edges   []articulated.Edge
	invMass []float32
}

// randomNetwork joins bodies to ones before them, and a few at random.
func randomNetwork(r *rand.Rand, bodies, more int) (n network) {
	for i := range bodies {
		m := []float32{0, 0.001, 0.01, 1, 1, 1, 1}[r.IntN(7)]
		n.invMass = append(n.invMass, m)
		if i > 0 && r.IntN(8) > 0 {
			n.join(uint32(i), uint32(max(0, i-1-r.IntN(3))))
		}
	}
	for range more {
		if a, b := r.IntN(bodies), r.IntN(bodies); a != b {
			n.join(uint32(a), uint32(b))
		}
	}
	return n
}

func (n *network) join(a, b uint32) {
	if n.invMass[a]+n.invMass[b] > 0 {
		n.edges = append(n.edges, articulated.Edge{A: a, B: b, Joint: uint32(len(n.edges))})
	}
}

// reach returns the heaviest dynamic body that is reached through an edge of a dynamic body without passing this one, and whether one that is
// not dynamic is.
func (n *network) reach(body uint32, through articulated.Edge) (mass float64, ground bool) {
	seen := map[uint32]bool{body: true}
	list := []uint32{through.A + through.B - body}
	for len(list) > 0 {
		b := list[0]
		if list = list[1:]; seen[b] {
			continue
		}
		seen[b] = true
		if n.invMass[b] == 0 {
			ground = true
			continue
		}
		mass = max(mass, 1/float64(n.invMass[b]))
		for _, e := range n.edges {
			if e.A == b || e.B == b {
				list = append(list, e.A+e.B-b)
			}
		}
	}
	return mass, ground
}

// isBetween is the definition of a body between heavy ones, in a network without loops.
func (n *network) isBetween(body uint32) bool {
	if n.invMass[body] == 0 {
		return false
	}
	heavy := articulated.HeavyRatio / float64(n.invMass[body])
	loads, ends := 0, 0 // sides with a heavy body, and with one or with the ground
	for _, e := range n.edges {
		if e.A == body || e.B == body {
			m, ground := n.reach(body, e)
			if m >= heavy {
				loads++
			}
			if m >= heavy || ground {
				ends++
			}
		}
	}
	return loads > 0 && ends > 1
}

func TestForestFindsBodiesBetweenHeavyOnes(t *testing.T) {
	run := paritytest.Start(t, "Forest")
	var f articulated.Forest
	found := 0
	for range paritytest.Rounds(300) {
		n := randomNetwork(run.Rand, 2+run.IntN(20), 0)
		f.Build(slices.Clone(n.edges), n.invMass)
		within := map[uint32]bool{}
		for _, e := range n.edges {
			if n.isBetween(e.A) || n.isBetween(e.B) {
				within[e.A], within[e.B] = n.invMass[e.A] > 0, n.invMass[e.B] > 0
			}
		}
		want := map[uint32]bool{} // the joints
		for _, e := range n.edges {
			if (within[e.A] || n.invMass[e.A] == 0) && (within[e.B] || n.invMass[e.B] == 0) {
				want[e.Joint] = true
			}
		}
		for _, l := range f.Links {
			if !want[l.Joint] {
				t.Fatalf("joint %d of %v with masses %v is in a tree", l.Joint, n.edges, n.invMass)
			}
			delete(want, l.Joint)
		}
		if found += len(f.Links); len(want) > 0 {
			t.Fatalf("joints %v of %v with masses %v are in no tree", want, n.edges, n.invMass)
		}
	}
	if found == 0 {
		t.Fatal("no trees")
	}
}

// Trees share no dynamic body, have no loop, and each joint follows those that its child has to others. The order in which joints are given
// decides nothing.
func TestForestWithLoops(t *testing.T) {
	run := paritytest.Start(t, "Forest")
	var f, again articulated.Forest
	loops := 0
	for range paritytest.Rounds(300) {
		n := randomNetwork(run.Rand, 3+run.IntN(20), 4)
		seen := map[[2]uint32]bool{}
		n.edges = slices.DeleteFunc(n.edges, func(e articulated.Edge) bool { // the order of two joints of the same bodies decides
			pair := [2]uint32{min(e.A, e.B), max(e.A, e.B)}
			defer func() { seen[pair] = true }()
			return seen[pair]
		})
		shuffled := slices.Clone(n.edges)
		run.Shuffle(len(shuffled), func(i, k int) { shuffled[i], shuffled[k] = shuffled[k], shuffled[i] })
		f.Build(slices.Clone(n.edges), n.invMass)
		again.Build(shuffled, n.invMass)
		if !slices.Equal(f.Trees, again.Trees) || !slices.Equal(f.Links, again.Links) || !slices.Equal(f.Bodies, again.Bodies) {
			t.Fatalf("another order of %v makes other trees", n.edges)
		}
		if sorted := slices.Sorted(slices.Values(f.Bodies)); len(slices.Compact(sorted)) != len(f.Bodies) {
			t.Fatalf("bodies %v are in two trees", f.Bodies)
		}
		for _, tree := range f.Trees {
			bodies := f.Bodies[tree.Body:tree.EndBody]
			moving := 0
			left := map[int32]bool{} // bodies that were children
			for _, l := range f.Links[tree.Link:tree.EndLink] {
				e := n.edges[slices.IndexFunc(n.edges, func(e articulated.Edge) bool { return e.Joint == l.Joint })]
				for _, end := range [...]struct {
					place int32
					body  uint32
				}{{l.A, e.A}, {l.B, e.B}} {
					if (end.place == articulated.Ground) != (n.invMass[end.body] == 0) || end.place != articulated.Ground && bodies[end.place] != end.body {
						t.Fatalf("joint %+v of %v has bodies %v", l, e, bodies)
					}
				}
				if left[l.A] || left[l.B] {
					t.Fatalf("joint %+v comes after that of its body to the parent", l)
				}
				if l.A != articulated.Ground && l.B != articulated.Ground {
					moving++
					left[max(l.A, l.B)] = true
				}
			}
			if moving != len(bodies)-1 {
				t.Fatalf("%d joints between %d bodies are no tree", moving, len(bodies))
			}
		}
		loops += len(n.edges) - len(f.Links)
	}
	if loops == 0 {
		t.Fatal("no loops")
	}
}
