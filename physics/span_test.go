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

// spanned returns a definition with a span.
func spanned(least, most float32) physics.ShapeDef {
	d := plain
	d.Span = physics.Span{Min: least, Max: most}
	return d
}

// Shapes touch, are found and are sensed only where the spans overlap, which are closed.
func TestSpansDecideWhatTouches(t *testing.T) {
	below := float32(math.Nextafter32(1, 0))
	for _, c := range []struct {
		a, b  physics.Span
		meets bool
	}{
		{physics.Span{}, physics.Span{}, true},
		{physics.Span{Max: 1}, physics.Span{}, true},
		{physics.Span{Max: 1}, physics.Span{Max: 1}, true},
		{physics.Span{Max: 1}, physics.Span{Min: 1, Max: 2}, true},
		{physics.Span{Max: below}, physics.Span{Min: 1, Max: 2}, false},
		{physics.Span{Max: 3}, physics.Span{Min: 1, Max: 2}, true},
		{physics.Span{Min: 5, Max: 5}, physics.Span{Min: 5, Max: 5}, true},
		{physics.Span{Min: 5, Max: 5}, physics.Span{Min: 6, Max: 6}, false},
		{physics.Span{Min: 2, Max: inf}, physics.Span{Min: -inf, Max: 2}, true},
		{physics.Span{Min: 2, Max: inf}, physics.Span{Min: -inf, Max: 1}, false},
		{physics.Span{Min: -inf, Max: inf}, physics.Span{Min: 1e9, Max: 1e9}, true},
		{physics.Span{Max: 1e-30}, physics.Span{Min: -1}, true},
		{physics.Span{Max: 1e-30}, physics.Span{Min: 1e-29, Max: 1}, false},
	} {
		for _, swap := range []bool{false, true} {
			if swap {
				c.a, c.b = c.b, c.a
			}
			r := newFixture(t, 0)
			a, sensor := plain, plain
			a.Span, sensor.Sensor = c.a, true
			sensor.Span = c.b
			r.circle(r.dynamic(0, 0), a, 0.5)
			b := plain
			b.Span = c.b
			r.circle(r.dynamic(0.4, 0), b, 0.5)
			r.circle(r.body(physics.StaticBody, 0, 0.2), sensor, 0.1)
			r.steps(1)
			want := 0
			if c.meets {
				want = 1
			}
			e := r.w.Events()
			if len(e.Begin) != want || len(e.SensorBegin) < want {
				t.Errorf("%v and %v: %d contacts and %d of sensors, want %d", c.a, c.b, len(e.Begin), len(e.SensorBegin), want)
			}
			var hits physics.RayHits
			r.no(r.w.RayAll(&physics.Rays{X: []float32{0}, Y: []float32{-3}, DX: []float32{0}, DY: []float32{6},
				QueryFilter: physics.QueryFilter{Span: c.b}}, &hits))
			if found := len(hits.Shapes) == 2; found != c.meets {
				t.Errorf("%v and %v: a ray hits %d shapes", c.a, c.b, len(hits.Shapes))
			}
		}
	}
}

