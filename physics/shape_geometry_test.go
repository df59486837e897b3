package physics_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/physics/box2d"
)

// shaped is a geometry of any kind.
type shaped struct {
	create func(w *physics.World, b physics.Body, d physics.ShapeDef) (physics.Shape, error)
	set    func(w *physics.World, s physics.Shape) error
	record func(c *physics.Commands, s physics.Shape)
	read   func(w *physics.World, s physics.Shape) (any, error)
	want   any
	kind   physics.ShapeKind
}

func circleOf(x, y, radius float32) shaped {
	c := physics.Circle{Center: [2]float32{x, y}, Radius: radius}
	return shaped{
		func(w *physics.World, b physics.Body, d physics.ShapeDef) (physics.Shape, error) {
			return w.CreateCircle(b, d, c)
		},
		func(w *physics.World, s physics.Shape) error { return w.SetCircle(s, c) },
		func(l *physics.Commands, s physics.Shape) { l.SetCircle(s, c) },
		func(w *physics.World, s physics.Shape) (any, error) { return w.Circle(s) }, c, physics.CircleShape,
	}
}

func capsuleOf(x1, y1, x2, y2, radius float32) shaped {
	c := physics.Capsule{P1: [2]float32{x1, y1}, P2: [2]float32{x2, y2}, Radius: radius}
	return shaped{
		func(w *physics.World, b physics.Body, d physics.ShapeDef) (physics.Shape, error) {
			return w.CreateCapsule(b, d, c)
		},
		func(w *physics.World, s physics.Shape) error { return w.SetCapsule(s, c) },
		func(l *physics.Commands, s physics.Shape) { l.SetCapsule(s, c) },
		func(w *physics.World, s physics.Shape) (any, error) { return w.Capsule(s) }, c, physics.CapsuleShape,
	}
}

func segmentOf(x1, y1, x2, y2 float32) shaped {
	c := physics.Segment{P1: [2]float32{x1, y1}, P2: [2]float32{x2, y2}}
	return shaped{
		func(w *physics.World, b physics.Body, d physics.ShapeDef) (physics.Shape, error) {
			return w.CreateSegment(b, d, c)
		},
		func(w *physics.World, s physics.Shape) error { return w.SetSegment(s, c) },
		func(l *physics.Commands, s physics.Shape) { l.SetSegment(s, c) },
		func(w *physics.World, s physics.Shape) (any, error) { return w.Segment(s) }, c, physics.SegmentShape,
	}
}

func polygonOf(p physics.Polygon) shaped {
	return shaped{
		func(w *physics.World, b physics.Body, d physics.ShapeDef) (physics.Shape, error) {
			return w.CreatePolygon(b, d, p)
		},
		func(w *physics.World, s physics.Shape) error { return w.SetPolygon(s, p) },
		func(l *physics.Commands, s physics.Shape) { l.SetPolygon(s, p) },
		func(w *physics.World, s physics.Shape) (any, error) { return w.Polygon(s) }, p, physics.PolygonShape,
	}
}

// anyShape draws a valid geometry.
func anyShape(rng *rand.Rand) shaped {
	f := func(low, high float64) float32 { return float32(low + rng.Float64()*(high-low)) }
	switch rng.IntN(5) {
	case 0:
		return circleOf(f(-1, 1), f(-1, 1), f(0.1, 1))
	case 1:
		return capsuleOf(f(-1, -0.1), f(-1, 1), f(0.1, 1), f(-1, 1), f(0.1, 1))
	case 2:
		return segmentOf(f(-1, -0.1), f(-1, 1), f(0.1, 1), f(-1, 1))
	case 3:
		return polygonOf(physics.Box(f(0.1, 1), f(0.1, 1)))
	}
	p := physics.Polygon{Count: 3 + rng.IntN(6), Radius: f(0, 0.2)}
	x, y, r := f(-1, 1), f(-1, 1), f(0.3, 1)
	for i := range p.Count {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(p.Count))
		p.Vertices[i] = [2]float32{x + r*float32(cos), y + r*float32(sin)}
	}
	return polygonOf(p)
}

