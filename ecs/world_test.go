package ecs

import (
	"errors"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/evertick/evertick/internal/paritytest"
)

func newWorld(t testing.TB, capacity int) *World {
	t.Helper()
	w, err := New(Config{Capacity: capacity})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func spawn(t testing.TB, w *World) ID {
	t.Helper()
	id, err := w.Spawn()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func tag(t testing.TB, w *World, name string) Tag {
	t.Helper()
	tag, err := w.Tag(name)
	if err != nil {
		t.Fatal(err)
	}
	return tag
}

func addColumn[T Number](t testing.TB, w *World, name string) []T {
	t.Helper()
	c, err := AddColumn[T](w, name)
	if err != nil {
		t.Fatal(err)
	}
	return c.Values()
}

// wantError checks the sentinel and that the message contains all parts.
func wantError(t testing.TB, err, sentinel error, parts ...string) {
	t.Helper()
	if !errors.Is(err, sentinel) {
		t.Fatalf("error %v, want %v", err, sentinel)
	}
	for _, p := range append(parts, "ecs: ") {
		if !strings.Contains(err.Error(), p) {
			t.Fatalf("error %q lacks %q", err, p)
		}
	}
}

func wantPanic(t testing.TB, message string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if r := recover(); r != message {
			t.Fatalf("panic %v, want %q", r, message)
		}
	}()
	f()
}

func TestConfig(t *testing.T) {
	if c := newWorld(t, 0).Cap(); c != DefaultCapacity {
		t.Fatalf("default capacity %d", c)
	}
	for _, c := range []int{-1, maxCapacity + 1} {
		_, err := New(Config{Capacity: c})
		wantError(t, err, ErrRange, "ecs: Config.Capacity = ")
	}
}

func TestCapacityIsExact(t *testing.T) {
	for _, n := range []int{1, 2, 63, 64, 65, 1000, 4096, 4097, 16384} {
		w := newWorld(t, n)
		extra := addColumn[uint8](t, w, "extra")
		if len(extra) != n || cap(extra) != n || len(w.Rotation.W) != n || cap(w.Scale.Z) != n {
			t.Fatalf("capacity %d: column of len %d, cap %d", n, len(extra), cap(extra))
		}
		for range n {
			spawn(t, w)
		}
		hash := w.Hash()
		_, err := w.Spawn()
		wantError(t, err, ErrCapacity)
		wantError(t, w.SpawnN(make([]ID, 1)), ErrCapacity)
		if w.Len() != n || w.HighWater() != n || w.Hash() != hash {
			t.Fatalf("capacity %d: the failed spawn left a trace", n)
		}
	}
}

func TestSpawnNAllOrNone(t *testing.T) {
	w := newWorld(t, 100)
	ids := make([]ID, 60)
	if err := w.SpawnN(ids); err != nil {
		t.Fatal(err)
	}
	before := w.Hash()
	dst := make([]ID, 41)
	wantError(t, w.SpawnN(dst), ErrCapacity, "41")
	if w.Hash() != before || w.Len() != 60 || slices.Max(dst) != 0 {
		t.Fatal("a failed batch changed something")
	}
	if err := w.SpawnN(nil); err != nil || w.Hash() != before {
		t.Fatal("an empty batch did something")
	}
}

// TestSpawnNIsSpawn: a batch gets the slots and ids that single spawns get.
func TestSpawnNIsSpawn(t *testing.T) {
	for _, n := range []int{1, 5, 63, 64, 65, 130, 300} {
		a, b := newWorld(t, 1000), newWorld(t, 1000)
		for _, w := range []*World{a, b} {
			for range 500 {
				spawn(t, w)
			}
			for id := ID(3); id < 500; id += 1 + id%7 {
				w.Despawn(id)
			}
		}
		ids := make([]ID, n)
		if err := a.SpawnN(ids); err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			if got := spawn(t, b); got != id {
				t.Fatalf("batch of %d: %v, single %v", n, id, got)
			}
		}
		if a.Hash() != b.Hash() || a.Version() != b.Version() {
			t.Fatalf("batch of %d differs from single spawns", n)
		}
	}
}

