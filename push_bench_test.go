package evertick_test

import (
	"fmt"
	"testing"

	"github.com/evertick/evertick"
)

// Pushes and applies an input, in ticks of 64 inputs of some sources. The time of an empty tick is
// part of it.
func BenchmarkPush(b *testing.B) {
	for _, sources := range []uint32{1, 64} {
		b.Run(fmt.Sprintf("sources=%d", sources), func(b *testing.B) {
			c := small()
			c.Untimed = true
			s := newSim(b, c)
			data := make([]byte, 16)
			i := uint64(0)
			for b.Loop() {
				push(b, s, evertick.Input{Tick: i / 64, Source: uint32(i) % sources, Seq: i, Data: data})
				if i++; i%64 == 0 {
					step(b, s, 1)
				}
			}
		})
	}
}