func TestGeometryIsReadAsGiven(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 4))
	r := newFixture(t, 0)
	seen := map[physics.ShapeKind]int{}
	for range 200 {
		g := anyShape(rng)
		b := r.body(physics.BodyType(rng.IntN(3)), 3, 4, turned(1))
		s := must[physics.Shape](t)(anyShape(rng).create(r.w, b, plain))
		if rng.IntN(2) == 0 {
			r.no(g.set(r.w, s))
		} else {
			s = must[physics.Shape](t)(g.create(r.w, b, plain))
		}
		seen[g.kind]++
		if kind, err := r.w.ShapeKind(s); err != nil || kind != g.kind {
			t.Fatalf("%v, %v; want %v", kind, err, g.kind)
		}
		if got, err := g.read(r.w, s); err != nil || got != g.want {
			t.Fatalf("%v, %v; want %v", got, err, g.want)
		}
		for _, other := range []shaped{circleOf(0, 0, 1), capsuleOf(0, 0, 1, 0, 1), segmentOf(0, 0, 1, 0), polygonOf(physics.Box(1, 1))} {
			if _, err := other.read(r.w, s); (err == nil) != (other.kind == g.kind) || err != nil && !errors.Is(err, physics.ErrUnsupported) {
				t.Fatalf("%v read as %v: %v", g.kind, other.kind, err)
			}
		}
		r.no(r.w.DestroyBody(b))
	}
	if len(seen) != 4 {
		t.Error(seen)
	}
	for _, k := range []struct {
		kind physics.ShapeKind
		name string
	}{{physics.CircleShape, "circle"}, {physics.PolygonShape, "polygon"}, {physics.SegmentShape, "segment"}, {physics.CapsuleShape, "capsule"}} {
		if k.kind.String() != k.name {
			t.Errorf("%v, want %s", k.kind, k.name)
		}
	}
}

