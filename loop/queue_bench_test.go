package loop_test

import (
	"fmt"
	"testing"

	"github.com/evertick/evertick/loop"
)

// Pushes and takes an entry, in ticks of 64 entries of some sources.
func BenchmarkQueue(b *testing.B) {
	for _, sources := range []uint32{1, 64} {
		b.Run(fmt.Sprintf("sources=%d", sources), func(b *testing.B) {
			q := mustQueue(b, loop.QueueConfig[[5]uint64]{})
			var due []loop.Entry[[5]uint64]
			i := uint64(0)
			for b.Loop() {
				if err := q.Push(loop.Entry[[5]uint64]{Tick: i / 64, Source: uint32(i) % sources, Seq: i}); err != nil {
					b.Fatal(err)
				}
				if i++; i%64 == 0 {
					due = q.Due(i/64, due[:0])
				}
			}
		})
	}
}
