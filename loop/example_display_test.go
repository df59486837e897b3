package loop_test

import (
	"fmt"

	"github.com/evertick/evertick/loop"
)

// A hitch is recorded where it happens and looked at somewhere else.
func ExampleTape() {
	var tape loop.Tape
	l, err := loop.New(loop.Arcade())
	if err != nil {
		panic(err)
	}
	if err := l.Record(&tape); err != nil {
		panic(err)
	}
	for _, ns := range []int64{16_700_000, 16_600_000, 300_000_000, 16_700_000} {
		l.Advance(ns)
	}
	sent, err := tape.MarshalBinary()
	if err != nil {
		panic(err)
	}

	var received loop.Tape
	if err := received.UnmarshalBinary(sent); err != nil {
		panic(err)
	}
	err = received.Replay(func(f loop.Frame) error {
		fmt.Printf("%5.1f ms: %d steps, stalled %v\n", float64(f.ElapsedNs)/1e6, f.Steps, f.Stalled)
		return nil
	})
	fmt.Println(err)
	// Output:
	//  16.7 ms: 1 steps, stalled false
	//  16.6 ms: 0 steps, stalled false
	// 300.0 ms: 0 steps, stalled true
	//  16.7 ms: 1 steps, stalled false
	// <nil>
}

// A display of 60 Hz, read some 50 microseconds early or late.
func ExampleConfig_display() {
	for _, c := range []loop.Config{{}, {JitterFix: 50}, {JitterFix: 50, SmoothDelta: true}} {
		l, err := loop.New(c)
		if err != nil {
			panic(err)
		}
		r := loop.NewRand(1, 0, 0, 0)
		last, ran := int64(0), [3]int{}
		for i := range int64(10_000) {
			now := (i+1)*1_000_000_000/60 + int64(r.IntN(100_001)) - 50_000
			ran[l.Advance(now-last).Steps]++
			last = now
		}
		num, den := l.Refresh()
		fmt.Printf("frames of 0, 1, 2 steps: %v, refresh %d/%d\n", ran, num, den)
	}
	// Output:
	// frames of 0, 1, 2 steps: [2540 4920 2540], refresh 0/0
	// frames of 0, 1, 2 steps: [2 9997 1], refresh 0/0
	// frames of 0, 1, 2 steps: [2 9997 1], refresh 60/1
}
