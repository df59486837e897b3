package statehash

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zeebo/xxh3"
)

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
				if got, want := HasNaN(rows, 4), v&0x7fffffff > 0x7f800000; got != want {
					t.Fatalf("%#x at %d of %d: %v", v, i, n, got)
				}
			}
		}
	}
	for _, v := range []uint64{0, inf64, inf64 + 1, 1<<63 | inf64, 1<<63 | inf64 + 1, abs64, math.MaxUint64, nan64, 1} {
		for n := range 10 {
			rows := make([]byte, 8*n+8)
			binary.NativeEndian.PutUint64(rows[8*n:], v)
			if got, want := HasNaN(rows, 8), v&abs64 > inf64; got != want {
				t.Fatalf("%#x: %v", v, got)
			}
		}
	}
}

// TestCopied: the way through the buffer gives the hash of the
// little-endian bytes.
func TestCopied(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, 3, 7, 30, 60, 61, 1000, 1023, 1024, 1025, 2048, 5000, 16384} {
		rows := make([]byte, 4*n)
		little := make([]byte, 4*n)
		for i := range n {
			v := rng.Uint32()
			binary.NativeEndian.PutUint32(rows[4*i:], v)
			binary.LittleEndian.PutUint32(little[4*i:], v)
		}
		if got, want := copied(rows, 4, false), xxh3.Hash(little); got != want {
			t.Fatalf("%d rows: %#x, want %#x", n, got, want)
		}
		canonicalise(little, 4)
		if got, want := Bytes(rows, 4, true), xxh3.Hash(little); got != want {
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

// Rows knows sizes and floats by their type.
func TestRows(t *testing.T) {
	nan, other := math.Float32frombits(0x7fc00000), math.Float32frombits(0xff800001)
	if Rows([]float32{1, nan, 2}) != Rows([]float32{1, other, 2}) {
		t.Error("the payload of a NaN counts")
	}
	if Rows([]float64{math.NaN()}) != Rows([]float64{math.Float64frombits(0xfff0000000000001)}) {
		t.Error("the payload of a double NaN counts")
	}
	if Rows([]uint32{0x7fc00000}) == Rows([]uint32{0xff800001}) {
		t.Error("integers are taken for floats")
	}
	if Rows([]float32{0}) == Rows([]float32{float32(math.Copysign(0, -1))}) {
		t.Error("the sign of zero does not count")
	}
	if Rows([]uint16{1, 2}) != Rows([]uint32{1 | 2<<16}) {
		t.Error("rows are not little-endian")
	}
}

func TestChanges(t *testing.T) {
	list := func(text string) (columns []Column) { // pairs of a name and a hash
		for i := 0; i < len(text); i += 2 {
			columns = append(columns, Column{text[i : i+1], uint64(text[i+1])})
		}
		return columns
	}
	for _, c := range []struct{ before, now, want string }{
		{"", "", ""},
		{"a1b2c3", "a1b2c3", ""},
		{"a1b2c3", "c3a1b2", ""},
		{"a1b2c3", "a1b9c9", "bc"},
		{"a1c3", "a1b2c3", "+b"},
		{"a1b2c3", "a1c3", "b"},
		{"a1b2", "c1b3", "+cba"},
		{"a1a2", "a1a2", ""}, // a name twice
		{"a1a2", "a1a3", "a"},
	} {
		got := ""
		for name, added := range Changes(list(c.before), list(c.now)) {
			if added {
				got += "+"
			}
			got += name
		}
		if got != c.want {
			t.Errorf("from %q to %q: %q, want %q", c.before, c.now, got, c.want)
		}
		for range Changes(list(c.before), list(c.now)) {
			break // the first is enough
		}
	}
}

// A Memo gives the hashes of Bytes whatever it has seen before, and finds every NaN.
func TestMemo(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var m Memo
	found := 0
	for range 2000 {
		rows := make([]byte, 4*rng.IntN(3))
		for i := 0; i < len(rows); i += 4 { // few rows of few values, so that many are seen again
			binary.NativeEndian.PutUint32(rows[i:], []uint32{0, 0x80000000, 0x7fc00000, 0x7f800001, 0x3f800000}[rng.IntN(5)])
		}
		if got, want := m.Floats(rows, 4), Bytes(rows, 4, true); got != want {
			t.Fatalf("%x: hash %#x, want %#x", rows, got, want)
		}
		if m.HadNaN() != HasNaN(rows, 4) {
			t.Fatalf("%x: HadNaN %t", rows, m.HadNaN())
		}
		if m.HadNaN() {
			found++
		}
	}
	if found < 500 || found > 1500 {
		t.Errorf("%d of 2000 had a NaN", found)
	}
}
