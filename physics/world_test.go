package physics

import (
	"errors"
	"math"
	"slices"
	"testing"
)

func TestZeroHandlesAreNoObjects(t *testing.T) {
	w, _ := newFakeWorld(t, Config{})
	populate(t, w, 10)
	if w.Valid(Body{}) || w.ValidShape(Shape{}) {
		t.Error("a zero handle is valid")
	}
	if err := w.DestroyBody(Body{}); !errors.Is(err, ErrStale) {
		t.Errorf("got %v", err)
	}
}

func TestStaleBodyIsNeverAnother(t *testing.T) {
	w := must[*World](t)(New(Config{Capacity: 4}))
	old := must[Body](t)(w.CreateBody(DefaultBodyDef()))
	shape := must[Shape](t)(w.CreateCircle(old, DefaultShapeDef(), Circle{Radius: 1}))
	if err := w.DestroyBody(old); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		b := must[Body](t)(w.CreateBody(DefaultBodyDef()))
		must[Shape](t)(w.CreateCircle(b, DefaultShapeDef(), Circle{Radius: 1}))
		if b.Index() != old.Index() || b == old || w.Valid(old) || w.ValidShape(shape) {
			t.Fatalf("%v, then %v: valid %v, shape valid %v", old, b, w.Valid(old), w.ValidShape(shape))
		}
		before := w.Hash()
		for name, err := range staleCalls(w, old, shape) {
			if !errors.Is(err, ErrStale) {
				t.Errorf("%s: got %v", name, err)
			}
		}
		if w.Hash() != before {
			t.Fatal("a stale handle changed the world")
		}
		if err := w.DestroyBody(b); err != nil {
			t.Fatal(err)
		}
	}
}

func staleCalls(w *World, b Body, s Shape) map[string]error {
	errs := map[string]error{
		"DestroyBody":                w.DestroyBody(b),
		"DestroyShape":               w.DestroyShape(s),
		"ApplyLinearImpulse":         w.ApplyLinearImpulse(b, [2]float32{1, 1}, [2]float32{}),
		"ApplyLinearImpulseToCenter": w.ApplyLinearImpulseToCenter(b, [2]float32{1, 1}),
		"ApplyForceToCenter":         w.ApplyForceToCenter(b, [2]float32{1, 1}),
		"ApplyForce":                 w.ApplyForce(b, [2]float32{1, 1}, [2]float32{}),
		"ApplyTorque":                w.ApplyTorque(b, 1),
		"ApplyAngularImpulse":        w.ApplyAngularImpulse(b, 1),
		"SetTargetTransform":         w.SetTargetTransform(b, [2]float32{1, 1}, 1, 1),
		"SetType":                    w.SetType(b, StaticBody),
		"Disable":                    w.Disable(b),
		"Enable":                     w.Enable(b),
		"SetShapeDef":                w.SetShapeDef(s, DefaultShapeDef()),
		"SetVelocity":                w.SetVelocity(b, [2]float32{1, 1}, 1),
		"SetTransform":               w.SetTransform(b, [2]float32{1, 1}, 1),
	}
	_, errs["MassData"] = w.MassData(b)
	_, errs["WorldCenter"] = w.WorldCenter(b)
	_, errs["ShapeDef"] = w.ShapeDef(s)
	_, errs["Position"] = w.Position(b)
	_, errs["Angle"] = w.Angle(b)
	_, _, errs["Velocity"] = w.Velocity(b)
	_, errs["ShapeBody"] = w.ShapeBody(s)
	_, errs["CreateCircle"] = w.CreateCircle(b, DefaultShapeDef(), Circle{Radius: 1})
	_, errs["CreatePolygon"] = w.CreatePolygon(b, DefaultShapeDef(), Box(1, 1))
	_, errs["CreateSegment"] = w.CreateSegment(b, DefaultShapeDef(), Segment{P2: [2]float32{1, 0}})
	_, errs["CreateCapsule"] = w.CreateCapsule(b, DefaultShapeDef(), Capsule{P2: [2]float32{1, 0}, Radius: 1})
	return errs
}

