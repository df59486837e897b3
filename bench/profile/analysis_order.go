package profile

import (
	"cmp"
	"math"
	"slices"
)

// confidence is that of every interval of a report.
const confidence = 0.95

// Quantile is a quantile of the measured steps, in nanoseconds by the nearest rank. Its interval
// contains the quantile of the machine with 95 % confidence.
//
// The limits are order statistics. The number of n independent steps that do not exceed the true
// quantile has a binomial distribution, however the steps are distributed, so the steps ranked Low and
// High enclose it with the probability of the ranks between (David and Nagaraja, Order Statistics,
// 3rd ed., section 7.1). The distribution is summed, never approximated by a normal one, and each
// tail is at most 2.5 %.
//
// Steps are not independent: a crowd stays for seconds. So the ranks are as of n/τ independent
// steps. τ is the integrated autocorrelation time of the indicator whether a step exceeds the
// quantile, by Geyer's initial positive sequence (Practical Markov Chain Monte Carlo, Statistical
// Science 7, 1992). τ is at least 1: steps that alternate never narrow an interval.
type Quantile struct {
	Ns   int64 `json:"ns"`
	Low  int64 `json:"low"`
	High int64 `json:"high"`
	// Open reports that there are too few steps for one of the limits. That limit is then the
	// shortest or the longest step.
	Open bool `json:"open,omitempty"`
}

// Quantiles are those of a set of durations, in nanoseconds.
type Quantiles struct {
	P50 Quantile `json:"p50"`
	P95 Quantile `json:"p95"`
	P99 Quantile `json:"p99"`
	Max int64    `json:"max"`
	// Worth is the number of independent steps that give p95 the same interval.
	Worth float64 `json:"worth"`
}

// nearestRank returns the quantile q of ascending values: the smallest of them that at least q of
// all do not exceed.
func nearestRank[T cmp.Ordered](sorted []T, q float64) T {
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}

// sortedCopy returns the values in ascending order.
func sortedCopy[T cmp.Ordered](values []T) []T {
	return slices.Sorted(slices.Values(values))
}

// quantilesOf takes durations in the order in which they were measured.
func quantilesOf(ns []int64) Quantiles {
	if len(ns) == 0 {
		return Quantiles{}
	}
	sorted := sortedCopy(ns)
	var q Quantiles
	q.P50, _ = quantileOf(ns, sorted, 0.50)
	q.P95, q.Worth = quantileOf(ns, sorted, 0.95)
	q.P99, _ = quantileOf(ns, sorted, 0.99)
	q.Max = sorted[len(sorted)-1]
	return q
}

// quantileOf also returns the number of independent values: see Quantiles.Worth.
func quantileOf(ns, sorted []int64, q float64) (quantile Quantile, worth float64) {
	n := len(sorted)
	at := nearestRank(sorted, q)
	worth = float64(n) / correlationTime(ns, at)
	independent := max(1, int(worth))
	low, high := rankLimits(independent, q)
	quantile = Quantile{Ns: at, Low: sorted[0], High: sorted[n-1], Open: low == 0 || high > independent}
	if low > 0 {
		quantile.Low = min(at, sorted[max(1, low*n/independent)-1])
	}
	if high <= independent {
		quantile.High = max(at, sorted[(high*n+independent-1)/independent-1])
	}
	return quantile, worth
}

// rankLimits returns the ranks, from 1, between which the quantile q of n independent values lies.
// Low is 0, high is n+1, if there are too few values.
func rankLimits(n int, q float64) (low, high int) {
	first, chances := binomial(n, q)
	const tail = (1 - confidence) / 2
	below := 0.0 // the probability that fewer than low values do not exceed it
	low = first
	for i := 0; i < len(chances) && below+chances[i] <= tail; i++ {
		below += chances[i]
		low = first + i + 1
	}
	above := 0.0 // that at least high values do not
	high = first + len(chances)
	for i := len(chances) - 1; i >= 0 && above+chances[i] <= tail; i-- {
		above += chances[i]
		high = first + i
	}
	return low, high
}

// binomial returns the probabilities of first, first+1 … successes in n trials. The probabilities
// left out at both ends add up to less than 1e-20.
func binomial(n int, q float64) (first int, chances []float64) {
	sigma := math.Sqrt(float64(n) * q * (1 - q))
	mode := min(n, int(float64(n+1)*q))
	first = max(0, mode-int(10*sigma)-20)
	last := min(n, mode+int(10*sigma)+20)
	chances = make([]float64, last-first+1)
	odds := q / (1 - q)
	chances[mode-first] = 1
	for k := mode; k < last; k++ {
		chances[k+1-first] = chances[k-first] * odds * float64(n-k) / float64(k+1)
	}
	for k := mode; k > first; k-- {
		chances[k-1-first] = chances[k-first] / odds * float64(k) / float64(n-k+1)
	}
	total := 0.0
	for _, c := range chances {
		total += c
	}
	for i := range chances {
		chances[i] /= total
	}
	return first, chances
}

// longestLag bounds the work on long runs: a correlation over more steps counts as a change of the
// scene.
const longestLag = 1_000

// correlationTime returns how many steps give as much information as one independent step about the
// share that exceeds a limit: 1 + 2 Σ ρ, summed over pairs of lags until a pair is not positive.
func correlationTime(ns []int64, limit int64) float64 {
	exceeds := make([]float64, len(ns))
	mean := 0.0
	for i, v := range ns {
		if v > limit {
			exceeds[i] = 1
			mean++
		}
	}
	mean /= float64(len(ns))
	variance := float64(mean * (1 - mean))
	if variance == 0 {
		return 1
	}
	for i := range exceeds {
		exceeds[i] -= mean
	}
	rho := func(lag int) float64 {
		sum := 0.0
		for i, v := range exceeds[lag:] {
			sum += float64(v * exceeds[i])
		}
		return sum / float64(len(exceeds)) / variance
	}
	time := -1.0
	for lag := 0; lag+1 < min(len(ns)/2, longestLag); lag += 2 {
		pair := rho(lag) + rho(lag+1)
		if pair <= 0 {
			break
		}
		time += 2 * pair
	}
	return max(1, time)
}
