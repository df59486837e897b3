package command

import (
	"fmt"
	"path"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/internal/paritytest"
)

// Thousands of recorded steps of the capstone allocate nothing. The runtime counts over the whole
// run, so that one allocation is one too many. (A test of package scenes takes the mean of a
// hundred steps, in which one allocation is rounded away.)
func TestCapstoneAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	steps := 3300
	if testing.Short() {
		steps = 1000
	}
	for _, workers := range []int{1, 2} {
		t.Run(fmt.Sprintf("workers=%d", workers), func(t *testing.T) {
			s := configured(t, "capstone", evertick.Config{Seed: 1, Workers: workers})
			o := &Options{Scene: "capstone", Ticks: 300 + steps, Warmup: 300}
			if _, err := profile.Attach(s.Sim, o.profileConfig(s)); err != nil {
				t.Fatal(err)
			}
			advance(t, s, 300) // until the buffers have their size
			// Each of several workers grows its memory when it gets more rows than ever before, which
			// depends on how the machine runs the workers.
			const byChance = "spatial.(*collector).grow"
			if ours, all := allocationsOf(func() { advance(t, s, steps) }); slices.ContainsFunc(ours, func(site string) bool {
				return workers == 1 || !strings.Contains(site, byChance)
			}) {
				t.Errorf("%d steps allocate %d times, of which ours are:\n%s", steps, all, strings.Join(ours, "\n"))
			}
		})
	}
}

// allocationsOf returns where f allocates, by the profile of every allocation. It leaves out what
// the runtime allocates for itself: a thread that it starts when one blocks, and the tokens by
// which its collector waits. It also returns the number of both.
func allocationsOf(f func()) (ours []string, all uint64) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	was := runtime.MemProfileRate
	runtime.MemProfileRate = 1
	defer func() { runtime.MemProfileRate = was }()
	before := allocationSites()
	start := Allocated()
	f()
	end := Allocated()
	for site, n := range allocationSites() {
		if n -= before[site]; n > 0 {
			if where := siteOf(site); where != "" {
				ours = append(ours, fmt.Sprintf("%d in %s", n, where))
			}
		}
	}
	slices.Sort(ours)
	return ours, end.Allocs - start.Allocs
}

// allocationSites counts the allocations until now by where they happened.
func allocationSites() map[[32]uintptr]int64 {
	for range 2 { // the profile is that of the collection before the last
		runtime.GC()
	}
	records := make([]runtime.MemProfileRecord, 1<<14)
	n, ok := runtime.MemProfile(records, true)
	if !ok {
		panic("more sites than there is room for")
	}
	sites := map[[32]uintptr]int64{}
	for _, r := range records[:n] {
		sites[r.Stack0] += r.AllocObjects
	}
	return sites
}

// siteOf returns the functions of a site that belong to this project; "" for those of the test and
// of the runtime.
func siteOf(site [32]uintptr) string {
	var calls []string
	n := slices.Index(site[:], 0)
	if n < 0 {
		n = len(site)
	}
	frames := runtime.CallersFrames(site[:n])
	for more := true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		if strings.HasSuffix(frame.Function, ".allocationSites") || strings.HasSuffix(frame.Function, ".allocationsOf") && len(calls) == 0 {
			return ""
		}
		if strings.Contains(frame.Function, "evertick/") {
			calls = append(calls, fmt.Sprintf("%s:%d", path.Base(frame.Function), frame.Line))
		}
	}
	return strings.Join(calls, " < ")
}
