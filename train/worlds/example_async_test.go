package worlds_test

import (
	"fmt"

	"github.com/evertick/evertick/train"
	"github.com/evertick/evertick/train/worlds"
)

// Two halves of a thousand carts take turns: while the worlds of one are stepped, the learner has the results of the other.
func ExampleCartPole_async() {
	var batches [2]*train.Batch
	var bufs [2]*train.Buffers
	for i := range batches {
		b, err := train.New(worlds.CartPole(), train.Config{Worlds: 500, First: uint64(500 * i), Seed: 1, Autoreset: train.SameStep})
		if err != nil {
			panic(err)
		}
		batches[i], bufs[i] = b, b.NewBuffers()
		if err := b.Reset(train.Options{}, bufs[i]); err != nil {
			panic(err)
		}
	}
	learn := func(buf *train.Buffers) { // reads Obs, Reward, Terminated and Truncated, and writes Choices
		for i := range buf.Choices {
			buf.Choices[i] = 0
			if buf.Obs[4*i+2]+buf.Obs[4*i+3] > 0 {
				buf.Choices[i] = 1
			}
		}
	}
	// guide:begin async
	for s := range 60 {
		b, buf := batches[s%2], bufs[s%2]
		if s >= 2 {
			if err := b.StepWait(); err != nil {
				panic(err)
			}
		}
		learn(buf) // while the other batch is stepped
		if err := b.StepAsync(buf); err != nil {
			panic(err)
		}
	}
	// guide:end
	for _, b := range batches {
		if err := b.StepWait(); err != nil {
			panic(err)
		}
	}
	_, _, steps, _, _ := batches[1].Episode(0)
	fmt.Println("world 500 stands since", steps, "steps")
	// Output:
	// world 500 stands since 30 steps
}