func TestStaleIDs(t *testing.T) {
	w := newWorld(t, 4)
	old := spawn(t, w)
	slot, _ := w.Slot(old)
	enemy := tag(t, w, "enemy")
	enemy.Set(old)
	for range 5000 {
		if !w.Despawn(old) || w.Despawn(old) {
			t.Fatal("despawn does not work once and only once")
		}
		id := spawn(t, w)
		if s, _ := w.Slot(id); s != slot {
			t.Fatalf("slot %d, want the lowest free one, %d", s, slot)
		}
		if _, ok := w.Slot(old); ok || enemy.Has(id) || enemy.Set(old) || enemy.Unset(old) || enemy.Has(old) {
			t.Fatal("a stale id resolves")
		}
		old = id
	}
	for _, id := range []ID{0, old + 1, 1 << 20, math.MaxUint64} {
		if _, ok := w.Slot(id); ok || w.Despawn(id) {
			t.Fatalf("%v resolves and was never issued", id)
		}
	}
	for _, s := range []Slot{1, 3, 4, math.MaxUint32} {
		if id, ok := w.ID(s); ok || id != 0 {
			t.Fatalf("slot %d holds %v", s, id)
		}
	}
}

func TestPagesAreBounded(t *testing.T) {
	w := newWorld(t, 1000)
	first := spawn(t, w)
	ring := make([]ID, 900)
	for i := range 300_000 {
		w.Despawn(ring[i%len(ring)])
		ring[i%len(ring)] = spawn(t, w)
		if w.table.pages > 4 {
			t.Fatalf("%d pages for 901 entities", w.table.pages)
		}
	}
	if s, ok := w.Slot(first); !ok || s != 0 {
		t.Fatal("the oldest entity is lost")
	}
	if n := len(w.table.dir); n > 16 {
		t.Fatalf("directory of %d", n)
	}
}

// TestChurn: ten million entities are spawned and despawned, most soon, some late, and a
// stale id never resolves. The id table stays as small as documented.
func TestChurn(t *testing.T) {
	churns := 10_000_000
	if testing.Short() || paritytest.Instrumented {
		churns /= 20
	}
	w := newWorld(t, DefaultCapacity)
	ring := make([]ID, DefaultCapacity)
	w.SpawnN(ring)
	old := slices.Clone(ring[:1000])
	var most int
	heap := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	before := heap()
	for n := 0; n < churns; n++ {
		i := n % len(ring)
		if n%7 == 0 {
			i = n / 7 * 31 % len(ring) // some live longer than others
		}
		id := ring[i]
		if !w.Despawn(id) {
			t.Fatalf("%v is lost", id)
		}
		ring[i], _ = w.Spawn()
		if _, ok := w.Slot(id); ok {
			t.Fatalf("%v is stale and resolves", id)
		}
		if n%50_000 == 0 {
			most = max(most, w.Describe().TableBytes)
		}
		if n%(churns/50) == 0 {
			old = append(old, id)
		}
	}
	if grown := heap() - before; grown > 1<<19 {
		t.Errorf("the heap has grown by %d bytes", grown)
	}
	// Twice the pages that the entities fill, spare ones, and the directory.
	if bound := pageAlloc*(2*DefaultCapacity/pageIDs+sparePages) + 8*128; most > bound {
		t.Errorf("%d bytes of id table, want %d at most", most, bound)
	}
	t.Logf("%d bytes of id table at most", most)
	for _, id := range old {
		if slot, ok := w.Slot(id); ok && w.ids[slot] != id {
			t.Fatalf("%v resolves to the slot of %v", id, w.ids[slot])
		}
	}
	for _, id := range ring {
		if slot, ok := w.Slot(id); !ok || w.ids[slot] != id {
			t.Fatalf("%v is lost", id)
		}
	}
	if w.Len() != len(ring) || w.HighWater() != len(ring) {
		t.Errorf("%d entities below %d", w.Len(), w.HighWater())
	}
}

