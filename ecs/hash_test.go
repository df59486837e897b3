package ecs

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zeebo/xxh3"
)

// TestGoldenHash pins the hash of a small scenario, for every architecture. It
// changes only together with a line in the changelog under "Determinism".
func TestGoldenHash(t *testing.T) {
	w := sample(t)
	for _, c := range w.ColumnHashes() {
		t.Logf("%-12s %#016x", c.Name, c.Hash)
	}
	const want = 0x88d51d64c42cd126
	if got := w.Hash(); got != want {
		t.Fatalf("hash %#016x, want %#016x", got, uint64(want))
	}
}

// TestHashSees: every single thing that decides the future changes the hash.
func TestHashSees(t *testing.T) {
	base := sample(t).Hash()
	seen := map[uint64]string{base: "no change"}
	try := func(name string, change func(w *World)) {
		t.Helper()
		w := sample(t)
		change(w)
		h := w.Hash()
		if other, ok := seen[h]; ok {
			t.Errorf("%s has the hash of %s", name, other)
		}
		seen[h] = name
	}
	for i, c := range sample(t).columns {
		try(c.name, func(w *World) { w.columns[i].mem[4*c.size] ^= 1 })
	}
	try("a tag set", func(w *World) { tag(t, w, "ally").Set(4) })
	try("a tag unset", func(w *World) { tag(t, w, "ally").Unset(3) })
	try("another tag", func(w *World) { tag(t, w, "empty").SetAll([]ID{1, 3}) })
	try("tags swapped", func(w *World) { tag(t, w, "ally").Clear(); tag(t, w, "empty").SetAll([]ID{1, 3}) })
	try("spawn", func(w *World) { spawn(t, w) })
	try("despawn", func(w *World) { w.Despawn(4) })
	try("despawn and spawn", func(w *World) { w.Despawn(4); spawn(t, w) })
	try("spawn and despawn", func(w *World) { w.Despawn(spawn(t, w)) })
	try("two spawns and despawns", func(w *World) { w.Despawn(spawn(t, w)); w.Despawn(spawn(t, w)) })
	try("positive zero", func(w *World) { w.Position.Y[3] = 0 })
	try("NaN to infinity", func(w *World) { w.Position.Z[3] = float32(math.Inf(1)) })
	try("a new column", func(w *World) { addColumn[int8](t, w, "new") })
}

// TestHashIgnores: what decides nothing does not.
func TestHashIgnores(t *testing.T) {
	w := sample(t)
	base := w.Hash()
	tag(t, w, "new")
	w.Position.Z[3] = float32(math.NaN())
	w.Position.Z[7] = 5 // a row never used
	if w.Hash() != base {
		t.Fatal("the hash depends on an empty tag, the payload of a NaN, or an unused row")
	}
}

// TestNaNDetection compares with the definition, at every length and position.
func TestNaNDetection(t *testing.T) {
	values := []uint32{0, 1, 0x80000000, 0x7f800000, 0xff800000, 0x7f7fffff, 0xff7fffff, 0x3f800000, 0xffffffff,
		0x7f800001, 0xff800001, 0x7fc00000, 0xffc00000, 0x7fffffff}
	for n := range 40 {
		rows := make([]byte, 4*n)
		for i := range n {
			for _, v := range values {
				for j := range n {
					binary.NativeEndian.PutUint32(rows[4*j:], 0xff800000) // so that a carry would show
				}
				binary.NativeEndian.PutUint32(rows[4*i:], v)
				if got, want := hasNaN(rows, kindFloat32), v&0x7fffffff > 0x7f800000; got != want {
					t.Fatalf("%#x at %d of %d: %v", v, i, n, got)
				}
			}
		}
	}
	for _, v := range []uint64{0, inf64, inf64 + 1, 1<<63 | inf64, 1<<63 | inf64 + 1, abs64, math.MaxUint64, nan64, 1} {
		for n := range 10 {
			rows := make([]byte, 8*n+8)
			binary.NativeEndian.PutUint64(rows[8*n:], v)
			if got, want := hasNaN(rows, kindFloat64), v&abs64 > inf64; got != want {
				t.Fatalf("%#x: %v", v, got)
			}
		}
	}
}

// TestHashCopied: the way through the buffer gives the hash of the
// little-endian bytes.
func TestHashCopied(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, 3, 7, 30, 60, 61, 1000, 1023, 1024, 1025, 2048, 5000, 16384} {
		rows := make([]byte, 4*n)
		little := make([]byte, 4*n)
		for i := range n {
			v := rng.Uint32()
			binary.NativeEndian.PutUint32(rows[4*i:], v)
			binary.LittleEndian.PutUint32(little[4*i:], v)
		}
		if got, want := hashCopied(rows, kindUint32), xxh3.Hash(little); got != want {
			t.Fatalf("%d rows: %#x, want %#x", n, got, want)
		}
		canonicalise(little, kindFloat32)
		if got, want := hashRows(rows, kindFloat32), xxh3.Hash(little); got != want {
			t.Fatalf("%d rows of floats: %#x, want %#x", n, got, want)
		}
	}
}

func TestReverseRows(t *testing.T) {
	b := []byte{1, 2, 3, 4, 5, 6, 7, 8}
	for size, want := range map[int][]byte{
		1: {1, 2, 3, 4, 5, 6, 7, 8}, 2: {2, 1, 4, 3, 6, 5, 8, 7}, 4: {4, 3, 2, 1, 8, 7, 6, 5}, 8: {8, 7, 6, 5, 4, 3, 2, 1},
	} {
		got := slices.Clone(b)
		if reverseRows(got, size); !slices.Equal(got, want) {
			t.Errorf("size %d: %v", size, got)
		}
	}
}

func TestColumnHashesOrder(t *testing.T) {
	w := sample(t)
	var names []string
	for _, c := range w.ColumnHashes() {
		names = append(names, c.Name)
	}
	want := []string{"identity", "heat", "hp", "level", "position.x", "position.y", "position.z",
		"rotation.w", "rotation.x", "rotation.y", "rotation.z", "scale.x", "scale.y", "scale.z"}
	if !slices.Equal(names, want) {
		t.Fatalf("order %v", names)
	}
}
