package loop

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"sync"

	"github.com/evertick/evertick/internal/fault"
)

const (
	defaultSources  = 256
	maxSources      = 1 << 20
	defaultWindowNs = 5 * nsPerSecond
	defaultInTime   = 0.99

	// enoughArrivals is the number of inputs from which on the earlier lead does not matter. The
	// greatest of fewer delays says too little about the delay that one in a hundred exceeds.
	enoughArrivals = 32
)

// ArrivalsConfig describes Arrivals. The zero value works.
type ArrivalsConfig struct {
	// Sources is the most sources that are measured at once, 1 to 1<<20. 0: 256. A further source
	// replaces the one that has been silent for the longest time. Each takes 8 KiB, which are allocated
	// when they are first needed.
	Sources int
	// WindowNs is the length of a window, at least 1. 0: 5 s. An input counts for one to two windows,
	// and is then forgotten.
	WindowNs int64
	// InTime is the share of inputs that are to arrive in time, above 0, at most 1. 0: 0.99.
	InTime float64
}

// Validate returns an error that wraps ErrRange, or ErrNotFinite for a NaN, for each field out of
// its range.
func (c ArrivalsConfig) Validate() error {
	faults := []error{
		fault.Between("loop: ArrivalsConfig.Sources", c.Sources, 0, maxSources),
		fault.Between("loop: ArrivalsConfig.WindowNs", c.WindowNs, 0, math.MaxInt64),
	}
	switch {
	case c.InTime != c.InTime:
		faults = append(faults, fault.Field(ErrNotFinite, "loop: ArrivalsConfig.InTime", c.InTime))
	case c.InTime < 0 || c.InTime > 1:
		faults = append(faults, fault.Field(ErrRange, "loop: ArrivalsConfig.InTime", c.InTime))
	}
	return errors.Join(faults...)
}

// Arrivals measures, for each source of inputs, how late its inputs arrive, and the lead with which
// a chosen share of them arrives in time. It is safe for concurrent use. It is not part of a
// simulation: no tick may depend on what it measures.
//
// # The lead
//
// The tick in which a sender acts is over when its input arrives, so the sender aims at a later
// tick. Its lead is the time from the moment at which it acts to the moment at which that later tick
// falls due. Its delay is the time from acting to the arrival. The input is in time if the delay is
// at most the lead. So the advised lead is the quantile ArrivalsConfig.InTime of the delays of the
// last one to two windows. It does not depend on the lead that the source used, so a source that
// follows the advice does not change it.
//
//   - The lead rises as soon as more than one input in a hundred is late, which takes tens of
//     inputs. It falls when the cause is one to two windows old, because an input that is late costs
//     more than a lead that is too long.
//   - With fewer than 100 inputs it is the greatest of their delays. With fewer than 32 it is also
//     not less than the earlier lead: the one at the end of the last window with 32 or more inputs,
//     halved for each window with fewer. Before the first input it is 0.
//   - While a source is silent its lead does not change. When an input comes after more than two
//     windows, all that was measured is forgotten, except for the earlier lead.
//   - Delays are counted with a precision of 1/32 or 66 µs, and rounded up, up to 34 s. The lead is
//     never negative.
//
// Arrivals knows the delay only of inputs that carry the time at which their sender acted. If the
// clocks of sender and host differ, the difference is added both to the delay and to the time at
// which the sender aims, and cancels out as long as it does not change.
type Arrivals struct {
	config  ArrivalsConfig // defaults filled in
	mu      sync.Mutex
	index   keyTable[int] // of the source, with Seq 0, in sources
	sources []*sourceArrivals
}

// Arrival is an input that has arrived. Times are on the axis of Frame.WallNs.
type Arrival struct {
	Source uint32
	NowNs  uint64 // when it arrived
	DueNs  uint64 // when the tick that it is for falls due; 0: it is for no certain tick
	At     uint64 // when its sender acted; 0: unknown
	// Err is why it was refused, nil if it was not. Refused inputs are only counted.
	Err error
}

