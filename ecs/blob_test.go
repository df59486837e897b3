package ecs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/evertick/evertick/internal/frame/frametest"
	"github.com/evertick/evertick/internal/paritytest"
)

func blobs(t testing.TB, w *World, name string) *Blobs {
	t.Helper()
	b, err := w.Blobs(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// setBlob gives a blob to an entity.
func setBlob(t testing.TB, w *World, name string, id ID, data string) *Blobs {
	t.Helper()
	b := blobs(t, w, name)
	if err := b.Set(id, []byte(data)); err != nil {
		t.Fatal(err)
	}
	return b
}

// withBlobs is a world with n entities of which every other has blobs of two names.
func withBlobs(t testing.TB, capacity, n int) *World {
	w := newWorld(t, capacity)
	n = min(n, capacity)
	w.SpawnN(make([]ID, n))
	blobs(t, w, "unused")
	for i := range n {
		if i%2 == 0 {
			setBlob(t, w, "mesh", ID(i+1), fmt.Sprintf("mesh%d.glb", i*i*i))
			setBlob(t, w, "json", ID(i+1), strings.Repeat("{}", i%7))
		}
	}
	return w
}

// checkBlobs checks that the parts of Blobs agree with each other and with the world.
func checkBlobs(t interface {
	Helper()
	Fatalf(string, ...any)
}, w *World) {
	t.Helper()
	for _, b := range w.blobs {
		live, freed := map[Slot]bool{}, 0
		for at := 0; at < len(b.arena); {
			slot, n := Slot(b.arena[at]>>32), recordWords(int(uint32(b.arena[at])))
			if slot == freeRecord {
				freed += n
			} else if p := b.find(slot); live[slot] || p == nil || int(*p) != at || w.ids[slot] == 0 {
				t.Fatalf("blobs %s: slot %d of the record at %d", b.name, slot, at)
			} else {
				live[slot] = true
			}
			at += n
		}
		count, total, sum, last := 0, 0, uint64(0), -1
		for id, data := range b.All() {
			slot, ok := w.Slot(id)
			if !ok || !live[slot] || int(slot) <= last {
				t.Fatalf("blobs %s: %v in slot %d after %d", b.name, id, slot, last)
			}
			last = int(slot)
			count++
			total += len(data)
			sum += blobHash(slot, slices.Clone(data))
		}
		if count != b.count || count != len(live) || total != b.bytes || sum != b.sum || b.used != len(b.arena)-freed {
			t.Fatalf("blobs %s: %d of %d bytes, sum %#x, %d words free; has %+v", b.name, count, total, sum, freed, b)
		}
	}
}

func TestBlobs(t *testing.T) {
	w := newWorld(t, 200)
	ids := make([]ID, 150)
	w.SpawnN(ids)
	mesh := blobs(t, w, "mesh")
	if again := blobs(t, w, "mesh"); again != mesh || mesh.Name() != "mesh" {
		t.Error("another handle for the same name")
	}
	data := []byte("tree.glb")
	for _, i := range []int{140, 0, 63, 64} {
		if err := mesh.Set(ids[i], data); err != nil {
			t.Fatal(err)
		}
	}
	data[0] = 'T' // was copied
	setBlob(t, w, "mesh", ids[0], "a much longer name.glb")
	setBlob(t, w, "mesh", ids[63], "")
	if err := blobs(t, w, "json").Set(ids[0], []byte("{}")); err != nil {
		t.Fatal(err)
	}
	var got []string
	for id, data := range mesh.All() {
		got = append(got, fmt.Sprintf("%v %q", id, data))
	}
	want := []string{`ent_1 "a much longer name.glb"`, `ent_64 ""`, `ent_65 "tree.glb"`, `ent_141 "tree.glb"`}
	if !slices.Equal(got, want) || mesh.Len() != 4 {
		t.Errorf("%q", got)
	}
	if mesh.Version() != 6 || w.LastTouch() != 7 {
		t.Errorf("version %d of %d", mesh.Version(), w.LastTouch())
	}
	if data, ok := mesh.At(140); !ok || string(data) != "tree.glb" || cap(data) != len(data) {
		t.Errorf("At: %q, %v", data, ok)
	}
	for _, slot := range []Slot{1, 149, 199, 200, math.MaxUint32} {
		if _, ok := mesh.At(slot); ok {
			t.Errorf("a blob in slot %d", slot)
		}
	}

	if !mesh.Unset(ids[1]) || mesh.Version() != 6 {
		t.Error("Unset of nothing")
	}
	if !mesh.Unset(ids[64]) || mesh.Version() != 8 || mesh.Len() != 3 {
		t.Error("Unset")
	}
	w.Despawn(ids[0])
	w.DespawnN(ids[60:70])
	if mesh.Len() != 1 || blobs(t, w, "json").Len() != 0 || mesh.Version() != 8 {
		t.Error("a blob outlives its entity")
	}
	if _, ok := mesh.Get(ids[0]); ok {
		t.Error("a blob of a stale id")
	}
	id := spawn(t, w)
	if _, ok := mesh.Get(id); ok || w.ids[0] != id {
		t.Error("the next entity has the blob of the last one")
	}
	for range mesh.All() {
		mesh.Unset(ids[140])
	}
	if mesh.Len() != 0 || mesh.sum != 0 {
		t.Error("blobs are left")
	}
	checkBlobs(t, w)
}

func TestBlobErrors(t *testing.T) {
	w := newWorld(t, 2)
	id := spawn(t, w)
	mesh := setBlob(t, w, "mesh", id, "tree.glb")
	before, version := w.Hash(), w.LastTouch()
	for _, name := range []string{"", strings.Repeat("x", 256), "\xff"} {
		_, err := w.Blobs(name)
		wantError(t, err, ErrRange, "ecs: Blobs name")
	}
	wantError(t, mesh.Set(7, nil), ErrStale, "ecs: Blobs.Set id = ent_7")
	if mesh.Unset(7) {
		t.Error("Unset of a stale id")
	}
	large := make([]byte, maxBlob+1)
	wantError(t, mesh.Set(id, large), ErrCapacity, "ecs: Blobs.Set len(data) = 16777217")
	c := w.NewCommands()
	wantError(t, c.SetBlob(mesh, id, large), ErrCapacity, "ecs: Commands.SetBlob len(data) = 16777217")

	// No test has a gigabyte for the other limit.
	mesh.bytes += maxBlobBytes - 10
	wantError(t, mesh.Set(id, make([]byte, 11)), ErrCapacity, "ecs: Blobs.Set bytes of mesh = 1073741825")
	if err := mesh.Set(id, make([]byte, 10)); err != nil {
		t.Error(err)
	}
	if err := c.SetBlob(mesh, id, []byte("x")); err != nil {
		t.Fatal(err)
	}
	_, err := w.Apply(c)
	wantError(t, err, ErrCapacity, "ecs: Apply bytes of blobs mesh = 1073741825")
	mesh.bytes -= maxBlobBytes - 10
	if c.Len() != 1 {
		t.Error("a refused list is lost")
	}
	c.Reset()
	setBlob(t, w, "mesh", id, "tree.glb")
	if w.Hash() != before || w.LastTouch() != version+2 {
		t.Error("a refused change did something")
	}

	for i := range MaxBlobs - 1 {
		blobs(t, w, ID(i).String())
	}
	_, err = w.Blobs("more")
	wantError(t, err, ErrCapacity, "ecs: Blobs names = 256")
	blobs(t, w, "mesh")
	other := withBlobs(t, 2, 1)
	wantError(t, w.Restore(other.Snapshot(nil)), ErrCapacity, "ecs: snapshot: names of blobs = 257")
	wantError(t, w.CopyFrom(other), ErrCapacity, "ecs: CopyFrom: names of blobs = 257")
	if w.Hash() != before {
		t.Error("a refused state did something")
	}
	wantPanic(t, "ecs: use of nil Blobs: Register or Blobs has returned an error, or was not called", func() { (*Blobs)(nil).Get(id) })
	message := "ecs: Commands with Blobs of another world"
	wantPanic(t, message, func() { c.SetBlob(nil, id, nil) })
	wantPanic(t, message, func() { c.UnsetBlob(blobs(t, other, "mesh"), id) })
}

// TestBlobsReadFromBlobs: data may be a blob, or a part of one, also when blobs have to move.
func TestBlobsReadFromBlobs(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	w := newWorld(t, 20)
	ids := make([]ID, 20)
	w.SpawnN(ids)
	b := blobs(t, w, "mesh")
	want := map[ID]string{}
	moved := 0
	for i := range 5000 {
		from, to := ids[rng.IntN(20)], ids[rng.IntN(20)]
		data, ok := b.Get(from)
		if !ok || i%7 == 0 {
			data = bytes.Repeat([]byte{byte(i)}, rng.IntN(60))
		} else {
			at := rng.IntN(len(data) + 1)
			data = data[at : at+rng.IntN(len(data)-at+1)]
		}
		want[to] = string(data)
		before := cap(b.arena) - len(b.arena)
		if err := b.Set(to, data); err != nil {
			t.Fatal(err)
		}
		if cap(b.arena)-len(b.arena) > before {
			moved++
		}
		for id, text := range want {
			if got, ok := b.Get(id); !ok || string(got) != text {
				t.Fatalf("change %d: %v has %q, want %q", i, id, got, text)
			}
		}
		checkBlobs(t, w)
	}
	if moved < 10 {
		t.Errorf("blobs moved %d times: the test is too weak", moved)
	}
}

// TestBlobHash: the hash is a function of the blobs, whatever happened before, and the same
// number on every machine.
func TestBlobHash(t *testing.T) {
	a, b := newWorld(t, 50), newWorld(t, 90)
	for _, w := range []*World{a, b} {
		w.SpawnN(make([]ID, 40))
	}
	empty := a.Hash()
	blobs(t, a, "zebra")
	for i := range 40 {
		setBlob(t, a, "mesh", ID(i+1), strings.Repeat("x", i*i)) // up to 1521 bytes
		setBlob(t, a, "json", ID(i+1), "{}")
	}
	for i := range 40 {
		setBlob(t, b, "json", ID(40-i), "soon other")
		setBlob(t, b, "mesh", ID(40-i), "soon longer")
	}
	for i := range 40 {
		setBlob(t, b, "mesh", ID(i+1), strings.Repeat("x", i*i))
		setBlob(t, b, "json", ID(i+1), "{}")
	}
	hashes := a.ColumnHashes()
	if d, found := Diff(a, b); found || a.Hash() != b.Hash() || !slices.Equal(hashes, b.ColumnHashes()) {
		t.Fatal("the history counts", d)
	}
	last := hashes[len(hashes)-2:]
	if last[0].Name != "blob.json" || last[1].Name != "blob.mesh" || Fold(hashes) != a.Hash() {
		t.Fatalf("%+v", last)
	}
	if last[0].Hash != 0x2c850d4cf1b282e1 || last[1].Hash != 0x89319a44b0c64c1b {
		t.Errorf("hashes %#x and %#x", last[0].Hash, last[1].Hash)
	}
	one, _ := blobs(t, a, "json").Get(1)
	setBlob(t, a, "json", 2, "[]")
	if a.Hash() == b.Hash() || string(one) != "{}" {
		t.Error("a change of a blob does not count")
	}
	setBlob(t, a, "json", 2, "{}")
	blobs(t, a, "json").Unset(2)
	setBlob(t, b, "json", 2, "")
	if a.Hash() == b.Hash() {
		t.Error("a blob of no bytes is no blob")
	}
	a.DespawnWhere()
	for i := range 40 {
		blobs(t, b, "mesh").Unset(ID(i + 1))
		blobs(t, b, "json").Unset(ID(i + 1))
	}
	if b.Hash() != empty {
		t.Error("names without blobs count")
	}
}

func TestBlobSnapshot(t *testing.T) {
	w := withBlobs(t, 100, 80)
	c := newWorld(t, 80)
	setBlobs := blobs(t, c, "json")
	id := spawn(t, c)
	setBlob(t, c, "lost", id, "what the snapshot lacks")
	setBlob(t, c, "mesh", id, "what the snapshot replaces")
	restored(t, c, w)
	if d, found := Diff(c, w); found || c.Hash() != w.Hash() || c.LastTouch() != w.LastTouch() {
		t.Fatal(d)
	}
	if blobs(t, c, "lost").Len() != 0 || blobs(t, c, "lost").Version() != 0 || setBlobs.Len() != 40 || setBlobs.Version() != w.blobs[2].Version() {
		t.Error("not the state of the snapshot")
	}
	checkBlobs(t, c)
	clone := c.Clone()
	if blobs(t, clone, "lost") != clone.blobs[1] || len(clone.blobs) != len(c.blobs) || clone.Hash() != w.Hash() {
		t.Error("the clone differs")
	}
	setBlob(t, clone, "mesh", 1, "its own")
	if data, _ := blobs(t, c, "mesh").Get(1); string(data) != "mesh0.glb" {
		t.Error("a clone shares its blobs")
	}
	checkBlobs(t, clone)

	// A world that never set a blob has the snapshot that it had before there were blobs.
	plain, named := sample(t), sample(t)
	blobs(t, named, "mesh")
	if snap := named.Snapshot(nil); !bytes.Equal(plain.Snapshot(nil), snap) || snap[len(snapshotMagic)] != snapshotVersion {
		t.Error("names of blobs are in the snapshot")
	}
	setBlob(t, named, "mesh", 1, "x")
	if frames := frametest.Split(named.Snapshot(nil)); len(frames[0]) != headerBytes+4 || named.Snapshot(nil)[len(snapshotMagic)] != blobsVersion {
		t.Error("no new version for blobs")
	}
}

// TestBlobsKept: blobs of a name that the program does not use are kept, as state.
func TestBlobsKept(t *testing.T) {
	w := withBlobs(t, 100, 80)
	c := restored(t, newWorld(t, 100), w)
	second := restored(t, newWorld(t, 100), c)
	second.Despawn(1)
	w.Despawn(1)
	if d, found := Diff(second, w); found {
		t.Fatal(d)
	}
	mesh := blobs(t, second, "mesh")
	if data, ok := mesh.Get(3); !ok || string(data) != "mesh8.glb" || mesh.Version() != w.blobs[1].Version() {
		t.Errorf("%q, %v", data, ok)
	}
	if !bytes.Equal(second.Snapshot(nil), w.Snapshot(nil)) {
		t.Error("another snapshot of the same state")
	}
}

func TestBlobRestoreForged(t *testing.T) {
	good := withBlobs(t, 8, 5).Snapshot(nil)
	const header, json, mesh = 0, 12, 13
	u32 := func(frame, at int, v uint32) func([][]byte) {
		return func(f [][]byte) { binary.LittleEndian.PutUint32(f[frame][at:], v) }
	}
	const first = 1 + 4 + 8 // of the records
	for name, change := range map[string]func([][]byte){
		"names huge":         u32(header, headerBytes, math.MaxUint32),
		"names fewer":        u32(header, headerBytes, 1),
		"names more":         u32(header, headerBytes, 3),
		"header short":       func(f [][]byte) { f[header] = f[header][:headerBytes] },
		"name empty":         func(f [][]byte) { f[json][0] = 0 },
		"name long":          func(f [][]byte) { f[json][0] = 255 },
		"name not UTF-8":     func(f [][]byte) { f[json][1] = 0xff },
		"nothing":            func(f [][]byte) { f[json] = nil },
		"name twice":         func(f [][]byte) { f[json] = f[mesh] },
		"version too high":   u32(json, 1+4, 7),
		"slot beyond":        u32(mesh, first, 5),
		"slot huge":          u32(mesh, first, math.MaxUint32),
		"slot free":          func(f [][]byte) { clear(f[1][:8]); f[header][8]-- },
		"slot twice":         u32(json, first+8, 0),
		"length short":       u32(mesh, first+4, 8),
		"length long":        u32(mesh, first+4, 10),
		"length huge":        u32(mesh, first+4, math.MaxUint32),
		"length of too much": u32(mesh, first+4, maxBlob+1),
		"end missing":        func(f [][]byte) { f[mesh] = f[mesh][:len(f[mesh])-1] },
		"header missing":     func(f [][]byte) { f[mesh] = append(f[mesh], 0, 0, 0) },
	} {
		f := frametest.Split(good)
		change(f)
		w := withBlobs(t, 8, 3)
		before := w.Hash()
		err := w.Restore(frametest.Forge(snapshotMagic, blobsVersion, f))
		if !errors.Is(err, ErrCorrupt) || w.Hash() != before || len(w.blobs) != 3 {
			t.Errorf("%s: %v", name, err)
		}
	}
	wantError(t, newWorld(t, 8).Restore(frametest.Forge(snapshotMagic, snapshotVersion, frametest.Split(good))), ErrCorrupt, "length of the header")

	refused, rng := 0, rand.New(rand.NewPCG(3, 4))
	frames := frametest.Split(withBlobs(t, 64, 60).Snapshot(nil))
	for range 500 {
		w := withBlobs(t, 64, 3)
		if err := w.Restore(frametest.Forge(snapshotMagic, blobsVersion, frametest.Mutate(rng, frames))); err != nil {
			refused++
			if !frametest.Documented(err) {
				t.Fatal(err)
			}
		}
		checkBlobs(t, w)
	}
	if refused < 100 || refused == 500 {
		t.Errorf("%d of 500 are refused: the test is too weak", refused)
	}
}

// TestBlobMemory: a blob takes at most 40 bytes more than its own, in memory and in a snapshot.
func TestBlobMemory(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("not run: instrumented code takes other memory")
	}
	heap := func() int {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	for _, c := range []struct{ capacity, every, low, high, changes int }{
		{DefaultCapacity, 1, 32, 32, 0},
		{DefaultCapacity, 1, 0, 60, 0},
		{DefaultCapacity, 1, 0, 60, 100_000},
		{DefaultCapacity, 16, 8, 40, 0}, // 1,024 entities of 16,384
		{DefaultCapacity, 16, 8, 40, 20_000},
		{1 << 17, 1, 1, 9, 0},
		{1 << 17, 1, 100, 150, 0},
	} {
		w := newWorld(t, c.capacity)
		w.SpawnN(make([]ID, c.capacity))
		plain := len(w.Snapshot(nil))
		rng := rand.New(rand.NewPCG(5, 6))
		text := bytes.Repeat([]byte("x"), c.high)
		before := heap()
		b := blobs(t, w, "mesh")
		for i := 0; i < c.capacity; i += c.every {
			b.Set(ID(i+1), text[:c.low+rng.IntN(c.high-c.low+1)])
		}
		for range c.changes {
			b.Set(ID(c.every*rng.IntN(c.capacity/c.every)+1), text[:c.low+rng.IntN(c.high-c.low+1)])
		}
		more := float64(heap()-before-b.bytes) / float64(b.count)
		saved := float64(len(w.Snapshot(nil))-plain-b.bytes) / float64(b.count)
		said := float64(b.memory()-b.bytes) / float64(b.count)
		t.Logf("%+v: %.1f bytes each besides %.1f of their own, in a snapshot %.2f", c, more, float64(b.bytes)/float64(b.count), saved)
		if more > 40 || saved > 40 || math.Abs(said-more) > 5 {
			t.Errorf("%+v: %.1f bytes each besides their own, said to be %.1f, in a snapshot %.1f", c, more, said, saved)
		}
		checkBlobs(t, w)
	}
}

func TestBlobsAllocateNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("not run: instrumented code allocates")
	}
	w := newWorld(t, 3000)
	ids := make([]ID, 3000)
	w.SpawnN(ids)
	b, c := blobs(t, w, "mesh"), w.NewCommands()
	text := bytes.Repeat([]byte("x"), 100)
	i := 0
	one := func() {
		id := ids[i*7%len(ids)]
		switch i++; i % 5 {
		case 0:
			b.Unset(id)
		default:
			b.Set(id, text[:i*37%len(text)])
		}
	}
	many := func() {
		for range 500 {
			one()
		}
	}
	record := func() {
		for _, id := range ids[:100] {
			c.SetBlob(b, id, text[:50])
			c.UnsetBlob(b, id+1)
		}
		w.Apply(c)
	}
	for range 100 {
		many()
	}
	for _, id := range ids {
		b.Set(id, text)
	}
	record()
	other, restoring := w.Clone(), newWorld(t, 3000)
	snap, hashes := w.Snapshot(nil), w.ColumnHashes()
	waiting := w.NewCommands()
	waiting.SetBlob(b, ids[0], text)
	saved := waiting.Snapshot(nil)
	small := withBlobs(t, 3000, 10)
	other.CopyFrom(small)
	for range 2 {
		restoring.Restore(snap)
	}
	sum := 0
	for name, f := range map[string]func(){
		"Set, Unset": many,
		"Despawn, Spawn": func() {
			for i := range ids[:100] {
				w.Despawn(ids[i])
				ids[i], _ = w.Spawn()
				b.Set(ids[i], text)
			}
		},
		"Get, At": func() { b.Get(ids[200]); b.At(300) },
		"All": func() {
			for _, data := range b.All() {
				sum += len(data)
			}
		},
		"Commands":           record,
		"Hash":               func() { w.Hash() },
		"AppendColumnHashes": func() { hashes = w.AppendColumnHashes(hashes[:0]) },
		"Snapshot":           func() { snap = w.Snapshot(snap[:0]) },
		"Restore":            func() { restoring.Restore(snap) },
		"Commands.Restore":   func() { waiting.Restore(saved) },
		"CopyFrom":           func() { other.CopyFrom(w); other.CopyFrom(small) },
		"Diff":               func() { Diff(w, w) },
	} {
		if n := testing.AllocsPerRun(50, f); n != 0 && name != "Diff" {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	checkBlobs(t, w)
}

// TestBlobSnapshotMemory: a snapshot does not say how much a world allocates.
func TestBlobSnapshotMemory(t *testing.T) {
	w := newWorld(t, 1<<16)
	w.SpawnN(make([]ID, 1<<16))
	plain := w.Snapshot(nil)
	for i := range MaxBlobs {
		setBlob(t, w, ID(i).String(), 1<<16, "")
	}
	snap := w.Snapshot(nil)
	c := newWorld(t, 1<<16)
	c.Restore(plain)
	n := allocated(func() {
		if err := c.Restore(snap); err != nil {
			t.Fatal(err)
		}
	})
	if n > 16*len(snap) {
		t.Errorf("%d bytes allocated for %d", n, len(snap))
	}
}

// TestBlobsSideBySide: goroutines may change blobs of different names, with one result.
func TestBlobsSideBySide(t *testing.T) {
	w := newWorld(t, 300)
	ids := make([]ID, 300)
	w.SpawnN(ids)
	list := []*Blobs{blobs(t, w, "b"), blobs(t, w, "a"), blobs(t, w, "unchanged"), blobs(t, w, "c")}
	w.HoldTouches()
	var wg sync.WaitGroup
	for i, b := range list {
		if b.Name() == "unchanged" {
			continue
		}
		wg.Go(func() {
			for j := range 2000 {
				b.Set(ids[j*7%len(ids)], []byte(ID(i*j).String()))
				b.Unset(ids[j*j%len(ids)])
			}
		})
	}
	wg.Wait()
	w.ReleaseTouches()
	var versions []uint64
	for _, b := range list {
		versions = append(versions, b.Version())
	}
	if !slices.Equal(versions, []uint64{2, 1, 0, 3}) || w.LastTouch() != 3 {
		t.Errorf("versions %v", versions)
	}
	checkBlobs(t, w)
}

// Blobs that change together get versions in the order of their names, so a copy goes on as a world
// that was restored from a snapshot does, whatever the order in which the source registered them.
func TestBlobVersionsAfterACopy(t *testing.T) {
	src := newWorld(t, 4)
	id, _ := src.Spawn()
	setBlob(t, src, "b", id, "1")
	setBlob(t, src, "a", id, "2")
	restored, copied := newWorld(t, 4), newWorld(t, 4)
	if err := errors.Join(restored.Restore(src.Snapshot(nil)), copied.CopyFrom(src)); err != nil {
		t.Fatal(err)
	}
	for _, w := range [...]*World{src, restored, copied} {
		c := w.NewCommands()
		if err := errors.Join(c.SetBlob(blobs(t, w, "b"), id, nil), c.SetBlob(blobs(t, w, "a"), id, nil)); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Apply(c); err != nil {
			t.Fatal(err)
		}
	}
	want := src.Snapshot(nil)
	if !bytes.Equal(restored.Snapshot(nil), want) || !bytes.Equal(copied.Snapshot(nil), want) {
		t.Error("snapshots differ")
	}
}

// recordBlobs records blobs for entities that exist, will exist and do not exist.
func recordBlobs(w *World, mesh, json *Blobs) *Commands {
	c := w.NewCommands()
	c.SetBlob(mesh, 2, []byte("from a list"))
	born := c.Spawn()
	c.SetBlob(json, born, nil)
	c.UnsetBlob(json, 3)
	c.SetPosition(born, 1, 2, 3)
	c.SetBlob(mesh, born, []byte("last"))
	c.SetBlob(mesh, 99, []byte("stale"))
	return c
}

// FuzzCommandsRestore: refused data changes nothing; accepted data is what the list saves, and can
// be applied.
func FuzzCommandsRestore(f *testing.F) {
	fill := func(t testing.TB) (*World, *Commands) {
		w := withBlobs(t, 300, 4)
		return w, recordBlobs(w, blobs(t, w, "mesh"), blobs(t, w, "json"))
	}
	_, c := fill(f)
	f.Add(c.Snapshot(nil))
	w, hot, cold, hp := listed(f, false)
	c = w.NewCommands()
	recordSome(f, c, hot, cold, hp)
	f.Add(c.Snapshot(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		w, c := fill(t)
		before := c.Snapshot(nil)
		if err := c.Restore(data); err != nil {
			wantError(t, err, errOf(err))
			if !bytes.Equal(c.Snapshot(nil), before) {
				t.Fatal("refused data changed the list")
			}
			return
		}
		saved := c.Snapshot(nil)
		if err := c.Restore(saved); err != nil || !bytes.Equal(c.Snapshot(nil), saved) {
			t.Fatalf("what was accepted does not survive: %v", err)
		}
		if _, err := w.Apply(c); err != nil {
			wantError(t, err, ErrCapacity)
		}
		checkBlobs(t, w)
	})
}

// TestBlobCommandsSnapshot: lists with blobs are saved, and refused if they are altered.
func TestBlobCommandsSnapshot(t *testing.T) {
	w := withBlobs(t, 10, 4)
	mesh, json := blobs(t, w, "mesh"), blobs(t, w, "json")
	c := recordBlobs(w, mesh, json)
	saved := c.Snapshot(nil)

	v := restored(t, newWorld(t, 10), w)
	list := v.NewCommands()
	if err := list.Restore(saved); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(list.Snapshot(nil)[2:], saved[2:]) { // but for the number of the list
		t.Error("the list that was restored differs")
	}
	other := v.NewCommands()
	other.Append(list)
	for _, x := range []struct {
		w *World
		c *Commands
	}{{w, c}, {v, other}} {
		done, err := x.w.Apply(x.c)
		if want := (Applied{Spawned: 1, Written: 5, Stale: 1}); err != nil || done != want {
			t.Fatalf("%+v, %v", done, err)
		}
		checkBlobs(t, x.w)
	}
	if d, found := Diff(v, w); found || v.LastTouch() != w.LastTouch() {
		t.Fatal(d)
	}
	if data, ok := mesh.Get(5); !ok || string(data) != "last" || json.Len() != 2 || mesh.Version() <= json.Version()-2 {
		t.Errorf("%q, %v", data, ok)
	}

	blank := newWorld(t, 10).NewCommands()
	wantError(t, blank.Restore(saved), ErrUnsupported, "ecs: commands: blobs = mesh")
	for n := range saved {
		wantError(t, list.Restore(saved[:n]), errOf(list.Restore(saved[:n])))
	}
	wantError(t, list.Restore(append(slices.Clone(saved), 0)), ErrCorrupt)
	for i := range saved {
		for _, by := range []byte{1, 0x80, 0xff} {
			bad := slices.Clone(saved)
			bad[i] ^= by
			if err := list.Restore(bad); err != nil {
				wantError(t, err, errOf(err))
				continue
			}
			list.Snapshot(nil)
		}
	}
	// A world that has prepared a state knows the blobs of that state.
	late := newWorld(t, 10)
	lists := late.NewCommands()
	if err := late.Prepare(w.Snapshot(nil)); err != nil {
		t.Fatal(err)
	}
	if err := lists.Prepare(saved); err != nil {
		t.Fatal(err)
	}
	late.Commit()
	lists.Commit()
	if _, err := late.Apply(lists); err != nil {
		t.Fatal(err)
	}
}

func TestBlobsInDumpAndDescription(t *testing.T) {
	w := newWorld(t, 3)
	w.SpawnN(make([]ID, 3))
	if text := w.Describe().String(); strings.Contains(text, "blobs") {
		t.Errorf("blobs in\n%s", text)
	}
	setBlob(t, w, "mesh", 1, "tree\n.glb")
	setBlob(t, w, "mesh", 3, strings.Repeat("é", 30))
	blobs(t, w, "a b")
	var out bytes.Buffer
	if err := w.Dump(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`  mesh  "a b"` + "\n", `  "tree\n.glb"      -` + "\n", `  -      -` + "\n", `éé"…      -` + "\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in\n%s", want, out.String())
		}
	}
	d := w.Describe()
	if len(d.Blobs) != 2 || d.Blobs[0].Name != "mesh" || d.Blobs[0].Column != "blob.mesh" || d.Blobs[0].Count != 2 ||
		d.Blobs[0].Data != 69 || d.Blobs[0].Version != 2 || d.Blobs[0].Bytes < 69+24 || d.Blobs[1].Bytes != 0 {
		t.Errorf("%+v", d.Blobs)
	}
	if text := d.String(); !strings.Contains(text, "blobs  version  entities  data  bytes\nmesh ") {
		t.Errorf("no blobs in\n%s", text)
	}
}

