package profile

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"pgregory.net/rapid"
)

// binomialBelow returns the probabilities that fewer than 0, 1 … n+1 of n succeed, each with
// the probability percent, in exact fractions of 100^n.
func binomialBelow(n int, percent int64) []*big.Int {
	below := []*big.Int{new(big.Int)}
	for i := range n + 1 {
		term := new(big.Int).Binomial(int64(n), int64(i))
		term.Mul(term, new(big.Int).Exp(big.NewInt(percent), big.NewInt(int64(i)), nil))
		term.Mul(term, new(big.Int).Exp(big.NewInt(100-percent), big.NewInt(int64(n-i)), nil))
		below = append(below, term.Add(term, below[i]))
	}
	return below
}

// The ranks are the innermost whose tails are at most 2.5 %, by exact arithmetic.
func TestRankLimitsAreThoseOfTheBinomialDistribution(t *testing.T) {
	for _, percent := range []int64{50, 95, 99} {
		for n := 1; n <= 400; n += 1 + n/20 {
			below := binomialBelow(n, percent)
			isTail := func(chance *big.Int) bool { // 40 × chance ≤ 1
				return new(big.Int).Mul(chance, big.NewInt(40)).Cmp(below[n+1]) <= 0
			}
			low, high := 0, n+1
			for low < n && isTail(below[low+1]) {
				low++
			}
			for high > 1 && isTail(new(big.Int).Sub(below[n+1], below[high-1])) {
				high--
			}
			if l, h := rankLimits(n, float64(percent)/100); l != low || h != high {
				t.Errorf("n %d, quantile %d %%: ranks %d and %d, want %d and %d", n, percent, l, h, low, high)
			}
		}
	}
}

// Tables of the median's interval: ranks 2 and 9 of 10, 40 and 61 of 100.
func TestRankLimitsOfTables(t *testing.T) {
	for _, c := range []struct{ n, low, high int }{{10, 2, 9}, {20, 6, 15}, {100, 40, 61}} {
		if l, h := rankLimits(c.n, 0.5); l != c.low || h != c.high {
			t.Errorf("of %d: %d and %d, want %d and %d", c.n, l, h, c.low, c.high)
		}
	}
}

// The probabilities of a large number of steps add up to 1.
func TestBinomialOfManySteps(t *testing.T) {
	for _, n := range []int{1, 3_600, 1 << 20} {
		for _, q := range []float64{0.5, 0.95, 0.99} {
			first, chances := binomial(n, q)
			mean, variance := 0.0, 0.0
			for i, c := range chances {
				mean += float64(c * float64(first+i))
			}
			for i, c := range chances {
				d := float64(first+i) - mean
				variance += c * d * d
			}
			wantMean, want := float64(n)*q, float64(n)*q*(1-q)
			if math.Abs(mean-wantMean) > 1e-9*wantMean || math.Abs(variance-want) > 1e-6*want {
				t.Errorf("n %d, q %v: mean %v, variance %v; want %v, %v", n, q, mean, variance, wantMean, want)
			}
		}
	}
}

// skipStatistics leaves out what repeats a measurement hundreds of times to count how often
// it is wrong: its draws are fixed, so that it says the same each time.
func skipStatistics(t *testing.T) {
	if testing.Short() || paritytest.Instrumented {
		t.Skip("not run: many repetitions, in -short or under a sanitizer")
	}
}

// series draws values whose neighbours correlate with the coefficient phi; their
// distribution is the standard normal one, in units of 1e-6.
func series(r *rand.Rand, n int, phi float64) []int64 {
	v, ns := r.NormFloat64(), make([]int64, n)
	for i := range ns {
		v = float64(phi*v) + float64(math.Sqrt(1-phi*phi)*r.NormFloat64())
		ns[i] = int64(1e6 * v)
	}
	return ns
}

