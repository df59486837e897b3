package loop

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"

	"github.com/evertick/evertick/internal/fault"
)

// Errors that this package wraps: test with errors.Is.
var (
	ErrRange     = fault.ErrRange     // outside the documented range
	ErrNotFinite = fault.ErrNotFinite // a NaN or an infinity
)

const (
	defaultRateNum    = 60
	defaultRateDen    = 1
	defaultMaxSteps   = 5
	defaultMaxDeltaNs = 250_000_000

	nsPerSecond = 1_000_000_000

	// maxRatePart bounds the numerator and the denominator of the rate, and
	// maxRate the rate itself: see spanOf for what they keep from overflowing.
	// One step is at most 1e9 × 1e8 = 1e17 < 2^57 units.
	maxRatePart = 100_000_000
	maxRate     = 1_000_000
	// stepLimit bounds the cap of a frame, with CapScales too: it fits an int
	// of 32 bits, and steps that Run puts back after an error cannot overflow
	// the backlog.
	stepLimit = 1 << 30
	// maxJitterFix is half a step: with more, a step could run in place of its
	// neighbour.
	maxJitterFix = 500
)

// Config describes a Loop. The zero value means 60 steps per second, at most 5
// steps in a frame, frames clamped to 0.25 s, policy DropToCap. [Classic],
// [Arcade], [Modules], [Show] and [Training] return others to begin with.
type Config struct {
	// RateNum / RateDen is the rate in steps per second: 60/1, 60000/1001.
	// Each from 1 to 100,000,000, the rate at most 1,000,000. RateDen 0 means
	// 1, and RateNum 0 means 60 if RateDen is 0 too. The fraction need not be in
	// lowest terms.
	RateNum, RateDen int64
	// MaxSteps is the most steps that one frame runs, from 1 to 1<<30.
	// 0 means 5.
	MaxSteps int
	// CapScales raises the cap to ceil(MaxSteps × scale), at most 1<<30, in frames in which simulated
	// time ran faster than wall time; scale is the greatest of the frame.
	CapScales bool
	// MaxDeltaNs is the longest frame, in nanoseconds, that counts in full. If a frame is longer, the
	// whole steps of the excess are dropped. Under Keep it bounds the backlog too. Any positive value;
	// 0 means 250,000,000.
	MaxDeltaNs int64
	// ClipTime does not count the excess over MaxDeltaNs at all, instead of
	// dropping its whole steps: the frame counts as MaxDeltaNs long, and Alpha
	// is not that of exact time.
	ClipTime bool
	// StallNs is the length of a frame, in nanoseconds, beyond which the frame
	// runs no step and the accumulator is zeroed. 0 means never. Not negative.
	StallNs int64
	// MaxAccumNs bounds what a frame has accumulated, in nanoseconds of
	// simulated time; the excess is dropped exactly, fraction included. 0 means
	// no bound, otherwise it must hold a step.
	MaxAccumNs int64
	// FreezeFrames makes a Freeze hold whole frames back. A frame that begins in a freeze simulates nothing, and
	// takes from the freeze what it counts: its length up to MaxDeltaNs, and nothing if it stalls. So long frames make a freeze longer. Otherwise a
	// freeze ends after its wall time, and the rest of the frame counts. It has no effect under Batch.
	FreezeFrames bool
	// Policy decides about the steps beyond the cap. 0 means DropToCap.
	Policy Policy
	// Channels bounds the factors of the scale and says where they rest.
	Channels [MaxChannels]ChannelConfig
	// Phases has bit p set if steps run in phase p. 0 means in all.
	Phases uint64
	// Batch makes every Advance grant exactly MaxSteps steps, whatever time has passed: the elapsed
	// time moves only the wall clock. Pause, phase and menu still hold the steps back.
	Batch bool
	// JitterFix is the part of a step, in thousandths, by which a step may run early or late. With it,
	// frames run equally many steps each although their moments scatter, if frames and steps keep the
	// same time within half a per cent; otherwise it changes nothing. 50 covers a scatter of 0.8 ms at
	// 60 Hz. 0 to 500; 0 means none.
	JitterFix int
	// SmoothDelta rounds the elapsed times of frames that a display paces to
	// whole periods of it. Later frames return the difference, which is never
	// more than a quarter of a period. See Loop.Refresh. It is for hosts whose
	// frames wait for a display, not for Run.
	SmoothDelta bool
	// Pacing says how Run waits if it is given no clock. 0 means Sleep. Some systems do not have all
	// of them: see Pacing.Effective.
	Pacing Pacing
	// SpinBudget is the part of a CPU, in thousandths, that Run under Precise may spend on spinning,
	// over any few seconds: 1 to 1000. 0 means 40, which is 4 %. Run spins only as long as the machine
	// wakes sleepers late; where the budget does not suffice, frames are late by the rest. See
	// [PreciseClock].
	SpinBudget int
	// OnFault says what Drive and Run do about a step that panics. 0 means
	// Propagate.
	OnFault FaultPolicy
}

