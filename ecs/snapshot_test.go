package ecs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/frame/frametest"
)

// sample is a small world with entities, tags and all kinds of columns.
func sample(t testing.TB) *World {
	w := newWorld(t, 8)
	hp, heat, level := addColumn[int32](t, w, "hp"), addColumn[float64](t, w, "heat"), addColumn[uint8](t, w, "level")
	ids := make([]ID, 5)
	w.SpawnN(ids)
	w.Despawn(2)
	tag(t, w, "empty")
	tag(t, w, "ally").SetAll([]ID{1, 3})
	for i := range 5 {
		w.Position.X[i] = float32(i)
		hp[i], heat[i], level[i] = int32(-i), float64(i)/3, uint8(i)
	}
	w.Position.Y[3] = float32(math.Copysign(0, -1))
	w.Position.Z[3] = math.Float32frombits(0xffc12345)
	heat[3] = math.Float64frombits(0x7ff800000badf00d)
	return w
}

// twin is an empty world with the columns of sample, in another order.
func twin(t testing.TB, capacity int) *World {
	w := newWorld(t, capacity)
	addColumn[uint8](t, w, "level")
	addColumn[float64](t, w, "heat")
	addColumn[int32](t, w, "hp")
	return w
}

func TestSnapshotRoundTrip(t *testing.T) {
	w := sample(t)
	snap := w.Snapshot([]byte("head"))
	if string(snap[:4]) != "head" {
		t.Fatal("Snapshot does not append")
	}
	snap = snap[4:]
	for _, capacity := range []int{5, 8, 1000} {
		c := twin(t, capacity)
		for range 5 {
			spawn(t, c)
		}
		stale := tag(t, c, "stale")
		stale.Set(1)
		if err := c.Restore(snap); err != nil {
			t.Fatal(err)
		}
		if c.Hash() != w.Hash() || c.Version() != w.Version() || c.HighWater() != 5 || c.Generation() != 1 {
			t.Fatalf("capacity %d: the restored world differs", capacity)
		}
		if stale.Count() != 0 || !tag(t, c, "ally").Has(3) {
			t.Fatal("tags differ")
		}
		for i := range w.columns {
			name := w.columns[i].name
			j, _ := search(c.byName, name)
			if !bytes.Equal(w.columns[i].rows(0, 5), c.byName[j].rows(0, 5)) {
				t.Fatalf("%s differs in its bits", name)
			}
		}
		if id := spawn(t, c); id != 6 || c.ids[1] != 6 {
			t.Fatalf("the next entity is %v", id)
		}
	}
}

func TestRestoreDefaults(t *testing.T) {
	w := newWorld(t, 10)
	w.SpawnN(make([]ID, 3))
	snap := w.Snapshot(nil)
	c := newWorld(t, 10)
	hp := addColumn[int32](t, c, "hp")
	c.SpawnN(make([]ID, 9))
	for i := range hp {
		hp[i], c.Scale.X[i] = 7, 7
	}
	if err := c.Restore(snap); err != nil {
		t.Fatal(err)
	}
	if slices.Max(hp[:9]) != 0 || c.Scale.X[8] != 1 || c.HighWater() != 3 {
		t.Fatal("what the snapshot lacks is not reset")
	}
}

func TestRestoreEveryTruncationAndBitFlip(t *testing.T) {
	good := sample(t).Snapshot(nil)
	w := twin(t, 8)
	w.SpawnN(make([]ID, 4))
	tag(t, w, "ally").Set(2)
	before := w.Snapshot(nil)
	refuse := func(what string, at int, data []byte) {
		t.Helper()
		err := w.Restore(data)
		if err == nil {
			t.Fatalf("%s %d was accepted", what, at)
		}
		wantError(t, err, errOf(err))
	}
	for n := range good {
		refuse("length", n, good[:n])
	}
	refuse("length", len(good)+1, append(slices.Clone(good), 0))
	for bit := range 8 * len(good) {
		bad := slices.Clone(good)
		bad[bit/8] ^= 1 << (bit % 8)
		refuse("flip of bit", bit, bad)
	}
	if !bytes.Equal(w.Snapshot(nil), before) || w.Generation() != 0 {
		t.Fatal("a refused snapshot changed the world")
	}
	if err := w.Restore(good); err != nil {
		t.Fatal(err)
	}
}

// errOf returns the sentinel that a failed Restore may wrap, or ErrCorrupt.
func errOf(err error) error {
	for _, s := range []error{ErrUnsupported, ErrCapacity} {
		if errors.Is(err, s) {
			return s
		}
	}
	return ErrCorrupt
}

