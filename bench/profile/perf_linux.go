package profile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

func threadID() int { return unix.Gettid() }

// perfEvents are what is counted, in the order of eventNames.
var perfEvents = [4]perfEvent{
	{unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_INSTRUCTIONS},
	{unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CPU_CYCLES},
	{unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CACHE_MISSES},
	{unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_BRANCH_MISSES},
}

type perfEvent struct {
	kind   uint32
	config uint64
}

// perfGroup is a group of counters of perf_event_open(2), which one read(2) of the first reads at
// the same moment.
type perfGroup struct {
	fds  []int
	at   [4]int // index of each event in data, -1: not counted
	tid  int
	data []byte
}

// openPerf opens the counters of the calling thread, and locks the goroutine to it until close.
func openPerf() (eventSource, error) { return openGroup(perfEvents) }

func openGroup(wanted [4]perfEvent) (eventSource, error) {
	runtime.LockOSThread()
	g := &perfGroup{tid: unix.Gettid()}
	leader := -1
	var first error
	for i, e := range wanted {
		g.at[i] = -1
		attr := unix.PerfEventAttr{
			Type: e.kind, Config: e.config,
			Size:        uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
			Read_format: unix.PERF_FORMAT_GROUP | unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING,
			Bits:        unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv, // what every user may count
		}
		fd, err := unix.PerfEventOpen(&attr, 0, -1, leader, unix.PERF_FLAG_FD_CLOEXEC)
		if err != nil {
			if first == nil {
				first = err
			}
			continue
		}
		if leader < 0 {
			leader = fd
		}
		g.at[i] = len(g.fds)
		g.fds = append(g.fds, fd)
	}
	if leader < 0 {
		runtime.UnlockOSThread()
		return nil, explainNoCounters(first)
	}
	g.data = make([]byte, 8*(3+len(g.fds)))
	return g, nil
}

// explainNoCounters adds to the error what a user can do about it.
func explainNoCounters(err error) error {
	level, _ := os.ReadFile("/proc/sys/kernel/perf_event_paranoid")
	paranoid := strings.TrimSpace(string(level))
	if paranoid == "" {
		paranoid = "unreadable"
	}
	advice := ""
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENODEV):
		advice = "; this CPU, or the virtual machine, offers none"
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		advice = "; 2 or less allows them, unless a container forbids the call"
	case errors.Is(err, unix.ENOSYS):
		advice = "; this kernel, or the container, has no such call"
	}
	return fmt.Errorf("perf_event_open: %w (perf_event_paranoid is %s%s)", err, paranoid, advice)
}

func (g *perfGroup) read(e *events) error {
	n, err := unix.Read(g.fds[0], g.data)
	if err != nil {
		return err
	}
	if n != len(g.data) {
		return errors.New("a counter was lost")
	}
	word := func(i int) uint64 { return binary.NativeEndian.Uint64(g.data[8*i:]) }
	value := func(i int) uint64 {
		if g.at[i] < 0 {
			return 0
		}
		return word(3 + g.at[i])
	}
	*e = events{sums{value(0), value(1), value(2), value(3)}, word(1), word(2)}
	return nil
}

func (g *perfGroup) has() (has [4]bool) {
	for i, at := range g.at {
		has[i] = at >= 0
	}
	return has
}

func (g *perfGroup) thread() int { return g.tid }

func (g *perfGroup) close() error {
	var errs []error
	for _, fd := range g.fds {
		errs = append(errs, unix.Close(fd))
	}
	runtime.UnlockOSThread()
	return errors.Join(errs...)
}
