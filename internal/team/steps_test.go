package team

import (
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
)

// TestSteps: a part does its steps in order, none twice, and begins one only when the parts that are linked with it have done all before.
// Workers lose their CPU at random.
func TestSteps(t *testing.T) {
	for _, workers := range []int{1, 2, 3, 7} {
		var team Team
		var s Steps
		err := team.Run(workers, func() {
			rounds := 40
			if paritytest.Instrumented {
				rounds = 4
			}
			for round := range rounds {
				rng := rand.New(rand.NewPCG(uint64(round), 5))
				parts, steps := 1+rng.IntN(9), 1+rng.IntN(60)
				var done [MaxParts]atomic.Int64
				for i := range parts {
					s.Linked[i] |= 1 << i
					for j := range i {
						if rng.IntN(3) == 0 {
							s.Linked[i] |= 1 << j
							s.Linked[j] |= 1 << i
						}
					}
				}
				s.Do = func(part, step int) {
					if got := done[part].Load(); got != int64(step) {
						t.Errorf("part %d begins step %d after %d", part, step, got)
					}
					for other := range parts {
						if s.Linked[part]>>other&1 != 0 && done[other].Load() < int64(step) {
							t.Errorf("part %d begins step %d, part %d has done %d", part, step, other, done[other].Load())
						}
					}
					if rand.IntN(8) == 0 {
						runtime.Gosched()
					}
					done[part].Add(1)
				}
				team.RunSteps(&s, parts, steps)
				for i := range parts {
					if got := done[i].Load(); got != int64(steps) {
						t.Errorf("part %d did %d steps of %d", i, got, steps)
					}
				}
				clear(s.Linked[:])
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestStepsBorders: a border begins when linked parts have done their borders of all steps before it, the rest of a step when they have done all whole
// steps before it, and a whole step when they have done everything before it. Workers lose their CPU at random.
func TestStepsBorders(t *testing.T) {
	for _, workers := range []int{1, 2, 3, 7} {
		var team Team
		var s Steps
		err := team.Run(workers, func() {
			rounds := 25
			if paritytest.Instrumented {
				rounds = 4
			}
			for round := range rounds {
				rng := rand.New(rand.NewPCG(uint64(round), 6))
				parts, steps := 1+rng.IntN(9), 1+rng.IntN(60)
				s.Borders = appendBorders(s.Borders[:0], rng, parts, steps)
				clear(s.Linked[:])
				for i := range parts {
					s.Linked[i] |= 1 << i
					for j := range i {
						if rng.IntN(3) == 0 {
							s.Linked[i] |= 1 << j
							s.Linked[j] |= 1 << i
						}
					}
				}
				// What a part has done, by step: 1 for its border, 2 for the rest, 3 for a whole step.
				done := make([]atomic.Int32, parts*steps)
				// begin checks what must be done before: of each step before it, what linked parts owe if it has a border, and if it is a whole step.
				begin := func(part, step int, border, whole int32) {
					for other := range parts {
						if s.Linked[part]>>other&1 == 0 {
							continue
						}
						for before := range step {
							of := s.Borders[before*parts+other]
							want := map[Border]int32{WholeStep: whole, SomeBorder: border, NoBorder: 0}[of]
							if other == part || s.Borders[step*parts+part] == WholeStep {
								want = map[Border]int32{WholeStep: 3, SomeBorder: 3, NoBorder: 2}[of]
							}
							if got := done[before*parts+other].Load(); got&want != want {
								t.Errorf("part %d begins step %d, part %d has done %b of step %d, want %b", part, step, other, got, before, want)
							}
						}
					}
					if rand.IntN(8) == 0 {
						runtime.Gosched()
					}
				}
				s.Border = func(part, step int) {
					begin(part, step, 1, 3)
					if of := s.Borders[step*parts+part]; of != SomeBorder || done[step*parts+part].Add(1) != 1 {
						t.Errorf("a border of step %d of part %d, %d", step, part, of)
					}
				}
				s.Do = func(part, step int) {
					begin(part, step, 0, 3)
					at := &done[step*parts+part]
					if of := s.Borders[step*parts+part]; of == WholeStep && at.Add(3) != 3 || of == SomeBorder && at.Add(2) != 3 || of == NoBorder && at.Add(2) != 2 {
						t.Errorf("the rest of step %d of part %d, %d: done %d", step, part, of, at.Load())
					}
				}
				team.RunSteps(&s, parts, steps)
				for i, of := range s.Borders {
					if got := done[i].Load(); got < 2 || of == SomeBorder && got != 3 {
						t.Errorf("round %d: step %d of part %d: done %d", round, i/parts, i%parts, got)
					}
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestStepsAlone: where no helper arrives, the leader does all steps of all parts.
func TestStepsAlone(t *testing.T) {
	needHelpers(t)
	var team Team
	late := make(chan struct{})
	defer close(late)
	team.check = func() error { <-late; return nil }
	var s Steps
	calls := 0
	s.Do = func(part, step int) { calls++ }
	for i := range 4 {
		s.Linked[i] = 15
	}
	team.Run(4, func() { team.RunSteps(&s, 4, 100) })
	if calls != 400 {
		t.Errorf("%d calls, want 400", calls)
	}
}

// TestStepsPanic: a panic in a step of any worker reaches the caller, and leaves no worker waiting.
func TestStepsPanic(t *testing.T) {
	for _, workers := range []int{1, 2, 4} {
		var team Team
		var s Steps
		for i := range 4 {
			s.Linked[i] = 15
		}
		for at := range 4 {
			s.Do = func(part, step int) {
				if part == at && step == 7 {
					panic("step 7")
				}
			}
			func() {
				defer func() {
					if v := recover(); v != "step 7" {
						t.Errorf("%d workers, part %d: recovered %v", workers, at, v)
					}
				}()
				team.Run(workers, func() { team.RunSteps(&s, 4, 20) })
			}()
		}
		s.Do = func(part, step int) {}
		if err := team.Run(workers, func() { team.RunSteps(&s, 4, 20) }); err != nil {
			t.Error(err)
		}
	}
}

func TestStepsAllocateNothing(t *testing.T) {
	var team Team
	s := Steps{Linked: [MaxParts]uint64{3, 3}, Do: func(part, step int) {}}
	run := func() { team.RunSteps(&s, 2, 50) }
	team.Run(2, run)
	if n := testing.AllocsPerRun(20, func() { team.Run(2, run) }); n > 0.5 { // a helper may start
		t.Errorf("%g allocations", n)
	}
}

// appendBorders appends a border for each part in each step. Some steps are whole for all parts.
func appendBorders(dst []Border, rng *rand.Rand, parts, steps int) []Border {
	for range steps {
		whole := rng.IntN(8) == 0
		for range parts {
			border := WholeStep
			if !whole {
				border = SomeBorder + Border(rng.IntN(2))
			}
			dst = append(dst, border)
		}
	}
	return dst
}
