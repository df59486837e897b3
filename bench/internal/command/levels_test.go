package command

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/evertick/evertick/native"
)

// fakeSim counts steps; on the level broken it differs from the tick given on.
func fakeSim(broken native.Level, from uint64) opener {
	return func(level native.Level) (stepper, error) {
		n := uint64(0)
		return stepper{
			step: func() error { n++; return nil },
			hash: func() uint64 {
				if level == broken && n >= from {
					return n + 1000
				}
				return n
			},
		}, nil
	}
}

var threeLevels = []native.Level{native.Go, native.C, native.AVX2}

func TestPreflight(t *testing.T) {
	p, err := preflight(threeLevels, 10, 7, fakeSim(native.AVX512, 0))
	if err != nil || !p.OK || p.Cases != 20 || strings.Join(p.Levels, " ") != "c avx2" || p.Seed != 7 || p.Err != "" {
		t.Errorf("%+v, %v", p, err)
	}
	p, err = preflight(threeLevels, 10, 7, fakeSim(native.C, 4))
	if err != nil || p.OK || !strings.Contains(p.Err, "after tick 4 ") || !strings.Contains(p.Err, "level c") {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err = preflight([]native.Level{native.Go}, 10, 7, fakeSim(native.C, 4)); err != nil || !p.OK || p.Cases != 0 {
		t.Errorf("pure Go alone: %+v, %v", p, err)
	}
	broken := errors.New("broken")
	if _, err := preflight(threeLevels, 3, 1, func(native.Level) (stepper, error) { return stepper{}, broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
}

// A ladder has a rung for each level with as many steps each, and rejects levels that differ.
func TestLadder(t *testing.T) {
	turns := 0
	rungs, err := ladder(threeLevels, shortLadder, fakeSim(native.AVX512, 0), func(int) { turns++ })
	if err != nil || len(rungs) != 3 || turns < shortLadder.least || turns > shortLadder.most {
		t.Fatalf("%+v, %d turns, %v", rungs, turns, err)
	}
	for i, r := range rungs {
		if r.Level != threeLevels[i].String() || r.Hash != rungs[0].Hash || r.Speedup.Name != r.Level {
			t.Errorf("%+v", r)
		}
	}
	if first := rungs[0].Speedup; first.Median != 1 || first.Low != 1 || first.High != 1 {
		t.Errorf("%+v", first)
	}
	_, err = ladder(threeLevels, shortLadder, fakeSim(native.AVX2, 3), func(int) {})
	if !errors.As(err, new(errParity)) || !strings.Contains(err.Error(), "level avx2") {
		t.Error(err)
	}
}

// Rungs are evaluated by their times alone.
func TestEvaluateRungs(t *testing.T) {
	var slow, fast []int64
	for i := range int64(40) {
		slow, fast = append(slow, 4000+i%3), append(fast, 1000+i%5)
	}
	rungs, err := evaluateRungs([]rung{{level: native.Go, ns: slow, hash: 5}, {level: native.AVX2, ns: fast, hash: 5}})
	if err != nil {
		t.Fatal(err)
	}
	if r := rungs[1]; r.StepNs != 1002 || r.Speedup.Median < 3.98 || r.Speedup.Median > 4 || r.Speedup.Low > r.Speedup.Median || r.Speedup.High < r.Speedup.Median ||
		r.Hash != "0000000000000005" {
		t.Errorf("%+v", r)
	}
}

func TestLadderTime(t *testing.T) {
	if d := ladderTime(longLadder, 4, 100_000, 1_000_000); d > ladderPatience {
		t.Errorf("steps of 0.1 ms: %v", d)
	}
	if d := ladderTime(longLadder, 4, 30_000_000, 1_000_000); d < 10*time.Second {
		t.Errorf("steps of 30 ms: %v", d)
	}
}
