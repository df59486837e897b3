package physics_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
)

// pulled is a stream of random calls on several worlds, the same for each. Joints far from their targets, great impulses
// and fast kinematic bodies make bodies as fast as possible.
type pulled struct {
	worlds []*physics.World
	rng    *rand.Rand
	t      testing.TB
}

func (p *pulled) float(size float64) float32 { return float32((2*p.rng.Float64() - 1) * size) }

// each makes a call in each world.
func (p *pulled) each(f func(w *physics.World) error) {
	p.t.Helper()
	for _, w := range p.worlds {
		if err := f(w); err != nil {
			p.t.Fatal(err)
		}
	}
}

func (p *pulled) body() (physics.Body, bool) {
	if p.worlds[0].Rows() == 0 {
		return physics.Body{}, false
	}
	return p.worlds[0].BodyAt(p.rng.IntN(p.worlds[0].Rows()))
}

func (p *pulled) create() {
	d := physics.DefaultBodyDef()
	d.Type = physics.DynamicBody
	if p.rng.IntN(6) == 0 {
		d.Type = physics.KinematicBody
		d.LinearVelocity[0] = p.float(3000)
	}
	d.Position, d.Angle, d.FixedRotation = [2]float32{p.float(60), p.float(60)}, p.float(3), p.rng.IntN(4) == 0
	d.LockX = p.rng.IntN(12) == 0
	s, size := plain, p.float(0.3)+0.5
	s.Density = p.float(0.9) + 1
	isBox := p.rng.IntN(2) == 0
	p.each(func(w *physics.World) error {
		b, err := w.CreateBody(d)
		if err == nil && isBox {
			_, err = w.CreatePolygon(b, s, physics.Box(size, 0.3))
		} else if err == nil {
			_, err = w.CreateCircle(b, s, physics.Circle{Radius: size})
		}
		return err
	})
}

func (p *pulled) act() {
	p.t.Helper()
	b, ok := p.body()
	other, also := p.body()
	switch k := p.rng.IntN(12); {
	case p.worlds[0].Len() < 24:
		p.create()
	case !ok || p.worlds[0].Disabled(b):
	case k == 0:
		p.each(func(w *physics.World) error { return w.DestroyBody(b) })
	case k < 8 && also && b != other:
		d := common(b, other)
		d.FrameA, d.FrameB = at(p.float(30), p.float(30), p.float(3)), at(p.float(2), p.float(2), p.float(3))
		d.CollideConnected = k%2 == 0
		soft := k < 4
		m, n := p.rng.IntN(len(jointMakers)), p.rng.IntN(len(pulls))
		p.each(func(w *physics.World) (err error) {
			if soft {
				_, err = jointMakers[m].create(w, d)
			} else {
				_, err = pulls[n].create(w, d)
			}
			return err
		})
	case k == 8:
		v, turn := [2]float32{p.float(1e5), p.float(1e5)}, p.float(1e4)
		if p.worlds[0].Columns().Type[b.Index()] == physics.DynamicBody {
			p.each(func(w *physics.World) error { return w.SetVelocity(b, v, turn) })
		}
	case k == 9:
		e := physics.ExplosionDef{Position: [2]float32{p.float(60), p.float(60)}, Radius: 30, ImpulsePerLength: p.float(1e6), Mask: ^uint64(0)}
		p.each(func(w *physics.World) error { return w.Explode(e) })
	case k == 10:
		to := [2]float32{p.float(60), p.float(60)}
		p.each(func(w *physics.World) error { return w.SetTransform(b, to, 1) })
	}
}

// centres returns the centres of mass of all bodies.
func centres(w *physics.World) (all []place) {
	c := w.Columns()
	for i := range w.Rows() {
		all = append(all, place{
			float64(c.X[i]) + float64(c.Cos[i])*float64(c.CentreX[i]) - float64(c.Sin[i])*float64(c.CentreY[i]),
			float64(c.Y[i]) + float64(c.Sin[i])*float64(c.CentreX[i]) + float64(c.Cos[i])*float64(c.CentreY[i]),
			0,
		})
	}
	return all
}

// Under any forces, no dynamic body is faster than MaxSpeed after a step, moves farther in it, or turns
// faster than the limit, on any level, although many bodies reach these limits.
func TestMaxSpeedHolds(t *testing.T) {
	seeds, ticks := uint64(6), 120
	if testing.Short() {
		seeds, ticks = 2, 60
	}
	fast, turning, steep := 0, 0, 0
	for seed := range seeds {
		c := physics.Config{Capacity: 40, Gravity: [2]float32{0, -10}, MaxSpeed: []float32{0, 20, 3}[seed%3], SubSteps: int(1 + seed%4)}
		p := &pulled{rng: rand.New(rand.NewPCG(seed, 1)), t: t}
		for i, level := range native.Levels() {
			c.Level, c.Workers = level, 1+i
			p.worlds = append(p.worlds, newWorld(t, c))
		}
		w := p.worlds[0]
		limit, turn := float64(w.Tuning().MaxSpeed), rigid.MaxRotation*float64(c.SubSteps)/float64(dt)
		for tick := range ticks {
			for range p.rng.IntN(4) {
				p.act()
			}
			for i, other := range p.worlds[1:] {
				sameState(t, fmt.Sprintf("seed %d, tick %d, before the step, world %d", seed, tick, i), w, other)
			}
			from := centres(w)
			p.each(func(w *physics.World) error { return w.Step(dt) })
			for i, other := range p.worlds[1:] {
				sameState(t, fmt.Sprintf("seed %d, tick %d, level %v", seed, tick, native.Levels()[i+1]), w, other)
			}
			what := fmt.Sprintf("seed %d, tick %d", seed, tick)
			speedLimits(t, what, w)
			columns, to := w.Columns(), centres(w)
			for i, a := range from {
				b, ok := w.BodyAt(i)
				if !ok || columns.Type[i] != physics.DynamicBody || w.Disabled(b) {
					continue
				}
				way := math.Hypot(to[i].x-a.x, to[i].y-a.y)
				grain := 1e-6 * (math.Abs(a.x) + math.Abs(a.y) + 1)
				if way > limit*float64(dt)*(1+1e-5)+grain {
					t.Errorf("%s: body %d has come %g m, at most %g", what, i, way, limit*float64(dt))
				}
				if rate := math.Abs(float64(columns.W[i])); rate > turn*(1+1e-6) {
					t.Errorf("%s: body %d turns with %g rad/s, at most %g", what, i, rate, turn)
				} else if rate > 0.99*turn {
					turning++
				}
				if math.Hypot(float64(columns.VX[i]), float64(columns.VY[i])) > 0.99*limit {
					fast++
				}
				if way > 0.99*limit*float64(dt) {
					steep++
				}
			}
		}
	}
	t.Logf("%d times at full speed, %d times as far as may be, %d times at the fastest turn", fast, steep, turning)
	if fast < 20 || steep < 20 || turning < 20 {
		t.Error("too few are fast for the test")
	}
}
