package rigid3

import (
	"math"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
)

// The volume below a plane and its centre, against many small cubes.
func TestSubmerged(t *testing.T) {
	run := paritytest.Start(t, "volumes below a plane")
	hull, hulls := randomHulls(t, run)
	for k := range paritytest.Rounds(60) {
		var s Shape
		pose := Pose{Vec{float32(within(run.Rand, -5, 5)), float32(within(run.Rand, -5, 5)), float32(within(run.Rand, -5, 5))}, randomQuat(run.Rand)}
		local := Pose{Vec{0.3, -0.2, 0.1}, randomQuat(run.Rand)}
		size := func() float32 { return float32(within(run.Rand, 0.2, 1)) }
		switch k % 4 {
		case 0:
			s = NewSphere(local.P, size())
		case 1:
			s = NewCapsule(local.P, local.P.Add(Vec{size(), size(), -size()}), size())
		case 2:
			s = NewBoxShape(Vec{size(), size(), size()}, local, 0)
		case 3:
			s = NewHullShape(hull, local, 0)
		}
		n := randomQuat(run.Rand).Rotate(Vec{Y: 1}).wide64().unit(vec64{y: 1}).narrow()
		middle := pose.Transform(s.Pose.P)
		offset := n.Dot(middle) + float32(within(run.Rand, -1.2, 1.2))
		volume, centre := s.Submerged(hulls, &pose, n, offset)

		want, moment := 0., vec64{}
		const cells = 60
		half := vec64{float64(s.Radius), float64(s.Radius), float64(s.Radius)}.Add(s.Half.wide64().absolute())
		if s.Kind == KindHull {
			half = hulls.at(s.Hull).extent.wide64()
		}
		cell := 8 * half.x * half.y * half.z / (cells * cells * cells)
		inside := insideOf(&s, hulls)
		for i := range cells * cells * cells {
			at := func(k int) float64 { return (2*float64(k)+1)/cells - 1 }
			p := vec64{half.x * at(i%cells), half.y * at(i/cells%cells), half.z * at(i/(cells*cells))}
			if !inside(p) {
				continue
			}
			q := pose.Transform(s.Pose.Transform(p.narrow())).wide64()
			if n.wide64().Dot(q) < float64(offset) {
				want += cell
				moment = moment.addTimes(q.Sub(middle.wide64()), cell)
			}
		}
		if math.Abs(float64(volume)-want) > 0.02*want+0.02 {
			t.Errorf("kind %d: volume %g, want %g", s.Kind, volume, want)
		}
		if got := centre.wide64().Sub(middle.wide64()).Times(float64(volume)); got.Sub(moment).length() > 0.02*moment.length()+0.02 {
			t.Errorf("kind %d: moment %v, want %v", s.Kind, got, moment)
		}
		whole := s.Mass(hulls)
		if all, at := s.Submerged(hulls, &pose, n, offset+10); math.Abs(float64(all)-whole.Mass) > 1e-4*whole.Mass {
			t.Errorf("kind %d: all of it has the volume %g, want %g", s.Kind, all, whole.Mass)
		} else if c := pose.Transform(narrow(whole.Centre)); at.Sub(c).length() > 1e-4 {
			t.Errorf("kind %d: the centre of all is %v, want %v", s.Kind, at, c)
		}
		if none, _ := s.Submerged(hulls, &pose, n, offset-10); none != 0 {
			t.Errorf("kind %d: %g of nothing", s.Kind, none)
		}
	}
	// An upright capsule, and one in the water to a known height.
	s := NewCapsule(Vec{Y: -1}, Vec{Y: 1}, 0.5)
	for _, depth := range []float64{0.25, 0.5, 1.3, 2.5, 2.8} {
		ball := func(d float64) float64 { return math.Pi * d * d * (1.5 - d) / 3 }
		want := ball(min(depth, 0.5)) + math.Pi*0.25*min(max(depth-0.5, 0), 2)
		if depth > 2.5 {
			want += ball(0.5) - ball(3-depth)
		}
		if got, _ := s.Submerged(nil, &Pose{Q: Identity}, Vec{Y: 1}, float32(depth-1.5)); math.Abs(float64(got)-want) > 1e-3*want {
			t.Errorf("upright capsule, %g m deep: %g, want %g", depth, got, want)
		}
	}
}

// insideOf returns whether a point of the frame of the core is in a shape.
func insideOf(s *Shape, hulls *Hulls) func(p vec64) bool {
	r := float64(s.Radius)
	switch s.Kind {
	case KindSphere:
		return func(p vec64) bool { return p.length() < r }
	case KindCapsule:
		h := s.Half.wide64()
		return func(p vec64) bool {
			x, _ := closestOfSegments(h.neg(), h.Add(h), p, p)
			return x.Sub(p).length() < r
		}
	}
	var b boxArrays
	t := s.polytope(hulls, &b)
	planes := append([]Plane(nil), t.Planes...)
	return func(p vec64) bool {
		for i := range planes {
			if planes[i].Normal.wide64().Dot(p) > float64(planes[i].Offset) {
				return false
			}
		}
		return true
	}
}

// The projections of the patches of a shape cancel, and add up to what is seen of it; their number is stated.
func TestPatches(t *testing.T) {
	run := paritytest.Start(t, "patches")
	hull, hulls := randomHulls(t, run)
	for _, c := range []struct {
		shape Shape
		count int
		seen  func(d vec64) float64
		bound float64
	}{
		{NewBoxShape(Vec{1, 0.5, 0.2}, origin, 0), 96, func(d vec64) float64 {
			d = d.absolute()
			return 4 * (0.5*0.2*d.x + 1*0.2*d.y + 1*0.5*d.z)
		}, 1e-5},
		{NewCapsule(Vec{Z: -1}, Vec{Z: 1}, 0.5), 160, func(d vec64) float64 { return math.Pi*0.25 + 2*math.Sqrt(1-d.z*d.z) }, 0.03},
		{NewHullShape(hull, origin, 0), 0, nil, 0},
	} {
		patches := c.shape.AppendPatches(nil, hulls)
		if c.count > 0 && len(patches) != c.count {
			t.Errorf("kind %d: %d patches", c.shape.Kind, len(patches))
		}
		for range 50 {
			d := randomQuat(run.Rand).Rotate(Vec{X: 1}).wide64()
			front, sum := 0., vec64{}
			for _, p := range patches {
				n := p.Normal.wide64()
				front += float64(p.Area) * max(n.Dot(d), 0)
				sum = sum.addTimes(n, float64(p.Area))
			}
			if sum.length() > 1e-4 {
				t.Fatalf("kind %d: the areas add up to %v", c.shape.Kind, sum)
			}
			if c.seen != nil && math.Abs(front-c.seen(d)) > c.bound*front {
				t.Fatalf("kind %d from %v: %g seen, want %g", c.shape.Kind, d, front, c.seen(d))
			}
		}
	}
}

// randomHulls returns a hull, and the hulls that have it.
func randomHulls(t *testing.T, run *paritytest.Run) (uint32, *Hulls) {
	t.Helper()
	for {
		if s := randomPolytope(run.Rand); s.Kind == KindHull {
			return s.Hull, &testHulls
		}
	}
}
