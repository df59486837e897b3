package train_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/train"
)

// The mixing function is published: these numbers may not change. They are those of Random123's
// philox4x32-10, whose known answers package loop checks.
func TestSeed(t *testing.T) {
	b := loop.Philox4x32([4]uint32{3, 0, 2, 0}, [2]uint32{7, 0})
	if got, want := train.Seed(7, 3, 2), uint64(b[0])|uint64(b[1])<<32; got != want {
		t.Errorf("Seed(7, 3, 2) = %#x, want %#x", got, want)
	}
	if got := train.Seed(0, 0, 0); got != 0xe169c58d6627e8d5 { // a known answer of Random123
		t.Errorf("Seed(0, 0, 0) = %#x", got)
	}
	seen := map[uint64]string{}
	for world := range uint64(100) {
		for episode := range uint64(100) {
			s := train.Seed(1, world, episode)
			if other, twice := seen[s]; twice {
				t.Fatalf("world %d, episode %d has the seed of %s", world, episode, other)
			}
			seen[s] = fmt.Sprint(world, episode)
		}
	}
	if train.Seed(0, 1<<32, 0) == train.Seed(0, 0, 1) || train.Seed(1<<32, 0, 0) == train.Seed(0, 0, 0) {
		t.Error("high halves do not count")
	}
}

// said is the result of a step for a world.
type said struct {
	obs                          [2]float32
	reward                       float32
	terminated, truncated, final bool
	last                         [2]float32 // if final
}

func saidOf(buf *train.Buffers, i int) said {
	s := said{obs: [2]float32(buf.Obs[2*i:]), reward: buf.Reward[i], terminated: buf.Terminated[i], truncated: buf.Truncated[i], final: buf.Final[i]}
	if s.final {
		s.last = [2]float32(buf.FinalObs[2*i:])
	}
	return s
}

// Each mode, step by step: the action of world 0 ends it in its second step, world 1 goes on until it
// is truncated in its fifth, world 2 ends in its fifth and is truncated at once.
func TestAutoreset(t *testing.T) {
	const seed = 6
	first := func(world, episode int) float32 { return firstObs(seed, world, episode) }
	choicesOf := func(step int) [3]int32 {
		switch step {
		case 1:
			return [3]int32{1, 0, 0}
		case 4:
			return [3]int32{0, 0, 1}
		}
		return [3]int32{}
	}
	at := func(world, episode, step int) [2]float32 {
		return [2]float32{first(world, episode), float32(step)}
	}
	cases := map[train.Autoreset][][3]said{
		train.NextStep: {
			1: {{obs: at(0, 0, 2), reward: 2, terminated: true}, {obs: at(1, 0, 2), reward: 2}, {obs: at(2, 0, 2), reward: 2}},
			2: {{obs: at(0, 1, 0)}, {obs: at(1, 0, 3), reward: 3}, {obs: at(2, 0, 3), reward: 3}},
			3: {{obs: at(0, 1, 1), reward: 1}, {obs: at(1, 0, 4), reward: 4}, {obs: at(2, 0, 4), reward: 4}},
			4: {{obs: at(0, 1, 2), reward: 2}, {obs: at(1, 0, 5), reward: 5, truncated: true}, {obs: at(2, 0, 5), reward: 5, terminated: true, truncated: true}},
			5: {{obs: at(0, 1, 3), reward: 3}, {obs: at(1, 1, 0)}, {obs: at(2, 1, 0)}},
			6: {{obs: at(0, 1, 4), reward: 4}, {obs: at(1, 1, 1), reward: 1}, {obs: at(2, 1, 1), reward: 1}},
		},
		train.SameStep: {
			1: {{obs: at(0, 1, 0), reward: 2, terminated: true, final: true, last: at(0, 0, 2)}, {obs: at(1, 0, 2), reward: 2}, {obs: at(2, 0, 2), reward: 2}},
			2: {{obs: at(0, 1, 1), reward: 1}, {obs: at(1, 0, 3), reward: 3}, {obs: at(2, 0, 3), reward: 3}},
			3: {{obs: at(0, 1, 2), reward: 2}, {obs: at(1, 0, 4), reward: 4}, {obs: at(2, 0, 4), reward: 4}},
			4: {{obs: at(0, 1, 3), reward: 3}, {obs: at(1, 1, 0), reward: 5, truncated: true, final: true, last: at(1, 0, 5)},
				{obs: at(2, 1, 0), reward: 5, terminated: true, truncated: true, final: true, last: at(2, 0, 5)}},
			5: {{obs: at(0, 1, 4), reward: 4}, {obs: at(1, 1, 1), reward: 1}, {obs: at(2, 1, 1), reward: 1}},
			6: {{obs: at(0, 2, 0), reward: 5, truncated: true, final: true, last: at(0, 1, 5)}, {obs: at(1, 1, 2), reward: 2}, {obs: at(2, 1, 2), reward: 2}},
		},
	}
	for mode, steps := range cases {
		for _, workers := range []int{1, 3} {
			b, buf := begun(t, counter(nil), train.Config{Worlds: 3, Seed: seed, Autoreset: mode, Workers: workers})
			for s := range 7 {
				c := choicesOf(s)
				copy(buf.Choices, c[:])
				if err := b.Step(buf); err != nil {
					t.Fatal(err)
				}
				if s == 0 {
					continue
				}
				for i, want := range steps[s] {
					if got := saidOf(buf, i); got != want {
						t.Errorf("%v, step %d, world %d: %+v, want %+v", mode, s, i, got, want)
					}
				}
			}
		}
	}
}

