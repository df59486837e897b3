package rigid3

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

// parityHulls are hulls of 4 to MaxHullVertices vertices, in testHulls.
var parityHulls []*Shape

func someHull(rng *rand.Rand) *Shape {
	for k := 0; len(parityHulls) < 12; k++ {
		parityHulls = append(parityHulls, hullOf(rand.New(rand.NewPCG(3, uint64(k))), []int{4, 5, 6, 8, 9, 12, 16, 17, 24, 33, 48, MaxHullVertices}[k]))
	}
	s := *parityHulls[rng.IntN(len(parityHulls))]
	return &s
}

// randomPairs3 draws n pairs of shapes that touch, nearly touch or are apart, of all kinds.
func randomPairs3(rng *rand.Rand, n int) *pairScene {
	s := &pairScene{}
	flat := rng.IntN(3) == 0 // all aligned with the axes
	rotation := func() Quat {
		if flat || rng.IntN(4) == 0 {
			return [6]Quat{{W: 1}, {X: 1}, {Y: 1}, {Z: 1}, {X: .5, Y: .5, Z: .5, W: .5}, {Z: -sqrt(.5), W: sqrt(.5)}}[rng.IntN(6)]
		}
		return randomQuat(rng)
	}
	size := func() float32 {
		if flat {
			return float32(1+rng.IntN(4)) / 4
		}
		return .1 + rng.Float32()
	}
	for range n {
		extent := float32(0)
		for range 2 {
			var shape Shape
			pose := Pose{Q: rotation()}
			if rng.IntN(2) == 0 {
				pose.P = Vec{size(), -size(), size()}
			}
			radius := float32(0)
			if rng.IntN(4) == 0 {
				radius = size() / 4
			}
			switch rng.IntN(6) {
			case 0:
				shape = NewSphere(pose.P, size())
			case 1:
				end := Vec{size(), size() - .5, 0}
				if rng.IntN(8) == 0 {
					end = pose.P
				}
				shape = NewCapsule(pose.P, end, size())
			case 2:
				h := someHull(rng)
				shape = NewHullShape(h.Hull, pose, radius)
			default:
				shape = NewBoxShape(Vec{size(), size(), size()}, pose, radius)
			}
			extent += shape.MaxExtent(&testHulls)
			at := uint32(len(s.shapes))
			s.shapes, s.bodyOf = append(s.shapes, shape), append(s.bodyOf, at)
		}
		base := Pose{Vec{10 * rng.Float32(), 10 * rng.Float32(), 0}, rotation()}
		way := Vec{float32(rng.NormFloat64()), float32(rng.NormFloat64()), float32(rng.NormFloat64())}.unit(Vec{1, 0, 0})
		if flat {
			way = [3]Vec{{X: 1}, {Y: -1}, {Z: 1}}[rng.IntN(3)]
		}
		distance := float32(rng.Float64()*rng.Float64()) * extent
		if flat {
			distance = float32(rng.IntN(13)) / 4
		}
		s.poses = append(s.poses, base, Pose{base.P.addTimes(way, distance), rotation()})
		s.pairs.Add(uint32(len(s.shapes)-2), uint32(len(s.shapes)-1))
	}
	return s
}

// spoil puts what a scene should not have into some shapes and poses.
func (s *pairScene) spoil(run *paritytest.Run) {
	for i := range s.poses {
		p, q := words(s.poses[i:i+1]), words(s.shapes[i : i+1])[:11]
		switch run.IntN(12) {
		case 0:
			p[run.IntN(len(p))] = run.Float(paritytest.AllClasses[run.IntN(len(paritytest.AllClasses))])
		case 1:
			q[run.IntN(len(q))] = run.Float(paritytest.AllClasses[run.IntN(len(paritytest.AllClasses))])
		case 2:
			k := run.IntN(len(p))
			p[k] = run.Near(p[k])
		case 3:
			s.poses[i].P = s.poses[i&^1].P // that of its partner
		case 4:
			s.poses[i].Q = s.poses[i&^1].Q
		case 5:
			s.shapes[i].Kind = Kind(run.IntN(7))
		case 6:
			s.shapes[i].Hull = uint32(run.IntN(testHulls.Len() + 2))
		case 7:
			s.shapes[i].Half = Vec{}
		case 8:
			s.poses[i].P = s.poses[i].P.Times(float32(run.IntN(1 << 22)))
		}
	}
}

// guardedScene is a scene in memory that kernels must not leave.
type guardedScene struct {
	words [6]*paritytest.Buffer[uint32] // shapes, bodies, poses, both of the pairs, manifolds
}

func newGuardedScene(t *testing.T, pairs int) *guardedScene {
	g := &guardedScene{}
	for i := range g.words {
		g.words[i] = paritytest.NewBuffer[uint32](t, pairs*37)
	}
	return g
}

func placed3[T any](b *paritytest.Buffer[uint32], s []T, side paritytest.Side, gap int) []T {
	raw := b.PlaceCopy(buffer.Words[uint32](s), side, gap)
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(raw))), len(s))
}

func (g *guardedScene) place(s *pairScene, out []Manifold, side paritytest.Side, gap int) (*pairScene, []Manifold) {
	p := &pairScene{shapes: placed3(g.words[0], s.shapes, side, gap), bodyOf: placed3(g.words[1], s.bodyOf, side, gap), poses: placed3(g.words[2], s.poses, side, gap)}
	p.pairs = broad.Pairs{A: placed3(g.words[3], s.pairs.A, side, gap), B: placed3(g.words[4], s.pairs.B, side, gap)}
	return p, placed3(g.words[5], out, side, gap)
}

