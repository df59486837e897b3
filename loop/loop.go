package loop

import (
	"math"
	"math/bits"
)

// Loop is the state of a fixed-step driver: a plain value that shares only
// read-only data with its copies. Make one with New; a copy is an independent
// fork that does not record, and two equal Loops return the same frames. In a
// copy made by a step, that step and the rest of its frame are pending. It is
// not safe for concurrent use.
type Loop struct {
	setup
	state
	tape   *Tape
	driven *Loop // itself while Drive runs its steps; in a copy it is another Loop
}

// setup is what New derives from the Config.
type setup struct {
	ratio
	config     Config // defaults filled in
	maxSteps   uint64
	maxBacklog uint64 // most steps that Keep keeps
	maxDelta   int64
	stall      int64
	maxAccum   span
	period     int64 // of a step in nanoseconds, rounded up
	limits     [MaxChannels]limits
	dt         float32
	bounded    bool   // by maxAccum
	freezes    bool   // whole frames: Config.FreezeFrames
	slack      uint64 // of the jitter fix, units
}

// state is what Advance and the setters change.
type state struct {
	units, rest uint64 // of the step in progress: see span
	backlog     uint64 // whole steps due but not yet granted
	tick        uint64
	dropped     span
	published   uint64 // dropped.steps as of the last frame
	backwards   uint64
	wall, ui    uint64
	rate        frameRate
	last        int64 // the time of the last AdvanceTo

	channels [MaxChannels]channel
	pace     uint64 // of SlowMotion, in 64ths
	scale    uint64 // product of channels and pace, millionths
	frozen   int64  // wall time left of a freeze, or with FreezeFrames time of frames
	timers   [MaxTimers]timer

	running uint64      // steps of the frame that Drive is at and that have not succeeded yet; they are in backlog
	fault   *PanicError // that halted the loop; never written to, so that copies may share it
	panics  uint8       // in a row

	smoother smoother
	jitter   jitter

	pauseAt uint64 // if armed: pause before this step
	phase   uint8
	armed   bool
	paused  bool
	menu    bool
}

// New returns a Loop at tick 0 with nothing accumulated. Its error is that of
// Config.Validate.
func New(c Config) (*Loop, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	g := gcd(c.RateNum, c.RateDen)
	num, den := c.RateNum/g, c.RateDen/g
	// Both parts are below 2^27, so their quotient is at least 2^-52 of its size away from the middle of two float32 numbers,
	// unless it is one. The first rounding, to float64, moves it by half of that, and the second one is right.
	dt := float32(float64(den) / float64(num))
	l := &Loop{setup: setup{
		ratio:    ratio{num: uint64(num), unit: nsPerSecond * uint64(den)},
		config:   c,
		maxSteps: uint64(c.MaxSteps),
		maxDelta: c.MaxDeltaNs,
		stall:    c.StallNs,
		period:   (nsPerSecond*den + num - 1) / num,
		dt:       dt,
		bounded:  c.MaxAccumNs > 0,
		freezes:  c.FreezeFrames && !c.Batch,
	}}
	l.slack = l.unit / 1000 * uint64(c.JitterFix) // exact, as 1e9 is a multiple of 1000
	l.maxBacklog = l.spanOf(c.MaxDeltaNs, one).steps
	l.maxAccum = l.spanOf(c.MaxAccumNs, one)
	if c.Policy.unclamped() {
		l.maxDelta, l.stall, l.bounded = math.MaxInt64, 0, false
	}
	for i, ch := range c.Channels {
		l.limits[i] = limits{millionths(ch.Min), millionths(ch.Max), millionths(ch.Rest)}
	}
	l.StartNew()
	return l, nil
}

// StartNew returns the Loop to the state after New: tick 0, nothing accumulated
// or counted, channels at rest, no freeze, pause, menu or timer, phase 0. The
// next AdvanceTo is measured against zero.
func (l *Loop) StartNew() {
	l.record(opStartNew)
	defer l.recorded()
	l.state = state{pace: fullPace}
	for i := range l.channels {
		l.channels[i].value = l.limits[i].rest
	}
	l.rescale()
}

