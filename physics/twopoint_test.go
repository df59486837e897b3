package physics_test

import (
	"math"
	"testing"

	"github.com/evertick/evertick/physics"
)

// peaks returns how high the lowest point of a body that falls rises after each of its first bounces, and the
// greatest angular speed.
func (r fixture) peaks(b physics.Body, below float64, n int) (heights []float64, turns float64) {
	r.Helper()
	highest, rising := 0.0, false
	for range 60 * 3 * n {
		r.steps(1)
		_, y := r.at(b)
		_, vy, w := r.velocity(b)
		turns = max(turns, math.Abs(w))
		highest = max(highest, y-below)
		if rising && vy <= 0 {
			if heights = append(heights, highest); len(heights) == n {
				break
			}
		}
		if rising = vy > 0; !rising {
			highest = 0
		}
	}
	return heights, turns
}

// A box that falls flat bounces flat, and as high as a ball does.
func TestFlatBoxBouncesLikeABall(t *testing.T) {
	const n = 3
	r := newFixture(t, -10)
	r.floor(material(0.6, 0))
	ball := r.dynamic(0, 5.5)
	r.circle(ball, material(0.6, 1), 0.5)
	want, _ := r.peaks(ball, 0.5, n)
	for _, half := range [][2]float32{{0.5, 0.5}, {1, 0.1}, {0.1, 1}} {
		for _, fixed := range []bool{false, true} {
			r := newFixture(t, -10)
			r.floor(material(0.6, 0))
			box := r.dynamic(0, 5+half[1], func(d *physics.BodyDef) { d.FixedRotation = fixed })
			r.box(box, material(0.6, 1), half[0], half[1])
			got, turns := r.peaks(box, float64(half[1]), n)
			t.Logf("box %v, fixed %v: rises to %.3f, the ball to %.3f", half, fixed, got, want)
			if len(got) != n || len(want) != n || turns > 1e-3 {
				t.Fatalf("box %v, fixed %v: %d and %d bounces, turns at %v", half, fixed, len(got), len(want), turns)
			}
			for i := range got {
				if got[i] < 4.9 || got[i] > 5 || got[i] < want[i]-0.02 {
					t.Errorf("box %v, fixed %v, bounce %d: rises to %.3f m of 5, a ball to %.3f", half, fixed, i, got[i], want[i])
				}
			}
		}
	}
}

// A box that hits something beside its middle, or with a corner, moves as its mirror image does.
func TestMirroredImpacts(t *testing.T) {
	for name, c := range map[string]struct {
		build     func(r fixture, mirror, d float32) physics.Body
		tolerance float64
	}{
		"an edge": {func(r fixture, mirror, d float32) physics.Body {
			r.box(r.body(physics.StaticBody, 0, 0), plain, 0.5, 0.5)
			return r.dynamic(mirror*d, 2.6)
		}, 0.002},
		"a corner": {func(r fixture, mirror, d float32) physics.Body {
			r.floor(plain)
			return r.dynamic(0, 2, turned(float64(d*mirror)))
		}, 0.002},
		"a corner while it slides": {func(r fixture, mirror, d float32) physics.Body {
			r.floor(plain)
			return r.dynamic(0, 2, turned(0.02*float64(d*mirror)), moving(2*mirror, 0, 0))
		}, 0.002},
		"a box that moves": {func(r fixture, mirror, d float32) physics.Body {
			r.floor(plain)
			r.box(r.dynamic(0, 0.5), plain, 0.5, 0.5)
			return r.dynamic(mirror*d, 2.6)
		}, 0.01},
	} {
		for _, d := range []float32{0.05, 0.2, 0.45, 0.6, 0.8} {
			one, other := newFixture(t, -10), newFixture(t, -10)
			a, b := c.build(one, 1, d), c.build(other, -1, d)
			one.box(a, plain, 0.5, 0.5)
			other.box(b, plain, 0.5, 0.5)
			greatest, turned := 0.0, 0.0
			for range 55 { // until the second impact: from then on, rounding grows
				one.steps(1)
				other.steps(1)
				ax, ay, aw := one.velocity(a)
				bx, by, bw := other.velocity(b)
				greatest = max(greatest, math.Abs(ax+bx), math.Abs(ay-by), math.Abs(aw+bw))
				turned = max(turned, math.Abs(aw))
			}
			if greatest > c.tolerance {
				t.Errorf("%s, %v: the velocity differs by %v from that in the mirror", name, d, greatest)
			}
			if turned == 0 && d > 0.5 && name == "an edge" {
				t.Errorf("%s, %v: nothing turned", name, d)
			}
		}
	}
}

// Boxes that bounce in a box keep no more than their energy.
func TestBouncingBoxesGainNoEnergy(t *testing.T) {
	for _, friction := range []float32{0, 0.3} {
		r := newFixture(t, 0)
		d := material(friction, 1)
		for _, wall := range [][4]float32{{6, 0, 1, 7}, {-6, 0, 1, 7}, {0, 6, 7, 1}, {0, -6, 7, 1}} {
			r.box(r.body(physics.StaticBody, wall[0], wall[1]), d, wall[2], wall[3])
		}
		for i := range 16 {
			b := r.dynamic(float32(i%4)*2.2-3.3, float32(i/4)*2.2-3.3, moving(float32(i%5)*2-4, float32(i%3)*2-2, float32(i%4)-1.5))
			r.box(b, d, 0.3+0.1*float32(i%4), 0.4)
		}
		begin, greatest := r.total().energy, 0.0
		for range 3600 {
			r.steps(1)
			greatest = max(greatest, r.total().energy)
		}
		t.Logf("friction %v: energy %.2f, at most %.2f, in the end %.2f", friction, begin, greatest, r.total().energy)
		if greatest > 1.01*begin {
			t.Errorf("friction %v: the energy was %v and is up to %v", friction, begin, greatest)
		}
	}
}