func (g *guardedScene) check() error {
	for _, b := range g.words {
		if err := b.Check(); err != nil {
			return err
		}
	}
	return nil
}

// sameManifolds compares bit by bit.
func sameManifolds(s *pairScene, got, want []Manifold) error {
	for i := range want {
		if err := paritytest.Bits(fmt.Sprintf("manifold %d", i), buffer.Words[uint32](got[i:i+1]), buffer.Words[uint32](want[i:i+1])); err != nil {
			a, b := s.pairs.A[i], s.pairs.B[i]
			return fmt.Errorf("%w\n%+v\n%+v\n%+v at %+v\n%+v at %+v", err, got[i], want[i], s.shapes[a], s.poses[s.bodyOf[a]], s.shapes[b], s.poses[s.bodyOf[b]])
		}
	}
	return nil
}

func TestParityCollide(t *testing.T) {
	run := paritytest.Start(t, "CollidePairs")
	const most = 1100
	g := newGuardedScene(t, most)
	lengths := []int{512, 513, most}
	for n := range 40 {
		lengths = append(lengths, n)
	}
	counts := map[string]int{}
	for range paritytest.Sample(12) {
		for _, n := range lengths {
			s := randomPairs3(run.Rand, n)
			if run.IntN(3) == 0 {
				s.spoil(run)
			}
			var recycled []int32
			if run.IntN(3) == 0 {
				recycled = make([]int32, n)
				for i := range recycled {
					recycled[i] = int32(run.IntN(3)) - 1
				}
			}
			before := make([]Manifold, n)
			run.Fill(words(before), paritytest.AnyBits)
			want := append([]Manifold(nil), before...)
			CollidePairs(native.Go, s.shapes, &testHulls, s.bodyOf, s.poses, &s.pairs, recycled, want)
			for i := range want {
				if recycled == nil || recycled[i] < 0 {
					counts[fmt.Sprintf("%d points", want[i].Count)]++
					if want[i].Count > 0 {
						counts[fmt.Sprintf("kinds %d, %d, feature %d", s.shapes[2*i].Kind, s.shapes[2*i+1].Kind, want[i].Points[0].ID>>30)]++
					}
				}
			}
			for _, level := range native.Levels() {
				for _, side := range paritytest.Sides {
					run.Case(level)
					p, out := g.place(s, before, side, run.IntN(paritytest.MaxGap+1))
					CollidePairs(level, p.shapes, &testHulls, p.bodyOf, p.poses, &p.pairs, recycled, out)
					run.Check(g.check(), sameManifolds(s, out, want), paritytest.Bits("shapes", buffer.Words[uint32](p.shapes), buffer.Words[uint32](s.shapes)))
				}
			}
		}
	}
	t.Logf("%d kinds of cases", len(counts))
	if len(counts) < 30 {
		t.Errorf("few cases: %v", counts)
	}
}

// A list that names a shape or a body that does not exist is refused on all levels.
func TestCollideRefusesBadPairs(t *testing.T) {
	for _, level := range native.Levels() {
		for k := range 4 {
			s := randomPairs3(rand.New(rand.NewPCG(1, 1)), 9)
			switch k {
			case 0:
				s.pairs.A[7] = 18
			case 1:
				s.pairs.B[8] = 1 << 31
			case 2:
				s.bodyOf[3] = 18
			case 3:
				s.bodyOf[16] = 1<<32 - 1
			}
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%v, case %d: no panic", level, k)
					}
				}()
				CollidePairs(level, s.shapes, &testHulls, s.bodyOf, s.poses, &s.pairs, nil, make([]Manifold, 9))
			}()
		}
	}
}

// Numbers of hulls can be freed and used again, and all levels see the same.
func TestHullsByNumber(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	var h Hulls
	polytopes := map[int]*Polytope{}
	for range 400 {
		k := rng.IntN(20)
		if rng.IntN(3) == 0 {
			delete(polytopes, k)
			h.Set(k, nil)
		} else {
			polytopes[k] = testHulls.At(int(someHull(rng).Hull))
			h.Set(k, polytopes[k])
		}
		if rng.IntN(100) == 0 {
			h.Reset()
			clear(polytopes)
		}
	}
	shapes, poses, want := []Shape{}, []Pose{}, []Manifold{}
	var pairs broad.Pairs
	for k := range 22 {
		if h.At(k) != polytopes[k] {
			t.Fatalf("hull %d is another", k)
		}
		shapes = append(shapes, NewHullShape(uint32(k), origin, 0), *ball(.3))
		poses = append(poses, origin, Pose{Vec{.3, .2, .1}, Identity})
		pairs.Add(uint32(2*k), uint32(2*k+1))
		want = append(want, Manifold{})
		if t := polytopes[k]; t != nil {
			var other Hulls
			other.Set(0, t)
			CollidePairs(native.Go, []Shape{NewHullShape(0, origin, 0), *ball(.3)}, &other, []uint32{0, 1}, poses[2*k:], &broad.Pairs{A: []uint32{0}, B: []uint32{1}}, nil, want[k:])
		}
	}
	bodyOf := make([]uint32, len(shapes))
	for i := range bodyOf {
		bodyOf[i] = uint32(i)
	}
	for _, level := range native.Levels() {
		got := make([]Manifold, len(want))
		CollidePairs(level, shapes, &h, bodyOf, poses, &pairs, nil, got)
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%v, hull %d: %+v, want %+v", level, i, got[i], want[i])
			}
		}
	}
	if len(h.floats) > 4*20*3*MaxHullVertices*5 {
		t.Errorf("%d floats for %d hulls", len(h.floats), len(polytopes))
	}
}
