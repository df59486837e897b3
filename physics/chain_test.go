package physics_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/frame/frametest"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
)

func (r fixture) chain(b physics.Body, d physics.ChainDef) physics.Chain {
	r.Helper()
	c, err := r.w.CreateChain(b, d)
	r.no(err)
	return c
}

// ground is an open chain of n segments, from right to left, with the outside above: at each vertex
// it turns to the left by bend radians: a hill if that is positive, else a dale.
func ground(n int, length, bend float64, d physics.ShapeDef) physics.ChainDef {
	x, y := float64(n+2)*length/2, 0.0
	var points [][2]float32
	for i := range n + 3 {
		points = append(points, [2]float32{float32(x), float32(y)})
		angle := bend * (float64(i) - float64(n)/2 - 0.5)
		x, y = x-length*math.Cos(angle), y-length*math.Sin(angle)
	}
	return physics.ChainDef{Points: points, Shape: d}
}

// sliders make sliding bodies of all shapes, at a height of 0.
var sliders = map[string]func(r fixture, b physics.Body, d physics.ShapeDef){
	"circle":  func(r fixture, b physics.Body, d physics.ShapeDef) { r.circle(b, d, 0.5) },
	"box":     func(r fixture, b physics.Body, d physics.ShapeDef) { r.box(b, d, 0.7, 0.5) },
	"capsule": func(r fixture, b physics.Body, d physics.ShapeDef) { r.capsule(b, d, -0.4, 0, 0.4, 0, 0.5) },
	"upright": func(r fixture, b physics.Body, d physics.ShapeDef) { r.capsule(b, d, 0, -0.25, 0, 0.25, 0.25) },
	"rounded": func(r fixture, b physics.Body, d physics.ShapeDef) {
		p := physics.Box(0.5, 0.4)
		p.Radius = 0.1
		r.polygon(b, d, p)
	},
}

// slide makes a body slide over 30 m of ground with a speed, and returns the final speed, and the
// greatest vertical speed on the way.
func slide(t *testing.T, shape string, speed, friction float32, lay func(r fixture, b physics.Body, d physics.ShapeDef)) (left, bump float64) {
	r := newFixture(t, -10)
	lay(r, r.body(physics.StaticBody, 0, 0), material(friction, 0))
	b := r.dynamic(-15, 0.5, moving(speed, 0, 0), func(d *physics.BodyDef) { d.FixedRotation = friction > 0 })
	sliders[shape](r, b, material(friction, 0))
	for range int(24 / speed * 60) {
		r.steps(1)
		_, vy, _ := r.velocity(b)
		bump = max(bump, math.Abs(vy))
	}
	vx, _, _ := r.velocity(b)
	if x, _ := r.at(b); x < 0 || x > 15 {
		t.Errorf("%s: at %v", shape, x)
	}
	return vx, bump
}

// The vertices of a hundred segments in a line do not affect sliding bodies.
func TestSlidingOverAStraightChain(t *testing.T) {
	for shape := range sliders {
		for _, speed := range []float32{5, 20} {
			for _, friction := range []float32{0, 0.05} {
				one, bumpOne := slide(t, shape, speed, friction, func(r fixture, b physics.Body, d physics.ShapeDef) {
					r.segment(b, d, -100, 0, 100, 0)
				})
				many, bump := slide(t, shape, speed, friction, func(r fixture, b physics.Body, d physics.ShapeDef) {
					r.chain(b, ground(100, 0.4, 0, d))
				})
				name := fmt.Sprintf("%s at %v m/s, friction %v: ", shape, speed, friction)
				r := fixture{TB: t}
				r.near(name+"speed in the end", many, one, 1e-4*max(1, float64(speed)))
				if bump > 1e-3+bumpOne {
					t.Errorf("%sup or down at %.3g m/s, on one segment at %.3g", name, bump, bumpOne)
				}
			}
		}
	}
}

// Separate segments do affect them, so the test above is meaningful.
func TestPlainSegmentsCatch(t *testing.T) {
	r := newFixture(t, -10)
	ground := r.body(physics.StaticBody, 0, 0)
	for i := range 100 {
		x := -20 + 0.4*float32(i)
		r.segment(ground, material(0, 0), x, 0, x+0.4, 0)
	}
	b := r.dynamic(-15, 0.5, moving(5, 0, 0))
	sliders["box"](r, b, material(0, 0))
	r.seconds(5)
	if vx, _, _ := r.velocity(b); vx > 4 {
		t.Errorf("a box slides over plain segments without a bump: still at %v m/s", vx)
	}
}

