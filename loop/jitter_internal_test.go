package loop

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// beats drives a jitter by a bare accumulator of steps, without clamps or
// policies, at 60 steps a second.
type beats struct {
	fix        jitter
	slack      uint64
	frac       uint64
	ran, total uint64 // steps run, whole steps due
}

const beatUnit = nsPerSecond // units a step at a whole number of steps a second

func (d *beats) frame(ns int64) int {
	sum := d.frac + uint64(ns)*60
	b := frameTiming{before: d.frac, after: sum % beatUnit, unit: beatUnit, due: sum / beatUnit, most: 8, slack: d.slack}
	b.pending = b.due
	d.frac = b.after
	ran := d.fix.adjust(b)
	d.ran += ran
	d.total += b.due
	return int(ran)
}

func newBeats(thousandths uint64) *beats {
	return &beats{slack: beatUnit / 1000 * thousandths}
}

// counts returns the steps of each of n frames. Their moments are those of a
// display of hz, each off by up to scatter nanoseconds, and the display began
// phase nanoseconds before the loop.
func counts(t *testing.T, thousandths uint64, n int, hz float64, scatter, phase int64, seed uint64) []int {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	d := newBeats(thousandths)
	list := make([]int, n)
	var last int64
	for i := range list {
		now := int64(float64(i+1)*1e9/hz) + phase
		if scatter > 0 {
			now += r.Int64N(2*scatter+1) - scatter
		}
		now = max(now, last)
		list[i] = d.frame(now - last)
		last = now
		if d.ran != d.total+uint64(int64(d.fix.lead)) {
			t.Fatalf("seed %d, frame %d: %d steps run of %d due with lead %d", seed, i, d.ran, d.total, d.fix.lead)
		}
		if err := d.bounded(); err != nil {
			t.Fatalf("seed %d, frame %d: %v", seed, i, err)
		}
	}
	return list
}

// bounded checks that the accumulator, lead taken in, is in [-slack, 1+slack).
func (d *beats) bounded() error {
	left := int64(d.frac) - int64(d.fix.lead)*beatUnit
	if left < -int64(d.slack) || left >= int64(beatUnit+d.slack) {
		return fmt.Errorf("%d units of %d left over, slack %d", left, uint64(beatUnit), d.slack)
	}
	if a, _ := d.fix.alpha(d.frac, 0, beatUnit); a >= beatUnit {
		return fmt.Errorf("alpha %d", a)
	}
	return nil
}

func share(list []int, steps int) float64 {
	n := 0
	for _, c := range list {
		if c == steps {
			n++
		}
	}
	return float64(n) / float64(len(list))
}

// spread returns by how many steps two windows of n frames of list differ at
// most.
func spread(list []int, n int) int {
	sum := 0
	for _, c := range list[:n] {
		sum += c
	}
	lo, hi := sum, sum
	for i := n; i < len(list); i++ {
		sum += list[i] - list[i-n]
		lo, hi = min(lo, sum), max(hi, sum)
	}
	return hi - lo
}

// With 100,000 frames of a display that keeps time with the steps, whose moments
// scatter by 50 microseconds, half of the frames would run 0 or 2 steps.
func TestJitterFixEvensFrames(t *testing.T) {
	const frames, scatter = 100_000, 50_000
	for seed := range uint64(3) {
		plain := counts(t, 0, frames, 60, scatter, 0, seed)
		for _, steps := range []int{0, 2} {
			if p := share(plain, steps); p < 0.20 || p > 0.30 {
				t.Errorf("seed %d, no fix: %.3f of the frames run %d steps, want about a quarter", seed, p, steps)
			}
		}
		for _, thousandths := range []uint64{7, 50, 500} {
			fixed := counts(t, thousandths, frames, 60, scatter, 0, seed)
			if p := share(fixed[jitterFrames:], 1); p != 1 {
				t.Errorf("seed %d, fix %d: %.5f of the frames run 1 step", seed, thousandths, p)
			}
		}
	}
}

// A display that is a little too fast or too slow makes a step fall out or in,
// as often as its drift takes it past a step, and not once more.
func TestJitterFixFollowsDrift(t *testing.T) {
	const frames, scatter = 100_000, 50_000
	for _, tc := range []struct {
		hz     float64
		passes int // of the phase: the difference of both rates in that time
		odd    int
	}{
		{60.01, 16, 0},
		{59.99, 16, 2},
		{59.94, 100, 2},
		{60.1, 166, 0},
	} {
		for seed := range uint64(3) {
			// A phase of half a step: the first frames are all alike.
			list := counts(t, 50, frames, tc.hz, scatter, nsPerSecond/120, seed)
			odd := 0
			for i, c := range list {
				switch {
				case c == tc.odd:
					odd++
				case c != 1:
					t.Fatalf("%v Hz, seed %d: frame %d runs %d steps", tc.hz, seed, i, c)
				}
			}
			if odd != tc.passes && odd != tc.passes+1 {
				t.Errorf("%v Hz, seed %d: %d frames of %d steps, want %d or one more", tc.hz, seed, odd, tc.odd, tc.passes)
			}
			plain := counts(t, 0, frames, tc.hz, scatter, nsPerSecond/120, seed)
			if n := int(share(plain, tc.odd) * frames); n <= tc.passes+10 {
				t.Errorf("%v Hz, seed %d: no fix: only %d such frames, so this test shows nothing", tc.hz, seed, n)
			}
		}
	}
}