// ResetTiming zeroes the accumulator; what was in it counts as dropped in the next
// frame. It forgets the pace of SlowMotion, and the next AdvanceTo is measured
// against zero. An AdvanceTo of a clock that is far from zero is then a long
// frame: a stall if Config.StallNs is set. Everything else stays.
func (l *Loop) ResetTiming() {
	l.record(opResetTiming)
	defer l.recorded()
	inStep := min(l.running, 1) // the calling step does not wait any more
	l.backlog -= l.running
	l.drop(span{steps: l.running - inStep})
	l.dropAccumulated()
	l.running = inStep
	l.backlog += inStep
	l.smoother.owed = 0
	l.last = 0
	l.pace = fullPace
	l.rescale()
}

// Dt returns the length of a step in seconds: the float32 nearest to den/num.
func (l *Loop) Dt() float32 { return l.dt }

// Rate returns the steps per second exactly, in lowest terms; one step is
// den/num seconds.
func (l *Loop) Rate() (num, den int64) { return int64(l.num), int64(l.unit / nsPerSecond) }

// Tick returns the index of the next step: Frame.Tick of the last frame. In a
// step that Run calls it is the index of that step.
func (l *Loop) Tick() uint64 { return l.tick }

// AdvanceTo is Advance by the time that has passed since the last AdvanceTo, or
// since 0 for the first one after New, StartNew or ResetTiming. A time before the
// last one is a negative elapsed time, and later ones are measured against it. A
// difference beyond the greatest int64 counts as the greatest int64. A host whose
// clock does not begin at zero passes the time since it began, or accepts the
// first frame as a stall.
func (l *Loop) AdvanceTo(nowNs int64) Frame {
	l.mustStartFrame()
	elapsed := nowNs - l.last
	if l.last < 0 && nowNs > math.MaxInt64+l.last {
		elapsed = math.MaxInt64
	} else if nowNs < l.last {
		elapsed = -1
	}
	l.recordNow(nowNs)
	l.last = nowNs
	return l.frame(elapsed)
}

// Refresh returns the refresh rate in hertz, as num/den, that Config.SmoothDelta
// rounds to at present. It is 60000/1001, 60, 72, 75, 90, 100, 120, 144, 165 or
// 240 if one of them is within 1/2048 of the measured rate, otherwise the measured
// rate. It is 0, 0 if SmoothDelta is off or has found none; finding one takes some
// eighty frames.
func (l *Loop) Refresh() (num, den int64) { return l.smoother.num, l.smoother.den }

// Advance accounts for elapsedNs nanoseconds and returns the steps to run now.
// It is defined for every int64: a negative time counts as 0 and raises
// Frame.Backwards. It does not allocate and cannot overflow. It panics when
// called from a step that Drive or Run runs.
func (l *Loop) Advance(elapsedNs int64) Frame {
	l.mustStartFrame()
	l.recordElapsed(elapsedNs)
	return l.frame(elapsedNs)
}

// mustStartFrame panics within a frame: the steps of that frame, which are in the
// backlog, would be granted twice. In a copy no frame is running.
func (l *Loop) mustStartFrame() {
	if l.unit == 0 {
		panic("loop: Loop not made by New")
	}
	if l.running > 0 && l.driven == l {
		panic("loop: Advance called from a step")
	}
	l.running = 0
}

// frame is Advance once the input is on the tape.
func (l *Loop) frame(elapsedNs int64) Frame {
	if elapsedNs < 0 {
		elapsedNs = 0
		l.backwards++
	}
	f := Frame{ElapsedNs: elapsedNs}
	l.wall += uint64(elapsedNs)
	l.rate.add(elapsedNs)
	f.Timers = l.runTimers(Wall, elapsedNs)
	switch {
	case l.menu, l.fault != nil:
	case l.config.Batch:
		l.advanceBatch(&f)
	case l.stall > 0 && elapsedNs > l.stall:
		l.skipStall(&f)
	default:
		l.advance(&f)
	}
	l.recorded()
	return l.publish(f)
}

// advanceBatch grants the steps of a frame without a clock.
func (l *Loop) advanceBatch(f *Frame) {
	l.integrate(f.ElapsedNs, f.ElapsedNs, 0)
	if !l.held() {
		l.backlog = l.maxSteps // steps that were put back are among them
		f.Steps = int(l.grant(l.maxSteps))
		l.backlog = 0
	}
}