// All queries take a span, one for all or one for each.
func TestQueriesFindTheirSpan(t *testing.T) {
	r := newFixture(t, 0)
	var shapes []physics.Shape // one on another
	for storey := range 3 {
		z := float32(4 * storey)
		shapes = append(shapes, r.circle(r.body(physics.StaticBody, 0, 0), spanned(z, z+3), 1))
	}
	filter := physics.QueryFilter{Spans: []physics.Span{{Min: 4, Max: 4}, {Min: 3.5, Max: 3.5}, {}, {Min: 9, Max: inf}}}
	want := []physics.Shape{shapes[1], {}, shapes[0], shapes[2]}
	zero, one := []float32{0, 0, 0, 0}, []float32{1, 1, 1, 1}
	var hits physics.RayHits
	check := func(what string, got []physics.Shape) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	x := []float32{-3, -3, -3, -3}
	six := []float32{6, 6, 6, 6}
	r.no(r.w.RayClosest(&physics.Rays{X: x, Y: zero, DX: six, DY: zero, QueryFilter: filter}, &hits))
	check("RayClosest", hits.Shapes)
	form := must[physics.Form](t)(physics.CircleForm(physics.Circle{Radius: 0.1}))
	probes := physics.Probes{Forms: []physics.Form{form}, X: x, Y: zero, QueryFilter: filter}
	r.no(r.w.CastClosest(&physics.Casts{Probes: probes, DX: six, DY: zero}, &hits))
	check("CastClosest", hits.Shapes)
	var near physics.Distances
	r.no(r.w.Nearest(&probes, []float32{9, 9, 9, 9}, &near))
	check("Nearest", near.Shapes)
	probes.X = one
	var over physics.Overlapping
	r.no(r.w.Overlaps(&probes, &over))
	for i, n := range []int{1, 0, 3, 1} {
		if len(over.Row(i)) != n || n == 1 && over.Row(i)[0] != want[i] {
			t.Errorf("overlaps: %v", over.Row(i))
		}
	}

	r.no(r.w.SetSpan(must[physics.Body](t)(r.w.ShapeBody(shapes[1])), physics.Span{Min: 20, Max: 21}))
	want[0], want[3] = physics.Shape{}, shapes[1]
	r.no(r.w.RayClosest(&physics.Rays{X: x, Y: zero, DX: six, DY: zero, QueryFilter: filter}, &hits))
	check("RayClosest after a change", hits.Shapes)

	nan := float32(math.NaN())
	for says, f := range map[string]physics.QueryFilter{
		"physics: QueryFilter.Span.Max = NaN: not finite":                          {Span: physics.Span{Max: nan}},
		"physics: QueryFilter.Span.Min = 1: out of range: greater than Max":        {Span: physics.Span{Min: 1}},
		"physics: QueryFilter.Spans[2].Min = NaN: not finite":                      {Spans: []physics.Span{{}, {Max: 1}, {Min: nan}, {}}},
		"physics: QueryFilter.Spans[3].Min = +Inf: out of range: greater than Max": {Spans: []physics.Span{{}, {}, {}, {Min: inf}}},
	} {
		probes.QueryFilter = f
		rays := physics.Rays{X: x, Y: zero, DX: six, DY: zero, QueryFilter: f}
		movers := physics.Movers{X: x, Y: zero, VX: zero, VY: zero, Ground: make([]physics.Shape, 4), GroundX: zero, GroundY: zero, QueryFilter: f}
		def := physics.DefaultMoverDef()
		for name, err := range map[string]error{
			"rays": r.w.RayAll(&rays, &hits), "overlaps": r.w.Overlaps(&probes, &over), "movers": r.w.Move(&def, &movers, dt),
		} {
			if err == nil || err.Error() != says {
				t.Errorf("%s: %v, want %s", name, err, says)
			}
		}
	}
}

// Characters stand on the ground of their span, and push only what is there.
func TestMoversWithSpans(t *testing.T) {
	r := newFixture(t, 0)
	r.floor(plain)
	r.box(r.body(physics.StaticBody, 0, 3), spanned(5, 6), 10, 0.1)
	r.box(r.body(physics.StaticBody, 4, 3), spanned(5, 6), 0.1, 3)
	h := r.hero(0, 1)
	h.m.Span = physics.Span{Max: 1}
	h.walk(3, 120)
	h.expect("past a wall that is elsewhere", 6, tall, 0.01)
	h.m.X[0], h.m.Y[0], h.m.Span = 0, 5, physics.Span{Min: 6, Max: 7}
	h.walk(3, 180)
	h.expect("at the wall, on the platform", 3.9-0.305, 3.1+tall, 0.01)
}

// Explosions and wind act on their span.
func TestForcesWithSpans(t *testing.T) {
	r := newFixture(t, 0)
	var bodies []physics.Body
	for storey := range 3 {
		b := r.dynamic(2, 0)
		r.circle(b, spanned(float32(2*storey), float32(2*storey+1)), 0.5)
		bodies = append(bodies, b)
	}
	middle := physics.Span{Min: 2.5, Max: 2.5}
	r.no(r.w.Explode(physics.ExplosionDef{Radius: 5, ImpulsePerLength: 1, Mask: 1, Span: middle}))
	for i, b := range bodies {
		if vx, _, _ := r.velocity(b); (vx != 0) != (i == 1) {
			t.Errorf("body %d has the speed %v after an explosion", i, vx)
		}
	}
	r.no(r.w.ApplyWind(physics.WindDef{Wind: [2]float32{0, 9}, Drag: 1, Mask: 1, Span: middle}))
	r.steps(1)
	for i, b := range bodies {
		if _, vy, _ := r.velocity(b); (vy != 0) != (i == 1) {
			t.Errorf("body %d has the speed %v in the wind", i, vy)
		}
	}
	for says, err := range map[string]error{
		"physics: ExplosionDef.Span.Min = 1": r.w.Explode(physics.ExplosionDef{Span: physics.Span{Min: 1}}),
		"physics: WindDef.Span.Min = 2":      r.w.ApplyWind(physics.WindDef{Span: physics.Span{Min: 2}}),
	} {
		if !errors.Is(err, physics.ErrRange) || !strings.HasPrefix(err.Error(), says) {
			t.Errorf("%v, want %s", err, says)
		}
	}
}

