package loop_test

import (
	"errors"
	"math"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/evertick/evertick/loop"
)

func mustArrivals(t rapid.TB, c loop.ArrivalsConfig) *loop.Arrivals {
	t.Helper()
	a, err := loop.NewArrivals(c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestArrivalsConfigNamesEachFault(t *testing.T) {
	_, err := loop.NewArrivals(loop.ArrivalsConfig{Sources: -1, WindowNs: -2, InTime: 1.5})
	want := "loop: ArrivalsConfig.Sources = -1: out of range\nloop: ArrivalsConfig.WindowNs = -2: out of range\nloop: ArrivalsConfig.InTime = 1.5: out of range"
	if !errors.Is(err, loop.ErrRange) || err.Error() != want {
		t.Errorf("%v", err)
	}
	_, err = loop.NewArrivals(loop.ArrivalsConfig{Sources: 1<<20 + 1, InTime: math.NaN()})
	if !errors.Is(err, loop.ErrRange) || !errors.Is(err, loop.ErrNotFinite) {
		t.Errorf("%v", err)
	}
}

// quantileOf is the definition: the least value that at least the part q do not exceed.
func quantileOf(sorted []int64, q float64) int64 {
	rank := max(1, int(math.Ceil(q*float64(len(sorted)))))
	return sorted[rank-1]
}

// roundedUp reports whether got is want rounded up by at most 1/32 or 66 µs.
func roundedUp(got, want int64) bool {
	return got >= want && got-want <= max(max(want, -want)/32, 1<<16)
}

func TestArrivalsAgainstSortedList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inTime := rapid.Float64Range(0.01, 1).Draw(t, "in time")
		a := mustArrivals(t, loop.ArrivalsConfig{WindowNs: math.MaxInt64, InTime: inTime})
		magnitude := rapid.IntRange(10, 34).Draw(t, "bits")
		value := rapid.Int64Range(-1<<magnitude, 1<<magnitude)
		const origin = 1 << 40
		var late, delays []int64
		for range rapid.IntRange(32, 300).Draw(t, "n") {
			l, d := value.Draw(t, "late"), value.Draw(t, "delay")
			a.Add(loop.Arrival{Source: 3, NowNs: origin, DueNs: uint64(origin - l), At: uint64(origin - d)})
			late, delays = append(late, l), append(delays, d)
		}
		slices.Sort(late)
		slices.Sort(delays)
		s, ok := a.Source(3)
		positive, _ := slices.BinarySearch(late, 1)
		if !ok || s.Count != len(late) || s.LeadCount != len(late) || s.Pushed != uint64(len(late)) || s.Late != uint64(len(late)-positive) {
			t.Fatalf("%+v of %d, %d late", s, len(late), len(late)-positive)
		}
		for q, got := range map[float64]int64{0.5: s.P50, 0.95: s.P95, 0.99: s.P99} { // order-free: independent cases
			if want := quantileOf(late, q); !roundedUp(got, want) {
				t.Fatalf("quantile %v: %d, want %d", q, got, want)
			}
		}
		if want := quantileOf(delays, inTime); want < 0 && s.LeadNs > 0 || want >= 0 && !roundedUp(s.LeadNs, want) {
			t.Fatalf("lead %d, want %d", s.LeadNs, want)
		}
	})
}

// What is beyond the buckets, or no certain time, is counted as far as it can be.
func TestArrivalsAtTheLimits(t *testing.T) {
	a := mustArrivals(t, loop.ArrivalsConfig{})
	a.Add(loop.Arrival{Source: 1, NowNs: math.MaxUint64, DueNs: 1, At: 1})
	a.Add(loop.Arrival{Source: 2, NowNs: 1, DueNs: math.MaxUint64, At: math.MaxUint64})
	a.Add(loop.Arrival{Source: 3, NowNs: 1})
	for i, want := range []loop.SourceStats{
		{Source: 1, LastNs: math.MaxUint64, Pushed: 1, Late: 1, Count: 1, P50: 1<<35 - 1, P95: 1<<35 - 1, P99: 1<<35 - 1, LeadNs: 1<<35 - 1, LeadCount: 1},
		{Source: 2, LastNs: 1, Pushed: 1, Count: 1, P50: -(63<<13)<<16 - 1, P95: -(63<<13)<<16 - 1, P99: -(63<<13)<<16 - 1, LeadCount: 1},
		{Source: 3, LastNs: 1, Pushed: 1},
	} {
		if got := a.AppendSources(nil)[i]; got != want {
			t.Errorf("%+v\nwant %+v", got, want)
		}
	}
	if _, ok := a.Source(4); ok {
		t.Error("a source that was never there")
	}
}

func TestArrivalsCountRefusals(t *testing.T) {
	a := mustArrivals(t, loop.ArrivalsConfig{})
	for i, err := range []error{loop.ErrFull, loop.ErrShare, loop.ErrShare, loop.ErrDuplicate, errors.New("other")} {
		a.Add(loop.Arrival{Source: 9, NowNs: uint64(i), DueNs: 1, At: 1, Err: err})
	}
	if s, ok := a.Source(9); !ok || s != (loop.SourceStats{Source: 9, LastNs: 4, Full: 3, Share: 2, Duplicate: 1}) {
		t.Errorf("%+v", s)
	}
}

