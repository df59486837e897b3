package jetstream

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/worldlog"
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

// A local log that cannot be read, for a while or for good, ends neither the Sim nor the Shipper: the stream has what
// could be read, and the rest once it can be. MaxBehind is the limit.
func TestUnreadableLog(t *testing.T) {
	segment := func(n int) string { return fmt.Sprintf("segment-%010d.evlog", n) }
	move := func(name string) error { return os.Rename(name, name+".moved") }
	restore := func(name string) error { return errors.Join(os.RemoveAll(name), os.Rename(name+".moved", name)) }
	for what, c := range map[string]struct {
		shipped uint64
		damage  func(name string) error
	}{
		"segment gone": {20, move},
		"a directory":  {20, func(name string) error { return errors.Join(move(name), os.Mkdir(name, 0o700)) }},
		"a bit": {29, func(name string) error {
			data, err := os.ReadFile(name)
			data[len(data)-2] ^= 1
			return errors.Join(err, move(name), os.WriteFile(name, data, 0o600))
		}},
	} {
		t.Run(what, func(t *testing.T) {
			nc := served(t)
			dir := filepath.Join(t.TempDir(), "log")
			m := newMaster(t, dir, replay.Options{Log: worldlog.Options{SegmentTicks: 10, Durability: worldlog.EveryTick}})
			drive(t, m.sim, 35, 0)
			if err := m.rec.Log().Sync(); err != nil {
				t.Fatal(err)
			}
			if err := c.damage(filepath.Join(dir, segment(2))); err != nil {
				t.Fatal(err)
			}
			m.shipTo(t, nc, ShipConfig{Beat: 5 * time.Millisecond, MaxBehind: 500})
			until(t, "what can be read is in the stream", func() bool { return m.ship.Stats().Shipped == c.shipped })
			drive(t, m.sim, 100, 0)
			until(t, "the Shipper says what is wrong", func() bool {
				err := m.ship.Stats().LastErr
				return errors.Is(err, worldlog.ErrCorrupt) && strings.Contains(err.Error(), segment(2))
			})
			drive(t, m.sim, 100, 0)
			if st := m.ship.Stats(); m.ship.Err() != nil || st.Shipped != c.shipped || st.Behind != 235-c.shipped {
				t.Fatalf("%+v, %v", st, m.ship.Err())
			}
			if err := restore(filepath.Join(dir, segment(2))); err != nil {
				t.Fatal(err)
			}
			until(t, "all is in the stream", func() bool { return m.ship.Stats().Behind == 0 })
			f := follow(t, nc, FollowConfig{})
			if reach(t, f, 235); f.Sim().Hash() != m.sim.Hash() {
				t.Error("another hash")
			}
		})
	}
	t.Run("for good", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "log")
		m := newMaster(t, dir, replay.Options{Log: worldlog.Options{SegmentTicks: 10, Durability: worldlog.EveryTick}})
		drive(t, m.sim, 35, 0)
		if err := errors.Join(m.rec.Log().Sync(), os.Remove(filepath.Join(dir, segment(1)))); err != nil {
			t.Fatal(err)
		}
		m.shipTo(t, served(t), ShipConfig{MaxBehind: 100})
		until(t, "what can be read is in the stream", func() bool { return m.ship.Stats().Shipped == 10 })
		drive(t, m.sim, 75, 0)
		if err := m.sim.Step(); !errors.Is(err, ErrBehind) {
			t.Errorf("tick %d: %v", m.sim.Ticks(), err)
		}
	})
}