func TestGenerationsAreNotReused(t *testing.T) {
	w, _ := newFakeWorld(t, Config{Capacity: 2})
	b := must[Body](t)(w.CreateBody(DefaultBodyDef()))
	w.bodies.Generation[0] = math.MaxUint32
	b.generation = math.MaxUint32
	if err := w.DestroyBody(b); err != nil {
		t.Fatal(err)
	}
	if w.Valid(b) || w.Valid(Body{}) {
		t.Error("a handle survived the last generation")
	}
	if _, ok := w.BodyAt(0); ok {
		t.Error("BodyAt finds a body in a retired index")
	}
	if next := must[Body](t)(w.CreateBody(DefaultBodyDef())); next.Index() != 1 {
		t.Errorf("retired index was handed out: %v", next)
	}
	if _, err := w.CreateBody(DefaultBodyDef()); !errors.Is(err, ErrCapacity) {
		t.Errorf("got %v", err)
	}
}

func TestCapacityIsExact(t *testing.T) {
	w, _ := newFakeWorld(t, Config{Capacity: 3})
	for range 3 {
		must[Body](t)(w.CreateBody(DefaultBodyDef()))
	}
	before := w.Hash()
	if b, err := w.CreateBody(DefaultBodyDef()); !errors.Is(err, ErrCapacity) || b != (Body{}) {
		t.Errorf("got %v, %v", b, err)
	}
	if w.Len() != 3 || w.Hash() != before {
		t.Errorf("Len %d, or the hash changed", w.Len())
	}
}

func TestShapesFollowTheirBody(t *testing.T) {
	w, f := newFakeWorld(t, Config{Capacity: 8})
	b := must[Body](t)(w.CreateBody(DefaultBodyDef()))
	other := must[Body](t)(w.CreateBody(DefaultBodyDef()))
	var shapes []Shape
	for range 5 {
		shapes = append(shapes, must[Shape](t)(w.CreatePolygon(b, DefaultShapeDef(), Box(1, 1))))
	}
	kept := must[Shape](t)(w.CreateSegment(other, DefaultShapeDef(), Segment{P2: [2]float32{1, 1}}))
	for _, i := range []int{2, 0, 4} { // middle, oldest, newest
		if err := w.DestroyShape(shapes[i]); err != nil {
			t.Fatal(err)
		}
		if w.ValidShape(shapes[i]) {
			t.Errorf("%v is still valid", shapes[i])
		}
	}
	if w.ShapeCount() != 3 || f.shapes != 3 {
		t.Errorf("%d shapes, the engine has %d", w.ShapeCount(), f.shapes)
	}
	if got := must[Body](t)(w.ShapeBody(shapes[1])); got != b {
		t.Errorf("ShapeBody = %v, want %v", got, b)
	}
	if err := w.DestroyBody(b); err != nil {
		t.Fatal(err)
	}
	if w.ShapeCount() != 1 || w.ValidShape(shapes[1]) || w.ValidShape(shapes[3]) || !w.ValidShape(kept) {
		t.Errorf("after DestroyBody: %d shapes", w.ShapeCount())
	}
}

