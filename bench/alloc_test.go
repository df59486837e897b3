package main

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
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/native/paritytest"
	"github.com/evertick/evertick/physics"
)

// fakeEngine moves bodies by their velocity, knows no contacts and allocates
// nothing. It embeds the interface for the methods that no scene calls.
type fakeEngine struct {
	physics.Engine
	cols *physics.Columns
	rows int
}

func (f *fakeEngine) Open(_ physics.Config, cols *physics.Columns) error {
	f.cols = cols
	return nil
}

func (f *fakeEngine) CreateBody(i int, d *physics.BodyDef) error {
	f.rows = max(f.rows, i+1)
	f.cols.X[i], f.cols.Y[i], f.cols.Cos[i] = d.Position[0], d.Position[1], 1
	return nil
}

func (f *fakeEngine) CreateCircle(_, _ int, _ *physics.ShapeDef, _ physics.Circle) error { return nil }

func (f *fakeEngine) CreatePolygon(_, _ int, _ *physics.ShapeDef, _ physics.Polygon) error {
	return nil
}

func (f *fakeEngine) CreateSegment(_, _ int, _ *physics.ShapeDef, _ physics.Segment) error {
	return nil
}

func (f *fakeEngine) ApplyLinearImpulseToCenter(i int, impulse [2]float32) error {
	f.cols.VX[i] += impulse[0]
	f.cols.VY[i] += impulse[1]
	return nil
}

func (f *fakeEngine) Step(dt float32) error {
	for i := range f.rows {
		f.cols.X[i] += float32(f.cols.VX[i] * dt)
		f.cols.Y[i] += float32(f.cols.VY[i] * dt)
	}
	return nil
}

// A step of the capstone allocates nothing.
func TestStepAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	for _, level := range native.Levels() {
		for _, workers := range []int{1, 2} {
			t.Run(fmt.Sprintf("level=%s/workers=%d", level, workers), func(t *testing.T) {
				s := configuredScene(t, "capstone", evertick.Config{Seed: 1, Level: level, Workers: workers})
				advance(t, s, 300) // until the buffers have their size
				if n := testing.AllocsPerRun(100, func() { advance(t, s, 1) }); n != 0 {
					t.Errorf("%g allocations a step", n)
				}
			})
		}
	}
}

// Thousands of steps of the capstone allocate nothing, with what bench records of them: counted by the
// runtime over the whole run, so that one allocation is one too many. (TestStepAllocatesNothing
// asks for the mean of a hundred steps, in which one allocation is rounded away.)
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
			s := configuredScene(t, "capstone", evertick.Config{Seed: 1, Workers: workers})
			o := &options{scene: "capstone", ticks: 300 + steps, warmup: 300}
			if _, err := profile.Attach(s.sim, o.profileConfig(s)); err != nil {
				t.Fatal(err)
			}
			advance(t, s, 300) // until the buffers have their size
			// With several workers the memory of each for its rows grows whenever it has taken
			// more of them than ever, which depends on how the machine runs the workers.
			const byChance = "spatial.(*collector).grow"
			if ours, all := allocationsOf(func() { advance(t, s, steps) }); slices.ContainsFunc(ours, func(site string) bool {
				return workers == 1 || !strings.Contains(site, byChance)
			}) {
				t.Errorf("%d steps allocate %d times, of which ours are:\n%s", steps, all, strings.Join(ours, "\n"))
			}
		})
	}
}

// allocationsOf returns where f allocates, by the profile of every allocation, but for what the
// runtime allocates for itself: a thread that it starts when one blocks, and the tokens by which its
// collector waits. It also returns how many there were of both.
func allocationsOf(f func()) (ours []string, all uint64) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	was := runtime.MemProfileRate
	runtime.MemProfileRate = 1
	defer func() { runtime.MemProfileRate = was }()
	before := allocationSites()
	start := allocated()
	f()
	end := allocated()
	for site, n := range allocationSites() {
		if n -= before[site]; n > 0 {
			if where := siteOf(site); where != "" {
				ours = append(ours, fmt.Sprintf("%d in %s", n, where))
			}
		}
	}
	slices.Sort(ours)
	return ours, end.allocs - start.allocs
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

// siteOf returns the functions of a site that are of this project; "" of the test's own, and of the runtime.
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
