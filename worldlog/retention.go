package worldlog

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// keptSnapshot is a snapshot of the run that is on disk.
type keptSnapshot struct {
	tick    uint64
	segment uint64 // that its checkpoint is in
	placed  bool   // it has a checkpoint
	whole   bool   // it was read back
}

func keptOf(s *Snapshot) keptSnapshot {
	return keptSnapshot{tick: s.Tick, segment: s.at.segment, placed: s.at.offset > 0}
}

// withKept returns the snapshots that are kept once s is there too, and those that go, each by rising ticks.
func (k *keeper) withKept(s keptSnapshot) (kept, old []keptSnapshot) {
	kept = slices.Clone(k.kept)
	at, found := slices.BinarySearchFunc(kept, s.tick, func(x keptSnapshot, tick uint64) int {
		switch {
		case x.tick < tick:
			return -1
		case x.tick > tick:
			return 1
		}
		return 0
	})
	if found {
		kept[at] = s
	} else {
		kept = slices.Insert(kept, at, s)
	}
	if n := k.l.opt.KeepSnapshots; n >= 0 && len(kept) > n {
		old, kept = kept[:len(kept)-n], kept[len(kept)-n:]
	}
	return kept, old
}

// firstNeeded returns the first segment that must stay while these snapshots are kept.
func (k *keeper) firstNeeded(kept []keptSnapshot) uint64 {
	if k.l.opt.Retention == KeepAll || !kept[0].placed {
		return k.first
	}
	return max(k.first, kept[0].segment)
}

// retire archives or drops the segments before the first one that is needed. The newest snapshot, which is on disk, says that
// they may be missing.
func (k *keeper) retire() error {
	if k.l.opt.Retention == KeepAll || k.lowest >= k.first {
		return nil
	}
	for i := range k.kept {
		s := &k.kept[i]
		if s.whole {
			continue
		}
		if _, err := LoadSnapshotUpTo(k.l.dir, k.l.opt.FS, s.tick, MaxSnapshot); err != nil {
			return fmt.Errorf("no segment goes while this one cannot be read: %w", err)
		}
		s.whole = true
	}
	k.mu.Lock()
	k.closed = slices.DeleteFunc(k.closed, func(index uint64) bool { return index < k.first })
	k.mu.Unlock()
	fsys, archive := k.l.opt.FS, join(k.l.dir, archiveName)
	if k.l.opt.Retention == Archive {
		if err := fsys.MkdirAll(archive); err != nil {
			return err
		}
	}
	for ; k.lowest < k.first; k.lowest++ { // the oldest first, so that those that stay have no gap
		for _, packed := range []bool{false, true} {
			name := segmentFile{index: k.lowest, packed: packed}.name()
			if err := k.retireFile(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		k.l.count(func(s *Stats) { s.Retired++ })
	}
	if k.l.opt.Retention == Archive {
		if err := fsys.SyncDir(archive); err != nil {
			return err
		}
	}
	return fsys.SyncDir(k.l.dir)
}

func (k *keeper) retireFile(name string) error {
	fsys, from := k.l.opt.FS, join(k.l.dir, name)
	if k.l.opt.Retention == Drop {
		return fsys.Remove(from)
	}
	to := join(join(k.l.dir, archiveName), name)
	f, err := fsys.Open(to)
	if err == nil { // of another run
		return errors.Join(fmt.Errorf("%s: %w", to, fs.ErrExist), f.Close())
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fsys.Rename(from, to)
}
