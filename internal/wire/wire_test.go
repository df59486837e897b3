package wire_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/wire"
)

// What is appended is read again, and is what encoding/binary would append.
func TestRoundTrip(t *testing.T) {
	le := binary.LittleEndian
	nan := math.Float32frombits(0x7fc00001)
	for name, c := range map[string]struct {
		bytes []byte
		read  func(*wire.Reader) bool
	}{
		"U8":        {[]byte{0x81}, func(r *wire.Reader) bool { return r.U8() == 0x81 }},
		"U16":       {le.AppendUint16(nil, 0x8001), func(r *wire.Reader) bool { return r.U16() == 0x8001 }},
		"U32":       {wire.AppendU32s(nil, 1, 1<<31), func(r *wire.Reader) bool { return r.U32() == 1 && r.U32() == 1<<31 }},
		"U64":       {wire.AppendU64s(nil, 1, 1<<63), func(r *wire.Reader) bool { return r.U64() == 1 && r.U64() == 1<<63 }},
		"F32":       {wire.AppendF32s(nil, nan), func(r *wire.Reader) bool { return math.Float32bits(r.F32()) == 0x7fc00001 }},
		"Bool":      {wire.AppendBool(wire.AppendBool(nil, true), false), func(r *wire.Reader) bool { return r.Bool() && !r.Bool() }},
		"Uvarint":   {wire.AppendUvarints(nil, 0, math.MaxUint64), func(r *wire.Reader) bool { return r.Uvarint() == 0 && r.Uvarint() == math.MaxUint64 }},
		"long form": {[]byte{0x81, 0x80, 0}, func(r *wire.Reader) bool { return r.Uvarint() == 1 }},
		"Varint": {binary.AppendVarint(binary.AppendVarint(nil, math.MinInt64), -1), func(r *wire.Reader) bool {
			return r.Varint() == math.MinInt64 && r.Varint() == -1
		}},
		"Canonical": {wire.AppendUvarints(nil, 128, 7, math.MaxUint64), func(r *wire.Reader) bool {
			return r.Canonical(128, 128) == 128 && r.Canonical(0, 7) == 7 && r.Canonical(1, math.MaxUint64) == math.MaxUint64
		}},
		"String":   {wire.AppendPrefixed(nil, "worm"), func(r *wire.Reader) bool { return r.String(4) == "worm" }},
		"Prefixed": {wire.AppendPrefixed(nil, []byte("worm")), func(r *wire.Reader) bool { return string(r.Prefixed(9)) == "worm" }},
		"Name":     {wire.AppendName(nil, strings.Repeat("a", 255)), func(r *wire.Reader) bool { return len(r.Name()) == 255 }},
		"Count":    {[]byte{2, 1, 1, 1, 1}, func(r *wire.Reader) bool { return r.Count(r.Uvarint(), 2, 2) == 2 && len(r.Rest()) == 4 }},
		"lists": {wire.AppendF32s(wire.AppendU64s(nil, 3, 4), 5, 6), func(r *wire.Reader) bool {
			var u [2]uint64
			var f [2]float32
			r.U64s(u[:])
			r.F32s(f[:])
			return u == [2]uint64{3, 4} && f == [2]float32{5, 6}
		}},
	} {
		r := wire.NewReader(c.bytes)
		if !c.read(&r) || r.Done() != nil || r.Offset() != len(c.bytes) {
			t.Errorf("%s: misread, or %d of %d bytes, %v", name, r.Offset(), len(c.bytes), r.Done())
		}
		for cut := range c.bytes {
			if r := wire.NewReader(c.bytes[:cut]); c.read(&r) && r.Err() == nil {
				t.Errorf("%s: %d of %d bytes are enough", name, cut, len(c.bytes))
			}
		}
	}
}

func TestColumns(t *testing.T) {
	u, w, f := wire.AppendU32s(nil, 1, 2), wire.AppendU64s(nil, 3, 4), wire.AppendF32s(nil, 5, 6)
	if wire.U32At(u, 1) != 2 || wire.U64At(w, 1) != 4 || wire.F32At(f, 1) != 6 {
		t.Error("misread")
	}
}

// The first fault ends a Reader, and its error says where it was.
func TestReaderRefuses(t *testing.T) {
	own := errors.New("mine")
	for name, c := range map[string]struct {
		data string
		read func(*wire.Reader)
		err  string
	}{
		"short number":     {"\x01\x02\x03", func(r *wire.Reader) { r.U8(); r.U32() }, "at byte 1: length = 4: corrupt data"},
		"negative length":  {"abc", func(r *wire.Reader) { r.Bytes(-1) }, "at byte 0: length = -1: corrupt data"},
		"flag":             {"\x02", func(r *wire.Reader) { r.Bool() }, "at byte 1: flag = 2: corrupt data"},
		"no number":        {"", func(r *wire.Reader) { r.Uvarint() }, "at byte 0: length of a number = 0: corrupt data"},
		"overlong number":  {strings.Repeat("\xff", 11), func(r *wire.Reader) { r.Uvarint() }, "at byte 0: length of a number = -11: corrupt data"},
		"padded":           {"\x81\x00", func(r *wire.Reader) { r.Canonical(0, 9) }, "at byte 0: number = 1: corrupt data"},
		"below":            {"\x00", func(r *wire.Reader) { r.Canonical(1, 9) }, "at byte 0: number = 0: corrupt data"},
		"above":            {"x\x0a", func(r *wire.Reader) { r.U8(); r.Canonical(1, 9) }, "at byte 1: number = 10: corrupt data"},
		"count over limit": {"\x03abc", func(r *wire.Reader) { r.Count(r.Uvarint(), 2, 1) }, "at byte 1: count = 3: corrupt data"},
		"count over rest":  {"\x03abcde", func(r *wire.Reader) { r.Count(r.Uvarint(), 9, 2) }, "at byte 1: count = 3: corrupt data"},
		"string":           {"\x03abc", func(r *wire.Reader) { _ = r.String(2) }, "at byte 1: count = 3: corrupt data"},
		"name":             {"\x03ab", func(r *wire.Reader) { r.Name() }, "at byte 1: length = 3: corrupt data"},
		"left over":        {"abc", func(r *wire.Reader) { r.U8() }, "at byte 1: bytes left over = 2: corrupt data"},
		"given":            {"abc", func(r *wire.Reader) { r.FailWith(own) }, "at byte 0: mine"},
	} {
		r := wire.NewReader([]byte(c.data))
		c.read(&r)
		err := r.Done()
		if err == nil || err.Error() != c.err || !errors.Is(err, fault.ErrCorrupt) && !errors.Is(err, own) {
			t.Errorf("%s: %v, want %s", name, err, c.err)
			continue
		}
		r.Fail("later", 1)
		if r.U8() != 0 || r.Uvarint() != 0 || r.Len() != 0 || len(r.Rest()) != 0 || r.Err() != err {
			t.Errorf("%s: reads on after the fault, %v", name, r.Err())
		}
	}
}