// skipStall drops the time of a frame that stalled, and the accumulator.
func (l *Loop) skipStall(f *Frame) {
	f.Stalled = true
	_, gone, _ := l.integrate(f.ElapsedNs, f.ElapsedNs, 0)
	l.drop(gone)
	l.dropAccumulated()
}

// dropAccumulated drops the accumulator. That does not undo a step that ran early:
// its time is still to come.
func (l *Loop) dropAccumulated() {
	l.jitter.reset()
	gone, left := l.accumulator(), span{}
	gone.steps += l.jitter.release()
	if l.jitter.lead > 0 {
		left.units, left.rest = gone.units, gone.rest
		gone.units, gone.rest = 0, 0
	}
	l.drop(gone)
	l.setAccumulator(left)
}

// advance accumulates the time of a frame and grants its steps.
func (l *Loop) advance(f *Frame) {
	counted := f.ElapsedNs
	if l.config.SmoothDelta {
		counted = l.smoother.next(counted)
	}
	f.RawNs = min(counted, l.maxDelta)
	f.Clamped = f.RawNs < counted
	l.ui += uint64(f.RawNs)
	f.Timers |= l.runTimers(UI, f.RawNs)

	before, frozen := l.accumulator(), l.freezes && l.frozen > 0
	excess, passed, fastest := l.integrate(f.ElapsedNs, counted, counted-f.RawNs)
	if !l.config.ClipTime {
		// At most what is due then, since it contains no fraction from before.
		whole := span{steps: excess.steps}
		l.drop(whole)
		passed = l.add(passed, l.sub(excess, whole))
	}
	l.accumulate(passed)
	if frozen {
		if l.frozen = max(0, l.frozen-f.RawNs); l.frozen == 0 {
			l.thaw()
		}
	}
	if l.held() || frozen || l.frozen > 0 {
		l.jitter.reset()
		l.repayLead()
		return
	}
	limit := l.limit(fastest)
	if f.Clamped {
		l.jitter.reset()
	}
	l.backlog = l.jitter.adjust(l.timing(before, passed, limit))
	owed := l.backlog
	var steps uint64
	steps, f.CapHit = l.applyPolicy(limit)
	f.Steps = int(steps)
	if fastest > 0 {
		l.adjustPace(owed, limit)
	}
	l.repayLead() // if RunThenPause left the step that was to run early in the backlog
}

// accumulate adds s and drops what exceeds the bound.
func (l *Loop) accumulate(s span) {
	s = l.add(s, l.accumulator())
	if l.bounded && l.maxAccum.less(s) {
		l.drop(l.sub(s, l.maxAccum))
		s = l.maxAccum
	}
	l.setAccumulator(s)
}

// limit returns the cap of a frame whose greatest scale was fastest.
func (l *Loop) limit(fastest uint64) uint64 {
	if !l.config.CapScales || fastest <= one {
		return l.maxSteps
	}
	return min(stepLimit, (l.maxSteps*fastest+one-1)/one) // 2^30 × 2^27 fits
}

// timing describes a frame to the jitter fix.
func (l *Loop) timing(before, passed span, limit uint64) frameTiming {
	due := l.add(passed, span{units: before.units, rest: before.rest})
	return frameTiming{
		before: before.units, after: l.units, unit: l.unit,
		due: due.steps, pending: l.backlog, most: limit, slack: l.slack,
	}
}

// integrate passes ns nanoseconds of wall time: freezes and scales end when they
// end, not when the frame does. Only the last counted nanoseconds count; if
// counted is more than ns they begin before the frame, with the scales and freezes
// of now. integrate returns the simulated time of their first cut nanoseconds,
// that of the others, and the greatest scale at which time ran in the others.
func (l *Loop) integrate(ns, counted, cut int64) (first, others span, fastest uint64) {
	start := ns - counted
	for at := min(start, 0); at < ns; {
		end := ns
		for _, mark := range [...]int64{0, start, start + cut} {
			if at < mark {
				end = min(end, mark)
			}
		}
		piece := end - at
		if at >= 0 {
			piece = l.untilEvent(piece)
		}
		if at >= start && l.frozen == 0 && !l.held() {
			s := l.spanOf(piece, l.scale)
			if at < start+cut {
				first = l.add(first, s)
			} else {
				others = l.add(others, s)
				fastest = max(fastest, l.scale)
			}
		}
		if at >= 0 {
			l.passTime(piece)
		}
		at += piece
	}
	return first, others, fastest
}

