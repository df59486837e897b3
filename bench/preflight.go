package main

import (
	"fmt"

	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/native"
)

// stepper is a simulation as preflight and ladder see it: what runs a step, and the hash of the
// state behind the last.
type stepper struct {
	step  func() error
	hash  func() uint64
	ready func() error // before each step, and not timed; nil: nothing
}

// once is a step with what makes ready for it.
func (s *stepper) once() error {
	if s.ready != nil {
		if err := s.ready(); err != nil {
			return err
		}
	}
	return s.step()
}

// opener builds a simulation whose kernels run on a level.
type opener func(native.Level) (stepper, error)

// preflightTicks is how many ticks are compared before anything is timed.
const preflightTicks = 30

// errParity is the verdict of a preflight that failed.
type errParity struct{ what string }

func (e errParity) Error() string { return "the levels differ, so no times are told: " + e.what }

// preflight runs a simulation on every level and compares the hash of each tick with that of the pure
// Go kernels, which are the specification. Its error tells that a run failed; that levels differ
// tells the verdict.
func preflight(levels []native.Level, ticks int, seed uint64, open opener) (*profile.Parity, error) {
	want, err := hashesOf(open, native.Go, ticks)
	if err != nil {
		return nil, err
	}
	p := &profile.Parity{OK: true, Seed: seed}
	for _, level := range levels {
		if level == native.Go {
			continue
		}
		got, err := hashesOf(open, level, ticks)
		if err != nil {
			return nil, err
		}
		p.Levels = append(p.Levels, level.String())
		for i := range want {
			p.Cases++
			if got[i] != want[i] && p.OK {
				p.OK, p.Err = false, fmt.Sprintf("after tick %d the hash is %016x on level %s, %016x on level %s", i+1, got[i], level, want[i], native.Go)
			}
		}
	}
	return p, nil
}

func hashesOf(open opener, level native.Level, ticks int) ([]uint64, error) {
	s, err := open(level)
	if err != nil {
		return nil, err
	}
	hashes := make([]uint64, ticks)
	for i := range hashes {
		if err := s.once(); err != nil {
			return nil, fmt.Errorf("level %s: %w", level, err)
		}
		hashes[i] = s.hash()
	}
	return hashes, nil
}
