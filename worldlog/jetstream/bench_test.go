package jetstream

import (
	"testing"

	"github.com/evertick/evertick/replay"
)

// A Step of a Sim that is shipped allocates no more than one that is only recorded.
func TestShipDoesNotAllocate(t *testing.T) {
	m := newMaster(t, t.TempDir(), replay.Options{}).shipTo(t, served(t), ShipConfig{})
	drive(t, m.sim, 100, 0)
	until(t, "all is shipped", func() bool { return m.ship.Stats().Behind == 0 })
	if err := m.ship.Close(background(t)); err != nil { // its goroutine would count too
		t.Fatal(err)
	}
	m.ship.left.Store(false)
	m.ship.ended.Store(nil)
	if n := testing.AllocsPerRun(100, func() {
		if err := m.sim.Step(); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Fatalf("%v allocations", n)
	}
}

// BenchmarkLag is the time from a step of the master until the Follower has run it and compared its hash.
func BenchmarkLag(b *testing.B) {
	nc := served(b)
	m := newMaster(b, b.TempDir(), replay.Options{}).shipTo(b, nc, ShipConfig{})
	drive(b, m.sim, 1, 0)
	f := follow(b, nc, FollowConfig{})
	ctx := background(b)
	for b.Loop() {
		drive(b, m.sim, 1, 0)
		for f.Sim().Ticks() < m.sim.Ticks() {
			if err := f.Step(ctx); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkCatchUp is a tick of a Follower that begins at the first one.
func BenchmarkCatchUp(b *testing.B) {
	nc := served(b)
	m := newMaster(b, b.TempDir(), replay.Options{}).shipTo(b, nc, ShipConfig{})
	drive(b, m.sim, 20_000, 0)
	if err := m.ship.Close(background(b)); err != nil {
		b.Fatal(err)
	}
	ticks := 0
	for b.Loop() {
		f := follow(b, nc, FollowConfig{})
		reach(b, f, 20_000)
		ticks += 20_000
		f.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(ticks), "ns/tick")
}