// Without autoreset a world that has ended can only be reset, and Reset with Only resets it alone.
func TestAutoresetDisabled(t *testing.T) {
	b, buf := begun(t, counter(nil), train.Config{Worlds: 3, Seed: 6, Autoreset: train.Disabled})
	copy(buf.Choices, []int32{0, 1, 0})
	if err := b.Step(buf); err != nil {
		t.Fatal(err)
	}
	if got, want := saidOf(buf, 1), (said{obs: [2]float32{firstObs(6, 1, 0), 1}, reward: 1, terminated: true}); got != want {
		t.Errorf("at the end %+v, want %+v", got, want)
	}
	before := b.AppendHashes(nil)
	wantError(t, b.Step(buf), fault.ErrStale, "world = 1")
	if !slices.Equal(b.AppendHashes(nil), before) {
		t.Error("the refused step has stepped")
	}
	buf.Choices[1] = 0
	if err := b.Reset(train.Options{Only: []bool{false, true, false}}, buf); err != nil {
		t.Fatal(err)
	}
	want := []float32{firstObs(6, 0, 0), 1, firstObs(6, 1, 1), 0, firstObs(6, 2, 0), 1}
	if !slices.Equal(buf.Obs, want) {
		t.Errorf("behind Reset %v, want %v", buf.Obs, want)
	}
	if err := b.Step(buf); err != nil {
		t.Fatal(err)
	}
	if number, _, steps, over, ok := b.Episode(1); number != 1 || steps != 1 || over || !ok {
		t.Errorf("episode %d, step %d, over %v, %v", number, steps, over, ok)
	}
}

