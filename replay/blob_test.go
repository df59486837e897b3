package replay_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/replay"
)

// scripted is the yard with a system that keeps the state of scripts in blobs. In tick at it writes
// something else.
func scripted(at uint64) replay.Scenario {
	return scenario(func(y *yard) {
		y.wrong = func(tick *evertick.Tick) error {
			script, err := y.sim.World.Blobs("script")
			if err != nil {
				return err
			}
			id := y.ids[tick.N%yardBodies]
			if tick.N == at {
				return script.Set(id, []byte("other"))
			}
			old, _ := script.Get(id)
			if tick.N%17 == 16 {
				script.Unset(id)
				return nil
			}
			return script.Set(id, fmt.Appendf(nil, "%d %.60s", tick.N, old))
		}
	})
}

// TestBlobs: a log brings blobs back, from the beginning and from its snapshots, and one that
// differs is named.
func TestBlobs(t *testing.T) {
	const never, at = 1 << 40, 41
	dir, hashes := recorded(t, scripted(never), 80, replay.Options{SnapshotTicks: 6, ColumnTicks: 1})
	if rep, err := replay.Verify(dir, scripted(never), replay.VerifyOptions{}); err != nil || rep.Hash != hashes[79] {
		t.Fatal(rep, err)
	}
	for _, tick := range []uint64{5, 40, 79} {
		if sim, err := replay.Seek(dir, scripted(never), tick, nil); err != nil || sim.Hash() != hashes[tick] {
			t.Fatalf("tick %d: %v", tick, err)
		}
	}
	if err := replay.SyncTest(scripted(never), 5, 60, feed); err != nil {
		t.Error(err)
	}
	_, err := replay.Verify(dir, scripted(at), replay.VerifyOptions{})
	var e *replay.DivergedError
	if !errors.As(err, &e) || e.Tick != at || !slices.Equal(e.Columns, []string{"blob.script"}) {
		t.Fatal(err)
	}
	if e.Where == nil || e.Where.World.Part != "blob" || !strings.Contains(err.Error(), `entities: blob of script, slot 5 (ent_6), byte 0: "41 35 29`) {
		t.Error(err)
	}
}
