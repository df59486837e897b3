package worldlog

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// lives is a directory through the lives of several runs, and what it must hold of the present one.
type lives struct {
	m    *memFS
	run  int // which run: part of the data of its snapshots
	id   Identity
	next uint64   // tick
	own  []uint64 // ticks of the snapshots of the run that are to be there, rising
	cuts int      // files set aside
}

func (v *lives) data(tick uint64) []byte { return fmt.Appendf(nil, "run %d, tick %d", v.run, tick) }

// live opens the log, or begins one if its segments are gone, commits ticks with a snapshot after each period, and closes it.
func (v *lives) live(t *rapid.T, ticks, period uint64, keep int) {
	opt := Options{FS: v.m, Buffer: minBuffer, Durability: None, SegmentTicks: 7, KeepSnapshots: keep}
	l, report, err := Recover("log", opt)
	if err == nil {
		if !slices.Equal(report.Snapshots, v.own) {
			t.Fatalf("snapshots %d remain, want %d", report.Snapshots, v.own)
		}
	} else {
		v.run, v.next, v.own = v.run+1, 0, nil
		v.id.Seed = rapid.Uint64Range(1, 2).Draw(t, "seed")
		if l, err = Create("log", v.id, opt); err != nil {
			t.Fatal(err)
		}
	}
	for range ticks {
		if err := l.Commit(v.next, hashOf(v.next), Counts{}); err != nil {
			t.Fatal(err)
		}
		if v.next%period == 0 {
			for err = ErrBusy; errors.Is(err, ErrBusy); runtime.Gosched() {
				err = l.WriteSnapshot(v.next, hashOf(v.next), v.data(v.next))
			}
			if err != nil {
				t.Fatal(err)
			}
			v.own = append(v.own, v.next)
			v.own = v.own[max(0, len(v.own)-keep):]
		}
		v.next++
	}
	if err := l.Close(); err != nil || l.Stats().SnapshotErr != nil {
		t.Fatal(err, l.Stats().SnapshotErr)
	}
}

// check compares the directory with what it must hold.
func (v *lives) check(t *rapid.T) {
	list, err := Snapshots("log", v.m)
	if err != nil {
		t.Fatal(err)
	}
	var ticks []uint64
	for _, s := range list {
		ticks = append(ticks, s.Tick)
		loaded, err := LoadSnapshot("log", v.m, s.Tick)
		if err != nil {
			t.Fatal(err)
		}
		if want := v.data(s.Tick); !bytes.Equal(loaded.Data, want) {
			t.Fatalf("the snapshot is %q, want %q", loaded.Data, want)
		}
	}
	if !slices.Equal(ticks, v.own) {
		t.Fatalf("run %d has snapshots of %d, want %d", v.run, ticks, v.own)
	}
	cuts := 0
	for name := range v.m.names {
		if strings.HasSuffix(name, cutSuffix) {
			cuts++
		}
	}
	if cuts != v.cuts {
		t.Fatalf("%d files are set aside, want %d", cuts, v.cuts)
	}
}

// remove deletes the files that begin so.
func (v *lives) remove(prefix string) {
	maps.DeleteFunc(v.m.names, func(name string, _ *memFile) bool { return strings.HasPrefix(name, "log/"+prefix) })
}

// Whatever is in the directory from runs before, or of other ticks, the newest snapshots of the run stay, and
// no other takes the place of one or is lost.
func TestSnapshotsBelongToARun(t *testing.T) {
	events := []string{"restart", "segments removed", "backup", "stranger"}
	for _, first := range events {
		sample(t, func(t *rapid.T) { ownSnapshots(t, first, events) })
	}
}

// ownSnapshots runs several lives in one directory, with an event after each: first after the first one.
func ownSnapshots(t *rapid.T, first string, events []string) {
	v := &lives{m: newMemFS(), id: testID}
	for life := range rapid.IntRange(1, 4).Draw(t, "lives") {
		v.live(t, rapid.Uint64Range(1, 40).Draw(t, "ticks"), rapid.Uint64Range(1, 9).Draw(t, "period"), rapid.IntRange(1, 4).Draw(t, "keep"))
		v.check(t)
		before := v.m.clone()
		what := first
		if life > 0 {
			what = rapid.SampledFrom(events).Draw(t, "then")
		}
		switch what {
		case "segments removed": // to make room; the snapshots are left
			v.remove(segmentPrefix)
			v.remove(markName)
			v.cuts += len(v.own)
		case "backup": // of the segments, older than the snapshots
			had := v.next
			v.live(t, rapid.Uint64Range(1, 20).Draw(t, "lost"), 3, 4)
			v.remove(segmentPrefix)
			v.remove(markName)
			for name, f := range before.names {
				if strings.HasPrefix(name, "log/"+segmentPrefix) {
					v.m.names[name] = f
				}
			}
			at, _ := slices.BinarySearch(v.own, had)
			v.cuts += len(v.own) - at
			v.own, v.next = v.own[:at], had
		case "stranger": // a snapshot of another seed is put there
			id := v.id
			id.Seed = 77
			ref := snapshotRef{tick: 1 << 40, hash: 1}
			if v.next > 0 && !slices.Contains(v.own, 0) {
				ref.tick = 0
			}
			v.m.names["log/"+snapshotName(ref.tick)] = &memFile{data: appendSnapshotHeader(nil, &id, &ref, 0, 0, new(checkpoint))}
			v.cuts++
		}
		v.live(t, 0, 1, 4)
		v.check(t)
	}
}