func TestColumnsHoldTheBodies(t *testing.T) {
	w, _ := newFakeWorld(t, Config{Capacity: 8})
	d := DefaultBodyDef()
	d.Type, d.Position, d.Angle = DynamicBody, [2]float32{1, 2}, 0.5
	d.LinearVelocity, d.AngularVelocity = [2]float32{3, 4}, 5
	d.LinearDamping, d.AngularDamping, d.GravityScale = 6, 7, 8
	d.FixedRotation, d.DisableSleep, d.HasSlot, d.Slot = true, true, true, 9
	b := must[Body](t)(w.CreateBody(d))
	c, i := w.Columns(), b.Index()
	got := []float32{c.X[i], c.Y[i], c.Angle[i], c.VX[i], c.VY[i], c.W[i],
		c.LinearDamping[i], c.AngularDamping[i], c.GravityScale[i], float32(c.Slot[i]), float32(c.Type[i]), float32(c.Flags[i]), float32(c.Alive[i])}
	if want := []float32{1, 2, 0.5, 3, 4, 5, 6, 7, 8, 9, 2, FlagFixedRotation | FlagDisableSleep, 1}; !slices.Equal(got, want) {
		t.Errorf("row %v, want %v", got, want)
	}
	position := must[[2]float32](t)(w.Position(b))
	angle := must[float32](t)(w.Angle(b))
	velocity, spin, err := w.Velocity(b)
	if position != d.Position || angle != d.Angle || velocity != d.LinearVelocity || spin != 5 || err != nil {
		t.Errorf("getters: %v %v %v %v %v", position, angle, velocity, spin, err)
	}
	if found, ok := w.BodyAt(i); !ok || found != b {
		t.Errorf("BodyAt(%d) = %v, %v", i, found, ok)
	}
	if err := w.DestroyBody(b); err != nil {
		t.Fatal(err)
	}
	fresh, _ := newFakeWorld(t, Config{Capacity: 8})
	for k, nc := range w.cols.floatColumns() {
		if !slices.Equal(*nc.column, *fresh.cols.floatColumns()[k].column) {
			t.Errorf("%s was not cleared", nc.name)
		}
	}
	if c.Slot[i] != NoSlot || c.Type[i] != 0 || c.Flags[i] != 0 || c.Alive[i] != 0 {
		t.Error("row was not cleared")
	}
}

func TestEngineErrorsChangeNothing(t *testing.T) {
	w, f := newFakeWorld(t, Config{Capacity: 8})
	b := must[Body](t)(w.CreateBody(DefaultBodyDef()))
	s := must[Shape](t)(w.CreateCircle(b, DefaultShapeDef(), Circle{Radius: 1}))
	before := w.Hash()
	for name, call := range map[string]func() error{
		"CreateBody":    func() error { _, err := w.CreateBody(DefaultBodyDef()); return err },
		"CreateCircle":  func() error { _, err := w.CreateCircle(b, DefaultShapeDef(), Circle{Radius: 1}); return err },
		"CreatePolygon": func() error { _, err := w.CreatePolygon(b, DefaultShapeDef(), Box(1, 1)); return err },
		"DestroyShape":  func() error { return w.DestroyShape(s) },
	} {
		f.next = ErrUnsupported
		if err := call(); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: got %v", name, err)
		}
		if w.Hash() != before || w.Len() != 1 || w.ShapeCount() != 1 || !w.ValidShape(s) {
			t.Errorf("%s changed the world", name)
		}
	}
}

func TestStepNamesTheBodyThatIsNotFinite(t *testing.T) {
	w, f := newFakeWorld(t, Config{Capacity: 16})
	bodies := populate(t, w, 10)
	f.poison, f.poisoned = 7, true
	err := w.Step(0.1)
	const want = "physics: state after Step: Columns.VY[7] = NaN: not finite"
	if !errors.Is(err, ErrNotFinite) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	calls := f.calls
	for name, again := range map[string]error{
		"Step":        w.Step(0.1),
		"SetVelocity": w.SetVelocity(bodies[1], [2]float32{}, 0),
		"DestroyBody": w.DestroyBody(bodies[1]),
		"Sync":        w.Sync(newTransforms(16)),
	} {
		if !errors.Is(again, ErrNotFinite) {
			t.Errorf("%s after the failure: %v", name, again)
		}
	}
	if f.calls != calls {
		t.Error("a lost engine was called again")
	}
	quiet := w.Hash()
	w.cols.VY[7] = math.Float32frombits(0xffc12345)
	if w.Hash() != quiet {
		t.Error("the hash depends on the bits of a NaN")
	}
}

func TestStepKeepsTheErrorOfTheEngine(t *testing.T) {
	w, f := newFakeWorld(t, Config{})
	f.next = ErrRange
	if first, second := w.Step(1), w.Step(1); first == nil || first != second {
		t.Errorf("got %v, then %v", first, second)
	}
}
