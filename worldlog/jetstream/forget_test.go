package jetstream

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/replay"
)

// chain is a number of masters of one run, each of which has taken over from the one before, and none of which knows of the ones
// after it. The test acts for them, so that it decides which one finds out what first.
type chain struct {
	t       *testing.T
	nc      *nats.Conn
	masters []*master
	ended   []error
}

func newChain(t *testing.T, nc *nats.Conn, name string, masters int) *chain {
	t.Helper()
	c := &chain{t: t, nc: nc, ended: make([]error, masters)}
	m := newMaster(t, t.TempDir(), replay.Options{})
	for i := range masters {
		if i > 0 { // a copy of the log, which is another owner
			from, to := m.rec.Log().Dir(), filepath.Join(t.TempDir(), "log")
			if err := errors.Join(os.CopyFS(to, os.DirFS(from)), os.Remove(filepath.Join(to, ownerName))); err != nil {
				t.Fatal(err)
			}
			rec, sim, _, err := replay.Resume(to, field(), replay.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { rec.Close() })
			m = &master{sim: sim, rec: rec}
		}
		var err error
		if m.ship, err = newShipper(nc, m.rec.Log(), ShipConfig{Name: name, Claim: true, BatchBytes: 200}); err != nil {
			t.Fatal(err)
		}
		if err = errors.Join(m.ship.ensure(background(t)), m.ship.align(background(t))); err != nil {
			t.Fatal(err)
		}
		c.masters = append(c.masters, m)
		c.step(i, 10) // for all
		if c.act(i); c.ended[i] != nil || m.ship.term != uint64(i)+1 {
			t.Fatalf("master %d, term %d: %v", i, m.ship.term, c.ended[i])
		}
	}
	for i := range masters {
		c.step(i, 5) // which no other has
	}
	return c
}

// step runs ticks that differ from those of all other masters.
func (c *chain) step(i, ticks int) {
	c.t.Helper()
	drive(c.t, c.masters[i].sim, ticks, uint64(i))
	if err := c.masters[i].rec.Log().Sync(); err != nil {
		c.t.Fatal(err)
	}
}

// act lets a master ship what it has, or give a sign of life, as its goroutine would.
func (c *chain) act(i int) {
	s := c.masters[i].ship
	ctx := background(c.t)
	c.ended[i] = errors.Join(c.ended[i], s.look(ctx))
	for c.ended[i] == nil {
		m, err := s.gather()
		if err == nil && m == nil {
			if err = s.beat(ctx); err == nil {
				return
			}
		} else if err == nil {
			err = s.send(ctx, m)
		}
		var rewound *rewoundError
		if errors.As(err, &rewound) {
			err = s.again(ctx, rewound)
		}
		c.ended[i] = err
	}
}

// A stream forgets which master has taken it over, while older masters come back from a partition, in every order: the newest master
// keeps it, all others are fenced once they have met it, and the stream has the ticks of the newest.
func TestForgottenTerms(t *testing.T) {
	seed := paritytest.Seed()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 5))
	nc := connect(t, startServer(t, t.TempDir(), server.RANDOM_PORT).ClientURL())
	ctx := background(t)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	first := map[string]int{} // masters that were the first to meet a stream that had forgotten
	for round := range shortened(60, 12) {
		n := 2 + r.IntN(2)
		short := fmt.Sprint("round-", round)
		c := newChain(t, nc, short, n)
		newest, name := n-1, streamPrefix+short
		what := r.IntN(3)
		order := r.Perm(n)
		if round < 6 { // fixed: each kind of loss, with the oldest first and last
			what, order = round/2, []int{0, 1, 2}[:n]
			if round%2 == 1 {
				order[0], order[newest] = order[newest], order[0]
			}
		}
		forget := func() {
			t.Helper()
			var err error
			switch s := c.masters[newest].ship.stream; what {
			case 0: // the stream is gone
				err = js.DeleteStream(ctx, name)
			case 1: // it has no message any more, but their number
				err = s.Purge(ctx)
			case 2: // the end is gone, with the terms of all but the first: an older store
				err = older(ctx, js, name)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		forget()
		for range 2 + r.IntN(3) {
			for _, i := range order {
				c.act(i)
			}
			if c.ended[newest] != nil {
				t.Fatalf("round %d, loss %d, order %v: the newest master has ended: %v", round, what, order, c.ended[newest])
			}
			c.step(newest, 1+r.IntN(5))
			if r.IntN(3) == 0 {
				forget()
			}
			r.Shuffle(n, func(a, b int) { order[a], order[b] = order[b], order[a] })
		}
		c.act(newest)
		for i := range newest {
			c.act(i)
			if !errors.Is(c.ended[i], ErrFenced) {
				t.Fatalf("round %d, loss %d: master %d of %d: %v", round, what, i, n, c.ended[i])
			}
		}
		if order[0] == newest {
			first["newest"]++
		} else {
			first["older"]++
		}
		c.act(newest)
		f := follow(t, nc, FollowConfig{Name: short})
		if reach(t, f, c.masters[newest].sim.Ticks()); f.Sim().Hash() != c.masters[newest].sim.Hash() {
			t.Fatalf("round %d: other hashes", round)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if first["newest"] == 0 || first["older"] == 0 {
		t.Errorf("no case of each: %v", first)
	}
}

// older makes the stream anew with its messages of the first term that it has.
func older(ctx context.Context, js jetstream.JetStream, name string) error {
	s, err := js.Stream(ctx, name)
	if err != nil {
		return err
	}
	c, state := s.CachedInfo().Config, s.CachedInfo().State
	var kept [][]byte
	var term uint64
	for seq := state.FirstSeq; seq <= state.LastSeq && state.Msgs > 0; seq++ {
		raw, err := s.GetMsg(ctx, seq)
		if err != nil {
			return err
		}
		var m message
		if err := m.decode(raw.Data, newSums(nil)); err != nil {
			return err
		}
		if len(kept) > 0 && m.term != term {
			break
		}
		term = m.term
		kept = append(kept, raw.Data)
	}
	if err := js.DeleteStream(ctx, name); err != nil {
		return err
	}
	if _, err := js.CreateStream(ctx, c); err != nil {
		return err
	}
	for _, data := range kept {
		if _, err := js.Publish(ctx, c.Subjects[0], data); err != nil {
			return err
		}
	}
	return nil
}
