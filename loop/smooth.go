package loop

import "slices"

const (
	// smoothFrames is the number of elapsed times from which the period of a display
	// is measured: one second at 60 Hz, and long enough to distinguish 59.94 Hz from
	// 60 Hz if moments scatter by a quarter of a millisecond.
	smoothFrames = 64
	// smoothRefine is the number of periods after which the period is measured
	// anew over all of them.
	smoothRefine = 1024
	// smoothBack is how slowly the difference that smoothing made is returned: a
	// 64th of it each frame.
	smoothBack = 64
	// The window is checked every smoothEvery frames. A period that it shows
	// smoothSure times in a row is adopted: times that scatter at random look
	// periodic now and then, but not for long.
	smoothEvery = 4
	smoothSure  = 6
	// The period is discarded after smoothMisses frames in a row that fit no whole
	// number of periods. It is also discarded after smoothDoubts windows without a
	// period; windows with one are subtracted.
	smoothMisses = 8
	smoothDoubts = smoothFrames / smoothEvery

	// Elapsed times outside these bounds are not frames of a display.
	smoothShortest = 1_000_000
	smoothLongest  = 100_000_000
)

// nominal lists refresh rates, as fractions in hertz. A measured rate within 1/2048
// of one of them counts as that one. 60000/1001 and 60 are 1/1000 apart.
var nominal = [...][2]int64{
	{60_000, 1001}, {60, 1}, {72, 1}, {75, 1}, {90, 1}, {100, 1}, {120, 1}, {144, 1}, {165, 1}, {240, 1},
}

// smoother replaces the elapsed times of frames that a display paces by whole
// multiples of its period: a frame is shown for whole periods, at whatever moment the
// program has read its clock.
//
// It keeps the sum: owed is the sum of all times passed in less the sum of all
// returned, exactly, and is at most a quarter of the period either way.
type smoother struct {
	window     [smoothFrames]int32 // the last elapsed times, in a ring
	sorted     [smoothFrames]int32 // the same, ascending
	at, filled uint8

	sure, misses, doubts uint8

	period   int64 // ns, 0 while there is none
	num, den int64 // the rate for that period, in hertz
	owed     int64

	// What was measured since the period was last settled.
	spanNs, spanPeriods int64
}

// next returns the time to count for a frame of ns >= 0 nanoseconds.
func (s *smoother) next(ns int64) int64 {
	if ns > smoothLongest {
		return ns // a stall says nothing about the display
	}
	if ns >= smoothShortest {
		s.observe(int32(ns))
	}
	out := ns
	if n := s.periodsIn(ns); n > 0 {
		out = n * s.period
		s.refine(n, ns)
	}
	owed := s.owed + ns - out
	// At least one nanosecond, so that all is returned in the end. At most an eighth
	// of the frame, so that no frame looks different.
	back := owed / smoothBack
	if back == 0 {
		back = max(-1, min(owed, 1))
	}
	back = max(-out/8, min(back, out/8))
	s.owed = owed - back
	return out + back
}

// periodsIn returns how many periods a frame of ns takes, and 0 for a frame that
// stays as it is.
func (s *smoother) periodsIn(ns int64) int64 {
	if s.period == 0 {
		return 0
	}
	n := (ns + s.period/2) / s.period
	if n > 0 && within(s.owed+ns-n*s.period, s.period/4) {
		s.misses = 0
		return n
	}
	if s.misses++; s.misses >= smoothMisses {
		s.reset()
	}
	return 0
}

// reset gives up the period. What is owed is returned nevertheless.
func (s *smoother) reset() {
	s.period, s.num, s.den = 0, 0, 0
	s.at, s.filled, s.sure, s.misses, s.doubts = 0, 0, 0, 0, 0
}