// TestSparsePages: one survivor in each page, or in every 32nd so that their
// numbers collide in the directory, deleted in an order that exercises it.
func TestSparsePages(t *testing.T) {
	for _, stride := range []int{1, 32} {
		w := newWorld(t, 2000)
		var survivors []ID
		for n := range 700 {
			ids := make([]ID, pageIDs)
			if err := w.SpawnN(ids); err != nil {
				t.Fatal(err)
			}
			keep := ids[n]
			for _, id := range ids {
				if id != keep || n%stride != 0 {
					w.Despawn(id)
				}
			}
			if n%stride == 0 {
				survivors = append(survivors, keep)
			}
		}
		if !slices.Equal(slices.Collect(w.IDs()), survivors) {
			t.Fatal("IDs are not the survivors in order")
		}
		for len(survivors) > 0 {
			i := len(survivors) * 5 / 8
			w.Despawn(survivors[i])
			survivors = slices.Delete(survivors, i, i+1)
			for _, id := range survivors {
				if _, ok := w.Slot(id); !ok {
					t.Fatalf("%v is lost", id)
				}
			}
			if w.table.pages > len(survivors)+1 {
				t.Fatalf("%d pages for %d entities", w.table.pages, len(survivors))
			}
		}
	}
}

func TestResetOnReuse(t *testing.T) {
	w := newWorld(t, 70)
	hp := addColumn[int16](t, w, "hp")
	heat := addColumn[float64](t, w, "heat")
	flags := addColumn[uint8](t, w, "flags")
	scribble := func() {
		for i := range w.Cap() {
			for _, c := range [][]float32{w.Position.X, w.Position.Y, w.Position.Z, w.Rotation.X, w.Rotation.Y,
				w.Rotation.Z, w.Rotation.W, w.Scale.X, w.Scale.Y, w.Scale.Z} {
				c[i] = 7
			}
			hp[i], heat[i], flags[i] = 7, 7, 7
		}
	}
	check := func(i Slot) {
		t.Helper()
		got := [...]float32{w.Position.X[i], w.Position.Y[i], w.Position.Z[i], w.Rotation.X[i], w.Rotation.Y[i],
			w.Rotation.Z[i], w.Rotation.W[i], w.Scale.X[i], w.Scale.Y[i], w.Scale.Z[i]}
		if got != [...]float32{0, 0, 0, 0, 0, 0, 1, 1, 1, 1} || hp[i] != 0 || heat[i] != 0 || flags[i] != 0 {
			t.Fatalf("slot %d is not reset: %v %v %v %v", i, got, hp[i], heat[i], flags[i])
		}
	}
	scribble() // the rows not used yet
	ids := make([]ID, 70)
	if err := w.SpawnN(ids); err != nil {
		t.Fatal(err)
	}
	scribble()
	w.Despawn(ids[5])
	scribble() // the free row too
	if s, _ := w.Slot(spawn(t, w)); s != 5 {
		t.Fatalf("slot %d", s)
	}
	check(5)
}

func TestVersion(t *testing.T) {
	w := newWorld(t, 100)
	want := uint64(0)
	step := func(n uint64) {
		t.Helper()
		if want += n; w.Version() != want {
			t.Fatalf("version %d, want %d", w.Version(), want)
		}
	}
	step(0)
	id := spawn(t, w)
	step(1)
	ids := make([]ID, 30)
	w.SpawnN(ids)
	step(30)
	w.Despawn(id)
	step(1)
	w.Despawn(id)
	step(0)
	tag(t, w, "a").Set(ids[0])
	step(0)
}

func TestLiveSlots(t *testing.T) {
	w := newWorld(t, 100)
	ids := make([]ID, 100)
	w.SpawnN(ids)
	for _, id := range ids[10:90] {
		w.Despawn(id)
	}
	got := w.LiveSlots([]Slot{42})
	if len(got) != 20 || got[0] != 0 || got[9] != 9 || got[10] != 90 || !slices.IsSorted(got) {
		t.Fatalf("live slots %v", got)
	}
}

