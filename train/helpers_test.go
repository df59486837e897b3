package train_test

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/train"
)

// counters are worlds whose observations are easy to predict: a world counts its
// steps, and ends when its action is 1.
type counters struct {
	seeds []uint64
	steps []uint32
	fail  map[int]error // of Step, by world
}

// counter observes the low byte of its seed, and its steps; action 0 goes on, 1 ends, 2 fails.
func counter(fails map[int]error) train.Definition {
	return train.Definition{
		Name: "counter", Obs: train.Box(2, 0, 1e6), Action: train.Choice(3), MaxSteps: 5, Chunk: 2,
		New: func(n int, _ bool) (train.Worlds, error) {
			return &counters{make([]uint64, n), make([]uint32, n), fails}, nil
		},
	}
}

func (c *counters) Begin(i int, seed uint64) error {
	c.seeds[i], c.steps[i] = seed, 0
	return nil
}

func (c *counters) Step(lo, hi int, in *train.Actions, out *train.Outcomes) error {
	for i := lo; i < hi; i++ {
		if out.Skip[i] {
			continue
		}
		if in.Choice(i) == 2 {
			return c.fail[i]
		}
		c.steps[i]++
		out.Reward[i], out.Terminated[i] = float32(c.steps[i]), in.Choice(i) == 1
	}
	return nil
}

func (c *counters) Observe(i int, row train.Row) {
	row.Float32[0], row.Float32[1] = float32(c.seeds[i]&0xFF), float32(c.steps[i])
}

func (c *counters) Hash(i int) uint64 { return c.seeds[i] ^ uint64(c.steps[i]) }

func (c *counters) AppendState(i int, dst []byte) ([]byte, error) {
	dst = binary.LittleEndian.AppendUint64(dst, c.seeds[i])
	return binary.LittleEndian.AppendUint32(dst, c.steps[i]), nil
}

func (c *counters) RestoreState(i int, src []byte) error {
	if len(src) != 12 {
		return fault.Field(fault.ErrCorrupt, "counter", len(src))
	}
	c.seeds[i], c.steps[i] = binary.LittleEndian.Uint64(src), binary.LittleEndian.Uint32(src[8:])
	return nil
}

// firstObs is the first observation of world i in an episode.
func firstObs(seed uint64, world, episode int) float32 {
	return float32(train.Seed(seed, uint64(world), uint64(episode)) & 0xFF)
}

func begun(t testing.TB, def train.Definition, cfg train.Config) (*train.Batch, *train.Buffers) {
	t.Helper()
	b, err := train.New(def, cfg)
	if err != nil {
		t.Fatal(err)
	}
	buf := b.NewBuffers()
	if err := b.Reset(train.Options{}, buf); err != nil {
		t.Fatal(err)
	}
	return b, buf
}

func wantError(t testing.TB, err, is error, words ...string) {
	t.Helper()
	if !errors.Is(err, is) {
		t.Errorf("error %v, want one that is %v", err, is)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
}
