package physics3_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics3"
)

const anything = ^uint64(0)

// blown are shapes with their areas as seen along x, of a cuboid of 0.8 by 1 by 0.6 m.
func blown(t testing.TB) map[string]struct {
	make  func(w *physics3.World, b physics3.Body)
	area  float64
	bound float64
} {
	brick := newHull(0, vec{-0.4, -0.5, -0.3}, vec{0.4, -0.5, -0.3}, vec{-0.4, 0.5, -0.3}, vec{0.4, 0.5, -0.3},
		vec{-0.4, -0.5, 0.3}, vec{0.4, -0.5, 0.3}, vec{-0.4, 0.5, 0.3}, vec{0.4, 0.5, 0.3})
	type shape = struct {
		make  func(w *physics3.World, b physics3.Body)
		area  float64
		bound float64
	}
	return map[string]shape{
		"box": {func(w *physics3.World, b physics3.Body) { box(t, w, b, plain, 0.4, 0.5, 0.3) }, 0.6, 0.01},
		"hull": {func(w *physics3.World, b physics3.Body) {
			_, err := w.CreateHull(b, plain, brick, physics3.Placement{})
			no(t, err)
		}, 0.6, 0.01},
		"ball": {func(w *physics3.World, b physics3.Body) { sphere(t, w, b, plain, 0.4) }, math.Pi * 0.16, 0.01},
		"capsule": {func(w *physics3.World, b physics3.Body) {
			_, err := w.CreateCapsule(b, plain, physics3.Capsule{P1: vec{0, -0.5, 0}, P2: vec{0, 0.5, 0}, Radius: 0.2})
			no(t, err)
		}, math.Pi*0.04 + 0.4, 0.02},
	}
}

// A box gets an impulse in proportion to its area, and a ball one of 2π/3 squares of its radius, away from the centre; and half of that halfway through the
// falloff.
func TestExplode(t *testing.T) {
	bang := physics3.ExplosionDef{Radius: 100, ImpulsePerArea: 3, Mask: anything}
	cube := func(w *physics3.World, b physics3.Body) { box(t, w, b, plain, 0.2, 0.3, 0.5) }
	for name, c := range map[string]struct {
		def  physics3.ExplosionDef
		make func(w *physics3.World, b physics3.Body)
		want float64 // impulse
	}{
		"box":     {bang, cube, 3 * 0.6},
		"hull":    {bang, blown(t)["hull"].make, 3 * 0.6},
		"ball":    {bang, func(w *physics3.World, b physics3.Body) { sphere(t, w, b, plain, 0.4) }, 3 * 2 * math.Pi / 3 * 0.16},
		"fading":  {physics3.ExplosionDef{Radius: 10, Falloff: 19.6, ImpulsePerArea: 3, Mask: 1}, cube, 3 * 0.3},
		"drawn":   {physics3.ExplosionDef{Radius: 100, ImpulsePerArea: -3, Mask: 1}, cube, -3 * 0.6},
		"too far": {physics3.ExplosionDef{Radius: 10, Falloff: 5, ImpulsePerArea: 3, Mask: 1}, cube, 0},
		"masked":  {physics3.ExplosionDef{Radius: 100, ImpulsePerArea: 3, Mask: 2}, cube, 0},
	} {
		w := emptyWorld(t, physics3.Config{Capacity: 10})
		b := bodyOf(t, w, dynamicAt(20, 0, 0))
		c.make(w, b)
		twin := must[*physics3.World](t)(w.Clone())
		list := twin.NewCommands()
		list.Explode(c.def)
		no(t, twin.Apply(list))
		no(t, w.Explode(c.def))
		sameState(t, name+": by command and by call", w, twin)
		v, turn := velocityOf(t, w, b)
		m := must[physics3.MassData](t)(w.MassData(b))
		if math.Abs(v[0]*float64(m.Mass)-c.want) > 0.01*math.Abs(c.want) || math.Abs(float64(v[1]))+math.Abs(float64(v[2])) > 1e-5 || length(turn) > 1e-4 {
			t.Errorf("%s: impulse %g, want %g; velocity %v, turn %v", name, v[0]*float64(m.Mass), c.want, v, turn)
		}
	}
	// Static bodies, sensors, disabled bodies and closed shapes around the centre get none; an impulse off the centre of mass turns a body.
	w := emptyWorld(t, physics3.Config{Capacity: 10})
	sensor := plain
	sensor.Sensor = true
	around, seen, off, bar := bodyOf(t, w, dynamicAt(0, 0, 0)), bodyOf(t, w, dynamicAt(0, 4, 0)), bodyOf(t, w, dynamicAt(4, 4, 0)), bodyOf(t, w, dynamicAt(2, 2, 0))
	block(t, w, static(t, w), vec{3, 0, 0}, vec{1, 1, 1})
	box(t, w, around, plain, 1, 1, 1)
	sphere(t, w, seen, sensor, 1)
	box(t, w, off, plain, 1, 1, 1)
	no(t, w.Disable(off))
	_, err := w.CreateCapsule(bar, plain, physics3.Capsule{P2: vec{6, 0, 0}, Radius: 0.1}) // one end is near
	no(t, err)
	no(t, w.Explode(physics3.ExplosionDef{Radius: 1, Falloff: 6, ImpulsePerArea: 1, Mask: anything}))
	for _, b := range []physics3.Body{around, seen, off} {
		if v, turn := velocityOf(t, w, b); length(v) > 1e-6 || length(turn) > 1e-6 {
			t.Errorf("%v moves: %v %v", b, v, turn)
		}
	}
	if _, turn := velocityOf(t, w, bar); turn[2] >= 0 {
		t.Errorf("the bar turns by %v", turn)
	}
}

