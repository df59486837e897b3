package spatial_test

import (
	"errors"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/spatial"
)

// fakeWorld is a Source whose points lie on the x axis.
type fakeWorld struct {
	stamp spatial.Stamp
	x     []float32
	calls int // of Points

	category []uint32
}

func (w *fakeWorld) Stamp() spatial.Stamp { return w.stamp }

func (w *fakeWorld) Points() spatial.Columns {
	w.calls++
	zero := make([]float32, len(w.x))
	c := spatial.Columns{X: w.x, Y: zero, Z: zero, Category: w.category}
	for i := range w.x {
		c.Slots = append(c.Slots, uint32(i))
	}
	return c
}

// Every build of a gate sets the categories.
func TestGateKeepsCategories(t *testing.T) {
	g, w, _ := newGate(t, spatial.Rebuild)
	w.category = []uint32{1, 2}
	q := spatial.Queries{X: []float32{0}, Y: []float32{0}, Z: []float32{0}, Radius: []float32{100}, Mask: []uint32{2}}
	for range 3 {
		w.stamp.Position++
		ix, err := g.Index()
		if err != nil {
			t.Fatal(err)
		}
		var out spatial.Result
		if err := ix.Radius(&q, &out); err != nil || !slices.Equal(out.Row(0), []uint32{1}) {
			t.Fatalf("row %v, %v", out.Row(0), err)
		}
	}
}

func newGate(t *testing.T, policy spatial.Policy) (*spatial.Gate, *fakeWorld, *spatial.Index) {
	t.Helper()
	ix, err := spatial.New(spatial.Config{})
	if err != nil {
		t.Fatal(err)
	}
	w := &fakeWorld{stamp: spatial.Stamp{Structure: 2, Position: 7, Generation: 1}, x: []float32{0, 5}}
	return spatial.NewGate(ix, w, policy), w, ix
}

// opens checks that the gate returns its index, and that the index has a
// point at x with the given slot.
func opens(t *testing.T, g *spatial.Gate, want *spatial.Index, x float32, slot uint32) {
	t.Helper()
	ix, err := g.Index()
	if err != nil || ix != want {
		t.Fatalf("the gate is shut: %v, %v", ix, err)
	}
	var out spatial.Result
	q := &spatial.Queries{X: []float32{x}, Y: []float32{0}, Z: []float32{0}, Radius: []float32{0}}
	if err := ix.Radius(q, &out); err != nil || !slices.Equal(out.Row(0), []uint32{slot}) {
		t.Fatalf("at %g: %v, %v; want slot %d", x, out.Slots, err, slot)
	}
}

func refuses(t *testing.T, g *spatial.Gate, sentinel error, message string) {
	t.Helper()
	ix, err := g.Index()
	if ix != nil {
		t.Error("an index comes with an error")
	}
	mustBe(t, err, sentinel, message+": "+sentinel.Error())
}

func TestGateRefuses(t *testing.T) {
	g, w, ix := newGate(t, spatial.Refuse)
	refuses(t, g, spatial.ErrStale, "spatial: Gate: the index was not built by the gate yet")
	for _, c := range []struct {
		move func(s *spatial.Stamp)
		want string
	}{
		{func(s *spatial.Stamp) { s.Structure++ }, "spatial: Gate: Stamp.Structure = 3, and 2 when the index was built"},
		{func(s *spatial.Stamp) { s.Position += 5 }, "spatial: Gate: Stamp.Position = 12, and 7 when the index was built"},
		{func(s *spatial.Stamp) { s.Generation++ }, "spatial: Gate: Stamp.Generation = 2, and 1 when the index was built"},
		{func(s *spatial.Stamp) { s.Structure, s.Position = 1, 0 }, "spatial: Gate: Stamp.Structure = 1, and 2 when the index was built"},
	} {
		before := w.stamp
		if err := g.Build(); err != nil {
			t.Fatal(err)
		}
		opens(t, g, ix, 5, 1)
		c.move(&w.stamp)
		asked := w.calls
		refuses(t, g, spatial.ErrStale, c.want)
		refuses(t, g, spatial.ErrStale, c.want)
		if w.calls != asked {
			t.Error("a gate that refuses asked for points")
		}
		if err := g.Build(); err != nil {
			t.Fatal(err)
		}
		opens(t, g, ix, 5, 1)
		w.stamp = before
	}
}

