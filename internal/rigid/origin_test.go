package rigid_test

import (
	"math"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/native"
)

// Origins on each level, split anywhere, against the whole in Go.
func TestParityOrigins(t *testing.T) {
	run := paritytest.Start(t, "Origins")
	g := &heapGuard{t: t, bufs: map[string]*paritytest.Buffer[float32]{}}
	for range paritytest.Rounds(200) {
		n := 1 + run.IntN(70)
		var columns [8][]float32
		for k := range columns {
			columns[k] = make([]float32, n)
			run.Fill(columns[k], paritytest.Finite...)
		}
		states := make([]rigid.State, n)
		for i := range states {
			if run.IntN(3) == 0 {
				moves := [...]*float32{&states[i].DX, &states[i].DY, &states[i].S, &states[i].C}
				*moves[run.IntN(4)] = run.Float(paritytest.Uniform)
			}
		}
		for _, level := range native.Levels() {
			run.Case(level)
			g.side, g.gap = paritytest.Sides[run.IntN(2)], run.IntN(paritytest.MaxGap+1)
			want, got := [8][]float32{}, [8][]float32{}
			for k := range columns {
				want[k], got[k] = append([]float32(nil), columns[k]...), g.copy(string(rune('a'+k)), columns[k])
			}
			guarded := structs[rigid.State](g.copy("states", words(states)))
			moved := make([]uint32, n)
			wantMoved := moved[:follow(native.Go, &want, states, 0, n, moved)]
			var gotMoved []uint32
			for lo := 0; lo < n; {
				hi := lo + 1 + run.IntN(n-lo)
				room := structs[uint32](g.copy("moved", make([]float32, hi-lo)))
				gotMoved = append(gotMoved, room[:follow(level, &got, guarded, lo, hi, room)]...)
				lo = hi
			}
			run.Check(paritytest.Bits("moved", gotMoved, wantMoved), g.check())
			for k := range columns {
				run.Check(paritytest.Floats("column", got[k], want[k]))
			}
		}
	}
}

// follow computes where centres of mass are, then the origins of bodies that moved.
func follow(level native.Level, c *[8][]float32, states []rigid.State, lo, hi int, moved []uint32) int {
	o := rigid.Origins{X: c[0], Y: c[1], CentreX: c[2], CentreY: c[3]}
	p := rigid.Poses{X: c[4], Y: c[5], Cos: c[6], Sin: c[7]}
	o.UpdateCentresOfMass(level, &p, lo, hi)
	return o.UpdateOrigins(level, states, &p, lo, hi, moved)
}

// One number that is not usable is found wherever it is, and only there.
func TestAllInRange(t *testing.T) {
	const columns, stride, n = 3, 50, 41
	edge := float32(1 << 63)
	bad := []float32{edge, -edge, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), -float32(math.NaN())}
	good := []float32{0, math.Nextafter32(edge, 0), -math.Nextafter32(edge, 0), math.SmallestNonzeroFloat32}
	for _, level := range native.Levels() {
		memory := make([]float32, (columns-1)*stride+n)
		for i := range memory {
			for k, v := range append(bad, good...) {
				memory[i] = v
				want := k >= len(bad) || i%stride >= n
				if got := rigid.AllInRange(level, memory, stride, columns, n); got != want {
					t.Fatalf("level %v: %v at %d: usable %v", level, v, i, got)
				}
			}
			memory[i] = 0
		}
		if !rigid.AllInRange(level, nil, 0, 0, 0) {
			t.Errorf("level %v: nothing is not usable", level)
		}
	}
}