// A body that falls in still air reaches the speed at which drag equals its weight; before that its speed follows the hyperbolic tangent.
func TestTerminalVelocity(t *testing.T) {
	for name, c := range blown(t) {
		w := emptyWorld(t, physics3.Config{Capacity: 10, Gravity: vec{-10, 0, 0}})
		b := bodyOf(t, w, dynamicAt(0, 0, 0))
		c.make(w, b)
		m := must[physics3.MassData](t)(w.MassData(b))
		drag := 0.1 * float64(m.Mass)
		last := math.Sqrt(float64(m.Mass) * 10 / (drag * c.area))
		air := physics3.WindDef{Drag: float32(drag), Mask: anything}
		for k := range 600 {
			no(t, w.ApplyWind(air))
			no(t, w.Step(dt))
			if v, _ := velocityOf(t, w, b); k == 59 && math.Abs(float64(-v[0])-last*math.Tanh(10/last)) > 0.02*last {
				t.Errorf("%s: %g m/s after a second, want %g", name, -v[0], last*math.Tanh(10/last))
			}
		}
		v, turn := velocityOf(t, w, b)
		if math.Abs(float64(-v[0])-last) > c.bound*last || math.Abs(float64(v[1]))+math.Abs(float64(v[2])) > 1e-3 || length(turn) > 1e-3 {
			t.Errorf("%s: %v in the end, want %g; turn %v", name, v, last, turn)
		}
	}
}

// Wind lifts a tilted plate in the direction of its tilt; MaxSpeed limits the wind.
func TestWind(t *testing.T) {
	force := func(angle float64, def physics3.WindDef) vector {
		w := emptyWorld(t, physics3.Config{Capacity: 10})
		d := dynamicAt(0, 0, 0)
		d.Rotation = [4]float32{2: float32(math.Sin(angle / 2)), 3: float32(math.Cos(angle / 2))}
		b := bodyOf(t, w, d)
		box(t, w, b, plain, 1, 0.005, 0.5)
		no(t, w.ApplyWindTo(b, def))
		c, i := w.Columns(), b.Index()
		return vector{float64(c.ForceX[i]), float64(c.ForceY[i]), float64(c.ForceZ[i])}
	}
	near := func(what string, got, want, bound float64) {
		t.Helper()
		if math.Abs(got-want) > bound {
			t.Errorf("%s: %g, want %g", what, got, want)
		}
	}
	for _, angle := range []float64{0.2, math.Pi / 4, 1.2} {
		sin, cos := math.Sincos(angle)
		f := force(angle, physics3.WindDef{Wind: vec{10, 0, 0}, Drag: 0.5, Mask: anything})
		near("drag", f[0], 0.5*(2*sin+0.01*cos)*100, 0.01)
		near("drag across", math.Abs(f[1])+math.Abs(f[2]), 0, 1e-3)
		f = force(angle, physics3.WindDef{Wind: vec{10, 0, 0}, Lift: 0.5, Mask: anything})
		near("lift along", f[0], 0, 1e-3)
		near("lift", f[1], -0.5*sin*cos*2*100+0.5*sin*cos*0.01*100, 0.01) // the wind blows on its upper side
		f = force(angle, physics3.WindDef{Wind: vec{100, 0, 0}, Drag: 0.5, MaxSpeed: 10, Mask: anything})
		near("at most", f[0], 0.5*(2*sin+0.01*cos)*100, 0.01)
	}
	if f := force(1, physics3.WindDef{Wind: vec{10, 0, 0}, Drag: 0.5, Lift: 1, Mask: 2}); f != (vector{}) {
		t.Errorf("masked: %v", f)
	}
}

