package loop_test

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/evertick/evertick/loop"
)

// oracle computes in unbounded rationals what a Loop must answer, straight from
// the documentation: times are absolute where the Loop counts down, and
// simulated time is one rational where the Loop keeps a remainder.
type oracle struct {
	config loop.Config // all fields that matter filled in
	rate   *big.Rat    // steps per nanosecond

	now        *big.Int // wall time but for menus: the clock of freezes and scales
	wall, ui   *big.Int
	fps        fpsOracle
	accum      *big.Rat // steps, those of the backlog included
	total      *big.Rat // steps whose time was counted
	granted    *big.Int
	tick       *big.Int
	dropped    *big.Rat
	published  *big.Int // whole steps of dropped, as of the last frame
	backwards  uint64
	last       *big.Int
	thawAt     *big.Int // nil: not frozen
	frames     int64    // nanoseconds of frames left of a freeze, with FreezeFrames
	channels   [loop.MaxChannels]oracleChannel
	pace       int64
	timers     [loop.MaxTimers]oracleTimer
	stepsLeft  int64 // until RunThenPause pauses, -1: not asked for
	paused     bool
	menu       bool
	phase      uint8
	wasReset   bool
	everything bool // no time is ever cut off
}

type oracleChannel struct {
	owner string
	value int64    // millionths
	until *big.Int // nil: no end
}

type oracleTimer struct {
	until *big.Int // nil: not running
	ui    bool
}

func newOracle(c loop.Config) *oracle {
	o := &oracle{config: c, rate: new(big.Rat).Quo(big.NewRat(c.RateNum, c.RateDen), big.NewRat(1e9, 1))}
	o.everything = c.Policy == loop.CatchUp || c.Policy == loop.Realtime
	for i, ch := range c.Channels {
		if ch.Max == 0 {
			o.config.Channels[i].Max = 100
		}
		if ch.Rest == 0 {
			o.config.Channels[i].Rest = 1
		}
	}
	o.startNew()
	return o
}

func (o *oracle) startNew() {
	*o = oracle{config: o.config, rate: o.rate, everything: o.everything, pace: 64, stepsLeft: -1}
	for _, p := range []**big.Int{&o.now, &o.wall, &o.ui, &o.granted, &o.tick, &o.published, &o.last} {
		*p = new(big.Int)
	}
	o.accum, o.total, o.dropped = new(big.Rat), new(big.Rat), new(big.Rat)
	for i := range o.channels {
		o.channels[i].value = o.rest(i)
	}
}

func (o *oracle) rest(ch int) int64 { return micro(o.config.Channels[ch].Rest) }

// micro returns v in millionths; the tests use values of at most six decimals.
func micro(v float64) int64 { return int64(math.Round(v * 1e6)) }

func floor(r *big.Rat) *big.Int { return new(big.Int).Div(r.Num(), r.Denom()) }

func whole(n *big.Int) *big.Rat { return new(big.Rat).SetInt(n) }

func after(t *big.Int, ns int64) *big.Int { return new(big.Int).Add(t, big.NewInt(ns)) }

// stepsIn returns the steps of ns nanoseconds at scale 1.
func (o *oracle) stepsIn(ns int64) *big.Rat {
	return new(big.Rat).Mul(big.NewRat(ns, 1), o.rate)
}

func (o *oracle) drop(r *big.Rat) { o.dropped = new(big.Rat).Add(o.dropped, r) }

func (o *oracle) setScale(ch loop.Channel, owner string, value float64, forNs int64) (accepted bool) {
	if h := o.channels[ch].owner; h != "" && h != owner {
		return false
	}
	c, bounds := &o.channels[ch], o.config.Channels[ch]
	c.owner, c.until = owner, nil
	c.value = max(micro(bounds.Min), min(micro(value), micro(bounds.Max)))
	if forNs > 0 {
		c.until = after(o.now, forNs)
	}
	return true
}

func (o *oracle) releaseScale(ch loop.Channel, owner string) (accepted bool) {
	if h := o.channels[ch].owner; h != "" && h != owner {
		return false
	}
	o.channels[ch] = oracleChannel{value: o.rest(int(ch))}
	return true
}

func (o *oracle) freeze(ns int64) {
	until := after(o.now, ns)
	if ns == 0 {
		o.frames = 0
		o.thawAt, o.channels[loop.Dilation] = nil, oracleChannel{value: o.rest(0)}
	} else if o.config.FreezeFrames && !o.config.Batch {
		o.frames = max(o.frames, ns)
	} else if o.thawAt == nil || until.Cmp(o.thawAt) > 0 {
		o.thawAt = until
	}
}

