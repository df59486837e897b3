package worldlog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// dirLock is the lock of a writer on the directory of a log.
type dirLock struct {
	io.Closer
	name string
	// shared is set if there was no file LOCK: if somebody has removed it, the writer that holds the lock on the
	// removed file may still run.
	shared bool
}

// takeLock locks a directory, and makes opt.FS look at the lock. Errors wrap ErrLocked, or are those of the file
// system.
func takeLock(opt *Options, dir string) (*dirLock, error) {
	fsys := opt.FS
	l := &dirLock{name: join(dir, lockName)}
	f, err := fsys.Open(l.name)
	if err == nil {
		err = f.Close()
	}
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return nil, err
	}
	if l.Closer, err = fsys.Lock(l.name); err != nil {
		return nil, err
	}
	_, file := l.Closer.(named)
	l.shared = missing && file
	if err := l.check(); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	opt.FS = lockedFS{fsys, l}
	return l, nil
}

// lockedFS is the file system of a writer. It looks at the lock right before each operation that could damage a file of
// another writer. Writes to an open file are not among them: recovery.replaceLast sees to these.
type lockedFS struct {
	FS
	lock *dirLock
}

func (l lockedFS) Rename(from, to string) error {
	if err := l.lock.check(); err != nil {
		return err
	}
	return l.FS.Rename(from, to)
}

func (l lockedFS) Append(name string, size int64) (File, error) {
	if err := l.lock.check(); err != nil {
		return nil, err
	}
	return l.FS.Append(name, size)
}

func (l lockedFS) Remove(name string) error {
	if err := l.lock.check(); err != nil {
		return err
	}
	return l.FS.Remove(name)
}

// check returns an error if the name LOCK no longer leads to the locked file. Then another writer may have locked the
// file that is there now.
func (l *dirLock) check() error {
	f, ok := l.Closer.(named)
	if !ok {
		return nil
	}
	has, err := f.HasName(l.name)
	if err == nil && !has {
		err = fmt.Errorf("%s was removed or replaced, another writer may have the log: %w", lockName, ErrLocked)
	}
	return err
}
