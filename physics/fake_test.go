package physics

import (
	"math"
	"testing"
)

// fakeEngine moves bodies by their velocity, without contacts. If next is
// set, the next call that can fail returns it.
type fakeEngine struct {
	cols          *Columns
	config        Config
	rows          int
	next          error
	poison        int // row that Step makes NaN, if poisoned
	poisoned      bool
	shapes, calls int
	polygon       Polygon
}

func (f *fakeEngine) take() error {
	err := f.next
	f.next = nil
	f.calls++
	return err
}

func (f *fakeEngine) Open(c Config, cols *Columns) error {
	f.config, f.cols = c, cols
	return f.take()
}

func (f *fakeEngine) CreateBody(i int, d *BodyDef) error {
	if err := f.take(); err != nil {
		return err
	}
	f.rows = max(f.rows, i+1)
	c := f.cols
	c.VX[i], c.VY[i], c.W[i] = d.LinearVelocity[0], d.LinearVelocity[1], d.AngularVelocity
	return f.SetTransform(i, d.Position, d.Angle)
}

func (f *fakeEngine) DestroyBody(int) { f.calls++ }

func (f *fakeEngine) create() error {
	err := f.take()
	if err == nil {
		f.shapes++
	}
	return err
}

func (f *fakeEngine) CreateCircle(_, _ int, _ *ShapeDef, _ Circle) error   { return f.create() }
func (f *fakeEngine) CreateSegment(_, _ int, _ *ShapeDef, _ Segment) error { return f.create() }
func (f *fakeEngine) CreateCapsule(_, _ int, _ *ShapeDef, _ Capsule) error { return f.create() }
func (f *fakeEngine) CreatePolygon(_, _ int, _ *ShapeDef, p Polygon) error {
	f.polygon = p
	return f.create()
}

func (f *fakeEngine) DestroyShape(_, _ int) error {
	f.shapes--
	return f.take()
}

func (f *fakeEngine) ApplyLinearImpulse(i int, j, _ [2]float32) error {
	return f.ApplyLinearImpulseToCenter(i, j)
}

func (f *fakeEngine) ApplyLinearImpulseToCenter(i int, j [2]float32) error {
	f.cols.VX[i] += j[0]
	f.cols.VY[i] += j[1]
	return f.take()
}

func (f *fakeEngine) ApplyForceToCenter(int, [2]float32) error { return f.take() }
func (f *fakeEngine) ApplyForce(_ int, _, _ [2]float32) error  { return f.take() }
func (f *fakeEngine) ApplyTorque(int, float32) error           { return f.take() }
func (f *fakeEngine) ApplyAngularImpulse(int, float32) error   { return f.take() }
func (f *fakeEngine) SetGravity([2]float32) error              { return f.take() }

func (f *fakeEngine) SetVelocity(i int, v [2]float32, w float32) error {
	f.cols.VX[i], f.cols.VY[i], f.cols.W[i] = v[0], v[1], w
	return f.take()
}

func (f *fakeEngine) SetTransform(i int, p [2]float32, angle float32) error {
	f.cols.X[i], f.cols.Y[i], f.cols.Angle[i] = p[0], p[1], angle
	sin, cos := math.Sincos(float64(angle))
	f.cols.Sin[i], f.cols.Cos[i] = float32(sin), float32(cos)
	return f.take()
}

func (f *fakeEngine) Step(dt float32) error {
	for i := range f.rows {
		f.cols.X[i] += float32(dt * f.cols.VX[i])
		f.cols.Y[i] += float32(dt * f.cols.VY[i])
	}
	if f.poisoned {
		f.cols.VY[f.poison] = float32(math.NaN())
	}
	return f.take()
}

func newFakeWorld(t testing.TB, c Config) (*World, *fakeEngine) {
	t.Helper()
	f := &fakeEngine{}
	c.Engine = f
	w, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return w, f
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// populate makes n bodies of mixed types with shapes, destroys every fifth, and
// returns all handles.
func populate(t testing.TB, w *World, n int) []Body {
	t.Helper()
	bodies := make([]Body, n)
	for i := range bodies {
		d := DefaultBodyDef()
		d.Type = BodyType(i % 3)
		d.Position = [2]float32{float32(i), -float32(i) / 3}
		d.Angle = float32(i%13)/2 - 3
		if d.Type != StaticBody {
			d.LinearVelocity = [2]float32{1, float32(i)}
		}
		d.HasSlot, d.Slot = true, uint32(i)
		bodies[i] = must[Body](t)(w.CreateBody(d))
		must[Shape](t)(w.CreateCircle(bodies[i], DefaultShapeDef(), Circle{Radius: 0.5}))
	}
	for i := 0; i < n; i += 5 {
		if err := w.DestroyBody(bodies[i]); err != nil {
			t.Fatal(err)
		}
	}
	return bodies
}