func TestCRC(t *testing.T) {
	b := wire.AppendCRC([]byte("front content"), len("front "))
	content, crc, ok := wire.CutCRC(b[len("front "):])
	if string(content) != "content" || !ok || crc != wire.CRC(wire.CRC(0, []byte("con")), []byte("tent")) {
		t.Errorf("%q, %#x, %t", content, crc, ok)
	}
	if _, _, ok := wire.CutCRC(b[len("front ")+1:]); ok {
		t.Error("altered content has the same checksum")
	}
	for n := range wire.CRCSize {
		if _, _, ok := wire.CutCRC(make([]byte, n)); ok {
			t.Errorf("%d bytes have a checksum", n)
		}
	}
}

// No data makes a Reader panic, read beyond the end, or return more than there is.
func FuzzReader(f *testing.F) {
	f.Add([]byte("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a"), []byte("\x05hello\x81\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"))
	f.Add([]byte("\x08\x08"), []byte("\xff\xff\xff\xff\xff\xff\xff\xff\x7f"))
	f.Fuzz(func(t *testing.T, script, data []byte) {
		r := wire.NewReader(data)
		for _, op := range script {
			from, left, failed := r.Offset(), r.Len(), r.Err() != nil
			got, zero := read(&r, op)
			switch {
			case got > left:
				t.Fatalf("operation %d returns %d bytes of %d", op, got, left)
			case r.Offset() < from || r.Offset()+r.Len() > len(data):
				t.Fatalf("operation %d goes from %d to %d, %d left of %d", op, from, r.Offset(), r.Len(), len(data))
			case failed && (!zero || r.Offset() != from || r.Err() == nil):
				t.Fatalf("operation %d reads on after a fault", op)
			}
		}
		if err := r.Err(); err != nil && (!errors.Is(err, fault.ErrCorrupt) || r.Len() != 0) {
			t.Fatalf("%v, %d left", err, r.Len())
		}
		if content, _, ok := wire.CutCRC(data); ok && !bytes.Equal(wire.AppendCRC(bytes.Clone(content), 0), data) {
			t.Fatal("a checksum that is not the one appended")
		}
	})
}

// read does one operation, and returns how many bytes it returned and whether it is zero.
func read(r *wire.Reader, op byte) (bytes int, zero bool) {
	number := func(v uint64) (int, bool) { return 0, v == 0 }
	slice := func(b []byte) (int, bool) { return len(b), len(b) == 0 }
	switch op % 12 {
	case 0:
		return number(uint64(r.U8()))
	case 1:
		return number(uint64(r.U16()))
	case 2:
		return number(uint64(r.U32()))
	case 3:
		return number(r.U64())
	case 4:
		return number(r.Uvarint())
	case 5:
		return number(uint64(r.Varint()))
	case 6:
		return number(r.Canonical(1, 1<<40))
	case 7:
		return slice(r.Name())
	case 8:
		return slice(r.Prefixed(math.MaxInt))
	case 9:
		n := r.Count(r.Uvarint(), math.MaxInt, 2)
		return 2 * n, n == 0
	case 10:
		return slice(r.Bytes(int(op) - 100))
	}
	v := r.Bool()
	return 0, !v
}

// Reading allocates nothing, whatever lengths the data claim.
func TestReaderAllocs(t *testing.T) {
	data := wire.AppendPrefixed(wire.AppendU64s(nil, 1, 2), make([]byte, 100))
	sum := uint64(0)
	if n := testing.AllocsPerRun(100, func() {
		r := wire.NewReader(data)
		sum += r.U64() + uint64(r.U32()) + uint64(r.U16()) + uint64(r.U16()) + uint64(len(r.Prefixed(100)))
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func TestFirstNotFinite(t *testing.T) {
	inf := float32(math.Inf(1))
	for n := range 9 {
		if i := wire.FirstNotFinite(wire.AppendF32s(nil, make([]float32, n)...)); i != -1 {
			t.Errorf("%d zeros: %d", n, i)
		}
		for at := range n {
			for _, bad := range []float32{inf, -inf, float32(math.NaN())} {
				row := make([]float32, n)
				for i := range row {
					row[i] = math.MaxFloat32 * float32(1-2*(i%2))
				}
				row[at] = bad
				if i := wire.FirstNotFinite(wire.AppendF32s(nil, row...)); i != at {
					t.Errorf("%v: %d", row, i)
				}
			}
		}
	}
}