// Whatever the ratio of frames to steps, in windows of up to a second the steps
// are spread as evenly as without the fix, or better.
func TestJitterFixIsNeverLessEven(t *testing.T) {
	better := 0
	for _, hz := range []float64{20, 24, 25, 29.97, 30, 48, 50, 55, 59, 59.5, 59.94, 60, 60.06, 60.5, 61, 62, 72, 75, 90, 100, 120, 144, 165, 240} {
		for _, scatter := range []int64{0, 50_000, 500_000, 1_000_000} {
			for _, thousandths := range []uint64{10, 100, 500} {
				plain := counts(t, 0, 5_000, hz, scatter, 0, 7)[2*jitterFrames:]
				fixed := counts(t, thousandths, 5_000, hz, scatter, 0, 7)[2*jitterFrames:]
				for n := 1; n <= 60; n++ {
					was, is := spread(plain, n), spread(fixed, n)
					if is > was {
						t.Errorf("%v Hz, scatter %d ns, fix %d: windows of %d frames differ by %d steps, without the fix by %d", hz, scatter, thousandths, n, is, was)
					}
					if is < was {
						better++
					}
				}
			}
		}
	}
	if better == 0 {
		t.Error("the fix makes no difference")
	}
}

// A missed frame is not jitter: its steps run in it, and the ones after it are
// the usual ones.
func TestJitterFixMissedFrame(t *testing.T) {
	const period = nsPerSecond/60 + 1
	for _, missed := range []int{2, 3} {
		d := newBeats(500)
		d.frame(2e6) // within the slack of the moment of a step
		for range 40 {
			d.frame(period)
		}
		if got := d.frame(int64(missed) * period); got != missed {
			t.Errorf("a frame of %d periods runs %d steps", missed, got)
		}
		for i := range 40 {
			if got := d.frame(period); got != 1 {
				t.Errorf("frame %d after one of %d periods runs %d steps", i, missed, got)
			}
		}
	}
}

// Frames are steady if they ran equally many steps but for one, in as much time.
func TestJitterFixUsual(t *testing.T) {
	for more, want := range []bool{true, true, false} {
		var j jitter
		for i := range jitterFrames {
			ran := uint64(1)
			if i < more {
				ran++
			}
			j.observe(frameTiming{due: 1, most: 8, unit: beatUnit}, ran)
		}
		if steps, ok := j.usual(frameTiming{due: 1, most: 8, unit: beatUnit}); ok != want || ok && steps != 1 {
			t.Errorf("%d frames of 2 steps: usual %d, %v", more, steps, ok)
		}
	}
}

// The law holds, and the accumulator keeps its bounds, for any frames.
func TestJitterFixLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newBeats(rapid.Uint64Range(0, 500).Draw(t, "fix"))
		period := rapid.OneOf(rapid.Just(int64(nsPerSecond/60)), rapid.Int64Range(1e6, 40e6)).Draw(t, "period")
		scatter := rapid.Int64Range(0, 3e6).Draw(t, "scatter")
		for _, off := range rapid.SliceOfN(rapid.Int64Range(-scatter, scatter), 40, 200).Draw(t, "off") {
			ns := max(0, period+off)
			if off == scatter {
				ns = rapid.Int64Range(0, 2e8).Draw(t, "odd")
			}
			d.frame(ns)
			if d.ran != d.total+uint64(int64(d.fix.lead)) {
				t.Fatalf("%d steps run of %d due with lead %d", d.ran, d.total, d.fix.lead)
			}
			if err := d.bounded(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Without slack, and for a frame after a break, the plain answer stands.
func TestJitterFixOff(t *testing.T) {
	d := newBeats(0)
	for i, ns := range []int64{20e6, 13e6, 17e6, 16e6, 17e6, 16e6, 100e6} {
		before := d.total
		if got := d.frame(ns); uint64(got) != d.total-before {
			t.Errorf("frame %d runs %d steps of %d", i, got, d.total-before)
		}
	}
	d = newBeats(500)
	for range 100 {
		d.frame(nsPerSecond / 60)
	}
	d.fix.reset()
	if _, ok := d.fix.usual(frameTiming{unit: beatUnit, most: 8}); ok {
		t.Error("a forgotten history has a usual number of steps")
	}
}
