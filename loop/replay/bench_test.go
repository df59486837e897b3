package replay_test

import (
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/loop/replay"
	"github.com/evertick/evertick/loop/worldlog"
)

// BenchmarkAppend is what one input costs the tick: its record, without the commit.
func BenchmarkAppend(b *testing.B) {
	sim, err := scenario(nil).New(5)
	if err != nil {
		b.Fatal(err)
	}
	log, err := worldlog.Create(b.TempDir(), worldlog.Identity{Scenario: "yard", SimVersion: evertick.SimVersion}, worldlog.Options{})
	if err != nil {
		b.Fatal(err)
	}
	data := []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	in := evertick.Input{Source: 1, Kind: push, Data: data}
	add, tick := replay.Appender(sim, log), uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		in.Seq++
		in.Tick = tick
		if err := add(tick, &in); err != nil {
			b.Fatal(err)
		}
		if in.Seq%1000 == 0 {
			if err := log.Commit(tick, 0, worldlog.Counts{}); err != nil {
				b.Fatal(err)
			}
			tick++
		}
	}
	b.StopTimer()
	if err := log.Close(); err != nil {
		b.Fatal(err)
	}
}
