package worlds_test

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/train"
	"github.com/evertick/evertick/train/worlds"
)

func TestNames(t *testing.T) {
	if !slices.IsSorted(worlds.Names()) {
		t.Errorf("names %v", worlds.Names())
	}
	for _, name := range names() {
		def, err := definition(name)
		if err != nil || def.Name != name {
			t.Errorf("%s: %q, %v", name, def.Name, err)
		}
		if err := def.Validate(); err != nil {
			t.Error(err)
		}
	}
	if _, err := worlds.ByName("tagg"); !errors.Is(err, fault.ErrRange) {
		t.Errorf("an unknown name: %v", err)
	}
}

// modes of Autoreset.
var modes = []train.Autoreset{train.NextStep, train.SameStep, train.Disabled}

// again resets the worlds that have ended, in mode Disabled.
func again(t testing.TB, b *train.Batch, buf *train.Buffers) {
	t.Helper()
	if b.Config().Autoreset != train.Disabled {
		return
	}
	only, any := make([]bool, b.Len()), false
	for i := range only {
		only[i] = buf.Terminated[i] || buf.Truncated[i]
		any = any || only[i]
	}
	if any {
		if err := b.Reset(train.Options{Only: only}, buf); err != nil {
			t.Fatal(err)
		}
	}
}

// A world is the same at every step in any batch.
func TestSameInAnyBatch(t *testing.T) {
	cases := []struct {
		name          string
		worlds, steps int
		alone         []int
	}{
		{"cartpole", 4096, 60, []int{0, 1, 255, 256, 2048, 4095}},
		{"tag", 96, 60, []int{0, 7, 8, 95}},
		{"tag-raster", 24, 30, []int{0, 23}},
		{"pushbox", 96, 60, []int{0, 7, 8, 95}},
		{"ballpole", 40, 60, []int{0, 7, 8, 39}},
		{"arm", 40, 60, []int{0, 7, 8, 39}},
	}
	for _, c := range cases {
		for _, mode := range modes {
			t.Run(fmt.Sprintf("%s/%v", c.name, mode), func(t *testing.T) {
				if (testing.Short() || paritytest.Instrumented) && c.name != "cartpole" {
					c.worlds, c.alone = 10, []int{0, 9}
				}
				if paritytest.Instrumented && c.worlds > 600 {
					c.worlds, c.alone = 600, []int{0, 255, 256, 599}
				}
				if testing.Short() || paritytest.Instrumented {
					c.steps = min(c.steps, 25)
				}
				sameInAnyBatch(t, c.name, mode, c.worlds, c.steps, c.alone)
			})
		}
	}
}

func sameInAnyBatch(t *testing.T, name string, mode train.Autoreset, n, steps int, alone []int) {
	cfg := train.Config{Worlds: n, Seed: 5, Autoreset: mode, MaxSteps: 20, Workers: 1}
	ref, refBuf := made(t, name, cfg)
	var others []*train.Batch
	var bufs []*train.Buffers
	for _, workers := range []int{2, 7} {
		cfg.Workers = workers
		b, buf := made(t, name, cfg)
		others, bufs = append(others, b), append(bufs, buf)
	}
	for _, i := range alone {
		b, buf := made(t, name, train.Config{First: uint64(i), Seed: 5, Autoreset: mode, MaxSteps: 20})
		others, bufs = append(others, b), append(bufs, buf)
	}
	def := ref.Definition()
	var want []uint64
	for s := range steps {
		want = ref.AppendHashes(want[:0])
		for k, b := range others {
			first := int(b.Config().First)
			for i := range b.Len() {
				if got := b.Hash(i); got != want[first+i] {
					t.Fatalf("step %d: world %d in a batch of %d with %d workers: hash %x, in one of %d with one %x", s, first+i, b.Len(), b.Config().Workers, got, n, want[first+i])
				}
			}
			if err := sameRows(&refBuf.Obs, &bufs[k].Obs, first); err != nil {
				t.Fatalf("step %d: %v", s, err)
			}
			if err := sameRows(&refBuf.Reward, &bufs[k].Reward, first); err != nil {
				t.Fatalf("step %d: %v", s, err)
			}
			policyFrom(def, bufs[k], s, first)
			step(t, b, bufs[k])
			again(t, b, bufs[k])
		}
		policy(def, refBuf, s)
		step(t, ref, refBuf)
		again(t, ref, refBuf)
	}
	episodes := uint64(0)
	for i := range n {
		e, _, _, _, _ := ref.Episode(i)
		episodes += e
	}
	if episodes == 0 {
		t.Error("no episode has ended")
	}
}

