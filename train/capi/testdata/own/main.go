// Command own is a shared library with worlds for the tests of the C interface: several agents, named parts, several
// choices, failures on demand.
package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/evertick/evertick/train"
	_ "github.com/evertick/evertick/train/clib"
)

func init() {
	obs := train.Dict(train.Part{Name: "seed", Space: train.Box(1, 0, 255)}, train.Part{Name: "steps", Space: train.Box(1, 0, 1e6)})
	register := func(name string, obs, action train.Space, agents ...string) {
		train.Register(train.Definition{
			Name: name, Obs: obs, Action: action, Agents: agents, MaxSteps: 50, Chunk: 4,
			New: func(n int, _ bool) (train.Worlds, error) { return &worlds{make([]world, n), max(1, len(agents))}, nil },
		})
	}
	register("one", train.Box(2, 0, 1e6), train.Choice(5))
	register("team", obs, train.Dict(train.Part{Name: "move", Space: train.Choice(5)}, train.Part{Name: "build", Space: train.Choices(3, 2)}), "red", "blue")
	register("deep", train.Bytes(1, 1, 1, 1, 1), train.Choice(5))
}

func main() {}

// world counts its steps; choice 1 ends both agents, 2 fails, 3 panics, 4 takes a millisecond.
type world struct {
	seed  uint64
	steps uint32
}

type worlds struct {
	list   []world
	agents int
}

func (w *worlds) Begin(i int, seed uint64) error {
	w.list[i] = world{seed: seed}
	return nil
}

func (w *worlds) Step(lo, hi int, in *train.Actions, out *train.Outcomes) error {
	agents := w.agents
	for i := lo; i < hi; i++ {
		if out.Skip[i*agents] { // both end together
			continue
		}
		w.list[i].steps++
		switch in.Choice(i * agents) {
		case 2:
			return errors.New("broken")
		case 3:
			panic("broken down")
		case 4:
			time.Sleep(time.Millisecond)
		}
		for row := i * agents; row < (i+1)*agents; row++ {
			out.Reward[row], out.Terminated[row] = float32(w.list[i].steps), in.Choice(i*agents) == 1
		}
	}
	return nil
}

func (w *worlds) Observe(row int, to train.Row) {
	if to.Float32 == nil {
		return
	}
	to.Float32[0], to.Float32[1] = float32(row), float32(w.list[row/w.agents].steps)
}

func (w *worlds) Hash(i int) uint64 { return w.list[i].seed ^ uint64(w.list[i].steps) }

func (w *worlds) AppendState(i int, dst []byte) ([]byte, error) {
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(dst, w.list[i].seed), w.list[i].steps), nil
}

func (w *worlds) RestoreState(i int, src []byte) error {
	if len(src) != 12 {
		return fmt.Errorf("own: %d bytes of state", len(src))
	}
	w.list[i] = world{binary.LittleEndian.Uint64(src), binary.LittleEndian.Uint32(src[8:])}
	return nil
}
