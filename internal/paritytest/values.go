package paritytest

import "math"

// Class is a kind of float32 that goes wrong in a way of its own.
type Class uint8

const (
	Uniform  Class = iota // -1000 to 1000
	Zero                  // +0 and -0
	Denormal              // either sign
	Huge                  // 2^64 up to the largest finite number: squares overflow
	Tiny                  // 2^-126 to 2^-64: squares underflow
	Infinite              // +Inf and -Inf
	NaN                   // quiet and signalling, any sign and payload
	AnyBits               // any pattern at all
)

// AllClasses are all kinds, and Finite those that state may hold.
var (
	AllClasses = []Class{Uniform, Zero, Denormal, Huge, Tiny, Infinite, NaN, AnyBits}
	Finite     = []Class{Uniform, Zero, Denormal, Huge, Tiny}
)

const signBit = 1 << 31

// Float draws a number of a class.
func (r *Run) Float(c Class) float32 {
	b := r.Uint32()
	switch c {
	case Zero:
		b &= signBit
	case Denormal:
		b = b&signBit | (1 + b%0x7fffff)
	case Huge:
		b = b&(signBit|0x7fffff) | uint32(127+64+r.IntN(64))<<23
	case Tiny:
		b = b&(signBit|0x7fffff) | uint32(1+r.IntN(62))<<23
	case Infinite:
		b = b&signBit | 0x7f800000
	case NaN:
		b = b&signBit | 0x7f800000 | (1 + b%0x7fffff)
	case Uniform:
		return (r.Float32() - 0.5) * 2000
	}
	return math.Float32frombits(b)
}

// Fill draws every element from a class of its own choice among those given.
func (r *Run) Fill(s []float32, classes ...Class) {
	for i := range s {
		s[i] = r.Float(classes[r.IntN(len(classes))])
	}
}

// Near draws v or one of its two neighbours, one unit in the last place away.
func (r *Run) Near(v float32) float32 {
	switch r.IntN(3) {
	case 0:
		return math.Nextafter32(v, float32(math.Inf(-1)))
	case 1:
		return math.Nextafter32(v, float32(math.Inf(1)))
	}
	return v
}
