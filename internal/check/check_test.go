package check

import (
	"errors"
	"math"
	"testing"

	"github.com/evertick/evertick/internal/fault"
)

func TestChecks(t *testing.T) {
	nan, inf, below := float32(math.NaN()), float32(math.Inf(1)), math.Nextafter32(Limit, 0)
	notFinite, outOfRange := fault.ErrNotFinite, fault.ErrRange
	checks := map[string]func(v float32) error{
		"Finite":      func(v float32) error { return Finite("f", v) },
		"Vector":      func(v float32) error { return Vector("f", []float32{0, v}) },
		"NotNegative": func(v float32) error { return NotNegative("f", v) },
		"Positive":    func(v float32) error { return Positive("f", v) },
		"Between":     func(v float32) error { return Between("f", v, -2, Limit) },
		"Coefficient": func(v float32) error { return Coefficient("f", v) },
		"Magnitude":   func(v float32) error { return Magnitude("f", v) },
		"Limited":     func(v float32) error { return Limited("f", 0, v) },
		"Inverse":     func(v float32) error { _, err := Inverse("f", v); return err },
	}
	for _, c := range []struct {
		name string
		v    float32
		want error
	}{
		{"Finite", below, nil}, {"Finite", -math.MaxFloat32, nil}, {"Finite", nan, notFinite}, {"Finite", -inf, notFinite},
		{"Vector", 7, nil}, {"Vector", nan, notFinite}, {"Vector", inf, notFinite},
		{"NotNegative", 0, nil}, {"NotNegative", -1e-30, outOfRange}, {"NotNegative", inf, notFinite},
		{"Positive", 1e-30, nil}, {"Positive", 0, outOfRange}, {"Positive", nan, notFinite},
		{"Between", -2, nil}, {"Between", below, nil}, {"Between", Limit, outOfRange}, {"Between", -2.1, outOfRange}, {"Between", nan, notFinite},
		{"Coefficient", MaxCoefficient, nil}, {"Coefficient", 1000001, outOfRange}, {"Coefficient", -1, outOfRange},
		{"Magnitude", below, nil}, {"Magnitude", Limit, outOfRange}, {"Magnitude", -1, outOfRange},
		{"Limited", -below, nil}, {"Limited", -Limit, outOfRange},
		{"Inverse", 0, nil}, {"Inverse", 2, nil}, {"Inverse", 1. / Limit, outOfRange}, {"Inverse", Limit, outOfRange}, {"Inverse", -1, outOfRange},
	} {
		if err := checks[c.name](c.v); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s of %g: %v, want %v", c.name, c.v, err, c.want)
		}
	}
	if v, _ := Inverse("f", 4); v != 0.25 {
		t.Errorf("the inverse of 4 is %g", v)
	}
	if got, want := Vector("f", []float32{1, nan}).Error(), "f[1] = NaN: not finite"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := Overflow("f", 3).Error(), "f = 3: out of range: the result would overflow"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestCanonicalNaN(t *testing.T) {
	for _, bits := range []uint32{0x7fc00000, 0xffc00000, 0x7f800001, 0xffffffff} {
		if got := math.Float32bits(CanonicalNaN(math.Float32frombits(bits))); got != 0x7fc00000 {
			t.Errorf("NaN %#x becomes %#x", bits, got)
		}
	}
	for _, bits := range []uint32{0x80000000, 0x7f800000, 1, 0x3f800000} {
		if got := math.Float32bits(CanonicalNaN(math.Float32frombits(bits))); got != bits {
			t.Errorf("%#x becomes %#x", bits, got)
		}
	}
}
