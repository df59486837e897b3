package proof

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/fault"
)

func sample() *Recording {
	return &Recording{Build: "linux/amd64 v1", SimVersion: 3, Seed: 7, Hashes: []uint64{1, 1 << 63, 5}}
}

func marshal(t testing.TB, r *Recording) []byte {
	t.Helper()
	b, err := r.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRecordingRoundTrip(t *testing.T) {
	for _, r := range []*Recording{sample(), {Hashes: []uint64{}}} {
		b := marshal(t, r)
		if len(b) != fixedSize+len(r.Build)+8*len(r.Hashes) {
			t.Errorf("%d bytes", len(b))
		}
		var got Recording
		if err := got.UnmarshalBinary(b); err != nil || !reflect.DeepEqual(&got, r) {
			t.Errorf("%+v became %+v, %v", r, got, err)
		}
	}
	if _, err := (&Recording{Build: strings.Repeat("x", maxBuild+1)}).MarshalBinary(); !errors.Is(err, fault.ErrRange) {
		t.Errorf("a long line: %v", err)
	}
}

// Every altered byte is noticed.
func TestRecordingIsChecked(t *testing.T) {
	good := marshal(t, sample())
	for i := range good {
		bad := slices.Clone(good)
		bad[i] ^= 0x10
		kept := Recording{Seed: 99}
		if err := kept.UnmarshalBinary(bad); !errors.Is(err, fault.ErrCorrupt) || kept.Seed != 99 {
			t.Errorf("byte %d altered: %v, %+v", i, err, kept)
		}
		if err := new(Recording).UnmarshalBinary(good[:i]); !errors.Is(err, fault.ErrCorrupt) {
			t.Errorf("cut to %d bytes: %v", i, err)
		}
	}
}

func FuzzRecording(f *testing.F) {
	f.Add(marshal(f, sample()))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		var r Recording
		if err := r.UnmarshalBinary(b); err != nil {
			if !errors.Is(err, fault.ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		if !slices.Equal(marshal(t, &r), b) {
			t.Fatal("read and written again, it is another file")
		}
	})
}

func TestFirstDifference(t *testing.T) {
	a, b := sample(), sample()
	if tick, differ := FirstDifference(a, b); differ {
		t.Errorf("equal recordings differ after tick %d", tick)
	}
	b.Hashes = append(b.Hashes, 9)
	if _, differ := FirstDifference(a, b); differ {
		t.Error("a shorter one differs")
	}
	b.Hashes[1]++
	b.Hashes[2]++
	if tick, differ := FirstDifference(a, b); !differ || tick != 2 {
		t.Errorf("tick %d, %t", tick, differ)
	}
}

func TestComparable(t *testing.T) {
	if err := Comparable(sample(), sample()); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*Recording){
		"seed":    func(r *Recording) { r.Seed++ },
		"version": func(r *Recording) { r.SimVersion++ },
		"ticks":   func(r *Recording) { r.Hashes = nil },
	} {
		r := sample()
		change(r)
		if err := Comparable(sample(), r); !errors.Is(err, fault.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
