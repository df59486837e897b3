package replay_test

import (
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/worldlog"
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

// BenchmarkStepBack is a step back by one tick near the end of a log with a snapshot every 2,000 ticks, as a person
// makes many in a row: with snapshots that the Player keeps, and without.
func BenchmarkStepBack(b *testing.B) {
	const ticks = 6000
	dir, _ := recorded(b, scenario(nil), ticks, replay.Options{SnapshotTicks: 2000})
	for name, bytes := range map[string]int{"cache=0": 0, "cache=64MiB": 64 << 20} {
		b.Run(name, func(b *testing.B) {
			p, err := replay.Play(dir, scenario(nil), nil)
			if err != nil {
				b.Fatal(err)
			}
			defer p.Close()
			p.CacheSnapshots(bytes)
			tick := uint64(ticks - 1)
			if err := p.Seek(tick); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				tick--
				if tick < ticks-1000 {
					tick = ticks - 1
				}
				if err := p.Seek(tick); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