// Fast bodies and bullets stop at walls, chains and bodies of their span, and pass those of others.
func TestContinuousWithSpans(t *testing.T) {
	for _, meets := range []bool{false, true} {
		at := physics.Span{Min: 1, Max: 2}
		if meets {
			at.Min = 0.5
		}
		wall := plain
		wall.Span = at
		r := newFixture(t, 0)
		r.box(r.body(physics.StaticBody, 5, 0), wall, 0.01, 2)
		r.chain(r.body(physics.StaticBody, 5, 10), physics.ChainDef{Points: [][2]float32{{0, 9}, {0, 2}, {0, -2}, {0, -9}}, Shape: wall})
		r.box(r.body(physics.KinematicBody, 5, 20, moving(0, 0.1, 0)), wall, 0.01, 2)
		for _, y := range []float32{0, 10, 20} {
			b := r.dynamic(0, y, moving(300, 0, 0), func(d *physics.BodyDef) { d.Bullet = true })
			r.circle(b, spanned(0, 0.7), 0.1)
			r.steps(4)
			if x, _ := r.at(b); meets && x > 5.2 || !meets && x < 19.99 {
				t.Errorf("overlap %v: the body at height %v is at %v", meets, y, x)
			}
		}
	}
}

// A body changes the storey. It no longer touches the shapes of the old one, begins to touch those of the new one, and
// wakes what slept on it.
func TestSetSpan(t *testing.T) {
	r := newFixture(t, -10)
	awake := func(d *physics.BodyDef) { d.DisableSleep = false }
	high := r.body(physics.StaticBody, 0, 3, awake)
	deck := r.box(high, spanned(0, 1), 5, 0.5)
	low := r.body(physics.StaticBody, 0, -0.5)
	r.box(low, spanned(5, 6), 50, 0.5)
	a, b := r.dynamic(-1, 4, awake), r.dynamic(2, 4, awake)
	r.box(a, spanned(0, 6), 0.5, 0.5)
	r.box(b, spanned(1, 2), 0.5, 0.5)
	r.seconds(2)
	if r.w.AwakeCount() != 0 {
		t.Fatalf("%d are awake", r.w.AwakeCount())
	}
	hash, snap := r.w.Hash(), snapshot(t, r.w)
	r.no(r.w.SetSpan(high, physics.Span{Max: 1}))
	r.no(r.w.SetSpan(b, physics.Span{Min: 1, Max: 2}))
	if r.w.Hash() != hash {
		t.Error("the same span changes something")
	}

	r.no(r.w.SetSpan(high, physics.Span{Min: 8, Max: 9}))
	if d, err := r.w.ShapeDef(deck); err != nil || d.Span != (physics.Span{Min: 8, Max: 9}) {
		t.Errorf("%v, %v", d.Span, err)
	}
	if r.w.Hash() == hash {
		t.Error("the hash does not know of the span")
	}
	r.steps(1)
	if e := r.w.Events(); len(e.End) != 2 || len(e.Woke) != 2 {
		t.Errorf("ended: %v, woke: %v", e.End, e.Woke)
	}
	r.seconds(2)
	_, ya := r.at(a)
	_, yb := r.at(b)
	r.near("falls on the low floor", ya, 0.5, 0.02)
	if yb > -5 {
		t.Errorf("a body of no floor is at %v", yb)
	}

	restore(t, r.w, snap)
	if r.w.Hash() != hash {
		t.Error("another hash")
	}
	r.no(r.w.SetSpan(a, physics.Span{Min: 5, Max: 6})) // a sleeping body wakes, and falls
	r.steps(1)
	if e := r.w.Events(); len(e.End) != 1 || len(e.Woke) != 1 {
		t.Errorf("ended: %v, woke: %v", e.End, e.Woke)
	}
	r.seconds(2)
	_, ya = r.at(a)
	r.near("falls on the low floor", ya, 0.5, 0.02)
	for _, x := range []physics.Body{a, b, high, low} {
		r.no(r.w.SetSpan(x, physics.Span{Min: -inf, Max: inf}))
	}
	if d, _ := r.w.ShapeDef(deck); d.Span != (physics.Span{}) {
		t.Errorf("the whole axis reads as %v", d.Span)
	}
}

