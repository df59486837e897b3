package physics_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
)

// thin is half the thickness of the walls of these tests: 2 cm.
const thin = 0.01

// projectile gives a body the shape of a projectile: in turn a disc, a capsule, a box, a
// triangle and a long stick, of 2 cm to 40 cm. It turns by at most a quarter turn per step.
func (r fixture) projectile(kind int, rng *rand.Rand, x, y, vx, vy float32, change ...func(d *physics.BodyDef)) physics.Body {
	r.Helper()
	d := material(0.3, 0)
	size := 0.02 + 0.2*rng.Float32()
	spin := (rng.Float32()*2 - 1) * 80
	b := r.dynamic(x, y, append(change, moving(vx, vy, spin), turned(rng.Float64()*6))...)
	switch kind % 5 {
	case 0:
		r.circle(b, d, size)
	case 1:
		r.capsule(b, d, -2*size, 0, size, size/2, size/4)
	case 2:
		r.box(b, d, size, size*(0.2+0.8*rng.Float32()))
	case 3:
		r.polygon(b, d, physics.Polygon{Count: 3, Radius: size * 0.1 * rng.Float32(),
			Vertices: [8][2]float32{{-size, -size}, {size, -size / 2}, {0, size}}})
	case 4:
		r.box(b, d, 0.2+size, 0.01)
	}
	return b
}

// cell is a room with walls of 2 cm, 4 m wide, rotated about its middle. Its walls are boxes,
// segments, capsules, or a ring of short segments.
func (r fixture) cell(kind int, x, y float32, angle float64) physics.Body {
	r.Helper()
	const half = 2
	d := material(0.3, 0)
	b := r.body(physics.StaticBody, x, y, turned(angle))
	switch kind % 4 {
	case 0:
		for k := range 4 {
			s, c := math.Sincos(float64(k) * math.Pi / 2)
			p := physics.Polygon{Count: 4}
			for i, v := range [4][2]float64{{half - thin, -half}, {half + thin, -half}, {half + thin, half}, {half - thin, half}} {
				p.Vertices[i] = [2]float32{float32(c*v[0] - s*v[1]), float32(s*v[0] + c*v[1])}
			}
			r.polygon(b, d, p)
		}
	case 1, 2:
		for k := range 4 {
			s, c := math.Sincos(float64(k) * math.Pi / 2)
			x1, y1, x2, y2 := float32(c*half+s*half), float32(s*half-c*half), float32(c*half-s*half), float32(s*half+c*half)
			if kind%4 == 1 {
				r.segment(b, d, x1, y1, x2, y2)
			} else {
				r.capsule(b, d, x1, y1, x2, y2, thin)
			}
		}
	case 3:
		const n = 40
		for k := range n {
			s1, c1 := math.Sincos(float64(k) * 2 * math.Pi / n)
			s2, c2 := math.Sincos(float64(k+1) * 2 * math.Pi / n)
			r.segment(b, d, float32(half*c1), float32(half*s1), float32(half*c2), float32(half*s2))
		}
	}
	return b
}

// inCell reports whether a position is in the cell around the origin.
func inCell(kind int, x, y, angle float64) bool {
	s, c := math.Sincos(angle)
	x, y = c*x+s*y, c*y-s*x
	if kind%4 == 3 {
		return math.Hypot(x, y) < 2
	}
	return math.Abs(x) < 2 && math.Abs(y) < 2
}

// prison is a world of cells with a projectile of 200 m/s in each, shot in any direction.
type prison struct {
	fixture
	seed  uint64
	cells []physics.Body
	shots []shot
	added map[int]physics.Shape // to cells, by alter
}

type shot struct {
	body   physics.Body
	x, y   float64
	angle  float64
	kind   int
	vx, vy float32
}

