package trig

import (
	"math"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
)

func TestSinCosIsExactAtQuarterTurns(t *testing.T) {
	sines := []float32{0, 1, 0, -1}
	for k := -5; k <= 5; k++ {
		sin, cos := SinCos(float32(float64(k) * math.Pi / 2))
		wantSin, wantCos := sines[k&3], sines[(k+1)&3]
		if math.Float32bits(sin) != math.Float32bits(wantSin) || math.Float32bits(cos) != math.Float32bits(wantCos) {
			t.Errorf("%d quarter turns: sine %g, cosine %g, want %g, %g", k, sin, cos, wantSin, wantCos)
		}
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, a := range []float32{nan, inf, -inf, math.Nextafter32(MaxAngle, inf)} {
		if sin, cos := SinCos(a); sin == sin || cos == cos {
			t.Errorf("SinCos(%g) = %g, %g, want NaN", a, sin, cos)
		}
	}
}

// The short way for small angles computes the bits of the way for all.
func TestSinCosOfSmallAngles(t *testing.T) {
	step := uint32(61)
	if paritytest.Instrumented || testing.Short() {
		step *= 100
	}
	check := func(a float32) {
		sin, cos := SinCos(a)
		wantSin, wantCos := sinCos(a, abs(a))
		if math.Float32bits(sin) != math.Float32bits(wantSin) || math.Float32bits(cos) != math.Float32bits(wantCos) {
			t.Fatalf("SinCos(%g) = %g, %g, want %g, %g", a, sin, cos, wantSin, wantCos)
		}
	}
	for b := uint32(0); b <= math.Float32bits(0.8); b += step {
		check(math.Float32frombits(b))
		check(math.Float32frombits(b | 1<<31))
	}
	for b := math.Float32bits(0.74); b <= math.Float32bits(0.76); b += step / 61 {
		check(math.Float32frombits(b))
	}
}

func TestSinCosWithinItsBound(t *testing.T) {
	step := uint32(997)
	if paritytest.Instrumented || testing.Short() {
		step *= 100
	}
	for b := uint32(0); b <= math.Float32bits(MaxAngle); b += step {
		a := math.Float32frombits(b)
		sin, cos := SinCos(a)
		wantSin, wantCos := math.Sincos(float64(a))
		if math.Abs(float64(sin)-wantSin) > 1e-7 || math.Abs(float64(cos)-wantCos) > 1e-7 {
			t.Fatalf("SinCos(%g) = %g, %g, want %g, %g", a, sin, cos, wantSin, wantCos)
		}
		if s, c := SinCos(-a); s != -sin || c != cos {
			t.Fatalf("SinCos(%g) = %g, %g, SinCos of the negative %g, %g", a, sin, cos, s, c)
		}
	}
}
