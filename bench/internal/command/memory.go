package command

import (
	"runtime"
	"time"
)

// memory is what the process has allocated since it began, or what a part of it has.
type memory struct{ allocs, bytes uint64 }

func allocated() memory {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return memory{stats.Mallocs, stats.TotalAlloc}
}

func (m memory) since(start memory) memory {
	return memory{m.allocs - start.allocs, m.bytes - start.bytes}
}

func (m *memory) add(o memory) { m.allocs, m.bytes = m.allocs+o.allocs, m.bytes+o.bytes }

// except calls f and leaves out of the measurement what f allocates, by moving the start m.
func (m *memory) except(f func() error) error {
	start := allocated()
	err := f()
	m.add(allocated().since(start))
	return err
}

// collect collects garbage and waits until the finalizers of that collection have run: otherwise
// the runtime would allocate for them, on a goroutine of its own, while the measured steps run.
func collect() {
	type last struct{ _ *last } // with a pointer: small objects without one share their memory
	done := make(chan struct{})
	runtime.SetFinalizer(new(last), func(*last) { close(done) })
	runtime.GC()
	select {
	case <-done:
	case <-time.After(time.Second): // the runtime does not promise to run it
	}
}

// collectIfMuch collects garbage between two turns if much was allocated since the last collection.
func (m *memory) collectIfMuch() {
	const much = 256 << 20
	if now := allocated(); now.since(*m).bytes > much {
		runtime.GC()
		*m = now
	}
}
