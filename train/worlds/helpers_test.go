package worlds_test

import (
	"testing"

	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/train"
	"github.com/evertick/evertick/train/worlds"
)

// policy fills in random actions for all worlds, which depend on step and world only.
func policy(def train.Definition, buf *train.Buffers, step int) { policyFrom(def, buf, step, 0) }

// policyFrom is policy for a batch with another first world.
func policyFrom(def train.Definition, buf *train.Buffers, step, first int) {
	first *= max(1, len(def.Agents)) // rows
	for i := range buf.Choices {
		r := loop.NewRand(77, uint64(step), uint64(first+i), 0)
		buf.Choices[i] = int32(r.IntN(def.Action.Choices))
	}
	size := def.Action.Size()
	for i := range buf.Actions {
		r := loop.NewRand(77, uint64(step), uint64(first+i/size), uint32(i%size))
		buf.Actions[i] = r.Range(-1, 1)
	}
}

// made returns a batch of the worlds with a name, after Reset, and its buffers.
func made(t testing.TB, name string, cfg train.Config) (*train.Batch, *train.Buffers) {
	t.Helper()
	def, err := worlds.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
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

func step(t testing.TB, b *train.Batch, buf *train.Buffers) {
	t.Helper()
	if err := b.Step(buf); err != nil {
		t.Fatal(err)
	}
}