func (o *oracle) resetTiming() {
	o.drop(o.accum)
	o.wasReset = true
	o.accum, o.last, o.pace = new(big.Rat), new(big.Int), 64
}

// scaleAt returns the scale at a time t, in millionths: the product, rounded
// once, half to even.
func (o *oracle) scaleAt(t *big.Int) int64 {
	p := big.NewRat(o.pace, 64)
	for i, c := range o.channels {
		thawed := i == int(loop.Dilation) && o.thawAt != nil && t.Cmp(o.thawAt) >= 0
		if thawed || c.until != nil && t.Cmp(c.until) >= 0 {
			c.value = o.rest(i)
		}
		p.Mul(p, big.NewRat(c.value, 1e6))
	}
	p.Mul(p, big.NewRat(1e6, 1))
	q := floor(p)
	switch rest := new(big.Rat).Sub(p, whole(q)); rest.Cmp(big.NewRat(1, 2)) {
	case 0:
		q.Add(q, big.NewInt(int64(q.Bit(0))))
	case 1:
		q.Add(q, big.NewInt(1))
	}
	if q.Cmp(big.NewInt(100e6)) > 0 {
		return 100e6
	}
	return q.Int64()
}

func (o *oracle) isPaused() bool { return o.paused || o.stepsLeft == 0 }

func (o *oracle) isGated() bool {
	return o.config.Phases != 0 && o.config.Phases&(1<<o.phase) == 0
}

func (o *oracle) frozenAt(t *big.Int) bool { return o.thawAt != nil && t.Cmp(o.thawAt) < 0 }

// integrate returns the steps of the time from a to b and the greatest scale at
// which time ran.
func (o *oracle) integrate(a, b *big.Int) (sum *big.Rat, fastest int64) {
	sum = new(big.Rat)
	if o.isPaused() || o.isGated() || o.frames > 0 {
		return sum, 0
	}
	at := []*big.Int{a, b}
	if o.thawAt != nil {
		at = append(at, o.thawAt)
	}
	for _, c := range o.channels {
		if c.until != nil {
			at = append(at, c.until)
		}
	}
	slices.SortFunc(at, (*big.Int).Cmp)
	for i := range at[1:] {
		from, to := at[i], at[i+1]
		if from.Cmp(a) < 0 || to.Cmp(b) > 0 || from.Cmp(to) == 0 || o.frozenAt(from) {
			continue
		}
		scale := o.scaleAt(from)
		fastest = max(fastest, scale)
		piece := new(big.Rat).Mul(whole(new(big.Int).Sub(to, from)), o.rate)
		sum.Add(sum, piece.Mul(piece, big.NewRat(scale, 1e6)))
	}
	return sum, fastest
}

// runTimers stops the timers of a clock that have come to their end.
func (o *oracle) runTimers(ui bool, now *big.Int) (expired uint16) {
	for i := range o.timers {
		if t := &o.timers[i]; t.until != nil && t.ui == ui && now.Cmp(t.until) >= 0 {
			t.until = nil
			expired |= 1 << i
		}
	}
	return expired
}

// endEvents takes note of what ended up to now.
func (o *oracle) endEvents() {
	if o.thawAt != nil && !o.frozenAt(o.now) {
		o.thawAt, o.channels[loop.Dilation] = nil, oracleChannel{value: o.rest(0)}
	}
	for i := range o.channels {
		if c := &o.channels[i]; c.until != nil && o.now.Cmp(c.until) >= 0 {
			*c = oracleChannel{value: o.rest(i)}
		}
	}
}

// advance returns the frame of ns nanoseconds, but for Alpha, AlphaNum,
// AlphaRest and the fraction of what was dropped.
func (o *oracle) advance(ns int64) loop.Frame {
	if ns < 0 {
		o.backwards++
		ns = 0
	}
	f := loop.Frame{ElapsedNs: ns}
	o.wall = after(o.wall, ns)
	f.Timers = o.runTimers(false, o.wall)
	start := o.now
	if !o.menu {
		o.now = after(o.now, ns)
		switch {
		case o.config.Batch:
			o.batch(&f)
		case o.config.StallNs > 0 && ns > o.config.StallNs && !o.everything:
			f.Stalled = true
			gone, _ := o.integrate(start, o.now)
			o.total.Add(o.total, gone)
			o.drop(gone)
			o.drop(o.accum)
			o.accum = new(big.Rat)
			o.endEvents()
		default:
			o.window(&f, start)
		}
	}
	return o.publish(f)
}

func (o *oracle) batch(f *loop.Frame) {
	o.endEvents()
	if o.isPaused() || o.isGated() {
		return
	}
	steps := o.grant(big.NewInt(int64(o.config.MaxSteps)))
	// Steps that were put back are counted already.
	o.total.Add(o.total, new(big.Rat).Sub(whole(steps), o.accum))
	o.accum = new(big.Rat)
	f.Steps = int(steps.Int64())
}

