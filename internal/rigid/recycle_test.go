package rigid_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/native"
)

// recycleScene is contacts with bases, and where their bodies are now.
type recycleScene struct {
	rigid.Recycling
	pairs broad.Pairs
}

// twoBoxes is box B of a metre on box A, which were at their places when the base was made; B has moved since.
func twoBoxes(dx, dy, turnA, turnB float64) *recycleScene {
	s := &recycleScene{}
	for i, v := range [][3]float64{{0, 0, turnA}, {0.25 + dx, 1 + dy, turnB}} {
		sin, cos := math.Sincos(v[2])
		p := &s.Poses
		p.X, p.Y, p.Cos, p.Sin = append(p.X, float32(v[0])), append(p.Y, float32(v[1])), append(p.Cos, float32(cos)), append(p.Sin, float32(sin))
		s.BodyOf = append(s.BodyOf, uint32(i))
	}
	base := rigid.BaseManifold{Normal: rigid.Vec{Y: 1}, RotationA: rigid.Vec{X: 1}, RotationB: rigid.Vec{X: 1}}
	for k, x := range [2]float32{-0.25, 0.5} {
		base.Points[k] = rigid.BasePoint{AnchorA: rigid.Vec{X: x, Y: 0.5}, AnchorB: rigid.Vec{X: x - 0.25, Y: -0.5}}
	}
	contact := rigid.Contact{A: 0, B: 1, Count: 2, Flags: rigid.FlagBase, Points: [2]rigid.Impulse{{ID: 7}, {ID: 9}}}
	s.Old, s.Bases, s.pairs = []rigid.Contact{contact}, []rigid.BaseManifold{base}, broad.Pairs{A: []uint32{0}, B: []uint32{1}}
	s.Marks = []uint8{1}
	return s
}

func (s *recycleScene) recycle(level native.Level) (from []int32, out []rigid.Manifold, recycled int) {
	from, out = noneRecycled(len(s.pairs.A)), make([]rigid.Manifold, len(s.pairs.A))
	return from, out, s.Recycle(level, &s.pairs, from, out)
}

// What bodies may do between two steps, to either side of each limit.
func TestRecycleLimits(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name                 string
		dx, dy, turnA, turnB float64
		want                 bool
	}{
		{"at rest", 0, 0, 0, 0, true},
		{"slides a little", 0.0199, 0, 0, 0, true},
		{"slides", 0.0201, 0, 0, 0, false},
		{"slides back", -0.0201, 0, 0, 0, false},
		{"sinks a little", 0, -0.0199, 0, 0, true},
		{"sinks", 0, -0.0201, 0, 0, false},
		{"A turns a little", -0.01, 0, 0.0195, 0.0195, true},
		{"A turns", -0.01, 0, 0.0205, 0.0195, false},
		{"B turns", -0.01, 0, 0.0195, 0.0205, false},
		{"both turn the other way", 0.01, 0, -0.0205, -0.0205, false},
		{"B turns halfway", 0, 0, 0, math.Pi, false},
		{"A is lost", 0, 0, nan, 0, false},
		{"B is lost", nan, 0, 0, 0, false},
	} {
		for _, level := range native.Levels() {
			s := twoBoxes(c.dx, c.dy, c.turnA, c.turnB)
			from, out, n := s.recycle(level)
			if got := from[0] == 0; got != c.want || n == 1 != got || from[0] != 0 && from[0] != rigid.NotRecycled {
				t.Errorf("%s, %v: recycled: %v (%d), want %v", c.name, level, got, n, c.want)
			} else if m := out[0]; got && (m.Count != 2 || m.Source != rigid.Recycled || m.Normal.Y != 1 || m.Points[0].ID != 7 || m.Points[1].ID != 9 ||
				m.Points[0].AnchorA != s.Bases[0].Points[0].AnchorA || m.Points[1].AnchorB != s.Bases[0].Points[1].AnchorB) {
				t.Errorf("%s, %v: %+v", c.name, level, m)
			}
		}
	}
	s := twoBoxes(0.004, 0, 0, 0)
	if s.Bases[0].Points[1].AnchorA.X = -0.22; true { // 3 cm between the points
		if _, _, n := s.recycle(native.Go); n != 0 {
			t.Error("points that are near each other may part as far as others")
		}
	}
	s = twoBoxes(0, 0, 0, 0)
	s.Bases[0].Points[1].Separation = 0.021
	if _, _, n := s.recycle(native.Go); n != 0 {
		t.Error("a point is farther than the speculative distance")
	}
}