// Reset goes on to the next episodes, or begins those of another seed.
func TestReset(t *testing.T) {
	b, buf := begun(t, counter(nil), train.Config{Worlds: 2, Seed: 6, First: 10})
	obs := func(o train.Options) []float32 {
		t.Helper()
		if err := b.Reset(o, buf); err != nil {
			t.Fatal(err)
		}
		return []float32{buf.Obs[0], buf.Obs[2]}
	}
	for _, c := range []struct {
		o    train.Options
		want []float32
	}{
		{train.Options{}, []float32{firstObs(6, 10, 1), firstObs(6, 11, 1)}},
		{train.Options{Reseed: true, Seed: 3}, []float32{firstObs(3, 10, 0), firstObs(3, 11, 0)}},
		{train.Options{}, []float32{firstObs(3, 10, 1), firstObs(3, 11, 1)}},
		{train.Options{Seeds: []uint64{8, 9}}, []float32{firstObs(8, 10, 0), firstObs(9, 11, 0)}},
		{train.Options{Only: []bool{false, true}}, []float32{firstObs(8, 10, 0), firstObs(9, 11, 1)}},
	} {
		if got := obs(c.o); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.o, got, c.want)
		}
	}
	wantError(t, b.Reset(train.Options{Only: []bool{true}}, buf), fault.ErrRange, "Only")
	wantError(t, b.Reset(train.Options{Seeds: []uint64{1}}, buf), fault.ErrRange, "Seeds")
	wantError(t, b.Reset(train.Options{Reseed: true, Seeds: []uint64{1, 2}}, buf), fault.ErrRange, "Seeds")
}

// A refused step has stepped nothing and written nothing.
func TestStepRefused(t *testing.T) {
	b, buf := begun(t, counter(nil), train.Config{Worlds: 3, Seed: 1, Autoreset: train.SameStep})
	refused := func(what string, is error, change func(*train.Buffers), words ...string) {
		t.Helper()
		before := b.AppendHashes(nil)
		bad := *buf
		bad.Choices = slices.Clone(buf.Choices)
		change(&bad)
		obs := slices.Clone(buf.Obs)
		wantError(t, b.Step(&bad), is, words...)
		if !slices.Equal(b.AppendHashes(nil), before) || !slices.Equal(buf.Obs, obs) {
			t.Errorf("%s: something was stepped or written", what)
		}
	}
	refused("choice", fault.ErrRange, func(b *train.Buffers) { b.Choices[2] = 3 }, "choice of world[2] = 3")
	refused("negative choice", fault.ErrRange, func(b *train.Buffers) { b.Choices[1] = -1 }, "choice of world[1] = -1")
	refused("obs", fault.ErrRange, func(b *train.Buffers) { b.Obs = b.Obs[:5] }, "Obs = 5", "wants 6")
	refused("choices", fault.ErrRange, func(b *train.Buffers) { b.Choices = b.Choices[:2] }, "Choices = 2")
	refused("reward", fault.ErrRange, func(b *train.Buffers) { b.Reward = nil }, "Reward = 0")
	refused("terminated", fault.ErrRange, func(b *train.Buffers) { b.Terminated = make([]bool, 4) }, "Terminated = 4")
	refused("truncated", fault.ErrRange, func(b *train.Buffers) { b.Truncated = nil }, "Truncated")
	refused("final", fault.ErrRange, func(b *train.Buffers) { b.Final = nil }, "Final")
	refused("final obs", fault.ErrRange, func(b *train.Buffers) { b.FinalObs = b.FinalObs[:1] }, "FinalObs = 1")
	refused("mask", fault.ErrRange, func(b *train.Buffers) { b.Mask = b.Mask[:8] }, "Mask = 8")
	refused("final mask", fault.ErrRange, func(b *train.Buffers) { b.FinalMask = b.FinalMask[:8] }, "FinalMask = 8")
	refused("stride of the final mask", fault.ErrRange, func(b *train.Buffers) { b.FinalMaskStride = 2 }, "stride of Buffers.FinalMask = 2")
	refused("stride", fault.ErrRange, func(b *train.Buffers) { b.ObsStride = 1 }, "stride of Buffers.Obs = 1")
	refused("strided length", fault.ErrRange, func(b *train.Buffers) { b.ObsStride = 3 }, "wants 8 at least")
	refused("negative stride", fault.ErrRange, func(b *train.Buffers) { b.ActionStride = -1 }, "stride of Buffers.Choices = -1")

	raw, err := train.New(counter(nil), train.Config{Worlds: 3})
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, raw.Step(raw.NewBuffers()), fault.ErrStale, "world = 0")
}

