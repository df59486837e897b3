package physics3_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/physics3"
)

type (
	vec  = [3]float32
	quat = [4]float32
)

var (
	nan  = float32(math.NaN())
	inf  = float32(math.Inf(1))
	unit = quat{3: 1}
)

// direct applies at once to a world the changes that a list of commands records, and keeps the first error.
type direct struct {
	w      *physics3.World
	list   *physics3.Commands
	bodies map[physics3.Body]physics3.Body // of provisional ones
	shapes map[physics3.Shape]physics3.Shape
	err    error
}

// both records a command, and executes it unless an earlier one has failed.
func (d *direct) both(record func(), do func() error) {
	record()
	if d.err == nil {
		d.err = do()
	}
}

func (d *direct) body(b physics3.Body) physics3.Body {
	if real, ok := d.bodies[b]; ok {
		return real
	}
	return b
}

func (d *direct) shape(s physics3.Shape) physics3.Shape {
	if real, ok := d.shapes[s]; ok {
		return real
	}
	return s
}

// A list has the effect of its commands one by one. If one of these fails, it changes nothing and returns the same error.
func TestCommandsDoWhatCallsDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, err := physics3.New(physics3.Config{Capacity: 12})
		if err != nil {
			t.Fatal(err)
		}
		bodies, shapes := []physics3.Body{{}}, []physics3.Shape{{}} // live and stale
		for range rapid.IntRange(1, 8).Draw(t, "lists") {
			twin, err := w.Clone()
			if err != nil {
				t.Fatal(err)
			}
			d := &direct{twin, w.NewCommands(), map[physics3.Body]physics3.Body{}, map[physics3.Shape]physics3.Shape{}, nil}
			knownBodies, knownShapes := bodies, shapes
			for range rapid.IntRange(0, 12).Draw(t, "commands") {
				d.draw(t, &knownBodies, &knownShapes)
			}
			before := w.Hash()
			err = w.Step(1./60, d.list)
			if (err == nil) != (d.err == nil) {
				t.Fatalf("Apply says %v, the calls %v", err, d.err)
			}
			if err != nil {
				for _, is := range []error{physics3.ErrStale, physics3.ErrCapacity, physics3.ErrNotFinite, physics3.ErrRange} {
					if errors.Is(err, is) != errors.Is(d.err, is) {
						t.Fatalf("Apply says %v, the calls %v", err, d.err)
					}
				}
				if _, text, _ := strings.Cut(err.Error(), "): "); text != d.err.Error() && !strings.Contains(text, "new ") {
					t.Fatalf("Apply says %v, the calls %v", err, d.err)
				}
				if w.Hash() != before {
					t.Fatal("a refused list changed the world")
				}
				continue
			}
			if err := twin.Step(1. / 60); err != nil {
				t.Fatal(err)
			}
			if w.Hash() != twin.Hash() {
				t.Fatal("the list and the calls differ")
			}
			if d.list.Len() != 0 {
				t.Fatal("the list was not emptied")
			}
			for _, b := range knownBodies {
				r := d.list.Body(b)
				if r != d.body(b) || w.Valid(r) != twin.Valid(r) {
					t.Fatalf("%v became %v, want %v", b, r, d.body(b))
				}
				bodies = append(bodies, r)
			}
			for _, s := range knownShapes {
				r := d.list.Shape(s)
				if r != d.shape(s) || w.ValidShape(r) != twin.ValidShape(r) {
					t.Fatalf("%v became %v, want %v", s, r, d.shape(s))
				}
				shapes = append(shapes, r)
			}
		}
	})
}