func newPrison(t testing.TB, seed uint64, cells int, c physics.Config) *prison {
	t.Helper()
	const spacing = 16
	rng := rand.New(rand.NewPCG(seed, 2))
	c.Capacity = max(c.Capacity, 2*cells+1)
	p := &prison{fixture: fixture{t, newWorld(t, c)}, seed: seed, added: map[int]physics.Shape{}}
	for i := range cells {
		x, y := float32(i%32)*spacing, float32(i/32)*spacing
		angle := rng.Float64() * math.Pi
		p.cells = append(p.cells, p.cell(i, x, y, angle))
		dir := rng.Float64() * 2 * math.Pi
		if i%10 == 0 {
			dir = angle + float64(rng.IntN(8))*math.Pi/4 // straight at a wall or a corner
		}
		vx, vy := float32(200*math.Cos(dir)), float32(200*math.Sin(dir))
		b := p.projectile(i/4, rng, x+rng.Float32()-0.5, y+rng.Float32()-0.5, vx, vy)
		p.shots = append(p.shots, shot{b, float64(x), float64(y), angle, i, vx, vy})
	}
	return p
}

// alter changes every seventh cell: it adds a shape outside, or removes it again.
func (p *prison) alter(step int) {
	p.Helper()
	for i := step % 7; i < len(p.cells); i += 7 {
		if shape, ok := p.added[i]; ok {
			p.no(p.w.DestroyShape(shape))
			delete(p.added, i)
		} else {
			p.added[i] = p.segment(p.cells[i], plain, -3, 4, 3, 4)
		}
	}
}

// watch runs steps, with a call before each, and fails if a projectile is outside after one, or has
// gained energy.
func (p *prison) watch(steps int, before func(step int)) {
	p.Helper()
	total, energy := 0, p.total().energy
	for step := range steps {
		before(step)
		p.steps(1)
		for _, s := range p.shots {
			x, y := p.centre(s.body)
			if !inCell(s.kind, x-s.x, y-s.y, s.angle) {
				p.Errorf("seed %d, cell %d (walls %d, shape %d), step %d: shot at %g %g has left for %.3f %.3f", p.seed, s.kind,
					s.kind%4, s.kind/4%5, step, s.vx, s.vy, x-s.x, y-s.y)
				total++
			}
		}
		if total > 20 {
			p.FailNow()
		}
		if e := p.total().energy; e > energy*1.0001 {
			p.Errorf("seed %d, step %d: energy rose from %g to %g", p.seed, step, energy, e)
		} else {
			energy = e
		}
	}
}

// TestNothingLeaves shoots projectiles at 200 m/s from places in closed cells in all directions.
// Nothing may be outside after any step.
func TestNothingLeaves(t *testing.T) {
	paritytest.SkipSerialUnderRace(t)
	for seed := range uint64(max(2, paritytest.Sample(10))) {
		newPrison(t, seed, 1000, physics.Config{}).watch(30, func(int) {})
	}
}

// centre returns the centre of mass of a body.
func (r fixture) centre(b physics.Body) (x, y float64) {
	r.Helper()
	c, err := r.w.WorldCenter(b)
	r.no(err)
	return float64(c[0]), float64(c[1])
}

// gallery is a world with much continuous collision: projectiles in cells, and bullets that hit moving
// bodies. It is a function of its seed.
func gallery(t testing.TB, seed uint64, c physics.Config) fixture {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 7))
	c.Capacity = 1024
	r := fixture{t, newWorld(t, c)}
	for i := range 60 {
		x, y := float32(i%8)*12, float32(i/8)*12
		r.cell(i, x, y, rng.Float64()*3)
		for k := range 5 {
			dir := rng.Float64() * 2 * math.Pi
			b := r.projectile(i+k, rng, x+rng.Float32()*2-1, y+rng.Float32()*2-1, float32(150*math.Cos(dir)), float32(150*math.Sin(dir)))
			r.no(r.w.SetBullet(b, k < 3))
		}
		rod := r.body(physics.KinematicBody, x+rng.Float32()-0.5, y, moving(rng.Float32()*4-2, 0, rng.Float32()*40-20))
		r.box(rod, plain, thin, 1)
	}
	return r
}