// water has its surface at height 0.
var water = physics3.BuoyancyDef{Normal: vec{0, 1, 0}, Density: 1000, LinearDrag: 2, AngularDrag: 2, Mask: anything}

// What floats keeps the draught at which it displaces its mass, within 2 %; what is heavier than water sinks. It turns to lie flat, and falls asleep.
func TestFloating(t *testing.T) {
	for name, c := range map[string]struct {
		make  func(w *physics3.World, b physics3.Body, d physics3.ShapeDef)
		ratio float64                     // of the densities
		depth func(ratio float64) float64 // of the centre of mass below the surface
		size  float64
	}{
		"half a box": {func(w *physics3.World, b physics3.Body, d physics3.ShapeDef) { box(t, w, b, d, 1, 0.2, 0.7) }, 0.5, func(r float64) float64 { return 0.4*r - 0.2 }, 0.4},
		"heavy box":  {func(w *physics3.World, b physics3.Body, d physics3.ShapeDef) { box(t, w, b, d, 1, 0.2, 0.7) }, 0.9, func(r float64) float64 { return 0.4*r - 0.2 }, 0.4},
		"light hull": {func(w *physics3.World, b physics3.Body, d physics3.ShapeDef) {
			h := newHull(0, vec{-1, -0.2, -1}, vec{1, -0.2, -1}, vec{-1, 0.2, -1}, vec{1, 0.2, -1}, vec{-1, -0.2, 1}, vec{1, -0.2, 1}, vec{-1, 0.2, 1}, vec{1, 0.2, 1})
			_, err := w.CreateHull(b, d, h, physics3.Placement{})
			no(t, err)
		}, 0.2, func(r float64) float64 { return 0.4*r - 0.2 }, 0.4},
		"ball": {func(w *physics3.World, b physics3.Body, d physics3.ShapeDef) { sphere(t, w, b, d, 0.5) }, 0.5, func(float64) float64 { return 0 }, 1},
		"capsule": {func(w *physics3.World, b physics3.Body, d physics3.ShapeDef) {
			_, err := w.CreateCapsule(b, d, physics3.Capsule{P1: vec{-1, 0, 0}, P2: vec{1, 0, 0}, Radius: 0.3})
			no(t, err)
		}, 0.5, func(float64) float64 { return 0 }, 0.6},
	} {
		w := emptyWorld(t, physics3.Config{Capacity: 10, Gravity: vec{0, -10, 0}})
		d := dynamicAt(3, 1, 2)
		d.Rotation = [4]float32{0.1, 0.3, 0.15, 1}
		b := bodyOf(t, w, d)
		def := plain
		def.Density = float32(1000 * c.ratio)
		c.make(w, b, def)
		for range 1200 {
			no(t, w.ApplyBuoyancy(water))
			no(t, w.Step(dt))
		}
		at := position(t, w, b)
		if want := -c.depth(c.ratio); math.Abs(float64(at[1])-want) > 0.02*c.size {
			t.Errorf("%s: floats at %g, want %g", name, at[1], want)
		}
		if w.Awake(b) {
			t.Errorf("%s: awake", name)
		}
		if v, turn := velocityOf(t, w, b); v != (vector{}) || turn != (vector{}) {
			t.Errorf("%s: asleep at %v, %v", name, v, turn)
		}
	}
	// A stone sinks at the speed at which drag and weight are equal: (ratio - 1)·g / LinearDrag.
	w := emptyWorld(t, physics3.Config{Capacity: 10, Gravity: vec{0, -10, 0}})
	stone := bodyOf(t, w, dynamicAt(0, -1, 0))
	def := plain
	def.Density = 2500
	sphere(t, w, stone, def, 0.2)
	current := water
	current.Velocity = vec{1, 0, 0}
	for range 600 {
		no(t, w.ApplyBuoyancyTo(stone, current))
		no(t, w.Step(dt))
	}
	if v, _ := velocityOf(t, w, stone); math.Abs(float64(v[1])+7.5) > 0.01 || math.Abs(float64(v[0])-1) > 0.01 {
		t.Errorf("the stone sinks at %v", v)
	}
	// On a slope of the surface, as in a tilted frame, the force is still against gravity; with nothing below it is none.
	for _, b := range []struct {
		normal vec
		offset float32
		want   float32
	}{{vec{0, 2, 0}, 100, 10 * 1000 * 0.5}, {vec{1, 1, 0}, 100, 10 * 1000 * 0.5}, {vec{0, 1, 0}, -100, 0}, {vec{0, -1, 0}, -100, 0}} {
		w := emptyWorld(t, physics3.Config{Capacity: 10, Gravity: vec{0, -10, 0}})
		body := bodyOf(t, w, dynamicAt(0, 0, 0))
		box(t, w, body, plain, 0.5, 0.25, 0.5)
		sea := water
		sea.Normal, sea.Offset = b.normal, b.offset
		no(t, w.ApplyBuoyancy(sea))
		c, i := w.Columns(), body.Index()
		if f := (vec{c.ForceX[i], c.ForceY[i], c.ForceZ[i]}); math.Abs(float64(f[1]-b.want)) > 1e-3*float64(b.want) || f[0] != 0 || f[2] != 0 {
			t.Errorf("surface %v at %g: force %v, want %g", b.normal, b.offset, f, b.want)
		}
	}
}

