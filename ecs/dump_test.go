package ecs

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
)

func TestDump(t *testing.T) {
	w := newWorld(t, 8)
	hp := addColumn[int32](t, w, "hp")
	pair, _ := AddArrayColumn[[2]float64](w, "pair of numbers")
	w.SpawnN(make([]ID, 3))
	w.Despawn(2)
	tag(t, w, "enemy").Set(3)
	tag(t, w, "ally").Set(3)
	hp[2] = -15
	pair.Values()[2] = [2]float64{0.1, math.Inf(-1)}
	w.Position.X[0] = float32(math.Copysign(0, -1))
	w.Position.Y[0] = float32(math.NaN())
	var b bytes.Buffer
	if err := w.Dump(&b); err != nil {
		t.Fatal(err)
	}
	want := strings.TrimPrefix(`
id     slot        tags  position.x  position.y  position.z  rotation.x  rotation.y  rotation.z  rotation.w  scale.x  scale.y  scale.z   hp  "pair of numbers"
ent_1     0           -          -0         NaN           0           0           0           0           1        1        1        1    0              [0 0]
ent_3     2  ally,enemy           0           0           0           0           0           0           1        1        1        1  -15         [0.1 -Inf]
`, "\n")
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	b.Reset()
	if err := w.Dump(&b, Without(tag(t, w, "ally"))); err != nil || strings.Count(b.String(), "\n") != 2 || strings.Contains(b.String(), "ent_3") {
		t.Errorf("terms: %v\n%s", err, b.String())
	}
}

// fullDisk accepts a number of bytes.
type fullDisk int

var errFull = errors.New("full")

func (d *fullDisk) Write(b []byte) (int, error) {
	n := min(len(b), int(*d))
	*d -= fullDisk(n)
	if n < len(b) {
		return n, errFull
	}
	return n, nil
}

func TestDumpFails(t *testing.T) {
	w := newWorld(t, 5000)
	w.SpawnN(make([]ID, 5000))
	for _, room := range []fullDisk{0, 100, 100_000} {
		if err := w.Dump(&room); !errors.Is(err, errFull) {
			t.Errorf("room for %d: %v", room, err)
		}
	}
	if w.locks.Load() != 0 {
		t.Error("the world is still locked")
	}
	few := newWorld(t, 5000)
	few.SpawnN(make([]ID, 5))
	allocated := func(w *World) float64 { return testing.AllocsPerRun(3, func() { w.Dump(io.Discard) }) }
	if a, b := allocated(few), allocated(w); !paritytest.Instrumented && b > a+2 {
		t.Errorf("%v allocations for 5 entities, %v for 5000", a, b)
	}
}

func TestDescribe(t *testing.T) {
	w := sample(t)
	w.Scale.Touch()
	d := w.Describe()
	if d.Entities != 4 || d.Capacity != 8 || d.HighWater != 5 || d.Version != 6 || d.LastTouch != 1 || d.Pages != 1 {
		t.Errorf("%+v", d)
	}
	if want := (TagDescription{"ally", 2, 8}); d.Tags[1] != want {
		t.Errorf("%+v, want %+v", d.Tags[1], want)
	}
	if want := (ColumnDescription{"scale.z", "float32", 1, false, 32}); d.Columns[9] != want {
		t.Errorf("%+v, want %+v", d.Columns[9], want)
	}
	c := newWorld(t, 8)
	AddArrayColumn[[4]float32](c, "colour")
	if err := c.CopyFrom(w); err != nil {
		t.Fatal(err)
	}
	d = c.Describe()
	if last := d.Columns[len(d.Columns)-1]; !last.Kept || d.Generation != 1 || d.Columns[10].Type != "[4]float32" {
		t.Errorf("%+v", d)
	}
	text, err := json.Marshal(d)
	var back Description
	if err != nil || json.Unmarshal(text, &back) != nil || !slices.Equal(back.Columns, d.Columns) || back.TotalBytes != d.TotalBytes {
		t.Errorf("%v: %s", err, text)
	}
	for _, part := range []string{"\nally", "hp (kept)", "[4]float32", "id table, 1 pages, 0 spare"} {
		if !strings.Contains(d.String(), part) {
			t.Errorf("no %q in\n%v", part, d)
		}
	}
}

// TestDescribeIsTrue compares with what the runtime has allocated.
func TestDescribeIsTrue(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("not run: instrumented memory is larger")
	}
	heap := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	const n = 1 << 18
	ids := make([]ID, n)
	before := heap()
	w, err := New(Config{Capacity: n, Previous: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c"} {
		addColumn[float64](t, w, name)
		tag(t, w, name)
	}
	AddArrayColumn[[3]int16](w, "d")
	w.SpawnN(ids)
	real, total := heap()-before, w.Describe().TotalBytes
	t.Logf("%d bytes allocated, %d described", real, total)
	if off := math.Abs(float64(total)/float64(real) - 1); off > 0.02 {
		t.Errorf("the description is off by %.1f %%", 100*off)
	}
	runtime.KeepAlive(ids)
}