// A body that slides without friction over hills and through dales has the speed that follows from its height, in the
// direction of the ground.
func TestSlidingOverABentChain(t *testing.T) {
	const n, length, g = 100, 0.4, 10
	for shape := range sliders {
		for _, bend := range []float64{-0.004, 0.004, 0.002} {
			r := newFixture(t, -g)
			def := ground(n, length, bend, material(0, 0))
			r.chain(r.body(physics.StaticBody, 0, 0), def)
			height := func(x float64) (y, slope float64) {
				for i := range len(def.Points) - 1 {
					p, q := def.Points[i+1], def.Points[i]
					if x0, x1 := float64(p[0]), float64(q[0]); x >= x0 && x < x1 {
						slope = float64(q[1]-p[1]) / (x1 - x0)
						return float64(p[1]) + slope*(x-x0), slope
					}
				}
				t.Fatalf("%s: at %v", shape, x)
				return 0, 0
			}
			y0, slope := height(-15)
			b := r.dynamic(-15, float32(y0+0.5*math.Hypot(1, slope)), moving(6, float32(6*slope), 0), turned(math.Atan(slope)),
				func(d *physics.BodyDef) { d.FixedRotation = shape == "upright" })
			sliders[shape](r, b, material(0, 0))
			r.steps(30)
			energy := func() float64 {
				_, y := r.at(b)
				vx, vy, _ := r.velocity(b)
				return (vx*vx+vy*vy)/2 + g*y
			}
			before, across := energy(), 0.0
			for range 180 {
				r.steps(1)
				x, _ := r.at(b)
				_, slope := height(x)
				vx, vy, _ := r.velocity(b)
				across = max(across, math.Abs(vy-vx*slope)/math.Hypot(1, slope))
			}
			name := fmt.Sprintf("%s, bend %v: ", shape, bend)
			r.near(name+"energy", energy(), before, 0.01*before) // long bodies rock from segment to segment
			if across > 4*math.Abs(bend)*6 {
				t.Errorf("%sacross the ground at %.3g m/s", name, across)
			}
		}
	}
}

// around is a chain of n points on a circle, counter-clockwise.
func around(n int, radius float64) (points [][2]float32) {
	for i := range n {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(n))
		points = append(points, [2]float32{float32(radius * cos), float32(radius * sin)})
	}
	return points
}

// A loop of counter-clockwise points holds bodies that fall on it, and lets bodies inside get out; a clockwise
// loop is a cave.
func TestChainsHaveOneSide(t *testing.T) {
	for shape := range sliders {
		for _, cave := range []bool{false, true} {
			r := newFixture(t, -10)
			def := physics.ChainDef{Points: around(40, 6), Loop: true, Shape: material(0.8, 0)}
			if cave {
				slices.Reverse(def.Points)
			}
			r.chain(r.body(physics.StaticBody, 0, 0), def)
			inside, outside := r.dynamic(0, 0), r.dynamic(0.05, 8)
			sliders[shape](r, inside, material(0.8, 0))
			sliders[shape](r, outside, material(0.8, 0))
			r.seconds(0.8)
			_, y := r.at(outside)
			if held := y > 6.2; held == cave {
				t.Errorf("%s, cave %v: what was outside is at %v", shape, cave, y)
			}
			r.seconds(2.5)
			if _, y := r.at(inside); (y > -6) != cave {
				t.Errorf("%s, cave %v: what was inside is at %v", shape, cave, y)
			}
		}
	}
}

// Boxes on a ground of short segments come to rest as on a box, even in a stack.
func TestRestOnAChain(t *testing.T) {
	r := newFixture(t, -10)
	r.chain(r.body(physics.StaticBody, 0, 0), ground(60, 0.23, 0, plain))
	var boxes []physics.Body
	for i := range 8 {
		b := r.dynamic(0.01*float32(i%2), 0.5+1.01*float32(i))
		r.box(b, plain, 0.5, 0.5)
		boxes = append(boxes, b)
	}
	r.seconds(5)
	for i, b := range boxes {
		x, y := r.at(b)
		vx, vy, w := r.velocity(b)
		r.near("x", x, 0.005, 0.02)
		r.near("y", y, 0.5+float64(i), 0.03)
		r.near("angle", r.angle(b), 0, 0.01)
		r.near("speed", math.Abs(vx)+math.Abs(vy)+math.Abs(w), 0, 0.01)
	}
}

