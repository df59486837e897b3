package worldlog

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
)

// memFS is a file system in memory that knows what a power cut would leave, and
// fails on request.
type memFS struct {
	mu    sync.Mutex
	names map[string]*memFile
	disk  map[string]*memFile // names as of the last SyncDir
	locks map[*memFile]bool
	// fault, if set, is asked before each operation that changes something.
	fault func(op, name string) error
	ops   int
}

// memFile is the content of a file, whatever names lead to it.
type memFile struct {
	data   []byte
	synced []byte
}

// short is a fault: a write that stores so many bytes and reports nothing.
type short int

func (s short) Error() string { return fmt.Sprintf("only %d bytes", int(s)) }

// rot is a fault: a write that stores something else and reports success.
type rot struct{}

func (rot) Error() string { return "rot" }

func newMemFS() *memFS {
	return &memFS{names: map[string]*memFile{}, disk: map[string]*memFile{}, locks: map[*memFile]bool{}}
}

func (m *memFS) ask(op, name string) error {
	m.ops++
	if m.fault != nil {
		return m.fault(op, name)
	}
	return nil
}

func (m *memFS) enter(op, name string) (func(), error) {
	m.mu.Lock()
	if err := m.ask(op, name); err != nil {
		m.mu.Unlock()
		return nil, err
	}
	return m.mu.Unlock, nil
}

func (m *memFS) MkdirAll(string) error { return nil }

func (m *memFS) ReadDir(dir string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var names []string
	for name := range m.names {
		if filepath.Dir(name) == dir {
			names = append(names, filepath.Base(name))
		}
	}
	slices.Sort(names)
	return names, nil
}

func (m *memFS) Create(name string) (File, error) {
	leave, err := m.enter("create", name)
	if err != nil {
		return nil, err
	}
	defer leave()
	f := m.names[name]
	if f == nil {
		f = &memFile{}
		m.names[name] = f
	}
	f.data = nil
	return &memHandle{fs: m, f: f, name: name}, nil
}

func (m *memFS) Append(name string, size int64) (File, error) {
	leave, err := m.enter("append", name)
	if err != nil {
		return nil, err
	}
	defer leave()
	f := m.names[name]
	if f == nil {
		return nil, fs.ErrNotExist
	}
	f.data = f.data[:size:size] // what follows goes elsewhere
	return &memHandle{fs: m, f: f, name: name}, nil
}

func (m *memFS) Open(name string) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.names[name]
	if f == nil {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return &memHandle{fs: m, f: f, name: name}, nil
}

func (m *memFS) Rename(from, to string) error {
	leave, err := m.enter("rename", to)
	if err != nil {
		return err
	}
	defer leave()
	f := m.names[from]
	if f == nil {
		return fs.ErrNotExist
	}
	delete(m.names, from)
	m.names[to] = f
	return nil
}

func (m *memFS) Remove(name string) error {
	leave, err := m.enter("remove", name)
	if err != nil {
		return err
	}
	defer leave()
	if m.names[name] == nil {
		return fs.ErrNotExist
	}
	delete(m.names, name)
	return nil
}

func (m *memFS) SyncDir(dir string) error {
	leave, err := m.enter("syncdir", dir)
	if err != nil {
		return err
	}
	defer leave()
	m.disk = map[string]*memFile{}
	for name, f := range m.names {
		m.disk[name] = f
	}
	return nil
}

// memLock is a lock on a file, whatever names lead to it.
type memLock struct{ *memHandle }

func (m *memFS) Lock(name string) (io.Closer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.names[name]
	if f == nil {
		f = &memFile{}
		m.names[name], m.disk[name] = f, f
	}
	if m.locks[f] {
		return nil, ErrLocked
	}
	m.locks[f] = true
	return memLock{&memHandle{fs: m, f: f, name: name}}, nil
}

func (l memLock) Close() error {
	l.fs.mu.Lock()
	defer l.fs.mu.Unlock()
	delete(l.fs.locks, l.f)
	return nil
}

type memHandle struct {
	fs   *memFS
	f    *memFile
	name string
	at   int
}

func (h *memHandle) Read(p []byte) (int, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if h.at >= len(h.f.data) {
		return 0, io.EOF
	}
	n := copy(p, h.f.data[h.at:])
	h.at += n
	return n, nil
}

