package rigid_test

import (
	"fmt"
	"math"
	"testing"
	"unsafe"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/native"
)

const (
	shapeWords    = int(unsafe.Sizeof(rigid.Shape{}) / 4)
	manifoldWords = int(unsafe.Sizeof(rigid.Manifold{}) / 4)
)

// guarded is a scene in memory that kernels must not leave.
type guarded struct {
	words  [5]*paritytest.Buffer[uint32] // shapes, bodies, pairs, manifolds
	floats [4]*paritytest.Buffer[float32]
}

func newGuarded(t *testing.T, pairs int) *guarded {
	g := &guarded{}
	for i := range g.words {
		g.words[i] = paritytest.NewBuffer[uint32](t, pairs*max(2*shapeWords, manifoldWords))
	}
	for i := range g.floats {
		g.floats[i] = paritytest.NewBuffer[float32](t, 2*pairs)
	}
	return g
}

// place returns a copy of s, and room for its manifolds.
func (g *guarded) place(s *scene, side paritytest.Side, gap int) (*scene, []rigid.Manifold) {
	n := len(s.shapes)
	raw := g.words[0].Place(n*shapeWords, side, gap)
	p := &scene{shapes: unsafe.Slice((*rigid.Shape)(unsafe.Pointer(unsafe.SliceData(raw))), n)}
	copy(p.shapes, s.shapes)
	p.bodyOf = g.words[1].PlaceCopy(s.bodyOf, side, gap)
	p.pairs = broad.Pairs{A: g.words[2].PlaceCopy(s.pairs.A, side, gap), B: g.words[3].PlaceCopy(s.pairs.B, side, gap)}
	p.poses = rigid.Poses{X: g.floats[0].PlaceCopy(s.poses.X, side, gap), Y: g.floats[1].PlaceCopy(s.poses.Y, side, gap),
		Cos: g.floats[2].PlaceCopy(s.poses.Cos, side, gap), Sin: g.floats[3].PlaceCopy(s.poses.Sin, side, gap)}
	out := g.words[4].Place(len(s.pairs.A)*manifoldWords, side, gap)
	return p, unsafe.Slice((*rigid.Manifold)(unsafe.Pointer(unsafe.SliceData(out))), len(s.pairs.A))
}

func (g *guarded) check() error {
	for _, b := range g.words {
		if err := b.Check(); err != nil {
			return err
		}
	}
	for _, b := range g.floats {
		if err := b.Check(); err != nil {
			return err
		}
	}
	return nil
}

// sameManifolds compares bit by bit, a NaN being as good as any other.
func sameManifolds(got, want []rigid.Manifold) error {
	for i := range want {
		g := unsafe.Slice((*float32)(unsafe.Pointer(&got[i])), manifoldWords)
		w := unsafe.Slice((*float32)(unsafe.Pointer(&want[i])), manifoldWords)
		if err := paritytest.Floats(fmt.Sprintf("manifold %d", i), g, w); err != nil {
			return fmt.Errorf("%w\n%+v\n%+v", err, got[i], want[i])
		}
	}
	return nil
}

// spoil puts what a scene should not have into some of the poses, and kills shapes.
func spoil(run *paritytest.Run, s *scene) {
	for i := range s.poses.X {
		column := [][]float32{s.poses.X, s.poses.Y, s.poses.Cos, s.poses.Sin}[run.IntN(4)]
		switch run.IntN(16) {
		case 0:
			column[i] = run.Float(paritytest.AllClasses[run.IntN(len(paritytest.AllClasses))])
		case 1:
			column[i] = run.Near(column[i])
		case 2:
			s.poses.X[i], s.poses.Y[i] = s.poses.X[i&^1], s.poses.Y[i&^1] // those of its partner
		case 3:
			s.poses.Cos[i], s.poses.Sin[i] = s.poses.Cos[i&^1], s.poses.Sin[i&^1]
		}
	}
	for i := range s.shapes {
		switch run.IntN(40) {
		case 0:
			s.shapes[i].Count = 0
		case 1:
			s.shapes[i].Count = []uint32{9, math.MaxUint32, 1 << 31}[run.IntN(3)]
		case 2:
			s.shapes[i].Count = 1 + run.Uint32N(s.shapes[i].Count)
		}
		for k := s.shapes[i].Count; k < rigid.MaxVertices; k++ { // behind the last vertex there may be anything
			s.shapes[i].Vertices[k] = rigid.Vec{X: run.Float(paritytest.AnyBits), Y: run.Float(paritytest.AnyBits)}
			s.shapes[i].Normals[k] = rigid.Vec{X: run.Float(paritytest.AnyBits), Y: run.Float(paritytest.AnyBits)}
		}
	}
}