func TestSpanErrors(t *testing.T) {
	r := newFixture(t, 0)
	b := r.dynamic(0, 0)
	s := r.circle(b, plain, 1)
	gone := r.dynamic(0, 0)
	r.no(r.w.DestroyBody(gone))
	hash := r.w.Hash()
	nan := float32(math.NaN())
	if err := r.w.SetSpan(gone, physics.Span{}); !errors.Is(err, physics.ErrStale) {
		t.Error(err)
	}
	for says, span := range map[string]physics.Span{
		"Span.Min = NaN: not finite": {Min: nan}, "Span.Max = NaN: not finite": {Min: 1, Max: nan},
		"Span.Min = 2: out of range: greater than Max":    {Min: 2, Max: 1},
		"Span.Min = +Inf: out of range: greater than Max": {Min: inf, Max: -inf},
	} {
		d := plain
		d.Span = span
		_, err := r.w.CreateCircle(b, d, physics.Circle{Radius: 1})
		_, chainErr := r.w.CreateChain(b, physics.ChainDef{Points: [][2]float32{{0, 0}, {1, 0}, {2, 1}}, Loop: true, Shape: d})
		for what, err := range map[string]error{
			"create": err, "chain": chainErr, "set": r.w.SetShapeDef(s, d), "body": r.w.SetSpan(b, span),
		} {
			if err == nil || !strings.HasSuffix(strings.Replace(err.Error(), "SetSpan: span", "Span", 1), says) {
				t.Errorf("%s: %v, want %s", what, err, says)
			}
		}
	}
	if r.w.Hash() != hash {
		t.Error("an error has changed the world")
	}
}

// storeys adds boxes, balls and capsules that fall on a floor of their own, and move about. Two worlds with the same
// draws get the same bodies.
func (r fixture) storeys(rng *crowd, n int, def physics.ShapeDef) (bodies []physics.Body) {
	floor := r.body(physics.StaticBody, 0, -1)
	r.box(floor, def, 20, 1)
	for i := range n {
		b := r.dynamic(rng.float(-8, 8), rng.float(1, 12), moving(rng.float(-3, 3), 0, rng.float(-3, 3)),
			func(d *physics.BodyDef) { d.DisableSleep, d.Bullet = false, i%7 == 0 })
		switch i % 3 {
		case 0:
			r.box(b, def, 0.5, 0.3)
		case 1:
			r.circle(b, def, 0.4)
		default:
			r.capsule(b, def, -0.3, 0, 0.3, 0, 0.2)
		}
		bodies = append(bodies, b)
	}
	return bodies
}

// Storeys in one world move like those in worlds of their own, to the bit.
func TestStoreysAreWorldsOfTheirOwn(t *testing.T) {
	for _, level := range native.Levels() {
		for _, workers := range []int{1, 3} {
			const storeys, n = 4, 60
			c := physics.Config{Gravity: [2]float32{0, -10}, Capacity: storeys * (n + 1), Level: level, Workers: workers}
			all := fixture{t, newWorld(t, c)}
			var own []fixture
			var bodies, twins [storeys][]physics.Body
			for k := range storeys {
				r := fixture{t, newWorld(t, c)}
				own = append(own, r)
				draws := func() *crowd { return newCrowd(t, physics.Config{Capacity: 50}, 1, uint64(k)) }
				bodies[k] = all.storeys(draws(), n, spanned(float32(3*k), float32(3*k+2)))
				twins[k] = r.storeys(draws(), n, plain)
			}
			for tick := range paritytest.Rounds(240) {
				all.steps(1)
				for k, r := range own {
					r.steps(1)
					for i, b := range bodies[k] {
						p, q := must[[2]float32](t)(all.w.Position(b)), must[[2]float32](t)(r.w.Position(twins[k][i]))
						if p != q {
							t.Fatalf("level %v, tick %d: body %d of storey %d is at %v, alone at %v", level, tick, i, k, p, q)
						}
					}
				}
			}
		}
	}
}

