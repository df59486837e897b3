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

// The textbook loop: at most 5 steps a frame, and what is dropped is counted.
func ExampleClassic() {
	l, err := loop.New(loop.Classic())
	if err != nil {
		panic(err)
	}
	for _, elapsedNs := range []int64{16_666_667, 100_000_000, 2_000_000_000} {
		f := l.Advance(elapsedNs)
		fmt.Printf("%d steps, %d dropped, clamped: %v\n", f.Steps, f.Dropped, f.Clamped)
	}
	// Output:
	// 1 steps, 0 dropped, clamped: false
	// 5 steps, 1 dropped, clamped: false
	// 5 steps, 115 dropped, clamped: true
}

// A hit freezes the world for 80 ms and inverts the screen for 50 ms: the timer
// of the inversion runs by the UI clock, which a freeze does not stop.
func ExampleArcade() {
	const invert = loop.TimerID(0)
	l, err := loop.New(loop.Arcade())
	if err != nil {
		panic(err)
	}
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	inverted := false
	for frame := range 8 {
		if frame == 1 { // the hit
			check(l.Freeze(80_000_000))
			check(l.StartTimer(invert, loop.UI, 50_000_000))
			inverted = true
		}
		f := l.Advance(20_000_000)
		if f.Timers&(1<<invert) != 0 {
			inverted = false
		}
		fmt.Printf("%3d ms: %d steps, frozen: %-5v inverted: %v\n", f.WallNs/1e6, f.Steps, f.Frozen, inverted)
	}
	// Output:
	//  20 ms: 1 steps, frozen: false inverted: false
	//  40 ms: 0 steps, frozen: true  inverted: true
	//  60 ms: 0 steps, frozen: true  inverted: true
	//  80 ms: 0 steps, frozen: true  inverted: false
	// 100 ms: 0 steps, frozen: false inverted: false
	// 120 ms: 1 steps, frozen: false inverted: false
	// 140 ms: 1 steps, frozen: false inverted: false
	// 160 ms: 1 steps, frozen: false inverted: false
}

// One loop drives all modules of a program; examples/modules has more of it.
func ExampleModules() {
	l, err := loop.New(loop.Modules())
	if err != nil {
		panic(err)
	}
	modules := []func(tick uint64){
		func(tick uint64) { fmt.Println("input", tick) },
		func(tick uint64) { fmt.Println("world", tick) },
	}
	f := l.Advance(34_000_000)
	for tick := f.FirstTick(); tick < f.Tick; tick++ {
		for _, update := range modules {
			update(tick)
		}
	}
	fmt.Printf("render at %.2f\n", f.Alpha)
	// Output:
	// input 0
	// world 0
	// input 1
	// world 1
	// render at 0.04
}

// What was trained is shown in real time, with the same step, slowly if asked.
func ExampleShow() {
	l, err := loop.New(loop.Show())
	if err != nil {
		panic(err)
	}
	fmt.Printf("a step is %.4f ms\n", 1000*l.Dt())
	for _, speed := range []float64{1, 0.25} {
		if err := l.SetScale(loop.Speed, "viewer", speed, loop.Forever); err != nil {
			panic(err)
		}
		f := l.Advance(100_000_000)
		fmt.Printf("at %v: %d steps in 0.1 s\n", speed, f.Steps)
	}
	// Output:
	// a step is 8.3333 ms
	// at 1: 12 steps in 0.1 s
	// at 0.25: 3 steps in 0.1 s
}

// A trainer steps as fast as it can, without a clock.
func ExampleTraining() {
	c := loop.Training()
	c.MaxSteps = 4 // actions are repeated for four steps
	l, err := loop.New(c)
	if err != nil {
		panic(err)
	}
	position := float32(0)
	for l.Tick() < 12 {
		f := l.Advance(0)
		for range f.Steps {
			position += 6 * l.Dt()
		}
		fmt.Printf("step %d: %.2f m, alpha %v\n", f.Tick, position, f.Alpha)
	}
	// Output:
	// step 4: 0.20 m, alpha 0
	// step 8: 0.40 m, alpha 0
	// step 12: 0.60 m, alpha 0
}

// Owners cannot undo each other, and what expires cannot be forgotten.
func ExampleLoop_SetScale() {
	l, err := loop.New(loop.Arcade())
	if err != nil {
		panic(err)
	}
	fmt.Println(l.SetScale(loop.Dilation, "bullet time", 0.25, 30_000_000))
	fmt.Println(l.SetScale(loop.Dilation, "boss", 1, loop.Forever))
	for range 2 {
		f := l.Advance(20_000_000)
		fmt.Printf("%v, after %.3f steps\n", l.Scale(loop.Dilation), float64(f.Tick)+f.Alpha)
	}
	// Output:
	// <nil>
	// loop: SetScale: Dilation, for "boss": held by another: "bullet time"
	// 0.25, after 0.300 steps
	// 1, after 1.050 steps
}

