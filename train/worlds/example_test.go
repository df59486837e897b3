package worlds_test

import (
	"fmt"

	"github.com/evertick/evertick/train"
	"github.com/evertick/evertick/train/worlds"
)

// A thousand carts are pushed to the side to which their poles fall, which keeps most of them
// up for a while.
func Example() {
	b, err := train.New(worlds.CartPole(), train.Config{Worlds: 1000, Seed: 1, Workers: 2, Autoreset: train.SameStep})
	if err != nil {
		panic(err)
	}
	buf := b.NewBuffers()
	if err := b.Reset(train.Options{}, buf); err != nil {
		panic(err)
	}
	ended := 0
	for range 30 {
		for i := range buf.Choices {
			buf.Choices[i] = 0
			if angle, turn := buf.Obs[4*i+2], buf.Obs[4*i+3]; angle+turn > 0 {
				buf.Choices[i] = 1
			}
		}
		if err := b.Step(buf); err != nil {
			panic(err)
		}
		for _, end := range buf.Terminated {
			if end {
				ended++
			}
		}
	}
	_, _, steps, _, _ := b.Episode(0)
	fmt.Println(ended, "of 1000 have fallen, world 0 stands since", steps, "steps")
	// Output:
	// 0 of 1000 have fallen, world 0 stands since 30 steps
}
