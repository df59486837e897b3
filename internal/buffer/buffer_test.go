package buffer

import (
	"math"
	"testing"
	"unsafe"
)

func TestResizedKeepsItsMemory(t *testing.T) {
	s := Resized[uint32](nil, 10)
	if len(s) != 10 || cap(s) < 15 {
		t.Errorf("len %d, cap %d", len(s), cap(s))
	}
	if again := Resized(s, cap(s)); &again[0] != &s[0] || len(again) != cap(s) {
		t.Error("memory with room is not reused")
	}
	if grown := Resized(s, cap(s)+1); len(grown) != cap(s)+1 {
		t.Errorf("len %d", len(grown))
	}
}

func TestExtendedKeepsElements(t *testing.T) {
	s := Extended([][]int{{1}}, 3)
	if len(s) != 3 || len(s[0]) != 1 {
		t.Errorf("got %v", s)
	}
	s[2] = []int{7}
	if s = Extended(s[:1], 3); len(s[2]) != 1 {
		t.Errorf("got %v", s)
	}
}

func TestBytesAndWordsAreTheSameMemory(t *testing.T) {
	rows := []struct{ a, b float32 }{{1, 2}, {3, 4}}
	bytes, words, floats := Bytes(rows), Words[uint32](rows), Words[float32](rows)
	if len(bytes) != 16 || len(words) != 4 || floats[3] != 4 || words[2] != math.Float32bits(3) {
		t.Errorf("%d bytes, %d words, %v", len(bytes), len(words), floats)
	}
	if unsafe.Pointer(&bytes[0]) != unsafe.Pointer(&rows[0]) {
		t.Error("a copy")
	}
	if len(Bytes[uint64](nil)) != 0 || len(Words[uint32, uint64](nil)) != 0 {
		t.Error("no rows have memory")
	}
}
