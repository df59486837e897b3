package joint

import (
	"errors"
	"math"
	"testing"

	"github.com/evertick/evertick/internal/fault"
)

func TestCheck(t *testing.T) {
	rules := []Number{NonNegative("A"), Coefficient("B"), Unbounded("Lower"), UpperLimit("Upper"), Within("C", -1, 1)}
	good := []float32{0, 1e6, -1e18, -1e18, 1}
	for i := range rules {
		if err := Check("x.", rules, good, i); err != nil {
			t.Error(err)
		}
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		i    int
		v    float32
		want error
	}{
		{0, -1, fault.ErrRange}, {0, nan, fault.ErrNotFinite}, {0, 1e19, fault.ErrRange}, {1, 2e6, fault.ErrRange}, {1, -1, fault.ErrRange},
		{2, -inf, fault.ErrNotFinite}, {2, -1e19, fault.ErrRange}, {3, -2e18, fault.ErrRange}, {4, 1.5, fault.ErrRange}, {4, -1.5, fault.ErrRange},
	} {
		bad := append([]float32(nil), good...)
		bad[c.i] = c.v
		if err := Check("x.", rules, bad, c.i); !errors.Is(err, c.want) {
			t.Errorf("number %d = %v: %v", c.i, c.v, err)
		}
	}
}
