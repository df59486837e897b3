package rigid_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/graph"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/native"
)

// checkDeal checks that every joint with a kind and a dynamic body has a lane, and no block, and no
// colour but Overflow, has a dynamic body twice.
func checkDeal(t *testing.T, c *rigid.JointColours, joints []rigid.Joint, invMass []float32) {
	t.Helper()
	dealt := make([]int, len(joints))
	for colour := range graph.NumColours {
		seen := map[uint32]bool{}
		for block := c.Start[colour]; block < c.Start[colour+1]; block++ {
			if colour == graph.Overflow {
				clear(seen)
			}
			lanes := c.Edge[block*rigid.Lanes:][:rigid.Lanes]
			n := slices.Index(lanes, rigid.NoContact)
			if n < 0 {
				n = rigid.Lanes
			}
			if n == 0 {
				t.Fatalf("block %d is empty", block)
			}
			for _, k := range lanes[:n] {
				j := &joints[k]
				dealt[k]++
				if j.Kind != joints[lanes[0]].Kind {
					t.Fatalf("block %d has joints of kinds %d and %d", block, j.Kind, joints[lanes[0]].Kind)
				}
				for _, body := range []uint32{j.A, j.B} {
					if invMass[body] > 0 && seen[body] {
						t.Fatalf("colour %d, block %d: body %d twice", colour, block, body)
					}
					seen[body] = true
				}
			}
			for _, k := range lanes[n:] {
				if k != rigid.NoContact {
					t.Fatalf("block %d has a joint behind its last one", block)
				}
			}
		}
	}
	for i, n := range dealt {
		want := 0
		if j := &joints[i]; j.Kind != rigid.NoJoint && (invMass[j.A] > 0 || invMass[j.B] > 0) {
			want = 1
		}
		if n != want {
			t.Fatalf("joint %d has %d lanes, want %d", i, n, want)
		}
	}
}

func TestJointColours(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var c rigid.JointColours
	for range 200 {
		invMass := make([]float32, 2+rng.IntN(100))
		for i := range invMass {
			invMass[i] = float32(min(1, rng.IntN(4)))
		}
		joints := make([]rigid.Joint, rng.IntN(400))
		hub := rng.IntN(2)
		for i := range joints {
			j := &joints[i]
			j.Kind, j.Parts = rigid.JointKind(rng.IntN(6)), rigid.JointParts(rng.IntN(128))
			j.A, j.B = uint32(rng.IntN(len(invMass))), uint32(rng.IntN(len(invMass)-1))
			if hub == 1 && rng.IntN(2) == 0 {
				j.A = 0
			}
			if j.B >= j.A {
				j.B++
			}
		}
		c.Assign(joints, invMass)
		checkDeal(t, &c, joints, invMass)
	}
}

// The outcome of Overflow is that of one joint after the other.
func TestManyJointsOnOneBody(t *testing.T) {
	s := linked()
	hub := s.disc(1, 0, 0, 1)
	for i := range 100 {
		disc := s.disc(0.1, float32(i%10), 1+float32(i/10), 1)
		s.tie(rigid.JointPoint, hub, disc, 0, 1)
	}
	s.run(t, 120)
	for i := range s.Joints {
		if gap := s.gap(&s.Joints[i]).length(); gap > 0.05 {
			t.Fatalf("joint %d: anchors part by %g", i, gap)
		}
	}
}

// How joints are dealt out is kept while their version is the same.
func TestJointsVersion(t *testing.T) {
	s := jointGrid(4, 4)
	s.JointsVersion = 1
	s.advance(native.Auto)
	before := slices.Clone(s.JointColours.Edge)
	s.Joints[3].Kind = rigid.NoJoint
	s.JointsVersion = 2
	s.advance(native.Auto)
	if slices.Equal(before, s.JointColours.Edge) {
		t.Error("joints were not dealt out anew at another version")
	}
	checkDeal(t, &s.JointColours, s.Joints, s.Bodies.InvMass)
	s.Joints[3].Kind = rigid.JointPoint
	s.advance(native.Auto)
	if slices.Contains(s.JointColours.Edge, 3) {
		t.Error("joints were dealt out anew at the same version")
	}
	s.Joints = s.Joints[:0]
	s.advance(native.Auto)
	if len(s.JointBlocks) != 0 {
		t.Error("blocks without joints")
	}
}