func (d *direct) draw(t *rapid.T, bodies *[]physics3.Body, shapes *[]physics3.Shape) {
	number := rapid.SampledFrom([]float32{0, 0, 1, -1, 0.25, 3, 1e9, nan, inf, 1e25})
	if rapid.IntRange(0, 9).Draw(t, "tame") > 0 {
		number = rapid.SampledFrom([]float32{0, 1, -1, 0.25, 3})
	}
	v := func() vec { return vec{number.Draw(t, "x"), number.Draw(t, "y"), number.Draw(t, "z")} }
	turn := func() quat { return quat{number.Draw(t, "qx"), 0, number.Draw(t, "qz"), 1} }
	body := func() physics3.Body { return rapid.SampledFrom(*bodies).Draw(t, "body") }
	shape := func() physics3.Shape { return rapid.SampledFrom(*shapes).Draw(t, "shape") }
	l, w := d.list, d.w
	switch rapid.IntRange(0, 17).Draw(t, "kind") {
	case 0, 1, 2:
		def := physics3.DefaultBodyDef()
		def.Type = physics3.BodyType(rapid.IntRange(0, 2).Draw(t, "type"))
		def.Position, def.Rotation = v(), turn()
		var b physics3.Body
		d.both(func() { b = l.CreateBody(def) }, func() error {
			r, err := w.CreateBody(def)
			d.bodies[b] = r
			return err
		})
		*bodies = append((*bodies)[:len(*bodies):len(*bodies)], b)
	case 3, 4, 5:
		b, def := body(), physics3.DefaultShapeDef()
		def.Friction = number.Draw(t, "friction")
		a, c, kind := v(), v(), rapid.IntRange(0, 3).Draw(t, "shape kind")
		sphere, capsule := physics3.Sphere{Center: a, Radius: c[0]}, physics3.Capsule{P1: a, P2: c, Radius: 0.5}
		box, at := physics3.Box{Half: c, Center: a}, physics3.Placement{Position: a}
		h := []*physics3.Hull{nil, tetrahedron, prism}[rapid.IntRange(0, 2).Draw(t, "hull")]
		var s physics3.Shape
		d.both(func() {
			s = [...]func() physics3.Shape{
				func() physics3.Shape { return l.CreateSphere(b, def, sphere) },
				func() physics3.Shape { return l.CreateCapsule(b, def, capsule) },
				func() physics3.Shape { return l.CreateBox(b, def, box) },
				func() physics3.Shape { return l.CreateHull(b, def, h, at) },
			}[kind]()
		}, func() (err error) {
			b := d.body(b)
			d.shapes[s], err = [...]func() (physics3.Shape, error){
				func() (physics3.Shape, error) { return w.CreateSphere(b, def, sphere) },
				func() (physics3.Shape, error) { return w.CreateCapsule(b, def, capsule) },
				func() (physics3.Shape, error) { return w.CreateBox(b, def, box) },
				func() (physics3.Shape, error) { return w.CreateHull(b, def, h, at) },
			}[kind]()
			return err
		})
		*shapes = append((*shapes)[:len(*shapes):len(*shapes)], s)
	case 6:
		b := body()
		d.both(func() { l.DestroyBody(b) }, func() error { return w.DestroyBody(d.body(b)) })
	case 7:
		s := shape()
		d.both(func() { l.DestroyShape(s) }, func() error { return w.DestroyShape(d.shape(s)) })
	case 8:
		b, j, at := body(), v(), v()
		if huge(j) || huge(at) {
			return // no error of a list: see TestCommandsThatOverflow
		}
		d.both(func() { l.ApplyLinearImpulse(b, j, at) }, func() error { return w.ApplyLinearImpulse(d.body(b), j, at) })
		d.both(func() { l.ApplyLinearImpulseToCenter(b, j) }, func() error { return w.ApplyLinearImpulseToCenter(d.body(b), j) })
		d.both(func() { l.ApplyAngularImpulse(b, at) }, func() error { return w.ApplyAngularImpulse(d.body(b), at) })
	case 9:
		b, f, at := body(), v(), v()
		if huge(f) || huge(at) {
			return
		}
		d.both(func() { l.ApplyForce(b, f, at) }, func() error { return w.ApplyForce(d.body(b), f, at) })
		d.both(func() { l.ApplyForceToCenter(b, f) }, func() error { return w.ApplyForceToCenter(d.body(b), f) })
		d.both(func() { l.ApplyTorque(b, at) }, func() error { return w.ApplyTorque(d.body(b), at) })
	case 10:
		b, p, q := body(), v(), turn()
		d.both(func() { l.SetTransform(b, p, q) }, func() error { return w.SetTransform(d.body(b), p, q) })
	case 11:
		b, p, q := body(), v(), v()
		d.both(func() { l.SetVelocity(b, p, q) }, func() error {
			r := d.body(b)
			if w.Valid(r) && (w.Columns().Type[r.Index()] == physics3.StaticBody || w.Disabled(r)) && !huge(p) && !huge(q) {
				return nil // ignored by a list
			}
			return w.SetVelocity(r, p, q)
		})
	case 12:
		b := body()
		d.both(func() { l.Disable(b) }, func() error { return w.Disable(d.body(b)) })
	case 13:
		b := body()
		d.both(func() { l.Enable(b) }, func() error { return w.Enable(d.body(b)) })
	case 14:
		a, b := body(), body()
		d.both(func() { l.IgnorePair(a, b) }, func() error { return w.IgnorePair(d.body(a), d.body(b)) })
	case 15:
		a, b := body(), body()
		d.both(func() { l.UnignorePair(a, b) }, func() error { return w.UnignorePair(d.body(a), d.body(b)) })
	case 16:
		by := v()
		for k := range by {
			by[k] *= physics3.OriginUnit
		}
		d.both(func() { l.ShiftOrigin(by) }, func() error { return w.ShiftOrigin(by) })
	case 17:
		on := rapid.Bool().Draw(t, "on")
		d.both(func() { l.EnableSleeping(on) }, func() error { return w.EnableSleeping(on) })
		d.both(func() { l.EnableContinuous(on) }, func() error { return w.EnableContinuous(on) })
		bang := physics3.ExplosionDef{Radius: 2, Falloff: 3, ImpulsePerArea: 0.5, Mask: anything}
		d.both(func() { l.Explode(bang) }, func() error { return w.Explode(bang) })
	}
}

