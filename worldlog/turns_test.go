package worldlog

import (
	"cmp"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing/synctest"
)

// turns lets one goroutine at a time do something to a file system, in an order drawn by chance. It is for a bubble
// of package synctest.
type turns struct {
	mu      sync.Mutex
	rng     *rand.Rand
	waiting []turn
}

type turn struct {
	what  string
	grant chan struct{}
}

// wait returns when it is the caller's turn.
func (t *turns) wait(what string) {
	c := make(chan struct{})
	t.mu.Lock()
	t.waiting = append(t.waiting, turn{what, c})
	t.mu.Unlock()
	<-c
}

// intN returns a number drawn from 0 to n-1.
func (t *turns) intN(n int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.rng.IntN(n)
}

// run gives turns until no goroutine waits for one. Mostly the one that had the last turn has the next one too, so
// that while one goroutine does something slow, another may do much.
func (t *turns) run() {
	for {
		synctest.Wait()
		t.mu.Lock()
		n := len(t.waiting)
		if n == 0 {
			t.mu.Unlock()
			return
		}
		i := n - 1 // the last one to come
		if t.rng.IntN(8) == 0 {
			i = t.rng.IntN(n)
		}
		next := t.waiting[i]
		t.waiting = slices.Delete(t.waiting, i, i+1)
		t.mu.Unlock()
		close(next.grant)
	}
}

// process is a file system as one process sees it: each operation waits for its turn. A directory is listed name by
// name, in an order of its own: of the names that appear or go meanwhile, some are seen. A process that has died does
// nothing more, and its last write may be cut short.
type process struct {
	*memFS
	*turns
	dead bool
	safe bool // it does not die
	// The next operation needs no turn.
	again bool
}

// enter waits for the turn of an operation.
func (p *process) enter(op, name string) error {
	if p.again {
		p.again = false
	} else {
		p.wait(op + " " + name)
	}
	if p.dead {
		return syscall.EIO
	}
	return nil
}

func (p *process) ReadDir(dir string) ([]string, error) {
	salt := uint64(p.intN(1 << 30))
	order := func(name string) uint64 {
		h := salt
		for _, b := range []byte(name) {
			h = mix(h ^ uint64(b))
		}
		return h
	}
	var seen []string
	for at := uint64(0); ; {
		if err := p.enter("readdir", dir); err != nil {
			return nil, err
		}
		names, err := p.memFS.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		names = slices.DeleteFunc(names, func(name string) bool { return order(name) <= at })
		if len(names) == 0 {
			return seen, nil
		}
		slices.SortFunc(names, func(a, b string) int { return cmp.Compare(order(a), order(b)) })
		names = names[:min(len(names), 1+p.intN(3))]
		seen = append(seen, names...)
		at = order(names[len(names)-1])
	}
}

func (p *process) file(f File, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	return &processFile{f.(*memHandle), p}, nil
}

func (p *process) Create(name string) (File, error) {
	if err := p.enter("create", name); err != nil {
		return nil, err
	}
	return p.file(p.memFS.Create(name))
}

func (p *process) Append(name string, size int64) (File, error) {
	if err := p.enter("append", name); err != nil {
		return nil, err
	}
	return p.file(p.memFS.Append(name, size))
}

func (p *process) Open(name string) (File, error) {
	if err := p.enter("open", name); err != nil {
		return nil, err
	}
	return p.file(p.memFS.Open(name))
}

func (p *process) Rename(from, to string) error {
	if err := p.enter("rename", to); err != nil {
		return err
	}
	return p.memFS.Rename(from, to)
}

// Lock is no turn of its own: taking a lock changes nothing that others see.
func (p *process) Lock(name string) (io.Closer, error) {
	lock, err := p.memFS.Lock(name)
	if err != nil {
		return nil, err
	}
	return &processLock{lock.(memLock), p}, nil
}

type processLock struct {
	memLock
	p *process
}

// HasName gives the next operation of the process without another turn: nothing comes between a look at the lock
// and what follows it.
func (l *processLock) HasName(name string) (bool, error) {
	if err := l.p.enter("lookup", name); err != nil {
		return false, err
	}
	l.p.again = true
	return l.memLock.HasName(name)
}

func (p *process) Remove(name string) error {
	if err := p.enter("remove", name); err != nil {
		return err
	}
	return p.memFS.Remove(name)
}

type processFile struct {
	*memHandle
	p *process
}

func (f *processFile) HasName(name string) (bool, error) {
	if err := f.p.enter("lookup", name); err != nil {
		return false, err
	}
	return f.memHandle.HasName(name)
}

// Read reads a part, as a file that grows is read.
func (f *processFile) Read(b []byte) (int, error) {
	if err := f.p.enter("read", f.name); err != nil {
		return 0, err
	}
	return f.memHandle.Read(b[:min(len(b), 50+f.p.intN(3000))])
}

func (f *processFile) Write(b []byte) (int, error) {
	f.p.wait("write " + f.name)
	if f.p.dead {
		return 0, syscall.EIO
	}
	if n := f.p.intN(60); n == 0 && !f.p.safe && strings.HasSuffix(f.name, segmentSuffix) {
		f.p.dead = true
		n, _ := f.memHandle.Write(b[:f.p.intN(len(b))])
		return n, syscall.EIO
	}
	return f.memHandle.Write(b)
}

func (f *processFile) Sync() error {
	if err := f.p.enter("sync", f.name); err != nil {
		return err
	}
	return f.memHandle.Sync()
}

func (f *processFile) WriteAt(b []byte, at int64) (int, error) {
	if err := f.p.enter("write", f.name); err != nil {
		return 0, err
	}
	return f.memHandle.WriteAt(b, at)
}
