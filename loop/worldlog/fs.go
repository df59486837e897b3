package worldlog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// FS is what a log needs of a file system. Names are paths as the host writes
// them. Errors of missing and existing files wrap fs.ErrNotExist and fs.ErrExist.
type FS interface {
	MkdirAll(dir string) error
	// ReadDir lists the names in dir, in any order.
	ReadDir(dir string) ([]string, error)
	// Create makes a file for writing, emptied if it exists.
	Create(name string) (File, error)
	// Append opens an existing file for writing behind its first size bytes and
	// cuts what follows them.
	Append(name string, size int64) (File, error)
	// Open opens a file for reading.
	Open(name string) (File, error)
	// Rename replaces to, if there is one, at once: whoever looks finds the old
	// file or the new one.
	Rename(from, to string) error
	Remove(name string) error
	// SyncDir returns once the names in dir are on disk.
	SyncDir(dir string) error
	// Lock makes sure that nobody else holds the lock of that name, or returns
	// an error that wraps ErrLocked. The lock ends with Close or with the process.
	Lock(name string) (io.Closer, error)
}

// File is an open file.
type File interface {
	io.Reader
	io.Writer
	io.Closer
	// Sync returns once the data, and its length, are on disk.
	Sync() error
	Size() (int64, error)
}

// OS is the file system of the host, which is used unless Options say otherwise.
var OS FS = hostFS{}

type hostFS struct{}

func (hostFS) MkdirAll(dir string) error { return os.MkdirAll(dir, 0o777) }

func (hostFS) ReadDir(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

func (hostFS) Create(name string) (File, error) {
	return hostFileOf(os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666))
}

func (hostFS) Append(name string, size int64) (File, error) {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(size); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if _, err := f.Seek(size, io.SeekStart); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return hostFileOf(f, nil)
}

func (hostFS) Open(name string) (File, error) { return hostFileOf(os.Open(name)) }

func (hostFS) Rename(from, to string) error { return os.Rename(from, to) }
func (hostFS) Remove(name string) error     { return os.Remove(name) }
func (hostFS) SyncDir(dir string) error     { return syncDir(dir) }

func (hostFS) Lock(name string) (io.Closer, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if err := lockFile(f); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), f.Close())
	}
	return f, nil
}

type hostFile struct {
	*os.File
	fd int
}

func hostFileOf(f *os.File, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	return &hostFile{File: f, fd: int(f.Fd())}, nil
}

func (f *hostFile) Sync() error { return syncData(f) }

func (f *hostFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// writeNew puts a whole file under name, or leaves what was there: written
// beside, synced, renamed, and the name synced.
func writeNew(fsys FS, dir, name string, write func(io.Writer) error) error {
	final := filepath.Join(dir, name)
	beside := final + temporarySuffix
	f, err := fsys.Create(beside)
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = fsys.Rename(beside, final)
	}
	if err != nil {
		return errors.Join(err, removeIfThere(fsys, beside))
	}
	return fsys.SyncDir(dir)
}

func removeIfThere(fsys FS, name string) error {
	if err := fsys.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// writeAll is Write with the short write named, which io.Writer promises to
// report and a broken one does not.
func writeAll(w io.Writer, b []byte) error {
	n, err := w.Write(b)
	if err == nil && n != len(b) {
		err = io.ErrShortWrite
	}
	return err
}
