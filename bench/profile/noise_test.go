package profile

import (
	"runtime"
	"testing"
)

func TestStolen(t *testing.T) {
	for text, want := range map[string]int64{
		"cpu  172774 80554 43072 139896 778 0 339 127 0 0\ncpu0 1 2 3 4 5 6 7 8 9\n": 1_270_000_000,
		"cpu 1 2 3 4 5 6 7 0\n":                 0,
		"cpu 1 2 3 4 5 6 7\n":                   -1, // of a kernel that does not report it
		"cpu 1 2 3 4 5 6 7 x\n":                 -1,
		"cpu 1 2 3 4 5 6 7 -8\n":                -1,
		"cpu0 1 2 3 4 5 6 7 8\n":                -1,
		"cpu 1 2 3 4 5 6 7 9e99 1":              -1,
		"cpu 1 2 3 4 5 6 7 9223372036854775807": -1,
		"":                                      -1,
	} {
		if got := stolen(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func TestLoad(t *testing.T) {
	for text, want := range map[string]float64{
		"14.08 9.72 6.32 14/152 31722\n": 14.08, "0.00 0 0 1/1 1": 0, "": -1, "x 1 2": -1, "NaN": -1, "-1 2": -1, "+Inf 1": -1,
	} {
		if got := load(text); got != want {
			t.Errorf("%q: %g, want %g", text, got, want)
		}
	}
}

func TestNoiseSince(t *testing.T) {
	was := Noise{Switches: 5, Yields: -1, Faults: 7, StealNs: 9, Load: 3, Governor: "old", Pinned: 1}
	now := Noise{Switches: 8, Yields: 4, Faults: -1, StealNs: 8, Load: 2, Governor: "new", Pinned: -1}
	// A sum that has decreased counts as unchanged.
	want := Noise{Switches: 3, Yields: -1, Faults: -1, StealNs: 0, Load: 2, Governor: "new", Pinned: -1}
	if got := now.since(was); *got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if n := unknownNoise().since(unknownNoise()); *n != unknownNoise() {
		t.Errorf("the difference of unknown values is %+v", n)
	}
}

// The values of the system are plausible; without values the Noise is unknown.
func TestNoiseHere(t *testing.T) {
	r, err := New(Config{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	n := r.Run().Noise
	if runtime.GOOS != "linux" {
		if *n != unknownNoise() {
			t.Errorf("%+v", n)
		}
	} else if n.Switches < 0 || n.Yields < 0 || n.Faults < 0 {
		t.Errorf("%+v", n)
	}
	t.Logf("%+v", *n)
}
