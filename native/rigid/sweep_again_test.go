package rigid_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/native/paritytest"
	"github.com/evertick/evertick/native/rigid"
)

// A body that a stop has left with a part of its turn has turned by that, and not by whole turns more, for what comes
// after: another stop, or one that meets it. It may turn by several turns in a step.
func TestStoppedBodiesKeepTheirTurn(t *testing.T) {
	rng := rand.New(rand.NewPCG(paritytest.Seed(), 6))
	stopped, ambiguous := 0, 0
	for round := range max(2000, paritytest.Rounds(2000)) {
		f := randomFlight(rng)
		f.turn = within(rng, -12, 12)
		sin, cos := math.Sincos(f.turn)
		st := &f.sweep.States[1]
		st.W, st.S, st.C = float32(60*f.turn), float32(sin), float32(cos)
		f.sweep.TurnAngle = make([]float32, 2)
		if got := float64(f.sweep.Turned(1)); math.Abs(got-f.turn) > 1e-4 {
			t.Fatalf("round %d: a turn of %g is taken for %g", round, f.turn, got)
		}
		p := &f.poses
		x, y, angle := float64(p.X[1]), float64(p.Y[1]), math.Atan2(float64(p.Sin[1]), float64(p.Cos[1]))
		if start, apart := f.at(false, 0, x, y, angle).distance(f.solid(0)); !apart || start < 0.02 {
			continue // it may slide, and then turns all the way
		}
		f.sweep.SolveStationary(&f.broad, []uint32{1})
		end := math.Hypot(float64(st.DX), float64(st.DY)) / f.move.length()
		if end > 0.9999 || end == 0 {
			continue
		}
		stopped++
		if math.Round((1-end)*f.turn/(2*math.Pi)) != 0 {
			ambiguous++
		}
		if got := float64(f.sweep.Turned(1)); math.Abs(got-end*f.turn) > 1e-3 {
			t.Errorf("round %d: stopped at %.4f of a turn of %g, it is taken to have turned by %g", round, end, f.turn, got)
		}
	}
	if stopped < 100 || ambiguous < 20 {
		t.Errorf("%d stopped, of these %d early in a long turn", stopped, ambiguous)
	}
}

// Surround says what it lacks.
func TestSurroundNeedsMost(t *testing.T) {
	f := randomFlight(rand.New(rand.NewPCG(1, 1)))
	f.sweep.MaxExtent = nil
	defer func() {
		if got := recover(); got != "rigid: ContinuousSolver.SweepBoxes: MaxExtent of each body is needed" {
			t.Errorf("panics with %v", got)
		}
	}()
	f.sweep.SweepBoxes(&rigid.Boxes{}, &rigid.Boxes{}, 0, 2)
}
