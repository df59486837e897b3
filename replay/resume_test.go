package replay_test

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/worldlog"
)

// countFS counts the bytes that are read from segments.
type countFS struct {
	worldlog.FS
	bytes atomic.Int64
}

func (c *countFS) Open(name string) (worldlog.File, error) {
	f, err := c.FS.Open(name)
	if err != nil || !strings.HasPrefix(filepath.Base(name), "segment-") {
		return f, err
	}
	return countFile{f, f.(io.Seeker), &c.bytes}, nil
}

type countFile struct {
	worldlog.File
	io.Seeker
	bytes *atomic.Int64
}

func (f countFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.bytes.Add(int64(n))
	return n, err
}

// Resume reads what is new since the last snapshot, and goes to the same state, however long the log is.
func TestResumeReadsWhatIsNew(t *testing.T) {
	var first int64
	for i, ticks := range []int{3000, 8000} {
		dir, hashes := recorded(t, scenario(nil), ticks, replay.Options{SnapshotTicks: 190, Log: worldlog.Options{KeepSnapshots: 2}})
		fs := &countFS{FS: worldlog.OS}
		rec, sim, _, err := replay.Resume(dir, scenario(nil), replay.Options{Log: worldlog.Options{FS: fs}})
		if err != nil {
			t.Fatal(err)
		}
		if sim.Ticks() != uint64(ticks) || sim.Hash() != hashes[ticks-1] {
			t.Errorf("%d ticks, hash %x, want %d, %x", sim.Ticks(), sim.Hash(), ticks, hashes[ticks-1])
		}
		if err := rec.Close(); err != nil {
			t.Error(err)
		}
		n := fs.bytes.Load()
		t.Logf("%d ticks: %d bytes", ticks, n)
		if i == 0 {
			first = n
		} else if n > first+64<<10 {
			t.Errorf("%d bytes of a log of 8,000 ticks, %d of the one of 3,000", n, first)
		}
	}
}

// A log whose first ticks were dropped is resumed, verified and played from its oldest snapshot on, and says so where it is asked
// for what is before.
func TestDroppedTicks(t *testing.T) {
	opt := replay.Options{SnapshotTicks: 40, Log: worldlog.Options{SegmentTicks: 30, KeepSnapshots: 3, Retention: worldlog.Drop}}
	dir, hashes := recorded(t, scenario(nil), 500, opt) // snapshots of 399, 439 and 479 stay
	const base = 399
	rep, err := replay.Verify(dir, scenario(nil), replay.VerifyOptions{})
	if err != nil || rep.Ticks != 500-1-base || rep.Hash != hashes[499] {
		t.Errorf("Verify: %+v, %v", rep, err)
	}
	wrong := scenario(func(y *yard) {
		y.wrong = func(tick *evertick.Tick) error {
			if tick.N == 450 {
				y.sim.World.Position.Y[3] += 0.25
			}
			return nil
		}
	})
	var d *replay.DivergedError
	if _, err := replay.Verify(dir, wrong, replay.VerifyOptions{}); !errors.As(err, &d) || d.Tick != 450 {
		t.Errorf("Verify of another run: %v", err)
	}
	p, err := replay.Play(dir, scenario(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, tick := range []uint64{base, 499, 410, base, 480} {
		if err := p.Seek(tick); err != nil || p.Sim().Ticks() != tick+1 || p.Sim().Hash() != hashes[tick] {
			t.Errorf("Seek to %d: %v, %d ticks", tick, err, p.Sim().Ticks())
		}
		for _, before := range []uint64{0, 10, base - 1} {
			if err := p.Seek(before); !errors.Is(err, worldlog.ErrRange) || !strings.Contains(err.Error(), "after tick 399") {
				t.Errorf("Seek to %d: %v", before, err)
			}
		}
	}
	if err := p.Rewind(); err != nil || p.Sim().Ticks() != base+1 {
		t.Errorf("Rewind: %v, %d ticks", err, p.Sim().Ticks())
	}
	if err := p.Step(); err != nil || p.Sim().Hash() != hashes[base+1] {
		t.Errorf("Step: %v", err)
	}
	if sim, err := replay.SeekPlain(dir, scenario(nil), 450, nil); err != nil || sim.Hash() != hashes[450] {
		t.Errorf("SeekPlain: %v", err)
	}
	if _, err := replay.SeekPlain(dir, scenario(nil), 5, nil); !errors.Is(err, worldlog.ErrRange) {
		t.Errorf("SeekPlain: %v", err)
	}
	if _, _, err := replay.Fork(dir, scenario(nil), 450, t.TempDir(), replay.Options{}); !errors.Is(err, worldlog.ErrUnsupported) {
		t.Errorf("Fork: %v", err)
	}
	other := scenario(nil)
	other.Name = "other"
	if _, err := replay.Play(dir, other, nil); !errors.Is(err, worldlog.ErrUnsupported) {
		t.Errorf("another scenario: %v", err)
	}
	rec, sim, report, err := replay.Resume(dir, scenario(nil), opt)
	if err != nil || report.Ticks != 500 || sim.Ticks() != 500 || sim.Hash() != hashes[499] {
		t.Fatalf("Resume: %v, %+v", err, report)
	}
	drive(t, sim, 100)
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	if rep, err = replay.Verify(dir, scenario(nil), replay.VerifyOptions{}); err != nil || rep.Hash != sim.Hash() {
		t.Errorf("Verify after Resume: %+v, %v", rep, err)
	}
}
