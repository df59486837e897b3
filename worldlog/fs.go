package worldlog

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// FS is what a log needs of a file system. Names are paths as the host writes
// them: the directory of the log as it was given, a separator and the name of a file. Errors of missing and existing files wrap fs.ErrNotExist and fs.ErrExist.
type FS interface {
	MkdirAll(dir string) error
	// ReadDir lists the names in dir, in any order.
	ReadDir(dir string) ([]string, error)
	// Create makes a file for writing, emptied if it exists.
	Create(name string) (File, error)
	// Append opens an existing file for writing after its first size bytes and
	// truncates it to them.
	Append(name string, size int64) (File, error)
	// Open opens a file for reading.
	Open(name string) (File, error)
	// Rename replaces to, if there is one, atomically: a reader finds the old file
	// or the new one.
	Rename(from, to string) error
	Remove(name string) error
	// SyncDir returns once the names in dir are on disk.
	SyncDir(dir string) error
	// Lock takes the exclusive lock of that name, or returns an error that wraps
	// ErrLocked. The lock ends with Close or with the process. If it is a lock on a file,
	// which Lock makes if need be, it should have the method HasName of File: a log whose
	// file LOCK was removed or replaced accepts nothing more.
	Lock(name string) (io.Closer, error)
}

// File is an open file. One that also has a method
//
//	HasName(name string) (bool, error)
//
// is asked whether name still leads to it before its data are called durable, at
// the end of a segment, and at Sync and Close: a file that was removed or replaced
// accepts writes and syncs, and loses them. One that Append returns and that is an
// io.WriterAt takes a mark in place with each sync; see the package comment. In one that
// Open returns and that is an io.Seeker, what was read before is skipped. The files of OS
// have all three.
type File interface {
	io.Reader
	io.Writer
	io.Closer
	// Sync returns once the data, and its length, are on disk.
	Sync() error
	Size() (int64, error)
}

// join returns the path of a file in a directory. It does not clean the path as filepath.Join does: after a symbolic
// link, ".." leads to another directory than the text says.
func join(dir, name string) string {
	if dir != "" && !os.IsPathSeparator(dir[len(dir)-1]) {
		dir += string(filepath.Separator)
	}
	return dir + name
}

// fixed returns a path that leads to the directory dir even if the working directory or a symbolic link changes: for
// OS, if there is one.
func fixed(fsys FS, dir string) string {
	if fsys != OS {
		return dir
	}
	path, err := filepath.EvalSymlinks(dir)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return dir
	}
	a, errA := os.Stat(dir)
	b, errB := os.Stat(path)
	if errA != nil || errB != nil || !os.SameFile(a, b) {
		return dir
	}
	return path
}

// named is a File, or a lock, that reports whether a name leads to it.
type named interface {
	HasName(name string) (bool, error)
}

// OS is the file system of the host, which is used unless Options say otherwise.
// It opens regular files only, and symbolic links to them: a pipe, a device, a
// socket or a directory under the name of a file of the log is refused with an
// error that wraps ErrCorrupt, and not opened, as that could block forever.
var OS FS = hostFS{}

type hostFS struct{}

func (hostFS) MkdirAll(dir string) error { return os.MkdirAll(dir, 0o777) }

func (hostFS) ReadDir(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

func (hostFS) Create(name string) (File, error) {
	return hostFileOf(openRegular(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC))
}

func (hostFS) Append(name string, size int64) (File, error) {
	f, err := openRegular(name, os.O_WRONLY)
	if err != nil {
		return nil, err
	}
	if err = f.Truncate(size); err == nil {
		_, err = f.Seek(size, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return hostFileOf(f, nil)
}

func (hostFS) Open(name string) (File, error) { return hostFileOf(openRegular(name, os.O_RDONLY)) }

// openRegular opens a regular file, or makes one. It does not open anything else:
// that alone may block, or have an effect. If something else takes the place of a
// regular file in between, openNonblock does not block, and the second check finds it.
func openRegular(name string, flag int) (*os.File, error) {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		return nil, irregular(name, info)
	}
	if err != nil && (flag&os.O_CREATE == 0 || !errors.Is(err, fs.ErrNotExist)) {
		return nil, err
	}
	f, err := os.OpenFile(name, flag|openNonblock, 0o666)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = irregular(name, info)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func irregular(name string, info fs.FileInfo) error {
	return fmt.Errorf("%s: no regular file, its mode is %v: %w", name, info.Mode(), ErrCorrupt)
}

func (hostFS) Rename(from, to string) error { return os.Rename(from, to) }
func (hostFS) Remove(name string) error     { return os.Remove(name) }
func (hostFS) SyncDir(dir string) error     { return syncDir(dir) }

func (hostFS) Lock(name string) (io.Closer, error) {
	f, err := openRegular(name, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	if err := lockFile(f); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), f.Close())
	}
	return hostFileOf(f, nil)
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

// HasName reports whether name leads to f.
func (f *hostFile) HasName(name string) (bool, error) {
	own, err := f.Stat()
	if err != nil {
		return false, err
	}
	named, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(own, named), err
}

// writeNew replaces the file of that name atomically: it writes a temporary file,
// syncs it, renames it, and syncs the directory. No other writer has the same temporary file.
func writeNew(fsys FS, dir, name string, write func(io.Writer) error) error {
	final := join(dir, name)
	temporary := final + "." + rand.Text() + temporarySuffix
	f, err := fsys.Create(temporary)
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = fsys.Rename(temporary, final)
	}
	if err != nil && !errors.Is(err, ErrLocked) { // without the lock nothing is removed
		err = errors.Join(err, removeExisting(fsys, temporary))
	}
	if err != nil {
		return err
	}
	return fsys.SyncDir(dir)
}

func removeExisting(fsys FS, name string) error {
	if err := fsys.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// writeAll is Write that reports a short write as an error, even if the io.Writer does
// not.
func writeAll(w io.Writer, b []byte) error {
	n, err := w.Write(b)
	if err == nil && n != len(b) {
		err = io.ErrShortWrite
	}
	return err
}