// A world with spans continues like its restored, cloned and copied twins; without them it is as if they had never been.
func TestSpansAreState(t *testing.T) {
	r := newFixture(t, -10)
	fresh := snapshot(t, r.w)
	floor := r.floor(spanned(0, 10))
	for i := range 20 {
		b := r.dynamic(float32(i%5), float32(1+i/5))
		r.box(b, spanned(float32(i%3), float32(i%3)+0.5), 0.5, 0.5)
	}
	r.steps(20)
	restored := newWorld(t, r.w.Config())
	restore(t, restored, snapshot(t, r.w))
	copied := newWorld(t, r.w.Config())
	r.no(copied.CopyFrom(r.w))
	twins := map[string]*physics.World{"restored": restored, "cloned": must[*physics.World](t)(r.w.Clone()), "copied": copied}
	for range 20 {
		r.steps(1)
		for name, w := range twins {
			r.no(w.Step(dt))
			sameState(t, name, r.w, w)
		}
	}
	for name, w := range twins {
		r.no(w.SetSpan(floor, physics.Span{Min: 20, Max: 30}))
		r.no(w.Step(dt))
		if w.Hash() == r.w.Hash() {
			t.Errorf("%s: the floor stays", name)
		}
		restore(t, w, fresh)
		again := fixture{t, w}
		again.circle(again.dynamic(0, 0), plain, 1)
		if got := again.w.ShapeCount(); got != 1 {
			t.Errorf("%s: %d shapes", name, got)
		}
	}

	r = newFixture(t, 0)
	b := r.dynamic(0, 0)
	s := r.circle(b, plain, 1)
	hash, snap := r.w.Hash(), snapshot(t, r.w)
	r.no(r.w.SetSpan(b, physics.Span{Min: 1, Max: 2}))
	r.no(r.w.SetShapeDef(s, plain))
	r.no(r.w.SetSpan(b, physics.Span{}))
	if r.w.Hash() != hash || len(snapshot(t, r.w)) != len(snap) {
		t.Error("a span leaves something behind")
	}
}

func TestRestoreRefusesForgedSpans(t *testing.T) {
	r := newFixture(t, 0)
	r.circle(r.dynamic(0, 0), spanned(1, 2), 1)
	r.circle(r.dynamic(5, 0), plain, 1)
	r.circle(r.dynamic(9, 0), spanned(3, 4), 1)
	good := snapshot(t, r.w)
	const frame = 15
	into := newWorld(t, physics.Config{Capacity: 1024})
	restore(t, into, good)
	sameState(t, "restored", r.w, into)
	nan := []byte{0, 0, 0xc0, 0x7f}
	for name, c := range map[string]struct {
		forge func(b []byte) []byte
		words string
	}{
		"twice":         {func(b []byte) []byte { return append(b, b[12:]...) }, "span[2]"},
		"out of order":  {func(b []byte) []byte { return append(b[12:], b[:12]...) }, "span[1]"},
		"no such shape": {func(b []byte) []byte { b[12] = 3; return b }, "span[1]"},
		"a piece":       {func(b []byte) []byte { return b[:13] }, "length of the spans"},
		"NaN":           {func(b []byte) []byte { copy(b[4:], nan); return b }, "span[0]"},
		"inverted":      {func(b []byte) []byte { copy(b[8:], b[20:24]); copy(b[4:8], []byte{0, 0, 0, 0x7f}); return b }, "span[0]"},
		"the axis":      {func(b []byte) []byte { clear(b[4:12]); return b }, "span[0]"},
		"infinite":      {func(b []byte) []byte { copy(b[4:], []byte{0, 0, 0x80, 0xff, 0, 0, 0x80, 0x7f}); return b }, "span[0]"},
	} {
		list := frametest.Split(good)
		list[frame] = c.forge(slices.Clone(list[frame]))
		refuses(t, into, list, name, c.words)
	}
}