// A ball that rolls towards the end of an open chain rolls around its last vertex and drops.
func TestEndsOfAnOpenChain(t *testing.T) {
	for _, speed := range []float32{1, -1} {
		r := newFixture(t, -10)
		points := [][2]float32{{3, -1}, {2, 0}, {1, 0}, {0, 0}, {-1, 0}, {-2, 0}, {-3, -1}}
		r.chain(r.body(physics.StaticBody, 0, 0), physics.ChainDef{Points: points, Shape: plain})
		b := r.dynamic(0, 0.5, moving(speed, 0, -speed/0.5))
		r.circle(b, plain, 0.5)
		r.seconds(1.9)
		_, y := r.at(b)
		r.near("height before the end", y, 0.5, 0.01)
		lowest := 0.0
		for range 60 {
			r.steps(1)
			_, vy, _ := r.velocity(b)
			lowest = min(lowest, vy)
		}
		if x, y := r.at(b); y > -1 || math.Abs(x) < 2 {
			t.Errorf("at %v, %v", x, y)
		}
	}
}

func TestChainErrors(t *testing.T) {
	nan := float32(math.NaN())
	inf := float32(math.Inf(1))
	square := [][2]float32{{0, 0}, {1, 0}, {1, 1}, {0, 1}}
	with := func(i int, p [2]float32) [][2]float32 {
		points := slices.Clone(square)
		points[i] = p
		return points
	}
	sensor, oneWay, heavy := plain, plain, plain
	sensor.Sensor, oneWay.OneWay, heavy.Density = true, [2]float32{0, 1}, nan
	r := newFixture(t, 0)
	b := r.body(physics.StaticBody, 0, 0)
	gone := r.body(physics.StaticBody, 0, 0)
	r.no(r.w.DestroyBody(gone))
	r.chain(b, physics.ChainDef{Points: square, Loop: true, Shape: plain})
	hash := r.w.Hash()
	for name, c := range map[string]struct {
		body  physics.Body
		def   physics.ChainDef
		is    error
		words string
	}{
		"stale":       {gone, physics.ChainDef{Points: square, Shape: plain}, physics.ErrStale, "Body"},
		"three":       {b, physics.ChainDef{Points: square[:3], Shape: plain}, physics.ErrRange, "number of ChainDef.Points = 3"},
		"two, loop":   {b, physics.ChainDef{Points: square[:2], Loop: true, Shape: plain}, physics.ErrRange, "number of ChainDef.Points = 2"},
		"none":        {b, physics.ChainDef{Shape: plain}, physics.ErrRange, "number of ChainDef.Points = 0"},
		"NaN":         {b, physics.ChainDef{Points: with(2, [2]float32{nan, 0}), Shape: plain}, physics.ErrNotFinite, "ChainDef.Points[2]"},
		"Inf":         {b, physics.ChainDef{Points: with(0, [2]float32{0, inf}), Shape: plain}, physics.ErrNotFinite, "ChainDef.Points[0]"},
		"far":         {b, physics.ChainDef{Points: with(1, [2]float32{2e6, 0}), Shape: plain}, physics.ErrRange, "ChainDef.Points[1]"},
		"equal":       {b, physics.ChainDef{Points: with(1, square[0]), Shape: plain}, physics.ErrRange, "ChainDef.Points[0]"},
		"equal, loop": {b, physics.ChainDef{Points: with(3, square[0]), Loop: true, Shape: plain}, physics.ErrRange, "ChainDef.Points[3]"},
		"close":       {b, physics.ChainDef{Points: with(1, [2]float32{0.004, 0}), Shape: plain}, physics.ErrRange, "too close"},
		"sensor":      {b, physics.ChainDef{Points: square, Shape: sensor}, physics.ErrRange, "Sensor"},
		"one-way":     {b, physics.ChainDef{Points: square, Shape: oneWay}, physics.ErrRange, "OneWay"},
		"density":     {b, physics.ChainDef{Points: square, Shape: heavy}, physics.ErrNotFinite, "Density"},
	} {
		_, err := r.w.CreateChain(c.body, c.def)
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: got %v, want %q", name, err, c.words)
		}
		if r.w.Hash() != hash || r.w.ShapeCount() != 4 || r.w.ChainCount() != 1 {
			t.Fatalf("%s: the world has changed", name)
		}
	}
}