func TestCheckedWrites(t *testing.T) {
	w := newWorld(t, 3)
	spawn(t, w)
	id := spawn(t, w)
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	if err := errors.Join(w.SetPosition(id, 1, 2, 3), w.SetRotation(id, 0, 1, 0, 0), w.SetScale(id, -1, 0, 5)); err != nil {
		t.Fatal(err)
	}
	if w.Position.Z[1] != 3 || w.Rotation.Y[1] != 1 || w.Rotation.W[1] != 0 || w.Scale.X[1] != -1 {
		t.Fatal("a write went elsewhere")
	}
	before := w.Hash()
	wantError(t, w.SetPosition(id, 9, nan, 9), ErrNotFinite, "Position.Y = NaN")
	wantError(t, w.SetRotation(id, 9, 9, 9, inf), ErrNotFinite, "Rotation.W = -Inf")
	wantError(t, w.SetScale(id, inf, 9, 9), ErrNotFinite, "Scale.X = -Inf")
	wantError(t, w.SetPosition(99, 9, 9, 9), ErrStale, "ent_99")
	wantError(t, w.SetRotation(99, 9, 9, 9, 9), ErrStale, "ent_99")
	if w.Hash() != before {
		t.Fatal("a refused write changed something")
	}
}

func TestColumnErrors(t *testing.T) {
	w := newWorld(t, 3)
	if c, err := AddColumn[int32](w, "hp"); err != nil || c.Name() != "hp" {
		t.Fatal(err)
	}
	for _, name := range []string{"", "hp", "position.x", "identity", "\xff", strings.Repeat("x", 256)} {
		before := w.Hash()
		_, err := AddColumn[float32](w, name)
		wantError(t, err, ErrRange, "AddColumn name")
		if w.Hash() != before {
			t.Fatal("a refused column was added")
		}
	}
	for i := len(w.columns); i < maxColumns; i++ {
		addColumn[int8](t, w, "c"+ID(i).String())
	}
	_, err := AddColumn[float32](w, "more")
	wantError(t, err, ErrCapacity)
}

// A column that fits no snapshot is refused, not truncated.
func TestLongColumns(t *testing.T) {
	small, large := newWorld(t, 1), newWorld(t, 1<<20)
	_, err := AddArrayColumn[[1024]float64](large, "long")
	wantError(t, err, ErrCapacity, "AddArrayColumn bytes = 8589934592")
	if _, err := AddArrayColumn[[1024]float64](small, "long"); err != nil {
		t.Fatal(err)
	}
	before := large.Hash()
	wantError(t, large.Restore(small.Snapshot(nil)), ErrCapacity, "rows of column long")
	wantError(t, large.CopyFrom(small), ErrCapacity, "rows of column long")
	if large.Hash() != before || large.Generation() != 0 {
		t.Error("a world with a refused column has changed")
	}
}

func TestKinds(t *testing.T) {
	type hp int32
	type lux float64
	for _, c := range []struct {
		row   any
		want  Kind
		count int
	}{
		{int8(0), KindInt8, 1}, {int16(0), KindInt16, 1}, {hp(0), KindInt32, 1}, {int64(0), KindInt64, 1},
		{uint8(0), KindUint8, 1}, {uint16(0), KindUint16, 1}, {uint32(0), KindUint32, 1}, {uint64(0), KindUint64, 1},
		{float32(0), KindFloat32, 1}, {lux(0), KindFloat64, 1},
		{[1]int8{}, KindInt8, 1}, {[4]float32{}, KindFloat32, 4}, {[3]hp{}, KindInt32, 3}, {[1024]lux{}, KindFloat64, 1024},
		{0, 0, 0}, {uint(0), 0, 0}, {"", 0, 0}, {true, 0, 0}, {complex64(0), 0, 0}, {new(int8), 0, 0}, {[]int8{}, 0, 0},
		{[0]int8{}, 0, 0}, {[1025]int8{}, 0, 0}, {[2][2]int8{}, 0, 0}, {[2]*int8{}, 0, 0}, {struct{ x int8 }{}, 0, 0},
	} {
		got, count := kindOf(reflect.TypeOf(c.row))
		if got != c.want || got != 0 && count != c.count {
			t.Errorf("%T: %d of kind %v, want %d of %v", c.row, count, got, c.count, c.want)
		}
	}
}