// sameRows compares rows bit by bit.
func sameRows(want, got *[]float32, first int) error {
	if len(*want) == 0 {
		return nil
	}
	for i, v := range *got {
		at := i
		if len(*got) < len(*want) {
			at += first * len(*got) // one world
		}
		if w := (*want)[at]; math.Float32bits(w) != math.Float32bits(v) {
			return fmt.Errorf("number %d: %v, alone %v", at, w, v)
		}
	}
	return nil
}

// A saved world goes on as it would have, in another place of another batch.
func TestSaveLoad(t *testing.T) {
	for _, name := range names() {
		t.Run(name, func(t *testing.T) {
			a, bufA := made(t, name, train.Config{Worlds: 5, Seed: 2, MaxSteps: 30, Autoreset: train.SameStep})
			b, bufB := made(t, name, train.Config{Worlds: 9, Seed: 3, MaxSteps: 30, Autoreset: train.SameStep, Workers: 2})
			for s := range 25 {
				policy(a.Definition(), bufA, s)
				step(t, a, bufA)
				policy(b.Definition(), bufB, s+100)
				step(t, b, bufB)
			}
			data, err := a.Save(3, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(b.Load(7, data), b.Fork(7, 0)); err != nil {
				t.Fatal(err)
			}
			for s := range 40 {
				if a.Hash(3) != b.Hash(7) || a.Hash(3) != b.Hash(0) {
					t.Fatalf("step %d: hashes %x, loaded %x, forked %x", s, a.Hash(3), b.Hash(7), b.Hash(0))
				}
				if err := b.Observe(bufB); err != nil {
					t.Fatal(err)
				}
				if s > 0 && !sameObs(bufA, 3, bufB, 7, a.Agents()) {
					t.Fatalf("step %d: observations differ", s)
				}
				policyFrom(a.Definition(), bufA, s, 0)
				for _, k := range []int{0, 7} {
					copyAction(bufA, 3, bufB, k, a.Definition().Action.Size()*a.Agents())
				}
				step(t, a, bufA)
				step(t, b, bufB)
			}
		})
	}
}

// sameObs compares the observations of two worlds, of all their agents.
func sameObs(a *train.Buffers, i int, b *train.Buffers, k, agents int) bool {
	if n := len(a.ObsUint8) / len(a.Reward) * agents; n > 0 {
		return slices.Equal(a.ObsUint8[i*n:][:n], b.ObsUint8[k*n:][:n])
	}
	n := len(a.Obs) / len(a.Reward) * agents
	return slices.Equal(a.Obs[i*n:][:n], b.Obs[k*n:][:n])
}

func copyAction(from *train.Buffers, i int, to *train.Buffers, k, size int) {
	if from.Choices != nil {
		to.Choices[k] = from.Choices[i]
		return
	}
	copy(to.Actions[k*size:][:size], from.Actions[i*size:])
}

// scenario returns the scenario with a name.
func scenario(t testing.TB, name string) replay.Scenario {
	t.Helper()
	for _, sc := range scenarios(evertick.Config{}) {
		if sc.Name == name {
			return sc
		}
	}
	t.Fatalf("there is no scenario %q", name)
	return replay.Scenario{}
}

// An exported episode verifies, and ends in the state of the world.
func TestExport(t *testing.T) {
	for _, name := range []string{"tag", "tag-raster", "tag-team", "pushbox", "ballpole", "arm"} {
		t.Run(name, func(t *testing.T) {
			b, buf := made(t, name, train.Config{Worlds: 3, Seed: 9, MaxSteps: 30, Record: true})
			for s := range 41 { // the first of which that is not stepped is number 30
				policy(b.Definition(), buf, s)
				step(t, b, buf)
				if s == 29 || s == 30 || s == 40 {
					want := []int{30, 30, 10}[slices.Index([]int{29, 30, 40}, s)]
					export(t, b, 1, want)
				}
			}
			data, err := b.Save(1, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Load(2, data); err != nil {
				t.Fatal(err)
			}
			policy(b.Definition(), buf, 50)
			step(t, b, buf)
			export(t, b, 2, 11)
		})
	}
}

func export(t *testing.T, b *train.Batch, i, steps int) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "log")
	ex, err := b.Export(i, dir)
	if err != nil {
		t.Fatal(err)
	}
	if ex.Steps != steps || ex.Ticks != uint64(steps)+1 {
		t.Errorf("exported %+v, want %d steps", ex, steps)
	}
	rep, err := replay.Verify(dir, scenario(t, ex.Scenario), replay.VerifyOptions{})
	if err != nil || rep.Ticks != ex.Ticks || rep.Hash != ex.Hash {
		t.Errorf("verified %+v of %+v: %v", rep, ex, err)
	}
}

