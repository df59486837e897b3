package jetstream

import (
	"slices"
	"testing"

	"github.com/evertick/evertick/loop/replay"
)

// A Follower runs every tick of a master, with its hash, and writes the same ticks into its own log.
func TestShipAndFollow(t *testing.T) {
	nc := served(t)
	ticks := shortened(5000, 1000)
	dir, own := t.TempDir(), t.TempDir()
	m := newMaster(t, dir, replay.Options{}).shipTo(t, nc, ShipConfig{})
	drive(t, m.sim, ticks/2, 0)
	f := follow(t, nc, FollowConfig{Dir: own})
	bare := follow(t, nc, FollowConfig{})
	drive(t, m.sim, ticks/2, 0)
	reach(t, f, uint64(ticks))
	reach(t, bare, uint64(ticks))
	if f.Sim().Hash() != m.sim.Hash() || bare.Sim().Hash() != m.sim.Hash() {
		t.Fatal("other hashes")
	}
	if err := m.ship.Close(background(t)); err != nil {
		t.Fatal(err)
	}
	if st := m.ship.Stats(); st.Behind != 0 || st.Shipped != uint64(ticks) || st.Term != 1 {
		t.Fatalf("%+v", st)
	}
	if st := f.Stats(); st.Ticks != uint64(ticks) || st.Behind != 0 {
		t.Fatalf("%+v", st)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := m.rec.Close(); err != nil {
		t.Fatal(err)
	}
	if a, b := hashes(t, dir), hashes(t, own); len(a) != ticks || !slices.Equal(a, b) {
		t.Fatalf("logs of %d and %d ticks", len(a), len(b))
	}
	rep, err := replay.Verify(own, field(), replay.VerifyOptions{})
	if err != nil || rep.Ticks != uint64(ticks) {
		t.Fatalf("%+v, %v", rep, err)
	}
}

// A standby takes over a silent master, and its Sim goes on as the master's would have.
func TestStandby(t *testing.T) {
	nc := served(t)
	m := newMaster(t, t.TempDir(), replay.Options{}).shipTo(t, nc, ShipConfig{})
	drive(t, m.sim, 200, 0)
	own := t.TempDir()
	f := follow(t, nc, FollowConfig{Dir: own})
	if err := m.ship.Close(background(t)); err != nil {
		t.Fatal(err)
	}
	rec, ship, err := f.Standby(background(t), 500e6, ShipConfig{})
	if err != nil {
		t.Fatal(err)
	}
	drive(t, rec.Sim(), 100, 0)
	drive(t, m.sim, 100, 0) // no longer shipped
	if rec.Sim().Hash() != m.sim.Hash() {
		t.Fatal("other hashes")
	}
	if err := ship.Close(background(t)); err != nil {
		t.Fatal(err)
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	if rep, err := replay.Verify(own, field(), replay.VerifyOptions{}); err != nil || rep.Ticks != 300 {
		t.Fatalf("%+v, %v", rep, err)
	}
}

// A Follower without a log of its own begins at the newest snapshot that is whole and that the stream continues.
func TestFollowFromSnapshot(t *testing.T) {
	nc := served(t)
	ctx := background(t)
	m := newMaster(t, t.TempDir(), replay.Options{}).shipTo(t, nc, ShipConfig{KeepSnapshots: 2})
	for i := range 5 {
		drive(t, m.sim, 50, 0)
		if err := m.rec.Snapshot(); err != nil {
			t.Fatal(err)
		}
		until(t, "a snapshot is shipped", func() bool {
			st := m.ship.Stats()
			if st.SnapshotErr != nil {
				t.Fatal(st.SnapshotErr)
			}
			return st.Snapshots == uint64(i+1)
		})
	}
	drive(t, m.sim, 20, 0)
	store, err := m.ship.js.ObjectStore(ctx, m.ship.name)
	if err != nil {
		t.Fatal(err)
	}
	if ticks, err := listSnapshots(ctx, store); err != nil || !slices.Equal(ticks, []uint64{249, 199}) {
		t.Fatalf("%v, %v", ticks, err)
	}
	for _, first := range []uint64{250, 200, 0} {
		f := follow(t, nc, FollowConfig{})
		if got := f.Sim().Ticks(); got != first {
			t.Fatalf("it begins with tick %d, want %d", got, first)
		}
		reach(t, f, 270)
		if f.Sim().Hash() != m.sim.Hash() {
			t.Fatal("other hashes")
		}
		if first > 0 { // the next one must do without this snapshot
			info, err := store.GetBytes(ctx, objectName(first-1))
			if err != nil {
				t.Fatal(err)
			}
			info[len(info)/2] ^= 1
			if _, err := store.PutBytes(ctx, objectName(first-1), info); err != nil {
				t.Fatal(err)
			}
		}
	}
}