// huge reports whether a vector is too large to compute with.
func huge(v vec) bool { return !(max(v[0], -v[0], v[1], -v[1], v[2], -v[2]) <= 1e9) }

// The error of a list names the command; earlier commands have no effect; destroyed objects free their capacity.
func TestBadCommandsAreNamed(t *testing.T) {
	w := emptyWorld(t, physics3.Config{Capacity: 3})
	a := addBox(t, w, dynamicAt(0, 0, 0), vec{1, 1, 1})
	s := shapesOf(t, w, a)[0]
	static, gone := bodyOf(t, w, physics3.DefaultBodyDef()), bodyOf(t, w, dynamicAt(9, 0, 0))
	if err := w.DestroyBody(gone); err != nil {
		t.Fatal(err)
	}
	foreign := w.NewCommands().CreateBody(physics3.DefaultBodyDef())
	def, shape := physics3.DefaultBodyDef(), physics3.DefaultShapeDef()
	bad, worse, zero := def, shape, vec{}
	bad.Position[1], worse.Density = nan, -1
	hash := w.Hash()
	for name, c := range map[string]struct {
		record func(c *physics3.Commands)
		is     error
		words  string
	}{
		"stale":             {func(c *physics3.Commands) { c.DestroyBody(a); c.DestroyBody(gone) }, physics3.ErrStale, "command 1 (DestroyBody): physics3: Body = body_2.1"},
		"twice":             {func(c *physics3.Commands) { c.DestroyBody(a); c.DestroyBody(a) }, physics3.ErrStale, "command 1"},
		"shape of one gone": {func(c *physics3.Commands) { c.DestroyBody(a); c.DestroyShape(s) }, physics3.ErrStale, "command 1 (DestroyShape): physics3: Shape = shape_0.1"},
		"shape twice":       {func(c *physics3.Commands) { c.DestroyShape(s); c.DestroyShape(s) }, physics3.ErrStale, "command 1"},
		"of another list":   {func(c *physics3.Commands) { c.SetVelocity(foreign, zero, zero) }, physics3.ErrStale, "command 0 (SetVelocity): physics3: Body = new body 0"},
		"zero":              {func(c *physics3.Commands) { c.ApplyTorque(physics3.Body{}, zero) }, physics3.ErrStale, "command 0 (ApplyTorque)"},
		"new and gone":      {func(c *physics3.Commands) { b := c.CreateBody(def); c.DestroyBody(b); c.ApplyTorque(b, zero) }, physics3.ErrStale, "command 2"},
		"shape new and gone": {func(c *physics3.Commands) {
			b := c.CreateSphere(a, shape, physics3.Sphere{Radius: 1})
			c.DestroyShape(b)
			c.DestroyShape(b)
		}, physics3.ErrStale, "command 2"},
		"shape of one new and gone": {func(c *physics3.Commands) {
			b := c.CreateBody(def)
			n := c.CreateHull(b, shape, prism, physics3.Placement{})
			c.DestroyBody(b)
			c.DestroyShape(n)
		}, physics3.ErrStale, "command 3 (DestroyShape): physics3: Shape = new shape 0"},
		"full":         {func(c *physics3.Commands) { c.CreateBody(def); c.CreateBody(def) }, physics3.ErrCapacity, "command 1 (CreateBody): physics3: Config.Capacity = 3"},
		"full again":   {func(c *physics3.Commands) { c.DestroyBody(c.CreateBody(def)); c.CreateBody(def); c.CreateBody(def) }, physics3.ErrCapacity, "command 3"},
		"definition":   {func(c *physics3.Commands) { c.SetVelocity(static, vec{1, 1}, zero); c.CreateBody(bad) }, physics3.ErrNotFinite, "command 1 (CreateBody): physics3: BodyDef.Position[1] = NaN"},
		"density":      {func(c *physics3.Commands) { c.CreateSphere(a, worse, physics3.Sphere{Radius: 1}) }, physics3.ErrRange, "(create a shape): physics3: ShapeDef.Density = -1"},
		"sphere":       {func(c *physics3.Commands) { c.CreateSphere(a, shape, physics3.Sphere{Radius: -1}) }, physics3.ErrRange, "physics3: Sphere.Radius = -1"},
		"capsule":      {func(c *physics3.Commands) { c.CreateCapsule(a, shape, physics3.Capsule{Radius: 1}) }, physics3.ErrRange, "Capsule.P2 = [0 0 0]: out of range: equals P1"},
		"box":          {func(c *physics3.Commands) { c.CreateBox(a, shape, physics3.Box{Half: vec{1, 0, 1}}) }, physics3.ErrRange, "Box.Half[1] = 0"},
		"hull":         {func(c *physics3.Commands) { c.CreateHull(a, shape, nil, physics3.Placement{}) }, physics3.ErrRange, "CreateHull: hull = nil"},
		"place":        {func(c *physics3.Commands) { c.CreateHull(a, shape, prism, physics3.Placement{Position: vec{2: inf}}) }, physics3.ErrNotFinite, "Placement.Position[2] = +Inf"},
		"NaN":          {func(c *physics3.Commands) { c.ApplyForce(a, vec{0, nan}, zero) }, physics3.ErrNotFinite, "ApplyForce: force[1] = NaN"},
		"NaN as place": {func(c *physics3.Commands) { c.ApplyLinearImpulse(a, zero, vec{0, 0, nan}) }, physics3.ErrNotFinite, "ApplyLinearImpulse: point[2] = NaN"},
		"NaN as turn":  {func(c *physics3.Commands) { c.SetVelocity(a, zero, vec{nan}) }, physics3.ErrNotFinite, "SetVelocity: angular[0] = NaN"},
		"torque":       {func(c *physics3.Commands) { c.ApplyTorque(a, vec{0, inf}) }, physics3.ErrNotFinite, "ApplyTorque: torque[1] = +Inf"},
		"position":     {func(c *physics3.Commands) { c.SetTransform(a, vec{0, 1e20}, unit) }, physics3.ErrRange, "SetTransform: position[1] = 1e+20"},
		"rotation":     {func(c *physics3.Commands) { c.SetTransform(a, zero, quat{}) }, physics3.ErrRange, "SetTransform: rotation = [0 0 0 0]"},
		"no rotation":  {func(c *physics3.Commands) { c.SetTransform(a, zero, quat{3: nan}) }, physics3.ErrNotFinite, "SetTransform: rotation[3] = NaN"},
		"velocity":     {func(c *physics3.Commands) { c.SetVelocity(a, vec{1e20}, zero) }, physics3.ErrRange, "SetVelocity: linear[0] = 1e+20"},
		"pair":         {func(c *physics3.Commands) { c.IgnorePair(a, a) }, physics3.ErrRange, "IgnorePair: b = body_0.1: out of range: equals a"},
		"half a pair":  {func(c *physics3.Commands) { c.UnignorePair(a, gone) }, physics3.ErrStale, "physics3: Body = body_2.1"},
		"origin":       {func(c *physics3.Commands) { c.ShiftOrigin(vec{1024, 1}) }, physics3.ErrRange, "ShiftOrigin: offset[1] = 1"},
	} {
		c1, c2 := w.NewCommands(), w.NewCommands()
		c1.ApplyLinearImpulse(a, vec{1, 1}, vec{0, 1})
		c.record(c2)
		n := c2.Len()
		err := w.Step(1./60, c1, c2)
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), "physics3: Apply: lists[1], ") || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: got %v", name, err)
		}
		if w.Hash() != hash || c1.Len() != 1 || c2.Len() != n {
			t.Fatalf("%s: the world or the lists have changed", name)
		}
	}
}

