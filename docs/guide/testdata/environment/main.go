package main

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/train"
	_ "github.com/evertick/evertick/train/clib" // the functions for C and Python
)

func init() {
	train.Register(train.Definition{
		Name: "hover", Obs: train.Box(2, -20, 20), Action: train.Box(1, -1, 1), MaxSteps: 200, Rate: 20,
		New: func(n int, _ bool) (train.Worlds, error) { return make(drones, n), nil },
	})
}

func main() {}

// drone is one world: a drone that holds a height.
type drone struct {
	Height float32 // m above the place to hold
	Speed  float32 // m/s
}

type drones []drone

// Begin depends on the seed alone, so that each episode can be repeated.
func (d drones) Begin(i int, seed uint64) error {
	r := loop.NewRand(seed, 0, 0, 0)
	d[i] = drone{r.Range(-2, 2), r.Range(-1, 1)}
	return nil
}

func (d drones) Step(lo, hi int, in *train.Actions, out *train.Outcomes) error {
	const dt, thrust = 0.05, 4 // s, m/s²
	for i := lo; i < hi; i++ {
		if out.Skip[i] {
			continue
		}
		// Each product that is added is converted, so that no compiler fuses the two.
		d[i].Speed += float32(in.Row(i)[0] * (thrust * dt))
		d[i].Height += float32(d[i].Speed * dt)
		out.Reward[i] = 1 / (1 + float32(d[i].Height*d[i].Height))
		out.Terminated[i] = !(d[i].Height > -5 && d[i].Height < 5)
	}
	return nil
}

func (d drones) Observe(i int, row train.Row) {
	row.Float32[0], row.Float32[1] = d[i].Height, d[i].Speed
}

func (d drones) Hash(i int) uint64 {
	return uint64(math.Float32bits(d[i].Height))<<32 | uint64(math.Float32bits(d[i].Speed))
}

func (d drones) AppendState(i int, dst []byte) ([]byte, error) {
	return binary.Append(dst, binary.LittleEndian, d[i])
}

func (d drones) RestoreState(i int, src []byte) error {
	var one drone
	if n, err := binary.Decode(src, binary.LittleEndian, &one); err != nil || n != len(src) {
		return fmt.Errorf("hover: %d bytes of state", len(src))
	}
	d[i] = one
	return nil
}
