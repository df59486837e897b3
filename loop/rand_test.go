package loop_test

import (
	"math"
	"math/bits"
	"testing"

	"pgregory.net/rapid"

	"github.com/evertick/evertick/loop"
)

// The known answers that Random123 publishes for philox4x32-10.
func TestPhiloxKnownAnswers(t *testing.T) {
	const ones = 0xFFFFFFFF
	for _, tc := range []struct {
		ctr  [4]uint32
		key  [2]uint32
		want [4]uint32
	}{
		{want: [4]uint32{0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8}},
		{
			[4]uint32{ones, ones, ones, ones}, [2]uint32{ones, ones},
			[4]uint32{0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD},
		},
		{
			[4]uint32{0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344}, [2]uint32{0xA4093822, 0x299F31D0},
			[4]uint32{0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1},
		},
	} {
		if got := loop.Philox4x32(tc.ctr, tc.key); got != tc.want {
			t.Errorf("Philox4x32(%08x, %08x) = %08x, want %08x", tc.ctr, tc.key, got, tc.want)
		}
	}
}

// The documented layout, word for word.
func TestRandLayout(t *testing.T) {
	r := loop.NewRand(0x0123456789ABCDEF, 0xAAAA_BBBBBBBB, 0xCCCC_DDDDDDDD, 0xEEEE)
	for block := range uint32(3) {
		want := loop.Philox4x32(
			[4]uint32{0xBBBBBBBB, 0xDDDDDDDD, 0xCCCC_AAAA, block<<16 | 0xEEEE},
			[2]uint32{0x89ABCDEF, 0x01234567})
		for i, w := range want {
			if got := r.Uint32(); got != w {
				t.Errorf("block %d word %d: %08x, want %08x", block, i, got, w)
			}
		}
	}
	var zero loop.Rand
	if got := zero.Uint64(); got != 0xE169C58D_6627E8D5 {
		t.Errorf("zero Rand: %x", got)
	}
}

func TestRandCopyForks(t *testing.T) {
	a := loop.NewRand(1, 2, 3, 4)
	for range 7 {
		b := a
		if x, y := a.Uint64(), b.Uint64(); x != y {
			t.Errorf("%x != %x", x, y)
		}
	}
}

// chiSquare returns the statistic of counts against an equal share each.
func chiSquare(counts []int) float64 {
	total := 0
	for _, n := range counts {
		total += n
	}
	share, sum := float64(total)/float64(len(counts)), 0.0
	for _, n := range counts {
		sum += (float64(n) - share) * (float64(n) - share) / share
	}
	return sum
}

// Numbers in sequence, and first numbers of neighbouring entities and ticks,
// fall evenly into buckets.
func TestRandUniform(t *testing.T) {
	const buckets, draws = 64, 1 << 16
	seq := loop.NewRand(42, 0, 0, 0)
	sources := map[string]func(i uint64) *loop.Rand{
		"sequence": func(uint64) *loop.Rand { return &seq },
		"entities": func(i uint64) *loop.Rand { r := loop.NewRand(42, 7, i, 0); return &r },
		"ticks":    func(i uint64) *loop.Rand { r := loop.NewRand(42, i, 7, 0); return &r },
		"seeds":    func(i uint64) *loop.Rand { r := loop.NewRand(i, 7, 7, 0); return &r },
		"streams":  func(i uint64) *loop.Rand { r := loop.NewRand(42, 7, 7, uint32(i)); return &r },
	}
	draw := map[string]func(r *loop.Rand) int{
		"high bits": func(r *loop.Rand) int { return int(r.Uint32() >> 26) },
		"low bits":  func(r *loop.Rand) int { return int(r.Uint32() & 63) },
		"uint32n":   func(r *loop.Rand) int { return int(r.Uint32n(buckets)) },
		"float32":   func(r *loop.Rand) int { return int(r.Float32() * buckets) },
		"range":     func(r *loop.Rand) int { return min(int(r.Range(-1, 1)*buckets/2+buckets/2), buckets-1) },
	}
	for from, source := range sources {
		for name, pick := range draw {
			counts := make([]int, buckets)
			for i := range uint64(draws) {
				counts[pick(source(i))]++
			}
			// 63 degrees of freedom: the chance of exceeding 127 is 4e-6.
			if x := chiSquare(counts); x > 127 {
				t.Errorf("%s over %s: chi-square %.1f", name, from, x)
			}
		}
	}
}

