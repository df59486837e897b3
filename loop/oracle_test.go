package loop_test

import (
	"fmt"
	"math/big"

	"github.com/evertick/evertick/loop"
)

// oracle computes in unbounded rationals what a Loop must answer. It keeps the
// total time and derives everything from it, where the Loop keeps a remainder.
type oracle struct {
	config    loop.Config // defaults filled in
	rate      *big.Rat    // steps per nanosecond
	total     *big.Int    // nanoseconds
	whole     *big.Int    // floor(total × rate)
	steps     *big.Int
	dropped   *big.Int
	backlog   *big.Int
	backwards uint64
}

func newOracle(c loop.Config) *oracle {
	return &oracle{
		config: c,
		rate:   new(big.Rat).Quo(big.NewRat(c.RateNum, c.RateDen), big.NewRat(1e9, 1)),
		total:  new(big.Int), whole: new(big.Int),
		steps: new(big.Int), dropped: new(big.Int), backlog: new(big.Int),
	}
}

func floor(r *big.Rat) *big.Int { return new(big.Int).Div(r.Num(), r.Denom()) }

func (o *oracle) stepsIn(ns *big.Int) *big.Rat {
	return new(big.Rat).Mul(new(big.Rat).SetInt(ns), o.rate)
}

func minInt(a, b *big.Int) *big.Int {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

// check advances the oracle by ns and compares f, the answer of the Loop.
func (o *oracle) check(ns int64, f loop.Frame) error {
	if ns < 0 {
		o.backwards++
		ns = 0
	}
	o.total.Add(o.total, big.NewInt(ns))
	position := o.stepsIn(o.total)
	whole := floor(position)
	due := new(big.Int).Sub(whole, o.whole)
	o.whole = whole

	excess := new(big.Int)
	if ns > o.config.MaxDeltaNs {
		excess = floor(o.stepsIn(big.NewInt(ns - o.config.MaxDeltaNs)))
	}
	pending := new(big.Int).Add(o.backlog, due)
	pending.Sub(pending, excess)
	steps := minInt(pending, big.NewInt(int64(o.config.MaxSteps)))
	rest := new(big.Int).Sub(pending, steps)
	kept := new(big.Int)
	if o.config.Policy == loop.Keep {
		kept = minInt(rest, floor(o.stepsIn(big.NewInt(o.config.MaxDeltaNs))))
	}
	dropped := new(big.Int).Sub(rest, kept)
	dropped.Add(dropped, excess)
	o.backlog = kept
	o.steps.Add(o.steps, steps)
	o.dropped.Add(o.dropped, dropped)

	alpha := new(big.Rat).Sub(position, new(big.Rat).SetInt(whole))
	return o.compare(f, steps, dropped, alpha, rest.Sign() > 0, ns > o.config.MaxDeltaNs)
}

// wrap returns x modulo 2^64, as the counters do.
func wrap(x *big.Int) uint64 {
	return new(big.Int).And(x, new(big.Int).SetUint64(^uint64(0))).Uint64()
}

func (o *oracle) compare(f loop.Frame, steps, dropped *big.Int, alpha *big.Rat, capHit, stalled bool) error {
	if f.AlphaNum >= f.AlphaDen {
		return fmt.Errorf("alpha %d/%d is not below 1", f.AlphaNum, f.AlphaDen)
	}
	got := new(big.Rat).SetFrac(new(big.Int).SetUint64(f.AlphaNum), new(big.Int).SetUint64(f.AlphaDen))
	if got.Cmp(alpha) != 0 {
		return fmt.Errorf("alpha %v, want %v", got, alpha)
	}
	if err := compareFloat(f, alpha); err != nil {
		return err
	}
	sum := new(big.Int).Add(o.steps, o.dropped)
	if sum.Add(sum, o.backlog).Cmp(o.whole) != 0 {
		return fmt.Errorf("the oracle lost steps: %v of %v", sum, o.whole)
	}
	want := loop.Frame{
		Tick: wrap(o.steps), Steps: int(steps.Int64()),
		Alpha: f.Alpha, AlphaNum: f.AlphaNum, AlphaDen: f.AlphaDen,
		Backlog: wrap(o.backlog), Dropped: wrap(dropped), DroppedTotal: wrap(o.dropped),
		Backwards: o.backwards, CapHit: capHit, Stalled: stalled,
	}
	if f != want {
		return fmt.Errorf("frame\n got %+v\nwant %+v", f, want)
	}
	if sum := f.Tick + f.DroppedTotal + f.Backlog; sum != wrap(o.whole) {
		return fmt.Errorf("steps + dropped + backlog = %d, want %v", sum, o.whole)
	}
	return nil
}

// compareFloat holds Alpha and Alpha32 against the exact fraction: in [0, 1),
// the nearest float64 while numerator and denominator are exact in float64, and
// within two roundings more of it otherwise.
func compareFloat(f loop.Frame, alpha *big.Rat) error {
	if !(f.Alpha >= 0 && f.Alpha < 1) {
		return fmt.Errorf("Alpha = %v", f.Alpha)
	}
	if a := f.Alpha32(); !(a >= 0 && a < 1) {
		return fmt.Errorf("Alpha32 = %v", a)
	}
	nearest, _ := alpha.Float64()
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
