//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package worldlog

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
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
