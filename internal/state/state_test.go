package state

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/frame"
	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/internal/wire"
)

// world has two kinds of state, of which the second one has its length in the first.
type world struct {
	n     uint32
	bytes []byte
}

type image struct {
	n     uint32
	bytes []byte
}

var parts = Parts[world, image]{
	{
		Name:   "number",
		Encode: func(w *world, e *frame.Encoder) { e.U32(int(w.n)) },
		Check: func(im *image, b []byte) error {
			if len(b) != 4 {
				return fmt.Errorf("%w: number", fault.ErrCorrupt)
			}
			im.n = wire.U32At(b, 0)
			return nil
		},
		Restore: func(w *world, im *image) { w.n = im.n },
		Copy:    func(w, src *world) { w.n = src.n },
		Hash: func(w *world, dst []statehash.Column) []statehash.Column {
			return append(dst, statehash.Column{Name: "n", Hash: uint64(w.n)})
		},
	},
	{
		Name:   "bytes",
		Encode: func(w *world, e *frame.Encoder) { e.Buf = append(e.Buf, w.bytes...) },
		Check: func(im *image, b []byte) error {
			if len(b) != int(im.n) {
				return fmt.Errorf("%w: bytes", fault.ErrCorrupt)
			}
			im.bytes = b
			return nil
		},
		Restore: func(w *world, im *image) { w.bytes = slices.Clone(im.bytes) },
		Copy:    func(w, src *world) { w.bytes = slices.Clone(src.bytes) },
		Hash: func(w *world, dst []statehash.Column) []statehash.Column {
			return append(dst, statehash.Column{Name: "bytes", Hash: statehash.Rows(w.bytes)})
		},
	},
	{Name: "empty", Encode: func(*world, *frame.Encoder) {}, Check: func(*image, []byte) error { return nil }},
}

const magic = "evtk.tst"

func TestPartsRestoreWhatTheyEncode(t *testing.T) {
	w := world{3, []byte{1, 2, 3}}
	e := frame.Begin(nil, magic, 1)
	parts.Encode(&w, &e)
	check := func(data []byte) (im image, err error) {
		d, err := frame.NewDecoder(data, "test: ", magic, 1)
		if err == nil {
			err = parts.Check(&im, &d)
		}
		return im, err
	}
	im, err := check(e.Buf)
	if err != nil {
		t.Fatal(err)
	}
	var restored, copied world
	parts.Restore(&restored, &im)
	parts.Copy(&copied, &w)
	for _, got := range []world{restored, copied} {
		if got.n != w.n || !slices.Equal(got.bytes, w.bytes) {
			t.Errorf("got %v, want %v", got, w)
		}
	}
	for i := range e.Buf {
		if _, err := check(e.Buf[:i]); !errors.Is(err, fault.ErrCorrupt) {
			t.Fatalf("cut to %d bytes: %v", i, err)
		}
	}
	if _, err := check(append(slices.Clip(e.Buf), 0)); !errors.Is(err, fault.ErrCorrupt) {
		t.Errorf("a byte too many: %v", err)
	}
	w.n = 2
	e = frame.Begin(nil, magic, 1)
	parts.Encode(&w, &e)
	if _, err := check(e.Buf); err == nil || !strings.Contains(err.Error(), "bytes") {
		t.Errorf("parts that contradict each other: %v", err)
	}
}

func TestHashesComeInTheirOwnOrder(t *testing.T) {
	w := world{7, []byte{1}}
	hashes := parts.Hashed("bytes", "number").Hash(&w, nil)
	if len(hashes) != 2 || hashes[0].Name != "bytes" || hashes[1] != (statehash.Column{Name: "n", Hash: 7}) {
		t.Errorf("hashes %v", hashes)
	}
	for _, names := range [][]string{{"bytes"}, {"bytes", "number", "empty"}, {"bytes", "nothing"}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v is accepted", names)
				}
			}()
			parts.Hashed(names...)
		}()
	}
}

type events struct {
	pairs []pair
	rows  []uint32
}

type pair struct {
	a uint64
	b byte
}

var lists = Lists[events]{
	ListOf(9, func(e *events) *[]pair { return &e.pairs },
		func(dst []byte, p *pair) []byte { return append(wire.AppendU64s(dst, p.a), p.b) },
		func(r *wire.Reader) pair {
			p := pair{r.U64(), r.U8()}
			if p.b > 9 {
				r.Fail("b", p.b)
			}
			return p
		}),
	Rows(func(e *events) *[]uint32 { return &e.rows }),
}

func TestListsReadWhatTheyAppend(t *testing.T) {
	e := events{[]pair{{1 << 40, 2}, {3, 4}}, []uint32{5, 6, 7}}
	data := lists.Append(&e, []byte{99})[1:]
	if len(data) != 2*4+2*9+3*4 {
		t.Errorf("%d bytes", len(data))
	}
	got := events{rows: []uint32{1}}
	read := func(data []byte) error {
		r := wire.NewReader(data)
		return lists.Read(&got, &r)
	}
	if err := read(data); err != nil || !slices.Equal(got.pairs, e.pairs) || !slices.Equal(got.rows, e.rows) {
		t.Errorf("got %v, %v", got, err)
	}
	for i := range data {
		if err := read(data[:i]); !errors.Is(err, fault.ErrCorrupt) {
			t.Fatalf("cut to %d bytes: %v", i, err)
		}
	}
	bad := slices.Clone(data)
	bad[8+8] = 10
	if err := read(bad); !errors.Is(err, fault.ErrCorrupt) {
		t.Errorf("an element that none can be: %v", err)
	}
	huge := slices.Clone(data)
	huge[3] = 0xff
	if err := read(huge); !errors.Is(err, fault.ErrCorrupt) {
		t.Errorf("a huge length: %v", err)
	}
	lists.Copy(&got, &e)
	if !slices.Equal(got.pairs, e.pairs) || !slices.Equal(got.rows, e.rows) || &got.rows[0] == &e.rows[0] {
		t.Errorf("copied: %v", got)
	}
	if lists.Clear(&got); len(got.pairs)+len(got.rows) != 0 || cap(got.rows) == 0 {
		t.Errorf("cleared: %v", got)
	}
}
