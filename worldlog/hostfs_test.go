//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package worldlog

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// within fails the test, naming what, if f takes so long that it must be waiting.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatalf("%s waits", what)
	}
}

// irregulars are what may stand under a name instead of a file.
func irregulars(t *testing.T) map[string]func(name string) error {
	return map[string]func(name string) error{
		"pipe": func(name string) error { return syscall.Mkfifo(name, 0o600) },
		"link to a pipe": func(name string) error {
			pipe := filepath.Join(t.TempDir(), "pipe")
			return errors.Join(syscall.Mkfifo(pipe, 0o600), os.Symlink(pipe, name))
		},
		"link to a device": func(name string) error { return os.Symlink("/dev/zero", name) },
		"directory":        func(name string) error { return os.Mkdir(name, 0o700) },
		"socket": func(name string) error {
			short := filepath.Join(os.TempDir(), filepath.Base(t.TempDir())+".sock") // paths of sockets are short
			l, err := net.Listen("unix", short)
			if err != nil {
				return err
			}
			t.Cleanup(func() { l.Close() })
			return os.Rename(short, name)
		},
	}
}

// What is no regular file is refused and named wherever a file of the log is opened, and
// never waited for.
func TestIrregularFiles(t *testing.T) {
	for kind, place := range irregulars(t) {
		for _, c := range []struct {
			name string
			open func(dir string) error
		}{
			{segmentName(0), func(dir string) error { _, err := readBack(nil, dir, 0); return err }},
			{segmentName(1), func(dir string) error { _, err := readBack(nil, dir, 0); return err }},
			{segmentName(1), func(dir string) error { _, _, err := Recover(dir, Options{}); return err }},
			{snapshotName(2), func(dir string) error { _, err := LoadSnapshot(dir, nil, 2); return err }},
			{markName, func(dir string) error { _, err := readBack(nil, dir, 0); return err }},
			{markName, func(dir string) error { _, _, err := Recover(dir, Options{}); return err }},
			{lockName, func(dir string) error { _, _, err := Recover(dir, Options{}); return err }},
		} {
			dir := t.TempDir()
			l, err := Create(dir, testID, Options{SegmentTicks: 3})
			if err != nil {
				t.Fatal(err)
			}
			feed(t, l, 0, 5)
			closeLog(t, l)
			path := filepath.Join(dir, c.name)
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			if err := place(path); err != nil {
				t.Fatal(err)
			}
			within(t, kind+" as "+c.name, func() { err = c.open(dir) })
			if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), c.name+": no regular file") {
				t.Errorf("%s as %s: %v", kind, c.name, err)
			}
			if list, err := Snapshots(dir, nil); err != nil || len(list) != 0 {
				t.Errorf("%s as %s: snapshots %v, %v", kind, c.name, list, err)
			}
		}
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	within(t, "a pipe as the directory", func() {
		if _, err := OpenReader(pipe, nil); err == nil {
			t.Error("a pipe is no directory")
		}
	})
}

