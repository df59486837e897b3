package loop

import (
	"math"
	"math/bits"

	"github.com/evertick/evertick/internal/fault"
)

const (
	philoxM0, philoxM1 = 0xD2511F53, 0xCD9E8D57 // multipliers of the paper
	philoxW0, philoxW1 = 0x9E3779B9, 0xBB67AE85 // key increments: golden ratio, √3 − 1
	philoxRounds       = 10
)

// Philox4x32 is the Philox 4x32-10 block function of Salmon, Moraes, Dror and
// Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011): a bijection of
// the 128-bit counter for every key, word 0 the least significant.
func Philox4x32(ctr [4]uint32, key [2]uint32) [4]uint32 {
	c0, c1, c2, c3 := ctr[0], ctr[1], ctr[2], ctr[3]
	k0, k1 := key[0], key[1]
	for range philoxRounds {
		hi0, lo0 := bits.Mul32(philoxM0, c0)
		hi1, lo1 := bits.Mul32(philoxM1, c2)
		c0, c1, c2, c3 = hi1^c1^k0, lo1, hi0^c3^k1, lo0
		k0 += philoxW0
		k1 += philoxW1
	}
	return [4]uint32{c0, c1, c2, c3}
}

// philoxPair is Philox4x32 of two counters. Each round waits for the result of the round before it, so two blocks
// side by side take hardly longer than one.
func philoxPair(a, b [4]uint32, key [2]uint32) (x, y [4]uint32) {
	a0, a1, a2, a3 := a[0], a[1], a[2], a[3]
	b0, b1, b2, b3 := b[0], b[1], b[2], b[3]
	k0, k1 := key[0], key[1]
	for range philoxRounds {
		p, q := uint64(philoxM0)*uint64(a0), uint64(philoxM1)*uint64(a2)
		r, s := uint64(philoxM0)*uint64(b0), uint64(philoxM1)*uint64(b2)
		a0, a1, a2, a3 = uint32(q>>32)^a1^k0, uint32(q), uint32(p>>32)^a3^k1, uint32(p)
		b0, b1, b2, b3 = uint32(s>>32)^b1^k0, uint32(s), uint32(r>>32)^b3^k1, uint32(r)
		k0 += philoxW0
		k1 += philoxW1
	}
	return [4]uint32{a0, a1, a2, a3}, [4]uint32{b0, b1, b2, b3}
}

// Rand is a stream of random numbers that depends on seed, tick, entity and
// stream alone. It is a plain value of 56 bytes: make it where it is needed,
// throw it away, copy it to fork it. The zero value is NewRand(0, 0, 0, 0). It
// is not for cryptography, and one Rand is not safe for concurrent use.
//
// Block b of a stream, four words of 32 bits, is Philox4x32 of
//
//	counter word 0   tick   bits  0–31
//	counter word 1   entity bits  0–31
//	counter word 2   tick   bits 32–47, then entity bits 32–47
//	counter word 3   stream bits  0–15, then b      bits  0–15
//	key              seed XOR mix(high)
//	high             tick bits 48–63, entity bits 48–63,
//	                 stream bits 16–31, b bits 16–31, lowest first
//
// where mix is a bijection of 64 bits with mix(0) = 0 (the finaliser of
// SplitMix64). Therefore:
//
//   - Under one seed no two (tick, entity, stream, b) share a block input,
//     whatever their values, since tuple to (counter, key) is one to one.
//   - While tick and entity stay below 2^48, stream below 2^16 and the numbers
//     drawn below 2^18 words, the key is the seed and the same holds across
//     seeds. Beyond, the high bits are hashed into the key, and two different
//     seeds meet only by chance, 2^-64 for each pair of (seed, high).
//
// b counts modulo 2^32: a stream repeats after 2^34 words.
type Rand struct {
	seed   uint64
	high   uint64    // tick, entity and stream bits that go into the key
	low    [4]uint32 // the counter of block 0
	block  uint32    // number of the next block
	left   uint32    // words of buffer not given out yet
	buffer [4]uint32
}

// NewRand returns the stream of (seed, tick, entity, stream) at its beginning.
// Every value of every argument is valid.
func NewRand(seed, tick, entity uint64, stream uint32) Rand {
	return Rand{
		seed: seed,
		high: tick>>48 | entity>>48<<16 | uint64(stream>>16)<<32,
		low: [4]uint32{
			uint32(tick),
			uint32(entity),
			uint32(tick>>32)&0xFFFF | uint32(entity>>32)<<16,
			stream & 0xFFFF,
		},
	}
}

// input returns the counter and the key of block b.
func (r *Rand) input(b uint32) (ctr [4]uint32, key [2]uint32) {
	ctr = r.low
	ctr[3] |= b << 16
	k := r.seed ^ mix(r.high|uint64(b>>16)<<48)
	return ctr, [2]uint32{uint32(k), uint32(k >> 32)}
}

// mix is the finaliser of SplitMix64: a bijection, because it consists of
// xor-shifts and odd multiplications, that maps 0 to 0.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// refill computes the next block.
func (r *Rand) refill() {
	r.buffer = Philox4x32(r.input(r.block))
	r.block++
	r.left = uint32(len(r.buffer))
}

// Uint32 returns the next word of the stream: 32 uniform bits.
func (r *Rand) Uint32() uint32 {
	if r.left == 0 {
		r.refill()
	}
	v := r.buffer[(4-r.left)&3]
	r.left--
	return v
}

// Uint64 returns 64 uniform bits: the next word is the low half, the one after
// it the high half.
func (r *Rand) Uint64() uint64 {
	lo := uint64(r.Uint32())
	hi := uint64(r.Uint32())
	return hi<<32 | lo
}

