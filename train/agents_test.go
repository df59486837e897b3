package train_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/train"
)

// walkers are worlds of three agents that are easy to predict: an agent counts its steps, and ends
// when its action is 1.
type walkers struct {
	seeds []uint64 // by world
	steps []uint32 // by row
}

var walkerNames = []string{"red", "green", "blue"}

func walker() train.Definition {
	return train.Definition{
		Name: "walker", Obs: train.Box(2, 0, 1e6), Action: train.Choice(2), Agents: walkerNames, MaxSteps: 6, Chunk: 2,
		New: func(n int, _ bool) (train.Worlds, error) {
			return &walkers{make([]uint64, n), make([]uint32, n*len(walkerNames))}, nil
		},
	}
}

func (w *walkers) Begin(i int, seed uint64) error {
	w.seeds[i] = seed
	clear(w.steps[3*i:][:3])
	return nil
}

func (w *walkers) Step(lo, hi int, in *train.Actions, out *train.Outcomes) error {
	for row := 3 * lo; row < 3*hi; row++ {
		if !out.Skip[row] {
			w.steps[row]++
			out.Reward[row], out.Terminated[row] = float32(w.steps[row]), in.Choice(row) == 1
		}
	}
	return nil
}

func (w *walkers) Observe(row int, to train.Row) {
	to.Float32[0], to.Float32[1] = float32(w.seeds[row/3]&0xFF), float32(w.steps[row])
}

func (w *walkers) Mask(row int, of []bool) { of[0], of[1] = true, w.steps[row] > 0 }

func (w *walkers) Hash(i int) uint64 {
	h := w.seeds[i]
	for _, s := range w.steps[3*i:][:3] {
		h = h*31 + uint64(s)
	}
	return h
}

func (w *walkers) AppendState(i int, dst []byte) ([]byte, error) {
	dst = binary.LittleEndian.AppendUint64(dst, w.seeds[i])
	for _, s := range w.steps[3*i:][:3] {
		dst = binary.LittleEndian.AppendUint32(dst, s)
	}
	return dst, nil
}

func (w *walkers) RestoreState(i int, src []byte) error {
	if len(src) != 20 {
		return fault.Field(fault.ErrCorrupt, "walker", len(src))
	}
	w.seeds[i] = binary.LittleEndian.Uint64(src)
	for k := range 3 {
		w.steps[3*i+k] = binary.LittleEndian.Uint32(src[8+4*k:])
	}
	return nil
}

// party is a world of walkers in the model: what the rules say, agent by agent.
type party struct {
	episode int
	steps   int
	counts  [3]int
	live    [3]bool
	over    bool
}

func (p *party) begin(episode int) { *p = party{episode: episode, live: [3]bool{true, true, true}} }

// result of a step for an agent: observation, reward, flags.
type result struct {
	obs, last                          [2]float32
	reward                             float32
	terminated, truncated, final, live bool
	mask, lastMask                     bool // of choice 1
}

// step is a step of one world by the rules.
func (p *party) step(seed uint64, world int, mode train.Autoreset, choices []int32) (r [3]result) {
	seen := func(a int) [2]float32 {
		return [2]float32{firstObs(seed, world, p.episode), float32(p.counts[a])}
	}
	if p.over {
		p.begin(p.episode + 1)
		for a := range r {
			r[a].obs, r[a].live, r[a].mask = seen(a), true, false
		}
		return r
	}
	p.steps++
	late := p.steps == 6
	for a := range r {
		if !p.live[a] {
			continue
		}
		p.counts[a]++
		r[a].reward, r[a].terminated, r[a].truncated = float32(p.counts[a]), choices[a] == 1, late
		p.live[a] = !late && choices[a] != 1
	}
	p.over = p.live == [3]bool{}
	if p.over && mode == train.SameStep {
		for a := range r {
			r[a].final, r[a].last, r[a].lastMask = true, seen(a), p.counts[a] > 0
		}
		p.begin(p.episode + 1)
	}
	for a := range r {
		r[a].obs, r[a].live, r[a].mask = seen(a), p.live[a], p.counts[a] > 0
	}
	return r
}

func resultOf(buf *train.Buffers, row int) result {
	r := result{obs: [2]float32(buf.Obs[2*row:]), reward: buf.Reward[row], terminated: buf.Terminated[row], truncated: buf.Truncated[row],
		final: buf.Final[row], live: buf.Live[row], mask: buf.Mask[2*row+1]}
	if r.final {
		r.last = [2]float32(buf.FinalObs[2*row:])
		r.lastMask = buf.FinalMask[2*row+1]
	}
	return r
}

