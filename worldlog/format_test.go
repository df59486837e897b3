package worldlog

import (
	"encoding/hex"
	"strings"
	"testing"
	"testing/synctest"
)

// The format, byte by byte: a change here needs a new version of it.
func TestFormat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemFS()
		id := Identity{Scenario: "ab", SimVersion: 3, Seed: 0x0123456789abcdef, FirstTick: 300, Parent: [32]byte{0xfe, 31: 0xdc}}
		l, err := Create("log", id, Options{FS: m, Durability: None})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []Record{
			{Type: Config, Seq: 1, Data: []byte("hz")},
			{Type: Input, Seq: 2, Source: 200, Kind: 5, Data: []byte{0xaa}},
			{Type: Command, Seq: 2},
		} {
			if err := l.Append(&r); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Commit(301, 0x1122334455667788, Counts{Dropped: 1, Live: 129}); err != nil {
			t.Fatal(err)
		}
		if err := l.WriteSnapshot(301, 0x1122334455667788, nil); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the snapshot makes tick 301 durable
		if err := l.Commit(303, 2, Counts{}); err != nil {
			t.Fatal(err)
		}
		closeLog(t, l)
		want := `
			8965 7674 6c6f 670a 0100 0000 03000000
			0000000000000000 2c01000000000000 efcdab8967452301
			fe000000000000000000000000000000000000000000000000000000000000dc
			CRC0 02 6162 CRC
			03 01 687a CRC
			05 33 c801 05 aa CRC
			02 46 01 CRC
			10 09 ad02 8877665544332211 03 01 8101 00 CRC
			10 08 ad02 8877665544332211 00 00000000 CRC
			0f 09 af02 0200000000000000 01 00 00 02 CRC`
		got := m.names["log/"+segmentName(0)].data
		check(t, got, want)
		if got := hex.EncodeToString(got[len(got)-crcSize:]); got != golden {
			t.Errorf("the last checksum is %s, want %s", got, golden)
		}
	})
}

// golden is the rolling CRC at the end. A separate program computed it from the
// table in doc.go.
const golden = "9b07710d"

// check compares bytes with hexadecimal text in which CRC stands for any four;
// the reader of the log has checked those.
func check(t *testing.T, got []byte, want string) {
	t.Helper()
	for _, word := range strings.Fields(want) {
		n := len(word) / 2
		if strings.HasPrefix(word, "CRC") {
			n = crcSize
		}
		if n > len(got) {
			t.Fatalf("the bytes end before %s", word)
		}
		if text := hex.EncodeToString(got[:n]); !strings.HasPrefix(word, "CRC") && text != word {
			t.Errorf("% x, want %s", got[:n], word)
		}
		got = got[n:]
	}
	if len(got) > 0 {
		t.Errorf("% x is left", got)
	}
}