func TestGateRebuilds(t *testing.T) {
	g, w, ix := newGate(t, spatial.Rebuild)
	opens(t, g, ix, 5, 1)
	opens(t, g, ix, 5, 1)
	if w.calls != 1 {
		t.Errorf("%d builds, want 1", w.calls)
	}
	w.x = []float32{0, 1, 2}
	opens(t, g, ix, 5, 1) // without a change of the stamp the index stays
	w.stamp.Structure++
	opens(t, g, ix, 2, 2)
	w.x = []float32{9, 8}
	w.stamp.Structure--
	w.stamp.Generation++
	opens(t, g, ix, 8, 1)
	if w.calls != 3 {
		t.Errorf("%d builds, want 3", w.calls)
	}
}

// After a Build without the gate, it refuses, even if the stamp is that of the last build.
func TestGateNoticesOtherBuilds(t *testing.T) {
	zero := []float32{0, 0}
	g, w, ix := newGate(t, spatial.Refuse)
	if err := ix.Build([]float32{3, 4}, zero, zero, []uint32{0, 1}); err != nil {
		t.Fatal(err)
	}
	refuses(t, g, spatial.ErrStale, "spatial: Gate: the index was not built by the gate yet")
	if err := g.Build(); err != nil {
		t.Fatal(err)
	}
	opens(t, g, ix, 5, 1)
	if err := ix.Build([]float32{3, float32(math.NaN())}, zero, zero, []uint32{0, 1}); err == nil {
		t.Fatal("NaN was built")
	}
	opens(t, g, ix, 5, 1) // it failed, and changed nothing
	other := spatial.NewGate(ix, w, spatial.Rebuild)
	opens(t, other, ix, 5, 1)
	refuses(t, g, spatial.ErrStale, "spatial: Gate: the index was built 3 times, the last by the gate was number 2")
	if err := g.Build(); err != nil {
		t.Fatal(err)
	}
	opens(t, g, ix, 5, 1)
	opens(t, other, ix, 5, 1)
	if w.calls != 4 {
		t.Errorf("%d builds by gates, want 4", w.calls)
	}
}

// A build that fails leaves the index as it was, and the gate refuses until one succeeds.
func TestGateAfterAFailedBuild(t *testing.T) {
	for _, policy := range []spatial.Policy{spatial.Refuse, spatial.Rebuild} {
		g, w, ix := newGate(t, policy)
		if err := g.Build(); err != nil {
			t.Fatal(err)
		}
		old := w.stamp
		w.x = []float32{0, float32(math.NaN()), 2}
		w.stamp.Position++
		const nan, stale = "spatial: Build: x[1] = NaN", "spatial: Gate: Stamp.Position = 8, and 7 when the index was built"
		for range 2 {
			mustBe(t, g.Build(), spatial.ErrNotFinite, nan+": not finite")
			if policy == spatial.Refuse {
				refuses(t, g, spatial.ErrStale, stale)
			} else {
				refuses(t, g, spatial.ErrNotFinite, nan)
			}
			if ix.Len() != 2 {
				t.Errorf("%d points after a failed build, want the old 2", ix.Len())
			}
		}
		now := w.stamp
		w.stamp = old // the state from which the index was built
		opens(t, g, ix, 5, 1)
		w.stamp, w.x[1] = now, 1
		if err := g.Build(); err != nil {
			t.Fatal(err)
		}
		opens(t, g, ix, 2, 2)
	}
}

func TestGateConcurrentReaders(t *testing.T) {
	g, _, ix := newGate(t, spatial.Refuse)
	if err := g.Build(); err != nil {
		t.Fatal(err)
	}
	var readers sync.WaitGroup
	errs := make(chan error, 8)
	for range 8 {
		readers.Add(1)
		go func() {
			defer readers.Done()
			for range 100 {
				if got, err := g.Index(); err != nil || got != ix {
					errs <- errors.Join(errors.New("the gate is shut"), err)
					return
				}
			}
		}()
	}
	readers.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
}

func TestGateAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	g, _, _ := newGate(t, spatial.Rebuild)
	if n := testing.AllocsPerRun(100, func() {
		if _, err := g.Index(); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func TestGateMisuse(t *testing.T) {
	ix, err := spatial.New(spatial.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for want, do := range map[string]func(){
		"spatial: NewGate: nil index or source": func() { spatial.NewGate(nil, &fakeWorld{}, spatial.Refuse) },
		"spatial: NewGate: unknown policy":      func() { spatial.NewGate(ix, &fakeWorld{}, spatial.Rebuild+1) },
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("panic %v, want %q", got, want)
				}
			}()
			do()
		}()
	}
}