// window accounts for a frame that began at start.
func (o *oracle) window(f *loop.Frame, start *big.Int) {
	f.RawNs = f.ElapsedNs
	if !o.everything {
		f.RawNs = min(f.ElapsedNs, o.config.MaxDeltaNs)
	}
	f.Clamped = f.RawNs < f.ElapsedNs
	o.ui = after(o.ui, f.RawNs)
	f.Timers |= o.runTimers(true, o.ui)

	cut := after(o.now, -f.RawNs)
	excess, _ := o.integrate(start, cut)
	counted, fastest := o.integrate(cut, o.now)
	o.endEvents()
	frozen := o.frames > 0
	if o.frames = max(0, o.frames-f.RawNs); frozen && o.frames == 0 {
		o.freeze(0)
	}
	if o.config.ClipTime {
		excess = new(big.Rat)
	}
	counted.Add(counted, excess)
	o.total.Add(o.total, counted)
	o.accum.Add(o.accum, counted)
	lost := whole(floor(excess))
	o.accum.Sub(o.accum, lost)
	o.drop(lost)
	if bound := o.stepsIn(o.config.MaxAccumNs); bound.Sign() > 0 && !o.everything && o.accum.Cmp(bound) > 0 {
		o.drop(new(big.Rat).Sub(o.accum, bound))
		o.accum = bound
	}
	if o.isPaused() || o.isGated() || frozen || o.thawAt != nil {
		return
	}
	o.settle(f, fastest)
}

func (o *oracle) settle(f *loop.Frame, fastest int64) {
	limit := int64(o.config.MaxSteps)
	if o.config.CapScales && fastest > 1e6 {
		scaled := big.NewRat(limit*fastest, 1e6)
		limit = min(1<<30, new(big.Int).Neg(floor(scaled.Neg(scaled))).Int64())
	}
	pending := floor(o.accum)
	steps := minInt(pending, big.NewInt(limit))
	over := new(big.Int).Sub(pending, steps)
	f.CapHit = over.Sign() > 0
	lost := whole(over)
	switch o.config.Policy {
	case loop.Keep:
		kept := minInt(over, floor(o.stepsIn(o.config.MaxDeltaNs)))
		lost.Sub(lost, whole(kept))
	case loop.DropAll:
		if f.CapHit {
			lost = new(big.Rat).Sub(o.accum, whole(steps))
		}
	case loop.CatchUp, loop.KeepAll:
		kept := minInt(over, new(big.Int).Sub(big.NewInt(1<<62), steps))
		lost.Sub(lost, whole(kept))
	case loop.Realtime:
		o.tick = new(big.Int).Add(o.tick, over)
	case loop.SlowMotion:
		if f.CapHit && fastest > 0 {
			slower := new(big.Int).Div(big.NewInt(o.pace*limit), pending)
			o.pace = max(16, slower.Int64())
		} else if fastest > 0 {
			o.pace = min(64, o.pace+1)
		}
	}
	o.accum.Sub(o.accum, lost)
	o.drop(lost)
	granted := o.grant(steps)
	o.accum.Sub(o.accum, whole(granted))
	f.Steps = int(granted.Int64())
}

// grant returns what is left of steps before a pause, and counts it.
func (o *oracle) grant(steps *big.Int) *big.Int {
	if o.stepsLeft >= 0 {
		steps = minInt(steps, big.NewInt(o.stepsLeft))
		o.stepsLeft -= steps.Int64()
	}
	o.granted = new(big.Int).Add(o.granted, steps)
	o.tick = new(big.Int).Add(o.tick, steps)
	return steps
}

// putBack takes n steps back that Drive could not run.
func (o *oracle) putBack(n int64) {
	o.granted = after(o.granted, -n)
	o.tick = after(o.tick, -n)
	o.accum.Add(o.accum, big.NewRat(n, 1))
	if o.stepsLeft >= 0 {
		o.stepsLeft += n
	}
}