// Wind and water with Wake wake sleepers, and without it they do not; an explosion wakes what it moves.
func TestWhatBlowsWakes(t *testing.T) {
	w := emptyWorld(t, physics3.Config{Capacity: 10, Gravity: vec{0, -10, 0}})
	block(t, w, static(t, w), vec{0, -1, 0}, vec{10, 1, 10})
	b := bodyOf(t, w, dynamicAt(0, 0.5, 0))
	box(t, w, b, plain, 0.5, 0.5, 0.5)
	air := physics3.WindDef{Wind: vec{1, 0, 0}, Drag: 0.1, Mask: anything}
	bang := physics3.ExplosionDef{Position: vec{-2, 0.5, 0}, Radius: 1, ImpulsePerArea: 1, Mask: anything}
	sea := physics3.BuoyancyDef{Normal: vec{0, 1, 0}, Offset: 0.1, Density: 1, Mask: anything}
	for name, c := range map[string]struct {
		do    func() error
		wakes bool
	}{
		"wind":             {func() error { return w.ApplyWind(air) }, false},
		"wind that wakes":  {func() error { d := air; d.Wake = true; return w.ApplyWind(d) }, true},
		"wind on it":       {func() error { return w.ApplyWindTo(b, air) }, false},
		"water":            {func() error { return w.ApplyBuoyancy(sea) }, false},
		"water that wakes": {func() error { d := sea; d.Wake = true; return w.ApplyBuoyancyTo(b, d) }, true},
		"far explosion":    {func() error { return w.Explode(bang) }, false},
		"an explosion":     {func() error { d := bang; d.Radius = 2; return w.Explode(d) }, true},
	} {
		for range 180 {
			no(t, w.Step(dt))
		}
		if w.Awake(b) {
			t.Fatalf("%s: still awake", name)
		}
		no(t, c.do())
		no(t, w.Step(dt))
		if w.Awake(b) != c.wakes {
			t.Errorf("%s: awake is not %v", name, c.wakes)
		}
	}
}

func TestForceErrors(t *testing.T) {
	nan := float32(math.NaN())
	w := emptyWorld(t, physics3.Config{Capacity: 10})
	b := bodyOf(t, w, dynamicAt(1, 0, 0))
	sphere(t, w, b, plain, 0.5)
	hash := w.Hash()
	check := func(name, field string, errs ...error) {
		t.Helper()
		for _, err := range errs {
			if !errors.Is(err, physics3.ErrRange) && !errors.Is(err, physics3.ErrNotFinite) || !strings.Contains(err.Error(), name+"."+field) {
				t.Errorf("%s.%s: %v", name, field, err)
			}
		}
		if w.Hash() != hash {
			t.Fatalf("%s.%s: the world has changed", name, field)
		}
	}
	for field, def := range map[string]physics3.ExplosionDef{
		"Position": {Position: vec{0, nan, 0}}, "Radius": {Radius: -1}, "Falloff": {Falloff: nan}, "ImpulsePerArea": {ImpulsePerArea: -1e7},
	} {
		list := w.NewCommands()
		list.Explode(physics3.ExplosionDef{Radius: 9, ImpulsePerArea: 1, Mask: 1})
		list.Explode(def)
		check("ExplosionDef", field, w.Explode(def), w.Apply(list))
	}
	for field, def := range map[string]physics3.WindDef{
		"Wind[1]": {Wind: vec{0, nan, 0}}, "Wind[2]": {Wind: vec{0, 0, 1e7}}, "Drag": {Drag: -1}, "Lift": {Lift: nan}, "MaxSpeed": {MaxSpeed: -1},
	} {
		check("WindDef", field, w.ApplyWind(def), w.ApplyWindTo(b, def))
	}
	for field, def := range map[string]physics3.BuoyancyDef{
		"Normal": {}, "Offset": {Normal: vec{1}, Offset: 1e9}, "Density": {Normal: vec{1}, Density: -1}, "Velocity[0]": {Normal: vec{1}, Velocity: vec{nan}},
		"LinearDrag": {Normal: vec{1}, LinearDrag: nan}, "AngularDrag": {Normal: vec{1}, AngularDrag: -2},
	} {
		check("BuoyancyDef", field, w.ApplyBuoyancy(def), w.ApplyBuoyancyTo(b, def))
	}
	no(t, w.DestroyBody(b))
	if err := w.ApplyWindTo(b, physics3.WindDef{}); !errors.Is(err, physics3.ErrStale) {
		t.Errorf("stale: %v", err)
	}
	if err := w.ApplyBuoyancyTo(b, water); !errors.Is(err, physics3.ErrStale) {
		t.Errorf("stale: %v", err)
	}
}

