package profile

import (
	"math"
	"runtime"
	"runtime/metrics"
)

// collector reads what the garbage collector did in a step. A reading takes less than 0.1 µs and
// does not allocate, so that there is one at both ends of a step.
type collector struct {
	samples [3]metrics.Sample
	at      gcTotals // at the beginning of the step
	assist  float64  // at the end of the step before
	heap    [2]metrics.Sample
	first   [2]uint64
}

// gcTotals are sums since the process began, times in seconds.
type gcTotals struct {
	cycles        uint64
	pause, assist float64
}

func (c *collector) init() {
	for i, name := range []string{"/gc/cycles/total:gc-cycles", "/cpu/classes/gc/pause:cpu-seconds", "/cpu/classes/gc/mark/assist:cpu-seconds"} {
		c.samples[i].Name = name
	}
	c.heap[0].Name, c.heap[1].Name = "/gc/heap/allocs:objects", "/gc/heap/allocs:bytes"
	metrics.Read(c.heap[:]) // the first reading allocates
	c.assist = c.read().assist
}

func (c *collector) read() gcTotals {
	metrics.Read(c.samples[:])
	return gcTotals{c.samples[0].Value.Uint64(), c.samples[1].Value.Float64(), c.samples[2].Value.Float64()}
}

func (c *collector) begin() { c.at = c.read() }

// end returns the collections that ended since begin, for how long they stopped the world, and the
// CPU time of assists. The runtime reports assists only when a cycle ends. So they count for the
// step that finds them, even if the cycle ended after the previous step. The runtime reports pauses
// as the CPU time of all processors, since all of them stop.
func (c *collector) end() (cycles, pauseNs, assistNs int64) {
	now := c.read()
	cycles = int64(now.cycles - c.at.cycles)
	if now.pause != c.at.pause {
		pauseNs = nanoseconds((now.pause - c.at.pause) / float64(runtime.GOMAXPROCS(0)))
	}
	assistNs = nanoseconds(now.assist - c.assist)
	c.assist = now.assist
	return cycles, pauseNs, assistNs
}

func nanoseconds(s float64) int64 { return int64(math.Round(max(0, s) * 1e9)) }

func (c *collector) markFirst() {
	c.assist = c.at.assist
	c.first = c.readHeap()
}

func (c *collector) readHeap() [2]uint64 {
	metrics.Read(c.heap[:])
	return [2]uint64{c.heap[0].Value.Uint64(), c.heap[1].Value.Uint64()}
}

// allocated returns what was allocated since the first of so many steps, by step.
func (c *collector) allocated(steps int) (objects, bytes float64) {
	now := c.readHeap()
	return float64(now[0]-c.first[0]) / float64(steps), float64(now[1]-c.first[1]) / float64(steps)
}