func minInt(a, b *big.Int) *big.Int {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

// wrap returns x modulo 2^64, as the counters do.
func wrap(x *big.Int) uint64 {
	return new(big.Int).And(x, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
}

// ns returns steps of simulated time in nanoseconds, rounded down.
func (o *oracle) ns(steps *big.Rat) *big.Int {
	return floor(new(big.Rat).Quo(steps, o.rate))
}

func saturate(x *big.Int) int64 { return minInt(x, big.NewInt(math.MaxInt64)).Int64() }

func (o *oracle) publish(f loop.Frame) loop.Frame {
	f.Tick = wrap(o.tick)
	start := new(big.Int).SetUint64(f.FirstTick())
	end := after(start, int64(f.Steps))
	f.SimNs = saturate(new(big.Int).Sub(o.ns(whole(end)), o.ns(whole(start))))
	f.WallNs, f.UINs = wrap(o.wall), wrap(o.ui)
	f.Backlog = wrap(floor(o.accum))
	f.LagNs = saturate(o.ns(o.accum))
	dropped := floor(o.dropped)
	f.Dropped = wrap(new(big.Int).Sub(dropped, o.published))
	f.DroppedTotal = wrap(dropped)
	o.published = dropped
	f.Backwards = o.backwards
	f.ScaleMillionths = uint64(o.scaleAt(o.now))
	f.Menu, f.Paused, f.Gated, f.Frozen = o.menu, o.isPaused(), o.isGated(), o.thawAt != nil || o.frames > 0
	return f
}

// check advances the oracle by ns and compares f, the answer of the Loop.
func (o *oracle) check(ns int64, f loop.Frame) error {
	want := o.advance(ns)
	if f.AlphaNum >= f.AlphaDen || f.AlphaRest >= 1e6 || f.DroppedNum >= f.AlphaDen || f.DroppedRest >= 1e6 {
		return fmt.Errorf("a fraction is not below 1: %+v", f)
	}
	part := new(big.Rat).Sub(o.accum, whole(floor(o.accum)))
	if got := fraction(f.AlphaNum, f.AlphaRest, f.AlphaDen); got.Cmp(part) != 0 {
		return fmt.Errorf("alpha %v, want %v", got, part)
	}
	lost := new(big.Rat).Sub(o.dropped, whole(floor(o.dropped)))
	if got := fraction(f.DroppedNum, f.DroppedRest, f.AlphaDen); got.Cmp(lost) != 0 {
		return fmt.Errorf("fraction dropped %v, want %v", got, lost)
	}
	if err := compareFloat(f); err != nil {
		return err
	}
	if err := o.fps.check(f); err != nil {
		return err
	}
	want.FPS = f.FPS
	want.Alpha, want.AlphaNum, want.AlphaRest, want.AlphaDen = f.Alpha, f.AlphaNum, f.AlphaRest, f.AlphaDen
	want.DroppedNum, want.DroppedRest = f.DroppedNum, f.DroppedRest
	if f != want {
		return fmt.Errorf("frame\n got %+v\nwant %+v", f, want)
	}
	return o.law(f)
}

// law holds the sums against each other: no time is lost, none is made up.
func (o *oracle) law(f loop.Frame) error {
	sum := new(big.Rat).Add(whole(o.granted), o.accum)
	if sum.Add(sum, o.dropped).Cmp(o.total) != 0 {
		return fmt.Errorf("granted %v + accumulated %v + dropped %v is not %v", o.granted, o.accum, o.dropped, o.total)
	}
	if o.config.Policy == loop.Realtime && !o.config.Batch && !o.wasReset {
		if got := f.Tick + f.Backlog; got != wrap(floor(o.total)) {
			return fmt.Errorf("Tick + Backlog = %d under Realtime, want %v", got, floor(o.total))
		}
	}
	return nil
}

func fraction(num, rest, den uint64) *big.Rat {
	n := new(big.Int).Mul(new(big.Int).SetUint64(num), big.NewInt(1e6))
	n.Add(n, new(big.Int).SetUint64(rest))
	d := new(big.Int).Mul(new(big.Int).SetUint64(den), big.NewInt(1e6))
	return new(big.Rat).SetFrac(n, d)
}

// compareFloat holds Alpha and Alpha32 against AlphaNum/AlphaDen: in [0, 1), the
// nearest float64 while numerator and denominator are exact in float64, and
// within two roundings more of it otherwise.
func compareFloat(f loop.Frame) error {
	if !(f.Alpha >= 0 && f.Alpha < 1) {
		return fmt.Errorf("Alpha = %v", f.Alpha)
	}
	if a := f.Alpha32(); !(a >= 0 && a < 1) {
		return fmt.Errorf("Alpha32 = %v", a)
	}
	nearest, _ := fraction(f.AlphaNum, 0, f.AlphaDen).Float64()
	if f.AlphaDen < 1<<53 {
		if f.Alpha != nearest {
			return fmt.Errorf("Alpha = %v, want %v", f.Alpha, nearest)
		}
		return nil
	}
	if d := f.Alpha - nearest; d > 0x1p-51 || d < -0x1p-51 {
		return fmt.Errorf("Alpha = %v, want about %v", f.Alpha, nearest)
	}
	return nil
}
