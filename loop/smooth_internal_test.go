package loop

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// display makes the elapsed times of n frames of a display of hz whose moments
// scatter by up to scatter nanoseconds. A frame for which missed answers true
// lasts two periods.
func display(hz float64, n int, scatter int64, seed uint64, missed func(i int) bool) []int64 {
	r := rand.New(rand.NewPCG(seed, 2))
	list := make([]int64, n)
	var moment float64
	var last int64
	for i := range list {
		moment += 1e9 / hz
		if missed != nil && missed(i) {
			moment += 1e9 / hz
		}
		now := int64(moment)
		if scatter > 0 {
			now += r.Int64N(2*scatter+1) - scatter
		}
		list[i] = now - last
		last = now
	}
	return list
}

// smoothAll feeds raw to s and checks the exact law and its bound after each
// frame.
func smoothAll(t interface {
	Helper()
	Fatalf(string, ...any)
}, s *smoother, raw []int64) []int64 {
	t.Helper()
	list := make([]int64, len(raw))
	owed, before := s.owed, max(s.owed, -s.owed)
	longest := s.period
	for i, ns := range raw {
		list[i] = s.next(ns)
		owed += ns - list[i]
		longest = max(longest, s.period)
		if owed != s.owed {
			t.Fatalf("frame %d: %d ns given and not returned, but %d owed", i, owed, s.owed)
		}
		if list[i] < 0 || !within(owed, max(longest/4, before)) {
			t.Fatalf("frame %d of %d ns counts %d, %d owed, period %d", i, ns, list[i], owed, longest)
		}
	}
	return list
}

// deviation returns the standard deviation of list in microseconds.
func deviation(list []int64) float64 {
	var sum, squares float64
	for _, ns := range list {
		sum += float64(ns)
	}
	mean := sum / float64(len(list))
	for _, ns := range list {
		squares += (float64(ns) - mean) * (float64(ns) - mean)
	}
	return math.Sqrt(squares/float64(len(list))) / 1e3
}

func TestSmoothKnownRates(t *testing.T) {
	for _, tc := range []struct {
		hz       float64
		num, den int64
		scatter  int64
	}{
		{60_000.0 / 1001, 60_000, 1001, 100_000},
		{59.95, 60_000, 1001, 100_000},
		{60, 60, 1, 100_000},
		{60.01, 60, 1, 100_000},
		{60, 60, 1, 1_000_000},
		{72, 72, 1, 100_000},
		{75, 75, 1, 100_000},
		{90, 90, 1, 100_000},
		{100, 100, 1, 100_000},
		{120, 120, 1, 100_000},
		{143.98, 144, 1, 100_000},
		{165, 165, 1, 100_000},
		{240, 240, 1, 100_000},
		{50, nsPerSecond, 20_000_000, 0},
		{85, nsPerSecond, 11_764_706, 0},
	} {
		s := new(smoother)
		raw := display(tc.hz, 3_000, tc.scatter, 1, nil)
		counted := smoothAll(t, s, raw)
		if s.num != tc.num || s.den != tc.den {
			t.Errorf("%v Hz: detected %d/%d, want %d/%d", tc.hz, s.num, s.den, tc.num, tc.den)
		}
		was, is := deviation(raw[1000:]), deviation(counted[1000:])
		t.Logf("%6.2f Hz ± %4d µs: elapsed times deviate by %7.2f µs, smoothed by %6.3f µs", tc.hz, tc.scatter/1000, was, is)
		if tc.scatter > 0 && is > was/20 {
			t.Errorf("%v Hz: smoothed times deviate by %.2f µs of %.2f", tc.hz, is, was)
		}
	}
}

