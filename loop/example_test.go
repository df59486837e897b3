package loop_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/evertick/evertick/loop"
)

// A host that has a frame loop of its own measures the time between frames.
func Example() {
	l, err := loop.New(loop.Config{})
	if err != nil {
		panic(err)
	}
	for _, elapsedNs := range []int64{16_000_000, 18_000_000, 250_000_000} {
		f := l.Advance(elapsedNs)
		for tick := f.FirstTick(); tick < f.Tick; tick++ {
			_ = l.Dt() // step the world by this many seconds
		}
		fmt.Printf("tick %d: %d steps, alpha %.2f, dropped %d\n", f.Tick, f.Steps, f.Alpha, f.Dropped)
	}
	// Output:
	// tick 0: 0 steps, alpha 0.96, dropped 0
	// tick 2: 2 steps, alpha 0.04, dropped 0
	// tick 7: 5 steps, alpha 0.04, dropped 10
}

// A server lets the loop keep the time. Here a manual clock stands in for the
// system's, so the hour passes at once.
func ExampleLoop_Run() {
	l, err := loop.New(loop.Config{RateNum: 60000, RateDen: 1001})
	if err != nil {
		panic(err)
	}
	closing := errors.New("closing time")
	clock := &loop.ManualClock{Jump: true}
	err = l.Run(context.Background(), clock, func(tick uint64) error {
		if clock.Now() >= 3600e9 {
			return closing
		}
		return nil
	}, nil)
	fmt.Println(err, errors.Is(err, closing))
	// Output:
	// loop: tick 215784: closing time true
}

// The number depends on its four arguments only, never on who asked before.
func ExampleNewRand() {
	const spread = 1 // one stream for each purpose
	for entity := range uint64(3) {
		r := loop.NewRand(2026, 100, entity, spread)
		fmt.Printf("%.3f %d\n", r.Range(-1, 1), r.Uint32n(6)+1)
	}
	// Output:
	// -0.910 6
	// 0.779 4
	// 0.003 5
}
