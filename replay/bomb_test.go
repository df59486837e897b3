package replay_test

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/worldlog"
	"github.com/klauspost/compress/zstd"
)

// plant replaces every snapshot beside a log by one that unpacks to size bytes, with
// right checksums.
func plant(t *testing.T, dir string, size int) {
	t.Helper()
	enc, err := zstd.NewWriter(nil, zstd.WithWindowSize(1<<20))
	if err != nil {
		t.Fatal(err)
	}
	content := make([]byte, size)
	packed := enc.EncodeAll(content, nil)
	files, err := filepath.Glob(filepath.Join(dir, "*.evsnap"))
	if err != nil || len(files) == 0 {
		t.Fatalf("snapshots %q, %v", files, err)
	}
	table, le := crc32.MakeTable(crc32.Castagnoli), binary.LittleEndian
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		end := 53 + int(b[52]) + 228 // see package worldlog
		head := b[:end:end]
		le.PutUint32(head[40:], uint32(size))
		le.PutUint32(head[44:], uint32(len(packed)))
		le.PutUint32(head[48:], crc32.Checksum(content, table))
		head = le.AppendUint32(head, crc32.Checksum(head, table))
		if err := os.WriteFile(name, append(head, packed...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Small snapshots that unpack to much more than the Sim can need are passed over by every search
// for a snapshot, without taking that memory. Below the limit of the scenario they take what they hold.
func TestSnapshotBomb(t *testing.T) {
	size := 256 << 20
	if testing.Short() {
		size = 128 << 20 // more than what the Sim can need, all the same
	}
	dir, hashes := recorded(t, scenario(nil), 30, replay.Options{SnapshotTicks: 20})
	plant(t, dir, size)
	names := []string{"Seek", "Verify", "Fork", "Resume"}
	for i, use := range []func(sc replay.Scenario) error{
		func(sc replay.Scenario) error {
			sim, err := replay.Seek(dir, sc, 25, nil)
			if err == nil && sim.Hash() != hashes[25] {
				t.Errorf("Seek: hash %x, want %x", sim.Hash(), hashes[25])
			}
			return err
		},
		func(replay.Scenario) error { // looks at the snapshot of the tick that comes out otherwise
			wrong := scenario(func(y *yard) {
				y.wrong = func(tick *evertick.Tick) error {
					if tick.N == 19 {
						y.sim.World.Position.Y[3] += 0.25
					}
					return nil
				}
			})
			if _, err := replay.Verify(dir, wrong, replay.VerifyOptions{}); !errors.Is(err, replay.ErrDiverged) {
				return err
			}
			return nil
		},
		func(sc replay.Scenario) error {
			rec, _, err := replay.Fork(dir, sc, 25, t.TempDir(), replay.Options{})
			if err == nil {
				err = rec.Close()
			}
			return err
		},
		func(sc replay.Scenario) error {
			rec, _, _, err := replay.Resume(dir, sc, replay.Options{})
			if err == nil {
				err = rec.Close()
			}
			return err
		},
	} {
		var err error
		if grown := allocated(func() { err = use(scenario(nil)) }); err != nil || grown > uint64(size)/4 {
			t.Errorf("%s: %v; %d bytes were allocated", names[i], err, grown)
		}
	}
	sc := scenario(nil)
	sc.MaxSnapshot = size
	var err error
	if grown := allocated(func() { _, err = replay.Seek(dir, sc, 25, nil) }); err != nil || grown < uint64(size) || grown > uint64(size+size/4) {
		t.Errorf("with a limit that lets it through: %v; %d bytes were allocated", err, grown)
	}
}

// The limit lets a scenario pass over its own snapshots, and is checked.
func TestMaxSnapshot(t *testing.T) {
	dir, hashes := recorded(t, scenario(nil), 30, replay.Options{SnapshotTicks: 20})
	for _, limit := range []int{0, 1, worldlog.MaxSnapshot, math.MaxInt} {
		sc := scenario(nil)
		sc.MaxSnapshot = limit
		if sim, err := replay.Seek(dir, sc, 25, nil); err != nil || sim.Hash() != hashes[25] {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
	sc := scenario(nil)
	sc.MaxSnapshot = -1
	if _, err := replay.Seek(dir, sc, 25, nil); !errors.Is(err, evertick.ErrRange) || !strings.Contains(err.Error(), "Scenario.MaxSnapshot = -1") {
		t.Error(err)
	}
}

// The log of another scenario says which Name it wants.
func TestOtherScenario(t *testing.T) {
	sc := scenario(nil)
	dir, _ := recorded(t, sc, 3, replay.Options{})
	wanted := sc.Name
	sc.Name = "other"
	_, err := replay.Verify(dir, sc, replay.VerifyOptions{})
	want := `replay: the log is of scenario "` + wanted + `", not of "other": replay it with a Scenario whose Name is "` + wanted + `": `
	if !errors.Is(err, evertick.ErrUnsupported) || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s…", err, want)
	}
}
