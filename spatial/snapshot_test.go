package spatial_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/spatial"
)

// A restored index returns the same rows as the saved one.
func TestIndexSnapshot(t *testing.T) {
	const rows = 200
	rng := rand.New(rand.NewPCG(3, 4))
	var x, y, z []float32
	var slots, category []uint32
	live := make([]uint64, (rows+63)/64)
	for i := range uint32(rows) {
		x, y, z = append(x, rng.Float32()*30), append(y, rng.Float32()*30), append(z, rng.Float32()*3)
		category = append(category, 1<<(i%3))
		if rng.IntN(3) > 0 && i < 150 {
			slots = append(slots, i)
			live[i/64] |= 1 << (i % 64)
		}
	}
	build := func() *spatial.Index {
		ix, err := spatial.New(spatial.Config{})
		if err != nil {
			t.Fatal(err)
		}
		return ix
	}
	ask := func(ix *spatial.Index, mask uint32) spatial.Result {
		var out spatial.Result
		q := spatial.Queries{X: x, Y: y, Z: z, Radius: slices.Repeat([]float32{5}, rows), Mask: slices.Repeat([]uint32{mask}, rows)}
		if err := ix.Radius(&q, &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	ix, other := build(), build()
	if err := other.Restore(ix.Snapshot(nil)); err != nil || other.Len() != 0 {
		t.Fatalf("of an index that was never built: %v, %d points", err, other.Len())
	}
	if err := ix.Build(x, y, z, slots); err != nil {
		t.Fatal(err)
	}
	if !ix.Indexes(x, y, z, live) {
		t.Error("the points are not those that it was built from")
	}
	for _, categories := range []bool{false, true} {
		if categories {
			ix.SetCategories(category)
			if ix.Indexes(x, y, z, live) {
				t.Error("categories are overlooked")
			}
		}
		data := ix.Snapshot(nil)
		if err := other.Restore(data); err != nil {
			t.Fatal(err)
		}
		for _, mask := range []uint32{1, 6, 0xffffffff} {
			a, b := ask(ix, mask), ask(other, mask)
			if len(a.Slots) == 0 || !slices.Equal(a.Slots, b.Slots) || !slices.Equal(a.Dist2, b.Dist2) || a.Len() != b.Len() {
				t.Errorf("categories %t, mask %x: other answers", categories, mask)
			}
			for row := range a.Len() {
				if !slices.Equal(a.Row(row), b.Row(row)) {
					t.Errorf("categories %t, mask %x: another row %d", categories, mask, row)
				}
			}
		}
		if again := other.Snapshot(nil); !bytes.Equal(again, data) {
			t.Error("saved again it differs")
		}
		var err error
		n := testing.AllocsPerRun(10, func() { err = other.Restore(data) })
		if err != nil || n != 0 && !paritytest.Instrumented {
			t.Errorf("%g allocations, %v", n, err)
		}
	}
	other.SetCategories(category[:150]) // no longer than the highest slot needs
	if y[slots[3]]++; ix.Indexes(x, y, z, live) {
		t.Error("a point that has moved is overlooked")
	}
}

// A copy has the points, rows and categories of its source, whatever the geometry of either, and
// whatever it had before.
func TestIndexCopyFrom(t *testing.T) {
	const rows = 300
	rng := rand.New(rand.NewPCG(5, 6))
	x, y, z := make([]float32, rows), make([]float32, rows), make([]float32, rows)
	category := make([]uint32, rows)
	var slots []uint32
	for i := range uint32(rows) {
		x[i], y[i], z[i], category[i] = rng.Float32()*30, rng.Float32()*30, rng.Float32()*3, 1<<(i%3)
		if i%4 > 0 {
			slots = append(slots, i)
		}
	}
	for _, cell := range []float32{0, 3} {
		src, err := spatial.New(spatial.Config{})
		ix, err2 := spatial.New(spatial.Config{CellSize: cell, Workers: 2})
		if err := errors.Join(err, err2, ix.Build(x, y, z, nil), ix.CopyFrom(src), ix.CopyFrom(ix)); err != nil || ix.Len() != 0 {
			t.Fatalf("cell %g: of an empty index: %v, %d points", cell, err, ix.Len())
		}
		if err := src.Build(x, y, z, slots); err != nil {
			t.Fatal(err)
		}
		for _, categories := range []bool{false, true, false} {
			if categories {
				src.SetCategories(category)
			} else if err := src.Build(x, y, z, slots); err != nil {
				t.Fatal(err)
			}
			if err := ix.CopyFrom(src); err != nil {
				t.Fatal(err)
			}
			q := spatial.Queries{X: x, Y: y, Z: z, Radius: slices.Repeat([]float32{4}, rows), Mask: slices.Repeat([]uint32{6}, rows)}
			var want, got spatial.Result
			if err := errors.Join(src.Radius(&q, &want), ix.Radius(&q, &got)); err != nil {
				t.Fatal(err)
			}
			if len(want.Slots) == 0 || !slices.Equal(got.Offsets, want.Offsets) || !slices.Equal(got.Slots, want.Slots) || !slices.Equal(got.Dist2, want.Dist2) {
				t.Errorf("cell %g, categories %t: other rows", cell, categories)
			}
			if cell == 0 && !bytes.Equal(ix.Snapshot(nil), src.Snapshot(nil)) {
				t.Errorf("categories %t: saved again it differs", categories)
			}
			n := testing.AllocsPerRun(10, func() { err = ix.CopyFrom(src) })
			if err != nil || n != 0 && !paritytest.Instrumented {
				t.Errorf("%g allocations, %v", n, err)
			}
		}
		x[1], y[1] = 1e3, -1e3 // the copy keeps no memory of its source
		if err := src.Build(x, y, z, nil); err != nil || ix.Len() != len(slots) {
			t.Errorf("%v, %d points", err, ix.Len())
		}
		x[1], y[1] = 1, 1
	}
}

func TestIndexRestoreRefuses(t *testing.T) {
	ix, err := spatial.New(spatial.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := ix.Build([]float32{1, 2, 3}, []float32{1, 2, 3}, []float32{1, 2, 3}, []uint32{0, 2}); err != nil {
		t.Fatal(err)
	}
	good := ix.Snapshot(nil)
	with := func(at int, v uint32) []byte {
		b := bytes.Clone(good)
		binary.LittleEndian.PutUint32(b[at:], v)
		return b
	}
	for name, data := range map[string][]byte{
		"nothing": nil, "cut": good[:len(good)-1], "longer": append(bytes.Clone(good), 1),
		"points": with(0, 3), "many points": with(0, 0xffffffff), "limit": with(4, 1<<24+1), "slot beyond": with(4, 1),
		"slot twice": with(9, 2), "NaN": with(13, 0x7fc00000), "categories": with(5, 0x05000000),
	} {
		if err := ix.Restore(data); !errors.Is(err, fault.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
		if !bytes.Equal(ix.Snapshot(nil), good) {
			t.Fatalf("%s: the index was changed", name)
		}
	}
	if err := ix.CheckSnapshot(good, 2); !errors.Is(err, fault.ErrCapacity) {
		t.Errorf("slot 2 of 2 rows: %v", err)
	}
}

// Categories of no points are none, whatever the index has held before.
func TestSnapshotOfNoPoints(t *testing.T) {
	fresh := indexOf(t, spatial.Config{}, nil, nil, nil, nil)
	used := indexOf(t, spatial.Config{}, []float32{1}, []float32{2}, nil, nil)
	used.SetCategories([]uint32{3})
	if err := used.Build(nil, nil, nil, nil); err != nil {
		t.Fatal(err)
	}
	fresh.SetCategories(nil)
	used.SetCategories(nil)
	if a, b := fresh.Snapshot(nil), used.Snapshot(nil); !bytes.Equal(a, b) {
		t.Errorf("%x and %x", a, b)
	}
}
