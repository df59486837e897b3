package main

import (
	"runtime"
	"time"
)

// memory is what the process had allocated at a moment.
type memory struct{ allocs, bytes uint64 }

func allocated() memory {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return memory{stats.Mallocs, stats.TotalAlloc}
}

// collect collects garbage and waits until the finalizers have run that this calls for: the
// runtime allocates for them, on a goroutine of its own, while what follows runs.
func collect() {
	type last struct{ _ *last } // with a pointer: small objects without share their memory
	done := make(chan struct{})
	runtime.SetFinalizer(new(last), func(*last) { close(done) })
	runtime.GC()
	select {
	case <-done:
	case <-time.After(time.Second): // the runtime does not promise to run it
	}
}

// except calls f and moves the moment on by what f allocates.
func (m *memory) except(f func() error) error {
	start := allocated()
	err := f()
	end := allocated()
	m.allocs += end.allocs - start.allocs
	m.bytes += end.bytes - start.bytes
	return err
}
