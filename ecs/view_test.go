package ecs

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/frame/frametest"
	"github.com/evertick/evertick/internal/paritytest"
	"pgregory.net/rapid"
)

// checkViews compares all views of a world with its snapshot: names, types, versions and bytes as
// they stand there, and floats as encoding/binary decodes these bytes.
func checkViews(t interface{ Fatalf(string, ...any) }, w *World, rows []uint32) {
	frames := frametest.Split(w.Snapshot(nil))[2:] // after the header and the ids
	if len(w.Columns()) != len(w.columns) {
		t.Fatalf("%d views of %d columns", len(w.Columns()), len(w.columns))
	}
	for i, c := range w.Columns() {
		f := frames[i]
		name, f := string(f[1:1+f[0]]), f[1+f[0]:]
		kind, count, version, saved := Kind(f[0]), int(binary.LittleEndian.Uint16(f[1:])), binary.LittleEndian.Uint64(f[3:]), f[11:]
		if c.Name() != name || c.Kind() != kind || c.Components() != count || c.Version() != version || c.Len() != w.HighWater() ||
			c.RowBytes() != kind.Size()*count {
			t.Fatalf("view %s [%d]%v version %d of %d rows; want %s [%d]%v version %d of %d", c.Name(), c.Components(), c.Kind(), c.Version(),
				c.Len(), name, count, kind, version, w.HighWater())
		}
		if named, ok := w.ColumnNamed(name); !ok || named.Name() != name || !bytes.Equal(named.AppendBytes(nil, 0, named.Len()), saved) {
			t.Fatalf("ColumnNamed(%q): %v", name, ok)
		}
		lo := len(rows) % (c.Len() + 1)
		size := c.RowBytes()
		if got := c.AppendBytes([]byte{7}, lo, c.Len()); !bytes.Equal(got, slices.Concat([]byte{7}, saved[lo*size:])) {
			t.Fatalf("%s: bytes from row %d on are not those of the snapshot", name, lo)
		}
		var chosen []byte
		for _, row := range rows {
			chosen = append(chosen, saved[int(row)*size:][:size]...)
		}
		if got := c.AppendBytesAt([]byte{7}, rows); !bytes.Equal(got, slices.Concat([]byte{7}, chosen)) {
			t.Fatalf("%s: bytes of rows %v are not those of the snapshot", name, rows)
		}
		floats, floatsAt := decode(kind, saved), decode(kind, chosen)
		if got := c.AppendFloats([]float64{7}, lo, c.Len()); !sameFloats(got, append([]float64{7}, floats[lo*count:]...)) {
			t.Fatalf("%s: floats %v from row %d on, want %v", name, got[1:], lo, floats[lo*count:])
		}
		if got := c.AppendFloatsAt([]float64{7}, rows); !sameFloats(got, append([]float64{7}, floatsAt...)) {
			t.Fatalf("%s: floats %v of rows %v, want %v", name, got[1:], rows, floatsAt)
		}
		for j, row := range rows {
			if k := j % count; !sameFloats([]float64{c.Float64(row, k)}, floatsAt[j*count+k:][:1]) {
				t.Fatalf("%s: number %d of row %d is %v, want %v", name, k, row, c.Float64(row, k), floatsAt[j*count+k])
			}
		}
	}
}

// decode reads little-endian numbers.
func decode(k Kind, b []byte) (floats []float64) {
	read := func(values any) {
		if n, err := binary.Decode(b, binary.LittleEndian, values); err != nil || n != len(b) {
			panic(fmt.Sprint(n, len(b), err))
		}
	}
	n := len(b) / k.Size()
	switch k {
	case KindInt8:
		floats = asFloats[int8](n, read)
	case KindInt16:
		floats = asFloats[int16](n, read)
	case KindInt32:
		floats = asFloats[int32](n, read)
	case KindInt64:
		floats = asFloats[int64](n, read)
	case KindUint8:
		floats = asFloats[uint8](n, read)
	case KindUint16:
		floats = asFloats[uint16](n, read)
	case KindUint32:
		floats = asFloats[uint32](n, read)
	case KindUint64:
		floats = asFloats[uint64](n, read)
	case KindFloat32:
		floats = asFloats[float32](n, read)
	case KindFloat64:
		floats = asFloats[float64](n, read)
	}
	return floats
}

func asFloats[T Number](n int, read func(values any)) (floats []float64) {
	values := make([]T, n)
	read(values)
	for _, v := range values {
		floats = append(floats, float64(v))
	}
	return floats
}

// sameFloats compares bit for bit, but all NaNs are equal.
func sameFloats(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool {
		return math.Float64bits(x) == math.Float64bits(y) || x != x && y != y
	})
}