// A segment cannot become a platform or a sensor.
func TestSegmentsStayOrdinary(t *testing.T) {
	r := newFixture(t, 0)
	c := r.chain(r.body(physics.StaticBody, 0, 0), ground(3, 1, 0, plain))
	s := must[[]physics.Shape](t)(r.w.AppendChainShapes(nil, c))[1]
	before := r.w.Hash()
	if err := r.w.SetShapeDef(s, upward()); !errors.Is(err, physics.ErrRange) || !strings.Contains(err.Error(), "ShapeDef.OneWay") {
		t.Errorf("one-way: %v", err)
	}
	if r.w.Hash() != before {
		t.Error("a refused call has changed the world")
	}
}

// A chain lives as a whole: events name its segments, calls can change them, and cannot destroy single ones.
func TestChainHandles(t *testing.T) {
	r := newFixture(t, -10)
	b := r.body(physics.StaticBody, 0, 0)
	lone := r.segment(b, plain, 100, 100, 101, 100)
	c := r.chain(b, ground(5, 2, 0, plain))
	shapes, err := r.w.AppendChainShapes(nil, c)
	r.no(err)
	if len(shapes) != 5 || r.w.ShapeCount() != 6 {
		t.Fatalf("%d segments, %d shapes", len(shapes), r.w.ShapeCount())
	}
	for _, s := range shapes {
		if of, err := r.w.ShapeChain(s); of != c || err != nil {
			t.Errorf("%v is of %v, %v", s, of, err)
		}
		if err := r.w.DestroyShape(s); !errors.Is(err, physics.ErrUnsupported) || !r.w.ValidShape(s) {
			t.Errorf("destroying a segment: %v", err)
		}
		list := r.w.NewCommands()
		list.DestroyShape(s)
		if err := r.w.Apply(list); !errors.Is(err, physics.ErrUnsupported) || !r.w.ValidShape(s) {
			t.Errorf("destroying a segment by command: %v", err)
		}
	}
	if of, err := r.w.ShapeChain(lone); of != (physics.Chain{}) || err != nil {
		t.Errorf("a segment is of %v, %v", of, err)
	}
	ice := plain
	ice.Friction = 0
	r.no(r.w.SetShapeDef(shapes[2], ice))
	if d, err := r.w.ShapeDef(shapes[2]); err != nil || d != ice {
		t.Errorf("definition %v, %v", d, err)
	}
	ball := r.dynamic(0, 0.5)
	round := r.circle(ball, plain, 0.5)
	r.steps(2)
	touch := physics.Touch{A: shapes[2], B: round}
	if e := r.w.Events(); len(e.Begin) != 0 {
		touch = e.Begin[0]
	}
	r.no(r.w.DestroyChain(c))
	if r.w.ValidChain(c) || r.w.ChainCount() != 0 || r.w.ShapeCount() != 2 || r.w.ValidShape(shapes[0]) {
		t.Error("the chain is still there")
	}
	r.steps(1)
	if e := r.w.Events().End; !slices.Equal(e, []physics.Touch{touch}) {
		t.Errorf("ended: %v, want %v", e, touch)
	}
	if err := r.w.DestroyChain(c); !errors.Is(err, physics.ErrStale) {
		t.Errorf("destroyed twice: %v", err)
	}
	if _, err := r.w.AppendChainShapes(nil, c); !errors.Is(err, physics.ErrStale) {
		t.Errorf("segments of a chain that is gone: %v", err)
	}
	again := r.chain(b, ground(5, 2, 0, plain))
	if again == c || again.String() != "chain_0.2" {
		t.Errorf("the next chain is %v", again)
	}
	r.no(r.w.DestroyBody(b))
	if r.w.ValidChain(again) || r.w.ShapeCount() != 1 {
		t.Error("a chain outlives its body")
	}
}

