package jetstream

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/evertick/evertick/replay"
)

// ready returns a Shipper that has found the end of the stream and has not begun a term.
func (m *master) ready(t *testing.T, f *Follower) (s *Shipper, seq, term uint64) {
	t.Helper()
	s, err := newShipper(f.nc, m.rec.Log(), ShipConfig{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := background(t)
	if err := s.ensure(ctx); err != nil {
		t.Fatal(err)
	}
	e, err := s.end(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if term, err = s.locate(ctx, e); err != nil {
		t.Fatal(err)
	}
	return s, e.seq, term
}

// Two processes have copies of one log, and so one owner, and begin the same term at the same time: one of them has it, and
// the other is refused also where their messages would have the same ids.
func TestCopiesOfALog(t *testing.T) {
	one, f := shippedTo(t, nil)
	ctx := background(t)
	if err := errors.Join(one.ship.Close(ctx), one.rec.Close()); err != nil {
		t.Fatal(err)
	}
	dir := one.rec.Log().Dir()
	other := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(other, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	var both [2]*master
	for i, dir := range []string{dir, other} {
		rec, sim, _, err := replay.Resume(dir, field(), replay.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { rec.Close() })
		both[i] = &master{sim: sim, rec: rec}
	}
	a, seq, term := both[0].ready(t, f)
	b, _, _ := both[1].ready(t, f)
	if a.owner != b.owner || a.claims == b.claims {
		t.Fatalf("owners %x, %x", a.owner, b.owner)
	}
	if err := a.claim(ctx, seq, term+1); err != nil {
		t.Fatal(err)
	}
	if err := b.claim(ctx, seq, term+1); err != errMoved {
		t.Fatalf("both have term %d: %v", term+1, err)
	}
	if err := b.align(ctx); err != nil || b.term != term+2 { // the one that starts last has the stream
		t.Fatal(b.term, err)
	}
	if err := a.beat(ctx); !errors.Is(err, ErrFenced) {
		t.Fatal(err)
	}
	if err := a.align(ctx); !errors.Is(err, ErrFenced) {
		t.Fatalf("term %d: %v", a.term, err)
	}
}

// Two logs of one run begin to ship at the same time: the one that comes second would need Claim.
func TestClaimsRace(t *testing.T) {
	nc := served(t)
	ctx := background(t)
	f := &Follower{link: link{nc: nc}}
	a, seqA, termA := newMaster(t, t.TempDir(), replay.Options{}).ready(t, f)
	b, seqB, termB := newMaster(t, t.TempDir(), replay.Options{}).ready(t, f)
	if err := a.claim(ctx, seqA, termA+1); err != nil {
		t.Fatal(err)
	}
	if err := b.claim(ctx, seqB, termB+1); err != errMoved {
		t.Fatal(err)
	}
	if err := b.align(ctx); !errors.Is(err, ErrFenced) {
		t.Fatal(err)
	}
	if err := a.beat(ctx); err != nil {
		t.Fatal(err)
	}
	b.c.Claim = true
	if err := b.align(ctx); err != nil {
		t.Fatal(err)
	}
	if err := a.claim(ctx, a.seq, a.term+1); err != errMoved { // a, whose stream was restored, meets b
		t.Fatal(err)
	}
	if err := a.align(ctx); !errors.Is(err, ErrFenced) {
		t.Fatalf("a master that was fenced has term %d: %v", a.term, err)
	}
}

// Messages are removed while a follower does not read: what it needs is ErrTrimmed, never skipped. A stream that was emptied
// is no obstacle to taking over.
func TestTrimmedWhileFollowing(t *testing.T) {
	for _, all := range []bool{false, true} {
		nc := served(t)
		ctx := background(t)
		limited := jetstream.StreamConfig{MaxMsgs: 1000}
		m := newMaster(t, t.TempDir(), replay.Options{}).shipTo(t, nc, ShipConfig{BatchBytes: 64, Stream: limited})
		drive(t, m.sim, 50, 0)
		f := follow(t, nc, FollowConfig{Dir: t.TempDir()})
		reach(t, f, 50)
		f.detach()
		if !all {
			drive(t, m.sim, 50, 0)
		}
		if err := m.ship.Close(ctx); err != nil {
			t.Fatal(err)
		}
		if err := m.ship.stream.Purge(ctx, jetstream.WithPurgeKeep(3)); err != nil {
			t.Fatal(err)
		}
		if !all {
			if err := f.Step(ctx); !errors.Is(err, ErrTrimmed) || f.Sim().Ticks() != 50 {
				t.Fatal(f.Sim().Ticks(), err)
			}
			continue
		}
		if err := m.ship.stream.Purge(ctx); err != nil {
			t.Fatal(err)
		}
		rec, ship, err := f.Standby(ctx, 300*time.Millisecond, ShipConfig{})
		if err != nil {
			t.Fatal(err)
		}
		drive(t, rec.Sim(), 50, 0)
		drive(t, m.sim, 50, 0)
		if err := errors.Join(ship.Close(ctx), rec.Close()); err != nil || rec.Sim().Hash() != m.sim.Hash() {
			t.Fatal("other hashes", err)
		}
	}
}

// A server that takes smaller messages than BatchBytes gets smaller ones.
func TestSmallPayload(t *testing.T) {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true, MaxPayload: 4096})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server does not start")
	}
	nc := connect(t, s.ClientURL())
	m := newMaster(t, t.TempDir(), replay.Options{}).shipTo(t, nc, ShipConfig{BatchBytes: 1 << 20})
	in := inputOf(0, 0)
	in.Data = make([]byte, 30_000)
	if err := errors.Join(m.sim.Push(in), m.sim.Step()); err != nil {
		t.Fatal(err)
	}
	drive(t, m.sim, 300, 0)
	f := follow(t, nc, FollowConfig{})
	reach(t, f, 301)
	if f.Sim().Hash() != m.sim.Hash() {
		t.Fatal("other hashes")
	}
}
