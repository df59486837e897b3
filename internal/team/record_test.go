package team

import (
	"math/rand/v2"
	"testing"
)

// A recorder sees each border and each rest once, in an order in which workers could do them, also with more workers than CPUs.
func TestRecordSteps(t *testing.T) {
	for round := range 40 {
		rng := rand.New(rand.NewPCG(uint64(round), 8))
		parts, steps := 1+rng.IntN(9), rng.IntN(30)
		var team Team
		var s Steps
		s.Borders = appendBorders(nil, rng, parts, steps)
		for i := range parts {
			for j := range i {
				if rng.IntN(3) == 0 {
					s.Linked[i] |= 1 << j
					s.Linked[j] |= 1 << i
				}
			}
		}
		called, begun, pieces := 0, 0, 0
		at := make([]int, parts) // twice the steps that are done, and one more between border and rest
		s.Border = func(part, step int) { called++ }
		s.Do = func(part, step int) { called++ }
		team.Record = func(int) {}
		team.RecordStep = func(of *Steps, n, m, part, step int, border bool) {
			if of != &s || n != parts || m != steps {
				t.Fatalf("%d parts and %d steps, want %d and %d", n, m, parts, steps)
			}
			if part < 0 {
				begun++
				return
			}
			if pieces++; pieces != called {
				t.Fatalf("%d pieces recorded after %d", pieces, called)
			}
			kind := s.Borders[step*parts+part]
			if want := 2*step + map[bool]int{true: 1}[kind == SomeBorder && !border]; at[part] != want {
				t.Fatalf("part %d: step %d, border %v, at %d", part, step, border, at[part])
			}
			for other := range parts {
				if s.Linked[part]>>other&1 != 0 && kind == WholeStep && at[other] < 2*step {
					t.Fatalf("part %d does step %d as a whole when part %d is at %d", part, step, other, at[other])
				}
			}
			if at[part] = 2*step + 2; border {
				at[part] = 2*step + 1
			}
		}
		workers := 0
		if err := team.Run(9, func() {
			workers = team.Workers()
			team.RunSteps(&s, parts, steps)
		}); err != nil {
			t.Fatal(err)
		}
		if begun != 1 || workers != 9 {
			t.Errorf("begun %d times, with %d workers", begun, workers)
		}
		for part, done := range at {
			if done != 2*steps {
				t.Errorf("part %d of %d is at %d of %d", part, parts, done, 2*steps)
			}
		}
	}
}
