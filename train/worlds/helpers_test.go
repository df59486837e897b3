package worlds_test

import (
	"slices"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/replay"
	inspace "github.com/evertick/evertick/space/worlds"
	"github.com/evertick/evertick/train"
	"github.com/evertick/evertick/train/worlds"
)

// names are those of all worlds, also of those in space, which has a package of its own so that others do not link it.
func names() []string {
	all := worlds.Names()
	for _, d := range inspace.All() {
		all = append(all, d.Name)
	}
	return all
}

// definition returns the definition of one of names.
func definition(name string) (train.Definition, error) {
	for _, d := range inspace.All() {
		if d.Name == name {
			return d.Definition(), nil
		}
	}
	return worlds.ByName(name)
}

// scenarios are those of all worlds that are a Sim.
func scenarios(cfg evertick.Config) []replay.Scenario {
	all := slices.Clone(worlds.Scenarios(cfg))
	for _, d := range inspace.All() {
		all = append(all, d.ReplayScenario(cfg))
	}
	return all
}

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
	def, err := definition(name)
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