// SourceStats is what Arrivals knows about a source.
type SourceStats struct {
	Source uint32
	LastNs uint64 // when its last input arrived

	// Since the source is measured.
	Pushed    uint64 // accepted
	Full      uint64 // refused with ErrFull
	Share     uint64 // of the ones in Full, those that were refused with ErrShare
	Duplicate uint64 // refused with ErrDuplicate
	Late      uint64 // arrived after their tick had fallen due

	// Lateness in the last one to two windows, in nanoseconds: the time from the moment at which the
	// tick of an input fell due to its arrival, negative for an input that was early. The quantiles
	// have a precision of 1/32 or 66 µs, and are rounded up.
	Count         int
	P50, P95, P99 int64

	// LeadNs is the advised lead, computed from the delays of LeadCount inputs.
	LeadNs    int64
	LeadCount int
}

// NewArrivals returns Arrivals that have measured nothing. Its error is that of
// ArrivalsConfig.Validate.
func NewArrivals(c ArrivalsConfig) (*Arrivals, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c.Sources = cmp.Or(c.Sources, defaultSources)
	c.WindowNs = cmp.Or(c.WindowNs, defaultWindowNs)
	c.InTime = cmp.Or(c.InTime, defaultInTime)
	return &Arrivals{config: c}, nil
}

// Add measures an input. It allocates nothing once Sources sources were measured.
func (a *Arrivals) Add(in Arrival) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.of(in.Source, in.NowNs)
	s.stats.LastNs = in.NowNs
	if in.Err != nil {
		s.countRefusal(in.Err)
		return
	}
	s.stats.Pushed++
	if in.DueNs != 0 {
		late := saturatingSub(in.NowNs, in.DueNs)
		if late > 0 {
			s.stats.Late++
		}
		s.late[s.present].add(late)
	}
	if in.At != 0 {
		s.delay[s.present].add(saturatingSub(in.NowNs, in.At))
	}
}

// of returns the record of a source, with its windows moved on to now. It adds a source that is not
// measured yet.
func (a *Arrivals) of(source uint32, now uint64) *sourceArrivals {
	var s *sourceArrivals
	switch {
	case a.index.has(source, 0):
		s = a.sources[a.index.get(source, 0)]
	case len(a.sources) < a.config.Sources:
		s = new(sourceArrivals)
		*a.index.add(source, 0) = len(a.sources)
		a.sources = append(a.sources, s)
		s.begin(source, now)
	default:
		i := a.oldest()
		s = a.sources[i]
		a.index.remove(s.stats.Source, 0)
		*a.index.add(source, 0) = i
		s.begin(source, now)
	}
	s.moveTo(now, uint64(a.config.WindowNs), a.config.InTime)
	return s
}

// oldest returns the index of the source from which nothing has come for the longest time.
func (a *Arrivals) oldest() int {
	oldest := 0
	for i, s := range a.sources {
		if s.stats.LastNs < a.sources[oldest].stats.LastNs {
			oldest = i
		}
	}
	return oldest
}

// Source returns what is known of a source, and whether it is measured.
func (a *Arrivals) Source(source uint32) (SourceStats, bool) {
	a.mu.Lock()
	if !a.index.has(source, 0) {
		a.mu.Unlock()
		return SourceStats{}, false
	}
	s := *a.sources[a.index.get(source, 0)]
	a.mu.Unlock()
	return s.summary(a.config.InTime), true
}

// AppendSources appends the stats of each source to dst, ordered by source. Add waits for it no
// longer than it takes to copy one source.
func (a *Arrivals) AppendSources(dst []SourceStats) []SourceStats {
	begin := len(dst)
	for i := 0; ; i++ {
		a.mu.Lock()
		if i >= len(a.sources) {
			a.mu.Unlock()
			break
		}
		s := *a.sources[i]
		a.mu.Unlock()
		dst = append(dst, s.summary(a.config.InTime))
	}
	added := dst[begin:]
	slices.SortFunc(added, func(x, y SourceStats) int { return cmp.Compare(x.Source, y.Source) })
	// A source that was replaced and measured again meanwhile was copied twice.
	added = slices.CompactFunc(added, func(x, y SourceStats) bool { return x.Source == y.Source })
	return dst[:begin+len(added)]
}

