package spatial_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/evertick/evertick/spatial"
)

// Appending to a row does not overwrite the next, and a batch without distances does not
// return those of an earlier one.
func TestRowsAreSeparate(t *testing.T) {
	st := newState(t)
	if row := append(st.result.Row(0), 99); !slices.Equal(st.result.Slots, st.before.Slots) {
		t.Errorf("appending %v to a row changed the next: %v", row, st.result.Slots)
	}
	st.q.SkipDist2 = true
	if err := st.ix.Radius(st.q, st.result); err != nil || st.result.Dist2Row(0) != nil {
		t.Errorf("distances %v, %v", st.result.Dist2Row(0), err)
	}
	if fresh := (&spatial.Result{Offsets: []uint32{0, 1}, Slots: []uint32{5}}); fresh.Dist2Row(0) != nil {
		t.Error("distances of a result that has none")
	}
}

// A refused call leaves even Of as it was, and another kind of query clears it.
func TestOfBelongsToSelfQueries(t *testing.T) {
	st := newState(t)
	var out spatial.Result
	self := func() {
		t.Helper()
		if err := st.ix.RadiusSelf(&spatial.Self{Radius: 5}, &out); err != nil || len(out.Of) != 3 {
			t.Fatalf("Of %v, %v", out.Of, err)
		}
	}
	column := []float32{0, 1, 2}
	self()
	bad := spatial.Columns{X: column, Y: column, Z: column, Slots: []uint32{0, 0, 1}}
	if err := st.ix.RadiusOnce(bad, st.q, &out); !errors.Is(err, spatial.ErrRange) || len(out.Of) != 3 {
		t.Errorf("Of %v, %v", out.Of, err)
	}
	for name, ask := range map[string]func() error{
		"Radius":       func() error { return st.ix.Radius(st.q, &out) },
		"RadiusOracle": func() error { return st.ix.RadiusOracle(st.q, &out) },
		"RadiusOnce": func() error {
			return st.ix.RadiusOnce(spatial.Columns{X: column, Y: column, Z: column, Slots: []uint32{0, 1}}, st.q, &out)
		},
		"KNN": func() error { return st.ix.KNN(&spatial.NearestQueries{X: column, Y: column, Z: column, K: 1}, &out) },
		"KNNOracle": func() error {
			return st.ix.KNNOracle(&spatial.NearestQueries{X: column, Y: column, Z: column, K: 1}, &out)
		},
		"Overlap": func() error {
			return st.ix.Overlap(&spatial.Boxes{MinX: column, MinY: column, MinZ: column, MaxX: column, MaxY: column, MaxZ: column}, &out)
		},
	} {
		self()
		if err := ask(); err != nil || len(out.Of) != 0 {
			t.Errorf("%s: Of %v, %v", name, out.Of, err)
		}
	}
}

func TestZeroIndexPanics(t *testing.T) {
	ix, q := &spatial.Index{}, &spatial.Queries{}
	const want = "spatial: the Index was not made by New"
	for name, do := range map[string]func(){
		"Build":      func() { _ = ix.Build(nil, nil, nil, nil) },
		"Radius":     func() { _ = ix.Radius(q, &spatial.Result{}) },
		"RadiusSelf": func() { _ = ix.RadiusSelf(&spatial.Self{}, &spatial.Result{}) },
		"KNN":        func() { _ = ix.KNN(&spatial.NearestQueries{K: 1}, &spatial.Result{}) },
		"Count":      func() { _ = ix.Count(q, nil) },
		"Overlap":    func() { _ = ix.Overlap(&spatial.Boxes{}, &spatial.Result{}) },
		"RadiusOnce": func() { _ = ix.RadiusOnce(spatial.Columns{}, q, &spatial.Result{}) },
		"RayAll":     func() { _ = ix.RayAll(nil, &spatial.Rays{}, &spatial.RayHits{}) },
	} {
		mustPanic(t, name, want, do)
	}
}

// Masks leave out a point of no category; without masks it counts.
func TestNoMaskTakesPointsOfNoCategory(t *testing.T) {
	x, slots, category := []float32{0, 1, 2}, []uint32{0, 1, 2}, []uint32{0, 1, 0}
	st := newState(t)
	q := &spatial.Queries{X: x[:1], Y: x[:1], Z: x[:1], Radius: []float32{10}}
	for _, mask := range [][]uint32{nil, {1}} {
		q.Mask = mask
		if err := st.ix.Build(x, x, x, slots); err != nil {
			t.Fatal(err)
		}
		st.ix.SetCategories(category)
		var built, once spatial.Result
		spatial.Force(&once, spatial.Streaming, spatial.MostHits)
		points := spatial.Columns{X: x, Y: x, Z: x, Slots: slots, Category: category}
		if err := errors.Join(st.ix.Radius(q, &built), st.ix.RadiusOnce(points, q, &once)); err != nil {
			t.Fatal(err)
		}
		if want := map[bool]int{true: 3, false: 1}[mask == nil]; len(built.Slots) != want || !slices.Equal(once.Slots, built.Slots) {
			t.Errorf("mask %v: Radius %v, RadiusOnce %v", mask, built.Slots, once.Slots)
		}
	}
}