// grounded is a crowd on two chains, one of which moves.
func grounded(t testing.TB, c physics.Config, n int, seed uint64) *crowd {
	t.Helper()
	w := newCrowd(t, c, n, seed)
	r := fixture{t, w.World}
	floor := ground(30, 0.9, 0.01, plain)
	walls, _ := w.BodyAt(0)
	r.chain(walls, floor)
	r.chain(r.body(physics.KinematicBody, 3, 4, moving(0, 0, 0.5)), physics.ChainDef{Points: around(9, 2), Loop: true, Shape: plain})
	platform := plain
	platform.OneWay = [2]float32{0, 2}
	r.box(r.body(physics.KinematicBody, -4, 5, moving(0, 0, 0.3)), platform, 3, 0.1)
	r.box(r.body(physics.KinematicBody, 5, 3), platform, 3, 0.1)
	a, _ := w.BodyAt(2)
	b, _ := w.BodyAt(3)
	r.no(w.IgnorePair(a, b))
	r.no(w.SetMassData(a, physics.MassData{Mass: 3, Inertia: 2, Center: [2]float32{0.1, 0.2}}))
	r.no(w.SetMassData(b, physics.MassData{Mass: 2}))
	r.no(w.SetTuning(physics.Tuning{ContactHertz: 25, RestitutionThreshold: 0.5, MaxSpeed: 50, HitSpeed: 2}))
	for i := range 4 {
		if l, ok := w.BodyAt(4 + i); ok {
			r.no(w.SetSpan(l, physics.Span{Min: float32(i % 2), Max: float32(i%2) + 0.5}))
			r.no(w.SetMotionLocks(l, physics.MotionLocks{X: i%2 == 0, Y: i > 1, Rotation: i == 1}))
		}
	}
	return w
}

// storm is a step with wind and explosions.
func (w *crowd) storm() {
	w.t.Helper()
	r := fixture{w.t, w.World}
	r.no(w.ApplyWind(physics.WindDef{Wind: [2]float32{w.float(-9, 9), 1}, Drag: 0.1, Lift: 0.2, MaxSpeed: 20, Mask: ^uint64(0)}))
	if w.pick(5) == 0 {
		r.no(w.Explode(physics.ExplosionDef{
			Position: [2]float32{w.float(-9, 9), 1}, Radius: 2, Falloff: 3, ImpulsePerLength: 2, Mask: 1,
		}))
	}
	w.step()
}

// All levels and any number of workers give equal bits.
func TestChainsOnLevelsAndWorkers(t *testing.T) {
	first := grounded(t, physics.Config{Capacity: 900, Level: native.Go}, 600, 4)
	var others []*crowd
	for _, level := range native.Levels() {
		for _, workers := range []int{1, 3} {
			others = append(others, grounded(t, physics.Config{Capacity: 900, Level: level, Workers: workers}, 600, 4))
		}
	}
	for k := range paritytest.Sample(40) {
		first.storm()
		for _, w := range others {
			w.storm()
			c := w.Config()
			sameState(t, fmt.Sprintf("tick %d, level %v, %d workers", k, c.Level, c.Workers), first.World, w.World)
		}
	}
}

// A world that is restored or copied at any 50th tick continues like the original.
func TestChainSnapshots(t *testing.T) {
	c := physics.Config{Capacity: 200}
	w := grounded(t, c, 60, 7)
	copied := newWorld(t, c)
	for k := range 6 {
		for range 50 {
			w.storm()
		}
		restored := newWorld(t, c)
		snap := snapshot(t, w.World)
		restore(t, restored, snap)
		if again := snapshot(t, restored); !slices.Equal(again, snap) {
			t.Fatalf("tick %d: the snapshot of a restored world differs", 50*k)
		}
		fixture{TB: t}.no(copied.CopyFrom(w.World))
		for name, other := range map[string]*physics.World{"restored": restored, "copied": copied} {
			rng := *w.rng
			twin, original := &crowd{World: other, t: t, rng: &rng, n: w.n}, w.clone()
			for range 50 {
				twin.storm()
				original.storm()
			}
			sameState(t, fmt.Sprintf("%s at tick %d", name, 50*k), original.World, other)
			if !sameEvents(original.Events(), other.Events()) {
				t.Errorf("%s at tick %d: other events", name, 50*k)
			}
		}
	}
}

