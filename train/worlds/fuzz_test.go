package worlds_test

import (
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/frame/frametest"
	"github.com/evertick/evertick/train"
)

// FuzzLoad loads a world with altered bytes: it is refused and leaves the world as it
// was, or it can be stepped; a forged world may return an error, but must not panic.
func FuzzLoad(f *testing.F) {
	type target struct {
		batch *train.Batch
		buf   *train.Buffers
		clean []byte
	}
	var targets []target
	for _, name := range names() {
		b, buf := made(f, name, train.Config{Seed: 3})
		for s := range 12 {
			policy(b.Definition(), buf, s)
			step(f, b, buf)
		}
		clean, err := b.Save(0, nil)
		if err != nil {
			f.Fatal(err)
		}
		targets = append(targets, target{b, buf, clean})
		for _, at := range []int{0, 9, 12, 50, 60, 70, 100, 200, 400, 800, 1500, 3000} {
			f.Add(uint8(len(targets)-1), uint32(at), []byte{0xFF, 0x7F}, true)
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, at uint32, change []byte, sealed bool) {
		g := targets[int(which)%len(targets)]
		if err := g.batch.Reset(train.Options{Reseed: true, Seed: 3}, g.buf); err != nil {
			t.Fatal(err)
		}
		was := g.batch.Hash(0)
		data := slices.Clone(g.clean)
		copy(data[int(at)%len(data):], change)
		if sealed {
			data = frametest.ResealDeep(data)
		}
		if err := g.batch.Load(0, data); err != nil {
			if g.batch.Hash(0) != was {
				t.Errorf("refused with %v, and changed", err)
			}
			return
		}
		if err := g.batch.Observe(g.buf); err != nil {
			t.Fatal(err)
		}
		for s := range 3 {
			policy(g.batch.Definition(), g.buf, s)
			if err := g.batch.Step(g.buf); err != nil {
				return // as a world says that cannot go on
			}
		}
	})
}
