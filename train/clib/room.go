//go:build cgo

package clib

/*
#include <stdint.h>

int32_t evertick_train_has_room(uint64_t bytes);
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/train"
)

// The Go runtime ends the process when the system refuses memory, and no recover prevents it. Calls that need much of
// it therefore ask first.

const (
	littleRoom = 1 << 20  // bytes that are not asked for
	arena      = 64 << 20 // the heap grows by these: Go reserves as much address space at once
	// What must be left for threads that the runtime starts later: eight stacks of 8 MB, and the 64 MB that malloc of glibc reserves in
	// a thread that calls it first.
	threads = 128 << 20
)

// creating is locked while worlds are made: what others allocate meanwhile would count as theirs, and take their room.
var creating sync.Mutex

// newBatch makes a batch if there is memory for it.
func newBatch(def train.Definition, cfg train.Config) (*train.Batch, error) {
	creating.Lock()
	defer creating.Unlock()
	if errors.Join(def.Validate(), cfg.Validate()) == nil { // otherwise New says so
		if err := roomFor(def, cfg); err != nil {
			return nil, err
		}
	}
	return train.New(def, cfg)
}

// roomFor returns ErrCapacity if the worlds of a batch need more memory than there is.
func roomFor(def train.Definition, cfg train.Config) error {
	need := estimate(def, cfg)
	if enough(need) {
		return nil
	}
	// Steps of other batches may have allocated during the estimate, and the worlds of closed batches may still be in the heap.
	debug.FreeOSMemory()
	if need = min(need, estimate(def, cfg)); enough(need) {
		return nil
	}
	return fmt.Errorf("%w: they need %d MB of memory, and there is not as much", fault.Field(fault.ErrCapacity, "train: config.worlds", cfg.Worlds), need>>20)
}

// room returns ErrCapacity if there is no memory for so many bytes, because of a field with this value.
func room(bytes uint64, field string, v int64) error {
	if enough(bytes) {
		return nil
	}
	debug.FreeOSMemory()
	if enough(bytes) {
		return nil
	}
	return fmt.Errorf("%w: it needs %d MB of memory, and there is not as much", fault.Field(fault.ErrCapacity, "train: "+field, v), bytes>>20)
}

// enough reports whether the system has so much memory beside what the heap has already got from it.
func enough(bytes uint64) bool {
	if bytes < littleRoom {
		return true
	}
	bytes += bytes / 8 // spans of the heap, and what it keeps of them
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if have := m.HeapIdle - m.HeapReleased; bytes > have && bytes-have > available(os.DirFS("/")) {
		return false
	}
	if bytes <= m.HeapIdle {
		return true
	}
	return C.evertick_train_has_room(C.uint64_t((bytes-m.HeapIdle+arena-1)/arena*arena+threads)) != 0
}

// estimate returns the bytes that the worlds of a batch allocate until they have begun, from a few of them.
func estimate(def train.Definition, cfg train.Config) uint64 {
	const few = 8
	n := uint64(max(1, cfg.Worlds))
	switch {
	case n == 1:
		return 0
	case n < 16:
		return n * allocated(def, cfg, 1)
	}
	k := min(n/16, few)
	small, large := allocated(def, cfg, k), allocated(def, cfg, 2*k)
	if large <= small {
		return large
	}
	return (large - small) / k * n // without what they have in common
}

// allocated returns the bytes that so many worlds allocate until they have begun. Errors and panics are left to the call that
// makes all of them.
func allocated(def train.Definition, cfg train.Config, worlds uint64) (bytes uint64) {
	defer func() { _ = recover() }()
	cfg.Worlds, cfg.Workers, def.Chunk = int(worlds), 1, 1
	before := total()
	b, err := train.New(def, cfg)
	if err != nil {
		return 0
	}
	bytes = total() - before
	buf := b.NewBuffers() // the caller's
	before = total()
	_ = b.Reset(train.Options{}, buf)
	return bytes + total() - before
}

// total returns the bytes that this process has ever allocated in Go.
func total() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
