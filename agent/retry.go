package agent

import (
	"errors"
	"fmt"
	"math/bits"
	"time"
)

// RetryError is the error of a provider that must not be called before a time: that of an endpoint that says that it
// is called too often, for example. Decide may wrap it. The decision is rejected, as ProviderBusy, and the answer says for how
// many ticks the provider is not asked, for any agent: a limit turns their turns away, see Spec.Shed. So a log has the
// delay, in ticks, and a replay repeats it without a clock. Where ticks run faster than the clock, decisions that are
// requested before the time are rejected likewise, without a call. ProviderConfig.MaxDelay bounds the delay.
type RetryError struct {
	// NotBefore is the wall time from which on the provider may be called. A time that has passed rejects the decision,
	// and delays nothing.
	NotBefore time.Time
	// Err is the cause. It may be nil.
	Err error

	ticks uint64 // instead of NotBefore, of Recorded
}

// Error implements error.
func (e *RetryError) Error() string {
	if e.Err == nil {
		return "agent: the provider is busy"
	}
	return e.Err.Error()
}

// Unwrap returns Err.
func (e *RetryError) Unwrap() error { return e.Err }

// errBusy is the cause where a provider is not called since it has asked for time.
var errBusy = errors.New("agent: the provider has asked not to be called yet")

// delay returns for how long a provider that has returned err is not called, up to most, and whether err says so.
func delay(err error, most time.Duration) (d time.Duration, retry *RetryError) {
	if !errors.As(err, &retry) {
		return 0, nil
	}
	return min(max(time.Until(retry.NotBefore), 0), most), retry
}

// ticksFor returns the ticks after which d has passed, at num/den ticks per second: d × rate, rounded up.
func ticksFor(d time.Duration, num, den int64) uint64 {
	// Nothing overflows: d < 2^63 and rates of up to 1e6 give less than 2^54, see evertick.Sim.TicksIn.
	unit := 1_000_000_000 * uint64(den)
	hi, lo := bits.Mul64(uint64(max(d, 0)), uint64(num))
	ticks, rest := bits.Div64(hi, lo, unit)
	if rest > 0 {
		ticks++
	}
	return min(ticks, limit)
}

// refusal returns the answer that says why a provider has not decided.
func (a *Agents) refusal(h head, err error, most time.Duration) []byte {
	d, retry := delay(err, most)
	if retry == nil {
		return h.failure(nil, ProviderError, err.Error())
	}
	ticks := retry.ticks
	if ticks == 0 {
		num, den := a.sim.Loop().TimeAt(0).Rate()
		ticks = ticksFor(d, num, den)
	}
	return h.busy(ticks, err.Error())
}

// hold notes that a provider is not to be called for a time.
func (rs *requests) hold(provider int, d time.Duration) {
	until := time.Now().Add(d)
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if c := &rs.calls[provider]; until.After(c.notBefore) {
		c.notBefore = until
	}
}

// delayProvider lets agents ask a provider again from a tick on.
func (a *Agents) delayProvider(provider int, from uint64) {
	a.notBefore[provider] = max(a.notBefore[provider], from)
}

// NotBefore returns the first tick in which agents may ask a provider, an index into Config.Providers, since its last
// RetryError. It is 0 if there was none.
func (a *Agents) NotBefore(provider int) uint64 {
	if provider < 0 || provider >= len(a.notBefore) {
		panic(fmt.Sprintf("agent: NotBefore: no provider %d", provider))
	}
	return a.notBefore[provider]
}