// A belt carries a box at its speed, on a box and on a mesh, in any direction.
func TestBeltsCarryBoxes(t *testing.T) {
	for _, kind := range []string{"box", "mesh"} {
		for _, v := range []vec{{2, 0, 0}, {-0.5, 0, 1}, {1, 5, -1}} {
			w := emptyWorld(t, physics3.Config{Capacity: 10, Gravity: vec{0, -10, 0}})
			belt := plain
			belt.TangentVelocity = v
			b := static(t, w)
			var err error
			if kind == "box" {
				_, err = w.CreateBox(b, belt, physics3.Box{Center: vec{0, -1, 0}, Half: vec{30, 1, 30}})
			} else {
				_, err = w.CreateMesh(b, belt, newMesh(gridMesh(60, 60, flat)), physics3.Placement{})
			}
			no(t, err)
			load := bodyOf(t, w, dynamicAt(0, 0.5, 0))
			box(t, w, load, plain, 0.5, 0.5, 0.5)
			for range 120 {
				no(t, w.Step(dt))
			}
			from := position(t, w, load)
			for range 120 {
				no(t, w.Step(dt))
			}
			at := position(t, w, load)
			if math.Abs(float64(at[0]-from[0]-2*v[0])) > 0.01 || math.Abs(float64(at[2]-from[2]-2*v[2])) > 0.01 || math.Abs(float64(at[1]-0.5)) > 0.01 {
				t.Errorf("%s, belt at %v: moved from %v to %v in 2 s", kind, v, from, at)
			}
		}
	}
}

// Forces have the same bits on all levels and allocate nothing.
func TestForcesLevels(t *testing.T) {
	run := func(c physics3.Config, steps int) *physics3.World {
		r, _, _, _ := crowd(t, 60, 1, c)
		for range steps {
			no(t, r.w.ApplyWind(physics3.WindDef{Wind: vec{3, 1, 0}, Drag: 0.5, Lift: 0.2, MaxSpeed: 20, Mask: anything}))
			sea := water
			sea.Normal, sea.Density = vec{0.1, 1, 0.2}, 2
			no(t, r.w.ApplyBuoyancy(sea))
			no(t, r.w.Explode(physics3.ExplosionDef{Radius: 1, Falloff: 5, ImpulsePerArea: 0.01, Mask: anything}))
			no(t, r.w.Step(dt))
		}
		return r.w
	}
	want := run(physics3.Config{}, 30).ColumnHashes()
	for _, level := range native.Levels() {
		if got := run(physics3.Config{Level: level, Workers: 2}, 30).ColumnHashes(); !reflect.DeepEqual(got, want) {
			t.Errorf("level %s: another result", level)
		}
	}
	if paritytest.Instrumented {
		return
	}
	w := run(physics3.Config{}, 2)
	if n := testing.AllocsPerRun(20, func() {
		no(t, w.ApplyWind(physics3.WindDef{Wind: vec{3, 1, 0}, Drag: 0.5, Lift: 0.2, Mask: anything}))
		no(t, w.ApplyBuoyancy(water))
		no(t, w.Explode(physics3.ExplosionDef{Radius: 1, Falloff: 5, ImpulsePerArea: 0.01, Mask: anything}))
	}); n > 0 {
		t.Errorf("%g allocations", n)
	}
}