// A missed frame counts as two periods, and the others as one.
func TestSmoothMissedFrames(t *testing.T) {
	s := new(smoother)
	missed := func(i int) bool { return i%9 == 4 }
	raw := display(60, 2_000, 200_000, 3, missed)
	counted := smoothAll(t, s, raw)
	const period, most = 16_666_667, 20_000
	var was, is []int64 // what both are off
	for i, ns := range counted[200:] {
		want := int64(period)
		if missed(i + 200) {
			want *= 2
		}
		if !within(ns-want, most) {
			t.Fatalf("frame %d of %d ns counts %d, want %d", i+200, raw[i+200], ns, want)
		}
		was, is = append(was, raw[i+200]-want), append(is, ns-want)
	}
	t.Logf("every ninth frame missed: elapsed times off by %.2f µs, smoothed by %.3f µs", deviation(was), deviation(is))
}

// When the rate changes, times are passed on as they are until the new one has
// been seen long enough, and what was owed is returned.
func TestSmoothChangeOfRate(t *testing.T) {
	for _, tc := range []struct {
		from, to float64
		num, den int64
		within   int // frames of the new rate
	}{
		{60, 144, 144, 1, 100},
		{144, 60, 60, 1, 100},
		{60, 120, 120, 1, 100},
		{120, 60, 60, 1, 100}, // every frame is of two periods of before
		{60, 59.94, 60_000, 1001, 2 * smoothRefine},
		{60, 72, 72, 1, 120},
		{60, 62, nsPerSecond, 16_129_032, 200},
	} {
		s := new(smoother)
		smoothAll(t, s, display(tc.from, 500, 50_000, 1, nil))
		if s.period == 0 {
			t.Fatalf("%v Hz not detected", tc.from)
		}
		raw := display(tc.to, tc.within, 50_000, 2, nil)
		smoothAll(t, s, raw[:smoothMisses])
		if tc.to == 144 && s.period != 0 {
			t.Errorf("%v to %v Hz: after %d frames still a period of %d ns", tc.from, tc.to, smoothMisses, s.period)
		}
		smoothAll(t, s, raw[smoothMisses:])
		if tc.den < 10_000 && (s.num != tc.num || s.den != tc.den) || !within(s.period-nsPerSecond*tc.den/tc.num, 3_000) {
			t.Errorf("%v to %v Hz: %d/%d Hz after %d frames, want %d/%d", tc.from, tc.to, s.num, s.den, tc.within, tc.num, tc.den)
		}
		raw = display(tc.to, 2_000, 50_000, 4, nil)
		counted := smoothAll(t, s, raw)
		was, is := deviation(raw[1000:]), deviation(counted[1000:])
		t.Logf("%v to %v Hz: %.2f µs, smoothed %.2f µs", tc.from, tc.to, was, is)
		if is > was/20 {
			t.Errorf("%v to %v Hz: smoothed times deviate by %.2f µs of %.2f", tc.from, tc.to, is, was)
		}
	}
}

// A display that shows frames when they are ready has no period: times are
// passed on as they are.
func TestSmoothVariableRate(t *testing.T) {
	for _, tc := range []struct {
		name  string
		frame func(r *rand.Rand, i int) float64 // milliseconds
	}{
		{"random", func(r *rand.Rand, _ int) float64 { return 8 + 12*r.Float64() }},
		{"wander", func(_ *rand.Rand, i int) float64 { return 17 + 4*math.Sin(float64(i)/40) }},
		{"cycle", func(r *rand.Rand, i int) float64 { return []float64{9, 14, 14, 20, 9}[i%5] + r.Float64() }},
		{"load", func(r *rand.Rand, i int) float64 { return 11 + 6*float64(i/97%3) + 3*r.Float64() }},
		{"noise", func(r *rand.Rand, _ int) float64 { return 15 + 3*r.Float64() }},
	} {
		for seed := range uint64(5) {
			r := rand.New(rand.NewPCG(seed, 5))
			s := new(smoother)
			for i := range 20_000 {
				raw := int64(tc.frame(r, i) * 1e6)
				if got := s.next(raw); got != raw || s.period != 0 {
					t.Errorf("%s, seed %d: frame %d of %d ns counts %d; period %d", tc.name, seed, i, raw, got, s.period)
					break
				}
			}
		}
	}
	// One that becomes variable loses its period.
	s := new(smoother)
	smoothAll(t, s, display(60, 500, 50_000, 1, nil))
	r := rand.New(rand.NewPCG(5, 5))
	list := make([]int64, 500)
	for i := range list {
		list[i] = 15e6 + r.Int64N(3e6) // most of which look like frames of 60 Hz
	}
	smoothAll(t, s, list)
	if s.period != 0 {
		t.Errorf("a display that became variable still has a period of %d ns", s.period)
	}
}