// untilEvent returns the nanoseconds until a freeze or a scale ends, at most
// most.
func (l *Loop) untilEvent(most int64) int64 {
	if l.frozen > 0 && !l.freezes {
		most = min(most, l.frozen)
	}
	for i := range l.channels {
		if left := l.channels[i].left; left > 0 {
			most = min(most, left)
		}
	}
	return most
}

// passTime takes ns, at most untilEvent, from what is left of freezes and scales.
func (l *Loop) passTime(ns int64) {
	for i := range l.channels {
		c := &l.channels[i]
		if c.left == 0 {
			continue
		}
		if c.left -= ns; c.left == 0 {
			*c = channel{value: l.limits[i].rest}
			l.rescale()
		}
	}
	if l.frozen > 0 && !l.freezes {
		if l.frozen -= ns; l.frozen == 0 {
			l.thaw()
		}
	}
}

// UntilNext returns the nanoseconds of wall time, counted from the last Advance,
// after which another Advance has a step to grant. It is 0 if there is a backlog
// or under Config.Batch. Otherwise it is the time left of the step in progress,
// rounded up; it takes into account all freezes and scales that end until then. It
// is the greatest int64 if time is stopped until a call changes that, or if the
// step is farther away, and in a freeze with Config.FreezeFrames, which another
// Advance does not run a step in.
//
// It assumes that no time is lost until then: with Config.ClipTime or StallNs
// frames must come before these limits; and that elapsed times count unchanged,
// so with Config.SmoothDelta it may be off by a quarter of a period.
func (l *Loop) UntilNext() int64 {
	if l.unit == 0 {
		panic("loop: Loop not made by New")
	}
	ahead := l.Fork()
	ahead.repayLead() // a step that ran early and failed
	switch {
	case l.menu || l.held() || l.fault != nil || l.freezes && l.frozen > 0:
		return math.MaxInt64
	case l.config.Batch:
		return 0
	case ahead.backlog > 0 || ahead.jitter.lead < 0:
		return l.frozen
	}
	for at := int64(0); ; {
		piece := ahead.untilEvent(math.MaxInt64 - at)
		if wait := ahead.untilDue(); ahead.frozen == 0 && wait <= piece {
			return at + wait
		}
		if piece == math.MaxInt64-at {
			return math.MaxInt64
		}
		if ahead.frozen == 0 {
			ahead.setAccumulator(ahead.add(ahead.accumulator(), ahead.spanOf(piece, ahead.scale)))
			ahead.repayLead()
		}
		ahead.passTime(piece)
		at += piece
	}
}

// repayLead cancels a lead against the backlog: the step that ran early has fallen
// due since, or it was to run early and did not run.
func (l *Loop) repayLead() {
	if l.jitter.lead > 0 && l.backlog > 0 {
		l.backlog--
		l.jitter.lead = 0
	}
}

// untilDue returns the nanoseconds left of the step in progress, and of the next
// one if the former ran early, at the present scale, rounded up; the greatest
// int64 where it is more.
func (l *Loop) untilDue() int64 {
	left := l.unit - l.units
	if l.jitter.lead > 0 {
		left += l.unit
	}
	// ceil((left × 1e6 - rest) / (num × scale)): at most 78 bits by at most 54.
	hi, lo := bits.Mul64(left, one)
	lo, borrow := bits.Sub64(lo, l.rest, 0)
	hi -= borrow
	perNs := l.num * l.scale
	if hi >= perNs {
		return math.MaxInt64
	}
	wait, over := bits.Div64(hi, lo, perNs)
	if over > 0 {
		wait++
	}
	return int64(min(wait, math.MaxInt64))
}

// UntilFrame returns the nanoseconds, counted from the last Advance, after which Run makes the next frame: when a step is
// due. Where time is slow or stopped, it returns less, so that frames are frequent enough for the clocks to continue and
// no time is lost. It is for hosts that wait for several Loops at once.
func (l *Loop) UntilFrame() int64 {
	wait := min(l.UntilNext(), l.period)
	if l.config.ClipTime {
		wait = min(wait, l.maxDelta)
	}
	if l.stall > 0 {
		wait = min(wait, l.stall)
	}
	return wait
}
