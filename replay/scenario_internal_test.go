package replay

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/worldlog"
)

// ballast is a state of so many bytes.
type ballast int

func (b ballast) AppendState(dst []byte) []byte { return append(dst, make([]byte, b)...) }
func (b ballast) RestoreState([]byte) error     { return nil }

// What a Sim holds as it is built counts in the limit of its snapshots, twice, whatever it is.
func TestSnapshotLimitCountsWhatIsBuilt(t *testing.T) {
	limit := func(bytes int) int {
		sim, err := evertick.New(evertick.Config{Capacity: 16})
		if err != nil {
			t.Fatal(err)
		}
		if err := sim.AddState("ballast", ballast(bytes)); err != nil {
			t.Fatal(err)
		}
		return Scenario{}.maxSnapshot(sim)
	}
	if more := limit(1<<20) - limit(0); more != 2<<20 {
		t.Errorf("a state of 1 MiB raises the limit by %d bytes", more)
	}
}

// An Input record without a stamp has the bytes that it had before there were stamps.
func TestInputRecords(t *testing.T) {
	for _, c := range []struct {
		in   evertick.Input
		want []byte
	}{
		{evertick.Input{Tick: 100, Data: []byte("x")}, []byte{0, 'x'}},
		{evertick.Input{Tick: 95}, []byte{5}},
		{evertick.Input{}, []byte{100}},
		{evertick.Input{Tick: 100, At: 300, Fraction: 3, Data: []byte("x")}, []byte{101, 0xac, 2, 3, 'x'}},
		{evertick.Input{Tick: 95, Fraction: 1}, []byte{106, 0, 1}},
		{evertick.Input{At: 1}, []byte{0xc9, 1, 1, 0}},
		{evertick.Input{At: math.MaxUint64, Fraction: math.MaxUint32}, append([]byte{0xc9, 1}, wire.AppendUvarints(nil, math.MaxUint64, math.MaxUint32)...)},
	} {
		data := appendInput(nil, 100, &c.in)
		if !bytes.Equal(data, c.want) {
			t.Errorf("%+v: % x, want % x", c.in, data, c.want)
		}
		in, err := ParseInput(100, &worldlog.Record{Data: data})
		if err != nil || !sameInput(&in, &c.in) {
			t.Errorf("% x: %+v, %v; want %+v", data, in, err, c.in)
		}
	}
	for _, bad := range [][]byte{
		{}, {101}, {101, 1}, {101, 0, 0}, {0xca, 1, 1, 1}, // empty, cut short twice, a stamp of zeros, later than the run
		wire.AppendUvarints(nil, 101, 1, 1<<32), // a fraction of more than a tick
	} {
		if in, err := ParseInput(100, &worldlog.Record{Data: bad}); !errors.Is(err, evertick.ErrCorrupt) {
			t.Errorf("% x: %+v, %v", bad, in, err)
		}
	}
}

func sameInput(a, b *evertick.Input) bool {
	return a.Tick == b.Tick && a.Source == b.Source && a.Seq == b.Seq && a.At == b.At && a.Fraction == b.Fraction &&
		a.Kind == b.Kind && bytes.Equal(a.Data, b.Data)
}

// Whatever is read is written so that the same is read again, or it is refused.
func FuzzParseInput(f *testing.F) {
	f.Add(uint64(100), []byte{5, 'x'})
	f.Add(uint64(100), []byte{106, 1, 2, 'x'})
	f.Add(uint64(0), wire.AppendUvarints(nil, 1, math.MaxUint64, math.MaxUint32))
	f.Fuzz(func(t *testing.T, tick uint64, data []byte) {
		tick >>= 1 // as ticks of a log are
		in, err := ParseInput(tick, &worldlog.Record{Data: data})
		if err != nil {
			if !errors.Is(err, evertick.ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		again := appendInput(nil, tick, &in)
		out, err := ParseInput(tick, &worldlog.Record{Data: again})
		if err != nil || !sameInput(&in, &out) || len(again) > len(data) {
			t.Fatalf("tick %d: % x was read as %+v, written as % x and read as %+v, %v", tick, data, in, again, out, err)
		}
	})
}
