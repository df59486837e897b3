package loop

import (
	"errors"
	"strconv"

	"github.com/evertick/evertick/internal/fault"
)

// ErrRange is wrapped by the errors of [Config.Validate] and [New].
var ErrRange = fault.ErrRange

// Policy says what becomes of the steps that a frame owes beyond its cap.
type Policy uint8

const (
	// DropToCap drops them: after a hitch the simulation has lost time.
	DropToCap Policy = iota
	// Keep leaves them to later frames, up to floor(MaxDeltaNs × rate) steps;
	// what exceeds that is dropped. At rates so low that MaxDeltaNs holds no
	// whole step it keeps nothing.
	Keep

	policies // number of policies
)

// String returns the name of the constant, or "Policy(n)".
func (p Policy) String() string {
	switch p {
	case DropToCap:
		return "DropToCap"
	case Keep:
		return "Keep"
	}
	return "Policy(" + strconv.Itoa(int(p)) + ")"
}

const (
	defaultRateNum    = 60
	defaultRateDen    = 1
	defaultMaxSteps   = 5
	defaultMaxDeltaNs = 250_000_000

	nsPerSecond = 1_000_000_000

	// maxRate bounds the numerator and the denominator of the rate. One step
	// is then at most 1e9 × 1e8 = 1e17 < 2^57 units, and the steps due in a
	// frame are at most 2^63 ns × 1e8/1e9 per ns + 1 < 2^60.
	maxRate = 100_000_000
	// stepLimit bounds MaxSteps: it fits an int of 32 bits, and steps that
	// Run puts back after an error cannot overflow the backlog.
	stepLimit = 1 << 30
)

// Config describes a Loop. The zero value means 60 steps per second, at most 5
// steps in a frame, frames clamped to 0.25 s, policy DropToCap.
type Config struct {
	// RateNum / RateDen is the rate in steps per second: 60/1, 60000/1001.
	// Each from 1 to 100,000,000. RateDen 0 means 1, and RateNum 0 means 60 if
	// RateDen is 0 too. The fraction need not be in lowest terms.
	RateNum, RateDen int64
	// MaxSteps is the most steps that one frame runs, from 1 to 1<<30.
	// 0 means 5.
	MaxSteps int
	// MaxDeltaNs is the longest frame, in nanoseconds, that is taken at its
	// word; from a longer one the whole steps of the excess are dropped. Under
	// Keep it bounds the backlog too. Any positive value; 0 means 250,000,000.
	MaxDeltaNs int64
	// Policy says what becomes of steps beyond the cap. 0 means DropToCap.
	Policy Policy
}

// withDefaults replaces the zero fields that have a default.
func (c Config) withDefaults() Config {
	if c.RateDen == 0 {
		c.RateDen = defaultRateDen
		if c.RateNum == 0 {
			c.RateNum = defaultRateNum
		}
	}
	if c.MaxSteps == 0 {
		c.MaxSteps = defaultMaxSteps
	}
	if c.MaxDeltaNs == 0 {
		c.MaxDeltaNs = defaultMaxDeltaNs
	}
	return c
}

// Validate returns nil if New accepts c, and otherwise one error that joins
// all faults. Each names the field and its value and wraps ErrRange.
func (c Config) Validate() error {
	c = c.withDefaults()
	var faults []error
	check := func(ok bool, field string, value any) {
		if !ok {
			faults = append(faults, fault.Field(ErrRange, "loop: Config."+field, value))
		}
	}
	check(c.RateNum >= 1 && c.RateNum <= maxRate, "RateNum", c.RateNum)
	check(c.RateDen >= 1 && c.RateDen <= maxRate, "RateDen", c.RateDen)
	check(c.MaxSteps >= 1 && c.MaxSteps <= stepLimit, "MaxSteps", c.MaxSteps)
	check(c.MaxDeltaNs >= 1, "MaxDeltaNs", c.MaxDeltaNs)
	check(c.Policy < policies, "Policy", c.Policy)
	return errors.Join(faults...)
}
