package replay_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/worldlog"
)

// seekTo seeks and checks where the player is.
func seekTo(t *testing.T, p *replay.Player, tick uint64, hashes []uint64) {
	t.Helper()
	if err := p.Seek(tick); err != nil {
		t.Fatalf("tick %d: %v", tick, err)
	}
	checkAt(t, p, tick, hashes)
}

func checkAt(t *testing.T, p *replay.Player, tick uint64, hashes []uint64) {
	t.Helper()
	if p.Sim().Ticks() != tick+1 || p.Sim().Hash() != hashes[tick] {
		t.Fatalf("tick %d: %d ticks have run, hash %x, want %x", tick, p.Sim().Ticks(), p.Sim().Hash(), hashes[tick])
	}
}

// Scrubbing in any order finds the state of each tick: with snapshots in the log or without, and with much, little
// and no memory for snapshots.
func TestScrub(t *testing.T) {
	const ticks = 400
	for _, period := range []uint64{0, 90} {
		dir, hashes := recorded(t, scenario(nil), ticks, replay.Options{SnapshotTicks: period})
		for _, bytes := range []int{0, 10_000, 40_000, 64 << 20} {
			for _, seed := range []uint64{1, 2, paritytest.Seed()} {
				p, err := replay.Play(dir, scenario(nil), nil)
				if err != nil {
					t.Fatal(err)
				}
				p.CacheSnapshots(bytes)
				rng := rand.New(rand.NewPCG(seed, 0))
				t.Logf("every %d, %d bytes, seed %d", period, bytes, seed)
				tick := uint64(0)
				for range 30 {
					switch rng.IntN(3) {
					case 0:
						tick = rng.Uint64N(ticks)
					case 1:
						tick = max(tick, 1) - 1
					case 2:
						tick = min(tick+1, ticks-1)
					}
					seekTo(t, p, tick, hashes)
				}
				if err := p.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// Going back by one tick runs few ticks again once snapshots are kept, also across a snapshot of the log.
func TestKeepMakesStepsBackShort(t *testing.T) {
	dir, hashes := recorded(t, scenario(nil), 300, replay.Options{SnapshotTicks: 200})
	p, err := replay.Play(dir, scenario(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	p.CacheSnapshots(64 << 20)
	seekTo(t, p, 299, hashes)
	most, all := 0, 0
	for tick := uint64(298); tick > 130; tick-- {
		ran := 0
		if err := p.SeekContext(t.Context(), tick, func(uint64) { ran++ }); err != nil {
			t.Fatal(err)
		}
		checkAt(t, p, tick, hashes)
		most, all = max(most, ran), all+ran
	}
	if most > 200 || all > 168*12 {
		t.Errorf("168 steps back ran %d ticks, and up to %d", all, most)
	}
	p.CacheSnapshots(0)
	ran := 0
	if err := p.SeekContext(t.Context(), 100, func(uint64) { ran++ }); err != nil || ran != 101 {
		t.Errorf("without kept snapshots %d ticks ran, %v", ran, err)
	}
}

// asked is a state that counts how often it is asked for.
type asked int

func (n *asked) AppendState(dst []byte) []byte { *n++; return dst }
func (n *asked) RestoreState([]byte) error     { return nil }

// A Player whose snapshots do not fit in its cache tries now and then only, since each takes time.
func TestCacheWithoutRoom(t *testing.T) {
	var n *asked
	sc := scenario(nil)
	build := sc.New
	sc.New = func(seed uint64) (*evertick.Sim, error) {
		sim, err := build(seed)
		if err == nil {
			n = new(asked)
			err = sim.AddState("asked", n)
		}
		return sim, err
	}
	const ticks = 700
	dir, hashes := recorded(t, sc, ticks, replay.Options{})
	count := func(bytes int) asked {
		p, err := replay.Play(dir, sc, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		p.CacheSnapshots(bytes)
		seekTo(t, p, ticks-1, hashes)
		return *n
	}
	if none, little := count(0), count(1); little > none+1 {
		t.Errorf("%d snapshots that do not fit", little-none)
	}
}

// A seek that is cancelled ends at the tick that it has reached, and the player goes on from there.
func TestSeekContext(t *testing.T) {
	dir, hashes := recorded(t, scenario(nil), 120, replay.Options{SnapshotTicks: 50})
	p, err := replay.Play(dir, scenario(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	stop := errors.New("another seek")
	for _, at := range []uint64{51, 101, 3, 1, 60} {
		ctx, cancel := context.WithCancelCause(t.Context())
		last := uint64(0)
		err := p.SeekContext(ctx, min(at+20, 119), func(now uint64) {
			if last = now; now == at {
				cancel(stop)
			}
		})
		if now := p.Sim().Ticks() - 1; !errors.Is(err, context.Canceled) || last != at || now != at {
			t.Fatalf("cancelled at %d: at %d, progress %d, %v", at, now, last, err)
		}
		checkAt(t, p, p.Sim().Ticks()-1, hashes)
		cancel(nil)
		before := p.Sim().Ticks()
		if err := p.SeekContext(ctx, 7, nil); !errors.Is(err, context.Canceled) || p.Sim().Ticks() != before {
			t.Errorf("cancelled before: %v, at %d", err, p.Sim().Ticks())
		}
		if err := p.Step(); err != nil {
			t.Fatal(err)
		}
		checkAt(t, p, before, hashes)
		seekTo(t, p, 0, hashes)
	}
	if err := p.Seek(1 << 63); !errors.Is(err, evertick.ErrRange) || p.Sim().Ticks() != 1 {
		t.Errorf("a tick that no log has: %v, at %d", err, p.Sim().Ticks())
	}
}

// After a tick that fails, or ends with another hash than that of the log, the player finds every tick before it.
func TestSeekAfterFailure(t *testing.T) {
	dir, hashes := recorded(t, scenario(nil), 60, replay.Options{SnapshotTicks: 25})
	sc := scenario(func(y *yard) {
		y.wrong = func(tick *evertick.Tick) error {
			if tick.N == 40 {
				return y.push(y.ids[0], 100, 0)
			}
			return nil
		}
	})
	for _, bytes := range []int{0, 1 << 20} {
		p, err := replay.Play(dir, sc, nil)
		if err != nil {
			t.Fatal(err)
		}
		p.CacheSnapshots(bytes)
		for _, tick := range []uint64{45, 39, 41, 20, 39} {
			err := p.Seek(tick)
			if failed := errors.Is(err, replay.ErrDiverged); failed != (tick > 39) || err != nil && !failed {
				t.Fatalf("tick %d: %v", tick, err)
			}
			if err == nil {
				checkAt(t, p, tick, hashes)
			}
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A player follows a log that is being written.
func TestPlayerRefresh(t *testing.T) {
	dir := t.TempDir()
	sc := scenario(nil)
	sim, err := sc.New(5)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := replay.Record(dir, sc.Name, sim, replay.Options{Log: worldlog.Options{SegmentTicks: 16}})
	if err != nil {
		t.Fatal(err)
	}
	var hashes []uint64
	grow := func(ticks int) {
		for range ticks {
			drive(t, sim, 1)
			hashes = append(hashes, sim.Hash())
		}
		if err := rec.Log().Sync(); err != nil {
			t.Fatal(err)
		}
	}
	grow(10)
	p, err := replay.Play(dir, sc, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	seekTo(t, p, 9, hashes)
	for range 6 {
		if err := p.Step(); err != io.EOF {
			t.Fatalf("at the end: %v", err)
		}
		grow(7)
		if err := p.Refresh(); err != nil {
			t.Fatal(err)
		}
		if err := p.Step(); err != nil {
			t.Fatal(err)
		}
		seekTo(t, p, uint64(len(hashes)-1), hashes)
		seekTo(t, p, 3, hashes)
		grow(5)
		seekTo(t, p, uint64(len(hashes)-1), hashes)
	}
	if err := rec.Close(); err != nil {
		t.Error(err)
	}
}
