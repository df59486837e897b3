package main

import (
	"fmt"
	"runtime"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/physics/box2d"
)

// rival is the same scene with the bodies of another engine, which takes turns with
// ours.
type rival struct {
	scene     *scene
	steps     []int64
	tick      int // of ours
	ticks     int // that ours has in all
	warmup    int
	collected memory
}

func newRival(p params, cfg evertick.Config, ticks, warmup int) (*rival, error) {
	cfg.Physics.Engine = box2d.NewEngine(box2d.Options{})
	s, err := newScene(p, cfg)
	return &rival{scene: s, ticks: ticks, warmup: warmup, collected: allocated()}, err
}

// follow is called after each step of ours. Garbage is collected between turns only, so
// that theirs does not count for ours.
func (r *rival) follow() error {
	first := r.tick / turn * turn
	r.tick++
	if r.tick%turn != 0 && r.tick != r.ticks {
		return nil
	}
	for tick := first; tick < r.tick; tick++ {
		start := time.Now()
		if err := r.scene.sim.Step(); err != nil {
			return fmt.Errorf("%s: %w", compareBox2D, err)
		}
		if tick >= r.warmup {
			r.steps = append(r.steps, int64(time.Since(start)))
		}
	}
	if now := allocated(); now.bytes-r.collected.bytes > manyGarbage {
		runtime.GC()
		r.collected = now
	}
	return nil
}