func TestRestoreRefusesForgedChains(t *testing.T) {
	w := grounded(t, physics.Config{Capacity: 50}, 6, 5)
	for range 10 {
		fixture{TB: t}.no(w.Step(dt))
	}
	good := snapshot(t, w.World)
	into := newWorld(t, physics.Config{Capacity: 50})
	const points = 33 // of the first chain
	for name, c := range map[string]struct {
		frame int
		forge func(b []byte) []byte
		words string
	}{
		"platform twice":      {6, func(b []byte) []byte { return append(b, b[:12]...) }, "one-way platform[2]"},
		"no such shape":       {6, func(b []byte) []byte { b[2] = 9; return b }, "one-way platform[0]"},
		"no front":            {6, func(b []byte) []byte { clear(b[4:12]); return b }, "one-way platform[0]"},
		"a piece of one":      {6, func(b []byte) []byte { return b[:13] }, "length of the one-way"},
		"points missing":      {7, func(b []byte) []byte { return b[:50] }, "points of chain[0]"},
		"a chain's beginning": {7, func(b []byte) []byte { return append(b, 1, 2) }, "length of chain[2]"},
		"generation":          {7, func(b []byte) []byte { clear(b[:4]); return b }, "of chain[0]"},
		"body":                {7, func(b []byte) []byte { b[4] = 40; return b }, "of chain[0]"},
		"another body":        {7, func(b []byte) []byte { b[4] = 1; return b }, "segment of chain[0]"},
		"two points":          {7, func(b []byte) []byte { b[8] = 2; return b }, "points of chain[0]"},
		"a loop":              {7, func(b []byte) []byte { b[11] = 0x80; return b }, "chain[0]"},
		"a point":             {7, func(b []byte) []byte { b[12+8*3+2] ^= 1; return b }, "segment of chain[0]"},
		"point not finite":    {7, func(b []byte) []byte { copy(b[12:], []byte{0, 0, 0xc0, 0x7f}); return b }, "points of chain[0]"},
		"a shape":             {7, func(b []byte) []byte { b[12+8*points]++; return b }, "segment of chain[0]"},
		"a piece of a pair":   {8, func(b []byte) []byte { return b[:7] }, "length of the pairs"},
		"pair with itself":    {8, func(b []byte) []byte { copy(b[:4], b[4:]); return b }, "pair[0]"},
		"pair twice":          {8, func(b []byte) []byte { return append(b, b...) }, "pair[1]"},
		"tuning":              {9, func(b []byte) []byte { clear(b[:4]); return b }, "tuning"},
		"tuning of NaN":       {9, func(b []byte) []byte { copy(b[4:], []byte{0, 0, 0xc0, 0x7f}); return b }, "tuning"},
		"half a tuning":       {9, func(b []byte) []byte { return b[:8] }, "length of the tuning"},
		"a piece of a mass":   {10, func(b []byte) []byte { return b[:21] }, "length of the masses"},
		"mass of nobody":      {10, func(b []byte) []byte { b[2] = 1; return b }, "mass[0]"},
		"mass twice":          {10, func(b []byte) []byte { copy(b[20:24], b[:4]); return b }, "mass[1]"},
		"no mass":             {10, func(b []byte) []byte { clear(b[4:8]); return b }, "mass[0]"},
		"pair of nobody":      {8, func(b []byte) []byte { b[2] = 1; return b }, "pair[0]"},
	} {
		list := frametest.Split(good)
		list[c.frame] = c.forge(list[c.frame])
		refuses(t, into, list, name, c.words)
	}
}

func TestChainsAllocateNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	w := grounded(t, physics.Config{Capacity: 200}, 100, 7)
	for range 200 {
		fixture{TB: t}.no(w.Step(dt))
	}
	var buf []byte
	air := physics.WindDef{Wind: [2]float32{1, 0}, Drag: 0.1, Lift: 0.1, Mask: 1}
	bang := physics.ExplosionDef{Radius: 1, Falloff: 2, ImpulsePerLength: 0.1, Mask: 1}
	other := newWorld(t, physics.Config{Capacity: 200})
	if n := testing.AllocsPerRun(50, func() {
		if w.ApplyWind(air) != nil || w.Explode(bang) != nil || w.Step(dt) != nil || other.CopyFrom(w.World) != nil || w.Hash() != other.Hash() {
			t.Fatal("a step or a copy failed")
		}
		buf, _ = w.Snapshot(buf[:0])
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