// Random play is what the rules say, in each mode; worlds that are saved and loaded within go on.
func TestAgents(t *testing.T) {
	const seed, worlds = 6, 5
	for _, mode := range []train.Autoreset{train.NextStep, train.SameStep} {
		for _, workers := range []int{1, 3} {
			b, buf := begun(t, walker(), train.Config{Worlds: worlds, Seed: seed, Autoreset: mode, Workers: workers})
			rng := rand.New(rand.NewPCG(1, 2))
			var model [worlds]party
			for i := range model {
				model[i].begin(0)
			}
			alone, late := 0, 0
			for s := range 300 {
				for row := range buf.Choices {
					buf.Choices[row] = 0
					if rng.IntN(5) == 0 {
						buf.Choices[row] = 1
					}
					if !buf.Live[row] {
						buf.Choices[row] = 99 // ignored
					}
				}
				if err := b.Step(buf); err != nil {
					t.Fatal(err)
				}
				for i := range model {
					for a, want := range model[i].step(seed, i, mode, buf.Choices[3*i:]) {
						if got := resultOf(buf, 3*i+a); got != want {
							t.Fatalf("%v, step %d, world %d, agent %d: %+v, want %+v", mode, s, i, a, got, want)
						}
						if want.terminated && !model[i].over && !want.final {
							alone++
						}
						if want.truncated {
							late++
						}
					}
				}
				saved, err := b.Save(s%worlds, nil)
				if err != nil {
					t.Fatal(err)
				}
				before := b.AppendHashes(nil)
				if err := b.Load(s%worlds, saved); err != nil || !slices.Equal(before, b.AppendHashes(nil)) {
					t.Fatalf("after Load, %v", err)
				}
			}
			if alone == 0 || late == 0 {
				t.Errorf("%d agents ended before their world, %d were truncated", alone, late)
			}
		}
	}
}

// The errors and the masks of rows.
func TestAgentRows(t *testing.T) {
	b, buf := begun(t, walker(), train.Config{Worlds: 2, Autoreset: train.Disabled})
	if b.Agents() != 3 || len(buf.Reward) != 6 || !slices.Equal(buf.Mask[:4], []bool{true, false, true, false}) || slices.Contains(buf.Live, false) {
		t.Fatalf("%d agents, %+v", b.Agents(), buf)
	}
	buf.Choices[4] = 2
	wantError(t, b.Step(buf), fault.ErrRange, `choice of world 1, agent "green" = 2`)
	copy(buf.Choices, []int32{1, 1, 0, 1, 1, 1})
	if err := b.Step(buf); err != nil || !slices.Equal(buf.Live, []bool{false, false, true, false, false, false}) {
		t.Fatalf("live %v, %v", buf.Live, err)
	}
	hash := b.Hash(0)
	wantError(t, b.Step(buf), fault.ErrStale, "the episode has ended of world = 1")
	if err := b.Fork(1, 0); err != nil {
		t.Fatal(err)
	}
	if b.Hash(0) == hash {
		t.Error("the hash does not see which agents take part")
	}
	if err := b.Observe(buf); err != nil || slices.Contains(buf.Live, true) {
		t.Errorf("live %v, %v", buf.Live, err)
	}
	buf.Live = buf.Live[:5]
	wantError(t, b.Observe(buf), fault.ErrRange, "Buffers.Live = 5", "wants 6")

	for _, names := range [][]string{{"a", "a"}, {"a", ""}, make([]string, 2000)} {
		def := walker()
		def.Agents = names
		wantError(t, def.Validate(), fault.ErrRange, "Definition.Agents")
	}
}

// Every altered byte of a saved world with agents is refused, and changes nothing.
func TestAgentsLoadRefused(t *testing.T) {
	b, buf := begun(t, walker(), train.Config{Worlds: 1})
	buf.Choices[1] = 1
	if err := b.Step(buf); err != nil {
		t.Fatal(err)
	}
	saved, err := b.Save(0, nil)
	if err != nil {
		t.Fatal(err)
	}
	hash := b.Hash(0)
	for i := range saved {
		bad := slices.Clone(saved)
		bad[i] ^= 0x10
		if b.Load(0, bad) == nil || b.Hash(0) != hash {
			t.Errorf("byte %d is not missed", i)
		}
	}
	one, _ := begun(t, counter(nil), train.Config{})
	wantError(t, one.Load(0, saved), fault.ErrUnsupported, "walker")
}

// One world in many: an agent does the same in a batch of any size, and nothing is allocated.
func TestAgentsBatchSize(t *testing.T) {
	large, buf := begun(t, walker(), train.Config{Worlds: 20, Seed: 3, Workers: 2, Autoreset: train.SameStep})
	small, part := begun(t, walker(), train.Config{Worlds: 4, Seed: 3, First: 8, Autoreset: train.SameStep})
	for s := range 50 {
		for row := range buf.Choices {
			buf.Choices[row] = int32((s*7 + row*row) % 11 / 10)
		}
		copy(part.Choices, buf.Choices[24:])
		if err := large.Step(buf); err != nil {
			t.Fatal(err)
		}
		if err := small.Step(part); err != nil {
			t.Fatal(err)
		}
		if got, want := fmt.Sprint(small.AppendHashes(nil)), fmt.Sprint(large.AppendHashes(nil)[8:12]); got != want || !slices.Equal(part.Reward, buf.Reward[24:36]) {
			t.Fatalf("step %d: %v, %v", s, got, want)
		}
	}
	if paritytest.Instrumented {
		return
	}
	if n := testing.AllocsPerRun(20, func() {
		if err := small.Step(part); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("a step allocates %v times", n)
	}
}