// addAny adds a column of any type.
func addAny(w *World, name string, k Kind, count int) { w.register(name, k, count) }

// TestViewsEqualSnapshot: the views of random worlds, with columns of every type that were added, kept,
// adopted or dropped, show the rows of the snapshot.
func TestViewsEqualSnapshot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rapid.Uint64().Draw(t, "seed")
		build := func(name string) *World {
			w, err := New(Config{Capacity: 100})
			if err != nil {
				t.Fatal(err)
			}
			for i := range rapid.IntRange(0, 4).Draw(t, "columns") {
				addAny(w, fmt.Sprint(name, i), Kind(rapid.IntRange(int(KindInt8), int(KindFloat64)).Draw(t, "kind")),
					rapid.SampledFrom([]int{1, 1, 2, 3, 16}).Draw(t, "count"))
			}
			w.SpawnN(make([]ID, rapid.IntRange(0, 40).Draw(t, "entities")))
			return w
		}
		fill := func(w *World) {
			for _, c := range w.columns {
				for i := range c.rows(0, w.high) {
					random = random*6364136223846793005 + 1442695040888963407
					c.mem[i] = byte(random >> 56)
					if random>>40&3 == 0 {
						c.mem[i] = 0xff // so that there are NaNs
					}
				}
				if random&1 == 0 {
					c.version.touch()
				}
			}
		}
		rows := func(w *World) (list []uint32) {
			for range min(w.high, 10) {
				list = append(list, uint32(rapid.IntRange(0, w.high-1).Draw(t, "row")))
			}
			return list
		}
		w, others := build("a"), []*World{build("b"), build("a"), build("c")}
		for range rapid.IntRange(1, 6).Draw(t, "changes") {
			switch rapid.IntRange(0, 3).Draw(t, "change") {
			case 0:
				fill(w)
			case 1:
				w.SpawnN(make([]ID, rapid.IntRange(0, 20).Draw(t, "more")))
			case 2:
				from := rapid.SampledFrom(others).Draw(t, "from")
				fill(from)
				w.Restore(from.Snapshot(nil)) // fails if a type differs
			case 3:
				if len(w.kept) > 0 {
					addAny(w, w.kept[0].name, w.kept[0].kind, w.kept[0].count)
				}
			}
			checkViews(t, w, rows(w))
		}
	})
}

// TestViewOfEachKind: the typed values, as bytes, floats and values, with those that are not exact.
func TestViewOfEachKind(t *testing.T) {
	quiet := math.Float64frombits(0x7ff8000000000000)
	viewOf(t, []int8{-128, -1, 127}, "80ff7f", -128, -1, 127)
	viewOf(t, []int16{-32768, 258}, "00800201", -32768, 258)
	viewOf(t, []int32{math.MinInt32, 16909060}, "0000008004030201", math.MinInt32, 16909060)
	viewOf(t, []int64{1<<53 + 1, -(1<<53 + 3)}, "01000000000020"+"00"+"fdffffffffffdf"+"ff", 1<<53, -(1<<53 + 4))
	viewOf(t, []uint8{0, 255}, "00ff", 0, 255)
	viewOf(t, []uint16{65535}, "ffff", 65535)
	viewOf(t, []uint32{math.MaxUint32}, "ffffffff", math.MaxUint32)
	viewOf(t, []uint64{math.MaxUint64}, "ffffffffffffffff", 1<<64)
	viewOf(t, []float32{0.1, float32(math.Copysign(0, -1)), math.Float32frombits(0x7fc12345)}, "cdcccc3d"+"00000080"+"4523c17f",
		float64(float32(0.1)), math.Copysign(0, -1), quiet)
	viewOf(t, []float64{0.1, math.Inf(-1), math.Float64frombits(0xfff8000000000001)}, "9a9999999999b93f"+"000000000000f0ff"+"010000000000f8ff",
		0.1, math.Inf(-1), quiet)
}

func viewOf[T Number](t *testing.T, values []T, hex string, floats ...float64) {
	t.Helper()
	w := newWorld(t, len(values))
	copy(addColumn[T](t, w, "c"), values)
	w.SpawnN(make([]ID, len(values)))
	copy(addColumn[T](t, w, "d"), values)
	c, ok := w.ColumnNamed("d")
	if !ok || c.Kind().String() != fmt.Sprintf("%T", values[0]) || c.Components() != 1 {
		t.Fatalf("%v of %v", ok, c.Kind())
	}
	if got := fmt.Sprintf("%x", c.AppendBytes(nil, 0, c.Len())); got != hex {
		t.Errorf("%T: bytes %s, want %s", values, got, hex)
	}
	if got := c.AppendFloats(nil, 0, c.Len()); !sameFloats(got, floats) {
		t.Errorf("%T: floats %v, want %v", values, got, floats)
	}
	for i, v := range values {
		got, isT := c.Value(uint32(i), 0).(T)
		if !isT || got != v && (got == got || v == v) {
			t.Errorf("%T: value %v, want %v", values, c.Value(uint32(i), 0), v)
		}
	}
}