// The result does not depend on levels and workers, nor on copies and snapshots.
func TestSweepIsTheSameEverywhere(t *testing.T) {
	base := gallery(t, 1, physics.Config{Level: native.Go})
	var others []fixture
	var names []string
	for _, level := range native.Levels() {
		for _, workers := range []int{1, 2, 7} {
			if testing.Short() && workers != 2 {
				continue
			}
			others = append(others, gallery(t, 1, physics.Config{Level: level, Workers: workers}))
			names = append(names, fmt.Sprintf("%s, %d workers", level, workers))
		}
	}
	ticks := 40
	if paritytest.Instrumented && testing.Short() {
		ticks = 12
	}
	for step := range ticks {
		base.steps(1)
		for i, o := range others {
			o.steps(1)
			sameState(t, fmt.Sprintf("step %d: %s", step, names[i]), base.w, o.w)
		}
		switch step {
		case 1, 3, 10:
			restored := newWorld(t, physics.Config{Capacity: 1024})
			restore(t, restored, snapshot(t, base.w))
			copied, err := base.w.Clone()
			base.no(err)
			others = append(others, fixture{t, restored}, fixture{t, copied})
			names = append(names, "restored", "copied")
		}
	}
}

func TestBulletFlag(t *testing.T) {
	r := newFixture(t, 0)
	b := r.dynamic(0, 0, func(d *physics.BodyDef) { d.Bullet = true })
	flags := func() uint8 { return r.w.Columns().Flags[b.Index()] & physics.FlagBullet }
	if flags() == 0 {
		t.Error("BodyDef.Bullet was not heeded")
	}
	for _, bullet := range []bool{true, false, true} {
		r.no(r.w.SetBullet(b, bullet))
		if flags() != 0 != bullet {
			t.Errorf("SetBullet(%t) was not heeded", bullet)
		}
	}
	r.no(r.w.DestroyBody(b))
	if err := r.w.SetBullet(b, true); !errors.Is(err, physics.ErrStale) {
		t.Errorf("a stale body: %v", err)
	}
}

// The next step disables bodies with values that are not finite. Continuous collision must neither fail because of
// them, nor may they hide a wall from others.
func TestSweepOfBrokenBodies(t *testing.T) {
	r := newFixture(t, 0)
	wall := r.body(physics.StaticBody, 10, 0)
	r.box(wall, plain, thin, 5)
	good, bad, far := r.dynamic(0, 0, moving(200, 0, 0)), r.dynamic(0, 1, moving(200, 0, 0)), r.dynamic(0, 2, moving(200, 0, 0))
	for _, b := range []physics.Body{good, bad, far} {
		r.circle(b, plain, 0.1)
	}
	c := r.w.Columns()
	for step := range 10 {
		switch step {
		case 1:
			c.VX[bad.Index()] = float32(math.NaN())
		case 2:
			c.X[far.Index()] = 9e18
		case 3:
			c.W[far.Index()] = float32(math.Inf(1))
		}
		r.steps(1)
	}
	if x, _ := r.at(good); x > 10 {
		t.Errorf("the ball is at %g", x)
	}
}

// Thousands of fast bodies are in one place, among as many walls.
func TestManyFastBodiesInOnePlace(t *testing.T) {
	const n = 3000
	if testing.Short() {
		t.Skip("not run: -short")
	}
	w := newWorld(t, physics.Config{Capacity: n + 1})
	r := fixture{t, w}
	walls := r.body(physics.StaticBody, 0, 0)
	rng := rand.New(rand.NewPCG(1, 1))
	for range n {
		x, y := rng.Float32()-0.5, rng.Float32()-0.5
		r.segment(walls, plain, x, y, x+0.3, y+0.3*rng.Float32())
	}
	d := plain
	d.Filter.Group = -1 // they do not meet each other
	for range n {
		b := r.dynamic(rng.Float32()-0.5, rng.Float32()*2-1, moving(200*rng.Float32(), 200*rng.Float32(), 0))
		r.circle(b, d, 0.02)
	}
	r.steps(2)
}

// The shape of the body that holds a fast pendulum does not stop it.
func TestFastPendulumPassesItsPost(t *testing.T) {
	r := newFixture(t, 0)
	a, b := r.body(physics.StaticBody, 0, 0), r.dynamic(2, 0, moving(0, 100, 50))
	r.box(a, plain, 0.02, 5)
	r.circle(b, plain, 0.1)
	r.hinge(a, b, 0, 0)
	turned := 0.0
	for before := r.angle(b); turned < 9; {
		r.steps(1)
		turn := math.Remainder(r.angle(b)-before, 2*math.Pi)
		if turn < 0.2 {
			t.Fatalf("turned by %v after %v", turn, turned)
		}
		turned += turn
		before = r.angle(b)
	}
}
