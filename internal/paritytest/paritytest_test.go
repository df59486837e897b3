package paritytest

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// envReach makes a child process touch an element outside a slice.
const envReach = "EVERTICK_TEST_REACH"

var sink float32

// reach maps the name of a misdeed to the deed, done to a slice of 8 elements
// on the given side of a guard page.
var reach = map[string]struct {
	side Side
	do   func(s []float32)
}{
	"read behind":  {After, func(s []float32) { sink = *element(s, 8) }},
	"write behind": {After, func(s []float32) { *element(s, 8) = 1 }},
	"read before":  {Before, func(s []float32) { sink = *element(s, -1) }},
	"write before": {Before, func(s []float32) { *element(s, -1) = 1 }},
	"nothing":      {After, func(s []float32) { sink = *element(s, 7) + *element(s, 0) }},
}

// element is &s[i] without the bounds check, as C has it.
//
//go:nocheckptr
func element(s []float32, i int) *float32 {
	return (*float32)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(s)), 4*i))
}

func TestGuardPagesHaveTeeth(t *testing.T) {
	if !GuardPages {
		t.Skip("no guard pages on this system")
	}
	if deed, asked := reach[os.Getenv(envReach)]; asked {
		deed.do(NewBuffer[float32](t, 8).Place(8, deed.side, 0))
		return
	}
	for name := range reach {
		out, err := Child(t, "TestGuardPagesHaveTeeth", envReach+"="+name)
		if name == "nothing" {
			if err != nil {
				t.Errorf("a child that stays inside its slice fails: %v\n%s", err, out)
			}
			continue
		}
		if err == nil || !strings.Contains(out, "fault") {
			t.Errorf("a child that does %q survives: %v\n%s", name, err, out)
		}
	}
}

func TestPlaceKeepsItsPromises(t *testing.T) {
	b := NewBuffer[uint32](t, 40)
	for n := range 41 {
		for gap := range MaxGap + 1 {
			for _, side := range Sides {
				s := b.Place(n, side, gap)
				if len(s) != n || cap(s) != n {
					t.Fatalf("Place(%d, %d, %d) has length %d, capacity %d", n, side, gap, len(s), cap(s))
				}
				for i := range s {
					if s[i] != poison {
						t.Fatalf("Place(%d, %d, %d): element %d is not poison", n, side, gap, i)
					}
					s[i] = uint32(i)
				}
				if err := b.Check(); err != nil {
					t.Fatalf("Place(%d, %d, %d): %v", n, side, gap, err)
				}
			}
		}
	}
}

func TestBeforeIsMisalignedByTheGap(t *testing.T) {
	b := NewBuffer[float32](t, 40)
	for gap := range MaxGap + 1 {
		address := uintptr(unsafe.Pointer(&b.Place(8, Before, gap)[0]))
		if got := address / 4 % 16; GuardPages && got != uintptr(gap) {
			t.Errorf("gap %d: misaligned by %d elements", gap, got)
		}
	}
}

func TestCheckSeesOneBit(t *testing.T) {
	b := NewBuffer[float32](t, 40)
	for _, c := range []struct {
		at   int
		want string
	}{{-1, "element -1 is"}, {-5, "element -5 is"}, {20, "element 20 is"}, {24, "element 24 is"}} {
		s := b.Place(20, After, 8)
		p := (*uint32)(unsafe.Pointer(element(s, c.at)))
		*p ^= 1 << 17
		if err := b.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("element %d altered: %v", c.at, err)
		}
	}
	s := NewBuffer[uint64](t, 4)
	*(*uint64)(unsafe.Add(unsafe.Pointer(&s.Place(4, Before, 2)[0]), -8)) = poison
	if err := s.Check(); err == nil {
		t.Error("half of an element altered: no error")
	}
}