// The source that was silent for the longest time makes room for another one.
func TestArrivalsForgetTheSilent(t *testing.T) {
	a := mustArrivals(t, loop.ArrivalsConfig{Sources: 3})
	for i, source := range []uint32{5, 6, 7, 5, 8, 6} { // 8 replaces 6, and 6 then 7
		a.Add(loop.Arrival{Source: source, NowNs: uint64(i)})
	}
	var got []uint32
	for _, s := range a.AppendSources(make([]loop.SourceStats, 1))[1:] {
		got = append(got, s.Source)
		if want := map[uint32]uint64{5: 2, 6: 1, 8: 1}[s.Source]; s.Pushed != want {
			t.Errorf("%+v, want %d", s, want)
		}
	}
	if !slices.Equal(got, []uint32{5, 6, 8}) {
		t.Errorf("sources %v", got)
	}
}

// addDelays adds n inputs of one delay, 10 ms apart, and returns the time after them.
func addDelays(a *loop.Arrivals, now uint64, n int, delay uint64) uint64 {
	for range n {
		now += 10 * ms
		a.Add(loop.Arrival{Source: 1, NowNs: now, DueNs: now, At: now - delay})
	}
	return now
}

func leadIs(t *testing.T, a *loop.Arrivals, what string, wantMs int64) {
	t.Helper()
	if s, _ := a.Source(1); !roundedUp(s.LeadNs, wantMs*ms) {
		t.Errorf("%s: lead %d ns, want %d ms", what, s.LeadNs, wantMs)
	}
}

// The lead rises after a few late inputs, falls within two windows, and survives silence.
func TestLeadInTime(t *testing.T) {
	a := mustArrivals(t, loop.ArrivalsConfig{WindowNs: 1000 * ms})
	leadIs(t, a, "never heard", 0)
	now := addDelays(a, 10_000*ms, 1, 30*ms)
	leadIs(t, a, "one input", 30)
	now = addDelays(a, now, 99, 20*ms)
	leadIs(t, a, "1 of 100 was late", 20)
	now = addDelays(a, now, 100, 20*ms)
	leadIs(t, a, "steady", 20)
	now = addDelays(a, now, 1, 400*ms)
	leadIs(t, a, "one outlier", 20)
	now = addDelays(a, now, 5, 400*ms)
	leadIs(t, a, "a spike", 400)
	now = addDelays(a, now, 80, 20*ms)
	leadIs(t, a, "within a window of the spike", 400)
	now = addDelays(a, now, 120, 20*ms)
	leadIs(t, a, "two windows after the spike", 20)
	now = addDelays(a, now, 1000, 50*ms)
	leadIs(t, a, "another delay", 50)
	now = addDelays(a, now+3_600_000*ms, 1, 10*ms)
	leadIs(t, a, "the first input after an hour", 50)
	now = addDelays(a, now, 30, 10*ms)
	leadIs(t, a, "31 inputs", 50)
	now = addDelays(a, now, 1, 10*ms)
	leadIs(t, a, "32 inputs", 10)
	now = addDelays(a, now, 300, 50*ms)
	for range 40 { // an input a second
		now = addDelays(a, now+1000*ms, 1, 10*ms)
	}
	leadIs(t, a, "few inputs for long", 10)
	// The axis begins anew.
	addDelays(a, 1000*ms, 1, 70*ms)
	leadIs(t, a, "anew", 70)
	addDelays(a, 1010*ms, 31, 60*ms)
	if s, _ := a.Source(1); s.Count != 32 {
		t.Errorf("%+v: older inputs count", s)
	}
}

// However sparse they are, inputs count for two windows at most.
func TestSparseArrivalsAreForgotten(t *testing.T) {
	a := mustArrivals(t, loop.ArrivalsConfig{WindowNs: 1000 * ms})
	const origin = 5000 * ms
	for _, c := range []struct {
		now   uint64
		count int
	}{{0, 1}, {1900, 2}, {2890, 2}, {2999, 3}, {3000, 3}, {4999, 2}, {7000, 1}} {
		a.Add(loop.Arrival{Source: 1, NowNs: origin + c.now*ms, At: 1})
		if s, _ := a.Source(1); s.LeadCount != c.count {
			t.Errorf("at %d ms: %d inputs count, want %d", c.now, s.LeadCount, c.count)
		}
	}
}

func TestArrivalsDoNotAllocate(t *testing.T) {
	a := mustArrivals(t, loop.ArrivalsConfig{Sources: 20, WindowNs: 1000})
	source, now := uint32(0), uint64(0)
	add := func() {
		for range 100 {
			source, now = source+1, now+7
			a.Add(loop.Arrival{Source: source % 33 * 1000, NowNs: now, DueNs: now, At: now})
		}
	}
	add()
	if n := testing.AllocsPerRun(100, add); n != 0 {
		t.Errorf("%v allocations", n)
	}
	list := a.AppendSources(nil)
	if n := testing.AllocsPerRun(10, func() { list = a.AppendSources(list[:0]) }); n != 0 || len(list) != 20 {
		t.Errorf("%v allocations for a list of %d", n, len(list))
	}
}

func TestArrivalsConcurrentUse(t *testing.T) {
	const each = 2000
	a := mustArrivals(t, loop.ArrivalsConfig{Sources: 4})
	var group sync.WaitGroup
	for source := range uint32(4) {
		group.Go(func() {
			for i := range uint64(each) {
				a.Add(loop.Arrival{Source: source, NowNs: i, DueNs: i + 1, At: i + 1})
			}
		})
	}
	for range 20 {
		for _, s := range a.AppendSources(nil) {
			if s.Count != int(s.Pushed) || s.Late != 0 {
				t.Errorf("%+v", s)
			}
		}
	}
	group.Wait()
	for _, s := range a.AppendSources(nil) {
		if s.Pushed != each || s.Count != each {
			t.Errorf("%+v", s)
		}
	}
}