func TestRestoreErrors(t *testing.T) {
	good := sample(t).Snapshot(nil)
	wrong := newWorld(t, 8)
	addColumn[uint32](t, wrong, "hp")
	wantError(t, wrong.Restore(good), ErrUnsupported, "hp", "int32")
	array := newWorld(t, 8)
	AddArrayColumn[[2]int32](array, "hp")
	wantError(t, array.Restore(good), ErrUnsupported, "hp", "int32")
	one := newWorld(t, 8)
	AddArrayColumn[[1]int32](one, "hp")
	if err := one.Restore(good); err != nil {
		t.Error(err)
	}
	if one.columns[0].pending != nil || wrong.columns[0].pending != nil {
		t.Error("a column still refers to a snapshot")
	}
	wantError(t, twin(t, 4).Restore(good), ErrCapacity, "rows = 5")
	for _, version := range []byte{0, 1, blobsVersion + 1, 255} {
		other := slices.Clone(good)
		other[len(snapshotMagic)] = version
		wantError(t, twin(t, 8).Restore(other), ErrUnsupported, "version = ")
	}
	wantError(t, twin(t, 8).Restore(nil), ErrCorrupt, "length = 0")
	wantError(t, twin(t, 8).Restore([]byte("something else")), ErrCorrupt, "magic")

	many := twin(t, 8)
	for i := range MaxTags - 1 {
		tag(t, many, ID(i).String())
	}
	wantError(t, many.Restore(good), ErrCapacity, "tags = 257")
}

// TestRestoreForged: contents with valid checksums may still be invalid.
func TestRestoreForged(t *testing.T) {
	touched := sample(t)
	for range 3 {
		touched.Position.Touch()
	}
	good := touched.Snapshot(nil)
	if !bytes.Equal(frametest.Forge(snapshotMagic, snapshotVersion, frametest.Split(good)), good) {
		t.Fatal("forge is not the inverse of frames")
	}
	const header, ids, firstColumn, ally = 0, 1, 2, 16
	u32 := func(frame, at int, v uint32) func([][]byte) {
		return func(f [][]byte) { binary.LittleEndian.PutUint32(f[frame][at:], v) }
	}
	u64 := func(frame, at int, v uint64) func([][]byte) {
		return func(f [][]byte) { binary.LittleEndian.PutUint64(f[frame][at:], v) }
	}
	cut := func(frame int) func([][]byte) {
		return func(f [][]byte) { f[frame] = f[frame][:len(f[frame])-1] }
	}
	for name, change := range map[string]func([][]byte){
		"capacity 0":          u32(header, 0, 0),
		"capacity huge":       u32(header, 0, math.MaxUint32),
		"capacity below rows": u32(header, 0, 4),
		"rows huge":           u32(header, 4, 1<<24),
		"rows fewer":          u32(header, 4, 4),
		"live fewer":          u32(header, 8, 3),
		"live above rows":     u32(header, 8, 6),
		"columns huge":        u32(header, 12, math.MaxUint32),
		"columns fewer":       u32(header, 12, 1),
		"columns more":        u32(header, 12, 15),
		"tags huge":           u32(header, 16, 257),
		"next too low":        u64(header, 20, 5),
		"next too high":       u64(header, 20, math.MaxUint64),
		"touches huge":        u64(header, 28, 1<<62+1),
		"header short":        cut(header),
		"id twice":            u64(ids, 0, 3),
		"id not yet issued":   u64(ids, 0, 6),
		"id huge":             u64(ids, 0, math.MaxUint64),
		"id missing":          u64(ids, 0, 0),
		"id too many":         u64(ids, 8, 2),
		"ids short":           cut(ids),
		"column short":        cut(firstColumn),
		"column empty":        func(f [][]byte) { f[firstColumn] = nil },
		"column nameless":     func(f [][]byte) { f[firstColumn][0] = 0 },
		"column name long":    func(f [][]byte) { f[firstColumn][0] = 255 },
		"column kind unknown": func(f [][]byte) { f[firstColumn][1+len("position.x")] = 200 },
		"column kind 0":       func(f [][]byte) { f[firstColumn][1+len("position.x")] = 0 },
		"column identity":     func(f [][]byte) { f[firstColumn] = append([]byte("\x08identity"), f[firstColumn][11:]...) },
		"column count 0":      func(f [][]byte) { f[firstColumn][2+len("position.x")] = 0 },
		"column count 2":      func(f [][]byte) { f[firstColumn][2+len("position.x")] = 2 },
		"column count 1025":   func(f [][]byte) { copy(f[firstColumn][2+len("position.x"):], []byte{1, 4}) },
		"version too high":    u64(firstColumn, 4+len("position.x"), 4),
		"version of y":        u64(firstColumn+1, 4+len("position.y"), 2),
		"version of z":        u64(firstColumn+2, 4+len("position.z"), 0),
		"column twice":        func(f [][]byte) { f[firstColumn+1] = f[firstColumn] },
		"tag on a free slot":  func(f [][]byte) { f[ally][1+len("ally")] |= 2 },
		"tag beyond the rows": func(f [][]byte) { f[ally][1+len("ally")] |= 32 },
		"tag twice":           func(f [][]byte) { f[ally-1] = f[ally] },
		"tag short":           cut(ally),
		"tag not UTF-8":       func(f [][]byte) { f[ally][1] = 0xff },
	} {
		t.Run(name, func(t *testing.T) {
			f := frametest.Split(good)
			change(f)
			w := twin(t, 8)
			before := w.Hash()
			wantError(t, w.Restore(frametest.Forge(snapshotMagic, snapshotVersion, f)), ErrCorrupt)
			if w.Hash() != before || w.Generation() != 0 || len(w.tags) != 0 {
				t.Fatal("the world has changed")
			}
		})
	}
}

