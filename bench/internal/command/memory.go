package command

import (
	"runtime"
	"time"
)

// Memory is what the process has allocated since it began, or what a part of it has.
type Memory struct{ Allocs, bytes uint64 }

func Allocated() Memory {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return Memory{stats.Mallocs, stats.TotalAlloc}
}

func (m Memory) Since(start Memory) Memory {
	return Memory{m.Allocs - start.Allocs, m.bytes - start.bytes}
}

func (m *Memory) add(o Memory) { m.Allocs, m.bytes = m.Allocs+o.Allocs, m.bytes+o.bytes }

// except calls f and leaves out of the measurement what f allocates, by moving the start m.
func (m *Memory) except(f func() error) error {
	start := Allocated()
	err := f()
	m.add(Allocated().Since(start))
	return err
}

// Collect collects garbage and waits until the finalizers of that collection have run: otherwise
// the runtime would allocate for them, on a goroutine of its own, while the measured steps run.
func Collect() {
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
func (m *Memory) collectIfMuch() {
	const much = 256 << 20
	if now := Allocated(); now.Since(*m).bytes > much {
		runtime.GC()
		*m = now
	}
}
