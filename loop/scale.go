package loop

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/evertick/evertick/internal/enum"
	"github.com/evertick/evertick/internal/fault"
)

// Channel is one of the factors whose product is the speed of simulated time.
// Those beyond Juice are the program's own.
type Channel uint8

const (
	// Dilation is for slow motion as an event of the game; the end of a freeze
	// returns it to rest.
	Dilation Channel = iota
	// Speed is for the choice of the player.
	Speed
	// Juice is for effects.
	Juice

	// MaxChannels is the number of channels.
	MaxChannels = 8
)

// String returns the name of the constant, or "Channel(n)".
func (c Channel) String() string { return enum.Name(channelNames[:], c, "Channel") }

var channelNames = [...]string{"Dilation", "Speed", "Juice"}

// Forever, as the duration of SetScale, means until ReleaseScale.
const Forever = 0

// ErrHeld is wrapped by the errors of SetScale and ReleaseScale for a channel
// that another owner holds.
var ErrHeld = errors.New("held by another")

// one is the scale 1 in millionths, maxScale the greatest, 100.
const (
	one      = 1_000_000
	maxScale = 100 * one
)

// ChannelConfig bounds a channel. The zero value means 0 to 100, at rest 1.
// Values are rounded to millionths, half to even.
type ChannelConfig struct {
	// Min and Max are what SetScale clamps to, 0 <= Min <= Max <= 100. Max 0
	// means 100.
	Min, Max float64
	// Rest is the value of a channel without an owner, from Min to Max. 0 means 1.
	Rest float64
}

func (c ChannelConfig) withDefaults() ChannelConfig {
	c.Max, c.Rest = cmp.Or(c.Max, 100), cmp.Or(c.Rest, 1)
	return c
}

// limits is a ChannelConfig in millionths.
type limits struct{ min, max, rest uint64 }

// channel is the state of one channel.
type channel struct {
	owner string // "": nobody
	value uint64 // millionths
	left  int64  // wall time until it returns to rest, 0: it does not by itself
}

// millionths returns v, from 0 to 100, rounded to millionths, half to even.
func millionths(v float64) uint64 { return uint64(math.RoundToEven(float64(v * one))) }

// SetScale sets channel ch to value in the name of owner, for forNs nanoseconds of
// wall time, counted from the last Advance, or Forever. The value is clamped to the
// channel's bounds and rounded to millionths. After that time, or when owner
// releases it, the channel returns to rest, so that a forgotten change cannot stop
// the world. The owner may set it again.
//
// Nothing changes on an error: ErrRange for an unknown channel, an empty owner,
// a negative value or a negative forNs, ErrNotFinite for a NaN or an infinity,
// ErrHeld, naming the holder, if another owner has it.
func (l *Loop) SetScale(ch Channel, owner string, value float64, forNs int64) error {
	if err := l.mayScale("SetScale", ch, owner); err != nil {
		return err
	}
	switch {
	case !fault.Finite(value):
		return fault.Field(ErrNotFinite, "loop: SetScale: value", value)
	case value < 0:
		return fault.Field(ErrRange, "loop: SetScale: value", value)
	case forNs < 0:
		return fault.Field(ErrRange, "loop: SetScale: forNs", forNs)
	}
	l.recordOwner(owner, opSetScale, uint64(ch), uint64(forNs), math.Float64bits(value))
	lim := l.limits[ch]
	value = min(value, 100) // larger values are above every Max, and could not be converted
	l.channels[ch] = channel{owner, max(lim.min, min(millionths(value), lim.max)), forNs}
	l.rescale()
	return nil
}

// ReleaseScale returns channel ch to rest if owner holds it. It does nothing if the
// channel has no owner, for instance after it has expired. If another owner holds
// it, the error is ErrHeld, naming the holder. An unknown channel or an empty owner
// is ErrRange.
func (l *Loop) ReleaseScale(ch Channel, owner string) error {
	if err := l.mayScale("ReleaseScale", ch, owner); err != nil {
		return err
	}
	l.recordOwner(owner, opReleaseScale, uint64(ch))
	l.channels[ch] = channel{value: l.limits[ch].rest}
	l.rescale()
	return nil
}

func (l *Loop) mayScale(method string, ch Channel, owner string) error {
	if ch >= MaxChannels {
		return fault.Field(ErrRange, "loop: "+method+": channel", uint8(ch))
	}
	if owner == "" {
		return fault.Field(ErrRange, "loop: "+method+": owner", `""`)
	}
	if holder := l.channels[ch].owner; holder != "" && holder != owner {
		return fmt.Errorf("loop: %s: %v, for %q: %w: %q", method, ch, owner, ErrHeld, holder)
	}
	return nil
}

// Scale returns the value of a channel. An unknown channel panics.
func (l *Loop) Scale(ch Channel) float64 {
	if ch >= MaxChannels {
		panic("loop: Scale: no such channel")
	}
	return float64(l.channels[ch].value) / one
}

// rescale computes the product anew after a factor has changed.
func (l *Loop) rescale() {
	// The pace is a factor as exact as the others: 1/64 is 15,625 millionths.
	factors := [MaxChannels + 1]uint64{MaxChannels: l.pace * (one / fullPace)}
	for i := range l.channels {
		factors[i] = l.channels[i].value
	}
	l.scale = product(factors)
}

// product returns the product of factors in millionths, each at most maxScale,
// rounded once to millionths, half to even, and at most maxScale. The exact
// product has at most 9 × 27 bits, and so fits four words.
func product(factors [MaxChannels + 1]uint64) uint64 {
	p, divisions := [4]uint64{one}, 0
	for _, f := range factors {
		if f == one {
			continue
		}
		divisions++
		var carry uint64
		for i, word := range p {
			hi, lo := bits.Mul64(word, f)
			var c uint64
			p[i], c = bits.Add64(lo, carry, 0)
			carry = hi + c
		}
	}
	// The rounding depends only on the last remainder, and on whether an earlier
	// one was not zero.
	var last uint64
	exact := true
	for range divisions {
		exact = exact && last == 0
		last = 0
		for i := len(p) - 1; i >= 0; i-- {
			p[i], last = bits.Div64(last, p[i], one)
		}
	}
	if p[1]|p[2]|p[3] != 0 {
		return maxScale
	}
	if last > one/2 || last == one/2 && (!exact || p[0]%2 == 1) {
		p[0]++
	}
	return min(p[0], maxScale)
}
