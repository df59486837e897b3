package articulated_test

import (
	"math"
	"testing"

	"github.com/evertick/evertick/internal/articulated"
	"github.com/evertick/evertick/internal/paritytest"
)

// The impulses of a tree are those by which each row gets its wanted speed: substituted into the equations, they leave nothing.
func TestSolveLeavesNothing(t *testing.T) {
	run := paritytest.Start(t, "Solve")
	var f articulated.Forest
	solved := 0
	for range paritytest.Rounds(200) {
		n := randomNetwork(run.Rand, 2+run.IntN(15), 2)
		f.Build(n.edges, n.invMass)
		numbers := []int{3, 6}[run.IntN(2)]
		s := articulated.Solution{Bodies: make([]articulated.Body, len(f.Bodies)), Joints: make([]articulated.Joint, len(f.Links))}
		for i, row := range f.Bodies {
			for c := range numbers {
				s.Bodies[i].Response[c][c] = float64(n.invMass[row]) * (0.5 + run.Float64())
			}
		}
		for i := range s.Joints {
			j := &s.Joints[i]
			j.Rows = 1 + run.IntN(numbers)
			for k := range j.Rows {
				j.Excess[k], j.Yield[k] = run.NormFloat64(), 1e-6
				for c := range numbers {
					j.A[k][c], j.B[k][c] = run.NormFloat64(), run.NormFloat64()
				}
			}
		}
		before := append([]articulated.Body{}, s.Bodies...)
		for i := range f.Trees {
			tree := &f.Trees[i]
			s.Solve(&f, tree, numbers)
			bodies := before[tree.Body:tree.EndBody]
			change := make([]articulated.Vector, len(bodies)) // of velocities, by all joints
			for k := tree.Link; k < tree.EndLink; k++ {
				l, j := &f.Links[k], &s.Joints[k]
				for _, end := range [...]struct {
					body int32
					rows *articulated.Matrix
				}{{l.A, &j.A}, {l.B, &j.B}} {
					for row := range j.Rows {
						for c := range numbers {
							if end.body != articulated.Ground {
								change[end.body][c] += bodies[end.body].Response[c][c] * end.rows[row][c] * j.Impulse[row]
							}
						}
					}
				}
			}
			for b, v := range change {
				for c := range numbers {
					want := s.Bodies[tree.Body+b].Impulse[c] * bodies[b].Response[c][c]
					if math.Abs(v[c]-want) > 1e-8*(1+math.Abs(want)) {
						t.Fatalf("body %d: the impulses of its joints change its velocity by %v, Impulse by %v", b, v[c], want)
					}
				}
			}
			for k := tree.Link; k < tree.EndLink; k++ {
				l, j := &f.Links[k], &s.Joints[k]
				for row := range j.Rows {
					left := j.Excess[row] + j.Yield[row]*j.Impulse[row]
					for c := range numbers {
						if l.A != articulated.Ground {
							left += j.A[row][c] * change[l.A][c]
						}
						if l.B != articulated.Ground {
							left += j.B[row][c] * change[l.B][c]
						}
					}
					if math.Abs(left) > 1e-6 {
						t.Fatalf("joint %d of %d, row %d: %v is left", k, tree.EndLink-tree.Link, row, left)
					}
					solved++
				}
			}
		}
	}
	if solved == 0 {
		t.Fatal("no rows")
	}
}

// A joint with numbers that are not finite has no impulse, and does not spoil the others.
func TestSolveKeepsNaNApart(t *testing.T) {
	n := network{invMass: []float32{0, 1, 1, 1, 0.001}}
	for i := range uint32(4) {
		n.join(i, i+1)
	}
	var f articulated.Forest
	f.Build(n.edges, n.invMass)
	s := articulated.Solution{Bodies: make([]articulated.Body, len(f.Bodies)), Joints: make([]articulated.Joint, len(f.Links))}
	if len(f.Links) != 4 {
		t.Fatalf("%d joints in trees", len(f.Links))
	}
	for bad := range s.Joints {
		for i, row := range f.Bodies {
			s.Bodies[i].Response[0][0] = float64(n.invMass[row])
		}
		for i := range s.Joints {
			s.Joints[i] = articulated.Joint{Rows: 1, A: articulated.Matrix{{-1}}, B: articulated.Matrix{{1}}, Excess: articulated.Vector{1}, Yield: articulated.Vector{1e-9}}
		}
		s.Joints[bad].Excess[0] = math.NaN()
		s.Solve(&f, &f.Trees[0], 3)
		for i := range s.Joints {
			j := &s.Joints[i]
			if i == bad != (j.Rows == 0) || i != bad && !(math.Abs(j.Impulse[0]) <= 1e4) {
				t.Errorf("joint %d is NaN: joint %d has %d rows, impulse %v", bad, i, j.Rows, j.Impulse[0])
			}
		}
	}
}