// Numbers beyond the box are refused; the error names the world and the number.
func TestBoxAction(t *testing.T) {
	def := counter(nil)
	def.Action = train.Box(2, -1, 2)
	b, buf := begun(t, def, train.Config{Worlds: 2})
	for _, c := range []struct {
		v  float32
		is error
	}{
		{float32(math.NaN()), fault.ErrNotFinite}, {float32(math.Inf(1)), fault.ErrNotFinite},
		{float32(math.Inf(-1)), fault.ErrNotFinite}, {2.0001, fault.ErrRange}, {-1.0001, fault.ErrRange},
	} {
		buf.Actions[3] = c.v
		wantError(t, b.Step(buf), c.is, "action of world 1[1]")
	}
	def.Action = train.Box(2, float32(math.Inf(-1)), float32(math.Inf(1)))
	b, buf = begun(t, def, train.Config{Worlds: 2})
	buf.Actions[0] = float32(math.Inf(1))
	wantError(t, b.Step(buf), fault.ErrNotFinite, "action of world 0[0]")
}

// Rows follow each other at the stride, and the gaps between them do not change.
func TestStrides(t *testing.T) {
	b, _ := begun(t, counter(nil), train.Config{Worlds: 3, Seed: 6, Autoreset: train.SameStep})
	const gap = -77
	buf := &train.Buffers{
		Obs: slices.Repeat([]float32{gap}, 12), ObsStride: 5, Choices: []int32{0, gap, 1, gap, 0}, ActionStride: 2,
		FinalObs: slices.Repeat([]float32{gap}, 8), FinalStride: 3, Mask: make([]bool, 11), MaskStride: 4,
		Reward: make([]float32, 3), Terminated: make([]bool, 3), Truncated: make([]bool, 3), Final: make([]bool, 3),
	}
	if err := b.Step(buf); err != nil {
		t.Fatal(err)
	}
	if want := []float32{firstObs(6, 0, 0), 1, gap, gap, gap, firstObs(6, 1, 1), 0, gap, gap, gap, firstObs(6, 2, 0), 1}; !slices.Equal(buf.Obs, want) {
		t.Errorf("observations %v, want %v", buf.Obs, want)
	}
	if want := []float32{gap, gap, gap, firstObs(6, 1, 0), 1, gap, gap, gap}; !slices.Equal(buf.FinalObs, want) {
		t.Errorf("final observations %v, want %v", buf.FinalObs, want)
	}
	if want := []bool{true, true, true, false, true, true, true, false, true, true, true}; !slices.Equal(buf.Mask, want) {
		t.Errorf("mask %v", buf.Mask)
	}
}

// maskedCounters allow choice 1 after an odd number of steps, and never choice 2.
type maskedCounters struct{ *counters }

func (m maskedCounters) Mask(i int, of []bool) { of[0], of[1], of[2] = true, m.steps[i]%2 == 1, false }

// The final mask is that of the end, where the mask is already that of the next episode. Other rows and gaps do not change.
func TestFinalMask(t *testing.T) {
	def := counter(nil)
	def.New = func(n int, _ bool) (train.Worlds, error) {
		w, err := counter(nil).New(n, false)
		return maskedCounters{w.(*counters)}, err
	}
	b, buf := begun(t, def, train.Config{Worlds: 3, Autoreset: train.SameStep})
	buf.FinalMask, buf.FinalMaskStride = slices.Repeat([]bool{true}, 11), 4
	copy(buf.Choices, []int32{0, 1, 0})
	if err := b.Step(buf); err != nil {
		t.Fatal(err)
	}
	const on, off = true, false
	if want := []bool{on, on, off, on, off, off, on, on, off}; !slices.Equal(buf.Mask, want) {
		t.Errorf("mask %v, want %v", buf.Mask, want)
	}
	if want := []bool{on, on, on, on, on, on, off, on, on, on, on}; !slices.Equal(buf.FinalMask, want) {
		t.Errorf("final mask %v, want %v", buf.FinalMask, want)
	}
	buf.FinalMask, buf.FinalMaskStride = nil, 0
	if err := b.Step(buf); err != nil {
		t.Errorf("without a final mask: %v", err)
	}
	def = counter(nil)
	def.Action = train.Box(1, 0, 1)
	b, buf = begun(t, def, train.Config{Autoreset: train.SameStep})
	buf.FinalMask = make([]bool, 1)
	wantError(t, b.Step(buf), fault.ErrUnsupported, "FinalMask of a space without choices")
}

