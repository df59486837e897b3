package physics_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
)

// sleeperFar makes a body that begins asleep, far from all others.
func (r fixture) sleeperFar() physics.Body {
	r.Helper()
	b := r.dynamic(-1000, -1000, asleep)
	r.circle(b, plain, 0.5)
	return b
}

// This is TestNothingLeaves while a body sleeps: from the first step on, when all walls are new, and in steps after
// walls were changed.
func TestNothingLeavesChangedCells(t *testing.T) {
	for seed := range uint64(paritytest.Sample(4)) {
		p := newPrison(t, seed, 600, physics.Config{})
		far := p.sleeperFar()
		p.watch(15, func(step int) {
			if step > 0 {
				p.alter(step)
			}
		})
		if p.w.Awake(far) {
			t.Error("what should sleep is awake")
		}
	}
}

// Levels and workers agree there, too; there are enough shapes for several workers.
func TestChangedCellsAreTheSameEverywhere(t *testing.T) {
	build := func(c physics.Config) *prison {
		p := newPrison(t, 5, 200, c)
		p.sleeperFar()
		for i, s := range p.shots {
			p.no(p.w.SetBullet(s.body, i%2 == 0))
			rod := p.body(physics.KinematicBody, float32(s.x), float32(s.y)+0.5, moving(30, 0, 20))
			p.box(rod, plain, thin, 1)
		}
		return p
	}
	base := build(physics.Config{Level: native.Go, Capacity: 1024})
	var others []*prison
	var names []string
	for _, level := range native.Levels() {
		for _, workers := range []int{1, 2, 7} {
			others = append(others, build(physics.Config{Level: level, Workers: workers, Capacity: 1024}))
			names = append(names, fmt.Sprintf("%s, %d workers", level, workers))
		}
	}
	for step := range 8 {
		for i, p := range append(others, base) {
			if step > 1 {
				p.alter(step)
			}
			p.steps(1)
			if i < len(names) && i > 0 {
				sameState(t, fmt.Sprintf("step %d: %s", step, names[i]), others[0].w, p.w)
			}
		}
		sameState(t, fmt.Sprintf("step %d: in Go", step), others[0].w, base.w)
	}
}

// briefWalls put a thin wall at x = 0 into a world with a sleeper. If before is not nil, it runs some steps
// earlier. The wall counts as moving in the next step.
var briefWalls = []struct {
	name        string
	before, now func(r fixture, wall *physics.Body)
}{
	{"created", nil, func(r fixture, wall *physics.Body) { r.thinWall(wall, 0) }},
	{"moved", func(r fixture, wall *physics.Body) { r.thinWall(wall, 50) }, func(r fixture, wall *physics.Body) {
		r.no(r.w.SetTransform(*wall, [2]float32{}, 0))
	}},
	{"moved by its columns", func(r fixture, wall *physics.Body) { r.thinWall(wall, 50) }, func(r fixture, wall *physics.Body) {
		r.w.Columns().X[wall.Index()] = 0
	}},
	{"given a shape", func(r fixture, wall *physics.Body) { *wall = r.body(physics.StaticBody, 0, 0) }, func(r fixture, wall *physics.Body) {
		r.segment(*wall, plain, 0, -3, 0, 3)
	}},
	{"given another shape", func(r fixture, wall *physics.Body) { r.thinWall(wall, 0) }, func(r fixture, wall *physics.Body) {
		r.segment(*wall, plain, 5, -3, 5, 3)
	}},
	{"enabled", func(r fixture, wall *physics.Body) { r.thinWall(wall, 0); r.no(r.w.Disable(*wall)) }, func(r fixture, wall *physics.Body) {
		r.no(r.w.Enable(*wall))
	}},
	{"made static", func(r fixture, wall *physics.Body) {
		*wall = r.body(physics.KinematicBody, 0, 0)
		r.segment(*wall, plain, 0, -3, 0, 3)
	}, func(r fixture, wall *physics.Body) { r.no(r.w.SetType(*wall, physics.StaticBody)) }},
	{"created asleep, dynamic", nil, func(r fixture, wall *physics.Body) {
		*wall = r.dynamic(0, 0, asleep)
		r.box(*wall, plain, thin, 3)
	}},
	{"created asleep, kinematic", nil, func(r fixture, wall *physics.Body) {
		*wall = r.body(physics.KinematicBody, 0, 0, asleep)
		r.box(*wall, plain, thin, 3)
	}},
}

