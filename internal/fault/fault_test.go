package fault

import (
	"errors"
	"math"
	"testing"
)

func TestMessagesNameFieldIndexAndValue(t *testing.T) {
	err := Element(ErrNotFinite, "spatial: Queries.Radius", 7, float32(math.Inf(1)))
	if !errors.Is(err, ErrNotFinite) {
		t.Errorf("%v does not wrap ErrNotFinite", err)
	}
	if got, want := err.Error(), "spatial: Queries.Radius[7] = +Inf: not finite"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	err = Field(ErrRange, "spatial: Config.CellSize", -1)
	if got, want := err.Error(), "spatial: Config.CellSize = -1: out of range"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFinite(t *testing.T) {
	for _, v := range []float64{0, math.Copysign(0, -1), 1, -math.MaxFloat64, math.SmallestNonzeroFloat64} {
		if !Finite(v) {
			t.Errorf("Finite(%v) = false", v)
		}
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if Finite(v) || Finite(float32(v)) {
			t.Errorf("Finite(%v) = true", v)
		}
	}
}

// A product is finite although its rounding error is not 0: a compiler that fuses operations must not fuse it with the
// difference in Finite.
func TestFiniteOfAProduct(t *testing.T) {
	a, b := 0.1, 0.7
	x, y := float32(a), float32(b)
	for range 5 {
		if !Finite(a*b) || !Finite(x*y) {
			t.Fatalf("Finite(%v * %v) = false", a, b)
		}
		a, x = a+0.3, x+0.3
	}
}
