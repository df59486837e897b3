//go:build cgo

// Command worlds is a shared library with a world for each kind of space, for the tests of the Python package.
package main

import (
	"fmt"
	"slices"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/train"
	_ "github.com/evertick/evertick/train/clib"
)

func main() {}

func init() {
	parts := train.Dict(
		train.Part{Name: "gear", Space: train.Choice(3)},
		train.Part{Name: "keys", Space: train.Choices(2, 4)},
	)
	train.Register(definition("choices", train.Choices(2, 3, 5)))
	train.Register(definition("parts", parts))
	train.Register(definition("boxes", train.Dict(
		train.Part{Name: "steer", Space: train.Box(1, -1, 1)},
		train.Part{Name: "aim", Space: train.Box(2, -2, 2)},
	)))
	train.Register(definition("solo", train.Choice(3), "only"))
	train.Register(definition("team", train.Choice(3), "red", "blue"))
	train.Register(definition("team-parts", parts, "left", "middle", "right"))
}

// definition returns worlds that show to each agent the steps that it has made, a random number of the episode, and its last
// action. Agent k ends after 4 + k steps.
func definition(name string, action train.Space, agents ...string) train.Definition {
	obs := train.Dict(
		train.Part{Name: "steps", Space: train.Box(1, 0, 100)},
		train.Part{Name: "last", Space: train.Box(action.Size()+1, -2, 1e9)},
	)
	return train.Definition{
		Name: name, Obs: obs, Action: action, Agents: agents, MaxSteps: 6,
		New: func(n int, _ bool) (train.Worlds, error) {
			rows := max(1, len(agents))
			return &counters{agents: rows, action: action, row: action.Size() + 2, state: make([]float32, n*rows*(action.Size()+2))}, nil
		},
	}
}

// counters has a row of numbers for each agent of each world.
type counters struct {
	agents, row int
	action      train.Space
	state       []float32
}

func (c *counters) of(row int) []float32 { return c.state[row*c.row:][:c.row] }

func (c *counters) world(i int) []float32 { return c.state[i*c.agents*c.row:][:c.agents*c.row] }

func (c *counters) Begin(i int, seed uint64) error {
	clear(c.world(i))
	for k := range c.agents {
		c.of(i*c.agents + k)[1] = float32(seed >> 40)
	}
	return nil
}

func (c *counters) Step(lo, hi int, in *train.Actions, out *train.Outcomes) error {
	for row := lo * c.agents; row < hi*c.agents; row++ {
		if out.Skip[row] {
			continue
		}
		s := c.of(row)
		s[0]++
		out.Reward[row] = s[0]
		for k := range c.row - 2 {
			if c.action.Kind == train.Int32 {
				s[2+k] = float32(in.Choices(row)[k])
			} else {
				s[2+k] = in.Row(row)[k]
			}
			out.Reward[row] += s[2+k]
		}
		out.Terminated[row] = int(s[0]) == 4+row%c.agents
	}
	return nil
}

func (c *counters) Observe(i int, row train.Row) { copy(row.Float32, c.of(i)) }

// Mask allows all choices but the last one.
func (c *counters) Mask(i int, of []bool) {
	for k := range of {
		of[k] = k+1 < len(of)
	}
}

func (c *counters) Hash(i int) uint64 { return statehash.Rows(c.world(i)) }

func (c *counters) AppendState(i int, dst []byte) ([]byte, error) {
	return wire.AppendF32s(dst, c.world(i)...), nil
}

func (c *counters) RestoreState(i int, src []byte) error {
	s := slices.Clone(c.world(i))
	if len(src) != 4*len(s) {
		return fmt.Errorf("counters: %w", fault.Field(fault.ErrCorrupt, "length", len(src)))
	}
	for k := range s {
		s[k] = wire.F32At(src, k)
	}
	copy(c.world(i), s)
	return nil
}
