package jetstream

import (
	"bytes"
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/replay"
)

// shippedTo is a master whose first ticks are in the stream, and a Follower that has run them.
func shippedTo(t *testing.T, key []byte) (*master, *Follower) {
	t.Helper()
	nc := served(t)
	m := newMaster(t, t.TempDir(), replay.Options{}).shipTo(t, nc, ShipConfig{Key: key, Beat: time.Hour})
	f := follow(t, nc, FollowConfig{Key: key})
	drive(t, m.sim, 20, 0)
	reach(t, f, 20)
	until(t, "all is shipped", func() bool { return m.ship.Stats().Behind == 0 })
	return m, f
}

// A Follower refuses what does not come from the master, each by its name, and runs none of it.
func TestStreamFaults(t *testing.T) {
	key := []byte("secret")
	for _, c := range []struct {
		name  string
		key   []byte
		forge func(m *message, s *sums)
		want  error
	}{
		{"another key", []byte("guess"), func(*message, *sums) {}, ErrForged},
		{"gap", key, func(m *message, s *sums) { m.first++ }, ErrGap},
		{"repeated tick", key, func(m *message, s *sums) { m.first-- }, ErrCorrupt},
		{"rolling checksum", key, func(m *message, s *sums) { m.before[0]++ }, ErrForged},
		{"lower term", key, func(m *message, s *sums) { m.term-- }, ErrCorrupt},
		{"term without its beginning", key, func(m *message, s *sums) { m.term++ }, ErrCorrupt},
		{"another run", key, func(m *message, s *sums) { m.id.Seed++ }, ErrForeign},
		{"another SimVersion", key, func(m *message, s *sums) { m.id.SimVersion++ }, ErrUnsupported},
	} {
		t.Run(c.name, func(t *testing.T) {
			master, f := shippedTo(t, key)
			s := newSums(c.key)
			e, err := f.end(background(t))
			if err != nil {
				t.Fatal(err)
			}
			m := *e.last
			m.kind, m.first, m.count, m.before = kindTicks, 20, 1, m.after
			encoded := appendTick(nil, sampleTick())
			m.body = appendToBody(nil, encoded)
			c.forge(&m, s)
			m.after = s.tick(m.before, m.first, encoded)
			if _, err := f.js.Publish(background(t), f.ticks, m.append(nil, s)); err != nil {
				t.Fatal(err)
			}
			if err := f.Step(background(t)); !errors.Is(err, c.want) {
				t.Fatal(err)
			}
			if f.Sim().Ticks() != 20 {
				t.Fatal("a tick has run")
			}
			if err := master.sim.Push(inputOf(20, 0)); err != nil {
				t.Fatal(err)
			}
			if err := master.sim.Step(); err != nil {
				t.Fatal(err)
			}
			if c.name == "lower term" { // an older master has written where the stream had lost the newer term
				until(t, "the master begins again", func() bool { return master.ship.Stats().Restarts == 1 && master.ship.Stats().Behind == 0 })
				late := follow(t, f.nc, FollowConfig{Key: key})
				if reach(t, late, 21); late.Sim().Hash() != master.sim.Hash() {
					t.Fatal("other hashes")
				}
				return
			}
			until(t, "the master notices", func() bool { return master.ship.Err() != nil })
			if !errors.Is(master.ship.Err(), ErrCorrupt) && !errors.Is(master.ship.Err(), c.want) && !errors.Is(master.ship.Err(), ErrFenced) {
				t.Fatal(master.ship.Err())
			}
		})
	}
}

// A message that was removed from within the stream is a gap.
func TestStreamGap(t *testing.T) {
	nc := served(t)
	ctx := background(t)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	// Ship makes streams in which messages cannot be deleted.
	c := jetstream.StreamConfig{Name: streamPrefix + "field", Subjects: []string{"evertick.field.tick"}}
	if _, err := js.CreateStream(ctx, c); err != nil {
		t.Fatal(err)
	}
	m := newMaster(t, t.TempDir(), replay.Options{}).shipTo(t, nc, ShipConfig{})
	for range 10 {
		drive(t, m.sim, 1, 0)
		until(t, "all is shipped", func() bool { return m.ship.Stats().Behind == 0 })
	}
	if err := m.ship.stream.DeleteMsg(ctx, 6); err != nil {
		t.Fatal(err)
	}
	f := follow(t, nc, FollowConfig{})
	if err := f.Run(ctx); !errors.Is(err, ErrGap) || f.Sim().Ticks() != 4 {
		t.Fatal(f.Sim().Ticks(), err)
	}
}

