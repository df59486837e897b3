package tuning

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/frame"
)

func TestCheckReportsAllFaults(t *testing.T) {
	bad := Tuning{ContactHertz: -1, PushSpeed: float32(math.NaN()), HitSpeed: 2e6}
	err := bad.Check("p: Tuning.")
	for _, want := range []string{"p: Tuning.ContactHertz = -1", "p: Tuning.PushSpeed = NaN", "p: Tuning.HitSpeed = 2e+06"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %q", err, want)
		}
	}
	if !errors.Is(err, fault.ErrRange) || !errors.Is(err, fault.ErrNotFinite) || strings.Count(err.Error(), "\n") != 2 {
		t.Error(err)
	}
}

func TestFilled(t *testing.T) {
	if got, want := (Tuning{MaxSpeed: 9}).Filled(), (Tuning{30, 10, 3, 1, 9, 1}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestEncodeAndDecode(t *testing.T) {
	for _, c := range []struct {
		tuning Tuning
		want   error
	}{
		{Tuning{1, 2, 3, 4, 5, 6}, nil}, {Tuning{1, 2, 3, 4, 5, 0}, fault.ErrCorrupt}, {Tuning{1, 2, 3, 4, -5, 6}, fault.ErrCorrupt},
	} {
		e := frame.Encoder{}
		c.tuning.Encode(&e)
		var got Tuning
		var d frame.Decoder
		if err := got.Decode(&d, e.Buf); !errors.Is(err, c.want) || got != c.tuning {
			t.Errorf("%v becomes %v: %v", c.tuning, got, err)
		}
		for n := range e.Buf {
			if err := got.Decode(&d, e.Buf[:n]); !errors.Is(err, fault.ErrCorrupt) {
				t.Errorf("%d bytes: %v", n, err)
			}
		}
	}
}

func TestHashHasEveryField(t *testing.T) {
	seen := map[uint64]bool{}
	var tuning Tuning
	for i, v := range tuning.numbers() {
		*v.value = float32(i + 1)
		seen[tuning.Hash(nil)[0].Hash] = true
	}
	if len(seen) != count {
		t.Errorf("%d hashes of %d tunings", len(seen), count)
	}
}