// n = 3×2^30 without rejection would give every third value double weight.
func TestUint32nHasNoBias(t *testing.T) {
	r, thirds := loop.NewRand(9, 9, 9, 9), make([]int, 3)
	for range 1 << 16 {
		thirds[r.Uint32n(3<<30)%3]++
	}
	if x := chiSquare(thirds); x > 25 {
		t.Errorf("chi-square %.1f, counts %v", x, thirds)
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint32Range(1, math.MaxUint32).Draw(t, "n")
		r := loop.NewRand(rapid.Uint64().Draw(t, "seed"), 0, 0, 0)
		reference := r
		// The definition: reject the products whose low half is below 2^32 mod n.
		want := uint32(0)
		for {
			hi, lo := bits.Mul32(reference.Uint32(), n)
			if uint64(lo) >= (1<<32)%uint64(n) {
				want = hi
				break
			}
		}
		if got := r.Uint32n(n); got != want || got >= n {
			t.Fatalf("Uint32n(%d) = %d, want %d", n, got, want)
		}
		if r != reference {
			t.Fatal("another number of words taken")
		}
	})
}

func TestFloat32Is24Bits(t *testing.T) {
	r := loop.NewRand(5, 0, 0, 0)
	words := r
	for range 10_000 {
		f := r.Float32()
		if f < 0 || f >= 1 || uint32(f*(1<<24)) != words.Uint32()>>8 {
			t.Fatalf("%v", f)
		}
	}
}

func TestRangeStaysInside(t *testing.T) {
	finite := rapid.OneOf(rapid.Float32Range(-10, 10), rapid.Float32Range(-math.MaxFloat32/2, math.MaxFloat32/2))
	rapid.Check(t, func(t *rapid.T) {
		lo, hi := finite.Draw(t, "lo"), finite.Draw(t, "hi")
		r := loop.NewRand(rapid.Uint64().Draw(t, "seed"), 0, 0, 0)
		for range 50 {
			if v := r.Range(lo, hi); !(v >= min(lo, hi) && v <= max(lo, hi)) {
				t.Fatalf("Range(%v, %v) = %v", lo, hi, v)
			}
		}
	})
}

func TestRandPanics(t *testing.T) {
	inf := float32(math.Inf(1))
	for want, call := range map[string]func(r *loop.Rand){
		"loop: Rand.Uint32n: n is 0":            func(r *loop.Rand) { r.Uint32n(0) },
		"loop: Rand.Range: hi-lo is not finite": func(r *loop.Rand) { r.Range(0, inf) },
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("panic %v, want %q", got, want)
				}
			}()
			r := loop.NewRand(0, 0, 0, 0)
			call(&r)
		}()
	}
	for _, b := range [][2]float32{{-math.MaxFloat32, math.MaxFloat32}, {inf, inf}, {inf - inf, 0}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Range(%v, %v) does not panic", b[0], b[1])
				}
			}()
			r := loop.NewRand(0, 0, 0, 0)
			r.Range(b[0], b[1])
		}()
	}
}

func TestRandDoesNotAllocate(t *testing.T) {
	var sum float32
	if n := testing.AllocsPerRun(100, func() {
		r := loop.NewRand(1, 2, 3, 4)
		sum += r.Range(-1, 1) + float32(r.Uint32n(10))
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkRand(b *testing.B) {
	b.Run("new+4", func(b *testing.B) {
		i, sum := uint64(0), uint32(0)
		for b.Loop() {
			i++
			r := loop.NewRand(1, 2, i, 3)
			sum += r.Uint32() + r.Uint32() + r.Uint32() + r.Uint32()
		}
	})
	b.Run("uint32", func(b *testing.B) {
		r := loop.NewRand(1, 2, 3, 4)
		for b.Loop() {
			r.Uint32()
		}
	})
}
