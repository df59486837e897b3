package jetstream

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/replay"
)

// A follower takes over while the master still runs. Its next message is refused, its Sim stops, and the error names the
// ticks that are only in its log.
func TestFence(t *testing.T) {
	nc := served(t)
	ctx := background(t)
	dir, own := t.TempDir(), t.TempDir()
	m := newMaster(t, dir, replay.Options{}).shipTo(t, nc, ShipConfig{})
	drive(t, m.sim, 100, 0)
	until(t, "all is shipped", func() bool { return m.ship.Stats().Behind == 0 })
	f := follow(t, nc, FollowConfig{Dir: own})
	reach(t, f, 100)
	rec, ship, err := f.TakeOver(ctx, ShipConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if f.Step(ctx) == nil {
		t.Fatal("the Follower goes on")
	}
	var stopped error
	until(t, "the old master stops", func() bool {
		if err := m.sim.Push(inputOf(m.sim.Ticks(), 1)); err != nil {
			t.Fatal(err)
		}
		stopped = m.sim.Step()
		return stopped != nil
	})
	var fenced *FencedError
	if !errors.As(stopped, &fenced) || !errors.Is(stopped, ErrFenced) || fenced.Term != 1 || fenced.By != 2 || fenced.From != 100 || fenced.To < 100 {
		t.Fatal(stopped)
	}
	if !errors.Is(m.ship.Err(), ErrFenced) || !errors.Is(m.ship.Close(ctx), ErrFenced) {
		t.Fatal(m.ship.Err())
	}
	drive(t, rec.Sim(), 100, 2)
	watch := follow(t, nc, FollowConfig{})
	reach(t, watch, 200)
	if watch.Sim().Hash() != rec.Sim().Hash() {
		t.Fatal("other hashes")
	}
	if st := ship.Stats(); st.Term != 2 {
		t.Fatalf("%+v", st)
	}
	if err := m.rec.Close(); err != nil {
		t.Fatal(err)
	}
	returned(t, ship, dir, rec)
}

// returned starts the old master again: it must not ship, and must not lose its own ticks when it follows.
func returned(t *testing.T, ship *Shipper, dir string, rec *replay.Recorder) {
	t.Helper()
	ctx, nc := background(t), ship.nc
	until(t, "all is shipped", func() bool { return ship.Stats().Behind == 0 })
	again, sim, _, err := replay.Resume(dir, field(), replay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	had := sim.Ticks()
	_, err = Ship(ctx, nc, again, ShipConfig{})
	var fenced *FencedError
	if !errors.As(err, &fenced) || fenced.From != 100 || fenced.To != had-1 {
		t.Fatal(err)
	}
	if _, err := Ship(ctx, nc, again, ShipConfig{Claim: true}); !errors.Is(err, ErrLost) && !errors.Is(err, ErrBranched) {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = Follow(ctx, nc, field(), FollowConfig{Dir: dir})
	var branched *BranchedError
	if !errors.As(err, &branched) || branched.Common != 100 || branched.Local != had || branched.Stream != 200 {
		t.Fatal(err)
	}
	f := follow(t, nc, FollowConfig{Dir: dir + string(os.PathSeparator), SetAside: true})
	reach(t, f, 200)
	if f.Sim().Hash() != rec.Sim().Hash() {
		t.Fatal("other hashes")
	}
	if got := len(hashes(t, dir+".branch-1")); uint64(got) != had {
		t.Fatalf("the old log has %d ticks, had %d", got, had)
	}
}

// A stale message that expects a sequence number which only a message of another master has is never sent: after a term at
// any moment the stream has no message of an older term.
func TestTermsNeverMix(t *testing.T) {
	nc := served(t)
	ctx := background(t)
	m := newMaster(t, t.TempDir(), replay.Options{}).shipTo(t, nc, ShipConfig{BatchBytes: 64})
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		for {
			select {
			case <-stop:
				return
			default:
				if m.sim.Push(inputOf(m.sim.Ticks(), 0)) != nil || m.sim.Step() != nil {
					return
				}
				time.Sleep(time.Millisecond)
			}
		}
	}()
	defer wg.Wait()
	defer close(stop)
	var sim *evertick.Sim
	term := uint64(1)
	for range shortened(8, 3) {
		f := follow(t, nc, FollowConfig{Dir: t.TempDir()})
		for range 20 {
			if err := f.Step(ctx); err != nil {
				t.Fatal(err)
			}
		}
		rec, ship, err := f.TakeOver(ctx, ShipConfig{BatchBytes: 64})
		if err != nil {
			t.Fatal(err)
		}
		if term++; ship.Stats().Term != term {
			t.Fatalf("term %d, want %d", ship.Stats().Term, term)
		}
		sim = rec.Sim()
		drive(t, sim, 300, term)
		defer rec.Close()
	}
	f := follow(t, nc, FollowConfig{})
	reach(t, f, sim.Ticks())
	if f.Sim().Hash() != sim.Hash() {
		t.Fatal("other hashes")
	}
}

// Of several standbys one takes over; the others follow it.
func TestStandbysRace(t *testing.T) {
	nc := served(t)
	ctx := background(t)
	m := newMaster(t, t.TempDir(), replay.Options{}).shipTo(t, nc, ShipConfig{Beat: 50 * time.Millisecond})
	drive(t, m.sim, 50, 0)
	type won struct {
		rec  *replay.Recorder
		ship *Shipper
	}
	winner := make(chan won, 3)
	lost := make(chan error, 3)
	standing, end := context.WithCancel(ctx)
	for range 3 {
		f := follow(t, nc, FollowConfig{Dir: t.TempDir()})
		go func() {
			rec, ship, err := f.Standby(standing, 500*time.Millisecond, ShipConfig{Beat: 50 * time.Millisecond})
			if err == nil {
				winner <- won{rec, ship}
			} else if standing.Err() != nil && f.Sim().Ticks() < 60 {
				lost <- fmt.Errorf("a standby has run %d ticks", f.Sim().Ticks())
			} else {
				lost <- nil
			}
		}()
	}
	time.Sleep(time.Second) // twice the silence: signs of life keep the standbys back
	if len(winner) > 0 {
		t.Fatal("a standby took over from a master that lives")
	}
	if err := m.ship.Close(ctx); err != nil {
		t.Fatal(err)
	}
	w := <-winner
	drive(t, w.rec.Sim(), 200, 0)
	drive(t, m.sim, 200, 0)
	if w.rec.Sim().Hash() != m.sim.Hash() {
		t.Fatal("other hashes")
	}
	f := follow(t, nc, FollowConfig{})
	reach(t, f, 250)
	until(t, "a beat", func() bool { return w.ship.Stats().Behind == 0 })
	time.Sleep(300 * time.Millisecond)
	end()
	for range 2 {
		if err := <-lost; err != nil {
			t.Fatal(err)
		}
	}
	if len(winner) > 0 {
		t.Fatal("two standbys took over")
	}
	w.rec.Close()
}

// A Sim ends when the stream lacks more ticks than MaxBehind.
func TestMaxBehind(t *testing.T) {
	s := startServer(t, t.TempDir(), server.RANDOM_PORT)
	m := newMaster(t, t.TempDir(), replay.Options{}).shipTo(t, connect(t, s.ClientURL()), ShipConfig{MaxBehind: 40})
	for range 3 {
		drive(t, m.sim, 40, 0)
		until(t, "all is shipped", func() bool { return m.ship.Stats().Behind == 0 })
	}
	s.Shutdown()
	s.WaitForShutdown()
	drive(t, m.sim, 40, 0)
	if err := m.sim.Step(); !errors.Is(err, ErrBehind) {
		t.Fatal(err)
	}
	until(t, "it notices", func() bool { return m.ship.Stats().BehindNs > 0 })
	if st := m.ship.Stats(); st.Behind != 41 {
		t.Fatalf("%+v", st)
	}
	if err := m.ship.Err(); err != nil {
		t.Fatal(err)
	}
	m.ship.cancel()
}

// A power cut takes ticks from the local log that the stream has: the master does not ship then.
func TestLocalLogLacksTicks(t *testing.T) {
	nc := served(t)
	ctx := background(t)
	dir := t.TempDir()
	m := newMaster(t, dir, replay.Options{}).shipTo(t, nc, ShipConfig{})
	drive(t, m.sim, 30, 0)
	if err := m.ship.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if err := m.rec.Close(); err != nil {
		t.Fatal(err)
	}
	cutLog(t, dir, 25)
	rec, _, _, err := replay.Resume(dir, field(), replay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	_, err = Ship(ctx, nc, rec, ShipConfig{})
	if !errors.Is(err, ErrLost) || err.Error() != "jetstream: the stream ends with tick 29, the local log with tick 24: the local log lacks ticks of the stream" {
		t.Fatal(err)
	}
	// It gets them from the stream.
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	f := follow(t, nc, FollowConfig{Dir: dir})
	reach(t, f, 30)
	again, ship, err := f.TakeOver(ctx, ShipConfig{})
	if err != nil {
		t.Fatal(err)
	}
	drive(t, again.Sim(), 10, 0)
	drive(t, m.sim, 10, 0)
	if again.Sim().Hash() != m.sim.Hash() {
		t.Fatal("other hashes")
	}
	if err := ship.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

// A master that is started again goes on, in a new term.
func TestMasterAgain(t *testing.T) {
	nc := served(t)
	ctx := background(t)
	dir := t.TempDir()
	m := newMaster(t, dir, replay.Options{}).shipTo(t, nc, ShipConfig{})
	drive(t, m.sim, 30, 0)
	if err := m.ship.Close(ctx); err != nil {
		t.Fatal(err)
	}
	drive(t, m.sim, 30, 0) // only in the local log
	if err := m.rec.Close(); err != nil {
		t.Fatal(err)
	}
	rec, sim, _, err := replay.Resume(dir, field(), replay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	ship, err := Ship(ctx, nc, rec, ShipConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer ship.cancel()
	drive(t, sim, 30, 0)
	f := follow(t, nc, FollowConfig{})
	reach(t, f, 90)
	if f.Sim().Hash() != sim.Hash() || ship.Stats().Term != 2 {
		t.Fatalf("other hashes, or %+v", ship.Stats())
	}
}

// A stream of another run is refused by name.
func TestForeign(t *testing.T) {
	nc := served(t)
	ctx := background(t)
	m := newMaster(t, t.TempDir(), replay.Options{}).shipTo(t, nc, ShipConfig{Name: "one"})
	drive(t, m.sim, 10, 0)
	until(t, "all is shipped", func() bool { return m.ship.Stats().Behind == 0 })
	for _, c := range []struct {
		scenario string
		seed     uint64
		ticks    int
		want     []error
	}{{"field", 8, 0, []error{ErrForeign}}, {"meadow", 7, 0, []error{ErrForeign, ErrUnsupported}}, {"field", 7, 20, []error{ErrFenced}}} {
		sim, err := newField(0)(c.seed)
		if err != nil {
			t.Fatal(err)
		}
		rec, err := replay.Record(t.TempDir(), c.scenario, sim, replay.Options{})
		if err != nil {
			t.Fatal(err)
		}
		drive(t, sim, c.ticks, 5)
		_, err = Ship(ctx, nc, rec, ShipConfig{Name: "one"})
		for _, want := range c.want {
			if !errors.Is(err, want) {
				t.Errorf("scenario %q, seed %d: %v", c.scenario, c.seed, err)
			}
		}
		if c.ticks > 0 {
			if _, err := Ship(ctx, nc, rec, ShipConfig{Name: "one", Claim: true}); !errors.Is(err, ErrBranched) {
				t.Errorf("other ticks: %v", err)
			}
		}
		rec.Close()
	}
	other := field()
	other.Name = "meadow"
	if _, err := Follow(ctx, nc, other, FollowConfig{Name: "one"}); !errors.Is(err, ErrUnsupported) {
		t.Error(err)
	}
	wrong := replay.Scenario{Name: "field", New: newField(6)}
	f, err := Follow(ctx, nc, wrong, FollowConfig{Name: "one"})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	err = f.Run(ctx)
	var diverged *replay.DivergedError
	if !errors.As(err, &diverged) || diverged.Tick != 6 || f.Step(ctx) == nil {
		t.Errorf("%v", err)
	}
	if _, err := Follow(ctx, nc, field(), FollowConfig{Name: "one.two"}); !errors.Is(err, ErrRange) {
		t.Error(err)
	}
}

// The stream lost messages, or all of them: the master ships them again, and a follower that has run them goes on.
func TestStreamIsOlder(t *testing.T) {
	nc := served(t)
	ctx := background(t)
	m := newMaster(t, t.TempDir(), replay.Options{}).shipTo(t, nc, ShipConfig{Beat: 50 * time.Millisecond})
	f := follow(t, nc, FollowConfig{Dir: t.TempDir()})
	drive(t, m.sim, 100, 0)
	reach(t, f, 100)
	if err := m.ship.js.DeleteStream(ctx, m.ship.name); err != nil {
		t.Fatal(err)
	}
	drive(t, m.sim, 100, 0)
	reach(t, f, 200)
	if f.Sim().Hash() != m.sim.Hash() {
		t.Fatal("other hashes")
	}
	until(t, "all is shipped", func() bool { return m.ship.Stats().Behind == 0 })
	if st := m.ship.Stats(); st.Term != 1 || st.Restarts != 1 || m.ship.Err() != nil {
		t.Fatalf("%+v, %v", st, m.ship.Err())
	}
	late := follow(t, nc, FollowConfig{})
	reach(t, late, 200)
}

// Old messages were removed: a follower that needs them gets ErrTrimmed, and one that has run them goes on.
func TestTrimmed(t *testing.T) {
	nc := served(t)
	ctx := background(t)
	limited := jetstream.StreamConfig{MaxMsgs: 1000} // without a limit the master would ship them again
	m := newMaster(t, t.TempDir(), replay.Options{}).shipTo(t, nc, ShipConfig{BatchBytes: 64, Stream: limited})
	drive(t, m.sim, 100, 0)
	own := t.TempDir()
	f := follow(t, nc, FollowConfig{Dir: own})
	reach(t, f, 100)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	drive(t, m.sim, 10, 0)
	until(t, "all is shipped", func() bool { return m.ship.Stats().Behind == 0 })
	if err := m.ship.stream.Purge(ctx, jetstream.WithPurgeKeep(12)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []FollowConfig{{}, {Dir: t.TempDir()}} {
		late, err := Follow(ctx, nc, field(), c)
		if err == nil {
			err = late.Step(ctx)
			late.Close()
		}
		if !errors.Is(err, ErrTrimmed) {
			t.Fatal(err)
		}
	}
	reach(t, follow(t, nc, FollowConfig{Dir: own}), 110)
}
