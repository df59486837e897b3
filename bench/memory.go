package main

import "runtime"

// memory is what the process had allocated at a moment.
type memory struct{ allocs, bytes uint64 }

func allocated() memory {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return memory{stats.Mallocs, stats.TotalAlloc}
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