// observe enters an elapsed time into the window, and adopts, keeps or discards the
// period.
func (s *smoother) observe(ns int32) {
	s.insert(ns)
	if s.filled < smoothFrames || s.at%smoothEvery != 0 {
		return
	}
	found := s.detect()
	switch {
	case found == 0:
		s.sure = 0
		if s.period == 0 {
			break
		}
		if s.doubts++; s.doubts >= smoothDoubts {
			s.reset()
		}
	case s.period != 0 && within(found-s.period, s.period/64):
		s.sure = 0
		s.doubts -= min(s.doubts, 1)
	default:
		if s.sure++; s.sure >= smoothSure {
			s.setPeriod(found)
			s.sure, s.doubts = 0, 0
		}
	}
}

// insert puts ns into the ring in place of the oldest.
func (s *smoother) insert(ns int32) {
	list := s.sorted[:s.filled]
	if s.filled == smoothFrames {
		i, _ := slices.BinarySearch(list, s.window[s.at])
		copy(list[i:], list[i+1:])
	} else {
		s.filled++
	}
	i, _ := slices.BinarySearch(s.sorted[:s.filled-1], ns)
	list = s.sorted[:s.filled]
	copy(list[i+1:], list[i:])
	list[i] = ns
	s.window[s.at] = ns
	s.at = (s.at + 1) % smoothFrames
}

// detect returns the period of the window, or 0 if it has none: the mean of the times
// between half of the median and one and a half. These must be three quarters of all,
// so that neither missed frames nor hitches count, and they must be steady.
func (s *smoother) detect() int64 {
	median := int64(s.sorted[smoothFrames/2])
	low, high := median/2, median+median/2
	var sum, count int64
	for _, ns := range s.sorted {
		if d := int64(ns); low <= d && d <= high {
			sum += d
			count++
		}
	}
	if count < smoothFrames*3/4 || !s.steady(sum, count, low, high) {
		return 0
	}
	return (sum + count/2) / count
}

// steady reports whether frames keep an even pace: whether their moments do, and not
// only their distances. The count frames take from low to high each, and sum in all.
// There are two conditions. Seven in eight moments are within an eighth of a period
// of that pace. And the moments deviate less than the distances do, by an eighth,
// unless they deviate by little (a 32nd of a period). The reason: a clock that is
// read a little early or late scatters the distances more than the moments, by a
// third, whereas frames of random lengths drift away from any pace.
//
// Everything is multiplied by count, so that it is exact. A moment is then below
// 64 × 64 × 1e8 and the sum of all below 2^45.
func (s *smoother) steady(sum, count, low, high int64) bool {
	var moments [smoothFrames]int64
	var moment, total, apart int64
	n := 0
	for i := range smoothFrames {
		d := int64(s.window[(int(s.at)+i)%smoothFrames])
		if d < low || d > high {
			continue
		}
		off := d*count - sum
		moment += off
		moments[n] = moment
		n++
		total += moment
		apart += max(off, -off)
	}
	centre := total / count
	var near, inside, off int64
	for _, m := range moments[:n] {
		m -= centre
		if within(m, sum/8) {
			inside++
		}
		if within(m, sum/32) {
			near++
		}
		off += max(m, -m)
	}
	return near*8 >= count*7 || inside*8 >= count*7 && off*8 <= apart*7
}

// refine adds a frame of ns that takes n periods. When there are enough of them it
// measures the period again.
func (s *smoother) refine(n, ns int64) {
	s.spanNs += ns
	s.spanPeriods += n
	if s.spanPeriods >= smoothRefine {
		s.setPeriod((s.spanNs + s.spanPeriods/2) / s.spanPeriods)
	}
}

// setPeriod makes a measured period, or that of the nominal rate next to it, the
// period to snap to.
func (s *smoother) setPeriod(period int64) {
	s.num, s.den = nsPerSecond, period
	for _, r := range nominal {
		// period ÷ nominal period = period × num ÷ (1e9 × den). All fit: period
		// <= 1e8, num <= 60,000, and so does 2048 times the difference.
		whole := nsPerSecond * r[1]
		if within((period*r[0]-whole)*2048, whole) {
			s.num, s.den = r[0], r[1]
		}
	}
	s.period = (nsPerSecond*s.den + s.num/2) / s.num
	s.spanNs, s.spanPeriods = 0, 0
}