// withDefaults replaces the zero fields that have a default.
func (c Config) withDefaults() Config {
	if c.RateDen == 0 {
		c.RateNum, c.RateDen = cmp.Or(c.RateNum, defaultRateNum), defaultRateDen
	}
	c.MaxSteps = cmp.Or(c.MaxSteps, defaultMaxSteps)
	c.MaxDeltaNs = cmp.Or(c.MaxDeltaNs, defaultMaxDeltaNs)
	c.SpinBudget = cmp.Or(c.SpinBudget, defaultSpinBudget)
	for i := range c.Channels {
		c.Channels[i] = c.Channels[i].withDefaults()
	}
	return c
}

// Validate returns nil if New accepts c, and otherwise one error that joins
// all faults. Each names the field and its value and wraps ErrRange, or
// ErrNotFinite for a bound of a channel that is a NaN or infinite.
func (c Config) Validate() error {
	c = c.withDefaults()
	var faults []error
	check := func(ok bool, field string, value any) {
		if !ok {
			faults = append(faults, fault.Field(ErrRange, "loop: Config."+field, value))
		}
	}
	numOK := c.RateNum >= 1 && c.RateNum <= maxRatePart
	denOK := c.RateDen >= 1 && c.RateDen <= maxRatePart
	check(numOK, "RateNum", c.RateNum)
	check(denOK, "RateDen", c.RateDen)
	if numOK && denOK {
		check(c.RateNum <= maxRate*c.RateDen, "RateNum/RateDen", fmt.Sprintf("%d/%d", c.RateNum, c.RateDen))
	}
	check(c.MaxSteps >= 1 && c.MaxSteps <= stepLimit, "MaxSteps", c.MaxSteps)
	check(c.MaxDeltaNs >= 1, "MaxDeltaNs", c.MaxDeltaNs)
	check(c.StallNs >= 0, "StallNs", c.StallNs)
	check(c.MaxAccumNs >= 0, "MaxAccumNs", c.MaxAccumNs)
	if c.MaxAccumNs > 0 && numOK && denOK {
		hi, lo := bits.Mul64(uint64(c.MaxAccumNs), uint64(c.RateNum))
		check(hi > 0 || lo >= uint64(nsPerSecond*c.RateDen), "MaxAccumNs (less than a step)", c.MaxAccumNs)
	}
	check(c.Policy < policies, "Policy", c.Policy)
	check(c.SpinBudget >= 0 && c.SpinBudget <= maxSpinBudget, "SpinBudget", c.SpinBudget)
	check(c.Pacing < pacings, "Pacing", c.Pacing)
	check(c.OnFault < faultPolicies, "OnFault", c.OnFault)
	check(c.JitterFix >= 0 && c.JitterFix <= maxJitterFix, "JitterFix", c.JitterFix)
	for i, ch := range c.Channels {
		faults = append(faults, ch.validate(Channel(i)))
	}
	return errors.Join(faults...)
}

// validate returns the first fault of a channel's bounds.
func (c ChannelConfig) validate(ch Channel) error {
	field := func(name string) string { return fmt.Sprintf("loop: Config.Channels[%v].%s", ch, name) }
	for _, f := range [...]struct {
		name               string
		value, least, most float64
	}{
		{"Max", c.Max, 0, maxScale / one},
		{"Min", c.Min, 0, c.Max},
		{"Rest", c.Rest, c.Min, c.Max},
	} {
		if !fault.Finite(f.value) {
			return fault.Field(ErrNotFinite, field(f.name), f.value)
		}
		if f.value < f.least || f.value > f.most {
			return fault.Field(ErrRange, field(f.name), f.value)
		}
	}
	return nil
}
