package loop

import (
	"math"
	"math/bits"
	"testing"

	"pgregory.net/rapid"
)

// unmix inverts mix: the xor-shifts by repeating them, the multiplications by
// the inverses of the odd factors modulo 2^64.
func unmix(z uint64) uint64 {
	z ^= z>>31 ^ z>>62
	z *= inverse(0x94D049BB133111EB)
	z ^= z>>27 ^ z>>54
	z *= inverse(0xBF58476D1CE4E5B9)
	return z ^ z>>30 ^ z>>60
}

// inverse is Newton's iteration: each round doubles the number of right bits.
func inverse(a uint64) uint64 {
	x := a // three bits right
	for range 5 {
		x *= 2 - a*x
	}
	return x
}

// The input of a block determines (tick, entity, stream, block) for a given
// seed: they can be computed back from it.
func TestBlockInputIsOneToOne(t *testing.T) {
	if mix(0) != 0 {
		t.Fatalf("mix(0) = %x", mix(0))
	}
	rapid.Check(t, func(t *rapid.T) {
		seed, tick, entity := rapid.Uint64().Draw(t, "seed"), rapid.Uint64().Draw(t, "tick"), rapid.Uint64().Draw(t, "entity")
		stream, block := rapid.Uint32().Draw(t, "stream"), rapid.Uint32().Draw(t, "block")
		r := NewRand(seed, tick, entity, stream)
		c, k := r.input(block)
		high := unmix(seed ^ (uint64(k[1])<<32 | uint64(k[0])))
		half := func(n int) uint64 { return high >> n & 0xFFFF }
		gotTick := half(0)<<48 | uint64(c[2]&0xFFFF)<<32 | uint64(c[0])
		gotEntity := half(16)<<48 | uint64(c[2]>>16)<<32 | uint64(c[1])
		gotStream := uint32(half(32))<<16 | c[3]&0xFFFF
		gotBlock := uint32(half(48))<<16 | c[3]>>16
		if gotTick != tick || gotEntity != entity || gotStream != stream || gotBlock != block {
			t.Fatalf("back from the input: tick %x entity %x stream %x block %x", gotTick, gotEntity, gotStream, gotBlock)
		}
		small := NewRand(seed, tick>>16, entity>>16, stream>>16)
		if _, k := small.input(block >> 16); uint64(k[1])<<32|uint64(k[0]) != seed {
			t.Fatalf("key %x in the exact range, want the seed", k)
		}
	})
}

// The block counter passes the 16 bits that the counter holds, and then all 32.
func TestBlockCounterCarries(t *testing.T) {
	for _, block := range []uint32{0xFFFF, 0x1FFFF, 0xFFFFFFFF} {
		r := NewRand(1, 2, 3, 4)
		r.block = block
		for b := block; b != block+2; b++ {
			want := Philox4x32(r.input(b))
			for i, w := range want {
				if got := r.Uint32(); got != w {
					t.Errorf("block %x word %d: %08x, want %08x", b, i, got, w)
				}
			}
		}
	}
}

// Streams whose arguments differ in one bit, wherever it is, share no word
// position more often than chance and differ in half of their bits.
func TestStreamsAreIndependent(t *testing.T) {
	base := [4]uint64{0x1234, 1000, 77, 3}
	widths := [4]int{64, 64, 64, 32}
	const words = 1024
	for arg, width := range widths {
		for bit := range width {
			other := base
			other[arg] ^= 1 << bit
			a := NewRand(base[0], base[1], base[2], uint32(base[3]))
			b := NewRand(other[0], other[1], other[2], uint32(other[3]))
			differ := 0
			for range words {
				differ += bits.OnesCount32(a.Uint32() ^ b.Uint32())
			}
			// 32768 fair bits: standard deviation 90.5, limit at 5 of them.
			if differ < 16*words-453 || differ > 16*words+453 {
				t.Errorf("argument %d bit %d: %d of %d bits differ", arg, bit, differ, 32*words)
			}
		}
	}
}

// philoxPair is two calls of Philox4x32.
func TestPhiloxPair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.Uint32()
		a := [4]uint32{word.Draw(t, "a0"), word.Draw(t, "a1"), word.Draw(t, "a2"), word.Draw(t, "a3")}
		b := [4]uint32{word.Draw(t, "b0"), word.Draw(t, "b1"), word.Draw(t, "b2"), word.Draw(t, "b3")}
		key := [2]uint32{word.Draw(t, "k0"), word.Draw(t, "k1")}
		if x, y := philoxPair(a, b, key); x != Philox4x32(a, key) || y != Philox4x32(b, key) {
			t.Fatalf("%x and %x", x, y)
		}
	})
}

// FillRange gives the numbers of Range, wherever the stream is, also where the key changes between two blocks.
func TestFillRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := NewRand(rapid.Uint64().Draw(t, "seed"), 2, 3, 4)
		r.block = rapid.SampledFrom([]uint32{0, 0xFFFE, 0xFFFF, 0x1FFFD, 0xFFFFFFFE}).Draw(t, "block")
		for range rapid.IntRange(0, 5).Draw(t, "drawn before") {
			r.Uint32()
		}
		want, lo, hi := r, rapid.Float32Range(-9, 9).Draw(t, "lo"), rapid.Float32Range(-9, 9).Draw(t, "hi")
		for range 2 {
			got := make([]float32, rapid.IntRange(0, 70).Draw(t, "length"))
			r.FillRange(got, lo, hi)
			for i, v := range got {
				if w := want.Range(lo, hi); v != w {
					t.Fatalf("number %d: %g, want %g", i, v, w)
				}
			}
		}
		if r.Uint32() != want.Uint32() {
			t.Fatal("the streams differ afterwards")
		}
	})
}

// As those of Range, bounds that are too far apart panic.
func TestFillRangePanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	var r Rand
	r.FillRange(nil, -math.MaxFloat32, math.MaxFloat32)
}