// A slot that a list frees can be used by the same list.
func TestCommandsReuseWhatTheyFree(t *testing.T) {
	w := emptyWorld(t, physics3.Config{Capacity: 1})
	a := bodyOf(t, w, dynamicAt(0, 0, 0))
	c := w.NewCommands()
	c.DestroyBody(a)
	b := c.CreateBody(physics3.DefaultBodyDef())
	c.DestroyBody(b)
	last := c.CreateBody(physics3.DefaultBodyDef())
	if err := w.Apply(c); err != nil {
		t.Fatal(err)
	}
	if w.Valid(a) || w.Valid(c.Body(b)) || !w.Valid(c.Body(last)) || w.Len() != 1 {
		t.Errorf("%d bodies", w.Len())
	}
}

// A value that overflows only when the command is executed disables the body in the next step, even one that is asleep.
func TestCommandsThatOverflow(t *testing.T) {
	heavy := physics3.DefaultShapeDef()
	heavy.Density = 9e18
	for name, record := range map[string]func(*physics3.Commands, physics3.Body){
		"impulse": func(c *physics3.Commands, b physics3.Body) { c.ApplyLinearImpulse(b, vec{3e38}, vec{0, 9}) },
		"turn":    func(c *physics3.Commands, b physics3.Body) { c.ApplyAngularImpulse(b, vec{3e38, 3e38, -3e38}) },
		"force":   func(c *physics3.Commands, b physics3.Body) { c.ApplyForceToCenter(b, vec{3e38}) },
		"torque":  func(c *physics3.Commands, b physics3.Body) { c.ApplyTorque(b, vec{0, 0, -3e38}) },
		"lever":   func(c *physics3.Commands, b physics3.Body) { c.ApplyForce(b, vec{3e38, 1, 1}, vec{3e38, 3e38, 3e38}) },
		"heavy": func(c *physics3.Commands, b physics3.Body) {
			c.DestroyShape(c.CreateSphere(b, heavy, physics3.Sphere{Radius: 1000}))
		},
		"together": func(c *physics3.Commands, b physics3.Body) {
			c.ApplyLinearImpulseToCenter(b, vec{9e18})
			c.ApplyLinearImpulseToCenter(b, vec{9e18})
		},
	} {
		for _, asleep := range []bool{false, true} {
			w := emptyWorld(t, physics3.Config{Capacity: 3})
			def := dynamicAt(0, 0, 0)
			def.Asleep = asleep
			b, other := addBox(t, w, def, vec{0.5, 0.5, 0.5}), addBox(t, w, dynamicAt(0.9, 0, 0), vec{0.5, 0.5, 0.5})
			if asleep {
				steps(t, w, 1)
				if err := w.SetAwake(b, false); err != nil || w.Awake(b) {
					t.Fatalf("awake, %v", err)
				}
			}
			c := w.NewCommands()
			record(c, b)
			before, _ := w.Position(other)
			if err := w.Step(1./60, c); err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if e := w.Events().Disabled; len(e) != 1 || e[0].Body != b || !w.Disabled(b) {
				t.Errorf("%s, asleep %v: disabled are %v", name, asleep, e)
			}
			if p, _ := w.Position(other); p != before {
				t.Errorf("%s: the neighbour went to %v", name, p)
			}
			if err := w.Enable(b); err != nil || w.Columns().InvMass[b.Index()] != 1 {
				t.Errorf("%s: enabled with mass %v, %v", name, w.Columns().InvMass[b.Index()], err)
			}
		}
	}
}

