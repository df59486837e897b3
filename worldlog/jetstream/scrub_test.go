package jetstream

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/replay"
)

// driveLarge runs ticks with inputs of which a few fill a block of the server.
func driveLarge(t *testing.T, m *master, ticks int) {
	t.Helper()
	for range ticks {
		for k := range uint64(4) {
			in := evertick.Input{Source: uint32(k), Seq: m.sim.Ticks() + 1, Data: bytes.Repeat([]byte{byte(m.sim.Ticks())}, 60_000)}
			if err := m.sim.Push(in); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.sim.Step(); err != nil {
			t.Fatal(err)
		}
	}
}

// blocksOf returns the files in which a stopped server has messages of the stream, in order, and its summaries of them.
func blocksOf(t *testing.T, store string) (blocks, summaries []string) {
	t.Helper()
	err := filepath.WalkDir(store, func(path string, _ fs.DirEntry, err error) error {
		switch filepath.Ext(path) {
		case ".blk":
			if filepath.Base(filepath.Dir(filepath.Dir(path))) == streamPrefix+"field" {
				blocks = append(blocks, path)
			}
		case ".db":
			summaries = append(summaries, path)
		}
		return err
	})
	if err != nil || len(blocks) < 2 {
		t.Fatalf("%d blocks, %v", len(blocks), err)
	}
	return blocks, summaries
}

// The server comes back with blocks that are damaged, cut off or gone, at drawn places, with and without its summary of them. The
// master notices and ships its log again: a new follower has all ticks, and one that has run them goes on.
func TestDamagedBlocks(t *testing.T) {
	seed := paritytest.Seed()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 4))
	store := t.TempDir()
	s := startServer(t, store, server.RANDOM_PORT)
	port := s.Addr().(*net.TCPAddr).Port
	nc := connect(t, s.ClientURL())
	m := newMaster(t, t.TempDir(), replay.Options{}).shipTo(t, nc, ShipConfig{Beat: 50 * time.Millisecond, KeepSnapshots: -1})
	driveLarge(t, m, 40) // a block and a bit
	settled := func() {
		until(t, "all is shipped", func() bool { return m.ship.Stats().Behind == 0 })
	}
	settled()
	live := follow(t, nc, FollowConfig{Dir: t.TempDir()})
	reach(t, live, 40)
	flip := func(name string) error {
		b, err := os.ReadFile(name)
		if err == nil {
			b[len(b)/4+r.IntN(len(b)/2)] ^= 1 << r.IntN(8)
			err = os.WriteFile(name, b, 0o644)
		}
		return err
	}
	cut := func(name string) error {
		i, err := os.Stat(name)
		if err == nil {
			err = os.Truncate(name, 1+r.Int64N(i.Size()-1))
		}
		return err
	}
	// The first ones are fixed: what the server finds out only when it reads, a gap, a lost beginning, a lost end.
	type damage struct {
		block   int
		how     func(string) error
		summary bool
	}
	all := []damage{{0, flip, true}, {0, flip, false}, {0, os.Remove, false}, {-1, flip, false}}
	if testing.Short() {
		all = all[:3]
	}
	for range shortened(6, 0) {
		all = append(all, damage{r.IntN(2), []func(string) error{flip, cut, os.Remove}[r.IntN(3)], r.IntN(2) == 0})
	}
	for i, d := range all {
		s.Shutdown()
		s.WaitForShutdown()
		blocks, summaries := blocksOf(t, store)
		at := d.block
		if at < 0 {
			at = len(blocks) - 1
		}
		if err := d.how(blocks[at]); err != nil {
			t.Fatal(err)
		}
		for _, name := range summaries {
			if err := os.Remove(name); !d.summary && err != nil {
				t.Fatal(err)
			} else if d.summary {
				break
			}
		}
		before := m.ship.Stats().Restarts
		s = startServer(t, store, port)
		driveLarge(t, m, 1)
		until(t, "the master begins again", func() bool {
			if err := m.ship.Err(); err != nil {
				t.Fatal(i, err)
			}
			return m.ship.Stats().Restarts > before
		})
		settled()
		f := follow(t, nc, FollowConfig{})
		reach(t, f, m.sim.Ticks())
		reach(t, live, m.sim.Ticks())
		if f.Sim().Hash() != m.sim.Hash() || live.Sim().Hash() != m.sim.Hash() || f.Stats().Term != 1 {
			t.Fatalf("damage %d: other hashes, or %+v", i, f.Stats())
		}
		until(t, "the old messages are removed", func() bool {
			e, err := f.end(background(t))
			return err == nil && !e.holes() && e.seq-e.first < m.sim.Ticks()+10
		})
		f.Close()
	}
}

// A stream that its limits have trimmed is whole: nothing is shipped again.
func TestLimitsAreNoDamage(t *testing.T) {
	nc := served(t)
	c := ShipConfig{BatchBytes: 64, Beat: 5 * time.Millisecond, Stream: jetstream.StreamConfig{MaxMsgs: 20}}
	m := newMaster(t, t.TempDir(), replay.Options{}).shipTo(t, nc, c)
	drive(t, m.sim, 200, 0)
	until(t, "all is shipped", func() bool { return m.ship.Stats().Behind == 0 })
	time.Sleep(4 * c.Beat)
	if st := m.ship.Stats(); st.Restarts > 0 {
		t.Fatalf("%+v", st)
	}
	if missing, err := m.ship.scrub(background(t), nil); missing > 0 || err != nil {
		t.Fatal(missing, err)
	}
}

// The server has lost ticks that a follower has run, and their master is gone: the follower takes over, and ships them.
func TestTakeOverAfterLoss(t *testing.T) {
	nc := served(t)
	ctx := background(t)
	m := newMaster(t, t.TempDir(), replay.Options{}).shipTo(t, nc, ShipConfig{BatchBytes: 64, Beat: time.Hour})
	f := follow(t, nc, FollowConfig{Dir: t.TempDir()})
	drive(t, m.sim, 60, 0)
	reach(t, f, 60)
	until(t, "all is shipped", func() bool { return m.ship.Stats().Behind == 0 })
	m.ship.anew = true // as if damage were found
	m.ship.cancel()
	<-m.ship.Done()
	if err := m.ship.align(ctx); err != nil { // and it ends before it has shipped again
		t.Fatal(err)
	}
	if m.ship.purge > 0 {
		t.Fatal("the old messages are still there")
	}
	rec, ship, err := f.TakeOver(ctx, ShipConfig{})
	if err != nil {
		t.Fatal(err)
	}
	drive(t, rec.Sim(), 10, 0)
	until(t, "all is shipped", func() bool { return ship.Stats().Behind == 0 })
	late := follow(t, nc, FollowConfig{})
	reach(t, late, 70)
	if late.Sim().Hash() != rec.Sim().Hash() {
		t.Fatal("other hashes")
	}
	if err := errors.Join(ship.Close(ctx), rec.Close()); err != nil {
		t.Fatal(err)
	}
}