// jointGrid has discs in a square that are pinned to their neighbours on the left and above; the
// leftmost of the top row do not move.
func jointGrid(columns, rows int) *heap {
	s := linked()
	for y := range rows {
		for x := range columns {
			density := float32(1)
			if y == 0 && x < columns/2 {
				density = 0
			}
			i := s.disc(0.4, float32(x), -float32(y), density)
			if x > 0 {
				s.tie(rigid.JointPoint, i-1, i, float32(x)-0.5, -float32(y))
			}
			if y > 0 {
				s.tie(rigid.JointPoint, i-columns, i, float32(x), -float32(y)+0.5)
			}
		}
	}
	return s
}

func TestJointGridHangs(t *testing.T) {
	s := jointGrid(10, 10)
	s.run(t, 300)
	for i := range s.Joints {
		if gap := s.gap(&s.Joints[i]).length(); gap > 0.1 {
			t.Errorf("joint %d: anchors part by %g", i, gap)
		}
	}
}

// Blocks of one colour may be solved in any order.
func TestJointBlocksInAnyOrder(t *testing.T) {
	want, got := jointGrid(24, 24), jointGrid(24, 24)
	for range 10 {
		want.advance(native.Go)
		got.collide()
		got.BuildConstraints(dt)
		n, colours := len(got.States), &got.JointColours.Start
		backwards := func(f func(l native.Level, lo, hi int)) {
			for c := range graph.Overflow {
				for block := colours[c+1] - 1; block >= colours[c]; block-- {
					f(native.Go, block, block+1)
				}
			}
			f(native.Go, colours[graph.Overflow], colours[graph.NumColours])
		}
		got.LoadStates(native.Go, 0, n)
		backwards(got.PrepareJoints)
		for sub := range 4 {
			got.IntegrateVelocities(native.Go, sub, 0, n)
			if sub == 0 {
				backwards(got.WarmStartJoints)
			}
			backwards(func(l native.Level, lo, hi int) { got.SolveJoints(l, true, lo, hi) })
			got.IntegratePositions(native.Go, 0, n)
			backwards(func(l native.Level, lo, hi int) { got.SolveJoints(l, false, lo, hi) })
		}
		backwards(got.StoreJointImpulses)
		got.StoreStates(native.Go, 0, n)
		if err := paritytest.Floats("states", words(got.States), words(want.States)); err != nil {
			t.Fatal(err)
		}
	}
}

// A body that is not finite spoils the bodies that it is tied to, and no other.
func TestNaNStaysInItsJoints(t *testing.T) {
	for _, bad := range []float32{nan32, inf32} {
		s := linked()
		for i := range 40 {
			a, b := s.disc(0.4, float32(i), 0, 1), s.disc(0.4, float32(i)+0.5, 0, 1)
			j := s.tie(rigid.JointKind(1+i/8), a, b, float32(i), 0)
			j.Parts = rigid.JointParts(i % 64)
		}
		s.Bodies.VX[14], s.Bodies.W[14] = bad, bad
		for range 3 {
			s.advance(native.Auto)
		}
		for i, x := range s.Poses.X {
			if y := s.Poses.Y[i]; i/2 != 7 && (x-x != 0 || y-y != 0 || s.Angle[i] != s.Angle[i]) {
				t.Errorf("%g: body %d is at %g, %g", bad, i, x, y)
			}
		}
	}
}

func TestStepWithJointsAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	for _, level := range native.Levels() {
		s := jointGrid(10, 10)
		s.collide()
		if n := testing.AllocsPerRun(10, func() { s.Step(level, dt) }); n != 0 {
			t.Errorf("level %s: %g allocations", level, n)
		}
	}
}