// An inspector runs the world step by step.
func ExampleLoop_RunThenPause() {
	l, err := loop.New(loop.Classic())
	if err != nil {
		panic(err)
	}
	l.RunThenPause(3)
	for range 3 {
		f := l.Advance(34_000_000)
		fmt.Printf("%d steps, paused: %v\n", f.Steps, f.Paused)
	}
	// Output:
	// 2 steps, paused: false
	// 1 steps, paused: true
	// 0 steps, paused: true
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

// The number depends on its four arguments only, never on earlier calls.
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

// Two players push when they like; the simulation takes what its tick is for, in
// an order that does not depend on which came first.
func ExampleQueue() {
	orders, err := loop.NewQueue(loop.QueueConfig[string]{Capacity: 3})
	if err != nil {
		panic(err)
	}
	for _, order := range []loop.Entry[string]{
		{Tick: 8, Source: 2, Seq: 1, Value: "build"},
		{Tick: 7, Source: 2, Seq: 0, Value: "move"},
		{Tick: 7, Source: 1, Seq: 0, Value: "wait"},
		{Tick: 7, Source: 1, Seq: 1, Value: "attack"},
	} {
		if err := orders.Push(order); err != nil {
			fmt.Println(err)
		}
	}
	for tick := uint64(6); tick < 9; tick++ {
		for _, o := range orders.Due(tick, nil) {
			fmt.Printf("tick %d: player %d: %s\n", tick, o.Source, o.Value)
		}
	}
	// Output:
	// loop: QueueConfig.Capacity = 3: queue full: capacity exceeded
	// tick 7: player 1: wait
	// tick 7: player 2: move
	// tick 8: player 2: build
}

// Times are exact, whatever the rate, and compare across rates.
func ExampleSimTime() {
	film, err := loop.NewSimTime(100, 24000, 1001)
	if err != nil {
		panic(err)
	}
	l, err := loop.New(loop.Config{}) // 60 Hz
	if err != nil {
		panic(err)
	}
	whole, num, den := film.Fraction()
	fmt.Printf("%v s = %d + %d/%d s\n", film.Seconds(), whole, num, den)
	fmt.Println(film.Duration(), film.Compare(l.TimeAt(250)), film.Compare(l.TimeAt(251)))
	// Output:
	// 4.170833333333333 s = 4 + 41/240 s
	// 4.170833333s 1 -1
}

// The same deck in every run, on every machine.
func ExampleRand_Shuffle() {
	deck := []string{"ash", "birch", "cedar", "elm", "fir"}
	r := loop.NewRand(2026, 0, 0, 0)
	r.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
	fmt.Println(deck, r.IntRange(1, 6), r.Bool())
	fmt.Printf("%.6f\n", 170+float64(7*r.Normal()))
	// Output:
	// [birch ash elm fir cedar] 3 true
	// 179.703122
}

// A step ends Run from within; what is left of its frame stays due.
func ExampleErrStop() {
	l, err := loop.New(loop.Config{Pacing: loop.Uncapped})
	if err != nil {
		panic(err)
	}
	err = l.Run(context.Background(), nil, func(tick uint64) error {
		if tick == 99 {
			return loop.ErrStop
		}
		return nil
	}, nil)
	fmt.Println(l.Tick(), err)
	// Output:
	// 100 <nil>
}

// A step that panics is tried again once the host has repaired what it stumbled
// over.
func ExampleLoop_RunWith() {
	l, err := loop.New(loop.Config{OnFault: loop.Resume})
	if err != nil {
		panic(err)
	}
	var late loop.Histogram
	var scores map[string]int // nobody has made it
	err = l.RunWith(context.Background(), loop.Runner{
		Clock: &loop.ManualClock{Jump: true},
		Step: func(tick uint64) error {
			scores["red"]++
			if tick == 59 {
				return loop.ErrStop
			}
			return nil
		},
		Panicked: func(p *loop.PanicError) error {
			fmt.Println(p)
			scores = map[string]int{}
			return nil
		},
		Lateness: &late,
	})
	fmt.Println(scores["red"], err, late.Quantile(0.95))
	// Output:
	// loop: tick 0: panic: assignment to entry in nil map
	// 60 <nil> 0
}