// TestRestoreFarIDs: the ids of a snapshot may be as far apart as possible; the size of
// the table follows their count.
func TestRestoreFarIDs(t *testing.T) {
	f := frametest.Split(sample(t).Snapshot(nil))
	binary.LittleEndian.PutUint64(f[0][20:], maxID)
	binary.LittleEndian.PutUint64(f[1][0:], maxID-1)
	w := twin(t, 8)
	if err := w.Restore(frametest.Forge(snapshotMagic, snapshotVersion, f)); err != nil {
		t.Fatal(err)
	}
	if got := slices.Collect(w.IDs()); !slices.Equal(got, []ID{3, 4, 5, maxID - 1}) || w.table.pages != 2 {
		t.Fatalf("%v in %d pages", got, w.table.pages)
	}
	if id := spawn(t, w); id != maxID {
		t.Fatalf("the next id is %v", uint64(id))
	}
}

// FuzzRestore: refused data changes nothing, accepted data is consistent and
// survives a snapshot, and memory stays in proportion to the data: a page
// of the id table for each id at most.
func FuzzRestore(f *testing.F) {
	good := sample(f).Snapshot(nil)
	f.Add(good)
	f.Add(newWorld(f, 1).Snapshot(nil))
	f.Add(good[:len(good)/2])
	f.Add(append(slices.Clone(good), good...))
	list := frametest.Split(good)
	binary.LittleEndian.PutUint64(list[1], 3)
	f.Add(frametest.Forge(snapshotMagic, snapshotVersion, list))
	large, _, _ := knowing(f, 1<<16)
	large.SpawnN(make([]ID, 90))
	f.Add(large.Snapshot(nil))
	for _, n := range []int{0, 1, 100} {
		f.Add(withBlobs(f, 64, n).Snapshot(nil))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, data := range [][]byte{data, frametest.Reseal(data)} {
			w := twin(t, 64)
			w.SpawnN(make([]ID, 3))
			before := w.Snapshot(nil)
			var err error
			if n, most := allocated(func() { err = w.Restore(data) }), 1<<16+(1<<10)*len(data); n > most {
				t.Fatalf("%d bytes allocated for %d", n, len(data))
			}
			if err != nil {
				wantError(t, err, errOf(err))
				if !bytes.Equal(w.Snapshot(nil), before) {
					t.Fatal("a refused snapshot changed the world")
				}
				continue
			}
			c := twin(t, 64)
			if err := c.Restore(w.Snapshot(nil)); err != nil || c.Hash() != w.Hash() || c.LastTouch() != w.LastTouch() {
				t.Fatalf("what was accepted does not survive a snapshot: %v", err)
			}
			rowBytes := 0
			for _, k := range w.kept {
				rowBytes += k.size()
			}
			if rowBytes < 1<<16 {
				checkConsistent(t, w)
			}
		}
	})
}

// Every refusal of a mutated snapshot is one of the documented errors.
func TestRestoreRefusals(t *testing.T) {
	frames := frametest.Split(sample(t).Snapshot(nil))
	refused := 0
	n := uint64(4000)
	if testing.Short() {
		n = 400
	}
	for seed := range n {
		rng := rand.New(rand.NewPCG(seed, 14))
		if err := twin(t, 64).Restore(frametest.Forge(snapshotMagic, snapshotVersion, frametest.Mutate(rng, frames))); err == nil {
			continue
		} else if refused++; !frametest.Documented(err) {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	if refused < int(n)/4 || refused == int(n) {
		t.Errorf("%d of %d are refused: the test is too weak", refused, n)
	}
}

// allocated returns how many bytes f allocates.
func allocated(f func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

func checkConsistent(t *testing.T, w *World) {
	n := 0
	for s := range w.Query() {
		id, ok := w.ID(s)
		if back, _ := w.Slot(id); !ok || back != s || int(s) >= w.HighWater() {
			t.Fatalf("slot %d holds %v in slot %d", s, id, back)
		}
		n++
	}
	ids := slices.Collect(w.IDs())
	if n != w.Len() || len(ids) != n || !slices.IsSorted(ids) || len(w.LiveSlots(nil)) != n {
		t.Fatalf("%d slots, %d ids, Len %d", n, len(ids), w.Len())
	}
	for _, tag := range w.tags {
		for i, b := range tag.bits {
			if b&^w.live.word(i) != 0 {
				t.Fatalf("tag %s on free slots", tag.name)
			}
		}
	}
	checkBlobs(t, w)
	for w.Len() < w.Cap() {
		spawn(t, w)
	}
}