// The separations are those of the boxes, up to what rotations change in second order.
func TestRecycledSeparations(t *testing.T) {
	const a, b, dy = 0.011, -0.006, -0.003
	s := twoBoxes(0.002, dy, a, b)
	_, out, _ := s.recycle(native.Go)
	for k, x := range []float64{-0.25, 0.5} {
		upper := (1 + dy) + (x-0.25)*math.Sin(b) - 0.5*math.Cos(b)
		lower := x*math.Sin(a) + 0.5*math.Cos(a)
		if got := float64(out[0].Points[k].Separation); math.Abs(got-(upper-lower)) > 1e-4 {
			t.Errorf("point %d: separation %g, want %g", k, got, upper-lower)
		}
	}
}

// randomRecycling makes contacts with and without bases, of which pairs has some and others.
func randomRecycling(run *paritytest.Run, n int) *recycleScene {
	s := &recycleScene{}
	p := &s.Poses
	wild := run.IntN(3) == 0
	for i := range 2 * n {
		at := twoBoxes(0.015*(run.Float64()*2-1), 0.015*(run.Float64()*2-1), 0.025*(run.Float64()*2-1), 0.02*(run.Float64()*2-1))
		k := i % 2
		p.X, p.Y = append(p.X, at.Poses.X[k]), append(p.Y, at.Poses.Y[k])
		p.Cos, p.Sin = append(p.Cos, at.Poses.Cos[k]), append(p.Sin, at.Poses.Sin[k])
		s.BodyOf = append(s.BodyOf, uint32(i))
		if k == 0 {
			continue
		}
		c, base := at.Old[0], at.Bases[0]
		mark := uint8(1)
		if c.A, c.B = uint32(i-1), uint32(i); run.IntN(4) == 0 {
			c.Flags, mark = 1<<31, uint8(run.IntN(2))
		}
		if wild && run.IntN(2) == 0 {
			w := words(s.Bases)
			run.Fill(w[max(0, len(w)-3):], paritytest.AllClasses...)
			run.Fill(p.Cos[i:], paritytest.AllClasses...)
		}
		s.Old, s.Bases, s.Marks = append(s.Old, c), append(s.Bases, base), append(s.Marks, mark)
		if run.IntN(8) > 0 {
			s.pairs.A, s.pairs.B = append(s.pairs.A, c.A), append(s.pairs.B, c.B)
		}
		if i+1 < 2*n && run.IntN(8) == 0 { // a pair without contact
			s.pairs.A, s.pairs.B = append(s.pairs.A, c.A), append(s.pairs.B, c.B+1)
		}
	}
	if s.Same = run.IntN(3) == 0; s.Same {
		s.pairs = broad.Pairs{}
		for _, c := range s.Old {
			s.pairs.A, s.pairs.B = append(s.pairs.A, c.A), append(s.pairs.B, c.B)
		}
	}
	return s
}

func TestParityRecycle(t *testing.T) {
	run := paritytest.Start(t, "Recycle")
	recycled, left := 0, 0
	for round := range paritytest.Rounds(60) {
		n := run.IntN(50)
		if round%10 == 0 {
			n = 511 + run.IntN(600)
		}
		s := randomRecycling(run, n)
		from, want, sum := s.recycle(native.Go)
		for i, k := range from { // that the pair is the contact's, and the base is used
			if k >= 0 && (s.Old[k].A != s.pairs.A[i] || s.Old[k].B != s.pairs.B[i] || s.Old[k].Flags&rigid.FlagBase == 0) {
				t.Fatalf("pair %d: contact %d", i, k)
			}
		}
		recycled, left = recycled+sum, left+len(from)-sum
		for _, level := range native.Levels() {
			run.Case(level)
			gotFrom, got, gotSum := s.recycle(level)
			var err error
			if !slices.Equal(gotFrom, from) || gotSum != sum {
				err = fmt.Errorf("recycled %d of %v, want %d of %v", gotSum, gotFrom, sum, from)
			}
			run.Check(err, sameManifolds(got, want))
		}
	}
	if recycled == 0 || left == 0 {
		t.Errorf("%d recycled, %d not: the test lacks a case", recycled, left)
	}
}
