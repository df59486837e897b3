package replica

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
)

// A prediction in float64 is that of exact numbers, for lanes of any content and any number of bits.
func TestTurnEqualsNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(paritytest.Seed(), 6))
	seen := [2]int{}
	for bits := uint8(2); bits <= mostAngleBits; bits++ {
		for range casesOf(600, 50_000) {
			var q, before [4]int32
			var v []int32
			near, stands := r.IntN(2) == 0, r.IntN(10) == 0
			for k := range q {
				width := bits
				if k == 0 {
					width = 2
				}
				q[k] = sx(width, int32(r.Uint32())>>r.IntN(17))
				if r.IntN(10) == 0 {
					q[k] = sx(width, []int32{1 << (width - 1), 1<<(width-1) - 1, -1<<(width-1) + 1, 0}[r.IntN(4)])
				}
				if before[k] = sx(width, int32(r.Uint32())); stands {
					before[k] = q[k]
				} else if near {
					before[k] = sx(width, q[k]+r.Int32N(7)-3)
				}
				v = append(v, sx(width, q[k]-before[k]))
			}
			got, index, ok := quatSpan{bits: bits}.predict(before, q)
			want, at := naiveTurn(bits, q[:], v)
			if ok != (want != nil) {
				t.Fatalf("seed %d: %d after %d: a prediction: %v", paritytest.Seed(), q, before, ok)
			}
			if !ok {
				seen[0]++
				continue
			}
			seen[1]++
			for k := range got {
				if int64(got[k]) != want[k] || index&3 != int32(at) {
					t.Fatalf("seed %d: %d bits, %d after %d: %v without %d, want %d without %d", paritytest.Seed(), bits, q, before, got, index, want, at)
				}
			}
			for out := range int32(4) {
				for i, code := range codesWithout(&got, out) {
					if int64(code) != naiveCodes(want, int(out))[i] {
						t.Fatalf("codes of %v without %d", got, out)
					}
				}
			}
		}
	}
	if seen[0] < 100 || seen[1] < 5000 {
		t.Errorf("%d rotations stand, %d turn", seen[0], seen[1])
	}
}

// What stands is predicted to stand, and an even turn is predicted within the rounding of three rotations, also where the component that is left out changes.
func TestTurnPredictsEvenTurns(t *testing.T) {
	r := rand.New(rand.NewPCG(paritytest.Seed(), 7))
	const bits = defaultQuatBits
	changes, misses, n := 0, 0, 0
	for range casesOf(200, 4000) {
		axis := unit([4]float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), 0})
		start := unit([4]float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), r.NormFloat64()})
		by := r.Float64() * 0.4 // radians a message: 24 a second at 60 messages
		var rotations [][4]float32
		for step := range 100 {
			s, c := math.Sincos(by * float64(step) / 2)
			rotations = append(rotations, product([4]float64{s * float64(axis[0]), s * float64(axis[1]), s * float64(axis[2]), c}, start))
		}
		lanes := quatLanes(bits, rotations)
		at := func(i int) [4]int32 { return [4]int32{lanes[0][i], lanes[1][i], lanes[2][i], lanes[3][i]} }
		for i := 2; i < len(rotations); i++ {
			row := []int32{0, 0, 0, 0}
			for k := range row {
				row[k] = sx([]uint8{2, bits, bits, bits}[k], at(i)[k]-at(i - 1)[k])
			}
			quatSpan{0, bits}.difference(row, at(i-2), at(i-1), at(i))
			n++
			if at(i)[0] != at(i - 1)[0] {
				changes++
			}
			if row[0] != 0 {
				misses++
			}
			for _, d := range row[1:] {
				if d < -4 || d > 4 {
					t.Fatalf("seed %d: rotation %d at %.3f radians: differences %d", paritytest.Seed(), i, by, row)
				}
			}
		}
	}
	if changes < n/50 || misses > changes/10 {
		t.Errorf("%d of %d rotations leave out another component, and %d were predicted to leave out another", changes, n, misses)
	}
}

// product returns a·b, of length 1.
func product(a [4]float64, b [4]float32) [4]float32 {
	x, y, z, w := float64(b[0]), float64(b[1]), float64(b[2]), float64(b[3])
	return unit([4]float64{a[3]*x + a[0]*w + a[1]*z - a[2]*y, a[3]*y - a[0]*z + a[1]*w + a[2]*x, a[3]*z + a[0]*y - a[1]*x + a[2]*w, a[3]*w - a[0]*x - a[1]*y - a[2]*z})
}
