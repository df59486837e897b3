package loop

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func (l *Loop) rat(s span) *big.Rat {
	n := new(big.Int).SetUint64(s.steps)
	n.Mul(n, new(big.Int).SetUint64(l.unit)).Add(n, new(big.Int).SetUint64(s.units))
	n.Mul(n, big.NewInt(one)).Add(n, new(big.Int).SetUint64(s.rest))
	return new(big.Rat).SetFrac(n, new(big.Int).Mul(new(big.Int).SetUint64(l.unit), big.NewInt(one)))
}

func TestSpans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, err := New(Config{RateNum: 1, RateDen: rapid.Int64Range(1, 1e8).Draw(t, "den")})
		if err != nil {
			t.Fatal(err)
		}
		draw := func(name string) span {
			edge := func(n uint64) *rapid.Generator[uint64] {
				return rapid.OneOf(rapid.SampledFrom([]uint64{0, 1, n / 2, n - 2, n - 1}), rapid.Uint64Range(0, n-1))
			}
			return span{edge(1<<62).Draw(t, name), edge(l.unit).Draw(t, "units"), edge(one).Draw(t, "rest")}
		}
		a, b := draw("a"), draw("b")
		if rapid.Bool().Draw(t, "equal steps") {
			b.steps = a.steps
		}
		if rapid.Bool().Draw(t, "equal units") {
			b.units = a.units
		}
		sum := l.add(a, b)
		if l.rat(sum).Cmp(new(big.Rat).Add(l.rat(a), l.rat(b))) != 0 || sum.units >= l.unit || sum.rest >= one {
			t.Fatalf("%v + %v = %v", a, b, sum)
		}
		if got := l.sub(sum, b); got != a {
			t.Fatalf("%v - %v = %v, want %v", sum, b, got, a)
		}
		if got, want := a.less(b), l.rat(a).Cmp(l.rat(b)) < 0; got != want {
			t.Fatalf("%v < %v: %v", a, b, got)
		}
	})
}