func TestArrayColumn(t *testing.T) {
	w := newWorld(t, 70)
	_, err := AddArrayColumn[[2]string](w, "names")
	wantError(t, err, ErrUnsupported, "AddArrayColumn type = [2]string")
	_, err = AddArrayColumn[float32](w, "one")
	wantError(t, err, ErrUnsupported, "AddArrayColumn type = float32")
	c, err := AddArrayColumn[[4]float32](w, "colour")
	if err != nil || len(c.Values()) != 70 || c.Name() != "colour" {
		t.Fatal(err)
	}
	_, err = AddArrayColumn[[4]float32](w, "colour")
	wantError(t, err, ErrRange, "already used")
	ids := make([]ID, 70)
	w.SpawnN(ids)
	for i := range c.Values() {
		c.Values()[i] = [4]float32{float32(i), 1, 2, 3}
	}
	w.DespawnN(ids[5:9])
	spawn(t, w)
	w.SpawnN(ids[:2])
	for _, s := range []Slot{5, 6, 7} {
		if c.Values()[s] != [4]float32{} {
			t.Errorf("row %d was not reset: %v", s, c.Values()[s])
		}
	}
	if c.Values()[4] != [4]float32{4, 1, 2, 3} || c.Values()[8] != [4]float32{8, 1, 2, 3} {
		t.Error("a row beside was reset")
	}
	c.Values()[8][3] = float32(math.NaN())
	if name, _, found := w.FirstNaN(); found {
		t.Errorf("NaN of a dead entity found in %s", name)
	}
	c.Values()[7][3] = float32(math.NaN())
	if name, id, _ := w.FirstNaN(); name != "colour" || id != 73 {
		t.Errorf("NaN in %s of %v", name, id)
	}
}

func TestVersions(t *testing.T) {
	w := newWorld(t, 10)
	hp, err := AddColumn[int32](w, "hp")
	if err != nil {
		t.Fatal(err)
	}
	id := spawn(t, w)
	if w.LastTouch() != 0 || hp.Version() != 0 || w.Position.Version() != 0 {
		t.Fatal("touched from the start")
	}
	hp.Touch()
	w.SetRotation(id, 0, 0, 1, 0)
	seen := w.LastTouch()
	if seen != 2 || hp.Version() != 1 || w.Rotation.Version() != 2 {
		t.Fatal(seen, hp.Version(), w.Rotation.Version())
	}
	w.SetPosition(id+1, 0, 0, 0)
	w.SetPosition(id, float32(math.NaN()), 0, 0)
	w.Spawn()
	w.Despawn(id)
	if w.LastTouch() != seen {
		t.Fatal("a refused write touched, or entities that come and go")
	}
	w.Position.Touch()
	w.Scale.Touch()
	if w.Position.Version() <= seen || w.Scale.Version() != w.LastTouch() || hp.Version() > seen {
		t.Fatal(w.Position.Version(), w.Scale.Version(), hp.Version())
	}
	wantPanic(t, "ecs: Touch or Version of columns that belong to no World", Vec3{}.Touch)
	wantPanic(t, "ecs: Touch or Version of columns that belong to no World", func() { Quat{}.Version() })
}

