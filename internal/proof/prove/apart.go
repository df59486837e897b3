package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evertick/evertick/internal/proof"
	"github.com/evertick/evertick/internal/scenes"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/physics/box2d"
)

// Bodies of package physics/box2d make a smaller promise: the same bits on every level, with any
// number of workers, and with cgo or without, but only for one GOARCH and one GOAMD64. They
// are compared apart from everything else, within these bounds.
const (
	apartScene = "arena"
	apartSize  = 64
	apartTicks = 300
)

// recordApart runs bodies of the other engine.
func recordApart(level native.Level, workers int, seed uint64) (*proof.Recording, error) {
	c := physics.Config{Engine: box2d.NewEngine(box2d.Options{}), Level: level, Workers: workers}
	s, err := scenes.New(apartScene, apartSize, seed, c)
	if err != nil {
		return nil, err
	}
	r := &proof.Recording{Build: proof.Build(level, workers), Seed: seed}
	for range apartTicks {
		if err := s.Step(); err != nil {
			return nil, err
		}
		r.Hashes = append(r.Hashes, s.World.Hash())
	}
	return r, nil
}

// machine returns what the other engine's bits depend on: GOARCH and GOAMD64, as the line of a
// recording begins.
func machine(r *proof.Recording) string {
	machine, _, _ := strings.Cut(r.Build, ",")
	return machine
}

// apart compares the runs of the other engine with the first of the same machine, and reports how
// machines compare, for which nothing is promised.
func (p *prover) apart(tasks []*task) error {
	var firsts []*proof.Recording
	compared := 0
	for _, t := range tasks {
		if t.emulated() || t.restore > 0 {
			continue
		}
		name, err := p.run(t, "apart")
		if err != nil {
			return err
		}
		r, err := readRecording(name)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(firsts, func(f *proof.Recording) bool { return machine(f) == machine(r) })
		if i < 0 {
			firsts = append(firsts, r)
			continue
		}
		compared++
		if tick, differ := proof.FirstDifference(firsts[i], r); differ {
			p.fail("bodies of physics/box2d: after tick %d\n\ta: %s\n\tb: %s", tick, firsts[i].Build, r.Build)
		}
	}
	for _, r := range firsts[min(1, len(firsts)):] {
		says := fmt.Sprintf("the same for %d ticks, by luck", apartTicks)
		if tick, differ := proof.FirstDifference(firsts[0], r); differ {
			says = fmt.Sprintf("other hashes from tick %d on, as may be", tick)
		}
		p.say("apart: bodies of physics/box2d: %s and %s: %s", machine(firsts[0]), machine(r), says)
	}
	p.say("apart: bodies of physics/box2d: %d runs of %d ticks compared within one GOARCH and GOAMD64; across these they promise nothing", compared, apartTicks)
	return nil
}
