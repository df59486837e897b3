package worldlog

import (
	"encoding/binary"
	"testing"

	"github.com/evertick/evertick/internal/wire"
	"pgregory.net/rapid"
)

// Any record comes back as it went in, in no more bytes than reserved for it,
// and its checksum continues from the one before.
func TestRecords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := coder{crc: rapid.Uint32().Draw(t, "crc"), seq: rapid.Uint64().Draw(t, "seq")}
		out := in
		for range rapid.IntRange(1, 20).Draw(t, "records") {
			want := Record{
				Type:   Type(rapid.IntRange(1, int(typeEnd)-1).Draw(t, "type")),
				Source: rapid.Uint32().Draw(t, "source"),
				Kind:   rapid.Uint32().Draw(t, "kind"),
				Seq:    rapid.OneOf(rapid.Uint64(), rapid.Just(in.seq+1)).Draw(t, "seq"),
				Data:   rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "data"),
			}
			if want.Type == TickCommit {
				continue
			}
			if want.Type.own() {
				want.Source, want.Kind, want.Seq = 0, 0, 0
			}
			b := in.append(nil, &want)
			if len(b) > maxOverhead+len(want.Data) {
				t.Fatalf("%d bytes for %d of data", len(b), len(want.Data))
			}
			n, k := binary.Uvarint(b)
			if int(n)+k+crcSize != len(b) || wire.CRC(out.crc, b[:k+int(n)]) != binary.LittleEndian.Uint32(b[k+int(n):]) {
				t.Fatalf("% x", b)
			}
			out.crc = in.crc
			var got Record
			if !out.decode(b[k:k+int(n)], &got) || !sameRecord(&got, &want) || out.seq != in.seq {
				t.Fatalf("%+v became %+v", want, got)
			}
		}
	})
}

func TestCommits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := commit{
			tick:    rapid.Uint64Max(maxTickNumber).Draw(t, "tick"),
			hash:    rapid.Uint64().Draw(t, "hash"),
			records: rapid.Uint64Max(MaxRecords).Draw(t, "records"),
			counts:  Counts{rapid.Uint64().Draw(t, "dropped"), rapid.Uint64().Draw(t, "live")},
		}
		want.lag = rapid.Uint64Max(want.tick).Draw(t, "lag")
		var c coder
		b := c.appendCommit(nil, &want)
		var got commit
		if len(b) > maxCommit || int(b[0])+1+crcSize != len(b) || !got.decode(b[1:len(b)-crcSize]) || got != want {
			t.Fatalf("%+v became %+v in %d bytes", want, got, len(b))
		}
	})
}