// thinWall is a segment.
func (r fixture) thinWall(wall *physics.Body, x float32) {
	r.Helper()
	*wall = r.body(physics.StaticBody, x, 0)
	r.segment(*wall, plain, 0, -3, 0, 3)
}

// While a body sleeps, a wall stops fast bodies in the first step after it was created or moved, by any means.
func TestWallsStopFromTheFirstStep(t *testing.T) {
	for _, wall := range briefWalls {
		for round := range paritytest.Rounds(20) {
			rng := rand.New(rand.NewPCG(paritytest.Seed(), uint64(round)))
			for _, how := range []string{"ball", "bullet", "carried"} {
				r := fixture{t, newWorld(t, physics.Config{Capacity: 16})}
				var b physics.Body
				if round > 0 {
					r.sleeperFar()
				}
				if wall.before != nil {
					wall.before(r, &b)
				}
				if round > 0 && (wall.before != nil || round%2 == 0) {
					r.steps(3)
				}
				if wall.now(r, &b); round == 0 {
					r.sleeperFar() // the first step
				}
				side := float32(1 - round%2*2)
				ball, limit := r.flyer(how, rng, side), 0.02
				r.steps(1)
				if x, y := r.at(ball); x*float64(side) > limit {
					t.Errorf("a wall %s, round %d: a %s is at %g, %g", wall.name, round, how, x, y)
				} else if math.Abs(x) > 0.5 {
					t.Errorf("a wall %s, round %d: a %s has not come there, but to %g, %g", wall.name, round, how, x, y)
				}
			}
		}
	}
}

// flyer makes a ball that flies from 1 m away, on one side, past x = 0: fast by itself, or carried by a fast heavy plate.
func (r fixture) flyer(how string, rng *rand.Rand, side float32) physics.Body {
	r.Helper()
	y := float32(within(rng, -1, 1))
	if how != "carried" {
		b := r.dynamic(-side, y, moving(side*300, 0, 0), func(d *physics.BodyDef) { d.Bullet = how == "bullet" })
		r.circle(b, plain, 0.1)
		return b
	}
	b := r.dynamic(-side, y, func(d *physics.BodyDef) { d.Bullet = true })
	d := plain
	d.Filter.Category = 2
	r.circle(b, d, 0.1)
	plate := r.body(physics.KinematicBody, -side*3, y, moving(side*300, 0, 0))
	d.Filter.Mask = 2 // it passes the wall
	r.box(plate, d, thin, 0.5)
	return b
}

// Changing walls while a body sleeps allocates nothing from step to step.
func TestChangedWallsAllocateNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("not run: allocations of an instrumented build")
	}
	p := newPrison(t, 1, 60, physics.Config{Workers: 1})
	p.sleeperFar()
	for i, s := range p.shots {
		p.no(p.w.SetBullet(s.body, i%2 == 0))
	}
	k := 0
	step := func() {
		k++
		for i := k % 2; i < len(p.cells); i += 2 {
			at := [2]float32{float32(p.shots[i].x), float32(p.shots[i].y)}
			if k%4 < 2 {
				at[0] += 0.001
			}
			p.no(p.w.SetTransform(p.cells[i], at, float32(p.shots[i].angle)))
		}
		for i, s := range p.shots {
			if (i+k)%8 == 0 {
				p.no(p.w.SetVelocity(s.body, [2]float32{s.vx, s.vy}, 0))
			}
		}
		p.steps(1)
	}
	for range 200 {
		step()
	}
	if n := testing.AllocsPerRun(60, step); n > 0 {
		t.Errorf("%v allocations a step", n)
	}
}