// TestBlobObserver: observers of a despawn see the blob, and one that they set is gone too.
func TestBlobObserver(t *testing.T) {
	w := withBlobs(t, 10, 3)
	mesh, json := blobs(t, w, "mesh"), blobs(t, w, "json")
	var seen []string
	w.OnDespawn(func(id ID, slot Slot) {
		data, _ := mesh.At(slot)
		seen = append(seen, string(data))
		json.Set(id, []byte("too late"))
	})
	w.Despawn(1)
	w.DespawnWhere()
	if !slices.Equal(seen, []string{"mesh0.glb", "", "mesh8.glb"}) || mesh.Len() != 0 || json.Len() != 0 {
		t.Errorf("%q, %d left", seen, json.Len())
	}
	checkBlobs(t, w)
}

func BenchmarkBlobs(b *testing.B) {
	w, ids, _ := benchWorld(b)
	mesh := blobs(b, w, "mesh")
	text := bytes.Repeat([]byte("0123456789abcdef"), 3)
	set := func(n int) {
		for _, id := range ids {
			mesh.Set(id, text[:n])
		}
	}
	set(32)
	snap, to := w.Snapshot(nil), w.Clone()
	n := 0
	for _, bench := range []struct {
		name string
		run  func()
	}{
		{"op=set", func() { set(32) }},
		{"op=setLonger", func() { n++; set(24 + n%3*8) }},
		{"op=get", func() {
			for _, id := range ids {
				data, _ := mesh.Get(id)
				sink += len(data)
			}
		}},
		{"op=all", func() {
			for _, data := range mesh.All() {
				sink += len(data)
			}
		}},
		{"op=hash", func() { sink += int(w.Hash()) }},
		{"op=snapshot", func() { snap = w.Snapshot(snap[:0]) }},
		{"op=restore", func() { to.Restore(snap) }},
		{"op=copyFrom", func() { to.CopyFrom(w) }},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				bench.run()
			}
			perEntity(b, len(ids))
		})
	}
}
