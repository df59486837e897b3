package trig

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
)

// Atan2 computes the bits of its plain form: for special values, near the diagonals and zero, and for random bits.
func TestPlainAtan2(t *testing.T) {
	special := []float32{0, smallest, 0x1p-126, 1e-30, 0.41421352, 0.41421356, 0.41421360, 1, 1 + 0x1p-23, 2.4142134, 3, 1e30, math.MaxFloat32}
	special = append(special, float32(math.Inf(1)), float32(math.NaN()))
	for _, v := range special {
		special = append(special, float32(math.Copysign(float64(v), -1)))
	}
	check := func(y, x float32) {
		got, want := Atan2(y, x), atan2(y, x)
		if math.Float32bits(got) != math.Float32bits(want) {
			t.Fatalf("Atan2(%v, %v) = %v, want %v", y, x, got, want)
		}
	}
	for _, y := range special {
		for _, x := range special {
			check(y, x)
		}
	}
	seed := paritytest.Seed()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 300_000 {
		check(math.Float32frombits(r.Uint32()), math.Float32frombits(r.Uint32()))
		angle := r.Float64() * 2 * math.Pi
		check(float32(math.Sin(angle)), float32(math.Cos(angle)))
	}
}
