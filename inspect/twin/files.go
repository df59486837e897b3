package twin

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/worldlog"
)

const (
	mostFiles     = 4096
	mostFileBytes = 1 << 30 // of all together: a page has 4 GiB for all it does
)

// files is a worldlog.FS in memory that can only be read: files which a page has got. Only add changes it.
type files struct {
	data  map[string][]byte // by path, with slashes
	bytes int64
}

// add adds a file, which it keeps. The error wraps ErrCapacity, or ErrRange for a name that is empty or leads out.
func (f *files) add(name string, data []byte) error {
	clean := path.Clean(strings.TrimLeft(name, "/"))
	switch {
	case !fs.ValidPath(clean) || clean == ".":
		return fault.Field(fault.ErrRange, "twin: name of a file", name)
	case len(f.data) == mostFiles:
		return fault.Field(fault.ErrCapacity, "twin: files", mostFiles)
	case f.bytes+int64(len(data)) > mostFileBytes:
		return fault.Field(fault.ErrCapacity, fmt.Sprintf("twin: file %s: bytes of all files", name), f.bytes+int64(len(data)))
	}
	if f.data == nil {
		f.data = map[string][]byte{}
	}
	f.bytes += int64(len(data)) - int64(len(f.data[clean]))
	f.data[clean] = data
	return nil
}

// logs returns the folders with segments of a log, in order. "." stands for files without a folder.
func (f *files) logs() []string {
	var dirs []string
	for name := range f.data {
		if dir := path.Dir(name); strings.HasPrefix(path.Base(name), "segment-") && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	return dirs
}

// slashed returns a name as add keeps it. Package worldlog joins names as the host writes them.
func slashed(name string) string { return path.Clean(strings.ReplaceAll(name, `\`, "/")) }

// ReadDir implements worldlog.FS.
func (f *files) ReadDir(dir string) ([]string, error) {
	var names []string
	for name := range f.data {
		if path.Dir(name) == slashed(dir) {
			names = append(names, path.Base(name))
		}
	}
	if names == nil {
		return nil, fmt.Errorf("%s: %w", dir, fs.ErrNotExist)
	}
	slices.Sort(names)
	return names, nil
}

// Open implements worldlog.FS.
func (f *files) Open(name string) (worldlog.File, error) {
	data, ok := f.data[slashed(name)]
	if !ok {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return &file{bytes.NewReader(data)}, nil
}

// What would change a file is refused.

func (f *files) MkdirAll(dir string) error                          { return refuse(dir) }
func (f *files) Create(name string) (worldlog.File, error)          { return nil, refuse(name) }
func (f *files) Append(name string, _ int64) (worldlog.File, error) { return nil, refuse(name) }
func (f *files) Rename(from, _ string) error                        { return refuse(from) }
func (f *files) Remove(name string) error                           { return refuse(name) }
func (f *files) SyncDir(dir string) error                           { return refuse(dir) }
func (f *files) Lock(name string) (io.Closer, error)                { return nil, refuse(name) }

func refuse(name string) error { return fmt.Errorf("%s: read only: %w", name, fs.ErrPermission) }

// file is an open file.
type file struct{ *bytes.Reader }

func (f *file) Write([]byte) (int, error) { return 0, refuse("file") }
func (f *file) Sync() error               { return nil }
func (f *file) Size() (int64, error)      { return f.Reader.Size(), nil }
func (f *file) Close() error              { return nil }