// A batch that does not record, or was loaded from one that did not, returns ErrUnsupported.
func TestExportUnsupported(t *testing.T) {
	plain, _ := made(t, "tag", train.Config{})
	if _, err := plain.Export(0, t.TempDir()); !errors.Is(err, fault.ErrUnsupported) {
		t.Errorf("without Record: %v", err)
	}
	data, err := plain.Save(0, nil)
	if err != nil {
		t.Fatal(err)
	}
	recording, _ := made(t, "tag", train.Config{Record: true})
	if err := recording.Load(0, data); err != nil {
		t.Fatal(err)
	}
	if _, err := recording.Export(0, t.TempDir()); !errors.Is(err, fault.ErrUnsupported) {
		t.Errorf("loaded: %v", err)
	}
	if _, err := train.New(worlds.CartPole(), train.Config{Record: true}); !errors.Is(err, fault.ErrUnsupported) {
		t.Errorf("Record of cartpole: %v", err)
	}
}

// The scenario of a world runs without inputs, and steps back.
func TestShow(t *testing.T) {
	for _, sc := range scenarios(evertick.Config{}) {
		if err := replay.SyncTest(sc, 3, 60, nil); err != nil {
			t.Errorf("%s: %v", sc.Name, err)
		}
	}
}

// Steps allocate nothing, not even when episodes end and begin.
func TestAllocations(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented")
	}
	for _, name := range names() {
		for _, record := range []bool{false, true} {
			if record && name == "cartpole" {
				continue
			}
			b, buf := made(t, name, train.Config{Worlds: 3, Seed: 1, MaxSteps: 15, Autoreset: train.SameStep, Record: record})
			s := 0
			one := func() {
				policy(b.Definition(), buf, s)
				s = (s + 1) % 60
				step(t, b, buf)
			}
			for range 200 {
				one()
			}
			if n := testing.AllocsPerRun(100, one); n != 0 {
				t.Errorf("%s, Record %v: %v allocations a step", name, record, n)
			}
		}
	}
}

// A world that is a copy of another has its own number again with the next seed.
func TestSeedTakesBackTheNumber(t *testing.T) {
	b, err := train.New(worlds.CartPole(), train.Config{Worlds: 3})
	if err != nil {
		t.Fatal(err)
	}
	buf := b.NewBuffers()
	again := train.Options{Reseed: true, Seed: 4}
	if err := b.Reset(again, buf); err != nil {
		t.Fatal(err)
	}
	want := b.AppendHashes(nil)
	if err := errors.Join(b.Fork(1, 2), b.Reset(again, buf)); err != nil {
		t.Fatal(err)
	}
	if got := b.AppendHashes(nil); !slices.Equal(got, want) {
		t.Errorf("hashes %x, before the copy %x", got, want)
	}
}