func TestMisuseOfCommandsPanics(t *testing.T) {
	w, other := emptyWorld(t, physics3.Config{Capacity: 3}), emptyWorld(t, physics3.Config{Capacity: 3})
	c := w.NewCommands()
	b := c.CreateBody(physics3.DefaultBodyDef())
	s := c.CreateSphere(b, physics3.DefaultShapeDef(), physics3.Sphere{Radius: 1})
	for want, call := range map[string]func(){
		"physics3: Apply of one list twice":                                 func() { w.Apply(c, c) },
		"physics3: Apply of Commands of another world":                      func() { other.Apply(c) },
		"physics3: use of Commands that NewCommands did not make":           func() { new(physics3.Commands).Enable(b) },
		"physics3: Commands.Body: not of this list as it was applied last":  func() { c.Body(b) },
		"physics3: Commands.Shape: not of this list as it was applied last": func() { c.Shape(s) },
	} {
		if got := panicOf(call); got != want {
			t.Errorf("panic %v, want %s", got, want)
		}
	}
}

func panicOf(call func()) (value any) {
	defer func() { value = recover() }()
	call()
	return nil
}

func TestCommandsAllocateNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	w := emptyWorld(t, physics3.Config{Capacity: 100})
	var bodies []physics3.Body
	for i := range 50 {
		bodies = append(bodies, addBox(t, w, dynamicAt(float32(2*i), 0, 0), vec{0.5, 0.5, 0.5}))
	}
	c := w.NewCommands()
	if n := testing.AllocsPerRun(100, func() {
		for _, b := range bodies {
			c.ApplyLinearImpulse(b, vec{1, 2, 3}, vec{})
			c.ApplyForce(b, vec{1, 2, 3}, vec{})
		}
		b := c.CreateBody(dynamicAt(0, 9, 0))
		c.CreateBox(b, physics3.DefaultShapeDef(), physics3.Box{Half: vec{1, 1, 1}})
		c.CreateHull(b, physics3.DefaultShapeDef(), prism, physics3.Placement{})
		c.SetTransform(b, vec{1, 2, 3}, unit)
		c.IgnorePair(bodies[0], b)
		c.DestroyBody(b)
		if err := w.Step(1./60, c); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
