package worlds_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/train"
)

// Shares follow each other without a gap, and differ by one world at most.
func TestShareCovers(t *testing.T) {
	for total := 1; total < 40; total++ {
		for ranks := 1; ranks <= total; ranks++ {
			next, least, most := uint64(0), total, 0
			for rank := range ranks {
				first, n, err := train.Share(total, rank, ranks)
				if err != nil || first != next {
					t.Fatalf("%d of %d, %d worlds: %d, %v; want %d", rank, ranks, total, first, err, next)
				}
				next += uint64(n)
				least, most = min(least, n), max(most, n)
			}
			if next != uint64(total) || most-least > 1 || least < 1 {
				t.Fatalf("%d worlds, %d ranks: %d in all, %d to %d", total, ranks, next, least, most)
			}
		}
	}
	if first, n, err := train.Share(math.MaxInt, 6, 7); err != nil || first+uint64(n) != math.MaxInt {
		t.Error(first, n, err)
	}
	for _, bad := range [][3]int{{5, -1, 2}, {5, 2, 2}, {5, 0, 0}, {5, 0, -1}, {5, 0, 6}, {0, 0, 1}, {-1, 0, 1}} {
		if _, _, err := train.Share(bad[0], bad[1], bad[2]); !errors.Is(err, fault.ErrRange) {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

// The worlds of all ranks have the hashes and the seeds that they have in one batch, after every step, and after a Reset
// with a seed of the batch or of each world.
func TestShareIsTheSame(t *testing.T) {
	const total = 13
	for _, name := range names() {
		cfg := train.Config{Worlds: total, Seed: 5, MaxSteps: 9, Autoreset: train.SameStep}
		whole, wholeBuf := made(t, name, cfg)
		seeds := make([]uint64, total)
		for i := range seeds {
			seeds[i] = uint64(i*i) + 3
		}
		for _, ranks := range []int{1, 2, 4} {
			var shares []*train.Batch
			var bufs []*train.Buffers
			for rank := range ranks {
				first, n, err := train.Share(total, rank, ranks)
				if err != nil {
					t.Fatal(err)
				}
				cfg.First, cfg.Worlds = first, n
				b, buf := made(t, name, cfg)
				shares, bufs = append(shares, b), append(bufs, buf)
			}
			for step := range 36 {
				var o *train.Options
				switch step {
				case 0:
					o = &train.Options{Reseed: true, Seed: 5}
				case 12:
					o = &train.Options{Reseed: true, Seed: 8}
				case 24:
					o = &train.Options{Seeds: seeds}
				}
				advance(t, whole, wholeBuf, o, step)
				var hashes []uint64
				for i, b := range shares {
					advance(t, b, bufs[i], o, step)
					hashes = b.AppendHashes(hashes)
				}
				if !slices.Equal(hashes, whole.AppendHashes(nil)) {
					t.Fatalf("%s, %d ranks, step %d: other hashes", name, ranks, step)
				}
			}
		}
	}
}

// advance resets a batch if there are options, and steps it with the actions of its worlds in the batch of all.
func advance(t *testing.T, b *train.Batch, buf *train.Buffers, o *train.Options, at int) {
	t.Helper()
	first := int(b.Config().First)
	if o != nil {
		own := *o
		if own.Seeds != nil {
			own.Seeds = own.Seeds[first:][:b.Len()]
		}
		if err := b.Reset(own, buf); err != nil {
			t.Fatal(err)
		}
	}
	policyFrom(b.Definition(), buf, at, first)
	step(t, b, buf)
}