func TestParityCollide(t *testing.T) {
	run := paritytest.Start(t, "Collide")
	const most = 1200
	g := newGuarded(t, most)
	lengths := []int{1024, 1025, most}
	for n := range 50 {
		lengths = append(lengths, n)
	}
	kinds := [3]int{}
	for range paritytest.Sample(40) {
		for _, n := range lengths {
			s := randomScene(run.Rand, n)
			if run.IntN(3) > 0 {
				spoil(run, s)
			}
			if run.IntN(6) == 0 { // not each shape once, in turn
				for i := range s.pairs.A {
					s.pairs.A[i], s.pairs.B[i] = s.pairs.B[run.IntN(n)], s.pairs.A[run.IntN(n)]
				}
			}
			want := s.collide(t)
			for i := range want {
				kinds[want[i].Count]++
			}
			for _, level := range native.Levels() {
				for _, side := range paritytest.Sides {
					run.Case(level)
					p, out := g.place(s, side, run.IntN(paritytest.MaxGap+1))
					rigid.Collide(level, p.shapes, p.bodyOf, &p.poses, &p.pairs, out)
					run.Check(g.check(), sameManifolds(out, want),
						paritytest.Bits("X", p.poses.X, s.poses.X), paritytest.Bits("A", p.pairs.A, s.pairs.A))
				}
			}
		}
	}
	t.Logf("pairs with 0, 1 and 2 points: %d", kinds)
}

// FuzzCollide puts the bits of a pair of shapes together as the fuzzer likes.
func FuzzCollide(f *testing.F) {
	f.Add(float32(0.5), float32(0.25), float32(0.1), float32(1), float32(0.1), float32(1), float32(0), float32(0.8), float32(0.6), uint32(0))
	f.Add(float32(0.5), float32(0.5), float32(0), float32(0), float32(0.99), float32(1), float32(0), float32(1), float32(1e-4), uint32(0x44))
	f.Fuzz(func(t *testing.T, hx, hy, radius, x, y, ca, sa, cb, sb float32, kinds uint32) {
		s := &scene{}
		for _, kind := range []uint32{kinds, kinds >> 4} {
			shape := rigid.Shape{Count: kind % 10, Radius: radius}
			shape.Vertices = [8]rigid.Vec{{X: -hx, Y: -hy}, {X: hx, Y: -hy}, {X: hx, Y: hy}, {X: -hx, Y: hy}, {X: -hx - hy, Y: 0}}
			shape.Normals = [8]rigid.Vec{{Y: -1}, {X: 1}, {Y: 1}, {X: -1}, {X: -0.8, Y: -0.6}}
			s.shapes, s.bodyOf = append(s.shapes, shape), append(s.bodyOf, uint32(len(s.bodyOf)))
		}
		s.bodyAt(0, 0, ca, sa)
		s.bodyAt(x, y, cb, sb)
		for range 2 { // enough for kernels to be called
			s.pair(0, 1)
			s.pair(1, 0)
			s.pair(1, 1)
		}
		want := s.collide(t)
		for _, level := range native.Levels() {
			out := make([]rigid.Manifold, len(want))
			rigid.Collide(level, s.shapes, s.bodyOf, &s.poses, &s.pairs, out)
			if err := sameManifolds(out, want); err != nil {
				t.Errorf("level %s: %v", level, err)
			}
		}
	})
}