// A body that changes its span before each step, as one that flies does, allocates nothing and keeps nothing awake.
func TestSetSpanAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	r := newFixture(t, -10)
	r.floor(plain)
	sleeper := r.dynamic(5, 0.5, func(d *physics.BodyDef) { d.DisableSleep = false })
	r.box(sleeper, plain, 0.5, 0.5)
	b := r.dynamic(0, 3)
	r.circle(b, plain, 0.5)
	r.seconds(2)
	var hits physics.RayHits
	rays := physics.Rays{X: []float32{0}, Y: []float32{9}, DX: []float32{0}, DY: []float32{-20}}
	z := float32(0)
	list := r.w.NewCommands()
	if n := testing.AllocsPerRun(50, func() {
		z++
		list.SetSpan(b, physics.Span{Min: z, Max: z + 1})
		rays.Span = physics.Span{Min: z, Max: z}
		r.no(r.w.Step(dt, list))
		r.no(r.w.RayClosest(&rays, &hits))
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if r.w.AwakeCount() != 1 || hits.Shapes[0].Index() != 2 {
		t.Errorf("%d are awake; the ray hits %v", r.w.AwakeCount(), hits.Shapes[0])
	}
}

// A building seen from above: two storeys with walls, and a lift that stands on both plans.
func ExampleSpan() {
	w, err := physics.New(physics.Config{}) // no gravity in the plane
	if err != nil {
		panic(err)
	}
	storeys := []physics.Span{{Min: 0, Max: 2.5}, {Min: 3, Max: 5.5}} // heights in metres, with a ceiling between
	wall, _ := w.CreateBody(physics.DefaultBodyDef())
	def := physics.DefaultShapeDef()
	def.Span = storeys[0] // the wall at x = 5 is on the ground floor only
	w.CreateSegment(wall, def, physics.Segment{P1: [2]float32{5, -2}, P2: [2]float32{5, 2}})

	walker := func(storey int) physics.Body {
		body := physics.DefaultBodyDef()
		body.Type, body.LinearVelocity = physics.DynamicBody, [2]float32{2, 0}
		b, _ := w.CreateBody(body)
		def.Span = storeys[storey]
		w.CreateCircle(b, def, physics.Circle{Radius: 0.3})
		return b
	}
	below, above := walker(0), walker(1) // at the same x and y
	where := func() {
		for range 240 {
			w.Step(1. / 60)
		}
		a, _ := w.Position(below)
		b, _ := w.Position(above)
		fmt.Printf("below: x = %.1f, above: x = %.1f\n", a[0], b[0])
	}
	where()

	w.SetSpan(below, storeys[1]) // the lift takes it up
	w.SetVelocity(below, [2]float32{2, 0}, 0)
	where()

	hits := physics.RayHits{}
	rays := physics.Rays{X: []float32{0, 0}, Y: []float32{0, 0}, DX: []float32{30, 30}, DY: []float32{0, 0}}
	rays.Spans = storeys // one ray on each storey
	w.RayClosest(&rays, &hits)
	fmt.Printf("rays: x = %.1f below, x = %.1f above\n", hits.X[0], hits.X[1])
	// Output:
	// below: x = 4.7, above: x = 8.0
	// below: x = 12.7, above: x = 16.0
	// rays: x = 5.0 below, x = 12.4 above
}

// A game seen from the side with two lanes, a near one and a far one: a ball changes the lane before it reaches a crate.
func ExampleWorld_SetSpan() {
	w, err := physics.New(physics.Config{Gravity: [2]float32{0, -10}})
	if err != nil {
		panic(err)
	}
	front, back := physics.Span{Min: 0, Max: 1}, physics.Span{Min: 2, Max: 3}
	def := physics.DefaultShapeDef() // the ground is in all lanes
	ground, _ := w.CreateBody(physics.DefaultBodyDef())
	w.CreateSegment(ground, def, physics.Segment{P1: [2]float32{-50, 0}, P2: [2]float32{50, 0}})
	crate, _ := w.CreateBody(physics.BodyDef{Position: [2]float32{5, 1}})
	def.Span = front
	w.CreatePolygon(crate, def, physics.Box(1, 1))

	for _, lane := range []physics.Span{front, back} {
		body := physics.DefaultBodyDef()
		body.Type, body.Position, body.LinearVelocity = physics.DynamicBody, [2]float32{0, 0.5}, [2]float32{5, 0}
		ball, _ := w.CreateBody(body)
		w.CreateCircle(ball, def, physics.Circle{Radius: 0.5})
		w.SetSpan(ball, lane)
		for range 120 {
			w.Step(1. / 60)
		}
		at, _ := w.Position(ball)
		fmt.Printf("in lane %v the ball passes the crate: %v\n", lane, at[0] > 6)
		w.DestroyBody(ball)
	}
	// Output:
	// in lane {0 1} the ball passes the crate: false
	// in lane {2 3} the ball passes the crate: true
}
