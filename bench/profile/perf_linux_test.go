package profile

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"golang.org/x/sys/unix"
)

// Where a CPU is not there to count, as in many virtual machines, the kernel still counts
// events of its own, and answers in the same way.
func TestPerfGroupOfTheKernel(t *testing.T) {
	software := func(config uint64) perfEvent { return perfEvent{unix.PERF_TYPE_SOFTWARE, config} }
	source, err := openGroup([4]perfEvent{
		software(unix.PERF_COUNT_SW_TASK_CLOCK),
		{unix.PERF_TYPE_SOFTWARE, 1 << 40}, // no such event
		software(unix.PERF_COUNT_SW_CPU_CLOCK),
		software(unix.PERF_COUNT_SW_DUMMY),
	})
	if err != nil {
		if !strings.Contains(err.Error(), "perf_event_paranoid is ") {
			t.Errorf("%v", err)
		}
		t.Skip("not run: ", err)
	}
	defer func() {
		if err := source.close(); err != nil {
			t.Error(err)
		}
	}()
	if source.has() != [4]bool{true, false, true, true} {
		t.Errorf("counts %v", source.has())
	}
	if source.thread() != threadID() {
		t.Errorf("of thread %d, and this is %d", source.thread(), threadID())
	}
	var first, second events
	if err := source.read(&first); err != nil {
		t.Fatal(err)
	}
	for second.counts[0] <= first.counts[0] { // until the clock of this thread has moved
		if err := source.read(&second); err != nil {
			t.Fatal(err)
		}
	}
	if s := second.since(&first); s[0] == 0 || s[1] != 0 || s[3] != 0 {
		t.Errorf("between two readings %v", s)
	}
	if second.enabled <= first.enabled || second.running > second.enabled {
		t.Errorf("%+v, then %+v", first, second)
	}
	if paritytest.Instrumented {
		return
	}
	if n := testing.AllocsPerRun(100, func() { _ = source.read(&second) }); n != 0 {
		t.Errorf("a reading allocates %g times", n)
	}
}

// Either this machine has counters, or the error gives a reason.
func TestPerfHere(t *testing.T) {
	r, err := New(Config{Hardware: true}, []string{"a"})
	if err != nil {
		t.Fatal(err)
	}
	r.Begin(-1)
	r.Phase(0)
	r.End()
	run := r.Run()
	if run.Hardware == nil && (len(run.Unwatched) == 0 || !strings.HasPrefix(run.Unwatched[0], "hardware counters: ")) {
		t.Errorf("no counters, and as reason %q", run.Unwatched)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	t.Logf("%+v %q", run.Hardware, run.Unwatched)
}

func TestWhyNoCounters(t *testing.T) {
	for errno, says := range map[syscall.Errno]string{
		unix.ENOENT: "virtual machine", unix.EACCES: "2 or less", unix.EPERM: "container", unix.ENOSYS: "no such call", unix.EINVAL: "perf_event_paranoid is ",
	} {
		if err := explainNoCounters(errno); !errors.Is(err, errno) || !strings.Contains(err.Error(), says) {
			t.Errorf("%v", err)
		}
	}
}
