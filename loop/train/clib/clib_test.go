//go:build cgo

package clib

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"testing"
)

// A handle names one batch only: its slot is used again with another handle.
func TestHandles(t *testing.T) {
	a, b := new(batch), new(batch)
	first := add(a)
	if find(first) != a {
		t.Fatal("a handle does not find its batch")
	}
	if drop(first) != a || find(first) != nil || drop(first) != nil {
		t.Error("a handle that was dropped finds something")
	}
	second := add(b)
	if uint32(second) != uint32(first) || second == first || find(second) != b || find(first) != nil {
		t.Errorf("handles %#x and then %#x", first, second)
	}
	for _, h := range []uint64{0, 1, second + 1, second | 1<<63, 1 << 32, ^uint64(0)} {
		if find(h) != nil {
			t.Errorf("%#x finds a batch", h)
		}
	}
	handles.slots[uint32(second)-1].generation = ^uint32(0)
	last := uint64(^uint32(0))<<32 | uint64(uint32(second))
	if drop(last) != b {
		t.Fatal("the last handle of a slot finds nothing")
	}
	if third := add(a); uint32(third) == uint32(second) {
		t.Error("a slot is used again whose handles are used up")
	} else {
		drop(third)
	}
}

// The header declares the exported functions, and only those. That the signatures agree is checked by
// the C compiler in every build: exports.c includes the header.
func TestHeader(t *testing.T) {
	header, err := os.ReadFile("evertick_train.h")
	if err != nil {
		t.Fatal(err)
	}
	var source []byte
	for _, name := range []string{"clib.go", "render.go"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		source = append(source, text...)
	}
	exports, err := os.ReadFile("exports.c")
	if err != nil {
		t.Fatal(err)
	}
	names := func(pattern string, text []byte) (found []string) {
		for _, m := range regexp.MustCompile(pattern).FindAllSubmatch(text, -1) {
			found = append(found, string(m[1]))
		}
		slices.Sort(found)
		return found
	}
	declared, exported := names(`(?m)^int32_t evertick_train_(\w+)\(`, header), names(`(?m)^//export evertick_train_go_(\w+)$`, source)
	guarded := append(names(`(?m)^FORWARD\((\w+),`, exports), names(`(?m)^EXPORT int32_t evertick_train_(\w+)\(`, exports)...)
	slices.Sort(guarded)
	if len(declared) == 0 || !slices.Equal(declared, exported) || !slices.Equal(declared, guarded) {
		t.Errorf("declared %q, exported %q, guarded %q", declared, exported, guarded)
	}
	for i, line := range bytes.Split(header, []byte("\n")) {
		if k := bytes.IndexFunc(line, func(r rune) bool { return r != '\t' && (r < ' ' || r > '~') }); k >= 0 {
			t.Errorf("evertick_train.h:%d: byte %#x", i+1, line[k])
		}
	}
}