// A message that comes twice, as after a lost answer, is in the stream once.
func TestDuplicate(t *testing.T) {
	m, f := shippedTo(t, nil)
	ctx := background(t)
	if err := m.ship.Close(ctx); err != nil {
		t.Fatal(err)
	}
	raw, err := f.stream.GetMsg(ctx, f.seq)
	if err != nil {
		t.Fatal(err)
	}
	id := raw.Header.Get(jetstream.MsgIDHeader)
	ack, err := f.js.Publish(ctx, f.ticks, raw.Data, jetstream.WithMsgID(id))
	if err != nil || !ack.Duplicate || ack.Sequence != f.seq {
		t.Fatalf("%+v, %v", ack, err)
	}
}

// A tick that is larger than a message, or than the server takes, comes in parts.
func TestLargeTick(t *testing.T) {
	nc := served(t)
	for _, batch := range []int{0, 50, 1000} {
		m := newMaster(t, t.TempDir(), replay.Options{}).shipTo(t, nc, ShipConfig{Name: string(rune('a' + batch%7)), BatchBytes: batch})
		sizes := []int{10, 200_000, 1, 900_000, 700}
		if batch > 0 {
			sizes = []int{10, 4000, 1, 2500, 700}
		}
		for i, n := range sizes {
			for k := 0; n > 0; k++ {
				size := min(n, 60_000)
				n -= size
				if err := m.sim.Push(evertick.Input{Tick: uint64(i), Source: uint32(k), Seq: uint64(k), Data: bytes.Repeat([]byte{7}, size)}); err != nil {
					t.Fatal(err)
				}
			}
			if err := m.sim.Step(); err != nil {
				t.Fatal(err)
			}
		}
		f := follow(t, nc, FollowConfig{Name: string(rune('a' + batch%7))})
		reach(t, f, uint64(len(sizes)))
		if f.Sim().Hash() != m.sim.Hash() {
			t.Fatal("other hashes")
		}
		if st := m.ship.Stats(); batch > 0 && st.Messages < 6 {
			t.Fatalf("%+v", st)
		}
	}
}

// The server ends and starts again: both sides go on by themselves, and the Follower does not say that it is in step meanwhile.
func TestServerAgain(t *testing.T) {
	dir := t.TempDir()
	s := startServer(t, dir, server.RANDOM_PORT)
	port := s.Addr().(*net.TCPAddr).Port
	nc := connect(t, s.ClientURL())
	m := newMaster(t, t.TempDir(), replay.Options{}).shipTo(t, nc, ShipConfig{Beat: 50 * time.Millisecond})
	f := follow(t, connect(t, s.ClientURL()), FollowConfig{})
	for round := range uint64(shortened(4, 2)) {
		drive(t, m.sim, 50, 0)
		reach(t, f, 100*round+50)
		s.Shutdown()
		s.WaitForShutdown()
		drive(t, m.sim, 50, 0)
		wait, cancel := context.WithTimeout(background(t), 2*stepWait)
		if err := f.Step(wait); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		cancel()
		if st := f.Stats(); st.InStep {
			t.Fatalf("%+v", st)
		}
		s = startServer(t, dir, port)
		reach(t, f, 100*round+100)
		if f.Sim().Hash() != m.sim.Hash() {
			t.Fatal("other hashes")
		}
	}
	until(t, "it is in step", func() bool {
		wait, cancel := context.WithTimeout(background(t), 2*askEvery)
		defer cancel()
		f.Step(wait)
		return f.Stats().InStep
	})
	if err := m.ship.Err(); err != nil {
		t.Fatal(err)
	}
}

// Steps that each wait for a short time only find out all the same that the stream was replaced, and that nothing comes.
func TestShortSteps(t *testing.T) {
	nc := served(t)
	ctx := background(t)
	m := newMaster(t, t.TempDir(), replay.Options{}).shipTo(t, nc, ShipConfig{Beat: 50 * time.Millisecond})
	f := follow(t, nc, FollowConfig{})
	steps := func(what string, is func() bool) {
		t.Helper()
		until(t, what, func() bool {
			wait, cancel := context.WithTimeout(ctx, askEvery/5)
			defer cancel()
			if err := f.Step(wait); err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
			return is()
		})
	}
	drive(t, m.sim, 50, 0)
	steps("in step", func() bool { return f.Stats().InStep && f.Sim().Ticks() == 50 })
	if err := m.ship.js.DeleteStream(ctx, m.ship.name); err != nil {
		t.Fatal(err)
	}
	drive(t, m.sim, 50, 0)
	steps("all ticks", func() bool { return f.Sim().Ticks() == 100 })
	steps("in step again", func() bool { return f.Stats().InStep })
	m.ship.cancel() // as a kill: nobody gives signs of life
	steps("not in step", func() bool { return !f.Stats().InStep })
	for end := time.Now().Add(stepWait); time.Now().Before(end); {
		steps("not in step", func() bool { return true })
		if f.Stats().InStep {
			t.Fatal("in step with nobody")
		}
	}
}