// Uint32n returns an integer in [0, n), every one equally likely. It panics if n
// is 0. It takes one word, and with a chance below n/2^32 another one, and so
// on: Lemire, "Fast random integer generation in an interval" (2019).
func (r *Rand) Uint32n(n uint32) uint32 {
	if n == 0 {
		panic("loop: Rand.Uint32n: n is 0")
	}
	product := uint64(r.Uint32()) * uint64(n)
	if uint32(product) < n {
		threshold := -n % n // 2^32 mod n: this many words must be rejected for equal chances
		for uint32(product) < threshold {
			product = uint64(r.Uint32()) * uint64(n)
		}
	}
	return uint32(product >> 32)
}

// Float32 returns k/2^24 for a uniform integer k in [0, 2^24): the top 24 bits
// of the next word, exactly. It is never 1.
func (r *Rand) Float32() float32 {
	return unitFloat(r.Uint32())
}

func unitFloat(word uint32) float32 { return float32(word>>8) * 0x1p-24 }

// Range returns lo + u×(hi-lo) with u = Float32(), where the difference, the
// product and the sum are each rounded to float32. The result is never outside
// [lo, hi], or [hi, lo] if hi < lo; the last rounding can reach hi, as in
// Range(1, 2), so the interval is closed. Range panics if hi-lo is not finite.
func (r *Rand) Range(lo, hi float32) float32 {
	width := hi - lo
	if !fault.Finite(width) {
		panic("loop: Rand.Range: hi-lo is not finite")
	}
	return inRange(r.Uint32(), lo, width)
}

// FillRange sets the elements of dst to what as many calls of Range(lo, hi) would return, and leaves the stream
// as they would. Many numbers take less than two thirds of the time. It panics if hi-lo is not finite.
func (r *Rand) FillRange(dst []float32, lo, hi float32) {
	width := hi - lo
	if !fault.Finite(width) {
		panic("loop: Rand.FillRange: hi-lo is not finite")
	}
	for r.left > 0 && len(dst) > 0 {
		dst[0], dst = inRange(r.Uint32(), lo, width), dst[1:]
	}
	for ; len(dst) >= 8; dst = dst[8:] {
		first, key := r.input(r.block)
		second, other := r.input(r.block + 1)
		if key != other {
			break
		}
		r.block += 2
		first, second = philoxPair(first, second, key)
		for i := range first {
			dst[i], dst[4+i] = inRange(first[i], lo, width), inRange(second[i], lo, width)
		}
	}
	for i := range dst {
		dst[i] = inRange(r.Uint32(), lo, width)
	}
}

// inRange returns the number of Range for a word of the stream.
func inRange(word uint32, lo, width float32) float32 {
	return lo + float32(unitFloat(word)*width)
}

// Uint64n returns an integer in [0, n), every one equally likely. It panics if n
// is 0. It takes two words, and with a chance below n/2^64 two more, and so on,
// by the method of Uint32n with products of 128 bits.
func (r *Rand) Uint64n(n uint64) uint64 {
	if n == 0 {
		panic("loop: Rand.Uint64n: n is 0")
	}
	hi, lo := bits.Mul64(r.Uint64(), n)
	if lo < n {
		threshold := -n % n // 2^64 mod n
		for lo < threshold {
			hi, lo = bits.Mul64(r.Uint64(), n)
		}
	}
	return hi
}

// below is Uint32n if n fits and Uint64n otherwise, so that it draws the same
// words whatever the size of an int.
func (r *Rand) below(n uint64) uint64 {
	if n <= math.MaxUint32 {
		return uint64(r.Uint32n(uint32(n)))
	}
	return r.Uint64n(n)
}

// IntN returns an integer in [0, n), every one equally likely: Uint32n(n) for n
// below 2^32 and otherwise Uint64n(n). It panics if n is not positive.
func (r *Rand) IntN(n int) int {
	if n <= 0 {
		panic("loop: Rand.IntN: n is not positive")
	}
	return int(r.below(uint64(n)))
}

// IntRange returns an integer in [lo, hi], both ends included, every one equally
// likely. With w = hi-lo+1 it takes the words of IntN(w), or two if w is 2^64.
// It panics if hi < lo.
func (r *Rand) IntRange(lo, hi int) int {
	if hi < lo {
		panic("loop: Rand.IntRange: hi < lo")
	}
	w := uint64(hi) - uint64(lo) + 1 // modulo 2^64, as the sum below
	if w == 0 {
		return int(r.Uint64())
	}
	return int(uint64(lo) + r.below(w))
}

// Bool returns true or false, equally likely: the top bit of the next word.
func (r *Rand) Bool() bool { return r.Uint32()>>31 != 0 }

// Float64 returns k/2^53 for a uniform integer k in [0, 2^53): the top 53 bits
// of Uint64, exactly. It is never 1.
func (r *Rand) Float64() float64 {
	return float64(int64(r.Uint64()>>11)) * 0x1p-53
}

// Shuffle puts n things into random order, every order equally likely as far as
// 2^64 seeds allow. It is the shuffle of Fisher and Yates: for i from n-1 down to
// 1 it calls swap(i, j) with j = IntN(i+1), also if they are equal. It panics if
// n is negative.
func (r *Rand) Shuffle(n int, swap func(i, j int)) {
	if n < 0 {
		panic("loop: Rand.Shuffle: n is negative")
	}
	for i := n - 1; i > 0; i-- {
		swap(i, int(r.below(uint64(i)+1)))
	}
}

// Perm fills p with the integers in [0, len(p)) in random order: the order to
// which Shuffle brings 0, 1, 2, and so on.
func (r *Rand) Perm(p []int) {
	for i := range p {
		p[i] = i
	}
	for i := len(p) - 1; i > 0; i-- {
		j := r.below(uint64(i) + 1)
		p[i], p[j] = p[j], p[i]
	}
}