func TestComparisonsSeeOneBit(t *testing.T) {
	want := []float32{1, -2, 0, 4, float32(math.NaN())}
	for i := range want {
		for bit := range 32 {
			got := slices.Clone(want)
			got[i] = math.Float32frombits(math.Float32bits(got[i]) ^ 1<<bit)
			name := fmt.Sprintf("v[%d]: got %08x ", i, math.Float32bits(got[i]))
			if err := Bits("v", got, want); err == nil || !strings.HasPrefix(err.Error(), name) {
				t.Errorf("Bits, bit %d of element %d altered: %v", bit, i, err)
			}
			stillNaN := got[i] != got[i]
			if err := Floats("v", got, want); (err == nil) != stillNaN {
				t.Errorf("Floats, bit %d of element %d altered: %v", bit, i, err)
			}
		}
	}
	if err := Bits("v", want, want); err != nil {
		t.Error(err)
	}
	if Bits("v", want[:4], want) == nil || Floats("v", want, want[:4]) == nil || Bits("v", want[:0], want) == nil {
		t.Error("another length is no difference")
	}
	if err := Bits("v", []uint64{7}, []uint64{8}); err == nil || err.Error() != "v[0]: got 0000000000000007 (7), want 0000000000000008 (8)" {
		t.Error(err)
	}
}

func TestClassesAreWhatTheySay(t *testing.T) {
	r := Start(t, "Classes")
	const smallest = 0x1p-126
	is := map[Class]func(v, abs float64) bool{
		Uniform:  func(_, abs float64) bool { return abs <= 1000 },
		Zero:     func(v, _ float64) bool { return v == 0 },
		Denormal: func(v, abs float64) bool { return v != 0 && abs < smallest },
		Huge:     func(_, abs float64) bool { return abs >= 0x1p64 && abs <= math.MaxFloat32 },
		Tiny:     func(_, abs float64) bool { return abs >= smallest && abs <= 0x1p-64 },
		Infinite: func(v, _ float64) bool { return math.IsInf(v, 0) },
		NaN:      func(v, _ float64) bool { return math.IsNaN(v) },
		AnyBits:  func(float64, float64) bool { return true },
	}
	for _, c := range AllClasses {
		for range 2000 {
			v := float64(r.Float(c))
			if !is[c](v, math.Abs(v)) {
				t.Fatalf("class %d gives %g", c, v)
			}
		}
	}
}

func TestScenesAreFiniteAndAscending(t *testing.T) {
	r := Start(t, "Scenes")
	finite := func(columns ...[]float32) bool {
		for _, c := range columns {
			if slices.ContainsFunc(c, func(v float32) bool { return v-v != 0 }) {
				return false
			}
		}
		return true
	}
	for i := range Families {
		for range 50 {
			s := Families[i].Draw(r, 200, 20)
			if !finite(s.X, s.Y, s.Z, s.QueryX, s.QueryY, s.QueryZ, s.Radius) || slices.Min(s.Radius) < 0 {
				t.Fatalf("%s: a number is not finite, or a radius negative", s.Name)
			}
			s.Spread(r, 1<<24-1)
			if !slices.IsSorted(s.Slots) || len(slices.Compact(slices.Clone(s.Slots))) != len(s.X) {
				t.Fatalf("%s: slots do not ascend", s.Name)
			}
		}
	}
}

func TestInputsDependOnTheSeedOnly(t *testing.T) {
	var runs [2][8]uint64
	for i := range runs {
		r := Start(t, "Repeat")
		for j := range runs[i] {
			runs[i][j] = r.Uint64()
		}
	}
	if runs[0] != runs[1] {
		t.Error("two runs of one kernel draw different inputs")
	}
	if Start(t, "Other").Uint64() == runs[0][0] {
		t.Error("runs of different kernels draw the same inputs")
	}
}

func TestRepeatCommand(t *testing.T) {
	got := command("TestX/level=c", "example.org/p")
	want := fmt.Sprintf("EVERTICK_SEED=%d go test -count=1 -run '^TestX$/^level=c$' example.org/p", Seed())
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if pkg := func() string { return callerPackage() }(); !strings.HasSuffix(pkg, "paritytest") {
		t.Errorf("caller's package is %q", pkg)
	}
}