// An interval holds the true quantile about as often as it says, for steps that are
// independent and for steps that resemble their neighbours; and it would not if the
// resemblance were ignored.
func TestIntervalsHoldTheTrueQuantile(t *testing.T) {
	skipStatistics(t)
	truth := map[float64]int64{0.50: 0, 0.95: 1_644_854}
	const rounds = 200
	for _, c := range []struct{ phi, least float64 }{{0, 0.93}, {0.5, 0.92}, {0.9, 0.88}} {
		for q, want := range truth {
			r := rand.New(rand.NewPCG(17, uint64(100*c.phi)))
			held, heldNaive := 0, 0
			for range rounds {
				ns := series(r, 1_500, c.phi)
				sorted := sortedCopy(ns)
				if got, _ := quantileOf(ns, sorted, q); got.Low <= want && want <= got.High {
					held++
				}
				low, high := rankLimits(len(ns), q)
				if sorted[low-1] <= want && want <= sorted[high-1] {
					heldNaive++
				}
			}
			t.Logf("phi %v, quantile %v: held in %d of %d, %d without the correlation", c.phi, q, held, rounds, heldNaive)
			if float64(held) < c.least*rounds {
				t.Errorf("phi %v, quantile %v: held in %d of %d", c.phi, q, held, rounds)
			}
			if c.phi == 0.9 && heldNaive > 3*rounds/4 {
				t.Errorf("phi %v, quantile %v: held in %d of %d even without the correlation: the test has no teeth", c.phi, q, heldNaive, rounds)
			}
		}
	}
}

func TestQuantilesOfAnySteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ns := rapid.SliceOfN(rapid.Int64Range(0, 1<<53), 1, 300).Draw(t, "ns")
		was := slices.Clone(ns)
		q := quantilesOf(ns)
		if !slices.Equal(ns, was) {
			t.Fatal("the steps have changed")
		}
		least, most := slices.Min(ns), slices.Max(ns)
		for _, one := range []struct {
			Quantile
			q float64
		}{{q.P50, 0.50}, {q.P95, 0.95}, {q.P99, 0.99}} {
			if one.Low > one.Ns || one.Ns > one.High || one.Low < least || one.High > most {
				t.Fatalf("%+v of %d to %d", one, least, most)
			}
			below := 0
			for _, v := range ns {
				if v <= one.Ns {
					below++
				}
			}
			if !slices.Contains(ns, one.Ns) || float64(below) < one.q*float64(len(ns)) {
				t.Fatalf("%d of %d steps are not above %d", below, len(ns), one.Ns)
			}
		}
		if q.P50.Ns > q.P95.Ns || q.P95.Ns > q.P99.Ns || q.P99.Ns > q.Max || q.Max != most {
			t.Fatalf("%+v", q)
		}
		if q.Worth > float64(len(ns)) || q.Worth < 1 {
			t.Fatalf("%d steps are worth %v", len(ns), q.Worth)
		}
	})
}

// Fewer than 72 steps have no upper limit of p95: the limit is open.
func TestFewStepsLeaveALimitOpen(t *testing.T) {
	for n, open := range map[int]bool{71: true, 72: true, 73: false} {
		ns := make([]int64, n)
		for i := range ns {
			ns[i] = int64(i * 7919 % n) // no two alike, no run of high ones
		}
		if q := quantilesOf(ns); q.P95.Open != open {
			t.Errorf("%d steps: %+v", n, q.P95)
		}
	}
}

func TestRanksShareTies(t *testing.T) {
	if got := ranks([]int64{30, 10, 10, 20, 30, 30}); !slices.Equal(got, []float64{5, 1.5, 1.5, 3, 5, 5}) {
		t.Error(got)
	}
	if c := correlation(ranks([]int64{1, 2, 3, 4}), ranks([]int64{10, 100, 1_000, 9_999})); c != 1 {
		t.Error(c)
	}
	if c := correlation(ranks([]int64{1, 2, 3, 4}), ranks([]int64{5, 5, 5, 5})); c != 0 {
		t.Error(c)
	}
}