// A symbolic link to a regular file is one.
func TestLinkedSegment(t *testing.T) {
	dir, other := t.TempDir(), filepath.Join(t.TempDir(), "elsewhere")
	l, err := Create(dir, testID, Options{})
	if err != nil {
		t.Fatal(err)
	}
	feed(t, l, 0, 5)
	closeLog(t, l)
	name := filepath.Join(dir, segmentName(0))
	if err := errors.Join(os.Rename(name, other), os.Symlink(other, name)); err != nil {
		t.Fatal(err)
	}
	l, _, err = Recover(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	feed(t, l, 5, 9)
	closeLog(t, l)
	if next, err := readBack(nil, dir, 0); next != 9 || err != nil {
		t.Errorf("%d ticks, %v", next, err)
	}
}

// The segment is missed on a real file system, too.
func TestRemovedSegment(t *testing.T) {
	for what, take := range map[string]func(name string) error{
		"removed": os.Remove,
		"replaced": func(name string) error {
			data, err := os.ReadFile(name)
			return errors.Join(err, os.WriteFile(name+".new", data, 0o600), os.Rename(name+".new", name))
		},
		"directory removed": func(name string) error { return os.RemoveAll(filepath.Dir(name)) },
	} {
		dir := filepath.Join(t.TempDir(), "log")
		l, err := Create(dir, testID, Options{Durability: EveryTick})
		if err != nil {
			t.Fatal(err)
		}
		feed(t, l, 0, 5)
		if err := l.Sync(); err != nil {
			t.Fatal(err)
		}
		if err := take(filepath.Join(dir, segmentName(0))); err != nil {
			t.Fatal(err)
		}
		if err := l.Sync(); !errors.Is(err, ErrPoisoned) || !strings.Contains(err.Error(), segmentName(0)+" was removed or replaced") {
			t.Errorf("%s: Sync: %v", what, err)
		}
		if err := l.Close(); !errors.Is(err, ErrPoisoned) {
			t.Errorf("%s: Close: %v", what, err)
		}
	}
}

// Whatever the path of a directory is made of, all of a log is in the directory that the system means by it, and
// no other one changes: also where a symbolic link changes, or the working directory, while the log is open.
func TestPathsOfDirectories(t *testing.T) {
	parts := []string{".", "", "..", "link", "link/..", "link/../new", "loop/link/..", "dir", "sub", "a b%d"}
	wrapped := struct{ FS }{OS}
	sample(t, func(rt *rapid.T) {
		root, err := os.MkdirTemp(t.TempDir(), "")
		check := func(err error) {
			if err != nil {
				rt.Helper()
				rt.Fatal(err)
			}
		}
		check(err)
		work := filepath.Join(root, "a", "work")
		for _, dir := range []string{work, filepath.Join(work, "dir", "sub"), filepath.Join(root, "b", "sub", "dir")} {
			check(os.MkdirAll(dir, 0o700))
		}
		check(os.Symlink(filepath.Join(root, "b", "sub"), filepath.Join(work, "link")))
		check(os.Symlink(".", filepath.Join(work, "loop")))
		t.Chdir(work)
		dir := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 1, 3).Draw(rt, "parts"), "/")
		if rapid.Bool().Draw(rt, "absolute") {
			dir = work + "/" + dir
		}
		if os.MkdirAll(dir, 0o700) != nil {
			return // it leads through a directory that does not exist
		}
		real, err := os.Open(dir) // what the system means
		check(err)
		defer real.Close()
		before := tree(root)

		opt := Options{SegmentTicks: 4, Compress: true, Durability: None, FS: OS}
		change := rapid.Bool().Draw(rt, "change")
		if !change && rapid.Bool().Draw(rt, "wrapped") {
			opt.FS = wrapped
		}
		l, err := Create(dir, testID, opt)
		check(err)
		feed(t, l, 0, 4)
		check(l.WriteSnapshot(3, hashOf(3), stateOf(3)))
		if change {
			r, err := OpenReader(dir, nil)
			check(err)
			check(os.Remove(filepath.Join(work, "link")))
			check(os.Symlink(root, filepath.Join(work, "link")))
			t.Chdir(root)
			feed(t, l, 4, 6)
			check(l.Close())
			for next := range uint64(6) {
				if tick, err := r.Next(); err != nil || tick.Tick != next {
					rt.Fatalf("tick %d: %v, %v", next, tick, err)
				}
			}
			check(r.Close())
			check(os.Remove(filepath.Join(work, "link")))
			check(os.Symlink(filepath.Join(root, "b", "sub"), filepath.Join(work, "link")))
			t.Chdir(work)
		} else {
			feed(t, l, 4, 6)
			check(l.Close())
			l, _, err = Recover(dir, opt)
			check(err)
			check(l.Close())
			if next, err := readBack(opt.FS, dir, 0); next != 6 || err != nil {
				rt.Fatalf("%d ticks, %v", next, err)
			}
			_, err = LoadSnapshot(dir, opt.FS, 3)
			check(err)
		}
		names, err := real.Readdirnames(-1)
		check(err)
		for _, name := range []string{packedName(0), segmentName(1), snapshotName(3), markName, lockName} {
			if !slices.Contains(names, name) {
				rt.Errorf("%q holds %q, without %s", dir, names, name)
			}
			check(os.Remove(dir + "/" + name))
		}
		if after := tree(root); after != before {
			rt.Errorf("%q: there is\n%s\nwas\n%s", dir, after, before)
		}
	})
}

// tree lists all that is in a directory.
func tree(root string) string {
	var all []string
	filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		all = append(all, path)
		return err
	})
	return strings.Join(all, "\n")
}