// The error names the world that has failed, the first of several for any number of workers, and all
// later steps fail until Reset.
func TestWorldFails(t *testing.T) {
	broken, other := errors.New("broken"), errors.New("other")
	for _, workers := range []int{1, 2, 7} {
		b, buf := begun(t, counter(map[int]error{3: broken, 8: other}), train.Config{Worlds: 9, Workers: workers})
		buf.Choices[3], buf.Choices[8] = 2, 2
		for range 2 {
			wantError(t, b.Step(buf), broken)
			wantError(t, b.Step(buf), train.ErrWorld)
		}
		clear(buf.Choices)
		wantError(t, b.Step(buf), broken)
		wantError(t, b.Reset(train.Options{Only: make([]bool, 9)}, buf), broken)
		wantError(t, b.Load(0, nil), broken)
		if err := b.Reset(train.Options{}, buf); err != nil {
			t.Fatal(err)
		}
		if err := b.Step(buf); err != nil {
			t.Error(err)
		}
	}
}

func TestValidate(t *testing.T) {
	bad := train.Config{Worlds: -1, Autoreset: 3, MaxSteps: -2, Workers: 2000}
	_, err := train.New(counter(nil), bad)
	wantError(t, err, fault.ErrRange, "Worlds = -1", "Autoreset = Autoreset(3)", "MaxSteps = -2", "Workers = 2000")
	_, err = train.New(train.Definition{Obs: train.Choice(2), Action: train.Bytes(3), MaxSteps: -1, Chunk: -1}, train.Config{})
	wantError(t, err, fault.ErrRange, "Name", "Obs.Kind = int32", "Action.Kind = uint8", "MaxSteps", "Chunk", "New = nil")
	wantError(t, err, fault.ErrUnsupported)
	for _, s := range []train.Space{{}, {Shape: []int{0}}, {Shape: []int{1 << 25}}, {Shape: []int{2}, Low: []float32{0}, High: []float32{1}},
		train.Box(1, 1, 0), {Shape: []int{1 << 13, 1 << 13}}, train.Box(1, float32(math.NaN()), 0)} {
		def := counter(nil)
		def.Obs = s
		if err := def.Validate(); !errors.Is(err, fault.ErrRange) {
			t.Errorf("%+v: %v", s, err)
		}
	}
	def := counter(nil)
	def.Action = train.Choice(0)
	wantError(t, def.Validate(), fault.ErrRange, "Choices")
}

// panicking is a world that panics.
type panicking struct{ *counters }

func (p panicking) Step(lo, hi int, in *train.Actions, out *train.Outcomes) error {
	for i := lo; i < hi; i++ {
		if in.Choice(i) == 2 {
			panic("broken down")
		}
	}
	return p.counters.Step(lo, hi, in, out)
}

// A panic of a world reaches the caller, and later steps fail.
func TestWorldPanics(t *testing.T) {
	for _, workers := range []int{1, 3} {
		def := counter(nil)
		def.New = func(n int, _ bool) (train.Worlds, error) {
			return panicking{&counters{make([]uint64, n), make([]uint32, n), nil}}, nil
		}
		b, buf := begun(t, def, train.Config{Worlds: 9, Workers: workers})
		buf.Choices[4] = 2
		func() {
			defer func() {
				if v := recover(); v != "broken down" {
					t.Errorf("panic %v", v)
				}
			}()
			_ = b.Step(buf)
		}()
		buf.Choices[4] = 0
		wantError(t, b.Step(buf), train.ErrWorld, "panic")
		if err := errors.Join(b.Reset(train.Options{}, buf), b.Step(buf)); err != nil {
			t.Error(err)
		}
	}
}