func TestStagger(t *testing.T) {
	for _, n := range []int{1, 17, 1000, 16384} {
		w := newWorld(t, n)
		for i := len(w.columns); i < 64; i++ {
			name := "c" + ID(i).String()
			switch i % 4 {
			case 0:
				addColumn[uint8](t, w, name)
			case 1:
				addColumn[int16](t, w, name)
			case 2:
				addColumn[float32](t, w, name)
			case 3:
				addColumn[float64](t, w, name)
			}
		}
		seen := map[uintptr]string{}
		for _, c := range w.columns {
			at := uintptr(unsafe.Pointer(unsafe.SliceData(c.mem))) % 4096
			if at%64 != 0 {
				t.Fatalf("%s is not on a cache line", c.name)
			}
			if other, taken := seen[at]; taken {
				t.Fatalf("capacity %d: %s and %s both at offset %d", n, c.name, other, at)
			}
			seen[at] = c.name
		}
	}
}

func TestNoAllocation(t *testing.T) {
	w := newWorld(t, 4096)
	ids := make([]ID, 3000)
	w.SpawnN(ids)
	a, b := tag(t, w, "a"), tag(t, w, "b")
	for i, id := range ids {
		if i%3 == 0 {
			a.Set(id)
		}
	}
	weight := addColumn[float32](t, w, "weight")
	slots, q := w.LiveSlots(nil), w.NewQuery(With(a))
	hashes := w.ColumnHashes()
	snap := w.Snapshot(nil)
	churn := make([]ID, 1000)
	i, sum := 0, 0
	churnOne := func() {
		w.Despawn(ids[i%len(ids)])
		ids[i%len(ids)], _ = w.Spawn()
		i += 7
	}
	for range 10_000 { // until pages of ids become empty as fast as new ones are needed
		churnOne()
	}
	for name, f := range map[string]func(){
		"Spawn, Despawn": churnOne,
		"SpawnN": func() {
			w.SpawnN(churn)
			for _, id := range churn {
				w.Despawn(id)
			}
		},
		"Slot, ID": func() { s, _ := w.Slot(ids[9]); w.ID(s) },
		"Tag":      func() { b.Set(ids[9]); b.Unset(ids[8]); b.Has(ids[9]); b.SetAll(ids[:9]); b.UnsetAll(ids[:9]) },
		"Query": func() {
			for s := range w.Query(With(a), Without(b)) {
				sum += int(s)
			}
			for s := range w.Query() {
				sum += int(s)
			}
		},
		"Runs": func() {
			for lo, hi := range w.Runs(With(a), Without(b)) {
				sum += hi - lo
			}
			for lo, hi := range q.Runs() {
				sum += hi - lo
			}
			for s := range q.All() {
				sum += int(s)
			}
			a.Set(ids[9]) // the next round computes the cache
		},
		"IDs": func() {
			for id := range w.IDs() {
				sum += int(id)
			}
		},
		"Hash":               func() { w.Hash() },
		"Hash, NaN":          func() { weight[5] = float32(math.NaN()); w.Hash(); weight[5] = 0 },
		"AppendColumnHashes": func() { hashes = w.AppendColumnHashes(hashes[:0]) },
		"Fold":               func() { Fold(hashes) },
		"LiveSlots":          func() { slots = w.LiveSlots(slots) },
		"Snapshot":           func() { snap = w.Snapshot(snap[:0]) },
		"SetPosition":        func() { w.SetPosition(ids[3], 1, 2, 3) },
	} {
		if n := testing.AllocsPerRun(50, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// A slot beyond the world resolves to nothing, also where int has 32 bits and a large slot becomes a negative one.
func TestSlotBeyondTheWorld(t *testing.T) {
	w := newWorld(t, 64)
	spawn(t, w)
	b := NewBinding(w, func(ID, int) {})
	if err := b.Bind(1, 5); err != nil {
		t.Fatal(err)
	}
	for _, slot := range []Slot{64, 1 << 30, 1 << 31, math.MaxUint32} {
		if id, ok := w.ID(slot); ok {
			t.Errorf("slot %d resolves to %v", slot, id)
		}
		if _, ok := b.At(slot); ok || w.Valid(Handle{slot, 1}) || w.JumpAt(slot) {
			t.Errorf("slot %d has an entity", slot)
		}
	}
}