// A shape that gets another geometry before the first step is like one that was created with it.
func TestSetGeometryIsLikeCreating(t *testing.T) {
	for seed := range uint64(60) {
		build := func(set bool) *physics.World {
			rng := rand.New(rand.NewPCG(seed, 9))
			w := newWorld(t, physics.Config{Gravity: [2]float32{0, -10}, Capacity: 64, DisableSleep: seed%4 == 0})
			list := w.NewCommands()
			for i := range 12 {
				d := physics.DefaultBodyDef()
				d.Type = physics.BodyType(2)
				if i%3 == 0 {
					d.Type = physics.BodyType(rng.IntN(2))
				}
				d.Position, d.Angle = [2]float32{float32(i%4) * 1.5, float32(i/4) * 1.5}, float32(rng.Float64())
				d.Bullet = i%5 == 0
				d.Disabled = rng.IntN(6) == 0
				b := must[physics.Body](t)(w.CreateBody(d))
				for range 1 + rng.IntN(3) {
					def := physics.DefaultShapeDef()
					def.RollingResistance, def.Density, def.Sensor = 0.2, float32(1+rng.IntN(3)), rng.IntN(5) == 0
					if rng.IntN(4) == 0 {
						def.OneWay = [2]float32{0, 1}
					}
					before, after, by := anyShape(rng), anyShape(rng), rng.IntN(2)
					switch {
					case !set:
						must[physics.Shape](t)(after.create(w, b, def))
					case by == 0:
						s := must[physics.Shape](t)(before.create(w, b, def))
						if err := after.set(w, s); err != nil {
							t.Fatal(err)
						}
					default:
						s := must[physics.Shape](t)(before.create(w, b, def))
						after.record(list, s)
					}
				}
				if err := w.Apply(list); err != nil {
					t.Fatal(err)
				}
				if d.Disabled {
					if err := w.Enable(b); err != nil {
						t.Fatal(err)
					}
				}
			}
			return w
		}
		created, set := build(false), build(true)
		for tick := range 40 {
			sameState(t, fmt.Sprintf("seed %d, tick %d", seed, tick), created, set)
			for _, w := range []*physics.World{created, set} {
				if err := w.Step(dt); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// A contact that goes on has no events and begins without impulses; another one ends, or begins.
func TestSetGeometryChangesContacts(t *testing.T) {
	r := newFixture(t, -10)
	r.floor(plain)
	a, b := r.dynamic(0, 0.5), r.dynamic(2, 0.5)
	sa, sb := r.circle(a, plain, 0.5), r.circle(b, plain, 0.5)
	r.seconds(1)
	events := func() (begun, ended int) { return len(r.w.Events().Begin), len(r.w.Events().End) }
	before := r.contactsOf(a)
	if len(before) != 1 || !(before[0].Points[0].NormalImpulse > 0.01) {
		t.Fatalf("%+v", before)
	}
	r.no(r.w.SetCircle(sa, physics.Circle{Radius: 0.49}))
	after := r.contactsOf(a)
	if len(after) != 1 || after[0].Points[0].NormalImpulse != 0 || after[0].RollingImpulse != 0 {
		t.Errorf("%+v", after)
	}
	if c := r.contactsOf(b); len(c) != 1 || !(c[0].Points[0].NormalImpulse > 0.01) {
		t.Errorf("the other one: %+v", c)
	}
	r.near("separation", float64(after[0].Points[0].Separation-before[0].Points[0].Separation), 0.01, 1e-4)
	r.steps(1)
	if begun, ended := events(); begun+ended != 0 {
		t.Errorf("%d began, %d ended", begun, ended)
	}
	r.no(r.w.SetCapsule(sa, physics.Capsule{P2: [2]float32{0, 1.2}, Radius: 0.1})) // it no longer reaches the floor
	r.steps(1)
	if begun, ended := events(); begun != 0 || ended != 1 || len(r.contactsOf(a)) != 0 {
		t.Errorf("%d began, %d ended", begun, ended)
	}
	r.no(r.w.SetPolygon(sb, physics.Box(2, 0.5)))
	r.steps(1)
	if begun, ended := events(); begun != 1 || ended != 0 {
		t.Errorf("%d began, %d ended", begun, ended)
	}
	if _, err := r.w.ContactData(physics.Touch{A: sa, B: sb}); err != nil {
		t.Error(err)
	}
	hits := physics.RayHits{}
	r.no(r.w.RayClosest(&physics.Rays{X: []float32{9}, Y: []float32{0.5}, DX: []float32{-9}, DY: []float32{0}}, &hits))
	x, _ := r.at(b)
	r.near("ray", float64(hits.X[0]), x+2, 0.01)
}

func TestSetGeometryOfSensor(t *testing.T) {
	r := newFixture(t, 0)
	area := plain
	area.Sensor = true
	s := r.circle(r.body(physics.StaticBody, 0, 0), area, 1)
	r.circle(r.dynamic(3, 0), plain, 0.5)
	r.steps(2)
	r.no(r.w.SetPolygon(s, physics.Box(4, 1)))
	r.steps(1)
	if e := r.w.Events(); len(e.SensorBegin) != 1 {
		t.Error(e)
	}
	r.no(r.w.SetSegment(s, physics.Segment{P2: [2]float32{0, 1}}))
	r.steps(1)
	if e := r.w.Events(); len(e.SensorEnd) != 1 {
		t.Error(e)
	}
}

// What rests on a shape, or what it now reaches, wakes.
func TestSetGeometryWakes(t *testing.T) {
	sleepy := func(d *physics.BodyDef) { d.DisableSleep = false }
	build := func() (fixture, physics.Shape, []physics.Body, physics.Shape, physics.Body) {
		r := newFixture(t, -10)
		ground := r.body(physics.StaticBody, 0, -1)
		floor := r.box(ground, plain, 4, 1)
		r.box(r.body(physics.StaticBody, 20, -1), plain, 4, 1)
		post := r.circle(r.body(physics.StaticBody, 20, 3), plain, 0.5)
		var tower []physics.Body
		for i := range 3 {
			b := r.dynamic(0, 0.5+float32(i), sleepy)
			r.box(b, plain, 0.5, 0.5)
			tower = append(tower, b)
		}
		far := r.dynamic(20, 0.5, sleepy)
		r.box(far, plain, 0.5, 0.5)
		r.seconds(2)
		if r.w.AwakeCount() != 0 {
			t.Fatalf("%d awake", r.w.AwakeCount())
		}
		return r, floor, tower, post, far
	}
	r, floor, tower, post, far := build()
	r.no(r.w.SetPolygon(floor, physics.Box(4, 0.9)))
	r.steps(1)
	for _, b := range tower {
		if !r.w.Awake(b) {
			t.Errorf("%v sleeps on a floor that is gone", b)
		}
	}
	if r.w.Awake(far) {
		t.Error("a body elsewhere woke")
	}
	r.seconds(2)
	_, y := r.at(tower[2])
	r.near("height", y, 2.4, 0.02)
	r.no(r.w.SetCircle(post, physics.Circle{Radius: 2.2}))
	r.steps(1)
	if !r.w.Awake(far) {
		t.Error("a body sleeps in a shape that has grown into it")
	}
	r, _, tower, _, _ = build()
	shapes := must[[]physics.Shape](t)(r.w.AppendShapes(nil, tower[1]))
	r.no(r.w.SetCircle(shapes[0], physics.Circle{Radius: 0.4}))
	if !r.w.Awake(tower[1]) {
		t.Error("it sleeps")
	}
	r.steps(1)
	if r.w.AwakeCount() != 3 {
		t.Errorf("%d awake", r.w.AwakeCount())
	}
}

func TestSetGeometryChangesMass(t *testing.T) {
	r := newFixture(t, 0)
	b := r.dynamic(0, 0)
	s := r.circle(b, plain, 1)
	r.no(r.w.SetPolygon(s, physics.Box(1, 2)))
	m := must[physics.MassData](t)(r.w.MassData(b))
	r.near("mass", float64(m.Mass), 8, 1e-5)
	r.near("inertia", float64(m.Inertia), 8*(4+16)/12., 1e-4)
	own := physics.MassData{Mass: 3, Inertia: 2, Center: [2]float32{0.5, 0}}
	r.no(r.w.SetMassData(b, own))
	r.no(r.w.SetCircle(s, physics.Circle{Radius: 5}))
	if m := must[physics.MassData](t)(r.w.MassData(b)); m != own {
		t.Errorf("%v, want %v", m, own)
	}
	r.no(r.w.ResetMassData(b))
	heavy := plain
	heavy.Density = 1e18
	s = r.circle(b, heavy, 0.5)
	hash := r.w.Hash()
	if err := r.w.SetCircle(s, physics.Circle{Radius: 1000}); !errors.Is(err, physics.ErrRange) || r.w.Hash() != hash {
		t.Errorf("%v, or the world has changed", err)
	}
	list := r.w.NewCommands()
	list.SetCircle(s, physics.Circle{Radius: 1000})
	r.no(r.w.Step(dt, list))
	if c := must[physics.Circle](t)(r.w.Circle(s)); !r.w.Disabled(b) || c.Radius != 0.5 {
		t.Errorf("disabled %v, %v", r.w.Disabled(b), c)
	}
}

func TestSetGeometryRefused(t *testing.T) {
	r := newFixture(t, 0)
	b := r.dynamic(0, 0)
	s := r.circle(b, plain, 1)
	gone := r.circle(b, plain, 1)
	r.no(r.w.DestroyShape(gone))
	c, err := r.w.CreateChain(b, physics.ChainDef{Points: [][2]float32{{0, 0}, {1, 0}, {2, 0}, {3, 0}}})
	r.no(err)
	links := must[[]physics.Shape](t)(r.w.AppendChainShapes(nil, c))
	if got, err := r.w.Segment(links[0]); err != nil || got != (physics.Segment{P1: [2]float32{1, 0}, P2: [2]float32{2, 0}}) {
		t.Errorf("segment of a chain: %v, %v", got, err)
	}
	hash := r.w.Hash()
	for _, n := range []struct {
		name string
		s    physics.Shape
		g    shaped
		want error
	}{
		{"gone", gone, circleOf(0, 0, 1), physics.ErrStale},
		{"none", physics.Shape{}, circleOf(0, 0, 1), physics.ErrStale},
		{"chain", links[0], segmentOf(0, 0, 1, 0), physics.ErrUnsupported},
		{"radius", s, circleOf(0, 0, 0), physics.ErrRange},
		{"nan", s, circleOf(nan, 0, 1), physics.ErrNotFinite},
		{"point", s, capsuleOf(1, 1, 1, 1, 1), physics.ErrRange},
		{"short", s, segmentOf(0, 0, 0.001, 0), physics.ErrRange},
		{"flat", s, polygonOf(physics.Box(1, 0)), physics.ErrRange},
		{"far", s, circleOf(1e9, 0, 1), physics.ErrRange},
	} {
		if err := n.g.set(r.w, n.s); !errors.Is(err, n.want) {
			t.Errorf("%s: %v", n.name, err)
		}
		list := r.w.NewCommands()
		list.SetVelocity(b, [2]float32{1, 0}, 0)
		n.g.record(list, n.s)
		if err := r.w.Apply(list); !errors.Is(err, n.want) {
			t.Errorf("%s: %v", n.name, err)
		}
		if r.w.Hash() != hash {
			t.Errorf("%s: the world has changed", n.name)
		}
	}
	for _, g := range []shaped{circleOf(0, 0, 1), capsuleOf(0, 0, 1, 0, 1), segmentOf(0, 0, 1, 0), polygonOf(physics.Box(1, 1))} {
		if _, err := g.read(r.w, gone); !errors.Is(err, physics.ErrStale) {
			t.Error(err)
		}
	}
	other := newFixture(t, 0, box2d.NewEngine(box2d.Options{}))
	s = other.circle(other.dynamic(0, 0), plain, 1)
	_, errKind := other.w.ShapeKind(s)
	_, errRead := other.w.Circle(s)
	for _, err := range []error{errKind, errRead, other.w.SetCircle(s, physics.Circle{Radius: 1})} {
		if !errors.Is(err, physics.ErrUnsupported) {
			t.Error(err)
		}
	}
}

// A list can create a shape and change it, and a world restored after a change goes on like the original.
func TestSetGeometryInListsAndSnapshots(t *testing.T) {
	r := newFixture(t, -10)
	r.floor(plain)
	d := physics.DefaultBodyDef()
	d.Type, d.Position = physics.DynamicBody, [2]float32{0, 3}
	list := r.w.NewCommands()
	b := list.CreateBody(d)
	s := list.CreateCircle(b, plain, physics.Circle{Radius: 1})
	list.SetPolygon(s, physics.Box(0.3, 0.4))
	list.SetPolygon(s, physics.Box(0.5, 0.4))
	r.no(r.w.Apply(list))
	real := list.Shape(s)
	if got := must[physics.Polygon](t)(r.w.Polygon(real)); got != physics.Box(0.5, 0.4) {
		t.Errorf("%v", got)
	}
	r.seconds(1)
	before := r.w.Hash()
	r.no(r.w.SetCapsule(real, physics.Capsule{P1: [2]float32{-1, 0}, P2: [2]float32{1, 0}, Radius: 0.4}))
	if r.w.Hash() == before {
		t.Error("the hash does not see another geometry")
	}
	snapshot := must[[]byte](t)(r.w.Snapshot(nil))
	other := newFixture(t, 0)
	r.no(other.w.Restore(snapshot))
	copied := newFixture(t, 0)
	r.no(copied.w.CopyFrom(r.w))
	for range 60 {
		for _, w := range []*physics.World{other.w, copied.w, r.w} {
			r.no(w.Step(dt))
			sameState(t, "after a change", other.w, w)
		}
	}
}

func TestSetGeometryAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("not run: an instrumented build allocates")
	}
	r := newFixture(t, -10)
	r.floor(plain)
	b := r.dynamic(0, 1)
	s := r.circle(b, plain, 0.5)
	r.box(b, plain, 0.3, 0.4)
	box, list := physics.Box(0.5, 0.5), r.w.NewCommands()
	change := func() {
		r.no(r.w.SetCircle(s, physics.Circle{Radius: 0.4}))
		r.steps(1)
		list.SetPolygon(s, box)
		r.no(r.w.Step(dt, list))
	}
	change()
	if n := testing.AllocsPerRun(50, change); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if got := must[physics.Polygon](t)(r.w.Polygon(s)); !slices.Equal(got.Vertices[:4], box.Vertices[:4]) {
		t.Error(got)
	}
}

// Bullets stop at a kinematic body with another geometry as they do at the same one of a restored world.
func TestSetGeometryOfKinematicBody(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	for range 20 {
		r := fixture{t, newWorld(t, physics.Config{})}
		rotor := r.body(physics.KinematicBody, 0, 0, moving(0, 0, 20))
		s := r.box(rotor, plain, 0.1, 0.1)
		for range 6 {
			b := r.dynamic(float32(rng.Float64()*8-4), float32(rng.Float64()*8-4), func(d *physics.BodyDef) { d.Bullet = true })
			r.circle(b, plain, 0.2)
		}
		r.no(r.w.SetPolygon(s, physics.Box(5, 0.02)))
		restored := fixture{t, newWorld(t, physics.Config{})}
		r.no(restored.w.Restore(must[[]byte](t)(r.w.Snapshot(nil))))
		for tick := range 20 {
			r.steps(1)
			restored.steps(1)
			sameState(t, fmt.Sprintf("tick %d", tick), r.w, restored.w)
		}
	}
}
