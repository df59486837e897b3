package replay_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/worldlog"
)

func newFollower(t *testing.T, sc replay.Scenario, dir string) *replay.Follower {
	t.Helper()
	f, err := replay.NewFollower(sc, yardIdentity(), replay.FollowerOptions{Dir: dir, Log: replay.Options{SnapshotTicks: 16}})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func yardIdentity() worldlog.Identity {
	return worldlog.Identity{Scenario: "yard", SimVersion: evertick.SimVersion, Seed: 5}
}

// A Follower with a log of its own has the same ticks, goes on after a restart, and its Sim goes on as the first one would
// have. What is pushed to its Sim while it follows has no effect.
func TestFollower(t *testing.T) {
	dir, want := recorded(t, scenario(nil), 150, replay.Options{ColumnTicks: 10})
	ticks := opened(t, dir)
	own := filepath.Join(t.TempDir(), "own")
	f := newFollower(t, scenario(nil), own)
	for i := range 100 {
		if i%30 == 29 {
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			if f = newFollower(t, scenario(nil), own); f.Sim().Ticks() != uint64(i) {
				t.Fatalf("%d ticks after a restart, want %d", f.Sim().Ticks(), i)
			}
		}
		if err := f.Sim().Push(evertick.Input{Tick: uint64(i + i%5), Source: 9, Seq: uint64(i), Kind: push, Data: []byte{1, 99}}); err != nil {
			t.Fatal(err)
		}
		if err := f.Apply(&ticks[i]); err != nil {
			t.Fatal(err)
		}
		if f.Sim().Hash() != want[i] {
			t.Fatalf("tick %d: another hash", i)
		}
	}
	if err := f.Sim().Step(); !errors.Is(err, worldlog.ErrRange) {
		t.Fatal("the Sim can be stepped:", err)
	}
	rec, err := f.TakeOver()
	if err != nil {
		t.Fatal(err)
	}
	if f.Apply(&ticks[100]) == nil {
		t.Fatal("the Follower goes on")
	}
	drive(t, rec.Sim(), 50)
	if err := errors.Join(f.Close(), rec.Close()); err != nil {
		t.Fatal(err)
	}
	var got []uint64
	for _, tick := range opened(t, own) {
		got = append(got, tick.Hash)
	}
	if !slices.Equal(got, want) {
		t.Fatal("the logs have other hashes")
	}
	if rep, err := replay.Verify(own, scenario(nil), replay.VerifyOptions{}); err != nil || rep.Ticks != 150 {
		t.Fatalf("%+v, %v", rep, err)
	}
}

// A Follower refuses a gap and a repeated tick, and goes on after that. It begins at a snapshot whose state has its hash.
func TestFollowerRefuses(t *testing.T) {
	dir, _ := recorded(t, scenario(nil), 40, replay.Options{SnapshotTicks: 20})
	ticks := opened(t, dir)
	s, err := worldlog.LoadSnapshot(dir, nil, 19)
	if err != nil {
		t.Fatal(err)
	}
	f := newFollower(t, scenario(nil), "")
	bad := *s
	bad.Hash++
	if err := f.Restore(&bad); !errors.Is(err, worldlog.ErrCorrupt) || f.Sim().Ticks() != 0 {
		t.Fatal(err)
	}
	bad = *s
	bad.Identity.Seed++
	if err := f.Restore(&bad); !errors.Is(err, worldlog.ErrUnsupported) {
		t.Fatal(err)
	}
	if err := f.Restore(s); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []int{19, 21} {
		if err := f.Apply(&ticks[wrong]); !errors.Is(err, worldlog.ErrCorrupt) {
			t.Fatal(err)
		}
	}
	for i := 20; i < 40; i++ {
		if err := f.Apply(&ticks[i]); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.TakeOver(); !errors.Is(err, worldlog.ErrRange) {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*yard){
		"capacity": func(y *yard) { y.capacity = 65 }, "column": func(y *yard) { y.columns = []string{"heat"} },
	} {
		if err := newFollower(t, scenario(change), "").Apply(&ticks[0]); !errors.Is(err, worldlog.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
	id := yardIdentity()
	id.SimVersion++
	if _, err := replay.NewFollower(scenario(nil), id, replay.FollowerOptions{}); !errors.Is(err, worldlog.ErrUnsupported) {
		t.Error(err)
	}
	tick := ticks[0]
	tick.Hash++
	f = newFollower(t, scenario(nil), "")
	var diverged *replay.DivergedError
	if err := f.Apply(&tick); !errors.As(err, &diverged) || diverged.Tick != 0 || f.Apply(&ticks[1]) == nil {
		t.Error(err)
	}
}
