package rigid3

import (
	"fmt"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

func TestParityBounds(t *testing.T) {
	run := paritytest.Start(t, "Bounds")
	g := newGuardedScene(t, 200)
	finite, inverted := 0, 0
	for range paritytest.Sample(30) {
		for n := range 40 {
			s := randomPairs3(run.Rand, n)
			if run.IntN(2) == 0 {
				s.spoil(run)
			}
			margin := []float32{0, .05, 1e-10}[run.IntN(3)]
			var want Boxes
			want.Resize(2 * n)
			Bounds(native.Go, s.shapes, &testHulls, s.bodyOf, s.poses, margin, &want)
			for i := range want.Min[0] {
				if want.Min[0][i] > want.Max[0][i] {
					inverted++
				} else {
					finite++
				}
			}
			for _, level := range native.Levels() {
				for _, side := range paritytest.Sides {
					run.Case(level)
					p, _ := g.place(s, nil, side, run.IntN(paritytest.MaxGap+1))
					var got Boxes
					got.Resize(2 * n)
					Bounds(level, p.shapes, &testHulls, p.bodyOf, p.poses, margin, &got)
					for k := range 3 {
						run.Check(g.check(), paritytest.Bits("min", got.Min[k], want.Min[k]), paritytest.Bits("max", got.Max[k], want.Max[k]))
					}
				}
			}
		}
	}
	if finite < 100 || inverted < 20 {
		t.Errorf("%d boxes, %d inverted", finite, inverted)
	}
}

func TestParityRecycle(t *testing.T) {
	run := paritytest.Start(t, "Recycle")
	recycled, left := 0, 0
	for round := range paritytest.Rounds(40) {
		n := run.IntN(50)
		if round%10 == 0 {
			n = 511 + run.IntN(300)
		}
		s := randomRecycling(run, n)
		from, want, sum := s.recycle(native.Go)
		recycled, left = recycled+sum, left+len(from)-sum
		for i, k := range from { // that the pair is the contact's, and the base is used
			if k >= 0 && (s.Old[k].A != s.pairs.A[i] || s.Old[k].B != s.pairs.B[i] || s.Old[k].Flags&FlagBase == 0) {
				t.Fatalf("pair %d: contact %d", i, k)
			}
		}
		for _, level := range native.Levels() {
			run.Case(level)
			gotFrom, got, gotSum := s.recycle(level)
			var err error
			if gotSum != sum {
				err = fmt.Errorf("recycled %d, want %d", gotSum, sum)
			}
			run.Check(err, paritytest.Bits("from", gotFrom, from), paritytest.Floats("manifolds", words(got), words(want)))
		}
	}
	if recycled == 0 || left == 0 {
		t.Errorf("%d recycled, %d not: the test lacks a case", recycled, left)
	}
}

// randomRecycling makes contacts with and without bases, of which pairs has some and others.
func randomRecycling(run *paritytest.Run, n int) *recycleScene {
	s := &recycleScene{}
	wild := run.IntN(3) == 0
	for i := range n {
		a, b := uint32(2*i), uint32(2*i+1)
		at := twoBoxes(0.015*(run.Float64()*2-1), 0.015*(run.Float64()*2-1), 0.025*(run.Float64()*2-1), 0.02*(run.Float64()*2-1))
		if run.IntN(4) == 0 { // a rotation that means little
			at.Poses[0].Q = Quat{-at.Poses[0].Q.X, 0, -at.Poses[0].Q.Z, -at.Poses[0].Q.W}
		}
		s.Poses, s.BodyOf = append(s.Poses, at.Poses...), append(s.BodyOf, a, b)
		c, base, mark := at.Old[0], at.Bases[0], uint8(1)
		c.A, c.B, c.Count = a, b, uint32(2+run.IntN(3))
		if run.IntN(4) == 0 {
			c.Flags, mark = 1<<31, uint8(run.IntN(2))
		}
		if wild && run.IntN(2) == 0 {
			for _, w := range [][]float32{words(at.Bases), words(s.Poses[2*i:])} {
				w[run.IntN(len(w))] = run.Float(paritytest.AllClasses[run.IntN(len(paritytest.AllClasses))])
			}
			base = at.Bases[0]
		}
		s.Old, s.Bases, s.Marks = append(s.Old, c), append(s.Bases, base), append(s.Marks, mark)
		if run.IntN(8) > 0 {
			s.pairs.Add(a, b)
		}
		if i+1 < n && run.IntN(8) == 0 { // a pair without contact
			s.pairs.Add(a, b+1)
		}
	}
	if s.Same = run.IntN(3) == 0; s.Same {
		s.pairs.Reset()
		for _, c := range s.Old {
			s.pairs.Add(c.A, c.B)
		}
	}
	return s
}