// sourceArrivals is what Arrivals knows about one source, in two windows: the present one and the
// one before.
type sourceArrivals struct {
	stats   SourceStats // without what summary computes
	start   uint64      // of the present window
	present int
	before  int64 // the earlier lead
	late    [2]signedHistogram
	delay   [2]signedHistogram
}

func (s *sourceArrivals) begin(source uint32, now uint64) {
	*s = sourceArrivals{stats: SourceStats{Source: source}, start: now}
}

// moveTo begins a new window if the present one has ended by now.
func (s *sourceArrivals) moveTo(now, window uint64, inTime float64) {
	if now >= s.start && now-s.start < window {
		return
	}
	s.before = s.lead(inTime)
	if s.leadCount() < enoughArrivals {
		s.before /= 2
	}
	if now < s.start || now-s.start >= 2*window { // the axis has begun anew, or the source was silent
		s.clear()
		s.clear()
		s.start = now
		return
	}
	s.clear()
	s.start += window
}

// clear replaces the older window by an empty one, which is then the present one.
func (s *sourceArrivals) clear() {
	s.present ^= 1
	s.late[s.present], s.delay[s.present] = signedHistogram{}, signedHistogram{}
}

func (s *sourceArrivals) countRefusal(err error) {
	switch {
	case errors.Is(err, ErrFull):
		s.stats.Full++
		if errors.Is(err, ErrShare) {
			s.stats.Share++
		}
	case errors.Is(err, ErrDuplicate):
		s.stats.Duplicate++
	}
}

func (s *sourceArrivals) leadCount() int { return int(s.delay[0].n + s.delay[1].n) }

func (s *sourceArrivals) lead(inTime float64) int64 {
	lead := max(0, quantile(&s.delay, inTime))
	if s.leadCount() < enoughArrivals {
		lead = max(lead, s.before)
	}
	return lead
}

func (s *sourceArrivals) summary(inTime float64) SourceStats {
	st := s.stats
	st.Count, st.LeadCount = int(s.late[0].n+s.late[1].n), s.leadCount()
	st.P50, st.P95, st.P99 = quantile(&s.late, 0.5), quantile(&s.late, 0.95), quantile(&s.late, 0.99)
	st.LeadNs = s.lead(inTime)
	return st
}

const (
	// binUnit is the number of low bits of a nanosecond count that a signedHistogram drops.
	binUnit = 16
	// binHalf is the number of buckets for positive values: up to 2^35 ns.
	binHalf = (35 - binUnit - subBits + 1) * sub
)

// signedHistogram counts durations of either sign, with the buckets of Histogram on each side of 0,
// in units of 2^16 ns. A bucket counts up to 65,535.
type signedHistogram struct {
	n      uint32
	counts [2 * binHalf]uint16
}

func (s *signedHistogram) add(ns int64) {
	i := binHalf
	if ns >= 0 {
		i += min(bucketOf(uint64(ns)>>binUnit), binHalf-1)
	} else {
		i -= 1 + min(bucketOf(uint64(^ns)>>binUnit), binHalf-1)
	}
	if s.counts[i] < math.MaxUint16 {
		s.counts[i]++
		s.n++
	}
}

// quantile returns the least duration such that at least the part q of the durations in both
// histograms do not exceed it, rounded up to the end of its bucket. It is 0 if there are none.
func quantile(s *[2]signedHistogram, q float64) int64 {
	n := s[0].n + s[1].n
	if n == 0 {
		return 0
	}
	rank := uint32(math.Ceil(q * float64(n)))
	var seen uint32
	for i := range s[0].counts {
		if seen += uint32(s[0].counts[i]) + uint32(s[1].counts[i]); seen >= max(rank, 1) {
			return endOf(i)
		}
	}
	return endOf(2*binHalf - 1)
}

// endOf returns the greatest value of a bucket of a signedHistogram.
func endOf(i int) int64 {
	if i < binHalf {
		return -startOf(binHalf-1-i)<<binUnit - 1
	}
	return startOf(i-binHalf+1)<<binUnit - 1
}

// saturatingSub returns a - b, or the int64 that is nearest to it.
func saturatingSub(a, b uint64) int64 {
	if a < b {
		return -clampNs(b - a)
	}
	return clampNs(a - b)
}
