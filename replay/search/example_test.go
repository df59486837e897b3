package search_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/replay/search"
	"github.com/evertick/evertick/train"
	"github.com/evertick/evertick/train/worlds"
)

// balance plays carts with a linear policy: a set has a weight for each number of the observation. The score is the
// number of steps that the poles stand.
func balance(_ context.Context, m search.Match, players [][]float32) ([]float64, error) {
	scores := make([]float64, len(players))
	for k, weights := range players {
		b, err := train.New(worlds.CartPole(), train.Config{Worlds: m.Worlds, First: m.World, Seed: m.Seed, Autoreset: train.Disabled})
		if err != nil {
			return nil, err
		}
		buf := b.NewBuffers()
		if err := b.Reset(train.Options{}, buf); err != nil {
			return nil, err
		}
		for over := false; !over; { // until the first one falls
			for i := range m.Worlds {
				dot := float32(0)
				for j, w := range weights {
					dot += float32(w * buf.Obs[4*i+j]) // converted, so that no machine fuses it
				}
				buf.Choices[i] = 0
				if dot > 0 {
					buf.Choices[i] = 1
				}
			}
			if err := b.Step(buf); err != nil {
				return nil, err
			}
			for i, reward := range buf.Reward {
				scores[k] += float64(reward)
				over = over || buf.Terminated[i] || buf.Truncated[i]
			}
		}
	}
	return scores, nil
}

// crossEntropy looks for weights by the cross-entropy method: each generation draws policies around the mean of the
// best of the last one.
func crossEntropy(p search.Pool, generations int) (mean [4]float32, err error) {
	const population, best = 24, 6
	var mu, sd [4]float64
	sd = [4]float64{1, 1, 1, 1}
	for g := range generations {
		sets := make([][]float32, population)
		matches := make([]search.Match, population)
		for i := range sets {
			r := loop.NewRand(7, uint64(g), uint64(i), 0)
			for j := range mu {
				sets[i] = append(sets[i], float32(mu[j]+float64(sd[j]*r.Normal())))
			}
			matches[i] = search.Match{Seed: 1, World: uint64(4 * g), Worlds: 4, Players: []int{i}}
		}
		scores, err := search.Evaluate(context.Background(), p, "balance", sets, matches)
		if err != nil {
			return mean, err
		}
		order := make([]int, population)
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
		for j := range mu {
			sum, squares := 0.0, 0.0
			for _, i := range order[:best] {
				w := float64(sets[i][j])
				sum += w
				squares += float64(w * w)
			}
			mu[j] = sum / best
			sd[j] = math.Sqrt(max(squares/best-float64(mu[j]*mu[j]), 0)) + 0.05
			mean[j] = float32(mu[j])
		}
	}
	return mean, nil
}

// A policy for carts has the same weights, bit for bit, with any number of workers.
func Example() {
	reg := &search.Registry{Functions: map[string]search.Function{"balance": search.Play(balance).Function()}}
	var first [4]float32
	for _, workers := range []int{1, 2, 5} {
		mean, err := crossEntropy(search.Local{Registry: reg, Workers: workers}, 5)
		if err != nil {
			panic(err)
		}
		if workers == 1 {
			first = mean
		}
		fmt.Println(workers, "workers, the same weights:", mean == first)
	}
	steps, err := balance(context.Background(), search.Match{Seed: 2, Worlds: 1}, [][]float32{first[:]})
	if err != nil {
		panic(err)
	}
	fmt.Println("a pole that was not trained with stands for", steps[0], "steps")
	// Output:
	// 1 workers, the same weights: true
	// 2 workers, the same weights: true
	// 5 workers, the same weights: true
	// a pole that was not trained with stands for 500 steps
}