// Stalls, hitches, frames of no time and long breaks are passed on, neither
// lost nor spread, and the period outlives them.
func TestSmoothStalls(t *testing.T) {
	s := new(smoother)
	smoothAll(t, s, display(60, 200, 50_000, 1, nil))
	for _, odd := range []int64{1e9, 0, 150e6, math.MaxInt64, 500, 24_000_000, 9_333_334} {
		raw := append([]int64{odd}, display(60, 20, 50_000, 6, nil)...)
		counted := smoothAll(t, s, raw)
		if was, is := deviation(raw[1:]), deviation(counted[1:]); is > was/10 {
			t.Errorf("after a frame of %d ns: smoothed times deviate by %.2f µs of %.2f", odd, is, was)
		}
		if !within(counted[0]-odd, 100_000) || odd > 100_000_000 && counted[0] != odd {
			t.Errorf("a frame of %d ns counts %d", odd, counted[0])
		}
		if s.num != 60 || s.den != 1 {
			t.Fatalf("after a frame of %d ns: %d/%d Hz", odd, s.num, s.den)
		}
	}
}

// A frame that comes late and the next, which is the shorter for it, both count
// as one period; and what is owed is returned in the end.
func TestSmoothReturnsWhatItOwes(t *testing.T) {
	s := new(smoother)
	const period = 16_666_667
	smoothAll(t, s, display(60, 200, 0, 1, nil))
	if got := smoothAll(t, s, []int64{period + 4_000_000, period - 4_000_000}); !within(got[0]-period, 100_000) || !within(got[1]-period, 100_000) {
		t.Errorf("a late frame and its successor count %d", got)
	}
	smoothAll(t, s, []int64{period + 4_000_000})
	if s.owed < 3_800_000 {
		t.Fatalf("%d ns owed, so this test shows nothing", s.owed)
	}
	counted := smoothAll(t, s, display(60, 1_000, 0, 1, nil))
	if !within(s.owed, 1) {
		t.Errorf("%d ns still owed after 1,000 frames", s.owed)
	}
	for i, ns := range counted {
		if !within(ns-period, 4_000_000/smoothBack+1) {
			t.Errorf("frame %d counts %d: more than a 64th of what is owed", i, ns)
		}
	}
}

// The law and the bound hold for any times.
func TestSmoothLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := new(smoother)
		for range rapid.IntRange(1, 5).Draw(t, "parts") {
			hz := rapid.Float64Range(9, 1100).Draw(t, "hz")
			scatter := rapid.Int64Range(0, 300_000).Draw(t, "scatter")
			smoothAll(t, s, display(hz, rapid.IntRange(1, 300).Draw(t, "frames"), scatter, rapid.Uint64().Draw(t, "seed"), nil))
			for _, ns := range rapid.SliceOfN(rapid.Int64Range(0, 200_000_000), 0, 20).Draw(t, "odd") {
				smoothAll(t, s, []int64{ns})
			}
		}
	})
}

// The sorted copy of the window holds what the window holds.
func TestSmoothWindow(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	s := new(smoother)
	for i := range 1_000 {
		s.insert(int32(1_000_000 + r.IntN(40)))
		want := slices.Sorted(slices.Values(s.window[:s.filled]))
		if !slices.Equal(s.sorted[:s.filled], want) || int(s.filled) != min(i+1, smoothFrames) {
			t.Fatalf("after %d: sorted %v, window %v", i+1, s.sorted, s.window)
		}
	}
}

func BenchmarkSmooth(b *testing.B) {
	s := new(smoother)
	raw := display(60, 1<<10, 100_000, 1, nil)
	b.ReportAllocs()
	for i := range b.N {
		s.next(raw[i%len(raw)])
	}
}
