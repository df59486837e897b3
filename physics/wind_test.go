package physics_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/evertick/evertick/physics"
)

// What falls in still air comes to the speed at which drag is its weight, and on the way is as fast as the
// hyperbolic tangent says.
func TestTerminalVelocity(t *testing.T) {
	for name, c := range map[string]struct {
		make  func(r fixture, b physics.Body)
		width float64
	}{
		"box":          {func(r fixture, b physics.Body) { r.box(b, plain, 0.8, 0.5) }, 1.6},
		"disc":         {func(r fixture, b physics.Body) { r.circle(b, plain, 0.5) }, 1},
		"flat capsule": {func(r fixture, b physics.Body) { r.capsule(b, plain, -1, 0, 1, 0, 0.01) }, 2},
	} {
		r := newFixture(t, -10)
		b := r.dynamic(0, 0)
		c.make(r, b)
		m, err := r.w.MassData(b)
		r.no(err)
		const drag = 0.05
		last := math.Sqrt(float64(m.Mass) * 10 / (drag * c.width))
		air := physics.WindDef{Drag: drag, Mask: anything}
		for k := range 1200 {
			r.no(r.w.ApplyWind(air))
			r.steps(1)
			if k == 59 {
				_, vy, _ := r.velocity(b)
				r.near(name+": after a second", -vy, last*math.Tanh(10/last), 0.02*last)
			}
		}
		vx, vy, w := r.velocity(b)
		r.near(name+": in the end", -vy, last, 0.01*last)
		r.near(name+": across", vx, 0, 1e-3)
		r.near(name+": turn", w, 0, 1e-3)
	}
}

// A plate that leans in the wind is lifted towards where it leans; a wind is no faster than MaxSpeed.
func TestWind(t *testing.T) {
	force := func(angle float64, def physics.WindDef) (x, y float64) {
		r := newFixture(t, 0)
		b := r.dynamic(0, 0, turned(angle))
		r.box(b, plain, 1, 0.001*5)
		r.no(r.w.ApplyWindTo(b, def))
		c := r.w.Columns()
		return float64(c.ForceX[b.Index()]), float64(c.ForceY[b.Index()])
	}
	r := fixture{TB: t}
	for _, angle := range []float64{0.2, math.Pi / 4, 1.2} {
		sin, cos := math.Sincos(angle)
		x, y := force(angle, physics.WindDef{Wind: [2]float32{10, 0}, Drag: 0.5, Mask: anything})
		r.near("drag", x, 0.5*(2*sin+0.01*cos)*100, 0.01)
		r.near("drag across", y, 0, 1e-3)
		x, y = force(angle, physics.WindDef{Wind: [2]float32{10, 0}, Lift: 0.5, Mask: anything})
		r.near("lift along", x, 0, 1e-3)
		r.near("lift", y, -0.5*sin*cos*2*100+0.5*sin*cos*0.01*100, 0.01) // the wind blows on its upper side
		x, _ = force(angle, physics.WindDef{Wind: [2]float32{100, 0}, Drag: 0.5, MaxSpeed: 10, Mask: anything})
		r.near("at most", x, 0.5*(2*sin+0.01*cos)*100, 0.01)
	}
	if x, y := force(1, physics.WindDef{Wind: [2]float32{10, 0}, Drag: 0.5, Lift: 1, Mask: 2}); x != 0 || y != 0 {
		t.Errorf("masked: %v, %v", x, y)
	}
}

func TestWindErrors(t *testing.T) {
	nan := float32(math.NaN())
	r := newFixture(t, 0)
	b := r.dynamic(1, 0)
	r.circle(b, plain, 0.5)
	hash := r.w.Hash()
	for field, def := range map[string]physics.WindDef{
		"Wind[1]": {Wind: [2]float32{0, nan}}, "Wind[0]": {Wind: [2]float32{1e7, 0}}, "Drag": {Drag: -1}, "Lift": {Lift: nan}, "MaxSpeed": {MaxSpeed: -1},
	} {
		for _, err := range []error{r.w.ApplyWind(def), r.w.ApplyWindTo(b, def)} {
			if !errors.Is(err, physics.ErrRange) && !errors.Is(err, physics.ErrNotFinite) || !strings.Contains(err.Error(), "WindDef."+field) {
				t.Errorf("%s: %v", field, err)
			}
		}
		if r.w.Hash() != hash {
			t.Fatalf("%s: the world has changed", field)
		}
	}
	r.no(r.w.DestroyBody(b))
	if err := r.w.ApplyWindTo(b, physics.WindDef{}); !errors.Is(err, physics.ErrStale) {
		t.Errorf("stale: %v", err)
	}
}

// Wind wakes those that are asleep if it is to, an explosion wakes those that it moves, and so do a mass and a lock.
func TestWhatBlowsWakes(t *testing.T) {
	r := newFixture(t, -10)
	r.floor(plain)
	b := r.dynamic(0, 0.5, func(d *physics.BodyDef) { d.DisableSleep = false })
	r.box(b, plain, 0.5, 0.5)
	air := physics.WindDef{Wind: [2]float32{3, 0}, Drag: 0.1, Mask: anything}
	bang := physics.ExplosionDef{Position: [2]float32{-2, 0.5}, Radius: 1, ImpulsePerLength: 1, Mask: anything}
	for name, c := range map[string]struct {
		do    func() error
		wakes bool
	}{
		"wind":            {func() error { return r.w.ApplyWind(air) }, false},
		"wind that wakes": {func() error { d := air; d.Wake = true; return r.w.ApplyWind(d) }, true},
		"wind on it":      {func() error { return r.w.ApplyWindTo(b, air) }, false},
		"far explosion":   {func() error { return r.w.Explode(bang) }, false},
		"an explosion":    {func() error { d := bang; d.Radius = 2; return r.w.Explode(d) }, true},
		"a mass":          {func() error { return r.w.SetMassData(b, physics.MassData{Mass: 2, Inertia: 1}) }, true},
		"its own mass":    {func() error { return r.w.ResetMassData(b) }, true},
		"a lock":          {func() error { return r.w.SetMotionLocks(b, physics.MotionLocks{X: true}) }, true},
		"no lock":         {func() error { return r.w.SetMotionLocks(b, physics.MotionLocks{}) }, true},
	} {
		r.seconds(3)
		if r.w.Awake(b) {
			t.Fatalf("%s: still awake", name)
		}
		r.no(c.do())
		if r.w.Awake(b) != c.wakes {
			t.Errorf("%s: awake is not %v", name, c.wakes)
		}
	}
}
