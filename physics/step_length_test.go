package physics_test

import (
	"math"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/physics"
)

// A column rests when the lengths of steps change: the impulses of the last step are those of forces.
func TestStepsOfChangingLength(t *testing.T) {
	run := paritytest.Start(t, "lengths of steps")
	lengths := map[string]func(n int) float32{
		"in turn":  func(n int) float32 { return []float32{1. / 30, 1. / 240}[n%2] },
		"drawn":    func(int) float32 { return float32(math.Exp2(3*run.Float64())) / 240 },
		"once":     func(n int) float32 { return []float32{1. / 240, 1. / 30}[min(n/150, 1)] },
		"constant": func(int) float32 { return 1. / 60 },
	}
	for _, name := range []string{"in turn", "drawn", "once", "constant"} {
		r := newFixture(t, -10)
		r.floor(plain)
		var watched []physics.Body
		for i := range 6 {
			box := r.dynamic(0, 0.5+float32(i))
			r.box(box, plain, 0.5, 0.5)
			watched = append(watched, box)
		}
		r.seconds(3)
		c := r.w.Columns()
		var begin []float32
		for _, b := range watched {
			begin = append(begin, c.Y[b.Index()])
		}
		for n := range 300 {
			r.no(r.w.Step(lengths[name](n)))
			for i, b := range watched {
				if off := math.Abs(float64(c.Y[b.Index()] - begin[i])); off > 0.01 {
					t.Fatalf("%s: body %d is %g m off after %d steps", name, i, off, n+1)
				}
			}
		}
	}
}
