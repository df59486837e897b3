package physics_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
)

// part returns rays lo to hi of a batch.
func part(q *physics.Rays, lo, hi int) *physics.Rays {
	return &physics.Rays{X: q.X[lo:hi], Y: q.Y[lo:hi], DX: q.DX[lo:hi], DY: q.DY[lo:hi]}
}

// A few rays after a change find the same as many rays, up to the number from which the tree is built
// and beyond, and in consecutive batches.
func TestFewRaysFindWhatManyFind(t *testing.T) {
	for _, level := range native.Levels() {
		r, q := crowdOfRays(t, 700, physics.Config{Level: level, Workers: 2})
		x := r.w.Columns().X
		change := [...]func(){
			func() { x[3]++ },
			func() { r.no(r.w.Step(dt)) },
			func() { r.circle(r.dynamic(1, 2), plain, 2) },
			func() {
				for i := range 500 {
					x[i] -= 0.7
				}
			},
		}
		for round := range 2 * len(change) {
			change[round%len(change)]()
			var whole, few physics.RayHits
			other, err := r.w.Clone()
			r.no(err)
			r.no(other.RayAll(q, &whole))
			closest := fixture{t, other}.closest(q)
			for lo, n := 0, 0; lo < 200; lo += n {
				n = [...]int{1, 7, 8, 9, 64, 65, 63, 2}[(round+lo)%8]
				some := part(q, lo, lo+n)
				r.no(r.w.RayAll(some, &few))
				from, to := whole.Offsets[lo], whole.Offsets[lo+n]
				first := r.closest(some)
				if !slices.Equal(few.Shapes, whole.Shapes[from:to]) || !sameFloats(few.Fractions, whole.Fractions[from:to]) ||
					!sameFloats(few.NormalX, whole.NormalX[from:to]) || !sameFloats(few.NormalY, whole.NormalY[from:to]) ||
					!slices.Equal(first.Shapes, closest.Shapes[lo:lo+n]) || !sameFloats(first.Fractions, closest.Fractions[lo:lo+n]) {
					t.Fatalf("level %s, round %d: rays %d to %d find something else", level, round, lo, lo+n)
				}
			}
		}
	}
}

func sameFloats(a, b []float32) bool { return paritytest.Floats("", a, b) == nil }

func TestFewRaysAllocateNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate")
	}
	r, q := crowdOfRays(t, 300, physics.Config{})
	var out physics.RayHits
	x, one := r.w.Columns().X, part(q, 0, 1)
	batch := func() {
		x[0]++
		r.no(r.w.RayClosest(one, &out))
	}
	batch()
	if n := testing.AllocsPerRun(20, batch); n > 0 {
		t.Errorf("%g allocations", n)
	}
}

// The cost of a few rays after all bodies have moved, and of one ray more than that.
func BenchmarkFewRays(b *testing.B) {
	for _, level := range native.Levels() {
		for _, n := range []int{1, 10, 64, 65} {
			b.Run(fmt.Sprintf("level=%s/rays=%d", level, n), func(b *testing.B) {
				r, q := crowdOfRays(b, 4096, physics.Config{Level: level})
				some, x := part(q, 0, n), r.w.Columns().X
				var out physics.RayHits
				r.no(r.w.RayClosest(q, &out))
				step := float32(0.25)
				for b.Loop() {
					step = -step
					for k := range x {
						x[k] += step
					}
					r.no(r.w.RayClosest(some, &out))
				}
			})
		}
	}
}
