package pace

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/evertick/evertick/internal/paritytest"
)

// Within 20 runs of the start those have helpers that gain by it, and no others: although the first runs find no data in the caches, and the first
// one with helpers waits for them to start.
func TestFirstRuns(t *testing.T) {
	rng := rand.New(rand.NewPCG(paritytest.Seed(), 1))
	for round := range 500 {
		gains := round%2 == 0
		var p Pace
		helped, late := 0, 0
		for run := range 40 {
			took := 1000 * (0.95 + 0.1*rng.Float64())
			helpers := p.Allows()
			if helpers {
				helped++
				if run >= 20 {
					late++
				}
				if took *= 0.65; !gains {
					took *= 2
				}
				if helped == 1 {
					took *= 1.5 + rng.Float64()
				}
			}
			took *= max(1, 2.5-0.5*float64(run))
			p.Ran(helpers, time.Duration(took)*time.Microsecond, 0)
		}
		if gains && late < 14 || !gains && late > 6 {
			t.Errorf("round %d, gains %v: of 20 runs after the first 20, %d have helpers", round, gains, late)
		}
	}
}
