package rigid_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/rigid"
)

// A shape passes a sensor if the two overlap in one of many poses between those before and after the step, and not in
// the last one.
func TestPassedSensors(t *testing.T) {
	paritytest.SkipSerialUnderRace(t)
	rng := rand.New(rand.NewPCG(21, 3))
	passes, inside, apart := 0, 0, 0
	const samples = 300
	for round := range max(2400, paritytest.Rounds(4000)) {
		p := randomPursuit(rng, 2)
		p.sweep.Sensor[0] = true
		var got broad.Pairs
		p.sweep.PassedSensors(&p.layout, []uint32{1}, &got)
		if n := len(got.A); n > 1 || n == 1 && (got.A[0] != 0 || got.B[0] != 1) {
			t.Fatalf("round %d: found %v", round, got)
		}
		least, end := math.Inf(1), p.gap(false, 1)
		for k := range samples {
			least = min(least, p.gap(false, float64(k)/samples))
		}
		want := false
		switch {
		case math.Abs(end) < 1e-3: // it just touches at the end
			continue
		case end < 0:
			inside++
		case least < -1e-3:
			want = true
			passes++
		case least > 0.15: // no pose between two samples is as near as that
			apart++
		default:
			continue
		}
		if found := len(got.A) == 1; found != want {
			t.Errorf("round %d: found %t; it comes as near as %.4f, and %.4f at the end", round, found, least, end)
		}
	}
	t.Logf("%d pass, %d end inside, %d stay apart", passes, inside, apart)
	if passes < 100 || inside < 100 || apart < 100 {
		t.Error("that is not what a test needs")
	}
}

// Filters, segments of chains, disabled shapes and bodies that are not finite report nothing.
func TestPassedSensorsLeavesOut(t *testing.T) {
	for name, change := range map[string]func(p *pursuit){
		"nothing":            func(*pursuit) {},
		"another mask":       func(p *pursuit) { p.sweep.Filters.Mask[0] = 2 },
		"a negative group":   func(p *pursuit) { p.sweep.Filters.Group[0], p.sweep.Filters.Group[1] = -3, -3 },
		"a disabled sensor":  func(p *pursuit) { p.sweep.Shapes[0].Count = 0 },
		"a disabled visitor": func(p *pursuit) { p.sweep.Shapes[1].Count = 0 },
		"two sensors":        func(p *pursuit) { p.sweep.Sensor[1] = true },
		"a segment of a chain": func(p *pursuit) {
			p.sweep.ChainSegments = make([]rigid.ChainSegment, 2)
			p.sweep.ChainSegments[1].Chain = 1
		},
		"NaN": func(p *pursuit) { p.sweep.States[1].DX = float32(math.NaN()) },
	} {
		rng, found := rand.New(rand.NewPCG(22, 3)), 0
		for range 200 {
			p := randomPursuit(rng, 2)
			p.sweep.Sensor[0] = true
			change(p)
			var got broad.Pairs
			p.sweep.PassedSensors(&p.layout, []uint32{1}, &got)
			found += len(got.A)
		}
		if (found > 0) != (name == "nothing") {
			t.Errorf("%s: %d are found", name, found)
		}
	}
}
