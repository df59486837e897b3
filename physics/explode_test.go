package physics_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/evertick/evertick/physics"
)

const anything = ^uint64(0)

// A box gets an impulse as wide as it is, a disc one of π/2 radii, along the line from the centre; half way through the
// fall-off, half of it.
func TestExplode(t *testing.T) {
	bang := physics.ExplosionDef{Radius: 100, ImpulsePerLength: 3, Mask: anything}
	for name, c := range map[string]struct {
		def  physics.ExplosionDef
		make func(r fixture, b physics.Body)
		want float64 // impulse
	}{
		"box":     {bang, func(r fixture, b physics.Body) { r.box(b, plain, 0.2, 0.3) }, 3 * 0.6},
		"disc":    {bang, func(r fixture, b physics.Body) { r.circle(b, plain, 0.4) }, 3 * math.Pi / 2 * 0.4},
		"fading":  {physics.ExplosionDef{Radius: 10, Falloff: 19.6, ImpulsePerLength: 3, Mask: 1}, func(r fixture, b physics.Body) { r.box(b, plain, 0.2, 0.3) }, 3 * 0.3},
		"drawn":   {physics.ExplosionDef{Radius: 100, ImpulsePerLength: -3, Mask: 1}, func(r fixture, b physics.Body) { r.circle(b, plain, 0.4) }, -3 * math.Pi / 2 * 0.4},
		"too far": {physics.ExplosionDef{Radius: 10, Falloff: 5, ImpulsePerLength: 3, Mask: 1}, func(r fixture, b physics.Body) { r.box(b, plain, 0.2, 0.3) }, 0},
		"masked":  {physics.ExplosionDef{Radius: 100, ImpulsePerLength: 3, Mask: 2}, func(r fixture, b physics.Body) { r.box(b, plain, 0.2, 0.3) }, 0},
	} {
		r := newFixture(t, 0)
		b := r.dynamic(20, 0)
		c.make(r, b)
		m, err := r.w.MassData(b)
		r.no(err)
		list := r.w.NewCommands()
		list.Explode(c.def)
		twin := must[*physics.World](t)(r.w.Clone())
		r.no(r.w.Apply(list))
		r.no(twin.Explode(c.def))
		sameState(t, name+": by command and by call", r.w, twin)
		vx, vy, w := r.velocity(b)
		r.near(name+": impulse", vx*float64(m.Mass), c.want, 0.01*math.Abs(c.want))
		r.near(name+": across", vy, 0, 1e-5)
		r.near(name+": turn", w, 0, 1e-4)
	}
}

// What is hit off its centre turns; what is static, a sensor, disabled or around the centre feels nothing.
func TestExplosionReach(t *testing.T) {
	r := newFixture(t, 0)
	sensor := plain
	sensor.Sensor = true
	stick := r.dynamic(0, 3)
	r.capsule(stick, plain, -0.1, 0, 1.9, 0, 0.1)
	static, around, seen, off := r.body(physics.StaticBody, 3, 0), r.dynamic(0, 0), r.dynamic(0, 4), r.dynamic(4, 4)
	r.box(static, plain, 1, 1)
	r.box(around, plain, 1, 1)
	r.circle(seen, sensor, 1)
	r.box(off, plain, 1, 1)
	r.no(r.w.Disable(off))
	bar := r.dynamic(2, 2)
	r.capsule(bar, plain, 0, 0, 6, 0, 0.1) // one end is near
	r.no(r.w.Explode(physics.ExplosionDef{Radius: 1, Falloff: 6, ImpulsePerLength: 1, Mask: anything}))
	for _, b := range []physics.Body{static, around, seen, off} {
		if vx, vy, w := r.velocity(b); vx != 0 || vy != 0 || w != 0 {
			t.Errorf("%v moves: %v %v %v", b, vx, vy, w)
		}
	}
	if _, vy, _ := r.velocity(stick); vy <= 0 {
		t.Errorf("the stick moves by %v", vy)
	}
	if _, _, w := r.velocity(bar); w >= 0 {
		t.Errorf("the bar turns by %v", w)
	}
}

func TestExplosionErrors(t *testing.T) {
	nan := float32(math.NaN())
	r := newFixture(t, 0)
	r.circle(r.dynamic(1, 0), plain, 0.5)
	hash := r.w.Hash()
	for field, def := range map[string]physics.ExplosionDef{
		"Position": {Position: [2]float32{0, nan}}, "Radius": {Radius: -1}, "Falloff": {Falloff: nan}, "ImpulsePerLength": {ImpulsePerLength: -1e7},
	} {
		list := r.w.NewCommands()
		list.Explode(physics.ExplosionDef{Radius: 9, ImpulsePerLength: 1, Mask: 1})
		list.Explode(def)
		for _, err := range []error{r.w.Explode(def), r.w.Apply(list)} {
			if !errors.Is(err, physics.ErrRange) && !errors.Is(err, physics.ErrNotFinite) || !strings.Contains(err.Error(), "ExplosionDef."+field) {
				t.Errorf("%s: %v", field, err)
			}
		}
		if r.w.Hash() != hash {
			t.Fatalf("%s: the world has changed", field)
		}
	}
}

// Commands of pairs do what the calls do, and are refused whole.
func TestPairCommands(t *testing.T) {
	r := newFixture(t, 0)
	a := r.dynamic(0, 0)
	r.circle(a, plain, 0.5)
	list := r.w.NewCommands()
	def := physics.DefaultBodyDef()
	def.Type = physics.DynamicBody
	b := list.CreateBody(def)
	list.CreateCircle(b, plain, physics.Circle{Radius: 0.5})
	list.IgnorePair(a, b)
	r.no(r.w.Apply(list))
	b = list.Body(b)
	if is, err := r.w.PairIgnored(a, b); !is || err != nil {
		t.Errorf("ignored: %v, %v", is, err)
	}
	list.UnignorePair(b, a)
	list.DestroyBody(b)
	list.IgnorePair(a, b)
	if err := r.w.Apply(list); !errors.Is(err, physics.ErrStale) {
		t.Errorf("with a body that goes: %v", err)
	}
	if is, _ := r.w.PairIgnored(a, b); !is {
		t.Error("a list that was refused has done something")
	}
	list.Reset()
	list.UnignorePair(b, a)
	list.IgnorePair(a, a)
	if err := r.w.Apply(list); !errors.Is(err, physics.ErrRange) {
		t.Errorf("with itself: %v", err)
	}
	list.Reset()
	list.UnignorePair(b, a)
	r.no(r.w.Apply(list))
	if is, _ := r.w.PairIgnored(a, b); is {
		t.Error("still ignored")
	}
}
