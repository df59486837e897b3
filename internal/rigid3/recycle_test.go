package rigid3

import (
	"math"
	"testing"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/native"
)

// recycleScene is contacts with bases, and where their bodies are now.
type recycleScene struct {
	Recycling
	pairs broad.Pairs
}

// twoBoxes is cube B of a metre on cube A, which were at their places when the base was made; B has moved since, and both have turned
// about z.
func twoBoxes(dx, dy, turnA, turnB float64) *recycleScene {
	s := &recycleScene{}
	a, b := &Pose{Q: Identity}, &Pose{Vec{0.25, 1, 0}, Identity}
	m := collide(box(.5, .5, .5), box(.5, .5, .5), a, b)
	contacts := []Contact{{A: 0, B: 1}}
	contacts[0].begin(&m)
	s.BodyOf, s.Bases, s.Marks = []uint32{0, 1}, make([]BaseManifold, 1), make([]uint8, 1)
	v := columns(make([]Vec, 2))
	KeepBases(contacts, []Manifold{m}, s.BodyOf, []Pose{*a, *b}, &v, &v, 1, s.Bases, s.Marks)
	s.Old, s.pairs = contacts, broad.Pairs{A: []uint32{0}, B: []uint32{1}}
	for i, turn := range []float64{turnA, turnB} {
		sin, cos := math.Sincos(turn / 2)
		s.Poses = append(s.Poses, Pose{[]Vec{{}, {float32(.25 + dx), float32(1 + dy), 0}}[i], Quat{0, 0, float32(sin), float32(cos)}})
	}
	return s
}

func (s *recycleScene) recycle(level native.Level) (from []int32, out []Manifold, recycled int) {
	from, out = noneRecycled(len(s.pairs.A)), make([]Manifold, len(s.pairs.A))
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
			if got := from[0] == 0; got != c.want || n == 1 != got || from[0] != 0 && from[0] != NotRecycled {
				t.Errorf("%s, %v: recycled: %v (%d), want %v", c.name, level, got, n, c.want)
			} else if m := out[0]; got && (m.Count != 4 || m.Source != Recycled || m.Normal != (Vec{0, 1, 0}) || m.Points[3].ID != s.Old[0].Normal[3].ID ||
				m.Points[0].AnchorA != s.Bases[0].Points[0].AnchorA || m.Points[3].AnchorB != s.Bases[0].Points[3].AnchorB) {
				t.Errorf("%s, %v: %+v", c.name, level, m)
			}
		}
	}
}

// A base is kept for what is slow, and has two points.
func TestKeepBases(t *testing.T) {
	for _, c := range []struct {
		name  string
		v, w  Vec
		count uint32
		want  bool
	}{
		{"rests", Vec{}, Vec{}, 4, true},
		{"rests on one point", Vec{}, Vec{}, 1, false},
		{"moves slowly", Vec{.07, 0, 0}, Vec{}, 4, true},
		{"moves", Vec{.05, 0, .06}, Vec{}, 4, false},
		{"turns slowly", Vec{}, Vec{0, .05, .05}, 2, true},
		{"turns", Vec{}, Vec{0, .06, .06}, 2, false},
		{"is lost", Vec{float32(math.NaN()), 0, 0}, Vec{}, 4, false},
	} {
		m := collide(box(.5, .5, .5), box(.5, .5, .5), &origin, at(0, 1, 0))
		m.Count = min(m.Count, c.count)
		contacts, bases, marks := []Contact{{A: 0, B: 1, Flags: 8}}, make([]BaseManifold, 1), make([]uint8, 1)
		v, w := columns([]Vec{{}, c.v}), columns([]Vec{{}, c.w})
		KeepBases(contacts, []Manifold{m}, []uint32{0, 1}, []Pose{origin, *at(0, 1, 0)}, &v, &w, dt, bases, marks)
		if got := marks[0] == 1; got != c.want || (contacts[0].Flags == 8|FlagBase) != got || (bases[0] != BaseManifold{}) != got {
			t.Errorf("%s: %v, flags %d, want %v", c.name, got, contacts[0].Flags, c.want)
		}
	}
}

// The separations are those of the boxes, up to what rotations change in second order.
func TestRecycledSeparations(t *testing.T) {
	s := twoBoxes(0.004, -0.003, 0.008, 0.012)
	_, out, n := s.recycle(native.Go)
	if n != 1 {
		t.Fatal("not recycled")
	}
	base := &s.Bases[0]
	for k := range out[0].Points {
		p := &base.Points[k]
		top, bottom := s.Poses[0].Transform(p.AnchorA), s.Poses[1].Transform(p.AnchorB)
		want := bottom.Sub(top).Y + p.Separation
		if got := out[0].Points[k].Separation; abs(got-want) > 2e-4 {
			t.Errorf("point %d: separation %g, want %g", k, got, want)
		}
	}
}
