package box2d

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/evertick/evertick/physics"
)

func TestEqualCallsGiveEqualHashes(t *testing.T) {
	build := func() (*physics.World, []physics.Body) {
		w := newWorld(t, physics.Config{Gravity: [2]float32{0, -10}})
		return w, pour(t, w, 60, 11)
	}
	a, bodiesA := build()
	b, bodiesB := build()
	for i := range 300 {
		if i == 100 {
			for _, err := range []error{a.DestroyBody(bodiesA[7]), b.DestroyBody(bodiesB[7])} {
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		step(t, a, 1)
		step(t, b, 1)
		if a.Hash() != b.Hash() {
			t.Fatalf("step %d: hashes differ in %v and %v", i, a.AppendColumnHashes(nil), b.AppendColumnHashes(nil))
		}
	}
	if c := a.Columns(); c.Y[bodiesA[20].Index()] > 4 {
		t.Error("the scene did not fall")
	}
}

// Worlds on several goroutines: the race detector watches, the hashes agree.
func TestWorldsStepInParallel(t *testing.T) {
	var wait sync.WaitGroup
	hashes := make([]uint64, 4)
	for k := range hashes {
		wait.Add(1)
		go func() {
			defer wait.Done()
			w := newWorld(t, physics.Config{Gravity: [2]float32{0, -10}})
			bodies := pour(t, w, 20, 5)
			for i := range 60 {
				if err := w.Step(dt); err != nil {
					t.Error(err)
				}
				if i%20 == 10 {
					w.DestroyBody(bodies[i%20])
				}
			}
			hashes[k] = w.Hash()
		}()
	}
	wait.Wait()
	for _, h := range hashes[1:] {
		if h != hashes[0] {
			t.Fatalf("hashes %x", hashes)
		}
	}
}

func TestStaleHandles(t *testing.T) {
	w := newWorld(t, physics.Config{Gravity: [2]float32{0, -10}})
	addFloor(t, w)
	b := addCircle(t, w, dynamic(0, 0.4), physics.DefaultShapeDef())
	step(t, w, 5)
	if err := w.DestroyBody(b); err != nil {
		t.Fatal(err)
	}
	step(t, w, 1)
	if c, i := w.Columns(), b.Index(); c.Y[i] != 0 || c.VY[i] != 0 || c.Cos[i] != 0 {
		t.Error("a step wrote the row of a body that is gone")
	}
	heir := addCircle(t, w, dynamic(0, 3), physics.DefaultShapeDef())
	before := w.Hash()
	for _, err := range []error{w.DestroyBody(b), w.SetVelocity(b, [2]float32{1, 1}, 1),
		w.SetTransform(b, [2]float32{1, 1}, 1), w.ApplyForceToCenter(b, [2]float32{1, 1})} {
		if !errors.Is(err, physics.ErrStale) {
			t.Errorf("got %v", err)
		}
	}
	if heir.Index() != b.Index() || w.Len() != 2 || w.Hash() != before {
		t.Errorf("%v inherited from %v; %d bodies", heir, b, w.Len())
	}
	step(t, w, 60)
}

func TestChurn(t *testing.T) {
	const seed = 2
	rng := rand.New(rand.NewPCG(seed, seed))
	w := newWorld(t, physics.Config{Capacity: 40, Gravity: [2]float32{0, -10}})
	addFloor(t, w)
	var live []physics.Body
	var shapes []physics.Shape
	for i := range 600 {
		switch {
		case rng.IntN(2) == 0 && len(live) > 0:
			k := rng.IntN(len(live))
			if err := w.DestroyBody(live[k]); err != nil {
				t.Fatalf("seed %d, round %d: %v", seed, i, err)
			}
			live = append(live[:k], live[k+1:]...)
		case w.Len() < w.Cap():
			b := must[physics.Body](t)(w.CreateBody(dynamic(rng.Float32()*4-2, rng.Float32()*3)))
			live = append(live, b)
			for range 1 + rng.IntN(3) {
				shapes = append(shapes, must[physics.Shape](t)(w.CreateCircle(b, physics.DefaultShapeDef(),
					physics.Circle{Center: [2]float32{rng.Float32(), rng.Float32()}, Radius: 0.2})))
			}
		}
		if k := rng.IntN(len(shapes) + 1); k < len(shapes) {
			if valid, err := w.ValidShape(shapes[k]), w.DestroyShape(shapes[k]); valid != (err == nil) {
				t.Fatalf("seed %d, round %d: valid %v, %v", seed, i, valid, err)
			}
		}
		step(t, w, 1)
		if w.Len() != len(live)+1 {
			t.Fatalf("seed %d, round %d: Len %d, %d bodies live", seed, i, w.Len(), len(live))
		}
	}
}

func TestRefusedShapes(t *testing.T) {
	w := newWorld(t, physics.Config{})
	b := must[physics.Body](t)(w.CreateBody(dynamic(0, 0)))
	scenery := must[physics.Body](t)(w.CreateBody(physics.DefaultBodyDef()))
	before := w.Hash()
	polygon := func(points ...[2]float32) error {
		p, err := physics.NewPolygon(points...)
		if err != nil {
			t.Fatalf("%v is refused by physics: %v", points, err)
		}
		_, err = w.CreatePolygon(scenery, physics.DefaultShapeDef(), p)
		return err
	}
	circle := func(c physics.Circle) error {
		_, err := w.CreateCircle(b, physics.DefaultShapeDef(), c)
		return err
	}
	_, segment := w.CreateSegment(b, physics.DefaultShapeDef(), physics.Segment{P2: [2]float32{0.004, 0}})
	for name, err := range map[string]error{
		"welded vertices": polygon([2]float32{0, 0}, [2]float32{1, 0}, [2]float32{1, 0.002}),
		"dust":            polygon([2]float32{0, 0}, [2]float32{1e-4, 0}, [2]float32{0, 1e-4}),
		"far polygon":     polygon([2]float32{2e6, 0}, [2]float32{2e6 + 1, 0}, [2]float32{2e6, 1}),
		"far circle":      circle(physics.Circle{Center: [2]float32{1e6, 0}, Radius: 0.1}),
		"short segment":   segment,
	} {
		if !errors.Is(err, physics.ErrRange) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if w.Hash() != before || w.ShapeCount() != 0 {
		t.Error("a refused shape changed the world")
	}
	// Without a mass to compute, distance matters less.
	far := physics.Circle{Center: [2]float32{1e6, 0}, Radius: 0.1}
	if _, err := w.CreateCircle(scenery, physics.DefaultShapeDef(), far); err != nil {
		t.Errorf("far circle of a static body: %v", err)
	}
	if err := polygon([2]float32{9e5, 0}, [2]float32{9e5 + 2, 0}, [2]float32{9e5, 2}); err != nil {
		t.Errorf("far polygon of a static body: %v", err)
	}
	step(t, w, 1)
}

// Shapes of all sizes at all distances are created or refused; the library never
// panics, not even when some of them are destroyed.
func TestAnyShapeIsMadeOrRefused(t *testing.T) {
	const seed = 4
	rng := rand.New(rand.NewPCG(seed, seed))
	spread := func(low, high float64) float32 {
		return float32(math.Copysign(math.Pow(10, low+rng.Float64()*(high-low)), rng.Float64()-0.5))
	}
	w := newWorld(t, physics.Config{Capacity: 64})
	made, refused := 0, 0
	for i := range 4000 {
		d := dynamic(spread(-3, 6), spread(-3, 6))
		d.Type = physics.BodyType(rng.IntN(3))
		b := must[physics.Body](t)(w.CreateBody(d))
		var shapes []physics.Shape
		for range 1 + rng.IntN(4) {
			def := physics.DefaultShapeDef()
			def.Density = float32(math.Abs(float64(spread(-10, 10))))
			at := [2]float32{spread(-3, 7), spread(-3, 7)}
			size := spread(-4, 4)
			var s physics.Shape
			var err error
			if rng.IntN(2) == 0 {
				s, err = w.CreateCircle(b, def, physics.Circle{Center: at, Radius: float32(math.Abs(float64(size)))})
			} else {
				p := physics.Polygon{Count: 3 + rng.IntN(6)}
				for k := range p.Count {
					sin, cos := math.Sincos(rng.Float64() * 2 * math.Pi)
					p.Vertices[k] = [2]float32{at[0] + size*float32(cos), at[1] + size*float32(sin)}
				}
				s, err = w.CreatePolygon(b, def, p)
			}
			switch {
			case err == nil:
				made++
				shapes = append(shapes, s)
			case errors.Is(err, physics.ErrRange):
				refused++
			default:
				t.Fatalf("seed %d, body %d: %v", seed, i, err)
			}
		}
		for _, s := range shapes[:len(shapes)/2] {
			if err := w.DestroyShape(s); err != nil {
				t.Fatalf("seed %d, body %d: %v", seed, i, err)
			}
		}
		if err := w.DestroyBody(b); err != nil {
			t.Fatalf("seed %d, body %d: %v", seed, i, err)
		}
	}
	if made < 1000 || refused < 1000 {
		t.Errorf("%d made, %d refused: the test does not see both", made, refused)
	}
}

func TestOverflowIsRefused(t *testing.T) {
	w := newWorld(t, physics.Config{})
	feather := physics.DefaultShapeDef()
	feather.Density = 1e-20
	b := addCircle(t, w, dynamic(0, 0), feather)
	spinning := dynamic(5, 0)
	spinning.AngularVelocity = 3e38
	top := addCircle(t, w, spinning, physics.DefaultShapeDef())
	pair := addCircle(t, w, dynamic(20, 0), physics.DefaultShapeDef())
	outer := must[physics.Shape](t)(w.CreateCircle(pair, physics.DefaultShapeDef(),
		physics.Circle{Center: [2]float32{10, 0}, Radius: 1}))
	if err := w.SetVelocity(pair, [2]float32{}, 3e38); err != nil {
		t.Fatal(err)
	}
	before := w.Hash()
	_, shift := w.CreateCircle(top, physics.DefaultShapeDef(), physics.Circle{Center: [2]float32{10, 0}, Radius: 1})
	for name, err := range map[string]error{
		"impulse":           w.ApplyLinearImpulseToCenter(b, [2]float32{1e30, 0}),
		"impulse at point":  w.ApplyLinearImpulse(b, [2]float32{0, 1e18}, [2]float32{1e10, 0}),
		"shift of the mass": shift,
		"shift back":        w.DestroyShape(outer),
	} {
		if !errors.Is(err, physics.ErrRange) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if w.Hash() != before || !w.ValidShape(outer) {
		t.Error("a refused call changed the world")
	}
}

// Extreme values may stop a world, but neither the process nor another
// world.
func TestExtremeValuesEndInErrorsAtWorst(t *testing.T) {
	const seed = 6
	rng := rand.New(rand.NewPCG(seed, seed))
	huge := func() float32 {
		return float32(math.Copysign(math.Pow(10, rng.Float64()*76-38), rng.Float64()-0.5))
	}
	for range 40 {
		w := newWorld(t, physics.Config{Gravity: [2]float32{huge(), huge()}})
		addFloor(t, w)
		for range 8 {
			d := dynamic(huge(), huge())
			d.Angle, d.AngularVelocity, d.GravityScale = huge(), huge(), huge()
			d.LinearVelocity = [2]float32{huge(), huge()}
			b, err := w.CreateBody(d)
			if err != nil {
				t.Fatal(err)
			}
			def := physics.DefaultShapeDef()
			def.Density, def.Restitution = float32(math.Abs(float64(huge()))), float32(math.Abs(float64(huge())))
			w.CreateCircle(b, def, physics.Circle{Radius: float32(math.Abs(float64(huge())))})
			w.ApplyForceToCenter(b, [2]float32{huge(), huge()})
			w.ApplyLinearImpulse(b, [2]float32{huge(), huge()}, [2]float32{huge(), huge()})
		}
		for range 5 {
			if err := w.Step(float32(math.Abs(float64(huge())))); err != nil {
				break
			}
		}
	}
}

func TestOptions(t *testing.T) {
	_, err := New(physics.Config{Engine: NewEngine(Options{VelocityIterations: -1, PositionIterations: MaxIterations + 1})})
	for _, part := range []string{"VelocityIterations = -1", "PositionIterations = 256"} {
		if !errors.Is(err, physics.ErrRange) || !strings.Contains(err.Error(), part) {
			t.Errorf("%q is missing in %v", part, err)
		}
	}
	e := NewEngine(Options{})
	newWorld(t, physics.Config{Engine: e})
	if _, err := New(physics.Config{Engine: e}); !errors.Is(err, physics.ErrUnsupported) {
		t.Errorf("one engine, two worlds: %v", err)
	}
	if _, err := New(physics.Config{Capacity: -1}); !errors.Is(err, physics.ErrRange) {
		t.Errorf("bad config: %v", err)
	}
}

func TestPanicInAStepIsAnError(t *testing.T) {
	e := NewEngine(Options{}).(*engine)
	w := newWorld(t, physics.Config{Engine: e})
	addCircle(t, w, dynamic(0, 0), physics.DefaultShapeDef())
	e.bodies[0].M_fixtureList.M_body = nil
	addCircle(t, w, dynamic(0.1, 0), physics.DefaultShapeDef())
	err := w.Step(dt)
	if !errors.Is(err, physics.ErrRange) {
		t.Fatalf("got %v", err)
	}
	if again := w.Step(dt); again != err {
		t.Errorf("then %v", again)
	}
	if _, again := w.CreateBody(dynamic(0, 0)); again != err {
		t.Errorf("CreateBody: %v", again)
	}
	other := newWorld(t, physics.Config{})
	addCircle(t, other, dynamic(0, 0), physics.DefaultShapeDef())
	step(t, other, 1) // the lock is free again
}
