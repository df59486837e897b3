package history

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/evertick/evertick/internal/wire"
)

// An input without a stamp has the bytes that it had before there were stamps.
func TestInputFormat(t *testing.T) {
	for _, c := range []struct {
		in   Input
		want string
	}{
		{
			Input{Tick: 1, Source: 2, Seq: 3, Kind: 4, Data: []byte{5, 6}},
			"0100000000000000" + "02000000" + "0300000000000000" + "04000000" + "02000000" + "0506",
		},
		{
			Input{Tick: 1, Source: 2, Seq: 3, Kind: 4, At: 7, Fraction: 8, Data: []byte{5, 6}},
			"0100000000000000" + "02000000" + "0300000000000000" + "04000000" + "02000080" + "0700000000000000" + "08000000" + "0506",
		},
		{
			Input{Fraction: 1},
			"0000000000000000" + "00000000" + "0000000000000000" + "00000000" + "00000080" + "0000000000000000" + "01000000",
		},
	} {
		data := AppendInput(nil, &c.in)
		if got := hex.EncodeToString(data); got != c.want {
			t.Errorf("%+v: %s, want %s", c.in, got, c.want)
		}
		checkRead(t, data, c.in)
	}
}

func checkRead(t *testing.T, data []byte, want Input) {
	t.Helper()
	r := wire.NewReader(data)
	in := ReadInput(&r)
	same := bytes.Equal(in.Data, want.Data)
	in.Data, want.Data = nil, nil
	if r.Done() != nil || !same || in.Tick != want.Tick || in.Source != want.Source || in.Seq != want.Seq ||
		in.Kind != want.Kind || in.At != want.At || in.Fraction != want.Fraction {
		t.Errorf("%+v, %v; want %+v", in, r.Err(), want)
	}
}

// Whatever is read is written as the same bytes, or refused.
func FuzzReadInput(f *testing.F) {
	f.Add(AppendInput(nil, &Input{Tick: 1, Source: 2, Seq: 3, Kind: 4, Data: []byte("data")}))
	f.Add(AppendInput(nil, &Input{At: 7, Fraction: 8, Data: []byte("data")}))
	f.Add(append(make([]byte, 24), 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) // a stamp of zeros
	f.Fuzz(func(t *testing.T, data []byte) {
		r := wire.NewReader(data)
		in := ReadInput(&r)
		if r.Err() != nil {
			return
		}
		if again := AppendInput(nil, &in); !bytes.Equal(again, data[:r.Offset()]) {
			t.Fatalf("%x was read as %+v and written as %x", data[:r.Offset()], in, again)
		}
	})
}