func (h *memHandle) Write(p []byte) (int, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	err := h.fs.ask("write", h.name)
	if s, ok := err.(short); ok {
		n := min(int(s), len(p))
		h.f.data = append(h.f.data, p[:n]...)
		return n, nil
	}
	if err == (rot{}) {
		p = slices.Clone(p)
		p[len(p)/2] ^= 4
	} else if err != nil {
		return 0, err
	}
	h.f.data = append(h.f.data, p...)
	return len(p), nil
}

// Seek is for offsets from the start only.
func (h *memHandle) Seek(offset int64, _ int) (int64, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	h.at = int(offset)
	return offset, nil
}

// WriteAt writes within the file.
func (h *memHandle) WriteAt(p []byte, off int64) (int, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	err := h.fs.ask("write", h.name)
	n := len(p)
	if s, ok := err.(short); ok {
		n, err = min(int(s), n), nil
	}
	if err != nil {
		return 0, err
	}
	h.f.data = slices.Clone(h.f.data) // the bytes may be shared
	return copy(h.f.data[off:], p[:n]), nil
}

func (h *memHandle) Sync() error {
	leave, err := h.fs.enter("sync", h.name)
	if err != nil {
		return err
	}
	defer leave()
	h.f.synced = h.f.data[:len(h.f.data):len(h.f.data)] // nobody changes these bytes
	return nil
}

func (h *memHandle) HasName(name string) (bool, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	return h.fs.names[name] == h.f, nil
}

func (h *memHandle) Size() (int64, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	return int64(len(h.f.data)), nil
}

func (h *memHandle) Close() error {
	leave, err := h.fs.enter("close", h.name)
	if err != nil {
		return err
	}
	leave()
	return nil
}

// clone copies names and contents; bytes are shared until one side appends.
func (m *memFS) clone() *memFS {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := newMemFS()
	for name, f := range m.names {
		g := &memFile{data: f.data[:len(f.data):len(f.data)]}
		g.synced = g.data
		c.names[name], c.disk[name] = g, g
	}
	return c
}

// restart returns what the next process finds after the death of one: all that
// was written, of which the disk still holds only what it held.
func (m *memFS) restart() *memFS {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := newMemFS()
	twins := map[*memFile]*memFile{}
	copyOf := func(f *memFile) *memFile {
		if twins[f] == nil {
			twins[f] = &memFile{data: f.data[:len(f.data):len(f.data)], synced: f.synced}
		}
		return twins[f]
	}
	for name, f := range m.names {
		c.names[name] = copyOf(f)
	}
	for name, f := range m.disk {
		c.disk[name] = copyOf(f)
	}
	return c
}

// powerCut returns what a disk may hold after the power fails now: of each name
// and of each unsynced sector, by chance, the old state or the new one.
func (m *memFS) powerCut(rng *rand.Rand) *memFS {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cut(rng)
}

// cut is powerCut for those who hold mu, as fault does.
func (m *memFS) cut(rng *rand.Rand) *memFS {
	all := map[string]bool{}
	for name := range m.names {
		all[name] = true
	}
	for name := range m.disk {
		all[name] = true
	}
	var names []string
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	c := newMemFS()
	for _, name := range names {
		f := m.names[name]
		if old := m.disk[name]; old != f && rng.IntN(2) == 0 {
			f = old
		}
		if f != nil {
			g := &memFile{data: f.afterCut(rng)}
			g.synced = g.data
			c.names[name], c.disk[name] = g, g
		}
	}
	return c
}

// afterCut keeps what was synced, and of the rest a random length, of which
// random sectors were never written and read as zeros.
func (f *memFile) afterCut(rng *rand.Rand) []byte {
	kept := len(f.synced)
	if kept > len(f.data) { // cut off
		return slices.Clone(f.synced)
	}
	const sector = 512
	out := slices.Clone(f.data[:kept+rng.IntN(len(f.data)-kept+1)])
	for at := 0; at < kept; at += sector { // written over
		old := f.synced[at:min(at+sector, kept)]
		if !bytes.Equal(out[at:at+len(old)], old) && rng.IntN(2) == 0 {
			copy(out[at:], old)
		}
	}
	holes := rng.IntN(2) == 0
	for at := kept; at < len(out); at = (at/sector + 1) * sector {
		if holes && rng.IntN(3) == 0 {
			clear(out[at:min((at/sector+1)*sector, len(out))])
		}
	}
	return out
}
