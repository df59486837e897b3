package loop_test

import (
	"errors"
	"math"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/evertick/evertick/loop"
)

func mustTime(t testing.TB, tick uint64, num, den int64) loop.SimTime {
	t.Helper()
	st, err := loop.NewSimTime(tick, num, den)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func TestSimTimeOfTicks(t *testing.T) {
	for _, tc := range []struct {
		tick            uint64
		num, den        int64
		seconds         float64
		ns              int64
		whole, top, bot uint64
	}{
		{0, 60, 1, 0, 0, 0, 0, 1},
		{1, 60, 1, 1.0 / 60, 16_666_666, 0, 1, 60},
		{90, 60, 1, 1.5, 1_500_000_000, 1, 1, 2},
		{60000, 120000, 2002, 1001, 1001e9, 1001, 0, 1},
		{1, 60000, 1001, 1001.0 / 60000, 16_683_333, 0, 1001, 60000},
		{60 * 86400 * 36525, 0, 0, 36525 * 86400, 36525 * 86400e9, 36525 * 86400, 0, 1},
		{1e18 + 1, 1e6, 1, 1e12, math.MaxInt64, 1e12, 1, 1e6},
		// Ties to even, and a thousandth of a second that breaks a tie.
		{1<<53 + 1, 1, 1, 0x1p53, math.MaxInt64, 1<<53 + 1, 0, 1},
		{1<<53 + 3, 1, 1, 0x1p53 + 4, math.MaxInt64, 1<<53 + 3, 0, 1},
		{(1<<53+1)*1000 + 1, 1000, 1, 0x1p53 + 2, math.MaxInt64, 1<<53 + 1, 1, 1000},
		{1<<63 + 1<<10 + 1, 1024, 1, 0x1p53 + 2, math.MaxInt64, 1<<53 + 1, 1, 1024},
		{(1<<65 + 1<<12 + 3) / 3, 1, 3, 0x1p65 + 0x1p13, math.MaxInt64, math.MaxUint64, 0, 1},
		{math.MaxUint64, 1, 1, 0x1p64, math.MaxInt64, math.MaxUint64, 0, 1},
		{math.MaxUint64, 1, 3, 3 * 0x1p64, math.MaxInt64, math.MaxUint64, 0, 1},
	} {
		st := mustTime(t, tc.tick, tc.num, tc.den)
		whole, top, bot := st.Fraction()
		if st.Ticks() != tc.tick || st.Seconds() != tc.seconds || st.Ns() != tc.ns ||
			st.Duration() != time.Duration(tc.ns) || whole != tc.whole || top != tc.top || bot != tc.bot {
			t.Errorf("tick %d at %d/%d: %v s, %d ns, %d+%d/%d; want %+v",
				tc.tick, tc.num, tc.den, st.Seconds(), st.Ns(), whole, top, bot, tc)
		}
	}
}

func TestSimTimeZeroValue(t *testing.T) {
	var zero loop.SimTime
	if num, den := zero.Rate(); num != 60 || den != 1 || zero.Seconds() != 0 || zero.Ns() != 0 {
		t.Errorf("%+v: %d/%d, %v s", zero, num, den, zero.Seconds())
	}
	if zero.Compare(mustTime(t, 0, 1, 1e8)) != 0 || zero.Add(3).Compare(mustTime(t, 3, 60, 1)) != 0 {
		t.Error("the zero value differs from tick 0, or ticks from there are not of 60 Hz")
	}
}

func TestSimTimeNamesFaults(t *testing.T) {
	_, err := loop.NewSimTime(0, -1, 0)
	if !errors.Is(err, loop.ErrRange) || err.Error() != "loop: Config.RateNum = -1: out of range" {
		t.Errorf("err = %v", err)
	}
}

func TestSimTimeOfLoop(t *testing.T) {
	l := mustNew(t, loop.Config{RateNum: 120000, RateDen: 2002})
	if got, want := l.TimeAt(7), mustTime(t, 7, 60000, 1001); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := l.TimeAt(7).Add(5); got != l.TimeAt(12) {
		t.Errorf("%+v", got)
	}
	if got := l.TimeAt(math.MaxUint64).Add(2); got != l.TimeAt(1) {
		t.Errorf("%+v", got)
	}
}

func drawTime(t *rapid.T) (loop.SimTime, *big.Rat) {
	tick := rapid.OneOf(rapid.Uint64Range(0, 1e6), rapid.Uint64()).Draw(t, "tick")
	part := rapid.OneOf(rapid.Int64Range(1, 240), rapid.Int64Range(1, 1e6))
	den := rapid.OneOf(rapid.SampledFrom([]int64{1, 1001, 1e8}), rapid.Int64Range(1, 1e8)).Draw(t, "den")
	num := part.Draw(t, "num")
	st, err := loop.NewSimTime(tick, num, den)
	if err != nil {
		t.Fatal(err)
	}
	exact := new(big.Rat).SetFrac(new(big.Int).Mul(new(big.Int).SetUint64(tick), big.NewInt(den)), big.NewInt(num))
	return st, exact
}

func TestSimTimeAgainstRationals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		st, exact := drawTime(t)
		if want, _ := exact.Float64(); st.Seconds() != want {
			t.Fatalf("Seconds = %v, want %v", st.Seconds(), want)
		}
		ns := new(big.Rat).Mul(exact, big.NewRat(1e9, 1))
		floor := new(big.Int).Quo(ns.Num(), ns.Denom())
		if !floor.IsInt64() {
			floor.SetInt64(math.MaxInt64)
		}
		if st.Ns() != floor.Int64() {
			t.Fatalf("Ns = %d, want %d", st.Ns(), floor)
		}
		whole, num, den := st.Fraction()
		if seconds := new(big.Int).Quo(exact.Num(), exact.Denom()); !seconds.IsUint64() {
			if whole != math.MaxUint64 || num != 0 || den != 1 {
				t.Fatalf("Fraction = %d + %d/%d, want the greatest", whole, num, den)
			}
			return
		}
		sum := new(big.Rat).SetFrac(new(big.Int).SetUint64(num), new(big.Int).SetUint64(den))
		lowest := sum.Denom().Uint64() == den
		sum.Add(sum, new(big.Rat).SetInt(new(big.Int).SetUint64(whole)))
		if sum.Cmp(exact) != 0 || num >= den || !lowest {
			t.Fatalf("Fraction = %d + %d/%d, want %v", whole, num, den, exact)
		}
	})
}

func TestSimTimeCompare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, exactA := drawTime(t)
		b, exactB := drawTime(t)
		if got, want := a.Compare(b), exactA.Cmp(exactB); got != want || b.Compare(a) != -want {
			t.Fatalf("%v and %v: %d, want %d", exactA, exactB, got, want)
		}
		if a.Compare(b) < 0 && a.Seconds() > b.Seconds() {
			t.Fatalf("%v < %v, but not in seconds", exactA, exactB)
		}
	})
	// Equal across rates, and apart by less than a float64 resolves.
	n := uint64(1) << 60
	if mustTime(t, n, 30, 1).Compare(mustTime(t, 2*n, 60, 1)) != 0 || mustTime(t, 2*n, 60, 1).Compare(mustTime(t, n+1, 30, 1)) != -1 {
		t.Error("30 and 60 Hz compare wrong")
	}
}

func TestSimTimeDoesNotAllocate(t *testing.T) {
	st, sum := mustTime(t, 1e15, 60000, 1001), 0.0
	if n := testing.AllocsPerRun(100, func() {
		st = st.Add(1)
		_, num, _ := st.Fraction()
		sum += st.Seconds() + float64(st.Ns()) + float64(num)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