// TestViewFollows: a view shows the column after Restores that keep, adopt and drop it.
func TestViewFollows(t *testing.T) {
	a, mana, _ := knowing(t, 9)
	b := restored(t, stranger(t, 12), a)
	before := b.Columns()
	c, ok := b.ColumnNamed("mana")
	if !ok || c.Len() != 5 || c.Float64(4, 0) != 4.5 || c.Version() != mana.Version() {
		t.Fatal("a kept column", ok, c.Len())
	}
	if names := []string{before[0].Name(), before[9].Name(), before[10].Name(), before[11].Name()}; !slices.Equal(names,
		[]string{"position.x", "scale.z", "hp", "mana"}) {
		t.Error("order of registration", names)
	}
	got, err := AddColumn[float32](b, "mana")
	if err != nil {
		t.Fatal(err)
	}
	b.SpawnN(make([]ID, 4))
	got.Values()[7] = 8
	got.Touch()
	if c.Len() != 8 || c.Float64(7, 0) != 8 || c.Version() != got.Version() || c.Version() != b.LastTouch() {
		t.Error("an adopted column", c.Len(), c.Version())
	}
	pack, _ := b.ColumnNamed("pack")
	if got := pack.AppendFloatsAt(nil, []uint32{4, 1}); !slices.Equal(got, []float64{4, -1, 7, 1, -1, 7}) {
		t.Error("rows of arrays", got)
	}
	restored(t, b, stranger(t, 1)) // drops pack
	if _, ok := b.ColumnNamed("pack"); ok || pack.Len() != 0 || len(pack.AppendBytes(nil, 0, 0)) != 0 || len(b.Columns()) != 12 {
		t.Error("a dropped column", ok, pack.Len())
	}
	if len(before) != 13 || before[12].Name() != "pack" {
		t.Error("the list that a caller has was changed")
	}
	b.HoldTouches()
	x, _ := b.ColumnNamed("position.x")
	b.Position.Touch()
	if x.Version() != 0 {
		t.Error("held")
	}
	b.ReleaseTouches()
	if x.Version() == 0 || x.Version() != b.LastTouch() {
		t.Error("released")
	}
	if (ColumnView{}).Len() != 0 || (ColumnView{}).Version() != 0 {
		t.Error("the zero view")
	}
}

func TestViewMisuse(t *testing.T) {
	w := newWorld(t, 9)
	w.SpawnN(make([]ID, 3))
	c := w.Columns()[0]
	for name, f := range map[string]func(){
		"hi beyond":    func() { c.AppendBytes(nil, 0, 4) },
		"lo negative":  func() { c.AppendFloats(nil, -1, 2) },
		"lo above hi":  func() { c.AppendBytes(nil, 2, 1) },
		"row beyond":   func() { c.Float64(3, 0) },
		"last row":     func() { c.Value(math.MaxUint32, 0) },
		"row in list":  func() { c.AppendBytesAt(nil, []uint32{0, 3}) },
		"far in list":  func() { c.AppendBytesAt(nil, []uint32{1 << 30}) }, // 4 × it is 0 in 32 bits
		"float list":   func() { c.AppendFloatsAt(nil, []uint32{math.MaxUint32}) },
		"number":       func() { c.Float64(1, 1) },
		"number below": func() { c.Float64(1, -1) },
		"zero view":    func() { ColumnView{}.AppendBytes(nil, 0, 1) },
	} {
		func() {
			defer func() {
				if p, _ := recover().(string); !strings.HasPrefix(p, "columns: a ") {
					t.Errorf("%s: panic %q", name, p)
				}
			}()
			f()
		}()
	}
	if got := c.AppendBytes(nil, 3, 3); len(got) != 0 {
		t.Error("an empty range at the end")
	}
}

func TestViewsAllocateNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("not run: instrumented code allocates")
	}
	w, _, _ := knowing(t, 9)
	rows := []uint32{4, 0, 2}
	var b []byte
	var f []float64
	sum := 0.0
	if n := testing.AllocsPerRun(20, func() {
		b, f = b[:0], f[:0]
		for _, c := range w.Columns() {
			b = c.AppendBytesAt(c.AppendBytes(b, 0, c.Len()), rows)
			f = c.AppendFloatsAt(c.AppendFloats(f, 0, c.Len()), rows)
			sum += c.Float64(rows[0], 0)
		}
		c, _ := w.ColumnNamed("pack")
		sum += float64(c.Version())
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
