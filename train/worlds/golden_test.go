package worlds_test

import (
	"testing"

	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/train"
)

// golden are folded hashes of all worlds after every step of a run. They are the same on
// every machine and level, and change only together with evertick.SimVersion or the rules of a
// world.
var golden = map[string]uint64{
	"cartpole":   0x3118d90374fb868,
	"pushbox":    0xd4c2f521bcc0d412,
	"tag":        0xbc4fbc5fde4ce343,
	"tag-raster": 0x69de6998d295863e,
	"tag-team":   0x475b9b13955fd985,
}

func TestGolden(t *testing.T) {
	for name, want := range golden {
		b, buf := made(t, name, train.Config{Worlds: 6, Seed: 20, MaxSteps: 50, Autoreset: train.SameStep})
		var got uint64
		var hashes []uint64
		for s := range 120 {
			policy(b.Definition(), buf, s)
			step(t, b, buf)
			hashes = b.AppendHashes(hashes[:0])
			got = statehash.Add(got, "hashes", statehash.Rows(hashes))
			got = statehash.Add(got, "reward", statehash.Rows(buf.Reward))
			got = statehash.Add(got, "obs", statehash.Rows(buf.Obs))
			got = statehash.Add(got, "bytes", statehash.Rows(buf.ObsUint8))
		}
		if got != want {
			t.Errorf("%s: %#x, want %#x", name, got, want)
		}
	}
}
